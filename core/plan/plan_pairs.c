/*
 * A list of pairs: see plan_pairs.h. A full list is settled first, and grows only if more than half
 * of it remains.
 */
#include "core/plan/plan_pairs.h"

#include <string.h>

/* Moves pairs from one array to the other, sorted by one of their items, the least first. Keeps the
 * order of equal items. `at` has room for a number for each item. */
static void move_by_item(const struct maar_plan_pair* from, struct maar_plan_pair* to,
                         uint32_t count, bool after, uint32_t* at, uint32_t bound)
{
    memset(at, 0, bound * sizeof *at);
    for (uint32_t k = 0; k < count; ++k) {
        ++at[after ? from[k].after : from[k].before];
    }
    for (uint32_t item = 0, sum = 0; item < bound; ++item) {
        const uint32_t here = at[item];
        at[item] = sum;
        sum += here;
    }
    for (uint32_t k = 0; k < count; ++k) {
        to[at[after ? from[k].after : from[k].before]++] = from[k];
    }
}

void maar_plan_settle_pairs(struct maar_plan_pairs* pairs)
{
    const struct maar_stack_mark mark = maar_stack_place(pairs->stack);
    struct maar_plan_pair* other = maar_stack_grab(pairs->stack, pairs->count, sizeof *other);
    uint32_t* at = maar_stack_grab(pairs->stack, pairs->bound, sizeof *at);
    if (other == NULL || at == NULL) {
        pairs->failed = true;
    } else if (pairs->count > 0) {
        struct maar_plan_pair* list = pairs->list;
        move_by_item(list, other, pairs->count, false, at, pairs->bound);
        move_by_item(other, list, pairs->count, true, at, pairs->bound);
        uint32_t kept = 1;
        for (uint32_t k = 1; k < pairs->count; ++k) {
            if (list[k].before != list[k - 1].before || list[k].after != list[k - 1].after) {
                list[kept++] = list[k];
            }
        }
        pairs->count = kept;
    }
    maar_stack_return(pairs->stack, mark);
}

/* Makes room for another pair. */
static void grow_pairs(struct maar_plan_pairs* pairs)
{
    if (pairs->count > 0) {
        maar_plan_settle_pairs(pairs);
    }
    if (pairs->failed || (pairs->room > 0 && pairs->count <= pairs->room / 2)) {
        return;
    }
    const uint32_t room = pairs->room > 0 ? 2 * pairs->room : 2 * pairs->bound + 256;
    struct maar_plan_pair* list =
        room > pairs->room ? maar_stack_grab(pairs->stack, room, sizeof *list) : NULL;
    if (list == NULL) {
        pairs->failed = true;
        return;
    }
    if (pairs->count > 0) {
        memcpy(list, pairs->list, pairs->count * sizeof *list);
    }
    pairs->list = list;
    pairs->room = room;
}

void maar_plan_add_pair(struct maar_plan_pairs* pairs, uint32_t before, uint32_t after)
{
    if (pairs->count == pairs->room && !pairs->failed) {
        grow_pairs(pairs);
    }
    if (!pairs->failed) {
        pairs->list[pairs->count++] = (struct maar_plan_pair){.before = before, .after = after};
    }
}
