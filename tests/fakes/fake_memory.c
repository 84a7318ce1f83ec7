/*
 * FAKES. External memory: the file behind a block is mapped once more for each pointer that is
 * asked for, so that two of them differ, as they may on a device.
 */
#include "tests/fakes/fake_device.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const uint64_t total_bytes = (uint64_t)8 << 30;

uint64_t fake_total_bytes(void)
{
    return total_bytes;
}

/* ---- ranges ---- */

struct fake_range* fake_find_range(const void* address)
{
    const uintptr_t at = (uintptr_t)address;
    for (struct fake_range* range = fake.ranges; range != NULL; range = range->next) {
        if (at >= range->start && at - range->start < range->size) {
            return range;
        }
    }
    return NULL;
}

static bool was_freed(const void* address)
{
    const uintptr_t at = (uintptr_t)address;
    for (const struct fake_range* range = fake.dead_ranges; range != NULL; range = range->next) {
        if (at >= range->start && at - range->start < range->size) {
            return true;
        }
    }
    return false;
}

bool fake_check_span(const void* address, size_t size, const char* what)
{
    const char* at = address;
    size_t left = size;
    enum fake_kind kind = FAKE_KIND_PAGES;
    while (left != 0) {
        const struct fake_range* range = fake_find_range(at);
        if (range == NULL || (at != (const char*)address && kind != FAKE_KIND_PAGES)) {
            (void)fake_breach(0, "%s, %zu bytes, %s", what, size,
                              at != (const char*)address ? "goes beyond its memory"
                              : was_freed(address)       ? "has been freed"
                                                         : "is no device memory");
            return false;
        }
        if (!range->accessible) {
            (void)fake_breach(0, "%s, %zu bytes, is mapped without access", what, size);
            return false;
        }
        const size_t there = range->size - ((uintptr_t)at - range->start);
        kind = range->kind;
        at += there < left ? there : left;
        left -= there < left ? there : left;
    }
    return true;
}

struct fake_range* fake_add_range(enum fake_kind kind, void* start, size_t size)
{
    struct fake_range* range = calloc(1, sizeof *range);
    if (range == NULL) {
        abort();
    }
    *range = (struct fake_range){
        .next = fake.ranges,
        .kind = kind,
        .context = fake_current(),
        .start = (uintptr_t)start,
        .size = size,
        .map = start,
        .map_size = size,
        .accessible = true,
    };
    fake.ranges = range;
    return range;
}

void fake_end_range(struct fake_range* range)
{
    struct fake_range** link = &fake.ranges;
    while (*link != range) {
        link = &(*link)->next;
    }
    *link = range->next;
    if (range->kind != FAKE_KIND_PAGES) { /* those lie in a range that stays reserved */
        (void)munmap(range->map, range->map_size);
    }
    range->next = fake.dead_ranges;
    fake.dead_ranges = range;
}

/* ---- descriptors ---- */

bool fake_take_descriptor(struct fake_descriptor* descriptor, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        return false;
    }
    const int own = fake_api.takes_descriptors ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    *descriptor =
        (struct fake_descriptor){.fd = own, .file_device = status.st_dev, .file = status.st_ino};
    return own >= 0;
}

bool fake_check_descriptor(const struct fake_descriptor* descriptor)
{
    struct stat status;
    const bool same = fstat(descriptor->fd, &status) == 0 && status.st_ino == descriptor->file &&
                      status.st_dev == descriptor->file_device;
    if (!same) {
        (void)fake_breach(0, "descriptor %d, which an import had taken, was closed by another",
                          descriptor->fd);
    }
    return same;
}

void fake_close_descriptor(struct fake_descriptor* descriptor)
{
    if (fake_check_descriptor(descriptor)) {
        (void)close(descriptor->fd);
    }
    descriptor->fd = -1;
}

/* ---- imports ---- */

static bool check_handle(const struct maar_cuda_memory_handle* handle)
{
    if (handle->type != MAAR_CUDA_MEMORY_OPAQUE_FD) {
        (void)fake_breach(0, "handles of type %d are not supported", (int)handle->type);
        return false;
    }
    if ((handle->flags & ~(unsigned int)MAAR_CUDA_MEMORY_DEDICATED) != 0) {
        (void)fake_breach(0, "flags 0x%x are unknown", handle->flags);
        return false;
    }
    if (!fake_is_zero(handle->reserved, sizeof handle->reserved)) {
        (void)fake_breach(0, "the reserved fields of the handle are not zero");
        return false;
    }
    return true;
}

