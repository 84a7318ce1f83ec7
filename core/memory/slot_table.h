/*
 * The handle table: allocation handles to slots by one indexed load. Slots live in segments that
 * double in size and never move, so a slot's address is stable.
 *
 * A slot's key counts its uses: odd while an allocation lives in it. A handle carries the key, so a
 * stale one is seen, and of two threads that free one handle only one succeeds. Pools take free
 * slots in runs and keep them under their own lock; the table's lock is for runs alone.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_TABLE_H
#define MAAR_CORE_MEMORY_SLOT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/port_atomic.h"
#include "core/port_thread.h"
#include "maar/allocator.h"

#define MAAR_SLOT_NONE 0xFFFFFFFEu

enum { MAAR_SLOT_SEGMENTS = 22, MAAR_SLOT_FIRST_SEGMENT = 256, MAAR_SLOT_RUN = 64 };

struct maar_block;

struct maar_slot {
    maar_atomic32 key; /* odd: live */
    uint32_t node;     /* in its block's placement */
    struct maar_block* block;
    void* home; /* slices: their buffer */
    VkDeviceSize offset;
    VkDeviceSize size;
    void* user_data;
    char* name;
    uint32_t map_count; /* under the block's map lock */
    uint32_t next_free; /* while it is free */
    uint8_t kind;       /* MaarResourceKind */
    bool fallback;
    bool mapped_for_life;
    bool pending;    /* freed after points that have not passed; under the pool's lock */
    bool made_block; /* its block was made for it */
    bool can_alias;  /* objects of either kind may be bound to it */
    bool exceeded;   /* a budget was exceeded for it */
    bool internal;   /* belongs to Maar itself, such as a buffer of slices: no leak */
};

struct maar_slot_table {
    const VkAllocationCallbacks* callbacks;
    maar_atomic_pointer segments[MAAR_SLOT_SEGMENTS];
    struct maar_mutex lock; /* guards what follows */
    uint32_t segment_count;
    uint32_t unused;    /* slots from here on were never handed out */
    uint32_t free_slot; /* slots given back by pools that are gone */
};

bool maar_slots_init(struct maar_slot_table* table, const VkAllocationCallbacks* callbacks,
                     bool synchronized);
void maar_slots_destroy(struct maar_slot_table* table);

/* Takes up to MAAR_SLOT_RUN free slots as a list through next_free, from *head to *tail; false when
 * host memory is out. No lock may be held. */
bool maar_slots_take_run(struct maar_slot_table* table, uint32_t* head, uint32_t* tail);
/* The free slots that an owner keeps under a lock of its own: takes one, leaving the lock and
 * taking it again when a run must be fetched. VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_slots_take_one(struct maar_slot_table* table, struct maar_mutex* lock,
                             uint32_t* free_list, uint32_t* slot);
/* Gives a list back. */
void maar_slots_give_back(struct maar_slot_table* table, uint32_t head);

static inline uint32_t maar_slot_segment(uint32_t index)
{
    uint32_t scaled = index / MAAR_SLOT_FIRST_SEGMENT + 1;
#if defined(__GNUC__)
    return 31u - (uint32_t)__builtin_clz(scaled);
#else
    uint32_t segment = 0;
    while ((scaled >>= 1) != 0) {
        ++segment;
    }
    return segment;
#endif
}

static inline uint32_t maar_slot_segment_base(uint32_t segment)
{
    return (uint32_t)MAAR_SLOT_FIRST_SEGMENT * ((1u << segment) - 1u);
}

/* index must be one that was handed out. */
static inline struct maar_slot* maar_slot_at(const struct maar_slot_table* table, uint32_t index)
{
    uint32_t segment = maar_slot_segment(index);
    struct maar_slot* slots = maar_atomic_pointer_load(&table->segments[segment]);
    return &slots[index - maar_slot_segment_base(segment)];
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

/* The live slot that a handle names, or NULL when it names none. */
struct maar_slot* maar_slot_resolve(const struct maar_slot_table* table, MaarAllocation allocation,
                                    uint32_t* index);
/* Whether a handle that names no live slot may have named one once. */
bool maar_slot_was_used(const struct maar_slot_table* table, MaarAllocation allocation);
/* Ends a slot's life for one caller alone: false when somebody else was faster. */
bool maar_slot_claim(struct maar_slot* slot, MaarAllocation allocation);

#endif
