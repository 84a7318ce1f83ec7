/*
 * Binding, and an independent check of binds. Each memory keeps its live binds in a tree by
 * their bytes. A new bind is compared with those binds whose bytes or granularity pages it could
 * share.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"

enum { SIM_ROOM = 2 };

/* One bind to make. */
struct sim_bind_request {
    enum sim_function function;
    enum sim_kind kind;
    uint64_t resource;
    uint64_t memory;
    VkDeviceSize offset;
    uint32_t plane;
    bool plane_known;
};

struct sim_resource* sim_resource_peek(const struct sim_device* device, uint64_t handle)
{
    struct sim_resource* buffer = sim_object_peek(device, handle, SIM_KIND_BUFFER);
    return buffer != NULL ? buffer : sim_object_peek(device, handle, SIM_KIND_IMAGE);
}

static bool sim_bind_may_alias(const struct sim_device* device, const struct sim_resource* resource,
                               const struct sim_bind* other_bind)
{
    const struct sim_resource* other = sim_resource_peek(device, other_bind->resource);
    if (other == NULL || resource->sparse != other->sparse) {
        return false;
    }
    return resource->sparse ? resource->pages.aliased && other->pages.aliased
                            : resource->aliased && other->aliased;
}

static bool sim_bind_is_same(const struct sim_bind* one, const struct sim_bind* other)
{
    return one->resource == other->resource && one->at == other->at &&
           one->node.begin == other->node.begin;
}

/* Compares a new bind with an existing bind. */
static void sim_bind_compare(const struct sim_memory* memory, enum sim_function function,
                             const struct sim_resource* resource, const struct sim_bind* new_bind,
                             const struct sim_bind* other)
{
    struct sim_gpu* gpu = memory->object.device->gpu;
    const VkDeviceSize page = sim_or(gpu->profile.limits.bufferImageGranularity, 1);
    if (sim_bind_is_same(new_bind, other)) {
        return;
    }
    if (new_bind->node.begin < other->node.end && other->node.begin < new_bind->node.end) {
        if (!sim_bind_may_alias(memory->object.device, resource, other)) {
            sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_OVERLAP,
                        "[%llu, %llu) overlaps a live resource at [%llu, %llu); "
                        "MAAR_SIMULATED_ALLOW_ALIASING_BIT allows it",
                        (unsigned long long)new_bind->node.begin,
                        (unsigned long long)new_bind->node.end,
                        (unsigned long long)other->node.begin, (unsigned long long)other->node.end);
        }
        return;
    }
    if (new_bind->linear != other->linear &&
        new_bind->node.begin / page <= (other->node.end - 1) / page &&
        other->node.begin / page <= (new_bind->node.end - 1) / page) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_GRANULARITY,
                    "[%llu, %llu) and [%llu, %llu), one linear and one optimal, share a page of "
                    "bufferImageGranularity %llu",
                    (unsigned long long)new_bind->node.begin,
                    (unsigned long long)new_bind->node.end, (unsigned long long)other->node.begin,
                    (unsigned long long)other->node.end, (unsigned long long)page);
    }
}

void sim_bind_check_neighbours(const struct sim_memory* memory, enum sim_function function,
                               const struct sim_resource* resource, const struct sim_bind* new_bind)
{
    const VkDeviceSize page =
        sim_or(memory->object.device->gpu->profile.limits.bufferImageGranularity, 1);
    const VkDeviceSize from = new_bind->node.begin > page ? new_bind->node.begin - page : 0;
    for (const struct sim_bind* other = sim_tree_after(&memory->binds, from);
         other != NULL && other->node.begin < new_bind->node.end + page;
         other = sim_tree_next_after(&other->node, from)) {
        sim_bind_compare(memory, function, resource, new_bind, other);
    }
}

void sim_bind_insert(struct sim_memory* memory, const struct sim_bind* new_bind)
{
    struct sim_bind* made =
        sim_tree_insert(&memory->binds, new_bind->node.begin, new_bind->node.end);
    made->resource = new_bind->resource;
    made->at = new_bind->at;
    made->linear = new_bind->linear;
}

void sim_bind_remove(struct sim_memory* memory, uint64_t resource, VkDeviceSize at,
                     VkDeviceSize offset)
{
    for (struct sim_bind* bind = sim_tree_after(&memory->binds, offset);
         bind != NULL && bind->node.begin <= offset;
         bind = sim_tree_next_after(&bind->node, offset)) {
        if (bind->node.begin == offset && bind->resource == resource && bind->at == at) {
            sim_tree_remove(&memory->binds, &bind->node);
            return;
        }
    }
}

void sim_bind_forget(struct sim_resource* resource)
{
    for (uint32_t plane = 0; plane < resource->plane_count; plane++) {
        struct sim_memory* memory =
            sim_object_peek(resource->object.device, resource->memory[plane], SIM_KIND_MEMORY);
        if (memory != NULL) {
            sim_bind_remove(memory, resource->object.handle, plane, resource->offset[plane]);
        }
    }
}

