/*
 * The inputs of maar fit: traces, frame graphs, GGUF headers and formulas become a demand; see
 * tool_fit.h. Another kind of input needs a function that fills a demand, and nothing else.
 */
#include "tool_fit.h"

#include "support/capture_reader.h"
#include "support/frame_graph.h"
#include "support/gguf.h"
#include "support/gzip.h"
#include "tool_data.h"
#include "tool_guess.h"
#include "tool_traffic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096
#define BUFFER_TRANSFER (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define IMAGE_TARGET                                                                               \
    (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT)

struct tool_fit_input {
    const struct tool_fit_options* options;
    enum tool_fit_kind kind;
    struct support_trace trace;
    struct support_frame_graph graph;
    struct support_gguf gguf;
    struct tool_fit_demand demand;
    bool is_filled;
    uint64_t granularity; /* for which the demand of a frame graph was made */
};

static enum tool_fit_purpose purpose_of(const struct support_trace_resource* row)
{
    if (row->kind == SUPPORT_TRACE_BUFFER) {
        return row->usage != 0 && (row->usage & ~(VkBufferUsageFlags)BUFFER_TRANSFER) == 0
                   ? TOOL_FIT_STAGING
                   : TOOL_FIT_BUFFERS;
    }
    return (row->usage & IMAGE_TARGET) != 0 ? TOOL_FIT_TARGETS : TOOL_FIT_IMAGES;
}

/* Sums what the program itself held. Memory that it imported counts. */
static void sum_program(const struct support_trace* trace, struct tool_fit_program* program)
{
    uint64_t held = 0;
    uint64_t count = 0;
    uint64_t swapchains = 0;
    program->is_known = trace->memory_count > 0;
    for (size_t i = 0; i < trace->step_count; ++i) {
        const struct support_trace_step* const step = &trace->steps[i];
        const bool begins = step->op == SUPPORT_TRACE_MEMORY || step->op == SUPPORT_TRACE_RESERVE;
        if (step->op == SUPPORT_TRACE_MEMORY || step->op == SUPPORT_TRACE_MEMORY_END) {
            const uint64_t size = trace->memories[step->index].size;
            held = begins ? held + size : held - size;
            count = begins ? count + 1 : count - 1;
        } else if (step->op == SUPPORT_TRACE_RESERVE || step->op == SUPPORT_TRACE_UNRESERVE) {
            const struct support_trace_resource* const row = &trace->reserved[step->index];
            const uint64_t size = row->kind == SUPPORT_TRACE_SWAPCHAIN ? row->size : 0;
            swapchains = begins ? swapchains + size : swapchains - size;
        }
        if (held > program->held_bytes) {
            program->held_bytes = held;
            program->memory_count = count;
            program->swapchain_bytes = 0;
        }
        if (held == program->held_bytes && swapchains > program->swapchain_bytes) {
            program->swapchain_bytes = swapchains;
        }
    }
}

/* Says so if all images that shaders sample can be attachments, too. Mesa's zink creates textures
 * in that way, and usages do not distinguish these from images that are rendered to. */
static void note_targets(const struct support_trace* trace, struct tool_fit_demand* demand)
{
    enum { LEAST_TEXTURES = 4 };
    size_t count = 0;
    for (size_t i = 0; i < trace->resource_count; ++i) {
        const struct support_trace_resource* const row = &trace->resources[i];
        const bool is_image =
            row->kind == SUPPORT_TRACE_IMAGE_LINEAR || row->kind == SUPPORT_TRACE_IMAGE_OPTIMAL;
        if (is_image && (row->usage & VK_IMAGE_USAGE_SAMPLED_BIT) != 0) {
            if ((row->usage & IMAGE_TARGET) == 0) {
                return;
            }
            count += 1;
        }
    }
    if (count >= LEAST_TEXTURES) {
        tool_fit_note(demand,
                      "All %zu images that shaders sample can also be attachments, as all textures "
                      "of Mesa's zink can, so textures count as render targets.",
                      count);
    }
}

