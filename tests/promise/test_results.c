/*
 * Results that the headers name by naming another function: "as maarAllocateMemory". Each function
 * that allocates gives them too, and leaves its outputs null.
 */
#include "tests/promise/one_of_each.h"

enum { MANY = 3, PLANES = 3 };

/* What a request may give; all of it is freed by `take_back`. */
struct gained {
    MaarAllocation memory[MANY];
    VkBuffer buffer;
    VkImage image;
    MaarSlice slice;
    MaarTransientHeap heap;
};

typedef VkResult (*request_function)(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                                     struct gained* out);

static VkResult request_memories(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                                 struct gained* out)
{
    MaarMemoryRequest requests[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        requests[i] = rig_request(64 * KIB, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    }
    return maarAllocateMemories(it->rig->allocator, MANY, requests, how, out->memory);
}

static VkResult request_buffer(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                               struct gained* out)
{
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    return maarCreateBuffer(it->rig->allocator, &info, how, &out->buffer, &out->memory[0]);
}

static VkImageCreateInfo linear_image(void)
{
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    return info;
}

static VkResult request_image(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                              struct gained* out)
{
    const VkImageCreateInfo info = linear_image();
    return maarCreateImage(it->rig->allocator, &info, how, &out->image, &out->memory[0]);
}

static VkResult request_planes(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                               struct gained* out)
{
    VkImageCreateInfo info = linear_image();
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
    return maarCreateDisjointImage(it->rig->allocator, &info, how, PLANES, &out->image,
                                   out->memory);
}

/* The objects of these two are the test's own. */
static VkResult request_for_buffer(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                                   struct gained* out)
{
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(it->rig->device, &info, NULL, &buffer), VK_SUCCESS);
    VkResult result = maarAllocateMemoryForBuffer(it->rig->allocator, buffer, how, &out->memory[0]);
    vkDestroyBuffer(it->rig->device, buffer, NULL);
    return result;
}

static VkResult request_for_image(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                                  struct gained* out)
{
    const VkImageCreateInfo info = linear_image();
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(vkCreateImage(it->rig->device, &info, NULL, &image), VK_SUCCESS);
    VkResult result =
        maarAllocateMemoryForImage(it->rig->allocator, image, info.tiling, how, &out->memory[0]);
    vkDestroyImage(it->rig->device, image, NULL);
    return result;
}

static VkResult request_heap(struct one_of_each* it, const MaarAllocationCreateInfo* how,
                             struct gained* out)
{
    return one_of_each_heap(it, how, &out->heap);
}

static const request_function requests[] = {
    request_memories,   request_buffer,    request_image, request_planes,
    request_for_buffer, request_for_image, request_heap,
};

enum { REQUESTS = sizeof requests / sizeof requests[0] };

static void take_back(struct one_of_each* it, struct gained* out)
{
    const MaarAllocator allocator = it->rig->allocator;
    maarDestroyTransientHeap(allocator, out->heap);
    vkDestroyBuffer(it->rig->device, out->buffer, NULL);
    vkDestroyImage(it->rig->device, out->image, NULL);
    maarFreeMemories(allocator, MANY, out->memory);
    assert_int_equal(maarTrim(allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
}

/* Each request fails with this code, and gives nothing. */
static void expect_all(struct one_of_each* it, const MaarAllocationCreateInfo* how, VkResult code)
{
    const struct gained nothing = {.buffer = VK_NULL_HANDLE};
    for (uint32_t i = 0; i < REQUESTS; ++i) {
        struct gained out = {.buffer = VK_NULL_HANDLE};
        VkResult result = requests[i](it, how, &out);
        if (result != code) {
            fail_msg("request %u: %d", (unsigned)i, (int)result);
        }
        assert_memory_equal(&out, &nothing, sizeof out);
    }
    rig_forget_messages(it->rig);
}

static void start(struct one_of_each* it, const struct rig_setup* setup)
{
    memset(it, 0, sizeof *it);
    it->rig = rig_begin(setup);
}

static void request_that_must_not_allocate_fails(void** state)
{
    struct one_of_each it;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)state;
    start(&it, NULL);
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    expect_all(&it, &how, VK_ERROR_OUT_OF_POOL_MEMORY);
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .allocationFlags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(it.rig->allocator, &info, &slice),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_null(slice);
    assert_int_equal(rig_calls(it.rig, "vkAllocateMemory"), 0);
    rig_close(it.rig);
}

static void request_that_no_type_serves_fails(void** state)
{
    struct one_of_each it;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)state;
    start(&it, NULL);
    how.requiredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    expect_all(&it, &how, VK_ERROR_FEATURE_NOT_PRESENT);
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * KIB);
    const VkImageCreateInfo image = linear_image();
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    assert_int_equal(maarChooseMemoryTypeForBuffer(it.rig->allocator, &buffer, &how, &choice),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarChooseMemoryTypeForImage(it.rig->allocator, &image, &how, &choice),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(it.rig);
    rig_close(it.rig);
}

/* Vulkan asks for a type that the host sees; a device without one has nothing to upload to. */
static void slice_that_no_type_serves_fails(void** state)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    const struct rig_setup setup = {.profile = &profile};
    (void)state;
    profile.typeCount = 1;
    struct rig* const rig = rig_begin(&setup);
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(slice);
    rig_forget_messages(rig);
    rig_close(rig);
}

