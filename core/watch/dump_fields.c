/*
 * Writes the values that both schemas of a dump have: flags and versions.
 */
#include "core/watch/dump_fields.h"

#include <stdio.h>

struct flag_name {
    uint32_t flag;
    const char* name;
};

static void write_flags(struct maar_json* json, uint32_t flags, const struct flag_name* names,
                        size_t name_count)
{
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

void maar_dump_heap_flags(struct maar_json* json, VkMemoryHeapFlags flags)
{
    static const struct flag_name names[] = {
        {VK_MEMORY_HEAP_DEVICE_LOCAL_BIT, "DEVICE_LOCAL"},
        {VK_MEMORY_HEAP_MULTI_INSTANCE_BIT, "MULTI_INSTANCE"},
    };
    write_flags(json, flags, names, sizeof names / sizeof names[0]);
}

void maar_dump_type_flags(struct maar_json* json, VkMemoryPropertyFlags flags)
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
    write_flags(json, flags, names, sizeof names / sizeof names[0]);
}

void maar_dump_version(struct maar_json* json, uint32_t version)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%u.%u.%u", VK_API_VERSION_MAJOR(version),
                   VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    maar_json_string(json, text);
}
