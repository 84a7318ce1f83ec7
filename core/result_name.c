/*
 * The names of results, for messages, tools and programs: one table for all of them.
 */
#include <stddef.h>

#include "maar/base.h"

#define NAMED_RESULT(name)                                                                         \
    {                                                                                              \
        name, #name                                                                                \
    }

const char* VKAPI_CALL maarGetResultName(VkResult result)
{
    static const struct {
        VkResult result;
        const char* name;
    } names[] = {
        NAMED_RESULT(VK_SUCCESS),
        NAMED_RESULT(VK_NOT_READY),
        NAMED_RESULT(VK_TIMEOUT),
        NAMED_RESULT(VK_EVENT_SET),
        NAMED_RESULT(VK_EVENT_RESET),
        NAMED_RESULT(VK_INCOMPLETE),
        NAMED_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY),
        NAMED_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY),
        NAMED_RESULT(VK_ERROR_INITIALIZATION_FAILED),
        NAMED_RESULT(VK_ERROR_DEVICE_LOST),
        NAMED_RESULT(VK_ERROR_MEMORY_MAP_FAILED),
        NAMED_RESULT(VK_ERROR_LAYER_NOT_PRESENT),
        NAMED_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT),
        NAMED_RESULT(VK_ERROR_FEATURE_NOT_PRESENT),
        NAMED_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER),
        NAMED_RESULT(VK_ERROR_TOO_MANY_OBJECTS),
        NAMED_RESULT(VK_ERROR_FORMAT_NOT_SUPPORTED),
        NAMED_RESULT(VK_ERROR_FRAGMENTED_POOL),
        NAMED_RESULT(VK_ERROR_UNKNOWN),
        NAMED_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY),
        NAMED_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE),
        NAMED_RESULT(VK_ERROR_FRAGMENTATION),
        NAMED_RESULT(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
        NAMED_RESULT(VK_ERROR_SURFACE_LOST_KHR),
        NAMED_RESULT(VK_ERROR_NATIVE_WINDOW_IN_USE_KHR),
        NAMED_RESULT(VK_SUBOPTIMAL_KHR),
        NAMED_RESULT(VK_ERROR_OUT_OF_DATE_KHR),
        NAMED_RESULT(VK_ERROR_INCOMPATIBLE_DISPLAY_KHR),
        NAMED_RESULT(VK_ERROR_VALIDATION_FAILED_EXT),
        NAMED_RESULT(VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT),
        NAMED_RESULT(VK_ERROR_NOT_PERMITTED_EXT),
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (names[i].result == result) {
            return names[i].name;
        }
    }
    return "an unknown VkResult";
}
