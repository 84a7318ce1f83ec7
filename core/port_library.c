/*
 * Libraries opened at run time, for POSIX and for Windows.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dl_iterate_phdr, syscall */
#endif
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/port_library.h"

#include <stdio.h>
#include <string.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include <psapi.h>

/* MinGW's headers declare these only for programs that do not run on Windows 7. */
#ifndef LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR 0x00000100
#endif
#ifndef LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS 0x00001000
#endif

static void describe_error(const char* path, DWORD error, char reason[MAAR_LIBRARY_REASON_SIZE])
{
    (void)snprintf(reason, MAAR_LIBRARY_REASON_SIZE, "%s: Windows error %lu", path,
                   (unsigned long)error);
}

bool maar_library_open(const char* path, struct maar_library* library,
                       char reason[MAAR_LIBRARY_REASON_SIZE])
{
    wchar_t wide[MAX_PATH];
    library->handle = NULL;
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, MAX_PATH) == 0) {
        describe_error(path, GetLastError(), reason);
        return false;
    }
    /* With these flags the system does not search the current folder. It searches the library's own
     * folder only if path has a folder. */
    DWORD flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    if (strpbrk(path, "\\/") != NULL) {
        flags |= LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
    }
    HMODULE module = LoadLibraryExW(wide, NULL, flags);
    if (module == NULL) {
        describe_error(path, GetLastError(), reason);
        return false;
    }
    HMODULE pinned = NULL;
    (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                             (const wchar_t*)(void*)module, &pinned);
    library->handle = module;
    return true;
}

/* A module stays loaded: it is pinned as maar_library_open's is. */
static bool open_module(HMODULE module, const char* start, struct maar_library* library,
                        char path[MAAR_LIBRARY_PATH_SIZE])
{
    wchar_t wide[MAX_PATH];
    const DWORD size = GetModuleFileNameW(module, wide, MAX_PATH);
    if (size == 0 || size == MAX_PATH ||
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, MAAR_LIBRARY_PATH_SIZE, NULL, NULL) == 0) {
        return false;
    }
    const char* name = strrchr(path, '\\');
    char reason[MAAR_LIBRARY_REASON_SIZE];
    return _strnicmp(name != NULL ? name + 1 : path, start, strlen(start)) == 0 &&
           maar_library_open(path, library, reason);
}

bool maar_library_open_loaded(const char* start, struct maar_library* library,
                              char path[MAAR_LIBRARY_PATH_SIZE])
{
    enum { MOST_MODULES = 128 }; /* 1 KiB; a library beyond them is opened by name instead */
    HMODULE modules[MOST_MODULES];
    DWORD size = 0;
    library->handle = NULL;
    if (!K32EnumProcessModules(GetCurrentProcess(), modules, (DWORD)sizeof modules, &size)) {
        return false;
    }
    const DWORD count = size / (DWORD)sizeof modules[0];
    for (DWORD i = 0; i < count && i < MOST_MODULES; ++i) {
        if (open_module(modules[i], start, library, path)) {
            return true;
        }
    }
    return false;
}

void maar_library_close(struct maar_library* library)
{
    if (library->handle != NULL) {
        (void)FreeLibrary((HMODULE)library->handle);
        library->handle = NULL;
    }
}

maar_library_function maar_library_find(const struct maar_library* library, const char* name)
{
    const FARPROC found = GetProcAddress((HMODULE)library->handle, name);
    maar_library_function function = NULL;
    memcpy(&function, &found, sizeof function);
    return function;
}

#else
#include <dlfcn.h>
#if defined(__linux__)
#include <link.h>
#endif

bool maar_library_open(const char* path, struct maar_library* library,
                       char reason[MAAR_LIBRARY_REASON_SIZE])
{
    int flags = RTLD_NOW | RTLD_LOCAL;
#if defined(RTLD_NODELETE)
    flags |= RTLD_NODELETE;
#endif
    library->handle = dlopen(path, flags);
    if (library->handle == NULL) {
        const char* said = dlerror();
        (void)snprintf(reason, MAAR_LIBRARY_REASON_SIZE, "%s", said != NULL ? said : path);
        return false;
    }
    return true;
}

#if defined(__linux__)
struct library_search {
    const char* start;
    char* path;
};

/* Called for each loaded object. Returns 1, which ends the search, for the one that is wanted. */
static int compare_loaded(struct dl_phdr_info* info, size_t size, void* data)
{
    const struct library_search* search = data;
    const char* folder_end = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (folder_end == NULL || strncmp(folder_end + 1, search->start, strlen(search->start)) != 0 ||
        strlen(info->dlpi_name) >= MAAR_LIBRARY_PATH_SIZE) {
        return 0;
    }
    (void)snprintf(search->path, MAAR_LIBRARY_PATH_SIZE, "%s", info->dlpi_name);
    return 1;
}
#endif

bool maar_library_open_loaded(const char* start, struct maar_library* library,
                              char path[MAAR_LIBRARY_PATH_SIZE])
{
    library->handle = NULL;
#if defined(__linux__)
    struct library_search search = {.start = start, .path = path};
    char reason[MAAR_LIBRARY_REASON_SIZE];
    return dl_iterate_phdr(compare_loaded, &search) == 1 &&
           maar_library_open(path, library, reason);
#else
    (void)start;
    (void)path;
    return false;
#endif
}

void maar_library_close(struct maar_library* library)
{
    if (library->handle != NULL) {
        (void)dlclose(library->handle);
        library->handle = NULL;
    }
}

maar_library_function maar_library_find(const struct maar_library* library, const char* name)
{
    void* found = dlsym(library->handle, name);
    maar_library_function function = NULL;
    memcpy(&function, &found, sizeof function);
    return function;
}

#endif
