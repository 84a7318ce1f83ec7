/*
 * Promise 3 on a real driver: the kernel refuses the Nth call of a kind, alone or with all later
 * ones, for every N until nothing is refused any more. A public function then either finds another
 * way or fails with the right error, its outputs null and nothing changed.
 */
#include "tests/radv/radv_case.h"

enum { MOST_FAILURES = 200, MANY = 3, PLANES = 3 };

struct context {
    struct rig rig;
    MaarPool pool;
    VkBuffer buffer;
    VkImage image;
    MaarAllocation memory[MANY];
    MaarSlice slice;
    VkResult result; /* of the last run */
};

struct step {
    const char* name;
    VkResult (*run)(struct context* context);
    /* Takes back a run, also one that failed. */
    void (*undo)(struct context* context);
    bool maps; /* a mapping that fails is an answer */
};

/* ---- steps ---- */

static VkResult run_pool(struct context* c)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = MIB,
        .minBlockCount = 5,
    };
    return maarCreatePool(c->rig.allocator, &info, &c->pool);
}

static void undo_pool(struct context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
}

static VkResult allocate_one(struct context* c, const MaarAllocationCreateInfo* how)
{
    const MaarMemoryRequest request = rig_request(5000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(c->rig.allocator, &request, how, &c->memory[0]);
}

static VkResult run_placed(struct context* c)
{
    return allocate_one(c, NULL);
}

static VkResult run_placed_mapped(struct context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    return allocate_one(c, &how);
}

static VkResult run_dedicated(struct context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return allocate_one(c, &how);
}

static VkResult run_dedicated_mapped(struct context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    return allocate_one(c, &how);
}

static VkResult run_many(struct context* c)
{
    MaarMemoryRequest requests[MANY];
    for (uint32_t i = 0; i < MANY; ++i) {
        requests[i] = rig_request((i + 1) * 3 * MIB, 16, UINT32_MAX, MAAR_RESOURCE_KIND_UNKNOWN);
    }
    return maarAllocateMemories(c->rig.allocator, MANY, requests, NULL, c->memory);
}

static void undo_memory(struct context* c)
{
    maarFreeMemories(c->rig.allocator, MANY, c->memory);
}

static VkResult run_buffer(struct context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "buffer";
    return maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->memory[0]);
}

static void undo_buffer(struct context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->memory[0]);
}

static VkResult run_image(struct context* c)
{
    const VkImageCreateInfo info = rig_image_info(256, 256);
    return maarCreateImage(c->rig.allocator, &info, NULL, &c->image, &c->memory[0]);
}

static VkResult run_dedicated_image(struct context* c)
{
    const VkImageCreateInfo info = rig_image_info(1024, 1024);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return maarCreateImage(c->rig.allocator, &info, &how, &c->image, &c->memory[0]);
}

static void undo_image(struct context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory[0]);
}

static VkResult run_planes(struct context* c)
{
    VkImageCreateInfo info = rig_image_info(256, 256);
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    info.format = VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return maarCreateDisjointImage(c->rig.allocator, &info, &how, PLANES, &c->image, c->memory);
}

static void undo_planes(struct context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->memory[0]);
    maarFreeMemories(c->rig.allocator, PLANES - 1, &c->memory[1]);
}

static VkResult run_slice(struct context* c)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    return maarCreateSlice(c->rig.allocator, &info, &c->slice);
}

static void undo_slice(struct context* c)
{
    maarDestroySlice(c->rig.allocator, c->slice);
}

static const struct step steps[] = {
    {"pool", run_pool, undo_pool, false},
    {"placed memory", run_placed, undo_memory, false},
    {"placed memory, mapped", run_placed_mapped, undo_memory, true},
    {"dedicated memory", run_dedicated, undo_memory, false},
    {"dedicated memory, mapped", run_dedicated_mapped, undo_memory, true},
    {"several allocations", run_many, undo_memory, false},
    {"buffer, mapped", run_buffer, undo_buffer, true},
    {"image", run_image, undo_image, false},
    {"dedicated image", run_dedicated_image, undo_image, false},
    {"disjoint image", run_planes, undo_planes, false},
    {"slice", run_slice, undo_slice, true},
};

enum { STEP_COUNT = sizeof steps / sizeof steps[0] };

/* ---- one after another ---- */

