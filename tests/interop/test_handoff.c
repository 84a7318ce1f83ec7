/*
 * Handoffs: the barriers that are recorded, one by one, and submissions of them on the simulated
 * driver: what is used again, what is undone, what is refused.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "maar/share.h"
#include "tests/rig/rig.h"

#include <pthread.h>

#include "core/memory/allocator_state.h"

enum { MOST_BARRIERS = 64 };

/* What the driver received, kept and passed on. */
static struct {
    PFN_vkCmdPipelineBarrier next;
    uint32_t calls;
    VkPipelineStageFlags before[MOST_BARRIERS]; /* by call */
    VkPipelineStageFlags after[MOST_BARRIERS];
    uint32_t buffer_count;
    uint32_t image_count;
    VkBufferMemoryBarrier buffers[MOST_BARRIERS];
    VkImageMemoryBarrier images[MOST_BARRIERS];
} spy;

static VKAPI_ATTR void VKAPI_CALL
note_barriers(VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
              VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier* memory,
              uint32_t buffer_count, const VkBufferMemoryBarrier* buffers, uint32_t image_count,
              const VkImageMemoryBarrier* images)
{
    assert_int_equal(flags, 0);
    assert_int_equal(memory_count, 0);
    assert_true(spy.calls < MOST_BARRIERS);
    assert_true(spy.buffer_count + buffer_count <= MOST_BARRIERS);
    assert_true(spy.image_count + image_count <= MOST_BARRIERS);
    spy.before[spy.calls] = before;
    spy.after[spy.calls++] = after;
    for (uint32_t i = 0; i < buffer_count; ++i) {
        spy.buffers[spy.buffer_count++] = buffers[i];
    }
    for (uint32_t i = 0; i < image_count; ++i) {
        spy.images[spy.image_count++] = images[i];
    }
    spy.next(commands, before, after, flags, memory_count, memory, buffer_count, buffers,
             image_count, images);
}

enum { BUFFERS = 8, IMAGES = 7 };

struct desk {
    struct rig* rig;
    MaarQueue queue;
    uint32_t lock_count;
    uint32_t unlock_count;
    VkBuffer buffers[BUFFERS];
    MaarAllocation buffer_memory[BUFFERS];
    VkImage images[IMAGES];
    MaarAllocation image_memory[IMAGES];
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static void VKAPI_PTR note_lock(void* user, VkQueue queue)
{
    struct desk* desk = user;
    (void)queue;
    ++desk->lock_count;
}

static void VKAPI_PTR note_unlock(void* user, VkQueue queue)
{
    struct desk* desk = user;
    (void)queue;
    ++desk->unlock_count;
}

static void make_objects(struct desk* desk)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(4096);
    const VkImageCreateInfo image = rig_image_info(16, 16);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        assert_int_equal(maarCreateBuffer(desk->rig->allocator, &buffer, &how, &desk->buffers[i],
                                          &desk->buffer_memory[i]),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < IMAGES; ++i) {
        assert_int_equal(maarCreateImage(desk->rig->allocator, &image, &how, &desk->images[i],
                                         &desk->image_memory[i]),
                         VK_SUCCESS);
    }
}

static void begin_desk_commands(struct desk* desk)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = desk->queue.familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(desk->rig->device, &pool, NULL, &desk->pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = desk->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkAllocateCommandBuffers(desk->rig->device, &allocate, &desk->commands),
                     VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(desk->commands, &begin), VK_SUCCESS);
}

static void open_desk(struct desk* desk, const struct rig_setup* setup)
{
    memset(desk, 0, sizeof *desk);
    memset(&spy, 0, sizeof spy);
    desk->rig = rig_new();
    rig_open(desk->rig, setup);
    desk->queue = (MaarQueue){
        .familyIndex = desk->rig->recommendation.mainQueueFamily,
        .queue = desk->rig->queue,
        .pfnLock = note_lock,
        .pfnUnlock = note_unlock,
        .pUserData = desk,
    };
    desk->rig->create_info.queueCount = 1;
    desk->rig->create_info.pQueues = &desk->queue;
    rig_make_allocator(desk->rig);
    spy.next = desk->rig->allocator->device.vkCmdPipelineBarrier;
    desk->rig->allocator->device.vkCmdPipelineBarrier = note_barriers;
    make_objects(desk);
    begin_desk_commands(desk);
}

