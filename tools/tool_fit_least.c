/*
 * The least size of the main heap with which an input fits; see tool_fit.h.
 *
 * Whether it fits is tried by playing it, with sizes that are halved between one that suffices and
 * one that does not. A smaller heap must not put more into other heaps: the answer is about one
 * heap alone.
 */
#include "tool_fit.h"

#include <stdlib.h>

#define LEAST_STEP ((uint64_t)1 << 20)
/* No device has as much. */
#define LEAST_LIMIT ((uint64_t)1 << 44)

struct fit_least {
    struct tool_fit_input* input;
    const char* profile;
    const struct tool_fit_play_options* options;
    const struct tool_fit_result* whole; /* with the heap as it is */
};

/* Plays with a size of the main heap. Returns an exit code. */
static int try_size(const struct fit_least* least, uint64_t size, bool* fits)
{
    struct tool_device_options device = *least->options->device;
    struct tool_fit_play_options options = *least->options;
    const struct tool_fit_demand* demand = NULL;
    struct tool_fit_result* const result = calloc(1, sizeof(*result));
    if (result == NULL || device.heap_count == TOOL_MAX_OVERRIDES) {
        tool_complain(result == NULL ? "out of memory" : "--heap: too many options");
        free(result);
        return TOOL_EXIT_FAILED;
    }
    device.heaps[device.heap_count++] =
        (struct tool_heap_override){.heap = least->whole->main_heap, .size = size};
    options.device = &device;
    const int code = tool_fit_play(least->input, least->profile, &options, &demand, result);
    *fits = code == TOOL_EXIT_OK && result->verdict == TOOL_FIT_YES;
    for (uint32_t i = 0; i < result->heap_count; ++i) {
        *fits = *fits && (i == least->whole->main_heap ||
                          result->heaps[i].live_peak <= least->whole->heaps[i].live_peak);
    }
    free(result);
    return code;
}

int tool_fit_find_least(struct tool_fit_input* input, const char* profile,
                        const struct tool_fit_play_options* options,
                        const struct tool_fit_result* whole, uint64_t* out)
{
    const struct fit_least least = {
        .input = input, .profile = profile, .options = options, .whole = whole};
    uint64_t enough = whole->heaps[whole->main_heap].size / LEAST_STEP * LEAST_STEP;
    uint64_t little = 0;
    bool fits = whole->verdict == TOOL_FIT_YES;
    int code = TOOL_EXIT_OK;
    *out = 0;
    while (!fits && enough < LEAST_LIMIT && code == TOOL_EXIT_OK) {
        little = enough;
        enough = 2 * enough > LEAST_STEP ? 2 * enough : LEAST_STEP;
        code = try_size(&least, enough, &fits);
    }
    while (fits && code == TOOL_EXIT_OK && enough - little > LEAST_STEP) {
        const uint64_t middle = little + (enough - little) / 2 / LEAST_STEP * LEAST_STEP;
        bool suffices = false;
        code = try_size(&least, middle, &suffices);
        enough = suffices ? middle : enough;
        little = suffices ? little : middle;
    }
    *out = fits ? enough : 0;
    return code;
}
