/*
 * Stands in front of a no-op DRM kernel module that is preloaded too, other than amdgpu's:
 *
 *     LD_PRELOAD=libmaar_noop_time.so:libnouveau_noop_drm_shim.so
 *
 * Those modules have no synchronization objects: every wait succeeds, and the value of a timeline
 * is whatever was in the caller's memory. Here it is the greatest value that was waited for or
 * signalled.
 */
#include "tests/radv/syncobjs.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

enum { KERNEL_DRM = 'd' };

typedef int (*noop_ioctl)(int, unsigned long, ...);

int ioctl(int file, unsigned long request, ...);

static struct ioctl_faults no_faults;

static noop_ioctl real_ioctl(void)
{
    static _Atomic(noop_ioctl) known;
    noop_ioctl function = atomic_load(&known);
    if (function == NULL) {
        void* symbol = dlsym(RTLD_NEXT, "ioctl");
        memcpy(&function, &symbol, sizeof function);
        atomic_store(&known, function);
    }
    return function;
}

int ioctl(int file, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    int result = 0;
    if ((request >> 8 & 0xFF) == KERNEL_DRM &&
        syncobjs_answer(&no_faults, request & 0xFF, argument, &result)) {
        return result;
    }
    return real_ioctl()(file, request, argument);
}

__attribute__((constructor)) static void never_wait(void)
{
    syncobjs_never_wait();
}
