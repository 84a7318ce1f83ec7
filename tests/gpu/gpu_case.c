/*
 * Opening a device for a check on a GPU, and its report; see gpu_case.h.
 */
#include "gpu_case.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maar/volk.h"
#include "tests/fakes/fake_control.h"
#include "tests/fakes/semaphore_wrap.h"

#if MAAR_HAS_KERNELS
#include "kernels/gpu_kernels_cu.h"
#endif

struct gpu_options {
    const char* device;  /* a part of its name */
    const char* library; /* NULL: the CUDA driver's */
    const char* row;
    bool quick;
};

void gpu_fail(struct gpu_case* gpu, const char* format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ++gpu->failures;
    printf(gpu->row != NULL ? " **FAILED: %s** " : "\n**FAILED: %s**\n\n", text);
    (void)fprintf(stderr, "%s: failed: %s\n", gpu->program, text);
}

const char* gpu_cuda_name(const struct gpu_case* gpu, int result)
{
    const char* name = NULL;
    (void)gpu->driver.cuGetErrorName((enum maar_cuda_result)result, &name);
    return name != NULL ? name : "an error without a name";
}

bool gpu_vk(struct gpu_case* gpu, VkResult result, const char* what)
{
    if (result != VK_SUCCESS) {
        gpu_fail(gpu, "%s: %s; %s", what, maarGetResultName(result), gpu->message);
    }
    return result == VK_SUCCESS;
}

bool gpu_cu(struct gpu_case* gpu, int result, const char* what)
{
    if (result != 0) {
        gpu_fail(gpu, "%s: %s (%d)", what, gpu_cuda_name(gpu, result), result);
    }
    return result == 0;
}

static int skip_check(const struct gpu_case* gpu, const char* reason)
{
    printf("\nSkipped: %s\n", reason);
    (void)fprintf(stderr, "%s: skipped: %s\n", gpu->program, reason);
    return GPU_EXIT_SKIPPED;
}

static void VKAPI_PTR keep_last_message(void* user, const MaarMessage* report)
{
    struct gpu_case* gpu = user;
    if (report->severity == MAAR_MESSAGE_SEVERITY_ERROR ||
        (report->severity == MAAR_MESSAGE_SEVERITY_WARNING && gpu->is_closing)) {
        (void)snprintf(gpu->message, sizeof gpu->message, "%s", report->pText);
    }
}

/* ---- the Vulkan device ---- */

static int rank_physical(VkPhysicalDevice physical, const char* name)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (name != NULL && strstr(properties.deviceName, name) == NULL) {
        return -1;
    }
    return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 3
           : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 2
           : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU            ? 0
                                                                             : 1;
}

static int open_physical(struct gpu_case* gpu, const char* name)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = gpu->program,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    int best = -1;
    if (volkInitialize() != VK_SUCCESS) {
        return skip_check(gpu, "no Vulkan loader (libvulkan.so.1)");
    }
    if (vkCreateInstance(&info, NULL, &gpu->instance) != VK_SUCCESS) {
        return skip_check(gpu, "no Vulkan driver gives an instance");
    }
    volkLoadInstance(gpu->instance);
    if (vkEnumeratePhysicalDevices(gpu->instance, &count, devices) < VK_SUCCESS) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const int rank = rank_physical(devices[i], name);
        if (rank > best) {
            best = rank;
            gpu->physical = devices[i];
        }
    }
    if (best < 0) {
        return skip_check(gpu, "no Vulkan device, or none of that name");
    }
    vkGetPhysicalDeviceProperties(gpu->physical, &gpu->properties);
    return GPU_EXIT_OK;
}

enum { MOST_FAMILIES = 3, MOST_KNOWN_FAMILIES = 16 };

/* A family for the side queue: one that copies and binds, best without the other engines. The main
 * family, if it has two queues and there is no other; UINT32_MAX: none. */
