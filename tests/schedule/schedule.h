/*
 * Exhaustive schedules: a program of a few tasks runs again and again, each time with another order
 * of the tasks' steps, until every order with a bounded number of preemptions was tried (Musuvathi
 * and Qadeer, "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", 2007).
 *
 * A task is a thread of its own, but only one task runs at a time. It can lose its turn where a
 * step ends: before it takes a lock of Maar's, before a call that the test names, and where it
 * would sleep. The locks, conditions and gates of core/port_thread.h are those of
 * scheduled_threads.c. A switch before a lock matters only if two tasks take locks of its rank and
 * no other lock is always held then: such ranks are found while the program runs, and others are no
 * ends of steps.
 *
 * A deadlock, a wake-up that was lost, and a task that spins end the run with the schedule that led
 * there. Assertions of cmocka in a task end the process, and the schedule is printed.
 */
#ifndef MAAR_TESTS_SCHEDULE_H
#define MAAR_TESTS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { SCHEDULE_TASKS = 4 };

enum schedule_end {
    SCHEDULE_DONE,     /* all schedules ended */
    SCHEDULE_DEADLOCK, /* no task could go on */
    SCHEDULE_ENDLESS   /* a task went on for ever */
};

struct schedule_program {
    const char* name;
    uint32_t task_count;
    uint32_t preemptions;                /* most switches away from a task that could go on */
    bool is_bounded;                     /* even where MAAR_TEST_PREEMPTIONS says another number */
    void (*begin)(void);                 /* before each schedule, on the main thread; or NULL */
    void (*tasks[SCHEDULE_TASKS])(void); /* at the same time */
    void (*end)(void);                   /* after each schedule, on the main thread; or NULL */
    bool is_wrong;                       /* on purpose: a deadlock is returned, not reported */
};

struct schedule_result {
    enum schedule_end end;
    uint64_t schedule_count;
    uint32_t most_points; /* ends of steps of one schedule */
};

/* Tries all schedules. Prints their number. */
struct schedule_result schedule_explore(const struct schedule_program* program);

/* Whether the caller is a task. */
bool schedule_is_task(void);
/* Ends a step of a task: others may come first. Does nothing on other threads. */
void schedule_point(const char* what);

/* A step ends before calls of the driver that other tasks can see: they submit, or look at what the
 * device has done. For rig::call. */
void schedule_call(void* data, const char* function);

/* A lock of the program. */
struct schedule_lock {
    bool is_held;
    uint32_t number; /* 0 to 7: of each lock another one */
};
void schedule_lock_take(struct schedule_lock* lock);
void schedule_lock_release(struct schedule_lock* lock);

/* Why a task sleeps. */
enum schedule_sleep {
    SCHEDULE_SLEEP_NONE,
    SCHEDULE_SLEEP_LOCK,  /* until a lock of the program is free */
    SCHEDULE_SLEEP_MUTEX, /* until a maar_mutex is free */
    SCHEDULE_SLEEP_GATE,  /* until the count of a maar_gate is 0 */
    SCHEDULE_SLEEP_EVENT  /* until schedule_wake */
};
/* Sleeps on an object. A sleep with a limit ends when no task can go on otherwise; returns false
 * then. */
bool schedule_sleep(enum schedule_sleep why, const void* on, bool has_limit);
/* Wakes all tasks that sleep on an object. */
void schedule_wake(const void* on);

/* What scheduled_threads.c says about ranked locks. */
void schedule_rank_enter(uint32_t rank);
void schedule_rank_leave(uint32_t rank);

#endif
