/*
 * Reads the header of a GGUF file: its integers, and the type, shape and place of each tensor. The
 * bytes of the tensors are not read, so that a header alone is enough, however large the file.
 *
 * The reader is strict. Each deviation is an error "file: byte N: reason". Versions 2 and 3 are
 * read, version 3 in both byte orders. The memory is proportional to the bytes that were read,
 * never to a count that the file states. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_GGUF_H
#define MAAR_SUPPORT_GGUF_H

#include "readfile.h"

#include <stdint.h>

#define SUPPORT_GGUF_MAX_DIMENSIONS 4u
#define SUPPORT_GGUF_MAX_ARCHITECTURE 64u

/* A type of stored values: blocks of equal size. */
struct support_gguf_type {
    uint32_t id; /* as in the file */
    const char* name;
    uint32_t block_values, block_bytes;
};

struct support_gguf_tensor {
    char* name;
    uint64_t at; /* the byte of the file where its description begins */
    uint64_t dimensions[SUPPORT_GGUF_MAX_DIMENSIONS]; /* 1 where the file has none */
    const struct support_gguf_type* type;
    uint64_t values, bytes;
    uint64_t offset; /* from the beginning of the data */
};

/* A key. Integers, booleans, and short arrays of either keep their numbers. */
struct support_gguf_value {
    char* key;
    uint64_t at;      /* the byte of the file where the key begins */
    int64_t* numbers; /* NULL for every other value; numbers above INT64_MAX become INT64_MAX */
    size_t count;
    bool is_array;
};

struct support_gguf {
    uint32_t version;
    bool big_endian;
    char architecture[SUPPORT_GGUF_MAX_ARCHITECTURE]; /* empty if the file names none */
    uint64_t alignment;                               /* of the tensors' offsets, bytes */
    struct support_gguf_tensor* tensors;
    size_t tensor_count;
    struct support_gguf_value* values;
    size_t value_count;
    uint64_t data_at;      /* the byte of the file where the data begins */
    uint64_t data_bytes;   /* of the data, gaps between tensors included */
    uint64_t tensor_bytes; /* of all tensors, without gaps */
    uint64_t parameters;   /* values of all tensors */
};

/* Returns a type, or NULL if it is unknown. Names ignore case: "q8_0", "F16". */
const struct support_gguf_type* support_gguf_type_by_id(uint32_t id);
const struct support_gguf_type* support_gguf_type_by_name(const char* name);

/* Loads the header of a file. On failure the header is empty. */
bool support_gguf_load(const char* path, struct support_gguf* gguf, struct support_error* error);

/* Loads a header from memory. Messages call it `name`. */
bool support_gguf_parse(const char* name, const void* data, size_t size, struct support_gguf* gguf,
                        struct support_error* error);

/* Returns the numbers of a key: `key` itself, or "ARCHITECTURE.key" if it begins with a dot. NULL
 * if the file has no such numbers. */
const struct support_gguf_value* support_gguf_find(const struct support_gguf* gguf,
                                                   const char* key);

/* Frees the contents of a header and empties it. */
void support_gguf_release(struct support_gguf* gguf);

#endif
