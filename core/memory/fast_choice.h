/*
 * Remembers which default pool serves a request, by what decides that: the required flags, the
 * usage, the kind and the memory types that the request allows. The fast path of an allocation then
 * needs no ranking of types. An entry is written once and then only read, without a lock, since
 * neither rankings nor default pools change while the allocator exists.
 */
#ifndef MAAR_CORE_MEMORY_FAST_CHOICE_H
#define MAAR_CORE_MEMORY_FAST_CHOICE_H

#include "core/port_atomic.h"
#include "maar/allocator.h"

/* The number of choices that are kept. Programs have a few: one for each usage and each set of
 * memory types that their resources allow. */
enum { MAAR_FAST_CHOICES = 32 };

struct maar_pool;

struct maar_fast_choice {
    maar_atomic_pointer pool; /* NULL until the entry is complete */
    maar_atomic32 taken;      /* whether a thread has begun to write the entry */
    uint32_t placement_kind;  /* the kind for the pool's placements */
    /* a request of this alignment or more is placed as it is, bytes */
    VkDeviceSize least_alignment;
    uint64_t flags_and_types; /* this and the next member are the request */
    uint64_t usage_and_kind;
};

/* Returns the entry in which the choice for a request is kept. The members of the info that are not
 * part of the request have their default values. */
static inline struct maar_fast_choice* maar_fast_choice_at(struct maar_fast_choice* choices,
                                                           uint64_t flags_and_types,
                                                           uint64_t usage_and_kind)
{
    const uint64_t mixed = flags_and_types + usage_and_kind * 37;
    return &choices[(mixed * 0x9E3779B97F4A7C15u) >> 59];
}
_Static_assert(MAAR_FAST_CHOICES == 1 << (64 - 59), "the hash names an entry");

static inline uint64_t maar_fast_flags_and_types(const MaarMemoryRequest* request,
                                                 const MaarAllocationCreateInfo* info)
{
    return (uint64_t)request->requirements.memoryTypeBits << 32 | info->requiredFlags;
}

static inline uint64_t maar_fast_usage_and_kind(const MaarMemoryRequest* request,
                                                const MaarAllocationCreateInfo* info)
{
    return (uint64_t)(uint32_t)request->kind << 32 | (uint32_t)info->usage;
}

/* Returns the choice for a request, or NULL if none is kept. */
static inline const struct maar_fast_choice*
maar_fast_choice_find(struct maar_fast_choice* choices, const MaarMemoryRequest* request,
                      const MaarAllocationCreateInfo* info)
{
    const uint64_t flags_and_types = maar_fast_flags_and_types(request, info);
    const uint64_t usage_and_kind = maar_fast_usage_and_kind(request, info);
    const struct maar_fast_choice* choice =
        maar_fast_choice_at(choices, flags_and_types, usage_and_kind);
    return maar_atomic_pointer_load(&choice->pool) != NULL &&
                   choice->flags_and_types == flags_and_types &&
                   choice->usage_and_kind == usage_and_kind
               ? choice
               : NULL;
}

/* Keeps a default pool that serves a request, unless the entry of the request has another choice.
 */
void maar_fast_choice_keep(struct maar_fast_choice* choices, const MaarMemoryRequest* request,
                           const MaarAllocationCreateInfo* info, struct maar_pool* pool);

#endif
