/*
 * The workloads that are generated: see residency_workload.h. Their objects have one size, exist
 * from the beginning and have contents then, as files have.
 */
#include "residency_workload.h"

#include "bench_common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POPULAR_OBJECTS = 4096 };

struct maker {
    struct residency_workload* workload;
    uint64_t random;
    double shares[POPULAR_OBJECTS]; /* sums of popularity */
    uint32_t share_count;
};

static uint32_t below(struct maker* maker, uint32_t count)
{
    return (uint32_t)(bench_random(&maker->random) >> 16) % count;
}

static double unit(struct maker* maker)
{
    return (double)(bench_random(&maker->random) >> 11) / 9007199254740992.0;
}

static void begin_submission(struct maker* maker)
{
    residency_begin_submission(maker->workload);
}

static void use(struct maker* maker, uint32_t object)
{
    residency_add_use(maker->workload, object, 0);
}

static void use_run(struct maker* maker, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        use(maker, first + i);
    }
}

/* Draws from a Zipf distribution. */
static uint32_t popular(struct maker* maker, uint32_t count, double exponent)
{
    if (maker->share_count != count) {
        double sum = 0;
        for (uint32_t i = 0; i < count; ++i) {
            sum += 1.0 / pow(i + 1.0, exponent);
            maker->shares[i] = sum;
        }
        maker->share_count = count;
    }
    const double drawn = unit(maker) * maker->shares[count - 1];
    uint32_t low = 0;
    for (uint32_t high = count - 1; low < high;) {
        const uint32_t middle = (low + high) / 2;
        low = maker->shares[middle] < drawn ? middle + 1 : low;
        high = maker->shares[middle] < drawn ? high : middle;
    }
    return low;
}

/* The weights of a model in the order of its layers, for each token. */
static void make_decode(struct maker* maker)
{
    for (uint32_t token = 0; token < 60; ++token) {
        for (uint32_t layer = 0; layer < 100; ++layer) {
            begin_submission(maker);
            use_run(maker, layer * 4, 4);
        }
    }
}

/* Forward, and backward again. */
static void make_training(struct maker* maker)
{
    for (uint32_t step = 0; step < 30; ++step) {
        for (uint32_t i = 0; i < 200; ++i) {
            begin_submission(maker);
            use_run(maker, (i < 100 ? i : 199 - i) * 4, 4);
        }
    }
}

static void use_window(struct maker* maker, double x, double y, uint32_t side, uint32_t window)
{
    begin_submission(maker);
    const uint32_t left = (uint32_t)x - window / 2;
    const uint32_t top = (uint32_t)y - window / 2;
    for (uint32_t i = 0; i < window; ++i) {
        use_run(maker, (top + i) * side + left, window);
    }
}

/* A camera on a round over a terrain of tiles. */
static void make_camera(struct maker* maker)
{
    for (uint32_t frame = 0; frame < 3000; ++frame) {
        const double angle = 2 * 3.14159265358979 * frame / 400;
        use_window(maker, 32 + 20 * cos(angle), 32 + 20 * sin(angle), 64, 12);
    }
}

/* A camera that wanders. */
static void make_streaming(struct maker* maker)
{
    double x = 32;
    double y = 32;
    double angle = 0;
    for (uint32_t frame = 0; frame < 3000; ++frame) {
        angle += (unit(maker) - 0.5) * 0.4;
        x += cos(angle) * 0.3;
        y += sin(angle) * 0.3;
        if (x < 16 || x > 48 || y < 16 || y > 48) {
            angle += 1.57;
            x = fmin(fmax(x, 16), 48);
            y = fmin(fmax(y, 16), 48);
        }
        use_window(maker, x, y, 64, 16);
    }
}

/* All weights for each step, and pages of sessions that are used by their popularity. */
static void make_serving(struct maker* maker)
{
    for (uint32_t step = 0; step < 400; ++step) {
        for (uint32_t layer = 0; layer < 25; ++layer) {
            begin_submission(maker);
            use_run(maker, layer * 8, 8);
        }
        begin_submission(maker);
        for (uint32_t i = 0; i < 16; ++i) {
            use(maker, 200 + popular(maker, 2000, 0.9));
        }
    }
}

