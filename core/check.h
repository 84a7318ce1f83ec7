/*
 * Traps for debug builds. What release builds do about a broken invariant (report, poison) is in
 * core/memory/allocator_state.h, since it needs somebody to report to.
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

/* Debug builds only: O(1) conditions that cannot be false unless Maar itself is wrong. */
#if defined(MAAR_HEAVY_CHECKS)
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

#endif
