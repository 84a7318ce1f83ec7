/*
 * Assertions that need nobody to report to, and attributes of functions. What
 * release builds do about a broken invariant (report, poison) is in core/report.h.
 */
#ifndef MAAR_CORE_CHECK_H
#define MAAR_CORE_CHECK_H

#if defined(_MSC_VER)
#include <intrin.h>
#define maar_trap() __debugbreak()
#else
#define maar_trap() __builtin_trap()
#endif

/* For the few steps of the common path whose call would cost more than they do. */
#if defined(__GNUC__)
#define MAAR_INLINE static inline __attribute__((always_inline))
#define MAAR_NOINLINE static __attribute__((noinline))
#else
#define MAAR_INLINE static inline
#define MAAR_NOINLINE static
#endif

/* Says that an address will be written soon; what lies there does not matter. */
#if defined(__GNUC__)
#define MAAR_PREFETCH(address) __builtin_prefetch((address), 1)
#else
#define MAAR_PREFETCH(address) ((void)(address))
#endif

/* Debug builds are those without NDEBUG, and those that walk every structure. */
#if !defined(NDEBUG) || defined(MAAR_HEAVY_CHECKS)
#define MAAR_DEBUG_CHECKS 1
#endif

/* Debug builds: traps unless an O(1) condition holds that is false only if Maar itself is wrong.
 * MAAR_ASSERT in core/report.h is the check that release builds keep. */
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

/* Builds with MAAR_HEAVY_CHECKS: traps unless a condition holds that walks a whole structure. */
#if defined(MAAR_HEAVY_CHECKS)
#define MAAR_HEAVY_ASSERT(condition) MAAR_DEBUG_ASSERT(condition)
#else
#define MAAR_HEAVY_ASSERT(condition)                                                               \
    do {                                                                                           \
        (void)sizeof(condition);                                                                   \
    } while (0)
#endif

#endif
