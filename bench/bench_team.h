/*
 * Threads that live for the whole benchmark and do the same work at the same time. Each is bound to
 * its own processor if the system supports that. A team of one is the caller's own thread, so that
 * a program that measures one thread starts no other.
 */
#ifndef MAAR_BENCH_TEAM_H
#define MAAR_BENCH_TEAM_H

#include <stdint.h>

struct bench_team;

/* Creates a team. Ends the program on failure. */
struct bench_team* bench_team_create(uint32_t thread_count);
void bench_team_destroy(struct bench_team* team);

/*
 * Calls work(argument, index) once on each thread and returns when all calls have returned. Indices
 * begin at 0. An index is always the same thread.
 */
void bench_team_run(struct bench_team* team, void (*work)(void* argument, uint32_t index),
                    void* argument);

/* Spins until all threads have arrived. A team's work calls this between its timed and untimed
 * parts. */
void bench_team_meet(struct bench_team* team);

#endif
