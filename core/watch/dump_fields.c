/*
 * The members of objects that both schemas of a dump write. See dump_fields.h.
 */
#include "core/watch/dump_fields.h"

#include <stdio.h>

void maar_dump_begin_object(struct maar_json* json, const char* key)
{
    maar_json_key(json, key);
    maar_json_begin_object(json, false);
}

void maar_dump_begin_array(struct maar_json* json, const char* key)
{
    maar_json_key(json, key);
    maar_json_begin_array(json, false);
}

void maar_dump_uint(struct maar_json* json, const char* key, uint64_t number)
{
    maar_json_key(json, key);
    maar_json_uint(json, number);
}

void maar_dump_uints(struct maar_json* json, const struct maar_dump_field* fields)
{
    for (; fields->key != NULL; ++fields) {
        maar_dump_uint(json, fields->key, fields->number);
    }
}

void maar_dump_real(struct maar_json* json, const char* key, double number)
{
    maar_json_key(json, key);
    maar_json_real(json, number);
}

void maar_dump_hex(struct maar_json* json, const char* key, uint64_t number)
{
    maar_json_key(json, key);
    maar_json_hex_string(json, number);
}

void maar_dump_bool(struct maar_json* json, const char* key, bool truth)
{
    maar_json_key(json, key);
    maar_json_bool(json, truth);
}

void maar_dump_string(struct maar_json* json, const char* key, const char* text)
{
    maar_json_key(json, key);
    maar_json_string(json, text);
}

struct flag_name {
    uint32_t flag;
    const char* name;
};

static void write_flags(struct maar_json* json, const char* key, uint32_t flags,
                        const struct flag_name* names, size_t name_count)
{
    maar_json_key(json, key);
    maar_json_begin_array(json, true);
    for (size_t i = 0; i < name_count; ++i) {
        if ((flags & names[i].flag) != 0) {
            maar_json_string(json, names[i].name);
            flags &= ~names[i].flag;
        }
    }
    if (flags != 0) {
        maar_json_hex_string(json, flags);
    }
    maar_json_end_array(json);
}

void maar_dump_heap_flags(struct maar_json* json, const char* key, VkMemoryHeapFlags flags)
{
    static const struct flag_name names[] = {
        {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT, "DEVICE_LOCAL"},
        {VK_MEMORY_HEAP_MULTI_INSTANCE_BIT, "MULTI_INSTANCE"},
    };
    write_flags(json, key, flags, names, sizeof names / sizeof names[0]);
}

void maar_dump_type_flags(struct maar_json* json, const char* key, VkMemoryPropertyFlags flags)
{
    static const struct flag_name names[] = {
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, "DEVICE_LOCAL"},
        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, "HOST_VISIBLE"},
        {VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, "HOST_COHERENT"},
        {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, "HOST_CACHED"},
        {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, "LAZILY_ALLOCATED"},
        {VK_MEMORY_PROPERTY_PROTECTED_BIT, "PROTECTED"},
        {VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, "DEVICE_COHERENT_AMD"},
        {VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD, "DEVICE_UNCACHED_AMD"},
        {VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV, "RDMA_CAPABLE_NV"},
    };
    write_flags(json, key, flags, names, sizeof names / sizeof names[0]);
}

void maar_dump_version(struct maar_json* json, const char* key, uint32_t version)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%u.%u.%u", VK_API_VERSION_MAJOR(version),
                   VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    maar_dump_string(json, key, text);
}
