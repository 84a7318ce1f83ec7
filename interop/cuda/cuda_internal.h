/*
 * Functions that the files of interop/cuda offer to each other. Maar calls CUDA without holding a
 * lock of its own. Every call that needs a context is made between maar_peer_driver's enter and
 * leave, where the context of the MaarCuda is current.
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

/* The kind of a call, which decides what its errors mean in Vulkan. Several errors of an import
 * mean that CUDA does not accept the handle. */
enum maar_cuda_kind { MAAR_CUDA_CALL_PLAIN, MAAR_CUDA_CALL_IMPORT };

VkResult maar_cuda_vulkan_result(enum maar_cuda_result result, enum maar_cuda_kind kind);
/* Returns VK_SUCCESS for success. Otherwise reports CUDA's error and returns the error of Vulkan
 * that it means. */
VkResult maar_cuda_report(MaarCuda cuda, const char* call, const char* function,
                          enum maar_cuda_result result, enum maar_cuda_kind kind);

/* ---- cuda_device.c ---- */

/* Finds the allocator's device; reports all of CUDA's devices if the allocator's is not among them.
 */
VkResult maar_cuda_find_device(MaarCuda cuda, const char* call);
bool maar_cuda_attribute(MaarCuda cuda, enum maar_cuda_attribute attribute);

/* ---- cuda_driver_table.c ---- */

extern const struct maar_peer_driver maar_cuda_peer_driver;

/* ---- cuda_pages.c: CUDA's own virtual memory. Called between enter and leave. A function that
 * fails reports CUDA's error and leaves nothing behind. ---- */

/* Returns an error, with a report, if the device lacks virtual memory management. May also be
 * called outside of enter and leave. */
VkResult maar_cuda_require_pages(MaarCuda cuda, const char* call);
VkResult maar_cuda_page_size(MaarCuda cuda, const char* call, VkDeviceSize* size);
/* Reports that no address space has room for this size, and returns
 * VK_ERROR_OUT_OF_DEVICE_MEMORY. */
VkResult maar_cuda_refuse_space(MaarCuda cuda, const char* call, VkDeviceSize size);
/* Reserves addresses. `size` is a multiple of the page size. */
VkResult maar_cuda_reserve_pages(MaarCuda cuda, const char* call, VkDeviceSize size,
                                 uint64_t* start);
void maar_cuda_unreserve_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size);
/* Maps memory at reserved addresses, for reading and writing. The mapping keeps the memory
 * alive. */
VkResult maar_cuda_map_pages(MaarCuda cuda, const char* call, uint64_t start, VkDeviceSize size,
                             maar_cuda_backing backing);
void maar_cuda_unmap_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size);
/* Creates physical memory and exports it as a file descriptor, which belongs to the caller. */
VkResult maar_cuda_create_backing(MaarCuda cuda, const char* call, VkDeviceSize size,
                                  maar_cuda_backing* backing, maar_port_handle* handle);
/* Imports a file descriptor as physical memory. The descriptor still belongs to the caller. */
VkResult maar_cuda_import_backing(MaarCuda cuda, const char* call, maar_port_handle handle,
                                  maar_cuda_backing* backing);
void maar_cuda_release_backing(MaarCuda cuda, maar_cuda_backing backing);

/* ---- cuda_range.c: what the public calls of similar names do after their entry checks. Reports
 * name `call` as the public call. ---- */

struct maar_cuda_range;

/* Makes a range without a handle. */
VkResult maar_cuda_range_create(MaarCuda cuda, const char* call, VkDeviceSize size,
                                struct maar_cuda_range** range);
/* Destroys a range, and closes its handle if it has one. Accepts NULL. */
void maar_cuda_range_destroy(struct maar_cuda_range* range, const char* call);
VkResult maar_cuda_range_append(struct maar_cuda_range* range, const char* call,
                                const struct maar_slot* slot);
void maar_cuda_range_read(const struct maar_cuda_range* range, MaarCudaRangeInfo* info);

/* ---- cuda_format.c ---- */

/* Describes an image to CUDA. On VK_ERROR_FORMAT_NOT_SUPPORTED, *fault says what CUDA does not
 * support. */
VkResult maar_cuda_image_shape(const VkImageCreateInfo* info, struct maar_cuda_array_shape* shape,
                               const char** fault);

#endif
