/*
 * The address space that all sparse objects of a device take together.
 */
#include "core/paging/address_space.h"

#include "core/paging/paging_state.h"

VkResult maar_paging_take_space(MaarAllocator allocator, const char* call, VkDeviceSize size,
                                const char* fallback)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    const VkDeviceSize limit = allocator->device.facts.properties.limits.sparseAddressSpaceSize;
    if (maar_atomic64_add_below(&paging->space, size, limit != 0 ? limit : UINT64_MAX)) {
        return VK_SUCCESS;
    }
    maar_report(
        allocator, fallback != NULL ? MAAR_MESSAGE_SEVERITY_WARNING : MAAR_MESSAGE_SEVERITY_ERROR,
        MAAR_MESSAGE_ID_ADDRESS_SPACE_EXHAUSTED, call,
        "%s of address space are requested; sparse objects have %s of the "
        "sparseAddressSpaceSize, %s, already%s",
        maar_show_bytes(size).text, maar_show_bytes(maar_atomic64_load(&paging->space)).text,
        maar_show_bytes(limit).text, fallback != NULL ? fallback : "");
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

void maar_paging_return_space(MaarAllocator allocator, VkDeviceSize size)
{
    const uint64_t rest = maar_atomic64_sub(&maar_paging_of(allocator)->space, size);
    MAAR_ASSERT(allocator, rest <= UINT64_MAX - size); /* never returns more than was taken */
}
