/*
 * The handle table: allocation handles to slots by one indexed load. Slots live in segments that
 * grow by an eighth of what there is and never move, so a slot's address is stable, and little is
 * held ahead of need.
 *
 * A slot's key counts its uses: odd while an allocation lives in it. A handle carries the key, so a
 * stale one is seen, and of two threads that free one handle only one succeeds. Owners take free
 * slots in runs and keep them under their own lock; the table's lock is for runs alone.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_TABLE_H
#define MAAR_CORE_MEMORY_SLOT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bits.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "maar/allocator.h"

#define MAAR_SLOT_NONE 0xFFFFFFFEu

/* Eight segments an octave; the first eight have a run each. */
enum { MAAR_SLOT_SEGMENTS = 168, MAAR_SLOT_RUN = 64, MAAR_SLOT_BIAS = 8 * MAAR_SLOT_RUN };

/* 48 bytes where pointers have 64 bits: four slots in three cache lines. */
struct maar_slot {
    maar_atomic32 key; /* odd: live */
    union {
        uint32_t node;      /* in its block's placement */
        uint32_t next_free; /* while it is free */
    };
    maar_atomic_pointer block; /* its home: see slot_home.h */
    uint32_t offset_low;       /* see maar_slot_offset and maar_slot_size */
    uint32_t size_low;
    uint16_t offset_high;
    uint16_t size_high;
    uint16_t map_count; /* under the block's map lock */
    /* Written under the arena's lock alone, */
    uint8_t kind : 2;      /* MaarResourceKind */
    uint8_t pending : 1;   /* freed after points that have not passed */
    uint8_t can_alias : 1; /* objects of either kind may be bound to it */
    uint8_t internal : 1;  /* belongs to Maar itself, such as a buffer of slices: no leak */
    uint8_t : 0;
    /* and by its maker alone, before anybody has the handle. */
    uint8_t fallback : 1;
    uint8_t mapped_for_life : 1;
    uint8_t made_block : 1; /* its block was made for it */
    uint8_t exceeded : 1;   /* a budget was exceeded for it */
    uint8_t stitched : 1;   /* made of pages */
    void* user_data;
    union {
        char* name;
        void* home; /* slices: their buffer; pools: the pool */
    };
};

static inline VkDeviceSize maar_slot_offset(const struct maar_slot* slot)
{
    return (VkDeviceSize)slot->offset_high << 32 | slot->offset_low;
}

static inline VkDeviceSize maar_slot_size(const struct maar_slot* slot)
{
    return (VkDeviceSize)slot->size_high << 32 | slot->size_low;
}

/* Both are below 2^48. */
static inline void maar_slot_set_range(struct maar_slot* slot, VkDeviceSize offset,
                                       VkDeviceSize size)
{
    slot->offset_low = (uint32_t)offset;
    slot->offset_high = (uint16_t)(offset >> 32);
    slot->size_low = (uint32_t)size;
    slot->size_high = (uint16_t)(size >> 32);
}

/* A list of free slots that an owner keeps under a lock of its own. */
struct maar_slot_list {
    uint32_t head;
    uint32_t count;
    struct maar_slot* first; /* the slot of head, or NULL while nobody has looked it up */
};

struct maar_slot_table {
    const VkAllocationCallbacks* callbacks;
    uint32_t
        first_key; /* of every slot, even: tables differ in it, so a foreign handle is noticed */
    maar_atomic_pointer segments[MAAR_SLOT_SEGMENTS];
    struct maar_mutex lock; /* guards what follows */
    uint32_t segment_count;
    uint32_t unused;    /* slots from here on were never handed out */
    uint32_t free_slot; /* slots given back by their owners */
};

bool maar_slots_init(struct maar_slot_table* table, const VkAllocationCallbacks* callbacks,
                     uint32_t first_key, bool synchronized);
/* The first key for the handles of the allocator of a serial number. */
static inline uint32_t maar_first_key(uint64_t serial)
{
    /* Twice an odd number: keys of 2^31 allocators that follow each other lie far apart. */
    return (uint32_t)serial * 0x9E3779B2u;
}
void maar_slots_destroy(struct maar_slot_table* table);

/* Sees to it that a list has a slot, leaving the owner's lock and taking it again when a run must
 * be fetched. VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_slots_refill(struct maar_slot_table* table, struct maar_mutex* lock,
                           struct maar_slot_list* list);
/* Gives a whole list back. */
void maar_slots_give_back(struct maar_slot_table* table, struct maar_slot_list* list);
/* Gives one run of a long list back, so that nobody hoards. The owner's lock may be held. */
void maar_slots_spill(struct maar_slot_table* table, struct maar_slot_list* list);

/* With the bias added, segment 8 * k + s begins at (8 + s) << k runs and has 1 << k of them: its
 * number is what the highest bit and the three below it say. index is below 2^30. */