static void empty_desk(struct desk* desk)
{
    vkDestroyCommandPool(desk->rig->device, desk->pool, NULL);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        maarDestroyBuffer(desk->rig->allocator, desk->buffers[i], desk->buffer_memory[i]);
    }
    for (uint32_t i = 0; i < IMAGES; ++i) {
        maarDestroyImage(desk->rig->allocator, desk->images[i], desk->image_memory[i]);
    }
}

static void close_desk(struct desk* desk)
{
    empty_desk(desk);
    rig_close(desk->rig);
}

/* Buffers and images in turn, each with stages and accesses of its own; the first of each with
 * everything left at zero. */
static void describe_all(const struct desk* desk, MaarHandoffResource resources[BUFFERS + IMAGES])
{
    for (uint32_t i = 0; i < BUFFERS + IMAGES; ++i) {
        MaarHandoffResource* resource = &resources[i];
        *resource = (MaarHandoffResource){.buffer = VK_NULL_HANDLE};
        if (i % 2 == 0) {
            resource->buffer = desk->buffers[i / 2];
        } else {
            resource->image = desk->images[i / 2];
            resource->oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            resource->newLayout = VK_IMAGE_LAYOUT_GENERAL;
        }
        if (i < 2) {
            continue;
        }
        resource->stages = VK_PIPELINE_STAGE_TRANSFER_BIT;
        resource->access = VK_ACCESS_TRANSFER_WRITE_BIT;
        if (i % 2 == 0) {
            resource->offset = (VkDeviceSize)i * 16;
            resource->size = (VkDeviceSize)i * 32;
        } else {
            resource->range = (VkImageSubresourceRange){
                .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .levelCount = 1, .layerCount = 1};
        }
    }
}

/* ---- what is recorded ---- */

static const VkAccessFlags all_accesses = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;

static void expect_buffers(const struct desk* desk, bool release, uint32_t peer)
{
    const uint32_t own = desk->queue.familyIndex;
    assert_int_equal(spy.buffer_count, BUFFERS);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        const VkBufferMemoryBarrier* barrier = &spy.buffers[i];
        const VkAccessFlags access = i == 0 ? all_accesses : VK_ACCESS_TRANSFER_WRITE_BIT;
        assert_int_equal(barrier->sType, VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER);
        assert_ptr_equal(barrier->pNext, NULL);
        assert_true(barrier->buffer == desk->buffers[i]);
        assert_int_equal(barrier->offset, i * 32);
        assert_true(barrier->size == (i == 0 ? VK_WHOLE_SIZE : (VkDeviceSize)i * 64));
        assert_int_equal(barrier->srcAccessMask, release ? access : 0);
        assert_int_equal(barrier->dstAccessMask, release ? 0 : access);
        assert_int_equal(barrier->srcQueueFamilyIndex, release ? own : peer);
        assert_int_equal(barrier->dstQueueFamilyIndex, release ? peer : own);
    }
}

static void expect_images(const struct desk* desk, bool release, uint32_t peer)
{
    const uint32_t own = desk->queue.familyIndex;
    assert_int_equal(spy.image_count, IMAGES);
    for (uint32_t i = 0; i < IMAGES; ++i) {
        const VkImageMemoryBarrier* barrier = &spy.images[i];
        const VkAccessFlags access = i == 0 ? all_accesses : VK_ACCESS_TRANSFER_WRITE_BIT;
        assert_int_equal(barrier->sType, VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER);
        assert_true(barrier->image == desk->images[i]);
        assert_int_equal(barrier->oldLayout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        assert_int_equal(barrier->newLayout, VK_IMAGE_LAYOUT_GENERAL);
        assert_int_equal(barrier->subresourceRange.aspectMask, VK_IMAGE_ASPECT_COLOR_BIT);
        assert_int_equal(barrier->subresourceRange.levelCount,
                         i == 0 ? VK_REMAINING_MIP_LEVELS : 1);
        assert_int_equal(barrier->subresourceRange.layerCount,
                         i == 0 ? VK_REMAINING_ARRAY_LAYERS : 1);
        assert_int_equal(barrier->srcAccessMask, release ? access : 0);
        assert_int_equal(barrier->dstAccessMask, release ? 0 : access);
        assert_int_equal(barrier->srcQueueFamilyIndex, release ? own : peer);
        assert_int_equal(barrier->dstQueueFamilyIndex, release ? peer : own);
    }
}

/* The first call has the resources without stages, the others none. */
static void expect_stages(bool release)
{
    assert_true(spy.calls > 1);
    for (uint32_t i = 0; i < spy.calls; ++i) {
        const VkPipelineStageFlags stages =
            i == 0 ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT
                   : VK_PIPELINE_STAGE_TRANSFER_BIT;
        assert_int_equal(spy.before[i], stages);
        assert_int_equal(spy.after[i], release ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT : stages);
    }
}

static void release_gives_every_resource_to_the_external_family(void** state)
{
    (void)state;
    static struct desk desk;
    MaarHandoffResource resources[BUFFERS + IMAGES];
    open_desk(&desk, NULL);
    describe_all(&desk, resources);
    assert_int_equal(maarCmdRelease(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, BUFFERS + IMAGES, resources),
                     VK_SUCCESS);
    expect_buffers(&desk, true, VK_QUEUE_FAMILY_EXTERNAL);
    expect_images(&desk, true, VK_QUEUE_FAMILY_EXTERNAL);
    expect_stages(true);
    rig_expect_silence(desk.rig);
    close_desk(&desk);
}

static void acquire_takes_every_resource_from_the_external_family(void** state)
{
    (void)state;
    static struct desk desk;
    MaarHandoffResource resources[BUFFERS + IMAGES];
    open_desk(&desk, NULL);
    describe_all(&desk, resources);
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, BUFFERS + IMAGES, resources),
                     VK_SUCCESS);
    expect_buffers(&desk, false, VK_QUEUE_FAMILY_EXTERNAL);
    expect_images(&desk, false, VK_QUEUE_FAMILY_EXTERNAL);
    expect_stages(false);
    close_desk(&desk);
}

