/*
 * Names of formats, for people.
 */
#ifndef MAAR_SUPPORT_FORMAT_NAME_H
#define MAAR_SUPPORT_FORMAT_NAME_H

#include <stdint.h>

/* Returns the name of a VkFormat without VK_FORMAT_, or NULL for one that is not of Vulkan 1.0. */
const char* support_format_name(uint32_t format);

#endif
