/*
 * The checker of barriers finds what the specification calls a hazard, and reports nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/hazards.h"

#define COMPUTE VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT
#define FRAGMENT VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT
#define ALL VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT
#define WRITE VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT
#define READ VK_ACCESS_2_SHADER_STORAGE_READ_BIT
#define GENERAL VK_IMAGE_LAYOUT_GENERAL
#define UNDEFINED VK_IMAGE_LAYOUT_UNDEFINED

/* Two queues of two families; buffer a [0, 100), buffer b [50, 150), image i [50, 150), buffer c
 * [200, 250) on the same granularity page as image j [250, 300). */
struct scene {
    struct hazards* h;
    uint32_t a, b, c, i, j;
};

static uint32_t add(struct hazards* h, const char* name, VkDeviceSize offset, VkDeviceSize size,
                    uintptr_t handle, bool image)
{
    const struct hazard_resource info = {
        .name = name,
        .memory = 7,
        .offset = offset,
        .size = size,
        .buffer = image ? VK_NULL_HANDLE : (VkBuffer)handle,
        .image = image ? (VkImage)handle : VK_NULL_HANDLE,
        .linear = !image,
    };
    return hazards_add_resource(h, &info);
}

static int open_scene(void** state)
{
    static struct scene scene;
    const uint32_t families[] = {0, 1};
    scene.h = hazards_create(2, families, 100);
    scene.a = add(scene.h, "a", 0, 100, 1, false);
    scene.b = add(scene.h, "b", 50, 100, 2, false);
    scene.i = add(scene.h, "i", 50, 100, 3, true);
    scene.c = add(scene.h, "c", 200, 50, 4, false);
    scene.j = add(scene.h, "j", 250, 50, 5, true);
    *state = &scene;
    return 0;
}

static int close_scene(void** state)
{
    const struct scene* s = *state;
    hazards_destroy(s->h);
    return 0;
}

static void use(struct scene* s, uint32_t queue, uint32_t resource, VkPipelineStageFlags2 stages,
                VkAccessFlags2 access, bool discards)
{
    const struct hazard_access info = {
        .resource = resource,
        .stages = stages,
        .access = access,
        .layout = resource == s->i || resource == s->j ? GENERAL : UNDEFINED,
        .discards = discards,
    };
    hazards_access(s->h, queue, &info);
}

static void global(struct scene* s, uint32_t queue, VkPipelineStageFlags2 from,
                   VkAccessFlags2 written, VkPipelineStageFlags2 to, VkAccessFlags2 access)
{
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = from,
        .srcAccessMask = written,
        .dstStageMask = to,
        .dstAccessMask = access,
    };
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    hazards_barrier(s->h, queue, &info);
}

static VkImageMemoryBarrier2 to_general(uintptr_t image, VkPipelineStageFlags2 from,
                                        VkPipelineStageFlags2 to, VkAccessFlags2 access)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = from,
        .dstStageMask = to,
        .dstAccessMask = access,
        .oldLayout = UNDEFINED,
        .newLayout = GENERAL,
        .image = (VkImage)image,
    };
}

static void image_barrier(struct scene* s, uint32_t queue, const VkImageMemoryBarrier2* barrier)
{
    const VkDependencyInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = barrier,
    };
    hazards_barrier(s->h, queue, &info);
}

static void expect(struct scene* s, uint32_t count, const char* words)
{
    if (hazards_finding_count(s->h) != count) {
        fail_msg("%u findings, the first: %s", (unsigned)hazards_finding_count(s->h),
                 count == 0 ? hazards_finding(s->h, 0) : "");
    }
    if (count > 0 && strstr(hazards_finding(s->h, 0), words) == NULL) {
        fail_msg("found \"%s\", expected \"%s\"", hazards_finding(s->h, 0), words);
    }
}

static void read_after_write_needs_everything(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, READ);
    use(s, 0, s->a, COMPUTE, READ, false);
    expect(s, 0, NULL);
    use(s, 0, s->a, FRAGMENT, READ, false);
    expect(s, 1, "without waiting for \"a\"");
}

static void source_without_access_leaves_it_unavailable(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, 0, COMPUTE, READ);
    use(s, 0, s->a, COMPUTE, READ, false);
    expect(s, 1, "are available");
}

static void destination_without_access_does_not_see(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, 0);
    use(s, 0, s->a, COMPUTE, READ, false);
    expect(s, 1, "does not see");
}

static void write_after_read_needs_execution_alone(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, FRAGMENT, READ);
    use(s, 0, s->a, FRAGMENT, READ, false);
    global(s, 0, FRAGMENT, 0, COMPUTE, WRITE);
    use(s, 0, s->a, COMPUTE, WRITE, false);
    expect(s, 0, NULL);
    global(s, 0, COMPUTE, WRITE, FRAGMENT, READ);
    use(s, 0, s->a, FRAGMENT, READ, false);
    use(s, 0, s->a, COMPUTE, WRITE, false);
    expect(s, 1, "without waiting");
}

