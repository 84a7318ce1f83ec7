/*
 * Decides which arena a thread uses. An arena is a part of something that threads share, a pool or
 * the slices, and has a lock of its own.
 *
 * A set begins with one arena that all threads use. Two threads meet when one of them finds this
 * arena locked by the other. It then gets an arena of its own and keeps it. A program of one
 * thread, or of threads that never meet, thus has a single arena. The first member of each arena is
 * its mutex. An arena is added under the set's lock.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_SET_H
#define MAAR_CORE_MEMORY_ARENA_SET_H

#include <stddef.h>

#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"

/* The largest number of arenas in a set. If more threads meet, they share these arenas. */
enum { MAAR_ARENAS = 16 };

/* The number of threads that an allocator remembers. Any other thread gets an arena by its hash. */
enum { MAAR_KNOWN_THREADS = 64 };

/* A thread that has met another thread, and the number, plus one, of the arenas that it uses. The
 * thread alone writes the number, and the last visit for which it has left an arena. */
struct maar_known_thread {
    maar_atomic64 tag;
    maar_atomic32 arena;
    maar_atomic32 left_for;
};

/* The threads of an allocator that have met another thread. */
struct maar_known_threads {
    maar_atomic32 count;
    maar_atomic32 visitor_count; /* see maar_visit_begin */
    maar_atomic32 last_visit;
    struct maar_known_thread threads[MAAR_KNOWN_THREADS];
};

/* The arenas of one pool, or of the slices. */
struct maar_arena_set {
    maar_atomic32 count;
    maar_atomic_pointer arenas[MAAR_ARENAS]; /* the first always exists */
    struct maar_mutex lock;                  /* held while an arena is added */
};

/* Returns an arena by its number, or NULL while the set has no arena of this number. */
static inline void* maar_arena_set_at(const struct maar_arena_set* set, uint32_t number)
{
    return maar_atomic_pointer_load(&set->arenas[number]);
}

/* Returns the first arena at or after a number, or NULL at the end. Start with 0, then pass the
 * number of the last arena plus one. */
static inline void* maar_arena_set_next(const struct maar_arena_set* set, uint32_t number)
{
    void* arena = NULL;
    for (; number < MAAR_ARENAS && arena == NULL; ++number) {
        arena = maar_arena_set_at(set, number);
    }
    return arena;
}

/* Whether the set has more than one arena. */
static inline bool maar_arena_set_is_divided(const struct maar_arena_set* set)
{
    return maar_atomic32_load(&set->count) > 1;
}

/* Locks the first arena if it is the only arena and is unlocked. Returns whether the arena is now
 * locked. This usual case is inline. Otherwise call maar_arena_set_enter_own. */
static inline bool maar_arena_set_try_first(const struct maar_arena_set* set,
                                            struct maar_mutex* first)
{
    return !maar_arena_set_is_divided(set) && maar_mutex_try_lock(first);
}

/* Initializes a set with its first arena. Returns false when the system has no room for a mutex. */
bool maar_arena_set_init(struct maar_arena_set* set, void* first, enum maar_lock_rank rank,
                         bool synchronized);
/* Destroys the set's lock. The arenas belong to the caller. */
void maar_arena_set_destroy(struct maar_arena_set* set);

/* Called when maar_arena_set_try_first fails. Locks and returns the arena of this thread. Returns
 * NULL when this thread needs a new arena with the number *number. The caller then makes an arena,
 * passes it to maar_arena_set_add, and locks the arena that maar_arena_set_add returns. If there is
 * no host memory, the caller locks the first arena. */
void* maar_arena_set_enter_own(struct maar_arena_set* set, struct maar_known_threads* threads,
                               uint32_t* number);
/* Adds an arena, unless another thread has added an arena of the same number. Returns the arena
 * that has the number now. */
void* maar_arena_set_add(struct maar_arena_set* set, uint32_t number, void* arena);

/* Returns the number that this thread's arenas have in all sets, below MAAR_ARENAS. A thread gets
 * its number when it first meets another thread. */
uint32_t maar_thread_arena(struct maar_known_threads* threads);

/* Returns the number of a thread that has one, or MAAR_ARENAS. */
uint32_t maar_known_thread_arena(const struct maar_known_threads* threads);

/* Between these calls some threads work in the arenas of others, and hold a lock for longer than an
 * allocation does. A thread that finds its arena locked meanwhile leaves it to them and gets a new
 * number, once for each visit. It adopts the blocks that it needs (arena_adopt.h). Calls of both
 * may overlap. The thread that begins gets a number itself. */
void maar_visit_begin(struct maar_known_threads* threads);
void maar_visit_end(struct maar_known_threads* threads);

/* Allocates host memory for a placement that lacks it. Called under the owner's lock, which is
 * released for a time. The owner keeps the placement alive during that time, and places again
 * afterwards. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement);

#endif
