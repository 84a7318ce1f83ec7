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

const char* const rig_vendors[RIG_VENDORS] = {
    "amd-rx7900xtx-radv25.0", "nvidia-rtx4090-linux", "intel-arc-a770m-anv25.0",
    "qualcomm-adreno740-turnip26.2", "amd-steamdeck-vangogh-radv25.0"};

void rig_need_simulated_devices(void)
{
    if (!rig_is_without_driver()) {
        print_message("skipped: simulated devices have an entry of their own\n");
        skip();
    }
}
