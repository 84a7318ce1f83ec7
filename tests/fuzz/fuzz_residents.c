/*
 * A manager of residents on a simulated device, driven by bytes: uses that make sense and rubbish,
 * that overlap, end and are cancelled; budgets, hints, work and a file that fails; host memory and
 * the driver fail on demand. What a use reads is what was written last, or was reported lost; the
 * manager's own check finds nothing after any step.
 */
#include "core/residency/residency_work.h"
#include "tests/device/resident_files.h"
#include "tests/fuzz/fuzz_device.h"

enum { RESIDENTS = 12, USES = 3, USED = 5, PAGE = 16384, LARGEST = PAGE, BUDGET = 9 * PAGE };

/* What a resident is made of. */
enum resident_kind { KIND_BUFFER, KIND_STITCHED, KIND_RANGE, KIND_ARRAY, KIND_COUNT };

/* Its contents: one word in each half. */
struct resident_model {
    MaarResident handle;
    enum resident_kind kind;
    MaarArray array;
    bool is_discardable;
    bool has_source;
    bool is_defined;
    bool is_unsure; /* defined, but not known: elements have come, or writes were given up */
    bool is_lost;
    VkDeviceSize offset;
    VkDeviceSize size; /* a multiple of 8 */
    uint32_t pins;
    uint32_t locks;
    uint32_t source;
    uint32_t words[2];
};

struct open_use {
    MaarUse use;
    MaarUseInfo info;
    uint32_t count;
    struct resident_model* models[USED];
    MaarAccessFlags access[USED];
    MaarResidentObject objects[USED];
};

struct residents_world {
    struct fuzz_device device;
    MaarSimulatedProfile profile;
    MaarResidency residency;
    MaarReservation reservation;
    struct resident_model models[RESIDENTS];
    struct open_use uses[USES]; /* the oldest first */
    uint32_t use_count;
    bool may_lose; /* contents, by a file that fails, or by a device that is lost */
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t submitted;
    VkBuffer readback;
    MaarAllocation readback_memory;
};

static MaarAllocator allocator_of(const struct residents_world* world)
{
    return world->device.rig.allocator;
}

static uint32_t pick(struct residents_world* world, uint32_t limit)
{
    return fuzz_device_pick(&world->device, limit);
}

/* ---- residents ---- */

static VkResult VKAPI_PTR read_source(void* user, VkDeviceSize size, void* data)
{
    const struct resident_model* model = user;
    uint32_t* words = data;
    for (VkDeviceSize i = 0; i < size / 4; ++i) {
        words[i] = model->source;
    }
    return VK_SUCCESS;
}

/* Makes what the resident is made of, unless it is a buffer of its own. */
static bool make_pages(struct residents_world* world, struct resident_model* model,
                       MaarResidentCreateInfo* info)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(LARGEST);
    const MaarArrayCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 8,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                        .pBufferInfo = &buffer},
    };
    if (model->kind == KIND_STITCHED) {
        info->flags |= MAAR_RESIDENT_CREATE_STITCHED_BIT;
    } else if (model->kind == KIND_RANGE) {
        info->pBufferInfo = NULL;
        info->reservation = world->reservation;
        info->offset = model->offset;
        info->size = model->size;
    } else if (model->kind == KIND_ARRAY) {
        const VkResult result = maarCreateArray(allocator_of(world), &how, &model->array);
        if (fuzz_device_allow(&world->device, result) != VK_SUCCESS) {
            return false;
        }
        info->pBufferInfo = NULL;
        info->array = model->array;
        info->size = LARGEST;
    }
    return true;
}

