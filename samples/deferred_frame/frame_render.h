/*
 * Rendering some frames and reading the last one back.
 */
#ifndef MAAR_SAMPLE_FRAME_RENDER_H
#define MAAR_SAMPLE_FRAME_RENDER_H

#include "frame_record.h"

/*
 * Records and submits frame after frame without waiting in between, waits for the last one
 * and copies its picture, RGBA, to `pixels`. recording's commands and frame are not looked at.
 */
bool frame_render(const struct frame_recording* recording, uint8_t* pixels);

#endif
