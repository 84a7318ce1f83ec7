/*
 * Random programs whose residents need several times the memory of the device: they are written,
 * read, prefetched, evicted, locked and destroyed, budgets change, uses are cancelled, and the
 * host's work is done now or later. Every byte that a use reads is compared with what was written
 * last. On simulated devices submissions are held back and executed in a random order. The
 * validation layer, where it is installed, checks the commands.
 *
 * In some programs the file fails, is full or altered, and simulated devices are lost: the program
 * goes on with another device and what lay below the memory of the first one.
 *
 * MAAR_TEST_STEPS sets the number of steps, at least 600, MAAR_TEST_SEED the seed.
 */
#include "core/residency/residency_work.h"
#include "tests/device/resident_commands.h"
#include "tests/device/resident_files.h"

enum {
    RESIDENTS = 48,
    MOST_SIZE = 64 * 1024,
    STEPS = 1500,
    MOST_USES = 6,
    READS = 8,
    MOST_SIDE = 96
};

/* The contents that a resident must have. */
struct model {
    MaarResident handle; /* or null */
    bool is_image;
    bool is_discardable;
    bool has_source;
    bool is_original; /* not written since it was created: its source has the contents, too */
    bool is_defined;
    bool is_altered;     /* a copy in the file, perhaps one that is not there any more */
    bool is_lost;        /* the file could not be read, and no use was refused for it yet */
    uint32_t checkpoint; /* that it was created with, or NO_CHECKPOINT */
    VkDeviceSize offset; /* of a range */
    MaarSparseImage sparse;
    MaarArray array;
    VkImageCreateInfo image;
    VkDeviceSize size;
    uint32_t lock_count;
    uint8_t source[MOST_SIZE];
    uint8_t bytes[MOST_SIZE];
};

/* A copy that the device makes of a resident, compared later. */
struct read {
    bool is_open;
    VkBuffer buffer;
    MaarAllocation memory;
    VkDeviceSize size;
    MaarPoint end;
    uint8_t bytes[MOST_SIZE];
};

static struct rig_random dice;
static struct model models[RESIDENTS];
static struct read reads[READS];
static MaarResidency residency;
static MaarReservation reservation; /* a range for each model; or null */
static bool has_sparse_images;
static VkDeviceSize device_budget;
static uint32_t next_read;
static uint32_t vendor; /* of the simulated device */
static struct {
    uint32_t uses, paged, cancelled, compared, not_ready, too_much, demoted, dropped, yielded;
    uint32_t altered, lost, refused;                 /* copies in a file */
    uint32_t devices, survived, with_source, missed; /* devices, and contents to them */
} counts;

static struct {
    uint32_t failed, lost, survived; /* transfers and contents of all programs */
    uint64_t steps, restored, saved; /* of those in which nothing fails */
} totals;

static uint32_t below(uint32_t bound)
{
    return rig_below(&dice, bound);
}

/* ---- residents ---- */

static VkResult VKAPI_PTR read_source(void* data, VkDeviceSize size, void* bytes)
{
    const struct model* model = data;
    memcpy(bytes, model->source, size);
    return VK_SUCCESS;
}

/* Fills bytes at random; now and then with zeros or one byte, which compress. */
static void fill(uint8_t* bytes, VkDeviceSize size)
{
    const uint32_t kind = below(3);
    const uint32_t first = rig_next(&dice);
    for (VkDeviceSize i = 0; i < size; ++i) {
        bytes[i] = kind == 0 ? 0 : kind == 1 ? (uint8_t)first : (uint8_t)(first * (i | 1) >> 3);
    }
}

/* Makes an array the resident, or the buffer one of pages. */
static void make_stitched(struct model* model, MaarResidentCreateInfo* info)
{
    VkBufferCreateInfo buffer = rig_buffer_info(MOST_SIZE);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarArrayCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 4,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                        .pBufferInfo = &buffer},
    };
    if (model->size != MOST_SIZE || below(2) == 0) {
        info->flags |= MAAR_RESIDENT_CREATE_STITCHED_BIT;
        return;
    }
    assert_int_equal(maarCreateArray(rig.allocator, &how, &model->array), VK_SUCCESS);
    info->pBufferInfo = NULL;
    info->array = model->array;
    info->size = VK_WHOLE_SIZE;
}

