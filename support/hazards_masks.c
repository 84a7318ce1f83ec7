/*
 * Expands masks of stages and accesses.
 */
#include "support/hazards_internal.h"

#define PRE_RASTERIZATION                                                                          \
    (VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT | VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT | \
     VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |                                      \
     VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_TASK_SHADER_BIT_EXT |           \
     VK_PIPELINE_STAGE_2_MESH_SHADER_BIT_EXT)
#define VERTEX_INPUT                                                                               \
    (VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT)
#define TRANSFER                                                                                   \
    (VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_RESOLVE_BIT |                              \
     VK_PIPELINE_STAGE_2_BLIT_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT)
#define GRAPHICS                                                                                   \
    (VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT | VERTEX_INPUT | PRE_RASTERIZATION |                    \
     VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |      \
     VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |                                                 \
     VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT)
/* The masks of several stages, which no single access has. */
#define GROUPS                                                                                     \
    (VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |                 \
     VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT |                 \
     VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT | VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT |     \
     VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)

VkPipelineStageFlags2 hazard_stages(VkPipelineStageFlags2 mask, bool first)
{
    const VkPipelineStageFlags2 all =
        VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT |
        (first ? VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT);
    if ((mask & all) != 0) {
        return ~(VkPipelineStageFlags2)GROUPS;
    }
    VkPipelineStageFlags2 stages = mask & ~(VkPipelineStageFlags2)GROUPS;
    stages |= (mask & VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT) != 0 ? GRAPHICS : 0;
    stages |= (mask & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT) != 0 ? TRANSFER : 0;
    stages |= (mask & VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT) != 0 ? VERTEX_INPUT : 0;
    stages |=
        (mask & VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT) != 0 ? PRE_RASTERIZATION : 0;
    return stages;
}

#define WRITES                                                                                     \
    (VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |               \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |             \
     VK_ACCESS_2_HOST_WRITE_BIT | VK_ACCESS_2_ACCELERATION_STRUCTURE_WRITE_BIT_KHR |               \
     VK_ACCESS_2_TRANSFORM_FEEDBACK_WRITE_BIT_EXT |                                                \
     VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_WRITE_BIT_EXT |                                        \
     VK_ACCESS_2_COMMAND_PREPROCESS_WRITE_BIT_NV)
#define READS                                                                                      \
    (VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT |                          \
     VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT |                        \
     VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |                 \
     VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |                 \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT |               \
     VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR |                 \
     VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT |                                         \
     VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT | VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV | \
     VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT |                                               \
     VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR)

VkAccessFlags2 hazard_accesses(VkAccessFlags2 mask)
{
    VkAccessFlags2 access = mask;
    access |= (mask & VK_ACCESS_2_MEMORY_READ_BIT) != 0 ? READS : 0;
    access |= (mask & VK_ACCESS_2_MEMORY_WRITE_BIT) != 0 ? WRITES : 0;
    access |= (mask & VK_ACCESS_2_SHADER_READ_BIT) != 0
                  ? VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT
                  : 0;
    access |= (mask & VK_ACCESS_2_SHADER_WRITE_BIT) != 0 ? VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT : 0;
    return access & ~(VkAccessFlags2)(VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT |
                                      VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT);
}

VkAccessFlags2 hazard_writes(VkAccessFlags2 mask)
{
    return hazard_accesses(mask) & WRITES;
}
