/*
 * Command buffers: their lists begin anew when they are recorded anew.
 */
#include <string.h>

#include "core/host_memory.h"
#include "layer/layer_use_internal.h"

static struct layer_uses* uses_of(const void* handle)
{
    return maar_layer_device_of(handle)->uses;
}

static void add_commands(struct layer_uses* uses, VkCommandBuffer handle, VkCommandPool pool)
{
    struct layer_use_commands* const commands = maar_host_calloc(NULL, 1, sizeof *commands);
    if (commands != NULL) {
        commands->pool = MAAR_TO_BITS(pool);
        maar_layer_use_table_add(&uses->commands, (uint64_t)(uintptr_t)handle, &commands->link);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice device,
                                                        const VkCommandBufferAllocateInfo* info,
                                                        VkCommandBuffer* commands)
{
    struct layer_uses* const uses = uses_of(device);
    const VkResult result = uses->next.AllocateCommandBuffers(device, info, commands);
    for (uint32_t i = 0; i < info->commandBufferCount && result == VK_SUCCESS; ++i) {
        add_commands(uses, commands[i], info->commandPool);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL free_commands(VkDevice device, VkCommandPool pool, uint32_t count,
                                                const VkCommandBuffer* commands)
{
    struct layer_uses* const uses = uses_of(device);
    for (uint32_t i = 0; i < count; ++i) {
        if (commands[i] != NULL) {
            maar_layer_use_table_remove(&uses->commands, (uint64_t)(uintptr_t)commands[i]);
        }
    }
    uses->next.FreeCommandBuffers(device, pool, count, commands);
}

static void clear_list(VkCommandBuffer commands)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    if (call.list != NULL) {
        maar_layer_use_list_clear(call.list);
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_commands(VkCommandBuffer commands,
                                                     const VkCommandBufferBeginInfo* info)
{
    clear_list(commands);
    return uses_of(commands)->next.BeginCommandBuffer(commands, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_commands(VkCommandBuffer commands,
                                                     VkCommandBufferResetFlags flags)
{
    clear_list(commands);
    return uses_of(commands)->next.ResetCommandBuffer(commands, flags);
}

static bool clears_if_of_pool(void* value, const void* context)
{
    struct layer_use_commands* const commands = value;
    if (commands->pool == *(const uint64_t*)context) {
        maar_layer_use_list_clear(&commands->list);
    }
    return false;
}

static bool is_of_pool(void* value, const void* context)
{
    return ((const struct layer_use_commands*)value)->pool == *(const uint64_t*)context;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_pool(VkDevice device, VkCommandPool pool,
                                                 VkCommandPoolResetFlags flags)
{
    struct layer_uses* const uses = uses_of(device);
    const uint64_t key = MAAR_TO_BITS(pool);
    maar_layer_use_table_filter(&uses->commands, clears_if_of_pool, &key);
    return uses->next.ResetCommandPool(device, pool, flags);
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice device, VkCommandPool pool,
                                               const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = uses_of(device);
    const uint64_t key = MAAR_TO_BITS(pool);
    if (key != 0) {
        maar_layer_use_table_filter(&uses->commands, is_of_pool, &key);
    }
    uses->next.DestroyCommandPool(device, pool, callbacks);
}

static VKAPI_ATTR void VKAPI_CALL execute_commands(VkCommandBuffer commands, uint32_t count,
                                                   const VkCommandBuffer* secondaries)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    for (uint32_t i = 0; i < count && call.list != NULL; ++i) {
        const struct layer_use_call secondary = maar_layer_use_call(secondaries[i]);
        if (secondary.list != NULL && secondary.list != call.list) {
            maar_layer_use_list_append(call.list, secondary.list);
        }
    }
    call.next->CmdExecuteCommands(commands, count, secondaries);
}

const struct layer_hook maar_layer_use_life_hooks[] = {
    LAYER_HOOK(AllocateCommandBuffers, allocate_commands),
    LAYER_HOOK(FreeCommandBuffers, free_commands),
    LAYER_HOOK(BeginCommandBuffer, begin_commands),
    LAYER_HOOK(ResetCommandBuffer, reset_commands),
    LAYER_HOOK(ResetCommandPool, reset_pool),
    LAYER_HOOK(DestroyCommandPool, destroy_pool),
    LAYER_HOOK(CmdExecuteCommands, execute_commands),
    {NULL, NULL},
};