/* Makes pages of the model a resident, where the device has that. */
static bool make_paged(struct model* model, MaarResidentCreateInfo* info)
{
    const size_t number = (size_t)(model - models);
    if (model->is_image && has_sparse_images) {
        model->image.usage |= VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
        const MaarSparseImageCreateInfo how = {
            .sType = MAAR_STRUCTURE_TYPE_SPARSE_IMAGE_CREATE_INFO, .pImageInfo = &model->image};
        assert_int_equal(maarCreateSparseImage(rig.allocator, &how, &model->sparse), VK_SUCCESS);
        info->pImageInfo = NULL;
        info->sparseImage = model->sparse;
        return true;
    }
    if (!model->is_image && reservation != VK_NULL_HANDLE && below(2) == 0) {
        make_stitched(model, info);
        return true;
    }
    if (!model->is_image && reservation != VK_NULL_HANDLE && model->size == MOST_SIZE) {
        model->offset = number * MOST_SIZE;
        info->pBufferInfo = NULL;
        info->reservation = reservation;
        info->offset = model->offset;
        info->size = model->size;
        return true;
    }
    return false;
}

/* Makes the resident of a model, with its source or its checkpoint. */
static void make_resident(struct model* model, bool is_paged)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(model->size);
    const bool has_checkpoint = model->checkpoint != NO_CHECKPOINT;
    MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = model->is_discardable ? MAAR_RESIDENT_CREATE_DISCARDABLE_BIT : 0,
        .pBufferInfo = model->is_image ? NULL : &buffer,
        .pImageInfo = model->is_image ? &model->image : NULL,
        .priorityClass = below(8) == 0 ? 1 : 0,
        .pfnRead = model->has_source ? read_source : NULL,
        .pSourceUserData = model,
        .key = 1 + (uint64_t)(model - models),
        .checkpoint = has_checkpoint ? checkpoints[model->checkpoint].handle : VK_NULL_HANDLE,
        .pUserData = model,
    };
    model->offset = 0;
    model->sparse = VK_NULL_HANDLE;
    model->array = VK_NULL_HANDLE;
    model->lock_count = 0;
    if (is_paged && make_paged(model, &info)) {
        ++counts.paged;
    }
    assert_int_equal(maarCreateResident(rig.allocator, residency, &info, &model->handle),
                     VK_SUCCESS);
    if (model->array != VK_NULL_HANDLE) {
        assert_int_equal(maarAppendArray(rig.allocator, model->array, model->size / 4, NULL),
                         VK_SUCCESS);
    }
}

static void create_model(struct model* model)
{
    memset(model, 0, sizeof *model);
    model->checkpoint = NO_CHECKPOINT;
    model->is_image = below(2) == 0;
    model->has_source = below(4) == 0;
    model->is_discardable = !model->has_source && below(6) == 0;
    model->image = rig_image_info(1 + below(MOST_SIDE), 1 + below(MOST_SIDE));
    model->image.format = VK_FORMAT_R8G8B8A8_UNORM;
    model->image.mipLevels = 1;
    model->image.arrayLayers = 1;
    model->image.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    const bool is_paged = below(3) == 0;
    const bool is_range = is_paged && !model->is_image && reservation != VK_NULL_HANDLE;
    model->size = model->is_image
                      ? UINT64_C(4) * model->image.extent.width * model->image.extent.height
                  : is_range ? (VkDeviceSize)MOST_SIZE
                             : UINT64_C(4) * (1 + below(48 * 256));
    model->is_defined = model->has_source;
    model->is_original = model->has_source;
    fill(model->source, model->size);
    memcpy(model->bytes, model->source, model->size);
    make_resident(model, is_paged);
}

/* Names the checkpoint that a model needs, in place of the one before. */
static void use_checkpoint(struct model* model, uint32_t checkpoint)
{
    if (checkpoint != NO_CHECKPOINT) {
        ++checkpoints[checkpoint].users;
    }
    if (model->checkpoint != NO_CHECKPOINT) {
        --checkpoints[model->checkpoint].users;
    }
    model->checkpoint = checkpoint;
}

/* Destroys a resident, and its sparse image after the last use. */
static void destroy_model(struct model* model)
{
    const MaarPoint end = {timeline, submitted};
    maarDestroyResident(rig.allocator, residency, model->handle);
    model->handle = VK_NULL_HANDLE;
    use_checkpoint(model, NO_CHECKPOINT);
    if (model->sparse != VK_NULL_HANDLE) {
        assert_int_equal(maarDestroySparseImageAfter(rig.allocator, model->sparse, 1, &end),
                         VK_SUCCESS);
    }
    assert_int_equal(maarDestroyArrayAfter(rig.allocator, model->array, 1, &end), VK_SUCCESS);
}

