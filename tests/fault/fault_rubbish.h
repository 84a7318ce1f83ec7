/*
 * A driver that leaves rubbish where a failing call should have written: Vulkan says nothing of
 * outputs after a failure, and real drivers differ.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_RUBBISH_H
#define MAAR_TESTS_FAULT_FAULT_RUBBISH_H

#include "tests/rig/rig.h"

/* For an allocator that is still to be created from it. */
void fault_use_rubbish(MaarAllocatorCreateInfo* info);

#endif
