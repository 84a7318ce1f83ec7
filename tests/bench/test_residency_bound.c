/*
 * The rules of bench_residency and its lower bound, against all that could be kept on tiny
 * workloads.
 */
#include "bench/bench_common.h"
#include "bench/residency_rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST_GAPS = 24, ROUNDS = 3000, MOST_CHOICES = 20000 };

/* What lies between two uses of an object, if the second one needs the contents. */
struct gap {
    uint32_t begin, end; /* the submissions of these uses */
    uint64_t size;
};

struct search {
    const struct residency_workload* workload;
    struct gap gaps[MOST_GAPS];
    uint32_t count;
    uint64_t free[64]; /* of each submission: capacity less what it uses */
    bool whole;        /* a gap is kept whole or not at all */
    uint64_t best;     /* most bytes kept */
};

static uint32_t below(uint64_t* random, uint32_t count)
{
    return (uint32_t)(bench_random(random) >> 16) % count;
}

/* Makes a tiny workload. Objects are destroyed now and then, and come back as others. */
static void make_tiny(struct residency_workload* workload, uint64_t* random, bool has_contents)
{
    *workload = (struct residency_workload){.has_contents = has_contents};
    const uint32_t objects = 2 + below(random, 4);
    const uint32_t submissions = 3 + below(random, 6);
    uint32_t names[8];
    uint32_t named = 0;
    for (uint32_t i = 0; i < objects; ++i) {
        names[i] = named++;
        residency_object_at(workload, names[i])->size = 1 + below(random, 3);
    }
    for (uint32_t i = 0; i < submissions; ++i) {
        residency_begin_submission(workload);
        const uint32_t uses = 1 + below(random, 3);
        for (uint32_t k = 0; k < uses; ++k) {
            residency_add_use(workload, names[below(random, objects)], (uint8_t)below(random, 4));
        }
        if (below(random, 8) == 0) {
            const uint32_t gone = below(random, objects);
            residency_object_at(workload, names[gone])->end = workload->submission_count;
            names[gone] = named++;
            residency_object_at(workload, names[gone])->size = 1 + below(random, 3);
        }
    }
    residency_workload_finish(workload, 0, random);
}

static bool uses_object(const struct residency_workload* workload, uint32_t submission,
                        uint32_t object)
{
    bool found = false;
    for (uint32_t i = workload->begins[submission]; i < workload->begins[submission + 1]; ++i) {
        found = found || workload->uses[i] == object;
    }
    return found;
}

/* Adds the gap before a use, if there is one. */
static void add_gap(struct search* search, uint32_t submission, uint32_t use)
{
    const struct residency_workload* workload = search->workload;
    const uint32_t object = workload->uses[use];
    uint32_t before = submission;
    while (before > 0 && !uses_object(workload, before - 1, object)) {
        --before;
    }
    if (before > 0 && (workload->accesses[use] & RESIDENCY_FRESH) == 0) {
        assert_true(search->count < MOST_GAPS);
        search->gaps[search->count++] =
            (struct gap){before - 1, submission, workload->objects[object].size};
    }
}

/* Returns false if there are too many choices to look at all. */
static bool find_gaps(struct search* search, const struct residency_workload* workload,
                      uint64_t capacity)
{
    double choices = 1;
    *search = (struct search){.workload = workload};
    for (uint32_t i = 0; i < workload->submission_count; ++i) {
        search->free[i] = capacity;
        for (uint32_t k = workload->begins[i]; k < workload->begins[i + 1]; ++k) {
            search->free[i] -= workload->objects[workload->uses[k]].size;
            add_gap(search, i, k);
        }
    }
    for (uint32_t i = 0; i < search->count; ++i) {
        choices *= (double)search->gaps[i].size + 1;
    }
    return choices <= MOST_CHOICES;
}

/* Looks at all choices from a gap on; kept: bytes of the gaps before. */
static void look_at_all(struct search* search, uint32_t gap, uint64_t kept)
{
    if (gap == search->count) {
        search->best = kept > search->best ? kept : search->best;
        return;
    }
    const struct gap* at = &search->gaps[gap];
    for (uint64_t part = 0; part <= at->size; part += search->whole ? at->size : 1) {
        bool fits = true;
        for (uint32_t i = at->begin + 1; i < at->end; ++i) {
            fits = fits && search->free[i] >= part;
        }
        if (fits) {
            for (uint32_t i = at->begin + 1; i < at->end; ++i) {
                search->free[i] -= part;
            }
            look_at_all(search, gap + 1, kept + part);
            for (uint32_t i = at->begin + 1; i < at->end; ++i) {
                search->free[i] += part;
            }
        }
    }
}

/* Returns the bytes that are restored if nothing is kept. */
static uint64_t needed_bytes(const struct residency_workload* workload)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < workload->begins[workload->submission_count]; ++i) {
        const bool is_fresh = (workload->accesses[i] & RESIDENCY_FRESH) != 0;
        bytes += is_fresh ? 0 : workload->objects[workload->uses[i]].size;
    }
    return bytes;
}

