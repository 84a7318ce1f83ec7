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

static void lower_floor(int64_t* floor, uint32_t count, int64_t release)
{
    for (uint32_t s = 0; s < count; ++s) {
        floor[s] = floor[s] < release ? floor[s] : release;
    }
}

/* Adds one job to all cliques of an item. */
static void add_job(struct maar_exact_search* search, uint32_t rank, int64_t release,
                    int64_t duration, int64_t* load)
{
    if (search->first != NULL) {
        const uint32_t first = search->first[rank];
        const uint32_t width = search->last[rank] - first + 1;
        work_off(load + first, width, release, duration);
        search->work += width;
        return;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        work_off(load + problem->member[m], 1, release, duration);
        ++search->work;
    }
}

static void lower_floors(struct maar_exact_search* search, uint32_t rank, int64_t release)
{
    if (search->first != NULL) {
        const uint32_t first = search->first[rank];
        lower_floor(search->floor + first, search->last[rank] - first + 1, release);
        return;
    }
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t item = search->item[rank];
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        lower_floor(search->floor + problem->member[m], 1, release);
    }
}

/* Bounds a node in whole cells of an alignment. Raises the loads for which this bound is
 * tighter. */
static void bound_cells(struct maar_exact_search* search, const struct maar_exact_node* node,
                        uint32_t level)
{
    const struct maar_exact_entry* entries = search->entries + node->begin;
    const uint32_t low = node->low;
    const uint32_t width = node->high - low + 1;
    memset(search->cell_load + low, 0, width * sizeof *search->cell_load);
    for (uint32_t i = 0; i < node->count; ++i) {
        const int64_t duration = search->duration[level][entries[i].item];
        if (duration > 0) {
            add_job(search, entries[i].item, entries[i].release, duration, search->cell_load);
        }
    }
    const int64_t surplus = search->cell_capacity[level] - search->capacity;
    for (uint32_t s = low; s <= node->high; ++s) {
        const int64_t load = search->cell_load[s] - surplus;
        search->load[s] = load > search->load[s] ? load : search->load[s];
    }
}

bool maar_exact_bound(struct maar_exact_search* search, const struct maar_exact_node* node)
{
    const uint32_t low = node->low;
    const uint32_t width = node->high - low + 1;
    const struct maar_exact_entry* entries = search->entries + node->begin;
    memset(search->load + low, 0, width * sizeof *search->load);
    for (uint32_t s = 0; s < width; ++s) {
        search->floor[low + s] = INT64_MAX;
    }
    for (uint32_t i = 0; i < node->count; ++i) {
        const uint32_t rank = entries[i].item;
        if (entries[i].release > search->highest[rank]) {
            return false;
        }
        add_job(search, rank, entries[i].release, search->size[rank], search->load);
        lower_floors(search, rank, entries[i].release);
    }
    for (uint32_t k = 0; k < search->problem->level_count; ++k) {
        bound_cells(search, node, k);
    }
    int64_t most = 0;
    for (uint32_t s = 0; s < width; ++s) {
        most = search->load[low + s] > most ? search->load[low + s] : most;
    }
    if (most <= search->capacity) {
        return true;
    }
    for (uint32_t s = 0; s < width; ++s) {
        search->failures[low + s] += search->load[low + s] > search->capacity;
    }
    return false;
}

/*
 * A skipped item y does not lie at its least offset. Of all solutions take one with the least sum
 * of offsets. In this solution y cannot be moved down to its least offset, because some item z lies
 * in the way. The item z is not placed yet and conflicts with y. It begins below the top that y
 * would have at its least offset, and y lies above z. So the release of y is at least the least end
 * of all such items z. Without any such z there is no solution.
 */
enum maar_exact_lift maar_exact_lift(struct maar_exact_search* search,
                                     struct maar_exact_entry* entries, uint32_t count)
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

/* Returns the clique with the least cost: a clique is preferred if it is low and tight, lies near
 * the item that was placed last, and has failed often. In such a clique the search notices a wrong
 * decision soon. */
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
        const uint64_t slack = (uint64_t)(search->capacity - search->load[s]) >> search->shift;
        uint64_t cost = (slack * search->slack_weight >> 10) +
                        ((uint64_t)search->floor[s] >> search->shift) + 1;
        if (search->distance_weight != 0) {
            cost += (uint64_t)(distance(search, s) * search->distance_weight);
        }
        const uint64_t weight = search->weighs_failures ? 1 + search->failures[s] : 1;
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
