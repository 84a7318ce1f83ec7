/*
 * Implements sim_port.h on POSIX and on Windows.
 */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1
#endif
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* memfd_create */
#endif
#include "backends/simulated/sim_port.h"

#include <stdatomic.h>

uint64_t sim_shared_load(const void* word)
{
    return atomic_load_explicit((const _Atomic uint64_t*)word, memory_order_acquire);
}

void sim_shared_store(void* word, uint64_t value)
{
    atomic_store_explicit((_Atomic uint64_t*)word, value, memory_order_release);
}

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN 1
#include <windows.h>

bool sim_lock_init(struct sim_lock* lock)
{
    InitializeSRWLock((PSRWLOCK)&lock->lock);
    return true;
}

void sim_lock_finish(struct sim_lock* lock)
{
    (void)lock;
}

void sim_lock_acquire(struct sim_lock* lock)
{
    AcquireSRWLockExclusive((PSRWLOCK)&lock->lock);
}

void sim_lock_release(struct sim_lock* lock)
{
    ReleaseSRWLockExclusive((PSRWLOCK)&lock->lock);
}

bool sim_condition_init(struct sim_condition* condition)
{
    InitializeConditionVariable((PCONDITION_VARIABLE)&condition->condition);
    return true;
}

void sim_condition_finish(struct sim_condition* condition)
{
    (void)condition;
}

void sim_condition_wake_all(struct sim_condition* condition)
{
    WakeAllConditionVariable((PCONDITION_VARIABLE)&condition->condition);
}

void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns)
{
    DWORD wait_ms = INFINITE;
    if (deadline_ns != UINT64_MAX) {
        const uint64_t now = sim_time_ns();
        const uint64_t left_ms = deadline_ns > now ? (deadline_ns - now) / 1000000u + 1 : 0;
        wait_ms = left_ms < 60000 ? (DWORD)left_ms : 60000;
    }
    SleepConditionVariableSRW((PCONDITION_VARIABLE)&condition->condition, (PSRWLOCK)&lock->lock,
                              wait_ms, 0);
}

uint64_t sim_time_ns(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER frequency;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&frequency);
    const uint64_t ticks = (uint64_t)now.QuadPart;
    const uint64_t hertz = (uint64_t)frequency.QuadPart;
    return ticks / hertz * 1000000000u + ticks % hertz * 1000000000u / hertz;
}

void sim_yield(void)
{
    SwitchToThread();
}

void* sim_pages_map(size_t size)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void sim_pages_unmap(void* pages, size_t size)
{
    (void)size;
    VirtualFree(pages, 0, MEM_RELEASE);
}

#else
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

enum { NS_PER_SECOND = 1000000000 };

bool sim_lock_init(struct sim_lock* lock)
{
    return pthread_mutex_init(&lock->lock, NULL) == 0;
}

void sim_lock_finish(struct sim_lock* lock)
{
    pthread_mutex_destroy(&lock->lock);
}

void sim_lock_acquire(struct sim_lock* lock)
{
    pthread_mutex_lock(&lock->lock);
}

void sim_lock_release(struct sim_lock* lock)
{
    pthread_mutex_unlock(&lock->lock);
}

bool sim_condition_init(struct sim_condition* condition)
{
    return pthread_cond_init(&condition->condition, NULL) == 0;
}

void sim_condition_finish(struct sim_condition* condition)
{
    pthread_cond_destroy(&condition->condition);
}

void sim_condition_wake_all(struct sim_condition* condition)
{
    pthread_cond_broadcast(&condition->condition);
}

/* The condition uses the wall clock, since not every system offers a choice. Therefore the
 * remaining time is measured on the steady clock, and a long wait is divided into waits of one
 * second. */
void sim_condition_wait(struct sim_condition* condition, struct sim_lock* lock,
                        uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX) {
        pthread_cond_wait(&condition->condition, &lock->lock);
        return;
    }
    const uint64_t now = sim_time_ns();
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    left = left < NS_PER_SECOND ? left : NS_PER_SECOND;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const uint64_t sum = (uint64_t)until.tv_nsec + left;
    until.tv_sec += (time_t)(sum / NS_PER_SECOND);
    until.tv_nsec = (long)(sum % NS_PER_SECOND);
    pthread_cond_timedwait(&condition->condition, &lock->lock, &until);
}

