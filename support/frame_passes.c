/*
 * Reads passes and edges of frame graphs; see frame_reader.h. The order of the passes is built step
 * by step from passes that wait for no other. If passes remain in the end, their edges form a
 * cycle.
 */
#include "support/frame_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The most queues of a graph, far more than any device has. */
enum { GRAPH_MAX_QUEUES = 256 };

/* Numbers the queues in the order of their first occurrence. */
static bool graph_number_queues(struct graph_reader* reader)
{
    struct support_frame_graph* const graph = reader->graph;
    uint32_t firsts[GRAPH_MAX_QUEUES] = {0}; /* the first pass of each */
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        uint32_t queue = 0;
        while (queue < graph->queue_count &&
               strcmp(graph->passes[firsts[queue]].queue, graph->passes[i].queue) != 0) {
            ++queue;
        }
        if (queue == GRAPH_MAX_QUEUES) {
            support_error_set(reader->error, reader->name, 0, "more than %d queues",
                              GRAPH_MAX_QUEUES);
            return false;
        }
        if (queue == graph->queue_count) {
            firsts[graph->queue_count++] = i;
        }
        graph->pass_queues[i] = queue;
        graph->passes[i].place = i;
    }
    return true;
}

bool graph_read_passes(struct graph_reader* reader)
{
    struct support_frame_graph* const graph = reader->graph;
    const size_t name = support_table_find(reader->table, "name");
    size_t pass = 0;
    size_t queue = 0;
    if (!graph_column(reader, "pass", &pass) || !graph_column(reader, "queue", &queue) ||
        !graph_count(reader, MAAR_PLAN_MAX_PASSES, "passes", &graph->pass_count)) {
        return false;
    }
    graph->passes = graph_allocate(reader, graph->pass_count, sizeof(*graph->passes));
    graph->pass_queues = graph_allocate(reader, graph->pass_count, sizeof(*graph->pass_queues));
    if (graph->passes == NULL || graph->pass_queues == NULL) {
        return false;
    }
    for (reader->row = 0; reader->row < graph->pass_count; ++reader->row) {
        uint64_t index = 0;
        if (!graph_number(reader, pass, UINT64_MAX, &index)) {
            return false;
        }
        if (index >= graph->pass_count) {
            return graph_fail(reader, pass, "is not below the number of passes");
        }
        if (graph->passes[index].queue != NULL) {
            return graph_fail(reader, pass, "occurred before");
        }
        graph->passes[index].queue = graph_text(reader, queue);
        graph->passes[index].name = graph_text(reader, name);
    }
    return graph_number_queues(reader);
}

static bool graph_read_pairs(struct graph_reader* reader)
{
    struct support_frame_graph* const graph = reader->graph;
    size_t columns[2] = {0, 0};
    if (!graph_column(reader, "from", &columns[0]) || !graph_column(reader, "to", &columns[1]) ||
        !graph_count(reader, UINT32_MAX - 1, "edges", &graph->dependency_count)) {
        return false;
    }
    graph->dependencies =
        graph_allocate(reader, graph->dependency_count, sizeof(*graph->dependencies));
    if (graph->dependencies == NULL) {
        return false;
    }
    for (reader->row = 0; reader->row < graph->dependency_count; ++reader->row) {
        uint64_t ends[2] = {0, 0};
        for (size_t i = 0; i < 2; ++i) {
            if (!graph_number(reader, columns[i], UINT64_MAX, &ends[i])) {
                return false;
            }
            if (ends[i] >= graph->pass_count) {
                return graph_fail(reader, columns[i], "is not a pass");
            }
        }
        graph->dependencies[reader->row] =
            (MaarPlanDependency){.before = (uint32_t)ends[0], .after = (uint32_t)ends[1]};
    }
    return true;
}

/* The data for a walk over the passes in an order that respects all others. */
struct graph_walk {
    uint32_t* first;   /* index of a pass's first target; one element more than passes */
    uint32_t* targets; /* passes that follow, including those by program order */
    uint32_t* waiting; /* the number of passes for which each pass still waits */
    uint32_t* ready;   /* passes that wait for no other, in the order of the walk */
};

/* Calls a function for each pair of passes of which one directly follows the other. */
static void graph_for_pairs(const struct support_frame_graph* graph, const uint32_t* next,
                            void (*visit)(struct graph_walk*, uint32_t, uint32_t),
                            struct graph_walk* walk)
{
    for (uint32_t i = 0; i < graph->dependency_count; ++i) {
        visit(walk, graph->dependencies[i].before, graph->dependencies[i].after);
    }
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        if (next[i] != UINT32_MAX) {
            visit(walk, i, next[i]);
        }
    }
}

