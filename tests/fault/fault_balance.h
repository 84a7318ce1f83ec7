/*
 * Whether the allocator's books agree with the driver's. Both may be called only while no other
 * thread changes anything.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_BALANCE_H
#define MAAR_TESTS_FAULT_FAULT_BALANCE_H

#include "tests/rig/rig.h"

/* Bytes and objects of each heap are those that the driver has, and add up to the totals; the heavy
 * check finds nothing. */
void fault_expect_balance(struct rig* rig);
/* The same, and nothing is held, live or pending any more. */
void fault_expect_empty(struct rig* rig);

#endif