static uint32_t choose_side_family(const struct gpu_case* gpu)
{
    VkQueueFamilyProperties families[MOST_KNOWN_FAMILIES];
    uint32_t count = MOST_KNOWN_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &count, families);
    const uint32_t main_family = gpu->advice.mainQueueFamily;
    const VkQueueFlags wanted = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
    uint32_t best = families[main_family].queueCount > 1 ? main_family : UINT32_MAX;
    for (uint32_t i = 0; i < count; ++i) {
        const bool fits = (families[i].queueFlags & wanted) == wanted && i != main_family;
        const bool copies_alone =
            (families[i].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) == 0;
        if (fits && (best == UINT32_MAX || best == main_family || copies_alone)) {
            best = i;
        }
    }
    return best;
}

/* The queues to create, one information a family; returns how many. queues[0] and queues[1] are
 * those of the main queue and of the one that binds, if that is another. */
static uint32_t list_queues(const struct gpu_case* gpu, uint32_t* families,
                            VkDeviceQueueCreateInfo* queues)
{
    static const float priorities[2] = {1.0f, 1.0f};
    uint32_t count = gpu->queue_count;
    uint32_t place = 0;
    families[count] = gpu->side_family;
    while (gpu->side_family != UINT32_MAX && families[place] != gpu->side_family) {
        ++place;
    }
    count += place == count && gpu->side_family != UINT32_MAX ? 1 : 0;
    for (uint32_t i = 0; i < count; ++i) {
        queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = families[i],
                                              .queueCount = 1,
                                              .pQueuePriorities = priorities};
    }
    if (gpu->side_family == gpu->advice.mainQueueFamily) {
        queues[0].queueCount = 2;
    }
    return count;
}

static int create_gpu_device(struct gpu_case* gpu)
{
    gpu->advice.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    if (maarRecommendDevice(vkGetInstanceProcAddr, gpu->instance, gpu->physical, NULL,
                            &gpu->advice) != VK_SUCCESS ||
        gpu->advice.mainQueueFamily == UINT32_MAX) {
        return skip_check(gpu, "the device has no queue for this");
    }
    uint32_t families[MOST_FAMILIES] = {gpu->advice.mainQueueFamily, gpu->advice.sparseQueueFamily};
    gpu->queue_count = families[1] == UINT32_MAX || families[1] == families[0] ? 1 : 2;
    gpu->binding = families[1] == UINT32_MAX ? UINT32_MAX : gpu->queue_count - 1;
    VkDeviceQueueCreateInfo queues[MOST_FAMILIES];
    gpu->side_family = choose_side_family(gpu);
    const uint32_t family_count = list_queues(gpu, families, queues);
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = gpu->advice.pFeatures,
                                     .queueCreateInfoCount = family_count,
                                     .pQueueCreateInfos = queues,
                                     .enabledExtensionCount = gpu->advice.extensionCount,
                                     .ppEnabledExtensionNames = gpu->advice.ppExtensionNames};
    if (!gpu_vk(gpu, vkCreateDevice(gpu->physical, &info, NULL, &gpu->device), "vkCreateDevice")) {
        return GPU_EXIT_FAILED;
    }
    volkLoadDevice(gpu->device);
    for (uint32_t i = 0; i < gpu->queue_count; ++i) {
        gpu->queues[i].familyIndex = families[i];
        vkGetDeviceQueue(gpu->device, families[i], 0, &gpu->queues[i].queue);
    }
    if (gpu->side_family != UINT32_MAX) {
        vkGetDeviceQueue(gpu->device, gpu->side_family, gpu->side_family == families[0] ? 1 : 0,
                         &gpu->side_queue);
    }
    return GPU_EXIT_OK;
}

/* With the FAKE driver lavapipe gets semaphores that can be exported; the names of its extensions
 * are then passed to Maar alone. */
