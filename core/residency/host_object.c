/*
 * Host objects: the copies of residents in host memory that the device can read. See
 * host_object.h.
 *
 * When the budget has no room, the copies that were used longest ago go first: those whose contents
 * are valid elsewhere. If all others are the only copies, work is queued that brings some of them
 * to a lower tier.
 */
#include "core/residency/host_object.h"

#include "core/memory/allocator_state.h"
#include "core/objects/buffer.h"
#include "core/objects/captured_object.h"
#include "core/residency/policy_order.h"
#include "core/residency/read_check.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_valid.h"

void maar_host_object_touch(struct maar_residency* it, struct maar_resident* resident)
{
    if (resident->host_buffer != VK_NULL_HANDLE &&
        it->lists[MAAR_LIST_HOST].newest != maar_resident_number(it, resident)) {
        maar_resident_unlink(it, resident, MAAR_LIST_HOST);
        maar_resident_append(it, resident, MAAR_LIST_HOST);
    }
}

/* ---- room ---- */

/* A call that wanted a host object is expected again for so many calls. */
enum { STAGED_CALLS = 4 };

/* Whether a host object may go: a use, a piece of work or an expected call needs it otherwise. */
static bool may_go(struct maar_residency* it, const struct maar_resident* resident)
{
    const bool is_expected =
        resident->staged != 0 && !it->is_patient && it->serial - resident->staged < STAGED_CALLS;
    /* What a use wants and the device has already needs no copy to be restored from. */
    const bool is_wanted = resident->is_wanted && !maar_resident_has(resident, MAAR_TIER_DEVICE);
    it->has_expected = it->has_expected || is_expected;
    return resident->work == NULL && !resident->is_demoted && !is_wanted && !resident->is_saved &&
           !is_expected;
}

/* Ends host objects whose contents are valid elsewhere, until the live bytes are at most `most`. */
static VkResult drop_copies(struct maar_residency* it, const char* call, VkDeviceSize most)
{
    static const uint32_t lower = MAAR_VALID_IN(MAAR_TIER_COMPRESSED) |
                                  MAAR_VALID_IN(MAAR_TIER_FILE) | MAAR_VALID_IN(MAAR_TIER_SOURCE);
    VkResult result = VK_SUCCESS;
    it->has_expected = false;
    for (uint32_t pass = 0; pass < 2; ++pass) {
        const uint32_t elsewhere = pass == 0 ? lower : MAAR_VALID_IN(MAAR_TIER_DEVICE);
        uint32_t at = it->lists[MAAR_LIST_HOST].oldest;
        while (at != MAAR_NO_OBJECT && it->host.live > most && result == VK_SUCCESS) {
            struct maar_resident* resident = &it->residents[at];
            at = resident->links[MAAR_LIST_HOST].newer;
            if (may_go(it, resident) && (resident->valid & elsewhere) != 0) {
                result = maar_host_object_end(it, call, resident);
                if (result == VK_SUCCESS) {
                    maar_residency_note(it, resident, MAAR_TIER_HOST, maar_resident_tier(resident),
                                        MAAR_RESIDENCY_REASON_ROOM, 0);
                }
            }
        }
    }
    return result;
}

VkResult maar_host_object_yield(struct maar_residency* it, const char* call, VkDeviceSize size)
{
    return drop_copies(it, call, it->host.live > size ? it->host.live - size : 0);
}

/* Makes room for bytes in host memory. */
static VkResult make_host_room(struct maar_residency* it, const char* call, VkDeviceSize size,
                               VkDeviceSize reserve)
{
    const VkDeviceSize budget = it->host.budget > reserve ? it->host.budget - reserve : 0;
    const VkDeviceSize most = budget > size ? budget - size : 0;
    VkResult result = VK_SUCCESS;
    if (it->host.live > most) {
        result = drop_copies(it, call, most);
    }
    if (result != VK_SUCCESS || (it->host.live <= most && size <= budget)) {
        return result;
    }
    return maar_work_lower(it, it->host.live - most) || it->has_expected
               ? VK_NOT_READY
               : VK_ERROR_OUT_OF_POOL_MEMORY;
}

VkResult maar_host_follow_budget(struct maar_residency* it, const char* call)
{
    const VkResult result = make_host_room(it, call, 0, 0);
    if (maar_tier_memory_bytes(&it->host) > it->host.budget) {
        (void)maar_tier_memory_trim(&it->host);
    }
    return result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
}

/* ---- objects ---- */

