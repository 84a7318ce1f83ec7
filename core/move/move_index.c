/*
 * Finds moves by their allocations: see move_index.h.
 */
#include "core/move/move_index.h"

/* The largest number of moves, so that twice as many places have indices of 32 bits. */
#define MOST_MOVES ((uint32_t)1 << 30)

/* Returns 32 - the binary logarithm of the number of places, which is at least twice the number of
 * moves, so that a search ends after few places. */
static uint32_t place_shift(uint32_t move_count)
{
    uint32_t shift = 31;
    while (shift > 1 && (UINT32_MAX >> shift) < 2 * move_count) {
        --shift;
    }
    return shift;
}

/* Returns the place where the search for a slot begins. The factor is 2^32 divided by the golden
 * ratio: the upper bits of the product spread slots in any pattern over the table. */
static uint32_t first_place(const struct maar_move_batch* batch, uint64_t handle)
{
    return ((uint32_t)handle * 0x9E3779B1u) >> batch->place_shift;
}

static uint32_t next_place(const struct maar_move_batch* batch, uint32_t place)
{
    return (place + 1u) & (UINT32_MAX >> batch->place_shift);
}

size_t maar_move_index_size(uint32_t move_count)
{
    if (move_count > MOST_MOVES) {
        return 0;
    }
    return ((size_t)(UINT32_MAX >> place_shift(move_count)) + 1u) * sizeof(uint32_t);
}

void maar_move_index_begin(struct maar_move_batch* batch, uint32_t* places)
{
    batch->places = places;
    batch->place_shift = place_shift(batch->count);
}

void maar_move_index_add(const struct maar_move_batch* batch, uint32_t at)
{
    uint32_t place = first_place(batch, batch->moves[at].handle);
    while (batch->places[place] != 0) {
        place = next_place(batch, place);
    }
    batch->places[place] = at + 1u;
}

uint32_t maar_move_index_find(const struct maar_move_batch* batch, MaarAllocation allocation)
{
    const uint64_t handle = MAAR_TO_BITS(allocation);
    uint32_t place = first_place(batch, handle);
    while (batch->places[place] != 0) {
        const uint32_t at = batch->places[place] - 1u;
        if (batch->moves[at].handle == handle) {
            return at;
        }
        place = next_place(batch, place);
    }
    return batch->count;
}
