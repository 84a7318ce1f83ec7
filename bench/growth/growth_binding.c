/*
 * Objects on memory that exists: aliases, and objects that the program made itself.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* One allocation of 256 KiB that n buffers or images share, and room for more of them. */
struct aliases {
    MaarAllocation memory;
    VkBuffer* buffers;
    VkImage* images;
};

#define SHARED_SIZE (256 * GROWTH_KIB)

/* ---- aliases ---- */

static struct aliases* open_aliases(struct growth* growth)
{
    const uint32_t count = growth->n + growth->count;
    struct aliases* aliases = growth_create_state(growth, 1, sizeof *aliases);
    const MaarMemoryRequest request = growth_request(SHARED_SIZE, 65536);
    MaarAllocationCreateInfo how = growth_how(growth);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, &aliases->memory));
    growth->spare = bench_allocate(2 * (size_t)count, sizeof(uint64_t));
    aliases->buffers = growth->spare;
    aliases->images = (VkImage*)growth->spare + count;
    return aliases;
}

static void create_buffer(struct growth* growth, uint32_t at)
{
    struct aliases* aliases = growth->state;
    const VkBufferCreateInfo info = growth_buffer(4 * GROWTH_KIB);
    GROWTH_EXPECT(maarCreateAliasingBuffer(growth->allocator, aliases->memory, 0, &info,
                                           &aliases->buffers[at]));
}

static void create_image(struct growth* growth, uint32_t at)
{
    struct aliases* aliases = growth->state;
    const VkImageCreateInfo info = growth_image(32, 1, 1);
    GROWTH_EXPECT(maarCreateAliasingImage(growth->allocator, aliases->memory, 0, &info,
                                          &aliases->images[at]));
}

static void open_aliasing_buffers(struct growth* growth)
{
    (void)open_aliases(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_buffer(growth, i);
    }
}

static void open_aliasing_images(struct growth* growth)
{
    (void)open_aliases(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_image(growth, i);
    }
}

static void destroy_buffers(struct growth* growth, uint32_t first, uint32_t count)
{
    const struct aliases* aliases = growth->state;
    for (uint32_t i = first; i < first + count; ++i) {
        vkDestroyBuffer(growth->device, aliases->buffers[i], NULL);
    }
}

static void destroy_images(struct growth* growth, uint32_t first, uint32_t count)
{
    const struct aliases* aliases = growth->state;
    for (uint32_t i = first; i < first + count; ++i) {
        vkDestroyImage(growth->device, aliases->images[i], NULL);
    }
}

static void destroy_more_buffers(struct growth* growth)
{
    destroy_buffers(growth, growth->n, growth->count);
}

static void destroy_more_images(struct growth* growth)
{
    destroy_images(growth, growth->n, growth->count);
}

static void close_aliases(struct growth* growth)
{
    const struct aliases* aliases = growth->state;
    destroy_buffers(growth, 0, aliases->buffers[0] != VK_NULL_HANDLE ? growth->n : 0);
    destroy_images(growth, 0, aliases->images[0] != VK_NULL_HANDLE ? growth->n : 0);
    maarFreeMemory(growth->allocator, aliases->memory);
}

static void do_create_buffer(struct growth* growth, uint32_t index)
{
    create_buffer(growth, growth->n + index);
}

static void do_create_image(struct growth* growth, uint32_t index)
{
    create_image(growth, growth->n + index);
}

/* ---- objects of the program ---- */

static void make_buffers(struct growth* growth)
{
    struct aliases* aliases = growth->state;
    const VkBufferCreateInfo info = growth_buffer(4 * GROWTH_KIB);
    for (uint32_t i = 0; i < growth->count; ++i) {
        GROWTH_EXPECT(
            vkCreateBuffer(growth->device, &info, NULL, &aliases->buffers[growth->n + i]));
    }
}

