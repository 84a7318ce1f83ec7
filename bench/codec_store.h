/*
 * Copies that go to a file and come back: transfers by a thread beside transfers by the system.
 */
#ifndef MAAR_BENCH_CODEC_STORE_H
#define MAAR_BENCH_CODEC_STORE_H

#include <stdint.h>

/* Writes and reads `size` bytes in copies of 4 MiB, round after round, and prints the medians. */
void bench_codec_store(const char* path, uint64_t size, uint32_t rounds);

#endif
