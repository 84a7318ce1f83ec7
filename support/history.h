/*
 * The history of a program's device memory, as a capture has it: devices, memory, resources, what
 * was bound where from when to when, frames, submissions, budgets, names.
 *
 * A history is built entry by entry, so that a growing capture can be watched. All objects stand in
 * arrays in the order in which they began; other parts refer to them by index. Handles are used
 * again, so they name an object only at a moment. Numbers from the file are checked: a device, heap
 * or memory type that does not exist is an error "file: byte N: reason". An end, a bind or a name
 * of an object whose beginning the capture does not have is counted in `strays`, and is no error.
 *
 * All times are nanoseconds since the start of the capture.
 *
 * No globals; a history is used by one thread at a time.
 */
#ifndef MAAR_SUPPORT_HISTORY_H
#define MAAR_SUPPORT_HISTORY_H

#include "capture_reader.h"

#include <stddef.h>
#include <stdint.h>

/* No index. */
#define SUPPORT_HISTORY_NONE UINT32_MAX
/* A time after the end of the capture. */
#define SUPPORT_HISTORY_FOREVER UINT64_MAX

enum { SUPPORT_HISTORY_MOST_TYPES = 32 };

struct support_history_device {
    MaarCaptureDevice facts;
    MaarCaptureHeap heaps[MAAR_CAPTURE_MOST_HEAPS];
    MaarCaptureType types[SUPPORT_HISTORY_MOST_TYPES];
    uint32_t name, driver_name, driver_info; /* texts */
    uint64_t begin_ns, end_ns;
    uint32_t begin_event, end_event; /* SUPPORT_HISTORY_NONE while it lives */
    uint32_t frame_count, submit_count;
    uint32_t uses_flags; /* MaarCaptureUsesFlagBits */
    bool has_uses;       /* its uses are recorded */
};

/* Device memory. */
struct support_history_memory {
    uint64_t handle;
    uint64_t size;
    uint64_t begin_ns, end_ns;
    uint64_t duration_ns;       /* in the driver */
    uint64_t caller;            /* an address, or 0 */
    uint64_t bound, bound_peak; /* bytes of resources bound there: at the end, and most at a time */
    uint32_t device;            /* index */
    uint32_t type;
    uint32_t begin_event, end_event;
    uint32_t dedicated; /* the resource that it is dedicated to, or none */
    uint32_t name;
    uint32_t flags; /* MaarCaptureMemoryFlagBits */
    uint32_t handle_types;
    uint32_t map_count;  /* how often it was mapped */
    uint32_t bind_count; /* binds there, sparse ones included */
    float priority;
};

enum support_history_kind {
    SUPPORT_HISTORY_BUFFER = 0,
    SUPPORT_HISTORY_IMAGE = 1,
    SUPPORT_HISTORY_RANGE = 2,     /* an allocation without an object */
    SUPPORT_HISTORY_SWAPCHAIN = 3, /* size is an estimate */
    SUPPORT_HISTORY_OTHER = 4,
};

/* A buffer, an image, or another owner of bytes. */
struct support_history_resource {
    uint64_t handle;
    uint64_t size;      /* bytes that the driver wants; of a range, its bytes */
    uint64_t alignment; /* 0: unknown */
    uint64_t asked;     /* VkBufferCreateInfo::size, else size */
    uint64_t usage;
    uint64_t begin_ns, end_ns;
    uint64_t bind_ns; /* when it was bound first, or forever */
    uint64_t offset;  /* of the first bind */
    uint64_t caller;
    uint64_t sparse_bytes, sparse_peak; /* bytes of pages bound now, and most at a time */
    uint32_t device;
    uint32_t memory; /* of the first bind, or none */
    uint32_t begin_event, end_event, bind_event;
    uint32_t first_bind; /* newest of its binds (struct support_history_bind), or none */
    uint32_t name;
    uint32_t type_bits;
    uint32_t create_flags;
    uint32_t needs_flags; /* MaarCaptureNeedsFlagBits */
    uint32_t handle_types;
    uint32_t image;           /* index into images, or none */
    uint32_t detail;          /* of a range: MaarResourceKind; of another: VkObjectType */
    uint32_t structure_count; /* acceleration structures that were made in a buffer */
    uint8_t kind;             /* enum support_history_kind */
    uint8_t tiling_is_linear;
};

/* A bind that is not sparse: the resource had these bytes from begin to its own end. */
struct support_history_bind {
    uint64_t offset, size;
    uint64_t begin_ns;
    uint32_t resource, memory;
    uint32_t begin_event;
    uint32_t plane;
    uint32_t next; /* the bind of the same resource before this one, or none */
};

struct support_history_sparse {
    MaarCaptureSparseBind facts;
    uint64_t time_ns;
    uint32_t resource;
    uint32_t memory, submit; /* or none */
};

struct support_history_submit {
    MaarCaptureSubmit facts;
    uint64_t time_ns;
    uint32_t device;
    uint32_t queue;      /* index, or none */
    uint32_t fence;      /* number of the fence, or none */
    uint32_t last_point; /* the newest of its points, or none */
};

