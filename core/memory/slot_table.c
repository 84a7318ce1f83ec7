/*
 * The handle table: see slot_table.h.
 */
#include "core/memory/slot_table.h"

#include <string.h>

#include "core/host_memory.h"

_Static_assert(sizeof(struct maar_slot) == 16, "there is one for each allocation");
_Static_assert(sizeof(struct maar_slot_extra) <= 16, "there may be one for each allocation");
_Static_assert(sizeof(struct maar_slot_header) <= 16, "four slots are in a cache line");

bool maar_slots_init(struct maar_slot_table* table, const VkAllocationCallbacks* callbacks,
                     uint32_t first_key, bool synchronized)
{
    memset(table, 0, sizeof *table);
    table->callbacks = callbacks;
    table->first_key = first_key;
    table->free_slot = MAAR_SLOT_NONE;
    return maar_mutex_init(&table->lock, MAAR_LOCK_SLOTS, synchronized);
}

void maar_slots_destroy(struct maar_slot_table* table)
{
    for (uint32_t i = 0; i < table->segment_count; ++i) {
        struct maar_slot_header* header =
            maar_slot_header(maar_atomic_pointer_load(&table->segments[i]));
        maar_host_free(table->callbacks, header->extras);
        maar_host_free(table->callbacks, header);
    }
    maar_mutex_destroy(&table->lock);
}

/* Writes a run of slots for the first time: they are free, and each is followed by the next. The
 * size of a segment is a multiple of a run, so the run does not lie in two segments. */
static void begin_run(const struct maar_slot_table* table, uint32_t first)
{
    struct maar_slot* slots = maar_slot_at(table, first);
    memset(slots, 0, MAAR_SLOT_RUN * sizeof *slots);
    for (uint32_t i = 0; i < MAAR_SLOT_RUN; ++i) {
        maar_atomic32_store(&slots[i].key, table->first_key);
        slots[i].next_free = first + i + 1;
    }
}

/* Links a run of slots before a list: a run that was given back, or one never used. Returns false
 * when there is none. Called under the lock. */
static bool link_run(struct maar_slot_table* table, struct maar_slot_list* list)
{
    const uint32_t unused = maar_atomic32_load(&table->unused);
    uint32_t head = table->free_slot;
    uint32_t tail = head;
    uint32_t count = 1;
    if (head != MAAR_SLOT_NONE) {
        for (; count < MAAR_SLOT_RUN; ++count) {
            uint32_t next = maar_slot_at(table, tail)->next_free;
            if (next == MAAR_SLOT_NONE) {
                break;
            }
            tail = next;
        }
        table->free_slot = maar_slot_at(table, tail)->next_free;
    } else if (unused < maar_slot_segment_base(table->segment_count)) {
        head = unused;
        tail = head + MAAR_SLOT_RUN - 1;
        count = MAAR_SLOT_RUN;
        begin_run(table, head);
        maar_atomic32_store_release(&table->unused, unused + MAAR_SLOT_RUN);
    } else {
        return false;
    }
    maar_slot_at(table, tail)->next_free = list->head;
    list->head = head;
    list->first = NULL;
    list->count += count;
    return true;
}

/* Adds a segment unless another thread has added it. Returns false when there is no host memory, or
 * no number left. */
static bool add_segment(struct maar_slot_table* table, uint32_t segment)
{
    if (segment >= MAAR_SLOT_SEGMENTS) {
        return false;
    }
    /* The memory is written run by run, so that no call has to touch a whole segment. */
    struct maar_slot_header* header =
        maar_host_alloc(table->callbacks, maar_slot_segment_bytes(segment));
    struct maar_slot_extra* extras =
        header != NULL
            ? maar_host_alloc(table->callbacks, maar_slot_segment_size(segment) * sizeof *extras)
            : NULL;
    if (extras == NULL) {
        maar_host_free(table->callbacks, header);
        return false;
    }
    header->extras = extras;
    maar_mutex_lock(&table->lock);
    if (table->segment_count == segment) {
        maar_atomic_pointer_store(&table->segments[segment], header + 1);
        ++table->segment_count;
        header = NULL;
    }
    maar_mutex_unlock(&table->lock);
    if (header != NULL) {
        maar_host_free(table->callbacks, extras);
    }
    maar_host_free(table->callbacks, header);
    return true;
}

VkResult maar_slots_refill(struct maar_slot_table* table, struct maar_mutex* lock,
                           struct maar_slot_list* list)
{
    while (list->head == MAAR_SLOT_NONE) {
        maar_mutex_lock(&table->lock);
        const bool taken = link_run(table, list);
        const uint32_t segment = table->segment_count;
        maar_mutex_unlock(&table->lock);
        if (taken) {
            return VK_SUCCESS;
        }
        maar_mutex_unlock(lock);
        const bool added = add_segment(table, segment);
        maar_mutex_lock(lock);
        if (!added) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    return VK_SUCCESS;
}

void maar_slots_give_back(struct maar_slot_table* table, struct maar_slot_list* list)
{
    if (list->head == MAAR_SLOT_NONE) {
        return;
    }
    uint32_t last = list->head;
    while (maar_slot_at(table, last)->next_free != MAAR_SLOT_NONE) {
        last = maar_slot_at(table, last)->next_free;
    }
    maar_mutex_lock(&table->lock);
    maar_slot_at(table, last)->next_free = table->free_slot;
    table->free_slot = list->head;
    maar_mutex_unlock(&table->lock);
    list->head = MAAR_SLOT_NONE;
    list->first = NULL;
    list->count = 0;
}

void maar_slots_spill(struct maar_slot_table* table, struct maar_slot_list* list)
{
    const uint32_t head = list->head;
    uint32_t last = head;
    for (uint32_t i = 1; i < MAAR_SLOT_RUN; ++i) {
        last = maar_slot_at(table, last)->next_free;
    }
    struct maar_slot* tail = maar_slot_at(table, last);
    list->head = tail->next_free;
    list->first = NULL;
    list->count -= MAAR_SLOT_RUN;
    maar_mutex_lock(&table->lock);
    tail->next_free = table->free_slot;
    table->free_slot = head;
    maar_mutex_unlock(&table->lock);
}

uint32_t maar_slots_index_of(const struct maar_slot_table* table, const struct maar_slot* slot)
{
    const uintptr_t address = (uintptr_t)slot;
    uint32_t segment = 0;
    uintptr_t place = 0;
    do {
        const void* slots = maar_atomic_pointer_load(&table->segments[segment]);
        place = (address - (uintptr_t)slots) / sizeof *slot;
        ++segment;
    } while (place >= maar_slot_segment_size(segment - 1));
    return maar_slot_segment_base(segment - 1) + (uint32_t)place;
}

bool maar_slot_was_used(const struct maar_slot_table* table, uint64_t handle)
{
    uint32_t number = 0;
    uint32_t key = (uint32_t)(handle >> 32);
    const struct maar_slot* slot = maar_slot_find(table, handle, &number);
    return slot != NULL && (key & 1u) != 0 &&
           key - table->first_key < maar_key_read(&slot->key) - table->first_key;
}
