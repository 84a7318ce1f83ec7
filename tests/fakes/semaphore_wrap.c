/*
 * FAKES. See semaphore_wrap.h.
 *
 * One mutex guards the lists; it is held while the driver below is called only when a device ends.
 */
#include "tests/fakes/semaphore_wrap.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fakes/fake_file.h"

enum { MAX_SEMAPHORES_PER_SUBMIT = 32, WRAP_FILE_SIZE = 4096 };

/* What a semaphore that can be exported is. It stays until the device goes. */
struct wrap_payload {
    struct wrap_payload* next;
    struct fake_shared_semaphore shared; /* the timeline below */
    bool binary;
};

/* A VkSemaphore of the program that means one of those: the timeline itself, or another semaphore
 * below that such a one was imported into. */
struct wrap_semaphore {
    struct wrap_semaphore* next;
    VkSemaphore handle;
    VkDevice device;
    struct wrap_payload* payload;
};

#define WRAP_DEVICE_FUNCTIONS(X)                                                                   \
    X(vkCreateSemaphore)                                                                           \
    X(vkDestroySemaphore)                                                                          \
    X(vkDestroyDevice)                                                                             \
    X(vkQueueSubmit)                                                                               \
    X(vkQueueBindSparse)                                                                           \
    X(vkWaitSemaphores)                                                                            \
    X(vkSignalSemaphore)                                                                           \
    X(vkGetSemaphoreCounterValue)

static struct {
    pthread_mutex_t mutex;
    VkInstance instance;
    PFN_vkGetInstanceProcAddr instance_below;
    PFN_vkGetDeviceProcAddr device_below;
    uint32_t kinds;
    struct wrap_payload* payloads;
    struct wrap_semaphore* semaphores;
    uint32_t breach_count;
    char breach[160];
} wrap = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The driver's functions; those of every device are the same here: there is one driver. */
static struct {
#define WRAP_DECLARE(name) PFN_##name name;
    WRAP_DEVICE_FUNCTIONS(WRAP_DECLARE)
} below;

static void wrap_lock(void)
{
    (void)pthread_mutex_lock(&wrap.mutex);
}

static void wrap_unlock(void)
{
    (void)pthread_mutex_unlock(&wrap.mutex);
}

static void wrap_breach(const char* text)
{
    ++wrap.breach_count;
    (void)snprintf(wrap.breach, sizeof wrap.breach, "%s", text);
}

uint32_t semaphore_wrap_breach_count(void)
{
    wrap_lock();
    const uint32_t count = wrap.breach_count;
    wrap_unlock();
    return count;
}

const char* semaphore_wrap_last_breach(void)
{
    return wrap.breach;
}

static const void* find_structure(const void* chain, VkStructureType type)
{
    const VkBaseInStructure* at = chain;
    while (at != NULL && at->sType != type) {
        at = at->pNext;
    }
    return at;
}

