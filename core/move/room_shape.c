/*
 * What a run that makes room wants of a block: see room_shape.h.
 */
#include "core/move/room_shape.h"

#include "core/bits.h"
#include "core/memory/allocate.h"
#include "core/memory/pool.h"

bool maar_room_shape(const struct maar_room* room, const struct maar_pool* pool,
                     struct maar_place_request* request, VkDeviceSize* size,
                     VkDeviceSize* alignment)
{
    const struct maar_place_request general = {
        .size = room->asked_size, .alignment = room->asked_alignment, .kind = room->kind};
    *request = general;
    request->shown_kind = room->kind;
    if (!maar_shape_for_pool(&general, pool, request)) {
        return false;
    }
    *size = request->size;
    *alignment = request->alignment;
    if (pool->granularity > 1) {
        /* A window of whole granules: its neighbours may be of any kind. */
        *alignment = maar_common_multiple(*alignment, pool->granularity, MAAR_RANGE_MAX_SIZE);
        *size = maar_align_up(*size, pool->granularity);
    }
    return *alignment != 0 && *size < MAAR_RANGE_MAX_SIZE;
}

bool maar_room_rank(const struct maar_room* room, struct maar_drain_block* block)
{
    struct maar_place_request request;
    VkDeviceSize size = 0;
    VkDeviceSize alignment = 0;
    if (!maar_room_shape(room, block->pool, &request, &size, &alignment) || size > block->size) {
        return false;
    }
    /* What does not live may all be in the window. The rest of the window must move. */
    const VkDeviceSize rest = block->size - block->live;
    block->rank = size > rest ? size - rest : 0;
    return true;
}

/* ---- allocations that may not move ---- */

static uint32_t refused_place(uint64_t handle)
{
    return (uint32_t)handle * 2654435769u >> 16;
}

bool maar_room_is_refused(const struct maar_room* room, uint64_t handle)
{
    for (uint32_t at = refused_place(handle); room->refused_count > 0; ++at) {
        const uint64_t other = room->refused[at % (2 * MAAR_ROOM_REFUSED)];
        if (other == 0 || other == handle) {
            return other == handle;
        }
    }
    return false;
}

bool maar_room_refuse(struct maar_room* room, uint64_t handle)
{
    uint32_t at = refused_place(handle);
    if (room->refused_count == MAAR_ROOM_REFUSED) {
        return false;
    }
    while (room->refused[at % (2 * MAAR_ROOM_REFUSED)] != 0) {
        ++at;
    }
    room->refused[at % (2 * MAAR_ROOM_REFUSED)] = handle;
    ++room->refused_count;
    return true;
}
