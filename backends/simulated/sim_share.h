/*
 * Shared memory: the handle types that a device offers (sim_external.c), and memory that is
 * exported and imported (sim_export.c).
 */
#ifndef MAAR_SIM_SHARE_H
#define MAAR_SIM_SHARE_H

#include "backends/simulated/sim.h"

/* How an allocation is shared. An imported allocation has its file from the beginning; for any
 * other, the first export or mapping creates the file. */
struct sim_share {
    bool may_export; /* VkExportMemoryAllocateInfo is chained, even if it names no type */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_type; /* 0: not imported */
    struct sim_file file;
};

/* Fills in a device's sharing: its extensions and its UUIDs. */
void sim_external_describe(struct sim_gpu* gpu, const MaarSimulatedSharingInfo* info);
/* Returns the sharing properties of a buffer's or an image's memory for a handle type. */
VkExternalMemoryProperties sim_external_memory(const struct sim_gpu* gpu, bool image, VkFlags flags,
                                               VkExternalMemoryHandleTypeFlagBits type);
/* Returns the sharing features of a semaphore for a handle type. */
VkExternalSemaphoreFeatureFlags sim_external_semaphore(const struct sim_gpu* gpu, bool timeline,
                                                       VkExternalSemaphoreHandleTypeFlagBits type);
/* Checks the handle types of a new resource and returns them. Lock held. */
VkExternalMemoryHandleTypeFlags sim_external_types(struct sim_device* device, bool image,
                                                   VkFlags flags, const void* chain);
/* Returns whether memory for these handle types must be dedicated. */
bool sim_external_needs_dedicated(const struct sim_gpu* gpu, bool image,
                                  VkExternalMemoryHandleTypeFlags types);

/* The head of a file. maar/simulated.h describes it. */
struct sim_file_head {
    char magic[8];
    uint32_t kind;
    uint32_t handle_types;
    uint64_t size;
    uint32_t type;
    uint32_t dedicated;
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
    uint64_t value;
    uint64_t device;
    uint64_t semaphore;
};
enum sim_file_kind { SIM_FILE_MEMORY = 1, SIM_FILE_TIMELINE, SIM_FILE_BINARY };
enum { SIM_FILE_PAGE = 4096 };
/* Returns a head whose fields about the device are filled in. */
struct sim_file_head sim_file_head_of(const struct sim_device* device, enum sim_file_kind kind,
                                      uint32_t handle_types);
/* Reads the head of a descriptor's file. Returns whether the file belongs to this driver and
 * may be imported by the handle type. Records a violation for an opaque file of another
 * device. Lock held. */
bool sim_file_accept(struct sim_device* device, enum sim_function function, int fd,
                     uint32_t handle_type, struct sim_file_head* head, uint64_t* size,
                     struct sim_file* file);
/* Ends a failing import of a descriptor. Closes the descriptor when the flags request that fault.
 * Lock free. */
void sim_import_failed(struct sim_gpu* gpu, enum sim_function function, int fd);
/* Releases the descriptor number that a failing import has closed, if any. Lock held. */
void sim_reused_forget(struct sim_gpu* gpu, enum sim_function function);
/* Reads and checks the sharing structures of vkAllocateMemory. Lock held. */
VkResult sim_share_read(struct sim_device* device, const VkMemoryAllocateInfo* info, bool dedicated,
                        struct sim_share* share);
/* Ends a failing vkAllocateMemory, after all else has been undone. Lock free. */
void sim_share_failed(struct sim_device* device, const VkMemoryAllocateInfo* info);
/* Creates the file and maps its bytes over pages that are already mapped. Lock held. */
bool sim_share_back(struct sim_memory* memory, void* pages);
/* Releases the file. Lock held. */
void sim_share_forget(struct sim_memory* memory);
/* Checks the rules of binding a resource to shared memory. Lock held. */
void sim_share_check_bind(const struct sim_resource* resource, const struct sim_memory* memory,
                          enum sim_function function);

#endif
