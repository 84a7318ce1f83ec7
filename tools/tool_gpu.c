/*
 * The verifier's batches, pipelines and results; see tool_gpu.h.
 */
#include "tool_gpu_internal.h"

#include "shaders/fill_comp.h"
#include "shaders/verify_comp.h"
#include "support/shader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The threads of a work group. The shaders declare the same number. */
#define GROUP_SIZE 64u
/* The words of one thread, up to the largest number of groups. */
#define WORDS_PER_THREAD 16u
#define MAX_GROUPS 16384u

/* The most mismatches that one run prints. Further mismatches are only counted. */
#define MAX_PRINTED_MISMATCHES 10u

/* The bytes of the probe's buffer, and the odd range that the probe fills. */
#define PROBE_SIZE 4096u
#define PROBE_OFFSET 13u
#define PROBE_LENGTH 3001u

static VkResult create_layouts(struct tool_gpu* gpu)
{
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
    };
    const VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings,
    };
    const VkDevice device = gpu->tool->device;
    VkResult result = vkCreateDescriptorSetLayout(device, &set_info, NULL, &gpu->set_layout);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct gpu_push)};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &gpu->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    return vkCreatePipelineLayout(device, &info, NULL, &gpu->layout);
}

static VkResult create_commands(struct tool_gpu* gpu)
{
    const VkDevice device = gpu->tool->device;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = gpu->tool->queue_family,
    };
    VkResult result = vkCreateCommandPool(device, &pool_info, NULL, &gpu->command_pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->command_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = vkAllocateCommandBuffers(device, &info, &gpu->commands);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return vkCreateFence(device, &fence_info, NULL, &gpu->fence);
}

