/*
 * The C in docs/cuda.md and docs/choose.md compiles, one block after another, and does what it says
 * beside the FAKE CUDA driver and the FAKE HIP runtime, which are no GPU.
 */
#include "tests/interop/cuda_fixture.h"

static struct maar_cuda_driver* driver;

/* What stands for a kernel: the FAKE's memory is the host's. */
static void launch_kernel(float* address, size_t count, MaarCudaStream stream)
{
    assert_int_equal(
        driver->cuMemsetD32Async((maar_cuda_pointer)(uintptr_t)address, 0x3F800000, count, stream),
        MAAR_CUDA_SUCCESS);
}

#include "choose.inc"
#include "cuda.inc"

/* A submission behind all others; the point that it signals. */
static MaarPoint submit_last(struct cuda_desk* desk)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    MaarPoint point = {.value = 1};
    assert_int_equal(vkCreateSemaphore(desk->rig.device, &info, NULL, &point.semaphore),
                     VK_SUCCESS);
    const MaarHandoffInfo nothing = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .signalCount = 1,
        .pSignals = &point,
    };
    assert_int_equal(maarSubmitHandoff(desk->rig.allocator, &nothing), VK_SUCCESS);
    return point;
}

static void document_runs_as_it_stands(void** state)
{
    static struct cuda_desk desk;
    const MaarCudaCreateInfo info = cuda_desk_info();
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    MaarCudaStream stream = NULL;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    float* address = NULL;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT};
    (void)state;
    cuda_desk_open(&desk, &setup);
    driver = &desk.driver;
    MaarAllocator allocator = desk.rig.allocator;
    assert_int_equal(open_cuda(allocator, &info, &desk.cuda, &timeline), VK_SUCCESS);
    const MaarCudaInfo found = cuda_desk_cuda_info(&desk);
    assert_int_equal(driver->cuCtxPushCurrent(found.pContext), MAAR_CUDA_SUCCESS);
    assert_int_equal(create_shared(allocator, desk.cuda, 4096, &buffer, &allocation, &address),
                     VK_SUCCESS);
    for (uint64_t frame = 0; frame < 10; ++frame) {
        assert_int_equal(
            hand_over_and_back(desk.cuda, timeline, frame, buffer, address, 1024, stream),
            VK_SUCCESS);
        (void)maarSimulatedExecuteSubmissions(desk.rig.physical, UINT32_MAX); /* the release */
        assert_int_equal(driver->cuStreamSynchronize(stream), MAAR_CUDA_SUCCESS);
        if (frame < 9) { /* the last one's acquire is still to be executed at the end */
            (void)maarSimulatedExecuteSubmissions(desk.rig.physical, UINT32_MAX);
        }
    }
    const MaarPoint done = submit_last(&desk);
    assert_true(address[1023] > 0.99f && address[1023] < 1.01f);
    assert_int_equal(driver->cuCtxPopCurrent(&(struct maar_cuda_context*){0}), MAAR_CUDA_SUCCESS);
    close_cuda(allocator, desk.cuda, timeline, &done, buffer, allocation);
    vkDestroySemaphore(desk.rig.device, done.semaphore, NULL);
    desk.cuda = VK_NULL_HANDLE;
    rig_expect_silence(&desk.rig);
    cuda_desk_close(&desk);
}

/* docs/choose.md */
static void first_steps_do_what_they_say(void** state)
{
    static struct cuda_desk desk;
    (void)state;
    cuda_desk_start(&desk, NULL);
    MaarAllocator allocator = desk.rig.allocator;

    VkImageCreateInfo info = rig_image_info(64, 64);
    const MaarPoint last_use = {.value = 1};
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(allocator, &info, NULL, &image, &memory), VK_SUCCESS);
    const VkImage first = image;
    info.extent.width = 0; /* no image: the old one stays */
    assert_int_equal(resize_target(allocator, &info, &last_use, &image, &memory),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(image == first);
    rig_expect_message(&desk.rig, MAAR_MESSAGE_ID_ZERO_SIZE);
    info.extent.width = 128;
    assert_int_equal(resize_target(allocator, &info, &last_use, &image, &memory), VK_SUCCESS);
    assert_true(image != first);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(maarAdvanceHostTimeline(allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(&desk.rig, VK_NULL_HANDLE).pendingCount, 0);
    maarDestroyImage(allocator, image, memory);

    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation exported = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    float* address = NULL;
    assert_int_equal(find_in_cuda(desk.cuda, exported, &address), VK_SUCCESS);
    assert_non_null(address);
    maarDestroyBuffer(allocator, buffer, exported);
    cuda_desk_close(&desk);
}

static void pages_of_a_graph_have_memory(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&(struct rig_setup){.paging = true});
    const VkBufferCreateInfo info = rig_buffer_info(16 * MIB);
    const MaarReservationCreateInfo reserve = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                               .pBufferInfo = &info};
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarReservationInfo made = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    MaarPoint bound = {.value = 0};
    assert_int_equal(maarCreateReservation(rig->allocator, &reserve, &reservation), VK_SUCCESS);
    assert_int_equal(before_graph(rig->allocator, reservation, MIB, 1000, &bound), VK_SUCCESS);
    assert_true(bound.semaphore != VK_NULL_HANDLE);
    assert_int_equal(maarGetReservationInfo(rig->allocator, reservation, &made), VK_SUCCESS);
    assert_in_range(made.committedSize, 1000, 2 * MIB);
    maarDestroyReservation(rig->allocator, reservation);
    rig_expect_silence(rig);
}