/* What a failing call must not leave as it is. */
static void soil_outputs(struct context* c)
{
    c->pool = (MaarPool)(uintptr_t)1;
    c->buffer = (VkBuffer)(uintptr_t)1;
    c->image = (VkImage)(uintptr_t)1;
    c->slice = (MaarSlice)(uintptr_t)1;
    for (uint32_t i = 0; i < MANY; ++i) {
        c->memory[i] = (MaarAllocation)(uintptr_t)1;
    }
}

/* Null, or not an output of this step at all. */
static void expect_outputs(struct context* c, bool made)
{
    const uint64_t outputs[] = {
        (uint64_t)(uintptr_t)c->pool,      (uint64_t)(uintptr_t)c->buffer,
        (uint64_t)(uintptr_t)c->image,     (uint64_t)(uintptr_t)c->slice,
        (uint64_t)(uintptr_t)c->memory[0], (uint64_t)(uintptr_t)c->memory[1],
        (uint64_t)(uintptr_t)c->memory[2],
    };
    uint32_t touched = 0;
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; ++i) {
        if (outputs[i] != 1) {
            ++touched;
            assert_int_equal(outputs[i] != 0, made);
        }
    }
    assert_true(touched > 0);
    for (uint32_t i = 0; i < MANY; ++i) {
        c->memory[i] = outputs[4 + i] == 1 ? VK_NULL_HANDLE : c->memory[i];
    }
}

static VkResult run_step(struct context* c, const struct step* step)
{
    soil_outputs(c);
    c->result = step->run(c);
    expect_outputs(c, c->result == VK_SUCCESS);
    return c->result;
}

/* RADV 25.0.7 answers VK_ERROR_UNKNOWN when the kernel gives an object no address. */
static void expect_error(const struct step* step, enum fault_call call, VkResult result)
{
    const VkResult wanted =
        call == FAULT_CALL_MAP ? VK_ERROR_MEMORY_MAP_FAILED : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (result != wanted && (call != FAULT_CALL_PLACE || result != VK_ERROR_UNKNOWN)) {
        fail_msg("%s fails with %d, not %d", step->name, (int)result, (int)wanted);
    }
}

/* Returns how many times the step failed. */
static uint32_t refuse_each_call(struct context* c, const struct step* step, enum fault_call call,
                                 uint64_t count)
{
    uint32_t failures = 0;
    for (uint64_t nth = 1; nth <= MOST_FAILURES; ++nth) {
        struct radv_snapshot before;
        radv_take_snapshot(&c->rig, &before);
        radv_refuse(call, nth, count);
        const VkResult result = run_step(c, step);
        const uint64_t struck = radv_allow_all();
        if (result == VK_SUCCESS) {
            radv_expect_books_agree(&c->rig);
            step->undo(c);
            radv_expect_empty(&c->rig);
            if (struck == 0) {
                return failures;
            }
            continue; /* it found another way */
        }
        assert_true(struck > 0);
        expect_error(step, call, result);
        radv_expect_unchanged(&c->rig, &before);
        step->undo(c); /* frees and destroys nothing but nulls */
        radv_expect_unchanged(&c->rig, &before);
        ++failures;
    }
    fail_msg("%s still meets failure %d", step->name, MOST_FAILURES);
    return failures;
}

/* All steps; returns how many times one failed. */
static uint32_t refuse_in_all(enum fault_call call, uint64_t count)
{
    static struct context context;
    uint32_t total = 0;
    radv_start(&context.rig);
    for (size_t i = 0; i < STEP_COUNT; ++i) {
        if (call != FAULT_CALL_MAP || steps[i].maps) {
            const uint32_t failures = refuse_each_call(&context, &steps[i], call, count);
            print_message("%-28s %u failures\n", steps[i].name, failures);
            /* What is refused for good cannot be had, while a single failure may be survived. */
            assert_true(failures > 0 || count != UINT64_MAX);
            total += failures;
        }
    }
    radv_close(&context.rig);
    return total;
}

static void refused_object_changes_nothing(void** state)
{
    (void)state;
    assert_true(refuse_in_all(FAULT_CALL_CREATE, UINT64_MAX) >= STEP_COUNT);
}

/* Another size of block, another type: a single failure is survived, except where one is all that
 * there is. */
