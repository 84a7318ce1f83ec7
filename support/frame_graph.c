/*
 * Reads frame graphs; see frame_graph.h. Whole tables are read first. Their rows then fill the
 * arrays of the planner's input; texts stay in the tables.
 */
#include "support/frame_graph.h"

#include "support/frame_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The largest accepted file. Every file of a graph is far smaller; a larger file is something
 * else. */
#define GRAPH_MAX_BYTES ((size_t)1 << 28)
/* Bytes of the header of a table. */
#define GRAPH_MAX_HEADER 4096

#define GRAPH_MAX_ALIGNMENT ((uint64_t)1 << 48)

/* The forms in which a header gives the lifetimes of resources. */
enum graph_form {
    GRAPH_FORM_USES,
    GRAPH_FORM_PASSES,
    GRAPH_FORM_TIMES,
};

/* The columns of the table of resources. A missing column has the value column_count. */
struct graph_columns {
    enum graph_form form;
    size_t id, size, alignment, name, types, kind, fixed;
    size_t uses, from, to;
};

/* The groups of columns that give lifetimes. A header has exactly one group. */
static const char* const graph_groups[][2] = {
    [GRAPH_FORM_USES] = {"uses", "uses"},
    [GRAPH_FORM_PASSES] = {"first", "last"},
    [GRAPH_FORM_TIMES] = {"lower", "upper"},
};

/* Returns a column of the header that belongs to a group; NULL when the header has none. */
static const char* graph_find_group(const struct support_table* table, enum graph_form form)
{
    for (size_t i = 0; i < 2; ++i) {
        if (support_table_find(table, graph_groups[form][i]) != table->column_count) {
            return graph_groups[form][i];
        }
    }
    return NULL;
}

/* Finds the form in which the header gives lifetimes. A header may use only one form. */
static bool graph_find_form(const struct graph_reader* reader, enum graph_form* form)
{
    static const enum graph_form forms[] = {GRAPH_FORM_USES, GRAPH_FORM_PASSES, GRAPH_FORM_TIMES};
    const char* found = NULL;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); ++i) {
        const char* const other = graph_find_group(reader->table, forms[i]);
        if (other != NULL && found != NULL) {
            support_error_set(reader->error, reader->name, reader->table->lines[0],
                              "the header has both %s and %s, but only one of them may give the "
                              "lifetimes of resources",
                              found, other);
            return false;
        }
        if (other != NULL) {
            found = other;
            *form = forms[i];
        }
    }
    if (found == NULL) {
        support_error_set(reader->error, reader->name, reader->table->lines[0],
                          "the header has neither uses, nor first and last, nor lower and upper");
    }
    return found != NULL;
}

static bool graph_find_columns(const struct graph_reader* reader, struct graph_columns* columns)
{
    const struct support_table* const table = reader->table;
    if (!graph_find_form(reader, &columns->form)) {
        return false;
    }
    columns->alignment = support_table_find(table, "alignment");
    columns->name = support_table_find(table, "name");
    columns->types = support_table_find(table, "memory_types");
    columns->kind = support_table_find(table, "kind");
    columns->fixed = support_table_find(table, "fixed_offset");
    columns->uses = support_table_find(table, "uses");
    if (columns->form != GRAPH_FORM_USES && reader->graph->passes != NULL) {
        support_error_set(reader->error, reader->name, reader->table->lines[0],
                          "passes were given, but the header has no column uses");
        return false;
    }
    const char* const* const group = graph_groups[columns->form];
    return graph_column(reader, "id", &columns->id) &&
           graph_column(reader, "size", &columns->size) &&
           (columns->form == GRAPH_FORM_USES || (graph_column(reader, group[0], &columns->from) &&
                                                 graph_column(reader, group[1], &columns->to)));
}

