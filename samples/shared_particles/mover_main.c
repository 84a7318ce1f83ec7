/*
 * The second process: opens the device of the buffer, imports the buffer, and moves the particles
 * in each of its turns.
 */
#include "mover_messages.h"
#include "particle_compute.h"
#include "particle_mover.h"

#include "maar/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct mover_desk {
    int socket_fd;
    struct sample_device device;
    struct sample_work work;
    struct particle_compute compute;
    struct mover_task task;
    MaarDescriptor descriptor;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkBuffer stray; /* the process's own buffer, for the planted mistake; or null */
    MaarAllocation stray_memory;
    VkSemaphore timeline; /* shared; or null */
    uint32_t steps;
};

static bool receive_handle(struct mover_desk* desk, MaarDescriptor* descriptor,
                           MaarExternalHandle* handle)
{
    *descriptor = (MaarDescriptor){.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    return sample_succeeded(maarReceiveHandle(desk->device.allocator, desk->socket_fd,
                                              MOVER_PATIENCE_NS, descriptor, handle),
                            "maarReceiveHandle");
}

static bool receive_buffer(struct mover_desk* desk)
{
    const MaarAllocator allocator = desk->device.allocator;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    const bool done =
        receive_handle(desk, &desk->descriptor, &handle) &&
        sample_succeeded(maarImportDescribedBuffer(allocator, &desk->descriptor, handle,
                                                   &desk->buffer, &desk->allocation),
                         "maarImportDescribedBuffer");
    maarDestroyExternalHandle(allocator, handle);
    return done;
}

static bool receive_timeline(struct mover_desk* desk)
{
    const MaarAllocator allocator = desk->device.allocator;
    MaarDescriptor descriptor;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    const bool done =
        receive_handle(desk, &descriptor, &handle) &&
        sample_succeeded(
            maarImportSemaphore(allocator, handle,
                                (VkExternalSemaphoreHandleTypeFlagBits)descriptor.handleType,
                                VK_SEMAPHORE_TYPE_TIMELINE, &desk->timeline),
            "maarImportSemaphore");
    maarDestroyExternalHandle(allocator, handle);
    return done;
}

static bool receive_task(struct mover_desk* desk)
{
    if (!receive_buffer(desk) || !mover_receive(desk->socket_fd, &desk->task, sizeof(desk->task)) ||
        (desk->task.has_timeline != 0 && !receive_timeline(desk))) {
        return false;
    }
    /* Only this program sends the task, but a received message must still be checked. */
    if ((uint64_t)desk->task.rules.count * sizeof(struct particle) > desk->descriptor.size) {
        sample_complain("%u particles do not fit into %llu bytes", desk->task.rules.count,
                        (unsigned long long)desk->descriptor.size);
        return false;
    }
    return true;
}

static bool answer(const struct mover_desk* desk)
{
    struct mover_answer message = {.steps = desk->steps, .complaints = desk->device.messages.count};
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    if (!sample_succeeded(maarGetStatistics(desk->device.allocator, VK_NULL_HANDLE, &statistics),
                          "maarGetStatistics")) {
        return false;
    }
    snprintf(message.side, sizeof(message.side), "process %ld, a compute shader on %.100s",
             (long)getpid(), desk->device.properties.deviceName);
    message.shared_memory = desk->descriptor.blockSize;
    message.own_memory = statistics.blockBytes - desk->descriptor.blockSize;
    return mover_send(desk->socket_fd, &message, sizeof(message));
}

static bool create_stray(struct mover_desk* desk)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = desk->descriptor.size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    return desk->task.mistake != PARTICLE_MISTAKE_STRAY ||
           sample_succeeded(maarCreateBuffer(desk->device.allocator, &info, NULL, &desk->stray,
                                             &desk->stray_memory),
                            "maarCreateBuffer");
}

static bool leaves_out(const struct mover_desk* desk)
{
    return desk->task.mistake == PARTICLE_MISTAKE_SKIP && desk->steps == desk->task.steps / 2;
}

/* Acquires the buffer, moves the particles, and releases the buffer. */
static bool step_once(struct mover_desk* desk, const MaarPoint* wait, const MaarPoint* signal)
{
    const MaarHandoffResource resource = {.buffer = desk->buffer,
                                          .stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                          .access = VK_ACCESS_SHADER_READ_BIT |
                                                    VK_ACCESS_SHADER_WRITE_BIT};
    const MaarAllocator allocator = desk->device.allocator;
    const uint32_t family = desk->device.queue_families[0];
    const VkCommandBuffer commands = sample_work_begin(&desk->work);
    if (commands == NULL ||
        !sample_succeeded(
            maarCmdAcquire(allocator, commands, family, MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
            "maarCmdAcquire")) {
        return false;
    }
    if (!leaves_out(desk)) {
        particle_compute_record(&desk->compute, commands, &desk->task.rules);
    }
    ++desk->steps;
    return sample_succeeded(maarCmdRelease(allocator, commands, family, MAAR_HANDOFF_PEER_EXTERNAL,
                                           1, &resource),
                            "maarCmdRelease") &&
           sample_work_submit(&desk->work, wait, signal);
}

/* Submits all steps as early as possible. Only the timeline decides when each step begins. */
static bool step_by_timeline(struct mover_desk* desk)
{
    bool done = true;
    for (uint64_t step = 0; done && step < desk->task.steps; ++step) {
        const MaarPoint given = {desk->timeline, 2 * step + 1};
        const MaarPoint returned = {desk->timeline, 2 * step + 2};
        done = step_once(desk, &given, &returned);
    }
    return done && sample_work_wait(&desk->work);
}

static bool step_by_words(struct mover_desk* desk)
{
    struct mover_word word;
    while (mover_receive(desk->socket_fd, &word, sizeof(word))) {
        if (word.step == 0) {
            return true;
        }
        if (!step_once(desk, NULL, NULL) || !sample_work_wait(&desk->work) ||
            !mover_send(desk->socket_fd, &word, sizeof(word))) {
            return false;
        }
    }
    return false;
}

static bool do_task(struct mover_desk* desk)
{
    return receive_task(desk) && create_stray(desk) &&
           sample_work_create(&desk->work, &desk->device) &&
           particle_compute_create(&desk->compute, &desk->device,
                                   desk->stray != VK_NULL_HANDLE ? desk->stray : desk->buffer) &&
           answer(desk) &&
           (desk->task.has_timeline != 0 ? step_by_timeline(desk) : step_by_words(desk)) &&
           answer(desk);
}

int particle_mover_main(const struct particle_options* options)
{
    struct mover_desk desk;
    memset(&desk, 0, sizeof(desk));
    desk.socket_fd = (int)options->mover_socket;
    const struct sample_device_options wanted = {
        .device = options->device, .validate = options->validate, .lend_main_queue = true};
    int code = sample_device_open(&desk.device, &wanted);
    if (code == SAMPLE_EXIT_OK) {
        code = do_task(&desk) ? SAMPLE_EXIT_OK : SAMPLE_EXIT_FAILED;
        sample_work_destroy(&desk.work);
        particle_compute_destroy(&desk.compute);
        vkDestroySemaphore(desk.device.device, desk.timeline, NULL);
        maarDestroyBuffer(desk.device.allocator, desk.stray, desk.stray_memory);
        maarDestroyBuffer(desk.device.allocator, desk.buffer, desk.allocation);
    }
    sample_device_close(&desk.device);
    close(desk.socket_fd);
    return code == SAMPLE_EXIT_OK && desk.device.messages.count > 0 ? SAMPLE_EXIT_FAILED : code;
}
