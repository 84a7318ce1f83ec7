/*
 * The C in the documents compiles, and does what they say: a simulated device, the first allocator
 * and buffer on it, a trace that the command's reader takes, a plan,
 * a frame that shares memory, an array that grows, textures that are streamed, and a pool that
 * stitches.
 */
#define VK_NO_PROTOTYPES
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <maar/maar.h>
#include <maar/plan.h>
#include <maar/simulated.h>

#include "support/trace.h"

/* The loader's function, in the README. */
#define vkGetInstanceProcAddr maarSimulatedGetInstanceProcAddr

#define LOAD(instance, name) ((PFN_##name)maarSimulatedGetInstanceProcAddr(instance, #name))

void log_header(FILE* log);
void log_buffer(FILE* log, uint64_t id, const VkBufferCreateInfo* info,
                const VkMemoryRequirements* needs, uint64_t time_ns);
void log_image(FILE* log, uint64_t id, const VkImageCreateInfo* info,
               const VkMemoryRequirements* needs, uint64_t time_ns);
void log_frame(FILE* log, uint64_t time_ns);
void log_free(FILE* log, uint64_t id, uint64_t time_ns);

VkResult make_frame(MaarAllocator allocator, uint32_t family, VkExtent3D size,
                    const MaarPoint* done, MaarTransientHeap* heap);
VkResult record_frame(MaarAllocator allocator, MaarTransientHeap heap, VkCommandBuffer commands,
                      uint64_t frame_number, void (*record_pass)(VkCommandBuffer, uint32_t pass));
VkResult get_images(MaarAllocator allocator, MaarTransientHeap heap, uint32_t copy,
                    VkImage images[3]);

/* Stands for the device's function. */
static uint32_t barrier_calls;
static void vkCmdPipelineBarrier2(VkCommandBuffer commands, const VkDependencyInfo* barriers)
{
    assert_null(commands);
    assert_non_null(barriers);
    ++barrier_calls;
}

/* Stands for the queue's function. */
static VkSubmitInfo last_submit;
static VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                              VkFence fence)
{
    (void)queue;
    assert_int_equal(count, 1);
    assert_true(fence == VK_NULL_HANDLE);
    last_submit = *submits;
    return VK_SUCCESS;
}

/* Stands for the program's. */
static uint32_t tiles_read;
static void read_tile(const MaarTileUpload* upload)
{
    assert_non_null(upload->pData);
    ++tiles_read;
}

#include "buffer-cache.inc"
#include "growing-arrays.inc"
#include "planning.inc"
#include "pools.inc"
#include "replay.inc"
#include "streamed-textures.inc"
#include "transients.inc"

static VkInstance make_simulated_instance(void)
{
#include "simulated-devices.inc"
    assert_int_equal(result, VK_SUCCESS);
    return instance;
}

static uint32_t recorded_passes;
static void count_pass(VkCommandBuffer commands, uint32_t pass)
{
    assert_null(commands);
    assert_int_equal(pass, recorded_passes % PASS_COUNT);
    ++recorded_passes;
}

/* Glow lies where the G-buffer was, and takes a call more for it. */
static void use_frame(MaarAllocator allocator)
{
    MaarTransientHeap heap = VK_NULL_HANDLE;
    const VkExtent3D large = {1920, 1080, 1};
    const VkExtent3D small = {1280, 720, 1};
    const MaarPoint done = {.value = 1};
    assert_int_equal(make_frame(allocator, 0, large, NULL, &heap), VK_SUCCESS);
    assert_non_null(heap);
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    assert_int_equal(maarGetTransientHeapInfo(allocator, heap, &info), VK_SUCCESS);
    assert_true(info.peakSize < info.totalSize);
    VkImage images[IMAGE_COUNT] = {VK_NULL_HANDLE};
    assert_int_equal(get_images(allocator, heap, 0, images), VK_SUCCESS);
    assert_true(images[GLOW] != VK_NULL_HANDLE && images[GLOW] != images[LIT]);
    assert_int_equal(record_frame(allocator, heap, NULL, 0, count_pass), VK_SUCCESS);
    assert_int_equal(recorded_passes, PASS_COUNT);
    assert_in_range(barrier_calls, 3, 4);
    assert_int_equal(make_frame(allocator, 0, small, &done, &heap), VK_SUCCESS);
    assert_int_equal(maarAdvanceHostTimeline(allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(allocator, NULL), VK_SUCCESS);
    maarDestroyTransientHeap(allocator, heap);
}

/* The fill and the sort, and the sort and the gathering, have a barrier between them. */
static void use_compute_frame(MaarAllocator allocator)
{
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(make_sort(allocator, 0, 65536, &heap), VK_SUCCESS);
    for (uint32_t pass = SORT; pass <= GATHER; ++pass) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        assert_int_equal(maarGetTransientPassBarriers(allocator, heap, 0, pass, &barriers),
                         VK_SUCCESS);
        assert_true(barriers.hasBefore);
    }
    maarDestroyTransientHeap(allocator, heap);
}