static bool describe_trace(const struct support_trace* trace, struct tool_fit_demand* demand)
{
    demand->kind = TOOL_FIT_FROM_TRACE;
    demand->images = trace->images;
    sum_program(trace, &demand->program);
    snprintf(demand->name, sizeof(demand->name), "%s", trace->name);
    snprintf(demand->facts, sizeof(demand->facts), "trace, %zu resources, %zu events, %zu frames",
             trace->resource_count, trace->event_count, trace->frame_count);
    /* Resources are numbered in the order in which they begin, as items are. */
    for (size_t i = 0; i < trace->event_count; ++i) {
        const struct support_trace_event* const event = &trace->events[i];
        if (event->op == SUPPORT_TRACE_FREE) {
            if (!tool_fit_end(demand, event->resource)) {
                return false;
            }
        } else if (event->op == SUPPORT_TRACE_ALLOC) {
            const struct support_trace_resource* const row = &trace->resources[event->resource];
            const struct tool_fit_item item = {
                .stem = row->kind == SUPPORT_TRACE_BUFFER ? "buffer " : "image ",
                .number = row->id,
                .row = *row,
                .least_bytes = row->size,
                .purpose = purpose_of(row),
            };
            if (tool_fit_add(demand, &item) == UINT32_MAX) {
                return false;
            }
        }
    }
    tool_fit_note(demand, "Sizes of buffers and images are those of the simulated device where the "
                          "trace says how to create them, and otherwise those of the trace.");
    note_targets(trace, demand);
    return true;
}

static void VKAPI_PTR report_plan(void* user_data, const MaarMessage* report)
{
    tool_complain("%s: %s", (const char*)user_data, report->pText);
}

/* Adds the allocation of each class of a plan. */
static bool add_classes(MaarPlan plan, struct tool_fit_demand* demand)
{
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    if (maarGetPlanInfo(plan, &info) != VK_SUCCESS) {
        return false;
    }
    uint32_t count = info.classCount;
    MaarPlanClass* const classes = calloc((size_t)count + 1, sizeof(*classes));
    bool good = classes != NULL && maarGetPlanClasses(plan, &count, classes) == VK_SUCCESS;
    for (uint32_t i = 0; good && i < count; ++i) {
        /* The bound of the whole plan is stronger than the one of its only class. */
        const uint64_t least = count == 1 ? info.provedBound : classes[i].lowerBound;
        const struct tool_fit_item item = {
            .stem = count == 1 ? "the plan" : "class ",
            .number = count == 1 ? TOOL_FIT_NO_NUMBER : i,
            .row = {.size = classes[i].size,
                    .alignment = classes[i].alignment != 0 ? classes[i].alignment : 1,
                    .kind = SUPPORT_TRACE_IMAGE_OPTIMAL,
                    .image = UINT32_MAX},
            .least_bytes = info.provedOptimal == VK_TRUE ? classes[i].size : least,
            .purpose = TOOL_FIT_TRANSIENTS,
        };
        good = classes[i].size == 0 || tool_fit_add(demand, &item) != UINT32_MAX;
    }
    free(classes);
    char total[32];
    char bound[32];
    snprintf(demand->facts, sizeof(demand->facts), "frame graph, %" PRIu32 " resources, %s apart",
             info.resourceCount, tool_format_size(info.totalSize, total, sizeof(total)));
    if (info.provedOptimal == VK_TRUE) {
        tool_fit_note(demand, "The plan is proved optimal.");
    } else {
        tool_fit_note(demand, "The plan is not proved optimal; at least %s are needed.",
                      tool_format_size(info.provedBound, bound, sizeof(bound)));
    }
    return good;
}

