/*
 * What threads find wrong: cmocka's assertions belong to the main thread, which looks when they
 * have ended.
 */
#ifndef MAAR_TESTS_STRESS_STORM_ERRORS_H
#define MAAR_TESTS_STRESS_STORM_ERRORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct storm_errors {
    _Atomic uint32_t count;
    _Atomic uint32_t first; /* the line of it */
};

static inline void storm_expect(struct storm_errors* errors, bool condition, uint32_t line)
{
    if (!condition) {
        uint32_t none = 0;
        (void)atomic_fetch_add(&errors->count, 1);
        (void)atomic_compare_exchange_strong(&errors->first, &none, line);
    }
}
/* storm: any structure with errors. */
#define EXPECT(storm, condition) storm_expect(&(storm)->errors, condition, __LINE__)

#endif
