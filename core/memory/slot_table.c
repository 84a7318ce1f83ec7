/*
 * The handle table.
 */
#include "core/memory/slot_table.h"

#include <string.h>

#include "core/host_memory.h"

bool maar_slots_init(struct maar_slot_table* table, const VkAllocationCallbacks* callbacks,
                     bool synchronized)
{
    memset(table, 0, sizeof *table);
    table->callbacks = callbacks;
    table->free_slot = MAAR_SLOT_NONE;
    return maar_mutex_init(&table->lock, MAAR_LOCK_SLOTS, synchronized);
}

void maar_slots_destroy(struct maar_slot_table* table)
{
    for (uint32_t i = 0; i < table->segment_count; ++i) {
        maar_host_free(table->callbacks, maar_atomic_pointer_load(&table->segments[i]));
    }
    maar_mutex_destroy(&table->lock);
}

/* Under the lock: links up to a run of slots, from those given back or never used; false when there
 * are none. */
static bool link_run(struct maar_slot_table* table, uint32_t* head, uint32_t* tail)
{
    if (table->free_slot != MAAR_SLOT_NONE) {
        *head = table->free_slot;
        *tail = *head;
        for (uint32_t count = 1; count < MAAR_SLOT_RUN; ++count) {
            uint32_t next = maar_slot_at(table, *tail)->next_free;
            if (next == MAAR_SLOT_NONE) {
                break;
            }
            *tail = next;
        }
        table->free_slot = maar_slot_at(table, *tail)->next_free;
    } else if (table->unused < maar_slot_segment_base(table->segment_count)) {
        /* Segments are multiples of a run, so a fresh run never straddles two. */
        *head = table->unused;
        *tail = table->unused + MAAR_SLOT_RUN - 1;
        for (uint32_t slot = *head; slot < *tail; ++slot) {
            maar_slot_at(table, slot)->next_free = slot + 1;
        }
        table->unused += MAAR_SLOT_RUN;
    } else {
        return false;
    }
    maar_slot_at(table, *tail)->next_free = MAAR_SLOT_NONE;
    return true;
}

bool maar_slots_take_run(struct maar_slot_table* table, uint32_t* head, uint32_t* tail)
{
    for (;;) {
        maar_mutex_lock(&table->lock);
        bool taken = link_run(table, head, tail);
        uint32_t segment = table->segment_count;
        maar_mutex_unlock(&table->lock);
        if (taken || segment == MAAR_SLOT_SEGMENTS) {
            return taken;
        }
        size_t slot_count = (size_t)MAAR_SLOT_FIRST_SEGMENT << segment;
        struct maar_slot* slots =
            maar_host_calloc(table->callbacks, slot_count, sizeof(struct maar_slot));
        if (slots == NULL) {
            return false;
        }
        maar_mutex_lock(&table->lock);
        if (table->segment_count == segment) {
            maar_atomic_pointer_store(&table->segments[segment], slots);
            ++table->segment_count;
            slots = NULL;
        }
        maar_mutex_unlock(&table->lock);
        maar_host_free(table->callbacks, slots); /* another thread was faster */
    }
}

VkResult maar_slots_take_one(struct maar_slot_table* table, struct maar_mutex* lock,
                             uint32_t* free_list, uint32_t* slot)
{
    while (*free_list == MAAR_SLOT_NONE) {
        uint32_t head = MAAR_SLOT_NONE;
        uint32_t tail = MAAR_SLOT_NONE;
        maar_mutex_unlock(lock);
        bool taken = maar_slots_take_run(table, &head, &tail);
        maar_mutex_lock(lock);
        if (!taken) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        maar_slot_at(table, tail)->next_free = *free_list;
        *free_list = head;
    }
    *slot = *free_list;
    *free_list = maar_slot_at(table, *slot)->next_free;
    return VK_SUCCESS;
}

void maar_slots_give_back(struct maar_slot_table* table, uint32_t head)
{
    if (head == MAAR_SLOT_NONE) {
        return;
    }
    uint32_t last = head;
    while (maar_slot_at(table, last)->next_free != MAAR_SLOT_NONE) {
        last = maar_slot_at(table, last)->next_free;
    }
    maar_mutex_lock(&table->lock);
    maar_slot_at(table, last)->next_free = table->free_slot;
    table->free_slot = head;
    maar_mutex_unlock(&table->lock);
}

/* The slot that a handle's number names, whatever its key; NULL when no segment holds it. */
static struct maar_slot* find_slot(const struct maar_slot_table* table, MaarAllocation allocation,
                                   uint32_t* index)
{
    uint32_t number = (uint32_t)maar_handle_bits(allocation) - 1u;
    if (number >= maar_slot_segment_base(MAAR_SLOT_SEGMENTS)) {
        return NULL;
    }
    uint32_t segment = maar_slot_segment(number);
    struct maar_slot* slots = maar_atomic_pointer_load(&table->segments[segment]);
    *index = number;
    return slots != NULL ? &slots[number - maar_slot_segment_base(segment)] : NULL;
}

struct maar_slot* maar_slot_resolve(const struct maar_slot_table* table, MaarAllocation allocation,
                                    uint32_t* index)
{
    uint32_t number = 0;
    uint32_t key = (uint32_t)(maar_handle_bits(allocation) >> 32);
    struct maar_slot* slot = find_slot(table, allocation, &number);
    if (slot == NULL || (key & 1u) == 0 || maar_atomic32_load_acquire(&slot->key) != key) {
        return NULL;
    }
    if (index != NULL) {
        *index = number;
    }
    return slot;
}

bool maar_slot_was_used(const struct maar_slot_table* table, MaarAllocation allocation)
{
    uint32_t number = 0;
    uint32_t key = (uint32_t)(maar_handle_bits(allocation) >> 32);
    const struct maar_slot* slot = find_slot(table, allocation, &number);
    return slot != NULL && (key & 1u) != 0 && key < maar_atomic32_load_acquire(&slot->key);
}

bool maar_slot_claim(struct maar_slot* slot, MaarAllocation allocation)
{
    uint32_t key = (uint32_t)(maar_handle_bits(allocation) >> 32);
    return atomic_compare_exchange_strong_explicit(&slot->key.value, &key, key + 1u,
                                                   memory_order_acq_rel, memory_order_acquire);
}
