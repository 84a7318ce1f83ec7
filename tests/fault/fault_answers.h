/*
 * Which codes the public functions answered while their calls failed. For one thread.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_ANSWERS_H
#define MAAR_TESTS_FAULT_FAULT_ANSWERS_H

#include "tests/rig/rig.h"

/* A function answers this code when some call fails; or, with a driver's call, what that answers.
 */
struct fault_answer {
    const char* function;
    VkResult code;      /* VK_SUCCESS: any */
    const char* driver; /* NULL: any call of the driver, host memory, or whatever else may fail */
};

void fault_note_answer(const char* function, VkResult code, const char* driver);
/* Fails, and names each answer of the list that was never noted. */
void fault_expect_answers(const struct fault_answer* list, size_t count);

#endif
