/*
 * Queues. Each batch of a call becomes a submission. A fence becomes a submission too, the last
 * one. All of them are created before the first is executed, so that a failing call has no effect.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

/* Begins a call on a queue. Unless this fails, the call has exclusive use of the queue from
 * then on. */
static VkResult sim_queue_begin(VkQueue queue, enum sim_function function)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    const VkResult result = sim_enter(q->device->gpu, q->device, function);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(q->device->gpu);
        sim_claim(q->device->gpu, function, &q->busy, "VkQueue");
        q->tracks = sim_tracks_order(q->device->gpu);
        sim_unlock_gpu(q->device->gpu);
    }
    return result;
}

static void sim_queue_end(VkQueue queue)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    sim_lock_gpu(q->device->gpu);
    q->busy--;
    sim_unlock_gpu(q->device->gpu);
}

/* The submissions of one call, in order. */
struct sim_list {
    struct sim_submission* first;
    struct sim_submission** link;
};

static uint64_t sim_value_at(const uint64_t* values, uint32_t count, uint32_t index)
{
    return index < count ? values[index] : 0;
}

static void sim_fill_points(struct sim_point* points, uint32_t count, const VkSemaphore* semaphores,
                            const uint64_t* values, uint32_t value_count)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] =
            (struct sim_point){SIM_HANDLE(semaphores[i]), sim_value_at(values, value_count, i)};
    }
}

/* The semaphores of a batch, and the values of its timeline semaphores. */
struct sim_semaphores {
    uint32_t wait_count, signal_count;
    const VkSemaphore *waits, *signals;
    const void* chain;
};

static void sim_fill_semaphores(struct sim_submission* submission, const struct sim_semaphores* s)
{
    const VkTimelineSemaphoreSubmitInfo* timeline =
        sim_chain_find(s->chain, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    submission->wait_count = s->wait_count;
    submission->signal_count = s->signal_count;
    sim_fill_points(submission->waits, s->wait_count, s->waits,
                    timeline != NULL ? timeline->pWaitSemaphoreValues : NULL,
                    timeline != NULL ? timeline->waitSemaphoreValueCount : 0);
    sim_fill_points(submission->signals, s->signal_count, s->signals,
                    timeline != NULL ? timeline->pSignalSemaphoreValues : NULL,
                    timeline != NULL ? timeline->signalSemaphoreValueCount : 0);
}

/* Adds the room that a command buffer needs in a submission. */
static void sim_count_commands(VkCommandBuffer buffer, struct sim_submission_size* size)
{
    const struct sim_command_buffer* from = (const struct sim_command_buffer*)(const void*)buffer;
    size->uses += from->use_count;
    size->recordings += from->recording != NULL ? 1 : 0;
}

/* Checks a command buffer, and adds its commands and what they use. */
static void sim_add_commands(struct sim_submission* submission, VkCommandBuffer buffer)
{
    struct sim_device* device = submission->queue->device;
    sim_lock_gpu(device->gpu);
    struct sim_recording* recording = sim_command_submit(device, submission->function, buffer);
    sim_unlock_gpu(device->gpu);
    if (recording != NULL) {
        submission->recordings[submission->recording_count++] = recording;
    }
    const struct sim_command_buffer* from = (const struct sim_command_buffer*)(void*)buffer;
    if (from->use_count != 0) {
        memcpy(submission->uses + submission->use_count, from->uses,
               from->use_count * sizeof(*from->uses));
    }
    submission->use_count += from->use_count;
}

static void sim_list_add(struct sim_list* list, struct sim_submission* submission)
{
    if (list->link == NULL) {
        list->link = &list->first;
    }
    *list->link = submission;
    list->link = &submission->next;
}

/* Enqueues the submissions of a call and its fence, or frees them if one could not be created. */
static VkResult sim_queue_finish(struct sim_queue* queue, enum sim_function function,
                                 struct sim_list* list, VkFence fence, bool good)
{
    struct sim_device* device = queue->device;
    if (good && SIM_HANDLE(fence) != 0) {
        const struct sim_submission_size nothing = {0};
        struct sim_submission* last = sim_submission_create(queue, function, &nothing);
        good = last != NULL;
        if (good) {
            last->fence = SIM_HANDLE(fence);
            sim_list_add(list, last);
        }
    }
    if (!good) {
        sim_submissions_free(device, list->first);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    sim_lock_gpu(device->gpu);
    const VkResult result = sim_submissions_enqueue(device, list->first);
    sim_unlock_gpu(device->gpu);
    return result;
}

static struct sim_submission* sim_make_submit(struct sim_queue* queue, const VkSubmitInfo* submit)
{
    struct sim_submission_size size = {.waits = submit->waitSemaphoreCount,
                                       .signals = submit->signalSemaphoreCount};
    for (uint32_t c = 0; c < submit->commandBufferCount; c++) {
        sim_count_commands(submit->pCommandBuffers[c], &size);
    }
    struct sim_submission* submission = sim_submission_create(queue, SIM_FN_vkQueueSubmit, &size);
    for (uint32_t c = 0; submission != NULL && c < submit->commandBufferCount; c++) {
        sim_add_commands(submission, submit->pCommandBuffers[c]);
    }
    if (submission != NULL) {
        sim_fill_semaphores(submission, &(struct sim_semaphores){
                                            .wait_count = submit->waitSemaphoreCount,
                                            .signal_count = submit->signalSemaphoreCount,
                                            .waits = submit->pWaitSemaphores,
                                            .signals = submit->pSignalSemaphores,
                                            .chain = submit->pNext,
                                        });
    }
    return submission;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_submit(VkQueue queue, uint32_t submitCount,
                                                       const VkSubmitInfo* pSubmits, VkFence fence)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueSubmit);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_list list = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < submitCount; i++) {
        struct sim_submission* submission = sim_make_submit(q, &pSubmits[i]);
        good = submission != NULL;
        if (good) {
            sim_list_add(&list, submission);
        }
    }
    result = sim_queue_finish(q, SIM_FN_vkQueueSubmit, &list, fence, good);
    sim_queue_end(queue);
    return result;
}