static void use_first_allocator(VkInstance instance, VkPhysicalDevice physicalDevice,
                                VkDevice device)
{
#include "README.inc"
    assert_int_equal(result, VK_SUCCESS);
    assert_non_null(buffer);
    assert_non_null(image);
}

/* What the other pages do begins with an allocator. */
static void use_another_allocator(VkInstance instance, VkPhysicalDevice physicalDevice,
                                  VkDevice device)
{
    const MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                          .instance = instance,
                                          .physicalDevice = physicalDevice,
                                          .device = device,
                                          .pfnGetInstanceProcAddr = vkGetInstanceProcAddr};
    MaarAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&info, &allocator), VK_SUCCESS);
    use_frame(allocator);
    use_compute_frame(allocator);
    maarDestroyAllocator(allocator);
}

/* The first steps of a program that used VMA. */
static VkResult come_from_vma(VkInstance instance, VkPhysicalDevice physicalDevice, VkDevice device)
{
#include "from-vma.inc"
    return result;
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
    use_another_allocator(instance, physical, device);
    assert_int_equal(come_from_vma(instance, physical, device), VK_SUCCESS);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

/* Grows and shrinks; whether by pages or by copies is the device's affair. */
static void use_array(MaarAllocator allocator, VkBool32 sparse)
{
    const MaarArray array = create_particles(allocator, (VkDeviceSize)64 << 20);
    assert_non_null(array);
    const MaarPoint none = {.value = 0};
    MaarPoint bound = {.value = 0};
    uint64_t first = 1;
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, &bound), VK_SUCCESS);
    assert_true(bound.semaphore != VK_NULL_HANDLE);
    assert_int_equal(add_particles(allocator, array, 1000, &none, &first, &bound), VK_SUCCESS);
    assert_int_equal(first, 0);
    assert_int_equal(add_particles(allocator, array, 500000, &none, &first, &bound), VK_SUCCESS);
    assert_int_equal(first, 1000);
    assert_true(bound.semaphore != VK_NULL_HANDLE && bound.value > 0);
    assert_int_equal(submit_after(NULL, NULL, &bound), VK_SUCCESS);
    assert_ptr_equal(last_submit.pWaitSemaphores, &bound.semaphore);
    assert_int_equal(keep_particles(allocator, array, 10, &bound), VK_SUCCESS);
    MaarArrayInfo info = {.sType = MAAR_STRUCTURE_TYPE_ARRAY_INFO};
    assert_int_equal(maarGetArrayInfo(allocator, array, &info), VK_SUCCESS);
    assert_int_equal(info.count, 10);
    assert_true(buffer_of(allocator, array) != VK_NULL_HANDLE);
    MaarReservationInfo reserved = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    assert_int_equal(maarGetReservationInfo(allocator, info.reservation, &reserved), VK_SUCCESS);
    assert_int_equal(reserved.sparse, sparse);
    maarDestroyArray(allocator, array);
}

static void use_mapped_pages(MaarAllocator allocator)
{
    static const char bytes[] = "weights";
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = (VkDeviceSize)64 << 20,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .flags = MAAR_RESERVATION_CREATE_MAPPED_BIT,
                                            .pBufferInfo = &buffer};
    MaarReservation reservation = VK_NULL_HANDLE;
    const MaarPageRange range = {100, sizeof bytes};
    MaarHostRun run = {.pData = NULL};
    uint32_t count = 1;
    assert_int_equal(maarCreateReservation(allocator, &info, &reservation), VK_SUCCESS);
    assert_int_equal(maarCommitPages(allocator, reservation, 1, &range), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(write_range(allocator, reservation, range, bytes), VK_SUCCESS);
    assert_int_equal(maarGetHostPages(allocator, reservation, &range, &count, &run), VK_SUCCESS);
    assert_memory_equal(run.pData, bytes, sizeof bytes);
    maarDestroyReservation(allocator, reservation);
}

