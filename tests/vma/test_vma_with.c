/*
 * An allocator of this interface that knows what its create info cannot say: it submits to a
 * queue, knows the features, and calls the program back.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

static char logged[4096];

static void keep_line(const char* text)
{
    const size_t length = strlen(logged);
    (void)snprintf(logged + length, sizeof logged - length, "%s\n", text);
}

#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_ASSERT(expression)
#define VMA_DEBUG_LOG_FORMAT(format, text) keep_line(text)
#define VMA_IMPLEMENTATION
#include <maar/vma.h>

static const VmaAllocationCreateInfo plain = {.usage = VMA_MEMORY_USAGE_AUTO};

/* Opens a device with sparse binding; no allocator of Maar's own. */
static struct rig* begin_rig(void)
{
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    logged[0] = '\0';
    return rig;
}

static VkResult open_as(struct rig* rig, VmaAllocatorCreateInfo info,
                        const MaarAllocatorCreateInfo* more, VmaAllocator* allocator)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    info.instance = rig->instance;
    info.physicalDevice = rig->physical;
    info.device = rig->device;
    info.pVulkanFunctions = &functions;
    info.vulkanApiVersion = VK_API_VERSION_1_3;
    return maarVmaCreateAllocatorWith(&info, more, allocator);
}

static VmaAllocator open_with(struct rig* rig, const MaarAllocatorCreateInfo* more)
{
    const VmaAllocatorCreateInfo info = {.flags = 0};
    VmaAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(open_as(rig, info, more, &allocator), VK_SUCCESS);
    return allocator;
}

/* The features and queues of the rig, and nothing else. */
static MaarAllocatorCreateInfo told(const struct rig* rig)
{
    return (MaarAllocatorCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .pEnabledFeatures = rig->create_info.pEnabledFeatures,
        .queueCount = rig->create_info.queueCount,
        .pQueues = rig->create_info.pQueues,
    };
}

static VkResult reserve(VmaAllocator allocator, MaarReservation* made)
{
    VkBufferCreateInfo info = rig_buffer_info(MIB);
    const MaarReservationCreateInfo reserve = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
        .pBufferInfo = &info,
    };
    return maarCreateReservation(maarVmaGetMaarAllocator(allocator), &reserve, made);
}

/* Moves a movable buffer by a queue. */
static VkResult move(VmaAllocator allocator, MaarAllocation memory)
{
    const MaarAllocator maar = maarVmaGetMaarAllocator(allocator);
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    const MaarMoveSubmitInfo submit = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarPoint copied = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarBeginMoves(maar, &begin, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(maar, batch), VK_SUCCESS);
    const VkResult result = maarSubmitMoves(maar, batch, &submit, &copied);
    if (result != VK_SUCCESS) {
        assert_int_equal(maarCancelMoves(maar, batch, 0, NULL), VK_SUCCESS);
        return result;
    }
    assert_int_equal(maarCommitMoves(maar, batch, 1, &copied, NULL), VK_SUCCESS);
    return maarWaitPending(maar, UINT64_MAX);
}

static void queues_and_features_serve_reservations_and_moves(void** state)
{
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &movable};
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    (void)state;
    struct rig* const rig = begin_rig();
    const MaarAllocatorCreateInfo more = told(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        const VmaAllocator allocator = open_with(rig, i == 0 ? NULL : &more);
        const MaarAllocator maar = maarVmaGetMaarAllocator(allocator);
        const VkResult expected = i == 0 ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS;
        const MaarPoint point = {rig_create_timeline(rig, 1), 1};
        MaarReservation reservation = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        VkBuffer buffer = VK_NULL_HANDLE;
        assert_int_equal(reserve(allocator, &reservation), expected);
        maarDestroyReservation(maar, reservation);
        assert_int_equal(maarCreateBuffer(maar, &info, &how, &buffer, &memory), VK_SUCCESS);
        assert_int_equal(move(allocator, memory),
                         i == 0 ? VK_ERROR_VALIDATION_FAILED_EXT : expected);
        assert_int_equal(maarDestroyBufferAfter(maar, VK_NULL_HANDLE, memory, 1, &point), expected);
        if (i == 0) {
            assert_non_null(strstr(logged, "created without timelineSemaphore in its features"));
            maarDestroyBuffer(maar, VK_NULL_HANDLE, memory);
        }
        assert_int_equal(maarWaitPending(maar, UINT64_MAX), VK_SUCCESS);
        vmaDestroyAllocator(allocator);
        vkDestroySemaphore(rig->device, point.semaphore, NULL);
    }
}

