/*
 * Mutexes, conditions and gates on POSIX and Windows. For programs that synchronize from outside, a
 * mutex can be created disabled. Then each call costs one predictable branch.
 *
 * On POSIX, to lock a free mutex takes one inline compare-and-exchange, and to unlock it takes one
 * exchange. Both together take half the time of pthread_mutex_lock. A thread that cannot take the
 * mutex tries for a moment and then sleeps on a condition variable. The algorithm is mutex 2 of
 * Drepper, "Futexes Are Tricky" (2011), with a condition variable in place of the futex.
 */
#ifndef MAAR_CORE_PORT_THREAD_H
#define MAAR_CORE_PORT_THREAD_H

#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <stdbool.h>
#include <stdint.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#else
#include <pthread.h>
#endif

#include "core/check.h"
#include "core/lock_rank.h"
#include "core/port_atomic.h"

struct maar_mutex {
#if defined(_WIN32)
    SRWLOCK native;
#else
    maar_atomic32 state; /* 0: free; 1: held; 2: held, and other threads may sleep */
    pthread_mutex_t bed; /* held while a thread goes to sleep or wakes others */
    pthread_cond_t alarm;
#endif
    enum maar_lock_rank rank;
    bool enabled;
#if defined(MAAR_DEBUG_CHECKS)
    maar_atomic64 holder; /* the tag of the thread that holds the mutex, or 0 */
#endif
};

/* Returns a number that no other thread has as long as this thread runs. Never returns 0. */
uint64_t maar_thread_tag(void);

/* Stops the program in debug builds unless this thread holds the mutex. A disabled mutex counts as
 * held. */
static inline void maar_assert_held(const struct maar_mutex* mutex)
{
#if defined(MAAR_DEBUG_CHECKS)
    MAAR_DEBUG_ASSERT(!mutex->enabled || maar_atomic64_load(&mutex->holder) == maar_thread_tag());
#else
    (void)mutex;
#endif
}

static inline void maar_mutex_note_holder(struct maar_mutex* mutex, bool held)
{
#if defined(MAAR_DEBUG_CHECKS)
    maar_atomic64_store(&mutex->holder, held ? maar_thread_tag() : 0);
#else
    (void)mutex;
    (void)held;
#endif
}

/* Returns false when the system cannot create a mutex. */
bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled);
void maar_mutex_destroy(struct maar_mutex* mutex);

#if !defined(_WIN32)
/* Takes the mutex. Sleeps if another thread holds it. */
void maar_mutex_wait(struct maar_mutex* mutex);
/* Wakes one sleeping thread. */
void maar_mutex_wake(struct maar_mutex* mutex);
#endif

static inline void maar_mutex_lock(struct maar_mutex* mutex)
{
    if (!mutex->enabled) {
        return;
    }
    maar_lock_rank_enter(mutex->rank);
#if defined(_WIN32)
    AcquireSRWLockExclusive(&mutex->native);
#else
    if (!maar_atomic32_take(&mutex->state)) {
        maar_mutex_wait(mutex);
    }
#endif
    maar_mutex_note_holder(mutex, true);
}

/* Takes the mutex if it is free. Returns false if another thread holds it. Never waits. */
static inline bool maar_mutex_try_lock(struct maar_mutex* mutex)
{
    if (!mutex->enabled) {
        return true;
    }
#if defined(_WIN32)
    bool taken = TryAcquireSRWLockExclusive(&mutex->native) != 0;
#else
    bool taken = maar_atomic32_take(&mutex->state);
#endif
    if (taken) {
        maar_lock_rank_enter(mutex->rank);
        maar_mutex_note_holder(mutex, true);
    }
    return taken;
}

static inline void maar_mutex_unlock(struct maar_mutex* mutex)
{
    if (!mutex->enabled) {
        return;
    }
    maar_assert_held(mutex);
    maar_mutex_note_holder(mutex, false);
#if defined(_WIN32)
    ReleaseSRWLockExclusive(&mutex->native);
#else
    if (maar_atomic32_exchange(&mutex->state, 0) > 1) {
        maar_mutex_wake(mutex);
    }
#endif
    maar_lock_rank_leave(mutex->rank);
}

/*
 * A condition: threads sleep until another thread has changed something that a mutex guards. All
 * sleeping threads wake together, and each checks what it waits for. A thread may wake without a
 * reason, so a wait always stands in a loop.
 */
struct maar_condition {
#if defined(_WIN32)
    CONDITION_VARIABLE native;
#else
    maar_atomic32 sleeper_count; /* a thread increases it before it releases the mutex */
    uint32_t turn;               /* counts the wake-ups; guarded by bed */
    pthread_mutex_t bed;
    pthread_cond_t alarm;
#endif
};

/* Returns false when the system cannot create a condition. */
bool maar_condition_init(struct maar_condition* condition);
/* Destroys a condition. No thread may sleep on it. */
void maar_condition_destroy(struct maar_condition* condition);

/* Sleeps until a wake-up. The caller holds the mutex, and no other lock except a map lock. The call
 * releases the mutex during the sleep and takes it again. Returns at once if the mutex is disabled,
 * because then no other thread is at work. */
void maar_condition_wait(struct maar_condition* condition, struct maar_mutex* mutex);
/* Does the same, but sleeps for at most the given time. Returns false when that time has passed
 * without a wake-up. UINT64_MAX means no limit. */
bool maar_condition_wait_for(struct maar_condition* condition, struct maar_mutex* mutex,
                             uint64_t timeout_ns);

#if !defined(_WIN32)
/* Wakes all sleeping threads. At least one thread sleeps. */
void maar_condition_alarm(struct maar_condition* condition);
#endif

/* Wakes all sleeping threads. The caller changed what they wait for under their mutex, and may
 * still hold the mutex. */
static inline void maar_condition_wake(struct maar_condition* condition)
{
#if defined(_WIN32)
    WakeAllConditionVariable(&condition->native);
#else
    if (maar_atomic32_load(&condition->sleeper_count) > 0) {
        maar_condition_alarm(condition);
    }
#endif
}

/*
 * A gate counts pieces of work that threads do, and lets another thread sleep until none is left. A
 * gate uses the system's own mutex. So the thread that waited may destroy the gate at once, even if
 * the last worker has not yet returned from maar_gate_leave.
 */
struct maar_gate {
#if defined(_WIN32)
    SRWLOCK lock;
    CONDITION_VARIABLE empty;
#else
    pthread_mutex_t lock;
    pthread_cond_t empty;
#endif
    uint32_t count; /* guarded by the lock */
};

/* Returns false when the system cannot create a gate. */
bool maar_gate_init(struct maar_gate* gate);
/* Destroys a gate. Its count must be 0. */
void maar_gate_destroy(struct maar_gate* gate);
/* Counts one more piece of work. */
void maar_gate_enter(struct maar_gate* gate);
/* Counts one piece of work less. */
void maar_gate_leave(struct maar_gate* gate);
uint32_t maar_gate_count(struct maar_gate* gate);
/* Sleeps until the count is 0. Returns false when the time passes first. UINT64_MAX means no
 * limit. */
bool maar_gate_wait(struct maar_gate* gate, uint64_t timeout_ns);

#endif
