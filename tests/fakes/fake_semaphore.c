/*
 * FAKES. External semaphores: a stream's thread waits for and signals the timeline that the file
 * names, be it semaphore_wrap.c's over lavapipe or the simulated driver's.
 */
#include "tests/fakes/fake_device.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_SIZE = 4096 };

/* How long a thread sleeps between two looks at what it waits for. */
static const uint64_t look_every_ns = 2000000;
static const struct timespec nap = {.tv_nsec = 20000};

/* ---- import ---- */

static bool check_handle_of_semaphore(const struct maar_cuda_semaphore_handle* handle)
{
    const char* wrong = NULL;
    const bool timeline = handle->type == MAAR_CUDA_SEMAPHORE_TIMELINE_FD;
    const int* attributes = fake.devices[fake_current()->device].attributes;
    if (!timeline && handle->type != MAAR_CUDA_SEMAPHORE_OPAQUE_FD) {
        wrong = "handles of this type are not supported";
    } else if (timeline && attributes[MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES] == 0) {
        wrong = "the device does not support timeline semaphores";
    } else if (handle->flags != 0) {
        wrong = "the flags of the handle are not zero";
    } else if (!fake_is_zero(handle->reserved, sizeof handle->reserved)) {
        wrong = "the reserved fields of the handle are not zero";
    }
    if (wrong != NULL) {
        (void)fake_breach(0, "%s", wrong);
    }
    return wrong == NULL;
}

static const char* wrong_with_head(const struct fake_file_head* head, bool timeline)
{
    const bool wrapped = memcmp(head->magic, FAKE_MAGIC_WRAP, sizeof head->magic) == 0;
    if (!wrapped && memcmp(head->magic, FAKE_MAGIC_SIMULATED, sizeof FAKE_MAGIC_SIMULATED) != 0) {
        return "the descriptor is no semaphore";
    }
    if (head->kind != FAKE_FILE_TIMELINE && head->kind != FAKE_FILE_BINARY) {
        return "the descriptor is no semaphore";
    }
    if ((head->kind == FAKE_FILE_TIMELINE) != timeline) {
        return timeline ? "a binary semaphore is imported as a timeline"
                        : "a timeline semaphore is imported as a binary one";
    }
    if (wrapped && head->process != (uint64_t)getpid()) {
        return "the stand-in for semaphores does not reach other processes";
    }
    return NULL;
}

static struct fake_file_head* map_head(int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size != HEAD_SIZE) {
        (void)fake_breach(0, "descriptor %d is no semaphore", fd);
        return NULL;
    }
    void* map = mmap(NULL, HEAD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map != MAP_FAILED ? map : NULL;
}

int fake_import_semaphore(const struct maar_cuda_semaphore_handle* given,
                          struct fake_semaphore** semaphore)
{
    struct maar_cuda_semaphore_handle copy = *given;
    const struct maar_cuda_semaphore_handle* handle = &copy;
    if (fake.tamper.semaphore != NULL) {
        fake.tamper.semaphore(&copy, fake.tamper.data);
    }
    const bool timeline = handle->type == MAAR_CUDA_SEMAPHORE_TIMELINE_FD;
    fake.last_semaphore = copy;
    if (!fake_api.semaphores || !check_handle_of_semaphore(handle)) {
        return handle->flags != 0 ? MAAR_CUDA_INVALID_VALUE : MAAR_CUDA_NOT_SUPPORTED;
    }
    struct fake_file_head* head = map_head(handle->handle.fd);
    if (head == NULL) {
        return MAAR_CUDA_INVALID_VALUE;
    }
    const char* wrong = wrong_with_head(head, timeline);
    if (wrong != NULL) {
        (void)munmap(head, HEAD_SIZE);
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "%s", wrong);
    }
    struct fake_semaphore* made = fake_make(FAKE_KIND_SEMAPHORE, sizeof *made);
    made->timeline = timeline;
    made->head = head;
    if (head->shared != 0) {
        made->shared = (struct fake_shared_semaphore*)(uintptr_t)head->shared;
    }
    (void)fake_take_descriptor(&made->descriptor, handle->handle.fd);
    *semaphore = made;
    return MAAR_CUDA_SUCCESS;
}

/* The head stays mapped until the next reset: work that is queued may still look at it. */
int fake_destroy_semaphore(struct fake_semaphore* semaphore)
{
    fake_close_descriptor(&semaphore->descriptor);
    semaphore->object.dead = true;
    return MAAR_CUDA_SUCCESS;
}

/* ---- use ---- */

bool fake_queue_semaphore(struct fake_semaphore* semaphore, bool signal, uint64_t* value)
{
    struct fake_shared_semaphore* shared = semaphore->shared;
    if (semaphore->timeline || shared == NULL) {
        *value = semaphore->timeline ? *value : 1;
        return true;
    }
    if (signal) {
        if (atomic_load(&shared->signals) != atomic_load(&shared->waits)) {
            (void)fake_breach(0, "a binary semaphore is signalled again before it was waited for");
            return false;
        }
        *value = atomic_fetch_add(&shared->signals, 1) + 1;
        return true;
    }
    if (atomic_load(&shared->signals) == atomic_load(&shared->waits)) {
        (void)fake_breach(0, "a binary semaphore is waited for before its signal was submitted");
        return false;
    }
    *value = atomic_fetch_add(&shared->waits, 1) + 1;
    return true;
}