static void make_resident(struct residents_world* world, struct resident_model* model)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    *model = (struct resident_model){
        .kind = (enum resident_kind)(way % KIND_COUNT),
        .size = 8 * (1 + (VkDeviceSize)pick(world, LARGEST / 8)),
        .has_source = way >> 2 == 1,
        .is_discardable = way >> 2 == 2,
        .source = UINT32_C(0x01010101) * way,
    };
    if (model->kind == KIND_RANGE) {
        model->offset = (VkDeviceSize)(model - world->models) * PAGE;
        model->size = PAGE;
    }
    const VkBufferCreateInfo buffer = rig_buffer_info(model->size);
    MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = model->is_discardable ? MAAR_RESIDENT_CREATE_DISCARDABLE_BIT : 0u,
        .pBufferInfo = &buffer,
        .priorityClass = way >= 0xF0 ? way & 15 : 0,
        .pfnRead = model->has_source && model->kind != KIND_ARRAY ? read_source : NULL,
        .pSourceUserData = model,
        .pUserData = model,
    };
    model->has_source = info.pfnRead != NULL;
    if (!make_pages(world, model, &info)) {
        return;
    }
    VkResult result =
        maarCreateResident(allocator_of(world), world->residency, &info, &model->handle);
    fuzz_require((result == VK_SUCCESS) == (model->handle != VK_NULL_HANDLE));
    fuzz_require(result != VK_ERROR_VALIDATION_FAILED_EXT || info.priorityClass > 7);
    if (result == VK_SUCCESS && model->array != VK_NULL_HANDLE) {
        uint64_t first = 0;
        result = maarAppendArray(allocator_of(world), model->array, model->size / 8, &first);
        fuzz_require(result == VK_SUCCESS);
    }
    if (result != VK_SUCCESS) {
        fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT ||
                     result == VK_ERROR_OUT_OF_POOL_MEMORY || /* the budgets can never hold it */
                     fuzz_device_allow(&world->device, result) != VK_SUCCESS);
        maarDestroyArray(allocator_of(world), model->array);
        model->array = VK_NULL_HANDLE;
        return;
    }
    model->is_defined = model->has_source;
    model->words[0] = model->source;
    model->words[1] = model->source;
}

/* A resident that is pinned stays. */
static void end_resident(struct residents_world* world, struct resident_model* model)
{
    const MaarPoint end = {world->timeline, world->submitted};
    maarDestroyResident(allocator_of(world), world->residency, model->handle);
    if (model->pins > 0) {
        return;
    }
    fuzz_device_forget(&world->device);
    fuzz_require(maarDestroyArrayAfter(allocator_of(world), model->array, 1, &end) == VK_SUCCESS);
    *model = (struct resident_model){.size = 0};
}

/* ---- commands ---- */

static VkCommandBuffer begin_commands(struct residents_world* world)
{
    const VkCommandBufferAllocateInfo how = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = world->pool,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    fuzz_require(vkAllocateCommandBuffers(world->device.rig.device, &how, &commands) == VK_SUCCESS);
    fuzz_require(vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
    return commands;
}

/* All that comes later sees what was written before. */
static void put_barrier(VkCommandBuffer into)
{
    VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    const VkPipelineStageFlags device = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    seen.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    seen.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vkCmdPipelineBarrier(into, device, device | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0, NULL, 0,
                         NULL);
}

/* Executes commands after what a use waits for. Returns false when the device was lost. */
static bool execute(struct residents_world* world, VkCommandBuffer commands, const MaarUseInfo* use)
{
    const VkPipelineStageFlags stages[2] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    const VkSemaphore waits[2] = {world->timeline, use->wait.semaphore};
    const uint64_t values[2] = {world->submitted, use->wait.value};
    const uint32_t wait_count = use->mustWait == VK_TRUE ? 2 : 1;
    const uint64_t end = world->submitted + 1;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &end,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &world->timeline,
    };
    const struct rig* rig = &world->device.rig;
    fuzz_require(vkEndCommandBuffer(commands) == VK_SUCCESS);
    const VkResult result = vkQueueSubmit(rig->queue, 1, &submit, VK_NULL_HANDLE);
    fuzz_require(result == VK_SUCCESS || world->device.may_be_lost);
    world->submitted = result == VK_SUCCESS ? end : world->submitted;
    const bool is_done = result == VK_SUCCESS && vkQueueWaitIdle(rig->queue) == VK_SUCCESS;
    fuzz_require(is_done || world->device.may_be_lost);
    vkFreeCommandBuffers(rig->device, world->pool, 1, &commands);
    return is_done;
}

/* ---- uses ---- */

/* Draws residents; now and then one twice, or none. */
static void draw_uses(struct residents_world* world, struct open_use* open, MaarResidentUse* uses)
{
    open->count = 1 + pick(world, USED);
    for (uint32_t i = 0; i < open->count; ++i) {
        const uint8_t way = fuzz_byte(&world->device.input);
        struct resident_model* model = &world->models[way % RESIDENTS];
        if (model->handle == VK_NULL_HANDLE && way < 240) {
            make_resident(world, model);
        }
        open->models[i] = model;
        open->access[i] = way < 90    ? MAAR_ACCESS_READ_BIT
                          : way < 150 ? MAAR_ACCESS_WRITE_BIT
                          : way < 250 ? MAAR_ACCESS_OVERWRITE_BIT
                                      : 0;
        uses[i] = (MaarResidentUse){.resident = model->handle, .access = open->access[i]};
    }
}

