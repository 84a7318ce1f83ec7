/*
 * The pages of sparse resources and the memories that hold them: checks and executes binds.
 *
 * A submission checks its batch of binds and records it as pieces. The execution of a piece changes
 * the runs of its resource; each run corresponds to one bind of its memory. After a whole batch has
 * been executed, its binds are checked for bytes that two resources share. Runs are split but never
 * joined, so that each run can be traced to one bind.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_forget.h"
#include "backends/simulated/sim_format.h"
#include "backends/simulated/sim_memory.h"
#include "backends/simulated/sim_resource.h"

#include <stdlib.h>

enum { SIM_RUN_ROOM = 2 };

static const enum sim_function sim_binding = SIM_FN_vkQueueBindSparse;

struct sim_run* sim_pages_after(const struct sim_sparse* pages, VkDeviceSize at)
{
    return sim_tree_after(&pages->runs, at);
}

static VkDeviceSize sim_run_size(const struct sim_run* run)
{
    return run->node.end - run->node.begin;
}

/* Adds a run's bind to its memory, if the memory is alive. */
static void sim_run_enter(const struct sim_resource* resource, const struct sim_run* run)
{
    struct sim_memory* memory =
        sim_object_peek(resource->object.device, run->memory, SIM_KIND_MEMORY);
    if (memory != NULL) {
        sim_bind_insert(memory, &(struct sim_bind){.node.begin = run->offset,
                                                   .node.end = run->offset + sim_run_size(run),
                                                   .resource = resource->object.handle,
                                                   .at = run->node.begin,
                                                   .linear = resource->linear});
    }
}

static void sim_run_leave(const struct sim_resource* resource, const struct sim_run* run)
{
    struct sim_memory* memory =
        sim_object_peek(resource->object.device, run->memory, SIM_KIND_MEMORY);
    if (memory != NULL) {
        sim_bind_remove(memory, resource->object.handle, run->node.begin, run->offset);
    }
}

/* A range of a resource and what it is bound to. */
struct sim_bound {
    VkDeviceSize at, end;
    uint64_t memory;
    VkDeviceSize offset;
};

static void sim_run_put(struct sim_resource* resource, const struct sim_bound* bound)
{
    struct sim_run* run = sim_tree_insert(&resource->pages.runs, bound->at, bound->end);
    run->memory = bound->memory;
    run->offset = bound->offset;
    sim_run_enter(resource, run);
}

static void sim_count_bound(struct sim_resource* resource, VkDeviceSize size, bool more)
{
    MaarSimulatedCounters* counters = &resource->object.device->gpu->counters;
    resource->pages.bound = more ? resource->pages.bound + size : resource->pages.bound - size;
    counters->sparseBoundBytes =
        more ? counters->sparseBoundBytes + size : counters->sparseBoundBytes - size;
    if (counters->sparseBoundBytes > counters->sparseBoundPeak) {
        counters->sparseBoundPeak = counters->sparseBoundBytes;
    }
}

/* Unbinds [at, at + size). The caller has made room for one more run, and for one more bind in the
 * memory of a run that is split. */
static void sim_pages_clear(struct sim_resource* resource, VkDeviceSize at, VkDeviceSize size)
{
    struct sim_tree* runs = &resource->pages.runs;
    const VkDeviceSize end = at + size;
    struct sim_bound left = {0};
    struct sim_bound right = {0};
    for (;;) {
        struct sim_run* run = sim_tree_after(runs, at);
        if (run == NULL || run->node.begin >= end) {
            break;
        }
        const struct sim_bound was = {run->node.begin, run->node.end, run->memory, run->offset};
        sim_run_leave(resource, run);
        sim_tree_remove(runs, &run->node);
        if (was.at < at) {
            left = was;
            left.end = at;
        }
        if (was.end > end) {
            right = was;
            right.at = end;
            right.offset = was.offset + (end - was.at);
        }
        sim_count_bound(resource, (was.end < end ? was.end : end) - (was.at > at ? was.at : at),
                        false);
    }
    if (right.end != 0) {
        sim_run_put(resource, &right);
    }
    if (left.end != 0) {
        sim_run_put(resource, &left);
    }
}

