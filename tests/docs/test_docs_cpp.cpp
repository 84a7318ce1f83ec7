/*
 * The C++ of docs/cpp.md compiles and does what the page says, on a simulated device that
 * Vulkan-Hpp reaches through its own dispatcher.
 */
#define VK_NO_PROTOTYPES
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <setjmp.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>

#include <maar/simulated.h>

#include "cpp.inc"

/* After the C++ library, which has names of its macros. It has no extern "C" of its own. */
extern "C" {
#include <cmocka.h>
}

VULKAN_HPP_DEFAULT_DISPATCH_LOADER_DYNAMIC_STORAGE

namespace
{

const VkDeviceSize MIB = 1u << 20;
const VkDeviceSize HEAP = 64 * MIB;

MaarSimulatedProfile make_profile()
{
    MaarSimulatedProfile profile{};
    profile.sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE;
    std::snprintf(profile.name, sizeof profile.name, "cpp");
    profile.limits.bufferImageGranularity = 1;
    profile.limits.nonCoherentAtomSize = 64;
    profile.limits.maxMemoryAllocationCount = 4096;
    profile.heapCount = 1;
    profile.heaps[0].size = HEAP;
    profile.heaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
    profile.typeCount = 1;
    profile.types[0].flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                             VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return profile;
}

/* Each allocation has pages of its own, which go with it: whoever uses an allocator that has ended
 * is stopped there. The page before an allocation holds its size. */
const size_t PAGE = 65536;

void* VKAPI_CALL take_pages(void*, size_t size, size_t, VkSystemAllocationScope) noexcept
{
    const size_t whole = size + PAGE;
    void* const pages =
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return nullptr;
    }
    *static_cast<size_t*>(pages) = whole;
    return static_cast<char*>(pages) + PAGE;
}

void VKAPI_CALL give_pages(void*, void* memory) noexcept
{
    if (memory != nullptr) {
        char* const pages = static_cast<char*>(memory) - PAGE;
        munmap(pages, *reinterpret_cast<size_t*>(pages));
    }
}

/* Nobody here makes an allocation larger. */
void* VKAPI_CALL take_more(void*, void*, size_t, size_t, VkSystemAllocationScope) noexcept
{
    return nullptr;
}

const VkAllocationCallbacks GUARDED = {nullptr,    take_pages, take_more,
                                       give_pages, nullptr,    nullptr};

/* An instance and a device, as a program has them. */
struct Program {
    vk::UniqueInstance instance;
    vk::PhysicalDevice gpu;
    vk::UniqueDevice device;
    SharedQueue queue;

    Program()
    {
        static const MaarSimulatedProfile profile = make_profile(); /* large: not on the stack */
        VULKAN_HPP_DEFAULT_DISPATCHER.init(maarSimulatedGetInstanceProcAddr);
        MaarSimulatedInstanceCreateInfo simulated{};
        simulated.sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO;
        simulated.profileCount = 1;
        simulated.pProfiles = &profile;
        const vk::ApplicationInfo application("test", 1, "none", 1, VK_API_VERSION_1_2);
        vk::InstanceCreateInfo info({}, &application);
        info.pNext = &simulated;
        instance = vk::createInstanceUnique(info);
        VULKAN_HPP_DEFAULT_DISPATCHER.init(*instance);
        gpu = instance->enumeratePhysicalDevices().front();
        const float priority = 1.0f;
        const vk::DeviceQueueCreateInfo queue_info({}, 0, 1, &priority);
        device = gpu.createDeviceUnique(vk::DeviceCreateInfo({}, queue_info));
        queue.queue = device->getQueue(0, 0);
    }

    MaarAllocatorCreateInfo info() const
    {
        MaarAllocatorCreateInfo made{};
        made.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_CREATE_INFO;
        made.apiVersion = VK_API_VERSION_1_2;
        made.instance = static_cast<VkInstance>(*instance);
        made.physicalDevice = static_cast<VkPhysicalDevice>(gpu);
        made.device = static_cast<VkDevice>(*device);
        made.pfnGetInstanceProcAddr = VULKAN_HPP_DEFAULT_DISPATCHER.vkGetInstanceProcAddr;
        made.pAllocationCallbacks = &GUARDED;
        return made;
    }

