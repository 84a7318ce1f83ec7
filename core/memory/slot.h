/*
 * A slot of the handle table (slot_table.h), and its second record. Fresh memory and cache lines
 * cost more than instructions. So a slot has only what most calls need. What few allocations have
 * is in the second record. The second records of a segment are host memory of their own, whose
 * pages nothing touches before they are needed.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_H
#define MAAR_CORE_MEMORY_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bits.h"
#include "core/port_atomic.h"
#include "core/port_byte.h"
#include "maar/allocator.h"

/* There are eight segments in an octave. Each of the first eight is one run. */
enum {
    MAAR_SLOT_OCTAVE = 8,
    MAAR_SLOT_SEGMENTS = 168,
    MAAR_SLOT_RUN = 64,
    MAAR_SLOT_BIAS = MAAR_SLOT_OCTAVE * MAAR_SLOT_RUN
};

/* The marks of a slot. A thread that has claimed a slot reads them without a lock, while a capture
 * may set its own. */
enum maar_slot_marks {
    MAAR_SLOT_KIND = 3,     /* MaarResourceKind, in two bits */
    MAAR_SLOT_PENDING = 4,  /* freed after points that have not passed */
    MAAR_SLOT_INTERNAL = 8, /* Maar's own, such as a buffer of slices; not a leak */
    MAAR_SLOT_RANGED = 16,  /* what a capture has recorded: see captured_slot.h */
    MAAR_SLOT_HELD = 32,    /* the same */
    MAAR_SLOT_NAMED = 64,   /* struct maar_slot_extra has the name */
    MAAR_SLOT_TAGGED = 128  /* struct maar_slot_extra has user data */
};

/* A slot has 16 bytes: four slots in a cache line. */
struct maar_slot {
    maar_atomic32 key; /* odd: live */
    union {
        uint32_t node;      /* in its block's placement, which has its offset and size */
        uint32_t next_free; /* the next free slot, while this one is free */
    };
    union {
        struct {
            maar_atomic32 block; /* the number of its home: see slot_home.h */
            uint16_t map_count;  /* under the block's map lock */
            maar_atomic8 marks;  /* enum maar_slot_marks; written under the arena's lock alone */
            /* These are written by the maker alone, before the handle is returned. */
            uint8_t can_alias : 1; /* objects of either kind may be bound to it */
            uint8_t fallback : 1;
            uint8_t mapped_for_life : 1;
            uint8_t made_block : 1; /* the block was made for this slot */
            uint8_t exceeded : 1;   /* the allocation exceeded a budget */
            uint8_t stitched : 1;   /* the allocation is made of pages */
            /* an object frees the allocation: one of Maar's, or a movable one, which has a record
             * of it: see slot_record.h */
            uint8_t owned : 1;
            /* the slot may have a range of ordered reuse; set under the arena's lock while the slot
             * is pending */
            uint8_t ordered : 1;
        };
        maar_atomic_pointer object; /* see object_handle.h */
        void* home;                 /* of slices: their buffer */
    };
};

/* What few slots have. This memory is neither written nor read before a slot has it. */
struct maar_slot_extra {
    void* user_data; /* of allocations: only if MAAR_SLOT_TAGGED is set */
    union {
        char* name;                /* only if MAAR_SLOT_NAMED is set */
        maar_atomic32 object_kind; /* see object_handle.h */
        VkDeviceSize slice_size;   /* of slices: as requested; the placed range may be larger */
    };
};

/* What stands before the slots of a segment. It has the size of a slot. */
struct maar_slot_header {
    struct maar_slot_extra* extras; /* the second record of the first slot */
    void* padding;
};

/* Returns whether a slot has any of these marks. */
static inline bool maar_slot_has(const struct maar_slot* slot, uint32_t marks)
{
    return (maar_atomic8_load(&slot->marks) & marks) != 0;
}

/* Sets or clears marks. The arena's lock is held. */
static inline void maar_slot_mark(struct maar_slot* slot, uint32_t marks, bool on)
{
    const uint32_t other = maar_atomic8_load(&slot->marks) & ~marks;
    maar_atomic8_store(&slot->marks, (uint8_t)(on ? other | marks : other));
}

/* Returns the MaarResourceKind of a slot. */
static inline uint32_t maar_slot_kind(const struct maar_slot* slot)
{
    return maar_atomic8_load(&slot->marks) & (uint32_t)MAAR_SLOT_KIND;
}

/* Returns the segment of a slot. With the bias added, segment 8 * k + s begins at (8 + s) << k runs
 * and has 1 << k runs. The highest bit of an index and the three bits below it give the segment's
 * number. index is below 2^30. */
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

/* Returns the place of a slot in its segment. */
static inline uint32_t maar_slot_place(uint32_t index, uint32_t segment)
{
    return (index + MAAR_SLOT_BIAS) & (maar_slot_segment_size(segment) - 1);
}

/* Returns the bytes of a segment. The largest one has 2^26 slots, 1 GiB. */
static inline size_t maar_slot_segment_bytes(uint32_t segment)
{
    return sizeof(struct maar_slot_header) +
           (size_t)maar_slot_segment_size(segment) * sizeof(struct maar_slot);
}

/* Returns what stands before the slots of a segment. */
static inline struct maar_slot_header* maar_slot_header(const struct maar_slot* first)
{
    return (struct maar_slot_header*)(uintptr_t)first - 1;
}

/* Returns the second record of a slot. */
static inline struct maar_slot_extra* maar_slot_extra(const struct maar_slot* slot, uint32_t index)
{
    const uint32_t place = maar_slot_place(index, maar_slot_segment(index));
    return maar_slot_header(slot - place)->extras + place;
}

/* Returns the name of a slot, or NULL. These functions are called under the arena's lock, or before
 * the handle is returned. */
static inline char* maar_slot_name(const struct maar_slot* slot, uint32_t index)
{
    return maar_slot_has(slot, MAAR_SLOT_NAMED) ? maar_slot_extra(slot, index)->name : NULL;
}

/* Sets the name of a slot. Returns the old one. Either may be NULL. */
static inline char* maar_slot_set_name(struct maar_slot* slot, uint32_t index, char* name)
{
    char* old = maar_slot_name(slot, index);
    if (name != NULL) {
        maar_slot_extra(slot, index)->name = name;
    }
    maar_slot_mark(slot, MAAR_SLOT_NAMED, name != NULL);
    return old;
}

static inline void* maar_slot_user_data(const struct maar_slot* slot, uint32_t index)
{
    return maar_slot_has(slot, MAAR_SLOT_TAGGED) ? maar_slot_extra(slot, index)->user_data : NULL;
}

static inline void maar_slot_set_user_data(struct maar_slot* slot, uint32_t index, void* user_data)
{
    maar_slot_mark(slot, MAAR_SLOT_TAGGED, user_data != NULL);
    if (user_data != NULL) {
        maar_slot_extra(slot, index)->user_data = user_data;
    }
}

#endif
