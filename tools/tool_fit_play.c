/*
 * Plays a demand through Maar on the simulated device of a profile, and finds out where each
 * resource lies, what Maar holds, and why a resource finds no place; see tool_fit.h.
 *
 * A resource without a place is left out, and the play goes on: the end of it shows how many bytes
 * are missing at the peak.
 */
#include "tool_fit.h"

#include "tool_profile.h"
#include "tool_resource.h"

#include <stdlib.h>
#include <string.h>

const char* const tool_fit_reason_names[TOOL_FIT_REASON_COUNT] = {
    [TOOL_FIT_NO_REASON] = "none",
    [TOOL_FIT_NO_TYPE] = "no_memory_type",
    [TOOL_FIT_ABOVE_BUFFER] = "max_buffer_size",
    [TOOL_FIT_ABOVE_MEMORY] = "max_memory_allocation_size",
    [TOOL_FIT_TOO_MANY] = "max_memory_allocation_count",
    [TOOL_FIT_ABOVE_HEAP] = "larger_than_heap",
    [TOOL_FIT_HEAP_FULL] = "heap_full",
    [TOOL_FIT_ABOVE_BUDGET] = "budget",
    [TOOL_FIT_ASSUMED_BUDGET] = "assumed_budget",
    [TOOL_FIT_HOLES] = "holes",
    [TOOL_FIT_DRIVER] = "driver",
};

/* A resource during the play. */
struct placed {
    MaarAllocation allocation;
    VkBuffer buffer;
    VkImage image;
    uint64_t bytes; /* in its heap, or missing */
    uint32_t heap;
    bool is_unplaced, is_elsewhere, is_displaced;
};

struct fit_player {
    struct tool_device* tool;
    MaarAllocator allocator;
    struct tool_resource_facts facts;
    const struct tool_fit_demand* demand;
    struct tool_fit_result* result;
    struct placed* placed;
    uint64_t unplaced, elsewhere;
    bool integrated;     /* every heap is the device's own memory */
    bool is_over_budget; /* a memory was made above a budget since the last look */
    uint32_t over_heap;
    uint64_t over_free; /* of the budget, before that memory */
    bool use_least;
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t rest(uint64_t whole, uint64_t used)
{
    return whole > used ? whole - used : 0;
}

static void VKAPI_CALL note_memory(void* user_data, uint32_t type, VkDeviceMemory memory,
                                   VkDeviceSize size)
{
    (void)memory;
    struct fit_player* const player = user_data;
    struct tool_fit_result* const result = player->result;
    const uint32_t index = player->tool->memory.memoryTypes[type].heapIndex;
    struct tool_fit_heap* const heap = &result->heaps[index];
    heap->held += size;
    heap->held_peak = larger(heap->held_peak, heap->held);
    ++result->memory_count;
    result->memory_count_peak = larger(result->memory_count_peak, result->memory_count);
    result->largest_memory = larger(result->largest_memory, size);
    if (heap->budget != 0 && heap->usage + heap->held > heap->budget) {
        player->is_over_budget = true;
        player->over_heap = index;
        player->over_free = rest(heap->budget, heap->usage + heap->held - size);
        result->over_budget_peak =
            larger(result->over_budget_peak, heap->usage + heap->held - heap->budget);
    }
}

static void VKAPI_CALL forget_memory(void* user_data, uint32_t type, VkDeviceMemory memory,
                                     VkDeviceSize size)
{
    (void)memory;
    struct fit_player* const player = user_data;
    const uint32_t index = player->tool->memory.memoryTypes[type].heapIndex;
    player->result->heaps[index].held -= size;
    --player->result->memory_count;
}

/* Remembers the first failure. */
static void note_failure(struct fit_player* player, const struct tool_fit_failure* failure)
{
    if (player->result->failure.reason == TOOL_FIT_NO_REASON) {
        player->result->failure = *failure;
    }
}

/* Finds out why a request did not get memory of its preferred heap. */
static void explain(struct fit_player* player, const struct tool_resource_plan* plan, uint32_t item,
                    const MaarMemoryTypeChoice* choice, VkResult result)
{
    const struct tool_fit_result* const facts = player->result;
    struct tool_fit_failure failure = {
        .item = item, .bytes = plan->requirements.size, .result = result};
    if (choice->candidateCount == 0) {
        failure.reason = TOOL_FIT_NO_TYPE;
        note_failure(player, &failure);
        return;
    }
    failure.heap = player->tool->memory.memoryTypes[choice->candidates[0]].heapIndex;
    const struct tool_fit_heap* const heap = &facts->heaps[failure.heap];
    const uint64_t bytes = failure.bytes;
    const uint64_t free_now = rest(heap->size, heap->held);
    failure.free = free_now;
    failure.limit = heap->size;
    if (facts->max_memory_size != 0 && bytes > facts->max_memory_size) {
        failure.reason = TOOL_FIT_ABOVE_MEMORY;
        failure.limit = facts->max_memory_size;
    } else if (bytes > heap->size) {
        failure.reason = TOOL_FIT_ABOVE_HEAP;
    } else if (facts->max_memory_count != 0 && facts->memory_count >= facts->max_memory_count) {
        failure.reason = TOOL_FIT_TOO_MANY;
        failure.limit = facts->max_memory_count;
    } else if (bytes > rest(heap->size, heap->live)) {
        failure.reason = TOOL_FIT_HEAP_FULL;
        failure.free = rest(heap->size, heap->live);
    } else if (heap->budget != 0 && heap->usage + heap->held + bytes > heap->budget) {
        failure.reason = TOOL_FIT_ABOVE_BUDGET;
        failure.limit = heap->budget;
        failure.free = rest(heap->budget, heap->usage + heap->held);
    } else if (bytes > free_now) {
        failure.reason = TOOL_FIT_HOLES;
        failure.free = rest(heap->size, heap->live);
    } else if (heap->budget == 0 && heap->held + bytes > heap->assumed_budget) {
        failure.reason = TOOL_FIT_ASSUMED_BUDGET;
        failure.limit = heap->assumed_budget;
        failure.free = rest(heap->assumed_budget, heap->held);
    } else {
        failure.reason = result == VK_SUCCESS ? TOOL_FIT_HOLES : TOOL_FIT_DRIVER;
    }
    note_failure(player, &failure);
}

static VkResult create(struct fit_player* player, const struct tool_resource_plan* plan,
                       struct placed* placed)
{
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = plan->usage,
    };
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = plan->requirements,
        .kind = plan->kind,
    };
    if (plan->is_buffer) {
        return maarCreateBuffer(player->allocator, &plan->buffer, &info, &placed->buffer,
                                &placed->allocation);
    }
    if (plan->form == TOOL_FORM_IMAGE) {
        return maarCreateImage(player->allocator, &plan->image, &info, &placed->image,
                               &placed->allocation);
    }
    return maarAllocateMemory(player->allocator, &request, &info, &placed->allocation);
}

