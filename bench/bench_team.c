/*
 * The benchmarks' threads; see bench_team.h. The mutex guards generation, busy, work and argument.
 */
#include "bench_team.h"

#include "bench_common.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * The number of polls of the barrier, some milliseconds, before a thread yields its processor. The
 * awaited thread may need that processor. A thread that has its own processor must not give it away
 * sooner.
 */
enum { SPINS = 1000000 };

struct member {
    struct bench_team* team;
    pthread_t thread;
    uint32_t index;
};

struct bench_team {
    uint32_t count;
    struct member* members;
    pthread_mutex_t mutex;
    pthread_cond_t started, finished;
    uint64_t generation; /* number of the current work; UINT64_MAX: exit */
    uint32_t busy;
    void (*work)(void* argument, uint32_t index);
    void* argument;
    atomic_uint waiting;
    atomic_uint round;
};

/*
 * Binds the thread to its own processor, if enough processors exist. Schedulers leave two threads
 * that run for milliseconds at a time on one processor.
 */
static void pin(uint32_t index)
{
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return;
    }
    const int wanted = (int)index % CPU_COUNT(&allowed);
    int seen = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &allowed) && seen++ == wanted) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
#else
    (void)index;
#endif
}

static void* run_member(void* argument)
{
    struct member* const member = argument;
    struct bench_team* const team = member->team;
    pin(member->index);
    uint64_t seen = 0;
    for (;;) {
        pthread_mutex_lock(&team->mutex);
        while (team->generation == seen) {
            pthread_cond_wait(&team->started, &team->mutex);
        }
        seen = team->generation;
        pthread_mutex_unlock(&team->mutex);
        if (seen == UINT64_MAX) {
            return NULL;
        }
        team->work(team->argument, member->index);
        pthread_mutex_lock(&team->mutex);
        team->busy -= 1;
        pthread_cond_signal(&team->finished);
        pthread_mutex_unlock(&team->mutex);
    }
}

struct bench_team* bench_team_create(uint32_t thread_count)
{
    struct bench_team* const team = bench_allocate(1, sizeof(*team));
    team->count = thread_count;
    if (thread_count == 1) {
        return team;
    }
    team->members = bench_allocate(thread_count, sizeof(*team->members));
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->started, NULL);
    pthread_cond_init(&team->finished, NULL);
    for (uint32_t i = 0; i < thread_count; ++i) {
        struct member* const member = &team->members[i];
        *member = (struct member){.team = team, .index = i};
        if (pthread_create(&member->thread, NULL, run_member, member) != 0) {
            bench_die(BENCH_EXIT_FAILED, "thread %u cannot be started", i);
        }
    }
    return team;
}

static void start(struct bench_team* team, uint64_t generation)
{
    pthread_mutex_lock(&team->mutex);
    team->generation = generation;
    team->busy = team->count;
    pthread_cond_broadcast(&team->started);
    pthread_mutex_unlock(&team->mutex);
}

void bench_team_run(struct bench_team* team, void (*work)(void* argument, uint32_t index),
                    void* argument)
{
    if (team->count == 1) {
        work(argument, 0);
        return;
    }
    team->work = work;
    team->argument = argument;
    start(team, team->generation + 1);
    pthread_mutex_lock(&team->mutex);
    while (team->busy != 0) {
        pthread_cond_wait(&team->finished, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
}

void bench_team_meet(struct bench_team* team)
{
    const unsigned round = atomic_load(&team->round);
    if (atomic_fetch_add(&team->waiting, 1) + 1 == team->count) {
        atomic_store(&team->waiting, 0);
        atomic_store(&team->round, round + 1);
        return;
    }
    for (uint32_t spins = 0; atomic_load(&team->round) == round; ++spins) {
        if (spins >= SPINS) {
            sched_yield();
        }
    }
}

void bench_team_destroy(struct bench_team* team)
{
    if (team->count > 1) {
        start(team, UINT64_MAX);
        for (uint32_t i = 0; i < team->count; ++i) {
            pthread_join(team->members[i].thread, NULL);
        }
        pthread_cond_destroy(&team->finished);
        pthread_cond_destroy(&team->started);
        pthread_mutex_destroy(&team->mutex);
    }
    free(team->members);
    free(team);
}
