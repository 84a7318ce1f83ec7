/*
 * What the files of the rig ask of one another.
 */
#ifndef MAAR_TESTS_RIG_RIG_INTERNAL_H
#define MAAR_TESTS_RIG_RIG_INTERNAL_H

#include "tests/rig/rig.h"

void rig_host_init(struct rig* rig);
void VKAPI_PTR rig_keep_message(void* user, const MaarMessage* report);
/* From a physical device on: what to enable, the device, create_info. */
void rig_open_device(struct rig* rig, const struct rig_setup* setup);
/* The version of a setup: its own, or that of MAAR_RIG_FUNCTIONS. */
uint32_t rig_api_version(const struct rig_setup* setup);
/* Puts the functions into create_info that MAAR_RIG_FUNCTIONS asks for: see rig_first.c. */
void rig_use_asked_functions(struct rig* rig);

#endif
