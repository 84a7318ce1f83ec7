/*
 * The layer VK_LAYER_MAAR_capture: how the loader and other layers get its functions.
 *
 * The layer sees calls that concern device memory, records them (layer/layer_capture.h), and passes
 * them on unchanged. It wraps no handle. Of every function that it does not intercept, callers get
 * the very pointer of the next layer; of one that it does intercept, they get none if the next
 * layer has none.
 */
#include <string.h>

#include <vulkan/vk_layer.h>

#include "layer/layer_state.h"
#include "layer/layer_uses.h"

static const struct layer_hook* const all_hooks[] = {
    maar_layer_instance_hooks,  maar_layer_device_hooks, maar_layer_memory_hooks,
    maar_layer_object_hooks,    maar_layer_bind_hooks,   maar_layer_sparse_hooks,
    maar_layer_swapchain_hooks, maar_layer_other_hooks,  maar_layer_submit_hooks,
    maar_layer_sync_hooks,      maar_layer_name_hooks,
};

static PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name);
static PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name);

/* Functions that exist without an instance, and those that lead to others. */
static const struct layer_hook entry_hooks[] = {
    LAYER_HOOK(GetInstanceProcAddr, get_instance_function),
    LAYER_HOOK(GetDeviceProcAddr, get_device_function),
    {NULL, NULL},
};

static PFN_vkVoidFunction find_in(const struct layer_hook* hook, const char* name)
{
    for (; hook->name != NULL; ++hook) {
        if (strcmp(hook->name, name) == 0) {
            return hook->function;
        }
    }
    return NULL;
}

/* Finds the layer's own function among hooks[first], and so on. */
static PFN_vkVoidFunction find_hook(const char* name, size_t first)
{
    PFN_vkVoidFunction found = find_in(entry_hooks, name);
    for (size_t i = first; i < sizeof all_hooks / sizeof all_hooks[0] && found == NULL; ++i) {
        found = find_in(all_hooks[i], name);
    }
    return found;
}

/* Whether a function that the layer intercepts can pass its call on. The next layer may give out
 * functions that it did not have while the device was created; those are not intercepted. */
static bool can_pass_on(const struct layer_device* state, const char* name)
{
#define LAYER_CHECK(function)                                                                      \
    if (strcmp(name, "vk" #function) == 0) {                                                       \
        return state->next.function != NULL;                                                       \
    }
#define LAYER_CHECK_NEWER(function, type) LAYER_CHECK(function)
    if (strcmp(name, "vkSetDebugUtilsObjectNameEXT") == 0) {
        return true; /* looks for the next function itself */
    }
    LAYER_DEVICE_FUNCTIONS(LAYER_CHECK)
    LAYER_NEWER_FUNCTIONS(LAYER_CHECK_NEWER)
#undef LAYER_CHECK
#undef LAYER_CHECK_NEWER
    return true;
}

static PFN_vkVoidFunction VKAPI_CALL get_device_function(VkDevice device, const char* name)
{
    const struct layer_device* const state = maar_layer_device_of(device);
    const PFN_vkVoidFunction next = state != NULL ? state->next_get(device, name) : NULL;
    PFN_vkVoidFunction own = next != NULL ? find_hook(name, 1) : NULL;
    if (own != NULL) {
        return can_pass_on(state, name) ? own : next;
    }
    if (next != NULL) {
        own = maar_layer_find_use_hook(state, name);
    }
    return own != NULL ? own : next;
}

static PFN_vkVoidFunction VKAPI_CALL get_instance_function(VkInstance instance, const char* name)
{
    const struct layer_instance* const state =
        instance != NULL ? maar_layer_instance_of(instance) : NULL;
    if (state == NULL) {
        /* The loader asks for vkCreateInstance before there is an instance. */
        const PFN_vkVoidFunction entry = find_in(entry_hooks, name);
        return entry != NULL ? entry : find_in(maar_layer_instance_hooks, name);
    }
    const PFN_vkVoidFunction next = state->next_get(instance, name);
    if (strcmp(name, "vkCreateInstance") == 0) {
        return find_hook(name, 0);
    }
    PFN_vkVoidFunction own = next != NULL ? find_hook(name, 0) : NULL;
    if (next != NULL && own == NULL && maar_layer_wants_uses()) {
        own = maar_layer_find_use_hook(NULL, name);
    }
    return own != NULL ? own : next;
}

/* The one symbol that the layer exports. */
VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* offer)
{
    enum { INTERFACE_VERSION = 2 };
    if (offer == NULL || offer->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        offer->loaderLayerInterfaceVersion < INTERFACE_VERSION) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    offer->loaderLayerInterfaceVersion = INTERFACE_VERSION;
    offer->pfnGetInstanceProcAddr = get_instance_function;
    offer->pfnGetDeviceProcAddr = get_device_function;
    offer->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
