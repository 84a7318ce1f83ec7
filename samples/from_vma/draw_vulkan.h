/*
 * The Vulkan code of the two programs that does not concern memory: the device, the pipeline,
 * commands. An error here ends the program. Both programs share this code, so that draw_with_vma.c
 * and draw_with_maar.c differ only in the allocator.
 */
#ifndef MAAR_SAMPLE_DRAW_VULKAN_H
#define MAAR_SAMPLE_DRAW_VULKAN_H

#include "volk.h"

#include <stdbool.h>
#include <stdint.h>

#include "draw_scene.h"

#define DRAW_API_VERSION VK_API_VERSION_1_3
#define DRAW_COLOUR_FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define DRAW_DEPTH_FORMAT VK_FORMAT_D32_SFLOAT
enum { DRAW_SLOTS = 2, DRAW_WIDTH = 640, DRAW_HEIGHT = 400, DRAW_FRAMES = 8 };

struct draw_options {
    bool stage; /* copy instances through a staging buffer, independent of the memory of their
                   buffer */
    const char* picture; /* file, or NULL */
    const char* dump;    /* file, or NULL */
};

struct draw_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkPhysicalDeviceVulkan13Features features; /* the enabled features */
    uint32_t extension_count;
    const char* extensions[1]; /* VK_EXT_memory_budget, if it is offered */
    VkCommandPool pool;
    VkCommandBuffer commands[DRAW_SLOTS];
    VkFence fences[DRAW_SLOTS];
};

struct draw_pipeline {
    VkSampler sampler;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorPool pool;
    VkDescriptorSet sets[DRAW_SLOTS];
};

/* The location of one solid in the buffer of all solids. */
struct draw_place {
    uint32_t first_index, index_count;
    int32_t first_vertex;
};

struct draw_frame {
    uint32_t slot;
    VkImage colour, depth;
    VkImageView colour_view, depth_view;
    VkBuffer solids;
    struct draw_place places[DRAW_SOLIDS];
    VkBuffer instances;
    VkBuffer staged_instances; /* the source of a copy to `instances`; or VK_NULL_HANDLE */
    VkBuffer picture;          /* the destination of a copy of the frame; or VK_NULL_HANDLE */
};

/* Ends the program unless the result is VK_SUCCESS. */
void draw_require(VkResult result, const char* what);

/* Parses the arguments. Returns false if the program must end with *exit_code. */
bool draw_parse_options(int argc, char** argv, struct draw_options* options, int* exit_code);

void draw_open_device(struct draw_device* device);
void draw_close_device(struct draw_device* device);

void draw_create_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline);
void draw_destroy_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline);
void draw_use_resources(const struct draw_device* device, const struct draw_pipeline* pipeline,
                        uint32_t slot, VkBuffer uniforms, VkImageView texture);

/* Fill in the create infos of buffers and images. */
VkBufferCreateInfo draw_buffer_info(VkDeviceSize size, VkBufferUsageFlags usage);
VkImageCreateInfo draw_image_info(uint32_t width, uint32_t height, VkFormat format,
                                  VkImageUsageFlags usage);
VkImageView draw_create_view(const struct draw_device* device, VkImage image, VkFormat format);

/* Waits until the device is done with a slot's command buffer, and begins it again. */
VkCommandBuffer draw_begin(const struct draw_device* device, uint32_t slot);
void draw_submit(const struct draw_device* device, uint32_t slot);
/* Waits until the last submission of a slot has been executed. */
void draw_wait(const struct draw_device* device, uint32_t slot);

void draw_record_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, VkDeviceSize offset,
                      VkDeviceSize size);
/* Records a copy to an image and its changes of layout, after which shaders can sample the
 * image. */
void draw_record_texture(VkCommandBuffer commands, VkBuffer from, VkImage texture);
void draw_record_frame(VkCommandBuffer commands, const struct draw_pipeline* pipeline,
                       const struct draw_frame* frame);

/* Prints the picture's checksum, and writes the picture's file if the options name one. */
void draw_finish_picture(const struct draw_options* options, const uint8_t* pixels);

#endif