static bool describe_graph(const struct support_frame_graph* graph, uint64_t granularity,
                           struct tool_fit_demand* demand)
{
    demand->kind = TOOL_FIT_FROM_FRAME;
    snprintf(demand->name, sizeof(demand->name), "%s", graph->name);
    MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT,
        .pfnMessage = report_plan,
        .pMessageUserData = demand->name,
    };
    support_frame_graph_describe(graph, &info);
    info.granularity = granularity;
    MaarPlan plan = VK_NULL_HANDLE;
    const VkResult result = maarCreatePlan(&info, &plan);
    const bool good = result == VK_SUCCESS && add_classes(plan, demand);
    maarDestroyPlan(plan);
    if (!good) {
        tool_complain("%s: no plan: %s", demand->name, maarGetResultName(result));
    }
    return good;
}

/* Fills the demand. Returns an exit code. */
static int fill(struct tool_fit_input* input, uint64_t granularity)
{
    struct tool_fit_demand* const demand = &input->demand;
    int code = TOOL_EXIT_OK;
    input->granularity = granularity;
    switch (input->kind) {
    case TOOL_FIT_FROM_TRACE:
        code = describe_trace(&input->trace, demand) ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
        break;
    case TOOL_FIT_FROM_FRAME:
        code = describe_graph(&input->graph, granularity, demand) ? TOOL_EXIT_OK : TOOL_EXIT_USAGE;
        break;
    case TOOL_FIT_FROM_GGUF:
        code = tool_fit_describe_model(&input->gguf, &input->options->cache, demand);
        break;
    case TOOL_FIT_FROM_FORMULA:
    default:
        code = tool_fit_describe_training(&input->options->training, demand);
        break;
    }
    if (code == TOOL_EXIT_OK &&
        (!tool_fit_add_parts(demand, "reserve ", TOOL_FIT_RESERVE, input->options->reserve) ||
         !tool_fit_sum(demand))) {
        code = TOOL_EXIT_USAGE;
    }
    if (code == TOOL_EXIT_OK && demand->item_count == 0) {
        tool_complain("%s: there is nothing to place", demand->name);
        code = TOOL_EXIT_USAGE;
    }
    input->is_filled = code == TOOL_EXIT_OK;
    return code;
}

static bool is_text(const char* bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const unsigned char byte = (unsigned char)bytes[i];
        if (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') {
            return false;
        }
    }
    return true;
}

/* What the first bytes of a file say. */
static bool guess_kind(const char* path, enum tool_fit_kind* kind)
{
    static const char trace_head[] = "op,";
    char head[64] = "";
    FILE* const file = fopen(path, "rb");
    if (file == NULL) {
        tool_complain("%s: cannot be opened: %s", path, strerror(errno));
        return false;
    }
    const size_t got = fread(head, 1, sizeof(head), file);
    fclose(file);
    if (got >= 4 && memcmp(head, "GGUF", 4) == 0) {
        *kind = TOOL_FIT_FROM_GGUF;
    } else if (support_is_gzip(head, got) || support_is_capture(head, got) ||
               (got >= 3 && memcmp(head, trace_head, sizeof(trace_head) - 1) == 0)) {
        *kind = TOOL_FIT_FROM_TRACE;
    } else if (!is_text(head, got)) {
        tool_complain("%s: is neither a GGUF file nor a trace nor a frame graph", path);
        return false;
    } else {
        *kind = TOOL_FIT_FROM_FRAME;
    }
    return true;
}

/* Writes the name of a file without its folder, shortened where it is long. */
static void take_file_name(const char* path, char name[TOOL_NAME_SIZE])
{
    const char* const slash = strrchr(path, '/');
    const char* const own = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(own) < TOOL_NAME_SIZE ? strlen(own) : TOOL_NAME_SIZE - 1;
    memcpy(name, own, length);
    name[length] = '\0';
}

