/*
 * What the cases on real drivers begin and end with.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/rig/rig.h"

#include <time.h>

bool rig_is_radv(void)
{
    const char* name = getenv("MAAR_RIG");
    return name != NULL && strncmp(name, "radv", 4) == 0;
}

void rig_let_driver_read(void)
{
    const struct timespec pause = {.tv_nsec = 4000000};
    (void)nanosleep(&pause, NULL);
}

static void VKAPI_PTR lock_nothing(void* user, VkQueue queue)
{
    (void)user;
    (void)queue;
}

static void VKAPI_PTR unlock_late(void* user, VkQueue queue)
{
    (void)user;
    (void)queue;
    rig_let_driver_read();
}

bool rig_start_paging(struct rig* rig)
{
    const bool radv = rig_is_radv();
    const struct rig_setup setup = {.paging = true, .without_layer = radv};
    if (!rig_open_vulkan(rig, &setup, !radv)) {
        return false;
    }
    for (uint32_t i = 0; radv && i < RIG_QUEUES; ++i) {
        rig->paging_queues[i].pfnLock = lock_nothing;
        rig->paging_queues[i].pfnUnlock = unlock_late;
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