/* ---- callbacks ---- */

struct heard {
    uint32_t messages;
    MaarMessageId last;
    uint32_t shortages;
    uint32_t made;
    uint32_t freed;
};

static void VKAPI_PTR hear(void* user, const MaarMessage* message)
{
    struct heard* heard = user;
    ++heard->messages;
    heard->last = message->id;
    assert_non_null(message->pIdName);
}

static VkBool32 VKAPI_PTR hear_shortage(void* user, const MaarOutOfMemoryInfo* info)
{
    struct heard* heard = user;
    (void)info;
    ++heard->shortages;
    return VK_FALSE;
}

static void VKAPI_PTR hear_made(void* user, uint32_t type, VkDeviceMemory memory, VkDeviceSize size)
{
    struct heard* heard = user;
    (void)type;
    (void)memory;
    (void)size;
    ++heard->made;
}

static void VKAPI_PTR hear_freed(void* user, uint32_t type, VkDeviceMemory memory,
                                 VkDeviceSize size)
{
    struct heard* heard = user;
    (void)type;
    (void)memory;
    (void)size;
    ++heard->freed;
}

static void callbacks_are_called(void** state)
{
    struct heard heard = {0};
    VmaAllocation made = VK_NULL_HANDLE;
    const VkMemoryRequirements needs = {.size = 4096, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    (void)state;
    struct rig* const rig = begin_rig();
    MaarAllocatorCreateInfo more = told(rig);
    more.pfnMessage = hear;
    more.pMessageUserData = &heard;
    more.pfnOutOfMemory = hear_shortage;
    more.pOutOfMemoryUserData = &heard;
    more.pfnDeviceAllocate = hear_made;
    more.pfnDeviceFree = hear_freed;
    more.pDeviceMemoryUserData = &heard;
    const VmaAllocator allocator = open_with(rig, &more);
    assert_int_equal(vmaAllocateMemory(allocator, &needs, &plain, &made, NULL), VK_SUCCESS);
    assert_int_equal(heard.made, 1);
    vmaFreeMemory(allocator, made);
    vmaFreeMemory(allocator, made);
    assert_true(heard.messages > 0);
    assert_int_equal(heard.last, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_non_null(strstr(logged, "was freed already")); /* the unit's macros hear it, too */
    const VkMemoryRequirements much = {
        .size = 100 * GIB, .alignment = 4, .memoryTypeBits = UINT32_MAX};
    assert_int_not_equal(vmaAllocateMemory(allocator, &much, &plain, &made, NULL), VK_SUCCESS);
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT32_MAX, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const VmaAllocationCreateInfo own = {.flags = VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT,
                                         .usage = VMA_MEMORY_USAGE_AUTO};
    assert_int_not_equal(vmaAllocateMemory(allocator, &needs, &own, &made, NULL), VK_SUCCESS);
    rig_clear_faults(rig);
    assert_true(heard.shortages > 0);
    vmaDestroyAllocator(allocator);
    assert_int_equal(heard.freed, heard.made);
}

/* ---- both say it ---- */

static uint32_t forwarded;

static void VKAPI_PTR note_made(VmaAllocator allocator, uint32_t type, VkDeviceMemory memory,
                                VkDeviceSize size, void* user)
{
    (void)allocator;
    (void)type;
    (void)memory;
    (void)size;
    (void)user;
    ++forwarded;
}

/* What the interface's create info says wins; what it leaves out is taken. */
static void the_create_info_of_the_interface_wins(void** state)
{
    static const VmaDeviceMemoryCallbacks callbacks = {.pfnAllocate = note_made};
    const VkDeviceSize limits[2][3] = {{32 * MIB, 0, 0}, {64 * MIB, VK_WHOLE_SIZE, VK_WHOLE_SIZE}};
    const VkPhysicalDeviceMemoryProperties* memory = NULL;
    struct heard heard = {0};
    VmaAllocation made = VK_NULL_HANDLE;
    const VkMemoryRequirements needs = {.size = 4096, .alignment = 4, .memoryTypeBits = 1};
    (void)state;
    struct rig* const rig = begin_rig();
    MaarAllocatorCreateInfo more = told(rig);
    more.device = (VkDevice)(uintptr_t)8; /* not taken */
    more.instance = VK_NULL_HANDLE;
    more.apiVersion = 1;
    more.heapSizeLimitCount = 3;
    more.pHeapSizeLimits = limits[0];
    more.pfnDeviceAllocate = hear_made;
    more.pDeviceMemoryUserData = &heard;
    more.enabledExtensionCount = rig->create_info.enabledExtensionCount;
    more.ppEnabledExtensionNames = rig->create_info.ppEnabledExtensionNames;
    for (uint32_t i = 0; i < 2; ++i) {
        const VmaAllocatorCreateInfo info = {
            .flags =
                i == 1 ? (VmaAllocatorCreateFlags)VMA_ALLOCATOR_CREATE_KHR_DEDICATED_ALLOCATION_BIT
                       : 0,
            .pHeapSizeLimit = i == 1 ? limits[1] : NULL,
            .pDeviceMemoryCallbacks = i == 1 ? &callbacks : NULL,
        };
        MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
        VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
        VmaAllocator allocator = VK_NULL_HANDLE;
        assert_int_equal(open_as(rig, info, &more, &allocator), VK_SUCCESS);
        vmaGetMemoryProperties(allocator, &memory);
        assert_int_equal(memory->memoryHeaps[0].size, (i == 0 ? 32 : 64) * MIB);
        assert_int_equal(memory->memoryHeaps[1].size, 16 * GIB);
        assert_int_equal(maarGetAllocatorInfo(maarVmaGetMaarAllocator(allocator), &known),
                         VK_SUCCESS);
        assert_int_equal(known.memoryBudget, VK_TRUE); /* an extension of the program's list */
        vmaGetHeapBudgets(allocator, budgets);
        assert_int_equal(budgets[0].budget, memory->memoryHeaps[0].size);
        assert_int_equal(vmaAllocateMemory(allocator, &needs, &plain, &made, NULL), VK_SUCCESS);
        assert_int_equal(heard.made, 1);
        assert_int_equal(forwarded, i);
        vmaFreeMemory(allocator, made);
        vmaDestroyAllocator(allocator);
    }
}

static void a_wrong_structure_is_refused(void** state)
{
    const VmaAllocatorCreateInfo info = {.flags = 0};
    VmaAllocator allocator = (VmaAllocator)(uintptr_t)8;
    (void)state;
    struct rig* const rig = begin_rig();
    MaarAllocatorCreateInfo more = told(rig);
    more.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO;
    assert_int_equal(open_as(rig, info, &more, &allocator), VK_ERROR_INITIALIZATION_FAILED);
    assert_null(allocator);
    assert_non_null(strstr(logged, "maarVmaCreateAllocatorWith: pMaarInfo->sType"));
    more = told(rig);
    more.queueCount = 1;
    more.pQueues = NULL;
    logged[0] = '\0';
    assert_int_equal(open_as(rig, info, &more, &allocator), VK_ERROR_INITIALIZATION_FAILED);
    assert_non_null(strstr(logged, "pQueues"));
}

/* A unit of an earlier header has no such field: it counts as NULL. */
static void shorter_structures_have_no_more(void** state)
{
    (void)state;
    struct rig* const rig = begin_rig();
    MaarAllocatorCreateInfo more = told(rig);
    more.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO;
    const MaarVmaAllocatorCreateInfo info = {
        .structureSize = (uint32_t)offsetof(MaarVmaAllocatorCreateInfo, pMaarInfo),
        .vulkanApiVersion = VK_API_VERSION_1_1,
        .instance = rig->instance,
        .physicalDevice = rig->physical,
        .device = rig->device,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .pMaarInfo = &more,
    };
    VmaAllocator allocator = VK_NULL_HANDLE;
    assert_int_equal(maarVmaCreateAllocator(&info, &allocator), VK_SUCCESS);
    vmaDestroyAllocator(allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(queues_and_features_serve_reservations_and_moves),
        rig_unit_test(callbacks_are_called),
        rig_unit_test(the_create_info_of_the_interface_wins),
        rig_unit_test(a_wrong_structure_is_refused),
        rig_unit_test(shorter_structures_have_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
