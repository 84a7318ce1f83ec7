/*
 * The bounds of a node, which prove that nothing below it fits, and the choice of the next item.
 *
 * In a clique all items conflict, so a clique is one machine that works off jobs one after another:
 * the release of an item is the job's release date, and its size is the duration. In the order of
 * rising releases the jobs end as early as possible. An end above the capacity proves that there is
 * no solution below the node. One pass over all entries in the order of releases does this for all
 * cliques at once.
 */
#include "core/plan/exact/exact_bound.h"

#include "core/check.h"

#include <string.h>

void maar_exact_sort_entries(struct maar_exact_entry* entries, uint32_t count)
{
    for (uint32_t i = 1; i < count; ++i) {
        if (!maar_exact_entry_less(&entries[i], &entries[i - 1])) {
            continue;
        }
        const struct maar_exact_entry entry = entries[i];
        uint32_t k = i;
        for (; k > 0 && maar_exact_entry_less(&entry, &entries[k - 1]); --k) {
            entries[k] = entries[k - 1];
        }
        entries[k] = entry;
    }
}

/* Adds one job to the loads of `count` cliques. */
static void work_off(int64_t* load, uint32_t count, int64_t release, int64_t duration)
{
    for (uint32_t s = 0; s < count; ++s) {
        load[s] = (load[s] > release ? load[s] : release) + duration;
    }
}

/* Notes an item in some cliques, if it can be the lowest one there. Items come by rising release.
 */
static void note_lowest(struct maar_exact_search* search, struct maar_exact_range range,
                        int64_t release)
{
    for (uint32_t s = range.low; s <= range.high; ++s) {
        search->floor[s] = search->floor[s] < release ? search->floor[s] : release;
        search->lowest[s] += release <= search->limit[s];
    }
}

/* Returns the part of an item's sections that is in a range. */
static struct maar_exact_range clip(const struct maar_exact_search* search, uint32_t rank,
                                    struct maar_exact_range range)
{
    const uint32_t first = search->first[rank];
    const uint32_t last = search->last[rank];
    return (struct maar_exact_range){first > range.low ? first : range.low,
                                     last < range.high ? last : range.high};
}

/* Adds one job to the cliques of an item; with one queue, to those in a range. */
static void add_job(struct maar_exact_search* search, uint32_t rank, struct maar_exact_range range,
                    int64_t release, int64_t duration, int64_t* load)
{
    if (search->first != NULL) {
        const struct maar_exact_range part = clip(search, rank, range);
        if (part.low <= part.high) {
            work_off(load + part.low, part.high - part.low + 1, release, duration);
            search->work += part.high - part.low + 1;
        }
        return;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        work_off(load + problem->member[m], 1, release, duration);
        ++search->work;
    }
}

/* Notes an item in all its cliques; with one queue, in those in a range. */
static void note_item(struct maar_exact_search* search, uint32_t rank,
                      struct maar_exact_range range, int64_t release)
{
    if (search->first != NULL) {
        note_lowest(search, clip(search, rank, range), release);
        return;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        const uint32_t clique = problem->member[m];
        note_lowest(search, (struct maar_exact_range){clique, clique}, release);
    }
}

/* Bounds a node in whole cells of an alignment, in a range of cliques. Raises the loads for which
 * this bound is tighter. */
static void bound_cells(struct maar_exact_search* search, const struct maar_exact_node* node,
                        struct maar_exact_range range, uint32_t level)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    memset(search->cell_load + range.low, 0,
           (range.high - range.low + 1) * sizeof *search->cell_load);
    for (uint32_t i = 0; i < node->count; ++i) {
        const int64_t duration = search->duration[level][entries[i].item];
        if (duration > 0) {
            add_job(search, entries[i].item, range, entries[i].release, duration,
                    search->cell_load);
        }
    }
    const int64_t surplus = search->cell_capacity[level] - search->capacity;
    for (uint32_t s = range.low; s <= range.high; ++s) {
        const int64_t load = search->cell_load[s] - surplus;
        search->load[s] = load > search->load[s] ? load : search->load[s];
    }
}

/* Counts the failures of the cliques whose load is too high. Returns whether there is none. */
static bool judge_loads(struct maar_exact_search* search, struct maar_exact_range range)
{
    int64_t most = 0;
    for (uint32_t s = range.low; s <= range.high; ++s) {
        most = search->load[s] > most ? search->load[s] : most;
    }
    if (most <= search->capacity) {
        return true;
    }
    for (uint32_t s = range.low; s <= range.high; ++s) {
        search->failures[s] += search->load[s] > search->capacity;
    }
    return false;
}

/* Fills in floor and lowest of the cliques in a range. An item above all limits is the lowest one
 * nowhere. */