/* Makes room for two more runs. Lock held before and after, free in between. */
static bool sim_runs_reserve(struct sim_device* device, uint64_t handle)
{
    const struct sim_resource* resource = sim_resource_peek(device, handle);
    const size_t size = sim_tree_chunk_size(&resource->pages.runs, sizeof(struct sim_run));
    sim_unlock_gpu(device->gpu);
    void* chunk = maar_host_calloc(device->callbacks, 1, size);
    sim_lock_gpu(device->gpu);
    if (chunk == NULL) {
        return false;
    }
    struct sim_resource* found = sim_resource_peek(device, handle);
    if (found != NULL && found->pages.runs.unused_count < SIM_RUN_ROOM) {
        sim_tree_add_chunk(&found->pages.runs, chunk, size, sizeof(struct sim_run));
        return true;
    }
    sim_unlock_gpu(device->gpu);
    maar_host_free(device->callbacks, chunk);
    sim_lock_gpu(device->gpu);
    return true;
}

static bool sim_memory_has_room(const struct sim_device* device, uint64_t handle)
{
    const struct sim_memory* memory = sim_object_peek(device, handle, SIM_KIND_MEMORY);
    return memory == NULL || memory->binds.unused_count >= SIM_RUN_ROOM;
}

/* Makes room for everything that one piece may add. The caller must look the piece's resource up
 * again. */
static bool sim_piece_reserve(struct sim_device* device, const struct sim_piece* piece)
{
    for (;;) {
        const struct sim_resource* resource = sim_resource_peek(device, piece->resource);
        if (resource == NULL) {
            return true;
        }
        const struct sim_sparse* pages = &resource->pages;
        const struct sim_run* first = sim_pages_after(pages, piece->at);
        const uint64_t split = first != NULL ? first->memory : 0;
        bool good = true;
        if (pages->runs.unused_count < SIM_RUN_ROOM) {
            good = sim_runs_reserve(device, piece->resource);
        } else if (!sim_memory_has_room(device, piece->memory)) {
            good = sim_bind_reserve(device, piece->memory);
        } else if (!sim_memory_has_room(device, split)) {
            good = sim_bind_reserve(device, split);
        } else {
            return true;
        }
        if (!good) {
            return false;
        }
    }
}

static int sim_piece_order(const void* one, const void* other)
{
    const struct sim_piece* a = one;
    const struct sim_piece* b = other;
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    return a->at < b->at ? -1 : a->at > b->at ? 1 : 0;
}

static void sim_pages_check_overlap(struct sim_device* device, const struct sim_piece* piece)
{
    const struct sim_resource* resource = sim_resource_peek(device, piece->resource);
    const struct sim_memory* memory = sim_object_peek(device, piece->memory, SIM_KIND_MEMORY);
    if (resource == NULL || memory == NULL) {
        return;
    }
    const struct sim_bind bind = {.node.begin = piece->offset,
                                  .node.end = piece->offset + piece->size,
                                  .resource = piece->resource,
                                  .at = piece->at,
                                  .linear = resource->linear};
    sim_bind_check_neighbours(memory, sim_binding, resource, &bind);
}

bool sim_pages_execute(struct sim_device* device, struct sim_piece* pieces, size_t count)
{
    struct sim_gpu* gpu = device->gpu;
    if (count > 1) {
        qsort(pieces, count, sizeof(*pieces), sim_piece_order);
    }
    sim_forget_batch(device, pieces, count);
    for (size_t i = 0; i < count; i++) {
        const struct sim_piece* piece = &pieces[i];
        if (!sim_piece_reserve(device, piece)) {
            return false;
        }
        struct sim_resource* resource = sim_resource_peek(device, piece->resource);
        if (resource == NULL) {
            continue;
        }
        if (i != 0 && pieces[i - 1].resource == piece->resource &&
            pieces[i - 1].at + pieces[i - 1].size > piece->at) {
            sim_violate(gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_TWICE,
                        "a batch binds a part of a resource more than once");
        }
        sim_pages_clear(resource, piece->at, piece->size);
        if (sim_object_peek(device, piece->memory, SIM_KIND_MEMORY) != NULL) {
            const struct sim_bound bound = {
                .at = piece->at,
                .end = piece->at + piece->size,
                .memory = piece->memory,
                .offset = piece->offset,
            };
            sim_run_put(resource, &bound);
            sim_count_bound(resource, piece->size, true);
        }
    }
    gpu->counters.sparseBatchCount++;
    for (size_t i = 0; i < count && (gpu->flags & MAAR_SIMULATED_ALLOW_ALIASING_BIT) == 0; i++) {
        sim_pages_check_overlap(device, &pieces[i]);
    }
    return true;
}