static void sim_fill_points2(struct sim_point* points, uint32_t count,
                             const VkSemaphoreSubmitInfo* infos)
{
    for (uint32_t i = 0; i < count; i++) {
        points[i] = (struct sim_point){SIM_HANDLE(infos[i].semaphore), infos[i].value};
    }
}

static struct sim_submission* sim_make_submit2(struct sim_queue* queue, const VkSubmitInfo2* submit)
{
    struct sim_submission_size size = {.waits = submit->waitSemaphoreInfoCount,
                                       .signals = submit->signalSemaphoreInfoCount};
    for (uint32_t c = 0; c < submit->commandBufferInfoCount; c++) {
        sim_count_commands(submit->pCommandBufferInfos[c].commandBuffer, &size);
    }
    struct sim_submission* submission = sim_submission_create(queue, SIM_FN_vkQueueSubmit2, &size);
    for (uint32_t c = 0; submission != NULL && c < submit->commandBufferInfoCount; c++) {
        sim_add_commands(submission, submit->pCommandBufferInfos[c].commandBuffer);
    }
    if (submission != NULL) {
        submission->wait_count = submit->waitSemaphoreInfoCount;
        submission->signal_count = submit->signalSemaphoreInfoCount;
        sim_fill_points2(submission->waits, submission->wait_count, submit->pWaitSemaphoreInfos);
        sim_fill_points2(submission->signals, submission->signal_count,
                         submit->pSignalSemaphoreInfos);
    }
    return submission;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_submit2(VkQueue queue, uint32_t submitCount,
                                                        const VkSubmitInfo2* pSubmits,
                                                        VkFence fence)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueSubmit2);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_list list = {0};
    bool good = true;
    sim_lock_gpu(q->device->gpu);
    sim_need_feature(q->device, SIM_FN_vkQueueSubmit2, SIM_FEATURE_SYNCHRONIZATION2,
                     "synchronization2");
    sim_unlock_gpu(q->device->gpu);
    for (uint32_t i = 0; good && i < submitCount; i++) {
        struct sim_submission* submission = sim_make_submit2(q, &pSubmits[i]);
        good = submission != NULL;
        if (good) {
            sim_list_add(&list, submission);
        }
    }
    result = sim_queue_finish(q, SIM_FN_vkQueueSubmit2, &list, fence, good);
    sim_queue_end(queue);
    return result;
}

