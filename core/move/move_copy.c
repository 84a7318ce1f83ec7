/*
 * Copies of moves: see move_copy.h.
 */
#include "core/move/move_copy.h"

#include <stdlib.h>

#include "core/device_calls.h"
#include "core/memory/allocator_state.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "core/memory_order.h"
#include "core/move/moved_object.h"
#include "core/paging/page_move.h"

/* The number of regions of one copy command. */
enum { REGION_BATCH = 32 };

/* Whether Maar copies the bytes of a move from block to block. A buffer over a block that is used
 * up by a dropped move would be of no use. */
static bool is_copied(MaarAllocator allocator, const struct maar_move* move)
{
    return move->is_copyable && !move->is_dropped && !maar_move_is_of_object(allocator, move) &&
           maar_key_read(&maar_move_slot(allocator, move)->key) == move->handle >> 32;
}

static struct maar_move_view view_of(MaarAllocator allocator, const struct maar_slot* slot)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    return (struct maar_move_view){
        .memory = block->memory, .size = block->size, .type_index = block->pool->type_index};
}

static int compare_views(const void* one, const void* other)
{
    const uint64_t a = MAAR_TO_BITS(((const struct maar_move_view*)one)->memory);
    const uint64_t b = MAAR_TO_BITS(((const struct maar_move_view*)other)->memory);
    return a < b ? -1 : a > b;
}

static uint32_t page_move_count(const struct maar_move_batch* batch)
{
    return batch->pages != NULL ? batch->pages->count : 0;
}

/* Lists the blocks that the copies touch, each once and in order. */
static void list_blocks(const struct maar_move_batch* batch, struct maar_move_copies* copies)
{
    MaarAllocator allocator = batch->allocator;
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        if (is_copied(allocator, &batch->moves[i])) {
            copies->views[count++] =
                view_of(allocator, maar_move_slot(allocator, &batch->moves[i]));
            copies->views[count++] =
                view_of(allocator, maar_move_twin(allocator, &batch->moves[i]));
        }
    }
    for (uint32_t i = 0; i < page_move_count(batch); ++i) {
        struct maar_page_places places;
        if (maar_page_moves_read(batch->pages, i, &places)) {
            copies->views[count++] = (struct maar_move_view){
                .memory = places.from, .size = places.from_size, .type_index = places.from_type};
            copies->views[count++] = (struct maar_move_view){
                .memory = places.to, .size = places.to_size, .type_index = places.to_type};
        }
    }
    qsort(copies->views, count, sizeof copies->views[0], compare_views);
    for (uint32_t i = 0; i < count; ++i) {
        if (i == 0 || copies->views[i].memory != copies->views[copies->count - 1].memory) {
            copies->views[copies->count++] = copies->views[i];
        }
    }
}

/* Makes a buffer over a whole block. */
static VkResult make_view(MaarAllocator allocator, const char* call, struct maar_move_view* view)
{
    const struct maar_device* device = &allocator->device;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = view->size,
        .usage = (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 (VkBufferUsageFlags)VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult result =
        device->vkCreateBuffer(device->handle, &info, device->callbacks, &view->buffer);
    if (result != VK_SUCCESS) {
        view->buffer = VK_NULL_HANDLE;
        return result;
    }
    const VkBufferMemoryRequirementsInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = view->buffer};
    VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    maar_device_buffer_needs(device, &question, &needs);
    if (needs.memoryRequirements.size > view->size ||
        (needs.memoryRequirements.memoryTypeBits & (1u << view->type_index)) == 0) {
        return maar_fail(allocator, VK_ERROR_FEATURE_NOT_PRESENT, MAAR_MESSAGE_ID_CANNOT_MOVE, call,
                         "batch has moves that Maar cannot copy: the driver does not let a buffer "
                         "cover a block of %s of memory type %u",
                         maar_show_bytes(view->size).text, view->type_index);
    }
    const VkBindBufferMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO,
        .buffer = view->buffer,
        .memory = view->memory,
    };
    return maar_device_bind_buffer(device, &bind);
}

/* Whether a batch copies the contents of objects. */
static bool has_objects(const struct maar_move_batch* batch)
{
    bool has = false;
    for (uint32_t i = 0; i < batch->count && !has; ++i) {
        has = maar_moved_object_is_copied(&batch->moves[i]);
    }
    return has;
}