static void transition(VkCommandBuffer into, VkImage image, VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier change = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &change);
}

/* ---- reads ---- */

static void finish_read(struct read* read)
{
    static uint8_t found[MOST_SIZE];
    if (!read->is_open) {
        return;
    }
    wait_for(read->end.value);
    assert_int_equal(maarCopyFromAllocation(rig.allocator, read->memory, 0, read->size, found),
                     VK_SUCCESS);
    assert_memory_equal(found, read->bytes, read->size);
    maarDestroyBuffer(rig.allocator, read->buffer, read->memory);
    read->is_open = false;
    ++counts.compared;
}

static VkBufferImageCopy whole(const struct model* model)
{
    return (VkBufferImageCopy){.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = model->image.extent};
}

/* Records a copy of the contents, to be compared later. */
static struct read* record_read(VkCommandBuffer into, struct model* model,
                                const MaarResidentObject* object)
{
    struct read* read = &reads[next_read++ % READS]; /* not one of the same submission */
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    finish_read(read);
    VkBufferCreateInfo info = rig_buffer_info(model->size);
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &read->buffer, &read->memory),
                     VK_SUCCESS);
    read->size = model->size;
    memcpy(read->bytes, model->bytes, model->size);
    read->is_open = true;
    if (model->is_image) {
        const VkBufferImageCopy region = whole(model);
        transition(into, object->image, object->layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        vkCmdCopyImageToBuffer(into, object->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               read->buffer, 1, &region);
    } else {
        const VkBufferCopy region = {.srcOffset = model->offset, .size = model->size};
        vkCmdCopyBuffer(into, object->buffer, read->buffer, 1, &region);
    }
    return read;
}

