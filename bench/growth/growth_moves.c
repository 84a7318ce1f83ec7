/*
 * Batches of moves.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

#define MOVED_SIZE ((VkDeviceSize)4 * GROWTH_KIB)

/* The state of a case: a batch under way, and what is bound, recorded or listed. */
struct moves {
    MaarMoveBatch batch;   /* of the n allocations */
    MaarMoveBatch* others; /* growth->count batches */
    MaarMoveRequest* requests;
    MaarMove* moves;
    VkBuffer* buffers; /* growth->count of them, not bound */
    VkImage* images;
    MaarObjectSwap* swaps; /* n, of movable images */
    MaarMovedImageLayout* layouts;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    uint64_t value;
};

static struct moves* moves_of(const struct growth* growth)
{
    return growth->state;
}

/* n allocations with room for growth->count more, and the lists that the steps need. */
static void open_moves(struct growth* growth)
{
    struct moves* moves = growth_create_state(growth, 1, sizeof *moves);
    const MaarMemoryRequest request = growth_request(MOVED_SIZE, 256);
    growth_fill(growth, growth->n + growth->count, &request, 0, MAAR_DEDICATED_NEVER);
    moves->others = bench_allocate(growth->count, sizeof *moves->others);
    moves->requests = bench_allocate(growth->n, sizeof *moves->requests);
    moves->moves = bench_allocate(growth->n, sizeof *moves->moves);
    moves->buffers = bench_allocate(growth->count, sizeof *moves->buffers);
    moves->images = bench_allocate(growth->count, sizeof *moves->images);
    for (uint32_t i = 0; i < growth->n; ++i) {
        moves->requests[i].allocation = growth->memory[i];
        moves->moves[i].sType = MAAR_STRUCTURE_TYPE_MOVE;
    }
}

/* As open_moves, in memory that the host sees. */
static void open_visible_moves(struct growth* growth)
{
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .usage = MAAR_MEMORY_USAGE_UPLOAD};
    MaarMemoryRequest request = growth_request(MOVED_SIZE, 256);
    open_moves(growth);
    request.requirements.memoryTypeBits = UINT32_MAX;
    for (uint32_t i = 0; i < growth->n; ++i) {
        MaarAllocation* memory = &growth->memory[i];
        maarFreeMemory(growth->allocator, *memory);
        GROWTH_EXPECT(maarAllocateMemory(growth->allocator, &request, &how, memory));
        moves_of(growth)->requests[i].allocation = *memory;
    }
}

static void close_moves(struct growth* growth)
{
    struct moves* moves = moves_of(growth);
    GROWTH_EXPECT(maarCancelMoves(growth->allocator, moves->batch, 0, NULL));
    growth_empty(growth, growth->n + growth->count);
    free(moves->others);
    free(moves->requests);
    free(moves->moves);
    free(moves->buffers);
    free(moves->images);
}

static MaarMoveBatch begin(struct growth* growth, uint32_t count, const MaarMoveRequest* requests)
{
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarBeginMoves(growth->allocator, &info, &batch));
    return batch;
}

/* Ends a batch, and forgets it. */
static void commit(struct growth* growth, MaarMoveBatch* batch)
{
    GROWTH_EXPECT(maarCommitMoves(growth->allocator, *batch, 0, NULL, NULL));
    *batch = VK_NULL_HANDLE;
}

/* ---- one batch of n moves ---- */

static void begin_n(struct growth* growth)
{
    struct moves* moves = moves_of(growth);
    moves->batch = begin(growth, growth->n, moves->requests);
}

static void do_begin_n(struct growth* growth, uint32_t index)
{
    (void)index;
    begin_n(growth);
}

static void commit_n(struct growth* growth)
{
    commit(growth, &moves_of(growth)->batch);
}

static void do_commit_n(struct growth* growth, uint32_t index)
{
    (void)index;
    commit_n(growth);
}

/* The n moves wait for a point, which has passed before the next run. */
static void do_commit_after(struct growth* growth, uint32_t index)
{
    struct moves* moves = moves_of(growth);
    const MaarPoint point = {VK_NULL_HANDLE, ++moves->value};
    (void)index;
    GROWTH_EXPECT(maarCommitMoves(growth->allocator, moves->batch, 1, &point, NULL));
    moves->batch = VK_NULL_HANDLE;
}

static void pass(struct growth* growth)
{
    GROWTH_EXPECT(maarAdvanceHostTimeline(growth->allocator, moves_of(growth)->value));
    GROWTH_EXPECT(maarCollect(growth->allocator, NULL));
}

