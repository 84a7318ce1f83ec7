/*
 * Ranks the memory types for a usage.
 *
 * Every type with the required flags gets a cost, a sum of penalties. The weights lie so far apart
 * that a more important preference is never outvoted by less important ones. Among types of equal
 * cost the larger heap comes first, then the driver's order, which the Vulkan specification makes
 * meaningful. docs/memory-types.md states the rules in words. tests/profiles/expected_types.csv
 * lists the results on real devices.
 */
#include "core/memory/type_choice.h"

#include <stdio.h>
#include <string.h>

#include "core/chain.h"
#include "core/memory/allocation_check.h"
#include "core/memory/allocator_state.h"

#define DEVICE_LOCAL ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
#define HOST_VISIBLE ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
#define HOST_COHERENT ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define HOST_CACHED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
#define LAZILY_ALLOCATED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)

/* Flags of types that may be used only where deviceCoherentMemory is enabled. */
#define AMD_FLAGS                                                                                  \
    ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |                           \
     (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)
#define PROTECTED ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_PROTECTED_BIT)

/* Flags of types that are chosen only by request: the device is slower with them, or ordinary work
 * cannot use them. */
#define AVOIDED_FLAGS                                                                              \
    (PROTECTED | AMD_FLAGS | (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV)

/* A small heap is worse than anything but memory outside the device. */
enum {
    COST_MINOR = 1,
    COST_MODERATE = 10,
    COST_SMALL_HEAP = 50,
    COST_STRONG = 100,
    COST_GRAVE = 1000,
    COST_EXPLICIT = 100000
};

/* A device-local heap below a sixteenth of the largest one is a window or a carve-out, not the
 * device's memory. It is preferred only for requests of host access to device memory. */
enum { SMALL_HEAP_FRACTION = 16 };

/* What one usage requires and prefers. A penalty applies where a wanted flag is missing or an
 * unwanted flag is present. */
struct usage_rule {
    VkMemoryPropertyFlags required;
    VkMemoryPropertyFlags wanted[4]; /* by falling weight: GRAVE, STRONG, MODERATE, MINOR */
    VkMemoryPropertyFlags unwanted[4];
    bool avoids_small_heap;
    const char* sentence;
};

static const struct usage_rule usage_rules[] = {
    [MAAR_MEMORY_USAGE_DEVICE_LOCAL] =
        {
            .wanted = {0, DEVICE_LOCAL, 0, 0},
            .unwanted = {0, 0, 0, HOST_VISIBLE | HOST_CACHED},
            .avoids_small_heap = true,
            .sentence = "device-local, and not host-visible where there is a choice",
        },
    [MAAR_MEMORY_USAGE_UPLOAD] =
        {
            .required = HOST_VISIBLE,
            .wanted = {0, 0, HOST_COHERENT, 0},
            .unwanted = {0, 0, DEVICE_LOCAL, HOST_CACHED},
            .avoids_small_heap = true,
            .sentence = "host-visible and coherent; system memory rather than the device's, "
                        "uncached rather than cached, since it is only written",
        },
    [MAAR_MEMORY_USAGE_READBACK] =
        {
            .required = HOST_VISIBLE,
            .wanted = {0, HOST_CACHED, HOST_COHERENT, 0},
            .unwanted = {0, 0, DEVICE_LOCAL, 0},
            .avoids_small_heap = true,
            .sentence =
                "host-visible and cached, since the host reads it; coherent where it can be",
        },
    [MAAR_MEMORY_USAGE_DEVICE_UPLOAD] =
        {
            .required = HOST_VISIBLE,
            .wanted = {0, DEVICE_LOCAL, HOST_COHERENT, 0},
            .unwanted = {0, 0, 0, HOST_CACHED},
            .avoids_small_heap = false,
            .sentence = "host-visible, and device-local where the device has such a window",
        },
    [MAAR_MEMORY_USAGE_TRANSIENT] =
        {
            .wanted = {LAZILY_ALLOCATED, DEVICE_LOCAL, 0, 0},
            .unwanted = {0, 0, 0, HOST_VISIBLE | HOST_CACHED},
            .avoids_small_heap = true,
            .sentence = "lazily allocated where the device has it, else device-local",
        },
    [MAAR_MEMORY_USAGE_FLAGS_ONLY] =
        {
            .sentence = "the first that has the flags asked for",
        },
};

static uint32_t count_bits(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) {
        ++count;
    }
    return count;
}

