/*
 * The header of a GGUF file: the counts, the keys with their values, the tensors; see gguf.h.
 */
#include "gguf.h"

#include "gguf_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Far above every file in use, which have some thousand tensors and some hundred keys. */
#define MAX_COUNT ((uint64_t)1 << 20)

#define MAX_KEY 65535u
#define MAX_TENSOR_NAME 255u
#define MAX_KEPT_NUMBERS 4096u /* of an array; no model has more layers */
#define MAX_ARRAY_DEPTH 8u
#define MAX_ALIGNMENT ((uint64_t)1 << 30)
#define DEFAULT_ALIGNMENT 32u

/* The types of values. */
enum value_type {
    VALUE_U8 = 0,
    VALUE_I8,
    VALUE_U16,
    VALUE_I16,
    VALUE_U32,
    VALUE_I32,
    VALUE_F32,
    VALUE_BOOL,
    VALUE_STRING,
    VALUE_ARRAY,
    VALUE_U64,
    VALUE_I64,
    VALUE_F64,
    VALUE_TYPE_COUNT,
};

struct value_form {
    uint8_t size; /* 0: not fixed */
    bool is_number, is_signed;
};

static const struct value_form forms[VALUE_TYPE_COUNT] = {
    [VALUE_U8] = {1, true, false},   [VALUE_I8] = {1, true, true},
    [VALUE_U16] = {2, true, false},  [VALUE_I16] = {2, true, true},
    [VALUE_U32] = {4, true, false},  [VALUE_I32] = {4, true, true},
    [VALUE_F32] = {4, false, false}, [VALUE_BOOL] = {1, true, false},
    [VALUE_U64] = {8, true, false},  [VALUE_I64] = {8, true, true},
    [VALUE_F64] = {8, false, false},
};

/* Makes room for one more element. Returns false when out of memory. */
static bool grow(struct gguf_reader* reader, void** elements, size_t count, size_t size)
{
    const bool is_full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);
    if (!is_full) {
        return true;
    }
    void* const larger = realloc(*elements, (count == 0 ? 16 : 2 * count) * size);
    if (larger == NULL) {
        return gguf_fail(reader, reader->offset, "out of memory");
    }
    *elements = larger;
    return true;
}

static uint32_t read_value_type(struct gguf_reader* reader)
{
    const uint64_t at = reader->offset;
    const uint32_t type = gguf_read_u32(reader);
    if (!reader->failed && type >= VALUE_TYPE_COUNT) {
        gguf_fail(reader, at, "the value type %" PRIu32 " is unknown", type);
    }
    return reader->failed ? VALUE_U8 : type;
}