static void foreign_peer_needs_its_extension(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    assert_int_equal(maarCmdRelease(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_FOREIGN, 1, &resource),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                              "VK_EXT_queue_family_foreign");
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_FOREIGN, 1, &resource),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                              "VK_EXT_queue_family_foreign");
    assert_int_equal(spy.calls, 0);
    close_desk(&desk);
}

static void foreign_peer_has_a_family_of_its_own(void** state)
{
    (void)state;
    static struct desk desk;
    static const MaarSimulatedSharingInfo sharing = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .opaqueBuffers = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT,
    };
    static MaarSimulatedProfile profile;
    profile = *rig_profile_discrete();
    profile.pNext = &sharing;
    open_desk(&desk, &(struct rig_setup){.profile = &profile});
    MaarHandoffResource resources[BUFFERS + IMAGES];
    describe_all(&desk, resources);
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_FOREIGN, BUFFERS + IMAGES, resources),
                     VK_SUCCESS);
    expect_buffers(&desk, false, VK_QUEUE_FAMILY_FOREIGN_EXT);
    expect_images(&desk, false, VK_QUEUE_FAMILY_FOREIGN_EXT);
    close_desk(&desk);
}

static void concurrent_object_names_no_family_of_its_own(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0],
                                          .sharingMode = VK_SHARING_MODE_CONCURRENT};
    assert_int_equal(maarCmdRelease(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                     VK_SUCCESS);
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, &resource),
                     VK_SUCCESS);
    assert_int_equal(spy.buffers[0].srcQueueFamilyIndex, VK_QUEUE_FAMILY_IGNORED);
    assert_int_equal(spy.buffers[0].dstQueueFamilyIndex, VK_QUEUE_FAMILY_EXTERNAL);
    assert_int_equal(spy.buffers[1].srcQueueFamilyIndex, VK_QUEUE_FAMILY_EXTERNAL);
    assert_int_equal(spy.buffers[1].dstQueueFamilyIndex, VK_QUEUE_FAMILY_IGNORED);
    close_desk(&desk);
}

static void no_resources_record_nothing(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    assert_int_equal(maarCmdRelease(desk.rig->allocator, desk.commands, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 0, NULL),
                     VK_SUCCESS);
    assert_int_equal(spy.calls, 0);
    rig_expect_silence(desk.rig);
    close_desk(&desk);
}

/* ---- what is refused ---- */