static uint32_t rule_cost(const struct usage_rule* rule, VkMemoryPropertyFlags flags)
{
    static const uint32_t weights[4] = {COST_GRAVE, COST_STRONG, COST_MODERATE, COST_MINOR};
    uint32_t cost = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        cost += weights[i] * count_bits(rule->wanted[i] & ~flags);
        cost += weights[i] * count_bits(rule->unwanted[i] & flags);
    }
    return cost;
}

static VkDeviceSize largest_device_heap(const VkPhysicalDeviceMemoryProperties* memory)
{
    VkDeviceSize largest = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
            memory->memoryHeaps[i].size > largest) {
            largest = memory->memoryHeaps[i].size;
        }
    }
    return largest;
}

static uint32_t type_cost(const VkPhysicalDeviceMemoryProperties* memory, uint32_t type,
                          const MaarAllocationCreateInfo* info, VkDeviceSize largest)
{
    const VkMemoryType* entry = &memory->memoryTypes[type];
    const VkMemoryHeap* heap = &memory->memoryHeaps[entry->heapIndex];
    const struct usage_rule* rule = &usage_rules[info->usage];
    uint32_t cost = rule_cost(rule, entry->propertyFlags);
    cost += (uint32_t)COST_EXPLICIT * count_bits(info->preferredFlags & ~entry->propertyFlags);
    /* A type that was requested by its number alone is the last resort among the requested
     * types. */
    VkMemoryPropertyFlags odd = AVOIDED_FLAGS | (LAZILY_ALLOCATED & ~rule->wanted[0]);
    cost += (uint32_t)COST_GRAVE * count_bits(entry->propertyFlags & odd & ~info->requiredFlags);
    if (rule->avoids_small_heap && (heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
        heap->size < largest / SMALL_HEAP_FRACTION) {
        cost += COST_SMALL_HEAP;
    }
    return cost;
}

/* Returns the types that have some of the flags. */
static uint32_t types_with(const VkPhysicalDeviceMemoryProperties* memory,
                           VkMemoryPropertyFlags flags)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < memory->memoryTypeCount; ++i) {
        bits |= (memory->memoryTypes[i].propertyFlags & flags) != 0 ? 1u << i : 0;
    }
    return bits;
}

uint32_t maar_avoided_types(const VkPhysicalDeviceMemoryProperties* memory)
{
    return types_with(memory, AVOIDED_FLAGS);
}

uint32_t maar_ordinary_types(const VkPhysicalDeviceMemoryProperties* memory)
{
    const uint32_t count = memory->memoryTypeCount;
    const uint32_t all = count < 32 ? (1u << count) - 1u : UINT32_MAX;
    return all & ~types_with(memory, AVOIDED_FLAGS | LAZILY_ALLOCATED);
}

bool maar_type_is_usable(const struct maar_device_facts* facts, uint32_t type)
{
    const VkMemoryPropertyFlags flags = facts->memory.memoryTypes[type].propertyFlags;
    return ((flags & AMD_FLAGS) == 0 || facts->device_coherent_amd) &&
           ((flags & PROTECTED) == 0 || facts->protected_memory);
}

/* Returns whether a type that is not for every request was requested by its flags. Lazily
 * allocated memory is for transient attachments: the contents of any other resource could be
 * lost. */