static int64_t read_number(struct gguf_reader* reader, uint32_t type)
{
    const unsigned bits = 8u * forms[type].size;
    const uint64_t at = reader->offset;
    if (bits == 0) {
        return 0;
    }
    const uint64_t number = gguf_read_number(reader, forms[type].size);
    if (type == VALUE_BOOL && number > 1) {
        gguf_fail(reader, at, "a boolean is %" PRIu64, number);
    }
    if (forms[type].is_signed && (number >> (bits - 1)) != 0) {
        return -(int64_t)(~number & (UINT64_MAX >> (64 - bits))) - 1;
    }
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* The rest of an array. */
struct open_array {
    uint64_t left;
    uint32_t type;
};

static void open_array(struct gguf_reader* reader, struct open_array* array)
{
    array->type = read_value_type(reader);
    const uint64_t at = reader->offset;
    array->left = gguf_read_u64(reader);
    const uint64_t least = forms[array->type].size != 0 ? forms[array->type].size : 8;
    if (!reader->failed && array->left > GGUF_MAX_HEADER / least) {
        gguf_fail(reader, at, "an array has %" PRIu64 " elements, more than a header has room for",
                  array->left);
    }
}

/* Skips the elements of an array, and of the arrays in it. */
static bool skip_array(struct gguf_reader* reader, struct open_array first)
{
    struct open_array arrays[MAX_ARRAY_DEPTH];
    uint32_t depth = 1;
    arrays[0] = first;
    while (depth != 0 && !reader->failed) {
        struct open_array* const array = &arrays[depth - 1];
        if (array->left == 0) {
            --depth;
        } else if (forms[array->type].size != 0) {
            gguf_skip(reader, array->left * forms[array->type].size);
            array->left = 0;
        } else if (array->type == VALUE_STRING) {
            gguf_skip(reader, gguf_read_u64(reader));
            --array->left;
        } else if (depth == MAX_ARRAY_DEPTH) {
            gguf_fail(reader, reader->offset, "arrays are nested more than %u deep",
                      MAX_ARRAY_DEPTH);
        } else {
            --array->left;
            open_array(reader, &arrays[depth++]);
        }
    }
    return !reader->failed;
}

static bool keep_numbers(struct gguf_reader* reader, struct support_gguf_value* value,
                         uint32_t type, size_t count)
{
    value->numbers = malloc((count + 1) * sizeof(*value->numbers));
    if (value->numbers == NULL) {
        return gguf_fail(reader, reader->offset, "out of memory");
    }
    for (size_t i = 0; i < count && !reader->failed; ++i) {
        value->numbers[i] = read_number(reader, type);
    }
    value->count = count;
    return !reader->failed;
}

static bool read_architecture(struct gguf_reader* reader, struct support_gguf* gguf)
{
    char* const text =
        gguf_read_string(reader, SUPPORT_GGUF_MAX_ARCHITECTURE - 1, "the architecture's name");
    if (text != NULL) {
        memcpy(gguf->architecture, text, strlen(text) + 1);
    }
    free(text);
    return !reader->failed;
}

static bool read_value(struct gguf_reader* reader, struct support_gguf* gguf,
                       struct support_gguf_value* value)
{
    const uint64_t at = reader->offset;
    const uint32_t type = read_value_type(reader);
    const bool names_architecture = strcmp(value->key, "general.architecture") == 0;
    const bool names_alignment = strcmp(value->key, "general.alignment") == 0;
    if (reader->failed) {
        return false;
    }
    if ((names_architecture && type != VALUE_STRING) || (names_alignment && type != VALUE_U32)) {
        return gguf_fail(reader, at, "%s has the wrong type %" PRIu32, value->key, type);
    }
    if (names_architecture) {
        return read_architecture(reader, gguf);
    }
    if (type == VALUE_STRING) {
        return gguf_skip(reader, gguf_read_u64(reader));
    }
    if (type != VALUE_ARRAY) {
        return forms[type].is_number ? keep_numbers(reader, value, type, 1)
                                     : gguf_skip(reader, forms[type].size);
    }
    struct open_array array;
    open_array(reader, &array);
    value->is_array = true;
    if (!reader->failed && forms[array.type].is_number && array.left <= MAX_KEPT_NUMBERS) {
        return keep_numbers(reader, value, array.type, (size_t)array.left);
    }
    return skip_array(reader, array);
}

static void take_alignment(struct gguf_reader* reader, struct support_gguf* gguf,
                           uint64_t alignment)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT) {
        gguf_fail(reader, reader->offset - 4,
                  "general.alignment is %" PRIu64 ", which is no power of two up to %" PRIu64,
                  alignment, MAX_ALIGNMENT);
        return;
    }
    gguf->alignment = alignment;
}

