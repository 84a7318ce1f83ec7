/*
 * Growth by copies, where reservations cannot be sparse: one buffer outgrown by another. A copy is
 * recorded when the new buffer is made and carried out by the next submission; then the old buffer
 * goes, by the copy's retire item, once that has been executed.
 *
 * Belongs to the paging state, whose lock guards what is recorded. Whoever has the turnstile
 * submits; the command buffers are his. A copy that a submission has in hand is neither dropped nor
 * waited for: an owner that is to go meanwhile is buried by the submitter.
 */
#ifndef MAAR_CORE_PAGING_COPY_QUEUE_H
#define MAAR_CORE_PAGING_COPY_QUEUE_H

#include "core/memory/memory_internal.h"

struct maar_page_copy;
struct maar_copy_commands;

/* Embedded in what grows. Nothing of it is touched by its owner once it is recorded, but through
 * the functions below. */
struct maar_copy_owner {
    struct maar_page_copy* newest; /* of those that were not submitted yet */
    uint32_t taken_count;          /* of these, in a submission's hands */
    bool retired;
    struct maar_copy_owner* next_retired; /* for who buries several */
    uint64_t value; /* of the paging timeline: its last submitted copy; 0 for none */
    /* Called once, with no lock held: nothing of it is recorded or in hand any more. `undone` are
     * its copies that will never be carried out, newest first, linked by `older`; their items are
     * not queued. */
    void (*bury)(MaarAllocator allocator, struct maar_copy_owner* owner,
                 struct maar_page_copy* undone);
};

/* The storage is the item's: its action frees it. */
struct maar_page_copy {
    struct maar_page_copy* next;  /* recorded, in order */
    struct maar_page_copy* older; /* of the same owner */
    struct maar_copy_owner* owner;
    VkBuffer from;
    VkBuffer to;
    VkDeviceSize size;
    struct maar_retire_item* item; /* of maar_retire_prepare, with one point; queued with the
                                    * submission's */
    bool taken;
};

struct maar_copy_queue {
    struct maar_mutex* lock; /* the paging lock; guards these and the owners */
    struct maar_page_copy* first;
    struct maar_page_copy* last;
    uint64_t copied_bytes; /* ever submitted */
    VkCommandPool pool;    /* the turnstile guards these */
    struct maar_copy_commands* oldest;
    struct maar_copy_commands* latest;
};

/* What a submission waits for at most: the one before it, what was asked for in advance, and what
 * the caller of this one says. */
enum { MAAR_MOST_SUBMISSION_WAITS = 2 * MAAR_MAX_POINTS + 1 };

/* One submission to the paging queue. */
struct maar_submission {
    const MaarQueue* queue;
    uint32_t wait_count; /* at most MAAR_MOST_SUBMISSION_WAITS */
    const VkSemaphore* waits;
    const uint64_t* wait_values;
    VkSemaphore signal;
    uint64_t signal_value;
};

void maar_copy_queue_init(struct maar_copy_queue* queue, struct maar_mutex* lock);
/* The device must be done with it, and every owner gone. */
void maar_copy_queue_destroy(struct maar_copy_queue* queue, MaarAllocator allocator);
/* Under the lock. */
static inline bool maar_copy_queue_is_empty(const struct maar_copy_queue* queue)
{
    return queue->first == NULL;
}
/* Carries out all that is recorded in one vkQueueSubmit, under the queue's own lock. Called with
 * the turnstile and no lock. On failure everything stays recorded and the value is unused. */
VkResult maar_copy_queue_submit(struct maar_copy_queue* queue, MaarAllocator allocator,
                                const struct maar_submission* submission);

/* ---- for what grows ---- */

/* Records a copy, whose `owner`, `from`, `to`, `size` and `item` are set. */
void maar_copy_record(MaarAllocator allocator, struct maar_page_copy* copy);
/* The owner's newest copy, if no submission has it in hand, taken back; else NULL. */
struct maar_page_copy* maar_copy_take_back(MaarAllocator allocator, struct maar_copy_owner* owner);
/* Ends an owner: has `bury` called, now or by the thread that submits its last copy. */
void maar_copy_owner_end(MaarAllocator allocator, struct maar_copy_owner* owner);

#endif