static void chains_need_a_common_stage(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, VK_PIPELINE_STAGE_2_COPY_BIT, 0);
    global(s, 0, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, 0, FRAGMENT, READ);
    use(s, 0, s->a, FRAGMENT, READ, false);
    expect(s, 0, NULL);
    global(s, 0, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, 0, COMPUTE, READ);
    use(s, 0, s->a, COMPUTE, READ, false);
    expect(s, 1, "without waiting");
}

static void aliases_conflict_where_they_share_bytes(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    use(s, 0, s->b, COMPUTE, WRITE, true);
    expect(s, 1, "\"b\" is accessed without waiting for \"a\"");
}

static void contents_of_an_alias_are_found(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, READ | WRITE);
    use(s, 0, s->b, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, READ | WRITE);
    use(s, 0, s->a, COMPUTE, READ, false);
    expect(s, 1, "\"a\" finds the contents of \"b\"");
}

static void image_barrier_makes_no_alias_available(void** state)
{
    struct scene* s = *state;
    VkImageMemoryBarrier2 barrier = to_general(3, COMPUTE, COMPUTE, WRITE);
    use(s, 0, s->a, COMPUTE, WRITE, true);
    barrier.srcAccessMask = WRITE;
    image_barrier(s, 0, &barrier);
    expect(s, 1, "changes before writes to \"a\"");
}

static void barriers_of_one_call_are_not_ordered(void** state)
{
    struct scene* s = *state;
    const VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = COMPUTE,
        .srcAccessMask = WRITE,
        .dstStageMask = COMPUTE,
    };
    const VkImageMemoryBarrier2 image = to_general(3, COMPUTE, COMPUTE, WRITE);
    const VkDependencyInfo both = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &memory,
        .imageMemoryBarrierCount = 1,
        .pImageMemoryBarriers = &image,
    };
    use(s, 0, s->a, COMPUTE, WRITE, true);
    hazards_barrier(s->h, 0, &both);
    expect(s, 1, "changes before writes to \"a\"");
}

/* Two changes of layout in one call: the second's stages do not follow from the first's. */
static void changes_of_one_call_are_no_chain(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 images[] = {
        to_general(3, COMPUTE, COMPUTE, READ | WRITE),
        to_general(5, COMPUTE, FRAGMENT, READ | WRITE),
    };
    const VkDependencyInfo both = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .imageMemoryBarrierCount = 2,
        .pImageMemoryBarriers = images,
    };
    hazards_barrier(s->h, 0, &both);
    use(s, 0, s->j, FRAGMENT, WRITE, true);
    expect(s, 0, "");
    use(s, 0, s->i, FRAGMENT, WRITE, true);
    expect(s, 1, "\"i\" is accessed without waiting");
}

static void two_calls_hand_bytes_to_an_image(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 barrier = to_general(3, COMPUTE, FRAGMENT, WRITE);
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, 0);
    image_barrier(s, 0, &barrier);
    use(s, 0, s->i, FRAGMENT, WRITE, true);
    expect(s, 0, NULL);
    use(s, 0, s->i, COMPUTE, READ, false);
    expect(s, 1, "without waiting for \"i\"");
}

static void an_overwritten_image_has_no_layout(void** state)
{
    struct scene* s = *state;
    VkImageMemoryBarrier2 barrier = to_general(3, 0, COMPUTE, WRITE);
    image_barrier(s, 0, &barrier);
    use(s, 0, s->i, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, WRITE);
    use(s, 0, s->a, COMPUTE, WRITE, true);
    global(s, 0, COMPUTE, WRITE, COMPUTE, WRITE);
    use(s, 0, s->i, COMPUTE, WRITE, true);
    expect(s, 1, "\"i\" is in layout 0");
}

static void kinds_conflict_on_a_granularity_page(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 barrier = to_general(5, COMPUTE, COMPUTE, WRITE);
    use(s, 0, s->c, COMPUTE, WRITE, true);
    image_barrier(s, 0, &barrier);
    expect(s, 1, "\"j\" changes before writes to \"c\"");
}

static void reading_what_nobody_wrote_is_found(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 barrier = to_general(3, 0, COMPUTE, READ);
    image_barrier(s, 0, &barrier);
    use(s, 0, s->i, COMPUTE, READ, false);
    expect(s, 1, "was not written");
}

