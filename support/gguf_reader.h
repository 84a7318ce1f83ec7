/*
 * Reads the fields of a GGUF header one after another, from a file or from memory. After an error
 * every further read fails, so that a caller may check once for several fields.
 */
#ifndef MAAR_SUPPORT_GGUF_READER_H
#define MAAR_SUPPORT_GGUF_READER_H

#include "readfile.h"

#include <stdint.h>

/* The most bytes of a header. The largest ones in use, with a vocabulary of some hundred thousand
 * words, have 20 MB. */
#define GGUF_MAX_HEADER ((uint64_t)256 << 20)

struct gguf_reader {
    const char* name;
    struct support_error* error;
    FILE* file;                /* NULL: from memory */
    const unsigned char* data; /* the rest of the memory */
    size_t size;
    uint64_t offset; /* bytes that were read */
    bool big_endian;
    bool failed;
};

/* Sets the error "name: byte N: reason", unless one is set, and returns false. */
#if defined(__MINGW_PRINTF_FORMAT)
__attribute__((format(__MINGW_PRINTF_FORMAT, 3, 4)))
#elif defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool gguf_fail(struct gguf_reader* reader, uint64_t at, const char* format, ...);

bool gguf_read_bytes(struct gguf_reader* reader, void* out, size_t size);
bool gguf_skip(struct gguf_reader* reader, uint64_t size);

/* Read an unsigned number of 1, 2, 4 or 8 bytes. 0 after an error. */
uint64_t gguf_read_number(struct gguf_reader* reader, size_t size);
uint32_t gguf_read_u32(struct gguf_reader* reader);
uint64_t gguf_read_u64(struct gguf_reader* reader);

/* Reads a string of 1 to `most` bytes without zeros. The caller frees it. NULL after an error,
 * which says what the string is. */
char* gguf_read_string(struct gguf_reader* reader, uint64_t most, const char* what);

#endif
