/*
 * What the simulated driver needs of the operating system: a lock, a condition, a clock, pages that
 * cost nothing until they are touched, and files without a name that processes can share.
 */
#ifndef MAAR_SIM_PORT_H
#define MAAR_SIM_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
struct sim_lock {
    void* lock; /* an SRWLOCK */
};
struct sim_condition {
    void* condition; /* a CONDITION_VARIABLE */
};
#else
#include <pthread.h>
struct sim_lock {
    pthread_mutex_t lock;
};
struct sim_condition {
    pthread_cond_t condition;
};
#endif

bool sim_lock_init(struct sim_lock* lock);
void sim_lock_finish(struct sim_lock* lock);
void sim_lock_acquire(struct sim_lock* lock);
void sim_lock_release(struct sim_lock* lock);

bool sim_condition_init(struct sim_condition* condition);
void sim_condition_finish(struct sim_condition* condition);
void sim_condition_wake_all(struct sim_condition* condition);
/* Waits until woken or until sim_time_ns() reaches deadline_ns; UINT64_MAX: for ever. May return
 * early. The lock is held before and after. */
void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns);

/* A clock that never goes back. */
uint64_t sim_time_ns(void);
/* Lets another thread run. */
void sim_yield(void);

/* Zeroed, page-aligned memory, backed when touched; NULL when there is no room for it. */
void* sim_pages_map(size_t size);
void sim_pages_unmap(void* pages, size_t size);

/* A file without a name, or a duplicate of one; all zero: none. */
struct sim_file {
    bool open;
    int fd;
    uint64_t identity; /* tells it from whatever else may get the same number */
};

/* Whether this system has such files; nothing below succeeds where it has not. */
bool sim_file_is_possible(void);
/* A file of so many zero bytes, whose size can never change, with a head written at its beginning;
 * false without one. */
bool sim_file_create(uint64_t size, const void* head, size_t head_size, struct sim_file* file);
/* Looks at a descriptor: false unless it is of a file as sim_file_create() makes them and has a
 * head so long. The descriptor stays the caller's. */
bool sim_file_look(int fd, void* head, size_t head_size, uint64_t* size, struct sim_file* file);
/* Another descriptor of it, which programs that are executed do not inherit; -1 without one. */
int sim_file_duplicate(const struct sim_file* file);
/* Closes a descriptor whatever it is. */
void sim_file_close_foreign(int fd);
/* The same, but makes the number one of a new file at once; false if it could not. */
bool sim_file_take_number(int fd, struct sim_file* file);
/* Closes it; false, having left the descriptor alone, when it is not this file's any more. */
bool sim_file_close(struct sim_file* file);
/* Maps `size` of its bytes, from `offset` on, over pages that sim_pages_map() gave; what is written
 * there is seen by all who map the file. `offset` and `pages` are multiples of 4096. */
bool sim_file_map(const struct sim_file* file, uint64_t offset, size_t size, void* pages);

/* A word in shared pages. Whoever sees a value sees all that its writer did before. */
uint64_t sim_shared_load(const void* word);
void sim_shared_store(void* word, uint64_t value);

#endif