static bool is_asked_for(VkMemoryPropertyFlags flags, const MaarAllocationCreateInfo* info)
{
    VkMemoryPropertyFlags named = info->requiredFlags | info->preferredFlags;
    if ((flags & LAZILY_ALLOCATED & ~named) != 0 && info->usage != MAAR_MEMORY_USAGE_TRANSIENT) {
        return false;
    }
    if ((flags & PROTECTED & ~info->requiredFlags) != 0) {
        return false;
    }
    return (flags & AVOIDED_FLAGS) == 0 || (flags & AVOIDED_FLAGS & info->requiredFlags) != 0;
}

/* Returns the flags that a type must have: for the usage, for the mapped flag and by request. */
static VkMemoryPropertyFlags required_flags(const MaarAllocationCreateInfo* info)
{
    const bool mapped = (info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0;
    const bool ordered = maar_type_order(info) != NULL;
    return info->requiredFlags | (ordered ? 0 : usage_rules[info->usage].required) |
           (mapped ? HOST_VISIBLE : 0);
}

/* Whether a type has the required flags and may be used. avoided: also a type that is not
 * ordinary. */
static bool is_eligible(const struct maar_device_facts* facts, uint32_t type,
                        const MaarAllocationCreateInfo* info, bool avoided)
{
    const VkMemoryPropertyFlags required = required_flags(info);
    const VkMemoryPropertyFlags flags = facts->memory.memoryTypes[type].propertyFlags;
    return (flags & required) == required && maar_type_is_usable(facts, type) &&
           (avoided || is_asked_for(flags, info));
}

/* Whether one type is preferred to another one with a lower number. */
static bool is_better(const VkPhysicalDeviceMemoryProperties* memory, const uint32_t* costs,
                      bool by_heap, uint32_t type, uint32_t other)
{
    const VkDeviceSize size = memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
    const VkDeviceSize other_size = memory->memoryHeaps[memory->memoryTypes[other].heapIndex].size;
    return costs[type] < costs[other] ||
           (by_heap && costs[type] == costs[other] && size > other_size);
}

/* Writes all eligible types in order of preference and returns their number. A stable insertion
 * sort of at most 32. */
static uint32_t rank_types(const struct maar_device_facts* facts,
                           const MaarAllocationCreateInfo* info, bool avoided, uint8_t* types)
{
    const VkPhysicalDeviceMemoryProperties* memory = &facts->memory;
    const VkDeviceSize largest = largest_device_heap(memory);
    const bool by_heap = info->usage != MAAR_MEMORY_USAGE_FLAGS_ONLY;
    uint32_t costs[VK_MAX_MEMORY_TYPES] = {0};
    uint32_t count = 0;
    for (uint32_t type = 0; type < memory->memoryTypeCount; ++type) {
        if (!is_eligible(facts, type, info, avoided)) {
            continue;
        }
        costs[type] = type_cost(memory, type, info, largest);
        uint32_t at = count++;
        for (; at > 0 && is_better(memory, costs, by_heap, type, types[at - 1]); --at) {
            types[at] = types[at - 1];
        }
        types[at] = (uint8_t)type;
    }
    return count;
}

const struct maar_ranking* maar_ranking_search(struct maar_rankings* rankings,
                                               const struct maar_device_facts* facts,
                                               const MaarAllocationCreateInfo* info,
                                               const struct maar_type_request* key)
{
    for (uint32_t i = 0; i < MAAR_RANKINGS; ++i) {
        struct maar_ranking* ranking = &rankings->rankings[(key->home + i) % MAAR_RANKINGS];
        if (maar_ranking_is_of(ranking, key)) {
            return ranking;
        }
        if (maar_atomic32_claim(&ranking->state, MAAR_RANKING_TAKEN)) {
            ranking->flags = key->flags;
            ranking->rest = key->rest;
            ranking->count =
                rank_types(facts, info, maar_asks_for_avoided(rankings, info), ranking->types);
            maar_atomic32_store_release(&ranking->state, MAAR_RANKING_COMPLETE);
            return ranking;
        }
    }
    return NULL;
}

/* Fills in the types that the program has put in order, without those that cannot serve. */
static void take_named_types(const struct maar_device_facts* facts,
                             const MaarAllocationCreateInfo* info,
                             const MaarMemoryTypeOrderInfo* order, struct maar_type_choice* choice)
{
    const VkMemoryPropertyFlags required = required_flags(info);
    uint32_t taken = 0;
    choice->types = choice->own;
    choice->count = 0;
    for (uint32_t i = 0; i < order->memoryTypeCount; ++i) {
        const uint32_t type = order->pMemoryTypeIndices[i];
        if (type < facts->memory.memoryTypeCount && (taken & (1u << type)) == 0 &&
            (required & ~facts->memory.memoryTypes[type].propertyFlags) == 0 &&
            maar_type_is_usable(facts, type)) {
            taken |= 1u << type;
            choice->own[choice->count++] = (uint8_t)type;
        }
    }
}

bool maar_choose_types(MaarAllocator allocator, uint32_t type_bits,
                       const MaarAllocationCreateInfo* info, struct maar_type_choice* choice)
{
    const MaarMemoryTypeOrderInfo* order = maar_type_order(info);
    const struct maar_ranking* ranking =
        order == NULL ? maar_ranking_find(&allocator->rankings, &allocator->device.facts, info)
                      : NULL;
    if (info->memoryTypeBits != 0) {
        type_bits &= info->memoryTypeBits;
    }
    if (order != NULL) {
        take_named_types(&allocator->device.facts, info, order, choice);
    } else if (ranking != NULL) {
        choice->types = ranking->types;
        choice->count = ranking->count;
    } else {
        choice->types = choice->own;
        choice->count = rank_types(&allocator->device.facts, info,
                                   maar_asks_for_avoided(&allocator->rankings, info), choice->own);
    }
    choice->bits = type_bits;
    for (uint32_t i = 0; i < choice->count; ++i) {
        if ((type_bits & (1u << choice->types[i])) != 0) {
            return true;
        }
    }
    return false;
}

static const struct {
    VkMemoryPropertyFlags flag;
    const char* name;
} flag_names[] = {
    {DEVICE_LOCAL, " device-local"}, {HOST_VISIBLE, " host-visible"}, {HOST_COHERENT, " coherent"},
    {HOST_CACHED, " cached"},        {LAZILY_ALLOCATED, " lazy"},
};

/* A text of limited size to which words are appended. Its last byte is always zero. */
struct words {
    char* text;
    size_t size;
    size_t length;
};

static void add_words(struct words* words, const char* added)
{
    const size_t length = strlen(added);
    const size_t room = words->size - words->length - 1;
    const size_t taken = length < room ? length : room;
    memcpy(words->text + words->length, added, taken);
    words->length += taken;
    words->text[words->length] = '\0';
}

/* Appends a number below 100: of a type, of a heap, or of types. */
static void add_number(struct words* words, uint32_t number)
{
    const char digits[3] = {(char)('0' + number / 10 % 10), (char)('0' + number % 10), '\0'};
    add_words(words, number >= 10 ? digits : digits + 1);
}

/* Appends the names of flags. */
static void add_flags(struct words* words, const char* before, VkMemoryPropertyFlags flags)
{
    for (size_t i = 0; i < sizeof flag_names / sizeof flag_names[0]; ++i) {
        if ((flags & flag_names[i].flag) != 0) {
            add_words(words, before);
            add_words(words, flag_names[i].name);
            before = "";
        }
    }
}

void maar_report_no_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                         const MaarAllocationCreateInfo* info)
{
    const uint32_t count = allocator->device.facts.memory.memoryTypeCount;
    const uint32_t all = count < 32 ? (1u << count) - 1u : UINT32_MAX;
    const MaarMemoryTypeOrderInfo* order = maar_type_order(info);
    uint32_t unusable = 0;
    char named[110] = "";
    char barred[80] = "";
    char missing[200] = "";
    for (uint32_t i = 0; i < count; ++i) {
        unusable |= maar_type_is_usable(&allocator->device.facts, i) ? 0 : 1u << i;
    }
    if (unusable != 0) {
        (void)snprintf(barred, sizeof barred, ", of which 0x%X need features that are not enabled",
                       (unsigned)unusable);
    }
    if (info->memoryTypeBits != 0) {
        (void)snprintf(named, sizeof named, ", memoryTypeBits allows 0x%X",
                       (unsigned)info->memoryTypeBits);
    }
    if (order != NULL) {
        const size_t length = strlen(named);
        (void)snprintf(named + length, sizeof named - length,
                       ", MaarMemoryTypeOrderInfo names %u of its own",
                       (unsigned)order->memoryTypeCount);
    }
    struct words words = {.text = missing, .size = sizeof missing};
    add_flags(&words, ", and the type must be", required_flags(info));
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NO_MEMORY_TYPE, call,
                "no memory type serves: the resource allows the types 0x%X%s, the device has "
                "0x%X%s%s",
                (unsigned)type_bits, named, (unsigned)all, barred, missing);
}

