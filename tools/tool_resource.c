/*
 * Makes a Vulkan resource from a trace's row; see tool_resource.h.
 */
#include "tool_resource.h"

#include <maar/capture_file.h>
#include <string.h>

#define BUFFER_TRANSFER (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define IMAGE_TRANSFER (VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

/* The default of MaarPoolPagingInfo::threshold, in pages. */
#define PAGES_OF_THRESHOLD 8u

/* The usages that need neither an extension nor a feature. */
#define PLAIN_BUFFER_USAGES 0x1FFu
#define PLAIN_IMAGE_USAGES 0xFFu

/* The flags of images that need neither an extension nor a feature. */
#define PLAIN_IMAGE_FLAGS                                                                          \
    (VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT |                    \
     VK_IMAGE_CREATE_ALIAS_BIT | VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT |                         \
     VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT)

/* The usages by which a device writes a buffer. */
#define WRITTEN_BY_DEVICE                                                                          \
    (VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |                 \
     VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)

/*
 * The trace does not record the memory that the program requested. The usage flags imply it: a
 * buffer that only transfers read or write is a staging buffer; a buffer that the device cannot
 * write must be written by the host.
 */
static MaarMemoryUsage usage_of_buffer(VkBufferUsageFlags usage)
{
    if ((usage & ~(VkBufferUsageFlags)BUFFER_TRANSFER) == 0) {
        return (usage & VK_BUFFER_USAGE_TRANSFER_SRC_BIT) != 0 ? MAAR_MEMORY_USAGE_UPLOAD
                                                               : MAAR_MEMORY_USAGE_READBACK;
    }
    return (usage & WRITTEN_BY_DEVICE) == 0 ? MAAR_MEMORY_USAGE_DEVICE_UPLOAD
                                            : MAAR_MEMORY_USAGE_DEVICE_LOCAL;
}

static MaarMemoryUsage usage_of_image(VkImageUsageFlags usage, bool linear)
{
    if ((usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0) {
        return MAAR_MEMORY_USAGE_TRANSIENT;
    }
    const VkImageUsageFlags written = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
                                      VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    return linear && (usage & written) == 0 ? MAAR_MEMORY_USAGE_DEVICE_UPLOAD
                                            : MAAR_MEMORY_USAGE_DEVICE_LOCAL;
}

MaarMemoryUsage tool_resource_usage(bool is_buffer, bool linear, uint64_t usage,
                                    const VkMemoryPropertyFlags* type_flags)
{
    MaarMemoryUsage purpose = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    if (usage != 0) {
        purpose = is_buffer ? usage_of_buffer((VkBufferUsageFlags)usage)
                            : usage_of_image((VkImageUsageFlags)usage, linear);
    }
    if (type_flags == NULL || purpose == MAAR_MEMORY_USAGE_TRANSIENT) {
        return purpose;
    }
    const bool local = (*type_flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    const bool visible = (*type_flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    if (local && !visible) {
        return MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    }
    if (visible && !local && purpose != MAAR_MEMORY_USAGE_UPLOAD &&
        purpose != MAAR_MEMORY_USAGE_READBACK) {
        return (*type_flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0 ? MAAR_MEMORY_USAGE_READBACK
                                                                       : MAAR_MEMORY_USAGE_UPLOAD;
    }
    return purpose;
}

/* The flags of the memory type that the program chose; NULL where the trace does not say. */
static const VkMemoryPropertyFlags* chosen_type(const struct support_trace* trace,
                                                const struct support_trace_resource* row)
{
    if (row->memory >= trace->memory_count) {
        return NULL;
    }
    const struct support_trace_memory* const memory = &trace->memories[row->memory];
    return &trace->devices[memory->device].card.types[memory->type].flags;
}

static MaarMemoryUsage usage_of_row(const struct support_trace* trace,
                                    const struct support_trace_resource* row)
{
    return tool_resource_usage(row->kind == SUPPORT_TRACE_BUFFER,
                               row->kind == SUPPORT_TRACE_IMAGE_LINEAR, row->usage,
                               chosen_type(trace, row));
}

static bool probe_buffer(const struct tool_device* tool, const VkBufferCreateInfo* info,
                         VkMemoryRequirements* requirements, bool* requires_dedicated)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    if (vkCreateBuffer(tool->device, info, NULL, &buffer) != VK_SUCCESS) {
        return false;
    }
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 answer = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                    .pNext = &dedicated};
    const VkBufferMemoryRequirementsInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    vkGetBufferMemoryRequirements2(tool->device, &question, &answer);
    vkDestroyBuffer(tool->device, buffer, NULL);
    *requirements = answer.memoryRequirements;
    *requires_dedicated = dedicated.requiresDedicatedAllocation == VK_TRUE;
    return true;
}

static bool probe_image(const struct tool_device* tool, const VkImageCreateInfo* info,
                        VkMemoryRequirements* requirements, bool* requires_dedicated)
{
    VkImageFormatProperties limits;
    if (vkGetPhysicalDeviceImageFormatProperties(tool->physical, info->format, info->imageType,
                                                 info->tiling, info->usage, info->flags,
                                                 &limits) != VK_SUCCESS ||
        info->extent.width > limits.maxExtent.width ||
        info->extent.height > limits.maxExtent.height ||
        info->extent.depth > limits.maxExtent.depth || info->mipLevels > limits.maxMipLevels ||
        info->arrayLayers > limits.maxArrayLayers ||
        (limits.sampleCounts & (VkSampleCountFlags)info->samples) == 0) {
        return false;
    }
    VkImage image = VK_NULL_HANDLE;
    if (vkCreateImage(tool->device, info, NULL, &image) != VK_SUCCESS) {
        return false;
    }
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 answer = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                    .pNext = &dedicated};
    const VkImageMemoryRequirementsInfo2 question = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2, .image = image};
    vkGetImageMemoryRequirements2(tool->device, &question, &answer);
    vkDestroyImage(tool->device, image, NULL);
    *requirements = answer.memoryRequirements;
    *requires_dedicated = dedicated.requiresDedicatedAllocation == VK_TRUE;
    return true;
}

