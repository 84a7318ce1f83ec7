/*
 * Messages about bounds: see bound_check.h.
 */
#include "core/bound_check.h"

#include <stdio.h>
#include <string.h>

uint64_t maar_fraction_bits(float fraction)
{
    uint32_t bits = 0;
    memcpy(&bits, &fraction, sizeof bits);
    return bits;
}

static double fraction_of(uint64_t number)
{
    const uint32_t bits = (uint32_t)number;
    float fraction = 0.0F;
    memcpy(&fraction, &bits, sizeof fraction);
    return (double)fraction;
}

static void show_bound(const struct maar_bound* bound, char* text, size_t size)
{
    const unsigned long long number = bound->number;
    const unsigned long long limit = bound->limit;
    switch (bound->figures) {
    case MAAR_FIGURES_BITS:
        (void)snprintf(text, size, "%s: 0x%llX", bound->sentence, number);
        break;
    case MAAR_FIGURES_NUMBER:
        (void)snprintf(text, size, "%s (it is %llu)", bound->sentence, number);
        break;
    case MAAR_FIGURES_FRACTION:
        (void)snprintf(text, size, "%s (it is %g)", bound->sentence, fraction_of(number));
        break;
    case MAAR_FIGURES_LIMIT:
        (void)snprintf(text, size, "%s (it is %llu, the limit %llu)", bound->sentence, number,
                       limit);
        break;
    case MAAR_FIGURES_COUNT:
        (void)snprintf(text, size, "%s (it is %llu, and the count %llu)", bound->sentence, number,
                       limit);
        break;
    case MAAR_FIGURES_BYTES:
        (void)snprintf(text, size, "%s (it is %s, the limit %s)", bound->sentence,
                       maar_show_bytes(number).text, maar_show_bytes(limit).text);
        break;
    case MAAR_FIGURES_MULTIPLE:
        (void)snprintf(text, size, "%s (it is %llu, and not a multiple of %llu)", bound->sentence,
                       number, limit);
        break;
    }
}

struct maar_fault maar_find_broken_bound(const struct maar_bound* bounds,
                                         struct maar_bound_text* text)
{
    while (bounds->sentence != NULL && !bounds->broken) {
        ++bounds;
    }
    if (bounds->sentence == NULL) {
        return MAAR_NO_FAULT;
    }
    show_bound(bounds, text->text, sizeof text->text);
    return maar_fault(bounds->id, text->text);
}

VkResult maar_check_bounds(MaarAllocator allocator, const char* call,
                           const struct maar_bound* bounds)
{
    struct maar_bound_text text;
    const struct maar_fault fault = maar_find_broken_bound(bounds, &text);
    return fault.sentence == NULL ? VK_SUCCESS
                                  : maar_misuse(allocator, fault.id, call, fault.sentence);
}

VkResult maar_check_rules_and_bounds(MaarAllocator allocator, const char* call,
                                     const struct maar_rule* rules, const struct maar_bound* bounds)
{
    const VkResult result = maar_check_rules(allocator, call, rules);
    return result == VK_SUCCESS ? maar_check_bounds(allocator, call, bounds) : result;
}

VkResult maar_refuse_flags(MaarAllocator allocator, const char* call, const char* name,
                           const char* type, uint64_t flags)
{
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, call,
                     "%s has bits that are no %s: 0x%llX", name, type, (unsigned long long)flags);
}

VkResult maar_refuse_enum(MaarAllocator allocator, const char* call, const char* name,
                          const char* type, int value)
{
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ENUM, call,
                     "%s is %d, and no %s", name, value, type);
}

VkResult maar_refuse_bits(MaarAllocator allocator, const char* call, const char* name,
                          uint32_t flags)
{
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_INVALID_ENUM, call,
                     "%s is 0x%X, not exactly one bit", name, flags);
}

VkResult maar_refuse_range(MaarAllocator allocator, const char* call, const char* range,
                           VkDeviceSize offset, VkDeviceSize size, const char* whole,
                           VkDeviceSize total)
{
    const bool is_whole = size == VK_WHOLE_SIZE;
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                     "%s: a range of %s from byte %llu on reaches beyond %s, which has %s", range,
                     is_whole ? "VK_WHOLE_SIZE" : maar_show_bytes(size).text,
                     (unsigned long long)offset, whole, maar_show_bytes(total).text);
}

VkResult maar_refuse_offset(MaarAllocator allocator, const char* call, VkDeviceSize offset,
                            const char* whole, VkDeviceSize total)
{
    return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                     "offset is %llu, and not within %s, which has %s", (unsigned long long)offset,
                     whole, maar_show_bytes(total).text);
}
