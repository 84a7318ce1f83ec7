/*
 * The policy: which objects make room for others. Without a device.
 */
#include "tests/rig/rig.h"

#include "core/residency/policy.h"

enum { SIZE = 4096, MOST = 1024 };

/* Objects that come and go as the policy says. */
struct scene {
    struct maar_policy* policy;
    bool is_in[MOST];
    uint32_t capacity;
    uint32_t count;
    uint32_t restored;
};

static struct scene scene;

static void check_policy(void)
{
    const char* broken = maar_policy_check(scene.policy);
    if (broken != NULL) {
        fail_msg("%s", broken);
    }
}

static void open_scene(uint32_t object_count, uint32_t capacity)
{
    const struct maar_policy_info info = {.capacity = (VkDeviceSize)capacity * SIZE};
    scene = (struct scene){.policy = maar_policy_create(&info), .capacity = capacity};
    assert_non_null(scene.policy);
    for (uint32_t i = 0; i < object_count; ++i) {
        assert_int_equal(maar_policy_add(scene.policy, SIZE, 0), i);
    }
}

static int close_scene(void** state)
{
    (void)state;
    maar_policy_destroy(scene.policy);
    scene.policy = NULL;
    return 0;
}

static void evict(uint32_t victim)
{
    assert_true(victim < MOST && scene.is_in[victim]);
    maar_policy_set_resident(scene.policy, victim, false);
    scene.is_in[victim] = false;
    --scene.count;
}

static void bring_in(uint32_t object)
{
    if (scene.is_in[object]) {
        return;
    }
    if (scene.count == scene.capacity) {
        evict(maar_policy_victim(scene.policy));
    }
    maar_policy_set_resident(scene.policy, object, true);
    scene.is_in[object] = true;
    ++scene.count;
    ++scene.restored;
}

static void use_many(uint32_t count, const uint32_t* objects)
{
    maar_policy_use(scene.policy, count, objects);
    for (uint32_t i = 0; i < count; ++i) {
        maar_policy_pin(scene.policy, objects[i]);
    }
    for (uint32_t i = 0; i < count; ++i) {
        bring_in(objects[i]);
    }
    for (uint32_t i = 0; i < count; ++i) {
        maar_policy_unpin(scene.policy, objects[i]);
    }
}

static void use_one(uint32_t object)
{
    use_many(1, &object);
}

/* The optimum of a round of 100 objects in a memory of 90 is 10 or 11 a round. The oldest use, as
 * nearly all managers evict, restores all 100. */
static void round_is_learned(void** state)
{
    (void)state;
    open_scene(100, 90);
    for (uint32_t turn = 0; turn < 30; ++turn) {
        scene.restored = turn == 10 ? 0 : scene.restored;
        for (uint32_t i = 0; i < 100; ++i) {
            use_one(i);
        }
    }
    assert_true(scene.restored <= 20 * 12);
    check_policy();
}

/* Forward and backward: what was used last is used first, so the oldest use is the optimum. */
static void way_back_is_learned(void** state)
{
    (void)state;
    open_scene(100, 50);
    for (uint32_t turn = 0; turn < 20; ++turn) {
        scene.restored = turn == 10 ? 0 : scene.restored;
        for (uint32_t i = 0; i < 200; ++i) {
            use_one(i < 100 ? i : 199 - i);
        }
    }
    assert_true(scene.restored <= 10 * 104); /* the optimum is 100 a turn */
}

/* Objects that are used often at random stay, whatever walks past them. */
static void popular_objects_outlast_walks(void** state)
{
    (void)state;
    struct rig_random random = {.state = 5};
    open_scene(1000, 100);
    uint32_t restored = 0;
    for (uint32_t i = 0; i < 40000; ++i) {
        const uint32_t before = scene.restored;
        const bool walks = i % 2 == 0;
        use_one(walks ? 60 + i / 2 % 940 : rig_below(&random, 60));
        restored += walks || i < 20000 ? 0 : scene.restored - before;
    }
    assert_true(restored < 10000 / 20); /* of 10,000 uses of popular objects */
}