    void expect_no_violation() const
    {
        MaarSimulatedCounters counters{};
        counters.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS;
        maarSimulatedGetCounters(static_cast<VkPhysicalDevice>(gpu), &counters);
        assert_int_equal(counters.violationCount, 0);
    }
};

MaarStatistics statistics_of(MaarAllocator allocator)
{
    MaarStatistics statistics{};
    statistics.sType = MAAR_STRUCTURE_TYPE_STATISTICS;
    assert_int_equal(maarGetStatistics(allocator, VK_NULL_HANDLE, &statistics), VK_SUCCESS);
    return statistics;
}

uint32_t live(MaarAllocator allocator)
{
    return statistics_of(allocator).allocationCount;
}

const vk::BufferCreateInfo SMALL({}, 4096, vk::BufferUsageFlagBits::eStorageBuffer);
const vk::BufferCreateInfo TOO_LARGE({}, 2 * HEAP, vk::BufferUsageFlagBits::eStorageBuffer);

UniquePool make_pool(MaarAllocator allocator)
{
    const MaarPoolCreateInfo info = staging_pool(0, MIB);
    MaarPool pool = VK_NULL_HANDLE;
    check(maarCreatePool(allocator, &info, &pool), "maarCreatePool");
    return UniquePool(allocator, pool);
}

} // namespace

static void docs_owners_may_begin_empty(void** state)
{
    (void)state;
    const Program program;
    const UniqueAllocator allocator = make_allocator(program.info());
    {
        Buffer later;
        assert_true(later.buffer == VK_NULL_HANDLE);
        MaarAllocationCreateInfo how = how_for(MAAR_MEMORY_USAGE_UPLOAD);
        how.pName = "later";
        later = Buffer(allocator.get(), SMALL, how);
        assert_true(later.buffer != VK_NULL_HANDLE);
        MaarAllocationInfo got{};
        got.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO;
        assert_int_equal(maarGetAllocationInfo(allocator.get(), later.memory, &got), VK_SUCCESS);
        assert_string_equal(got.pName, "later");
        UniquePool no_pool;
        assert_true(no_pool.get() == VK_NULL_HANDLE);
    }
    assert_int_equal(live(allocator.get()), 0);
}

static void docs_buffers_end_with_their_owners(void** state)
{
    (void)state;
    const Program program;
    const UniqueAllocator allocator = make_allocator(program.info());
    {
        Buffer one(allocator.get(), SMALL, how_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL));
        Buffer two(allocator.get(), SMALL, how_for(MAAR_MEMORY_USAGE_DEVICE_UPLOAD));
        assert_int_equal(live(allocator.get()), 2);
        const VkBuffer handle = two.buffer;
        Buffer three(std::move(two));
        assert_true(three.buffer == handle && two.buffer == VK_NULL_HANDLE);
        one = Buffer(allocator.get(), SMALL, how_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL));
        assert_int_equal(live(allocator.get()), 2);
        assert_true(describe(three).buffer == vk::Buffer(handle));
        assert_int_equal(size_of(allocator.get(), describe(one).buffer,
                                 vk::MemoryPropertyFlagBits::eDeviceLocal, SMALL),
                         4096);
    }
    assert_int_equal(live(allocator.get()), 0);
    program.expect_no_violation();
}

static void docs_errors_are_exceptions_with_their_results(void** state)
{
    (void)state;
    const Program program;
    const UniqueAllocator allocator = make_allocator(program.info());
    vk::Result result = vk::Result::eSuccess;
    try {
        const Buffer none(allocator.get(), TOO_LARGE, how_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL));
    } catch (const vk::SystemError& error) {
        assert_non_null(std::strstr(error.what(), "maarCreateBuffer"));
        assert_true(error.code() == vk::Result::eErrorOutOfDeviceMemory);
        result = static_cast<vk::Result>(error.code().value());
    }
    assert_true(result == vk::Result::eErrorOutOfDeviceMemory);
    assert_true(check(VK_NOT_READY, "") == vk::Result::eNotReady);
    assert_int_equal(live(allocator.get()), 0);
    assert_int_equal(statistics_of(allocator.get()).blockCount, 0);
    program.expect_no_violation();
}

