/*
 * Creates mutexes, conditions and gates, and implements sleeping and waking.
 */
#include "core/port_thread.h"

#if !defined(_WIN32)
#include <errno.h>
#include <time.h>
#endif

uint64_t maar_thread_tag(void)
{
    static _Thread_local const char here = 0;
    return (uint64_t)(uintptr_t)&here;
}

#if defined(_WIN32)

bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
    maar_mutex_note_holder(mutex, false);
    InitializeSRWLock(&mutex->native);
    return true;
}

void maar_mutex_destroy(struct maar_mutex* mutex)
{
    (void)mutex;
}

bool maar_condition_init(struct maar_condition* condition)
{
    InitializeConditionVariable(&condition->native);
    return true;
}

void maar_condition_destroy(struct maar_condition* condition)
{
    (void)condition;
}

/* Rounds a time up to milliseconds. Returns INFINITE if a DWORD cannot contain the result. */
static DWORD whole_milliseconds(uint64_t timeout_ns)
{
    const uint64_t milliseconds = timeout_ns / 1000000 + (timeout_ns % 1000000 != 0 ? 1 : 0);
    return milliseconds < INFINITE ? (DWORD)milliseconds : INFINITE;
}

bool maar_condition_wait_for(struct maar_condition* condition, struct maar_mutex* mutex,
                             uint64_t timeout_ns)
{
    if (!mutex->enabled) {
        return true;
    }
    maar_lock_rank_leave(mutex->rank);
    maar_lock_rank_expect_none();
    maar_mutex_note_holder(mutex, false);
    const BOOL woken = SleepConditionVariableSRW(&condition->native, &mutex->native,
                                                 whole_milliseconds(timeout_ns), 0);
    maar_mutex_note_holder(mutex, true);
    maar_lock_rank_enter(mutex->rank);
    return woken != 0;
}

bool maar_gate_init(struct maar_gate* gate)
{
    InitializeSRWLock(&gate->lock);
    InitializeConditionVariable(&gate->empty);
    gate->count = 0;
    return true;
}

void maar_gate_destroy(struct maar_gate* gate)
{
    MAAR_DEBUG_ASSERT(gate->count == 0);
    (void)gate;
}

static void lock_gate(struct maar_gate* gate)
{
    AcquireSRWLockExclusive(&gate->lock);
}

static void unlock_gate(struct maar_gate* gate)
{
    ReleaseSRWLockExclusive(&gate->lock);
}

static void wake_gate(struct maar_gate* gate)
{
    WakeAllConditionVariable(&gate->empty);
}

bool maar_gate_wait(struct maar_gate* gate, uint64_t timeout_ns)
{
    BOOL in_time = 1;
    lock_gate(gate);
    while (gate->count > 0 && in_time != 0) {
        in_time =
            SleepConditionVariableSRW(&gate->empty, &gate->lock, whole_milliseconds(timeout_ns), 0);
    }
    const bool is_empty = gate->count == 0;
    unlock_gate(gate);
    return is_empty;
}

#else

/* The number of times that a thread tries a held lock before it sleeps. A lock is usually held for
 * about 50 ns. A try takes about 20 ns. Sleeping and waking takes some microseconds. */
enum { SPIN_LOOKS = 64 };

bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
    maar_mutex_note_holder(mutex, false);
    maar_atomic32_store(&mutex->state, 0);
    if (pthread_mutex_init(&mutex->bed, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&mutex->alarm, NULL) != 0) {
        (void)pthread_mutex_destroy(&mutex->bed);
        return false;
    }
    return true;
}

void maar_mutex_destroy(struct maar_mutex* mutex)
{
    (void)pthread_cond_destroy(&mutex->alarm);
    (void)pthread_mutex_destroy(&mutex->bed);
}

static void rest_a_moment(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif defined(__GNUC__) && (defined(__aarch64__) || defined(__arm__))
    __asm__ volatile("yield");
#endif
}

/* Disables cancellation of this thread. A thread that is cancelled while it waits would leave `bed`
 * locked for ever. */
static int hold_cancellation(void)
{
    int before = 0;
#if !defined(__ANDROID__)
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
#endif
    return before;
}

static void release_cancellation(int before)
{
#if !defined(__ANDROID__)
    (void)pthread_setcancelstate(before, &before);
#else
    (void)before;
#endif
}

void maar_mutex_wait(struct maar_mutex* mutex)
{
    for (uint32_t look = 0; look < SPIN_LOOKS; ++look) {
        if (maar_atomic32_load(&mutex->state) == 0 && maar_atomic32_take(&mutex->state)) {
            return;
        }
        rest_a_moment();
    }
    const int cancel = hold_cancellation();
    (void)pthread_mutex_lock(&mutex->bed);
    /* A thread that takes the mutex here sets the state to 2, because other threads may still
     * sleep. */
    while (maar_atomic32_exchange(&mutex->state, 2) != 0) {
        (void)pthread_cond_wait(&mutex->alarm, &mutex->bed);
    }
    (void)pthread_mutex_unlock(&mutex->bed);
    release_cancellation(cancel);
}

void maar_mutex_wake(struct maar_mutex* mutex)
{
    (void)pthread_mutex_lock(&mutex->bed);
    (void)pthread_cond_signal(&mutex->alarm);
    (void)pthread_mutex_unlock(&mutex->bed);
}

/* The clock for deadlines. It is monotonic where condition variables support that. */
#if defined(__APPLE__)
#define ALARM_CLOCK CLOCK_REALTIME
#else
#define ALARM_CLOCK CLOCK_MONOTONIC
#endif

