/*
 * The heavy check of buffer caches.
 */
#ifndef MAAR_CORE_BUFFER_CACHE_BUFFER_CACHE_CHECK_H
#define MAAR_CORE_BUFFER_CACHE_BUFFER_CACHE_CHECK_H

#include "core/buffer_cache/buffer_cache_state.h"

/* Returns the first broken invariant of a cache, or NULL. */
const char* maar_buffer_cache_check(const struct maar_buffer_cache* cache);

#endif
