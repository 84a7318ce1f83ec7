/*
 * Which memory types are chosen: on two small devices, and on every device profile.
 */
#include "tests/vma/same_program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define FLAG(name) ((VmaAllocationCreateFlags)VMA_ALLOCATION_CREATE_##name##_BIT)

enum { MOST_PROFILES = 128, MOST_NAME = 80 };

static void say_types(const char* device, VmaAllocator allocator)
{
    static const struct {
        const char* name;
        VmaMemoryUsage usage;
        VmaAllocationCreateFlags flags;
    } ways[] = {
        {"auto", VMA_MEMORY_USAGE_AUTO, 0},
        {"auto-write", VMA_MEMORY_USAGE_AUTO, FLAG(HOST_ACCESS_SEQUENTIAL_WRITE)},
        {"auto-random", VMA_MEMORY_USAGE_AUTO, FLAG(HOST_ACCESS_RANDOM)},
        {"auto-either", VMA_MEMORY_USAGE_AUTO,
         FLAG(HOST_ACCESS_SEQUENTIAL_WRITE) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)},
        {"auto-random-either", VMA_MEMORY_USAGE_AUTO,
         FLAG(HOST_ACCESS_RANDOM) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)},
        {"host-either", VMA_MEMORY_USAGE_AUTO_PREFER_HOST,
         FLAG(HOST_ACCESS_SEQUENTIAL_WRITE) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)},
        {"host-random-either", VMA_MEMORY_USAGE_AUTO_PREFER_HOST,
         FLAG(HOST_ACCESS_RANDOM) | FLAG(HOST_ACCESS_ALLOW_TRANSFER_INSTEAD)},
        {"device", VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE, 0},
        {"device-write", VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE, FLAG(HOST_ACCESS_SEQUENTIAL_WRITE)},
        {"device-random", VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE, FLAG(HOST_ACCESS_RANDOM)},
        {"host", VMA_MEMORY_USAGE_AUTO_PREFER_HOST, 0},
        {"host-write", VMA_MEMORY_USAGE_AUTO_PREFER_HOST, FLAG(HOST_ACCESS_SEQUENTIAL_WRITE)},
        {"host-random", VMA_MEMORY_USAGE_AUTO_PREFER_HOST, FLAG(HOST_ACCESS_RANDOM)},
        {"unknown", VMA_MEMORY_USAGE_UNKNOWN, 0},
        {"gpu-only", VMA_MEMORY_USAGE_GPU_ONLY, 0},
        {"cpu-only", VMA_MEMORY_USAGE_CPU_ONLY, 0},
        {"cpu-to-gpu", VMA_MEMORY_USAGE_CPU_TO_GPU, 0},
        {"gpu-to-cpu", VMA_MEMORY_USAGE_GPU_TO_CPU, 0},
        {"cpu-copy", VMA_MEMORY_USAGE_CPU_COPY, 0},
        {"lazily", VMA_MEMORY_USAGE_GPU_LAZILY_ALLOCATED, 0},
    };
    const VkBufferCreateInfo buffers[] = {
        same_buffer(4096, VK_BUFFER_USAGE_TRANSFER_SRC_BIT),
        same_buffer(4096, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT),
    };
    const VkImageCreateInfo image = same_image(64, VK_IMAGE_USAGE_SAMPLED_BIT);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
        const VmaAllocationCreateInfo how = {.flags = ways[i].flags, .usage = ways[i].usage};
        uint32_t types[3] = {99, 99, 99};
        VkResult results[3];
        char key[64];
        for (uint32_t k = 0; k < 2; ++k) {
            results[k] =
                vmaFindMemoryTypeIndexForBufferInfo(allocator, &buffers[k], &how, &types[k]);
        }
        results[2] = vmaFindMemoryTypeIndexForImageInfo(allocator, &image, &how, &types[2]);
        (void)snprintf(key, sizeof key, "%s.%s", device, ways[i].name);
        same_say(key, "%d:%u %d:%u %d:%u", (int)results[0], types[0], (int)results[1], types[1],
                 (int)results[2], types[2]);
    }
}

void same_types(void)
{
    static struct same_world world;
    same_section("type");
    same_open(&world, NULL, NULL);
    say_types("discrete", world.allocator);
    uint32_t type = 99;
    VmaAllocationCreateInfo how = {.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                   .preferredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT};
    same_say_result("flags", vmaFindMemoryTypeIndex(world.allocator, UINT32_MAX, &how, &type));
    same_say_bytes("flags.type", type);
    how.memoryTypeBits = 2;
    same_say_result("bits", vmaFindMemoryTypeIndex(world.allocator, UINT32_MAX, &how, &type));
    same_say_bytes("bits.type", type);
    how.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
    same_say_result("none", vmaFindMemoryTypeIndex(world.allocator, UINT32_MAX, &how, &type));
    same_close(&world);
    same_open(&world, rig_profile_noncoherent(), NULL);
    say_types("unified", world.allocator);
    same_close(&world);
}

static char profiles[MOST_PROFILES][MOST_NAME];

static int compare_names(const void* a, const void* b)
{
    return strcmp(a, b);
}

static uint32_t list_profiles(void)
{
    uint32_t count = 0;
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    for (const struct dirent* entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        const char* end = strstr(entry->d_name, ".json");
        if (end != NULL && end - entry->d_name < MOST_NAME && count < MOST_PROFILES) {
            (void)snprintf(profiles[count++], MOST_NAME, "%.*s", (int)(end - entry->d_name),
                           entry->d_name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    qsort(profiles, count, MOST_NAME, compare_names);
    return count;
}

void same_profiles(void)
{
    static struct same_world world;
    const uint32_t count = list_profiles();
    same_section("profile");
    for (uint32_t i = 0; i < count; ++i) {
        same_open(&world, rig_profile_file(profiles[i]), NULL);
        say_types(profiles[i], world.allocator);
        vmaDestroyAllocator(world.allocator);
        vkDestroyDevice(world.rig.device, NULL);
        vkDestroyInstance(world.rig.instance, NULL);
    }
}
