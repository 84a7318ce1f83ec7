/*
 * Mutexes on POSIX and Windows. A mutex that was created switched off costs one predictable branch,
 * for programs that synchronize from outside.
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

#include "core/lock_rank.h"

struct maar_mutex {
#if defined(_WIN32)
    SRWLOCK native;
#else
    pthread_mutex_t native;
#endif
    enum maar_lock_rank rank;
    bool enabled;
};

/* False when the system has no room for a mutex. */
static inline bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
#if defined(_WIN32)
    InitializeSRWLock(&mutex->native);
    return true;
#else
    return pthread_mutex_init(&mutex->native, NULL) == 0;
#endif
}

static inline void maar_mutex_destroy(struct maar_mutex* mutex)
{
#if defined(_WIN32)
    (void)mutex;
#else
    (void)pthread_mutex_destroy(&mutex->native);
#endif
}

static inline void maar_mutex_lock(struct maar_mutex* mutex)
{
    if (!mutex->enabled) {
        return;
    }
    maar_lock_rank_enter(mutex->rank);
#if defined(_WIN32)
    AcquireSRWLockExclusive(&mutex->native);
#else
    (void)pthread_mutex_lock(&mutex->native);
#endif
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
    bool taken = pthread_mutex_trylock(&mutex->native) == 0;
#endif
    if (taken) {
        maar_lock_rank_enter(mutex->rank);
    }
    return taken;
}

static inline void maar_mutex_unlock(struct maar_mutex* mutex)
{
    if (!mutex->enabled) {
        return;
    }
#if defined(_WIN32)
    ReleaseSRWLockExclusive(&mutex->native);
#else
    (void)pthread_mutex_unlock(&mutex->native);
#endif
    maar_lock_rank_leave(mutex->rank);
}

#endif
