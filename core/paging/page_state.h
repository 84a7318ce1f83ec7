/*
 * What paging is made of: blocks cut into pages, tables, and the state that they hang on. Shared by
 * the files of this room alone; see pages.h for what other rooms may ask.
 */
#ifndef MAAR_CORE_PAGING_PAGE_STATE_H
#define MAAR_CORE_PAGING_PAGE_STATE_H

#include "core/bits.h"
#include "core/paging/copy_queue.h"
#include "core/paging/pages.h"
#include "core/port_time.h"

/* No block, no page. */
#define MAAR_PAGE_NONE UINT32_MAX

/* ---- page pools ---- */

enum {
    /* Runs of free pages are listed by length: each number up to 4 has a class of its own, longer
     * ones four classes an octave, as fine as a search in 128 bits allows. */
    MAAR_PAGE_CLASSES = 128,
    /* Leaf of a page table: 4 KiB of entries. */
    MAAR_LEAF_PAGES = 512,
    /* Chains of live objects, by address: few enough that nobody notices them, enough that a
     * thousand objects are found in a few steps. */
    MAAR_PAGED_CHAINS = 256
};

/* 12 bytes a page. Of a free run, the first and the last page have its length; all other pages have
 * 0, so a page beside one in use tells whether it is free. */
struct maar_page_mark {
    uint32_t run;
    union {
        struct {
            uint32_t next, previous; /* the first page of a free run: in its class's list */
        };
        struct {
            uint16_t refs; /* entries that name the page, */
            uint16_t live; /* those of them that were not given back, */
            uint16_t seen; /* and those that a check has found */
        };
    };
};

struct maar_page_pool;

/* One VkDeviceMemory, cut into pages. */
struct maar_page_block {
    struct maar_page_pool* pool;
    struct maar_page_block* next; /* on its way to the driver */
    MaarAllocation allocation;
    struct maar_block* block;
    uint32_t number; /* in the list of all blocks */
    uint32_t place;  /* in its pool's */
    uint32_t page_count;
    uint32_t used_count;   /* pages with refs */
    uint32_t live_count;   /* of these, with live */
    uint64_t last_value;   /* of the timeline: what may still name it */
    uint64_t value_before; /* the same, until the submission under way has been made */
    uint64_t age;          /* its number among all ever made */
    uint64_t classes[MAAR_PAGE_CLASSES / 64];
    uint32_t heads[MAAR_PAGE_CLASSES];
    struct maar_page_mark marks[];
};

/* Page blocks of one memory type and page size, for one MaarPool or for everybody. */
struct maar_page_pool {
    struct maar_page_pool* next;
    struct maar_pool* owner; /* a pool that stitches, or NULL */
    uint32_t type_index;
    MaarResourceKind kind; /* kept apart where pages are smaller than a granule; else unknown */
    VkDeviceSize page_size;
    VkDeviceSize block_size;         /* wished for by the owner, or 0 */
    struct maar_page_block** blocks; /* in order of age */
    uint8_t* longest;                /* class of the longest free run of each; 0: none */
    uint32_t block_capacity;
    uint32_t block_count;
    uint32_t empty_count; /* blocks without a page in use */
    uint64_t page_count;
    uint64_t free_count;
    uint32_t growing_count; /* calls that make blocks: what is younger and empty is theirs */
    uint64_t growing_age;   /* of the youngest block when the first of them began */
    uint32_t leaving_count; /* blocks that are in no list any more, but not freed yet */
};

/* ---- tables ---- */

/* An entry of a table: what the owner wants, and what the device has. */
#define MAAR_ENTRY_DIRTY ((uint64_t)1 << 63)    /* differs from what the device has */
#define MAAR_ENTRY_HELD ((uint64_t)1 << 62)     /* given back; the page is ours until submitted */
#define MAAR_ENTRY_BOUND ((uint64_t)1 << 61)    /* the device has a page here */
#define MAAR_ENTRY_INFLIGHT ((uint64_t)1 << 60) /* named by the submission under way */
#define MAAR_ENTRY_FRESH ((uint64_t)1 << 59)    /* committed by the call under way */
#define MAAR_ENTRY_MOVED ((uint64_t)1 << 58)    /* the device has the page somewhere else still */
#define MAAR_ENTRY_FLAGS ((uint64_t)0x3F << 58)
/* The rest: block number plus one, and page; 0 for no page. */
#define MAAR_ENTRY_BLOCK_SHIFT 36
#define MAAR_ENTRY_PAGE ((((uint64_t)1 << 58) - 1))

struct maar_page_leaf {
    struct maar_page_leaf* next_dirty;
    uint32_t number;
    bool dirty;
    uint64_t entries[];
};

