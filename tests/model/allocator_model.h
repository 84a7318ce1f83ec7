/*
 * A naive reference of an allocator: a list of what is alive or pending, compared pair by pair.
 */
#ifndef MAAR_TESTS_MODEL_ALLOCATOR_MODEL_H
#define MAAR_TESTS_MODEL_ALLOCATOR_MODEL_H

#include "tests/rig/rig.h"

enum { MODEL_ITEMS = 160, MODEL_POOLS = 3 };

enum model_state { MODEL_NONE, MODEL_LIVE, MODEL_PENDING };

struct model_item {
    enum model_state state;
    VkBuffer buffer;
    VkImage image;
    MaarAllocation allocation;
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkDeviceSize asked;
    uint32_t pool; /* its number + 1; 0: none */
    uint32_t map_count;
    bool mapped_for_life;
    unsigned char fill; /* what its bytes hold, when they could be written; else 0 */
    MaarPoint point;    /* while it is pending */
};

struct model {
    struct rig rig;
    struct rig_random random;
    struct model_item items[MODEL_ITEMS];
    MaarPool pools[MODEL_POOLS];
    VkSemaphore timeline;
    uint64_t timeline_value;
    uint64_t host_value;
    uint32_t unmet; /* requests that were not met */
};

/* Runs `steps` random operations, checks after each, and takes everything down. */
void model_run(struct model* model, const MaarSimulatedProfile* profile,
               MaarPlacementStrategy strategy, uint64_t seed, uint32_t steps);

#endif
