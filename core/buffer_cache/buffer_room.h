/*
 * Room in a buffer cache: which items give their pages up, and for which.
 */
#ifndef MAAR_CORE_BUFFER_CACHE_BUFFER_ROOM_H
#define MAAR_CORE_BUFFER_CACHE_BUFFER_ROOM_H

#include "core/buffer_cache/buffer_cache_state.h"

/* What a call wants room for. */
struct maar_room_request {
    uint32_t count;
    const uint32_t* numbers; /* items; those that have pages are passed over */
    bool is_hint; /* evict only what is needed later than the item, of which there is one */
    VkDeviceSize evicted_size; /* out */
    bool is_refused;           /* out: a hint found no room, and nothing was changed */
};

/* Gives pages to items, which are unfilled then. Others make room. Records binds, all of which
 * maar_room_submit submits. On failure the items have no pages; others may have lost theirs. */
VkResult maar_room_make(struct maar_buffer_cache* cache, const char* call,
                        struct maar_room_request* request);
/* Evicts items until the budget is reached, as far as pins allow. */
VkResult maar_room_shrink(struct maar_buffer_cache* cache, const char* call,
                          VkDeviceSize* evicted_size);
/* Gives back the pages of items that are not pinned. On failure nothing has changed. */
VkResult maar_room_give_back(struct maar_buffer_cache* cache, const char* call, uint32_t count,
                             const uint32_t* numbers);
/* Submits the binds that are recorded, if there are any. */
VkResult maar_room_submit(struct maar_buffer_cache* cache, const char* call);

#endif
