/*
 * How few bytes render targets would need if they shared them by their uses.
 *
 * A life of a target begins with a submission that discards its contents, and ends with the last
 * one that uses it before the next such submission. Between lives nobody needs the contents. Two
 * targets may have the same bytes if no life of one meets a life of the other; lives that touch the
 * same submission meet, because a capture does not say what is in use together within one. The
 * answer is a placement by first fit, so it is possible, and not always the least.
 *
 * What is needed at least: contents that a submission writes and a later one reads have their bytes
 * in all submissions between the two, whatever the order within one is. So the bytes of all targets
 * with such contents are needed at the same time.
 */
#include "support/findings_internal.h"

#include <stdlib.h>

/* A target that shares with nobody is in no placement: it is used without a discard before, or on
 * another queue, or by others than this device. */
struct share_target {
    const struct support_history_resource* resource;
    uint32_t type; /* of its memory */
    uint32_t life; /* the newest, plus 1; 0: none yet */
    bool is_own;
    uint64_t offset;
};

struct share_life {
    uint32_t target;
    uint32_t first, last; /* submissions */
    uint32_t last_read;   /* the last one that needs the contents, or first */
};

struct share_work {
    struct share_target* targets;
    size_t count;
    uint32_t* target_of; /* of each resource, plus 1 */
    struct share_life* lives;
    size_t life_count, life_capacity;
    uint8_t* meets; /* count * count */
    bool no_memory;
};

/* VK_IMAGE_USAGE_HOST_TRANSFER_BIT: the host may write the image, which is no submission. */
#define HOST_TRANSFER ((uint64_t)0x400000)
#define SANE_SIZE ((uint64_t)1 << 48)
#define SANE_ALIGNMENT ((uint64_t)1 << 30)

static void add_life(struct share_work* share, uint32_t target, uint32_t submit)
{
    if (share->life_count == share->life_capacity) {
        const size_t capacity = share->life_capacity * 2 + 64;
        struct share_life* const larger = realloc(share->lives, capacity * sizeof *larger);
        if (larger == NULL) {
            share->no_memory = true;
            return;
        }
        share->lives = larger;
        share->life_capacity = capacity;
    }
    share->lives[share->life_count] = (struct share_life){target, submit, submit, submit};
    share->life_count += 1;
    share->targets[target].life = (uint32_t)share->life_count;
}

/* Finds the lives, in the order of their beginnings. */
static void find_lives(struct share_work* share, const struct support_history* history)
{
    uint64_t queue = 0;
    for (size_t i = 0; i < history->uses.count && share->life_count < UINT32_MAX; ++i) {
        const struct support_history_use* const use = &history->uses.items[i];
        const uint32_t index = share->target_of[use->resource];
        if (index == 0) {
            continue;
        }
        struct share_target* const target = &share->targets[index - 1];
        const uint64_t own_queue = history->submits.items[use->submit].facts.queue;
        queue = queue == 0 ? own_queue : queue;
        if (own_queue != queue) {
            target->is_own = true;
        } else if ((use->facts.flags & MAAR_CAPTURE_USE_DISCARD_BIT) != 0) {
            add_life(share, index - 1, use->submit);
        } else if (target->life == 0) {
            target->is_own = true; /* its contents come from before the uses */
            add_life(share, index - 1, use->submit);
        } else {
            struct share_life* const life = &share->lives[target->life - 1];
            life->last = use->submit;
            life->last_read =
                (use->facts.flags & MAAR_CAPTURE_USE_READ_BIT) != 0 ? use->submit : life->last_read;
        }
    }
}

/* Notes which targets meet. `active` has room for all targets. */
static void find_meetings(struct share_work* share, uint32_t* active)
{
    size_t active_count = 0;
    for (size_t i = 0; i < share->life_count; ++i) {
        const struct share_life* const life = &share->lives[i];
        size_t kept = 0;
        for (size_t j = 0; j < active_count; ++j) {
            const struct share_life* const other = &share->lives[active[j]];
            /* Of one target, only the newest life goes on. */
            if (other->last >= life->first && other->target != life->target) {
                share->meets[other->target * share->count + life->target] = 1;
                share->meets[life->target * share->count + other->target] = 1;
                active[kept++] = active[j];
            }
        }
        active[kept] = (uint32_t)i;
        active_count = kept + 1;
    }
}

