/*
 * Exports memory. The driver gives one handle for each block and handle type. This handle becomes
 * an attachment of the block, and each caller gets a duplicate. An imported block keeps the handle
 * from which it was imported.
 */
#include "core/bound_check.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/attachment.h"
#include "core/memory/export_types.h"
#include "core/memory/pool.h"
#include "core/port_time.h"
#include "interop/share/share_internal.h"

/* The states of a kept handle's `word`. Any larger number is the handle plus HANDLE_BIAS. */
enum { HANDLE_MISSING = 0, HANDLE_COMING = 1, HANDLE_BIAS = 2 };

/* A handle that an attachment keeps. One thread at a time asks the driver for the handle. After the
 * driver has given one, no thread asks again, because an NT handle may be fetched only once. */
struct maar_kept_handle {
    struct maar_attachment attachment;
    struct maar_mutex lock; /* guards changes of the word */
    struct maar_condition changed;
    maar_atomic64 word;
};

/* Returns the owner of the attachments for one handle type: an address that stands for the type. */
static const void* handle_owner(VkExternalMemoryHandleTypeFlagBits type)
{
    static const char owners[32] = {0};
    uint32_t bit = 0;
    while (((uint32_t)type >> bit) != 1) {
        ++bit;
    }
    return &owners[bit];
}

static void end_exported(MaarAllocator allocator, struct maar_attachment* attachment)
{
    struct maar_kept_handle* exported = (struct maar_kept_handle*)(void*)attachment;
    const uint64_t word = maar_atomic64_load(&exported->word);
    if (word >= HANDLE_BIAS) {
        maar_port_handle_close((maar_port_handle)(word - HANDLE_BIAS));
    }
    maar_condition_destroy(&exported->changed);
    maar_mutex_destroy(&exported->lock);
    maar_host_free(allocator->callbacks, exported);
}

struct maar_kept_handle* maar_kept_handle_make(MaarAllocator allocator)
{
    struct maar_kept_handle* kept = maar_host_calloc(allocator->callbacks, 1, sizeof *kept);
    if (kept == NULL) {
        return NULL;
    }
    if (!maar_mutex_init(&kept->lock, MAAR_LOCK_SHARE, maar_is_synchronized(allocator))) {
        goto free_kept;
    }
    if (!maar_condition_init(&kept->changed)) {
        goto free_lock;
    }
    kept->attachment.end = end_exported;
    return kept;

free_lock:
    maar_mutex_destroy(&kept->lock);
free_kept:
    maar_host_free(allocator->callbacks, kept);
    return NULL;
}

void maar_kept_handle_discard(MaarAllocator allocator, struct maar_kept_handle* kept)
{
    if (kept != NULL) {
        end_exported(allocator, &kept->attachment);
    }
}

void maar_kept_handle_hang(struct maar_block* block, struct maar_kept_handle* kept,
                           VkExternalMemoryHandleTypeFlagBits type, maar_port_handle value)
{
    maar_atomic64_store(&kept->word,
                        value != MAAR_PORT_NO_HANDLE ? (uint64_t)value + HANDLE_BIAS : 0);
    kept->attachment.owner = handle_owner(type);
    (void)maar_attachment_add(block, &kept->attachment); /* a new block has none of this owner */
}

static VkResult call_export(MaarAllocator allocator, VkDeviceMemory memory,
                            VkExternalMemoryHandleTypeFlagBits type, maar_port_handle* value)
{
    const struct maar_device* device = &allocator->device;
    VkResult result = VK_SUCCESS;
    *value = MAAR_PORT_NO_HANDLE;
    maar_lock_rank_expect_none();
    if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT) {
        const struct maar_win32_get_memory info = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
            .memory = memory,
            .handleType = type,
        };
        void* handle = NULL;
        result = device->win32.vkGetMemoryWin32HandleKHR(device->handle, &info, &handle);
        if (result == VK_SUCCESS) {
            *value = (maar_port_handle)(intptr_t)handle;
        }
        return result == VK_SUCCESS && handle == NULL ? VK_ERROR_UNKNOWN : result;
    }
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory,
        .handleType = type,
    };
    int fd = -1;
    result = device->vkGetMemoryFdKHR(device->handle, &info, &fd);
    if (result == VK_SUCCESS) {
        *value = fd;
        maar_port_handle_keep_private(fd);
    }
    return result == VK_SUCCESS && fd < 0 ? VK_ERROR_UNKNOWN : result;
}

/* Finds the kept handle of a block and a type, or makes it if there is none. Returns NULL if host
 * memory runs out. */
