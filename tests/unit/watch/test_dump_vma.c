/*
 * The dump in VulkanMemoryAllocator's schema: it is valid, it adds up, and it says what is there.
 */
#include "tests/unit/watch/dump_fixture.h"

#include "tests/unit/watch/vma_schema.h"

static json_t* read_valid(struct rig* rig, bool detailed)
{
    json_t* root = dump_read(rig->allocator, MAAR_DUMP_FORMAT_VMA, detailed);
    struct vma_error error;
    if (!vma_is_dump(root, detailed, &error)) {
        fail_msg("not of VMA's schema: %s", error.text);
    }
    return root;
}

static void empty_allocator_is_valid(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    for (uint32_t detailed = 0; detailed < 2; ++detailed) {
        json_t* root = read_valid(rig, detailed == 1);
        assert_int_equal(dump_uint(dump_get(root, "Total"), "BlockCount"), 0);
        assert_int_equal(json_object_size(dump_get(root, "MemoryInfo")), 3);
        json_decref(root);
    }
}

/* What VMA calls allocations is what is live or pending. */
static void expect_stats(const json_t* stats, const MaarStatistics* wanted)
{
    assert_true(dump_uint(stats, "BlockCount") == wanted->blockCount);
    assert_true(dump_uint(stats, "BlockBytes") == wanted->blockBytes);
    assert_true(dump_uint(stats, "AllocationCount") ==
                (uint64_t)wanted->allocationCount + wanted->pendingCount);
    assert_true(dump_uint(stats, "AllocationBytes") ==
                wanted->allocationBytes + wanted->pendingBytes);
}

static void totals_are_the_statistics(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    MaarStatistics all = rig_statistics(&scene.rig, VK_NULL_HANDLE);
    assert_true(all.pendingCount == 2 && all.dedicatedCount == 2);
    for (uint32_t detailed = 0; detailed < 2; ++detailed) {
        json_t* root = read_valid(&scene.rig, detailed == 1);
        expect_stats(dump_get(root, "Total"), &all);
        static const struct {
            const char* heap;
            const char* type;
            uint32_t index;
        } places[] = {
            {"Heap 0", "Type 0", 0},
            {"Heap 1", "Type 1", 1},
            {"Heap 1", "Type 2", 2},
            {"Heap 2", "Type 3", 3},
        };
        for (size_t i = 0; i < 4; ++i) {
            const json_t* heap = dump_get(dump_get(root, "MemoryInfo"), places[i].heap);
            const json_t* type = dump_get(dump_get(heap, "MemoryPools"), places[i].type);
            MaarStatistics wanted = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
            assert_int_equal(
                maarGetMemoryTypeStatistics(scene.rig.allocator, places[i].index, &wanted),
                VK_SUCCESS);
            expect_stats(dump_get(type, "Stats"), &wanted);
        }
        json_decref(root);
    }
    scene_close(&scene);
}

static void heaps_have_their_budgets(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    json_t* root = read_valid(&scene.rig, false);
    for (uint32_t i = 0; i < 3; ++i) {
        char key[16];
        (void)snprintf(key, sizeof key, "Heap %u", i);
        const json_t* heap = dump_get(dump_get(root, "MemoryInfo"), key);
        MaarHeapBudget budget = rig_budget(&scene.rig, i);
        assert_true(dump_uint(heap, "Size") == budget.size);
        assert_true(dump_uint(dump_get(heap, "Budget"), "BudgetBytes") == budget.budget);
        assert_true(dump_uint(dump_get(heap, "Budget"), "UsageBytes") == budget.usage);
        assert_true(dump_uint(dump_get(heap, "Stats"), "BlockBytes") == budget.blockBytes);
    }
    json_decref(root);
    scene_close(&scene);
}

struct vma_sum {
    uint64_t blocks;
    uint64_t block_bytes;
    uint64_t allocations;
    uint64_t allocation_bytes;
    uint64_t holes;
    uint32_t by_type[3]; /* UNKNOWN, BUFFER, IMAGE_OPTIMAL */
};

