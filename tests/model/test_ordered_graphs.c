/*
 * Random graphs of queues: ordered allocations beside a checker that knows which submission happens
 * before which. The checker keeps the full transitive closure; it shares nothing with the library.
 * Queues are held back at random, and some submissions are never declared.
 *
 * MAAR_GRAPHS=n runs n graphs.
 */
#include "tests/rig/rig.h"

#include <stdio.h>

enum {
    QUEUES = 5,
    MOST_VALUES = 60, /* submissions of a queue in a graph */
    NODES = QUEUES * MOST_VALUES,
    WORDS = (NODES + 63) / 64,
    MOST_LIVE = 24,
    MOST_USES = 4096,
    STEPS = 260,
    GRAPHS = 1000
};

/* The submission that signals value `value` of a queue. */
struct node {
    uint64_t before[WORDS]; /* all that happens before it, and itself */
    bool has_executed;
};

/* Bytes of a block. */
struct bytes {
    VkDeviceMemory memory;
    VkDeviceSize begin;
    VkDeviceSize end;
    MaarResourceKind kind;
};

/* Bytes that a submission uses. */
struct use {
    struct bytes bytes;
    uint32_t node;
};

struct live {
    MaarAllocation allocation;
    struct bytes bytes;
    MaarPoint first[QUEUES + 4]; /* what its first use waits for */
    uint32_t first_count;
    uint64_t last[QUEUES]; /* the last submission of each queue that uses it; 0: none */
};

struct graph {
    struct rig* rig;
    struct rig_random random;
    MaarPool pool;
    VkDeviceSize granularity;
    VkSemaphore semaphores[QUEUES];
    uint64_t submitted[QUEUES];
    uint64_t executed[QUEUES];
    uint32_t held; /* a queue that executes nothing at present */
    struct node nodes[NODES];
    MaarPoint waits[NODES][QUEUES + 4];
    uint32_t wait_counts[NODES];
    struct live live[MOST_LIVE];
    uint32_t live_count;
    struct use uses[MOST_USES];
    uint32_t use_count;
};

struct totals {
    uint64_t covered;
    uint64_t waited;
};

static uint32_t node_of(uint32_t queue, uint64_t value)
{
    return queue * MOST_VALUES + (uint32_t)value - 1;
}

static uint32_t queue_of(const struct graph* graph, VkSemaphore semaphore)
{
    uint32_t queue = 0;
    while (graph->semaphores[queue] != semaphore) {
        ++queue;
    }
    return queue;
}

static bool is_in(const uint64_t* set, uint32_t node)
{
    return (set[node / 64] >> (node % 64) & 1) != 0;
}

/* Adds all that happens before a point to a set. A point of a submission that is not made yet is
 * after all values of its timeline. */
static void add_before(const struct graph* graph, MaarPoint point, uint64_t* set)
{
    const uint32_t queue = queue_of(graph, point.semaphore);
    const uint64_t most = graph->submitted[queue];
    const uint64_t value = point.value < most ? point.value : most;
    for (uint32_t i = 0; value > 0 && i < WORDS; ++i) {
        set[i] |= graph->nodes[node_of(queue, value)].before[i];
    }
}

static MaarPoint random_point(struct graph* graph)
{
    const uint32_t queue = rig_below(&graph->random, QUEUES);
    const uint64_t most = graph->submitted[queue];
    /* Mostly a recent one. */
    const uint64_t back = rig_below(&graph->random, rig_below(&graph->random, 4) == 0 ? 12 : 2);
    return (MaarPoint){graph->semaphores[queue], most > back ? most - back : most};
}

static void declare_node(struct graph* graph, uint32_t queue, uint64_t value)
{
    const uint32_t node = node_of(queue, value);
    const MaarPoint signal = {graph->semaphores[queue], value};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = graph->wait_counts[node],
        .pWaits = graph->waits[node],
        .signalCount = 1,
        .pSignals = &signal,
    };
    assert_int_equal(maarDeclareSubmission(graph->rig->allocator, &info), VK_SUCCESS);
}

