/*
 * A device that another thread loses while a call on the manager waits: for its own work, for the
 * work of a thread, and for a copy. The call ends with VK_ERROR_DEVICE_LOST, or for a checkpoint
 * with what lies elsewhere, and nothing is pinned.
 */
#include "tests/unit/residency/residency_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "maar/checkpoint.h"

enum { RESIDENTS = 3, FILE_SIZE = 4 << 20, MOST_WRITES = 200 };

static uint8_t file_bytes[FILE_SIZE];
static uint8_t checkpoint_bytes[FILE_SIZE];
static MaarResident residents[RESIDENTS];

/* The moment of the loss. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_armed;   /* a write of the file waits for the loss */
    bool is_reached; /* a thread is there */
    bool is_lost;
    uint32_t writes;
} moment = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static VkResult VKAPI_PTR read_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_plain(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

/* The process ends here when the same work is done for ever. */
static VkResult VKAPI_PTR write_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    pthread_mutex_lock(&moment.lock);
    if (++moment.writes > MOST_WRITES) {
        print_error("the file is written to again and again\n");
        abort();
    }
    moment.is_reached = true;
    pthread_cond_broadcast(&moment.changed);
    while (moment.is_armed && !moment.is_lost) {
        pthread_cond_wait(&moment.changed, &moment.lock);
    }
    pthread_mutex_unlock(&moment.lock);
    return write_plain(data, offset, size, bytes);
}

static const MaarFileStore file = {
    .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
    .pUserData = file_bytes,
    .size = FILE_SIZE,
    .pfnRead = read_bytes,
    .pfnWrite = write_bytes,
};

/* Loses the device when a thread has reached the moment. If others are to fall asleep before, waits
 * for a while: nothing shows from outside that they do. */
static void* lose_device(void* others_sleep)
{
    const struct timespec while_others_fall_asleep = {.tv_nsec = 100000000};
    pthread_mutex_lock(&moment.lock);
    while (!moment.is_reached) {
        pthread_cond_wait(&moment.changed, &moment.lock);
    }
    pthread_mutex_unlock(&moment.lock);
    if (others_sleep != NULL) {
        (void)nanosleep(&while_others_fall_asleep, NULL);
    }
    rig_set_fault(rig, "vkQueueSubmit", 1, 1, VK_ERROR_DEVICE_LOST);
    (void)vkQueueSubmit(rig->queue, 0, NULL, VK_NULL_HANDLE);
    pthread_mutex_lock(&moment.lock);
    moment.is_lost = true;
    pthread_cond_broadcast(&moment.changed);
    pthread_mutex_unlock(&moment.lock);
    return NULL;
}

static pthread_t start(void* (*run)(void*), bool others_sleep)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, others_sleep ? &moment : NULL), 0);
    return thread;
}

/* Room for one resident on the device and for two in host memory, and residents with contents. */
static void open_full(uint32_t count, const MaarFileStore* store)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    MaarResidencyCreateInfo info = manager_info(UNIT, 2 * UNIT);
    info.pFileStore = store;
    info.pfnEvent = NULL;
    moment.is_armed = false;
    moment.is_reached = false;
    moment.is_lost = false;
    moment.writes = 0;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < count; ++i) {
        const MaarResidentCreateInfo resident = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .flags = MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT,
            .pBufferInfo = &buffer,
            .key = 1 + i,
        };
        residents[i] = create_resident(&resident);
        write_buffer(residents[i], i + 1);
    }
}

static void close_lost(void)
{
    expect_no_pins();
    rig_forget_messages(rig);
    maarDestroyResidency(rig->allocator, manager);
    maarDestroyBuffer(rig->allocator, readback, readback_memory);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

/* A use of a further resident needs the place of one on the device, whose contents need the place
 * of one in host memory, which must be written to the file. The device has executed everything, and
 * the manager knows it: nothing but the loss is left to see. */
static MaarResident open_that_must_write(void)
{
    open_full(RESIDENTS, &file);
    settle();
    assert_true(is_in(residents[2], MAAR_TIER_DEVICE) && !is_in(residents[2], MAAR_TIER_HOST));
    assert_int_equal(moment.writes, 0);
    moment.is_armed = true;
    return create_buffer(UNIT, MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT);
}

static void use_ends_that_does_the_work_itself(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    const MaarResident further = open_that_must_write();
    const pthread_t loser = start(lose_device, false);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(loser, NULL), 0);
    assert_false(is_in(residents[0], MAAR_TIER_FILE)); /* what was written may be anything */
    close_lost();
}

