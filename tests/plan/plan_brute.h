/*
 * The least peak of a small plan, by trying everything. Single-threaded.
 */
#ifndef MAAR_TESTS_PLAN_PLAN_BRUTE_H
#define MAAR_TESTS_PLAN_PLAN_BRUTE_H

#include "plan_world.h"

enum { PLAN_BRUTE_MAX = 16 };

/*
 * The least size that holds these resources, PLAN_BRUTE_MAX at most; UINT64_MAX when more than
 * `steps` would be needed to find out.
 */
uint64_t plan_brute_size(const struct plan_world* world, const uint32_t* members, uint32_t count,
                         uint64_t steps);

#endif
