/*
 * The Vulkan instance of a program, from the loader, with or without the validation layer, or
 * simulated; and what layer and simulated driver have to say, counted and the first of it printed.
 *
 * Everything goes through volk's global functions: one instance at a time. Messages may come on any
 * thread.
 */
#ifndef MAAR_SUPPORT_INSTANCE_H
#define MAAR_SUPPORT_INSTANCE_H

#include "volk.h"

#include "maar/simulated.h"

#include <stdatomic.h>
#include <stdbool.h>

#define SUPPORT_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

/* Messages printed of one run; the others are only counted. */
#define SUPPORT_MOST_PRINTED 20u

/* Messages of one kind; a printed one begins with "program: kind: ". */
struct support_messages {
    const char* program;
    const char* kind;
    atomic_uint count;
};

/* Counts a message, and prints it to standard error unless `quiet` or too many were. */
void support_messages_add(struct support_messages* messages, const char* text, bool quiet);

/* For MaarSimulatedInstanceCreateInfo: each violation is a message. User data: the messages. */
void VKAPI_CALL support_receive_violation(void* messages, MaarSimulatedViolation violation,
                                          const char* text);

struct support_instance_info {
    const char* application;
    uint32_t api_version;
    const MaarSimulatedInstanceCreateInfo* simulated; /* NULL: the loader's drivers */
    bool validate;     /* the validation layer with its checks of synchronization; not simulated */
    bool quiet_advice; /* what the layer only has to say about performance is no message */
    struct support_messages* messages; /* of the layer; may be NULL without it */
};

struct support_instance {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
};

/*
 * Opens it and loads volk's functions. VK_ERROR_INITIALIZATION_FAILED: no loader;
 * VK_ERROR_LAYER_NOT_PRESENT: no validation layer; VK_ERROR_INCOMPATIBLE_DRIVER: no driver. Close
 * in any case.
 */
VkResult support_instance_open(struct support_instance* instance,
                               const struct support_instance_info* info);

/* Devices first. Messages are final afterwards. */
void support_instance_close(struct support_instance* instance);

/* What to prefer where nobody chose: discrete before integrated before virtual before CPU before
 * others. Below Vulkan 1.1: negative. */
int support_device_rank(VkPhysicalDevice physical);

#endif
