/*
 * The curves of the benchmark of defragmentation; see defragmentation_curve.h.
 */
#include "bench/defragmentation_curve.h"

#include "bench/bench_common.h"

#include <stdlib.h>

void defragmentation_note(struct defragmentation_curve* curve, struct defragmentation_point point)
{
    if (curve->count == curve->capacity) {
        curve->capacity = curve->capacity != 0 ? 2 * curve->capacity : 64;
        curve->points = realloc(curve->points, curve->capacity * sizeof(curve->points[0]));
        if (curve->points == NULL) {
            bench_die(BENCH_EXIT_FAILED, "out of memory");
        }
    }
    curve->points[curve->count++] = point;
}

struct defragmentation_point defragmentation_end(const struct defragmentation_curve* curve)
{
    return curve->count != 0 ? curve->points[curve->count - 1] : (struct defragmentation_point){0};
}

uint64_t defragmentation_bytes(const struct defragmentation_curve* curve, uint32_t released)
{
    for (uint32_t i = 0; i < curve->count; ++i) {
        if (curve->points[i].released >= released) {
            return curve->points[i].moved_bytes;
        }
    }
    return DEFRAGMENTATION_NEVER;
}

uint32_t defragmentation_most(const struct defragmentation_curve* curve)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < curve->count; ++i) {
        most = curve->points[i].released > most ? curve->points[i].released : most;
    }
    return most;
}

void defragmentation_release(struct defragmentation_curve* curve)
{
    free(curve->points);
    *curve = (struct defragmentation_curve){0};
}
