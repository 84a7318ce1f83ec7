/*
 * A checker of barriers, for Maar's own programs. The program reports its recorded and submitted
 * events to the checker. The checker finds accesses to common bytes that nothing orders, by the
 * rules of the Vulkan specification. It shares no code with the library.
 *
 * The program reports events in a possible order: those of one queue in the queue's order, and a
 * signal before the waits for it. Resources lie at offsets in memory, so that two of them may share
 * bytes. An image barrier makes available only the accesses to its own image. Barriers of one call
 * are not ordered among each other. A change of layout is a write. The checker ignores the logical
 * order of stages: a barrier reaches only the stages that it names.
 *
 * One thread at a time may use a checker. A failed host allocation ends the program.
 */
#ifndef MAAR_SUPPORT_HAZARDS_H
#define MAAR_SUPPORT_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "maar/base.h"

struct hazards;

/* A buffer or an image and its bytes. */
struct hazard_resource {
    const char* name;    /* for findings; copied; may be NULL */
    uint64_t memory;     /* any number that resources of one VkDeviceMemory have in common */
    VkDeviceSize offset; /* in that memory, bytes */
    VkDeviceSize size;
    VkBuffer buffer; /* the handle in barriers: one of the two */
    VkImage image;
    bool concurrent; /* VK_SHARING_MODE_CONCURRENT: no queue family owns it */
    bool linear;     /* buffers and linear images: for the granularity */
};

struct hazard_access {
    uint32_t resource; /* as hazards_add_resource returned it */
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 access;
    VkImageLayout layout; /* images only */
    bool discards;        /* the previous contents are irrelevant */
};

/* `granularity` is bufferImageGranularity; 0 or 1 means none. */
struct hazards* hazards_create(uint32_t queue_count, const uint32_t* queue_families,
                               VkDeviceSize granularity);
void hazards_destroy(struct hazards* hazards);

/* Adds or forgets a resource, at any time. Nothing may use a forgotten resource, but the checker
 * remembers the accesses to its bytes. */
uint32_t hazards_add_resource(struct hazards* hazards, const struct hazard_resource* resource);
void hazards_forget_resource(struct hazards* hazards, uint32_t resource);

/* ---- what queues do, one event after another ---- */

/* Sets the beginning of later findings, for example the frame and the pass. Copies the text. */
void hazards_set_place(struct hazards* hazards, const char* place);
void hazards_barrier(struct hazards* hazards, uint32_t queue, const VkDependencyInfo* dependency);
void hazards_access(struct hazards* hazards, uint32_t queue, const struct hazard_access* access);
/* Semaphores are arbitrary numbers. A wait is for the signal with the least value at or above its
 * own. */
void hazards_signal(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                    VkPipelineStageFlags2 stages);
void hazards_wait(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                  VkPipelineStageFlags2 stages);
/* Reports that the host has waited for all submitted work. */
void hazards_idle(struct hazards* hazards);

/* ---- the same as command buffers, which take effect when they are submitted ---- */

/* Forgets the recorded commands. */
void hazards_begin_commands(struct hazards* hazards, VkCommandBuffer commands);
void hazards_record_barrier(struct hazards* hazards, VkCommandBuffer commands,
                            const VkDependencyInfo* dependency);
void hazards_record_access(struct hazards* hazards, VkCommandBuffer commands,
                           const struct hazard_access* access);
/* Applies the waits, command buffers and signals of each batch. Binary semaphores have the value 0
 * there; the checker pairs their signals and waits by counting. */
void hazards_submit(struct hazards* hazards, uint32_t queue, uint32_t submit_count,
                    const VkSubmitInfo2* submits);

/* ---- what was found ---- */

uint32_t hazards_finding_count(const struct hazards* hazards);
/* Returns one sentence, or NULL beyond the first 64. The text is valid until hazards_destroy(). */
const char* hazards_finding(const struct hazards* hazards, uint32_t index);
/* Returns the number of compared pairs of accesses. A checker that compares nothing finds
 * nothing. */
uint64_t hazards_pair_count(const struct hazards* hazards);

#endif
