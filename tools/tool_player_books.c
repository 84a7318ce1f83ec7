/*
 * The verification of a replay: the checker's record of all places, the device's patterns, and the
 * faults that a self-test plants in either. See tool_player_internal.h.
 *
 * Every thread of the replay may call these functions for its own resources. The checker and the
 * verifier have their own locks.
 */
#include "tool_player_internal.h"

#include <stdlib.h>

bool player_read_place(struct player* player, MaarAllocation allocation, struct tool_place* place)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    const VkResult result = maarGetAllocationInfo(player->allocator, allocation, &info);
    if (result != VK_SUCCESS) {
        player_break_off(player, "maarGetAllocationInfo", result);
        return false;
    }
    *place = (struct tool_place){
        .memory = info.memory,
        .offset = info.offset,
        .size = info.size,
        .block_size = info.blockSize,
        .kind = info.kind,
        .memory_type = info.memoryTypeIndex,
    };
    return true;
}

static bool plants_in_memory(enum tool_plant plant)
{
    return plant == TOOL_PLANT_OVERLAP || plant == TOOL_PLANT_OFFSET;
}

/* Plants the fault in this allocation, if no other has it and this allocation is suitable. */
static void plant_fault(struct player_thread* thread, uint32_t resource)
{
    struct player* const player = thread->player;
    const struct player_entry* const entry = &player->entries[resource];
    if (!plants_in_memory(player->options->plant) || thread->index != 0 ||
        atomic_load(&player->planted) != PLAYER_NO_RESOURCE || entry->access != TOOL_ACCESS_ALIAS ||
        resource < player->trace->resource_count / 3 || entry->place.size < 16) {
        return;
    }
    if (player->options->plant == TOOL_PLANT_OFFSET) {
        if (player->trace->resources[resource].alignment > 1) {
            atomic_store(&player->planted, resource);
        }
        return;
    }
    const uint32_t step = player->options->thread_count;
    for (uint32_t other = resource; other >= step;) {
        other -= step;
        const struct player_entry* const victim = &player->entries[other];
        if (victim->allocation != VK_NULL_HANDLE && victim->access == TOOL_ACCESS_ALIAS) {
            player->lure = victim->place;
            player->lure.kind = entry->place.kind;
            if (player->lure.size > entry->place.size) {
                player->lure.size = entry->place.size;
            }
            atomic_store(&player->planted, resource);
            return;
        }
    }
}

/* Returns the place of an allocation, or the wrong place of the planted fault. */
static struct tool_place checked_place(const struct player* player, uint32_t resource,
                                       bool when_filled)
{
    struct tool_place place = player->entries[resource].place;
    if (atomic_load(&player->planted) != resource) {
        return place;
    }
    if (player->options->plant == TOOL_PLANT_OVERLAP) {
        return player->lure;
    }
    if (when_filled) {
        place.offset += 1;
        place.size -= 1;
    }
    return place;
}

static struct tool_gpu_subject describe_subject(const struct player* player, uint32_t resource,
                                                bool when_filled)
{
    const struct player_entry* const entry = &player->entries[resource];
    return (struct tool_gpu_subject){
        .label = player->trace->resources[resource].id,
        .plan = entry->plan,
        .access = entry->access,
        .buffer = entry->buffer,
        .image = entry->image,
        .place = checked_place(player, resource, when_filled),
    };
}

/* Adds an allocation's pages to the checker, each run as a place of its own. */
static bool book_runs(struct player* player, uint32_t resource, MaarResourceKind kind)
{
    struct player_entry* const entry = &player->entries[resource];
    struct tool_page_runs* const runs = &entry->runs;
    const uint64_t label = player->trace->resources[resource].id;
    runs->nodes = calloc(runs->count, sizeof(*runs->nodes));
    if (runs->nodes == NULL ||
        !tool_checker_take_nodes(player->checker, runs->count, runs->nodes)) {
        player_break_off(player, "verification", VK_ERROR_OUT_OF_HOST_MEMORY);
        return false;
    }
    bool good = true;
    VkDeviceSize end = 0;
    for (uint32_t i = 0; i < runs->count; ++i) {
        const MaarPageRun* const run = &runs->runs[i];
        const struct tool_place place = {
            .memory = run->memory,
            .offset = run->memoryOffset,
            .size = run->size,
            .block_size = UINT64_MAX, /* the driver itself checks this limit */
            .kind = kind,
        };
        if (run->offset != end) {
            good = tool_checker_complain(player->checker, label, "has pages missing");
        }
        end = run->offset + run->size;
        good = tool_checker_insert(player->checker, runs->nodes[i], label, &place, 1) && good;
    }
    if (end < entry->place.size) {
        good = tool_checker_complain(player->checker, label, "has too few pages");
    }
    return good;
}

