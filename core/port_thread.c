/*
 * Mutexes: making them, and the ways to sleep and to wake up.
 */
#include "core/port_thread.h"

#if defined(_WIN32)

bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
    InitializeSRWLock(&mutex->native);
    return true;
}

void maar_mutex_destroy(struct maar_mutex* mutex)
{
    (void)mutex;
}

#else

/* How often a lock that is held is looked at before going to sleep. What the locks guard takes some
 * 50 ns, a look about 20 ns, sleeping and waking some microseconds. */
enum { SPIN_LOOKS = 64 };

bool maar_mutex_init(struct maar_mutex* mutex, enum maar_lock_rank rank, bool enabled)
{
    mutex->rank = rank;
    mutex->enabled = enabled;
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

/* A thread that were cancelled asleep would leave the bed locked for ever; taking a lock is no
 * place for it to end. */
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
    /* Whoever gets it here leaves a 2 behind: others may be asleep still. */
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

#endif
