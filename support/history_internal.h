/*
 * What the files of the history share: growing arrays, texts, and the map of live handles.
 */
#ifndef MAAR_SUPPORT_HISTORY_INTERNAL_H
#define MAAR_SUPPORT_HISTORY_INTERNAL_H

#include "history.h"

#include <stdlib.h>

/* No object of a driver has so many bytes: sums of sizes cannot overflow. */
#define HISTORY_MOST_BYTES ((uint64_t)1 << 52)

/* Submissions are found by their number, as the map's handle of a kind of their own. */
enum { HISTORY_SUBMISSION = 0x10000 };

/* Makes room for one more item of `size` bytes; at most UINT32_MAX - 1 items. */
bool history_grow(void* items, size_t* count, size_t* capacity, size_t size);

/* Appends a zeroed item and sets `index` to it, or to SUPPORT_HISTORY_NONE without memory. */
#define HISTORY_PUSH(array, index)                                                                 \
    do {                                                                                           \
        (index) = SUPPORT_HISTORY_NONE;                                                            \
        if (history_grow(&(array).items, &(array).count, &(array).capacity,                        \
                         sizeof *(array).items)) {                                                 \
            (index) = (uint32_t)((array).count - 1);                                               \
        }                                                                                          \
    } while (0)

/* Returns the index of a copy of a text; 0 for an empty one, or without memory. */
uint32_t history_add_text(struct support_history* history, const char* text);

struct support_history_map* history_map_create(void);
void history_map_destroy(struct support_history_map* map);
/* Returns what was set, or SUPPORT_HISTORY_NONE. */
uint32_t history_map_find(const struct support_history_map* map, uint32_t device, uint32_t kind,
                          uint64_t handle);
/* Returns false without memory. */
bool history_map_set(struct support_history_map* map, uint32_t device, uint32_t kind,
                     uint64_t handle, uint32_t index);
void history_map_remove(struct support_history_map* map, uint32_t device, uint32_t kind,
                        uint64_t handle);

/* Adds one entry. Returns NULL, or what is wrong with it. */
const char* history_take_entry(struct support_history* history,
                               const struct support_capture_entry* entry);

/* ---- entries ---- */

/* An entry in the work. */
struct history_work {
    struct support_history* history;
    const struct support_capture_entry* entry;
    uint64_t time_ns;
    uint32_t index;  /* of the event */
    uint32_t device; /* index, for kinds whose device must exist */
    bool no_event;
};

/* What any handler may return. */
extern const char history_no_memory[];

/* Reads the structure of an entry, which has all fields of version 1: its handler is called only
 * then. */
void history_take(const struct history_work* work, void* facts, size_t size);

/* Returns the index of the device with a number, or SUPPORT_HISTORY_NONE. */
uint32_t history_find_device(const struct support_history* history, uint32_t number);

/* Returns the index of a live object, or SUPPORT_HISTORY_NONE. */
uint32_t history_find_live(const struct history_work* work, uint32_t device, uint32_t kind,
                           uint64_t handle);

/* Counts an entry about an object that the capture does not know. */
void history_stray(struct history_work* work);

/* Returns the index that the event of this entry will have. */
uint32_t history_event_number(const struct support_history* history);

/* Appends a resource with what all kinds have, and sets work->index. Returns NULL without memory.
 */
struct support_history_resource* history_add_resource(struct history_work* work, uint32_t device,
                                                      enum support_history_kind kind,
                                                      uint32_t object_kind, uint64_t handle);

/* The handlers of entries, by kind; they return NULL, or what is wrong. */
/* history_devices.c */
const char* history_take_instance(struct history_work* work);
const char* history_take_device(struct history_work* work);
const char* history_take_heap(struct history_work* work);
const char* history_take_type(struct history_work* work);
const char* history_take_queue(struct history_work* work);
const char* history_take_device_end(struct history_work* work);
/* history_memory.c */
const char* history_take_memory(struct history_work* work);
const char* history_take_memory_end(struct history_work* work);
const char* history_take_map(struct history_work* work);
const char* history_take_unmap(struct history_work* work);
const char* history_take_priority(struct history_work* work);
/* history_resources.c */
const char* history_take_buffer(struct history_work* work);
const char* history_take_image(struct history_work* work);
const char* history_take_swapchain(struct history_work* work);
const char* history_take_swapchain_image(struct history_work* work);
const char* history_take_other(struct history_work* work);
/* history_binds.c */
const char* history_take_bind(struct history_work* work);
const char* history_take_range(struct history_work* work);
const char* history_take_resource_end(struct history_work* work);
const char* history_take_sparse_bind(struct history_work* work);
const char* history_take_structure(struct history_work* work);
/* history_time.c */
const char* history_take_frame(struct history_work* work);
const char* history_take_submit(struct history_work* work);
const char* history_take_point(struct history_work* work);
const char* history_take_semaphore(struct history_work* work);
const char* history_take_semaphore_end(struct history_work* work);
const char* history_take_reached(struct history_work* work);
const char* history_take_use(struct history_work* work);
const char* history_take_uses(struct history_work* work);
const char* history_take_budget(struct history_work* work);

#endif
