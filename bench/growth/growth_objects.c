/*
 * Buffers and images, with memory or on existing memory.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Buffers and images, each with its memory. The first n live during the run. */
struct objects {
    VkBuffer* buffers;
    VkImage* images;
    MaarAllocation* memory;
};

/* ---- worlds ---- */

static struct objects* open_objects(struct growth* growth)
{
    const uint32_t count = growth->n + growth->count;
    struct objects* objects = growth_create_state(growth, 1, sizeof *objects);
    growth->memory = bench_allocate(2 * (size_t)count, sizeof *growth->memory);
    growth->spare = bench_allocate(2 * (size_t)count, sizeof(uint64_t));
    objects->memory = growth->memory;
    objects->buffers = growth->spare;
    objects->images = (VkImage*)growth->spare + count;
    return objects;
}

static void create_buffer(struct growth* growth, uint32_t at)
{
    struct objects* objects = growth->state;
    VkBufferCreateInfo info = growth_buffer(4 * GROWTH_KIB);
    info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    GROWTH_EXPECT(maarCreateBuffer(growth->allocator, &info, NULL, &objects->buffers[at],
                                   &objects->memory[at]));
}

static void destroy_buffer(struct growth* growth, uint32_t at)
{
    struct objects* objects = growth->state;
    maarDestroyBuffer(growth->allocator, objects->buffers[at], objects->memory[at]);
}

static void create_image(struct growth* growth, uint32_t at)
{
    struct objects* objects = growth->state;
    const VkImageCreateInfo info = growth_image(32, 1, 1);
    GROWTH_EXPECT(maarCreateImage(growth->allocator, &info, NULL, &objects->images[at],
                                  &objects->memory[at]));
}

static void destroy_image(struct growth* growth, uint32_t at)
{
    struct objects* objects = growth->state;
    maarDestroyImage(growth->allocator, objects->images[at], objects->memory[at]);
}

static void open_buffers(struct growth* growth)
{
    (void)open_objects(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_buffer(growth, i);
    }
}

static void close_buffers(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_buffer(growth, i);
    }
}

static void open_images(struct growth* growth)
{
    (void)open_objects(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_image(growth, i);
    }
}

static void close_images(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        destroy_image(growth, i);
    }
}

/* ---- with memory ---- */

static void do_create_buffer(struct growth* growth, uint32_t index)
{
    create_buffer(growth, growth->n + index);
}

static void do_destroy_buffer(struct growth* growth, uint32_t index)
{
    destroy_buffer(growth, growth->n + index);
}

static void do_create_image(struct growth* growth, uint32_t index)
{
    create_image(growth, growth->n + index);
}

static void do_destroy_image(struct growth* growth, uint32_t index)
{
    destroy_image(growth, growth->n + index);
}

static void for_each_more(struct growth* growth, void (*call)(struct growth*, uint32_t))
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        call(growth, i);
    }
}

static void create_more_buffers(struct growth* growth)
{
    for_each_more(growth, do_create_buffer);
}

static void destroy_more_buffers(struct growth* growth)
{
    for_each_more(growth, do_destroy_buffer);
}

static void create_more_images(struct growth* growth)
{
    for_each_more(growth, do_create_image);
}

static void destroy_more_images(struct growth* growth)
{
    for_each_more(growth, do_destroy_image);
}

/* Destruction after points, which pass when the case ends. */
static void do_destroy_buffer_after(struct growth* growth, uint32_t index)
{
    const struct objects* objects = growth->state;
    const uint32_t at = growth->n + index;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(maarDestroyBufferAfter(growth->allocator, objects->buffers[at],
                                         objects->memory[at], 1, &point));
}

static void do_destroy_image_after(struct growth* growth, uint32_t index)
{
    const struct objects* objects = growth->state;
    const uint32_t at = growth->n + index;
    const MaarPoint point = {.value = 1 + bench_random(&growth->random) % 1000};
    GROWTH_EXPECT(maarDestroyImageAfter(growth->allocator, objects->images[at], objects->memory[at],
                                        1, &point));
}