static void note_items(struct maar_exact_search* search, const struct maar_exact_node* node,
                       struct maar_exact_range range)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    int64_t most = 0;
    for (uint32_t s = range.low; s <= range.high; ++s) {
        search->floor[s] = INT64_MAX;
        search->lowest[s] = 0;
        most = search->limit[s] > most ? search->limit[s] : most;
    }
    for (uint32_t i = 0; i < node->count && entries[i].release <= most; ++i) {
        note_item(search, entries[i].item, range, entries[i].release);
    }
}

static bool is_member(const struct maar_exact_search* search, uint32_t rank, uint32_t clique)
{
    if (search->first != NULL) {
        return search->first[rank] <= clique && search->last[rank] >= clique;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        if (problem->member[m] == clique) {
            return true;
        }
    }
    return false;
}

/* Returns the load of a clique by the sizes of its items, or with a level by their durations in
 * whole cells. */
static int64_t load_of(const struct maar_exact_search* search, const struct maar_exact_node* node,
                       uint32_t clique, const int64_t* duration)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    int64_t load = 0;
    for (uint32_t i = 0; i < node->count; ++i) {
        const int64_t release = entries[i].release;
        if (duration[entries[i].item] > 0 && is_member(search, entries[i].item, clique)) {
            load = (load > release ? load : release) + duration[entries[i].item];
        }
    }
    return load;
}

static bool is_clique_current(const struct maar_exact_search* search,
                              const struct maar_exact_node* node, uint32_t clique)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    int64_t load = load_of(search, node, clique, search->size);
    for (uint32_t k = 0; k < search->problem->level_count; ++k) {
        const int64_t surplus = search->cell_capacity[k] - search->capacity;
        const int64_t other = load_of(search, node, clique, search->duration[k]) - surplus;
        load = other > load ? other : load;
    }
    int64_t floor = INT64_MAX;
    uint32_t lowest = 0;
    for (uint32_t i = 0; i < node->count; ++i) {
        const int64_t release = entries[i].release;
        if (is_member(search, entries[i].item, clique) && release <= search->limit[clique]) {
            floor = floor < release ? floor : release;
            ++lowest;
        }
    }
    return search->load[clique] == load && search->floor[clique] == floor &&
           search->lowest[clique] == lowest;
}

bool maar_exact_is_current(const struct maar_exact_search* search,
                           const struct maar_exact_node* node)
{
    for (uint32_t s = node->low; s <= node->high; ++s) {
        const bool stale = s >= search->stale.low && s <= search->stale.high;
        if (!stale && !is_clique_current(search, node, s)) {
            return false;
        }
    }
    return true;
}

/* With one queue only the sections that are out of date are done. The others were done for an
 * earlier node, and no release has changed there. */
bool maar_exact_bound(struct maar_exact_search* search, const struct maar_exact_node* node)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    struct maar_exact_range range = {node->low, node->high};
    if (search->first != NULL) {
        range.low = search->stale.low > range.low ? search->stale.low : range.low;
        range.high = search->stale.high < range.high ? search->stale.high : range.high;
    }
    if (range.low > range.high) {
        return true;
    }
    memset(search->load + range.low, 0, (range.high - range.low + 1) * sizeof *search->load);
    for (uint32_t i = 0; i < node->count; ++i) {
        const uint32_t rank = entries[i].item;
        if (entries[i].release > search->highest[rank]) {
            return false;
        }
        add_job(search, rank, range, entries[i].release, search->size[rank], search->load);
    }
    for (uint32_t k = 0; k < search->problem->level_count; ++k) {
        bound_cells(search, node, range, k);
    }
    if (!judge_loads(search, range)) {
        return false;
    }
    note_items(search, node, range);
    search->stale = maar_exact_no_range;
    MAAR_HEAVY_ASSERT(maar_exact_is_current(search, node));
    return true;
}

/*
 * A skipped item y does not lie at its least offset. Of all solutions take one with the least sum
 * of offsets. In this solution y cannot be moved down to its least offset, because some item z lies
 * in the way. The item z is not placed yet and conflicts with y. It begins below the top that y
 * would have at its least offset, and y lies above z. So the release of y is at least the least end
 * of all such items z. Without any such z there is no solution.
 */
