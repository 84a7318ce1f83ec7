/*
 * Restarts. The time of a search depends strongly on its first decisions and on how ties are
 * broken. So the search makes many short walks, of several kinds in turns. A generator with a fixed
 * seed draws the order and the weights of each walk. Every ninth walk is long: it may visit twice
 * the nodes of the long walk before it. So the search finds a proof in the end, if it has enough
 * nodes.
 */
#include "core/plan/exact/exact_restart.h"

#include "core/plan/exact/exact_walk.h"

#include <string.h>

/* SHORT_WALK is the number of nodes of a short walk. Of 500 to 8000, 1500 and 2000 are the best on
 * google/minimalloc's challenging set; with 500, every twentieth question there is undecided after
 * 400,000 nodes. LONG_WALK_EVERY has no factor in common with WALK_KINDS, so that the long walks
 * are of all kinds. */
enum { SHORT_WALK = 2000, LONG_WALK_EVERY = 9 };

/* The first state of the generator without a seed: the fraction of the golden ratio. It was not
 * chosen by results. */
static const uint64_t first_state = 0x9E3779B97F4A7C15u;

/* The measure that ranks the items of a walk. Other measures count a little. By area: the size, and
 * the lifetime one to two and a half times as much. */
enum rank_rule { RANK_BY_SPAN, RANK_BY_SIZE, RANK_BY_ANY, RANK_BY_AREA };

/* The kinds of walks take turns. By slack: the walk only prefers cliques that are tight and low. */
enum { WALK_KINDS = 8 };
static const struct walk_kind {
    enum rank_rule rule;
    bool by_slack;
} walk_kinds[WALK_KINDS] = {
    {RANK_BY_SPAN, true}, {RANK_BY_SPAN, false}, {RANK_BY_ANY, false}, {RANK_BY_SIZE, false},
    {RANK_BY_ANY, true},  {RANK_BY_SPAN, false}, {RANK_BY_ANY, false}, {RANK_BY_SIZE, false},
};

/* Returns 1024 times the logarithm to base 2. Values between powers of two are interpolated
 * linearly. */
static uint64_t log_of(uint64_t value)
{
    uint64_t whole = 0;
    while (value >> whole > 1) {
        ++whole;
    }
    const uint64_t rest = value - ((uint64_t)1 << whole);
    return whole * 1024 + (whole >= 10 ? rest >> (whole - 10) : rest << (10 - whole));
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15u;
    return (value ^ value >> 29) * 0xBF58476D1CE4E5B9u;
}

/* Returns a number for an item that does not depend on the order of the items or the direction of
 * time. */
static uint64_t signature_of(const struct maar_exact_search* search, uint32_t item)
{
    const struct maar_plan_problem* problem = search->problem;
    if (problem->conflict == NULL) {
        return search->signature[problem->first[item]] + search->signature[problem->last[item]] +
               mix((uint64_t)problem->size[item] * 31 + search->steps[item]);
    }
    uint64_t sum = 0;
    for (uint32_t m = problem->member_begin[item]; m < problem->member_begin[item + 1]; ++m) {
        sum += search->signature[problem->member[m]];
    }
    return sum;
}

/* Draws the exponents of span, width, size and total, by which items are ranked. */
static void draw_exponents(struct maar_exact_search* search, enum rank_rule rule,
                           uint64_t exponents[4])
{
    uint64_t drawn[4];
    for (size_t k = 0; k < 4; ++k) {
        drawn[k] = maar_plan_draw(&search->random) % 256;
        drawn[k] = maar_plan_draw(&search->random) % 5 < 2 ? 0 : drawn[k];
    }
    for (size_t k = 0; k < 4; ++k) {
        exponents[k] = rule == RANK_BY_ANY ? drawn[k] : drawn[k] / 16;
    }
    if (rule == RANK_BY_AREA) {
        const uint64_t lifetime = 128 + drawn[0] * 3 / 4;
        exponents[0] = lifetime * drawn[1] / 256;
        exponents[1] = lifetime - exponents[0];
        exponents[2] = 128;
        exponents[3] = 0;
    } else if (rule == RANK_BY_SPAN) {
        exponents[0] = 256;
    } else if (rule == RANK_BY_SIZE) {
        exponents[2] = 256;
        exponents[0] = drawn[0] / 2;
    }
}

