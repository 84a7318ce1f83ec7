/*
 * Arrays as residents: they grow and shrink while a use has pinned them.
 *
 * Contents are whole pages. A change of pages drops the copies in lower tiers, which have the bytes
 * of before.
 */
#include "core/memory/allocator_state.h"
#include "core/reservation/array.h"
#include "core/residency/host_object.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_tiers.h"
#include "core/residency/resident_pages.h"

/* Checks that the device has the contents, and nobody evicts them meanwhile. */
static VkResult check_pinned(const struct maar_residency* it, const char* call,
                             const struct maar_resident* resident)
{
    const bool has_contents = resident->valid == 0 || maar_resident_has(resident, MAAR_TIER_DEVICE);
    const struct maar_rule rules[] = {
        {resident->array == VK_NULL_HANDLE, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "resident is no growable array"},
        {resident->pin_count == 0 || !resident->has_object || !has_contents,
         MAAR_MESSAGE_ID_NOT_LOCKED,
         "resident is not pinned by a use that has its contents on the device"},
        {0},
    };
    return maar_check_rules(it->allocator, call, rules);
}

/* Asks what a host object of so many bytes needs, and checks that the budgets hold it. */
static VkResult ask_for_copy(struct maar_residency* it, const char* call,
                             const struct maar_resident* resident, VkDeviceSize size,
                             MaarMemoryRequest* request)
{
    struct maar_resident grown = *resident;
    grown.content_size = size;
    const VkResult result = maar_host_object_ask(it, &grown, request);
    const VkDeviceSize copy = request->requirements.size;
    const bool is_discardable = (resident->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) != 0;
    if (result != VK_SUCCESS ||
        (size <= it->device.budget && (is_discardable || copy <= it->host.budget / 2))) {
        return result;
    }
    return maar_fail(
        it->allocator, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, call,
        "the resident would take %s, and a copy %s; the budget of the device has %s, "
        "that of host memory holds two copies of %s",
        maar_show_bytes(size).text, maar_show_bytes(copy).text,
        maar_show_bytes(it->device.budget).text, maar_show_bytes(it->host.budget / 2).text);
}

/* Returns the bytes of pages for so many: an eighth more where that evicts nothing. */
static VkDeviceSize ample_size(const struct maar_residency* it, const struct maar_array* array,
                               const struct maar_resident* resident, VkDeviceSize least)
{
    const VkDeviceSize page = array->reservation.page_size;
    const VkDeviceSize most = array->reservation.size;
    const VkDeviceSize more = maar_align_up(least + resident->content_size / 8, page);
    const VkDeviceSize held = maar_tier_memory_bytes(&it->device) - resident->content_size;
    const VkDeviceSize exact = maar_align_up(least, page);
    const bool fits =
        held + more <= it->device.budget && more <= most && 2 * more <= it->host.budget;
    return fits ? more : exact < most ? exact : most;
}

static VkResult change_pages(struct maar_residency* it, const char* call,
                             struct maar_resident* resident, VkDeviceSize size)
{
    MaarMemoryRequest request;
    const bool is_counted = resident->is_counted;
    const VkDeviceSize old = resident->request.requirements.size;
    VkResult result = ask_for_copy(it, call, resident, size, &request);
    if (result == VK_SUCCESS) {
        result = size > resident->content_size ? maar_device_object_grow(it, call, resident, size)
                                               : maar_pages_shrink(it, resident, size);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDeviceSize now = resident->request.requirements.size;
    const VkDeviceSize larger = now > request.requirements.size ? now : request.requirements.size;
    if (resident->valid != 0) {
        maar_resident_keep_only(it, call, resident, MAAR_TIER_DEVICE);
    }
    resident->host_request = request;
    it->pinned += is_counted ? now : 0;
    it->pinned -= is_counted ? old : 0;
    it->largest = larger > it->largest ? larger : it->largest;
    it->device.largest = it->largest;
    it->host.largest = it->largest;
    maar_policy_resize(it->policy, resident->policy, now);
    return maar_pages_submit(it, NULL);
}

static VkResult resize_held(struct maar_residency* it, const char* call, MaarResident handle,
                            uint64_t count, MaarPoint* wait)
{
    struct maar_resident* resident = NULL;
    struct maar_array* array = NULL;
    VkDeviceSize least = 0;
    VkResult result = maar_resident_find(it, call, "resident", handle, &resident);
    if (result == VK_SUCCESS) {
        result = check_pinned(it, call, resident);
    }
    if (result == VK_SUCCESS) {
        result = maar_array_check(it->allocator, call, "array", resident->array, &array);
    }
    if (result == VK_SUCCESS) {
        result = maar_array_needs(array, call, count, &least);
    }
    if (result == VK_SUCCESS && least > resident->content_size) {
        it->device.is_refused = false;
        result = change_pages(it, call, resident, ample_size(it, array, resident, least));
    } else if (result == VK_SUCCESS && least < resident->content_size / 2) {
        const VkDeviceSize page = array->reservation.page_size;
        const VkDeviceSize size = maar_align_up(least > 0 ? least : 1, page);
        result = size < resident->content_size ? change_pages(it, call, resident, size) : result;
    }
    if (result == VK_SUCCESS) {
        array->count = count;
        *wait = it->bound;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarResizeResident(MaarAllocator allocator, MaarResidency residency,
                                                  MaarResident resident, uint64_t count,
                                                  MaarPoint* pWait)
{
    const struct maar_output outputs[] = {{"pWait", pWait, sizeof *pWait}, {0}};
    struct maar_residency* it = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_residency_enter(allocator, __func__, residency, &it);
    }
    if (result == VK_SUCCESS) {
        result = resize_held(it, __func__, resident, count, pWait);
        maar_residency_leave(it);
    }
    return result;
}
