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
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MAX_PATH) != 0) {
        const HANDLE made = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                        NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
        if (made != INVALID_HANDLE_VALUE) {
            file->handle = (intptr_t)made;
            return true;
        }
    }
    (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "Windows error %lu",
                   (unsigned long)GetLastError());
    return false;
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
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

bool maar_file_create(const char* path, struct maar_file* file, char reason[MAAR_FILE_REASON_SIZE])
{
    const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    file->handle = made;
    if (made < 0) {
        (void)snprintf(reason, MAAR_FILE_REASON_SIZE, "%s", strerror(errno));
    }
    return made >= 0;
}

void* maar_file_map(const struct maar_file* file, uint64_t offset, size_t size)
{
    const int number = (int)file->handle;
    int failed;
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
    /* A file that stays longer has empty records at its end, which readers skip. */
    if (ftruncate((int)file->handle, (off_t)size) != 0) {
        return;
    }
}

void maar_file_close(struct maar_file* file)
{
    (void)close((int)file->handle);
    file->handle = -1;
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
