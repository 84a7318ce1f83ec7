/*
 * Functions that the files of interop/cuda offer to each other. Every call of CUDA is made with the
 * object's context current, between maar_peer_driver's enter and leave, and without a lock of Maar.
 */
#ifndef MAAR_INTEROP_CUDA_CUDA_INTERNAL_H
#define MAAR_INTEROP_CUDA_CUDA_INTERNAL_H

#include "core/port_library.h"
#include "interop/cuda/cuda_driver.h"
#include "interop/peer/peer.h"
#include "maar/cuda.h"

struct MaarCuda_T {
    struct maar_peer peer; /* first */
    struct maar_library library;
    struct maar_cuda_driver driver;
    maar_cuda_device device;
    int ordinal;
    int version;
    struct maar_cuda_context* context;
    bool retained; /* this object retained the primary context, and releases it */
    bool images;
    bool virtual_memory;
    bool makes_memory; /* MAAR_CUDA_CREATE_CUDA_MEMORY_BIT */
    char name[256];
};

static inline struct MaarCuda_T* maar_cuda_of(struct maar_peer* peer)
{
    return (struct MaarCuda_T*)(void*)peer;
}

static inline struct maar_peer* maar_peer_of_cuda(MaarCuda cuda)
{
    return cuda != VK_NULL_HANDLE ? &cuda->peer : NULL;
}

/* ---- cuda_load.c ---- */

/* Opens the driver and starts it; reports a failure. */
VkResult maar_cuda_load(MaarCuda cuda, const char* call, const char* path);

/* What kind of call has failed. Most errors concern CUDA alone. Those of an import mean that CUDA
 * does not accept the handle. */
enum maar_cuda_kind { MAAR_CUDA_CALL_PLAIN, MAAR_CUDA_CALL_IMPORT };

VkResult maar_cuda_vulkan_result(enum maar_cuda_result result, enum maar_cuda_kind kind);
/* Returns VK_SUCCESS for success; else reports CUDA's error and returns its meaning for Vulkan. */
VkResult maar_cuda_report(MaarCuda cuda, const char* call, const char* function,
                          enum maar_cuda_result result, enum maar_cuda_kind kind);

/* ---- cuda_device.c ---- */

/* Finds the allocator's device; reports all of CUDA's devices if the allocator's is not among them.
 */
VkResult maar_cuda_find_device(MaarCuda cuda, const char* call);
bool maar_cuda_attribute(MaarCuda cuda, enum maar_cuda_attribute attribute);

/* ---- cuda_driver_table.c ---- */

extern const struct maar_peer_driver maar_cuda_peer_driver;

/* ---- cuda_pages.c: CUDA's own virtual memory. Called between enter and leave; each function that
 * can fail reports, and leaves nothing on failure. ---- */

/* Reports if the device lacks virtual memory. May be called anywhere. */
VkResult maar_cuda_require_pages(MaarCuda cuda, const char* call);
VkResult maar_cuda_page_size(MaarCuda cuda, const char* call, VkDeviceSize* size);
/* Reports that no address space has room for this size: VK_ERROR_OUT_OF_DEVICE_MEMORY. */
VkResult maar_cuda_refuse_space(MaarCuda cuda, const char* call, VkDeviceSize size);
/* Reserves addresses; size is a multiple of the page. */
VkResult maar_cuda_reserve_pages(MaarCuda cuda, const char* call, VkDeviceSize size,
                                 uint64_t* start);
void maar_cuda_unreserve_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size);
/* Maps memory behind reserved addresses, readable and writable; the memory lives as long as it is
 * mapped. */
VkResult maar_cuda_map_pages(MaarCuda cuda, const char* call, uint64_t start, VkDeviceSize size,
                             maar_cuda_backing backing);
void maar_cuda_unmap_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size);
/* Creates physical memory with a descriptor, which belongs to the caller. */
VkResult maar_cuda_create_backing(MaarCuda cuda, const char* call, VkDeviceSize size,
                                  maar_cuda_backing* backing, maar_port_handle* handle);
/* Imports a descriptor as physical memory; the descriptor stays the caller's. */
VkResult maar_cuda_import_backing(MaarCuda cuda, const char* call, maar_port_handle handle,
                                  maar_cuda_backing* backing);
void maar_cuda_release_backing(MaarCuda cuda, maar_cuda_backing backing);

/* ---- cuda_range.c: the public calls of similar names below their entry checks. They report under
 * the name of `call`. ---- */

struct maar_cuda_range;

/* Makes a range without a handle. */
VkResult maar_cuda_range_create(MaarCuda cuda, const char* call, VkDeviceSize size,
                                struct maar_cuda_range** range);
/* Closes the range's handle too. Accepts NULL. */
void maar_cuda_range_destroy(struct maar_cuda_range* range, const char* call);
VkResult maar_cuda_range_append(struct maar_cuda_range* range, const char* call,
                                const struct maar_slot* slot);
void maar_cuda_range_read(const struct maar_cuda_range* range, MaarCudaRangeInfo* info);

/* ---- cuda_format.c ---- */

/* Describes an image to CUDA. VK_ERROR_FORMAT_NOT_SUPPORTED: *fault says which part CUDA does not
 * have. */
VkResult maar_cuda_image_shape(const VkImageCreateInfo* info, struct maar_cuda_array_shape* shape,
                               const char** fault);

#endif
