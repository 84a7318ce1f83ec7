/*
 * Steps: ownership that passes to others and comes back.
 */
#include "tests/fault/fault_peer.h"
#include "tests/fault/fault_steps.h"

/* ---- what is handed over ---- */

static void make_handed(struct fault_context* c)
{
    fault_make_exported_buffer(c, MAAR_DEDICATED_AUTO);
    c->timeline = rig_create_timeline(&c->rig, 0);
}

static void end_handed(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

/* ---- recorded for the caller ---- */

static void prepare_handoff_commands(struct fault_context* c)
{
    make_handed(c);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = c->rig.families[0],
    };
    assert_int_equal(vkCreateCommandPool(c->rig.device, &pool, NULL, &c->command_pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->command_pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(c->rig.device, &info, &c->commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(c->commands, &begin), VK_SUCCESS);
}

static void finish_handoff_commands(struct fault_context* c)
{
    assert_int_equal(vkEndCommandBuffer(c->commands), VK_SUCCESS);
    vkDestroyCommandPool(c->rig.device, c->command_pool, NULL);
    end_handed(c);
}

static VkResult run_release(struct fault_context* c)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    return maarCmdRelease(c->rig.allocator, c->commands, c->rig.families[0],
                          MAAR_HANDOFF_PEER_FOREIGN, 1, &resource);
}

static VkResult run_acquire(struct fault_context* c)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    return maarCmdAcquire(c->rig.allocator, c->commands, c->rig.families[0],
                          MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource);
}

/* ---- submitted by Maar ---- */

/* Each submission signals the next value of the timeline: what failed has signalled nothing. */
static VkResult submit_handoff(struct fault_context* c, MaarHandoffDirection direction)
{
    const MaarHandoffResource resource = {.buffer = c->buffer};
    const MaarPoint done = {.semaphore = c->timeline, .value = c->next_value};
    const MaarHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = direction,
        .peer = MAAR_HANDOFF_PEER_EXTERNAL,
        .resourceCount = 1,
        .pResources = &resource,
        .signalCount = 1,
        .pSignals = &done,
    };
    VkResult result = maarSubmitHandoff(c->rig.allocator, &info);
    c->next_value += result == VK_SUCCESS ? 1 : 0;
    return result;
}

static VkResult run_submit_release(struct fault_context* c)
{
    return submit_handoff(c, MAAR_HANDOFF_DIRECTION_RELEASE);
}

static VkResult run_submit_acquire(struct fault_context* c)
{
    return submit_handoff(c, MAAR_HANDOFF_DIRECTION_ACQUIRE);
}

static void prepare_handoff(struct fault_context* c)
{
    make_handed(c);
    c->next_value = 1;
}

/* Command buffers have been used, and the device is done with them. */
static void prepare_warm_handoff(struct fault_context* c)
{
    prepare_handoff(c);
    assert_int_equal(run_submit_release(c), VK_SUCCESS);
}

static const struct fault_step steps[] = {
    {"maarCmdRelease", .never = "records commands", .prepare = prepare_handoff_commands,
     .run = run_release, .finish = finish_handoff_commands, .shares = true},
    {"maarCmdAcquire", .never = "records commands", .prepare = prepare_handoff_commands,
     .run = run_acquire, .finish = finish_handoff_commands, .shares = true},
    {"maarSubmitHandoff", "first", .prepare = prepare_handoff, .run = run_submit_release,
     .finish = end_handed, .shares = true, .paging = true, .lost_is_done = true,
     .keeps_warm = true},
    {"maarSubmitHandoff", "again", .prepare = prepare_warm_handoff, .run = run_submit_acquire,
     .finish = end_handed, .shares = true, .paging = true, .lost_is_done = true,
     .keeps_warm = true},
};

const struct fault_table fault_handoff_steps = {
    steps,
    sizeof steps / sizeof steps[0],
};
