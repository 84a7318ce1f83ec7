/*
 * Frame graphs for the transient planner: converts CSV files into the input of maarCreatePlan(),
 * and back.
 *
 * The table of resources has one row for each resource. Its header selects one of three forms:
 *   uses            the passes that use it, separated by blanks
 *   first, last     passes, both included
 *   lower, upper times, the upper one excluded Every form has the columns id (a unique text) and
 * size. The columns alignment, name, memory_types, kind (buffer, image_linear, image_optimal) and
 * fixed_offset are optional. Other columns are kept as text. A header with columns of two forms is
 * an error.
 *
 * With uses, passes (pass, queue and optionally name) and edges (from, to) are separate tables.
 * Every deviation is an error "file:line: reason". No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_FRAME_GRAPH_H
#define MAAR_SUPPORT_FRAME_GRAPH_H

#include "csv_table.h"

#include "maar/plan.h"

#define SUPPORT_FRAME_NAME_SIZE 256u

/* The facts of a resource that the planner does not need. */
struct support_frame_row {
    const char* id;
    const char* name;    /* empty when missing */
    uint64_t begin, end; /* as in the file, end excluded; with uses, places in the order */
};

/* The facts of a pass that the planner does not need. */
struct support_frame_pass {
    const char* name;  /* empty when missing */
    const char* queue; /* as in the file */
    uint32_t place;    /* its place in one order that respects all orders between passes */
};

struct support_frame_graph {
    char name[SUPPORT_FRAME_NAME_SIZE]; /* the file's name without folder, .csv and .resources */
    MaarPlanResource* resources;
    struct support_frame_row* rows;
    uint32_t resource_count;
    struct support_frame_pass* passes; /* NULL if none were given */
    uint32_t* pass_queues;
    uint32_t pass_count, queue_count;
    MaarPlanDependency* dependencies;
    uint32_t dependency_count;
    uint32_t* uses; /* of all resources */
    struct support_table table, pass_table, edge_table;
};

/* A file in memory. */
struct support_frame_text {
    const char* name; /* the name in messages */
    const char* data; /* NULL if the file is missing */
    size_t size;
};

/*
 * Loads resources, and also passes and edges if their paths are not NULL. On failure the graph is
 * empty.
 */
bool support_frame_graph_load(const char* path, const char* pass_path, const char* edge_path,
                              struct support_frame_graph* graph, struct support_error* error);

/* Loads a graph from memory. */
bool support_frame_graph_parse(const struct support_frame_text* resources,
                               const struct support_frame_text* passes,
                               const struct support_frame_text* edges,
                               struct support_frame_graph* graph, struct support_error* error);

/* Writes the name of a graph with a path. */
void support_frame_graph_take_name(const char* path, char name[SUPPORT_FRAME_NAME_SIZE]);

/* Returns whether the reader knows a column of resources. */
bool support_frame_column_is_known(const char* column);

/* Fills in the resources, passes and dependencies. The pointers point into the graph. */
void support_frame_graph_describe(const struct support_frame_graph* graph,
                                  MaarPlanCreateInfo* info);

/*
 * Writes the table of resources as it was read, followed by new columns of numbers. A new column
 * replaces a read column with the same name.
 */
struct support_frame_column {
    const char* name;
    const uint64_t* values; /* one for each resource */
};
void support_frame_graph_write(const struct support_frame_graph* graph,
                               const struct support_frame_column* columns, size_t column_count,
                               FILE* file);

/* Frees the contents of a graph and empties it. */
void support_frame_graph_release(struct support_frame_graph* graph);

#endif
