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

/* Returns a thread's place in the table, with its number, or NULL if the table is full. Threads get
 * numbers in the order of their first calls of this function. Nothing is done when a thread ends:
 * other threads use the memory in its arenas, and several threads may share a number. */
static struct maar_known_thread* know_thread(struct maar_known_threads* threads, uint64_t tag)
{
    const uint32_t hash = arena_hash(tag);
    for (uint32_t i = 0; i < MAAR_KNOWN_THREADS; ++i) {
        struct maar_known_thread* thread = &threads->threads[(hash + i) % MAAR_KNOWN_THREADS];
        const uint64_t known = maar_atomic64_load(&thread->tag);
        if (known == 0 && maar_atomic64_claim(&thread->tag, tag)) {
            const uint32_t number = maar_atomic32_add(&threads->count, 1) - 1u;
            maar_atomic32_store(&thread->arena, number % MAAR_ARENAS + 1);
            return thread;
        }
        if (maar_atomic64_load(&thread->tag) == tag) {
            return thread;
        }
    }
    return NULL;
}

static uint32_t number_of(const struct maar_known_thread* thread, uint64_t tag)
{
    if (thread == NULL) {
        return arena_hash(tag) % MAAR_ARENAS;
    }
    const uint32_t arena = maar_atomic32_load(&thread->arena);
    return arena != 0 ? arena - 1 : 0;
}

uint32_t maar_thread_arena(struct maar_known_threads* threads)
{
    const uint64_t tag = arena_tag();
    return number_of(know_thread(threads, tag), tag);
}

void maar_visit_begin(struct maar_known_threads* threads)
{
    (void)maar_thread_arena(threads);
    (void)maar_atomic32_add(&threads->last_visit, 1);
    (void)maar_atomic32_add(&threads->visitor_count, 1);
}

void maar_visit_end(struct maar_known_threads* threads)
{
    (void)maar_atomic32_add(&threads->visitor_count, UINT32_MAX);
}

/* Gives a thread a new number, if there is a visit for which it has not got one. Returns whether it
 * did. */
static bool leave_for_visitor(struct maar_known_threads* threads, struct maar_known_thread* thread)
{
    const uint32_t visit = maar_atomic32_load(&threads->last_visit);
    if (thread == NULL || maar_atomic32_load(&threads->visitor_count) == 0 ||
        maar_atomic32_load(&thread->left_for) == visit) {
        return false;
    }
    maar_atomic32_store(&thread->left_for, visit);
    const uint32_t number = maar_atomic32_add(&threads->count, 1) - 1u;
    maar_atomic32_store(&thread->arena, number % MAAR_ARENAS + 1);
    return true;
}

void* maar_arena_set_enter_own(struct maar_arena_set* set, struct maar_known_threads* threads,
                               uint32_t* number)
{
    const uint64_t tag = arena_tag();
    struct maar_known_thread* thread = know_thread(threads, tag);
    *number = number_of(thread, tag);
    void* own = maar_arena_set_at(set, *number);
    if (own != NULL && maar_mutex_try_lock(own)) {
        return own;
    }
    if (own != NULL && leave_for_visitor(threads, thread)) {
        *number = number_of(thread, tag);
        own = maar_arena_set_at(set, *number);
    }
    if (own != NULL) {
        maar_mutex_lock(own);
        return own;
    }
    /* Other threads have met in this set. This thread uses the first arena if it is unlocked. */
    void* first = maar_arena_set_at(set, 0);
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
