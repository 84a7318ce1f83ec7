/*
 * Stands in front of a no-op DRM kernel module that is preloaded too:
 *
 *     LD_PRELOAD=libmaar_ioctl_faults.so:libamdgpu_noop_drm_shim.so
 *
 * and sees every call of the amdgpu driver on its way there. Tests find the table with dlsym; any
 * other program can be started with MAAR_IOCTL_FAULTS, for example
 *
 *     MAAR_IOCTL_FAULTS=vram=2048,visible=256,gtt=4096,others_vram=1550,create=101,create_count=1
 *
 * sizes in MiB, `create`, `place`, `map` and `submit` the first call that fails, and all later ones
 * unless a count says otherwise. Only the amdgpu kernel interface of x86-64 is known here.
 */
#include "tests/radv/ioctl_faults.h"
#include "tests/radv/syncobjs.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the kernel's interface, as much as is needed; memory in the order of enum fault_memory */

enum {
    DRM_TYPE = 'd',
    DRM_GEM_CLOSE = 0x09,
    AMDGPU_GEM_CREATE = 0x40,
    AMDGPU_GEM_MMAP = 0x41,
    AMDGPU_CS = 0x44,
    AMDGPU_INFO = 0x45,
    AMDGPU_GEM_VA = 0x48
};

enum {
    QUERY_VRAM_USAGE = 0x10,
    QUERY_GTT_USAGE = 0x11,
    QUERY_SIZES = 0x14,
    QUERY_VISIBLE_USAGE = 0x17,
    QUERY_MEMORY = 0x19
};

enum { DOMAIN_GTT = 0x2, DOMAIN_VRAM = 0x4, CREATE_HOST_ACCESS = 0x1, VA_MAP = 1 };

union gem_create {
    struct {
        uint64_t size;
        uint64_t alignment;
        uint64_t domains;
        uint64_t flags;
    } in;
    struct {
        uint32_t handle;
        uint32_t padding;
    } out;
};
static_assert(sizeof(union gem_create) == 32, "the kernel's size");

struct gem_close {
    uint32_t handle;
    uint32_t padding;
};
static_assert(sizeof(struct gem_close) == 8, "the kernel's size");

struct gem_va {
    uint32_t handle;
    uint32_t padding;
    uint32_t operation;
    uint32_t flags;
    uint64_t address;
    uint64_t offset;
    uint64_t size;
};
static_assert(sizeof(struct gem_va) == 40, "the kernel's size");

struct info_request {
    uint64_t pointer;
    uint32_t size;
    uint32_t query;
    uint32_t parameters[4];
};
static_assert(sizeof(struct info_request) == 32, "the kernel's size");

struct info_sizes {
    uint64_t bytes[FAULT_MEMORY_COUNT];
};
static_assert(sizeof(struct info_sizes) == 24, "the kernel's size");

struct info_memory {
    struct {
        uint64_t total;
        uint64_t usable;
        uint64_t usage;
        uint64_t largest;
    } heaps[FAULT_MEMORY_COUNT];
};
static_assert(sizeof(struct info_memory) == 96, "the kernel's size");

/* ---- state ---- */

typedef int (*ioctl_function)(int, unsigned long, ...);

/* Buffer objects by their handles, which the no-op kernel gives out densely from 1. */
enum { MOST_HANDLES = 1 << 16 };
struct buffer_object {
    uint64_t size;
    bool counted[FAULT_MEMORY_COUNT];
};

static struct ioctl_faults faults;
static struct buffer_object objects[MOST_HANDLES];

struct ioctl_faults* maar_ioctl_faults(void);
int ioctl(int file, unsigned long request, ...);

struct ioctl_faults* maar_ioctl_faults(void)
{
    return &faults;
}

static ioctl_function next_ioctl(void)
{
    static _Atomic(ioctl_function) known;
    ioctl_function function = atomic_load(&known);
    if (function == NULL) {
        void* symbol = dlsym(RTLD_NEXT, "ioctl");
        memcpy(&function, &symbol, sizeof function);
        atomic_store(&known, function);
    }
    return function;
}

