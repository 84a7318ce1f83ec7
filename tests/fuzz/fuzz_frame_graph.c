/*
 * The reader of frame graphs. The bytes are a table of resources, or, separated by bytes of value
 * 1, passes, edges and resources. What is read must be what the planner takes, and be read the same
 * when it has been written.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/frame_graph.h"
#include "tests/fuzz/fuzz_input.h"

static void require_resource(const struct support_frame_graph* graph, uint32_t index)
{
    const MaarPlanResource* const resource = &graph->resources[index];
    const struct support_frame_row* const row = &graph->rows[index];
    const uint32_t passes = graph->passes != NULL ? graph->pass_count : MAAR_PLAN_MAX_PASSES;
    fuzz_require(resource->size != 0 && resource->alignment != 0);
    fuzz_require(resource->alignment <= (uint64_t)1 << 48);
    fuzz_require(row->id[0] != '\0' && row->name != NULL && row->begin < row->end);
    fuzz_require(resource->firstPass <= resource->lastPass);
    fuzz_require(resource->lastPass < UINT32_MAX);
    fuzz_require(resource->fixedOffset % resource->alignment == 0);
    for (uint32_t i = 0; i < resource->useCount; ++i) {
        fuzz_require(resource->pUses[i] < passes);
    }
    for (uint32_t i = 0; i < index; ++i) {
        fuzz_require(strcmp(graph->rows[i].id, row->id) != 0);
        const MaarPlanResource* const other = &graph->resources[i];
        const bool meet = row->begin < graph->rows[i].end && graph->rows[i].begin < row->end;
        fuzz_require(resource->useCount != 0 || meet == (resource->firstPass <= other->lastPass &&
                                                         other->firstPass <= resource->lastPass));
    }
}

/* Places are those of an order that keeps edges and queues. */
static void require_order(const struct support_frame_graph* graph)
{
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        fuzz_require(graph->passes[i].place < graph->pass_count);
        fuzz_require(graph->pass_queues[i] < graph->queue_count);
        for (uint32_t j = 0; j < i; ++j) {
            fuzz_require(graph->passes[i].place != graph->passes[j].place);
            fuzz_require(graph->pass_queues[i] != graph->pass_queues[j] ||
                         graph->passes[j].place < graph->passes[i].place);
        }
    }
    for (uint32_t i = 0; i < graph->dependency_count; ++i) {
        const MaarPlanDependency* const edge = &graph->dependencies[i];
        fuzz_require(edge->before < graph->pass_count && edge->after < graph->pass_count);
        fuzz_require(graph->passes[edge->before].place < graph->passes[edge->after].place);
    }
}

static void require_same_graph(const struct support_frame_graph* one,
                               const struct support_frame_graph* other)
{
    fuzz_require(one->resource_count == other->resource_count);
    for (uint32_t i = 0; i < one->resource_count; ++i) {
        fuzz_require(strcmp(one->rows[i].id, other->rows[i].id) == 0);
        fuzz_require(strcmp(one->rows[i].name, other->rows[i].name) == 0);
        fuzz_require(one->rows[i].begin == other->rows[i].begin);
        fuzz_require(one->rows[i].end == other->rows[i].end);
        fuzz_require(one->resources[i].size == other->resources[i].size);
        fuzz_require(one->resources[i].useCount == other->resources[i].useCount);
        fuzz_require(one->resources[i].memoryTypeBits == other->resources[i].memoryTypeBits);
        fuzz_require(one->resources[i].fixedOffset == other->resources[i].fixedOffset);
    }
}

/* Written with a column of its own, and read again. */
static void require_written(const struct support_frame_graph* graph,
                            const struct support_frame_text* passes,
                            const struct support_frame_text* edges)
{
    char* text = NULL;
    size_t size = 0;
    uint64_t* const offsets = calloc((size_t)graph->resource_count + 1, sizeof(*offsets));
    FILE* const file = open_memstream(&text, &size);
    fuzz_require(offsets != NULL && file != NULL);
    const struct support_frame_column column = {"offset", offsets};
    support_frame_graph_write(graph, &column, 1, file);
    fuzz_require(fclose(file) == 0);
    struct support_frame_graph again;
    struct support_error error = {.text = ""};
    const struct support_frame_text written = {"written.csv", text, size};
    const bool good = support_frame_graph_parse(&written, passes, edges, &again, &error);
    if (!good) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    fuzz_require(good);
    require_same_graph(graph, &again);
    support_frame_graph_release(&again);
    free(text);
    free(offsets);
}

/* Takes the bytes up to the next separator. */
static struct support_frame_text take_text(struct fuzz_input* input, const char* name)
{
    const uint8_t* const end = memchr(input->at, 1, input->left);
    const size_t size = end != NULL ? (size_t)(end - input->at) : input->left;
    const struct support_frame_text text = {name, (const char*)input->at, size};
    input->at += size + (end != NULL ? 1 : 0);
    input->left -= size + (end != NULL ? 1 : 0);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const uint8_t nothing = 0;
    struct fuzz_input input = {size != 0 ? data : &nothing, size};
    struct support_frame_text passes = {"passes.csv", NULL, 0};
    struct support_frame_text edges = {"edges.csv", NULL, 0};
    if (memchr(input.at, 1, input.left) != NULL) {
        passes = take_text(&input, "passes.csv");
        edges = take_text(&input, "edges.csv");
    }
    const struct support_frame_text resources = {"fuzz.csv", (const char*)input.at, input.left};
    struct support_frame_graph graph;
    struct support_error error = {.text = ""};
    if (!support_frame_graph_parse(&resources, &passes, &edges, &graph, &error)) {
        fuzz_require(strstr(error.text, ".csv:") != NULL);
        fuzz_require(graph.resources == NULL && graph.resource_count == 0);
        return 0;
    }
    for (uint32_t i = 0; i < graph.resource_count; ++i) {
        require_resource(&graph, i);
    }
    require_order(&graph);
    require_written(&graph, &passes, &edges);
    support_frame_graph_release(&graph);
    return 0;
}
