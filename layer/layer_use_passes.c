/*
 * Render passes and dynamic rendering: the attachments. A load operation that clears or does not
 * care discards what the render area covers; an undefined first layout discards all of the view.
 */
#include "layer/layer_use_passes.h"

#include "core/chain.h"
#include "core/host_memory.h"

/* VK_ATTACHMENT_LOAD_OP_NONE and VK_ATTACHMENT_STORE_OP_NONE, by their numbers. */
enum { LOAD_NONE = 1000400000, STORE_NONE = 1000301000 };

struct render_area {
    VkRect2D rectangle;
    uint32_t layers;
    uint32_t view_mask;
};

static bool replaces(VkAttachmentLoadOp load)
{
    return load == VK_ATTACHMENT_LOAD_OP_CLEAR || load == VK_ATTACHMENT_LOAD_OP_DONT_CARE;
}

static int flags_of(VkAttachmentLoadOp load, VkAttachmentStoreOp store)
{
    const int reads = replaces(load) ? 0 : USE_READ;
    return (int)store == STORE_NONE && reads != 0 ? USE_READ : reads | USE_WRITE;
}

/* Whether the area covers all layers and texels of the view. */
static bool covers(const struct render_area* area, const struct layer_use_view* view)
{
    const uint32_t count = view->range.layerCount;
    const bool has_layers = area->view_mask != 0
                                ? count < 32 && area->view_mask == (UINT32_C(1) << count) - 1
                                : area->layers >= count;
    const VkOffset3D offset = {area->rectangle.offset.x, area->rectangle.offset.y, 0};
    const VkExtent3D extent = {area->rectangle.extent.width, area->rectangle.extent.height, 1};
    return has_layers &&
           maar_layer_use_covers(&view->image, view->range.baseMipLevel, offset, extent);
}

