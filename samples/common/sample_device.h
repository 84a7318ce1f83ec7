/*
 * The device of a sample, and Maar's allocator for it. All calls use volk's global functions, so
 * that one device is open at a time.
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
    void* features; /* head of the device's feature chain: the structures of
                       sample_device_options::require, then those of `advice` */
    VkDevice device;
    /* The main queue, and a second queue if the options request it. On a device with only one
     * queue, both are that queue. */
    uint32_t queue_count;
    uint32_t queue_families[SAMPLE_MAX_QUEUES];
    VkQueue queues[SAMPLE_MAX_QUEUES];
    /* The queues of Maar for binds and copies: the queue for binds, which may be the main queue,
     * and the main queue. Empty unless the options request it. */
    MaarQueue binding;
    MaarQueue maar_queues[2];
    uint32_t maar_queue_count;
    MaarAllocator allocator;
    struct support_messages messages; /* of the layer, and errors that Maar reported */
    char* diverted;                   /* receives Maar's errors instead; or NULL */
    size_t diverted_size;
};

struct sample_device_options {
    const char* device;   /* auto, vulkan:N, lavapipe, uuid:HEX, a part of a name, or
                             simulated:PROFILE */
    bool validate;        /* enable the validation layer with synchronization checks */
    bool quiet_advice;    /* ignore the layer's messages about performance */
    bool paging;          /* give Maar a queue for binds, the main queue if it can bind */
    bool lend_main_queue; /* give Maar the main queue as its first; not with paging */
    bool second_queue; /* open one of a family without graphics, or else another of the main family
                        */
    bool lend_second_queue; /* give Maar this queue as its first; with second_queue, not with
                               paging or lend_main_queue */
    /* Returns the name of a capability that this sample needs and the device does not have, or
     * NULL. May set more of device->advice->features.features, and may put structures before
     * device->features that live until the device is open. The pointer is NULL if Vulkan 1.1 and
     * the recommended features are enough. */
    const char* (*require)(struct sample_device* device, void* user_data);
    void* user_data;
};

/* Opens a device. Returns SAMPLE_EXIT_OK, or prints an error and returns another code. The caller
 * closes the device in every case. */
int sample_device_open(struct sample_device* device, const struct sample_device_options* options);

/* Destroys only the allocator. Its semaphores must outlive it. */
void sample_device_close_allocator(struct sample_device* device);

void sample_device_close(struct sample_device* device);

/* Diverts Maar's errors: `text` receives the last error, and errors no longer count as messages.
 * This serves attempts that may fail. With `text` NULL errors count as messages again. */
void sample_device_divert(struct sample_device* device, char* text, size_t size);

/* Fills in the sharing mode of a resource that every queue reads: the two fields of a create info
 * after sharingMode. */
VkSharingMode sample_device_sharing(const struct sample_device* device, uint32_t* family_count,
                                    const uint32_t** families);

/* What sample_device_options::require may return for a program that needs Vulkan 1.3 with timelines
 * and synchronization2. */
const char* sample_require_timelines(const struct sample_device* device);
/* The same for a program that renders without render passes, too. `rendering` lives until the
 * device is open; `found` receives the features of the device. */
const char* sample_require_rendering(struct sample_device* device,
                                     VkPhysicalDeviceDynamicRenderingFeatures* rendering,
                                     VkPhysicalDeviceFeatures* found);

/* Prints an error and returns false unless `result` is VK_SUCCESS. */
bool sample_succeeded(VkResult result, const char* what);

#endif
