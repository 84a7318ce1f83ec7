/*
 * Image layouts, and the queue families that own resources: sim_layout.c. Lock held. All functions
 * do nothing where `hazard` is NULL: then synchronization is not checked.
 */
#ifndef MAAR_SIM_LAYOUT_H
#define MAAR_SIM_LAYOUT_H

#include "backends/simulated/sim_hazard.h"
#include "backends/simulated/sim_resource.h"

/* Checks the layout that a command names for subresources which it reads or writes. */
void sim_layout_check(struct sim_hazard* hazard, const struct sim_resource* image,
                      const VkImageSubresourceRange* range, VkImageLayout layout, bool writes);
/* Moves subresources to another layout, as a barrier does. */
void sim_layout_move(struct sim_hazard* hazard, struct sim_resource* image,
                     const VkImageSubresourceRange* range, VkImageLayout from, VkImageLayout to);
void sim_layout_release(struct sim_resource* image);

/* A command of the hazard's queue uses a resource. Its contents are lost if another family owns
 * them. */
void sim_owner_use(struct sim_hazard* hazard, struct sim_resource* resource, bool reads);
/* Releases or acquires, as a barrier says. Returns whether the barrier only releases: then its
 * layout transition belongs to the barrier that acquires. */
bool sim_owner_barrier(struct sim_hazard* hazard, struct sim_resource* resource,
                       const struct sim_barrier* barrier);

#endif
