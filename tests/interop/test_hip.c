/*
 * maar/hip.h over the FAKE HIP runtime and a simulated device: how the device is found, memory, and
 * handoffs through the host. Nothing of this says anything about a GPU.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "core/memory/allocator_state.h"
#include "tests/fakes/fake_fixture.h"

#include "interop/hip/hip_internal.h"

struct hip_desk {
    struct rig* rig;
    MaarQueue queue;
    struct maar_hip_runtime runtime; /* the FAKE one */
    const struct fake_control* fake;
    MaarHip hip;
};

static MaarHipCreateInfo hip_desk_info(void)
{
    return (MaarHipCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_HIP_CREATE_INFO,
        .pLibraryPath = MAAR_FAKE_HIP,
    };
}

/* All but the MaarHip; the one device is at the allocator's address. */
static void hip_desk_open(struct hip_desk* desk, MaarSimulatedFlags flags)
{
    const struct rig_setup setup = {.flags = flags, .sharing = rig_sharing_everything()};
    memset(desk, 0, sizeof *desk);
    desk->fake = fake_load_hip(MAAR_FAKE_HIP, &desk->runtime);
    desk->rig = rig_new();
    rig_open(desk->rig, &setup);
    desk->queue = (MaarQueue){
        .familyIndex = desk->rig->recommendation.mainQueueFamily,
        .queue = desk->rig->queue,
    };
    desk->rig->create_info.queueCount = 1;
    desk->rig->create_info.pQueues = &desk->queue;
    rig_make_allocator(desk->rig);
    struct maar_device_facts* facts = &desk->rig->allocator->device.facts;
    facts->pci_address_known = true;
    facts->pci_domain = 0;
    facts->pci_bus = 0x2A;
    facts->pci_device = 1;
    facts->pci_function = 0;
    desk->fake->set_pci_address(0, "0000:2a:01.0");
}

static void hip_desk_start(struct hip_desk* desk, MaarSimulatedFlags flags)
{
    const MaarHipCreateInfo info = hip_desk_info();
    hip_desk_open(desk, flags);
    /* The FAKE runtime takes memory of the device whose UUID it has. */
    desk->fake->set_uuid(0, desk->rig->allocator->device.facts.device_uuid);
    assert_int_equal(maarCreateHip(desk->rig->allocator, &info, &desk->hip), VK_SUCCESS);
}

static void hip_desk_close(struct hip_desk* desk)
{
    maarDestroyHip(desk->hip);
    fake_expect_clean_end(desk->fake);
    rig_close(desk->rig);
    fake_expect_clean_end(desk->fake);
    desk->fake->reset();
}

static MaarHipInfo hip_desk_hip_info(struct hip_desk* desk)
{
    MaarHipInfo info = {.sType = MAAR_STRUCTURE_TYPE_HIP_INFO};
    assert_int_equal(maarGetHipInfo(desk->hip, &info), VK_SUCCESS);
    return info;
}

/* ---- finding it ---- */

static void hip_device_is_found_by_its_address(void** state)
{
    struct hip_desk desk;
    const MaarHipCreateInfo info = hip_desk_info();
    (void)state;
    hip_desk_open(&desk, 0);
    desk.fake->set_device_count(3);
    desk.fake->set_pci_address(0, "0000:2A:02.0");
    desk.fake->set_pci_address(1, "0001:2a:01.0");
    desk.fake->set_pci_address(2, "0000:2A:01.0"); /* either case */
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip), VK_SUCCESS);
    const MaarHipInfo found = hip_desk_hip_info(&desk);
    assert_int_equal(found.deviceOrdinal, 2);
    assert_non_null(strstr(found.deviceName, "FAKE"));
    assert_int_equal(found.handoffMode, MAAR_HANDOFF_MODE_HOST);
    assert_int_equal(found.memoryHandleType, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
    hip_desk_close(&desk);
}

