/*
 * A trace through a manager of residents: see tool_residents.h.
 *
 * Each resource that a submission uses is a resident. A submission of the trace is a use of its
 * residents, and a real submission: it moves images to the layout that the use names, and signals a
 * point. It writes nothing: contents are what they happen to be, and the manager moves them all the
 * same.
 */
#include "tool_residents.h"

#include "maar/capture_file.h"
#include "maar/residency.h"
#include "tool_resource.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Submissions under way, and between updates where a trace has no frames. */
enum { IN_FLIGHT = 8, UPDATE_EVERY = 64 };

struct played {
    MaarResident resident;      /* null: not alive, or it never was */
    VkImageAspectFlags aspects; /* of an image */
    bool is_used;               /* by some submission */
    bool is_defined;            /* a use has written it */
};

struct residents_player {
    struct tool_device* tool;
    const struct support_trace* trace;
    struct tool_residents_outcome* outcome;
    struct support_use_lists lists;
    struct tool_resource_facts facts;
    MaarAllocator allocator;
    MaarResidency residency;
    struct played* played;
    MaarResidentUse* uses;
    MaarResidentObject* objects;
    VkImageMemoryBarrier* barriers;
    VkCommandPool pool;
    VkCommandBuffer commands[IN_FLIGHT];
    VkSemaphore timeline;
    uint64_t value;
    uint64_t ns;
};

static void break_off(struct residents_player* player, const char* what, VkResult result)
{
    if (!player->outcome->broken) {
        tool_complain("%s: %s: %s", player->trace->name, what, maarGetResultName(result));
    }
    player->outcome->broken = true;
}

static void VKAPI_PTR note_event(void* user_data, const MaarResidencyEvent* event)
{
    struct residents_player* const player = user_data;
    const bool leaves = event->from == MAAR_TIER_DEVICE &&
                        event->reason != MAAR_RESIDENCY_REASON_AHEAD &&
                        event->reason != MAAR_RESIDENCY_REASON_LOST;
    player->outcome->evictions += leaves ? 1 : 0;
}

/* ---- residents ---- */

/* The aspects of a format of one plane. Those with depth and stencil follow one another. */
static VkImageAspectFlags find_aspects(VkFormat format)
{
    if (format < VK_FORMAT_D16_UNORM || format > VK_FORMAT_D32_SFLOAT_S8_UINT) {
        return VK_IMAGE_ASPECT_COLOR_BIT;
    }
    const VkImageAspectFlags depth = format != VK_FORMAT_S8_UINT ? VK_IMAGE_ASPECT_DEPTH_BIT : 0;
    return depth | (format >= VK_FORMAT_S8_UINT ? VK_IMAGE_ASPECT_STENCIL_BIT : 0u);
}

/* What the manager refuses is counted by the player, and is no error of the run. */
struct hush {
    bool was_silent;
    unsigned errors;
};

static struct hush begin_hush(struct tool_device* tool)
{
    const struct hush hush = {tool->options.silent, atomic_load(&tool->allocator_errors.count)};
    tool->options.silent = true;
    return hush;
}

static void end_hush(struct tool_device* tool, struct hush hush)
{
    tool->options.silent = hush.was_silent;
    atomic_store(&tool->allocator_errors.count, hush.errors);
}

static VkResult try_resident(struct residents_player* player, const MaarResidentCreateInfo* info,
                             struct played* played)
{
    const struct hush hush = begin_hush(player->tool);
    const VkResult result =
        maarCreateResident(player->allocator, player->residency, info, &played->resident);
    end_hush(player->tool, hush);
    return result;
}

static VkResult make_stand_in(struct residents_player* player, VkDeviceSize size,
                              struct played* played)
{
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    return try_resident(player, &info, played);
}

