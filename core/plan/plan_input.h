/*
 * The checks of a plan's input.
 */
#ifndef MAAR_CORE_PLAN_PLAN_INPUT_H
#define MAAR_CORE_PLAN_PLAN_INPUT_H

#include "maar/plan.h"

/* Checks the input. If an argument is wrong, reports the first such argument and returns
 * VK_ERROR_VALIDATION_FAILED_EXT. */
VkResult maar_plan_check_input(const MaarPlanCreateInfo* info);
/* Reports a sentence to the caller's message function. Returns VK_ERROR_VALIDATION_FAILED_EXT. */
VkResult maar_plan_reject(const MaarPlanCreateInfo* info, const char* format, ...);

#endif
