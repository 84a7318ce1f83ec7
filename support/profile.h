/*
 * Device profiles, schema maar-device-profile/1, into MaarSimulatedProfile. Strict: a wrong type,
 * an unknown flag, a number out of range or an index to nowhere is an error that names the field.
 * What a profile does not say stays zero, but for the fallbacks listed in
 * docs/simulated-devices.md.
 */
#ifndef MAAR_SUPPORT_PROFILE_H
#define MAAR_SUPPORT_PROFILE_H

#include "maar/simulated.h"
#include "readfile.h"

/* Loads a file. profile is filled wholly, or zeroed on failure; it is large: keep it off stacks. */
bool support_profile_load(const char* path, MaarSimulatedProfile* profile,
                          struct support_error* error);

/* The same from memory. name is what messages call it. */
bool support_profile_parse(const char* name, const char* text, size_t size,
                           MaarSimulatedProfile* profile, struct support_error* error);

#endif
