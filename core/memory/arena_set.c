/*
 * Decides which arena a thread uses: see arena_set.h.
 */
#include "core/memory/arena_set.h"

#include "core/host_memory.h"

bool maar_arena_set_init(struct maar_arena_set* set, void* first, enum maar_lock_rank rank,
                         bool synchronized)
{
    if (!maar_mutex_init(&set->lock, rank, synchronized)) {
        return false;
    }
    maar_atomic_pointer_store(&set->arenas[0], first);
    maar_atomic32_store(&set->count, 1);
    return true;
}

void maar_arena_set_destroy(struct maar_arena_set* set)
{
    maar_mutex_destroy(&set->lock);
}

/* Returns a number that no other thread has at the same time. */
static uint64_t arena_tag(void)
{
    static _Thread_local const char here = 0;
    return (uint64_t)(uintptr_t)&here;
}

/* Returns where the search for a thread in the table begins. */
static uint32_t arena_hash(uint64_t tag)
{
    return (uint32_t)((tag * 0x9E3779B97F4A7C15u) >> 40);
}

uint32_t maar_known_thread_arena(const struct maar_known_threads* threads)
{
    const uint64_t tag = arena_tag();
    const uint32_t hash = arena_hash(tag);
    for (uint32_t i = 0; i < MAAR_KNOWN_THREADS; ++i) {
        const struct maar_known_thread* thread = &threads->threads[(hash + i) % MAAR_KNOWN_THREADS];
        const uint64_t known = maar_atomic64_load(&thread->tag);
        if (known == 0) {
            return MAAR_ARENAS;
        }
        if (known == tag) {
            const uint32_t arena = maar_atomic32_load(&thread->arena);
            return arena != 0 ? arena - 1 : MAAR_ARENAS;
        }
    }
    return hash % MAAR_ARENAS;
}

/* Threads get numbers in the order of their first calls of this function. Nothing is done when a
 * thread ends: other threads use the memory in its arenas, and several threads may share a
 * number. */
uint32_t maar_thread_arena(struct maar_known_threads* threads)
{
    const uint64_t tag = arena_tag();
    const uint32_t hash = arena_hash(tag);
    for (uint32_t i = 0; i < MAAR_KNOWN_THREADS; ++i) {
        struct maar_known_thread* thread = &threads->threads[(hash + i) % MAAR_KNOWN_THREADS];
        uint64_t known = maar_atomic64_load(&thread->tag);
        if (known == 0 && maar_atomic64_claim(&thread->tag, tag)) {
            const uint32_t number = maar_atomic32_add(&threads->count, 1) - 1u;
            maar_atomic32_store(&thread->arena, number % MAAR_ARENAS + 1);
            return number % MAAR_ARENAS;
        }
        known = maar_atomic64_load(&thread->tag);
        if (known == tag) {
            const uint32_t arena = maar_atomic32_load(&thread->arena);
            return arena != 0 ? arena - 1 : 0;
        }
    }
    return hash % MAAR_ARENAS;
}

void* maar_arena_set_enter_own(struct maar_arena_set* set, struct maar_known_threads* threads,
                               uint32_t* number)
{
    *number = maar_thread_arena(threads);
    void* own = maar_arena_set_at(set, *number);
    void* first = maar_arena_set_at(set, 0);
    if (own != NULL) {
        maar_mutex_lock(own);
        return own;
    }
    /* Other threads have met in this set. This thread uses the first arena if it is unlocked. */
    return maar_arena_set_is_divided(set) && maar_mutex_try_lock(first) ? first : NULL;
}

void* maar_arena_set_add(struct maar_arena_set* set, uint32_t number, void* arena)
{
    maar_mutex_lock(&set->lock);
    void* known = maar_arena_set_at(set, number);
    if (known == NULL) {
        known = arena;
        maar_atomic_pointer_store(&set->arenas[number], arena);
        (void)maar_atomic32_add(&set->count, 1);
    }
    maar_mutex_unlock(&set->lock);
    return known;
}

VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement)
{
    size_t wanted = maar_placement_storage_wanted(placement);
    maar_mutex_unlock(lock);
    void* memory = maar_host_alloc(callbacks, wanted);
    maar_mutex_lock(lock);
    if (memory == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    void* old = maar_placement_storage_give(placement, memory, wanted);
    maar_mutex_unlock(lock);
    maar_host_free(callbacks, old);
    maar_mutex_lock(lock);
    return VK_SUCCESS;
}
