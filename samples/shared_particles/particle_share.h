/*
 * The particles' buffer, in memory that the other side can share.
 */
#ifndef MAAR_SAMPLE_PARTICLE_SHARE_H
#define MAAR_SAMPLE_PARTICLE_SHARE_H

#include "maar/share.h"
#include "particle_galaxy.h"
#include "sample_work.h"

/* The ways of sharing the memory. */
#define PARTICLE_HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

struct particle_share {
    const struct sample_device* device;
    uint32_t count;
    VkBufferCreateInfo info;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceSize block_size; /* size of the shared memory */
};

/* Creates the buffer. Returns SAMPLE_EXIT_OK, or prints an error and returns another code:
 * SAMPLE_EXIT_SKIPPED if such a buffer cannot be shared. The caller destroys it in every case. */
int particle_share_create(struct particle_share* share, const struct sample_device* device,
                          uint32_t count);
void particle_share_destroy(struct particle_share* share);

/* Copy particles into the buffer before the other side's work, or out of it afterwards. The program
 * makes no other copies, and none of them is between the two sides. Both functions wait. */
bool particle_share_fill(struct particle_share* share, struct sample_work* work,
                         const struct particle* particles);
bool particle_share_read(struct particle_share* share, struct sample_work* work,
                         struct particle* particles);

/* Returns the buffer's state at a handoff by the renderer, which reads vertices. */
MaarHandoffResource particle_share_resource(const struct particle_share* share);

#endif