static bool makes_sense(const MaarResidentUse* uses, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (uses[i].resident == VK_NULL_HANDLE || uses[i].access == 0) {
            return false;
        }
    }
    return true;
}

static void accept_refusal(struct residents_world* world, const struct open_use* open,
                           VkResult result)
{
    bool has_lost = false;
    for (uint32_t i = 0; i < open->count; ++i) {
        has_lost = has_lost || open->models[i]->is_lost;
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        fuzz_require(open->info.missingSize > 0);
    } else if (result == VK_ERROR_INITIALIZATION_FAILED) {
        fuzz_require(has_lost || world->device.may_be_lost);
        for (uint32_t i = 0; i < open->count; ++i) {
            open->models[i]->is_lost = false;
        }
    } else if (result != VK_NOT_READY && result != VK_ERROR_VALIDATION_FAILED_EXT) {
        (void)fuzz_device_allow(&world->device, result);
    }
}

/* A use has begun: what has no contents any more was discardable, or lost. */
static void note_fresh(struct residents_world* world, struct open_use* open)
{
    for (uint32_t i = 0; i < open->count; ++i) {
        struct resident_model* model = open->models[i];
        ++model->pins;
        const bool is_kept = model->is_defined && !model->is_unsure && model->pins == 1;
        if (open->objects[i].isFresh == VK_TRUE && is_kept &&
            (open->access[i] & MAAR_ACCESS_OVERWRITE_BIT) == 0) {
            fuzz_require(model->is_discardable || world->device.may_be_lost);
            model->is_defined = false;
        }
        fuzz_require(open->objects[i].buffer != VK_NULL_HANDLE);
    }
}

static void begin_use(struct residents_world* world)
{
    MaarResidentUse uses[USED];
    struct open_use* open = &world->uses[world->use_count];
    if (world->use_count == USES) {
        return;
    }
    *open = (struct open_use){.info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO}};
    draw_uses(world, open, uses);
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = fuzz_byte(&world->device.input) % 4,
        .useCount = open->count,
        .pUses = uses,
    };
    const VkResult result = maarBeginUse(allocator_of(world), world->residency, &begin,
                                         open->objects, &open->info, &open->use);
    fuzz_require((result == VK_SUCCESS) == (open->use != VK_NULL_HANDLE));
    if (makes_sense(uses, open->count)) {
        fuzz_require(result != VK_ERROR_VALIDATION_FAILED_EXT);
    } else {
        fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT ||
                     fuzz_device_allow(&world->device, result) != VK_SUCCESS);
    }
    if (result != VK_SUCCESS) {
        accept_refusal(world, open, result);
        return;
    }
    note_fresh(world, open);
    ++world->use_count;
}

/* Whether a later place of the same use names the resident too. */
static bool comes_again(const struct open_use* open, uint32_t at)
{
    for (uint32_t i = at + 1; i < open->count; ++i) {
        if (open->models[i] == open->models[at]) {
            return true;
        }
    }
    return false;
}

/* All accesses of a use to a resident. */
static MaarAccessFlags access_of(const struct open_use* open, const struct resident_model* model)
{
    MaarAccessFlags access = 0;
    for (uint32_t i = 0; i < open->count; ++i) {
        access |= open->models[i] == model ? open->access[i] : 0;
    }
    return access;
}

static void compare(struct residents_world* world, const struct open_use* open, uint32_t at)
{
    static uint32_t found[LARGEST / 4];
    const struct resident_model* model = open->models[at];
    const VkBufferCopy region = {.srcOffset = model->offset, .size = model->size};
    VkCommandBuffer commands = begin_commands(world);
    put_barrier(commands);
    vkCmdCopyBuffer(commands, open->objects[at].buffer, world->readback, 1, &region);
    put_barrier(commands);
    if (!execute(world, commands, &open->info)) {
        return;
    }
    fuzz_require(maarCopyFromAllocation(allocator_of(world), world->readback_memory, 0, model->size,
                                        found) == VK_SUCCESS);
    for (VkDeviceSize i = 0; i < model->size / 4; ++i) {
        fuzz_require(found[i] == model->words[i >= model->size / 8]);
    }
}

