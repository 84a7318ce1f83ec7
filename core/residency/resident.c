/*
 * Creates and destroys residents, and answers questions about them.
 */
#include "core/residency/residency_tiers.h"

#include <string.h>

#include "core/bound_check.h"
#include "core/device_calls.h"
#include "core/memory/allocator_state.h"
#include "core/objects/image_planes.h"
#include "core/residency/open_checkpoint.h"
#include "core/residency/policy_order.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_update.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_copy.h"
#include "core/residency/resident_pages.h"

/* ---- checks ---- */

static VkResult check_resident_info(struct maar_residency* it, const char* call,
                                    const MaarResidentCreateInfo* info)
{
    const MaarResidentCreateFlags known =
        (MaarResidentCreateFlags)MAAR_RESIDENT_CREATE_DISCARDABLE_BIT |
        (MaarResidentCreateFlags)MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT |
        (MaarResidentCreateFlags)MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT |
        (MaarResidentCreateFlags)MAAR_RESIDENT_CREATE_STITCHED_BIT;
    VkResult result = maar_check_structure(it->allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const int objects = (info->pBufferInfo != NULL) + (info->pImageInfo != NULL) +
                        (info->reservation != VK_NULL_HANDLE) +
                        (info->sparseImage != VK_NULL_HANDLE) + (info->array != VK_NULL_HANDLE);
    const struct maar_rule rules[] = {
        {objects != 1, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo has none or several of pBufferInfo, pImageInfo, reservation, sparseImage "
         "and array"},
        {(info->flags & MAAR_RESIDENT_CREATE_STITCHED_BIT) != 0 && info->pBufferInfo == NULL,
         MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo->flags has MAAR_RESIDENT_CREATE_STITCHED_BIT without pBufferInfo"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {(info->flags & ~known) != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pCreateInfo->flags has bits that are no MaarResidentCreateFlagBits",
         MAAR_SHOW_BITS(info->flags & ~known)},
        {info->priorityClass >= MAAR_POLICY_CLASSES, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->priorityClass is above 7",
         MAAR_SHOW_LIMIT(info->priorityClass, MAAR_POLICY_CLASSES - 1)},
        {0},
    };
    result = maar_check_rules_and_bounds(it->allocator, call, rules, bounds);
    if (result == VK_SUCCESS && info->pBufferInfo != NULL) {
        result = maar_check_buffer_info(it->allocator, call, info->pBufferInfo);
    } else if (result == VK_SUCCESS && info->pImageInfo != NULL) {
        result = maar_check_image_info(it->allocator, call, info->pImageInfo,
                                       "pCreateInfo->pImageInfo is disjoint, and residents have "
                                       "one allocation each");
    }
    return result;
}

static VkResult refuse_resident(struct maar_residency* it, const char* call, VkResult result,
                                const char* why)
{
    return maar_fail(it->allocator, result, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "pCreateInfo describes an object that cannot be a resident: %s", why);
}

/* Checks what the record allows. */
static VkResult check_copies(struct maar_residency* it, const char* call,
                             const struct maar_resident* resident)
{
    const VkBufferUsageFlags address = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const struct maar_movable* record = resident->record;
    const bool is_discardable = (resident->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) != 0;
    if (maar_resident_is_paged(resident)) {
        return VK_SUCCESS;
    }
    if ((record->buffer.usage & address) != 0 &&
        (resident->flags & MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT) == 0) {
        return refuse_resident(it, call, VK_ERROR_FEATURE_NOT_PRESENT,
                               "its device address changes, which "
                               "MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT has not allowed");
    }
    if (record->image.sType != VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO || is_discardable) {
        return VK_SUCCESS;
    }
    if (!maar_is_copied_image(&record->image)) {
        return refuse_resident(
            it, call, VK_ERROR_FORMAT_NOT_SUPPORTED,
            "an image of several samples or planes, or of a format whose texels Maar "
            "does not know, is copied to no buffer; make it discardable");
    }
    if (maar_image_is_graphical(record->image.format) &&
        (it->queue_flags & VK_QUEUE_GRAPHICS_BIT) == 0) {
        return refuse_resident(
            it, call, VK_ERROR_FEATURE_NOT_PRESENT,
            "it has a depth or stencil aspect, which only queues that do graphics copy");
    }
    return VK_SUCCESS;
}

/* ---- creation ---- */

static VkResult keep_record(struct maar_residency* it, const char* call,
                            const MaarResidentCreateInfo* info, struct maar_resident* resident)
{
    MaarAllocator allocator = it->allocator;
    const MaarMovableInfo movable = {
        .sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO,
        .flags = MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT,
    };
    const MaarAllocationCreateInfo allocation = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &movable,
    };
    VkResult result = VK_SUCCESS;
    if ((info->flags & MAAR_RESIDENT_CREATE_STITCHED_BIT) != 0) {
        result = maar_pages_keep_stitched(it, call, info, resident);
    } else if (info->pBufferInfo != NULL) {
        result = maar_movable_prepare_buffer(allocator, call, info->pBufferInfo, &allocation,
                                             &resident->record);
        if (result == VK_SUCCESS) {
            resident->content_size = info->pBufferInfo->size;
            result =
                maar_buffer_info_request(allocator, &resident->record->buffer, &resident->request);
        }
    } else if (info->reservation != VK_NULL_HANDLE) {
        result = maar_pages_keep_range(it, call, info, resident);
    } else if (info->array != VK_NULL_HANDLE) {
        result = maar_pages_keep_array(it, call, info, resident);
    } else if (info->sparseImage != VK_NULL_HANDLE) {
        result = maar_pages_keep_image(it, call, info, resident);
    } else {
        result = maar_movable_prepare_image(allocator, call, info->pImageInfo, &allocation,
                                            &resident->record);
        if (result == VK_SUCCESS) {
            resident->kind = MAAR_RESIDENT_IMAGE;
            resident->record->image.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
            /* What cannot be copied is discardable, and its host object is never made. */
            resident->content_size = maar_is_copied_image(&resident->record->image)
                                         ? maar_content_size(&resident->record->image)
                                         : 1;
            result =
                maar_image_info_request(allocator, &resident->record->image, &resident->request);
        }
    }
    return result;
}

