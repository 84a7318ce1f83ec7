/*
 * Libraries opened at run time, for POSIX and for Windows.
 */
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
