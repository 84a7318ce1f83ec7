/*
 * Mutexes and conditions on POSIX and Windows. A mutex that was created switched off costs one
 * predictable branch, for programs that synchronize from outside.
 *
 * On POSIX the common case, nobody else there, is one compare-and-exchange to lock and one exchange
 * to unlock, in line: half of what pthread_mutex_lock costs, whose mutex is where a thread that has
 * spun in vain goes to sleep. After Drepper, "Futexes Are Tricky" (2011), mutex 2, with a condition
 * variable for the futex.
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
    maar_atomic32 state; /* 0: free; 1: held; 2: held, and somebody may be asleep */
    pthread_mutex_t bed; /* guards going to sleep and waking up */
    pthread_cond_t alarm;
#endif
    enum maar_lock_rank rank;
    bool enabled;
#if defined(MAAR_DEBUG_CHECKS)
    maar_atomic64 holder; /* the thread that holds it, or 0 */
#endif
};

#if defined(MAAR_DEBUG_CHECKS)
/* A number that no other thread has while this one lives; never 0. */
uint64_t maar_thread_tag(void);
#endif

/* Debug builds: traps unless this thread holds the mutex. A mutex that was created switched off
 * counts as held. */
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

/* False when the system has no room for a mutex. */
bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled);
void maar_mutex_destroy(struct maar_mutex* mutex);

#if !defined(_WIN32)
/* Waits; the state was not free. */
void maar_mutex_wait(struct maar_mutex* mutex);
/* Wakes one that is asleep. */
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

/* False when another thread holds it; never waits. */
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
 * A condition: threads sleep in it until another thread has changed something that a mutex guards.
 * All sleepers wake together, and each looks at what it waits for. A thread may wake without a
 * reason, so a wait always stands in a loop.
 */
struct maar_condition {
#if defined(_WIN32)
    CONDITION_VARIABLE native;
#else
    maar_atomic32 sleeper_count; /* rises under the mutex of the waits */
    uint32_t turn;               /* of waking up; guarded by the bed */
    pthread_mutex_t bed;
    pthread_cond_t alarm;
#endif
};

/* False when the system has no room for a condition. */
bool maar_condition_init(struct maar_condition* condition);
/* Nobody may sleep in it. */
void maar_condition_destroy(struct maar_condition* condition);

/* Sleeps until a wake-up. The mutex is held by the caller, as its only lock but a map lock; it is
 * released during the sleep and held again afterwards. Returns at once with a mutex that is
 * switched off: then no other thread is at work. */
void maar_condition_wait(struct maar_condition* condition, struct maar_mutex* mutex);
/* Sleeps for the given time at most. Returns false when that time has passed without a wake-up.
 * UINT64_MAX stands for ever. */
bool maar_condition_wait_for(struct maar_condition* condition, struct maar_mutex* mutex,
                             uint64_t timeout_ns);

#if !defined(_WIN32)
/* Wakes all sleepers, of whom at least one exists. */
void maar_condition_alarm(struct maar_condition* condition);
#endif

/* Wakes all sleepers. What they wait for was changed under their mutex, which may be held still. */
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
 * A gate counts pieces of work that threads have under way, and lets another thread sleep until
 * none is left. It stands on the system's own mutex: the thread that waited may destroy it at once,
 * while the last worker is still on its way out of maar_gate_leave.
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

/* Returns false when the system has no room for a gate. */
bool maar_gate_init(struct maar_gate* gate);
/* The count must be 0. */
void maar_gate_destroy(struct maar_gate* gate);
/* Counts one more piece of work. */
void maar_gate_enter(struct maar_gate* gate);
/* Counts a piece of work as done. */
void maar_gate_leave(struct maar_gate* gate);
uint32_t maar_gate_count(struct maar_gate* gate);
/* Sleeps until the count is 0. Returns false when the time has passed before; UINT64_MAX stands for
 * ever. */
bool maar_gate_wait(struct maar_gate* gate, uint64_t timeout_ns);

#endif
