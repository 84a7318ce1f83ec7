/*
 * Three libraries with an implementation unit each, in one process: each uses its own, and
 * structures of the version that it was written for.
 */
#include "tests/rig/rig.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

typedef VkResult (*use_function)(PFN_vkGetInstanceProcAddr, VkInstance, VkPhysicalDevice, VkDevice);

#ifdef _WIN32
static void* open_module(const char* path)
{
    char own[MAX_PATH];
    size_t length = 0;
    for (; path[length] != '\0' && length + 1 < sizeof own; ++length) {
        own[length] = path[length] == '/' ? '\\' : path[length];
    }
    own[length] = '\0';
    return LoadLibraryA(own);
}

static void* find_in_module(void* module, const char* name)
{
    const FARPROC found = GetProcAddress(module, name);
    void* address = NULL;
    memcpy(&address, &found, sizeof found);
    return address;
}

static bool close_module(void* module)
{
    return FreeLibrary(module) != 0;
}
#else
static void* open_module(const char* path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void* find_in_module(void* module, const char* name)
{
    return dlsym(module, name);
}

static bool close_module(void* module)
{
    return dlclose(module) == 0;
}
#endif

static void units_serve_side_by_side(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    use_function use[3];
    void* modules[3];
    rig_open(rig, NULL);
    const char* const paths[3] = {MAAR_FIRST_MODULE, MAAR_SECOND_MODULE, MAAR_OLDEST_MODULE};
    for (uint32_t i = 0; i < 3; ++i) {
        modules[i] = open_module(paths[i]);
        assert_non_null(modules[i]);
        void* const found = find_in_module(modules[i], "use_module");
        assert_non_null(found);
        memcpy(&use[i], &found, sizeof found);
    }
    for (uint32_t i = 0; i < 6; ++i) {
        assert_int_equal(
            use[i % 3](vkGetInstanceProcAddr, rig->instance, rig->physical, rig->device),
            VK_SUCCESS);
    }
    assert_int_equal(rig_calls(rig, "vkCreateBuffer"), 6);
    assert_int_equal(rig_calls(rig, "vkDestroyBuffer"), 6);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(close_module(modules[2 - i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(units_serve_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
