/*
 * The memory that models need, by formulas; see tool_fit.h. docs/fitting.md lists all of them, with
 * the published figures that the tests compare them with.
 */
#include "tool_fit.h"

#include "support/gguf.h"

#include <inttypes.h>
#include <string.h>

#define MODEL_BUFFER                                                                               \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* The context if neither the command line nor the file asks for a smaller one. */
#define DEFAULT_CONTEXT 4096u

/* A larger one is an error. Such numbers would only serve to make products overflow. */
#define MAX_LAYERS 4096u
#define MAX_DIMENSION ((uint64_t)1 << 32)

/* Writes a number of parameters with a word for its size. Returns `buffer`. */
static const char* format_parameters(uint64_t count, char* buffer, size_t size)
{
    static const struct {
        double unit;
        const char* word;
    } units[] = {{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); ++i) {
        if ((double)count >= units[i].unit) {
            snprintf(buffer, size, "%.4g%s", (double)count / units[i].unit, units[i].word);
            return buffer;
        }
    }
    snprintf(buffer, size, "%" PRIu64, count);
    return buffer;
}

static uint64_t multiply(uint64_t a, uint64_t b, bool* fits)
{
    *fits = *fits && (b == 0 || a <= UINT64_MAX / b);
    return *fits ? a * b : 0;
}

static bool add_tensor(struct tool_fit_demand* demand, const char* stem, uint64_t number,
                       enum tool_fit_purpose purpose, uint64_t bytes)
{
    const struct tool_fit_item item = {
        .stem = stem,
        .number = number,
        .row = {.size = bytes,
                .alignment = 1,
                .usage = MODEL_BUFFER,
                .kind = SUPPORT_TRACE_BUFFER,
                .image = UINT32_MAX},
        .least_bytes = bytes,
        .purpose = purpose,
    };
    return bytes == 0 || tool_fit_add(demand, &item) != UINT32_MAX;
}

/* The numbers of a model that determine its KV cache. Heads and sizes are those of a layer. */
struct cache_shape {
    uint64_t layers;
    uint64_t key_size, value_size;             /* of one head */
    const struct support_gguf_value* kv_heads; /* one number, or one for each layer */
};

/* Reads a number, or the first of an array. Returns false if there is none above 0. */
static bool read_shape(const struct support_gguf* gguf, const char* key, uint64_t* out)
{
    const struct support_gguf_value* const value = support_gguf_find(gguf, key);
    const bool good = value != NULL && value->count != 0 && value->numbers[0] > 0 &&
                      (uint64_t)value->numbers[0] <= MAX_DIMENSION;
    *out = good ? (uint64_t)value->numbers[0] : 0;
    return good;
}

/* Returns NULL, or the key that is missing or makes no sense. */
static const char* read_cache_shape(const struct support_gguf* gguf, struct cache_shape* shape)
{
    uint64_t heads = 0;
    uint64_t width = 0;
    if (!read_shape(gguf, ".block_count", &shape->layers) || shape->layers > MAX_LAYERS) {
        return ".block_count";
    }
    shape->kv_heads = support_gguf_find(gguf, ".attention.head_count_kv");
    if (shape->kv_heads == NULL) {
        shape->kv_heads = support_gguf_find(gguf, ".attention.head_count");
    }
    if (shape->kv_heads == NULL || shape->kv_heads->count == 0 ||
        (shape->kv_heads->is_array && shape->kv_heads->count < shape->layers)) {
        return ".attention.head_count_kv";
    }
    for (size_t i = 0; i < shape->kv_heads->count; ++i) {
        if (shape->kv_heads->numbers[i] < 0 ||
            (uint64_t)shape->kv_heads->numbers[i] > MAX_DIMENSION) {
            return ".attention.head_count_kv";
        }
    }
    const bool has_head = read_shape(gguf, ".attention.head_count", &heads) &&
                          read_shape(gguf, ".embedding_length", &width);
    const uint64_t head_size = has_head ? width / heads : 0;
    if (!read_shape(gguf, ".attention.key_length", &shape->key_size)) {
        shape->key_size = head_size;
    }
    if (!read_shape(gguf, ".attention.value_length", &shape->value_size)) {
        shape->value_size = head_size;
    }
    return shape->key_size == 0     ? ".attention.key_length"
           : shape->value_size == 0 ? ".attention.value_length"
                                    : NULL;
}

