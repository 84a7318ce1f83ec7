/*
 * What rooms above hang on a block and end with it: a handle that was exported, the block as
 * another API has imported it. Each has an owner, a pointer that stands for it, and hangs on a
 * block at most once for each owner; whoever takes it off, the block that goes or the owner that
 * goes, ends it.
 *
 * The allocator's share lock guards the lists and is never held while one is ended. What was found
 * stays as long as its block and its owner do.
 */
#ifndef MAAR_CORE_MEMORY_ATTACHMENT_H
#define MAAR_CORE_MEMORY_ATTACHMENT_H

#include "core/memory/block.h"

struct maar_attachment {
    const void* owner;
    struct maar_block* block;
    struct maar_attachment* next_of_block;
    struct maar_attachment* next_of_owner; /* in the list that the owner keeps */
    struct maar_attachment* previous_of_owner;
    struct maar_attachment** owner_list; /* its head; may be NULL */
    /* Ends it, the block's memory still being there. No lock is held. */
    void (*end)(MaarAllocator allocator, struct maar_attachment* attachment);
};

/* The one of that owner, or NULL. */
struct maar_attachment* maar_attachment_find(struct maar_block* block, const void* owner);
/* Hangs it on, its owner, end and owner_list set; or returns the one that another thread hung on
 * first, and then it is the caller's still. NULL: done. */
struct maar_attachment* maar_attachment_add(struct maar_block* block,
                                            struct maar_attachment* attachment);
/* Ends all of a block that goes. */
void maar_attachments_end_block(struct maar_block* block);
/* Ends all in an owner's list. */
void maar_attachments_end_owner(MaarAllocator allocator, struct maar_attachment** list);

#endif
