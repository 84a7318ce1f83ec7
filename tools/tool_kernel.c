/*
 * The kernel's figures; see tool_kernel.h and the kernel's page "DRM client usage stats".
 *
 * A region of memory, for example "vram0", has up to five keys: drm-total-, drm-shared-,
 * drm-resident-, drm-active- and drm-purgeable-. Older kernels have drm-memory- alone, which is
 * what is resident. Bytes are resident ones where the driver says them, or else total ones. Several
 * files, also of several processes, may speak of one client of a driver: the client is counted
 * once, for the process with the lowest number.
 */
#include "tool_kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_REGIONS = 16, REGION_NAME = 32, MOST_FILE = 8192 };

/* A region of a client. */
struct kernel_region {
    char name[REGION_NAME];
    uint64_t resident, total;
    bool has_resident;
};

/* A file of fdinfo. */
struct kernel_client {
    char driver[32], device[32];
    uint64_t number;
    bool has_number;
    size_t region_count;
    struct kernel_region regions[MOST_REGIONS];
};

struct kernel_seen {
    char driver[32], device[32];
    uint64_t number;
};

struct kernel_work {
    struct tool_kernel* kernel;
    const char* proc;
    struct kernel_seen* seen;
    size_t seen_count, seen_capacity;
    bool failed;
};

static struct kernel_region* find_region(struct kernel_client* client, const char* name)
{
    for (size_t i = 0; i < client->region_count; ++i) {
        if (strcmp(client->regions[i].name, name) == 0) {
            return &client->regions[i];
        }
    }
    if (client->region_count == MOST_REGIONS) {
        return NULL;
    }
    struct kernel_region* const region = &client->regions[client->region_count++];
    (void)snprintf(region->name, sizeof region->name, "%.31s", name);
    return region;
}

/* Reads "123 KiB". */
static uint64_t read_bytes(const char* text)
{
    char* end = NULL;
    if (text[0] < '0' || text[0] > '9') {
        return 0;
    }
    const uint64_t number = strtoull(text, &end, 10);
    end += strspn(end, " \t");
    unsigned shift = 0;
    shift = strncmp(end, "KiB", 3) == 0 ? 10 : shift;
    shift = strncmp(end, "MiB", 3) == 0 ? 20 : shift;
    shift = strncmp(end, "GiB", 3) == 0 ? 30 : shift;
    return number <= (UINT64_MAX >> 12) >> shift ? number << shift : 0;
}

static void read_line(struct kernel_client* client, char* line)
{
    char* const colon = strchr(line, ':');
    if (colon == NULL || strncmp(line, "drm-", 4) != 0) {
        return;
    }
    *colon = '\0';
    const char* const key = line + 4;
    const char* const value = colon + 1 + strspn(colon + 1, " \t");
    if (strcmp(key, "driver") == 0) {
        (void)snprintf(client->driver, sizeof client->driver, "%.31s", value);
    } else if (strcmp(key, "pdev") == 0) {
        (void)snprintf(client->device, sizeof client->device, "%.31s", value);
    } else if (strcmp(key, "client-id") == 0) {
        client->number = strtoull(value, NULL, 10);
        client->has_number = true;
    } else if (strncmp(key, "resident-", 9) == 0 || strncmp(key, "memory-", 7) == 0) {
        struct kernel_region* const region = find_region(client, strchr(key, '-') + 1);
        if (region != NULL) {
            region->resident = read_bytes(value);
            region->has_resident = true;
        }
    } else if (strncmp(key, "total-", 6) == 0) {
        struct kernel_region* const region = find_region(client, key + 6);
        if (region != NULL) {
            region->total = read_bytes(value);
        }
    }
}

