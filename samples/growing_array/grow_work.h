/*
 * The shaders that write and verify elements, and the commands that run them. The submissions
 * follow one another on the main queue. Each signals one value of a timeline.
 *
 * Shaders access elements by a device address, or, without addresses, by descriptors of windows of
 * the buffer.
 */
#ifndef MAAR_SAMPLE_GROW_WORK_H
#define MAAR_SAMPLE_GROW_WORK_H

#include "sample_device.h"

#define GROW_ELEMENT_SIZE 16u
#define GROW_SLOTS 3u /* submissions in flight */
#define GROW_MAX_COUNTS 4096u

/* The location of elements. */
struct grow_place {
    VkBuffer buffer;
    VkDeviceAddress address; /* of element 0; 0 without addresses */
};

struct grow_work {
    const struct sample_device* device;
    bool by_address;
    uint64_t window; /* the most elements of one dispatch */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline write, count;
    VkDescriptorPool descriptors;
    VkCommandPool commands;
    VkSemaphore timeline;
    uint64_t value; /* of the last submission */
    struct {
        VkDescriptorSet set;
        VkCommandBuffer buffer;
        uint64_t value;
    } slots[GROW_SLOTS];
    uint32_t next_slot;
    VkBuffer counts;
    MaarAllocation counts_memory;
};

/* Creates the objects. Prints an error and returns false on failure. The caller destroys the
 * objects in every case. */
bool grow_work_create(struct grow_work* work, const struct sample_device* device, bool by_address);
void grow_work_destroy(struct grow_work* work);

/* Makes the device write elements [first, first + count) after a point. Does not wait on the
 * host. */
bool grow_work_write(struct grow_work* work, const struct grow_place* place, uint64_t first,
                     uint64_t count, const MaarPoint* after);

/* Makes the device compare elements [0, count) with the expected values, and waits. Fills in the
 * number of equal elements. */
bool grow_work_verify(struct grow_work* work, const struct grow_place* place, uint64_t count,
                      uint64_t* matching);

/* Waits until everything that was submitted has been executed. */
bool grow_work_wait(struct grow_work* work);

#endif