static void semaphores_carry_everything_of_their_stages(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    hazards_signal(s->h, 0, 1, 5, ALL);
    use(s, 0, s->c, COMPUTE, WRITE, true);
    hazards_wait(s->h, 1, 1, 4, ALL);
    use(s, 1, s->a, COMPUTE, WRITE, true);
    expect(s, 0, NULL);
    use(s, 1, s->c, COMPUTE, WRITE, true);
    expect(s, 1, "\"c\" is accessed without waiting for \"c\"");
}

static void semaphore_stages_limit_what_is_carried(void** state)
{
    struct scene* s = *state;
    use(s, 0, s->a, COMPUTE, WRITE, true);
    hazards_signal(s->h, 0, 1, 1, FRAGMENT);
    hazards_wait(s->h, 1, 1, 1, ALL);
    use(s, 1, s->a, COMPUTE, WRITE, true);
    expect(s, 1, "without waiting");
}

static VkImageMemoryBarrier2 move(uint32_t from, uint32_t to)
{
    VkImageMemoryBarrier2 barrier = to_general(3, COMPUTE, COMPUTE, READ);
    barrier.oldLayout = GENERAL;
    barrier.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    barrier.srcQueueFamilyIndex = from;
    barrier.dstQueueFamilyIndex = to;
    return barrier;
}

static void write_image_and_release(struct scene* s, bool release)
{
    const VkImageMemoryBarrier2 barrier = to_general(3, 0, COMPUTE, WRITE);
    VkImageMemoryBarrier2 leave = move(0, 1);
    leave.srcAccessMask = WRITE;
    image_barrier(s, 0, &barrier);
    use(s, 0, s->i, COMPUTE, WRITE, true);
    if (release) {
        image_barrier(s, 0, &leave);
    }
    hazards_signal(s->h, 0, 1, 1, ALL);
    hazards_wait(s->h, 1, 1, 1, ALL);
}

static void ownership_moves_by_release_and_acquire(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 barrier = move(0, 1);
    const struct hazard_access read = {
        .resource = s->i,
        .stages = COMPUTE,
        .access = READ,
        .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
    };
    write_image_and_release(s, true);
    image_barrier(s, 1, &barrier);
    hazards_access(s->h, 1, &read);
    expect(s, 0, NULL);
}

static void acquire_without_release_is_found(void** state)
{
    struct scene* s = *state;
    const VkImageMemoryBarrier2 barrier = move(0, 1);
    write_image_and_release(s, false);
    image_barrier(s, 1, &barrier);
    expect(s, 1, "does not match its release");
}

static void release_without_acquire_is_found(void** state)
{
    struct scene* s = *state;
    write_image_and_release(s, true);
    use(s, 1, s->i, COMPUTE, READ, false);
    assert_true(hazards_finding_count(s->h) > 0);
}

static void recorded_commands_take_effect_when_submitted(void** state)
{
    struct scene* s = *state;
    VkCommandBuffer commands = (VkCommandBuffer)(uintptr_t)16;
    const struct hazard_access write = {
        .resource = s->a, .stages = COMPUTE, .access = WRITE, .discards = true};
    const VkCommandBufferSubmitInfo buffer = {.commandBuffer = commands};
    const VkSubmitInfo2 submit = {.commandBufferInfoCount = 1, .pCommandBufferInfos = &buffer};
    hazards_begin_commands(s->h, commands);
    hazards_record_access(s->h, commands, &write);
    hazards_submit(s->h, 0, 1, &submit);
    expect(s, 0, NULL);
    hazards_idle(s->h);
    hazards_submit(s->h, 0, 1, &submit);
    expect(s, 0, NULL);
    hazards_submit(s->h, 0, 1, &submit);
    expect(s, 1, "without waiting");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(read_after_write_needs_everything),
        CASE(source_without_access_leaves_it_unavailable),
        CASE(destination_without_access_does_not_see),
        CASE(write_after_read_needs_execution_alone),
        CASE(chains_need_a_common_stage),
        CASE(aliases_conflict_where_they_share_bytes),
        CASE(contents_of_an_alias_are_found),
        CASE(image_barrier_makes_no_alias_available),
        CASE(barriers_of_one_call_are_not_ordered),
        CASE(changes_of_one_call_are_no_chain),
        CASE(two_calls_hand_bytes_to_an_image),
        CASE(an_overwritten_image_has_no_layout),
        CASE(kinds_conflict_on_a_granularity_page),
        CASE(reading_what_nobody_wrote_is_found),
        CASE(semaphores_carry_everything_of_their_stages),
        CASE(semaphore_stages_limit_what_is_carried),
        CASE(ownership_moves_by_release_and_acquire),
        CASE(acquire_without_release_is_found),
        CASE(release_without_acquire_is_found),
        CASE(recorded_commands_take_effect_when_submitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
