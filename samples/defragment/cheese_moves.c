/*
 * Moves what frames use, while they use it; see cheese_moves.h.
 *
 * A step is part of a frame. Maar chooses some allocations and takes new ranges for them. The
 * program creates an image or a buffer anew for each of them and binds it there. The frame's
 * commands begin with the copies, and the rest of the frame uses the new objects. Earlier frames,
 * which the device may still execute, go on to use the old ones. The commit names the point at
 * which the frame is done: only then Maar reuses the old ranges, and the program destroys the old
 * objects.
 *
 * Nothing waits here, neither the host nor the device.
 */
#include "cheese_moves.h"

#include <stdlib.h>
#include <string.h>

/* Objects that were replaced, and the frame that is the last to use them. */
struct cheese_retired {
    uint64_t frame;
    struct cheese_objects objects;
};

#define THIS_FRAME UINT64_MAX           /* the frame is not submitted yet */
#define THE_LAST_FRAME (UINT64_MAX - 1) /* never before the end */

/* ---- 1. what moves ---- */

/* Takes a step. *moves->batch is VK_NULL_HANDLE if there is nothing to move now. */
static bool take_step(struct cheese_moves* moves)
{
    MaarAllocator const allocator = moves->heap->device->allocator;
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxBytes = moves->limits.bytes,
        .maxMoves = moves->limits.moves,
    };
    moves->count = 0;
    const VkResult result = maarStepDefragmentation(allocator, moves->run, &limits, &moves->batch);
    moves->waits = result == VK_NOT_READY;
    if (!moves->waits && !sample_succeeded(result, "maarStepDefragmentation")) {
        return false;
    }
    if (moves->batch == VK_NULL_HANDLE) {
        return true;
    }
    if (!sample_succeeded(maarGetMoves(allocator, moves->batch, &moves->count, NULL),
                          "maarGetMoves")) {
        return false;
    }
    if (moves->count > moves->room) {
        MaarMove* const list = realloc(moves->list, moves->count * sizeof(*list));
        if (!sample_has_memory(list)) {
            return false;
        }
        moves->list = list;
        moves->room = moves->count;
    }
    for (uint32_t i = 0; i < moves->count; ++i) {
        moves->list[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    return sample_succeeded(maarGetMoves(allocator, moves->batch, &moves->count, moves->list),
                            "maarGetMoves");
}

/* ---- 2. new objects at the new places ---- */

static bool create_anew(struct cheese_moves* moves, const MaarMove* move)
{
    const struct sample_device* const device = moves->heap->device;
    struct cheese_planet* const planet = move->pUserData;
    if (move->kind == MAAR_RESOURCE_KIND_OPTIMAL) {
        VkImage* const image = &planet->moved.image;
        return sample_succeeded(vkCreateImage(device->device, &planet->image_info, NULL, image),
                                "vkCreateImage") &&
               sample_succeeded(maarBindMovedImage(device->allocator, moves->batch,
                                                   move->allocation, 0, *image, NULL),
                                "maarBindMovedImage");
    }
    VkBuffer* const buffer = &planet->moved.buffer;
    return sample_succeeded(vkCreateBuffer(device->device, &planet->buffer_info, NULL, buffer),
                            "vkCreateBuffer") &&
           sample_succeeded(maarBindMovedBuffer(device->allocator, moves->batch, move->allocation,
                                                0, *buffer, NULL),
                            "maarBindMovedBuffer");
}

/* ---- 3. the copies ---- */

/* Returns whether the mistake is to be made now, for the first and only time. */
static bool is_mistaken(struct cheese_moves* moves, enum cheese_mistake mistake)
{
    const bool now = moves->limits.mistake == mistake && !moves->mistaken;
    moves->mistaken = moves->mistaken || now;
    return now;
}

/* Copies all levels of an image whose layout is known to the program: it is always sampled. */
static void copy_image(struct cheese_moves* moves, const struct cheese_planet* planet,
                       VkCommandBuffer commands)
{
    const VkImage from = planet->objects.image;
    const VkImage to = planet->moved.image;
    struct cheese_side next = cheese_sampled;
    cheese_pass(commands, from, cheese_sampled, cheese_copied_from);
    cheese_pass(commands, to, cheese_fresh, cheese_copied_to);
    for (uint32_t level = 0; level < planet->image_info.mipLevels; ++level) {
        const uint32_t size = planet->size >> level;
        const VkImageCopy region = {.srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                    .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                    .extent = {size, size, 1}};
        if (level == 0 && is_mistaken(moves, CHEESE_MISTAKE_COPY)) {
            break;
        }
        vkCmdCopyImage(commands, from, cheese_copied_from.layout, to, cheese_copied_to.layout, 1,
                       &region);
    }
    if (is_mistaken(moves, CHEESE_MISTAKE_BARRIER)) {
        next.stages = VK_PIPELINE_STAGE_2_NONE;
        next.access = VK_ACCESS_2_NONE;
    }
    cheese_pass(commands, to, cheese_copied_to, next);
}

/* Overwrites what was copied. A frame that still reads the old objects looks wrong then. */
static void poison(const struct cheese_planet* planet, VkCommandBuffer commands)
{
    static const VkClearColorValue pink = {.float32 = {1.0f, 0.0f, 1.0f, 1.0f}};
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                                         1};
    if (planet->moved.image != VK_NULL_HANDLE) {
        cheese_pass(commands, planet->objects.image, cheese_copied_from, cheese_cleared);
        vkCmdClearColorImage(commands, planet->objects.image, cheese_cleared.layout, &pink, 1,
                             &all);
        cheese_pass(commands, planet->objects.image, cheese_cleared, cheese_sampled);
    }
    if (planet->moved.buffer != VK_NULL_HANDLE) {
        vkCmdFillBuffer(commands, planet->objects.buffer, 0, VK_WHOLE_SIZE, 0x42424242u);
    }
}

