/*
 * The uses of a trace by submission.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/trace_uses.h"

#define HEADER                                                                                     \
    "op,id,kind,size,alignment,types,stream,time_ns,usage,note,device,object,offset,flags,value,"  \
    "name\n"
#define CARD(id)                                                                                   \
    "device," id ",discrete,,,,0,5,,memories=4096,,,,,,\n"                                         \
    "heap,0,,1048576,,,0,5,,," id ",,,0x1,,\n"                                                     \
    "type,0,,,,,0,5,,," id ",0,,0x1,,\n"

/* Two devices; a staging buffer (usage 0x3), an imported one, and a reserved one. */
static const char text[] =
    HEADER CARD("0") CARD("1") "memory,0,,65536,,,0,6,,,0,0,,0x0,,\n"
                               "memory,1,,65536,,,0,6,,,0,0,,0x8,,\n"
                               "memory,2,,65536,,,0,6,,,1,0,,0x0,,\n"
                               "alloc,10,buffer,100,4,,0,7,0x20,,0,0,0,,,\n"
                               "alloc,11,image_optimal,200,4,,0,7,0x4,,0,0,256,,,\n"
                               "alloc,12,buffer,400,4,,0,7,0x3,,0,0,512,,,\n"
                               "alloc,13,buffer,800,4,,0,7,0x20,,0,1,0,,,\n"
                               "alloc,14,buffer,1600,4,,0,7,0x20,,1,2,0,,,\n"
                               "reserve,15,buffer,3200,4,,0,7,0x20,,0,,,,,\n"
                               "submit,0,commands,,,,0,8,,,0,,,,,\n"
                               "use,0,,,,,0,8,,,,10,,0x6,,\n"
                               "use,0,,,,,0,8,,,,12,,0x1,,\n"
                               "use,0,,,,,0,8,,,,13,,0x1,,\n"
                               "use,0,,,,,0,8,,,,14,,0x1,,\n"
                               "use,0,,,,,0,8,,,,15,,0x1,,\n"
                               "submit,1,commands,,,,0,9,,,0,,,,,\n"
                               "submit,2,commands,,,,1,9,,,0,,,,,\n"
                               "use,2,,,,,1,9,,,,11,,0x4,,\n"
                               "use,1,,,,,0,9,,,,10,,0x1,,\n"
                               "use,2,,,,,1,9,,,,11,,0x1,,\n"
                               "use,2,,,,,1,9,,,,10,,0x2,,\n"
                               "submit,3,commands,,,,0,9,,,0,,,,,\n"
                               "free,10,,,,,0,10,,,,,,,,\n"
                               "alloc,16,buffer,150,4,,0,11,0x20,,0,0,0,,,\n"
                               "submit,4,commands,,,,0,12,,,0,,,,,\n"
                               "use,4,,,,,0,12,,,,16,,0x1,,\n";

static void load(struct support_trace* trace)
{
    struct support_error error = {""};
    if (!support_trace_parse("uses.csv", text, strlen(text), trace, &error)) {
        fail_msg("%s", error.text);
    }
}

static void uses_are_in_the_order_of_submissions(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_use_lists lists;
    load(&trace);
    assert_true(support_use_lists_make(&trace, 0, &lists));
    static const size_t begins[] = {0, 1, 2, 4, 4, 5};
    for (size_t i = 0; i <= trace.submit_count; ++i) {
        assert_int_equal(lists.begins[i], begins[i]);
    }
    assert_int_equal(trace.resources[lists.uses[0].resource].id, 10);
    assert_int_equal(lists.uses[0].flags, 0x6);
    assert_int_equal(trace.resources[lists.uses[1].resource].id, 10);
    /* What one row discards and another one reads is not discarded. */
    assert_int_equal(trace.resources[lists.uses[2].resource].id, 11);
    assert_int_equal(lists.uses[2].flags, 0x1);
    assert_int_equal(lists.uses[3].flags, 0x2);
    assert_int_equal(lists.submission_count, 4);
    assert_int_equal(lists.steps[3], SUPPORT_TRACE_NONE);
    assert_int_equal(trace.steps[lists.steps[2]].time_ns, 9);
    assert_true(lists.steps[2] < lists.steps[1]); /* its rows came first */
    support_use_lists_release(&lists);
    support_trace_release(&trace);
}

static void bytes_are_of_what_is_kept(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_use_lists lists;
    load(&trace);
    assert_true(support_use_lists_make(&trace, 0, &lists));
    assert_int_equal(lists.most_bytes, 300);
    assert_int_equal(lists.peak_bytes, 350); /* 11 and 16: 10 was freed */
    support_use_lists_release(&lists);
    assert_true(support_use_lists_make(&trace, 1, &lists));
    assert_int_equal(lists.submission_count, 1);
    assert_int_equal(lists.most_bytes, 1600);
    support_use_lists_release(&lists);
    assert_true(support_trace_is_kept(&trace, 0, 0));
    assert_false(support_trace_is_kept(&trace, 2, 0)); /* staging */
    assert_false(support_trace_is_kept(&trace, 3, 0)); /* imported */
    assert_false(support_trace_is_kept(&trace, 4, 0)); /* of another device */
    support_trace_release(&trace);
}

static void trace_without_uses_has_empty_lists(void** state)
{
    (void)state;
    static const char first[] = "op,id,kind,size,alignment,types,stream,time_ns,usage,note\n"
                                "alloc,0,buffer,16,4,0x1,0,1,0x20,\n";
    struct support_trace trace;
    struct support_use_lists lists;
    struct support_error error = {""};
    assert_true(support_trace_parse("first.csv", first, strlen(first), &trace, &error));
    assert_true(support_use_lists_make(&trace, support_trace_main_device(&trace), &lists));
    assert_int_equal(lists.submission_count, 0);
    assert_int_equal(lists.peak_bytes, 0);
    support_use_lists_release(&lists);
    support_trace_release(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_in_the_order_of_submissions),
        cmocka_unit_test(bytes_are_of_what_is_kept),
        cmocka_unit_test(trace_without_uses_has_empty_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
