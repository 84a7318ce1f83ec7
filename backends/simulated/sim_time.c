/*
 * Virtual time. A heap moves the bytes of one command at a time, at its bandwidth, whatever queue
 * the command belongs to. The order in which commands are executed is the order in which they get a
 * heap. Nothing here is measured on hardware.
 */
#include "backends/simulated/sim_time.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_record.h"

#include <string.h>

/* What stands for zero in MaarSimulatedTimeInfo: round numbers of the order of a discrete card. */
static const uint64_t sim_default_command_latency_ns = 2000;
static const uint64_t sim_default_bind_latency_ns = 20000;
static const uint64_t sim_default_bind_element_ns = 500;
static const uint64_t sim_default_device_bandwidth = 400000000000;
static const uint64_t sim_default_host_bandwidth = 12000000000;

static const double sim_ns_per_second = 1e9;

void sim_time_set(struct sim_gpu* gpu, const MaarSimulatedTimeInfo* info)
{
    gpu->time_is_on = info != NULL;
    if (info == NULL) {
        return;
    }
    MaarSimulatedTimeInfo* t = &gpu->time;
    *t = *info;
    t->commandLatency = sim_or(t->commandLatency, sim_default_command_latency_ns);
    t->bindLatency = sim_or(t->bindLatency, sim_default_bind_latency_ns);
    t->bindElement = sim_or(t->bindElement, sim_default_bind_element_ns);
    for (uint32_t i = gpu->profile.heapCount; i-- > 0;) {
        const bool local = (gpu->profile.heaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        t->heapBandwidth[i] = sim_or(t->heapBandwidth[i], local ? sim_default_device_bandwidth
                                                                : sim_default_host_bandwidth);
        if (!local && info->demotedBandwidth == 0) {
            t->demotedBandwidth = t->heapBandwidth[i];
        }
    }
    t->demotedBandwidth = sim_or(t->demotedBandwidth, sim_default_host_bandwidth);
}

static double sim_bandwidth_of(const struct sim_memory* memory)
{
    const MaarSimulatedTimeInfo* t = &memory->object.device->gpu->time;
    const uint64_t own = t->heapBandwidth[memory->heap];
    return (double)(memory->demoted && t->demotedBandwidth < own ? t->demotedBandwidth : own);
}

void sim_time_move(struct sim_cost* cost, const struct sim_memory* from,
                   const struct sim_memory* to, VkDeviceSize size)
{
    double bandwidth = 0.0;
    if (from != NULL) {
        bandwidth = sim_bandwidth_of(from);
        cost->heaps |= 1u << from->heap;
    }
    if (to != NULL) {
        const double other = sim_bandwidth_of(to);
        bandwidth = from == NULL || other < bandwidth ? other : bandwidth;
        cost->heaps |= 1u << to->heap;
    }
    cost->nanoseconds += bandwidth > 0.0 ? (double)size * sim_ns_per_second / bandwidth : 0.0;
}

void sim_time_command(struct sim_device* device, struct sim_known* queue,
                      const struct sim_cost* cost)
{
    const uint64_t length = (uint64_t)(cost->nanoseconds + 0.5);
    struct sim_order* order = device->order;
    if (cost->heaps == 0) {
        return;
    }
    uint64_t begin = queue->time + device->gpu->time.commandLatency;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        if ((cost->heaps >> i & 1u) != 0 && order->heap_free[i] > begin) {
            begin = order->heap_free[i];
        }
    }
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        if ((cost->heaps >> i & 1u) != 0) {
            order->heap_free[i] = begin + length;
            order->heap_busy[i] += length;
        }
    }
    queue->time = begin + length;
}

void sim_time_binds(struct sim_device* device, struct sim_known* queue, uint64_t count)
{
    queue->time += device->gpu->time.bindLatency + count * device->gpu->time.bindElement;
}

/* Returns the bytes of a heap in objects that were allocated before a memory. Addresses rise with
 * every allocation. */
static VkDeviceSize sim_bytes_before(const struct sim_device* device,
                                     const struct sim_memory* memory)
{
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < device->slot_count; i++) {
        const struct sim_object* object = device->slots[i].object;
        if (object != NULL && object->kind == SIM_KIND_MEMORY) {
            const struct sim_memory* other = (const struct sim_memory*)object;
            bytes +=
                other->heap == memory->heap && other->address < memory->address ? other->size : 0;
        }
    }
    return bytes;
}

/* Returns a number for all that decides what is demoted. */
static uint64_t sim_heaps_state(const struct sim_device* device)
{
    const uint64_t prime = 1099511628211u;
    const struct sim_gpu* gpu = device->gpu;
    uint64_t state = (gpu->time.demotes == VK_TRUE ? 1u : 0u) + gpu->next_address * prime;
    for (uint32_t h = 0; h < gpu->profile.heapCount; h++) {
        state = (state ^ gpu->counters.heapLive[h]) * prime;
        state = (state ^ gpu->profile.heaps[h].budget) * prime;
    }
    state = (state ^ device->memory_count) * prime;
    return state | 1u;
}

