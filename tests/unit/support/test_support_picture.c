/*
 * Pictures: everything that is there is drawn, inside the page, and no text runs into another,
 * whether there is one block or hundreds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/picture.h"
#include "support/readfile.h"
#include "support/svg.h"

#define MAX_TEXTS 2000

struct text_box {
    double left, right, top, bottom;
};

static uint32_t next_random(uint32_t* state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void fill_block(struct support_picture_block* block, uint64_t size, uint32_t* state)
{
    block->size = size;
    block->id = *state % 100;
    snprintf(block->label, sizeof(block->label), "type 11 device-local host-visible cached");
    block->ranges = calloc(400, sizeof(*block->ranges));
    assert_non_null(block->ranges);
    uint64_t at = 0;
    while (at < size) {
        struct support_picture_range* const range = &block->ranges[block->range_count++];
        range->offset = at;
        range->size = 1 + next_random(state) % (size / 64 + 1);
        if (block->range_count == 400 || range->size > size - at) {
            range->size = size - at;
        }
        range->kind = next_random(state) % SUPPORT_PICTURE_KIND_COUNT;
        snprintf(range->label, sizeof(range->label), "image %u, 4096x4096", (unsigned)at);
        block->live += range->kind >= SUPPORT_PICTURE_BUFFER ? range->size : 0;
        at += range->size;
    }
}

static void make_picture(struct support_picture* picture, size_t shared, size_t dedicated)
{
    uint32_t state = 7;
    memset(picture, 0, sizeof(*picture));
    snprintf(picture->title, sizeof(picture->title), "captured & <cut>");
    snprintf(picture->subtitle, sizeof(picture->subtitle), "a device, strategy auto");
    picture->blocks = calloc(shared + dedicated + 1, sizeof(*picture->blocks));
    assert_non_null(picture->blocks);
    for (size_t i = 0; i < shared + dedicated; ++i) {
        struct support_picture_block* const block = &picture->blocks[picture->block_count++];
        fill_block(block, (uint64_t)(1 + next_random(&state) % 256) << 20, &state);
        block->dedicated = i >= shared;
    }
}

/* Draws, reads the file and removes it. */
static char* draw(const struct support_picture* picture)
{
    char path[64];
    snprintf(path, sizeof(path), "test_support_picture_%06u.svg", (unsigned)picture->block_count);
    struct support_error error = {"no message"};
    char* text = NULL;
    size_t size = 0;
    assert_true(support_picture_write(picture, path, &error));
    assert_true(support_read_file(path, 0, &text, &size, &error));
    assert_int_equal(remove(path), 0);
    assert_ptr_equal(strstr(text, "<svg "), text);
    assert_string_equal(text + size - strlen("</svg>\n"), "</svg>\n");
    return text;
}

static size_t read_texts(const char* text, struct text_box* boxes)
{
    size_t count = 0;
    for (const char* at = strstr(text, "<text "); at != NULL; at = strstr(at + 1, "<text ")) {
        double x = 0.0;
        double y = 0.0;
        double size = 0.0;
        assert_int_equal(sscanf(at, "<text x=\"%lf\" y=\"%lf\" font-size=\"%lf\"", &x, &y, &size),
                         3);
        const char* const open = strchr(at, '>');
        const char* const close = strstr(open, "</text>");
        char content[400];
        const size_t length = (size_t)(close - open - 1);
        assert_true(length < sizeof(content));
        memcpy(content, open + 1, length);
        content[length] = '\0';
        const char* const middle = strstr(at, "text-anchor=\"middle\"");
        const char* const end = strstr(at, "text-anchor=\"end\"");
        const char* const bold = strstr(at, "font-weight=\"bold\"");
        const double width = support_svg_text_width(content, size, bold != NULL && bold < open);
        const double left = middle != NULL && middle < open ? x - width / 2
                            : end != NULL && end < open     ? x - width
                                                            : x;
        assert_true(count < MAX_TEXTS);
        boxes[count++] = (struct text_box){left, left + width, y - size * 0.72, y + size * 0.2};
    }
    return count;
}

