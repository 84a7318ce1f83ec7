/*
 * Descriptor sets: which buffers and images were last written into them, and which sets a command
 * buffer binds. A list keeps the set; its contents are read when the commands are submitted, since
 * sets with UPDATE_AFTER_BIND change until then.
 *
 * A set is an array of descriptors, those of all bindings one after another, so a write that goes
 * beyond its binding goes on in the next one, as Vulkan says.
 */
#include <string.h>

#include "core/chain.h"
#include "core/host_memory.h"
#include "layer/layer_use_internal.h"

struct set_binding {
    uint32_t binding;
    uint32_t count; /* descriptors; 0 for inline bytes */
    uint64_t first; /* in the set */
};

struct set_layout {
    struct layer_use_link link;
    uint32_t binding_count;
    uint64_t slot_count;
    struct set_binding bindings[]; /* in the order of their numbers */
};

struct descriptor_set {
    struct layer_use_link link;
    uint64_t pool;
    uint64_t slot_count;
    uint64_t used_end; /* behind the last slot that was ever written */
    uint32_t binding_count;
    struct layer_use_slot* slots;  /* behind the structure */
    struct set_binding bindings[]; /* of the layout, which may end before the set */
};

static struct layer_uses* uses_of(VkDevice device)
{
    return maar_layer_device_of(device)->uses;
}

/* ---- layouts ---- */

