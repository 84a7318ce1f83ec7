/*
 * Pictures of plans: what is drawn, and that odd input makes no broken file.
 */
#include "support/plan_picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char path[] = "test_support_plan_picture.svg";

/* Draws and reads the file back; the caller frees the text. */
static char* draw(const struct support_plan_picture* picture)
{
    struct support_error error = {"no message"};
    char* text = NULL;
    size_t size = 0;
    if (!support_plan_picture_write(picture, path, &error) ||
        !support_read_file(path, 0, &text, &size, &error)) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(remove(path), 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_string_equal(text + size - 7, "</svg>\n");
    return text;
}

static void plan_picture_shows_names_lines_and_queues(void** state)
{
    (void)state;
    static const struct support_plan_item items[] = {
        {"0", "a<b", 0, 2, 0, 1024, 0},
        {"1", "", 2, 3, 0, 2048, 0},
        {"2", "upright", 0, 1, 0, 4096, 1},
    };
    static const struct support_plan_part parts[] = {{"class 0", 2048, 2048, true},
                                                     {"class 1", 4096, 3072, false}};
    static const struct support_plan_pass passes[] = {{"first pass", 0}, {"", 1}, {"last", 0}};
    static const char* const queues[] = {"graphics", "compute"};
    const struct support_plan_picture picture = {.title = "title & more",
                                                 .subtitle = "subtitle",
                                                 .items = items,
                                                 .item_count = 3,
                                                 .parts = parts,
                                                 .part_count = 2,
                                                 .passes = passes,
                                                 .pass_count = 3,
                                                 .queues = queues,
                                                 .queue_count = 2};
    char* const text = draw(&picture);
    static const char* const expected[] = {
        "title &amp; more",
        "a&lt;b (0): 1 KiB at 0 B, time 0 to 1",
        "1: 2 KiB at 0 B, time 2<",
        "class 1",
        "peak 4 KiB",
        "lower bound 3 KiB",
        "= lower bound",
        "queue graphics",
        "queue compute",
        "first pass",
        "alive in this one of the possible orders: at most 5 KiB",
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); ++i) {
        if (strstr(text, expected[i]) == NULL) {
            fail_msg("no %s in the picture", expected[i]);
        }
    }
    free(text);
}

static void plan_picture_of_extremes_is_drawn(void** state)
{
    (void)state;
    static const struct support_plan_item items[] = {
        {"x", "", 0, UINT64_MAX, (uint64_t)1 << 60, (uint64_t)1 << 60, 0},
        {"y", "", UINT64_MAX - 1, UINT64_MAX, 0, 1, 0},
    };
    static const struct support_plan_part part = {"", (uint64_t)1 << 61, 1, false};
    const struct support_plan_picture none = {.title = "nothing"};
    const struct support_plan_picture large = {
        .items = items, .item_count = 2, .parts = &part, .part_count = 1};
    free(draw(&none));
    free(draw(&large));
}

static void plan_picture_that_cannot_be_written_is_reported(void** state)
{
    (void)state;
    const struct support_plan_picture none = {.title = "nothing"};
    struct support_error error = {""};
    assert_false(support_plan_picture_write(&none, "no/such/folder.svg", &error));
    assert_non_null(strstr(error.text, "no/such/folder.svg: cannot be written"));
}

static void expect(const char* text, const char* wanted)
{
    if (strstr(text, wanted) == NULL) {
        fail_msg("no %s in the picture", wanted);
    }
}

/* Edges are arrows between the rectangles, and each kind of line is in the legend. */
static void plan_picture_draws_and_explains_its_lines(void** state)
{
    (void)state;
    static const struct support_plan_item items[] = {
        {"0", "early", 0, 4, 0, 1024, 0},
        {"1", "late", 8, 10, 0, 512, 0},
        {"2", "between", 5, 7, 256, 256, 0},
        {"3", "alone", 0, 10, 1024, 512, 0},
    };
    static const struct support_plan_part part = {"", 1536, 1400, true};
    static const struct support_plan_edge edges[] = {{0, 1, false}, {0, 2, true}};
    struct support_plan_picture picture = {.title = "t",
                                           .items = items,
                                           .item_count = 4,
                                           .parts = &part,
                                           .part_count = 1,
                                           .edges = edges,
                                           .edge_count = 2,
                                           .capacity = 1500};
    char* text = draw(&picture);
    expect(text, ">peak: bytes needed<");
    expect(text, ">lower bound: most bytes that must be alive<");
    expect(text, ">capacity<");
    expect(text, ">aliasing edge: takes over these bytes<");
    expect(text, ">the same, between queues<");
    /* "late" takes over bytes 0 to 256, which "between" does not use; the panel is 640 high and
     * 1042 wide. */
    expect(text, "<path d=\"M502.80 690.67L914.60 690.67\" stroke=\"#3F4954\"");
    expect(text, "stroke-dasharray=\"4 2\"");
    /* The legend's lines are the picture's. */
    expect(text, " 72.00\" stroke=\"#0B6E4F\" stroke-width=\"1.3\" stroke-dasharray=\"6 3\"");
    expect(text, "stroke=\"#0B6E4F\" stroke-width=\"1.3\" stroke-dasharray=\"6 3\"");
    /* The lower bound alone does not prove the peak. */
    expect(text, ">proved optimal<");
    expect(text, ">offset<");
    free(text);
    picture.capacity = 0;
    picture.edge_count = 0;
    text = draw(&picture);
    assert_null(strstr(text, "capacity"));
    assert_null(strstr(text, "aliasing edge"));
    free(text);
}

