/*
 * FAKES. Virtual memory management: physical memory is a file, an address range a mapping without
 * access, and mapping is mapping.
 */
#include "tests/fakes/fake_device.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_granular(uint64_t size)
{
    return size != 0 && size % FAKE_GRANULARITY == 0;
}

bool fake_check_backing_info(const struct maar_cuda_backing_info* info)
{
    const char* wrong = NULL;
    if (info->type != MAAR_CUDA_BACKING_PINNED) {
        wrong = "the type of physical memory is not \"pinned\"";
    } else if (info->location.type != MAAR_CUDA_LOCATION_DEVICE || info->location.id < 0 ||
               info->location.id >= fake.device_count) {
        wrong = "the location is no device";
    } else if (((int)info->shareable & ~(MAAR_CUDA_SHAREABLE_FD)) != 0) {
        wrong = "the kind of handle to be shared is not supported";
    } else if (!fake_is_zero(info->reserved, sizeof info->reserved)) {
        wrong = "the reserved fields of the properties are not zero";
    }
    if (wrong != NULL) {
        (void)fake_breach(0, "%s", wrong);
    }
    return wrong == NULL;
}

/* So that the simulated driver takes the file for one of its own. */
static void write_head(int fd, uint64_t size)
{
    struct fake_file_head head = {
        .magic = FAKE_MAGIC_SIMULATED,
        .kind = FAKE_FILE_MEMORY,
        .handle_types = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
        .size = size,
        .memory_type = fake.identity.memory_type,
    };
    memcpy(head.device_uuid, fake.identity.device_uuid, VK_UUID_SIZE);
    memcpy(head.driver_uuid, fake.identity.driver_uuid, VK_UUID_SIZE);
    if (fake.has_identity && pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
        abort();
    }
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

static struct fake_backing* make_backing(int fd, uint64_t size)
{
    struct fake_backing* made = fake_make(FAKE_KIND_BACKING, sizeof *made);
    made->fd = fd;
    made->size = size;
    return made;
}

int fake_create_backing(size_t size, const struct maar_cuda_backing_info* info,
                        unsigned long long flags, struct fake_backing** backing)
{
    if (flags != 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the flags are not zero");
    }
    if (!fake_check_backing_info(info)) {
        return MAAR_CUDA_INVALID_VALUE;
    }
    if (!is_granular(size)) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the size, %zu, is no multiple of the granularity", size);
    }
    if (size > fake_total_bytes() - fake.used_bytes) {
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    const int fd = memfd_create("maar FAKE device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)(size + FAKE_FILE_EXTRA)) != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    write_head(fd, size);
    *backing = make_backing(fd, size);
    (*backing)->shareable = info->shareable == MAAR_CUDA_SHAREABLE_FD;
    (*backing)->counted = true;
    fake.used_bytes += size;
    return MAAR_CUDA_SUCCESS;
}

int fake_export_backing(struct fake_backing* backing, enum maar_cuda_shareable_type type, int* fd)
{
    if (type != MAAR_CUDA_SHAREABLE_FD) {
        return fake_breach(MAAR_CUDA_NOT_SUPPORTED, "the kind of handle is not supported");
    }
    if (!backing->shareable) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the memory was not created to be shared by descriptor");
    }
    *fd = fcntl(backing->fd, F_DUPFD_CLOEXEC, 0);
    return *fd >= 0 ? MAAR_CUDA_SUCCESS : MAAR_CUDA_OPERATING_SYSTEM;
}

int fake_import_backing(int fd, enum maar_cuda_shareable_type type, struct fake_backing** backing)
{
    struct stat status;
    if (type != MAAR_CUDA_SHAREABLE_FD) {
        return fake_breach(MAAR_CUDA_NOT_SUPPORTED, "the kind of handle is not supported");
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= FAKE_FILE_EXTRA) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "%d is no descriptor of memory", fd);
    }
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return MAAR_CUDA_OPERATING_SYSTEM;
    }
    *backing = make_backing(own, (uint64_t)status.st_size - FAKE_FILE_EXTRA);
    return MAAR_CUDA_SUCCESS;
}

/* Physical memory lives until it was released and is mapped nowhere. */
static void end_backing(struct fake_backing* backing)
{
    if (!backing->released || backing->mappings != 0) {
        return;
    }
    (void)close(backing->fd);
    backing->fd = -1;
    if (backing->counted) {
        fake.used_bytes -= backing->size;
    }
}

int fake_release_backing(struct fake_backing* backing)
{
    backing->object.dead = true;
    backing->released = true;
    end_backing(backing);
    return MAAR_CUDA_SUCCESS;
}

/* ---- address ranges ---- */

static void* map_nothing(void* at, size_t size)
{
    return mmap(at, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0), -1, 0);
}

