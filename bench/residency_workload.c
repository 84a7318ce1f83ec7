/*
 * How a workload is built and perturbed: see residency_workload.h.
 */
#include "residency_workload.h"

#include "bench_common.h"

#include <stdlib.h>
#include <string.h>

static void* grown(void* array, uint32_t* capacity, uint32_t needed, size_t size)
{
    if (needed > *capacity) {
        *capacity = needed * 2;
        array = realloc(array, *capacity * size);
        if (array == NULL) {
            bench_die(BENCH_EXIT_FAILED, "no host memory");
        }
    }
    return array;
}

void residency_begin_submission(struct residency_workload* workload)
{
    workload->begins = grown(workload->begins, &workload->submission_capacity,
                             workload->submission_count + 2, sizeof workload->begins[0]);
    if (workload->submission_count == 0) {
        workload->begins[0] = 0;
    }
    workload->begins[workload->submission_count + 1] = workload->begins[workload->submission_count];
    ++workload->submission_count;
}

struct residency_object* residency_object_at(struct residency_workload* workload, uint32_t object)
{
    workload->objects = grown(workload->objects, &workload->object_capacity, object + 1,
                              sizeof workload->objects[0]);
    for (; workload->object_count <= object; ++workload->object_count) {
        workload->objects[workload->object_count] =
            (struct residency_object){.size = RESIDENCY_OBJECT_BYTES, .end = UINT32_MAX};
    }
    return &workload->objects[object];
}

void residency_add_use(struct residency_workload* workload, uint32_t object, uint8_t access)
{
    uint32_t* end = &workload->begins[workload->submission_count];
    struct residency_object* used = residency_object_at(workload, object);
    if (used->member_of == workload->submission_count) {
        uint8_t* joined = &workload->accesses[used->member_at];
        const uint8_t fresh = *joined & access & RESIDENCY_FRESH;
        *joined = (uint8_t)(((*joined | access) & RESIDENCY_WRITES) | fresh);
        return;
    }
    used->member_of = workload->submission_count;
    used->member_at = *end;
    workload->uses =
        grown(workload->uses, &workload->use_capacity, *end + 1, sizeof workload->uses[0]);
    workload->accesses = grown(workload->accesses, &workload->access_capacity, *end + 1,
                               sizeof workload->accesses[0]);
    workload->accesses[*end] = access;
    workload->uses[(*end)++] = object;
}

/* ---- perturbed ---- */

/* The objects that exist, in a list. */
struct existing {
    uint32_t* objects;
    uint32_t* places; /* in the list, or UINT32_MAX */
    uint32_t count;
};

static void add_existing(struct existing* existing, uint32_t object)
{
    existing->places[object] = existing->count;
    existing->objects[existing->count++] = object;
}

static void remove_existing(struct existing* existing, uint32_t object)
{
    const uint32_t last = existing->objects[--existing->count];
    existing->objects[existing->places[object]] = last;
    existing->places[last] = existing->places[object];
    existing->places[object] = UINT32_MAX;
}

/* Notes what exists when a submission begins: what was created with contents, or was used. */
static void follow_objects(const struct residency_workload* before, struct existing* existing,
                           uint32_t submission)
{
    for (uint32_t i = before->begins[submission]; i < before->begins[submission + 1]; ++i) {
        if (existing->places[before->uses[i]] == UINT32_MAX) {
            add_existing(existing, before->uses[i]);
        }
    }
}

static void forget_objects(const struct residency_workload* before, struct existing* existing,
                           uint32_t submission, uint32_t* ended)
{
    for (; *ended < before->ending_count; ++*ended) {
        const uint32_t object = before->endings[*ended].object;
        if (before->endings[*ended].end > submission) {
            return;
        }
        if (existing->places[object] != UINT32_MAX) {
            remove_existing(existing, object);
        }
    }
}

static uint32_t below(uint64_t* random, uint32_t count)
{
    return (uint32_t)(bench_random(random) >> 16) % count;
}

