/*
 * The capture of one allocator: the writer of its file, the objects that it has recorded, and which
 * threads use it at this moment.
 *
 * A log is made when the first capture begins, and lives as long as its allocator. A thread that
 * writes enters the log before, and leaves it afterwards; whoever holds the lock of an arena that
 * is captured may write without entering. The end of a capture waits for both. Inside, no foreign
 * code is called, so nobody waits for it.
 */
#ifndef MAAR_CORE_CAPTURE_CAPTURE_LOG_H
#define MAAR_CORE_CAPTURE_CAPTURE_LOG_H

#include "core/capture/capture_writer.h"
#include "core/capture/captured_objects.h"

/* The number of the only device of such a capture. */
enum { MAAR_CAPTURE_DEVICE = 1 };

/* Budgets are recorded at most this often. */
#define MAAR_CAPTURE_BUDGET_INTERVAL_NS ((uint64_t)100000000)

/* Bits of the word of an allocator: set while a capture goes on. The other bits are the number of
 * threads inside. */
#define MAAR_CAPTURE_OPEN_BIT 0x80000000u

enum maar_capture_phase {
    MAAR_CAPTURE_IDLE,
    MAAR_CAPTURE_CHANGING, /* a thread begins or ends a capture */
    MAAR_CAPTURE_RUNNING
};

struct maar_capture_log {
    maar_atomic32* users; /* the word of the allocator */
    maar_atomic32 phase;  /* an enum maar_capture_phase */
    struct maar_capture_writer writer;
    struct maar_captured_objects objects;
    maar_atomic64 submission_count;
    maar_atomic64 frame_count;
    maar_atomic64 budget_ns;     /* when budgets are due */
    struct maar_mutex lock;      /* of the condition */
    struct maar_condition quiet; /* the last thread has left a log that is closed */
};

/* Makes a log. Returns NULL when there is no host memory. */
struct maar_capture_log* maar_capture_log_create(const VkAllocationCallbacks* callbacks,
                                                 maar_atomic32* users, bool synchronized);
/* Destroys a log whose phase is IDLE. The log may be NULL. */
void maar_capture_log_destroy(struct maar_capture_log* log, const VkAllocationCallbacks* callbacks);

/* Changes the phase. Returns false if it was another one than `from`. */
bool maar_capture_log_turn(struct maar_capture_log* log, enum maar_capture_phase from,
                           enum maar_capture_phase to);

/* Lets threads enter. */
void maar_capture_log_open(struct maar_capture_log* log);
/* Lets no thread enter any more, and waits until none is inside. No lock may be held. */
void maar_capture_log_close(struct maar_capture_log* log);

/* Enters a log. Returns false if no capture goes on. */
bool maar_capture_log_enter(struct maar_capture_log* log);
void maar_capture_log_leave(struct maar_capture_log* log);

/* Returns whether budgets are due, and then not again before the interval has passed. */
bool maar_capture_log_wants_budget(struct maar_capture_log* log);

/* Write entries that several rooms need. The caller is inside, or holds the lock of an arena that
 * is captured. */
void maar_capture_log_end(struct maar_capture_log* log, MaarCaptureKind kind, uint64_t handle);
void maar_capture_log_name(struct maar_capture_log* log, uint32_t kind, uint64_t object,
                           const char* name);
/* Records a submission, whose number and device the function fills in, and returns the number. */
uint64_t maar_capture_log_submit(struct maar_capture_log* log, const MaarCaptureSubmit* facts);
/* Records a point that a submission waits for or signals. */
void maar_capture_log_point(struct maar_capture_log* log, MaarCaptureKind kind, uint64_t submission,
                            uint64_t semaphore, uint64_t value);
/* Records the end of an object if its beginning was recorded. */
void maar_capture_log_end_object(struct maar_capture_log* log, uint32_t kind, uint64_t object);

#endif