static void make_alternating(struct maker* maker)
{
    for (uint32_t round = 0; round < 300; ++round) {
        begin_submission(maker);
        use_run(maker, round % 2 == 0 ? 0 : 150, round % 2 == 0 ? 150 : 60);
    }
}

/* Of each layer two experts of many. */
static void make_experts(struct maker* maker)
{
    for (uint32_t token = 0; token < 400; ++token) {
        for (uint32_t layer = 0; layer < 24; ++layer) {
            begin_submission(maker);
            use(maker, layer);
            use(maker, 24 + layer * 32 + popular(maker, 32, 0.7));
            use(maker, 24 + layer * 32 + popular(maker, 32, 0.7));
        }
    }
}

/* Popular objects, and now and then a walk over all of a large set. */
static void make_scans(struct maker* maker)
{
    uint32_t walked = 0;
    for (uint32_t i = 0; i < 40000; ++i) {
        begin_submission(maker);
        const bool walks = i % 200 > 150;
        use(maker, walks ? 600 + walked++ % 2400 : popular(maker, 600, 0.8));
    }
}

/* Blocks that are used three times each, in a round. */
static void make_blocks(struct maker* maker)
{
    for (uint32_t i = 0; i < 30 * 10 * 3; ++i) {
        for (uint32_t k = 0; k < 50; ++k) {
            begin_submission(maker);
            use(maker, i / 3 % 10 * 50 + k);
        }
    }
}

/* A level's objects and what all levels share; levels change at random. */
static void make_levels(struct maker* maker)
{
    uint32_t level = 0;
    for (uint32_t frame = 0; frame < 4000; ++frame) {
        level = below(maker, 60) == 0 ? below(maker, 8) : level;
        begin_submission(maker);
        use_run(maker, 0, 60);
        for (uint32_t i = 0; i < 50; ++i) {
            use(maker, 60 + level * 200 + below(maker, 200));
        }
    }
}

static void make_popular(struct maker* maker)
{
    for (uint32_t i = 0; i < 8000; ++i) {
        begin_submission(maker);
        for (uint32_t k = 0; k < 8; ++k) {
            use(maker, popular(maker, 1000, 0.9));
        }
    }
}

/* What was used lately is used again soon. */
static void make_recent(struct maker* maker)
{
    enum { RECENT = 500 };
    uint32_t stack[RECENT];
    for (uint32_t i = 0; i < RECENT; ++i) {
        stack[i] = i;
    }
    for (uint32_t i = 0; i < 40000; ++i) {
        const uint32_t depth = (uint32_t)(RECENT * pow(unit(maker), 4));
        const uint32_t object = stack[depth];
        memmove(&stack[1], &stack[0], depth * sizeof stack[0]);
        stack[0] = object;
        begin_submission(maker);
        use(maker, object);
    }
}

/* Gives the objects sizes of 64 KiB to 4 MiB, by a random number of their own. */
static void vary_sizes(struct residency_workload* workload)
{
    uint64_t random = BENCH_SEED / 3;
    for (uint32_t i = 0; i < workload->object_count; ++i) {
        const double share = (double)(bench_random(&random) >> 11) / 9007199254740992.0;
        workload->objects[i].size = (uint64_t)(RESIDENCY_OBJECT_BYTES * pow(64, share));
    }
}

void residency_workload_make(struct residency_workload* workload, uint32_t number,
                             uint32_t perturbed, bool is_unequal)
{
    static const struct {
        const char* name;
        void (*make)(struct maker* maker);
    } all[RESIDENCY_WORKLOADS] = {
        {"decode", make_decode},           {"training", make_training},
        {"camera round", make_camera},     {"serving", make_serving},
        {"alternating", make_alternating}, {"streaming", make_streaming},
        {"experts", make_experts},         {"scans", make_scans},
        {"blocks", make_blocks},           {"levels", make_levels},
        {"popular", make_popular},         {"recent", make_recent},
    };
    struct maker* maker = bench_allocate(1, sizeof *maker);
    *workload = (struct residency_workload){.has_contents = true};
    (void)snprintf(workload->name, sizeof workload->name, "%s", all[number].name);
    maker->workload = workload;
    maker->random = BENCH_SEED;
    all[number].make(maker);
    if (is_unequal) {
        vary_sizes(workload);
    }
    residency_workload_finish(workload, perturbed, &maker->random);
    free(maker);
}
