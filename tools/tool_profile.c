/*
 * Finds the profiles of simulated devices by path or name; see tool_profile.h.
 */
#include "tool_profile.h"

#include "support/profile.h"
#include "tool_data.h"
#include "tool_guess.h"

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
