/*
 * Uses by submission: see trace_uses.h.
 */
#include "trace_uses.h"

#include "maar/capture_file.h"

#include <stdlib.h>
#include <string.h>

bool support_trace_is_kept(const struct support_trace* trace, uint32_t resource, uint32_t device)
{
    const struct support_trace_resource* const row = &trace->resources[resource];
    const uint32_t staging = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const bool is_staging = row->kind == SUPPORT_TRACE_BUFFER && row->usage != 0 &&
                            row->usage_above == 0 && (row->usage & ~staging) == 0;
    return row->device == device && !is_staging &&
           (row->memory >= trace->memory_count ||
            (trace->memories[row->memory].flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) == 0);
}

static bool is_listed(const struct support_trace* trace, const struct support_trace_use* use,
                      uint32_t device)
{
    return !use->is_reserved && support_trace_is_kept(trace, use->resource, device) &&
           trace->submits[use->submit].kind == SUPPORT_TRACE_SUBMIT_COMMANDS;
}

/* Puts the uses in the order of their submissions. ends: where the next use of each one goes. */
static void sort_uses(const struct support_trace* trace, uint32_t device,
                      struct support_use_lists* lists, size_t* ends)
{
    for (size_t i = 0; i < trace->use_count; ++i) {
        const uint32_t submit = trace->uses[i].submit;
        lists->begins[submit + 1] += is_listed(trace, &trace->uses[i], device) ? 1 : 0;
    }
    for (size_t i = 0; i < trace->submit_count; ++i) {
        lists->begins[i + 1] += lists->begins[i];
        ends[i] = lists->begins[i];
        lists->steps[i] = SUPPORT_TRACE_NONE;
    }
    for (size_t i = 0; i < trace->step_count; ++i) {
        if (trace->steps[i].op != SUPPORT_TRACE_USE) {
            continue;
        }
        const struct support_trace_use* const use = &trace->uses[trace->steps[i].index];
        if (is_listed(trace, use, device)) {
            lists->uses[ends[use->submit]++] = *use;
            if (lists->steps[use->submit] == SUPPORT_TRACE_NONE) {
                lists->steps[use->submit] = (uint32_t)i;
            }
        }
    }
}

/* Joins rows of one resource in one submission. seen: of each resource, the last submission that
 * used it, plus one, and the place of that use. */
static void join_uses(const struct support_trace* trace, struct support_use_lists* lists,
                      size_t* seen, size_t* places)
{
    size_t count = 0;
    for (size_t submit = 0; submit < trace->submit_count; ++submit) {
        const size_t begin = lists->begins[submit];
        const size_t end = lists->begins[submit + 1];
        uint64_t bytes = 0;
        lists->begins[submit] = count;
        for (size_t i = begin; i < end; ++i) {
            const struct support_trace_use use = lists->uses[i];
            if (seen[use.resource] == submit + 1) {
                struct support_trace_use* const first = &lists->uses[places[use.resource]];
                /* What one row reads, another does not discard. */
                const uint32_t both = first->flags & use.flags & MAAR_CAPTURE_USE_DISCARD_BIT;
                first->flags =
                    both | ((first->flags | use.flags) & ~(uint32_t)MAAR_CAPTURE_USE_DISCARD_BIT);
                continue;
            }
            seen[use.resource] = submit + 1;
            places[use.resource] = count;
            lists->uses[count++] = use;
            bytes += trace->resources[use.resource].size;
        }
        lists->submission_count += count > lists->begins[submit] ? 1 : 0;
        lists->most_bytes = bytes > lists->most_bytes ? bytes : lists->most_bytes;
    }
    lists->begins[trace->submit_count] = count;
}

/* Finds the peak. seen: zero. */
static void find_peak(const struct support_trace* trace, struct support_use_lists* lists,
                      size_t* seen)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < trace->step_count; ++i) {
        const struct support_trace_step* const step = &trace->steps[i];
        if (step->op == SUPPORT_TRACE_FREE) {
            bytes -= seen[step->index] != 0 ? trace->resources[step->index].size : 0;
            seen[step->index] = 0;
        }
        if (step->op != SUPPORT_TRACE_USE) {
            continue;
        }
        const uint32_t submit = trace->uses[step->index].submit;
        for (size_t k = lists->begins[submit];
             lists->steps[submit] == i && k < lists->begins[submit + 1]; ++k) {
            const uint32_t resource = lists->uses[k].resource;
            bytes += seen[resource] == 0 ? trace->resources[resource].size : 0;
            seen[resource] = 1;
        }
        lists->peak_bytes = bytes > lists->peak_bytes ? bytes : lists->peak_bytes;
    }
}

bool support_use_lists_make(const struct support_trace* trace, uint32_t device,
                            struct support_use_lists* lists)
{
    *lists = (struct support_use_lists){
        .uses = calloc(trace->use_count + 1, sizeof *lists->uses),
        .begins = calloc(trace->submit_count + 2, sizeof *lists->begins),
        .steps = calloc(trace->submit_count + 1, sizeof *lists->steps),
    };
    const size_t most = trace->resource_count + trace->submit_count + 1;
    size_t* const scratch = calloc(2 * most, sizeof *scratch);
    const bool good =
        lists->uses != NULL && lists->begins != NULL && lists->steps != NULL && scratch != NULL;
    if (good) {
        sort_uses(trace, device, lists, scratch);
        memset(scratch, 0, most * sizeof *scratch);
        join_uses(trace, lists, scratch, scratch + most);
        memset(scratch, 0, most * sizeof *scratch);
        find_peak(trace, lists, scratch);
    } else {
        support_use_lists_release(lists);
    }
    free(scratch);
    return good;
}

void support_use_lists_release(struct support_use_lists* lists)
{
    free(lists->uses);
    free(lists->begins);
    free(lists->steps);
    memset(lists, 0, sizeof *lists);
}
