/*
 * Memory on its way to the driver: see leaving.h. It forms a list, the newest first.
 */
#include "core/memory/leaving.h"

#include "core/port_time.h"

bool maar_leaving_init(struct maar_leaving* leaving, bool synchronized)
{
    if (!maar_mutex_init(&leaving->lock, MAAR_LOCK_LEAVING, synchronized)) {
        return false;
    }
    if (!maar_condition_init(&leaving->ended)) {
        maar_mutex_destroy(&leaving->lock);
        return false;
    }
    return true;
}

void maar_leaving_destroy(struct maar_leaving* leaving)
{
    maar_condition_destroy(&leaving->ended);
    maar_mutex_destroy(&leaving->lock);
}

void maar_leaving_enter(struct maar_leaving* leaving, struct maar_leaving_memory* memory,
                        uint32_t heap)
{
    maar_mutex_lock(&leaving->lock);
    *memory = (struct maar_leaving_memory){
        .next = leaving->first,
        .number = ++leaving->entered_count,
        .thread = maar_thread_tag(),
        .heap = heap,
    };
    if (memory->next != NULL) {
        memory->next->previous = memory;
    }
    leaving->first = memory;
    maar_mutex_unlock(&leaving->lock);
}

void maar_leaving_end(struct maar_leaving* leaving, struct maar_leaving_memory* memory)
{
    if (memory->number == 0) {
        return;
    }
    maar_mutex_lock(&leaving->lock);
    *(memory->previous != NULL ? &memory->previous->next : &leaving->first) = memory->next;
    if (memory->next != NULL) {
        memory->next->previous = memory->previous;
    }
    maar_atomic64* ended = &leaving->ended_in[memory->heap];
    maar_atomic64_store(ended, maar_atomic64_load(ended) + 1);
    maar_condition_wake(&leaving->ended);
    maar_mutex_unlock(&leaving->lock);
}

/* Whether another thread is releasing memory of some heaps (bits) that is not newer than `number`,
 * and this thread is releasing none. */
static bool must_wait(const struct maar_leaving* leaving, uint32_t heaps, uint64_t number)
{
    const uint64_t thread = maar_thread_tag();
    bool found = false;
    maar_assert_held(&leaving->lock);
    for (const struct maar_leaving_memory* memory = leaving->first; memory != NULL;
         memory = memory->next) {
        if (memory->thread == thread) {
            return false;
        }
        found |= memory->number <= number && (heaps >> memory->heap & 1) != 0;
    }
    return found;
}

void maar_leaving_wait(struct maar_leaving* leaving, uint32_t heaps, uint64_t deadline_ns)
{
    maar_mutex_lock(&leaving->lock);
    const uint64_t number = leaving->entered_count;
    while (must_wait(leaving, heaps, number)) {
        const uint64_t left = maar_time_left_ns(deadline_ns);
        if (left == 0 || !maar_condition_wait_for(&leaving->ended, &leaving->lock, left)) {
            break;
        }
    }
    maar_mutex_unlock(&leaving->lock);
}
