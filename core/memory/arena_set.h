/*
 * Which arena a thread uses. An arena is a part of something that threads share, under a lock of
 * its own: a part of a pool, or of the slices.
 *
 * A set begins with one arena, and all threads use it. A thread that finds it locked by another
 * one gets an arena of its own and keeps to it. So a program of one thread, or of threads that
 * never meet, has a single arena. Each arena begins with its mutex.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_SET_H
#define MAAR_CORE_MEMORY_ARENA_SET_H

#include <stddef.h>

#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"

/* Arenas that a set may have. Further threads share them. */
enum { MAAR_ARENAS = 16 };

/* Threads that an allocator remembers; others get the arena that their hash says. */
enum { MAAR_KNOWN_THREADS = 64 };

/* A thread that has met another one, and the number of its arenas plus one. */
struct maar_known_thread {
    maar_atomic64 tag;
    maar_atomic32 arena;
};

struct maar_known_threads {
    maar_atomic32 count;
    struct maar_known_thread threads[MAAR_KNOWN_THREADS];
};

struct maar_arena_set {
    maar_atomic32 count;
    maar_atomic_pointer arenas[MAAR_ARENAS]; /* the first always exists */
    struct maar_mutex lock;                  /* guards which arenas exist */
};

/* NULL while the set has no arena of that number. */
static inline void* maar_arena_set_at(const struct maar_arena_set* set, uint32_t number)
{
    return maar_atomic_pointer_load(&set->arenas[number]);
}

/* The next arena of a set from a number on, or NULL at the end. Start with 0 and go on with the
 * number of the last one plus one. */
static inline void* maar_arena_set_next(const struct maar_arena_set* set, uint32_t number)
{
    void* arena = NULL;
    for (; number < MAAR_ARENAS && arena == NULL; ++number) {
        arena = maar_arena_set_at(set, number);
    }
    return arena;
}

static inline bool maar_arena_set_is_divided(const struct maar_arena_set* set)
{
    return maar_atomic32_load(&set->count) > 1;
}

/* Whether the first arena is the only one and free; it is locked then. The usual case, in line:
 * otherwise maar_arena_set_enter_own has the answer. */
static inline bool maar_arena_set_try_first(const struct maar_arena_set* set,
                                            struct maar_mutex* first)
{
    return !maar_arena_set_is_divided(set) && maar_mutex_try_lock(first);
}

/* The first arena is the only one to begin with. False when the system has no room for a mutex. */
bool maar_arena_set_init(struct maar_arena_set* set, void* first, enum maar_lock_rank rank,
                         bool synchronized);
void maar_arena_set_destroy(struct maar_arena_set* set);

/* Locks the arena of this thread and returns it, where threads have met or meet now. Returns NULL
 * when this thread is to get an arena of *number first: its caller makes one, hands it to
 * maar_arena_set_add and locks what that returns, or the first arena if none can be made. */
void* maar_arena_set_enter_own(struct maar_arena_set* set, struct maar_known_threads* threads,
                               uint32_t* number);
/* Adds an arena unless another thread was faster. Returns the arena of that number. */
void* maar_arena_set_add(struct maar_arena_set* set, uint32_t number, void* arena);

/* The number of this thread's arenas, below MAAR_ARENAS. For threads that have met another one. */
uint32_t maar_thread_arena(struct maar_known_threads* threads);

/* Brings storage to a placement that lacks it. The lock of its owner is held; it is released and
 * held again. The owner keeps the placement alive meanwhile, and looks again afterwards.
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement);

#endif
