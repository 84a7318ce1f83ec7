/*
 * Plans of thousands of resources: what is returned is right at every limit, and every wait of the
 * caller ends. A checker of its own, since plan_checker.h compares all pairs of all regions.
 */
#include "tests/rig/rig.h"

#include "maar/plan.h"

#include <time.h>

enum {
    COUNT = 6000,
    PASSES = 5000,
    USES = 4,
    QUEUES = 3,
    WORDS = (PASSES + 63) / 64,
    /* A plan that takes longer than this has ignored its limits: with 6,000 resources it ends
     * within 50 ms of them. Sanitizers take ten times as long. */
    PATIENCE_MS = 3000,
};

enum shape { SHORT_LIVES, LONG_LIVES, ALL_ALIVE, MIXED_KINDS, MANY_QUEUES, SHAPES };

static const char* const shape_names[SHAPES] = {"short lives", "long lives", "all alive",
                                                "mixed kinds", "several queues"};

struct scene {
    enum shape shape;
    uint32_t count;
    MaarPlanCreateInfo info;
    MaarPlanResource resources[COUNT];
    uint32_t uses[COUNT][USES];
    uint32_t queues[PASSES];
    MaarPlanDependency dependencies[PASSES];
    uint64_t reach[PASSES][WORDS]; /* of several queues */
    MaarPlanPlacement placements[COUNT];
    MaarPlanEdge* edges;
    MaarPlanInfo figures;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void fill_resource(struct scene* scene, uint32_t i, struct rig_random* random)
{
    static const uint32_t lives[SHAPES] = {20, PASSES / 2, PASSES, PASSES / 3, 60};
    MaarPlanResource* resource = &scene->resources[i];
    const uint32_t life = lives[scene->shape];
    const uint32_t first =
        scene->shape == ALL_ALIVE ? rig_below(random, 8) : rig_below(random, PASSES);
    *resource = (MaarPlanResource){
        .size = 256 * (1 + rig_below(random, 4096)),
        .alignment = 256,
        .firstPass = first,
        .lastPass = scene->shape == ALL_ALIVE ? PASSES - 1
                                              : least(first + rig_below(random, life), PASSES - 1),
    };
    if (scene->shape == MIXED_KINDS) {
        resource->kind =
            rig_below(random, 2) == 0 ? MAAR_RESOURCE_KIND_LINEAR : MAAR_RESOURCE_KIND_OPTIMAL;
        resource->alignment = (VkDeviceSize)1 << rig_below(random, 12);
        resource->size = 1 + rig_below(random, 300000);
    }
    if (scene->shape == MANY_QUEUES) {
        for (uint32_t k = 0; k < USES; ++k) {
            scene->uses[i][k] = least(first + rig_below(random, life), PASSES - 1);
        }
        resource->useCount = USES;
        resource->pUses = scene->uses[i];
    }
}

/* Dependencies point to later passes, so passes in descending order know what they reach. */
static void fill_reach(struct scene* scene)
{
    uint32_t next[QUEUES];
    memset(next, 0xFF, sizeof next);
    memset(scene->reach, 0, sizeof scene->reach);
    for (uint32_t p = PASSES; p-- > 0;) {
        const uint32_t queue = scene->queues[p];
        for (uint32_t i = 0; i <= scene->info.dependencyCount; ++i) {
            const bool of_queue = i == scene->info.dependencyCount;
            if (!of_queue && scene->dependencies[i].before != p) {
                continue;
            }
            const uint32_t after = of_queue ? next[queue] : scene->dependencies[i].after;
            for (uint32_t w = 0; w < WORDS && after != UINT32_MAX; ++w) {
                scene->reach[p][w] |= scene->reach[after][w];
            }
            if (after != UINT32_MAX) {
                scene->reach[p][after / 64] |= (uint64_t)1 << (after % 64);
            }
        }
        next[queue] = p;
    }
}

static struct scene* make_scene(enum shape shape, uint32_t count)
{
    struct scene* scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    struct rig_random random = {rig_seed(41 + (uint64_t)shape)};
    scene->shape = shape;
    scene->count = count;
    scene->info = (MaarPlanCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = count,
        .pResources = scene->resources,
        .passCount = PASSES,
        .granularity = shape == MIXED_KINDS ? 65536 : 1,
    };
    for (uint32_t i = 0; i < count; ++i) {
        fill_resource(scene, i, &random);
    }
    if (shape == MANY_QUEUES) {
        uint32_t* dependency_count = &scene->info.dependencyCount;
        for (uint32_t p = 0; p < PASSES; ++p) {
            scene->queues[p] = rig_below(&random, QUEUES);
        }
        for (uint32_t p = 0; p + 20 < PASSES; p += 1 + rig_below(&random, 12)) {
            scene->dependencies[(*dependency_count)++] =
                (MaarPlanDependency){.before = p, .after = p + 1 + rig_below(&random, 16)};
        }
        scene->info.pPassQueues = scene->queues;
        scene->info.pDependencies = scene->dependencies;
        fill_reach(scene);
    }
    return scene;
}

static void drop_scene(struct scene* scene)
{
    free(scene->edges);
    free(scene);
}

/* Whether every use of a resource comes before every use of another one. */
static bool comes_before(const struct scene* scene, uint32_t a, uint32_t b)
{
    const MaarPlanResourceFlags flags = scene->resources[a].flags | scene->resources[b].flags;
    if ((flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0) {
        return false;
    }
    if (scene->shape != MANY_QUEUES) {
        return scene->resources[a].lastPass < scene->resources[b].firstPass;
    }
    for (uint32_t i = 0; i < USES; ++i) {
        for (uint32_t k = 0; k < USES; ++k) {
            const uint32_t to = scene->uses[b][k];
            if ((scene->reach[scene->uses[a][i]][to / 64] >> (to % 64) & 1) == 0) {
                return false;
            }
        }
    }
    return true;
}

/* Whether two resources share bytes or, if they differ in kind, granules. */
static bool share(const struct scene* scene, uint32_t a, uint32_t b)
{
    VkDeviceSize begin[2];
    VkDeviceSize end[2];
    const uint32_t both[2] = {a, b};
    const bool differ = scene->resources[a].kind != scene->resources[b].kind;
    const VkDeviceSize step = differ ? scene->info.granularity : 1;
    for (uint32_t i = 0; i < 2; ++i) {
        begin[i] = scene->placements[both[i]].offset / step;
        end[i] = (scene->placements[both[i]].offset + scene->resources[both[i]].size - 1) / step;
    }
    return begin[0] <= end[1] && begin[1] <= end[0];
}

static bool has_edge(const struct scene* scene, uint32_t before, uint32_t after)
{
    uint32_t low = 0;
    uint32_t count = scene->figures.edgeCount;
    while (count > 0) {
        const uint32_t half = count / 2;
        const MaarPlanEdge* edge = &scene->edges[low + half];
        if (edge->after < after || (edge->after == after && edge->before < before)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low < scene->figures.edgeCount && scene->edges[low].before == before &&
           scene->edges[low].after == after;
}

/* Of the resources that share the byte at which a resource begins, the last one before it has an
 * edge to it. */
static void check_first_byte(const struct scene* scene, uint32_t item, const uint32_t* users,
                             uint32_t user_count)
{
    const VkDeviceSize at = scene->placements[item].offset;
    uint32_t last = UINT32_MAX;
    for (uint32_t k = 0; k < user_count; ++k) {
        const uint32_t user = users[k];
        const VkDeviceSize begin = scene->placements[user].offset;
        if (begin <= at && at < begin + scene->resources[user].size &&
            comes_before(scene, user, item) &&
            (last == UINT32_MAX || comes_before(scene, last, user))) {
            last = user;
        }
    }
    if (last != UINT32_MAX && scene->shape != MIXED_KINDS && !has_edge(scene, last, item)) {
        fail_msg("%s: no edge from %u to %u", shape_names[scene->shape], last, item);
    }
}

static const struct scene* sorted_scene;

static int compare_offsets(const void* a, const void* b)
{
    const VkDeviceSize one = sorted_scene->placements[*(const uint32_t*)a].offset;
    const VkDeviceSize other = sorted_scene->placements[*(const uint32_t*)b].offset;
    return one < other ? -1 : one > other;
}

/* Goes through the resources by offset, and compares each with those that reach its first granule.
 */
static void check_sharing(const struct scene* scene)
{
    static uint32_t order[COUNT];
    static uint32_t users[COUNT];
    const VkDeviceSize step = scene->info.granularity;
    uint32_t user_count = 0;
    uint32_t group = 0; /* the first one of those with the same offset */
    for (uint32_t i = 0; i < scene->count; ++i) {
        order[i] = i;
    }
    sorted_scene = scene;
    qsort(order, scene->count, sizeof order[0], compare_offsets);
    for (uint32_t n = 0; n < scene->count; ++n) {
        const uint32_t item = order[n];
        const VkDeviceSize granule = scene->placements[item].offset / step;
        uint32_t kept = 0;
        for (uint32_t k = 0; k < user_count; ++k) {
            const uint32_t user = users[k];
            if ((scene->placements[user].offset + scene->resources[user].size - 1) / step >=
                granule) {
                users[kept++] = user;
            }
        }
        user_count = kept;
        for (uint32_t k = 0; k < user_count; ++k) {
            if (share(scene, item, users[k]) && !comes_before(scene, item, users[k]) &&
                !comes_before(scene, users[k], item)) {
                fail_msg("%s: %u and %u share bytes and may not", shape_names[scene->shape], item,
                         users[k]);
            }
        }
        users[user_count++] = item;
        const bool ends_group = n + 1 == scene->count || scene->placements[order[n + 1]].offset !=
                                                             scene->placements[item].offset;
        for (uint32_t k = group; ends_group && k <= n; ++k) {
            check_first_byte(scene, order[k], users, user_count);
        }
        group = ends_group ? n + 1 : group;
    }
}

static void check_plan(struct scene* scene, MaarPlan plan)
{
    uint32_t count = COUNT;
    scene->figures = (MaarPlanInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO};
    assert_int_equal(maarGetPlanInfo(plan, &scene->figures), VK_SUCCESS);
    assert_int_equal(maarGetPlanPlacements(plan, &count, scene->placements), VK_SUCCESS);
    assert_int_equal(count, scene->count);
    free(scene->edges);
    count = scene->figures.edgeCount;
    scene->edges = calloc(count + 1, sizeof *scene->edges);
    assert_non_null(scene->edges);
    assert_int_equal(maarGetPlanEdges(plan, &count, scene->edges), VK_SUCCESS);
    assert_true(scene->figures.peakSize >= scene->figures.provedBound);
    assert_true(scene->figures.provedBound >= scene->figures.lowerBound);
    assert_true(scene->figures.lowerBound > 0);
    if (scene->shape != MIXED_KINDS) {
        assert_true(scene->figures.edgeCount <= 3 * scene->count);
    }
    for (uint32_t i = 0; i < scene->count; ++i) {
        assert_int_equal(scene->placements[i].offset % scene->resources[i].alignment, 0);
        assert_true(scene->placements[i].offset + scene->resources[i].size <=
                    scene->figures.peakSize);
    }
    check_sharing(scene);
}

static void make_and_check(struct scene* scene)
{
    MaarPlan plan = VK_NULL_HANDLE;
    const clock_t began = clock();
    assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_SUCCESS);
    const uint64_t ms = (uint64_t)(clock() - began) * 1000 / CLOCKS_PER_SEC;
    if (scene->info.timeLimit_ns != 0 || scene->info.pfnCancel != NULL) {
        assert_in_range(ms, 0, scene->info.timeLimit_ns / 1000000 + PATIENCE_MS);
    }
    check_plan(scene, plan);
    maarDestroyPlan(plan);
}

static void plan_is_right_at_every_time_limit(void** state)
{
    (void)state;
    static const uint64_t limits_ns[] = {1, 1000000, 5000000, 40000000};
    for (uint32_t shape = 0; shape < SHAPES; ++shape) {
        /* Both sides of the size up to which all pairs are compared. */
        for (uint32_t count = 3000; count <= COUNT; count += 3000) {
            struct scene* scene = make_scene((enum shape)shape, count);
            for (uint32_t i = 0; i < sizeof limits_ns / sizeof limits_ns[0]; ++i) {
                scene->info.timeLimit_ns = limits_ns[i];
                make_and_check(scene);
            }
            drop_scene(scene);
        }
    }
}

struct patience {
    uint32_t left;  /* questions until the caller cancels */
    uint32_t after; /* questions after that */
};

static VkBool32 VKAPI_PTR run_out(void* user_data)
{
    struct patience* patience = user_data;
    patience->after += patience->left == 0 ? 1 : 0;
    patience->left -= patience->left > 0 ? 1 : 0;
    return patience->left == 0 ? VK_TRUE : VK_FALSE;
}

static void plan_is_right_when_cancelled_anywhere(void** state)
{
    (void)state;
    for (uint32_t shape = 0; shape < SHAPES; ++shape) {
        for (uint32_t count = 3000; count <= COUNT; count += 3000) {
            struct scene* scene = make_scene((enum shape)shape, count);
            for (uint32_t asked = 1; asked <= 512; asked *= 4) {
                struct patience patience = {.left = asked};
                scene->info.pfnCancel = run_out;
                scene->info.pCancelUserData = &patience;
                make_and_check(scene);
                /* Once the caller has cancelled, it is not asked again. */
                assert_int_equal(patience.after, 0);
                if (patience.left == 0) {
                    assert_true(scene->figures.stop == MAAR_PLAN_STOP_CANCELLED ||
                                scene->figures.stop == MAAR_PLAN_STOP_DONE);
                }
            }
            drop_scene(scene);
        }
    }
}

static VkBool32 VKAPI_PTR count_asked(void* user_data)
{
    ++*(uint32_t*)user_data;
    return VK_FALSE;
}

static void plan_with_resources_that_share_with_none_is_right(void** state)
{
    (void)state;
    for (uint32_t shape = 0; shape < SHAPES; ++shape) {
        struct scene* scene = make_scene((enum shape)shape, COUNT);
        for (uint32_t i = 0; i < COUNT; i += 7) {
            scene->resources[i].flags = MAAR_PLAN_RESOURCE_NO_ALIASING_BIT;
        }
        scene->info.timeLimit_ns = 20000000;
        make_and_check(scene);
        drop_scene(scene);
    }
}

/* Small enough for the cliques of a partial order, and too many for an exact search. */
static void plan_of_a_partial_order_is_right(void** state)
{
    (void)state;
    static const uint64_t granularities[] = {1, 65536};
    for (uint32_t i = 0; i < 2; ++i) {
        struct scene* scene = make_scene(MANY_QUEUES, 700);
        scene->info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
        scene->info.granularity = granularities[i];
        make_and_check(scene);
        assert_int_equal(scene->figures.stop, MAAR_PLAN_STOP_DONE);
        assert_in_range(scene->figures.lowerBound, 1, scene->figures.peakSize);
        drop_scene(scene);
    }
}

/* Ten orders compare each of 3,000 resources with the others. */
static void plan_asks_while_it_compares(void** state)
{
    (void)state;
    uint32_t asked = 0;
    struct scene* scene = make_scene(LONG_LIVES, 3000);
    scene->info.flags = MAAR_PLAN_CREATE_GREEDY_BIT;
    scene->info.pfnCancel = count_asked;
    scene->info.pCancelUserData = &asked;
    make_and_check(scene);
    assert_in_range(asked, 10 * 3000 / 32, 10 * 3000);
    drop_scene(scene);
}

/* Makes a plan without a limit and returns how often it asked the caller. */
static uint32_t questions_of(struct scene* scene)
{
    MaarPlan plan = VK_NULL_HANDLE;
    uint32_t asked = 0;
    scene->info.pfnCancel = count_asked;
    scene->info.pCancelUserData = &asked;
    assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_SUCCESS);
    maarDestroyPlan(plan);
    return asked;
}

/* Two classes take hardly more steps together than all resources in one class. */
static void plan_of_classes_shares_the_steps(void** state)
{
    (void)state;
    for (uint32_t shape = LONG_LIVES; shape <= MANY_QUEUES; ++shape) {
        struct scene* scene = make_scene((enum shape)shape, COUNT);
        scene->info.flags = MAAR_PLAN_CREATE_GREEDY_BIT | MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
        const uint32_t whole = questions_of(scene);
        for (uint32_t i = 0; i < COUNT; ++i) {
            scene->resources[i].memoryTypeBits = 1u << i % 2;
        }
        const uint32_t halves = questions_of(scene);
        if (halves > whole + whole / 4 + 400) {
            fail_msg("%s: %u questions, in two classes %u", shape_names[shape], whole, halves);
        }
        drop_scene(scene);
    }
}

/* Nodes take longer with many resources. So the default limit falls in proportion. */
static void plan_of_many_resources_searches_less(void** state)
{
    (void)state;
    static const uint64_t limits[] = {0, (uint64_t)MAAR_PLAN_DEFAULT_NODE_LIMIT * 4096 / COUNT,
                                      MAAR_PLAN_DEFAULT_NODE_LIMIT};
    uint64_t nodes[3];
    struct scene* scene = make_scene(LONG_LIVES, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        scene->resources[i].memoryTypeBits = 1u << i % 32;
        scene->resources[i].alignment = (VkDeviceSize)1 << i % 11;
    }
    for (uint32_t i = 0; i < 3; ++i) {
        MaarPlan plan = VK_NULL_HANDLE;
        scene->info.nodeLimit = limits[i];
        scene->figures.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO;
        assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_SUCCESS);
        assert_int_equal(maarGetPlanInfo(plan, &scene->figures), VK_SUCCESS);
        assert_int_equal(scene->figures.stop, MAAR_PLAN_STOP_NODE_LIMIT);
        nodes[i] = scene->figures.nodeCount;
        maarDestroyPlan(plan);
    }
    assert_int_equal(nodes[0], nodes[1]);
    assert_in_range(nodes[0], 1, nodes[2] - 1);
    drop_scene(scene);
}

/* Tiny resources of two kinds: however little time there is, they do not take a granule each. */
static void plan_of_tiny_kinds_is_near_the_bound(void** state)
{
    (void)state;
    static const uint64_t limits_ns[] = {1, 40000000};
    struct scene* scene = make_scene(MIXED_KINDS, COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        scene->resources[i].size = 1 + i % 61;
        scene->resources[i].alignment = (VkDeviceSize)1 << i % 5;
    }
    for (uint32_t i = 0; i < 2; ++i) {
        scene->info.timeLimit_ns = limits_ns[i];
        make_and_check(scene);
        assert_in_range(scene->figures.peakSize, scene->figures.lowerBound,
                        2 * scene->figures.lowerBound + 2 * scene->info.granularity);
    }
    drop_scene(scene);
}

/* Resources that are said to have kept their offset have kept it. */
static void check_kept(const struct scene* scene, MaarPlan previous)
{
    static MaarPlanPlacement old[COUNT];
    uint32_t count = COUNT;
    uint32_t kept = 0;
    assert_int_equal(maarGetPlanPlacements(previous, &count, old), VK_SUCCESS);
    for (uint32_t i = 0; i < scene->count; ++i) {
        if (scene->placements[i].kept == VK_TRUE) {
            assert_true(scene->placements[i].offset == old[i].offset);
            ++kept;
        }
    }
    assert_int_equal(kept, scene->figures.keptCount);
}

static void plan_around_fixed_and_previous_offsets(void** state)
{
    (void)state;
    for (uint32_t shape = 0; shape < SHAPES; ++shape) {
        struct scene* scene = make_scene((enum shape)shape, COUNT);
        MaarPlan first = VK_NULL_HANDLE;
        scene->info.timeLimit_ns = 5000000;
        assert_int_equal(maarCreatePlan(&scene->info, &first), VK_SUCCESS);
        check_plan(scene, first);
        /* Two thirds are fixed where they lay. */
        for (uint32_t i = 0; i < COUNT; ++i) {
            if (i % 3 != 0) {
                scene->resources[i].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
                scene->resources[i].fixedOffset = scene->placements[i].offset;
            }
        }
        make_and_check(scene);
        for (uint32_t i = 0; i < COUNT; ++i) {
            scene->resources[i].flags = 0;
        }
        scene->info.previous = first;
        scene->info.timeLimit_ns = 400000000;
        make_and_check(scene);
        check_kept(scene, first);
        maarDestroyPlan(first);
        drop_scene(scene);
    }
}

static void refuse_clashing_offsets(enum shape shape, uint32_t count, MaarPlanResourceFlags also)
{
    struct scene* scene = make_scene(shape, count);
    MaarPlan plan = VK_NULL_HANDLE;
    scene->info.timeLimit_ns = 1;
    assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_SUCCESS);
    check_plan(scene, plan);
    maarDestroyPlan(plan);
    for (uint32_t i = 0; i < count; ++i) {
        scene->resources[i].flags = MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT;
        scene->resources[i].fixedOffset = scene->placements[i].offset;
    }
    /* One of them is moved onto a resource that lives at the same time. */
    uint32_t other = 1;
    while (comes_before(scene, 0, other) || comes_before(scene, other, 0)) {
        ++other;
    }
    scene->resources[other].fixedOffset = scene->placements[0].offset;
    scene->resources[other].flags |= also;
    assert_int_equal(maarCreatePlan(&scene->info, &plan), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(plan == VK_NULL_HANDLE);
    drop_scene(scene);
}

static void plan_with_clashing_fixed_offsets_is_refused(void** state)
{
    (void)state;
    refuse_clashing_offsets(SHORT_LIVES, COUNT, 0);
    refuse_clashing_offsets(MANY_QUEUES, 3000, 0);
    refuse_clashing_offsets(MANY_QUEUES, COUNT, 0);
    refuse_clashing_offsets(MANY_QUEUES, COUNT, MAAR_PLAN_RESOURCE_NO_ALIASING_BIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_is_right_at_every_time_limit),
        cmocka_unit_test(plan_is_right_when_cancelled_anywhere),
        cmocka_unit_test(plan_with_resources_that_share_with_none_is_right),
        cmocka_unit_test(plan_of_a_partial_order_is_right),
        cmocka_unit_test(plan_asks_while_it_compares),
        cmocka_unit_test(plan_of_classes_shares_the_steps),
        cmocka_unit_test(plan_of_many_resources_searches_less),
        cmocka_unit_test(plan_of_tiny_kinds_is_near_the_bound),
        cmocka_unit_test(plan_around_fixed_and_previous_offsets),
        cmocka_unit_test(plan_with_clashing_fixed_offsets_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
