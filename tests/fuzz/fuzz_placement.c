/*
 * Placements of all strategies against the naive reference. The first byte says whether the
 * placements or the range allocator on top of them are driven; then come options, then steps.
 */
#include "tests/fuzz/fuzz_placement.h"
#include "tests/model/placement_model.h"

/* Draws for the model. */
static bool draw_number(void* context, uint64_t limit, uint64_t* number)
{
    struct fuzz_input* input = context;
    if (fuzz_is_dry(input)) {
        return false;
    }
    *number = fuzz_below(input, limit);
    return true;
}

/* lowest: whether some requests take the lowest place. */
static void run_model(struct fuzz_input* input, bool lowest)
{
    static const VkDeviceSize granularities[] = {0, 1, 2, 64, 1024, 65536};
    static const VkDeviceSize alignments[] = {0, 0, 1, 3, 256, 4096};
    static const uint32_t kinds[] = {0, 1, 2, MAAR_RANGE_MAX_KIND};
    struct placement_model_options options = {
        .info =
            {
                .strategy = (MaarPlacementStrategy)fuzz_below(input, 3),
                .granularity = granularities[fuzz_below(input, 6)],
                .size = 1 + fuzz_scaled(input, 48),
            },
        .max_kind = kinds[fuzz_below(input, 4)],
        .fixed_alignment = alignments[fuzz_below(input, 6)],
        .max_live = 1 + (uint32_t)fuzz_below(input, 64),
        .steps = 1000,
        .free_order = (uint32_t)fuzz_below(input, 3),
        .upper = fuzz_below(input, 2) == 1,
        .lowest = lowest,
    };
    options.info.size =
        options.info.size > MAAR_RANGE_MAX_SIZE ? MAAR_RANGE_MAX_SIZE : options.info.size;
    options.max_size = 1 + fuzz_below(input, options.info.size);
    struct placement_model_outcome outcome;
    placement_model_run(&options, draw_number, input, &outcome);
    if (outcome.problem[0] != '\0') {
        (void)fprintf(stderr, "strategy %d, step %u: %s\n", (int)options.info.strategy,
                      (unsigned)outcome.step, outcome.problem);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {data, size};
    const uint8_t way = fuzz_byte(&input);
    if ((way & 1) != 0) {
        fuzz_range_run(&input);
    } else {
        run_model(&input, (way & 2) != 0);
    }
    return 0;
}
