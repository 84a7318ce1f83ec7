/*
 * Bounds of the numbers and flags among the arguments of a call. A rule (message_delivery.h) says
 * what is wrong in a fixed sentence; behind the sentence of a bound, the message has the number
 * that the call gave, and the limit. Only a call that breaks a bound builds a text.
 *
 * Internally synchronized. No lock may be held where a bound is reported.
 */
#ifndef MAAR_CORE_BOUND_CHECK_H
#define MAAR_CORE_BOUND_CHECK_H

#include "core/report.h"

/* How a message shows the number of a bound, and its limit. */
enum maar_figures {
    MAAR_FIGURES_BITS,     /* the number are the flags that are wrong */
    MAAR_FIGURES_NUMBER,   /* the number alone */
    MAAR_FIGURES_FRACTION, /* the bits of a float, alone */
    MAAR_FIGURES_LIMIT,    /* a number, and the most or the least that it may be */
    MAAR_FIGURES_COUNT,    /* an index, and the number of elements */
    MAAR_FIGURES_BYTES,    /* MAAR_FIGURES_LIMIT in bytes */
    MAAR_FIGURES_MULTIPLE, /* a number, and that of which it must be a multiple */
};

/* One bound of the arguments of a call: whether the call breaks it, and the message then. */
struct maar_bound {
    bool broken;
    MaarMessageId id;
    const char* sentence; /* without a full stop */
    enum maar_figures figures;
    uint64_t number;
    uint64_t limit; /* 0 where the figures have none */
};

/* The last members of a bound. */
#define MAAR_SHOW_BITS(bits) MAAR_FIGURES_BITS, (bits), 0
#define MAAR_SHOW_NUMBER(number) MAAR_FIGURES_NUMBER, (number), 0
#define MAAR_SHOW_FRACTION(fraction) MAAR_FIGURES_FRACTION, maar_fraction_bits(fraction), 0
#define MAAR_SHOW_LIMIT(number, limit) MAAR_FIGURES_LIMIT, (number), (limit)
#define MAAR_SHOW_COUNT(index, count) MAAR_FIGURES_COUNT, (index), (count)
#define MAAR_SHOW_BYTES(size, limit) MAAR_FIGURES_BYTES, (size), (limit)
#define MAAR_SHOW_MULTIPLE(number, unit) MAAR_FIGURES_MULTIPLE, (number), (unit)

/* Returns the bits of a float. */
uint64_t maar_fraction_bits(float fraction);

/* The text of a fault whose sentence has figures. */
struct maar_bound_text {
    char text[320];
};
/* Returns the fault of the first broken bound, or MAAR_NO_FAULT. A bound without a sentence ends
 * the list. text: has the sentence, as long as the fault is used. */
struct maar_fault maar_find_broken_bound(const struct maar_bound* bounds,
                                         struct maar_bound_text* text);
/* Reports the first broken bound as misuse. Returns VK_SUCCESS if none is broken. */
VkResult maar_check_bounds(MaarAllocator allocator, const char* call,
                           const struct maar_bound* bounds);
/* Does so with the first broken rule or, if none is broken, with the first broken bound. */
VkResult maar_check_rules_and_bounds(MaarAllocator allocator, const char* call,
                                     const struct maar_rule* rules,
                                     const struct maar_bound* bounds);

/* Reports flags that `type` does not define, and returns the error of misuse. */
VkResult maar_refuse_flags(MaarAllocator allocator, const char* call, const char* name,
                           const char* type, uint64_t flags);
/* Reports a value that is none of an enumeration, and does the same. */
VkResult maar_refuse_enum(MaarAllocator allocator, const char* call, const char* name,
                          const char* type, int value);
/* Reports flags that should have exactly one bit, and does the same. */
VkResult maar_refuse_bits(MaarAllocator allocator, const char* call, const char* name,
                          uint32_t flags);
/* Reports that a range of bytes ends beyond what it is a range of, and returns the error of misuse.
 * range: the arguments, such as "offset and size". whole: such as "the allocation", which has
 * `total` bytes. */
VkResult maar_refuse_range(MaarAllocator allocator, const char* call, const char* range,
                           VkDeviceSize offset, VkDeviceSize size, const char* whole,
                           VkDeviceSize total);
/* Reports that offset is not within the `total` bytes of something, and does the same. */
VkResult maar_refuse_offset(MaarAllocator allocator, const char* call, VkDeviceSize offset,
                            const char* whole, VkDeviceSize total);

#endif
