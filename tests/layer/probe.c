/*
 * layer_probe MODE [NUMBER]: what the tests of the layer run.
 *
 *   pointers         prints the module and the offset of each function that standard input names
 *   instance-pointers  the same of vkGetInstanceProcAddr
 *   everything       calls all that the layer records, and prints what it did
 *   excess           asks for more memory than there can be
 *   loads N          creates and destroys an instance and a device N times
 *   threads N        N threads create, bind and destroy
 *   busy N           allocates and frees N times; below 0, until it is killed
 *   fork             a child of a fork opens a device, too
 *   exit             exits while threads still work
 *   devices          opens every physical device, twice
 *   closed           closes all descriptors that it does not know
 *   loaded           prints whether the layer's library is loaded
 *   unasked-names    names a buffer, although the instance has not enabled VK_EXT_debug_utils
 *   uses             uses resources by commands, and prints how
 *   command-cost N   prints the nanoseconds of a command that names a buffer, of N
 *   cost N           prints the nanoseconds of N buffers created, bound and destroyed
 */
#include "probe.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEVICES = 16, MOST_THREADS = 4096 };

void probe_check(bool holds, const char* what)
{
    if (!holds) {
        fprintf(stderr, "layer_probe: %s\n", what);
        exit(1);
    }
}

static bool instance_has(const char* name)
{
    VkExtensionProperties list[128];
    uint32_t count = 128;
    (void)vkEnumerateInstanceExtensionProperties(NULL, &count, list);
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(list[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool device_has(VkPhysicalDevice physical, const char* name)
{
    VkExtensionProperties list[512];
    uint32_t count = 512;
    (void)vkEnumerateDeviceExtensionProperties(physical, NULL, &count, list);
    for (uint32_t i = 0; i < count; ++i) {
        if (strcmp(list[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

void probe_open_instance(struct probe* probe)
{
    const char* names[8];
    const bool wants_names = !probe->is_unasked;
    uint32_t count = 0;
    if (volkInitialize() != VK_SUCCESS) {
        printf("skipped: no Vulkan loader\n");
        exit(PROBE_SKIPPED);
    }
    probe->has_debug_utils = wants_names && instance_has(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    probe->has_headless = instance_has(VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME);
    if (probe->has_debug_utils) {
        names[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    }
    if (probe->has_headless) {
        names[count++] = VK_KHR_SURFACE_EXTENSION_NAME;
        names[count++] = VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME;
    }
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "layer probe",
        .pEngineName = "none",
        .apiVersion = VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = names,
    };
    probe_check(vkCreateInstance(&info, NULL, &probe->instance) == VK_SUCCESS, "no instance");
    volkLoadInstanceOnly(probe->instance);
}

/* Opens the device with timelines and synchronization2, which all drivers of the tests have. */
void probe_open_device(struct probe* probe, uint32_t index)
{
    VkPhysicalDevice list[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    const char* names[8];
    uint32_t name_count = 0;
    const float priority = 1.0F;
    VkPhysicalDeviceFeatures has;
    VkPhysicalDeviceProperties properties;
    probe_check(vkEnumeratePhysicalDevices(probe->instance, &count, list) >= 0, "no list");
    probe_check(index < count, "no such physical device");
    probe->physical = list[index];
    vkGetPhysicalDeviceFeatures(probe->physical, &has);
    vkGetPhysicalDeviceProperties(probe->physical, &properties);
    probe->version = properties.apiVersion;
    probe->has_sparse = has.sparseBinding && has.sparseResidencyImage2D;
    probe->has_swapchain =
        probe->has_headless && device_has(probe->physical, VK_KHR_SWAPCHAIN_EXTENSION_NAME);
    if (probe->has_swapchain) {
        names[name_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    }
    probe->has_push = device_has(probe->physical, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    if (probe->has_push) {
        names[name_count++] = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    }
    const VkPhysicalDeviceFeatures wanted = {
        .sparseBinding = probe->has_sparse,
        .sparseResidencyBuffer = probe->has_sparse && has.sparseResidencyBuffer,
        .sparseResidencyImage2D = probe->has_sparse,
    };
    VkPhysicalDeviceVulkan13Features newer = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE,
        .dynamicRendering = VK_TRUE};
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &newer,
        .timelineSemaphore = VK_TRUE,
        .imagelessFramebuffer = VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = name_count,
        .ppEnabledExtensionNames = names,
        .pEnabledFeatures = &wanted,
    };
    probe_check(vkCreateDevice(probe->physical, &info, NULL, &probe->device) == VK_SUCCESS,
                "no device");
    volkLoadDeviceTable(&probe->call, probe->device);
    probe->call.vkGetDeviceQueue(probe->device, 0, 0, &probe->queue);
}

void probe_close(struct probe* probe)
{
    if (probe->device != NULL) {
        probe->call.vkDestroyDevice(probe->device, NULL);
    }
    vkDestroyInstance(probe->instance, NULL);
}

VkBuffer probe_create_buffer(const struct probe* probe, VkDeviceSize size,
                             VkMemoryRequirements* needs)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    probe_check(probe->call.vkCreateBuffer(probe->device, &info, NULL, &buffer) == VK_SUCCESS,
                "no buffer");
    probe->call.vkGetBufferMemoryRequirements(probe->device, buffer, needs);
    return buffer;
}

VkDeviceMemory probe_allocate(const struct probe* probe, const VkMemoryRequirements* needs,
                              const void* chain)
{
    uint32_t type = 0;
    while ((needs->memoryTypeBits >> type & 1U) == 0) {
        ++type;
    }
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = chain,
        .allocationSize = needs->size,
        .memoryTypeIndex = type,
    };
    VkDeviceMemory memory = VK_NULL_HANDLE;
    probe_check(probe->call.vkAllocateMemory(probe->device, &info, NULL, &memory) == VK_SUCCESS,
                "no memory");
    return memory;
}

static void open_probe(struct probe* probe)
{
    memset(probe, 0, sizeof(*probe));
    probe_open_instance(probe);
    probe_open_device(probe, 0);
}

static void print_pointer(const char* name, PFN_vkVoidFunction function)
{
    Dl_info found;
    void* address = NULL;
    memcpy(&address, &function, sizeof(address));
    if (function == NULL) {
        printf("%s none\n", name);
    } else if (dladdr(address, &found) != 0) {
        const char* const slash = strrchr(found.dli_fname, '/');
        printf("%s %s+0x%zx\n", name, slash != NULL ? slash + 1 : found.dli_fname,
               (size_t)((char*)address - (char*)found.dli_fbase));
    } else {
        printf("%s ?\n", name);
    }
}

/* Reads the names of functions, one a line. */
static int print_pointers(struct probe* probe)
{
    char name[256];
    while (fgets(name, sizeof(name), stdin) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        print_pointer(name, vkGetDeviceProcAddr(probe->device, name));
    }
    return 0;
}

static int print_instance_pointers(struct probe* probe)
{
    char name[256];
    while (fgets(name, sizeof(name), stdin) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        print_pointer(name, vkGetInstanceProcAddr(probe->instance, name));
    }
    return 0;
}

static void use_buffer(const struct probe* probe, VkDeviceMemory memory)
{
    VkMemoryRequirements needs;
    const VkBuffer buffer = probe_create_buffer(probe, 4096, &needs);
    (void)probe->call.vkBindBufferMemory(probe->device, buffer, memory, 0);
    probe->call.vkDestroyBuffer(probe->device, buffer, NULL);
}

struct worker {
    const struct probe* probe;
    long rounds; /* below 0: for ever */
};

static void* work(void* context)
{
    const struct worker* const worker = context;
    const VkMemoryRequirements needs = {.size = 65536, .alignment = 256, .memoryTypeBits = 1};
    for (long i = 0; worker->rounds < 0 || i < worker->rounds; ++i) {
        const VkDeviceMemory memory = probe_allocate(worker->probe, &needs, NULL);
        for (int j = 0; j < 8; ++j) {
            use_buffer(worker->probe, memory);
        }
        worker->probe->call.vkFreeMemory(worker->probe->device, memory, NULL);
    }
    return NULL;
}

static void start_threads(const struct worker* worker, pthread_t* threads, long count)
{
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, (size_t)128 * 1024);
    for (long i = 0; i < count; ++i) {
        probe_check(pthread_create(&threads[i], &attributes, work, (void*)(uintptr_t)worker) == 0,
                    "no thread");
    }
    (void)pthread_attr_destroy(&attributes);
}

static int run_threads(struct probe* probe, long count)
{
    static pthread_t threads[MOST_THREADS];
    static struct worker worker;
    worker = (struct worker){probe, 20};
    probe_check(count > 0 && count <= MOST_THREADS, "too many threads");
    start_threads(&worker, threads, count);
    for (long i = 0; i < count; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    return 0;
}

/* The process exits while threads allocate; the driver is not unloaded then. */
static int exit_early(struct probe* probe)
{
    static pthread_t threads[4];
    static struct worker worker;
    worker = (struct worker){probe, -1};
    start_threads(&worker, threads, 4);
    const struct timespec pause = {.tv_nsec = 200000000};
    (void)nanosleep(&pause, NULL);
    exit(0);
}

static int run_loads(long count)
{
    for (long i = 0; i < count; ++i) {
        struct probe probe;
        open_probe(&probe);
        probe_close(&probe);
    }
    return 0;
}

static int run_fork(void)
{
    struct probe probe;
    open_probe(&probe);
    const pid_t child = fork();
    if (child == 0) {
        struct probe inner;
        open_probe(&inner);
        (void)work(&(struct worker){&inner, 3});
        probe_close(&inner);
        exit(5);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    (void)work(&(struct worker){&probe, 2});
    probe_close(&probe);
    return WEXITSTATUS(status) == 5 ? 0 : 1;
}

static int run_devices(void)
{
    struct probe probes[2 * MOST_DEVICES] = {0};
    uint32_t count = 0;
    for (uint32_t round = 0; round < 2; ++round) {
        uint32_t devices = 0;
        probe_open_instance(&probes[count]);
        (void)vkEnumeratePhysicalDevices(probes[count].instance, &devices, NULL);
        probe_check(devices > 0 && devices <= MOST_DEVICES, "number of devices");
        for (uint32_t i = 0; i < devices; ++i) {
            probes[count + i] = probes[count];
            probe_open_device(&probes[count + i], i);
            (void)work(&(struct worker){&probes[count + i], 1 + (long)i});
        }
        for (uint32_t i = devices; i-- > 0;) {
            probes[count + i].call.vkDestroyDevice(probes[count + i].device, NULL);
        }
        printf("devices %u\n", devices);
        ++count;
    }
    vkDestroyInstance(probes[0].instance, NULL);
    vkDestroyInstance(probes[1].instance, NULL);
    return 0;
}

/* Closes what it does not know, opens a file in its place, and goes on. The file must stay as it
 * is. */
static int run_closed(struct probe* probe, const char* path)
{
    (void)work(&(struct worker){probe, 1});
    for (int i = 3; i < 1024; ++i) {
        (void)close(i);
    }
    FILE* files[300];
    for (size_t i = 0; i < 300; ++i) {
        files[i] = fopen(path, "r+");
        probe_check(files[i] != NULL, "no file");
    }
    (void)work(&(struct worker){probe, 3000});
    for (size_t i = 0; i < 300; ++i) {
        (void)fclose(files[i]);
    }
    return 0;
}

static int print_loaded(void)
{
    char line[4096];
    bool found = false;
    FILE* const file = fopen("/proc/self/maps", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        found = found || strstr(line, "VkLayer_maar_capture") != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    printf("%s\n", found ? "loaded" : "absent");
    return 0;
}

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int print_cost(struct probe* probe, long count)
{
    const VkMemoryRequirements needs = {.size = 65536, .alignment = 256, .memoryTypeBits = 1};
    const VkDeviceMemory memory = probe_allocate(probe, &needs, NULL);
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 4096,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    const double begin = cpu_seconds();
    for (long i = 0; i < count; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        (void)probe->call.vkCreateBuffer(probe->device, &info, NULL, &buffer);
        (void)probe->call.vkBindBufferMemory(probe->device, buffer, memory, 0);
        probe->call.vkDestroyBuffer(probe->device, buffer, NULL);
    }
    printf("%.1f\n", (cpu_seconds() - begin) * 1e9 / (double)count);
    probe->call.vkFreeMemory(probe->device, memory, NULL);
    return 0;
}

/* Some programs take the function from the device, whether or not they enabled the extension; the
 * loader has one for them. */
static int run_unasked_names(void)
{
    struct probe probe = {.is_unasked = true};
    VkMemoryRequirements needs;
    probe_open_instance(&probe);
    probe_open_device(&probe, 0);
    const PFN_vkSetDebugUtilsObjectNameEXT set_name =
        (PFN_vkSetDebugUtilsObjectNameEXT)vkGetDeviceProcAddr(probe.device,
                                                              "vkSetDebugUtilsObjectNameEXT");
    const VkBuffer buffer = probe_create_buffer(&probe, 4096, &needs);
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_BUFFER,
        .objectHandle = (uint64_t)(uintptr_t)buffer,
        .pObjectName = "unasked",
    };
    if (set_name == NULL) {
        printf("none\n");
    } else {
        printf("result %d\n", (int)set_name(probe.device, &info));
    }
    probe.call.vkDestroyBuffer(probe.device, buffer, NULL);
    probe_close(&probe);
    return 0;
}

/* Modes that open devices themselves. */
static int run_alone(const char* mode, long number)
{
    if (strcmp(mode, "loads") == 0) {
        return run_loads(number);
    }
    if (strcmp(mode, "fork") == 0) {
        return run_fork();
    }
    if (strcmp(mode, "unasked-names") == 0) {
        return run_unasked_names();
    }
    return strcmp(mode, "devices") == 0 ? run_devices() : -1;
}

static int run_mode(struct probe* probe, const char* mode, const char* argument)
{
    const long number = strtol(argument, NULL, 10);
    if (strcmp(mode, "pointers") == 0) {
        return print_pointers(probe);
    }
    if (strcmp(mode, "instance-pointers") == 0) {
        return print_instance_pointers(probe);
    }
    if (strcmp(mode, "everything") == 0) {
        return probe_everything(probe);
    }
    if (strcmp(mode, "uses") == 0) {
        return probe_uses(probe);
    }
    if (strcmp(mode, "command-cost") == 0) {
        return probe_command_cost(probe, number);
    }
    if (strcmp(mode, "excess") == 0) {
        return probe_excess(probe);
    }
    if (strcmp(mode, "threads") == 0) {
        return run_threads(probe, number);
    }
    if (strcmp(mode, "busy") == 0) {
        printf("ready\n");
        (void)fflush(stdout);
        (void)work(&(struct worker){probe, number});
        return 0;
    }
    if (strcmp(mode, "exit") == 0) {
        return exit_early(probe);
    }
    if (strcmp(mode, "closed") == 0) {
        return run_closed(probe, argument);
    }
    if (strcmp(mode, "loaded") == 0) {
        return print_loaded();
    }
    return strcmp(mode, "cost") == 0 ? print_cost(probe, number) : -1;
}

int main(int argc, char** argv)
{
    const char* const mode = argc > 1 ? argv[1] : "";
    const char* const argument = argc > 2 ? argv[2] : "0";
    int code = run_alone(mode, strtol(argument, NULL, 10));
    if (code < 0) {
        struct probe probe;
        open_probe(&probe);
        code = run_mode(&probe, mode, argument);
        probe_close(&probe);
    }
    if (code < 0) {
        fprintf(stderr, "layer_probe: unknown mode: %s\n", mode);
        return 2;
    }
    return code;
}
