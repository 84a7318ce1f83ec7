/*
 * Descriptors, and the templates by which programs write many at once.
 */
#include <string.h>

#include "core/host_memory.h"
#include "layer/layer_use_internal.h"

struct update_template {
    struct layer_use_link link;
    uint32_t entry_count;
    VkDescriptorUpdateTemplateEntry entries[];
};

/* ---- descriptors ---- */

enum descriptor_form { FORM_OTHER, FORM_IMAGE, FORM_BUFFER, FORM_TEXELS };

static enum descriptor_form form_of(VkDescriptorType type, uint8_t* flags)
{
    *flags = USE_READ;
    switch (type) {
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        *flags = USE_BOTH;
        return FORM_IMAGE;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
    case VK_DESCRIPTOR_TYPE_SAMPLE_WEIGHT_IMAGE_QCOM:
    case VK_DESCRIPTOR_TYPE_BLOCK_MATCH_IMAGE_QCOM:
        return FORM_IMAGE;
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
        *flags = USE_BOTH;
        return FORM_BUFFER;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
        return FORM_BUFFER;
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        *flags = USE_BOTH;
        return FORM_TEXELS;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
        return FORM_TEXELS;
    default:
        return FORM_OTHER;
    }
}

static void read_buffer(struct layer_uses* uses, VkBuffer buffer, uint8_t flags,
                        struct layer_use_slot* slot)
{
    struct layer_use_buffer found;
    if (maar_layer_use_table_copy(&uses->buffers, MAAR_TO_BITS(buffer), &found, sizeof found)) {
        slot->use = (struct layer_use){.object = MAAR_TO_BITS(buffer),
                                       .parts = 1,
                                       .touched = 1,
                                       .kind = LAYER_USE_BUFFER,
                                       .flags = flags};
        slot->serial = found.serial;
    }
}

static void read_image(struct layer_uses* uses, VkImageView view, uint8_t flags,
                       struct layer_use_slot* slot)
{
    struct layer_use_view found;
    if (maar_layer_use_table_copy(&uses->views, MAAR_TO_BITS(view), &found, sizeof found)) {
        slot->use = maar_layer_use_of_image(&found.image, &found.range, flags, false);
        slot->serial = found.image.serial;
    }
}

void maar_layer_use_read_slot(struct layer_uses* uses, VkDescriptorType type,
                              const struct layer_use_source* source, struct layer_use_slot* slot)
{
    uint8_t flags = 0;
    const enum descriptor_form form = form_of(type, &flags);
    memset(slot, 0, sizeof *slot);
    if (form == FORM_IMAGE && source->image != NULL) {
        read_image(uses, source->image->imageView, flags, slot);
    } else if (form == FORM_BUFFER && source->buffer != NULL) {
        read_buffer(uses, source->buffer->buffer, flags, slot);
    } else if (form == FORM_TEXELS && source->texels != NULL) {
        struct layer_use_buffer_view view;
        (void)maar_layer_use_table_copy(&uses->buffer_views, MAAR_TO_BITS(*source->texels), &view,
                                        sizeof view);
        read_buffer(uses, view.buffer, flags, slot);
    }
}

static struct layer_use_source source_at(VkDescriptorType type, const void* data)
{
    uint8_t flags = 0;
    struct layer_use_source source = {0};
    switch (form_of(type, &flags)) {
    case FORM_IMAGE:
        source.image = data;
        break;
    case FORM_BUFFER:
        source.buffer = data;
        break;
    case FORM_TEXELS:
        source.texels = data;
        break;
    case FORM_OTHER:
        break;
    }
    return source;
}

/* ---- templates ---- */

static void add_template(struct layer_uses* uses, const VkDescriptorUpdateTemplateCreateInfo* info,
                         VkDescriptorUpdateTemplate handle)
{
    const uint32_t count = info->descriptorUpdateEntryCount;
    struct update_template* const value =
        maar_host_calloc(NULL, 1, sizeof *value + count * sizeof value->entries[0]);
    if (value != NULL) {
        value->entry_count = count;
        memcpy(value->entries, info->pDescriptorUpdateEntries, count * sizeof value->entries[0]);
        maar_layer_use_table_add(&uses->templates, MAAR_TO_BITS(handle), &value->link);
    }
}

/* Finds a template. The program keeps it alive during the call. */
static const struct update_template* find_template(struct layer_uses* uses,
                                                   VkDescriptorUpdateTemplate handle)
{
    const uint64_t key = MAAR_TO_BITS(handle);
    const struct update_template* const found = maar_layer_use_table_lock(&uses->templates, key);
    maar_layer_use_table_unlock(&uses->templates, key);
    return found;
}

/* Writes the data into a set, or, with a command buffer's list, notes the uses there. */
static void apply_template(struct layer_uses* uses, VkDescriptorUpdateTemplate handle,
                           const void* data, uint64_t set, struct layer_use_list* list)
{
    const struct update_template* const found = find_template(uses, handle);
    for (uint32_t i = 0; found != NULL && i < found->entry_count; ++i) {
        const VkDescriptorUpdateTemplateEntry* const entry = &found->entries[i];
        if (entry->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
            continue;
        }
        for (uint32_t j = 0; j < entry->descriptorCount; ++j) {
            const void* const at = (const char*)data + entry->offset + j * entry->stride;
            const struct layer_use_source source = source_at(entry->descriptorType, at);
            struct layer_use_slot slot;
            maar_layer_use_read_slot(uses, entry->descriptorType, &source, &slot);
            if (list != NULL) {
                maar_layer_use_list_add(list, &slot.use);
            } else {
                maar_layer_use_write_set(uses, set, entry->dstBinding,
                                         (uint64_t)entry->dstArrayElement + j, &slot);
            }
        }
    }
}

