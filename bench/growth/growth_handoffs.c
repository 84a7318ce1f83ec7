/*
 * Handoffs of shared buffers, and buffers on the host's memory.
 */
#include "growth_cases.h"
#include "growth_shared.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- handoffs ---- */

struct handoffs {
    MaarHandoffResource* resources;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

/* One shared buffer, which n resources name a part of each. */
static void open_resources(struct growth* growth)
{
    const uint32_t n = growth->n;
    growth->n = 1;
    growth_open_shared(growth, false);
    growth->n = n;
    struct handoffs* handoffs = bench_allocate(1, sizeof *handoffs);
    growth->state = handoffs;
    handoffs->resources = bench_allocate(n, sizeof *handoffs->resources);
    for (uint32_t i = 0; i < n; ++i) {
        handoffs->resources[i] = (MaarHandoffResource){
            .buffer = *(const VkBuffer*)growth->spare,
            .offset = i % 1024 * 16,
            .size = 16,
        };
    }
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
    };
    GROWTH_EXPECT(vkCreateCommandPool(growth->device, &pool, NULL, &handoffs->pool));
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = handoffs->pool,
        .commandBufferCount = 1,
    };
    GROWTH_EXPECT(vkAllocateCommandBuffers(growth->device, &info, &handoffs->commands));
}

static void close_resources(struct growth* growth)
{
    struct handoffs* handoffs = growth->state;
    vkDestroyCommandPool(growth->device, handoffs->pool, NULL);
    free(handoffs->resources);
    maarDestroyBuffer(growth->allocator, *(const VkBuffer*)growth->spare, growth->memory[0]);
}

static void begin(struct growth* growth)
{
    const struct handoffs* handoffs = growth->state;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    GROWTH_EXPECT(vkBeginCommandBuffer(handoffs->commands, &info));
}

static void end(struct growth* growth)
{
    const struct handoffs* handoffs = growth->state;
    GROWTH_EXPECT(vkEndCommandBuffer(handoffs->commands));
}

static void do_release(struct growth* growth, uint32_t index)
{
    const struct handoffs* handoffs = growth->state;
    (void)index;
    GROWTH_EXPECT(maarCmdRelease(growth->allocator, handoffs->commands, 0,
                                 MAAR_HANDOFF_PEER_EXTERNAL, growth->n, handoffs->resources));
}

static void do_acquire(struct growth* growth, uint32_t index)
{
    const struct handoffs* handoffs = growth->state;
    (void)index;
    GROWTH_EXPECT(maarCmdAcquire(growth->allocator, handoffs->commands, 0,
                                 MAAR_HANDOFF_PEER_EXTERNAL, growth->n, handoffs->resources));
}

static void submit(struct growth* growth, uint32_t count)
{
    const struct handoffs* handoffs = growth->state;
    const MaarHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = growth->serial++ % 2 == 0 ? MAAR_HANDOFF_DIRECTION_RELEASE
                                               : MAAR_HANDOFF_DIRECTION_ACQUIRE,
        .resourceCount = count,
        .pResources = handoffs->resources,
    };
    GROWTH_EXPECT(maarSubmitHandoff(growth->allocator, &info));
}

static void do_submit_all(struct growth* growth, uint32_t index)
{
    (void)index;
    submit(growth, growth->n);
}

static void open_submitted(struct growth* growth)
{
    open_resources(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        submit(growth, 1);
    }
}

static void do_submit(struct growth* growth, uint32_t index)
{
    (void)index;
    submit(growth, 1);
}

