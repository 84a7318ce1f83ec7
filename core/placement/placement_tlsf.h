/*
 * The TLSF strategy: the functions that placement.c and range.c call. placement_tlsf.c has the slow
 * path and explains the strategy. Two operations take a fast path: an allocation whose alignment is
 * the unit and whose kind does not matter (placement_fast.h), and almost every free
 * (placement_joins.h).
 *
 * The fast path needs few instructions and few cache lines. Sizes stay shifted, as in an extent.
 * The first node of a bin was written recently, so it is likely in the cache. Internal to
 * core/placement.
 */
#ifndef MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H
#define MAAR_CORE_PLACEMENT_PLACEMENT_TLSF_H

#include "core/placement/placement_tlsf_bins.h"

/* Returns how many bins a space of this size needs. */
uint32_t maar_tlsf_bin_count(VkDeviceSize size);
/* Makes the space one free range. */
void maar_tlsf_reset(struct maar_placement* placement);
/* Places a range, as maar_placement_allocate does. */
enum maar_place_outcome maar_tlsf_allocate(struct maar_placement* placement,
                                           const struct maar_placement_request* request,
                                           struct maar_placement_range* range);
/* Places a range as maar_placement_allocate_last does. */
enum maar_place_outcome maar_tlsf_allocate_last(struct maar_placement* placement,
                                                const struct maar_placement_request* request,
                                                VkDeviceSize after,
                                                struct maar_placement_range* range);
/* Takes a range at an offset in a free node. Returns MAAR_PLACE_NO_ROOM if the node is not free or
 * does not contain the range. Neither the kinds of neighbours nor the alignment are looked at, but
 * the offset is a multiple of the unit that the alignment allows. */
enum maar_place_outcome maar_tlsf_allocate_at(struct maar_placement* placement,
                                              const struct maar_placement_request* request,
                                              VkDeviceSize offset, uint32_t slot,
                                              struct maar_placement_range* range);
/* Removes a node and gives its extent to the free node beside it. If the nodes on both sides are
 * free, joins them as well. Returns the extent of the free node. */
uint64_t maar_tlsf_absorb(struct maar_placement* placement, struct placement_node* node,
                          uint32_t slot, uint64_t extent);
/* Frees any live range. Returns the extent of the free node that now contains the range. */
uint64_t maar_tlsf_free(struct maar_placement* placement, struct placement_node* node,
                        uint32_t slot);
/* Frees a live range that is odd (see PLACEMENT_LINK_ODD). The totals lack it already, as a range
 * of the extent `counted`. Returns the extent of the free node that now contains the range. */
uint64_t maar_tlsf_free_odd(struct maar_placement* placement, struct placement_node* node,
                            uint32_t slot, uint64_t counted);
/* Grows the space, as maar_placement_resize does. */
bool maar_tlsf_resize(struct maar_placement* placement, VkDeviceSize size);
/* Returns an upper bound of the largest free range. */
VkDeviceSize maar_tlsf_largest_free_bound(const struct maar_placement* placement);
/* Returns the first broken invariant, or NULL. */
const char* maar_tlsf_check(const struct maar_placement* placement);

#endif
