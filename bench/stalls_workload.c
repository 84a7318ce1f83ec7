/*
 * The workloads: see stalls_workload.h.
 */
#include "stalls_workload.h"

#include "bench_common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1048576ull / STALLS_SCALE)

/* ---- what a workload is made of ---- */

static void* more(void* array, uint32_t* capacity, uint32_t count, size_t size)
{
    if (count > *capacity) {
        *capacity = count * 2;
        array = realloc(array, *capacity * size);
        if (array == NULL) {
            bench_die(BENCH_EXIT_FAILED, "no host memory");
        }
    }
    return array;
}

static void add_objects(struct stalls_workload* w, uint32_t count, uint64_t size)
{
    for (uint32_t i = 0; i < count; ++i) {
        w->sizes = more(w->sizes, &w->object_capacity, w->object_count + 1, sizeof w->sizes[0]);
        w->sizes[w->object_count++] = size;
        w->all_bytes += size;
    }
}

static void begin_submission(struct stalls_workload* w, uint64_t work_ns)
{
    w->submissions = more(w->submissions, &w->submission_capacity, w->submission_count + 1,
                          sizeof w->submissions[0]);
    w->submissions[w->submission_count++] =
        (struct stalls_submission){.use_begin = w->use_count,
                                   .ahead_begin = w->ahead_count,
                                   .work_ns = work_ns,
                                   .frame = w->frame_count};
}

static struct stalls_submission* last_submission(struct stalls_workload* w)
{
    return &w->submissions[w->submission_count - 1];
}

static void add_use(struct stalls_workload* w, uint32_t use)
{
    w->uses = more(w->uses, &w->use_capacity, w->use_count + 1, sizeof w->uses[0]);
    w->uses[w->use_count++] = use;
    ++last_submission(w)->use_count;
}

static void add_ahead(struct stalls_workload* w, uint32_t object)
{
    w->ahead = more(w->ahead, &w->ahead_capacity, w->ahead_count + 1, sizeof w->ahead[0]);
    w->ahead[w->ahead_count++] = object;
    ++last_submission(w)->ahead_count;
}

/* Names the objects of groups in a circle, beginning with a group. */
static void add_circle(struct stalls_workload* w, uint32_t first, uint32_t groups, uint32_t of,
                       uint32_t objects)
{
    for (uint32_t i = 0; i < groups; ++i) {
        for (uint32_t k = 0; k < objects; ++k) {
            add_ahead(w, (first + i) % of * objects + k);
        }
    }
}

static uint64_t drawn(uint64_t* random, uint64_t below)
{
    return (bench_random(random) >> 16) % below;
}

/* ---- a language model ---- */

enum { LAYERS = 40, TENSORS = 8 };

/* Plays tokens or batches: each layer is a submission, after which the program names the next
 * ones. */
static void make_model(struct stalls_workload* w, uint32_t frames, uint64_t layer_ns,
                       uint32_t ahead)
{
    add_objects(w, LAYERS * TENSORS, 16 * MIB);
    w->frames_ahead = 1; /* a token must be known before the next one begins */
    w->warm_frames = 4;
    for (; w->frame_count < frames; ++w->frame_count) {
        for (uint32_t layer = 0; layer < LAYERS; ++layer) {
            begin_submission(w, layer_ns);
            for (uint32_t k = 0; k < TENSORS; ++k) {
                add_use(w, layer * TENSORS + k);
            }
            add_circle(w, layer + 1, ahead, LAYERS, TENSORS);
            last_submission(w)->updates = true;
        }
    }
}

static uint64_t nanoseconds_of(double scaled_bytes, double bytes_a_ns)
{
    return (uint64_t)(scaled_bytes * STALLS_SCALE / bytes_a_ns);
}

/* One token at a time: a layer takes as long as the device reads its weights. The bus carries them
 * far slower, so what is not on the device is waited for. */
static void make_decode(struct stalls_workload* w, const struct stalls_speed* speed,
                        uint32_t frames)
{
    w->budget = 90;
    make_model(w, frames != 0 ? frames : 40,
               nanoseconds_of(TENSORS * 16.0 * MIB, speed->device_bytes_a_ns), LAYERS - 1);
}

