/*
 * Memory of simulated devices that is exported and imported as file descriptors: what is offered,
 * who owns a descriptor, whose bytes are whose, and which breaches of the rules are seen.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "tests/unit/simulated/simulated_sharing.h"

#include <stdio.h>

enum { TYPE_DEVICE = 0, TYPE_HOST = 1, CYCLES = 10000 };
#define SIZE ((VkDeviceSize)65536)

static VkExternalMemoryProperties buffer_offer(const struct sharing_fixture* s,
                                               VkExternalMemoryHandleTypeFlagBits type,
                                               VkBufferCreateFlags flags)
{
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .flags = flags,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .handleType = type};
    VkExternalBufferProperties found = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    s->vkGetPhysicalDeviceExternalBufferProperties(s->f.physical, &info, &found);
    return found.externalMemoryProperties;
}

static VkResult image_offer(const struct sharing_fixture* s,
                            VkExternalMemoryHandleTypeFlagBits type,
                            VkExternalMemoryProperties* offer)
{
    const VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, .handleType = type};
    const VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
    VkExternalImageFormatProperties found = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    VkImageFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                           .pNext = &found};
    const VkResult result =
        s->vkGetPhysicalDeviceImageFormatProperties2(s->f.physical, &info, &properties);
    *offer = found.externalMemoryProperties;
    return result;
}

static bool has_extension(const struct sharing_fixture* s, const char* name)
{
    VkExtensionProperties found[64];
    uint32_t count = 64;
    assert_int_equal(s->vkEnumerateDeviceExtensionProperties(s->f.physical, NULL, &count, found),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(found[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

static void device_without_sharing_offers_nothing(void** state)
{
    struct sharing_fixture s;
    VkExternalMemoryProperties image;
    (void)state;
    sharing_open(&s, NULL);
    assert_int_equal(buffer_offer(&s, SHARING_OPAQUE, 0).externalMemoryFeatures, 0);
    assert_int_equal(buffer_offer(&s, SHARING_DMA_BUF, 0).externalMemoryFeatures, 0);
    assert_int_equal(image_offer(&s, SHARING_OPAQUE, &image), VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert_int_equal(image_offer(&s, 0, &image), VK_SUCCESS);
    assert_false(has_extension(&s, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME));
    assert_false(has_extension(&s, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME));
    assert_null(s.vkGetMemoryFdKHR);
    assert_null(s.vkImportSemaphoreFdKHR);
    sharing_close(&s);
}

/* 16 bytes each: deviceUUID, driverUUID. */
static VkPhysicalDeviceIDProperties ids_of(const struct sharing_fixture* s)
{
    VkPhysicalDeviceIDProperties ids = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &ids};
    s->vkGetPhysicalDeviceProperties2(s->f.physical, &properties);
    assert_int_equal(ids.deviceLUIDValid, VK_FALSE);
    return ids;
}

static void pci_address_is_what_the_test_says(void** state)
{
    struct sharing_fixture s;
    (void)state;
    const MaarSimulatedSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
                                           .pciAddressKnown = VK_TRUE,
                                           .pciDomain = 1,
                                           .pciBus = 0x83,
                                           .pciDevice = 2,
                                           .pciFunction = 3};
    sharing_open(&s, &info);
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &pci};
    s.vkGetPhysicalDeviceProperties2(s.f.physical, &properties);
    assert_true(has_extension(&s, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME));
    assert_int_equal(pci.pciDomain, 1);
    assert_int_equal(pci.pciBus, 0x83);
    assert_int_equal(pci.pciDevice, 2);
    assert_int_equal(pci.pciFunction, 3);
    sharing_close(&s);
}

static void uuids_follow_the_profile_or_the_test(void** state)
{
    struct sharing_fixture plain;
    struct sharing_fixture again;
    struct sharing_fixture other;
    MaarSimulatedSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO};
    (void)state;
    info.deviceUUID[3] = 7;
    sharing_open(&plain, NULL);
    sharing_open(&again, NULL);
    sharing_open(&other, &info);
    const VkPhysicalDeviceIDProperties ids = ids_of(&plain);
    const VkPhysicalDeviceIDProperties same = ids_of(&again);
    const VkPhysicalDeviceIDProperties set = ids_of(&other);
    static const uint8_t zero[VK_UUID_SIZE];
    assert_memory_not_equal(ids.deviceUUID, zero, VK_UUID_SIZE);
    assert_memory_not_equal(ids.driverUUID, zero, VK_UUID_SIZE);
    assert_memory_equal(ids.deviceUUID, same.deviceUUID, VK_UUID_SIZE);
    assert_memory_equal(ids.driverUUID, same.driverUUID, VK_UUID_SIZE);
    assert_memory_equal(set.deviceUUID, info.deviceUUID, VK_UUID_SIZE);
    assert_memory_equal(set.driverUUID, ids.driverUUID, VK_UUID_SIZE);
    sharing_close(&plain);
    sharing_close(&again);
    sharing_close(&other);
}