/* Records new contents. They come from a buffer, which is returned. */
static VkBuffer record_write(VkCommandBuffer into, struct model* model,
                             const MaarResidentObject* object, VkDeviceSize begin,
                             MaarAllocation* memory)
{
    VkBuffer staging = VK_NULL_HANDLE;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    VkBufferCreateInfo info = rig_buffer_info(model->size);
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    assert_int_equal(maarCreateBuffer(rig.allocator, &info, &how, &staging, memory), VK_SUCCESS);
    fill(model->bytes + begin, model->size - begin);
    assert_int_equal(maarCopyToAllocation(rig.allocator, *memory, 0, model->size, model->bytes),
                     VK_SUCCESS);
    if (model->is_image) {
        const VkBufferImageCopy region = whole(model);
        transition(into, object->image, object->layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        vkCmdCopyBufferToImage(into, staging, object->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                               1, &region);
    } else {
        const VkBufferCopy region = {begin, model->offset + begin, model->size - begin};
        vkCmdCopyBuffer(into, staging, object->buffer, 1, &region);
    }
    return staging;
}

/* ---- uses ---- */

/* A use of distinct residents. */
struct plan {
    uint32_t count;
    struct model* models[MOST_USES];
    MaarResidentUse uses[MOST_USES];
    VkDeviceSize begins[MOST_USES]; /* the first byte that a write changes */
};

static struct plan make_plan(void)
{
    struct plan plan = {.count = 0};
    const uint32_t wanted = 1 + below(MOST_USES);
    for (uint32_t i = 0; i < 2 * wanted && plan.count < wanted; ++i) {
        struct model* model = &models[below(RESIDENTS)];
        bool is_new = model->handle != VK_NULL_HANDLE;
        for (uint32_t k = 0; k < plan.count; ++k) {
            is_new = is_new && plan.models[k] != model;
        }
        if (!is_new) {
            continue;
        }
        MaarResidentUse* use = &plan.uses[plan.count];
        *use = (MaarResidentUse){.resident = model->handle};
        plan.begins[plan.count] = 0;
        plan.models[plan.count++] = model;
        if ((model->is_defined || model->is_lost) && below(3) != 0) {
            use->access = MAAR_ACCESS_READ_BIT;
            use->finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        } else {
            const bool is_part = !model->is_image && model->is_defined && below(2) == 0;
            use->access = is_part ? MAAR_ACCESS_WRITE_BIT : MAAR_ACCESS_OVERWRITE_BIT;
            use->finalLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
            plan.begins[plan.count - 1] = is_part ? model->size / 8 * 4 : 0;
        }
    }
    return plan;
}

static void do_work(void)
{
    uint32_t done = 0;
    const VkResult result = maarWorkResidency(rig.allocator, residency, below(4), &done);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
}

/* Submits what a use has brought. */
static void carry_out(const struct plan* plan, const MaarResidentObject* objects,
                      const MaarUseInfo* info, MaarUse use)
{
    VkBuffer staging[MOST_USES] = {VK_NULL_HANDLE};
    MaarAllocation memory[MOST_USES] = {VK_NULL_HANDLE};
    struct read* opened[MOST_USES] = {NULL};
    VkCommandBuffer into = begin_commands();
    barrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    for (uint32_t i = 0; i < plan->count; ++i) {
        struct model* model = plan->models[i];
        if (objects[i].isFresh == VK_TRUE && model->is_defined &&
            plan->uses[i].access != MAAR_ACCESS_OVERWRITE_BIT) {
            assert_true(model->is_discardable);
            ++counts.dropped;
            model->is_defined = false;
        }
        if (plan->uses[i].access == MAAR_ACCESS_READ_BIT) {
            if (model->is_defined) {
                opened[i] = record_read(into, model, &objects[i]);
            } else if (model->is_image) {
                transition(into, objects[i].image, objects[i].layout,
                           VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
            }
        } else {
            const VkDeviceSize begin = model->is_defined ? plan->begins[i] : 0;
            staging[i] = record_write(into, model, &objects[i], begin, &memory[i]);
            model->is_defined = true;
            model->is_original = false;
            model->is_altered = false;
            model->is_lost = false;
        }
    }
    const MaarPoint end = submit_commands(info);
    for (uint32_t i = 0; i < plan->count; ++i) {
        if (staging[i] != VK_NULL_HANDLE) {
            assert_int_equal(maarDestroyBufferAfter(rig.allocator, staging[i], memory[i], 1, &end),
                             VK_SUCCESS);
        }
        if (opened[i] != NULL) {
            opened[i]->end = end;
        }
    }
    assert_int_equal(maarEndUse(rig.allocator, residency, use, 1, &end), VK_SUCCESS);
    ++counts.uses;
}

/* A use is refused for contents that were lost, once. */
static void accept_loss(const struct plan* plan)
{
    bool has_lost = false;
    for (uint32_t i = 0; i < plan->count; ++i) {
        has_lost = has_lost ||
                   (plan->models[i]->is_lost && plan->uses[i].access != MAAR_ACCESS_OVERWRITE_BIT);
        plan->models[i]->is_lost = false;
    }
    assert_true(has_lost);
    ++counts.refused;
    rig_forget_messages(&rig);
}

static void use_some(void)
{
    const struct plan plan = make_plan();
    MaarResidentObject objects[MOST_USES];
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    MaarUseFlags flags = below(3) == 0 ? MAAR_USE_MAY_DEMOTE_BIT : 0;
    flags |= below(2) == 0 ? (MaarUseFlags)MAAR_USE_WAIT_BIT : 0;
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = flags,
        .useCount = plan.count,
        .pUses = plan.uses,
    };
    if (plan.count == 0) {
        return;
    }
    const VkResult result = maarBeginUse(rig.allocator, residency, &begin, objects, &info, &use);
    if (result == VK_NOT_READY) {
        ++counts.not_ready;
        return;
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        ++counts.too_much;
        assert_true(info.missingSize > 0);
        rig_forget_messages(&rig);
        return;
    }
    if (result == VK_ERROR_INITIALIZATION_FAILED) {
        accept_loss(&plan);
        return;
    }
    if (result != VK_SUCCESS) {
        print_error("%d %s\n", result, rig.messages.last);
    }
    assert_int_equal(result, VK_SUCCESS);
    for (uint32_t i = 0; i < plan.count; ++i) {
        assert_true(!plan.models[i]->is_lost || plan.uses[i].access == MAAR_ACCESS_OVERWRITE_BIT);
    }
    counts.demoted += info.demotedSize > 0 ? 1 : 0;
    if (below(8) == 0) {
        maarCancelUse(rig.allocator, residency, use);
        ++counts.cancelled;
        for (uint32_t i = 0; i < plan.count; ++i) {
            if (objects[i].isFresh == VK_TRUE && plan.models[i]->is_discardable &&
                plan.uses[i].access != MAAR_ACCESS_OVERWRITE_BIT) {
                plan.models[i]->is_defined = false;
            }
        }
        return;
    }
    carry_out(&plan, objects, &info, use);
}

/* ---- the program ---- */

static bool file_fails;           /* in the present program */
static uint32_t lost_to_the_file; /* contents of the present manager */

/* Contents are lost once, and only where a file fails. */
static void VKAPI_PTR note_event(void* data, const MaarResidencyEvent* event)
{
    struct model* model = event->pUserData;
    (void)data;
    if (event->reason == MAAR_RESIDENCY_REASON_LOST) {
        assert_true(file_fails && model->is_defined && !model->is_original);
        model->is_defined = false;
        model->is_lost = true;
        ++lost_to_the_file;
        ++counts.lost;
    }
}

static void check_state(void)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    const struct maar_residency* state =
        maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency));
    const char* broken = maar_residency_check(state);
    if (broken != NULL) {
        print_error("%s\n", broken);
    }
    assert_null(broken);
    assert_int_equal(maarGetResidencyInfo(rig.allocator, residency, &info), VK_SUCCESS);
    assert_int_equal(info.pinCount, 0);
    assert_int_equal(info.lostCount, lost_to_the_file);
    assert_true(info.tiers[MAAR_TIER_COMPRESSED].peakSize <=
                info.tiers[MAAR_TIER_COMPRESSED].budget);
}

