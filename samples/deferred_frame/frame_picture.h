/*
 * A picture of the plan: passes to the right, offsets upwards.
 */
#ifndef MAAR_SAMPLE_FRAME_PICTURE_H
#define MAAR_SAMPLE_FRAME_PICTURE_H

#include "frame_target.h"

/* Draws where the heap has put everything into an SVG file. Complains on failure. */
bool frame_picture_write(const struct frame_target* target, const struct frame_options* options,
                         const char* device_name);

#endif