static void record_barrier(struct tool_gpu* gpu)
{
    if (gpu->without_barriers) {
        return;
    }
    const VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    vkCmdPipelineBarrier(gpu->commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

VkResult gpu_begin_job(struct tool_gpu* gpu)
{
    if (!gpu->recording) {
        const VkCommandBufferBeginInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
        };
        const VkResult result = vkBeginCommandBuffer(gpu->commands, &info);
        if (result != VK_SUCCESS) {
            return result;
        }
        gpu->recording = true;
        ++gpu->batch;
    }
    record_barrier(gpu);
    return VK_SUCCESS;
}

VkResult gpu_begin_verify(struct tool_gpu* gpu)
{
    if (gpu->slot_count == GPU_SLOT_COUNT) {
        const VkResult result = gpu_run(gpu);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return gpu_begin_job(gpu);
}

/* Evaluates the results of one batch, subject by subject. A subject may continue in the next
 * batch. */
static void read_results(struct tool_gpu* gpu)
{
    uint32_t* const matching = gpu->results.mapped;
    for (uint32_t i = 0; i < gpu->slot_count; ++i) {
        const struct gpu_slot* const slot = &gpu->slots[i];
        gpu->subject_right += matching[i];
        gpu->subject_expected += slot->expected;
        if (!slot->last) {
            continue;
        }
        const uint64_t right = gpu->subject_right;
        const uint64_t expected = gpu->subject_expected;
        const uint64_t verified = slot->copied && right == expected ? slot->credit : right;
        gpu->totals.verified_bytes += verified;
        gpu->totals.copied_bytes += slot->copied ? verified : 0;
        if (right != expected && gpu->totals.mismatches++ < MAX_PRINTED_MISMATCHES) {
            tool_complain("mismatch: id %" PRIu64 ": the device finds %" PRIu64 " of %" PRIu64
                          " bytes unchanged",
                          slot->label, right, expected);
        }
        gpu->subject_right = 0;
        gpu->subject_expected = 0;
    }
    memset(matching, 0, gpu->slot_count * sizeof(*matching));
    gpu->slot_count = 0;
}

VkResult gpu_run(struct tool_gpu* gpu)
{
    if (!gpu->recording) {
        return VK_SUCCESS;
    }
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(gpu->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
    gpu->recording = false;
    VkResult result = vkEndCommandBuffer(gpu->commands);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDevice device = gpu->tool->device;
    const VkTimelineSemaphoreSubmitInfo bound = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &gpu->bound.value,
    };
    const VkPipelineStageFlags everything = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const bool waits = gpu->bound.value != 0;
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = waits ? &bound : NULL,
        .waitSemaphoreCount = waits ? 1 : 0,
        .pWaitSemaphores = &gpu->bound.semaphore,
        .pWaitDstStageMask = &everything,
        .commandBufferCount = 1,
        .pCommandBuffers = &gpu->commands,
    };
    pthread_mutex_lock(&gpu->tool->queue_mutex);
    result = vkQueueSubmit(gpu->tool->queue, 1, &submit, gpu->fence);
    pthread_mutex_unlock(&gpu->tool->queue_mutex);
    if (result == VK_SUCCESS) {
        result = vkWaitForFences(device, 1, &gpu->fence, VK_TRUE, UINT64_MAX);
    }
    if (result == VK_SUCCESS) {
        result = vkResetFences(device, 1, &gpu->fence);
    }
    if (result == VK_SUCCESS) {
        read_results(gpu);
    }
    return result;
}

/* Finds the next part of a stretch that lies in one window. Returns false at the end of the
 * stretch. */
struct gpu_piece {
    const struct gpu_window* window;
    VkDeviceSize offset; /* within the block */
    uint32_t first_byte, byte_count;
};

static bool next_piece(const struct tool_gpu* gpu, const struct gpu_stretch* stretch,
                       VkDeviceSize at, struct gpu_piece* piece)
{
    const VkDeviceSize end = stretch->offset + stretch->size;
    const VkDeviceSize chunk_size = gpu_chunk_size(gpu);
    if (at >= end || at / chunk_size >= stretch->block->chunk_count) {
        return false;
    }
    const struct gpu_chunk* const chunk = &stretch->block->chunks[at / chunk_size];
    const VkDeviceSize in_chunk = at % chunk_size;
    const VkDeviceSize reachable = chunk->size & ~(VkDeviceSize)3;
    if (in_chunk >= reachable) {
        return false;
    }
    const VkDeviceSize window = in_chunk / gpu->window_size;
    VkDeviceSize stop = (window + 1) * gpu->window_size;
    stop = stop < reachable ? stop : reachable;
    const VkDeviceSize left = end - at;
    const VkDeviceSize size = stop - in_chunk < left ? stop - in_chunk : left;
    *piece = (struct gpu_piece){
        .window = &chunk->windows[window],
        .offset = at,
        .first_byte = (uint32_t)(in_chunk - window * gpu->window_size),
        .byte_count = (uint32_t)size,
    };
    return true;
}

static void record_dispatch(struct tool_gpu* gpu, VkPipeline pipeline,
                            const struct gpu_stretch* stretch, const struct gpu_piece* piece,
                            uint32_t slot)
{
    const uint64_t first_word = stretch->offset / 4;
    const struct gpu_push push = {
        .first_byte = piece->first_byte,
        .byte_count = piece->byte_count,
        .seed_low = (uint32_t)(stretch->seed * 0x9E3779B97F4A7C15u >> 32),
        /* Words are numbered from the first word, so the offset of the allocation in that word
         * counts. */
        .seed_high =
            (uint32_t)(stretch->seed >> 32 ^ stretch->seed << 7 ^ (stretch->offset & 3) << 29),
        .word_base = (uint32_t)(piece->offset / 4 - first_word),
        .slot = slot,
    };
    const uint32_t words = piece->byte_count / 4 + 2;
    uint32_t groups = words / (GROUP_SIZE * WORDS_PER_THREAD) + 1;
    groups = groups < MAX_GROUPS ? groups : MAX_GROUPS;
    vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->layout, 0, 1,
                            &piece->window->set, 0, NULL);
    vkCmdPushConstants(gpu->commands, gpu->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push),
                       &push);
    vkCmdDispatch(gpu->commands, groups, 1, 1);
    stretch->block->last_batch = gpu->batch;
}

