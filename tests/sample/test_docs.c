/*
 * The C in the documents compiles, and does what they say: a simulated device, the first allocator
 * and buffer on it, a trace that the command's reader takes, a plan,
 * a frame that shares memory, and an array that grows.
 */
#define VK_NO_PROTOTYPES
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <maar/maar.h>
#include <maar/plan.h>
#include <maar/simulated.h>

#include "support/trace.h"

/* The loader's function, in the README. */
#define vkGetInstanceProcAddr maarSimulatedGetInstanceProcAddr

#define LOAD(instance, name) ((PFN_##name)maarSimulatedGetInstanceProcAddr(instance, #name))

void log_buffer(FILE* log, uint64_t id, const VkBufferCreateInfo* info,
                const VkMemoryRequirements* needs, uint64_t time_ns);
void log_free(FILE* log, uint64_t id, uint64_t time_ns);

MaarTransientHeap create_frame(MaarAllocator allocator, uint32_t queue_family, uint32_t width,
                               uint32_t height);
void record_pass(MaarAllocator allocator, MaarTransientHeap heap, VkCommandBuffer commands,
                 uint64_t frame_number, uint32_t pass);
VkResult resize_frame(MaarAllocator allocator, MaarTransientHeap heap, uint32_t queue_family,
                      uint32_t width, uint32_t height, VkSemaphore frame_timeline,
                      uint64_t last_submitted);

/* Stands for the device's function. */
static uint32_t barrier_calls;
static void vkCmdPipelineBarrier2(VkCommandBuffer commands, const VkDependencyInfo* barriers)
{
    assert_null(commands);
    assert_non_null(barriers);
    ++barrier_calls;
}

#include "growing-arrays.inc"
#include "planning.inc"
#include "replay.inc"
#include "transients.inc"

static VkInstance make_simulated_instance(void)
{
#include "simulated-devices.inc"
    assert_int_equal(result, VK_SUCCESS);
    return instance;
}

/* Glow lies where the G-buffer was, and takes a call more for it. */
static void use_frame(MaarAllocator allocator)
{
    MaarTransientHeap heap = create_frame(allocator, 0, 1920, 1080);
    assert_non_null(heap);
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(allocator, heap, &info), VK_SUCCESS);
    assert_true(info.peakSize < info.totalSize);
    for (uint32_t pass = 0; pass < PASS_COUNT; ++pass) {
        record_pass(allocator, heap, NULL, 0, pass);
    }
    assert_in_range(barrier_calls, 3, 4);
    assert_int_equal(resize_frame(allocator, heap, 0, 1280, 720, VK_NULL_HANDLE, 1), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    maarDestroyTransientHeap(allocator, heap);
}

static void use_first_allocator(VkInstance instance, VkPhysicalDevice physicalDevice,
                                VkDevice device)
{
#include "README.inc"
    assert_int_equal(result, VK_SUCCESS);
    assert_non_null(buffer);
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    assert_int_equal(maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics), VK_SUCCESS);
    assert_int_equal(statistics.allocationsMade, 1);
    assert_int_equal(statistics.allocationCount, 0);
    use_frame(allocator);
    maarDestroyAllocator(allocator);
}

static void docs_first_allocator_works_on_simulated_device(void** state)
{
    (void)state;
    const VkInstance instance = make_simulated_instance();
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t count = 1;
    assert_int_equal(LOAD(instance, vkEnumeratePhysicalDevices)(instance, &count, &physical),
                     VK_SUCCESS);
    assert_int_equal(count, 1);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(LOAD(instance, vkCreateDevice)(physical, &info, NULL, &device), VK_SUCCESS);
    use_first_allocator(instance, physical, device);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

/* Grows and shrinks; whether by pages or by copies is the device's affair. */
static void use_array(MaarAllocator allocator)
{
    const MaarArray array = create_particles(allocator, (VkDeviceSize)64 << 20);
    assert_non_null(array);
    const MaarPoint none = {.value = 0};
    MaarPoint bound = {.value = 0};
    uint64_t first = 1;
    assert_int_equal(add_particles(allocator, array, 1000, &none, &first, &bound), VK_SUCCESS);
    assert_int_equal(first, 0);
    assert_int_equal(add_particles(allocator, array, 500000, &none, &first, &bound), VK_SUCCESS);
    assert_int_equal(first, 1000);
    assert_true(bound.semaphore != VK_NULL_HANDLE && bound.value > 0);
    assert_int_equal(keep_particles(allocator, array, 10, &bound), VK_SUCCESS);
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(allocator, array, &info), VK_SUCCESS);
    assert_int_equal(info.count, 10);
    maarDestroyArray(allocator, array);
}

