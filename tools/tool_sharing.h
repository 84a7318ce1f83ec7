/*
 * The part of maar info about sharing.
 */
#ifndef MAAR_TOOLS_TOOL_SHARING_H
#define MAAR_TOOLS_TOOL_SHARING_H

#include <jansson.h>

#include "maar/maar.h"

/* Returns an object with the device's identity and its sharing of buffers, images and
 * semaphores. */
json_t* tool_list_sharing(MaarAllocator allocator);

#endif
