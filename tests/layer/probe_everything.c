/*
 * Calls what the layer records. Each step prints a line: what it did, and the handles and figures
 * that the capture must have.
 */
#include "probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE(object) ((uint64_t)(uintptr_t)(object))

static void set_name(const struct probe* probe, VkObjectType type, uint64_t object,
                     const char* name)
{
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = object,
        .pObjectName = name,
    };
    if (probe->has_debug_utils) {
        (void)vkSetDebugUtilsObjectNameEXT(probe->device, &info);
        printf("name %" PRIu64 " %s\n", object, name);
    }
}

static void use_memory(const struct probe* probe)
{
    VkMemoryRequirements needs;
    void* data = NULL;
    const VkBuffer buffer = probe_create_buffer(probe, 100000, &needs);
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer};
    const VkDeviceMemory memory = probe_allocate(probe, &needs, &dedicated);
    set_name(probe, VK_OBJECT_TYPE_BUFFER, HANDLE(buffer), "probed buffer");
    set_name(probe, VK_OBJECT_TYPE_DEVICE_MEMORY, HANDLE(memory), "probed memory");
    const VkBindBufferMemoryInfo bind = {
        .sType = VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, .buffer = buffer, .memory = memory};
    probe_check(probe->call.vkBindBufferMemory2(probe->device, 1, &bind) == VK_SUCCESS, "bind");
    printf("buffer %" PRIu64 " 100000 %" PRIu64 " %" PRIu64 "\n", HANDLE(buffer), needs.size,
           needs.alignment);
    printf("dedicated %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", HANDLE(memory), needs.size,
           HANDLE(buffer));
    if (probe->call.vkMapMemory(probe->device, memory, 0, VK_WHOLE_SIZE, 0, &data) == VK_SUCCESS) {
        printf("map %" PRIu64 "\n", HANDLE(memory));
        probe->call.vkUnmapMemory(probe->device, memory);
    }
    probe->call.vkDestroyBuffer(probe->device, buffer, NULL);
    probe->call.vkFreeMemory(probe->device, memory, NULL);
}

int probe_excess(const struct probe* probe)
{
    const VkMemoryAllocateInfo huge = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = (VkDeviceSize)1 << 62};
    VkDeviceMemory none = VK_NULL_HANDLE;
    const VkResult result = probe->call.vkAllocateMemory(probe->device, &huge, NULL, &none);
    if (result == VK_SUCCESS) {
        probe->call.vkFreeMemory(probe->device, none, NULL);
        printf("absent failure\n");
    } else {
        printf("failed %" PRIu64 " %d\n", (uint64_t)huge.allocationSize, (int)result);
    }
    return 0;
}

static void use_image(const struct probe* probe)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {200, 100, 1},
        .mipLevels = 3,
        .arrayLayers = 2,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    VkImage image = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    probe_check(probe->call.vkCreateImage(probe->device, &info, NULL, &image) == VK_SUCCESS,
                "no image");
    probe->call.vkGetImageMemoryRequirements(probe->device, image, &needs);
    const VkDeviceMemory memory = probe_allocate(probe, &needs, NULL);
    probe_check(probe->call.vkBindImageMemory(probe->device, image, memory, 0) == VK_SUCCESS,
                "bind");
    printf("image %" PRIu64 " 200 100 %" PRIu64 "\n", HANDLE(image), needs.size);
    printf("bind %" PRIu64 " %" PRIu64 "\n", HANDLE(image), HANDLE(memory));
    probe->call.vkDestroyImage(probe->device, image, NULL);
    probe->call.vkFreeMemory(probe->device, memory, NULL);
}

