/*
 * The simulated driver's access to the operating system: a lock, a condition, a clock, pages that
 * cost nothing until they are touched, and nameless files that processes can share.
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
/* Waits until another thread wakes the caller or sim_time_ns() reaches `deadline_ns`; UINT64_MAX
 * means no deadline. May return early. The lock is held before and after. */
void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns);

/* Returns the time of a clock that never goes back. */
uint64_t sim_time_ns(void);
/* Lets another thread run. */
void sim_yield(void);

/* Maps zeroed, page-aligned memory, which is backed when it is touched. Returns NULL on failure. */
void* sim_pages_map(size_t size);
void sim_pages_unmap(void* pages, size_t size);

/* A descriptor of a file without a name. All zero means no file. */
struct sim_file {
    bool open;
    int fd;
    uint64_t identity; /* distinguishes the file from a later one with the same descriptor number */
};

/* Returns whether this system has such files. Where it does not, no function below succeeds. */
bool sim_file_is_possible(void);
/* Creates a file of `size` zero bytes, whose size can never change, and writes a head at its
 * beginning. Returns false on failure. */
bool sim_file_create(uint64_t size, const void* head, size_t head_size, struct sim_file* file);
/* Reads the head and the size of a descriptor's file. Returns false unless the file is of the kind
 * that sim_file_create() makes and holds a head of that size. The caller keeps the descriptor. */
bool sim_file_look(int fd, void* head, size_t head_size, uint64_t* size, struct sim_file* file);
/* Returns another descriptor of the file, which executed programs do not inherit; -1 on failure. */
int sim_file_duplicate(const struct sim_file* file);
/* Closes a descriptor of any kind. */
void sim_file_close_foreign(int fd);
/* Closes a descriptor and at once gives its number to a new file. Returns false on failure. */
bool sim_file_take_number(int fd, struct sim_file* file);
/* Closes a file. Returns false, and leaves the descriptor open, if the descriptor now names another
 * file. */
bool sim_file_close(struct sim_file* file);
/* Maps `size` bytes of the file, from `offset` on, over pages from sim_pages_map(). All mappings of
 * the file share these bytes. `offset` and `pages` are multiples of 4096. */
bool sim_file_map(const struct sim_file* file, uint64_t offset, size_t size, void* pages);

/* Accesses a word in shared pages. A thread that reads a value also sees everything that the writer
 * did before. */
uint64_t sim_shared_load(const void* word);
void sim_shared_store(void* word, uint64_t value);

#endif
