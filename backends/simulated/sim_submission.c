/*
 * Submissions: batches of commands or of binds that wait for semaphores, do their work and signal.
 *
 * Normally each submission is executed before the call returns, even if its semaphores have not
 * been signalled. A test can hold submissions, which the driver then keeps in order and executes
 * later, each after its semaphores have been signalled. A driver that executes commands keeps them
 * until then too. Commands of one queue are executed one after another. Binds are executed as early
 * as the rules allow, the newest first, or in the order that a test has chosen, since only
 * semaphores order them. This exposes a program that has left out a semaphore.
 */
#include "backends/simulated/sim_submission.h"

#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_execute.h"
#include "backends/simulated/sim_known.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"
#include "backends/simulated/sim_sync.h"
#include "backends/simulated/sim_time.h"

#include <string.h>

/* Takes the aligned room for one array of a submission. */
static size_t sim_take(size_t* used, size_t count, size_t size)
{
    const size_t at = *used;
    *used += (count * size + 7) / 8 * 8;
    return at;
}

struct sim_submission* sim_submission_create(struct sim_queue* queue, enum sim_function function,
                                             const struct sim_submission_size* size)
{
    size_t used = 0;
    const size_t head = sim_take(&used, 1, sizeof(struct sim_submission));
    const size_t waits = sim_take(&used, size->waits, sizeof(struct sim_point));
    const size_t signals = sim_take(&used, size->signals, sizeof(struct sim_point));
    const size_t uses = sim_take(&used, size->uses, sizeof(struct sim_use));
    const size_t pieces = sim_take(&used, size->pieces, sizeof(struct sim_piece));
    const size_t recordings = sim_take(&used, size->recordings, sizeof(struct sim_recording*));
    const bool tracks = queue->tracks;
    const size_t known = sim_take(&used, tracks ? 1 : 0, sizeof(struct sim_known));
    char* bytes = maar_host_calloc(queue->device->callbacks, 1, used);
    if (bytes == NULL) {
        return NULL;
    }
    struct sim_submission* submission = (struct sim_submission*)(void*)(bytes + head);
    submission->queue = queue;
    submission->function = function;
    submission->waits = (struct sim_point*)(void*)(bytes + waits);
    submission->signals = (struct sim_point*)(void*)(bytes + signals);
    submission->uses = (struct sim_use*)(void*)(bytes + uses);
    submission->pieces = (struct sim_piece*)(void*)(bytes + pieces);
    submission->recordings = (struct sim_recording**)(void*)(bytes + recordings);
    submission->host_known = tracks ? (struct sim_known*)(void*)(bytes + known) : NULL;
    return submission;
}

void sim_submissions_free(struct sim_device* device, struct sim_submission* list)
{
    while (list != NULL) {
        struct sim_submission* next = list->next;
        for (uint32_t i = 0; i < list->recording_count; i++) {
            sim_recording_release(device, list->recordings[i]);
        }
        maar_host_free(device->callbacks, list);
        list = next;
    }
}

static void sim_signal_fence(struct sim_device* device, enum sim_function function, uint64_t fence)
{
    struct sim_signal* signal = sim_object_get(device, function, fence, SIM_KIND_FENCE);
    if (signal == NULL) {
        return;
    }
    if (signal->value != 0) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the fence is already signalled");
    }
    signal->value = 1;
    sim_condition_wake_all(&device->gpu->progress);
}

static bool sim_is_binding(const struct sim_submission* submission)
{
    return submission->function == SIM_FN_vkQueueBindSparse;
}

static bool sim_point_is_reached(const struct sim_device* device, const struct sim_point* point)
{
    const struct sim_signal* signal = sim_object_peek(device, point->semaphore, SIM_KIND_SEMAPHORE);
    return signal == NULL || sim_signal_value(signal) >= (signal->timeline ? point->value : 1);
}

static void sim_submission_wait(struct sim_device* device, const struct sim_submission* submission)
{
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        const struct sim_point* point = &submission->waits[i];
        struct sim_signal* signal =
            sim_object_get(device, submission->function, point->semaphore, SIM_KIND_SEMAPHORE);
        if (signal != NULL && !sim_point_is_reached(device, point)) {
            device->gpu->counters.earlyWaitCount++;
        }
        if (signal != NULL && !signal->timeline) {
            sim_signal_set(signal, 0);
        }
    }
}

/* Checks that no earlier commands which are still to be executed use pages that a bind now unbinds
 * or moves. */
