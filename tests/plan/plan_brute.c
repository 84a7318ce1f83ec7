/*
 * Exhaustive search; see plan_brute.h.
 *
 * Resources are put down one after another, each at the lowest offset that those with fixed offsets
 * and those already down leave to it, holes included, and never below the one before. All orders
 * are tried. That reaches the least peak: of the placements with the least peak take one whose
 * offsets have the least sum, and its resources without fixed offsets by rising offset. If one of
 * them could lie lower, given the fixed ones and those before it, moving it there would meet none
 * of those after it either, since they begin at or above its old end where they must be apart; and
 * the sum would be less. So each lies at the lowest offset, and the order is one of those tried.
 */
#include "tests/plan/plan_brute.h"

struct brute {
    const struct plan_world* world;
    const uint32_t* members;
    uint64_t offsets[PLAN_BRUTE_MAX];
    uint32_t count;
    uint32_t placed; /* a bit a member */
    uint64_t best;   /* the least peak so far */
    uint64_t least;  /* none can be below */
    uint64_t steps;  /* left */
};

static const MaarPlanResource* brute_resource(const struct brute* brute, uint32_t member)
{
    return &brute->world->info->pResources[brute->members[member]];
}

/* The end of a placed member that is in the way of another one at an offset; 0 when none is. */
static uint64_t brute_obstacle(const struct brute* brute, uint32_t member, uint64_t offset)
{
    for (uint32_t i = 0; i < brute->count; ++i) {
        const uint32_t one = brute->members[member];
        const uint32_t two = brute->members[i];
        if ((brute->placed >> i & 1u) == 0 || !plan_world_meet(brute->world, one, two)) {
            continue;
        }
        const struct plan_range range = plan_world_reach(brute->world, one, two, offset);
        const struct plan_range other = plan_world_reach(brute->world, two, one, brute->offsets[i]);
        if (range.begin < other.end && other.begin < range.end) {
            return other.end;
        }
    }
    return 0;
}

static uint64_t brute_lowest(const struct brute* brute, uint32_t member)
{
    const uint64_t given = brute_resource(brute, member)->alignment;
    const uint64_t alignment = given != 0 ? given : 1;
    uint64_t offset = 0;
    for (uint64_t end = 0; (end = brute_obstacle(brute, member, offset)) != 0;) {
        offset = (end + alignment - 1) / alignment * alignment;
    }
    return offset;
}

static void brute_search(struct brute* brute, uint64_t floor, uint64_t peak)
{
    if (brute->placed == (1u << brute->count) - 1) {
        brute->best = peak;
        return;
    }
    for (uint32_t i = 0; i < brute->count; ++i) {
        if ((brute->placed >> i & 1u) != 0 || brute->steps == 0 || brute->best == brute->least) {
            continue;
        }
        --brute->steps;
        const uint64_t offset = brute_lowest(brute, i);
        const uint64_t end = offset + brute_resource(brute, i)->size;
        const uint64_t top = end > peak ? end : peak;
        if (offset < floor || top >= brute->best) {
            continue;
        }
        brute->placed |= 1u << i;
        brute->offsets[i] = offset;
        brute_search(brute, offset, top);
        brute->placed &= ~(1u << i);
    }
}

uint64_t plan_brute_size(const struct plan_world* world, const uint32_t* members, uint32_t count,
                         uint64_t steps)
{
    struct brute brute = {
        .world = world, .members = members, .count = count, .best = UINT64_MAX, .steps = steps};
    uint64_t peak = 0;
    plan_world_heaviest(world, members, count, &brute.least);
    for (uint32_t i = 0; i < count; ++i) {
        const MaarPlanResource* const resource = brute_resource(&brute, i);
        if ((resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0) {
            brute.placed |= 1u << i;
            brute.offsets[i] = resource->fixedOffset;
            peak = resource->fixedOffset + resource->size > peak
                       ? resource->fixedOffset + resource->size
                       : peak;
        }
    }
    brute_search(&brute, 0, peak);
    return brute.steps == 0 ? UINT64_MAX : brute.best;
}