static void use_touched_pages(MaarAllocator allocator)
{
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = (VkDeviceSize)64 << 20,
                                       .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarReservationCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                            .pBufferInfo = &buffer};
    MaarReservationRange range = {.size = (VkDeviceSize)1 << 20};
    MaarReservationRange fresh[MOST_FRESH];
    MaarPoint bound = {.value = 0};
    uint32_t count = 0;
    uint64_t touch = 0;
    assert_int_equal(maarCreateReservation(allocator, &info, &range.reservation), VK_SUCCESS);
    assert_int_equal(use_ranges(allocator, 1, &range, fresh, &count, &touch, &bound), VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(touch, 1);
    assert_true(fresh[0].size >= range.size);
    assert_int_equal(use_ranges(allocator, 1, &range, fresh, &count, &touch, &bound), VK_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(touch, 2);
    assert_int_equal(bring_back(allocator, range.reservation, 1 << 20, &bound, &bound), VK_SUCCESS);
    maarDestroyReservation(allocator, range.reservation);
}

static VkPhysicalDevice only_device(VkInstance instance)
{
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    uint32_t count = 1;
    assert_int_equal(LOAD(instance, vkEnumeratePhysicalDevices)(instance, &count, &physical),
                     VK_SUCCESS);
    return physical;
}

/* Makes a device with all that is recommended, and an allocator that may use its queue. */
static MaarAllocator open_device(VkInstance instance, VkDevice* device)
{
    const VkPhysicalDevice physical = only_device(instance);
    MaarDeviceRecommendation advice = {.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION};
    assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, instance, physical, NULL, &advice),
                     VK_SUCCESS);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .queueFamilyIndex = advice.mainQueueFamily,
                                                .queueCount = 1,
                                                .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = advice.pFeatures,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue_info,
                                     .enabledExtensionCount = advice.extensionCount,
                                     .ppEnabledExtensionNames = advice.ppExtensionNames};
    assert_int_equal(LOAD(instance, vkCreateDevice)(physical, &info, NULL, device), VK_SUCCESS);
    VkQueue queue = VK_NULL_HANDLE;
    LOAD(instance, vkGetDeviceQueue)(*device, advice.mainQueueFamily, 0, &queue);
    MaarAllocatorCreateInfo create = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                      .apiVersion = VK_API_VERSION_1_2,
                                      .instance = instance,
                                      .physicalDevice = physical,
                                      .device = *device,
                                      .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                      .enabledExtensionCount = advice.extensionCount,
                                      .ppEnabledExtensionNames = advice.ppExtensionNames,
                                      .pEnabledFeatures = advice.pFeatures};
    MaarAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(create_with_queue(&create, queue, advice.mainQueueFamily, &allocator),
                     VK_SUCCESS);
    return allocator;
}

static void docs_recommendation_goes_into_the_programs_chain(void** state)
{
    (void)state;
    const VkInstance instance = make_simulated_instance();
    VkPhysicalDeviceVulkan12Features own = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .scalarBlockLayout = VK_TRUE,
    };
    MaarDeviceRecommendation advice;
    assert_int_equal(recommend_into(instance, only_device(instance), &own, &advice), VK_SUCCESS);
    assert_ptr_equal(advice.pFeatures, &own);
    assert_int_equal(own.timelineSemaphore, advice.timelineSemaphore.timelineSemaphore);
    assert_int_equal(own.scalarBlockLayout, VK_TRUE);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

static void docs_array_grows_and_shrinks(void** state)
{
    (void)state;
    const VkInstance instance = make_simulated_instance();
    VkDevice device = VK_NULL_HANDLE;
    const MaarAllocator allocator = open_device(instance, &device);
    use_array(allocator, VK_FALSE);
    maarDestroyAllocator(allocator);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

/* A device with sparse binding. */
static VkInstance make_sparse_instance(void)
{
    static const MaarSimulatedProfile profile = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE,
        .name = "sparse",
        .limits = {.bufferImageGranularity = 1,
                   .nonCoherentAtomSize = 64,
                   .maxMemoryAllocationCount = 4096,
                   .sparseAddressSpaceSize = (VkDeviceSize)1 << 40},
        .heapCount = 1,
        .heaps = {{.size = (VkDeviceSize)4 << 30, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
        .typeCount = 1,
        .types = {{0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT}},
        .sparse = {.sparseBinding = VK_TRUE,
                   .residencyBuffer = VK_TRUE,
                   .residencyImage2D = VK_TRUE},
    };
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = &profile};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &simulated,
                                       .pApplicationInfo = &application};
    VkInstance instance = VK_NULL_HANDLE;
    assert_int_equal(LOAD(NULL, vkCreateInstance)(&info, NULL, &instance), VK_SUCCESS);
    return instance;
}

