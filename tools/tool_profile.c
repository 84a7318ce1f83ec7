/*
 * Finds the profiles of simulated devices by path or name; see tool_profile.h.
 */
#include "tool_profile.h"

#include "support/profile.h"
#include "tool_data.h"
#include "tool_guess.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The largest power-of-two limit, as in profiles. */
#define MAX_ALIGNMENT ((uint64_t)1 << 30)

struct limit_name {
    const char* name;
    size_t offset;
    size_t size;
    bool power; /* of two, or 0 */
};

#define LIMIT(field, power)                                                                        \
    {                                                                                              \
#field, offsetof(MaarSimulatedProfile, limits.field),                                      \
            sizeof(((MaarSimulatedProfile*)0)->limits.field), power                                \
    }

static const struct limit_name limit_names[] = {
    LIMIT(maxMemoryAllocationCount, false),
    LIMIT(maxMemoryAllocationSize, false),
    LIMIT(bufferImageGranularity, true),
    LIMIT(nonCoherentAtomSize, true),
    LIMIT(maxBufferSize, false),
    LIMIT(minMemoryMapAlignment, true),
    LIMIT(maxStorageBufferRange, false),
    LIMIT(minStorageBufferOffsetAlignment, true),
    LIMIT(minUniformBufferOffsetAlignment, true),
    LIMIT(minTexelBufferOffsetAlignment, true),
    LIMIT(sparseAddressSpaceSize, false),
    LIMIT(minImportedHostPointerAlignment, true),
};

static bool check_limit(const struct limit_name* limit, const char* text, uint64_t value)
{
    if (limit->size == sizeof(uint32_t) && value > UINT32_MAX) {
        tool_complain("--limit %s: the value does not fit 32 bits", text);
        return false;
    }
    if (limit->power && ((value & (value - 1)) != 0 || value > MAX_ALIGNMENT)) {
        tool_complain("--limit %s: expected a power of two, at most 1GiB", text);
        return false;
    }
    return true;
}

bool tool_profile_set_limit(MaarSimulatedProfile* profile, const char* text)
{
    const char* const equals = strchr(text, '=');
    uint64_t value = 0;
    const enum tool_number number =
        equals == NULL ? TOOL_NUMBER_MALFORMED : tool_read_size(equals + 1, &value);
    if (number != TOOL_NUMBER_GOOD) {
        tool_complain_number("--limit", text, number, "NAME=VALUE", UINT64_MAX);
        return false;
    }
    const size_t length = (size_t)(equals - text);
    for (size_t i = 0; i < sizeof(limit_names) / sizeof(limit_names[0]); ++i) {
        const struct limit_name* const limit = &limit_names[i];
        if (strlen(limit->name) != length || memcmp(limit->name, text, length) != 0) {
            continue;
        }
        if (!check_limit(limit, text, value)) {
            return false;
        }
        if (profile != NULL && limit->size == sizeof(uint32_t)) {
            const uint32_t narrow = (uint32_t)value;
            memcpy((char*)profile + limit->offset, &narrow, sizeof(narrow));
        } else if (profile != NULL) {
            memcpy((char*)profile + limit->offset, &value, sizeof(value));
        }
        return true;
    }
    char typed[TOOL_GUESS_LENGTH + 1];
    char meant[160];
    snprintf(typed, sizeof(typed), "%.*s", (int)length, text);
    struct tool_guess guess = {.typed = typed};
    for (size_t i = 0; i < sizeof(limit_names) / sizeof(limit_names[0]); ++i) {
        tool_guess_offer(&guess, limit_names[i].name);
    }
    tool_complain("--limit %s: no such limit%s; the first ones are maxMemoryAllocationCount and "
                  "maxMemoryAllocationSize, see maar replay --help",
                  text, tool_guess_text(&guess, "", meant, sizeof(meant)));
    return false;
}

