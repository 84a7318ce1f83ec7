/*
 * Executes recorded commands, one after another, under the lock of the gpu. A command whose region
 * lies outside its resource is a violation and changes nothing.
 */
#include "backends/simulated/sim_execute.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_query.h"

#include <string.h>

enum { SIM_FILL_CHUNK = 512 };

struct sim_resource* sim_execution_resource(struct sim_execution* e, uint64_t handle,
                                            enum sim_kind kind)
{
    struct sim_resource* resource = sim_object_get(e->device, e->function, handle, kind);
    for (uint32_t i = 0; resource != NULL && !resource->sparse && i < resource->plane_count; i++) {
        if (sim_object_peek(e->device, resource->memory[i], SIM_KIND_MEMORY) == NULL) {
            sim_violate(e->device->gpu, e->function, MAAR_SIMULATED_VIOLATION_UNBOUND,
                        "the %s has no memory when the command is executed", sim_kind_name(kind));
            return NULL;
        }
    }
    return resource;
}

void sim_execution_outside(struct sim_execution* e, const char* what)
{
    sim_violate(e->device->gpu, e->function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                "a region is not inside its %s", what);
}

bool sim_buffer_has(const struct sim_resource* buffer, VkDeviceSize at, VkDeviceSize size)
{
    return at <= buffer->size && size <= buffer->size - at;
}

static void sim_execute_fill(struct sim_execution* e, const struct sim_op_fill* op)
{
    struct sim_resource* buffer = sim_execution_resource(e, op->buffer, SIM_KIND_BUFFER);
    if (buffer == NULL) {
        return;
    }
    sim_owner_use(e->findings.hazard, buffer, false);
    const bool whole = op->size == VK_WHOLE_SIZE && op->at < buffer->size;
    const VkDeviceSize size = whole ? (buffer->size - op->at) / 4 * 4 : op->size;
    if (op->at % 4 != 0 || size % 4 != 0 || !sim_buffer_has(buffer, op->at, size)) {
        sim_execution_outside(e, "buffer, in whole words");
        return;
    }
    uint8_t chunk[SIM_FILL_CHUNK];
    for (size_t i = 0; i < sizeof(chunk); i += sizeof(op->word)) {
        memcpy(chunk + i, &op->word, sizeof(op->word));
    }
    for (VkDeviceSize done = 0; done < size;) {
        const VkDeviceSize left = size - done;
        const VkDeviceSize part = left < sizeof(chunk) ? left : sizeof(chunk);
        sim_write_bytes(&(struct sim_place){buffer, 0, op->at + done}, chunk, part, &e->findings);
        done += part;
    }
}

static void sim_execute_update(struct sim_execution* e, const struct sim_op_update* op)
{
    struct sim_resource* buffer = sim_execution_resource(e, op->buffer, SIM_KIND_BUFFER);
    if (buffer == NULL) {
        return;
    }
    sim_owner_use(e->findings.hazard, buffer, false);
    if (!sim_buffer_has(buffer, op->at, op->size)) {
        sim_execution_outside(e, "buffer");
        return;
    }
    sim_write_bytes(&(struct sim_place){buffer, 0, op->at}, op->bytes, op->size, &e->findings);
}

static void sim_execute_access(struct sim_execution* e, const struct sim_op_access* op)
{
    struct sim_resource* buffer = sim_execution_resource(e, op->buffer, SIM_KIND_BUFFER);
    if (buffer == NULL) {
        return;
    }
    sim_owner_use(e->findings.hazard, buffer, op->reads);
    if (e->findings.hazard != NULL) {
        e->findings.hazard->writes_too = op->reads && op->writes;
    }
    if (!sim_buffer_has(buffer, op->at, op->size)) {
        sim_execution_outside(e, "buffer");
        return;
    }
    sim_touch_bytes(&(struct sim_place){buffer, 0, op->at}, op->size, op->reads, op->writes,
                    &e->findings);
}

static void sim_execute_copy_buffer(struct sim_execution* e, const struct sim_op_copy_buffer* op)
{
    struct sim_resource* from = sim_execution_resource(e, op->from, SIM_KIND_BUFFER);
    struct sim_resource* to = sim_execution_resource(e, op->to, SIM_KIND_BUFFER);
    if (from != NULL && to != NULL) {
        sim_owner_use(e->findings.hazard, from, true);
        sim_owner_use(e->findings.hazard, to, false);
    }
    for (uint32_t i = 0; from != NULL && to != NULL && i < op->count; i++) {
        const VkBufferCopy* r = &op->regions[i];
        if (!sim_buffer_has(from, r->srcOffset, r->size) ||
            !sim_buffer_has(to, r->dstOffset, r->size)) {
            sim_execution_outside(e, "buffer");
            continue;
        }
        sim_copy_bytes(&(struct sim_place){to, 0, r->dstOffset},
                       &(struct sim_place){from, 0, r->srcOffset}, r->size, &e->findings);
    }
}

static void sim_execute_buffer_barrier(struct sim_execution* e, const struct sim_barrier* barrier)
{
    struct sim_hazard* hazard = e->findings.hazard;
    struct sim_resource* buffer = sim_execution_resource(e, barrier->resource, SIM_KIND_BUFFER);
    if (buffer == NULL || hazard == NULL || barrier->at >= buffer->size) {
        return;
    }
    const VkDeviceSize most = buffer->size - barrier->at;
    struct sim_place place = {buffer, 0, barrier->at};
    for (VkDeviceSize left = barrier->size < most ? barrier->size : most; left != 0;) {
        const struct sim_span span = sim_span_at(&place, left);
        if (span.memory != NULL) {
            sim_hazard_barrier(hazard, barrier, span.memory, span.offset, span.size, false);
        }
        place.at += span.size;
        left -= span.size;
    }
    sim_owner_barrier(hazard, buffer, barrier);
}

