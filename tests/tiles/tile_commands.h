/*
 * Commands on partially resident images: boxes of texels filled with a pattern of their own, and
 * compared with it. Everything is in VK_IMAGE_LAYOUT_GENERAL, and each call waits for the device.
 */
#ifndef MAAR_TESTS_TILES_TILE_COMMANDS_H
#define MAAR_TESTS_TILES_TILE_COMMANDS_H

#include "tests/rig/rig.h"

/* A box of one level and layer. */
struct tile_box {
    uint32_t level;
    uint32_t layer;
    VkOffset3D offset;
    VkExtent3D extent;
};

struct tile_commands {
    struct rig* rig;
    VkCommandPool pool;
    VkBuffer buffer;
    MaarAllocation memory;
    uint8_t* data;
    VkDeviceSize size;
};

/* size: bytes of the largest box. */
void tile_commands_open(struct tile_commands* commands, struct rig* rig, VkDeviceSize size);
void tile_commands_close(struct tile_commands* commands);

/* Waits for the device; where nothing executes there is nothing to wait for. */
void tile_commands_wait(struct tile_commands* commands);

VkCommandBuffer tile_commands_begin(struct tile_commands* commands);
/* Submits, waiting on the device for a point (or NULL), and waits for the queue. */
void tile_commands_end(struct tile_commands* commands, VkCommandBuffer buffer,
                       const MaarPoint* point);
/* Submits without waiting; signals the point `signal`. */
void tile_commands_submit(struct tile_commands* commands, VkCommandBuffer buffer,
                          const MaarPoint* point, const MaarPoint* signal);

/* From UNDEFINED to GENERAL. */
void tile_commands_prepare(struct tile_commands* commands, VkImage image);
/* Byte i of a box with that seed. */
uint8_t tile_pattern(uint32_t seed, size_t i);
/* Texel blocks of `block` bytes, one by one texel each. */
void tile_commands_write(struct tile_commands* commands, VkImage image, uint32_t block,
                         const struct tile_box* box, uint32_t seed, const MaarPoint* point);
/* Whether the box shows the pattern. */
bool tile_commands_shows(struct tile_commands* commands, VkImage image, uint32_t block,
                         const struct tile_box* box, uint32_t seed);

#endif
