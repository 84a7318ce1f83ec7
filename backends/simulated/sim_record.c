/*
 * Recordings: bytes that grow by doubling, so that pointers into them are valid only until the next
 * operation.
 */
#include "backends/simulated/sim_record.h"

#include "backends/simulated/sim_check.h"

#include <string.h>

enum { SIM_FIRST_RECORDING = 512, SIM_OP_ALIGNMENT = 8 };

struct sim_recording* sim_recording_share(struct sim_recording* recording)
{
    if (recording != NULL) {
        recording->references++;
    }
    return recording;
}

void sim_recording_release(struct sim_device* device, struct sim_recording* recording)
{
    if (recording == NULL) {
        return;
    }
    sim_lock_gpu(device->gpu);
    const bool last = --recording->references == 0;
    sim_unlock_gpu(device->gpu);
    if (last) {
        maar_host_free(device->callbacks, recording->bytes);
        maar_host_free(device->callbacks, recording);
    }
}

void sim_record_empty(struct sim_command_buffer* self, enum sim_function function)
{
    struct sim_recording* recording = self->recording;
    self->record_failed = false;
    self->submitted = false;
    if (recording == NULL) {
        return;
    }
    if (recording->references == 1) {
        recording->used = 0;
        return;
    }
    recording->references--;
    self->recording = NULL;
    if (!self->object.device->lost) {
        sim_violate(self->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_IN_USE,
                    "a submission that has not been executed uses the command buffer");
    }
}

/* Makes room for `size` more bytes. */
static bool sim_recording_reserve(struct sim_command_buffer* self, size_t size)
{
    const VkAllocationCallbacks* callbacks = self->object.device->callbacks;
    if (self->recording == NULL) {
        self->recording = maar_host_calloc(callbacks, 1, sizeof(*self->recording));
        if (self->recording == NULL) {
            return false;
        }
        self->recording->references = 1;
    }
    struct sim_recording* recording = self->recording;
    size_t capacity = recording->capacity != 0 ? recording->capacity : SIM_FIRST_RECORDING;
    while (capacity - recording->used < size) {
        if (capacity > SIZE_MAX / 4) {
            return false;
        }
        capacity *= 2;
    }
    if (capacity == recording->capacity) {
        return true;
    }
    uint8_t* bytes = maar_host_alloc(callbacks, capacity);
    if (bytes == NULL) {
        return false;
    }
    if (recording->used != 0) {
        memcpy(bytes, recording->bytes, recording->used);
    }
    maar_host_free(callbacks, recording->bytes);
    recording->bytes = bytes;
    recording->capacity = capacity;
    return true;
}

void* sim_record(VkCommandBuffer commandBuffer, enum sim_op_kind kind, enum sim_function function,
                 size_t size)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    const size_t whole = (size + SIM_OP_ALIGNMENT - 1) / SIM_OP_ALIGNMENT * SIM_OP_ALIGNMENT;
    if (!self->records || self->record_failed) {
        return NULL;
    }
    if (!sim_recording_reserve(self, whole)) {
        self->record_failed = true;
        return NULL;
    }
    struct sim_recording* recording = self->recording;
    struct sim_op* op = (struct sim_op*)(void*)(recording->bytes + recording->used);
    memset(op, 0, whole);
    *op = (struct sim_op){kind, function, whole};
    recording->used += whole;
    return op;
}

void sim_record_secondary(struct sim_command_buffer* self, const struct sim_recording* from)
{
    if (from == NULL || from->used == 0 || !self->records || self->record_failed) {
        return;
    }
    if (!sim_recording_reserve(self, from->used)) {
        self->record_failed = true;
        return;
    }
    memcpy(self->recording->bytes + self->recording->used, from->bytes, from->used);
    self->recording->used += from->used;
}

const struct sim_op* sim_recording_at(const struct sim_recording* recording, size_t offset)
{
    return offset < recording->used ? (const struct sim_op*)(void*)(recording->bytes + offset)
                                    : NULL;
}