static void sum_allocation(struct vma_sum* sum, const json_t* allocation)
{
    const char* type = dump_string(allocation, "Type");
    if (strcmp(type, "FREE") == 0) {
        ++sum->holes;
        return;
    }
    ++sum->allocations;
    sum->allocation_bytes += dump_uint(allocation, "Size");
    sum->by_type[0] += strcmp(type, "UNKNOWN") == 0;
    sum->by_type[1] += strcmp(type, "BUFFER") == 0;
    sum->by_type[2] += strcmp(type, "IMAGE_OPTIMAL") == 0;
}

static void sum_pool(struct vma_sum* sum, const json_t* pool)
{
    const char* key = NULL;
    json_t* block = NULL;
    json_t* allocation = NULL;
    size_t i = 0;
    json_object_foreach(dump_get(pool, "Blocks"), key, block)
    {
        ++sum->blocks;
        sum->block_bytes += dump_uint(block, "TotalBytes");
        json_array_foreach(dump_get(block, "Suballocations"), i, allocation)
        {
            sum_allocation(sum, allocation);
        }
    }
    json_array_foreach(dump_get(pool, "DedicatedAllocations"), i, allocation)
    {
        ++sum->blocks;
        sum->block_bytes += dump_uint(allocation, "Size");
        sum_allocation(sum, allocation);
    }
}

static struct vma_sum sum_dump(const json_t* root)
{
    struct vma_sum sum = {0};
    const char* key = NULL;
    json_t* value = NULL;
    json_object_foreach(dump_get(root, "DefaultPools"), key, value)
    {
        sum_pool(&sum, value);
    }
    json_object_foreach(dump_get(root, "CustomPools"), key, value)
    {
        for (size_t i = 0; i < json_array_size(value); ++i) {
            sum_pool(&sum, json_array_get(value, i));
        }
    }
    return sum;
}

/* Every strategy, and each with every resource kind: buddy then has a default pool a kind. */
static void details_add_up_to_the_totals(void** state)
{
    (void)state;
    static const MaarPlacementStrategy strategies[] = {
        MAAR_PLACEMENT_STRATEGY_TLSF,
        MAAR_PLACEMENT_STRATEGY_BUDDY,
        MAAR_PLACEMENT_STRATEGY_LINEAR,
    };
    for (size_t i = 0; i < 3; ++i) {
        struct scene scene;
        scene_open(&scene, NULL, strategies[i]);
        json_t* root = read_valid(&scene.rig, true);
        struct vma_sum sum = sum_dump(root);
        const json_t* total = dump_get(root, "Total");
        assert_true(sum.blocks == dump_uint(total, "BlockCount"));
        assert_true(sum.block_bytes == dump_uint(total, "BlockBytes"));
        assert_true(sum.allocations == dump_uint(total, "AllocationCount"));
        assert_true(sum.allocation_bytes == dump_uint(total, "AllocationBytes"));
        assert_true(sum.holes == dump_uint(total, "UnusedRangeCount"));
        assert_int_equal(sum.by_type[0], 3);         /* of the nine */
        assert_int_equal(sum.by_type[1], 2 + 4 + 1); /* of the nine, in the ring, mapped */
        assert_int_equal(sum.by_type[2], 3 + 1 + 2); /* of the nine, in a twin, dedicated */
        assert_int_equal(sum.allocations, 16);
        json_decref(root);
        scene_close(&scene);
    }
}

static const json_t* find_named(const json_t* list, const char* name)
{
    size_t i = 0;
    json_t* item = NULL;
    json_array_foreach(list, i, item)
    {
        const char* own = json_string_value(json_object_get(item, "Name"));
        if (own != NULL && strcmp(own, name) == 0) {
            return item;
        }
    }
    fail_msg("nothing is called %s", name);
    return NULL;
}

static const json_t* only_block(const json_t* pool)
{
    const json_t* blocks = dump_get(pool, "Blocks");
    assert_int_equal(json_object_size(blocks), 1);
    return json_object_iter_value(json_object_iter((json_t*)blocks));
}