/* Leaves the commands alone: they were executed when the binds were. */
static MaarPoint submit_nothing(void* context, VkCommandBuffer commands, const MaarPoint* bound)
{
    ++*(uint32_t*)context;
    assert_non_null(commands);
    return *bound;
}

static void use_streamed_texture(MaarAllocator allocator, VkPhysicalDevice gpu,
                                 VkCommandBuffer commands)
{
    MaarSparseImage image = VK_NULL_HANDLE;
    MaarTileCache cache = VK_NULL_HANDLE;
    assert_int_equal(create_texture(allocator, 2048, (VkDeviceSize)1 << 20, &image, &cache),
                     VK_SUCCESS);
    const uint32_t request = MAAR_PACK_TILE_REQUEST(0u, 0u, 3u, 2u);
    const MaarPoint none = {.value = 0};
    uint32_t submissions = 0;
    /* A frame whose binds the driver rejects; its uploads begin again. */
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .pFunctionName = "vkQueueBindSparse",
        .result = VK_ERROR_OUT_OF_HOST_MEMORY,
    };
    assert_int_equal(maarSimulatedSetFault(gpu, &fault), VK_SUCCESS);
    assert_int_equal(
        stream(allocator, cache, 1, &request, &none, commands, submit_nothing, &submissions),
        VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(submissions, 0);
    for (uint32_t frame = 0; frame < 4; ++frame) {
        assert_int_equal(
            stream(allocator, cache, 1, &request, &none, commands, submit_nothing, &submissions),
            VK_SUCCESS);
    }
    assert_int_equal(submissions, 4);
    assert_true(tiles_read > 4);
    uint8_t levels[256];
    uint32_t count = 256;
    assert_int_equal(maarGetTileCacheLevels(allocator, cache, 0, &count, levels), VK_SUCCESS);
    assert_int_equal(count, 256);
    assert_int_equal(levels[2 * 16 + 3], 0);
    assert_int_equal(destroy_texture(allocator, image, cache, &none), VK_SUCCESS);
}

/* Work that is over when it is submitted. */
static VkSemaphore layers_done;
static uint64_t layers_run;
static MaarPoint submit_layer(const MaarPoint* wait)
{
    assert_true(wait != NULL && wait->semaphore != VK_NULL_HANDLE);
    return (MaarPoint){layers_done, ++layers_run};
}

static void signal_layers(VkInstance instance, VkDevice device)
{
    const VkSemaphoreSignalInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                          .semaphore = layers_done,
                                          .value = layers_run};
    assert_int_equal(LOAD(instance, vkSignalSemaphore)(device, &signal), VK_SUCCESS);
}

/* Eight layers, and room for five. */
static void use_buffer_cache(MaarAllocator allocator, VkInstance instance, VkDevice device)
{
    enum { LAYERS = 8, LAYER_BYTES = 131072 };
    static char bytes[LAYERS][LAYER_BYTES];
    void* layers[LAYERS];
    MaarReservation reservation = VK_NULL_HANDLE;
    MaarBufferCache cache = VK_NULL_HANDLE;
    MaarPoint ready = {.value = 0};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    assert_int_equal(LOAD(instance, vkCreateSemaphore)(device, &info, NULL, &layers_done),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < LAYERS; ++i) {
        layers[i] = bytes[i];
    }
    assert_int_equal(
        open_weights(allocator, LAYERS, layers, LAYER_BYTES, 5 * LAYER_BYTES, &reservation, &cache),
        VK_SUCCESS);
    for (uint32_t i = 0; i < 4 * LAYERS; ++i) {
        assert_int_equal(run_layer(allocator, cache, i % LAYERS, submit_layer), VK_SUCCESS);
        signal_layers(instance, device);
        assert_int_equal(look_ahead(allocator, cache, i % LAYERS, LAYERS), VK_SUCCESS);
    }
    MaarBufferCacheInfo used = {.sType = MAAR_STRUCTURE_TYPE_BUFFER_CACHE_INFO};
    assert_int_equal(maarGetBufferCacheInfo(allocator, cache, &used), VK_SUCCESS);
    assert_int_equal(used.begunCount, 4 * LAYERS);
    assert_int_equal(used.peakCommittedSize, 5 * LAYER_BYTES);
    assert_true(used.hitCount > used.missCount);
    assert_int_equal(upload_all(allocator, cache, &ready), VK_ERROR_VALIDATION_FAILED_EXT);
    maarDestroyBufferCache(allocator, cache);
    maarDestroyReservation(allocator, reservation);
    LOAD(instance, vkDestroySemaphore)(device, layers_done, NULL);
}