static void make_resident(struct residents_player* player, uint32_t resource)
{
    struct played* const played = &player->played[resource];
    struct tool_resource_plan plan;
    tool_resource_plan_for(player->tool, &player->facts, player->trace, resource, &plan);
    if (plan.requirements.size > player->outcome->budget) {
        ++player->outcome->too_large;
        return;
    }
    const bool has_samples =
        plan.form == TOOL_FORM_IMAGE && plan.image.samples != VK_SAMPLE_COUNT_1_BIT;
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT |
                 (has_samples ? MAAR_RESIDENT_CREATE_DISCARDABLE_BIT : 0u),
        .pBufferInfo = plan.form == TOOL_FORM_BUFFER ? &plan.buffer : NULL,
        .pImageInfo = plan.form == TOOL_FORM_IMAGE ? &plan.image : NULL,
    };
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    if (plan.form != TOOL_FORM_PLAIN) {
        result = try_resident(player, &info, played);
        played->aspects = plan.form == TOOL_FORM_IMAGE ? find_aspects(plan.image.format) : 0;
    }
    if (result != VK_SUCCESS) {
        result = make_stand_in(player, plan.requirements.size, played);
        player->outcome->stand_ins += result == VK_SUCCESS ? 1 : 0;
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        ++player->outcome->too_large; /* its blocks are larger than the budget */
    } else if (result != VK_SUCCESS) {
        break_off(player, "maarCreateResident", result);
    } else {
        ++player->outcome->residents;
        player->outcome->resident_bytes += plan.requirements.size;
    }
}

static void end_resident(struct residents_player* player, uint32_t resource)
{
    maarDestroyResident(player->allocator, player->residency, player->played[resource].resident);
    player->played[resource].resident = VK_NULL_HANDLE;
}

/* ---- submissions ---- */

/* Collects the uses of a submission. Returns their number. */
static uint32_t collect_uses(struct residents_player* player, uint32_t submit)
{
    uint32_t count = 0;
    for (size_t i = player->lists.begins[submit]; i < player->lists.begins[submit + 1]; ++i) {
        const struct support_trace_use* const use = &player->lists.uses[i];
        const struct played* const played = &player->played[use->resource];
        if (played->resident == VK_NULL_HANDLE) {
            continue; /* too large */
        }
        const bool writes = (use->flags & MAAR_CAPTURE_USE_WRITE_BIT) != 0;
        /* What the host or a copy that was not recorded has written is there at the first use. */
        const bool overwrites =
            (use->flags & MAAR_CAPTURE_USE_DISCARD_BIT) != 0 || !played->is_defined;
        player->uses[count++] = (MaarResidentUse){
            .resident = played->resident,
            .access = overwrites ? MAAR_ACCESS_OVERWRITE_BIT
                      : writes   ? MAAR_ACCESS_WRITE_BIT
                                 : MAAR_ACCESS_READ_BIT,
            .finalLayout =
                played->aspects != 0 ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_UNDEFINED,
        };
    }
    return count;
}

/* Notes that the uses were made: what was overwritten has contents. */
static void define_uses(struct residents_player* player, uint32_t submit)
{
    for (size_t i = player->lists.begins[submit]; i < player->lists.begins[submit + 1]; ++i) {
        player->played[player->lists.uses[i].resource].is_defined = true;
    }
}

static uint32_t list_barriers(struct residents_player* player, uint32_t submit)
{
    uint32_t count = 0;
    uint32_t use = 0;
    for (size_t i = player->lists.begins[submit]; i < player->lists.begins[submit + 1]; ++i) {
        const struct played* const played = &player->played[player->lists.uses[i].resource];
        if (played->resident == VK_NULL_HANDLE) {
            continue;
        }
        const MaarResidentObject* const object = &player->objects[use++];
        if (object->image != VK_NULL_HANDLE && object->layout != VK_IMAGE_LAYOUT_GENERAL) {
            player->barriers[count++] = (VkImageMemoryBarrier){
                .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                .oldLayout = object->layout,
                .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                .image = object->image,
                .subresourceRange = {played->aspects, 0, VK_REMAINING_MIP_LEVELS, 0,
                                     VK_REMAINING_ARRAY_LAYERS},
            };
        }
    }
    return count;
}

static VkResult wait_for(struct residents_player* player, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &player->timeline,
                                      .pValues = &value};
    return vkWaitSemaphoresKHR(player->tool->device, &info, UINT64_MAX);
}

