/*
 * Each step takes one item that is not placed and puts it where the items in the way weigh least.
 * These leave their places and wait, too. An item that had to push others out weighs more from then
 * on, so the search does not go in circles. Between the steps, some placed items move within the
 * free space, which brings gaps together. The search is done when nothing waits.
 *
 * After Nagata and Braeysy, "A powerful route minimization heuristic for the vehicle routing
 * problem with time windows" (Operations Research Letters, 2009), which ejects customers from
 * routes.
 *
 * Two lists have the placed items in the order of their beginnings and of their ends. One pass over
 * both finds the weight in the way at all offsets: the weight changes only where an item begins or
 * ends. All numbers are integers. A search belongs to one thread, and a run allocates no memory.
 */
#include "core/plan/exact/exact_eject.h"

#include "core/plan/problem/plan_rank.h"

#include <string.h>

/* The number of items that try to move after each step. Of 0, 1, 3 and 8, the search finds most
 * with 3 and 8 on instance J of google/minimalloc in twelve seconds, and nothing with 0. */
enum { MOVES_PER_STEP = 3 };
/* The number of looks at a placed item that cost as much as a node of the exact search. */
enum { LOOKS_PER_NODE = 4096 };
/* The number of steps between two readings of the clock. They take at most a few milliseconds. */
enum { EJECTIONS_PER_LOOK = 32 };

/* The first state of the generator without a seed: the fraction of the golden ratio. It was not
 * chosen by results. */
static const uint64_t first_eject_state = 0x9E3779B97F4A7C15u;

/* An item's beginning or end. */
struct mark {
    int64_t at;
    uint32_t item;
};

struct maar_exact_eject {
    const struct maar_plan_problem* problem;
    uint32_t count;
    size_t words;
    uint64_t* conflict; /* per item: a row of bits */
    int64_t* offset;    /* units; -1 for an item that waits */
    int64_t* highest;   /* units: the highest offset within the capacity */
    uint64_t* base;     /* the weight of an item at first, and what it gains each time */
    uint64_t* weight;
    /* The placed items. */
    struct mark* begins;
    struct mark* ends;
    uint32_t placed;
    /* The placed items that conflict with the item in question. */
    struct mark* near_begins;
    struct mark* near_ends;
    uint32_t nearby;
    uint32_t* waiting;
    uint32_t waiting_count;
    uint64_t looks; /* that have not counted as a node yet */
    uint64_t random;
};

/* The offsets found for an item: one of those with the least weight in the way. */
struct spot {
    int64_t offset;
    uint64_t weight;
    uint64_t ties;
};

bool maar_exact_eject_takes(const struct maar_plan_problem* problem)
{
    bool plain = problem->count <= MAAR_PLAN_SMALL && !problem->mixed && !problem->relaxed;
    for (uint32_t i = 0; i < problem->count; ++i) {
        plain = plain && problem->align[i] == 1 && problem->fixed[i] < 0;
    }
    return plain;
}

static bool conflicts(const struct maar_exact_eject* eject, uint32_t a, uint32_t b)
{
    return maar_plan_has(eject->conflict + (size_t)a * eject->words, b);
}

static uint64_t draw_under(struct maar_exact_eject* eject, uint64_t limit)
{
    return maar_plan_draw(&eject->random) % limit;
}

/* Returns the place of a mark in a sorted list, or where it would stand. */
static uint32_t find_mark(const struct mark* marks, uint32_t count, struct mark mark)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const bool before = marks[middle].at < mark.at ||
                            (marks[middle].at == mark.at && marks[middle].item < mark.item);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static void insert_mark(struct mark* marks, uint32_t count, struct mark mark)
{
    const uint32_t at = find_mark(marks, count, mark);
    memmove(marks + at + 1, marks + at, (count - at) * sizeof *marks);
    marks[at] = mark;
}

