/*
 * Handles of allocations, pools and slices: each call that takes one refuses a null handle, a stale
 * one, one of another allocator and a forged one, and names the argument. The handle stays refused
 * when its slot has been used 2^20 times since. The objects that exist are not changed.
 */
#include "core/handle.h"
#include "maar/process.h"
#include "maar/share.h"
#include "tests/rig/rig.h"

static struct rig* rig;
static MaarAllocator foreigner; /* another allocator of the same device */

/* A call that takes a handle, with otherwise valid arguments. */
struct handle_use {
    const char* argument;
    VkResult (*call)(MaarAllocator allocator, uint64_t handle);
    bool accepts_null;
};

static const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;

/* ---- calls that take an allocation ---- */

#define USE_ALLOCATION(name, expression)                                                           \
    static VkResult name(MaarAllocator allocator, uint64_t bits)                                   \
    {                                                                                              \
        const MaarAllocation handle = MAAR_FROM_BITS(MaarAllocation, bits);                        \
        return expression;                                                                         \
    }

static char bytes[16];
static const VkDeviceSize zero = 0;
static const VkDeviceSize one = 1;
static const MaarPoint point = {.value = UINT64_MAX};

USE_ALLOCATION(free_one, (maarFreeMemory(allocator, handle), refused))
USE_ALLOCATION(free_several, (maarFreeMemories(allocator, 1, &handle), refused))
USE_ALLOCATION(free_later, maarFreeMemoryAfter(allocator, handle, 1, &point))
USE_ALLOCATION(read_info, maarGetAllocationInfo(allocator, handle,
                                                &(MaarAllocationInfo){
                                                    .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO}))
USE_ALLOCATION(set_data, maarSetAllocationUserData(allocator, handle, bytes))
USE_ALLOCATION(set_name, maarSetAllocationName(allocator, handle, "wrong"))
USE_ALLOCATION(set_priority, maarSetAllocationPriority(allocator, handle, 0.5F))
USE_ALLOCATION(map_one, maarMapMemory(allocator, handle, &(void*){NULL}))
USE_ALLOCATION(unmap_one, (maarUnmapMemory(allocator, handle), refused))
USE_ALLOCATION(read_mapping, maarGetMappedData(allocator, handle) == NULL ? refused : VK_SUCCESS)
USE_ALLOCATION(flush_one, maarFlushAllocation(allocator, handle, 0, 1))
USE_ALLOCATION(invalidate_one, maarInvalidateAllocation(allocator, handle, 0, 1))
USE_ALLOCATION(flush_several, maarFlushAllocations(allocator, 1, &handle, &zero, &one))
USE_ALLOCATION(invalidate_several, maarInvalidateAllocations(allocator, 1, &handle, &zero, &one))
USE_ALLOCATION(copy_to, maarCopyToAllocation(allocator, handle, 0, sizeof bytes, bytes))
USE_ALLOCATION(copy_from, maarCopyFromAllocation(allocator, handle, 0, sizeof bytes, bytes))
USE_ALLOCATION(end_buffer, (maarDestroyBuffer(allocator, VK_NULL_HANDLE, handle), refused))
USE_ALLOCATION(end_buffer_later,
               maarDestroyBufferAfter(allocator, VK_NULL_HANDLE, handle, 1, &point))
USE_ALLOCATION(end_image, (maarDestroyImage(allocator, VK_NULL_HANDLE, handle), refused))
USE_ALLOCATION(end_image_later, maarDestroyImageAfter(allocator, VK_NULL_HANDLE, handle, 1, &point))
USE_ALLOCATION(list_pages, maarEnumerateAllocationPages(allocator, handle, &(uint32_t){0}, NULL))

static VkResult alias_buffer(MaarAllocator allocator, uint64_t handle)
{
    const VkBufferCreateInfo info = rig_buffer_info(256);
    VkBuffer buffer = VK_NULL_HANDLE;
    return maarCreateAliasingBuffer(allocator, MAAR_FROM_BITS(MaarAllocation, handle), 0, &info,
                                    &buffer);
}

