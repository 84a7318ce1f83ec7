/*
 * Objects that programs need for a dispatch and that have no memory: views, shaders, pipelines,
 * descriptors. The driver counts them and checks them for leaks. They do nothing.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_object.h"

static VkResult sim_other_create(VkDevice device, enum sim_function function, enum sim_kind kind,
                                 const VkAllocationCallbacks* callbacks, uint64_t* handle)
{
    struct sim_device* d = SIM_DEVICE(device);
    *handle = 0;
    const VkResult result = sim_enter(d->gpu, d, function);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct sim_object* object =
        sim_object_create(d, kind, sizeof(struct sim_object), callbacks);
    if (object == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *handle = object->handle;
    return VK_SUCCESS;
}

static void sim_other_destroy(VkDevice device, enum sim_function function, uint64_t handle,
                              enum sim_kind kind, const VkAllocationCallbacks* callbacks)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_enter(d->gpu, d, function);
    sim_lock_gpu(d->gpu);
    struct sim_object* object = sim_object_retire(d, function, handle, kind, callbacks);
    sim_unlock_gpu(d->gpu);
    sim_object_release(object);
}

/* Defines the functions that create and destroy objects of one type. */
#define SIM_OTHER_PAIR(Name, KIND, suffix)                                                         \
    static VKAPI_ATTR VkResult VKAPI_CALL sim_create_##suffix(                                     \
        VkDevice device, const Vk##Name##CreateInfo* pCreateInfo,                                  \
        const VkAllocationCallbacks* pAllocator, Vk##Name* pHandle)                                \
    {                                                                                              \
        (void)pCreateInfo;                                                                         \
        uint64_t handle = 0;                                                                       \
        const VkResult result =                                                                    \
            sim_other_create(device, SIM_FN_vkCreate##Name, KIND, pAllocator, &handle);            \
        *pHandle = (Vk##Name)handle;                                                               \
        return result;                                                                             \
    }                                                                                              \
    static VKAPI_ATTR void VKAPI_CALL sim_destroy_##suffix(                                        \
        VkDevice device, Vk##Name handle, const VkAllocationCallbacks* pAllocator)                 \
    {                                                                                              \
        sim_other_destroy(device, SIM_FN_vkDestroy##Name, SIM_HANDLE(handle), KIND, pAllocator);   \
    }

SIM_OTHER_PAIR(BufferView, SIM_KIND_BUFFER_VIEW, buffer_view)
SIM_OTHER_PAIR(ImageView, SIM_KIND_IMAGE_VIEW, image_view)
SIM_OTHER_PAIR(ShaderModule, SIM_KIND_SHADER_MODULE, shader_module)
SIM_OTHER_PAIR(PipelineLayout, SIM_KIND_PIPELINE_LAYOUT, pipeline_layout)
SIM_OTHER_PAIR(DescriptorSetLayout, SIM_KIND_DESCRIPTOR_SET_LAYOUT, descriptor_set_layout)

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_compute_pipelines(
    VkDevice device, VkPipelineCache pipelineCache, uint32_t createInfoCount,
    const VkComputePipelineCreateInfo* pCreateInfos, const VkAllocationCallbacks* pAllocator,
    VkPipeline* pPipelines)
{
    (void)pipelineCache;
    (void)pCreateInfos;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < createInfoCount; i++) {
        uint64_t handle = 0;
        if (result == VK_SUCCESS) {
            result = sim_other_create(device, SIM_FN_vkCreateComputePipelines, SIM_KIND_PIPELINE,
                                      pAllocator, &handle);
        }
        pPipelines[i] = (VkPipeline)handle;
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_pipeline(VkDevice device, VkPipeline pipeline,
                                                       const VkAllocationCallbacks* pAllocator)
{
    sim_other_destroy(device, SIM_FN_vkDestroyPipeline, SIM_HANDLE(pipeline), SIM_KIND_PIPELINE,
                      pAllocator);
}

/* A descriptor set belongs to its pool, as a command buffer belongs to its own. */
struct sim_descriptor_set {
    struct sim_object object;
    uint64_t pool;
};

static VKAPI_ATTR VkResult VKAPI_CALL sim_create_descriptor_pool(
    VkDevice device, const VkDescriptorPoolCreateInfo* pCreateInfo,
    const VkAllocationCallbacks* pAllocator, VkDescriptorPool* pDescriptorPool)
{
    (void)pCreateInfo;
    uint64_t handle = 0;
    const VkResult result = sim_other_create(device, SIM_FN_vkCreateDescriptorPool,
                                             SIM_KIND_DESCRIPTOR_POOL, pAllocator, &handle);
    *pDescriptorPool = (VkDescriptorPool)handle;
    return result;
}

static struct sim_object* sim_descriptor_pool_pop(struct sim_device* d, uint64_t pool)
{
    for (uint32_t i = 0; i < d->slot_count; i++) {
        struct sim_object* object = d->slots[i].object;
        if (object != NULL && object->kind == SIM_KIND_DESCRIPTOR_SET &&
            ((struct sim_descriptor_set*)object)->pool == pool) {
            sim_object_remove(object);
            return object;
        }
    }
    return NULL;
}

static void sim_descriptor_pool_empty(struct sim_device* d, uint64_t pool)
{
    struct sim_object* object = NULL;
    do {
        sim_lock_gpu(d->gpu);
        object = sim_descriptor_pool_pop(d, pool);
        sim_unlock_gpu(d->gpu);
        sim_object_release(object);
    } while (object != NULL);
}

static VKAPI_ATTR void VKAPI_CALL sim_destroy_descriptor_pool(
    VkDevice device, VkDescriptorPool descriptorPool, const VkAllocationCallbacks* pAllocator)
{
    if (SIM_HANDLE(descriptorPool) != 0) {
        sim_descriptor_pool_empty(SIM_DEVICE(device), SIM_HANDLE(descriptorPool));
    }
    sim_other_destroy(device, SIM_FN_vkDestroyDescriptorPool, SIM_HANDLE(descriptorPool),
                      SIM_KIND_DESCRIPTOR_POOL, pAllocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_reset_descriptor_pool(VkDevice device,
                                                                VkDescriptorPool descriptorPool,
                                                                VkDescriptorPoolResetFlags flags)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)flags;
    sim_enter(d->gpu, d, SIM_FN_vkResetDescriptorPool);
    sim_descriptor_pool_empty(d, SIM_HANDLE(descriptorPool));
    return VK_SUCCESS;
}

static void sim_free_sets(struct sim_device* d, uint32_t count, const VkDescriptorSet* sets)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_lock_gpu(d->gpu);
        struct sim_object* object = sim_object_retire(
            d, SIM_FN_vkFreeDescriptorSets, SIM_HANDLE(sets[i]), SIM_KIND_DESCRIPTOR_SET, NULL);
        sim_unlock_gpu(d->gpu);
        sim_object_release(object);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL
sim_allocate_descriptor_sets(VkDevice device, const VkDescriptorSetAllocateInfo* pAllocateInfo,
                             VkDescriptorSet* pDescriptorSets)
{
    struct sim_device* d = SIM_DEVICE(device);
    for (uint32_t i = 0; i < pAllocateInfo->descriptorSetCount; i++) {
        pDescriptorSets[i] = VK_NULL_HANDLE;
    }
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkAllocateDescriptorSets);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < pAllocateInfo->descriptorSetCount; i++) {
        struct sim_descriptor_set* set =
            sim_object_create(d, SIM_KIND_DESCRIPTOR_SET, sizeof(struct sim_descriptor_set), NULL);
        if (set == NULL) {
            sim_free_sets(d, i, pDescriptorSets);
            for (uint32_t k = 0; k < i; k++) {
                pDescriptorSets[k] = VK_NULL_HANDLE;
            }
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        set->pool = SIM_HANDLE(pAllocateInfo->descriptorPool);
        pDescriptorSets[i] = (VkDescriptorSet)set->object.handle;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_free_descriptor_sets(VkDevice device,
                                                               VkDescriptorPool descriptorPool,
                                                               uint32_t descriptorSetCount,
                                                               const VkDescriptorSet* pSets)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)descriptorPool;
    sim_enter(d->gpu, d, SIM_FN_vkFreeDescriptorSets);
    sim_free_sets(d, descriptorSetCount, pSets);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL sim_update_descriptor_sets(VkDevice device, uint32_t writeCount,
                                                             const VkWriteDescriptorSet* pWrites,
                                                             uint32_t copyCount,
                                                             const VkCopyDescriptorSet* pCopies)
{
    struct sim_device* d = SIM_DEVICE(device);
    (void)writeCount;
    (void)pWrites;
    (void)copyCount;
    (void)pCopies;
    sim_enter(d->gpu, d, SIM_FN_vkUpdateDescriptorSets);
}

const struct sim_entry sim_other_entries[] = {
    SIM_ENTRY(vkCreateBufferView, sim_create_buffer_view),
    SIM_ENTRY(vkDestroyBufferView, sim_destroy_buffer_view),
    SIM_ENTRY(vkCreateImageView, sim_create_image_view),
    SIM_ENTRY(vkDestroyImageView, sim_destroy_image_view),
    SIM_ENTRY(vkCreateShaderModule, sim_create_shader_module),
    SIM_ENTRY(vkDestroyShaderModule, sim_destroy_shader_module),
    SIM_ENTRY(vkCreatePipelineLayout, sim_create_pipeline_layout),
    SIM_ENTRY(vkDestroyPipelineLayout, sim_destroy_pipeline_layout),
    SIM_ENTRY(vkCreateDescriptorSetLayout, sim_create_descriptor_set_layout),
    SIM_ENTRY(vkDestroyDescriptorSetLayout, sim_destroy_descriptor_set_layout),
    SIM_ENTRY(vkCreateComputePipelines, sim_create_compute_pipelines),
    SIM_ENTRY(vkDestroyPipeline, sim_destroy_pipeline),
    SIM_ENTRY(vkCreateDescriptorPool, sim_create_descriptor_pool),
    SIM_ENTRY(vkDestroyDescriptorPool, sim_destroy_descriptor_pool),
    SIM_ENTRY(vkResetDescriptorPool, sim_reset_descriptor_pool),
    SIM_ENTRY(vkAllocateDescriptorSets, sim_allocate_descriptor_sets),
    SIM_ENTRY(vkFreeDescriptorSets, sim_free_descriptor_sets),
    SIM_ENTRY(vkUpdateDescriptorSets, sim_update_descriptor_sets),
    {SIM_FN_COUNT, NULL},
};