static void remove_mark(struct mark* marks, uint32_t count, struct mark mark)
{
    const uint32_t at = find_mark(marks, count, mark);
    MAAR_DEBUG_ASSERT(at < count && marks[at].item == mark.item);
    memmove(marks + at, marks + at + 1, (count - at - 1) * sizeof *marks);
}

static void settle(struct maar_exact_eject* eject, uint32_t item, int64_t offset)
{
    const int64_t end = offset + eject->problem->size[item];
    insert_mark(eject->begins, eject->placed, (struct mark){offset, item});
    insert_mark(eject->ends, eject->placed, (struct mark){end, item});
    eject->offset[item] = offset;
    ++eject->placed;
}

static void unsettle(struct maar_exact_eject* eject, uint32_t item)
{
    const int64_t offset = eject->offset[item];
    const int64_t end = offset + eject->problem->size[item];
    remove_mark(eject->begins, eject->placed, (struct mark){offset, item});
    remove_mark(eject->ends, eject->placed, (struct mark){end, item});
    eject->offset[item] = -1;
    --eject->placed;
}

static void eject_item(struct maar_exact_eject* eject, uint32_t item)
{
    unsettle(eject, item);
    eject->waiting[eject->waiting_count++] = item;
}

/* Lists the placed items that conflict with an item. The lists have room for one more. */
static void gather(struct maar_exact_eject* eject, uint32_t item)
{
    const uint64_t* row = eject->conflict + (size_t)item * eject->words;
    uint32_t begins = 0;
    uint32_t ends = 0;
    for (uint32_t k = 0; k < eject->placed; ++k) {
        const struct mark begin = eject->begins[k];
        const struct mark end = eject->ends[k];
        eject->near_begins[begins] = begin;
        begins += maar_plan_has(row, begin.item);
        eject->near_ends[ends] = end;
        ends += maar_plan_has(row, end.item);
    }
    eject->nearby = begins;
    eject->looks += 2 * (uint64_t)eject->placed;
}

/* Takes a range of offsets into account that all have the same weight in the way. Of the best
 * ranges each is as likely, and of its lower and its upper end too. */
static void consider(struct maar_exact_eject* eject, struct spot* spot, int64_t low, int64_t high,
                     uint64_t weight)
{
    if (weight > spot->weight) {
        return;
    }
    spot->ties = weight < spot->weight ? 1 : spot->ties + 1;
    spot->weight = weight;
    const uint64_t drawn = maar_plan_draw(&eject->random);
    if ((drawn >> 1) % spot->ties == 0) {
        spot->offset = (drawn & 1) != 0 ? high : low;
    }
}

/* Finds the offsets of an item at which the gathered items in the way weigh least, and draws one of
 * them. An item that ends at an offset is no longer in the way there; one that begins at the end of
 * the item is not yet. */
static struct spot find_spot(struct maar_exact_eject* eject, uint32_t item)
{
    const int64_t size = eject->problem->size[item];
    const int64_t highest = eject->highest[item];
    const struct mark* begins = eject->near_begins;
    const struct mark* ends = eject->near_ends;
    struct spot spot = {.weight = UINT64_MAX};
    uint64_t weight = 0;
    uint32_t begun = 0;
    uint32_t ended = 0;
    int64_t low = 0;
    for (; begun < eject->nearby && begins[begun].at < size; ++begun) {
        weight += eject->weight[begins[begun].item];
    }
    for (;;) {
        const int64_t begin = begun < eject->nearby ? begins[begun].at - size : INT64_MAX;
        const int64_t end = ended < eject->nearby ? ends[ended].at : INT64_MAX;
        if (end <= begin && end <= highest) {
            weight -= eject->weight[ends[ended++].item];
            low = end;
            continue;
        }
        consider(eject, &spot, low, begin < highest ? begin : highest, weight);
        if (begin >= highest) {
            return spot;
        }
        weight += eject->weight[begins[begun++].item];
        low = begin + 1;
    }
}

