/*
 * Plans a trace's resource on a device: its form (a real buffer, a real image, or plain
 * requirements), the memory that it needs, and the verification of its bytes. Safe from any thread.
 */
#ifndef MAAR_TOOL_RESOURCE_H
#define MAAR_TOOL_RESOURCE_H

#include "tool_device.h"

#include "support/trace.h"

enum tool_form {
    TOOL_FORM_PLAIN = 0, /* requirements only */
    TOOL_FORM_BUFFER = 1,
    TOOL_FORM_IMAGE = 2,
};

/* The ways in which the device can write and read back the bytes. */
enum tool_access {
    TOOL_ACCESS_ALIAS = 0, /* a storage buffer on the same memory */
    TOOL_ACCESS_COPY = 1,  /* transfers to and from the resource */
    TOOL_ACCESS_NONE = 2,
};

/* The facts of a device that every plan needs. */
struct tool_resource_facts {
    uint32_t buffer_type_bits; /* of an ordinary buffer; also those of plain rows */
    uint32_t image_type_bits;  /* of an ordinary optimal image */
    uint32_t alias_type_bits;  /* of the verifier's storage buffers; 0 without one */
    bool buffer_address;
    bool always_copy; /* verify by copies wherever possible: for a self-test, or because pages are
                         bound */
    bool as_buffers;  /* plain rows that are large enough for pages become buffers too */
    VkDeviceSize page_threshold;
};

struct tool_resource_plan {
    enum tool_form form;
    enum tool_access access;
    bool unsupported; /* the usage is known, but the device cannot create the resource: plain
                         instead */
    MaarMemoryUsage usage;
    MaarResourceKind kind;
    VkMemoryRequirements requirements;
    bool prefers_dedicated, requires_dedicated;
    bool is_buffer; /* of the buffer form, or a plain row that becomes a buffer */
    VkBufferCreateInfo buffer;
    VkImageCreateInfo image;
};

/* The purpose of a resource's memory, from its usage flags and, where they are known, from the
 * flags of the memory type that its program chose. type_flags may be NULL. */
MaarMemoryUsage tool_resource_usage(bool is_buffer, bool linear, uint64_t usage,
                                    const VkMemoryPropertyFlags* type_flags);

/* Queries the facts of a device. alias_type_bits and always_copy stay zero. */
bool tool_resource_read_facts(const struct tool_device* tool, struct tool_resource_facts* facts);

/* Queries the facts of the sparse strategy: the size of its pages. */
bool tool_resource_read_pages(const struct tool_device* tool, struct tool_resource_facts* facts);

/* Returns whether an allocator would have had to find memory for a resource: it is one of this
 * device, if that is simulated from a capture, and its memory was not imported. */
bool tool_resource_is_played(const struct tool_device* tool, const struct support_trace* trace,
                             uint32_t resource);

/* Plans one resource. Creates and destroys an object to query its requirements. */
void tool_resource_plan_for(const struct tool_device* tool, const struct tool_resource_facts* facts,
                            const struct support_trace* trace, uint32_t resource,
                            struct tool_resource_plan* plan);

#endif