static void do_cancel_n(struct growth* growth, uint32_t index)
{
    struct moves* moves = moves_of(growth);
    (void)index;
    GROWTH_EXPECT(maarCancelMoves(growth->allocator, moves->batch, 0, NULL));
    moves->batch = VK_NULL_HANDLE;
}

static void do_list_n(struct growth* growth, uint32_t index)
{
    struct moves* moves = moves_of(growth);
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarGetMoves(growth->allocator, moves->batch, &count, moves->moves));
}

static void do_drop_n(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(
        maarDropMoves(growth->allocator, moves_of(growth)->batch, growth->n, growth->memory));
}

static void do_drop_one(struct growth* growth, uint32_t index)
{
    const MaarAllocation memory = growth->memory[growth_pick(growth)];
    (void)index;
    GROWTH_EXPECT(maarDropMoves(growth->allocator, moves_of(growth)->batch, 1, &memory));
}

static void do_ask(struct growth* growth, uint32_t index)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    (void)index;
    GROWTH_EXPECT(
        maarGetMoveObstacle(growth->allocator, growth->memory[growth_pick(growth)], &obstacle));
}

/* ---- growth->count batches of one move beside n ---- */

static void open_beside(struct growth* growth)
{
    open_moves(growth);
    begin_n(growth);
}

static void do_begin_one(struct growth* growth, uint32_t index)
{
    const MaarMoveRequest request = {.allocation = growth->memory[growth->n + index]};
    moves_of(growth)->others[index] = begin(growth, 1, &request);
}

static void do_commit_one(struct growth* growth, uint32_t index)
{
    commit(growth, &moves_of(growth)->others[index]);
}

static void begin_others(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_begin_one);
}

static void commit_others(struct growth* growth)
{
    growth_repeat(growth, growth->count, do_commit_one);
}

/* ---- n batches of one move ---- */

static void open_batches(struct growth* growth)
{
    struct moves* moves = NULL;
    open_moves(growth);
    moves = moves_of(growth);
    growth->spare = bench_allocate(growth->n, sizeof(MaarMoveBatch));
    for (uint32_t i = 0; i < growth->n; ++i) {
        ((MaarMoveBatch*)growth->spare)[i] = begin(growth, 1, &moves->requests[i]);
    }
}

static void close_batches(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->n; ++i) {
        commit(growth, &((MaarMoveBatch*)growth->spare)[i]);
    }
    close_moves(growth);
}

/* ---- new objects ---- */

static void create_buffers(struct growth* growth)
{
    const VkBufferCreateInfo info = growth_buffer(256);
    begin_n(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        GROWTH_EXPECT(vkCreateBuffer(growth->device, &info, NULL, &moves_of(growth)->buffers[i]));
    }
}

static void do_bind_buffer(struct growth* growth, uint32_t index)
{
    const struct moves* moves = moves_of(growth);
    GROWTH_EXPECT(maarBindMovedBuffer(growth->allocator, moves->batch,
                                      growth->memory[growth_pick(growth)], 0, moves->buffers[index],
                                      NULL));
}

static void destroy_buffers(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        vkDestroyBuffer(growth->device, moves_of(growth)->buffers[i], NULL);
    }
    commit_n(growth);
}

/* Small, so that any range has room for them. */
static void create_images(struct growth* growth)
{
    VkImageCreateInfo info = growth_image(4, 1, 1);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    begin_n(growth);
    for (uint32_t i = 0; i < growth->count; ++i) {
        GROWTH_EXPECT(vkCreateImage(growth->device, &info, NULL, &moves_of(growth)->images[i]));
    }
}

static void do_bind_image(struct growth* growth, uint32_t index)
{
    const struct moves* moves = moves_of(growth);
    GROWTH_EXPECT(maarBindMovedImage(growth->allocator, moves->batch,
                                     growth->memory[growth_pick(growth)], 0, moves->images[index],
                                     NULL));
}

static void destroy_images(struct growth* growth)
{
    for (uint32_t i = 0; i < growth->count; ++i) {
        vkDestroyImage(growth->device, moves_of(growth)->images[i], NULL);
    }
    commit_n(growth);
}

static void do_access(struct growth* growth, uint32_t index)
{
    const MaarMoveBatch batch = moves_of(growth)->batch;
    const MaarAllocation memory = growth->memory[growth_pick(growth)];
    void* data = NULL;
    (void)index;
    GROWTH_EXPECT(maarMapMovedMemory(growth->allocator, batch, memory, &data));
    GROWTH_EXPECT(maarFlushMovedMemory(growth->allocator, batch, memory, 0, VK_WHOLE_SIZE));
    GROWTH_EXPECT(maarInvalidateMovedMemory(growth->allocator, batch, memory, 0, VK_WHOLE_SIZE));
    maarUnmapMovedMemory(growth->allocator, batch, memory);
}

