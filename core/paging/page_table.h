/*
 * Page tables as other rooms see them: one for each sparse buffer, opaque part of an image, or
 * level and layer of tiles. page_commit.h fills them with pages.
 *
 * A page is bound to at most one page of one table, unless it was aliased. A table shows what the
 * device will see once all recorded binds have been submitted.
 *
 * A table belongs to one caller at a time. Submissions of other threads read and update it
 * meanwhile, under the paging lock. Paging must be open (paging_open.h) for every function here.
 */
#ifndef MAAR_CORE_PAGING_PAGE_TABLE_H
#define MAAR_CORE_PAGING_PAGE_TABLE_H

#include <stdbool.h>

#include "maar/paging.h"

/* How a table's pages are bound. */
enum maar_page_target {
    MAAR_PAGES_BUFFER, /* VkSparseBufferMemoryBindInfo */
    MAAR_PAGES_OPAQUE, /* VkSparseImageOpaqueMemoryBindInfo: whole images, mip tails, metadata */
    MAAR_PAGES_TILES   /* VkSparseImageMemoryBindInfo: the tiles of one level and layer */
};

struct maar_page_table;

/* What a page table is created with. */
struct maar_page_table_info {
    const char* call; /* the public function, for messages */
    enum maar_page_target target;
    VkBuffer buffer;
    VkImage image;
    VkDeviceSize page_size; /* of maar_page_size */
    uint32_t type_bits;     /* VkMemoryRequirements::memoryTypeBits */
    MaarResourceKind kind;
    /* Usage, flags, types, pool: never NULL. It is copied; the pool must exist as long as the
     * table. */
    const MaarAllocationCreateInfo* memory;
    bool may_alias; /* its pages may be shared with other tables */
    bool mapped;    /* its pages are HOST_VISIBLE, and the host may access them */
    MaarPool spill; /* the pool that stitches where pages spill; null: any of the other types */
    uint64_t reservation;  /* handle; 0 for other resources */
    VkDeviceSize reserved; /* bytes of the reservation, of which the last page may have fewer */
    /* BUFFER and OPAQUE: the offset of page 0 in the driver's own terms, and the bytes from there
     * to the end of the resource or tail. The last page may be cut. */
    VkDeviceSize resource_offset;
    VkDeviceSize size;
    VkSparseMemoryBindFlags bind_flags;
    /* TILES: page numbers run along x, then y, then z. */
    VkImageSubresource subresource;
    VkExtent3D tile;   /* texels */
    VkExtent3D extent; /* of the level, texels */
};

/* Returns the size of the pages of a buffer or a whole image: VkMemoryRequirements::alignment, but
 * at least 4 KiB. There are drivers that ask for an alignment of one byte, and a page costs the
 * host an entry of a table. */
VkDeviceSize maar_page_size(const VkMemoryRequirements* needs);
/* Checks a pMemoryInfo, which may be NULL, and reports what pages cannot have. argument: its name
 * in the public function, for messages. */
VkResult maar_pages_check_memory(MaarAllocator allocator, const char* call, const char* argument,
                                 const MaarAllocationCreateInfo* info);
/* Chooses memory types and makes a table without pages. Returns VK_ERROR_FEATURE_NOT_PRESENT, after
 * a report, if no type serves; VK_ERROR_OUT_OF_HOST_MEMORY; or misuse, after a report, if the pool
 * does not stitch or its type does not serve. */
VkResult maar_page_table_create(MaarAllocator allocator, const struct maar_page_table_info* info,
                                struct maar_page_table** table);
/* Says which stitched allocation the table belongs to. */
void maar_page_table_set_allocation(struct maar_page_table* table, MaarAllocation allocation);
/* Drops the recorded changes of the table and prevents new ones. Pages that were moved away are
 * still unbound by the next submission, and pages whose bytes were moved are rebound. Returns the
 * value of the paging timeline that the last submission of the table signals, which may be that
 * next one, or 0 if no submission named or will name the table. No lock may be held: waits for a
 * submission that reads the table. */
uint64_t maar_page_table_seal(struct maar_page_table* table);
/* Drops the changes of a sealed table that no submission under way names. Called under the paging
 * lock. */
void maar_page_table_forget(struct maar_page_table* table);
/* Gives the table's pages back and frees it. Its resource must be destroyed. The table may be NULL.
 * A retire action may call this function. No lock may be held: waits for a submission that reads
 * the table. */
void maar_page_table_destroy(struct maar_page_table* table);

/* Returns the number of pages, with memory or without. */
uint64_t maar_page_table_count(const struct maar_page_table* table);
/* Returns the number of pages with memory. */
uint64_t maar_page_table_committed(const struct maar_page_table* table);
/* Finds the first page of [first, end) that has no memory, and how many follow it alike. Returns
 * `end` if all have memory. */
uint64_t maar_page_table_missing(const struct maar_page_table* table, uint64_t first, uint64_t end,
                                 uint64_t* count);
/* Returns the number of pages with memory of another heap than the preferred one. */
uint64_t maar_page_table_away(const struct maar_page_table* table);
/* Returns a number that changes when the table loses pages by the end of their pool. */
uint64_t maar_page_table_losses(const struct maar_page_table* table);
/* Returns the memory types that the table's pages may come from, as bits. */
uint32_t maar_page_table_types(const struct maar_page_table* table);
/* Returns the stitching pool that the table's pages come from, or NULL. */
struct maar_pool* maar_page_table_owner(const struct maar_page_table* table);
/* Returns the pool where the table's pages spill, or NULL for none of the program's, also if it has
 * ended. */
struct maar_pool* maar_page_table_spill_owner(const struct maar_page_table* table);
/* Returns whether one page is committed. */
bool maar_page_is_committed(const struct maar_page_table* table, uint64_t page);
/* Returns whether all pages [first, first + count) are committed; true for none. */
bool maar_pages_are_committed(const struct maar_page_table* table, uint64_t first, uint64_t count);
/* A run of bytes of a table whose pages are mapped. */
struct maar_mapped_run {
    VkDeviceSize size;
    char* data;
    VkDeviceMemory memory;
    VkDeviceSize memory_offset;
    uint32_t type_index;
};
/* Finds the run that begins at a byte and ends before another one. Returns false if the first byte
 * is not committed. */
bool maar_page_table_mapped_run(const struct maar_page_table* table, VkDeviceSize begin,
                                VkDeviceSize end, struct maar_mapped_run* run);
/* Writes 1 for each committed page among the first `count` pages, and 0 for each other. */
void maar_page_table_read(const struct maar_page_table* table, uint32_t count, uint8_t* committed);
/* Writes the committed runs in order, at most `capacity` of them, and returns how many there
 * are. */
uint32_t maar_page_table_runs(const struct maar_page_table* table, uint32_t capacity,
                              MaarPageRun* runs);

#endif