struct maar_page_table {
    struct maar_paging* paging;
    struct maar_page_table* next; /* all tables; these two under the paging lock */
    struct maar_page_table* previous;
    struct maar_page_table* next_dirty;
    struct maar_page_table* previous_dirty;
    struct maar_page_leaf* first_dirty;
    struct maar_page_leaf** leaves;
    uint64_t page_count;
    uint64_t committed;
    uint64_t last_value;   /* of the timeline: its last submission */
    uint64_t value_before; /* the same, until the submission under way has been made */
    bool dirty;            /* in the list */
    bool sealed;
    bool submitting; /* named by the submission under way */
    bool may_alias;
    uint8_t target; /* enum maar_page_target */
    uint8_t kind;   /* MaarResourceKind */
    VkSparseMemoryBindFlags bind_flags;
    VkDeviceSize page_size;
    VkDeviceSize resource_offset;
    VkDeviceSize size;
    VkBuffer buffer;
    VkImage image;
    VkImageSubresource subresource;
    VkExtent3D tile;
    VkExtent3D extent;
    VkExtent3D tiles; /* in each direction */
    MaarAllocationCreateInfo memory;
    uint8_t type_count;
    uint8_t types[VK_MAX_MEMORY_TYPES]; /* in order of liking */
};

/* ---- submissions ---- */

/* What one element of a submission stands for in a table. */
struct maar_bind_span {
    struct maar_page_table* table;
    uint64_t first;
    uint64_t count;
    bool unbinds;
};

/* Grown as needed, kept from submission to submission; belongs to whoever holds the turnstile. */
struct maar_bind_batch {
    uint32_t capacity; /* binds and spans */
    uint32_t bind_count;
    uint32_t table_capacity;
    uint32_t table_count;
    VkSparseMemoryBind* binds;           /* of buffers and opaque ones, table after table */
    VkSparseImageMemoryBind* tile_binds; /* as many */
    struct maar_bind_span* spans;
    VkSparseBufferMemoryBindInfo* buffers;
    VkSparseImageOpaqueMemoryBindInfo* opaques;
    VkSparseImageMemoryBindInfo* images;
    struct maar_page_table** tables;
    uint32_t span_count;
    uint32_t plain_count;
    uint32_t tile_count;
    uint32_t buffer_count;
    uint32_t opaque_count;
    uint32_t image_count;
    uint64_t pages_bound;
    uint64_t pages_unbound;
};

struct maar_paging {
    MaarAllocator allocator;
    uint32_t bind_queue; /* into the allocator's queues; UINT32_MAX for none */
    uint32_t copy_queue;
    VkSemaphore timeline;
    maar_atomic64 space;      /* bytes of address space in use */
    maar_atomic64 submitted;  /* the timeline's value of the last submission */
    maar_atomic64 completed;  /* as last seen */
    maar_atomic32 submitting; /* the turnstile; guards what follows, up to the lock */
    bool has_bound;           /* there was a submission to the queue */
    bool has_copied;
    struct maar_bind_batch batch;
    struct maar_copy_queue copies;

    struct maar_mutex lock; /* guards what follows, all pools and tables */
    struct maar_page_pool* pools;
    struct maar_page_block** blocks; /* of all pools, by number; NULL where one has gone */
    uint32_t block_capacity;
    uint32_t block_end; /* numbers in use are below */
    uint32_t block_count;
    uint64_t blocks_made; /* ever */
    struct maar_page_table* tables;
    struct maar_page_table* first_dirty;
    struct maar_page_table* last_dirty;
    struct maar_paged_object* objects; /* live ones that a program destroys itself, */
    struct maar_paged_object* alike[MAAR_PAGED_CHAINS]; /* and the same by address */
    MaarPoint delays[MAAR_MAX_POINTS];                  /* what the submission to come waits for */
    uint32_t delay_count;
    uint64_t recorded_value; /* of the submission to come */
    uint64_t recorded_pages;
    uint64_t counts[3]; /* by enum maar_paging_count */
    uint64_t pages_bound;
    uint64_t pages_unbound;
    uint64_t bind_count;
    uint64_t submission_count;
    VkDeviceSize block_bytes;
    VkDeviceSize peak_block_bytes;
};

/* ---- paging.c ---- */

/* The state, once maar_paging_require has made it. */
static inline struct maar_paging* maar_paging_of(MaarAllocator allocator)
{
    return maar_atomic_pointer_load(&allocator->paging.state);
}
/* Waits for a value of the timeline; notes a loss. No lock may be held. */
VkResult maar_paging_wait(struct maar_paging* paging, uint64_t value, uint64_t timeout_ns);
/* Asks the device how far the timeline is. No lock may be held. */
void maar_paging_look(struct maar_paging* paging);
/* A commit fails: tells if pages are held, since a forgotten submission looks just so. */
void maar_paging_report_held(MaarAllocator allocator, const char* call);

