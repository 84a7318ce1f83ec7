/*
 * The JSON that VulkanMemoryAllocator 3 writes, as a list of what each object must and may have.
 * Written from the field names that its dumps and its viewer GpuMemDumpVis use; an object with a
 * member that is not listed, without one that it must have, or of another type is not valid.
 */
#ifndef MAAR_TESTS_UNIT_VMA_SCHEMA_H
#define MAAR_TESTS_UNIT_VMA_SCHEMA_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

struct vma_member {
    const char* key;
    json_type type;
    bool required;
};

struct vma_error {
    char text[256];
};

#define VMA_MEMBER_COUNT(members) (sizeof(members) / sizeof((members)[0]))

static inline bool vma_fail(struct vma_error* error, const char* where, const char* what)
{
    if (error->text[0] == '\0') {
        (void)snprintf(error->text, sizeof error->text, "%s: %s", where, what);
    }
    return false;
}

static inline const struct vma_member* vma_find(const struct vma_member* members, size_t count,
                                                const char* key)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(members[i].key, key) == 0) {
            return &members[i];
        }
    }
    return NULL;
}

static inline bool vma_has_members(const json_t* object, const struct vma_member* members,
                                   size_t count, const char* where, struct vma_error* error)
{
    if (!json_is_object(object)) {
        return vma_fail(error, where, "is not an object");
    }
    for (size_t i = 0; i < count; ++i) {
        if (members[i].required && json_object_get(object, members[i].key) == NULL) {
            return vma_fail(error, where, members[i].key);
        }
    }
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach((json_t*)object, key, value)
    {
        const struct vma_member* member = vma_find(members, count, key);
        if (member == NULL || json_typeof(value) != member->type) {
            return vma_fail(error, where, key);
        }
        if (json_is_integer(value) && json_integer_value(value) < 0) {
            return vma_fail(error, where, key);
        }
    }
    return true;
}

static inline bool vma_is_stats(const json_t* stats, const char* where, struct vma_error* error)
{
    static const struct vma_member members[] = {
        {"BlockCount", JSON_INTEGER, true},          {"BlockBytes", JSON_INTEGER, true},
        {"AllocationCount", JSON_INTEGER, true},     {"AllocationBytes", JSON_INTEGER, true},
        {"UnusedRangeCount", JSON_INTEGER, true},    {"AllocationSizeMin", JSON_INTEGER, false},
        {"AllocationSizeMax", JSON_INTEGER, false},  {"UnusedRangeSizeMin", JSON_INTEGER, false},
        {"UnusedRangeSizeMax", JSON_INTEGER, false},
    };
    return vma_has_members(stats, members, VMA_MEMBER_COUNT(members), where, error);
}

static inline bool vma_are_flags(const json_t* flags, const char* where, struct vma_error* error)
{
    size_t i = 0;
    json_t* flag = NULL;
    json_array_foreach(flags, i, flag)
    {
        if (!json_is_string(flag)) {
            return vma_fail(error, where, "a flag is not a string");
        }
    }
    return true;
}

static inline bool vma_is_prefixed(const char* key, const char* prefix)
{
    size_t length = strlen(prefix);
    const char* digits = key + length;
    return strncmp(key, prefix, length) == 0 && *digits != '\0' &&
           strspn(digits, "0123456789") == strlen(digits);
}

static inline bool vma_is_allocation(const json_t* allocation, bool dedicated, const char* where,
                                     struct vma_error* error)
{
    static const char* const types[] = {"FREE",         "UNKNOWN",       "BUFFER", "IMAGE_UNKNOWN",
                                        "IMAGE_LINEAR", "IMAGE_OPTIMAL", NULL};
    const struct vma_member members[] = {
        {"Type", JSON_STRING, true},
        {"Size", JSON_INTEGER, true},
        /* The viewer reads it of dedicated allocations without asking. */
        {"Usage", JSON_INTEGER, dedicated},
        {"CustomData", JSON_STRING, false},
        {"Name", JSON_STRING, false},
        {"Offset", JSON_INTEGER, true},
    };
    size_t count = VMA_MEMBER_COUNT(members) - (dedicated ? 1 : 0);
    if (!vma_has_members(allocation, members, count, where, error)) {
        return false;
    }
    const char* type = json_string_value(json_object_get(allocation, "Type"));
    size_t at = dedicated ? 1 : 0; /* what is dedicated is not free */
    while (types[at] != NULL && strcmp(types[at], type) != 0) {
        ++at;
    }
    if (types[at] == NULL) {
        return vma_fail(error, where, type);
    }
    const char* data = json_string_value(json_object_get(allocation, "CustomData"));
    if (data != NULL && (*data == '\0' || strspn(data, "0123456789abcdefx") != strlen(data))) {
        return vma_fail(error, where, "CustomData");
    }
    return true;
}

