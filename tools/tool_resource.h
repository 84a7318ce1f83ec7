/*
 * What a trace's resource becomes on a device: a real buffer, a real image, or plain requirements;
 * which memory it wants; and how its bytes can be verified. Safe from any thread.
 */
#ifndef MAAR_TOOL_RESOURCE_H
#define MAAR_TOOL_RESOURCE_H

#include "tool_device.h"

#include "support/trace.h"

enum tool_form {
    TOOL_FORM_PLAIN = 0, /* requirements alone */
    TOOL_FORM_BUFFER = 1,
    TOOL_FORM_IMAGE = 2,
};

/* How the device can write and read back the bytes. */
enum tool_access {
    TOOL_ACCESS_ALIAS = 0, /* a storage buffer on the same memory */
    TOOL_ACCESS_COPY = 1,  /* transfers to and from the resource */
    TOOL_ACCESS_NONE = 2,
};

/* Facts of a device that every plan needs. */
struct tool_resource_facts {
    uint32_t buffer_type_bits; /* of an ordinary buffer; what plain rows may use */
    uint32_t image_type_bits;  /* of an ordinary optimal image */
    uint32_t alias_type_bits;  /* of the verifier's storage buffers; 0 without one */
    bool buffer_address;
    bool always_copy; /* verify by copies whatever can be: a self-test, or since pages are bound */
    bool as_buffers;  /* plain rows, too, are buffers if they are large enough for pages */
    VkDeviceSize page_threshold;
};

struct tool_resource_plan {
    enum tool_form form;
    enum tool_access access;
    bool unsupported; /* usage was known, but this device cannot make it: plain instead */
    MaarMemoryUsage usage;
    MaarResourceKind kind;
    VkMemoryRequirements requirements;
    bool requires_dedicated;
    bool is_buffer; /* of the buffer form, or a plain row that is made as one */
    VkBufferCreateInfo buffer;
    VkImageCreateInfo image;
};

/* Asks the device once for the facts; alias_type_bits and always_copy stay zero. */
bool tool_resource_read_facts(const struct tool_device* tool, struct tool_resource_facts* facts);

/* The same for the sparse strategy: how large its pages are. */
bool tool_resource_read_pages(const struct tool_device* tool, struct tool_resource_facts* facts);

/* Plans one resource. Creates and destroys an object to learn its requirements. */
void tool_resource_plan_for(const struct tool_device* tool, const struct tool_resource_facts* facts,
                            const struct support_trace* trace, uint32_t resource,
                            struct tool_resource_plan* plan);

#endif
