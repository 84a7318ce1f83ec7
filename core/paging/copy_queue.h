/*
 * Growth by copies, where reservations cannot be sparse: a larger buffer replaces a smaller one. A
 * copy is recorded when the larger buffer is made, and the next submission carries it out. Once
 * that submission has been executed, the copy's retire item releases the smaller buffer.
 *
 * The paging lock guards what is recorded. The command buffers belong to the thread that submits. A
 * submission takes copies. A taken copy is neither dropped nor waited for. If its owner ends
 * meanwhile, the thread that submits releases the owner.
 */
#ifndef MAAR_CORE_PAGING_COPY_QUEUE_H
#define MAAR_CORE_PAGING_COPY_QUEUE_H

#include <stdbool.h>

#include "core/queue_submit.h"
#include "maar/allocator.h"

struct maar_page_copy;
struct maar_copy_commands;

/* Embedded in each object that grows. Once a copy is recorded, the object changes this only through
 * the functions below. */
struct maar_copy_owner {
    struct maar_page_copy* newest; /* of the copies that were not submitted yet */
    uint32_t taken_count;          /* copies that a submission has taken */
    bool retired;
    struct maar_copy_owner* next_retired; /* in the list of a thread that releases several */
    uint64_t value; /* of the paging timeline: the owner's last submitted copy; 0 for none */
    /* Called once, without a lock, when no copy of the owner is recorded or taken. `undone` are its
     * copies that will never be carried out, the newest first, linked by `older`. Their items are
     * not queued. */
    void (*release)(MaarAllocator allocator, struct maar_copy_owner* owner,
                    struct maar_page_copy* undone);
};

/* Belongs to its item, whose action frees it. */
struct maar_page_copy {
    struct maar_page_copy* next;  /* recorded, in order */
    struct maar_page_copy* older; /* of the same owner */
    struct maar_copy_owner* owner;
    VkBuffer from;
    VkBuffer to;
    VkDeviceSize size;
    struct maar_retire_item* item; /* with one point, which is the submission's */
    bool taken;
};

/* The recorded copies of an allocator, and its command buffers. */
struct maar_copy_queue {
    struct maar_mutex*
        lock; /* the paging lock; guards the owners and the members up to copied_bytes */
    struct maar_page_copy* first;
    struct maar_page_copy* last;
    uint64_t copied_bytes; /* of all submitted copies */
    VkCommandPool pool;    /* belongs, with the members below, to the thread that submits */
    struct maar_copy_commands* oldest;
    struct maar_copy_commands* latest;
};

/* Initializes a queue without copies. */
void maar_copy_queue_init(struct maar_copy_queue* queue, struct maar_mutex* lock);
/* Frees a queue. The device has executed all copies, and every owner has ended. */
void maar_copy_queue_destroy(struct maar_copy_queue* queue, MaarAllocator allocator);
/* Returns whether no copy is recorded. Under the paging lock. */
static inline bool maar_copy_queue_is_empty(const struct maar_copy_queue* queue)
{
    return queue->first == NULL;
}
/* Carries out all recorded copies in one vkQueueSubmit. Called without a lock, only by the thread
 * that submits. On failure everything stays recorded and the timeline's value is unused. */
VkResult maar_copy_queue_submit(struct maar_copy_queue* queue, MaarAllocator allocator,
                                const struct maar_submission* submission);

/* ---- for objects that grow ---- */

/* Records a copy. Its `owner`, `from`, `to`, `size` and `item` are set. */
void maar_copy_record(MaarAllocator allocator, struct maar_page_copy* copy);
/* Takes the owner's newest copy back from the record, or returns NULL if a submission has taken
 * it. */
struct maar_page_copy* maar_copy_take_back(MaarAllocator allocator, struct maar_copy_owner* owner);
/* Ends an owner: calls `release`, now or in the thread that submits its last copy. */
void maar_copy_owner_end(MaarAllocator allocator, struct maar_copy_owner* owner);

#endif
