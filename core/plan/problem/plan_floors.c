/*
 * A tree of maxima: see plan_floors.h. The leaves are the nodes from `count` on, and node k has the
 * children 2 k and 2 k + 1.
 */
#include "core/plan/problem/plan_floors.h"

#include "core/check.h"

#include <string.h>

bool maar_plan_floors_init(struct maar_plan_floors* floors, uint32_t count,
                           struct maar_host_stack* stack)
{
    floors->count = 1;
    while (floors->count < count) {
        floors->count *= 2;
    }
    floors->most = maar_stack_grab_zeroed(stack, floors->count, 2 * sizeof *floors->most);
    floors->all = maar_stack_grab_zeroed(stack, floors->count, 2 * sizeof *floors->all);
    return floors->most != NULL && floors->all != NULL;
}

void maar_plan_floors_reset(struct maar_plan_floors* floors)
{
    memset(floors->most, 0, (size_t)floors->count * 2 * sizeof *floors->most);
    memset(floors->all, 0, (size_t)floors->count * 2 * sizeof *floors->all);
}

static void raise_node(struct maar_plan_floors* floors, uint32_t node, int64_t value)
{
    floors->most[node] = value > floors->most[node] ? value : floors->most[node];
    floors->all[node] = value > floors->all[node] ? value : floors->all[node];
}

static void raise_parents(struct maar_plan_floors* floors, uint32_t node, int64_t value)
{
    for (node /= 2; node > 0; node /= 2) {
        floors->most[node] = value > floors->most[node] ? value : floors->most[node];
    }
}

void maar_plan_floors_raise(struct maar_plan_floors* floors, uint32_t first, uint32_t last,
                            int64_t value)
{
    MAAR_DEBUG_ASSERT(first <= last && last < floors->count);
    uint32_t low = first + floors->count;
    uint32_t high = last + floors->count + 1;
    while (low < high) {
        if (low % 2 == 1) {
            raise_node(floors, low++, value);
        }
        if (high % 2 == 1) {
            raise_node(floors, --high, value);
        }
        low /= 2;
        high /= 2;
    }
    raise_parents(floors, first + floors->count, value);
    raise_parents(floors, last + floors->count, value);
}

static int64_t highest_above(const struct maar_plan_floors* floors, uint32_t node, int64_t most)
{
    for (; node > 0; node /= 2) {
        most = floors->all[node] > most ? floors->all[node] : most;
    }
    return most;
}

int64_t maar_plan_floors_highest(const struct maar_plan_floors* floors, uint32_t first,
                                 uint32_t last)
{
    MAAR_DEBUG_ASSERT(first <= last && last < floors->count);
    uint32_t low = first + floors->count;
    uint32_t high = last + floors->count + 1;
    int64_t most = 0;
    for (; low < high; low /= 2, high /= 2) {
        if (low % 2 == 1) {
            most = floors->most[low] > most ? floors->most[low] : most;
            ++low;
        }
        if (high % 2 == 1) {
            --high;
            most = floors->most[high] > most ? floors->most[high] : most;
        }
    }
    most = highest_above(floors, first + floors->count, most);
    return highest_above(floors, last + floors->count, most);
}
