/*
 * What pools refuse, and the chains that they hand to the driver.
 */
#include "tests/rig/rig.h"

static VkResult try_pool_of(struct rig* rig, uint32_t type, MaarPool* pool)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .minBlockCount = 1,
        .blockSize = MIB,
    };
    return maarCreatePool(rig->allocator, &info, pool);
}

static void alignment_above_every_block_makes_no_pool(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .minAlignment = (VkDeviceSize)1 << 63,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "minAlignment");
}

/* ---- memory types behind a feature ---- */

/* The discrete profile with type 4 of AMD's device-coherent kind and type 5 protected. */
static MaarSimulatedProfile profile_with_features(void)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.types[profile.typeCount++] = (MaarSimulatedType){
        .heap = 1,
        .flags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                 VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD};
    profile.types[profile.typeCount++] = (MaarSimulatedType){
        .heap = 0, .flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT};
    return profile;
}

static void types_without_their_feature_make_no_pool(void** state)
{
    (void)state;
    const MaarSimulatedProfile profile = profile_with_features();
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(&setup);
    for (uint32_t type = 4; type < 6; ++type) {
        MaarPool pool = (MaarPool)(uintptr_t)1;
        assert_int_equal(try_pool_of(rig, type, &pool), VK_ERROR_VALIDATION_FAILED_EXT);
        assert_null(pool);
        rig_expect_message(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED);
    }
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

static void types_with_their_feature_make_a_pool(void** state)
{
    (void)state;
    const MaarSimulatedProfile profile = profile_with_features();
    const struct rig_setup setup = {.profile = &profile};
    VkPhysicalDeviceCoherentMemoryFeaturesAMD coherent = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
        .deviceCoherentMemory = VK_TRUE,
    };
    const VkPhysicalDeviceProtectedMemoryFeatures protect = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
        .pNext = &coherent,
        .protectedMemory = VK_TRUE,
    };
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.pEnabledFeatures = &protect;
    rig_make_allocator(rig);
    for (uint32_t type = 4; type < 6; ++type) {
        /* No block: the device itself was made without these features. */
        const MaarPoolCreateInfo info = {.memoryTypeIndex = type};
        maarDestroyPool(rig->allocator, rig_create_pool(rig, &info));
    }
    rig_expect_silence(rig);
}

/* ---- what a request must not ask of a pool ---- */

static void pool_must_have_what_is_required(void** state)
{
    (void)state;
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const struct {
        VkMemoryPropertyFlags required;
        uint32_t type_bits;
        const char* culprit; /* NULL: allowed */
    } rows[] = {
        {0, 0, NULL},
        {local, 0, NULL},
        {local, 1, NULL},
        {0, 7, NULL},
        {visible, 0, "requiredFlags"},
        {local | visible, 1, "requiredFlags"},
        {0, 2, "memoryTypeBits"},
        {local, 6, "memoryTypeBits"},
    };
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = MIB};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK); /* ignored */
    how.pool = rig_create_pool(rig, &info);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const MaarMemoryRequest request = rig_request(256, 16, 7, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocation allocation = VK_NULL_HANDLE;
        how.requiredFlags = rows[i].required;
        how.memoryTypeBits = rows[i].type_bits;
        VkResult result = maarAllocateMemory(rig->allocator, &request, &how, &allocation);
        if (rows[i].culprit == NULL) {
            assert_int_equal(result, VK_SUCCESS);
            maarFreeMemory(rig->allocator, allocation);
            rig_expect_silence(rig);
            continue;
        }
        assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
        assert_true(allocation == VK_NULL_HANDLE);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POOL_MISMATCH, rows[i].culprit);
    }
    maarDestroyPool(rig->allocator, how.pool);
}

static void pool_of_another_allocator_is_refused(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = rig_create_pool(rig, &info);
    const MaarMemoryRequest request = rig_request(256, 16, 7, MAAR_RESOURCE_KIND_LINEAR);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(256);
    MaarAllocation none = (MaarAllocation)(uintptr_t)1;
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    assert_int_equal(maarAllocateMemory(other, &request, &how, &none),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(none == VK_NULL_HANDLE);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(maarCreateBuffer(other, &buffer_info, &how, &buffer, &none),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(buffer == VK_NULL_HANDLE && none == VK_NULL_HANDLE);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(rig_statistics(rig, how.pool).allocationCount, 0);
    maarDestroyPool(rig->allocator, how.pool);
    maarDestroyAllocator(other);
}

/* ---- chains ---- */

static void driver_sees_a_structure_that_is_there_twice(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    VkMemoryPriorityAllocateInfoEXT second = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT, .priority = 0.25F};
    const VkMemoryPriorityAllocateInfoEXT first = {
        .sType = second.sType, .pNext = &second, .priority = 0.75F};
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &second, .allocationSize = 4096};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateMemory(rig->device, &info, NULL, &memory), VK_SUCCESS);
    vkFreeMemory(rig->device, memory, NULL);
    assert_int_equal(rig_counters(rig).violationCount, 0);
    info.pNext = &first;
    assert_int_equal(vkAllocateMemory(rig->device, &info, NULL, &memory), VK_SUCCESS);
    vkFreeMemory(rig->device, memory, NULL);
    assert_int_equal(rig_counters(rig).violations[MAAR_SIMULATED_VIOLATION_ARGUMENT], 1);
    rig->expected_violations = 1;
}