/* The class of a run of free pages. */
static inline uint32_t maar_page_class(uint32_t length)
{
    if (length < 4) {
        return length;
    }
    const uint32_t top = maar_top_bit(length);
    return 4 * (top - 1) + ((length >> (top - 2)) & 3);
}

/* ---- page_pool.c; all but the first three under the paging lock ---- */

/* Sees to it that a pool has so many free pages, by new blocks of its type. loud: budgets may be
 * exceeded and the observer asked. No lock may be held. */
VkResult maar_page_pool_grow(struct maar_paging* paging, struct maar_page_pool* pool,
                             const char* call, uint64_t needed,
                             const MaarAllocationCreateInfo* memory, bool loud);
/* Gives empty blocks back: all of them, or all but one a pool; bytes released. No lock may be held.
 */
VkDeviceSize maar_page_pools_release(struct maar_paging* paging, const struct maar_pool* owner,
                                     bool keep_one);
/* Gives back what is empty of the blocks made since there were so many; those were never named by a
 * submission. No lock may be held. */
void maar_page_pools_undo(struct maar_paging* paging, uint64_t blocks_made);
/* Takes up to `wanted` adjacent pages, of which there must be some, each with one reference: as
 * many if one run is that long, else the longest run. */
uint32_t maar_page_pool_take(struct maar_page_pool* pool, uint32_t wanted,
                             struct maar_page_block** block, uint32_t* first);
/* One reference more to a page in use. */
bool maar_page_share(struct maar_page_block* block, uint32_t page);
/* An owner gave a page back (or changed its mind) while the device still has it. */
void maar_page_hold(struct maar_page_block* block, uint32_t page, bool held);
/* Ends references to adjacent pages, live or held; those without any become free. */
void maar_page_drop(struct maar_page_block* block, uint32_t first, uint32_t count, bool live);
/* The class of the longest free run of a block; 0 for none. */
uint32_t maar_page_longest_class(const struct maar_page_block* block);
/* Waits for who frees blocks of it. No lock may be held. */
void maar_page_pool_destroy(struct maar_paging* paging, struct maar_page_pool* pool);

/* ---- page_table.c ---- */

static inline struct maar_page_block* maar_entry_block(const struct maar_page_table* table,
                                                       uint64_t entry)
{
    const uint64_t number = (entry & MAAR_ENTRY_PAGE) >> MAAR_ENTRY_BLOCK_SHIFT;
    return number != 0 ? table->paging->blocks[number - 1] : NULL;
}
static inline uint32_t maar_entry_page(uint64_t entry)
{
    return (uint32_t)entry;
}
static inline bool maar_entry_has_page(uint64_t entry)
{
    return (entry & MAAR_ENTRY_PAGE) != 0;
}
/* The entry of a page, which may lie in a leaf that is not there: NULL then. */
uint64_t* maar_page_entry(const struct maar_page_table* table, uint64_t page);
/* Puts a page on the list of what is to be submitted. */
void maar_page_mark_dirty(struct maar_page_table* table, uint64_t page, uint64_t* entry);
/* Takes it off again. The leaf stays listed: a submission passes over what is clean. */
void maar_page_mark_clean(struct maar_page_table* table, uint64_t* entry);
/* The dirty leaves of a table, sorted by number. */
void maar_page_table_sort(struct maar_page_table* table);
/* Takes a table off the list of those with dirty leaves. */
void maar_page_table_unlist(struct maar_page_table* table);
/* Takes the pages of a pool that goes out of all tables that still have some. */
void maar_page_tables_forget(struct maar_paging* paging, const struct maar_page_pool* pool);

/* Leaves that a table may have, and entries of one. */
static inline uint64_t maar_leaf_count(const struct maar_page_table* table)
{
    return (table->page_count + MAAR_LEAF_PAGES - 1) / MAAR_LEAF_PAGES;
}
static inline uint32_t maar_leaf_size(const struct maar_page_table* table, uint64_t number)
{
    const uint64_t rest = table->page_count - number * MAAR_LEAF_PAGES;
    return rest < MAAR_LEAF_PAGES ? (uint32_t)rest : MAAR_LEAF_PAGES;
}

/* ---- page_check.c: the first broken invariant, or NULL ---- */

const char* maar_page_pool_check(const struct maar_page_pool* pool);
const char* maar_page_tables_check(struct maar_paging* paging);

/* ---- bind_queue.c ---- */

void maar_bind_batch_free(struct maar_paging* paging);

#endif
