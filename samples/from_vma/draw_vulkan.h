/*
 * All Vulkan of the two programs that has nothing to do with memory: the device, the pipeline,
 * commands. What goes wrong here ends the program. The same for both, so that what differs between
 * draw_with_vma.c and draw_with_maar.c is the allocator.
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
    bool stage;          /* instances go through a staging buffer, wherever their buffer lies */
    const char* picture; /* file, or NULL */
    const char* dump;    /* file, or NULL */
};

struct draw_device {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkPhysicalDeviceVulkan13Features features; /* as enabled */
    uint32_t extension_count;
    const char* extensions[1]; /* VK_EXT_memory_budget, where it is */
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

/* Where one solid lies in the buffer of all. */
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
    VkBuffer staged_instances; /* copied to instances first; or VK_NULL_HANDLE */
    VkBuffer picture;          /* the frame is copied into it; or VK_NULL_HANDLE */
};

/* Ends the program unless the result is VK_SUCCESS. */
void draw_require(VkResult result, const char* what);

/* False when the program is to end now with *exit_code. */
bool draw_parse_options(int argc, char** argv, struct draw_options* options, int* exit_code);

void draw_open_device(struct draw_device* device);
void draw_close_device(struct draw_device* device);

void draw_create_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline);
void draw_destroy_pipeline(const struct draw_device* device, struct draw_pipeline* pipeline);
void draw_use_resources(const struct draw_device* device, const struct draw_pipeline* pipeline,
                        uint32_t slot, VkBuffer uniforms, VkImageView texture);

/* What buffers and images are to be. */
VkBufferCreateInfo draw_buffer_info(VkDeviceSize size, VkBufferUsageFlags usage);
VkImageCreateInfo draw_image_info(uint32_t width, uint32_t height, VkFormat format,
                                  VkImageUsageFlags usage);
VkImageView draw_create_view(const struct draw_device* device, VkImage image, VkFormat format);

/* A command buffer that is recording, once the device has left it. */
VkCommandBuffer draw_begin(const struct draw_device* device, uint32_t slot);
void draw_submit(const struct draw_device* device, uint32_t slot);
/* Until what was last submitted in the slot has been executed. */
void draw_wait(const struct draw_device* device, uint32_t slot);

void draw_record_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, VkDeviceSize offset,
                      VkDeviceSize size);
/* With the layouts; the image is then to be sampled. */
void draw_record_texture(VkCommandBuffer commands, VkBuffer from, VkImage texture);
void draw_record_frame(VkCommandBuffer commands, const struct draw_pipeline* pipeline,
                       const struct draw_frame* frame);

/* Prints the picture's checksum and writes the file that was asked for. */
void draw_finish_picture(const struct draw_options* options, const uint8_t* pixels);

#endif
