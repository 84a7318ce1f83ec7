/*
 * Assertions that work without an allocator, and attributes of functions. core/report.h says what
 * release builds do about a broken invariant.
 */
#ifndef MAAR_CORE_CHECK_H
#define MAAR_CORE_CHECK_H

#if defined(_MSC_VER)
#include <intrin.h>
#define maar_trap() __debugbreak()
#else
#define maar_trap() __builtin_trap()
#endif

/* Inlines a function even where the compiler would not: for a few steps of the common path that
 * cost less than a call. */
#if defined(__GNUC__)
#define MAAR_INLINE static inline __attribute__((always_inline))
#define MAAR_NOINLINE static __attribute__((noinline))
#else
#define MAAR_INLINE static inline
#define MAAR_NOINLINE static
#endif

/* Fetches the cache line of an address that will be written soon. The contents of the line do not
 * matter. */
#if defined(__GNUC__)
#define MAAR_PREFETCH(address) __builtin_prefetch((address), 1)
#else
#define MAAR_PREFETCH(address) ((void)(address))
#endif

/* Debug builds are builds without NDEBUG, and builds with MAAR_HEAVY_CHECKS. */
#if !defined(NDEBUG) || defined(MAAR_HEAVY_CHECKS)
#define MAAR_DEBUG_CHECKS 1
#endif

/* Stops the program in debug builds unless the condition holds. The condition takes O(1) and is
 * false only if Maar itself is wrong. MAAR_ASSERT in core/report.h is the check that release builds
 * keep. */
#if defined(MAAR_DEBUG_CHECKS)
#define MAAR_DEBUG_ASSERT(condition)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            maar_trap();                                                                           \
        }                                                                                          \
    } while (0)
#else
#define MAAR_DEBUG_ASSERT(condition)                                                               \
    do {                                                                                           \
        (void)sizeof(condition);                                                                   \
    } while (0)
#endif

/* Stops the program in builds with MAAR_HEAVY_CHECKS unless the condition holds. The condition may
 * walk a whole structure. */
#if defined(MAAR_HEAVY_CHECKS)
#define MAAR_HEAVY_ASSERT(condition) MAAR_DEBUG_ASSERT(condition)
#else
#define MAAR_HEAVY_ASSERT(condition)                                                               \
    do {                                                                                           \
        (void)sizeof(condition);                                                                   \
    } while (0)
#endif

#endif