static bool read_values(struct gguf_reader* reader, struct support_gguf* gguf, uint64_t count)
{
    gguf->alignment = DEFAULT_ALIGNMENT;
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        void* values = gguf->values;
        const bool room = grow(reader, &values, gguf->value_count, sizeof(*gguf->values));
        gguf->values = values;
        struct support_gguf_value value = {.at = reader->offset};
        value.key = room ? gguf_read_string(reader, MAX_KEY, "a key") : NULL;
        if (value.key == NULL) {
            return false;
        }
        read_value(reader, gguf, &value);
        gguf->values[gguf->value_count++] = value;
        if (!reader->failed && value.count == 1 && strcmp(value.key, "general.alignment") == 0) {
            take_alignment(reader, gguf, (uint64_t)value.numbers[0]);
        }
    }
    return !reader->failed;
}

/* Computes how many values and bytes a tensor has. */
static bool measure_tensor(struct gguf_reader* reader, struct support_gguf_tensor* tensor)
{
    tensor->values = 1;
    for (size_t i = 0; i < SUPPORT_GGUF_MAX_DIMENSIONS; ++i) {
        const uint64_t dimension = tensor->dimensions[i];
        if (dimension > INT64_MAX ||
            (dimension != 0 && tensor->values > (uint64_t)INT64_MAX / dimension)) {
            return gguf_fail(reader, tensor->at, "%.128s has more values than fit 63 bits",
                             tensor->name);
        }
        tensor->values *= dimension;
    }
    const struct support_gguf_type* const type = tensor->type;
    if (tensor->dimensions[0] % type->block_values != 0) {
        return gguf_fail(reader, tensor->at,
                         "%.128s has rows of %" PRIu64 " values; %s has blocks of %" PRIu32,
                         tensor->name, tensor->dimensions[0], type->name, type->block_values);
    }
    const uint64_t blocks = tensor->values / type->block_values;
    if (blocks > UINT64_MAX / type->block_bytes) {
        return gguf_fail(reader, tensor->at, "%.128s has more bytes than fit 64 bits",
                         tensor->name);
    }
    tensor->bytes = blocks * type->block_bytes;
    return true;
}

static bool read_tensor(struct gguf_reader* reader, uint64_t alignment,
                        struct support_gguf_tensor* tensor)
{
    uint64_t at = reader->offset;
    const uint32_t dimension_count = gguf_read_u32(reader);
    if (dimension_count > SUPPORT_GGUF_MAX_DIMENSIONS) {
        return gguf_fail(reader, at, "%.128s has %" PRIu32 " dimensions; at most %u are allowed",
                         tensor->name, dimension_count, SUPPORT_GGUF_MAX_DIMENSIONS);
    }
    for (uint32_t i = 0; i < SUPPORT_GGUF_MAX_DIMENSIONS; ++i) {
        tensor->dimensions[i] = i < dimension_count ? gguf_read_u64(reader) : 1;
    }
    at = reader->offset;
    const uint32_t type = gguf_read_u32(reader);
    tensor->type = support_gguf_type_by_id(type);
    if (!reader->failed && tensor->type == NULL) {
        return gguf_fail(reader, at, "%.128s has the type %" PRIu32 ", which is unknown",
                         tensor->name, type);
    }
    at = reader->offset;
    tensor->offset = gguf_read_u64(reader);
    if (reader->failed || !measure_tensor(reader, tensor)) {
        return false;
    }
    if (tensor->offset % alignment != 0) {
        return gguf_fail(reader, at, "%.128s begins at %" PRIu64 ", no multiple of %" PRIu64,
                         tensor->name, tensor->offset, alignment);
    }
    if (tensor->bytes > UINT64_MAX - tensor->offset) {
        return gguf_fail(reader, at, "%.128s ends behind byte 2^64", tensor->name);
    }
    return true;
}

static bool read_tensors(struct gguf_reader* reader, struct support_gguf* gguf, uint64_t count)
{
    for (uint64_t i = 0; i < count && !reader->failed; ++i) {
        void* tensors = gguf->tensors;
        const bool room = grow(reader, &tensors, gguf->tensor_count, sizeof(*gguf->tensors));
        gguf->tensors = tensors;
        struct support_gguf_tensor tensor = {.at = reader->offset};
        tensor.name = room ? gguf_read_string(reader, MAX_TENSOR_NAME, "a tensor's name") : NULL;
        if (tensor.name == NULL) {
            return false;
        }
        read_tensor(reader, gguf->alignment, &tensor);
        gguf->tensors[gguf->tensor_count++] = tensor;
    }
    return !reader->failed;
}