/* Draws the sort keys of the items, which presort_items has put in order. A key is the logarithm of
 * a product: powers of the item's measures. */
static void draw_keys(struct maar_exact_search* search, enum rank_rule rule)
{
    uint64_t weights[4];
    draw_exponents(search, rule, weights);
    for (uint32_t k = 0; k < search->count; ++k) {
        const uint32_t item = search->keys[k].item;
        const struct maar_plan_measure* measure = &search->measures[item];
        const uint64_t key =
            weights[0] * log_of(search->steps[item]) + weights[1] * log_of(measure->width) +
            weights[2] * log_of(measure->size) + weights[3] * 4 * log_of(measure->total);
        const uint64_t area = measure->area / measure->span * search->steps[item];
        search->keys[k] = (struct maar_plan_key){.first = key, .second = area, .item = item};
    }
}

static bool same_conflicts(const struct maar_plan_problem* problem, uint32_t a, uint32_t b)
{
    if (problem->conflict == NULL) {
        return problem->first[a] == problem->first[b] && problem->last[a] == problem->last[b];
    }
    if (!maar_plan_conflicts(problem, a, b)) {
        return false;
    }
    for (uint32_t k = 0; k < problem->count; ++k) {
        if (k != a && k != b &&
            maar_plan_conflicts(problem, a, k) != maar_plan_conflicts(problem, b, k)) {
            return false;
        }
    }
    return true;
}

static bool are_twins(const struct maar_plan_problem* problem, uint32_t a, uint32_t b)
{
    return problem->size[a] == problem->size[b] && problem->bytes[a] == problem->bytes[b] &&
           problem->align[a] == problem->align[b] &&
           problem->kind_index[a] == problem->kind_index[b] && problem->fixed[a] < 0 &&
           problem->fixed[b] < 0 && same_conflicts(problem, a, b);
}

/* Numbers the items by rank. Twins have equal keys and signatures, so they stand next to each
 * other. */
static void rank_items(struct maar_exact_search* search)
{
    const struct maar_plan_problem* problem = search->problem;
    maar_plan_sort_keys(search->keys, search->other_keys, search->count);
    for (uint32_t r = 0; r < search->count; ++r) {
        const uint32_t item = search->keys[r].item;
        search->item[r] = item;
        search->size[r] = problem->size[item];
        for (uint32_t k = 0; k < problem->level_count; ++k) {
            search->duration[k][r] = problem->levels[k].duration[item];
        }
        if (search->first != NULL) {
            search->first[r] = problem->first[item];
            search->last[r] = problem->last[item];
        }
        search->twin[r] =
            r > 0 && are_twins(problem, search->item[r - 1], item) ? r - 1 : UINT32_MAX;
    }
}

/* Sorts the items by signature, then by section. The later sort keeps this order for equal keys. */
static void presort_items(struct maar_exact_search* search)
{
    const struct maar_plan_problem* problem = search->problem;
    for (uint32_t i = 0; i < search->count; ++i) {
        search->keys[i] = (struct maar_plan_key){
            .first = signature_of(search, i),
            .second = problem->conflict == NULL ? problem->first[i] : 0,
            .item = i,
        };
    }
    maar_plan_sort_keys(search->keys, search->other_keys, search->count);
}

/* Draws how much each criterion of maar_exact_choose counts. */
static void draw_weights(struct maar_exact_search* search, bool by_slack)
{
    /* From 1024 / 2^0 to 1024 / 2^5; by slack to 1024 / 2^1. */
    search->slack_weight = 1024u >> (maar_plan_draw(&search->random) % (by_slack ? 2 : 6));
    search->weighs_failures = maar_plan_draw(&search->random) % 2 != 0 && !by_slack;
    search->weighs_lowest = !by_slack;
    const bool weighs_distance = maar_plan_draw(&search->random) % 8 != 0 && !by_slack;
    search->distance_weight = weighs_distance ? (search->capacity >> search->shift) / 144 : 0;
}

