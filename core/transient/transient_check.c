/*
 * Checks a graph for misuse that one part of the graph shows, and warns of what is allowed but is
 * probably a mistake.
 */
#include <stdio.h>

#include "core/transient/transient_check.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/objects/object.h"

#define KNOWN_RESOURCE_FLAGS                                                                       \
    ((MaarTransientResourceFlags)MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT |                       \
     (MaarTransientResourceFlags)MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT)

/* An image may be in VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL also for these usages. */
#define SHADER_READ_USAGES_OF_EXTENSIONS                                                           \
    ((VkImageUsageFlags)VK_IMAGE_USAGE_SAMPLE_WEIGHT_BIT_QCOM |                                    \
     (VkImageUsageFlags)VK_IMAGE_USAGE_SAMPLE_BLOCK_MATCH_BIT_QCOM)

/* The resource that is being checked. */
struct subject {
    MaarAllocator allocator;
    const char* call;
    const MaarTransientGraph* graph;
    uint32_t index;
    const MaarTransientResource* resource;
};

/* ---- names ---- */

static struct maar_transient_label label(const char* what, uint32_t index, const char* close,
                                         const char* name)
{
    struct maar_transient_label made;
    if (name != NULL && name[0] != '\0') {
        (void)snprintf(made.text, sizeof made.text, "%s%u%s (\"%.60s\")", what, index, close, name);
    } else {
        (void)snprintf(made.text, sizeof made.text, "%s%u%s", what, index, close);
    }
    return made;
}

struct maar_transient_label maar_transient_label_resource(uint32_t index, const char* name)
{
    return label("pGraph->pResources[", index, "]", name);
}

struct maar_transient_label maar_transient_label_pass(uint32_t index, const char* name)
{
    return label("pass ", index, "", name);
}

/* ---- misuse ---- */

/* Reports misuse: a path below pGraph, and what is wrong there. */
static VkResult refuse_field(MaarAllocator allocator, const char* call, const char* array,
                             uint32_t index, const char* sentence)
{
    char text[256];
    (void)snprintf(text, sizeof text, "pGraph->%s[%u]%s", array, index, sentence);
    return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, call, text);
}

static VkResult refuse_resource(const struct subject* s, const char* sentence)
{
    char text[400];
    (void)snprintf(text, sizeof text, "%s%s",
                   maar_transient_label_resource(s->index, s->resource->pName).text, sentence);
    return maar_misuse(s->allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, s->call, text);
}

static VkResult check_resource_rules(const struct subject* s, const struct maar_rule* rules)
{
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence != NULL ? refuse_resource(s, fault.sentence) : VK_SUCCESS;
}

static VkResult refuse_use(const struct subject* s, uint32_t use, const char* sentence)
{
    char text[280];
    const uint32_t pass = s->resource->pUses[use].pass;
    if (pass < s->graph->passCount) {
        (void)snprintf(text, sizeof text, ".pUses[%u]%s, in %s", use, sentence,
                       maar_transient_label_pass(pass, s->graph->pPasses[pass].pName).text);
    } else {
        (void)snprintf(text, sizeof text, ".pUses[%u]%s", use, sentence);
    }
    return refuse_resource(s, text);
}

/* Checks the type of the resource's create info. */
static VkResult check_info(const struct subject* s, const char* field, const void* info, int wanted)
{
    char name[128];
    if ((int)((const VkBaseInStructure*)info)->sType == wanted) {
        return VK_SUCCESS;
    }
    (void)snprintf(name, sizeof name, "%s.%s",
                   maar_transient_label_resource(s->index, s->resource->pName).text, field);
    return maar_check_structure(s->allocator, s->call, name, info, wanted);
}

static bool lists_family(const uint32_t* families, uint32_t count, uint32_t family)
{
    for (uint32_t i = 0; families != NULL && i < count; ++i) {
        if (families[i] == family) {
            return true;
        }
    }
    return false;
}

/* Returns the usages of which an image needs one to be in a layout, or 0 if every image may be in
 * it. Layouts of extensions that are not listed may be used with any image. */
