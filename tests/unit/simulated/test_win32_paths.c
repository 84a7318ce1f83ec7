/*
 * Memory and semaphores as NT handles, without Windows: the functions of
 * VK_KHR_external_memory_win32 and VK_KHR_external_semaphore_win32 are STAND-INS over a simulated
 * device, and the handles are file descriptors by another name. What is shown is what Maar asks of
 * such a driver and who owns what afterwards; that Windows does the same is not.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/device_win32.h"
#include "interop/share/external_handle.h"
#include "maar/process.h"
#include "tests/rig/rig.h"

/* ---- the declarations against Vulkan's own ---- */

#if defined(__has_include) && !defined(_WIN32)
#if __has_include(<vulkan/vulkan_win32.h>)
#define HAS_DECLARATIONS 1
typedef void* HANDLE;
typedef void* HINSTANCE;
typedef void* HWND;
typedef void* HMONITOR;
typedef const void* LPCWSTR;
typedef unsigned long DWORD;
typedef struct SECURITY_ATTRIBUTES SECURITY_ATTRIBUTES;
#include <vulkan/vulkan_win32.h>

#define SAME(own, theirs, field)                                                                   \
    _Static_assert(offsetof(struct own, field) == offsetof(theirs, field) &&                       \
                       sizeof(((struct own*)0)->field) == sizeof(((theirs*)0)->field),             \
                   #own "." #field " is elsewhere than in " #theirs)
#define SAME_SIZE(own, theirs) _Static_assert(sizeof(struct own) == sizeof(theirs), #own)

SAME(maar_win32_import_memory, VkImportMemoryWin32HandleInfoKHR, pNext);
SAME(maar_win32_import_memory, VkImportMemoryWin32HandleInfoKHR, handleType);
SAME(maar_win32_import_memory, VkImportMemoryWin32HandleInfoKHR, handle);
SAME(maar_win32_import_memory, VkImportMemoryWin32HandleInfoKHR, name);
SAME_SIZE(maar_win32_import_memory, VkImportMemoryWin32HandleInfoKHR);
SAME(maar_win32_get_memory, VkMemoryGetWin32HandleInfoKHR, memory);
SAME(maar_win32_get_memory, VkMemoryGetWin32HandleInfoKHR, handleType);
SAME_SIZE(maar_win32_get_memory, VkMemoryGetWin32HandleInfoKHR);
SAME(maar_win32_memory_properties, VkMemoryWin32HandlePropertiesKHR, memoryTypeBits);
SAME_SIZE(maar_win32_memory_properties, VkMemoryWin32HandlePropertiesKHR);
SAME(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR, semaphore);
SAME(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR, flags);
SAME(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR, handleType);
SAME(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR, handle);
SAME(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR, name);
SAME_SIZE(maar_win32_import_semaphore, VkImportSemaphoreWin32HandleInfoKHR);
SAME(maar_win32_get_semaphore, VkSemaphoreGetWin32HandleInfoKHR, semaphore);
SAME(maar_win32_get_semaphore, VkSemaphoreGetWin32HandleInfoKHR, handleType);
SAME_SIZE(maar_win32_get_semaphore, VkSemaphoreGetWin32HandleInfoKHR);
#endif
#endif

#define NT_MEMORY VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define NT_SEMAPHORE VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT

/* ---- the stand-in driver ---- */

static struct {
    uint32_t memory_exports; /* calls */
    uint32_t memory_imports;
    uint32_t semaphore_exports;
    uint32_t semaphore_imports;
    VkResult answer; /* of the next call of any of them */
    bool gives_null; /* as a handle, and says that all is well */
    bool dedicated_only;
    VkExternalMemoryHandleTypeFlags exportable;              /* of the last memory */
    VkExternalMemoryHandleTypeFlags buffer_types;            /* of the last buffer */
    VkExternalSemaphoreHandleTypeFlags semaphore_exportable; /* of the last semaphore */
    bool dedicated;                                          /* the last memory was */
    int imported;                                            /* the handle that was given last */
    int kept;                                                /* the handle that was exported last */
} driver;

static PFN_vkAllocateMemory allocate_memory;
static PFN_vkCreateBuffer create_buffer;
static PFN_vkCreateSemaphore create_semaphore;

static const VkBaseInStructure* find_link(const void* chain, VkStructureType type)
{
    const VkBaseInStructure* link = chain;
    while (link != NULL && link->sType != type) {
        link = link->pNext;
    }
    return link;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

static VkResult make_handle(void** handle)
{
    const VkResult result = driver.answer;
    driver.answer = VK_SUCCESS;
    *handle = NULL;
    if (result == VK_SUCCESS && !driver.gives_null) {
        driver.kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
        *handle = (void*)(intptr_t)driver.kept;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_memory_handle(VkDevice device,
                                                        const struct maar_win32_get_memory* info,
                                                        void** handle)
{
    driver.memory_exports += 1;
    assert_non_null(device);
    assert_int_equal(info->sType, VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR);
    assert_null(info->pNext);
    assert_true(info->memory != VK_NULL_HANDLE);
    assert_int_equal(info->handleType, NT_MEMORY);
    return make_handle(handle);
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_memory_handle_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits type, void* handle,
                             struct maar_win32_memory_properties* properties)
{
    (void)device;
    (void)handle;
    (void)properties;
    fail_msg("handle type 0x%x is opaque: its properties may not be asked for", (unsigned)type);
    return VK_ERROR_UNKNOWN;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_semaphore_handle(VkDevice device, const struct maar_win32_get_semaphore* info, void** handle)
{
    driver.semaphore_exports += 1;
    assert_non_null(device);
    assert_int_equal(info->sType, VK_STRUCTURE_TYPE_SEMAPHORE_GET_WIN32_HANDLE_INFO_KHR);
    assert_true(info->semaphore != VK_NULL_HANDLE);
    assert_int_equal(info->handleType, NT_SEMAPHORE);
    return make_handle(handle);
}

static VKAPI_ATTR VkResult VKAPI_CALL
import_semaphore_handle(VkDevice device, const struct maar_win32_import_semaphore* info)
{
    const VkResult result = driver.answer;
    driver.answer = VK_SUCCESS;
    driver.semaphore_imports += 1;
    driver.imported = (int)(intptr_t)info->handle;
    assert_non_null(device);
    assert_int_equal(info->sType, VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_WIN32_HANDLE_INFO_KHR);
    assert_null(info->pNext);
    assert_true(info->semaphore != VK_NULL_HANDLE);
    assert_int_equal(info->flags, 0); /* for good, not for one wait */
    assert_int_equal(info->handleType, NT_SEMAPHORE);
    assert_null(info->name);
    assert_true(is_open(driver.imported));
    return result;
}

/* The simulated device gets what is left without the handles. */
static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks,
                                               VkDeviceMemory* memory)
{
    const VkExportMemoryAllocateInfo* export =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    const struct maar_win32_import_memory* import =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_WIN32_HANDLE_INFO_KHR);
    const VkMemoryDedicatedAllocateInfo* dedicated =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO);
    VkMemoryAllocateInfo left = *info;
    VkMemoryDedicatedAllocateInfo copy;
    driver.exportable = export != NULL ? export->handleTypes : 0;
    driver.dedicated = dedicated != NULL;
    if (import != NULL) {
        const VkResult result = driver.answer;
        driver.answer = VK_SUCCESS;
        driver.memory_imports += 1;
        driver.imported = (int)(intptr_t)import->handle;
        assert_int_equal(import->handleType, NT_MEMORY);
        assert_null(import->name);
        assert_true(is_open(driver.imported));
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    left.pNext = NULL;
    if (dedicated != NULL) {
        copy = *dedicated;
        copy.pNext = NULL;
        left.pNext = &copy;
    }
    return allocate_memory(device, &left, callbacks, memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL make_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                                  const VkAllocationCallbacks* callbacks,
                                                  VkBuffer* buffer)
{
    const VkExternalMemoryBufferCreateInfo* external =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO);
    VkBufferCreateInfo left = *info;
    left.pNext = NULL;
    driver.buffer_types = external != NULL ? external->handleTypes : 0;
    return create_buffer(device, &left, callbacks, buffer);
}

static VKAPI_ATTR VkResult VKAPI_CALL make_semaphore(VkDevice device,
                                                     const VkSemaphoreCreateInfo* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkSemaphore* semaphore)
{
    const VkExportSemaphoreCreateInfo* export =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
    const VkSemaphoreTypeCreateInfo* type =
        (const void*)find_link(info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    VkSemaphoreCreateInfo left = *info;
    VkSemaphoreTypeCreateInfo copy;
    driver.semaphore_exportable = export != NULL ? export->handleTypes : 0;
    left.pNext = NULL;
    if (type != NULL) {
        copy = *type;
        copy.pNext = NULL;
        left.pNext = &copy;
    }
    return create_semaphore(device, &left, callbacks, semaphore);
}

static VKAPI_ATTR void VKAPI_CALL ask_buffer(VkPhysicalDevice physical,
                                             const VkPhysicalDeviceExternalBufferInfo* info,
                                             VkExternalBufferProperties* properties)
{
    (void)physical;
    VkExternalMemoryProperties* found = &properties->externalMemoryProperties;
    *found = (VkExternalMemoryProperties){0};
    if (info->handleType == NT_MEMORY) {
        found->externalMemoryFeatures =
            VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT |
            (driver.dedicated_only ? (uint32_t)VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT : 0);
        found->compatibleHandleTypes = NT_MEMORY;
        found->exportFromImportedHandleTypes = NT_MEMORY;
    }
}

static VKAPI_ATTR void VKAPI_CALL ask_semaphore(VkPhysicalDevice physical,
                                                const VkPhysicalDeviceExternalSemaphoreInfo* info,
                                                VkExternalSemaphoreProperties* properties)
{
    (void)physical;
    properties->externalSemaphoreFeatures = info->handleType == NT_SEMAPHORE
                                                ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                                                      VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT
                                                : 0;
}

/* ---- the rig ---- */

static struct rig* rig;
static uint32_t fds_before;
static const char* const win32_extensions[] = {MAAR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME,
                                               MAAR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char* name)
{
    static const struct {
        const char* name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkGetMemoryWin32HandleKHR", (PFN_vkVoidFunction)get_memory_handle},
        {"vkGetMemoryWin32HandlePropertiesKHR", (PFN_vkVoidFunction)get_memory_handle_properties},
        {"vkGetSemaphoreWin32HandleKHR", (PFN_vkVoidFunction)get_semaphore_handle},
        {"vkImportSemaphoreWin32HandleKHR", (PFN_vkVoidFunction)import_semaphore_handle},
        {"vkAllocateMemory", (PFN_vkVoidFunction)allocate},
        {"vkCreateBuffer", (PFN_vkVoidFunction)make_buffer},
        {"vkCreateSemaphore", (PFN_vkVoidFunction)make_semaphore},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) {
        if (strcmp(own[i].name, name) == 0) {
            return own[i].function;
        }
    }
    return vkGetDeviceProcAddr(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_address(VkInstance instance,
                                                                 const char* name)
{
    if (strncmp(name, "vkGetPhysicalDeviceExternalBufferProperties", 43) == 0) {
        return (PFN_vkVoidFunction)ask_buffer;
    }
    if (strncmp(name, "vkGetPhysicalDeviceExternalSemaphoreProperties", 46) == 0) {
        return (PFN_vkVoidFunction)ask_semaphore;
    }
    return maarSimulatedGetInstanceProcAddr(instance, name);
}

static void open_with(uint32_t extension_count)
{
    /* No structures beside those of sharing. */
    const struct rig_setup setup = {.off = RIG_OFF_ALL & ~(VkFlags)RIG_OFF_TIMELINE};
    memset(&driver, 0, sizeof driver);
    fds_before = rig_count_fds();
    rig = rig_new();
    rig_open(rig, &setup);
    allocate_memory = vkAllocateMemory;
    create_buffer = vkCreateBuffer;
    create_semaphore = vkCreateSemaphore;
    rig->create_info.pfnGetInstanceProcAddr = instance_address;
    rig->create_info.pfnGetDeviceProcAddr = device_address;
    rig->create_info.enabledExtensionCount = extension_count;
    rig->create_info.ppEnabledExtensionNames = win32_extensions;
    rig_make_allocator(rig);
}

static int open_win32(void** state)
{
    (void)state;
    open_with(2);
    return 0;
}

static int close_win32(void** state)
{
    (void)state;
    rig_close(rig);
    assert_int_equal(rig_count_fds(), fds_before);
    return 0;
}

static MaarAllocation make_exportable(VkBuffer* buffer)
{
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = NT_MEMORY,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarAllocation memory = VK_NULL_HANDLE;
    how.pNext = &export;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, buffer, &memory), VK_SUCCESS);
    assert_int_equal(driver.buffer_types, NT_MEMORY);
    return memory;
}

static VkResult export_memory(MaarAllocation memory, MaarExportedMemory* exported)
{
    *exported = (MaarExportedMemory){.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    return maarExportMemory(rig->allocator, memory, NT_MEMORY, exported);
}

/* An NT handle as it might come from elsewhere; maarWrapWin32Handle is for Windows alone. */
static MaarExternalHandle foreign_handle(int* fd)
{
    MaarExternalHandle handle = VK_NULL_HANDLE;
    *fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(maar_external_handle_create(NULL, *fd, &handle), VK_SUCCESS);
    return handle;
}

/* ---- the cases ---- */

static void block_is_exported_once_as_an_nt_handle(void** state)
{
    (void)state;
    VkBuffer buffers[2];
    MaarExportedMemory exported[2];
    const MaarAllocation first = make_exportable(&buffers[0]);
    assert_int_equal(driver.exportable, NT_MEMORY);
    const MaarAllocation second = make_exportable(&buffers[1]);
    assert_int_equal(export_memory(first, &exported[0]), VK_SUCCESS);
    assert_int_equal(export_memory(second, &exported[1]), VK_SUCCESS);
    /* Vulkan gives each NT handle once. */
    assert_int_equal(driver.memory_exports, 1);
    assert_int_equal(exported[0].handleType, NT_MEMORY);
    assert_int_equal(exported[0].blockId, exported[1].blockId);
    assert_true(exported[0].offset != exported[1].offset);
    for (uint32_t i = 0; i < 2; ++i) {
        const maar_port_handle own = maar_external_handle_peek(exported[i].handle);
        assert_true(own != driver.kept && is_open((int)own));
        maarDestroyExternalHandle(rig->allocator, exported[i].handle);
        assert_false(is_open((int)own));
    }
    maarDestroyBuffer(rig->allocator, buffers[0], first);
    maarDestroyBuffer(rig->allocator, buffers[1], second);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_false(is_open(driver.kept));
    rig_expect_silence(rig);
}

static void refused_export_leaves_nothing(void** state)
{
    (void)state;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarExportedMemory exported;
    const MaarAllocation memory = make_exportable(&buffer);
    const uint32_t before = rig_count_fds();
    driver.answer = VK_ERROR_TOO_MANY_OBJECTS;
    assert_int_equal(export_memory(memory, &exported), VK_ERROR_TOO_MANY_OBJECTS);
    assert_null(exported.handle);
    driver.gives_null = true;
    assert_int_equal(export_memory(memory, &exported), VK_ERROR_UNKNOWN);
    assert_null(exported.handle);
    driver.gives_null = false;
    assert_int_equal(rig_count_fds(), before);
    assert_int_equal(export_memory(memory, &exported), VK_SUCCESS);
    assert_int_equal(driver.memory_exports, 3);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

static MaarImportInfo import_info(MaarExternalHandle handle)
{
    return (MaarImportInfo){
        .sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO,
        .handle = handle,
        .handleType = NT_MEMORY,
        .blockSize = 65536,
        .offset = 4096,
        .memoryTypeIndex = 0,
    };
}

/* Windows leaves an imported NT handle with the caller; Maar's rule is that an import consumes it.
 */
static void imported_handle_is_consumed_and_closed(void** state)
{
    (void)state;
    int fd = -1;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarExternalHandle handle = foreign_handle(&fd);
    const MaarImportInfo import = import_info(handle);
    const uint32_t before = rig_count_fds();
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &buffer, &memory),
                     VK_SUCCESS);
    assert_int_equal(driver.memory_imports, 1);
    assert_int_equal(driver.buffer_types, NT_MEMORY);
    assert_true(driver.imported != fd);
    assert_false(is_open(driver.imported)); /* the driver did not take the duplicate */
    assert_int_equal(maar_external_handle_peek(handle), MAAR_PORT_NO_HANDLE);
    assert_int_equal(rig_count_fds(),
                     before); /* the block has the handle, for those who export again */
    maarDestroyExternalHandle(rig->allocator, handle);
    MaarExportedMemory exported;
    assert_int_equal(export_memory(memory, &exported), VK_SUCCESS);
    assert_int_equal(driver.memory_exports, 0);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    assert_false(is_open(fd));
    assert_int_equal(rig_count_fds(), before - 1);
    rig_expect_silence(rig);
}

static void failed_import_leaves_the_handle(void** state)
{
    (void)state;
    int fd = -1;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    MaarExternalHandle handle = foreign_handle(&fd);
    const MaarImportInfo import = import_info(handle);
    const uint32_t before = rig_count_fds();
    static const VkResult answers[] = {VK_ERROR_INVALID_EXTERNAL_HANDLE,
                                       VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY};
    for (uint32_t i = 0; i < 3; ++i) {
        driver.answer = answers[i];
        assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &buffer, &memory),
                         answers[i]);
        assert_true(is_open(fd));
        assert_int_equal(maar_external_handle_peek(handle), fd);
        assert_int_equal(rig_count_fds(), before);
    }
    /* A bind that fails comes after the driver's import. */
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &buffer, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maar_external_handle_peek(handle), fd);
    assert_int_equal(rig_count_fds(), before);
    maarDestroyExternalHandle(rig->allocator, handle);
    assert_false(is_open(fd));
}

static void demanded_dedication_is_given(void** state)
{
    (void)state;
    int fd = -1;
    driver.dedicated_only = true;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarExportedMemory exported;
    MaarAllocation memory = make_exportable(&buffer);
    assert_true(driver.dedicated);
    assert_int_equal(export_memory(memory, &exported), VK_SUCCESS);
    assert_int_equal(exported.dedicated, VK_TRUE);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    MaarExternalHandle handle = foreign_handle(&fd);
    MaarImportInfo import = import_info(handle);
    VkBufferCreateInfo info = rig_buffer_info(65536);
    import.offset = 0;
    import.dedicated = VK_TRUE;
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &buffer, &memory),
                     VK_SUCCESS);
    assert_true(driver.dedicated);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    maarDestroyExternalHandle(rig->allocator, handle);
}

