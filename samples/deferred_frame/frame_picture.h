/*
 * A picture of the plan: passes to the right, offsets upwards.
 */
#ifndef MAAR_SAMPLE_FRAME_PICTURE_H
#define MAAR_SAMPLE_FRAME_PICTURE_H

#include "frame_target.h"

/* Draws the heap's placement into an SVG file. Prints an error on failure. */
bool frame_picture_write(const struct frame_target* target, const struct frame_options* options,
                         const char* device_name);

#endif
