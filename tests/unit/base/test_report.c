/*
 * Rules that check the arguments of a call, the handles that a call writes, and how messages show
 * sizes and results.
 */
#include "tests/rig/rig.h"

#include "core/report.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(first_broken_rule_is_reported),
        rig_unit_test(rules_that_hold_are_no_fault),
        rig_unit_test(outputs_are_cleared_although_one_is_missing),
        rig_unit_test(bytes_are_shown_with_their_mebibytes),
        rig_unit_test(results_have_their_names),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