static VkImageUsageFlags usages_of_layout(VkImageLayout layout)
{
    const VkImageUsageFlags depth = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    const VkImageUsageFlags read = VK_IMAGE_USAGE_SAMPLED_BIT |
                                   (VkImageUsageFlags)VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT |
                                   SHADER_READ_USAGES_OF_EXTENSIONS;
    switch (layout) {
    case VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL:
        return VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_OPTIMAL:
    case VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL:
        return depth;
    case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_STENCIL_READ_ONLY_OPTIMAL:
    case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
        return depth | read;
    case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
        return depth | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    case VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL:
        return read;
    case VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL:
        return VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    case VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL:
        return VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    default:
        return 0;
    }
}

/* Returns what is wrong with the layout of a use, or NULL. */
static const char* find_layout_fault(const VkImageCreateInfo* info, VkImageLayout layout)
{
    const VkImageStencilUsageCreateInfo* stencil =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO);
    const VkImageUsageFlags usage = info->usage | (stencil != NULL ? stencil->stencilUsage : 0);
    const VkImageUsageFlags wanted = usages_of_layout(layout);
    if (layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PREINITIALIZED) {
        return ".layout is VK_IMAGE_LAYOUT_UNDEFINED or VK_IMAGE_LAYOUT_PREINITIALIZED";
    }
    return wanted != 0 && (usage & wanted) == 0
               ? ".layout needs a usage that pImageInfo->usage does not have"
               : NULL;
}

static VkResult check_uses(const struct subject* s)
{
    const MaarTransientResource* r = s->resource;
    const bool image = r->pImageInfo != NULL;
    const bool concurrent = (image ? r->pImageInfo->sharingMode : r->pBufferInfo->sharingMode) ==
                            VK_SHARING_MODE_CONCURRENT;
    const uint32_t* families =
        image ? r->pImageInfo->pQueueFamilyIndices : r->pBufferInfo->pQueueFamilyIndices;
    const uint32_t count =
        image ? r->pImageInfo->queueFamilyIndexCount : r->pBufferInfo->queueFamilyIndexCount;
    if (r->useCount == 0 || r->pUses == NULL) {
        return refuse_resource(s, r->useCount == 0 ? ".useCount is 0" : ".pUses is NULL");
    }
    for (uint32_t i = 0; i < r->useCount; ++i) {
        const MaarTransientUse* use = &r->pUses[i];
        if (use->pass >= s->graph->passCount) {
            char text[64];
            (void)snprintf(text, sizeof text, ".pass is %u, not below passCount (%u)", use->pass,
                           s->graph->passCount);
            return refuse_use(s, i, text);
        }
        if (use->stages == 0 || use->access == 0) {
            return refuse_use(s, i, use->stages == 0 ? ".stages is 0" : ".access is 0");
        }
        const char* fault = image ? find_layout_fault(r->pImageInfo, use->layout) : NULL;
        if (fault != NULL) {
            return refuse_use(s, i, fault);
        }
        const uint32_t queue = s->graph->pPasses[use->pass].queueIndex;
        if (concurrent && !lists_family(families, count, s->graph->pQueues[queue].familyIndex)) {
            return refuse_use(s, i,
                              ".pass runs in a queue family that is not among the resource's "
                              "pQueueFamilyIndices");
        }
    }
    return VK_SUCCESS;
}

