/*
 * Fills and compares margins: see margin.h. A comparison of all margins maps one block after
 * another: the block is pinned meanwhile, and its arena is locked while the margins are read. What
 * was found is reported without the lock.
 */
#include "core/memory/margin.h"

#include <string.h>

#include "core/memory/allocation_handle.h"
#include "core/memory/mapping.h"
#include "core/memory/margin_size.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool_list.h"
#include "core/memory/slot_home.h"

/* The bytes of a margin, again and again: no two of them are equal. */
static const unsigned char margin_pattern[8] = {0xA5, 0x1B, 0xC3, 0x7E, 0x69, 0xD2, 0x34, 0x8F};

static bool is_intact(const unsigned char* margin, VkDeviceSize size)
{
    VkDeviceSize at = 0;
    while (at < size && margin[at] == margin_pattern[at % sizeof margin_pattern]) {
        ++at;
    }
    return at == size;
}

/* Returns the margin at which a block is compared, or 0. */
static VkDeviceSize compared_margin(const struct maar_block* block)
{
    return block->pool->compares_margins ? maar_block_margin(block) : 0;
}

VkResult maar_margin_fill(MaarAllocator allocator, const struct maar_made* made)
{
    struct maar_slot* slot = made->slot;
    const VkDeviceSize size = compared_margin(maar_slot_block(allocator, slot));
    void* data = NULL;
    if (size == 0) {
        return VK_SUCCESS;
    }
    const VkResult result = maar_slot_map_own(allocator, NULL, slot, &data);
    if (result == VK_SUCCESS) {
        unsigned char* margin = (unsigned char*)data + maar_slot_bytes(allocator, slot).size;
        for (VkDeviceSize i = 0; i < size; ++i) {
            margin[i] = margin_pattern[i % sizeof margin_pattern];
        }
        (void)maar_slot_unmap(allocator, slot, 0);
    }
    return result;
}

/* An allocation that something has written behind. */
struct margin_damage {
    struct maar_quoted name;
    VkDeviceSize size;
    VkDeviceSize offset;
};

static struct margin_damage describe_damage(MaarAllocator allocator, const struct maar_slot* slot,
                                            uint32_t index)
{
    const struct maar_span span = maar_slot_bytes(allocator, slot);
    return (struct margin_damage){
        .name = maar_quote(maar_slot_name(slot, index)), .size = span.size, .offset = span.offset};
}

static void report_damage(MaarAllocator allocator, const char* call, const struct maar_block* block,
                          const struct margin_damage* damage)
{
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN, call,
                "something has written behind the end of allocation %s of %s in memory type %u, "
                "block %llu, offset %llu",
                damage->name.text, maar_show_bytes(damage->size).text, block->pool->type_index,
                (unsigned long long)block->id, (unsigned long long)damage->offset);
}

void maar_margin_compare(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                         uint32_t index)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    const VkDeviceSize size = compared_margin(block);
    void* data = NULL;
    if (size == 0 || maar_slot_map_own(allocator, NULL, slot, &data) != VK_SUCCESS) {
        return;
    }
    const struct margin_damage damage = describe_damage(allocator, slot, index);
    const bool intact = is_intact((const unsigned char*)data + damage.size, size);
    (void)maar_slot_unmap(allocator, slot, 0);
    if (!intact) {
        report_damage(allocator, call, block, &damage);
    }
}

/* ---- all margins ---- */

/* A comparison of the margins of one block. */
struct margin_look {
    MaarAllocator allocator;
    const unsigned char* mapped;
    VkDeviceSize margin;
    bool found;
    struct margin_damage damage; /* the first one */
};