/* Describes in words what was requested, and what the best type lacks. Programs may ask for a
 * reason with each choice, so this does without formats. */
static void explain(MaarAllocator allocator, const MaarAllocationCreateInfo* info,
                    const MaarMemoryTypeChoice* choice, MaarMemoryTypeReason* reason)
{
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    const struct usage_rule* rule = &usage_rules[info->usage];
    const uint32_t type = choice->memoryTypeIndex;
    const VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
    VkMemoryPropertyFlags missing = 0;
    VkMemoryPropertyFlags surplus = 0;
    const bool is_ordered = maar_type_order(info) != NULL;
    for (uint32_t i = 0; i < 4 && !is_ordered; ++i) {
        missing |= rule->wanted[i] & ~flags;
        surplus |= rule->unwanted[i] & flags;
    }
    struct words words = {.text = reason->text, .size = sizeof reason->text};
    add_words(&words, "type ");
    add_number(&words, type);
    add_words(&words, " in heap ");
    add_number(&words, memory->memoryTypes[type].heapIndex);
    add_words(&words, ", best of ");
    add_number(&words, choice->candidateCount);
    add_words(&words, ": ");
    add_words(&words,
              is_ordered ? "the first in MaarMemoryTypeOrderInfo that serves" : rule->sentence);
    add_flags(&words, "; it is not", missing);
    add_flags(&words, "; it is also", surplus);
}