static void docs_members_end_in_the_right_order(void** state)
{
    (void)state;
    Program program;
    MaarAllocatorCreateInfo info = program.info();
    const MaarQueue queue = give_queue(program.queue, 0);
    info.queueCount = 1;
    info.pQueues = &queue;
    uint32_t reports = 0;
    info.pMessageUserData = &reports;
    info.pfnMessage = [](void* count, const MaarMessage*) noexcept {
        ++*static_cast<uint32_t*>(count);
    };
    {
        UniqueAllocator allocator = make_allocator(info);
        UniquePool pool = make_pool(allocator.get());
        Buffer vertices(allocator.get(), SMALL, how_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL));
        const Engine engine{std::move(program.device), std::move(allocator), std::move(pool),
                            std::move(vertices)};
        assert_int_equal(live(engine.allocator.get()), 1);
        assert_true(engine.pool.get() != VK_NULL_HANDLE);
    }
    /* No leak was reported. */
    assert_int_equal(reports, 0);
    program.expect_no_violation();
    lock_queue(&program.queue, VK_NULL_HANDLE);
    unlock_queue(&program.queue, VK_NULL_HANDLE);
    assert_true(program.queue.mutex.try_lock());
    program.queue.mutex.unlock();
}

static void docs_retired_buffer_ends_after_its_point(void** state)
{
    (void)state;
    const Program program;
    const UniqueAllocator allocator = make_allocator(program.info());
    const MaarPoint frame = {VK_NULL_HANDLE, 1};
    {
        Buffer old(allocator.get(), SMALL, how_for(MAAR_MEMORY_USAGE_DEVICE_LOCAL));
        retire(old, frame);
    }
    assert_int_equal(statistics_of(allocator.get()).pendingCount, 1);
    check(maarAdvanceHostTimeline(allocator.get(), 1), "maarAdvanceHostTimeline");
    check(maarCollect(allocator.get(), nullptr), "maarCollect");
    assert_int_equal(statistics_of(allocator.get()).pendingCount, 0);
    program.expect_no_violation();
}

static void docs_buffer_of_vulkan_hpp_lies_in_maars_memory(void** state)
{
    (void)state;
    const Program program;
    const UniqueAllocator allocator = make_allocator(program.info());
    {
        BufferOfTwo one = make_buffer(allocator.get(), *program.device, SMALL);
        assert_int_equal(live(allocator.get()), 1);
        /* The old buffer ends before the old memory, also here. */
        one = make_buffer(allocator.get(), *program.device, SMALL);
        assert_int_equal(live(allocator.get()), 1);
    }
    assert_int_equal(live(allocator.get()), 0);
    program.expect_no_violation();
}

static void docs_exception_of_a_callback_arrives_after_the_call(void** state)
{
    (void)state;
    const Program program;
    uint32_t calls = 0;
    bool throws = true;
    std::function<bool(VkDeviceSize)> give_up = [&](VkDeviceSize) {
        ++calls;
        if (throws) {
            throw std::runtime_error("no room");
        }
        return false;
    };
    MaarAllocatorCreateInfo info = program.info();
    info.pfnOutOfMemory = make_room;
    info.pOutOfMemoryUserData = &give_up;
    const UniqueAllocator allocator = make_allocator(info);
    const VkBufferCreateInfo& buffer_info = TOO_LARGE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    std::string caught;
    for (int i = 0; i < 2; ++i) {
        try {
            check_with_room(
                maarCreateBuffer(allocator.get(), &buffer_info, nullptr, &buffer, &memory),
                "maarCreateBuffer");
        } catch (const vk::SystemError&) {
            caught += "result";
        } catch (const std::runtime_error& error) {
            caught += std::string(error.what()) + ", ";
        }
        throws = false;
    }
    assert_string_equal(caught.c_str(), "no room, result");
    assert_int_equal(calls, 2);
    assert_int_equal(statistics_of(allocator.get()).blockCount, 0);
    program.expect_no_violation();
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(docs_owners_may_begin_empty),
        cmocka_unit_test(docs_buffers_end_with_their_owners),
        cmocka_unit_test(docs_errors_are_exceptions_with_their_results),
        cmocka_unit_test(docs_members_end_in_the_right_order),
        cmocka_unit_test(docs_retired_buffer_ends_after_its_point),
        cmocka_unit_test(docs_buffer_of_vulkan_hpp_lies_in_maars_memory),
        cmocka_unit_test(docs_exception_of_a_callback_arrives_after_the_call),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
