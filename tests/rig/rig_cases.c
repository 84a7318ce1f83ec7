/*
 * What the cases on real drivers begin and end with.
 */
#include "tests/rig/rig.h"

bool rig_is_radv(void)
{
    const char* name = getenv("MAAR_RIG");
    return name != NULL && strncmp(name, "radv", 4) == 0;
}

bool rig_start_paging(struct rig* rig)
{
    const struct rig_setup setup = {.paging = true};
    if (!rig_open_vulkan(rig, &setup, true)) {
        return false;
    }
    rig_make_allocator(rig);
    return true;
}

int rig_teardown(void** state)
{
    if (*state != NULL) {
        rig_close(*state);
    }
    return 0;
}

void rig_need(void** state, bool condition, const char* reason)
{
    if (*state != NULL && !condition) {
        print_message("skipped: %s\n", reason);
    }
    if (*state == NULL || !condition) {
        skip();
    }
}
