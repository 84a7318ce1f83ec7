/*
 * Shares buffers by Maar.
 */
#include "bench/sharing_peer.h"

#include "bench/bench_common.h"

#include "maar/objects.h"
#include "maar/share.h"

#include <stdlib.h>

enum { MAX_MAAR_BLOCKS = 1024 };

/* A block on the importer's side. The first buffer of the block imported it. */
struct imported_block {
    uint64_t id;
    MaarAllocation allocation;
};

struct maar_state {
    const struct sharing_devices* devices;
    MaarAllocator allocators[SHARING_SIDES];
    struct imported_block blocks[MAX_MAAR_BLOCKS];
    uint32_t block_count;
};

static void* open_maar(const struct sharing_devices* devices)
{
    struct maar_state* const state = bench_allocate(1, sizeof(*state));
    state->devices = devices;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        state->allocators[i] = sharing_make_maar(devices, i);
    }
    return state;
}

static void close_maar(void* opaque)
{
    struct maar_state* const state = opaque;
    for (uint32_t i = 0; i < state->block_count; ++i) {
        maarFreeMemory(state->allocators[SHARING_IMPORTER], state->blocks[i].allocation);
    }
    for (int i = 0; i < SHARING_SIDES; ++i) {
        maarDestroyAllocator(state->allocators[i]);
    }
    free(state);
}

static bool create_maar(void* opaque, struct sharing_item* item)
{
    const struct maar_state* const state = opaque;
    struct sharing_end* const end = &item->ends[SHARING_EXPORTER];
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = SHARING_TYPE,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &export,
        .memoryTypeBits = 1u << state->devices->type_index,
    };
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    return maarCreateBuffer(state->allocators[SHARING_EXPORTER], &info, &how, &end->buffer,
                            &end->allocation.maar) == VK_SUCCESS;
}

static bool export_maar(const struct maar_state* state, const struct sharing_item* item,
                        MaarExportedMemory* exported)
{
    return maarExportMemory(state->allocators[SHARING_EXPORTER],
                            item->ends[SHARING_EXPORTER].allocation.maar, SHARING_TYPE,
                            exported) == VK_SUCCESS;
}

static MaarImportInfo describe_import(const MaarExportedMemory* exported)
{
    return (MaarImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = exported->handle,
        .handleType = exported->handleType,
        .blockSize = exported->blockSize,
        .offset = exported->offset,
        .memoryTypeIndex = exported->memoryTypeIndex,
        .dedicated = exported->dedicated,
    };
}

/* Returns the importer's allocation of a block. The first call for a block imports it. */
static MaarAllocation find_imported(struct maar_state* state, const struct sharing_item* item,
                                    uint64_t id)
{
    for (uint32_t i = state->block_count; i-- > 0;) { /* most often the last one */
        if (state->blocks[i].id == id) {
            return state->blocks[i].allocation;
        }
    }
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (state->block_count == MAX_MAAR_BLOCKS || !export_maar(state, item, &exported)) {
        return VK_NULL_HANDLE;
    }
    const MaarImportInfo import = describe_import(&exported);
    struct imported_block* const block = &state->blocks[state->block_count];
    block->id = id;
    const VkResult result =
        maarImportMemory(state->allocators[SHARING_IMPORTER], &import, &block->allocation);
    maarDestroyExternalHandle(state->allocators[SHARING_EXPORTER], exported.handle);
    state->block_count += result == VK_SUCCESS;
    return block->allocation;
}

static bool hand_over_maar(void* opaque, struct sharing_item* item)
{
    struct maar_state* const state = opaque;
    MaarAllocationInfo where = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    bench_expect(maarGetAllocationInfo(state->allocators[SHARING_EXPORTER],
                                       item->ends[SHARING_EXPORTER].allocation.maar, &where),
                 "maarGetAllocationInfo");
    const MaarAllocation block = find_imported(state, item, where.blockId);
    if (block == VK_NULL_HANDLE) {
        return false;
    }
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    struct sharing_end* const end = &item->ends[SHARING_IMPORTER];
    if (maarCreateAliasingBuffer(state->allocators[SHARING_IMPORTER], block, where.offset, &info,
                                 &end->buffer) != VK_SUCCESS) {
        return false;
    }
    end->allocation.maar = block;
    return true;
}

static bool hand_over_maar_each(void* opaque, struct sharing_item* item)
{
    const struct maar_state* const state = opaque;
    struct sharing_end* const end = &item->ends[SHARING_IMPORTER];
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (!export_maar(state, item, &exported)) {
        return false;
    }
    const VkBufferCreateInfo info = sharing_buffer_info(item->size);
    const MaarImportInfo import = describe_import(&exported);
    const VkResult result = maarImportBuffer(state->allocators[SHARING_IMPORTER], &info, &import,
                                             &end->buffer, &end->allocation.maar);
    maarDestroyExternalHandle(state->allocators[SHARING_EXPORTER], exported.handle);
    return result == VK_SUCCESS;
}

static void destroy_maar(void* opaque, struct sharing_item* item)
{
    const struct maar_state* const state = opaque;
    const struct sharing_side* const side = &state->devices->sides[SHARING_IMPORTER];
    side->table.vkDestroyBuffer(side->handle, item->ends[SHARING_IMPORTER].buffer, NULL);
    maarDestroyBuffer(state->allocators[SHARING_EXPORTER], item->ends[SHARING_EXPORTER].buffer,
                      item->ends[SHARING_EXPORTER].allocation.maar);
}

static void destroy_maar_each(void* opaque, struct sharing_item* item)
{
    const struct maar_state* const state = opaque;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        maarDestroyBuffer(state->allocators[i], item->ends[i].buffer,
                          item->ends[i].allocation.maar);
    }
}

static void place_maar_in(MaarAllocator allocator, MaarAllocation allocation,
                          struct sharing_place* place)
{
    MaarAllocationInfo where = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    bench_expect(maarGetAllocationInfo(allocator, allocation, &where), "maarGetAllocationInfo");
    *place = (struct sharing_place){.memory = where.memory, .offset = where.offset};
}

/* An import spans its block, so the buffer has the exporter's offset. */
static void place_maar(void* opaque, const struct sharing_item* item,
                       struct sharing_place places[SHARING_SIDES])
{
    const struct maar_state* const state = opaque;
    for (int i = 0; i < SHARING_SIDES; ++i) {
        place_maar_in(state->allocators[i], item->ends[i].allocation.maar, &places[i]);
    }
    places[SHARING_IMPORTER].offset = places[SHARING_EXPORTER].offset;
}

const struct sharing_peer sharing_peer_maar = {
    .name = "maar",
    .open = open_maar,
    .create = create_maar,
    .hand_over = hand_over_maar,
    .destroy = destroy_maar,
    .close = close_maar,
    .place = place_maar,
};

const struct sharing_peer sharing_peer_maar_each = {
    .name = "maar-each",
    .open = open_maar,
    .create = create_maar,
    .hand_over = hand_over_maar_each,
    .destroy = destroy_maar_each,
    .close = close_maar,
    .place = place_maar,
};
