/*
 * The picture of the blocks before, during and after.
 */
#ifndef MAAR_SAMPLE_CHEESE_PICTURE_H
#define MAAR_SAMPLE_CHEESE_PICTURE_H

#include "cheese_show.h"

/* Writes an SVG file. Prints an error and returns false on failure. */
bool cheese_picture_write(const struct cheese_result* result, const char* device_name,
                          const char* path);

#endif
