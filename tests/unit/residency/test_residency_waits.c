/*
 * Uses with MAAR_USE_WAIT_BIT get what they need: where host memory is full of what the use itself
 * needs, and where another thread does the work.
 */
#include <pthread.h>
#include <time.h>

#include "maar/residency.h"
#include "tests/rig/rig.h"

enum { RESIDENTS = 24, SIZE = 128 * 1024, FILE_SIZE = 8 << 20 };

static struct rig* rig;
static MaarResidency residency;
static MaarResident residents[RESIDENTS];
static VkSemaphore timeline;
static uint8_t file_bytes[FILE_SIZE];

static VkResult VKAPI_PTR read_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

/* Room for eight residents on the device and for four in host memory. */
static void open_manager(void)
{
    static const MaarFileStore file = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = file_bytes,
        .size = FILE_SIZE,
        .pfnRead = read_bytes,
        .pfnWrite = write_bytes,
    };
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_EXECUTE_BIT, .paging = true};
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .deviceBudget = 8 * SIZE,
        .hostBudget = 4 * SIZE,
        .pFileStore = &file,
    };
    rig = rig_begin(&setup);
    timeline = rig_create_timeline(rig, 1);
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &residency), VK_SUCCESS);
}

static void close_manager(void)
{
    maarDestroyResidency(rig->allocator, residency);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void create_resident(PFN_maarResidentRead read, MaarResident* resident)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(SIZE);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT,
        .pBufferInfo = &buffer,
        .pfnRead = read,
    };
    assert_int_equal(maarCreateResident(rig->allocator, residency, &info, resident), VK_SUCCESS);
}

/* Begins a use of some residents. It ends at a point that has passed. */
static VkResult use(uint32_t first, uint32_t count, MaarAccessFlags access, MaarUseFlags flags)
{
    const MaarPoint passed = {timeline, 1};
    MaarResidentUse uses[RESIDENTS];
    MaarUse begun = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count; ++i) {
        uses[i] = (MaarResidentUse){.resident = residents[first + i], .access = access};
    }
    const MaarUseBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = flags,
        .useCount = count,
        .pUses = uses,
    };
    const VkResult result = maarBeginUse(rig->allocator, residency, &info, NULL, NULL, &begun);
    if (result == VK_SUCCESS) {
        assert_int_equal(maarEndUse(rig->allocator, residency, begun, 1, &passed), VK_SUCCESS);
    }
    return result;
}

/* What the use needs fills host memory, and everything on the device must be copied there before it
 * goes. */
static void use_larger_than_host_memory_begins_where_all_is_dirty(void** state)
{
    (void)state;
    open_manager();
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        create_resident(NULL, &residents[i]);
        assert_int_equal(use(i, 1, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT), VK_SUCCESS);
    }
    for (uint32_t round = 0; round < 6; ++round) {
        const uint32_t first = round * 7 % 18;
        assert_int_equal(use(first, 6, MAAR_ACCESS_WRITE_BIT, MAAR_USE_WAIT_BIT), VK_SUCCESS);
    }
    close_manager();
}

/* Eight on the device and four in host memory: no resident has a copy anywhere else. */
static void use_of_all_that_host_memory_keeps_begins(void** state)
{
    (void)state;
    open_manager();
    for (uint32_t i = 0; i < 12; ++i) {
        create_resident(NULL, &residents[i]);
        assert_int_equal(use(i, 1, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT), VK_SUCCESS);
    }
    for (uint32_t round = 0; round < 4; ++round) {
        const uint32_t first = round * 4 % 12;
        assert_int_equal(use(first, 4, MAAR_ACCESS_WRITE_BIT, MAAR_USE_WAIT_BIT), VK_SUCCESS);
    }
    close_manager();
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static bool is_reading;

static VkResult VKAPI_PTR read_slowly(void* data, VkDeviceSize size, void* bytes)
{
    const struct timespec while_others_wait = {.tv_nsec = 200000000};
    (void)data;
    memset(bytes, 7, size);
    pthread_mutex_lock(&guard);
    is_reading = true;
    pthread_cond_signal(&started);
    pthread_mutex_unlock(&guard);
    nanosleep(&while_others_wait, NULL);
    return VK_SUCCESS;
}

static void* work(void* data)
{
    (void)data;
    (void)maarWorkResidency(rig->allocator, residency, 0, NULL);
    return NULL;
}

static void use_waits_for_work_that_another_thread_does(void** state)
{
    (void)state;
    pthread_t thread;
    open_manager();
    create_resident(read_slowly, &residents[0]);
    assert_int_equal(use(0, 1, MAAR_ACCESS_READ_BIT, 0), VK_NOT_READY);
    is_reading = false;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    pthread_mutex_lock(&guard);
    while (!is_reading) {
        pthread_cond_wait(&started, &guard);
    }
    pthread_mutex_unlock(&guard);
    assert_int_equal(use(0, 1, MAAR_ACCESS_READ_BIT, MAAR_USE_WAIT_BIT), VK_SUCCESS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close_manager();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(use_larger_than_host_memory_begins_where_all_is_dirty),
        rig_unit_test(use_of_all_that_host_memory_keeps_begins),
        rig_unit_test(use_waits_for_work_that_another_thread_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
