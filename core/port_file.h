/*
 * Files that are written through views of the host's memory, for POSIX and for Windows. What is
 * stored in a view reaches the file even if the process is killed.
 */
#ifndef MAAR_CORE_PORT_FILE_H
#define MAAR_CORE_PORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAAR_FILE_REASON_SIZE = 128 };

/* Offsets and sizes of views are multiples of this on every system. */
enum { MAAR_FILE_VIEW_ALIGNMENT = 65536 };

struct maar_file {
    intptr_t handle; /* a descriptor, or a HANDLE */
    uint64_t device; /* which file it is, on POSIX */
    uint64_t number;
    bool exists; /* after a failure: a file with this path exists already */
    bool has_name;
};

/* Creates a file. Where the system can, it has no name yet, so that others do not see it before it
 * has its first contents. Returns false and the reason when it exists already or cannot be created.
 * The path is UTF-8. */
bool maar_file_create(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE]);

/* Gives the file its name, the path with which it was created. Returns false and the reason when
 * such a file exists now, or the name cannot be given. */
bool maar_file_name(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE]);

/* Reserves the bytes of a range on the disk, so that storing there cannot fail, and returns a view
 * of them, which reads as 0. Returns NULL when the disk or the address space is full, when the
 * process may not write files of this size, and when the program has closed the descriptor. */
void* maar_file_map(const struct maar_file* file, uint64_t offset, size_t size);

/* Ends a view. */
void maar_file_unmap(void* view, size_t size);

/* Cuts the file off if it is longer. No view may reach beyond the new size. */
void maar_file_cut(const struct maar_file* file, uint64_t size);

/* Closes the file. Views stay valid. */
void maar_file_close(struct maar_file* file);

/* Closes the file, and removes it if it has its name already. */
void maar_file_discard(const char* path, struct maar_file* file);

/* Returns whether the file's handle is still that of the file. Some programs close all descriptors
 * that they do not know, and the number then belongs to a file of theirs. */
bool maar_file_is_open(const struct maar_file* file);

/* Returns the number by which the operating system knows this thread, and this process. */
uint32_t maar_system_thread(void);
uint64_t maar_system_process(void);
uint64_t maar_system_parent(void);

#endif