static void wrap_semaphores(struct gpu_case* gpu, MaarAllocatorCreateInfo* info,
                            const char** extensions)
{
    memcpy(extensions, gpu->advice.ppExtensionNames, sizeof gpu->advice.ppExtensionNames);
    extensions[gpu->advice.extensionCount] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    info->enabledExtensionCount = gpu->advice.extensionCount + 1;
    info->ppEnabledExtensionNames = extensions;
    semaphore_wrap_open(gpu->instance, vkGetInstanceProcAddr, vkGetDeviceProcAddr,
                        SEMAPHORE_WRAP_ALL);
    info->pfnGetInstanceProcAddr = semaphore_wrap_instance_function;
    info->pfnGetDeviceProcAddr = semaphore_wrap_device_function;
    vkQueueSubmit = (PFN_vkQueueSubmit)semaphore_wrap_device_function(gpu->device, "vkQueueSubmit");
    vkSignalSemaphore =
        (PFN_vkSignalSemaphore)semaphore_wrap_device_function(gpu->device, "vkSignalSemaphore");
    vkDestroySemaphore =
        (PFN_vkDestroySemaphore)semaphore_wrap_device_function(gpu->device, "vkDestroySemaphore");
}

static int create_gpu_allocator(struct gpu_case* gpu)
{
    const char* extensions[MAAR_MAX_RECOMMENDED_EXTENSIONS + 1];
    MaarAllocatorCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
                                    .apiVersion = VK_API_VERSION_1_3,
                                    .instance = gpu->instance,
                                    .physicalDevice = gpu->physical,
                                    .device = gpu->device,
                                    .enabledExtensionCount = gpu->advice.extensionCount,
                                    .ppEnabledExtensionNames = gpu->advice.ppExtensionNames,
                                    .pEnabledFeatures = gpu->advice.pFeatures,
                                    .queueCount = gpu->queue_count,
                                    .pQueues = gpu->queues,
                                    .pfnMessage = keep_last_message,
                                    .pMessageUserData = gpu};
    maarUseVolk(&info);
    if (gpu->fake) {
        wrap_semaphores(gpu, &info, extensions);
    }
    return gpu_vk(gpu, maarCreateAllocator(&info, &gpu->allocator), "maarCreateAllocator")
               ? GPU_EXIT_OK
               : GPU_EXIT_FAILED;
}

static int create_gpu_commands(struct gpu_case* gpu)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = gpu->queues[0].familyIndex};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    if (!gpu_vk(gpu, vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool),
                "vkCreateCommandPool") ||
        !gpu_vk(gpu, vkCreateSemaphore(gpu->device, &semaphore, NULL, &gpu->timeline),
                "vkCreateSemaphore")) {
        return GPU_EXIT_FAILED;
    }
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->pool,
        .commandBufferCount = 1};
    return gpu_vk(gpu, vkAllocateCommandBuffers(gpu->device, &commands, &gpu->commands),
                  "vkAllocateCommandBuffers")
               ? GPU_EXIT_OK
               : GPU_EXIT_FAILED;
}

/* ---- CUDA ---- */

