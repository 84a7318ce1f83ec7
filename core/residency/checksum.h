/*
 * The checksum of what leaves memory: XXH64, with seed 0.
 */
#ifndef MAAR_CORE_RESIDENCY_CHECKSUM_H
#define MAAR_CORE_RESIDENCY_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of bytes. It is the same on every machine. */
uint64_t maar_checksum(const void* bytes, size_t size);

#endif
