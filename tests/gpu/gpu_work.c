/*
 * Memory, commands, kernels and figures of the checks on a GPU; see gpu_case.h.
 */
#include "gpu_case.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- memory ---- */

bool gpu_make_shared(struct gpu_case* gpu, VkDeviceSize size, MaarDedicated dedicated,
                     struct gpu_buffer* buffer)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    const MaarExportInfo export_info = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                        .handleTypes = GPU_HANDLE_TYPE};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &export_info,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                          .dedicated = dedicated};
    buffer->size = size;
    return gpu_vk(
        gpu, maarCreateBuffer(gpu->allocator, &info, &how, &buffer->buffer, &buffer->allocation),
        "maarCreateBuffer, to be shared");
}

bool gpu_make_readback(struct gpu_case* gpu, VkDeviceSize size, struct gpu_buffer* buffer)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = MAAR_MEMORY_USAGE_READBACK};
    buffer->size = size;
    return gpu_vk(
        gpu, maarCreateBuffer(gpu->allocator, &info, &how, &buffer->buffer, &buffer->allocation),
        "maarCreateBuffer, to read back");
}

void gpu_free(struct gpu_case* gpu, struct gpu_buffer* buffer)
{
    if (buffer->buffer != VK_NULL_HANDLE) {
        maarDestroyBuffer(gpu->allocator, buffer->buffer, buffer->allocation);
    }
    memset(buffer, 0, sizeof *buffer);
}

/* ---- Vulkan ---- */

VkCommandBuffer gpu_begin(struct gpu_case* gpu)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    (void)gpu_vk(gpu, vkBeginCommandBuffer(gpu->commands, &begin), "vkBeginCommandBuffer");
    return gpu->commands;
}

bool gpu_run(struct gpu_case* gpu)
{
    const uint64_t value = ++gpu->value;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &gpu->commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &gpu->timeline};
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &gpu->timeline,
                                      .pValues = &value};
    return gpu_vk(gpu, vkEndCommandBuffer(gpu->commands), "vkEndCommandBuffer") &&
           gpu_vk(gpu, vkQueueSubmit(gpu->queues[0].queue, 1, &submit, VK_NULL_HANDLE),
                  "vkQueueSubmit") &&
           gpu_vk(gpu, vkWaitSemaphores(gpu->device, &wait, UINT64_C(60000000000)),
                  "vkWaitSemaphores");
}

void gpu_barrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
                                                      VK_ACCESS_MEMORY_WRITE_BIT |
                                                      VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

const void* gpu_read(struct gpu_case* gpu, const struct gpu_buffer* from, VkDeviceSize offset,
                     VkDeviceSize size, const struct gpu_buffer* readback)
{
    const VkBufferCopy copy = {.srcOffset = offset, .size = size};
    const VkCommandBuffer commands = gpu_begin(gpu);
    gpu_barrier(commands);
    vkCmdCopyBuffer(commands, from->buffer, readback->buffer, 1, &copy);
    gpu_barrier(commands);
    if (!gpu_run(gpu) ||
        !gpu_vk(gpu,
                maarInvalidateAllocation(gpu->allocator, readback->allocation, 0, VK_WHOLE_SIZE),
                "maarInvalidateAllocation")) {
        return NULL;
    }
    return maarGetMappedData(gpu->allocator, readback->allocation);
}

bool gpu_pass(struct gpu_case* gpu, MaarCudaTimeline timeline, uint64_t value, bool to_cuda,
              const struct gpu_buffer* buffer)
{
    const MaarHandoffResource resource = {.buffer = buffer->buffer};
    const MaarCudaHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_HANDOFF_INFO,
                                      .value = value,
                                      .stream = gpu->stream,
                                      .resourceCount = 1,
                                      .pResources = &resource};
    return to_cuda ? gpu_vk(gpu, maarReleaseToCuda(gpu->cuda, timeline, &info), "maarReleaseToCuda")
                   : gpu_vk(gpu, maarAcquireFromCuda(gpu->cuda, timeline, &info),
                            "maarAcquireFromCuda");
}

/* ---- CUDA ---- */

void* gpu_kernel(struct gpu_case* gpu, const char* name)
{
    void* kernel = NULL;
    if (gpu->launcher.module == NULL ||
        !gpu_cu(gpu, gpu->launcher.find(&kernel, gpu->launcher.module, name), name)) {
        return NULL;
    }
    return kernel;
}

bool gpu_launch(struct gpu_case* gpu, void* kernel, uint32_t groups, uint32_t group_size,
                void** arguments)
{
    return gpu_cu(gpu,
                  gpu->launcher.launch(kernel, groups, 1, 1, group_size, 1, 1, 0, gpu->stream,
                                       arguments, NULL),
                  "cuLaunchKernel");
}

bool gpu_synchronize(struct gpu_case* gpu)
{
    return gpu_cu(gpu, (int)gpu->driver.cuStreamSynchronize(gpu->stream), "cuStreamSynchronize");
}

/* ---- figures ---- */

double gpu_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void* a, const void* b)
{
    const double x = *(const double*)a;
    const double y = *(const double*)b;
    return (x > y) - (x < y);
}

double gpu_percentile(double* values, uint32_t count, double part)
{
    if (count == 0) {
        return 0.0;
    }
    qsort(values, count, sizeof *values, compare_doubles);
    const uint32_t at = (uint32_t)(part * (double)(count - 1) + 0.5);
    return values[at];
}
