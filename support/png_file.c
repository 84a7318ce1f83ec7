/*
 * Writes PNG files by libpng's simplified interface.
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
    /* The picture is encoded in memory, since libpng removes a file that it cannot write, even a
     * device. */
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void* const text = malloc(size);
    bool written = text != NULL;
    if (!written) {
        support_error_set(error, path, 0, "out of memory");
    } else if (png_image_write_to_memory(&image, text, &size, 0, packed, 0, NULL) == 0) {
        support_error_set(error, path, 0, "cannot be written: %s", image.message);
        written = false;
    } else {
        written = support_write_file(path, text, size, error);
    }
    png_image_free(&image);
    free(text);
    free(packed);
    return written;
}