static void change_budget(void)
{
    const VkDeviceSize budget = device_budget / 4 * (2 + below(5));
    assert_int_equal(maarSetResidencyBudget(rig.allocator, residency, MAAR_TIER_DEVICE, budget),
                     VK_SUCCESS);
}

/* Another request needs memory. */
static void yield_memory(void)
{
    VkDeviceSize released = 0;
    const VkResult result =
        maarYieldResidency(rig.allocator, residency, UINT32_MAX, MOST_SIZE * (1 + below(4)),
                           below(2) == 0 ? 0 : 10000000000, &released);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
    counts.yielded += released > 0 ? 1 : 0;
}

/* Changes a byte of a copy in the file, where the file fails. */
static void alter_file(void)
{
    const struct maar_residency* state =
        maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency));
    struct model* model = &models[below(RESIDENTS)];
    const struct maar_resident* resident =
        model->handle != VK_NULL_HANDLE ? maar_resident_of(state, model->handle) : NULL;
    if (disk.fails > 0 && resident != NULL && resident->extent.length > 0) {
        disk.bytes[resident->extent.offset + below((uint32_t)resident->extent.length)] ^= 0x40;
        model->is_altered = true;
        ++counts.altered;
    }
}

static void hint(struct model* model)
{
    const uint32_t what = below(4);
    if (what == 0) {
        assert_int_equal(maarEvictResident(rig.allocator, residency, model->handle), VK_SUCCESS);
    } else if (what == 1 && model->lock_count == 0) {
        assert_int_equal(maarLockResident(rig.allocator, residency, model->handle), VK_SUCCESS);
        ++model->lock_count;
    } else if (model->lock_count > 0) {
        assert_int_equal(maarUnlockResident(rig.allocator, residency, model->handle), VK_SUCCESS);
        --model->lock_count;
    } else {
        assert_int_equal(maarPrefetchResidents(rig.allocator, residency, 1, &model->handle),
                         VK_SUCCESS);
    }
}

static void step(void)
{
    struct model* model = &models[below(RESIDENTS)];
    switch (below(16)) {
    case 0:
        assert_int_equal(maarUpdateResidency(rig.allocator, residency, NULL), VK_SUCCESS);
        break;
    case 1:
        do_work();
        break;
    case 2:
        if (model->handle != VK_NULL_HANDLE) {
            hint(model);
        }
        break;
    case 3:
        if (model->handle != VK_NULL_HANDLE && below(3) == 0) {
            destroy_model(model);
        }
        break;
    case 4:
        if (below(8) == 0) {
            change_budget();
        }
        if (below(8) == 0) {
            yield_memory();
        }
        if (below(4) == 0) {
            alter_file();
        }
        if (rig.simulated) {
            (void)maarSimulatedExecuteSubmissions(rig.physical, below(6));
        }
        break;
    default:
        if (model->handle == VK_NULL_HANDLE) {
            create_model(model);
        }
        use_some();
        break;
    }
}