/* Puts the bindings in order; there are few. */
static void sort_bindings(struct set_layout* layout)
{
    for (uint32_t i = 1; i < layout->binding_count; ++i) {
        const struct set_binding moved = layout->bindings[i];
        uint32_t at = i;
        while (at > 0 && layout->bindings[at - 1].binding > moved.binding) {
            layout->bindings[at] = layout->bindings[at - 1];
            --at;
        }
        layout->bindings[at] = moved;
    }
    for (uint32_t i = 0; i < layout->binding_count; ++i) {
        layout->bindings[i].first = layout->slot_count;
        layout->slot_count += layout->bindings[i].count;
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL create_layout(VkDevice device,
                                                    const VkDescriptorSetLayoutCreateInfo* info,
                                                    const VkAllocationCallbacks* callbacks,
                                                    VkDescriptorSetLayout* layout)
{
    struct layer_uses* const uses = uses_of(device);
    const VkResult result = uses->next.CreateDescriptorSetLayout(device, info, callbacks, layout);
    struct set_layout* const value =
        result == VK_SUCCESS
            ? maar_host_calloc(NULL, 1,
                               sizeof *value + info->bindingCount * sizeof value->bindings[0])
            : NULL;
    if (value == NULL) {
        return result;
    }
    value->binding_count = info->bindingCount;
    for (uint32_t i = 0; i < info->bindingCount; ++i) {
        const VkDescriptorSetLayoutBinding* const from = &info->pBindings[i];
        const bool is_inline = from->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
        value->bindings[i] =
            (struct set_binding){from->binding, is_inline ? 0 : from->descriptorCount, 0};
    }
    sort_bindings(value);
    maar_layer_use_table_add(&uses->layouts, MAAR_TO_BITS(*layout), &value->link);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL destroy_layout(VkDevice device, VkDescriptorSetLayout layout,
                                                 const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    maar_layer_use_table_remove(&uses->layouts, MAAR_TO_BITS(layout));
    uses->next.DestroyDescriptorSetLayout(device, layout, callbacks);
}

/* ---- sets ---- */

/* Makes a set of a layout. `most` bounds the descriptors of the last binding. */
static struct descriptor_set* new_set(const struct set_layout* layout, uint32_t most)
{
    const size_t head = sizeof(struct descriptor_set) +
                        layout->binding_count * sizeof(struct set_binding) +
                        sizeof(struct layer_use_slot);
    uint64_t count = layout->slot_count;
    if (layout->binding_count > 0) {
        const uint32_t last = layout->bindings[layout->binding_count - 1].count;
        count -= last > most ? last - most : 0;
    }
    if (count > (SIZE_MAX - head) / sizeof(struct layer_use_slot)) {
        return NULL;
    }
    struct descriptor_set* const set =
        maar_host_calloc(NULL, 1, head + (size_t)count * sizeof(struct layer_use_slot));
    if (set != NULL) {
        const size_t step = sizeof(struct layer_use_slot);
        set->slot_count = count;
        set->binding_count = layout->binding_count;
        memcpy(set->bindings, layout->bindings, layout->binding_count * sizeof set->bindings[0]);
        /* The slots begin at a multiple of their alignment, which their size is, too. */
        const size_t begin = (head - step + 7) / 8 * 8;
        set->slots = (struct layer_use_slot*)(void*)((char*)set + begin);
    }
    return set;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice device,
                                                    const VkDescriptorSetAllocateInfo* info,
                                                    VkDescriptorSet* sets)
{
    struct layer_uses* const uses = uses_of(device);
    const VkDescriptorSetVariableDescriptorCountAllocateInfo* const variable = maar_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);
    const VkResult result = uses->next.AllocateDescriptorSets(device, info, sets);
    for (uint32_t i = 0; i < info->descriptorSetCount && result == VK_SUCCESS; ++i) {
        const uint64_t key = MAAR_TO_BITS(info->pSetLayouts[i]);
        const bool is_variable = variable != NULL && i < variable->descriptorSetCount &&
                                 variable->pDescriptorCounts[i] > 0;
        const struct set_layout* const layout = maar_layer_use_table_lock(&uses->layouts, key);
        struct descriptor_set* const set =
            layout != NULL
                ? new_set(layout, is_variable ? variable->pDescriptorCounts[i] : UINT32_MAX)
                : NULL;
        maar_layer_use_table_unlock(&uses->layouts, key);
        if (set != NULL) {
            set->pool = MAAR_TO_BITS(info->descriptorPool);
            maar_layer_use_table_add(&uses->sets, MAAR_TO_BITS(sets[i]), &set->link);
        }
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL free_sets(VkDevice device, VkDescriptorPool pool,
                                                uint32_t count, const VkDescriptorSet* sets)
{
    struct layer_uses* const uses = uses_of(device);
    for (uint32_t i = 0; i < count; ++i) {
        maar_layer_use_table_remove(&uses->sets, MAAR_TO_BITS(sets[i]));
    }
    return uses->next.FreeDescriptorSets(device, pool, count, sets);
}

static bool is_of_pool(void* value, const void* context)
{
    return ((const struct descriptor_set*)value)->pool == *(const uint64_t*)context;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_pool(VkDevice device, VkDescriptorPool pool,
                                                 VkDescriptorPoolResetFlags flags)
{
    struct layer_uses* const uses = uses_of(device);
    const uint64_t key = MAAR_TO_BITS(pool);
    maar_layer_use_table_filter(&uses->sets, is_of_pool, &key);
    return uses->next.ResetDescriptorPool(device, pool, flags);
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice device, VkDescriptorPool pool,
                                               const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    const uint64_t key = MAAR_TO_BITS(pool);
    if (key != 0) {
        maar_layer_use_table_filter(&uses->sets, is_of_pool, &key);
    }
    uses->next.DestroyDescriptorPool(device, pool, callbacks);
}

/* ---- contents ---- */

/* Finds a slot, or NULL. The set's part is locked. */
static struct layer_use_slot* find_slot(struct descriptor_set* set, uint32_t binding,
                                        uint64_t element)
{
    uint32_t low = 0;
    uint32_t high = set->binding_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (set->bindings[middle].binding < binding) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == set->binding_count || set->bindings[low].binding != binding) {
        return NULL;
    }
    const uint64_t index = set->bindings[low].first + element;
    if (index >= set->slot_count) {
        return NULL;
    }
    set->used_end = index + 1 > set->used_end ? index + 1 : set->used_end;
    return &set->slots[index];
}

void maar_layer_use_write_set(struct layer_uses* uses, uint64_t set, uint32_t binding,
                              uint64_t element, const struct layer_use_slot* slot)
{
    struct descriptor_set* const found = maar_layer_use_table_lock(&uses->sets, set);
    struct layer_use_slot* const place = found != NULL ? find_slot(found, binding, element) : NULL;
    if (place != NULL) {
        *place = *slot;
    }
    maar_layer_use_table_unlock(&uses->sets, set);
}

static void copy_descriptors(struct layer_uses* uses, const VkCopyDescriptorSet* copy)
{
    const uint64_t source = MAAR_TO_BITS(copy->srcSet);
    for (uint32_t i = 0; i < copy->descriptorCount; ++i) {
        struct layer_use_slot slot = {0};
        struct descriptor_set* const set = maar_layer_use_table_lock(&uses->sets, source);
        const struct layer_use_slot* const place =
            set != NULL ? find_slot(set, copy->srcBinding, (uint64_t)copy->srcArrayElement + i)
                        : NULL;
        if (place != NULL) {
            slot = *place;
        }
        maar_layer_use_table_unlock(&uses->sets, source);
        maar_layer_use_write_set(uses, MAAR_TO_BITS(copy->dstSet), copy->dstBinding,
                                 (uint64_t)copy->dstArrayElement + i, &slot);
    }
}

static struct layer_use_source source_of(const VkWriteDescriptorSet* write, uint32_t index)
{
    return (struct layer_use_source){
        .image = write->pImageInfo != NULL ? &write->pImageInfo[index] : NULL,
        .buffer = write->pBufferInfo != NULL ? &write->pBufferInfo[index] : NULL,
        .texels = write->pTexelBufferView != NULL ? &write->pTexelBufferView[index] : NULL,
    };
}

static VKAPI_ATTR void VKAPI_CALL update_sets(VkDevice device, uint32_t write_count,
                                              const VkWriteDescriptorSet* writes,
                                              uint32_t copy_count,
                                              const VkCopyDescriptorSet* copies)
{
    struct layer_uses* const uses = uses_of(device);
    for (uint32_t i = 0; i < write_count; ++i) {
        const VkWriteDescriptorSet* const write = &writes[i];
        const bool is_inline = write->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
        for (uint32_t j = 0; j < write->descriptorCount && !is_inline; ++j) {
            const struct layer_use_source source = source_of(write, j);
            struct layer_use_slot slot;
            maar_layer_use_read_slot(uses, write->descriptorType, &source, &slot);
            maar_layer_use_write_set(uses, MAAR_TO_BITS(write->dstSet), write->dstBinding,
                                     (uint64_t)write->dstArrayElement + j, &slot);
        }
    }
    for (uint32_t i = 0; i < copy_count; ++i) {
        copy_descriptors(uses, &copies[i]);
    }
    uses->next.UpdateDescriptorSets(device, write_count, writes, copy_count, copies);
}

/* Whether the object of a descriptor still lives. */
static bool lives(struct layer_uses* uses, const struct layer_use_slot* slot)
{
    if (slot->use.kind == LAYER_USE_IMAGE) {
        struct layer_use_image image;
        return maar_layer_use_table_copy(&uses->images, slot->use.object, &image, sizeof image) &&
               image.serial == slot->serial;
    }
    struct layer_use_buffer buffer;
    return maar_layer_use_table_copy(&uses->buffers, slot->use.object, &buffer, sizeof buffer) &&
           buffer.serial == slot->serial;
}

void maar_layer_use_expand_set(struct layer_uses* uses, uint64_t set, struct layer_use_list* list)
{
    const struct descriptor_set* const found = maar_layer_use_table_lock(&uses->sets, set);
    for (uint64_t i = 0; found != NULL && i < found->used_end; ++i) {
        const struct layer_use_slot* const slot = &found->slots[i];
        if (slot->use.object != 0 && lives(uses, slot)) {
            maar_layer_use_list_add(list, &slot->use);
        }
    }
    maar_layer_use_table_unlock(&uses->sets, set);
}

/* ---- commands ---- */

static void note_sets(const struct layer_use_call* call, uint32_t count,
                      const VkDescriptorSet* sets)
{
    for (uint32_t i = 0; i < count && call->list != NULL; ++i) {
        const struct layer_use use = {.object = MAAR_TO_BITS(sets[i]), .kind = LAYER_USE_SET};
        maar_layer_use_list_add(call->list, &use);
    }
}

static VKAPI_ATTR void VKAPI_CALL bind_sets(VkCommandBuffer commands, VkPipelineBindPoint point,
                                            VkPipelineLayout layout, uint32_t first, uint32_t count,
                                            const VkDescriptorSet* sets, uint32_t offset_count,
                                            const uint32_t* offsets)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    note_sets(&call, count, sets);
    call.next->CmdBindDescriptorSets(commands, point, layout, first, count, sets, offset_count,
                                     offsets);
}

/* One function for each name, since each calls the next layer's function of its name. */
#define BIND_SETS2(function, name)                                                                 \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const struct layer_bind_sets_info* info)            \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_sets(&call, info->descriptorSetCount, info->pDescriptorSets);                         \
        call.next->name(commands, info);                                                           \
    }

BIND_SETS2(bind_sets2, CmdBindDescriptorSets2)
BIND_SETS2(bind_sets2_khr, CmdBindDescriptorSets2KHR)

static void note_pushed(const struct layer_use_call* call, uint32_t count,
                        const VkWriteDescriptorSet* writes)
{
    for (uint32_t i = 0; i < count && call->list != NULL; ++i) {
        const bool is_inline = writes[i].descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
        for (uint32_t j = 0; j < writes[i].descriptorCount && !is_inline; ++j) {
            const struct layer_use_source source = source_of(&writes[i], j);
            struct layer_use_slot slot;
            maar_layer_use_read_slot(call->uses, writes[i].descriptorType, &source, &slot);
            maar_layer_use_list_add(call->list, &slot.use);
        }
    }
}

#define PUSH_SET(function, name)                                                                   \
    static VKAPI_ATTR void VKAPI_CALL function(                                                    \
        VkCommandBuffer commands, VkPipelineBindPoint point, VkPipelineLayout layout,              \
        uint32_t set, uint32_t count, const VkWriteDescriptorSet* writes)                          \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_pushed(&call, count, writes);                                                         \
        call.next->name(commands, point, layout, set, count, writes);                              \
    }

PUSH_SET(push_set, CmdPushDescriptorSet)
PUSH_SET(push_set_khr, CmdPushDescriptorSetKHR)

#define PUSH_SET2(function, name)                                                                  \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const struct layer_push_set_info* info)             \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_pushed(&call, info->descriptorWriteCount, info->pDescriptorWrites);                   \
        call.next->name(commands, info);                                                           \
    }

