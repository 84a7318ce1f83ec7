/*
 * Skylines of many items: see plan_skyline.h.
 *
 * The skyline is divided into plateaus: runs of sections of one height. The items whose lives lie
 * within the sections of the lowest plateau can lie lowest. If there are none, the plateau rises to
 * the lower one of its neighbours, since no item can use the room below. So n items need at most
 * 3 n steps.
 *
 * Each step looks for the item of the least rank among those that begin at or after one section
 * and end at or before another one. The items are sorted by their first section. A block of 2^j
 * items in this order has its items sorted by their last section, and a tree of least ranks above
 * them. A step looks into one block of each size at most.
 */
#include "core/plan/plan_skyline.h"

#include <string.h>

#define NO_RANK UINT32_MAX

enum {
    MAX_SIZES = 18, /* sizes of blocks, from 2^0 to 2^17 */
    PLATEAUS_PER_LOOK = 128
};

/* A run of sections of one height. Its number is its first section. */
struct plateau {
    int64_t height;
    uint32_t end;    /* the section after its last one */
    uint32_t before; /* the plateau before it; itself if there is none */
    uint32_t place;  /* where it is in the heap */
};

struct maar_plan_skyline {
    const struct maar_plan_problem* problem;
    uint32_t size_count;        /* sizes of blocks in use */
    uint32_t* begin;            /* per section: the number of items that begin before it */
    uint32_t* last[MAX_SIZES];  /* last sections, sorted within each block */
    uint32_t* place[MAX_SIZES]; /* per item: where it is in `last` */
    uint32_t* least[MAX_SIZES]; /* per block: a tree of least ranks, the root at 1 */
    struct plateau* plateaus;   /* per section */
    uint32_t* heap;             /* plateaus, the lowest first */
    uint32_t heap_count;
};

/* ---- the items that are left ---- */

static uint32_t* tree_of(const struct maar_plan_skyline* skyline, uint32_t size, uint32_t begin)
{
    return skyline->least[size] + (size_t)2 * begin;
}

/* Sorts the items by their first section. */
static void sort_by_first(struct maar_plan_skyline* skyline, uint32_t* order)
{
    const struct maar_plan_problem* all = skyline->problem;
    memset(skyline->begin, 0, ((size_t)all->clique_count + 1) * sizeof *skyline->begin);
    for (uint32_t k = 0; k < all->count; ++k) {
        skyline->begin[all->first[k] + 1] += 1;
    }
    for (uint32_t s = 0; s < all->clique_count; ++s) {
        skyline->begin[s + 1] += skyline->begin[s];
    }
    for (uint32_t k = all->count; k-- > 0;) {
        order[--skyline->begin[all->first[k] + 1]] = k;
    }
    /* Each element now has the number of items that begin before the section before it. */
    for (uint32_t s = 0; s < all->clique_count; ++s) {
        skyline->begin[s] = skyline->begin[s + 1];
    }
    skyline->begin[all->clique_count] = all->count;
}

/* Sorts the blocks of one size by last sections, from blocks of half the size. */
static void merge_blocks(struct maar_plan_skyline* skyline, uint32_t size, const uint32_t* from,
                         uint32_t* to)
{
    const struct maar_plan_problem* all = skyline->problem;
    const uint32_t half = 1u << (size - 1);
    for (uint32_t begin = 0; begin < all->count; begin += 2 * half) {
        const uint32_t middle = all->count - begin < half ? all->count : begin + half;
        const uint32_t end = all->count - middle < half ? all->count : middle + half;
        uint32_t a = begin;
        uint32_t b = middle;
        for (uint32_t k = begin; k < end; ++k) {
            const bool left = b == end || (a < middle && all->last[from[a]] <= all->last[from[b]]);
            to[k] = left ? from[a++] : from[b++];
        }
    }
}

struct maar_plan_skyline* maar_plan_open_skyline(const struct maar_plan_problem* problem,
                                                 struct maar_host_stack* stack)
{
    const size_t count = problem->count;
    struct maar_plan_skyline* skyline = maar_stack_grab_zeroed(stack, 1, sizeof *skyline);
    uint32_t* order = maar_stack_grab(stack, count, sizeof *order);
    uint32_t* other = maar_stack_grab(stack, count, sizeof *other);
    if (skyline == NULL || order == NULL || other == NULL) {
        return NULL;
    }
    skyline->problem = problem;
    skyline->begin = maar_stack_grab(stack, (size_t)problem->clique_count + 2, sizeof(uint32_t));
    skyline->plateaus = maar_stack_grab(stack, problem->clique_count, sizeof *skyline->plateaus);
    skyline->heap = maar_stack_grab(stack, problem->clique_count, sizeof *skyline->heap);
    bool complete = skyline->begin != NULL && skyline->plateaus != NULL && skyline->heap != NULL;
    size_t room = 1;
    for (; room < count; room *= 2) {
        ++skyline->size_count;
    }
    ++skyline->size_count;
    MAAR_DEBUG_ASSERT(skyline->size_count <= MAX_SIZES);
    for (uint32_t size = 0; size < skyline->size_count; ++size) {
        skyline->last[size] = maar_stack_grab(stack, count, sizeof(uint32_t));
        skyline->place[size] = maar_stack_grab(stack, count, sizeof(uint32_t));
        skyline->least[size] = maar_stack_grab(stack, room, 2 * sizeof(uint32_t));
        complete = complete && skyline->last[size] != NULL && skyline->place[size] != NULL &&
                   skyline->least[size] != NULL;
    }
    if (!complete) {
        return NULL;
    }
    sort_by_first(skyline, order);
    for (uint32_t size = 0; size < skyline->size_count; ++size) {
        if (size > 0) {
            merge_blocks(skyline, size, order, other);
            uint32_t* const swap = order;
            order = other;
            other = swap;
        }
        for (uint32_t k = 0; k < problem->count; ++k) {
            skyline->last[size][k] = problem->last[order[k]];
            skyline->place[size][order[k]] = k;
        }
    }
    return skyline;
}