/* A pointer to a function is none to an object; POSIX says that both have one form. */
static void find_symbol(void* library, const char* name, void* function)
{
    void* const found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

static void find_driver(struct gpu_case* gpu)
{
#define GPU_FIND(name, symbol, parameters)                                                         \
    find_symbol(gpu->library, #symbol, (void*)&gpu->driver.name);
    MAAR_CUDA_FUNCTIONS(GPU_FIND)
    MAAR_CUDA_OPTIONAL_FUNCTIONS(GPU_FIND)
#undef GPU_FIND
    find_symbol(gpu->library, "cuModuleLoadData", (void*)&gpu->launcher.load);
    find_symbol(gpu->library, "cuModuleGetFunction", (void*)&gpu->launcher.find);
    find_symbol(gpu->library, "cuLaunchKernel", (void*)&gpu->launcher.launch);
    find_symbol(gpu->library, "cuEventElapsedTime", (void*)&gpu->launcher.elapsed);
}

static void open_library(struct gpu_case* gpu, const char* path)
{
    const char* const name = path != NULL ? path : "libcuda.so.1";
    gpu->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (gpu->library == NULL) {
        (void)snprintf(gpu->no_cuda, sizeof gpu->no_cuda, "no CUDA driver: %s", dlerror());
        return;
    }
    fake_is_a_fake_fn is_a_fake = NULL;
    find_symbol(gpu->library, "maar_fake_cuda_is_a_fake", (void*)&is_a_fake);
    gpu->fake = is_a_fake != NULL;
    if (gpu->fake) {
        VkPhysicalDeviceIDProperties id = {.sType =
                                               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
        vkGetPhysicalDeviceProperties2(gpu->physical, &properties);
        is_a_fake()->set_uuid(0, id.deviceUUID);
        /* For a test of the checks: with a driver whose frees wait, they must notice it. */
        is_a_fake()->set_free_waits(getenv("MAAR_FAKE_FREE_WAITS") != NULL);
    }
}

static void load_gpu_kernels(struct gpu_case* gpu)
{
    struct gpu_launcher* launcher = &gpu->launcher;
    if (launcher->load == NULL || launcher->find == NULL || launcher->launch == NULL) {
        launcher->missing = "this driver launches no kernels";
        return;
    }
#if MAAR_HAS_KERNELS
    /* The image wants to lie as an object of the C library does. */
    void* const image = malloc(sizeof maar_kernels_gpu_kernels_cu);
    if (image != NULL) {
        memcpy(image, maar_kernels_gpu_kernels_cu, sizeof maar_kernels_gpu_kernels_cu);
        const int result = launcher->load(&launcher->module, image);
        if (result != 0) {
            launcher->module = NULL;
            launcher->missing = gpu_cuda_name(gpu, result);
        }
        free(image);
    }
#else
    launcher->missing = "built without nvcc";
#endif
}

static bool open_gpu_cuda(struct gpu_case* gpu, const char* path, uint32_t needs)
{
    const MaarCudaCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_CREATE_INFO,
        .flags = (needs & GPU_NEEDS_CUDA_MEMORY) != 0 ? MAAR_CUDA_CREATE_CUDA_MEMORY_BIT : 0,
        .pLibraryPath = path};
    const VkResult result = maarCreateCuda(gpu->allocator, &info, &gpu->cuda);
    if (result != VK_SUCCESS) {
        (void)snprintf(gpu->no_cuda, sizeof gpu->no_cuda, "%s", gpu->message);
        return false;
    }
    gpu->info.sType = MAAR_STRUCTURE_TYPE_CUDA_INFO;
    find_driver(gpu);
    if (!gpu_vk(gpu, maarGetCudaInfo(gpu->cuda, &gpu->info), "maarGetCudaInfo") ||
        !gpu_cu(gpu, (int)gpu->driver.cuCtxPushCurrent(gpu->info.pContext), "cuCtxPushCurrent") ||
        !gpu_cu(gpu, (int)gpu->driver.cuStreamCreate(&gpu->stream, MAAR_CUDA_STREAM_NON_BLOCKING),
                "cuStreamCreate")) {
        return false;
    }
    load_gpu_kernels(gpu);
    return true;
}

/* ---- the whole ---- */

static bool parse_gpu_options(struct gpu_options* options, int argc, char** argv)
{
    *options = (struct gpu_options){.device = NULL};
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            options->device = argv[++i];
        } else if (strcmp(argv[i], "--cuda-library") == 0 && i + 1 < argc) {
            options->library = argv[++i];
        } else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc) {
            options->row = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            options->quick = true;
        } else {
            (void)fprintf(stderr,
                          "Usage: %s [--device PART-OF-NAME] [--cuda-library FILE] [--quick]\n",
                          argv[0]);
            return false;
        }
    }
    return true;
}

/* Whether the first lines of a report are wanted. */
static bool is_whole(const struct gpu_case* gpu)
{
    return gpu->row == NULL || strcmp(gpu->row, "device") == 0;
}

