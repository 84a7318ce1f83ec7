/*
 * Files with transfers at any offset: see port_disk.h.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dl_iterate_phdr, syscall, O_DIRECT */
#endif
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#if !defined(_WIN32) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64
#endif

#include "core/port_disk.h"

#include <string.h>

/* One call of the system transfers at most so many bytes. */
#define MOST_AT_ONCE ((size_t)1 << 30)

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

static HANDLE handle_of(const struct maar_disk* disk)
{
    return (HANDLE)disk->file.handle;
}

static bool open_disk(const char* path, DWORD access, DWORD creation, DWORD flags,
                      struct maar_disk* disk)
{
    wchar_t wide[MAX_PATH];
    *disk = (struct maar_disk){.file.handle = (intptr_t)INVALID_HANDLE_VALUE};
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MAX_PATH) == 0) {
        return false;
    }
    const HANDLE opened =
        CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, creation, flags, NULL);
    disk->file.handle = (intptr_t)opened;
    disk->is_direct = (flags & FILE_FLAG_NO_BUFFERING) != 0;
    return opened != INVALID_HANDLE_VALUE;
}

/* Makes the file so long at least, with its bytes reserved. */
static enum maar_disk_outcome reserve_disk(const struct maar_disk* disk, uint64_t size)
{
    LARGE_INTEGER end;
    end.QuadPart = (LONGLONG)size;
    if (maar_disk_size(disk) >= size || (SetFilePointerEx(handle_of(disk), end, NULL, FILE_BEGIN) &&
                                         SetEndOfFile(handle_of(disk)))) {
        return MAAR_DISK_DONE;
    }
    return GetLastError() == ERROR_DISK_FULL ? MAAR_DISK_FULL : MAAR_DISK_FAILED;
}

enum maar_disk_outcome maar_disk_open(const struct maar_disk_opening* opening,
                                      struct maar_disk* disk)
{
    const bool is_passing = !opening->exists && !opening->is_kept;
    const DWORD flags = (opening->is_direct ? FILE_FLAG_NO_BUFFERING : 0u) |
                        (is_passing ? FILE_FLAG_DELETE_ON_CLOSE : 0u) | FILE_ATTRIBUTE_NORMAL;
    const DWORD access = GENERIC_READ | GENERIC_WRITE | (is_passing ? DELETE : 0u);
    if (!open_disk(opening->path, access, opening->exists ? OPEN_EXISTING : CREATE_NEW, flags,
                   disk)) {
        return MAAR_DISK_FAILED;
    }
    const enum maar_disk_outcome outcome = reserve_disk(disk, opening->size);
    if (outcome != MAAR_DISK_DONE) {
        disk->file.has_name = true;
        if (opening->exists) {
            maar_disk_close(disk);
        } else {
            maar_file_discard(opening->path, &disk->file);
        }
    }
    return outcome;
}

enum maar_disk_outcome maar_disk_open_source(const char* path, struct maar_disk* disk)
{
    if (!open_disk(path, GENERIC_READ, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, disk)) {
        return MAAR_DISK_FAILED;
    }
    if (GetFileType(handle_of(disk)) != FILE_TYPE_DISK) {
        maar_disk_close(disk);
        return MAAR_DISK_FAILED;
    }
    return MAAR_DISK_DONE;
}

uint64_t maar_disk_size(const struct maar_disk* disk)
{
    LARGE_INTEGER size;
    return GetFileSizeEx(handle_of(disk), &size) ? (uint64_t)size.QuadPart : 0;
}

/* Transfers some of the bytes. Returns how many, or 0. */
static size_t transfer_some(const struct maar_disk* disk, uint64_t offset, void* target,
                            const void* source, size_t size)
{
    OVERLAPPED place = {.Offset = (DWORD)(offset & 0xFFFFFFFFu),
                        .OffsetHigh = (DWORD)(offset >> 32)};
    DWORD done = 0;
    const BOOL succeeded = target != NULL
                               ? ReadFile(handle_of(disk), target, (DWORD)size, &done, &place)
                               : WriteFile(handle_of(disk), source, (DWORD)size, &done, &place);
    return succeeded ? done : 0;
}

bool maar_disk_sync(const struct maar_disk* disk)
{
    return FlushFileBuffers(handle_of(disk)) != 0;
}

void* maar_disk_map(const struct maar_disk* disk, size_t size)
{
    const HANDLE mapping = CreateFileMappingW(handle_of(disk), NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping == NULL) {
        return NULL;
    }
    void* const view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
    (void)CloseHandle(mapping);
    return view;
}

#else
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Notes which file a descriptor is. Returns false if it is none, or no regular file. */
static bool note_disk(int number, struct maar_disk* disk)
{
    struct stat status;
    *disk = (struct maar_disk){.file.handle = number};
    if (number < 0 || fstat(number, &status) != 0) {
        return false;
    }
    disk->file.device = (uint64_t)status.st_dev;
    disk->file.number = (uint64_t)status.st_ino;
    disk->file.has_name = true;
    return S_ISREG(status.st_mode);
}

