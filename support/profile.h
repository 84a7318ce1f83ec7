/*
 * Converts device profiles with the schema maar-device-profile/1 into MaarSimulatedProfile. The
 * reader is strict: a wrong type, an unknown flag, a number out of range or an invalid index is an
 * error that names the field. Missing fields stay zero, except for the fallbacks listed in
 * docs/simulated-devices.md.
 */
#ifndef MAAR_SUPPORT_PROFILE_H
#define MAAR_SUPPORT_PROFILE_H

#include "maar/simulated.h"
#include "readfile.h"

/* Loads a file. Fills in the whole profile, or zeroes it on failure. A profile is large and should
 * not lie on the stack. */
bool support_profile_load(const char* path, MaarSimulatedProfile* profile,
                          struct support_error* error);

/* Loads a profile from memory. Messages call it `name`. */
bool support_profile_parse(const char* name, const char* text, size_t size,
                           MaarSimulatedProfile* profile, struct support_error* error);

#endif
