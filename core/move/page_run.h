/*
 * Runs that empty page blocks, for the calls on runs. The caller synchronizes the calls on one run.
 * No lock may be held. core/paging/page_drain.h says how page blocks are emptied.
 *
 * A run counts the pages that can move, chooses the blocks with the fewest live bytes, and empties
 * some of them at a time: each walk over the page tables costs time, and blocks that are emptied
 * early leave early.
 */
#ifndef MAAR_CORE_MOVE_PAGE_RUN_H
#define MAAR_CORE_MOVE_PAGE_RUN_H

#include "core/move/drain_state.h"

/* Makes the state of a run that empties page blocks. */
VkResult maar_page_run_create(struct maar_drain_run* run, const MaarDefragmentationBeginInfo* info);
/* Frees it. The run may have none. */
void maar_page_run_destroy(struct maar_drain_run* run);
/* Does a step: see maarStepDefragmentation. *moves are those of the next batch, or NULL. */
VkResult maar_page_run_step(struct maar_drain_run* run, const MaarDefragmentationStepInfo* limits,
                            struct maar_page_moves** moves);
/* Notes that these moves are in a batch now. Until then, each step returns them. */
void maar_page_run_hand_out(struct maar_drain_run* run);
/* Begins to give back what the run has not handed out. */
void maar_page_run_give_up(struct maar_drain_run* run);
/* Gives back a part of it, at most so many blocks. Returns whether nothing is left. */
bool maar_page_run_give_back(struct maar_drain_run* run, uint32_t most);
/* Gives back what is left of a run that is given up, and the blocks that are empty. */
void maar_page_run_end(struct maar_drain_run* run);
/* Sums up the blocks that the pools of the run have given back after they had drained. */
void maar_page_run_count_released(const struct maar_drain_run* run, uint32_t* count,
                                  uint64_t* bytes);

#endif
