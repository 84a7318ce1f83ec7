/** @file
 * maar/residency_policy.h: a policy of the program's own, which chooses the residents that make
 * room.
 *
 * Maar's own policy learns from the past, and from maarPrefetchResidents and maarEvictResident. A
 * program that knows its future better fills a table of functions, and chains it to
 * MaarResidencyCreateInfo. The manager informs the table of what there is, what is used and what
 * may leave the device, and asks it for one victim after another. A table may answer that it does
 * not know, and may leave out all functions but pfnChoose: Maar's own policy goes on learning
 * beside it, and chooses then.
 *
 * A wrong answer loses nothing. If the victim is no candidate, the manager reports it with
 * MAAR_MESSAGE_ID_POLICY_ANSWER, once until the next right answer, and takes its own victim.
 *
 * The functions are called in the thread of the call on the manager that needs them, never by
 * maarWorkResidency, and with none of Maar's locks held. They must not call the manager. They are
 * called for each resident of each use, so they should be short.
 */
#ifndef MAAR_RESIDENCY_POLICY_H
#define MAAR_RESIDENCY_POLICY_H

#include "maar/residency.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bits of MaarPolicyStateFlags. */
typedef enum MaarPolicyStateFlagBits {
    /** It is on the device, no use pins it and no lock holds it there: it may be chosen. */
    MAAR_POLICY_STATE_CANDIDATE_BIT = 0x1,
    /** Its only contents are on the device: they are copied when it leaves. */
    MAAR_POLICY_STATE_DIRTY_BIT = 0x2,
    /** Reserves the enumeration's size. */
    MAAR_POLICY_STATE_FLAG_BITS_MAX_ENUM = 0x7FFFFFFF
} MaarPolicyStateFlagBits;
/** Any of MaarPolicyStateFlagBits. */
typedef VkFlags MaarPolicyStateFlags;

/** A resident was created. It is no candidate.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData
 * @param size           bytes of memory of its object
 * @param priorityClass  MaarResidentCreateInfo::priorityClass */
typedef void(VKAPI_PTR* PFN_maarPolicyAdd)(void* pUserData, MaarResident resident,
                                           void* pResidentData, VkDeviceSize size,
                                           uint32_t priorityClass);

/** A resident was destroyed: its handle is stale.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData */
typedef void(VKAPI_PTR* PFN_maarPolicyRemove)(void* pUserData, MaarResident resident,
                                              void* pResidentData);

/** A use of several residents has begun, and this is one of them. The calls follow the order of the
 * use, which may name a resident several times.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData
 * @param index          its place in the use, from 0
 * @param count          how many the use names */
typedef void(VKAPI_PTR* PFN_maarPolicyUse)(void* pUserData, MaarResident resident,
                                           void* pResidentData, uint32_t index, uint32_t count);

/** The program has said when a resident is used next.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData
 * @param distance       after how many uses of residents, counted from now: the place in
 *                       maarPrefetchResidents, from 1, or UINT64_MAX for maarEvictResident */
typedef void(VKAPI_PTR* PFN_maarPolicyExpect)(void* pUserData, MaarResident resident,
                                              void* pResidentData, uint64_t distance);

/** The state of a resident has changed. While victims are chosen, those that were chosen cease to
 * be candidates, and the ones that stay become candidates again: an order by use does not depend on
 * these calls.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData
 * @param state          its state now */
typedef void(VKAPI_PTR* PFN_maarPolicyState)(void* pUserData, MaarResident resident,
                                             void* pResidentData, MaarPolicyStateFlags state);

/** Chooses a victim. The manager may ask again at once, for the next one, and may leave the last
 * one where it is. Priority classes count as far as the table regards them.
 *
 * @param pUserData  MaarResidencyPolicy::pUserData
 * @return a candidate, or VK_NULL_HANDLE: Maar's own policy chooses */
typedef MaarResident(VKAPI_PTR* PFN_maarPolicyChoose)(void* pUserData);

/** Says when a resident is used next. A prefetch evicts only what is used later than what it
 * brings, by a third at least.
 *
 * @param pUserData      MaarResidencyPolicy::pUserData
 * @param resident       the resident
 * @param pResidentData  MaarResidentCreateInfo::pUserData
 * @return after how many uses of residents, counted from now; UINT64_MAX: never */
typedef uint64_t(VKAPI_PTR* PFN_maarPolicyDistance)(void* pUserData, MaarResident resident,
                                                    void* pResidentData);

/** A policy of the program's own. In the chain of MaarResidencyCreateInfo; copied, except what
 * pUserData points to, which lives as long as the manager. */
typedef struct MaarResidencyPolicy {
    /** MAAR_STRUCTURE_TYPE_RESIDENCY_POLICY */
    MaarStructureType sType;
    /** NULL or a chain. */
    const void* pNext;
    /** Passed to each function. */
    void* pUserData;
    /** Chooses a victim; not NULL. */
    PFN_maarPolicyChoose pfnChoose;
    /** Says when a resident is used next; NULL: Maar's own policy does. */
    PFN_maarPolicyDistance pfnDistance;
    /** Learns of a new resident; may be NULL. */
    PFN_maarPolicyAdd pfnAdd;
    /** Learns of a destroyed resident; may be NULL. */
    PFN_maarPolicyRemove pfnRemove;
    /** Learns of uses; may be NULL. */
    PFN_maarPolicyUse pfnUse;
    /** Learns of hints; may be NULL. */
    PFN_maarPolicyExpect pfnExpect;
    /** Learns which residents may be chosen; may be NULL. */
    PFN_maarPolicyState pfnState;
} MaarResidencyPolicy;

#ifdef __cplusplus
}
#endif

#endif
