/*
 * The first buffer. The host writes a megabyte into an upload buffer. The device copies it into
 * device-local memory and from there into a readback buffer. The host compares the bytes.
 *
 * All calls of Maar are in main(). The functions above it contain the Vulkan that every program
 * has. With Maar installed and volk in the include path, this program compiles anywhere:
 *
 *   cc -std=c11 -DVOLK_IMPLEMENTATION first_buffer.c $(pkg-config --cflags --libs maar) -ldl
 */
#include "volk.h"

#include "maar/maar.h"
#include "maar/volk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE ((VkDeviceSize)1 << 20)

static void require(VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        fprintf(stderr, "%s failed: %s\n", what, maarGetResultName(result));
        exit(EXIT_FAILURE);
    }
}

/* Prints Maar's messages: failed calls with their reasons, leaks, and requests that Maar could not
 * meet. */
static void VKAPI_CALL print_message(void* user_data, const MaarMessage* report)
{
    (void)user_data;
    fprintf(stderr, "maar: %s\n", report->pText);
}

static VkInstance create_instance(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance = VK_NULL_HANDLE;
    require(volkInitialize(), "volkInitialize");
    require(vkCreateInstance(&info, NULL, &instance), "vkCreateInstance");
    volkLoadInstance(instance);
    return instance;
}

static VkPhysicalDevice first_device(VkInstance instance)
{
    uint32_t count = 1;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    const VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    require(count == 1 && result >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED,
            "vkEnumeratePhysicalDevices");
    return physical;
}

static VkDevice create_device(VkPhysicalDevice physical, const MaarDeviceRecommendation* advice)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = advice->mainQueueFamily,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = advice->pFeatures,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = advice->extensionCount,
                                     .ppEnabledExtensionNames = advice->ppExtensionNames};
    VkDevice device = VK_NULL_HANDLE;
    require(vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice");
    volkLoadDevice(device);
    return device;
}

/* Copies the first buffer to the second and the second to the third, and waits. */
static void copy_along(VkDevice device, uint32_t family, const VkBuffer* buffers)
{
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .queueFamilyIndex = family};
    require(vkCreateCommandPool(device, &pool_info, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    require(vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    require(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    const VkBufferCopy region = {0, 0, SIZE};
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                     .dstAccessMask =
                                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_HOST_READ_BIT};
    for (int i = 0; i < 2; ++i) {
        vkCmdCopyBuffer(commands, buffers[i], buffers[i + 1], 1, &region);
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                             &barrier, 0, NULL, 0, NULL);
    }
    require(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    vkGetDeviceQueue(device, family, 0, &queue);
    require(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    require(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(device, pool, NULL);
}

int main(void)
{
    const VkInstance instance = create_instance();
    const VkPhysicalDevice physical = first_device(instance);

    /* Query what is worth enabling, and create a device with it. */
    MaarDeviceRecommendation advice = {.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION};
    require(maarRecommendDevice(vkGetInstanceProcAddr, instance, physical, NULL, &advice),
            "maarRecommendDevice");
    const VkDevice device = create_device(physical, &advice);

    /* Create the allocator. */
    MaarAllocator allocator = VK_NULL_HANDLE;
    MaarAllocatorCreateInfo allocator_info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                              .apiVersion = VK_API_VERSION_1_3,
                                              .instance = instance,
                                              .physicalDevice = physical,
                                              .device = device,
                                              .enabledExtensionCount = advice.extensionCount,
                                              .ppEnabledExtensionNames = advice.ppExtensionNames,
                                              .pEnabledFeatures = advice.pFeatures,
                                              .pfnMessage = print_message};
    maarUseVolk(&allocator_info);
    require(maarCreateAllocator(&allocator_info, &allocator), "maarCreateAllocator");

    /* Create three buffers, each in the memory that suits its purpose. */
    static const MaarMemoryUsage usages[3] = {
        MAAR_MEMORY_USAGE_UPLOAD, MAAR_MEMORY_USAGE_DEVICE_LOCAL, MAAR_MEMORY_USAGE_READBACK};
    VkBuffer buffers[3];
    MaarAllocation allocations[3];
    for (int i = 0; i < 3; ++i) {
        const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                                .size = SIZE,
                                                .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT};
        const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                              .usage = usages[i]};
        require(maarCreateBuffer(allocator, &buffer_info, &how, &buffers[i], &allocations[i]),
                "maarCreateBuffer");
    }

    /* Write, copy and compare. */
    unsigned char* const sent = malloc(SIZE);
    unsigned char* const received = calloc(1, SIZE);
    require(sent != NULL && received != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY, "malloc");
    for (VkDeviceSize i = 0; i < SIZE; ++i) {
        sent[i] = (unsigned char)(i * 7 + i / 251);
    }
    require(maarCopyToAllocation(allocator, allocations[0], 0, SIZE, sent), "upload");
    copy_along(device, advice.mainQueueFamily, buffers);
    require(maarCopyFromAllocation(allocator, allocations[2], 0, SIZE, received), "readback");
    const int same = memcmp(sent, received, SIZE) == 0;

    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    require(maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics), "maarGetStatistics");
    printf("%s: %" PRIu64 " of %" PRIu64 " bytes came back; %u allocations in %u blocks, %" PRIu64
           " calls of vkAllocateMemory\n",
           same ? "right" : "WRONG", same ? (uint64_t)SIZE : 0, (uint64_t)SIZE,
           statistics.allocationCount, statistics.blockCount, statistics.deviceAllocationCalls);

    for (int i = 0; i < 3; ++i) {
        maarDestroyBuffer(allocator, buffers[i], allocations[i]);
    }
    maarDestroyAllocator(allocator);
    free(sent);
    free(received);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