/* A block's own figures agree with its list, which has no gaps. */
static inline bool vma_block_adds_up(const json_t* block, const char* where,
                                     struct vma_error* error)
{
    json_int_t cursor = 0;
    json_int_t unused = 0;
    json_int_t counts[2] = {0, 0};
    bool was_free = false;
    size_t i = 0;
    json_t* range = NULL;
    json_array_foreach(json_object_get(block, "Suballocations"), i, range)
    {
        bool is_free = strcmp(json_string_value(json_object_get(range, "Type")), "FREE") == 0;
        json_int_t size = json_integer_value(json_object_get(range, "Size"));
        if (json_integer_value(json_object_get(range, "Offset")) != cursor || size == 0) {
            return vma_fail(error, where, "a gap in Suballocations");
        }
        if (is_free && was_free) {
            return vma_fail(error, where, "two neighbouring FREE ranges");
        }
        unused += is_free ? size : 0;
        ++counts[is_free ? 1 : 0];
        cursor += size;
        was_free = is_free;
    }
    if (cursor != json_integer_value(json_object_get(block, "TotalBytes")) ||
        unused != json_integer_value(json_object_get(block, "UnusedBytes")) ||
        counts[0] != json_integer_value(json_object_get(block, "Allocations")) ||
        counts[1] != json_integer_value(json_object_get(block, "UnusedRanges"))) {
        return vma_fail(error, where, "figures that do not agree with Suballocations");
    }
    return true;
}

static inline bool vma_is_block(const json_t* block, const char* where, struct vma_error* error)
{
    static const struct vma_member members[] = {
        {"MapRefCount", JSON_INTEGER, true},  {"TotalBytes", JSON_INTEGER, true},
        {"UnusedBytes", JSON_INTEGER, true},  {"Allocations", JSON_INTEGER, true},
        {"UnusedRanges", JSON_INTEGER, true}, {"Suballocations", JSON_ARRAY, true},
    };
    if (!vma_has_members(block, members, VMA_MEMBER_COUNT(members), where, error)) {
        return false;
    }
    size_t i = 0;
    json_t* range = NULL;
    json_array_foreach(json_object_get(block, "Suballocations"), i, range)
    {
        if (!vma_is_allocation(range, false, where, error)) {
            return false;
        }
    }
    return vma_block_adds_up(block, where, error);
}

static inline bool vma_is_pool(const json_t* pool, bool custom, const char* where,
                               struct vma_error* error)
{
    const struct vma_member members[] = {
        {"PreferredBlockSize", JSON_INTEGER, true},
        {"Blocks", JSON_OBJECT, true},
        {"DedicatedAllocations", JSON_ARRAY, true},
        {"Name", JSON_STRING, true},
    };
    size_t count = VMA_MEMBER_COUNT(members) - (custom ? 0 : 1);
    if (!vma_has_members(pool, members, count, where, error)) {
        return false;
    }
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach(json_object_get(pool, "Blocks"), key, value)
    {
        if (!vma_is_prefixed(key, "") || !vma_is_block(value, where, error)) {
            return vma_fail(error, where, "Blocks");
        }
    }
    size_t i = 0;
    json_array_foreach(json_object_get(pool, "DedicatedAllocations"), i, value)
    {
        if (!vma_is_allocation(value, true, where, error)) {
            return false;
        }
    }
    return true;
}

