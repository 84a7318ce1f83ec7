/*
 * The mover that is another process, seen from this process. The buffer is sent over a UNIX socket
 * as a descriptor and a handle (maar/process.h). If both sides can share a timeline, they pass
 * turns by the timeline and exchange no words. Otherwise the host waits for one side and signals
 * the other.
 */
#include "mover_messages.h"
#include "particle_mover.h"

#include "maar/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMELINE_HANDLE_TYPE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

struct process_mover {
    struct particle_mover base;
    const struct sample_device* device;
    MaarHandoffResource resource;
    pid_t process; /* 0: none */
    int socket_fd; /* -1: none */
    bool shared_timeline;
    VkSemaphore timeline; /* 2n + 1: the nth release; 2n + 2: its return */
    uint32_t steps;
    uint64_t messages;
    uint64_t message_bytes;
};

/* ---- the process ---- */

/* Executes the program again, as the second process. Never returns. */
static void become_mover(int socket_fd, const char* device, bool validate)
{
    char number[16];
    char name[] = "shared_particles";
    char mover_option[] = "--mover";
    char device_option[] = "--device";
    char validate_option[] = "--validate";
    char device_name[80];
    snprintf(number, sizeof(number), "%d", socket_fd);
    snprintf(device_name, sizeof(device_name), "%s", device);
    char* const arguments[] = {name,          mover_option, number,
                               device_option, device_name,  validate ? validate_option : NULL,
                               NULL};
    if (fcntl(socket_fd, F_SETFD, 0) == 0) {
        execv("/proc/self/exe", arguments);
    }
    _exit(SAMPLE_EXIT_FAILED);
}

static bool start_process(struct process_mover* mover, bool validate)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    char name[5 + 2 * VK_UUID_SIZE + 1] = "uuid:";
    int ends[2] = {-1, -1};
    if (!sample_succeeded(maarGetSharingInfo(mover->device->allocator, &info),
                          "maarGetSharingInfo")) {
        return false;
    }
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
        snprintf(name + 5 + 2 * i, 3, "%02x", info.deviceUUID[i]);
    }
    const VkExternalSemaphoreHandleTypeFlags timelines =
        info.exportableTimelineTypes & info.importableTimelineTypes;
    mover->shared_timeline = (timelines & TIMELINE_HANDLE_TYPE) != 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        sample_complain("a pair of sockets cannot be created");
        return false;
    }
    fflush(NULL);
    mover->process = fork();
    if (mover->process == 0) {
        become_mover(ends[1], name, validate);
    }
    close(ends[1]);
    mover->socket_fd = ends[0];
    if (mover->process < 0) {
        mover->process = 0;
        sample_complain("a process cannot be started");
        return false;
    }
    return true;
}

/* ---- what it is given ---- */

static bool hand_buffer_over(struct process_mover* mover, const struct particle_share* share)
{
    const MaarAllocator allocator = mover->device->allocator;
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    bool done =
        sample_succeeded(maarDescribeMemory(allocator, share->allocation, PARTICLE_HANDLE_TYPE,
                                            &share->info, &descriptor, &handle),
                         "maarDescribeMemory") &&
        sample_succeeded(maarSendHandle(allocator, mover->socket_fd, &descriptor, handle),
                         "maarSendHandle");
    maarDestroyExternalHandle(allocator, handle);
    return done;
}

static bool hand_timeline_over(struct process_mover* mover)
{
    const MaarAllocator allocator = mover->device->allocator;
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    bool done = sample_succeeded(maarDescribeTimeline(allocator, mover->timeline,
                                                      TIMELINE_HANDLE_TYPE, &descriptor, &handle),
                                 "maarDescribeTimeline") &&
                sample_succeeded(maarSendHandle(allocator, mover->socket_fd, &descriptor, handle),
                                 "maarSendHandle");
    maarDestroyExternalHandle(allocator, handle);
    return done;
}

static bool create_turn_timeline(struct process_mover* mover)
{
    if (mover->shared_timeline) {
        const MaarSharedSemaphoreCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
            .type = VK_SEMAPHORE_TYPE_TIMELINE,
            .handleType = TIMELINE_HANDLE_TYPE};
        return sample_succeeded(
            maarCreateSharedSemaphore(mover->device->allocator, &info, &mover->timeline),
            "maarCreateSharedSemaphore");
    }
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    return sample_succeeded(vkCreateSemaphore(mover->device->device, &info, NULL, &mover->timeline),
                            "vkCreateSemaphore");
}

static bool give_task(struct process_mover* mover, const struct particle_share* share,
                      const struct particle_options* options, const struct particle_rules* rules)
{
    const struct mover_task task = {.rules = *rules,
                                    .steps = options->frames,
                                    .has_timeline = mover->shared_timeline ? 1 : 0,
                                    .mistake = (uint32_t)options->mistake};
    struct mover_answer answer;
    return hand_buffer_over(mover, share) && mover_send(mover->socket_fd, &task, sizeof(task)) &&
           (!mover->shared_timeline || hand_timeline_over(mover)) &&
           mover_receive(mover->socket_fd, &answer, sizeof(answer));
}

/* ---- turns ---- */

