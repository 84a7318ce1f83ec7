/*
 * test_layer_chain LAYER: the layer over a FAKE driver, without a loader. It depends on no library,
 * so that it runs as a 32-bit program, too.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "chain_driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/handle.h"
#include "layer/layer_newer.h"
#include "maar/capture_file.h"

#define CHECK(condition) check(condition, #condition, __LINE__)
#define TAKE(name) ((PFN_vk##name)take("vk" #name))

static VkNegotiateLayerInterface layer;
static VkInstance instance;
static VkDevice device;
static char folder[64];
static char capture_path[256];

static void check(bool holds, const char* what, int line)
{
    if (!holds) {
        fprintf(stderr, "test_layer_chain.c:%d: %s\n", line, what);
        exit(1);
    }
}

static PFN_vkVoidFunction take(const char* name)
{
    const PFN_vkVoidFunction function = layer.pfnGetDeviceProcAddr(device, name);
    CHECK(function != NULL);
    return function;
}

static void open_instance(void)
{
    VkLayerInstanceLink link = {NULL, chain_get_instance_function, NULL};
    VkLayerInstanceCreateInfo chain = {.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                                       .function = VK_LAYER_LINK_INFO,
                                       .u.pLayerInfo = &link};
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &chain,
                                       .pApplicationInfo = &application};
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)layer.pfnGetInstanceProcAddr(NULL, "vkCreateInstance");
    CHECK(create != NULL);
    CHECK(create(&info, NULL, &instance) == VK_SUCCESS);
    CHECK(chain.u.pLayerInfo == NULL); /* moved on */
}

static VkDevice open_device(void)
{
    VkLayerDeviceLink link = {NULL, chain_get_instance_function, chain_get_device_function};
    VkLayerDeviceCreateInfo chain = {.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                                     .function = VK_LAYER_LINK_INFO,
                                     .u.pLayerInfo = &link};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &chain};
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)layer.pfnGetInstanceProcAddr(instance, "vkCreateDevice");
    VkDevice made = NULL;
    CHECK(create(chain_physical_device(instance), &info, NULL, &made) == VK_SUCCESS);
    return made;
}

/* Reads the first entry of a kind, from the n-th one on. Returns false if there is none. */
static bool find_entry(uint16_t kind, size_t skip, void* out, size_t size)
{
    struct stat status;
    const int number = open(capture_path, O_RDONLY);
    CHECK(number >= 0 && fstat(number, &status) == 0);
    const size_t length = (size_t)status.st_size;
    const uint8_t* const file = mmap(NULL, length, PROT_READ, MAP_SHARED, number, 0);
    CHECK((const void*)file != MAP_FAILED);
    bool found = false;
    memset(out, 0, size);
    for (size_t at = MAAR_CAPTURE_HEADER_SIZE; at + 64 <= length && !found; at += 64) {
        MaarCaptureRecord record;
        memcpy(&record, file + at, sizeof(record));
        if (record.kind == kind && skip-- == 0) {
            size_t done = size < sizeof(record.payload) ? size : sizeof(record.payload);
            memcpy(out, record.payload, done);
            for (size_t i = 1; done < size && i <= record.continuations; ++i) {
                const size_t step = size - done < MAAR_CAPTURE_NEXT_PAYLOAD
                                        ? size - done
                                        : MAAR_CAPTURE_NEXT_PAYLOAD;
                memcpy((uint8_t*)out + done, file + at + 64 * i + 8, step);
                done += step;
            }
            found = true;
        }
    }
    (void)munmap((void*)(uintptr_t)file, length);
    (void)close(number);
    return found;
}

static VkDeviceMemory allocate(const void* chain)
{
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = chain,
                                       .allocationSize = 12345,
                                       .memoryTypeIndex = 1};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    (void)TAKE(AllocateMemory)(device, &info, NULL, &memory);
    return memory;
}

static void test_negotiation(PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate)
{
    layer.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT;
    layer.loaderLayerInterfaceVersion = 1;
    CHECK(negotiate(&layer) == VK_ERROR_INITIALIZATION_FAILED);
    CHECK(negotiate(NULL) == VK_ERROR_INITIALIZATION_FAILED);
    layer.loaderLayerInterfaceVersion = 7;
    CHECK(negotiate(&layer) == VK_SUCCESS);
    CHECK(layer.loaderLayerInterfaceVersion == 2);
    CHECK(layer.pfnGetPhysicalDeviceProcAddr == NULL);
    CHECK(layer.pfnGetInstanceProcAddr(NULL, "vkDestroyBuffer") == NULL);
}

