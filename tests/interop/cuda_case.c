/*
 * Opening and closing what the protocol tests of maar/cuda.h run on.
 */
#include "tests/interop/cuda_case.h"

#include <time.h>

/* Of 0.1 ms, that a stream gets to end. */
enum { MOST_NAPS = 200000 };

/* ---- life ---- */

static bool is_simulated(void)
{
    const char* name = getenv("MAAR_RIG");
    return name == NULL || strcmp(name, "none") == 0 || strcmp(name, "simulated") == 0;
}

static VkFlags both_ways(bool offered)
{
    return offered ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                         VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT
                   : 0;
}

static void open_simulated(struct cuda_case* c, const struct cuda_case_setup* setup)
{
    MaarSimulatedSharingInfo sharing = *rig_sharing_everything();
    sharing.opaqueBinary = both_ways((setup->kinds & SEMAPHORE_WRAP_BINARY) != 0);
    sharing.opaqueTimeline = both_ways((setup->kinds & SEMAPHORE_WRAP_TIMELINE) != 0);
    if (setup->dedicated_images) {
        sharing.opaqueImages |= VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    }
    /* Submissions wait for what they should; whoever waits keeps them going. */
    const struct rig_setup own = {
        .flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT, .count_host = true, .sharing = &sharing};
    rig_open(&c->rig, &own);
}

/* The program's own calls go through the stand-in too. */
static void wrap_volk(VkDevice device)
{
#define WRAP(name) name = (PFN_##name)semaphore_wrap_device_function(device, #name)
    WRAP(vkCreateSemaphore);
    WRAP(vkDestroySemaphore);
    WRAP(vkDestroyDevice);
    WRAP(vkQueueSubmit);
    WRAP(vkWaitSemaphores);
    WRAP(vkSignalSemaphore);
    WRAP(vkGetSemaphoreCounterValue);
#undef WRAP
}

static bool open_vulkan(struct cuda_case* c, const struct cuda_case_setup* setup)
{
    struct rig* rig = &c->rig;
    const struct rig_setup own = {.without_layer = setup->threads};
    if (!rig_open_vulkan(rig, &own, !setup->threads)) {
        return false;
    }
    semaphore_wrap_open(rig->instance, vkGetInstanceProcAddr, vkGetDeviceProcAddr, setup->kinds);
    wrap_volk(rig->device);
    c->wrapped = true;
    rig->create_info.pfnGetInstanceProcAddr = semaphore_wrap_instance_function;
    rig->create_info.pfnGetDeviceProcAddr = semaphore_wrap_device_function;
    uint32_t count = rig->create_info.enabledExtensionCount;
    assert_true(count < MAAR_MAX_RECOMMENDED_EXTENSIONS);
    rig->extensions[count] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    rig->create_info.enabledExtensionCount = count + 1;
    rig->create_info.ppEnabledExtensionNames = rig->extensions;
    return true;
}

/* ---- the barriers that Maar records ---- */

struct cuda_case_barriers cuda_case_barriers;

static PFN_vkGetDeviceProcAddr device_below;
static PFN_vkCmdPipelineBarrier barrier_below;

static VKAPI_ATTR void VKAPI_CALL
note_barrier(VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
             VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier* memory,
             uint32_t buffer_count, const VkBufferMemoryBarrier* buffers, uint32_t image_count,
             const VkImageMemoryBarrier* images)
{
    if (buffer_count != 0) {
        cuda_case_barriers.last = buffers[buffer_count - 1];
        cuda_case_barriers.before = before;
        cuda_case_barriers.after = after;
        cuda_case_barriers.count += buffer_count;
    }
    barrier_below(commands, before, after, flags, memory_count, memory, buffer_count, buffers,
                  image_count, images);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_function(VkDevice device, const char* name)
{
    const PFN_vkVoidFunction found = device_below(device, name);
    if (strcmp(name, "vkCmdPipelineBarrier") != 0) {
        return found;
    }
    barrier_below = (PFN_vkCmdPipelineBarrier)found;
    return (PFN_vkVoidFunction)note_barrier;
}

static void watch_barriers(struct cuda_case* c)
{
    memset(&cuda_case_barriers, 0, sizeof cuda_case_barriers);
    device_below = c->rig.create_info.pfnGetDeviceProcAddr;
    c->rig.create_info.pfnGetDeviceProcAddr = find_function;
}

/* ---- opening ---- */

static void keep_going(void* data)
{
    struct cuda_case* c = data;
    (void)maarSimulatedExecuteSubmissions(c->rig.physical, UINT32_MAX);
}

bool cuda_case_open(struct cuda_case* c, const struct cuda_case_setup* setup)
{
    memset(c, 0, sizeof *c);
    if (is_simulated()) {
        open_simulated(c, setup);
    } else if (!open_vulkan(c, setup)) {
        return false;
    }
    c->queue =
        (MaarQueue){.familyIndex = c->rig.recommendation.mainQueueFamily, .queue = c->rig.queue};
    c->rig.create_info.queueCount = 1;
    c->rig.create_info.pQueues = &c->queue;
    watch_barriers(c);
    rig_make_allocator(&c->rig);
    c->sharing.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO;
    assert_int_equal(maarGetSharingInfo(c->rig.allocator, &c->sharing), VK_SUCCESS);
    c->descriptors = rig_count_fds();
    const char* library = setup->library != NULL ? setup->library : MAAR_FAKE_CUDA;
    c->fake = fake_load_cuda(library, &c->driver);
    c->fake->set_uuid(0, c->sharing.deviceUUID);
    const struct fake_vulkan vulkan = {
        .signal = vkSignalSemaphore,
        .progress = c->rig.simulated ? keep_going : NULL,
        .data = c,
    };
    c->fake->set_vulkan(&vulkan);
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .pLibraryPath = library,
    };
    if (!setup->without_cuda) {
        cuda_case_start(c, &info);
    }
    return true;
}