#if defined(__linux__)
static void offers_are_what_the_test_says(void** state)
{
    struct sharing_fixture s;
    VkExternalMemoryProperties image;
    (void)state;
    const MaarSimulatedSharingInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .opaqueBuffers = VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT,
        .opaqueImages = SHARING_BOTH_WAYS | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT,
    };
    sharing_open(&s, &info);
    assert_int_equal(buffer_offer(&s, SHARING_OPAQUE, 0).externalMemoryFeatures,
                     VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT);
    assert_int_equal(buffer_offer(&s, SHARING_OPAQUE, 0).compatibleHandleTypes, SHARING_OPAQUE);
    assert_int_equal(buffer_offer(&s, SHARING_OPAQUE, VK_BUFFER_CREATE_SPARSE_BINDING_BIT)
                         .externalMemoryFeatures,
                     0);
    assert_int_equal(buffer_offer(&s, SHARING_DMA_BUF, 0).externalMemoryFeatures, 0);
    assert_int_equal(image_offer(&s, SHARING_OPAQUE, &image), VK_SUCCESS);
    assert_int_equal(image.externalMemoryFeatures, info.opaqueImages);
    assert_int_equal(image_offer(&s, SHARING_DMA_BUF, &image), VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert_true(has_extension(&s, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME));
    assert_false(has_extension(&s, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME));
    assert_false(has_extension(&s, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME));
    sharing_close(&s);
}

