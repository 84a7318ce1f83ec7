/*
 * The capture of this process: its file, its environment, its numbers. The file begins with the
 * first instance and ends when the layer is unloaded or the program exits. The child of a fork
 * begins a file of its own with its next instance or device.
 *
 * Environment: MAAR_CAPTURE_FILE (the beginning of the files' names, or a folder),
 * MAAR_CAPTURE_LIMIT (bytes of a file), MAAR_CAPTURE_DRIVER_MEMORY, MAAR_CAPTURE_USES,
 * MAAR_CAPTURE_LOG (a file for the layer's own messages). docs/captures.md explains them.
 */
#ifndef MAAR_LAYER_CAPTURE_H
#define MAAR_LAYER_CAPTURE_H

#include <stddef.h>

#include "layer/layer_state.h"
#include "maar/capture_file.h"

/* Begins the capture of this process if there is none. Does nothing when it cannot begin. */
void maar_layer_begin_capture(void);

/* Returns the number of the next device, or 0 when there is no capture. */
uint32_t maar_layer_next_device(void);

/* Returns the number of the next batch. */
uint64_t maar_layer_next_submission(void);

/* Whether the user asked for VK_EXT_device_memory_report. */
bool maar_layer_wants_driver_memory(void);

/* Write an entry of a device. Nothing is written when the device is not recorded. */
void maar_layer_write(const struct layer_device* device, MaarCaptureKind kind, const void* payload,
                      size_t size);
void maar_layer_write_texts(const struct layer_device* device, MaarCaptureKind kind,
                            const void* payload, size_t size, const char* const* texts,
                            size_t text_count);

/* Writes the end of an object. */
void maar_layer_write_end(const struct layer_device* device, MaarCaptureKind kind, uint64_t handle);

/* Writes an entry that belongs to no device. */
void maar_layer_write_global(MaarCaptureKind kind, const void* payload, size_t size,
                             const char* const* texts, size_t text_count);

#endif