static VkResult alias_image(MaarAllocator allocator, uint64_t handle)
{
    const VkImageCreateInfo info = rig_image_info(16, 16);
    VkImage image = VK_NULL_HANDLE;
    return maarCreateAliasingImage(allocator, MAAR_FROM_BITS(MaarAllocation, handle), 0, &info,
                                   &image);
}

static VkBuffer loose_buffer;
static VkImage loose_image;
USE_ALLOCATION(bind_buffer, maarBindBuffer(allocator, handle, 0, loose_buffer, NULL))
USE_ALLOCATION(bind_image, maarBindImage(allocator, handle, 0, loose_image, NULL))

static VkResult export_one(MaarAllocator allocator, uint64_t handle)
{
    MaarExportedMemory memory = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    return maarExportMemory(allocator, MAAR_FROM_BITS(MaarAllocation, handle),
                            VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &memory);
}

static VkResult describe_one(MaarAllocator allocator, uint64_t handle)
{
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle external = VK_NULL_HANDLE;
    return maarDescribeMemory(allocator, MAAR_FROM_BITS(MaarAllocation, handle),
                              VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, NULL, &descriptor,
                              &external);
}

static const struct handle_use allocation_uses[] = {
    {"allocation", free_one, true},         {"allocation", free_several, true},
    {"allocation", free_later, true},       {"allocation", end_buffer, true},
    {"allocation", end_buffer_later, true}, {"allocation", end_image, true},
    {"allocation", end_image_later, true},  {"allocation", read_info, false},
    {"allocation", set_data, false},        {"allocation", set_name, false},
    {"allocation", set_priority, false},    {"allocation", map_one, false},
    {"allocation", unmap_one, false},       {"allocation", read_mapping, false},
    {"allocation", flush_one, false},       {"allocation", invalidate_one, false},
    {"allocation", flush_several, false},   {"allocation", invalidate_several, false},
    {"allocation", copy_to, false},         {"allocation", copy_from, false},
    {"allocation", list_pages, false},      {"allocation", alias_buffer, false},
    {"allocation", alias_image, false},     {"allocation", bind_buffer, false},
    {"allocation", bind_image, false},      {"allocation", export_one, false},
    {"allocation", describe_one, false},    {.call = NULL},
};

/* ---- calls that take a pool ---- */

#define USE_POOL(name, expression)                                                                 \
    static VkResult name(MaarAllocator allocator, uint64_t bits)                                   \
    {                                                                                              \
        const MaarPool handle = MAAR_FROM_BITS(MaarPool, bits);                                    \
        return expression;                                                                         \
    }

USE_POOL(end_pool, (maarDestroyPool(allocator, handle), refused))
USE_POOL(trim_pool, maarTrim(allocator, handle, NULL))
USE_POOL(trim_aged_pool, maarTrimAged(allocator, handle, 1, 1, NULL))
USE_POOL(set_pool_priority, maarSetPoolPriority(allocator, handle, 0.5F))
USE_POOL(name_pool, maarSetPoolName(allocator, handle, "pool"))
USE_POOL(check_margins, maarCheckMargins(allocator, handle, UINT32_MAX))
USE_POOL(read_pool, maarGetStatistics(allocator, handle,
                                      &(MaarStatistics){.sType = MAAR_STRUCTURE_TYPE_STATISTICS}))
USE_POOL(read_pool_details,
         maarGetDetailedStatistics(allocator, handle,
                                   &(MaarDetailedStatistics){
                                       .sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS}))
USE_POOL(list_pool_blocks, maarEnumerateBlocks(allocator, handle, &(uint32_t){0}, NULL))

static MaarAllocationCreateInfo in_pool(uint64_t bits)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = MAAR_FROM_BITS(MaarPool, bits);
    return how;
}

static VkResult allocate_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    const MaarMemoryRequest request = rig_request(256, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarAllocateMemory(allocator, &request, &how, &allocation);
}

static VkResult allocate_several_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    const MaarMemoryRequest request = rig_request(256, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarAllocateMemories(allocator, 1, &request, &how, &allocation);
}