static void export_gives_a_new_descriptor_each_time(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    assert_int_equal(fixture_counters(&s->f).exportableLive, 1);
    const int one = sharing_fd(s, memory);
    const int two = sharing_fd(s, memory);
    assert_int_not_equal(one, two);
    assert_true((fcntl(one, F_GETFD) & FD_CLOEXEC) != 0);
    assert_true((fcntl(two, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(fixture_counters(&s->f).fdsExported, 2);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    assert_true(sharing_is_open(one));
    close(one);
    close(two);
    assert_int_equal(fixture_counters(&s->f).exportableLive, 0);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static uint64_t word_at(int fd, off_t offset, size_t size)
{
    uint64_t word = 0;
    uint32_t half = 0;
    if (size == sizeof(half)) {
        assert_int_equal(pread(fd, &half, sizeof(half), offset), sizeof(half));
        return half;
    }
    assert_int_equal(pread(fd, &word, sizeof(word), offset), sizeof(word));
    return word;
}

static void file_is_laid_out_as_documented(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    uint8_t* bytes = sharing_map(s, memory);
    const int fd = sharing_fd(s, memory);
    uint8_t there[VK_UUID_SIZE] = {0};
    const VkPhysicalDeviceIDProperties ids = ids_of(s);
    memcpy(bytes + 100, "payload", 8);
    assert_int_equal(lseek(fd, 0, SEEK_END), SIZE + 4136);
    assert_int_equal(pread(fd, there, 8, 0), 8);
    assert_memory_equal(there, "MAARSIM", 8);
    assert_int_equal(word_at(fd, 8, 4), 1);
    assert_int_equal(word_at(fd, 12, 4), SHARING_OPAQUE);
    assert_int_equal(word_at(fd, 16, 8), SIZE);
    assert_int_equal(word_at(fd, 24, 4), TYPE_HOST);
    assert_int_equal(word_at(fd, 28, 4), 0);
    assert_int_equal(pread(fd, there, VK_UUID_SIZE, 32), VK_UUID_SIZE);
    assert_memory_equal(there, ids.deviceUUID, VK_UUID_SIZE);
    assert_int_equal(pread(fd, there, VK_UUID_SIZE, 48), VK_UUID_SIZE);
    assert_memory_equal(there, ids.driverUUID, VK_UUID_SIZE);
    assert_int_equal(pread(fd, there, 8, 4096 + 100), 8);
    assert_memory_equal(there, "payload", 8);
    assert_int_equal(ftruncate(fd, 4096), -1);
    close(fd);
    s->f.vkUnmapMemory(s->f.device, memory);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void import_shares_bytes_that_outlive_the_exporter(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const uint32_t before = sharing_open_fds();
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    uint8_t* bytes = sharing_map(s, memory);
    memcpy(bytes + SIZE - 6, "first", 6);
    VkDeviceMemory imported[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, sharing_fd(s, memory), &imported[i]),
            VK_SUCCESS);
    }
    const MaarSimulatedCounters counters = fixture_counters(&s->f);
    assert_int_equal(counters.fdsImported, 2);
    assert_int_equal(counters.importedLive, 2);
    assert_int_equal(counters.heapLive[1], SIZE);
    assert_int_equal(counters.heapImported[1], 2 * SIZE);
    uint8_t* one = sharing_map(s, imported[0]);
    uint8_t* two = sharing_map(s, imported[1]);
    assert_string_equal((char*)one + SIZE - 6, "first");
    memcpy(one, "second", 7);
    assert_string_equal((char*)bytes, "second");
    s->f.vkUnmapMemory(s->f.device, memory);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    memcpy(one, "third", 6);
    assert_string_equal((char*)two, "third");
    for (int i = 0; i < 2; i++) {
        s->f.vkUnmapMemory(s->f.device, imported[i]);
        s->f.vkFreeMemory(s->f.device, imported[i], NULL);
    }
    assert_int_equal(sharing_open_fds(), before);
    assert_int_equal(fixture_counters(&s->f).importedLive, 0);
    assert_int_equal(fixture_counters(&s->f).heapImported[1], 0);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void import_reaches_other_instances_and_processes(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    struct sharing_fixture other;
    const MaarSimulatedSharingInfo info = sharing_info();
    sharing_open(&other, &info);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    uint8_t* bytes = sharing_map(s, memory);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    assert_int_equal(
        sharing_import(&other, TYPE_HOST, SIZE, SHARING_OPAQUE, sharing_fd(s, memory), &imported),
        VK_SUCCESS);
    memcpy(sharing_map(&other, imported), "instance", 9);
    assert_string_equal((char*)bytes, "instance");
    const int fd = sharing_fd(s, memory);
    const pid_t child = fork();
    if (child == 0) {
        VkDeviceMemory there = VK_NULL_HANDLE;
        void* mapped = NULL;
        int status = 1;
        if (sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &there) == VK_SUCCESS &&
            s->f.vkMapMemory(s->f.device, there, 0, VK_WHOLE_SIZE, 0, &mapped) == VK_SUCCESS &&
            strcmp(mapped, "instance") == 0) {
            memcpy(mapped, "process", 8);
            status = 0;
        }
        _exit(status);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal((char*)bytes, "process");
    close(fd);
    other.f.vkUnmapMemory(other.f.device, imported);
    other.f.vkFreeMemory(other.f.device, imported, NULL);
    s->f.vkUnmapMemory(s->f.device, memory);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    fixture_expect(&other.f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    sharing_close(&other);
}

/* The import fails so, and the descriptor stays the caller's. */
static void expect_rejection(const struct sharing_fixture* s, uint32_t type, VkDeviceSize size,
                             VkExternalMemoryHandleTypeFlagBits handle_type, int fd)
{
    const uint64_t live = fixture_counters(&s->f).liveCount[MAAR_SIMULATED_OBJECT_MEMORY];
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(sharing_import(s, type, size, handle_type, fd, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_true(memory == VK_NULL_HANDLE);
    assert_true(sharing_is_open(fd));
    assert_int_equal(fixture_counters(&s->f).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], live);
    assert_int_equal(fixture_counters(&s->f).fdsImported, 0);
}

static void import_of_another_size_or_type_is_refused(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    const int fd = sharing_fd(s, memory);
    expect_rejection(s, TYPE_HOST, 2 * SIZE, SHARING_OPAQUE, fd);
    expect_rejection(s, TYPE_HOST, SIZE / 2, SHARING_OPAQUE, fd);
    expect_rejection(s, TYPE_DEVICE, SIZE, SHARING_OPAQUE, fd);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 3);
    expect_rejection(s, TYPE_HOST, SIZE, SHARING_DMA_BUF, fd);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 3);
    close(fd);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void foreign_descriptor_is_refused_without_a_violation(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    int ends[2] = {-1, -1};
    assert_int_equal(pipe(ends), 0);
    FILE* file = tmpfile();
    assert_non_null(file);
    expect_rejection(s, TYPE_HOST, SIZE, SHARING_OPAQUE, ends[0]);
    expect_rejection(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fileno(file));
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, -1, &memory),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    (void)fclose(file);
    close(ends[0]);
    close(ends[1]);
}

static void import_from_another_uuid_is_refused(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    for (int i = 0; i < 2; i++) {
        struct sharing_fixture other;
        MaarSimulatedSharingInfo info = sharing_info();
        (i == 0 ? info.deviceUUID : info.driverUUID)[0] = 1;
        sharing_open(&other, &info);
        const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
        const int fd = sharing_fd(s, memory);
        expect_rejection(&other, TYPE_HOST, SIZE, SHARING_OPAQUE, fd);
        fixture_expect(&other.f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
        close(fd);
        s->f.vkFreeMemory(s->f.device, memory, NULL);
        sharing_close(&other);
    }
}

static void failing_import_may_close_the_descriptor_if_asked_to(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    int fd = sharing_fd(s, memory);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    maarSimulatedSetFlags(s->f.physical, MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT);
    assert_int_not_equal(sharing_import(s, TYPE_HOST, SIZE * 2, SHARING_OPAQUE, fd, &imported),
                         VK_SUCCESS);
    assert_false(sharing_is_open(fd));
    fd = sharing_fd(s, memory);
    sharing_fault(s, "vkAllocateMemory");
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &imported),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_false(sharing_is_open(fd));
    assert_int_equal(fixture_counters(&s->f).fdsClosedByFailure, 2);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void descriptor_closed_twice_is_noticed(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    maarSimulatedSetFlags(s->f.physical, MAAR_SIMULATED_CLOSE_FD_ON_FAILED_IMPORT_BIT |
                                             MAAR_SIMULATED_REUSE_CLOSED_FD_BIT);
    for (uint32_t closes = 0; closes < 2; closes++) {
        const int fd = sharing_fd(s, memory);
        sharing_fault(s, "vkAllocateMemory");
        assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &imported),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_true(sharing_is_open(fd));
        assert_int_equal(fixture_counters(&s->f).fdsReused, 1);
        fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
        if (closes != 0) {
            close(fd);
        }
    }
    const int fd = sharing_fd(s, memory);
    sharing_fault(s, "vkAllocateMemory");
    assert_int_not_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &imported),
                         VK_SUCCESS);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void fault_takes_and_gives_nothing(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkExternalMemoryHandleTypeFlagBits type = SHARING_DMA_BUF;
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, type);
    const uint32_t before = sharing_open_fds();
    int fd = 5;
    sharing_fault(s, "vkGetMemoryFdKHR");
    assert_int_equal(sharing_get_fd(s, memory, type, &fd), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(fd, -1);
    assert_int_equal(sharing_open_fds(), before);
    assert_int_equal(sharing_get_fd(s, memory, type, &fd), VK_SUCCESS);
    VkMemoryFdPropertiesKHR found = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    sharing_fault(s, "vkGetMemoryFdPropertiesKHR");
    assert_int_equal(s->vkGetMemoryFdPropertiesKHR(s->f.device, type, fd, &found),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(found.memoryTypeBits, 0);
    assert_int_equal(s->vkGetMemoryFdPropertiesKHR(s->f.device, type, fd, &found), VK_SUCCESS);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    sharing_fault(s, "vkAllocateMemory");
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, type, fd, &imported),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(sharing_is_open(fd));
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, type, fd, &imported), VK_SUCCESS);
    s->f.vkFreeMemory(s->f.device, imported, NULL);
    assert_false(sharing_is_open(fd));
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    assert_int_equal(sharing_open_fds(), before);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void dma_buf_says_its_types_and_may_be_taken_in_part(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_DMA_BUF);
    VkMemoryFdPropertiesKHR found = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    int fd = -1;
    assert_int_equal(sharing_get_fd(s, memory, SHARING_DMA_BUF, &fd), VK_SUCCESS);
    assert_int_equal(s->vkGetMemoryFdPropertiesKHR(s->f.device, SHARING_DMA_BUF, fd, &found),
                     VK_SUCCESS);
    assert_int_equal(found.memoryTypeBits, 0xF); /* all but the lazily allocated one */
    VkDeviceMemory imported = VK_NULL_HANDLE;
    assert_int_equal(sharing_import(s, 2, SIZE / 2, SHARING_DMA_BUF, fd, &imported), VK_SUCCESS);
    s->f.vkFreeMemory(s->f.device, imported, NULL);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    assert_int_equal(sharing_get_fd(s, memory, SHARING_OPAQUE, &fd),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(fd, -1);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    assert_int_equal(s->vkGetMemoryFdPropertiesKHR(s->f.device, SHARING_OPAQUE, 0, &found),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 2);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

/* Vulkan wants the same device of opaque handles alone. */
static void dma_buf_of_another_uuid_is_taken(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    struct sharing_fixture other;
    MaarSimulatedSharingInfo info = sharing_info();
    info.deviceUUID[0] = 1;
    info.driverUUID[0] = 1;
    sharing_open(&other, &info);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_DMA_BUF);
    VkMemoryFdPropertiesKHR found = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    VkDeviceMemory imported = VK_NULL_HANDLE;
    int fd = -1;
    assert_int_equal(sharing_get_fd(s, memory, SHARING_DMA_BUF, &fd), VK_SUCCESS);
    assert_int_equal(other.vkGetMemoryFdPropertiesKHR(other.f.device, SHARING_DMA_BUF, fd, &found),
                     VK_SUCCESS);
    assert_int_equal(sharing_import(&other, 2, SIZE, SHARING_DMA_BUF, fd, &imported), VK_SUCCESS);
    other.f.vkFreeMemory(other.f.device, imported, NULL);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
    fixture_expect(&other.f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    sharing_close(&other);
}

static VkBuffer shared_buffer(const struct sharing_fixture* s,
                              VkExternalMemoryHandleTypeFlags types)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = types};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(s->f.vkCreateBuffer(s->f.device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void bind_needs_the_handle_types_of_the_memory(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkFlags given[3] = {SHARING_OPAQUE, SHARING_DMA_BUF, 0};
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    const int fd = sharing_fd(s, memory);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &imported), VK_SUCCESS);
    for (uint64_t i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            const VkBuffer buffer = shared_buffer(s, given[i]);
            assert_int_equal(
                s->f.vkBindBufferMemory(s->f.device, buffer, k == 0 ? memory : imported, 0),
                VK_SUCCESS);
            s->f.vkDestroyBuffer(s->f.device, buffer, NULL);
        }
        fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 2 * i);
    }
    s->f.vkFreeMemory(s->f.device, imported, NULL);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void images_share_under_the_same_rules(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = SHARING_OPAQUE};
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 64, 64);
    const VkImage plain = fixture_image(&s->f, &info);
    info.pNext = &external;
    const VkImage shared = fixture_image(&s->f, &info);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_DEVICE, SIZE, SHARING_OPAQUE);
    assert_int_equal(s->f.vkBindImageMemory(s->f.device, shared, memory, 0), VK_SUCCESS);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    assert_int_equal(s->f.vkBindImageMemory(s->f.device, plain, memory, SIZE / 2), VK_SUCCESS);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    const VkImage initialised = fixture_image(&s->f, &info);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 2);
    s->f.vkDestroyImage(s->f.device, initialised, NULL);
    s->f.vkDestroyImage(s->f.device, plain, NULL);
    s->f.vkDestroyImage(s->f.device, shared, NULL);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void formats_list_the_linear_modifier(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkFormat formats[3] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_D32_SFLOAT,
                                 VK_FORMAT_G8_B8R8_2PLANE_420_UNORM};
    for (uint32_t i = 0; i < 3; i++) {
        VkDrmFormatModifierPropertiesEXT one = {.drmFormatModifier = 9};
        VkDrmFormatModifierPropertiesListEXT list = {
            .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT};
        VkFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2,
                                          .pNext = &list};
        s->vkGetPhysicalDeviceFormatProperties2(s->f.physical, formats[i], &properties);
        assert_int_equal(list.drmFormatModifierCount, i == 0 ? 1 : 0);
        list.pDrmFormatModifierProperties = &one;
        s->vkGetPhysicalDeviceFormatProperties2(s->f.physical, formats[i], &properties);
        assert_int_equal(one.drmFormatModifier, i == 0 ? 0 : 9);
        assert_int_equal(one.drmFormatModifierPlaneCount, i == 0 ? 1 : 0);
    }
    for (uint64_t modifier = 0; modifier < 2; modifier++) {
        const VkPhysicalDeviceImageDrmFormatModifierInfoEXT which = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
            .drmFormatModifier = modifier};
        const VkPhysicalDeviceImageFormatInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
            .pNext = &which,
            .format = formats[0],
            .type = VK_IMAGE_TYPE_2D,
            .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
            .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
        VkImageFormatProperties2 found = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
        assert_int_equal(s->vkGetPhysicalDeviceImageFormatProperties2(s->f.physical, &info, &found),
                         modifier == 0 ? VK_SUCCESS : VK_ERROR_FORMAT_NOT_SUPPORTED);
    }
}

