/*
 * What the simulated driver needs of the operating system: a lock, a condition, a clock, and pages
 * that cost nothing until they are touched.
 */
#ifndef MAAR_SIM_PORT_H
#define MAAR_SIM_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
struct sim_lock {
    void* lock; /* an SRWLOCK */
};
struct sim_condition {
    void* condition; /* a CONDITION_VARIABLE */
};
#else
#include <pthread.h>
struct sim_lock {
    pthread_mutex_t lock;
};
struct sim_condition {
    pthread_cond_t condition;
};
#endif

bool sim_lock_init(struct sim_lock* lock);
void sim_lock_finish(struct sim_lock* lock);
void sim_lock_acquire(struct sim_lock* lock);
void sim_lock_release(struct sim_lock* lock);

bool sim_condition_init(struct sim_condition* condition);
void sim_condition_finish(struct sim_condition* condition);
void sim_condition_wake_all(struct sim_condition* condition);
/* Waits until woken or until sim_time_ns() reaches deadline_ns; UINT64_MAX: for ever. May return
 * early. The lock is held before and after. */
void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns);

/* A clock that never goes back. */
uint64_t sim_time_ns(void);
/* Lets another thread run. */
void sim_yield(void);

/* Zeroed, page-aligned memory, backed when touched; NULL when there is no room for it. */
void* sim_pages_map(size_t size);
void sim_pages_unmap(void* pages, size_t size);

#endif
