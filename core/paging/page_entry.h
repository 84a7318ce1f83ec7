/*
 * The insides of page tables: leaves of entries, and the list of changes to submit. For this room
 * alone.
 *
 * A table has two levels. A leaf is made when one of its pages is first committed, and stays as
 * long as the table. So a range of terabytes takes host memory only for the parts in use. An entry
 * holds the page that the owner wants. Its flags show what the device has.
 *
 * Every function here is called under the paging lock.
 */
#ifndef MAAR_CORE_PAGING_PAGE_ENTRY_H
#define MAAR_CORE_PAGING_PAGE_ENTRY_H

#include "core/paging/page_table.h"
#include "core/paging/paging_state.h"

/* The number of entries in a leaf. They fill 4 KiB. */
enum { MAAR_LEAF_PAGES = 512 };

#define MAAR_ENTRY_DIRTY ((uint64_t)1 << 63)    /* differs from what the device has */
#define MAAR_ENTRY_HELD ((uint64_t)1 << 62)     /* given back; reserved until submitted */
#define MAAR_ENTRY_BOUND ((uint64_t)1 << 61)    /* the device has a page here */
#define MAAR_ENTRY_INFLIGHT ((uint64_t)1 << 60) /* named by the submission under way */
#define MAAR_ENTRY_FRESH ((uint64_t)1 << 59)    /* committed by the call under way */
#define MAAR_ENTRY_MOVED ((uint64_t)1 << 58)    /* the device still has the page elsewhere */
#define MAAR_ENTRY_LEAVING ((uint64_t)1 << 57)  /* the page moves elsewhere: see page_move.h */
/* The page is the target of a move, and the device still has the old page here. */
#define MAAR_ENTRY_REBOUND ((uint64_t)1 << 56)
#define MAAR_ENTRY_FLAGS ((uint64_t)0xFF << 56)
/* The other bits: the block's number plus one, and the page; 0 for no page. */
#define MAAR_ENTRY_BLOCK_SHIFT 32
#define MAAR_ENTRY_PAGE (((uint64_t)1 << 56) - 1)

/* The entries of adjacent pages. */
struct maar_page_leaf {
    struct maar_page_leaf* next_dirty;
    uint32_t number;
    uint16_t live; /* entries with a page that was not given back */
    uint16_t away; /* such entries whose page lies away: see maar_page_count */
    bool dirty;    /* in the list */
    uint64_t entries[];
};

/* The pages of one sparse resource, or of a part of it. */
struct maar_page_table {
    struct maar_paging* paging;
    struct maar_page_table* next; /* in the list of all tables */
    struct maar_page_table* previous;
    struct maar_page_table* next_dirty; /* in the list of tables with changes */
    struct maar_page_table* previous_dirty;
    struct maar_page_leaf* first_dirty;
    struct maar_page_leaf** leaves;
    uint64_t page_count;
    uint64_t committed;
    uint64_t away;         /* committed pages that lie away: see maar_page_count */
    uint64_t losses;       /* pages lost by the ends of pools */
    uint64_t last_value;   /* of the paging timeline: the last submission that names the table */
    uint64_t value_before; /* last_value before the submission under way */
    bool dirty;            /* in the list of tables with changes */
    bool sealed;
    bool unbinding;  /* sealed, and the next submission unbinds pages that were moved away */
    bool submitting; /* named by the submission under way */
    bool committing; /* a call takes pages; those that it has are marked as fresh */
    bool may_alias;
    bool mapped;
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
    uint64_t allocation;  /* the stitched allocation, or 0 */
    uint64_t reservation; /* the handle, or 0 */
    VkDeviceSize reserved;
    struct maar_page_move* moves; /* that have not ended: see page_move.h */
    MaarPool spill;      /* where pages of types[1] come from, if the program has named it */
    uint32_t away_types; /* bits: types of other heaps than that of types[0] */
    uint8_t type_count;
    uint8_t types[VK_MAX_MEMORY_TYPES]; /* in order of preference */
};

