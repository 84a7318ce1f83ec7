/*
 * Uploads of a buffer cache: bytes of items go through staging memory, piece by piece.
 */
#ifndef MAAR_CORE_BUFFER_CACHE_BUFFER_UPLOADS_H
#define MAAR_CORE_BUFFER_CACHE_BUFFER_UPLOADS_H

#include "core/buffer_cache/buffer_cache_state.h"

/* Returns the number of uploads that an item takes, without those that it has. */
uint64_t maar_item_upload_count(const struct maar_buffer_cache* cache, uint32_t number);
/* Lists an item that has pages and no contents for uploads, or lists one that waits there already
 * in another queue. */
void maar_uploads_want(struct maar_buffer_cache* cache, uint32_t number,
                       enum maar_item_queue queue);
/* Fills and submits uploads by the program's function: all those of uses, and those of prefetches
 * as far as staging memory is free. may_wait: waits for staging memory. Otherwise the caller has
 * seen that there is enough. On failure the listed items have no contents. */
VkResult maar_uploads_fill(struct maar_buffer_cache* cache, const char* call, bool may_wait);
/* Gives up prefetches that only wait, until at most so many pages are pinned or none is left. */
void maar_uploads_make_room(struct maar_buffer_cache* cache, uint64_t pages);
/* Gives up all uploads that are listed. */
void maar_uploads_give_up(struct maar_buffer_cache* cache);
/* Notes which copies have been executed. */
VkResult maar_uploads_complete(struct maar_buffer_cache* cache);

#endif
