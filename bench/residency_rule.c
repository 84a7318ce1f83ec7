/*
 * The rules: see residency_rule.h. The memory is an array of objects. A victim is found by looking
 * at all of them.
 */
#include "residency_rule.h"

#include "bench_common.h"

#include <stdlib.h>

enum { GRACE_LONGEST = 3600, GRACE_SHORTEST = 60 };

struct memory {
    const struct residency_workload* workload;
    enum residency_rule rule;
    uint64_t capacity;
    uint64_t bytes;
    uint32_t count;
    uint32_t hand; /* of the clock */
    uint32_t* residents;
    struct residency_cost cost;
    bool* is_in;
    bool* is_dirty;
    bool* was_used; /* for the clock */
    bool* is_member;
    uint64_t* last; /* number of the use */
    uint32_t* last_submission;
    uint32_t* next; /* the next submission that needs each object's contents; UINT32_MAX: none */
    uint32_t* next_of_use;
};

static void open_memory(struct memory* memory)
{
    const struct residency_workload* workload = memory->workload;
    const uint32_t objects = workload->object_count;
    const uint32_t uses = workload->begins[workload->submission_count];
    memory->residents = bench_allocate(objects, sizeof(uint32_t));
    memory->is_in = bench_allocate(objects, sizeof(bool));
    memory->is_dirty = bench_allocate(objects, sizeof(bool));
    memory->was_used = bench_allocate(objects, sizeof(bool));
    memory->is_member = bench_allocate(objects, sizeof(bool));
    memory->last = bench_allocate(objects, sizeof(uint64_t));
    memory->last_submission = bench_allocate(objects, sizeof(uint32_t));
    memory->next = bench_allocate(objects, sizeof(uint32_t));
    memory->next_of_use = bench_allocate(uses + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < objects; ++i) {
        memory->next[i] = UINT32_MAX;
    }
    for (uint32_t submission = workload->submission_count; submission-- > 0;) {
        for (uint32_t i = workload->begins[submission]; i < workload->begins[submission + 1]; ++i) {
            memory->next_of_use[i] = memory->next[workload->uses[i]];
            const bool is_fresh = (workload->accesses[i] & RESIDENCY_FRESH) != 0;
            memory->next[workload->uses[i]] = is_fresh ? UINT32_MAX : submission;
        }
    }
}

static void close_memory(struct memory* memory)
{
    free(memory->residents);
    free(memory->is_in);
    free(memory->is_dirty);
    free(memory->was_used);
    free(memory->is_member);
    free(memory->last);
    free(memory->last_submission);
    free(memory->next);
    free(memory->next_of_use);
}

static void remove_at(struct memory* memory, uint32_t at)
{
    const uint32_t object = memory->residents[at];
    memory->is_in[object] = false;
    memory->is_dirty[object] = false;
    memory->bytes -= memory->workload->objects[object].size;
    --memory->count;
    if (memory->rule != RESIDENCY_CLOCK) {
        memory->residents[at] = memory->residents[memory->count];
        return;
    }
    for (uint32_t i = at; i < memory->count; ++i) { /* the clock keeps its order */
        memory->residents[i] = memory->residents[i + 1];
    }
    memory->hand -= at < memory->hand ? 1 : 0;
}

static void evict_at(struct memory* memory, uint32_t at)
{
    const uint32_t object = memory->residents[at];
    ++memory->cost.evictions;
    memory->cost.written += memory->is_dirty[object] ? memory->workload->objects[object].size : 0;
    remove_at(memory, at);
}

/* Returns where the clock's victim is. */
static uint32_t turn_clock(struct memory* memory)
{
    for (;;) {
        memory->hand = memory->hand < memory->count ? memory->hand : 0;
        const uint32_t object = memory->residents[memory->hand];
        if (!memory->is_member[object] && !memory->was_used[object]) {
            return memory->hand;
        }
        memory->was_used[object] = memory->was_used[object] && memory->is_member[object];
        ++memory->hand;
    }
}