/* Notes the use of an attachment, of those aspects that the mask names. */
static void note_attachment(const struct layer_use_call* call, const struct layer_use_view* view,
                            const struct layer_use_attachment* does, VkImageAspectFlags aspects,
                            const struct render_area* area)
{
    const bool has_stencil = (aspects & VK_IMAGE_ASPECT_STENCIL_BIT) != 0;
    const bool has_more = (aspects & ~(VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT) != 0;
    VkImageSubresourceRange range = view->range;
    int flags = 0;
    bool discards = covers(area, view);
    range.aspectMask = aspects;
    if (has_more) {
        flags |= flags_of(does->load, does->store);
        discards = discards && replaces(does->load);
    }
    if (has_stencil) {
        flags |= flags_of(does->stencil_load, does->stencil_store);
        discards = discards && replaces(does->stencil_load);
    }
    maar_layer_use_image(call, &view->image, &range, (uint8_t)flags,
                         discards || does->is_undefined);
}

static bool find_view(const struct layer_use_call* call, VkImageView view,
                      struct layer_use_view* found)
{
    return view != VK_NULL_HANDLE && call->list != NULL &&
           maar_layer_use_table_copy(&call->uses->views, MAAR_TO_BITS(view), found, sizeof *found);
}

/* ---- render passes ---- */

static struct layer_use_pass* new_pass(uint32_t count)
{
    struct layer_use_pass* const pass =
        maar_host_calloc(NULL, 1, sizeof *pass + count * sizeof pass->attachments[0]);
    if (pass != NULL) {
        pass->attachment_count = count;
    }
    return pass;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pass(VkDevice device,
                                                  const VkRenderPassCreateInfo* info,
                                                  const VkAllocationCallbacks* callbacks,
                                                  VkRenderPass* pass)
{
    struct layer_uses* const uses = maar_layer_device_of(device)->uses;
    const VkResult result = uses->next.CreateRenderPass(device, info, callbacks, pass);
    struct layer_use_pass* const value =
        result == VK_SUCCESS ? new_pass(info->attachmentCount) : NULL;
    for (uint32_t i = 0; value != NULL && i < info->attachmentCount; ++i) {
        const VkAttachmentDescription* const from = &info->pAttachments[i];
        value->attachments[i] = (struct layer_use_attachment){
            from->loadOp, from->stencilLoadOp, from->storeOp, from->stencilStoreOp,
            from->initialLayout == VK_IMAGE_LAYOUT_UNDEFINED};
    }
    if (value != NULL) {
        maar_layer_use_table_add(&uses->passes, MAAR_TO_BITS(*pass), &value->link);
    }
    return result;
}

static void add_pass2(struct layer_uses* uses, const VkRenderPassCreateInfo2* info,
                      VkRenderPass pass)
{
    struct layer_use_pass* const value = new_pass(info->attachmentCount);
    for (uint32_t i = 0; value != NULL && i < info->attachmentCount; ++i) {
        const VkAttachmentDescription2* const from = &info->pAttachments[i];
        const VkAttachmentDescriptionStencilLayout* const stencil =
            maar_chain_find(from->pNext, VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_STENCIL_LAYOUT);
        value->attachments[i] = (struct layer_use_attachment){
            from->loadOp, from->stencilLoadOp, from->storeOp, from->stencilStoreOp,
            from->initialLayout == VK_IMAGE_LAYOUT_UNDEFINED &&
                (stencil == NULL || stencil->stencilInitialLayout == VK_IMAGE_LAYOUT_UNDEFINED)};
    }
    if (value != NULL) {
        maar_layer_use_table_add(&uses->passes, MAAR_TO_BITS(pass), &value->link);
    }
}

/* One function for each name, since each calls the next layer's function of its name. */
#define CREATE_PASS2(function, name)                                                               \
    static VKAPI_ATTR VkResult VKAPI_CALL function(                                                \
        VkDevice device, const VkRenderPassCreateInfo2* info,                                      \
        const VkAllocationCallbacks* callbacks, VkRenderPass* pass)                                \
    {                                                                                              \
        struct layer_uses* const uses = maar_layer_device_of(device)->uses;                        \
        const VkResult result = uses->next.name(device, info, callbacks, pass);                    \
        if (result == VK_SUCCESS) {                                                                \
            add_pass2(uses, info, *pass);                                                          \
        }                                                                                          \
        return result;                                                                             \
    }

CREATE_PASS2(create_pass2, CreateRenderPass2)
CREATE_PASS2(create_pass2_khr, CreateRenderPass2KHR)

static VKAPI_ATTR void VKAPI_CALL destroy_pass(VkDevice device, VkRenderPass pass,
                                               const VkAllocationCallbacks* callbacks)
{
    struct layer_uses* const uses = maar_layer_device_of(device)->uses;
    maar_layer_use_table_remove(&uses->passes, MAAR_TO_BITS(pass));
    uses->next.DestroyRenderPass(device, pass, callbacks);
}

/* The pass and the framebuffer live while a command buffer is recorded, so their parts of the
 * tables are locked only to find them. */
static void note_pass(const struct layer_use_call* call, const VkRenderPassBeginInfo* info)
{
    const uint64_t pass_key = MAAR_TO_BITS(info->renderPass);
    const uint64_t frame_key = MAAR_TO_BITS(info->framebuffer);
    const VkRenderPassAttachmentBeginInfo* const brought =
        maar_chain_find(info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO);
    const struct layer_use_pass* const pass =
        maar_layer_use_table_lock(&call->uses->passes, pass_key);
    maar_layer_use_table_unlock(&call->uses->passes, pass_key);
    const struct layer_use_framebuffer* const frame =
        maar_layer_use_table_lock(&call->uses->framebuffers, frame_key);
    maar_layer_use_table_unlock(&call->uses->framebuffers, frame_key);
    if (pass == NULL || frame == NULL) {
        return;
    }
    const struct render_area area = {info->renderArea, frame->layers, 0};
    for (uint32_t i = 0; i < pass->attachment_count; ++i) {
        struct layer_use_view view;
        bool has_view = i < frame->view_count;
        if (has_view) {
            view = frame->views[i];
        } else if (brought != NULL && i < brought->attachmentCount) {
            has_view = find_view(call, brought->pAttachments[i], &view);
        }
        if (has_view && view.image.link.key != 0) {
            note_attachment(call, &view, &pass->attachments[i], view.image.aspects, &area);
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL begin_pass(VkCommandBuffer commands,
                                             const VkRenderPassBeginInfo* info,
                                             VkSubpassContents contents)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    note_pass(&call, info);
    call.next->CmdBeginRenderPass(commands, info, contents);
}

#define BEGIN_PASS2(function, name)                                                                \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const VkRenderPassBeginInfo* info,                  \
                                               const VkSubpassBeginInfo* subpass)                  \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_pass(&call, info);                                                                    \
        call.next->name(commands, info, subpass);                                                  \
    }

BEGIN_PASS2(begin_pass2, CmdBeginRenderPass2)
BEGIN_PASS2(begin_pass2_khr, CmdBeginRenderPass2KHR)

/* ---- dynamic rendering ---- */

static struct layer_use_attachment attachment_of(const VkRenderingAttachmentInfo* info,
                                                 bool resumes)
{
    const VkAttachmentLoadOp load = resumes ? VK_ATTACHMENT_LOAD_OP_LOAD : info->loadOp;
    return (struct layer_use_attachment){load, load, info->storeOp, info->storeOp, false};
}

static void note_resolve_view(const struct layer_use_call* call,
                              const VkRenderingAttachmentInfo* info, const struct render_area* area)
{
    struct layer_use_view view;
    if (info->resolveMode != VK_RESOLVE_MODE_NONE &&
        find_view(call, info->resolveImageView, &view)) {
        maar_layer_use_image(call, &view.image, &view.range, USE_WRITE, covers(area, &view));
    }
}

static void note_color(const struct layer_use_call* call, const VkRenderingAttachmentInfo* info,
                       bool resumes, const struct render_area* area)
{
    const struct layer_use_attachment does = attachment_of(info, resumes);
    struct layer_use_view view;
    if (find_view(call, info->imageView, &view)) {
        note_attachment(call, &view, &does, view.image.aspects, area);
    }
    note_resolve_view(call, info, area);
}

/* Notes depth and stencil, which are one image's in most cases. */
static void note_depth(const struct layer_use_call* call, const VkRenderingInfo* info, bool resumes,
                       const struct render_area* area)
{
    const VkRenderingAttachmentInfo none = {0};
    const VkRenderingAttachmentInfo* const depth =
        info->pDepthAttachment != NULL ? info->pDepthAttachment : &none;
    const VkRenderingAttachmentInfo* const stencil =
        info->pStencilAttachment != NULL ? info->pStencilAttachment : &none;
    struct layer_use_attachment does = attachment_of(depth, resumes);
    struct layer_use_attachment stencil_does = attachment_of(stencil, resumes);
    const bool is_one = depth->imageView == stencil->imageView;
    struct layer_use_view view;
    if (is_one) {
        does.stencil_load = stencil_does.stencil_load;
        does.stencil_store = stencil_does.stencil_store;
    }
    if (find_view(call, depth->imageView, &view)) {
        note_attachment(call, &view, &does, is_one ? view.image.aspects : VK_IMAGE_ASPECT_DEPTH_BIT,
                        area);
    }
    if (!is_one && find_view(call, stencil->imageView, &view)) {
        note_attachment(call, &view, &stencil_does, VK_IMAGE_ASPECT_STENCIL_BIT, area);
    }
    note_resolve_view(call, depth, area);
    note_resolve_view(call, stencil, area);
}

static void note_read_view(const struct layer_use_call* call, VkImageView handle)
{
    struct layer_use_view view;
    if (find_view(call, handle, &view)) {
        maar_layer_use_image(call, &view.image, &view.range, USE_READ, false);
    }
}

static void note_rendering(const struct layer_use_call* call, const VkRenderingInfo* info)
{
    const struct render_area area = {info->renderArea, info->layerCount, info->viewMask};
    const bool resumes = (info->flags & VK_RENDERING_RESUMING_BIT) != 0;
    const VkRenderingFragmentShadingRateAttachmentInfoKHR* const rate = maar_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_INFO_KHR);
    const VkRenderingFragmentDensityMapAttachmentInfoEXT* const density = maar_chain_find(
        info->pNext, VK_STRUCTURE_TYPE_RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_INFO_EXT);
    for (uint32_t i = 0; i < info->colorAttachmentCount; ++i) {
        note_color(call, &info->pColorAttachments[i], resumes, &area);
    }
    note_depth(call, info, resumes, &area);
    note_read_view(call, rate != NULL ? rate->imageView : VK_NULL_HANDLE);
    note_read_view(call, density != NULL ? density->imageView : VK_NULL_HANDLE);
}

#define BEGIN_RENDERING(function, name)                                                            \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const VkRenderingInfo* info)                        \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_rendering(&call, info);                                                               \
        call.next->name(commands, info);                                                           \
    }