/* An image of 100 by 10 texels of 4 bytes, with what is chained saying the modifier. */
static VkResult modifier_image(const struct sharing_fixture* s, const void* chain, VkImage* image)
{
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .pNext = chain,
        .handleTypes = SHARING_DMA_BUF};
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 100, 10);
    info.pNext = &external;
    info.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    *image = VK_NULL_HANDLE;
    return s->f.vkCreateImage(s->f.device, &info, NULL, image);
}

static VkResult explicit_image(const struct sharing_fixture* s, uint64_t modifier,
                               VkDeviceSize pitch, VkImage* image)
{
    const VkSubresourceLayout layout = {.rowPitch = pitch};
    const VkImageDrmFormatModifierExplicitCreateInfoEXT given = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .drmFormatModifier = modifier,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &layout};
    return modifier_image(s, &given, image);
}

/* Its modifier is linear, its rows lie so far apart, and it is destroyed. */
static void expect_rows(const struct sharing_fixture* s, VkImage image, VkDeviceSize pitch)
{
    VkImageDrmFormatModifierPropertiesEXT found = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT,
        .drmFormatModifier = 9};
    const VkImageSubresource plane = {.aspectMask = VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT};
    VkSubresourceLayout layout;
    VkMemoryRequirements requirements;
    assert_int_equal(s->vkGetImageDrmFormatModifierPropertiesEXT(s->f.device, image, &found),
                     VK_SUCCESS);
    assert_int_equal(found.drmFormatModifier, 0);
    s->f.vkGetImageSubresourceLayout(s->f.device, image, &plane, &layout);
    assert_int_equal(layout.rowPitch, pitch);
    s->f.vkGetImageMemoryRequirements(s->f.device, image, &requirements);
    assert_true(requirements.size >= 10 * pitch);
    s->f.vkDestroyImage(s->f.device, image, NULL);
}