void sim_tree_release(const VkAllocationCallbacks* callbacks, struct sim_tree* tree)
{
    size_t size = 0;
    for (void* chunk = sim_tree_take_chunk(tree, &size); chunk != NULL;
         chunk = sim_tree_take_chunk(tree, &size)) {
        maar_host_free(callbacks, chunk);
    }
}

/* Makes room for more binds of a memory, unless another thread has done so. Leaves the lock
 * meanwhile. Returns false when there is no host memory. */
static bool sim_bind_grow(struct sim_device* device, uint64_t handle, size_t size)
{
    sim_unlock_gpu(device->gpu);
    void* chunk = maar_host_calloc(device->callbacks, 1, size);
    sim_lock_gpu(device->gpu);
    if (chunk == NULL) {
        return false;
    }
    struct sim_memory* memory = sim_object_peek(device, handle, SIM_KIND_MEMORY);
    if (memory != NULL && memory->binds.unused_count < SIM_ROOM) {
        sim_tree_add_chunk(&memory->binds, chunk, size, sizeof(struct sim_bind));
        return true;
    }
    sim_unlock_gpu(device->gpu);
    maar_host_free(device->callbacks, chunk);
    sim_lock_gpu(device->gpu);
    return true;
}

bool sim_bind_reserve(struct sim_device* device, uint64_t handle)
{
    for (;;) {
        const struct sim_memory* memory = sim_object_peek(device, handle, SIM_KIND_MEMORY);
        if (memory == NULL || memory->binds.unused_count >= SIM_ROOM) {
            return true;
        }
        /* Other threads may take the room before the lock is held again. */
        if (!sim_bind_grow(device, handle,
                           sim_tree_chunk_size(&memory->binds, sizeof(struct sim_bind)))) {
            return false;
        }
    }
}

/* Checks the rules without which the bind is impossible. */
static bool sim_bind_is_possible(struct sim_gpu* gpu, const struct sim_bind_request* request,
                                 const struct sim_resource* resource,
                                 const struct sim_memory* memory)
{
    if (resource->sparse) {
        sim_violate(gpu, request->function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "sparse resources are bound by vkQueueBindSparse");
        return false;
    }
    if (request->plane >= resource->plane_count ||
        request->plane_known != (resource->plane_count > 1)) {
        sim_violate(gpu, request->function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "a bind of a disjoint image must name a plane, and no other bind may");
        return false;
    }
    const struct sim_requirements* r = &resource->requirements[request->plane];
    if (resource->memory[request->plane] != 0) {
        sim_violate(gpu, request->function, MAAR_SIMULATED_VIOLATION_BIND_TWICE,
                    "the resource is already bound to memory");
        return false;
    }
    if (request->offset >= memory->size || r->size > memory->size - request->offset) {
        sim_violate(gpu, request->function, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                    "%llu bytes at %llu end beyond the memory's %llu", (unsigned long long)r->size,
                    (unsigned long long)request->offset, (unsigned long long)memory->size);
        return false;
    }
    return true;
}

/* Checks the rules whose violation a real driver would not notice. */
static void sim_bind_check(struct sim_gpu* gpu, const struct sim_bind_request* request,
                           const struct sim_resource* resource, const struct sim_memory* memory)
{
    const struct sim_requirements* r = &resource->requirements[request->plane];
    const enum sim_function function = request->function;
    if ((r->type_bits >> memory->type & 1u) == 0) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_BIND_TYPE,
                    "memory type %u is not in memoryTypeBits 0x%x", memory->type, r->type_bits);
    }
    if (request->offset % sim_or(r->alignment, 1) != 0) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT,
                    "offset %llu is not a multiple of %llu", (unsigned long long)request->offset,
                    (unsigned long long)r->alignment);
    }
    if (resource->needs_address && !memory->addressable) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the memory lacks VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
    }
    if (memory->dedicated != 0 &&
        (memory->dedicated != request->resource || request->offset != 0)) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "the memory is dedicated to another resource, or the offset is not zero");
    }
    if (r->requires_dedicated && memory->dedicated != request->resource) {
        sim_violate(gpu, function, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "the resource requires a dedicated allocation");
    }
    sim_share_check_bind(resource, memory, function);
}

