/*
 * Records of movable objects: how they are made, held and ended. See movable.h.
 */
#include "core/objects/movable.h"

#include <string.h>

#include "core/bound_check.h"
#include "core/device_calls.h"
#include "core/host_memory.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/export_types.h"
#include "core/memory/moving_slot.h"
#include "core/memory/ordered_reuse.h"
#include "core/memory/range_free.h"
#include "core/objects/captured_object.h"

/* ---- what cannot be movable ---- */

static VkResult refuse_object(MaarAllocator allocator, const char* call, const char* what,
                              const char* why)
{
    return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "%s cannot be movable: %s", what, why);
}

/* Returns the name of a structure that programs chain to create infos, or "a structure". */
static const char* name_link(VkStructureType type)
{
    switch (type) {
    case VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO:
        return "VkExternalMemoryBufferCreateInfo";
    case VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO:
        return "VkExternalMemoryImageCreateInfo";
    case VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO:
        return "VkBufferOpaqueCaptureAddressCreateInfo";
    case VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT:
        return "VkImageDrmFormatModifierListCreateInfoEXT";
    case VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT:
        return "VkImageDrmFormatModifierExplicitCreateInfoEXT";
    case VK_STRUCTURE_TYPE_IMAGE_SWAPCHAIN_CREATE_INFO_KHR:
        return "VkImageSwapchainCreateInfoKHR";
    case VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT:
        return "VkImageCompressionControlEXT";
    default:
        return "a structure";
    }
}

/* Reports a structure of a chain that is not one of two known ones. */
static VkResult check_chain(MaarAllocator allocator, const char* call, const char* what,
                            const void* chain, VkStructureType known, VkStructureType also_known)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && (link->sType == known || link->sType == also_known)) {
        link = link->pNext;
    }
    if (link == NULL) {
        return VK_SUCCESS;
    }
    return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                     "%s cannot be movable: its chain has %s (sType %d), of which Maar keeps no "
                     "copy, so the object cannot be created anew",
                     what, name_link(link->sType), (int)link->sType);
}

/* Checks how a movable object is allocated. */
static VkResult check_allocation(MaarAllocator allocator, const char* call,
                                 const MaarAllocationCreateInfo* info)
{
    const MaarMovableFlags known = MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT;
    const MaarMovableFlags unknown = maar_find_movable(info)->flags & ~known;
    const MaarAllocationCreateFlags alias = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    const struct maar_rule rules[] = {
        {(info->flags & alias) != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo has both MaarMovableInfo and MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT, but a "
         "movable object has its memory for itself"},
        {maar_export_types(allocator, info) != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "pCreateInfo has MaarMovableInfo and asks for memory that can be exported, which does not "
         "move"},
        {0},
    };
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "MaarMovableInfo::flags has bits that are no MaarMovableFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {0},
    };
    return maar_check_rules_and_bounds(allocator, call, rules, bounds);
}

/* ---- creation ---- */

/* Makes a record with room for numbers. */
static VkResult make_movable(MaarAllocator allocator, const MaarAllocationCreateInfo* info,
                             size_t number_count, struct maar_movable** movable)
{
    struct maar_movable* made = maar_host_calloc(
        allocator->callbacks, 1, sizeof *made + number_count * sizeof made->numbers[0]);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->reference_count = 1;
    made->flags = maar_find_movable(info)->flags;
    *movable = made;
    return VK_SUCCESS;
}

/* Copies queue families, and returns where they are. */
static const uint32_t* keep_families(struct maar_movable* movable, VkSharingMode mode,
                                     const uint32_t* families, uint32_t* count)
{
    if (mode != VK_SHARING_MODE_CONCURRENT) {
        *count = 0;
        return NULL;
    }
    memcpy(movable->numbers, families, *count * sizeof *families);
    return movable->numbers;
}