static int compare_sizes(const void* left, const void* right)
{
    const struct share_target* const a = *(const struct share_target* const*)left;
    const struct share_target* const b = *(const struct share_target* const*)right;
    if (a->resource->size != b->resource->size) {
        return a->resource->size > b->resource->size ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return alignment > 1 ? (value + alignment - 1) / alignment * alignment : value;
}

/* Places a target below all others that meet it. `placed` is in the order of the offsets. Returns
 * its end. */
static uint64_t place(const struct share_work* share, struct share_target* target,
                      struct share_target** placed, size_t placed_count)
{
    const size_t own = (size_t)(target - share->targets);
    const uint64_t size = target->resource->size;
    uint64_t offset = 0;
    for (size_t i = 0; i < placed_count; ++i) {
        const struct share_target* const other = placed[i];
        const size_t which = (size_t)(other - share->targets);
        const uint64_t end = other->offset + other->resource->size;
        if (other->type == target->type && share->meets[own * share->count + which] != 0 &&
            other->offset < offset + size && offset < end) {
            offset = round_up(end, target->resource->alignment);
        }
    }
    target->offset = offset;
    size_t at = placed_count;
    for (; at > 0 && placed[at - 1]->offset > offset; --at) {
        placed[at] = placed[at - 1];
    }
    placed[at] = target;
    return offset + size;
}

/* Returns the bytes that sharing saves. */
static uint64_t place_all(struct share_work* share, struct share_target** order,
                          struct share_target** placed)
{
    uint64_t heights[SUPPORT_HISTORY_MOST_TYPES] = {0};
    uint64_t sum = 0;
    uint64_t needed = 0;
    size_t order_count = 0;
    for (size_t i = 0; i < share->count; ++i) {
        if (!share->targets[i].is_own && share->targets[i].life != 0) {
            order[order_count++] = &share->targets[i];
        }
    }
    qsort(order, order_count, sizeof(struct share_target*), compare_sizes);
    for (size_t i = 0; i < order_count; ++i) {
        uint64_t* const height = &heights[order[i]->type];
        const uint64_t end = place(share, order[i], placed, i);
        *height = end > *height ? end : *height;
        sum += order[i]->resource->size;
    }
    for (size_t i = 0; i < SUPPORT_HISTORY_MOST_TYPES; ++i) {
        needed += heights[i];
    }
    return sum > needed ? sum - needed : 0;
}

/* Returns the bytes that contents need at the same time, in the submission of the most. */
static uint64_t count_needed(struct share_work* share, size_t submit_count)
{
    uint64_t* const change = calloc(submit_count + 1, sizeof *change); /* modulo 2^64 */
    uint64_t needed = 0;
    uint64_t most = 0;
    if (change == NULL) {
        share->no_memory = true;
        return 0;
    }
    for (size_t i = 0; i < share->life_count; ++i) {
        const struct share_life* const life = &share->lives[i];
        if (life->last_read > life->first) {
            change[life->first + 1] += share->targets[life->target].resource->size;
            change[life->last_read] -= share->targets[life->target].resource->size;
        }
    }
    for (size_t i = 0; i < submit_count; ++i) {
        needed += change[i];
        most = needed > most ? needed : most;
    }
    free(change);
    return most;
}

static void take_targets(struct share_work* share, const struct support_history* history,
                         const struct findings_list* list)
{
    for (size_t i = 0; i < list->count; ++i) {
        const struct support_history_resource* const resource =
            &history->resources.items[list->items[i]];
        const bool is_plain =
            resource->handle_types == 0 && resource->tiling_is_linear == 0 &&
            (resource->usage & HOST_TRANSFER) == 0 &&
            (resource->needs_flags & MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT) == 0 &&
            resource->size < SANE_SIZE && resource->alignment <= SANE_ALIGNMENT;
        share->targets[i] = (struct share_target){
            .resource = resource,
            .type = history->memories.items[resource->memory].type,
            .is_own = !is_plain,
        };
        share->target_of[list->items[i]] = (uint32_t)i + 1;
    }
}

uint64_t findings_saving_by_uses(struct findings_work* work, uint32_t device,
                                 const struct findings_list* list, uint64_t* needed)
{
    const struct support_history* const history = work->history;
    struct share_work share = {.count = list->count};
    uint64_t saving = 0;
    *needed = 0;
    if (!history->devices.items[device].has_uses ||
        (history->devices.items[device].uses_flags & MAAR_CAPTURE_USES_INCOMPLETE_BIT) != 0 ||
        list->count == 0) {
        return 0;
    }
    share.targets = calloc(list->count, sizeof *share.targets);
    share.target_of = calloc(history->resources.count, sizeof *share.target_of);
    share.meets = calloc(list->count, list->count);
    uint32_t* const active = calloc(list->count + 1, sizeof *active);
    struct share_target** const order = calloc(list->count * 2, sizeof(struct share_target*));
    share.no_memory = share.targets == NULL || share.target_of == NULL || share.meets == NULL ||
                      active == NULL || order == NULL;
    if (!share.no_memory) {
        take_targets(&share, history, list);
        find_lives(&share, history);
    }
    if (!share.no_memory) {
        find_meetings(&share, active);
        saving = place_all(&share, order, order + list->count);
        *needed = count_needed(&share, history->submits.count);
    }
    work->no_memory = work->no_memory || share.no_memory;
    free(share.targets);
    free(share.target_of);
    free(share.lives);
    free(share.meets);
    free(active);
    free(order);
    return saving;
}