static void refused_object_is_got_round(void** state)
{
    (void)state;
    const uint32_t failures = refuse_in_all(FAULT_CALL_CREATE, 1);
    assert_true(failures >= 5 && failures < 2 * STEP_COUNT); /* a pool's blocks are all or none */
}

static void refused_address_changes_nothing(void** state)
{
    (void)state;
    assert_true(refuse_in_all(FAULT_CALL_PLACE, UINT64_MAX) >= STEP_COUNT);
}

static void refused_mapping_changes_nothing(void** state)
{
    (void)state;
    assert_int_equal(refuse_in_all(FAULT_CALL_MAP, UINT64_MAX), 4);
    assert_int_equal(refuse_in_all(FAULT_CALL_MAP, 1), 4);
}

/* ---- mapping what is there ---- */

static void refused_mapping_can_be_repeated(void** state)
{
    (void)state;
    static struct rig rig;
    static char bytes[100];
    radv_start(&rig);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation memory = rig_allocate(&rig, 5000, &how);
    struct radv_snapshot before;
    radv_take_snapshot(&rig, &before);

    void* data = &rig;
    radv_refuse(FAULT_CALL_MAP, 1, UINT64_MAX);
    assert_int_equal(maarMapMemory(rig.allocator, memory, &data), VK_ERROR_MEMORY_MAP_FAILED);
    assert_null(data);
    assert_null(maarGetMappedData(rig.allocator, memory));
    assert_int_equal(maarCopyToAllocation(rig.allocator, memory, 0, sizeof bytes, bytes),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(maarCopyFromAllocation(rig.allocator, memory, 0, sizeof bytes, bytes),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(radv_allow_all(), 3);
    radv_expect_unchanged(&rig, &before);

    assert_int_equal(maarMapMemory(rig.allocator, memory, &data), VK_SUCCESS);
    assert_non_null(data);
    memset(data, 0x5A, 5000);
    assert_ptr_equal(maarGetMappedData(rig.allocator, memory), data);
    maarUnmapMemory(rig.allocator, memory);
    maarFreeMemory(rig.allocator, memory);
    radv_close(&rig);
}

/* ---- a program that goes on after failures ---- */

/* Everything once, whatever fails; then everything back. Returns how many calls were refused. */
static uint64_t live_through(struct context* all, struct rig* rig)
{
    rig_make_allocator(rig);
    uint32_t failures = 0;
    for (size_t i = 0; i < STEP_COUNT; ++i) {
        all[i].rig.allocator = rig->allocator;
        if (run_step(&all[i], &steps[i]) != VK_SUCCESS) {
            assert_int_equal(all[i].result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            ++failures;
        }
    }
    radv_expect_books_agree(rig);
    const uint64_t struck = radv_allow_all();
    assert_true(struck > 0 || failures == 0);
    const MaarStatistics totals = rig_statistics(rig, VK_NULL_HANDLE);
    assert_true(totals.failureCount <= failures + MANY * PLANES);
    for (size_t i = 0; i < STEP_COUNT; ++i) {
        steps[i].undo(&all[i]);
    }
    radv_expect_empty(rig);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    return struck;
}

static void live_through_each(uint64_t count)
{
    static struct rig rig;
    static struct context all[STEP_COUNT];
    radv_open(&rig);
    uint64_t nth = 0;
    do {
        assert_true(++nth < MOST_FAILURES);
        radv_refuse(FAULT_CALL_CREATE, nth, count);
    } while (live_through(all, &rig) > 0);
    print_message("%u objects were made\n", (unsigned)(nth - 1));
    assert_true(nth > STEP_COUNT);
    rig_make_allocator(&rig);
    radv_close(&rig);
}

static void program_survives_any_failure(void** state)
{
    (void)state;
    live_through_each(1);
}

static void program_survives_all_failures(void** state)
{
    (void)state;
    live_through_each(UINT64_MAX);
}

const struct radv_case radv_call_cases[] = {
    {"refused_object_changes_nothing", refused_object_changes_nothing},
    {"refused_object_is_got_round", refused_object_is_got_round},
    {"refused_address_changes_nothing", refused_address_changes_nothing},
    {"refused_mapping_changes_nothing", refused_mapping_changes_nothing},
    {"refused_mapping_can_be_repeated", refused_mapping_can_be_repeated},
    {"program_survives_any_failure", program_survives_any_failure},
    {"program_survives_all_failures", program_survives_all_failures},
    {NULL, NULL},
};