static void semaphore_goes_out_and_comes_in(void** state)
{
    (void)state;
    static const VkSemaphoreType types[] = {VK_SEMAPHORE_TYPE_TIMELINE, VK_SEMAPHORE_TYPE_BINARY};
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarSharedSemaphoreCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
            .type = types[i],
            .handleType = NT_SEMAPHORE,
        };
        VkSemaphore semaphore = VK_NULL_HANDLE;
        VkSemaphore other = VK_NULL_HANDLE;
        MaarExternalHandle handle = VK_NULL_HANDLE;
        assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &info, &semaphore), VK_SUCCESS);
        assert_int_equal(driver.semaphore_exportable, NT_SEMAPHORE);
        driver.answer = VK_ERROR_TOO_MANY_OBJECTS;
        assert_int_equal(maarExportSemaphore(rig->allocator, semaphore, NT_SEMAPHORE, &handle),
                         VK_ERROR_TOO_MANY_OBJECTS);
        driver.gives_null = true;
        assert_int_equal(maarExportSemaphore(rig->allocator, semaphore, NT_SEMAPHORE, &handle),
                         VK_ERROR_UNKNOWN);
        driver.gives_null = false;
        assert_null(handle);
        assert_int_equal(maarExportSemaphore(rig->allocator, semaphore, NT_SEMAPHORE, &handle),
                         VK_SUCCESS);
        const int fd = driver.kept;
        const uint32_t before = rig_count_fds();
        driver.answer = VK_ERROR_INVALID_EXTERNAL_HANDLE;
        assert_int_equal(
            maarImportSemaphore(rig->allocator, handle, NT_SEMAPHORE, types[i], &other),
            VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_true(other == VK_NULL_HANDLE && is_open(fd));
        assert_int_equal(maar_external_handle_peek(handle), fd);
        assert_int_equal(rig_count_fds(), before);
        assert_int_equal(
            maarImportSemaphore(rig->allocator, handle, NT_SEMAPHORE, types[i], &other),
            VK_SUCCESS);
        assert_int_equal(maar_external_handle_peek(handle), MAAR_PORT_NO_HANDLE);
        assert_int_equal(rig_count_fds(), before - 1); /* neither the handle nor its duplicate */
        maarDestroyExternalHandle(rig->allocator, handle);
        vkDestroySemaphore(rig->device, semaphore, NULL);
        vkDestroySemaphore(rig->device, other, NULL);
    }
    assert_int_equal(driver.semaphore_exports, 6);
    assert_int_equal(driver.semaphore_imports, 4);
}

