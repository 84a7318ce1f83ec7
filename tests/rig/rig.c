/*
 * Opening and closing, looking and doing.
 */
#include "tests/rig/rig_internal.h"

#include <stdio.h>
#ifndef _WIN32
#include <signal.h>
#include <unistd.h>
#endif

/* ---- opening ---- */

static void VKAPI_PTR forward_call(void* user, const char* function)
{
    struct rig* rig = user;
    if (rig->call != NULL) {
        rig->call(rig->call_data, function);
    }
}

static void VKAPI_PTR keep_violation(void* user, MaarSimulatedViolation violation, const char* text)
{
    struct rig* rig = user;
    (void)violation;
    (void)snprintf(rig->violation, sizeof rig->violation, "%s", text);
}

static bool is_switched_off(const char* extension, VkFlags off)
{
    static const struct {
        const char* name;
        VkFlags bit;
    } rows[] = {
        {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, RIG_OFF_BUDGET},
        {VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME, RIG_OFF_PRIORITY},
        {VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME, RIG_OFF_PRIORITY | RIG_OFF_PAGEABLE},
        {VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, RIG_OFF_ADDRESS},
        {VK_KHR_MAINTENANCE_4_EXTENSION_NAME, RIG_OFF_MAINTENANCE4},
        {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, RIG_OFF_TIMELINE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        if (strcmp(rows[i].name, extension) == 0) {
            return (rows[i].bit & off) != 0;
        }
    }
    return false;
}

/* Takes a structure out of the recommendation's chain. */
static void unlink_structure(MaarDeviceRecommendation* recommendation, const void* structure)
{
    VkBaseOutStructure* at = recommendation->pFeatures;
    for (; at != NULL && at->pNext != NULL; at = at->pNext) {
        if ((const void*)at->pNext == structure) {
            at->pNext = at->pNext->pNext;
            return;
        }
    }
}

static void switch_off(struct rig* rig, VkFlags off)
{
    MaarDeviceRecommendation* recommendation = &rig->recommendation;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recommendation->extensionCount; ++i) {
        if (!is_switched_off(recommendation->ppExtensionNames[i], off)) {
            rig->extensions[kept++] = recommendation->ppExtensionNames[i];
        }
    }
    recommendation->extensionCount = kept;
    if ((off & (RIG_OFF_PRIORITY | RIG_OFF_PAGEABLE)) != 0) {
        unlink_structure(recommendation, &recommendation->pageableDeviceLocalMemory);
    }
    if ((off & RIG_OFF_PRIORITY) != 0) {
        unlink_structure(recommendation, &recommendation->memoryPriority);
    }
    if ((off & RIG_OFF_ADDRESS) != 0) {
        unlink_structure(recommendation, &recommendation->bufferDeviceAddress);
    }
    if ((off & RIG_OFF_MAINTENANCE4) != 0) {
        unlink_structure(recommendation, &recommendation->maintenance4);
    }
    if ((off & RIG_OFF_TIMELINE) != 0) {
        unlink_structure(recommendation, &recommendation->timelineSemaphore);
    }
    VkPhysicalDeviceFeatures* features = &recommendation->features.features;
    if ((off & (RIG_OFF_SPARSE | RIG_OFF_RESIDENCY)) != 0) {
        features->sparseResidencyBuffer = VK_FALSE;
        features->sparseResidencyImage2D = VK_FALSE;
        features->sparseResidencyImage3D = VK_FALSE;
        features->sparseResidencyAliased = VK_FALSE;
    }
    if ((off & RIG_OFF_SPARSE) != 0) {
        features->sparseBinding = VK_FALSE;
    }
}