static bool is_usable(const struct fake_semaphore* semaphore)
{
    if (semaphore->object.dead) {
        (void)fake_breach(0, "a semaphore was destroyed while work on it was queued");
        return false;
    }
    if (semaphore->shared != NULL && atomic_load(&semaphore->shared->dead) != 0) {
        (void)fake_breach(0, "the Vulkan device of a semaphore is gone while work on it is queued");
        return false;
    }
    return true;
}

/* Whether the value is there; takes some time to say no. The lock is not held. */
static bool look(struct fake_semaphore* semaphore, const struct fake_vulkan* vulkan, uint64_t value,
                 VkResult* result)
{
    struct fake_shared_semaphore* shared = semaphore->shared;
    *result = VK_SUCCESS;
    if (shared != NULL) {
        const VkSemaphoreWaitInfo info = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
            .semaphoreCount = 1,
            .pSemaphores = &shared->timeline,
            .pValues = &value,
        };
        *result = shared->wait(shared->device, &info, look_every_ns);
        return *result == VK_SUCCESS;
    }
    if (vulkan->progress != NULL) {
        vulkan->progress(vulkan->data);
    }
    uint64_t expected = value;
    const bool there = semaphore->timeline ? atomic_load(&semaphore->head->value) >= value
                                           : atomic_compare_exchange_strong(&semaphore->head->value,
                                                                            &expected, (uint64_t)0);
    if (!there) {
        (void)nanosleep(&nap, NULL);
    }
    return there;
}

void fake_wait_semaphore(struct fake_semaphore* semaphore, uint64_t value)
{
    const struct fake_vulkan vulkan = fake.vulkan;
    const uint64_t abandoned = fake.waits_abandoned;
    VkResult result = VK_SUCCESS;
    if (!is_usable(semaphore)) {
        return;
    }
    (void)pthread_mutex_unlock(&fake.mutex);
    bool there = look(semaphore, &vulkan, value, &result);
    (void)pthread_mutex_lock(&fake.mutex);
    while (!there && result >= VK_SUCCESS && fake.waits_abandoned == abandoned &&
           is_usable(semaphore)) {
        (void)pthread_mutex_unlock(&fake.mutex);
        there = look(semaphore, &vulkan, value, &result);
        (void)pthread_mutex_lock(&fake.mutex);
    }
    if (result < VK_SUCCESS) {
        (void)fake_breach(0, "the wait for a semaphore failed: %d", (int)result);
    } else if (!there && fake.waits_abandoned != abandoned && !fake.giving_up) {
        (void)fake_breach(0, "a stream waits for value %llu of a semaphore for ever",
                          (unsigned long long)value);
    }
}

/* Of the simulated driver: its file says the value. */
static void signal_file(struct fake_semaphore* semaphore, uint64_t value)
{
    struct fake_file_head* head = semaphore->head;
    const struct fake_vulkan vulkan = fake.vulkan;
    const uint64_t now = atomic_load(&head->value);
    if (semaphore->timeline ? now >= value : now != 0) {
        (void)fake_breach(0, "a semaphore is signalled to %llu, but is at %llu",
                          (unsigned long long)value, (unsigned long long)now);
        return;
    }
    (void)pthread_mutex_unlock(&fake.mutex);
    if (semaphore->timeline && vulkan.signal != NULL) {
        const VkSemaphoreSignalInfo info = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
            .semaphore = (VkSemaphore)head->semaphore,
            .value = value,
        };
        (void)vulkan.signal((VkDevice)(uintptr_t)head->device, &info);
    } else {
        atomic_store(&head->value, value);
    }
    if (vulkan.progress != NULL) {
        vulkan.progress(vulkan.data);
    }
    (void)pthread_mutex_lock(&fake.mutex);
}

void fake_signal_semaphore(struct fake_semaphore* semaphore, uint64_t value)
{
    struct fake_shared_semaphore* shared = semaphore->shared;
    if (!is_usable(semaphore)) {
        return;
    }
    if (shared == NULL) {
        signal_file(semaphore, value);
        return;
    }
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = shared->timeline,
        .value = value,
    };
    uint64_t now = 0;
    (void)pthread_mutex_unlock(&fake.mutex);
    VkResult result = shared->get_value(shared->device, shared->timeline, &now);
    if (result == VK_SUCCESS && now < value) {
        result = shared->signal(shared->device, &info);
    }
    (void)pthread_mutex_lock(&fake.mutex);
    if (result != VK_SUCCESS || now >= value) {
        (void)fake_breach(0, "a semaphore is signalled to %llu, but is at %llu",
                          (unsigned long long)value, (unsigned long long)now);
    }
}
