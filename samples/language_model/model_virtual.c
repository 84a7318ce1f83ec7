/*
 * Declares work; see model_virtual.h.
 */
#include "model_virtual.h"

#include "model_compute.h"

#include "maar/simulated.h"

bool model_virtual_start(const struct sample_device* device)
{
    VkPhysicalDeviceMemoryProperties memory;
    MaarSimulatedTimeInfo time = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO};
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        const bool is_local = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        time.heapBandwidth[i] =
            (is_local ? MODEL_DEVICE_BANDWIDTH : MODEL_HOST_BANDWIDTH) / MODEL_BYTE_STANDS_FOR;
    }
    /* Residents take the place of others that the device still uses: their commands wait. */
    maarSimulatedSetFlags(device->physical, MAAR_SIMULATED_EXECUTE_BIT |
                                                MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                                                MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                                                MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT);
    return sample_succeeded(maarSimulatedSetTime(device->physical, &time), "maarSimulatedSetTime");
}

uint64_t model_virtual_clock(const struct sample_device* device)
{
    MaarSimulatedClocks clocks = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS};
    maarSimulatedGetClocks(device->device, &clocks);
    return clocks.host;
}

/* Declares that the keys and values of a pass are written to a part of the KV cache. */
static void declare_writes(const struct model_shape* shape, const struct model_pass* pass,
                           VkBuffer part, VkCommandBuffer commands)
{
    static const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                            .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
    const VkDeviceSize row = shape->width * sizeof(float);
    for (uint32_t i = 0; i < 2; ++i) {
        maarSimulatedCmdAccess(commands, part, (i * MODEL_PART + pass->first % MODEL_PART) * row,
                               pass->count * row, VK_ACCESS_SHADER_WRITE_BIT);
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

void model_virtual_record(const struct model_shape* shape, uint32_t stage,
                          const struct model_pass* pass, const MaarResidentObject* objects,
                          VkCommandBuffer commands)
{
    const bool is_layer = stage > 0 && stage <= shape->layers;
    const uint32_t part_count = is_layer ? pass->first / MODEL_PART + 1 : 0;
    uint64_t bytes = model_resident_size(shape, is_layer ? stage : 0);
    if (!is_layer) {
        bytes /= 2; /* the first stage reads words, the last one the other matrix */
    }
    model_compute_prepare(part_count, objects + 1, commands);
    if (is_layer) {
        declare_writes(shape, pass, objects[part_count].buffer, commands);
    }
    for (uint32_t i = 0; i <= part_count; ++i) {
        maarSimulatedCmdAccess(commands, objects[i].buffer, 0, VK_WHOLE_SIZE,
                               VK_ACCESS_SHADER_READ_BIT);
    }
    for (uint32_t i = 0; i < part_count; ++i) {
        bytes += model_resident_size(shape, model_part_of(shape, stage - 1, i));
    }
    maarSimulatedCmdWork(commands,
                         bytes * MODEL_BYTE_STANDS_FOR * 1000 / (MODEL_DEVICE_BANDWIDTH / 1000000));
}