enum maar_exact_lift maar_exact_lift(struct maar_exact_search* search,
                                     struct maar_exact_entry* entries, uint32_t count,
                                     struct maar_exact_range* changed)
{
    bool moved = false;
    for (uint32_t i = 0; i < count; ++i) {
        const struct maar_exact_entry* entry = &entries[i];
        search->lifted[i] = entry->release;
        if (!entry->skipped) {
            continue;
        }
        int64_t least = INT64_MAX;
        for (uint32_t k = 0; k < count && entries[k].release < least; ++k) {
            const struct maar_exact_entry* other = &entries[k];
            ++search->work;
            if (k == i || !maar_exact_ranks_conflict(search, entry->item, other->item)) {
                continue;
            }
            if (other->release >=
                maar_exact_rank_top(search, entry->item, entry->least, other->item)) {
                if (search->plain) {
                    break;
                }
                continue;
            }
            const int64_t top =
                maar_exact_rank_top(search, other->item, other->release, entry->item);
            least = top < least ? top : least;
        }
        if (least > search->highest[entry->item]) {
            return MAAR_EXACT_LIFT_FAILS;
        }
        if (least > entry->release) {
            search->lifted[i] = least;
            maar_exact_widen_by(search, changed, entry->item);
            moved = true;
        }
    }
    if (moved) {
        for (uint32_t i = 0; i < count; ++i) {
            entries[i].release = search->lifted[i];
        }
        maar_exact_sort_entries(entries, count);
    }
    return moved ? MAAR_EXACT_LIFT_MOVED : MAAR_EXACT_LIFT_SAME;
}

/* Returns the number of sections between a clique and the item that was placed last; 0 with several
 * queues. */
static int64_t distance(const struct maar_exact_search* search, uint32_t clique)
{
    if (search->trail_count == 0 || search->first == NULL) {
        return 0;
    }
    const uint32_t rank = search->trail[search->trail_count - 1];
    if (clique < search->first[rank]) {
        return search->first[rank] - clique;
    }
    return clique > search->last[rank] ? clique - search->last[rank] : 0;
}

/* Returns how little a clique is preferred: it costs little if it is low and tight, and lies near
 * the item that was placed last. */
static uint64_t cost_of(const struct maar_exact_search* search, uint32_t clique)
{
    const uint64_t slack = (uint64_t)(search->capacity - search->load[clique]) >> search->shift;
    uint64_t cost = (slack * search->slack_weight >> 10) +
                    ((uint64_t)search->floor[clique] >> search->shift) + 1;
    if (search->distance_weight != 0) {
        cost += (uint64_t)(distance(search, clique) * search->distance_weight);
    }
    return cost;
}

/* Higher counts make no difference, so that products fit into 64 bits. */
enum { MOST_LOWEST = 64, MOST_FAILURES = 1 << 19 };

/*
 * Returns the clique with the least cost, divided by its failures and multiplied by the square of
 * the number of items that can be the lowest one there. Where one item alone can be the lowest, the
 * decision is as good as made; where a clique has failed often, the search notices a wrong decision
 * soon.
 */
static uint32_t choose_clique(const struct maar_exact_search* search,
                              const struct maar_exact_node* node)
{
    uint32_t best = UINT32_MAX;
    uint64_t best_cost = 0;
    uint64_t best_weight = 1;
    for (uint32_t s = node->low; s <= node->high; ++s) {
        if (search->floor[s] == INT64_MAX) {
            continue;
        }
        const uint64_t lowest = search->lowest[s] < MOST_LOWEST ? search->lowest[s] : MOST_LOWEST;
        const uint64_t few = search->weighs_lowest ? lowest * lowest : 1;
        const uint64_t cost = cost_of(search, s) * few;
        const uint64_t failures =
            search->failures[s] < MOST_FAILURES ? search->failures[s] : MOST_FAILURES;
        const uint64_t weight = search->weighs_failures ? 1 + failures : 1;
        const uint64_t left = cost * best_weight;
        const uint64_t right = best_cost * weight;
        if (best == UINT32_MAX || left < right ||
            (left == right && search->signature[s] < search->signature[best])) {
            best = s;
            best_cost = cost;
            best_weight = weight;
        }
    }
    return best;
}

/*
 * Chooses the lowest item of the chosen clique. As long as another item conflicts with the chosen
 * one and may lie lower, chooses the other item instead. A skipped item is chosen only while its
 * release is out of date. Otherwise the item that lifts it conflicts with it and is lower.
 */
uint32_t maar_exact_choose(const struct maar_exact_search* search,
                           const struct maar_exact_node* node)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    const uint32_t clique = choose_clique(search, node);
    uint32_t chosen = 0;
    while (chosen + 1 < node->count && !is_member(search, entries[chosen].item, clique)) {
        ++chosen;
    }
    for (uint32_t k = 0; k < chosen && entries[k].release < entries[chosen].release; ++k) {
        if (maar_exact_ranks_conflict(search, entries[k].item, entries[chosen].item)) {
            chosen = k;
            k = UINT32_MAX;
        }
    }
    return chosen;
}
