/*
 * Places slices: in a buffer of the thread's own arena, in a buffer of another arena, or in a new
 * buffer, in this order. Also makes the arenas of threads.
 */
#include "core/objects/slice_arena.h"

/* ---- placing ---- */

/* The outcome of an attempt to place a slice. */
enum slice_outcome {
    SLICE_PLACED,
    SLICE_NO_ROOM,
    SLICE_LOOK_AGAIN, /* the lock was left meanwhile, so the buffers may have changed */
    SLICE_NO_HOST_MEMORY
};

/* Places a slice into one buffer. May leave the arena's lock and take it again. */
static enum slice_outcome place_slice_in(MaarAllocator allocator, struct maar_slice_buffer* home,
                                         struct maar_slice_job* job)
{
    const struct maar_placement_request request = {
        .size = job->size,
        .alignment = job->alignment,
    };
    switch (maar_placement_allocate(home->placement, &request, &job->range)) {
    case MAAR_PLACED:
        job->home = home;
        ++home->slice_count;
        return SLICE_PLACED;
    case MAAR_PLACE_NO_ROOM:
        return SLICE_NO_ROOM;
    default:
        break;
    }
    ++home->pin_count;
    const VkResult result =
        maar_bring_storage(allocator->callbacks, &home->shelf->arena->lock, home->placement);
    --home->pin_count;
    return result == VK_SUCCESS ? SLICE_LOOK_AGAIN : SLICE_NO_HOST_MEMORY;
}

/* Returns the size of a range that serves at any offset. With a small alignment, most ranges of the
 * slice's own size serve. */
static VkDeviceSize room_of(const struct maar_slice_job* job)
{
    return job->alignment > job->size ? job->size + job->alignment - 1 : job->size;
}

/* Places a slice into one of a shelf's buffers. May leave the lock and take it again. */
static enum slice_outcome place_slice(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                      struct maar_slice_job* job)
{
    const VkDeviceSize room = room_of(job);
    maar_assert_held(&shelf->arena->lock);
    for (;;) {
        struct maar_slice_buffer* home = maar_slice_find_room(shelf, room, job->size);
        if (home == NULL) {
            return SLICE_NO_ROOM;
        }
        const enum slice_outcome outcome = place_slice_in(allocator, home, job);
        if (outcome == SLICE_PLACED) {
            maar_slice_note_placed(home);
        }
        if (outcome == SLICE_PLACED || outcome == SLICE_NO_HOST_MEMORY) {
            return outcome;
        }
        if (outcome == SLICE_NO_ROOM) {
            if (home->slice_count == 0) {
                return outcome;
            }
            maar_slice_note_full(home, room);
        }
    }
}

/* Does the same for a request that is about to fail: also looks into each buffer whose free ranges
 * serve only at some offsets, or whose bin is too low. */
static enum slice_outcome place_slice_tightly(MaarAllocator allocator,
                                              struct maar_slice_shelf* shelf,
                                              struct maar_slice_job* job)
{
    enum slice_outcome outcome = SLICE_LOOK_AGAIN;
    while (outcome == SLICE_LOOK_AGAIN) {
        struct maar_slice_buffer* home = NULL;
        outcome = place_slice(allocator, shelf, job);
        while (outcome == SLICE_NO_ROOM &&
               (home = maar_slice_next_tight(shelf, home, room_of(job), job->size)) != NULL) {
            outcome = place_slice_in(allocator, home, job);
        }
        if (outcome == SLICE_PLACED) {
            maar_slice_note_placed(job->home);
        }
    }
    return outcome;
}

/* Does the same, and again each time a buffer of the shelf ends that another thread is making: that
 * buffer may take the last bytes of a heap and yet have room for this slice. */
static enum slice_outcome place_slice_patiently(MaarAllocator allocator,
                                                struct maar_slice_shelf* shelf,
                                                struct maar_patience* patience,
                                                struct maar_slice_job* job)
{
    const uint64_t last = shelf->making_number;
    enum slice_outcome outcome = SLICE_NO_ROOM;
    do {
        outcome = place_slice_tightly(allocator, shelf, job);
    } while (outcome == SLICE_NO_ROOM && maar_slice_wait_for_buffer(shelf, last, patience));
    return outcome;
}

/* Tries to place a slice in the arenas of other threads. Without patience, skips arenas that
 * are locked now. On success *arena is the arena of the slice, and its lock is held instead of the
 * lock of the thread's own arena. */
static enum slice_outcome place_slice_elsewhere(MaarAllocator allocator,
                                                struct maar_slice_state* state,
                                                struct maar_patience* patience,
                                                struct maar_slice_arena** arena,
                                                struct maar_slice_job* job)
{
    struct maar_slice_arena* own = *arena;
    enum slice_outcome outcome = SLICE_NO_ROOM;
    if (!maar_arena_set_is_divided(&state->arenas)) {
        return outcome;
    }
    maar_mutex_unlock(&own->lock);
    for (struct maar_slice_arena* other = maar_slice_next_arena(state, 0);
         other != NULL && outcome == SLICE_NO_ROOM;
         other = maar_slice_next_arena(state, other->number + 1)) {
        if (other == own) {
            continue;
        }
        if (patience != NULL) {
            maar_mutex_lock(&other->lock);
        } else if (!maar_mutex_try_lock(&other->lock)) {
            continue;
        }
        struct maar_slice_shelf* shelf = maar_slice_find_shelf(other, job->info);
        if (shelf != NULL) {
            outcome = patience != NULL ? place_slice_patiently(allocator, shelf, patience, job)
                                       : place_slice(allocator, shelf, job);
        }
        if (outcome == SLICE_PLACED) {
            *arena = other;
            return outcome;
        }
        maar_mutex_unlock(&other->lock);
    }
    maar_mutex_lock(&own->lock);
    return outcome;
}