/* Makes a submission and returns its value, or 0 when the queue has had enough. */
static uint64_t submit(struct graph* graph, uint32_t queue, uint32_t count, const MaarPoint* waits)
{
    if (graph->submitted[queue] == MOST_VALUES) {
        return 0;
    }
    const uint64_t value = graph->submitted[queue] + 1;
    const uint32_t at = node_of(queue, value);
    struct node* node = &graph->nodes[at];
    if (value > 1) { /* a timeline's values rise */
        memcpy(node->before, graph->nodes[at - 1].before, sizeof node->before);
    }
    for (uint32_t i = 0; i < count; ++i) {
        add_before(graph, waits[i], node->before);
        graph->waits[at][i] = waits[i];
    }
    graph->wait_counts[at] = count;
    node->before[at / 64] |= (uint64_t)1 << (at % 64);
    graph->submitted[queue] = value;
    if (rig_below(&graph->random, 10) < 8) {
        declare_node(graph, queue, value);
    } else if (value > 4 && rig_below(&graph->random, 2) == 0) {
        declare_node(graph, queue, value - 3); /* late, or once more */
    }
    return value;
}

static bool may_execute(const struct graph* graph, uint32_t node)
{
    bool may = true;
    for (uint32_t i = 0; i < NODES; ++i) {
        may = may &&
              (i == node || !is_in(graph->nodes[node].before, i) || graph->nodes[i].has_executed);
    }
    return may;
}

static void execute_some(struct graph* graph)
{
    if (rig_below(&graph->random, 6) == 0) {
        graph->held = rig_below(&graph->random, QUEUES + 1);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t queue = rig_below(&graph->random, QUEUES);
        const uint64_t value = graph->executed[queue] + 1;
        if (queue != graph->held && value <= graph->submitted[queue] &&
            may_execute(graph, node_of(queue, value))) {
            graph->nodes[node_of(queue, value)].has_executed = true;
            graph->executed[queue] = value;
            rig_signal(graph->rig, graph->semaphores[queue], value);
        }
    }
}

static void execute_all(struct graph* graph)
{
    graph->held = QUEUES;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t queue = 0; queue < QUEUES; ++queue) {
            const uint64_t value = graph->executed[queue] + 1;
            if (value <= graph->submitted[queue] && may_execute(graph, node_of(queue, value))) {
                graph->nodes[node_of(queue, value)].has_executed = true;
                graph->executed[queue] = value;
                rig_signal(graph->rig, graph->semaphores[queue], value);
                any = true;
            }
        }
    }
}

/* Whether two resources may disturb each other: they share a byte or, if their kinds differ, a
 * granule. */
static bool disturb(const struct graph* graph, const struct bytes* one, const struct bytes* two)
{
    const VkDeviceSize granule = one->kind != two->kind ? graph->granularity : 1;
    return one->memory == two->memory && one->begin / granule <= (two->end - 1) / granule &&
           two->begin / granule <= (one->end - 1) / granule;
}

/* Fails unless each earlier use of these bytes has been executed, or happens before the first use
 * of the new allocation. */
static void check_bytes(const struct graph* graph, const struct live* live)
{
    uint64_t before[WORDS] = {0};
    for (uint32_t i = 0; i < live->first_count; ++i) {
        add_before(graph, live->first[i], before);
    }
    for (uint32_t i = 0; i < graph->use_count; ++i) {
        const struct use* use = &graph->uses[i];
        if (disturb(graph, &use->bytes, &live->bytes) && !graph->nodes[use->node].has_executed &&
            !is_in(before, use->node)) {
            fail_msg("bytes %llu to %llu are used by submission %llu of queue %u at the same time",
                     (unsigned long long)live->bytes.begin, (unsigned long long)live->bytes.end,
                     (unsigned long long)(use->node % MOST_VALUES + 1), use->node / MOST_VALUES);
        }
    }
    for (uint32_t i = 0; i < graph->live_count; ++i) {
        assert_false(disturb(graph, &graph->live[i].bytes, &live->bytes));
    }
}