/* Places an item that waits. The items in the way wait instead. */
static void place_waiting(struct maar_exact_eject* eject)
{
    const uint64_t at = draw_under(eject, eject->waiting_count);
    const uint32_t item = eject->waiting[at];
    eject->waiting[at] = eject->waiting[--eject->waiting_count];
    gather(eject, item);
    const struct spot spot = find_spot(eject, item);
    const int64_t end = spot.offset + eject->problem->size[item];
    if (spot.weight > 0) {
        eject->weight[item] += eject->base[item];
    }
    for (uint32_t k = 0; k < eject->nearby && eject->near_begins[k].at < end; ++k) {
        const struct mark begin = eject->near_begins[k];
        if (begin.at + eject->problem->size[begin.item] > spot.offset) {
            eject_item(eject, begin.item);
        }
    }
    settle(eject, item, spot.offset);
}

/* Returns the lowest or highest offset to which a placed item can slide. */
static int64_t slide(const struct maar_exact_eject* eject, uint32_t item, bool up)
{
    const int64_t offset = eject->offset[item];
    const int64_t size = eject->problem->size[item];
    int64_t low = 0;
    int64_t high = eject->highest[item];
    for (uint32_t k = 0; k < eject->nearby; ++k) {
        const struct mark begin = eject->near_begins[k];
        const int64_t end = begin.at + eject->problem->size[begin.item];
        low = end <= offset && end > low ? end : low;
        high = begin.at >= offset + size && begin.at - size < high ? begin.at - size : high;
    }
    return up ? high : low;
}

/* Moves any placed item where it pushes nothing out: down or up, or to any gap. */
static void move_any(struct maar_exact_eject* eject)
{
    const uint32_t item = (uint32_t)draw_under(eject, eject->count);
    const uint64_t way = draw_under(eject, 4);
    if (eject->offset[item] < 0) {
        return;
    }
    gather(eject, item);
    const int64_t offset = way < 2 ? slide(eject, item, way == 0) : find_spot(eject, item).offset;
    if (offset != eject->offset[item]) {
        unsettle(eject, item);
        settle(eject, item, offset);
    }
}

void maar_exact_eject_load(struct maar_exact_eject* eject, const int64_t* offsets)
{
    eject->placed = 0;
    eject->waiting_count = 0;
    for (uint32_t i = 0; i < eject->count; ++i) {
        settle(eject, i, offsets[i]);
    }
}

/* Ejects what ends above the capacity. */
static void eject_above(struct maar_exact_eject* eject, uint64_t capacity)
{
    const struct maar_plan_problem* problem = eject->problem;
    for (uint32_t i = 0; i < eject->count; ++i) {
        MAAR_DEBUG_ASSERT(problem->bytes[i] <= capacity);
        eject->highest[i] = (int64_t)((capacity - problem->bytes[i]) / problem->unit);
        if (eject->offset[i] > eject->highest[i]) {
            eject_item(eject, i);
        }
    }
}

bool maar_exact_eject_run(struct maar_exact_eject* eject, uint64_t capacity, uint64_t node_limit,
                          struct maar_plan_budget* budget, int64_t* offsets)
{
    const uint64_t end = budget->nodes_used + node_limit;
    uint32_t steps = 0;
    eject_above(eject, capacity);
    while (eject->waiting_count > 0) {
        if (budget->nodes_used >= end || budget->nodes_left == 0 ||
            (++steps % EJECTIONS_PER_LOOK == 0 && maar_plan_interrupted(budget))) {
            return false;
        }
        place_waiting(eject);
        for (uint32_t k = 0; k < MOVES_PER_STEP; ++k) {
            move_any(eject);
        }
        maar_plan_budget_spend(budget, 1 + eject->looks / LOOKS_PER_NODE);
        eject->looks %= LOOKS_PER_NODE;
    }
    MAAR_HEAVY_ASSERT(maar_exact_eject_is_sound(eject));
    memcpy(offsets, eject->offset, eject->count * sizeof *offsets);
    return true;
}

