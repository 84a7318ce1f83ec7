/*
 * Random programs whose residents need several times the memory of the device: they are written,
 * read, prefetched, evicted, locked and destroyed, budgets change, uses are cancelled, and the
 * host's work is done now or later. Every byte that a use reads is compared with what was written
 * last. On simulated devices submissions are held back and executed in a random order. The
 * validation layer, where it is installed, checks the commands.
 *
 * MAAR_TEST_STEPS sets the number of steps, MAAR_TEST_SEED the seed.
 */
#include "core/residency/residency_state.h"
#include "maar/residency.h"
#include "tests/rig/rig.h"

#include <stdio.h>

enum {
    RESIDENTS = 48,
    MOST_SIZE = 64 * 1024,
    STEPS = 1500,
    MOST_USES = 6,
    READS = 8,
    COMMANDS = 16,
    MOST_SIDE = 96,
    FILE_SIZE = 8 << 20
};

/* The contents that a resident must have. */
struct model {
    MaarResident handle; /* or null */
    bool is_image;
    bool is_discardable;
    bool has_source;
    bool is_defined;
    VkDeviceSize offset; /* of a range */
    MaarSparseImage sparse;
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

static struct rig rig;
static struct rig_random dice;
static struct model models[RESIDENTS];
static struct read reads[READS];
static MaarResidency residency;
static MaarReservation reservation; /* a range for each model; or null */
static bool has_sparse_images;
static VkCommandPool pool;
static VkCommandBuffer commands[COMMANDS];
static uint64_t command_ends[COMMANDS];
static VkSemaphore timeline;
static uint64_t submitted;
static VkDeviceSize device_budget;
static uint32_t next_read;
static uint32_t queue_index; /* of the program's queue */
static struct {
    uint32_t uses, paged, cancelled, compared, not_ready, too_much, demoted, dropped, lost;
} counts;

static uint32_t below(uint32_t bound)
{
    return rig_below(&dice, bound);
}

/* ---- the device ---- */

static void wait_for(uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(rig.device, &info, 20000000000), VK_SUCCESS);
}

static void open_commands(void)
{
    for (uint32_t i = 0; i < rig.create_info.queueCount; ++i) {
        queue_index = rig.paging_queues[i].queue == rig.queue ? i : queue_index;
    }
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.paging_queues[queue_index].familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo how = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = COMMANDS,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &how, commands), VK_SUCCESS);
    memset(command_ends, 0, sizeof command_ends);
    timeline = rig_create_timeline(&rig, 0);
    submitted = 0;
}

static VkCommandBuffer begin_commands(void)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const uint32_t at = (uint32_t)((submitted + 1) % COMMANDS);
    if (command_ends[at] > 0) {
        wait_for(command_ends[at]);
    }
    assert_int_equal(vkBeginCommandBuffer(commands[at], &begin), VK_SUCCESS);
    return commands[at];
}

static void barrier(VkCommandBuffer into, VkPipelineStageFlags after)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, after, 0, 1, &all, 0, NULL, 0,
                         NULL);
}

