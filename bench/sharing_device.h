/*
 * Two devices of one driver for bench_sharing: an exporter and an importer. The contestants' calls
 * of the driver are counted. One pair is open at a time.
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

/* The counts of both sides since the last reset. */
struct sharing_counts {
    uint64_t allocations; /* calls of vkAllocateMemory without an import */
    uint64_t reserved;    /* their bytes */
    uint64_t imports;     /* calls of vkAllocateMemory with an import */
    uint64_t imported;    /* their bytes */
    uint64_t exports;     /* calls of vkGetMemoryFdKHR */
    uint64_t frees;
};

struct sharing_devices {
    struct bench_device base;
    MaarDeviceRecommendation advice;
    struct sharing_side sides[SHARING_SIDES];
    uint32_t family;     /* of the queues */
    uint32_t type_index; /* type of all memory; HOST_VISIBLE, so that bytes can be compared */
};

/* Opens a pair. Ends the program with 2 when the device cannot share buffers in this way. */
void sharing_open(struct sharing_devices* devices, const char* name);
void sharing_close(struct sharing_devices* devices);

MaarAllocator sharing_make_maar(const struct sharing_devices* devices, int side);

/* A vkGetDeviceProcAddr that returns the three functions below instead of the driver's. */
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

/* Returns the description of the buffer that all contestants share. Its chain is static. */
VkBufferCreateInfo sharing_buffer_info(VkDeviceSize size);

#endif
