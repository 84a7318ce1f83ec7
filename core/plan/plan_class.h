/*
 * Makes classes from the graph: resources that can be in one VkDeviceMemory.
 */
#ifndef MAAR_CORE_PLAN_PLAN_CLASS_H
#define MAAR_CORE_PLAN_PLAN_CLASS_H

#include "core/host_stack.h"
#include "core/plan/problem/plan_problem.h"

/* The largest number of classes: each has a memory type that no earlier class has. */
enum { MAAR_PLAN_MAX_CLASSES = 33 };

/* Assigns each resource a class. class_bits receives, for each class, the memory types that all its
 * resources allow. */
void maar_plan_classify(const struct maar_plan_graph* graph, uint32_t* class_of,
                        uint32_t* class_bits, uint32_t* class_count);
/* Makes one class a problem in units, with its cliques and bounds. */
VkResult maar_plan_build_problem(const struct maar_plan_graph* graph, struct maar_host_stack* stack,
                                 const uint32_t* resources, uint32_t count, uint32_t type_bits,
                                 struct maar_plan_problem* problem);

#endif