static void sim_submission_check_binds(struct sim_device* device,
                                       const struct sim_submission* submission)
{
    for (const struct sim_submission* other = device->pending; other != NULL; other = other->next) {
        for (uint32_t u = 0; other->sequence < submission->sequence && u < other->use_count; u++) {
            const struct sim_use* use = &other->uses[u];
            const struct sim_resource* resource = sim_resource_peek(device, use->resource);
            if (resource == NULL || !resource->sparse) {
                continue;
            }
            for (size_t i = 0; i < submission->piece_count; i++) {
                const struct sim_piece* piece = &submission->pieces[i];
                const VkDeviceSize first = use->at > piece->at ? use->at : piece->at;
                const VkDeviceSize piece_end = piece->at + piece->size;
                const VkDeviceSize end = use->size < piece_end - use->at && use->at < piece_end
                                             ? use->at + use->size
                                             : piece_end;
                if (piece->resource == use->resource && first < end &&
                    sim_pages_have(resource, first, end)) {
                    sim_violate(device->gpu, submission->function, MAAR_SIMULATED_VIOLATION_IN_USE,
                                "pages [%llu, %llu) of a resource are unbound or bound elsewhere "
                                "while commands that were submitted before may use them",
                                (unsigned long long)first, (unsigned long long)end);
                }
            }
        }
    }
}

/* Lets binds pass on the clock of their queue, and decides which memory is demoted. */
static void sim_submission_keep_time(struct sim_submission* submission)
{
    struct sim_device* device = submission->queue->device;
    struct sim_order* order = device->gpu->time_is_on ? sim_order_of(device) : NULL;
    const uint32_t queue = sim_queue_number(submission->queue);
    if (order == NULL || submission->number == 0) {
        return;
    }
    if (device->gpu->time.demotes == VK_TRUE) {
        sim_time_demote(device);
    }
    if (sim_is_binding(submission) && submission->fence == 0) {
        sim_time_binds(device, &order->queues[queue], submission->piece_count);
    }
}

static bool sim_submission_execute(struct sim_submission* submission)
{
    struct sim_device* device = submission->queue->device;
    sim_submission_wait(device, submission);
    if (submission->host_known != NULL) {
        sim_known_begin(submission);
        sim_submission_keep_time(submission);
    }
    for (uint32_t i = 0; i < submission->use_count; i++) {
        const struct sim_resource* resource =
            sim_resource_peek(device, submission->uses[i].resource);
        if (resource != NULL && resource->sparse) {
            sim_pages_check_use(resource, submission->function);
        }
    }
    if (sim_is_binding(submission)) {
        sim_submission_check_binds(device, submission);
        if (!sim_pages_execute(device, submission->pieces, submission->piece_count)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < submission->recording_count; i++) {
        if (!sim_execute(submission, submission->recordings[i])) {
            return false;
        }
    }
    if (submission->host_known != NULL) {
        sim_known_end(submission);
    }
    for (uint32_t i = 0; i < submission->signal_count; i++) {
        sim_signal_semaphore_to(device, submission->function,
                                (VkSemaphore)submission->signals[i].semaphore,
                                submission->signals[i].value);
    }
    if (submission->fence != 0) {
        sim_signal_fence(device, submission->function, submission->fence);
    }
    return true;
}

/* Returns whether a submission may begin: its waits and its queue's earlier submissions have
 * ended. */
static bool sim_submission_may_begin(const struct sim_device* device,
                                     const struct sim_submission* submission)
{
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        if (!sim_point_is_reached(device, &submission->waits[i])) {
            return false;
        }
    }
    for (const struct sim_submission* other = device->pending; other != submission;
         other = other->next) {
        if (other->queue == submission->queue &&
            (submission->fence != 0 || (!sim_is_binding(submission) && !sim_is_binding(other)))) {
            return false;
        }
    }
    return true;
}

static bool sim_device_executes(const struct sim_device* device)
{
    return (device->gpu->flags & MAAR_SIMULATED_EXECUTE_BIT) != 0;
}

/* Returns a number below `bound`, of the random order. */
static uint32_t sim_order_below(struct sim_gpu* gpu, uint32_t bound)
{
    gpu->order_state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = gpu->order_state;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((mixed ^ mixed >> 31) % bound);
}

/* Returns one of the submissions that may begin, by the order that the test has chosen. */
static struct sim_submission* sim_submission_choose(const struct sim_device* device)
{
    struct sim_gpu* gpu = device->gpu;
    struct sim_submission* chosen = NULL;
    uint32_t count = 0;
    for (struct sim_submission* s = device->pending; s != NULL; s = s->next) {
        if (!sim_submission_may_begin(device, s)) {
            continue;
        }
        count++;
        if (gpu->order == MAAR_SIMULATED_ORDER_OLDEST_FIRST) {
            return s;
        }
        if (gpu->order == MAAR_SIMULATED_ORDER_NEWEST_FIRST || sim_order_below(gpu, count) == 0) {
            chosen = s;
        }
    }
    return chosen;
}

