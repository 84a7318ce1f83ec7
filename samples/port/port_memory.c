/*
 * The memory of a media library on Maar: slabs, pools, ages, suballocation, imports, mapping and
 * the choice of types are Maar's work.
 */
#include "port_memory.h"

static uint32_t list_families(uint32_t bits, uint32_t families[32])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        if ((bits >> i & 1) != 0) {
            families[count++] = i;
        }
    }
    return count;
}

/* Fills in where an allocation lies. */
static void describe_place(MaarAllocator allocator, struct port_memory* out)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (maarGetAllocationInfo(allocator, out->allocation, &info) == VK_SUCCESS) {
        out->memory = info.memory;
        out->offset += info.offset;
        out->data = out->data != NULL ? out->data : info.pMappedData;
        out->coherent = (info.propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    }
}

static bool finish(MaarAllocator allocator, VkResult result, enum port_kind kind,
                   struct port_memory* out)
{
    if (result != VK_SUCCESS) {
        *out = (struct port_memory){.kind = PORT_NOTHING};
        return false;
    }
    out->kind = kind;
    describe_place(allocator, out);
    return true;
}

/* ---- memory of Maar's own ---- */

static MaarAllocationCreateInfo how_of(const struct port_request* request, const void* next)
{
    return (MaarAllocationCreateInfo){.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                      .pNext = next,
                                      .flags = MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT,
                                      .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                      .requiredFlags = request->required,
                                      .preferredFlags = request->preferred,
                                      .memoryTypeBits = request->needs.memoryTypeBits,
                                      .pName = request->tag};
}

/* A small part of a shared buffer. */
static VkResult take_slice(MaarAllocator allocator, const struct port_request* request,
                           struct port_memory* out)
{
    const MaarSliceCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
                                      .size = request->needs.size,
                                      .alignment = request->needs.alignment,
                                      .usage = request->buffer_usage,
                                      .memoryUsage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                      .requiredFlags = request->required,
                                      .preferredFlags = request->preferred,
                                      .queueFamilyBits = request->queue_families};
    MaarSliceInfo made = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    VkResult result = maarCreateSlice(allocator, &info, &out->slice);
    if (result == VK_SUCCESS) {
        result = maarGetSliceInfo(allocator, out->slice, &made);
    }
    out->buffer = made.buffer;
    out->buffer_offset = made.offset;
    out->offset = made.allocationOffset;
    out->size = made.size;
    out->data = made.pMappedData;
    out->allocation = made.allocation;
    return result;
}

/* A buffer of its own: a large one, or one that others can import. */
static VkResult make_buffer(MaarAllocator allocator, const struct port_request* request,
                            const void* next, struct port_memory* out)
{
    uint32_t families[32];
    const uint32_t count = list_families(request->queue_families, families);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = request->needs.size,
                                     .usage = request->buffer_usage,
                                     .sharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT
                                                              : VK_SHARING_MODE_EXCLUSIVE,
                                     .queueFamilyIndexCount = count > 1 ? count : 0,
                                     .pQueueFamilyIndices = families};
    MaarAllocationCreateInfo how = how_of(request, next);
    how.minAlignment = request->needs.alignment;
    out->size = request->needs.size;
    return maarCreateBuffer(allocator, &info, &how, &out->buffer, &out->allocation);
}

/* Memory for an object that the caller made, or will make. */
static VkResult take_memory(MaarAllocator allocator, const struct port_request* request,
                            const void* next, struct port_memory* out)
{
    const bool is_own =
        request->own_image != VK_NULL_HANDLE || request->own_buffer != VK_NULL_HANDLE;
    const MaarMemoryRequest needs = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
                                     .requirements = request->needs,
                                     .dedicatedBuffer = request->own_buffer,
                                     .dedicatedImage = request->own_image};
    MaarAllocationCreateInfo how = how_of(request, next);
    how.dedicated = is_own ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    out->size = request->needs.size;
    return maarAllocateMemory(allocator, &needs, &how, &out->allocation);
}

bool port_allocate(MaarAllocator allocator, const struct port_request* request,
                   struct port_memory* out)
{
    const MaarExportInfo export = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                   .handleTypes = request->export_type};
    const void* next = request->export_type != 0 ? &export : NULL;
    *out = (struct port_memory){.kind = PORT_NOTHING};
    if (request->buffer_usage == 0) {
        return finish(allocator, take_memory(allocator, request, next, out), PORT_MEMORY, out);
    }
    if (next == NULL && request->needs.size <= MAAR_MAX_SLICE_SIZE) {
        return finish(allocator, take_slice(allocator, request, out), PORT_SLICE, out);
    }
    return finish(allocator, make_buffer(allocator, request, next, out), PORT_BUFFER, out);
}

/* ---- memory of others ---- */