/* Large batches: a layer takes as long as the bus carries a third of one. */
static void make_serving(struct stalls_workload* w, const struct stalls_speed* speed,
                         uint32_t frames)
{
    w->budget = 75;
    w->fits = true;
    make_model(w, frames != 0 ? frames : 40,
               nanoseconds_of(TENSORS * 16.0 * MIB, speed->bus_bytes_a_ns) * 10 / 30, 8);
}

/* ---- training ---- */

/* Forward, and backward again, where each layer's state is written. */
static void make_training(struct stalls_workload* w, const struct stalls_speed* speed,
                          uint32_t frames)
{
    const uint64_t layer_ns = nanoseconds_of(TENSORS * 16.0 * MIB, speed->bus_bytes_a_ns) / 2;
    w->budget = 60;
    w->frames_ahead = 2;
    w->warm_frames = 3;
    add_objects(w, LAYERS * TENSORS, 16 * MIB);
    for (frames = frames != 0 ? frames : 20; w->frame_count < frames; ++w->frame_count) {
        for (uint32_t i = 0; i < 2 * LAYERS; ++i) {
            const bool is_back = i >= LAYERS;
            begin_submission(w, is_back ? 2 * layer_ns : layer_ns);
            const uint32_t layer = is_back ? 2 * LAYERS - 1 - i : i;
            for (uint32_t k = 0; k < TENSORS; ++k) {
                add_use(w, (layer * TENSORS + k) | (is_back && k < 2 ? STALLS_WRITES : 0));
            }
            for (uint32_t next = i + 1; next <= i + 8; ++next) {
                const uint32_t at = next % (2 * LAYERS);
                const uint32_t named = at >= LAYERS ? 2 * LAYERS - 1 - at : at;
                for (uint32_t k = 0; k < TENSORS; ++k) {
                    add_ahead(w, named * TENSORS + k);
                }
            }
            last_submission(w)->updates = true;
        }
    }
}

/* ---- a game ---- */

enum { SIDE = 48, WINDOW = 12, FRAMES_OF_LOOK = 15 };

struct camera {
    double x;
    double y;
    double angle;
    uint64_t random;
};

static void turn_camera(struct camera* camera, double turn, double step)
{
    const double middle = SIDE / 2.0;
    camera->angle += turn;
    camera->x += cos(camera->angle) * step;
    camera->y += sin(camera->angle) * step;
    if (camera->x < WINDOW || camera->x > SIDE - WINDOW || camera->y < WINDOW ||
        camera->y > SIDE - WINDOW) {
        const double back = atan2(middle - camera->y, middle - camera->x);
        camera->angle = back;
        camera->x = fmin(fmax(camera->x, WINDOW), SIDE - WINDOW);
        camera->y = fmin(fmax(camera->y, WINDOW), SIDE - WINDOW);
    }
}

/* Calls `add` for the tiles around a place. */
static void for_window(struct stalls_workload* w, const struct camera* camera,
                       void (*add)(struct stalls_workload*, uint32_t))
{
    const uint32_t left = (uint32_t)camera->x - WINDOW / 2;
    const uint32_t top = (uint32_t)camera->y - WINDOW / 2;
    for (uint32_t i = 0; i < WINDOW; ++i) {
        for (uint32_t k = 0; k < WINDOW; ++k) {
            add(w, (top + i) * SIDE + left + k);
        }
    }
}

/* Names the tiles of a square that are not yet named. */
static void name_square(struct stalls_workload* w, bool* is_named, uint32_t left, uint32_t top,
                        uint32_t side)
{
    for (uint32_t i = 0; i < side * side; ++i) {
        const uint32_t tile = (top + i / side) * SIDE + left + i % side;
        if (!is_named[tile]) {
            is_named[tile] = true;
            add_ahead(w, tile);
        }
    }
}

/* Names the window, what is beside it, and what is in it within a quarter of a second if the camera
 * goes straight on, in the order of the first use. */
