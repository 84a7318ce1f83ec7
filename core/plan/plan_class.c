/*
 * Divides resources into classes: those of one class can be in one VkDeviceMemory. Also makes one
 * class a problem in units, with the maximal sections of time and the bounds that follow from them.
 */
#include "core/plan/plan_class.h"

#include "core/plan/exact/exact.h"
#include "core/plan/plan_antichain.h"
#include "core/plan/plan_bound.h"
#include "core/plan/plan_clash.h"
#include "core/plan/plan_input.h"
#include "core/plan/plan_result.h"

#include <string.h>

/* Returns the memory type that is allowed for the most bytes of resources without a class. Of equal
 * types, returns the lowest. */
static uint32_t most_wanted_type(const struct maar_plan_graph* graph, const uint32_t* class_of)
{
    uint64_t wanted[32] = {0};
    for (uint32_t i = 0; i < graph->count; ++i) {
        const MaarPlanResource* resource = &graph->info->pResources[i];
        for (uint32_t t = 0; class_of[i] == UINT32_MAX && t < 32; ++t) {
            if ((resource->memoryTypeBits >> t & 1) != 0) {
                wanted[t] += resource->size;
            }
        }
    }
    uint32_t best = 0;
    for (uint32_t t = 1; t < 32; ++t) {
        best = wanted[t] > wanted[best] ? t : best;
    }
    return best;
}

static bool all_allow_the_same(const struct maar_plan_graph* graph)
{
    const MaarPlanResource* resources = graph->info->pResources;
    for (uint32_t i = 1; i < graph->count; ++i) {
        if (resources[i].memoryTypeBits != resources[0].memoryTypeBits) {
            return false;
        }
    }
    return true;
}

/*
 * Covers the set greedily. The type that is allowed for the most bytes makes a class of all
 * resources that allow it. The resources that are left are divided in the same way. Resources that
 * allow every type join the first class.
 */
void maar_plan_classify(const struct maar_plan_graph* graph, uint32_t* class_of,
                        uint32_t* class_bits, uint32_t* class_count)
{
    const MaarPlanResource* resources = graph->info->pResources;
    *class_count = 0;
    if (graph->count == 0) {
        return;
    }
    if (all_allow_the_same(graph)) {
        memset(class_of, 0, graph->count * sizeof *class_of);
        class_bits[0] = resources[0].memoryTypeBits != 0 ? resources[0].memoryTypeBits : UINT32_MAX;
        *class_count = 1;
        return;
    }
    uint32_t left = graph->count;
    for (uint32_t i = 0; i < graph->count; ++i) {
        class_of[i] = UINT32_MAX;
    }
    while (left > 0) {
        const uint32_t type = most_wanted_type(graph, class_of);
        const uint32_t index = (*class_count)++;
        class_bits[index] = UINT32_MAX;
        for (uint32_t i = 0; i < graph->count; ++i) {
            const uint32_t bits = resources[i].memoryTypeBits;
            if (class_of[i] == UINT32_MAX && (bits == 0 || (bits >> type & 1) != 0)) {
                class_of[i] = index;
                class_bits[index] &= bits != 0 ? bits : UINT32_MAX;
                --left;
            }
        }
    }
}

/* Returns the least common multiple, at most 2^60. Sizes and fixed offsets are not above 2^60, so a
 * larger multiple makes no difference. */
static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    const uint64_t multiple = maar_common_multiple(a, b, MAAR_PLAN_MAX_SIZE);
    return multiple != 0 ? multiple : MAAR_PLAN_MAX_SIZE;
}

static uint64_t alignment_at(const struct maar_plan_problem* problem, uint32_t item)
{
    const uint64_t alignment = problem->graph->info->pResources[problem->resource[item]].alignment;
    return alignment > 1 ? alignment : 1;
}

static bool is_fixed(const struct maar_plan_problem* problem, uint32_t item)
{
    const MaarPlanResource* resource = &problem->graph->info->pResources[problem->resource[item]];
    return (resource->flags & MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT) != 0;
}

/* Finds the kind of the class, and whether items of different kinds may meet on a granule. */
static void find_kind(struct maar_plan_problem* problem)
{
    const MaarPlanCreateInfo* info = problem->graph->info;
    bool aligned = true;
    problem->kind = info->pResources[problem->resource[0]].kind;
    problem->granularity = info->granularity > 1 ? info->granularity : 1;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const MaarPlanResource* resource = &info->pResources[problem->resource[i]];
        problem->mixed |= resource->kind != problem->kind;
        aligned &= alignment_at(problem, i) % problem->granularity == 0;
        problem->kind_index[i] = (uint8_t)resource->kind;
    }
    if (problem->mixed) {
        problem->kind = MAAR_RESOURCE_KIND_UNKNOWN;
    } else {
        problem->granularity = 1;
    }
    /* If every resource begins at a granule's border, different kinds never meet on a granule. */
    problem->mixed = problem->mixed && !aligned;
    if (!problem->mixed) {
        memset(problem->kind_index, 0, problem->count);
    }
}

