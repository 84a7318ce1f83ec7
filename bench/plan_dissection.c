/*
 * Made-up instances with a known optimum; see plan_dissection.h.
 */
#include "bench/plan_dissection.h"

#include "bench/bench_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LENGTH = 2000, /* of the rectangle, in time */
    HEIGHT = 4096, /* of the rectangle, in units */
    UNIT = PLAN_DISSECTION_BYTES / HEIGHT,
    SEEDS = 5,
    MAX_PIECES = 450,
    MAX_ROW = 64, /* bytes of text for each piece */
};

struct piece {
    uint32_t begin, end;  /* time */
    uint32_t bottom, top; /* units */
};

struct dissection {
    struct piece pieces[MAX_PIECES];
    uint32_t count;
    uint64_t random;
};

static uint32_t draw(struct dissection* made, uint32_t count)
{
    return (uint32_t)(bench_random(&made->random) % count);
}

/* Draws a piece; large ones are drawn more often. */
static uint32_t draw_piece(struct dissection* made)
{
    uint64_t at = bench_random(&made->random) % ((uint64_t)LENGTH * HEIGHT);
    for (uint32_t i = 0;; ++i) {
        const struct piece* const piece = &made->pieces[i];
        const uint64_t area = (uint64_t)(piece->end - piece->begin) * (piece->top - piece->bottom);
        if (at < area) {
            return i;
        }
        at -= area;
    }
}

/* Draws a place between two ends that is at least a fifth away from both. */
static uint32_t draw_middle(struct dissection* made, uint32_t low, uint32_t high)
{
    const uint32_t margin = high - low < 8 ? 1 : (high - low) / 5;
    return low + margin + draw(made, high - low - 2 * margin + 1);
}

static void add(struct dissection* made, struct piece piece)
{
    made->pieces[made->count++] = piece;
}

/* Cuts a piece in two, mostly across its longer side. */
static void cut(struct dissection* made, uint32_t index)
{
    struct piece* const piece = &made->pieces[index];
    const struct piece whole = *piece;
    const uint32_t length = whole.end - whole.begin;
    const uint32_t height = whole.top - whole.bottom;
    const uint32_t wide = length * HEIGHT / LENGTH;
    if (length >= 2 && draw(made, wide + height) < wide) {
        const uint32_t at = draw_middle(made, whole.begin, whole.end);
        piece->end = at;
        add(made, (struct piece){at, whole.end, whole.bottom, whole.top});
    } else if (height >= 2) {
        const uint32_t at = draw_middle(made, whole.bottom, whole.top);
        piece->top = at;
        add(made, (struct piece){whole.begin, whole.end, at, whole.top});
    }
}

/* Draws two places between two ends. */
static void draw_places(struct dissection* made, uint32_t low, uint32_t high, uint32_t places[2])
{
    places[0] = low + 1 + draw(made, high - low - 2);
    places[1] = places[0] + 1 + draw(made, high - places[0] - 1);
}

/* Cuts a piece into four around a fifth, which no cut from edge to edge can do. */
static void cut_pinwheel(struct dissection* made, uint32_t index)
{
    const struct piece whole = made->pieces[index];
    uint32_t x[2];
    uint32_t y[2];
    draw_places(made, whole.begin, whole.end, x);
    draw_places(made, whole.bottom, whole.top, y);
    made->pieces[index] = (struct piece){x[0], x[1], y[0], y[1]};
    if (draw(made, 2) == 0) {
        add(made, (struct piece){whole.begin, x[1], whole.bottom, y[0]});
        add(made, (struct piece){x[1], whole.end, whole.bottom, y[1]});
        add(made, (struct piece){x[0], whole.end, y[1], whole.top});
        add(made, (struct piece){whole.begin, x[0], y[0], whole.top});
    } else {
        add(made, (struct piece){x[0], whole.end, whole.bottom, y[0]});
        add(made, (struct piece){x[1], whole.end, y[0], whole.top});
        add(made, (struct piece){whole.begin, x[1], y[1], whole.top});
        add(made, (struct piece){whole.begin, x[0], whole.bottom, y[1]});
    }
}

static void dissect(struct dissection* made, uint32_t count, bool pinwheels)
{
    made->pieces[0] = (struct piece){0, LENGTH, 0, HEIGHT};
    made->count = 1;
    while (made->count < count) {
        const uint32_t index = draw_piece(made);
        const struct piece* const piece = &made->pieces[index];
        const bool is_large = piece->end - piece->begin >= 8 && piece->top - piece->bottom >= 8;
        if (pinwheels && is_large && made->count + 4 <= count && draw(made, 5) < 3) {
            cut_pinwheel(made, index);
        } else {
            cut(made, index);
        }
    }
    for (uint32_t i = made->count; i > 1; --i) {
        const uint32_t other = draw(made, i);
        const struct piece piece = made->pieces[i - 1];
        made->pieces[i - 1] = made->pieces[other];
        made->pieces[other] = piece;
    }
}

void plan_dissection_make(uint32_t instance, struct support_frame_graph* graph)
{
    static const uint32_t counts[] = {120, 200, 300, 450};
    struct dissection* const made = bench_allocate(1, sizeof(*made));
    const uint32_t kind = instance / SEEDS;
    const uint32_t count = counts[kind / 2];
    const char* const cuts = kind % 2 == 0 ? "cuts" : "pinwheels";
    struct support_error error = {{0}};
    char name[64];
    char* const text = bench_allocate(MAX_PIECES + 1, MAX_ROW);
    size_t size = (size_t)snprintf(text, MAX_ROW, "id,lower,upper,size\n");
    made->random = BENCH_SEED + instance;
    dissect(made, count, kind % 2 != 0);
    for (uint32_t i = 0; i < count; ++i) {
        const struct piece* const piece = &made->pieces[i];
        size += (size_t)snprintf(text + size, MAX_ROW,
                                 "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", i,
                                 piece->begin, piece->end, (piece->top - piece->bottom) * UNIT);
    }
    snprintf(name, sizeof(name), "%s_%" PRIu32 "_%" PRIu32 ".csv", cuts, count,
             instance % SEEDS + 1);
    const struct support_frame_text file = {.name = name, .data = text, .size = size};
    const struct support_frame_text none = {.name = NULL};
    if (!support_frame_graph_parse(&file, &none, &none, graph, &error)) {
        bench_die(BENCH_EXIT_FAILED, "%s", error.text);
    }
    free(text);
    free(made);
}