static void use_tiles(MaarAllocator allocator)
{
    const VkImageCreateInfo texture = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                       .imageType = VK_IMAGE_TYPE_2D,
                                       .format = VK_FORMAT_R8G8B8A8_UNORM,
                                       .extent = {1024, 1024, 1},
                                       .mipLevels = 11,
                                       .arrayLayers = 1,
                                       .samples = VK_SAMPLE_COUNT_1_BIT,
                                       .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    const MaarSparseImageCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
                                            .pImageInfo = &texture};
    MaarSparseImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSparseImage(allocator, &info, &image), VK_SUCCESS);
    assert_int_equal(commit_first(allocator, image, 700, 300), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, NULL), VK_SUCCESS);
    uint8_t resident[64];
    uint32_t count = 64;
    assert_int_equal(maarGetTileResidency(allocator, image, 0, 0, &count, resident), VK_SUCCESS);
    assert_int_equal(resident[2 * 8 + 5], 1);
    uint8_t levels[64];
    assert_int_equal(maarGetMinResidentLevels(allocator, image, 0, &count, levels), VK_SUCCESS);
    assert_in_range(levels[2 * 8 + 5], 1, 10);
    const MaarTileRegion nothing = {.extent = {1, 1, 0}};
    assert_int_equal(maarCommitTiles(allocator, image, 1, &nothing),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    MaarSparseImageInfo after = {.sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_INFO};
    assert_int_equal(maarGetSparseImageInfo(allocator, image, &after), VK_SUCCESS);
    assert_int_equal(after.committedTileCount, 1);
    maarDestroySparseImage(allocator, image);
}

static void use_level_pool(MaarAllocator allocator)
{
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {256, 256, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(create_level_pool(allocator, &info, &pool), VK_SUCCESS);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(create_level_texture(allocator, pool, &info, &image, &allocation), VK_SUCCESS);
    MaarAllocationInfo got = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(allocator, allocation, &got), VK_SUCCESS);
    assert_true(got.pool == pool);
    maarDestroyImage(allocator, image, allocation);
    maarDestroyPool(allocator, pool);
}

/* Five buffers of 3 MiB fit into a block of 16 MiB. */
static void use_own_blocks(MaarAllocator allocator, VkInstance instance, VkDevice device)
{
    enum { COUNT = 6 };
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = (VkDeviceSize)3 << 20,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffers[COUNT] = {VK_NULL_HANDLE};
    MaarRange ranges[COUNT] = {VK_NULL_HANDLE};
    VkMemoryRequirements needs;
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(LOAD(instance, vkCreateBuffer)(device, &info, NULL, &buffers[i]),
                         VK_SUCCESS);
        LOAD(instance, vkGetBufferMemoryRequirements)(device, buffers[i], &needs);
    }
    MaarAllocation block = VK_NULL_HANDLE;
    MaarRangeAllocator places = VK_NULL_HANDLE;
    assert_int_equal(take_block(allocator, 0, &needs, &block, &places), VK_SUCCESS);
    MaarAllocationInfo got = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(allocator, block, &got), VK_SUCCESS);
    assert_int_equal(got.size, 16 << 20);
    assert_int_equal(got.blockSize, got.size);
    for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(place_buffer(allocator, block, places, buffers[i], &needs, &ranges[i]),
                         i < COUNT - 1 ? VK_SUCCESS : VK_ERROR_OUT_OF_POOL_MEMORY);
    }
    for (int i = 0; i < COUNT; ++i) {
        LOAD(instance, vkDestroyBuffer)(device, buffers[i], NULL);
        assert_int_equal(maarFreeRange(places, ranges[i]), VK_SUCCESS);
    }
    maarDestroyRangeAllocator(places);
    maarFreeMemory(allocator, block);
}