/* ---- movable objects ---- */

static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};

/* n movable images, and the lists that the steps need. */
static void open_movable(struct growth* growth)
{
    struct moves* moves = growth_create_state(growth, 1, sizeof *moves);
    VkImageCreateInfo info = growth_image(4, 1, 1);
    info.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = &movable,
        .dedicated = MAAR_DEDICATED_NEVER,
    };
    moves->requests = bench_allocate(growth->n, sizeof *moves->requests);
    moves->images = bench_allocate(growth->n, sizeof *moves->images);
    moves->swaps = bench_allocate(growth->n, sizeof *moves->swaps);
    moves->layouts = bench_allocate(growth->n, sizeof *moves->layouts);
    for (uint32_t i = 0; i < growth->n; ++i) {
        MaarAllocation* memory = &moves->requests[i].allocation;
        GROWTH_EXPECT(maarCreateImage(growth->allocator, &info, &how, &moves->images[i], memory));
        moves->swaps[i].sType = MAAR_STRUCTURE_TYPE_OBJECT_SWAP;
        moves->layouts[i] = (MaarMovedImageLayout){*memory, VK_IMAGE_LAYOUT_UNDEFINED};
    }
}

static void close_movable(struct growth* growth)
{
    struct moves* moves = moves_of(growth);
    for (uint32_t i = 0; i < growth->n; ++i) {
        maarDestroyImage(growth->allocator, VK_NULL_HANDLE, moves->requests[i].allocation);
    }
    free(moves->requests);
    free(moves->images);
    free(moves->swaps);
    free(moves->layouts);
}

static void do_create_moved(struct growth* growth, uint32_t index)
{
    (void)index;
    GROWTH_EXPECT(maarCreateMovedObjects(growth->allocator, moves_of(growth)->batch));
}

static void do_set_layouts(struct growth* growth, uint32_t index)
{
    const struct moves* moves = moves_of(growth);
    (void)index;
    GROWTH_EXPECT(
        maarSetMovedImageLayouts(growth->allocator, moves->batch, growth->n, moves->layouts));
}

static void begin_moved(struct growth* growth)
{
    begin_n(growth);
    do_create_moved(growth, 0);
    do_set_layouts(growth, 0); /* the images have no contents, so a commit needs no copies */
}

static void cancel_n(struct growth* growth)
{
    struct moves* moves = moves_of(growth);
    GROWTH_EXPECT(maarCancelMoves(growth->allocator, moves->batch, 0, NULL));
    moves->batch = VK_NULL_HANDLE;
}

static void do_list_swaps(struct growth* growth, uint32_t index)
{
    struct moves* moves = moves_of(growth);
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarGetObjectSwaps(growth->allocator, moves->batch, &count, moves->swaps));
}

static void do_commit_moved(struct growth* growth, uint32_t index)
{
    (void)index;
    commit_n(growth);
}

static void do_read_object(struct growth* growth, uint32_t index)
{
    VkImage image = VK_NULL_HANDLE;
    (void)index;
    GROWTH_EXPECT(maarGetMovableObject(growth->allocator,
                                       moves_of(growth)->requests[growth_pick(growth)].allocation,
                                       NULL, &image));
}

/* ---- copies ---- */

static void begin_recording(struct growth* growth)
{
    struct moves* moves = moves_of(growth);
    moves->commands = growth_open_commands(growth, &moves->command_pool);
    begin_n(growth);
}

static void do_record(struct growth* growth, uint32_t index)
{
    const struct moves* moves = moves_of(growth);
    (void)index;
    GROWTH_EXPECT(maarRecordMoves(growth->allocator, moves->batch, moves->commands));
}

static void end_recording(struct growth* growth)
{
    vkDestroyCommandPool(growth->device, moves_of(growth)->command_pool, NULL);
    commit_n(growth);
}

static void do_submit(struct growth* growth, uint32_t index)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    (void)index;
    GROWTH_EXPECT(maarSubmitMoves(growth->allocator, moves_of(growth)->batch, &info, NULL));
}

static void finish_submission(struct growth* growth)
{
    commit_n(growth);
    GROWTH_EXPECT(maarWaitPending(growth->allocator, UINT64_MAX));
}