static inline bool vma_is_general(const json_t* general, struct vma_error* error)
{
    static const struct vma_member members[] = {
        {"API", JSON_STRING, true},
        {"apiVersion", JSON_STRING, true},
        {"GPU", JSON_STRING, true},
        {"deviceType", JSON_INTEGER, true},
        {"maxMemoryAllocationCount", JSON_INTEGER, true},
        {"bufferImageGranularity", JSON_INTEGER, true},
        {"nonCoherentAtomSize", JSON_INTEGER, true},
        {"memoryHeapCount", JSON_INTEGER, true},
        {"memoryTypeCount", JSON_INTEGER, true},
    };
    if (!vma_has_members(general, members, VMA_MEMBER_COUNT(members), "General", error)) {
        return false;
    }
    if (strcmp(json_string_value(json_object_get(general, "API")), "Vulkan") != 0) {
        return vma_fail(error, "General", "API");
    }
    return true;
}

static inline bool vma_is_heap_type(const json_t* type, const char* where, struct vma_error* error)
{
    static const struct vma_member members[] = {
        {"Flags", JSON_ARRAY, true},
        {"Stats", JSON_OBJECT, true},
    };
    return vma_has_members(type, members, VMA_MEMBER_COUNT(members), where, error) &&
           vma_are_flags(json_object_get(type, "Flags"), where, error) &&
           vma_is_stats(json_object_get(type, "Stats"), where, error);
}

static inline bool vma_is_heap(const json_t* heap, const char* where, struct vma_error* error)
{
    static const struct vma_member members[] = {
        {"Flags", JSON_ARRAY, true},        {"Size", JSON_INTEGER, true},
        {"Budget", JSON_OBJECT, true},      {"Stats", JSON_OBJECT, true},
        {"MemoryPools", JSON_OBJECT, true},
    };
    static const struct vma_member budget[] = {
        {"BudgetBytes", JSON_INTEGER, true},
        {"UsageBytes", JSON_INTEGER, true},
    };
    if (!vma_has_members(heap, members, VMA_MEMBER_COUNT(members), where, error) ||
        !vma_has_members(json_object_get(heap, "Budget"), budget, VMA_MEMBER_COUNT(budget), where,
                         error) ||
        !vma_are_flags(json_object_get(heap, "Flags"), where, error) ||
        !vma_is_stats(json_object_get(heap, "Stats"), where, error)) {
        return false;
    }
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach(json_object_get(heap, "MemoryPools"), key, value)
    {
        if (!vma_is_prefixed(key, "Type ") || !vma_is_heap_type(value, key, error)) {
            return vma_fail(error, where, key);
        }
    }
    return true;
}

static inline bool vma_are_pools(const json_t* root, struct vma_error* error)
{
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach(json_object_get(root, "DefaultPools"), key, value)
    {
        if (!vma_is_prefixed(key, "Type ") || !vma_is_pool(value, false, key, error)) {
            return vma_fail(error, "DefaultPools", key);
        }
    }
    json_object_foreach(json_object_get(root, "CustomPools"), key, value)
    {
        if (!vma_is_prefixed(key, "Type ") || !json_is_array(value) ||
            json_array_size(value) == 0) {
            return vma_fail(error, "CustomPools", key);
        }
        for (size_t i = 0; i < json_array_size(value); ++i) {
            if (!vma_is_pool(json_array_get(value, i), true, key, error)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether a text is a dump; error then is empty, or else says where it is not. */
static inline bool vma_is_dump(const json_t* root, bool detailed, struct vma_error* error)
{
    const struct vma_member members[] = {
        {"General", JSON_OBJECT, true},         {"Total", JSON_OBJECT, true},
        {"MemoryInfo", JSON_OBJECT, true},      {"DefaultPools", JSON_OBJECT, detailed},
        {"CustomPools", JSON_OBJECT, detailed},
    };
    error->text[0] = '\0';
    size_t count = VMA_MEMBER_COUNT(members) - (detailed ? 0 : 2);
    if (!vma_has_members(root, members, count, "the dump", error) ||
        !vma_is_general(json_object_get(root, "General"), error) ||
        !vma_is_stats(json_object_get(root, "Total"), "Total", error)) {
        return false;
    }
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach(json_object_get(root, "MemoryInfo"), key, value)
    {
        if (!vma_is_prefixed(key, "Heap ") || !vma_is_heap(value, key, error)) {
            return vma_fail(error, "MemoryInfo", key);
        }
    }
    return vma_are_pools(root, error);
}

#endif
