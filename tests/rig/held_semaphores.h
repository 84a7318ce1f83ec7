/*
 * A driver like lavapipe, which still uses the semaphore that a submission waited for after that
 * submission has signalled. Once a later submission to the same queue has signalled, the driver no
 * longer uses the semaphore. These functions stand in front of the simulated driver's and note
 * which submission holds which semaphore.
 */
#ifndef MAAR_TESTS_RIG_HELD_SEMAPHORES_H
#define MAAR_TESTS_RIG_HELD_SEMAPHORES_H

#include "tests/rig/rig.h"

enum { MOST_HELD_SUBMISSIONS = 64, MOST_HELD_SEMAPHORES = 16 };

/* One submission: what it signals, and what it holds until a later one of its queue is done. */
struct held_submission {
    VkQueue queue;
    VkSemaphore signal;
    uint64_t value;
    uint32_t held_count;
    VkSemaphore held[MOST_HELD_SEMAPHORES];
};

static struct {
    uint32_t submission_count;
    struct held_submission submissions[MOST_HELD_SUBMISSIONS];
    uint32_t waiting_count;   /* submissions that waited for something */
    uint32_t destroyed_count; /* semaphores */
    uint32_t destroyed_held;  /* semaphores that a submission still held */
} seen;

static inline void note_submission(VkQueue queue, uint32_t wait_count, const VkSemaphore* waits,
                                   const VkSemaphore* signal, const void* next)
{
    const VkTimelineSemaphoreSubmitInfo* values = next;
    assert_true(seen.submission_count < MOST_HELD_SUBMISSIONS &&
                wait_count <= MOST_HELD_SEMAPHORES);
    assert_int_equal(values->sType, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    assert_int_equal(values->signalSemaphoreValueCount, 1);
    struct held_submission* made = &seen.submissions[seen.submission_count++];
    made->queue = queue;
    made->signal = *signal;
    made->value = values->pSignalSemaphoreValues[0];
    made->held_count = wait_count;
    for (uint32_t i = 0; i < wait_count; ++i) {
        made->held[i] = waits[i];
    }
    seen.waiting_count += wait_count > 0 ? 1 : 0;
}

static inline VKAPI_ATTR VkResult VKAPI_CALL bind_and_note(VkQueue queue, uint32_t count,
                                                           const VkBindSparseInfo* infos,
                                                           VkFence fence)
{
    assert_int_equal(count, 1);
    note_submission(queue, infos->waitSemaphoreCount, infos->pWaitSemaphores,
                    infos->pSignalSemaphores, infos->pNext);
    return vkQueueBindSparse(queue, count, infos, fence);
}

static inline VKAPI_ATTR VkResult VKAPI_CALL submit_and_note(VkQueue queue, uint32_t count,
                                                             const VkSubmitInfo* infos,
                                                             VkFence fence)
{
    assert_int_equal(count, 1);
    note_submission(queue, infos->waitSemaphoreCount, infos->pWaitSemaphores,
                    infos->pSignalSemaphores, infos->pNext);
    return vkQueueSubmit(queue, count, infos, fence);
}

/* Notes that a signal was seen: earlier submissions to its queue hold nothing any more. */
static inline void let_go_before(VkSemaphore signal, uint64_t value)
{
    uint32_t done = seen.submission_count;
    for (uint32_t i = 0; i < seen.submission_count; ++i) {
        if (seen.submissions[i].signal == signal && seen.submissions[i].value == value) {
            done = i;
        }
    }
    for (uint32_t i = 0; done < seen.submission_count && i < done; ++i) {
        if (seen.submissions[i].queue == seen.submissions[done].queue) {
            seen.submissions[i].held_count = 0;
        }
    }
}

static inline VKAPI_ATTR VkResult VKAPI_CALL wait_and_note(VkDevice device,
                                                           const VkSemaphoreWaitInfo* wait,
                                                           uint64_t timeout)
{
    const VkResult result = vkWaitSemaphores(device, wait, timeout);
    for (uint32_t i = 0; result == VK_SUCCESS && i < wait->semaphoreCount; ++i) {
        let_go_before(wait->pSemaphores[i], wait->pValues[i]);
    }
    return result;
}

static inline bool is_held(VkSemaphore semaphore)
{
    bool held = false;
    for (uint32_t i = 0; i < seen.submission_count; ++i) {
        for (uint32_t w = 0; w < seen.submissions[i].held_count; ++w) {
            held |= seen.submissions[i].held[w] == semaphore;
        }
    }
    return held;
}

static inline VKAPI_ATTR void VKAPI_CALL destroy_and_note(VkDevice device, VkSemaphore semaphore,
                                                          const VkAllocationCallbacks* callbacks)
{
    seen.destroyed_count += semaphore != VK_NULL_HANDLE ? 1 : 0;
    seen.destroyed_held += is_held(semaphore) ? 1 : 0;
    vkDestroySemaphore(device, semaphore, callbacks);
}

/* For MaarAllocatorCreateInfo::pfnGetDeviceProcAddr. */
static inline VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL noting_address(VkDevice device,
                                                                      const char* name)
{
    static const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } ours[] = {
        {"vkQueueBindSparse", (PFN_vkVoidFunction)bind_and_note},
        {"vkQueueSubmit", (PFN_vkVoidFunction)submit_and_note},
        {"vkWaitSemaphores", (PFN_vkVoidFunction)wait_and_note},
        {"vkDestroySemaphore", (PFN_vkVoidFunction)destroy_and_note},
    };
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; ++i) {
        if (strcmp(name, ours[i].name) == 0) {
            return ours[i].function;
        }
    }
    return vkGetDeviceProcAddr(device, name);
}

/* Submits work of the program that waits for a point of Maar's, and waits for its end. */
static inline void wait_on_the_queue(struct rig* rig, const MaarPoint* point)
{
    const uint64_t value = 1;
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore signal = rig_create_timeline(rig, 0);
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &point->value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &point->semaphore,
        .pWaitDstStageMask = &stage,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &signal,
    };
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &signal,
        .pValues = &value,
    };
    assert_int_equal(submit_and_note(rig->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(wait_and_note(rig->device, &wait, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig->device, signal, NULL);
}

#endif