/* Whether this call is to be refused; counts it. */
static bool is_refused(enum fault_call call)
{
    struct fault_rule* rule = &faults.rules[call];
    uint64_t number = atomic_fetch_add(&rule->calls, 1) + 1;
    uint64_t first = atomic_load(&rule->first);
    if (first == 0 || number < first || number - first >= atomic_load(&rule->count)) {
        return false;
    }
    (void)atomic_fetch_add(&rule->struck, 1);
    return true;
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

/* ---- buffer objects ---- */

/* What the driver received last. */
static _Atomic uint64_t reported_sizes[FAULT_MEMORY_COUNT];

/* All VRAM is visible where the BAR has its size. */
static bool sees_all_vram(void)
{
    return atomic_load(&reported_sizes[FAULT_VISIBLE_VRAM]) >=
           atomic_load(&reported_sizes[FAULT_VRAM]);
}

static void count_created(uint32_t handle, uint64_t size, uint64_t domains, uint64_t flags)
{
    (void)atomic_fetch_add(&faults.live_count, 1);
    if (handle >= MOST_HANDLES) {
        return;
    }
    bool vram = (domains & DOMAIN_VRAM) != 0;
    objects[handle] = (struct buffer_object){
        .size = size,
        .counted[FAULT_VRAM] = vram,
        .counted[FAULT_VISIBLE_VRAM] =
            vram && (sees_all_vram() || (flags & CREATE_HOST_ACCESS) != 0),
        .counted[FAULT_GTT] = !vram && (domains & DOMAIN_GTT) != 0,
    };
    for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
        if (objects[handle].counted[i]) {
            (void)atomic_fetch_add(&faults.own[i], size);
        }
    }
}

static void count_closed(uint32_t handle)
{
    (void)atomic_fetch_sub(&faults.live_count, 1);
    if (handle >= MOST_HANDLES) {
        return;
    }
    for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
        if (objects[handle].counted[i]) {
            (void)atomic_fetch_sub(&faults.own[i], objects[handle].size);
        }
    }
    objects[handle] = (struct buffer_object){.size = 0};
}

static int create_object(int file, unsigned long request, union gem_create* create)
{
    if (is_refused(FAULT_CALL_CREATE)) {
        return refuse(ENOMEM);
    }
    const union gem_create asked = *create;
    int result = next_ioctl()(file, request, create);
    if (result == 0) {
        count_created(create->out.handle, asked.in.size, asked.in.domains, asked.in.flags);
    }
    return result;
}

static int close_object(int file, unsigned long request, struct gem_close* close)
{
    uint32_t handle = close->handle;
    count_closed(handle); /* before: the handle may be another's as soon as it is closed */
    return next_ioctl()(file, request, close);
}

/* The no-op kernel never frees an object that was mapped exactly once (Mesa 25.0.7): map twice. */
static int map_object(int file, unsigned long request, uint64_t* map)
{
    if (is_refused(FAULT_CALL_MAP)) {
        return refuse(ENOMEM);
    }
    const uint64_t asked = *map;
    int result = next_ioctl()(file, request, map);
    if (result == 0) {
        uint64_t again = asked;
        (void)next_ioctl()(file, request, &again);
    }
    return result;
}

/* ---- what is known of memory ---- */

static uint64_t usage_of(enum fault_memory memory)
{
    return atomic_load(&faults.own[memory]) + atomic_load(&faults.others[memory]);
}

static void rewrite_memory(struct info_memory* memory)
{
    for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
        uint64_t size = atomic_load(&faults.sizes[i]);
        if (size != 0) {
            memory->heaps[i].total = size;
            memory->heaps[i].usable = size;
            memory->heaps[i].largest = size / 4 * 3;
        }
        memory->heaps[i].usage = usage_of((enum fault_memory)i);
        atomic_store(&reported_sizes[i], memory->heaps[i].total);
    }
}

/* The driver's memory for an answer holds as many bytes as it asked for. */
static void give_answer(const struct info_request* info, const void* answer, size_t size)
{
    memcpy((void*)(uintptr_t)info->pointer, answer, info->size < size ? info->size : size);
}

