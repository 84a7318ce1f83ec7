/*
 * Page blocks: VkDeviceMemory objects of Maar's own that are cut into pages, and the pools that
 * list them. A page is free, or has references: entries of page tables that name it.
 *
 * Every function here is called under the paging lock.
 */
#ifndef MAAR_CORE_PAGING_PAGE_BLOCK_H
#define MAAR_CORE_PAGING_PAGE_BLOCK_H

#include <stdbool.h>

#include "core/bits.h"
#include "core/memory/leaving.h"
#include "maar/allocator.h"

/* No page. */
#define MAAR_PAGE_NONE UINT32_MAX

/* Runs of free pages are listed by their lengths. Lengths up to 4 have a class each. Longer ones
 * have four classes an octave, as fine as a search in 128 bits allows. */
enum { MAAR_PAGE_CLASSES = 128 };

/* The state of a page, 12 bytes. The first and the last page of a free run store its length. All
 * other pages store 0. So the lengths beside a page in use show whether its neighbours are free. */
struct maar_page_mark {
    uint32_t run;
    union {
        struct {
            uint32_t next, previous; /* the first page of a free run: links in its class's list */
        };
        struct {
            uint16_t refs; /* references */
            uint16_t live; /* references whose owners have not given the page back */
            uint16_t seen; /* references that a check has found */
        };
    };
};

struct maar_page_pool;
struct maar_trim_clock;

/* One VkDeviceMemory that is cut into pages. */
struct maar_page_block {
    struct maar_page_pool* pool;
    struct maar_page_block* next; /* in the list of a thread that is about to free the block */
    struct maar_leaving_memory leaving;
    MaarAllocation allocation;
    struct maar_block* block;
    uint32_t number; /* index in the list of all page blocks */
    uint32_t place;  /* index in the list of its pool */
    uint32_t page_count;
    uint32_t used_count; /* pages with references */
    uint32_t live_count; /* pages with live references */
    uint64_t
        last_value; /* of the paging timeline: the last submission that names a page of the block */
    uint64_t value_before; /* last_value before the submission under way */
    uint64_t age;          /* number among all page blocks ever made */
    uint64_t emptied_at;   /* of an empty block: see empty_blocks.h */
    /* A run of defragmentation empties the block (page_drain.h). Its pages serve no request. */
    uint64_t drainer;      /* number of the run; 0 for none */
    bool is_emptied;       /* the run looks for the block's pages now */
    uint32_t promised;     /* free pages of other blocks that are kept for pages of this one */
    uint32_t moving_count; /* pages with MAAR_ENTRY_LEAVING */
    uint64_t surveyor;     /* number of the run that has counted `movable` */
    uint32_t movable;      /* pages that can move */
    uint64_t classes[MAAR_PAGE_CLASSES / 64]; /* bit set: the class's list has a run */
    uint32_t heads[MAAR_PAGE_CLASSES];        /* first page of each class's first run */
    struct maar_page_mark marks[];
};

/* Page blocks of one memory type and page size, for one MaarPool or for all callers without one. */
struct maar_page_pool {
    struct maar_page_pool* next;
    const struct maar_mutex* lock; /* the paging lock */
    const struct maar_trim_clock* clock;
    struct maar_pool* owner; /* a pool that stitches, or NULL */
    uint32_t type_index;
    MaarResourceKind kind; /* unknown where pages of all kinds may be neighbours */
    bool mapped;           /* the blocks are mapped */
    VkDeviceSize page_size;
    VkDeviceSize block_size;         /* the owner's preference, or 0 */
    struct maar_page_block** blocks; /* in order of age */
    uint8_t* longest;                /* for each block: class of its longest free run, or 0 */
    uint32_t block_capacity;
    uint32_t block_count;
    uint32_t empty_count;  /* blocks without a page in use */
    uint64_t emptied_from; /* no empty block has an earlier emptied_at */
    uint64_t page_count;
    uint64_t free_count;     /* pages for requests: not those of blocks that drain, nor those
                                that are promised */
    uint32_t draining_count; /* blocks that drain */
    uint32_t drained_count;  /* blocks that were given back after they had drained */
    uint64_t drained_bytes;
    uint32_t growing_count; /* calls that make blocks; empty blocks with an age above growing_age
                               belong to them */
    uint64_t growing_age;   /* age of the youngest block when the first of these calls began */
    uint32_t leaving_count; /* blocks that are off the lists and not freed yet */
};

/* Returns the class of a run of free pages. */
static inline uint32_t maar_page_class(uint32_t length)
{
    if (length < 4) {
        return length;
    }
    const uint32_t top = maar_top_bit(length);
    return 4 * (top - 1) + ((length >> (top - 2)) & 3);
}

/* Counts a block that has become empty, or is new. */
void maar_page_block_emptied(struct maar_page_block* block);
/* Lists all pages of a new block as one free run. The block has its place in its pool. */
void maar_page_block_begin(struct maar_page_block* block);
/* Makes a block drain for a run: its free pages serve no request, and as many pages as it has live
 * ones are promised to it, which the other blocks have. */
void maar_page_block_drain(struct maar_page_block* block, uint64_t drainer);
/* Returns what is promised to a block. */
void maar_page_block_unpromise(struct maar_page_block* block);
/* Lets a block serve requests again. It may do so already. */
void maar_page_block_revive(struct maar_page_block* block);
/* Returns the class of the longest free run; 0 if no page is free. */
uint32_t maar_page_longest_class(const struct maar_page_block* block);
/* Returns the first page of a free run of at least `length` pages, or MAAR_PAGE_NONE. */
uint32_t maar_page_find_run(const struct maar_page_block* block, uint32_t length);
/* Takes the first pages of a free run. Each gets one live reference. The block does not drain. */
void maar_page_take(struct maar_page_block* block, uint32_t first, uint32_t count);
/* Adds a live reference to a page in use. Returns false when it has 65,535. */
bool maar_page_share(struct maar_page_block* block, uint32_t page);
/* Adds held references to adjacent pages in use. None has 65,535. */
void maar_page_keep(struct maar_page_block* block, uint32_t first, uint32_t count);
/* Makes a live reference held, or a held one live. A reference is held when its owner has given the
 * page back and the device still has it. */
void maar_page_hold(struct maar_page_block* block, uint32_t page, bool held);
/* Ends one reference, live or held, to each of adjacent pages. Pages without any reference become
 * free. */
void maar_page_drop(struct maar_page_block* block, uint32_t first, uint32_t count, bool live);

#endif
