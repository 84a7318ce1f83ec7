/*
 * The handle table: finds the slot of an allocation handle by one indexed load. Slots are in
 * segments that never move. The table grows by an eighth, so little is held ahead of need. slot.h
 * has the slots themselves.
 *
 * A handle contains the key of its slot (slot_key.h). A stale handle is thus detected, and of two
 * threads that free one handle only one succeeds. A slot whose keys are used up, after 2^29 uses or
 * more, is never used again. Owners, such as arenas, take runs of free slots and keep them under
 * their own locks. The table's lock guards the segments and the runs.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_TABLE_H
#define MAAR_CORE_MEMORY_SLOT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/handle.h"
#include "core/memory/slot.h"
#include "core/memory/slot_key.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "maar/allocator.h"

#define MAAR_SLOT_NONE 0xFFFFFFFEu

/* A list of free slots that an owner keeps under a lock of its own. */
struct maar_slot_list {
    uint32_t head;
    uint32_t count;
    struct maar_slot* first; /* the slot of head; NULL until it is looked up */
};

/* The table. Segments are only added while the allocator exists. */
struct maar_slot_table {
    const VkAllocationCallbacks* callbacks;
    uint32_t first_key; /* even, above 0; no other table's, so that foreign handles are detected */
    maar_atomic_pointer segments[MAAR_SLOT_SEGMENTS];
    /* Slots from here on were never used, and their memory is not written yet. */
    maar_atomic32 unused;
    struct maar_mutex lock; /* guards the members below, and writes to the member above */
    uint32_t segment_count;
    uint32_t free_slot; /* the list of slots that owners gave back */
};

/* Initializes a table without segments. Returns false when the system has no room for a mutex. */
bool maar_slots_init(struct maar_slot_table* table, const VkAllocationCallbacks* callbacks,
                     uint32_t first_key, bool synchronized);
/* Returns the first key of the handles of a table, by its serial number. */
static inline uint32_t maar_first_key(uint64_t serial)
{
    /* An odd factor: the keys of 2^29 successive tables differ, and those of a few lie far apart.
     * All are at most 2^30, so that a slot is used 2^29 times at least before it retires. */
    return (((uint32_t)serial * 0x9E3779B1u) & 0x1FFFFFFFu) * 2 + 2;
}
/* Frees the segments and destroys the lock. */
void maar_slots_destroy(struct maar_slot_table* table);

/* Ensures that a list has a slot. Leaves the owner's lock and takes it again when a run must be
 * fetched. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_slots_refill(struct maar_slot_table* table, struct maar_mutex* lock,
                           struct maar_slot_list* list);
/* Gives all slots of a list back to the table. */
void maar_slots_give_back(struct maar_slot_table* table, struct maar_slot_list* list);
/* Gives one run of a long list back for other owners. The owner's lock may be held. */
void maar_slots_spill(struct maar_slot_table* table, struct maar_slot_list* list);

/* Returns the slot of an index that is in use or was given back. */
static inline struct maar_slot* maar_slot_at(const struct maar_slot_table* table, uint32_t index)
{
    const uint32_t segment = maar_slot_segment(index);
    struct maar_slot* slots = maar_atomic_pointer_load(&table->segments[segment]);
    return &slots[maar_slot_place(index, segment)];
}

/* Returns the first slot of a list that is not empty. */
static inline struct maar_slot* maar_slots_first(const struct maar_slot_table* table,
                                                 const struct maar_slot_list* list)
{
    return list->first != NULL ? list->first : maar_slot_at(table, list->head);
}

/* Takes a slot from a list that is not empty and returns its index. */
static inline uint32_t maar_slots_pop(const struct maar_slot_table* table,
                                      struct maar_slot_list* list)
{
    const uint32_t index = list->head;
    list->head = maar_slots_first(table, list)->next_free;
    list->first = NULL;
    --list->count;
    return index;
}

/* Adds a free slot, unless its key has come to the end. Such a slot retires: if its keys began
 * again, stale handles would name new objects. */
static inline void maar_slots_push(struct maar_slot_list* list, struct maar_slot* slot,
                                   uint32_t index)
{
    if (maar_atomic32_load(&slot->key) >= MAAR_SLOT_MOVING) {
        return;
    }
    slot->next_free = list->head;
    list->head = index;
    list->first = slot;
    ++list->count;
}

/* The number of free slots that an owner keeps before it gives a run back. */
enum { MAAR_SPARE_SLOTS = 1024 };

/* Puts a freed slot back into a list. The owner's lock is held. */
static inline void maar_slots_put(struct maar_slot_table* table, struct maar_slot_list* list,
                                  struct maar_slot* slot, uint32_t index)
{
    maar_slots_push(list, slot, index);
    if (list->count > MAAR_SPARE_SLOTS) {
        maar_slots_spill(table, list);
    }
}

/* Returns the bits of a handle. */
static inline uint64_t maar_handle_make(uint32_t index, uint32_t key)
{
    return (uint64_t)key << 32 | ((uint64_t)index + 1);
}

/* Returns the slot that a handle's number names, whatever its key; NULL if that slot was never
 * used.
 */
static inline struct maar_slot* maar_slot_find(const struct maar_slot_table* table, uint64_t handle,
                                               uint32_t* index)
{
    const uint32_t number = (uint32_t)handle - 1u;
    *index = number;
    return number < maar_atomic32_load_acquire(&table->unused) ? maar_slot_at(table, number) : NULL;
}

/* Returns the live slot that a handle names, or NULL. */
static inline struct maar_slot* maar_slot_resolve(const struct maar_slot_table* table,
                                                  uint64_t handle, uint32_t* index)
{
    const uint32_t key = (uint32_t)(handle >> 32);
    struct maar_slot* slot = maar_slot_find(table, handle, index);
    const bool is_live = slot != NULL && (key & 1u) != 0 && maar_key_read(&slot->key) == key;
    return is_live ? slot : NULL;
}

/* Returns the number of a slot, for messages: it searches the segments. */
uint32_t maar_slots_index_of(const struct maar_slot_table* table, const struct maar_slot* slot);
/* Whether a handle that names no live slot may have named one earlier. */
bool maar_slot_was_used(const struct maar_slot_table* table, uint64_t handle);

/* Claims a live slot for one caller alone, which then ends it. Returns false when another thread
 * has claimed it, or when the slot moves: then call maar_slot_claim_moving. */
static inline bool maar_slot_claim(struct maar_slot* slot, uint64_t handle)
{
    return maar_key_claim(&slot->key, (uint32_t)(handle >> 32));
}

/* Claims a live slot, whether it moves or not. */
static inline enum maar_claim maar_slot_claim_moving(struct maar_slot* slot, uint64_t handle)
{
    return maar_key_claim_moving(&slot->key, (uint32_t)(handle >> 32));
}

#endif
