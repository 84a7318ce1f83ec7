/*
 * The calls of the kernel that a ring is made of, each of which fails on demand, as do transfers.
 * For programs that are linked with --wrap=syscall and --wrap=mmap.
 */
#ifndef MAAR_TESTS_UNIT_RESIDENCY_WRAPPED_KERNEL_H
#define MAAR_TESTS_UNIT_RESIDENCY_WRAPPED_KERNEL_H

#include <errno.h>
#include <linux/io_uring.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* What fails: the numbers count from 1; 0: nothing. */
struct wrapped_faults {
    int setup_error;           /* of each opening */
    uint32_t removed_features; /* bits that the kernel seems to lack */
    uint32_t map_at;           /* the mapping that fails */
    uint32_t enter_at;         /* the call that fails, */
    uint32_t enter_count;      /* with those that follow, so many */
    int enter_error;
    uint32_t cut_at;  /* the transfer that is cut off */
    uint32_t fail_at; /* the transfer that fails */
};

static struct {
    struct wrapped_faults faults;
    uint32_t setups;
    uint32_t maps;
    uint32_t enters;
    uint32_t transfers;
    struct io_uring_params made; /* of the last ring */
    int descriptor;
    uint8_t* queues;
    struct io_uring_sqe* entries;
} wrapped;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
void* __real_mmap(void* at, size_t size, int access, int flags, int file, off_t offset);
void* __wrap_mmap(void* at, size_t size, int access, int flags, int file, off_t offset);

void* __wrap_mmap(void* at, size_t size, int access, int flags, int file, off_t offset)
{
    const uint64_t part = (uint64_t)offset;
    if (wrapped.made.sq_entries == 0 || file != wrapped.descriptor) {
        return __real_mmap(at, size, access, flags, file, offset);
    }
    if (++wrapped.maps == wrapped.faults.map_at) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void* const mapped = __real_mmap(at, size, access, flags, file, offset);
    if (part == IORING_OFF_SQES + 0ull) {
        wrapped.entries = mapped;
    } else {
        wrapped.queues = mapped;
    }
    return mapped;
}

/* Changes the transfers that the kernel is about to see. */
static inline void spoil_transfers(uint32_t count)
{
    uint32_t head = 0;
    memcpy(&head, wrapped.queues + wrapped.made.sq_off.head, sizeof head);
    for (uint32_t i = 0; i < count; ++i) {
        struct io_uring_sqe* entry = &wrapped.entries[(head + i) % wrapped.made.sq_entries];
        ++wrapped.transfers;
        if (wrapped.transfers == wrapped.faults.cut_at && entry->len > 4096) {
            entry->len = entry->len / 2 / 4096 * 4096;
        }
        if (wrapped.transfers == wrapped.faults.fail_at) {
            entry->fd = -1;
        }
    }
}

static inline long wrapped_enter(const long* arguments)
{
    const struct wrapped_faults* faults = &wrapped.faults;
    ++wrapped.enters;
    if (faults->enter_at != 0 && wrapped.enters >= faults->enter_at &&
        wrapped.enters - faults->enter_at < faults->enter_count) {
        errno = faults->enter_error;
        return -1;
    }
    spoil_transfers((uint32_t)arguments[1]);
    return __real_syscall(__NR_io_uring_enter, arguments[0], arguments[1], arguments[2],
                          arguments[3], arguments[4], arguments[5]);
}

long __wrap_syscall(long number, ...)
{
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (uint32_t i = 0; i < 6; ++i) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == __NR_io_uring_enter) {
        return wrapped_enter(arguments);
    }
    if (number != __NR_io_uring_setup) {
        return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                              arguments[4], arguments[5]);
    }
    ++wrapped.setups;
    if (wrapped.faults.setup_error != 0) {
        errno = wrapped.faults.setup_error;
        return -1;
    }
    const long made = __real_syscall(number, arguments[0], arguments[1]);
    if (made >= 0) {
        struct io_uring_params* params = (struct io_uring_params*)(intptr_t)arguments[1];
        params->features &= ~wrapped.faults.removed_features;
        wrapped.made = *params;
        wrapped.descriptor = (int)made;
    }
    return made;
}

/* Forgets what was counted, and lets things fail from now on. */
static inline void wrap_faults(const struct wrapped_faults* faults)
{
    memset(&wrapped, 0, sizeof wrapped);
    wrapped.faults = *faults;
}

#endif