/* n buffers or images whose destruction is pending. */
static void open_pending_buffers(struct growth* growth)
{
    const struct objects* objects = open_objects(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {.value = 1 + i % 1000};
        create_buffer(growth, i);
        GROWTH_EXPECT(maarDestroyBufferAfter(growth->allocator, objects->buffers[i],
                                             objects->memory[i], 1, &point));
    }
}

static void open_pending_images(struct growth* growth)
{
    const struct objects* objects = open_objects(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        const MaarPoint point = {.value = 1 + i % 1000};
        create_image(growth, i);
        GROWTH_EXPECT(maarDestroyImageAfter(growth->allocator, objects->images[i],
                                            objects->memory[i], 1, &point));
    }
}

static void close_pending(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, UINT64_MAX));
}

/* ---- planes ---- */

static void do_create_disjoint(struct growth* growth, uint32_t index)
{
    VkImageCreateInfo info = growth_image(64, 1, 1);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation planes[2];
    (void)index;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    GROWTH_EXPECT(maarCreateDisjointImage(growth->allocator, &info, NULL, 2, &image, planes));
    maarDestroyImage(growth->allocator, image, planes[0]);
    maarFreeMemory(growth->allocator, planes[1]);
}

/* ---- queries ---- */

static void do_choose_for_buffer(struct growth* growth, uint32_t index)
{
    const VkBufferCreateInfo info = growth_buffer(4 * GROWTH_KIB);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    (void)index;
    GROWTH_EXPECT(maarChooseMemoryTypeForBuffer(growth->allocator, &info, NULL, &choice));
}

static void do_choose_for_image(struct growth* growth, uint32_t index)
{
    const VkImageCreateInfo info = growth_image(32, 1, 1);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    (void)index;
    GROWTH_EXPECT(maarChooseMemoryTypeForImage(growth->allocator, &info, NULL, &choice));
}

static void do_get_address(struct growth* growth, uint32_t index)
{
    const struct objects* objects = growth->state;
    VkDeviceAddress address = 0;
    (void)index;
    GROWTH_EXPECT(
        maarGetBufferAddress(growth->allocator, objects->buffers[growth_pick(growth)], &address));
}

#define OBJECTS(case_name, function, least, text, world, before, does, after)                      \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .n = least,                   \
        .open = open_##world, .prepare = before, .operation = does, .tidy = after,                 \
        .close = close_##world                                                                     \
    }
#define close_pending_buffers close_pending
#define close_pending_images close_pending

const struct growth_case growth_object_cases[] = {
    OBJECTS("create-buffer", "maarCreateBuffer", 5000, "buffers", buffers, NULL, do_create_buffer,
            destroy_more_buffers),
    OBJECTS("destroy-buffer", "maarDestroyBuffer", 5000, "buffers", buffers, create_more_buffers,
            do_destroy_buffer, NULL),
    OBJECTS("destroy-buffer-after", "maarDestroyBufferAfter", 5000,
            "buffers whose destruction is pending", pending_buffers, create_more_buffers,
            do_destroy_buffer_after, NULL),
    OBJECTS("create-image", "maarCreateImage", 5000, "images", images, NULL, do_create_image,
            destroy_more_images),
    OBJECTS("destroy-image", "maarDestroyImage", 5000, "images", images, create_more_images,
            do_destroy_image, NULL),
    OBJECTS("destroy-image-after", "maarDestroyImageAfter", 5000,
            "images whose destruction is pending", pending_images, create_more_images,
            do_destroy_image_after, NULL),
    OBJECTS("create-disjoint-image", "maarCreateDisjointImage", 5000, "images", images, NULL,
            do_create_disjoint, NULL),
    OBJECTS("choose-type-for-buffer", "maarChooseMemoryTypeForBuffer", 5000, "buffers", buffers,
            NULL, do_choose_for_buffer, NULL),
    OBJECTS("choose-type-for-image", "maarChooseMemoryTypeForImage", 5000, "images", images, NULL,
            do_choose_for_image, NULL),
    OBJECTS("buffer-address", "maarGetBufferAddress", 5000, "buffers", buffers, NULL,
            do_get_address, NULL),
    {.name = NULL},
};
