/*
 * Where memory that is shared cannot be, and what is asked for so that it contradicts itself: all
 * of it is refused by name, before a driver sees it. On a simulated device that shares everything.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/memory/allocator_state.h"
#include "tests/interop/sharing_fixture.h"

#include <unistd.h>

#include "tests/transient/graph_maker.h"

#define OPAQUE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT

static struct rig* rig;

static const MaarExportInfo export_opaque = {
    .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
    .handleTypes = OPAQUE,
};

static void start_sharing(void)
{
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig = rig_begin(&setup);
}

static void pool_that_names_its_types_twice_must_name_the_same(void** state)
{
    (void)state;
    start_sharing();
    const VkExportMemoryAllocateInfo vulkan = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = DMA_BUF,
    };
    MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export_opaque,
        .pMemoryAllocateNext = &vulkan,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    const VkExportMemoryAllocateInfo same = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = OPAQUE,
    };
    info.pMemoryAllocateNext = &same;
    assert_int_equal(maarCreatePool(rig->allocator, &info, &pool), VK_SUCCESS);
    maarDestroyPool(rig->allocator, pool);
}

static void export_info_without_a_type_is_refused(void** state)
{
    (void)state;
    start_sharing();
    const MaarExportInfo nothing = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &nothing;
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_EMPTY_FLAGS, "MaarExportInfo::handleTypes");
}

static void failed_export_leaves_nothing_to_destroy(void** state)
{
    (void)state;
    start_sharing();
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation shared = rig_create_shared_buffer(rig, 4096, &buffer);
    MaarExportedMemory exported = rig_export(rig, shared);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    /* What the last call left must not be taken for what this one gave. */
    assert_int_equal(maarExportMemory(rig->allocator, shared, DMA_BUF, &exported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(exported.handle == VK_NULL_HANDLE);
    assert_int_equal(exported.blockSize, 0);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    exported.handle = (MaarExternalHandle)(void*)rig;
    assert_int_equal(maarExportMemory(rig->allocator, VK_NULL_HANDLE, OPAQUE, &exported),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(exported.handle == VK_NULL_HANDLE);
    maarDestroyBuffer(rig->allocator, buffer, shared);
}

static VkResult VKAPI_CALL give_no_descriptor(VkDevice device, const VkMemoryGetFdInfoKHR* info,
                                              int* fd)
{
    (void)device;
    (void)info;
    *fd = -1;
    return VK_SUCCESS;
}

/* Nobody waits for a descriptor that is not coming. */
static void driver_that_gives_no_descriptor_has_failed(void** state)
{
    (void)state;
    start_sharing();
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation shared = rig_create_shared_buffer(rig, 4096, &buffer);
    const PFN_vkGetMemoryFdKHR driver = rig->allocator->device.vkGetMemoryFdKHR;
    rig->allocator->device.vkGetMemoryFdKHR = give_no_descriptor;
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarExportMemory(rig->allocator, shared, OPAQUE, &exported),
                         VK_ERROR_UNKNOWN);
        assert_true(exported.handle == VK_NULL_HANDLE);
    }
    rig->allocator->device.vkGetMemoryFdKHR = driver;
    exported = rig_export(rig, shared);
    maarDestroyExternalHandle(rig->allocator, exported.handle);
    maarDestroyBuffer(rig->allocator, buffer, shared);
}

static VkResult VKAPI_CALL give_no_semaphore(VkDevice device, const VkSemaphoreGetFdInfoKHR* info,
                                             int* fd)
{
    (void)device;
    (void)info;
    *fd = -1;
    return VK_SUCCESS;
}

static void driver_that_gives_no_semaphore_has_failed(void** state)
{
    (void)state;
    start_sharing();
    const VkExternalSemaphoreHandleTypeFlagBits type =
        VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = VK_SEMAPHORE_TYPE_TIMELINE,
        .handleType = type,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSharedSemaphore(rig->allocator, &info, &semaphore), VK_SUCCESS);
    const PFN_vkGetSemaphoreFdKHR driver = rig->allocator->device.vkGetSemaphoreFdKHR;
    rig->allocator->device.vkGetSemaphoreFdKHR = give_no_semaphore;
    assert_int_equal(maarExportSemaphore(rig->allocator, semaphore, type, &handle),
                     VK_ERROR_UNKNOWN);
    assert_true(handle == VK_NULL_HANDLE);
    rig->allocator->device.vkGetSemaphoreFdKHR = driver;
    vkDestroySemaphore(rig->device, semaphore, rig->create_info.pAllocationCallbacks);
}

static void image_that_has_contents_from_the_start_is_refused(void** state)
{
    (void)state;
    start_sharing();
    VkImageCreateInfo info = rig_image_info(64, 64);
    info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    info.tiling = VK_IMAGE_TILING_LINEAR;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export_opaque;
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_LAYOUT, "initialLayout");
}

static void make_graph(struct graph_maker* graph, uint32_t width)
{
    const uint32_t family = 0;
    graph_init(graph, 1, &family);
    (void)graph_pass(graph, 0);
    const uint32_t image = graph_image(graph, width, 256);
    graph_use(graph, image, 0, GRAPH_COMPUTE_WRITE);
}

static void transients_are_not_exported(void** state)
{
    (void)state;
    static struct graph_maker graph;
    start_sharing();
    make_graph(&graph, 256);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &graph.graph,
        .pAllocationInfo = &how,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    how.pNext = &export_opaque;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export_opaque,
    };
    how.pNext = NULL;
    how.pool = rig_create_pool(rig, &pool_info);
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NOT_EXPORTABLE);
    maarDestroyPool(rig->allocator, how.pool);
}

