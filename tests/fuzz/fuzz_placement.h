/*
 * The two ways into placement: the placements themselves, through tests/model, and the public
 * range allocator, which also survives wrong arguments and failing host memory.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_PLACEMENT_H
#define MAAR_TESTS_FUZZ_FUZZ_PLACEMENT_H

#include "tests/fuzz/fuzz_input.h"

/* Runs operations on a range allocator until the bytes are used up, against a list of ranges. */
void fuzz_range_run(struct fuzz_input* input);

#endif
