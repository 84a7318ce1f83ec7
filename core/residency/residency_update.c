/*
 * Updates: budgets, prefetches, and copies ahead of need.
 *
 * When the device's memory is nearly full, the residents that would go next are copied to the host
 * and stay: then they make room at once. In the same way those of the host go to lower tiers.
 */
#include "core/residency/residency_update.h"

#include "core/memory/allocator_state.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_pages.h"

enum {
    MOST_COPIES = 128, /* defaults of an update */
    /* An eighth of each tier is made ready to go: more would copy what is used again first. */
    READY_PART = 8,
    /* Residents that an update looks at for that. */
    READY_LOOKS = 512
};
static const VkDeviceSize most_copied = (VkDeviceSize)64 << 20;

/* ---- hints ---- */

void maar_prefetch_forget(struct maar_residency* it, struct maar_resident* resident)
{
    if (!resident->is_prefetched) {
        return;
    }
    if (resident->prefetch_before != MAAR_NO_OBJECT) {
        it->residents[resident->prefetch_before].prefetch_next = resident->prefetch_next;
    } else {
        it->prefetch_first = resident->prefetch_next;
    }
    if (resident->prefetch_next != MAAR_NO_OBJECT) {
        it->residents[resident->prefetch_next].prefetch_before = resident->prefetch_before;
    }
    resident->is_prefetched = false;
}

/* Puts a resident into the list, behind another one; MAAR_NO_OBJECT: at its beginning. */
static void put_behind(struct maar_residency* it, struct maar_resident* resident, uint32_t before)
{
    const uint32_t number = maar_resident_number(it, resident);
    uint32_t* link =
        before != MAAR_NO_OBJECT ? &it->residents[before].prefetch_next : &it->prefetch_first;
    resident->is_prefetched = true;
    resident->prefetch_before = before;
    resident->prefetch_next = *link;
    if (*link != MAAR_NO_OBJECT) {
        it->residents[*link].prefetch_before = number;
    }
    *link = number;
}

/* Notes which residents come next. Those come before what earlier calls have named. */
static void name_residents(struct maar_residency* it, uint32_t count, const MaarResident* residents)
{
    uint32_t last = MAAR_NO_OBJECT;
    ++it->named;
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_resident* resident = maar_resident_of(it, residents[i]);
        if (resident->named == it->named) {
            continue; /* its first place counts */
        }
        resident->named = it->named;
        maar_residency_expect(it, resident, i + 1u);
        if (!resident->has_object) {
            maar_prefetch_forget(it, resident);
            put_behind(it, resident, last);
            last = maar_resident_number(it, resident);
        }
    }
}

static VkResult note_prefetches(struct maar_residency* it, const char* call, uint32_t count,
                                const MaarResident* residents)
{
    struct maar_resident* own = NULL;
    VkResult result = VK_SUCCESS;
    if (count > 0 && residents == NULL) {
        result =
            maar_misuse(it->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pResidents is NULL");
    }
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = maar_resident_find(it, call, "an element of pResidents", residents[i], &own);
    }
    if (result == VK_SUCCESS) {
        name_residents(it, count, residents);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarPrefetchResidents(MaarAllocator allocator,
                                                     MaarResidency residency,
                                                     uint32_t residentCount,
                                                     const MaarResident* pResidents)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result == VK_SUCCESS) {
        result = note_prefetches(it, __func__, residentCount, pResidents);
        maar_residency_leave(it);
    }
    return result;
}

