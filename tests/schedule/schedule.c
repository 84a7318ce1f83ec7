/*
 * Tries all schedules of a program: see schedule.h.
 *
 * The choices of a schedule are kept in a list. Each has the tasks that could go on, the present
 * one first. The next schedule takes the same choices up to the last one that has a further task,
 * and there that task.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/schedule/schedule.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/port_thread.h"

enum {
    MOST_CHOICES = 60000,
    MOST_POINTS = 20000, /* a program of a test takes some hundreds */
    MOST_SWITCHES = 400, /* that are printed */
    MOST_SECONDS = 100,  /* of one schedule, which takes some milliseconds */
    RANKS = 32,
    NOBODY = SCHEDULE_TASKS
};

enum task_state { TASK_DONE, TASK_READY, TASK_ASLEEP };

struct task {
    pthread_t thread;
    pthread_cond_t turn;
    enum task_state state;
    enum schedule_sleep why;
    const void* on;
    bool is_woken;
    bool has_limit;
    bool is_late;      /* the limit has passed */
    uint32_t held;     /* a bit for each rank, and for each lock of the program above them */
    const char* where; /* the last end of a step */
    jmp_buf start;
};

struct choice {
    uint32_t taken;
    uint32_t count;
    uint32_t cost;   /* preemptions before it */
    bool is_present; /* the task that had the turn could go on */
};

struct switch_note {
    uint32_t point;
    uint32_t to;
    const char* where; /* what the task that lost its turn was about to do */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    const struct schedule_program* program;
    uint32_t preemptions;
    struct task tasks[SCHEDULE_TASKS];
    bool has_threads;
    uint32_t turn; /* the task that runs, or NOBODY */
    uint64_t run;  /* counts schedules, for the threads */
    bool is_open;  /* a schedule runs */
    bool is_abandoned;
    enum schedule_end end;
    uint32_t points;
    uint32_t cost;
    uint32_t depth;
    uint32_t choice_count;
    struct choice choices[MOST_CHOICES];
    uint32_t switch_count;
    struct switch_note switches[MOST_SWITCHES];
    struct {
        uint32_t tasks;  /* a bit for each that takes such a lock */
        uint32_t common; /* locks that were held each time */
    } ranks[RANKS];
    bool has_new_rank; /* a rank became an end of steps: the search begins anew */
} search = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .over = PTHREAD_COND_INITIALIZER,
    .turn = NOBODY,
};

static _Thread_local struct task* self;

static uint32_t number_of(const struct task* task)
{
    return (uint32_t)(task - search.tasks);
}

/* ---- words ---- */

static void print_schedule(void)
{
    static const char* const reasons[] = {"ready", "a lock of the program", "a mutex", "a gate",
                                          "an event"};
    fprintf(stderr, "%s: %u choices, %u points:", search.program->name, search.depth,
            search.points);
    for (uint32_t i = 0; i < search.switch_count; ++i) {
        const struct switch_note* note = &search.switches[i];
        fprintf(stderr, " (%u: %s) -> task %u", note->point, note->where, note->to);
    }
    fprintf(stderr, "\n");
    for (uint32_t i = 0; i < search.program->task_count; ++i) {
        const struct task* task = &search.tasks[i];
        fprintf(stderr, "task %u: %s; waits for: %s\n", i,
                task->state == TASK_DONE ? "done" : task->where, reasons[task->why]);
    }
}

static void print_at_exit(void)
{
    if (search.is_open) {
        print_schedule();
    }
}

/* A task waits where the search does not see it. */
static void say_late(int number)
{
    (void)number;
    fprintf(stderr, "a schedule does not end\n");
    print_schedule();
    _exit(1);
}

