/*
 * What the kernel says of the device memory of processes: the files /proc/PID/fdinfo/N of the
 * drivers of DRM. NVIDIA's own driver has no such files. Single-threaded.
 */
#ifndef MAAR_TOOL_KERNEL_H
#define MAAR_TOOL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process on a device. */
struct tool_kernel_use {
    uint64_t process;
    uint64_t device_bytes; /* in the device's own memory */
    uint64_t host_bytes;   /* in the host's memory, or in memory that both share */
    char name[64];
    char driver[32];
    char device[32]; /* the PCI address, or empty */
};

struct tool_kernel {
    struct tool_kernel_use* items; /* by bytes, the most first */
    size_t count, capacity;
};

/* Reads the files of all processes in a folder such as /proc that this user may read. Keeps none of
 * the contents before. Returns false without memory. */
bool tool_kernel_read(struct tool_kernel* kernel, const char* proc);

/* Returns what a process uses of all devices. */
struct tool_kernel_use tool_kernel_find(const struct tool_kernel* kernel, uint64_t process);

void tool_kernel_release(struct tool_kernel* kernel);

#endif
