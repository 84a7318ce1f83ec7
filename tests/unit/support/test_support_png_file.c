/*
 * PNG files: what is written is what libpng reads back, and failures say why.
 */
#define _POSIX_C_SOURCE 200809L

#include "support/png_file.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <unistd.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define WIDTH 37u
#define HEIGHT 19u
#define PATH "test_support_png_file.png"

static void fill(uint8_t* pixels)
{
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; ++i) {
        pixels[4 * i] = (uint8_t)(i * 7);
        pixels[4 * i + 1] = (uint8_t)(i / WIDTH * 13);
        pixels[4 * i + 2] = (uint8_t)(255 - i % WIDTH);
        pixels[4 * i + 3] = (uint8_t)(i * 31); /* not kept */
    }
}

static void write_pixels_read_back(void** state)
{
    (void)state;
    uint8_t pixels[4 * WIDTH * HEIGHT];
    uint8_t read[3 * WIDTH * HEIGHT];
    fill(pixels);
    struct support_error error = {{0}};
    assert_true(support_png_write(PATH, WIDTH, HEIGHT, pixels, &error));
    png_image image;
    memset(&image, 0, sizeof(image));
    image.version = PNG_IMAGE_VERSION;
    assert_int_not_equal(png_image_begin_read_from_file(&image, PATH), 0);
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    image.format = PNG_FORMAT_RGB;
    assert_int_not_equal(png_image_finish_read(&image, NULL, read, 0, NULL), 0);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; ++i) {
        assert_memory_equal(read + 3 * i, pixels + 4 * i, 3);
    }
    remove(PATH);
}

static void write_nowhere_says_why(void** state)
{
    (void)state;
    static const uint8_t pixels[4];
    struct support_error error = {{0}};
    assert_false(support_png_write("/nonexistent/x.png", 1, 1, pixels, &error));
    assert_non_null(strstr(error.text, "/nonexistent/x.png"));
    assert_false(support_png_write("/nonexistent/x.png", 1, 1, pixels, NULL));
}

#if defined(__linux__)
static void write_to_full_device_leaves_it(void** state)
{
    (void)state;
    static const uint8_t pixels[4 * WIDTH * HEIGHT];
    struct support_error error = {{0}};
    (void)unlink(PATH);
    assert_int_equal(symlink("/dev/full", PATH), 0);
    assert_false(support_png_write(PATH, WIDTH, HEIGHT, pixels, &error));
    assert_non_null(strstr(error.text, PATH ": cannot be written: No space left on device"));
    assert_int_equal(access(PATH, F_OK), 0);
    assert_int_equal(unlink(PATH), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_pixels_read_back),
        cmocka_unit_test(write_nowhere_says_why),
#if defined(__linux__)
        cmocka_unit_test(write_to_full_device_leaves_it),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