static void check_tiny(const struct residency_workload* workload, uint64_t capacity,
                       uint32_t* checked)
{
    struct search search;
    if (!find_gaps(&search, workload, capacity)) {
        return;
    }
    const uint64_t all = needed_bytes(workload);
    const uint64_t bound = residency_bound(workload, capacity);
    look_at_all(&search, 0, 0);
    assert_int_equal(bound, all - search.best);
    search.whole = true;
    search.best = 0;
    look_at_all(&search, 0, 0);
    const uint64_t least = all - search.best;
    assert_true(bound <= least);
    for (uint32_t rule = 0; rule < RESIDENCY_RULES; ++rule) {
        assert_true(residency_play(workload, (enum residency_rule)rule, capacity).restored >=
                    least);
    }
    ++*checked;
}

static void bound_is_what_can_be_kept_of_bytes(void** state)
{
    (void)state;
    uint64_t random = BENCH_SEED;
    uint32_t checked = 0;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        struct residency_workload workload;
        make_tiny(&workload, &random, i % 2 == 0);
        for (uint32_t more = 0; more < 3; ++more) {
            check_tiny(&workload, workload.most_bytes + more, &checked);
        }
        residency_workload_release(&workload);
    }
    assert_true(checked > 2 * ROUNDS);
}

/* Half bytes change nothing: the optimum of the relaxation has whole bytes. */
static void bound_of_doubled_sizes_is_double(void** state)
{
    (void)state;
    uint64_t random = BENCH_SEED + 1;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        struct residency_workload workload;
        make_tiny(&workload, &random, false);
        const uint64_t capacity = workload.most_bytes + below(&random, 3);
        const uint64_t once = residency_bound(&workload, capacity);
        for (uint32_t k = 0; k < workload.object_count; ++k) {
            workload.objects[k].size *= 2;
        }
        assert_int_equal(residency_bound(&workload, 2 * capacity), 2 * once);
        residency_workload_release(&workload);
    }
}

static void bound_of_equal_sizes_is_beladys(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < RESIDENCY_WORKLOADS; number += 4) {
        struct residency_workload workload;
        residency_workload_make(&workload, number, 10, false);
        const uint64_t capacity = residency_capacity(&workload, 50);
        assert_int_equal(residency_bound(&workload, capacity),
                         residency_play(&workload, RESIDENCY_OPTIMUM, capacity).restored);
        residency_workload_release(&workload);
    }
}

/* Two objects take turns where one has room; the second one is destroyed, and its room is free. */
static void destroyed_object_makes_room(void** state)
{
    (void)state;
    static const uint32_t uses[] = {0, 1, 0, 0, 2, 0};
    struct residency_workload workload = {.has_contents = false};
    uint64_t random = BENCH_SEED;
    for (uint32_t i = 0; i < sizeof uses / sizeof uses[0]; ++i) {
        residency_begin_submission(&workload);
        residency_add_use(&workload, uses[i], i == 4 ? RESIDENCY_WRITES : 0);
    }
    residency_object_at(&workload, 1)->end = 2;
    residency_workload_finish(&workload, 0, &random);
    assert_int_equal(workload.peak_bytes, 2 * RESIDENCY_OBJECT_BYTES);
    assert_int_equal(residency_bound(&workload, RESIDENCY_OBJECT_BYTES),
                     2 * RESIDENCY_OBJECT_BYTES);
    const struct residency_cost cost =
        residency_play(&workload, RESIDENCY_OLDEST, RESIDENCY_OBJECT_BYTES);
    assert_int_equal(cost.restored, 2 * RESIDENCY_OBJECT_BYTES);
    /* Object 1 was in memory when it was destroyed: it is not evicted. */
    assert_int_equal(cost.evictions, 3);
    assert_int_equal(cost.written, RESIDENCY_OBJECT_BYTES);
    assert_int_equal(
        residency_play(&workload, RESIDENCY_OLDEST, 2 * RESIDENCY_OBJECT_BYTES).evictions, 0);
    residency_workload_release(&workload);
}

static void perturbed_uses_are_of_what_exists(void** state)
{
    (void)state;
    struct residency_workload workload = {.has_contents = false};
    uint64_t random = BENCH_SEED;
    for (uint32_t i = 0; i < 400; ++i) {
        residency_begin_submission(&workload);
        residency_add_use(&workload, i / 4, 0); /* each object lives for four submissions */
        residency_object_at(&workload, i / 4)->end = i / 4 * 4 + 4;
        residency_add_use(&workload, i / 40 + 1000, 0); /* and these for forty */
        residency_object_at(&workload, i / 40 + 1000)->end = i / 40 * 40 + 40;
    }
    residency_workload_finish(&workload, 50, &random);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < workload.submission_count; ++i) {
        for (uint32_t k = workload.begins[i]; k < workload.begins[i + 1]; ++k) {
            const uint32_t object = workload.uses[k];
            assert_true(workload.objects[object].end > i);
            assert_true(object == i / 4 || object == i / 40 + 1000);
        }
        changed += workload.begins[i + 1] - workload.begins[i] == 1 ? 1 : 0;
    }
    assert_true(changed > 50);
    residency_workload_release(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_what_can_be_kept_of_bytes),
        cmocka_unit_test(bound_of_doubled_sizes_is_double),
        cmocka_unit_test(bound_of_equal_sizes_is_beladys),
        cmocka_unit_test(destroyed_object_makes_room),
        cmocka_unit_test(perturbed_uses_are_of_what_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
