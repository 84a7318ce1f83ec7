/*
 * Included by units with the implementation whose margins are checked: counts assertions that fail.
 * Such a header replaces what VulkanMemoryAllocator includes.
 */
#ifndef MAAR_TESTS_VMA_MARGIN_ASSERTIONS_H
#define MAAR_TESTS_VMA_MARGIN_ASSERTIONS_H

#ifdef __cplusplus
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

extern "C" {
#endif
void same_failed_assertion(void);
#ifdef __cplusplus
}
#endif

#define VMA_DEBUG_MARGIN 16
#define VMA_DEBUG_DETECT_CORRUPTION 1
#define VMA_ASSERT(expression) ((expression) ? (void)0 : same_failed_assertion())

#endif