static void test_pointers(void)
{
    const PFN_vkGetDeviceProcAddr get = layer.pfnGetDeviceProcAddr;
    CHECK(get(device, "vkNothing") == NULL);
    CHECK(get(device, "vkCreateImage") == NULL); /* intercepted; the driver has none */
    CHECK(get(device, "vkMapMemory2") == NULL);
    CHECK(get(device, "vkCmdDraw") == chain_get_device_function(device, "vkCmdDraw"));
    CHECK(get(device, "vkFreeMemory") != chain_get_device_function(device, "vkFreeMemory"));
    CHECK(layer.pfnGetInstanceProcAddr(instance, "vkNothing") == NULL);
    chain_driver.has_newer_map = true;
    CHECK(get(device, "vkMapMemory2") != NULL);
}

static void test_memory(void)
{
    MaarCaptureMemory entry;
    const VkExportMemoryAllocateInfo exported = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};
    const VkImportMemoryFdInfoKHR imported = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                              .pNext = &exported,
                                              .handleType =
                                                  VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .pNext = &imported,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryPriorityAllocateInfoEXT priority = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT,
        .pNext = &flags,
        .priority = 0.75F};
    const VkDeviceMemory memory = allocate(&priority);
    CHECK(find_entry(MAAR_CAPTURE_KIND_MEMORY, 0, &entry, sizeof(entry)));
    CHECK(entry.memory == MAAR_TO_BITS(memory) && entry.size == 12345 && entry.type == 1);
    CHECK(entry.flags == (MAAR_CAPTURE_MEMORY_EXPORT_BIT | MAAR_CAPTURE_MEMORY_IMPORT_BIT |
                          MAAR_CAPTURE_MEMORY_ADDRESS_BIT | MAAR_CAPTURE_MEMORY_PRIORITY_BIT));
    CHECK(entry.handleTypes == (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT |
                                VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT));
    CHECK(entry.priority > 0.74F && entry.priority < 0.76F && entry.caller != 0);
    chain_driver.allocation_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    CHECK(allocate(NULL) == VK_NULL_HANDLE);
    chain_driver.allocation_result = VK_SUCCESS;
    CHECK(find_entry(MAAR_CAPTURE_KIND_MEMORY_FAILED, 0, &entry, sizeof(entry)));
    CHECK(entry.result == VK_ERROR_OUT_OF_DEVICE_MEMORY && entry.memory == 0);
    MaarCapturePriority change;
    TAKE(SetDeviceMemoryPriorityEXT)(device, memory, 0.25F);
    CHECK(find_entry(MAAR_CAPTURE_KIND_PRIORITY, 0, &change, sizeof(change)));
    CHECK(change.memory == MAAR_TO_BITS(memory) && change.priority < 0.26F);
}

/* The driver's view of a free: its record is in the file already. */
static void expect_end(VkDeviceMemory memory)
{
    MaarCaptureEnd end;
    CHECK(find_entry(MAAR_CAPTURE_KIND_MEMORY_END, 0, &end, sizeof(end)));
    CHECK(end.handle == MAAR_TO_BITS(memory));
}

static void test_order_of_a_free(void)
{
    const VkDeviceMemory memory = allocate(NULL);
    MaarCaptureEnd end;
    TAKE(FreeMemory)(device, VK_NULL_HANDLE, NULL);
    CHECK(!find_entry(MAAR_CAPTURE_KIND_MEMORY_END, 0, &end, sizeof(end)));
    chain_driver.before_free = expect_end;
    TAKE(FreeMemory)(device, memory, NULL);
    chain_driver.before_free = NULL;
}

static void test_newer_maps(const VkDevice with_maps)
{
    const VkDeviceMemory memory = allocate(NULL);
    void* data = NULL;
    MaarCaptureMap map;
    MaarCaptureEnd end;
    const struct layer_map_info info = {.memory = memory, .offset = 256, .size = VK_WHOLE_SIZE};
    const struct layer_unmap_info back = {.memory = memory};
    const layer_pfn_map_memory2 map2 =
        (layer_pfn_map_memory2)layer.pfnGetDeviceProcAddr(with_maps, "vkMapMemory2");
    const layer_pfn_unmap_memory2 unmap2 =
        (layer_pfn_unmap_memory2)layer.pfnGetDeviceProcAddr(with_maps, "vkUnmapMemory2");
    CHECK(map2(with_maps, &info, &data) == VK_SUCCESS);
    CHECK(unmap2(with_maps, &back) == VK_SUCCESS);
    CHECK(find_entry(MAAR_CAPTURE_KIND_MAP, 0, &map, sizeof(map)));
    CHECK(map.device == 2 && map.offset == 256 && map.size == UINT64_MAX);
    CHECK(find_entry(MAAR_CAPTURE_KIND_UNMAP, 0, &end, sizeof(end)));
    CHECK(end.handle == MAAR_TO_BITS(memory));
}

