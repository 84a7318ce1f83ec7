/*
 * Staging memory in slots of equal size. A slot holds one upload, from when the program may fill it
 * until the device has read it. The caches of tiles and of buffers keep the lists of slots in each
 * state; the free ones are listed here.
 *
 * Slots belong to one caller at a time.
 */
#ifndef MAAR_CORE_STAGING_UPLOAD_SLOTS_H
#define MAAR_CORE_STAGING_UPLOAD_SLOTS_H

#include <stdint.h>

#include "core/memory/allocator_state.h"

/* The end of a list of slots. */
#define MAAR_NO_UPLOAD UINT32_MAX

enum maar_upload_state {
    MAAR_UPLOAD_FREE,
    MAAR_UPLOAD_STARTED,  /* the program fills it */
    MAAR_UPLOAD_RECORDED, /* in a command buffer whose point is not known yet */
    MAAR_UPLOAD_ENDING    /* its point is known */
};

/* The staging memory of one upload, and its state. */
struct maar_upload_slot {
    uint32_t owner;      /* what is uploaded, a number of the cache */
    uint32_t generation; /* from 1 on; an upload's id is this and the slot's index */
    uint32_t next;       /* in the list of its state; uploads that the program fills are in none */
    enum maar_upload_state state;
    VkDeviceSize offset; /* for the cache */
    VkDeviceSize size;   /* for the cache */
    MaarPoint point;
};

struct maar_upload_slots {
    MaarAllocator allocator;
    uint32_t count;
    uint32_t used;
    uint32_t first_free;
    struct maar_upload_slot* slots;
    VkDeviceSize size;   /* bytes of a slot */
    VkDeviceSize stride; /* from one slot to the next */
    VkBuffer buffer;
    MaarAllocation memory;
    uint8_t* data;
};

/* Returns the bytes from one slot to the next for uploads of a size: a multiple of `unit` and of
 * the alignment from which the device copies best. */
VkDeviceSize maar_upload_stride(MaarAllocator allocator, VkDeviceSize size, VkDeviceSize unit);
/* Makes the slots and their buffer. Its allocator, count, size and stride are set. Returns what
 * maar_create_buffer returns, or VK_ERROR_OUT_OF_HOST_MEMORY; the caller calls
 * maar_upload_slots_undo or maar_upload_slots_free after a failure too. */
VkResult maar_upload_slots_create(struct maar_upload_slots* slots, const char* call,
                                  const char* name);
/* Destroys the buffer of a cache whose creation fails. */
void maar_upload_slots_undo(struct maar_upload_slots* slots);
/* Frees the slots, not the buffer. */
void maar_upload_slots_free(struct maar_upload_slots* slots);

/* Takes a free slot, which the program fills. There is one. */
struct maar_upload_slot* maar_upload_start(struct maar_upload_slots* slots, uint32_t owner);
/* Puts a slot at the head of a list. */
void maar_upload_push(struct maar_upload_slots* slots, uint32_t* list,
                      struct maar_upload_slot* slot);
/* Makes a slot free. It is in no list. */
void maar_upload_end(struct maar_upload_slots* slots, struct maar_upload_slot* slot);
/* Returns the slot that an upload names, or NULL unless the program is filling that slot. */
struct maar_upload_slot* maar_upload_find(struct maar_upload_slots* slots, uint64_t id);
/* Moves the i-th of `count` uploads that the program is filling to another state, for each i. ids:
 * the id of the first; stride: bytes from one id to the next. If one of them is stale, reports it
 * and moves none. */
VkResult maar_upload_move(struct maar_upload_slots* slots, const char* call, uint32_t count,
                          const uint64_t* ids, size_t stride, enum maar_upload_state state);
/* Flushes the first bytes of a slot. */
VkResult maar_upload_flush(struct maar_upload_slots* slots, const char* call,
                           const struct maar_upload_slot* slot, VkDeviceSize size);
/* Returns the number of slots of a list, or UINT32_MAX if one of them is in another state. */
uint32_t maar_upload_count(const struct maar_upload_slots* slots, uint32_t first,
                           enum maar_upload_state state);

/* Return the index and the id of a slot, and where its bytes lie. */
static inline uint32_t maar_upload_index(const struct maar_upload_slots* slots,
                                         const struct maar_upload_slot* slot)
{
    return (uint32_t)(slot - slots->slots);
}

static inline uint64_t maar_upload_id(const struct maar_upload_slots* slots,
                                      const struct maar_upload_slot* slot)
{
    return (uint64_t)slot->generation << 32 | maar_upload_index(slots, slot);
}

static inline VkDeviceSize maar_upload_place(const struct maar_upload_slots* slots,
                                             const struct maar_upload_slot* slot)
{
    return maar_upload_index(slots, slot) * slots->stride;
}

/* Returns the id of the i-th upload of an array: see maar_upload_move. */
static inline uint64_t maar_upload_id_at(const uint64_t* ids, size_t stride, uint32_t i)
{
    return *(const uint64_t*)(const void*)((const char*)ids + i * stride);
}

#endif
