/*
 * The checker of plans; see plan_checker.h.
 */
#include "tests/plan/plan_checker.h"

#include "tests/plan/plan_paths.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan_check {
    const MaarPlanCreateInfo* info;
    const struct plan_answer* answer;
    struct plan_world world;
    uint32_t* members; /* of one class */
    uint32_t member_count;
    bool* edges; /* pairs that must have an edge, a row a resource */
    bool* wrap_edges;
    char* reason;
    size_t size;
};

/* Keeps the reason; returns false. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
check_fail(const struct plan_check* check, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->reason, check->size, format, arguments);
    va_end(arguments);
    return false;
}

static const MaarPlanResource* check_resource(const struct plan_check* check, uint32_t index)
{
    return &check->info->pResources[index];
}

static bool check_is_apart(const struct plan_check* check, uint32_t index)
{
    return (check_resource(check, index)->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
}

/* The members of a class. */
static void check_gather(struct plan_check* check, uint32_t class_index)
{
    check->member_count = 0;
    for (uint32_t i = 0; i < check->info->resourceCount; ++i) {
        if (check->answer->placements[i].classIndex == class_index) {
            check->members[check->member_count++] = i;
        }
    }
}

static bool check_is_mixed(const struct plan_check* check)
{
    for (uint32_t i = 1; i < check->member_count; ++i) {
        if (check_resource(check, check->members[i])->kind !=
            check_resource(check, check->members[0])->kind) {
            return true;
        }
    }
    return false;
}

static bool check_placements(struct plan_check* check)
{
    const struct plan_answer* const answer = check->answer;
    if (answer->placement_count != check->info->resourceCount) {
        return check_fail(check, "%" PRIu32 " placements", answer->placement_count);
    }
    for (uint32_t i = 0; i < answer->placement_count; ++i) {
        const MaarPlanResource* const resource = check_resource(check, i);
        const MaarPlanPlacement* const placement = &answer->placements[i];
        const uint64_t alignment = resource->alignment != 0 ? resource->alignment : 1;
        if (placement->classIndex >= answer->class_count) {
            return check_fail(check, "resource %" PRIu32 " is in no class", i);
        }
        if (placement->offset % alignment != 0) {
            return check_fail(check, "resource %" PRIu32 " is misaligned", i);
        }
        if ((resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0 &&
            placement->offset != resource->fixedOffset) {
            return check_fail(check, "resource %" PRIu32 " is not at its fixed offset", i);
        }
    }
    return true;
}

static bool check_overlaps(struct plan_check* check)
{
    const MaarPlanPlacement* const placements = check->answer->placements;
    for (uint32_t i = 0; i < check->info->resourceCount; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            const struct plan_range one =
                plan_world_reach(&check->world, i, j, placements[i].offset);
            const struct plan_range two =
                plan_world_reach(&check->world, j, i, placements[j].offset);
            if (placements[i].classIndex == placements[j].classIndex &&
                plan_world_meet(&check->world, i, j) && one.begin < two.end &&
                two.begin < one.end) {
                return check_fail(
                    check, "resources %" PRIu32 " and %" PRIu32 " share %s and may not", j, i,
                    check_resource(check, i)->kind == check_resource(check, j)->kind ? "bytes"
                                                                                     : "a granule");
            }
        }
    }
    return true;
}

static uint64_t check_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The least common multiple of the alignments, and of the granularity where kinds are mixed; 0 when
 * that says no more than the greatest of offsets. */
static uint64_t check_alignment(const struct plan_check* check)
{
    uint64_t sum =
        check_is_mixed(check) && check->info->granularity > 1 ? check->info->granularity : 1;
    for (uint32_t i = 0; i < check->member_count; ++i) {
        const uint64_t alignment = check_resource(check, check->members[i])->alignment;
        const uint64_t one = alignment != 0 ? alignment : 1;
        const uint64_t factor = one / check_divisor(sum, one);
        if (sum > MAAR_PLAN_MAX_SIZE / factor) {
            return 0;
        }
        sum *= factor;
    }
    return sum;
}

