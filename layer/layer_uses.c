/*
 * Uses of resources: the objects, and the batches. layer/layer_uses.h describes the module.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* secure_getenv */
#endif

#include "layer/layer_use_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/host_memory.h"
#include "layer/layer_budget.h"
#include "layer/layer_capture.h"

static const struct layer_hook* const use_hooks[] = {
    maar_layer_use_buffer_hooks,   maar_layer_use_copy_hooks, maar_layer_use_barrier_hooks,
    maar_layer_use_view_hooks,     maar_layer_use_pass_hooks, maar_layer_use_set_hooks,
    maar_layer_use_template_hooks, maar_layer_use_life_hooks,
};

/* Extensions by which commands may use objects that neither a command nor a set names. */
static const char* const hiding_extensions[] = {
    "VK_EXT_descriptor_buffer",
    "VK_EXT_descriptor_heap",
    "VK_NV_device_generated_commands",
    "VK_EXT_device_generated_commands",
    "VK_NVX_image_view_handle",
    "VK_NVX_binary_import",
    "VK_KHR_video_queue",
    "VK_AMDX_shader_enqueue",
};

bool maar_layer_wants_uses(void)
{
    const char* const value = secure_getenv("MAAR_CAPTURE_USES");
    return value != NULL && strcmp(value, "1") == 0;
}