void cuda_case_start(struct cuda_case* c, const MaarCudaCreateInfo* info)
{
    const VkResult result = maarCreateCuda(c->rig.allocator, info, &c->cuda);
    if (result != VK_SUCCESS) {
        fail_msg("no CUDA: %d, \"%s\"", (int)result, c->rig.messages.last);
    }
    assert_int_equal(c->fake->context_depth(), 0);
    assert_int_equal(c->driver.cuCtxPushCurrent(cuda_case_info(c).pContext), 0);
    struct maar_cuda_stream* stream = NULL;
    assert_int_equal(c->driver.cuStreamCreate(&stream, MAAR_CUDA_STREAM_NON_BLOCKING), 0);
    c->stream = stream;
}

void cuda_case_finish(struct cuda_case* c)
{
    const struct timespec nap = {.tv_nsec = 100000};
    for (uint32_t naps = 0; c->driver.cuStreamQuery(c->stream) == MAAR_CUDA_NOT_READY; ++naps) {
        if (naps == MOST_NAPS) {
            c->fake->abandon_waits();
            (void)c->driver.cuStreamSynchronize(c->stream);
            fail_msg("the stream never ends: %s", c->fake->breach(c->fake->breach_count() - 1));
        }
        (void)nanosleep(&nap, NULL);
    }
    assert_int_equal(c->driver.cuStreamSynchronize(c->stream), 0);
}

void cuda_case_stop(struct cuda_case* c)
{
    if (c->cuda == VK_NULL_HANDLE) {
        return;
    }
    cuda_case_finish(c);
    assert_int_equal(c->driver.cuStreamDestroy(c->stream), 0);
    assert_int_equal(c->fake->context_depth(), 1);
    assert_int_equal(c->driver.cuCtxPopCurrent(NULL), 0);
    maarDestroyCuda(c->cuda);
    c->cuda = VK_NULL_HANDLE;
    assert_int_equal(c->fake->context_depth(), 0);
    fake_expect_clean_end(c->fake);
}

void cuda_case_close(struct cuda_case* c)
{
    cuda_case_stop(c);
    fake_expect_clean_end(c->fake);
    c->fake->reset();
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_count_fds(), c->descriptors);
    rig_close(&c->rig);
    if (c->wrapped) {
        if (semaphore_wrap_breach_count() != 0) {
            fail_msg("%s", semaphore_wrap_last_breach());
        }
        assert_int_equal(semaphore_wrap_close(), 0);
    }
}

static int open_only(void** state, bool threads)
{
    static struct cuda_case only;
    const struct cuda_case_setup setup = {.kinds = SEMAPHORE_WRAP_ALL, .threads = threads};
    *state = cuda_case_open(&only, &setup) ? &only : NULL;
    return 0;
}

int cuda_case_setup(void** state)
{
    return open_only(state, false);
}

int cuda_case_setup_threads(void** state)
{
    return open_only(state, true);
}

int cuda_case_teardown(void** state)
{
    if (*state != NULL) {
        cuda_case_close(*state);
    }
    return 0;
}

struct cuda_case* cuda_case_get(void** state)
{
    if (*state == NULL) {
        skip();
    }
    return *state;
}

/* ---- what is looked at ---- */

MaarCudaInfo cuda_case_info(struct cuda_case* c)
{
    MaarCudaInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO};
    assert_int_equal(maarGetCudaInfo(c->cuda, &info), VK_SUCCESS);
    return info;
}

MaarCudaMemory cuda_case_memory(struct cuda_case* c, MaarAllocation allocation)
{
    MaarCudaMemory memory = {.sType = MAAR_STRUCTURE_TYPE_CUDA_MEMORY};
    const VkResult result = maarGetCudaMemory(c->cuda, allocation, &memory);
    if (result != VK_SUCCESS) {
        fail_msg("no CUDA memory: %d, \"%s\"", (int)result, c->rig.messages.last);
    }
    assert_ptr_equal(memory.pDevice, (void*)(uintptr_t)memory.devicePointer);
    return memory;
}

MaarCudaTimeline cuda_case_timeline(struct cuda_case* c, MaarHandoffMode mode)
{
    const MaarCudaTimelineCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
                                             .mode = mode};
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    const VkResult result = maarCreateCudaTimeline(c->cuda, &info, &timeline);
    if (result != VK_SUCCESS) {
        fail_msg("no timeline: %d, \"%s\"", (int)result, c->rig.messages.last);
    }
    return timeline;
}

void fill_bytes(void* bytes, size_t size, unsigned salt)
{
    unsigned char* at = bytes;
    for (size_t i = 0; i < size; ++i) {
        at[i] = (unsigned char)(i * 31 + (i >> 8) + salt);
    }
}

bool are_filled(const void* bytes, size_t size, unsigned salt)
{
    const unsigned char* at = bytes;
    for (size_t i = 0; i < size; ++i) {
        if (at[i] != (unsigned char)(i * 31 + (i >> 8) + salt)) {
            return false;
        }
    }
    return true;
}
