/*
 * FAKES. What a test may set and ask: struct fake_control.
 */
#include "tests/fakes/fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char* const kind_names[FAKE_KIND_COUNT] = {
    "imports of external memory",
    "imports of external semaphores",
    "mipmapped arrays",
    "streams",
    "events",
    "retains of primary contexts",
    "handles of physical memory",
    "reserved address ranges",
    "pointers into imported memory",
    "allocations",
    "mapped pages",
};

static void lock(void)
{
    (void)pthread_mutex_lock(&fake.mutex);
}

static void unlock(void)
{
    (void)pthread_mutex_unlock(&fake.mutex);
}

static uint64_t count_live(enum fake_kind kind)
{
    uint64_t count = 0;
    for (const struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        count += at->kind == kind && !at->dead && !at->unlisted;
    }
    for (const struct fake_range* at = fake.ranges; at != NULL; at = at->next) {
        count += at->kind == kind;
    }
    for (int i = 0; kind == FAKE_KIND_CONTEXT && i < FAKE_MAX_DEVICES; ++i) {
        count += fake.primary[i]->retains;
    }
    return count;
}

static uint64_t live(enum fake_kind kind)
{
    lock();
    const uint64_t count = count_live(kind);
    unlock();
    return count;
}

static void expect_nothing_alive(void)
{
    lock();
    for (int kind = 0; kind < FAKE_KIND_COUNT; ++kind) {
        const uint64_t count = count_live((enum fake_kind)kind);
        if (count != 0) {
            (void)fake_breach(0, "%u %s are alive at the end", (unsigned)count, kind_names[kind]);
        }
    }
    unlock();
}

/* ---- reset ---- */

static void free_ranges(struct fake_range** list)
{
    while (*list != NULL) {
        struct fake_range* range = *list;
        *list = range->next;
        free(range);
    }
}

static void close_object(struct fake_object* object)
{
    if (object->kind == FAKE_KIND_SEMAPHORE) {
        (void)munmap(((struct fake_semaphore*)object)->head, FAKE_FILE_PAYLOAD);
    }
    if (object->kind == FAKE_KIND_MEMORY && !object->dead) {
        fake_close_descriptor(&((struct fake_memory*)object)->descriptor);
    } else if (object->kind == FAKE_KIND_SEMAPHORE && !object->dead) {
        (void)fake_destroy_semaphore((struct fake_semaphore*)object);
    } else if (object->kind == FAKE_KIND_BACKING && ((struct fake_backing*)object)->fd >= 0) {
        (void)close(((struct fake_backing*)object)->fd);
    } else if (object->kind == FAKE_KIND_RESERVATION && !object->dead) {
        const struct fake_reservation* range = (struct fake_reservation*)object;
        (void)munmap((void*)range->start, range->size);
    } else if (object->kind == FAKE_KIND_STREAM) {
        struct fake_stream* stream = (struct fake_stream*)object;
        while (stream->first != NULL) {
            struct fake_operation* operation = stream->first;
            stream->first = operation->next;
            free(operation);
        }
    }
}

static void reset(void)
{
    lock();
    ++fake.waits_abandoned;
    fake.giving_up = true;
    (void)pthread_cond_broadcast(&fake.changed);
    fake_join_streams();
    while (fake.ranges != NULL) {
        fake_end_range(fake.ranges);
    }
    free_ranges(&fake.dead_ranges);
    for (struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        close_object(at);
    }
    while (fake.objects != NULL) {
        struct fake_object* object = fake.objects;
        fake.objects = object->next;
        free(object);
    }
    const struct fake_state keep = {.resets = fake.resets + 1,
                                    .waits_abandoned = fake.waits_abandoned};
    const size_t from = offsetof(struct fake_state, initialized);
    memset((char*)&fake + from, 0, sizeof fake - from);
    fake.resets = keep.resets;
    fake.waits_abandoned = keep.waits_abandoned;
    fake_set_defaults();
    unlock();
}

/* ---- what can be set ---- */

static struct fake_device* device_at(int index)
{
    if (index < 0 || index >= FAKE_MAX_DEVICES) {
        abort();
    }
    return &fake.devices[index];
}

static void set_device_count(int count)
{
    lock();
    fake.device_count = count <= FAKE_MAX_DEVICES ? count : FAKE_MAX_DEVICES;
    unlock();
}

static void set_uuid(int device, const uint8_t uuid[VK_UUID_SIZE])
{
    lock();
    memcpy(device_at(device)->uuid, uuid, VK_UUID_SIZE);
    unlock();
}

static void set_luid(int device, const uint8_t luid[VK_LUID_SIZE], uint32_t node_mask)
{
    lock();
    memcpy(device_at(device)->luid, luid, VK_LUID_SIZE);
    device_at(device)->node_mask = node_mask;
    unlock();
}

static void set_pci_address(int device, const char* address)
{
    lock();
    (void)snprintf(device_at(device)->pci_address, sizeof fake.devices[0].pci_address, "%s",
                   address);
    unlock();
}

static void set_attribute(int device, int attribute, int value)
{
    lock();
    if (attribute >= 0 && attribute < FAKE_ATTRIBUTES) {
        device_at(device)->attributes[attribute] = value;
    }
    unlock();
}