/* Maar copies the buffers, between two memory barriers of its own. Only the program knows its
 * images. */
static bool record_copies(struct cheese_moves* moves, VkCommandBuffer commands)
{
    if (!sample_succeeded(maarRecordMoves(moves->heap->device->allocator, moves->batch, commands),
                          "maarRecordMoves")) {
        return false;
    }
    for (uint32_t i = 0; i < moves->count; ++i) {
        if (!moves->list[i].copiedByMaar) {
            copy_image(moves, moves->list[i].pUserData, commands);
        }
    }
    return true;
}

/* ---- 4. the swap ---- */

static bool retire(struct cheese_moves* moves, const struct cheese_objects* objects)
{
    if (moves->retired_count == moves->retired_room) {
        const uint32_t room = moves->retired_room != 0 ? 2 * moves->retired_room : 64;
        struct cheese_retired* const retired = realloc(moves->retired, room * sizeof(*retired));
        if (!sample_has_memory(retired)) {
            return false;
        }
        moves->retired = retired;
        moves->retired_room = room;
    }
    moves->retired[moves->retired_count++] =
        (struct cheese_retired){.frame = THIS_FRAME, .objects = *objects};
    return true;
}

/* Gives a planet its new objects. What did not move is kept; the view and the set are made anew. */
static bool swap(struct cheese_moves* moves, struct cheese_planet* planet)
{
    struct cheese_objects next = planet->moved;
    struct cheese_objects old = planet->objects;
    if (next.image == VK_NULL_HANDLE) {
        next.image = old.image;
        old.image = VK_NULL_HANDLE;
    }
    if (next.buffer == VK_NULL_HANDLE) {
        next.buffer = old.buffer;
        old.buffer = VK_NULL_HANDLE;
    }
    planet->moved = (struct cheese_objects){0};
    planet->objects = next;
    return cheese_objects_describe(&planet->objects, &planet->image_info, &moves->heap->sets) &&
           retire(moves, &old);
}

/* The mistake: the planet has new objects, but its set still names the old ones. They are kept
 * until the end, together with their memory, so that the mistake does no more than look wrong. */
static bool swap_without_descriptor(struct cheese_moves* moves, struct cheese_planet* planet)
{
    const VkDescriptorSet stale = planet->objects.set;
    const bool done = swap(moves, planet);
    const VkDescriptorSet written = planet->objects.set;
    planet->objects.set = stale;
    if (done) {
        struct cheese_retired* const old = &moves->retired[moves->retired_count - 1];
        old->objects.set = written;
        old->frame = THE_LAST_FRAME;
        moves->withheld = moves->batch;
    }
    return done;
}

static bool swap_all(struct cheese_moves* moves, VkCommandBuffer commands)
{
    bool done = true;
    for (uint32_t i = 0; done && i < moves->count; ++i) {
        struct cheese_planet* const planet = moves->list[i].pUserData;
        if (planet->moved.image == VK_NULL_HANDLE && planet->moved.buffer == VK_NULL_HANDLE) {
            continue; /* its image and its buffer have moved both, and are swapped already */
        }
        if (moves->limits.poison) {
            poison(planet, commands);
        }
        const bool mistaken =
            planet->moved.image != VK_NULL_HANDLE && is_mistaken(moves, CHEESE_MISTAKE_DESCRIPTOR);
        done = mistaken ? swap_without_descriptor(moves, planet) : swap(moves, planet);
    }
    return done;
}

/* ---- the whole ---- */

/* Keeps figures of the step. */
static void count_step(struct cheese_moves* moves)
{
    struct cheese_account* const account = &moves->account;
    VkDeviceSize bytes = 0;
    for (uint32_t i = 0; i < moves->count; ++i) {
        bytes += moves->list[i].size;
    }
    ++account->steps;
    account->moves += moves->count;
    account->bytes += bytes;
    account->most_moves = moves->count > account->most_moves ? moves->count : account->most_moves;
    account->most_bytes = bytes > account->most_bytes ? bytes : account->most_bytes;
}