static void sim_execute_barriers(struct sim_execution* e, const struct sim_op_barriers* op)
{
    for (uint32_t i = 0; i < op->count; i++) {
        const struct sim_barrier* barrier = &op->barriers[i];
        if (barrier->image) {
            sim_execute_image_barrier(e, barrier);
        } else if (barrier->resource != 0) {
            sim_execute_buffer_barrier(e, barrier);
        } else if (e->findings.hazard != NULL) {
            sim_hazard_global(e->findings.hazard, barrier);
        }
    }
}

/* Writes the queue's virtual time to a query. */
static void sim_execute_timestamp(struct sim_execution* e, const struct sim_op_timestamp* op)
{
    struct sim_query_pool* pool =
        sim_object_get(e->device, e->function, op->pool, SIM_KIND_QUERY_POOL);
    if (pool == NULL || e->queue == NULL) {
        return;
    }
    if (op->query >= pool->count) {
        sim_execution_outside(e, "query pool");
        return;
    }
    pool->values[op->query] = e->queue->time;
}

static void sim_execute_one(struct sim_execution* e, const struct sim_op* op)
{
    switch (op->kind) {
    case SIM_OP_FILL:
        sim_execute_fill(e, (const struct sim_op_fill*)(const void*)op);
        break;
    case SIM_OP_UPDATE:
        sim_execute_update(e, (const struct sim_op_update*)(const void*)op);
        break;
    case SIM_OP_COPY_BUFFER:
        sim_execute_copy_buffer(e, (const struct sim_op_copy_buffer*)(const void*)op);
        break;
    case SIM_OP_COPY_BUFFER_IMAGE:
        sim_execute_buffer_image(e, (const struct sim_op_copy_buffer_image*)(const void*)op);
        break;
    case SIM_OP_COPY_IMAGE:
        sim_execute_copy_image(e, (const struct sim_op_copy_image*)(const void*)op);
        break;
    case SIM_OP_CLEAR:
        sim_execute_clear(e, (const struct sim_op_clear*)(const void*)op);
        break;
    case SIM_OP_BARRIERS:
        sim_execute_barriers(e, (const struct sim_op_barriers*)(const void*)op);
        break;
    case SIM_OP_WORK:
        if (e->queue != NULL) {
            e->queue->time += ((const struct sim_op_work*)(const void*)op)->nanoseconds;
        }
        break;
    case SIM_OP_ACCESS:
        sim_execute_access(e, (const struct sim_op_access*)(const void*)op);
        break;
    case SIM_OP_TIMESTAMP:
        sim_execute_timestamp(e, (const struct sim_op_timestamp*)(const void*)op);
        break;
    }
}

static enum sim_stage sim_stage_of(enum sim_op_kind kind)
{
    switch (kind) {
    case SIM_OP_FILL:
    case SIM_OP_UPDATE:
    case SIM_OP_CLEAR:
        return SIM_STAGE_CLEAR;
    case SIM_OP_ACCESS:
        return SIM_STAGE_SHADER;
    default:
        return SIM_STAGE_COPY;
    }
}

/* Counts what a command met, and records what a test asked to know. */
static void sim_execution_report(const struct sim_execution* e)
{
    struct sim_gpu* gpu = e->device->gpu;
    const struct sim_findings* found = &e->findings;
    gpu->counters.executedCommandCount++;
    gpu->counters.unwrittenReadBytes += found->unwritten;
    gpu->counters.unboundReadBytes += found->unbound;
    if ((gpu->flags & MAAR_SIMULATED_CHECK_CONTENTS_BIT) == 0) {
        return;
    }
    if (found->unwritten != 0 || found->unbound != 0) {
        sim_violate(
            gpu, e->function, MAAR_SIMULATED_VIOLATION_CONTENTS,
            "the command reads %llu bytes that nothing has written, and %llu without memory",
            (unsigned long long)found->unwritten, (unsigned long long)found->unbound);
    }
}

bool sim_execute(struct sim_submission* submission, const struct sim_recording* recording)
{
    struct sim_device* device = submission->queue->device;
    const uint32_t queue = sim_queue_number(submission->queue);
    struct sim_order* order = submission->number != 0 ? sim_order_of(device) : NULL;
    const bool checks = order != NULL && sim_checks_synchronization(device->gpu);
    bool good = true;
    size_t at = 0;
    for (const struct sim_op* op = sim_recording_at(recording, at); op != NULL && good;
         op = sim_recording_at(recording, at)) {
        struct sim_cost cost = {0};
        struct sim_hazard hazard = {
            .device = device,
            .known = checks ? &order->queues[queue] : NULL,
            .function = op->function,
            .queue = queue,
            .number = submission->number,
            .family = submission->queue->family,
            .stage = sim_stage_of(op->kind),
        };
        struct sim_execution e = {
            .device = device,
            .function = op->function,
            .queue = order != NULL && device->gpu->time_is_on ? &order->queues[queue] : NULL,
            .findings = {.hazard = checks ? &hazard : NULL},
        };
        e.findings.cost = e.queue != NULL ? &cost : NULL;
        sim_execute_one(&e, op);
        sim_hazard_finish(&hazard);
        sim_execution_report(&e);
        if (e.queue != NULL) {
            sim_time_command(device, e.queue, &cost);
        }
        good = !e.findings.failed;
        at += (size_t)op->size;
    }
    return good;
}