/* The main family, and the first other one that computes. */
static void choose_families(struct rig* rig, bool two)
{
    VkQueueFamilyProperties properties[16];
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(rig->physical, &count,
                                             NULL); /* SwiftShader needs it */
    count = count < 16 ? count : 16;
    rig->families[0] = rig->recommendation.mainQueueFamily;
    rig->family_count = 1;
    vkGetPhysicalDeviceQueueFamilyProperties(rig->physical, &count, properties);
    for (uint32_t i = 0; i < count && two && rig->family_count == 1; ++i) {
        if (i != rig->families[0] && (properties[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            rig->families[rig->family_count++] = i;
        }
    }
}

/* The family that binds, if any; it is the main one where that can. */
static uint32_t paging_family(const struct rig* rig)
{
    const uint32_t sparse = rig->recommendation.sparseQueueFamily;
    return sparse != UINT32_MAX ? sparse : rig->families[0];
}

static void create_device(struct rig* rig, const struct rig_setup* setup)
{
    const float priority = 1.0F;
    VkDeviceQueueCreateInfo queues[RIG_QUEUES + 1];
    choose_families(rig, setup->two_families);
    uint32_t count = 0;
    bool has_paging = !setup->paging;
    for (; count < rig->family_count; ++count) {
        queues[count] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = rig->families[count],
            .queueCount = 1,
            .pQueuePriorities = &priority,
        };
        has_paging = has_paging || rig->families[count] == paging_family(rig);
    }
    if (!has_paging) {
        queues[count] = queues[0];
        queues[count++].queueFamilyIndex = paging_family(rig);
    }
    const VkDeviceMemoryOverallocationCreateInfoAMD overallocation = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_MEMORY_OVERALLOCATION_CREATE_INFO_AMD,
        .pNext = rig->recommendation.pFeatures,
        .overallocationBehavior = setup->overallocation,
    };
    if (setup->overallocation != 0) {
        assert_true(rig->recommendation.extensionCount < MAAR_MAX_RECOMMENDED_EXTENSIONS);
        rig->extensions[rig->recommendation.extensionCount++] =
            VK_AMD_MEMORY_OVERALLOCATION_BEHAVIOR_EXTENSION_NAME;
    }
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = setup->overallocation != 0 ? (const void*)&overallocation
                                            : rig->recommendation.pFeatures,
        .queueCreateInfoCount = count,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = rig->recommendation.extensionCount,
        .ppEnabledExtensionNames = rig->extensions,
    };
    assert_int_equal(vkCreateDevice(rig->physical, &info, NULL, &rig->device), VK_SUCCESS);
    volkLoadDevice(rig->device);
    for (uint32_t i = 0; i < rig->family_count; ++i) {
        vkGetDeviceQueue(rig->device, rig->families[i], 0, &rig->queues[i]);
    }
    rig->queue = rig->queues[0];
    if (setup->paging) {
        MaarQueue* queues_of_maar = rig->paging_queues;
        queues_of_maar[0].familyIndex = paging_family(rig);
        vkGetDeviceQueue(rig->device, paging_family(rig), 0, &queues_of_maar[0].queue);
        queues_of_maar[1] = (MaarQueue){.familyIndex = rig->families[0], .queue = rig->queue};
    }
}

/* cmocka would go on with the teardown of the case, where the library waits for ever for a lock
 * that the crash has left. The process ends instead, and says why. */
#ifdef _WIN32
static void end_at_a_crash(void)
{
}
#else
static void say_and_end(int number)
{
    static const char text[] = "\ncrashed: the rest of the cases is not run\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void end_at_a_crash(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        (void)signal(signals[i], say_and_end);
    }
}
#endif

