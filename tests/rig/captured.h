/*
 * What the tests of captures from inside share: a file of the test's own, its history, and checks
 * of the history against itself and against the allocator.
 */
#ifndef MAAR_TESTS_RIG_CAPTURED_H
#define MAAR_TESTS_RIG_CAPTURED_H

#include "support/history.h"
#include "tests/rig/rig.h"

/* A path of a file that does not exist, for this process and number. */
const char* captured_path(uint32_t number, char path[128]);
/* Lets this process write files of so many bytes only, 0 for no limit: a file that may not grow
 * fails as on a full disk. Returns false where that is not possible. */
bool captured_limit_disk(uint64_t most_bytes);
/* Begins a capture into this file, which is removed before. */
VkResult captured_begin(MaarAllocator allocator, const char* path, uint64_t most_bytes);
/* Reads the file and removes it; fails the test if it cannot be read. */
void captured_load(const char* path, struct support_history* history);

/* Fails the test unless the history is whole: complete, nothing unknown, every bind inside memory
 * that lived, and no two resources with the same bytes at a time, unless they may alias. */
void captured_check(const struct support_history* history, bool may_alias);
/* Fails the test unless what is alive at the end of the history is what the allocator has. */
void captured_compare(const struct support_history* history, struct rig* rig);

/* The resource alive at the end with this name, or NULL. */
const struct support_history_resource* captured_find(const struct support_history* history,
                                                     const char* name);
/* How many events of a kind there are. */
uint32_t captured_count(const struct support_history* history, MaarCaptureKind kind);

#endif