static VkResult create_buffer_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    const VkBufferCreateInfo info = rig_buffer_info(256);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarCreateBuffer(allocator, &info, &how, &buffer, &allocation);
}

static VkResult create_image_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    const VkImageCreateInfo info = rig_image_info(16, 16);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarCreateImage(allocator, &info, &how, &image, &allocation);
}

static VkResult create_disjoint_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    VkImageCreateInfo info = rig_image_info(16, 16);
    info.format = VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation planes[2] = {VK_NULL_HANDLE};
    return maarCreateDisjointImage(allocator, &info, &how, 2, &image, planes);
}

static VkResult allocate_for_buffer_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarAllocateMemoryForBuffer(allocator, loose_buffer, &how, &allocation);
}

static VkResult allocate_for_image_in(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocationCreateInfo how = in_pool(handle);
    MaarAllocation allocation = VK_NULL_HANDLE;
    return maarAllocateMemoryForImage(allocator, loose_image, VK_IMAGE_TILING_OPTIMAL, &how,
                                      &allocation);
}

static const struct handle_use pool_uses[] = {
    {"pool", end_pool, true},
    {"pool", trim_pool, true},
    {"pool", trim_aged_pool, true},
    {"pool", set_pool_priority, false},
    {"pool", name_pool, false},
    {"pool", check_margins, true},
    {"pool", read_pool, true},
    {"pool", read_pool_details, true},
    {"pool", list_pool_blocks, true},
    {"pCreateInfo->pool", allocate_in, true},
    {"pCreateInfo->pool", allocate_several_in, true},
    {"pCreateInfo->pool", create_buffer_in, true},
    {"pCreateInfo->pool", create_image_in, true},
    {"pCreateInfo->pool", create_disjoint_in, true},
    {"pCreateInfo->pool", allocate_for_buffer_in, true},
    {"pCreateInfo->pool", allocate_for_image_in, true},
    {.call = NULL},
};

/* ---- calls that take a slice ---- */

#define USE_SLICE(name, expression)                                                                \
    static VkResult name(MaarAllocator allocator, uint64_t bits)                                   \
    {                                                                                              \
        const MaarSlice handle = MAAR_FROM_BITS(MaarSlice, bits);                                  \
        return expression;                                                                         \
    }

USE_SLICE(end_slice, (maarDestroySlice(allocator, handle), refused))
USE_SLICE(end_slice_later, maarDestroySliceAfter(allocator, handle, 1, &point))
USE_SLICE(read_slice, maarGetSliceInfo(allocator, handle,
                                       &(MaarSliceInfo){.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO}))

static const struct handle_use slice_uses[] = {
    {"slice", end_slice, true},
    {"slice", end_slice_later, true},
    {"slice", read_slice, false},
    {.call = NULL},
};

/* ---- the types ---- */

static uint64_t make_allocation(MaarAllocator allocator)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const MaarMemoryRequest request = rig_request(4096, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarAllocation allocation = VK_NULL_HANDLE;
#if !defined(_WIN32) /* simulated devices have no handles there */
    how.pNext = &export;
#else
    (void)export;
#endif
    assert_int_equal(maarAllocateMemory(allocator, &request, &how, &allocation), VK_SUCCESS);
    return MAAR_TO_BITS(allocation);
}

static uint64_t make_pool(MaarAllocator allocator)
{
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(allocator, &info, &pool), VK_SUCCESS);
    return MAAR_TO_BITS(pool);
}

static uint64_t make_slice_of(MaarAllocator allocator)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(allocator, &info, &slice), VK_SUCCESS);
    return MAAR_TO_BITS(slice);
}

/* A type of handle. The first use ends the object. */
static const struct handle_type {
    const struct handle_use* uses;
    uint64_t (*make)(MaarAllocator allocator);
} types[] = {
    {allocation_uses, make_allocation},
    {pool_uses, make_pool},
    {slice_uses, make_slice_of},
};
enum { TYPES = sizeof types / sizeof types[0], RECYCLED = 1 << 20 };