/* Finds the bytes of a stretch that lie in the odd end of its block, if any. */
static bool find_tail(const struct tool_gpu* gpu, const struct gpu_stretch* stretch,
                      struct gpu_tail* tail)
{
    const VkDeviceSize chunk_size = gpu_chunk_size(gpu);
    const VkDeviceSize index = (stretch->offset + stretch->size - 1) / chunk_size;
    if (index >= stretch->block->chunk_count) {
        return false;
    }
    const struct gpu_chunk* const chunk = &stretch->block->chunks[index];
    const VkDeviceSize base = index * chunk_size;
    const VkDeviceSize from = stretch->offset > base ? stretch->offset - base : 0;
    const VkDeviceSize to = stretch->offset + stretch->size - base;
    const VkDeviceSize reachable = chunk->size & ~(VkDeviceSize)3;
    const VkDeviceSize start = from > reachable ? from : reachable;
    const VkDeviceSize end = to < chunk->size ? to : chunk->size;
    if (start >= end) {
        return false;
    }
    *tail = (struct gpu_tail){chunk->buffer, start, end - start, ~stretch->seed};
    return true;
}

VkResult gpu_record_fill(struct tool_gpu* gpu, const struct gpu_stretch* stretch)
{
    struct gpu_piece piece;
    VkDeviceSize at = stretch->offset;
    while (next_piece(gpu, stretch, at, &piece)) {
        const VkResult result = gpu_begin_job(gpu);
        if (result != VK_SUCCESS) {
            return result;
        }
        record_dispatch(gpu, gpu->fill, stretch, &piece, 0);
        at += piece.byte_count;
    }
    struct gpu_tail tail;
    if (!find_tail(gpu, stretch, &tail)) {
        return VK_SUCCESS;
    }
    const VkResult result = gpu_tail_fill(gpu, &tail);
    stretch->block->last_batch = gpu->batch;
    return result;
}

VkResult gpu_record_verify(struct tool_gpu* gpu, const struct gpu_stretch* stretch,
                           const struct gpu_slot* meaning, bool last)
{
    struct gpu_piece piece;
    struct gpu_tail tail = {0};
    const bool has_tail = find_tail(gpu, stretch, &tail);
    VkDeviceSize at = stretch->offset;
    while (next_piece(gpu, stretch, at, &piece)) {
        const VkResult result = gpu_begin_verify(gpu);
        if (result != VK_SUCCESS) {
            return result;
        }
        struct gpu_slot* const slot = &gpu->slots[gpu->slot_count];
        *slot = *meaning;
        slot->expected = piece.byte_count;
        at += piece.byte_count;
        slot->last = last && !has_tail && !next_piece(gpu, stretch, at, &(struct gpu_piece){0});
        record_dispatch(gpu, gpu->verify, stretch, &piece, gpu->slot_count);
        ++gpu->slot_count;
    }
    gpu->totals.unverified_bytes += stretch->offset + stretch->size - at - tail.size;
    if (!has_tail) {
        return VK_SUCCESS;
    }
    const VkResult result = gpu_tail_verify(gpu, &tail, meaning, last);
    stretch->block->last_batch = gpu->batch;
    return result;
}

static bool reachable_by_copy(const struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    return subject->access == TOOL_ACCESS_COPY && gpu_can_copy(gpu, subject);
}

/* Finds a subject's stretch and the alias of its block. The stretch is unreachable if the driver
 * binds no buffer there.
 */
static VkResult find_stretch(struct tool_gpu* gpu, const struct tool_gpu_subject* subject,
                             struct gpu_stretch* stretch, bool* reachable)
{
    *stretch =
        (struct gpu_stretch){NULL, subject->place.offset, subject->place.size, subject->label};
    const VkResult result =
        gpu_find_block(gpu, subject->place.memory, subject->place.block_size, &stretch->block);
    *reachable = result == VK_SUCCESS;
    return result == VK_ERROR_FEATURE_NOT_PRESENT ? VK_SUCCESS : result;
}

VkResult tool_gpu_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&gpu->mutex);
    if (subject->access == TOOL_ACCESS_ALIAS) {
        struct gpu_stretch stretch;
        bool reachable = false;
        result = find_stretch(gpu, subject, &stretch, &reachable);
        if (reachable) {
            result = gpu_record_fill(gpu, &stretch);
        }
    } else if (reachable_by_copy(gpu, subject)) {
        result = gpu_copy_fill(gpu, subject);
    }
    pthread_mutex_unlock(&gpu->mutex);
    return result;
}

