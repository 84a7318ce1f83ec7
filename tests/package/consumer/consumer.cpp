/*
 * A user of Maar in C++20: every public header in one translation unit, one function of each, and
 * objects that free what they own. Prints what is wrong and returns 1, or else nothing and 0.
 */
#define MAAR_ENABLE_EXPERIMENTAL 1
#include "consumer_headers.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "consumer_device.h"

namespace
{

using Function = void (*)();

template <typename Called> Function named(Called called)
{
    return reinterpret_cast<Function>(called);
}

/* Linked by their names in C, each from the library that has it. */
bool has_every_part()
{
    const std::array parts = {
        named(&maarGetVersion),        named(&maarCreateAllocator),
        named(&maarCreateImage),       named(&maarCreateRangeAllocator),
        named(&maarCreatePlan),        named(&maarCreateTransientHeap),
        named(&maarCreateReservation), named(&maarCreateTileCache),
        named(&maarExportMemory),      named(&maarSendHandle),
        named(&maarCreateCuda),        named(&maarCreateCudaMirror),
        named(&maarCreateHip),         named(&maarSimulatedGetInstanceProcAddr)};
    for (const Function part : parts) {
        if (part == nullptr) {
            return false;
        }
    }
    return true;
}

class Buffer
{
  public:
    Buffer(MaarAllocator allocator, VkDeviceSize size) : allocator_(allocator)
    {
        const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size = size,
                                         .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
        const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                              .usage = MAAR_MEMORY_USAGE_READBACK};
        result_ = maarCreateBuffer(allocator, &info, &how, &buffer_, &allocation_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept
        : allocator_(other.allocator_), buffer_(std::exchange(other.buffer_, VK_NULL_HANDLE)),
          allocation_(std::exchange(other.allocation_, VK_NULL_HANDLE)), result_(other.result_)
    {
    }
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer()
    {
        maarDestroyBuffer(allocator_, buffer_, allocation_);
    }

    [[nodiscard]] VkResult result() const
    {
        return result_;
    }
    [[nodiscard]] MaarAllocation memory() const
    {
        return allocation_;
    }

  private:
    MaarAllocator allocator_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    MaarAllocation allocation_ = VK_NULL_HANDLE;
    VkResult result_;
};

bool fills_buffers(MaarAllocator allocator)
{
    std::vector<Buffer> buffers;
    std::vector<std::uint32_t> numbers(1024);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<std::uint32_t>(i * i);
    }
    const auto bytes = std::as_bytes(std::span(numbers));
    for (int i = 0; i < 100; ++i) {
        buffers.emplace_back(allocator, bytes.size());
        if (buffers.back().result() != VK_SUCCESS) {
            return false;
        }
    }
    std::vector<std::byte> read(bytes.size());
    const MaarAllocation last = buffers.back().memory();
    return maarCopyToAllocation(allocator, last, 0, bytes.size(), bytes.data()) == VK_SUCCESS &&
           maarCopyFromAllocation(allocator, last, 0, read.size(), read.data()) == VK_SUCCESS &&
           std::memcmp(read.data(), bytes.data(), read.size()) == 0;
}

bool writes_dump(MaarAllocator allocator)
{
    std::size_t size = 0;
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .detailed = VK_TRUE};
    if (maarWriteDump(allocator, &info, &size, nullptr) != VK_SUCCESS) {
        return false;
    }
    std::string text(size, ' ');
    return maarWriteDump(allocator, &info, &size, text.data()) == VK_SUCCESS &&
           text.find("maar-dump/1") != std::string::npos;
}

bool plans()
{
    const std::array<MaarPlanResource, 2> resources = {
        MaarPlanResource{.size = 4096, .alignment = 256, .firstPass = 0, .lastPass = 0},
        MaarPlanResource{.size = 4096, .alignment = 256, .firstPass = 1, .lastPass = 1}};
    const MaarPlanCreateInfo create = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                       .resourceCount =
                                           static_cast<std::uint32_t>(resources.size()),
                                       .pResources = resources.data()};
    MaarPlan plan = VK_NULL_HANDLE;
    MaarPlanInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    const bool made =
        maarCreatePlan(&create, &plan) == VK_SUCCESS && maarGetPlanInfo(plan, &info) == VK_SUCCESS;
    maarDestroyPlan(plan);
    return made && info.peakSize == 4096;
}

} // namespace

int main()
{
    static_assert(std::is_standard_layout_v<MaarAllocatorCreateInfo>);
    if (maarGetVersion() != MAAR_VERSION || !has_every_part()) {
        return consumer_fail("headers and library differ");
    }
    if (!plans()) {
        return consumer_fail("two that live in turn do not share");
    }
    consumer_device device = {};
    if (consumer_open(&device) != 0) {
        return 1;
    }
    int wrong = 0;
    if (!fills_buffers(device.allocator)) {
        wrong = consumer_fail("buffers hold other bytes than were written");
    }
    if (!writes_dump(device.allocator)) {
        wrong = consumer_fail("no dump");
    }
    return wrong | consumer_close(&device);
}
