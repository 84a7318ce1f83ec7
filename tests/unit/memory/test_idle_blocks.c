/*
 * The heap of idle blocks against a plain search.
 */
#include "core/memory/idle_blocks.h"

#include "core/memory/block.h"
#include "tests/rig/rig.h"

enum { BLOCKS = 40, STEPS = 20000 };

static bool goes_first(const struct maar_block* one, const struct maar_block* other)
{
    return one->size < other->size || (one->size == other->size && one->at > other->at);
}

static void smallest_and_last_comes_first(void** state)
{
    (void)state;
    static struct maar_block blocks[BLOCKS];
    struct maar_block* heap[BLOCKS];
    struct maar_idle_blocks idle = {.heap = heap};
    struct rig_random random = {rig_seed(5)};
    bool in[BLOCKS] = {false};
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = (struct maar_block){.at = i, .size = 1 + rig_below(&random, 8)};
    }
    for (uint32_t step = 0; step < STEPS; ++step) {
        const uint32_t at = rig_below(&random, BLOCKS);
        if (in[at] || rig_below(&random, 4) == 0) {
            maar_idle_blocks_remove(&idle, &blocks[at]); /* a block that is not there too */
            in[at] = false;
        } else {
            maar_idle_blocks_add(&idle, &blocks[at]);
            in[at] = true;
        }
        const struct maar_block* first = NULL;
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            first = in[i] && (first == NULL || goes_first(&blocks[i], first)) ? &blocks[i] : first;
        }
        assert_ptr_equal(maar_idle_blocks_first(&idle), first);
        assert_null(maar_idle_blocks_check(&idle));
    }
}

static void damage_is_found(void** state)
{
    (void)state;
    struct maar_block blocks[2] = {{.size = 1}, {.size = 2}};
    struct maar_block* heap[2];
    struct maar_idle_blocks idle = {.heap = heap};
    maar_idle_blocks_add(&idle, &blocks[0]);
    maar_idle_blocks_add(&idle, &blocks[1]);
    assert_null(maar_idle_blocks_check(&idle));
    blocks[0].size = 3;
    assert_string_equal(maar_idle_blocks_check(&idle), "the idle blocks are not in their order");
    blocks[0].pin_count = 1;
    assert_string_equal(maar_idle_blocks_check(&idle),
                        "a block in use stands among the idle blocks");
    blocks[0].idle_place = 2;
    assert_string_equal(maar_idle_blocks_check(&idle),
                        "an idle block does not know its place among the idle blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest_and_last_comes_first),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