VkResult tool_gpu_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    VkResult result = VK_SUCCESS;
    bool reachable = true;
    pthread_mutex_lock(&gpu->mutex);
    if (subject->access == TOOL_ACCESS_ALIAS) {
        const struct gpu_slot meaning = {.label = subject->label};
        struct gpu_stretch stretch;
        result = find_stretch(gpu, subject, &stretch, &reachable);
        if (reachable) {
            result = gpu_record_verify(gpu, &stretch, &meaning, true);
        }
    } else if (reachable_by_copy(gpu, subject)) {
        result = gpu_copy_verify(gpu, subject);
    } else {
        reachable = false;
    }
    gpu->totals.unverified_bytes += reachable ? 0 : subject->place.size;
    pthread_mutex_unlock(&gpu->mutex);
    return result;
}

VkResult tool_gpu_flush(struct tool_gpu* gpu)
{
    pthread_mutex_lock(&gpu->mutex);
    const VkResult result = gpu_run(gpu);
    pthread_mutex_unlock(&gpu->mutex);
    return result;
}

VkResult tool_gpu_forget(struct tool_gpu* gpu, VkDeviceMemory memory)
{
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&gpu->mutex);
    struct gpu_block* const block = gpu_take_block(gpu, memory);
    if (block != NULL && gpu->recording && block->last_batch == gpu->batch) {
        result = gpu_run(gpu);
    }
    gpu_destroy_block(gpu, block);
    pthread_mutex_unlock(&gpu->mutex);
    return result;
}

struct tool_gpu_totals tool_gpu_read_totals(struct tool_gpu* gpu)
{
    pthread_mutex_lock(&gpu->mutex);
    const struct tool_gpu_totals totals = gpu->totals;
    pthread_mutex_unlock(&gpu->mutex);
    return totals;
}

bool tool_gpu_can_copy(struct tool_gpu* gpu, const struct tool_gpu_subject* subject)
{
    return reachable_by_copy(gpu, subject);
}

void tool_gpu_wait_for(struct tool_gpu* gpu, MaarPoint point)
{
    pthread_mutex_lock(&gpu->mutex);
    if (point.value > gpu->bound.value) {
        gpu->bound = point;
    }
    pthread_mutex_unlock(&gpu->mutex);
}

uint32_t tool_gpu_type_bits(const struct tool_gpu* gpu)
{
    return gpu->type_bits;
}

void tool_gpu_omit_barriers(struct tool_gpu* gpu)
{
    gpu->without_barriers = true;
}

/* Fills and verifies an odd range of the probe's own buffer. */
static VkResult probe_execution(struct tool_gpu* gpu, bool* executes)
{
    *executes = false;
    struct gpu_own_buffer probe;
    struct gpu_block* block = NULL;
    VkResult result =
        gpu_create_own_buffer(gpu, PROBE_SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true, &probe);
    if (result != VK_SUCCESS) {
        return result;
    }
    memset(probe.mapped, 0, PROBE_SIZE);
    result = gpu_make_block(gpu, probe.memory, PROBE_SIZE, &block);
    if (result == VK_SUCCESS) {
        const struct gpu_stretch stretch = {block, PROBE_OFFSET, PROBE_LENGTH, 1};
        const struct gpu_slot meaning = {.label = 0};
        result = gpu_record_fill(gpu, &stretch);
        if (result == VK_SUCCESS) {
            result = gpu_record_verify(gpu, &stretch, &meaning, false);
        }
    }
    if (result == VK_SUCCESS) {
        const uint32_t slot = gpu->slot_count - 1;
        uint32_t right = 0;
        gpu->slot_count = 0; /* evaluated here, not with the allocations */
        result = gpu_run(gpu);
        memcpy(&right, (const uint32_t*)gpu->results.mapped + slot, sizeof(right));
        memset(gpu->results.mapped, 0, sizeof(right));
        const unsigned char* const bytes = probe.mapped;
        *executes = right == PROBE_LENGTH && bytes[PROBE_OFFSET - 1] == 0 &&
                    bytes[PROBE_OFFSET + PROBE_LENGTH] == 0;
    }
    gpu_destroy_block(gpu, block);
    gpu_destroy_own_buffer(gpu, &probe);
    return result;
}

