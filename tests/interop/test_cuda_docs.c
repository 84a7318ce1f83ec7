/*
 * The C in docs/cuda.md compiles, one block after another, and does what it says beside the FAKE
 * CUDA driver and the FAKE HIP runtime, which are no GPU.
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