void sim_time_demote(struct sim_device* device)
{
    const struct sim_gpu* gpu = device->gpu;
    const uint64_t state = sim_heaps_state(device);
    if (device->order == NULL || device->order->demoted_for == state) {
        return;
    }
    device->order->demoted_for = state;
    for (uint32_t i = 0; i < device->slot_count; i++) {
        struct sim_object* object = device->slots[i].object;
        if (object == NULL || object->kind != SIM_KIND_MEMORY) {
            continue;
        }
        struct sim_memory* memory = (struct sim_memory*)object;
        const MaarSimulatedHeap* heap = &gpu->profile.heaps[memory->heap];
        const VkDeviceSize budget = sim_heap_has_budget(heap) ? heap->budget : heap->size;
        const bool local = (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        memory->demoted =
            gpu->time_is_on && gpu->time.demotes == VK_TRUE && local &&
            gpu->counters.heapLive[memory->heap] > budget &&
            (memory->size > budget || sim_bytes_before(device, memory) > budget - memory->size);
    }
}

/* ---- scripts ---- */

void sim_scripts_apply(struct sim_gpu* gpu)
{
    uint64_t now = 0;
    for (const struct sim_device* d = gpu->devices; d != NULL; d = d->next) {
        now = d->order != NULL && d->order->host.time > now ? d->order->host.time : now;
    }
    for (uint32_t h = 0; h < gpu->profile.heapCount; h++) {
        struct sim_script* script = &gpu->scripts[h];
        const bool counts = script->unit == MAAR_SIMULATED_BUDGET_UNIT_QUERIES;
        const uint64_t reached = counts ? ++script->queries : now;
        for (uint32_t i = 0; i < script->count && script->steps[i].from <= reached; i++) {
            gpu->profile.heaps[h].budgetKnown = VK_TRUE;
            gpu->profile.heaps[h].budget = script->steps[i].budget;
            gpu->used_by_others[h] = script->steps[i].usageByOthers;
        }
    }
}

VkResult VKAPI_CALL maarSimulatedScriptBudget(VkPhysicalDevice physicalDevice, uint32_t heapIndex,
                                              MaarSimulatedBudgetUnit unit, uint32_t count,
                                              const MaarSimulatedBudgetStep* pSteps)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    bool good = heapIndex < gpu->profile.heapCount && count <= MAAR_SIMULATED_MAX_BUDGET_STEPS &&
                (count == 0 || pSteps != NULL);
    for (uint32_t i = 1; good && i < count; i++) {
        good = pSteps[i].from > pSteps[i - 1].from;
    }
    if (!good) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    sim_lock_gpu(gpu);
    struct sim_script* script = &gpu->scripts[heapIndex];
    script->unit = unit;
    script->count = count;
    script->queries = 0;
    if (count != 0) {
        memcpy(script->steps, pSteps, count * sizeof(pSteps[0]));
    }
    sim_unlock_gpu(gpu);
    return VK_SUCCESS;
}

/* ---- what a test calls ---- */

VkResult VKAPI_CALL maarSimulatedSetTime(VkPhysicalDevice physicalDevice,
                                         const MaarSimulatedTimeInfo* pTime)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    if (pTime != NULL && pTime->sType != MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    sim_lock_gpu(gpu);
    sim_time_set(gpu, pTime);
    sim_unlock_gpu(gpu);
    return VK_SUCCESS;
}

void VKAPI_CALL maarSimulatedGetClocks(VkDevice device, MaarSimulatedClocks* pClocks)
{
    enum { SHOWN_QUEUES = sizeof(pClocks->queues) / sizeof(pClocks->queues[0]) };
    struct sim_device* d = SIM_DEVICE(device);
    MaarSimulatedClocks clocks = {.sType = pClocks->sType, .pNext = pClocks->pNext};
    sim_lock_gpu(d->gpu);
    const struct sim_order* order = d->gpu->time_is_on ? sim_order_of(d) : NULL;
    if (order != NULL) {
        clocks.host = order->host.time;
        clocks.hostWaited = order->host_waited;
        memcpy(clocks.heapBusy, order->heap_busy, sizeof(clocks.heapBusy));
        for (uint32_t i = 0; i < SHOWN_QUEUES && i < SIM_TRACKED_QUEUES; i++) {
            clocks.queues[i] = order->ended[i];
        }
        sim_time_demote(d);
    }
    const bool demotes = order != NULL && d->gpu->time.demotes == VK_TRUE;
    for (uint32_t i = 0; demotes && i < d->slot_count; i++) {
        const struct sim_object* object = d->slots[i].object;
        if (object != NULL && object->kind == SIM_KIND_MEMORY) {
            const struct sim_memory* memory = (const struct sim_memory*)object;
            clocks.demoted[memory->heap] += memory->demoted ? memory->size : 0;
        }
    }
    sim_unlock_gpu(d->gpu);
    *pClocks = clocks;
}

void VKAPI_CALL maarSimulatedAdvanceHostClock(VkDevice device, uint64_t nanoseconds)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_lock_gpu(d->gpu);
    struct sim_order* order = d->gpu->time_is_on ? sim_order_of(d) : NULL;
    if (order != NULL) {
        order->host.time += nanoseconds;
    }
    sim_unlock_gpu(d->gpu);
}

void VKAPI_CALL maarSimulatedCmdWork(VkCommandBuffer commandBuffer, uint64_t nanoseconds)
{
    struct sim_op_work* op =
        sim_record(commandBuffer, SIM_OP_WORK, SIM_FN_vkCmdDispatch, sizeof(*op));
    if (op != NULL) {
        op->nanoseconds = nanoseconds;
    }
}