static void what_is_offered_is_said(void** state)
{
    (void)state;
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig->allocator, &info), VK_SUCCESS);
    assert_int_equal(info.memoryWin32, VK_TRUE);
    assert_int_equal(info.memoryFd, VK_FALSE);
    assert_int_equal(info.exportableTimelineTypes, NT_SEMAPHORE);
    assert_int_equal(info.importableTimelineTypes, NT_SEMAPHORE);
    assert_int_equal(info.exportableBinaryTypes, NT_SEMAPHORE);
    const VkBufferCreateInfo buffer = rig_buffer_info(100);
    const MaarSharingQuery query = {
        .sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
        .pBufferInfo = &buffer,
        .handleType = NT_MEMORY,
    };
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    assert_int_equal(maarGetSharingSupport(rig->allocator, &query, &support), VK_SUCCESS);
    assert_int_equal(support.exportable, VK_TRUE);
    assert_int_equal(support.importable, VK_TRUE);
    assert_int_equal(support.exportFromImportedTypes, NT_MEMORY);
    assert_true(support.memoryTypeBits != 0);
}

static void without_the_extensions_all_is_refused(void** state)
{
    (void)state;
    int fd = -1;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    rig_close(rig);
    open_with(0);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = NT_MEMORY,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    how.pNext = &export;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
                              "VK_KHR_external_memory_win32");
    MaarExternalHandle handle = foreign_handle(&fd);
    const MaarImportInfo import = import_info(handle);
    assert_int_equal(maarImportBuffer(rig->allocator, &info, &import, &buffer, &memory),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(is_open(fd));
    const MaarSharedSemaphoreCreateInfo shared = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = NT_SEMAPHORE,
    };
    assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &shared, &semaphore),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    maarDestroyExternalHandle(rig->allocator, handle);
}

