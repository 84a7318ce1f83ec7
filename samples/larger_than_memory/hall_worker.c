/*
 * The thread; see hall_worker.h.
 */
#include "hall_worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct hall_worker {
    MaarAllocator allocator;
    MaarResidency residency;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    bool is_woken;
    bool is_stopped;
};

static void* work_for_hall(void* user_data)
{
    struct hall_worker* const worker = user_data;
    pthread_mutex_lock(&worker->lock);
    while (!worker->is_stopped) {
        if (!worker->is_woken) {
            pthread_cond_wait(&worker->changed, &worker->lock);
            continue;
        }
        worker->is_woken = false;
        pthread_mutex_unlock(&worker->lock);
        /* Any thread may do this at any time. It returns when there is nothing left to do. */
        (void)maarWorkResidency(worker->allocator, worker->residency, 0, NULL);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

struct hall_worker* hall_worker_start(MaarAllocator allocator, MaarResidency residency)
{
    struct hall_worker* const worker = calloc(1, sizeof(*worker));
    if (worker == NULL) {
        return NULL;
    }
    worker->allocator = allocator;
    worker->residency = residency;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    if (pthread_create(&worker->thread, NULL, work_for_hall, worker) != 0) {
        pthread_cond_destroy(&worker->changed);
        pthread_mutex_destroy(&worker->lock);
        free(worker);
        return NULL;
    }
    return worker;
}

void hall_worker_wake(struct hall_worker* worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->is_woken = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

void hall_worker_stop(struct hall_worker* worker)
{
    if (worker == NULL) {
        return;
    }
    pthread_mutex_lock(&worker->lock);
    worker->is_stopped = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}
