/*
 * Two devices of one driver, the one that exports and the one that imports, for bench_sharing; and
 * what the contestants ask of the driver, counted. One pair is open at a time.
 */
#ifndef MAAR_BENCH_SHARING_DEVICE_H
#define MAAR_BENCH_SHARING_DEVICE_H

#include "bench/bench_device.h"

#include "maar/allocator.h"

#define SHARING_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

enum { SHARING_EXPORTER = 0, SHARING_IMPORTER = 1, SHARING_SIDES = 2 };

struct sharing_side {
    VkDevice handle;
    VkQueue queue;
    struct VolkDeviceTable table;
};

/* Of both sides since the last reset. */
struct sharing_counts {
    uint64_t allocations; /* of vkAllocateMemory that imported nothing */
    uint64_t reserved;    /* their bytes */
    uint64_t imports;     /* of vkAllocateMemory that did */
    uint64_t imported;    /* their bytes */
    uint64_t exports;     /* of vkGetMemoryFdKHR */
    uint64_t frees;
};

struct sharing_devices {
    struct bench_device base;
    MaarDeviceRecommendation advice;
    struct sharing_side sides[SHARING_SIDES];
    uint32_t family;     /* of the queues */
    uint32_t type_index; /* of all memory; HOST_VISIBLE, so that bytes can be compared */
};

/* Ends the program with 2 when the device cannot share buffers so. */
void sharing_open(struct sharing_devices* devices, const char* name);
void sharing_close(struct sharing_devices* devices);

MaarAllocator sharing_make_maar(const struct sharing_devices* devices, int side);

/* vkGetDeviceProcAddr, with the three functions below instead of the driver's. */
PFN_vkVoidFunction VKAPI_CALL sharing_proc_addr(VkDevice device, const char* name);
VKAPI_ATTR VkResult VKAPI_CALL sharing_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                const VkAllocationCallbacks* callbacks,
                                                VkDeviceMemory* memory);
VKAPI_ATTR void VKAPI_CALL sharing_free(VkDevice device, VkDeviceMemory memory,
                                        const VkAllocationCallbacks* callbacks);
VKAPI_ATTR VkResult VKAPI_CALL sharing_get_fd(VkDevice device, const VkMemoryGetFdInfoKHR* info,
                                              int* fd);

void sharing_reset_counts(void);
struct sharing_counts sharing_get_counts(void);

/* The buffer that all contestants share; its chain is static. */
VkBufferCreateInfo sharing_buffer_info(VkDeviceSize size);

#endif