uint64_t sim_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

void sim_yield(void)
{
    sched_yield();
}

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE 0
#endif

void* sim_pages_map(size_t size)
{
    void* pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void sim_pages_unmap(void* pages, size_t size)
{
    munmap(pages, size);
}

#if defined(__linux__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool sim_file_is_possible(void)
{
    return true;
}

static const int sim_file_seals = F_SEAL_SHRINK | F_SEAL_GROW;

static bool sim_file_identify(int fd, uint64_t* size, struct sim_file* file)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    *size = (uint64_t)status.st_size;
    *file = (struct sim_file){
        .open = true,
        .fd = fd,
        .identity = (uint64_t)status.st_ino ^ ((uint64_t)status.st_dev << 40),
    };
    return true;
}

bool sim_file_create(uint64_t size, const void* head, size_t head_size, struct sim_file* file)
{
    *file = (struct sim_file){0};
    const int fd = memfd_create("maar-simulated", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return false;
    }
    uint64_t real_size = 0;
    if (size > INT64_MAX || ftruncate(fd, (off_t)size) != 0 ||
        pwrite(fd, head, head_size, 0) != (ssize_t)head_size ||
        fcntl(fd, F_ADD_SEALS, sim_file_seals) != 0 || !sim_file_identify(fd, &real_size, file)) {
        close(fd);
        return false;
    }
    return true;
}

bool sim_file_look(int fd, void* head, size_t head_size, uint64_t* size, struct sim_file* file)
{
    struct sim_file found;
    *file = (struct sim_file){0};
    if (!sim_file_identify(fd, size, &found)) {
        return false;
    }
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & sim_file_seals) != sim_file_seals ||
        pread(fd, head, head_size, 0) != (ssize_t)head_size) {
        return false;
    }
    *file = found;
    return true;
}

int sim_file_duplicate(const struct sim_file* file)
{
    return file->open ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) : -1;
}

void sim_file_close_foreign(int fd)
{
    close(fd);
}

bool sim_file_take_number(int fd, struct sim_file* file)
{
    struct sim_file made;
    uint64_t size = 0;
    *file = (struct sim_file){0};
    if (!sim_file_create(1, "", 1, &made)) {
        return false;
    }
    const bool taken = dup3(made.fd, fd, O_CLOEXEC) == fd && sim_file_identify(fd, &size, file);
    close(made.fd);
    return taken;
}

bool sim_file_close(struct sim_file* file)
{
    struct sim_file now;
    uint64_t size = 0;
    if (!file->open) {
        return true;
    }
    const bool same = sim_file_identify(file->fd, &size, &now) && now.identity == file->identity;
    if (same) {
        close(file->fd);
    }
    *file = (struct sim_file){0};
    return same;
}

bool sim_file_map(const struct sim_file* file, uint64_t offset, size_t size, void* pages)
{
    return file->open &&
           mmap(pages, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                file->fd, (off_t)offset) != MAP_FAILED;
}
#endif
#endif

#if !defined(__linux__)
bool sim_file_is_possible(void)
{
    return false;
}

bool sim_file_create(uint64_t size, const void* head, size_t head_size, struct sim_file* file)
{
    (void)size, (void)head, (void)head_size;
    *file = (struct sim_file){0};
    return false;
}

bool sim_file_look(int fd, void* head, size_t head_size, uint64_t* size, struct sim_file* file)
{
    (void)fd, (void)head, (void)head_size, (void)size;
    *file = (struct sim_file){0};
    return false;
}

int sim_file_duplicate(const struct sim_file* file)
{
    (void)file;
    return -1;
}

void sim_file_close_foreign(int fd)
{
    (void)fd;
}

bool sim_file_take_number(int fd, struct sim_file* file)
{
    (void)fd;
    *file = (struct sim_file){0};
    return false;
}

bool sim_file_close(struct sim_file* file)
{
    *file = (struct sim_file){0};
    return true;
}

bool sim_file_map(const struct sim_file* file, uint64_t offset, size_t size, void* pages)
{
    (void)file, (void)offset, (void)size, (void)pages;
    return false;
}
#endif
