/*
 * Writes and verifies elements on the device; see grow_work.h.
 */
#include "grow_work.h"

#include <string.h>

#include "shaders/growing_array_count_address_comp.h"
#include "shaders/growing_array_count_window_comp.h"
#include "shaders/growing_array_write_address_comp.h"
#include "shaders/growing_array_write_window_comp.h"
#include "support/shader.h"

#define GROUP_SIZE 256u
#define MAX_GROUPS 4096u
/* The elements of a dispatch without a descriptor's limit: 128 MiB. */
#define ADDRESS_WINDOW ((uint64_t)8 << 20)
/* Descriptors begin at multiples of this value, the largest alignment that a device may require. */
#define OFFSET_UNIT (256u / GROW_ELEMENT_SIZE)

/* The layout is that of shaders/growing_array/element.glsl. */
struct grow_job {
    uint32_t address[2];
    uint32_t base, begin, end, slot;
};

/* ---- making ---- */

static bool create_layouts(struct grow_work* work)
{
    VkDevice const device = work->device->device;
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings,
    };
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct grow_job)};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &work->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    return sample_succeeded(vkCreateDescriptorSetLayout(device, &set_info, NULL, &work->set_layout),
                            "vkCreateDescriptorSetLayout") &&
           sample_succeeded(vkCreatePipelineLayout(device, &info, NULL, &work->layout),
                            "vkCreatePipelineLayout");
}

static bool create_pipeline(const struct grow_work* work, const struct support_shader* shader,
                            VkPipeline* pipeline)
{
    return sample_succeeded(
        support_create_compute_pipeline(work->device->device, shader, work->layout, pipeline),
        "vkCreateComputePipelines");
}

static bool create_pipelines(struct grow_work* work)
{
    static const struct support_shader by_address[2] = {
        SUPPORT_SHADER(growing_array_write_address_comp),
        SUPPORT_SHADER(growing_array_count_address_comp)};
    static const struct support_shader by_window[2] = {
        SUPPORT_SHADER(growing_array_write_window_comp),
        SUPPORT_SHADER(growing_array_count_window_comp)};
    const struct support_shader* const shaders = work->by_address ? by_address : by_window;
    return create_pipeline(work, &shaders[0], &work->write) &&
           create_pipeline(work, &shaders[1], &work->count);
}

static bool create_slots(struct grow_work* work)
{
    VkDevice const device = work->device->device;
    const VkDescriptorPoolSize pool_size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * GROW_SLOTS};
    const VkDescriptorPoolCreateInfo descriptor_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = GROW_SLOTS,
        .poolSizeCount = 1,
        .pPoolSizes = &pool_size,
    };
    const VkCommandPoolCreateInfo command_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = work->device->queue_families[0],
    };
    bool done =
        sample_succeeded(vkCreateDescriptorPool(device, &descriptor_info, NULL, &work->descriptors),
                         "vkCreateDescriptorPool") &&
        sample_succeeded(vkCreateCommandPool(device, &command_info, NULL, &work->commands),
                         "vkCreateCommandPool");
    for (uint32_t i = 0; i < GROW_SLOTS && done; ++i) {
        const VkDescriptorSetAllocateInfo set_info = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = work->descriptors,
            .descriptorSetCount = 1,
            .pSetLayouts = &work->set_layout,
        };
        const VkCommandBufferAllocateInfo buffer_info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = work->commands,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        done =
            sample_succeeded(vkAllocateDescriptorSets(device, &set_info, &work->slots[i].set),
                             "vkAllocateDescriptorSets") &&
            sample_succeeded(vkAllocateCommandBuffers(device, &buffer_info, &work->slots[i].buffer),
                             "vkAllocateCommandBuffers");
    }
    return done;
}

static bool create_timeline(struct grow_work* work)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return sample_succeeded(vkCreateSemaphore(work->device->device, &info, NULL, &work->timeline),
                            "vkCreateSemaphore");
}

static bool create_counts(struct grow_work* work)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = (VkDeviceSize)GROW_MAX_COUNTS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
        .usage = MAAR_MEMORY_USAGE_READBACK,
        .pName = "counts",
    };
    return sample_succeeded(
        maarCreateBuffer(work->device->allocator, &info, &how, &work->counts, &work->counts_memory),
        "maarCreateBuffer");
}

bool grow_work_create(struct grow_work* work, const struct sample_device* device, bool by_address)
{
    *work = (struct grow_work){.device = device, .by_address = by_address};
    work->window = ADDRESS_WINDOW;
    const uint64_t elements = device->properties.limits.maxStorageBufferRange / GROW_ELEMENT_SIZE;
    const uint64_t most = elements - elements % OFFSET_UNIT;
    if (!by_address && most < work->window) {
        work->window = most;
    }
    return create_layouts(work) && create_pipelines(work) && create_slots(work) &&
           create_timeline(work) && create_counts(work);
}

void grow_work_destroy(struct grow_work* work)
{
    if (work->device == NULL) {
        return;
    }
    VkDevice const device = work->device->device;
    vkDeviceWaitIdle(device);
    maarDestroyBuffer(work->device->allocator, work->counts, work->counts_memory);
    vkDestroySemaphore(device, work->timeline, NULL);
    vkDestroyCommandPool(device, work->commands, NULL);
    vkDestroyDescriptorPool(device, work->descriptors, NULL);
    vkDestroyPipeline(device, work->write, NULL);
    vkDestroyPipeline(device, work->count, NULL);
    vkDestroyPipelineLayout(device, work->layout, NULL);
    vkDestroyDescriptorSetLayout(device, work->set_layout, NULL);
    work->device = NULL;
}

/* ---- running ---- */

