/*
 * Recommendations that go into a chain of the program: each structure is there once, no feature is
 * in two structures, what the device has is enabled, and what the program has enabled stays so.
 */
#include "tests/rig/rig.h"

/* What a program may have in its chain. */
enum part {
    PART_VULKAN_11 = 0x1,
    PART_VULKAN_12 = 0x2,
    PART_VULKAN_13 = 0x4,
    PART_FEATURES_2 = 0x8,
    PART_TIMELINE = 0x10,
    PART_ADDRESS = 0x20,
    PART_MAINTENANCE4 = 0x40,
    PART_PRIORITY = 0x80,
    PART_ALL = 0xFF,
};

struct chain {
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceMaintenance4Features maintenance4;
    VkPhysicalDeviceMemoryPriorityFeaturesEXT priority;
    MaarFeatureChainInfo info;
};

static void link_part(struct chain* chain, void* structure, VkStructureType type, bool is_wanted)
{
    VkBaseOutStructure* base = structure;
    if (is_wanted) {
        base->sType = type;
        base->pNext = chain->info.pFeatures;
        chain->info.pFeatures = structure;
    }
}

/* Begins a chain of these parts, in which the program has enabled one feature of each version. */
static void begin_chain(struct chain* chain, unsigned parts)
{
    memset(chain, 0, sizeof *chain);
    chain->info.sType = MAAR_STRUCTURE_TYPE_FEATURE_CHAIN_INFO;
    link_part(chain, &chain->v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
              (parts & PART_VULKAN_11) != 0);
    link_part(chain, &chain->v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
              (parts & PART_VULKAN_12) != 0);
    link_part(chain, &chain->v13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
              (parts & PART_VULKAN_13) != 0);
    link_part(chain, &chain->core, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
              (parts & PART_FEATURES_2) != 0);
    link_part(chain, &chain->timeline,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
              (parts & PART_TIMELINE) != 0);
    link_part(chain, &chain->address,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
              (parts & PART_ADDRESS) != 0);
    link_part(chain, &chain->maintenance4, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
              (parts & PART_MAINTENANCE4) != 0);
    link_part(chain, &chain->priority,
              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT,
              (parts & PART_PRIORITY) != 0);
    chain->v11.storageBuffer16BitAccess = VK_TRUE;
    chain->v12.scalarBlockLayout = VK_TRUE;
    chain->core.features.samplerAnisotropy = VK_TRUE;
}

/* A program may not have these together, so the call never sees them. */
static bool parts_are_valid(unsigned parts)
{
    const bool twice_12 =
        (parts & PART_VULKAN_12) != 0 && (parts & (PART_TIMELINE | PART_ADDRESS)) != 0;
    const bool twice_13 = (parts & PART_VULKAN_13) != 0 && (parts & PART_MAINTENANCE4) != 0;
    return !twice_12 && !twice_13;
}

static uint32_t count_in_chain(const void* head, VkStructureType type)
{
    uint32_t count = 0;
    for (const VkBaseInStructure* link = head; link != NULL; link = link->pNext) {
        count += link->sType == type ? 1 : 0;
    }
    return count;
}

static void expect_valid_chain(const void* head)
{
    for (const VkBaseInStructure* link = head; link != NULL; link = link->pNext) {
        assert_int_equal(count_in_chain(head, link->sType), 1);
    }
    static const struct {
        VkStructureType version;
        VkStructureType single;
    } forbidden[] = {
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES},
        {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES},
    };
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; ++i) {
        assert_true(count_in_chain(head, forbidden[i].version) == 0 ||
                    count_in_chain(head, forbidden[i].single) == 0);
    }
}

static MaarDeviceRecommendation* new_recommendation(struct chain* chain)
{
    static MaarDeviceRecommendation recommendation;
    memset(&recommendation, 0, sizeof recommendation);
    recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    recommendation.pNext = &chain->info;
    return &recommendation;
}

static VkResult recommend(const struct rig* rig, MaarDeviceRecommendation* recommendation)
{
    return maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical, NULL,
                               recommendation);
}

