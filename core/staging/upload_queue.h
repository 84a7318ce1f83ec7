/*
 * Copies that a cache submits itself: command buffers, and submissions to one queue of the
 * allocator that signal a timeline. Belongs to one caller at a time. No lock may be held.
 */
#ifndef MAAR_CORE_STAGING_UPLOAD_QUEUE_H
#define MAAR_CORE_STAGING_UPLOAD_QUEUE_H

#include <stdint.h>

#include "core/memory/allocator_state.h"

/* A command buffer, and the value of the timeline after which the device does not use it. */
struct maar_upload_commands {
    VkCommandBuffer buffer;
    uint64_t value;
};

struct maar_upload_queue {
    MaarAllocator allocator;
    uint32_t queue_index;
    VkSemaphore timeline;
    uint64_t submitted; /* values of the timeline */
    uint64_t completed;
    VkCommandPool pool;
    struct maar_upload_commands* commands;
    uint32_t command_count;
    uint32_t command_capacity;
};

/* Make the timeline and the pool of command buffers; free them. The allocator and the queue's index
 * are set. Closing accepts what opening has left after a failure. */
VkResult maar_upload_queue_open(struct maar_upload_queue* queue);
void maar_upload_queue_close(struct maar_upload_queue* queue);
/* Reads the value of the timeline. */
VkResult maar_upload_queue_poll(struct maar_upload_queue* queue);
/* Waits for a value that was submitted. */
VkResult maar_upload_queue_wait(struct maar_upload_queue* queue, uint64_t value);
/* Begins to record into a command buffer that the device does not use. */
VkResult maar_upload_queue_begin(struct maar_upload_queue* queue,
                                 struct maar_upload_commands** commands);
/* Ends the commands by a barrier after which all others see what was copied, and submits them. They
 * wait for a point. On success queue->submitted is the value that their end signals. */
VkResult maar_upload_queue_submit(struct maar_upload_queue* queue,
                                  struct maar_upload_commands* commands, const MaarPoint* wait);

#endif
