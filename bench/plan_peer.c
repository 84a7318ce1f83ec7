/*
 * The heuristics for transient memory; see plan_peer.h.
 *
 * Except for the skyline and the slots, each heuristic takes the resources in some order. For the
 * current resource, it examines the gaps between the placed resources that must not share bytes
 * with it.
 */
#include "bench/plan_peer.h"

#include "bench/bench_common.h"

#include <stdlib.h>
#include <string.h>

/* The choice of a gap for a resource. Without a suitable gap, the resource goes on top of all. */
enum gap_rule {
    GAP_FIRST,
    GAP_BEST,
    GAP_FIRST_LOOSE, /* the first gap that is larger than needed, never an exact fit */
};

bool plan_scene_meet(const struct plan_scene* scene, uint32_t resource, uint32_t other)
{
    if (scene->before != NULL) {
        return !scene->before[(size_t)resource * scene->count + other] &&
               !scene->before[(size_t)other * scene->count + resource];
    }
    return scene->begins[resource] < scene->ends[other] &&
           scene->begins[other] < scene->ends[resource];
}

static uint64_t align_up(uint64_t offset, uint64_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

/* Places a resource: adds it to the list of placed resources, which is sorted by offset. */
static void put(struct plan_scene* scene, uint64_t* offsets, uint32_t resource, uint64_t offset)
{
    uint32_t at = scene->placed_count++;
    offsets[resource] = offset;
    while (at > 0 && offsets[scene->placed[at - 1]] > offset) {
        scene->placed[at] = scene->placed[at - 1];
        --at;
    }
    scene->placed[at] = resource;
}

static void place_in_gap(struct plan_scene* scene, uint64_t* offsets, uint32_t resource,
                         enum gap_rule rule)
{
    const uint64_t size = scene->sizes[resource];
    uint64_t top = 0; /* the highest end of the examined resources, aligned */
    uint64_t best = UINT64_MAX;
    uint64_t best_gap = UINT64_MAX;
    for (uint32_t i = 0; i < scene->placed_count; ++i) {
        const uint32_t other = scene->placed[i];
        if (!plan_scene_meet(scene, resource, other)) {
            continue;
        }
        const uint64_t gap = offsets[other] > top ? offsets[other] - top : 0;
        const bool fits = rule == GAP_FIRST_LOOSE ? gap > size : gap >= size;
        if (fits && gap < best_gap) {
            best = top;
            best_gap = gap;
            if (rule != GAP_BEST) {
                break;
            }
        }
        const uint64_t end =
            align_up(offsets[other] + scene->sizes[other], scene->alignments[resource]);
        top = end > top ? end : top;
    }
    put(scene, offsets, resource, best != UINT64_MAX ? best : top);
}

/* Sorts the order by rising keys. The sort is stable. */
static void sort_order(struct plan_scene* scene)
{
    for (uint32_t i = 0; i < scene->count; ++i) {
        uint32_t at = i;
        while (at > 0 && scene->keys[scene->order[at - 1]] > scene->keys[i]) {
            scene->order[at] = scene->order[at - 1];
            --at;
        }
        scene->order[at] = i;
    }
}

static void place_in_order(struct plan_scene* scene, uint64_t* offsets, enum gap_rule rule)
{
    sort_order(scene);
    scene->placed_count = 0;
    for (uint32_t i = 0; i < scene->count; ++i) {
        place_in_gap(scene, offsets, scene->order[i], rule);
    }
}

static void key_by_size(struct plan_scene* scene)
{
    for (uint32_t i = 0; i < scene->count; ++i) {
        scene->keys[i] = ~scene->sizes[i];
    }
}

static void place_size_first(struct plan_scene* scene, uint64_t* offsets)
{
    key_by_size(scene);
    place_in_order(scene, offsets, GAP_FIRST);
}

static void place_size_best(struct plan_scene* scene, uint64_t* offsets)
{
    key_by_size(scene);
    place_in_order(scene, offsets, GAP_BEST);
}

static void place_time_first(struct plan_scene* scene, uint64_t* offsets)
{
    memcpy(scene->keys, scene->begins, scene->count * sizeof(*scene->keys));
    place_in_order(scene, offsets, GAP_FIRST);
}

static void place_time_best(struct plan_scene* scene, uint64_t* offsets)
{
    memcpy(scene->keys, scene->begins, scene->count * sizeof(*scene->keys));
    place_in_order(scene, offsets, GAP_BEST);
}

static void place_lifetime(struct plan_scene* scene, uint64_t* offsets)
{
    for (uint32_t i = 0; i < scene->count; ++i) {
        scene->keys[i] = ~(scene->ends[i] - scene->begins[i]);
    }
    place_in_order(scene, offsets, GAP_FIRST_LOOSE);
}

static void place_conflicts(struct plan_scene* scene, uint64_t* offsets)
{
    for (uint32_t i = 0; i < scene->count; ++i) {
        scene->keys[i] = UINT64_MAX;
        for (uint32_t j = 0; j < scene->count; ++j) {
            scene->keys[i] -= plan_scene_meet(scene, i, j) ? 1 : 0;
        }
    }
    place_in_order(scene, offsets, GAP_FIRST);
}

/* Computes the live bytes at the beginning of each resource. Their maximum is the global
 * maximum. */
static void measure_alive(const struct plan_scene* scene, uint64_t* alive)
{
    for (uint32_t i = 0; i < scene->count; ++i) {
        const uint64_t time = scene->begins[i];
        alive[i] = 0;
        for (uint32_t j = 0; j < scene->count; ++j) {
            alive[i] += scene->begins[j] <= time && time < scene->ends[j] ? scene->sizes[j] : 0;
        }
    }
}

/* Takes the times in the order of their live bytes, and at each time the unplaced resources
 * by size. */
static void place_breadth(struct plan_scene* scene, uint64_t* offsets)
{
    measure_alive(scene, scene->floors);
    memset(offsets, 0xFF, scene->count * sizeof(*offsets));
    key_by_size(scene);
    sort_order(scene);
    scene->placed_count = 0;
    while (scene->placed_count < scene->count) {
        uint32_t moment = UINT32_MAX;
        for (uint32_t i = 0; i < scene->count; ++i) {
            if (scene->floors[i] != 0 &&
                (moment == UINT32_MAX || scene->floors[i] > scene->floors[moment])) {
                moment = i;
            }
        }
        scene->floors[moment] = 0;
        const uint64_t time = scene->begins[moment];
        for (uint32_t i = 0; i < scene->count; ++i) {
            const uint32_t resource = scene->order[i];
            if (offsets[resource] == UINT64_MAX && scene->begins[resource] <= time &&
                time < scene->ends[resource]) {
                place_in_gap(scene, offsets, resource, GAP_BEST);
            }
        }
    }
}

/* Returns whether no resource that was placed at an offset overlaps the resource in time. */
static bool is_slot_free(const struct plan_scene* scene, const uint64_t* offsets, uint32_t resource,
                         uint64_t offset)
{
    for (uint32_t i = 0; i < scene->placed_count; ++i) {
        if (offsets[scene->placed[i]] == offset &&
            plan_scene_meet(scene, resource, scene->placed[i])) {
            return false;
        }
    }
    return true;
}

/* In time order, each resource takes the smallest free slot that can hold it, or creates a slot of
 * its own size. With `exact`, it takes only slots of its own size. The slots follow one another. */
static void place_slots(struct plan_scene* scene, uint64_t* offsets, bool exact)
{
    uint64_t top = 0;
    uint32_t slot_count = 0;
    memcpy(scene->keys, scene->begins, scene->count * sizeof(*scene->keys));
    sort_order(scene);
    scene->placed_count = 0;
    uint64_t* const starts = scene->keys; /* of the slots, whose sizes are in `floors` */
    for (uint32_t i = 0; i < scene->count; ++i) {
        const uint32_t resource = scene->order[i];
        const uint64_t size = scene->sizes[resource];
        uint32_t best = UINT32_MAX;
        for (uint32_t j = 0; j < slot_count; ++j) {
            const bool holds = exact ? scene->floors[j] == size : scene->floors[j] >= size;
            if (holds && starts[j] % scene->alignments[resource] == 0 &&
                (best == UINT32_MAX || scene->floors[j] < scene->floors[best]) &&
                is_slot_free(scene, offsets, resource, starts[j])) {
                best = j;
            }
        }
        if (best == UINT32_MAX) {
            best = slot_count++;
            starts[best] = align_up(top, scene->alignments[resource]);
            scene->floors[best] = size;
            top = starts[best] + size;
        }
        put(scene, offsets, resource, starts[best]);
    }
}

static void place_objects(struct plan_scene* scene, uint64_t* offsets)
{
    place_slots(scene, offsets, true);
}

static void place_slot_pool(struct plan_scene* scene, uint64_t* offsets)
{
    place_slots(scene, offsets, false);
}

/*
 * Always places the resource with the lowest possible offset on top of all resources that overlap
 * it in time, never in a hole. Among equal offsets, the first resource of the order is placed.
 */
static void place_skyline(struct plan_scene* scene, uint64_t* offsets)
{
    sort_order(scene);
    memset(scene->floors, 0, scene->count * sizeof(*scene->floors));
    scene->placed_count = 0;
    for (uint32_t left = scene->count; left > 0; --left) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < left; ++i) {
            if (scene->floors[scene->order[i]] < scene->floors[scene->order[best]]) {
                best = i;
            }
        }
        const uint32_t resource = scene->order[best];
        const uint64_t end = scene->floors[resource] + scene->sizes[resource];
        offsets[resource] = scene->floors[resource];
        memmove(scene->order + best, scene->order + best + 1,
                (left - best - 1) * sizeof(*scene->order));
        for (uint32_t i = 0; i + 1 < left; ++i) {
            const uint32_t other = scene->order[i];
            if (scene->floors[other] < end && plan_scene_meet(scene, resource, other)) {
                scene->floors[other] = align_up(end, scene->alignments[other]);
            }
        }
    }
}

