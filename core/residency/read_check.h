/*
 * Debugging: whether uses that have declared to read a resident have written to it. The contents of
 * an object that leaves the device without a copy are compared with those that came to it: with the
 * host's copy, or with its checksum if that copy has ended.
 */
#ifndef MAAR_CORE_RESIDENCY_READ_CHECK_H
#define MAAR_CORE_RESIDENCY_READ_CHECK_H

#include "core/residency/residency_state.h"

/* Compares, before the device's object ends. Waits for the uses and a copy. Reports a resident that
 * was written, once. */
void maar_reads_check(struct maar_residency* it, const char* call, struct maar_resident* resident);
/* Keeps the checksum of a host object that ends while the device has the contents. */
void maar_reads_note(struct maar_residency* it, struct maar_resident* resident);

#endif
