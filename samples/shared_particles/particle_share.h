/*
 * The particles' buffer, in memory that the other side can have too.
 */
#ifndef MAAR_SAMPLE_PARTICLE_SHARE_H
#define MAAR_SAMPLE_PARTICLE_SHARE_H

#include "maar/share.h"
#include "particle_galaxy.h"
#include "sample_work.h"

/* How the memory is handed over. */
#define PARTICLE_HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

struct particle_share {
    const struct sample_device* device;
    uint32_t count;
    VkBufferCreateInfo info;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceSize block_size; /* of the memory that is handed over */
};

/* Returns SAMPLE_EXIT_OK, or complains and returns another code: SAMPLE_EXIT_SKIPPED where such a
 * buffer cannot be shared. Destroy in any case. */
int particle_share_create(struct particle_share* share, const struct sample_device* device,
                          uint32_t count);
void particle_share_destroy(struct particle_share* share);

/* Copies particles into the buffer before, or out of it after, all that the other side does: the
 * only copies there are, and none of them is between the two sides. Both wait. */
bool particle_share_fill(struct particle_share* share, struct sample_work* work,
                         const struct particle* particles);
bool particle_share_read(struct particle_share* share, struct sample_work* work,
                         struct particle* particles);

/* The buffer as the renderer hands it over: it reads vertices. */
MaarHandoffResource particle_share_resource(const struct particle_share* share);

#endif