/* Returns the next submission to execute. Unless the driver executes commands, it is the newest
 * bind, or else the oldest of the others. */
static struct sim_submission* sim_submission_next(const struct sim_device* device)
{
    struct sim_submission* bind = NULL;
    struct sim_submission* work = NULL;
    if (sim_device_executes(device)) {
        return sim_submission_choose(device);
    }
    for (struct sim_submission* s = device->pending; s != NULL; s = s->next) {
        if (sim_submission_may_begin(device, s)) {
            if (sim_is_binding(s)) {
                bind = s;
            } else if (work == NULL) {
                work = s;
            }
        }
    }
    return bind != NULL ? bind : work;
}

static void sim_pending_remove(struct sim_device* device, const struct sim_submission* submission)
{
    struct sim_submission** link = &device->pending;
    while (*link != NULL && *link != submission) {
        link = &(*link)->next;
    }
    *link = submission->next;
}

uint32_t sim_submissions_run(struct sim_device* device, uint32_t most)
{
    uint32_t executed = 0;
    if (device->running) {
        return 0;
    }
    device->running = true;
    while (executed < most && !device->lost) {
        struct sim_submission* next = sim_submission_next(device);
        if (next == NULL) {
            break;
        }
        sim_pending_remove(device, next);
        next->next = NULL;
        device->lost = !sim_submission_execute(next) || device->lost;
        executed++;
        sim_unlock_gpu(device->gpu);
        sim_submissions_free(device, next);
        sim_lock_gpu(device->gpu);
    }
    device->running = false;
    if (sim_device_executes(device)) {
        sim_condition_wake_all(&device->gpu->progress);
    }
    return executed;
}

VkResult sim_submissions_enqueue(struct sim_device* device, struct sim_submission* list)
{
    const bool held = (device->gpu->flags & MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT) != 0;
    if (held || device->pending != NULL || sim_device_executes(device)) {
        struct sim_submission** link = &device->pending;
        while (*link != NULL) {
            link = &(*link)->next;
        }
        *link = list;
        for (struct sim_submission* s = list; s != NULL; s = s->next) {
            s->sequence = ++device->sequence;
            if (s->host_known != NULL) {
                sim_known_submitted(s);
            }
        }
        if (!held) {
            sim_submissions_run(device, UINT32_MAX);
        }
        return VK_SUCCESS;
    }
    bool good = true;
    for (struct sim_submission* s = list; s != NULL && good; s = s->next) {
        s->sequence = ++device->sequence;
        good = sim_submission_execute(s);
    }
    device->lost = device->lost || !good;
    sim_unlock_gpu(device->gpu);
    sim_submissions_free(device, list);
    sim_lock_gpu(device->gpu);
    return good ? VK_SUCCESS : VK_ERROR_DEVICE_LOST;
}

void sim_submissions_poll(struct sim_device* device)
{
    if (device->pending != NULL && sim_device_executes(device) &&
        (device->gpu->flags & MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT) == 0) {
        sim_submissions_run(device, UINT32_MAX);
    }
}

/* The interval at which a waiting thread polls semaphores that another process may signal. */
static const uint64_t sim_idle_poll_ns = 1000000;

void sim_submissions_wait_idle(struct sim_device* device, const struct sim_queue* queue)
{
    while (sim_device_executes(device) && !device->lost) {
        bool busy = device->running;
        for (const struct sim_submission* s = device->pending; s != NULL && !busy; s = s->next) {
            busy = queue == NULL || s->queue == queue;
        }
        if (!busy) {
            return;
        }
        sim_condition_wait(&device->gpu->progress, &device->gpu->lock,
                           sim_time_ns() + sim_idle_poll_ns);
        sim_submissions_run(device, UINT32_MAX);
    }
}

void sim_submissions_check_resource(struct sim_resource* resource, enum sim_function function)
{
    const uint64_t handle = resource->object.handle;
    struct sim_device* device = resource->object.device;
    for (const struct sim_submission* s = device->pending; s != NULL && !device->lost;
         s = s->next) {
        bool used = false;
        for (uint32_t i = 0; i < s->use_count && !used; i++) {
            used = s->uses[i].resource == handle;
        }
        for (size_t i = 0; i < s->piece_count && !used; i++) {
            used = s->pieces[i].resource == handle;
        }
        if (used) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_IN_USE,
                        "a submission that has not been executed uses the resource");
            return;
        }
    }
}