/* What the members' end and types come to. */
static bool check_class_sums(struct plan_check* check, uint32_t index)
{
    const MaarPlanClass* const it = &check->answer->classes[index];
    uint64_t size = 0;
    uint32_t types = UINT32_MAX;
    for (uint32_t i = 0; i < check->member_count; ++i) {
        const MaarPlanResource* const resource = check_resource(check, check->members[i]);
        const uint64_t end = check->answer->placements[check->members[i]].offset + resource->size;
        size = end > size ? end : size;
        types &= resource->memoryTypeBits != 0 ? resource->memoryTypeBits : UINT32_MAX;
    }
    if (it->resourceCount != check->member_count || it->resourceCount == 0) {
        return check_fail(check, "class %" PRIu32 " miscounts its resources", index);
    }
    if (types == 0) {
        return check_fail(check, "class %" PRIu32 " fits no memory type", index);
    }
    if (it->memoryTypeBits != types) {
        return check_fail(check, "class %" PRIu32 " has other memory types", index);
    }
    if (it->size != size) {
        return check_fail(check, "class %" PRIu32 " is not as large as it says", index);
    }
    return true;
}

static bool check_class(struct plan_check* check, uint32_t index)
{
    const MaarPlanClass* const it = &check->answer->classes[index];
    check_gather(check, index);
    if (!check_class_sums(check, index)) {
        return false;
    }
    const uint64_t alignment = check_alignment(check);
    uint64_t bound = 0;
    if (alignment != 0 && it->alignment != alignment) {
        return check_fail(check, "class %" PRIu32 " has another alignment", index);
    }
    const MaarResourceKind kind = check_is_mixed(check)
                                      ? MAAR_RESOURCE_KIND_UNKNOWN
                                      : check_resource(check, check->members[0])->kind;
    if (it->kind != kind) {
        return check_fail(check, "class %" PRIu32 " has another kind", index);
    }
    if (plan_world_heaviest(&check->world, check->members, check->member_count, &bound) &&
        it->lowerBound != bound) {
        return check_fail(check, "class %" PRIu32 " has the lower bound %" PRIu64 ", not %" PRIu64,
                          index, bound, (uint64_t)it->lowerBound);
    }
    if (it->lowerBound > it->size) {
        return check_fail(check, "class %" PRIu32 " is smaller than its lower bound", index);
    }
    return true;
}

static bool check_classes(struct plan_check* check)
{
    const struct plan_answer* const answer = check->answer;
    const MaarPlanInfo* const info = &answer->info;
    uint64_t peak = 0;
    uint64_t bound = 0;
    bool optimal = true;
    if (answer->class_count != info->classCount) {
        return check_fail(check, "the classes are miscounted");
    }
    for (uint32_t i = 0; i < answer->class_count; ++i) {
        if (!check_class(check, i)) {
            return false;
        }
        peak += answer->classes[i].size;
        bound += answer->classes[i].lowerBound;
        optimal = optimal && answer->classes[i].provedOptimal == VK_TRUE;
    }
    if (info->peakSize != peak) {
        return check_fail(check, "the peak is not the sum of the classes");
    }
    if (info->lowerBound != bound) {
        return check_fail(check, "the lower bound is not the sum of the classes'");
    }
    if (optimal != (info->provedOptimal == VK_TRUE)) {
        return check_fail(check, "the plan and its classes differ in what is proved");
    }
    return true;
}

static bool check_figures(struct plan_check* check)
{
    const MaarPlanInfo* const info = &check->answer->info;
    uint64_t total = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < check->info->resourceCount; ++i) {
        total += check_resource(check, i)->size;
        kept += check->answer->placements[i].kept == VK_TRUE ? 1 : 0;
    }
    if (info->resourceCount != check->info->resourceCount || info->totalSize != total) {
        return check_fail(check, "the resources are miscounted");
    }
    if (info->keptCount != kept) {
        return check_fail(check, "the kept resources are miscounted");
    }
    if (info->provedBound < info->lowerBound || info->provedBound > info->peakSize) {
        return check_fail(check, "the proved bound is not between lower bound and peak");
    }
    if ((info->provedOptimal == VK_TRUE) != (info->provedBound == info->peakSize)) {
        return check_fail(check, "the proof of optimality is not the bound's");
    }
    if (info->peakSize > info->greedySize) {
        return check_fail(check, "a greedy order is better than the plan");
    }
    return true;
}

/* What the answer to a capacity must be, given the figures. */
static bool check_fit(struct plan_check* check)
{
    const MaarPlanInfo* const info = &check->answer->info;
    const uint64_t capacity = check->info->capacity;
    MaarPlanFit fit = MAAR_PLAN_FIT_UNDECIDED;
    if (capacity == 0) {
        fit = MAAR_PLAN_FIT_NOT_ASKED;
    } else if (info->peakSize <= capacity) {
        fit = MAAR_PLAN_FIT_YES;
    } else if (info->provedBound > capacity) {
        fit = MAAR_PLAN_FIT_NO;
    }
    if (info->fit != fit) {
        return check_fail(check, "the answer to the capacity is %d, not %d", (int)fit,
                          (int)info->fit);
    }
    const bool found =
        capacity == 0 ? info->provedOptimal == VK_TRUE : fit != MAAR_PLAN_FIT_UNDECIDED;
    if (info->stop == MAAR_PLAN_STOP_DONE && !found) {
        return check_fail(check, "the search says that it is done, and is not");
    }
    return true;
}