static void look_ahead(struct stalls_workload* w, const struct camera* camera, double step)
{
    static bool is_named[SIDE * SIDE];
    struct camera future = *camera;
    memset(is_named, 0, sizeof is_named);
    for (uint32_t frame = 0; frame <= FRAMES_OF_LOOK; ++frame) {
        const uint32_t left = (uint32_t)future.x - WINDOW / 2;
        const uint32_t top = (uint32_t)future.y - WINDOW / 2;
        name_square(w, is_named, left, top, WINDOW);
        if (frame == 0) {
            name_square(w, is_named, left - 1, top - 1, WINDOW + 2);
        }
        turn_camera(&future, 0, step);
    }
}

/* A camera over a world of tiles, at 60 frames a second of which the device works half. */
static void make_camera(struct stalls_workload* w, uint32_t frames, double turn, double step)
{
    struct camera camera = {SIDE / 2.0, SIDE / 2.0, 0, BENCH_SEED};
    static const uint64_t tile_sizes[] = {2 * MIB, 4 * MIB, 4 * MIB, 8 * MIB};
    uint64_t random = BENCH_SEED;
    w->frame_ns = 16666667;
    w->frames_ahead = 2;
    w->warm_frames = 60;
    for (uint32_t i = 0; i < SIDE * SIDE; ++i) {
        add_objects(w, 1, tile_sizes[drawn(&random, 4)]);
    }
    for (; w->frame_count < frames; ++w->frame_count) {
        const double part = (double)drawn(&camera.random, 2001) / 1000.0 - 1.0;
        turn_camera(&camera, part * turn, step);
        begin_submission(w, w->frame_ns / 2);
        for_window(w, &camera, add_use);
        look_ahead(w, &camera, step);
        last_submission(w)->updates = true;
    }
}

static void make_streaming(struct stalls_workload* w, const struct stalls_speed* speed,
                           uint32_t frames)
{
    (void)speed;
    w->budget = 15;
    w->fits = true;
    make_camera(w, frames != 0 ? frames : 1200, 0.1, 0.2);
}

/* Fast, and close to what the budget holds. */
static void make_flight(struct stalls_workload* w, const struct stalls_speed* speed,
                        uint32_t frames)
{
    (void)speed;
    w->budget = 10;
    make_camera(w, frames != 0 ? frames : 1200, 0.3, 0.5);
}

/* ---- alternating sets ---- */

/* Two views in turn, each of four passes; together they are larger than the budget. */
static void make_alternating(struct stalls_workload* w, const struct stalls_speed* speed,
                             uint32_t frames)
{
    enum { PASSES = 4, OBJECTS = 24 };
    (void)speed;
    w->budget = 87;
    w->frames_ahead = 2;
    w->warm_frames = 8;
    w->frame_ns = 33333333;
    add_objects(w, 2 * PASSES * OBJECTS, 8 * MIB);
    for (frames = frames != 0 ? frames : 200; w->frame_count < frames; ++w->frame_count) {
        for (uint32_t pass = 0; pass < PASSES; ++pass) {
            const uint32_t group = w->frame_count % 2 * PASSES + pass;
            begin_submission(w, 4000000);
            for (uint32_t i = 0; i < OBJECTS; ++i) {
                add_use(w, group * OBJECTS + i);
            }
            add_circle(w, group + 1, PASSES, 2 * PASSES, OBJECTS);
            last_submission(w)->updates = true;
        }
    }
}

/* ---- all ---- */

static const struct {
    const char* name;
    void (*make)(struct stalls_workload* w, const struct stalls_speed* speed, uint32_t frames);
} all[] = {
    {"decode", make_decode},       {"serving", make_serving}, {"training", make_training},
    {"streaming", make_streaming}, {"flight", make_flight},   {"alternating", make_alternating},
};

uint32_t stalls_workload_count(void)
{
    return sizeof(all) / sizeof(all[0]);
}

void stalls_workload_make(struct stalls_workload* workload, uint32_t number,
                          const struct stalls_speed* speed, uint32_t frames)
{
    *workload = (struct stalls_workload){.name = all[number].name};
    all[number].make(workload, speed, frames);
}

void stalls_workload_release(struct stalls_workload* workload)
{
    free(workload->sizes);
    free(workload->submissions);
    free(workload->uses);
    free(workload->ahead);
}