static VkResult set_up(struct tool_gpu* gpu, bool* executes)
{
    const VkPhysicalDeviceLimits* const limits = &gpu->tool->properties.limits;
    VkDeviceSize window = limits->maxStorageBufferRange;
    window = window < GPU_MAX_WINDOW ? window : GPU_MAX_WINDOW;
    const VkDeviceSize alignment = limits->minStorageBufferOffsetAlignment > GPU_MIN_WINDOW
                                       ? limits->minStorageBufferOffsetAlignment
                                       : GPU_MIN_WINDOW; /* both powers of two */
    gpu->window_size = window - window % alignment;
    static const struct support_shader fill = SUPPORT_SHADER(fill_comp);
    static const struct support_shader verify = SUPPORT_SHADER(verify_comp);
    VkResult result = create_layouts(gpu);
    if (result == VK_SUCCESS) {
        result = support_create_compute_pipeline(gpu->tool->device, &fill, gpu->layout, &gpu->fill);
    }
    if (result == VK_SUCCESS) {
        result =
            support_create_compute_pipeline(gpu->tool->device, &verify, gpu->layout, &gpu->verify);
    }
    if (result == VK_SUCCESS) {
        result = create_commands(gpu);
    }
    if (result == VK_SUCCESS) {
        result = gpu_create_own_buffer(gpu, GPU_SLOT_COUNT * sizeof(uint32_t),
                                       VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true, &gpu->results);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    memset(gpu->results.mapped, 0, GPU_SLOT_COUNT * sizeof(uint32_t));
    return probe_execution(gpu, executes);
}

static uint32_t read_type_bits(const struct tool_gpu* gpu)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 65536,
        .usage = GPU_ALIAS_USAGE,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements requirements = {0};
    if (vkCreateBuffer(gpu->tool->device, &info, NULL, &buffer) == VK_SUCCESS) {
        vkGetBufferMemoryRequirements(gpu->tool->device, buffer, &requirements);
        vkDestroyBuffer(gpu->tool->device, buffer, NULL);
    }
    return requirements.memoryTypeBits;
}

VkResult tool_gpu_create(struct tool_device* tool, struct tool_gpu** out, bool* executes)
{
    *out = NULL;
    *executes = false;
    struct tool_gpu* const gpu = calloc(1, sizeof(*gpu));
    if (gpu == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    gpu->tool = tool;
    pthread_mutex_init(&gpu->mutex, NULL);
    const VkResult result = set_up(gpu, executes);
    if (result != VK_SUCCESS) {
        tool_gpu_destroy(gpu);
        return result;
    }
    gpu->type_bits = read_type_bits(gpu);
    *out = gpu;
    return VK_SUCCESS;
}

void tool_gpu_destroy(struct tool_gpu* gpu)
{
    if (gpu == NULL) {
        return;
    }
    const VkDevice device = gpu->tool->device;
    vkDeviceWaitIdle(device);
    for (uint32_t i = 0; i < GPU_HASH_SIZE; ++i) {
        while (gpu->blocks[i] != NULL) {
            gpu_destroy_block(gpu, gpu_take_block(gpu, gpu->blocks[i]->memory));
        }
    }
    gpu_destroy_block(gpu, gpu->staging_block);
    gpu_destroy_own_buffer(gpu, &gpu->staging);
    gpu_destroy_own_buffer(gpu, &gpu->results);
    for (uint32_t i = 0; i < gpu->pools.count; ++i) {
        vkDestroyDescriptorPool(device, gpu->pools.pools[i], NULL);
    }
    free(gpu->pools.pools);
    vkDestroyFence(device, gpu->fence, NULL);
    vkDestroyCommandPool(device, gpu->command_pool, NULL);
    vkDestroyPipeline(device, gpu->fill, NULL);
    vkDestroyPipeline(device, gpu->verify, NULL);
    vkDestroyPipelineLayout(device, gpu->layout, NULL);
    vkDestroyDescriptorSetLayout(device, gpu->set_layout, NULL);
    pthread_mutex_destroy(&gpu->mutex);
    free(gpu);
}