/* A stretch of memory whose users are all the same along it. */
struct check_unit {
    uint32_t* users;
    uint32_t count;
};

/* Whether a user between two others has the unit too. */
static bool check_is_between(const struct plan_check* check, const struct check_unit* unit,
                             uint32_t before, uint32_t after)
{
    for (uint32_t i = 0; i < unit->count; ++i) {
        if (plan_world_before(&check->world, before, unit->users[i]) &&
            plan_world_before(&check->world, unit->users[i], after)) {
            return true;
        }
    }
    return false;
}

/* Whether no user of the unit comes after one (`last`), or before it. */
static bool check_is_at_end(const struct plan_check* check, const struct check_unit* unit,
                            uint32_t resource, bool last)
{
    for (uint32_t i = 0; i < unit->count; ++i) {
        if (last ? plan_world_before(&check->world, resource, unit->users[i])
                 : plan_world_before(&check->world, unit->users[i], resource)) {
            return false;
        }
    }
    return true;
}

static void check_link_unit(struct plan_check* check, const struct check_unit* unit)
{
    const size_t count = check->info->resourceCount;
    for (uint32_t i = 0; i < unit->count; ++i) {
        for (uint32_t j = 0; j < unit->count; ++j) {
            const uint32_t before = unit->users[i];
            const uint32_t after = unit->users[j];
            bool* const edge = &check->edges[before * count + after];
            bool* const wrap = &check->wrap_edges[before * count + after];
            *edge = *edge || (plan_world_before(&check->world, before, after) &&
                              !check_is_between(check, unit, before, after));
            *wrap = *wrap || (check_is_at_end(check, unit, before, true) &&
                              check_is_at_end(check, unit, after, false));
        }
    }
}

