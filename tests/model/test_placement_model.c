/*
 * Random operations on each strategy against the naive reference, with the heavy check after each
 * step. MAAR_TEST_SEED sets the seed, which is printed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/model/placement_model.h"

static uint64_t seed = 20240229;

static bool draw_random(void* context, uint64_t limit, uint64_t* number)
{
    uint64_t* state = context;
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *number = (*state >> 11) % limit;
    return true;
}

static const MaarPlacementStrategy strategies[] = {
    MAAR_PLACEMENT_STRATEGY_TLSF,
    MAAR_PLACEMENT_STRATEGY_BUDDY,
    MAAR_PLACEMENT_STRATEGY_LINEAR,
};

/* Runs the options with each strategy and each order of frees. */
static void run_all(struct placement_model_options options)
{
    for (uint32_t i = 0; i < 9; ++i) {
        struct placement_model_outcome outcome;
        uint64_t state = (seed + i) * 0x9E3779B97F4A7C15u + 1;
        options.info.strategy = strategies[i % 3];
        options.free_order = i / 3;
        placement_model_run(&options, draw_random, &state, &outcome);
        if (outcome.problem[0] != '\0') {
            fail_msg("strategy %d, order %u, seed %" PRIu64 ", step %u: %s",
                     (int)options.info.strategy, options.free_order, seed, outcome.step,
                     outcome.problem);
        }
        assert_int_equal(outcome.step, options.steps);
        assert_true(outcome.allocated > options.steps / 20);
    }
}

static void small_space_any_alignment_agrees(void** state)
{
    (void)state;
    run_all((struct placement_model_options){
        .info = {.size = 100003}, .max_size = 20000, .max_live = 200, .steps = 4000});
}

static void slots_of_one_agree(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = 300},
                                             .max_size = 8,
                                             .fixed_alignment = 1,
                                             .max_live = 300,
                                             .steps = 4000});
}

static void memory_block_agrees(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = (VkDeviceSize)64 << 20},
                                             .max_size = 4 << 20,
                                             .fixed_alignment = 256,
                                             .max_live = 400,
                                             .steps = 3000});
}

static void kinds_agree(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = 1 << 20, .granularity = 1024},
                                             .max_size = 30000,
                                             .max_kind = 3,
                                             .max_live = 300,
                                             .steps = 4000});
}

static void pools_agree(void** state)
{
    (void)state;
    for (VkDeviceSize granularity = 1; granularity <= 65536; granularity *= 16) {
        run_all((struct placement_model_options){
            .info = {.size = (VkDeviceSize)16 << 20, .granularity = granularity},
            .max_size = 1 << 20,
            .pool_alignments = true,
            .max_kind = 3,
            .max_live = 300,
            .steps = 1500});
    }
}

static void kinds_in_small_granules_agree(void** state)
{
    (void)state;
    for (VkDeviceSize alignment = 0; alignment <= 256; alignment += 256) {
        run_all((struct placement_model_options){.info = {.size = 1 << 20, .granularity = 64},
                                                 .max_size = 30000,
                                                 .fixed_alignment = alignment,
                                                 .max_kind = 2,
                                                 .max_live = 300,
                                                 .steps = 4000});
    }
}

static void small_kinds_in_large_granules_agree(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = 1 << 20, .granularity = 65536},
                                             .max_size = 1000,
                                             .max_kind = 2,
                                             .max_live = 400,
                                             .upper = true,
                                             .steps = 4000});
}

static void lowest_places_agree(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = 100003},
                                             .max_size = 20000,
                                             .max_live = 200,
                                             .lowest = true,
                                             .steps = 6000});
    run_all((struct placement_model_options){.info = {.size = 1 << 20, .granularity = 1024},
                                             .max_size = 30000,
                                             .max_kind = 3,
                                             .max_live = 300,
                                             .lowest = true,
                                             .steps = 4000});
}

static void last_places_agree(void** state)
{
    (void)state;
    run_all((struct placement_model_options){
        .info = {.size = 100003}, .max_size = 20000, .max_live = 200, .last = true, .steps = 6000});
    run_all((struct placement_model_options){.info = {.size = 1 << 20, .granularity = 1024},
                                             .max_size = 30000,
                                             .max_kind = 3,
                                             .max_live = 300,
                                             .last = true,
                                             .steps = 4000});
}

static void double_stack_agrees(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = 100001, .granularity = 64},
                                             .max_size = 9000,
                                             .max_kind = 2,
                                             .max_live = 200,
                                             .upper = true,
                                             .steps = 4000});
}

static void largest_space_agrees(void** state)
{
    (void)state;
    run_all((struct placement_model_options){.info = {.size = MAAR_RANGE_MAX_SIZE},
                                             .max_size = MAAR_RANGE_MAX_SIZE / 4,
                                             .max_live = 200,
                                             .steps = 3000});
}

static void tiny_spaces_agree(void** state)
{
    (void)state;
    for (VkDeviceSize size = 1; size < 40; ++size) {
        run_all((struct placement_model_options){.info = {.size = size},
                                                 .max_size = size,
                                                 .fixed_alignment = 1 + size % 4,
                                                 .max_live = 40,
                                                 .steps = 120});
    }
}

int main(void)
{
    const char* text = getenv("MAAR_TEST_SEED");
    if (text != NULL) {
        seed = strtoull(text, NULL, 0);
    }
    printf("MAAR_TEST_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_space_any_alignment_agrees),
        cmocka_unit_test(slots_of_one_agree),
        cmocka_unit_test(memory_block_agrees),
        cmocka_unit_test(kinds_agree),
        cmocka_unit_test(pools_agree),
        cmocka_unit_test(kinds_in_small_granules_agree),
        cmocka_unit_test(small_kinds_in_large_granules_agree),
        cmocka_unit_test(lowest_places_agree),
        cmocka_unit_test(last_places_agree),
        cmocka_unit_test(double_stack_agrees),
        cmocka_unit_test(largest_space_agrees),
        cmocka_unit_test(tiny_spaces_agree),
    };
    return cmocka_run_group_tests_name("placement_model", tests, NULL, NULL);
}