static void hip_device_elsewhere_is_refused_and_both_are_named(void** state)
{
    static const char* const addresses[] = {"0000:2b:01.0", "", "0000:2a:01", "0000:2a:01.0x"};
    struct hip_desk desk;
    const MaarHipCreateInfo info = hip_desk_info();
    (void)state;
    hip_desk_open(&desk, 0);
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; ++i) {
        desk.fake->set_pci_address(0, addresses[i]);
        assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                         VK_ERROR_INCOMPATIBLE_DRIVER);
        assert_non_null(strstr(desk.rig->messages.last, addresses[i]));
        rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, "0000:2a:01.0");
    }
    hip_desk_close(&desk);
}

static void hip_device_without_an_address_is_found_by_uuid_or_ordinal(void** state)
{
    struct hip_desk desk;
    MaarHipCreateInfo info = hip_desk_info();
    (void)state;
    hip_desk_open(&desk, 0);
    struct maar_device_facts* facts = &desk.rig->allocator->device.facts;
    facts->pci_address_known = false;
    desk.fake->set_device_count(2);
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH,
                              "deviceOrdinalPlusOne");
    desk.fake->set_uuid(1, facts->device_uuid);
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip), VK_SUCCESS);
    assert_int_equal(hip_desk_hip_info(&desk).deviceOrdinal, 1);
    maarDestroyHip(desk.hip);
    info.deviceOrdinalPlusOne = 1;
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip), VK_SUCCESS);
    assert_int_equal(hip_desk_hip_info(&desk).deviceOrdinal, 0);
    maarDestroyHip(desk.hip);
    info.deviceOrdinalPlusOne = 3;
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH,
                              "deviceOrdinalPlusOne");
    hip_desk_close(&desk);
}

static void hip_runtime_that_is_not_there_or_old_is_reported(void** state)
{
    struct hip_desk desk;
    MaarHipCreateInfo info = hip_desk_info();
    (void)state;
    hip_desk_open(&desk, 0);
    info.pLibraryPath = "/nowhere/libamdhip64.so";
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_MISSING, "/nowhere/libamdhip64.so");
    info.pLibraryPath = "libc.so.6";
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                     VK_ERROR_INCOMPATIBLE_DRIVER);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_MISSING, "hipInit");
    info.pLibraryPath = MAAR_FAKE_HIP;
    desk.fake->set_fault("hipInit", 1, 1, MAAR_HIP_NO_DEVICE);
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip),
                     VK_ERROR_INITIALIZATION_FAILED);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, "hipInit");
    hip_desk_close(&desk);
}

/* ---- memory ---- */

static void hip_block_is_imported_once(void** state)
{
    struct hip_desk desk;
    VkBuffer buffers[2];
    MaarAllocation memory[2];
    (void)state;
    hip_desk_start(&desk, 0);
    for (int i = 0; i < 2; ++i) {
        memory[i] = rig_create_shared_buffer(desk.rig, 4096, &buffers[i]);
        MaarHipMemory seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
        assert_int_equal(maarGetHipMemory(desk.hip, memory[i], &seen), VK_SUCCESS);
        assert_ptr_equal(seen.pDevice,
                         (uint8_t*)seen.pBlock + rig_info(desk.rig, memory[i]).offset);
        memset(maarGetMappedData(desk.rig->allocator, memory[i]), 0x30 + i, 4096);
        assert_int_equal(((const uint8_t*)seen.pDevice)[4095], 0x30 + i);
    }
    assert_int_equal(desk.fake->calls("hipImportExternalMemory"), 1);
    assert_int_equal(hip_desk_hip_info(&desk).importedBlockCount, 1);
    for (int i = 0; i < 2; ++i) {
        maarDestroyBuffer(desk.rig->allocator, buffers[i], memory[i]);
    }
    (void)maarTrim(desk.rig->allocator, VK_NULL_HANDLE, NULL);
    assert_int_equal(hip_desk_hip_info(&desk).importedBlockCount, 0);
    hip_desk_close(&desk);
}