/* Builds the trees of the blocks of one size. */
static void fill_trees(struct maar_plan_skyline* skyline, uint32_t size, const uint32_t* rank)
{
    const uint32_t count = skyline->problem->count;
    const uint32_t width = 1u << size;
    for (uint32_t begin = 0; begin < count; begin += width) {
        memset(tree_of(skyline, size, begin), 0xFF, (size_t)2 * width * sizeof(uint32_t));
    }
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t at = skyline->place[size][k];
        tree_of(skyline, size, at & ~(width - 1))[width + (at & (width - 1))] = rank[k];
    }
    for (uint32_t begin = 0; begin < count; begin += width) {
        uint32_t* tree = tree_of(skyline, size, begin);
        for (uint32_t node = width; node-- > 1;) {
            const uint32_t left = tree[(size_t)2 * node];
            const uint32_t right = tree[(size_t)2 * node + 1];
            tree[node] = left < right ? left : right;
        }
    }
}

/* Returns the least rank of the first `count` leaves of a tree. */
static uint32_t least_leaf(const uint32_t* tree, uint32_t width, uint32_t count)
{
    uint32_t least = NO_RANK;
    if (count == width) {
        return tree[1];
    }
    for (uint32_t end = width + count; end > 1; end /= 2) {
        if (end % 2 != 0 && tree[end - 1] < least) {
            least = tree[end - 1];
        }
    }
    return least;
}

