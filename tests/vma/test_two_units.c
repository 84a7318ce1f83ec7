/*
 * Two libraries with an implementation unit each, in one process: each uses its own.
 */
#include "tests/rig/rig.h"

#include <dlfcn.h>

typedef VkResult (*use_function)(PFN_vkGetInstanceProcAddr, VkInstance, VkPhysicalDevice, VkDevice);

static void two_units_serve_side_by_side(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    use_function use[2];
    void* modules[2];
    rig_open(rig, NULL);
    const char* const paths[2] = {MAAR_FIRST_MODULE, MAAR_SECOND_MODULE};
    for (uint32_t i = 0; i < 2; ++i) {
        modules[i] = dlopen(paths[i], RTLD_NOW | RTLD_GLOBAL);
        assert_non_null(modules[i]);
        void* const found = dlsym(modules[i], "use_module");
        assert_non_null(found);
        memcpy(&use[i], &found, sizeof found);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(
            use[i % 2](vkGetInstanceProcAddr, rig->instance, rig->physical, rig->device),
            VK_SUCCESS);
    }
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), 4);
    assert_int_equal(rig_calls(rig, "vkDestroyBuffer"), 4);
    assert_int_equal(dlclose(modules[1]), 0);
    assert_int_equal(dlclose(modules[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(two_units_serve_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
