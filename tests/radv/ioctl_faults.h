/*
 * What stands between RADV and the no-op kernel: a preload that counts and refuses calls, resizes
 * the device's memory and invents use of it by other processes, all of it while a program runs. It
 * also cures the no-op kernel of its bugs (see ioctl_faults.c). One table per process; a forked
 * child has a copy of its parent's.
 */
#ifndef MAAR_TESTS_RADV_IOCTL_FAULTS_H
#define MAAR_TESTS_RADV_IOCTL_FAULTS_H

#include <stdatomic.h>
#include <stdint.h>

/* Calls of the kernel that can be refused. */
enum fault_call {
    FAULT_CALL_CREATE, /* of a buffer object, with ENOMEM */
    FAULT_CALL_PLACE,  /* of one in the GPU's address space, with ENOMEM */
    FAULT_CALL_MAP,    /* for the host, with ENOMEM */
    FAULT_CALL_SUBMIT, /* of commands, with ENODEV */
    FAULT_CALL_COUNT
};

struct fault_rule {
    _Atomic uint64_t calls; /* so far */
    _Atomic uint64_t first; /* the call from which on they fail, 1 being the first; 0: none does */
    _Atomic uint64_t count; /* how many fail */
    _Atomic uint64_t struck;
};

/* Kinds of memory. What the host can see of the VRAM is a part of it. */
enum fault_memory { FAULT_VRAM, FAULT_VISIBLE_VRAM, FAULT_GTT, FAULT_MEMORY_COUNT };

struct ioctl_faults {
    struct fault_rule rules[FAULT_CALL_COUNT];
    _Atomic uint64_t sizes[FAULT_MEMORY_COUNT];  /* bytes; 0: the no-op kernel's */
    _Atomic uint64_t others[FAULT_MEMORY_COUNT]; /* bytes that other processes use */
    _Atomic uint64_t own[FAULT_MEMORY_COUNT];    /* bytes of this process's buffer objects */
    _Atomic uint64_t live_count;                 /* buffer objects of this process */
    _Atomic uint64_t reads_zero; /* nonzero: timelines read 0, however far they are */
};

/* Exported by the preload: find it with dlsym. */
typedef struct ioctl_faults* (*maar_ioctl_faults_function)(void);
#define MAAR_IOCTL_FAULTS_NAME "maar_ioctl_faults"

#endif
