/*
 * What the tests of sharing share: a rig that can export memory, the process's descriptors counted,
 * and a buffer that is exported.
 */
#ifndef MAAR_TESTS_INTEROP_SHARING_FIXTURE_H
#define MAAR_TESTS_INTEROP_SHARING_FIXTURE_H

#include "tests/rig/rig.h"

/* A simulated device that shares all it can. */
extern const MaarSimulatedSharingInfo sharing_everything;

/* Opens what MAAR_RIG says, simulated by default. False, having said why, when there is none. */
bool sharing_start(struct rig* rig, const struct rig_setup* setup);

/* Open descriptors of this process. */
uint32_t sharing_count_fds(void);

MaarExportedMemory sharing_export(struct rig* rig, MaarAllocation allocation);
/* A buffer in memory that the host sees and others can import. */
MaarAllocation sharing_make_buffer(struct rig* rig, VkDeviceSize size, VkBuffer* buffer);
/* How to import what was exported; takes its handle over. */
MaarImportInfo sharing_import_info(const MaarExportedMemory* exported);

/* Until the main queue has done all that was submitted to it. */
void sharing_finish(struct rig* rig);

#endif
