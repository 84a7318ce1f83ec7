/*
 * What each call of a run of defragmentation costs: see slices_record.h.
 */
#include "bench/slices_record.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench_common.h"
#include "core/lock_rank.h"

struct slices_call {
    const char* function;
    double least_ns;
#if defined(MAAR_LOCK_HOLDS)
    struct maar_lock_hold holds[MAAR_LOCK_RANKS];
#endif
};

#if defined(MAAR_LOCK_HOLDS)

#include <dlfcn.h>

static const char* const lock_names[MAAR_LOCK_RANKS] = {
    "",       "pool list", "slices", "pool",    "arena", "slots", "block ids", "ordered",
    "retire", "plans",     "paging", "leaving", "share", "map",   "capture",   "store"};

/* Keeps the shorter hold of each rank. */
static void keep_holds(struct slices_call* call, bool is_new)
{
    struct maar_lock_hold holds[MAAR_LOCK_RANKS];
    maar_lock_holds_take(holds);
    for (uint32_t i = 0; i < MAAR_LOCK_RANKS; ++i) {
        if (is_new || holds[i].longest_ns < call->holds[i].longest_ns) {
            call->holds[i] = holds[i];
        }
    }
}

static void forget_holds(void)
{
    struct maar_lock_hold holds[MAAR_LOCK_RANKS];
    maar_lock_holds_take(holds);
}

/* Returns the place of a hold as an offset in the program, for addr2line. */
static uint64_t place_in_program(const void* place)
{
    Dl_info info;
    return place != NULL && dladdr(place, &info) != 0
               ? (uint64_t)((const char*)place - (const char*)info.dli_fbase)
               : 0;
}

/* Prints the holds of one rank in the calls of one function. */
static void print_rank(const struct slices_record* record, const char* function, uint32_t rank,
                       const char* goal, uint32_t live, struct bench_table* table)
{
    struct maar_lock_hold longest = {0, NULL};
    uint64_t over = 0;
    uint64_t calls = 0;
    for (uint32_t i = 0; i < record->count; ++i) {
        const struct maar_lock_hold* hold = &record->calls[i].holds[rank];
        if (strcmp(record->calls[i].function, function) != 0 || hold->place == NULL) {
            continue;
        }
        ++calls;
        over += hold->longest_ns > 20000 ? 1 : 0;
        if (hold->longest_ns > longest.longest_ns) {
            longest = *hold;
        }
    }
    if (calls == 0) {
        return;
    }
    struct bench_row row;
    bench_row_begin(&row, "defragmentation_holds");
    bench_row_name(&row, "goal", goal);
    bench_row_count(&row, "live", live);
    bench_row_name(&row, "call", function);
    bench_row_name(&row, "lock", lock_names[rank]);
    bench_row_count(&row, "calls", calls);
    bench_row_number(&row, "hold_us", (double)longest.longest_ns / 1000.0, 1);
    bench_row_count(&row, "over_20us", over);
    bench_row_count(&row, "place", place_in_program(longest.place));
    bench_row_end(&row, table);
}

void slices_record_print_holds(const struct slices_record* record, const char* goal, uint32_t live,
                               struct bench_table* table)
{
    for (uint32_t i = 0; i < record->count; ++i) {
        bool is_first = true;
        for (uint32_t k = 0; k < i && is_first; ++k) {
            is_first = strcmp(record->calls[k].function, record->calls[i].function) != 0;
        }
        for (uint32_t rank = 1; rank < MAAR_LOCK_RANKS && is_first; ++rank) {
            print_rank(record, record->calls[i].function, rank, goal, live, table);
        }
    }
}

#else

static void keep_holds(struct slices_call* call, bool is_new)
{
    (void)call;
    (void)is_new;
}

static void forget_holds(void)
{
}

void slices_record_print_holds(const struct slices_record* record, const char* goal, uint32_t live,
                               struct bench_table* table)
{
    (void)record;
    (void)goal;
    (void)live;
    (void)table;
}

#endif

void slices_record_begin(struct slices_record* record)
{
    record->at = 0;
    record->is_astray = false;
}

void slices_record_end(struct slices_record* record)
{
    record->runs += !record->is_astray && record->at == record->count ? 1 : 0;
}

void slices_record_start(struct slices_record* record)
{
    forget_holds();
    record->start_ns = bench_thread_ns();
}

void slices_record_stop(struct slices_record* record, const char* function)
{
    const double took = bench_thread_ns() - record->start_ns;
    const bool is_new = record->runs == 0;
    if (is_new && record->count == record->capacity) {
        record->capacity = record->capacity != 0 ? 2 * record->capacity : 4096;
        record->calls = realloc(record->calls, record->capacity * sizeof record->calls[0]);
        if (record->calls == NULL) {
            bench_die(BENCH_EXIT_FAILED, "no memory");
        }
    }
    record->count += is_new ? 1 : 0;
    record->is_astray = record->is_astray || record->at >= record->count ||
                        (!is_new && record->calls[record->at].function != function);
    if (record->is_astray) {
        return;
    }
    struct slices_call* call = &record->calls[record->at++];
    call->least_ns = is_new || took < call->least_ns ? took : call->least_ns;
    call->function = function;
    keep_holds(call, is_new);
}

struct slices_cost slices_record_cost(const struct slices_record* record, const char* function,
                                      double over_ns)
{
    struct slices_cost cost = {0};
    for (uint32_t i = 0; i < record->count; ++i) {
        const struct slices_call* call = &record->calls[i];
        if (strcmp(call->function, function) == 0) {
            ++cost.count;
            cost.total_ns += call->least_ns;
            cost.over += call->least_ns > over_ns ? 1 : 0;
            cost.longest_ns = call->least_ns > cost.longest_ns ? call->least_ns : cost.longest_ns;
        }
    }
    return cost;
}

void slices_record_free(struct slices_record* record)
{
    free(record->calls);
    memset(record, 0, sizeof *record);
}