/* A descriptor of such memory can be written and read here too. */
static void descriptor_of_an_nt_handle_travels(void** state)
{
    (void)state;
    VkBuffer buffer = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    MaarDescriptor descriptor = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    MaarExternalHandle handle = VK_NULL_HANDLE;
    VkBuffer copy = VK_NULL_HANDLE;
    MaarAllocation imported = VK_NULL_HANDLE;
    const MaarAllocation memory = make_exportable(&buffer);
    assert_int_equal(
        maarDescribeMemory(rig->allocator, memory, NT_MEMORY, &info, &descriptor, &handle),
        VK_SUCCESS);
    assert_int_equal(maarWriteDescriptor(rig->allocator, &descriptor, bytes), VK_SUCCESS);
    assert_int_equal(maarReadDescriptor(rig->allocator, sizeof bytes, bytes, &descriptor),
                     VK_SUCCESS);
    assert_int_equal(descriptor.handleType, NT_MEMORY);
    assert_int_equal(
        maarImportDescribedBuffer(rig->allocator, &descriptor, handle, &copy, &imported),
        VK_SUCCESS);
    maarDestroyExternalHandle(rig->allocator, handle);
    maarDestroyBuffer(rig->allocator, copy, imported);
    maarDestroyBuffer(rig->allocator, buffer, memory);
}

