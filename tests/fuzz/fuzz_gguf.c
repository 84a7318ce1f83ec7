/*
 * The reader of GGUF headers, and what maar fit makes of them. The first three bytes choose the
 * context, the sequences and the type of the KV cache; the rest is the file. What is accepted must
 * keep every promise of gguf.h; what is rejected leaves nothing behind.
 */
#include "support/gguf.h"
#include "tests/fuzz/fuzz_input.h"
#include "tools/tool_fit.h"

/* Bytes of a tensor, computed once more and in another way. */
static void require_tensor(const struct support_gguf* gguf,
                           const struct support_gguf_tensor* tensor)
{
    uint64_t bytes = tensor->type->block_bytes;
    fuzz_require(tensor->name != NULL && tensor->name[0] != '\0');
    fuzz_require(tensor->type == support_gguf_type_by_id(tensor->type->id));
    fuzz_require(tensor->type == support_gguf_type_by_name(tensor->type->name));
    fuzz_require(tensor->dimensions[0] % tensor->type->block_values == 0);
    bytes *= tensor->dimensions[0] / tensor->type->block_values;
    for (size_t i = 1; i < SUPPORT_GGUF_MAX_DIMENSIONS; ++i) {
        bytes *= tensor->dimensions[i];
    }
    fuzz_require(tensor->bytes == bytes);
    fuzz_require(tensor->offset % gguf->alignment == 0);
    fuzz_require(tensor->bytes <= gguf->data_bytes &&
                 tensor->offset <= gguf->data_bytes - tensor->bytes);
}

static void require_header(const struct support_gguf* gguf, size_t size)
{
    uint64_t bytes = 0;
    uint64_t parameters = 0;
    fuzz_require(gguf->version == 2 || gguf->version == 3);
    fuzz_require(gguf->alignment != 0 && (gguf->alignment & (gguf->alignment - 1)) == 0);
    fuzz_require(gguf->data_at % gguf->alignment == 0);
    /* The shortest key has 14 bytes, the shortest tensor 25. */
    fuzz_require(24 + 14 * gguf->value_count + 25 * gguf->tensor_count <= size);
    for (size_t i = 0; i < gguf->tensor_count; ++i) {
        const struct support_gguf_tensor* const one = &gguf->tensors[i];
        require_tensor(gguf, one);
        bytes += one->bytes;
        parameters += one->values;
        for (size_t j = 0; j < i; ++j) {
            const struct support_gguf_tensor* const other = &gguf->tensors[j];
            fuzz_require(strcmp(one->name, other->name) != 0);
            fuzz_require(one->bytes == 0 || other->bytes == 0 ||
                         one->offset + (one->bytes - 1) < other->offset ||
                         other->offset + (other->bytes - 1) < one->offset);
        }
    }
    fuzz_require(bytes == gguf->tensor_bytes && parameters == gguf->parameters);
    for (size_t i = 0; i < gguf->value_count; ++i) {
        const struct support_gguf_value* const value = &gguf->values[i];
        const struct support_gguf_value* const found = support_gguf_find(gguf, value->key);
        fuzz_require(value->key[0] == '.' || found == (value->numbers != NULL ? value : NULL));
        fuzz_require(value->count <= size);
    }
}

/* The demand of a model: its weights are those of the header, and its totals add up. */
static void require_demand(const struct support_gguf* gguf,
                           const struct tool_fit_cache_options* options)
{
    static FILE* nowhere;
    struct tool_fit_demand demand = {.name = "fuzz"};
    FILE* const err = stderr;
    nowhere = nowhere != NULL ? nowhere : fopen("/dev/null", "w");
    fuzz_require(nowhere != NULL);
    stderr = nowhere; /* what is rejected is printed */
    const int code = tool_fit_describe_model(gguf, options, &demand);
    const bool summed = code == TOOL_EXIT_OK && tool_fit_sum(&demand);
    stderr = err;
    fuzz_require(code == TOOL_EXIT_OK || code == TOOL_EXIT_USAGE);
    if (summed) {
        const uint64_t weights = demand.totals[TOOL_FIT_WEIGHTS].bytes;
        const uint64_t cache = demand.totals[TOOL_FIT_KV_CACHE].bytes;
        fuzz_require(weights == gguf->tensor_bytes && weights + cache == demand.peak_bytes);
        fuzz_require(demand.item_count <= gguf->tensor_count + 2 * (size_t)4096);
    }
    tool_fit_release(&demand);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const types[] = {"f16", "f32", "q8_0", "q4_0"};
    struct fuzz_input input = {data, size};
    struct support_gguf gguf;
    struct support_error error = {.text = ""};
    const struct tool_fit_cache_options options = {
        .context = (uint64_t)fuzz_byte(&input) << 24,
        .parallel = (uint64_t)fuzz_byte(&input) + 1,
        .type = support_gguf_type_by_name(types[fuzz_byte(&input) % 4]),
    };
    fuzz_require(options.type != NULL);
    if (support_gguf_parse("fuzz", input.at, input.left, &gguf, &error)) {
        require_header(&gguf, input.left);
        require_demand(&gguf, &options);
    } else {
        fuzz_require(strncmp(error.text, "fuzz: byte ", 11) == 0);
        fuzz_require(gguf.tensors == NULL && gguf.values == NULL && gguf.tensor_count == 0);
    }
    support_gguf_release(&gguf);
    return 0;
}
