/*
 * What a capture records of a submission of binds: the submission, what it waits for and signals,
 * and each bind of an object that the capture knows. For this room alone.
 */
#ifndef MAAR_CORE_PAGING_CAPTURED_BINDS_H
#define MAAR_CORE_PAGING_CAPTURED_BINDS_H

#include "maar/allocator.h"

/* Records the steps of a submission that the driver has accepted. Each step has the values of its
 * semaphores in a VkTimelineSemaphoreSubmitInfo at the head of its chain. Returns at once if no
 * capture goes on. No lock may be held. */
void maar_capture_binds(MaarAllocator allocator, VkQueue queue, uint32_t step_count,
                        const VkBindSparseInfo* steps);

#endif
