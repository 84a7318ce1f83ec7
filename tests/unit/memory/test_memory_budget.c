/*
 * Budgets: the driver's answers and their fallbacks, the last resort, the within-budget flag, heap
 * limits, blocks given back under pressure.
 */
#include "tests/rig/rig.h"

static VkResult try_take(struct rig* rig, uint32_t type, VkDeviceSize size, VkFlags flags,
                         MaarAllocation* allocation)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    MaarMemoryRequest request = rig_request(size, 1, 1u << type, MAAR_RESOURCE_KIND_LINEAR);
    how.flags = flags;
    return maarAllocateMemory(rig->allocator, &request, &how, allocation);
}

static void set_budget(struct rig* rig, uint32_t heap, VkDeviceSize budget, VkDeviceSize others)
{
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap, budget, others), VK_SUCCESS);
}

static void budget_without_extension_is_four_fifths(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_BUDGET};
    struct rig* const rig = rig_begin(&setup);
    MaarHeapBudget budget = rig_budget(rig, 0);
    assert_int_equal(budget.fromDriver, VK_FALSE);
    assert_true(budget.size == 8 * GIB);
    assert_true(budget.budget == 8 * GIB / 5 * 4);
    assert_int_equal(budget.usage, 0);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 4 * GIB, 0, &a), VK_SUCCESS);
    budget = rig_budget(rig, 0);
    assert_true(budget.usage == 4 * GIB && budget.blockBytes == 4 * GIB);
    assert_int_equal(budget.blockCount, 1);
    maarFreeMemory(rig->allocator, a);
}

static uint32_t heap_count(struct rig* rig)
{
    uint32_t count = 0;
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, NULL), VK_SUCCESS);
    return count;
}

static void budget_from_the_driver_is_taken(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 3 * GIB, GIB);
    MaarHeapBudget budget = rig_budget(rig, 0);
    assert_int_equal(budget.fromDriver, VK_TRUE);
    assert_true(budget.budget == 3 * GIB);
}

static void budget_absurd_falls_back(void** state)
{
    (void)state;
    static const VkDeviceSize absurd[] = {0, UINT64_MAX, UINT64_MAX - 4095,
                                          ((VkDeviceSize)8 << 30) + 1};
    struct rig* const rig = rig_begin(NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        for (uint32_t heap = 0; heap < heap_count(rig); ++heap) {
            set_budget(rig, heap, absurd[i], 0);
        }
        MaarHeapBudget budget = rig_budget(rig, 0);
        assert_int_equal(budget.fromDriver, VK_FALSE);
        assert_true(budget.budget == 8 * GIB / 5 * 4);
        MaarAllocation a;
        assert_int_equal(try_take(rig, 0, 1000, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &a),
                         VK_SUCCESS);
        maarFreeMemory(rig->allocator, a);
    }
}

/* What RADV says of a heap that others have filled, as long as we hold nothing in it. */
static void budget_of_zero_beside_others_is_a_full_heap(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 0, 0);
    MaarHeapBudget budget = rig_budget(rig, 0);
    assert_int_equal(budget.fromDriver, VK_TRUE);
    assert_int_equal(budget.budget, 0);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 1000, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &a),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_take(rig, 0, 1000, 0, &a), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 1);
    maarFreeMemory(rig->allocator, a);
}

static void budget_exceeded_last_and_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 10 * MIB, 0);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 20 * MIB, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &a),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(a == VK_NULL_HANDLE);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
    rig_expect_message(rig, MAAR_MESSAGE_ID_BUDGET_REACHED);
    assert_int_equal(try_take(rig, 0, 20 * MIB, 0, &a), VK_SUCCESS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "20971520");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 1);
    maarFreeMemory(rig->allocator, a);
}