static void test_buffers(void)
{
    const struct layer_usage_flags2 usage = {
        .sType = (VkStructureType)LAYER_TYPE_BUFFER_USAGE_FLAGS_2, .usage = (uint64_t)1 << 40};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &usage, .size = 600};
    VkBuffer buffers[2];
    VkResult results[2];
    MaarCaptureBuffer entry;
    MaarCaptureBind bind;
    for (int i = 0; i < 2; ++i) {
        CHECK(TAKE(CreateBuffer)(device, &info, NULL, &buffers[i]) == VK_SUCCESS);
    }
    CHECK(find_entry(MAAR_CAPTURE_KIND_BUFFER, 1, &entry, sizeof(entry)));
    CHECK(entry.buffer == MAAR_TO_BITS(buffers[1]) && entry.size == 600);
    CHECK(entry.usage == (uint64_t)1 << 40);
    CHECK(entry.needsSize == 640 && entry.needsAlignment == 64 && entry.typeBits == 3);
    CHECK(entry.needsFlags ==
          (MAAR_CAPTURE_NEEDS_KNOWN_BIT | MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT));
    const struct layer_bind_status status[2] = {
        {(VkStructureType)LAYER_TYPE_BIND_MEMORY_STATUS, NULL, &results[0]},
        {(VkStructureType)LAYER_TYPE_BIND_MEMORY_STATUS, NULL, &results[1]}};
    const VkDeviceMemory memory = allocate(NULL);
    const VkBindBufferMemoryInfo binds[2] = {
        {VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, &status[0], buffers[0], memory, 0},
        {VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO, &status[1], buffers[1], memory, 1024}};
    chain_driver.second_bind_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    CHECK(TAKE(BindBufferMemory2)(device, 2, binds) == VK_ERROR_OUT_OF_HOST_MEMORY);
    CHECK(find_entry(MAAR_CAPTURE_KIND_BIND, 0, &bind, sizeof(bind)));
    CHECK(bind.object == MAAR_TO_BITS(buffers[0]) && bind.result == VK_SUCCESS);
    CHECK(find_entry(MAAR_CAPTURE_KIND_BIND, 1, &bind, sizeof(bind)));
    CHECK(bind.object == MAAR_TO_BITS(buffers[1]) && bind.offset == 1024);
    CHECK(bind.result == VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void test_other_objects(void)
{
    const VkAccelerationStructureCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR,
        .buffer = MAAR_FROM_BITS(VkBuffer, 0x50),
        .offset = 512,
        .size = 4096};
    VkAccelerationStructureKHR structure = VK_NULL_HANDLE;
    VkVideoSessionKHR session = VK_NULL_HANDLE;
    MaarCaptureStructure entry;
    MaarCaptureOther other;
    MaarCaptureBind bind;
    MaarCaptureEnd end;
    CHECK(TAKE(CreateAccelerationStructureKHR)(device, &info, NULL, &structure) == VK_SUCCESS);
    CHECK(find_entry(MAAR_CAPTURE_KIND_STRUCTURE, 0, &entry, sizeof(entry)));
    CHECK(entry.structure == MAAR_TO_BITS(structure) && entry.buffer == 0x50);
    CHECK(entry.offset == 512 && entry.size == 4096);
    TAKE(DestroyAccelerationStructureKHR)(device, structure, NULL);
    CHECK(find_entry(MAAR_CAPTURE_KIND_STRUCTURE_END, 0, &end, sizeof(end)));
    CHECK(TAKE(CreateVideoSessionKHR)(device, NULL, NULL, &session) == VK_SUCCESS);
    CHECK(find_entry(MAAR_CAPTURE_KIND_OTHER, 0, &other, sizeof(other)));
    CHECK(other.object == MAAR_TO_BITS(session) && other.size == 3000);
    const VkBindVideoSessionMemoryInfoKHR part = {
        .sType = VK_STRUCTURE_TYPE_BIND_VIDEO_SESSION_MEMORY_INFO_KHR,
        .memory = MAAR_FROM_BITS(VkDeviceMemory, 0x60),
        .memoryOffset = 64,
        .memorySize = 1000};
    CHECK(TAKE(BindVideoSessionMemoryKHR)(device, session, 1, &part) == VK_SUCCESS);
    CHECK(find_entry(MAAR_CAPTURE_KIND_BIND, 2, &bind, sizeof(bind)));
    CHECK(bind.objectKind == MAAR_CAPTURE_OBJECT_OTHER && bind.size == 1000 && bind.memory == 0x60);
}

