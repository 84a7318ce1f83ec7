/*
 * Commands that use buffers: vertices, indices, indirect arguments, fills, updates, query results.
 */
#include "layer/layer_use_internal.h"

static void read_buffers(const struct layer_use_call* call, uint32_t count, const VkBuffer* buffers,
                         uint8_t flags)
{
    for (uint32_t i = 0; i < count && buffers != NULL; ++i) {
        maar_layer_use_buffer(call, buffers[i], flags);
    }
}

static VKAPI_ATTR void VKAPI_CALL bind_vertices(VkCommandBuffer commands, uint32_t first,
                                                uint32_t count, const VkBuffer* buffers,
                                                const VkDeviceSize* offsets)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    read_buffers(&call, count, buffers, USE_READ);
    call.next->CmdBindVertexBuffers(commands, first, count, buffers, offsets);
}

/* One function for each name, since each calls the next layer's function of its name. */
#define BIND_VERTICES2(function, name)                                                             \
    static VKAPI_ATTR void VKAPI_CALL function(                                                    \
        VkCommandBuffer commands, uint32_t first, uint32_t count, const VkBuffer* buffers,         \
        const VkDeviceSize* offsets, const VkDeviceSize* sizes, const VkDeviceSize* strides)       \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        read_buffers(&call, count, buffers, USE_READ);                                             \
        call.next->name(commands, first, count, buffers, offsets, sizes, strides);                 \
    }

BIND_VERTICES2(bind_vertices2, CmdBindVertexBuffers2)
BIND_VERTICES2(bind_vertices2_ext, CmdBindVertexBuffers2EXT)

static VKAPI_ATTR void VKAPI_CALL bind_indices(VkCommandBuffer commands, VkBuffer buffer,
                                               VkDeviceSize offset, VkIndexType type)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, buffer, USE_READ);
    call.next->CmdBindIndexBuffer(commands, buffer, offset, type);
}

#define BIND_INDICES2(function, name)                                                              \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands, VkBuffer buffer,          \
                                               VkDeviceSize offset, VkDeviceSize size,             \
                                               VkIndexType type)                                   \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        maar_layer_use_buffer(&call, buffer, USE_READ);                                            \
        call.next->name(commands, buffer, offset, size, type);                                     \
    }

BIND_INDICES2(bind_indices2, CmdBindIndexBuffer2)
BIND_INDICES2(bind_indices2_khr, CmdBindIndexBuffer2KHR)

#define DRAW_INDIRECT(function, name)                                                              \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands, VkBuffer buffer,          \
                                               VkDeviceSize offset, uint32_t count,                \
                                               uint32_t stride)                                    \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        maar_layer_use_buffer(&call, buffer, USE_READ);                                            \
        call.next->name(commands, buffer, offset, count, stride);                                  \
    }

DRAW_INDIRECT(draw_indirect, CmdDrawIndirect)
DRAW_INDIRECT(draw_indexed_indirect, CmdDrawIndexedIndirect)
DRAW_INDIRECT(draw_mesh_indirect, CmdDrawMeshTasksIndirectEXT)
DRAW_INDIRECT(draw_mesh_indirect_nv, CmdDrawMeshTasksIndirectNV)

#define DRAW_COUNT(function, name)                                                                 \
    static VKAPI_ATTR void VKAPI_CALL function(                                                    \
        VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkBuffer counts,           \
        VkDeviceSize count_offset, uint32_t most, uint32_t stride)                                 \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        maar_layer_use_buffer(&call, buffer, USE_READ);                                            \
        maar_layer_use_buffer(&call, counts, USE_READ);                                            \
        call.next->name(commands, buffer, offset, counts, count_offset, most, stride);             \
    }

DRAW_COUNT(draw_count, CmdDrawIndirectCount)
DRAW_COUNT(draw_count_khr, CmdDrawIndirectCountKHR)
DRAW_COUNT(draw_count_amd, CmdDrawIndirectCountAMD)
DRAW_COUNT(draw_indexed_count, CmdDrawIndexedIndirectCount)
DRAW_COUNT(draw_indexed_count_khr, CmdDrawIndexedIndirectCountKHR)
DRAW_COUNT(draw_indexed_count_amd, CmdDrawIndexedIndirectCountAMD)
DRAW_COUNT(draw_mesh_count, CmdDrawMeshTasksIndirectCountEXT)
DRAW_COUNT(draw_mesh_count_nv, CmdDrawMeshTasksIndirectCountNV)

static VKAPI_ATTR void VKAPI_CALL dispatch_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                                    VkDeviceSize offset)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, buffer, USE_READ);
    call.next->CmdDispatchIndirect(commands, buffer, offset);
}

static VKAPI_ATTR void VKAPI_CALL draw_byte_count(VkCommandBuffer commands, uint32_t instances,
                                                  uint32_t first, VkBuffer counter,
                                                  VkDeviceSize counter_offset, uint32_t offset,
                                                  uint32_t stride)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, counter, USE_READ);
    call.next->CmdDrawIndirectByteCountEXT(commands, instances, first, counter, counter_offset,
                                           offset, stride);
}

static VKAPI_ATTR void VKAPI_CALL begin_condition(VkCommandBuffer commands,
                                                  const VkConditionalRenderingBeginInfoEXT* info)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, info->buffer, USE_READ);
    call.next->CmdBeginConditionalRenderingEXT(commands, info);
}

