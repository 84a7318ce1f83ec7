/*
 * The room in a pool, for the message of a request for which there was none. No lock may be held.
 */
#ifndef MAAR_CORE_MEMORY_POOL_ROOM_H
#define MAAR_CORE_MEMORY_POOL_ROOM_H

#include "core/memory/pool.h"

/* The bytes of a pool's blocks, without dedicated ones. Other threads may change them meanwhile. */
struct maar_pool_room {
    VkDeviceSize size;
    VkDeviceSize free;
    VkDeviceSize pending; /* freed after points that have not passed */
};

/* Walks over the blocks of a pool. */
struct maar_pool_room maar_pool_find_room(const struct maar_pool* pool);

#endif
