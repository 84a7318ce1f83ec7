/*
 * Renders some frames and reads the last one back.
 */
#ifndef MAAR_SAMPLE_FRAME_RENDER_H
#define MAAR_SAMPLE_FRAME_RENDER_H

#include "frame_record.h"

/*
 * Records and submits all frames without waiting in between. Then waits for the last frame and
 * copies its RGBA picture to `pixels`. Ignores the commands and the frame in `recording`.
 */
bool frame_render(const struct frame_recording* recording, uint8_t* pixels);

#endif
