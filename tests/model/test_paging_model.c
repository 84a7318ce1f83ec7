/*
 * Random reservations, commitments and submissions on simulated devices with pages of several
 * sizes, compared with a naive reference and with the driver's own page map after each step.
 * MAAR_TEST_SEED sets the seed, MAAR_TEST_STEPS the length.
 */
#include "tests/model/paging_model.h"

enum { DEFAULT_STEPS = 1500 };

static struct paged_model model;

static void run(const MaarSimulatedProfile* profile, uint64_t seed)
{
    const char* text = getenv("MAAR_TEST_STEPS");
    const uint32_t steps = text != NULL ? (uint32_t)strtoul(text, NULL, 0) : DEFAULT_STEPS;
    paged_model_run(&model, profile, seed, steps);
    print_message("%s: %u submissions, %u uses, %u pages moved, %u failures\n", profile->name,
                  (unsigned)model.binds, (unsigned)model.uses, (unsigned)model.moved,
                  (unsigned)model.unmet);
}

static MaarSimulatedProfile with_pages(const MaarSimulatedProfile* profile, VkDeviceSize page)
{
    MaarSimulatedProfile changed = *profile;
    changed.sparse.sparseBinding = VK_TRUE;
    changed.sparse.residencyBuffer = VK_TRUE;
    changed.sparse.residencyAliased = VK_TRUE;
    changed.requirements.sparseAlignment = page;
    return changed;
}

static void pages_of_every_size_agree(void** state)
{
    static const VkDeviceSize pages[] = {4 * KIB, 16 * KIB, 64 * KIB, 2 * MIB};
    (void)state;
    const uint64_t seed = rig_seed(20265);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; ++i) {
        const MaarSimulatedProfile profile = with_pages(rig_profile_discrete(), pages[i]);
        run(&profile, seed + i);
    }
}

static void profiles_of_vendors_agree(void** state)
{
    static const char* const names[] = {
        "amd-rx7900xtx-radv26.2",
        "apple-m1-honeykrisp26.2",
        "nvidia-ampere-ga102-nvk25.0",
        "qualcomm-adreno740-turnip26.2",
    };
    (void)state;
    const uint64_t seed = rig_seed(20266);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        run(rig_profile_file(names[i]), seed + i);
    }
}

/* Memory runs out all the time, and linear and optimal pages are kept apart. */
static void scarce_memory_agrees(void** state)
{
    (void)state;
    const uint64_t seed = rig_seed(20267);
    const MaarSimulatedProfile profile = with_pages(rig_profile_tiny(), 256 * KIB);
    run(&profile, seed);
    assert_true(model.unmet > 0);
    const MaarSimulatedProfile small = with_pages(rig_profile_tiny(), 4 * KIB);
    run(&small, seed + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_every_size_agree),
        cmocka_unit_test(profiles_of_vendors_agree),
        cmocka_unit_test(scarce_memory_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