/* Makes a device and an allocator with what was recommended, and returns what the latter found. */
static MaarAllocatorInfo enable(struct rig* rig, const MaarDeviceRecommendation* recommendation,
                                const VkPhysicalDeviceFeatures* core, const void* for_allocator)
{
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = recommendation->pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = recommendation->extensionCount,
        .ppEnabledExtensionNames = recommendation->ppExtensionNames,
        .pEnabledFeatures = core,
    };
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(vkCreateDevice(rig->physical, &device_info, NULL, &device), VK_SUCCESS);
    MaarAllocatorCreateInfo info = rig->create_info;
    info.device = device;
    info.queueCount = 0;
    info.enabledExtensionCount = recommendation->extensionCount;
    info.ppEnabledExtensionNames = recommendation->ppExtensionNames;
    info.pEnabledFeatures = for_allocator;
    info.apiVersion = VK_API_VERSION_1_3;
    MaarAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&info, &allocator), VK_SUCCESS);
    MaarAllocatorInfo found = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(allocator, &found), VK_SUCCESS);
    maarDestroyAllocator(allocator);
    vkDestroyDevice(device, NULL);
    return found;
}

/* The versions' structures take what they can hold; what is left is linked. */
static void features_of_versions_are_set_in_the_programs_structures(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = rig_profile_sparse()});
    struct chain chain;
    begin_chain(&chain, PART_VULKAN_11 | PART_VULKAN_12 | PART_VULKAN_13);
    void* const head = chain.info.pFeatures;
    MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
    assert_int_equal(recommend(rig, recommendation), VK_SUCCESS);
    assert_ptr_equal(recommendation->pFeatures, head);
    expect_valid_chain(head);
    assert_int_equal(chain.v12.timelineSemaphore, VK_TRUE);
    assert_int_equal(chain.v12.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(chain.v12.bufferDeviceAddressCaptureReplay, VK_FALSE);
    assert_int_equal(chain.v13.maintenance4, VK_TRUE);
    assert_int_equal(chain.v13.synchronization2, VK_TRUE);
    assert_int_equal(chain.v12.scalarBlockLayout, VK_TRUE);
    assert_int_equal(chain.v11.storageBuffer16BitAccess, VK_TRUE);
    /* The three of the program, the core features, the two that no version has adopted. */
    uint32_t links = 0;
    for (const VkBaseInStructure* link = head; link != NULL; link = link->pNext) {
        ++links;
    }
    assert_int_equal(links, 6);
    assert_int_equal(recommendation->timelineSemaphore.timelineSemaphore, VK_TRUE);
    const MaarAllocatorInfo info = enable(rig, recommendation, NULL, recommendation->pFeatures);
    assert_int_equal(info.timelineSemaphore, VK_TRUE);
    assert_int_equal(info.bufferDeviceAddress, VK_TRUE);
    assert_int_equal(info.maintenance4, VK_TRUE);
    assert_int_equal(info.memoryPriority, VK_TRUE);
    assert_int_equal(info.pageableDeviceLocalMemory, VK_TRUE);
}

/* Every chain that a program may have gives the same capabilities as no chain, on each vendor's
 * device. */
static void each_chain_enables_what_a_chain_of_its_own_enables(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    for (uint32_t vendor = 0; vendor < RIG_VENDORS; ++vendor) {
        rig_open(rig, &(struct rig_setup){.profile = rig_profile_file(rig_vendors[vendor])});
        const MaarAllocatorInfo alone =
            enable(rig, &rig->recommendation, NULL, rig->recommendation.pFeatures);
        for (unsigned parts = 0; parts <= PART_ALL; ++parts) {
            if (!parts_are_valid(parts)) {
                continue;
            }
            struct chain chain;
            begin_chain(&chain, parts);
            MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
            assert_int_equal(recommend(rig, recommendation), VK_SUCCESS);
            expect_valid_chain(recommendation->pFeatures);
            assert_int_equal(chain.core.features.sparseBinding,
                             (parts & PART_FEATURES_2) != 0
                                 ? rig->recommendation.features.features.sparseBinding
                                 : VK_FALSE);
            assert_int_equal(chain.core.features.samplerAnisotropy, VK_TRUE);
            const MaarAllocatorInfo info =
                enable(rig, recommendation, NULL, recommendation->pFeatures);
            assert_memory_equal(&info, &alone, sizeof info);
        }
        rig_close(rig);
    }
}

