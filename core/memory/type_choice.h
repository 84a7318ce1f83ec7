/*
 * The choice of a memory type: the order of preference of memory types for a request. The slow path
 * of an allocation and the public choose function come here. Rankings are kept in a table without a
 * lock: each is written once.
 */
#ifndef MAAR_CORE_MEMORY_TYPE_CHOICE_H
#define MAAR_CORE_MEMORY_TYPE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/chain.h"
#include "core/device.h"
#include "core/port_atomic.h"
#include "maar/allocator.h"

enum maar_ranking_state {
    MAAR_RANKING_UNUSED = 0,
    MAAR_RANKING_TAKEN = 1,   /* being written */
    MAAR_RANKING_COMPLETE = 2 /* never changed again */
};

/* Memory types in order of preference for one kind of request. */
struct maar_ranking {
    maar_atomic32 state;
    uint32_t rest;
    uint64_t flags; /* flags and rest are the request */
    uint32_t count;
    uint8_t types[VK_MAX_MEMORY_TYPES];
};

/* The number of rankings that are kept. Programs have few: one for each usage and set of flags. */
enum { MAAR_RANKINGS = 32 };

/* The rankings that an allocator keeps. */
struct maar_rankings {
    uint32_t ordinary_types; /* those that a request need not ask for */
    struct maar_ranking rankings[MAAR_RANKINGS];
};

/* Types in order of preference. A request may use those among `bits`. */
struct maar_type_choice {
    uint32_t bits;
    uint32_t count;
    const uint8_t* types; /* in `own`, or in a ranking that exists as long as the allocator */
    uint8_t own[VK_MAX_MEMORY_TYPES];
};

/* The parts of a create info that decide the order of types. */
struct maar_type_request {
    uint64_t flags;
    uint32_t rest;
    uint32_t home; /* the place where the search for its ranking begins */
};

/* Whether a create info names memory types: all bits stand for any type, as none do. */
static inline bool maar_names_types(const MaarAllocationCreateInfo* info)
{
    return info->memoryTypeBits != 0 && info->memoryTypeBits != UINT32_MAX;
}

/* Returns the order of types that a chain names, or NULL. */
static inline const MaarMemoryTypeOrderInfo* maar_type_order(const MaarAllocationCreateInfo* info)
{
    return info->pNext != NULL
               ? maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_MEMORY_TYPE_ORDER_INFO)
               : NULL;
}

/* Whether a request may use the types that are not ordinary: by its flag, or since it names no
 * other type. */
static inline bool maar_asks_for_avoided(const struct maar_rankings* rankings,
                                         const MaarAllocationCreateInfo* info)
{
    return (info->flags & MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT) != 0 ||
           (maar_names_types(info) && (info->memoryTypeBits & rankings->ordinary_types) == 0);
}

/* Returns the parts of a create info that decide the order of types. */
static inline struct maar_type_request maar_type_request_of(const struct maar_rankings* rankings,
                                                            const MaarAllocationCreateInfo* info)
{
    struct maar_type_request key;
    const uint32_t mapped = info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    key.flags = (uint64_t)info->preferredFlags << 32 | info->requiredFlags;
    key.rest = (uint32_t)info->usage << 2 | (mapped != 0 ? 2u : 0u) |
               (maar_asks_for_avoided(rankings, info) ? 1u : 0u);
    key.home = (key.rest * 5 + info->requiredFlags + info->preferredFlags * 3) % MAAR_RANKINGS;
    return key;
}

/* Whether a ranking is complete and was made for this request. */
static inline bool maar_ranking_is_of(const struct maar_ranking* ranking,
                                      const struct maar_type_request* key)
{
    return maar_atomic32_load_acquire(&ranking->state) == MAAR_RANKING_COMPLETE &&
           ranking->flags == key->flags && ranking->rest == key->rest;
}

/* Returns the ranking that is kept for a request, and makes it if there is room for one more; NULL
 * if there is no room. A ranking depends on nothing that changes, so it is written once and then
 * only read. */
const struct maar_ranking* maar_ranking_search(struct maar_rankings* rankings,
                                               const struct maar_device_facts* facts,
                                               const MaarAllocationCreateInfo* info,
                                               const struct maar_type_request* key);
/* Returns the ranking of a request: the usual place first, then maar_ranking_search. */
static inline const struct maar_ranking* maar_ranking_find(struct maar_rankings* rankings,
                                                           const struct maar_device_facts* facts,
                                                           const MaarAllocationCreateInfo* info)
{
    const struct maar_type_request key = maar_type_request_of(rankings, info);
    const struct maar_ranking* ranking = &rankings->rankings[key.home];
    return maar_ranking_is_of(ranking, &key) ? ranking
                                             : maar_ranking_search(rankings, facts, info, &key);
}

/* Returns the preferred type of a ranking among some types; VK_MAX_MEMORY_TYPES if none of them
 * serves. */
static inline uint32_t maar_ranking_first(const struct maar_ranking* ranking, uint32_t bits)
{
    for (uint32_t i = 0; i < ranking->count; ++i) {
        if ((bits & (1u << ranking->types[i])) != 0) {
            return ranking->types[i];
        }
    }
    return VK_MAX_MEMORY_TYPES;
}

/* Ranks the types. Returns false when no type serves. The choice must not be moved in memory
 * afterwards. */
bool maar_choose_types(MaarAllocator allocator, uint32_t type_bits,
                       const MaarAllocationCreateInfo* info, struct maar_type_choice* choice);
/* Does what maarChooseMemoryType does, for a call that messages name. */
VkResult maar_choose_memory_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                                 const MaarAllocationCreateInfo* info, MaarMemoryTypeChoice* out);
/* Reports that no type serves. */
void maar_report_no_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                         const MaarAllocationCreateInfo* info);
/* Returns the preferred type of a choice that has one. */
static inline uint32_t maar_best_type(const struct maar_type_choice* choice)
{
    const uint8_t* type = choice->types;
    while ((choice->bits & (1u << *type)) == 0) {
        ++type;
    }
    return *type;
}
/* Returns the types of a choice that the request may use. */
static inline uint32_t maar_candidate_bits(const struct maar_type_choice* choice)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < choice->count; ++i) {
        bits |= choice->bits & (1u << choice->types[i]);
    }
    return bits;
}
/* Returns whether a type may be used: false for types whose feature is not enabled. */
bool maar_type_is_usable(const struct maar_device_facts* facts, uint32_t type);
/* Returns the types that a request need not ask for: neither avoided nor lazily allocated. */
uint32_t maar_ordinary_types(const VkPhysicalDeviceMemoryProperties* memory);
/* Returns the types that are chosen only when a request asks for them. */
uint32_t maar_avoided_types(const VkPhysicalDeviceMemoryProperties* memory);

#endif
