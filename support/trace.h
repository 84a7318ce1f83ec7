/*
 * Reads memory traces of the schemas maar-trace/1 and maar-trace/2 (CSV, plain or gzip-compressed)
 * into a compact array of events. The header row decides the version.
 *
 * The reader is strict. The header must be exact. A missing column, a bad number, an id used twice,
 * or a free of an unknown or freed id is an error "file:line: reason". In version 2, so is a filled
 * column that the row does not have, a time before that of the row above, and a row about an object
 * that no row has begun. Ids of resources are renumbered densely in the order of their allocation,
 * so that a replayer needs an array instead of a map. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_TRACE_H
#define MAAR_SUPPORT_TRACE_H

#include "readfile.h"
#include "trace_objects.h"

#include <stddef.h>
#include <stdint.h>

enum support_trace_op {
    SUPPORT_TRACE_ALLOC = 0,
    SUPPORT_TRACE_FREE = 1,
    SUPPORT_TRACE_FRAME = 2,
    /* Version 2. The comment names the array of the step's index. */
    SUPPORT_TRACE_RESERVE,       /* reserved */
    SUPPORT_TRACE_UNRESERVE,     /* reserved */
    SUPPORT_TRACE_DEVICE,        /* devices */
    SUPPORT_TRACE_HEAP,          /* devices */
    SUPPORT_TRACE_TYPE,          /* devices */
    SUPPORT_TRACE_QUEUE,         /* queues */
    SUPPORT_TRACE_DEVICE_END,    /* devices */
    SUPPORT_TRACE_MEMORY,        /* memories */
    SUPPORT_TRACE_MEMORY_FAILED, /* failures */
    SUPPORT_TRACE_MEMORY_END,    /* memories */
    SUPPORT_TRACE_MAP,           /* memories */
    SUPPORT_TRACE_UNMAP,         /* memories */
    SUPPORT_TRACE_BIND,          /* binds */
    SUPPORT_TRACE_PAGES,         /* binds */
    SUPPORT_TRACE_SEMAPHORE,     /* semaphores */
    SUPPORT_TRACE_SEMAPHORE_END, /* semaphores */
    SUPPORT_TRACE_SUBMIT,        /* submits */
    SUPPORT_TRACE_WAIT,          /* points */
    SUPPORT_TRACE_SIGNAL,        /* points */
    SUPPORT_TRACE_USE,           /* uses */
    SUPPORT_TRACE_REACHED,       /* reached */
    SUPPORT_TRACE_BUDGET,        /* budgets */
    SUPPORT_TRACE_MARK,          /* texts */
    SUPPORT_TRACE_OP_COUNT,
};

enum support_trace_kind {
    SUPPORT_TRACE_BUFFER = 0,
    SUPPORT_TRACE_IMAGE_LINEAR = 1,
    SUPPORT_TRACE_IMAGE_OPTIMAL = 2,
    SUPPORT_TRACE_OTHER = 3,     /* version 2: another object, by size and alignment alone */
    SUPPORT_TRACE_SWAPCHAIN = 4, /* only reserved ones; the size is an estimate */
};

/* The contents of the note of an image row. */
struct support_trace_image {
    uint32_t format; /* VkFormat; 0 when the row has no note */
    uint32_t width, height, depth;
    uint32_t mips, layers, samples;
    uint32_t dimensions; /* 1, 2 or 3; 0 is 2 */
    uint32_t modifier;   /* 1: the tiling is that of a DRM format modifier */
};

/* One resource: the alloc row, or a reserve row. */
struct support_trace_resource {
    uint64_t id; /* as in the file */
    uint64_t size, alignment;
    uint64_t alloc_time_ns, free_time_ns; /* free_time_ns is UINT64_MAX when never freed */
    uint32_t type_bits;                   /* all ones when the column is empty */
    uint32_t usage;                       /* 0 when unknown */
    uint32_t image;                       /* index into images, or UINT32_MAX */
    uint32_t alloc_event, free_event;     /* indices into events; UINT32_MAX when never freed */
    uint8_t kind;                         /* enum support_trace_kind */
    /* Version 2; else 0 or none. */
    uint64_t asked;  /* VkBufferCreateInfo::size */
    uint64_t offset; /* in the memory */
    uint32_t device;
    uint32_t memory;       /* or none */
    uint32_t usage_above;  /* bits 32 to 63 of the usage */
    uint32_t create_flags; /* VkBufferCreateFlags, VkImageCreateFlags */
    uint32_t needs;        /* MaarCaptureNeedsFlagBits */
    uint32_t handle_types; /* external ones */
    uint32_t name;         /* text */
};

/* One row. */
struct support_trace_event {
    uint64_t time_ns;
    uint32_t resource; /* index into resources; UINT32_MAX for a frame */
    uint32_t stream;
    uint8_t op; /* enum support_trace_op */
};

struct support_trace {
    char name[256]; /* the file's name without folder, .csv and .gz */
    struct support_trace_event* events;
    size_t event_count;
    struct support_trace_resource* resources;
    size_t resource_count;
    struct support_trace_image* images;
    size_t image_count;
    size_t frame_count;
    uint32_t stream_count;    /* one more than the highest stream */
    uint64_t peak_live_bytes; /* largest sum of sizes alive at a time */
    size_t peak_live_count;   /* most resources alive at a time */
    size_t peak_event;        /* the event after which the bytes peak first */
    uint32_t version;         /* 1 or 2 */

    /* Version 2. Reserved resources have no memory of their own: sparse ones, and those of
     * swapchains. Their rows are steps, and no events. */
    struct support_trace_resource* reserved;
    size_t reserved_count;
    struct support_trace_device* devices;
    size_t device_count;
    struct support_trace_queue* queues;
    size_t queue_count;
    struct support_trace_memory* memories;
    size_t memory_count;
    struct support_trace_failure* failures;
    size_t failure_count;
    struct support_trace_bind* binds;
    size_t bind_count;
    struct support_trace_semaphore* semaphores;
    size_t semaphore_count;
    struct support_trace_submit* submits;
    size_t submit_count;
    struct support_trace_point* points;
    size_t point_count;
    struct support_trace_use* uses;
    size_t use_count;
    struct support_trace_reached* reached;
    size_t reached_count;
    struct support_trace_budget* budgets;
    size_t budget_count;
    struct support_trace_step* steps; /* all rows */
    size_t step_count;
    char* texts; /* text 0 is empty */
    size_t text_size;
};

/* Loads a file. On failure the trace is empty, and the error says file, line and reason. */
bool support_trace_load(const char* path, struct support_trace* trace, struct support_error* error);

/* Loads a trace from memory, plain or gzip-compressed. Messages call it `name`. */
bool support_trace_parse(const char* name, const void* data, size_t size,
                         struct support_trace* trace, struct support_error* error);

/* Writes the name of a file's trace: the file's name without folder, .csv and .gz. */
void support_trace_take_name(const char* path, char name[256]);

/* Returns a text by its index. Never NULL. */
const char* support_trace_text(const struct support_trace* trace, uint32_t text);

/* Returns the device with the most resources, or none. */
uint32_t support_trace_main_device(const struct support_trace* trace);

/* Frees the contents of a trace and empties it. */
void support_trace_release(struct support_trace* trace);

/* Parses "format=N extent=WxHxD mips=N layers=N samples=N", all required, in any order. */
bool support_trace_parse_note(const char* note, size_t size, struct support_trace_image* image);

#endif