static void pinned_objects_are_no_victims(void** state)
{
    (void)state;
    open_scene(3, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        use_one(i);
        maar_policy_pin(scene.policy, i);
    }
    assert_int_equal(maar_policy_victim(scene.policy), MAAR_NO_OBJECT);
    maar_policy_pin(scene.policy, 1);
    maar_policy_unpin(scene.policy, 1);
    assert_int_equal(maar_policy_victim(scene.policy), MAAR_NO_OBJECT);
    maar_policy_unpin(scene.policy, 1);
    assert_int_equal(maar_policy_victim(scene.policy), 1);
    check_policy();
    evict(1);
    assert_int_equal(maar_policy_victim(scene.policy), MAAR_NO_OBJECT);
}

static void lower_classes_go_first(void** state)
{
    (void)state;
    open_scene(0, 8);
    static const uint32_t classes[] = {7, 2, 0, 2, 5};
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(maar_policy_add(scene.policy, SIZE, classes[i]), i);
        use_one(i);
    }
    uint32_t before = 0;
    for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t victim = maar_policy_victim(scene.policy);
        assert_true(classes[victim] >= before);
        before = classes[victim];
        evict(victim);
        check_policy();
    }
    /* Not even one that is never used again goes before a lower class. */
    bring_in(0);
    bring_in(3);
    maar_policy_expect(scene.policy, 0, UINT64_MAX);
    assert_int_equal(maar_policy_victim(scene.policy), 3);
    evict(3);
    assert_int_equal(maar_policy_victim(scene.policy), 0);
}

/* What the program says is above what the log predicts, until the next use. */
static void program_knows_better(void** state)
{
    (void)state;
    open_scene(20, 20);
    for (uint32_t turn = 0; turn < 5; ++turn) {
        for (uint32_t i = 0; i < 20; ++i) {
            use_one(i);
        }
    }
    maar_policy_expect(scene.policy, 7, UINT64_MAX);
    maar_policy_expect(scene.policy, 8, 1000);
    assert_int_equal(maar_policy_victim(scene.policy), 7);
    check_policy();
    use_one(7); /* and that is over */
    assert_int_equal(maar_policy_victim(scene.policy), 8);
    maar_policy_expect(scene.policy, 8, 1);
    for (uint32_t i = 0; i < 19; ++i) {
        const uint32_t victim = maar_policy_victim(scene.policy);
        assert_true(victim != 8);
        evict(victim);
    }
    assert_int_equal(maar_policy_victim(scene.policy), 8);
    check_policy();
}

/* An object that the program expected, and that was not used, is as good as any other one later. */
static void expectation_that_failed_ends(void** state)
{
    (void)state;
    open_scene(20, 20);
    for (uint32_t i = 0; i < 20; ++i) {
        use_one(i);
    }
    maar_policy_expect(scene.policy, 3, 1);
    for (uint32_t i = 0; i < 400; ++i) {
        use_one(4 + i % 16);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        use_one(i);
    }
    assert_int_equal(maar_policy_victim(scene.policy), 3);
}

/* What the program has named before, and not again with others, is as if it had not named it. */
static void hint_that_was_not_repeated_ends(void** state)
{
    (void)state;
    open_scene(20, 20);
    for (uint32_t i = 0; i < 20; ++i) {
        use_one(i);
    }
    for (uint32_t i = 0; i < 20; ++i) {
        maar_policy_expect(scene.policy, i, i + 1);
    }
    maar_policy_end_hints(scene.policy);
    assert_int_equal(maar_policy_victim(scene.policy), 19);
    assert_true(maar_policy_is_expected(scene.policy, 0));
    for (uint32_t i = 1; i < 20; ++i) {
        maar_policy_expect(scene.policy, i, i);
    }
    assert_int_equal(maar_policy_victim(scene.policy), 0);
    assert_false(maar_policy_is_expected(scene.policy, 0));
    assert_int_equal(maar_policy_distance(scene.policy, 0), 20); /* since its last use */
    evict(0);
    assert_int_equal(maar_policy_victim(scene.policy), 19);
    /* What is never used again is named once. */
    maar_policy_expect(scene.policy, 5, UINT64_MAX);
    maar_policy_end_hints(scene.policy);
    for (uint32_t i = 1; i < 20; ++i) {
        if (i != 5) {
            maar_policy_expect(scene.policy, i, i);
        }
    }
    assert_int_equal(maar_policy_victim(scene.policy), 5);
    check_policy();
}

