/*
 * What a trace of the schema maar-trace/2 has beside allocations, frees and frames: devices,
 * memory, queues, submissions, and what the host saw. docs/replay.md describes the rows.
 *
 * Objects stand in arrays in the order of their rows; other parts refer to them by index.
 */
#ifndef MAAR_SUPPORT_TRACE_OBJECTS_H
#define MAAR_SUPPORT_TRACE_OBJECTS_H

#include "card.h"

#include <stdbool.h>
#include <stdint.h>

/* No index. */
#define SUPPORT_TRACE_NONE UINT32_MAX

struct support_trace_device {
    struct support_card card;
    uint32_t name;       /* text */
    uint32_t end_step;   /* or none */
    uint32_t row_count;  /* resources with memory of this device */
    uint32_t uses_flags; /* MaarCaptureUsesFlagBits */
    bool has_uses;       /* a layer recorded its uses */
};

struct support_trace_queue {
    uint32_t device, family, index;
    uint32_t flags; /* VkQueueFlags of the family */
};

/* Device memory. */
struct support_trace_memory {
    uint64_t size;
    uint64_t took_ns; /* by the driver */
    uint32_t device;
    uint32_t type;
    uint32_t flags;        /* MaarCaptureMemoryFlagBits */
    uint32_t handle_types; /* of an export or import */
    uint32_t priority;     /* thousandths, or none */
    uint32_t begin_step, end_step;
    uint32_t name;
};

/* An allocation that the driver refused. */
struct support_trace_failure {
    uint64_t size;
    uint32_t device, type;
    uint32_t error; /* minus the VkResult */
};

/* A part of a resource gets memory, or loses it. */
struct support_trace_bind {
    uint64_t memory_offset;
    uint64_t offset; /* in the resource; of a whole one, 0 */
    uint64_t size;
    uint32_t resource; /* index into resources, or into reserved */
    bool is_reserved;  /* the resource is one of those */
    bool is_metadata, is_texels;
    uint32_t memory; /* or none */
    uint32_t plane;  /* of a disjoint image */
    uint32_t submit; /* that binds the pages, or none */
    uint32_t mip, layer, aspect;
    uint32_t origin[3], extent[3]; /* of texels */
};

struct support_trace_semaphore {
    uint64_t value; /* first value of a timeline */
    uint32_t device;
    uint32_t begin_step, end_step;
    bool is_timeline;
};

enum support_trace_submit_kind {
    SUPPORT_TRACE_SUBMIT_COMMANDS = 0,
    SUPPORT_TRACE_SUBMIT_BINDS = 1,
    SUPPORT_TRACE_SUBMIT_PRESENT = 2,
};

/* A batch of a submission. */
struct support_trace_submit {
    uint32_t device;
    uint32_t queue; /* or none */
    uint32_t fence; /* number of the fence that it signals, or none */
    uint32_t buffers;
    uint32_t error; /* minus the VkResult of the call, or 0 */
    uint32_t step;
    uint32_t last_point; /* the newest of its points, or none */
    uint8_t kind;        /* enum support_trace_submit_kind */
};

struct support_trace_point {
    uint64_t value;
    uint32_t submit;
    uint32_t semaphore; /* or none */
    uint32_t next;      /* the point of the same submission before this one, or none */
    bool is_signal;
};

/* A submission uses a resource. */
struct support_trace_use {
    uint32_t submit;
    uint32_t resource; /* index into resources, or into reserved */
    uint32_t flags;    /* MaarCaptureUseFlagBits */
    bool is_reserved;
};

enum support_trace_waited {
    SUPPORT_TRACE_WAITED_SEMAPHORE = 0,
    SUPPORT_TRACE_WAITED_FENCE = 1,
    SUPPORT_TRACE_WAITED_QUEUE = 2,  /* idle */
    SUPPORT_TRACE_WAITED_DEVICE = 3, /* idle */
};

/* The host saw a point in the device's time, or signalled it. */
struct support_trace_reached {
    uint64_t value;
    uint64_t waited_ns;
    uint32_t device;
    uint32_t object; /* index of the semaphore, queue or device, or number of the fence */
    uint8_t kind;    /* enum support_trace_waited */
    bool is_signal;
};

struct support_trace_budget {
    uint64_t budget, usage;
    uint32_t device, heap;
};

/* A row, in the order of the file. */
struct support_trace_step {
    uint64_t time_ns;
    uint32_t index; /* of what the row speaks of, in the array of its operation, or none */
    uint32_t stream;
    uint8_t op; /* enum support_trace_op */
};

#endif