static void write_words(struct residents_world* world, const struct open_use* open, uint32_t at)
{
    struct resident_model* model = open->models[at];
    const VkDeviceSize half = model->size / 2;
    const uint8_t word = fuzz_byte(&world->device.input);
    const bool is_part = model->is_defined && !model->is_unsure &&
                         (access_of(open, model) & MAAR_ACCESS_OVERWRITE_BIT) == 0;
    VkCommandBuffer commands = begin_commands(world);
    put_barrier(commands);
    model->words[1] = word * UINT32_C(0x10001);
    vkCmdFillBuffer(commands, open->objects[at].buffer, model->offset + half, half,
                    model->words[1]);
    if (!is_part) {
        model->words[0] = ~model->words[1];
        vkCmdFillBuffer(commands, open->objects[at].buffer, model->offset, half, model->words[0]);
    }
    put_barrier(commands);
    model->is_defined = execute(world, commands, &open->info);
    model->is_unsure = false;
    model->is_lost = false;
}

/* The oldest use is submitted. */
static void end_use(struct residents_world* world)
{
    struct open_use* open = &world->uses[0];
    if (world->use_count == 0) {
        return;
    }
    fuzz_device_forget(&world->device);
    for (uint32_t i = 0; i < open->count; ++i) {
        struct resident_model* model = open->models[i];
        --model->pins;
        if (comes_again(open, i)) {
            continue;
        }
        if ((access_of(open, model) & ~(MaarAccessFlags)MAAR_ACCESS_READ_BIT) != 0) {
            write_words(world, open, i);
        } else if (model->is_defined && !model->is_unsure && !world->device.may_be_lost) {
            compare(world, open, i);
        }
    }
    const MaarPoint end = {world->timeline, world->submitted};
    fuzz_require(maarEndUse(allocator_of(world), world->residency, open->use, 1, &end) ==
                 VK_SUCCESS);
    --world->use_count;
    memmove(&world->uses[0], &world->uses[1], world->use_count * sizeof world->uses[0]);
}

/* The newest use is not submitted. */
static void cancel_use(struct residents_world* world)
{
    if (world->use_count == 0) {
        return;
    }
    const struct open_use* open = &world->uses[--world->use_count];
    maarCancelUse(allocator_of(world), world->residency, open->use);
    for (uint32_t i = 0; i < open->count; ++i) {
        --open->models[i]->pins;
        if (open->models[i]->pins == 0 && open->models[i]->is_discardable &&
            open->objects[i].isFresh == VK_TRUE) {
            open->models[i]->is_defined = false;
        }
    }
    maarCancelUse(allocator_of(world), world->residency, open->use); /* is reported */
}

/* Elements come or go, within a use that writes all of them. */
static void resize(struct residents_world* world)
{
    if (world->use_count == 0) {
        return;
    }
    const struct open_use* open = &world->uses[world->use_count - 1];
    struct resident_model* model = open->models[0];
    const MaarAccessFlags access = access_of(open, model);
    if (model->kind != KIND_ARRAY || model->pins != 1 || access == MAAR_ACCESS_READ_BIT) {
        return;
    }
    const uint64_t count = 1 + pick(world, LARGEST / 8 + 64);
    MaarPoint wait = {.value = 0};
    const VkResult result =
        maarResizeResident(allocator_of(world), world->residency, model->handle, count, &wait);
    if (result == VK_SUCCESS) {
        fuzz_require(count <= LARGEST / 8);
        model->size = 8 * count;
        model->is_unsure = true;
    } else if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
        fuzz_require((access & MAAR_ACCESS_OVERWRITE_BIT) != 0); /* the device has no contents */
    } else if (result != VK_NOT_READY && result != VK_ERROR_OUT_OF_POOL_MEMORY) {
        (void)fuzz_device_allow(&world->device, result);
    }
}

/* ---- all else ---- */

static void VKAPI_PTR note_event(void* user, const MaarResidencyEvent* event)
{
    const struct residents_world* world = user;
    struct resident_model* model = event->pUserData;
    if (event->reason == MAAR_RESIDENCY_REASON_LOST) {
        fuzz_require(world->may_lose || world->device.may_fail);
        model->is_defined = false;
        model->is_lost = true;
    }
}

