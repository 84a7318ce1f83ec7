/*
 * The memory of a media library, as such libraries have it: one structure describes a request for a
 * buffer's bytes, an image's memory or imported memory, and one structure describes what the caller
 * got. The library's other files know nothing of Maar.
 *
 * All functions may be called by several threads at the same time. On failure they return false,
 * and the result is all zero.
 */
#ifndef MAAR_SAMPLE_PORT_MEMORY_H
#define MAAR_SAMPLE_PORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "volk.h"

#include "maar/maar.h"

/* What memory is wanted. */
struct port_request {
    VkMemoryRequirements needs;      /* of an image, or of a buffer of the caller's own */
    VkMemoryPropertyFlags required;  /* flags that the memory must have */
    VkMemoryPropertyFlags preferred; /* flags that it should have */
    VkBufferUsageFlags buffer_usage; /* not 0: a part of a VkBuffer, of needs.size bytes */
    uint32_t queue_families;         /* bits of the families that use the buffer at once */
    VkBuffer own_buffer;             /* an object of the caller's own, that the memory is dedicated
                                        to; or both are null */
    VkImage own_image;
    VkExternalMemoryHandleTypeFlagBits export_type; /* not 0: others can import the memory */
    const char* tag;                                /* for dumps and messages; may be NULL */
};

/* How the memory is kept. */
enum port_kind { PORT_NOTHING, PORT_SLICE, PORT_BUFFER, PORT_MEMORY, PORT_HOST };

/* What the caller got; read-only. */
struct port_memory {
    VkDeviceMemory memory;
    VkDeviceSize offset; /* in `memory` */
    VkDeviceSize size;
    VkBuffer buffer; /* with buffer_usage */
    VkDeviceSize buffer_offset;
    void* data;    /* in the host's address space, where the memory is visible to it */
    bool coherent; /* whether `data` needs no flushes */
    enum port_kind kind;
    MaarAllocation allocation;
    MaarSlice slice;
    MaarHostBuffer host;
};

/* Memory that the program asks for, for objects that the host does not have. */
bool port_allocate(MaarAllocator allocator, const struct port_request* request,
                   struct port_memory* out);
/* Memory that another API made, for request->own_buffer or own_image. The descriptor is taken over
 * on success only. size: of the whole memory. type: the exporter's, or MAAR_MEMORY_TYPE_NONE. */
bool port_import(MaarAllocator allocator, const struct port_request* request, int fd,
                 VkExternalMemoryHandleTypeFlagBits handle_type, VkDeviceSize size, uint32_t type,
                 struct port_memory* out);
/* A buffer on memory of the host, which stays where it is until the buffer is freed. */
bool port_wrap_host(MaarAllocator allocator, const struct port_request* request, void* bytes,
                    size_t size, bool read_only, struct port_memory* out);
/* A descriptor of exportable memory, which the caller owns; -1 on failure. */
int port_export(MaarAllocator allocator, const struct port_memory* memory,
                VkExternalMemoryHandleTypeFlagBits handle_type, MaarExportedMemory* described);
/* Makes the host's writes visible to the device, or the device's to the host. */
bool port_flush(MaarAllocator allocator, const struct port_memory* memory);
bool port_invalidate(MaarAllocator allocator, const struct port_memory* memory);
/* Frees memory, once a point has passed; NULL for now. Own objects must have been destroyed. */
void port_free(MaarAllocator allocator, struct port_memory* memory, const MaarPoint* point);
/* Once a frame: executes frees whose points have passed. */
void port_collect(MaarAllocator allocator);
/* How much a new resource with these flags may take, bytes. */
VkDeviceSize port_available(MaarAllocator allocator, VkMemoryPropertyFlags flags);

#endif
