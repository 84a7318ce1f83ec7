/*
 * Devices from the project's profile files.
 */
#include <stdio.h>

#include "support/profile.h"
#include "tests/rig/rig.h"

const MaarSimulatedProfile* rig_profile_file(const char* name)
{
    static MaarSimulatedProfile profile;
    char path[512];
    struct support_error error;
    (void)snprintf(path, sizeof path, "%s/data/profiles/%s.json", MAAR_SOURCE_DIR, name);
    if (!support_profile_load(path, &profile, &error)) {
        fail_msg("%s cannot be read", path);
    }
    return &profile;
}
