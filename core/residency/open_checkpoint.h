/*
 * Open checkpoints, for the sources of residents.
 */
#ifndef MAAR_CORE_RESIDENCY_OPEN_CHECKPOINT_H
#define MAAR_CORE_RESIDENCY_OPEN_CHECKPOINT_H

#include <stdbool.h>

#include "maar/checkpoint.h"

/* Returns whether a checkpoint, which may be NULL, has contents of this size under a key. */
bool maar_checkpoint_has(MaarCheckpoint checkpoint, uint64_t key, VkDeviceSize size);

#endif