static const VkFlags transfers =
    (VkFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT | (VkFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT;
static const VkImageUsageFlags image_transfers =
    (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
    (VkImageUsageFlags)VK_IMAGE_USAGE_TRANSFER_DST_BIT;

VkResult maar_movable_prepare_buffer(MaarAllocator allocator, const char* call,
                                     const VkBufferCreateInfo* buffer_info,
                                     const MaarAllocationCreateInfo* info,
                                     struct maar_movable** movable)
{
    static const char what[] = "pBufferInfo";
    const VkBufferCreateFlags flags = buffer_info->flags;
    VkResult result = check_allocation(allocator, call, info);
    if (result == VK_SUCCESS) {
        result = check_chain(allocator, call, what, buffer_info->pNext, VK_STRUCTURE_TYPE_MAX_ENUM,
                             VK_STRUCTURE_TYPE_MAX_ENUM);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((flags & VK_BUFFER_CREATE_PROTECTED_BIT) != 0) {
        return refuse_object(allocator, call, what, "it is protected");
    }
    if ((flags & VK_BUFFER_CREATE_DEVICE_ADDRESS_CAPTURE_REPLAY_BIT) != 0) {
        return refuse_object(allocator, call, what, "its address is captured for replay");
    }
    result = make_movable(allocator, info, buffer_info->queueFamilyIndexCount, movable);
    if (result == VK_SUCCESS) {
        VkBufferCreateInfo* kept = &(*movable)->buffer;
        *kept = *buffer_info;
        kept->usage |= transfers;
        kept->pQueueFamilyIndices =
            keep_families(*movable, kept->sharingMode, buffer_info->pQueueFamilyIndices,
                          &kept->queueFamilyIndexCount);
    }
    return result;
}

/* Returns why Vulkan cannot copy an image, or NULL. */
static const char* find_obstacle(const VkImageCreateInfo* info)
{
    if ((info->flags & VK_IMAGE_CREATE_PROTECTED_BIT) != 0) {
        return "it is protected";
    }
    if ((info->flags & VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT) != 0) {
        return "Vulkan does not copy subsampled images";
    }
    if ((info->flags & VK_IMAGE_CREATE_SPLIT_INSTANCE_BIND_REGIONS_BIT) != 0) {
        return "its parts are bound on several physical devices";
    }
    if ((info->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0) {
        return "Vulkan does not copy transient attachments";
    }
    if (maar_tiling_kind(info->tiling) == MAAR_RESOURCE_KIND_UNKNOWN) {
        return "the driver may choose another format modifier when it is created anew";
    }
    return NULL;
}

/* Asks the driver whether an image can have the usages that copies need. */
static VkResult ask_for_transfers(MaarAllocator allocator, const char* call,
                                  const VkImageCreateInfo* info)
{
    const struct maar_device* device = &allocator->device;
    const VkPhysicalDeviceImageFormatInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .format = info->format,
        .type = info->imageType,
        .tiling = info->tiling,
        .usage = info->usage | image_transfers,
        .flags = info->flags,
    };
    VkImageFormatProperties2 answer = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
    if ((info->usage & image_transfers) == image_transfers) {
        return VK_SUCCESS;
    }
    maar_lock_rank_expect_none();
    VkResult result = maar_require_functions(allocator, device, call, MAAR_FUNCTIONS_FORMATS);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_device_image_format(device, &question, &answer);
    if (result == VK_ERROR_FORMAT_NOT_SUPPORTED) {
        (void)refuse_object(allocator, call, "pImageInfo",
                            "the device does not support it with the usages TRANSFER_SRC and "
                            "TRANSFER_DST");
    }
    return result;
}

/* Copies the create info of an image, with its chain, into a record. */
static void keep_image(struct maar_movable* movable, const VkImageCreateInfo* info)
{
    VkImageCreateInfo* kept = &movable->image;
    const VkImageFormatListCreateInfo* formats =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    const VkImageStencilUsageCreateInfo* stencil =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    *kept = *info;
    kept->pNext = NULL;
    kept->usage |= image_transfers;
    kept->pQueueFamilyIndices = keep_families(movable, kept->sharingMode, info->pQueueFamilyIndices,
                                              &kept->queueFamilyIndexCount);
    if (formats != NULL) {
        VkFormat* list = (VkFormat*)(void*)&movable->numbers[kept->queueFamilyIndexCount];
        movable->formats = *formats;
        for (uint32_t i = 0; i < formats->viewFormatCount; ++i) {
            list[i] = formats->pViewFormats[i];
        }
        movable->formats.pNext = kept->pNext;
        movable->formats.pViewFormats = list;
        kept->pNext = &movable->formats;
    }
    if (stencil != NULL) {
        movable->stencil = *stencil;
        movable->stencil.stencilUsage |= image_transfers;
        movable->stencil.pNext = kept->pNext;
        kept->pNext = &movable->stencil;
    }
}

VkResult maar_movable_prepare_image(MaarAllocator allocator, const char* call,
                                    const VkImageCreateInfo* image_info,
                                    const MaarAllocationCreateInfo* info,
                                    struct maar_movable** movable)
{
    static const char what[] = "pImageInfo";
    const char* obstacle = find_obstacle(image_info);
    VkResult result = check_allocation(allocator, call, info);
    if (result == VK_SUCCESS && obstacle != NULL) {
        result = refuse_object(allocator, call, what, obstacle);
    }
    if (result == VK_SUCCESS) {
        result = check_chain(allocator, call, what, image_info->pNext,
                             VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
                             VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    }
    if (result == VK_SUCCESS) {
        result = ask_for_transfers(allocator, call, image_info);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkImageFormatListCreateInfo* formats =
        maar_chain_find(image_info->pNext, VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO);
    const size_t number_count = (size_t)image_info->queueFamilyIndexCount +
                                (formats != NULL ? formats->viewFormatCount : 0u);
    result = make_movable(allocator, info, number_count, movable);
    if (result == VK_SUCCESS) {
        keep_image(*movable, image_info);
    }
    return result;
}

/* Returns what keeps an object from moving for as long as it lives. */
static MaarMoveObstacle lasting_obstacle(const struct maar_movable* movable,
                                         const MaarMemoryRequest* request)
{
    const bool has_address =
        (movable->buffer.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    if (has_address && (movable->flags & MAAR_MOVABLE_ADDRESS_MAY_CHANGE_BIT) == 0) {
        return MAAR_MOVE_OBSTACLE_ADDRESS;
    }
    return request->requiresDedicated == VK_TRUE ? MAAR_MOVE_OBSTACLE_DEDICATED
                                                 : MAAR_MOVE_OBSTACLE_NONE;
}

VkResult maar_movable_publish(MaarAllocator allocator, struct maar_movable* movable,
                              struct maar_object object, MaarAllocation* allocation)
{
    const uint32_t index = maar_slot_index(*allocation);
    struct maar_slot* slot = maar_slot_of_own(allocator, *allocation);
    const VkResult result =
        maar_slot_record_reserve(&allocator->movables, allocator->callbacks, index);
    if (result != VK_SUCCESS) {
        maar_discard_object(allocator, object);
        maar_undo_allocation(allocator, *allocation);
        maar_host_free(allocator->callbacks, movable);
        *allocation = VK_NULL_HANDLE;
        return result;
    }
    MaarMemoryRequest request;
    if (object.buffer != VK_NULL_HANDLE) {
        maar_buffer_request(allocator, object.buffer, &request);
    } else {
        maar_image_request(allocator, object.image, MAAR_RESOURCE_KIND_UNKNOWN, 0, &request);
        /* The copies of a move write the whole image, whatever the first one contained. */
        movable->image.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    }
    movable->object = object;
    movable->needs = request.requirements;
    maar_slot_record_put(&allocator->movables, index, movable,
                         (uint32_t)lasting_obstacle(movable, &request));
    /* A run that empties blocks may look at the slot already. */
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    slot->owned = true;
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return VK_SUCCESS;
}

/* ---- moves ---- */

/* Returns the record of a live allocation, or NULL. Under the list lock. */
static struct maar_movable* record_of(MaarAllocator allocator, uint64_t handle)
{
    const uint32_t index = (uint32_t)handle - 1u;
    const struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    return maar_key_read(&slot->key) == handle >> 32
               ? maar_slot_record_of(&allocator->movables, index)
               : NULL;
}

bool maar_movable_needs(MaarAllocator allocator, uint64_t handle, VkMemoryRequirements* needs)
{
    maar_mutex_lock(&allocator->list_lock);
    const struct maar_movable* movable = record_of(allocator, handle);
    if (movable != NULL) {
        *needs = movable->needs;
    }
    maar_mutex_unlock(&allocator->list_lock);
    return movable != NULL;
}

struct maar_movable* maar_movable_hold(MaarAllocator allocator, uint64_t handle,
                                       struct maar_object* object)
{
    maar_mutex_lock(&allocator->list_lock);
    struct maar_movable* movable = record_of(allocator, handle);
    if (movable != NULL) {
        ++movable->reference_count;
        *object = movable->object;
    }
    maar_mutex_unlock(&allocator->list_lock);
    return movable;
}

VkResult maar_movable_create(MaarAllocator allocator, const char* call,
                             const struct maar_movable* movable, struct maar_object* object)
{
    const struct maar_device* device = &allocator->device;
    const bool is_buffer = movable->buffer.sType == VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    struct maar_object made = {0};
    maar_lock_rank_expect_none();
    const VkResult result = is_buffer ? device->vkCreateBuffer(device->handle, &movable->buffer,
                                                               device->callbacks, &made.buffer)
                                      : device->vkCreateImage(device->handle, &movable->image,
                                                              device->callbacks, &made.image);
    if (result != VK_SUCCESS) {
        maar_report_no_object(allocator, call, is_buffer ? "buffer" : "image", result);
        return result;
    }
    *object = made;
    return VK_SUCCESS;
}

void maar_movable_release(MaarAllocator allocator, struct maar_movable* movable)
{
    maar_mutex_lock(&allocator->list_lock);
    const bool is_last = --movable->reference_count == 0;
    maar_mutex_unlock(&allocator->list_lock);
    if (is_last) {
        maar_discard_object(allocator, movable->object);
        maar_host_free(allocator->callbacks, movable);
    }
}

/* ---- destruction ---- */

static bool is_same(struct maar_object one, struct maar_object other)
{
    return one.buffer == other.buffer && one.image == other.image;
}

/* Whether a caller may mean the object of a record. */
static bool is_meant(const struct maar_movable* movable, struct maar_object object)
{
    return (object.buffer == VK_NULL_HANDLE && object.image == VK_NULL_HANDLE) ||
           is_same(object, movable->object) || is_same(object, movable->previous);
}

/* Claims a movable allocation and takes its record. Returns NULL, and sets *is_other, if the caller
 * names another object, or if the allocation was freed. The claim and the end of a move exclude
 * each other by the list lock. */
static struct maar_movable* claim_record(MaarAllocator allocator, struct maar_slot* slot,
                                         struct maar_object object, MaarAllocation allocation,
                                         enum maar_claim* claim, bool* is_other)
{
    const uint64_t handle = MAAR_TO_BITS(allocation);
    *claim = MAAR_CLAIM_LOST;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_movable* movable = record_of(allocator, handle);
    *is_other = movable != NULL && !is_meant(movable, object);
    if (movable != NULL && !*is_other) {
        *claim = maar_slot_claim_moving(slot, handle);
    }
    if (*claim != MAAR_CLAIM_LOST) {
        (void)maar_slot_record_take(&allocator->movables, maar_slot_index(allocation));
    }
    maar_mutex_unlock(&allocator->list_lock);
    return *claim != MAAR_CLAIM_LOST ? movable : NULL;
}

static void release_later(MaarAllocator allocator, const struct maar_retire_item* item)
{
    maar_movable_release(allocator, (struct maar_movable*)(uintptr_t)item->object);
}

VkResult maar_movable_destroy(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                              struct maar_object object, MaarAllocation allocation,
                              uint32_t point_count, const MaarPoint* points)
{
    const uint32_t index = maar_slot_index(allocation);
    struct maar_retire_item* item = NULL;
    enum maar_claim claim = MAAR_CLAIM_LOST;
    bool is_other = false;
    if (point_count > 0) {
        item = maar_retire_prepare(&allocator->retire, point_count, points);
        if (item == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    struct maar_movable* movable =
        claim_record(allocator, slot, object, allocation, &claim, &is_other);
    if (movable == NULL) {
        if (item != NULL) {
            maar_retire_discard(&allocator->retire, item);
        }
        return is_other ? maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                                      "the object is not the one of the allocation, which is "
                                      "movable; maarGetMovableObject returns that one")
                        : maar_refuse_late_free(allocator, call);
    }
    if (item == NULL) {
        maar_movable_release(allocator, movable);
        maar_release_claimed(allocator, slot, index, claim);
        return VK_SUCCESS;
    }
    item->action = release_later;
    item->object = (uint64_t)(uintptr_t)movable;
    maar_slot_retire(allocator, slot, index, item);
    maar_ordered_note_free(allocator, slot, index, item, claim);
    maar_retire_queue(&allocator->retire, item);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetMovableObject(MaarAllocator allocator,
                                                    MaarAllocation allocation, VkBuffer* pBuffer,
                                                    VkImage* pImage)
{
    struct maar_object object = {0};
    if (pBuffer != NULL) {
        *pBuffer = VK_NULL_HANDLE;
    }
    if (pImage != NULL) {
        *pImage = VK_NULL_HANDLE;
    }
    const VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (maar_resolve(allocator, __func__, allocation, NULL) == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    maar_mutex_lock(&allocator->list_lock);
    const struct maar_movable* movable = record_of(allocator, MAAR_TO_BITS(allocation));
    if (movable != NULL) {
        object = movable->object;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (movable == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, __func__,
                           "allocation is not that of a movable object");
    }
    if (pBuffer != NULL) {
        *pBuffer = object.buffer;
    }
    if (pImage != NULL) {
        *pImage = object.image;
    }
    return VK_SUCCESS;
}
