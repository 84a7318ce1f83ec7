/*
 * Workloads of traces with uses: see residency_trace.h.
 */
#include "residency_trace.h"

#include "bench_common.h"
#include "maar/capture_file.h"
#include "support/trace_uses.h"

#include <stdio.h>

static void add_uses(struct residency_workload* workload, const struct support_trace* trace,
                     const struct support_use_lists* lists, uint32_t submit)
{
    residency_begin_submission(workload);
    for (size_t i = lists->begins[submit]; i < lists->begins[submit + 1]; ++i) {
        const struct support_trace_use* use = &lists->uses[i];
        const bool is_fresh = (use->flags & MAAR_CAPTURE_USE_DISCARD_BIT) != 0;
        const bool writes = is_fresh || (use->flags & MAAR_CAPTURE_USE_WRITE_BIT) != 0;
        residency_object_at(workload, use->resource)->size = trace->resources[use->resource].size;
        residency_add_use(
            workload, use->resource,
            (uint8_t)((is_fresh ? RESIDENCY_FRESH : 0) | (writes ? RESIDENCY_WRITES : 0)));
    }
}

void residency_load_trace(struct residency_workload* workload, const char* path, uint32_t perturbed)
{
    struct support_trace trace;
    struct support_use_lists lists;
    struct support_error error = {{0}};
    uint64_t random = BENCH_SEED;
    if (!support_trace_load(path, &trace, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    if (trace.use_count == 0) {
        bench_die(BENCH_EXIT_USAGE, "%s: has no uses; maar capture --uses records them", path);
    }
    const uint32_t device = support_trace_main_device(&trace);
    if (device != SUPPORT_TRACE_NONE &&
        (trace.devices[device].uses_flags & MAAR_CAPTURE_USES_INCOMPLETE_BIT) != 0) {
        bench_complain("%s: not all uses are known", path);
    }
    if (!support_use_lists_make(&trace, device, &lists)) {
        bench_die(BENCH_EXIT_FAILED, "no host memory");
    }
    *workload = (struct residency_workload){.has_contents = false};
    (void)snprintf(workload->name, sizeof workload->name, "%.63s", trace.name);
    for (size_t i = 0; i < trace.step_count; ++i) {
        const struct support_trace_step* step = &trace.steps[i];
        if (step->op == SUPPORT_TRACE_FREE && step->index < workload->object_count) {
            workload->objects[step->index].end = workload->submission_count;
        } else if (step->op == SUPPORT_TRACE_USE) {
            const uint32_t submit = trace.uses[step->index].submit;
            if (lists.steps[submit] == i) {
                add_uses(workload, &trace, &lists, submit);
            }
        }
    }
    support_use_lists_release(&lists);
    support_trace_release(&trace);
    residency_workload_finish(workload, perturbed, &random);
}
