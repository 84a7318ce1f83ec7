/*
 * Files, processes and the wall clock of each platform.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dl_iterate_phdr, syscall */
#endif
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/port_file.h"

#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

bool maar_file_create(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE])
{
    wchar_t wide[MAX_PATH];
    file->handle = (intptr_t)INVALID_HANDLE_VALUE;
    file->exists = false;
    file->has_name = true;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MAX_PATH) != 0) {
        const HANDLE made = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                        NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        if (made != INVALID_HANDLE_VALUE) {
            file->handle = (intptr_t)made;
            return true;
        }
    }
    const DWORD error = GetLastError();
    file->exists = error == ERROR_FILE_EXISTS;
    if (file->exists) {
        (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "File exists");
    } else {
        (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "Windows error %lu", (unsigned long)error);
    }
    return false;
}

bool maar_file_name(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE])
{
    (void)path;
    (void)reason;
    return file->has_name;
}

void* maar_file_map(const struct maar_file* file, uint64_t offset, size_t size)
{
    const uint64_t end = offset + size;
    /* A mapping larger than the file makes the file grow, and fails if the disk is full. */
    const HANDLE mapping = CreateFileMappingW((HANDLE)file->handle, NULL, PAGE_READWRITE,
                                              (DWORD)(end >> 32), (DWORD)(end & 0xFFFFFFFFu), NULL);
    if (mapping == NULL) {
        return NULL;
    }
    void* const view = MapViewOfFile(mapping, FILE_MAP_WRITE | FILE_MAP_READ, (DWORD)(offset >> 32),
                                     (DWORD)(offset & 0xFFFFFFFFu), size);
    (void)CloseHandle(mapping);
    return view;
}

void maar_file_unmap(void* view, size_t size)
{
    (void)size;
    (void)UnmapViewOfFile(view);
}

void maar_file_cut(const struct maar_file* file, uint64_t size)
{
    LARGE_INTEGER end;
    if (!GetFileSizeEx((HANDLE)file->handle, &end) || end.QuadPart <= (LONGLONG)size) {
        return;
    }
    end.QuadPart = (LONGLONG)size;
    if (SetFilePointerEx((HANDLE)file->handle, end, NULL, FILE_BEGIN)) {
        (void)SetEndOfFile((HANDLE)file->handle);
    }
}

void maar_file_close(struct maar_file* file)
{
    (void)CloseHandle((HANDLE)file->handle);
    file->handle = (intptr_t)INVALID_HANDLE_VALUE;
}

void maar_file_discard(const char* path, struct maar_file* file)
{
    wchar_t wide[MAX_PATH];
    maar_file_close(file);
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MAX_PATH) != 0) {
        (void)DeleteFileW(wide);
    }
}

bool maar_file_is_open(const struct maar_file* file)
{
    return file->handle != (intptr_t)INVALID_HANDLE_VALUE;
}

uint32_t maar_system_thread(void)
{
    return (uint32_t)GetCurrentThreadId();
}

uint64_t maar_system_process(void)
{
    return GetCurrentProcessId();
}

uint64_t maar_system_parent(void)
{
    return 0;
}

#else
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* Descriptors of files begin here, so that the program's own keep the numbers that they would have
 * without this file. */
enum { FIRST_DESCRIPTOR = 256 };

enum { DESCRIPTOR_PATH_SIZE = 64 };

static const char* descriptor_path(int number, char path[DESCRIPTOR_PATH_SIZE])
{
    (void)snprintf(path, DESCRIPTOR_PATH_SIZE, "/proc/self/fd/%d", number);
    return path;
}

/* Opens a file without a name in the folder of a path. Returns -1 if it could not get its name
 * later. */
static int open_nameless(const char* path)
{
    int number = -1;
#if defined(O_TMPFILE)
    char folder[4096];
    char link_path[DESCRIPTOR_PATH_SIZE];
    const char* const slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - path);
    if (length + 2 > sizeof folder) {
        return -1;
    }
    memcpy(folder, slash == NULL ? "." : path, length + 1);
    folder[slash == NULL || length == 0 ? 1 : length] = '\0';
    number = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0644);
    if (number >= 0 && access(descriptor_path(number, link_path), F_OK) != 0) {
        (void)close(number);
        number = -1;
    }
#else
    (void)path;
#endif
    return number;
}

bool maar_file_create(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE])
{
    struct stat status;
    file->exists = lstat(path, &status) == 0;
    int made = file->exists ? -1 : open_nameless(path);
    file->has_name = made < 0;
    if (made < 0) {
        made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        file->exists = made < 0 && errno == EEXIST;
    }
    file->handle = made;
    if (made < 0 || fstat(made, &status) != 0) {
        (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "%s", strerror(errno));
        return false;
    }
    const int high = fcntl(made, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (high >= 0) {
        (void)close(made);
        made = high;
    }
    file->handle = made;
    file->device = (uint64_t)status.st_dev;
    file->number = (uint64_t)status.st_ino;
    return true;
}

bool maar_file_name(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE])
{
    char link_path[DESCRIPTOR_PATH_SIZE];
    if (!file->has_name && linkat(AT_FDCWD, descriptor_path((int)file->handle, link_path), AT_FDCWD,
                                  path, AT_SYMLINK_FOLLOW) != 0) {
        file->exists = errno == EEXIST;
        (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "%s", strerror(errno));
        return false;
    }
    file->has_name = true;
    return true;
}

bool maar_file_is_open(const struct maar_file* file)
{
    struct stat status;
    return fstat((int)file->handle, &status) == 0 && (uint64_t)status.st_dev == file->device &&
           (uint64_t)status.st_ino == file->number;
}

/* Whether the process may write files of this size. The system would send a signal. */
static bool may_grow_to(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

void* maar_file_map(const struct maar_file* file, uint64_t offset, size_t size)
{
    const int number = (int)file->handle;
    int failed = 0;
    if (!maar_file_is_open(file) || !may_grow_to(offset + size)) {
        return NULL;
    }
    do {
        failed = posix_fallocate(number, (off_t)offset, (off_t)size);
    } while (failed == EINTR);
    if (failed != 0) {
        return NULL;
    }
    void* const view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, number, (off_t)offset);
    return view != MAP_FAILED ? view : NULL;
}

void maar_file_unmap(void* view, size_t size)
{
    (void)munmap(view, size);
}

void maar_file_cut(const struct maar_file* file, uint64_t size)
{
    struct stat status;
    if (!maar_file_is_open(file) || fstat((int)file->handle, &status) != 0 ||
        (uint64_t)status.st_size <= size) {
        return;
    }
    /* A file that stays longer has empty records at its end, which readers skip. */
    if (ftruncate((int)file->handle, (off_t)size) != 0) {
        return;
    }
}

void maar_file_close(struct maar_file* file)
{
    if (maar_file_is_open(file)) {
        (void)close((int)file->handle);
    }
    file->handle = -1;
}

void maar_file_discard(const char* path, struct maar_file* file)
{
    maar_file_close(file);
    if (file->has_name) {
        (void)unlink(path);
    }
}

uint32_t maar_system_thread(void)
{
#if defined(__linux__)
    return (uint32_t)syscall(SYS_gettid);
#else
    return (uint32_t)getpid();
#endif
}

uint64_t maar_system_process(void)
{
    return (uint64_t)getpid();
}

uint64_t maar_system_parent(void)
{
    return (uint64_t)getppid();
}
#endif
