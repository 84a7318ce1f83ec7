/*
 * A file in memory for the searches of schedules: other threads may run before each transfer.
 */
#ifndef MAAR_TESTS_SCHEDULED_FILE_H
#define MAAR_TESTS_SCHEDULED_FILE_H

#include <string.h>

#include "maar/stores.h"
#include "tests/schedule/schedule.h"

static inline VkResult VKAPI_PTR read_bytes(void* data, VkDeviceSize offset, size_t size,
                                            void* bytes)
{
    schedule_point("read");
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static inline VkResult VKAPI_PTR write_bytes(void* data, VkDeviceSize offset, size_t size,
                                             void* bytes)
{
    schedule_point("write");
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

#define SCHEDULED_FILE(file_data, file_size)                                                       \
    {                                                                                              \
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE, .pUserData = (file_data), .size = (file_size),    \
        .pfnRead = read_bytes, .pfnWrite = write_bytes                                             \
    }

#endif