static void open_pages(void)
{
    MaarPagingInfo paging = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    VkBufferCreateInfo buffer = rig_buffer_info((VkDeviceSize)RESIDENTS * MOST_SIZE);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarReservationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                           .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                                           .pBufferInfo = &buffer};
    assert_int_equal(maarGetPagingInfo(rig.allocator, &paging), VK_SUCCESS);
    has_sparse_images = paging.sparseImages2D == VK_TRUE;
    reservation = VK_NULL_HANDLE;
    if (paging.sparseReservations == VK_TRUE) {
        assert_int_equal(maarCreateReservation(rig.allocator, &how, &reservation), VK_SUCCESS);
    }
}

/* What lies below the device. */
struct tiers {
    const char* name;
    VkDeviceSize host;
    VkDeviceSize compressed;
    VkDeviceSize file;
    bool fails; /* the file, and simulated devices are lost */
};

static const struct tiers variants[] = {
    {"host", 4096 * KIB, 0, 0, false},
    {"host, compressed, file", 512 * KIB, 256 * KIB, FILE_SIZE, false},
    {"host, file", 512 * KIB, 0, FILE_SIZE, false},
    {"host, compressed", 4096 * KIB, 2048 * KIB, 0, false},
    {"a small host, compressed, file", 192 * KIB, 64 * KIB, FILE_SIZE, false},
};

/* What fails: the file now and then, a small file that is full, and devices. */
static const struct tiers failing[] = {
    {"host and a failing file", 512 * KIB, 0, FILE_SIZE, true},
    {"a small host, compressed, a failing file", 192 * KIB, 64 * KIB, FILE_SIZE, true},
    {"host, compressed, a small failing file", 1024 * KIB, 128 * KIB, 256 * KIB, true},
};
static const struct tiers* tiers; /* of the present program */

/* Opens a manager on the open rig. */
static void open_manager(void)
{
    const MaarFileStore file = file_of(tiers->file);
    open_commands();
    open_pages();
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue_index,
        .deviceBudget = device_budget,
        .hostBudget = tiers->host,
        .compressedBudget = tiers->compressed,
        .pFileStore = tiers->file > 0 ? &file : NULL,
        .pfnEvent = note_event,
    };
    lost_to_the_file = 0;
    memset(reads, 0, sizeof reads);
    assert_int_equal(maarCreateResidency(rig.allocator, &info, &residency), VK_SUCCESS);
    if (tiers->file > 0 && file_ring.turn++ % 2 == 0) {
        give_ring(maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency)),
                  &file);
    }
}

static MaarResidencyInfo close_manager(void)
{
    MaarResidencyInfo end = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    assert_int_equal(maarGetResidencyInfo(rig.allocator, residency, &end), VK_SUCCESS);
    maarDestroyResidency(rig.allocator, residency);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (models[i].handle != VK_NULL_HANDLE) {
            maarDestroySparseImage(rig.allocator, models[i].sparse);
            maarDestroyArray(rig.allocator, models[i].array);
        }
    }
    maarDestroyReservation(rig.allocator, reservation);
    return end;
}

static void print_counts(uint32_t steps, const MaarResidencyInfo* end)
{
    print_message(
        "%s: %u steps: %u paged, %u uses, %u cancelled, %u compared, %u not ready, %u "
        "too large, %u "
        "demoted, %u dropped, %u yielded; %llu restored, %llu saved, %llu clean; %llu compressed, "
        "%llu written\n",
        tiers->name, steps, counts.paged, counts.uses, counts.cancelled, counts.compared,
        counts.not_ready, counts.too_much, counts.demoted, counts.dropped, counts.yielded,
        (unsigned long long)end->tiers[MAAR_TIER_DEVICE].restoredCount,
        (unsigned long long)end->tiers[MAAR_TIER_HOST].savedCount,
        (unsigned long long)end->tiers[MAAR_TIER_DEVICE].cleanCount,
        (unsigned long long)end->tiers[MAAR_TIER_COMPRESSED].savedCount,
        (unsigned long long)end->tiers[MAAR_TIER_FILE].savedCount);
    if (tiers->fails) {
        print_message("%u transfers failed, %u copies altered: %u contents lost, %u uses refused; "
                      "%u devices lost: %u "
                      "contents in checkpoints, %u in their sources, %u missing\n",
                      disk.failed, counts.altered, counts.lost, counts.refused, counts.devices,
                      counts.survived, counts.with_source, counts.missed);
    }
}

/* ---- losses of devices ---- */

