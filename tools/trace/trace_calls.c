/*
 * Records which functions of the library run in a few calls. tools/trace_calls.py builds the
 * library with -finstrument-functions and links this file with it; the file itself is not
 * instrumented.
 *
 * Prints "journey NAME" before each call, and then the address of each function that is entered
 * and, with a minus sign, of each that is left, in order.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <vulkan/vulkan.h>

#include "maar/maar.h"

enum { MAX_EVENTS = 1 << 20, SIZE = 65536 };

static uintptr_t events[MAX_EVENTS];
static bool left[MAX_EVENTS];
static size_t event_count;
static bool recording;

void __cyg_profile_func_enter(void* function, void* site);
void __cyg_profile_func_exit(void* function, void* site);

static void record(void* function, bool is_exit)
{
    if (recording && event_count < MAX_EVENTS) {
        events[event_count] = (uintptr_t)function;
        left[event_count++] = is_exit;
    }
}

void __cyg_profile_func_enter(void* function, void* site)
{
    (void)site;
    record(function, false);
}

void __cyg_profile_func_exit(void* function, void* site)
{
    (void)site;
    record(function, true);
}

static void begin(void)
{
    event_count = 0;
    recording = true;
}

static void end(const char* name, VkResult result)
{
    recording = false;
    if (result != VK_SUCCESS) {
        printf("failed %s %d\n", name, (int)result);
        return;
    }
    printf("journey %s\n", name);
    for (size_t i = 0; i < event_count; ++i) {
        printf("%s%lx\n", left[i] ? "-" : "", (unsigned long)events[i]);
    }
}

static void require(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "trace_calls: %s: %d\n", what, (int)result);
        exit(EXIT_FAILURE);
    }
}

struct machine {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    MaarAllocator allocator;
};

static void open_machine(struct machine* machine)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &application};
    require(vkCreateInstance(&instance_info, NULL, &machine->instance), "vkCreateInstance");
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(machine->instance, &count, &machine->physical);
    require(count == 1 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "no device");
    MaarDeviceRecommendation advice = {.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION};
    require(maarRecommendDevice(vkGetInstanceProcAddr, machine->instance, machine->physical, NULL,
                                &advice),
            "maarRecommendDevice");
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .queueFamilyIndex = advice.mainQueueFamily,
                                                .queueCount = 1,
                                                .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .pNext = advice.pFeatures,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue_info,
                                            .enabledExtensionCount = advice.extensionCount,
                                            .ppEnabledExtensionNames = advice.ppExtensionNames};
    require(vkCreateDevice(machine->physical, &device_info, NULL, &machine->device),
            "vkCreateDevice");
    MaarQueue queue = {.familyIndex = advice.mainQueueFamily};
    vkGetDeviceQueue(machine->device, advice.mainQueueFamily, 0, &queue.queue);
    const MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                          .apiVersion = VK_API_VERSION_1_3,
                                          .instance = machine->instance,
                                          .physicalDevice = machine->physical,
                                          .device = machine->device,
                                          .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .enabledExtensionCount = advice.extensionCount,
                                          .ppEnabledExtensionNames = advice.ppExtensionNames,
                                          .pEnabledFeatures = advice.pFeatures,
                                          .queueCount = 1,
                                          .pQueues = &queue};
    require(maarCreateAllocator(&info, &machine->allocator), "maarCreateAllocator");
}

static void close_machine(struct machine* machine)
{
    maarDestroyAllocator(machine->allocator);
    vkDestroyDevice(machine->device, NULL);
    vkDestroyInstance(machine->instance, NULL);
}

static void trace_memory(MaarAllocator allocator)
{
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = SIZE, .alignment = 256, .memoryTypeBits = ~UINT32_C(0)}};
    const MaarAllocationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    MaarAllocation first = VK_NULL_HANDLE;
    MaarAllocation second = VK_NULL_HANDLE;
    begin();
    VkResult result = maarAllocateMemory(allocator, &request, &info, &first);
    end("maarAllocateMemory, first block", result);
    begin();
    result = maarAllocateMemory(allocator, &request, &info, &second);
    end("maarAllocateMemory", result);
    begin();
    maarFreeMemory(allocator, second);
    end("maarFreeMemory", VK_SUCCESS);
    maarFreeMemory(allocator, first);
}

static void trace_buffer(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                            .size = SIZE,
                                            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                           .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL};
    VkBuffer buffers[2];
    MaarAllocation allocations[2];
    require(maarCreateBuffer(allocator, &buffer_info, &info, &buffers[0], &allocations[0]),
            "maarCreateBuffer");
    begin();
    const VkResult result =
        maarCreateBuffer(allocator, &buffer_info, &info, &buffers[1], &allocations[1]);
    end("maarCreateBuffer", result);
    for (int i = 0; i < 2; ++i) {
        maarDestroyBuffer(allocator, buffers[i], allocations[i]);
    }
}

static void trace_plan(void)
{
    const MaarPlanResource resources[3] = {
        {.size = 4096, .alignment = 256, .firstPass = 0, .lastPass = 1},
        {.size = 8192, .alignment = 256, .firstPass = 1, .lastPass = 2},
        {.size = 4096, .alignment = 256, .firstPass = 2, .lastPass = 3}};
    const MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO, .resourceCount = 3, .pResources = resources};
    MaarPlan plan = VK_NULL_HANDLE;
    begin();
    const VkResult result = maarCreatePlan(&info, &plan);
    end("maarCreatePlan, 3 resources", result);
    maarDestroyPlan(plan);
}

static void trace_pages(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                            .size = 16 << 20,
                                            .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer_info};
    MaarReservation reservation = VK_NULL_HANDLE;
    require(maarCreateReservation(allocator, &info, &reservation), "maarCreateReservation");
    for (unsigned i = 0; i < 2; ++i) {
        const MaarPageRange range = {.offset = i << 20, .size = 1 << 20};
        begin();
        const VkResult result = maarCommitPages(allocator, reservation, 1, &range);
        end(i == 0 ? "maarCommitPages, first block" : "maarCommitPages", result);
    }
    maarDestroyReservation(allocator, reservation);
}

int main(void)
{
    struct machine machine = {0};
    open_machine(&machine);
    trace_memory(machine.allocator);
    trace_buffer(machine.allocator);
    trace_plan();
    trace_pages(machine.allocator);
    close_machine(&machine);
    return EXIT_SUCCESS;
}