static bool pass_turn(struct process_mover* mover, MaarHandoffDirection direction,
                      const MaarPoint* wait, const MaarPoint* signal)
{
    const MaarHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
                                  .direction = direction,
                                  .peer = MAAR_HANDOFF_PEER_EXTERNAL,
                                  .resourceCount = 1,
                                  .pResources = &mover->resource,
                                  .waitCount = wait != NULL ? 1 : 0,
                                  .pWaits = wait,
                                  .signalCount = signal != NULL ? 1 : 0,
                                  .pSignals = signal};
    return sample_succeeded(maarSubmitHandoff(mover->device->allocator, &info),
                            "maarSubmitHandoff");
}

/* Waits until the device is done with the buffer. Then lets the other process use it, and waits for
 * its word. */
static bool wait_for_words(struct process_mover* mover, const MaarPoint* given)
{
    const struct mover_word word = {.step = mover->steps};
    struct mover_word answer = {.step = 0};
    if (!sample_await(mover->device, given) || !mover_send(mover->socket_fd, &word, sizeof(word)) ||
        !mover_receive(mover->socket_fd, &answer, sizeof(answer)) || answer.step != word.step) {
        sample_complain("the other process does not answer");
        return false;
    }
    mover->messages += 2;
    mover->message_bytes += sizeof(word) + sizeof(answer);
    return true;
}

static bool move_in_process(struct particle_mover* base)
{
    struct process_mover* const mover = (struct process_mover*)base;
    const MaarPoint given = {mover->timeline, 2 * (uint64_t)mover->steps + 1};
    const MaarPoint returned = {mover->timeline, given.value + 1};
    if (!pass_turn(mover, MAAR_HANDOFF_DIRECTION_RELEASE, NULL, &given)) {
        return false;
    }
    ++mover->steps;
    if (mover->shared_timeline) {
        return pass_turn(mover, MAAR_HANDOFF_DIRECTION_ACQUIRE, &returned, NULL);
    }
    return wait_for_words(mover, &given) &&
           pass_turn(mover, MAAR_HANDOFF_DIRECTION_ACQUIRE, NULL, &returned);
}

/* ---- the end ---- */

static bool finish_process(struct particle_mover* base, struct particle_account* account)
{
    struct process_mover* const mover = (struct process_mover*)base;
    const MaarPoint last = {mover->timeline, 2 * (uint64_t)mover->steps};
    const struct mover_word no_more = {.step = 0};
    struct mover_answer answer;
    int status = 0;
    if (!sample_await(mover->device, &last) ||
        (!mover->shared_timeline && !mover_send(mover->socket_fd, &no_more, sizeof(no_more))) ||
        !mover_receive(mover->socket_fd, &answer, sizeof(answer))) {
        sample_complain("the other process sends no final answer");
        return false;
    }
    const pid_t ended = waitpid(mover->process, &status, 0);
    mover->process = 0;
    answer.side[sizeof(answer.side) - 1] = '\0';
    snprintf(account->side, sizeof(account->side), "%s", answer.side);
    account->turns = mover->shared_timeline
                         ? "a timeline that both sides share"
                         : "the host, which waits for one side and signals the other";
    account->steps = answer.steps;
    account->messages = mover->messages;
    account->message_bytes = mover->message_bytes;
    account->shared_memory = answer.shared_memory;
    account->own_memory = answer.own_memory;
    account->memory_is_exact = true;
    account->complaints = answer.complaints;
    if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != SAMPLE_EXIT_OK) {
        sample_complain("the other process failed");
        return false;
    }
    return true;
}

/* The other process signals no more values. Therefore the host signals the value for which the
 * queue still waits. */
static void release_queue(struct process_mover* mover)
{
    const uint64_t last = 2 * (uint64_t)mover->steps;
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = mover->timeline,
                                        .value = last};
    uint64_t value = 0;
    if (vkGetSemaphoreCounterValue(mover->device->device, mover->timeline, &value) == VK_SUCCESS &&
        value < last) {
        (void)vkSignalSemaphore(mover->device->device, &info);
    }
}

static void destroy_process(struct particle_mover* base)
{
    struct process_mover* const mover = (struct process_mover*)base;
    if (mover->process > 0) { /* still running, after an error */
        kill(mover->process, SIGKILL);
        waitpid(mover->process, NULL, 0);
    }
    if (mover->socket_fd >= 0) {
        close(mover->socket_fd);
    }
    if (mover->timeline != VK_NULL_HANDLE) {
        release_queue(mover);
        vkDeviceWaitIdle(mover->device->device);
        vkDestroySemaphore(mover->device->device, mover->timeline, NULL);
    }
    free(mover);
}

struct particle_mover* particle_mover_process(const struct particle_share* share,
                                              const struct particle_options* options,
                                              const struct particle_rules* rules,
                                              struct particle_reason* reason)
{
    struct process_mover* const mover = calloc(1, sizeof(*mover));
    if (mover == NULL) {
        return NULL;
    }
    mover->base = (struct particle_mover){move_in_process, finish_process, destroy_process};
    mover->device = share->device;
    mover->resource = particle_share_resource(share);
    mover->socket_fd = -1;
    if (!start_process(mover, options->validate) || !create_turn_timeline(mover) ||
        !give_task(mover, share, options, rules)) {
        snprintf(reason->text, sizeof(reason->text), "the other process did not start");
        destroy_process(&mover->base);
        return NULL;
    }
    return &mover->base;
}