static bool unbook_runs(struct player* player, uint32_t resource)
{
    struct player_entry* const entry = &player->entries[resource];
    struct tool_page_runs* const runs = &entry->runs;
    bool good = true;
    if (!tool_sparse_is_unmoved(player->sparse, entry->allocation, runs)) {
        good = tool_checker_complain(player->checker, player->trace->resources[resource].id,
                                     "has other pages when it is freed");
    }
    for (uint32_t i = 0; i < runs->count && runs->nodes != NULL; ++i) {
        const struct tool_place place = {
            .memory = runs->runs[i].memory,
            .offset = runs->runs[i].memoryOffset,
            .size = runs->runs[i].size,
        };
        good = tool_checker_remove(player->checker, runs->nodes[i], &place) && good;
    }
    if (runs->nodes != NULL) {
        tool_checker_return_nodes(player->checker, runs->count, runs->nodes);
    }
    return good;
}

/* If the texels of an image cannot be copied, its pages are reached run by run through the memory
 * of their blocks. Everything else is reached through the object, once it is bound. */
static VkResult touch_runs(struct player* player, const struct tool_gpu_subject* subject,
                           const struct tool_page_runs* runs, bool fill)
{
    VkResult result = VK_SUCCESS;
    VkDeviceSize left = subject->place.size;
    for (uint32_t i = 0; i < runs->count && result == VK_SUCCESS; ++i) {
        struct tool_gpu_subject part = *subject;
        part.label ^= (uint64_t)i << 40;
        part.place.memory = runs->runs[i].memory;
        part.place.offset = runs->runs[i].memoryOffset;
        part.place.size = runs->runs[i].size < left ? runs->runs[i].size : left;
        part.place.block_size = tool_sparse_block_size(player->sparse, runs->runs[i].blockId);
        left -= part.place.size;
        result = fill ? tool_gpu_fill(player->gpu, &part) : tool_gpu_verify(player->gpu, &part);
    }
    return result;
}

static VkResult fill_resource(struct player* player, uint32_t resource)
{
    struct player_entry* const entry = &player->entries[resource];
    if (player->sparse != NULL) {
        MaarPoint point;
        const VkResult result = tool_sparse_submit(player->sparse, &point);
        if (result != VK_SUCCESS) {
            return result;
        }
        tool_gpu_wait_for(player->gpu, point);
    }
    struct tool_gpu_subject subject = describe_subject(player, resource, true);
    if (player->sparse != NULL && entry->access == TOOL_ACCESS_COPY &&
        !tool_gpu_can_copy(player->gpu, &subject)) {
        entry->access = TOOL_ACCESS_ALIAS;
        subject.access = TOOL_ACCESS_ALIAS;
    }
    if (entry->runs.count != 0 && entry->access == TOOL_ACCESS_ALIAS) {
        return touch_runs(player, &subject, &entry->runs, true);
    }
    return tool_gpu_fill(player->gpu, &subject);
}

static VkResult verify_resource(struct player* player, uint32_t resource)
{
    const struct player_entry* const entry = &player->entries[resource];
    const struct tool_gpu_subject subject = describe_subject(player, resource, false);
    return entry->runs.count != 0 && entry->access == TOOL_ACCESS_ALIAS
               ? touch_runs(player, &subject, &entry->runs, false)
               : tool_gpu_verify(player->gpu, &subject);
}