static inline uint32_t maar_slot_segment(uint32_t index)
{
    const uint32_t runs = (index + MAAR_SLOT_BIAS) / MAAR_SLOT_RUN;
    const uint32_t octave = maar_top_bit(runs) - 3;
    return octave * 8 + (runs >> octave) - 8;
}

static inline uint32_t maar_slot_segment_size(uint32_t segment)
{
    return (uint32_t)MAAR_SLOT_RUN << (segment / 8);
}

static inline uint32_t maar_slot_segment_base(uint32_t segment)
{
    return ((8u + segment % 8) << (segment / 8)) * MAAR_SLOT_RUN - MAAR_SLOT_BIAS;
}

/* The place of a slot in its segment. */
static inline uint32_t maar_slot_place(uint32_t index, uint32_t segment)
{
    return (index + MAAR_SLOT_BIAS) & (maar_slot_segment_size(segment) - 1);
}

/* index must be one that was handed out. */
static inline struct maar_slot* maar_slot_at(const struct maar_slot_table* table, uint32_t index)
{
    const uint32_t segment = maar_slot_segment(index);
    struct maar_slot* slots = maar_atomic_pointer_load(&table->segments[segment]);
    return &slots[maar_slot_place(index, segment)];
}

/* The first slot of a list that has one. */
static inline struct maar_slot* maar_slots_first(const struct maar_slot_table* table,
                                                 const struct maar_slot_list* list)
{
    return list->first != NULL ? list->first : maar_slot_at(table, list->head);
}

/* Takes a slot from a list that has one. */
static inline uint32_t maar_slots_pop(const struct maar_slot_table* table,
                                      struct maar_slot_list* list)
{
    const uint32_t index = list->head;
    list->head = maar_slots_first(table, list)->next_free;
    list->first = NULL;
    --list->count;
    return index;
}

static inline void maar_slots_push(struct maar_slot_list* list, struct maar_slot* slot,
                                   uint32_t index)
{
    slot->next_free = list->head;
    list->head = index;
    list->first = slot;
    ++list->count;
}

/* Free slots that an owner keeps before it gives a run back. */
enum { MAAR_SPARE_SLOTS = 1024 };

/* Puts a slot back that has been freed. The owner's lock is held. */
static inline void maar_slots_put(struct maar_slot_table* table, struct maar_slot_list* list,
                                  struct maar_slot* slot, uint32_t index)
{
    maar_slots_push(list, slot, index);
    if (list->count > MAAR_SPARE_SLOTS) {
        maar_slots_spill(table, list);
    }
}

static inline uint64_t maar_handle_bits(MaarAllocation allocation)
{
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
    return (uint64_t)(uintptr_t)allocation;
#else
    return (uint64_t)allocation;
#endif
}

static inline MaarAllocation maar_handle_make(uint32_t index, uint32_t key)
{
    uint64_t bits = ((uint64_t)key << 32) | ((uint64_t)index + 1);
#if defined(VK_USE_64_BIT_PTR_DEFINES) && VK_USE_64_BIT_PTR_DEFINES == 1
    return (MaarAllocation)(uintptr_t)bits;
#else
    return (MaarAllocation)bits;
#endif
}

/* The slot that a handle's number names, whatever its key; NULL when no segment holds it. */
static inline struct maar_slot* maar_slot_find(const struct maar_slot_table* table,
                                               MaarAllocation allocation, uint32_t* index)
{
    const uint32_t number = (uint32_t)maar_handle_bits(allocation) - 1u;
    if (number >= maar_slot_segment_base(MAAR_SLOT_SEGMENTS)) {
        return NULL;
    }
    const uint32_t segment = maar_slot_segment(number);
    struct maar_slot* slots = maar_atomic_pointer_load(&table->segments[segment]);
    *index = number;
    return slots != NULL ? &slots[maar_slot_place(number, segment)] : NULL;
}

/* The live slot that a handle names, or NULL when it names none. */
static inline struct maar_slot* maar_slot_resolve(const struct maar_slot_table* table,
                                                  MaarAllocation allocation, uint32_t* index)
{
    const uint32_t key = (uint32_t)(maar_handle_bits(allocation) >> 32);
    struct maar_slot* slot = maar_slot_find(table, allocation, index);
    const bool is_live =
        slot != NULL && (key & 1u) != 0 && maar_atomic32_load_acquire(&slot->key) == key;
    return is_live ? slot : NULL;
}

/* Whether a handle that names no live slot may have named one once. */
bool maar_slot_was_used(const struct maar_slot_table* table, MaarAllocation allocation);

/* Ends a slot's life for one caller alone: false when somebody else was faster. */
static inline bool maar_slot_claim(struct maar_slot* slot, MaarAllocation allocation)
{
    uint32_t key = (uint32_t)(maar_handle_bits(allocation) >> 32);
    return atomic_compare_exchange_strong_explicit(&slot->key.value, &key, key + 1u,
                                                   memory_order_acq_rel, memory_order_acquire);
}

#endif