static void fail_search(const char* what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* ---- choices ---- */

static bool can_go_on(const struct task* task)
{
    if (task->state != TASK_ASLEEP) {
        return task->state == TASK_READY;
    }
    switch (task->why) {
    case SCHEDULE_SLEEP_LOCK:
        return !((const struct schedule_lock*)task->on)->is_held;
    case SCHEDULE_SLEEP_MUTEX:
        return maar_atomic32_load(&((struct maar_mutex*)(uintptr_t)task->on)->state) == 0;
    case SCHEDULE_SLEEP_GATE:
        return ((const struct maar_gate*)task->on)->count == 0;
    default:
        return task->is_woken;
    }
}

/* Lists the tasks that can go on, the present one first. */
static uint32_t list_ready(uint32_t present, uint32_t* ready)
{
    uint32_t count = 0;
    if (present != NOBODY && can_go_on(&search.tasks[present])) {
        ready[count++] = present;
    }
    for (uint32_t i = 0; i < search.program->task_count; ++i) {
        if (i != present && can_go_on(&search.tasks[i])) {
            ready[count++] = i;
        }
    }
    for (uint32_t i = 0; i < search.program->task_count && count == 0; ++i) {
        struct task* task = &search.tasks[i];
        if (task->state == TASK_ASLEEP && task->has_limit) {
            task->is_late = true;
            ready[count++] = i;
        }
    }
    return count;
}

/* Takes a choice among so many tasks: that of the list, or the first one. */
static uint32_t take_choice(uint32_t count, bool is_present)
{
    if (count == 1) {
        return 0;
    }
    if (search.depth == search.choice_count) {
        if (search.choice_count == MOST_CHOICES) {
            fail_search("too many choices");
        }
        search.choices[search.choice_count++] =
            (struct choice){.count = count, .cost = search.cost, .is_present = is_present};
    }
    const struct choice* choice = &search.choices[search.depth++];
    if (choice->count != count || choice->is_present != is_present) {
        fail_search("the program does not do the same again");
    }
    search.cost += is_present && choice->taken > 0 ? 1 : 0;
    return choice->taken;
}

/* Returns the task that goes on, or NOBODY. */
static uint32_t choose(uint32_t present)
{
    uint32_t ready[SCHEDULE_TASKS];
    const uint32_t count = list_ready(present, ready);
    if (count == 0) {
        return NOBODY;
    }
    const uint32_t next = ready[take_choice(count, ready[0] == present)];
    if (next != present && search.switch_count < MOST_SWITCHES) {
        const char* where = present != NOBODY ? search.tasks[present].where : "begin";
        search.switches[search.switch_count++] =
            (struct switch_note){search.points, next, where != NULL ? where : "begin"};
    }
    return next;
}

/* Makes the list of choices that of the next schedule. Returns false if there is none. */
static bool next_schedule(void)
{
    while (search.choice_count > 0) {
        struct choice* last = &search.choices[search.choice_count - 1];
        const uint32_t cost = last->cost + (last->is_present ? 1 : 0);
        if (last->taken + 1 < last->count && cost <= search.preemptions) {
            ++last->taken;
            return true;
        }
        --search.choice_count;
    }
    return false;
}

/* ---- turns ---- */

static void give_turn(uint32_t to)
{
    search.turn = to;
    if (to != NOBODY) {
        (void)pthread_cond_signal(&search.tasks[to].turn);
    }
}

/* The lock is held. */
static void await_turn(struct task* task)
{
    while (search.turn != number_of(task)) {
        (void)pthread_cond_wait(&task->turn, &search.lock);
    }
}

/* Ends the schedule: the tasks leave what they do, one after another. The lock is held. */
static void abandon(enum schedule_end end)
{
    search.end = end;
    search.is_abandoned = true;
    if (!search.program->is_wrong) {
        fail_search(end == SCHEDULE_DEADLOCK ? "deadlock" : "a task goes on for ever");
    }
}

/* Leaves the turn to whoever comes next, and returns when the turn is back. The lock is held. */
static void pass_turn(struct task* task)
{
    const uint32_t next = choose(number_of(task));
    if (next == NOBODY) {
        abandon(SCHEDULE_DEADLOCK);
    } else if (next != number_of(task)) {
        give_turn(next);
        await_turn(task);
    }
}

/* Releases the lock; a schedule that was abandoned ends the task. */
static void return_to_task(struct task* task)
{
    const bool is_abandoned = search.is_abandoned;
    (void)pthread_mutex_unlock(&search.lock);
    if (is_abandoned) {
        longjmp(task->start, 1);
    }
}

bool schedule_is_task(void)
{
    return self != NULL;
}

void schedule_point(const char* what)
{
    struct task* task = self;
    if (task == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&search.lock);
    task->where = what;
    if (++search.points > MOST_POINTS) {
        abandon(SCHEDULE_ENDLESS);
    } else {
        pass_turn(task);
    }
    return_to_task(task);
}

void schedule_call(void* data, const char* function)
{
    static const char* const seen[] = {"vkQueueSubmit", "vkWaitSemaphores", "vkQueueBindSparse",
                                       "vkGetSemaphoreCounterValue"};
    (void)data;
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; ++i) {
        if (strcmp(function, seen[i]) == 0) {
            schedule_point(function);
        }
    }
}

