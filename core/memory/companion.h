/*
 * What rooms above hang on a block and end with it: a handle that was exported, the block as
 * another API has imported it. Each has an owner, a pointer that stands for it, and hangs on a
 * block at most once for each owner; whoever takes it off, the block that goes or the owner that
 * goes, ends it.
 *
 * The allocator's share lock guards the lists and is never held while one is ended. What was found
 * stays as long as its block and its owner do.
 */
#ifndef MAAR_CORE_MEMORY_COMPANION_H
#define MAAR_CORE_MEMORY_COMPANION_H

#include "core/memory/memory_internal.h"

struct maar_companion {
    const void* owner;
    struct maar_block* block;
    struct maar_companion* next_of_block;
    struct maar_companion* next_of_owner; /* in the list that the owner keeps */
    struct maar_companion* previous_of_owner;
    struct maar_companion** owner_list; /* its head; may be NULL */
    /* Ends it, the block's memory still being there. No lock is held. */
    void (*end)(MaarAllocator allocator, struct maar_companion* companion);
};

/* The one of that owner, or NULL. */
struct maar_companion* maar_companion_find(struct maar_block* block, const void* owner);
/* Hangs it on, its owner, end and owner_list set; or returns the one that another thread hung on
 * first, and then it is the caller's still. NULL: done. */
struct maar_companion* maar_companion_add(struct maar_block* block,
                                          struct maar_companion* companion);
/* Ends all of a block that goes. */
void maar_companions_end_block(struct maar_block* block);
/* Ends all in an owner's list. */
void maar_companions_end_owner(MaarAllocator allocator, struct maar_companion** list);

#endif