/* A fallback says that an assumed budget stood in the way, where the heap itself had room. */
static void fallback_for_an_assumed_budget_says_so(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_BUDGET};
    for (uint32_t shared = 0; shared < 2; ++shared) {
        struct rig* const rig = rig_begin(&setup);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        const VkDeviceSize size = shared ? 13 * MIB : GIB;
        how.dedicated = shared ? MAAR_DEDICATED_NEVER : MAAR_DEDICATED_ALWAYS;
        how.pName = "terrain";
        VkDeviceSize bytes = 0;
        for (MaarAllocation made = rig_allocate(rig, size, &how);
             rig_info(rig, made).fallback == VK_FALSE; made = rig_allocate(rig, size, &how)) {
            bytes += size;
        }
        assert_in_range(bytes / MIB, 6 * 1024, 6554); /* 80 % of 8 GiB */
        assert_true(rig_message_names(rig, "maarAllocateMemory"));
        assert_true(rig_message_names(rig, "\"terrain\""));
        assert_false(rig_message_names(rig, "room")); /* the heap has some */
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FALLBACK_TYPE, "assumed");
        maarDestroyAllocator(rig->allocator); /* with all that is left */
        rig->allocator = VK_NULL_HANDLE;
        rig_forget_messages(rig);
    }
}

static VkBool32 VKAPI_PTR count_questions(void* user, const MaarOutOfMemoryInfo* info)
{
    uint32_t* const count = user;
    (void)info;
    ++*count;
    return VK_FALSE;
}

/* The table of docs/budgets.md: which requests ask the observer when the card's memory is full, or
 * its budget. */
static void observer_is_asked_as_the_flags_say(void** state)
{
    (void)state;
    uint32_t questions = 0;
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = rig_profile_tiny()});
    rig->create_info.pfnOutOfMemory = count_questions;
    rig->create_info.pOutOfMemoryUserData = &questions;
    rig_make_allocator(rig);
    MaarAllocationCreateInfo full = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    full.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation card[4];
    full.memoryTypeBits = 0x1;
    for (uint32_t i = 0; i < 4; ++i) {
        card[i] = rig_allocate(rig, 16 * MIB, &full);
    }
    const struct {
        VkMemoryPropertyFlags required;
        MaarAllocationCreateFlags flags;
        uint32_t when_full;
        uint32_t at_budget;
    } rows[] = {
        {0, 0, 0, 0},
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, 1, 0},
        {0, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT, 1, 0},
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, 1, 1},
        {0, MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT | MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, 1,
         1},
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT, 0, 0},
    };
    for (uint32_t at_budget = 0; at_budget < 2; ++at_budget) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
            how.requiredFlags = rows[i].required;
            how.flags = rows[i].flags;
            MaarAllocation allocation = VK_NULL_HANDLE;
            questions = 0;
            const VkResult result = rig_try(rig, 4 * MIB, &how, &allocation);
            assert_int_equal(questions, at_budget ? rows[i].at_budget : rows[i].when_full);
            assert_true(result != VK_SUCCESS || questions == 0);
            maarFreeMemory(rig->allocator, allocation);
            assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        }
        if (!at_budget) { /* from here on the heap has room, and its budget none */
            maarFreeMemory(rig->allocator, card[3]);
            set_budget(rig, 0, 48 * MIB, 0);
        }
    }
    maarFreeMemories(rig->allocator, 3, card);
}

/* A budget limits new blocks: what exists is used also after the budget has shrunk. */
static void budget_that_shrinks_leaves_the_room_of_blocks(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkFlags within = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    MaarAllocation made[3];
    assert_int_equal(try_take(rig, 0, 20 * MIB, within, &made[0]), VK_SUCCESS);
    assert_int_equal(try_take(rig, 0, MIB, within, &made[1]), VK_SUCCESS);
    set_budget(rig, 0, MIB, 0);
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(try_take(rig, 0, MIB, within, &made[2]), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls);
    MaarAllocation more = VK_NULL_HANDLE;
    assert_int_equal(try_take(rig, 0, 100 * MIB, within, &more), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_expect_message(rig, MAAR_MESSAGE_ID_BUDGET_REACHED);
    maarFreeMemories(rig->allocator, 3, made);
}

static void budget_exceeded_in_vain_is_not_counted(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 10 * MIB, 0);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = 20 * MIB,
        .minBlockCount = 2,
    };
    MaarPool pool = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkAllocateMemory", 2, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    assert_int_equal(rig->messages.total, 1);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_DEVICE_MEMORY, "20971520");
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 2);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OVER_BUDGET, "20971520");
    maarDestroyPool(rig->allocator, pool);
}