/* Lets transfers go past the system's cache, if that is possible. */
static void make_direct(struct maar_disk* disk)
{
    const int number = (int)disk->file.handle;
#if defined(O_DIRECT)
    const int flags = fcntl(number, F_GETFL);
    disk->is_direct = flags >= 0 && fcntl(number, F_SETFL, flags | O_DIRECT) == 0;
#elif defined(F_NOCACHE)
    disk->is_direct = fcntl(number, F_NOCACHE, 1) == 0;
#else
    (void)number;
#endif
}

/* Reserves the bytes of the file on the disk. */
static enum maar_disk_outcome reserve_disk(const struct maar_disk* disk, uint64_t size)
{
    struct rlimit limit;
    int failed = 0;
    /* The system would send a signal. */
    if (size > INT64_MAX || (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                             limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)) {
        return MAAR_DISK_FULL;
    }
    do {
        failed = size == 0 ? 0 : posix_fallocate((int)disk->file.handle, 0, (off_t)size);
    } while (failed == EINTR);
    if (failed == 0) {
        return MAAR_DISK_DONE;
    }
    return failed == ENOSPC || failed == EFBIG ? MAAR_DISK_FULL : MAAR_DISK_FAILED;
}

enum maar_disk_outcome maar_disk_open(const struct maar_disk_opening* opening,
                                      struct maar_disk* disk)
{
    const int creation = opening->exists ? 0 : O_CREAT | O_EXCL;
    const int number = open(opening->path, O_RDWR | O_CLOEXEC | creation, 0600);
    if (!note_disk(number, disk)) {
        if (number >= 0) {
            (void)close(number);
        }
        return MAAR_DISK_FAILED;
    }
    if (!opening->exists && !opening->is_kept) {
        disk->file.has_name = unlink(opening->path) != 0;
    }
    const enum maar_disk_outcome outcome = reserve_disk(disk, opening->size);
    if (outcome != MAAR_DISK_DONE) {
        if (opening->exists) {
            maar_disk_close(disk);
        } else {
            maar_file_discard(opening->path, &disk->file);
        }
    } else if (opening->is_direct) {
        make_direct(disk);
    }
    return outcome;
}

enum maar_disk_outcome maar_disk_open_source(const char* path, struct maar_disk* disk)
{
    /* Without O_NONBLOCK the opening of a pipe would wait. */
    const int number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (!note_disk(number, disk)) {
        if (number >= 0) {
            (void)close(number);
        }
        return MAAR_DISK_FAILED;
    }
    return MAAR_DISK_DONE;
}

uint64_t maar_disk_size(const struct maar_disk* disk)
{
    struct stat status;
    return fstat((int)disk->file.handle, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static ssize_t transfer_once(int number, uint64_t offset, void* target, const void* source,
                             size_t size)
{
    return target != NULL ? pread(number, target, size, (off_t)offset)
                          : pwrite(number, source, size, (off_t)offset);
}

/* Transfers some of the bytes. Returns how many, or 0. */
static size_t transfer_some(const struct maar_disk* disk, uint64_t offset, void* target,
                            const void* source, size_t size)
{
    const int number = (int)disk->file.handle;
    ssize_t done = -1;
    if (!maar_file_is_open(&disk->file)) {
        return 0;
    }
    do {
        done = transfer_once(number, offset, target, source, size);
    } while (done < 0 && errno == EINTR);
#if defined(O_DIRECT)
    /* The file system takes the flag and not the transfer. */
    if (done < 0 && errno == EINVAL && disk->is_direct) {
        const int flags = fcntl(number, F_GETFL);
        if (flags >= 0 && fcntl(number, F_SETFL, flags & ~O_DIRECT) == 0) {
            done = transfer_once(number, offset, target, source, size);
        }
    }
#endif
    return done > 0 ? (size_t)done : 0;
}

bool maar_disk_sync(const struct maar_disk* disk)
{
    return maar_file_is_open(&disk->file) && fsync((int)disk->file.handle) == 0;
}

void* maar_disk_map(const struct maar_disk* disk, size_t size)
{
    void* const view = mmap(NULL, size, PROT_READ, MAP_SHARED, (int)disk->file.handle, 0);
    return view != MAP_FAILED ? view : NULL;
}
#endif

/* Transfers all bytes to the target, or from the source if the target is NULL. */
static bool transfer_all(const struct maar_disk* disk, uint64_t offset, uint8_t* target,
                         const uint8_t* source, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const size_t left = size - done;
        const size_t some = transfer_some(
            disk, offset + done, target != NULL ? target + done : NULL,
            source != NULL ? source + done : NULL, left < MOST_AT_ONCE ? left : MOST_AT_ONCE);
        if (some == 0) {
            return false;
        }
        done += some;
    }
    return true;
}

bool maar_disk_read(const struct maar_disk* disk, uint64_t offset, void* bytes, size_t size)
{
    return transfer_all(disk, offset, bytes, NULL, size);
}

bool maar_disk_write(const struct maar_disk* disk, uint64_t offset, const void* bytes, size_t size)
{
    return transfer_all(disk, offset, NULL, bytes, size);
}

void maar_disk_close(struct maar_disk* disk)
{
    maar_file_close(&disk->file);
}