/* What the header and the formula of the cache do not say, as sentences. */
static void note_what_differs(const struct support_gguf* gguf, struct tool_fit_demand* demand)
{
    uint64_t number = 0;
    if (read_shape(gguf, "split.count", &number) && number > 1) {
        tool_fit_note(demand,
                      "This file is one of %" PRIu64
                      " parts; the weights in the others are not counted.",
                      number);
    }
    if (read_shape(gguf, ".attention.sliding_window", &number)) {
        tool_fit_note(demand,
                      "Layers with a sliding window of %" PRIu64
                      " tokens may need less than the full KV cache counted here.",
                      number);
    }
    if (read_shape(gguf, ".attention.kv_lora_rank", &number)) {
        tool_fit_note(demand, "This model compresses keys and values; an engine that stores them "
                              "so needs less than the full KV cache counted here.");
    }
    if (read_shape(gguf, ".ssm.state_size", &number) ||
        read_shape(gguf, ".wkv.head_size", &number)) {
        tool_fit_note(demand, "The state of recurrent layers is not counted.");
    }
}

static uint64_t choose_context(const struct support_gguf* gguf,
                               const struct tool_fit_cache_options* options)
{
    uint64_t trained = 0;
    if (options->context != 0) {
        return options->context;
    }
    return read_shape(gguf, ".context_length", &trained) && trained < DEFAULT_CONTEXT
               ? trained
               : DEFAULT_CONTEXT;
}

/* Adds the keys, or the values, of one layer. */
static bool add_cache_tensor(struct tool_fit_demand* demand, const char* stem, uint64_t layer,
                             uint64_t values, const struct support_gguf_type* type)
{
    bool fits = true;
    const uint64_t bytes = multiply(values / type->block_values, type->block_bytes, &fits);
    if (!fits) {
        tool_complain("%s: the KV cache does not fit 64 bits", demand->name);
    }
    return fits && add_tensor(demand, stem, layer, TOOL_FIT_KV_CACHE, bytes);
}

static int add_cache(const struct cache_shape* shape, uint64_t context,
                     const struct tool_fit_cache_options* options, struct tool_fit_demand* demand)
{
    const struct support_gguf_type* const type = options->type;
    if (shape->key_size % type->block_values != 0 || shape->value_size % type->block_values != 0) {
        tool_complain("--kv-type %s: heads of %" PRIu64 " and %" PRIu64
                      " values do not divide into blocks of %" PRIu32,
                      type->name, shape->key_size, shape->value_size, type->block_values);
        return TOOL_EXIT_USAGE;
    }
    bool fits = true;
    const uint64_t cells = multiply(context, options->parallel, &fits);
    for (uint64_t i = 0; i < shape->layers; ++i) {
        const uint64_t heads =
            (uint64_t)shape->kv_heads->numbers[shape->kv_heads->is_array ? i : 0];
        const uint64_t per_value = multiply(cells, heads, &fits);
        const uint64_t keys = multiply(per_value, shape->key_size, &fits);
        const uint64_t values = multiply(per_value, shape->value_size, &fits);
        if (!fits) {
            tool_complain("%s: the KV cache does not fit 64 bits", demand->name);
            return TOOL_EXIT_USAGE;
        }
        if (!add_cache_tensor(demand, "keys of layer ", i, keys, type) ||
            !add_cache_tensor(demand, "values of layer ", i, values, type)) {
            return TOOL_EXIT_USAGE;
        }
    }
    tool_fit_note(demand,
                  "The KV cache holds %" PRIu64 " tokens of %" PRIu64 " sequence%s as %s (%" PRIu64
                  " layers).",
                  context, options->parallel, options->parallel == 1 ? "" : "s", type->name,
                  shape->layers);
    return TOOL_EXIT_OK;
}

int tool_fit_describe_model(const struct support_gguf* gguf,
                            const struct tool_fit_cache_options* options,
                            struct tool_fit_demand* demand)
{
    char parameters[32];
    demand->kind = TOOL_FIT_FROM_GGUF;
    snprintf(demand->facts, sizeof(demand->facts),
             "GGUF version %" PRIu32 "%s, architecture %s, %zu tensors, %s parameters",
             gguf->version, gguf->big_endian ? " (big-endian)" : "",
             gguf->architecture[0] != '\0' ? gguf->architecture : "not named", gguf->tensor_count,
             format_parameters(gguf->parameters, parameters, sizeof(parameters)));
    for (size_t i = 0; i < gguf->tensor_count; ++i) {
        const struct support_gguf_tensor* const tensor = &gguf->tensors[i];
        if (!add_tensor(demand, tensor->name, TOOL_FIT_NO_NUMBER, TOOL_FIT_WEIGHTS,
                        tensor->bytes)) {
            return TOOL_EXIT_FAILED;
        }
    }
    struct cache_shape shape = {.layers = 0};
    const char* const missing = read_cache_shape(gguf, &shape);
    int code = TOOL_EXIT_OK;
    if (missing == NULL) {
        code = add_cache(&shape, choose_context(gguf, options), options, demand);
    } else if (options->context != 0) {
        tool_complain("--context: %s has no KV cache that can be computed: its header lacks a "
                      "usable %s%s",
                      demand->name, gguf->architecture, missing);
        code = TOOL_EXIT_USAGE;
    } else {
        tool_fit_note(demand, "No KV cache is counted: the header lacks a usable %s%s.",
                      gguf->architecture, missing);
    }
    note_what_differs(gguf, demand);
    tool_fit_note(demand, "The engine's buffers for intermediate results are not counted; "
                          "--reserve SIZE adds bytes for them.");
    return code;
}