static void forget_executed_uses(struct graph* graph)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->use_count; ++i) {
        if (!graph->nodes[graph->uses[i].node].has_executed) {
            graph->uses[kept++] = graph->uses[i];
        }
    }
    graph->use_count = kept;
}

static void allocate_one(struct graph* graph)
{
    MaarPoint waits[4];
    uint32_t wait_count = 0;
    struct live* live = &graph->live[graph->live_count];
    const VkDeviceSize size = ((VkDeviceSize)1 + rig_below(&graph->random, 16)) * 4096 -
                              rig_below(&graph->random, 2) * 100;
    const bool is_ordered = rig_below(&graph->random, 8) != 0;
    MaarOrderedUseInfo use = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
                              .waitCapacity = 1 + rig_below(&graph->random, 4),
                              .pWaits = waits,
                              .pWaitCount = &wait_count};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    if (graph->live_count == MOST_LIVE) {
        return;
    }
    *live = (struct live){.allocation = VK_NULL_HANDLE};
    how.pool = graph->pool;
    if (is_ordered) {
        for (uint32_t i = rig_below(&graph->random, 3) + 1; i > 0; --i) {
            live->first[live->first_count++] = random_point(graph);
        }
        use.flags = rig_below(&graph->random, 3) == 0 ? MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT : 0;
        use.flags |= use.flags != 0 && rig_below(&graph->random, 2) == 0
                         ? MAAR_ORDERED_USE_PREFER_WAITS_BIT
                         : 0;
        use.pointCount = live->first_count;
        use.pPoints = live->first;
        how.pNext = &use;
    }
    const MaarResourceKind kind =
        rig_below(&graph->random, 2) == 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL;
    const MaarMemoryRequest request = rig_request(size, 256, UINT32_MAX, kind);
    if (maarAllocateMemory(graph->rig->allocator, &request, &how, &live->allocation) !=
        VK_SUCCESS) {
        rig_forget_messages(graph->rig);
        return;
    }
    for (uint32_t i = 0; i < wait_count; ++i) {
        live->first[live->first_count++] = waits[i];
    }
    const MaarAllocationInfo info = rig_info(graph->rig, live->allocation);
    live->bytes = (struct bytes){info.memory, info.offset, info.offset + info.size, kind};
    check_bytes(graph, live);
    ++graph->live_count;
}

/* Submits work that uses an allocation: after its first points, and after its other uses. */
static void use_one(struct graph* graph)
{
    if (graph->live_count == 0 || graph->use_count == MOST_USES) {
        return;
    }
    struct live* live = &graph->live[rig_below(&graph->random, graph->live_count)];
    MaarPoint waits[QUEUES + 4];
    uint32_t count = 0;
    bool is_first = true;
    for (uint32_t i = 0; i < QUEUES; ++i) {
        if (live->last[i] != 0) {
            waits[count++] = (MaarPoint){graph->semaphores[i], live->last[i]};
            is_first = false;
        }
    }
    if (is_first) {
        memcpy(waits, live->first, sizeof waits);
        count = live->first_count;
    }
    const uint32_t queue = rig_below(&graph->random, QUEUES);
    const uint64_t value = submit(graph, queue, count, waits);
    if (value == 0) {
        return;
    }
    live->last[queue] = value;
    graph->uses[graph->use_count++] = (struct use){live->bytes, node_of(queue, value)};
}

static void free_one(struct graph* graph)
{
    if (graph->live_count == 0) {
        return;
    }
    const uint32_t at = rig_below(&graph->random, graph->live_count);
    const struct live live = graph->live[at];
    MaarPoint points[QUEUES];
    uint32_t count = 0;
    bool has_executed = true;
    for (uint32_t i = 0; i < QUEUES; ++i) {
        if (live.last[i] != 0) {
            points[count++] = (MaarPoint){graph->semaphores[i], live.last[i]};
            has_executed = has_executed && live.last[i] <= graph->executed[i];
        }
    }
    graph->live[at] = graph->live[--graph->live_count];
    if (has_executed && rig_below(&graph->random, 2) == 0) {
        maarFreeMemory(graph->rig->allocator, live.allocation);
        return;
    }
    if (count == 0) {
        points[count++] = random_point(graph);
    }
    assert_int_equal(maarFreeMemoryAfter(graph->rig->allocator, live.allocation, count, points),
                     VK_SUCCESS);
}

