/*
 * Lists of uses. layer/layer_use_list.h describes the module.
 *
 * The contents of descriptor sets are known only when the commands are submitted, so a list keeps
 * sets in their place. A use behind a set that discards contents must not move before it, since the
 * set may read them: then the object gets a second item.
 */
#include "layer/layer_use_list.h"

#include <string.h>

#include "core/host_memory.h"
#include "maar/capture_file.h"

enum { LEAST_ITEMS = 16 };

static uint32_t first_slot(const struct layer_use_list* list, uint64_t object, uint8_t kind)
{
    const uint64_t mixed = (object + kind) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32) & (list->slot_count - 1);
}

/* The slot of an object, or the free slot where it belongs. */
static uint32_t* find_slot(const struct layer_use_list* list, uint64_t object, uint8_t kind)
{
    uint32_t at = first_slot(list, object, kind);
    while (list->slots[at] != 0) {
        const struct layer_use* const item = &list->items[list->slots[at] - 1];
        if (item->object == object && item->kind == kind) {
            break;
        }
        at = (at + 1) & (list->slot_count - 1);
    }
    return &list->slots[at];
}

/* Makes room for one more item. The slots are twice the items. */
static bool grow(struct layer_use_list* list)
{
    if (list->count < list->capacity) {
        return true;
    }
    const uint32_t capacity = list->capacity == 0 ? LEAST_ITEMS : list->capacity * 2;
    struct layer_use* const items = maar_host_calloc(NULL, capacity, sizeof *items);
    uint32_t* const slots = maar_host_calloc(NULL, (size_t)capacity * 2, sizeof *slots);
    if (items == NULL || slots == NULL) {
        maar_host_free(NULL, items);
        maar_host_free(NULL, slots);
        return false;
    }
    if (list->count > 0) {
        memcpy(items, list->items, list->count * sizeof *items);
    }
    maar_host_free(NULL, list->items);
    maar_host_free(NULL, list->slots);
    list->items = items;
    list->slots = slots;
    list->capacity = capacity;
    list->slot_count = capacity * 2;
    for (uint32_t i = 0; i < list->count; ++i) {
        *find_slot(list, items[i].object, items[i].kind) = i + 1;
    }
    return true;
}

static void merge(struct layer_use* item, const struct layer_use* use)
{
    item->discarded |= use->discarded & ~item->touched;
    item->touched |= use->touched;
    item->flags |= use->flags;
    item->soft_flags |= use->soft_flags;
}

void maar_layer_use_list_add(struct layer_use_list* list, const struct layer_use* use)
{
    if (use->object == 0 || !grow(list)) {
        return;
    }
    uint32_t* const slot = find_slot(list, use->object, use->kind);
    if (*slot != 0) {
        struct layer_use* const item = &list->items[*slot - 1];
        const bool discards_more = (use->discarded & ~item->touched) != 0;
        if (*slot > list->sets_end || !discards_more) {
            merge(item, use);
            return;
        }
    }
    list->items[list->count++] = *use;
    *slot = list->count;
    if (use->kind == LAYER_USE_SET) {
        list->sets_end = list->count;
    }
}

void maar_layer_use_list_append(struct layer_use_list* list, const struct layer_use_list* other)
{
    for (uint32_t i = 0; i < other->count; ++i) {
        maar_layer_use_list_add(list, &other->items[i]);
    }
}

void maar_layer_use_list_clear(struct layer_use_list* list)
{
    if (list->count > 0) {
        memset(list->slots, 0, list->slot_count * sizeof *list->slots);
    }
    list->count = 0;
    list->sets_end = 0;
}

void maar_layer_use_list_free(struct layer_use_list* list)
{
    maar_host_free(NULL, list->items);
    maar_host_free(NULL, list->slots);
    memset(list, 0, sizeof *list);
}

uint32_t maar_layer_use_flags(const struct layer_use* use)
{
    if (use->parts != 0 && use->discarded == use->parts) {
        return (uint32_t)use->flags | MAAR_CAPTURE_USE_DISCARD_BIT;
    }
    return (uint32_t)(use->flags | use->soft_flags);
}
