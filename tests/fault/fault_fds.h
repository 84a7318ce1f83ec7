/*
 * The file descriptors of this process: how many are open, and a shortage of them on demand. Where
 * there are none to share, all of it does nothing. For one thread.
 */
#ifndef MAAR_TESTS_FAULT_FAULT_FDS_H
#define MAAR_TESTS_FAULT_FAULT_FDS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero where nobody can say. */
uint32_t fault_open_fds(void);
bool fault_is_open(int fd);
/* A descriptor of nothing in particular; to be closed with fault_close(). */
int fault_some_fd(void);
void fault_close(int fd);
/* No more than so many can be opened from now on, until fault_free_fds(). */
void fault_limit_fds(uint64_t more);
void fault_free_fds(void);

#endif