void sim_pages_forget(struct sim_resource* resource)
{
    for (struct sim_run* run = sim_pages_after(&resource->pages, 0); run != NULL;
         run = sim_pages_after(&resource->pages, 0)) {
        sim_run_leave(resource, run);
        sim_tree_remove(&resource->pages.runs, &run->node);
    }
    sim_count_bound(resource, resource->pages.bound, false);
}

void sim_pages_memory_freed(struct sim_memory* memory)
{
    struct sim_device* device = memory->object.device;
    for (const struct sim_bind* bind = sim_tree_after(&memory->binds, 0); bind != NULL;
         bind = sim_tree_next(&bind->node)) {
        struct sim_resource* resource = sim_resource_peek(device, bind->resource);
        if (resource != NULL && resource->sparse) {
            const VkDeviceSize size = bind->node.end - bind->node.begin;
            device->gpu->counters.freedBoundBytes += size;
            sim_pages_clear(resource, bind->at, size);
        }
    }
}

/* Returns whether a memory may be bound there. These checks are common to all binds. */
static bool sim_check_bound_memory(struct sim_device* device, const struct sim_resource* resource,
                                   VkDeviceMemory handle, VkDeviceSize offset, VkDeviceSize size)
{
    const struct sim_requirements* r = &resource->requirements[0];
    if (SIM_HANDLE(handle) == 0) {
        return true;
    }
    const struct sim_memory* memory =
        sim_object_get(device, sim_binding, SIM_HANDLE(handle), SIM_KIND_MEMORY);
    if (memory == NULL) {
        return false;
    }
    if ((r->type_bits >> memory->type & 1u) == 0) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_TYPE,
                    "memory type %u is not in memoryTypeBits 0x%x", memory->type, r->type_bits);
    }
    if (offset % sim_or(r->alignment, 1) != 0) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT,
                    "memoryOffset %llu is not a multiple of %llu", (unsigned long long)offset,
                    (unsigned long long)r->alignment);
    }
    if (memory->dedicated != 0) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_DEDICATED,
                    "the memory is dedicated to another resource");
    }
    if ((memory->share.may_export || memory->share.file.open) &&
        (device->gpu->sharing.sparseBuffers == 0 || resource->object.kind != SIM_KIND_BUFFER)) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "memory that may be exported is bound to a sparse resource");
    } else {
        sim_share_check_bind(resource, memory, sim_binding);
    }
    if (resource->needs_address && !memory->addressable) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the memory lacks VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT");
    }
    if (offset > memory->size || size > memory->size - offset) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                    "%llu bytes at %llu end beyond the memory", (unsigned long long)size,
                    (unsigned long long)offset);
        return false;
    }
    return true;
}

/* Returns whether [offset, offset + size) consists of pages of a part that has `whole` bytes. */
static bool sim_is_pages(VkDeviceSize offset, VkDeviceSize size, VkDeviceSize whole,
                         VkDeviceSize page)
{
    return size != 0 && offset < whole && size <= whole - offset && offset % page == 0 &&
           (size % page == 0 || size == whole - offset);
}

/* Finds the place in a mip tail, or in the metadata, that a bind names. Returns false if the bind
 * names none. */