static VkResult choose_tier_types(struct maar_residency* it, const char* call,
                                  struct maar_resident* resident)
{
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const MaarAllocationCreateInfo device = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
    };
    const MaarAllocationCreateInfo host = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = MAAR_MEMORY_USAGE_READBACK,
        .requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
    };
    VkResult result = VK_SUCCESS;
    if (!maar_resident_is_paged(resident)) {
        result = maarChooseMemoryType(it->allocator, resident->request.requirements.memoryTypeBits,
                                      &device, &choice);
        resident->device_type = choice.memoryTypeIndex;
    }
    if (result == VK_SUCCESS) {
        result = maarChooseMemoryType(
            it->allocator, resident->host_request.requirements.memoryTypeBits, &host, &choice);
        resident->host_type = choice.memoryTypeIndex;
    }
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        (void)refuse_resident(it, call, result, "no memory type that the host can map serves it");
    }
    return result;
}

static VkResult check_size(struct maar_residency* it, const char* call,
                           const struct maar_resident* resident)
{
    const VkDeviceSize size = resident->request.requirements.size;
    const VkDeviceSize copy = resident->host_request.requirements.size;
    const bool is_discardable = (resident->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) != 0;
    if (size > it->device.budget) {
        return maar_fail(it->allocator, VK_ERROR_OUT_OF_POOL_MEMORY,
                         MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, call,
                         "the resident takes %s, and the budget of the device has %s",
                         maar_show_bytes(size).text, maar_show_bytes(it->device.budget).text);
    }
    if (!is_discardable && copy > it->host.budget / 2) {
        return maar_fail(it->allocator, VK_ERROR_OUT_OF_POOL_MEMORY,
                         MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, call,
                         "a copy of the resident takes %s, and the budget of host memory, %s, does "
                         "not hold two of them",
                         maar_show_bytes(copy).text, maar_show_bytes(it->host.budget).text);
    }
    return VK_SUCCESS;
}

