/*
 * The planner's data structures against plain arrays: sets of ranks, trees of maxima, lists of
 * gaps, and sorting by digits.
 */
#include "core/plan/plan_gaps.h"
#include "core/plan/plan_skyline.h"
#include "core/plan/problem/plan_floors.h"
#include "core/plan/problem/plan_rank.h"
#include "core/plan/problem/plan_rank_set.h"
#include "tests/rig/rig.h"

enum { MOST = 5000 };

static uint32_t next_of(const bool* in, uint32_t count, uint32_t from)
{
    while (from < count && !in[from]) {
        ++from;
    }
    return from < count ? from : UINT32_MAX;
}

static uint32_t before_of(const bool* in, uint32_t count, uint32_t end)
{
    end = end < count ? end : count;
    while (end > 0 && !in[end - 1]) {
        --end;
    }
    return end > 0 ? end - 1 : UINT32_MAX;
}

static void rank_set_agrees_with_an_array(void** state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 4096, 4097, MOST};
    struct rig_random random = {rig_seed(3)};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        const uint32_t count = counts[i];
        struct maar_host_stack stack = {0};
        struct maar_plan_rank_set set;
        bool in[MOST] = {false};
        assert_true(maar_plan_rank_set_init(&set, count, &stack));
        for (uint32_t step = 0; step < 4000; ++step) {
            const uint32_t at = rig_below(&random, count);
            /* Sparse for a time, then dense. */
            in[at] = rig_below(&random, 4) < (step < 2000 ? 1u : 3u);
            if (in[at]) {
                maar_plan_rank_set_add(&set, at);
            } else {
                maar_plan_rank_set_remove(&set, at);
            }
            const uint32_t from = rig_below(&random, count + 2);
            assert_int_equal(maar_plan_rank_set_next(&set, from), next_of(in, count, from));
            assert_int_equal(maar_plan_rank_set_before(&set, from), before_of(in, count, from));
            assert_int_equal(maar_plan_rank_set_before(&set, UINT32_MAX),
                             before_of(in, count, UINT32_MAX));
        }
        maar_stack_reset(&stack);
    }
}

static void floors_agree_with_an_array(void** state)
{
    (void)state;
    struct rig_random random = {rig_seed(4)};
    for (uint32_t count = 1; count < 300; count += 7) {
        struct maar_host_stack stack = {0};
        struct maar_plan_floors floors;
        int64_t values[300] = {0};
        assert_true(maar_plan_floors_init(&floors, count, &stack));
        for (uint32_t step = 0; step < 1000; ++step) {
            const uint32_t one = rig_below(&random, count);
            const uint32_t other = rig_below(&random, count);
            const uint32_t first = one < other ? one : other;
            const uint32_t last = one < other ? other : one;
            const int64_t value = rig_below(&random, 1000) + step;
            int64_t most = 0;
            for (uint32_t i = first; i <= last; ++i) {
                most = values[i] > most ? values[i] : most;
            }
            assert_true(maar_plan_floors_highest(&floors, first, last) == most);
            if (step == 500) {
                maar_plan_floors_reset(&floors);
                memset(values, 0, sizeof values);
            }
            maar_plan_floors_raise(&floors, first, last, value);
            for (uint32_t i = first; i <= last; ++i) {
                values[i] = value > values[i] ? value : values[i];
            }
        }
        maar_stack_reset(&stack);
    }
}

/* ---- gaps ---- */

enum { SPACE = 1 << 20, LIVE = 1500, STEPS = 12000 };

struct taken {
    int64_t begin;
    int64_t end;
};

/* The lowest place by a look at every unit. */
static int64_t lowest_place(const bool* used, int64_t size, int64_t align)
{
    for (int64_t at = 0;; at += align) {
        int64_t free_size = 0;
        while (free_size < size && !used[at + free_size]) {
            ++free_size;
        }
        if (free_size == size) {
            return at;
        }
        at += free_size / align * align;
    }
}

static void mark(bool* used, const struct taken* taken, bool value)
{
    for (int64_t i = taken->begin; i < taken->end; ++i) {
        used[i] = value;
    }
}