static int check_compare(const void* a, const void* b)
{
    const uint64_t x = *(const uint64_t*)a;
    const uint64_t y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

/* The bytes that a member uses. */
static struct plan_range check_range(const struct plan_check* check, uint32_t member)
{
    const uint64_t offset = check->answer->placements[member].offset;
    return (struct plan_range){offset, offset + check_resource(check, member)->size};
}

/* Finds the pairs of the class that must have edges. */
static void check_link_class(struct plan_check* check, uint64_t* bounds, struct check_unit* unit)
{
    uint32_t bound_count = 0;
    for (uint32_t i = 0; i < check->member_count; ++i) {
        const struct plan_range range = check_range(check, check->members[i]);
        bounds[bound_count++] = range.begin;
        bounds[bound_count++] = range.end;
    }
    qsort(bounds, bound_count, sizeof(*bounds), check_compare);
    for (uint32_t i = 0; i + 1 < bound_count; ++i) {
        unit->count = 0;
        for (uint32_t j = 0; j < check->member_count && bounds[i] != bounds[i + 1]; ++j) {
            const struct plan_range range = check_range(check, check->members[j]);
            if (range.begin <= bounds[i] && bounds[i] < range.end &&
                !check_is_apart(check, check->members[j])) {
                unit->users[unit->count++] = check->members[j];
            }
        }
        check_link_unit(check, unit);
    }
}

/* Whether no other use of the resource comes after a use (`last`), or before it. */
static bool check_is_end_use(const struct plan_check* check, uint32_t resource, uint32_t use,
                             bool last)
{
    const struct plan_world* const world = &check->world;
    for (uint32_t i = 0; i < plan_world_use_count(world, resource); ++i) {
        const uint32_t other = plan_world_use(world, resource, i);
        if (last ? plan_world_pass_before(world, use, other)
                 : plan_world_pass_before(world, other, use)) {
            return false;
        }
    }
    return true;
}

/* Whether a last use of one and a first use of the other are on different queues. */
static bool check_crosses(const struct plan_check* check, uint32_t before, uint32_t after)
{
    const struct plan_world* const world = &check->world;
    if (!world->several_queues) {
        return false;
    }
    for (uint32_t i = 0; i < plan_world_use_count(world, before); ++i) {
        const uint32_t last = plan_world_use(world, before, i);
        for (uint32_t j = 0; j < plan_world_use_count(world, after); ++j) {
            const uint32_t first = plan_world_use(world, after, j);
            if (plan_world_queue(world, last) != plan_world_queue(world, first) &&
                check_is_end_use(check, before, last, true) &&
                check_is_end_use(check, after, first, false)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a list of edges is the set of pairs, in order. */
static bool check_list(struct plan_check* check, const char* name, const MaarPlanEdge* edges,
                       uint32_t edge_count, const bool* pairs)
{
    const uint32_t count = check->info->resourceCount;
    uint32_t at = 0;
    for (uint32_t after = 0; after < count; ++after) {
        for (uint32_t before = 0; before < count; ++before) {
            const bool listed =
                at < edge_count && edges[at].before == before && edges[at].after == after;
            const bool wanted = pairs[(size_t)before * count + after];
            if (listed != wanted) {
                return check_fail(check,
                                  "the %s from %" PRIu32 " to %" PRIu32
                                  " is %s, or the edges are not in order",
                                  name, before, after, wanted ? "missing" : "superfluous");
            }
            if (listed &&
                (edges[at].crossQueue == VK_TRUE) != check_crosses(check, before, after)) {
                return check_fail(
                    check, "the %s from %" PRIu32 " to %" PRIu32 " is wrong about its queues", name,
                    before, after);
            }
            at += listed ? 1 : 0;
        }
    }
    return at == edge_count || check_fail(check, "there are more of the %s", name);
}

static bool check_edge_counts(struct plan_check* check)
{
    const struct plan_answer* const answer = check->answer;
    uint32_t crossing = 0;
    for (uint32_t i = 0; i < answer->edge_count; ++i) {
        crossing += answer->edges[i].crossQueue == VK_TRUE ? 1 : 0;
    }
    if (answer->info.edgeCount != answer->edge_count ||
        answer->info.wrapEdgeCount != answer->wrap_edge_count ||
        answer->info.crossQueueEdgeCount != crossing) {
        return check_fail(check, "the edges are miscounted");
    }
    /* With several queues more edges may be the price of fewer between them. */
    if (!check->world.several_queues && answer->info.edgeCount > answer->info.firstStageEdgeCount) {
        return check_fail(check, "the second stage made more edges");
    }
    return true;
}

/* Whether the edges of a class that mixes kinds suffice. Notes those that are listed. */
static bool check_paths(struct plan_check* check)
{
    struct plan_paths_fault fault;
    return plan_paths_suffice(&check->world, check->answer, check->members, check->member_count,
                              check->edges, check->wrap_edges, &fault) ||
           check_fail(check, "the edge from %" PRIu32 " to %" PRIu32 " %s", fault.before,
                      fault.after, fault.text);
}

static bool check_edges(struct plan_check* check)
{
    const struct plan_answer* const answer = check->answer;
    const size_t count = check->info->resourceCount;
    uint64_t* const bounds = calloc(2 * count + 1, sizeof(*bounds));
    uint32_t* const users = calloc(count + 1, sizeof(*users));
    struct check_unit unit = {.users = users};
    check->edges = calloc(count * count + 1, sizeof(*check->edges));
    check->wrap_edges = calloc(count * count + 1, sizeof(*check->wrap_edges));
    bool good = false;
    if (bounds == NULL || users == NULL || check->edges == NULL || check->wrap_edges == NULL) {
        check_fail(check, "the checker is out of memory");
    } else {
        good = true;
        for (uint32_t i = 0; i < answer->class_count && good; ++i) {
            check_gather(check, i);
            if (check_is_mixed(check) && check->info->granularity > 1) {
                good = check_paths(check);
            } else {
                check_link_class(check, bounds, &unit);
            }
        }
        good = good && check_edge_counts(check) &&
               check_list(check, "edge", answer->edges, answer->edge_count, check->edges) &&
               check_list(check, "wrap edge", answer->wrap_edges, answer->wrap_edge_count,
                          check->wrap_edges);
    }
    free(bounds);
    free(users);
    free(check->edges);
    free(check->wrap_edges);
    return good;
}

bool plan_check(const MaarPlanCreateInfo* info, const struct plan_answer* answer, char* reason,
                size_t size)
{
    struct plan_check check = {.info = info, .answer = answer, .reason = reason, .size = size};
    reason[0] = '\0';
    plan_world_open(&check.world, info);
    check.members = calloc((size_t)info->resourceCount + 1, sizeof(*check.members));
    const bool good = check.members != NULL && check_placements(&check) && check_overlaps(&check) &&
                      check_classes(&check) && check_figures(&check) && check_fit(&check) &&
                      check_edges(&check);
    free(check.members);
    plan_world_close(&check.world);
    return good;
}