static bool sim_tail_place(const struct sim_tail* tail, VkDeviceSize page,
                           const VkSparseMemoryBind* bind, VkDeviceSize* at)
{
    for (uint32_t i = 0; i < tail->count; i++) {
        const VkDeviceSize offset = tail->offset + tail->stride * i;
        if (bind->resourceOffset >= offset &&
            sim_is_pages(bind->resourceOffset - offset, bind->size, tail->size, page)) {
            *at = tail->at + tail->at_stride * i + (bind->resourceOffset - offset);
            return true;
        }
    }
    return false;
}

static bool sim_linear_place(const struct sim_resource* resource, const VkSparseMemoryBind* bind,
                             bool opaque, VkDeviceSize* at)
{
    const struct sim_sparse* pages = &resource->pages;
    if ((bind->flags & VK_SPARSE_MEMORY_BIND_METADATA_BIT) != 0) {
        return opaque && sim_tail_place(&pages->metadata, pages->page, bind, at);
    }
    if (opaque && pages->residency) {
        bool found = false;
        for (uint32_t i = 0; i < pages->cut_count && !found; i++) {
            found = sim_tail_place(&pages->cuts[i].tail, pages->page, bind, at);
        }
        return found;
    }
    *at = bind->resourceOffset;
    return sim_is_pages(bind->resourceOffset, bind->size, resource->requirements[0].size,
                        pages->page);
}

/* Collects the pieces of a buffer's binds, or of an image's opaque binds. */
static size_t sim_collect_linear(struct sim_device* device, uint64_t handle, enum sim_kind kind,
                                 uint32_t count, const VkSparseMemoryBind* binds,
                                 struct sim_piece* pieces)
{
    size_t found = 0;
    const struct sim_resource* resource = sim_object_get(device, sim_binding, handle, kind);
    if (resource == NULL || !resource->sparse) {
        if (resource != NULL) {
            sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "the resource is not sparse");
        }
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const VkSparseMemoryBind* bind = &binds[i];
        struct sim_piece piece = {
            .resource = handle,
            .size = bind->size,
            .memory = SIM_HANDLE(bind->memory),
            .offset = bind->memoryOffset,
        };
        const bool placed = sim_linear_place(resource, bind, kind == SIM_KIND_IMAGE, &piece.at);
        if (!placed) {
            sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                        "%llu bytes at %llu are not whole pages of the resource, its mip tail or "
                        "its metadata",
                        (unsigned long long)bind->size, (unsigned long long)bind->resourceOffset);
        }
        if (sim_check_bound_memory(device, resource, bind->memory, bind->memoryOffset,
                                   bind->size) &&
            placed) {
            pieces[found++] = piece;
        }
    }
    return found;
}

/* The first tile and the extent of a bind, in tiles. */
struct sim_box {
    uint32_t x, y, z;
    uint32_t width, height, depth;
};

/* Converts one dimension of a bind to tiles. Returns false when the texels are not whole tiles, or
 * lie beyond the level. */
static bool sim_box_side(int32_t offset, uint32_t extent, uint32_t level_extent, uint32_t tile,
                         uint32_t* first, uint32_t* count)
{
    if (offset < 0 || (uint32_t)offset % tile != 0 || (uint32_t)offset >= level_extent ||
        extent == 0 || extent > level_extent - (uint32_t)offset ||
        (extent % tile != 0 && extent != level_extent - (uint32_t)offset)) {
        return false;
    }
    *first = (uint32_t)offset / tile;
    *count = (extent + tile - 1u) / tile;
    return true;
}

static bool sim_box_of(const struct sim_resource* image, const struct sim_cut* cut,
                       const VkSparseImageMemoryBind* bind, struct sim_box* box)
{
    const VkExtent3D* tile = &cut->format.imageGranularity;
    const uint32_t level = bind->subresource.mipLevel;
    return sim_box_side(bind->offset.x, bind->extent.width,
                        sim_level_extent(image->extent.width, level), tile->width, &box->x,
                        &box->width) &&
           sim_box_side(bind->offset.y, bind->extent.height,
                        sim_level_extent(image->extent.height, level), tile->height, &box->y,
                        &box->height) &&
           sim_box_side(bind->offset.z, bind->extent.depth,
                        sim_level_extent(image->extent.depth, level), tile->depth, &box->z,
                        &box->depth);
}