/*
 * The table of training. Bytes for each parameter (mixed precision with Adam: weights and gradients
 * of 2 bytes; a copy of the weights, momentum and variance of 4 bytes each), and the ZeRO stage
 * from which on a device holds only its share.
 */
static const struct {
    const char* name;
    enum tool_fit_purpose purpose;
    uint32_t bytes;
    uint32_t shared_from_stage;
} mixed_adam[] = {
    {"optimizer ", TOOL_FIT_OPTIMIZER, 12, 1},
    {"gradients ", TOOL_FIT_GRADIENTS, 2, 2},
    {"weights ", TOOL_FIT_WEIGHTS, 2, 3},
};

/* The bytes of a layer's activations, s b h (34 + 5 a s / h), which are s b (34 h + 5 a s). */
static bool measure_activations(const struct tool_fit_training* training, uint64_t* bytes)
{
    bool fits = true;
    const uint64_t tokens = multiply(training->sequence, training->batch, &fits);
    const bool is_full = strcmp(training->recompute, "full") == 0;
    const bool is_selective = strcmp(training->recompute, "selective") == 0;
    uint64_t each = multiply(training->hidden, is_full ? 2 : 34, &fits);
    if (!is_full && !is_selective) {
        const uint64_t scores =
            multiply(multiply(training->heads, training->sequence, &fits), 5, &fits);
        fits = fits && scores <= UINT64_MAX - each;
        each = fits ? each + scores : 0;
    }
    *bytes = multiply(multiply(tokens, each, &fits), training->layers, &fits);
    return fits;
}

static void note_training(const struct tool_fit_training* training, struct tool_fit_demand* demand)
{
    if (training->gpus > 1) {
        tool_fit_note(demand,
                      "These are the bytes of one of %" PRIu64 " devices, with ZeRO stage "
                      "%" PRIu64 ".",
                      training->gpus, training->zero_stage);
    }
    if (training->layers != 0) {
        tool_fit_note(demand,
                      "Activations: %" PRIu64 " layers, hidden size %" PRIu64 ", %" PRIu64
                      " heads, %" PRIu64 " sequence%s of %" PRIu64 " tokens, recomputation: %s.",
                      training->layers, training->hidden, training->heads, training->batch,
                      training->batch == 1 ? "" : "s", training->sequence, training->recompute);
    } else {
        tool_fit_note(demand, "Activations are not counted; --layers, --hidden, --heads, --batch "
                              "and --sequence add them.");
    }
    tool_fit_note(demand, "The sizes of single tensors are not known; groups of them are placed in "
                          "parts of at most 1 GiB.");
}

int tool_fit_describe_training(const struct tool_fit_training* training,
                               struct tool_fit_demand* demand)
{
    demand->kind = TOOL_FIT_FROM_FORMULA;
    snprintf(demand->name, sizeof(demand->name), "training");
    char parameters[32];
    snprintf(demand->facts, sizeof(demand->facts), "%s parameters, %s",
             format_parameters(training->parameters, parameters, sizeof(parameters)),
             training->method);
    for (size_t i = 0; i < sizeof(mixed_adam) / sizeof(mixed_adam[0]); ++i) {
        bool fits = true;
        uint64_t bytes = multiply(training->parameters, mixed_adam[i].bytes, &fits);
        if (!fits) {
            tool_complain("--parameters: the bytes do not fit 64 bits");
            return TOOL_EXIT_USAGE;
        }
        if (training->zero_stage >= mixed_adam[i].shared_from_stage) {
            bytes = bytes / training->gpus + (bytes % training->gpus != 0 ? 1 : 0);
        }
        if (!tool_fit_add_parts(demand, mixed_adam[i].name, mixed_adam[i].purpose, bytes)) {
            return TOOL_EXIT_USAGE;
        }
    }
    uint64_t activations = 0;
    if (!measure_activations(training, &activations)) {
        tool_complain("the activations do not fit 64 bits");
        return TOOL_EXIT_USAGE;
    }
    if (!tool_fit_add_parts(demand, "activations ", TOOL_FIT_ACTIVATIONS, activations)) {
        return TOOL_EXIT_USAGE;
    }
    note_training(training, demand);
    return TOOL_EXIT_OK;
}