static struct maar_kept_handle* find_kept(MaarAllocator allocator, struct maar_block* block,
                                          VkExternalMemoryHandleTypeFlagBits type)
{
    struct maar_attachment* found = maar_attachment_find(block, handle_owner(type));
    struct maar_kept_handle* made = found == NULL ? maar_kept_handle_make(allocator) : NULL;
    if (made != NULL) {
        made->attachment.owner = handle_owner(type);
        found = maar_attachment_add(block, &made->attachment);
        if (found != NULL) {
            end_exported(allocator, &made->attachment); /* another thread was faster */
        }
    }
    return found != NULL ? (struct maar_kept_handle*)(void*)found : made;
}

/* Waits while another thread asks the driver for the handle. Returns true if this thread must ask;
 * the word is then HANDLE_COMING. */
static bool claim_export(struct maar_kept_handle* kept)
{
    maar_mutex_lock(&kept->lock);
    while (maar_atomic64_load(&kept->word) == HANDLE_COMING) {
        maar_condition_wait(&kept->changed, &kept->lock);
    }
    const bool is_missing = maar_atomic64_load(&kept->word) == HANDLE_MISSING;
    if (is_missing) {
        maar_atomic64_store(&kept->word, HANDLE_COMING);
    }
    maar_mutex_unlock(&kept->lock);
    return is_missing;
}

/* Finds the handle of a block. The first call asks the driver for it. */
static VkResult find_exported(MaarAllocator allocator, struct maar_block* block,
                              VkExternalMemoryHandleTypeFlagBits type, maar_port_handle* value)
{
    struct maar_kept_handle* kept = find_kept(allocator, block, type);
    if (kept == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!claim_export(kept)) {
        *value = (maar_port_handle)(maar_atomic64_load(&kept->word) - HANDLE_BIAS);
        return VK_SUCCESS;
    }
    const VkResult result = call_export(allocator, block->memory, type, value);
    maar_mutex_lock(&kept->lock);
    maar_atomic64_store(&kept->word, result == VK_SUCCESS ? (uint64_t)*value + HANDLE_BIAS
                                                          : (uint64_t)HANDLE_MISSING);
    maar_condition_wake(&kept->changed);
    maar_mutex_unlock(&kept->lock);
    return result;
}

static VkResult check_export(MaarAllocator allocator, const char* call,
                             const struct maar_slot* slot, VkExternalMemoryHandleTypeFlagBits type)
{
    if (!maar_is_power_of_two(type)) {
        return maar_refuse_bits(allocator, call, "handleType", (uint32_t)type);
    }
    if ((maar_slot_block(allocator, slot)->shared_types & (VkExternalMemoryHandleTypeFlags)type) ==
        0) {
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
            "the allocation's memory was not created for export as handle type 0x%x; "
            "chain MaarExportInfo, with its sType, to the create info of the allocation or of "
            "its pool",
            (unsigned)type);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return maar_shared_types_require(allocator, call, (VkExternalMemoryHandleTypeFlags)type);
}

VkResult maar_export_memory(MaarAllocator allocator, const char* call, const struct maar_slot* slot,
                            VkExternalMemoryHandleTypeFlagBits type, MaarExportedMemory* memory)
{
    VkResult result = check_export(allocator, call, slot, type);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_block* block = maar_slot_block(allocator, slot);
    maar_port_handle own = MAAR_PORT_NO_HANDLE;
    result = find_exported(allocator, block, type, &own);
    if (result != VK_SUCCESS) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                    "block %llu of memory type %u was not exported as handle type 0x%x (%s)",
                    (unsigned long long)block->id, block->pool->type_index, (unsigned)type,
                    maarGetResultName(result));
        return result;
    }
    maar_port_handle copy = MAAR_PORT_NO_HANDLE;
    result = maar_external_handle_copy(allocator, call, own, &copy);
    if (result != VK_SUCCESS) {
        return result;
    }
    MaarExternalHandle handle = VK_NULL_HANDLE;
    result = maar_external_handle_create(allocator, copy, &handle);
    if (result != VK_SUCCESS) {
        maar_port_handle_close(copy);
        return result;
    }
    const struct maar_span span = maar_slot_find_bytes(allocator, slot);
    memory->handle = handle;
    memory->handleType = type;
    memory->blockSize = block->size;
    memory->offset = span.offset;
    memory->size = span.size;
    memory->blockId = block->id;
    memory->memoryTypeIndex = block->pool->type_index;
    memory->dedicated = block->named ? VK_TRUE : VK_FALSE;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarExportMemory(MaarAllocator allocator, MaarAllocation allocation,
                                                VkExternalMemoryHandleTypeFlagBits handleType,
                                                MaarExportedMemory* pMemory)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, __func__, "pMemory", pMemory,
                                  MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY);
    if (result != VK_SUCCESS) {
        return result;
    }
    *pMemory = (MaarExportedMemory){.sType = pMemory->sType, .pNext = pMemory->pNext};
    const struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    return slot != NULL ? maar_export_memory(allocator, __func__, slot, handleType, pMemory)
                        : VK_ERROR_VALIDATION_FAILED_EXT;
}
