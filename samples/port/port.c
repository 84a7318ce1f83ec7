/*
 * A media library's memory on Maar. port_memory.c contains the lesson: it stands where such a
 * library has a slab allocator of its own. This file plays the library: thousands of small buffers
 * with flags, frames that several queue families use, memory that one part exports and another part
 * imports for a buffer that exists already, and a frame that the host has in its own memory.
 */
#include "port_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_device.h"

const char sample_name[] = "port";

static const char usage[] =
    "usage: port [--device DEVICE] [--validate]\n"
    "\n"
    "Runs a media library's memory interface on Maar and checks what it gives.\n"
    "  --device DEVICE  auto, vulkan:N, lavapipe, a part of a name, or simulated:PROFILE\n"
    "  --validate       enable the validation layer\n";

enum { SMALL = 2000, FRAME = 4 << 20, PAGE = 4096, HOST_BYTES = 64 * PAGE };

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

struct port_run {
    struct sample_device device;
    struct port_memory small[SMALL];
    const char* shared; /* how the import went */
    const char* host;   /* how the host's frame went */
};

static bool parse_option(void* options, const char* name, const char* value)
{
    struct sample_device_options* const device = options;
    if (strcmp(name, "--device") != 0) {
        return sample_reject_option(name);
    }
    device->device = value;
    return true;
}

static bool check(bool holds, const char* what)
{
    if (!holds) {
        sample_complain("%s", what);
    }
    return holds;
}

/* Small buffers of three kinds, each filled with a byte of its own. */
static bool make_small(struct port_run* run)
{
    static const VkMemoryPropertyFlags required[] = {0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                                     VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT};
    static const VkMemoryPropertyFlags preferred[] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                                      VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    for (uint32_t i = 0; i < SMALL; ++i) {
        const struct port_request request = {
            .needs = {.size = 256 + i % 7 * 100, .alignment = 64},
            .required = required[i % 3],
            .preferred = preferred[i % 3],
            .buffer_usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            .tag = "small",
        };
        struct port_memory* made = &run->small[i];
        if (!check(port_allocate(run->device.allocator, &request, made), "a small buffer")) {
            return false;
        }
        if (made->data != NULL) {
            memset(made->data, (int)(i % 251), made->size);
        }
    }
    for (uint32_t i = 0; i < SMALL; ++i) {
        const struct port_memory* made = &run->small[i];
        const unsigned char* bytes = made->data;
        if (!check(bytes == NULL || (bytes[0] == i % 251 && bytes[made->size - 1] == i % 251),
                   "two small buffers overlap")) {
            return false;
        }
        if (bytes != NULL && !check(port_flush(run->device.allocator, made), "a flush")) {
            return false;
        }
    }
    return true;
}

/* A frame that two families use, if there are two. */
static bool make_frame(struct port_run* run)
{
    const struct sample_device* device = &run->device;
    struct port_memory frame;
    const struct port_request request = {
        .needs = {.size = FRAME, .alignment = 256},
        .preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        .buffer_usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .queue_families =
            1u << device->queue_families[0] | 1u << device->queue_families[device->queue_count - 1],
        .tag = "frame",
    };
    const bool made = check(port_allocate(device->allocator, &request, &frame), "a frame");
    port_free(device->allocator, &frame, NULL);
    return made;
}

/* Imports what was exported for a buffer that exists, and compares the bytes. */
static bool import_again(struct port_run* run, const struct port_memory* exported, int fd,
                         const MaarExportedMemory* described)
{
    const struct sample_device* device = &run->device;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = OPAQUE};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = exported->size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    struct port_request request = {.tag = "imported"};
    struct port_memory imported = {.kind = PORT_NOTHING};
    VkBuffer own = VK_NULL_HANDLE;
    if (!sample_succeeded(vkCreateBuffer(device->device, &info, NULL, &own), "vkCreateBuffer")) {
        (void)close(fd);
        return false;
    }
    if (described->dedicated == VK_TRUE) {
        request.own_buffer = own;
    } else {
        vkGetBufferMemoryRequirements(device->device, own, &request.needs);
    }
    bool fine = check(port_import(device->allocator, &request, fd, OPAQUE, described->blockSize,
                                  described->memoryTypeIndex, &imported),
                      "an import");
    if (!fine) {
        (void)close(fd);
    }
    if (fine) {
        fine = sample_succeeded(
            maarBindBuffer(device->allocator, imported.allocation, described->offset, own, NULL),
            "maarBindBuffer");
    }
    if (fine && exported->data != NULL) {
        char bytes[8] = "";
        memcpy(exported->data, "exported", sizeof bytes);
        fine = port_flush(device->allocator, exported) &&
               maarCopyFromAllocation(device->allocator, imported.allocation, described->offset,
                                      sizeof bytes, bytes) == VK_SUCCESS &&
               check(memcmp(bytes, "exported", sizeof bytes) == 0, "the import has other bytes");
    }
    vkDestroyBuffer(device->device, own, NULL);
    port_free(device->allocator, &imported, NULL);
    return fine;
}