static void open_simulated(void)
{
    const struct rig_setup setup = {
        .profile = rig_profile_file(rig_vendors[vendor]),
        .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                 MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                 MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT,
        .paging = true,
    };
    rig_open(&rig, &setup);
    maarSimulatedSetOrder(rig.physical, rig_next(&dice));
    rig_make_allocator(&rig);
}

/* The device is lost, though the manager does not know yet, and so are the bytes of mapped memory.
 */
static void break_device(const struct maar_residency* state)
{
    rig_set_fault(&rig, "vkQueueSubmit", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkQueueSubmit(rig.queue, 0, NULL, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    for (uint32_t i = 0; i < state->resident_count; ++i) {
        const struct maar_resident* resident = &state->residents[i];
        if (resident->host_buffer != VK_NULL_HANDLE) {
            memset(resident->host_data, 0xEE, (size_t)resident->content_size);
        }
    }
}

/* What a program does before it sees the loss. */
static void stumble_on(void)
{
    for (uint32_t i = 0; i < 4; ++i) {
        struct model* model = &models[below(RESIDENTS)];
        const MaarResidentUse wanted = {.resident = model->handle, .access = MAAR_ACCESS_READ_BIT};
        const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                        .flags = MAAR_USE_WAIT_BIT,
                                        .useCount = 1,
                                        .pUses = &wanted};
        MaarUse use = VK_NULL_HANDLE;
        do_work();
        (void)maarUpdateResidency(rig.allocator, residency, NULL);
        if (model->handle != VK_NULL_HANDLE &&
            maarBeginUse(rig.allocator, residency, &begin, NULL, NULL, &use) == VK_SUCCESS) {
            maarCancelUse(rig.allocator, residency, use);
        }
    }
    rig_forget_messages(&rig);
}

/* Whether a checkpoint must have the contents of a model, if the file can be read: they lie below
 * the memory that was lost, and no source has them. */
static bool is_kept_below(const struct maar_residency* state, const struct model* model)
{
    const struct maar_resident* resident = maar_resident_of(state, model->handle);
    return !maar_resident_has(resident, MAAR_TIER_SOURCE) &&
           (maar_resident_has(resident, MAAR_TIER_COMPRESSED) ||
            (maar_resident_has(resident, MAAR_TIER_FILE) && !model->is_altered));
}

/* What the checkpoint has of a model is right. Returns whether it has anything. */
static bool survives(const struct model* model, const struct checkpoint* checkpoint)
{
    static uint8_t found[MOST_SIZE];
    const VkResult result =
        maarReadCheckpoint(checkpoint->handle, 1 + (uint64_t)(model - models), model->size, found);
    assert_true(result == VK_SUCCESS || result == VK_ERROR_FEATURE_NOT_PRESENT);
    if (result == VK_SUCCESS) {
        assert_true(model->is_defined);
        assert_memory_equal(found, model->bytes, model->size);
    }
    return result == VK_SUCCESS;
}

/* Makes the resident of a model on the next device, from what has its contents. */
static void recover(struct model* model, uint32_t written)
{
    if (survives(model, &checkpoints[written])) {
        use_checkpoint(model, written);
        model->is_original = true;
        ++counts.survived;
    } else if (model->is_original) {
        ++counts.with_source;
    } else {
        use_checkpoint(model, NO_CHECKPOINT);
        counts.missed += model->is_defined ? 1 : 0;
        model->is_defined = model->has_source;
        model->is_original = model->has_source;
        memcpy(model->bytes, model->source, model->size);
    }
    model->is_altered = false;
    model->is_lost = false;
    make_resident(model, below(3) == 0);
}

/* Loses the device, writes what is left to a checkpoint, and goes on with another device. */
static void lose_device(void)
{
    MaarCheckpointInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_INFO};
    struct maar_residency* state =
        maar_object_of(rig.allocator, MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(residency));
    const uint32_t written = make_checkpoint();
    bool is_kept[RESIDENTS];
    break_device(state);
    stumble_on();
    (void)maar_work_take(state, "test"); /* reads that have failed */
    disk.fails = below(2) == 0 ? disk.fails : 0;
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        is_kept[i] = models[i].handle != VK_NULL_HANDLE && is_kept_below(state, &models[i]);
    }
    const VkResult result =
        maarWriteCheckpoint(rig.allocator, residency, &checkpoints[written].store, &info);
    assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
    assert_int_equal(result == VK_INCOMPLETE, info.missingCount > 0);
    open_checkpoint(written);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (is_kept[i] && disk.fails == 0) {
            assert_true(survives(&models[i], &checkpoints[written]));
        }
    }
    for (uint32_t i = 0; i < READS; ++i) {
        if (reads[i].is_open) {
            maarDestroyBuffer(rig.allocator, reads[i].buffer, reads[i].memory);
        }
    }
    (void)close_manager();
    close_commands();
    rig_close(&rig);
    vendor = (vendor + 1) % RIG_VENDORS;
    disk.fails = 60;
    open_simulated();
    open_manager();
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (models[i].handle != VK_NULL_HANDLE) {
            recover(&models[i], written);
        }
    }
    close_checkpoints();
    ++counts.devices;
}

