/*
 * Reservations: address ranges of buffers, in which pages are committed and given back. Where
 * buffers can be sparse, a reservation is one buffer and a page table. Elsewhere it grows by
 * copies.
 *
 * All that is needed to destroy a reservation is made with it, so that destroying cannot fail: an
 * item of the retire queue, which waits for the caller's points and for the last submission that
 * names the reservation.
 */

#include "core/chain.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocator_state.h"
#include "core/objects/object.h"
#include "core/paging/page_table.h"
#include "core/paging/paging_info.h"
#include "core/paging/paging_open.h"
#include "core/reservation/page_uses.h"
#include "core/reservation/reservation_copy.h"
#include "core/reservation/reservation_sparse.h"
#include "core/time/retire_collect.h"

#define KNOWN_RESERVATION_FLAGS                                                                    \
    ((MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_ALIASED_BIT |                             \
     (MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT |                         \
     (MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_COPYING_BIT |                             \
     (MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_MAPPED_BIT)

/* Flags that need a sparse reservation. */
#define SPARSE_FLAGS                                                                               \
    ((MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_ALIASED_BIT |                             \
     (MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT)

static bool is_external(const void* chain)
{
    const VkExternalMemoryBufferCreateInfo* external =
        maar_chain_find(chain, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    return external != NULL && external->handleTypes != 0;
}

/* What the fields of a reservation's create info are called in messages. */
struct create_names {
    const char* info;
    const char* buffer_info;
    const char* memory_info;
};

static const struct create_names names_of_reservation = {
    .info = "pCreateInfo",
    .buffer_info = "pCreateInfo->pBufferInfo",
    .memory_info = "pCreateInfo->pMemoryInfo",
};
static const struct create_names names_of_array = {
    .info = "pCreateInfo->reservation.",
    .buffer_info = "pCreateInfo->reservation.pBufferInfo",
    .memory_info = "pCreateInfo->reservation.pMemoryInfo",
};

static VkResult check_reservation_info(MaarAllocator allocator, const char* call,
                                       const struct create_names* names,
                                       const MaarReservationCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, names->info, info,
                                           MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, names->buffer_info, info->pBufferInfo,
                                      VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    }
    if (result == VK_SUCCESS) {
        result = maar_pages_check_memory(allocator, call, names->memory_info, info->pMemoryInfo);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkBufferCreateInfo* buffer = info->pBufferInfo;
    const bool copying = (info->flags & MAAR_RESERVATION_CREATE_COPYING_BIT) != 0;
    const bool has_address = (buffer->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    const bool concurrent = buffer->sharingMode == VK_SHARING_MODE_CONCURRENT;
    const struct maar_rule rules[] = {
        {copying && (info->flags & SPARSE_FLAGS) != 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS,
         "flags requests growth by copies and something that only sparse binding does"},
        {buffer->size == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pBufferInfo->size is 0"},
        {!maar_buffer_has_usage(buffer), MAAR_MESSAGE_ID_EMPTY_FLAGS, "pBufferInfo->usage is 0"},
        {has_address && !allocator->device.facts.buffer_device_address,
         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
         "pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the allocator was created without "
         "bufferDeviceAddress in its features: name it in "
         "MaarAllocatorCreateInfo::pEnabledFeatures "
         "if the device has it enabled"},
        {concurrent && buffer->queueFamilyIndexCount > 0 && buffer->pQueueFamilyIndices == NULL,
         MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBufferInfo->pQueueFamilyIndices is NULL"},
        {is_external(buffer->pNext), MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED,
         "pBufferInfo->pNext has VkExternalMemoryBufferCreateInfo: memory whose pages come and go "
         "is never exported or imported"},
        {0},
    };
    const MaarReservationCreateFlags unknown = info->flags & ~KNOWN_RESERVATION_FLAGS;
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "flags has bits that are no MaarReservationCreateFlagBits", MAAR_SHOW_BITS(unknown)},
        {0},
    };
    return maar_check_rules_and_bounds(allocator, call, rules, bounds);
}

/* Reports a reservation that grows by copies for want of a queue alone: the program enabled what
 * pages need, and gave the allocator no queue of a family that binds them. */
static void report_missing_bind_queue(MaarAllocator allocator, const char* call)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    if (!facts->sparse_binding || !facts->sparse_buffers ||
        maar_pick_bind_queue(allocator) != UINT32_MAX) {
        return;
    }
    for (uint32_t i = 0; i < facts->queue_family_count; ++i) {
        if ((facts->queue_flags[i] & VK_QUEUE_SPARSE_BINDING_BIT) != 0) {
            maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_FEATURE_UNUSED, call,
                        "the buffer will grow by copies, although sparseBinding and "
                        "sparseResidencyBuffer are enabled: no queue in "
                        "MaarAllocatorCreateInfo::pQueues can bind pages; those of family %u can",
                        i);
            return;
        }
    }
}

/* Chooses between the two kinds, or reports what the device lacks for the requested one. */
static VkResult choose_way(MaarAllocator allocator, const char* call,
                           const MaarReservationCreateInfo* info, bool* sparse)
{
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    const bool sparse_only = (info->flags & SPARSE_FLAGS) != 0;
    VkResult result = maar_paging_require(allocator, call, sparse_only);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_paging_capabilities(allocator, &paging);
    const char* lacking = NULL;
    if (sparse_only && paging.sparseReservations == VK_FALSE) {
        lacking = "sparseResidencyBuffer";
    } else if ((info->flags & MAAR_RESERVATION_CREATE_ALIASED_BIT) != 0 &&
               paging.aliasing == VK_FALSE) {
        lacking = "sparseResidencyAliased";
    }
    if (lacking != NULL) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT,
                         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, call,
                         "flags requests what needs %s among "
                         "MaarAllocatorCreateInfo::pEnabledFeatures; the device must have it "
                         "enabled",
                         lacking);
    }
    const VkDeviceSize size = info->pBufferInfo->size;
    const bool copies_wanted = (info->flags & MAAR_RESERVATION_CREATE_COPYING_BIT) != 0;
    *sparse = paging.sparseReservations == VK_TRUE && !copies_wanted;
    if (size > paging.maxBufferSize || size > MAAR_RANGE_MAX_SIZE) {
        return maar_fail(allocator, VK_ERROR_OUT_OF_DEVICE_MEMORY, MAAR_MESSAGE_ID_BUFFER_TOO_LARGE,
                         call,
                         "pBufferInfo->size is %s, and no buffer of this device may be larger than "
                         "%s (maxBufferSize)",
                         maar_show_bytes(size).text, maar_show_bytes(paging.maxBufferSize).text);
    }
    if (!*sparse && !copies_wanted) {
        report_missing_bind_queue(allocator, call);
    }
    return VK_SUCCESS;
}

/* ---- life ---- */

static void end_reservation_now(struct maar_reservation* reservation, bool at_once)
{
    if (reservation->copying != NULL) {
        maar_copying_end(reservation, at_once);
    } else {
        maar_reservation_end_sparse(reservation, at_once);
    }
}

static void end_leaked_reservation(MaarAllocator allocator, struct maar_paged_object* object)
{
    (void)allocator;
    struct maar_reservation* reservation = (struct maar_reservation*)(void*)object;
    maar_retire_set_points(reservation->item, 0, NULL);
    end_reservation_now(reservation, true);
}

void maar_reservation_end(struct maar_reservation* reservation, uint32_t point_count,
                          const MaarPoint* points)
{
    const MaarAllocator allocator = reservation->allocator;
    maar_paging_unlist(allocator, &reservation->listed);
    maar_paging_add_count(allocator, MAAR_COUNT_RESERVATION, -1);
    maar_retire_set_points(reservation->item, point_count, points);
    end_reservation_now(reservation, false);
    if (point_count == 0) {
        /* As a rule the last binds were executed long ago. */
        (void)maar_retire_collect(&allocator->retire, NULL);
    }
}

/* Makes the handles of a reservation. An array has two. */
static VkResult open_handles(struct maar_reservation* reservation, enum maar_object_kind kind)
{
    MaarAllocator allocator = reservation->allocator;
    VkResult result = maar_object_open(allocator, MAAR_OBJECT_RESERVATION, reservation,
                                       &reservation->listed.handle);
    if (result == VK_SUCCESS && kind == MAAR_OBJECT_ARRAY) {
        result = maar_object_open(allocator, kind, reservation, &reservation->array_handle);
    }
    return result;
}

VkResult maar_reservation_create(MaarAllocator allocator, const char* call,
                                 const MaarReservationCreateInfo* info, enum maar_object_kind kind,
                                 size_t bytes, struct maar_reservation** made)
{
    bool sparse = false;
    VkResult result = check_reservation_info(
        allocator, call, kind == MAAR_OBJECT_ARRAY ? &names_of_array : &names_of_reservation, info);
    if (result == VK_SUCCESS) {
        result = choose_way(allocator, call, info, &sparse);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarAllocationCreateInfo* memory =
        info->pMemoryInfo != NULL ? info->pMemoryInfo : &maar_default_create_info;
    struct maar_reservation* reservation = maar_host_calloc(allocator->callbacks, 1, bytes);
    if (reservation == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *reservation = (struct maar_reservation){
        .allocator = allocator,
        .flags = info->flags,
        .usage = info->pBufferInfo->usage,
        .size = info->pBufferInfo->size,
        .user_data = memory->pUserData,
        .item = maar_retire_prepare(&allocator->retire, MAAR_MAX_POINTS + 1, NULL),
    };
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (reservation->item == NULL) {
        goto free_reservation;
    }
    if (memory->pName != NULL) {
        reservation->name = maar_copy_string(allocator->callbacks, memory->pName);
        if (reservation->name == NULL) {
            goto discard_item;
        }
    }
    result = open_handles(reservation, kind);
    if (result != VK_SUCCESS) {
        goto close_handles;
    }
    result = sparse ? maar_reservation_create_sparse(reservation, call, info)
                    : maar_copying_create(reservation, call, info);
    if (result != VK_SUCCESS) {
        goto close_handles;
    }
    reservation->listed.kind = kind;
    reservation->listed.name = reservation->name;
    reservation->listed.end_leaked = end_leaked_reservation;
    maar_paging_list(allocator, &reservation->listed);
    maar_paging_add_count(allocator, MAAR_COUNT_RESERVATION, 1);
    *made = reservation;
    return VK_SUCCESS;

close_handles:
    (void)maar_object_close(allocator, reservation->array_handle);
    (void)maar_object_close(allocator, reservation->listed.handle);
discard_item:
    maar_retire_discard(&allocator->retire, reservation->item);
free_reservation:
    maar_reservation_free(reservation);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateReservation(MaarAllocator allocator,
                                                     const MaarReservationCreateInfo* pCreateInfo,
                                                     MaarReservation* pReservation)
{
    const struct maar_output outputs[] = {
        {"pReservation", pReservation, sizeof *pReservation},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_reservation* reservation = NULL;
    result = maar_reservation_create(allocator, __func__, pCreateInfo, MAAR_OBJECT_RESERVATION,
                                     sizeof(struct maar_reservation), &reservation);
    if (result == VK_SUCCESS) {
        *pReservation = MAAR_FROM_BITS(MaarReservation, reservation->listed.handle);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyReservation(MaarAllocator allocator,
                                                  MaarReservation reservation)
{
    struct maar_reservation* it = NULL;
    if (reservation != VK_NULL_HANDLE &&
        maar_reservation_check(allocator, __func__, "reservation", reservation, true, &it) ==
            VK_SUCCESS &&
        maar_object_claim(allocator, __func__, "reservation", MAAR_TO_BITS(reservation)) ==
            VK_SUCCESS) {
        maar_reservation_end(it, 0, NULL);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyReservationAfter(MaarAllocator allocator,
                                                           MaarReservation reservation,
                                                           uint32_t pointCount,
                                                           const MaarPoint* pPoints)
{
    struct maar_reservation* it = NULL;
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    }
    if (result != VK_SUCCESS || reservation == VK_NULL_HANDLE) {
        return result;
    }
    result = maar_reservation_check(allocator, __func__, "reservation", reservation, true, &it);
    if (result == VK_SUCCESS) {
        result = maar_object_claim(allocator, __func__, "reservation", MAAR_TO_BITS(reservation));
    }
    if (result == VK_SUCCESS) {
        maar_reservation_end(it, pointCount, pPoints);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetReservationInfo(MaarAllocator allocator,
                                                      MaarReservation reservation,
                                                      MaarReservationInfo* pInfo)
{
    struct maar_reservation* it = NULL;
    VkResult result =
        maar_reservation_check(allocator, __func__, "reservation", reservation, false, &it);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_RESERVATION_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    *pInfo = (MaarReservationInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .buffer = it->buffer,
        .address = it->address,
        .size = it->size,
        .pageSize = it->page_size,
        .committedSize = maar_reservation_committed(it),
        .sparse = it->table != NULL ? VK_TRUE : VK_FALSE,
        .moveCount = it->move_count,
        .pUserData = it->user_data,
        .pName = it->name,
    };
    MaarReservationUseInfo* use =
        maar_chain_find_output(pInfo->pNext, MAAR_STRUCTURE_TYPE_RESERVATION_USE_INFO);
    if (use != NULL) {
        maar_uses_describe(it, use);
    }
    return VK_SUCCESS;
}