/* ---- the cases ---- */

static void start(void)
{
    const struct rig_setup setup = {.sharing = rig_sharing_everything(), .count_host = true};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(256);
    const VkImageCreateInfo image_info = rig_image_info(16, 16);
    rig = rig_begin(&setup);
    assert_int_equal(maarCreateAllocator(&rig->create_info, &foreigner), VK_SUCCESS);
    assert_int_equal(vkCreateBuffer(rig->device, &buffer_info, NULL, &loose_buffer), VK_SUCCESS);
    assert_int_equal(vkCreateImage(rig->device, &image_info, NULL, &loose_image), VK_SUCCESS);
}

static void stop(void)
{
    rig_expect_silence(rig);
    vkDestroyImage(rig->device, loose_image, NULL);
    vkDestroyBuffer(rig->device, loose_buffer, NULL);
    maarDestroyAllocator(foreigner);
    rig_expect_silence(rig); /* nothing leaks */
    rig_check(rig);
}

static void end(MaarAllocator allocator, const struct handle_type* type, uint64_t handle)
{
    (void)type->uses[0].call(allocator, handle);
    rig_expect_silence(rig);
}

/* Every call refuses the handle under this identifier. */
static void expect_refusals(const struct handle_type* type, uint64_t handle, MaarMessageId id)
{
    const MaarStatistics before = rig_statistics(rig, VK_NULL_HANDLE);
    for (const struct handle_use* use = type->uses; use->call != NULL; ++use) {
        assert_int_equal(use->call(rig->allocator, handle), refused);
        rig_expect_message_naming(rig, id, use->argument);
    }
    const MaarStatistics after = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(before.allocationCount == after.allocationCount &&
                before.pendingCount == after.pendingCount && before.blockCount == after.blockCount);
}