static void use_stitching_pool(MaarAllocator allocator)
{
    const MaarPool pool = create_stitching_pool(allocator, 0);
    assert_non_null(pool);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = (VkDeviceSize)24 << 20,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pool = pool};
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(allocator, &info, &how, &buffer, &allocation), VK_SUCCESS);
    assert_int_equal(maarSubmitBinds(allocator, 0, NULL, NULL), VK_SUCCESS);
    uint32_t runs = 0;
    assert_int_equal(maarEnumerateAllocationPages(allocator, allocation, &runs, NULL), VK_SUCCESS);
    assert_true(runs > 0);
    maarDestroyBuffer(allocator, buffer, allocation);
    maarDestroyPool(allocator, pool);
}

static void docs_pages_come_and_go(void** state)
{
    (void)state;
    const VkInstance instance = make_sparse_instance();
    VkDevice device = VK_NULL_HANDLE;
    const MaarAllocator allocator = open_device(instance, &device);
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(LOAD(instance, vkCreateCommandPool)(device, &pool_info, NULL, &pool),
                     VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(LOAD(instance, vkAllocateCommandBuffers)(device, &info, &commands),
                     VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(LOAD(instance, vkBeginCommandBuffer)(commands, &begin), VK_SUCCESS);
    use_array(allocator, VK_TRUE);
    use_mapped_pages(allocator);
    use_touched_pages(allocator);
    use_streamed_texture(allocator, only_device(instance), commands);
    use_tiles(allocator);
    use_buffer_cache(allocator, instance, device);
    use_level_pool(allocator);
    use_own_blocks(allocator, instance, device);
    use_stitching_pool(allocator);
    LOAD(instance, vkDestroyCommandPool)(device, pool, NULL);
    maarDestroyAllocator(allocator);
    MaarSimulatedCounters counters = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS};
    maarSimulatedGetCounters(only_device(instance), &counters);
    assert_int_equal(counters.violationCount, 0);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

/* Fills blocks of the preferred size of 64 MiB, and notes by how much each one makes Maar hold
 * more. */
static void expect_growth(MaarAllocator allocator, MaarPool pool)
{
    static const VkDeviceSize mib[] = {8, 16, 32, 64, 64};
    enum { BLOCKS = sizeof mib / sizeof *mib, MOST_BUFFERS = 400 };
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = (VkDeviceSize)1 << 20,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pool = pool};
    VkBuffer buffers[MOST_BUFFERS];
    MaarAllocation memory[MOST_BUFFERS];
    uint32_t made = 0;
    uint32_t blocks = 0;
    VkDeviceSize held = 0;
    while (blocks < BLOCKS && made < MOST_BUFFERS) {
        assert_int_equal(maarCreateBuffer(allocator, &info, &how, &buffers[made], &memory[made]),
                         VK_SUCCESS);
        ++made;
        MaarStatistics now = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        assert_int_equal(maarGetStatistics(allocator, VK_NULL_HANDLE, &now), VK_SUCCESS);
        if (now.blockCount > blocks) {
            assert_int_equal(now.blockBytes - held, mib[blocks] << 20);
            held = now.blockBytes;
            blocks = now.blockCount;
        }
    }
    assert_int_equal(blocks, BLOCKS);
    while (made > 0) {
        --made;
        maarDestroyBuffer(allocator, buffers[made], memory[made]);
    }
}

static void docs_blocks_grow_to_the_preferred_size(void** state)
{
    (void)state;
    const VkInstance instance = make_sparse_instance();
    VkDevice device = VK_NULL_HANDLE;
    maarDestroyAllocator(open_device(instance, &device));
    const MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                          .instance = instance,
                                          .physicalDevice = only_device(instance),
                                          .device = device,
                                          .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .preferredBlockSize = (VkDeviceSize)64 << 20};
    const MaarPoolCreateInfo pool_info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    for (int with_pool = 0; with_pool < 2; ++with_pool) {
        MaarAllocator allocator = VK_NULL_HANDLE;
        MaarPool pool = VK_NULL_HANDLE;
        assert_int_equal(maarCreateAllocator(&info, &allocator), VK_SUCCESS);
        if (with_pool == 1) {
            assert_int_equal(maarCreatePool(allocator, &pool_info, &pool), VK_SUCCESS);
        }
        expect_growth(allocator, pool);
        maarDestroyPool(allocator, pool);
        maarDestroyAllocator(allocator);
    }
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

static void docs_logged_trace_is_read(void** state)
{
    (void)state;
    static const char path[] = "test_docs_trace.csv";
    FILE* const log = fopen(path, "w");
    assert_non_null(log);
    log_header(log);
    const VkBufferCreateInfo info = {.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const VkMemoryRequirements needs = {.size = 1000, .alignment = 16, .memoryTypeBits = 7};
    log_buffer(log, 40, &info, &needs, 5);
    log_buffer(log, 41, &info, &needs, 6);
    log_free(log, 40, 7);
    const VkImageCreateInfo image = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                     .extent = {64, 32, 1},
                                     .mipLevels = 2,
                                     .arrayLayers = 3,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    log_image(log, 42, &image, &needs, 8);
    log_frame(log, 9);
    assert_int_equal(fclose(log), 0);
    struct support_trace trace = {.event_count = 0};
    struct support_error error = {"no message"};
    const bool loaded = support_trace_load(path, &trace, &error);
    assert_int_equal(remove(path), 0);
    assert_true(loaded);
    assert_int_equal(trace.event_count, 5);
    assert_int_equal(trace.resource_count, 3);
    assert_int_equal(trace.frame_count, 1);
    assert_int_equal(trace.image_count, 1);
    assert_int_equal(trace.resources[2].kind, SUPPORT_TRACE_IMAGE_OPTIMAL);
    assert_int_equal(trace.images[0].layers, 3);
    assert_int_equal(trace.peak_live_bytes, 2000);
    assert_int_equal(trace.resources[0].id, 40);
    assert_int_equal(trace.resources[0].usage, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    assert_int_equal(trace.resources[0].free_time_ns, 7);
    support_trace_release(&trace);
}

static void docs_plan_shares_as_described(void** state)
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

static void docs_each_class_of_a_plan_has_memory(void** state)
{
    (void)state;
    const VkInstance instance = make_simulated_instance();
    VkDevice device = VK_NULL_HANDLE;
    const MaarAllocator allocator = open_device(instance, &device);
    /* No two of them have a memory type in common. */
    const MaarPlanResource resources[3] = {
        {.size = 65536, .alignment = 256, .memoryTypeBits = 1},
        {.size = 4096, .alignment = 256, .memoryTypeBits = 2},
        {.size = 32768, .alignment = 256, .memoryTypeBits = 1, .firstPass = 1, .lastPass = 1},
    };
    const MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO, .resourceCount = 3, .pResources = resources};
    MaarPlan plan = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePlan(&info, &plan), VK_SUCCESS);
    MaarAllocation memory[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    assert_int_equal(allocate_classes(allocator, plan, 1, memory), VK_INCOMPLETE);
    assert_int_equal(allocate_classes(allocator, plan, 2, memory), VK_SUCCESS);
    MaarPlanPlacement placements[3];
    uint32_t count = 3;
    assert_int_equal(maarGetPlanPlacements(plan, &count, placements), VK_SUCCESS);
    for (uint32_t i = 0; i < 3; ++i) {
        MaarAllocationInfo got = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
        assert_int_equal(maarGetAllocationInfo(allocator, memory[placements[i].classIndex], &got),
                         VK_SUCCESS);
        assert_int_equal(1u << got.memoryTypeIndex, resources[i].memoryTypeBits);
        assert_true(placements[i].offset + resources[i].size <= got.size);
    }
    maarFreeMemory(allocator, memory[0]);
    maarFreeMemory(allocator, memory[1]);
    MaarStatistics held = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    assert_int_equal(maarGetStatistics(allocator, VK_NULL_HANDLE, &held), VK_SUCCESS);
    assert_int_equal(held.allocationCount, 0);
    maarDestroyPlan(plan);
    maarDestroyAllocator(allocator);
    LOAD(instance, vkDestroyDevice)(device, NULL);
    LOAD(instance, vkDestroyInstance)(instance, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(docs_first_allocator_works_on_simulated_device),
        cmocka_unit_test(docs_recommendation_goes_into_the_programs_chain),
        cmocka_unit_test(docs_array_grows_and_shrinks),
        cmocka_unit_test(docs_pages_come_and_go),
        cmocka_unit_test(docs_blocks_grow_to_the_preferred_size),
        cmocka_unit_test(docs_logged_trace_is_read),
        cmocka_unit_test(docs_plan_shares_as_described),
        cmocka_unit_test(docs_each_class_of_a_plan_has_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