static void make_images(struct growth* growth)
{
    struct aliases* aliases = growth->state;
    const VkImageCreateInfo info = growth_image(32, 1, 1);
    for (uint32_t i = 0; i < growth->count; ++i) {
        GROWTH_EXPECT(vkCreateImage(growth->device, &info, NULL, &aliases->images[growth->n + i]));
    }
}

static void do_bind_buffer(struct growth* growth, uint32_t index)
{
    const struct aliases* aliases = growth->state;
    GROWTH_EXPECT(maarBindBuffer(growth->allocator, aliases->memory, 0,
                                 aliases->buffers[growth->n + index], NULL));
}

static void do_bind_image(struct growth* growth, uint32_t index)
{
    const struct aliases* aliases = growth->state;
    GROWTH_EXPECT(maarBindImage(growth->allocator, aliases->memory, 0,
                                aliases->images[growth->n + index], NULL));
}

/* Live allocations instead of aliases, and one buffer and image without memory. */
static void open_unbound(struct growth* growth)
{
    struct aliases* aliases = NULL;
    const VkBufferCreateInfo buffer = growth_buffer(4 * GROWTH_KIB);
    const VkImageCreateInfo image = growth_image(32, 1, 1);
    growth_open_live(growth);
    growth->state = aliases = bench_allocate(1, sizeof *aliases);
    growth->spare = bench_allocate(2, sizeof(uint64_t));
    aliases->buffers = growth->spare;
    aliases->images = (VkImage*)growth->spare + 1;
    GROWTH_EXPECT(vkCreateBuffer(growth->device, &buffer, NULL, aliases->buffers));
    GROWTH_EXPECT(vkCreateImage(growth->device, &image, NULL, aliases->images));
}

static void close_unbound(struct growth* growth)
{
    const struct aliases* aliases = growth->state;
    vkDestroyBuffer(growth->device, aliases->buffers[0], NULL);
    vkDestroyImage(growth->device, aliases->images[0], NULL);
    growth_close_live(growth);
}

static void do_allocate_for_buffer(struct growth* growth, uint32_t index)
{
    const struct aliases* aliases = growth->state;
    GROWTH_EXPECT(maarAllocateMemoryForBuffer(growth->allocator, aliases->buffers[0], NULL,
                                              &growth->memory[growth->n + index]));
}

static void do_allocate_for_image(struct growth* growth, uint32_t index)
{
    const struct aliases* aliases = growth->state;
    GROWTH_EXPECT(maarAllocateMemoryForImage(growth->allocator, aliases->images[0],
                                             VK_IMAGE_TILING_OPTIMAL, NULL,
                                             &growth->memory[growth->n + index]));
}

static void free_more(struct growth* growth)
{
    maarFreeMemories(growth->allocator, growth->count, growth->memory + growth->n);
}

#define BINDING(case_name, function, text, world, before, does, after, ends)                       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = 5000,                    \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after, .close = ends   \
    }

const struct growth_case growth_binding_cases[] = {
    BINDING("create-aliasing-buffer", "maarCreateAliasingBuffer", "buffers on the allocation",
            aliasing_buffers, NULL, do_create_buffer, destroy_more_buffers, close_aliases),
    BINDING("create-aliasing-image", "maarCreateAliasingImage", "images on the allocation",
            aliasing_images, NULL, do_create_image, destroy_more_images, close_aliases),
    BINDING("bind-buffer", "maarBindBuffer", "buffers on the allocation", aliasing_buffers,
            make_buffers, do_bind_buffer, destroy_more_buffers, close_aliases),
    BINDING("bind-image", "maarBindImage", "images on the allocation", aliasing_images, make_images,
            do_bind_image, destroy_more_images, close_aliases),
    BINDING("allocate-for-buffer", "maarAllocateMemoryForBuffer", "live allocations", unbound, NULL,
            do_allocate_for_buffer, free_more, close_unbound),
    BINDING("allocate-for-image", "maarAllocateMemoryForImage", "live allocations", unbound, NULL,
            do_allocate_for_image, free_more, close_unbound),
    {.name = NULL},
};
