/*
 * Blocks on their way to the driver: see leaving.h. They form a list, the newest first.
 */
#include "core/memory/leaving.h"

#include "core/memory/block.h"
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

void maar_leaving_enter(struct maar_leaving* leaving, struct maar_block* block)
{
    maar_mutex_lock(&leaving->lock);
    block->leaving_number = ++leaving->entered_count;
    block->leaving_thread = maar_thread_tag();
    block->previous = NULL;
    block->next = leaving->first;
    if (block->next != NULL) {
        block->next->previous = block;
    }
    leaving->first = block;
    maar_mutex_unlock(&leaving->lock);
}

void maar_leaving_end(struct maar_leaving* leaving, struct maar_block* block)
{
    if (block->leaving_number == 0) {
        return;
    }
    maar_mutex_lock(&leaving->lock);
    *(block->previous != NULL ? &block->previous->next : &leaving->first) = block->next;
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    maar_atomic64_store(&leaving->ended_count, maar_atomic64_load(&leaving->ended_count) + 1);
    maar_condition_wake(&leaving->ended);
    maar_mutex_unlock(&leaving->lock);
}

/* Whether another thread is releasing a block that is not newer than `number`, and this thread is
 * releasing none. */
static bool must_wait(const struct maar_leaving* leaving, uint64_t number)
{
    const uint64_t thread = maar_thread_tag();
    bool found = false;
    maar_assert_held(&leaving->lock);
    for (const struct maar_block* block = leaving->first; block != NULL; block = block->next) {
        if (block->leaving_thread == thread) {
            return false;
        }
        found |= block->leaving_number <= number;
    }
    return found;
}

void maar_leaving_wait(struct maar_leaving* leaving, uint64_t deadline_ns)
{
    maar_mutex_lock(&leaving->lock);
    const uint64_t number = leaving->entered_count;
    while (must_wait(leaving, number)) {
        const uint64_t left = maar_time_left_ns(deadline_ns);
        if (left == 0 || !maar_condition_wait_for(&leaving->ended, &leaving->lock, left)) {
            break;
        }
    }
    maar_mutex_unlock(&leaving->lock);
}