/* Looks at a range. Only a live allocation is sure to have its pattern. */
static bool visit_margin(void* context, const MaarRangeInfo* info)
{
    struct margin_look* look = context;
    if (info->state != MAAR_RANGE_STATE_LIVE) {
        return true;
    }
    const uint32_t index = (uint32_t)info->userData;
    const struct maar_slot* slot = maar_slot_at(&look->allocator->slots, index);
    const bool is_live = (maar_atomic32_load_acquire(&slot->key) & 1u) != 0 &&
                         !maar_slot_has(slot, MAAR_SLOT_PENDING) && info->size > look->margin;
    if (is_live &&
        !is_intact(look->mapped + info->offset + info->size - look->margin, look->margin)) {
        look->found = true;
        look->damage = describe_damage(look->allocator, slot, index);
    }
    return !look->found;
}

/* Compares the margins of a pinned block. Called under the arena's lock, which it leaves for a
 * time. Returns VK_ERROR_UNKNOWN for a margin that was overwritten. */
static VkResult look_at_block(struct maar_arena* arena, struct maar_block* block, const char* call)
{
    MaarAllocator allocator = arena->pool->allocator;
    struct margin_look look = {.allocator = allocator, .margin = maar_block_margin(block)};
    char* mapped = NULL;
    maar_mutex_unlock(&arena->lock);
    VkResult result = maar_block_map(allocator, block, &mapped);
    if (result == VK_SUCCESS) {
        look.mapped = (const unsigned char*)mapped;
        maar_mutex_lock(&arena->lock);
        maar_placement_walk(block->placement, visit_margin, &look);
        maar_mutex_unlock(&arena->lock);
        maar_block_unmap(allocator, block);
    }
    if (look.found) {
        report_damage(allocator, call, block, &look.damage);
        result = VK_ERROR_UNKNOWN;
    }
    maar_mutex_lock(&arena->lock);
    return result;
}

/* Keeps the more serious of two results: the driver's, then damage. */
static VkResult worse_of(VkResult one, VkResult other)
{
    return one == VK_SUCCESS || (one == VK_ERROR_UNKNOWN && other != VK_SUCCESS) ? other : one;
}

static VkResult look_at_arena(struct maar_arena* arena, const char* call)
{
    VkResult result = VK_SUCCESS;
    maar_mutex_lock(&arena->lock);
    struct maar_block* block = maar_arena_next_block(arena, 0);
    while (block != NULL) {
        const bool is_compared = compared_margin(block) != 0 && block->range_count > 0;
        if (is_compared) {
            maar_arena_pin(arena, block);
            result = worse_of(result, look_at_block(arena, block, call));
            maar_arena_unpin(arena, block);
        }
        block = maar_arena_next_block(arena, block->at + 1);
    }
    maar_mutex_unlock(&arena->lock);
    return result;
}

static VkResult look_at_pool(struct maar_pool* pool, const char* call)
{
    VkResult result = VK_SUCCESS;
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        result = worse_of(result, look_at_arena(arena, call));
    }
    maar_pool_end_walk(pool);
    return result;
}

static VkResult look_at_types(MaarAllocator allocator, const char* call, uint32_t types)
{
    VkResult result = VK_SUCCESS;
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        if ((types & (1u << pool->type_index)) != 0) {
            result = worse_of(result, look_at_pool(pool, call));
        }
    }
    return result;
}

/* Returns the memory types (bits) whose margins are compared. */
static uint32_t compared_types(MaarAllocator allocator)
{
    uint32_t types = 0;
    for (uint32_t i = 0; i < allocator->device.facts.memory.memoryTypeCount; ++i) {
        types |= maar_margin_is_compared(allocator, i) ? 1u << i : 0;
    }
    return types;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCheckMargins(MaarAllocator allocator, MaarPool pool,
                                                uint32_t memoryTypeBits)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_pool_require_own(allocator, __func__, "pool", pool);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_pool* own = maar_pool_of(allocator, pool);
    const uint32_t wanted = memoryTypeBits & compared_types(allocator);
    if (wanted == 0 || (own != NULL && (wanted & (1u << own->type_index)) == 0)) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return own != NULL ? look_at_pool(own, __func__) : look_at_types(allocator, __func__, wanted);
}