/* Ensures that arrays by residents have room for one more. */
static bool reserve_resident(struct maar_residency* it)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    const uint32_t needed = it->resident_count + 1;
    struct {
        uint32_t** array;
        uint32_t* capacity;
    } arrays[] = {{&it->victims, &it->victims_capacity},
                  {&it->missing, &it->missing_capacity},
                  {&it->scratch, &it->scratch_capacity},
                  {&it->by_policy, &it->by_policy_capacity}};
    struct maar_resident* residents = maar_host_grow(
        callbacks, it->residents, &it->resident_capacity, needed, sizeof residents[0]);
    it->residents = residents != NULL ? residents : it->residents;
    bool is_there = residents != NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && is_there; ++i) {
        uint32_t* grown = maar_host_grow(callbacks, *arrays[i].array, arrays[i].capacity, needed,
                                         sizeof grown[0]);
        *arrays[i].array = grown != NULL ? grown : *arrays[i].array;
        is_there = grown != NULL;
    }
    return is_there;
}

/* Puts a resident into the table. Returns NULL if there is no host memory. */
static struct maar_resident* list_resident(struct maar_residency* it,
                                           const struct maar_resident* made)
{
    if (!reserve_resident(it)) {
        return NULL;
    }
    const uint32_t policy =
        maar_policy_add(it->policy, made->request.requirements.size, made->priority_class);
    if (policy == MAAR_NO_OBJECT) {
        return NULL;
    }
    const bool is_reused = it->first_free != MAAR_NO_OBJECT;
    const uint32_t number = is_reused ? it->first_free : it->resident_count;
    struct maar_resident* resident = &it->residents[number];
    const uint32_t generation = resident->generation;
    it->first_free = is_reused ? resident->next_free : it->first_free;
    it->resident_count += is_reused ? 0 : 1;
    *resident = *made;
    resident->generation = generation + 1;
    resident->policy = policy;
    /* The policy numbers objects as the table does: at most one for each. */
    MAAR_ASSERT(it->allocator, policy < it->by_policy_capacity);
    it->by_policy[policy] = number;
    return resident;
}

static VkResult create_held(struct maar_residency* it, const char* call,
                            const MaarResidentCreateInfo* info, MaarResident* handle)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    VkResult result = check_resident_info(it, call, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_resident made = {
        .flags = info->flags,
        .priority_class = info->priorityClass,
        .read = info->pfnRead,
        .read_data = info->pSourceUserData,
        .key = info->key,
        .user_data = info->pUserData,
        .valid = info->pfnRead != NULL ? MAAR_VALID_IN(MAAR_TIER_SOURCE) : 0,
        .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .next_free = MAAR_NO_OBJECT,
        .prefetch_next = MAAR_NO_OBJECT,
    };
    struct maar_resident* resident = NULL;
    result = keep_record(it, call, info, &made);
    if (result == VK_SUCCESS &&
        maar_checkpoint_has(info->checkpoint, made.key, made.content_size)) {
        made.checkpoint = info->checkpoint;
        made.valid = MAAR_VALID_IN(MAAR_TIER_SOURCE);
    }
    made.array_size = made.valid != 0 ? made.content_size : 0;
    result = result == VK_SUCCESS ? check_copies(it, call, &made) : result;
    result = result == VK_SUCCESS ? maar_host_object_ask(it, &made, &made.host_request) : result;
    result = result == VK_SUCCESS ? choose_tier_types(it, call, &made) : result;
    result = result == VK_SUCCESS ? check_size(it, call, &made) : result;
    if (result == VK_SUCCESS && info->pName != NULL) {
        made.name = maar_copy_string(callbacks, info->pName);
        result = made.name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        resident = list_resident(it, &made);
        result = resident != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != VK_SUCCESS) {
        maar_pages_discard(it, &made);
        maar_host_free(callbacks, made.name);
        maar_host_free(callbacks, made.record);
        return result;
    }
    const VkDeviceSize size = made.request.requirements.size > made.host_request.requirements.size
                                  ? made.request.requirements.size
                                  : made.host_request.requirements.size;
    it->largest = size > it->largest ? size : it->largest;
    it->device.largest = it->largest;
    it->host.largest = it->largest;
    maar_pages_own(it, resident);
    maar_table_add(it, resident);
    *handle = maar_resident_handle(it, resident);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateResident(MaarAllocator allocator, MaarResidency residency,
                                                  const MaarResidentCreateInfo* pCreateInfo,
                                                  MaarResident* pResident)
{
    const struct maar_output outputs[] = {{"pResident", pResident, sizeof *pResident}, {0}};
    struct maar_residency* it = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_residency_enter(allocator, __func__, residency, &it);
    }
    if (result == VK_SUCCESS) {
        result = create_held(it, __func__, pCreateInfo, pResident);
        maar_residency_leave(it);
    }
    return result;
}

