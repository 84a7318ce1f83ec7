/*
 * Files with transfers at any offset, for POSIX and for Windows. Transfers of several threads at
 * once do not disturb each other.
 */
#ifndef MAAR_CORE_PORT_DISK_H
#define MAAR_CORE_PORT_DISK_H

#include "core/port_file.h"

/* Transfers past the system's cache need offsets, sizes and addresses that are multiples of this,
 * on every file system that is known. */
enum { MAAR_DISK_ALIGNMENT = 4096 };

struct maar_disk {
    struct maar_file file;
    bool is_direct; /* transfers go past the system's cache */
};

struct maar_disk_opening {
    const char* path; /* UTF-8 */
    uint64_t size;    /* bytes that the file has afterwards at least; reserved on the disk */
    bool exists;      /* else the file must not exist, and is created */
    bool is_kept;     /* else a file that is created is removed at the end, or at once */
    bool is_direct;   /* where the file system can do that */
};

enum maar_disk_outcome {
    MAAR_DISK_DONE,
    MAAR_DISK_FULL, /* the disk has too few bytes, or the process may not write so many */
    MAAR_DISK_FAILED
};

/* Opens a file for reading and writing. After a failure a file that was created is removed. */
enum maar_disk_outcome maar_disk_open(const struct maar_disk_opening* opening,
                                      struct maar_disk* disk);
/* Opens a regular file for reading. */
enum maar_disk_outcome maar_disk_open_source(const char* path, struct maar_disk* disk);
/* Closes the file. */
void maar_disk_close(struct maar_disk* disk);

/* Returns the bytes of the file, or 0 if that is not known. */
uint64_t maar_disk_size(const struct maar_disk* disk);
/* Transfer all bytes, or return false: also when the file ends before. */
bool maar_disk_read(const struct maar_disk* disk, uint64_t offset, void* bytes, size_t size);
bool maar_disk_write(const struct maar_disk* disk, uint64_t offset, const void* bytes, size_t size);
/* Waits until all that was written is on the disk. */
bool maar_disk_sync(const struct maar_disk* disk);

/* Returns the first bytes of a file, mapped for reading, or NULL. maar_file_unmap ends that. */
void* maar_disk_map(const struct maar_disk* disk, size_t size);

#endif