static void check_picture(size_t shared, size_t dedicated)
{
    struct support_picture picture;
    make_picture(&picture, shared, dedicated);
    char* const text = draw(&picture);
    double width = 0.0;
    double height = 0.0;
    assert_non_null(strstr(text, "viewBox"));
    assert_int_equal(sscanf(strstr(text, "viewBox"), "viewBox=\"0 0 %lf %lf\"", &width, &height),
                     2);
    struct text_box* const boxes = calloc(MAX_TEXTS, sizeof(*boxes));
    assert_non_null(boxes);
    const size_t count = read_texts(text, boxes);
    assert_true(count >= 4);
    for (size_t i = 0; i < count; ++i) {
        assert_true(boxes[i].left >= 0.0 && boxes[i].right <= width);
        assert_true(boxes[i].top >= 0.0 && boxes[i].bottom <= height);
        for (size_t j = 0; j < i; ++j) {
            assert_false(boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right &&
                         boxes[i].top < boxes[j].bottom && boxes[j].top < boxes[i].bottom);
        }
    }
    for (const char* at = strstr(text, "<rect "); at != NULL; at = strstr(at + 1, "<rect ")) {
        double box[4] = {0};
        assert_int_equal(sscanf(at, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
                                &box[0], &box[1], &box[2], &box[3]),
                         4);
        assert_true(box[0] >= 0.0 && box[1] >= 0.0 && box[2] >= 0.0 && box[3] >= 0.0);
        assert_true(box[0] + box[2] <= width + 0.01 && box[1] + box[3] <= height + 0.01);
    }
    assert_non_null(strstr(text, "captured &amp; &lt;cut&gt;"));
    free(boxes);
    free(text);
    support_picture_release(&picture);
    assert_null(picture.blocks);
}

static void picture_few_blocks_fits_page(void** state)
{
    (void)state;
    check_picture(1, 0);
    check_picture(2, 1);
    check_picture(7, 12);
    check_picture(24, 0);
}

static void picture_many_blocks_fits_page(void** state)
{
    (void)state;
    check_picture(25, 3);
    check_picture(200, 0);
    check_picture(0, 245);
    check_picture(450, 100);
}

static void picture_without_blocks_is_drawn(void** state)
{
    (void)state;
    struct support_picture picture;
    make_picture(&picture, 0, 0);
    char* const text = draw(&picture);
    assert_non_null(strstr(text, "padding 0 B"));
    free(text);
    support_picture_release(&picture);
}

static void picture_legend_states_bytes(void** state)
{
    (void)state;
    struct support_picture picture = {.title = "t", .subtitle = "s"};
    struct support_picture_range ranges[3] = {
        {.offset = 0, .size = 3u << 20, .kind = SUPPORT_PICTURE_IMAGE, .label = "image 1"},
        {.offset = 3u << 20, .size = 1u << 19, .kind = SUPPORT_PICTURE_PADDING},
        {.offset = 7u << 19, .size = 1u << 19, .kind = SUPPORT_PICTURE_FREE},
    };
    struct support_picture_block block = {.id = 3,
                                          .label = "type 3 device-local",
                                          .size = 4u << 20,
                                          .live = 3u << 20,
                                          .ranges = ranges,
                                          .range_count = 3};
    picture.blocks = &block;
    picture.block_count = 1;
    char* const text = draw(&picture);
    assert_non_null(strstr(text, ">images 3 MiB (75.0 %)<"));
    assert_non_null(strstr(text, ">padding 512 KiB (12.5 %)<"));
    assert_non_null(strstr(text, ">free 512 KiB (12.5 %)<"));
    assert_non_null(strstr(text, ">Block 3: type 3 device-local, 4 MiB, 75.0 % used<"));
    free(text);
}

/* 256 MiB of which the first and the last MiB are taken: what lies between is one line. */
static void picture_folds_empty_lines(void** state)
{
    (void)state;
    struct support_picture picture = {.title = "t", .subtitle = "s"};
    struct support_picture_range ranges[3] = {
        {.offset = 0, .size = 1u << 20, .kind = SUPPORT_PICTURE_IMAGE},
        {.offset = 1u << 20, .size = 254u << 20, .kind = SUPPORT_PICTURE_FREE},
        {.offset = 255u << 20, .size = 1u << 20, .kind = SUPPORT_PICTURE_BUFFER},
    };
    struct support_picture_block block = {
        .size = 256u << 20, .live = 2u << 20, .ranges = ranges, .range_count = 3};
    picture.blocks = &block;
    picture.block_count = 1;
    char* const text = draw(&picture);
    assert_non_null(strstr(text, ">254 MiB free: 2032 empty lines<"));
    assert_non_null(strstr(text, "stroke-dasharray"));
    assert_non_null(strstr(text, "A dashed line stands for several empty lines."));
    assert_non_null(strstr(text, ">1 MiB<"));
    assert_non_null(strstr(text, ">255 MiB<"));
    assert_null(strstr(text, ">2 MiB<"));
    free(text);
    /* Two lines are too few to fold. */
    ranges[1].size = 2u << 20;
    ranges[2] = (struct support_picture_range){
        .offset = 3u << 20, .size = 30u << 20, .kind = SUPPORT_PICTURE_BUFFER};
    block.size = 33u << 20;
    char* const unfolded = draw(&picture);
    assert_null(strstr(unfolded, "2 MiB free:"));
    assert_null(strstr(unfolded, "stroke-dasharray"));
    assert_null(strstr(unfolded, "A dashed line"));
    assert_non_null(strstr(unfolded, ">2 MiB<"));
    free(unfolded);
}