static void image_with_the_linear_modifier_says_its_rows(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const uint64_t modifiers[2] = {77, 0};
    const VkImageDrmFormatModifierListCreateInfoEXT list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
        .drmFormatModifierCount = 2,
        .pDrmFormatModifiers = modifiers};
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(modifier_image(s, &list, &image), VK_SUCCESS);
    expect_rows(s, image, 448);
    assert_int_equal(explicit_image(s, 0, 1024, &image), VK_SUCCESS);
    expect_rows(s, image, 1024);
    assert_int_equal(explicit_image(s, 0, 400, &image), VK_SUCCESS);
    expect_rows(s, image, 400);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
    assert_int_equal(explicit_image(s, 0, 399, &image),
                     VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
    assert_true(image == VK_NULL_HANDLE);
    assert_int_equal(explicit_image(s, 77, 400, &image), VK_ERROR_VALIDATION_FAILED_EXT);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 100, 10);
    image = fixture_image(&s->f, &info);
    VkImageDrmFormatModifierPropertiesEXT found = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT};
    assert_int_equal(s->vkGetImageDrmFormatModifierPropertiesEXT(s->f.device, image, &found),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    s->f.vkDestroyImage(s->f.device, image, NULL);
}

/* Binds the first page of a sparse buffer, made for such handle types, to exportable memory. */
static void bind_exportable_page(const struct sharing_fixture* s, VkDeviceMemory memory,
                                 VkExternalMemoryHandleTypeFlags types)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = types};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = types != 0 ? &external : NULL,
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                              VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
                                     .size = 4 * SIZE,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(s->f.vkCreateBuffer(s->f.device, &info, NULL, &buffer), VK_SUCCESS);
    const VkSparseMemoryBind page = {.size = SIZE, .memory = memory};
    const VkSparseBufferMemoryBindInfo binds = {buffer, 1, &page};
    const VkBindSparseInfo batch = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, .bufferBindCount = 1, .pBufferBinds = &binds};
    assert_int_equal(s->f.vkQueueBindSparse(s->f.queue, 1, &batch, VK_NULL_HANDLE), VK_SUCCESS);
    s->f.vkDestroyBuffer(s->f.device, buffer, NULL);
}