/* A name, or a tensor, for sorting. */
struct place {
    const char* name;
    uint64_t at, offset, bytes;
};

static int compare_names(const void* one, const void* other)
{
    const struct place* const a = one;
    const struct place* const b = other;
    const int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static int compare_offsets(const void* one, const void* other)
{
    const struct place* const a = one;
    const struct place* const b = other;
    return a->offset != b->offset ? (a->offset > b->offset) - (a->offset < b->offset)
                                  : (a->at > b->at) - (a->at < b->at);
}

static bool check_names(struct gguf_reader* reader, struct place* places, size_t count,
                        const char* what)
{
    qsort(places, count, sizeof(*places), compare_names);
    for (size_t i = 1; i < count; ++i) {
        if (strcmp(places[i - 1].name, places[i].name) == 0) {
            return gguf_fail(reader, places[i].at, "the %s %.128s occurs twice", what,
                             places[i].name);
        }
    }
    return true;
}

static bool check_overlaps(struct gguf_reader* reader, struct place* places, size_t count)
{
    qsort(places, count, sizeof(*places), compare_offsets);
    const struct place* last = NULL;
    for (size_t i = 0; i < count; ++i) {
        if (places[i].bytes == 0) {
            continue;
        }
        if (last != NULL && places[i].offset < last->offset + last->bytes) {
            return gguf_fail(reader, places[i].at, "%.128s overlaps %.128s", places[i].name,
                             last->name);
        }
        last = &places[i];
    }
    return true;
}

/* Checks what concerns all keys or all tensors. */
static bool check_whole(struct gguf_reader* reader, struct support_gguf* gguf)
{
    const size_t most =
        gguf->value_count > gguf->tensor_count ? gguf->value_count : gguf->tensor_count;
    struct place* const places = calloc(most + 1, sizeof(*places));
    if (places == NULL) {
        return gguf_fail(reader, reader->offset, "out of memory");
    }
    for (size_t i = 0; i < gguf->value_count; ++i) {
        places[i] = (struct place){.name = gguf->values[i].key, .at = gguf->values[i].at};
    }
    bool good = check_names(reader, places, gguf->value_count, "key");
    for (size_t i = 0; i < gguf->tensor_count; ++i) {
        const struct support_gguf_tensor* const tensor = &gguf->tensors[i];
        places[i] = (struct place){tensor->name, tensor->at, tensor->offset, tensor->bytes};
    }
    good = good && check_names(reader, places, gguf->tensor_count, "tensor") &&
           check_overlaps(reader, places, gguf->tensor_count);
    free(places);
    return good;
}

/* Adds up the tensors. Their bytes do not overlap, so that the sum of bytes fits. */
static bool sum_tensors(struct gguf_reader* reader, struct support_gguf* gguf)
{
    for (size_t i = 0; i < gguf->tensor_count; ++i) {
        const struct support_gguf_tensor* const tensor = &gguf->tensors[i];
        const uint64_t end = tensor->offset + tensor->bytes;
        gguf->data_bytes = end > gguf->data_bytes ? end : gguf->data_bytes;
        gguf->tensor_bytes += tensor->bytes;
        if (tensor->values > UINT64_MAX - gguf->parameters) {
            return gguf_fail(reader, tensor->at, "the tensors have more values than fit 64 bits");
        }
        gguf->parameters += tensor->values;
    }
    gguf->data_at = (reader->offset + gguf->alignment - 1) & ~(gguf->alignment - 1);
    return true;
}

static uint32_t swap_bytes(uint32_t number)
{
    return number >> 24 | (number >> 8 & 0xFF00u) | (number << 8 & 0xFF0000u) | number << 24;
}

static bool read_version(struct gguf_reader* reader, struct support_gguf* gguf)
{
    char magic[4] = "";
    if (!gguf_read_bytes(reader, magic, sizeof(magic))) {
        return false;
    }
    if (memcmp(magic, "GGUF", sizeof(magic)) != 0) {
        return gguf_fail(reader, 0, "the file does not begin with GGUF");
    }
    uint32_t version = gguf_read_u32(reader);
    if ((version & 0xFFFFu) == 0 && version != 0) {
        version = swap_bytes(version);
        reader->big_endian = true;
    }
    gguf->version = version;
    gguf->big_endian = reader->big_endian;
    if (!reader->failed && reader->big_endian && version != 3) {
        return gguf_fail(reader, 4,
                         "version %" PRIu32 ", big-endian: only version 3 has this order", version);
    }
    if (!reader->failed && version != 2 && version != 3) {
        return gguf_fail(reader, 4, "version %" PRIu32 " is not supported; versions 2 and 3 are",
                         version);
    }
    return !reader->failed;
}

static uint64_t read_count(struct gguf_reader* reader, const char* what)
{
    const uint64_t at = reader->offset;
    const uint64_t count = gguf_read_u64(reader);
    if (count > MAX_COUNT) {
        gguf_fail(reader, at, "%" PRIu64 " %s; at most %" PRIu64 " are allowed", count, what,
                  MAX_COUNT);
    }
    return count;
}

static bool read_header(struct gguf_reader* reader, struct support_gguf* gguf)
{
    memset(gguf, 0, sizeof(*gguf));
    bool good = read_version(reader, gguf);
    const uint64_t tensor_count = good ? read_count(reader, "tensors") : 0;
    const uint64_t value_count = good ? read_count(reader, "keys") : 0;
    good = good && read_values(reader, gguf, value_count) &&
           read_tensors(reader, gguf, tensor_count) && check_whole(reader, gguf) &&
           sum_tensors(reader, gguf);
    if (!good) {
        support_gguf_release(gguf);
    }
    return good;
}

bool support_gguf_load(const char* path, struct support_gguf* gguf, struct support_error* error)
{
    struct gguf_reader reader = {.name = path, .error = error, .file = fopen(path, "rb")};
    if (reader.file == NULL) {
        memset(gguf, 0, sizeof(*gguf));
        support_error_set(error, path, 0, "cannot be opened: %s", strerror(errno));
        return false;
    }
    const bool good = read_header(&reader, gguf);
    fclose(reader.file);
    return good;
}

bool support_gguf_parse(const char* name, const void* data, size_t size, struct support_gguf* gguf,
                        struct support_error* error)
{
    struct gguf_reader reader = {.name = name, .error = error, .data = data, .size = size};
    return read_header(&reader, gguf);
}

const struct support_gguf_value* support_gguf_find(const struct support_gguf* gguf, const char* key)
{
    const size_t prefix = key[0] == '.' ? strlen(gguf->architecture) : 0;
    for (size_t i = 0; i < gguf->value_count; ++i) {
        const struct support_gguf_value* const value = &gguf->values[i];
        if (value->numbers != NULL && strncmp(value->key, gguf->architecture, prefix) == 0 &&
            strcmp(value->key + prefix, key) == 0) {
            return value;
        }
    }
    return NULL;
}

void support_gguf_release(struct support_gguf* gguf)
{
    for (size_t i = 0; i < gguf->tensor_count; ++i) {
        free(gguf->tensors[i].name);
    }
    for (size_t i = 0; i < gguf->value_count; ++i) {
        free(gguf->values[i].key);
        free(gguf->values[i].numbers);
    }
    free(gguf->tensors);
    free(gguf->values);
    memset(gguf, 0, sizeof(*gguf));
}