int fake_reserve(size_t size, size_t alignment, uintptr_t preferred, uintptr_t* start)
{
    (void)preferred; /* no more than a preference */
    if (!is_granular(size) || (alignment & (alignment - 1)) != 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the size or the alignment does not fit the granularity");
    }
    const size_t align = alignment > FAKE_GRANULARITY ? alignment : FAKE_GRANULARITY;
    char* map = map_nothing(NULL, size + align);
    if (map == MAP_FAILED) {
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    const size_t before = (align - (uintptr_t)map % align) % align;
    if (before != 0) {
        (void)munmap(map, before);
    }
    (void)munmap(map + before + size, align - before);
    struct fake_reservation* made = fake_make(FAKE_KIND_RESERVATION, sizeof *made);
    made->start = (uintptr_t)map + before;
    made->size = size;
    *start = made->start;
    return MAAR_CUDA_SUCCESS;
}

static struct fake_reservation* find_reservation(uintptr_t start, size_t size)
{
    for (struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        struct fake_reservation* found = (struct fake_reservation*)at;
        if (at->kind == FAKE_KIND_RESERVATION && !at->dead && start >= found->start &&
            start - found->start < found->size && size <= found->size - (start - found->start)) {
            return found;
        }
    }
    return NULL;
}

/* A mapping that touches a part of the range. */
static struct fake_range* find_pages(uintptr_t start, size_t size)
{
    for (struct fake_range* range = fake.ranges; range != NULL; range = range->next) {
        if (range->kind == FAKE_KIND_PAGES && range->start < start + size &&
            start < range->start + range->size) {
            return range;
        }
    }
    return NULL;
}

int fake_unreserve(uintptr_t start, size_t size)
{
    struct fake_reservation* found = find_reservation(start, size);
    if (found == NULL || found->start != start || found->size != size) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the range is none that was reserved");
    }
    if (find_pages(start, size) != NULL) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "pages are still mapped in the range");
    }
    (void)munmap((void*)start, size);
    found->object.dead = true;
    return MAAR_CUDA_SUCCESS;
}

int fake_map_pages(uintptr_t start, size_t size, size_t offset, struct fake_backing* backing)
{
    if (find_reservation(start, size) == NULL) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the range was not reserved");
    }
    if (!is_granular(size) || start % FAKE_GRANULARITY != 0 || offset != 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the range or the offset does not fit the granularity");
    }
    if (size > backing->size) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the memory has no more than %llu bytes",
                           (unsigned long long)backing->size);
    }
    if (find_pages(start, size) != NULL) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "something is mapped there already");
    }
    void* map =
        mmap((void*)start, size, PROT_NONE, MAP_SHARED | MAP_FIXED, backing->fd, FAKE_FILE_PAYLOAD);
    if (map == MAP_FAILED) {
        return MAAR_CUDA_MAP_FAILED;
    }
    struct fake_range* range = fake_add_range(FAKE_KIND_PAGES, map, size);
    range->backing = backing;
    range->accessible = false;
    ++backing->mappings;
    return MAAR_CUDA_SUCCESS;
}

/* Calls it for each mapping of a range that consists of whole ones; false, and a breach, if not. */
static bool check_whole_pages(uintptr_t start, size_t size)
{
    uintptr_t at = start;
    while (at < start + size) {
        const struct fake_range* range = find_pages(at, 1);
        if (range == NULL || range->start != at || range->size > start + size - at) {
            (void)fake_breach(0, "the range does not consist of whole mappings");
            return false;
        }
        at += range->size;
    }
    return size != 0;
}

int fake_unmap_pages(uintptr_t start, size_t size)
{
    if (!check_whole_pages(start, size)) {
        return MAAR_CUDA_INVALID_VALUE;
    }
    for (uintptr_t at = start; at < start + size;) {
        struct fake_range* range = find_pages(at, 1);
        struct fake_backing* backing = range->backing;
        at += range->size;
        fake_end_range(range);
        (void)map_nothing((void*)range->start, range->size);
        --backing->mappings;
        end_backing(backing);
    }
    return MAAR_CUDA_SUCCESS;
}

int fake_set_access(uintptr_t start, size_t size, const struct maar_cuda_access_info* access,
                    size_t count)
{
    if (!check_whole_pages(start, size)) {
        return MAAR_CUDA_INVALID_VALUE;
    }
    for (size_t i = 0; i < count; ++i) {
        const bool all = access[i].access == MAAR_CUDA_ACCESS_READ_WRITE;
        if (access[i].location.type != MAAR_CUDA_LOCATION_DEVICE || access[i].location.id < 0 ||
            access[i].location.id >= fake.device_count ||
            (!all && access[i].access != MAAR_CUDA_ACCESS_NONE)) {
            return fake_breach(MAAR_CUDA_INVALID_VALUE, "no such device, or no such access");
        }
        for (uintptr_t at = start; at < start + size;) {
            struct fake_range* range = find_pages(at, 1);
            range->accessible = all;
            (void)mprotect(range->map, range->map_size, all ? PROT_READ | PROT_WRITE : PROT_NONE);
            at += range->size;
        }
    }
    return MAAR_CUDA_SUCCESS;
}
