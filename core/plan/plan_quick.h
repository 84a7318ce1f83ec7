/*
 * Placements of many items in near-linear time. They need intervals: with several queues, those
 * along the chain of passes.
 */
#ifndef MAAR_CORE_PLAN_PLAN_QUICK_H
#define MAAR_CORE_PLAN_PLAN_QUICK_H

#include "core/plan/plan_gaps.h"
#include "core/plan/problem/plan_floors.h"
#include "core/plan/problem/plan_problem.h"

enum { MAAR_PLAN_KINDS = 3 };

/* What the quick placements of one class work on. */
struct maar_plan_quick {
    struct maar_plan_problem problem; /* `conflict` is NULL */
    uint32_t* by_first;               /* items in the order in which they begin */
    uint32_t* by_last;                /* and in which they end */
    struct maar_plan_gaps gaps;
    struct maar_plan_floors floors[MAAR_PLAN_KINDS]; /* per kind: the tops in each section */
};

/* Prepares quick placements of a problem. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_plan_quick_init(struct maar_plan_quick* quick,
                              const struct maar_plan_problem* problem,
                              struct maar_host_stack* stack);
/* Goes through time, forward or backward. Places each item where it begins, in the lowest gap
 * between the items that live, and frees its bytes where it ends. Returns false when the gaps are
 * too many; the offsets are then undefined. The problem has no fixed offsets. Costs O(n log n) for
 * usual inputs. */
bool maar_plan_quick_pass(struct maar_plan_quick* quick, bool backward, int64_t* offsets);
/* The same for mixed kinds, each in a space of its own, one above the other. Also returns false
 * where maar_plan_stack_kinds does. */
bool maar_plan_quick_apart(struct maar_plan_quick* quick, bool backward, int64_t* offsets);
/* Puts the kinds of a problem, of which each lies from 0 on, one above the other. Returns false
 * when the alignments have no common multiple of use. */
bool maar_plan_stack_kinds(const struct maar_plan_problem* problem, int64_t* offsets);
/* Returns the lowest offset of an item above all items of its sections. */
int64_t maar_plan_quick_top(const struct maar_plan_quick* quick, uint32_t item);
/* Raises the tops of an item's sections to its end. */
void maar_plan_quick_raise(struct maar_plan_quick* quick, uint32_t item, int64_t offset);
/* Places items at their fixed offsets, and then all others in the given order, each above all items
 * of its sections. Costs O(n log n). */
void maar_plan_quick_stack(struct maar_plan_quick* quick, const uint32_t* order, int64_t* offsets);

#endif