/* Draws the criteria of a deep walk: the fewest items that can be the lowest, and low cliques. */
static void draw_deep_weights(struct maar_exact_search* search)
{
    search->slack_weight = 128u >> (maar_plan_draw(&search->random) % 3);
    search->weighs_failures = false;
    search->weighs_lowest = true;
    search->distance_weight = (search->capacity >> search->shift) / 144;
}

/* Sets the load that no clique may exceed. In a clique, the rounding of only the topmost item may
 * exceed the capacity, so the largest rounding is added. Returns false when one item alone is too
 * large. */
static bool set_capacity(struct maar_exact_search* search, uint64_t capacity)
{
    const struct maar_plan_problem* problem = search->problem;
    uint64_t most_slack = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t slack = (uint64_t)problem->size[i] * problem->unit - problem->bytes[i];
        most_slack = slack > most_slack ? slack : most_slack;
        if (problem->bytes[i] > capacity) {
            return false;
        }
    }
    search->capacity = (int64_t)((capacity + most_slack) / problem->unit);
    for (uint32_t k = 0; k < problem->level_count; ++k) {
        search->cell_capacity[k] =
            (int64_t)((capacity + problem->levels[k].most_slack) / problem->unit);
    }
    search->shift = 0;
    while (search->capacity >> search->shift >= (int64_t)1 << 30) {
        ++search->shift;
    }
    return true;
}

static void set_highest(struct maar_exact_search* search, uint64_t capacity)
{
    const struct maar_plan_problem* problem = search->problem;
    for (uint32_t r = 0; r < search->count; ++r) {
        search->highest[r] =
            (int64_t)((capacity - problem->bytes[search->item[r]]) / problem->unit);
    }
}

/* Makes one walk with the rank rule and the weights that are drawn. */
static enum maar_exact_answer walk_once(struct maar_exact_search* search, uint64_t capacity,
                                        enum rank_rule rule, uint64_t limit,
                                        struct maar_plan_budget* budget, int64_t* offsets)
{
    memset(search->failures, 0, search->problem->clique_count * sizeof *search->failures);
    presort_items(search);
    draw_keys(search, rule);
    if (rule == RANK_BY_AREA) {
        draw_deep_weights(search);
    } else {
        draw_weights(search, walk_kinds[search->walks % WALK_KINDS].by_slack);
    }
    rank_items(search);
    set_highest(search, capacity);
    const enum maar_exact_answer answer = maar_exact_walk(search, limit, budget);
    for (uint32_t r = 0; answer == MAAR_EXACT_YES && r < search->count; ++r) {
        offsets[search->item[r]] = search->offset[r];
    }
    return answer;
}

enum maar_exact_answer maar_exact_search_run(struct maar_exact_search* search, uint64_t capacity,
                                             uint64_t node_limit, struct maar_plan_budget* budget,
                                             int64_t* offsets)
{
    if (!set_capacity(search, capacity)) {
        return MAAR_EXACT_NO;
    }
    uint64_t long_walk = (uint64_t)2 * SHORT_WALK;
    const uint64_t end = budget->nodes_used + node_limit;
    while (budget->nodes_used < end) {
        const bool is_long = search->walks % LONG_WALK_EVERY == LONG_WALK_EVERY - 1;
        uint64_t limit = is_long ? long_walk : SHORT_WALK;
        long_walk = is_long ? long_walk * 2 : long_walk;
        limit = limit < end - budget->nodes_used ? limit : end - budget->nodes_used;
        const enum rank_rule rule = walk_kinds[search->walks % WALK_KINDS].rule;
        const enum maar_exact_answer answer =
            walk_once(search, capacity, rule, limit, budget, offsets);
        ++search->walks;
        if (answer != MAAR_EXACT_UNKNOWN || budget->stop != MAAR_PLAN_STOP_DONE) {
            return answer;
        }
    }
    return MAAR_EXACT_UNKNOWN;
}

