/*
 * Rules that check the arguments of a call, the handles that a call writes, and how messages show
 * sizes and results.
 */
#include "tests/rig/rig.h"

#include "core/bound_check.h"

static struct rig* rig;

static void first_broken_rule_is_reported(void** state)
{
    (void)state;
    const struct maar_rule rules[] = {
        {false, MAAR_MESSAGE_ID_ZERO_SIZE, "kept"},
        {true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "first"},
        {true, MAAR_MESSAGE_ID_NULL_ARGUMENT, "second"},
        {0},
    };
    const struct maar_fault fault = maar_find_fault(rules);
    assert_int_equal(fault.id, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    assert_string_equal(fault.sentence, "first");
    rig = rig_begin(NULL);
    assert_int_equal(maar_check_rules(rig->allocator, "call", rules),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "first");
    rig_close(rig);
}

static void rules_that_hold_are_no_fault(void** state)
{
    (void)state;
    const struct maar_rule rules[] = {{false, MAAR_MESSAGE_ID_ZERO_SIZE, "kept"}, {0}};
    assert_null(maar_find_fault(rules).sentence);
    assert_null(maar_find_fault(&rules[1]).sentence);
    assert_int_equal(maar_check_rules(NULL, "call", rules), VK_SUCCESS);
}

static void outputs_are_cleared_although_one_is_missing(void** state)
{
    (void)state;
    uint64_t first = 7;
    uint64_t last = 7;
    const struct maar_output outputs[] = {
        {"pFirst", &first, sizeof first},
        {"pMissing", NULL, sizeof first},
        {"pLast", &last, sizeof last},
        {0},
    };
    rig = rig_begin(NULL);
    assert_int_equal(maar_enter_outputs(rig->allocator, "call", outputs),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pMissing");
    assert_true(first == 0 && last == 0);
    first = 7;
    assert_int_equal(maar_enter_outputs(NULL, "call", outputs), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(first == 0);
    rig_close(rig);
}

static void bytes_are_shown_with_their_mebibytes(void** state)
{
    (void)state;
    assert_string_equal(maar_show_bytes(0).text, "0 bytes");
    assert_string_equal(maar_show_bytes(1).text, "1 byte");
    assert_string_equal(maar_show_bytes(1048575).text, "1048575 bytes");
    assert_string_equal(maar_show_bytes(1048576).text, "1048576 bytes (1.0 MiB)");
    assert_string_equal(maar_show_bytes(157286400).text, "157286400 bytes (150.0 MiB)");
    assert_string_equal(maar_show_bytes(UINT64_MAX).text,
                        "18446744073709551615 bytes (17592186044416.0 MiB)");
}

static void results_have_their_names(void** state)
{
    (void)state;
    assert_string_equal(maarGetResultName(VK_SUCCESS), "VK_SUCCESS");
    assert_string_equal(maarGetResultName(VK_INCOMPLETE), "VK_INCOMPLETE");
    assert_string_equal(maarGetResultName(VK_ERROR_DEVICE_LOST), "VK_ERROR_DEVICE_LOST");
    assert_string_equal(maarGetResultName(VK_ERROR_VALIDATION_FAILED_EXT),
                        "VK_ERROR_VALIDATION_FAILED_EXT");
    assert_string_equal(maarGetResultName((VkResult)12345), "an unknown VkResult");
}

static void first_broken_bound_is_reported_with_its_figures(void** state)
{
    (void)state;
    struct maar_bound_text text;
    const struct maar_bound bounds[] = {
        {false, MAAR_MESSAGE_ID_ZERO_SIZE, "kept", MAAR_SHOW_NUMBER(1)},
        {true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "first", MAAR_SHOW_LIMIT(4711, 815)},
        {true, MAAR_MESSAGE_ID_NULL_ARGUMENT, "second", MAAR_SHOW_NUMBER(2)},
        {0},
    };
    assert_null(maar_find_broken_bound(&bounds[3], &text).sentence);
    assert_int_equal(maar_check_bounds(NULL, "call", &bounds[3]), VK_SUCCESS);
    assert_int_equal(maar_find_broken_bound(bounds, &text).id, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    rig = rig_begin(NULL);
    assert_int_equal(maar_check_bounds(rig->allocator, "call", bounds),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, 4711));
    assert_true(rig_message_names_number(rig, 815));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "first");
    const struct maar_rule rules[] = {{true, MAAR_MESSAGE_ID_ZERO_SIZE, "rule"}, {0}};
    assert_int_equal(maar_check_rules_and_bounds(rig->allocator, "call", rules, bounds),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "rule");
    assert_int_equal(maar_check_rules_and_bounds(rig->allocator, "call", &rules[1], bounds),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "first");
    rig_close(rig);
}

static void bounds_are_shown_as_what_they_are(void** state)
{
    (void)state;
    const struct {
        struct maar_bound bound;
        const char* figures[2];
    } cases[] = {
        {{true, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "a", MAAR_SHOW_BITS(0x40000000)}, {"0x40000000"}},
        {{true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "a", MAAR_SHOW_NUMBER(77)}, {"77"}},
        {{true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "a", MAAR_SHOW_FRACTION(-1.5F)}, {"-1.5"}},
        {{true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "a", MAAR_SHOW_LIMIT(9, 4)}, {"9", "4"}},
        {{true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "a", MAAR_SHOW_COUNT(40, 2)}, {"40", "2"}},
        {{true, MAAR_MESSAGE_ID_OUT_OF_RANGE, "a", MAAR_SHOW_BYTES(3145728, 1048576)},
         {"(3.0 MiB)", "(1.0 MiB)"}},
        {{true, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "a", MAAR_SHOW_MULTIPLE(100, 64)},
         {"100", "64"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct maar_bound_text text;
        const struct maar_bound bounds[] = {cases[i].bound, {0}};
        const char* sentence = maar_find_broken_bound(bounds, &text).sentence;
        assert_non_null(sentence);
        for (size_t k = 0; k < 2 && cases[i].figures[k] != NULL; ++k) {
            if (strstr(sentence, cases[i].figures[k]) == NULL) {
                fail_msg("%s lacks %s", sentence, cases[i].figures[k]);
            }
        }
    }
}

static void refusals_name_the_argument_and_its_figures(void** state)
{
    (void)state;
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    rig = rig_begin(NULL);
    const MaarAllocator allocator = rig->allocator;
    assert_int_equal(maar_refuse_flags(allocator, "call", "flags", "SomeFlagBits", 0x80), invalid);
    assert_true(rig_message_names(rig, "0x80") && rig_message_names(rig, "SomeFlagBits"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "flags");
    assert_int_equal(maar_refuse_enum(allocator, "call", "mode", "SomeMode", 77), invalid);
    assert_true(rig_message_names(rig, "77") && rig_message_names(rig, "SomeMode"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "mode");
    assert_int_equal(maar_refuse_bits(allocator, "call", "type", 0x3), invalid);
    assert_true(rig_message_names(rig, "0x3"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "type");
    assert_int_equal(maar_refuse_range(allocator, "call", "range", 7, 900, "pond", 500), invalid);
    assert_true(rig_message_names(rig, "7") && rig_message_names(rig, "900"));
    assert_true(rig_message_names(rig, "500") && rig_message_names(rig, "pond"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "range");
    assert_int_equal(maar_refuse_range(allocator, "call", "range", 7, VK_WHOLE_SIZE, "pond", 5),
                     invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "VK_WHOLE_SIZE");
    assert_int_equal(maar_refuse_offset(allocator, "call", 501, "pond", 500), invalid);
    assert_true(rig_message_names(rig, "501") && rig_message_names(rig, "500"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(first_broken_rule_is_reported),
        rig_unit_test(first_broken_bound_is_reported_with_its_figures),
        rig_unit_test(bounds_are_shown_as_what_they_are),
        rig_unit_test(refusals_name_the_argument_and_its_figures),
        rig_unit_test(rules_that_hold_are_no_fault),
        rig_unit_test(outputs_are_cleared_although_one_is_missing),
        rig_unit_test(bytes_are_shown_with_their_mebibytes),
        rig_unit_test(results_have_their_names),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
