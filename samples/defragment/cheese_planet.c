/*
 * Creates planets; see cheese_planet.h.
 */
#include "cheese_planet.h"

#include "cheese_look.h"

#include <string.h>

bool cheese_sets_create(struct cheese_sets* sets, VkDevice device, uint32_t count)
{
    *sets = (struct cheese_sets){.device = device};
    const VkDescriptorSetLayoutBinding bindings[2] = {
        {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL},
        {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, NULL}};
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 2,
        .pBindings = bindings};
    const VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, count},
                                           {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .flags =
                                                 VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                                             .maxSets = count,
                                             .poolSizeCount = 2,
                                             .pPoolSizes = sizes};
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .magFilter = VK_FILTER_LINEAR,
                                         .minFilter = VK_FILTER_LINEAR,
                                         .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                         .addressModeU = VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                         .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                         .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                         .maxLod = VK_LOD_CLAMP_NONE};
    return sample_succeeded(vkCreateDescriptorSetLayout(device, &layout, NULL, &sets->layout),
                            "vkCreateDescriptorSetLayout") &&
           sample_succeeded(vkCreateDescriptorPool(device, &pool, NULL, &sets->pool),
                            "vkCreateDescriptorPool") &&
           sample_succeeded(vkCreateSampler(device, &sampler, NULL, &sets->sampler),
                            "vkCreateSampler");
}

void cheese_sets_destroy(struct cheese_sets* sets)
{
    if (sets->device != VK_NULL_HANDLE) {
        vkDestroySampler(sets->device, sets->sampler, NULL);
        vkDestroyDescriptorPool(sets->device, sets->pool, NULL);
        vkDestroyDescriptorSetLayout(sets->device, sets->layout, NULL);
    }
    memset(sets, 0, sizeof(*sets));
}

VkImageCreateInfo cheese_image_info(uint32_t size)
{
    /* Both TRANSFER usages: it is filled by a copy, and copied when it moves. */
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = VK_IMAGE_TYPE_2D,
                               .format = VK_FORMAT_R8G8B8A8_UNORM,
                               .extent = {size, size, 1},
                               .mipLevels = cheese_look_levels(size),
                               .arrayLayers = 1,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .tiling = VK_IMAGE_TILING_OPTIMAL,
                               .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                        VK_IMAGE_USAGE_TRANSFER_DST_BIT};
}

VkBufferCreateInfo cheese_buffer_info(uint32_t grid)
{
    /* Maar copies buffers that move, and needs no usage for that. */
    return (VkBufferCreateInfo){.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                .size = sizeof(float) * grid * grid,
                                .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT};
}

bool cheese_planet_create(struct cheese_planet* planet, const struct sample_device* device,
                          MaarPool pool, uint32_t number)
{
    /* Many are small, a few are large. */
    static const uint32_t sizes[10] = {64, 128, 64, 64, 128, 256, 64, 128, 64, 128};
    static const uint32_t grids[3] = {64, 32, 128};
    const uint32_t mixed = number * 2654435761u >> 16;
    *planet = (struct cheese_planet){
        .number = number, .size = sizes[mixed % 10], .grid = grids[mixed / 10 % 3]};
    planet->image_info = cheese_image_info(planet->size);
    planet->buffer_info = cheese_buffer_info(planet->grid);
    /* The user data leads from a move to the planet. */
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO, .pool = pool, .pUserData = planet};
    return sample_succeeded(maarCreateImage(device->allocator, &planet->image_info, &how,
                                            &planet->objects.image, &planet->image_memory),
                            "maarCreateImage") &&
           sample_succeeded(maarCreateBuffer(device->allocator, &planet->buffer_info, &how,
                                             &planet->objects.buffer, &planet->buffer_memory),
                            "maarCreateBuffer");
}

void cheese_planet_destroy(struct cheese_planet* planet, const struct sample_device* device,
                           const struct cheese_sets* sets)
{
    struct cheese_objects* const objects = &planet->objects;
    if (objects->set != VK_NULL_HANDLE) {
        vkFreeDescriptorSets(device->device, sets->pool, 1, &objects->set);
    }
    vkDestroyImageView(device->device, objects->view, NULL);
    maarDestroyImage(device->allocator, objects->image, planet->image_memory);
    maarDestroyBuffer(device->allocator, objects->buffer, planet->buffer_memory);
    memset(planet, 0, sizeof(*planet));
}

bool cheese_planet_is_kept(const struct cheese_planet* planet)
{
    return planet->image_memory != VK_NULL_HANDLE;
}

bool cheese_objects_describe(struct cheese_objects* objects, const VkImageCreateInfo* image_info,
                             const struct cheese_sets* sets)
{
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = objects->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = image_info->format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, image_info->mipLevels, 0, 1}};
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = sets->pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &sets->layout};
    if (!sample_succeeded(vkCreateImageView(sets->device, &view, NULL, &objects->view),
                          "vkCreateImageView") ||
        !sample_succeeded(vkAllocateDescriptorSets(sets->device, &set, &objects->set),
                          "vkAllocateDescriptorSets")) {
        return false;
    }
    const VkDescriptorImageInfo image = {sets->sampler, objects->view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkDescriptorBufferInfo buffer = {objects->buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet writes[2] = {
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = objects->set,
         .dstBinding = 0,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .pImageInfo = &image},
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = objects->set,
         .dstBinding = 1,
         .descriptorCount = 1,
         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .pBufferInfo = &buffer}};
    vkUpdateDescriptorSets(sets->device, 2, writes, 0, NULL);
    return true;
}
