/*
 * Draws growth over time: the appended, committed and copied bytes, and the device memory.
 */
#ifndef MAAR_SAMPLE_GROW_PICTURE_H
#define MAAR_SAMPLE_GROW_PICTURE_H

#include "grow_run.h"

/* Draws one panel for each way, side by side, with one scale. Prints an error and returns false on
 * failure. */
bool grow_picture_write(const struct grow_figures* const* ways, uint32_t count,
                        const char* device_name, const char* path);

#endif