/* The files of the simulated driver say for which device they are. */
static bool check_head(int fd)
{
    struct fake_file_head* head = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED) {
        return true;
    }
    const uint8_t* uuid = fake.devices[fake_current()->device].uuid;
    bool fits = true;
    if (memcmp(head->magic, FAKE_MAGIC_SIMULATED, sizeof FAKE_MAGIC_SIMULATED) == 0) {
        if (head->kind != FAKE_FILE_MEMORY) {
            (void)fake_breach(0, "the descriptor is a semaphore");
            fits = false;
        } else if (memcmp(head->device_uuid, uuid, VK_UUID_SIZE) != 0) {
            (void)fake_breach(0, "the descriptor is of a device with another UUID");
            fits = false;
        }
    } else if (memcmp(head->magic, FAKE_MAGIC_WRAP, sizeof head->magic) == 0) {
        (void)fake_breach(0, "the descriptor is a semaphore");
        fits = false;
    }
    (void)munmap(head, PAGE);
    return fits;
}

static bool check_file(int fd, uint64_t size)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        (void)fake_breach(0, "%d is no open descriptor", fd);
        return false;
    }
    if (!S_ISREG(status.st_mode) || status.st_size < FAKE_FILE_EXTRA) {
        (void)fake_breach(0, "descriptor %d is no exported memory", fd);
        return false;
    }
    if ((uint64_t)status.st_size != size + FAKE_FILE_EXTRA) {
        (void)fake_breach(0, "the size is %llu, but %llu bytes were allocated",
                          (unsigned long long)size,
                          (unsigned long long)status.st_size - FAKE_FILE_EXTRA);
        return false;
    }
    return check_head(fd);
}

int fake_import_memory(const struct maar_cuda_memory_handle* given, struct fake_memory** memory)
{
    struct maar_cuda_memory_handle copy = *given;
    const struct maar_cuda_memory_handle* handle = &copy;
    if (fake.tamper.memory != NULL) {
        fake.tamper.memory(&copy, fake.tamper.data);
    }
    fake.last_memory = copy;
    if (!check_handle(handle) || !check_file(handle->handle.fd, handle->size)) {
        return handle->type != MAAR_CUDA_MEMORY_OPAQUE_FD ? MAAR_CUDA_NOT_SUPPORTED
                                                          : MAAR_CUDA_INVALID_VALUE;
    }
    struct fake_descriptor descriptor;
    if (!fake_take_descriptor(&descriptor, handle->handle.fd)) {
        return MAAR_CUDA_OPERATING_SYSTEM; /* no copy: the process has no descriptor left */
    }
    struct fake_memory* made = fake_make(FAKE_KIND_MEMORY, sizeof *made);
    made->size = handle->size;
    made->descriptor = descriptor;
    *memory = made;
    return MAAR_CUDA_SUCCESS;
}

int fake_map_memory(struct fake_memory* memory, const struct maar_cuda_memory_range* given,
                    void** pointer)
{
    struct maar_cuda_memory_range copy = *given;
    const struct maar_cuda_memory_range* range = &copy;
    if (fake.tamper.range != NULL) {
        fake.tamper.range(&copy, fake.tamper.data);
    }
    fake.last_range = copy;
    if (range->flags != 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the flags of the range are not zero");
    }
    if (!fake_is_zero(range->reserved, sizeof range->reserved)) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the reserved fields of the range are not zero");
    }
    if (range->size == 0 || range->offset > memory->size ||
        range->size > memory->size - range->offset) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "%llu bytes at %llu are outside of the memory's %llu", range->size,
                           range->offset, (unsigned long long)memory->size);
    }
    if (!fake_check_descriptor(&memory->descriptor)) {
        return MAAR_CUDA_MAP_FAILED;
    }
    const size_t into = (size_t)(range->offset % PAGE);
    const size_t size = (size_t)range->size + into;
    const off_t at = (off_t)(FAKE_FILE_PAYLOAD + range->offset - into);
    char* map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->descriptor.fd, at);
    if (map == MAP_FAILED) {
        return MAAR_CUDA_MAP_FAILED;
    }
    struct fake_range* made = fake_add_range(FAKE_KIND_MAPPING, map + into, (size_t)range->size);
    made->map = map;
    made->map_size = size;
    made->memory = memory;
    ++memory->mappings;
    *pointer = map + into;
    return MAAR_CUDA_SUCCESS;
}

int fake_destroy_memory(struct fake_memory* memory)
{
    if (memory->mappings != 0 || memory->images != 0) {
        (void)fake_breach(0,
                          "external memory is destroyed before %u pointers and %u arrays made of "
                          "it were freed",
                          memory->mappings, memory->images);
    }
    fake_close_descriptor(&memory->descriptor);
    memory->object.dead = true;
    return MAAR_CUDA_SUCCESS;
}

/* ---- images ---- */

static unsigned int bytes_of(enum maar_cuda_format format)
{
    switch (format) {
    case MAAR_CUDA_FORMAT_UINT8:
    case MAAR_CUDA_FORMAT_SINT8:
        return 1;
    case MAAR_CUDA_FORMAT_UINT16:
    case MAAR_CUDA_FORMAT_SINT16:
    case MAAR_CUDA_FORMAT_HALF:
        return 2;
    case MAAR_CUDA_FORMAT_UINT32:
    case MAAR_CUDA_FORMAT_SINT32:
    case MAAR_CUDA_FORMAT_FLOAT:
        return 4;
    default:
        return 0; /* compressed, or unknown */
    }
}