/* Submits what stands for the commands of the program, and names the point when it has ended. */
static VkResult submit_use(struct residents_player* player, uint32_t submit,
                           const MaarUseInfo* info, MaarPoint* point)
{
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const uint64_t value = player->value + 1;
    const VkCommandBuffer commands = player->commands[value % IN_FLIGHT];
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask =
                                        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    VkResult result = value > IN_FLIGHT ? wait_for(player, value - IN_FLIGHT) : VK_SUCCESS;
    result = result == VK_SUCCESS ? vkBeginCommandBuffer(commands, &begin) : result;
    if (result != VK_SUCCESS) {
        return result;
    }
    vkCmdPipelineBarrier(commands, all, all, 0, 1, &memory, 0, NULL, list_barriers(player, submit),
                         player->barriers);
    result = vkEndCommandBuffer(commands);
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = info->mustWait ? 1 : 0,
        .pWaitSemaphoreValues = &info->wait.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo batch = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = info->mustWait ? 1 : 0,
        .pWaitSemaphores = &info->wait.semaphore,
        .pWaitDstStageMask = &all,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &player->timeline,
    };
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&player->tool->queue_mutex);
        result = vkQueueSubmit(player->tool->queue, 1, &batch, VK_NULL_HANDLE);
        pthread_mutex_unlock(&player->tool->queue_mutex);
    }
    player->value = result == VK_SUCCESS ? value : player->value;
    *point = (MaarPoint){.semaphore = player->timeline, .value = value};
    return result;
}

static void play_submission(struct residents_player* player, uint32_t submit)
{
    struct tool_residents_outcome* const outcome = player->outcome;
    const uint32_t count = collect_uses(player, submit);
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = count,
                                    .pUses = player->uses};
    MaarUse use = VK_NULL_HANDLE;
    MaarPoint point = {0};
    if (count == 0) {
        return;
    }
    ++outcome->submissions;
    outcome->uses += count;
    const struct hush hush = begin_hush(player->tool);
    const uint64_t start = tool_now_ns();
    VkResult result =
        maarBeginUse(player->allocator, player->residency, &begin, player->objects, &info, &use);
    player->ns += tool_now_ns() - start;
    end_hush(player->tool, hush);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        ++outcome->unmet_submissions;
        outcome->missing_bytes =
            info.missingSize > outcome->missing_bytes ? info.missingSize : outcome->missing_bytes;
        return;
    }
    if (result != VK_SUCCESS) {
        break_off(player, "maarBeginUse", result);
        return;
    }
    result = submit_use(player, submit, &info, &point);
    if (result != VK_SUCCESS) {
        maarCancelUse(player->allocator, player->residency, use);
        break_off(player, "vkQueueSubmit", result);
        return;
    }
    const uint64_t end = tool_now_ns();
    result = maarEndUse(player->allocator, player->residency, use, 1, &point);
    player->ns += tool_now_ns() - end;
    define_uses(player, submit);
    if (result != VK_SUCCESS) {
        break_off(player, "maarEndUse", result);
    }
}

static void update(struct residents_player* player)
{
    const VkResult result = maarUpdateResidency(player->allocator, player->residency, NULL);
    if (result != VK_SUCCESS) {
        break_off(player, "maarUpdateResidency", result);
    }
}

static void play_step(struct residents_player* player, uint32_t number)
{
    const struct support_trace_step* const step = &player->trace->steps[number];
    switch (step->op) {
    case SUPPORT_TRACE_ALLOC:
        if (player->played[step->index].is_used) {
            make_resident(player, step->index);
        }
        return;
    case SUPPORT_TRACE_FREE:
        end_resident(player, step->index);
        return;
    case SUPPORT_TRACE_FRAME:
        update(player);
        return;
    case SUPPORT_TRACE_USE: {
        const uint32_t submit = player->trace->uses[step->index].submit;
        if (player->lists.steps[submit] == number) {
            play_submission(player, submit);
            if (player->trace->frame_count == 0 &&
                player->outcome->submissions % UPDATE_EVERY == 0) {
                update(player);
            }
        }
        return;
    }
    default:
        return;
    }
}

/* ---- the run ---- */

static VkResult create_commands(struct residents_player* player)
{
    const VkDevice device = player->tool->device;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = player->tool->queue_family,
    };
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    VkResult result = vkCreateCommandPool(device, &pool, NULL, &player->pool);
    if (result == VK_SUCCESS) {
        const VkCommandBufferAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = player->pool,
            .commandBufferCount = IN_FLIGHT,
        };
        result = vkAllocateCommandBuffers(device, &info, player->commands);
    }
    return result == VK_SUCCESS ? vkCreateSemaphore(device, &semaphore, NULL, &player->timeline)
                                : result;
}