/* Reads a small file whole. Returns false if that is not possible. */
static bool read_small(int folder, const char* name, char* text, size_t size)
{
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return false;
    }
    size_t used = 0;
    ssize_t got = 1;
    while (got > 0 && used + 1 < size) {
        got = read(file, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    (void)close(file);
    text[used] = '\0';
    return used > 0;
}

/* Returns whether a client was counted before, and notes it. */
static bool was_seen(struct kernel_work* work, const struct kernel_client* client)
{
    for (size_t i = 0; client->has_number && i < work->seen_count; ++i) {
        const struct kernel_seen* const seen = &work->seen[i];
        if (seen->number == client->number && strcmp(seen->device, client->device) == 0 &&
            strcmp(seen->driver, client->driver) == 0) {
            return true;
        }
    }
    if (work->seen_count == work->seen_capacity) {
        const size_t larger = work->seen_capacity == 0 ? 64 : work->seen_capacity * 2;
        struct kernel_seen* const grown = realloc(work->seen, larger * sizeof *grown);
        if (grown == NULL) {
            work->failed = true;
            return true;
        }
        work->seen = grown;
        work->seen_capacity = larger;
    }
    struct kernel_seen* const seen = &work->seen[work->seen_count++];
    memcpy(seen->driver, client->driver, sizeof seen->driver);
    memcpy(seen->device, client->device, sizeof seen->device);
    seen->number = client->number;
    return false;
}

static struct tool_kernel_use* find_use(struct kernel_work* work, uint64_t process,
                                        const struct kernel_client* client)
{
    struct tool_kernel* const kernel = work->kernel;
    for (size_t i = kernel->count; i > 0 && kernel->items[i - 1].process == process; --i) {
        struct tool_kernel_use* const use = &kernel->items[i - 1];
        if (strcmp(use->device, client->device) == 0 && strcmp(use->driver, client->driver) == 0) {
            return use;
        }
    }
    if (kernel->count == kernel->capacity) {
        const size_t larger = kernel->capacity == 0 ? 32 : kernel->capacity * 2;
        struct tool_kernel_use* const grown = realloc(kernel->items, larger * sizeof *grown);
        if (grown == NULL) {
            work->failed = true;
            return NULL;
        }
        kernel->items = grown;
        kernel->capacity = larger;
    }
    struct tool_kernel_use* const use = &kernel->items[kernel->count++];
    *use = (struct tool_kernel_use){.process = process};
    memcpy(use->driver, client->driver, sizeof use->driver);
    memcpy(use->device, client->device, sizeof use->device);
    return use;
}

/* Adds a client's bytes. Regions that are no memory, such as doorbells, are left out. */
static void add_client(struct kernel_work* work, uint64_t process,
                       const struct kernel_client* client)
{
    static const char* const no_memory[] = {"gds", "gws", "oa", "doorbell", "mmio"};
    if (client->driver[0] == '\0' || client->region_count == 0 || was_seen(work, client)) {
        return;
    }
    struct tool_kernel_use* const use = find_use(work, process, client);
    for (size_t i = 0; use != NULL && i < client->region_count; ++i) {
        const struct kernel_region* const region = &client->regions[i];
        const uint64_t bytes = region->has_resident ? region->resident : region->total;
        bool counts = true;
        for (size_t j = 0; j < sizeof no_memory / sizeof no_memory[0]; ++j) {
            counts = counts && strncmp(region->name, no_memory[j], strlen(no_memory[j])) != 0;
        }
        const bool is_device =
            strncmp(region->name, "vram", 4) == 0 || strncmp(region->name, "local", 5) == 0;
        use->device_bytes += counts && is_device ? bytes : 0;
        use->host_bytes += counts && !is_device ? bytes : 0;
    }
}

/* Returns whether an open file may belong to a driver of DRM. */
static bool may_be_drm(int files, const char* number)
{
    char target[64] = "";
    if (files < 0) {
        return true;
    }
    const ssize_t size = readlinkat(files, number, target, sizeof target - 1);
    return size < 0 || strncmp(target, "/dev/dri/", 9) == 0 ||
           strncmp(target, "/dev/accel/", 11) == 0;
}

static void read_process(struct kernel_work* work, uint64_t process)
{
    char path[4200];
    char text[MOST_FILE];
    (void)snprintf(path, sizeof path, "%s/%" PRIu64 "/fdinfo", work->proc, process);
    DIR* const folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    (void)snprintf(path, sizeof path, "%s/%" PRIu64 "/fd", work->proc, process);
    const int files = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const size_t before = work->kernel->count;
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct kernel_client client = {.number = 0};
        if (entry->d_name[0] == '.' || !may_be_drm(files, entry->d_name) ||
            !read_small(dirfd(folder), entry->d_name, text, sizeof text)) {
            continue;
        }
        char* rest = NULL;
        for (char* line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            read_line(&client, line);
        }
        add_client(work, process, &client);
    }
    if (files >= 0) {
        (void)close(files);
    }
    (void)closedir(folder);
    if (work->kernel->count > before) {
        (void)snprintf(path, sizeof path, "%s/%" PRIu64 "/comm", work->proc, process);
        char name[64] = "?";
        (void)read_small(AT_FDCWD, path, name, sizeof name);
        name[strcspn(name, "\n")] = '\0';
        for (size_t i = before; i < work->kernel->count; ++i) {
            memcpy(work->kernel->items[i].name, name, sizeof name);
        }
    }
}