/* Sorts wide resources before narrow ones, and equally wide ones by bytes times width. */
static void place_skyline_width(struct plan_scene* scene, uint64_t* offsets)
{
    const uint64_t most = ((uint64_t)1 << 40) - 1;
    for (uint32_t i = 0; i < scene->count; ++i) {
        const uint64_t width = scene->ends[i] - scene->begins[i];
        scene->keys[i] = ~(width << 40 | (scene->sizes[i] < most ? scene->sizes[i] : most));
    }
    place_skyline(scene, offsets);
}

/* Sorts by the most bytes that are alive together with a resource. */
static void place_skyline_total(struct plan_scene* scene, uint64_t* offsets)
{
    measure_alive(scene, scene->floors);
    for (uint32_t i = 0; i < scene->count; ++i) {
        uint64_t most = 0;
        for (uint32_t j = 0; j < scene->count; ++j) {
            const bool shared =
                scene->begins[i] <= scene->begins[j] && scene->begins[j] < scene->ends[i];
            most = shared && scene->floors[j] > most ? scene->floors[j] : most;
        }
        scene->keys[i] = ~most;
    }
    place_skyline(scene, offsets);
}

const struct plan_peer plan_peers[] = {
    {"size-best", "decreasing size, best fit", place_size_best},
    {"size-first", "decreasing size, first fit", place_size_first},
    {"time-first", "time order, first fit", place_time_first},
    {"time-best", "time order, best fit", place_time_best},
    {"lifetime", "decreasing lifetime, first fit", place_lifetime},
    {"breadth", "decreasing breadth, best fit", place_breadth},
    {"conflicts", "decreasing conflicts, first fit", place_conflicts},
    {"objects", "slots of the same size", place_objects},
    {"slots", "slots of at least the size", place_slot_pool},
    {"skyline-width", "lowest first, wide before narrow", place_skyline_width},
    {"skyline-total", "lowest first, crowded before lonely", place_skyline_total},
};