static void test_queues(void)
{
    VkQueue queue = NULL;
    MaarCaptureQueue entry;
    for (int i = 0; i < 3; ++i) {
        TAKE(GetDeviceQueue)(device, 0, 0, &queue);
    }
    CHECK(find_entry(MAAR_CAPTURE_KIND_QUEUE, 0, &entry, sizeof(entry)));
    CHECK(entry.queue == (uint64_t)(uintptr_t)queue && entry.flags == VK_QUEUE_COMPUTE_BIT);
    CHECK(!find_entry(MAAR_CAPTURE_KIND_QUEUE, 1, &entry, sizeof(entry)));
}

static void test_reports(void)
{
    MaarCaptureReport entry;
    const VkDevice first = device;
    CHECK(!chain_driver.saw_report_extension);
    CHECK(setenv("MAAR_CAPTURE_DRIVER_MEMORY", "1", 1) == 0);
    device = open_device();
    CHECK(chain_driver.saw_report_extension);
    CHECK(find_entry(MAAR_CAPTURE_KIND_REPORT, 0, &entry, sizeof(entry)));
    CHECK(entry.memory == 77 && entry.size == 4096 && entry.device == 3);
    TAKE(DestroyDevice)(device, NULL);
    device = first;
    CHECK(unsetenv("MAAR_CAPTURE_DRIVER_MEMORY") == 0);
}

/* More devices than one of the layer's tables has room for, in two orders. */
static void test_many_devices(void)
{
    enum { COUNT = 500 };
    static VkDevice many[COUNT];
    const VkDevice first = device;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < COUNT; ++i) {
            many[i] = open_device();
        }
        for (int i = 0; i < COUNT; ++i) {
            device = many[round == 0 ? i : COUNT - 1 - i];
            CHECK(allocate(NULL) != VK_NULL_HANDLE);
            TAKE(DestroyDevice)(device, NULL);
        }
    }
    device = first;
    CHECK(allocate(NULL) != VK_NULL_HANDLE);
}

static void remove_capture(void)
{
    (void)unlink(capture_path);
    (void)rmdir(folder);
}

int main(int argc, char** argv)
{
    CHECK(argc == 2);
    (void)snprintf(folder, sizeof(folder), "/tmp/maar-chain-XXXXXX");
    CHECK(mkdtemp(folder) != NULL && setenv("MAAR_CAPTURE_FILE", folder, 1) == 0);
    (void)unsetenv("MAAR_CAPTURE_DRIVER_MEMORY");
    (void)unsetenv("MAAR_CAPTURE_LIMIT");
    const char* const name = strrchr(argv[0], '/') != NULL ? strrchr(argv[0], '/') + 1 : argv[0];
    (void)snprintf(capture_path, sizeof(capture_path), "%s/maar.%s.%d.maarcap", folder, name,
                   (int)getpid());
    CHECK(atexit(remove_capture) == 0);
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void* const symbol = dlsym(library, "vkNegotiateLoaderLayerInterfaceVersion");
    PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate = NULL;
    memcpy(&negotiate, &symbol, sizeof(negotiate));
    CHECK(negotiate != NULL);
    test_negotiation(negotiate);
    open_instance();
    device = open_device();
    test_pointers();
    test_memory();
    test_order_of_a_free();
    const VkDevice second = open_device();
    test_newer_maps(second);
    ((PFN_vkDestroyDevice)layer.pfnGetDeviceProcAddr(second, "vkDestroyDevice"))(second, NULL);
    test_buffers();
    test_other_objects();
    test_queues();
    test_reports();
    test_many_devices();
    TAKE(DestroyDevice)(device, NULL);
    ((PFN_vkDestroyInstance)layer.pfnGetInstanceProcAddr(instance, "vkDestroyInstance"))(instance,
                                                                                         NULL);
    CHECK(dlclose(library) == 0);
    MaarCaptureEnd end;
    CHECK(find_entry(MAAR_CAPTURE_KIND_END, 0, &end, sizeof(end)));
    printf("all right with pointers of %zu bytes\n", sizeof(void*));
    return 0;
}
