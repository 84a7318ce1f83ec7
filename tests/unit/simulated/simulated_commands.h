/*
 * What the tests of executed commands share: a fixture whose driver executes, buffers of memory
 * that the host sees, and one command buffer at a time.
 */
#ifndef MAAR_TESTS_UNIT_SIMULATED_COMMANDS_H
#define MAAR_TESTS_UNIT_SIMULATED_COMMANDS_H

#include "tests/unit/simulated/simulated_fixture.h"

enum { EXECUTED_FORMAT_PAGE = 65536 };

struct executed {
    struct simulated_fixture f;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* A buffer in memory of its own. */
struct executed_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint8_t* bytes; /* NULL if the host does not see it */
    VkDeviceSize size;
};

/* An image in memory of its own. */
struct executed_image {
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize size;
};

static inline VkCommandBuffer executed_commands(const struct executed* x,
                                                VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = x->pool,
                                              .level = level,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(x->f.vkAllocateCommandBuffers(x->f.device, &info, &commands), VK_SUCCESS);
    return commands;
}

static inline void executed_open(struct executed* x, const MaarSimulatedProfile* profile,
                                 MaarSimulatedFlags flags)
{
    fixture_open(&x->f, profile);
    maarSimulatedSetFlags(x->f.physical, flags | MAAR_SIMULATED_EXECUTE_BIT);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    assert_int_equal(x->f.vkCreateCommandPool(x->f.device, &info, NULL, &x->pool), VK_SUCCESS);
    x->commands = executed_commands(x, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

/* The profile of the fixture, with sparse images and room for many allocations. */
static inline void executed_profile(MaarSimulatedProfile* p)
{
    fixture_profile(p);
    p->limits.maxMemoryAllocationCount = 4096;
    p->sparse.residencyImage2D = VK_TRUE;
    p->sparse.residencyImage3D = VK_TRUE;
    p->sparse.residencyAliased = VK_TRUE;
    p->sparse.properties.residencyStandard2DBlockShape = VK_TRUE;
}

static inline int executed_setup(void** state)
{
    struct executed* x = calloc(1, sizeof(*x));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(x);
    assert_non_null(profile);
    executed_profile(profile);
    executed_open(x, profile, 0);
    free(profile);
    *state = x;
    return 0;
}

/* Closes the device. Every violation that a test does not expect has failed it before. */
static inline int executed_teardown(void** state)
{
    const struct executed* x = *state;
    x->f.vkDestroyCommandPool(x->f.device, x->pool, NULL);
    return fixture_teardown(state);
}

static inline struct executed_buffer executed_buffer(const struct executed* x, uint32_t type,
                                                     VkDeviceSize size)
{
    const struct simulated_fixture* f = &x->f;
    struct executed_buffer made = {.size = size};
    made.buffer = fixture_buffer(
        f, size, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkMemoryRequirements requirements;
    f->vkGetBufferMemoryRequirements(f->device, made.buffer, &requirements);
    made.memory = fixture_memory(f, type, requirements.size);
    assert_int_equal(f->vkBindBufferMemory(f->device, made.buffer, made.memory, 0), VK_SUCCESS);
    if (type == 1) {
        void* bytes = NULL;
        assert_int_equal(f->vkMapMemory(f->device, made.memory, 0, VK_WHOLE_SIZE, 0, &bytes),
                         VK_SUCCESS);
        made.bytes = bytes;
    }
    return made;
}

static inline void executed_free_buffer(const struct executed* x, const struct executed_buffer* b)
{
    x->f.vkDestroyBuffer(x->f.device, b->buffer, NULL);
    if (b->bytes != NULL) {
        x->f.vkUnmapMemory(x->f.device, b->memory);
    }
    x->f.vkFreeMemory(x->f.device, b->memory, NULL);
}

static inline struct executed_image executed_image(const struct executed* x,
                                                   const VkImageCreateInfo* info)
{
    const struct simulated_fixture* f = &x->f;
    struct executed_image made = {.image = fixture_image(f, info)};
    VkMemoryRequirements requirements;
    f->vkGetImageMemoryRequirements(f->device, made.image, &requirements);
    made.size = requirements.size;
    made.memory = fixture_memory(f, 0, requirements.size);
    assert_int_equal(f->vkBindImageMemory(f->device, made.image, made.memory, 0), VK_SUCCESS);
    return made;
}

static inline void executed_free_image(const struct executed* x, const struct executed_image* i)
{
    x->f.vkDestroyImage(x->f.device, i->image, NULL);
    x->f.vkFreeMemory(x->f.device, i->memory, NULL);
}

static inline VkSemaphore executed_timeline(const struct executed* x)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore made = VK_NULL_HANDLE;
    assert_int_equal(x->f.vkCreateSemaphore(x->f.device, &info, NULL, &made), VK_SUCCESS);
    return made;
}

static inline void executed_begin(const struct executed* x, VkCommandBuffer commands)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(x->f.vkBeginCommandBuffer(commands, &info), VK_SUCCESS);
}

/* Orders and makes visible all transfers before for all transfers behind. */
static inline void executed_barrier(const struct executed* x, VkCommandBuffer commands)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT,
    };
    x->f.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

/* Makes transfers visible to the host, ends the commands, and submits them. */
static inline void executed_submit(const struct executed* x, VkCommandBuffer commands)
{
    const VkMemoryBarrier host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    x->f.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT,
                              0, 1, &host, 0, NULL, 0, NULL);
    assert_int_equal(x->f.vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Moves all of an image's aspects to a layout. */
static inline void executed_transition(const struct executed* x, VkCommandBuffer commands,
                                       VkImage image, VkImageAspectFlags aspects,
                                       VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspects, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    x->f.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                              VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Bytes that differ from their neighbours. */
static inline void executed_fill_bytes(uint8_t* bytes, VkDeviceSize size, uint32_t seed)
{
    uint32_t value = seed * 2654435761u + 12345u;
    for (VkDeviceSize i = 0; i < size; i++) {
        value = value * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(value >> 24);
    }
}

#endif
