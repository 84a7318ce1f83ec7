/*
 * Made-up inputs; see plan_made.h.
 */
#include "tests/plan/plan_made.h"

#include "tests/plan/plan_world.h"

static uint32_t made_draw(const struct plan_source* source, uint32_t limit)
{
    return (uint32_t)source->draw(source->context, limit);
}

static bool made_one_in(const struct plan_source* source, uint32_t number)
{
    return made_draw(source, number) == number - 1;
}

/*
 * Passes of up to three queues, and orders between them. The passes are thought of as running in
 * the order of `places`; numbered either in that order, or queue by queue, so that orders go back
 * too.
 */
static void made_add_passes(struct plan_made* made, const struct plan_source* source)
{
    uint32_t numbers[PLAN_MADE_MAX_PASSES];
    uint32_t queues[PLAN_MADE_MAX_PASSES];
    const uint32_t count = 1 + made_draw(source, PLAN_MADE_MAX_PASSES);
    const uint32_t queue_count = 1 + made_draw(source, 3);
    const bool by_queue = made_draw(source, 2) != 0;
    uint32_t next = 0;
    for (uint32_t place = 0; place < count; ++place) {
        queues[place] = made_draw(source, queue_count);
        numbers[place] = place;
    }
    for (uint32_t queue = 0; queue < queue_count && by_queue; ++queue) {
        for (uint32_t place = 0; place < count; ++place) {
            if (queues[place] == queue) {
                numbers[place] = next++;
            }
        }
    }
    for (uint32_t place = 0; place < count; ++place) {
        made->queues[numbers[place]] = 7 * queues[place];
    }
    made->info.passCount = count;
    made->info.pPassQueues = made->queues;
    made->info.pDependencies = made->dependencies;
    made->info.dependencyCount = count > 1 ? made_draw(source, PLAN_MADE_MAX_DEPENDENCIES + 1) : 0;
    for (uint32_t i = 0; i < made->info.dependencyCount; ++i) {
        const uint32_t before = made_draw(source, count - 1);
        const uint32_t after = before + 1 + made_draw(source, count - before - 1);
        made->dependencies[i] = (MaarPlanDependency){numbers[before], numbers[after]};
    }
}

static void made_add_lifetime(struct plan_made* made, const struct plan_source* source,
                              uint32_t index)
{
    MaarPlanResource* const resource = &made->resources[index];
    const uint32_t passes = made->info.passCount != 0 ? made->info.passCount : PLAN_MADE_MAX_PASSES;
    if (made->info.pPassQueues != NULL || made_one_in(source, 8)) {
        resource->useCount = 1 + made_draw(source, PLAN_MADE_MAX_USES);
        resource->pUses = made->uses[index];
        for (uint32_t i = 0; i < resource->useCount; ++i) {
            made->uses[index][i] = made_draw(source, passes);
        }
        return;
    }
    const uint32_t length = made_draw(source, made_one_in(source, 4) ? passes : 4);
    resource->firstPass = made_draw(source, passes);
    resource->lastPass = resource->firstPass + length;
    resource->lastPass = resource->lastPass < passes ? resource->lastPass : passes - 1;
}

static void made_add_resource(struct plan_made* made, const struct plan_source* source,
                              uint32_t index, uint32_t variety)
{
    static const uint64_t alignments[] = {0, 1, 2, 3, 4, 6, 8, 16};
    static const uint32_t types[] = {0, 3, 1, 2, 6, 8};
    MaarPlanResource* const resource = &made->resources[index];
    const uint32_t unit = (variety & 1u) != 0 ? 1 : 4;
    resource->size = (uint64_t)unit * (1 + made_draw(source, 20));
    resource->alignment = (variety & 2u) != 0 ? alignments[made_draw(source, 8)] : 0;
    resource->kind =
        (variety & 4u) != 0 ? (MaarResourceKind)made_draw(source, 3) : MAAR_RESOURCE_KIND_UNKNOWN;
    resource->memoryTypeBits = (variety & 8u) != 0 ? types[made_draw(source, 6)] : 0;
    made_add_lifetime(made, source, index);
    if ((variety & 16u) != 0 && made_one_in(source, 8)) {
        resource->flags |= MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
    }
    if ((variety & 32u) != 0 && made_one_in(source, 4)) {
        const uint64_t alignment = resource->alignment != 0 ? resource->alignment : 1;
        resource->flags |= MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
        resource->fixedOffset = alignment * made_draw(source, 24);
    }
}

/* Fixed offsets that are in each other's way would be refused: frees the later one. */
static void made_part_fixed(struct plan_made* made)
{
    struct plan_world world;
    plan_world_open(&world, &made->info);
    for (uint32_t i = 0; i < made->info.resourceCount; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            const MaarPlanResource* const other = &made->resources[j];
            MaarPlanResource* const resource = &made->resources[i];
            const struct plan_range one = plan_world_reach(&world, i, j, resource->fixedOffset);
            const struct plan_range two = plan_world_reach(&world, j, i, other->fixedOffset);
            if ((other->flags & resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0 &&
                plan_world_meet(&world, i, j) && one.begin < two.end && two.begin < one.end) {
                resource->flags &= ~(MaarPlanResourceFlags)MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
            }
        }
    }
    plan_world_close(&world);
}

void plan_made_fill(struct plan_made* made, const struct plan_source* source,
                    uint32_t max_resources)
{
    static const uint64_t granularities[] = {0, 1, 4, 8, 16, 64};
    *made = (struct plan_made){.info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO}};
    const uint32_t variety = made_draw(source, 64);
    made->info.granularity = (variety & 4u) != 0 ? granularities[made_draw(source, 6)] : 0;
    made->info.resourceCount = made_draw(source, max_resources + 1);
    made->info.pResources = made->resources;
    if (made_draw(source, 2) != 0) {
        made_add_passes(made, source);
    }
    for (uint32_t i = 0; i < made->info.resourceCount; ++i) {
        made_add_resource(made, source, i, variety);
    }
    made_part_fixed(made);
}

static uint64_t draw_seeded(void* context, uint64_t limit)
{
    uint64_t* const state = context;
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % limit;
}

struct plan_source plan_source_seeded(uint64_t* state)
{
    return (struct plan_source){draw_seeded, state};
}