static void* work(void* data)
{
    (void)data;
    (void)maarWorkResidency(rig->allocator, manager, 0, NULL);
    return NULL;
}

static void use_ends_that_sleeps_while_a_thread_works(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    const MaarResident further = open_that_must_write();
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0, &use), VK_NOT_READY);
    const pthread_t worker = start(work, false);
    const pthread_t loser = start(lose_device, true);
    pthread_mutex_lock(&moment.lock);
    while (!moment.is_reached) {
        pthread_cond_wait(&moment.changed, &moment.lock);
    }
    pthread_mutex_unlock(&moment.lock);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(worker, NULL), 0);
    assert_int_equal(pthread_join(loser, NULL), 0);
    close_lost();
}

/* An update takes the results of the work, and a use that does not wait never sees them. */
static void program_that_never_waits_sees_the_loss(void** state)
{
    VkResult result = VK_NOT_READY;
    (void)state;
    const MaarResident further = open_that_must_write();
    const pthread_t loser = start(lose_device, false);
    for (uint32_t round = 0; round < 10 && result == VK_NOT_READY; ++round) {
        MaarUse use = VK_NULL_HANDLE;
        result = try_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0, &use);
        if (result == VK_NOT_READY) {
            do_work();
            const VkResult updated = maarUpdateResidency(rig->allocator, manager, NULL);
            result = updated != VK_SUCCESS ? updated : result;
        }
    }
    assert_int_equal(result, VK_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(loser, NULL), 0);
    close_lost();
}

/* Without a file host memory is free only when a copy has ended, and the copy waits for a point
 * that nobody signals. */
static void use_ends_that_sleeps_for_a_copy(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_full(1, NULL);
    const MaarPoint late = {timeline, 1000};
    MaarResident further = create_buffer(UNIT, 0);
    end_use_at(begin_use(residents[0], MAAR_ACCESS_WRITE_BIT, 0), late);
    end_use_at(begin_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0), late);
    further = create_buffer(UNIT, 0);
    end_use_at(begin_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0), late);
    further = create_buffer(UNIT, 0);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, 0, &use), VK_NOT_READY);
    moment.is_reached = true;
    const pthread_t loser = start(lose_device, true);
    assert_int_equal(try_use(further, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(pthread_join(loser, NULL), 0);
    close_lost();
}

/* The driver has no memory for the copy of what is on the device, so another copy must go to the
 * file first. */
static void checkpoint_ends_that_does_the_work_itself(void** state)
{
    const MaarFileStore into = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = checkpoint_bytes,
        .size = FILE_SIZE,
        .pfnRead = read_bytes,
        .pfnWrite = write_plain,
    };
    MaarCheckpointInfo written = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    (void)state;
    (void)open_that_must_write();
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const pthread_t loser = start(lose_device, false);
    assert_int_equal(maarWriteCheckpoint(rig->allocator, manager, &into, &written), VK_INCOMPLETE);
    assert_int_equal(pthread_join(loser, NULL), 0);
    /* Those in host memory were read before the loss. */
    assert_int_equal(written.entryCount, 2);
    assert_int_equal(written.missingCount, 1);
    assert_true(moment.writes <= 2); /* no piece of work is done again */
    close_lost();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(use_ends_that_does_the_work_itself),
        rig_unit_test(use_ends_that_sleeps_while_a_thread_works),
        rig_unit_test(program_that_never_waits_sees_the_loss),
        rig_unit_test(use_ends_that_sleeps_for_a_copy),
        rig_unit_test(checkpoint_ends_that_does_the_work_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