static bool init_alarm(pthread_cond_t* alarm)
{
#if defined(__APPLE__)
    return pthread_cond_init(alarm, NULL) == 0;
#else
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    const bool made = pthread_condattr_setclock(&attributes, ALARM_CLOCK) == 0 &&
                      pthread_cond_init(alarm, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return made;
#endif
}

bool maar_condition_init(struct maar_condition* condition)
{
    maar_atomic32_store(&condition->sleeper_count, 0);
    condition->turn = 0;
    if (pthread_mutex_init(&condition->bed, NULL) != 0) {
        return false;
    }
    if (!init_alarm(&condition->alarm)) {
        (void)pthread_mutex_destroy(&condition->bed);
        return false;
    }
    return true;
}

void maar_condition_destroy(struct maar_condition* condition)
{
    (void)pthread_cond_destroy(&condition->alarm);
    (void)pthread_mutex_destroy(&condition->bed);
}

void maar_condition_alarm(struct maar_condition* condition)
{
    const int cancel = hold_cancellation();
    (void)pthread_mutex_lock(&condition->bed);
    ++condition->turn;
    (void)pthread_cond_broadcast(&condition->alarm);
    (void)pthread_mutex_unlock(&condition->bed);
    release_cancellation(cancel);
}

/* One year. A longer timeout has no deadline, so that time_t does not overflow. */
#define LONGEST_TIMEOUT_NS ((uint64_t)31536000 * 1000000000u)

static struct timespec deadline_after(uint64_t timeout_ns)
{
    struct timespec time;
    (void)clock_gettime(ALARM_CLOCK, &time);
    const uint64_t ns = (uint64_t)time.tv_nsec + timeout_ns;
    time.tv_sec += (time_t)(ns / 1000000000u);
    time.tv_nsec = (long)(ns % 1000000000u);
    return time;
}

/* Sleeps until the condition is signalled. The caller holds `bed`. Returns false on a timeout. */
static bool sleep_a_turn(struct maar_condition* condition, uint64_t timeout_ns)
{
    const bool is_timed = timeout_ns < LONGEST_TIMEOUT_NS;
    const struct timespec deadline = deadline_after(is_timed ? timeout_ns : 0);
    const uint32_t turn = condition->turn;
    int result = 0;
    while (condition->turn == turn && result != ETIMEDOUT) {
        result = is_timed ? pthread_cond_timedwait(&condition->alarm, &condition->bed, &deadline)
                          : pthread_cond_wait(&condition->alarm, &condition->bed);
    }
    return condition->turn != turn;
}

bool maar_condition_wait_for(struct maar_condition* condition, struct maar_mutex* mutex,
                             uint64_t timeout_ns)
{
    if (!mutex->enabled) {
        return true;
    }
    const int cancel = hold_cancellation();
    /* A thread that wakes the condition later sees sleeper_count above 0. It must lock `bed` first,
     * so it cannot signal before this thread sleeps. */
    (void)maar_atomic32_add(&condition->sleeper_count, 1);
    (void)pthread_mutex_lock(&condition->bed);
    maar_mutex_unlock(mutex);
    maar_lock_rank_expect_none();
    const bool woken = sleep_a_turn(condition, timeout_ns);
    (void)pthread_mutex_unlock(&condition->bed);
    (void)maar_atomic32_add(&condition->sleeper_count, UINT32_MAX);
    maar_mutex_lock(mutex);
    release_cancellation(cancel);
    return woken;
}

bool maar_gate_init(struct maar_gate* gate)
{
    gate->count = 0;
    if (pthread_mutex_init(&gate->lock, NULL) != 0) {
        return false;
    }
    if (!init_alarm(&gate->empty)) {
        (void)pthread_mutex_destroy(&gate->lock);
        return false;
    }
    return true;
}

void maar_gate_destroy(struct maar_gate* gate)
{
    MAAR_DEBUG_ASSERT(gate->count == 0);
    (void)pthread_cond_destroy(&gate->empty);
    (void)pthread_mutex_destroy(&gate->lock);
}

static void lock_gate(struct maar_gate* gate)
{
    (void)pthread_mutex_lock(&gate->lock);
}

static void unlock_gate(struct maar_gate* gate)
{
    (void)pthread_mutex_unlock(&gate->lock);
}

static void wake_gate(struct maar_gate* gate)
{
    (void)pthread_cond_broadcast(&gate->empty);
}

bool maar_gate_wait(struct maar_gate* gate, uint64_t timeout_ns)
{
    const bool is_timed = timeout_ns < LONGEST_TIMEOUT_NS;
    const struct timespec deadline = deadline_after(is_timed ? timeout_ns : 0);
    const int cancel = hold_cancellation();
    int result = 0;
    lock_gate(gate);
    while (gate->count > 0 && result != ETIMEDOUT) {
        result = is_timed ? pthread_cond_timedwait(&gate->empty, &gate->lock, &deadline)
                          : pthread_cond_wait(&gate->empty, &gate->lock);
    }
    const bool is_empty = gate->count == 0;
    unlock_gate(gate);
    release_cancellation(cancel);
    return is_empty;
}

#endif

void maar_condition_wait(struct maar_condition* condition, struct maar_mutex* mutex)
{
    (void)maar_condition_wait_for(condition, mutex, UINT64_MAX);
}

void maar_gate_enter(struct maar_gate* gate)
{
    lock_gate(gate);
    ++gate->count;
    unlock_gate(gate);
}

void maar_gate_leave(struct maar_gate* gate)
{
    lock_gate(gate);
    MAAR_DEBUG_ASSERT(gate->count > 0);
    if (--gate->count == 0) {
        wake_gate(gate);
    }
    unlock_gate(gate);
}

uint32_t maar_gate_count(struct maar_gate* gate)
{
    lock_gate(gate);
    const uint32_t count = gate->count;
    unlock_gate(gate);
    return count;
}
