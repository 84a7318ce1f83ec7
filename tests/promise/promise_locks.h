/*
 * Proof that no lock of an allocator is held: a second thread calls the allocator from inside the
 * driver, and must come back in time.
 */
#ifndef MAAR_TESTS_PROMISE_PROMISE_LOCKS_H
#define MAAR_TESTS_PROMISE_PROMISE_LOCKS_H

#include "tests/rig/rig.h"

struct lock_prober;

/* NULL when threads cannot be made. The probe visits every pool and its lock, the list of pools,
 * the handle table and the retire queue. */
struct lock_prober* promise_prober_start(struct rig* rig);
/* Called where no lock may be held; false when the other thread did not come back. */
bool promise_probe(struct lock_prober* prober);
uint32_t promise_prober_stop(struct lock_prober* prober);

#endif
