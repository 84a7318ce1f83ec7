/*
 * What the cases on real drivers begin and end with.
 */
#include "tests/rig/rig.h"

const char* rig_name(void)
{
    const char* name = getenv("MAAR_RIG");
    return name != NULL ? name : "";
}

bool rig_is(const char* family)
{
    const size_t length = strcspn(rig_name(), ":");
    return strlen(family) == length && strncmp(rig_name(), family, length) == 0;
}

bool rig_executes(void)
{
    static const char* const noop[] = {"radv", "nvk", "anv", "turnip", "honeykrisp"};
    for (size_t i = 0; i < sizeof noop / sizeof noop[0]; ++i) {
        if (rig_is(noop[i])) {
            return false;
        }
    }
    return true;
}

bool rig_is_without_driver(void)
{
    return rig_name()[0] == '\0' || rig_is("none");
}

int rig_setup_driver(struct rig* rig, void** state)
{
    const struct rig_setup setup = {.paging = true};
    *state = NULL;
    if (!rig_is_without_driver() && rig_open_vulkan(rig, &setup, rig_is("lavapipe"))) {
        rig_make_allocator(rig);
        *state = rig;
    }
    return 0;
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