/* The two planes of a disjoint image lie in one memory, one behind the other. */
static void use_planes(const struct probe* probe)
{
    VkFormatProperties format;
    vkGetPhysicalDeviceFormatProperties(probe->physical, VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
                                        &format);
    if ((format.optimalTilingFeatures & VK_FORMAT_FEATURE_DISJOINT_BIT) == 0) {
        printf("absent planes\n");
        return;
    }
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = VK_IMAGE_CREATE_DISJOINT_BIT,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM,
        .extent = {64, 64, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    VkImage image = VK_NULL_HANDLE;
    VkBindImagePlaneMemoryInfo planes[2];
    VkBindImageMemoryInfo binds[2];
    VkMemoryRequirements all = {.memoryTypeBits = UINT32_MAX};
    VkDeviceSize sum = 0;
    probe_check(probe->call.vkCreateImage(probe->device, &info, NULL, &image) == VK_SUCCESS,
                "no image");
    for (uint32_t i = 0; i < 2; ++i) {
        const VkImageAspectFlagBits aspect =
            i == 0 ? VK_IMAGE_ASPECT_PLANE_0_BIT : VK_IMAGE_ASPECT_PLANE_1_BIT;
        const VkImagePlaneMemoryRequirementsInfo plane = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO, .planeAspect = aspect};
        const VkImageMemoryRequirementsInfo2 question = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
            .pNext = &plane,
            .image = image};
        VkMemoryRequirements2 needs = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        probe->call.vkGetImageMemoryRequirements2(probe->device, &question, &needs);
        all.size = (all.size + 4095) / 4096 * 4096;
        planes[i] = (VkBindImagePlaneMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO, .planeAspect = aspect};
        binds[i] = (VkBindImageMemoryInfo){.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
                                           .pNext = &planes[i],
                                           .image = image,
                                           .memoryOffset = all.size};
        all.size += needs.memoryRequirements.size;
        sum += needs.memoryRequirements.size;
        all.memoryTypeBits &= needs.memoryRequirements.memoryTypeBits;
    }
    const VkDeviceMemory memory = probe_allocate(probe, &all, NULL);
    binds[0].memory = memory;
    binds[1].memory = memory;
    probe_check(probe->call.vkBindImageMemory2(probe->device, 2, binds) == VK_SUCCESS, "bind");
    printf("planes %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", HANDLE(image), sum,
           binds[1].memoryOffset);
    probe->call.vkDestroyImage(probe->device, image, NULL);
    probe->call.vkFreeMemory(probe->device, memory, NULL);
}

static VkSemaphore create_timeline(const struct probe* probe)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = 3};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    probe_check(probe->call.vkCreateSemaphore(probe->device, &info, NULL, &semaphore) == VK_SUCCESS,
                "no semaphore");
    printf("timeline %" PRIu64 " 3\n", HANDLE(semaphore));
    return semaphore;
}

static void use_submits(const struct probe* probe)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const uint64_t five = 5;
    const uint64_t six = 6;
    uint64_t value = 0;
    VkFence fence = VK_NULL_HANDLE;
    const VkSemaphore timeline = create_timeline(probe);
    probe_check(probe->call.vkCreateFence(probe->device, &fence_info, NULL, &fence) == VK_SUCCESS,
                "no fence");
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &five};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &timeline};
    probe_check(probe->call.vkQueueSubmit(probe->queue, 1, &submit, fence) == VK_SUCCESS, "submit");
    printf("submit %" PRIu64 " %" PRIu64 " 5\n", HANDLE(fence), HANDLE(timeline));
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = timeline,
                                        .value = 5,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    signal.value = six;
    const VkSubmitInfo2 newer = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                 .waitSemaphoreInfoCount = 1,
                                 .pWaitSemaphoreInfos = &wait,
                                 .signalSemaphoreInfoCount = 1,
                                 .pSignalSemaphoreInfos = &signal};
    probe_check(probe->call.vkQueueSubmit2(probe->queue, 1, &newer, VK_NULL_HANDLE) == VK_SUCCESS,
                "submit");
    const VkSemaphoreWaitInfo until = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                       .semaphoreCount = 1,
                                       .pSemaphores = &timeline,
                                       .pValues = &six};
    probe_check(probe->call.vkWaitSemaphores(probe->device, &until, UINT64_MAX) == VK_SUCCESS,
                "wait");
    probe_check(probe->call.vkWaitForFences(probe->device, 1, &fence, VK_TRUE, UINT64_MAX) ==
                    VK_SUCCESS,
                "wait");
    for (int i = 0; i < 100; ++i) {
        (void)probe->call.vkGetSemaphoreCounterValue(probe->device, timeline, &value);
        (void)probe->call.vkGetFenceStatus(probe->device, fence);
    }
    const VkSemaphoreSignalInfo host = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 9};
    probe_check(probe->call.vkSignalSemaphore(probe->device, &host) == VK_SUCCESS, "signal");
    probe_check(probe->call.vkQueueWaitIdle(probe->queue) == VK_SUCCESS, "idle");
    probe_check(probe->call.vkDeviceWaitIdle(probe->device) == VK_SUCCESS, "idle");
    printf("reached %" PRIu64 " %" PRIu64 "\n", HANDLE(timeline), HANDLE(fence));
    probe->call.vkDestroyFence(probe->device, fence, NULL);
    probe->call.vkDestroySemaphore(probe->device, timeline, NULL);
}