static void budget_prefers_another_type_within_it(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 2, 10 * MIB, 0);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    MaarAllocation a = rig_allocate(rig, 20 * MIB, &how);
    assert_int_equal(rig_info(rig, a).memoryTypeIndex, 1);
    assert_int_equal(rig_info(rig, a).fallback, VK_TRUE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    maarFreeMemory(rig->allocator, a);
}

static void budget_makes_blocks_smaller(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 2 * MIB, 0);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 100 * KIB, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &a),
                     VK_SUCCESS);
    assert_true(rig_info(rig, a).blockSize <= 2 * MIB); /* 4 MiB, were there no budget */
    MaarHeapBudget budget = rig_budget(rig, 0);
    assert_true(budget.usage <= budget.budget);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, a);
}

static void budget_shrinking_releases_empty_blocks(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.retainedEmptySize = UINT64_MAX;
    rig_make_allocator(rig);
    MaarAllocation made[4];
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(try_take(rig, 0, 100 * MIB, 0, &made[i]), VK_SUCCESS);
    }
    uint32_t blocks = rig_statistics(rig, VK_NULL_HANDLE).blockCount;
    assert_true(blocks >= 2);
    maarFreeMemory(rig->allocator, made[3]);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, blocks);
    set_budget(rig, 0, 50 * MIB, 0);
    (void)rig_budget(rig, 0); /* now it is known */
    maarFreeMemory(rig->allocator, made[2]);
    assert_true(rig_statistics(rig, VK_NULL_HANDLE).blockCount < blocks);
    maarFreeMemory(rig->allocator, made[1]);
    maarFreeMemory(rig->allocator, made[0]);
}

static void heap_limit_is_never_passed(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {100 * MIB, 0, 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    assert_true(rig_budget(rig, 0).limit == 100 * MIB);
    assert_true(rig_budget(rig, 1).limit == 0);
    MaarAllocation made[101];
    uint32_t count = 0;
    while (count < 101 && try_take(rig, 0, MIB, 0, &made[count]) == VK_SUCCESS) {
        ++count;
        assert_true(rig_counters(rig).heapLive[0] <= 100 * MIB);
    }
    assert_true(count >= 95 && count <= 100);
    assert_int_equal(try_take(rig, 0, 101 * MIB, 0, &made[count]), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarFreeMemories(rig->allocator, count, made);
}

static void budgets_two_calls(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    uint32_t count = 0;
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 3);
    MaarHeapBudget budgets[3] = {{.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET},
                                 {.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET},
                                 {.sType = MAAR_STRUCTURE_TYPE_STATISTICS}};
    count = 2;
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, budgets), VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_int_equal(budgets[1].heapIndex, 1);
    count = 3;
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, budgets),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "sType");
    assert_int_equal(maarGetHeapBudgets(rig->allocator, NULL, budgets),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
}

static void underflowing_real_driver_is_survived(void** state)
{
    (void)state;
    const struct rig_setup setup = {
        .profile = rig_profile_file("amd-radv-tinyheap0-budget-underflow"),
    };
    struct rig* const rig = rig_begin(&setup);
    for (uint32_t heap = 0; heap < heap_count(rig); ++heap) {
        const MaarHeapBudget budget = rig_budget(rig, heap);
        assert_true(budget.budget <= budget.size);
    }
    MaarAllocation made[20];
    for (uint32_t i = 0; i < 20; ++i) {
        made[i] = rig_allocate(rig, 3 * MIB, NULL);
    }
    rig_check(rig);
    maarFreeMemories(rig->allocator, 20, made);
}

static void budget_is_filled_to_its_last_byte(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 0, 200 * MIB, 0);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 200 * MIB, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &a),
                     VK_SUCCESS);
    assert_true(rig_budget(rig, 0).usage == 200 * MIB);
    maarFreeMemory(rig->allocator, a);
}

/* What is full is not over: an empty block stays. */
static void budget_just_full_releases_nothing(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 1000, 0, &a), VK_SUCCESS);
    set_budget(rig, 0, rig_info(rig, a).blockSize, 0);
    (void)rig_budget(rig, 0); /* now it is known */
    maarFreeMemory(rig->allocator, a);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
}