VkResult maar_choose_memory_type(MaarAllocator allocator, const char* call, uint32_t type_bits,
                                 const MaarAllocationCreateInfo* info, MaarMemoryTypeChoice* out)
{
    if (info == NULL) {
        info = &maar_default_create_info;
    }
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_structure(allocator, call, "pChoice", out,
                                  MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_check_create_info(allocator, call, "pCreateInfo", info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_type_choice choice;
    MaarMemoryTypeReason* reason =
        maar_chain_find_output(out->pNext, MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON);
    if (reason != NULL) {
        reason->text[0] = '\0';
    }
    out->memoryTypeIndex = MAAR_MEMORY_TYPE_NONE;
    out->candidateCount = 0;
    memset(out->candidates, 0, sizeof out->candidates);
    if (!maar_choose_types(allocator, type_bits, info, &choice)) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    for (uint32_t i = 0; i < choice.count; ++i) {
        if ((choice.bits & (1u << choice.types[i])) != 0) {
            out->candidates[out->candidateCount++] = choice.types[i];
        }
    }
    out->memoryTypeIndex = out->candidates[0];
    if (reason != NULL) {
        explain(allocator, info, out, reason);
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarChooseMemoryType(MaarAllocator allocator,
                                                    uint32_t memoryTypeBits,
                                                    const MaarAllocationCreateInfo* pCreateInfo,
                                                    MaarMemoryTypeChoice* pChoice)
{
    const VkResult result = maar_enter(allocator);
    return result == VK_SUCCESS
               ? maar_choose_memory_type(allocator, __func__, memoryTypeBits, pCreateInfo, pChoice)
               : result;
}
