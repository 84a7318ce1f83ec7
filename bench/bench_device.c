/*
 * Opens the benchmarks' devices; see bench_device.h.
 */
#include "bench_device.h"

#include "bench_common.h"

#include "support/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SIMULATED "simulated:"
#define VULKAN "vulkan:"

enum { MAX_PHYSICAL_DEVICES = 16, CLOCK_READINGS = 200 };

static _Thread_local struct bench_driver_time driver_time;
static double clock_cost; /* the CPU time of reading the CPU time, ns */

static void measure_clock(void)
{
    clock_cost = bench_thread_ns();
    for (int i = 0; i < CLOCK_READINGS; ++i) {
        const double start = bench_thread_ns();
        const double cost = bench_thread_ns() - start;
        clock_cost = cost < clock_cost ? cost : clock_cost;
    }
}

uint64_t bench_page_faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_minflt : 0;
}

/* What a call of the driver is measured with. */
struct call_start {
    double ns;
    uint64_t page_faults;
};

static struct call_start start_call(void)
{
    const double ns = bench_thread_ns();
    return (struct call_start){.ns = ns, .page_faults = bench_page_faults()};
}

/* A reading of the clock has the same cost again outside its measured part. */
static void end_call(struct call_start start)
{
    driver_time.page_faults += bench_page_faults() - start.page_faults;
    driver_time.ns += bench_thread_ns() - start.ns + clock_cost;
}

struct bench_driver_time bench_device_driver_time(void)
{
    return driver_time;
}

static VKAPI_ATTR VkResult VKAPI_CALL timed_allocate(VkDevice device,
                                                     const VkMemoryAllocateInfo* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkDeviceMemory* memory)
{
    const struct call_start start = start_call();
    const VkResult result = vkAllocateMemory(device, info, callbacks, memory);
    end_call(start);
    driver_time.allocate_calls += 1;
    return result;
}

static VKAPI_ATTR void VKAPI_CALL timed_free(VkDevice device, VkDeviceMemory memory,
                                             const VkAllocationCallbacks* callbacks)
{
    const struct call_start start = start_call();
    vkFreeMemory(device, memory, callbacks);
    end_call(start);
}

PFN_vkVoidFunction VKAPI_CALL bench_device_proc_addr(VkDevice device, const char* name)
{
    if (strcmp(name, "vkAllocateMemory") == 0) {
        return (PFN_vkVoidFunction)timed_allocate;
    }
    if (strcmp(name, "vkFreeMemory") == 0) {
        return (PFN_vkVoidFunction)timed_free;
    }
    return vkGetDeviceProcAddr(device, name);
}

void VKAPI_CALL bench_receive_violation(void* user_data, MaarSimulatedViolation violation,
                                        const char* text)
{
    (void)user_data;
    (void)violation;
    bench_die(BENCH_EXIT_FAILED, "the simulated driver found a violation: %s", text);
}

static MaarSimulatedProfile* load_profile(const char* name, const struct bench_heaps* heaps)
{
    char path[1024];
    FILE* const file = fopen(name, "rb");
    if (file != NULL) {
        fclose(file);
        snprintf(path, sizeof(path), "%s", name);
    } else {
        snprintf(path, sizeof(path), "%s/profiles/%s.json", MAAR_BENCH_DATA, name);
    }
    MaarSimulatedProfile* const profile = bench_allocate(1, sizeof(*profile));
    struct support_error error = {{0}};
    if (!support_profile_load(path, profile, &error)) {
        bench_die(BENCH_EXIT_USAGE, "%s", error.text);
    }
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        if (heaps->sizes[i] == 0) {
            continue;
        }
        if (i >= profile->heapCount) {
            bench_die(BENCH_EXIT_USAGE, "--heap %u: %s has %u heaps", i, profile->name,
                      profile->heapCount);
        }
        profile->heaps[i].size = heaps->sizes[i];
        profile->heaps[i].budget = heaps->sizes[i];
        profile->heaps[i].usage = 0;
    }
    return profile;
}

static void create_instance(struct bench_device* device,
                            const MaarSimulatedInstanceCreateInfo* simulated)
{
    const struct support_instance_info info = {
        .application = "maar bench", .api_version = BENCH_API_VERSION, .simulated = simulated};
    const VkResult result = support_instance_open(&device->instance, &info);
    if (result == VK_ERROR_INITIALIZATION_FAILED) {
        bench_die(BENCH_EXIT_USAGE,
                  "no Vulkan loader found; --device simulated:PROFILE needs none");
    }
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_USAGE,
                  "no Vulkan instance (%s): no driver found? --device simulated:PROFILE needs none",
                  maarGetResultName(result));
    }
}