/*
 * Finds the unit. All offsets are multiples of the alignments' common divisor, so sizes may be
 * rounded up to that divisor. Offsets are sums of sizes, rounded up to alignments and granules. So
 * the unit divides all rounded sizes, the fixed and previous offsets and, where kinds are mixed,
 * the granularity. Each alignment divides the unit or is a multiple of it.
 */
static void find_unit(struct maar_plan_problem* problem)
{
    const MaarPlanCreateInfo* info = problem->graph->info;
    uint64_t common = 0;
    problem->alignment = 1;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t alignment = alignment_at(problem, i);
        common = maar_common_divisor(alignment, common);
        problem->alignment = common_multiple(problem->alignment, alignment);
    }
    uint64_t unit = problem->mixed ? problem->granularity : 0;
    problem->alignment = common_multiple(problem->alignment, problem->granularity);
    for (uint32_t i = 0; i < problem->count; ++i) {
        const MaarPlanResource* resource = &info->pResources[problem->resource[i]];
        unit = maar_common_divisor(maar_align_up(resource->size, common), unit);
        if (is_fixed(problem, i)) {
            unit = maar_common_divisor(resource->fixedOffset, unit);
        }
        uint64_t previous = 0;
        if (maar_plan_previous_offset(info, problem->resource[i], &previous)) {
            unit = maar_common_divisor(previous, unit);
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < problem->count; ++i) {
            const uint64_t alignment = alignment_at(problem, i);
            if (unit % alignment != 0 && alignment % unit != 0) {
                unit = maar_common_divisor(unit, alignment);
                again = true;
            }
        }
    }
    problem->unit = unit;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const MaarPlanResource* resource = &info->pResources[problem->resource[i]];
        const uint64_t alignment = alignment_at(problem, i);
        problem->bytes[i] = resource->size;
        problem->size[i] = (int64_t)(maar_align_up(resource->size, common) / unit);
        problem->align[i] = alignment % unit == 0 ? (int64_t)(alignment / unit) : 1;
        problem->fixed[i] = is_fixed(problem, i) ? (int64_t)(resource->fixedOffset / unit) : -1;
    }
}

/* Sorts by merging runs. `other` has room for the same number of values. */
static void sort_passes(uint32_t* values, uint32_t* other, uint32_t count)
{
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t begin = 0; begin < count; begin += 2 * width) {
            const uint32_t middle = begin + width < count ? begin + width : count;
            const uint32_t end = middle + width < count ? middle + width : count;
            uint32_t a = begin;
            uint32_t b = middle;
            for (uint32_t k = begin; k < end; ++k) {
                other[k] =
                    b == end || (a < middle && values[a] <= values[b]) ? values[a++] : values[b++];
            }
        }
        memcpy(values, other, count * sizeof *values);
    }
}

/* Finds the passes at which maximal sections end. Returns the number of these sections. `begins`
 * and `ends` are sorted. */
static uint32_t close_sections(const uint32_t* begins, const uint32_t* ends, uint32_t count,
                               uint32_t* closes)
{
    uint32_t section_count = 0;
    uint32_t b = 0;
    for (uint32_t e = 0; e < count; ++e) {
        bool grew = false;
        for (; b < count && begins[b] <= ends[e]; ++b) {
            grew = true;
        }
        if (grew) {
            closes[section_count++] = ends[e];
        }
    }
    return section_count;
}

