/*
 * What the calls that bring items into memory have in common.
 */
#ifndef MAAR_CORE_BUFFER_CACHE_BUFFER_USE_H
#define MAAR_CORE_BUFFER_CACHE_BUFFER_USE_H

#include "core/buffer_cache/buffer_cache_state.h"

/* Clears an answer, which may be NULL, and checks its type. */
VkResult maar_use_answer_begin(const struct maar_buffer_cache* cache, const char* call,
                               MaarBufferUseInfo* answer);
/* Notes in an answer how far an item is: what is pending, and the point of its last copy. */
void maar_use_answer_item(const struct maar_buffer_cache* cache, uint32_t number,
                          MaarBufferUseInfo* answer);

#endif