static void names_and_data_are_those_given(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    json_t* root = read_valid(&scene.rig, true);
    const json_t* defaults = dump_get(root, "DefaultPools");
    const json_t* local = dump_get(defaults, "Type 0");
    const json_t* ranges = dump_get(only_block(local), "Suballocations");
    assert_true(dump_uint(find_named(ranges, scene_nasty_read), "Size") == 3400);
    uint32_t with_data = 0;
    for (size_t i = 0; i < json_array_size(ranges); ++i) {
        const char* data =
            json_string_value(json_object_get(json_array_get(ranges, i), "CustomData"));
        if (data != NULL) {
            assert_string_equal(data, "0xabcd");
            ++with_data;
        }
    }
    assert_int_equal(with_data, 1);
    const json_t* dedicated = find_named(dump_get(local, "DedicatedAllocations"), "shadow map");
    assert_string_equal(dump_string(dedicated, "Type"), "IMAGE_OPTIMAL");
    const json_t* upload = only_block(dump_get(defaults, "Type 1"));
    assert_string_equal(
        dump_string(find_named(dump_get(upload, "Suballocations"), "staging"), "Type"), "BUFFER");
    assert_int_equal(dump_uint(upload, "MapRefCount"), 1);
    json_decref(root);
    scene_close(&scene);
}

/* The viewer keys pools by their names. */
static void pools_of_one_name_stay_apart(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    json_t* root = read_valid(&scene.rig, true);
    const json_t* pools = dump_get(root, "CustomPools");
    const json_t* twins = dump_get(pools, "Type 0");
    assert_int_equal(json_array_size(twins), 2);
    assert_string_equal(dump_string(json_array_get(twins, 0), "Name"), "0 - twin");
    assert_string_equal(dump_string(json_array_get(twins, 1), "Name"), "1 - twin");
    assert_int_equal(json_object_size(dump_get(json_array_get(twins, 0), "Blocks")), 0);
    assert_int_equal(json_object_size(dump_get(json_array_get(twins, 1), "Blocks")), 1);
    assert_true(dump_uint(json_array_get(twins, 0), "PreferredBlockSize") == 4 * MIB);
    const json_t* rings = dump_get(pools, "Type 1");
    assert_int_equal(json_array_size(rings), 1);
    assert_string_equal(dump_string(json_array_get(rings, 0), "Name"), "0 - upload \"ring\"");
    json_decref(root);
    scene_close(&scene);
}

/* The validator itself would notice. */
static void validator_sees_what_is_missing_or_too_much(void** state)
{
    (void)state;
    struct scene scene;
    scene_open(&scene, NULL, MAAR_PLACEMENT_STRATEGY_TLSF);
    struct vma_error error;
    for (uint32_t i = 0; i < 6; ++i) {
        json_t* root = read_valid(&scene.rig, true);
        json_t* local = dump_get(dump_get(root, "DefaultPools"), "Type 0");
        json_t* block = (json_t*)only_block(local);
        json_t* first = json_array_get(dump_get(block, "Suballocations"), 0);
        switch (i) {
        case 0:
            (void)json_object_del(dump_get(root, "General"), "GPU");
            break;
        case 1:
            (void)json_object_set_new(dump_get(root, "Total"), "Bytes", json_integer(1));
            break;
        case 2:
            (void)json_object_del(json_array_get(dump_get(local, "DedicatedAllocations"), 0),
                                  "Usage");
            break;
        case 3:
            (void)json_object_set_new(first, "Size", json_string("16"));
            break;
        case 4:
            (void)json_object_set_new(first, "Type", json_string("TEXTURE"));
            break;
        default:
            (void)json_array_remove(dump_get(block, "Suballocations"), 0);
            break;
        }
        assert_false(vma_is_dump(root, true, &error));
        assert_true(error.text[0] != '\0');
        json_decref(root);
    }
    scene_close(&scene);
}

