/*
 * The new places of a pass of defragmentation. A program binds objects to them and reads where they
 * are, by a VmaAllocation that lives as long as the pass. A place does not change while it lives.
 */
#ifndef MAAR_VMA_PLACE_H
#define MAAR_VMA_PLACE_H

#include "vma/vma_layer.h"

struct maar_vma_place {
    MaarMoveBatch batch;
    MaarAllocation source;
    VmaAllocationInfo info;
};

static inline void maar_vma_place_info(const struct maar_vma_place* place, VmaAllocationInfo* info)
{
    *info = place->info;
}

#endif
