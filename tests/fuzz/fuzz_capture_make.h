/*
 * Captures in memory, made from the fuzzer's bytes.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_CAPTURE_MAKE_H
#define MAAR_TESTS_FUZZ_FUZZ_CAPTURE_MAKE_H

#include "tests/fuzz/fuzz_input.h"

/* A whole capture: a header, and entries whose structures have small numbers. The caller frees it.
 */
uint8_t* fuzz_make_entries(struct fuzz_input* input, size_t* size);

/* A header, and the bytes as they are. The caller frees it. */
uint8_t* fuzz_make_records(struct fuzz_input* input, size_t* size);

#endif
