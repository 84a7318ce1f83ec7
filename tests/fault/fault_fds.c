/*
 * The file descriptors of this process.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "tests/fault/fault_fds.h"

#if defined(__linux__)
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rlimit usual;
static bool limited;

uint32_t fault_open_fds(void)
{
    uint32_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return 0;
    }
    while (readdir(folder) != NULL) {
        ++count;
    }
    closedir(folder);
    return count;
}

bool fault_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

int fault_some_fd(void)
{
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

void fault_close(int fd)
{
    close(fd);
}

/* The system gives the lowest number that is free, and none from the limit on. */
void fault_limit_fds(uint64_t more)
{
    const int lowest = fault_some_fd();
    fault_close(lowest);
    if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &usual) != 0) {
        abort();
    }
    struct rlimit scarce = usual;
    scarce.rlim_cur = (rlim_t)lowest + (rlim_t)more;
    limited = setrlimit(RLIMIT_NOFILE, &scarce) == 0;
}

void fault_free_fds(void)
{
    if (limited && setrlimit(RLIMIT_NOFILE, &usual) != 0) {
        abort();
    }
    limited = false;
}
#else
uint32_t fault_open_fds(void)
{
    return 0;
}

bool fault_is_open(int fd)
{
    return fd >= 0;
}

int fault_some_fd(void)
{
    return -1;
}

void fault_close(int fd)
{
    (void)fd;
}

void fault_limit_fds(uint64_t more)
{
    (void)more;
}

void fault_free_fds(void)
{
}
#endif
