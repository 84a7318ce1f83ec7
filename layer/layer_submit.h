/*
 * Records batches of work, and the points for which they wait and that they signal.
 */
#ifndef MAAR_LAYER_SUBMIT_H
#define MAAR_LAYER_SUBMIT_H

#include "layer/layer_state.h"
#include "maar/capture_file.h"

/* Records a batch and returns its number. Its points follow. */
uint64_t maar_layer_record_batch(const struct layer_device* device, MaarCaptureSubmit* record,
                                 VkQueue queue, VkResult result);

/* Records points of a batch. values may be NULL: then all are binary semaphores, and so are those
 * from value_count on. */
void maar_layer_record_points(const struct layer_device* device, MaarCaptureKind kind,
                              uint64_t submission, uint32_t count, const VkSemaphore* semaphores,
                              uint32_t value_count, const uint64_t* values);

#endif
