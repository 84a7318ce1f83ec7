/*
 * The stand-in for exportable semaphores over lavapipe: a FAKE CUDA stream and a real queue wait
 * for one another through it, and its rules are noticed when they are broken.
 */
#include "tests/fakes/fake_fixture.h"
#include "tests/fakes/semaphore_wrap.h"

struct wrapped {
    struct rig rig;
    struct maar_cuda_driver cuda;
    const struct fake_control* control;
    struct maar_cuda_context* context;
    PFN_vkCreateSemaphore create;
    PFN_vkDestroySemaphore destroy;
    PFN_vkGetSemaphoreFdKHR get_fd;
    PFN_vkImportSemaphoreFdKHR import_fd;
    PFN_vkQueueSubmit submit;
    PFN_vkWaitSemaphores wait;
    PFN_vkSignalSemaphore signal;
};

#define FIND(w, name) (PFN_##name) semaphore_wrap_device_function((w)->rig.device, #name)

static int setup_wrapped(void** state)
{
    const struct rig_setup setup = {.without_layer = true};
    struct wrapped* w = calloc(1, sizeof *w);
    assert_non_null(w);
    if (!rig_open_vulkan(&w->rig, &setup, false)) {
        free(w);
        return 0;
    }
    semaphore_wrap_open(w->rig.instance, vkGetInstanceProcAddr, vkGetDeviceProcAddr,
                        SEMAPHORE_WRAP_ALL);
    w->create = FIND(w, vkCreateSemaphore);
    w->destroy = FIND(w, vkDestroySemaphore);
    w->get_fd = FIND(w, vkGetSemaphoreFdKHR);
    w->import_fd = FIND(w, vkImportSemaphoreFdKHR);
    w->submit = FIND(w, vkQueueSubmit);
    w->wait = FIND(w, vkWaitSemaphores);
    w->signal = FIND(w, vkSignalSemaphore);
    w->control = fake_load_cuda(MAAR_FAKE_CUDA, &w->cuda);
    assert_int_equal(w->cuda.cuInit(0), 0);
    assert_int_equal(w->cuda.cuDevicePrimaryCtxRetain(&w->context, 0), 0);
    assert_int_equal(w->cuda.cuCtxPushCurrent(w->context), 0);
    *state = w;
    return 0;
}

static int teardown_wrapped(void** state)
{
    struct wrapped* w = *state;
    if (w == NULL) {
        return 0;
    }
    w->control->reset();
    vkDestroyDevice = FIND(w, vkDestroyDevice);
    rig_close(&w->rig);
    assert_int_equal(semaphore_wrap_close(), 0);
    free(w);
    return 0;
}

static struct wrapped* get_wrapped(void** state)
{
    if (*state == NULL) {
        skip();
    }
    return *state;
}

static VkSemaphore create_exportable(struct wrapped* w, VkSemaphoreType kind)
{
    const VkExportSemaphoreCreateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext = &exported,
        .semaphoreType = kind,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(w->create(w->rig.device, &info, NULL, &semaphore), VK_SUCCESS);
    return semaphore;
}

static int export_semaphore(struct wrapped* w, VkSemaphore semaphore)
{
    const VkSemaphoreGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = semaphore,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    int fd = -1;
    assert_int_equal(w->get_fd(w->rig.device, &info, &fd), VK_SUCCESS);
    return fd;
}

static struct maar_cuda_semaphore* import_to_cuda(struct wrapped* w, VkSemaphore semaphore,
                                                  enum maar_cuda_semaphore_handle_type type)
{
    const struct maar_cuda_semaphore_handle handle = {
        .type = type, .handle = {.fd = export_semaphore(w, semaphore)}};
    struct maar_cuda_semaphore* imported = NULL;
    assert_int_equal(w->cuda.cuImportExternalSemaphore(&imported, &handle), 0);
    return imported;
}

