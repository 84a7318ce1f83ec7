/*
 * One thread that waits to be asked, visits every lock of the allocator, and says so. A condition
 * variable with a deadline distinguishes a held lock from a slow machine.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/promise/promise_locks.h"

#include <pthread.h>
#include <time.h>

#include "core/memory/allocator_state.h"

enum { PROBE_SECONDS = 10 };

struct lock_prober {
    struct rig* rig;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    uint32_t asked;
    uint32_t answered;
    bool quit;
};

/* Every lock that must be free: pools and their list, slots by resolving and allocating, the queue
 * by collecting, and what hangs on blocks. Nothing here may call the driver, whose hook is waiting
 * for it. */
static void visit_locks(struct rig* rig)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    uint32_t count = 0;
    (void)maarGetStatistics(rig->allocator, VK_NULL_HANDLE, &statistics);
    (void)maarGetDetailedStatistics(rig->allocator, VK_NULL_HANDLE, &details);
    (void)maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &count, NULL);
    (void)maarCheckAllocator(rig->allocator, NULL);
    (void)maarAdvanceHostTimeline(rig->allocator, 0);
    maar_mutex_lock(&rig->allocator->share_lock);
    maar_mutex_unlock(&rig->allocator->share_lock);
}

static void* probe_when_asked(void* argument)
{
    struct lock_prober* prober = argument;
    pthread_mutex_lock(&prober->mutex);
    for (;;) {
        while (prober->asked == prober->answered && !prober->quit) {
            pthread_cond_wait(&prober->changed, &prober->mutex);
        }
        if (prober->quit) {
            break;
        }
        uint32_t asked = prober->asked;
        pthread_mutex_unlock(&prober->mutex);
        visit_locks(prober->rig);
        pthread_mutex_lock(&prober->mutex);
        prober->answered = asked;
        pthread_cond_broadcast(&prober->changed);
    }
    pthread_mutex_unlock(&prober->mutex);
    return NULL;
}

struct lock_prober* promise_prober_start(struct rig* rig)
{
    struct lock_prober* prober = calloc(1, sizeof *prober);
    if (prober == NULL) {
        return NULL;
    }
    prober->rig = rig;
    pthread_mutex_init(&prober->mutex, NULL);
    pthread_cond_init(&prober->changed, NULL);
    if (pthread_create(&prober->thread, NULL, probe_when_asked, prober) != 0) {
        free(prober);
        return NULL;
    }
    return prober;
}

bool promise_probe(struct lock_prober* prober)
{
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PROBE_SECONDS;
    pthread_mutex_lock(&prober->mutex);
    uint32_t asked = ++prober->asked;
    pthread_cond_broadcast(&prober->changed);
    int result = 0;
    while (prober->answered != asked && result == 0) {
        result = pthread_cond_timedwait(&prober->changed, &prober->mutex, &deadline);
    }
    bool answered = prober->answered == asked;
    pthread_mutex_unlock(&prober->mutex);
    return answered;
}

uint32_t promise_prober_stop(struct lock_prober* prober)
{
    pthread_mutex_lock(&prober->mutex);
    prober->quit = true;
    pthread_cond_broadcast(&prober->changed);
    pthread_mutex_unlock(&prober->mutex);
    pthread_join(prober->thread, NULL);
    uint32_t answered = prober->answered;
    pthread_mutex_destroy(&prober->mutex);
    pthread_cond_destroy(&prober->changed);
    free(prober);
    return answered;
}