struct support_history_point {
    uint64_t semaphore_handle, value;
    uint32_t semaphore; /* index, or none */
    uint32_t submit;
    uint32_t next; /* the point of the same submission before this one, or none */
    bool is_signal;
};

struct support_history_semaphore {
    uint64_t handle, value;
    uint64_t begin_ns, end_ns;
    uint32_t device;
    bool is_timeline;
};

/* The host saw a point in the device's time, or signalled it. */
struct support_history_reached {
    MaarCaptureReached facts;
    uint64_t time_ns;
    uint32_t device;
    uint32_t object; /* index of the semaphore or queue, number of the fence, or none */
};

struct support_history_use {
    MaarCaptureUse facts;
    uint32_t submit, resource; /* indices, never none */
};

struct support_history_budget {
    uint64_t time_ns;
    uint32_t device, heap_count;
    uint64_t budget[MAAR_CAPTURE_MOST_HEAPS], usage[MAAR_CAPTURE_MOST_HEAPS];
};

struct support_history_module {
    uint64_t begin, end;
    uint32_t name;
};

/* An allocation that the driver refused. */
struct support_history_failure {
    uint64_t time_ns, size;
    uint32_t device, type;
    int32_t result;
};

/* What happened, in the order of the capture. */
struct support_history_event {
    uint64_t time_ns; /* never less than that of the event before */
    uint32_t thread;
    uint32_t index; /* of the object that the kind speaks of, in its array, or none */
    uint16_t kind;  /* MaarCaptureKind */
};

/* An array that grows. */
#define SUPPORT_HISTORY_ARRAY(type)                                                                \
    struct {                                                                                       \
        type* items;                                                                               \
        size_t count, capacity;                                                                    \
    }

struct support_history_map; /* live handles */

struct support_history {
    char name[256];               /* of the capture, without folder and extension */
    MaarCaptureHeader header;     /* as it was last read */
    uint64_t last_ns;             /* time of the last entry */
    uint64_t strays;              /* entries about objects that the capture does not know */
    uint64_t unknown;             /* entries of unknown kinds */
    uint64_t unfinished;          /* records that were not finished */
    bool is_truncated;            /* the file breaks off where no writer ends one */
    uint32_t application, engine; /* texts of the first instance */
    uint32_t fence_count;         /* fences have no entries: they count from the first use on */
    SUPPORT_HISTORY_ARRAY(struct support_history_device) devices;
    SUPPORT_HISTORY_ARRAY(struct support_history_memory) memories;
    SUPPORT_HISTORY_ARRAY(struct support_history_resource) resources;
    SUPPORT_HISTORY_ARRAY(MaarCaptureImage) images;
    SUPPORT_HISTORY_ARRAY(struct support_history_bind) binds;
    SUPPORT_HISTORY_ARRAY(struct support_history_sparse) sparse_binds;
    SUPPORT_HISTORY_ARRAY(MaarCaptureStructure) structures;
    SUPPORT_HISTORY_ARRAY(MaarCaptureQueue) queues;
    SUPPORT_HISTORY_ARRAY(struct support_history_submit) submits;
    SUPPORT_HISTORY_ARRAY(struct support_history_point) points;
    SUPPORT_HISTORY_ARRAY(struct support_history_semaphore) semaphores;
    SUPPORT_HISTORY_ARRAY(struct support_history_reached) reached;
    SUPPORT_HISTORY_ARRAY(struct support_history_use) uses;
    SUPPORT_HISTORY_ARRAY(struct support_history_budget) budgets;
    SUPPORT_HISTORY_ARRAY(struct support_history_module) modules;
    SUPPORT_HISTORY_ARRAY(struct support_history_failure) failures;
    SUPPORT_HISTORY_ARRAY(uint32_t) marks; /* texts */
    SUPPORT_HISTORY_ARRAY(struct support_history_event) events;
    SUPPORT_HISTORY_ARRAY(char) texts; /* text 0 is empty */
    struct support_history_map* live;
};

/* Builds the history of a whole capture. On failure the history is empty. */
bool support_history_load(const char* path, struct support_history* history,
                          struct support_error* error);

/* Begins a history, to which a reader adds what it has so far. On failure the history is to be
 * released all the same. */
bool support_history_begin(struct support_history* history, const char* name,
                           struct support_error* error);
/* Adds all entries that the reader has now. */
bool support_history_add(struct support_history* history, struct support_capture_reader* reader,
                         struct support_error* error);

/* Returns what is to be known about how a capture ended, as "the process was killed or still runs",
 * or NULL for a whole one. */
const char* support_history_cut(const struct support_history* history);

/* Frees the contents of a history and empties it. */
void support_history_release(struct support_history* history);

/* Returns a text by its index. Never NULL. */
const char* support_history_text(const struct support_history* history, uint32_t text);

/* Writes what a reader would call a resource: its name, or its kind, extent, format or size, and
 * the code that made it. */
void support_history_label(const struct support_history* history, uint32_t resource, char* label,
                           size_t size);

/* Writes the code that an address belongs to, as "module+0x12", or nothing. */
void support_history_caller(const struct support_history* history, uint64_t caller, char* text,
                            size_t size);

/* The heap of a memory. */
uint32_t support_history_heap(const struct support_history* history, uint32_t memory);

#endif