static void* allocate(size_t size)
{
    void* memory = calloc(1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Lock held. */
static struct wrap_semaphore* find_semaphore(VkSemaphore handle)
{
    struct wrap_semaphore* at = wrap.semaphores;
    while (at != NULL && at->handle != handle) {
        at = at->next;
    }
    return at;
}

/* What the driver below knows a timeline semaphore as. */
static VkSemaphore translate(VkSemaphore handle)
{
    wrap_lock();
    const struct wrap_semaphore* found = find_semaphore(handle);
    const VkSemaphore real = found != NULL ? found->payload->shared.timeline : handle;
    wrap_unlock();
    return real;
}

/* ---- what the device claims ---- */

static VKAPI_ATTR void VKAPI_CALL wrap_get_semaphore_properties(
    VkPhysicalDevice physical, const VkPhysicalDeviceExternalSemaphoreInfo* info,
    VkExternalSemaphoreProperties* properties)
{
    const VkSemaphoreTypeCreateInfo* type =
        find_structure(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    const bool timeline = type != NULL && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
    const uint32_t kind = timeline ? SEMAPHORE_WRAP_TIMELINE : SEMAPHORE_WRAP_BINARY;
    const bool offered = info->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT &&
                         (wrap.kinds & kind) != 0;
    const VkFlags types = offered ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT : 0;
    (void)physical;
    properties->exportFromImportedHandleTypes = types;
    properties->compatibleHandleTypes = types;
    properties->externalSemaphoreFeatures = offered
                                                ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                                                      VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT
                                                : 0;
}

/* ---- life ---- */

static VkResult create_timeline(VkDevice device, uint64_t value, VkSemaphore* semaphore)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = value,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    return below.vkCreateSemaphore(device, &info, NULL, semaphore);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_create_semaphore(VkDevice device,
                                                            const VkSemaphoreCreateInfo* info,
                                                            const VkAllocationCallbacks* callbacks,
                                                            VkSemaphore* semaphore)
{
    const VkExportSemaphoreCreateInfo* exported =
        find_structure(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    if (exported == NULL || exported->handleTypes == 0) {
        return below.vkCreateSemaphore(device, info, callbacks, semaphore);
    }
    const VkSemaphoreTypeCreateInfo* type =
        find_structure(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    const bool binary = type == NULL || type->semaphoreType == VK_SEMAPHORE_TYPE_BINARY;
    /* The timeline outlives what the program calls its end: an import keeps it. */
    const VkResult result = create_timeline(device, binary ? 0 : type->initialValue, semaphore);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct wrap_payload* payload = allocate(sizeof *payload);
    payload->shared.timeline = *semaphore;
    payload->binary = binary;
    payload->shared.device = device;
    payload->shared.wait = below.vkWaitSemaphores;
    payload->shared.signal = below.vkSignalSemaphore;
    payload->shared.get_value = below.vkGetSemaphoreCounterValue;
    struct wrap_semaphore* made = allocate(sizeof *made);
    wrap_lock();
    *made = (struct wrap_semaphore){wrap.semaphores, *semaphore, device, payload};
    wrap.semaphores = made;
    payload->next = wrap.payloads;
    wrap.payloads = payload;
    wrap_unlock();
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL wrap_destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                                                         const VkAllocationCallbacks* callbacks)
{
    wrap_lock();
    struct wrap_semaphore** link = &wrap.semaphores;
    while (*link != NULL && (*link)->handle != semaphore) {
        link = &(*link)->next;
    }
    struct wrap_semaphore* found = *link;
    bool stays = false;
    if (found != NULL) {
        *link = found->next;
        free(found);
    }
    for (const struct wrap_payload* at = wrap.payloads; at != NULL; at = at->next) {
        /* Handles of a device that is gone are given out again. */
        stays = stays || (at->shared.timeline == semaphore && at->shared.device == device &&
                          atomic_load(&at->shared.dead) == 0);
    }
    wrap_unlock();
    if (!stays) {
        below.vkDestroySemaphore(device, semaphore, callbacks);
    }
}

static VKAPI_ATTR void VKAPI_CALL wrap_destroy_device(VkDevice device,
                                                      const VkAllocationCallbacks* callbacks)
{
    wrap_lock();
    for (struct wrap_payload* at = wrap.payloads; at != NULL; at = at->next) {
        if (at->shared.device == device && atomic_exchange(&at->shared.dead, 1) == 0) {
            below.vkDestroySemaphore(device, at->shared.timeline, NULL);
        }
    }
    wrap_unlock();
    below.vkDestroyDevice(device, callbacks);
}

/* ---- export and import ---- */

static VKAPI_ATTR VkResult VKAPI_CALL wrap_get_semaphore_fd(VkDevice device,
                                                            const VkSemaphoreGetFdInfoKHR* info,
                                                            int* fd)
{
    *fd = -1;
    wrap_lock();
    const struct wrap_semaphore* found = find_semaphore(info->semaphore);
    struct wrap_payload* payload = found != NULL ? found->payload : NULL;
    if (payload == NULL) {
        wrap_breach("a semaphore is exported that was not created for it");
    }
    wrap_unlock();
    if (payload == NULL || info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct fake_file_head head = {
        .magic = {'M', 'A', 'A', 'R', 'W', 'R', 'A', 'P'},
        .kind = payload->binary ? FAKE_FILE_BINARY : FAKE_FILE_TIMELINE,
        .handle_types = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
        .device = (uint64_t)(uintptr_t)device,
        .semaphore = (uint64_t)info->semaphore,
        .process = (uint64_t)getpid(),
        .shared = (uint64_t)(uintptr_t)&payload->shared,
    };
    const int made = memfd_create("maar FAKE semaphore", MFD_CLOEXEC);
    if (made < 0) {
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    if (ftruncate(made, WRAP_FILE_SIZE) != 0 ||
        pwrite(made, &head, sizeof head, 0) != (ssize_t)sizeof head) {
        (void)close(made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *fd = made;
    return VK_SUCCESS;
}

static struct wrap_payload* payload_of_file(int fd)
{
    struct fake_file_head head;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.magic, FAKE_MAGIC_WRAP, sizeof head.magic) != 0 ||
        head.process != (uint64_t)getpid()) {
        return NULL;
    }
    struct wrap_payload* at = wrap.payloads;
    while (at != NULL && (uint64_t)(uintptr_t)&at->shared != head.shared) {
        at = at->next;
    }
    return at;
}

static VKAPI_ATTR VkResult VKAPI_CALL
wrap_import_semaphore_fd(VkDevice device, const VkImportSemaphoreFdInfoKHR* info)
{
    if (info->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT ||
        (info->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) != 0) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    wrap_lock();
    struct wrap_payload* payload = payload_of_file(info->fd);
    struct wrap_semaphore* found = find_semaphore(info->semaphore);
    const bool fits = payload != NULL && payload->shared.device == device;
    if (fits && found == NULL) {
        found = allocate(sizeof *found);
        *found = (struct wrap_semaphore){wrap.semaphores, info->semaphore, device, payload};
        wrap.semaphores = found;
    } else if (fits) {
        found->payload = payload;
    }
    wrap_unlock();
    if (!fits) {
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    (void)close(info->fd); /* a successful import takes it */
    return VK_SUCCESS;
}

/* ---- use ---- */

static VKAPI_ATTR VkResult VKAPI_CALL wrap_wait_semaphores(VkDevice device,
                                                           const VkSemaphoreWaitInfo* info,
                                                           uint64_t timeout)
{
    VkSemaphore real[MAX_SEMAPHORES_PER_SUBMIT];
    VkSemaphoreWaitInfo copy = *info;
    if (info->semaphoreCount > MAX_SEMAPHORES_PER_SUBMIT) {
        abort();
    }
    for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
        real[i] = translate(info->pSemaphores[i]);
    }
    copy.pSemaphores = real;
    return below.vkWaitSemaphores(device, &copy, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_signal_semaphore(VkDevice device,
                                                            const VkSemaphoreSignalInfo* info)
{
    VkSemaphoreSignalInfo copy = *info;
    copy.semaphore = translate(info->semaphore);
    return below.vkSignalSemaphore(device, &copy);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_get_counter_value(VkDevice device, VkSemaphore semaphore,
                                                             uint64_t* value)
{
    return below.vkGetSemaphoreCounterValue(device, translate(semaphore), value);
}

/* One list of semaphores of a submission, with the values that the timelines below get. */
struct wrap_list {
    uint32_t count;
    VkSemaphore semaphores[MAX_SEMAPHORES_PER_SUBMIT];
    uint64_t values[MAX_SEMAPHORES_PER_SUBMIT];
};

static void take_list(struct wrap_list* list, uint32_t count, const VkSemaphore* semaphores,
                      uint32_t value_count, const uint64_t* values, bool signal)
{
    if (count > MAX_SEMAPHORES_PER_SUBMIT) {
        abort();
    }
    list->count = count;
    wrap_lock();
    for (uint32_t i = 0; i < count; ++i) {
        const struct wrap_semaphore* found = find_semaphore(semaphores[i]);
        list->semaphores[i] = found != NULL ? found->payload->shared.timeline : semaphores[i];
        list->values[i] = i < value_count ? values[i] : 0;
        if (found == NULL || !found->payload->binary) {
            continue;
        }
        struct fake_shared_semaphore* shared = &found->payload->shared;
        const bool waited = atomic_load(&shared->signals) == atomic_load(&shared->waits);
        if (waited != signal) {
            wrap_breach(signal
                            ? "a binary semaphore is signalled again before it was waited for"
                            : "a binary semaphore is waited for before its signal was submitted");
        }
        list->values[i] = atomic_fetch_add(signal ? &shared->signals : &shared->waits, 1) + 1;
    }
    wrap_unlock();
}

/* One VkSubmitInfo, translated; the chain keeps nothing but the timelines' values. */
static VkResult submit_one(VkQueue queue, const VkSubmitInfo* info, VkFence fence)
{
    const VkTimelineSemaphoreSubmitInfo* given =
        find_structure(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    static const VkTimelineSemaphoreSubmitInfo none = {.waitSemaphoreValueCount = 0};
    given = given != NULL ? given : &none;
    struct wrap_list waits;
    struct wrap_list signals;
    take_list(&waits, info->waitSemaphoreCount, info->pWaitSemaphores,
              given->waitSemaphoreValueCount, given->pWaitSemaphoreValues, false);
    take_list(&signals, info->signalSemaphoreCount, info->pSignalSemaphores,
              given->signalSemaphoreValueCount, given->pSignalSemaphoreValues, true);
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits.count,
        .pWaitSemaphoreValues = waits.values,
        .signalSemaphoreValueCount = signals.count,
        .pSignalSemaphoreValues = signals.values,
    };
    VkSubmitInfo copy = *info;
    copy.pNext = &values;
    copy.pWaitSemaphores = waits.semaphores;
    copy.pSignalSemaphores = signals.semaphores;
    return below.vkQueueSubmit(queue, 1, &copy, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_queue_submit(VkQueue queue, uint32_t count,
                                                        const VkSubmitInfo* infos, VkFence fence)
{
    VkResult result = count == 0 ? below.vkQueueSubmit(queue, 0, NULL, fence) : VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        result = submit_one(queue, &infos[i], i + 1 == count ? fence : VK_NULL_HANDLE);
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wrap_queue_bind_sparse(VkQueue queue, uint32_t count,
                                                             const VkBindSparseInfo* infos,
                                                             VkFence fence)
{
    VkResult result = count == 0 ? below.vkQueueBindSparse(queue, 0, NULL, fence) : VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        const VkTimelineSemaphoreSubmitInfo* given =
            find_structure(infos[i].pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
        static const VkTimelineSemaphoreSubmitInfo none = {.waitSemaphoreValueCount = 0};
        given = given != NULL ? given : &none;
        struct wrap_list waits;
        struct wrap_list signals;
        take_list(&waits, infos[i].waitSemaphoreCount, infos[i].pWaitSemaphores,
                  given->waitSemaphoreValueCount, given->pWaitSemaphoreValues, false);
        take_list(&signals, infos[i].signalSemaphoreCount, infos[i].pSignalSemaphores,
                  given->signalSemaphoreValueCount, given->pSignalSemaphoreValues, true);
        const VkTimelineSemaphoreSubmitInfo values = {
            .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
            .waitSemaphoreValueCount = waits.count,
            .pWaitSemaphoreValues = waits.values,
            .signalSemaphoreValueCount = signals.count,
            .pSignalSemaphoreValues = signals.values,
        };
        VkBindSparseInfo copy = infos[i];
        copy.pNext = &values;
        copy.pWaitSemaphores = waits.semaphores;
        copy.pSignalSemaphores = signals.semaphores;
        result = below.vkQueueBindSparse(queue, 1, &copy, i + 1 == count ? fence : VK_NULL_HANDLE);
    }
    return result;
}

/* ---- the door ---- */

struct wrap_entry {
    const char* name;
    PFN_vkVoidFunction function;
};

static const struct wrap_entry wrap_entries[] = {
    {"vkCreateSemaphore", (PFN_vkVoidFunction)wrap_create_semaphore},
    {"vkDestroySemaphore", (PFN_vkVoidFunction)wrap_destroy_semaphore},
    {"vkDestroyDevice", (PFN_vkVoidFunction)wrap_destroy_device},
    {"vkQueueSubmit", (PFN_vkVoidFunction)wrap_queue_submit},
    {"vkQueueBindSparse", (PFN_vkVoidFunction)wrap_queue_bind_sparse},
    {"vkWaitSemaphores", (PFN_vkVoidFunction)wrap_wait_semaphores},
    {"vkWaitSemaphoresKHR", (PFN_vkVoidFunction)wrap_wait_semaphores},
    {"vkSignalSemaphore", (PFN_vkVoidFunction)wrap_signal_semaphore},
    {"vkSignalSemaphoreKHR", (PFN_vkVoidFunction)wrap_signal_semaphore},
    {"vkGetSemaphoreCounterValue", (PFN_vkVoidFunction)wrap_get_counter_value},
    {"vkGetSemaphoreCounterValueKHR", (PFN_vkVoidFunction)wrap_get_counter_value},
    {"vkGetSemaphoreFdKHR", (PFN_vkVoidFunction)wrap_get_semaphore_fd},
    {"vkImportSemaphoreFdKHR", (PFN_vkVoidFunction)wrap_import_semaphore_fd},
};

/* These would pass exportable semaphores on untranslated. */
static const char* const wrap_refused[] = {"vkQueueSubmit2", "vkQueueSubmit2KHR"};

static PFN_vkVoidFunction find_entry(const char* name)
{
    for (size_t i = 0; i < sizeof wrap_entries / sizeof wrap_entries[0]; ++i) {
        if (strcmp(wrap_entries[i].name, name) == 0) {
            return wrap_entries[i].function;
        }
    }
    return NULL;
}

static bool is_refused(const char* name)
{
    return strcmp(name, wrap_refused[0]) == 0 || strcmp(name, wrap_refused[1]) == 0;
}

PFN_vkVoidFunction VKAPI_PTR semaphore_wrap_device_function(VkDevice device, const char* name)
{
    const PFN_vkVoidFunction own = find_entry(name);
    return own != NULL ? own : is_refused(name) ? NULL : wrap.device_below(device, name);
}

PFN_vkVoidFunction VKAPI_PTR semaphore_wrap_instance_function(VkInstance instance, const char* name)
{
    if (strcmp(name, "vkGetInstanceProcAddr") == 0) {
        return (PFN_vkVoidFunction)semaphore_wrap_instance_function;
    }
    if (strcmp(name, "vkGetDeviceProcAddr") == 0) {
        return (PFN_vkVoidFunction)semaphore_wrap_device_function;
    }
    if (strcmp(name, "vkGetPhysicalDeviceExternalSemaphoreProperties") == 0 ||
        strcmp(name, "vkGetPhysicalDeviceExternalSemaphorePropertiesKHR") == 0) {
        return (PFN_vkVoidFunction)wrap_get_semaphore_properties;
    }
    const PFN_vkVoidFunction own = find_entry(name);
    return own != NULL ? own : is_refused(name) ? NULL : wrap.instance_below(instance, name);
}

void semaphore_wrap_open(VkInstance instance, PFN_vkGetInstanceProcAddr instance_below,
                         PFN_vkGetDeviceProcAddr device_below, uint32_t kinds)
{
    static bool reported;
    if (!reported) {
        (void)fprintf(stderr, "FAKE external semaphores (Maar's tests; no driver's) are in use\n");
        reported = true;
    }
    wrap.instance = instance;
    wrap.instance_below = instance_below;
    wrap.device_below = device_below;
    wrap.kinds = kinds;
    wrap.breach_count = 0;
    wrap.breach[0] = '\0';
#define WRAP_LOAD(name) below.name = (PFN_##name)instance_below(instance, #name);
    WRAP_DEVICE_FUNCTIONS(WRAP_LOAD)
}

uint32_t semaphore_wrap_close(void)
{
    uint32_t left = 0;
    while (wrap.semaphores != NULL) {
        struct wrap_semaphore* semaphore = wrap.semaphores;
        wrap.semaphores = semaphore->next;
        free(semaphore);
        ++left;
    }
    while (wrap.payloads != NULL) {
        struct wrap_payload* payload = wrap.payloads;
        wrap.payloads = payload->next;
        free(payload);
    }
    return left;
}
