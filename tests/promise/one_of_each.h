/*
 * One object of each kind on a simulated device that has paging.
 */
#ifndef MAAR_TESTS_PROMISE_ONE_OF_EACH_H
#define MAAR_TESTS_PROMISE_ONE_OF_EACH_H

#include "tests/rig/rig.h"

struct one_of_each {
    struct rig* rig;
    MaarAllocation memory;
    VkBuffer buffer;
    MaarAllocation buffer_memory;
    VkImage image;
    MaarAllocation image_memory;
    MaarSlice slice;
    MaarTransientHeap heap;
    MaarReservation reservation; /* two pages are bound */
    MaarArray array;
    MaarSparseImage sparse_image;
};

/* Without timelines there are no reservations, arrays and sparse images: these are null. */
void one_of_each_make(struct one_of_each* it, VkFlags off, MaarSimulatedFlags flags);
/* Destroys what is not null, and closes the rig. */
void one_of_each_end(struct one_of_each* it);
/* A heap of one buffer. */
VkResult one_of_each_heap(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                          MaarTransientHeap* heap);
/* Another size of that buffer. */
VkResult one_of_each_update(struct one_of_each* it, MaarTransientHeap heap, VkDeviceSize size,
                            uint32_t point_count, const MaarPoint* points);

#endif