static void gaps_give_the_lowest_place(void** state)
{
    (void)state;
    static bool used[SPACE];
    static struct taken live[LIVE];
    struct maar_host_stack stack = {0};
    struct maar_plan_gaps gaps;
    struct rig_random random = {rig_seed(5)};
    uint32_t count = 0;
    assert_true(maar_plan_gaps_init(&gaps, STEPS, &stack));
    for (uint32_t step = 0; step < STEPS; ++step) {
        if (count < LIVE && (count == 0 || rig_below(&random, 100) < 56)) {
            const int64_t size = 1 + rig_below(&random, 200);
            const int64_t align = (int64_t)1 << rig_below(&random, 4);
            const int64_t at = maar_plan_gaps_take(&gaps, size, align);
            if (step % 8 == 0) {
                assert_true(at == lowest_place(used, size, align));
            }
            live[count] = (struct taken){at, at + size};
            mark(used, &live[count++], true);
        } else {
            const uint32_t at = rig_below(&random, count);
            assert_true(maar_plan_gaps_give(&gaps, live[at].begin, live[at].end));
            mark(used, &live[at], false);
            live[at] = live[--count];
        }
    }
    while (count > 0) {
        --count;
        assert_true(maar_plan_gaps_give(&gaps, live[count].begin, live[count].end));
    }
    assert_int_equal(gaps.count, 1);
    assert_int_equal(gaps.chunks[0]->count, 1);
    maar_stack_reset(&stack);
}

/* Gaps that are large enough for an item, without an aligned place in them: each item gets a place,
 * and not all of the gaps are looked at for each of many items. */
static void gaps_without_an_aligned_place_end_the_search(void** state)
{
    (void)state;
    enum { ITEMS = 4096, GAPS = 2048, LARGE = 151, LOOKS = 64 };
    const int64_t step = (int64_t)1 << 30;
    struct maar_host_stack stack = {0};
    struct maar_plan_gaps gaps;
    uint32_t exact = 0;
    assert_true(maar_plan_gaps_init(&gaps, ITEMS, &stack));
    for (uint32_t i = 0; i < GAPS; ++i) {
        assert_int_equal(maar_plan_gaps_take(&gaps, LARGE, 1), 2 * i * LARGE);
        assert_int_equal(maar_plan_gaps_take(&gaps, LARGE, 1), (2 * i + 1) * LARGE);
    }
    for (int64_t i = 0; i < GAPS; ++i) {
        assert_true(maar_plan_gaps_give(&gaps, (2 * i + 1) * LARGE, (2 * i + 2) * LARGE));
    }
    for (uint32_t i = 0; i < ITEMS / 2; ++i) {
        exact += gaps.looks_left > 0 ? 1 : 0;
        assert_true(maar_plan_gaps_take(&gaps, LARGE - 1, step) == step * (i + 1));
    }
    assert_in_range(exact, LOOKS * ITEMS / GAPS / 2, LOOKS * ITEMS / GAPS);
    /* The first gap has an aligned place at 152, and nobody looks for it. Gaps that have room
     * wherever they begin are still found. */
    assert_in_range(maar_plan_gaps_take(&gaps, LARGE - 1, 8), 153, 2 * GAPS * LARGE);
    assert_int_equal(maar_plan_gaps_take(&gaps, LARGE - 7, 8), 152);
    maar_plan_gaps_reset(&gaps);
    assert_int_equal(maar_plan_gaps_take(&gaps, 1, 1), 0);
    maar_stack_reset(&stack);
}

static void gaps_say_when_they_are_too_many(void** state)
{
    (void)state;
    struct maar_host_stack stack = {0};
    struct maar_plan_gaps gaps;
    struct taken live[1000];
    uint32_t freed = 0;
    assert_true(maar_plan_gaps_init(&gaps, 4, &stack)); /* three chunks */
    for (uint32_t i = 0; i < 1000; ++i) {
        const int64_t at = maar_plan_gaps_take(&gaps, 1, 1);
        live[i] = (struct taken){at, at + 1};
    }
    while (freed < 1000 && maar_plan_gaps_give(&gaps, live[freed].begin, live[freed].end)) {
        freed += 2; /* every other unit, so that each is a gap of its own */
    }
    assert_in_range(freed, 2 * MAAR_PLAN_CHUNK_GAPS, 2 * 3 * MAAR_PLAN_CHUNK_GAPS);
    maar_stack_reset(&stack);
}

/* ---- sorting ---- */

static bool is_before(const struct maar_plan_key* a, const struct maar_plan_key* b)
{
    if (a->first != b->first) {
        return a->first > b->first;
    }
    return a->second != b->second ? a->second > b->second : a->item < b->item;
}