static void refuse_recording(struct desk* desk, MaarHandoffPeer peer, uint32_t count,
                             const MaarHandoffResource* resources, MaarMessageId id,
                             const char* culprit)
{
    assert_int_equal(maarCmdRelease(desk->rig->allocator, desk->commands, desk->queue.familyIndex,
                                    peer, count, resources),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(desk->rig, id, culprit);
    assert_int_equal(spy.calls, 0);
}

static void misuse_of_recording_records_nothing(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    MaarHandoffResource resources[2] = {{.buffer = desk.buffers[0]}, {.stages = 0}};
    refuse_recording(&desk, MAAR_HANDOFF_PEER_EXTERNAL, 2, resources, MAAR_MESSAGE_ID_NULL_HANDLE,
                     "pResources[1]");
    resources[1] = (MaarHandoffResource){.buffer = desk.buffers[1], .image = desk.images[0]};
    refuse_recording(&desk, MAAR_HANDOFF_PEER_EXTERNAL, 2, resources,
                     MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pResources[1]");
    resources[1] = (MaarHandoffResource){.image = desk.images[0]};
    refuse_recording(&desk, MAAR_HANDOFF_PEER_EXTERNAL, 2, resources,
                     MAAR_MESSAGE_ID_INVALID_LAYOUT, "newLayout");
    resources[1] =
        (MaarHandoffResource){.buffer = desk.buffers[1], .sharingMode = VK_SHARING_MODE_MAX_ENUM};
    refuse_recording(&desk, MAAR_HANDOFF_PEER_EXTERNAL, 2, resources, MAAR_MESSAGE_ID_INVALID_ENUM,
                     "sharingMode");
    refuse_recording(&desk, MAAR_HANDOFF_PEER_MAX_ENUM, 1, resources, MAAR_MESSAGE_ID_INVALID_ENUM,
                     "peer");
    refuse_recording(&desk, MAAR_HANDOFF_PEER_EXTERNAL, 1, NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT,
                     "pResources");
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, VK_NULL_HANDLE, desk.queue.familyIndex,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, resources),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_NULL_HANDLE, "commandBuffer");
    assert_int_equal(maarCmdAcquire(desk.rig->allocator, desk.commands, 99,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 1, resources),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "familyIndex");
    assert_int_equal(maarCmdAcquire(NULL, desk.commands, 0, MAAR_HANDOFF_PEER_EXTERNAL, 0, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    close_desk(&desk);
}

static void refuse_submission(struct desk* desk, const MaarHandoffInfo* info, MaarMessageId id,
                              const char* culprit)
{
    assert_int_equal(maarSubmitHandoff(desk->rig->allocator, info), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(desk->rig, id, culprit);
    assert_int_equal(rig_calls(desk->rig, "vkQueueSubmit"), 0);
}

/* Where the allocator has no queue, no index would do. */
static void handoff_without_queues_names_the_list(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO};
    assert_int_equal(rig->create_info.queueCount, 0);
    assert_int_equal(maarSubmitHandoff(rig->allocator, &info), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, 0)); /* the index */
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_QUEUE, "MaarAllocatorCreateInfo::pQueues");
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), 0);
}

static void misuse_of_submission_submits_nothing(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const MaarHandoffInfo plain = {.sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO};
    MaarPoint points[MAAR_MAX_HANDOFF_POINTS + 1] = {{.value = 1}};
    MaarHandoffInfo info = plain;
    info.sType = MAAR_STRUCTURE_TYPE_MAX_ENUM;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
    refuse_submission(&desk, NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    info = plain;
    info.direction = MAAR_HANDOFF_DIRECTION_MAX_ENUM;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_INVALID_ENUM, "direction");
    info = plain;
    info.queue = 1;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_OUT_OF_RANGE, "queue");
    info = plain;
    info.waitCount = MAAR_MAX_HANDOFF_POINTS + 1;
    info.pWaits = points;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pWaits");
    info.waitCount = 1;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_POINT_NOT_USABLE, "pWaits[0]");
    info = plain;
    info.signalCount = 1;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSignals");
    info = plain;
    info.resourceCount = 1;
    refuse_submission(&desk, &info, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pResources");
    assert_int_equal(desk.lock_count, 0);
    close_desk(&desk);
}

static void submission_without_timelines_says_so(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk,
              &(struct rig_setup){.off = RIG_OFF_TIMELINE, .api_version = VK_API_VERSION_1_1});
    const MaarHandoffInfo info = {.sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO};
    assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    close_desk(&desk);
}

/* ---- submissions ---- */

static MaarHandoffInfo handoff(const MaarHandoffResource* resource, const MaarPoint* wait,
                               const MaarPoint* signal)
{
    return (MaarHandoffInfo){
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .resourceCount = 1,
        .pResources = resource,
        .waitCount = wait != NULL ? 1 : 0,
        .pWaits = wait,
        .signalCount = signal != NULL ? 1 : 0,
        .pSignals = signal,
    };
}

