/*
 * Random buffers, images, memory and pools on simulated devices of several vendors, compared with a
 * naive reference after each step. MAAR_TEST_SEED sets the seed, MAAR_TEST_STEPS the length.
 */
#include "tests/model/allocator_model.h"

enum { DEFAULT_STEPS = 500 };

static struct model model;

static uint32_t step_count(void)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 0) : DEFAULT_STEPS;
}

static void run_profiles(MaarPlacementStrategy strategy)
{
    static const char* const names[] = {
        "nvidia-rtx4090-linux",           "amd-rx6800-bar256-radv25.0",
        "amd-steamdeck-vangogh-radv25.0", "intel-iris-xe-tgl-anv25.0",
        "qualcomm-adreno630-turnip26.2",
    };
    uint64_t seed = rig_seed(20261 + (uint64_t)strategy);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        model_run(&model, rig_profile_file(names[i]), strategy, seed + i, step_count());
        assert_true(model.unmet < step_count() / 5);
    }
    model_run(&model, rig_profile_noncoherent(), strategy, seed + 100, step_count());
    model_run(&model, rig_profile_tiny(), strategy, seed + 200, step_count());
}

static void model_tlsf_agrees(void** state)
{
    (void)state;
    run_profiles(MAAR_PLACEMENT_STRATEGY_TLSF);
}

static void model_buddy_agrees(void** state)
{
    (void)state;
    run_profiles(MAAR_PLACEMENT_STRATEGY_BUDDY);
}

static void model_linear_agrees(void** state)
{
    (void)state;
    run_profiles(MAAR_PLACEMENT_STRATEGY_LINEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_tlsf_agrees),
        cmocka_unit_test(model_buddy_agrees),
        cmocka_unit_test(model_linear_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
