/*
 * Where in a block: unknown kinds under every strategy, and alignments that are no powers of two.
 */
#include "tests/rig/rig.h"

#define GRANULE ((VkDeviceSize)1024)

static bool share_a_granule(const MaarAllocationInfo* a, const MaarAllocationInfo* b)
{
    return a->memory == b->memory && (a->offset + a->size - 1) / GRANULE >= b->offset / GRANULE &&
           (b->offset + b->size - 1) / GRANULE >= a->offset / GRANULE;
}

static void unknown_kinds_keep_apart_under_every_strategy(void** state)
{
    (void)state;
    enum { COUNT = 60 };
    for (uint32_t strategy = 0; strategy <= MAAR_PLACEMENT_STRATEGY_LINEAR; ++strategy) {
        struct rig* rig = rig_new();
        rig_open(rig, NULL);
        rig->create_info.strategy = (MaarPlacementStrategy)strategy;
        rig_make_allocator(rig);
        MaarAllocation made[COUNT];
        MaarAllocationInfo infos[COUNT];
        uint32_t shared = 0;
        for (uint32_t i = 0; i < COUNT; ++i) {
            /* The first two are unknown and fit into one granule together. */
            const MaarMemoryRequest request =
                rig_request(100 + i * 20, 16, 1, (MaarResourceKind)(i / 2 % 3));
            assert_int_equal(maarAllocateMemory(rig->allocator, &request, NULL, &made[i]),
                             VK_SUCCESS);
            infos[i] = rig_info(rig, made[i]);
            for (uint32_t j = 0; j < i; ++j) {
                if (share_a_granule(&infos[i], &infos[j])) {
                    assert_int_equal(infos[i].kind, infos[j].kind);
                    assert_int_not_equal(infos[i].kind, MAAR_RESOURCE_KIND_UNKNOWN);
                    ++shared;
                }
            }
        }
        assert_true(shared > 0); /* known kinds do not pay for it */
        rig_check(rig);
        maarFreeMemories(rig->allocator, COUNT, made);
        rig_close(rig);
    }
}

static void odd_alignments_meet_at_their_least_multiple(void** state)
{
    (void)state;
    static const struct {
        VkDeviceSize resource;
        VkDeviceSize wanted;
        VkDeviceSize multiple;
    } rows[] = {
        {1024, 48, 3072}, {48, 1024, 3072}, {16, 48, 48}, {256, 96, 768}, {1024, 1536, 3072}};
    enum { COUNT = 8 };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row) {
        struct rig* rig = rig_begin(NULL);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.minAlignment = rows[row].wanted;
        MaarAllocation made[COUNT];
        for (uint32_t i = 0; i < COUNT; ++i) {
            const MaarMemoryRequest request =
                rig_request(40, rows[row].resource, 1, MAAR_RESOURCE_KIND_LINEAR);
            assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &made[i]),
                             VK_SUCCESS);
            VkDeviceSize offset = rig_info(rig, made[i]).offset;
            assert_int_equal(offset % rows[row].multiple, 0);
            assert_true(offset < COUNT * rows[row].multiple); /* and not further away */
        }
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockCount, 1);
        rig_check(rig);
        maarFreeMemories(rig->allocator, COUNT, made);
        rig_close(rig);
    }
}

/* No offset has both alignments: nothing of any block would do. */
static void alignments_beyond_all_bounds_fail(void** state)
{
    (void)state;
    static const VkDeviceSize wanted[] = {((VkDeviceSize)1 << 63) + 1, UINT64_MAX};
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 2; ++i) {
        how.minAlignment = wanted[i];
        const MaarMemoryRequest request = rig_request(64, 16, 1, MAAR_RESOURCE_KIND_LINEAR);
        MaarAllocation none = VK_NULL_HANDLE;
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &none),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_true(none == VK_NULL_HANDLE);
    }
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

/* What a pool adds may not make room for what the request and the pool together forbid. */
static void alignments_of_pool_and_request_together_may_be_too_much(void** state)
{
    (void)state;
    static const struct {
        uint32_t type;
        MaarResourceKind kind;
    } rows[] = {
        {0, MAAR_RESOURCE_KIND_UNKNOWN}, /* granules come on top, */
        {2, MAAR_RESOURCE_KIND_LINEAR},  /* or atoms */
    };
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; ++row) {
        struct rig* rig = rig_begin(&setup);
        const MaarPoolCreateInfo info = {
            .memoryTypeIndex = rows[row].type,
            .minAlignment = 3,
        };
        const MaarPool pool = rig_create_pool(rig, &info);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        how.pool = pool;
        const MaarMemoryRequest request =
            rig_request(64, (VkDeviceSize)1 << 47, UINT32_MAX, rows[row].kind);
        MaarAllocation none = VK_NULL_HANDLE;
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &none),
                         VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_true(none == VK_NULL_HANDLE);
        assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
        maarDestroyPool(rig->allocator, pool);
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(unknown_kinds_keep_apart_under_every_strategy),
        rig_unit_test(odd_alignments_meet_at_their_least_multiple),
        rig_unit_test(alignments_beyond_all_bounds_fail),
        rig_unit_test(alignments_of_pool_and_request_together_may_be_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
