/*
 * What the tests of sharing share: a rig that can export memory, and how to import what it
 * exported.
 */
#ifndef MAAR_TESTS_INTEROP_SHARING_FIXTURE_H
#define MAAR_TESTS_INTEROP_SHARING_FIXTURE_H

#include "tests/rig/rig.h"

/* Opens what MAAR_RIG says, simulated by default. False, having said why, when there is none. */
bool sharing_start(struct rig* rig, const struct rig_setup* setup);

/* How to import what was exported; takes its handle over. */
MaarImportInfo sharing_import_info(const MaarExportedMemory* exported);

/* Until the main queue has done all that was submitted to it. */
void sharing_finish(struct rig* rig);

#endif
