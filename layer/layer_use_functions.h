/*
 * The functions that the layer intercepts for uses alone.
 */
#ifndef MAAR_LAYER_USE_FUNCTIONS_H
#define MAAR_LAYER_USE_FUNCTIONS_H

#include "layer/layer_state.h"

#define LAYER_USE_FUNCTIONS(X)                                                                     \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateDescriptorSets)                                                                      \
    X(BeginCommandBuffer)                                                                          \
    X(CmdBeginConditionalRenderingEXT)                                                             \
    X(CmdBeginRendering)                                                                           \
    X(CmdBeginRenderingKHR)                                                                        \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBeginRenderPass2)                                                                         \
    X(CmdBeginRenderPass2KHR)                                                                      \
    X(CmdBeginTransformFeedbackEXT)                                                                \
    X(CmdBindDescriptorSets)                                                                       \
    X(CmdBindIndexBuffer)                                                                          \
    X(CmdBindShadingRateImageNV)                                                                   \
    X(CmdBindTransformFeedbackBuffersEXT)                                                          \
    X(CmdBindVertexBuffers)                                                                        \
    X(CmdBindVertexBuffers2)                                                                       \
    X(CmdBindVertexBuffers2EXT)                                                                    \
    X(CmdBlitImage)                                                                                \
    X(CmdBlitImage2)                                                                               \
    X(CmdBlitImage2KHR)                                                                            \
    X(CmdClearColorImage)                                                                          \
    X(CmdClearDepthStencilImage)                                                                   \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBuffer2)                                                                              \
    X(CmdCopyBuffer2KHR)                                                                           \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyBufferToImage2)                                                                       \
    X(CmdCopyBufferToImage2KHR)                                                                    \
    X(CmdCopyImage)                                                                                \
    X(CmdCopyImage2)                                                                               \
    X(CmdCopyImage2KHR)                                                                            \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdCopyImageToBuffer2)                                                                       \
    X(CmdCopyImageToBuffer2KHR)                                                                    \
    X(CmdCopyQueryPoolResults)                                                                     \
    X(CmdDispatchIndirect)                                                                         \
    X(CmdDrawIndexedIndirect)                                                                      \
    X(CmdDrawIndexedIndirectCount)                                                                 \
    X(CmdDrawIndexedIndirectCountAMD)                                                              \
    X(CmdDrawIndexedIndirectCountKHR)                                                              \
    X(CmdDrawIndirect)                                                                             \
    X(CmdDrawIndirectByteCountEXT)                                                                 \
    X(CmdDrawIndirectCount)                                                                        \
    X(CmdDrawIndirectCountAMD)                                                                     \
    X(CmdDrawIndirectCountKHR)                                                                     \
    X(CmdDrawMeshTasksIndirectCountEXT)                                                            \
    X(CmdDrawMeshTasksIndirectCountNV)                                                             \
    X(CmdDrawMeshTasksIndirectEXT)                                                                 \
    X(CmdDrawMeshTasksIndirectNV)                                                                  \
    X(CmdEndTransformFeedbackEXT)                                                                  \
    X(CmdExecuteCommands)                                                                          \
    X(CmdFillBuffer)                                                                               \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdPipelineBarrier2)                                                                         \
    X(CmdPipelineBarrier2KHR)                                                                      \
    X(CmdPushDescriptorSetKHR)                                                                     \
    X(CmdPushDescriptorSetWithTemplateKHR)                                                         \
    X(CmdResolveImage)                                                                             \
    X(CmdResolveImage2)                                                                            \
    X(CmdResolveImage2KHR)                                                                         \
    X(CmdUpdateBuffer)                                                                             \
    X(CmdWaitEvents)                                                                               \
    X(CmdWaitEvents2)                                                                              \
    X(CmdWaitEvents2KHR)                                                                           \
    X(CmdWriteBufferMarkerAMD)                                                                     \
    X(CmdWriteBufferMarker2AMD)                                                                    \
    X(CreateBufferView)                                                                            \
    X(CreateDescriptorSetLayout)                                                                   \
    X(CreateDescriptorUpdateTemplate)                                                              \
    X(CreateDescriptorUpdateTemplateKHR)                                                           \
    X(CreateFramebuffer)                                                                           \
    X(CreateImageView)                                                                             \
    X(CreateRenderPass)                                                                            \
    X(CreateRenderPass2)                                                                           \
    X(CreateRenderPass2KHR)                                                                        \
    X(DestroyBufferView)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(DestroyDescriptorPool)                                                                       \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(DestroyDescriptorUpdateTemplate)                                                             \
    X(DestroyDescriptorUpdateTemplateKHR)                                                          \
    X(DestroyFramebuffer)                                                                          \
    X(DestroyImageView)                                                                            \
    X(DestroyRenderPass)                                                                           \
    X(FreeCommandBuffers)                                                                          \
    X(FreeDescriptorSets)                                                                          \
    X(ResetCommandBuffer)                                                                          \
    X(ResetCommandPool)                                                                            \
    X(ResetDescriptorPool)                                                                         \
    X(UpdateDescriptorSets)                                                                        \
    X(UpdateDescriptorSetWithTemplate)                                                             \
    X(UpdateDescriptorSetWithTemplateKHR)

/* Those that layer_newer.h declares: the name, and the type. */
#define LAYER_NEWER_USE_FUNCTIONS(X)                                                               \
    X(CmdBindDescriptorSets2, layer_pfn_bind_sets2)                                                \
    X(CmdBindDescriptorSets2KHR, layer_pfn_bind_sets2)                                             \
    X(CmdBindIndexBuffer2, layer_pfn_bind_index_buffer2)                                           \
    X(CmdBindIndexBuffer2KHR, layer_pfn_bind_index_buffer2)                                        \
    X(CmdPushDescriptorSet, PFN_vkCmdPushDescriptorSetKHR)                                         \
    X(CmdPushDescriptorSet2, layer_pfn_push_set2)                                                  \
    X(CmdPushDescriptorSet2KHR, layer_pfn_push_set2)                                               \
    X(CmdPushDescriptorSetWithTemplate, PFN_vkCmdPushDescriptorSetWithTemplateKHR)                 \
    X(CmdPushDescriptorSetWithTemplate2, layer_pfn_push_template2)                                 \
    X(CmdPushDescriptorSetWithTemplate2KHR, layer_pfn_push_template2)

struct layer_use_functions {
    LAYER_USE_FUNCTIONS(LAYER_MEMBER)
    LAYER_NEWER_USE_FUNCTIONS(LAYER_NEWER_MEMBER)
};

#endif