static bool wait_for(const struct grow_work* work, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &work->timeline,
        .pValues = &value,
    };
    return sample_succeeded(vkWaitSemaphores(work->device->device, &info, UINT64_MAX),
                            "vkWaitSemaphores");
}

bool grow_work_wait(struct grow_work* work)
{
    return wait_for(work, work->value);
}

/* Fills in the descriptors of the window that begins at element `first`. */
static void write_set(const struct grow_work* work, VkDescriptorSet set, VkBuffer buffer,
                      uint64_t base, uint64_t count)
{
    const VkDescriptorBufferInfo elements = {buffer, base * GROW_ELEMENT_SIZE,
                                             count * GROW_ELEMENT_SIZE};
    const VkDescriptorBufferInfo counts = {work->counts, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet writes[2];
    for (uint32_t i = 0; i < 2; ++i) {
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = i == 0 ? &elements : &counts,
        };
    }
    const uint32_t skipped = work->by_address ? 1 : 0;
    vkUpdateDescriptorSets(work->device->device, 2 - skipped, writes + skipped, 0, NULL);
}

static bool record_job(const struct grow_work* work, VkCommandBuffer commands, VkDescriptorSet set,
                       VkPipeline pipeline, const struct grow_job* job)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const VkMemoryBarrier to_host = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    const uint32_t wanted = (job->end - job->begin + GROUP_SIZE - 1) / GROUP_SIZE;
    if (!sample_succeeded(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer")) {
        return false;
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, work->layout, 0, 1, &set, 0,
                            NULL);
    vkCmdPushConstants(commands, work->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(*job), job);
    vkCmdDispatch(commands, wanted < MAX_GROUPS ? wanted : MAX_GROUPS, 1, 1);
    if (pipeline == work->count) {
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    }
    return sample_succeeded(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

/* Submits work that waits for `after` and signals the timeline's next value. */
static bool submit_job(struct grow_work* work, VkCommandBuffer commands, const MaarPoint* after)
{
    const uint64_t signal = work->value + 1;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const uint32_t wait_count = after->semaphore != VK_NULL_HANDLE && after->value > 0 ? 1 : 0;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = &after->value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = &after->semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &work->timeline,
    };
    if (!sample_succeeded(vkQueueSubmit(work->device->queues[0], 1, &submit, VK_NULL_HANDLE),
                          "vkQueueSubmit")) {
        return false;
    }
    work->value = signal;
    return true;
}

/* Records one dispatch over at most one window of elements. */
static bool run_job(struct grow_work* work, VkPipeline pipeline, const struct grow_place* place,
                    uint64_t first, uint64_t count, uint32_t count_slot, const MaarPoint* after)
{
    const uint64_t base = first / OFFSET_UNIT * OFFSET_UNIT;
    const VkDeviceAddress address = place->address + base * GROW_ELEMENT_SIZE;
    const struct grow_job job = {
        .address = {(uint32_t)address, (uint32_t)(address >> 32)},
        .base = (uint32_t)base,
        .begin = (uint32_t)(first - base),
        .end = (uint32_t)(first - base + count),
        .slot = count_slot,
    };
    const uint32_t slot = work->next_slot;
    work->next_slot = (slot + 1) % GROW_SLOTS;
    if (!wait_for(work, work->slots[slot].value)) {
        return false;
    }
    write_set(work, work->slots[slot].set, place->buffer, base, job.end);
    if (!record_job(work, work->slots[slot].buffer, work->slots[slot].set, pipeline, &job) ||
        !submit_job(work, work->slots[slot].buffer, after)) {
        return false;
    }
    work->slots[slot].value = work->value;
    return true;
}

/* Returns the number of elements from `first` on that one dispatch may cover. */
static uint64_t piece_of(const struct grow_work* work, uint64_t first, uint64_t left)
{
    const uint64_t room = work->window - first % OFFSET_UNIT;
    return left < room ? left : room;
}

bool grow_work_write(struct grow_work* work, const struct grow_place* place, uint64_t first,
                     uint64_t count, const MaarPoint* after)
{
    while (count > 0) {
        const uint64_t piece = piece_of(work, first, count);
        if (!run_job(work, work->write, place, first, piece, 0, after)) {
            return false;
        }
        first += piece;
        count -= piece;
    }
    return true;
}

bool grow_work_verify(struct grow_work* work, const struct grow_place* place, uint64_t count,
                      uint64_t* matching)
{
    MaarAllocator const allocator = work->device->allocator;
    uint32_t* const counts = maarGetMappedData(allocator, work->counts_memory);
    *matching = 0;
    memset(counts, 0, GROW_MAX_COUNTS * sizeof(*counts));
    if (!sample_succeeded(maarFlushAllocation(allocator, work->counts_memory, 0, VK_WHOLE_SIZE),
                          "maarFlushAllocation")) {
        return false;
    }
    /* The writes must precede the comparison. */
    const MaarPoint written = {work->timeline, work->value};
    uint32_t pieces = 0;
    for (uint64_t first = 0; first < count; ++pieces) {
        const uint64_t piece = piece_of(work, first, count - first);
        if (pieces == GROW_MAX_COUNTS) {
            sample_complain("more than %u windows of elements", GROW_MAX_COUNTS);
            return false;
        }
        if (!run_job(work, work->count, place, first, piece, pieces, &written)) {
            return false;
        }
        first += piece;
    }
    if (!grow_work_wait(work) ||
        !sample_succeeded(
            maarInvalidateAllocation(allocator, work->counts_memory, 0, VK_WHOLE_SIZE),
            "maarInvalidateAllocation")) {
        return false;
    }
    for (uint32_t i = 0; i < pieces; ++i) {
        *matching += counts[i];
    }
    return true;
}
