/*
 * Makes a Vulkan resource from a trace's row; see tool_resource.h.
 */
#include "tool_resource.h"

#include <string.h>

#define BUFFER_TRANSFER (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define IMAGE_TRANSFER (VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

/* The default of MaarPoolPagingInfo::threshold, in pages. */
#define PAGES_OF_THRESHOLD 8u

/* The usages that need neither an extension nor a feature. */
#define PLAIN_BUFFER_USAGES 0x1FFu
#define PLAIN_IMAGE_USAGES 0xFFu

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
    if ((row->usage & ~allowed) != 0 ||
        (tool->max_buffer_size != 0 && row->size > tool->max_buffer_size)) {
        return false;
    }
    plan->buffer = (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = row->size,
        .usage = row->usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    if (!probe_buffer(tool, &plan->buffer, &plan->requirements, &plan->requires_dedicated)) {
        return false;
    }
    plan->form = TOOL_FORM_BUFFER;
    plan->is_buffer = true;
    plan->usage = usage_of_buffer(row->usage);
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
    if ((row->usage & ~(VkImageUsageFlags)PLAIN_IMAGE_USAGES) != 0 || note->format == 0) {
        return false;
    }
    plan->image = (VkImageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
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
    plan->usage = usage_of_image(row->usage, linear);
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

void tool_resource_plan_for(const struct tool_device* tool, const struct tool_resource_facts* facts,
                            const struct support_trace* trace, uint32_t resource,
                            struct tool_resource_plan* plan)
{
    const struct support_trace_resource* const row = &trace->resources[resource];
    memset(plan, 0, sizeof(*plan));
    const bool optimal = row->kind == SUPPORT_TRACE_IMAGE_OPTIMAL;
    plan->kind = optimal ? MAAR_RESOURCE_KIND_OPTIMAL : MAAR_RESOURCE_KIND_LINEAR;
    bool made = false;
    if (row->usage != 0 && row->kind == SUPPORT_TRACE_BUFFER) {
        made = plan_buffer(tool, facts, row, plan);
    } else if (row->usage != 0 && row->image != UINT32_MAX) {
        made = plan_image(tool, facts, row, &trace->images[row->image], plan);
    }
    if (made) {
        return;
    }
    plan->form = TOOL_FORM_PLAIN;
    plan->access = TOOL_ACCESS_ALIAS;
    plan->unsupported = row->usage != 0;
    plan->usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL;
    if (row->usage != 0) {
        plan->usage = row->kind == SUPPORT_TRACE_BUFFER
                          ? usage_of_buffer(row->usage)
                          : usage_of_image(row->usage, row->kind == SUPPORT_TRACE_IMAGE_LINEAR);
    }
    plan->requires_dedicated = false;
    plan->requirements = (VkMemoryRequirements){
        .size = row->size,
        .alignment = row->alignment,
        .memoryTypeBits = optimal ? facts->image_type_bits : facts->buffer_type_bits,
    };
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
