/*
 * A checker of barriers, for programs of Maar's own: told what a program records and submits, it
 * finds accesses to common bytes that nothing orders, by the rules of the Vulkan specification and
 * by code that shares none with the library.
 *
 * Events are told in an order in which they could happen: what one queue does in its order, a
 * signal before the waits for it. Resources lie in memory at offsets, so that two of them may share
 * bytes; what an image barrier makes available is its own image's accesses alone; barriers of one
 * call are not ordered among each other; a change of layout is a write. Logical order of stages is
 * not taken into account: a barrier reaches the stages that it names.
 *
 * One thread at a time. Running out of host memory ends the program.
 */
#ifndef MAAR_SUPPORT_HAZARDS_H
#define MAAR_SUPPORT_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/base.h"

struct hazards;

/* A buffer or an image and its bytes. */
struct hazard_resource {
    const char* name;    /* for findings; copied; NULL for none */
    uint64_t memory;     /* any number that is the same for resources of one VkDeviceMemory */
    VkDeviceSize offset; /* there, bytes */
    VkDeviceSize size;
    VkBuffer buffer; /* one of the two, as barriers name it */
    VkImage image;
    bool concurrent; /* VK_SHARING_MODE_CONCURRENT: no queue family owns it */
    bool linear;     /* buffers and linear images: for the granularity */
};

struct hazard_access {
    uint32_t resource; /* as hazards_add_resource returned it */
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout; /* images */
    bool discards;        /* what was there before does not matter */
};

/* granularity: bufferImageGranularity, 0 or 1 for none. */
struct hazards* hazards_create(uint32_t queue_count, const uint32_t* queue_families,
                               VkDeviceSize granularity);
void hazards_destroy(struct hazards* hazards);

/* Resources may be added at any time. One that is forgotten is not used any more; what it did to
 * its bytes is remembered. */
uint32_t hazards_add_resource(struct hazards* hazards, const struct hazard_resource* resource);
void hazards_forget_resource(struct hazards* hazards, uint32_t resource);

/* ---- what queues do, one event after another ---- */

/* Put in front of findings from here on: the frame and pass, say. Copied. */
void hazards_set_place(struct hazards* hazards, const char* place);
void hazards_barrier(struct hazards* hazards, uint32_t queue, const VkDependencyInfo* dependency);
void hazards_access(struct hazards* hazards, uint32_t queue, const struct hazard_access* access);
/* Semaphores are any numbers; a wait is for the signal of the least value at or above its own. */
void hazards_signal(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                    VkPipelineStageFlags2 stages);
void hazards_wait(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                  VkPipelineStageFlags2 stages);
/* The host has waited for everything that was submitted so far. */
void hazards_idle(struct hazards* hazards);

/* ---- the same as command buffers, which take effect when they are submitted ---- */

/* Forgets what was recorded into it. */
void hazards_begin_commands(struct hazards* hazards, VkCommandBuffer commands);
void hazards_record_barrier(struct hazards* hazards, VkCommandBuffer commands,
                            const VkDependencyInfo* dependency);
void hazards_record_access(struct hazards* hazards, VkCommandBuffer commands,
                           const struct hazard_access* access);
/* Waits, command buffers and signals of each batch. Binary semaphores have the value 0 there and
 * are told apart by counting. */
void hazards_submit(struct hazards* hazards, uint32_t queue, uint32_t submit_count,
                    const VkSubmitInfo2* submits);

/* ---- what was found ---- */

uint32_t hazards_finding_count(const struct hazards* hazards);
/* One sentence, or NULL beyond the first 64; valid until hazards_destroy. */
const char* hazards_finding(const struct hazards* hazards, uint32_t index);
/* Pairs of accesses that were compared: a checker that compares nothing finds nothing. */
uint64_t hazards_pair_count(const struct hazards* hazards);

#endif