static void sparse_buffers_share_where_the_test_says_so(void** state)
{
    struct sharing_fixture s;
    (void)state;
    for (uint64_t offered = 0; offered < 2; offered++) {
        MaarSimulatedSharingInfo info = sharing_info();
        info.sparseBuffers = offered != 0 ? VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT : 0;
        sharing_open(&s, &info);
        assert_int_equal(buffer_offer(&s, SHARING_OPAQUE, VK_BUFFER_CREATE_SPARSE_BINDING_BIT)
                             .externalMemoryFeatures,
                         info.sparseBuffers);
        assert_int_equal(buffer_offer(&s, SHARING_DMA_BUF, VK_BUFFER_CREATE_SPARSE_BINDING_BIT)
                             .externalMemoryFeatures,
                         0);
        const VkDeviceMemory memory = sharing_exportable(&s, TYPE_DEVICE, 4 * SIZE, SHARING_OPAQUE);
        bind_exportable_page(&s, memory, 0);
        if (offered != 0) {
            fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
            bind_exportable_page(&s, memory, SHARING_OPAQUE);
            fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
        } else {
            fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
        }
        s.f.vkFreeMemory(s.f.device, memory, NULL);
        sharing_close(&s);
    }
}

static void what_is_not_offered_is_a_violation(void** state)
{
    struct sharing_fixture s;
    (void)state;
    const MaarSimulatedSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
                                           .opaqueBuffers =
                                               VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT};
    sharing_open(&s, &info);
    const VkDeviceMemory other = sharing_exportable(&s, TYPE_HOST, SIZE, SHARING_DMA_BUF);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    const VkDeviceMemory memory = sharing_exportable(&s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    const int fd = sharing_fd(&s, memory);
    expect_rejection(&s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 2);
    const VkBuffer buffer = shared_buffer(&s, SHARING_DMA_BUF);
    fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_SHARING, 3);
    close(fd);
    s.f.vkDestroyBuffer(s.f.device, buffer, NULL);
    s.f.vkFreeMemory(s.f.device, memory, NULL);
    s.f.vkFreeMemory(s.f.device, other, NULL);
    sharing_close(&s);
}

