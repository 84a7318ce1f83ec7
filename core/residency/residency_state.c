/*
 * The common functions of a manager of residents: its handle and those of residents, its lists, and
 * the check of its state.
 */
#include "core/residency/residency_state.h"

#include "core/memory/allocator_state.h"
#include "core/port_time.h"
#include "core/residency/policy_order.h"

/* Updates that must see a risen budget before it counts. */
enum { LEAST_RISE_WAIT = 4, MOST_RISE_WAIT = 64 };

VkResult maar_residency_find(MaarAllocator allocator, const char* call, MaarResidency residency,
                             struct maar_residency** found)
{
    void* object = NULL;
    const VkResult result = maar_object_enter(allocator, call, "residency", MAAR_OBJECT_RESIDENCY,
                                              MAAR_TO_BITS(residency), &object);
    *found = object;
    return result;
}

VkResult maar_residency_enter(MaarAllocator allocator, const char* call, MaarResidency residency,
                              struct maar_residency** found)
{
    const uint64_t self = maar_thread_tag();
    const VkResult result = maar_residency_find(allocator, call, residency, found);
    struct maar_residency* it = *found;
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_mutex_lock(&it->work_lock);
    while (it->caller != 0 && it->caller != self) {
        maar_condition_wait(&it->call_ended, &it->work_lock);
    }
    it->caller = self;
    ++it->caller_depth;
    maar_mutex_unlock(&it->work_lock);
    return VK_SUCCESS;
}

void maar_residency_leave(struct maar_residency* it)
{
    maar_mutex_lock(&it->work_lock);
    if (--it->caller_depth == 0) {
        it->caller = 0;
        maar_condition_wake(&it->call_ended);
    }
    maar_mutex_unlock(&it->work_lock);
}

bool maar_residency_try_enter(struct maar_residency* it, uint64_t deadline_ns)
{
    const uint64_t self = maar_thread_tag();
    uint64_t left = 1;
    maar_mutex_lock(&it->work_lock);
    while (it->caller != 0 && it->caller != self && left > 0) {
        left = maar_time_left_ns(deadline_ns);
        if (left > 0) {
            (void)maar_condition_wait_for(&it->call_ended, &it->work_lock, left);
        }
    }
    const bool is_free = it->caller == 0;
    if (is_free) {
        it->caller = self;
        it->caller_depth = 1;
    }
    maar_mutex_unlock(&it->work_lock);
    return is_free;
}

VkResult maar_resident_find(struct maar_residency* it, const char* call, const char* argument,
                            MaarResident handle, struct maar_resident** found)
{
    *found = maar_resident_of(it, handle);
    if (*found != NULL) {
        return VK_SUCCESS;
    }
    const bool is_null = handle == VK_NULL_HANDLE;
    return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                     is_null ? MAAR_MESSAGE_ID_NULL_HANDLE : MAAR_MESSAGE_ID_STALE_HANDLE, call,
                     "%s %s", argument,
                     is_null ? "is VK_NULL_HANDLE"
                             : "is not a resident of this manager, or was destroyed");
}

bool maar_residency_reserve_scratch(struct maar_residency* it, uint32_t count)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    if (count <= it->scratch_capacity) {
        return true;
    }
    uint32_t* scratch =
        maar_host_grow(callbacks, it->scratch, &it->scratch_capacity, count, sizeof scratch[0]);
    it->scratch = scratch != NULL ? scratch : it->scratch;
    return scratch != NULL;
}

VkDeviceSize maar_residency_available(struct maar_residency* it)
{
    const MaarAllocationCreateInfo any = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    struct maar_type_choice choice;
    if (!maar_choose_types(it->allocator, UINT32_MAX, &any, &choice)) {
        return it->largest;
    }
    const uint32_t heap = maar_type_heap(it->allocator, maar_best_type(&choice));
    const VkDeviceSize used = maar_tier_memory_used(&it->device, heap);
    const VkDeviceSize share = maar_budget_share(it->allocator, heap, used);
    return share > it->largest ? share : it->largest;
}

void maar_residency_set_budget(struct maar_residency* it, VkDeviceSize budget)
{
    it->device.budget = budget;
    maar_policy_set_capacity(it->policy, budget);
}

