/*
 * Slices: thousands of small buffers out of few big ones.
 */
#include "core/memory/allocation_free.h"
#include "tests/rig/rig.h"

#include <stdio.h>

#include "core/memory/allocator_state.h"
#include "core/objects/slice_arena.h"

static MaarSliceCreateInfo slice_of(VkDeviceSize size, VkBufferUsageFlags usage,
                                    MaarMemoryUsage memory)
{
    return (MaarSliceCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = size,
        .usage = usage,
        .memoryUsage = memory,
    };
}

static MaarSliceInfo read_slice(struct rig* rig, MaarSlice slice)
{
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarGetSliceInfo(rig->allocator, slice, &info), VK_SUCCESS);
    return info;
}

static MaarSlice make_slice(struct rig* rig, const MaarSliceCreateInfo* info)
{
    MaarSlice slice = VK_NULL_HANDLE;
    VkResult result = maarCreateSlice(rig->allocator, info, &slice);
    if (result != VK_SUCCESS) {
        fail_msg("no slice: %d, \"%s\"", (int)result, rig->messages.last);
    }
    return slice;
}

enum { MANY = 5000 };
static MaarSlice many[MANY];
static MaarSliceInfo known[MANY];

static int compare_places(const void* a, const void* b)
{
    const MaarSliceInfo* x = a;
    const MaarSliceInfo* y = b;
    if (x->buffer != y->buffer) {
        return (uintptr_t)x->buffer < (uintptr_t)y->buffer ? -1 : 1;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void thousands_share_few_buffers(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    struct rig_random random = {.state = 1};
    for (uint32_t i = 0; i < MANY; ++i) {
        MaarSliceCreateInfo info =
            slice_of(1 + rig_below(&random, 2000), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                     MAAR_MEMORY_USAGE_UPLOAD);
        info.pUserData = &many[i];
        many[i] = make_slice(rig, &info);
        known[i] = read_slice(rig, many[i]);
        assert_int_equal(known[i].size, info.size);
        assert_int_equal(known[i].offset % 256, 0); /* minUniformBufferOffsetAlignment */
        assert_ptr_equal(known[i].pUserData, &many[i]);
        assert_non_null(known[i].pMappedData);
        memset(known[i].pMappedData, (int)(i & 0xFF), (size_t)info.size);
    }
    assert_true(rig_calls(rig, "vkCreateBuffer") <= 10);
    for (uint32_t i = 0; i < MANY; ++i) {
        const unsigned char* bytes = known[i].pMappedData;
        assert_int_equal(bytes[0], i & 0xFF);
        assert_int_equal(bytes[known[i].size - 1], i & 0xFF);
    }
    qsort(known, MANY, sizeof known[0], compare_places);
    for (uint32_t i = 1; i < MANY; ++i) {
        assert_true(known[i].buffer != known[i - 1].buffer ||
                    known[i - 1].offset + known[i - 1].size <= known[i].offset);
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        maarDestroySlice(rig->allocator, many[(i * 7919u) % MANY]);
    }
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 0);
    rig_expect_silence(rig);
}

static void usages_and_memory_are_kept_apart(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo infos[3] = {
        slice_of(100, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, MAAR_MEMORY_USAGE_UPLOAD),
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_UPLOAD),
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL),
    };
    MaarSlice made[3];
    for (uint32_t i = 0; i < 3; ++i) {
        made[i] = make_slice(rig, &infos[i]);
    }
    MaarSliceInfo a = read_slice(rig, made[0]);
    MaarSliceInfo b = read_slice(rig, made[1]);
    MaarSliceInfo c = read_slice(rig, made[2]);
    assert_true(a.buffer != b.buffer && b.buffer != c.buffer && a.buffer != c.buffer);
    assert_non_null(a.pMappedData);
    assert_null(c.pMappedData);
    assert_int_equal(rig_info(rig, c.allocation).memoryTypeIndex, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroySlice(rig->allocator, made[i]);
    }
}