static void null_handles_are_refused_or_accepted(void** state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < TYPES; ++i) {
        for (const struct handle_use* use = types[i].uses; use->call != NULL; ++use) {
            if (!use->accepts_null) {
                assert_int_equal(use->call(rig->allocator, 0), refused);
                rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, use->argument);
            }
        }
    }
    /* Nothing to end. */
    (void)free_one(rig->allocator, 0);
    (void)free_several(rig->allocator, 0);
    (void)end_buffer(rig->allocator, 0);
    (void)end_image(rig->allocator, 0);
    (void)end_pool(rig->allocator, 0);
    (void)end_slice(rig->allocator, 0);
    assert_int_equal(free_later(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(end_buffer_later(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(end_image_later(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(end_slice_later(rig->allocator, 0), VK_SUCCESS);
    stop();
}

static void forged_handles_are_refused(void** state)
{
    (void)state;
    start();
    struct rig_random random = {rig_seed(5)};
    for (uint32_t i = 0; i < TYPES; ++i) {
        const uint64_t live = types[i].make(rig->allocator);
        for (uint32_t bit = 0; bit < 64; ++bit) {
            expect_refusals(&types[i], live ^ (uint64_t)1 << bit, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        }
        for (uint32_t k = 0; k < 100; ++k) {
            const uint64_t forged = (uint64_t)rig_next(&random) << 32 | rig_next(&random);
            expect_refusals(&types[i], forged, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        }
        end(rig->allocator, &types[i], live);
    }
    stop();
}

static void handles_of_another_allocator_are_refused(void** state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < TYPES; ++i) {
        const uint64_t own = types[i].make(rig->allocator);
        const uint64_t foreign = types[i].make(foreigner);
        expect_refusals(&types[i], foreign, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        end(foreigner, &types[i], foreign);
        end(rig->allocator, &types[i], own);
    }
    stop();
}

/* C lets a program mix up kinds where handles are integers, and everywhere with a cast. */
static void handles_of_another_kind_are_refused(void** state)
{
    (void)state;
    start();
    uint64_t made[TYPES];
    for (uint32_t i = 0; i < TYPES; ++i) {
        made[i] = types[i].make(rig->allocator);
    }
    for (uint32_t i = 0; i < TYPES; ++i) {
        for (uint32_t k = 0; k < TYPES; ++k) {
            if (i != k) {
                expect_refusals(&types[i], made[k], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
            }
        }
    }
    for (uint32_t i = 0; i < TYPES; ++i) {
        end(rig->allocator, &types[i], made[i]);
    }
    stop();
}

/* Whether the driver creates an object before Maar looks at the handle. */
static bool creates_first(const struct handle_use* use)
{
    return use->call == create_buffer_in || use->call == create_image_in ||
           use->call == create_disjoint_in;
}

/* A call that needs host memory before it looks at the handle would give the wrong error. */
static void stale_handles_are_refused_without_host_memory(void** state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < TYPES; ++i) {
        const uint64_t stale = types[i].make(rig->allocator);
        end(rig->allocator, &types[i], stale);
        for (const struct handle_use* use = types[i].uses; use->call != NULL; ++use) {
            atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + 1);
            const VkResult result = use->call(rig->allocator, stale);
            atomic_store(&rig->host.fail_at, 0);
            if (creates_first(use) && result == VK_ERROR_OUT_OF_HOST_MEMORY) {
                continue; /* the driver's own */
            }
            assert_int_equal(result, refused);
            rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, use->argument);
        }
    }
    stop();
}

static void handles_stay_stale_when_their_slot_is_used_2_to_20_times(void** state)
{
    (void)state;
    start();
    for (uint32_t i = 0; i < TYPES; ++i) {
        const uint64_t first = types[i].make(rig->allocator);
        end(rig->allocator, &types[i], first);
        expect_refusals(&types[i], first, MAAR_MESSAGE_ID_STALE_HANDLE);
        for (uint32_t k = 0; k < RECYCLED; ++k) {
            const uint64_t next = types[i].make(rig->allocator);
            assert_true(next != first && (uint32_t)next == (uint32_t)first);
            (void)types[i].uses[0].call(rig->allocator, next);
        }
        const uint64_t last = types[i].make(rig->allocator);
        assert_int_equal((uint32_t)last, (uint32_t)first); /* the same slot */
        expect_refusals(&types[i], first, MAAR_MESSAGE_ID_STALE_HANDLE);
        end(rig->allocator, &types[i], last);
    }
    stop();
}

/* The low half of a handle is a number, by which the allocation is found as long as it lives. */
static void number_finds_what_lives_under_it(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation made[64];
    for (uint32_t i = 0; i < 64; ++i) {
        made[i] = rig_allocate(rig, 1000, &how);
    }
    for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t number = (uint32_t)MAAR_TO_BITS(made[i]);
        assert_true(number > 0 && number < 0x80000000u);
        assert_true(maarFindAllocation(rig->allocator, number) == made[i]);
        for (uint32_t j = 0; j < i; ++j) {
            assert_int_not_equal(number, (uint32_t)MAAR_TO_BITS(made[j]));
        }
    }
    const uint32_t freed = (uint32_t)MAAR_TO_BITS(made[7]);
    maarFreeMemory(rig->allocator, made[7]);
    assert_true(maarFindAllocation(rig->allocator, freed) == VK_NULL_HANDLE);
    const uint32_t never[] = {0, 0x7FFFFFFFu, 0xFFFFFFFFu};
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(maarFindAllocation(rig->allocator, never[i]) == VK_NULL_HANDLE);
    }
    made[7] = rig_allocate(rig, 1000, &how);
    for (uint32_t i = 0; i < 64; ++i) {
        maarFreeMemory(rig->allocator, made[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(null_handles_are_refused_or_accepted),
        rig_unit_test(forged_handles_are_refused),
        rig_unit_test(handles_of_another_allocator_are_refused),
        rig_unit_test(handles_of_another_kind_are_refused),
        rig_unit_test(stale_handles_are_refused_without_host_memory),
        rig_unit_test(handles_stay_stale_when_their_slot_is_used_2_to_20_times),
        rig_unit_test(number_finds_what_lives_under_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
