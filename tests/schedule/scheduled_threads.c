/*
 * The locks, conditions and gates of core/port_thread.h for schedule.h, and the ranks of
 * core/lock_rank.h: they take the place of the library's. Only one task runs at a time, so nothing
 * here is atomic. A thread that is no task finds every lock free.
 */
#include "core/port_thread.h"

#include <stddef.h>

#include "tests/schedule/schedule.h"

#if defined(MAAR_HEAVY_CHECKS) || defined(MAAR_LOCK_CHECKS)

void maar_lock_rank_enter(enum maar_lock_rank rank)
{
    schedule_rank_enter((uint32_t)rank);
}

void maar_lock_rank_leave(enum maar_lock_rank rank)
{
    schedule_rank_leave((uint32_t)rank);
}

void maar_lock_rank_expect_none(void)
{
}

#endif

uint64_t maar_thread_tag(void)
{
    static _Thread_local const char here = 0;
    return (uint64_t)(uintptr_t)&here;
}

bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
    maar_mutex_note_holder(mutex, false);
    maar_atomic32_store(&mutex->state, 0);
    return true;
}

void maar_mutex_destroy(struct maar_mutex* mutex)
{
    (void)mutex;
}

void maar_mutex_wait(struct maar_mutex* mutex)
{
    do {
        (void)schedule_sleep(SCHEDULE_SLEEP_MUTEX, mutex, false);
    } while (!maar_atomic32_take(&mutex->state));
}

void maar_mutex_wake(struct maar_mutex* mutex)
{
    (void)mutex; /* who sleeps looks at the state */
}

bool maar_condition_init(struct maar_condition* condition)
{
    maar_atomic32_store(&condition->sleeper_count, 0);
    condition->turn = 0;
    return true;
}

void maar_condition_destroy(struct maar_condition* condition)
{
    (void)condition;
}

bool maar_condition_wait_for(struct maar_condition* condition, struct maar_mutex* mutex,
                             uint64_t timeout_ns)
{
    if (!mutex->enabled) {
        return true;
    }
    (void)maar_atomic32_add(&condition->sleeper_count, 1);
    maar_mutex_unlock(mutex);
    const bool in_time = schedule_sleep(SCHEDULE_SLEEP_EVENT, condition, timeout_ns != UINT64_MAX);
    (void)maar_atomic32_add(&condition->sleeper_count, UINT32_MAX);
    maar_mutex_lock(mutex);
    return in_time;
}

void maar_condition_wait(struct maar_condition* condition, struct maar_mutex* mutex)
{
    (void)maar_condition_wait_for(condition, mutex, UINT64_MAX);
}

void maar_condition_alarm(struct maar_condition* condition)
{
    schedule_wake(condition);
}

bool maar_gate_init(struct maar_gate* gate)
{
    gate->count = 0;
    return true;
}

void maar_gate_destroy(struct maar_gate* gate)
{
    MAAR_DEBUG_ASSERT(gate->count == 0);
    (void)gate;
}

void maar_gate_enter(struct maar_gate* gate)
{
    schedule_point("gate");
    ++gate->count;
}

void maar_gate_leave(struct maar_gate* gate)
{
    schedule_point("gate");
    MAAR_DEBUG_ASSERT(gate->count > 0);
    --gate->count;
}

uint32_t maar_gate_count(struct maar_gate* gate)
{
    schedule_point("gate");
    return gate->count;
}

bool maar_gate_wait(struct maar_gate* gate, uint64_t timeout_ns)
{
    schedule_point("gate");
    while (gate->count > 0) {
        if (!schedule_sleep(SCHEDULE_SLEEP_GATE, gate, timeout_ns != UINT64_MAX)) {
            return false;
        }
    }
    return true;
}
