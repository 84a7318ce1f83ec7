/*
 * The number of VkDeviceMemory objects, and the limit of it.
 *
 * The limit is the device's maxMemoryAllocationCount. With
 * MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT there is none until the driver refuses an
 * object. The number of objects at that moment is then the limit: the learned limit. It is not
 * enforced any more when less than three quarters of it exist, since the objects of other users of
 * the device, which count too, may be gone. The driver is then asked again.
 */
#ifndef MAAR_CORE_MEMORY_OBJECT_COUNT_H
#define MAAR_CORE_MEMORY_OBJECT_COUNT_H

#include "core/port_atomic.h"
#include "maar/allocator.h"

struct maar_object_count {
    maar_atomic64 count;     /* raised before vkAllocateMemory */
    maar_atomic64 learned;   /* the learned limit; 0: the driver has refused nothing */
    maar_atomic32 enforced;  /* 1: the learned limit is enforced */
    maar_atomic32 is_warned; /* 1: the program was warned */
};

/* Adds one object. Returns false, and adds nothing, if the limit is reached. */
bool maar_object_count_add(MaarAllocator allocator);
void maar_object_count_subtract(MaarAllocator allocator);
/* Notes the driver's answer to a vkAllocateMemory. After a failure the object is subtracted before
 * this call. May call the program's message callback: no lock may be held. */
void maar_object_count_note(MaarAllocator allocator, VkResult result);
/* Returns the number of objects. */
uint32_t maar_object_count(MaarAllocator allocator);
/* Returns the limit that is enforced; UINT32_MAX if none is. */
uint32_t maar_object_count_limit(MaarAllocator allocator);
/* Whether at least three quarters of the known limit exist, whether it is enforced or not. An
 * allocation is then dedicated only if its request requires that. */
bool maar_object_count_is_high(MaarAllocator allocator);

#endif