void player_enter_books(struct player_thread* thread, const struct tool_resource_plan* plan,
                        uint32_t resource)
{
    struct player* const player = thread->player;
    struct player_entry* const entry = &player->entries[resource];
    entry->access = plan->access;
    if (player->gpu != NULL && plan->access == TOOL_ACCESS_COPY) {
        entry->plan = malloc(sizeof(*entry->plan));
        if (entry->plan == NULL) {
            player_break_off(player, "verification", VK_ERROR_OUT_OF_HOST_MEMORY);
            return;
        }
        *entry->plan = *plan;
    }
    plant_fault(thread, resource);
    if (entry->runs.count != 0) {
        entry->booked = book_runs(player, resource, plan->kind);
    } else {
        const struct tool_place place = checked_place(player, resource, true);
        entry->booked =
            tool_checker_insert(player->checker, resource, player->trace->resources[resource].id,
                                &place, plan->requirements.alignment);
    }
    if (player->gpu != NULL) {
        const VkResult result = fill_resource(player, resource);
        if (result != VK_SUCCESS) {
            player_break_off(player, "verification", result);
        }
    }
}

bool player_leave_books(struct player_thread* thread, uint32_t resource)
{
    struct player* const player = thread->player;
    const struct player_entry* const entry = &player->entries[resource];
    struct tool_place place = {0};
    if (!player_read_place(player, entry->allocation, &place)) {
        return false;
    }
    if (atomic_load(&player->planted) == resource) {
        place = checked_place(player, resource, true);
    }
    const bool good = entry->runs.count != 0
                          ? unbook_runs(player, resource)
                          : tool_checker_remove(player->checker, resource, &place);
    thread->verified_bytes += good && entry->booked ? place.size : 0;
    if (player->gpu != NULL) {
        const VkResult result = verify_resource(player, resource);
        if (result != VK_SUCCESS) {
            player_break_off(player, "verification", result);
        }
    }
    return true;
}

bool player_set_up_books(struct player* player)
{
    if (!player->options->verify) {
        return true;
    }
    bool executes = false;
    if (!player->tool->simulated) {
        const VkResult result = tool_gpu_create(player->tool, &player->gpu, &executes);
        if (result != VK_SUCCESS) {
            player_break_off(player, "verification", result);
            return false;
        }
        if (!executes) {
            tool_gpu_destroy(player->gpu);
            player->gpu = NULL;
        }
    }
    if (player->gpu != NULL) {
        player->facts.alias_type_bits = tool_gpu_type_bits(player->gpu);
        player->facts.always_copy =
            player->options->copies || player->options->strategy == TOOL_STRATEGY_SPARSE;
        if (player->options->plant == TOOL_PLANT_BARRIER) {
            tool_gpu_omit_barriers(player->gpu);
        }
    }
    player->checker = tool_checker_create((uint32_t)player->trace->resource_count,
                                          player->tool->properties.limits.bufferImageGranularity);
    return player->checker != NULL;
}

void player_close_books(struct player* player, struct tool_outcome* outcome)
{
    outcome->verification = player->checker == NULL ? "off"
                            : player->gpu == NULL   ? "bookkeeping"
                                                    : "gpu";
    if (player->checker != NULL) {
        outcome->mismatches += tool_checker_faults(player->checker);
    } else {
        outcome->verified_bytes = 0;
    }
    if (player->gpu != NULL) {
        const VkResult result = tool_gpu_flush(player->gpu);
        if (result != VK_SUCCESS) {
            player_break_off(player, "verification", result);
        }
        const struct tool_gpu_totals totals = tool_gpu_read_totals(player->gpu);
        outcome->verified_bytes = totals.verified_bytes;
        outcome->copied_bytes = totals.copied_bytes;
        outcome->unverified_bytes = totals.unverified_bytes;
        outcome->mismatches += totals.mismatches;
    }
    if (plants_in_memory(player->options->plant) &&
        atomic_load(&player->planted) == PLAYER_NO_RESOURCE) {
        tool_complain("%s: no allocation was suitable for the planted fault", player->trace->name);
        ++outcome->mismatches;
    }
}