/* Everything that Maar would add is in the pool's chain already; see the check above. */
static void chain_of_a_pool_replaces_ones_own(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(64 * KIB);
    const VkMemoryPriorityAllocateInfoEXT priority = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT,
        .priority = 0.25F,
    };
    const VkMemoryAllocateFlagsInfo address = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = &priority,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const void* const chains[] = {NULL, &priority, &address};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        const MaarPoolCreateInfo info = {
            .blockSize = MIB,
            .minBlockCount = 1,
            .priority = 0.75F,
            .pMemoryAllocateNext = chains[i],
        };
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.pool = rig_create_pool(rig, &info);
        for (uint32_t dedicated = 0; dedicated < 2; ++dedicated) {
            VkBuffer buffer = VK_NULL_HANDLE;
            MaarAllocation memory = VK_NULL_HANDLE;
            how.dedicated = dedicated != 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER;
            assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                             VK_SUCCESS);
            maarDestroyBuffer(rig->allocator, buffer, memory);
        }
        maarDestroyPool(rig->allocator, how.pool);
    }
    assert_int_equal(rig_counters(rig).violationCount, 0);
}

/* The float of the priority structure that vkAllocateMemory received last; -1 for none. */
static float seen_priority;

static VkResult VKAPI_PTR note_priority(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks,
                                        VkDeviceMemory* memory)
{
    const VkBaseInStructure* link = info->pNext;
    seen_priority = -1.0F;
    for (; link != NULL; link = link->pNext) {
        if (link->sType == VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT) {
            seen_priority = ((const VkMemoryPriorityAllocateInfoEXT*)(const void*)link)->priority;
        }
    }
    return vkAllocateMemory(device, info, callbacks, memory);
}

static void chain_of_an_allocation_reaches_the_driver(void** state)
{
    (void)state;
    rig_need_all_functions();
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    const MaarNamedFunction function = {"vkAllocateMemory", (PFN_vkVoidFunction)note_priority};
    const MaarEntryPointsInfo entry_points = {.sType = MAAR_STRUCTURE_TYPE_ENTRY_POINTS_INFO,
                                              .functionCount = 1,
                                              .pFunctions = &function};
    rig->create_info.pNext = &entry_points;
    rig_make_allocator(rig);
    const VkMemoryPriorityAllocateInfoEXT of_pool = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT, .priority = 0.75F};
    const VkMemoryPriorityAllocateInfoEXT of_allocation = {.sType = of_pool.sType,
                                                           .priority = 0.25F};
    const MaarMemoryAllocateNextInfo next = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO,
                                             .pMemoryAllocateNext = &of_allocation};
    const MaarPoolCreateInfo info = {.pMemoryAllocateNext = &of_pool};
    const MaarPool pool = rig_create_pool(rig, &info);
    for (uint32_t i = 0; i < 2; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.pNext = &next;
        how.dedicated = MAAR_DEDICATED_ALWAYS;
        how.pool = i == 0 ? VK_NULL_HANDLE : pool;
        const MaarAllocation memory = rig_allocate(rig, KIB, &how);
        assert_true(seen_priority == 0.25F);
        maarFreeMemory(rig->allocator, memory);
    }
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    maarFreeMemory(rig->allocator, rig_allocate(rig, KIB, &how));
    assert_true(seen_priority == 0.75F);
    rig_expect_silence(rig);
    how.pNext = &next;
    how.dedicated = MAAR_DEDICATED_AUTO;
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, KIB, &how, &none), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pCreateInfo->dedicated");
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(alignment_above_every_block_makes_no_pool),
        rig_unit_test(types_without_their_feature_make_no_pool),
        rig_unit_test(types_with_their_feature_make_a_pool),
        rig_unit_test(pool_must_have_what_is_required),
        rig_unit_test(pool_of_another_allocator_is_refused),
        rig_unit_test(driver_sees_a_structure_that_is_there_twice),
        rig_unit_test(chain_of_a_pool_replaces_ones_own),
        rig_unit_test(chain_of_an_allocation_reaches_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