static void submissions_signal_and_use_their_command_buffer_again(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const VkSemaphore timeline = rig_create_timeline(desk.rig, 0);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    const uint64_t pools = rig_calls(desk.rig, "vkCreateCommandPool");
    for (uint64_t i = 1; i <= 100; ++i) {
        const MaarPoint wait = {timeline, i - 1};
        const MaarPoint signal = {timeline, i};
        MaarHandoffInfo info = handoff(&resource, &wait, &signal);
        info.direction =
            i % 2 == 0 ? MAAR_HANDOFF_DIRECTION_ACQUIRE : MAAR_HANDOFF_DIRECTION_RELEASE;
        assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_SUCCESS);
        spy.calls = 0;
        spy.buffer_count = 0;
        uint64_t value = 0;
        assert_int_equal(vkGetSemaphoreCounterValue(desk.rig->device, timeline, &value),
                         VK_SUCCESS);
        assert_int_equal(value, i);
    }
    assert_int_equal(rig_calls(desk.rig, "vkCreateCommandPool") - pools, 1);
    assert_int_equal(rig_calls(desk.rig, "vkQueueSubmit"), 100);
    assert_int_equal(desk.lock_count, 100);
    assert_int_equal(desk.unlock_count, 100);
    rig_expect_silence(desk.rig);
    vkDestroySemaphore(desk.rig->device, timeline, NULL);
    close_desk(&desk);
}

static void submissions_on_their_way_keep_their_command_buffers(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    const MaarHandoffInfo info = handoff(&resource, NULL, NULL);
    const uint64_t pools = rig_calls(desk.rig, "vkCreateCommandPool");
    for (uint32_t round = 0; round < 2; ++round) {
        maarSimulatedSetFlags(desk.rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
        for (uint32_t i = 0; i < 5; ++i) {
            assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_SUCCESS);
        }
        assert_int_equal(rig_calls(desk.rig, "vkCreateCommandPool") - pools, 5);
        maarSimulatedSetFlags(desk.rig->physical, 0);
    }
    close_desk(&desk);
}

static void binary_semaphores_need_no_value(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const VkSemaphoreCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    MaarPoint binary = {.value = 0};
    assert_int_equal(vkCreateSemaphore(desk.rig->device, &create, NULL, &binary.semaphore),
                     VK_SUCCESS);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarHandoffInfo give = handoff(&resource, NULL, &binary);
        const MaarHandoffInfo take = handoff(&resource, &binary, NULL);
        assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &give), VK_SUCCESS);
        assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &take), VK_SUCCESS);
    }
    vkDestroySemaphore(desk.rig->device, binary.semaphore, NULL);
    close_desk(&desk);
}

/* The first submission makes everything, the second finds it there. */
static void failing_call_undoes_the_submission(void** state)
{
    (void)state;
    static const char* const functions[] = {
        "vkCreateSemaphore",    "vkCreateCommandPool", "vkAllocateCommandBuffers",
        "vkBeginCommandBuffer", "vkEndCommandBuffer",  "vkQueueSubmit",
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        static struct desk desk;
        open_desk(&desk, NULL);
        const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
        const MaarHandoffInfo info = handoff(&resource, NULL, NULL);
        for (uint32_t round = 0; round < 2; ++round) {
            const bool again = round == 1 && i < 3; /* is not called */
            rig_set_fault(desk.rig, functions[i], 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info),
                             again ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY);
            rig_clear_faults(desk.rig);
            assert_int_equal(desk.lock_count, desk.unlock_count);
            assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_SUCCESS);
        }
        close_desk(&desk);
    }
}

static void failing_host_memory_undoes_the_submission(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, &(struct rig_setup){.count_host = true});
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    const MaarHandoffInfo info = handoff(&resource, NULL, NULL);
    uint32_t failures = 0;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        assert_true(nth < 50);
        atomic_store(&desk.rig->host.fail_at, atomic_load(&desk.rig->host.calls) + nth);
        result = maarSubmitHandoff(desk.rig->allocator, &info);
        atomic_store(&desk.rig->host.fail_at, 0);
        failures += result == VK_ERROR_OUT_OF_HOST_MEMORY ? 1 : 0;
        assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_true(failures >= 2);
    close_desk(&desk);
}

static void lost_device_is_remembered(void** state)
{
    (void)state;
    static const char* const functions[] = {"vkQueueSubmit", "vkWaitSemaphores"};
    for (size_t i = 0; i < 2; ++i) {
        static struct desk desk;
        open_desk(&desk, NULL);
        const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
        const MaarHandoffInfo info = handoff(&resource, NULL, NULL);
        assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_SUCCESS);
        rig_set_fault(desk.rig, functions[i], 1, 1, VK_ERROR_DEVICE_LOST);
        assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_ERROR_DEVICE_LOST);
        assert_int_equal(maar_atomic32_load(&desk.rig->allocator->retire.lost), 1);
        close_desk(&desk);
    }
}