/* A heap allocates again when it is updated; the caller's structures are the caller's by then. */
static void transients_forget_the_chain_they_were_made_with(void** state)
{
    (void)state;
    static struct graph_maker graphs[2];
    start_sharing();
    make_graph(&graphs[0], 256);
    make_graph(&graphs[1], 2048);
    MaarExportInfo chained = export_opaque;
    chained.sType = MAAR_STRUCTURE_TYPE_MAX_ENUM; /* of somebody else */
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &chained;
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &graphs[0].graph,
        .pAllocationInfo = &how,
    };
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap), VK_SUCCESS);
    chained = export_opaque;
    assert_int_equal(maarUpdateTransientHeap(rig->allocator, heap, &graphs[1].graph, 0, NULL),
                     VK_SUCCESS);
    assert_int_equal(rig_counters(rig).exportableLive, 0);
    maarDestroyTransientHeap(rig->allocator, heap);
    rig_expect_silence(rig);
}

/* The descriptor that it keeps is this test's to close. */
static void forgotten_handle_is_reported(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    rig = rig_begin(&setup);
    const uint32_t before = rig_count_fds();
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation allocation = rig_create_shared_buffer(rig, 4096, &buffer);
    const MaarExportedMemory kept = rig_export(rig, allocation);
    maarDestroyExternalHandle(rig->allocator, rig_export(rig, allocation).handle);
    const int fd = maarPeekFd(kept.handle);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_LEAK, "1");
    assert_int_equal(rig_count_fds(), before + 1);
    assert_int_equal(close(fd), 0);
    free(kept.handle); /* as its allocator, which has no callbacks, would */
}

static void pages_are_not_exported(void** state)
{
    (void)state;
    static MaarSimulatedProfile profile;
    profile = *rig_profile_discrete();
    profile.sparse.sparseBinding = VK_TRUE;
    profile.limits.sparseAddressSpaceSize = GIB;
    for (uint32_t i = 0; i < profile.queueFamilyCount; ++i) {
        profile.queueFamilies[i].flags |= VK_QUEUE_SPARSE_BINDING_BIT;
    }
    const struct rig_setup setup = {
        .profile = &profile,
        .paging = true,
        .sharing = rig_sharing_everything(),
    };
    rig = rig_begin(&setup);
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &paging,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export_opaque;
    how.pool = rig_create_pool(rig, &pool_info);
    const VkBufferCreateInfo info = rig_buffer_info(64 * MIB);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    VkImageCreateInfo image_info = rig_image_info(4096, 4096);
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &image_info, &how, &image, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    maarDestroyPool(rig->allocator, how.pool);
    how.pool = VK_NULL_HANDLE;
    const MaarReservationCreateInfo reservation_info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &info,
        .pMemoryInfo = &how,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &reservation_info, &reservation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED);
    const MaarSparseImageCreateInfo sparse_info = {
        .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO,
        .pImageInfo = &image_info,
        .pMemoryInfo = &how,
    };
    MaarSparseImage sparse = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSparseImage(rig->allocator, &sparse_info, &sparse),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_PAGES_NOT_SUPPORTED);
}

/* Vulkan asks for 16 bytes here, and some of CUDA's libraries rely on 256. */
static void exportable_memory_begins_where_cuda_s_own_does(void** state)
{
    VkBuffer buffers[3];
    MaarAllocation allocations[3];
    (void)state;
    start_sharing();
    for (uint32_t i = 0; i < 3; ++i) {
        allocations[i] = rig_create_shared_buffer(rig, 20, &buffers[i]);
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(rig->device, buffers[i], &needs);
        assert_true(needs.alignment < 256);
        assert_int_equal(rig_info(rig, allocations[i]).offset % 256, 0);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], allocations[i]);
    }
    /* A pool's own alignment holds besides. */
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .pNext = &export,
        .minAlignment = 96,
    };
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(rig->allocator, &pool_info, &pool), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    const MaarMemoryRequest request = rig_request(20, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocations[i]),
                         VK_SUCCESS);
        assert_int_equal(rig_info(rig, allocations[i]).offset % 768, 0);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        maarFreeMemory(rig->allocator, allocations[i]);
    }
    maarDestroyPool(rig->allocator, pool);
    rig_check(rig);
}

static void pool_without_the_handle_type_refuses_the_request(void** state)
{
    (void)state;
    start_sharing();
    const MaarPoolCreateInfo pool_info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export_opaque;
    how.pool = rig_create_pool(rig, &pool_info);
    const MaarMemoryRequest request = rig_request(4096, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocation),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_MISMATCH);
    assert_true(allocation == VK_NULL_HANDLE);
    maarDestroyPool(rig->allocator, how.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(exportable_memory_begins_where_cuda_s_own_does),
        rig_unit_test(pool_without_the_handle_type_refuses_the_request),
        rig_unit_test(pool_that_names_its_types_twice_must_name_the_same),
        rig_unit_test(export_info_without_a_type_is_refused),
        rig_unit_test(failed_export_leaves_nothing_to_destroy),
        rig_unit_test(driver_that_gives_no_descriptor_has_failed),
        rig_unit_test(driver_that_gives_no_semaphore_has_failed),
        rig_unit_test(image_that_has_contents_from_the_start_is_refused),
        rig_unit_test(transients_are_not_exported),
        rig_unit_test(transients_forget_the_chain_they_were_made_with),
        rig_unit_test(forgotten_handle_is_reported),
        rig_unit_test(pages_are_not_exported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
