/*
 * Shortened names: they fit, they differ, and they hold whole characters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/short_label.h"
#include "support/svg.h"

#define DOTS "\xE2\x80\xA6"

struct name_list {
    const char* const* names;
    size_t count;
};

static const char* name_of(const void* context, size_t index)
{
    return ((const struct name_list*)context)->names[index];
}

/* Every letter used here is 6.4 wide in this size, the ellipsis 10. */
static bool shorten(const struct name_list* list, const char* name, double room, char* out,
                    size_t size)
{
    return support_shorten_label(name, room, 10.0, name_of, list, list->count, out, size);
}

static void short_label_that_fits_is_whole(void** state)
{
    (void)state;
    static const char* const names[] = {"abc", "abd"};
    const struct name_list list = {names, 2};
    char out[32];
    assert_true(shorten(&list, "abc", 20.0, out, sizeof(out)));
    assert_string_equal(out, "abc");
}

static void short_label_keeps_what_differs(void** state)
{
    (void)state;
    static const char* const names[] = {"abcdeh0", "abcdeh1", "xbcdeh1", "abcdeh0"};
    const struct name_list list = {names, 4};
    char out[32];
    assert_true(shorten(&list, "xbcdeh1", 30.0, out, sizeof(out)));
    assert_string_equal(out, "xbc" DOTS);
    assert_true(shorten(&list, "abcdeh0", 30.0, out, sizeof(out)));
    assert_string_equal(out, "ab" DOTS "0");
    assert_true(shorten(&list, "abcdeh1", 30.0, out, sizeof(out)));
    assert_string_equal(out, "ab" DOTS "1");
}

static void short_label_without_difference_is_empty(void** state)
{
    (void)state;
    static const char* const names[] = {"aaaab0aaaa", "aaaab1aaaa"};
    const struct name_list list = {names, 2};
    char out[32] = "x";
    assert_false(shorten(&list, "aaaab0aaaa", 40.0, out, sizeof(out)));
    assert_string_equal(out, "");
    assert_false(shorten(&list, "aaaab0aaaa", 2.0, out, sizeof(out)));
    assert_string_equal(out, "");
    assert_false(shorten(&list, "", -1.0, out, sizeof(out)));
    assert_string_equal(out, "");
}

static void short_label_never_splits_characters(void** state)
{
    (void)state;
    static const char* const names[] = {"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA8"};
    const struct name_list list = {names, 2};
    char out[32];
    for (double room = 0.0; room < 60.0; room += 1.0) {
        if (shorten(&list, names[0], room, out, sizeof(out))) {
            for (const char* at = out; *at != '\0'; at += *at == '\xE2' ? 3 : 2) {
                assert_true(strncmp(at, "\xC3\xA9", 2) == 0 || strncmp(at, DOTS, 3) == 0);
            }
            assert_true(6.4 * (double)(strlen(out) - 3) + 10.0 <= room ||
                        strcmp(out, names[0]) == 0);
        }
    }
}

static void short_label_of_a_long_name_fits_its_buffer(void** state)
{
    (void)state;
    char longer[600];
    memset(longer, 'n', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    const char* const names[] = {longer};
    const struct name_list list = {names, 1};
    char out[16];
    assert_true(shorten(&list, longer, 1e6, out, sizeof(out)));
    assert_true(strlen(out) < sizeof(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_label_that_fits_is_whole),
        cmocka_unit_test(short_label_keeps_what_differs),
        cmocka_unit_test(short_label_without_difference_is_empty),
        cmocka_unit_test(short_label_never_splits_characters),
        cmocka_unit_test(short_label_of_a_long_name_fits_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
