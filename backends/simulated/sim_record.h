/*
 * What a command buffer has recorded for execution: sim_record.c.
 *
 * A recording is a sequence of operations of different sizes. Command buffers and submissions share
 * it. While a submission has it, the command buffer does not change it. The driver records only
 * while MAAR_SIMULATED_EXECUTE_BIT is set.
 */
#ifndef MAAR_SIM_RECORD_H
#define MAAR_SIM_RECORD_H

#include "backends/simulated/sim_command.h"

enum sim_op_kind {
    SIM_OP_FILL,
    SIM_OP_UPDATE,
    SIM_OP_COPY_BUFFER,
    SIM_OP_COPY_BUFFER_IMAGE,
    SIM_OP_COPY_IMAGE,
    SIM_OP_CLEAR,
    SIM_OP_BARRIERS,
    SIM_OP_WORK,
    SIM_OP_ACCESS,
    SIM_OP_TIMESTAMP,
};

/* The head of every operation. */
struct sim_op {
    enum sim_op_kind kind;
    enum sim_function function;
    uint64_t size; /* bytes to the next operation */
};

struct sim_op_fill {
    struct sim_op op;
    uint64_t buffer;
    VkDeviceSize at, size;
    uint32_t word;
};

struct sim_op_update {
    struct sim_op op;
    uint64_t buffer;
    VkDeviceSize at, size;
    uint8_t bytes[];
};

struct sim_op_copy_buffer {
    struct sim_op op;
    uint64_t from, to;
    uint32_t count;
    VkBufferCopy regions[];
};

struct sim_op_copy_buffer_image {
    struct sim_op op;
    uint64_t buffer, image;
    VkImageLayout layout;
    bool to_image;
    uint32_t count;
    VkBufferImageCopy regions[];
};

struct sim_op_copy_image {
    struct sim_op op;
    uint64_t from, to;
    VkImageLayout from_layout, to_layout;
    uint32_t count;
    VkImageCopy regions[];
};

struct sim_op_clear {
    struct sim_op op;
    uint64_t image;
    VkImageLayout layout;
    VkClearValue value;
    uint32_t count;
    VkImageSubresourceRange ranges[];
};

/* A barrier of any kind. The resource is 0 for a global one. */
struct sim_barrier {
    VkFlags64 from_stages, from_accesses, to_stages, to_accesses;
    uint64_t resource;
    bool image;
    uint32_t from_family, to_family;
    VkDeviceSize at, size; /* of a buffer */
    VkImageLayout from_layout, to_layout;
    VkImageSubresourceRange range;
};

struct sim_op_barriers {
    struct sim_op op;
    uint32_t count;
    struct sim_barrier barriers[];
};

struct sim_op_work {
    struct sim_op op;
    uint64_t nanoseconds;
};

struct sim_op_access {
    struct sim_op op;
    uint64_t buffer;
    VkDeviceSize at, size;
    bool reads, writes;
};

struct sim_op_timestamp {
    struct sim_op op;
    uint64_t pool;
    uint32_t query;
};

struct sim_recording {
    uint32_t references; /* guarded by the lock of the gpu */
    size_t used, capacity;
    uint8_t* bytes; /* NULL while empty */
};

/* Appends an operation of `size` bytes, all zero but the head. Returns NULL when the driver does
 * not execute, or without host memory; then vkEndCommandBuffer fails. Lock free. */
void* sim_record(VkCommandBuffer commandBuffer, enum sim_op_kind kind, enum sim_function function,
                 size_t size);
/* Appends all operations of a secondary command buffer. Lock free. */
void sim_record_secondary(struct sim_command_buffer* self, const struct sim_recording* from);
/* Returns the operation at an offset; NULL at the end. */
const struct sim_op* sim_recording_at(const struct sim_recording* recording, size_t offset);

/* Takes a reference. Lock held. */
struct sim_recording* sim_recording_share(struct sim_recording* recording);
/* Gives a reference back, and frees a recording without references. Lock free. */
void sim_recording_release(struct sim_device* device, struct sim_recording* recording);
/* Makes a command buffer empty. Records a violation while a submission that has not been executed
 * uses it; the submission keeps its recording. Lock held. */
void sim_record_empty(struct sim_command_buffer* self, enum sim_function function);

#endif