const VkBufferCreateInfo* maar_host_object_info(const struct maar_resident* resident,
                                                VkBufferCreateInfo* plain)
{
    *plain = (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = resident->content_size,
        .usage = (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    return resident->kind == MAAR_RESIDENT_BUFFER ? &resident->record->buffer : plain;
}

VkResult maar_host_object_ask(struct maar_residency* it, const struct maar_resident* resident,
                              MaarMemoryRequest* request)
{
    VkBufferCreateInfo plain;
    return maar_buffer_info_request(it->allocator, maar_host_object_info(resident, &plain),
                                    request);
}

static VkResult create_host_buffer(const struct maar_residency* it,
                                   const struct maar_resident* resident, VkBuffer* buffer)
{
    const struct maar_device* device = &it->allocator->device;
    VkBufferCreateInfo plain;
    const VkBufferCreateInfo* info = maar_host_object_info(resident, &plain);
    maar_lock_rank_expect_none();
    const VkResult result = device->vkCreateBuffer(device->handle, info, device->callbacks, buffer);
    if (result != VK_SUCCESS) {
        *buffer = VK_NULL_HANDLE;
    }
    return result;
}

/* Creates the host object and places it, without making room. */
static VkResult place_host(struct maar_residency* it, const char* call,
                           struct maar_resident* resident, struct maar_copy_waits* waits)
{
    struct maar_tier_place place = {
        .request = resident->host_request,
        .name = resident->name,
        .type = resident->host_type,
        .is_mapped = true,
        .wait_capacity = MAAR_MAX_POINTS + 1,
        .waits = waits != NULL ? waits->points : NULL,
        .wait_count = waits != NULL ? &waits->count : NULL,
    };
    struct maar_object object = {.buffer = VK_NULL_HANDLE};
    VkResult result = create_host_buffer(it, resident, &object.buffer);
    if (result == VK_SUCCESS) {
        VkBufferCreateInfo plain;
        maar_capture_buffer(it->allocator, object.buffer, maar_host_object_info(resident, &plain),
                            &place.request);
        result =
            maar_tier_memory_place(&it->host, call, object, &place, &resident->host_allocation);
    }
    if (result == VK_SUCCESS) {
        resident->host_buffer = object.buffer;
        resident->host_data = maarGetMappedData(it->allocator, resident->host_allocation);
        resident->host_ready = 0;
        maar_resident_append(it, resident, MAAR_LIST_HOST);
        MAAR_ASSERT(it->allocator, resident->host_data != NULL);
    }
    return result;
}

static VkResult make_host_object(struct maar_residency* it, const char* call,
                                 struct maar_resident* resident, VkDeviceSize reserve,
                                 struct maar_copy_waits* waits)
{
    const VkDeviceSize size = resident->host_request.requirements.size;
    VkResult result = make_host_room(it, call, size, reserve);
    bool is_free = false; /* nothing waits for its points */
    while (result == VK_SUCCESS) {
        result = place_host(it, call, resident, waits);
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
        /* The free bytes lie in pieces, or what left them has not ended: more must go. */
        const VkDeviceSize before = it->host.live;
        const VkDeviceSize held = maar_tier_memory_bytes(&it->host);
        const bool has_shrunk = maar_tier_memory_trim(&it->host) < held;
        result = drop_copies(it, call, before > size ? before - size : 0);
        if (result == VK_SUCCESS && it->host.live == before && !has_shrunk) {
            const bool is_coming = it->has_expected || maar_tier_memory_is_pending(&it->host) ||
                                   maar_work_lower(it, size);
            if (is_coming || is_free) {
                result = is_coming ? VK_NOT_READY : VK_ERROR_OUT_OF_POOL_MEMORY;
            }
            /* Another thread may have collected it after the attempt. */
            is_free = true;
        }
    }
    return result;
}

VkResult maar_host_object_make(struct maar_residency* it, const char* call,
                               struct maar_resident* resident, VkDeviceSize reserve,
                               struct maar_copy_waits* waits)
{
    const VkResult result = make_host_object(it, call, resident, reserve, waits);
    it->host_is_full = it->host_is_full || result == VK_ERROR_OUT_OF_POOL_MEMORY;
    return result;
}

void maar_host_object_leave(struct maar_residency* it, struct maar_resident* resident)
{
    maar_resident_unlink(it, resident, MAAR_LIST_HOST);
    resident->host_buffer = VK_NULL_HANDLE;
    resident->host_allocation = VK_NULL_HANDLE;
    resident->host_data = NULL;
    resident->staged = 0;
    maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(MAAR_TIER_HOST));
}

VkResult maar_host_object_end(struct maar_residency* it, const char* call,
                              struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    const struct maar_object object = {.buffer = resident->host_buffer};
    if (resident->host_buffer == VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    maar_reads_note(it, resident);
    const uint32_t count = maar_resident_points(it, resident, points);
    const VkResult result =
        maar_tier_memory_remove(&it->host, call, object, resident->host_allocation,
                                resident->host_request.requirements.size, count, points);
    if (result == VK_SUCCESS) {
        maar_host_object_leave(it, resident);
    }
    return result;
}