/* Loads the file of an input and names the demand. */
static bool load(struct tool_fit_input* input, const char* path)
{
    struct support_error error = {{0}};
    char passes[PATH_SIZE];
    char edges[PATH_SIZE];
    bool good = guess_kind(path, &input->kind);
    if (!good) {
        return false;
    }
    if (input->kind == TOOL_FIT_FROM_TRACE) {
        good = tool_traffic_load(path, &input->trace, &error);
    } else if (input->kind == TOOL_FIT_FROM_FRAME) {
        const char* const pass_path = tool_data_beside(path, ".passes.csv", passes, sizeof(passes));
        const char* const edge_path =
            pass_path == NULL ? NULL : tool_data_beside(path, ".edges.csv", edges, sizeof(edges));
        good = support_frame_graph_load(path, pass_path, edge_path, &input->graph, &error);
    } else {
        take_file_name(path, input->demand.name);
        good = support_gguf_load(path, &input->gguf, &error);
    }
    if (!good) {
        tool_complain("%s", error.text);
    }
    return good;
}

static bool find_file(const char* name, char path[PATH_SIZE])
{
    return tool_data_find(TOOL_DATA_TRACES, name, path, PATH_SIZE) ||
           tool_data_find(TOOL_DATA_FRAMES, name, path, PATH_SIZE) ||
           tool_data_find(TOOL_DATA_QUEUES, name, path, PATH_SIZE);
}

/* Prints that there is no such input, and the nearest one. */
static void complain_of_input(const char* name)
{
    struct tool_guess guess = {.typed = name};
    char meant[160];
    tool_data_guess(TOOL_DATA_TRACES, &guess);
    tool_data_guess(TOOL_DATA_FRAMES, &guess);
    tool_data_guess(TOOL_DATA_QUEUES, &guess);
    tool_complain("%s: no such input: it is neither a file nor a name that maar replay "
                  "--list-traces or maar plan --list-frames prints%s",
                  name, tool_guess_text(&guess, "", meant, sizeof(meant)));
}

int tool_fit_open(const char* name, const struct tool_fit_options* options,
                  struct tool_fit_input** out)
{
    char path[PATH_SIZE];
    *out = NULL;
    if (name != NULL && !find_file(name, path)) {
        complain_of_input(name);
        return TOOL_EXIT_USAGE;
    }
    struct tool_fit_input* const input = calloc(1, sizeof(*input));
    if (input == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    input->options = options;
    input->kind = TOOL_FIT_FROM_FORMULA;
    int code = name == NULL || load(input, path) ? TOOL_EXIT_OK : TOOL_EXIT_USAGE;
    if (code == TOOL_EXIT_OK && options->any_cache_option && input->kind != TOOL_FIT_FROM_GGUF) {
        tool_complain("--context, --parallel and --kv-type need a GGUF file");
        code = TOOL_EXIT_USAGE;
    }
    if (code == TOOL_EXIT_OK) {
        code = fill(input, 1);
    }
    if (code != TOOL_EXIT_OK) {
        tool_fit_close(input);
        return code;
    }
    *out = input;
    return TOOL_EXIT_OK;
}

/* Returns whether a graph has resources of several kinds, so that its plan depends on the device's
 * granularity. */
static bool has_kinds(const struct support_frame_graph* graph)
{
    for (uint32_t i = 1; i < graph->resource_count; ++i) {
        if (graph->resources[i].kind != graph->resources[0].kind) {
            return true;
        }
    }
    return false;
}

const struct tool_fit_demand* tool_fit_demand_for(struct tool_fit_input* input,
                                                  uint64_t granularity)
{
    if (input->kind != TOOL_FIT_FROM_FRAME || input->granularity == granularity ||
        !has_kinds(&input->graph)) {
        return input->is_filled ? &input->demand : NULL;
    }
    tool_fit_release(&input->demand);
    return fill(input, granularity) == TOOL_EXIT_OK ? &input->demand : NULL;
}

void tool_fit_close(struct tool_fit_input* input)
{
    if (input == NULL) {
        return;
    }
    tool_fit_release(&input->demand);
    support_trace_release(&input->trace);
    support_frame_graph_release(&input->graph);
    support_gguf_release(&input->gguf);
    free(input);
}