static void hip_import_that_fails_leaves_nothing(void** state)
{
    static const struct {
        const char* function;
        int error;
        VkResult result;
    } cases[] = {
        {"hipGetDevice", MAAR_HIP_INVALID_CONTEXT, VK_ERROR_UNKNOWN},
        {"hipImportExternalMemory", MAAR_HIP_INVALID_VALUE, VK_ERROR_INVALID_EXTERNAL_HANDLE},
        /* The real runtime has this one error for whatever it refuses to import. */
        {"hipImportExternalMemory", MAAR_HIP_OUT_OF_MEMORY, VK_ERROR_INVALID_EXTERNAL_HANDLE},
        {"hipExternalMemoryGetMappedBuffer", MAAR_HIP_OUT_OF_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY},
        {"hipExternalMemoryGetMappedBuffer", MAAR_HIP_NOT_SUPPORTED,
         VK_ERROR_INVALID_EXTERNAL_HANDLE},
    };
    struct hip_desk desk;
    VkBuffer buffer;
    (void)state;
    hip_desk_start(&desk, 0);
    const MaarAllocation memory = rig_create_shared_buffer(desk.rig, 4096, &buffer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        MaarHipMemory seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
        desk.fake->set_fault(cases[i].function, 1, 1, cases[i].error);
        assert_int_equal(maarGetHipMemory(desk.hip, memory, &seen), cases[i].result);
        assert_null(seen.pDevice);
        rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, cases[i].function);
        assert_int_equal(desk.fake->live(FAKE_KIND_MEMORY), 0);
        assert_int_equal(hip_desk_hip_info(&desk).importedBlockCount, 0);
    }
    maarDestroyBuffer(desk.rig->allocator, buffer, memory);
    hip_desk_close(&desk);
}

/* HIP never closes a descriptor that it imports, so Maar does. */
static void hip_import_leaves_no_descriptor_open(void** state)
{
    struct hip_desk desk;
    VkBuffer buffer;
    (void)state;
    hip_desk_start(&desk, 0);
    const MaarAllocation memory = rig_create_shared_buffer(desk.rig, 4096, &buffer);
    /* From the first export on, the simulated device keeps a file for the block. */
    const MaarExportedMemory exported = rig_export(desk.rig, memory);
    maarDestroyExternalHandle(desk.rig->allocator, exported.handle);
    const uint32_t before = rig_count_fds();
    MaarHipMemory seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    assert_int_equal(maarGetHipMemory(desk.hip, memory, &seen), VK_SUCCESS);
    /* What is left is the FAKE runtime's own, in the place of the mapping of a real one. */
    assert_int_equal(rig_count_fds(), before + 1);
    maarDestroyBuffer(desk.rig->allocator, buffer, memory);
    (void)maarTrim(desk.rig->allocator, VK_NULL_HANDLE, NULL);
    assert_true(rig_count_fds() < before);
    hip_desk_close(&desk);
}

static void hip_device_of_the_caller_is_put_back(void** state)
{
    struct hip_desk desk;
    VkBuffer buffer;
    MaarHipCreateInfo info = hip_desk_info();
    int current = -1;
    (void)state;
    hip_desk_open(&desk, 0);
    desk.fake->set_device_count(2);
    desk.fake->set_uuid(1, desk.rig->allocator->device.facts.device_uuid);
    info.deviceOrdinalPlusOne = 2;
    assert_int_equal(maarCreateHip(desk.rig->allocator, &info, &desk.hip), VK_SUCCESS);
    const MaarAllocation memory = rig_create_shared_buffer(desk.rig, 4096, &buffer);
    MaarHipMemory seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    assert_int_equal(maarGetHipMemory(desk.hip, memory, &seen), VK_SUCCESS);
    assert_int_equal(desk.runtime.hipGetDevice(&current), MAAR_HIP_SUCCESS);
    assert_int_equal(current, 0);
    maarDestroyBuffer(desk.rig->allocator, buffer, memory);
    hip_desk_close(&desk);
}

/* ---- handoffs ---- */