/* A submission that waits for one value and signals another; either semaphore may be null. */
static void submit(struct wrapped* w, VkSemaphore wait, uint64_t wait_value, VkSemaphore signal,
                   uint64_t signal_value)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreValues = &wait_value,
        .signalSemaphoreValueCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphoreValues = &signal_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphores = &wait,
        .pWaitDstStageMask = &stage,
        .signalSemaphoreCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphores = &signal,
    };
    assert_int_equal(w->submit(w->rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static void timeline_carries_rounds_both_ways(void** state)
{
    struct wrapped* w = get_wrapped(state);
    VkSemaphore semaphore = create_exportable(w, VK_SEMAPHORE_TYPE_TIMELINE);
    struct maar_cuda_semaphore* imported =
        import_to_cuda(w, semaphore, MAAR_CUDA_SEMAPHORE_TIMELINE_FD);
    uint64_t last = 0;
    for (uint64_t value = 1; value <= 400; value += 2) {
        const struct maar_cuda_semaphore_wait wait = {.value = value};
        const struct maar_cuda_semaphore_signal signal = {.value = value + 1};
        assert_int_equal(w->cuda.cuWaitExternalSemaphoresAsync(&imported, &wait, 1, NULL), 0);
        assert_int_equal(w->cuda.cuSignalExternalSemaphoresAsync(&imported, &signal, 1, NULL), 0);
        submit(w, value > 1 ? semaphore : VK_NULL_HANDLE, value - 1, semaphore, value);
        last = value + 1;
    }
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &last,
    };
    assert_int_equal(w->wait(w->rig.device, &wait, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(w->cuda.cuStreamSynchronize(NULL), 0);
    assert_int_equal(w->cuda.cuDestroyExternalSemaphore(imported), 0);
    w->destroy(w->rig.device, semaphore, NULL);
    fake_expect_no_breach(w->control);
}

static void binary_semaphore_goes_both_ways(void** state)
{
    struct wrapped* w = get_wrapped(state);
    VkSemaphore semaphores[2];
    struct maar_cuda_semaphore* imported[2];
    const struct maar_cuda_semaphore_wait wait = {.value = 0};
    const struct maar_cuda_semaphore_signal signal = {.value = 0};
    for (int i = 0; i < 2; ++i) {
        semaphores[i] = create_exportable(w, VK_SEMAPHORE_TYPE_BINARY);
        imported[i] = import_to_cuda(w, semaphores[i], MAAR_CUDA_SEMAPHORE_OPAQUE_FD);
    }
    for (int i = 0; i < 100; ++i) {
        submit(w, VK_NULL_HANDLE, 0, semaphores[0], 0);
        assert_int_equal(w->cuda.cuWaitExternalSemaphoresAsync(&imported[0], &wait, 1, NULL), 0);
        assert_int_equal(w->cuda.cuSignalExternalSemaphoresAsync(&imported[1], &signal, 1, NULL),
                         0);
        submit(w, semaphores[1], 0, VK_NULL_HANDLE, 0);
    }
    assert_int_equal(vkQueueWaitIdle(w->rig.queue), VK_SUCCESS);
    assert_int_equal(semaphore_wrap_breach_count(), 0);
    fake_expect_no_breach(w->control);
    for (int i = 0; i < 2; ++i) {
        w->destroy(w->rig.device, semaphores[i], NULL);
    }
}

static void binary_wait_without_signal_is_a_breach(void** state)
{
    struct wrapped* w = get_wrapped(state);
    VkSemaphore semaphore = create_exportable(w, VK_SEMAPHORE_TYPE_BINARY);
    struct maar_cuda_semaphore* imported =
        import_to_cuda(w, semaphore, MAAR_CUDA_SEMAPHORE_OPAQUE_FD);
    const struct maar_cuda_semaphore_wait wait = {.value = 0};
    const struct maar_cuda_semaphore_signal signal = {.value = 0};
    assert_int_equal(w->cuda.cuWaitExternalSemaphoresAsync(&imported, &wait, 1, NULL),
                     MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(w->control, "is waited for before its signal was submitted");
    submit(w, VK_NULL_HANDLE, 0, semaphore, 0);
    assert_int_equal(w->cuda.cuSignalExternalSemaphoresAsync(&imported, &signal, 1, NULL),
                     MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(w->control, "is signalled again before it was waited for");
    submit(w, VK_NULL_HANDLE, 0, semaphore, 0);
    assert_int_equal(semaphore_wrap_breach_count(), 1);
    assert_non_null(strstr(semaphore_wrap_last_breach(), "signalled again"));
    assert_int_equal(vkQueueWaitIdle(w->rig.queue), VK_SUCCESS);
    w->destroy(w->rig.device, semaphore, NULL);
}

static void imported_semaphore_is_the_same_one(void** state)
{
    struct wrapped* w = get_wrapped(state);
    VkSemaphore first = create_exportable(w, VK_SEMAPHORE_TYPE_TIMELINE);
    VkSemaphore second = rig_create_timeline(&w->rig, 0);
    const uint32_t before = rig_count_fds();
    VkImportSemaphoreFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
        .semaphore = second,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
        .fd = export_semaphore(w, first),
    };
    const uint64_t value = 5;
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = first, .value = value};
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &second,
        .pValues = &value,
    };
    assert_int_equal(w->import_fd(w->rig.device, &info), VK_SUCCESS);
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(w->signal(w->rig.device, &signal), VK_SUCCESS);
    assert_int_equal(w->wait(w->rig.device, &wait, 0), VK_SUCCESS);
    info.fd = dup(0);
    assert_int_equal(w->import_fd(w->rig.device, &info), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(fake_is_open(info.fd));
    assert_int_equal(close(info.fd), 0);
    w->destroy(w->rig.device, first, NULL);
    w->destroy(w->rig.device, second, NULL);
}

static void properties_are_what_was_asked_for(void** state)
{
    struct wrapped* w = get_wrapped(state);
    const PFN_vkGetPhysicalDeviceExternalSemaphoreProperties query =
        (PFN_vkGetPhysicalDeviceExternalSemaphoreProperties)semaphore_wrap_instance_function(
            w->rig.instance, "vkGetPhysicalDeviceExternalSemaphoreProperties");
    for (uint32_t kinds = 0; kinds <= SEMAPHORE_WRAP_ALL; ++kinds) {
        semaphore_wrap_open(w->rig.instance, vkGetInstanceProcAddr, vkGetDeviceProcAddr, kinds);
        for (uint32_t timeline = 0; timeline < 2; ++timeline) {
            const VkSemaphoreTypeCreateInfo type = {
                .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                .semaphoreType =
                    timeline != 0 ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY,
            };
            const VkPhysicalDeviceExternalSemaphoreInfo info = {
                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                .pNext = &type,
                .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
            };
            VkExternalSemaphoreProperties properties = {
                .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
            query(w->rig.physical, &info, &properties);
            const uint32_t wanted = timeline != 0 ? SEMAPHORE_WRAP_TIMELINE : SEMAPHORE_WRAP_BINARY;
            assert_int_equal(properties.externalSemaphoreFeatures != 0, (kinds & wanted) != 0);
        }
    }
}

/* A driver that gives the same handle out again and again. */
static uint32_t destroyed_below;

static VKAPI_ATTR VkResult VKAPI_CALL create_below(VkDevice device,
                                                   const VkSemaphoreCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkSemaphore* semaphore)
{
    (void)device, (void)info, (void)callbacks;
    *semaphore = (VkSemaphore)(uintptr_t)0x1000;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_below(VkDevice device, VkSemaphore semaphore,
                                                const VkAllocationCallbacks* callbacks)
{
    (void)device, (void)callbacks;
    destroyed_below += semaphore == (VkSemaphore)(uintptr_t)0x1000;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device_below(VkDevice device,
                                                       const VkAllocationCallbacks* callbacks)
{
    (void)device, (void)callbacks;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_below(VkInstance instance, const char* name)
{
    (void)instance;
    return strcmp(name, "vkCreateSemaphore") == 0    ? (PFN_vkVoidFunction)create_below
           : strcmp(name, "vkDestroySemaphore") == 0 ? (PFN_vkVoidFunction)destroy_below
           : strcmp(name, "vkDestroyDevice") == 0    ? (PFN_vkVoidFunction)destroy_device_below
                                                     : NULL;
}

static void handles_of_a_device_that_is_gone_mean_nothing(void** state)
{
    struct wrapped w = {.signal = NULL};
    int devices[2];
    (void)state;
    semaphore_wrap_open(VK_NULL_HANDLE, find_below, NULL, SEMAPHORE_WRAP_ALL);
    w.rig.device = (VkDevice)(void*)&devices[0];
    w.create = FIND(&w, vkCreateSemaphore);
    w.destroy = FIND(&w, vkDestroySemaphore);
    const PFN_vkDestroyDevice destroy_device = FIND(&w, vkDestroyDevice);
    const VkSemaphore old = create_exportable(&w, VK_SEMAPHORE_TYPE_TIMELINE);
    w.destroy(w.rig.device, old, NULL);
    assert_int_equal(destroyed_below, 0); /* imports may still mean it */
    destroy_device(w.rig.device, NULL);
    assert_int_equal(destroyed_below, 1);
    const VkSemaphoreCreateInfo plain = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    w.rig.device = (VkDevice)(void*)&devices[1];
    assert_int_equal(w.create(w.rig.device, &plain, NULL, &semaphore), VK_SUCCESS);
    assert_true(semaphore == old);
    w.destroy(w.rig.device, semaphore, NULL);
    assert_int_equal(destroyed_below, 2);
    assert_int_equal(semaphore_wrap_close(), 0);
}

/* As a program does that opens the loader by name. */
static void library_lists_the_extension_and_exports(void** state)
{
    PFN_vkGetInstanceProcAddr start = NULL;
    struct rig rig = {.simulated = false};
    (void)state;
    fake_find(fake_open_library(MAAR_FAKE_SEMAPHORE_LIBRARY), "vkGetInstanceProcAddr", &start);
    volkInitializeCustom(start);
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    if (vkCreateInstance(&info, NULL, &rig.instance) != VK_SUCCESS) {
        print_message("skipped: no driver gives an instance\n");
        skip();
    }
    volkLoadInstanceOnly(rig.instance);
    uint32_t count = 1;
    assert_true(vkEnumeratePhysicalDevices(rig.instance, &count, &rig.physical) >= VK_SUCCESS);
    rig.recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    assert_int_equal(
        maarRecommendDevice(start, rig.instance, rig.physical, NULL, &rig.recommendation),
        VK_SUCCESS);
    bool listed = false;
    for (uint32_t i = 0; i < rig.recommendation.extensionCount; ++i) {
        listed = listed || strcmp(rig.recommendation.ppExtensionNames[i],
                                  VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) == 0;
    }
    assert_true(listed);
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = rig.recommendation.mainQueueFamily,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = rig.recommendation.pFeatures,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = rig.recommendation.extensionCount,
        .ppEnabledExtensionNames = rig.recommendation.ppExtensionNames,
    };
    assert_int_equal(vkCreateDevice(rig.physical, &device, NULL, &rig.device), VK_SUCCESS);
    volkLoadDevice(rig.device);
    struct wrapped w = {.create = vkCreateSemaphore, .get_fd = vkGetSemaphoreFdKHR};
    w.rig.device = rig.device;
    VkSemaphore semaphore = create_exportable(&w, VK_SEMAPHORE_TYPE_TIMELINE);
    assert_int_equal(close(export_semaphore(&w, semaphore)), 0);
    vkDestroySemaphore(rig.device, semaphore, NULL);
    vkDestroyDevice(rig.device, NULL);
    vkDestroyInstance(rig.instance, NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_wrapped, teardown_wrapped)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(timeline_carries_rounds_both_ways),
        CASE(binary_semaphore_goes_both_ways),
        CASE(binary_wait_without_signal_is_a_breach),
        CASE(imported_semaphore_is_the_same_one),
        CASE(properties_are_what_was_asked_for),
        cmocka_unit_test(handles_of_a_device_that_is_gone_mean_nothing),
        cmocka_unit_test(library_lists_the_extension_and_exports),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
