/*
 * Transient heaps on a simulated device, driven by bytes: a graph is drawn, a heap made of it, its
 * frames are played to the checker of barriers, and updates follow, while host memory and the
 * driver fail on demand. Or an input that is wrong in some way, which must be refused with a
 * sentence or taken right.
 */
#include "tests/fuzz/fuzz_device.h"
#include "tests/transient/frame_player.h"

enum { FRAME_GRAPHS = 4, FRAME_PASSES = 10, FRAME_RESOURCES = 10, FRAME_LINKS = 12 };

struct transient_world {
    struct fuzz_device device;
    struct graph_maker makers[FRAME_GRAPHS];
    struct player player;
    MaarTransientHeap heap;
    MaarTransientHeapCreateInfo info;
    uint32_t queues;
    uint32_t families;
};

static uint32_t pick(struct transient_world* world, uint32_t limit)
{
    return fuzz_device_pick(&world->device, limit);
}

/* ---- graphs ---- */

static void add_link(struct transient_world* world, struct graph_maker* g)
{
    uint32_t order[GRAPH_PASSES];
    const uint32_t before = pick(world, g->graph.passCount);
    const uint32_t after = pick(world, g->graph.passCount);
    if (g->passes[before].queueIndex != g->passes[after].queueIndex) {
        graph_depend(g, before, after);
        g->graph.dependencyCount -= graph_order(g, order) ? 0 : 1;
    }
}

/* The first use, in the order of the frame, writes. */
static void add_uses(struct transient_world* world, struct graph_maker* g, uint32_t resource,
                     const uint32_t* order)
{
    static const enum graph_use first[] = {GRAPH_COMPUTE_WRITE, GRAPH_COPY_TO, GRAPH_COLOR_WRITE,
                                           GRAPH_DEPTH_UPDATE};
    uint32_t at = pick(world, g->graph.passCount);
    graph_use(g, resource, order[at], first[pick(world, 4)]);
    for (++at; at < g->graph.passCount; ++at) {
        const uint8_t dice = fuzz_byte(&world->device.input);
        if (dice >= 192) {
            break;
        }
        if (dice >= 96) {
            graph_use(g, resource, order[at], (enum graph_use)(dice % GRAPH_USE_KINDS));
        }
    }
}

static void add_resource(struct transient_world* world, struct graph_maker* g,
                         const uint32_t* order)
{
    static const MaarTransientResourceFlags flags[] = {0, 0, 0,
                                                       MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT,
                                                       MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT};
    const uint8_t way = fuzz_byte(&world->device.input);
    const uint32_t at = (way & 1) != 0 ? graph_buffer(g, 1 + fuzz_scaled(&world->device.input, 20))
                                       : graph_image(g, 1 + pick(world, 300), 1 + pick(world, 200));
    g->resources[at].flags = flags[(way >> 2) % 5];
    if (world->families > 1 && (way & 0xC0) == 0xC0) {
        graph_share(g, at);
    }
    if ((way & 0xC1) == 0x80) {
        g->images[at].usage |= VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
    }
    add_uses(world, g, at, order);
}

static void draw_graph(struct transient_world* world, struct graph_maker* g)
{
    const uint32_t families[GRAPH_QUEUES] = {0, world->families - 1, 0, world->families - 1};
    uint32_t order[GRAPH_PASSES];
    graph_init(g, world->queues, families);
    const uint32_t pass_count = 1 + pick(world, FRAME_PASSES);
    for (uint32_t i = 0; i < pass_count; ++i) {
        (void)graph_pass(g, world->queues > 1 ? pick(world, world->queues) : 0);
    }
    const uint32_t link_count = world->queues > 1 ? pick(world, FRAME_LINKS) : 0;
    for (uint32_t i = 0; i < link_count; ++i) {
        add_link(world, g);
    }
    fuzz_require(graph_order(g, order));
    const uint32_t count = 1 + pick(world, FRAME_RESOURCES);
    for (uint32_t i = 0; i < count; ++i) {
        add_resource(world, g, order);
    }
}

