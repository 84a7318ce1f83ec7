/*
 * Frame graphs, for the transient planner: CSV files into what maarCreatePlan takes, and back.
 *
 * Resources, a row each, in one of three forms that the header tells apart:
 *   uses            the passes that use it, separated by blanks
 *   first, last     passes, both included
 *   lower, upper    times, the upper one excluded
 * All have id (any text, each once) and size; alignment, name, memory_types, kind (buffer,
 * image_linear, image_optimal) and fixed_offset may be there. Other columns are kept as text. A
 * header with columns of two forms is an error.
 *
 * Passes (pass, queue, and perhaps name) and edges (from, to) are tables of their own, for uses.
 * Anything wrong is an error "file:line: reason". No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_FRAME_GRAPH_H
#define MAAR_SUPPORT_FRAME_GRAPH_H

#include "csv_table.h"

#include "maar/plan.h"

#define SUPPORT_FRAME_NAME_SIZE 256u

/* What the plan does not need to know of a resource. */
struct support_frame_row {
    const char* id;
    const char* name;    /* empty where there is none */
    uint64_t begin, end; /* as the file has them, end excluded; with uses, places in the order */
};

/* What the plan does not need to know of a pass. */
struct support_frame_pass {
    const char* name;  /* empty where there is none */
    const char* queue; /* as the file has it */
    uint32_t place;    /* in one order that keeps all others */
};

struct support_frame_graph {
    char name[SUPPORT_FRAME_NAME_SIZE]; /* the file's name without folder, .csv and .resources */
    MaarPlanResource* resources;
    struct support_frame_row* rows;
    uint32_t resource_count;
    struct support_frame_pass* passes; /* NULL where none were given */
    uint32_t* pass_queues;
    uint32_t pass_count, queue_count;
    MaarPlanDependency* dependencies;
    uint32_t dependency_count;
    uint32_t* uses; /* of all resources */
    struct support_table table, pass_table, edge_table;
};

/* A file in memory. */
struct support_frame_text {
    const char* name; /* what messages call it */
    const char* data; /* NULL where it is not given */
    size_t size;
};

/*
 * Loads resources, and where their paths are not NULL passes and edges. On failure the graph is
 * empty.
 */
bool support_frame_graph_load(const char* path, const char* pass_path, const char* edge_path,
                              struct support_frame_graph* graph, struct support_error* error);

/* The same from memory. */
bool support_frame_graph_parse(const struct support_frame_text* resources,
                               const struct support_frame_text* passes,
                               const struct support_frame_text* edges,
                               struct support_frame_graph* graph, struct support_error* error);

/* What a graph of that path is called. */
void support_frame_graph_take_name(const char* path, char name[SUPPORT_FRAME_NAME_SIZE]);

/* Whether a column of resources is one that the reader looks at. */
bool support_frame_column_is_known(const char* column);

/* Fills in the resources, passes and dependencies; they point into the graph. */
void support_frame_graph_describe(const struct support_frame_graph* graph,
                                  MaarPlanCreateInfo* info);

/*
 * Writes the resources' table as it was read, followed by columns of numbers, which replace those
 * of the same names.
 */
struct support_frame_column {
    const char* name;
    const uint64_t* values; /* one for each resource */
};
void support_frame_graph_write(const struct support_frame_graph* graph,
                               const struct support_frame_column* columns, size_t column_count,
                               FILE* file);

/* Frees what a graph holds and empties it. */
void support_frame_graph_release(struct support_frame_graph* graph);

#endif