/* Returns the cut that a bind concerns. Records a violation and returns NULL when the image has no
 * such tiles. */
static const struct sim_cut* sim_check_subresource(struct sim_device* device,
                                                   const struct sim_resource* image,
                                                   const VkImageSubresource* subresource)
{
    const struct sim_cut* cut = sim_sparse_cut(image, subresource->aspectMask);
    if (cut == NULL) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "the image has no tiles of aspect 0x%x", subresource->aspectMask);
    } else if (subresource->mipLevel >= image->mips || subresource->arrayLayer >= image->layers ||
               subresource->mipLevel >= cut->tail_first) {
        sim_violate(
            device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
            "level %u of layer %u does not exist or lies in the mip tail, which begins at level %u",
            subresource->mipLevel, subresource->arrayLayer, cut->tail_first);
        cut = NULL;
    }
    return cut;
}

/* Collects the pieces of a bind of tiles: one piece for each row, where rows that adjoin
 * share one. */
static size_t sim_collect_tiles(struct sim_device* device, const struct sim_resource* image,
                                const VkSparseImageMemoryBind* bind, struct sim_piece* pieces)
{
    const VkDeviceSize page = image->pages.page;
    struct sim_box box;
    const struct sim_cut* cut = sim_check_subresource(device, image, &bind->subresource);
    if (cut == NULL) {
        return 0;
    }
    if (!sim_box_of(image, cut, bind, &box)) {
        sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_BIND_RANGE,
                    "%ux%ux%u texels at %d, %d, %d are not whole tiles of %ux%ux%u",
                    bind->extent.width, bind->extent.height, bind->extent.depth, bind->offset.x,
                    bind->offset.y, bind->offset.z, cut->format.imageGranularity.width,
                    cut->format.imageGranularity.height, cut->format.imageGranularity.depth);
        return 0;
    }
    const VkDeviceSize size = page * box.width * box.height * box.depth;
    if (!sim_check_bound_memory(device, image, bind->memory, bind->memoryOffset, size)) {
        return 0;
    }
    const VkExtent3D level = sim_sparse_tiles(image, cut, bind->subresource.mipLevel);
    const VkDeviceSize base =
        sim_sparse_level_at(image, cut, bind->subresource.arrayLayer, bind->subresource.mipLevel);
    size_t found = 0;
    for (uint32_t row = 0; row < box.height * box.depth; row++) {
        const VkDeviceSize y = box.y + row % box.height;
        const VkDeviceSize z = box.z + row / box.height;
        const struct sim_piece piece = {
            .resource = image->object.handle,
            .at = base + ((z * level.height + y) * level.width + box.x) * page,
            .size = box.width * page,
            .memory = SIM_HANDLE(bind->memory),
            .offset = bind->memoryOffset + page * box.width * row,
        };
        struct sim_piece* last = found != 0 ? &pieces[found - 1] : NULL;
        if (last != NULL && last->at + last->size == piece.at) {
            last->size += piece.size;
        } else {
            pieces[found++] = piece;
        }
    }
    return found;
}

static size_t sim_collect_image(struct sim_device* device, const VkSparseImageMemoryBindInfo* binds,
                                struct sim_piece* pieces)
{
    size_t found = 0;
    const struct sim_resource* image =
        sim_object_get(device, sim_binding, SIM_HANDLE(binds->image), SIM_KIND_IMAGE);
    if (image == NULL || !image->pages.residency) {
        if (image != NULL) {
            sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "the image was not created with sparse residency");
        }
        return 0;
    }
    for (uint32_t i = 0; i < binds->bindCount; i++) {
        if (binds->pBinds[i].flags != 0) {
            sim_violate(device->gpu, sim_binding, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "tiles are bound with flags 0x%x", binds->pBinds[i].flags);
        }
        found += sim_collect_tiles(device, image, &binds->pBinds[i], pieces + found);
    }
    return found;
}

