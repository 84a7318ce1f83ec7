/*
 * Residents that are made of pages: ranges of reservations, arrays, stitched buffers and sparse
 * images. Their objects stay; their pages come and go.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENT_PAGES_H
#define MAAR_CORE_RESIDENCY_RESIDENT_PAGES_H

#include "core/residency/residency_copies.h"

/* Fill a resident from a create info that names a range, a sparse image, an array or a stitched
 * buffer, or report what is wrong with it. The bytes of its pages are those of its request. */
VkResult maar_pages_keep_range(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident);
VkResult maar_pages_keep_image(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident);
VkResult maar_pages_keep_array(struct maar_residency* it, const char* call,
                               const MaarResidentCreateInfo* info, struct maar_resident* resident);
VkResult maar_pages_keep_stitched(struct maar_residency* it, const char* call,
                                  const MaarResidentCreateInfo* info,
                                  struct maar_resident* resident);
/* Takes that back. */
void maar_pages_discard(struct maar_residency* it, const struct maar_resident* resident);
/* The resident exists now: its sparse image or array is the manager's. */
void maar_pages_own(struct maar_residency* it, const struct maar_resident* resident);
/* The resident ends: its sparse image or array is the program's again. */
void maar_pages_leave(struct maar_residency* it, const struct maar_resident* resident);

/* Commits the pages, and records their binds. Returns VK_ERROR_OUT_OF_POOL_MEMORY if they exceed
 * the budget now. */
VkResult maar_pages_make(struct maar_residency* it, const char* call,
                         struct maar_resident* resident);
/* Gives the pages back when the points have passed, and records that. */
VkResult maar_pages_end(struct maar_residency* it, const char* call,
                        const struct maar_resident* resident, uint32_t point_count,
                        const MaarPoint* points);
/* Give an array on the device more pages, or fewer when its uses have passed, and record that. The
 * first one returns VK_ERROR_OUT_OF_POOL_MEMORY if they exceed the budget now. */
VkResult maar_pages_grow(struct maar_residency* it, const char* call,
                         struct maar_resident* resident, VkDeviceSize size);
VkResult maar_pages_shrink(struct maar_residency* it, struct maar_resident* resident,
                           VkDeviceSize size);
/* Notes how many elements an array has after a use that has written to it. */
void maar_pages_note_size(struct maar_residency* it, struct maar_resident* resident);
/* Submits the binds that were recorded. waits receives the point of the last binds, and may be
 * NULL. */
VkResult maar_pages_submit(struct maar_residency* it, struct maar_copy_waits* waits);

#endif