static void docs_array_grows_and_shrinks(void** state)
{
    (void)state;
    const VkInstance instance = make_simulated_instance();
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t count = 1;
    assert_int_equal(LOAD(instance, vkEnumeratePhysicalDevices)(instance, &count, &physical),
                     VK_SUCCESS);
    MaarDeviceRecommendation advice = {.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION};
    assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, instance, physical, NULL, &advice),
                     VK_SUCCESS);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = advice.mainQueueFamily,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = advice.pFeatures,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = advice.extensionCount,
                                     .ppEnabledExtensionNames = advice.ppExtensionNames};
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(LOAD(instance, vkCreateDevice)(physical, &info, NULL, &device), VK_SUCCESS);
    MaarQueue queues = {.familyIndex = advice.mainQueueFamily};
    LOAD(instance, vkGetDeviceQueue)(device, queues.familyIndex, 0, &queues.queue);
    const MaarAllocatorCreateInfo create = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                            .apiVersion = VK_API_VERSION_1_2,
                                            .instance = instance,
                                            .physicalDevice = physical,
                                            .device = device,
                                            .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                            .enabledExtensionCount = advice.extensionCount,
                                            .ppEnabledExtensionNames = advice.ppExtensionNames,
                                            .pEnabledFeatures = advice.pFeatures,
                                            .queueCount = 1,
                                            .pQueues = &queues};
    MaarAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&create, &allocator), VK_SUCCESS);
    use_array(allocator);
    maarDestroyAllocator(allocator);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

static void docs_logged_trace_is_read(void** state)
{
    (void)state;
    static const char path[] = "test_docs_trace.csv";
    FILE* const log = fopen(path, "w");
    assert_non_null(log);
    fputs("op,id,kind,size,alignment,types,stream,time_ns,usage,note\n", log);
    const VkBufferCreateInfo info = {.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const VkMemoryRequirements needs = {.size = 1000, .alignment = 16, .memoryTypeBits = 7};
    log_buffer(log, 40, &info, &needs, 5);
    log_buffer(log, 41, &info, &needs, 6);
    log_free(log, 40, 7);
    assert_int_equal(fclose(log), 0);
    struct support_trace trace = {.event_count = 0};
    struct support_error error = {"no message"};
    const bool loaded = support_trace_load(path, &trace, &error);
    assert_int_equal(remove(path), 0);
    assert_true(loaded);
    assert_int_equal(trace.event_count, 3);
    assert_int_equal(trace.resource_count, 2);
    assert_int_equal(trace.peak_live_bytes, 2000);
    assert_int_equal(trace.resources[0].id, 40);
    assert_int_equal(trace.resources[0].usage, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    assert_int_equal(trace.resources[0].free_time_ns, 7);
    support_trace_release(&trace);
}

static void docs_plan_shares_as_told(void** state)
{
    (void)state;
    VkDeviceSize offsets[3] = {0};
    const MaarPlan plan = plan_frame(VK_NULL_HANDLE, offsets);
    assert_non_null(plan);
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    assert_int_equal(maarGetPlanInfo(plan, &info), VK_SUCCESS);
    assert_int_equal(info.peakSize, 100270080);
    assert_int_equal(info.provedOptimal, VK_TRUE);
    assert_int_equal(offsets[0], offsets[2]);
    maarDestroyPlan(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docs_first_allocator_works_on_simulated_device),
        cmocka_unit_test(docs_array_grows_and_shrinks),
        cmocka_unit_test(docs_logged_trace_is_read),
        cmocka_unit_test(docs_plan_shares_as_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