bool tool_resource_read_facts(const struct tool_device* tool, struct tool_resource_facts* facts)
{
    memset(facts, 0, sizeof(*facts));
    facts->buffer_address =
        tool->recommendation->bufferDeviceAddress.bufferDeviceAddress == VK_TRUE;
    VkMemoryRequirements requirements;
    bool dedicated = false;
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 65536,
        .usage = BUFFER_TRANSFER | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    if (!probe_buffer(tool, &buffer, &requirements, &dedicated)) {
        return false;
    }
    facts->buffer_type_bits = requirements.memoryTypeBits;
    const VkImageCreateInfo image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {64, 64, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = IMAGE_TRANSFER | VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    if (!probe_image(tool, &image, &requirements, &dedicated)) {
        return false;
    }
    facts->image_type_bits = requirements.memoryTypeBits;
    return true;
}

bool tool_resource_read_pages(const struct tool_device* tool, struct tool_resource_facts* facts)
{
    VkMemoryRequirements requirements;
    bool dedicated = false;
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT,
        .size = 65536,
        .usage = BUFFER_TRANSFER | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    if (!probe_buffer(tool, &buffer, &requirements, &dedicated)) {
        return false;
    }
    facts->as_buffers = true;
    facts->page_threshold = requirements.alignment * PAGES_OF_THRESHOLD;
    return true;
}

/* Decides how to verify a resource. Returns true when the object needs transfer usage for that. */
static bool needs_copies(const struct tool_resource_facts* facts,
                         const struct tool_resource_plan* plan)
{
    if (facts->alias_type_bits == 0) {
        return false;
    }
    return facts->always_copy || plan->requires_dedicated ||
           (plan->requirements.memoryTypeBits & ~facts->alias_type_bits) != 0;
}

static bool plan_buffer(const struct tool_device* tool, const struct tool_resource_facts* facts,
                        const struct support_trace_resource* row, struct tool_resource_plan* plan)
{
    VkBufferUsageFlags allowed = PLAIN_BUFFER_USAGES;
    if (facts->buffer_address) {
        allowed |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    }
    const VkDeviceSize size = row->asked != 0 ? row->asked : row->size;
    if ((row->usage & ~allowed) != 0 || row->usage_above != 0 || row->create_flags != 0 ||
        (tool->max_buffer_size != 0 && size > tool->max_buffer_size)) {
        return false;
    }
    plan->buffer = (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = row->usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    if (!probe_buffer(tool, &plan->buffer, &plan->requirements, &plan->requires_dedicated)) {
        return false;
    }
    plan->form = TOOL_FORM_BUFFER;
    plan->is_buffer = true;
    if (needs_copies(facts, plan)) {
        plan->buffer.usage |= BUFFER_TRANSFER;
        plan->access = TOOL_ACCESS_COPY;
        return probe_buffer(tool, &plan->buffer, &plan->requirements, &plan->requires_dedicated);
    }
    return true;
}

static bool plan_image(const struct tool_device* tool, const struct tool_resource_facts* facts,
                       const struct support_trace_resource* row,
                       const struct support_trace_image* note, struct tool_resource_plan* plan)
{
    const bool linear = row->kind == SUPPORT_TRACE_IMAGE_LINEAR;
    if ((row->usage & ~(VkImageUsageFlags)PLAIN_IMAGE_USAGES) != 0 || row->usage_above != 0 ||
        note->format == 0 || note->modifier != 0 ||
        (row->create_flags & ~(VkImageCreateFlags)PLAIN_IMAGE_FLAGS) != 0) {
        return false;
    }
    plan->image = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .flags = row->create_flags,
        .imageType = note->dimensions == 0 ? VK_IMAGE_TYPE_2D : (VkImageType)(note->dimensions - 1),
        .format = (VkFormat)note->format,
        .extent = {note->width, note->height, note->depth},
        .mipLevels = note->mips,
        .arrayLayers = note->layers,
        .samples = (VkSampleCountFlagBits)note->samples,
        .tiling = linear ? VK_IMAGE_TILING_LINEAR : VK_IMAGE_TILING_OPTIMAL,
        .usage = row->usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    if (!probe_image(tool, &plan->image, &plan->requirements, &plan->requires_dedicated)) {
        return false;
    }
    plan->form = TOOL_FORM_IMAGE;
    if (needs_copies(facts, plan)) {
        const VkImageUsageFlags before = plan->image.usage;
        plan->image.usage = before | IMAGE_TRANSFER;
        if (plan->image.samples == VK_SAMPLE_COUNT_1_BIT &&
            (before & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) == 0 &&
            probe_image(tool, &plan->image, &plan->requirements, &plan->requires_dedicated)) {
            plan->access = TOOL_ACCESS_COPY;
        } else {
            plan->image.usage = before;
            plan->access = facts->always_copy && !plan->requires_dedicated ? TOOL_ACCESS_ALIAS
                                                                           : TOOL_ACCESS_NONE;
        }
    }
    return true;
}

/* On the device of the capture, the row says what its driver demanded. */
static void plan_captured(const struct support_trace* trace,
                          const struct support_trace_resource* row, struct tool_resource_plan* plan)
{
    uint32_t types = row->type_bits;
    if (row->memory < trace->memory_count) {
        /* Whatever the row says: the driver bound it there. */
        const bool known = (row->needs & MAAR_CAPTURE_NEEDS_KNOWN_BIT) != 0;
        types = (known ? types : 0) | 1u << trace->memories[row->memory].type;
    }
    plan->requirements.memoryTypeBits = types;
    plan->prefers_dedicated = (row->needs & MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT) != 0;
    plan->requires_dedicated = (row->needs & MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT) != 0;
}

bool tool_resource_is_played(const struct tool_device* tool, const struct support_trace* trace,
                             uint32_t resource)
{
    const struct support_trace_resource* const row = &trace->resources[resource];
    if (tool->captured && row->device != tool->options.card_index) {
        return false;
    }
    return row->memory >= trace->memory_count ||
           (trace->memories[row->memory].flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) == 0;
}

void tool_resource_plan_for(const struct tool_device* tool, const struct tool_resource_facts* facts,
                            const struct support_trace* trace, uint32_t resource,
                            struct tool_resource_plan* plan)
{
    const struct support_trace_resource* const row = &trace->resources[resource];
    memset(plan, 0, sizeof(*plan));
    const bool optimal = row->kind == SUPPORT_TRACE_IMAGE_OPTIMAL;
    plan->kind = optimal ? MAAR_RESOURCE_KIND_OPTIMAL : MAAR_RESOURCE_KIND_LINEAR;
    plan->usage = usage_of_row(trace, row);
    bool made = false;
    if (row->usage != 0 && row->kind == SUPPORT_TRACE_BUFFER && !tool->captured) {
        made = plan_buffer(tool, facts, row, plan);
    } else if (row->usage != 0 && row->image != UINT32_MAX && !tool->captured) {
        made = plan_image(tool, facts, row, &trace->images[row->image], plan);
    }
    if (made) {
        return;
    }
    plan->form = TOOL_FORM_PLAIN;
    plan->access = TOOL_ACCESS_ALIAS;
    plan->unsupported = row->usage != 0 && !tool->captured;
    plan->requires_dedicated = false;
    plan->requirements = (VkMemoryRequirements){
        .size = row->size,
        .alignment = row->alignment,
        .memoryTypeBits = optimal ? facts->image_type_bits : facts->buffer_type_bits,
    };
    if (tool->captured) {
        plan_captured(trace, row, plan);
    }
    if (facts->alias_type_bits != 0) {
        plan->requirements.memoryTypeBits &= facts->alias_type_bits;
    }
    if (facts->as_buffers && row->size >= facts->page_threshold &&
        (tool->max_buffer_size == 0 || row->size <= tool->max_buffer_size)) {
        plan->is_buffer = true;
        plan->kind = MAAR_RESOURCE_KIND_LINEAR;
        plan->requirements.memoryTypeBits = facts->buffer_type_bits;
        plan->access = facts->alias_type_bits != 0 ? TOOL_ACCESS_COPY : TOOL_ACCESS_ALIAS;
        plan->buffer = (VkBufferCreateInfo){
            .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
            .size = row->size,
            .usage = BUFFER_TRANSFER | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
            .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        };
    }
}