void maar_residency_note_fall(struct maar_residency* it)
{
    struct maar_budget_steps* steps = &it->steps;
    const bool was_short = steps->wait > 0 && steps->since_raised <= 2 * steps->wait;
    const uint32_t longer = 2 * steps->wait < MOST_RISE_WAIT ? 2 * steps->wait : MOST_RISE_WAIT;
    steps->wait = was_short ? longer : LEAST_RISE_WAIT;
    steps->seen = 0;
}

void maar_resident_unlink(struct maar_residency* it, struct maar_resident* resident,
                          enum maar_resident_list list)
{
    const struct maar_resident_link* link = &resident->links[list];
    if (link->older != MAAR_NO_OBJECT) {
        it->residents[link->older].links[list].newer = link->newer;
    } else {
        it->lists[list].oldest = link->newer;
    }
    if (link->newer != MAAR_NO_OBJECT) {
        it->residents[link->newer].links[list].older = link->older;
    } else {
        it->lists[list].newest = link->older;
    }
}

void maar_resident_append(struct maar_residency* it, struct maar_resident* resident,
                          enum maar_resident_list list)
{
    const uint32_t number = maar_resident_number(it, resident);
    const uint32_t newest = it->lists[list].newest;
    resident->links[list] = (struct maar_resident_link){newest, MAAR_NO_OBJECT};
    if (newest != MAAR_NO_OBJECT) {
        it->residents[newest].links[list].newer = number;
    } else {
        it->lists[list].oldest = number;
    }
    it->lists[list].newest = number;
}

/* ---- the check ---- */

/* Whether a list has the residents that it should have, linked both ways. */
static bool is_list_right(const struct maar_residency* it, enum maar_resident_list list)
{
    uint32_t older = MAAR_NO_OBJECT;
    uint32_t listed = 0;
    uint32_t wanted = 0;
    for (uint32_t at = it->lists[list].oldest; at != MAAR_NO_OBJECT;
         at = it->residents[at].links[list].newer) {
        if (at >= it->resident_count || ++listed > it->resident_count ||
            it->residents[at].links[list].older != older) {
            return false;
        }
        older = at;
    }
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        const struct maar_resident* resident = &it->residents[i];
        const bool is_in = list == MAAR_LIST_HOST ? resident->host_buffer != VK_NULL_HANDLE
                                                  : resident->packed != NULL;
        wanted += is_in ? 1 : 0;
    }
    return it->lists[list].newest == older && listed == wanted;
}

static const char* check_resident(const struct maar_residency* it,
                                  const struct maar_resident* resident)
{
    if (maar_resident_has(resident, MAAR_TIER_DEVICE) && !resident->has_object) {
        return "contents are valid on the device, which has no object for them";
    }
    if (maar_resident_has(resident, MAAR_TIER_HOST) && resident->host_buffer == VK_NULL_HANDLE) {
        return "contents are valid in host memory, which has no object for them";
    }
    if (maar_resident_has(resident, MAAR_TIER_COMPRESSED) != (resident->packed != NULL)) {
        return "a compressed copy is not the one that is valid";
    }
    if (maar_resident_has(resident, MAAR_TIER_FILE) != (resident->extent.length != 0)) {
        return "a copy in the file is not the one that is valid";
    }
    if (resident->ready > it->copies.submitted || resident->host_ready > it->copies.submitted) {
        return "a resident waits for a copy that was not submitted";
    }
    if (resident->is_wanted || resident->is_held || resident->is_saved) {
        return "a resident has a mark of a call that has ended";
    }
    return NULL;
}

const char* maar_residency_check(const struct maar_residency* it)
{
    VkDeviceSize device = 0;
    VkDeviceSize packed = 0;
    VkDeviceSize pinned = 0;
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        const struct maar_resident* resident = &it->residents[i];
        const VkDeviceSize size = resident->request.requirements.size;
        if (!maar_resident_exists(resident)) {
            continue;
        }
        const char* broken = check_resident(it, resident);
        if (broken != NULL) {
            return broken;
        }
        device += resident->has_object ? size : 0;
        packed += resident->packed_size;
        pinned += resident->is_counted ? size : 0;
    }
    if (device != it->device.live || packed != it->packed_size || pinned != it->pinned) {
        return "the totals are not the sums of what the residents have";
    }
    if (!is_list_right(it, MAAR_LIST_HOST) || !is_list_right(it, MAAR_LIST_PACKED)) {
        return "a list has not the residents that it should have";
    }
    return maar_policy_check(it->policy);
}