static void perturb(struct residency_workload* workload, uint32_t percent, uint64_t* random)
{
    struct residency_workload before = *workload;
    struct existing existing = {
        .objects = bench_allocate(before.object_count, sizeof(uint32_t)),
        .places = bench_allocate(before.object_count, sizeof(uint32_t)),
    };
    uint32_t ended = 0;
    workload->begins = NULL;
    workload->uses = NULL;
    workload->accesses = NULL;
    workload->submission_count = workload->submission_capacity = 0;
    workload->use_capacity = workload->access_capacity = 0;
    for (uint32_t i = 0; i < before.object_count; ++i) {
        existing.places[i] = UINT32_MAX;
        workload->objects[i].member_of = 0;
        if (before.has_contents) {
            add_existing(&existing, i);
        }
    }
    for (uint32_t i = 0; i < before.submission_count; ++i) {
        residency_begin_submission(workload);
        forget_objects(&before, &existing, i, &ended);
        for (uint32_t k = before.begins[i]; k < before.begins[i + 1]; ++k) {
            /* The first use of an object stays: it is what the object exists for. */
            const bool may_be = existing.places[before.uses[k]] != UINT32_MAX;
            if (may_be && below(random, 100) < percent) {
                residency_add_use(workload, existing.objects[below(random, existing.count)], 0);
            } else {
                residency_add_use(workload, before.uses[k], before.accesses[k]);
            }
        }
        follow_objects(&before, &existing, i);
    }
    free(existing.objects);
    free(existing.places);
    free(before.begins);
    free(before.uses);
    free(before.accesses);
}

/* ---- the end ---- */

static int compare_endings(const void* one, const void* other)
{
    const struct residency_ending* a = one;
    const struct residency_ending* b = other;
    if (a->end != b->end) {
        return a->end < b->end ? -1 : 1;
    }
    return a->object < b->object ? -1 : a->object > b->object;
}

static void list_endings(struct residency_workload* workload)
{
    workload->endings = bench_allocate(workload->object_count, sizeof workload->endings[0]);
    workload->is_equal = true;
    for (uint32_t i = 0; i < workload->object_count; ++i) {
        const struct residency_object* object = &workload->objects[i];
        workload->is_equal = workload->is_equal && object->size == workload->objects[0].size;
        if (object->end != UINT32_MAX) {
            workload->endings[workload->ending_count++] =
                (struct residency_ending){.end = object->end, .object = i};
        }
    }
    qsort(workload->endings, workload->ending_count, sizeof workload->endings[0], compare_endings);
}

/* Counts, and marks the first uses of objects that have no contents before. */
static void count_uses(struct residency_workload* workload)
{
    uint64_t bytes = 0;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < workload->submission_count; ++i) {
        uint64_t set = 0;
        for (; ended < workload->ending_count; ++ended) {
            const struct residency_ending* ending = &workload->endings[ended];
            const struct residency_object* object = &workload->objects[ending->object];
            if (ending->end > i) {
                break;
            }
            bytes -= object->is_used ? object->size : 0;
        }
        for (uint32_t k = workload->begins[i]; k < workload->begins[i + 1]; ++k) {
            struct residency_object* object = &workload->objects[workload->uses[k]];
            set += object->size;
            if (!object->is_used) {
                object->is_used = true;
                bytes += object->size;
                ++workload->used_count;
                workload->accesses[k] |= workload->has_contents ? 0 : RESIDENCY_FRESH;
            }
        }
        const uint32_t count = workload->begins[i + 1] - workload->begins[i];
        workload->most_uses = count > workload->most_uses ? count : workload->most_uses;
        workload->most_bytes = set > workload->most_bytes ? set : workload->most_bytes;
        workload->peak_bytes = bytes > workload->peak_bytes ? bytes : workload->peak_bytes;
    }
}

void residency_workload_finish(struct residency_workload* workload, uint32_t perturbed,
                               uint64_t* random)
{
    if (workload->submission_count == 0) {
        bench_die(BENCH_EXIT_USAGE, "%s: no submission uses anything", workload->name);
    }
    list_endings(workload);
    if (perturbed != 0) {
        perturb(workload, perturbed, random);
    }
    count_uses(workload);
}

uint64_t residency_capacity(const struct residency_workload* workload, uint32_t percent)
{
    uint64_t asked = workload->peak_bytes * percent / 100;
    uint64_t least = workload->most_bytes;
    if (workload->is_equal) { /* whole objects */
        const uint64_t size = workload->objects[0].size;
        asked = asked / size * size;
        least += size;
    }
    return asked > workload->most_bytes ? asked : least;
}

void residency_workload_release(struct residency_workload* workload)
{
    free(workload->objects);
    free(workload->begins);
    free(workload->uses);
    free(workload->accesses);
    free(workload->endings);
    memset(workload, 0, sizeof *workload);
}
