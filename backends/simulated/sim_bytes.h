/*
 * The bytes of resources, through binds and page maps, and which of them have been written:
 * sim_bytes.c.
 */
#ifndef MAAR_SIM_BYTES_H
#define MAAR_SIM_BYTES_H

#include "backends/simulated/sim_hazard.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_time.h"

/* Bytes that lie together: in a memory, or, where `memory` is NULL, nowhere. */
struct sim_span {
    struct sim_memory* memory;
    VkDeviceSize offset, size;
};

/* A place in a part of a resource. */
struct sim_place {
    const struct sim_resource* resource;
    uint32_t part;
    VkDeviceSize at;
};

/* What a copy met. */
struct sim_findings {
    VkDeviceSize unwritten; /* bytes read that nothing had written */
    VkDeviceSize unbound;   /* bytes read that lie nowhere, on a device without strict residency */
    bool failed;            /* the host had no pages for a memory */
    struct sim_cost* cost;  /* of the bytes in virtual time; NULL: time stands still */
    struct sim_hazard* hazard; /* checks the accesses; NULL: they are not checked */
};

/* All functions: lock held. */

/* Returns the span that begins at a place, of at most `size` bytes. */
struct sim_span sim_span_at(const struct sim_place* place, VkDeviceSize size);
/* Returns a span's bytes; NULL where it lies nowhere, or where the host has no pages. */
uint8_t* sim_span_bytes(const struct sim_span* span);

/* Copies bytes between resources. What nothing has written arrives as a pattern, and counts as
 * unwritten there too. What is written to a place without memory is lost. */
void sim_copy_bytes(const struct sim_place* to, const struct sim_place* from, VkDeviceSize size,
                    struct sim_findings* findings);
/* Writes given bytes. */
void sim_write_bytes(const struct sim_place* to, const void* bytes, VkDeviceSize size,
                     struct sim_findings* findings);
/* Has bytes accessed by a shader, which does not change them. */
void sim_touch_bytes(const struct sim_place* place, VkDeviceSize size, bool reads, bool writes,
                     struct sim_findings* findings);
/* Makes the contents of a place undefined. */
void sim_discard_bytes(const struct sim_place* place, VkDeviceSize size);
/* The same for bytes of a memory. */
void sim_discard_memory(struct sim_memory* memory, VkDeviceSize offset, VkDeviceSize size);

#endif