/* Forward and backward. The newest use is as good a victim as another, but cannot leave for as long
 * as the device is busy with it. */
static void busy_device_keeps_the_newest_use(void** state)
{
    (void)state;
    open_scene(40, 24);
    for (uint32_t i = 0; i < 40; ++i) {
        use_one(i);
    }
    for (uint32_t i = 0; i < 3 * 80 + 30; ++i) {
        use_one(i % 80 < 40 ? i % 80 : 79 - i % 80);
    }
    assert_int_equal(maar_policy_victim(scene.policy), 29);
    maar_policy_set_busy(scene.policy, true);
    assert_int_not_equal(maar_policy_victim(scene.policy), 29);
    maar_policy_set_busy(scene.policy, false);
    assert_int_equal(maar_policy_victim(scene.policy), 29);
}

/* Objects that have left a round are evicted before those that are still in it. */
static void objects_that_are_overdue_go(void** state)
{
    (void)state;
    open_scene(20, 20);
    for (uint32_t turn = 0; turn < 5; ++turn) {
        for (uint32_t i = 0; i < 20; ++i) {
            use_one(i);
        }
    }
    for (uint32_t turn = 0; turn < 10; ++turn) {
        for (uint32_t i = 5; i < 20; ++i) {
            use_one(i);
        }
    }
    for (uint32_t i = 0; i < 5; ++i) {
        const uint32_t victim = maar_policy_victim(scene.policy);
        assert_true(victim < 5);
        evict(victim);
    }
}

static void clean_objects_go_before_dirty_ones(void** state)
{
    (void)state;
    open_scene(100, 100);
    for (uint32_t turn = 0; turn < 3; ++turn) {
        for (uint32_t i = 0; i < 100; ++i) {
            use_one(i);
        }
    }
    for (uint32_t i = 0; i < 100; ++i) {
        maar_policy_set_dirty(scene.policy, i, i % 4 != 0);
    }
    /* Of a round, those used last are used latest. */
    const uint32_t victim = maar_policy_victim(scene.policy);
    assert_true(victim % 4 == 0 && victim >= 92);
    /* One that is needed much earlier is no better. */
    maar_policy_set_dirty(scene.policy, 96, true);
    maar_policy_set_dirty(scene.policy, 92, true);
    assert_true(maar_policy_victim(scene.policy) >= 88);
}

static void object_that_is_named_twice_counts_once(void** state)
{
    (void)state;
    open_scene(4, 4);
    static const uint32_t twice[] = {1, 2, 1, 2, 1};
    for (uint32_t i = 0; i < 10; ++i) {
        use_many(5, twice);
        use_one(3);
    }
    check_policy();
}