/* Finds out whether a resource that should be device-local lies in host memory. */
static bool is_elsewhere(const struct fit_player* player, const struct tool_resource_plan* plan,
                         uint32_t heap)
{
    const VkPhysicalDeviceMemoryProperties* const memory = &player->tool->memory;
    if (player->result->is_integrated || player->result->heaps[heap].is_device_local ||
        (plan->usage != MAAR_MEMORY_USAGE_DEVICE_LOCAL &&
         plan->usage != MAAR_MEMORY_USAGE_TRANSIENT)) {
        return false;
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        if ((plan->requirements.memoryTypeBits >> i & 1u) != 0 &&
            player->result->heaps[memory->memoryTypes[i].heapIndex].is_device_local) {
            return true;
        }
    }
    return false;
}

/* Finds out whether a resource of the device lies in the device's heap that the host can map,
 * although memory of another heap that it cannot map would do. Writes that heap. */
static bool is_displaced(const struct fit_player* player, const struct tool_resource_plan* plan,
                         uint32_t heap, uint32_t* from)
{
    const VkPhysicalDeviceMemoryProperties* const memory = &player->tool->memory;
    if (player->result->is_integrated || !player->result->heaps[heap].is_device_local ||
        (plan->usage != MAAR_MEMORY_USAGE_DEVICE_LOCAL &&
         plan->usage != MAAR_MEMORY_USAGE_TRANSIENT)) {
        return false;
    }
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        const VkMemoryType* const type = &memory->memoryTypes[i];
        if ((plan->requirements.memoryTypeBits >> i & 1u) != 0 &&
            (type->propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0 &&
            (type->propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0 &&
            player->result->heaps[type->heapIndex].is_device_local) {
            *from = type->heapIndex != heap ? type->heapIndex : *from;
            return type->heapIndex != heap;
        }
    }
    return false;
}

static void count_live(struct fit_player* player, struct placed* placed, uint64_t bytes)
{
    struct tool_fit_result* const result = player->result;
    struct tool_fit_heap* const heap = &result->heaps[placed->heap];
    placed->bytes = bytes;
    if (placed->is_unplaced) {
        ++result->failures;
        player->unplaced += bytes;
        result->unplaced_peak = larger(result->unplaced_peak, player->unplaced);
        return;
    }
    heap->live += bytes;
    heap->live_peak = larger(heap->live_peak, heap->live);
    if (placed->is_displaced) {
        heap->displaced += bytes;
        heap->displaced_peak = larger(heap->displaced_peak, heap->displaced);
    }
    if (placed->is_elsewhere) {
        player->elsewhere += bytes;
        result->elsewhere_peak = larger(result->elsewhere_peak, player->elsewhere);
    }
}

/* Describes a resource on this device. Returns false if no such buffer can exist. */
static bool plan_item(struct fit_player* player, uint32_t index, struct tool_resource_plan* plan)
{
    const struct tool_fit_item* const item = &player->demand->items[index];
    struct support_trace_resource row = item->row;
    row.size = player->use_least ? item->least_bytes : row.size;
    struct support_trace_image image = {.format = 0};
    if (row.image != UINT32_MAX) {
        image = player->demand->images[row.image];
        row.image = 0;
    }
    const struct support_trace one = {
        .resources = &row, .resource_count = 1, .images = &image, .image_count = 1};
    const uint64_t most = player->result->max_buffer_size;
    tool_resource_plan_for(player->tool, &player->facts, &one, 0, plan);
    return row.kind != SUPPORT_TRACE_BUFFER || most == 0 || row.size <= most;
}

static void begin_item(struct fit_player* player, uint32_t index)
{
    struct placed* const placed = &player->placed[index];
    struct tool_resource_plan plan;
    if (!plan_item(player, index, &plan)) {
        note_failure(player, &(struct tool_fit_failure){.reason = TOOL_FIT_ABOVE_BUFFER,
                                                        .item = index,
                                                        .bytes = plan.requirements.size,
                                                        .limit = player->result->max_buffer_size});
        placed->is_unplaced = true;
        count_live(player, placed, plan.requirements.size);
        return;
    }
    const MaarAllocationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .usage = plan.usage};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    if (maarChooseMemoryType(player->allocator, plan.requirements.memoryTypeBits, &info, &choice) !=
        VK_SUCCESS) {
        choice.candidateCount = 0;
    }
    player->is_over_budget = false;
    const VkResult result = create(player, &plan, placed);
    MaarAllocationInfo where = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (result != VK_SUCCESS ||
        maarGetAllocationInfo(player->allocator, placed->allocation, &where) != VK_SUCCESS) {
        placed->is_unplaced = true;
        explain(player, &plan, index, &choice, result);
        count_live(player, placed, plan.requirements.size);
        return;
    }
    placed->heap = player->tool->memory.memoryTypes[where.memoryTypeIndex].heapIndex;
    placed->is_elsewhere = is_elsewhere(player, &plan, placed->heap);
    placed->is_displaced = is_displaced(player, &plan, placed->heap,
                                        &player->result->heaps[placed->heap].displaced_from);
    if (placed->is_elsewhere) {
        explain(player, &plan, index, &choice, VK_SUCCESS);
    } else if (player->is_over_budget) {
        const struct tool_fit_heap* const heap = &player->result->heaps[player->over_heap];
        note_failure(player, &(struct tool_fit_failure){.reason = TOOL_FIT_ABOVE_BUDGET,
                                                        .item = index,
                                                        .bytes = plan.requirements.size,
                                                        .heap = player->over_heap,
                                                        .free = player->over_free,
                                                        .limit = heap->budget});
    }
    count_live(player, placed, where.size);
}