/* Returns the number of values in a sorted list that are at most `most`. */
static uint32_t count_up_to(const uint32_t* list, uint32_t count, uint32_t most)
{
    uint32_t low = 0;
    while (count > 0) {
        const uint32_t half = count / 2;
        if (list[low + half] <= most) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Returns the least rank of the items that begin at or after one section and end at or before
 * another, or NO_RANK. */
static uint32_t find_least(const struct maar_plan_skyline* skyline, uint32_t first, uint32_t last)
{
    const uint32_t count = skyline->problem->count;
    uint32_t least = NO_RANK;
    for (uint32_t at = skyline->begin[first]; at < count;) {
        uint32_t size = at != 0 ? maar_low_bit(at) : skyline->size_count - 1;
        const uint32_t width = 1u << size;
        const uint32_t* tree = tree_of(skyline, size, at);
        if (tree[1] < least) {
            const uint32_t filled = count - at < width ? count - at : width;
            const uint32_t fitting = count_up_to(skyline->last[size] + at, filled, last);
            const uint32_t found = least_leaf(tree, width, fitting);
            least = found < least ? found : least;
        }
        at += width;
    }
    return least;
}

static void remove_item(struct maar_plan_skyline* skyline, uint32_t item)
{
    for (uint32_t size = 0; size < skyline->size_count; ++size) {
        const uint32_t width = 1u << size;
        const uint32_t at = skyline->place[size][item];
        uint32_t* tree = tree_of(skyline, size, at & ~(width - 1));
        uint32_t node = width + (at & (width - 1));
        const uint32_t rank = tree[node];
        tree[node] = NO_RANK;
        for (node /= 2; node >= 1 && tree[node] == rank; node /= 2) {
            const uint32_t left = tree[(size_t)2 * node];
            const uint32_t right = tree[(size_t)2 * node + 1];
            tree[node] = left < right ? left : right;
        }
    }
}

/* ---- plateaus ---- */

static bool is_lower_plateau(const struct maar_plan_skyline* skyline, uint32_t a, uint32_t b)
{
    const int64_t left = skyline->plateaus[a].height;
    const int64_t right = skyline->plateaus[b].height;
    return left < right || (left == right && a < b);
}

static void put_in_heap(struct maar_plan_skyline* skyline, uint32_t place, uint32_t plateau)
{
    skyline->heap[place] = plateau;
    skyline->plateaus[plateau].place = place;
}

/* Moves a plateau to its place in the heap, from a place that is free. */
static void settle_plateau(struct maar_plan_skyline* skyline, uint32_t place, uint32_t plateau)
{
    while (place > 0 && is_lower_plateau(skyline, plateau, skyline->heap[(place - 1) / 2])) {
        put_in_heap(skyline, place, skyline->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (uint32_t child = 2 * place + 1; child < skyline->heap_count; child = 2 * place + 1) {
        if (child + 1 < skyline->heap_count &&
            is_lower_plateau(skyline, skyline->heap[child + 1], skyline->heap[child])) {
            ++child;
        }
        if (!is_lower_plateau(skyline, skyline->heap[child], plateau)) {
            break;
        }
        put_in_heap(skyline, place, skyline->heap[child]);
        place = child;
    }
    put_in_heap(skyline, place, plateau);
}

static void add_plateau(struct maar_plan_skyline* skyline, uint32_t begin, uint32_t end,
                        uint32_t before, int64_t height)
{
    skyline->plateaus[begin] = (struct plateau){.height = height, .end = end, .before = before};
    if (end < skyline->problem->clique_count) {
        skyline->plateaus[end].before = begin;
    }
    settle_plateau(skyline, skyline->heap_count++, begin);
}

/* Takes a plateau out of the heap. */
static void lift_out(struct maar_plan_skyline* skyline, uint32_t plateau)
{
    const uint32_t place = skyline->plateaus[plateau].place;
    const uint32_t moved = skyline->heap[--skyline->heap_count];
    if (moved != plateau) {
        settle_plateau(skyline, place, moved);
    }
}

/* Adds the sections of a plateau to those of the plateau before it. */
static void join_before(struct maar_plan_skyline* skyline, uint32_t plateau)
{
    const struct plateau* joined = &skyline->plateaus[plateau];
    struct plateau* before = &skyline->plateaus[joined->before];
    lift_out(skyline, plateau);
    before->end = joined->end;
    if (joined->end < skyline->problem->clique_count) {
        skyline->plateaus[joined->end].before = joined->before;
    }
}

/* Joins a plateau with its neighbours of the same height. */
static void join_equals(struct maar_plan_skyline* skyline, uint32_t plateau)
{
    const struct plateau* plateaus = skyline->plateaus;
    const uint32_t end = plateaus[plateau].end;
    if (end < skyline->problem->clique_count && plateaus[end].height == plateaus[plateau].height) {
        join_before(skyline, end);
    }
    const uint32_t before = plateaus[plateau].before;
    if (before != plateau && plateaus[before].height == plateaus[plateau].height) {
        join_before(skyline, plateau);
    }
}

/* Raises a plateau to the height of the lower one of its neighbours. */
static void raise_plateau(struct maar_plan_skyline* skyline, uint32_t plateau)
{
    struct plateau* raised = &skyline->plateaus[plateau];
    int64_t height = INT64_MAX;
    if (raised->end < skyline->problem->clique_count) {
        height = skyline->plateaus[raised->end].height;
    }
    if (raised->before != plateau && skyline->plateaus[raised->before].height < height) {
        height = skyline->plateaus[raised->before].height;
    }
    raised->height = height;
    settle_plateau(skyline, raised->place, plateau);
    join_equals(skyline, plateau);
}

/* Puts an item on a plateau, and divides the plateau. Returns the item's offset. */
static int64_t put_on(struct maar_plan_skyline* skyline, uint32_t plateau, uint32_t item)
{
    const struct maar_plan_problem* problem = skyline->problem;
    const uint32_t first = problem->first[item];
    const uint32_t end = problem->last[item] + 1;
    const struct plateau old = skyline->plateaus[plateau];
    const int64_t offset = maar_plan_align_up(old.height, problem->align[item]);
    uint32_t before = old.before == plateau ? first : old.before;
    if (plateau < first) {
        skyline->plateaus[plateau].end = first;
        before = plateau;
    } else {
        lift_out(skyline, plateau);
    }
    add_plateau(skyline, first, end, before, offset + problem->size[item]);
    if (end < old.end) {
        add_plateau(skyline, end, old.end, first, old.height);
    }
    join_equals(skyline, first);
    return offset;
}

bool maar_plan_place_skyline(struct maar_plan_skyline* skyline, const uint32_t* order,
                             const uint32_t* rank, struct maar_plan_budget* budget,
                             int64_t* offsets)
{
    const struct maar_plan_problem* problem = skyline->problem;
    for (uint32_t size = 0; size < skyline->size_count; ++size) {
        if (maar_plan_interrupted(budget)) {
            return false;
        }
        fill_trees(skyline, size, rank);
    }
    skyline->heap_count = 0;
    add_plateau(skyline, 0, problem->clique_count, 0, 0);
    uint32_t steps = 0;
    for (uint32_t left = problem->count; left > 0;) {
        if (++steps % PLATEAUS_PER_LOOK == 0 && maar_plan_interrupted(budget)) {
            return false;
        }
        const uint32_t plateau = skyline->heap[0];
        const uint32_t found = find_least(skyline, plateau, skyline->plateaus[plateau].end - 1);
        if (found == NO_RANK) {
            raise_plateau(skyline, plateau);
            continue;
        }
        remove_item(skyline, order[found]);
        offsets[order[found]] = put_on(skyline, plateau, order[found]);
        --left;
    }
    return true;
}
