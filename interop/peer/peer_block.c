/*
 * Imports blocks into the peer. A block is imported once, when it is first needed there, and is
 * mapped once, as a whole. Two threads may import or map the same block at the same time; the
 * slower thread undoes its work.
 */
#include "core/memory/allocation_handle.h"
#include "interop/peer/peer.h"
#include "interop/share/share_internal.h"

/* Stands in messages in place of a public function, for work that no call requested. */
static const char ending[] = "the end of a shared block";

void maar_peer_count_block(struct maar_peer* peer, VkDeviceSize size)
{
    (void)maar_atomic64_add(&peer->block_bytes, size);
    maar_gate_enter(&peer->imported);
}

void maar_peer_discount_block(struct maar_peer* peer, VkDeviceSize size)
{
    (void)maar_atomic64_sub(&peer->block_bytes, size);
    maar_gate_leave(&peer->imported);
}

/* Releases a block. If the peer's context is gone, so is everything in it, and nothing is left to
 * release there. */
static void discard_block(struct maar_peer_block* block)
{
    struct maar_peer* peer = block->peer;
    const uint64_t pointer = maar_atomic64_load(&block->pointer);
    int previous = 0;
    if (block->memory != NULL && peer->driver->enter(peer, ending, &previous) == VK_SUCCESS) {
        if (pointer != 0) {
            peer->driver->unmap_block(peer, pointer);
        }
        peer->driver->destroy_block(peer, block->memory);
        peer->driver->leave(peer, previous);
    }
    const VkDeviceSize size = block->size;
    maar_host_free(peer->allocator->callbacks, block);
    maar_peer_discount_block(peer, size);
}

static void end_peer_block(MaarAllocator allocator, struct maar_attachment* attachment)
{
    (void)allocator;
    discard_block((struct maar_peer_block*)attachment);
}

static VkResult import_exported(struct maar_peer_block* block, const char* call,
                                const MaarExportedMemory* exported)
{
    struct maar_handle_import import;
    const bool takes = MAAR_PORT_HAS_FDS != 0 && block->peer->driver->takes_descriptors;
    VkResult result =
        maar_handle_import_begin(block->peer->allocator, call, exported->handle, takes, &import);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_peer_import info = {
        .handle = import.duplicate,
        .size = exported->blockSize,
        .dedicated = exported->dedicated != VK_FALSE,
    };
    result = block->peer->driver->import_block(block->peer, call, &info, &block->memory);
    maar_handle_import_end(&import, result == VK_SUCCESS);
    return result;
}

/* Makes what `use` describes of a block. `exported` names the memory to import first. It is NULL
 * for a block that the peer has already. */
static VkResult make_of_block(struct maar_peer_block* block, const char* call,
                              const MaarExportedMemory* exported, const struct maar_peer_use* use)
{
    const struct maar_peer_driver* driver = block->peer->driver;
    int previous = 0;
    maar_lock_rank_expect_none();
    VkResult result = driver->enter(block->peer, call, &previous);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (exported != NULL) {
        result = import_exported(block, call, exported);
    }
    if (result == VK_SUCCESS) {
        result = use->make(call, block, use->data);
    }
    driver->leave(block->peer, previous);
    return result;
}

static VkResult import_peer_block(struct maar_peer* peer, const char* call,
                                  const struct maar_slot* slot, const struct maar_peer_use* use,
                                  struct maar_peer_block** out)
{
    MaarAllocator allocator = peer->allocator;
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    VkResult result = maar_export_memory(allocator, call, slot, peer->memory_type, &exported);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_peer_block* block = maar_host_calloc(allocator->callbacks, 1, sizeof *block);
    if (block != NULL) {
        block->attachment.owner = peer;
        block->attachment.owner_list = &peer->blocks;
        block->attachment.end = end_peer_block;
        block->peer = peer;
        block->size = exported.blockSize;
        maar_peer_count_block(peer, block->size);
        result = make_of_block(block, call, &exported, use);
    }
    maar_external_handle_destroy(exported.handle);
    if (block == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != VK_SUCCESS) {
        discard_block(block);
        return result;
    }
    *out = block;
    return VK_SUCCESS;
}

/* Undoes an import that is not needed, because another thread imported the block first. */
static void undo_import(struct maar_peer_block* block, const struct maar_peer_use* use)
{
    const struct maar_peer_driver* driver = block->peer->driver;
    int previous = 0;
    if (driver->enter(block->peer, ending, &previous) == VK_SUCCESS) {
        use->undo(block, use->data);
        driver->leave(block->peer, previous);
    }
    discard_block(block);
}