static void request_that_cannot_be_mapped_fails(void** state)
{
    struct one_of_each it;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    (void)state;
    start(&it, NULL);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    rig_set_fault(it.rig, "vkMapMemory", 1, UINT64_MAX, VK_ERROR_MEMORY_MAP_FAILED);
    expect_all(&it, &how, VK_ERROR_MEMORY_MAP_FAILED);
    rig_clear_faults(it.rig);
    for (uint32_t i = 0; i < REQUESTS; ++i) {
        struct gained out = {.buffer = VK_NULL_HANDLE};
        assert_int_equal(requests[i](&it, &how, &out), VK_SUCCESS);
        take_back(&it, &out);
    }
    rig_close(it.rig);
}

/* A heap whose bytes lie in a pool, or are mapped, asks for more of both. */
static void update_fails_as_creation_does(void** state)
{
    struct one_of_each it;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = MIB,
        .maxBlockCount = 1,
        .memoryTypeIndex = 1,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    (void)state;
    start(&it, NULL);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(one_of_each_heap(&it, &how, &heap), VK_SUCCESS);
    rig_set_fault(it.rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(one_of_each_update(&it, heap, GIB, 0, NULL), VK_ERROR_TOO_MANY_OBJECTS);
    rig_clear_faults(it.rig);
    rig_set_fault(it.rig, "vkMapMemory", 1, UINT64_MAX, VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(one_of_each_update(&it, heap, GIB, 0, NULL), VK_ERROR_MEMORY_MAP_FAILED);
    rig_clear_faults(it.rig);
    maarDestroyTransientHeap(it.rig->allocator, heap);
    how.pool = rig_create_pool(it.rig, &info);
    assert_int_equal(one_of_each_heap(&it, &how, &heap), VK_SUCCESS);
    assert_int_equal(one_of_each_update(&it, heap, 2 * MIB, 0, NULL), VK_ERROR_OUT_OF_POOL_MEMORY);
    maarDestroyTransientHeap(it.rig->allocator, heap);
    maarDestroyPool(it.rig->allocator, how.pool);
    rig_forget_messages(it.rig);
    rig_close(it.rig);
}

static void priority_needs_its_extension(void** state)
{
    const struct rig_setup setup = {.off = RIG_OFF_PAGEABLE};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)state;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation allocation = rig_allocate(rig, MIB, &how);
    assert_int_equal(maarSetAllocationPriority(rig->allocator, allocation, 0.5F),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    maarFreeMemory(rig->allocator, allocation);
    rig_close(rig);
}

/* ---- paging ---- */

static void binds_without_paging_are_refused(void** state)
{
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE, .paging = true};
    const VkBufferCreateInfo buffer = rig_buffer_info(MIB);
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 16,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    MaarArray array = VK_NULL_HANDLE;
    (void)state;
    struct rig* const rig = rig_begin(&setup);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarDelayBinds(rig->allocator, 0, NULL), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(maarCreateArray(rig->allocator, &info, &array), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(array);
    rig_forget_messages(rig);
    rig_close(rig);
}

static void first_delay_may_want_memory(void** state)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    (void)state;
    struct rig* const rig = rig_begin(&setup);
    for (uint32_t i = 0; i < 2; ++i) {
        rig_set_fault(rig, "vkCreateSemaphore", 1, 1, codes[i]);
        assert_int_equal(maarDelayBinds(rig->allocator, 0, NULL), codes[i]);
        rig_clear_faults(rig);
    }
    assert_int_equal(maarDelayBinds(rig->allocator, 0, NULL), VK_SUCCESS);
    rig_forget_messages(rig);
    rig_close(rig);
}

/* Nothing is committed yet, so that the first page needs a block. */
static void tiles_without_memory_are_refused(void** state)
{
    static const VkResult codes[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_TOO_MANY_OBJECTS};
    MaarSimulatedProfile profile = *rig_profile_discrete();
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    VkImageCreateInfo image_info = rig_image_info(1024, 1024);
    const MaarSparseImageCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &image_info,
    };
    const MaarTileRegion region = {.extent = {512, 512, 1}};
    MaarSparseImage image = VK_NULL_HANDLE;
    uint8_t residency[4];
    uint32_t count = 4;
    (void)state;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyImage2D = VK_TRUE;
    image_info.mipLevels = 11;
    struct rig* const rig = rig_begin(&setup);
    assert_int_equal(maarCreateSparseImage(rig->allocator, &info, &image), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, codes[i]);
        assert_int_equal(maarCommitTiles(rig->allocator, image, 1, &region), codes[i]);
        assert_int_equal(maarCommitMipTail(rig->allocator, image, 0, 1), codes[i]);
        rig_clear_faults(rig);
    }
    assert_int_equal(maarGetTileResidency(rig->allocator, image, 0, 0, &count, residency),
                     VK_INCOMPLETE);
    rig_forget_messages(rig);
    maarDestroySparseImage(rig->allocator, image);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(request_that_must_not_allocate_fails),
        rig_unit_test(request_that_no_type_serves_fails),
        rig_unit_test(slice_that_no_type_serves_fails),
        rig_unit_test(request_that_cannot_be_mapped_fails),
        rig_unit_test(update_fails_as_creation_does),
        rig_unit_test(priority_needs_its_extension),
        rig_unit_test(binds_without_paging_are_refused),
        rig_unit_test(first_delay_may_want_memory),
        rig_unit_test(tiles_without_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
