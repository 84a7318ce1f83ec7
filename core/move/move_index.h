/*
 * Finds the moves of a batch by their allocations: a hash table with linear probing, in the host
 * memory of the batch. A slot is in one move of a batch at most, so its index is the key.
 *
 * The table is filled before the program knows the batch, and only read after that.
 */
#ifndef MAAR_CORE_MOVE_MOVE_INDEX_H
#define MAAR_CORE_MOVE_MOVE_INDEX_H

#include "core/move/move_state.h"

/* Returns the bytes of the table for a number of moves, or 0 if there cannot be so many. */
size_t maar_move_index_size(uint32_t move_count);
/* Begins an empty table in zeroed memory of that size, for the moves that the batch counts. */
void maar_move_index_begin(struct maar_move_batch* batch, uint32_t* places);
/* Adds a move, whose handle is set. */
void maar_move_index_add(const struct maar_move_batch* batch, uint32_t at);
/* Returns the index of the move of an allocation, or the number of moves if there is none. */
uint32_t maar_move_index_find(const struct maar_move_batch* batch, MaarAllocation allocation);

#endif
