/*
 * Rules that check the arguments of a call, and the handles that a call writes.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(first_broken_rule_is_reported),
        rig_unit_test(rules_that_hold_are_no_fault),
        rig_unit_test(outputs_are_cleared_although_one_is_missing),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
