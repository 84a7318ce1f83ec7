/*
 * The blocks that a run has seen: see drain_seen.h.
 */
#include "core/move/drain_seen.h"

/* Whether a block comes first: that of the lower rank. Of equal ones that with the smaller free
 * range, since larger ones are good places, and then the last that was made. */
static bool is_before(const struct maar_drain_block* one, const struct maar_drain_block* other)
{
    if (one->rank != other->rank) {
        return one->rank < other->rank;
    }
    return one->room != other->room ? one->room < other->room : one->id > other->id;
}

bool maar_drain_push_seen(struct maar_drain_run* run, const struct maar_drain_block* block)
{
    struct maar_drain_list* seen = &run->seen;
    if (!maar_drain_list_reserve(run->allocator->callbacks, seen, 1, sizeof *block)) {
        return false;
    }
    uint32_t at = seen->count++;
    while (at > 0 && is_before(block, maar_drain_block_at(seen, (at - 1) / 2))) {
        *maar_drain_block_at(seen, at) = *maar_drain_block_at(seen, (at - 1) / 2);
        at = (at - 1) / 2;
    }
    *maar_drain_block_at(seen, at) = *block;
    return true;
}

bool maar_drain_pop_seen(struct maar_drain_run* run, struct maar_drain_block* block)
{
    struct maar_drain_list* seen = &run->seen;
    if (seen->count == 0) {
        return false;
    }
    *block = *maar_drain_block_at(seen, 0);
    const struct maar_drain_block last = *maar_drain_block_at(seen, --seen->count);
    uint32_t at = 0;
    for (uint32_t child = 1; child < seen->count; child = 2 * at + 1) {
        if (child + 1 < seen->count &&
            is_before(maar_drain_block_at(seen, child + 1), maar_drain_block_at(seen, child))) {
            ++child;
        }
        if (!is_before(maar_drain_block_at(seen, child), &last)) {
            break;
        }
        *maar_drain_block_at(seen, at) = *maar_drain_block_at(seen, child);
        at = child;
    }
    if (seen->count > 0) {
        *maar_drain_block_at(seen, at) = last;
    }
    return true;
}