const uint32_t plan_peer_count = sizeof(plan_peers) / sizeof(plan_peers[0]);

uint64_t plan_scene_check(const struct plan_scene* scene, const char* who, const uint64_t* offsets)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < scene->count; ++i) {
        const uint64_t end = offsets[i] + scene->sizes[i];
        bool good = offsets[i] % scene->alignments[i] == 0;
        for (uint32_t j = 0; j < i && good; ++j) {
            good = !plan_scene_meet(scene, i, j) || end <= offsets[j] ||
                   offsets[j] + scene->sizes[j] <= offsets[i];
        }
        if (!good) {
            bench_die(BENCH_EXIT_FAILED, "%s: self-check failed: resource %u", who, i);
        }
        peak = end > peak ? end : peak;
    }
    return peak;
}

/* Returns whether a resource ends before another begins. */
static bool is_before(const struct plan_scene* scene, uint32_t resource, uint32_t other)
{
    return scene->before != NULL ? scene->before[(size_t)resource * scene->count + other]
                                 : scene->ends[resource] <= scene->begins[other];
}

static int compare_offsets(const void* a, const void* b)
{
    const uint64_t x = *(const uint64_t*)a;
    const uint64_t y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

/* For the bytes at an offset, marks each pair of a user and the next user. */
static void link_bytes(const struct plan_scene* scene, const uint64_t* offsets, uint64_t at,
                       uint32_t* users, bool* edges)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->count; ++i) {
        if (offsets[i] <= at && at < offsets[i] + scene->sizes[i]) {
            uint32_t place = count++;
            while (place > 0 && is_before(scene, i, users[place - 1])) {
                users[place] = users[place - 1];
                --place;
            }
            users[place] = i;
        }
    }
    for (uint32_t i = 1; i < count; ++i) {
        edges[(size_t)users[i - 1] * scene->count + users[i]] = true;
    }
}

