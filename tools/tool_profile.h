/*
 * Finds and changes the profile of a simulated device. Single-threaded.
 */
#ifndef MAAR_TOOL_PROFILE_H
#define MAAR_TOOL_PROFILE_H

#include "tool_device.h"

/*
 * Loads a profile by path or by the name of an installed one, and applies --heap and --limit.
 * Returns TOOL_EXIT_OK and a profile that the caller frees, or prints an error and returns another
 * code.
 */
int tool_profile_open(const char* name, const struct tool_device_options* options,
                      MaarSimulatedProfile** out);

/* Returns whether the size of a heap was neither measured nor reported by a device: the profile
 * lists it as assumed, or as an artifact of the way in which it was recorded, and no --heap
 * replaces it. */
bool tool_profile_heap_is_unmeasured(const char* name, const struct tool_device_options* options,
                                     uint32_t heap);

/* Makes the profile of the card that the options name (--device capture), in the same way. */
int tool_profile_of_card(const struct tool_device_options* options, MaarSimulatedProfile** out);

/* Returns whether --limit knows a name. If so, and if a profile is given, sets the limit. */
bool tool_profile_set_limit(MaarSimulatedProfile* profile, const char* text);

#endif