/* Looks for room once more, patiently, in the thread's own arena and in the others. The lock was
 * left since the last search, so other threads may have freed slices or added buffers. */
static enum slice_outcome
place_slice_after_all(MaarAllocator allocator, struct maar_slice_state* state,
                      struct maar_slice_shelf* shelf, struct maar_patience* patience,
                      struct maar_slice_arena** arena, struct maar_slice_job* job)
{
    const enum slice_outcome outcome = place_slice_patiently(allocator, shelf, patience, job);
    return outcome == SLICE_NO_ROOM ? place_slice_elsewhere(allocator, state, patience, arena, job)
                                    : outcome;
}

VkResult maar_slice_take(MaarAllocator allocator, struct maar_slice_state* state,
                         struct maar_slice_arena** arena, struct maar_slice_job* job)
{
    struct maar_slice_shelf* shelf = NULL;
    struct maar_patience patience = maar_patience_begin();
    VkResult result = maar_slice_open_shelf(allocator, *arena, job->info, &shelf);
    bool is_last = false;
    while (result == VK_SUCCESS) {
        enum slice_outcome outcome = place_slice(allocator, shelf, job);
        if (outcome == SLICE_NO_ROOM) {
            outcome = place_slice_elsewhere(allocator, state, NULL, arena, job);
        }
        if (outcome != SLICE_NO_ROOM) {
            return outcome == SLICE_PLACED ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        result = maar_slice_add_buffer(allocator, shelf, job->size, is_last, &patience);
        if (result != VK_SUCCESS &&
            place_slice_after_all(allocator, state, shelf, &patience, arena, job) == SLICE_PLACED) {
            return VK_SUCCESS;
        }
        if (maar_slice_is_shortage(result) && !is_last) {
            is_last = true;
            result = VK_SUCCESS;
        }
    }
    return result;
}

/* ---- arenas ---- */

bool maar_slice_arena_init(struct maar_slice_arena* arena, uint32_t number, bool synchronized)
{
    arena->number = number;
    arena->free_slots.head = MAAR_SLOT_NONE;
    if (!maar_mutex_init(&arena->lock, MAAR_LOCK_SLICES, synchronized)) {
        return false;
    }
    if (!maar_condition_init(&arena->made)) {
        maar_mutex_destroy(&arena->lock);
        return false;
    }
    return true;
}

static void end_synchronization(struct maar_slice_arena* arena)
{
    maar_condition_destroy(&arena->made);
    maar_mutex_destroy(&arena->lock);
}

void maar_slice_arena_end(MaarAllocator allocator, struct maar_slice_arena* arena,
                          struct maar_leaked_slices* leaked)
{
    leaked->size += arena->live_bytes;
    while (arena->shelves != NULL) {
        struct maar_slice_shelf* shelf = arena->shelves;
        arena->shelves = shelf->next;
        for (struct maar_slice_buffer* home = maar_slice_first_buffer(shelf); home != NULL;
             home = maar_slice_first_buffer(shelf)) {
            leaked->count += home->slice_count;
            maar_slice_unshelve(home);
            maar_slice_buffer_destroy(allocator, "maarDestroyAllocator", home);
        }
        maar_host_free(allocator->callbacks, shelf);
    }
    end_synchronization(arena);
}

/* Makes the arena with a number. If another thread has made it, returns that arena. Returns NULL if
 * host memory is short or no mutex can be made. */
static struct maar_slice_arena* make_slice_arena(MaarAllocator allocator,
                                                 struct maar_slice_state* state, uint32_t number)
{
    struct maar_slice_arena* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (!maar_slice_arena_init(made, number, maar_is_synchronized(allocator))) {
        maar_host_free(allocator->callbacks, made);
        return NULL;
    }
    struct maar_slice_arena* arena = maar_arena_set_add(&state->arenas, number, made);
    if (arena != made) {
        end_synchronization(made);
        maar_host_free(allocator->callbacks, made);
    }
    return arena;
}

struct maar_slice_arena* maar_slice_arena_enter(MaarAllocator allocator,
                                                struct maar_slice_state* state)
{
    if (maar_arena_set_try_first(&state->arenas, &state->first_arena.lock)) {
        return &state->first_arena;
    }
    uint32_t number = 0;
    struct maar_slice_arena* arena =
        maar_arena_set_enter_own(&state->arenas, &allocator->threads, &number);
    if (arena == NULL) {
        struct maar_slice_arena* own = make_slice_arena(allocator, state, number);
        arena = own != NULL ? own : &state->first_arena;
        maar_mutex_lock(&arena->lock);
    }
    return arena;
}