static void end_item(struct fit_player* player, uint32_t index)
{
    struct placed* const placed = &player->placed[index];
    if (placed->is_unplaced) {
        player->unplaced -= placed->bytes;
    } else if (placed->allocation != VK_NULL_HANDLE) {
        player->result->heaps[placed->heap].live -= placed->bytes;
        player->elsewhere -= placed->is_elsewhere ? placed->bytes : 0;
        player->result->heaps[placed->heap].displaced -= placed->is_displaced ? placed->bytes : 0;
        if (placed->buffer != VK_NULL_HANDLE) {
            maarDestroyBuffer(player->allocator, placed->buffer, placed->allocation);
        } else if (placed->image != VK_NULL_HANDLE) {
            maarDestroyImage(player->allocator, placed->image, placed->allocation);
        } else {
            maarFreeMemory(player->allocator, placed->allocation);
        }
    }
    *placed = (struct placed){.bytes = 0};
}

static void play_events(struct fit_player* player)
{
    for (size_t i = 0; i < player->demand->event_count; ++i) {
        const struct tool_fit_event* const event = &player->demand->events[i];
        if (event->begins) {
            begin_item(player, event->item);
        } else {
            end_item(player, event->item);
        }
    }
    for (size_t i = 0; i < player->demand->item_count; ++i) {
        end_item(player, (uint32_t)i);
    }
}