static void dumps_of_odd_devices_are_valid(void** state)
{
    (void)state;
    static const char* const names[] = {
        "nvidia-6gib-nobar-11types",           "amd-rx7900xtx-radv25.0",
        "amd-radv-tinyheap0-budget-underflow", "qualcomm-adreno740-turnip26.2",
        "intel-iris-xe-tgl-anv25.0",           "mock-khronos-icd-1.3.239",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const struct rig_setup setup = {.profile = rig_profile_file(names[i])};
        struct rig* const rig = rig_begin(&setup);
        const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        MaarAllocation allocation = rig_allocate(rig, 10000, &how);
        json_t* root = read_valid(rig, true);
        assert_int_equal(dump_uint(dump_get(root, "Total"), "AllocationBytes"), 10000);
        json_decref(root);
        maarFreeMemory(rig->allocator, allocation);
        rig_close(rig);
    }
}

/* What a program says of its allocations. */
struct known_usage {
    MaarAllocation allocation;
    uint64_t usage;
    uint32_t questions;
    uint32_t strangers;
};

static uint64_t VKAPI_PTR tell_usage(void* user_data, MaarAllocation allocation)
{
    struct known_usage* known = user_data;
    ++known->questions;
    if (allocation != known->allocation) {
        ++known->strangers;
        return 0;
    }
    return known->usage;
}

/* Asks for a dump of this many details, with an answer about usages. Returns how often a text
 * stands in it. */
static uint32_t count_in_dump(struct rig* rig, PFN_maarDumpUsage answer, struct known_usage* known,
                              bool detailed, const char* text)
{
    static char dump[65536];
    const MaarDumpUsageInfo usages = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO, .pfnUsage = answer, .pUserData = known};
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
                               .pNext = &usages,
                               .format = MAAR_DUMP_FORMAT_VMA,
                               .detailed = detailed ? VK_TRUE : VK_FALSE};
    size_t size = sizeof dump;
    uint32_t count = 0;
    assert_int_equal(maarWriteDump(rig->allocator, &info, &size, dump), VK_SUCCESS);
    for (const char* at = strstr(dump, text); at != NULL; at = strstr(at + 1, text)) {
        ++count;
    }
    return count;
}

static void usages_are_those_that_the_program_says(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const MaarAllocation other = rig_allocate(rig, 4096, &how);
    struct known_usage known = {.allocation = rig_allocate(rig, 8192, &how),
                                .usage = (uint64_t)1 << 35};
    const PFN_maarDumpUsage answer = tell_usage;
    assert_int_equal(count_in_dump(rig, answer, &known, true, "\"Usage\": 34359738368"), 1);
    assert_int_equal(known.questions, 2);
    assert_int_equal(known.strangers, 1);
    known.questions = 0;
    assert_int_equal(count_in_dump(rig, answer, &known, false, "\"Usage\":"), 0);
    assert_int_equal(known.questions, 0); /* totals have no allocations */
    const MaarDumpUsageInfo nothing = {.sType = MAAR_STRUCTURE_TYPE_DUMP_USAGE_INFO};
    const MaarDumpInfo info = {.sType = MAAR_STRUCTURE_TYPE_DUMP_INFO, .pNext = &nothing};
    size_t size = 0;
    assert_int_equal(maarWriteDump(rig->allocator, &info, &size, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "MaarDumpUsageInfo::pfnUsage");
    maarFreeMemory(rig->allocator, other);
    maarFreeMemory(rig->allocator, known.allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(empty_allocator_is_valid),
        rig_unit_test(totals_are_the_statistics),
        rig_unit_test(heaps_have_their_budgets),
        rig_unit_test(details_add_up_to_the_totals),
        rig_unit_test(names_and_data_are_those_given),
        rig_unit_test(pools_of_one_name_stay_apart),
        rig_unit_test(validator_sees_what_is_missing_or_too_much),
        rig_unit_test(dumps_of_odd_devices_are_valid),
        rig_unit_test(usages_are_those_that_the_program_says),
    };
    return cmocka_run_group_tests_name("dump_vma", tests, NULL, NULL);
}
