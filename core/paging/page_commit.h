/*
 * Committing pages: tables get pages, give them back, share them and move them. Every change is
 * recorded. maarSubmitBinds passes the changes to the device.
 *
 * A page that was given back is held until its unbinding has been submitted, and is free then:
 * submissions execute one after another. No lock may be held by callers.
 */
#ifndef MAAR_CORE_PAGING_PAGE_COMMIT_H
#define MAAR_CORE_PAGING_PAGE_COMMIT_H

#include <stdbool.h>

#include "core/paging/page_table.h"
#include "maar/touch.h"

/* A run of pages of a table. */
struct maar_page_range {
    struct maar_page_table* table;
    uint64_t first;
    uint64_t count;
    bool stays; /* takes pages of the preferred memory type alone */
};

/* Takes a page for each page of the ranges that has none, for all or for none, and records the
 * binds. A shortage returns the result that maar_allocate returns. */
VkResult maar_pages_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                           const struct maar_page_range* ranges);
/* Commits ranges within budgets, without a report and without asking the observer. */
VkResult maar_pages_try_commit(MaarAllocator allocator, const char* call, uint32_t range_count,
                               const struct maar_page_range* ranges);
/* Gives back the pages that the ranges have and records that they are unbound. Cannot fail. */
void maar_pages_decommit(MaarAllocator allocator, uint32_t range_count,
                         const struct maar_page_range* ranges);
/* Does so with one range, and returns how many pages it had. Blocks that are empty then stay until
 * a call of maar_pages_decommit, of any ranges or none. */
uint64_t maar_pages_decommit_range(const struct maar_page_range* range);
/* Receives which pages of reservations a commit takes. */
struct maar_new_pages {
    uint32_t capacity;            /* room in one of the two lists; without any they are counted */
    MaarPageRange* ranges;        /* of one reservation */
    MaarReservationRange* listed; /* of several */
    uint32_t count;               /* ranges of new pages, also those without room */
    VkDeviceSize size;            /* bytes of the new pages */
    VkDeviceSize missing;         /* bytes that were missing when memory was short */
    VkDeviceSize end;             /* of the last range */
    uint64_t last;                /* its reservation */
};

/* Adds pages to the list. The bytes of the last page that lie beyond the reservation are not
 * listed. */
void maar_new_pages_add(struct maar_new_pages* taken, uint64_t reservation, VkDeviceSize offset,
                        VkDeviceSize size);
/* Whether more ranges were counted than the list has room for. */
bool maar_new_pages_overflow(const struct maar_new_pages* taken);
/* Commits pages of reservations, and lists those that are new. `taken` is zero, or has a list and
 * what was added to it. Returns VK_INCOMPLETE when the ranges of new pages have no room: nothing is
 * committed then, and the count is that of the needed room. */
VkResult maar_pages_commit_listed(MaarAllocator allocator, const char* call, uint32_t range_count,
                                  const struct maar_page_range* ranges,
                                  struct maar_new_pages* taken);
/* Makes pages of the table `to` show those of the table `from`, from from_first on. The pages of
 * `to` are neither committed nor held; those of `from` are all committed. Both tables may alias and
 * have one page size. The caller has compared their types (maar_page_table_types). */
VkResult maar_pages_alias(MaarAllocator allocator, const char* call,
                          const struct maar_page_range* to, struct maar_page_table* from,
                          uint64_t from_first);
/* Moves a committed page of one table to a page of another table that has none, of the same
 * resource and page size. One submission unbinds it there and binds it here. Returns false, and
 * changes nothing, when the source has no page, the target has one, or host memory is short. */
bool maar_page_move(struct maar_page_table* to, uint64_t to_page, struct maar_page_table* from,
                    uint64_t from_page);

#endif
