/*
 * The map from live handles to indices: open addressing with linear probing (Knuth, The Art of
 * Computer Programming, volume 3, 6.4, algorithms L and R). A removal moves later items back, so no
 * marks of removed items remain.
 */
#include "support/history_internal.h"

struct history_item {
    uint64_t handle;
    uint32_t device;
    uint32_t kind;
    uint32_t index;
    uint32_t used;
};

struct support_history_map {
    struct history_item* items;
    size_t capacity; /* a power of two */
    size_t count;
};

enum { MAP_FIRST_CAPACITY = 1024 };

struct support_history_map* history_map_create(void)
{
    struct support_history_map* map = calloc(1, sizeof *map);
    if (map != NULL) {
        map->capacity = MAP_FIRST_CAPACITY;
        map->items = calloc(map->capacity, sizeof *map->items);
        if (map->items == NULL) {
            free(map);
            map = NULL;
        }
    }
    return map;
}

void history_map_destroy(struct support_history_map* map)
{
    if (map != NULL) {
        free(map->items);
        free(map);
    }
}

static size_t home_of(const struct support_history_map* map, uint32_t device, uint32_t kind,
                      uint64_t handle)
{
    uint64_t hash = (handle ^ ((uint64_t)device << 40) ^ ((uint64_t)kind << 56)) + 1;
    /* The finisher of SplitMix64 (Steele, Lea, Flood 2014). */
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
    return (size_t)(hash ^ (hash >> 31)) & (map->capacity - 1);
}

/* Returns the place of a key, or the free place where it would stand. */
static struct history_item* place_of(const struct support_history_map* map, uint32_t device,
                                     uint32_t kind, uint64_t handle)
{
    size_t at = home_of(map, device, kind, handle);
    for (;;) {
        struct history_item* const item = &map->items[at];
        if (item->used == 0 ||
            (item->handle == handle && item->device == device && item->kind == kind)) {
            return item;
        }
        at = (at + 1) & (map->capacity - 1);
    }
}

uint32_t history_map_find(const struct support_history_map* map, uint32_t device, uint32_t kind,
                          uint64_t handle)
{
    const struct history_item* const item = place_of(map, device, kind, handle);
    return item->used != 0 ? item->index : SUPPORT_HISTORY_NONE;
}

static bool double_map(struct support_history_map* map)
{
    struct support_history_map larger = {.capacity = map->capacity * 2, .count = map->count};
    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (larger.items == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; ++i) {
        const struct history_item* const item = &map->items[i];
        if (item->used != 0) {
            *place_of(&larger, item->device, item->kind, item->handle) = *item;
        }
    }
    free(map->items);
    *map = larger;
    return true;
}

bool history_map_set(struct support_history_map* map, uint32_t device, uint32_t kind,
                     uint64_t handle, uint32_t index)
{
    if (map->count * 2 >= map->capacity && !double_map(map)) {
        return false;
    }
    struct history_item* const item = place_of(map, device, kind, handle);
    map->count += item->used == 0 ? 1 : 0;
    *item = (struct history_item){
        .handle = handle, .device = device, .kind = kind, .index = index, .used = 1};
    return true;
}

void history_map_remove(struct support_history_map* map, uint32_t device, uint32_t kind,
                        uint64_t handle)
{
    struct history_item* const found = place_of(map, device, kind, handle);
    if (found->used == 0) {
        return;
    }
    const size_t mask = map->capacity - 1;
    size_t hole = (size_t)(found - map->items);
    map->items[hole].used = 0;
    map->count -= 1;
    for (size_t at = (hole + 1) & mask; map->items[at].used != 0; at = (at + 1) & mask) {
        const struct history_item* const item = &map->items[at];
        const size_t home = home_of(map, item->device, item->kind, item->handle);
        /* An item may move to the hole if that is not before its home. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->items[hole] = *item;
            map->items[at].used = 0;
            hole = at;
        }
    }
}