void rig_open_device(struct rig* rig, const struct rig_setup* setup)
{
    end_at_a_crash();
    rig_host_init(rig);
    rig->recommendation.sType = MAAR_STRUCTURE_TYPE_DEVICE_RECOMMENDATION;
    /* Vulkan 1.0 has no chains of features. The first family of simulated devices is the main one.
     */
    if (rig_api_version(setup) >= VK_API_VERSION_1_1) {
        assert_int_equal(maarRecommendDevice(vkGetInstanceProcAddr, rig->instance, rig->physical,
                                             NULL, &rig->recommendation),
                         VK_SUCCESS);
    }
    assert_int_not_equal(rig->recommendation.mainQueueFamily, UINT32_MAX);
    switch_off(rig, setup->off);
    create_device(rig, setup);
    rig->create_info = (MaarAllocatorCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO,
        .apiVersion = rig_api_version(setup),
        .instance = rig->instance,
        .physicalDevice = rig->physical,
        .device = rig->device,
        .enabledExtensionCount = rig->recommendation.extensionCount,
        .ppEnabledExtensionNames = rig->extensions,
        .pEnabledFeatures = rig->recommendation.pFeatures,
        .pAllocationCallbacks = setup->count_host ? &rig->host_callbacks : NULL,
        .preferredBlockSize = setup->preferred_block,
        .pfnMessage = rig_keep_message,
        .pMessageUserData = &rig->messages,
    };
    maarUseVolk(&rig->create_info);
    if (rig->simulated) {
        rig_use_asked_functions(rig);
    }
    if (setup->paging) {
        /* Where the main queue binds, it is the only one. */
        rig->create_info.queueCount = rig->paging_queues[0].queue == rig->queue ? 1 : 2;
        rig->create_info.pQueues = rig->paging_queues;
    }
}

void rig_open(struct rig* rig, const struct rig_setup* setup)
{
    static const struct rig_setup defaults = {.profile = NULL};
    memset(rig, 0, sizeof *rig);
    rig->simulated = true;
    setup = setup != NULL ? setup : &defaults;
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .pNext = setup->sharing,
        .flags = setup->flags,
        .profileCount = 1,
        .pProfiles = setup->profile != NULL ? setup->profile : rig_profile_discrete(),
        .pfnCall = forward_call,
        .pfnViolation = keep_violation,
        .pUserData = rig,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = rig_api_version(setup),
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = &simulated,
        .pApplicationInfo = &application,
    };
    volkInitializeCustom(maarSimulatedGetInstanceProcAddr);
    assert_int_equal(vkCreateInstance(&info, NULL, &rig->instance), VK_SUCCESS);
    volkLoadInstanceOnly(rig->instance);
    uint32_t count = 1;
    assert_int_equal(vkEnumeratePhysicalDevices(rig->instance, &count, &rig->physical), VK_SUCCESS);
    rig_open_device(rig, setup);
}

void rig_make_allocator(struct rig* rig)
{
    VkResult result = maarCreateAllocator(&rig->create_info, &rig->allocator);
    if (result != VK_SUCCESS) {
        fail_msg("no allocator: %d, \"%s\"", (int)result, rig->messages.last);
    }
    assert_non_null(rig->allocator);
}

void rig_start(struct rig* rig, const struct rig_setup* setup)
{
    rig_open(rig, setup);
    rig_make_allocator(rig);
}

static void check_simulated_end(const struct rig* rig, const MaarSimulatedCounters* counters)
{
    if (counters->violationCount != rig->expected_violations) {
        fail_msg("%u violations of Vulkan's rules, the last: %s",
                 (unsigned)counters->violationCount, rig->violation);
    }
    assert_int_equal(counters->liveCount[MAAR_SIMULATED_OBJECT_MEMORY], 0);
    assert_int_equal(counters->freedWhileMappedCount, 0);
}

void rig_close(struct rig* rig)
{
    rig->call = NULL;
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    vkDestroyDevice(rig->device, NULL);
    const MaarSimulatedCounters counters =
        rig->simulated ? rig_counters(rig) : (MaarSimulatedCounters){.violationCount = 0};
    if (rig->messenger != VK_NULL_HANDLE) {
        vkDestroyDebugUtilsMessengerEXT(rig->instance, rig->messenger, NULL);
    }
    vkDestroyInstance(rig->instance, NULL);
    rig->instance = VK_NULL_HANDLE;
    if (rig->simulated) {
        check_simulated_end(rig, &counters);
    }
    if (atomic_load(&rig->validation_count) != 0) {
        fail_msg("%u validation messages, the first: %s",
                 (unsigned)atomic_load(&rig->validation_count), rig->validation_text);
    }
    assert_int_equal(atomic_load(&rig->host.live), 0);
    assert_int_equal(atomic_load(&rig->host.live_bytes), 0);
}

