/*
 * Includes what files outside of core/memory still ask for by this name.
 */
#ifndef MAAR_CORE_MEMORY_MEMORY_INTERNAL_H
#define MAAR_CORE_MEMORY_MEMORY_INTERNAL_H

#include "core/memory/allocate.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/block_growth.h"
#include "core/memory/default_pool.h"
#include "core/memory/export_types.h"
#include "core/memory/foreign_memory.h"
#include "core/memory/leaks.h"
#include "core/memory/mapping.h"
#include "core/memory/peak.h"
#include "core/memory/pool_check.h"
#include "core/memory/pool_create.h"
#include "core/memory/pool_handle.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/memory/stitched_block.h"
#include "maar/share.h"

#endif