/* Returns the heap where Maar would put a resource of the device first. */
static uint32_t first_heap(const struct fit_player* player)
{
    const VkPhysicalDeviceMemoryProperties* const memory = &player->tool->memory;
    const MaarAllocationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const uint32_t all =
        memory->memoryTypeCount < 32 ? (1u << memory->memoryTypeCount) - 1u : UINT32_MAX;
    const VkResult result = maarChooseMemoryType(player->allocator, all, &info, &choice);
    return result == VK_SUCCESS && choice.candidateCount > 0
               ? memory->memoryTypes[choice.candidates[0]].heapIndex
               : 0;
}

/* Reads what the profile says of heaps and limits. */
static void read_device(struct fit_player* player)
{
    struct tool_fit_result* const result = player->result;
    const struct tool_device* const tool = player->tool;
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    count = maarGetHeapBudgets(player->allocator, &count, budgets) == VK_SUCCESS ? count : 0;
    snprintf(result->profile, sizeof(result->profile), "%s", tool->profile->name);
    snprintf(result->device, sizeof(result->device), "%s", tool->properties.deviceName);
    result->heap_count = tool->memory.memoryHeapCount;
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        struct tool_fit_heap* const heap = &result->heaps[i];
        const bool from_driver = i < count && budgets[i].fromDriver == VK_TRUE;
        heap->size = tool->memory.memoryHeaps[i].size;
        heap->is_device_local =
            (tool->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        const bool is_known = from_driver && tool->profile->heaps[i].budgetKnown == VK_TRUE &&
                              !tool->options.whole_heaps;
        heap->budget = is_known ? budgets[i].budget : 0;
        heap->usage = heap->budget != 0 ? budgets[i].usage : 0;
        heap->assumed_budget = i < count ? budgets[i].budget : heap->size;
    }
    result->main_heap = first_heap(player);
    result->max_memory_count = tool->properties.limits.maxMemoryAllocationCount;
    result->max_memory_size = tool->profile->limits.maxMemoryAllocationSize;
    result->max_buffer_size = tool->max_buffer_size;
    result->is_integrated = tool->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ||
                            tool->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

static int play_open(struct fit_player* player)
{
    const struct tool_allocator_options options = {
        .strategy = MAAR_PLACEMENT_STRATEGY_TLSF,
        .on_allocate = note_memory,
        .on_free = forget_memory,
        .user_data = player,
    };
    const VkResult result =
        tool_device_create_allocator(player->tool, &options, &player->allocator);
    if (result != VK_SUCCESS) {
        tool_complain("%s: maarCreateAllocator: %s", player->tool->profile->name,
                      maarGetResultName(result));
        return TOOL_EXIT_FAILED;
    }
    player->placed = calloc(player->demand->item_count + 1, sizeof(*player->placed));
    if (player->placed == NULL || !tool_resource_read_facts(player->tool, &player->facts)) {
        tool_complain("%s: no resource can be described", player->tool->profile->name);
        return TOOL_EXIT_FAILED;
    }
    read_device(player);
    play_events(player);
    const char* broken = NULL;
    if (maarCheckAllocator(player->allocator, &broken) != VK_SUCCESS) {
        tool_complain("%s: the allocator is broken: %s", player->tool->profile->name,
                      broken != NULL ? broken : "no reason given");
        return TOOL_EXIT_FAILED;
    }
    return TOOL_EXIT_OK;
}

/* How a demand is played. */
struct play {
    struct tool_fit_input* input;
    const char* profile;
    const struct tool_fit_play_options* options;
    bool use_least; /* the least sizes that are proved, not those of the items */
};

static int play_on(struct tool_device* tool, const struct play* play,
                   const struct tool_fit_demand* demand, struct tool_fit_result* result)
{
    struct fit_player* const player = calloc(1, sizeof(*player));
    if (player == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    player->tool = tool;
    player->demand = demand;
    player->result = result;
    player->use_least = play->use_least;
    const int code = play_open(player);
    maarDestroyAllocator(player->allocator);
    free(player->placed);
    free(player);
    const bool fits = result->failures == 0 && result->over_budget_peak == 0 &&
                      (result->elsewhere_peak == 0 || play->options->allow_host);
    result->verdict = fits ? TOOL_FIT_YES : TOOL_FIT_NO;
    return code;
}

/* Plays once, within the budgets or with whole heaps. */
static int play_once(const struct play* play, bool whole_heaps,
                     const struct tool_fit_demand** demand, struct tool_fit_result* result)
{
    char name[4096];
    struct tool_device* const tool = calloc(1, sizeof(*tool));
    struct tool_device_options device = *play->options->device;
    *result = (struct tool_fit_result){.verdict = TOOL_FIT_NO};
    if (tool == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    snprintf(name, sizeof(name), "simulated:%s", play->profile);
    device.device = name;
    device.silent = true;
    device.whole_heaps = whole_heaps;
    int code = tool_device_open_instance(tool, &device);
    code = code == TOOL_EXIT_OK ? tool_device_open(tool, VK_NULL_HANDLE) : code;
    if (code == TOOL_EXIT_OK) {
        *demand = tool_fit_demand_for(play->input, tool->properties.limits.bufferImageGranularity);
        code = *demand == NULL ? TOOL_EXIT_FAILED : play_on(tool, play, *demand, result);
    }
    tool_device_close(tool);
    if (code == TOOL_EXIT_OK && atomic_load(&tool->messages.count) != 0) {
        tool_complain("%s: the simulated driver found a violation", play->profile);
        code = TOOL_EXIT_FAILED;
    }
    free(tool);
    return code;
}

/* Holes are the reason only if all that is missing would have fitted into them. */
static void correct_reason(struct tool_fit_result* result)
{
    struct tool_fit_failure* const failure = &result->failure;
    const uint64_t missing = result->unplaced_peak + result->elsewhere_peak;
    if (failure->reason == TOOL_FIT_HOLES && missing > failure->free) {
        failure->reason = TOOL_FIT_HEAP_FULL;
    }
}

/* Plays within the budgets. Where that fails, plays with whole heaps: if that fails too, a budget
 * is not the reason. */
static int play_device(const struct play* play, const struct tool_fit_demand** demand,
                       struct tool_fit_result* result)
{
    int code = play_once(play, false, demand, result);
    if (code != TOOL_EXIT_OK || result->verdict == TOOL_FIT_YES) {
        return code;
    }
    struct tool_fit_result* const whole = calloc(1, sizeof(*whole));
    if (whole == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    code = play_once(play, true, demand, whole);
    if (code == TOOL_EXIT_OK && whole->verdict == TOOL_FIT_NO) {
        correct_reason(whole);
        for (uint32_t i = 0; i < whole->heap_count; ++i) {
            whole->heaps[i].budget = result->heaps[i].budget;
            whole->heaps[i].usage = result->heaps[i].usage;
        }
        *result = *whole;
    }
    free(whole);
    return code;
}

int tool_fit_play(struct tool_fit_input* input, const char* profile,
                  const struct tool_fit_play_options* options,
                  const struct tool_fit_demand** demand, struct tool_fit_result* result)
{
    struct play play = {.input = input, .profile = profile, .options = options};
    int code = play_device(&play, demand, result);
    if (code == TOOL_EXIT_OK && result->verdict == TOOL_FIT_NO && !(*demand)->is_proved) {
        struct tool_fit_result* const least = calloc(1, sizeof(*least));
        play.use_least = true;
        code = least == NULL ? TOOL_EXIT_FAILED : play_device(&play, demand, least);
        if (code == TOOL_EXIT_OK && least->verdict == TOOL_FIT_YES) {
            result->verdict = TOOL_FIT_UNDECIDED;
        }
        free(least);
    }
    for (uint32_t i = 0; code == TOOL_EXIT_OK && i < result->heap_count; ++i) {
        result->heaps[i].is_unmeasured =
            tool_profile_heap_is_unmeasured(profile, options->device, i);
    }
    return code;
}