/* Returns whether the range that a command uses lies in a memory. */
static bool sim_use_needs(const struct sim_device* device, const struct sim_use* use,
                          uint64_t memory)
{
    const struct sim_resource* resource = sim_resource_peek(device, use->resource);
    if (resource == NULL) {
        return false;
    }
    for (uint32_t i = 0; !resource->sparse && i < resource->plane_count; i++) {
        if (resource->memory[i] == memory) {
            return true;
        }
    }
    return resource->sparse && sim_pages_lie_in(resource, use->at, use->size, memory);
}

void sim_submissions_check_memory(struct sim_device* device, uint64_t memory)
{
    for (const struct sim_submission* s = device->pending; s != NULL && !device->lost;
         s = s->next) {
        bool used = false;
        for (uint32_t i = 0; i < s->use_count && !used; i++) {
            used = sim_use_needs(device, &s->uses[i], memory);
        }
        for (size_t i = 0; i < s->piece_count && !used; i++) {
            used = s->pieces[i].memory == memory;
        }
        if (used) {
            sim_violate(device->gpu, SIM_FN_vkFreeMemory, MAAR_SIMULATED_VIOLATION_IN_USE,
                        "a submission that has not been executed uses the memory");
            return;
        }
    }
}

/* Returns whether a range that a command uses has some of the bytes of a memory. */
static bool sim_use_has(const struct sim_device* device, const struct sim_use* use, uint64_t memory,
                        VkDeviceSize offset, VkDeviceSize size)
{
    const struct sim_resource* resource = sim_resource_peek(device, use->resource);
    if (resource == NULL) {
        return false;
    }
    for (uint32_t i = 0; !resource->sparse && i < resource->plane_count; i++) {
        const bool is_buffer = resource->object.kind == SIM_KIND_BUFFER;
        const VkDeviceSize whole = resource->requirements[i].size;
        const VkDeviceSize at = is_buffer && use->at < whole ? use->at : 0;
        const VkDeviceSize most = whole - at;
        const VkDeviceSize begin = resource->offset[i] + at;
        const VkDeviceSize end = begin + (is_buffer && use->size < most ? use->size : most);
        if (resource->memory[i] == memory && begin < offset + size && offset < end) {
            return true;
        }
    }
    for (const struct sim_run* run = resource->sparse ? sim_pages_after(&resource->pages, use->at)
                                                      : NULL;
         run != NULL && (run->node.begin < use->at || run->node.begin - use->at < use->size);
         run = sim_tree_next(&run->node)) {
        if (run->memory == memory && run->offset < offset + size &&
            offset < run->offset + (run->node.end - run->node.begin)) {
            return true;
        }
    }
    return false;
}

/* Returns whether a submission will signal a point, before the host signals another one. */
static bool sim_will_be_reached(const struct sim_device* device, const struct sim_point* point)
{
    for (const struct sim_submission* s = device->pending; s != NULL; s = s->next) {
        for (uint32_t i = 0; s->is_free && i < s->signal_count; i++) {
            if (s->signals[i].semaphore == point->semaphore &&
                s->signals[i].value >= point->value) {
                return true;
            }
        }
    }
    return false;
}

/* Marks the submissions that may be executed without another signal of the host's. */
static void sim_mark_free(struct sim_device* device)
{
    bool changed = true;
    for (struct sim_submission* s = device->pending; s != NULL; s = s->next) {
        s->is_free = false;
    }
    while (changed) {
        changed = false;
        for (struct sim_submission* s = device->pending; s != NULL; s = s->next) {
            bool waits = s->is_free;
            for (uint32_t i = 0; i < s->wait_count && !waits; i++) {
                waits = !sim_point_is_reached(device, &s->waits[i]) &&
                        !sim_will_be_reached(device, &s->waits[i]);
            }
            for (const struct sim_submission* other = device->pending; other != s && !waits;
                 other = other->next) {
                waits = other->queue == s->queue && !other->is_free && !sim_is_binding(s) &&
                        !sim_is_binding(other);
            }
            changed = changed || !waits;
            s->is_free = s->is_free || !waits;
        }
    }
}

void sim_submissions_check_host(struct sim_device* device, enum sim_function function,
                                uint64_t memory, VkDeviceSize offset, VkDeviceSize size)
{
    bool is_marked = false;
    for (const struct sim_submission* s = device->pending; s != NULL; s = s->next) {
        bool used = false;
        for (uint32_t i = 0; i < s->use_count && !used; i++) {
            used = sim_use_has(device, &s->uses[i], memory, offset, size);
        }
        if (used && !is_marked) {
            sim_mark_free(device);
            is_marked = true;
        }
        if (used && s->is_free) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_SYNCHRONIZATION,
                        "the host writes bytes [%llu, %llu) of a memory, which a submission may "
                        "use that has not been executed",
                        (unsigned long long)offset, (unsigned long long)(offset + size));
            return;
        }
    }
}