static int open_all(struct gpu_case* gpu, const struct gpu_options* options, uint32_t needs)
{
    int code = open_physical(gpu, options->device);
    if (code == GPU_EXIT_OK) {
        open_library(gpu, options->library);
        if (gpu->fake && is_whole(gpu)) {
            printf("\nFAKE CUDA DRIVER: THIS IS NO GPU, AND NO FIGURE MEANS ANYTHING.\n");
        }
        code = create_gpu_device(gpu);
    }
    if (code == GPU_EXIT_OK) {
        code = create_gpu_allocator(gpu);
    }
    if (code == GPU_EXIT_OK) {
        code = create_gpu_commands(gpu);
    }
    if (code == GPU_EXIT_OK && gpu->library != NULL) {
        gpu->has_cuda = open_gpu_cuda(gpu, options->library, needs);
    }
    if (code == GPU_EXIT_OK && !gpu->has_cuda && (needs & GPU_NEEDS_CUDA) != 0) {
        code = skip_check(gpu, gpu->no_cuda);
    }
    return code;
}

int gpu_open(struct gpu_case* gpu, int argc, char** argv, uint32_t needs, const char* title)
{
    struct gpu_options options;
    memset(gpu, 0, sizeof *gpu);
    const char* const slash = strrchr(argv[0], '/');
    gpu->program = slash != NULL ? slash + 1 : argv[0];
    if (!parse_gpu_options(&options, argc, argv)) {
        return GPU_EXIT_USAGE;
    }
    gpu->quick = options.quick;
    gpu->row = options.row;
    /* What was printed before a fault, or before a limit, is to be seen. */
    (void)setvbuf(stdout, NULL, gpu->row == NULL ? _IOLBF : _IONBF, BUFSIZ);
    if (gpu->row == NULL) {
        printf("## %s\n", title);
    }
    const int code = open_all(gpu, &options, needs);
    if (code == GPU_EXIT_OK && is_whole(gpu)) {
        printf("\n%s%s%s\n\n", gpu->properties.deviceName, gpu->has_cuda ? "; in CUDA " : "",
               gpu->has_cuda ? gpu->info.deviceName : "");
    }
    return code;
}

static void close_gpu_cuda(struct gpu_case* gpu)
{
    struct maar_cuda_context* popped = NULL;
    if (gpu->stream != NULL) {
        (void)gpu->driver.cuStreamSynchronize(gpu->stream);
        (void)gpu->driver.cuStreamDestroy(gpu->stream);
    }
    if (gpu->cuda != VK_NULL_HANDLE) {
        (void)gpu->driver.cuCtxPopCurrent(&popped);
        maarDestroyCuda(gpu->cuda);
    }
}

int gpu_close(struct gpu_case* gpu)
{
    if (gpu->device != VK_NULL_HANDLE) {
        (void)vkDeviceWaitIdle(gpu->device);
    }
    close_gpu_cuda(gpu);
    if (gpu->allocator != VK_NULL_HANDLE) {
        vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
        gpu->message[0] = '\0';
        gpu->is_closing = true;
        maarDestroyAllocator(gpu->allocator);
        if (gpu->message[0] != '\0') {
            gpu_fail(gpu, "maarDestroyAllocator: %s", gpu->message);
        }
        vkDestroySemaphore(gpu->device, gpu->timeline, NULL);
    }
    if (gpu->fake && gpu->allocator != VK_NULL_HANDLE) {
        const uint32_t breaches = semaphore_wrap_breach_count();
        const uint32_t kept = semaphore_wrap_close();
        if (breaches != 0 || kept != 0) {
            gpu_fail(gpu, "FAKE semaphores: %u breaches of the rules, %u not destroyed", breaches,
                     kept);
        }
    }
    if (gpu->device != VK_NULL_HANDLE) {
        vkDestroyDevice(gpu->device, NULL);
    }
    if (gpu->instance != VK_NULL_HANDLE) {
        vkDestroyInstance(gpu->instance, NULL);
    }
    return gpu->failures == 0 ? GPU_EXIT_OK : GPU_EXIT_FAILED;
}