/* The preferred type is over budget and refused by the driver, too; the next one has room. */
static void budget_of_a_type_that_failed_is_not_exceeded(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    set_budget(rig, 2, 10 * MIB, 0);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.memoryTypeBits = 0xA;
    /* Within budgets type 1 alone is tried, in vain; then both, type 3 in vain. */
    rig_set_fault(rig, "vkAllocateMemory", 1, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    MaarAllocation a = rig_allocate(rig, 20 * MIB, &how);
    assert_int_equal(rig_counters(rig).faultCount, 2);
    assert_int_equal(rig_info(rig, a).memoryTypeIndex, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).fallbackCount, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    maarFreeMemory(rig->allocator, a);
}

/* Over budget more is tried than is needed; what the driver grants in the end is within it. */
static void budget_that_holds_the_smaller_block_is_not_exceeded(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&(struct rig_setup){.preferred_block = 256 * MIB});
    set_budget(rig, 0, 2 * MIB, 0);
    rig_set_fault(rig, "vkAllocateMemory", 1, 2, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, MIB, 0, &a), VK_SUCCESS);
    assert_int_equal(rig_counters(rig).faultCount, 2);
    assert_int_equal(rig_info(rig, a).blockSize, 2 * MIB);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).overBudgetCount, 0);
    rig_expect_silence(rig);
    maarFreeMemory(rig->allocator, a);
}

/* A driver that counts lazily: it says that nothing is used. */
static void VKAPI_PTR read_lazily(VkPhysicalDevice physical,
                                  VkPhysicalDeviceMemoryProperties2* properties)
{
    vkGetPhysicalDeviceMemoryProperties2(physical, properties);
    for (VkBaseOutStructure* link = properties->pNext; link != NULL; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) {
            VkPhysicalDeviceMemoryBudgetPropertiesEXT* answer = (void*)link;
            memset(answer->heapUsage, 0, sizeof answer->heapUsage);
        }
    }
}

static PFN_vkVoidFunction VKAPI_PTR lazy_address(VkInstance instance, const char* name)
{
    return strcmp(name, "vkGetPhysicalDeviceMemoryProperties2") == 0
               ? (PFN_vkVoidFunction)read_lazily
               : maarSimulatedGetInstanceProcAddr(instance, name);
}

