/*
 * Carries out the plan of a run that empties blocks (drain_plan.h): gives each allocation the place
 * that it has in the plan, if that is free still.
 *
 * At levels above 0 some allocations make way in other blocks first. These blocks are *closed*
 * meanwhile: they drain (core/memory/draining.h), so that no request takes what becomes free there.
 * The caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_TARGET_H
#define MAAR_CORE_MOVE_DRAIN_TARGET_H

#include "core/move/drain_plan.h"

/* What is at the place of an item. */
enum maar_target_look {
    MAAR_TARGET_FREE,
    MAAR_TARGET_WAITS, /* something there moves, or waits for points */
    MAAR_TARGET_TAKEN
};

/* The level of the present block. */
int32_t maar_target_level(const struct maar_drain_run* run);
/* Returns the item of a range of the present block, or MAAR_MAP_NONE if the plan does not know it.
 * The ranges come in the order of their offsets. */
uint32_t maar_target_item(struct maar_drain_run* run, VkDeviceSize offset, uint64_t handle);
/* Begins with the ranges of the present block. */
void maar_target_begin_block(struct maar_drain_run* run);
/* Describes the live allocation of a range. Called under the arena's lock. */
struct maar_drain_entry maar_drain_entry_of(const struct maar_drain_run* run,
                                            const struct maar_placement_range* range, uint64_t tag,
                                            uint64_t handle);
/* Looks at the place of an item. */
enum maar_target_look maar_target_look(const struct maar_drain_run* run, uint32_t item);
/* Takes the place of an item for a twin. Returns MAAR_POOL_NO_ROOM if it is not free. */
enum maar_pool_outcome maar_target_place(struct maar_drain_run* run, uint32_t item,
                                         const struct maar_place_request* request,
                                         struct maar_made* made);
/* Returns how many allocations make way for the present block. */
uint32_t maar_target_leaver_count(const struct maar_drain_run* run);
/* Describes one of them. Returns false if it has left its place already. */
bool maar_target_leaver(const struct maar_drain_run* run, uint32_t at,
                        struct maar_drain_entry* entry);
/* Closes the block that it leaves. */
enum maar_drain_result maar_target_close(struct maar_drain_run* run, uint32_t at);
/* Opens all blocks that are closed. */
void maar_target_open_all(struct maar_drain_run* run);
/* Opens at most *most of them, which it counts down. Returns whether none is left. */
bool maar_target_open_some(struct maar_drain_run* run, uint32_t* most);

#endif
