/*
 * Moves of pages: the bytes of some pages go to other pages, and the resource gets these in their
 * place. The resource keeps its handle and its address.
 *
 * A batch of moves holds a reference to each page on both sides until it ends, so neither side
 * serves anybody else, whatever becomes of the resource meanwhile. A commit gives the entries of
 * the tables their new pages, and the next submission of binds passes them to the device. That
 * submission waits for the points of the commit. When it has been executed, the batch ends: nothing
 * has the old pages then. An entry that is given back, or whose table ends, before the commit does
 * not move.
 *
 * No lock may be held by callers, unless a function says otherwise. The caller synchronizes the
 * calls on one batch.
 */
#ifndef MAAR_CORE_PAGING_PAGE_MOVE_H
#define MAAR_CORE_PAGING_PAGE_MOVE_H

#include "core/paging/page_block.h"
#include "core/paging/page_move_list.h"
#include "core/paging/page_table.h"
#include "core/time/retire.h"
#include "maar/move.h"

/* The moves of a batch. */
struct maar_page_moves {
    struct maar_page_moves* next; /* of all batches, under the paging lock */
    struct maar_page_moves* previous;
    struct maar_page_moves* next_ended;
    struct maar_paging* paging;
    struct maar_pool* owner;       /* the pool that stitches and has the pages, or NULL */
    struct maar_pool* spill_owner; /* another pool that has some of them, or NULL */
    struct maar_retire_item* item;
    bool is_recorded; /* committed, and waits for a submission of binds; under the paging lock */
    bool is_taken;    /* the submission under way has all of them; under the paging lock */
    uint64_t
        ready_value; /* of the paging timeline: when it has passed, nothing uses the new pages */
    uint32_t capacity;
    uint32_t count;
    uint64_t page_count;
    VkDeviceSize bytes;
    struct maar_page_move moves[];
};

/* Where the bytes of a move lie. */
struct maar_page_places {
    VkDeviceMemory from;
    VkDeviceMemory to;
    VkDeviceSize from_size; /* of the whole block */
    VkDeviceSize to_size;
    uint32_t from_type;
    uint32_t to_type;
    VkDeviceSize from_offset;
    VkDeviceSize to_offset;
    VkDeviceSize size;
};

/* Makes an empty batch with room for so many moves. Returns NULL if there is no host memory. */
struct maar_page_moves* maar_page_moves_make(struct maar_paging* paging, struct maar_pool* owner,
                                             uint32_t capacity);
/* Adds the move of live pages, with one reference each, of a table. It takes free pages, of those
 * that are promised to the block. Returns how many pages it could add: fewer where free pages are
 * not adjacent or the batch is full. Called under the paging lock. */
uint32_t maar_page_moves_add(struct maar_page_moves* moves, struct maar_page_table* table,
                             uint64_t first, uint32_t count);
/* Does the same with free pages of a pool. */
uint32_t maar_page_moves_add_to(struct maar_page_moves* moves, struct maar_page_table* table,
                                uint64_t first, uint32_t count, struct maar_page_pool* pool);
/* Says where the bytes of a move lie. Returns false if it has been dropped. */
bool maar_page_moves_read(const struct maar_page_moves* moves, uint32_t at,
                          struct maar_page_places* places);
/* Returns the point after which copies may write to the new pages: these may have been unbound by a
 * submission that has not been executed. Returns false if it has passed. */
bool maar_page_moves_wait_point(const struct maar_page_moves* moves, MaarPoint* point);
/* Notes that a submission to a queue of the allocator waits for that point. */
void maar_page_moves_note_wait(const struct maar_page_moves* moves, uint32_t queue);
/* Describes a move for the program. */
void maar_page_moves_describe(const struct maar_page_moves* moves, uint32_t at, MaarPageMove* out);
/* Returns whether the pages of a batch, which may be NULL, are those of a pool. */
bool maar_page_moves_are_of(const struct maar_page_moves* moves, const struct maar_pool* pool);
/* Allocates what the end of a batch needs: nothing for an end without commits and points. With
 * commits, the next submission of binds waits for the
 * points. The points have been checked by maar_paging_check_waits. Returns VK_SUCCESS,
 * VK_ERROR_OUT_OF_HOST_MEMORY, or VK_ERROR_TOO_MANY_OBJECTS if that submission would wait for too
 * many timelines. */
VkResult maar_page_moves_prepare(struct maar_page_moves* moves, bool commits, uint32_t point_count,
                                 const MaarPoint* points);
/* Ends a batch that is prepared, and frees it at its time. With commits, the entries get their new
 * pages. Returns how many. */
uint32_t maar_page_moves_end(struct maar_page_moves* moves, bool commits);
/* Ends a batch that the program has never seen. */
void maar_page_moves_discard(struct maar_page_moves* moves);

/* ---- for tables and submissions, under the paging lock ---- */

/* Marks the batches whose changes the submission under way takes, which is all that is recorded. */
void maar_page_moves_take(struct maar_paging* paging);
/* Returns the committed batches whose changes have all been submitted, linked by
 * `next_ended`, or marks those as not taken whose submission has failed. */
struct maar_page_moves* maar_page_moves_resolve(struct maar_paging* paging, bool succeeded);
/* Returns the committed batches of a pool, or of all pools, that no submission took. */
struct maar_page_moves* maar_page_moves_leave(struct maar_paging* paging,
                                              const struct maar_pool* owner);

/* ---- without the lock ---- */

/* Ends such batches when the submission of a value has been executed. */
void maar_page_moves_retire(MaarAllocator allocator, struct maar_page_moves* moves, uint64_t value);
/* Ends such batches at once. */
void maar_page_moves_drop(struct maar_page_moves* moves);

#endif