/* Pointers of a graph go into its maker. */
static void point_inside(struct graph_maker* g)
{
    g->graph.pQueues = g->queues;
    g->graph.pPasses = g->passes;
    g->graph.pDependencies = g->dependencies;
    g->graph.pResources = g->resources;
    for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
        MaarTransientResource* const r = &g->resources[i];
        r->pUses = g->uses[i];
        r->pName = g->names[i];
        r->pBufferInfo = r->pBufferInfo != NULL ? &g->buffers[i] : NULL;
        r->pImageInfo = r->pImageInfo != NULL ? &g->images[i] : NULL;
        r->pViewInfos = r->pViewInfos != NULL ? &g->views[i] : NULL;
        g->buffers[i].pQueueFamilyIndices =
            g->buffers[i].pQueueFamilyIndices != NULL ? g->families : NULL;
        g->images[i].pQueueFamilyIndices =
            g->images[i].pQueueFamilyIndices != NULL ? g->families : NULL;
    }
}

/* Sizes here and there, a resource less or more; or another graph altogether. */
static void change_graph(struct transient_world* world, const struct graph_maker* old,
                         struct graph_maker* g)
{
    uint32_t order[GRAPH_PASSES];
    const uint8_t way = fuzz_byte(&world->device.input);
    if ((way & 3) == 0) {
        draw_graph(world, g);
        return;
    }
    *g = *old;
    g->graph.pPreviousIndices = NULL;
    point_inside(g);
    for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
        const uint8_t dice = fuzz_byte(&world->device.input);
        if (dice >= 192 && g->resources[i].pImageInfo != NULL) {
            g->images[i].extent.width = 1 + pick(world, 300);
        } else if (dice >= 192) {
            g->buffers[i].size = 1 + fuzz_scaled(&world->device.input, 20);
        }
    }
    if ((way & 4) != 0 && g->graph.resourceCount > 1) {
        --g->graph.resourceCount;
    }
    if ((way & 8) != 0 && g->graph.resourceCount < GRAPH_RESOURCES) {
        fuzz_require(graph_order(g, order));
        add_resource(world, g, order);
    }
}

/* Some resources are said to be those before, each at most once. */
static void draw_previous(struct transient_world* world, const struct graph_maker* old,
                          struct graph_maker* g)
{
    bool taken[GRAPH_RESOURCES] = {false};
    if ((fuzz_byte(&world->device.input) & 1) == 0) {
        return;
    }
    for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
        const uint32_t drawn = pick(world, old->graph.resourceCount + 1);
        const bool valid = drawn < old->graph.resourceCount && !taken[drawn];
        g->previous[i] = valid ? drawn : UINT32_MAX;
        taken[drawn] = true;
    }
    g->graph.pPreviousIndices = g->previous;
}

/* ---- a heap ---- */

static MaarTransientHeapInfo heap_info(const struct transient_world* world)
{
    MaarTransientHeapInfo info = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_INFO};
    fuzz_require(maarGetTransientHeapInfo(world->device.rig.allocator, world->heap, &info) ==
                 VK_SUCCESS);
    fuzz_require(info.plan != VK_NULL_HANDLE && info.copyCount != 0);
    fuzz_require(info.totalSize != 0 && info.objectReuseSize <= info.totalSize);
    fuzz_require(info.lowerBound <= info.peakSize);
    return info;
}

static bool is_played(const struct transient_world* world)
{
    return (world->info.flags & MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT) == 0;
}

static void play(struct transient_world* world, uint64_t first, uint32_t count)
{
    if (!is_played(world)) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        fuzz_require(maarGetTransientPassBarriers(world->device.rig.allocator, world->heap, first,
                                                  0, &barriers) == VK_SUCCESS);
        return;
    }
    player_run(&world->player, first, count, 1);
    if (hazards_finding_count(world->player.hazards) != 0) {
        (void)fprintf(stderr, "%s\n", hazards_finding(world->player.hazards, 0));
        abort();
    }
}

static bool make_heap(struct transient_world* world, struct graph_maker* g)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    const bool alone = (way & 0xC0) == 0xC0 && world->queues == 1;
    world->info = (MaarTransientHeapCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .flags = ((way & 3) == 3 ? MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT : 0u) |
                 ((way & 0x1C) == 0x1C ? MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT : 0u) |
                 ((way & 0x20) != 0 ? MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT : 0u),
        .copyCount = 1 + way / 4 % 3,
        .pGraph = &g->graph,
        .planNodeLimit = 50,
    };
    if (alone) {
        world->info.flags |= MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT;
        world->info.copyCount = 1;
        for (uint32_t i = 0; i < g->graph.resourceCount; ++i) {
            g->resources[i].flags = 0;
        }
    }
    const VkResult result =
        maarCreateTransientHeap(world->device.rig.allocator, &world->info, &world->heap);
    fuzz_require((result == VK_SUCCESS) == (world->heap != VK_NULL_HANDLE));
    fuzz_require(result == VK_SUCCESS || world->device.may_fail);
    fuzz_device_forget(&world->device);
    fuzz_device_sound(&world->device);
    if (result == VK_SUCCESS && is_played(world)) {
        player_open(&world->player, &world->device.rig, world->heap, g);
        world->player.own_barriers = alone;
    }
    return result == VK_SUCCESS;
}