/* Whether the next layer had the function while the device was created. */
static bool has_next(const struct layer_use_functions* next, const char* name)
{
#define LAYER_CHECK(function)                                                                      \
    if (strcmp(name, "vk" #function) == 0) {                                                       \
        return next->function != NULL;                                                             \
    }
#define LAYER_CHECK_NEWER(function, type) LAYER_CHECK(function)
    LAYER_USE_FUNCTIONS(LAYER_CHECK)
    LAYER_NEWER_USE_FUNCTIONS(LAYER_CHECK_NEWER)
#undef LAYER_CHECK
#undef LAYER_CHECK_NEWER
    return false;
}

static PFN_vkVoidFunction find_hook_of_uses(const char* name)
{
    for (size_t i = 0; i < sizeof use_hooks / sizeof use_hooks[0]; ++i) {
        for (const struct layer_hook* hook = use_hooks[i]; hook->name != NULL; ++hook) {
            if (strcmp(hook->name, name) == 0) {
                return hook->function;
            }
        }
    }
    return NULL;
}

PFN_vkVoidFunction maar_layer_find_use_hook(const struct layer_device* device, const char* name)
{
    const PFN_vkVoidFunction found = find_hook_of_uses(name);
    const bool is_wanted = device == NULL || device->uses != NULL;
    if (found == NULL || !is_wanted || (device != NULL && !has_next(&device->uses->next, name))) {
        return NULL;
    }
    return found;
}

static void record_beginning(const struct layer_device* device, const VkDeviceCreateInfo* info)
{
    MaarCaptureUses record = {.device = device->number,
                              .flags = MAAR_CAPTURE_USES_WITHOUT_ADDRESSES_BIT};
    for (size_t i = 0; i < sizeof hiding_extensions / sizeof hiding_extensions[0]; ++i) {
        if (maar_layer_is_listed(info->ppEnabledExtensionNames, info->enabledExtensionCount,
                                 hiding_extensions[i])) {
            record.flags |= MAAR_CAPTURE_USES_INCOMPLETE_BIT;
        }
    }
    maar_layer_write(device, MAAR_CAPTURE_KIND_USES, &record, sizeof record);
}

void maar_layer_use_free_value(void* value)
{
    maar_host_free(NULL, value);
}

static void free_commands(void* value)
{
    struct layer_use_commands* const commands = value;
    maar_layer_use_list_free(&commands->list);
    maar_host_free(NULL, commands);
}

bool maar_layer_begin_uses(struct layer_device* device, const VkDeviceCreateInfo* info)
{
    if (!maar_layer_wants_uses()) {
        return true;
    }
    struct layer_uses* const uses = maar_host_calloc(NULL, 1, sizeof *uses);
    if (uses == NULL) {
        return false;
    }
#define LAYER_TAKE(name)                                                                           \
    uses->next.name = (PFN_vk##name)device->next_get(device->handle, "vk" #name);
#define LAYER_TAKE_NEWER(name, type)                                                               \
    uses->next.name = (type)device->next_get(device->handle, "vk" #name);
    LAYER_USE_FUNCTIONS(LAYER_TAKE)
    LAYER_NEWER_USE_FUNCTIONS(LAYER_TAKE_NEWER)
#undef LAYER_TAKE
#undef LAYER_TAKE_NEWER
    maar_layer_use_table_init(&uses->buffers, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->images, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->views, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->buffer_views, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->framebuffers, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->passes, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->layouts, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->sets, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->templates, maar_layer_use_free_value);
    maar_layer_use_table_init(&uses->commands, free_commands);
    device->uses = uses;
    record_beginning(device, info);
    return true;
}

void maar_layer_end_uses(struct layer_device* device)
{
    struct layer_uses* const uses = device->uses;
    if (uses == NULL) {
        return;
    }
    maar_layer_use_table_clear(&uses->buffers);
    maar_layer_use_table_clear(&uses->images);
    maar_layer_use_table_clear(&uses->views);
    maar_layer_use_table_clear(&uses->buffer_views);
    maar_layer_use_table_clear(&uses->framebuffers);
    maar_layer_use_table_clear(&uses->passes);
    maar_layer_use_table_clear(&uses->layouts);
    maar_layer_use_table_clear(&uses->sets);
    maar_layer_use_table_clear(&uses->templates);
    maar_layer_use_table_clear(&uses->commands);
    device->uses = NULL;
    maar_host_free(NULL, uses);
}

/* ---- objects ---- */

uint64_t maar_layer_use_next_serial(struct layer_uses* uses)
{
    return maar_atomic64_add(&uses->serial_count, 1);
}

void maar_layer_use_buffer_begins(const struct layer_device* device, VkBuffer buffer,
                                  VkDeviceSize size)
{
    struct layer_use_buffer* const value =
        device->uses != NULL ? maar_host_calloc(NULL, 1, sizeof *value) : NULL;
    if (value != NULL) {
        value->size = size;
        value->serial = maar_layer_use_next_serial(device->uses);
        maar_layer_use_table_add(&device->uses->buffers, MAAR_TO_BITS(buffer), &value->link);
    }
}

static VkImageAspectFlags aspects_of(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D32_SFLOAT:
        return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_S8_UINT:
        return VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_FORMAT_D16_UNORM_S8_UINT:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    default:
        return VK_IMAGE_ASPECT_COLOR_BIT;
    }
}

void maar_layer_use_image_begins(const struct layer_device* device, VkImage image,
                                 const VkImageCreateInfo* info)
{
    struct layer_use_image* const value =
        device->uses != NULL ? maar_host_calloc(NULL, 1, sizeof *value) : NULL;
    if (value != NULL) {
        value->serial = maar_layer_use_next_serial(device->uses);
        value->format = info->format;
        value->extent = info->extent;
        value->mip_levels = info->mipLevels;
        value->array_layers = info->arrayLayers;
        value->aspects = aspects_of(info->format);
        value->is_volume = info->imageType == VK_IMAGE_TYPE_3D;
        maar_layer_use_table_add(&device->uses->images, MAAR_TO_BITS(image), &value->link);
    }
}

void maar_layer_use_object_ends(const struct layer_device* device, uint64_t handle, bool is_image)
{
    if (device->uses != NULL) {
        maar_layer_use_table_remove(is_image ? &device->uses->images : &device->uses->buffers,
                                    handle);
    }
}

/* ---- uses ---- */

struct layer_use_call maar_layer_use_call(VkCommandBuffer commands)
{
    struct layer_uses* const uses = maar_layer_device_of(commands)->uses;
    const uint64_t key = (uint64_t)(uintptr_t)commands;
    struct layer_use_commands* const found = maar_layer_use_table_lock(&uses->commands, key);
    maar_layer_use_table_unlock(&uses->commands, key);
    return (struct layer_use_call){uses, &uses->next, found != NULL ? &found->list : NULL};
}

void maar_layer_use_buffer(const struct layer_use_call* call, VkBuffer buffer, uint8_t flags)
{
    const struct layer_use use = {.object = MAAR_TO_BITS(buffer),
                                  .parts = 1,
                                  .touched = 1,
                                  .kind = LAYER_USE_BUFFER,
                                  .flags = flags};
    if (call->list != NULL) {
        maar_layer_use_list_add(call->list, &use);
    }
}

void maar_layer_use_overwrite(const struct layer_use_call* call, VkBuffer buffer,
                              VkDeviceSize offset, VkDeviceSize size)
{
    struct layer_use_buffer found;
    if (call->list == NULL) {
        return;
    }
    const bool is_known =
        maar_layer_use_table_copy(&call->uses->buffers, MAAR_TO_BITS(buffer), &found, sizeof found);
    /* Without a size, a fill leaves the bytes behind the last whole word. */
    const bool is_whole = size == VK_WHOLE_SIZE ? found.size % 4 == 0 : size >= found.size;
    const struct layer_use use = {.object = MAAR_TO_BITS(buffer),
                                  .parts = 1,
                                  .touched = 1,
                                  .discarded = is_known && offset == 0 && is_whole ? 1 : 0,
                                  .kind = LAYER_USE_BUFFER,
                                  .flags = USE_WRITE};
    maar_layer_use_list_add(call->list, &use);
}

bool maar_layer_use_find_image(const struct layer_use_call* call, VkImage image,
                               struct layer_use_image* found)
{
    const bool is_known =
        call->list != NULL &&
        maar_layer_use_table_copy(&call->uses->images, MAAR_TO_BITS(image), found, sizeof *found);
    if (!is_known) {
        memset(found, 0, sizeof *found);
        found->link.key = MAAR_TO_BITS(image);
    }
    return is_known;
}

uint64_t maar_layer_use_parts(const struct layer_use_image* image)
{
    const uint64_t count = (uint64_t)image->mip_levels * image->array_layers;
    return count > 64 || count == 0 ? 1 : UINT64_MAX >> (64 - count);
}

/* The parts of a range. Sets `covers` if the mask says exactly what the range is. */
static uint64_t parts_of(const struct layer_use_image* image, const VkImageSubresourceRange* range,
                         bool* covers)
{
    const uint64_t all = maar_layer_use_parts(image);
    const uint64_t levels = range->levelCount == VK_REMAINING_MIP_LEVELS
                                ? image->mip_levels - range->baseMipLevel
                                : range->levelCount;
    const uint64_t layers = range->layerCount == VK_REMAINING_ARRAY_LAYERS
                                ? image->array_layers - range->baseArrayLayer
                                : range->layerCount;
    const bool has_all = levels == image->mip_levels && layers == image->array_layers;
    *covers = image->mip_levels > 0 && (image->aspects & ~range->aspectMask) == 0;
    if (all == 1 || has_all) {
        *covers = *covers && has_all;
        return all;
    }
    if (range->baseMipLevel + levels > image->mip_levels ||
        range->baseArrayLayer + layers > image->array_layers) {
        *covers = false; /* slices of a volume */
        return all;
    }
    uint64_t mask = 0;
    for (uint64_t level = range->baseMipLevel; level < range->baseMipLevel + levels; ++level) {
        const uint64_t first = level * image->array_layers + range->baseArrayLayer;
        mask |= (layers >= 64 ? UINT64_MAX : (UINT64_C(1) << layers) - 1) << first;
    }
    return mask;
}

struct layer_use maar_layer_use_of_image(const struct layer_use_image* image,
                                         const VkImageSubresourceRange* range, uint8_t flags,
                                         bool discards)
{
    bool covers = false;
    struct layer_use use = {.object = image->link.key, .kind = LAYER_USE_IMAGE, .flags = flags};
    use.parts = maar_layer_use_parts(image);
    use.touched = parts_of(image, range, &covers);
    use.discarded = discards && covers ? use.touched : 0;
    return use;
}

void maar_layer_use_image(const struct layer_use_call* call, const struct layer_use_image* image,
                          const VkImageSubresourceRange* range, uint8_t flags, bool discards)
{
    if (call->list != NULL) {
        const struct layer_use use = maar_layer_use_of_image(image, range, flags, discards);
        maar_layer_use_list_add(call->list, &use);
    }
}

bool maar_layer_use_covers(const struct layer_use_image* image, uint32_t level, VkOffset3D offset,
                           VkExtent3D extent)
{
    const uint32_t width = image->extent.width >> level;
    const uint32_t height = image->extent.height >> level;
    return !image->is_volume && image->mip_levels > 0 && offset.x == 0 && offset.y == 0 &&
           extent.width >= (width > 0 ? width : 1) && extent.height >= (height > 0 ? height : 1);
}

/* ---- batches ---- */

static void take_commands(struct layer_uses* uses, VkCommandBuffer commands,
                          struct layer_use_list* batch)
{
    const uint64_t key = (uint64_t)(uintptr_t)commands;
    const struct layer_use_commands* const found = maar_layer_use_table_lock(&uses->commands, key);
    maar_layer_use_table_unlock(&uses->commands, key);
    for (uint32_t i = 0; found != NULL && i < found->list.count; ++i) {
        const struct layer_use* const item = &found->list.items[i];
        if (item->kind == LAYER_USE_SET) {
            maar_layer_use_expand_set(uses, item->object, batch);
        } else {
            maar_layer_use_list_add(batch, item);
        }
    }
}

static void write_batch(const struct layer_device* device, uint64_t submission,
                        struct layer_use_list* batch)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        const struct layer_use* const item = &batch->items[i];
        const MaarCaptureUse record = {
            .device = device->number,
            .objectKind = item->kind == LAYER_USE_IMAGE ? MAAR_CAPTURE_OBJECT_IMAGE
                                                        : MAAR_CAPTURE_OBJECT_BUFFER,
            .object = item->object,
            .submission = submission,
            .flags = maar_layer_use_flags(item),
        };
        if (record.flags != 0) {
            maar_layer_write(device, MAAR_CAPTURE_KIND_USE, &record, sizeof record);
        }
    }
    maar_layer_use_list_free(batch);
}

void maar_layer_record_uses(const struct layer_device* device, uint64_t submission, uint32_t count,
                            const VkCommandBuffer* commands)
{
    struct layer_use_list batch = {0};
    for (uint32_t i = 0; i < count && device->uses != NULL; ++i) {
        take_commands(device->uses, commands[i], &batch);
    }
    write_batch(device, submission, &batch);
}

void maar_layer_record_uses2(const struct layer_device* device, uint64_t submission, uint32_t count,
                             const VkCommandBufferSubmitInfo* commands)
{
    struct layer_use_list batch = {0};
    for (uint32_t i = 0; i < count && device->uses != NULL; ++i) {
        take_commands(device->uses, commands[i].commandBuffer, &batch);
    }
    write_batch(device, submission, &batch);
}
