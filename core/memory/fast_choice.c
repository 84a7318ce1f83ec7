/*
 * Writes the entries of fast choices: see fast_choice.h.
 */
#include "core/memory/fast_choice.h"

#include "core/memory/arena_place.h"

void maar_fast_choice_keep(struct maar_fast_choice* choices, const MaarMemoryRequest* request,
                           const MaarAllocationCreateInfo* info, struct maar_pool* pool)
{
    const uint64_t flags_and_types = maar_fast_flags_and_types(request, info);
    const uint64_t usage_and_kind = maar_fast_usage_and_kind(request, info);
    struct maar_fast_choice* choice = maar_fast_choice_at(choices, flags_and_types, usage_and_kind);
    if (pool->fast_size == 0 || maar_atomic32_load(&choice->taken) != 0 ||
        !maar_atomic32_claim(&choice->taken, 1)) {
        return;
    }
    choice->placement_kind = maar_placement_kind(pool, request->kind);
    choice->least_alignment = request->kind == MAAR_RESOURCE_KIND_UNKNOWN ? pool->granularity : 1;
    choice->flags_and_types = flags_and_types;
    choice->usage_and_kind = usage_and_kind;
    maar_atomic_pointer_store(&choice->pool, pool);
}