static void set_version(int version)
{
    lock();
    fake.version = version;
    unlock();
}

static void set_vulkan(const struct fake_vulkan* vulkan)
{
    lock();
    fake.vulkan = *vulkan;
    unlock();
}

static void set_identity(const struct fake_identity* identity)
{
    lock();
    fake.has_identity = identity != NULL;
    fake.identity = identity != NULL ? *identity : (struct fake_identity){.memory_type = 0};
    unlock();
}

static void set_tamper(const struct fake_tamper* tamper)
{
    lock();
    fake.tamper = tamper != NULL ? *tamper : (struct fake_tamper){.data = NULL};
    unlock();
}

static void set_free_waits(bool waits)
{
    lock();
    fake.free_waits = waits;
    unlock();
}

static struct maar_cuda_context* make_context(int device)
{
    lock();
    struct fake_context* context = fake_make(FAKE_KIND_CONTEXT, sizeof *context);
    context->object.unlisted = true;
    context->device = device;
    unlock();
    return (struct maar_cuda_context*)context;
}

static void set_fault(const char* function, uint64_t nth, uint64_t count, int result)
{
    lock();
    (void)snprintf(fake.failing, sizeof fake.failing, "%s", function != NULL ? function : "");
    fake.fail_at = nth;
    fake.fail_count = count;
    fake.fail_result = result;
    unlock();
}

static void forget_breaches(void)
{
    lock();
    fake.breach_count = 0;
    memset(fake.breaches, 0, sizeof fake.breaches);
    unlock();
}

static void abandon_waits(void)
{
    lock();
    ++fake.waits_abandoned;
    (void)pthread_cond_broadcast(&fake.changed);
    unlock();
}

/* ---- what can be asked ---- */

static uint64_t calls(const char* function)
{
    uint64_t count = 0;
    lock();
    for (uint32_t i = 0; i < FAKE_CALLS; ++i) {
        if (strcmp(fake.calls[i].name, function) == 0) {
            count = fake.calls[i].count;
        }
    }
    unlock();
    return count;
}

static uint64_t faults_left(void)
{
    lock();
    const uint64_t count = fake.fail_count;
    unlock();
    return count;
}

static uint64_t imported_bytes(void)
{
    uint64_t bytes = 0;
    lock();
    for (const struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        if (at->kind == FAKE_KIND_MEMORY && !at->dead) {
            bytes += ((const struct fake_memory*)at)->size;
        }
    }
    unlock();
    return bytes;
}

static uint32_t context_depth(void)
{
    lock();
    const uint32_t depth = fake_context_depth();
    unlock();
    return depth;
}

static uint64_t pending(void* stream)
{
    uint64_t count = 0;
    lock();
    for (const struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        const bool wanted = stream != NULL ? at == stream : at->unlisted;
        if (at->kind == FAKE_KIND_STREAM && wanted) {
            count += ((const struct fake_stream*)at)->pending;
        }
    }
    unlock();
    return count;
}

static struct maar_cuda_memory_handle last_memory(void)
{
    lock();
    const struct maar_cuda_memory_handle found = fake.last_memory;
    unlock();
    return found;
}

static struct maar_cuda_memory_range last_range(void)
{
    lock();
    const struct maar_cuda_memory_range found = fake.last_range;
    unlock();
    return found;
}

static struct maar_cuda_memory_image last_image(void)
{
    lock();
    const struct maar_cuda_memory_image found = fake.last_image;
    unlock();
    return found;
}

static struct maar_cuda_semaphore_handle last_semaphore(void)
{
    lock();
    const struct maar_cuda_semaphore_handle found = fake.last_semaphore;
    unlock();
    return found;
}

static uint32_t breach_count(void)
{
    lock();
    const uint32_t count = fake.breach_count;
    unlock();
    return count;
}

static const char* breach(uint32_t index)
{
    lock();
    const bool there = index < fake.breach_count && index < FAKE_BREACHES;
    unlock();
    return there ? fake.breaches[index] : "";
}

const struct fake_control* fake_get_control(void)
{
    static struct fake_control control = {
        .reset = reset,
        .set_device_count = set_device_count,
        .set_uuid = set_uuid,
        .set_luid = set_luid,
        .set_pci_address = set_pci_address,
        .set_attribute = set_attribute,
        .set_version = set_version,
        .set_vulkan = set_vulkan,
        .set_identity = set_identity,
        .make_context = make_context,
        .set_fault = set_fault,
        .faults_left = faults_left,
        .calls = calls,
        .set_tamper = set_tamper,
        .set_free_waits = set_free_waits,
        .live = live,
        .imported_bytes = imported_bytes,
        .context_depth = context_depth,
        .pending = pending,
        .last_memory = last_memory,
        .last_range = last_range,
        .last_image = last_image,
        .last_semaphore = last_semaphore,
        .breach_count = breach_count,
        .breach = breach,
        .forget_breaches = forget_breaches,
        .abandon_waits = abandon_waits,
        .expect_nothing_alive = expect_nothing_alive,
    };
    control.text = fake_api.text;
    return &control;
}
