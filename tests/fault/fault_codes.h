/*
 * How the driver's calls may fail: for each that Maar makes, the codes that the specification
 * allows, then codes that no program should see there.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_CODES_H
#define MAAR_TESTS_FAULT_FAULT_CODES_H

#include "tests/rig/rig.h"

/* A code that no version of Vulkan knows. */
#define FAULT_UNHEARD_OF ((VkResult)-1234567890)

enum { FAULT_MOST_CODES = 12 };

/* Fills codes, which has room for FAULT_MOST_CODES; returns how many, 0 for a call that cannot fail
 * or is not known here. */
uint32_t fault_codes_of(const char* function, VkResult* codes);

#endif
