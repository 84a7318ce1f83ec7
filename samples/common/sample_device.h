/*
 * The device that a sample runs on, and Maar's allocator for it. Everything goes through volk's
 * global functions, so one is open at a time.
 */
#ifndef MAAR_SAMPLE_DEVICE_H
#define MAAR_SAMPLE_DEVICE_H

#include "volk.h"

#include "maar/maar.h"
#include "sample_text.h"
#include "support/instance.h"

#define SAMPLE_MAX_QUEUES 2u
#define SAMPLE_API_VERSION VK_API_VERSION_1_3

struct sample_device {
    bool validate, quiet_advice;   /* as in the options */
    MaarSimulatedProfile* profile; /* simulated devices only */
    struct support_instance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    MaarDeviceRecommendation* advice;
    void* features; /* head of the chain that the device is created with: advice's, and what
                       sample_device_options::require has put before it */
    VkDevice device;
    /* The main queue, and a second one if that was asked for. Where the device has but one queue,
     * both are that. */
    uint32_t queue_count;
    uint32_t queue_families[SAMPLE_MAX_QUEUES];
    VkQueue queues[SAMPLE_MAX_QUEUES];
    /* What Maar binds and copies with: the queue that binds, which may be the main one, and the
     * main one; none where that was not asked for. */
    MaarQueue binding;
    MaarQueue maar_queues[2];
    uint32_t maar_queue_count;
    MaarAllocator allocator;
    struct support_messages messages; /* of the layer, and errors that Maar told of */
    char* hushed;                     /* where errors of Maar's go instead; or NULL */
    size_t hushed_size;
};

struct sample_device_options {
    const char* device;   /* auto, vulkan:N, lavapipe, uuid:HEX, a part of a name, or
                             simulated:PROFILE */
    bool validate;        /* under the validation layer with synchronization checks */
    bool quiet_advice;    /* what the layer only has to say about performance is no message */
    bool paging;          /* Maar is given a queue that binds, the main one if that can */
    bool lend_main_queue; /* Maar is given the main queue, as the first it has; not with paging */
    bool second_queue;    /* of a family that does no graphics, or else another of the main one */
    /* Says what the device lacks for this sample, or returns NULL. May set more of
     * device->advice->features.features, and put structs that live until the device is open before
     * device->features. NULL when Vulkan 1.1 and the recommended features are enough. */
    const char* (*require)(struct sample_device* device, void* user_data);
    void* user_data;
};

/* Opens it. Returns SAMPLE_EXIT_OK, or complains and returns another code; close in any case. */
int sample_device_open(struct sample_device* device, const struct sample_device_options* options);

/* Destroys the allocator alone: semaphores that it was told of live longer than it. */
void sample_device_close_allocator(struct sample_device* device);

void sample_device_close(struct sample_device* device);

/* From now on errors that Maar tells of are no messages: the last one is kept in text. For what is
 * tried and may fail. text NULL: they are messages again. */
void sample_device_hush(struct sample_device* device, char* text, size_t size);

/* How to share what every queue reads: fills the two fields of a create info after sharingMode. */
VkSharingMode sample_device_sharing(const struct sample_device* device, uint32_t* family_count,
                                    const uint32_t** families);

/* Complains and returns false unless result is VK_SUCCESS. */
bool sample_succeeded(VkResult result, const char* what);

#endif