VkResult maar_move_copies_create(const struct maar_move_batch* batch, const char* call,
                                 struct maar_move_copies** copies)
{
    MaarAllocator allocator = batch->allocator;
    VkResult result = VK_SUCCESS;
    *copies = NULL;
    struct maar_move_copies* made = maar_host_calloc(
        allocator->callbacks, 1,
        sizeof *made + 2 * ((size_t)batch->count + page_move_count(batch)) * sizeof made->views[0]);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    list_blocks(batch, made);
    maar_lock_rank_expect_none();
    for (uint32_t i = 0; i < made->count && result == VK_SUCCESS; ++i) {
        result = make_view(allocator, call, &made->views[i]);
    }
    if (result != VK_SUCCESS || (made->count == 0 && !has_objects(batch))) {
        maar_move_copies_destroy(allocator, made);
        return result;
    }
    *copies = made;
    return VK_SUCCESS;
}

static VkBuffer buffer_over(const struct maar_move_copies* copies, VkDeviceMemory memory)
{
    const struct maar_move_view wanted = {.memory = memory};
    const struct maar_move_view* view =
        bsearch(&wanted, copies->views, copies->count, sizeof wanted, compare_views);
    return view != NULL ? view->buffer : VK_NULL_HANDLE;
}

/* Copies that go from one buffer to another one. */
struct region_run {
    VkBuffer from;
    VkBuffer to;
    uint32_t count;
    VkBufferCopy regions[REGION_BATCH];
};

static void record_run(const struct maar_device* device, VkCommandBuffer commands,
                       struct region_run* run)
{
    if (run->count > 0) {
        device->vkCmdCopyBuffer(commands, run->from, run->to, run->count, run->regions);
    }
    run->count = 0;
}

/* Adds a copy, unless its allocation was dropped or freed since the buffers were made: it has none
 * then. */
static void add_region(const struct maar_device* device, VkCommandBuffer commands,
                       struct region_run* run, VkBuffer from, VkBuffer to, VkBufferCopy region)
{
    if (from == VK_NULL_HANDLE || to == VK_NULL_HANDLE) {
        return;
    }
    if (from != run->from || to != run->to || run->count == REGION_BATCH) {
        record_run(device, commands, run);
    }
    run->from = from;
    run->to = to;
    run->regions[run->count++] = region;
}

void maar_move_copies_record(const struct maar_move_batch* batch,
                             const struct maar_move_copies* copies, VkCommandBuffer commands)
{
    MaarAllocator allocator = batch->allocator;
    const struct maar_device* device = &allocator->device;
    struct region_run run = {.count = 0};
    maar_order_commands(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT);
    maar_moved_objects_record_begin(batch, commands);
    for (uint32_t i = 0; i < batch->count; ++i) {
        const struct maar_slot* slot = maar_move_slot(allocator, &batch->moves[i]);
        const struct maar_slot* twin = maar_move_twin(allocator, &batch->moves[i]);
        const VkBuffer from = buffer_over(copies, maar_slot_block(allocator, slot)->memory);
        const VkBuffer to = buffer_over(copies, maar_slot_block(allocator, twin)->memory);
        if (is_copied(allocator, &batch->moves[i])) {
            const VkBufferCopy region = {
                .srcOffset = maar_slot_span(allocator, slot).offset,
                .dstOffset = maar_slot_span(allocator, twin).offset,
                .size = maar_slot_bytes(allocator, slot).size,
            };
            add_region(device, commands, &run, from, to, region);
        }
    }
    for (uint32_t i = 0; i < page_move_count(batch); ++i) {
        struct maar_page_places places;
        if (maar_page_moves_read(batch->pages, i, &places)) {
            add_region(device, commands, &run, buffer_over(copies, places.from),
                       buffer_over(copies, places.to),
                       (VkBufferCopy){places.from_offset, places.to_offset, places.size});
        }
    }
    record_run(device, commands, &run);
    maar_moved_objects_record_copies(batch, commands);
    maar_moved_objects_record_end(batch, commands);
    /* The host may read memory that it sees after the point of the copies. */
    maar_order_commands(device, commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
}

void maar_move_copies_destroy(MaarAllocator allocator, struct maar_move_copies* copies)
{
    const struct maar_device* device = &allocator->device;
    while (copies != NULL) {
        struct maar_move_copies* next = copies->next;
        maar_lock_rank_expect_none();
        for (uint32_t i = 0; i < copies->count; ++i) {
            device->vkDestroyBuffer(device->handle, copies->views[i].buffer, device->callbacks);
        }
        if (copies->pool != VK_NULL_HANDLE) {
            device->vkDestroyCommandPool(device->handle, copies->pool, NULL);
        }
        maar_host_free(allocator->callbacks, copies);
        copies = next;
    }
}

static void destroy_retired(MaarAllocator allocator, const struct maar_retire_item* item)
{
    maar_move_copies_destroy(allocator, (struct maar_move_copies*)(uintptr_t)item->object);
}

void maar_move_copies_retire(struct maar_move_copies* copies, struct maar_retire_item* item)
{
    item->action = destroy_retired;
    item->object = (uint64_t)(uintptr_t)copies;
}