/* ---- the end ---- */

void maar_resident_end(struct maar_residency* it, const char* call, struct maar_resident* resident)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    maar_work_forget(it, resident);
    maar_prefetch_forget(it, resident);
    maar_packed_end(it, resident);
    maar_file_end(it, resident);
    /* Without host memory for a pending free, the objects wait for their points here. */
    if (maar_host_object_end(it, call, resident) != VK_SUCCESS ||
        (resident->has_object && maar_device_object_end(it, call, resident) != VK_SUCCESS)) {
        maar_resident_wait(it, resident);
        (void)maar_host_object_end(it, call, resident);
        if (resident->has_object) {
            (void)maar_device_object_end(it, call, resident);
        }
    }
    maar_pages_leave(it, resident);
    maar_table_remove(it, resident);
    maar_policy_remove(it->policy, resident->policy);
    maar_host_free(callbacks, resident->name);
    maar_host_free(callbacks, resident->record);
    const uint32_t generation = resident->generation;
    *resident = (struct maar_resident){.generation = generation + 1, .next_free = it->first_free};
    it->first_free = maar_resident_number(it, resident);
}

VKAPI_ATTR void VKAPI_CALL maarDestroyResident(MaarAllocator allocator, MaarResidency residency,
                                               MaarResident resident)
{
    struct maar_residency* it = NULL;
    struct maar_resident* own = NULL;
    if (allocator == NULL || resident == VK_NULL_HANDLE ||
        maar_residency_enter(allocator, __func__, residency, &it) != VK_SUCCESS) {
        return;
    }
    const VkResult found = maar_resident_find(it, __func__, "resident", resident, &own);
    if (found == VK_SUCCESS && own->pin_count > 0) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_USE_NOT_ENDED, __func__,
                          "resident is pinned by a use that has neither ended nor been cancelled");
    } else if (found == VK_SUCCESS) {
        maar_resident_end(it, __func__, own);
        (void)maar_pages_submit(it, NULL);
    }
    maar_residency_leave(it);
}

/* ---- questions ---- */

static void answer_resident(const struct maar_resident* own, MaarResidentInfo* info)
{
    const bool is_demoted = own->is_demoted;
    const bool has_contents =
        maar_resident_has(own, is_demoted ? MAAR_TIER_HOST : MAAR_TIER_DEVICE);
    *info = (MaarResidentInfo){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO,
        .pNext = info->pNext,
        .object = {.buffer = is_demoted ? own->host_buffer : own->object.buffer,
                   .image = own->object.image,
                   .address = own->address,
                   .epoch = own->epoch,
                   .layout = has_contents ? own->layout : VK_IMAGE_LAYOUT_UNDEFINED,
                   .tier = is_demoted        ? MAAR_TIER_HOST
                           : own->has_object ? MAAR_TIER_DEVICE
                                             : MAAR_TIER_NONE,
                   .isFresh = has_contents ? VK_FALSE : VK_TRUE},
        .tier = maar_resident_tier(own),
        .size = own->request.requirements.size,
        .contentSize = own->content_size,
        .compressedSize = own->packed_size,
        .pinCount = own->pin_count + own->lock_count,
        .priorityClass = own->priority_class,
        .pUserData = own->user_data,
    };
    for (uint32_t tier = MAAR_TIER_DEVICE; tier < MAAR_TIER_COUNT; ++tier) {
        info->tierBits |= maar_resident_has(own, tier) ? 1u << tier : 0;
    }
    info->tierBits |= maar_resident_has(own, MAAR_TIER_SOURCE) ? 1u << MAAR_TIER_FILE : 0;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetResidentInfo(MaarAllocator allocator, MaarResidency residency,
                                                   MaarResident resident, MaarResidentInfo* pInfo)
{
    struct maar_residency* it = NULL;
    struct maar_resident* own = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_resident_find(it, __func__, "resident", resident, &own);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_RESIDENT_INFO);
    }
    if (result == VK_SUCCESS) {
        answer_resident(own, pInfo);
    }
    maar_residency_leave(it);
    return result;
}