static VKAPI_ATTR void VKAPI_CALL bind_feedback(VkCommandBuffer commands, uint32_t first,
                                                uint32_t count, const VkBuffer* buffers,
                                                const VkDeviceSize* offsets,
                                                const VkDeviceSize* sizes)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    read_buffers(&call, count, buffers, USE_WRITE);
    call.next->CmdBindTransformFeedbackBuffersEXT(commands, first, count, buffers, offsets, sizes);
}

#define FEEDBACK(function, name)                                                                   \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands, uint32_t first,           \
                                               uint32_t count, const VkBuffer* counters,           \
                                               const VkDeviceSize* offsets)                        \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        read_buffers(&call, count, counters, USE_BOTH);                                            \
        call.next->name(commands, first, count, counters, offsets);                                \
    }

FEEDBACK(begin_feedback, CmdBeginTransformFeedbackEXT)
FEEDBACK(end_feedback, CmdEndTransformFeedbackEXT)

static VKAPI_ATTR void VKAPI_CALL fill(VkCommandBuffer commands, VkBuffer buffer,
                                       VkDeviceSize offset, VkDeviceSize size, uint32_t data)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_overwrite(&call, buffer, offset, size);
    call.next->CmdFillBuffer(commands, buffer, offset, size, data);
}

static VKAPI_ATTR void VKAPI_CALL update(VkCommandBuffer commands, VkBuffer buffer,
                                         VkDeviceSize offset, VkDeviceSize size, const void* data)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_overwrite(&call, buffer, offset, size);
    call.next->CmdUpdateBuffer(commands, buffer, offset, size, data);
}

static VKAPI_ATTR void VKAPI_CALL copy_queries(VkCommandBuffer commands, VkQueryPool pool,
                                               uint32_t first, uint32_t count, VkBuffer buffer,
                                               VkDeviceSize offset, VkDeviceSize stride,
                                               VkQueryResultFlags flags)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, buffer, USE_WRITE);
    call.next->CmdCopyQueryPoolResults(commands, pool, first, count, buffer, offset, stride, flags);
}

static VKAPI_ATTR void VKAPI_CALL write_marker(VkCommandBuffer commands,
                                               VkPipelineStageFlagBits stage, VkBuffer buffer,
                                               VkDeviceSize offset, uint32_t marker)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, buffer, USE_WRITE);
    call.next->CmdWriteBufferMarkerAMD(commands, stage, buffer, offset, marker);
}

static VKAPI_ATTR void VKAPI_CALL write_marker2(VkCommandBuffer commands,
                                                VkPipelineStageFlags2 stage, VkBuffer buffer,
                                                VkDeviceSize offset, uint32_t marker)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    maar_layer_use_buffer(&call, buffer, USE_WRITE);
    call.next->CmdWriteBufferMarker2AMD(commands, stage, buffer, offset, marker);
}

const struct layer_hook maar_layer_use_buffer_hooks[] = {
    LAYER_HOOK(CmdBindVertexBuffers, bind_vertices),
    LAYER_HOOK(CmdBindVertexBuffers2, bind_vertices2),
    LAYER_HOOK(CmdBindVertexBuffers2EXT, bind_vertices2_ext),
    LAYER_HOOK(CmdBindIndexBuffer, bind_indices),
    LAYER_HOOK(CmdBindIndexBuffer2, bind_indices2),
    LAYER_HOOK(CmdBindIndexBuffer2KHR, bind_indices2_khr),
    LAYER_HOOK(CmdDrawIndirect, draw_indirect),
    LAYER_HOOK(CmdDrawIndexedIndirect, draw_indexed_indirect),
    LAYER_HOOK(CmdDrawMeshTasksIndirectEXT, draw_mesh_indirect),
    LAYER_HOOK(CmdDrawMeshTasksIndirectNV, draw_mesh_indirect_nv),
    LAYER_HOOK(CmdDrawIndirectCount, draw_count),
    LAYER_HOOK(CmdDrawIndirectCountKHR, draw_count_khr),
    LAYER_HOOK(CmdDrawIndirectCountAMD, draw_count_amd),
    LAYER_HOOK(CmdDrawIndexedIndirectCount, draw_indexed_count),
    LAYER_HOOK(CmdDrawIndexedIndirectCountKHR, draw_indexed_count_khr),
    LAYER_HOOK(CmdDrawIndexedIndirectCountAMD, draw_indexed_count_amd),
    LAYER_HOOK(CmdDrawMeshTasksIndirectCountEXT, draw_mesh_count),
    LAYER_HOOK(CmdDrawMeshTasksIndirectCountNV, draw_mesh_count_nv),
    LAYER_HOOK(CmdDispatchIndirect, dispatch_indirect),
    LAYER_HOOK(CmdDrawIndirectByteCountEXT, draw_byte_count),
    LAYER_HOOK(CmdBeginConditionalRenderingEXT, begin_condition),
    LAYER_HOOK(CmdBindTransformFeedbackBuffersEXT, bind_feedback),
    LAYER_HOOK(CmdBeginTransformFeedbackEXT, begin_feedback),
    LAYER_HOOK(CmdEndTransformFeedbackEXT, end_feedback),
    LAYER_HOOK(CmdFillBuffer, fill),
    LAYER_HOOK(CmdUpdateBuffer, update),
    LAYER_HOOK(CmdCopyQueryPoolResults, copy_queries),
    LAYER_HOOK(CmdWriteBufferMarkerAMD, write_marker),
    LAYER_HOOK(CmdWriteBufferMarker2AMD, write_marker2),
    {NULL, NULL},
};