/* Plays a random program. The rig is open, with a queue. */
static void play(const struct tiers* of)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : STEPS;
    tiers = of;
    dice.state = rig_seed(3);
    memset(&counts, 0, sizeof counts);
    memset(models, 0, sizeof models);
    disk.dice.state = dice.state + 1;
    disk.failed = 0;
    file_fails = tiers->fails;
    disk.fails = file_fails ? 60 : 0;
    device_budget = 1024 * KIB;
    open_manager();
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        check_state();
        if (i % 100 == 0) {
            rig_check(&rig);
        }
        if (tiers->fails && rig.simulated && below(400) == 0) {
            lose_device();
        }
    }
    for (uint32_t i = 0; i < READS; ++i) {
        finish_read(&reads[i]);
    }
    const MaarResidencyInfo end = close_manager();
    print_counts(steps, &end);
    totals.failed += disk.failed;
    totals.lost += counts.lost;
    totals.survived += counts.survived;
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (models[i].handle != VK_NULL_HANDLE) {
            use_checkpoint(&models[i], NO_CHECKPOINT);
        }
    }
    close_checkpoints();
    assert_true(counts.compared > steps / 8);
    if (tiers->fails) {
        assert_true(counts.lost >= counts.refused);
    } else {
        assert_true(tiers->file == 0 || end.tiers[MAAR_TIER_FILE].peakSize > 0);
        assert_true(end.tiers[MAAR_TIER_FILE].peakSize >= end.tiers[MAAR_TIER_FILE].size);
        totals.steps += steps;
        totals.restored += end.tiers[MAAR_TIER_DEVICE].restoredCount;
        totals.saved += end.tiers[MAAR_TIER_HOST].savedCount;
    }
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    close_commands();
}

/* The programs in which nothing fails: in some of them the budget stays large for a long time. */
static void require_pressure(void)
{
    assert_true(totals.restored > totals.steps / 8);
    assert_true(totals.saved > totals.steps / 16);
}

static int open_rig(void** state)
{
    *state = rig_start_paging(&rig) ? &rig : NULL;
    return 0;
}

static void bytes_survive_pressure(void** state)
{
    rig_need(state, !rig_is_without_driver(), "drivers have entries of their own");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; ++i) {
        play(&variants[i]);
    }
    require_pressure();
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; ++i) {
        play(&failing[i]);
    }
    assert_true(totals.failed > 0 && totals.lost > 0);
}

/* Plays one of the programs on each simulated device. */
static void play_on_vendors(const struct tiers* programs, size_t count)
{
    rig_need_simulated_devices();
    for (uint32_t i = 0; i < RIG_VENDORS; ++i) {
        vendor = i;
        print_message("%s: ", rig_vendors[i]);
        dice.state = rig_seed(3) + i;
        open_simulated();
        play(&programs[i % count]);
        rig_close(&rig);
    }
}

/* Simulated devices execute the commands on real bytes, in a random order and not before they must,
 * and check contents and synchronization. */
static void bytes_survive_on_simulated_devices(void** state)
{
    (void)state;
    play_on_vendors(variants, sizeof variants / sizeof variants[0]);
    require_pressure();
}

/* The file fails, is full or altered, and devices are lost: nothing wrong is handed out, and what
 * is lost is said once. */
static void losses_are_reported_on_simulated_devices(void** state)
{
    (void)state;
    play_on_vendors(failing, sizeof failing / sizeof failing[0]);
    assert_true(totals.failed > 0 && totals.lost > 0 && totals.survived > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_survive_pressure, open_rig, rig_teardown),
        cmocka_unit_test(bytes_survive_on_simulated_devices),
        cmocka_unit_test(losses_are_reported_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