/* All calls at random: the books hold, and no object is lost. */
static void random_calls_keep_the_books(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(20261127)};
    bool exists[MOST] = {false};
    uint32_t pins[MOST] = {0};
    open_scene(0, MOST);
    for (uint32_t step = 0; step < 20000; ++step) {
        const uint32_t object = rig_below(&random, 600);
        const uint32_t what = rig_below(&random, 12);
        if (!exists[object]) {
            const uint32_t made =
                maar_policy_add(scene.policy, 1 + rig_below(&random, SIZE), rig_below(&random, 8));
            assert_true(made < MOST && !exists[made]);
            exists[made] = true;
            continue;
        }
        if (what < 4) {
            const uint32_t uses[2] = {object, object};
            maar_policy_use(scene.policy, 1 + what % 2, uses);
        } else if (what < 7) {
            maar_policy_set_resident(scene.policy, object, what != 4);
            scene.is_in[object] = what != 4;
        } else if (what == 7) {
            maar_policy_pin(scene.policy, object);
            ++pins[object];
        } else if (what == 8 && pins[object] > 0) {
            maar_policy_unpin(scene.policy, object);
            --pins[object];
        } else if (what == 9) {
            maar_policy_expect(scene.policy, object, rig_below(&random, 1000));
        } else if (what == 10) {
            const uint32_t victim = maar_policy_victim(scene.policy);
            assert_true(victim == MAAR_NO_OBJECT ||
                        (exists[victim] && scene.is_in[victim] && pins[victim] == 0));
        } else if (rig_below(&random, 4) == 0) {
            maar_policy_remove(scene.policy, object);
            exists[object] = false;
            scene.is_in[object] = false;
            pins[object] = 0;
        }
        if (step % 16 == 0) {
            check_policy();
        }
    }
}

/* Host memory that runs out. */
struct host {
    uint32_t left;
    uint32_t live;
};

static void* VKAPI_CALL allocate_host(void* data, size_t size, size_t alignment,
                                      VkSystemAllocationScope scope)
{
    struct host* host = data;
    (void)alignment;
    (void)scope;
    if (host->left == 0) {
        return NULL;
    }
    --host->left;
    ++host->live;
    return malloc(size);
}

static void VKAPI_CALL free_host(void* data, void* memory)
{
    struct host* host = data;
    host->live -= memory != NULL ? 1 : 0;
    free(memory);
}

static void* VKAPI_CALL reallocate_host(void* data, void* memory, size_t size, size_t alignment,
                                        VkSystemAllocationScope scope)
{
    (void)data;
    (void)memory;
    (void)size;
    (void)alignment;
    (void)scope;
    return NULL;
}

static void nothing_is_lost_without_host_memory(void** state)
{
    (void)state;
    for (uint32_t left = 0; left < 12; ++left) {
        struct host host = {.left = left};
        const VkAllocationCallbacks callbacks = {.pUserData = &host,
                                                 .pfnAllocation = allocate_host,
                                                 .pfnReallocation = reallocate_host,
                                                 .pfnFree = free_host};
        const struct maar_policy_info info = {.callbacks = &callbacks, .capacity = 100 * SIZE};
        scene.policy = maar_policy_create(&info);
        uint32_t count = 0;
        while (scene.policy != NULL && count < 200 &&
               maar_policy_add(scene.policy, SIZE, 0) != MAAR_NO_OBJECT) {
            maar_policy_use(scene.policy, 1, &count);
            ++count;
        }
        if (scene.policy != NULL) {
            check_policy();
            host.left = UINT32_MAX;
            assert_int_equal(maar_policy_add(scene.policy, SIZE, 0), count);
            check_policy();
            maar_policy_destroy(scene.policy);
        }
        scene.policy = NULL;
        assert_int_equal(host.live, 0);
    }
}

#define policy_unit_test(function) cmocka_unit_test_teardown(function, close_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        policy_unit_test(round_is_learned),
        policy_unit_test(way_back_is_learned),
        policy_unit_test(popular_objects_outlast_walks),
        policy_unit_test(pinned_objects_are_no_victims),
        policy_unit_test(lower_classes_go_first),
        policy_unit_test(program_knows_better),
        policy_unit_test(expectation_that_failed_ends),
        policy_unit_test(hint_that_was_not_repeated_ends),
        policy_unit_test(busy_device_keeps_the_newest_use),
        policy_unit_test(objects_that_are_overdue_go),
        policy_unit_test(clean_objects_go_before_dirty_ones),
        policy_unit_test(object_that_is_named_twice_counts_once),
        policy_unit_test(random_calls_keep_the_books),
        policy_unit_test(nothing_is_lost_without_host_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
