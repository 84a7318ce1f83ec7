/*
 * The functions of maar/simulated.h, by which a test controls and queries the driver.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_submission.h"

#include <string.h>

VkPhysicalDevice VKAPI_CALL maarSimulatedGetPhysicalDevice(VkDevice device)
{
    return (VkPhysicalDevice)(void*)SIM_DEVICE(device)->gpu;
}

void VKAPI_CALL maarSimulatedSetFlags(VkPhysicalDevice physicalDevice, MaarSimulatedFlags flags)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_lock_gpu(gpu);
    gpu->flags = flags;
    for (struct sim_device* device = gpu->devices;
         device != NULL && (flags & MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT) == 0;
         device = device->next) {
        sim_submissions_run(device, UINT32_MAX);
    }
    sim_unlock_gpu(gpu);
}

void VKAPI_CALL maarSimulatedSetOrder(VkPhysicalDevice physicalDevice, uint64_t order)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_lock_gpu(gpu);
    gpu->order = order;
    gpu->order_state = order;
    sim_unlock_gpu(gpu);
}

uint32_t VKAPI_CALL maarSimulatedExecuteSubmissions(VkPhysicalDevice physicalDevice, uint32_t count)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    uint32_t executed = 0;
    sim_lock_gpu(gpu);
    for (struct sim_device* device = gpu->devices; device != NULL && executed < count;
         device = device->next) {
        executed += sim_submissions_run(device, count - executed);
    }
    sim_unlock_gpu(gpu);
    return executed;
}

VkResult VKAPI_CALL maarSimulatedEnumeratePages(VkDevice device, VkObjectType type, uint64_t object,
                                                uint32_t* pCount, MaarSimulatedPages* pPages)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_lock_gpu(d->gpu);
    const struct sim_resource* resource =
        sim_object_peek(d, object, type == VK_OBJECT_TYPE_IMAGE ? SIM_KIND_IMAGE : SIM_KIND_BUFFER);
    const uint32_t found = resource != NULL ? resource->pages.runs.count : 0;
    const uint32_t written = pPages == NULL ? 0 : *pCount < found ? *pCount : found;
    const struct sim_run* run = written != 0 ? sim_pages_after(&resource->pages, 0) : NULL;
    for (uint32_t i = 0; i < written; i++) {
        pPages[i] = (MaarSimulatedPages){
            .offset = run->node.begin,
            .size = run->node.end - run->node.begin,
            .memory = (VkDeviceMemory)run->memory,
            .memoryOffset = run->offset,
        };
        run = sim_tree_next(&run->node);
    }
    sim_unlock_gpu(d->gpu);
    *pCount = pPages == NULL ? found : written;
    return pPages != NULL && written < found ? VK_INCOMPLETE : VK_SUCCESS;
}

void VKAPI_CALL maarSimulatedSetCallbacks(VkPhysicalDevice physicalDevice,
                                          PFN_maarSimulatedCall pfnCall,
                                          PFN_maarSimulatedViolation pfnViolation, void* pUserData)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    gpu->on_call = pfnCall;
    gpu->on_violation = pfnViolation;
    gpu->user_data = pUserData;
}

VkResult VKAPI_CALL maarSimulatedSetFault(VkPhysicalDevice physicalDevice,
                                          const MaarSimulatedFault* pFault)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    struct sim_fault fault = {.function = SIM_NO_MATCH};
    if (pFault != NULL) {
        if (pFault->sType != MAAR_STRUCTURE_TYPE_SIMULATED_FAULT) {
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        if (pFault->pFunctionName != NULL) {
            fault.function = sim_function_find(pFault->pFunctionName);
            if (fault.function == SIM_NO_MATCH ||
                (sim_function_traits_of((enum sim_function)fault.function) & SIM_CAN_FAIL) == 0) {
                return VK_ERROR_VALIDATION_FAILED_EXT;
            }
        }
        fault.nth = pFault->nth != 0 ? pFault->nth : 1;
        fault.count = pFault->count != 0 ? pFault->count : 1;
        fault.result = pFault->result;
    }
    VkResult result = VK_SUCCESS;
    sim_lock_gpu(gpu);
    if (pFault == NULL) {
        gpu->fault_count = 0;
    } else if (gpu->fault_count < SIM_MAX_FAULTS) {
        gpu->faults[gpu->fault_count++] = fault;
    } else {
        result = VK_ERROR_TOO_MANY_OBJECTS;
    }
    sim_unlock_gpu(gpu);
    return result;
}

VkResult VKAPI_CALL maarSimulatedSetHeapBudget(VkPhysicalDevice physicalDevice, uint32_t heapIndex,
                                               VkDeviceSize budget, VkDeviceSize usageByOthers)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    if (heapIndex >= gpu->profile.heapCount) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    sim_lock_gpu(gpu);
    gpu->profile.heaps[heapIndex].budgetKnown = VK_TRUE;
    gpu->profile.heaps[heapIndex].budget = budget;
    gpu->used_by_others[heapIndex] = usageByOthers;
    sim_unlock_gpu(gpu);
    return VK_SUCCESS;
}

void VKAPI_CALL maarSimulatedSetDedicated(VkPhysicalDevice physicalDevice,
                                          const MaarSimulatedDedicated* pDedicated)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_lock_gpu(gpu);
    gpu->dedicated = *pDedicated;
    sim_unlock_gpu(gpu);
}

void VKAPI_CALL maarSimulatedGetCounters(VkPhysicalDevice physicalDevice,
                                         MaarSimulatedCounters* pCounters)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    const MaarStructureType type = pCounters->sType;
    void* const next = pCounters->pNext;
    sim_lock_gpu(gpu);
    *pCounters = gpu->counters;
    sim_unlock_gpu(gpu);
    pCounters->sType = type;
    pCounters->pNext = next;
}

uint64_t VKAPI_CALL maarSimulatedGetCallCount(VkPhysicalDevice physicalDevice,
                                              const char* pFunctionName)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    const int function = sim_function_find(pFunctionName);
    if (function == SIM_NO_MATCH) {
        return 0;
    }
    sim_lock_gpu(gpu);
    const uint64_t count = gpu->calls[function];
    sim_unlock_gpu(gpu);
    return count;
}

VkBool32 VKAPI_CALL maarSimulatedGetViolation(VkPhysicalDevice physicalDevice, uint32_t index,
                                              MaarSimulatedViolation* pViolation, size_t textSize,
                                              char* pText)
{
    struct sim_gpu* gpu = SIM_GPU(physicalDevice);
    sim_lock_gpu(gpu);
    const bool found = index < gpu->kept_count;
    const char* text = found ? gpu->kept[index].text : "";
    if (found && pViolation != NULL) {
        *pViolation = gpu->kept[index].violation;
    }
    if (textSize != 0) {
        const size_t length = strlen(text);
        const size_t kept = length < textSize ? length : textSize - 1;
        memcpy(pText, text, kept);
        pText[kept] = 0;
    }
    sim_unlock_gpu(gpu);
    return found ? VK_TRUE : VK_FALSE;
}
