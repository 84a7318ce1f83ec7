/*
 * The bytes of resources. Beside a memory's bytes lies a map that says of each whether commands
 * have written it. Bytes that the host may write count as written: the driver does not see such
 * writes. Both are pages that cost nothing until they are touched.
 */
#include "backends/simulated/sim_bytes.h"

#include <string.h>

/* The states of a byte. */
enum { SIM_BYTE_UNWRITTEN, SIM_BYTE_WRITTEN };

/* What commands read where nothing has been written. It differs from zero, and from the next byte,
 * so that it is not taken for contents. */
static uint8_t sim_pattern(VkDeviceSize offset)
{
    return (uint8_t)(0xA5u ^ (offset * 0x3Bu & 0x7Fu));
}

struct sim_span sim_span_at(const struct sim_place* place, VkDeviceSize size)
{
    const struct sim_resource* resource = place->resource;
    const struct sim_device* device = resource->object.device;
    struct sim_span span = {NULL, 0, size};
    if (!resource->sparse) {
        span.memory = sim_object_peek(device, resource->memory[place->part], SIM_KIND_MEMORY);
        span.offset = resource->offset[place->part] + place->at;
        return span;
    }
    const struct sim_sparse* pages = &resource->pages;
    const struct sim_run* run = sim_pages_after(pages, place->at);
    if (run == NULL || run->node.begin >= place->at + size) {
        return span;
    }
    if (run->node.begin > place->at) {
        span.size = run->node.begin - place->at;
        return span;
    }
    const VkDeviceSize into = place->at - run->node.begin;
    const VkDeviceSize left = run->node.end - place->at;
    span.memory = sim_object_peek(device, run->memory, SIM_KIND_MEMORY);
    span.offset = run->offset + into;
    span.size = size < left ? size : left;
    return span;
}

uint8_t* sim_span_bytes(const struct sim_span* span)
{
    if (span->memory == NULL || !sim_memory_back(span->memory)) {
        return NULL;
    }
    return span->memory->bytes + span->offset;
}

/* Returns the map's part for a span; NULL where there is no map. */
static uint8_t* sim_span_states(const struct sim_span* span)
{
    struct sim_memory* memory = span->memory;
    if (memory == NULL || memory->size > SIZE_MAX / 2) {
        return NULL;
    }
    if (memory->states == NULL) {
        memory->states = sim_pages_map((size_t)memory->size);
    }
    return memory->states != NULL ? memory->states + span->offset : NULL;
}

/* Copies between two spans of one size that both have bytes. */
static void sim_span_copy(const struct sim_span* to, const struct sim_span* from,
                          struct sim_findings* findings)
{
    uint8_t* out = sim_span_bytes(to);
    const uint8_t* in = sim_span_bytes(from);
    uint8_t* out_states = sim_span_states(to);
    const uint8_t* in_states = sim_span_states(from);
    const size_t size = (size_t)to->size;
    if (out == NULL || in == NULL) {
        findings->failed = true;
        return;
    }
    memmove(out, in, size);
    if (in_states == NULL || out_states == NULL) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        const bool written = from->memory->host_writes || in_states[i] == SIM_BYTE_WRITTEN;
        out_states[i] = written ? SIM_BYTE_WRITTEN : SIM_BYTE_UNWRITTEN;
        if (!written) {
            out[i] = sim_pattern(from->offset + i);
            findings->unwritten++;
        }
    }
}

/* Writes what a read of bytes without memory gives: zeros if the device promises them. */
static void sim_span_fill_unbound(const struct sim_span* to, bool strict,
                                  struct sim_findings* findings)
{
    uint8_t* out = sim_span_bytes(to);
    uint8_t* states = sim_span_states(to);
    const size_t size = (size_t)to->size;
    findings->unbound += strict ? 0 : size;
    if (out == NULL) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < size; i++) {
        out[i] = strict ? 0 : sim_pattern(i);
    }
    if (states != NULL) {
        memset(states, strict ? SIM_BYTE_WRITTEN : SIM_BYTE_UNWRITTEN, size);
    }
}

/* Has an access to a buffer checked. Those to images are checked in larger parts. */
static void sim_span_access(const struct sim_place* place, const struct sim_span* span, bool writes,
                            struct sim_findings* findings)
{
    if (findings->hazard != NULL && span->memory != NULL &&
        place->resource->object.kind == SIM_KIND_BUFFER) {
        sim_hazard_access(findings->hazard, span->memory, span->offset, span->size, writes);
    }
}

