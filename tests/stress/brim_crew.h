/*
 * What the tests at the brim share: threads that allocate as much as a model says there is room
 * for, beside threads that only collect, only wait, only trim or only look. A clock that main moves
 * stands in for the device.
 */
#ifndef MAAR_TESTS_STRESS_BRIM_CREW_H
#define MAAR_TESTS_STRESS_BRIM_CREW_H

#include "tests/rig/rig.h"

#include <pthread.h>

enum { BRIM_IDLERS = 5, BRIM_MOST_WORKERS = 16 };

/* The next value that the clock will reach, with the words that must be untouched until then. */
struct brim_crew {
    struct rig rig;
    VkSemaphore timeline;
    _Atomic uint64_t begun;  /* the value that the clock may have reached */
    _Atomic uint64_t passed; /* the value that the clock has reached */
    _Atomic uint32_t errors;
    _Atomic(const char*) first_error;
    _Atomic uint32_t observed; /* calls of the observer */
    _Atomic uint32_t late;     /* requests that failed after their whole patience */
    _Atomic uint32_t working;
    _Atomic uint64_t turns[BRIM_IDLERS];
    _Atomic uint64_t made;
    uint32_t worker_count;
    uint32_t rounds;
    void (*before_tick)(struct brim_crew* crew, uint64_t value); /* NULL: the clock stands still */
    void* data;
};

struct brim_worker {
    struct brim_crew* crew;
    uint32_t number;
    struct rig_random random;
};

/* cmocka's assertions belong to the main thread. Keeps the first reason. */
void brim_expect(struct brim_crew* crew, bool condition, const char* reason);

/* A request for which there is room succeeds. It may fail only after it has waited for a second for
 * the other threads, as is promised, which happens where threads hardly run: such requests are
 * counted and printed. began_ns: when it began, by brim_now_ns. */
void brim_expect_room(struct brim_crew* crew, uint64_t began_ns, VkResult result,
                      const char* reason);
uint64_t brim_now_ns(void);

/* The number of threads that allocate, and of their rounds: MAAR_STRESS_THREADS (3, at most 16) and
 * MAAR_STRESS_ROUNDS. */
uint32_t brim_worker_count(void);
uint32_t brim_rounds(uint32_t preset);

/* Opens a device and prepares the allocator's create info, with an observer that counts its calls
 * and makes no room. */
void brim_open(struct brim_crew* crew, uint32_t rounds);
/* Makes the allocator, if the caller has not, and the timeline, of which a value has passed. */
void brim_begin(struct brim_crew* crew);
/* Runs the threads to their end. Then nothing may have gone wrong. */
void brim_run(struct brim_crew* crew, void (*work)(struct brim_worker* worker));
/* Everything has passed; nothing may be left. */
void brim_end(struct brim_crew* crew);

/* All of it, with an allocator that has no limits and a clock that stands still. */
void brim_run_case(uint32_t rounds, void (*work)(struct brim_worker* worker));

/* Fills 1 or 2 points that have passed, of the timeline or the host. Returns how many. */
uint32_t brim_passed_points(struct brim_worker* worker, MaarPoint points[2]);

#endif
