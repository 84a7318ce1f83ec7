/*
 * POSIX and Windows behind sim_port.h.
 */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif
#include "backends/simulated/sim_port.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN 1
#include <windows.h>

bool sim_lock_init(struct sim_lock* lock)
{
    InitializeSRWLock((PSRWLOCK)&lock->lock);
    return true;
}

void sim_lock_finish(struct sim_lock* lock)
{
    (void)lock;
}

void sim_lock_acquire(struct sim_lock* lock)
{
    AcquireSRWLockExclusive((PSRWLOCK)&lock->lock);
}

void sim_lock_release(struct sim_lock* lock)
{
    ReleaseSRWLockExclusive((PSRWLOCK)&lock->lock);
}

bool sim_condition_init(struct sim_condition* condition)
{
    InitializeConditionVariable((PCONDITION_VARIABLE)&condition->condition);
    return true;
}

void sim_condition_finish(struct sim_condition* condition)
{
    (void)condition;
}

void sim_condition_wake_all(struct sim_condition* condition)
{
    WakeAllConditionVariable((PCONDITION_VARIABLE)&condition->condition);
}

void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns)
{
    DWORD wait_ms = INFINITE;
    if (deadline_ns != UINT64_MAX) {
        const uint64_t now = sim_time_ns();
        const uint64_t left_ms = deadline_ns > now ? (deadline_ns - now) / 1000000u + 1 : 0;
        wait_ms = left_ms < 60000 ? (DWORD)left_ms : 60000;
    }
    SleepConditionVariableSRW((PCONDITION_VARIABLE)&condition->condition, (PSRWLOCK)&lock->lock,
                              wait_ms, 0);
}

uint64_t sim_time_ns(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    const uint64_t ticks = (uint64_t)now.QuadPart;
    const uint64_t hertz = (uint64_t)frequency.QuadPart;
    return ticks / hertz * 1000000000u + ticks % hertz * 1000000000u / hertz;
}

void sim_yield(void)
{
    SwitchToThread();
}

void* sim_pages_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void sim_pages_unmap(void* pages, size_t size)
{
    (void)size;
    VirtualFree(pages, 0, MEM_RELEASE);
}

#else
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

enum { NS_PER_SECOND = 1000000000 };

bool sim_lock_init(struct sim_lock* lock)
{
    return pthread_mutex_init(&lock->lock, NULL) == 0;
}

void sim_lock_finish(struct sim_lock* lock)
{
    pthread_mutex_destroy(&lock->lock);
}

void sim_lock_acquire(struct sim_lock* lock)
{
    pthread_mutex_lock(&lock->lock);
}

void sim_lock_release(struct sim_lock* lock)
{
    pthread_mutex_unlock(&lock->lock);
}

bool sim_condition_init(struct sim_condition* condition)
{
    return pthread_cond_init(&condition->condition, NULL) == 0;
}

void sim_condition_finish(struct sim_condition* condition)
{
    pthread_cond_destroy(&condition->condition);
}

void sim_condition_wake_all(struct sim_condition* condition)
{
    pthread_cond_broadcast(&condition->condition);
}

/* The condition's own clock is the wall's, as not every system lets one choose; so what is left is
 * measured on the steady clock, and a long wait is cut into pieces of a second. */
void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX) {
        pthread_cond_wait(&condition->condition, &lock->lock);
        return;
    }
    const uint64_t now = sim_time_ns();
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    left = left < NS_PER_SECOND ? left : NS_PER_SECOND;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const uint64_t sum = (uint64_t)until.tv_nsec + left;
    until.tv_sec += (time_t)(sum / NS_PER_SECOND);
    until.tv_nsec = (long)(sum % NS_PER_SECOND);
    pthread_cond_timedwait(&condition->condition, &lock->lock, &until);
}

uint64_t sim_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void sim_yield(void)
{
    sched_yield();
}

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

void* sim_pages_map(size_t size)
{
    void* pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void sim_pages_unmap(void* pages, size_t size)
{
    munmap(pages, size);
}
#endif