static int compare_numbers(const void* left, const void* right)
{
    const uint64_t a = *(const uint64_t*)left;
    const uint64_t b = *(const uint64_t*)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

static int compare_uses(const void* left, const void* right)
{
    const struct tool_kernel_use* const a = left;
    const struct tool_kernel_use* const b = right;
    const uint64_t a_bytes = a->device_bytes + a->host_bytes;
    const uint64_t b_bytes = b->device_bytes + b->host_bytes;
    if (a_bytes != b_bytes) {
        return a_bytes > b_bytes ? -1 : 1;
    }
    return a->process < b->process ? -1 : a->process > b->process ? 1 : 0;
}

bool tool_kernel_read(struct tool_kernel* kernel, const char* proc)
{
    struct kernel_work work = {.kernel = kernel, .proc = proc};
    uint64_t* processes = NULL;
    size_t count = 0;
    size_t capacity = 0;
    kernel->count = 0;
    DIR* const folder = opendir(proc);
    for (struct dirent* entry = folder != NULL ? readdir(folder) : NULL; entry != NULL;
         entry = readdir(folder)) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') {
            continue;
        }
        if (count == capacity) {
            capacity = capacity == 0 ? 256 : capacity * 2;
            uint64_t* const grown = realloc(processes, capacity * sizeof *grown);
            if (grown == NULL) {
                work.failed = true;
                break;
            }
            processes = grown;
        }
        processes[count++] = strtoull(entry->d_name, NULL, 10);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    if (count > 0) {
        qsort(processes, count, sizeof *processes, compare_numbers);
    }
    for (size_t i = 0; i < count && !work.failed; ++i) {
        read_process(&work, processes[i]);
    }
    free(processes);
    free(work.seen);
    if (kernel->count > 0) {
        qsort(kernel->items, kernel->count, sizeof *kernel->items, compare_uses);
    }
    return !work.failed;
}

struct tool_kernel_use tool_kernel_find(const struct tool_kernel* kernel, uint64_t process)
{
    struct tool_kernel_use sum = {.process = process};
    for (size_t i = 0; i < kernel->count; ++i) {
        if (kernel->items[i].process == process) {
            sum.device_bytes += kernel->items[i].device_bytes;
            sum.host_bytes += kernel->items[i].host_bytes;
            memcpy(sum.driver, kernel->items[i].driver, sizeof sum.driver);
        }
    }
    return sum;
}

void tool_kernel_release(struct tool_kernel* kernel)
{
    free(kernel->items);
    memset(kernel, 0, sizeof *kernel);
}