/* Rigs of the case that is running, the newest first. */
struct case_rig {
    struct rig rig; /* first */
    struct case_rig* next;
};

static struct case_rig* case_rigs;

struct rig* rig_new(void)
{
    struct case_rig* made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->next = case_rigs;
    case_rigs = made;
    return &made->rig;
}

struct rig* rig_begin(const struct rig_setup* setup)
{
    struct rig* rig = rig_new();
    rig_start(rig, setup);
    return rig;
}

int rig_end_case(void** state)
{
    (void)state;
    while (case_rigs != NULL) {
        struct case_rig* last = case_rigs;
        case_rigs = last->next;
        if (last->rig.instance != VK_NULL_HANDLE) {
            rig_close(&last->rig);
        }
        free(last);
    }
    return 0;
}

/* ---- looking ---- */

void rig_check(struct rig* rig)
{
    const char* broken = NULL;
    VkResult result = maarCheckAllocator(rig->allocator, &broken);
    if (result != VK_SUCCESS || broken != NULL) {
        fail_msg("the heavy check answers %d: %s", (int)result, broken != NULL ? broken : "");
    }
}

MaarStatistics rig_statistics(struct rig* rig, MaarPool pool)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    assert_int_equal(maarGetStatistics(rig->allocator, pool, &statistics), VK_SUCCESS);
    assert_true(statistics.allocationBytes + statistics.pendingBytes + statistics.paddingBytes +
                    statistics.freeBytes ==
                statistics.blockBytes);
    assert_true(statistics.peakAllocationBytes <= statistics.peakBlockBytes);
    return statistics;
}

MaarAllocationInfo rig_info(struct rig* rig, MaarAllocation allocation)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(rig->allocator, allocation, &info), VK_SUCCESS);
    return info;
}

MaarDetailedStatistics rig_details(struct rig* rig, MaarPool pool)
{
    MaarDetailedStatistics details = {.sType = MAAR_STRUCTURE_TYPE_DETAILED_STATISTICS};
    assert_int_equal(maarGetDetailedStatistics(rig->allocator, pool, &details), VK_SUCCESS);
    return details;
}

MaarAllocatorInfo rig_allocator_info(struct rig* rig)
{
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &info), VK_SUCCESS);
    return info;
}

MaarHeapBudget rig_budget(struct rig* rig, uint32_t heap)
{
    MaarHeapBudget budgets[VK_MAX_MEMORY_HEAPS];
    uint32_t count = VK_MAX_MEMORY_HEAPS;
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = (MaarHeapBudget){.sType = MAAR_STRUCTURE_TYPE_HEAP_BUDGET};
    }
    assert_int_equal(maarGetHeapBudgets(rig->allocator, &count, budgets), VK_SUCCESS);
    assert_true(heap < count);
    return budgets[heap];
}

MaarSimulatedCounters rig_counters(struct rig* rig)
{
    MaarSimulatedCounters counters = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS};
    maarSimulatedGetCounters(rig->physical, &counters);
    return counters;
}

/* The name under which a rig of Vulkan 1.0 calls a function of 1.1. */
static const char* name_of_version(const struct rig* rig, const char* function)
{
    static const char* const names[][2] = {
        {"vkBindBufferMemory2", "vkBindBufferMemory"},
        {"vkBindImageMemory2", "vkBindImageMemory"},
        {"vkGetBufferMemoryRequirements2", "vkGetBufferMemoryRequirements"},
        {"vkGetImageMemoryRequirements2", "vkGetImageMemoryRequirements"},
    };
    for (size_t i = 0; function != NULL && i < sizeof names / sizeof names[0]; ++i) {
        if (rig->create_info.apiVersion < VK_API_VERSION_1_1 &&
            strcmp(names[i][0], function) == 0) {
            return names[i][1];
        }
    }
    return function;
}

uint64_t rig_calls(struct rig* rig, const char* function)
{
    return maarSimulatedGetCallCount(rig->physical, name_of_version(rig, function));
}

