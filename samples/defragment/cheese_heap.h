/*
 * A heap like Swiss cheese: planets are created one after another in blocks of one size, and two
 * thirds of them are destroyed again. What remains is drawn.
 */
#ifndef MAAR_SAMPLE_CHEESE_HEAP_H
#define MAAR_SAMPLE_CHEESE_HEAP_H

#include "cheese_planet.h"
#include "sample_work.h"

#define CHEESE_BLOCK_SIZE ((VkDeviceSize)4 << 20)

struct cheese_heap {
    const struct sample_device* device;
    MaarPool pool;
    struct cheese_sets sets;
    struct cheese_planet* planets;
    uint32_t count; /* of the array; most of them are destroyed */
    uint32_t kept;  /* those that remain */
};

/* One side of a barrier. */
struct cheese_side {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout;
};

extern const struct cheese_side cheese_fresh, cheese_sampled, cheese_copied_from, cheese_copied_to,
    cheese_cleared;

/* Records a barrier for an image of a planet. */
void cheese_pass(VkCommandBuffer commands, VkImage image, struct cheese_side before,
                 struct cheese_side after);

/* Creates so many planets, destroys two thirds, and fills the images and buffers of the others.
 * Prints an error and returns false on failure. The caller destroys the heap in every case. */
bool cheese_heap_create(struct cheese_heap* heap, const struct sample_device* device,
                        struct sample_work* work, uint32_t count);
/* The device must be done with the heap. */
void cheese_heap_destroy(struct cheese_heap* heap);

#endif