/* Makes each heap's budget its size. */
static void lift_budgets(MaarSimulatedProfile* profile)
{
    bool has_budgets = false;
    for (uint32_t i = 0; i < profile->extensionCount; ++i) {
        has_budgets =
            has_budgets || strcmp(profile->extensions[i], VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
    }
    if (!has_budgets && profile->extensionCount < MAAR_SIMULATED_MAX_EXTENSIONS) {
        snprintf(profile->extensions[profile->extensionCount++], MAAR_SIMULATED_MAX_NAME, "%s",
                 VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    }
    for (uint32_t i = 0; i < profile->heapCount; ++i) {
        profile->heaps[i].budgetKnown = VK_TRUE;
        profile->heaps[i].budget = profile->heaps[i].size;
        profile->heaps[i].usage = 0;
    }
}

static bool apply_options(MaarSimulatedProfile* profile, const struct tool_device_options* options)
{
    for (uint32_t i = 0; i < options->heap_count; ++i) {
        const struct tool_heap_override* const heap = &options->heaps[i];
        if (heap->heap >= profile->heapCount) {
            tool_complain("--heap %u: %s has %u heaps", heap->heap, profile->name,
                          profile->heapCount);
            return false;
        }
        profile->heaps[heap->heap].size = heap->size;
        profile->heaps[heap->heap].budget = heap->size;
        profile->heaps[heap->heap].usage = 0;
    }
    for (uint32_t i = 0; i < options->limit_count; ++i) {
        if (!tool_profile_set_limit(profile, options->limits[i])) {
            return false;
        }
    }
    if (options->whole_heaps) {
        lift_budgets(profile);
    }
    return true;
}

int tool_profile_open(const char* name, const struct tool_device_options* options,
                      MaarSimulatedProfile** out)
{
    *out = NULL;
    char path[4096];
    if (!tool_data_find(TOOL_DATA_PROFILES, name, path, sizeof(path))) {
        tool_data_complain(TOOL_DATA_PROFILES, name);
        return TOOL_EXIT_USAGE;
    }
    MaarSimulatedProfile* const profile = calloc(1, sizeof(*profile));
    if (profile == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    struct support_error error = {{0}};
    if (!support_profile_load(path, profile, &error)) {
        tool_complain("%s", error.text);
        free(profile);
        return TOOL_EXIT_USAGE;
    }
    if (!apply_options(profile, options)) {
        free(profile);
        return TOOL_EXIT_USAGE;
    }
    *out = profile;
    return TOOL_EXIT_OK;
}

/* Returns whether a list of a profile names the size of a heap: "heaps", "heaps[].size",
 * "heaps[N].size", perhaps followed by an explanation. */
static bool names_heap_size(const json_t* list, uint32_t heap)
{
    char own[32];
    snprintf(own, sizeof(own), "heaps[%" PRIu32 "].size", heap);
    size_t i = 0;
    const json_t* entry = NULL;
    json_array_foreach(list, i, entry)
    {
        const char* const text = json_string_value(entry);
        if (text != NULL && (strcmp(text, "heaps") == 0 || strncmp(text, "heaps[].size", 12) == 0 ||
                             strncmp(text, own, strlen(own)) == 0)) {
            return true;
        }
    }
    return false;
}

bool tool_profile_heap_is_unmeasured(const char* name, const struct tool_device_options* options,
                                     uint32_t heap)
{
    char path[4096];
    for (uint32_t i = 0; i < options->heap_count; ++i) {
        if (options->heaps[i].heap == heap) {
            return false;
        }
    }
    if (!tool_data_find(TOOL_DATA_PROFILES, name, path, sizeof(path))) {
        return false;
    }
    json_t* const profile = json_load_file(path, JSON_DISABLE_EOF_CHECK, NULL);
    const bool found = names_heap_size(json_object_get(profile, "artifacts"), heap) ||
                       names_heap_size(json_object_get(profile, "assumed"), heap);
    json_decref(profile);
    return found;
}

int tool_profile_of_card(const struct tool_device_options* options, MaarSimulatedProfile** out)
{
    *out = NULL;
    if (options->card == NULL) {
        tool_complain("--device capture: the trace does not describe the device (maar-trace/1)");
        return TOOL_EXIT_USAGE;
    }
    MaarSimulatedProfile* const profile = calloc(1, sizeof(*profile));
    if (profile == NULL) {
        tool_complain("out of memory");
        return TOOL_EXIT_FAILED;
    }
    if (!support_card_profile(options->card, options->card_name, profile)) {
        tool_complain("--device capture: the captured device has no heaps or memory types");
        free(profile);
        return TOOL_EXIT_USAGE;
    }
    if (!apply_options(profile, options)) {
        free(profile);
        return TOOL_EXIT_USAGE;
    }
    *out = profile;
    return TOOL_EXIT_OK;
}