static void nt_handles_are_wrapped_on_windows_alone(void** state)
{
    (void)state;
    int thing = 0;
    void* taken = &thing;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarWrapWin32Handle(rig->allocator, NULL, &handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "win32Handle");
    assert_int_equal(maarWrapWin32Handle(rig->allocator, (void*)(intptr_t)-1, &handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(maarWrapWin32Handle(rig->allocator, &thing, &handle),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(handle);
    assert_int_equal(maarWrapFd(rig->allocator, fd, &handle), VK_SUCCESS);
    assert_null(maarPeekWin32Handle(handle));
    assert_int_equal(maarTakeWin32Handle(rig->allocator, handle, &taken),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_null(taken);
    rig_expect_message(rig, MAAR_MESSAGE_ID_HANDLE_EMPTY);
    assert_int_equal(maarPeekFd(handle), fd);
    maarDestroyExternalHandle(rig->allocator, handle);
}

static void declarations_are_vulkans_own(void** state)
{
    (void)state;
#if defined(HAS_DECLARATIONS)
    assert_string_equal(MAAR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME,
                        VK_KHR_EXTERNAL_MEMORY_WIN32_EXTENSION_NAME);
    assert_string_equal(MAAR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME,
                        VK_KHR_EXTERNAL_SEMAPHORE_WIN32_EXTENSION_NAME);
#else
    print_message("skipped: no vulkan/vulkan_win32.h to compare with\n");
    skip();
#endif
}

#define WIN32_CASE(name) cmocka_unit_test_setup_teardown(name, open_win32, close_win32)

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(declarations_are_vulkans_own),
        WIN32_CASE(what_is_offered_is_said),
        WIN32_CASE(block_is_exported_once_as_an_nt_handle),
        WIN32_CASE(refused_export_leaves_nothing),
        WIN32_CASE(imported_handle_is_consumed_and_closed),
        WIN32_CASE(failed_import_leaves_the_handle),
        WIN32_CASE(demanded_dedication_is_given),
        WIN32_CASE(semaphore_goes_out_and_comes_in),
        WIN32_CASE(without_the_extensions_all_is_refused),
        WIN32_CASE(descriptor_of_an_nt_handle_travels),
        WIN32_CASE(nt_handles_are_wrapped_on_windows_alone),
    };
    print_message("STAND-INS for the Win32 functions of Vulkan: nothing here ran on Windows\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