/* The controls overlap their binds on purpose. */
static void open_simulated(struct bench_device* device, const char* name,
                           const struct bench_heaps* heaps)
{
    MaarSimulatedProfile* const profile = load_profile(name, heaps);
    const VkExternalMemoryFeatureFlags shared =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    const MaarSimulatedSharingInfo sharing = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .opaqueBuffers = shared,
    };
    const MaarSimulatedInstanceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .pNext = &sharing,
        .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .profileCount = 1,
        .pProfiles = profile,
        .pfnViolation = bench_receive_violation,
    };
    create_instance(device, &info);
    free(profile);
}

VkBufferCreateInfo bench_buffer_info(VkDeviceSize size)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
}

void bench_raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void bench_expect(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "%s: %s", what, maarGetResultName(result));
    }
}

static VkPhysicalDevice pick_by_number(const VkPhysicalDevice* devices, uint32_t count,
                                       const char* number)
{
    char* end = NULL;
    const unsigned long index = strtoul(number, &end, 10);
    const bool fits = number[0] >= '0' && number[0] <= '9' && *end == '\0' && index < count;
    return fits ? devices[index] : VK_NULL_HANDLE;
}

/* Returns the first device of the best rank. */
static VkPhysicalDevice pick_by_type(const VkPhysicalDevice* devices, uint32_t count)
{
    VkPhysicalDevice chosen = VK_NULL_HANDLE;
    int best = -1;
    for (uint32_t i = 0; i < count; ++i) {
        const int rank = support_device_rank(devices[i]);
        if (rank > best) {
            best = rank;
            chosen = devices[i];
        }
    }
    return chosen;
}

static void pick_physical(struct bench_device* device, const char* name)
{
    VkPhysicalDevice devices[MAX_PHYSICAL_DEVICES];
    uint32_t count = MAX_PHYSICAL_DEVICES;
    if (vkEnumeratePhysicalDevices(device->instance.instance, &count, devices) < 0) {
        count = 0;
    }
    device->physical = strncmp(name, VULKAN, strlen(VULKAN)) == 0
                           ? pick_by_number(devices, count, name + strlen(VULKAN))
                           : pick_by_type(devices, count);
    char too_old[512];
    if (device->physical == VK_NULL_HANDLE &&
        support_describe_too_old(devices, count, too_old, sizeof(too_old))) {
        bench_die(BENCH_EXIT_USAGE, "--device %s: %s", name, too_old);
    }
    if (device->physical == VK_NULL_HANDLE) {
        bench_die(BENCH_EXIT_USAGE, "--device %s: no such device; Vulkan lists %u", name, count);
    }
    vkGetPhysicalDeviceProperties(device->physical, &device->properties);
    if (support_describe_too_old(&device->physical, 1, too_old, sizeof(too_old))) {
        bench_die(BENCH_EXIT_USAGE, "--device %s: %s", name, too_old);
    }
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        const VkMemoryHeap* const heap = &memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
            heap->size > device->heap_size) {
            device->heap_size = heap->size;
        }
    }
}

static void create_device(struct bench_device* device)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    const VkResult result = vkCreateDevice(device->physical, &info, NULL, &device->device);
    if (result != VK_SUCCESS) {
        bench_die(BENCH_EXIT_FAILED, "%s: no device (%s)", device->properties.deviceName,
                  maarGetResultName(result));
    }
    volkLoadDevice(device->device);
}

static bool changes_heaps(const struct bench_heaps* heaps)
{
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
        if (heaps->sizes[i] != 0) {
            return true;
        }
    }
    return false;
}

void bench_device_open(struct bench_device* device, const char* name,
                       const struct bench_heaps* heaps)
{
    *device = (struct bench_device){0};
    measure_clock();
    device->simulated = strncmp(name, SIMULATED, strlen(SIMULATED)) == 0;
    if (device->simulated) {
        open_simulated(device, name + strlen(SIMULATED), heaps);
    } else if (strcmp(name, "auto") != 0 && strncmp(name, VULKAN, strlen(VULKAN)) != 0) {
        bench_die(BENCH_EXIT_USAGE, "--device %s: expected auto, vulkan:N or simulated:PROFILE",
                  name);
    } else if (changes_heaps(heaps)) {
        bench_die(BENCH_EXIT_USAGE, "--heap is for simulated devices");
    } else {
        create_instance(device, NULL);
    }
    pick_physical(device, name);
    create_device(device);
}

void bench_device_close(struct bench_device* device)
{
    vkDestroyDevice(device->device, NULL);
    support_instance_close(&device->instance);
    *device = (struct bench_device){0};
}

VkDevice bench_create_recommended(const struct bench_device* device,
                                  const MaarDeviceRecommendation* advice, uint32_t family)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = advice->pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = advice->extensionCount,
        .ppEnabledExtensionNames = advice->ppExtensionNames,
    };
    VkDevice made = VK_NULL_HANDLE;
    bench_expect(vkCreateDevice(device->physical, &info, NULL, &made), "vkCreateDevice");
    volkLoadDevice(made);
    return made;
}