void sim_copy_bytes(const struct sim_place* to, const struct sim_place* from, VkDeviceSize size,
                    struct sim_findings* findings)
{
    struct sim_place out = *to;
    struct sim_place in = *from;
    const struct sim_gpu* gpu = to->resource->object.device->gpu;
    const bool strict = gpu->profile.sparse.properties.residencyNonResidentStrict == VK_TRUE;
    for (VkDeviceSize left = size; left != 0;) {
        struct sim_span source = sim_span_at(&in, left);
        struct sim_span target = sim_span_at(&out, source.size);
        source.size = target.size;
        sim_span_access(&in, &source, false, findings);
        sim_span_access(&out, &target, true, findings);
        if (findings->cost != NULL) {
            sim_time_move(findings->cost, source.memory, target.memory, source.size);
        }
        if (target.memory != NULL && source.memory != NULL) {
            sim_span_copy(&target, &source, findings);
        } else if (target.memory != NULL) {
            sim_span_fill_unbound(&target, strict, findings);
        }
        in.at += source.size;
        out.at += source.size;
        left -= source.size;
    }
}

void sim_write_bytes(const struct sim_place* to, const void* bytes, VkDeviceSize size,
                     struct sim_findings* findings)
{
    struct sim_place out = *to;
    const uint8_t* in = bytes;
    for (VkDeviceSize left = size; left != 0;) {
        const struct sim_span target = sim_span_at(&out, left);
        sim_span_access(&out, &target, true, findings);
        if (findings->cost != NULL) {
            sim_time_move(findings->cost, NULL, target.memory, target.size);
        }
        if (target.memory != NULL) {
            uint8_t* to_bytes = sim_span_bytes(&target);
            uint8_t* states = sim_span_states(&target);
            findings->failed = findings->failed || to_bytes == NULL;
            if (to_bytes != NULL) {
                memcpy(to_bytes, in, (size_t)target.size);
            }
            if (states != NULL) {
                memset(states, SIM_BYTE_WRITTEN, (size_t)target.size);
            }
        }
        in += target.size;
        out.at += target.size;
        left -= target.size;
    }
}

/* Counts the bytes of a span that nothing has written. */
static void sim_span_read(const struct sim_span* span, struct sim_findings* findings)
{
    const uint8_t* states = sim_span_states(span);
    for (VkDeviceSize i = 0; states != NULL && !span->memory->host_writes && i < span->size; i++) {
        findings->unwritten += states[i] != SIM_BYTE_WRITTEN ? 1 : 0;
    }
}

void sim_touch_bytes(const struct sim_place* place, VkDeviceSize size, bool reads, bool writes,
                     struct sim_findings* findings)
{
    struct sim_place at = *place;
    const struct sim_gpu* gpu = place->resource->object.device->gpu;
    const bool strict = gpu->profile.sparse.properties.residencyNonResidentStrict == VK_TRUE;
    for (VkDeviceSize left = size; left != 0;) {
        const struct sim_span span = sim_span_at(&at, left);
        if (reads) {
            sim_span_access(&at, &span, false, findings);
            findings->unbound += span.memory == NULL && !strict ? span.size : 0;
            sim_span_read(&span, findings);
        }
        uint8_t* states = writes ? sim_span_states(&span) : NULL;
        if (states != NULL) {
            memset(states, SIM_BYTE_WRITTEN, (size_t)span.size);
        }
        at.at += span.size;
        left -= span.size;
    }
    at = *place;
    for (VkDeviceSize left = writes ? size : 0; left != 0;) {
        const struct sim_span span = sim_span_at(&at, left);
        sim_span_access(&at, &span, true, findings);
        at.at += span.size;
        left -= span.size;
    }
}

void sim_discard_memory(struct sim_memory* memory, VkDeviceSize offset, VkDeviceSize size)
{
    if (memory->states != NULL) {
        memset(memory->states + offset, SIM_BYTE_UNWRITTEN, (size_t)size);
    }
}

void sim_discard_bytes(const struct sim_place* place, VkDeviceSize size)
{
    struct sim_place at = *place;
    for (VkDeviceSize left = size; left != 0;) {
        const struct sim_span span = sim_span_at(&at, left);
        if (span.memory != NULL) {
            sim_discard_memory(span.memory, span.offset, span.size);
        }
        at.at += span.size;
        left -= span.size;
    }
}