/* True when the heap has the new graph. A failure leaves it as it was, objects included. */
static bool update_heap(struct transient_world* world, uint32_t number, const struct graph_maker* g)
{
    const MaarPoint point = {.value = number};
    const MaarTransientHeapInfo before = heap_info(world);
    MaarTransientResourceInfo first = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_RESOURCE_INFO};
    MaarTransientResourceInfo again = first;
    (void)maarGetTransientResource(world->device.rig.allocator, world->heap, 0, 0, &first);
    fuzz_device_plan(&world->device);
    const VkResult result = maarUpdateTransientHeap(world->device.rig.allocator, world->heap,
                                                    &g->graph, number % 2, &point);
    fuzz_device_forget(&world->device);
    fuzz_device_sound(&world->device);
    const MaarTransientHeapInfo after = heap_info(world);
    if (result != VK_SUCCESS) {
        (void)maarGetTransientResource(world->device.rig.allocator, world->heap, 0, 0, &again);
        fuzz_require(world->device.may_fail && result != VK_ERROR_VALIDATION_FAILED_EXT);
        fuzz_require(memcmp(&first, &again, sizeof first) == 0);
        fuzz_require(memcmp(&before, &after, sizeof before) == 0);
    }
    return result == VK_SUCCESS;
}

static void destroy_heap(struct transient_world* world)
{
    const MaarPoint point = {.value = FRAME_GRAPHS};
    const bool later = (fuzz_byte(&world->device.input) & 1) != 0;
    fuzz_device_plan(&world->device);
    if (!later || maarDestroyTransientHeapAfter(world->device.rig.allocator, world->heap, 1,
                                                &point) != VK_SUCCESS) {
        fuzz_require(!later || world->device.may_fail);
        maarDestroyTransientHeap(world->device.rig.allocator, world->heap);
    }
    fuzz_device_forget(&world->device);
    fuzz_device_sound(&world->device);
}

/* Frames of one graph, then the next. False when what follows cannot be played: the update failed,
 * or created nothing anew, after which frame numbers go on. */
static bool live_on(struct transient_world* world, uint32_t number)
{
    const struct graph_maker* const old = &world->makers[number - 1];
    struct graph_maker* const next = &world->makers[number];
    const uint64_t frames = world->info.copyCount + pick(world, 3);
    play(world, 0, (uint32_t)frames);
    if (world->player.own_barriers) {
        return false; /* what the program's own barriers leave to another graph is its affair */
    }
    change_graph(world, old, next);
    draw_previous(world, old, next);
    const uint64_t generation = heap_info(world).generation;
    if (!update_heap(world, number, next)) {
        play(world, frames, 1);
        return false;
    }
    if (heap_info(world).generation == generation) {
        return false;
    }
    if (is_played(world)) {
        player_change(&world->player, next, frames);
    }
    return true;
}

static void live(struct transient_world* world)
{
    uint32_t number = 1;
    fuzz_device_plan(&world->device);
    draw_graph(world, &world->makers[0]);
    if (!make_heap(world, &world->makers[0])) {
        return;
    }
    while (number < FRAME_GRAPHS && live_on(world, number)) {
        ++number;
    }
    if (number == FRAME_GRAPHS) {
        play(world, 0, world->info.copyCount + 1);
    }
    if (is_played(world)) {
        player_close(&world->player);
    }
    destroy_heap(world);
}

/* ---- mistakes ---- */

static void spoil_resource(struct transient_world* world, struct graph_maker* g, uint64_t number)
{
    const uint32_t at = pick(world, g->graph.resourceCount);
    MaarTransientResource* const r = &g->resources[at];
    switch (fuzz_byte(&world->device.input) % 10) {
    case 0:
        g->uses[at][pick(world, r->useCount)].pass = (uint32_t)number;
        break;
    case 1:
        r->useCount = 0;
        break;
    case 2:
        r->flags = (MaarTransientResourceFlags)number;
        break;
    case 3:
        r->pBufferInfo = NULL;
        break;
    case 4:
        r->pImageInfo = &g->images[at];
        break;
    case 5:
        g->uses[at][0].stages = number;
        break;
    case 6:
        g->uses[at][0].access = number;
        break;
    case 7:
        r->pViewInfos = NULL;
        break;
    case 8:
        g->uses[at][0].layout = (VkImageLayout)(number & 15u);
        break;
    default:
        r->pUses = NULL;
        break;
    }
}

