/*
 * Recommendations that go into a chain of the program, on real drivers: vkCreateDevice takes each
 * chain, and the validation layer, which knows Vulkan's rules of feature structures, reports
 * nothing.
 */
#include "tests/rig/rig.h"

static struct rig rig;

static int open_rig(void** state)
{
    *state = rig_open_vulkan(&rig, NULL, rig_is("lavapipe")) ? &rig : NULL;
    return 0;
}

static void create_and_destroy_device(const void* chain, const VkPhysicalDeviceFeatures* core)
{
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = chain,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = rig.recommendation.extensionCount,
        .ppEnabledExtensionNames = rig.recommendation.ppExtensionNames,
        .pEnabledFeatures = core,
    };
    VkDevice device = VK_NULL_HANDLE;
    assert_int_equal(vkCreateDevice(rig.physical, &info, NULL, &device), VK_SUCCESS);
    vkDestroyDevice(device, NULL);
}

/* The structures of the versions that a program chains; `versions` has a bit for each. */
struct versions {
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
};

static void* chain_versions(struct versions* v, unsigned versions)
{
    memset(v, 0, sizeof *v);
    v->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    v->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    v->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    VkBaseOutStructure* const all[] = {(void*)&v->v11, (void*)&v->v12, (void*)&v->v13};
    VkBaseOutStructure* head = NULL;
    for (unsigned i = 0; i < 3; ++i) {
        if ((versions >> i & 1U) != 0) {
            all[i]->pNext = head;
            head = all[i];
        }
    }
    return head;
}

static MaarDeviceRecommendation* recommend_into(MaarFeatureChainInfo* chain)
{
    static MaarDeviceRecommendation recommendation;
    memset(&recommendation, 0, sizeof recommendation);
    recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    recommendation.pNext = chain;
    assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig.instance, rig.physical, NULL,
                                         &recommendation),
                     VK_SUCCESS);
    return &recommendation;
}

/* The layer knows the rule: the recommendation's own chain and the version's structure together. */
static void both_forms_in_one_chain_are_heard(void** state)
{
    rig_need(state, *state == NULL || rig.validated, "the validation layer is not installed");
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = rig.recommendation.pFeatures,
    };
    create_and_destroy_device(&v12, NULL);
    assert_true(atomic_load(&rig.validation_count) > 0);
    atomic_store(&rig.validation_count, 0);
}

static void merged_chains_are_valid(void** state)
{
    rig_need(state, true, "");
    for (unsigned versions = 0; versions < 8; ++versions) {
        struct versions own;
        MaarFeatureChainInfo chain = {.sType = MAAR_STRUCTURE_TYPE_FEATURE_CHAIN_INFO,
                                      .pFeatures = chain_versions(&own, versions)};
        create_and_destroy_device(recommend_into(&chain)->pFeatures, NULL);
        VkPhysicalDeviceFeatures core = {.robustBufferAccess = VK_TRUE};
        chain.pFeatures = chain_versions(&own, versions);
        chain.pEnabledFeatures = &core;
        create_and_destroy_device(recommend_into(&chain)->pFeatures, &core);
        assert_int_equal(atomic_load(&rig.validation_count), 0);
        if ((versions & 2U) != 0) {
            assert_int_equal(own.v12.timelineSemaphore,
                             rig.recommendation.timelineSemaphore.timelineSemaphore);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_forms_in_one_chain_are_heard, open_rig, rig_teardown),
        cmocka_unit_test_setup_teardown(merged_chains_are_valid, open_rig, rig_teardown),
    };
    /* Without any device every case would be skipped: say so to ctest. */
    if (!rig_open_vulkan(&rig, NULL, rig_is("lavapipe"))) {
        return 77;
    }
    rig_close(&rig);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