static VkResult sim_bind_one(struct sim_device* device, const struct sim_bind_request* request)
{
    struct sim_gpu* gpu = device->gpu;
    sim_lock_gpu(gpu);
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!sim_bind_reserve(device, request->memory)) {
        goto unlock;
    }
    result = VK_ERROR_VALIDATION_FAILED_EXT;
    struct sim_resource* resource =
        sim_object_get(device, request->function, request->resource, request->kind);
    struct sim_memory* memory =
        sim_object_get(device, request->function, request->memory, SIM_KIND_MEMORY);
    if (resource == NULL || memory == NULL ||
        !sim_bind_is_possible(gpu, request, resource, memory)) {
        goto unlock;
    }
    sim_bind_check(gpu, request, resource, memory);
    const struct sim_bind new_bind = {
        .node.begin = request->offset,
        .node.end = request->offset + resource->requirements[request->plane].size,
        .resource = request->resource,
        .at = request->plane,
        .linear = resource->linear,
    };
    if ((gpu->flags & MAAR_SIMULATED_ALLOW_ALIASING_BIT) == 0) {
        sim_bind_check_neighbours(memory, request->function, resource, &new_bind);
    }
    sim_bind_insert(memory, &new_bind);
    resource->memory[request->plane] = request->memory;
    resource->offset[request->plane] = request->offset;
    result = VK_SUCCESS;

unlock:
    sim_unlock_gpu(gpu);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_bind_buffer_memory(VkDevice device, VkBuffer buffer,
                                                             VkDeviceMemory memory,
                                                             VkDeviceSize memoryOffset)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkBindBufferMemory);
    if (result != VK_SUCCESS) {
        return result;
    }
    return sim_bind_one(d, &(struct sim_bind_request){.function = SIM_FN_vkBindBufferMemory,
                                                      .kind = SIM_KIND_BUFFER,
                                                      .resource = SIM_HANDLE(buffer),
                                                      .memory = SIM_HANDLE(memory),
                                                      .offset = memoryOffset});
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_bind_image_memory(VkDevice device, VkImage image,
                                                            VkDeviceMemory memory,
                                                            VkDeviceSize memoryOffset)
{
    struct sim_device* d = SIM_DEVICE(device);
    const VkResult result = sim_enter(d->gpu, d, SIM_FN_vkBindImageMemory);
    if (result != VK_SUCCESS) {
        return result;
    }
    return sim_bind_one(d, &(struct sim_bind_request){.function = SIM_FN_vkBindImageMemory,
                                                      .kind = SIM_KIND_IMAGE,
                                                      .resource = SIM_HANDLE(image),
                                                      .memory = SIM_HANDLE(memory),
                                                      .offset = memoryOffset});
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_bind_buffer_memory2(
    VkDevice device, uint32_t bindInfoCount, const VkBindBufferMemoryInfo* pBindInfos)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkBindBufferMemory2);
    for (uint32_t i = 0; i < bindInfoCount && result == VK_SUCCESS; i++) {
        result = sim_bind_one(d, &(struct sim_bind_request){
                                     .function = SIM_FN_vkBindBufferMemory2,
                                     .kind = SIM_KIND_BUFFER,
                                     .resource = SIM_HANDLE(pBindInfos[i].buffer),
                                     .memory = SIM_HANDLE(pBindInfos[i].memory),
                                     .offset = pBindInfos[i].memoryOffset,
                                 });
    }
    return result;
}

static uint32_t sim_bind_plane(VkImageAspectFlagBits aspect)
{
    const VkFlags bits = (VkFlags)aspect;
    return bits == VK_IMAGE_ASPECT_PLANE_0_BIT   ? 0
           : bits == VK_IMAGE_ASPECT_PLANE_1_BIT ? 1
           : bits == VK_IMAGE_ASPECT_PLANE_2_BIT ? 2
                                                 : SIM_MAX_PLANES;
}

static VKAPI_ATTR VkResult VKAPI_CALL sim_bind_image_memory2(
    VkDevice device, uint32_t bindInfoCount, const VkBindImageMemoryInfo* pBindInfos)
{
    struct sim_device* d = SIM_DEVICE(device);
    VkResult result = sim_enter(d->gpu, d, SIM_FN_vkBindImageMemory2);
    for (uint32_t i = 0; i < bindInfoCount && result == VK_SUCCESS; i++) {
        const VkBindImagePlaneMemoryInfo* plane =
            sim_chain_find(pBindInfos[i].pNext, VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO);
        result =
            sim_bind_one(d, &(struct sim_bind_request){
                                .function = SIM_FN_vkBindImageMemory2,
                                .kind = SIM_KIND_IMAGE,
                                .resource = SIM_HANDLE(pBindInfos[i].image),
                                .memory = SIM_HANDLE(pBindInfos[i].memory),
                                .offset = pBindInfos[i].memoryOffset,
                                .plane = plane != NULL ? sim_bind_plane(plane->planeAspect) : 0,
                                .plane_known = plane != NULL,
                            });
    }
    return result;
}

const struct sim_entry sim_bind_entries[] = {
    SIM_ENTRY(vkBindBufferMemory, sim_bind_buffer_memory),
    SIM_ENTRY(vkBindImageMemory, sim_bind_image_memory),
    SIM_ENTRY(vkBindBufferMemory2, sim_bind_buffer_memory2),
    SIM_ENTRY(vkBindImageMemory2, sim_bind_image_memory2),
    {SIM_FN_COUNT, NULL},
};
