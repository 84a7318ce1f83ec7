/*
 * The checks of every call: counting, faults, violations and external synchronization.
 */
#include "backends/simulated/sim_check.h"

#include "backends/simulated/sim_entries.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The number of claims between two yields. A yield makes it far more likely that a race is noticed,
 * but may cost the rest of a time slice when other programs run. */
enum { SIM_YIELD_PERIOD = 8 };

void sim_lock_gpu(struct sim_gpu* gpu)
{
    sim_lock_acquire(&gpu->lock);
}

void sim_unlock_gpu(struct sim_gpu* gpu)
{
    while (gpu->reported_count < gpu->kept_count) {
        const struct sim_kept_violation* kept = &gpu->kept[gpu->reported_count++];
        if (gpu->on_violation != NULL) {
            sim_lock_release(&gpu->lock);
            gpu->on_violation(gpu->user_data, kept->violation, kept->text);
            sim_lock_acquire(&gpu->lock);
        }
    }
    sim_lock_release(&gpu->lock);
}

void sim_violate(struct sim_gpu* gpu, enum sim_function function, MaarSimulatedViolation violation,
                 const char* format, ...)
{
    gpu->counters.violations[violation]++;
    gpu->counters.violationCount++;
    if (gpu->kept_count == SIM_MAX_KEPT) {
        return;
    }
    struct sim_kept_violation* kept = &gpu->kept[gpu->kept_count];
    kept->violation = violation;
    const int length =
        snprintf(kept->text, sizeof(kept->text), "%s: ", sim_function_name(function));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(kept->text + length, sizeof(kept->text) - (size_t)length, format, arguments);
    va_end(arguments);
    gpu->kept_count++;
}

static void sim_drop_fault(struct sim_gpu* gpu, uint32_t index)
{
    memmove(&gpu->faults[index], &gpu->faults[index + 1],
            (gpu->fault_count - index - 1) * sizeof(gpu->faults[0]));
    gpu->fault_count--;
}

/* Returns the failure that applies to this call, or VK_SUCCESS. Counts down the faults that apply
 * to a later call. */
static VkResult sim_strike(struct sim_gpu* gpu, enum sim_function function)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < gpu->fault_count;) {
        struct sim_fault* fault = &gpu->faults[i];
        if (fault->function != SIM_NO_MATCH && fault->function != (int)function) {
            i++;
        } else if (fault->nth > 1) {
            fault->nth--;
            i++;
        } else if (result != VK_SUCCESS) {
            i++;
        } else {
            result =
                fault->result != VK_SUCCESS ? fault->result : sim_function_usual_failure(function);
            if (fault->count == UINT64_MAX || --fault->count > 0) {
                i++;
            } else {
                sim_drop_fault(gpu, i);
            }
        }
    }
    return result;
}

VkResult sim_enter(struct sim_gpu* gpu, struct sim_device* device, enum sim_function function)
{
    if (gpu->on_call != NULL) {
        gpu->on_call(gpu->user_data, sim_function_name(function));
    }
    const int traits = sim_function_traits_of(function);
    VkResult result = VK_SUCCESS;
    sim_lock_gpu(gpu);
    gpu->counters.callCount++;
    gpu->calls[function]++;
    if (device != NULL && device->lost && (traits & SIM_AFTER_LOSS) == 0) {
        gpu->counters.callsAfterLossCount++;
    }
    if ((traits & SIM_CAN_FAIL) != 0) {
        gpu->counters.fallibleCallCount++;
        result = sim_strike(gpu, function);
        if (result != VK_SUCCESS) {
            gpu->counters.faultCount++;
        }
    }
    if (device != NULL) {
        if (result == VK_ERROR_DEVICE_LOST) {
            device->lost = true;
            sim_condition_wake_all(&gpu->progress);
        } else if (result == VK_SUCCESS && device->lost && (traits & SIM_SEES_LOSS) != 0) {
            result = VK_ERROR_DEVICE_LOST;
        }
    }
    sim_unlock_gpu(gpu);
    return result;
}

void sim_claim(struct sim_gpu* gpu, enum sim_function function, uint32_t* busy, const char* what)
{
    if ((*busy)++ != 0) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_RACE,
                    "two threads use one %s at the same time", what);
    }
    const bool yields = ++gpu->claims % SIM_YIELD_PERIOD == 0;
    sim_lock_release(&gpu->lock);
    if (yields) {
        sim_yield();
    }
    sim_lock_acquire(&gpu->lock);
}

void sim_need_feature(struct sim_device* device, enum sim_function function,
                      enum sim_feature feature, const char* name)
{
    if ((device->features >> feature & 1u) == 0) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_FEATURE,
                    "the feature %s is not enabled", name);
    }
}

const void* sim_chain_find(const void* chain, VkStructureType type)
{
    for (const VkBaseInStructure* s = chain; s != NULL; s = s->pNext) {
        if (s->sType == type) {
            return s;
        }
    }
    return NULL;
}