/* Returns the square root, rounded down. */
static uint64_t root_of(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1) {
        root += (root + bit) * (root + bit) <= value ? bit : 0;
    }
    return root;
}

/* The weights that the search adds up stay far below 2^64: they grow by a base of at most 2^32 for
 * each step. */
static bool weigh_items(struct maar_exact_eject* eject, struct maar_host_stack* stack)
{
    struct maar_plan_measure* measures = NULL;
    if (maar_plan_measure_items(eject->problem, stack, &measures) != VK_SUCCESS) {
        return false;
    }
    for (uint32_t i = 0; i < eject->count; ++i) {
        eject->base[i] = 1 + root_of(measures[i].area);
        eject->weight[i] = eject->base[i];
    }
    return true;
}

static void fill_rows(struct maar_exact_eject* eject)
{
    for (uint32_t i = 0; i < eject->count; ++i) {
        uint64_t* row = eject->conflict + (size_t)i * eject->words;
        for (uint32_t k = 0; k < eject->count; ++k) {
            if (k != i && maar_plan_conflicts(eject->problem, i, k)) {
                maar_plan_put(row, k);
            }
        }
    }
}

struct maar_exact_eject* maar_exact_eject_create(const struct maar_plan_problem* problem,
                                                 struct maar_host_stack* stack)
{
    const size_t count = problem->count;
    const size_t words = maar_plan_words(count);
    struct maar_exact_eject* eject = maar_stack_grab(stack, 1, sizeof *eject);
    if (eject == NULL) {
        return NULL;
    }
    *eject = (struct maar_exact_eject){
        .problem = problem,
        .count = problem->count,
        .words = words,
        .conflict = maar_stack_grab_zeroed(stack, count * words, sizeof *eject->conflict),
        .offset = maar_stack_grab(stack, count, sizeof *eject->offset),
        .highest = maar_stack_grab(stack, count, sizeof *eject->highest),
        .base = maar_stack_grab(stack, count, sizeof *eject->base),
        .weight = maar_stack_grab(stack, count, sizeof *eject->weight),
        .begins = maar_stack_grab(stack, count, sizeof *eject->begins),
        .ends = maar_stack_grab(stack, count, sizeof *eject->ends),
        .near_begins = maar_stack_grab(stack, count + 1, sizeof *eject->near_begins),
        .near_ends = maar_stack_grab(stack, count + 1, sizeof *eject->near_ends),
        .waiting = maar_stack_grab(stack, count, sizeof *eject->waiting),
        .random = (first_eject_state ^ maar_plan_seed(problem->graph->info) << 1) | 1,
    };
    if (eject->conflict == NULL || eject->offset == NULL || eject->highest == NULL ||
        eject->base == NULL || eject->weight == NULL || eject->begins == NULL ||
        eject->ends == NULL || eject->near_begins == NULL || eject->near_ends == NULL ||
        eject->waiting == NULL || !weigh_items(eject, stack)) {
        return NULL;
    }
    fill_rows(eject);
    return eject;
}

bool maar_exact_eject_is_sound(const struct maar_exact_eject* eject)
{
    for (uint32_t k = 0; k < eject->placed; ++k) {
        const struct mark begin = eject->begins[k];
        const struct mark end = eject->ends[k];
        if (begin.at != eject->offset[begin.item] || begin.at > eject->highest[begin.item] ||
            end.at != eject->offset[end.item] + eject->problem->size[end.item] ||
            (k > 0 && (begin.at < eject->begins[k - 1].at || end.at < eject->ends[k - 1].at))) {
            return false;
        }
        for (uint32_t j = 0; j < k; ++j) {
            const struct mark other = eject->begins[j];
            if (conflicts(eject, begin.item, other.item) &&
                other.at + eject->problem->size[other.item] > begin.at) {
                return false;
            }
        }
    }
    return eject->placed + eject->waiting_count == eject->count;
}