static const char* wrong_with_shape(const struct maar_cuda_array_shape* shape)
{
    const unsigned int known = MAAR_CUDA_ARRAY_LAYERED | MAAR_CUDA_ARRAY_SURFACE |
                               MAAR_CUDA_ARRAY_CUBE | MAAR_CUDA_ARRAY_GATHER |
                               MAAR_CUDA_ARRAY_COLOR_ATTACHMENT;
    const bool compressed = shape->format >= MAAR_CUDA_FORMAT_BC1_UNORM &&
                            shape->format <= MAAR_CUDA_FORMAT_BC7_UNORM_SRGB;
    if (!compressed && bytes_of(shape->format) == 0) {
        return "the format is unknown";
    }
    if (shape->channels == 0 || shape->channels == 3 || shape->channels > 4) {
        return "an element has 1, 2 or 4 channels";
    }
    if ((shape->flags & ~known) != 0) {
        return "a flag of the shape is unknown";
    }
    if (shape->width == 0) {
        return "the width is 0";
    }
    if ((shape->flags & MAAR_CUDA_ARRAY_LAYERED) != 0 && shape->depth == 0) {
        return "a layered array has its layers as depth";
    }
    if ((shape->flags & MAAR_CUDA_ARRAY_CUBE) != 0 &&
        (shape->width != shape->height || shape->depth == 0 || shape->depth % 6 != 0)) {
        return "a cube map is square and has six faces";
    }
    if (shape->height == 0 && shape->depth != 0 && (shape->flags & MAAR_CUDA_ARRAY_LAYERED) == 0) {
        return "an array with depth has height";
    }
    return NULL;
}

static uint32_t most_levels(const struct maar_cuda_array_shape* shape)
{
    const bool layered = (shape->flags & (MAAR_CUDA_ARRAY_LAYERED | MAAR_CUDA_ARRAY_CUBE)) != 0;
    size_t longest = shape->width > shape->height ? shape->width : shape->height;
    longest = !layered && shape->depth > longest ? shape->depth : longest;
    uint32_t levels = 0;
    for (; longest != 0; longest >>= 1) {
        ++levels;
    }
    return levels;
}

/* Bytes of the first level at least. */
static uint64_t least_bytes(const struct maar_cuda_array_shape* shape)
{
    const uint64_t height = shape->height != 0 ? shape->height : 1;
    const uint64_t depth = shape->depth != 0 ? shape->depth : 1;
    return shape->width * height * depth * bytes_of(shape->format) * shape->channels;
}

int fake_map_image(struct fake_memory* memory, const struct maar_cuda_memory_image* info,
                   struct fake_image** image)
{
    fake.last_image = *info;
    const char* wrong = wrong_with_shape(&info->shape);
    if (wrong != NULL) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "%s", wrong);
    }
    if (!fake_is_zero(info->reserved, sizeof info->reserved)) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the reserved fields of the image are not zero");
    }
    if (info->levels == 0 || info->levels > most_levels(&info->shape)) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "%u levels are too many or too few",
                           info->levels);
    }
    if (info->offset >= memory->size || least_bytes(&info->shape) > memory->size - info->offset) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the image at %llu goes beyond the memory's %llu bytes", info->offset,
                           (unsigned long long)memory->size);
    }
    struct fake_image* made = fake_make(FAKE_KIND_IMAGE, sizeof *made);
    made->memory = memory;
    made->info = *info;
    ++memory->images;
    *image = made;
    return MAAR_CUDA_SUCCESS;
}

int fake_destroy_image(struct fake_image* image)
{
    image->object.dead = true;
    --image->memory->images;
    return MAAR_CUDA_SUCCESS;
}

/* ---- the fake's own memory ---- */

int fake_allocate(size_t size, void** pointer)
{
    if (size == 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the size is 0");
    }
    if (size > total_bytes - fake.used_bytes) {
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    void* map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    (void)fake_add_range(FAKE_KIND_ALLOCATION, map, size);
    fake.used_bytes += size;
    *pointer = map;
    return MAAR_CUDA_SUCCESS;
}

int fake_free(void* pointer)
{
    if (fake.free_waits) {
        (void)fake_synchronize_context();
    }
    struct fake_range* range = fake_find_range(pointer);
    if (range == NULL || range->kind == FAKE_KIND_PAGES) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the pointer %s",
                           range == NULL && was_freed(pointer) ? "has been freed already"
                                                               : "is none that can be freed");
    }
    if (range->start != (uintptr_t)pointer) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "the pointer is not what was given out");
    }
    if (range->context != fake_current()) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE,
                           "the pointer belongs to another context than the current one");
    }
    if (range->memory != NULL) {
        --range->memory->mappings;
        if (range->memory->object.dead) {
            (void)fake_breach(0, "the external memory was destroyed before this pointer of it");
        }
    } else {
        fake.used_bytes -= range->size;
    }
    fake_end_range(range);
    return MAAR_CUDA_SUCCESS;
}