/* Memory for a buffer of its own, exportable and dedicated or not. */
static VkDeviceMemory memory_for(const struct sharing_fixture* s, VkBuffer buffer, bool dedicated)
{
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                         .handleTypes = SHARING_OPAQUE};
    const VkMemoryDedicatedAllocateInfo only = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer};
    export.pNext = dedicated ? &only : NULL;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(&s->f, TYPE_HOST, SIZE, &export, &memory), VK_SUCCESS);
    assert_int_equal(s->f.vkBindBufferMemory(s->f.device, buffer, memory, 0), VK_SUCCESS);
    return memory;
}

static void dedicated_only_is_reported_and_checked(void** state)
{
    struct sharing_fixture s;
    (void)state;
    MaarSimulatedSharingInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .opaqueBuffers = SHARING_BOTH_WAYS | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT};
    info.opaqueImages = info.opaqueBuffers;
    sharing_open(&s, &info);
    for (int dedicated = 1; dedicated >= 0; dedicated--) {
        const VkBuffer buffer = shared_buffer(&s, SHARING_OPAQUE);
        const VkBufferMemoryRequirementsInfo2 which = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
        VkMemoryDedicatedRequirements says = {.sType =
                                                  VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
        VkMemoryRequirements2 found = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                       .pNext = &says};
        s.f.vkGetBufferMemoryRequirements2(s.f.device, &which, &found);
        assert_int_equal(says.requiresDedicatedAllocation, VK_TRUE);
        assert_int_equal(says.prefersDedicatedAllocation, VK_TRUE);
        const VkDeviceMemory memory = memory_for(&s, buffer, dedicated != 0);
        /* Once when it is allocated, once when it is bound. */
        fixture_expect(&s.f, MAAR_SIMULATED_VIOLATION_DEDICATED, dedicated != 0 ? 0 : 2);
        s.f.vkDestroyBuffer(s.f.device, buffer, NULL);
        s.f.vkFreeMemory(s.f.device, memory, NULL);
    }
    sharing_close(&s);
}

