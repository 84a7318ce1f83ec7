/*
 * Stands between a whole program and what it calls: the linker's --wrap leads its host allocations
 * and the entry of the simulated driver here. So one call of the program's run can fail, without a
 * change of the program.
 *
 *   MAAR_FAIL_HOST=N    the Nth host allocation fails
 *   MAAR_FAIL_DRIVER=N  the Nth call of the driver fails of those that can
 *   MAAR_FAIL_LAST=1    all from there on fail too
 *   MAAR_FAIL_COUNT=F   writes the number of host allocations and of such driver calls to F
 *
 * Memory that a shared library allocates for itself does not fail.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan_core.h>

#include "maar/simulated.h"

/* The names that the linker gives to both sides of a wrapped function. */
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
PFN_vkVoidFunction VKAPI_CALL __real_maarSimulatedGetInstanceProcAddr(VkInstance instance,
                                                                      const char* name);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* memory, size_t size);
PFN_vkVoidFunction VKAPI_CALL __wrap_maarSimulatedGetInstanceProcAddr(VkInstance instance,
                                                                      const char* name);

static _Atomic uint64_t host_count;
static uint64_t driver_count; /* of the instances that are gone */
static VkPhysicalDevice physical;
static VkInstance owner; /* of the physical device */

static uint64_t number_of(const char* name)
{
    const char* text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* ---- host memory ---- */

static bool may_allocate(void)
{
    const uint64_t number = atomic_fetch_add(&host_count, 1) + 1;
    const uint64_t failing = number_of("MAAR_FAIL_HOST");
    const bool fails =
        failing != 0 && (number_of("MAAR_FAIL_LAST") != 0 ? number >= failing : number == failing);
    if (fails) {
        errno = ENOMEM;
    }
    return !fails;
}

void* __wrap_malloc(size_t size)
{
    return may_allocate() ? __real_malloc(size) : NULL;
}

void* __wrap_calloc(size_t count, size_t size)
{
    return may_allocate() ? __real_calloc(count, size) : NULL;
}

void* __wrap_realloc(void* memory, size_t size)
{
    return may_allocate() ? __real_realloc(memory, size) : NULL;
}

/* ---- the driver ---- */

static uint64_t count_driver_calls(void)
{
    MaarSimulatedCounters counters = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS};
    if (physical != VK_NULL_HANDLE) {
        maarSimulatedGetCounters(physical, &counters);
    }
    return driver_count + counters.fallibleCallCount;
}

static void plan_fault(void)
{
    const uint64_t failing = number_of("MAAR_FAIL_DRIVER");
    if (failing <= driver_count) {
        return;
    }
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .nth = failing - driver_count,
        .count = number_of("MAAR_FAIL_LAST") != 0 ? UINT64_MAX : 1,
    };
    if (maarSimulatedSetFault(physical, &fault) != VK_SUCCESS) {
        fputs("whole_program: the fault cannot be planned\n", stderr);
        abort();
    }
}

/* The first physical device is the one that programs open. */
static VKAPI_ATTR VkResult VKAPI_CALL enumerate(VkInstance instance, uint32_t* count,
                                                VkPhysicalDevice* devices)
{
    const PFN_vkVoidFunction entry =
        __real_maarSimulatedGetInstanceProcAddr(instance, "vkEnumeratePhysicalDevices");
    const VkResult result = ((PFN_vkEnumeratePhysicalDevices)entry)(instance, count, devices);
    if (devices != NULL && *count > 0 && owner != instance) {
        owner = instance;
        physical = devices[0];
        plan_fault();
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy(VkInstance instance,
                                          const VkAllocationCallbacks* callbacks)
{
    const PFN_vkVoidFunction entry =
        __real_maarSimulatedGetInstanceProcAddr(instance, "vkDestroyInstance");
    if (instance != VK_NULL_HANDLE && owner == instance) {
        driver_count = count_driver_calls();
        physical = VK_NULL_HANDLE;
        owner = VK_NULL_HANDLE;
    }
    ((PFN_vkDestroyInstance)entry)(instance, callbacks);
}

PFN_vkVoidFunction VKAPI_CALL __wrap_maarSimulatedGetInstanceProcAddr(VkInstance instance,
                                                                      const char* name)
{
    if (strcmp(name, "vkEnumeratePhysicalDevices") == 0) {
        return (PFN_vkVoidFunction)enumerate;
    }
    if (strcmp(name, "vkDestroyInstance") == 0) {
        return (PFN_vkVoidFunction)destroy;
    }
    return __real_maarSimulatedGetInstanceProcAddr(instance, name);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char* path = getenv("MAAR_FAIL_COUNT");
    FILE* file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "%llu %llu\n", (unsigned long long)atomic_load(&host_count),
                (unsigned long long)count_driver_calls());
        fclose(file);
    }
}
