/*
 * The policy as the manager sees it: Maar's own (policy.h), and above it the program's, if it has
 * given a table (maar/residency_policy.h). Both learn everything. Whoever changes pins, objects
 * or validity does it through the functions here, so that the table always knows the candidates.
 */
#ifndef MAAR_CORE_RESIDENCY_POLICY_TABLE_H
#define MAAR_CORE_RESIDENCY_POLICY_TABLE_H

#include "core/residency/residency_state.h"

/* Takes the table of a chain, if it has one. */
VkResult maar_table_open(struct maar_residency* it, const char* call,
                         const MaarResidencyCreateInfo* info);
/* Informs the table of the state of a resident, if it has changed. */
void maar_table_inform(struct maar_residency* it, struct maar_resident* resident);
/* Inform it that a resident was created, and that one is destroyed. */
void maar_table_add(struct maar_residency* it, const struct maar_resident* resident);
void maar_table_remove(struct maar_residency* it, const struct maar_resident* resident);

/* Return what maar_policy_victim and maar_policy_distance return, by the table where it answers. */
uint32_t maar_residency_victim(struct maar_residency* it, const char* call);
uint64_t maar_residency_distance(const struct maar_residency* it,
                                 const struct maar_resident* resident);
/* Notes when the program says that a resident is used next. */
void maar_residency_expect(struct maar_residency* it, const struct maar_resident* resident,
                           uint64_t uses);
/* Notes a use. it->scratch has the numbers of its residents in the policy. */
void maar_residency_note_use(struct maar_residency* it, const struct maar_use* use);

static inline void maar_table_note(struct maar_residency* it, struct maar_resident* resident)
{
    if (it->table.pfnState != NULL) {
        maar_table_inform(it, resident);
    }
}

/* As the functions of the policy do. */
static inline void maar_resident_keep(struct maar_residency* it, struct maar_resident* resident)
{
    maar_policy_pin(it->policy, resident->policy);
    maar_table_note(it, resident);
}

static inline void maar_resident_release(struct maar_residency* it, struct maar_resident* resident)
{
    maar_policy_unpin(it->policy, resident->policy);
    maar_table_note(it, resident);
}

static inline void maar_resident_put_back(struct maar_residency* it, struct maar_resident* resident)
{
    maar_policy_put_back(it->policy, resident->policy);
    maar_table_note(it, resident);
}

static inline void maar_resident_set_present(struct maar_residency* it,
                                             struct maar_resident* resident, bool is_present)
{
    maar_policy_set_resident(it->policy, resident->policy, is_present);
    maar_table_note(it, resident);
}

#endif
