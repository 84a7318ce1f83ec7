/*
 * A picture of growth over time: bytes appended, committed and copied, and device memory.
 */
#ifndef MAAR_SAMPLE_GROW_PICTURE_H
#define MAAR_SAMPLE_GROW_PICTURE_H

#include "grow_run.h"

/* One panel a way, side by side, to one scale. Complains and returns false when it cannot. */
bool grow_picture_write(const struct grow_figures* const* ways, uint32_t count,
                        const char* device_name, const char* path);

#endif
