/*
 * See fuzz_device.h.
 */
#include "tests/fuzz/fuzz_device.h"

void fuzz_device_open(struct fuzz_device* device, const struct rig_setup* setup,
                      MaarAllocatorCreateFlags flags)
{
    rig_open(&device->rig, setup);
    fuzz_host_init(&device->host);
    device->rig.create_info.pAllocationCallbacks = &device->host.callbacks;
    device->rig.create_info.flags |= flags;
    rig_make_allocator(&device->rig);
}

void fuzz_device_close(struct fuzz_device* device)
{
    maarDestroyAllocator(device->rig.allocator);
    device->rig.allocator = VK_NULL_HANDLE;
    fuzz_require(device->host.live == 0);
    rig_close(&device->rig);
}

uint32_t fuzz_device_pick(struct fuzz_device* device, uint32_t limit)
{
    return (uint32_t)fuzz_below(&device->input, limit);
}

void fuzz_device_plan(struct fuzz_device* device)
{
    const uint8_t way = fuzz_byte(&device->input);
    fuzz_device_forget(device);
    if ((way & 5) == 1) {
        fuzz_host_plan(&device->host, fuzz_below(&device->input, 64), 1 + (way >> 7));
        device->may_fail = true;
    }
    if ((way & 6) == 2) {
        /* VK_SUCCESS: what the function would usually fail with, a loss among others. */
        static const VkResult results[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                           VK_ERROR_OUT_OF_HOST_MEMORY,
                                           VK_SUCCESS,
                                           VK_ERROR_TOO_MANY_OBJECTS,
                                           VK_ERROR_OUT_OF_HOST_MEMORY,
                                           VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                           VK_ERROR_OUT_OF_HOST_MEMORY,
                                           VK_ERROR_DEVICE_LOST};
        const VkResult result = results[way >> 3 & 7];
        rig_set_fault(&device->rig, NULL, 1 + fuzz_below(&device->input, 32), 1 + (way >> 6 & 1),
                      result);
        device->may_fail = true;
        device->may_be_lost =
            device->may_be_lost || result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
    }
}

void fuzz_device_forget(struct fuzz_device* device)
{
    rig_clear_faults(&device->rig);
    fuzz_host_plan(&device->host, 0, 0);
}

VkResult fuzz_device_allow(const struct fuzz_device* device, VkResult result)
{
    const bool scarce =
        result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS;
    if (result != VK_SUCCESS && !device->may_fail && !scarce) {
        (void)fprintf(stderr, "not so: %d is allowed; the last message: %s\n", (int)result,
                      device->rig.messages.last);
        abort();
    }
    return result;
}

bool fuzz_device_signal(const struct fuzz_device* device, VkSemaphore timeline, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = timeline,
        .value = value,
    };
    const bool good = vkSignalSemaphore(device->rig.device, &info) == VK_SUCCESS;
    fuzz_require(good || device->may_be_lost);
    return good;
}

void fuzz_device_sound(struct fuzz_device* device)
{
    const MaarSimulatedCounters counters = rig_counters(&device->rig);
    if (counters.violationCount != device->rig.expected_violations) {
        (void)fprintf(stderr, "violation: %s\n", device->rig.violation);
        abort();
    }
    if (device->rig.messages.counts[MAAR_MESSAGE_SEVERITY_FATAL] != 0) {
        (void)fprintf(stderr, "fatal: %s\n", device->rig.messages.last);
        abort();
    }
    rig_check(&device->rig);
    const MaarStatistics statistics = rig_statistics(&device->rig, VK_NULL_HANDLE);
    fuzz_require(statistics.blockCount == counters.liveCount[MAAR_SIMULATED_OBJECT_MEMORY]);
}