const struct growth_case growth_move_cases[] = {
    {
        .name = "begin-moves",
        .functions = "maarBeginMoves",
        .dimension = "allocations of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .operation = do_begin_n,
        .tidy = commit_n,
        .close = close_moves,
    },
    {
        .name = "begin-move",
        .functions = "maarBeginMoves",
        .dimension = "moves of another batch; the batch has one",
        .n = 10000,
        .open = open_beside,
        .operation = do_begin_one,
        .tidy = commit_others,
        .close = close_moves,
    },
    {
        .name = "commit-moves",
        .functions = "maarCommitMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .prepare = begin_n,
        .operation = do_commit_n,
        .close = close_moves,
    },
    {
        .name = "commit-moves-after",
        .functions = "maarCommitMoves",
        .dimension = "moves of the batch; the old places wait for a point",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .prepare = begin_n,
        .operation = do_commit_after,
        .tidy = pass,
        .close = close_moves,
    },
    {
        .name = "commit-move",
        .functions = "maarCommitMoves",
        .dimension = "batches under way; the batch has one move",
        .n = 10000,
        .open = open_batches,
        .prepare = begin_others,
        .operation = do_commit_one,
        .close = close_batches,
    },
    {
        .name = "cancel-moves",
        .functions = "maarCancelMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .prepare = begin_n,
        .operation = do_cancel_n,
        .close = close_moves,
    },
    {
        .name = "list-moves",
        .functions = "maarGetMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_beside,
        .operation = do_list_n,
        .close = close_moves,
    },
    {
        .name = "drop-moves",
        .functions = "maarDropMoves",
        .dimension = "moves of the batch, all of which are dropped",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_beside,
        .operation = do_drop_n,
        .close = close_moves,
    },
    {
        .name = "drop-move",
        .functions = "maarDropMoves",
        .dimension = "moves of the batch, one of which is dropped",
        .n = 10000,
        .open = open_beside,
        .operation = do_drop_one,
        .close = close_moves,
    },
    {
        .name = "move-obstacle",
        .functions = "maarGetMoveObstacle",
        .dimension = "allocations that move",
        .n = 10000,
        .open = open_beside,
        .operation = do_ask,
        .close = close_moves,
    },
    {
        .name = "bind-moved-buffer",
        .functions = "maarBindMovedBuffer",
        .dimension = "moves of the batch",
        .n = 10000,
        .open = open_moves,
        .prepare = create_buffers,
        .operation = do_bind_buffer,
        .tidy = destroy_buffers,
        .close = close_moves,
    },
    {
        .name = "bind-moved-image",
        .functions = "maarBindMovedImage",
        .dimension = "moves of the batch",
        .n = 10000,
        .open = open_moves,
        .prepare = create_images,
        .operation = do_bind_image,
        .tidy = destroy_images,
        .close = close_moves,
    },
    {
        .name = "map-moved",
        .functions = "maarMapMovedMemory maarUnmapMovedMemory maarFlushMovedMemory "
                     "maarInvalidateMovedMemory",
        .dimension = "moves of the batch",
        .n = 10000,
        .open = open_visible_moves,
        .prepare = begin_n,
        .operation = do_access,
        .tidy = commit_n,
        .close = close_moves,
    },
    {
        .name = "record-moves",
        .functions = "maarRecordMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .prepare = begin_recording,
        .operation = do_record,
        .tidy = end_recording,
        .close = close_moves,
    },
    {
        .name = "submit-moves",
        .functions = "maarSubmitMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_moves,
        .prepare = begin_n,
        .operation = do_submit,
        .tidy = finish_submission,
        .close = close_moves,
    },
    {
        .name = "create-moved-objects",
        .functions = "maarCreateMovedObjects",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_movable,
        .prepare = begin_n,
        .operation = do_create_moved,
        .tidy = cancel_n,
        .close = close_movable,
    },
    {
        .name = "list-object-swaps",
        .functions = "maarGetObjectSwaps",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_movable,
        .prepare = begin_moved,
        .operation = do_list_swaps,
        .tidy = cancel_n,
        .close = close_movable,
    },
    {
        .name = "set-moved-layouts",
        .functions = "maarSetMovedImageLayouts",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_movable,
        .prepare = begin_moved,
        .operation = do_set_layouts,
        .tidy = cancel_n,
        .close = close_movable,
    },
    {
        .name = "commit-moved-objects",
        .functions = "maarCommitMoves",
        .dimension = "moves of the batch",
        .kind = GROWTH_OVER,
        .n = 10000,
        .open = open_movable,
        .prepare = begin_moved,
        .operation = do_commit_moved,
        .close = close_movable,
    },
    {
        .name = "movable-object",
        .functions = "maarGetMovableObject",
        .dimension = "movable objects",
        .n = 10000,
        .open = open_movable,
        .operation = do_read_object,
        .close = close_movable,
    },
    {.name = NULL},
};