static void plan_picture_of_many_edges_counts_them(void** state)
{
    (void)state;
    enum { EDGES = 501 };
    static const struct support_plan_item items[] = {{"0", "", 0, 1, 0, 8, 0},
                                                     {"1", "", 1, 2, 0, 8, 0}};
    static const struct support_plan_part part = {"", 8, 8, true};
    static struct support_plan_edge edges[EDGES];
    for (size_t i = 0; i < EDGES; ++i) {
        edges[i].after = 1;
    }
    const struct support_plan_picture picture = {.title = "t",
                                                 .items = items,
                                                 .item_count = 2,
                                                 .parts = &part,
                                                 .part_count = 1,
                                                 .edges = edges,
                                                 .edge_count = EDGES};
    char* const text = draw(&picture);
    expect(text, ">501 aliasing edges, too many to draw<");
    assert_null(strstr(text, "stroke=\"#3F4954\" stroke-width"));
    assert_null(strstr(text, "proved optimal"));
    free(text);
}

/* Names that begin alike are shortened to different texts. */
static void plan_picture_labels_differ(void** state)
{
    (void)state;
    static const struct support_plan_item items[] = {
        {"0", "shadow_cascade_0_depth", 0, 1, 0, 64, 0},
        {"1", "shadow_cascade_1_depth", 1, 2, 0, 64, 0},
        {"2", "shadow_mask", 2, 3, 0, 64, 0},
        {"3", "x", 3, 12, 0, 64, 0},
    };
    static const struct support_plan_part part = {"", 64, 64, true};
    struct support_plan_picture picture = {
        .title = "t", .items = items, .item_count = 4, .parts = &part, .part_count = 1};
    /* The height of the panel has room for whole names, upright. */
    char* text = draw(&picture);
    expect(text, ">shadow_cascade_0_depth<");
    free(text);
    static const struct support_plan_item flat[] = {
        {"0", "shadow_cascade_0_depth", 0, 1, 0, 2, 0},
        {"1", "shadow_cascade_1_depth", 1, 2, 0, 2, 0},
        {"2", "shadow_mask", 2, 3, 0, 2, 0},
        {"3", "x", 3, 12, 0, 64, 0},
    };
    picture.items = flat;
    text = draw(&picture);
    expect(text, ">shado\xE2\x80\xA6"
                 "0_depth<");
    expect(text, ">shado\xE2\x80\xA6"
                 "1_depth<");
    free(text);
}

static void plan_picture_is_light_or_dark(void** state)
{
    (void)state;
    static const struct support_plan_item items[] = {{"0", "name", 0, 1, 0, 8, 0}};
    static const struct support_plan_part part = {"", 8, 8, true};
    struct support_plan_picture picture = {
        .title = "t", .items = items, .item_count = 1, .parts = &part, .part_count = 1};
    char* const both = draw(&picture);
    picture.theme = SUPPORT_SVG_THEME_DARK;
    char* const dark = draw(&picture);
    expect(both, "@media (prefers-color-scheme: dark)");
    expect(both, "fill=\"#FFFFFF\"");
    expect(dark, "fill=\"#0D1117\"");
    assert_null(strstr(dark, "#FFFFFF"));
    assert_null(strstr(dark, "hsl("));
    free(both);
    free(dark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_picture_shows_names_lines_and_queues),
        cmocka_unit_test(plan_picture_of_extremes_is_drawn),
        cmocka_unit_test(plan_picture_draws_and_explains_its_lines),
        cmocka_unit_test(plan_picture_of_many_edges_counts_them),
        cmocka_unit_test(plan_picture_labels_differ),
        cmocka_unit_test(plan_picture_is_light_or_dark),
        cmocka_unit_test(plan_picture_that_cannot_be_written_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
