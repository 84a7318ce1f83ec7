/*
 * How long submissions wait for their residents, in virtual time on simulated devices: the manager
 * as it is, with what the program names ahead, beside the same manager where the oldest use makes
 * room and nothing is named. Nothing here is measured on hardware.
 */
#include "bench_common.h"
#include "bench_options.h"
#include "bench_row.h"
#include "stalls_run.h"

#include <stdlib.h>
#include <string.h>

/* Bytes in a nanosecond: what the vendors say of the memory, and what copies reach of the bus:
 * PCI Express 4.0 x16, 3.0 x16, 4.0 x16 and 4.0 x8. */
static const struct stalls_profile profiles[] = {
    {"nvidia-rtx4090-linux", 1008, 25},
    {"nvidia-rtx2080-nobar-linux", 448, 12.5},
    {"amd-rx7900xtx-radv26.2", 960, 25},
    {"intel-arc-b580-bmg-anv25.0", 456, 12.5},
};

struct percentiles {
    double p50;
    double p99;
    double most;
    double sum;
};

/* Returns percentiles in microseconds. Sorts the values. */
static struct percentiles percentiles_of(double* values, uint32_t count)
{
    struct percentiles p = {.p50 = bench_median(values, count)};
    for (uint32_t i = 0; i < count; ++i) {
        p.sum += values[i];
    }
    p.p99 = values[(uint64_t)count * 99 / 100];
    p.most = values[count - 1];
    return p;
}

/* Returns the percentiles of submissions that count, or of frames. */
static struct percentiles summarize(const struct stalls_workload* w,
                                    const struct stalls_result* result, bool by_frame)
{
    double* values = bench_allocate(w->submission_count, sizeof values[0]);
    uint32_t count = 0;
    uint32_t frame = UINT32_MAX;
    for (uint32_t i = 0; i < w->submission_count; ++i) {
        const uint32_t own = w->submissions[i].frame;
        if (own < w->warm_frames) {
            continue;
        }
        if (!by_frame || own != frame) {
            values[count++] = 0;
            frame = own;
        }
        values[count - 1] += (double)result->stalls_ns[i] / 1000;
    }
    const struct percentiles p = percentiles_of(values, count);
    free(values);
    return p;
}

static void report(const struct stalls_workload* w, const struct stalls_profile* profile,
                   const struct stalls_result* results, bool by_frame, struct bench_table* table)
{
    const struct percentiles maar = summarize(w, &results[STALLS_MAAR], by_frame);
    const struct percentiles oldest = summarize(w, &results[STALLS_OLDEST], by_frame);
    struct bench_row row;
    bench_row_begin(&row, "stalls");
    bench_row_name(&row, "device", profile->name);
    bench_row_text(&row, "workload", w->name);
    bench_row_text(&row, "of", by_frame ? "frame" : "submission");
    bench_row_count(&row, "budget", w->budget);
    bench_row_text(&row, "fits", w->fits && !results[0].shares_queue ? "yes" : "no");
    bench_row_number(&row, "p50_us", maar.p50, 0);
    bench_row_number(&row, "p99_us", maar.p99, 0);
    bench_row_number(&row, "most_us", maar.most, 0);
    bench_row_number(&row, "sum_ms", maar.sum / 1000, 1);
    bench_row_number(&row, "oldest_p50", oldest.p50, 0);
    bench_row_number(&row, "oldest_p99", oldest.p99, 0);
    bench_row_number(&row, "oldest_most", oldest.most, 0);
    bench_row_number(&row, "oldest_sum", oldest.sum / 1000, 1);
    bench_row_number(&row, "of_oldest", oldest.p99 > 0 ? maar.p99 / oldest.p99 : maar.p99 > 0, 2);
    bench_row_number(&row, "ms", (double)results[STALLS_MAAR].time_ns / 1e6, 1);
    bench_row_number(&row, "oldest_ms", (double)results[STALLS_OLDEST].time_ns / 1e6, 1);
    bench_row_number(&row, "room_ms", (double)results[STALLS_ROOM].time_ns / 1e6, 1);
    bench_row_count(&row, "restored_mib", results[STALLS_MAAR].restored >> 20);
    bench_row_count(&row, "oldest_mib", results[STALLS_OLDEST].restored >> 20);
    bench_row_end(&row, table);
}

int main(int argc, char** argv)
{
    static const enum stalls_manner manners[] = {STALLS_MAAR, STALLS_OLDEST, STALLS_ROOM};
    struct bench_table table = {{0}};
    const char* workloads = "all";
    const char* devices = "all";
    uint32_t frames = 0;
    const struct bench_option options[] = {
        {"--workload", "LIST", BENCH_OPTION_TEXT, &workloads, "workloads, or all (all)"},
        {"--profile", "LIST", BENCH_OPTION_TEXT, &devices, "profiles, or all (all)"},
        {"--frames", "N", BENCH_OPTION_COUNT, &frames, "frames of each workload"},
    };
    const struct bench_command command = {
        .name = "bench_stalls",
        .summary = "How long submissions wait for residents, in virtual time.",
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };
    (void)bench_parse_options(&command, argc, argv);
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); ++i) {
        if (!bench_is_listed(devices, profiles[i].name)) {
            continue;
        }
        for (uint32_t number = 0; number < stalls_workload_count(); ++number) {
            const struct stalls_speed speed = {profiles[i].device_bytes, profiles[i].bus_bytes};
            struct stalls_workload workload;
            struct stalls_result results[3];
            stalls_workload_make(&workload, number, &speed, frames);
            if (bench_is_listed(workloads, workload.name)) {
                for (uint32_t k = 0; k < 3; ++k) {
                    results[manners[k]] = stalls_run(&workload, &profiles[i], manners[k]);
                }
                report(&workload, &profiles[i], results, false, &table);
                report(&workload, &profiles[i], results, true, &table);
                for (uint32_t k = 0; k < 3; ++k) {
                    free(results[k].stalls_ns);
                }
            }
            stalls_workload_release(&workload);
        }
    }
    return 0;
}
