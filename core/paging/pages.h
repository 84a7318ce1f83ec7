/*
 * Backed by which pages: page tables of sparse resources, the pools that their pages come from, and
 * the one queue through which binds go to the device.
 *
 * A page is bound to at most one page of one table, unless it was aliased. What a table says is
 * what the device will see once everything recorded has been submitted. A page that was given back
 * is held until its unbinding has been submitted, then free: submissions execute one after another.
 * The memory of a page block is freed only when every submission that named it has been executed.
 *
 * Internally synchronized, but for one table, which belongs to one caller at a time. The paging
 * lock guards page pools, tables and what is recorded; it is held neither across a call of the
 * driver nor of a host allocation. One thread at a time submits, by a turnstile, not a lock.
 */
#ifndef MAAR_CORE_PAGING_PAGES_H
#define MAAR_CORE_PAGING_PAGES_H

#include "core/memory/memory_internal.h"
#include "maar/paging.h"

/* ---- what the device can do, and address space (paging.c) ---- */

/* What maarGetPagingInfo says. */
void maar_paging_capabilities(MaarAllocator allocator, MaarPagingInfo* info);
/* VK_SUCCESS when submitting works (a queue and timelines); sparse: when binding does. Tells. */
VkResult maar_paging_require(MaarAllocator allocator, const char* call, bool sparse);
/* Takes address space from the device's, or tells what is in the way:
 * VK_ERROR_OUT_OF_DEVICE_MEMORY. forgiven: NULL, or how the sentence ends, a warning then, since
 * the caller knows what to do without. May be called only when maar_paging_require said VK_SUCCESS,
 * as all below. */
VkResult maar_paging_take_space(MaarAllocator allocator, const char* call, VkDeviceSize size,
                                const char* forgiven);
void maar_paging_return_space(MaarAllocator allocator, VkDeviceSize size);
/* Live objects, for the statistics. */
enum maar_paging_count { MAAR_COUNT_RESERVATION, MAAR_COUNT_STITCHED, MAAR_COUNT_STITCHED_MADE };
void maar_paging_add_count(MaarAllocator allocator, enum maar_paging_count which, int change);

/* ---- tables (page_table.c, page_commit.c) ---- */

/* How a table's pages are bound. */
enum maar_page_target {
    MAAR_PAGES_BUFFER, /* VkSparseBufferMemoryBindInfo */
    MAAR_PAGES_OPAQUE, /* VkSparseImageOpaqueMemoryBindInfo: whole images, mip tails, metadata */
    MAAR_PAGES_TILES   /* VkSparseImageMemoryBindInfo: the tiles of one level and layer */
};

struct maar_page_table;

struct maar_page_table_info {
    const char* call; /* the public function, for messages */
    enum maar_page_target target;
    VkBuffer buffer;
    VkImage image;
    VkDeviceSize page_size; /* VkMemoryRequirements::alignment */
    uint32_t type_bits;     /* VkMemoryRequirements::memoryTypeBits */
    MaarResourceKind kind;
    /* Usage, flags, types, pool: never NULL. Read now; the pool must outlive the table. */
    const MaarAllocationCreateInfo* memory;
    bool may_alias; /* its pages may be shared with other tables */
    /* BUFFER and OPAQUE: where page 0 is bound, in the driver's own terms, and bytes from there to
     * the end of the resource or tail (the last page may be cut). */
    VkDeviceSize resource_offset;
    VkDeviceSize size;
    VkSparseMemoryBindFlags bind_flags;
    /* TILES: page numbers run along x, then y, then z. */
    VkImageSubresource subresource;
    VkExtent3D tile;   /* texels */
    VkExtent3D extent; /* of the level, texels */
};

/* Looks at a pMemoryInfo, which may be NULL; tells of what no pages can be. */
VkResult maar_pages_check_memory(MaarAllocator allocator, const char* call,
                                 const MaarAllocationCreateInfo* info);
/* Chooses memory types and makes a table without pages. VK_ERROR_FEATURE_NOT_PRESENT, told, when no
 * type serves; VK_ERROR_OUT_OF_HOST_MEMORY; misuse, told, when the pool does not stitch or its type
 * does not serve. */
VkResult maar_page_table_create(MaarAllocator allocator, const struct maar_page_table_info* info,
                                struct maar_page_table** table);
/* Drops what is recorded for the table and forbids more. Its last submission's value of the paging
 * timeline; 0 when nothing of it was ever submitted. */
uint64_t maar_page_table_seal(struct maar_page_table* table);
/* An object of a program's, all of whose tables are sealed, comes to its end with so many committed
 * pages, of which nothing was ever submitted: told, since that is how a forgotten maarSubmitBinds
 * looks. The name may be NULL. No lock may be held. */