static VkImage create_sparse_image(const struct probe* probe)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {256, 256, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    VkImage image = VK_NULL_HANDLE;
    probe_check(probe->call.vkCreateImage(probe->device, &info, NULL, &image) == VK_SUCCESS,
                "no sparse image");
    return image;
}

static void use_sparse(const struct probe* probe)
{
    if (!probe->has_sparse) {
        printf("absent sparse\n");
        return;
    }
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 1 << 20,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements needs;
    VkMemoryRequirements image_needs;
    probe_check(probe->call.vkCreateBuffer(probe->device, &info, NULL, &buffer) == VK_SUCCESS,
                "no sparse buffer");
    const VkImage image = create_sparse_image(probe);
    probe->call.vkGetBufferMemoryRequirements(probe->device, buffer, &needs);
    probe->call.vkGetImageMemoryRequirements(probe->device, image, &image_needs);
    needs.memoryTypeBits &= image_needs.memoryTypeBits;
    needs.size += image_needs.size;
    const VkDeviceMemory memory = probe_allocate(probe, &needs, NULL);
    const VkSparseMemoryBind bytes = {
        .resourceOffset = needs.alignment, .size = needs.alignment, .memory = memory};
    const VkSparseImageMemoryBind texels = {
        .subresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT},
        .extent = {256, 256, 1},
        .memory = memory,
        .memoryOffset = 1 << 20};
    const VkSparseBufferMemoryBindInfo of_buffer = {
        .buffer = buffer, .bindCount = 1, .pBinds = &bytes};
    const VkSparseImageMemoryBindInfo of_image = {
        .image = image, .bindCount = 1, .pBinds = &texels};
    const VkBindSparseInfo batch = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                    .bufferBindCount = 1,
                                    .pBufferBinds = &of_buffer,
                                    .imageBindCount = 1,
                                    .pImageBinds = &of_image};
    probe_check(probe->call.vkQueueBindSparse(probe->queue, 1, &batch, VK_NULL_HANDLE) ==
                    VK_SUCCESS,
                "sparse bind");
    (void)probe->call.vkQueueWaitIdle(probe->queue);
    printf("sparse %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", HANDLE(buffer),
           HANDLE(image), needs.alignment, image_needs.size);
    probe->call.vkDestroyBuffer(probe->device, buffer, NULL);
    probe->call.vkDestroyImage(probe->device, image, NULL);
    probe->call.vkFreeMemory(probe->device, memory, NULL);
}

/* Brings an image of the swapchain into the layout that can be presented. */
static void prepare(const struct probe* probe, VkCommandPool pool, VkImage image)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    VkCommandBuffer commands = NULL;
    probe_check(probe->call.vkAllocateCommandBuffers(probe->device, &info, &commands) == VK_SUCCESS,
                "no command buffer");
    (void)probe->call.vkBeginCommandBuffer(commands, &begin);
    probe->call.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                     VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1,
                                     &barrier);
    (void)probe->call.vkEndCommandBuffer(commands);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    probe_check(probe->call.vkQueueSubmit(probe->queue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS,
                "submit");
    (void)probe->call.vkQueueWaitIdle(probe->queue);
}