/* Submissions that the device has not executed. */
static void open_in_flight(struct growth* growth)
{
    open_resources(growth);
    maarSimulatedSetFlags(growth->physical,
                          MAAR_SIMULATED_ALLOW_ALIASING_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    for (uint32_t i = 0; i < growth->n; ++i) {
        submit(growth, 1);
    }
}

static void close_in_flight(struct growth* growth)
{
    maarSimulatedSetFlags(growth->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    close_resources(growth);
}

/* ---- the host's memory ---- */

enum { HOST_SIZE = 4096 };

struct hosts {
    char* bytes;
    MaarHostBuffer* buffers;
    VkImage images[64];
    MaarAllocation memory[64];
};

static MaarHostBuffer create_host(struct growth* growth, void* bytes, VkDeviceSize size,
                                  MaarHostBufferCreateFlags flags)
{
    const MaarHostBufferCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .flags = flags,
        .pMemory = bytes,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    MaarHostBuffer buffer = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateHostBuffer(growth->allocator, &info, &buffer));
    return buffer;
}

static void create_small(struct growth* growth, uint32_t at)
{
    const struct hosts* hosts = growth->state;
    hosts->buffers[at] = create_host(
        growth, hosts->bytes + (size_t)HOST_SIZE * at, HOST_SIZE,
        at % 2 == 0 ? (MaarHostBufferCreateFlags)MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT : 0);
}

static void open_hosts(struct growth* growth)
{
    const size_t count = (size_t)growth->n + growth->count;
    struct hosts* hosts = growth_create_state(growth, 1, sizeof *hosts);
    growth->spare = bench_allocate(count + 1, HOST_SIZE);
    growth->memory = bench_allocate(count, sizeof(MaarHostBuffer));
    hosts->bytes =
        (char*)growth->spare + (HOST_SIZE - (uintptr_t)growth->spare % HOST_SIZE) % HOST_SIZE;
    hosts->buffers = (MaarHostBuffer*)(void*)growth->memory;
    for (uint32_t i = 0; i < growth->n; ++i) {
        create_small(growth, i);
    }
}

static void close_hosts(struct growth* growth)
{
    const struct hosts* hosts = growth->state;
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyHostBuffer(growth->allocator, hosts->buffers[i]);
    }
}

static void do_create_host(struct growth* growth, uint32_t index)
{
    create_small(growth, growth->n + index);
}

static void do_destroy_host(struct growth* growth, uint32_t index)
{
    const struct hosts* hosts = growth->state;
    maarDestroyHostBuffer(growth->allocator, hosts->buffers[growth->n + index]);
}

static void create_more_hosts(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_create_host);
}

static void destroy_more_hosts(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_destroy_host);
}

static void do_import_host_image(struct growth* growth, uint32_t index)
{
    struct hosts* hosts = growth->state;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {16, 16, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_LINEAR,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
    };
    const MaarHostImportInfo import = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO,
        .pMemory = hosts->bytes + (size_t)HOST_SIZE * (growth->n + index),
        .size = HOST_SIZE,
    };
    GROWTH_EXPECT(maarImportHostImage(growth->allocator, &info, &import, &hosts->images[index],
                                      &hosts->memory[index]));
}

static void destroy_host_images(struct growth* growth)
{
    const struct hosts* hosts = growth->state;
    for (uint32_t i = 0; i < growth->count; ++i) {
        maarDestroyImage(growth->allocator, hosts->images[i], hosts->memory[i]);
    }
}

static MaarHostBuffer pick(struct growth* growth)
{
    const struct hosts* hosts = growth->state;
    return hosts->buffers[growth_pick(growth)];
}

static void do_get_host_info(struct growth* growth, uint32_t index)
{
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetHostBufferInfo(growth->allocator, pick(growth), &info));
}

static void do_push(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarPushHostBuffer(growth->allocator, pick(growth), 0, 16));
}

static void do_pull(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarPullHostBuffer(growth->allocator, pick(growth), 0, 16));
}

/* A copied buffer of n KiB. */
static void open_large(struct growth* growth)
{
    struct hosts* hosts = growth_create_state(growth, 1, sizeof *hosts);
    growth->spare = bench_allocate(growth->n, GROWTH_KIB);
    growth->memory = bench_allocate(1, sizeof(MaarHostBuffer));
    hosts->buffers = (MaarHostBuffer*)(void*)growth->memory;
    hosts->buffers[0] = create_host(growth, growth->spare, GROWTH_KIB * growth->n,
                                    MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT);
}