VkResult maar_peer_use_block(struct maar_peer* peer, const char* call, const struct maar_slot* slot,
                             const struct maar_peer_use* use, struct maar_peer_block** block)
{
    struct maar_peer_block* found =
        (struct maar_peer_block*)maar_attachment_find(maar_slot_block(peer->allocator, slot), peer);
    if (found == NULL) {
        if ((maar_slot_block(peer->allocator, slot)->shared_types &
             (VkExternalMemoryHandleTypeFlags)peer->memory_type) == 0) {
            maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                        MAAR_MESSAGE_ID_NOT_EXPORTABLE, call,
                        "allocation was not created for export to %s: chain MaarExportInfo with "
                        "handleTypes 0x%X to its create info",
                        peer->driver->name, (unsigned)peer->memory_type);
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        struct maar_peer_block* made = NULL;
        VkResult result = import_peer_block(peer, call, slot, use, &made);
        if (result != VK_SUCCESS) {
            return result;
        }
        found = (struct maar_peer_block*)maar_attachment_add(maar_slot_block(peer->allocator, slot),
                                                             &made->attachment);
        if (found == NULL) {
            *block = made;
            return VK_SUCCESS;
        }
        undo_import(made, use);
    }
    *block = found;
    return make_of_block(found, call, NULL, use);
}

/* Maps a block. If two threads map it at the same time, one mapping stays. */
static VkResult map_whole(const char* call, struct maar_peer_block* block, void* data)
{
    (void)data;
    struct maar_peer* peer = block->peer;
    uint64_t pointer = 0;
    VkResult result = VK_SUCCESS;
    if (maar_atomic64_load(&block->pointer) == 0) {
        result = peer->driver->map_block(peer, call, block->memory, block->size, &pointer);
        if (result == VK_SUCCESS && !maar_atomic64_claim(&block->pointer, pointer)) {
            peer->driver->unmap_block(peer, pointer);
        }
    }
    return result;
}

/* Undoes nothing, because the mapping is released with the block. */
static void keep_mapping(struct maar_peer_block* block, void* data)
{
    (void)block;
    (void)data;
}

VkResult maar_peer_map(struct maar_peer* peer, const char* call, MaarAllocation allocation,
                       struct maar_slot** slot, struct maar_peer_block** block)
{
    static const struct maar_peer_use mapping = {.make = map_whole, .undo = keep_mapping};
    *slot = maar_resolve(peer->allocator, call, allocation, NULL);
    if (*slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    *block = (struct maar_peer_block*)maar_attachment_find(maar_slot_block(peer->allocator, *slot),
                                                           peer);
    if (*block != NULL && maar_atomic64_load(&(*block)->pointer) != 0) {
        return VK_SUCCESS;
    }
    return maar_peer_use_block(peer, call, *slot, &mapping, block);
}

struct maar_peer* maar_peer_make(MaarAllocator allocator, size_t size,
                                 const struct maar_peer_driver* driver)
{
    struct maar_peer* peer = maar_host_calloc(allocator->callbacks, 1, size);
    if (peer == NULL) {
        return NULL;
    }
    if (!maar_gate_init(&peer->imported)) {
        maar_host_free(allocator->callbacks, peer);
        return NULL;
    }
    peer->allocator = allocator;
    peer->driver = driver;
    peer->memory_type = MAAR_OPAQUE_MEMORY;
    peer->semaphore_type = MAAR_OPAQUE_SEMAPHORE;
    return peer;
}

void maar_peer_discard(struct maar_peer* peer)
{
    maar_gate_destroy(&peer->imported);
    maar_host_free(peer->allocator->callbacks, peer);
}

bool maar_peer_end(struct maar_peer* peer, const char* call)
{
    maar_peer_timelines_end_kept(peer);
    const uint32_t left = maar_atomic32_load(&peer->object_count);
    if (left != 0) {
        maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_IN_USE, call,
                    "the object is kept, because %u of its timelines, images or ranges are alive",
                    (unsigned)left);
        return false;
    }
    maar_attachments_end_owner(peer->allocator, &peer->blocks);
    /* Another thread may have taken a block's attachment off its lists, and may not have ended it
     * yet. */
    (void)maar_gate_wait(&peer->imported, UINT64_MAX);
    return true;
}
