/*
 * Draws what stands below the panels of a plan; see plan_picture_internal.h.
 */
#include "support/plan_picture_internal.h"

#include "support/short_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The most numbers on the axis, and lines in the panel of live bytes. */
#define CHART_MAX_NUMBERS 24u
#define CHART_LIVE_TICKS 4u

/* Returns the smallest of 1, 2, 5, 10, 20, ... that makes at most `most` steps. */
static uint64_t chart_decimal_step(uint64_t span, uint64_t most)
{
    static const uint64_t factors[] = {1, 2, 5};
    for (uint64_t power = 1;; power *= 10) {
        for (size_t i = 0; i < 3; ++i) {
            if (span / (power * factors[i]) <= most || power > span) {
                return power * factors[i];
            }
        }
    }
}

/* A time at which the number of live bytes changes. */
struct chart_event {
    uint64_t time;
    uint64_t come, go;
};

static int chart_compare_events(const void* a, const void* b)
{
    const struct chart_event* const x = a;
    const struct chart_event* const y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Returns all changes, sorted by time; NULL when out of memory. The caller frees them. */
static struct chart_event* chart_list_events(struct chart* chart)
{
    const size_t count = chart->picture->item_count;
    struct chart_event* const events = malloc((2 * count + 1) * sizeof(*events));
    for (size_t i = 0; events != NULL && i < count; ++i) {
        const struct support_plan_item* const item = &chart->picture->items[i];
        events[2 * i] = (struct chart_event){item->begin, item->size, 0};
        events[2 * i + 1] = (struct chart_event){item->end, 0, item->size};
    }
    if (events != NULL) {
        qsort(events, 2 * count, sizeof(*events), chart_compare_events);
    }
    return events;
}

/* Walks the live bytes as steps: first to find their maximum, then to draw them. */
static void chart_walk_alive(struct chart* chart, const struct chart_event* events, double bottom,
                             double scale, bool draw)
{
    const size_t count = 2 * chart->picture->item_count;
    uint64_t alive = 0;
    for (size_t i = 0; i < count;) {
        const uint64_t time = events[i].time;
        for (; i < count && events[i].time == time; ++i) {
            alive += events[i].come;
            alive -= events[i].go;
        }
        if (draw) {
            support_svg_raw(&chart->svg, "H%.2fV%.2f", chart_x(chart, time),
                            bottom - scale * (double)alive);
        } else {
            chart->most_alive = alive > chart->most_alive ? alive : chart->most_alive;
        }
    }
}

double chart_draw_alive(struct chart* chart, double top)
{
    struct chart_event* const events = chart_list_events(chart);
    if (events == NULL) {
        chart->svg.failed = true;
        return top;
    }
    struct support_plan_part all = {.size = chart->total, .optimal = true};
    for (size_t i = 0; i < chart->picture->part_count; ++i) {
        all.lower_bound += chart->picture->parts[i].lower_bound;
        all.optimal = all.optimal && chart->picture->parts[i].optimal;
    }
    char bytes[32];
    char text[96];
    const double scale = CHART_LIVE / (double)(chart->total != 0 ? chart->total : 1);
    chart_walk_alive(chart, events, 0.0, 0.0, false);
    snprintf(text, sizeof(text), "bytes alive%s: at most %s",
             chart->picture->queue_count > 1 ? " in this one of the possible orders" : "",
             chart_bytes(chart->most_alive, bytes, sizeof(bytes)));
    chart_text(chart, CHART_LEFT, top - 7.0, 11.5, "start", CHART_TEXT, text);
    support_svg_rectangle(&chart->svg, CHART_LEFT, top, CHART_INNER, CHART_LIVE, CHART_GROUND,
                          NULL);
    chart_draw_scale(chart, top, CHART_LIVE, chart->total, CHART_LIVE_TICKS);
    support_svg_raw(&chart->svg, "<path d=\"M%.2f %.2f", CHART_LEFT, top + CHART_LIVE);
    chart_walk_alive(chart, events, top + CHART_LIVE, scale, true);
    support_svg_raw(
        &chart->svg,
        "\" fill=\"#8CA6C4\" fill-opacity=\"0.8\" stroke=\"#33557A\" stroke-width=\"0.8\"/>\n");
    chart_draw_bounds(chart, top, scale, &all, chart->picture->capacity);
    free(events);
    return top + CHART_LIVE;
}

/* Draws the numbers of passes, or times, below a panel. */
double chart_draw_axis(struct chart* chart, double top)
{
    const uint64_t span = chart->end - chart->begin;
    const uint64_t step = chart_decimal_step(span, CHART_MAX_NUMBERS);
    const double half =
        chart->end <= 65536 ? CHART_INNER / (double)(span != 0 ? span : 1) / 2 : 0.0;
    const uint64_t skipped = (step - chart->begin % step) % step;
    for (uint64_t i = 0; skipped < span && i <= (span - 1 - skipped) / step; ++i) {
        char text[32];
        const uint64_t at = chart->begin + skipped + i * step;
        const double x = chart_x(chart, at);
        support_svg_raw(&chart->svg,
                        "<path d=\"M%.2f %.2fv4\" stroke=\"%s\" stroke-width=\"0.8\"/>\n", x, top,
                        CHART_DIM);
        snprintf(text, sizeof(text), "%" PRIu64, at);
        chart_text(chart, x + half, top + 15.0, 10.5, "middle", CHART_DIM, text);
    }
    chart_text(chart, CHART_LEFT - 8.0, top + 15.0, 10.5, "end", CHART_DIM,
               chart->end <= 65536 ? "pass" : "time");
    return top + CHART_AXIS;
}

static const char* chart_pass_name(const void* context, size_t index)
{
    return ((const struct support_plan_picture*)context)->passes[index].name;
}

/* Draws a row of cells for each queue, and the names of passes that fit. */
double chart_draw_passes(struct chart* chart, double top)
{
    static const char* const colours[] = {"#4C78A8", "#E08A2E", "#54A24B", "#B279A2"};
    const struct support_plan_picture* const picture = chart->picture;
    const double rows = CHART_QUEUE * (double)picture->queue_count;
    double names = 0.0;
    for (size_t i = 0; i < picture->queue_count; ++i) {
        char text[64];
        snprintf(text, sizeof(text), "queue %.20s", picture->queues[i]);
        chart_text(chart, CHART_LEFT - 8.0, top + CHART_QUEUE * (double)i + 11.0, 10.5, "end",
                   CHART_DIM, text);
    }
    for (size_t i = 0; i < picture->pass_count; ++i) {
        const struct support_plan_pass* const pass = &picture->passes[i];
        if (i < chart->begin || i >= chart->end) {
            continue;
        }
        const double x = chart_x(chart, i);
        const double width = chart_x(chart, i + 1) - x;
        support_svg_rectangle(&chart->svg, x, top + CHART_QUEUE * pass->queue,
                              width > 2.0 ? width - 1.0 : width, CHART_QUEUE - 3.0,
                              colours[pass->queue % 4u], pass->name);
        char name[256];
        if (width >= 10.0 && pass->name[0] != '\0' &&
            support_shorten_label(pass->name, CHART_NAMES - 4.0, 9.5, chart_pass_name, picture,
                                  picture->pass_count, name, sizeof(name))) {
            chart_upright(chart, x + width / 2 + 3.5, top + rows + 2.0, "end", 9.5, name);
            names = CHART_NAMES;
        }
    }
    return top + rows + names + 6.0;
}
