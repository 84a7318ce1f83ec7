/*
 * Attachments: objects of other rooms that end with a block. Examples are an exported handle, and
 * another API's object for the block that it has imported. An attachment has an owner, which a
 * pointer identifies. A block has at most one attachment of each owner. The block or the owner,
 * whichever is destroyed first, takes the attachment off its lists and ends it.
 *
 * The allocator's share lock guards the lists. It is not held while an attachment is ended. An
 * attachment that was found stays valid as long as its block and its owner exist.
 */
#ifndef MAAR_CORE_MEMORY_ATTACHMENT_H
#define MAAR_CORE_MEMORY_ATTACHMENT_H

#include "core/memory/block.h"

/* An attachment. It is in its block's list and, unless owner_list is NULL, in its owner's list. */
struct maar_attachment {
    const void* owner;
    struct maar_block* block;
    struct maar_attachment* next_of_block;
    struct maar_attachment* next_of_owner; /* in the owner's list */
    struct maar_attachment* previous_of_owner;
    struct maar_attachment** owner_list; /* the head of the owner's list; NULL: in no such list */
    /* Ends the attachment while the block's memory still exists. No lock is held. */
    void (*end)(MaarAllocator allocator, struct maar_attachment* attachment);
};

/* Returns the attachment of an owner, or NULL. */
struct maar_attachment* maar_attachment_find(struct maar_block* block, const void* owner);
/* Adds an attachment with owner, end and owner_list set. Returns NULL, or the attachment that
 * another thread added first; the caller then still owns the new one. */
struct maar_attachment* maar_attachment_add(struct maar_block* block,
                                            struct maar_attachment* attachment);
/* Ends all attachments of a block that is destroyed. No lock may be held. */
void maar_attachments_end_block(struct maar_block* block);
/* Ends all attachments in an owner's list. No lock may be held. */
void maar_attachments_end_owner(MaarAllocator allocator, struct maar_attachment** list);

#endif
