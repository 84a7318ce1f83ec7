/*
 * Threads that live as long as a benchmark and do the same thing at the same time, each on a
 * processor of its own where the system can be told so. A team of one is the caller's own thread: a
 * program that measures one thread starts none.
 */
#ifndef MAAR_BENCH_TEAM_H
#define MAAR_BENCH_TEAM_H

#include <stdint.h>

struct bench_team;

/* Ends the program on failure. */
struct bench_team* bench_team_create(uint32_t thread_count);
void bench_team_destroy(struct bench_team* team);

/*
 * Calls work(argument, index) once on each thread and returns when all have returned. Indices run
 * from 0, and an index is the same thread at each call.
 */
void bench_team_run(struct bench_team* team, void (*work)(void* argument, uint32_t index),
                    void* argument);

/* Spins until all threads are here. For the work of a team, between what is timed and what not. */
void bench_team_meet(struct bench_team* team);

#endif
