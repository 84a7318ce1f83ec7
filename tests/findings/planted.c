/*
 * planted NAME: runs one function of docs/findings.md, such as wrong_heap_wrong, or all mended ones
 * in a row ("clean"), or a program without a mistake ("uploads" and others), as a program of its
 * own that the layer watches.
 */
#include "planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "findings.inc"

static void check(bool holds, const char* what)
{
    if (!holds) {
        fprintf(stderr, "planted: %s\n", what);
        exit(1);
    }
}

void planted_open(struct planted* p)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                           .pApplicationInfo = &application};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    uint32_t count = 1;
    if (volkInitialize() != VK_SUCCESS) {
        printf("skipped: no Vulkan loader\n");
        exit(PLANTED_SKIPPED);
    }
    check(vkCreateInstance(&instance, NULL, &p->instance) == VK_SUCCESS, "no instance");
    volkLoadInstanceOnly(p->instance);
    check(vkEnumeratePhysicalDevices(p->instance, &count, &p->physical) >= VK_SUCCESS && count == 1,
          "no device");
    vkGetPhysicalDeviceMemoryProperties(p->physical, &p->memory);
    check(vkCreateDevice(p->physical, &device, NULL, &p->device) == VK_SUCCESS, "no device");
    volkLoadDeviceTable(&p->call, p->device);
}

void planted_close(struct planted* p)
{
    for (uint32_t i = 0; i < p->buffer_count && !p->forgets && !p->forgets_buffers; ++i) {
        p->call.vkDestroyBuffer(p->device, p->buffers[i], NULL);
    }
    for (uint32_t i = 0; i < p->image_count; ++i) {
        p->call.vkDestroyImage(p->device, p->images[i], NULL);
    }
    for (uint32_t i = 0; i < p->memory_count && !p->forgets; ++i) {
        p->call.vkFreeMemory(p->device, p->memories[i], NULL);
    }
    p->call.vkDestroyDevice(p->device, NULL);
    vkDestroyInstance(p->instance, NULL);
}

VkBuffer make_buffer(struct planted* p, VkDeviceSize size, VkBufferUsageFlags usage,
                     VkMemoryRequirements* needs)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage};
    VkBuffer buffer = VK_NULL_HANDLE;
    check(p->buffer_count < PLANTED_MOST, "too many buffers");
    check(p->call.vkCreateBuffer(p->device, &info, NULL, &buffer) == VK_SUCCESS, "no buffer");
    p->call.vkGetBufferMemoryRequirements(p->device, buffer, needs);
    p->buffers[p->buffer_count++] = buffer;
    return buffer;
}

VkImage make_image(struct planted* p, uint32_t width, VkImageUsageFlags usage,
                   VkMemoryRequirements* needs)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {width, width, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = usage};
    VkImage image = VK_NULL_HANDLE;
    check(p->image_count < PLANTED_MOST, "too many images");
    check(p->call.vkCreateImage(p->device, &info, NULL, &image) == VK_SUCCESS, "no image");
    p->call.vkGetImageMemoryRequirements(p->device, image, needs);
    p->images[p->image_count++] = image;
    return image;
}

uint32_t find_type(const struct planted* p, uint32_t bits, VkMemoryPropertyFlags wanted,
                   VkMemoryPropertyFlags unwanted)
{
    for (uint32_t i = 0; i < p->memory.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags flags = p->memory.memoryTypes[i].propertyFlags;
        if ((bits >> i & 1) != 0 && (flags & wanted) == wanted && (flags & unwanted) == 0) {
            return i;
        }
    }
    printf("skipped: the device has no memory type with flags 0x%x and without 0x%x\n", wanted,
           unwanted);
    exit(PLANTED_SKIPPED);
}

static VkResult try_to_take(struct planted* p, VkDeviceSize size, uint32_t type)
{
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = size,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    const VkResult result = p->call.vkAllocateMemory(p->device, &info, NULL, &memory);
    if (result == VK_SUCCESS) {
        check(p->memory_count < PLANTED_MOST, "too many memories");
        p->memories[p->memory_count++] = memory;
    }
    return result;
}

VkDeviceMemory take(struct planted* p, VkDeviceSize size, uint32_t type)
{
    check(try_to_take(p, size, type) == VK_SUCCESS, "no memory");
    return p->memories[p->memory_count - 1];
}

void expect_no_memory(struct planted* p, VkDeviceSize size, uint32_t type)
{
    if (try_to_take(p, size, type) == VK_SUCCESS) {
        printf("skipped: the driver promises %llu bytes\n", (unsigned long long)size);
        exit(PLANTED_SKIPPED);
    }
}

void give(struct planted* p, VkDeviceMemory memory)
{
    for (uint32_t i = 0; i < p->memory_count; ++i) {
        if (p->memories[i] == memory) {
            p->memories[i] = p->memories[--p->memory_count];
            p->call.vkFreeMemory(p->device, memory, NULL);
            return;
        }
    }
    check(false, "unknown memory");
}