static VkResult check_image(const struct subject* s)
{
    const VkImageCreateInfo* info = s->resource->pImageInfo;
    VkResult result = check_info(s, "pImageInfo", info, VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkImageCreateFlags unfit = (VkImageCreateFlags)VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
                                     (VkImageCreateFlags)VK_IMAGE_CREATE_DISJOINT_BIT;
    const struct maar_rule rules[] = {
        {(info->flags & unfit) != 0, MAAR_MESSAGE_ID_INVALID_GRAPH,
         ".pImageInfo is sparse or disjoint"},
        {info->initialLayout != VK_IMAGE_LAYOUT_UNDEFINED, MAAR_MESSAGE_ID_INVALID_GRAPH,
         ".pImageInfo->initialLayout is not VK_IMAGE_LAYOUT_UNDEFINED"},
        {0},
    };
    struct maar_bound_text text;
    const struct maar_fault fault = maar_find_image_fault(info, &text);
    return fault.sentence == NULL ? check_resource_rules(s, rules)
                                  : refuse_resource(s, fault.sentence);
}

static VkResult check_buffer(const struct subject* s)
{
    const VkBufferCreateInfo* info = s->resource->pBufferInfo;
    VkResult result = check_info(s, "pBufferInfo", info, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool has_address = (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    const struct maar_rule rules[] = {
        {info->size == 0, MAAR_MESSAGE_ID_INVALID_GRAPH, ".pBufferInfo->size is 0"},
        {!maar_buffer_has_usage(info), MAAR_MESSAGE_ID_INVALID_GRAPH, ".pBufferInfo->usage is 0"},
        {(info->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT) != 0, MAAR_MESSAGE_ID_INVALID_GRAPH,
         ".pBufferInfo is sparse"},
        {has_address && !s->allocator->device.facts.buffer_device_address,
         MAAR_MESSAGE_ID_INVALID_GRAPH,
         ".pBufferInfo->usage has SHADER_DEVICE_ADDRESS, but the bufferDeviceAddress feature was "
         "not among pEnabledFeatures"},
        {0},
    };
    return check_resource_rules(s, rules);
}

static VkResult check_views(const struct subject* s)
{
    const MaarTransientResource* r = s->resource;
    if (r->viewCount > 0 && r->pImageInfo == NULL) {
        return refuse_resource(s, ".viewCount is not 0, but the resource is a buffer");
    }
    if (r->viewCount > 0 && r->pViewInfos == NULL) {
        return refuse_resource(s, ".pViewInfos is NULL");
    }
    for (uint32_t i = 0; i < r->viewCount; ++i) {
        if (r->pViewInfos[i].sType != VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO) {
            char text[96];
            (void)snprintf(text, sizeof text,
                           ".pViewInfos[%u].sType is not "
                           "VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO",
                           i);
            return refuse_resource(s, text);
        }
    }
    return VK_SUCCESS;
}

static VkResult check_transient(const struct subject* s)
{
    const MaarTransientResource* r = s->resource;
    if ((r->pBufferInfo == NULL) == (r->pImageInfo == NULL)) {
        return refuse_resource(s, " must have either pBufferInfo or pImageInfo");
    }
    if ((r->flags & ~KNOWN_RESOURCE_FLAGS) != 0) {
        char text[96];
        (void)snprintf(text, sizeof text,
                       ".flags has bits that are no MaarTransientResourceFlagBits: 0x%X",
                       r->flags & ~KNOWN_RESOURCE_FLAGS);
        return refuse_resource(s, text);
    }
    VkResult result = r->pImageInfo != NULL ? check_image(s) : check_buffer(s);
    if (result == VK_SUCCESS) {
        result = check_uses(s);
    }
    return result == VK_SUCCESS ? check_views(s) : result;
}

/* Checks the counts and pointers of the graph itself. Returns NULL if they are valid, or the
 * fault. text: may have the sentence. */
static const char* find_graph_fault(const MaarTransientGraph* graph, struct maar_bound_text* text)
{
    const struct maar_bound bounds[] = {
        {graph->queueCount == 0 || graph->queueCount > MAAR_TRANSIENT_MAX_QUEUES,
         MAAR_MESSAGE_ID_INVALID_GRAPH,
         "pGraph->queueCount is 0 or above MAAR_TRANSIENT_MAX_QUEUES",
         MAAR_SHOW_LIMIT(graph->queueCount, MAAR_TRANSIENT_MAX_QUEUES)},
        {graph->passCount == 0 || graph->passCount > MAAR_PLAN_MAX_PASSES,
         MAAR_MESSAGE_ID_INVALID_GRAPH, "pGraph->passCount is 0 or above MAAR_PLAN_MAX_PASSES",
         MAAR_SHOW_LIMIT(graph->passCount, MAAR_PLAN_MAX_PASSES)},
        {graph->resourceCount > MAAR_PLAN_MAX_RESOURCES, MAAR_MESSAGE_ID_INVALID_GRAPH,
         "pGraph->resourceCount is above MAAR_PLAN_MAX_RESOURCES",
         MAAR_SHOW_LIMIT(graph->resourceCount, MAAR_PLAN_MAX_RESOURCES)},
        {0},
    };
    const struct maar_fault fault = maar_find_broken_bound(bounds, text);
    if (fault.sentence != NULL) {
        return fault.sentence;
    }
    if (graph->pQueues == NULL || graph->pPasses == NULL) {
        return graph->pQueues == NULL ? "pGraph->pQueues is NULL" : "pGraph->pPasses is NULL";
    }
    if (graph->dependencyCount > 0 && graph->pDependencies == NULL) {
        return "pGraph->pDependencies is NULL";
    }
    return graph->resourceCount > 0 && graph->pResources == NULL ? "pGraph->pResources is NULL"
                                                                 : NULL;
}

static VkResult check_graph_passes(MaarAllocator allocator, const char* call,
                                   const MaarTransientGraph* graph)
{
    char text[96];
    const uint32_t families = allocator->device.facts.queue_family_count;
    for (uint32_t i = 0; i < graph->queueCount; ++i) {
        if (graph->pQueues[i].familyIndex >= families) {
            (void)snprintf(text, sizeof text, ".familyIndex is %u, and the device has %u families",
                           graph->pQueues[i].familyIndex, families);
            return refuse_field(allocator, call, "pQueues", i, text);
        }
    }
    for (uint32_t i = 0; i < graph->passCount; ++i) {
        if (graph->pPasses[i].queueIndex >= graph->queueCount) {
            (void)snprintf(text, sizeof text, ".queueIndex is %u, not below queueCount (%u)",
                           graph->pPasses[i].queueIndex, graph->queueCount);
            return refuse_field(allocator, call, "pPasses", i, text);
        }
    }
    for (uint32_t i = 0; i < graph->dependencyCount; ++i) {
        const MaarTransientDependency* dependency = &graph->pDependencies[i];
        if (dependency->before >= graph->passCount || dependency->after >= graph->passCount) {
            (void)snprintf(text, sizeof text,
                           " names passes %u and %u, not both below passCount (%u)",
                           dependency->before, dependency->after, graph->passCount);
            return refuse_field(allocator, call, "pDependencies", i, text);
        }
    }
    return VK_SUCCESS;
}

VkResult maar_transient_check(MaarAllocator allocator, const char* call,
                              const MaarTransientGraph* info)
{
    VkResult result =
        maar_check_structure(allocator, call, "pGraph", info, MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_bound_text text;
    const char* fault = find_graph_fault(info, &text);
    if (fault != NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, call, fault);
    }
    result = check_graph_passes(allocator, call, info);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->resourceCount; ++i) {
        const struct subject subject = {
            .allocator = allocator,
            .call = call,
            .graph = info,
            .index = i,
            .resource = &info->pResources[i],
        };
        result = check_transient(&subject);
    }
    return result;
}

/* ---- warnings ---- */

void maar_transient_warn(MaarAllocator allocator, const char* call, const MaarTransientGraph* info,
                         const struct maar_transient_graph* graph)
{
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const struct maar_transient_resource* resource = &graph->resources[i];
        const uint32_t pass = resource->uses[0].pass;
        if (resource->keep || resource->groups[0].write) {
            continue;
        }
        maar_report(
            allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_UNDEFINED_CONTENTS, call,
            "%s is read by %s before any pass has written it: its contents are undefined, unless "
            "MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT keeps those of the frame before",
            maar_transient_label_resource(i, resource->name).text,
            maar_transient_label_pass(pass, info->pPasses[pass].pName).text);
    }
}