static void alignment_is_any_number(void** state)
{
    (void)state;
    static const VkDeviceSize alignments[] = {1, 3, 48, 100, 4096, 3000, 262144};
    struct rig* const rig = rig_begin(NULL);
    MaarSlice made[7];
    for (uint32_t i = 0; i < 7; ++i) {
        MaarSliceCreateInfo info =
            slice_of(5, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        info.alignment = alignments[i];
        made[i] = make_slice(rig, &info);
        VkDeviceSize offset = read_slice(rig, made[i]).offset;
        assert_int_equal(offset % alignments[i], 0);
        assert_int_equal(offset % 16, 0);
    }
    for (uint32_t i = 0; i < 7; ++i) {
        maarDestroySlice(rig->allocator, made[i]);
    }
}

static void addresses_follow_the_offset(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    const VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const MaarSliceCreateInfo info = slice_of(64, usage, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarSlice a = make_slice(rig, &info);
    MaarSlice b = make_slice(rig, &info);
    MaarSliceInfo x = read_slice(rig, a);
    MaarSliceInfo y = read_slice(rig, b);
    VkDeviceAddress base = 0;
    assert_int_equal(maarGetBufferAddress(rig->allocator, x.buffer, &base), VK_SUCCESS);
    assert_true(x.address == base + x.offset && y.address == base + y.offset);
    maarDestroySlice(rig->allocator, a);
    maarDestroySlice(rig->allocator, b);
}

static void flushes_of_neighbours_never_meet(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarSlice made[20];
    for (uint32_t i = 0; i < 20; ++i) {
        MaarSliceCreateInfo info =
            slice_of(10 + i, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_READBACK);
        info.alignment = i % 2 == 0 ? 0 : 48;
        made[i] = make_slice(rig, &info);
        MaarSliceInfo slice = read_slice(rig, made[i]);
        assert_int_equal(slice.allocationOffset % 256, 0); /* each slice begins a new atom */
        assert_int_equal(maarFlushAllocation(rig->allocator, slice.allocation,
                                             slice.allocationOffset, slice.size),
                         VK_SUCCESS);
    }
    assert_int_equal(rig_calls(rig, "vkFlushMappedMemoryRanges"), 20);
    for (uint32_t i = 0; i < 20; ++i) {
        maarDestroySlice(rig->allocator, made[i]);
    }
}

static void pending_slice_is_not_reused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info =
        slice_of(1000, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarSlice a = make_slice(rig, &info);
    MaarSliceInfo place = read_slice(rig, a);
    const MaarPoint point = {.value = 1};
    assert_int_equal(maarDestroySliceAfter(rig->allocator, a, 1, &point), VK_SUCCESS);
    MaarSliceInfo out = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarGetSliceInfo(rig->allocator, a, &out), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    MaarSlice b = make_slice(rig, &info);
    assert_true(read_slice(rig, b).offset != place.offset);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(rig->allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 1);
    MaarSlice c = make_slice(rig, &info);
    assert_true(read_slice(rig, c).offset == place.offset);
    assert_int_equal(maarDestroySliceAfter(rig->allocator, b, 0, NULL), VK_SUCCESS);
    assert_int_equal(maarDestroySliceAfter(rig->allocator, VK_NULL_HANDLE, 1, &point), VK_SUCCESS);
    maarDestroySlice(rig->allocator, c);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    const struct rig_setup setup = {.off = RIG_OFF_ADDRESS};
    struct rig* const rig = rig_begin(&setup);
    const MaarSliceCreateInfo good =
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarSlice slice = (MaarSlice)(uintptr_t)1;
    MaarSliceInfo out = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarGetSliceInfo(rig->allocator, VK_NULL_HANDLE, &out), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "slice");
    assert_int_equal(maarCreateSlice(rig->allocator, NULL, &slice), invalid);
    assert_true(slice == VK_NULL_HANDLE);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCreateInfo");
    assert_int_equal(maarCreateSlice(rig->allocator, &good, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSlice");
    static const struct {
        VkDeviceSize size;
        VkDeviceSize alignment;
        VkBufferUsageFlags usage;
        MaarMemoryUsage memory;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {
        {0, 0, 1, MAAR_MEMORY_USAGE_UPLOAD, MAAR_MESSAGE_ID_ZERO_SIZE, "size"},
        {MAAR_MAX_SLICE_SIZE + 1, 0, 1, MAAR_MEMORY_USAGE_UPLOAD, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "size"},
        {1, MAAR_MAX_SLICE_ALIGNMENT + 1, 1, MAAR_MEMORY_USAGE_UPLOAD,
         MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "alignment"},
        {1, UINT64_MAX, 1, MAAR_MEMORY_USAGE_UPLOAD, MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "alignment"},
        {1, 0, 0, MAAR_MEMORY_USAGE_UPLOAD, MAAR_MESSAGE_ID_EMPTY_FLAGS, "usage"},
        {1, 0, 1, (MaarMemoryUsage)9, MAAR_MESSAGE_ID_INVALID_ENUM, "memoryUsage"},
        {1, 0, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, MAAR_MEMORY_USAGE_UPLOAD,
         MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "bufferDeviceAddress"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarSliceCreateInfo info = slice_of(rows[i].size, rows[i].usage, rows[i].memory);
        info.alignment = rows[i].alignment;
        assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), invalid);
        rig_expect_message_naming(rig, rows[i].id, rows[i].culprit);
    }
    MaarSliceCreateInfo foreign = good;
    foreign.queueFamilyBits = 1u | 1u << 31;
    assert_int_equal(maarCreateSlice(rig->allocator, &foreign, &slice), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "queueFamilyBits");
    slice = make_slice(rig, &good);
    maarDestroySlice(rig->allocator, slice);
    maarDestroySlice(rig->allocator, slice);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarDestroySlice(rig->allocator, VK_NULL_HANDLE);
    rig_expect_silence(rig);
    slice = make_slice(rig, &good);
    assert_int_equal(maarGetSliceInfo(rig->allocator, slice, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    assert_int_equal(maarDestroySliceAfter(rig->allocator, slice, 1, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    maarDestroySlice(rig->allocator, slice);
}

/* An alignment may be larger than the largest slice, and larger than a buffer of slices. */
static void alignment_beyond_a_buffer_is_met(void** state)
{
    (void)state;
    static const VkDeviceSize alignments[] = {
        100003, MAAR_MAX_SLICE_SIZE, MAAR_MAX_SLICE_SIZE + 1, MIB + 7, 5 * MIB, GIB - 1, GIB};
    enum { COUNT = 3 * sizeof alignments / sizeof alignments[0] };
    struct rig* const rig = rig_begin(NULL);
    MaarSlice slices[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        MaarSliceCreateInfo info =
            slice_of(300, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, MAAR_MEMORY_USAGE_UPLOAD);
        info.alignment = alignments[i / 3];
        slices[i] = make_slice(rig, &info);
        assert_int_equal(read_slice(rig, slices[i]).offset % info.alignment, 0);
        assert_int_equal(read_slice(rig, slices[i]).offset % 64, 0);
    }
    rig_check(rig);
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarDestroySlice(rig->allocator, slices[i]);
    }
}

/* A message about a buffer of slices names the call that ends the buffer. */
static void buffer_of_slices_that_is_gone_names_the_call(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info =
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarSlice slice = make_slice(rig, &info);
    const VkBuffer buffer = read_slice(rig, slice).buffer;
    (void)maar_free_allocation(rig->allocator, "a test", read_slice(rig, slice).allocation);
    maarDestroySlice(rig->allocator, slice);
    rig_forget_messages(rig);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "maarDestroyAllocator");
    vkDestroyBuffer(rig->device, buffer, NULL);
}

static void largest_slice_fits(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info = slice_of(
        MAAR_MAX_SLICE_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarSlice a = make_slice(rig, &info);
    MaarSlice b = make_slice(rig, &info);
    assert_int_equal(read_slice(rig, a).size, MAAR_MAX_SLICE_SIZE);
    maarDestroySlice(rig->allocator, a);
    maarDestroySlice(rig->allocator, b);
}

/* All buffers but one are full, whichever it is. */
static void room_in_any_buffer_is_found(void** state)
{
    enum { FULL = 400 };
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct rig_random random = {.state = 3};
    const MaarSliceCreateInfo info = slice_of(
        MAAR_MAX_SLICE_SIZE, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    uint64_t buffers = 0;
    uint32_t count = 0;
    while (count < FULL || rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER] == buffers) {
        buffers = rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER];
        many[count++] = make_slice(rig, &info);
    }
    maarDestroySlice(rig->allocator, many[--count]); /* the first of the last buffer */
    for (uint32_t i = 0; i < 4 * FULL; ++i) {
        MaarSlice* slice = &many[rig_below(&random, FULL)];
        const MaarSliceInfo before = read_slice(rig, *slice);
        maarDestroySlice(rig->allocator, *slice);
        *slice = make_slice(rig, &info);
        const MaarSliceInfo after = read_slice(rig, *slice);
        assert_true(after.buffer == before.buffer && after.offset == before.offset);
    }
    for (uint32_t i = 0; i < count; ++i) {
        maarDestroySlice(rig->allocator, many[i]);
    }
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
}

/* Sizes and alignments of all kinds come and go. After each step the bins are in order. */
static void bins_stay_in_order(void** state)
{
    enum { LIVE = 200, STEPS = 4000 };
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct rig_random random = {.state = 4};
    memset(many, 0, sizeof many);
    for (uint32_t i = 0; i < STEPS; ++i) {
        MaarSlice* slice = &many[rig_below(&random, LIVE)];
        MaarSliceCreateInfo info =
            slice_of(1 + rig_below(&random, 1u << rig_below(&random, 18)),
                     VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        info.alignment = (VkDeviceSize)1 << rig_below(&random, 17);
        maarDestroySlice(rig->allocator, *slice);
        *slice = i < STEPS - LIVE * 4 ? make_slice(rig, &info) : VK_NULL_HANDLE;
        const struct maar_slice_state* slices =
            maar_atomic_pointer_load(&rig->allocator->slices.state);
        const struct maar_slice_shelf* shelf = slices->first_arena.shelves;
        assert_null(maar_slice_shelf_check(shelf));
    }
    for (uint32_t i = 0; i < LIVE; ++i) {
        maarDestroySlice(rig->allocator, many[i]);
    }
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
}

static void emptied_buffers_are_given_back(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info =
        slice_of(65536, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 200; ++i) {
        many[i] = make_slice(rig, &info);
    }
    assert_true(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER] >= 4);
    for (uint32_t i = 0; i < 200; ++i) {
        maarDestroySlice(rig->allocator, many[i]);
    }
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
}

static void leaked_slices_are_reported(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    struct rig* const rig = rig_begin(&setup);
    const MaarSliceCreateInfo info =
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    (void)make_slice(rig, &info);
    (void)make_slice(rig, &info);
    maarDestroyAllocator(rig->allocator);
    assert_int_equal(rig->messages.total, 1);
    assert_true(rig_message_names(rig, "slices") && rig_message_names_number(rig, 200));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "2");
    rig_make_allocator(rig);
    (void)make_slice(rig, &info);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(rig_message_names(rig, "slice") && rig_message_names_number(rig, 100));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "1");
}

static void pending_slices_at_the_end_are_named(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoint late = {VK_NULL_HANDLE, 5};
    const MaarSliceCreateInfo info =
        slice_of(100, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarSlice slice = make_slice(rig, &info);
    char name[64];
    (void)snprintf(name, sizeof name, "0x%X", (uint32_t)MAAR_TO_BITS(slice));
    assert_int_equal(maarDestroySliceAfter(rig->allocator, slice, 1, &late), VK_SUCCESS);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    assert_true(rig_message_names(rig, "slice"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_PENDING_AT_DESTROY, name);
}

static uint32_t type_of_slice(struct rig* rig, MaarSlice slice)
{
    return rig_info(rig, read_slice(rig, slice).allocation).memoryTypeIndex;
}

/* Flags choose the type as they do for allocations, and slices of other flags lie elsewhere. */
static void flags_choose_the_type_and_the_buffer(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    static const struct {
        MaarMemoryUsage usage;
        VkMemoryPropertyFlags required;
        VkMemoryPropertyFlags preferred;
    } asked[] = {
        {MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, 0},
        {MAAR_MEMORY_USAGE_DEVICE_LOCAL, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0},
        {MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT},
        {MAAR_MEMORY_USAGE_FLAGS_ONLY, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0},
        {MAAR_MEMORY_USAGE_FLAGS_ONLY, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
         VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    };
    enum { KINDS = sizeof asked / sizeof asked[0] };
    MaarSlice slices[KINDS][2];
    for (uint32_t i = 0; i < KINDS; ++i) {
        MaarSliceCreateInfo info =
            slice_of(1000, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, asked[i].usage);
        MaarAllocationCreateInfo how = rig_how(asked[i].usage);
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
        info.requiredFlags = how.requiredFlags = asked[i].required;
        info.preferredFlags = how.preferredFlags = asked[i].preferred;
        assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &how, &choice),
                         VK_SUCCESS);
        slices[i][0] = make_slice(rig, &info);
        slices[i][1] = make_slice(rig, &info);
        assert_int_equal(type_of_slice(rig, slices[i][0]), choice.memoryTypeIndex);
        assert_true(read_slice(rig, slices[i][0]).buffer == read_slice(rig, slices[i][1]).buffer);
        for (uint32_t k = 0; k < i; ++k) {
            assert_true(read_slice(rig, slices[i][0]).buffer !=
                        read_slice(rig, slices[k][0]).buffer);
        }
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).sliceBufferCount, i + 1);
    }
    MaarSliceCreateInfo none =
        slice_of(1000, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    none.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
    MaarSlice refused = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &none, &refused),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
    for (uint32_t i = 0; i < KINDS; ++i) {
        maarDestroySlice(rig->allocator, slices[i][0]);
        maarDestroySlice(rig->allocator, slices[i][1]);
    }
}

/* The count is that of the VkBuffers that the driver has. */
static void statistics_count_the_buffers_of_slices(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarSliceCreateInfo info =
        slice_of(256, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).sliceBufferCount, 0);
    for (uint32_t i = 0; i < MANY; ++i) {
        many[i] = make_slice(rig, &info);
    }
    MaarStatistics statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceBufferCount,
                     rig_calls(rig, "vkCreateBuffer") - rig_calls(rig, "vkDestroyBuffer"));
    assert_true(statistics.sliceBufferCount >= 1 && statistics.sliceBufferCount <= 8);
    assert_true(statistics.sliceBufferBytes >= statistics.sliceBytes);
    assert_true(statistics.sliceBufferBytes <= 2 * statistics.sliceBytes);
    for (uint32_t i = 0; i < MANY; ++i) {
        maarDestroySlice(rig->allocator, many[i]);
    }
    statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_int_equal(statistics.sliceBufferCount,
                     rig_calls(rig, "vkCreateBuffer") - rig_calls(rig, "vkDestroyBuffer"));
    rig_check(rig);
    (void)maarTrim(rig->allocator, VK_NULL_HANDLE, NULL);
    statistics = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(statistics.sliceBufferCount == 0 && statistics.sliceBufferBytes == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(thousands_share_few_buffers),
        rig_unit_test(flags_choose_the_type_and_the_buffer),
        rig_unit_test(statistics_count_the_buffers_of_slices),
        rig_unit_test(usages_and_memory_are_kept_apart),
        rig_unit_test(alignment_is_any_number),
        rig_unit_test(addresses_follow_the_offset),
        rig_unit_test(flushes_of_neighbours_never_meet),
        rig_unit_test(pending_slice_is_not_reused),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(alignment_beyond_a_buffer_is_met),
        rig_unit_test(buffer_of_slices_that_is_gone_names_the_call),
        rig_unit_test(largest_slice_fits),
        rig_unit_test(room_in_any_buffer_is_found),
        rig_unit_test(bins_stay_in_order),
        rig_unit_test(emptied_buffers_are_given_back),
        rig_unit_test(leaked_slices_are_reported),
        rig_unit_test(pending_slices_at_the_end_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