static void set_budget(struct residents_world* world)
{
    const MaarTier tier = (MaarTier)(MAAR_TIER_DEVICE + pick(world, 4));
    const VkDeviceSize budget = (VkDeviceSize)pick(world, 3 * BUDGET / PAGE) * PAGE;
    const VkResult result =
        maarSetResidencyBudget(allocator_of(world), world->residency, tier, budget);
    fuzz_require(result == VK_SUCCESS || tier == MAAR_TIER_FILE || budget < 2 * LARGEST);
}

static void give_hint(struct residents_world* world)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    struct resident_model* model = &world->models[way % RESIDENTS];
    const bool is_there = model->handle != VK_NULL_HANDLE;
    const VkResult expected = is_there ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
    MaarResident named[RESIDENTS];
    VkResult result = VK_SUCCESS;
    switch (way / RESIDENTS % 4) {
    case 0:
        result = maarEvictResident(allocator_of(world), world->residency, model->handle);
        fuzz_require(result == expected);
        break;
    case 1:
        result = maarLockResident(allocator_of(world), world->residency, model->handle);
        fuzz_require(result == expected);
        model->locks += result == VK_SUCCESS ? 1 : 0;
        break;
    case 2:
        result = maarUnlockResident(allocator_of(world), world->residency, model->handle);
        fuzz_require((result == VK_SUCCESS) == (is_there && model->locks > 0));
        model->locks -= result == VK_SUCCESS ? 1 : 0;
        break;
    default:
        for (uint32_t i = 0; i < RESIDENTS; ++i) {
            named[i] = world->models[(way + i) % RESIDENTS].handle;
        }
        result = maarPrefetchResidents(allocator_of(world), world->residency, 1 + way % RESIDENTS,
                                       named);
        fuzz_require(result == VK_SUCCESS || result == VK_ERROR_VALIDATION_FAILED_EXT ||
                     world->device.may_fail);
        break;
    }
}

static void update(struct residents_world* world)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    const MaarResidencyUpdate limits = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_UPDATE,
        .maxCopySize = (way & 1) != 0 ? PAGE : 0,
        .maxCopyCount = way >> 5,
        .maxTime_ns = (way & 2) != 0 ? 1 : 0,
    };
    (void)fuzz_device_allow(&world->device,
                            maarUpdateResidency(allocator_of(world), world->residency, &limits));
}

static void work(struct residents_world* world)
{
    uint32_t done = 0;
    const VkResult result = maarWorkResidency(allocator_of(world), world->residency,
                                              fuzz_byte(&world->device.input) % 4, &done);
    fuzz_require(result == VK_SUCCESS || result == VK_INCOMPLETE);
}

static void yield(struct residents_world* world)
{
    VkDeviceSize released = 0;
    const uint8_t way = fuzz_byte(&world->device.input);
    const VkResult result = maarYieldResidency(
        allocator_of(world), world->residency, (way & 1) != 0 ? UINT32_MAX : way,
        (VkDeviceSize)way * 1024, (way & 2) != 0 ? UINT64_C(1000000000) : 0, &released);
    fuzz_require(result == VK_SUCCESS || result == VK_INCOMPLETE || way == 0 ||
                 result == VK_ERROR_VALIDATION_FAILED_EXT ||
                 fuzz_device_allow(&world->device, result) != VK_SUCCESS);
}

static void spoil_file(struct residents_world* world)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    if (way % 4 == 0) {
        disk.fails = way == 0 ? 0 : 1 + way / 4;
        disk.dice.state = way;
        world->may_lose = world->may_lose || disk.fails > 0;
    } else if (way % 4 == 1) {
        disk.bytes[fuzz_below(&world->device.input, FILE_SIZE)] ^= way;
        world->may_lose = true;
    }
}

static void require_sound(struct residents_world* world)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    const struct maar_residency* state =
        maar_object_of(allocator_of(world), MAAR_OBJECT_RESIDENCY, MAAR_TO_BITS(world->residency));
    const char* broken = maar_residency_check(state);
    uint32_t pins = 0;
    if (broken != NULL) {
        (void)fprintf(stderr, "not so: %s\n", broken);
        abort();
    }
    fuzz_require(maarGetResidencyInfo(allocator_of(world), world->residency, &info) == VK_SUCCESS);
    for (uint32_t i = 0; i < world->use_count; ++i) {
        pins += world->uses[i].count;
    }
    fuzz_require(info.useCount == world->use_count && info.pinCount == pins);
    fuzz_device_sound(&world->device);
}

