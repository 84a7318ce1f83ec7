/*
 * Command buffers: sim_command.c, and what their commands use: sim_command_use.c.
 */
#ifndef MAAR_SIM_COMMAND_H
#define MAAR_SIM_COMMAND_H

#include "backends/simulated/sim_object.h"

struct sim_recording;

enum sim_command_state {
    SIM_COMMAND_INITIAL,
    SIM_COMMAND_RECORDING,
    SIM_COMMAND_EXECUTABLE,
};

struct sim_command_buffer {
    struct sim_object object;
    uint64_t pool;
    enum sim_command_state state;
    struct sim_use* uses;
    uint32_t use_count, use_capacity;
    bool records;       /* its commands will be executed: MAAR_SIMULATED_EXECUTE_BIT */
    bool record_failed; /* there was no host memory for a command */
    bool once, simultaneous, secondary; /* how it was begun, and its level */
    bool submitted;                     /* since it was recorded */
    struct sim_recording* recording;    /* NULL while empty; see sim_record.h */
};

/* Checks that a command buffer may be submitted, and takes a reference of its recording, which is
 * NULL where nothing is to be executed. Lock held. */
struct sim_recording* sim_command_submit(struct sim_device* device, enum sim_function function,
                                         VkCommandBuffer buffer);
/* Frees a command buffer that has left the table. Lock free. */
void sim_command_release(struct sim_command_buffer* buffer);

/* Stands for the bytes from an offset to the end. */
#define SIM_ALL_BYTES UINT64_MAX

/* Adds the uses of a secondary command buffer. */
void sim_command_take_uses(struct sim_command_buffer* self, const struct sim_command_buffer* from);
/* Begins every command. Lock free, as for all functions below. */
void sim_command(VkCommandBuffer commandBuffer, enum sim_function function);
/* Records the ranges of a buffer, an image, or the texels of an image that a command uses: the
 * tiles that hold them, or the whole mip tail. */
void sim_command_use_buffer(VkCommandBuffer commandBuffer, enum sim_function function,
                            VkBuffer buffer, VkDeviceSize at, VkDeviceSize size);
void sim_command_use_image(VkCommandBuffer commandBuffer, enum sim_function function,
                           VkImage image);
void sim_command_use_texels(VkCommandBuffer commandBuffer, enum sim_function function,
                            VkImage image, const VkImageSubresourceLayers* layers,
                            const VkOffset3D* offset, const VkExtent3D* extent);

#endif
