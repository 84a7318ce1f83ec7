/*
 * Graphs and create infos as bytes, so that two of them can be compared. An unknown structure in a
 * pNext chain makes a create info incomparable. Each update creates such a resource again.
 */
#include <string.h>

#include "core/transient/transient_graph.h"

/* Counts bytes while it has no storage, then writes them. */
struct key_writer {
    unsigned char* bytes;
    size_t size;
    bool opaque;
};

static void put(struct key_writer* w, const void* value, size_t size)
{
    if (w->bytes != NULL && size > 0) {
        memcpy(w->bytes + w->size, value, size);
    }
    w->size += size;
}

#define PUT(w, value) put((w), &(value), sizeof(value))

static void put_chain(struct key_writer* w, const void* chain)
{
    for (const VkBaseInStructure* s = chain; s != NULL; s = s->pNext) {
        PUT(w, s->sType);
        switch (s->sType) {
        case VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO: {
            const VkImageFormatListCreateInfo* list = (const void*)s;
            PUT(w, list->viewFormatCount);
            put(w, list->pViewFormats, list->viewFormatCount * sizeof *list->pViewFormats);
            break;
        }
        case VK_STRUCTURE_TYPE_IMAGE_STENCIL_USAGE_CREATE_INFO:
            PUT(w, ((const VkImageStencilUsageCreateInfo*)(const void*)s)->stencilUsage);
            break;
        case VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO:
            PUT(w, ((const VkImageViewUsageCreateInfo*)(const void*)s)->usage);
            break;
        default:
            w->opaque = true;
            break;
        }
    }
}

static void put_sharing(struct key_writer* w, VkSharingMode mode, const uint32_t* families,
                        uint32_t count)
{
    PUT(w, mode);
    if (mode == VK_SHARING_MODE_CONCURRENT) {
        PUT(w, count);
        put(w, families, count * sizeof *families);
    }
}

static void put_buffer(struct key_writer* w, const VkBufferCreateInfo* info)
{
    PUT(w, info->flags);
    PUT(w, info->size);
    PUT(w, info->usage);
    put_sharing(w, info->sharingMode, info->pQueueFamilyIndices, info->queueFamilyIndexCount);
    put_chain(w, info->pNext);
}

static void put_image(struct key_writer* w, const VkImageCreateInfo* info)
{
    PUT(w, info->flags);
    PUT(w, info->imageType);
    PUT(w, info->format);
    PUT(w, info->extent);
    PUT(w, info->mipLevels);
    PUT(w, info->arrayLayers);
    PUT(w, info->samples);
    PUT(w, info->tiling);
    PUT(w, info->usage);
    put_sharing(w, info->sharingMode, info->pQueueFamilyIndices, info->queueFamilyIndexCount);
    put_chain(w, info->pNext);
}

static void put_views(struct key_writer* w, const MaarTransientResource* resource)
{
    PUT(w, resource->viewCount);
    for (uint32_t i = 0; i < resource->viewCount; ++i) {
        const VkImageViewCreateInfo* info = &resource->pViewInfos[i];
        PUT(w, info->flags);
        PUT(w, info->viewType);
        PUT(w, info->format);
        PUT(w, info->components);
        PUT(w, info->subresourceRange);
        put_chain(w, info->pNext);
    }
}

/* Writes one resource, and notes in `kept` where its keys are. */
static void put_resource(struct key_writer* w, const MaarTransientResource* resource,
                         struct maar_transient_resource* kept)
{
    const bool image = resource->pImageInfo != NULL;
    const bool opaque = w->opaque;
    const size_t start = w->size;
    w->opaque = false;
    PUT(w, image);
    if (image) {
        put_image(w, resource->pImageInfo);
    } else {
        put_buffer(w, resource->pBufferInfo);
    }
    const size_t middle = w->size;
    kept->opaque = w->opaque;
    w->opaque = false;
    put_views(w, resource);
    kept->view_opaque = w->opaque;
    if (w->bytes != NULL) {
        kept->key = w->bytes + start;
        kept->view_key = w->bytes + middle;
    }
    kept->key_size = middle - start;
    kept->view_key_size = w->size - middle;
    w->opaque = opaque || kept->opaque || kept->view_opaque;
    PUT(w, resource->flags);
    PUT(w, resource->useCount);
    put(w, resource->pUses, resource->useCount * sizeof *resource->pUses);
}

static void put_graph(struct key_writer* w, const MaarTransientGraph* info,
                      struct maar_transient_graph* graph)
{
    PUT(w, info->queueCount);
    for (uint32_t i = 0; i < info->queueCount; ++i) {
        PUT(w, info->pQueues[i].familyIndex);
    }
    PUT(w, info->passCount);
    for (uint32_t i = 0; i < info->passCount; ++i) {
        PUT(w, info->pPasses[i].queueIndex);
    }
    PUT(w, info->dependencyCount);
    put(w, info->pDependencies, info->dependencyCount * sizeof *info->pDependencies);
    PUT(w, info->resourceCount);
    for (uint32_t i = 0; i < info->resourceCount; ++i) {
        put_resource(w, &info->pResources[i], &graph->resources[i]);
    }
}

void maar_transient_make_keys(struct maar_host_stack* stack, const MaarTransientGraph* info,
                              struct maar_transient_graph* graph)
{
    struct key_writer writer = {.bytes = NULL};
    put_graph(&writer, info, graph);
    writer.bytes = maar_stack_take(stack, writer.size, 1);
    if (writer.bytes == NULL) {
        return;
    }
    writer.size = 0;
    writer.opaque = false;
    put_graph(&writer, info, graph);
    graph->key = writer.bytes;
    graph->key_size = writer.size;
    graph->opaque = writer.opaque;
}
