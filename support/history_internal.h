/*
 * What the files of the history share: growing arrays, texts, and the map of live handles.
 */
#ifndef MAAR_SUPPORT_HISTORY_INTERNAL_H
#define MAAR_SUPPORT_HISTORY_INTERNAL_H

#include "history.h"

#include <stdlib.h>

/* No object of a driver has so many bytes: sums of sizes cannot overflow. */
#define HISTORY_MOST_BYTES ((uint64_t)1 << 52)

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

#endif