enum maar_exact_answer maar_exact_search_deep(struct maar_exact_search* search, uint64_t capacity,
                                              uint64_t walk_limit, uint64_t walks,
                                              struct maar_plan_budget* budget, int64_t* offsets)
{
    if (!set_capacity(search, capacity)) {
        return MAAR_EXACT_NO;
    }
    for (uint64_t k = 0; k < walks && budget->nodes_left > 0; ++k) {
        const uint64_t limit = walk_limit < budget->nodes_left ? walk_limit : budget->nodes_left;
        const enum maar_exact_answer answer =
            walk_once(search, capacity, RANK_BY_AREA, limit, budget, offsets);
        if (answer != MAAR_EXACT_UNKNOWN || budget->stop != MAAR_PLAN_STOP_DONE) {
            return answer;
        }
    }
    return MAAR_EXACT_UNKNOWN;
}

/* Returns the first state of the generator, which is never 0. */
static uint64_t draw_first_state(uint64_t seed)
{
    return seed == 0 ? first_state : mix(first_state + seed) | 1;
}

/* Gives each clique a signature: a sum over its items, so that the order of the items has no
 * effect. */
static void sign_cliques(struct maar_exact_search* search)
{
    const struct maar_plan_problem* problem = search->problem;
    memset(search->signature, 0, problem->clique_count * sizeof *search->signature);
    for (uint32_t i = 0; i < problem->count; ++i) {
        const uint64_t sign = mix(search->measures[i].size * 31 + search->measures[i].span);
        if (problem->conflict == NULL) {
            for (uint32_t s = problem->first[i]; s <= problem->last[i]; ++s) {
                search->signature[s] += sign;
            }
            continue;
        }
        for (uint32_t m = problem->member_begin[i]; m < problem->member_begin[i + 1]; ++m) {
            search->signature[problem->member[m]] += sign;
        }
    }
}