/* One function for each name, since each calls the next layer's function of its name. */
#define CREATE_TEMPLATE(function, name)                                                            \
    static VKAPI_ATTR VkResult VKAPI_CALL function(                                                \
        VkDevice device, const VkDescriptorUpdateTemplateCreateInfo* info,                         \
        const VkAllocationCallbacks* callbacks, VkDescriptorUpdateTemplate* handle)                \
    {                                                                                              \
        struct layer_uses* const uses = maar_layer_device_of(device)->uses;                        \
        const VkResult result = uses->next.name(device, info, callbacks, handle);                  \
        if (result == VK_SUCCESS) {                                                                \
            add_template(uses, info, *handle);                                                     \
        }                                                                                          \
        return result;                                                                             \
    }

CREATE_TEMPLATE(create_template, CreateDescriptorUpdateTemplate)
CREATE_TEMPLATE(create_template_khr, CreateDescriptorUpdateTemplateKHR)

#define DESTROY_TEMPLATE(function, name)                                                           \
    static VKAPI_ATTR void VKAPI_CALL function(VkDevice device, VkDescriptorUpdateTemplate handle, \
                                               const VkAllocationCallbacks* callbacks)             \
    {                                                                                              \
        struct layer_uses* const uses = maar_layer_device_of(device)->uses;                        \
        maar_layer_use_table_remove(&uses->templates, MAAR_TO_BITS(handle));                       \
        uses->next.name(device, handle, callbacks);                                                \
    }

DESTROY_TEMPLATE(destroy_template, DestroyDescriptorUpdateTemplate)
DESTROY_TEMPLATE(destroy_template_khr, DestroyDescriptorUpdateTemplateKHR)

#define UPDATE_BY_TEMPLATE(function, name)                                                         \
    static VKAPI_ATTR void VKAPI_CALL function(                                                    \
        VkDevice device, VkDescriptorSet set, VkDescriptorUpdateTemplate handle, const void* data) \
    {                                                                                              \
        struct layer_uses* const uses = maar_layer_device_of(device)->uses;                        \
        apply_template(uses, handle, data, MAAR_TO_BITS(set), NULL);                               \
        uses->next.name(device, set, handle, data);                                                \
    }

UPDATE_BY_TEMPLATE(update_by_template, UpdateDescriptorSetWithTemplate)
UPDATE_BY_TEMPLATE(update_by_template_khr, UpdateDescriptorSetWithTemplateKHR)

static void note_pushed(const struct layer_use_call* call, VkDescriptorUpdateTemplate handle,
                        const void* data)
{
    if (call->list != NULL) {
        apply_template(call->uses, handle, data, 0, call->list);
    }
}

#define PUSH_BY_TEMPLATE(function, name)                                                           \
    static VKAPI_ATTR void VKAPI_CALL function(                                                    \
        VkCommandBuffer commands, VkDescriptorUpdateTemplate handle, VkPipelineLayout layout,      \
        uint32_t set, const void* data)                                                            \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_pushed(&call, handle, data);                                                          \
        call.next->name(commands, handle, layout, set, data);                                      \
    }

PUSH_BY_TEMPLATE(push_by_template, CmdPushDescriptorSetWithTemplate)
PUSH_BY_TEMPLATE(push_by_template_khr, CmdPushDescriptorSetWithTemplateKHR)

#define PUSH_BY_TEMPLATE2(function, name)                                                          \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const struct layer_push_template_info* info)        \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_pushed(&call, info->descriptorUpdateTemplate, info->pData);                           \
        call.next->name(commands, info);                                                           \
    }

PUSH_BY_TEMPLATE2(push_by_template2, CmdPushDescriptorSetWithTemplate2)
PUSH_BY_TEMPLATE2(push_by_template2_khr, CmdPushDescriptorSetWithTemplate2KHR)

const struct layer_hook maar_layer_use_template_hooks[] = {
    LAYER_HOOK(CreateDescriptorUpdateTemplate, create_template),
    LAYER_HOOK(CreateDescriptorUpdateTemplateKHR, create_template_khr),
    LAYER_HOOK(DestroyDescriptorUpdateTemplate, destroy_template),
    LAYER_HOOK(DestroyDescriptorUpdateTemplateKHR, destroy_template_khr),
    LAYER_HOOK(UpdateDescriptorSetWithTemplate, update_by_template),
    LAYER_HOOK(UpdateDescriptorSetWithTemplateKHR, update_by_template_khr),
    LAYER_HOOK(CmdPushDescriptorSetWithTemplate, push_by_template),
    LAYER_HOOK(CmdPushDescriptorSetWithTemplateKHR, push_by_template_khr),
    LAYER_HOOK(CmdPushDescriptorSetWithTemplate2, push_by_template2),
    LAYER_HOOK(CmdPushDescriptorSetWithTemplate2KHR, push_by_template2_khr),
    {NULL, NULL},
};
