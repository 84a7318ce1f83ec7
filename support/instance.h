/*
 * The Vulkan instance of a program. It comes from the loader, with or without the validation layer,
 * or from the simulated driver. Messages of the layer and violations of the simulated driver are
 * counted, and the first of them printed.
 *
 * All calls use volk's global functions, so that one instance exists at a time. Messages may arrive
 * on any thread.
 */
#ifndef MAAR_SUPPORT_INSTANCE_H
#define MAAR_SUPPORT_INSTANCE_H

#include "volk.h"

#include "maar/simulated.h"

#include <stdatomic.h>
#include <stdbool.h>

#define SUPPORT_VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"

/* The most messages that one run prints. Further messages are only counted. */
#define SUPPORT_MOST_PRINTED 20u

/* The messages of one kind. A printed message begins with "program: kind: ". */
struct support_messages {
    const char* program;
    const char* kind;
    atomic_uint count;
};

/* Counts a message. Prints it on standard error unless `quiet` is set or too many were printed. */
void support_messages_add(struct support_messages* messages, const char* text, bool quiet);

/* The callback for MaarSimulatedInstanceCreateInfo: each violation is a message. The user data are
 * the messages. */
void VKAPI_CALL support_receive_violation(void* messages, MaarSimulatedViolation violation,
                                          const char* text);

struct support_instance_info {
    const char* application;
    uint32_t api_version;
    const MaarSimulatedInstanceCreateInfo* simulated; /* NULL: the loader's drivers */
    bool validate;     /* enable the validation layer with its checks of synchronization; not for
                          simulated drivers */
    bool quiet_advice; /* ignore the layer's messages about performance */
    struct support_messages* messages; /* of the layer; may be NULL without the layer */
};

struct support_instance {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
};

/*
 * Opens an instance and loads volk's functions. Returns VK_ERROR_INITIALIZATION_FAILED without a
 * loader, VK_ERROR_LAYER_NOT_PRESENT without the validation layer, and VK_ERROR_INCOMPATIBLE_DRIVER
 * without a driver. The caller closes the instance in every case.
 */
VkResult support_instance_open(struct support_instance* instance,
                               const struct support_instance_info* info);

/* Closes the instance. Devices must have been destroyed. No message arrives after this call. */
void support_instance_close(struct support_instance* instance);

/* Returns the rank of a device for the automatic choice: discrete before integrated before virtual
 * before CPU before others. The rank is negative below Vulkan 1.1. */
int support_device_rank(VkPhysicalDevice physical);

/* Writes which of some devices were found and cannot be used, since Maar needs a newer version of
 * Vulkan, or an empty text. Returns whether there are any. */
bool support_describe_too_old(const VkPhysicalDevice* devices, uint32_t count, char* text,
                              size_t size);

#endif