/* Numbers a time by the times before it at which an item begins or has ended. */
static uint64_t number_time(const struct maar_plan_key* times, uint32_t count, uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (times[middle].first < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Measures the lifetimes of items in steps: the number of times in it at which an item begins or
 * has ended. Unlike the number of passes, steps do not depend on how finely time is divided. With
 * several queues the number of conflicts takes their place. */
static bool measure_steps(struct maar_exact_search* search, struct maar_host_stack* stack)
{
    const struct maar_plan_problem* problem = search->problem;
    const uint32_t count = search->count;
    if (problem->conflict != NULL) {
        for (uint32_t i = 0; i < count; ++i) {
            search->steps[i] = search->measures[i].span;
        }
        return true;
    }
    struct maar_plan_key* times = maar_stack_grab(stack, (size_t)count * 2, sizeof *times);
    struct maar_plan_key* other = maar_stack_grab(stack, (size_t)count * 2, sizeof *other);
    if (times == NULL || other == NULL) {
        return false;
    }
    const struct maar_plan_graph* graph = problem->graph;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t resource = problem->resource[i];
        const uint64_t begin = graph->first[resource];
        const uint64_t end = (uint64_t)graph->last[resource] + 1;
        times[2 * i] = (struct maar_plan_key){.first = UINT64_MAX - begin};
        times[2 * i + 1] = (struct maar_plan_key){.first = UINT64_MAX - end};
    }
    maar_plan_sort_keys(times, other, 2 * count);
    uint32_t distinct = 0;
    for (uint32_t k = 0; k < 2 * count; ++k) {
        const uint64_t time = UINT64_MAX - times[k].first;
        if (distinct == 0 || times[distinct - 1].first != time) {
            times[distinct++].first = time;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t resource = problem->resource[i];
        search->steps[i] = number_time(times, distinct, (uint64_t)graph->last[resource] + 1) -
                           number_time(times, distinct, graph->first[resource]);
    }
    return true;
}

/* Returns whether all arrays of the search are allocated. */
static bool is_complete(const struct maar_exact_search* search)
{
    bool complete = search->cell_load != NULL;
    for (uint32_t k = 0; k < search->problem->level_count; ++k) {
        complete = complete && search->duration[k] != NULL;
    }
    return complete && search->entries != NULL && search->nodes != NULL && search->parts != NULL &&
           search->steps != NULL && search->item != NULL && search->size != NULL &&
           search->highest != NULL && search->twin != NULL && search->placed != NULL &&
           search->offset != NULL && search->crossing != NULL && search->load != NULL &&
           search->floor != NULL && search->lowest != NULL && search->limit != NULL &&
           search->failures != NULL && search->signature != NULL && search->trail != NULL &&
           search->raised != NULL && search->lifted != NULL && search->keys != NULL &&
           search->other_keys != NULL &&
           (search->problem->conflict != NULL || (search->first != NULL && search->last != NULL));
}

struct maar_exact_search* maar_exact_search_create(const struct maar_plan_problem* problem,
                                                   struct maar_host_stack* stack)
{
    const uint32_t count = problem->count;
    struct maar_exact_search* search = maar_stack_grab(stack, 1, sizeof *search);
    struct maar_plan_measure* measures = NULL;
    if (search == NULL || maar_plan_measure_items(problem, stack, &measures) != VK_SUCCESS) {
        return NULL;
    }
    const size_t cliques = problem->clique_count;
    /* Each level has at least one item less than the level above. A split writes the items of a
     * level once more. */
    const size_t entries = (size_t)count * ((size_t)count + 2);
    /* Each item adds at most a level of decisions and a level of parts. */
    const size_t levels = 2 * (size_t)count + 4;
    *search = (struct maar_exact_search){
        .problem = problem,
        .measures = measures,
        /* The generator continues from one capacity to the next, so that no search repeats the
         * walks of another. */
        .random = draw_first_state(maar_plan_seed(problem->graph->info)),
        .count = count,
        .plain = !problem->mixed,
        .steps = maar_stack_grab(stack, count, sizeof *search->steps),
        .item = maar_stack_grab(stack, count, sizeof *search->item),
        .size = maar_stack_grab(stack, count, sizeof *search->size),
        .highest = maar_stack_grab(stack, count, sizeof *search->highest),
        .twin = maar_stack_grab(stack, count, sizeof *search->twin),
        .placed = maar_stack_grab(stack, count, sizeof *search->placed),
        .offset = maar_stack_grab(stack, count, sizeof *search->offset),
        .crossing = maar_stack_grab(stack, cliques, sizeof *search->crossing),
        .load = maar_stack_grab(stack, cliques, sizeof *search->load),
        .cell_load = maar_stack_grab(stack, cliques, sizeof *search->cell_load),
        .floor = maar_stack_grab(stack, cliques, sizeof *search->floor),
        .lowest = maar_stack_grab(stack, cliques, sizeof *search->lowest),
        .limit = maar_stack_grab(stack, cliques, sizeof *search->limit),
        .failures = maar_stack_grab(stack, cliques, sizeof *search->failures),
        .signature = maar_stack_grab(stack, cliques, sizeof *search->signature),
        .entries = maar_stack_grab(stack, entries, sizeof *search->entries),
        .nodes = maar_stack_grab(stack, levels, sizeof *search->nodes),
        .parts = maar_stack_grab(stack, levels + count, sizeof *search->parts),
        .trail = maar_stack_grab(stack, count, sizeof *search->trail),
        .raised = maar_stack_grab(stack, count, sizeof *search->raised),
        .lifted = maar_stack_grab(stack, count, sizeof *search->lifted),
        .keys = maar_stack_grab(stack, count, sizeof *search->keys),
        .other_keys = maar_stack_grab(stack, count, sizeof *search->other_keys),
    };
    if (problem->conflict == NULL) {
        search->first = maar_stack_grab(stack, count, sizeof *search->first);
        search->last = maar_stack_grab(stack, count, sizeof *search->last);
    }
    for (uint32_t k = 0; k < problem->level_count; ++k) {
        search->duration[k] = maar_stack_grab(stack, count, sizeof *search->duration[k]);
    }
    if (!is_complete(search) || !measure_steps(search, stack)) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i) {
        search->plain = search->plain && problem->align[i] == 1 && problem->fixed[i] < 0;
    }
    sign_cliques(search);
    return search;
}