static void budget_knows_what_is_held_whatever_the_driver_says(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.pfnGetInstanceProcAddr = lazy_address;
    rig_make_allocator(rig);
    set_budget(rig, 0, 500 * MIB, 0);
    MaarAllocation a;
    MaarAllocation b;
    assert_int_equal(try_take(rig, 0, 300 * MIB, 0, &a), VK_SUCCESS);
    assert_true(rig_budget(rig, 0).usage == 300 * MIB);
    assert_int_equal(try_take(rig, 0, 201 * MIB, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &b),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(try_take(rig, 0, 200 * MIB, MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT, &b),
                     VK_SUCCESS);
    maarFreeMemory(rig->allocator, a);
    maarFreeMemory(rig->allocator, b);
}

/* What a limit refuses is no object: as many as the device knows can still be made. */
static void heap_limit_failures_cost_no_objects(void** state)
{
    (void)state;
    const VkDeviceSize limits[2] = {MIB, 0};
    const struct rig_setup setup = {.profile = rig_profile_tiny()}; /* 16 objects */
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.heapSizeLimitCount = 2;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    MaarAllocation made[16];
    for (uint32_t i = 0; i < 40; ++i) {
        assert_int_equal(try_take(rig, 0, 2 * MIB, 0, &made[0]), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.memoryTypeBits = 2;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = 0; i < 16; ++i) {
        made[i] = rig_allocate(rig, 4096, &how);
    }
    maarFreeMemories(rig->allocator, 16, made);
}

/* Blocks are an eighth of what is left of a heap, at most. */
static void heap_limit_makes_blocks_smaller(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {64 * MIB, 0, 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    MaarAllocation a;
    assert_int_equal(try_take(rig, 0, 1000, 0, &a), VK_SUCCESS);
    assert_int_equal(rig_info(rig, a).blockSize, MIB); /* 32 MiB without a limit */
    MaarAllocation large;
    assert_int_equal(try_take(rig, 0, 4 * MIB, 0, &large), VK_SUCCESS);
    assert_int_equal(rig_info(rig, large).dedicated, VK_TRUE);
    maarFreeMemory(rig->allocator, large);
    maarFreeMemory(rig->allocator, a);
}

/* The first block of 24 pieces would have 3 of them. Half of that is rounded to one. */
static void halved_blocks_leave_nothing_of_a_limit(void** state)
{
    (void)state;
    const VkDeviceSize piece = 64 * KIB;
    const VkDeviceSize limits[3] = {2 * piece, 0, 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.preferredBlockSize = 24 * piece;
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.memoryTypeBits = 1;
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    MaarAllocation made[2];
    made[0] = rig_allocate(rig, piece, &how);
    assert_int_equal(rig_info(rig, made[0]).blockSize, piece);
    made[1] = rig_allocate(rig, piece, &how);
    maarFreeMemories(rig->allocator, 2, made);
}

/* As much as `available` says can be taken in one piece, and no more. */
static void take_what_is_available(struct rig* rig, VkDeviceSize expected)
{
    const VkFlags within = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    const VkDeviceSize available = rig_budget(rig, 0).available;
    MaarAllocation all = VK_NULL_HANDLE;
    assert_int_equal(available, expected);
    assert_int_equal(try_take(rig, 0, available + 1, within, &all), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_forget_messages(rig);
    if (available > 0) {
        assert_int_equal(try_take(rig, 0, available, within, &all), VK_SUCCESS);
        assert_int_equal(rig_budget(rig, 0).available, 0);
        maarFreeMemory(rig->allocator, all);
        assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    }
}

static void available_is_what_budget_limit_and_empty_blocks_leave(void** state)
{
    (void)state;
    const VkDeviceSize limits[3] = {600 * MIB, 0, 0};
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    rig->create_info.heapSizeLimitCount = 3;
    rig->create_info.pHeapSizeLimits = limits;
    rig_make_allocator(rig);
    take_what_is_available(rig, 600 * MIB);
    set_budget(rig, 0, 500 * MIB, 0);
    take_what_is_available(rig, 500 * MIB);
    set_budget(rig, 0, 0, 0); /* others have filled the heap */
    take_what_is_available(rig, 0);
    set_budget(rig, 0, 500 * MIB, 0);
    MaarAllocation small = VK_NULL_HANDLE;
    assert_int_equal(try_take(rig, 0, MIB, 0, &small), VK_SUCCESS);
    assert_true(rig_budget(rig, 0).available == 500 * MIB - rig_budget(rig, 0).blockBytes);
    maarFreeMemory(rig->allocator, small);
    assert_true(rig_budget(rig, 0).blockBytes > 0); /* the empty block stays */
    take_what_is_available(rig, 500 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(budget_without_extension_is_four_fifths),
        rig_unit_test(budget_from_the_driver_is_taken),
        rig_unit_test(budget_absurd_falls_back),
        rig_unit_test(budget_of_zero_beside_others_is_a_full_heap),
        rig_unit_test(budget_exceeded_last_and_reported),
        rig_unit_test(budget_exceeded_in_vain_is_not_counted),
        rig_unit_test(fallback_for_an_assumed_budget_says_so),
        rig_unit_test(observer_is_asked_as_the_flags_say),
        rig_unit_test(budget_that_shrinks_leaves_the_room_of_blocks),
        rig_unit_test(budget_prefers_another_type_within_it),
        rig_unit_test(budget_makes_blocks_smaller),
        rig_unit_test(budget_shrinking_releases_empty_blocks),
        rig_unit_test(heap_limit_is_never_passed),
        rig_unit_test(budgets_two_calls),
        rig_unit_test(underflowing_real_driver_is_survived),
        rig_unit_test(budget_is_filled_to_its_last_byte),
        rig_unit_test(budget_just_full_releases_nothing),
        rig_unit_test(budget_of_a_type_that_failed_is_not_exceeded),
        rig_unit_test(budget_that_holds_the_smaller_block_is_not_exceeded),
        rig_unit_test(budget_knows_what_is_held_whatever_the_driver_says),
        rig_unit_test(heap_limit_failures_cost_no_objects),
        rig_unit_test(heap_limit_makes_blocks_smaller),
        rig_unit_test(halved_blocks_leave_nothing_of_a_limit),
        rig_unit_test(available_is_what_budget_limit_and_empty_blocks_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