static void spoil_graph(struct transient_world* world, struct graph_maker* g, uint64_t number)
{
    switch (fuzz_byte(&world->device.input) % 9) {
    case 0:
        g->graph.queueCount = (uint32_t)number % (GRAPH_QUEUES + 1);
        break;
    case 1:
        g->graph.passCount = 0;
        break;
    case 2:
        g->passes[pick(world, g->graph.passCount)].queueIndex = (uint32_t)number;
        break;
    case 3:
        g->queues[0].familyIndex = (uint32_t)number;
        break;
    case 4:
        g->dependencies[0].before = (uint32_t)number;
        g->graph.dependencyCount = 1;
        break;
    case 5:
        g->dependencies[0].after = (uint32_t)number;
        g->graph.dependencyCount = 1;
        break;
    case 6:
        world->info.copyCount = (uint32_t)(number % 12);
        break;
    case 7:
        world->info.flags = (MaarTransientHeapCreateFlags)number;
        break;
    default:
        g->graph.pResources = NULL;
        break;
    }
}

static void try_wrong(struct transient_world* world)
{
    struct graph_maker* const g = &world->makers[0];
    draw_graph(world, g);
    world->info = (MaarTransientHeapCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO,
        .pGraph = &g->graph,
        .planNodeLimit = 50,
    };
    const uint64_t number = fuzz_scaled(&world->device.input, 64);
    if ((fuzz_byte(&world->device.input) & 1) != 0) {
        spoil_resource(world, g, number);
    } else {
        spoil_graph(world, g, number);
    }
    rig_forget_messages(&world->device.rig);
    const VkResult result =
        maarCreateTransientHeap(world->device.rig.allocator, &world->info, &world->heap);
    const bool reported = world->device.rig.messages.total != 0;
    fuzz_require((result == VK_SUCCESS) == (world->heap != VK_NULL_HANDLE));
    fuzz_require(result != VK_ERROR_VALIDATION_FAILED_EXT || reported);
    /* Wrong families and layouts are between the program and the driver. */
    if (result == VK_SUCCESS) {
        MaarTransientPassBarriers barriers = {.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_PASS_BARRIERS};
        for (uint32_t i = 0; i < g->graph.passCount; ++i) {
            fuzz_require(maarGetTransientPassBarriers(world->device.rig.allocator, world->heap, 0,
                                                      i, &barriers) == VK_SUCCESS);
        }
    }
    maarDestroyTransientHeap(world->device.rig.allocator, world->heap);
    rig_check(&world->device.rig);
}

/* ---- */

static void set_up(struct transient_world* world)
{
    static MaarSimulatedProfile profile;
    const uint8_t way = fuzz_byte(&world->device.input);
    const struct rig_setup setup = {.profile = &profile,
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    profile = (way & 0x20) != 0 ? *rig_profile_noncoherent() : *rig_profile_discrete();
    profile.limits.bufferImageGranularity = (VkDeviceSize)1 << 2 * (way & 7);
    world->queues = 1 + (way >> 3) % 4 % 3;
    world->families = world->queues > 1 && profile.queueFamilyCount > 1 ? 1 + (way >> 6 & 1) : 1;
    fuzz_device_open(&world->device, &setup, 0);
}

static void take_down(struct transient_world* world)
{
    fuzz_require(maarAdvanceHostTimeline(world->device.rig.allocator, UINT64_MAX) == VK_SUCCESS);
    fuzz_require(maarCollect(world->device.rig.allocator, NULL) == VK_SUCCESS);
    const MaarStatistics statistics = rig_statistics(&world->device.rig, VK_NULL_HANDLE);
    fuzz_require(statistics.allocationCount == 0 && statistics.pendingCount == 0);
    fuzz_device_close(&world->device);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct transient_world world;
    memset(&world, 0, sizeof world);
    world.device.input = (struct fuzz_input){data, size};
    set_up(&world);
    if (fuzz_byte(&world.device.input) % 4 != 0) {
        live(&world);
    } else {
        try_wrong(&world);
    }
    take_down(&world);
    return 0;
}