static void hip_hands_over_and_back_through_the_host(void** state)
{
    struct hip_desk desk;
    VkBuffer buffer;
    struct maar_hip_stream* stream = NULL;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    (void)state;
    hip_desk_start(&desk, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    const MaarAllocation memory = rig_create_shared_buffer(desk.rig, 4096, &buffer);
    MaarHipMemory seen = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    assert_int_equal(maarGetHipMemory(desk.hip, memory, &seen), VK_SUCCESS);
    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &timeline), VK_SUCCESS);
    assert_int_equal(maarGetHipTimelineSemaphore(desk.hip, timeline, &semaphore), VK_SUCCESS);
    assert_int_equal(desk.runtime.hipStreamCreateWithFlags(&stream, MAAR_HIP_STREAM_NON_BLOCKING),
                     MAAR_HIP_SUCCESS);
    const MaarHandoffResource resource = {.buffer = buffer};
    MaarHipHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO,
        .stream = stream,
        .resourceCount = 1,
        .pResources = &resource,
    };
    for (uint64_t round = 0; round < 50; ++round) {
        handoff.value = 2 * round + 1;
        assert_int_equal(maarReleaseToHip(desk.hip, timeline, &handoff), VK_SUCCESS);
        assert_int_equal(desk.runtime.hipMemsetAsync(seen.pDevice, (int)round, 4096, stream),
                         MAAR_HIP_SUCCESS);
        handoff.value = 2 * round + 2;
        assert_int_equal(maarAcquireFromHip(desk.hip, timeline, &handoff), VK_SUCCESS);
        /* The host carries the signal over when the stream gets there. */
        const VkSemaphoreWaitInfo wait = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
            .semaphoreCount = 1,
            .pSemaphores = &semaphore,
            .pValues = &handoff.value,
        };
        assert_int_equal(vkWaitSemaphores(desk.rig->device, &wait, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(((const uint8_t*)maarGetMappedData(desk.rig->allocator, memory))[4095],
                         round);
    }
    /* One that is still on its way when the timeline goes. */
    assert_int_equal(maarHipSignal(desk.hip, timeline, 1000, stream), VK_SUCCESS);
    maarDestroyHipTimeline(desk.hip, timeline);
    assert_int_equal(desk.runtime.hipStreamDestroy(stream), MAAR_HIP_SUCCESS);
    maarDestroyBuffer(desk.rig->allocator, buffer, memory);
    rig_expect_silence(desk.rig);
    hip_desk_close(&desk);
}

static void hip_signal_that_fails_may_be_tried_again(void** state)
{
    struct hip_desk desk;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    (void)state;
    hip_desk_start(&desk, 0);
    assert_int_equal(maarCreateHipTimeline(desk.hip, 5, &timeline), VK_SUCCESS);
    assert_int_equal(maarHipSignal(desk.hip, timeline, 5, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(desk.rig, 5));
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_HANDOFF_VALUE, "value");
    desk.fake->set_fault("hipLaunchHostFunc", 1, 1, MAAR_HIP_INVALID_VALUE);
    assert_int_equal(maarHipSignal(desk.hip, timeline, 6, NULL), VK_ERROR_UNKNOWN);
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_PEER_CALL_FAILED, "hipLaunchHostFunc");
    assert_int_equal(maarHipSignal(desk.hip, timeline, 6, NULL), VK_SUCCESS);
    assert_int_equal(maarHipWait(desk.hip, timeline, 6, NULL), VK_SUCCESS);
    maarDestroyHipTimeline(desk.hip, timeline);
    hip_desk_close(&desk);
}

struct late_signal {
    VkDevice device;
    VkSemaphoreSignalInfo info;
    VkResult result;
};

/* Signals what another thread has waited for longer than it should. */
static void* signal_late(void* data)
{
    struct late_signal* late = data;
    const struct timespec pause = {.tv_sec = 6};
    (void)nanosleep(&pause, NULL);
    late->result = vkSignalSemaphore(late->device, &late->info);
    return NULL;
}

static void hip_wait_for_what_is_not_submitted_is_reported(void** state)
{
    struct hip_desk desk;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    pthread_t thread;
    (void)state;
    hip_desk_start(&desk, 0);
    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &timeline), VK_SUCCESS);
    struct late_signal late = {
        .device = desk.rig->device,
        .info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .value = 7},
        .result = VK_NOT_READY,
    };
    assert_int_equal(maarGetHipTimelineSemaphore(desk.hip, timeline, &late.info.semaphore),
                     VK_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, signal_late, &late), 0);
    assert_int_equal(maarHipWait(desk.hip, timeline, 7, NULL), VK_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(late.result, VK_SUCCESS);
    assert_true(rig_message_names_number(desk.rig, 7));
    rig_expect_message_naming(desk.rig, MAAR_MESSAGE_ID_HANDOFF_WAITS_LONG, "maarHipWait");
    maarDestroyHipTimeline(desk.hip, timeline);
    hip_desk_close(&desk);
}