static void step(struct residents_world* world)
{
    static void (*const others[])(struct residents_world*) = {
        update, work, set_budget, give_hint, spoil_file, yield, resize, cancel_use};
    const uint8_t action = fuzz_byte(&world->device.input);
    if (action < 90) {
        begin_use(world);
    } else if (action < 150) {
        end_use(world);
    } else if (action < 240) {
        others[action % (sizeof others / sizeof others[0])](world);
    } else if (action < 248) {
        struct resident_model* model = &world->models[pick(world, RESIDENTS)];
        if (model->handle != VK_NULL_HANDLE) {
            end_resident(world, model);
        }
    } else {
        fuzz_device_plan(&world->device);
    }
    require_sound(world);
}

/* ---- the program ---- */

static void make_manager(struct residents_world* world)
{
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    const MaarFileStore file = file_of((way & 4) != 0 ? 64 * 1024 : FILE_SIZE);
    uint32_t queue = 0;
    for (uint32_t i = 0; i < device->rig.create_info.queueCount; ++i) {
        queue = device->rig.paging_queues[i].queue == device->rig.queue ? i : queue;
    }
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue,
        .deviceBudget = BUDGET,
        .hostBudget = (way & 1) != 0 ? BUDGET * 2 : 4 * LARGEST,
        .compressedBudget = (way & 2) != 0 ? 2 * LARGEST : 0,
        .pFileStore = (way & 8) != 0 ? &file : NULL,
        .pfnEvent = note_event,
        .pUserData = world,
    };
    fuzz_require(maarCreateResidency(allocator_of(world), &info, &world->residency) == VK_SUCCESS);
}

static void set_up(struct residents_world* world)
{
    struct fuzz_device* device = &world->device;
    const struct rig_setup setup = {
        .profile = &world->profile,
        .flags = MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
                 MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT,
        .paging = true,
    };
    const VkBufferCreateInfo all = rig_buffer_info((VkDeviceSize)RESIDENTS * PAGE);
    const MaarReservationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                                           .flags = MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT,
                                           .pBufferInfo = &all};
    const MaarAllocationCreateInfo readback = rig_how(MAAR_MEMORY_USAGE_READBACK);
    VkBufferCreateInfo buffer = rig_buffer_info(LARGEST);
    world->profile = *rig_profile_discrete();
    world->profile.sparse.sparseBinding = VK_TRUE;
    world->profile.sparse.residencyBuffer = VK_TRUE;
    world->profile.limits.sparseAddressSpaceSize = (VkDeviceSize)1 << 40;
    world->profile.requirements.sparseAlignment = PAGE;
    fuzz_device_open(device, &setup, MAAR_ALLOCATOR_CREATE_HEAVY_CHECKS_BIT);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = device->rig.recommendation.mainQueueFamily,
    };
    fuzz_require(vkCreateCommandPool(device->rig.device, &pool, NULL, &world->pool) == VK_SUCCESS);
    world->timeline = rig_create_timeline(&device->rig, 0);
    fuzz_require(maarCreateReservation(allocator_of(world), &how, &world->reservation) ==
                 VK_SUCCESS);
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    fuzz_require(maarCreateBuffer(allocator_of(world), &buffer, &readback, &world->readback,
                                  &world->readback_memory) == VK_SUCCESS);
    disk.fails = 0;
    make_manager(world);
}

static void take_down(struct residents_world* world)
{
    struct fuzz_device* device = &world->device;
    fuzz_device_forget(device);
    disk.fails = 0;
    while (world->use_count > 0) {
        cancel_use(world);
    }
    maarDestroyResidency(allocator_of(world), world->residency);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        maarDestroyArray(allocator_of(world), world->models[i].array);
    }
    maarDestroyReservation(allocator_of(world), world->reservation);
    maarDestroyBuffer(allocator_of(world), world->readback, world->readback_memory);
    (void)vkDeviceWaitIdle(device->rig.device);
    vkDestroySemaphore(device->rig.device, world->timeline, NULL);
    vkDestroyCommandPool(device->rig.device, world->pool, NULL);
    fuzz_device_close(device);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct residents_world world;
    memset(&world, 0, sizeof world);
    world.device.input = (struct fuzz_input){data, size};
    set_up(&world);
    while (!fuzz_is_dry(&world.device.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