static void graph_count_pair(struct graph_walk* walk, uint32_t before, uint32_t after)
{
    ++walk->first[before + 1];
    ++walk->waiting[after];
}

static void graph_put_pair(struct graph_walk* walk, uint32_t before, uint32_t after)
{
    walk->targets[walk->first[before]++] = after;
}

/* Fills in the targets of all passes. next[i] is the pass after i on its queue. */
static void graph_link(const struct support_frame_graph* graph, const uint32_t* next,
                       struct graph_walk* walk)
{
    graph_for_pairs(graph, next, graph_count_pair, walk);
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        walk->first[i + 1] += walk->first[i];
    }
    graph_for_pairs(graph, next, graph_put_pair, walk);
    for (uint32_t i = graph->pass_count; i > 0; --i) {
        walk->first[i] = walk->first[i - 1];
    }
    walk->first[0] = 0;
}

/* Gives every pass its place. Returns the number of passes with a place, which is smaller than that
 * of all passes if a cycle exists. */
static uint32_t graph_take_places(struct support_frame_graph* graph, struct graph_walk* walk)
{
    uint32_t taken = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        if (walk->waiting[i] == 0) {
            walk->ready[count++] = i;
        }
    }
    for (; taken < count; ++taken) {
        const uint32_t pass = walk->ready[taken];
        graph->passes[pass].place = taken;
        for (uint32_t i = walk->first[pass]; i < walk->first[pass + 1]; ++i) {
            if (--walk->waiting[walk->targets[i]] == 0) {
                walk->ready[count++] = walk->targets[i];
            }
        }
    }
    return taken;
}

/*
 * Names an edge of a cycle. The passes that still wait for others lie on cycles or behind them. A
 * walk backwards from one of them, with one step for each pass, therefore ends on a cycle. Once
 * around that cycle, at least one edge goes from a higher number to a lower one. Program order
 * never does so, so that this edge is a row of the table.
 */
static void graph_report_cycle(const struct graph_reader* reader, const struct graph_walk* walk)
{
    const struct support_frame_graph* const graph = reader->graph;
    uint32_t* const from =
        walk->ready; /* for each waiting pass, one of the passes for which it waits */
    uint32_t pass = 0;
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        for (uint32_t j = walk->first[i]; walk->waiting[i] != 0 && j < walk->first[i + 1]; ++j) {
            from[walk->targets[j]] = i;
        }
        pass = walk->waiting[i] != 0 ? i : pass;
    }
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        pass = from[pass];
    }
    while (from[pass] < pass) {
        pass = from[pass];
    }
    for (uint32_t i = 0; i < graph->dependency_count; ++i) {
        const MaarPlanDependency* const edge = &graph->dependencies[i];
        if (edge->before == from[pass] && edge->after == pass) {
            support_error_set(reader->error, reader->name, support_table_line(reader->table, i),
                              "the edge from %" PRIu32 " to %" PRIu32 " closes a cycle",
                              edge->before, edge->after);
            return;
        }
    }
}

/* Puts the passes into one order: that of their numbers if it respects the edges. */
static bool graph_order_passes(struct graph_reader* reader)
{
    struct support_frame_graph* const graph = reader->graph;
    const uint32_t count = graph->pass_count;
    bool forward = true;
    for (uint32_t i = 0; i < graph->dependency_count; ++i) {
        forward = forward && graph->dependencies[i].before < graph->dependencies[i].after;
    }
    if (forward) {
        return true;
    }
    const size_t pairs = (size_t)graph->dependency_count + count;
    uint32_t* const memory = graph_allocate(reader, 5 * (size_t)count + pairs + 1, sizeof(*memory));
    if (memory == NULL) {
        return false;
    }
    struct graph_walk walk = {.first = memory,
                              .waiting = memory + count + 1,
                              .ready = memory + 2 * (size_t)count + 1,
                              .targets = memory + 5 * (size_t)count + 1};
    uint32_t* const next = memory + 3 * (size_t)count + 1;
    uint32_t* const last = memory + 4 * (size_t)count + 1; /* the last pass of each queue so far */
    memset(next, 0xFF, 2 * (size_t)count * sizeof(*next));
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t* const before = &last[graph->pass_queues[i]];
        if (*before != UINT32_MAX) {
            next[*before] = i;
        }
        *before = i;
    }
    graph_link(graph, next, &walk);
    const bool good = graph_take_places(graph, &walk) == count;
    if (!good) {
        graph_report_cycle(reader, &walk);
    }
    free(memory);
    return good;
}

bool graph_read_edges(struct graph_reader* reader)
{
    return graph_read_pairs(reader) && graph_order_passes(reader);
}