static bool share(struct port_run* run)
{
    const struct sample_device* device = &run->device;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 65536,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY, .pBufferInfo = &info, .handleType = OPAQUE};
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    if (maarGetSharingSupport(device->allocator, &query, &support) != VK_SUCCESS ||
        support.exportable == VK_FALSE || support.importable == VK_FALSE) {
        run->shared = "not supported by this device";
        return true;
    }
    const struct port_request request = {
        .needs = {.size = info.size},
        .preferred = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
        .buffer_usage = info.usage,
        .export_type = OPAQUE,
        .tag = "exported",
    };
    struct port_memory exported;
    MaarExportedMemory described;
    if (!check(port_allocate(device->allocator, &request, &exported), "exportable memory")) {
        return false;
    }
    const int fd = port_export(device->allocator, &exported, OPAQUE, &described);
    const bool fine = check(fd >= 0, "an export") && import_again(run, &exported, fd, &described);
    port_free(device->allocator, &exported, NULL);
    run->shared = "one buffer's bytes, seen through another";
    return fine;
}

static bool wrap_host(struct port_run* run)
{
    void* bytes = aligned_alloc(PAGE, HOST_BYTES);
    struct port_memory frame;
    const struct port_request request = {
        .buffer_usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        .queue_families = 1u << run->device.queue_families[0] |
                          1u << run->device.queue_families[run->device.queue_count - 1],
        .tag = "the host's frame",
    };
    if (!sample_has_memory(bytes)) {
        return false;
    }
    memset(bytes, 7, HOST_BYTES);
    bool fine =
        check(port_wrap_host(run->device.allocator, &request, bytes, HOST_BYTES, true, &frame),
              "a buffer on host memory");
    if (fine) {
        MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
        fine = port_flush(run->device.allocator, &frame) &&
               maarGetHostBufferInfo(run->device.allocator, frame.host, &info) == VK_SUCCESS;
        run->host = info.copied == VK_TRUE ? "copied" : "in place";
    }
    port_free(run->device.allocator, &frame, NULL);
    free(bytes);
    return fine;
}

static void print_figures(const struct port_run* run)
{
    const MaarAllocator allocator = run->device.allocator;
    MaarStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    (void)maarGetStatistics(allocator, VK_NULL_HANDLE, &totals);
    printf("%s\n", run->device.properties.deviceName);
    printf("small buffers   %u, in %u VkBuffers and %u VkDeviceMemory objects\n", totals.sliceCount,
           totals.sliceBufferCount, totals.blockCount);
    printf("shared          %s\n", run->shared);
    printf("host's frame    %s\n", run->host);
    printf("available       %.1f MiB of device memory\n",
           (double)port_available(allocator, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) / 1048576);
}

static bool play(struct port_run* run)
{
    if (!make_small(run) || !make_frame(run) || !share(run) || !wrap_host(run)) {
        return false;
    }
    print_figures(run);
    for (uint32_t i = 0; i < SMALL; ++i) {
        port_free(run->device.allocator, &run->small[i], NULL);
    }
    port_collect(run->device.allocator);
    return true;
}

int main(int argc, char** argv)
{
    static struct port_run run;
    struct sample_device_options options = {.device = "auto", .second_queue = true};
    const struct sample_switch switches[] = {{"--validate", &options.validate}};
    const struct sample_command_line line = {.usage = usage,
                                             .switches = switches,
                                             .switch_count = 1,
                                             .parse = parse_option,
                                             .options = &options};
    int code = SAMPLE_EXIT_OK;
    if (!sample_parse_command_line(&line, argc, argv, &code)) {
        return sample_end(code);
    }
    code = sample_device_open(&run.device, &options);
    if (code == SAMPLE_EXIT_OK && !play(&run)) {
        code = SAMPLE_EXIT_FAILED;
    }
    sample_device_close(&run.device);
    const uint32_t messages = run.device.messages.count;
    if (code == SAMPLE_EXIT_OK && messages > 0) {
        sample_complain("%u messages", messages);
        code = SAMPLE_EXIT_FAILED;
    }
    return sample_end(code);
}
