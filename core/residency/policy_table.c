/*
 * The program's own policy: see policy_table.h. What it answers is checked before it counts.
 */
#include "core/residency/policy_table.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"

VkResult maar_table_open(struct maar_residency* it, const char* call,
                         const MaarResidencyCreateInfo* info)
{
    const MaarResidencyPolicy* table =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY);
    if (table == NULL) {
        return VK_SUCCESS;
    }
    if (table->pfnChoose == NULL) {
        return maar_misuse(it->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                           "MaarResidencyPolicy::pfnChoose is NULL");
    }
    it->table = *table;
    return VK_SUCCESS;
}

void maar_table_inform(struct maar_residency* it, struct maar_resident* resident)
{
    MaarPolicyStateFlags state = 0;
    if (maar_policy_is_candidate(it->policy, resident->policy)) {
        state |= MAAR_POLICY_STATE_CANDIDATE_BIT;
    }
    if (resident->is_dirty) {
        state |= MAAR_POLICY_STATE_DIRTY_BIT;
    }
    if (state != resident->table_state) {
        resident->table_state = (uint8_t)state;
        maar_lock_rank_expect_none();
        it->table.pfnState(it->table.pUserData, maar_resident_handle(it, resident),
                           resident->user_data, state);
    }
}

void maar_table_add(struct maar_residency* it, const struct maar_resident* resident)
{
    if (it->table.pfnAdd != NULL) {
        maar_lock_rank_expect_none();
        it->table.pfnAdd(it->table.pUserData, maar_resident_handle(it, resident),
                         resident->user_data, resident->request.requirements.size,
                         resident->priority_class);
    }
}

void maar_table_remove(struct maar_residency* it, const struct maar_resident* resident)
{
    if (it->table.pfnRemove != NULL) {
        maar_lock_rank_expect_none();
        it->table.pfnRemove(it->table.pUserData, maar_resident_handle(it, resident),
                            resident->user_data);
    }
}

/* Returns the victim of the table, or MAAR_NO_OBJECT. */
static uint32_t ask_table(struct maar_residency* it, const char* call)
{
    maar_lock_rank_expect_none();
    const MaarResident chosen = it->table.pfnChoose(it->table.pUserData);
    if (chosen == VK_NULL_HANDLE) {
        return MAAR_NO_OBJECT;
    }
    const struct maar_resident* resident = maar_resident_of(it, chosen);
    if (resident != NULL && maar_policy_is_candidate(it->policy, resident->policy)) {
        it->is_table_wrong = false;
        return resident->policy;
    }
    if (!it->is_table_wrong) {
        it->is_table_wrong = true;
        maar_report(it->allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_POLICY_ANSWER,
                    call, "pfnChoose of %s returned a resident that %s; Maar's own policy chooses",
                    maar_quote(it->name).text,
                    resident == NULL ? "does not exist" : "is pinned, locked or not on the device");
    }
    return MAAR_NO_OBJECT;
}

/* Whether the device has not ended a use, as far as is known. */
static bool has_uses_in_flight(const struct maar_residency* it)
{
    bool is_busy = false;
    for (uint32_t i = 0; i < it->timeline_count; ++i) {
        is_busy = is_busy || it->timelines[i].passed < it->timelines[i].latest;
    }
    return is_busy;
}

uint32_t maar_residency_victim(struct maar_residency* it, const char* call)
{
    const uint32_t chosen = it->table.pfnChoose != NULL ? ask_table(it, call) : MAAR_NO_OBJECT;
    if (chosen != MAAR_NO_OBJECT) {
        return chosen;
    }
    maar_policy_set_busy(it->policy, has_uses_in_flight(it));
    return maar_policy_victim(it->policy);
}

uint64_t maar_residency_distance(const struct maar_residency* it,
                                 const struct maar_resident* resident)
{
    if (it->table.pfnDistance == NULL) {
        return maar_policy_distance(it->policy, resident->policy);
    }
    maar_lock_rank_expect_none();
    return it->table.pfnDistance(it->table.pUserData, maar_resident_handle(it, resident),
                                 resident->user_data);
}

void maar_residency_expect(struct maar_residency* it, const struct maar_resident* resident,
                           uint64_t uses)
{
    maar_policy_expect(it->policy, resident->policy, uses);
    if (it->table.pfnExpect != NULL) {
        maar_lock_rank_expect_none();
        it->table.pfnExpect(it->table.pUserData, maar_resident_handle(it, resident),
                            resident->user_data, uses);
    }
}

void maar_residency_note_use(struct maar_residency* it, const struct maar_use* use)
{
    maar_policy_use(it->policy, use->count, it->scratch);
    if (it->table.pfnUse == NULL) {
        return;
    }
    maar_lock_rank_expect_none();
    for (uint32_t i = 0; i < use->count; ++i) {
        const struct maar_resident* resident = &it->residents[use->items[i].resident];
        it->table.pfnUse(it->table.pUserData, maar_resident_handle(it, resident),
                         resident->user_data, i, use->count);
    }
}