PUSH_SET2(push_set2, CmdPushDescriptorSet2)
PUSH_SET2(push_set2_khr, CmdPushDescriptorSet2KHR)

const struct layer_hook maar_layer_use_set_hooks[] = {
    LAYER_HOOK(CreateDescriptorSetLayout, create_layout),
    LAYER_HOOK(DestroyDescriptorSetLayout, destroy_layout),
    LAYER_HOOK(AllocateDescriptorSets, allocate_sets),
    LAYER_HOOK(FreeDescriptorSets, free_sets),
    LAYER_HOOK(ResetDescriptorPool, reset_pool),
    LAYER_HOOK(DestroyDescriptorPool, destroy_pool),
    LAYER_HOOK(UpdateDescriptorSets, update_sets),
    LAYER_HOOK(CmdBindDescriptorSets, bind_sets),
    LAYER_HOOK(CmdBindDescriptorSets2, bind_sets2),
    LAYER_HOOK(CmdBindDescriptorSets2KHR, bind_sets2_khr),
    LAYER_HOOK(CmdPushDescriptorSet, push_set),
    LAYER_HOOK(CmdPushDescriptorSetKHR, push_set_khr),
    LAYER_HOOK(CmdPushDescriptorSet2, push_set2),
    LAYER_HOOK(CmdPushDescriptorSet2KHR, push_set2_khr),
    {NULL, NULL},
};