static VkCommandBuffer begin_documented(struct cuda_desk* desk, VkCommandPool* pool)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = desk->queue.familyIndex,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkCreateCommandPool(desk->rig.device, &pool_info, NULL, pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(desk->rig.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

static void commands_of_ones_own_do_as_well(void** state)
{
    static struct cuda_desk desk;
    VkCommandPool pool = VK_NULL_HANDLE;
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarPoint point = {.value = 0};
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateCudaTimeline(desk.cuda, NULL, &timeline), VK_SUCCESS);
    const MaarAllocation allocation = rig_create_shared_buffer(&desk.rig, 4096, &buffer);
    const VkCommandBuffer commands = begin_documented(&desk, &pool);
    assert_int_equal(record_release(desk.rig.allocator, desk.cuda, timeline, 1, commands,
                                    desk.queue.familyIndex, buffer, &point),
                     VK_SUCCESS);
    assert_true(point.semaphore != VK_NULL_HANDLE);
    assert_int_equal(point.value, 1);
    assert_int_equal(record_acquire(desk.rig.allocator, desk.cuda, timeline, 2, commands,
                                    desk.queue.familyIndex, buffer, &point),
                     VK_SUCCESS);
    assert_int_equal(point.value, 2);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    vkDestroyCommandPool(desk.rig.device, pool, NULL);
    maarDestroyCudaTimeline(desk.cuda, timeline);
    maarDestroyBuffer(desk.rig.allocator, buffer, allocation);
    cuda_desk_close(&desk);
}

static void documented_image_has_its_level(void** state)
{
    static struct cuda_desk desk;
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkImageCreateInfo info = rig_image_info(32, 32);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    MaarCudaImage in_cuda = VK_NULL_HANDLE;
    void* level = NULL;
    (void)state;
    how.pNext = &export;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(maarCreateImage(desk.rig.allocator, &info, &how, &image, &allocation),
                     VK_SUCCESS);
    assert_int_equal(image_in_cuda(desk.cuda, allocation, &info, &in_cuda, &level), VK_SUCCESS);
    assert_non_null(level);
    maarDestroyCudaImage(desk.cuda, in_cuda);
    maarDestroyImage(desk.rig.allocator, image, allocation);
    cuda_desk_close(&desk);
}

static void documented_hip_opens(void** state)
{
    static struct cuda_desk desk;
    struct maar_hip_runtime runtime;
    const struct fake_control* fake = fake_load_hip(MAAR_FAKE_HIP, &runtime);
    const MaarHipCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_HIP,
        .deviceOrdinalPlusOne = 1,
    };
    MaarHip hip = VK_NULL_HANDLE;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    (void)state;
    cuda_desk_start(&desk, NULL);
    assert_int_equal(open_hip(desk.rig.allocator, &info, &hip, &timeline), VK_SUCCESS);
    maarDestroyHipTimeline(hip, timeline);
    maarDestroyHip(hip);
    fake_expect_clean_end(fake);
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_runs_as_it_stands),
        cmocka_unit_test(commands_of_ones_own_do_as_well),
        cmocka_unit_test(documented_image_has_its_level),
        cmocka_unit_test(documented_hip_opens),
        cmocka_unit_test(first_steps_do_what_they_say),
        rig_unit_test(pages_of_a_graph_have_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