static void present(const struct probe* probe, VkSwapchainKHR swapchain)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkImage images[16];
    uint32_t count = 0;
    uint32_t index = 0;
    (void)probe->call.vkGetSwapchainImagesKHR(probe->device, swapchain, &count, NULL);
    probe_check(count > 0 && count <= 16, "images of the swapchain");
    (void)probe->call.vkGetSwapchainImagesKHR(probe->device, swapchain, &count, images);
    probe_check(probe->call.vkCreateFence(probe->device, &fence_info, NULL, &fence) == VK_SUCCESS &&
                    probe->call.vkCreateCommandPool(probe->device, &pool_info, NULL, &pool) ==
                        VK_SUCCESS,
                "no fence or pool");
    for (int i = 0; i < 3; ++i) {
        probe_check(probe->call.vkAcquireNextImageKHR(probe->device, swapchain, UINT64_MAX,
                                                      VK_NULL_HANDLE, fence, &index) >= 0,
                    "no image of the swapchain");
        (void)probe->call.vkWaitForFences(probe->device, 1, &fence, VK_TRUE, UINT64_MAX);
        (void)probe->call.vkResetFences(probe->device, 1, &fence);
        prepare(probe, pool, images[index]);
        const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                       .swapchainCount = 1,
                                       .pSwapchains = &swapchain,
                                       .pImageIndices = &index};
        probe_check(probe->call.vkQueuePresentKHR(probe->queue, &info) >= 0, "present");
    }
    (void)probe->call.vkDeviceWaitIdle(probe->device);
    probe->call.vkDestroyCommandPool(probe->device, pool, NULL);
    probe->call.vkDestroyFence(probe->device, fence, NULL);
}

static void use_swapchain(const struct probe* probe)
{
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    VkSurfaceFormatKHR format;
    VkSurfaceCapabilitiesKHR limits;
    VkBool32 supported = VK_FALSE;
    uint32_t count = 1;
    if (!probe->has_swapchain ||
        vkCreateHeadlessSurfaceEXT(probe->instance, &surface_info, NULL, &surface) != VK_SUCCESS ||
        vkGetPhysicalDeviceSurfaceFormatsKHR(probe->physical, surface, &count, &format) < 0 ||
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(probe->physical, surface, &limits) < 0 ||
        vkGetPhysicalDeviceSurfaceSupportKHR(probe->physical, 0, surface, &supported) < 0 ||
        !supported) {
        printf("absent swapchain\n");
        return;
    }
    const VkSwapchainCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = limits.minImageCount < 3 ? 3 : limits.minImageCount,
        .imageFormat = format.format,
        .imageColorSpace = format.colorSpace,
        .imageExtent = {128, 64},
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = VK_PRESENT_MODE_FIFO_KHR,
        .clipped = VK_TRUE,
    };
    probe_check(probe->call.vkCreateSwapchainKHR(probe->device, &info, NULL, &swapchain) ==
                    VK_SUCCESS,
                "no swapchain");
    printf("swapchain %" PRIu64 " 128 64\n", HANDLE(swapchain));
    present(probe, swapchain);
    probe->call.vkDestroySwapchainKHR(probe->device, swapchain, NULL);
    vkDestroySurfaceKHR(probe->instance, surface, NULL);
}

int probe_everything(struct probe* probe)
{
    set_name(probe, VK_OBJECT_TYPE_QUEUE, HANDLE(probe->queue), "probed queue");
    printf("queue %" PRIu64 "\n", HANDLE(probe->queue));
    use_memory(probe);
    use_image(probe);
    use_planes(probe);
    use_submits(probe);
    use_sparse(probe);
    use_swapchain(probe);
    return 0;
}