/* The legend explains shades, padding and widths, and each layout has a scale. */
static void picture_explains_what_it_draws(void** state)
{
    (void)state;
    static const struct {
        size_t shared, dedicated;
        const char* note;
        const char* other;
    } rows[] = {
        {2, 0, "A line shows ", "A dedicated block"},
        {30, 0, "A bar is as long as its block is large; the longest is ", "A line shows "},
        {0, 9, "A dedicated block holds one resource; a full row of them is ", "A bar is"},
        {1, 9, "A line shows ", "A bar is"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        struct support_picture picture;
        make_picture(&picture, rows[i].shared, rows[i].dedicated);
        char* const text = draw(&picture);
        assert_non_null(strstr(text, "The two shades of a colour only distinguish neighbours."));
        assert_non_null(strstr(text, "Padding: bytes lost to alignment and rounding."));
        assert_non_null(strstr(text, "Pending: freed, but the device may still use it."));
        assert_non_null(strstr(text, rows[i].note));
        assert_null(strstr(text, rows[i].other));
        assert_non_null(strstr(text, ">0 B</text>"));
        free(text);
        support_picture_release(&picture);
    }
}

static size_t count_of(const char* text, const char* word)
{
    size_t count = 0;
    for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        ++count;
    }
    return count;
}

/* The same shapes in each theme, and other colours. */
static void picture_has_light_and_dark_colours(void** state)
{
    (void)state;
    struct support_picture picture;
    make_picture(&picture, 3, 20);
    char* const both = draw(&picture);
    picture.theme = SUPPORT_SVG_THEME_LIGHT;
    char* const light = draw(&picture);
    picture.theme = SUPPORT_SVG_THEME_DARK;
    char* const dark = draw(&picture);
    assert_int_equal(count_of(both, "@media (prefers-color-scheme: dark)"), 1);
    assert_non_null(strstr(both, "[fill=\"#FFFFFF\"] { fill: #0D1117 }"));
    assert_null(strstr(light, "<style>"));
    assert_null(strstr(dark, "<style>"));
    assert_int_equal(strlen(light), strlen(dark));
    assert_int_equal(strncmp(both, light, strlen(light) - strlen("</svg>\n")), 0);
    assert_int_equal(count_of(light, "#FFFFFF"), 1);
    assert_int_equal(count_of(dark, "#0D1117"), 1);
    assert_int_equal(count_of(dark, "#FFFFFF"), 0);
    assert_int_equal(count_of(dark, "#1B1F24"), 0);
    free(both);
    free(light);
    free(dark);
    support_picture_release(&picture);
}

static void svg_dark_changes_attributes_only(void** state)
{
    (void)state;
    static const char path[] = "test_support_picture_dark.svg";
    struct support_svg svg;
    struct support_error error = {""};
    char* text = NULL;
    size_t size = 0;
    support_svg_begin(&svg, 10, 10, "#ABCDEF");
    svg.theme = SUPPORT_SVG_THEME_DARK;
    support_svg_darken(&svg, "#ABCDEF", "#012345");
    support_svg_darken(&svg, "#ABCDEF", "#999999"); /* the first pair counts */
    support_svg_rectangle(&svg, 0, 0, 1, 1, "#FEDCBA", "fill=\"#ABCDEF\"");
    support_svg_frame(&svg, 0, 0, 1, 1, "#ABCDEF", 1.0);
    assert_true(support_svg_finish(&svg, path, &error));
    assert_null(svg.pairs);
    assert_true(support_read_file(path, 0, &text, &size, &error));
    assert_int_equal(remove(path), 0);
    assert_int_equal(count_of(text, "=\"#012345\""), 2);
    assert_int_equal(count_of(text, "#FEDCBA"), 1);
    assert_int_equal(count_of(text, "fill=&quot;#ABCDEF&quot;"), 1);
    assert_int_equal(count_of(text, "#ABCDEF"), 1);
    free(text);
}