static struct sim_submission* sim_make_binds(struct sim_queue* queue, const VkBindSparseInfo* info)
{
    struct sim_gpu* gpu = queue->device->gpu;
    sim_lock_gpu(gpu);
    const struct sim_submission_size size = {
        .waits = info->waitSemaphoreCount,
        .signals = info->signalSemaphoreCount,
        .pieces = sim_pages_count(queue->device, info),
    };
    sim_unlock_gpu(gpu);
    struct sim_submission* submission =
        sim_submission_create(queue, SIM_FN_vkQueueBindSparse, &size);
    if (submission != NULL) {
        sim_lock_gpu(gpu);
        submission->piece_count = sim_pages_collect(queue->device, info, submission->pieces);
        sim_unlock_gpu(gpu);
        sim_fill_semaphores(submission, &(struct sim_semaphores){
                                            .wait_count = info->waitSemaphoreCount,
                                            .signal_count = info->signalSemaphoreCount,
                                            .waits = info->pWaitSemaphores,
                                            .signals = info->pSignalSemaphores,
                                            .chain = info->pNext,
                                        });
    }
    return submission;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_bind_sparse(VkQueue queue, uint32_t bindInfoCount,
                                                            const VkBindSparseInfo* pBindInfo,
                                                            VkFence fence)
{
    struct sim_queue* q = (struct sim_queue*)(void*)queue;
    struct sim_device* d = q->device;
    VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueBindSparse);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct sim_list list = {0};
    bool good = true;
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, SIM_FN_vkQueueBindSparse, SIM_FEATURE_SPARSE_BINDING, "sparseBinding");
    if ((d->gpu->profile.queueFamilies[q->family].flags & VK_QUEUE_SPARSE_BINDING_BIT) == 0) {
        sim_violate(d->gpu, SIM_FN_vkQueueBindSparse, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "queue family %u cannot bind sparse resources", q->family);
    }
    sim_unlock_gpu(d->gpu);
    for (uint32_t i = 0; good && i < bindInfoCount; i++) {
        struct sim_submission* submission = sim_make_binds(q, &pBindInfo[i]);
        good = submission != NULL;
        if (good) {
            sim_list_add(&list, submission);
        }
    }
    result = sim_queue_finish(q, SIM_FN_vkQueueBindSparse, &list, fence, good);
    sim_queue_end(queue);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_queue_wait_idle(VkQueue queue)
{
    struct sim_device* d = ((struct sim_queue*)(void*)queue)->device;
    const VkResult result = sim_queue_begin(queue, SIM_FN_vkQueueWaitIdle);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(d->gpu);
        sim_submissions_run(d, UINT32_MAX);
        sim_submissions_wait_idle(d, (const struct sim_queue*)(const void*)queue);
        sim_known_host_idle(d, (const struct sim_queue*)(const void*)queue);
        sim_unlock_gpu(d->gpu);
        sim_queue_end(queue);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_device_wait_idle(VkDevice device)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkDeviceWaitIdle);
    if (result == VK_SUCCESS) {
        sim_lock_gpu(d->gpu);
        sim_submissions_run(d, UINT32_MAX);
        sim_submissions_wait_idle(d, NULL);
        sim_known_host_idle(d, NULL);
        sim_unlock_gpu(d->gpu);
    }
    return result;
}

const struct sim_entry sim_queue_entries[] = {
    SIM_ENTRY(vkQueueSubmit, sim_queue_submit),
    SIM_ENTRY(vkQueueSubmit2, sim_queue_submit2),
    SIM_ENTRY(vkQueueBindSparse, sim_queue_bind_sparse),
    SIM_ENTRY(vkQueueWaitIdle, sim_queue_wait_idle),
    SIM_ENTRY(vkDeviceWaitIdle, sim_device_wait_idle),
    {SIM_FN_COUNT, NULL},
};