bool schedule_sleep(enum schedule_sleep why, const void* on, bool has_limit)
{
    struct task* task = self;
    if (task == NULL) {
        if (!has_limit) {
            fail_search("the main thread sleeps, and nobody is there to wake it");
        }
        return false;
    }
    (void)pthread_mutex_lock(&search.lock);
    task->state = TASK_ASLEEP;
    task->why = why;
    task->on = on;
    task->has_limit = has_limit;
    task->is_late = false;
    pass_turn(task);
    const bool in_time = !task->is_late;
    task->state = TASK_READY;
    task->why = SCHEDULE_SLEEP_NONE;
    task->is_woken = false;
    return_to_task(task);
    return in_time;
}

void schedule_wake(const void* on)
{
    (void)pthread_mutex_lock(&search.lock);
    for (uint32_t i = 0; i < SCHEDULE_TASKS; ++i) {
        struct task* task = &search.tasks[i];
        task->is_woken = task->is_woken || (task->state == TASK_ASLEEP && task->on == on);
    }
    (void)pthread_mutex_unlock(&search.lock);
}

/* ---- locks ---- */

void schedule_lock_take(struct schedule_lock* lock)
{
    if (self != NULL) {
        schedule_point("lock of the program");
        while (lock->is_held) {
            (void)schedule_sleep(SCHEDULE_SLEEP_LOCK, lock, false);
        }
        self->held |= 1u << (MAAR_LOCK_RANKS + lock->number);
    }
    lock->is_held = true;
}

void schedule_lock_release(struct schedule_lock* lock)
{
    lock->is_held = false;
    if (self != NULL) {
        self->held &= ~(1u << (MAAR_LOCK_RANKS + lock->number));
    }
}

/* Notes that a task takes a lock of a rank. Returns whether another task may come first. */
static bool note_rank(struct task* task, uint32_t rank)
{
    const uint32_t tasks = search.ranks[rank].tasks | 1u << number_of(task);
    const uint32_t common = search.ranks[rank].common & task->held;
    const bool was_end = (search.ranks[rank].tasks & (search.ranks[rank].tasks - 1)) != 0 &&
                         search.ranks[rank].common == 0;
    const bool is_end = (tasks & (tasks - 1)) != 0 && common == 0;
    search.ranks[rank].tasks = tasks;
    search.ranks[rank].common = common;
    search.has_new_rank = search.has_new_rank || (is_end && !was_end);
    return is_end;
}

void schedule_rank_enter(uint32_t rank)
{
    static const char* const names[RANKS] = {
        [MAAR_LOCK_POOL_LIST] = "pool list", [MAAR_LOCK_POOL] = "pool",
        [MAAR_LOCK_ARENA] = "arena",         [MAAR_LOCK_ORDERED] = "ordered reuse",
        [MAAR_LOCK_RETIRE] = "retire queue", [MAAR_LOCK_PAGING] = "paging",
        [MAAR_LOCK_RESIDENCY] = "work",      [MAAR_LOCK_STORE] = "file store",
    };
    struct task* task = self;
    if (task == NULL) {
        return;
    }
    const uint32_t ranked = (1u << MAAR_LOCK_RANKS) - 1;
    if ((task->held & ranked) >> rank != 0) {
        fail_search("locks are not taken in rising rank");
    }
    if (note_rank(task, rank)) {
        schedule_point(names[rank] != NULL ? names[rank] : "mutex");
    }
    task->held |= 1u << rank;
}

void schedule_rank_leave(uint32_t rank)
{
    if (self != NULL) {
        self->held &= ~(1u << rank);
    }
}

/* ---- threads ---- */