void bind_buffer(struct planted* p, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
    check(p->call.vkBindBufferMemory(p->device, buffer, memory, offset) == VK_SUCCESS, "no bind");
}

void bind_image(struct planted* p, VkImage image, VkDeviceMemory memory, VkDeviceSize offset)
{
    check(p->call.vkBindImageMemory(p->device, image, memory, offset) == VK_SUCCESS, "no bind");
}

void end_buffer(struct planted* p, VkBuffer buffer)
{
    for (uint32_t i = 0; i < p->buffer_count; ++i) {
        if (p->buffers[i] == buffer) {
            p->buffers[i] = p->buffers[--p->buffer_count];
            p->call.vkDestroyBuffer(p->device, buffer, NULL);
            return;
        }
    }
    check(false, "unknown buffer");
}

void map(struct planted* p, VkDeviceMemory memory)
{
    void* data = NULL;
    check(p->call.vkMapMemory(p->device, memory, 0, VK_WHOLE_SIZE, 0, &data) == VK_SUCCESS,
          "no mapping");
}

void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    (void)nanosleep(&moment, NULL);
}

/* What a loading game does: buffers for uploads, each freed when its copy is done. By chance, each
 * of a few is larger than the one before and made while that one lives. */
static void uploads(struct planted* p)
{
    static const VkDeviceSize sizes[] = {4, 8, 12, 16, 4, 2, 6, 10, 16, 1};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    VkBuffer buffers[COUNT];
    VkMemoryRequirements needs;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    for (int i = 0; i < COUNT; ++i) {
        buffers[i] = make_buffer(p, sizes[i] << 18, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &needs);
        if (i == 0) {
            memory = take(p, 8 << 20, find_type(p, needs.memoryTypeBits, 0, 0));
        }
        bind_buffer(p, buffers[i], memory, (i & 1) != 0 ? 4 << 20 : 0);
        if (i > 0) {
            end_buffer(p, buffers[i - 1]);
        }
    }
}

/* A shadow map, and small targets beside it: sharing would save next to nothing. */
static void shadow_map(struct planted* p)
{
    for (int i = 0; i < 6; ++i) {
        VkMemoryRequirements needs;
        VkImage image =
            make_image(p, i == 0 ? 4096 : 64, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, &needs);
        bind_image(p, image, take(p, needs.size, find_type(p, needs.memoryTypeBits, 0, 0)), 0);
    }
}

/* Buffers one after another, each at the next offset that its alignment allows. */
static void gaps(struct planted* p)
{
    enum { COUNT = 1600, SIZE = 4097 };
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize end = 0;
    for (int i = 0; i < COUNT; ++i) {
        VkMemoryRequirements needs;
        VkBuffer buffer = make_buffer(p, SIZE, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, &needs);
        const VkDeviceSize step =
            (needs.size + needs.alignment - 1) / needs.alignment * needs.alignment;
        if (i == 0) {
            memory =
                take(p, step * (COUNT - 1) + needs.size, find_type(p, needs.memoryTypeBits, 0, 0));
        }
        bind_buffer(p, buffer, memory, end);
        end += step;
    }
}

struct planted_case {
    const char* name;
    void (*wrong)(struct planted* p);
    void (*right)(struct planted* p);
};

static const struct planted_case cases[] = {
    {"wrong_heap", wrong_heap_wrong, wrong_heap_right},
    {"small_bar", small_bar_wrong, small_bar_right},
    {"never_bound", never_bound_wrong, never_bound_right},
    {"not_freed", not_freed_wrong, not_freed_right},
    {"growth_by_copy", growth_by_copy_wrong, growth_by_copy_right},
    {"own_memory", own_memory_wrong, own_memory_right},
    {"refused", refused_wrong, refused_right},
    {"aliasing", aliasing_wrong, aliasing_right},
    {"tiny_buffers", tiny_buffers_wrong, tiny_buffers_right},
    {"leak", leak_wrong, leak_right},
    {"readback", readback_wrong, readback_right},
    {"churn", churn_wrong, churn_right},
    {"uploads", NULL, uploads},
    {"shadow_map", NULL, shadow_map},
    {"gaps", NULL, gaps},
};

int main(int argc, char** argv)
{
    static struct planted p;
    const char* const name = argc > 1 ? argv[1] : "";
    const char* const form = argc > 2 ? argv[2] : "";
    bool ran = false;
    planted_open(&p);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const bool wrong = strcmp(form, "wrong") == 0;
        if ((strcmp(name, "clean") == 0 || strcmp(name, cases[i].name) == 0) &&
            (!wrong || cases[i].wrong != NULL)) {
            (wrong ? cases[i].wrong : cases[i].right)(&p);
            ran = true;
        }
    }
    planted_close(&p);
    check(ran, "usage: planted NAME wrong|right, or planted clean right");
    return 0;
}