static void hip_signal_that_was_carried_in_vain_is_reported(void** state)
{
    struct hip_desk desk;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    (void)state;
    hip_desk_start(&desk, 0);
    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &timeline), VK_SUCCESS);
    rig_set_fault(desk.rig, "vkSignalSemaphore", 1, 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(maarHipSignal(desk.hip, timeline, 1, NULL), VK_SUCCESS);
    assert_int_equal(desk.runtime.hipStreamSynchronize(NULL), MAAR_HIP_SUCCESS);
    assert_int_equal(maarHipSignal(desk.hip, timeline, 2, NULL), VK_ERROR_OUT_OF_HOST_MEMORY);
    rig_expect_message(desk.rig, MAAR_MESSAGE_ID_HANDOFF_INCOMPLETE);
    rig_clear_faults(desk.rig);
    assert_int_equal(desk.runtime.hipStreamSynchronize(NULL), MAAR_HIP_SUCCESS);
    maarDestroyHipTimeline(desk.hip, timeline);
    hip_desk_close(&desk);
}

static void hip_timeline_needs_a_runtime_that_calls_back(void** state)
{
    struct hip_desk desk;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    (void)state;
    hip_desk_start(&desk, 0);
    desk.hip->peer.calls_host = false;
    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &timeline), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(desk.rig, MAAR_MESSAGE_ID_PEER_NOT_SUPPORTED);
    assert_null(timeline);
    hip_desk_close(&desk);
}

/* ---- handles ---- */

enum { HIP_TIMELINE_CALLS = 5 };