BEGIN_RENDERING(begin_rendering, CmdBeginRendering)
BEGIN_RENDERING(begin_rendering_khr, CmdBeginRenderingKHR)

static VKAPI_ATTR void VKAPI_CALL bind_shading_rate(VkCommandBuffer commands, VkImageView view,
                                                    VkImageLayout layout)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    note_read_view(&call, view);
    call.next->CmdBindShadingRateImageNV(commands, view, layout);
}

const struct layer_hook maar_layer_use_pass_hooks[] = {
    LAYER_HOOK(CreateRenderPass, create_pass),
    LAYER_HOOK(CreateRenderPass2, create_pass2),
    LAYER_HOOK(CreateRenderPass2KHR, create_pass2_khr),
    LAYER_HOOK(DestroyRenderPass, destroy_pass),
    LAYER_HOOK(CmdBeginRenderPass, begin_pass),
    LAYER_HOOK(CmdBeginRenderPass2, begin_pass2),
    LAYER_HOOK(CmdBeginRenderPass2KHR, begin_pass2_khr),
    LAYER_HOOK(CmdBeginRendering, begin_rendering),
    LAYER_HOOK(CmdBeginRenderingKHR, begin_rendering_khr),
    LAYER_HOOK(CmdBindShadingRateImageNV, bind_shading_rate),
    {NULL, NULL},
};
