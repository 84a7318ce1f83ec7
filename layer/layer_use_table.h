/*
 * A table from 64-bit handles to what the layer keeps of them, for many threads: 16 parts, each
 * with a lock of its own. A value begins with a struct layer_use_link, and the table frees it.
 */
#ifndef MAAR_LAYER_USE_TABLE_H
#define MAAR_LAYER_USE_TABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct layer_use_link {
    uint64_t key;
    struct layer_use_link* next; /* of the same slot */
};

struct layer_use_part {
    pthread_mutex_t lock; /* guards the rest, and the values unless their file says otherwise */
    struct layer_use_link** slots;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
};

enum { LAYER_USE_PARTS = 16 };

struct layer_use_table {
    struct layer_use_part parts[LAYER_USE_PARTS];
    void (*free_value)(void* value); /* frees the value, its link included */
};

void maar_layer_use_table_init(struct layer_use_table* table, void (*free_value)(void* value));
void maar_layer_use_table_clear(struct layer_use_table* table);

/* Adds a value in place of an older one. Frees the value if there is no memory. */
void maar_layer_use_table_add(struct layer_use_table* table, uint64_t key,
                              struct layer_use_link* value);
void maar_layer_use_table_remove(struct layer_use_table* table, uint64_t key);

/* Returns a value, or NULL. The key's part stays locked until the second call, in both cases. */
void* maar_layer_use_table_lock(struct layer_use_table* table, uint64_t key);
void maar_layer_use_table_unlock(struct layer_use_table* table, uint64_t key);

/* Copies the first bytes of a value. Returns false, and zero bytes, if there is none. */
bool maar_layer_use_table_copy(struct layer_use_table* table, uint64_t key, void* out, size_t size);

/* Visits each value with its part locked; removes those for which the function returns true. */
void maar_layer_use_table_filter(struct layer_use_table* table,
                                 bool (*visit)(void* value, const void* context),
                                 const void* context);

#endif
