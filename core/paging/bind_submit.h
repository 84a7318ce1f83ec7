/*
 * Submissions of binds by other rooms.
 */
#ifndef MAAR_CORE_PAGING_BIND_SUBMIT_H
#define MAAR_CORE_PAGING_BIND_SUBMIT_H

#include "maar/allocator.h"

/* Does what maarSubmitBinds does. call: the public function, for messages. */
VkResult maar_binds_submit(MaarAllocator allocator, const char* call, uint32_t point_count,
                           const MaarPoint* points, MaarPoint* point);
/* Does what maarDelayBinds does. */
VkResult maar_binds_delay(MaarAllocator allocator, const char* call, uint32_t point_count,
                          const MaarPoint* points);

#endif
