/*
 * Submissions: sim_submission.c.
 */
#ifndef MAAR_SIM_SUBMISSION_H
#define MAAR_SIM_SUBMISSION_H

#include "backends/simulated/sim_sparse.h"

struct sim_recording;
struct sim_known;

/* The range of a resource that a command uses; the whole range for an image. */
struct sim_use {
    uint64_t resource;
    VkDeviceSize at, size;
};

/* A semaphore, and its value if it is a timeline. */
struct sim_point {
    uint64_t semaphore, value;
};

/* One batch of a queue's call. */
struct sim_submission {
    struct sim_submission* next;
    struct sim_queue* queue;
    enum sim_function function;
    uint64_t sequence;
    uint64_t fence; /* or 0 */
    uint32_t wait_count, signal_count, use_count, recording_count;
    size_t piece_count;
    struct sim_point *waits, *signals;
    struct sim_use* uses;
    struct sim_piece* pieces;
    struct sim_recording** recordings; /* a reference of each */
    uint64_t number;                   /* in its queue; 0: synchronization is not checked */
    struct sim_known* host_known;      /* what the host knew; NULL likewise */
    bool is_free;                      /* for sim_submissions_check_host */
};

struct sim_recording;

struct sim_submission_size {
    size_t waits, signals, uses, pieces, recordings;
};

/* Creates an empty submission with room for the given counts; NULL without host memory. Lock
 * free. */
struct sim_submission* sim_submission_create(struct sim_queue* queue, enum sim_function function,
                                             const struct sim_submission_size* size);
/* Frees a list. Lock free. */
void sim_submissions_free(struct sim_device* device, struct sim_submission* list);
/* Takes ownership of a list and executes or holds its submissions. Lock held before and after. */
VkResult sim_submissions_enqueue(struct sim_device* device, struct sim_submission* list);
/* Executes at most `most` of the held submissions that may begin. Returns the number that it
 * executed. Lock held before and after, free in between. */
uint32_t sim_submissions_run(struct sim_device* device, uint32_t most);
/* Executes what may begin, in a call that asks whether something has ended; nothing unless the
 * driver executes commands. Lock held before and after, free in between. */
void sim_submissions_poll(struct sim_device* device);
/* Waits until a queue, or with NULL every queue of a device, has nothing left to execute. Returns
 * at once unless the driver executes commands. Lock held before and after, free in between. */
void sim_submissions_wait_idle(struct sim_device* device, const struct sim_queue* queue);
/* Records a violation when a held submission uses a resource, or a memory, that is being destroyed.
 * Lock held. */
void sim_submissions_check_resource(struct sim_resource* resource, enum sim_function function);
void sim_submissions_check_memory(struct sim_device* device, uint64_t memory);
/* Records a violation when the host writes bytes that a submission uses which may be executed
 * without another signal of the host's. Lock held. */
void sim_submissions_check_host(struct sim_device* device, enum sim_function function,
                                uint64_t memory, VkDeviceSize offset, VkDeviceSize size);

#endif