static void take_step(struct graph* graph)
{
    switch (rig_below(&graph->random, 10)) {
    case 0:
    case 1:
    case 2:
        allocate_one(graph);
        break;
    case 3:
    case 4:
    case 5:
        use_one(graph);
        break;
    case 6:
    case 7:
        free_one(graph);
        break;
    case 8:
        execute_some(graph);
        break;
    default:
        if (rig_below(&graph->random, 3) == 0) {
            assert_int_equal(maarCollect(graph->rig->allocator, NULL), VK_SUCCESS);
        } else {
            const MaarPoint waits[2] = {random_point(graph), random_point(graph)};
            (void)submit(graph, rig_below(&graph->random, QUEUES), 2, waits);
        }
        break;
    }
}

static void end_graph(struct graph* graph, struct totals* totals)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    while (graph->live_count > 0) {
        free_one(graph);
    }
    execute_all(graph);
    assert_int_equal(maarCollect(graph->rig->allocator, NULL), VK_SUCCESS);
    rig_check(graph->rig);
    const MaarStatistics books = rig_statistics(graph->rig, graph->pool);
    assert_int_equal(books.allocationBytes, 0);
    assert_int_equal(books.pendingBytes, 0);
    assert_int_equal(maarGetOrderedStatistics(graph->rig->allocator, &statistics), VK_SUCCESS);
    assert_int_equal(statistics.pendingCount, 0);
    assert_int_equal(statistics.inheritingCount, 0);
    totals->covered = statistics.coveredCount;
    totals->waited = statistics.waitedCount;
    maarDestroyPool(graph->rig->allocator, graph->pool);
    for (uint32_t i = 0; i < QUEUES; ++i) {
        assert_int_equal(maarForgetTimeline(graph->rig->allocator, graph->semaphores[i]),
                         VK_SUCCESS);
        vkDestroySemaphore(graph->rig->device, graph->semaphores[i], NULL);
    }
}

static void run_graph(struct rig* rig, uint64_t seed, uint32_t number, struct totals* totals)
{
    static struct graph graph;
    memset(&graph, 0, sizeof graph);
    graph.rig = rig;
    graph.random.state = seed + number * 7919;
    const MaarPoolCreateInfo pool_info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .strategy = number % 5 == 4 ? MAAR_PLACEMENT_STRATEGY_BUDDY : MAAR_PLACEMENT_STRATEGY_TLSF,
        .blockSize = 512 * KIB,
        .maxBlockCount = 1 + number % 3,
    };
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(rig->physical, &properties);
    graph.granularity = properties.limits.bufferImageGranularity;
    graph.pool = rig_create_pool(rig, &pool_info);
    for (uint32_t i = 0; i < QUEUES; ++i) {
        graph.semaphores[i] = rig_create_timeline(rig, 0);
    }
    for (uint32_t step = 0; step < STEPS; ++step) {
        take_step(&graph);
        if (step % 16 == 0) {
            forget_executed_uses(&graph);
            rig_check(rig);
        }
    }
    end_graph(&graph, totals);
}

static void bytes_are_reused_after_what_happens_before(void** state)
{
    (void)state;
    const char* wanted = getenv("MAAR_GRAPHS");
    const uint32_t count = wanted != NULL ? (uint32_t)strtoul(wanted, NULL, 10) : GRAPHS;
    const uint64_t seed = rig_seed(20261127);
    struct rig* const rig = rig_begin(NULL);
    struct totals totals = {.covered = 0};
    for (uint32_t i = 0; i < count; ++i) {
        run_graph(rig, seed, i, &totals);
    }
    printf("%u graphs: %llu allocations in covered memory, %llu by added waits\n", (unsigned)count,
           (unsigned long long)totals.covered, (unsigned long long)totals.waited);
    assert_true(totals.covered > count);
    assert_true(totals.waited > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(bytes_are_reused_after_what_happens_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