/* Core features may be beside the chain, where Vulkan allows no VkPhysicalDeviceFeatures2. */
static void core_features_beside_the_chain_are_set_there(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = rig_profile_sparse()});
    struct chain chain;
    begin_chain(&chain, PART_VULKAN_12 | PART_VULKAN_13);
    VkPhysicalDeviceFeatures core = {.samplerAnisotropy = VK_TRUE};
    chain.info.pEnabledFeatures = &core;
    MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
    assert_int_equal(recommend(rig, recommendation), VK_SUCCESS);
    expect_valid_chain(recommendation->pFeatures);
    assert_int_equal(
        count_in_chain(recommendation->pFeatures, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2), 0);
    assert_int_equal(core.samplerAnisotropy, VK_TRUE);
    assert_int_equal(core.sparseBinding, VK_TRUE);
    assert_int_equal(core.sparseResidencyBuffer, VK_TRUE);
    assert_int_equal(core.geometryShader, VK_FALSE);
    assert_ptr_equal(recommendation->features.pNext, recommendation->pFeatures);
    assert_memory_equal(&recommendation->features.features, &core, sizeof core);
    const MaarAllocatorInfo info = enable(rig, recommendation, &core, &recommendation->features);
    assert_int_equal(info.timelineSemaphore, VK_TRUE);
    assert_int_equal(info.memoryPriority, VK_TRUE);

    /* Both places: Vulkan does not allow it, and nothing changes. */
    begin_chain(&chain, PART_FEATURES_2);
    memset(&core, 0, sizeof core);
    chain.info.pEnabledFeatures = &core;
    const struct chain before = chain;
    assert_int_equal(recommend(rig, new_recommendation(&chain)), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_memory_equal(&chain, &before, sizeof chain);
    assert_int_equal(core.sparseBinding, VK_FALSE);
}

/* The same recommendation again: its own structures are not taken for the program's. */
static void second_call_begins_with_the_programs_chain(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    for (unsigned parts = 0; parts <= PART_VULKAN_12; ++parts) {
        struct chain chain;
        begin_chain(&chain, parts);
        MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
        uint32_t links[2] = {0, 0};
        for (uint32_t call = 0; call < 2; ++call) {
            assert_int_equal(recommend(rig, recommendation), VK_SUCCESS);
            expect_valid_chain(recommendation->pFeatures);
            for (const VkBaseInStructure* link = recommendation->pFeatures; link != NULL;
                 link = link->pNext) {
                ++links[call];
            }
            chain.info.pFeatures = recommendation->pFeatures;
        }
        assert_true(links[0] > 4);
        assert_int_equal(links[0], links[1]);
    }
}

static void failing_call_leaves_the_chain(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    struct chain chain;
    begin_chain(&chain, PART_VULKAN_12 | PART_VULKAN_13);
    const struct chain before = chain;
    MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
    for (uint64_t nth = 1; nth <= 2; ++nth) {
        atomic_store(&rig->host.calls, 0);
        atomic_store(&rig->host.fail_at, nth);
        assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical,
                                             &rig->host_callbacks, recommendation),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_memory_equal(&chain, &before, sizeof chain);
        assert_null(recommendation->pFeatures);
    }
    atomic_store(&rig->host.fail_at, 0);
}

/* What a device lacks is neither set nor linked. */
static void device_without_features_leaves_the_chain(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.apiVersion = VK_API_VERSION_1_1;
    profile.extensionCount = 0;
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = &profile, .api_version = VK_API_VERSION_1_1});
    struct chain chain;
    begin_chain(&chain, PART_TIMELINE | PART_FEATURES_2);
    MaarDeviceRecommendation* const recommendation = new_recommendation(&chain);
    assert_int_equal(recommend(rig, recommendation), VK_SUCCESS);
    assert_int_equal(chain.timeline.timelineSemaphore, VK_FALSE);
    assert_ptr_equal(recommendation->pFeatures, &chain.timeline);
    assert_ptr_equal(chain.timeline.pNext, &chain.core);
    assert_null(chain.core.pNext);
}

static bool names(const MaarDeviceRecommendation* recommendation, const char* extension)
{
    for (uint32_t i = 0; i < recommendation->extensionCount; ++i) {
        if (strcmp(recommendation->ppExtensionNames[i], extension) == 0) {
            return true;
        }
    }
    return false;
}

/* VK_EXT_pageable_device_local_memory depends on VK_EXT_memory_priority. */
static void extension_is_named_with_what_it_depends_on(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.extensionCount = 1;
    (void)strcpy(profile.extensions[0], VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME);
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = &profile});
    assert_false(names(&rig->recommendation, VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME));
    rig_close(rig);
    rig_open(rig, NULL);
    assert_true(names(&rig->recommendation, VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME));
    assert_true(names(&rig->recommendation, VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(features_of_versions_are_set_in_the_programs_structures),
        rig_unit_test(each_chain_enables_what_a_chain_of_its_own_enables),
        rig_unit_test(core_features_beside_the_chain_are_set_there),
        rig_unit_test(second_call_begins_with_the_programs_chain),
        rig_unit_test(failing_call_leaves_the_chain),
        rig_unit_test(extension_is_named_with_what_it_depends_on),
        rig_unit_test(device_without_features_leaves_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