/* Enters a call about one resident. On success the caller leaves it by maar_residency_leave. */
static VkResult enter_resident(MaarAllocator allocator, const char* call, MaarResidency residency,
                               MaarResident resident, struct maar_residency** it,
                               struct maar_resident** own)
{
    VkResult result = maar_residency_enter(allocator, call, residency, it);
    if (result == VK_SUCCESS) {
        result = maar_resident_find(*it, call, "resident", resident, own);
        if (result != VK_SUCCESS) {
            maar_residency_leave(*it);
        }
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEvictResident(MaarAllocator allocator, MaarResidency residency,
                                                 MaarResident resident)
{
    struct maar_residency* it = NULL;
    struct maar_resident* own = NULL;
    const VkResult result = enter_resident(allocator, __func__, residency, resident, &it, &own);
    if (result == VK_SUCCESS) {
        maar_residency_expect(it, own, UINT64_MAX);
        maar_prefetch_forget(it, own);
        maar_residency_leave(it);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarLockResident(MaarAllocator allocator, MaarResidency residency,
                                                MaarResident resident)
{
    struct maar_residency* it = NULL;
    struct maar_resident* own = NULL;
    const VkResult result = enter_resident(allocator, __func__, residency, resident, &it, &own);
    if (result == VK_SUCCESS) {
        ++own->lock_count;
        maar_resident_keep(it, own);
        maar_resident_count(it, own);
        maar_residency_leave(it);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarUnlockResident(MaarAllocator allocator, MaarResidency residency,
                                                  MaarResident resident)
{
    struct maar_residency* it = NULL;
    struct maar_resident* own = NULL;
    VkResult result = enter_resident(allocator, __func__, residency, resident, &it, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (own->lock_count == 0) {
        result =
            maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_LOCKED, __func__, "resident is not locked");
    } else {
        --own->lock_count;
        maar_resident_release(it, own);
        maar_resident_count(it, own);
    }
    maar_residency_leave(it);
    return result;
}

/* ---- updates ---- */

/* Evicts what exceeds the budget of the device, and releases blocks. */
static VkResult follow_budget(struct maar_residency* it, const char* call,
                              struct maar_tier_room* room)
{
    VkResult result = VK_SUCCESS;
    room->needed = 0;
    room->reason = MAAR_RESIDENCY_REASON_BUDGET;
    room->budget = it->device.budget;
    if (it->device.live > room->budget) {
        result = maar_residency_make_room(it, call, room);
    } else if (maar_tier_memory_bytes(&it->device) > room->budget &&
               !maar_tier_memory_is_pending(&it->device)) {
        /* What lives would fit, but lies in too many blocks. */
        result = maar_residency_empty_block(it, call, room);
    }
    if (maar_tier_memory_bytes(&it->device) > it->device.budget) {
        (void)maar_tier_memory_trim(&it->device);
    }
    return result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
}

/* Brings residents that were named, as far as there is room. */
static VkResult prefetch(struct maar_residency* it, const char* call, struct maar_tier_room* room)
{
    uint32_t count = 0;
    uint32_t brought = 0;
    VkDeviceSize bytes = 0;
    VkResult result = VK_SUCCESS;
    uint32_t at = it->prefetch_first;
    while (at != MAAR_NO_OBJECT && count < room->most_count && bytes < room->most_bytes) {
        struct maar_resident* resident = &it->residents[at];
        at = resident->prefetch_next;
        if (resident->has_object || resident->valid == 0 || resident->is_demoted) {
            maar_prefetch_forget(it, resident);
        } else if (maar_resident_has(resident, MAAR_TIER_HOST)) {
            it->missing[count++] = maar_resident_number(it, resident);
            resident->needs_contents = true;
            resident->is_wanted = true;
            bytes += resident->content_size;
        } else {
            result = maar_work_raise(it, call, resident);
            if (result != VK_NOT_READY) {
                break;
            }
        }
    }
    if (count > 0) {
        room->reason = MAAR_RESIDENCY_REASON_REQUEST;
        room->only_later = true;
        room->budget = it->device.budget;
        result = maar_residency_restore(it, call, count, it->missing, room, &brought);
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_resident* resident = &it->residents[it->missing[i]];
        resident->needs_contents = false;
        resident->is_wanted = false;
        if (resident->has_object) {
            maar_prefetch_forget(it, resident);
        }
    }
    return result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
}

/* Copies residents to the host that will go next. */
static VkResult copy_ahead(struct maar_residency* it, const char* call,
                           const struct maar_tier_room* room)
{
    const VkDeviceSize ready = it->device.budget / READY_PART;
    VkDeviceSize seen = 0;
    VkDeviceSize bytes = 0;
    uint32_t count = 0;
    uint32_t dirty = 0;
    uint32_t done = 0;
    if (it->device.live + ready < it->device.budget) {
        return VK_SUCCESS;
    }
    while (seen < ready && count < READY_LOOKS && dirty < room->most_count &&
           bytes < room->most_bytes && (count == 0 || !maar_room_is_late(room))) {
        const uint32_t policy = maar_residency_victim(it, call);
        if (policy == MAAR_NO_OBJECT) {
            break;
        }
        const uint32_t number = it->by_policy[policy];
        struct maar_resident* victim = &it->residents[number];
        maar_resident_keep(it, victim);
        it->victims[count++] = number;
        seen += victim->request.requirements.size;
        if (victim->is_dirty) {
            it->missing[dirty++] = number;
            bytes += victim->content_size;
        }
    }
    const VkResult result =
        maar_residency_save(it, call, dirty, it->missing, true, MAAR_RESIDENCY_REASON_AHEAD, &done);
    for (uint32_t i = count; i-- > 0;) {
        maar_resident_put_back(it, &it->residents[it->victims[i]]);
    }
    return result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
}

static VkResult check_update_info(MaarAllocator allocator, const char* call,
                                  const MaarResidencyUpdate* update)
{
    return update == NULL ? VK_SUCCESS
                          : maar_check_structure(allocator, call, "pUpdate", update,
                                                 MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE);
}

/* Follows a budget that has risen, or not yet. */
static void note_rise(struct maar_residency* it, VkDeviceSize budget)
{
    struct maar_budget_steps* steps = &it->steps;
    steps->lowest = steps->seen == 0 || budget < steps->lowest ? budget : steps->lowest;
    if (++steps->seen < steps->wait) {
        return;
    }
    maar_residency_set_budget(it, steps->lowest);
    steps->seen = 0;
    steps->since_raised = 0;
}

/* Reads what the device's heap has, for a manager that follows it or has given memory up. A budget
 * that falls is followed at once. */
static void read_budget(struct maar_residency* it)
{
    struct maar_budget_steps* steps = &it->steps;
    const VkDeviceSize limit = it->device_limit;
    if (limit != 0 && it->device.budget >= limit) {
        return;
    }
    const VkDeviceSize available = maar_residency_available(it);
    const VkDeviceSize budget = limit != 0 && available > limit ? limit : available;
    steps->since_raised += steps->since_raised < UINT32_MAX ? 1 : 0;
    if (budget > it->device.budget) {
        note_rise(it, budget);
        return;
    }
    steps->seen = 0;
    if (budget < it->device.budget && limit == 0) {
        maar_residency_set_budget(it, budget);
        maar_residency_note_fall(it);
    }
}

static VkResult update_held(struct maar_residency* it, const char* call,
                            const MaarResidencyUpdate* update)
{
    VkResult result = check_update_info(it->allocator, call, update);
    if (result == VK_SUCCESS) {
        result = maar_copies_poll(it);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool has_bytes = update != NULL && update->maxCopySize != 0;
    const bool has_count = update != NULL && update->maxCopyCount != 0;
    struct maar_tier_room room = {
        .most_bytes = has_bytes ? update->maxCopySize : most_copied,
        .most_count = has_count ? update->maxCopyCount : (uint32_t)MOST_COPIES,
        .deadline_ns =
            update != NULL && update->maxTime_ns != 0 ? maar_deadline_ns(update->maxTime_ns) : 0,
    };
    if (!maar_work_take(it, call)) {
        return VK_ERROR_DEVICE_LOST;
    }
    it->is_store_closed = false;
    (void)maarCollect(it->allocator, NULL);
    read_budget(it);
    result = follow_budget(it, call, &room);
    if (result == VK_SUCCESS) {
        result = maar_host_follow_budget(it, call);
    }
    if (it->packed_size > it->packed_budget) {
        maar_work_lower_packed(it, 0);
    }
    if (result == VK_SUCCESS) {
        result = prefetch(it, call, &room);
    }
    if (result == VK_SUCCESS) {
        result = copy_ahead(it, call, &room);
    }
    maar_policy_end_hints(it->policy);
    if (result == VK_SUCCESS) {
        result = maar_pages_submit(it, NULL);
    }
    const VkDeviceSize ready = it->host.budget / READY_PART;
    if (result == VK_SUCCESS && it->host.live + ready > it->host.budget) {
        (void)maar_work_lower(it, ready);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarUpdateResidency(MaarAllocator allocator, MaarResidency residency,
                                                   const MaarResidencyUpdate* pUpdate)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result == VK_SUCCESS) {
        result = update_held(it, __func__, pUpdate);
        if (result == VK_ERROR_DEVICE_LOST) {
            (void)maarCollect(allocator, NULL); /* nothing waits for a lost device */
        }
        maar_residency_leave(it);
    }
    return result;
}
