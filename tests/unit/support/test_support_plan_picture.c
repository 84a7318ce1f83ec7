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
    static const struct support_plan_part parts[] = {{"class 0", 2048, 2048},
                                                     {"class 1", 4096, 3072}};
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
    static const struct support_plan_part part = {"", (uint64_t)1 << 61, 1};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_picture_shows_names_lines_and_queues),
        cmocka_unit_test(plan_picture_of_extremes_is_drawn),
        cmocka_unit_test(plan_picture_that_cannot_be_written_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