/* Reads what the run has done, and ends it. */
static bool end_run(struct cheese_moves* moves)
{
    MaarAllocator const allocator = moves->heap->device->allocator;
    MaarDefragmentationInfo* const done = &moves->account.done;
    *done = (MaarDefragmentationInfo){.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    const bool read = sample_succeeded(maarGetDefragmentationInfo(allocator, moves->run, done),
                                       "maarGetDefragmentationInfo");
    maarEndDefragmentation(allocator, moves->run);
    moves->run = VK_NULL_HANDLE;
    return read;
}

bool cheese_moves_record(struct cheese_moves* moves, VkCommandBuffer commands)
{
    if (moves->run == VK_NULL_HANDLE) {
        return true;
    }
    if (!take_step(moves)) {
        return false;
    }
    if (moves->batch == VK_NULL_HANDLE) {
        return moves->waits || end_run(moves);
    }
    count_step(moves);
    for (uint32_t i = 0; i < moves->count; ++i) {
        if (!create_anew(moves, &moves->list[i])) {
            return false;
        }
    }
    return record_copies(moves, commands) && swap_all(moves, commands);
}

bool cheese_moves_commit(struct cheese_moves* moves, const MaarPoint* frame)
{
    uint32_t moved = 0;
    for (uint32_t i = 0; i < moves->retired_count; ++i) {
        if (moves->retired[i].frame == THIS_FRAME) {
            moves->retired[i].frame = frame->value;
        }
    }
    if (moves->batch == VK_NULL_HANDLE) {
        return true;
    }
    if (moves->batch == moves->withheld) {
        moves->batch = VK_NULL_HANDLE;
        return true;
    }
    if (!sample_succeeded(
            maarCommitMoves(moves->heap->device->allocator, moves->batch, 1, frame, &moved),
            "maarCommitMoves")) {
        return false;
    }
    moves->batch = VK_NULL_HANDLE;
    if (moved != moves->count) {
        /* Nobody else frees or maps in this program. See maarGetMoves. */
        sample_complain("only %u of %u allocations have moved", moved, moves->count);
    }
    return moved == moves->count;
}

static void destroy_objects(const struct cheese_heap* heap, const struct cheese_objects* objects)
{
    const VkDevice device = heap->device->device;
    if (objects->set != VK_NULL_HANDLE) {
        vkFreeDescriptorSets(device, heap->sets.pool, 1, &objects->set);
    }
    vkDestroyImageView(device, objects->view, NULL);
    vkDestroyImage(device, objects->image, NULL);
    vkDestroyBuffer(device, objects->buffer, NULL);
}

bool cheese_moves_retire(struct cheese_moves* moves, uint64_t passed)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < moves->retired_count; ++i) {
        if (moves->retired[i].frame > passed) {
            moves->retired[left++] = moves->retired[i];
        } else {
            destroy_objects(moves->heap, &moves->retired[i].objects);
        }
    }
    moves->retired_count = left;
    /* Maar looks at the points, too: what waited for them is free, and empty blocks are given
     * back. Without this call it would look when the pool needs memory. */
    return sample_succeeded(maarCollect(moves->heap->device->allocator, NULL), "maarCollect");
}

/* ---- a run ---- */

/* Asks what a run would do. */
static bool forecast(struct cheese_moves* moves, const MaarDefragmentationBeginInfo* info)
{
    MaarAllocator const allocator = moves->heap->device->allocator;
    MaarDefragmentationBeginInfo dry = *info;
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch none = VK_NULL_HANDLE;
    MaarDefragmentationInfo* const found = &moves->account.forecast;
    *found = (MaarDefragmentationInfo){.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    dry.flags |= MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    if (!sample_succeeded(maarBeginDefragmentation(allocator, &dry, &run),
                          "maarBeginDefragmentation")) {
        return false;
    }
    const bool done = sample_succeeded(maarStepDefragmentation(allocator, run, NULL, &none),
                                       "maarStepDefragmentation") &&
                      sample_succeeded(maarGetDefragmentationInfo(allocator, run, found),
                                       "maarGetDefragmentationInfo");
    maarEndDefragmentation(allocator, run);
    return done;
}

bool cheese_moves_begin(struct cheese_moves* moves, struct cheese_heap* heap,
                        const struct cheese_limits* limits)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = heap->pool,
    };
    *moves = (struct cheese_moves){.heap = heap, .limits = *limits};
    return forecast(moves, &info) &&
           sample_succeeded(maarBeginDefragmentation(heap->device->allocator, &info, &moves->run),
                            "maarBeginDefragmentation");
}

void cheese_moves_end(struct cheese_moves* moves)
{
    if (moves->heap == NULL) {
        return;
    }
    MaarAllocator const allocator = moves->heap->device->allocator;
    maarEndDefragmentation(allocator, moves->run);
    (void)maarCommitMoves(allocator, moves->withheld, 0, NULL, NULL);
    (void)maarCancelMoves(allocator, moves->batch, 0, NULL);
    (void)cheese_moves_retire(moves, UINT64_MAX);
    free(moves->retired);
    free(moves->list);
    memset(moves, 0, sizeof(*moves));
}