bool port_import(MaarAllocator allocator, const struct port_request* request, int fd,
                 VkExternalMemoryHandleTypeFlagBits handle_type, VkDeviceSize size, uint32_t type,
                 struct port_memory* out)
{
    *out = (struct port_memory){.kind = PORT_NOTHING};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkResult result = maarWrapFd(allocator, fd, &handle);
    if (result != VK_SUCCESS) {
        return false;
    }
    const MaarImportInfo info = {.sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
                                 .handle = handle,
                                 .handleType = handle_type,
                                 .blockSize = size,
                                 .memoryTypeIndex = type,
                                 .pName = request->tag,
                                 .requiredFlags = request->required,
                                 .preferredFlags = request->preferred,
                                 .memoryTypeBits = request->needs.memoryTypeBits,
                                 .dedicatedBuffer = request->own_buffer,
                                 .dedicatedImage = request->own_image};
    result = maarImportMemory(allocator, &info, &out->allocation);
    if (result != VK_SUCCESS) {
        (void)maarTakeFd(allocator, handle, &fd); /* the descriptor stays the caller's */
    }
    maarDestroyExternalHandle(allocator, handle);
    out->size = size;
    return finish(allocator, result, PORT_MEMORY, out);
}

bool port_wrap_host(MaarAllocator allocator, const struct port_request* request, void* bytes,
                    size_t size, bool read_only, struct port_memory* out)
{
    *out = (struct port_memory){.kind = PORT_NOTHING};
    const MaarHostBufferCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .flags = read_only ? (MaarHostBufferCreateFlags)MAAR_HOST_BUFFER_CREATE_READ_ONLY_BIT : 0,
        .pMemory = bytes,
        .size = size,
        .usage = request->buffer_usage,
        .pName = request->tag,
        .queueFamilyBits = request->queue_families};
    MaarHostBufferInfo made = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    VkResult result = maarCreateHostBuffer(allocator, &info, &out->host);
    if (result == VK_SUCCESS) {
        result = maarGetHostBufferInfo(allocator, out->host, &made);
    }
    out->buffer = made.buffer;
    out->buffer_offset = made.offset;
    out->offset = made.offset;
    out->size = size;
    out->data = bytes;
    out->allocation = made.allocation;
    return finish(allocator, result, PORT_HOST, out);
}

int port_export(MaarAllocator allocator, const struct port_memory* memory,
                VkExternalMemoryHandleTypeFlagBits handle_type, MaarExportedMemory* described)
{
    int fd = -1;
    *described = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (maarExportMemory(allocator, memory->allocation, handle_type, described) == VK_SUCCESS) {
        (void)maarTakeFd(allocator, described->handle, &fd);
        maarDestroyExternalHandle(allocator, described->handle);
    }
    return fd;
}

/* ---- the host's view, and the end ---- */

bool port_flush(MaarAllocator allocator, const struct port_memory* memory)
{
    if (memory->kind == PORT_HOST) {
        return maarPushHostBuffer(allocator, memory->host, 0, VK_WHOLE_SIZE) == VK_SUCCESS;
    }
    const VkDeviceSize offset = memory->kind == PORT_SLICE ? memory->buffer_offset : 0;
    return maarFlushAllocation(allocator, memory->allocation, offset, memory->size) == VK_SUCCESS;
}

bool port_invalidate(MaarAllocator allocator, const struct port_memory* memory)
{
    if (memory->kind == PORT_HOST) {
        return maarPullHostBuffer(allocator, memory->host, 0, VK_WHOLE_SIZE) == VK_SUCCESS;
    }
    const VkDeviceSize offset = memory->kind == PORT_SLICE ? memory->buffer_offset : 0;
    return maarInvalidateAllocation(allocator, memory->allocation, offset, memory->size) ==
           VK_SUCCESS;
}

void port_free(MaarAllocator allocator, struct port_memory* memory, const MaarPoint* point)
{
    const uint32_t count = point != NULL ? 1 : 0;
    switch (memory->kind) {
    case PORT_SLICE:
        (void)maarDestroySliceAfter(allocator, memory->slice, count, point);
        break;
    case PORT_BUFFER:
        (void)maarDestroyBufferAfter(allocator, memory->buffer, memory->allocation, count, point);
        break;
    case PORT_MEMORY:
        (void)maarFreeMemoryAfter(allocator, memory->allocation, count, point);
        break;
    case PORT_HOST:
        if (point == NULL || maarWaitPoints(allocator, 1, point, UINT64_MAX) == VK_SUCCESS) {
            maarDestroyHostBuffer(allocator, memory->host);
        }
        break;
    default:
        break;
    }
    *memory = (struct port_memory){.kind = PORT_NOTHING};
}

void port_collect(MaarAllocator allocator)
{
    (void)maarCollect(allocator, NULL);
}

VkDeviceSize port_available(MaarAllocator allocator, VkMemoryPropertyFlags flags)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
                                          .requiredFlags = flags};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    MaarHeapBudget heaps[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < count; ++i) {
        heaps[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    if (maarChooseMemoryType(allocator, UINT32_MAX, &how, &choice) != VK_SUCCESS ||
        maarGetAllocatorInfo(allocator, &info) != VK_SUCCESS ||
        maarGetHeapBudgets(allocator, &count, heaps) != VK_SUCCESS) {
        return 0;
    }
    return heaps[info.memoryProperties.memoryTypes[choice.memoryTypeIndex].heapIndex].available;
}
