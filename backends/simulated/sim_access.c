/*
 * Accesses that a test declares, since the driver does not see them: those of shaders, and those of
 * the host.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_hazard.h"
#include "backends/simulated/sim_record.h"
#include "backends/simulated/sim_resource.h"

void VKAPI_CALL maarSimulatedCmdAccess(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                       VkDeviceSize offset, VkDeviceSize size,
                                       VkAccessFlags accesses)
{
    const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT;
    const VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT;
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* device = self->object.device;
    sim_lock_gpu(device->gpu);
    const struct sim_resource* resource = sim_resource_peek(device, SIM_HANDLE(buffer));
    const VkDeviceSize whole =
        resource != NULL && offset < resource->size ? resource->size : offset;
    const VkDeviceSize all = size == VK_WHOLE_SIZE ? whole - offset : size;
    sim_unlock_gpu(device->gpu);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdDispatch, buffer, offset, all);
    struct sim_op_access* op =
        sim_record(commandBuffer, SIM_OP_ACCESS, SIM_FN_vkCmdDispatch, sizeof(*op));
    if (op != NULL) {
        op->buffer = SIM_HANDLE(buffer);
        op->at = offset;
        op->size = all;
        op->reads = (accesses & reads) != 0;
        op->writes = (accesses & writes) != 0;
    }
}

void VKAPI_CALL maarSimulatedHostAccess(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                        VkDeviceSize size, VkBool32 writes)
{
    struct sim_device* d = SIM_DEVICE(device);
    sim_lock_gpu(d->gpu);
    struct sim_memory* own =
        sim_object_get(d, SIM_FN_vkMapMemory, SIM_HANDLE(memory), SIM_KIND_MEMORY);
    struct sim_order* order = sim_checks_synchronization(d->gpu) ? sim_order_of(d) : NULL;
    if (own != NULL && order != NULL) {
        struct sim_hazard hazard = {
            .device = d, .known = &order->host, .function = SIM_FN_vkMapMemory};
        sim_hazard_host(&hazard, own, offset, size, writes == VK_TRUE);
        if (writes == VK_TRUE) {
            sim_submissions_check_host(d, SIM_FN_vkMapMemory, SIM_HANDLE(memory), offset, size);
        }
    }
    sim_unlock_gpu(d->gpu);
}