static void svg_theme_is_found_by_name(void** state)
{
    (void)state;
    enum support_svg_theme theme = SUPPORT_SVG_THEME_LIGHT;
    assert_true(support_svg_find_theme("dark", &theme));
    assert_int_equal(theme, SUPPORT_SVG_THEME_DARK);
    assert_true(support_svg_find_theme("auto", &theme));
    assert_int_equal(theme, SUPPORT_SVG_THEME_AUTO);
    assert_false(support_svg_find_theme("Dark", &theme));
    assert_int_equal(theme, SUPPORT_SVG_THEME_AUTO);
}

static void picture_unwritable_path_is_an_error(void** state)
{
    (void)state;
    struct support_picture picture = {.title = "t"};
    struct support_error error = {""};
    assert_false(support_picture_write(&picture, "no/such/folder/p.svg", &error));
    assert_non_null(strstr(error.text, "no/such/folder/p.svg: cannot be written: "));
}

static void svg_text_too_long_is_cut(void** state)
{
    (void)state;
    struct support_svg svg;
    support_svg_begin(&svg, 100, 100, "#fff");
    const struct support_svg_text style = {
        .x = 1, .y = 20, .size = 10, .fill = "#000", .max_width = 40};
    support_svg_text(&svg, &style, "wwwwwwwwwwwwwwww");
    assert_non_null(strstr(svg.text, ">ww"));
    assert_non_null(strstr(svg.text, "\xE2\x80\xA6</text>"));
    assert_null(strstr(svg.text, "wwwww"));
    struct support_error error = {""};
    assert_true(support_svg_finish(&svg, "test_support_picture_cut.svg", &error));
    assert_null(svg.text);
    assert_int_equal(remove("test_support_picture_cut.svg"), 0);
}

/* What support_svg_text makes of a text, between its tags. */
static void expect_text(const char* text, double max_width, const char* wanted)
{
    struct support_svg svg;
    struct support_error error = {""};
    support_svg_begin(&svg, 100, 100, "#fff");
    const struct support_svg_text style = {
        .x = 1, .y = 20, .size = 10, .fill = "#000", .max_width = max_width};
    support_svg_text(&svg, &style, text);
    const char* written = strchr(strstr(svg.text, "<text"), '>') + 1;
    assert_int_equal(strncmp(written, wanted, strlen(wanted)), 0);
    assert_string_equal(written + strlen(wanted), "</text>\n");
    assert_true(support_svg_finish(&svg, "test_support_picture_text.svg", &error));
    assert_int_equal(remove("test_support_picture_text.svg"), 0);
}

static void svg_text_of_any_bytes_is_utf8(void** state)
{
    (void)state;
    expect_text("a<\x01\xC3\xA9\x1F&", 0, "a&lt;\xC3\xA9&amp;");
    expect_text("\xF0\x9F\x8C\x8B\xEF\xBF\xBD", 0, "\xF0\x9F\x8C\x8B\xEF\xBF\xBD");
    expect_text("x\x80y\xFFz\xE2\x82", 0, "x\xEF\xBF\xBDy\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
    expect_text("\xED\xA0\x80", 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    expect_text("\xC0\x80", 0, "\xEF\xBF\xBD\xEF\xBF\xBD");
    expect_text("\xEF\xBF\xBE", 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    /* Cut between characters: 10 for the ellipsis, 6.4 for each byte. */
    expect_text("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", 10 + 5 * 6.5, "\xE2\x82\xAC\xE2\x80\xA6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picture_few_blocks_fits_page),
        cmocka_unit_test(picture_many_blocks_fits_page),
        cmocka_unit_test(picture_without_blocks_is_drawn),
        cmocka_unit_test(picture_legend_states_bytes),
        cmocka_unit_test(picture_folds_empty_lines),
        cmocka_unit_test(picture_explains_what_it_draws),
        cmocka_unit_test(picture_has_light_and_dark_colours),
        cmocka_unit_test(svg_dark_changes_attributes_only),
        cmocka_unit_test(svg_theme_is_found_by_name),
        cmocka_unit_test(picture_unwritable_path_is_an_error),
        cmocka_unit_test(svg_text_too_long_is_cut),
        cmocka_unit_test(svg_text_of_any_bytes_is_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
