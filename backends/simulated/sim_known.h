/*
 * What happened before what, as far as semaphores, fences and host waits say: sim_known.c.
 *
 * The submissions of each queue are numbered. A queue knows, for each queue, the last submission
 * whose end it has waited for. What a queue knows travels with what it signals. Queue order alone
 * says nothing. Virtual time travels along. All of this exists only while
 * MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT is set or virtual time is kept. All functions: lock
 * held.
 */
#ifndef MAAR_SIM_KNOWN_H
#define MAAR_SIM_KNOWN_H

#include "backends/simulated/sim_submission.h"
#include "backends/simulated/sim_sync.h"

enum { SIM_TRACKED_QUEUES = 16, SIM_NEWS_VALUES = 256 };

/* The last submission of each queue that is known to have ended. */
struct sim_known {
    uint64_t of[SIM_TRACKED_QUEUES];
    uint64_t time; /* virtual nanoseconds: when all of that was known */
};

/* What the last signals of a semaphore or fence carried, the newest last. */
struct sim_news {
    uint32_t count;
    uint64_t seen; /* a value that the host's clock has reached */
    struct {
        uint64_t value;
        struct sim_known known;
    } entries[SIM_NEWS_VALUES];
};

struct sim_order {
    struct sim_known queues[SIM_TRACKED_QUEUES];
    uint64_t executed[SIM_TRACKED_QUEUES]; /* the last submission that was executed */
    uint64_t sent[SIM_TRACKED_QUEUES];     /* the last that was submitted */
    struct sim_known host;
    uint64_t host_waited;               /* virtual time, as the rest: see sim_time.c */
    uint64_t ended[SIM_TRACKED_QUEUES]; /* when the last submission ended */
    uint64_t heap_free[VK_MAX_MEMORY_HEAPS], heap_busy[VK_MAX_MEMORY_HEAPS];
    uint64_t demoted_for; /* the state of the heaps for which memory was demoted; 0: none */
};

/* Returns whether the driver checks synchronization. */
bool sim_checks_synchronization(const struct sim_gpu* gpu);
/* Returns whether it does, or keeps virtual time. */
bool sim_tracks_order(const struct sim_gpu* gpu);
/* Returns the number of a queue in its device. */
uint32_t sim_queue_number(const struct sim_queue* queue);
/* Returns what a device knows; NULL where nothing is tracked. */
struct sim_order* sim_order_of(struct sim_device* device);

/* Numbers a submission, which also learns what the host knows. */
void sim_known_submitted(struct sim_submission* submission);
/* Lets the queue learn from the submission's waits, before it is executed. */
void sim_known_begin(struct sim_submission* submission);
/* Gives what the queue knows to what the submission signals, after it was executed. */
void sim_known_end(struct sim_submission* submission);
/* The host has signalled a timeline. */
void sim_known_host_signals(struct sim_signal* signal, uint64_t value);
/* The host looks at a semaphore or fence. Returns the value that it sees: with virtual time, what
 * its clock has reached. A look takes virtual time, so that a program which looks until something
 * has ended goes on. */
uint64_t sim_known_host_looks(const struct sim_signal* signal);
/* The host has seen a value of a semaphore or fence. */
void sim_known_host_saw(const struct sim_signal* signal, uint64_t value);
/* The host has waited for a queue; NULL: for all queues. */
void sim_known_host_idle(struct sim_device* device, const struct sim_queue* queue);
/* Forgets what a fence carried. */
void sim_known_forget(struct sim_signal* signal);
/* Frees what a signal, or a device, has. */
void sim_known_release(struct sim_signal* signal);
void sim_order_release(struct sim_device* device);

#endif