static void handoff_that_cannot_be_waited_for_is_reported(void** state)
{
    (void)state;
    static struct desk desk;
    open_desk(&desk, NULL);
    const MaarHandoffResource resource = {.buffer = desk.buffers[0]};
    const MaarHandoffInfo info = handoff(&resource, NULL, NULL);
    assert_int_equal(maarSubmitHandoff(desk.rig->allocator, &info), VK_SUCCESS);
    rig_forget_messages(desk.rig);
    rig_set_fault(desk.rig, "vkWaitSemaphores", 1, 100, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(vkDeviceWaitIdle(desk.rig->device), VK_SUCCESS);
    empty_desk(&desk);
    maarDestroyAllocator(desk.rig->allocator);
    desk.rig->allocator = VK_NULL_HANDLE;
    rig_expect_message(desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE);
    rig_clear_faults(desk.rig);
    rig_close(desk.rig);
}

/* ---- threads ---- */

enum { WORKERS = 4, ROUNDS = 300 };

struct handoff_worker {
    pthread_t thread;
    MaarAllocator allocator;
    VkBuffer buffer;
    uint32_t errors;
};

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;

static void VKAPI_PTR take_queue(void* user, VkQueue queue)
{
    (void)user;
    (void)queue;
    (void)pthread_mutex_lock(&queue_mutex);
}

static void VKAPI_PTR leave_queue(void* user, VkQueue queue)
{
    (void)user;
    (void)queue;
    (void)pthread_mutex_unlock(&queue_mutex);
}

static void* hand_off_and_on(void* data)
{
    struct handoff_worker* worker = data;
    const MaarHandoffResource resource = {.buffer = worker->buffer};
    MaarHandoffInfo info = handoff(&resource, NULL, NULL);
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        info.direction =
            i % 2 != 0 ? MAAR_HANDOFF_DIRECTION_ACQUIRE : MAAR_HANDOFF_DIRECTION_RELEASE;
        worker->errors += maarSubmitHandoff(worker->allocator, &info) != VK_SUCCESS ? 1 : 0;
    }
    return NULL;
}

static void threads_hand_off_at_once(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const MaarQueue queue = {
        .familyIndex = rig->recommendation.mainQueueFamily,
        .queue = rig->queue,
        .pfnLock = take_queue,
        .pfnUnlock = leave_queue,
    };
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &queue;
    rig_make_allocator(rig);
    struct handoff_worker workers[WORKERS];
    MaarAllocation memory[WORKERS];
    const VkBufferCreateInfo buffer = rig_buffer_info(4096);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        workers[i] = (struct handoff_worker){.allocator = rig->allocator};
        assert_int_equal(
            maarCreateBuffer(rig->allocator, &buffer, &how, &workers[i].buffer, &memory[i]),
            VK_SUCCESS);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, hand_off_and_on, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_int_equal(workers[i].errors, 0);
    }
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), WORKERS * ROUNDS);
    assert_true(rig_calls(rig, "vkCreateCommandPool") <= WORKERS);
    for (uint32_t i = 0; i < WORKERS; ++i) {
        maarDestroyBuffer(rig->allocator, workers[i].buffer, memory[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(release_gives_every_resource_to_the_external_family),
        rig_unit_test(acquire_takes_every_resource_from_the_external_family),
        rig_unit_test(foreign_peer_needs_its_extension),
        rig_unit_test(foreign_peer_has_a_family_of_its_own),
        rig_unit_test(concurrent_object_names_no_family_of_its_own),
        rig_unit_test(no_resources_record_nothing),
        rig_unit_test(misuse_of_recording_records_nothing),
        rig_unit_test(handoff_without_queues_names_the_list),
        rig_unit_test(misuse_of_submission_submits_nothing),
        rig_unit_test(submission_without_timelines_says_so),
        rig_unit_test(submissions_signal_and_use_their_command_buffer_again),
        rig_unit_test(submissions_on_their_way_keep_their_command_buffers),
        rig_unit_test(binary_semaphores_need_no_value),
        rig_unit_test(failing_call_undoes_the_submission),
        rig_unit_test(failing_host_memory_undoes_the_submission),
        rig_unit_test(lost_device_is_remembered),
        rig_unit_test(handoff_that_cannot_be_waited_for_is_reported),
        rig_unit_test(threads_hand_off_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