/* Ends a task. The lock is held. */
static void end_task(struct task* task)
{
    uint32_t next = NOBODY;
    bool is_left = false;
    task->state = TASK_DONE;
    task->why = SCHEDULE_SLEEP_NONE;
    for (uint32_t i = search.program->task_count; i-- > 0;) {
        if (search.tasks[i].state != TASK_DONE) {
            is_left = true;
            next = i;
        }
    }
    if (is_left && !search.is_abandoned) {
        next = choose(NOBODY);
        if (next == NOBODY) {
            abandon(SCHEDULE_DEADLOCK);
            end_task(task);
            return;
        }
    }
    give_turn(next);
    if (!is_left) {
        (void)pthread_cond_signal(&search.over);
    }
}

/* Runs a task once, in the next schedule after `run`. Returns the number of that schedule. */
static uint64_t run_task(struct task* task, uint64_t run)
{
    (void)pthread_mutex_lock(&search.lock);
    while (search.run == run || search.turn != number_of(task)) {
        (void)pthread_cond_wait(&task->turn, &search.lock);
    }
    const uint64_t present = search.run;
    const bool is_abandoned = search.is_abandoned;
    (void)pthread_mutex_unlock(&search.lock);
    if (!is_abandoned && setjmp(task->start) == 0) {
        search.program->tasks[number_of(task)]();
    }
    (void)pthread_mutex_lock(&search.lock);
    end_task(task);
    (void)pthread_mutex_unlock(&search.lock);
    return present;
}

static void* serve(void* data)
{
    uint64_t run = 0;
    self = data;
    for (;;) {
        run = run_task(self, run);
    }
    return NULL;
}

static void make_threads(void)
{
    if (search.has_threads) {
        return;
    }
    for (uint32_t i = 0; i < SCHEDULE_TASKS; ++i) {
        if (pthread_cond_init(&search.tasks[i].turn, NULL) != 0 ||
            pthread_create(&search.tasks[i].thread, NULL, serve, &search.tasks[i]) != 0) {
            fail_search("no thread for a task");
        }
        (void)pthread_detach(search.tasks[i].thread);
    }
    search.has_threads = true;
    (void)atexit(print_at_exit);
    (void)signal(SIGALRM, say_late);
}

/* Runs the program once, along the list of choices. */
static void run_once(void)
{
    const struct schedule_program* program = search.program;
    if (program->begin != NULL) {
        program->begin();
    }
    (void)pthread_mutex_lock(&search.lock);
    search.is_open = true;
    (void)alarm(MOST_SECONDS);
    search.is_abandoned = false;
    search.points = 0;
    search.cost = 0;
    search.depth = 0;
    search.switch_count = 0;
    for (uint32_t i = 0; i < program->task_count; ++i) {
        struct task* task = &search.tasks[i];
        task->state = TASK_READY;
        task->held = 0;
        task->where = "begin";
        task->is_woken = false;
    }
    ++search.run;
    give_turn(choose(NOBODY));
    while (search.turn != NOBODY) {
        (void)pthread_cond_wait(&search.over, &search.lock);
    }
    search.is_open = false;
    (void)alarm(0);
    (void)pthread_mutex_unlock(&search.lock);
    if (program->end != NULL && !search.is_abandoned) {
        program->end();
    }
}

struct schedule_result schedule_explore(const struct schedule_program* program)
{
    struct schedule_result result = {.end = SCHEDULE_DONE};
    const char* text = program->is_bounded ? NULL : getenv("MAAR_TEST_PREEMPTIONS");
    make_threads();
    search.program = program;
    search.preemptions = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : program->preemptions;
    search.end = SCHEDULE_DONE;
    search.choice_count = 0;
    for (uint32_t i = 0; i < RANKS; ++i) {
        search.ranks[i].tasks = 0;
        search.ranks[i].common = UINT32_MAX;
    }
    bool is_more = true;
    while (is_more && search.end == SCHEDULE_DONE) {
        search.has_new_rank = false;
        run_once();
        ++result.schedule_count;
        result.most_points =
            search.points > result.most_points ? search.points : result.most_points;
        if (search.has_new_rank && search.end == SCHEDULE_DONE) {
            search.choice_count = 0;
            result.schedule_count = 0;
        } else {
            is_more = next_schedule();
        }
    }
    result.end = search.end;
    printf("%s: %llu schedules with at most %u preemptions, at most %u points\n", program->name,
           (unsigned long long)result.schedule_count, search.preemptions, result.most_points);
    return result;
}