static void keys_are_sorted_and_equal_ones_stay(void** state)
{
    (void)state;
    static struct maar_plan_key keys[MOST];
    static struct maar_plan_key other[MOST];
    static const uint64_t bases[] = {0, UINT32_MAX, UINT64_MAX - 100};
    struct rig_random random = {rig_seed(6)};
    for (uint32_t round = 0; round < 24; ++round) {
        const uint32_t count = round < 3 ? round : 100 + rig_below(&random, MOST - 100);
        for (uint32_t i = 0; i < count; ++i) {
            keys[i] = (struct maar_plan_key){
                .first = bases[round % 3] + rig_below(&random, 100) * (round < 12 ? 1u : 0u) -
                         (round % 2 == 0 ? 0 : (uint64_t)rig_below(&random, 3) << 40),
                .second = (uint64_t)rig_below(&random, 5) << (round % 8 * 8),
                .item = i,
            };
        }
        maar_plan_sort_keys(keys, other, count);
        for (uint32_t i = 1; i < count; ++i) {
            assert_true(is_before(&keys[i - 1], &keys[i]));
        }
    }
}

/* ---- skylines ---- */

enum { SKYLINE_ITEMS = 120, SKYLINE_SECTIONS = 60 };

/* What a skyline is: of all items that are left, the one that can lie lowest comes next, and of
 * several such items the one of the least rank. */
static void place_by_definition(const struct maar_plan_problem* problem, const uint32_t* order,
                                int64_t* offsets)
{
    int64_t tops[SKYLINE_SECTIONS] = {0};
    bool placed[SKYLINE_ITEMS] = {false};
    for (uint32_t left = problem->count; left > 0; --left) {
        uint32_t best = UINT32_MAX;
        int64_t lowest = INT64_MAX;
        for (uint32_t k = 0; k < problem->count; ++k) {
            const uint32_t item = order[k];
            int64_t top = 0;
            for (uint32_t s = problem->first[item]; s <= problem->last[item]; ++s) {
                top = tops[s] > top ? tops[s] : top;
            }
            if (!placed[item] && top < lowest) {
                lowest = top;
                best = item;
            }
        }
        placed[best] = true;
        offsets[best] = lowest;
        for (uint32_t s = problem->first[best]; s <= problem->last[best]; ++s) {
            tops[s] = lowest + problem->size[best];
        }
    }
}

static void skyline_agrees_with_its_definition(void** state)
{
    (void)state;
    struct rig_random random = {rig_seed(11)};
    for (uint32_t round = 0; round < 300; ++round) {
        uint32_t first[SKYLINE_ITEMS];
        uint32_t last[SKYLINE_ITEMS];
        uint32_t order[SKYLINE_ITEMS];
        uint32_t rank[SKYLINE_ITEMS];
        int64_t size[SKYLINE_ITEMS];
        int64_t align[SKYLINE_ITEMS];
        int64_t offsets[SKYLINE_ITEMS];
        int64_t expected[SKYLINE_ITEMS];
        struct maar_plan_budget budget = {.nodes_left = 1, .deadline_ns = UINT64_MAX};
        const struct maar_plan_problem problem = {
            .count = 1 + rig_below(&random, SKYLINE_ITEMS),
            .clique_count = 1 + rig_below(&random, SKYLINE_SECTIONS),
            .first = first,
            .last = last,
            .size = size,
            .align = align,
        };
        for (uint32_t i = 0; i < problem.count; ++i) {
            const uint32_t swap = rig_below(&random, i + 1);
            first[i] = rig_below(&random, problem.clique_count);
            last[i] = first[i] + rig_below(&random, problem.clique_count - first[i]);
            size[i] = 1 + rig_below(&random, 20);
            align[i] = 1;
            order[i] = order[swap];
            order[swap] = i;
        }
        for (uint32_t k = 0; k < problem.count; ++k) {
            rank[order[k]] = k;
        }
        struct maar_host_stack stack = {0};
        struct maar_plan_skyline* skyline = maar_plan_open_skyline(&problem, &stack);
        assert_non_null(skyline);
        assert_true(maar_plan_place_skyline(skyline, order, rank, &budget, offsets));
        place_by_definition(&problem, order, expected);
        for (uint32_t i = 0; i < problem.count; ++i) {
            assert_true(offsets[i] == expected[i]);
        }
        maar_stack_reset(&stack);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_set_agrees_with_an_array),
        cmocka_unit_test(floors_agree_with_an_array),
        cmocka_unit_test(gaps_give_the_lowest_place),
        cmocka_unit_test(gaps_without_an_aligned_place_end_the_search),
        cmocka_unit_test(gaps_say_when_they_are_too_many),
        cmocka_unit_test(keys_are_sorted_and_equal_ones_stay),
        cmocka_unit_test(skyline_agrees_with_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