uint32_t plan_scene_count_edges(const struct plan_scene* scene, const uint64_t* offsets)
{
    const size_t count = scene->count;
    uint64_t* const bounds = bench_allocate(2 * count, sizeof(*bounds));
    uint32_t* const users = bench_allocate(count, sizeof(*users));
    bool* const edges = bench_allocate(count * count, sizeof(*edges));
    uint32_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        bounds[2 * i] = offsets[i];
        bounds[2 * i + 1] = offsets[i] + scene->sizes[i];
    }
    qsort(bounds, 2 * count, sizeof(*bounds), compare_offsets);
    for (size_t i = 0; i + 1 < 2 * count; ++i) {
        if (bounds[i] != bounds[i + 1]) {
            link_bytes(scene, offsets, bounds[i], users, edges);
        }
    }
    for (size_t i = 0; i < count * count; ++i) {
        total += edges[i] ? 1 : 0;
    }
    free(edges);
    free(users);
    free(bounds);
    return total;
}

/* Returns the transitive closure of the order of passes. The caller frees it. */
static bool* close_passes(const struct support_frame_graph* graph)
{
    const size_t count = graph->pass_count;
    bool* const closure = bench_allocate(count * count, sizeof(*closure));
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = i + 1; j < count; ++j) {
            closure[i * count + j] = graph->pass_queues[i] == graph->pass_queues[j];
        }
    }
    for (uint32_t i = 0; i < graph->dependency_count; ++i) {
        closure[graph->dependencies[i].before * count + graph->dependencies[i].after] = true;
    }
    for (size_t k = 0; k < count; ++k) {
        for (size_t i = 0; i < count; ++i) {
            for (size_t j = 0; closure[i * count + k] && j < count; ++j) {
                closure[i * count + j] = closure[i * count + j] || closure[k * count + j];
            }
        }
    }
    return closure;
}

static bool precedes(const bool* closure, size_t pass_count, const MaarPlanResource* resource,
                     const MaarPlanResource* other)
{
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        for (uint32_t j = 0; j < other->useCount; ++j) {
            if (!closure[resource->pUses[i] * pass_count + other->pUses[j]]) {
                return false;
            }
        }
    }
    return true;
}

static void order_scene(struct plan_scene* scene, const struct support_frame_graph* graph)
{
    bool* const closure = close_passes(graph);
    scene->before = bench_allocate((size_t)scene->count * scene->count, sizeof(*scene->before));
    for (uint32_t i = 0; i < scene->count; ++i) {
        for (uint32_t j = 0; j < scene->count; ++j) {
            scene->before[(size_t)i * scene->count + j] =
                i != j &&
                precedes(closure, graph->pass_count, &graph->resources[i], &graph->resources[j]);
        }
    }
    free(closure);
}

void plan_scene_open(struct plan_scene* scene, const struct support_frame_graph* graph)
{
    const uint32_t count = graph->resource_count;
    *scene = (struct plan_scene){
        .count = count,
        .sizes = bench_allocate(count, sizeof(uint64_t)),
        .alignments = bench_allocate(count, sizeof(uint64_t)),
        .begins = bench_allocate(count, sizeof(uint64_t)),
        .ends = bench_allocate(count, sizeof(uint64_t)),
        .order = bench_allocate(count, sizeof(uint32_t)),
        .placed = bench_allocate(count, sizeof(uint32_t)),
        .keys = bench_allocate(count, sizeof(uint64_t)),
        .floors = bench_allocate(count, sizeof(uint64_t)),
    };
    for (uint32_t i = 0; i < count; ++i) {
        scene->sizes[i] = graph->resources[i].size;
        scene->alignments[i] = graph->resources[i].alignment;
        scene->begins[i] = graph->rows[i].begin;
        scene->ends[i] = graph->rows[i].end;
    }
    if (graph->queue_count > 1) {
        order_scene(scene, graph);
    }
}

void plan_scene_close(struct plan_scene* scene)
{
    free(scene->sizes);
    free(scene->alignments);
    free(scene->begins);
    free(scene->ends);
    free(scene->before);
    free(scene->order);
    free(scene->placed);
    free(scene->keys);
    free(scene->floors);
    *scene = (struct plan_scene){.count = 0};
}