bool support_frame_column_is_known(const char* column)
{
    static const char* const known[] = {
        "id",           "size", "alignment", "name", "memory_types", "kind",
        "fixed_offset", "uses", "first",     "last", "lower",        "upper",
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        if (strcmp(column, known[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool graph_read_types(const struct graph_reader* reader, size_t column, uint32_t* types)
{
    const char* const text = graph_text(reader, column);
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t value = 0;
    if (text[0] == '\0') {
        return true;
    }
    const char* const end = graph_digits(hex ? text + 2 : text, hex ? 16 : 10, &value);
    if (end == NULL || *end != '\0' || value > UINT32_MAX) {
        return graph_fail(reader, column, "is not a number of 32 bits");
    }
    *types = (uint32_t)value;
    return true;
}

static bool graph_read_kind(const struct graph_reader* reader, size_t column,
                            MaarResourceKind* kind)
{
    static const struct {
        const char* word;
        MaarResourceKind kind;
    } kinds[] = {
        {"", MAAR_RESOURCE_KIND_UNKNOWN},
        {"buffer", MAAR_RESOURCE_KIND_LINEAR},
        {"image_linear", MAAR_RESOURCE_KIND_LINEAR},
        {"image_optimal", MAAR_RESOURCE_KIND_OPTIMAL},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (strcmp(graph_text(reader, column), kinds[i].word) == 0) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return graph_fail(reader, column, "is not buffer, image_linear or image_optimal");
}

static bool graph_read_fixed(const struct graph_reader* reader, size_t column,
                             MaarPlanResource* resource)
{
    if (graph_text(reader, column)[0] == '\0') {
        return true;
    }
    if (!graph_number(reader, column, MAAR_PLAN_MAX_SIZE, &resource->fixedOffset)) {
        return false;
    }
    if (resource->fixedOffset % resource->alignment != 0) {
        return graph_fail(reader, column, "is not a multiple of the alignment");
    }
    resource->flags |= MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
    return true;
}

/* Reads a lifetime from first and last, or from lower and upper. */
static bool graph_read_interval(const struct graph_reader* reader,
                                const struct graph_columns* columns, struct support_frame_row* row)
{
    uint64_t last = 0;
    if (!graph_number(reader, columns->from, UINT64_MAX - 1, &row->begin) ||
        !graph_number(reader, columns->to, UINT64_MAX - 1, &last)) {
        return false;
    }
    if (columns->form == GRAPH_FORM_TIMES) {
        row->end = last;
        return last > row->begin || graph_fail(reader, columns->to, "is not above lower");
    }
    row->end = last + 1;
    return last >= row->begin || graph_fail(reader, columns->to, "is below first");
}

/* Counts the uses of a row, and writes them to `out` if it is not NULL. */
static bool graph_read_uses(const struct graph_reader* reader, size_t column, uint32_t* out,
                            uint32_t* count)
{
    const struct support_frame_graph* const graph = reader->graph;
    const uint64_t passes = graph->passes != NULL ? graph->pass_count : MAAR_PLAN_MAX_PASSES;
    const char* at = support_table_cell(reader->table, reader->row, column);
    *count = 0;
    for (at += strspn(at, " \t"); *at != '\0'; at += strspn(at, " \t")) {
        uint64_t pass = 0;
        const char* const end = graph_digits(at, 10, &pass);
        if (end == NULL || (*end != '\0' && *end != ' ' && *end != '\t')) {
            return graph_fail(reader, column, "are not numbers separated by blanks");
        }
        if (pass >= passes) {
            return graph_fail(reader, column, "name a pass that does not exist");
        }
        if (out != NULL) {
            out[*count] = (uint32_t)pass;
        }
        ++*count;
        at = end;
    }
    return *count != 0 || graph_fail(reader, column, "are missing");
}

/* Finds the part of the order that a resource's uses span. */
static void graph_span_uses(const struct support_frame_graph* graph,
                            const MaarPlanResource* resource, struct support_frame_row* row)
{
    row->begin = UINT64_MAX;
    row->end = 0;
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        const uint32_t pass = resource->pUses[i];
        const uint64_t place = graph->passes != NULL ? graph->passes[pass].place : pass;
        row->begin = place < row->begin ? place : row->begin;
        row->end = place + 1 > row->end ? place + 1 : row->end;
    }
}

static bool graph_read_all_uses(struct graph_reader* reader, size_t column)
{
    struct support_frame_graph* const graph = reader->graph;
    size_t total = 0;
    for (reader->row = 0; reader->row < graph->resource_count; ++reader->row) {
        MaarPlanResource* const resource = &graph->resources[reader->row];
        if (!graph_read_uses(reader, column, NULL, &resource->useCount)) {
            return false;
        }
        total += resource->useCount;
    }
    graph->uses = graph_allocate(reader, total, sizeof(*graph->uses));
    if (graph->uses == NULL) {
        return false;
    }
    uint32_t* next = graph->uses;
    for (reader->row = 0; reader->row < graph->resource_count; ++reader->row) {
        MaarPlanResource* const resource = &graph->resources[reader->row];
        resource->pUses = next;
        if (!graph_read_uses(reader, column, next, &resource->useCount)) {
            return false;
        }
        graph_span_uses(graph, resource, &graph->rows[reader->row]);
        next += resource->useCount;
    }
    return true;
}

static bool graph_read_resource(const struct graph_reader* reader,
                                const struct graph_columns* columns, uint64_t* total)
{
    MaarPlanResource* const resource = &reader->graph->resources[reader->row];
    struct support_frame_row* const row = &reader->graph->rows[reader->row];
    row->id = graph_text(reader, columns->id);
    row->name = graph_text(reader, columns->name);
    if (row->id[0] == '\0') {
        return graph_fail(reader, columns->id, "is empty");
    }
    if (!graph_number(reader, columns->size, MAAR_PLAN_MAX_SIZE, &resource->size) ||
        !graph_optional(reader, columns->alignment, 1, GRAPH_MAX_ALIGNMENT, &resource->alignment)) {
        return false;
    }
    if (resource->size == 0) {
        return graph_fail(reader, columns->size, "is not a size");
    }
    resource->alignment = resource->alignment == 0 ? 1 : resource->alignment;
    const uint64_t blocks = (resource->size + resource->alignment - 1) / resource->alignment;
    *total += blocks * resource->alignment;
    if (*total > MAAR_PLAN_MAX_SIZE) {
        return graph_fail(reader, columns->size, "is too large: the sum exceeds 2^60");
    }
    return graph_read_types(reader, columns->types, &resource->memoryTypeBits) &&
           graph_read_kind(reader, columns->kind, &resource->kind) &&
           graph_read_fixed(reader, columns->fixed, resource) &&
           (columns->form == GRAPH_FORM_USES || graph_read_interval(reader, columns, row));
}

/* A key for sorting rows. */
struct graph_key {
    const char* id;
    uint64_t begin;
    uint32_t row;
};

static int graph_compare_ids(const void* a, const void* b)
{
    const struct graph_key* const x = a;
    const struct graph_key* const y = b;
    const int order = strcmp(x->id, y->id);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static bool graph_check_ids(struct graph_reader* reader, struct graph_key* keys, size_t column)
{
    const uint32_t count = reader->graph->resource_count;
    qsort(keys, count, sizeof(*keys), graph_compare_ids);
    for (uint32_t i = 1; i < count; ++i) {
        if (strcmp(keys[i - 1].id, keys[i].id) == 0) {
            reader->row = keys[i].row;
            return graph_fail(reader, column, "occurred before");
        }
    }
    return true;
}

static int graph_compare_begins(const void* a, const void* b)
{
    const struct graph_key* const x = a;
    const struct graph_key* const y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Returns the number of keys that begin before a time. */
static uint32_t graph_count_before(const struct graph_key* keys, uint32_t count, uint64_t time)
{
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle].begin < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * Numbers the passes of the resources. Small numbers of the file are used directly. Large ones are
 * replaced by the ranks of the times at which resources begin. If two resources overlap in time,
 * the later one begins while the other lives. Therefore the ranks keep every overlap and add none.
 */
static void graph_number_passes(struct support_frame_graph* graph, struct graph_key* keys)
{
    const uint32_t count = graph->resource_count;
    uint64_t latest = 0;
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; ++i) {
        latest = graph->rows[i].end > latest ? graph->rows[i].end : latest;
    }
    qsort(keys, count, sizeof(*keys), graph_compare_begins);
    for (uint32_t i = 0; i < count; ++i) {
        if (distinct == 0 || keys[distinct - 1].begin != keys[i].begin) {
            keys[distinct++] = keys[i];
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct support_frame_row* const row = &graph->rows[i];
        MaarPlanResource* const resource = &graph->resources[i];
        const bool small = latest < UINT32_MAX;
        resource->firstPass =
            small ? (uint32_t)row->begin : graph_count_before(keys, distinct, row->begin);
        resource->lastPass =
            (small ? (uint32_t)row->end : graph_count_before(keys, distinct, row->end)) - 1;
    }
}

static bool graph_finish_rows(struct graph_reader* reader, const struct graph_columns* columns)
{
    struct support_frame_graph* const graph = reader->graph;
    struct graph_key* const keys = graph_allocate(reader, graph->resource_count, sizeof(*keys));
    if (keys == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        keys[i] = (struct graph_key){graph->rows[i].id, graph->rows[i].begin, i};
    }
    const bool good = graph_check_ids(reader, keys, columns->id);
    if (good && columns->form != GRAPH_FORM_USES) {
        graph_number_passes(graph, keys);
    }
    free(keys);
    return good;
}

static bool graph_read_resources(struct graph_reader* reader)
{
    struct support_frame_graph* const graph = reader->graph;
    struct graph_columns columns = {0};
    uint64_t total = 0;
    if (!graph_find_columns(reader, &columns) ||
        !graph_count(reader, MAAR_PLAN_MAX_RESOURCES, "resources", &graph->resource_count)) {
        return false;
    }
    graph->resources = graph_allocate(reader, graph->resource_count, sizeof(*graph->resources));
    graph->rows = graph_allocate(reader, graph->resource_count, sizeof(*graph->rows));
    if (graph->resources == NULL || graph->rows == NULL) {
        return false;
    }
    for (reader->row = 0; reader->row < graph->resource_count; ++reader->row) {
        if (!graph_read_resource(reader, &columns, &total)) {
            return false;
        }
    }
    return (columns.form != GRAPH_FORM_USES || graph_read_all_uses(reader, columns.uses)) &&
           graph_finish_rows(reader, &columns);
}

/* The functions for whole graphs. */

void support_frame_graph_take_name(const char* path, char name[SUPPORT_FRAME_NAME_SIZE])
{
    static const char* const suffixes[] = {".csv", ".resources"};
    const char* const slash = strrchr(path, '/');
    const char* const base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(base);
    for (size_t i = 0; i < 2; ++i) {
        const size_t cut = strlen(suffixes[i]);
        if (length > cut && strncmp(base + length - cut, suffixes[i], cut) == 0) {
            length -= cut;
        }
    }
    length = length < SUPPORT_FRAME_NAME_SIZE ? length : SUPPORT_FRAME_NAME_SIZE - 1;
    memcpy(name, base, length);
    name[length] = '\0';
}

static bool graph_read_text(const struct support_frame_text* text, struct support_table* table,
                            bool (*read)(struct graph_reader*), struct graph_reader* reader)
{
    if (text->data == NULL) {
        return true;
    }
    reader->name = text->name;
    reader->table = table;
    reader->row = 0;
    return support_table_parse(text->name, text->data, text->size, table, reader->error) &&
           read(reader);
}

bool support_frame_graph_parse(const struct support_frame_text* resources,
                               const struct support_frame_text* passes,
                               const struct support_frame_text* edges,
                               struct support_frame_graph* graph, struct support_error* error)
{
    struct graph_reader reader = {.graph = graph, .error = error};
    *graph = (struct support_frame_graph){.queue_count = 0};
    support_frame_graph_take_name(resources->name, graph->name);
    bool good = graph_read_text(passes, &graph->pass_table, graph_read_passes, &reader);
    good = good && graph_read_text(edges, &graph->edge_table, graph_read_edges, &reader) &&
           graph_read_text(resources, &graph->table, graph_read_resources, &reader);
    if (!good) {
        support_frame_graph_release(graph);
    }
    return good;
}

/* Rejects a file whose first line is no header of a table: it has a byte that no text has, or has
 * no end. An empty file is left to the parser. */
static const char* find_no_header(const char* head, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const unsigned char c = (unsigned char)head[i];
        if (c == '\n') {
            return NULL;
        }
        if (c < ' ' && c != '\t' && c != '\r') {
            return "the header is no text";
        }
    }
    return size < GRAPH_MAX_HEADER ? NULL : "the header is too long";
}

bool support_frame_graph_load(const char* path, const char* pass_path, const char* edge_path,
                              struct support_frame_graph* graph, struct support_error* error)
{
    const char* const paths[3] = {path, pass_path, edge_path};
    struct support_frame_text texts[3];
    char* data[3] = {NULL, NULL, NULL};
    bool good = true;
    *graph = (struct support_frame_graph){.queue_count = 0};
    for (size_t i = 0; i < 3; ++i) {
        size_t size = 0;
        good = good && ((i != 0 && paths[i] == NULL) ||
                        support_read_checked_file(paths[i], GRAPH_MAX_BYTES, find_no_header,
                                                  &data[i], &size, error));
        texts[i] = (struct support_frame_text){paths[i], data[i], size};
    }
    good = good && support_frame_graph_parse(&texts[0], &texts[1], &texts[2], graph, error);
    for (size_t i = 0; i < 3; ++i) {
        free(data[i]);
    }
    return good;
}

void support_frame_graph_describe(const struct support_frame_graph* graph, MaarPlanCreateInfo* info)
{
    info->resourceCount = graph->resource_count;
    info->pResources = graph->resources;
    info->passCount = graph->pass_count;
    info->pPassQueues = graph->passes != NULL ? graph->pass_queues : NULL;
    info->dependencyCount = graph->dependency_count;
    info->pDependencies = graph->dependencies;
}

/* Returns whether a new column replaces the column with this name. */
static bool graph_is_replaced(const char* name, const struct support_frame_column* columns,
                              size_t column_count)
{
    for (size_t i = 0; i < column_count; ++i) {
        if (strcmp(columns[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes a row's cells. Row SIZE_MAX stands for the header. */
static void graph_write_row(const struct support_frame_graph* graph, size_t row,
                            const struct support_frame_column* columns, size_t column_count,
                            FILE* file)
{
    const struct support_table* const table = &graph->table;
    const char* separator = "";
    for (size_t i = 0; i < table->column_count; ++i) {
        const char* const name = support_table_column(table, i);
        if (!graph_is_replaced(name, columns, column_count)) {
            fputs(separator, file);
            support_table_write_cell(file,
                                     row == SIZE_MAX ? name : support_table_cell(table, row, i));
            separator = ",";
        }
    }
    for (size_t i = 0; i < column_count; ++i) {
        fputs(separator, file);
        separator = ",";
        if (row == SIZE_MAX) {
            support_table_write_cell(file, columns[i].name);
        } else {
            fprintf(file, "%" PRIu64, columns[i].values[row]);
        }
    }
    fputc('\n', file);
}

void support_frame_graph_write(const struct support_frame_graph* graph,
                               const struct support_frame_column* columns, size_t column_count,
                               FILE* file)
{
    graph_write_row(graph, SIZE_MAX, columns, column_count, file);
    for (size_t i = 0; i < graph->resource_count; ++i) {
        graph_write_row(graph, i, columns, column_count, file);
    }
}

void support_frame_graph_release(struct support_frame_graph* graph)
{
    free(graph->resources);
    free(graph->rows);
    free(graph->passes);
    free(graph->pass_queues);
    free(graph->dependencies);
    free(graph->uses);
    support_table_release(&graph->table);
    support_table_release(&graph->pass_table);
    support_table_release(&graph->edge_table);
    *graph = (struct support_frame_graph){.queue_count = 0};
}