/* Submits the commands that were begun last, after a point, and returns the point of their end. */
static MaarPoint submit_commands(const MaarUseInfo* use)
{
    const uint32_t at = (uint32_t)((submitted + 1) % COMMANDS);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSemaphore waits[2] = {timeline, use->wait.semaphore};
    const uint64_t values[2] = {submitted, use->wait.value};
    const VkPipelineStageFlags stages[2] = {stage, stage};
    barrier(commands[at], VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    assert_int_equal(vkEndCommandBuffer(commands[at]), VK_SUCCESS);
    command_ends[at] = ++submitted;
    const uint32_t wait_count = use->mustWait == VK_TRUE ? 2 : 1;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submitted,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands[at],
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    return (MaarPoint){timeline, submitted};
}

/* ---- the file ---- */

/* Bytes in place of a file. */
static uint8_t file_bytes[FILE_SIZE];

static VkResult VKAPI_PTR read_file(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_file(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

static const MaarFileStore file = {
    .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
    .pUserData = file_bytes,
    .size = FILE_SIZE,
    .pfnRead = read_file,
    .pfnWrite = write_file,
};

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
    if (!model->is_image && reservation != VK_NULL_HANDLE) {
        model->size = MOST_SIZE;
        model->offset = number * MOST_SIZE;
        info->pBufferInfo = NULL;
        info->reservation = reservation;
        info->offset = model->offset;
        info->size = model->size;
        return true;
    }
    return false;
}

static void create_model(struct model* model)
{
    memset(model, 0, sizeof *model);
    model->is_image = below(2) == 0;
    model->has_source = below(4) == 0;
    model->is_discardable = !model->has_source && below(6) == 0;
    VkBufferCreateInfo buffer = rig_buffer_info(4 * (1 + below(48 * 256)));
    model->image = rig_image_info(1 + below(MOST_SIDE), 1 + below(MOST_SIDE));
    model->image.format = VK_FORMAT_R8G8B8A8_UNORM;
    model->image.mipLevels = 1;
    model->image.arrayLayers = 1;
    model->image.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    model->size = model->is_image
                      ? UINT64_C(4) * model->image.extent.width * model->image.extent.height
                      : buffer.size;
    model->is_defined = model->has_source;
    MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = model->is_discardable ? MAAR_RESIDENT_CREATE_DISCARDABLE_BIT : 0,
        .pBufferInfo = model->is_image ? NULL : &buffer,
        .pImageInfo = model->is_image ? &model->image : NULL,
        .priorityClass = below(8) == 0 ? 1 : 0,
        .pfnRead = model->has_source ? read_source : NULL,
        .pSourceUserData = model,
        .pUserData = model,
    };
    if (below(3) == 0 && make_paged(model, &info)) {
        ++counts.paged;
    }
    fill(model->source, model->size);
    memcpy(model->bytes, model->source, model->size);
    assert_int_equal(maarCreateResident(rig.allocator, residency, &info, &model->handle),
                     VK_SUCCESS);
}

/* Destroys a resident, and its sparse image after the last use. */
static void destroy_model(struct model* model)
{
    const MaarPoint end = {timeline, submitted};
    maarDestroyResident(rig.allocator, residency, model->handle);
    model->handle = VK_NULL_HANDLE;
    if (model->sparse != VK_NULL_HANDLE) {
        assert_int_equal(maarDestroySparseImageAfter(rig.allocator, model->sparse, 1, &end),
                         VK_SUCCESS);
    }
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
        if (model->is_defined && below(3) != 0) {
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
    if (result != VK_SUCCESS) {
        print_error("%d %s\n", result, rig.messages.last);
    }
    assert_int_equal(result, VK_SUCCESS);
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
    assert_int_equal(info.lostCount, 0);
}

static void change_budget(void)
{
    const VkDeviceSize budget = device_budget / 4 * (2 + below(5));
    assert_int_equal(maarSetResidencyBudget(rig.allocator, residency, MAAR_TIER_DEVICE, budget),
                     VK_SUCCESS);
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
    bool has_file;
};

static const struct tiers variants[] = {
    {"host", 4096 * KIB, 0, false},
    {"host, compressed, file", 512 * KIB, 256 * KIB, true},
    {"host, file", 512 * KIB, 0, true},
    {"host, compressed", 4096 * KIB, 2048 * KIB, false},
    {"a small host, compressed, file", 192 * KIB, 64 * KIB, true},
};

/* Plays a random program. The rig is open, with a queue. */
static void play(const struct tiers* tiers)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : STEPS;
    dice.state = rig_seed(3);
    memset(&counts, 0, sizeof counts);
    memset(models, 0, sizeof models);
    memset(reads, 0, sizeof reads);
    device_budget = 1024 * KIB;
    open_commands();
    open_pages();
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue_index,
        .deviceBudget = device_budget,
        .hostBudget = tiers->host,
        .compressedBudget = tiers->compressed,
        .pFileStore = tiers->has_file ? &file : NULL,
    };
    assert_int_equal(maarCreateResidency(rig.allocator, &info, &residency), VK_SUCCESS);
    for (uint32_t i = 0; i < steps; ++i) {
        step();
        check_state();
        if (i % 100 == 0) {
            rig_check(&rig);
        }
    }
    for (uint32_t i = 0; i < READS; ++i) {
        finish_read(&reads[i]);
    }
    MaarResidencyInfo end = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    assert_int_equal(maarGetResidencyInfo(rig.allocator, residency, &end), VK_SUCCESS);
    maarDestroyResidency(rig.allocator, residency);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        if (models[i].handle != VK_NULL_HANDLE) {
            maarDestroySparseImage(rig.allocator, models[i].sparse);
        }
    }
    maarDestroyReservation(rig.allocator, reservation);
    print_message("%s: %u steps: %u paged, %u uses, %u cancelled, %u compared, %u not ready, %u "
                  "too large, %u "
                  "demoted, %u dropped; %llu restored, %llu saved, %llu clean; %llu compressed, "
                  "%llu written\n",
                  tiers->name, steps, counts.paged, counts.uses, counts.cancelled, counts.compared,
                  counts.not_ready, counts.too_much, counts.demoted, counts.dropped,
                  (unsigned long long)end.tiers[MAAR_TIER_DEVICE].restoredCount,
                  (unsigned long long)end.tiers[MAAR_TIER_HOST].savedCount,
                  (unsigned long long)end.tiers[MAAR_TIER_DEVICE].cleanCount,
                  (unsigned long long)end.tiers[MAAR_TIER_COMPRESSED].savedCount,
                  (unsigned long long)end.tiers[MAAR_TIER_FILE].savedCount);
    assert_true(!tiers->has_file || end.tiers[MAAR_TIER_FILE].peakSize > 0);
    assert_true(end.tiers[MAAR_TIER_FILE].peakSize >= end.tiers[MAAR_TIER_FILE].size);
    assert_true(counts.compared > steps / 8);
    assert_true(end.tiers[MAAR_TIER_DEVICE].restoredCount > steps / 8);
    assert_true(end.tiers[MAAR_TIER_HOST].savedCount > steps / 16);
    assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
    vkDestroyCommandPool(rig.device, pool, NULL);
    vkDestroySemaphore(rig.device, timeline, NULL);
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
}

/* Simulated devices execute the commands on real bytes, in a random order and not before they must,
 * and check contents and synchronization. */
static void bytes_survive_on_simulated_devices(void** state)
{
    (void)state;
    rig_need_simulated_devices();
    for (size_t i = 0; i < RIG_VENDORS; ++i) {
        const struct rig_setup setup = {
            .profile = rig_profile_file(rig_vendors[i]),
            .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                     MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                     MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT,
            .paging = true,
        };
        print_message("%s: ", rig_vendors[i]);
        rig_open(&rig, &setup);
        maarSimulatedSetOrder(rig.physical, rig_seed(3) + i + 1);
        rig_make_allocator(&rig);
        play(&variants[i % (sizeof variants / sizeof variants[0])]);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_survive_pressure, open_rig, rig_teardown),
        cmocka_unit_test(bytes_survive_on_simulated_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
