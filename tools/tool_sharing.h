/*
 * What maar info says about sharing.
 */
#ifndef MAAR_TOOLS_TOOL_SHARING_H
#define MAAR_TOOLS_TOOL_SHARING_H

#include <jansson.h>

#include "maar/maar.h"

/* An object of keys and values: identity, and how buffers, images and semaphores can be shared. */
json_t* tool_list_sharing(MaarAllocator allocator);

#endif
