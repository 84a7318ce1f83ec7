/*
 * Host objects: the copies of residents in host memory that the device can read.
 */
#ifndef MAAR_CORE_RESIDENCY_HOST_OBJECT_H
#define MAAR_CORE_RESIDENCY_HOST_OBJECT_H

#include "core/residency/residency_copies.h"

/* Returns how the buffer of a host object is created: as the resident's own buffer, or in *plain.
 */
const VkBufferCreateInfo* maar_host_object_info(const struct maar_resident* resident,
                                                VkBufferCreateInfo* plain);
/* Makes a host object for a resident. waits: NULL if the host writes to it first; or receives what
 * the first copy waits for. Returns VK_NOT_READY if room is on its way, VK_ERROR_OUT_OF_POOL_MEMORY
 * if there is none. reserve: bytes that stay free. */
VkResult maar_host_object_make(struct maar_residency* it, const char* call,
                               struct maar_resident* resident, VkDeviceSize reserve,
                               struct maar_copy_waits* waits);

/* Ends the host object when nothing uses it. On failure it stays. */
VkResult maar_host_object_end(struct maar_residency* it, const char* call,
                              struct maar_resident* resident);

/* Brings host memory below its budget, as far as that is possible now. */
VkResult maar_host_follow_budget(struct maar_residency* it, const char* call);

/* Makes a resident forget its host object, which belongs to its piece of work from now on. */
void maar_host_object_leave(struct maar_residency* it, struct maar_resident* resident);

/* Puts a host object at the end of the list: it was used last. */
void maar_host_object_touch(struct maar_residency* it, struct maar_resident* resident);

/* Asks what the host object of a resident needs of its memory. */
VkResult maar_host_object_ask(struct maar_residency* it, const struct maar_resident* resident,
                              MaarMemoryRequest* request);
/* Ends host objects of at least so many bytes whose contents are valid elsewhere, as far as there
 * are any. */
VkResult maar_host_object_yield(struct maar_residency* it, const char* call, VkDeviceSize size);

#endif