void maar_paging_report_unsubmitted(MaarAllocator allocator, const char* what, const char* name,
                                    uint64_t pages);
/* Gives its pages back and frees it. Its resource must be gone, so its last submission is done. May
 * be NULL. Fit for a retire action: waits for a submission that still reads it. */
void maar_page_table_destroy(struct maar_page_table* table);

/* Pages from `first` on. */
struct maar_page_range {
    struct maar_page_table* table;
    uint64_t first;
    uint64_t count;
};

/* Takes a page for each page of the ranges without one, all or nothing, and records the binds.
 * Shortage is answered as by maar_allocate. */
VkResult maar_pages_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges);
/* The same for one range, but within budgets, and the observer is not asked. */
VkResult maar_pages_try_commit(MaarAllocator allocator, const char* call,
                               const struct maar_page_range* range);
/* Gives back what the ranges have and records that it is unbound. Cannot fail. */
void maar_pages_decommit(MaarAllocator allocator, uint32_t range_count,
                         const struct maar_page_range* ranges);
/* Makes pages of one table, none of which may be there or held, show those of another from
 * `from_first` on, which must all be there;
 * both tables may_alias, with one page size. The types must have been compared by the caller with
 * maar_page_table_types. */
VkResult maar_pages_alias(MaarAllocator allocator, const char* call,
                          const struct maar_page_range* to, struct maar_page_table* from,
                          uint64_t from_first);

/* Hands a committed page of one table to a page of another that has none, of the same resource and
 * page size, in one step: unbound there and bound here by the same submission. False, and nothing
 * changes, when the source has none or the target has one. */
bool maar_page_move(struct maar_page_table* to, uint64_t to_page, struct maar_page_table* from,
                    uint64_t from_page);

uint64_t maar_page_table_count(const struct maar_page_table* table); /* pages in all */
uint64_t maar_page_table_committed(const struct maar_page_table* table);
uint32_t maar_page_table_types(const struct maar_page_table* table);
/* The pool that stitches whose pages it takes, or NULL. */
const struct maar_pool* maar_page_table_owner(const struct maar_page_table* table);
bool maar_page_is_committed(const struct maar_page_table* table, uint64_t page);
/* Whether pages [first, first + count) all are; true for none. */
bool maar_pages_are_committed(const struct maar_page_table* table, uint64_t first, uint64_t count);
/* The committed runs in order; at most `capacity` are written; returns how many there are. */
uint32_t maar_page_table_runs(const struct maar_page_table* table, uint32_t capacity,
                              MaarPageRun* runs);

/* ---- submitting (bind_queue.c) ---- */

/* See maarSubmitBinds. */
VkResult maar_paging_submit(MaarAllocator allocator, const char* call, uint32_t point_count,
                            const MaarPoint* points, MaarPoint* point);
/* A point of the paging timeline; value as maar_page_table_seal returned it. */
MaarPoint maar_paging_point(MaarAllocator allocator, uint64_t value);

/* ---- live objects (paging.c) ---- */

/* Embedded in whatever a program destroys itself, so that leaks can be named and undone. */
struct maar_paged_object {
    struct maar_paged_object* next; /* under the paging lock */
    struct maar_paged_object* previous;
    struct maar_paged_object* next_alike; /* of those whose addresses hash alike */
    const char* what;                     /* "reservation", "sparse image" */
    const char* name;                     /* may be NULL; as long as it is listed */
    /* maarDestroyAllocator found it alive, and told so: frees all of it, at once. The device is
     * idle, nothing is pending, and the object is listed no more. */
    void (*end)(MaarAllocator allocator, struct maar_paged_object* object);
};

void maar_paging_list(MaarAllocator allocator, struct maar_paged_object* object);
void maar_paging_unlist(MaarAllocator allocator, struct maar_paged_object* object);
/* Whether a handle that a program gave is a listed object of this kind. Reads nothing of it before
 * that is known. */
bool maar_paging_is_listed(MaarAllocator allocator, const char* what, const void* object);
/* The same, and tells if not. */
VkResult maar_paging_check_listed(MaarAllocator allocator, const char* call, const char* argument,
                                  const char* what, const void* object);

/* ---- what the watch asks (paging.c), also of allocators that never used paging ---- */

/* First broken invariant, or NULL. */
const char* maar_paging_check(MaarAllocator allocator);
void maar_paging_reset_peak(MaarAllocator allocator);
/* Told of each run of a page block, in order; the paging lock is held. */
typedef void (*maar_page_visit)(void* context, MaarBlockRangeState state, VkDeviceSize offset,
                                VkDeviceSize size);
void maar_paging_walk_block(MaarAllocator allocator, uint64_t block_id, maar_page_visit visit,
                            void* context);

/* Growth by copies is in core/paging/copy_queue.h. */

#endif