/* Makes one of the public calls that take a timeline. */
static VkResult call_with_timeline(MaarHip hip, MaarHipTimeline timeline, uint32_t number)
{
    const MaarHipHandoffInfo handoff = {
        .sType = MAAR_STRUCTURE_TYPE_HIP_HANDOFF_INFO,
        .value = 1,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    switch (number) {
    case 0:
        return maarGetHipTimelineSemaphore(hip, timeline, &semaphore);
    case 1:
        return maarHipWait(hip, timeline, 1, NULL);
    case 2:
        return maarHipSignal(hip, timeline, 1, NULL);
    case 3:
        return maarReleaseToHip(hip, timeline, &handoff);
    default:
        return maarAcquireFromHip(hip, timeline, &handoff);
    }
}

/* Every call refuses the handle with this message; the one that destroys accepts a null one. */
static void expect_timeline_refused(struct hip_desk* desk, uint64_t bits, MaarMessageId id)
{
    const MaarHipTimeline timeline = MAAR_FROM_BITS(MaarHipTimeline, bits);
    for (uint32_t i = 0; i < HIP_TIMELINE_CALLS; ++i) {
        assert_int_equal(call_with_timeline(desk->hip, timeline, i),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(desk->rig, id, "timeline");
    }
    maarDestroyHipTimeline(desk->hip, timeline);
    if (bits == 0) {
        rig_expect_silence(desk->rig);
    } else {
        rig_expect_message_naming(desk->rig, id, "timeline");
    }
}

/* A timeline of another MaarHip is foreign, and stays. */
static void expect_foreign_timeline(struct hip_desk* desk, MaarAllocator allocator)
{
    const MaarHipCreateInfo info = hip_desk_info();
    MaarHip other = VK_NULL_HANDLE;
    MaarHipTimeline timeline = VK_NULL_HANDLE;
    assert_int_equal(maarCreateHip(allocator, &info, &other), VK_SUCCESS);
    assert_int_equal(maarCreateHipTimeline(other, 0, &timeline), VK_SUCCESS);
    expect_timeline_refused(desk, MAAR_TO_BITS(timeline), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(call_with_timeline(other, timeline, 0), VK_SUCCESS);
    maarDestroyHipTimeline(other, timeline);
    maarDestroyHip(other);
    rig_expect_silence(desk->rig);
}

static void timeline_handles_are_checked_by_every_call(void** state)
{
    struct hip_desk desk;
    MaarAllocator stranger = VK_NULL_HANDLE;
    MaarHipTimeline first = VK_NULL_HANDLE;
    MaarHipTimeline second = VK_NULL_HANDLE;
    (void)state;
    hip_desk_start(&desk, 0);
    assert_int_equal(maarCreateAllocator(&desk.rig->create_info, &stranger), VK_SUCCESS);
    stranger->device.facts = desk.rig->allocator->device.facts; /* with the PCI address */
    expect_timeline_refused(&desk, 0, MAAR_MESSAGE_ID_NULL_HANDLE);
    expect_foreign_timeline(&desk, desk.rig->allocator);
    expect_foreign_timeline(&desk, stranger);

    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &first), VK_SUCCESS);
    const uint64_t bits = MAAR_TO_BITS(first);
    expect_timeline_refused(&desk, bits + (UINT64_C(2) << 32), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_timeline_refused(&desk, bits + 1000000, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_timeline_refused(&desk, UINT64_MAX, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(call_with_timeline(desk.hip, first, 0), VK_SUCCESS);

    maarDestroyHipTimeline(desk.hip, first);
    expect_timeline_refused(&desk, bits, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(maarCreateHipTimeline(desk.hip, 0, &second), VK_SUCCESS);
    assert_int_equal((uint32_t)MAAR_TO_BITS(second), (uint32_t)bits); /* the same slot */
    expect_timeline_refused(&desk, bits, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(call_with_timeline(desk.hip, second, 0), VK_SUCCESS);
    maarDestroyHipTimeline(desk.hip, second);
    maarDestroyAllocator(stranger);
    rig_expect_silence(desk.rig);
    hip_desk_close(&desk);
}

static void allocation_handles_are_checked(void** state)
{
    struct hip_desk desk;
    (void)state;
    hip_desk_start(&desk, 0);
    MaarHipMemory memory = {.sType = MAAR_STRUCTURE_TYPE_HIP_MEMORY};
    MaarAllocator stranger = VK_NULL_HANDLE;
    MaarAllocation foreign = VK_NULL_HANDLE;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarMemoryRequest request = rig_request(4096, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const MaarAllocation stale = rig_allocate(desk.rig, 4096, &how);
    maarFreeMemory(desk.rig->allocator, stale);
    assert_int_equal(maarCreateAllocator(&desk.rig->create_info, &stranger), VK_SUCCESS);
    assert_int_equal(maarAllocateMemory(stranger, &request, &how, &foreign), VK_SUCCESS);
    const struct {
        MaarAllocation allocation;
        MaarMessageId id;
    } wrong[] = {
        {VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE},
        {stale, MAAR_MESSAGE_ID_STALE_HANDLE},
        {foreign, MAAR_MESSAGE_ID_FOREIGN_HANDLE},
        {MAAR_FROM_BITS(MaarAllocation, UINT64_MAX), MAAR_MESSAGE_ID_FOREIGN_HANDLE},
    };
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(maarGetHipMemory(desk.hip, wrong[i].allocation, &memory),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(desk.rig, wrong[i].id, "allocation");
    }
    maarFreeMemory(stranger, foreign);
    maarDestroyAllocator(stranger);
    hip_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(hip_device_is_found_by_its_address),
        rig_unit_test(hip_device_elsewhere_is_refused_and_both_are_named),
        rig_unit_test(hip_device_without_an_address_is_found_by_uuid_or_ordinal),
        rig_unit_test(hip_runtime_that_is_not_there_or_old_is_reported),
        rig_unit_test(hip_block_is_imported_once),
        rig_unit_test(hip_import_that_fails_leaves_nothing),
        rig_unit_test(hip_import_leaves_no_descriptor_open),
        rig_unit_test(hip_device_of_the_caller_is_put_back),
        rig_unit_test(hip_hands_over_and_back_through_the_host),
        rig_unit_test(hip_signal_that_fails_may_be_tried_again),
        rig_unit_test(hip_wait_for_what_is_not_submitted_is_reported),
        rig_unit_test(hip_signal_that_was_carried_in_vain_is_reported),
        rig_unit_test(hip_timeline_needs_a_runtime_that_calls_back),
        rig_unit_test(timeline_handles_are_checked_by_every_call),
        rig_unit_test(allocation_handles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
