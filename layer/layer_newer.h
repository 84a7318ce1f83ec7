/*
 * Structures and functions of Vulkan that are newer than the oldest headers that Maar compiles
 * with. The layouts are those of the specification; names are Maar's own, so that newer headers do
 * not clash.
 */
#ifndef MAAR_LAYER_NEWER_H
#define MAAR_LAYER_NEWER_H

#include <stdint.h>
#include <vulkan/vulkan_core.h>

/* VkStructureType */
enum {
    LAYER_TYPE_BUFFER_USAGE_FLAGS_2 = 1000470006,
    LAYER_TYPE_BIND_MEMORY_STATUS = 1000545002,
    LAYER_TYPE_IMPORT_METAL_HANDLE = 1000602000
};

/* VkExternalMemoryHandleTypeFlagBits: objects whose requirements may only be asked for once they
 * are bound. */
#define LAYER_HANDLE_TYPES_BOUND_FIRST                                                             \
    ((VkExternalMemoryHandleTypeFlags)0x400 /* Android hardware buffer */ |                        \
     (VkExternalMemoryHandleTypeFlags)0x4000 /* QNX screen buffer */)

struct layer_usage_flags2 { /* VkBufferUsageFlags2CreateInfo */
    VkStructureType sType;
    const void* pNext;
    uint64_t usage;
};

struct layer_bind_status { /* VkBindMemoryStatus */
    VkStructureType sType;
    const void* pNext;
    VkResult* pResult;
};

struct layer_map_info { /* VkMemoryMapInfo */
    VkStructureType sType;
    const void* pNext;
    VkFlags flags;
    VkDeviceMemory memory;
    VkDeviceSize offset;
    VkDeviceSize size;
};

struct layer_unmap_info { /* VkMemoryUnmapInfo */
    VkStructureType sType;
    const void* pNext;
    VkFlags flags;
    VkDeviceMemory memory;
};

struct layer_bind_sets_info { /* VkBindDescriptorSetsInfo */
    VkStructureType sType;
    const void* pNext;
    VkShaderStageFlags stageFlags;
    VkPipelineLayout layout;
    uint32_t firstSet;
    uint32_t descriptorSetCount;
    const VkDescriptorSet* pDescriptorSets;
    uint32_t dynamicOffsetCount;
    const uint32_t* pDynamicOffsets;
};

struct layer_push_set_info { /* VkPushDescriptorSetInfo */
    VkStructureType sType;
    const void* pNext;
    VkShaderStageFlags stageFlags;
    VkPipelineLayout layout;
    uint32_t set;
    uint32_t descriptorWriteCount;
    const VkWriteDescriptorSet* pDescriptorWrites;
};

struct layer_push_template_info { /* VkPushDescriptorSetWithTemplateInfo */
    VkStructureType sType;
    const void* pNext;
    VkDescriptorUpdateTemplate descriptorUpdateTemplate;
    VkPipelineLayout layout;
    uint32_t set;
    const void* pData;
};

typedef void(VKAPI_PTR* layer_pfn_bind_sets2)(VkCommandBuffer, const struct layer_bind_sets_info*);
typedef void(VKAPI_PTR* layer_pfn_push_set2)(VkCommandBuffer, const struct layer_push_set_info*);
typedef void(VKAPI_PTR* layer_pfn_push_template2)(VkCommandBuffer,
                                                  const struct layer_push_template_info*);
typedef void(VKAPI_PTR* layer_pfn_bind_index_buffer2)(VkCommandBuffer, VkBuffer, VkDeviceSize,
                                                      VkDeviceSize, VkIndexType);
typedef VkResult(VKAPI_PTR* layer_pfn_map_memory2)(VkDevice, const struct layer_map_info*, void**);
typedef VkResult(VKAPI_PTR* layer_pfn_unmap_memory2)(VkDevice, const struct layer_unmap_info*);

#endif