size_t sim_pages_count(const struct sim_device* device, const VkBindSparseInfo* info)
{
    size_t count = 0;
    for (uint32_t i = 0; i < info->bufferBindCount; i++) {
        count += info->pBufferBinds[i].bindCount;
    }
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++) {
        count += info->pImageOpaqueBinds[i].bindCount;
    }
    for (uint32_t i = 0; i < info->imageBindCount; i++) {
        const VkSparseImageMemoryBindInfo* binds = &info->pImageBinds[i];
        const struct sim_resource* image =
            sim_object_peek(device, SIM_HANDLE(binds->image), SIM_KIND_IMAGE);
        for (uint32_t k = 0; image != NULL && image->pages.residency && k < binds->bindCount; k++) {
            const VkSparseImageMemoryBind* bind = &binds->pBinds[k];
            const struct sim_cut* cut = sim_sparse_cut(image, bind->subresource.aspectMask);
            struct sim_box box;
            count += cut != NULL && sim_box_of(image, cut, bind, &box)
                         ? (size_t)box.height * box.depth
                         : 0;
        }
    }
    return count;
}

size_t sim_pages_collect(struct sim_device* device, const VkBindSparseInfo* info,
                         struct sim_piece* pieces)
{
    size_t found = 0;
    uint64_t binds = 0;
    for (uint32_t i = 0; i < info->bufferBindCount; i++) {
        const VkSparseBufferMemoryBindInfo* buffer = &info->pBufferBinds[i];
        found += sim_collect_linear(device, SIM_HANDLE(buffer->buffer), SIM_KIND_BUFFER,
                                    buffer->bindCount, buffer->pBinds, pieces + found);
        binds += buffer->bindCount;
    }
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++) {
        const VkSparseImageOpaqueMemoryBindInfo* opaque = &info->pImageOpaqueBinds[i];
        found += sim_collect_linear(device, SIM_HANDLE(opaque->image), SIM_KIND_IMAGE,
                                    opaque->bindCount, opaque->pBinds, pieces + found);
        binds += opaque->bindCount;
    }
    for (uint32_t i = 0; i < info->imageBindCount; i++) {
        found += sim_collect_image(device, &info->pImageBinds[i], pieces + found);
        binds += info->pImageBinds[i].bindCount;
    }
    device->gpu->counters.sparseBindCount += binds;
    return found;
}

bool sim_pages_have(const struct sim_resource* resource, VkDeviceSize first, VkDeviceSize end)
{
    const struct sim_run* run = sim_pages_after(&resource->pages, first);
    return run != NULL && run->node.begin < end;
}

bool sim_pages_lie_in(const struct sim_resource* resource, VkDeviceSize at, VkDeviceSize size,
                      uint64_t memory)
{
    for (const struct sim_run* run = sim_pages_after(&resource->pages, at); run != NULL;
         run = sim_tree_next(&run->node)) {
        if (run->node.begin >= at && run->node.begin - at >= size) {
            break;
        }
        if (run->memory == memory) {
            return true;
        }
    }
    return false;
}

void sim_pages_check_use(const struct sim_resource* resource, enum sim_function function)
{
    const struct sim_sparse* pages = &resource->pages;
    const VkDeviceSize size = resource->requirements[0].size;
    if (!pages->residency && pages->bound != size) {
        sim_violate(resource->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_UNBOUND,
                    "only %llu of the %llu bytes of a sparse resource without residency are bound "
                    "to memory",
                    (unsigned long long)pages->bound, (unsigned long long)size);
        return;
    }
    const struct sim_tail* metadata = &pages->metadata;
    VkDeviceSize bound = 0;
    for (const struct sim_run* run = sim_pages_after(pages, metadata->at);
         metadata->size != 0 && run != NULL; run = sim_tree_next(&run->node)) {
        bound += sim_run_size(run);
    }
    if (bound != metadata->size) {
        sim_violate(resource->object.device->gpu, function, MAAR_SIMULATED_VIOLATION_UNBOUND,
                    "the metadata of a sparse image is not bound to memory");
    }
}
