/*
 * CUDA's virtual memory: reserves addresses, creates physical memory, and maps the memory at the
 * addresses.
 */
#include "interop/cuda/cuda_internal.h"

VkResult maar_cuda_require_pages(MaarCuda cuda, const char* call)
{
    if (cuda->virtual_memory) {
        return VK_SUCCESS;
    }
    maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED, call,
                "the CUDA driver or device lacks virtual memory management whose memory is shared "
                "by file descriptors");
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

static struct maar_cuda_backing_info backing_info(MaarCuda cuda)
{
    return (struct maar_cuda_backing_info){
        .type = MAAR_CUDA_BACKING_PINNED,
        .shareable = MAAR_CUDA_SHAREABLE_FD,
        .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = cuda->device},
    };
}

VkResult maar_cuda_page_size(MaarCuda cuda, const char* call, VkDeviceSize* size)
{
    const struct maar_cuda_backing_info info = backing_info(cuda);
    size_t granularity = 0;
    VkResult result = maar_cuda_report(cuda, call, "cuMemGetAllocationGranularity",
                                       cuda->driver.cuMemGetAllocationGranularity(
                                           &granularity, &info, MAAR_CUDA_GRANULARITY_MINIMUM),
                                       MAAR_CUDA_CALL_PLAIN);
    *size = granularity > 0 ? granularity : 1;
    return result;
}

VkResult maar_cuda_refuse_space(MaarCuda cuda, const char* call, VkDeviceSize size)
{
    maar_report(cuda->peer.allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED, call,
                "no address space has room for %s, rounded up to the page size",
                maar_show_bytes(size).text);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

VkResult maar_cuda_reserve_pages(MaarCuda cuda, const char* call, VkDeviceSize size,
                                 uint64_t* start)
{
    maar_cuda_pointer pointer = 0;
    if (size > SIZE_MAX) {
        return maar_cuda_refuse_space(cuda, call, size);
    }
    VkResult result = maar_cuda_report(
        cuda, call, "cuMemAddressReserve",
        cuda->driver.cuMemAddressReserve(&pointer, (size_t)size, 0, 0, 0), MAAR_CUDA_CALL_PLAIN);
    *start = pointer;
    return result;
}

void maar_cuda_unreserve_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size)
{
    (void)maar_cuda_report(cuda, "the end of CUDA's addresses", "cuMemAddressFree",
                           cuda->driver.cuMemAddressFree((maar_cuda_pointer)start, (size_t)size),
                           MAAR_CUDA_CALL_PLAIN);
}

VkResult maar_cuda_map_pages(MaarCuda cuda, const char* call, uint64_t start, VkDeviceSize size,
                             maar_cuda_backing backing)
{
    const maar_cuda_pointer pointer = (maar_cuda_pointer)start;
    const struct maar_cuda_access_info access = {
        .location = {.type = MAAR_CUDA_LOCATION_DEVICE, .id = cuda->device},
        .access = MAAR_CUDA_ACCESS_READ_WRITE,
    };
    VkResult result = maar_cuda_report(cuda, call, "cuMemMap",
                                       cuda->driver.cuMemMap(pointer, (size_t)size, 0, backing, 0),
                                       MAAR_CUDA_CALL_IMPORT);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_report(cuda, call, "cuMemSetAccess",
                              cuda->driver.cuMemSetAccess(pointer, (size_t)size, &access, 1),
                              MAAR_CUDA_CALL_IMPORT);
    if (result != VK_SUCCESS) {
        maar_cuda_unmap_pages(cuda, start, size);
    }
    return result;
}

void maar_cuda_unmap_pages(MaarCuda cuda, uint64_t start, VkDeviceSize size)
{
    (void)maar_cuda_report(cuda, "the end of CUDA's pages", "cuMemUnmap",
                           cuda->driver.cuMemUnmap((maar_cuda_pointer)start, (size_t)size),
                           MAAR_CUDA_CALL_PLAIN);
}

VkResult maar_cuda_create_backing(MaarCuda cuda, const char* call, VkDeviceSize size,
                                  maar_cuda_backing* backing, maar_port_handle* handle)
{
    const struct maar_cuda_backing_info info = backing_info(cuda);
    int fd = -1;
    *handle = MAAR_PORT_NO_HANDLE;
    if (size > SIZE_MAX) {
        return maar_cuda_refuse_space(cuda, call, size);
    }
    VkResult result = maar_cuda_report(cuda, call, "cuMemCreate",
                                       cuda->driver.cuMemCreate(backing, (size_t)size, &info, 0),
                                       MAAR_CUDA_CALL_PLAIN);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_cuda_report(
        cuda, call, "cuMemExportToShareableHandle",
        cuda->driver.cuMemExportToShareableHandle(&fd, *backing, MAAR_CUDA_SHAREABLE_FD, 0),
        MAAR_CUDA_CALL_PLAIN);
    if (result != VK_SUCCESS) {
        maar_cuda_release_backing(cuda, *backing);
        return result;
    }
    maar_port_handle_keep_private(fd);
    *handle = fd;
    return VK_SUCCESS;
}

VkResult maar_cuda_import_backing(MaarCuda cuda, const char* call, maar_port_handle handle,
                                  maar_cuda_backing* backing)
{
    return maar_cuda_report(cuda, call, "cuMemImportFromShareableHandle",
                            cuda->driver.cuMemImportFromShareableHandle(
                                backing, (void*)(intptr_t)handle, MAAR_CUDA_SHAREABLE_FD),
                            MAAR_CUDA_CALL_IMPORT);
}

void maar_cuda_release_backing(MaarCuda cuda, maar_cuda_backing backing)
{
    (void)maar_cuda_report(cuda, "the end of CUDA's pages", "cuMemRelease",
                           cuda->driver.cuMemRelease(backing), MAAR_CUDA_CALL_PLAIN);
}
