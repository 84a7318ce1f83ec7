/*
 * Hash tables with chains. layer/layer_use_table.h describes the module.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "layer/layer_use_table.h"

#include <string.h>

#include "core/host_memory.h"

enum { LEAST_SLOTS = 16 };

static uint64_t mix(uint64_t key)
{
    return (key ^ key >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

static struct layer_use_part* part_of(struct layer_use_table* table, uint64_t key)
{
    return &table->parts[mix(key) >> 60];
}

/* The place of the pointer to a key's value, or of the NULL behind the last one. The part has
 * slots. */
static struct layer_use_link** find_place(const struct layer_use_part* part, uint64_t key)
{
    struct layer_use_link** place = &part->slots[(mix(key) >> 20) & (part->slot_count - 1)];
    while (*place != NULL && (*place)->key != key) {
        place = &(*place)->next;
    }
    return place;
}

void maar_layer_use_table_init(struct layer_use_table* table, void (*free_value)(void* value))
{
    memset(table, 0, sizeof *table);
    for (size_t i = 0; i < LAYER_USE_PARTS; ++i) {
        (void)pthread_mutex_init(&table->parts[i].lock, NULL);
    }
    table->free_value = free_value;
}

static bool takes_all(void* value, const void* context)
{
    (void)value;
    (void)context;
    return true;
}

void maar_layer_use_table_clear(struct layer_use_table* table)
{
    maar_layer_use_table_filter(table, takes_all, NULL);
    for (size_t i = 0; i < LAYER_USE_PARTS; ++i) {
        maar_host_free(NULL, table->parts[i].slots);
        (void)pthread_mutex_destroy(&table->parts[i].lock);
    }
    memset(table, 0, sizeof *table);
}

/* Makes room for one more value. */
static bool grow(struct layer_use_part* part)
{
    if (part->count < part->slot_count) {
        return true;
    }
    struct layer_use_part larger = {.slot_count =
                                        part->slot_count == 0 ? LEAST_SLOTS : part->slot_count * 2};
    larger.slots = maar_host_calloc(NULL, larger.slot_count, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return part->slot_count > 0; /* longer chains do, too */
    }
    for (size_t i = 0; i < part->slot_count; ++i) {
        for (struct layer_use_link* link = part->slots[i]; link != NULL;) {
            struct layer_use_link* const next = link->next;
            link->next = NULL;
            *find_place(&larger, link->key) = link;
            link = next;
        }
    }
    maar_host_free(NULL, part->slots);
    part->slots = larger.slots;
    part->slot_count = larger.slot_count;
    return true;
}

void maar_layer_use_table_add(struct layer_use_table* table, uint64_t key,
                              struct layer_use_link* value)
{
    struct layer_use_part* const part = part_of(table, key);
    struct layer_use_link* leaving = value;
    value->key = key;
    value->next = NULL;
    (void)pthread_mutex_lock(&part->lock);
    if (grow(part)) {
        struct layer_use_link** const place = find_place(part, key);
        leaving = *place;
        value->next = leaving != NULL ? leaving->next : NULL;
        part->count += leaving == NULL ? 1 : 0;
        *place = value;
    }
    (void)pthread_mutex_unlock(&part->lock);
    if (leaving != NULL) {
        table->free_value(leaving);
    }
}

void maar_layer_use_table_remove(struct layer_use_table* table, uint64_t key)
{
    struct layer_use_part* const part = part_of(table, key);
    struct layer_use_link* leaving = NULL;
    (void)pthread_mutex_lock(&part->lock);
    if (part->slot_count > 0) {
        struct layer_use_link** const place = find_place(part, key);
        leaving = *place;
        if (leaving != NULL) {
            *place = leaving->next;
            part->count -= 1;
        }
    }
    (void)pthread_mutex_unlock(&part->lock);
    if (leaving != NULL) {
        table->free_value(leaving);
    }
}

void* maar_layer_use_table_lock(struct layer_use_table* table, uint64_t key)
{
    struct layer_use_part* const part = part_of(table, key);
    (void)pthread_mutex_lock(&part->lock);
    return part->slot_count > 0 ? *find_place(part, key) : NULL;
}

void maar_layer_use_table_unlock(struct layer_use_table* table, uint64_t key)
{
    (void)pthread_mutex_unlock(&part_of(table, key)->lock);
}

bool maar_layer_use_table_copy(struct layer_use_table* table, uint64_t key, void* out, size_t size)
{
    const void* const value = maar_layer_use_table_lock(table, key);
    memset(out, 0, size);
    if (value != NULL) {
        memcpy(out, value, size);
    }
    maar_layer_use_table_unlock(table, key);
    return value != NULL;
}

void maar_layer_use_table_filter(struct layer_use_table* table,
                                 bool (*visit)(void* value, const void* context),
                                 const void* context)
{
    for (size_t i = 0; i < LAYER_USE_PARTS; ++i) {
        struct layer_use_part* const part = &table->parts[i];
        (void)pthread_mutex_lock(&part->lock);
        for (size_t slot = 0; slot < part->slot_count; ++slot) {
            struct layer_use_link** place = &part->slots[slot];
            while (*place != NULL) {
                struct layer_use_link* const link = *place;
                if (visit(link, context)) {
                    *place = link->next;
                    part->count -= 1;
                    table->free_value(link);
                } else {
                    place = &link->next;
                }
            }
        }
        (void)pthread_mutex_unlock(&part->lock);
    }
}
