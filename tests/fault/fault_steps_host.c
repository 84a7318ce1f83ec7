/*
 * Steps: buffers on the host's own memory. Where a copy may stand in, a driver that refuses to
 * import is no failure; so here either the one is forbidden or the other.
 */
#include "tests/fault/fault_steps.h"

#include <stdio.h>

enum { HOST_PAGE = 4096, HOST_BYTES = 3 * HOST_PAGE };

/* What a step has besides its context; one step runs at a time. */
static struct {
    _Alignas(HOST_PAGE) unsigned char bytes[HOST_BYTES];
    MaarHostBuffer buffer;
} host;

/* Memory that the host sees is never coherent: it has to be mapped, flushed and invalidated. */
static const MaarSimulatedProfile* host_profile(void)
{
    static MaarSimulatedProfile made;
    made = *rig_profile_noncoherent();
    made.types[1].flags &= ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    made.limits.minImportedHostPointerAlignment = HOST_PAGE;
    (void)snprintf(made.extensions[made.extensionCount++], sizeof made.extensions[0], "%s",
                   VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    return &made;
}

static VkResult create_host_buffer(struct fault_context* c, MaarHostBufferCreateFlags flags)
{
    const MaarHostBufferCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
        .flags = flags,
        .pMemory = host.bytes + 512,
        .size = HOST_PAGE,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        .pName = "host",
    };
    host.buffer = (MaarHostBuffer)(uintptr_t)1;
    VkResult result = maarCreateHostBuffer(c->rig.allocator, &info, &host.buffer);
    assert_true((result == VK_SUCCESS) == (host.buffer != VK_NULL_HANDLE));
    return result;
}

static VkResult run_create_imported(struct fault_context* c)
{
    return create_host_buffer(c, MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT);
}

static VkResult run_create_copied(struct fault_context* c)
{
    return create_host_buffer(c, MAAR_HOST_BUFFER_CREATE_ALWAYS_COPY_BIT);
}

/* The memory types of images leave out those that are not coherent: the discrete device has
 * others. */
static const MaarSimulatedProfile* coherent_profile(void)
{
    static MaarSimulatedProfile made;
    made = *rig_profile_discrete();
    made.limits.minImportedHostPointerAlignment = HOST_PAGE;
    (void)snprintf(made.extensions[made.extensionCount++], sizeof made.extensions[0], "%s",
                   VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    return &made;
}

static VkResult run_import_host_image(struct fault_context* c)
{
    VkImageCreateInfo image = rig_image_info(16, 16);
    image.tiling = VK_IMAGE_TILING_LINEAR;
    const MaarHostImportInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HOST_IMPORT_INFO,
        .pMemory = host.bytes,
        .size = HOST_BYTES,
        .pName = "host",
    };
    c->image = (VkImage)(uintptr_t)1;
    const VkResult result =
        maarImportHostImage(c->rig.allocator, &image, &info, &c->image, &c->many[0]);
    assert_true((result == VK_SUCCESS) == (c->image != VK_NULL_HANDLE));
    return result;
}

static void undo_host_image(struct fault_context* c)
{
    maarDestroyImage(c->rig.allocator, c->image, c->many[0]);
}

static void undo_host_buffer(struct fault_context* c)
{
    maarDestroyHostBuffer(c->rig.allocator, host.buffer);
}

static void prepare_imported(struct fault_context* c)
{
    assert_int_equal(run_create_imported(c), VK_SUCCESS);
}

static void prepare_copied(struct fault_context* c)
{
    assert_int_equal(run_create_copied(c), VK_SUCCESS);
}

static VkResult run_host_info(struct fault_context* c)
{
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    return maarGetHostBufferInfo(c->rig.allocator, host.buffer, &info);
}

static VkResult run_push(struct fault_context* c)
{
    return maarPushHostBuffer(c->rig.allocator, host.buffer, 5, 1000);
}

static VkResult run_pull(struct fault_context* c)
{
    return maarPullHostBuffer(c->rig.allocator, host.buffer, 5, 1000);
}

static VkResult run_destroy_host_buffer(struct fault_context* c)
{
    undo_host_buffer(c);
    return VK_SUCCESS;
}

#define ON_HOST .profile = host_profile, .shares = true

static const struct fault_step steps[] = {
    {"maarCreateHostBuffer", "imported", .run = run_create_imported, .undo = undo_host_buffer,
     ON_HOST},
    {"maarCreateHostBuffer", "copied", .run = run_create_copied, .undo = undo_host_buffer, ON_HOST},
    {"maarImportHostImage", .run = run_import_host_image, .undo = undo_host_image,
     .profile = coherent_profile, .shares = true},
    {"maarGetHostBufferInfo", .never = "reads what is known", .prepare = prepare_imported,
     .run = run_host_info, .finish = undo_host_buffer, ON_HOST},
    {"maarPushHostBuffer", "imported", .prepare = prepare_imported, .run = run_push,
     .finish = undo_host_buffer, ON_HOST},
    {"maarPushHostBuffer", "copied", .prepare = prepare_copied, .run = run_push,
     .finish = undo_host_buffer, ON_HOST},
    {"maarPullHostBuffer", "imported", .prepare = prepare_imported, .run = run_pull,
     .finish = undo_host_buffer, ON_HOST},
    {"maarPullHostBuffer", "copied", .prepare = prepare_copied, .run = run_pull,
     .finish = undo_host_buffer, ON_HOST},
    {"maarDestroyHostBuffer", .never = "takes down", .prepare = prepare_imported,
     .run = run_destroy_host_buffer, ON_HOST},
};

const struct fault_table fault_host_steps = {
    steps,
    sizeof steps / sizeof steps[0],
};