static void close_large(struct growth* growth)
{
    const struct hosts* hosts = growth->state;
    maarDestroyHostBuffer(growth->allocator, hosts->buffers[0]);
}

static void do_push_all(struct growth* growth, uint32_t index)
{
    const struct hosts* hosts = growth->state;
    (void)index;
    GROWTH_EXPECT(maarPushHostBuffer(growth->allocator, hosts->buffers[0], 0, VK_WHOLE_SIZE));
}

static void do_pull_all(struct growth* growth, uint32_t index)
{
    const struct hosts* hosts = growth->state;
    (void)index;
    GROWTH_EXPECT(maarPullHostBuffer(growth->allocator, hosts->buffers[0], 0, VK_WHOLE_SIZE));
}

static void do_create_large(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyHostBuffer(growth->allocator,
                          create_host(growth, growth->spare, GROWTH_KIB * growth->n,
                                      MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT));
}

#define HANDOFFS(case_name, function, how, least, text, world, before, does, after)                \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = text, .kind = how, .n = least,      \
        .count = 64, .open = open_##world, .prepare = before, .operation = does, .tidy = after,    \
        .close = close_##world                                                                     \
    }
#define close_submitted close_resources

const struct growth_case growth_handoff_cases[] = {
    HANDOFFS("release", "maarCmdRelease", GROWTH_OVER, 64, "resources of the call", resources,
             begin, do_release, end),
    HANDOFFS("acquire", "maarCmdAcquire", GROWTH_OVER, 64, "resources of the call", resources,
             begin, do_acquire, end),
    HANDOFFS("submit-handoff-resources", "maarSubmitHandoff", GROWTH_OVER, 64,
             "resources of the call", resources, NULL, do_submit_all, NULL),
    HANDOFFS("submit-handoff", "maarSubmitHandoff", GROWTH_BESIDE, 256,
             "handoffs before, all executed", submitted, NULL, do_submit, NULL),
    HANDOFFS("submit-handoff-in-flight", "maarSubmitHandoff", GROWTH_BESIDE, 64,
             "handoffs that are not executed yet", in_flight, NULL, do_submit, NULL),
    HANDOFFS("create-host-buffer", "maarCreateHostBuffer", GROWTH_BESIDE, 256, "host buffers",
             hosts, NULL, do_create_host, destroy_more_hosts),
    HANDOFFS("destroy-host-buffer", "maarDestroyHostBuffer", GROWTH_BESIDE, 256, "host buffers",
             hosts, create_more_hosts, do_destroy_host, NULL),
    HANDOFFS("import-host-image", "maarImportHostImage", GROWTH_BESIDE, 256, "host buffers", hosts,
             NULL, do_import_host_image, destroy_host_images),
    HANDOFFS("host-buffer-info", "maarGetHostBufferInfo", GROWTH_BESIDE, 256, "host buffers", hosts,
             NULL, do_get_host_info, NULL),
    HANDOFFS("push-host-buffer", "maarPushHostBuffer", GROWTH_BESIDE, 256, "host buffers", hosts,
             NULL, do_push, NULL),
    HANDOFFS("pull-host-buffer", "maarPullHostBuffer", GROWTH_BESIDE, 256, "host buffers", hosts,
             NULL, do_pull, NULL),
    HANDOFFS("push-host-bytes", "maarPushHostBuffer", GROWTH_OVER, 1024, "KiB", large, NULL,
             do_push_all, NULL),
    HANDOFFS("pull-host-bytes", "maarPullHostBuffer", GROWTH_OVER, 1024, "KiB", large, NULL,
             do_pull_all, NULL),
    HANDOFFS("create-host-bytes", "maarCreateHostBuffer maarDestroyHostBuffer", GROWTH_OVER, 1024,
             "KiB of a copy", large, NULL, do_create_large, NULL),
    {.name = NULL},
};
