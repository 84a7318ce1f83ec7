/*
 * Copies that a room submits itself: command buffers, and submissions to one queue of the allocator
 * that signal a timeline. Belongs to one caller at a time. No lock may be held.
 */
#ifndef MAAR_CORE_STAGING_COPY_STREAM_H
#define MAAR_CORE_STAGING_COPY_STREAM_H

#include <stdint.h>

#include "core/memory/allocator_state.h"

/* A command buffer, and the value of the timeline after which the device does not use it. */
struct maar_stream_commands {
    VkCommandBuffer buffer;
    uint64_t value;
};

struct maar_copy_stream {
    MaarAllocator allocator;
    uint32_t queue_index;
    VkSemaphore timeline;
    uint64_t submitted; /* values of the timeline */
    uint64_t completed;
    VkCommandPool pool;
    struct maar_stream_commands* commands;
    uint32_t command_count;
    uint32_t command_capacity;
};

/* Make the timeline and the pool of command buffers; free them. The allocator and the queue's index
 * are set. Closing accepts what opening has left after a failure. */
VkResult maar_copy_stream_open(struct maar_copy_stream* stream);
void maar_copy_stream_close(struct maar_copy_stream* stream);
/* Reads the value of the timeline. */
VkResult maar_copy_stream_poll(struct maar_copy_stream* stream);
/* Waits for a value that was submitted. */
VkResult maar_copy_stream_wait(struct maar_copy_stream* stream, uint64_t value);
/* Begins to record into a command buffer that the device does not use. */
VkResult maar_copy_stream_begin(struct maar_copy_stream* stream,
                                struct maar_stream_commands** commands);
/* Submits the commands, which wait for points, at most MAAR_MOST_SUBMISSION_WAITS. The caller has
 * recorded the barriers. On success stream->submitted is the value that their end signals. */
VkResult maar_copy_stream_submit(struct maar_copy_stream* stream,
                                 struct maar_stream_commands* commands, uint32_t wait_count,
                                 const MaarPoint* waits);

#endif