/* Returns the block of an entry's page, or NULL for no page. */
static inline struct maar_page_block* maar_entry_block(const struct maar_page_table* table,
                                                       uint64_t entry)
{
    const uint64_t number = (entry & MAAR_ENTRY_PAGE) >> MAAR_ENTRY_BLOCK_SHIFT;
    return number != 0 ? table->paging->blocks[number - 1] : NULL;
}

/* Returns the number of an entry's page in its block. */
static inline uint32_t maar_entry_page(uint64_t entry)
{
    return (uint32_t)entry;
}

/* Whether an entry has a page. */
static inline bool maar_entry_has_page(uint64_t entry)
{
    return (entry & MAAR_ENTRY_PAGE) != 0;
}

/* Whether the page of an entry lies away: in another heap than the preferred one. */
static inline bool maar_entry_is_away(const struct maar_page_table* table, uint64_t entry)
{
    return (table->away_types >> maar_entry_block(table, entry)->pool->type_index & 1) != 0;
}

/* Whether the page of an entry can move now: the device has it here, no change is under way, and
 * nobody shares it. */
static inline bool maar_entry_is_movable(const struct maar_page_table* table, uint64_t entry)
{
    return (entry & MAAR_ENTRY_FLAGS) == MAAR_ENTRY_BOUND && maar_entry_has_page(entry) &&
           maar_entry_block(table, entry)->marks[maar_entry_page(entry)].refs == 1;
}

/* Counts a page that an entry has got, or is about to give back. */
static inline void maar_page_count(struct maar_page_table* table, struct maar_page_leaf* leaf,
                                   uint64_t entry, bool has)
{
    const bool is_away = maar_entry_is_away(table, entry);
    table->committed += has ? 1 : UINT64_MAX;
    leaf->live = (uint16_t)(has ? leaf->live + 1 : leaf->live - 1);
    if (is_away) {
        table->away += has ? 1 : UINT64_MAX;
        leaf->away = (uint16_t)(has ? leaf->away + 1 : leaf->away - 1);
    }
}

/* Returns how many leaves a table may have. */
static inline uint64_t maar_leaf_count(const struct maar_page_table* table)
{
    return (table->page_count + MAAR_LEAF_PAGES - 1) / MAAR_LEAF_PAGES;
}

/* Returns how many entries a leaf has. */
static inline uint32_t maar_leaf_size(const struct maar_page_table* table, uint64_t number)
{
    const uint64_t rest = table->page_count - number * MAAR_LEAF_PAGES;
    return rest < MAAR_LEAF_PAGES ? (uint32_t)rest : MAAR_LEAF_PAGES;
}

/* Returns the leaf of a page, or NULL while it does not exist. */
static inline struct maar_page_leaf* maar_page_leaf_of(const struct maar_page_table* table,
                                                       uint64_t page)
{
    return table->leaves[page / MAAR_LEAF_PAGES];
}

/* Returns the entry of a page, or NULL while its leaf does not exist. */
uint64_t* maar_page_entry(const struct maar_page_table* table, uint64_t page);
/* Ends the move of a page that is given back or moves no longer. It may have none. */
static inline void maar_page_stop_leaving(const struct maar_page_table* table, uint64_t* entry)
{
    if ((*entry & MAAR_ENTRY_LEAVING) != 0) {
        *entry &= ~MAAR_ENTRY_LEAVING;
        --maar_entry_block(table, *entry)->moving_count;
    }
}

/* Puts a page on the list of changes. */
void maar_page_mark_dirty(struct maar_page_table* table, uint64_t page, uint64_t* entry);
/* Takes a page off the list of changes. Its leaf stays listed: a submission skips clean entries. */
void maar_page_mark_clean(struct maar_page_table* table, uint64_t* entry);
/* Returns what distinguishes the page pool of one of the table's memory types. */
struct maar_page_pool_key maar_page_table_pool_key(const struct maar_page_table* table,
                                                   uint32_t type);
/* Sorts the dirty leaves of a table by number. */
void maar_page_table_sort(struct maar_page_table* table);
/* Takes a table off the list of tables with changes. */
void maar_page_table_unlist(struct maar_page_table* table);
/* Removes the pages of a pool from all tables. The pool is about to end. */
void maar_page_tables_forget(struct maar_paging* paging, const struct maar_page_pool* pool);

#endif
