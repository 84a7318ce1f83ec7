/*
 * Leaves out one wait or barrier: see rig_omit.h.
 */
#include "tests/rig/rig_omit.h"

enum { MOST_WAITS = 32, MOST_SUBMITS = 4 };

static struct {
    enum rig_omission kind;
    uint32_t nth;
    uint32_t counts[RIG_OMISSION_COUNT];
    PFN_vkGetDeviceProcAddr get_proc_addr;
    PFN_vkCmdPipelineBarrier barrier;
    PFN_vkQueueSubmit submit;
    PFN_vkQueueBindSparse bind;
    PFN_vkGetSemaphoreCounterValue counter_value;
    PFN_vkWaitSemaphores wait;
} omit;

/* Counts a call, and returns whether it is the one to leave out. */
static bool is_next(enum rig_omission kind)
{
    return ++omit.counts[kind] == omit.nth && kind == omit.kind;
}

static VKAPI_ATTR void VKAPI_CALL
pipeline_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
                 VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier* memories,
                 uint32_t buffer_count, const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                 const VkImageMemoryBarrier* images)
{
    if (!is_next(RIG_OMIT_BARRIER)) {
        omit.barrier(commands, from, to, flags, memory_count, memories, buffer_count, buffers,
                     image_count, images);
    }
}

/* The waits of a submission without those that are left out. */
struct kept_waits {
    VkTimelineSemaphoreSubmitInfo timelines;
    VkSemaphore semaphores[MOST_WAITS];
    VkPipelineStageFlags stages[MOST_WAITS];
    uint64_t values[MOST_WAITS];
    uint32_t count;
};

/* Sorts the waits out. The chain is the values alone, as all submissions of these tests have it. */
static void keep_waits(struct kept_waits* kept, enum rig_omission kind, const void* chain,
                       uint32_t count, const VkSemaphore* semaphores,
                       const VkPipelineStageFlags* stages)
{
    const VkTimelineSemaphoreSubmitInfo* timelines = chain;
    assert_true(count <= MOST_WAITS);
    assert_non_null(timelines);
    assert_int_equal(timelines->sType, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    kept->count = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (is_next(kind)) {
            continue;
        }
        kept->semaphores[kept->count] = semaphores[i];
        kept->values[kept->count] = timelines->pWaitSemaphoreValues[i];
        kept->stages[kept->count++] = stages != NULL ? stages[i] : 0;
    }
    kept->timelines = *timelines;
    kept->timelines.waitSemaphoreValueCount = kept->count;
    kept->timelines.pWaitSemaphoreValues = kept->values;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count,
                                                   const VkSubmitInfo* submits, VkFence fence)
{
    VkSubmitInfo changed[MOST_SUBMITS];
    struct kept_waits kept[MOST_SUBMITS];
    assert_true(count <= MOST_SUBMITS);
    for (uint32_t i = 0; i < count; ++i) {
        changed[i] = submits[i];
        if (submits[i].waitSemaphoreCount > 0) {
            keep_waits(&kept[i], RIG_OMIT_WAIT, submits[i].pNext, submits[i].waitSemaphoreCount,
                       submits[i].pWaitSemaphores, submits[i].pWaitDstStageMask);
            changed[i].pNext = &kept[i].timelines;
            changed[i].waitSemaphoreCount = kept[i].count;
            changed[i].pWaitSemaphores = kept[i].semaphores;
            changed[i].pWaitDstStageMask = kept[i].stages;
        }
    }
    return omit.submit(queue, count, changed, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_bind(VkQueue queue, uint32_t count,
                                                 const VkBindSparseInfo* binds, VkFence fence)
{
    VkBindSparseInfo changed[MOST_SUBMITS];
    struct kept_waits kept[MOST_SUBMITS];
    assert_true(count <= MOST_SUBMITS);
    for (uint32_t i = 0; i < count; ++i) {
        changed[i] = binds[i];
        if (binds[i].waitSemaphoreCount > 0) {
            keep_waits(&kept[i], RIG_OMIT_BIND_WAIT, binds[i].pNext, binds[i].waitSemaphoreCount,
                       binds[i].pWaitSemaphores, NULL);
            changed[i].pNext = &kept[i].timelines;
            changed[i].waitSemaphoreCount = kept[i].count;
            changed[i].pWaitSemaphores = kept[i].semaphores;
        }
    }
    return omit.bind(queue, count, changed, fence);
}

/* No timeline of these tests reaches this value. */
static const uint64_t far_value = 1000000;

static VKAPI_ATTR VkResult VKAPI_CALL counter_value(VkDevice device, VkSemaphore semaphore,
                                                    uint64_t* value)
{
    if (is_next(RIG_OMIT_ANSWER)) {
        *value = far_value;
        return VK_SUCCESS;
    }
    return omit.counter_value(device, semaphore, value);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo* info,
                                                      uint64_t timeout)
{
    return is_next(RIG_OMIT_HOST_WAIT) ? VK_SUCCESS : omit.wait(device, info, timeout);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_proc_addr(VkDevice device, const char* name)
{
    const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } rows[] = {
        {"vkCmdPipelineBarrier", (PFN_vkVoidFunction)pipeline_barrier},
        {"vkQueueSubmit", (PFN_vkVoidFunction)queue_submit},
        {"vkQueueBindSparse", (PFN_vkVoidFunction)queue_bind},
        {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)counter_value},
        {"vkGetSemaphoreCounterValueKHR", (PFN_vkVoidFunction)counter_value},
        {"vkWaitSemaphores", (PFN_vkVoidFunction)wait_semaphores},
        {"vkWaitSemaphoresKHR", (PFN_vkVoidFunction)wait_semaphores},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].function;
        }
    }
    return omit.get_proc_addr(device, name);
}

void rig_omit(struct rig* rig, enum rig_omission kind, uint32_t nth)
{
    memset(&omit, 0, sizeof omit);
    omit.kind = kind;
    omit.nth = nth;
    omit.get_proc_addr = vkGetDeviceProcAddr;
    omit.barrier = vkCmdPipelineBarrier;
    omit.submit = vkQueueSubmit;
    omit.bind = vkQueueBindSparse;
    omit.counter_value = vkGetSemaphoreCounterValue;
    omit.wait = vkWaitSemaphores;
    /* rig_open loads the functions of each device anew, so these are the driver's next time. */
    vkCmdPipelineBarrier = pipeline_barrier;
    vkQueueSubmit = queue_submit;
    vkQueueBindSparse = queue_bind;
    vkGetSemaphoreCounterValue = counter_value;
    vkWaitSemaphores = wait_semaphores;
    rig->create_info.pfnGetDeviceProcAddr = get_proc_addr;
}

uint32_t rig_omit_count(enum rig_omission kind)
{
    return omit.counts[kind];
}

const char* rig_omission_name(enum rig_omission kind)
{
    static const char* const names[RIG_OMISSION_COUNT] = {
        "nothing",
        "barrier",
        "wait of a submission",
        "wait of a bind",
        "answer about a timeline",
        "wait of the host",
    };
    return names[kind];
}
