/*
 * Draws pictures: frames as PNG, the resident tiles and figures over time as SVG.
 */
#ifndef MAAR_SAMPLE_TEXTURE_PICTURES_H
#define MAAR_SAMPLE_TEXTURE_PICTURES_H

#include "texture_report.h"

/* Creates the folder and writes all pictures into it. */
bool texture_pictures_write(const struct texture_flight* flight, const char* folder);

#endif
