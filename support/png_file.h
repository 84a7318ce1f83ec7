/*
 * Writes a picture as a PNG file. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_PNG_FILE_H
#define MAAR_SUPPORT_PNG_FILE_H

#include "readfile.h"

#include <stdint.h>

/* Writes width x height pixels of four bytes each, red first, rows from the top. The fourth byte is
 * ignored. The same pixels give the same file. */
bool support_png_write(const char* path, uint32_t width, uint32_t height, const uint8_t* pixels,
                       struct support_error* error);

#endif
