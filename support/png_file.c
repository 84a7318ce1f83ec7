/*
 * PNG by libpng's simplified interface.
 */
#include "support/png_file.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

bool support_png_write(const char* path, uint32_t width, uint32_t height, const uint8_t* pixels,
                       struct support_error* error)
{
    const size_t count = (size_t)width * height;
    uint8_t* const packed = malloc(3 * count);
    if (packed == NULL) {
        support_error_set(error, path, 0, "out of memory");
        return false;
    }
    for (size_t i = 0; i < count; ++i) {
        memcpy(packed + 3 * i, pixels + 4 * i, 3);
    }
    png_image image;
    memset(&image, 0, sizeof(image));
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = PNG_FORMAT_RGB;
    const bool written = png_image_write_to_file(&image, path, 0, packed, 0, NULL) != 0;
    if (!written) {
        support_error_set(error, path, 0, "cannot be written: %s", image.message);
    }
    png_image_free(&image);
    free(packed);
    return written;
}
