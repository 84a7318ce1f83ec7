/*
 * The device that the frame is rendered on, and Maar's allocator for it. Everything goes through
 * volk's global functions, so one is open at a time.
 */
#ifndef MAAR_SAMPLE_FRAME_DEVICE_H
#define MAAR_SAMPLE_FRAME_DEVICE_H

#include "volk.h"

#include "frame_options.h"
#include "maar/maar.h"
#include "maar/simulated.h"

#define FRAME_MAX_QUEUES 2u

struct frame_device {
    bool validate;
    MaarSimulatedProfile* profile; /* simulated devices only */
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    MaarDeviceRecommendation* advice;
    VkDevice device;
    /* The main queue, and with --async one for compute passes. Where the device has but one queue,
     * both are that. */
    uint32_t queue_count;
    uint32_t queue_families[FRAME_MAX_QUEUES];
    VkQueue queues[FRAME_MAX_QUEUES];
    MaarAllocator allocator;
    uint32_t messages; /* of the layer, and errors that Maar told of */
};

/* Opens it. Returns FRAME_EXIT_OK, or complains and returns another code; close in any case. */
int frame_device_open(struct frame_device* device, const struct frame_options* options);

void frame_device_close(struct frame_device* device);

/* How to share what every queue reads: fills the two fields of a create info after sharingMode. */
VkSharingMode frame_device_sharing(const struct frame_device* device, uint32_t* family_count,
                                   const uint32_t** families);

/* Complains and returns false unless result is VK_SUCCESS. */
bool frame_succeeded(VkResult result, const char* what);

#endif