static void descriptor_closed_behind_the_driver_is_noticed(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    const int fd = sharing_fd(s, memory);
    assert_int_equal(sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, fd, &imported), VK_SUCCESS);
    close(fd);
    const int other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(other, fd);
    s->f.vkFreeMemory(s->f.device, imported, NULL);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 1);
    assert_true(sharing_is_open(other));
    close(other);
    s->f.vkFreeMemory(s->f.device, memory, NULL);
}

static void many_exports_and_imports_leave_no_descriptor(void** state)
{
    struct sharing_fixture* s = sharing_of(state);
    const uint32_t before = sharing_open_fds();
    for (uint32_t i = 0; i < CYCLES; i++) {
        const VkDeviceMemory memory = sharing_exportable(s, TYPE_HOST, SIZE, SHARING_OPAQUE);
        VkDeviceMemory imported = VK_NULL_HANDLE;
        assert_int_equal(
            sharing_import(s, TYPE_HOST, SIZE, SHARING_OPAQUE, sharing_fd(s, memory), &imported),
            VK_SUCCESS);
        s->f.vkFreeMemory(s->f.device, i % 2 != 0 ? memory : imported, NULL);
        s->f.vkFreeMemory(s->f.device, i % 2 != 0 ? imported : memory, NULL);
    }
    assert_int_equal(sharing_open_fds(), before);
    const MaarSimulatedCounters counters = fixture_counters(&s->f);
    assert_int_equal(counters.fdsExported, CYCLES);
    assert_int_equal(counters.fdsImported, CYCLES);
    assert_int_equal(counters.exportableLive + counters.importedLive, 0);
    fixture_expect(&s->f, MAAR_SIMULATED_VIOLATION_SHARING, 0);
}

static void device_that_goes_lets_go_of_what_is_left(void** state)
{
    struct sharing_fixture s;
    const MaarSimulatedSharingInfo info = sharing_info();
    const uint32_t before = sharing_open_fds();
    (void)state;
    sharing_open(&s, &info);
    const VkDeviceMemory memory = sharing_exportable(&s, TYPE_HOST, SIZE, SHARING_OPAQUE);
    VkDeviceMemory imported = VK_NULL_HANDLE;
    assert_int_equal(
        sharing_import(&s, TYPE_HOST, SIZE, SHARING_OPAQUE, sharing_fd(&s, memory), &imported),
        VK_SUCCESS);
    memcpy(sharing_map(&s, imported), "left", 5);
    sharing_close(&s);
    assert_int_equal(sharing_open_fds(), before);
}
#endif

#define SHARING_TEST(name) cmocka_unit_test_setup_teardown(name, sharing_setup, sharing_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_without_sharing_offers_nothing),
        cmocka_unit_test(uuids_follow_the_profile_or_the_test),
        cmocka_unit_test(pci_address_is_what_the_test_says),
#if defined(__linux__)
        cmocka_unit_test(offers_are_what_the_test_says),
        SHARING_TEST(export_gives_a_new_descriptor_each_time),
        SHARING_TEST(file_is_laid_out_as_documented),
        SHARING_TEST(import_shares_bytes_that_outlive_the_exporter),
        SHARING_TEST(import_reaches_other_instances_and_processes),
        SHARING_TEST(import_of_another_size_or_type_is_refused),
        SHARING_TEST(foreign_descriptor_is_refused_without_a_violation),
        SHARING_TEST(import_from_another_uuid_is_refused),
        SHARING_TEST(failing_import_may_close_the_descriptor_if_asked_to),
        SHARING_TEST(descriptor_closed_twice_is_noticed),
        SHARING_TEST(fault_takes_and_gives_nothing),
        SHARING_TEST(dma_buf_says_its_types_and_may_be_taken_in_part),
        SHARING_TEST(dma_buf_of_another_uuid_is_taken),
        SHARING_TEST(bind_needs_the_handle_types_of_the_memory),
        SHARING_TEST(images_share_under_the_same_rules),
        SHARING_TEST(formats_list_the_linear_modifier),
        SHARING_TEST(image_with_the_linear_modifier_says_its_rows),
        cmocka_unit_test(sparse_buffers_share_where_the_test_says_so),
        cmocka_unit_test(what_is_not_offered_is_a_violation),
        cmocka_unit_test(dedicated_only_is_reported_and_checked),
        SHARING_TEST(descriptor_closed_behind_the_driver_is_noticed),
        SHARING_TEST(many_exports_and_imports_leave_no_descriptor),
        cmocka_unit_test(device_that_goes_lets_go_of_what_is_left),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