/* Returns the number of sections that are closed before a pass. */
static uint32_t sections_before(const uint32_t* closes, uint32_t count, uint64_t pass)
{
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (closes[low + half] < pass) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Builds the sections from the sorted times at which items begin and end. */
static VkResult sections_by_sorting(struct maar_plan_problem* problem,
                                    struct maar_host_stack* stack)
{
    const struct maar_plan_graph* graph = problem->graph;
    const uint32_t count = problem->count;
    uint32_t* begins = maar_stack_grab(stack, count, 4 * sizeof *begins);
    if (begins == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t* ends = begins + count;
    uint32_t* other = ends + count;
    uint32_t* closes = other + count;
    for (uint32_t i = 0; i < count; ++i) {
        begins[i] = graph->first[problem->resource[i]];
        ends[i] = graph->last[problem->resource[i]];
    }
    sort_passes(begins, other, count);
    sort_passes(ends, other, count);
    problem->clique_count = close_sections(begins, ends, count, closes);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t resource = problem->resource[i];
        problem->first[i] = sections_before(closes, problem->clique_count, graph->first[resource]);
        problem->last[i] =
            sections_before(closes, problem->clique_count, (uint64_t)graph->last[resource] + 1) - 1;
    }
    return VK_SUCCESS;
}

/* What happens at a time, and how many times are few for a resource. */
enum { BEGINS = 1, ENDS = 2, FEW_TIMES = 4 };

/* Counts the maximal sections that end before each time. At first, `times` says whether items begin
 * and end at that time. Returns the number of sections. */
static uint32_t count_sections(uint32_t* times, uint32_t end)
{
    uint32_t section_count = 0;
    bool grew = false;
    for (uint32_t t = 0; t < end; ++t) {
        const uint32_t what = times[t];
        grew = grew || (what & BEGINS) != 0;
        times[t] = section_count;
        if (grew && (what & ENDS) != 0) {
            ++section_count;
            grew = false;
        }
    }
    times[end] = section_count;
    return section_count;
}

/* Builds the sections by a look at each time before `end`. */
static VkResult sections_by_counting(struct maar_plan_problem* problem,
                                     struct maar_host_stack* stack, uint32_t end)
{
    const struct maar_plan_graph* graph = problem->graph;
    uint32_t* times = maar_stack_grab_zeroed(stack, (size_t)end + 1, sizeof *times);
    if (times == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        times[graph->first[problem->resource[i]]] |= BEGINS;
        times[graph->last[problem->resource[i]]] |= ENDS;
    }
    problem->clique_count = count_sections(times, end);
    for (uint32_t i = 0; i < problem->count; ++i) {
        problem->first[i] = times[graph->first[problem->resource[i]]];
        problem->last[i] = times[graph->last[problem->resource[i]] + 1] - 1;
    }
    return VK_SUCCESS;
}

/*
 * Builds the maximal sections: times whose set of live resources is not part of that of another
 * time. A section ends where a resource ends, if a resource has begun since the last section ended.
 * Times may be any numbers. Where they are few for each resource, they are not sorted.
 */
static VkResult build_sections(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const uint32_t count = problem->count;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t own = problem->graph->last[problem->resource[i]];
        last = own > last ? own : last;
    }
    problem->first = maar_stack_grab(stack, count, sizeof *problem->first);
    problem->last = maar_stack_grab(stack, count, sizeof *problem->last);
    if (problem->first == NULL || problem->last == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return last / FEW_TIMES < count ? sections_by_counting(problem, stack, last + 1)
                                    : sections_by_sorting(problem, stack);
}

/* Sets the bounds. lower_bound is the size of the heaviest section in bytes. proved_bound may be
 * higher: the size of the heaviest section in units, less the largest rounding of one item. */
static VkResult bound_sections(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    uint64_t* bytes = maar_stack_grab_zeroed(stack, (size_t)problem->clique_count + 1, 8);
    int64_t* units = maar_stack_grab_zeroed(stack, (size_t)problem->clique_count + 1, 8);
    if (bytes == NULL || units == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint64_t most_slack = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        bytes[problem->first[i]] += problem->bytes[i];
        bytes[problem->last[i] + 1] -= problem->bytes[i];
        units[problem->first[i]] += problem->size[i];
        units[problem->last[i] + 1] -= problem->size[i];
        const uint64_t slack = (uint64_t)problem->size[i] * problem->unit - problem->bytes[i];
        most_slack = slack > most_slack ? slack : most_slack;
    }
    uint64_t live = 0;
    int64_t live_units = 0;
    for (uint32_t s = 0; s < problem->clique_count; ++s) {
        live += bytes[s];
        live_units += units[s];
        const uint64_t rounded = (uint64_t)live_units * problem->unit - most_slack;
        problem->lower_bound = live > problem->lower_bound ? live : problem->lower_bound;
        problem->proved_bound = rounded > problem->proved_bound ? rounded : problem->proved_bound;
    }
    if (problem->proved_bound < problem->lower_bound) {
        problem->proved_bound = problem->lower_bound;
    }
    return VK_SUCCESS;
}

/* Adds up, for each pass, the sizes of the items that use the pass. All of them conflict. Returns
 * the largest sum. */
static uint64_t heaviest_pass(const struct maar_plan_problem* problem, uint64_t* sums,
                              uint32_t* seen)
{
    const MaarPlanResource* resources = problem->graph->info->pResources;
    uint64_t most = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const MaarPlanResource* resource = &resources[problem->resource[i]];
        if ((resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
            continue;
        }
        for (uint32_t k = 0; k < resource->useCount; ++k) {
            const uint32_t pass = resource->pUses[k];
            sums[pass] += seen[pass] != i + 1 ? problem->bytes[i] : 0;
            seen[pass] = i + 1;
            most = sums[pass] > most ? sums[pass] : most;
        }
    }
    return most;
}

/* Sets the bounds of a class whose order is relaxed. All items that live at one pass conflict, so
 * the heaviest pass bounds the peak: a pass of the chain with all that lives there for certain, or
 * any pass with all that uses it. With clocks, so does the heaviest front. */
static VkResult bound_passes(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const struct maar_plan_graph* graph = problem->graph;
    uint64_t* change = maar_stack_grab_zeroed(stack, (size_t)graph->inner_end + 3, sizeof *change);
    uint64_t* sums = maar_stack_grab_zeroed(stack, graph->pass_count, sizeof *sums);
    uint32_t* seen = maar_stack_grab_zeroed(stack, graph->pass_count, sizeof *seen);
    if (change == NULL || sums == NULL || seen == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint32_t first = graph->inner_first[problem->resource[i]];
        const uint32_t last = graph->inner_last[problem->resource[i]];
        if (first <= last) {
            change[first] += problem->bytes[i];
            change[last + 1] -= problem->bytes[i];
        }
    }
    uint64_t most = heaviest_pass(problem, sums, seen);
    uint64_t live = 0;
    for (uint32_t s = 0; s <= graph->inner_end; ++s) {
        live += change[s];
        most = s % 2 == 1 && live > most ? live : most;
    }
    problem->lower_bound = most;
    problem->proved_bound = most;
    return graph->clock != NULL ? maar_plan_bound_fronts(problem, stack) : VK_SUCCESS;
}

/* Builds the sections along the chain of passes beside the cliques of the partial order. */
static VkResult build_chain(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const uint32_t clique_count = problem->clique_count;
    const VkResult result = build_sections(problem, stack);
    problem->chain_first = problem->first;
    problem->chain_last = problem->last;
    problem->chain_sections = problem->clique_count;
    problem->first = NULL;
    problem->last = NULL;
    problem->clique_count = clique_count;
    return result;
}

/* Fills in cliques and bounds. */
static VkResult build_cliques(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const struct maar_plan_graph* graph = problem->graph;
    if (graph->before != NULL && maar_plan_build_antichains(problem, stack)) {
        const VkResult chained =
            problem->count > MAAR_PLAN_SMALL ? build_chain(problem, stack) : VK_SUCCESS;
        return chained == VK_SUCCESS ? maar_exact_bound_cells(problem, stack) : chained;
    }
    problem->relaxed = graph->inner_first != NULL;
    VkResult result = build_sections(problem, stack);
    if (result == VK_SUCCESS) {
        result = problem->relaxed ? bound_passes(problem, stack) : bound_sections(problem, stack);
    }
    return result == VK_SUCCESS && !problem->relaxed ? maar_exact_bound_cells(problem, stack)
                                                     : result;
}

/* Rejects two resources with fixed offsets that live at the same time and overlap. */
static VkResult check_fixed(const struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    struct maar_plan_clash clash;
    const VkResult result = maar_plan_find_clash(problem, problem->fixed, false, stack, &clash);
    if (result == VK_SUCCESS && clash.found) {
        return maar_plan_reject(problem->graph->info,
                                "maarCreatePlan: pResources[%u] and [%u] live at the same "
                                "time, and their fixed offsets overlap",
                                problem->resource[clash.one], problem->resource[clash.other]);
    }
    return result;
}

VkResult maar_plan_build_problem(const struct maar_plan_graph* graph, struct maar_host_stack* stack,
                                 const uint32_t* resources, uint32_t count, uint32_t type_bits,
                                 struct maar_plan_problem* problem)
{
    *problem = (struct maar_plan_problem){
        .graph = graph,
        .count = count,
        .resource = resources,
        .type_bits = type_bits,
        .bytes = maar_stack_grab(stack, count, sizeof(uint64_t)),
        .size = maar_stack_grab(stack, count, sizeof(int64_t)),
        .align = maar_stack_grab(stack, count, sizeof(int64_t)),
        .fixed = maar_stack_grab(stack, count, sizeof(int64_t)),
        .kind_index = maar_stack_grab(stack, count, 1),
    };
    if (problem->bytes == NULL || problem->size == NULL || problem->align == NULL ||
        problem->fixed == NULL || problem->kind_index == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    find_kind(problem);
    find_unit(problem);
    const VkResult result = build_cliques(problem, stack);
    if (result != VK_SUCCESS) {
        return result;
    }
    bool any_fixed = false;
    for (uint32_t i = 0; i < count; ++i) {
        if (problem->fixed[i] >= 0) {
            const uint64_t end = maar_plan_end(problem, i, problem->fixed[i]);
            problem->proved_bound = end > problem->proved_bound ? end : problem->proved_bound;
            any_fixed = true;
        }
    }
    return any_fixed ? check_fixed(problem, stack) : VK_SUCCESS;
}