static bool reserve_lists(struct residents_player* player)
{
    const struct support_trace* const trace = player->trace;
    size_t most = 1;
    if (!support_use_lists_make(trace, support_trace_main_device(trace), &player->lists)) {
        return false;
    }
    player->played = calloc(trace->resource_count + 1, sizeof *player->played);
    for (size_t i = 0; i < trace->submit_count; ++i) {
        const size_t count = player->lists.begins[i + 1] - player->lists.begins[i];
        most = count > most ? count : most;
    }
    player->uses = calloc(most, sizeof *player->uses);
    player->objects = calloc(most, sizeof *player->objects);
    player->barriers = calloc(most, sizeof *player->barriers);
    for (size_t i = 0; player->played != NULL && i < player->lists.begins[trace->submit_count];
         ++i) {
        player->played[player->lists.uses[i].resource].is_used = true;
    }
    return player->played != NULL && player->uses != NULL && player->objects != NULL &&
           player->barriers != NULL && tool_resource_read_facts(player->tool, &player->facts);
}

static bool set_up(struct residents_player* player, const struct tool_budget* budget)
{
    struct tool_residents_outcome* const outcome = player->outcome;
    const struct tool_allocator_options options = {.strategy = MAAR_PLACEMENT_STRATEGY_TLSF};
    if (!reserve_lists(player)) {
        break_off(player, "setting up", VK_ERROR_OUT_OF_HOST_MEMORY);
        return false;
    }
    outcome->trace_peak_bytes = player->lists.peak_bytes;
    outcome->budget =
        budget->bytes != 0 ? budget->bytes : player->lists.peak_bytes * budget->percent / 100;
    /* Nothing has to go lower than the host, also where this device needs more bytes. */
    outcome->host_budget = 2 * (player->lists.peak_bytes + outcome->budget);
    VkResult result = tool_device_create_allocator(player->tool, &options, &player->allocator);
    if (result != VK_SUCCESS) {
        break_off(player, "maarCreateAllocator", result);
        return false;
    }
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .deviceBudget = outcome->budget,
        .hostBudget = outcome->host_budget,
        .pfnEvent = note_event,
        .pUserData = player,
        .pName = player->trace->name,
    };
    result = maarCreateResidency(player->allocator, &info, &player->residency);
    result = result == VK_SUCCESS ? create_commands(player) : result;
    if (result != VK_SUCCESS) {
        break_off(player, "maarCreateResidency", result);
    }
    return result == VK_SUCCESS;
}

static void read_statistics(struct residents_player* player)
{
    struct tool_residents_outcome* const outcome = player->outcome;
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    const VkResult result = maarGetResidencyInfo(player->allocator, player->residency, &info);
    if (result != VK_SUCCESS) {
        break_off(player, "maarGetResidencyInfo", result);
        return;
    }
    const MaarTierInfo* const device = &info.tiers[MAAR_TIER_DEVICE];
    outcome->restored_bytes = device->restoredSize;
    outcome->restored_count = device->restoredCount;
    outcome->written_bytes = info.tiers[MAAR_TIER_HOST].savedSize;
    outcome->written_count = info.tiers[MAAR_TIER_HOST].savedCount;
    outcome->peak_bytes = device->peakSize;
    outcome->ns_per_use = outcome->uses == 0 ? 0.0 : (double)player->ns / (double)outcome->uses;
    if (device->peakSize > outcome->budget) {
        tool_complain("%s: %" PRIu64 " bytes of device memory, above the budget of %" PRIu64,
                      player->trace->name, device->peakSize, outcome->budget);
        outcome->broken = true;
    }
}

static void close_player(struct residents_player* player)
{
    const VkDevice device = player->tool->device;
    /* Mesa 25's queue threads touch the semaphores of a submission after they have signalled it. */
    (void)vkDeviceWaitIdle(device);
    if (player->residency != VK_NULL_HANDLE) {
        maarDestroyResidency(player->allocator, player->residency);
    }
    (void)vkDeviceWaitIdle(device);
    vkDestroyCommandPool(device, player->pool, NULL);
    maarDestroyAllocator(player->allocator);
    vkDestroySemaphore(device, player->timeline, NULL);
    support_use_lists_release(&player->lists);
    free(player->played);
    free(player->uses);
    free(player->objects);
    free(player->barriers);
}

void tool_residents_run(struct tool_device* tool, const struct support_trace* trace,
                        const struct tool_budget* budget, struct tool_residents_outcome* outcome)
{
    struct residents_player player = {.tool = tool, .trace = trace, .outcome = outcome};
    memset(outcome, 0, sizeof *outcome);
    if (set_up(&player, budget)) {
        for (uint32_t i = 0; i < trace->step_count && !outcome->broken; ++i) {
            play_step(&player, i);
        }
        read_statistics(&player);
    }
    close_player(&player);
}
