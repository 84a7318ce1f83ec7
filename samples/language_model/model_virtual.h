/*
 * The model on a simulated device: it executes copies and keeps virtual time, but no shaders. What
 * the shaders of a stage would access, and how long that takes, is declared instead.
 */
#ifndef MAAR_SAMPLE_MODEL_VIRTUAL_H
#define MAAR_SAMPLE_MODEL_VIRTUAL_H

#include "model_shape.h"
#include "sample_device.h"

/* A model of this size in place of one that is larger by a factor: all bandwidths are divided by
 * it, so that a byte takes the time of this many bytes. */
#define MODEL_BYTE_STANDS_FOR 4096u
/* Bytes of a second: a card of today in its own memory, and between it and the host. */
#define MODEL_DEVICE_BANDWIDTH UINT64_C(800000000000)
#define MODEL_HOST_BANDWIDTH UINT64_C(24000000000)

/* Starts virtual time, and checks of contents and synchronization. */
bool model_virtual_start(const struct sample_device* device);

/* Returns the host's clock in nanoseconds. */
uint64_t model_virtual_clock(const struct sample_device* device);

/* Records that a stage reads its weights and the KV cache of its layer, and writes the last part of
 * it. It takes as long as the device takes to read all that. `objects` as for
 * model_compute_record. */
void model_virtual_record(const struct model_shape* shape, uint32_t stage,
                          const struct model_pass* pass, const MaarResidentObject* objects,
                          VkCommandBuffer commands);

#endif