/* The no-op kernel (Mesa 25.0.7) knows no usage, and sizes by one of two queries only. */
static bool answer_for_kernel(const struct info_request* info)
{
    uint64_t usage = 0;
    struct info_sizes sizes;
    switch (info->query) {
    case QUERY_VRAM_USAGE:
        usage = usage_of(FAULT_VRAM);
        break;
    case QUERY_VISIBLE_USAGE:
        usage = usage_of(FAULT_VISIBLE_VRAM);
        break;
    case QUERY_GTT_USAGE:
        usage = usage_of(FAULT_GTT);
        break;
    case QUERY_SIZES:
        for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
            sizes.bytes[i] = atomic_load(&reported_sizes[i]);
        }
        give_answer(info, &sizes, sizeof sizes);
        return true;
    default:
        return false;
    }
    give_answer(info, &usage, sizeof usage);
    return true;
}

static int answer_query(int file, unsigned long request, struct info_request* info)
{
    if (answer_for_kernel(info)) {
        return 0;
    }
    int result = next_ioctl()(file, request, info);
    struct info_memory memory;
    if (result == 0 && info->query == QUERY_MEMORY && info->size >= sizeof memory) {
        memcpy(&memory, (const void*)(uintptr_t)info->pointer, sizeof memory);
        rewrite_memory(&memory);
        give_answer(info, &memory, sizeof memory);
    }
    return result;
}

/* ---- submissions ---- */

/* One that is refused ends its fences too, as a device that is lost does. */
static int submit(int file, unsigned long request, void* argument)
{
    int result =
        is_refused(FAULT_CALL_SUBMIT) ? refuse(ENODEV) : next_ioctl()(file, request, argument);
    syncobjs_signal_submission(argument);
    return result;
}

/* ---- the door ---- */

int ioctl(int file, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    int result = 0;
    if ((request >> 8 & 0xFF) == DRM_TYPE) {
        switch (request & 0xFF) {
        case AMDGPU_GEM_CREATE:
            return create_object(file, request, argument);
        case DRM_GEM_CLOSE:
            return close_object(file, request, argument);
        case AMDGPU_GEM_MMAP:
            return map_object(file, request, argument);
        case AMDGPU_INFO:
            return answer_query(file, request, argument);
        case AMDGPU_GEM_VA:
            if (((const struct gem_va*)argument)->operation == VA_MAP &&
                is_refused(FAULT_CALL_PLACE)) {
                return refuse(ENOMEM);
            }
            break;
        case AMDGPU_CS:
            return submit(file, request, argument);
        default:
            if (syncobjs_answer(&faults, request & 0xFF, argument, &result)) {
                return result;
            }
            break;
        }
    }
    return next_ioctl()(file, request, argument);
}

/* ---- MAAR_IOCTL_FAULTS ---- */

static void set_from_word(const char* name, uint64_t value)
{
    static const char* const calls[FAULT_CALL_COUNT] = {"create", "place", "map", "submit"};
    static const char* const memories[FAULT_MEMORY_COUNT] = {"vram", "visible", "gtt"};
    for (int i = 0; i < FAULT_CALL_COUNT; ++i) {
        size_t length = strlen(calls[i]);
        if (strcmp(name, calls[i]) == 0) {
            atomic_store(&faults.rules[i].count, UINT64_MAX);
            atomic_store(&faults.rules[i].first, value);
            return;
        }
        if (strncmp(name, calls[i], length) == 0 && strcmp(name + length, "_count") == 0) {
            atomic_store(&faults.rules[i].count, value);
            return;
        }
    }
    for (int i = 0; i < FAULT_MEMORY_COUNT; ++i) {
        if (strcmp(name, memories[i]) == 0) {
            atomic_store(&faults.sizes[i], value << 20);
            return;
        }
        if (strncmp(name, "others_", 7) == 0 && strcmp(name + 7, memories[i]) == 0) {
            atomic_store(&faults.others[i], value << 20);
            return;
        }
    }
    (void)fprintf(stderr, "MAAR_IOCTL_FAULTS: unknown word \"%s\"\n", name);
    abort();
}

__attribute__((constructor)) static void read_environment(void)
{
    const char* at = getenv("MAAR_IOCTL_FAULTS");
    char name[32];
    unsigned long long value = 0;
    int length = 0;
    while (at != NULL && *at != '\0') {
        if (sscanf(at, "%31[a-z_]=%llu%n", name, &value, &length) != 2) {
            (void)fprintf(stderr, "MAAR_IOCTL_FAULTS: not understood: \"%s\"\n", at);
            abort();
        }
        set_from_word(name, value);
        at += length;
        at += *at == ',' ? 1 : 0;
    }
}
