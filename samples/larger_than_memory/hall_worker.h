/*
 * A thread that does the work of a manager: it compresses, and reads and writes the file.
 */
#ifndef MAAR_SAMPLE_HALL_WORKER_H
#define MAAR_SAMPLE_HALL_WORKER_H

#include "maar/residency.h"

struct hall_worker;

/* Starts the thread. Returns NULL on failure. */
struct hall_worker* hall_worker_start(MaarAllocator allocator, MaarResidency residency);
/* Says that there may be work. */
void hall_worker_wake(struct hall_worker* worker);
/* Ends the thread. `worker` may be NULL. */
void hall_worker_stop(struct hall_worker* worker);

#endif