static bool goes_before(const struct memory* memory, uint32_t one, uint32_t other)
{
    switch (memory->rule) {
    case RESIDENCY_OPTIMUM:
        return memory->next[one] > memory->next[other];
    case RESIDENCY_NEWEST:
        return memory->last[one] > memory->last[other];
    default:
        return memory->last[one] < memory->last[other];
    }
}

static void evict_one(struct memory* memory)
{
    uint32_t best = UINT32_MAX;
    if (memory->rule == RESIDENCY_CLOCK) {
        evict_at(memory, turn_clock(memory));
        return;
    }
    for (uint32_t i = 0; i < memory->count; ++i) {
        const uint32_t object = memory->residents[i];
        if (!memory->is_member[object] &&
            (best == UINT32_MAX || goes_before(memory, object, memory->residents[best]))) {
            best = i;
        }
    }
    evict_at(memory, best);
}

/* Evicts what was idle for longer than the grace period. */
static void trim_idle(struct memory* memory, uint32_t submission)
{
    const double filled = (double)memory->bytes / (double)memory->capacity;
    if (filled < 0.7) {
        return;
    }
    const double share = (filled - 0.7) / 0.3;
    const double grace = GRACE_LONGEST + share * (GRACE_SHORTEST - GRACE_LONGEST);
    for (uint32_t i = memory->count; i-- > 0;) {
        const uint32_t object = memory->residents[i];
        if (!memory->is_member[object] && submission - memory->last_submission[object] > grace) {
            evict_at(memory, i);
        }
    }
}

/* Takes away what was destroyed before a submission. */
static void remove_destroyed(struct memory* memory, uint32_t submission, uint32_t* ended)
{
    const struct residency_workload* workload = memory->workload;
    for (; *ended < workload->ending_count && workload->endings[*ended].end <= submission;
         ++*ended) {
        const uint32_t object = workload->endings[*ended].object;
        for (uint32_t i = 0; memory->is_in[object] && i < memory->count; ++i) {
            if (memory->residents[i] == object) {
                remove_at(memory, i);
            }
        }
    }
}

/* Brings the object of a use, if it is not in memory. */
static void bring(struct memory* memory, uint32_t use)
{
    const uint32_t object = memory->workload->uses[use];
    const uint64_t size = memory->workload->objects[object].size;
    const uint8_t access = memory->workload->accesses[use];
    if (!memory->is_in[object]) {
        memory->cost.restored += (access & RESIDENCY_FRESH) != 0 ? 0 : size;
        while (memory->bytes + size > memory->capacity) {
            evict_one(memory);
        }
        memory->residents[memory->count++] = object;
        memory->is_in[object] = true;
        memory->bytes += size;
    }
}

struct residency_cost residency_play(const struct residency_workload* workload,
                                     enum residency_rule rule, uint64_t capacity)
{
    struct memory memory = {.workload = workload, .rule = rule, .capacity = capacity};
    uint32_t ended = 0;
    open_memory(&memory);
    for (uint32_t submission = 0; submission < workload->submission_count; ++submission) {
        const uint32_t begin = workload->begins[submission];
        const uint32_t end = workload->begins[submission + 1];
        remove_destroyed(&memory, submission, &ended);
        for (uint32_t i = begin; i < end; ++i) {
            memory.is_member[workload->uses[i]] = true;
        }
        if (rule == RESIDENCY_GRACE) {
            trim_idle(&memory, submission);
        }
        for (uint32_t i = begin; i < end; ++i) {
            bring(&memory, i);
        }
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t object = workload->uses[i];
            memory.is_member[object] = false;
            memory.was_used[object] = true;
            memory.last[object] = i + 1;
            memory.last_submission[object] = submission;
            memory.next[object] = memory.next_of_use[i];
            memory.is_dirty[object] |= (workload->accesses[i] & RESIDENCY_WRITES) != 0;
        }
    }
    close_memory(&memory);
    return memory.cost;
}