/* ---- doing ---- */

MaarMemoryRequest rig_request(VkDeviceSize size, VkDeviceSize alignment, uint32_t type_bits,
                              MaarResourceKind kind)
{
    return (MaarMemoryRequest){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = type_bits},
        .kind = kind,
    };
}

MaarAllocationCreateInfo rig_how(MaarMemoryUsage usage)
{
    return (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = usage,
    };
}

MaarDefragmentation rig_begin_run(struct rig* rig, const MaarDefragmentationBeginInfo* info)
{
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, info, &run), VK_SUCCESS);
    return run;
}

MaarAllocation rig_allocate(struct rig* rig, VkDeviceSize size, const MaarAllocationCreateInfo* how)
{
    MaarMemoryRequest request = rig_request(size, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    VkResult result = maarAllocateMemory(rig->allocator, &request, how, &allocation);
    if (result != VK_SUCCESS) {
        fail_msg("no memory: %d, \"%s\"", (int)result, rig->messages.last);
    }
    assert_true(allocation != VK_NULL_HANDLE);
    return allocation;
}

VkResult rig_try(struct rig* rig, VkDeviceSize size, const MaarAllocationCreateInfo* how,
                 MaarAllocation* allocation)
{
    const MaarMemoryRequest request = rig_request(size, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    *allocation = (MaarAllocation)(uintptr_t)1;
    const VkResult result = maarAllocateMemory(rig->allocator, &request, how, allocation);
    assert_int_equal(result == VK_SUCCESS, *allocation != VK_NULL_HANDLE);
    return result;
}

MaarPool rig_create_pool(struct rig* rig, const MaarPoolCreateInfo* info)
{
    MaarPoolCreateInfo copy = *info;
    MaarPool pool = VK_NULL_HANDLE;
    copy.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO;
    VkResult result = maarCreatePool(rig->allocator, &copy, &pool);
    if (result != VK_SUCCESS) {
        fail_msg("no pool: %d, \"%s\"", (int)result, rig->messages.last);
    }
    assert_non_null(pool);
    return pool;
}

VkBufferCreateInfo rig_buffer_info(VkDeviceSize size)
{
    return (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
}

VkImageCreateInfo rig_image_info(uint32_t width, uint32_t height)
{
    return (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {width, height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
}

VkCommandBuffer rig_open_commands(struct rig* rig, VkCommandPool* pool)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkCreateCommandPool(rig->device, &pool_info, NULL, pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    return commands;
}

VkSemaphore rig_create_timeline(struct rig* rig, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = value,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(vkCreateSemaphore(rig->device, &info, NULL, &semaphore), VK_SUCCESS);
    return semaphore;
}

void rig_signal(struct rig* rig, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = semaphore,
        .value = value,
    };
    assert_int_equal(vkSignalSemaphore(rig->device, &info), VK_SUCCESS);
}

void rig_set_fault(struct rig* rig, const char* function, uint64_t nth, uint64_t count,
                   VkResult result)
{
    const MaarSimulatedFault fault = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
        .pFunctionName = name_of_version(rig, function),
        .nth = nth,
        .count = count,
        .result = result,
    };
    assert_int_equal(maarSimulatedSetFault(rig->physical, &fault), VK_SUCCESS);
}

void rig_clear_faults(struct rig* rig)
{
    assert_int_equal(maarSimulatedSetFault(rig->physical, NULL), VK_SUCCESS);
}

/* ---- numbers ---- */

uint32_t rig_next(struct rig_random* random)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = random->state ^ (random->state >> 29);
    return (uint32_t)((mixed * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

uint32_t rig_below(struct rig_random* random, uint32_t bound)
{
    return (uint32_t)(((uint64_t)rig_next(random) * bound) >> 32);
}

uint64_t rig_seed(uint64_t preset)
{
    const char* text = getenv("MAAR_TEST_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : preset;
    print_message("seed %llu (set MAAR_TEST_SEED to repeat another)\n", (unsigned long long)seed);
    return seed;
}
