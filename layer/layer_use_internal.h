/*
 * What the files of the uses share. layer/layer_uses.h says what they do.
 *
 * Command buffers are externally synchronized, so their lists have no lock; a descriptor set's
 * contents are guarded by the lock of its part of the table, and so is everything in tables.
 */
#ifndef MAAR_LAYER_USE_INTERNAL_H
#define MAAR_LAYER_USE_INTERNAL_H

#include "layer/layer_use_functions.h"
#include "layer/layer_use_list.h"
#include "layer/layer_use_table.h"
#include "layer/layer_uses.h"
#include "maar/capture_file.h"

enum {
    USE_READ = MAAR_CAPTURE_USE_READ_BIT,
    USE_WRITE = MAAR_CAPTURE_USE_WRITE_BIT,
    USE_BOTH = USE_READ | USE_WRITE
};

struct layer_use_buffer {
    struct layer_use_link link;
    uint64_t size;
    uint64_t serial; /* no other object of the device has it */
};

struct layer_use_image {
    struct layer_use_link link;
    uint64_t serial;
    VkFormat format;
    VkExtent3D extent;
    uint32_t mip_levels, array_layers;
    VkImageAspectFlags aspects;
    bool is_volume;
};

struct layer_use_view { /* of an image */
    struct layer_use_link link;
    struct layer_use_image image;
    VkImageSubresourceRange range; /* counts are resolved */
};

struct layer_use_buffer_view {
    struct layer_use_link link;
    VkBuffer buffer;
};

struct layer_use_commands {
    struct layer_use_link link; /* the key is the command buffer */
    uint64_t pool;
    struct layer_use_list list;
};

struct layer_uses {
    struct layer_use_functions next;
    struct layer_use_table buffers;
    struct layer_use_table images;
    struct layer_use_table views;
    struct layer_use_table buffer_views;
    struct layer_use_table framebuffers;
    struct layer_use_table passes;
    struct layer_use_table layouts; /* of descriptor sets */
    struct layer_use_table sets;
    struct layer_use_table templates;
    struct layer_use_table commands;
    maar_atomic64 serial_count;
};

/* What a command needs: the functions of the next layer, and the list. */
struct layer_use_call {
    struct layer_uses* uses;
    const struct layer_use_functions* next;
    struct layer_use_list* list; /* or NULL: the layer does not know the command buffer */
};

struct layer_use_call maar_layer_use_call(VkCommandBuffer commands);

/* Note uses. Handles may be VK_NULL_HANDLE. */
void maar_layer_use_buffer(const struct layer_use_call* call, VkBuffer buffer, uint8_t flags);
/* Writes `size` bytes from an offset on; VK_WHOLE_SIZE is up to the end. */
void maar_layer_use_overwrite(const struct layer_use_call* call, VkBuffer buffer,
                              VkDeviceSize offset, VkDeviceSize size);
/* The subresources lose their contents if `discards` is true. */
void maar_layer_use_image(const struct layer_use_call* call, const struct layer_use_image* image,
                          const VkImageSubresourceRange* range, uint8_t flags, bool discards);
struct layer_use maar_layer_use_of_image(const struct layer_use_image* image,
                                         const VkImageSubresourceRange* range, uint8_t flags,
                                         bool discards);

/* All parts of an image, as a mask; 1 if it has too many. */
uint64_t maar_layer_use_parts(const struct layer_use_image* image);
bool maar_layer_use_find_image(const struct layer_use_call* call, VkImage image,
                               struct layer_use_image* found);
/* Whether a box covers a whole mip level of an image that is no volume. */
bool maar_layer_use_covers(const struct layer_use_image* image, uint32_t level, VkOffset3D offset,
                           VkExtent3D extent);
uint64_t maar_layer_use_next_serial(struct layer_uses* uses);

/* One descriptor: what a shader may use by it. */
struct layer_use_slot {
    struct layer_use use; /* object 0: nothing */
    uint64_t serial;      /* of the buffer or image */
};

/* Where a descriptor's facts are; one of the three, by its type. */
struct layer_use_source {
    const VkDescriptorImageInfo* image;
    const VkDescriptorBufferInfo* buffer;
    const VkBufferView* texels;
};

/* Reads a descriptor. Without a buffer or image, the slot is empty. */
void maar_layer_use_read_slot(struct layer_uses* uses, VkDescriptorType type,
                              const struct layer_use_source* source, struct layer_use_slot* slot);

/* Writes a descriptor of a set: the n-th from an element of a binding on. */
void maar_layer_use_write_set(struct layer_uses* uses, uint64_t set, uint32_t binding,
                              uint64_t element, const struct layer_use_slot* slot);

/* Adds the uses of a descriptor set's contents to a list. */
void maar_layer_use_expand_set(struct layer_uses* uses, uint64_t set, struct layer_use_list* list);

/* Frees a value that owns nothing else. */
void maar_layer_use_free_value(void* value);

extern const struct layer_hook maar_layer_use_buffer_hooks[];
extern const struct layer_hook maar_layer_use_copy_hooks[];
extern const struct layer_hook maar_layer_use_barrier_hooks[];
extern const struct layer_hook maar_layer_use_view_hooks[];
extern const struct layer_hook maar_layer_use_pass_hooks[];
extern const struct layer_hook maar_layer_use_set_hooks[];
extern const struct layer_hook maar_layer_use_template_hooks[];
extern const struct layer_hook maar_layer_use_life_hooks[];

#endif
