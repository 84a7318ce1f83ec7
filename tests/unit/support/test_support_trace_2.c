/*
 * maar-trace/2: what the reader understands, what it refuses and how it says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/trace.h"

#define HEADER                                                                                     \
    "op,id,kind,size,alignment,types,stream,time_ns,usage,note,device,object,offset,flags,value,"  \
    "name\n"
#define CARD                                                                                       \
    "device,0,discrete,,,,0,5,,vendor=0x10de id=0x1 granularity=1024 memories=4096,,,,,,A card\n"  \
    "heap,0,,1048576,,,0,5,,,0,,,0x1,,\n"                                                          \
    "type,0,,,,,0,5,,,0,0,,0x1,,\n"                                                                \
    "queue,0,,,,,0,6,,family=2 index=1,0,,,0x7,,\n"

static bool parse(const char* text, struct support_trace* trace, struct support_error* error)
{
    return support_trace_parse("unit.csv", text, strlen(text), trace, error);
}

/* The rows, after a card, are refused with exactly this message. */
static void refused(const char* rows, const char* message)
{
    char text[2048];
    struct support_trace trace;
    struct support_error error = {"no message"};
    (void)snprintf(text, sizeof text, "%s%s%s", HEADER, CARD, rows);
    assert_false(parse(text, &trace, &error));
    assert_string_equal(error.text, message);
    assert_null(trace.events);
    assert_null(trace.steps);
}

static void second_version_is_read_whole(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    const char* const text = HEADER
        "device,0,discrete,,,,0,5,,vendor=0x10de id=0x1 granularity=1024 memories=4096,,,,,,"
        "A%2C card\n"
        "heap,0,,1048576,,,0,5,,,0,,,0x1,,\n"
        "type,0,,,,,0,5,,,0,0,,0x1,,\n"
        "queue,0,,,,,0,6,,family=2 index=1,0,,,0x7,,\n"
        "memory,0,,65536,,,1,7,,took=900 priority=500,0,0,,0x20,,block\n"
        "alloc,9,image_optimal,32768,256,0x1,1,8,0x6,needs=0x3 format=37 extent=32x32x8 mips=2 "
        "layers=1 samples=1 dimensions=3,0,0,512,0x8,,a volume\n"
        "reserve,4,buffer,1048576,65536,0x1,1,9,0x100000020,needs=0x1,0,,,0x1,1048576,\n"
        "semaphore,0,timeline,,,,0,10,,,0,,,,3,\n"
        "submit,0,commands,,,,0,11,,buffers=2 fence=7,0,0,,,,\n"
        "wait,0,,,,,0,11,,,,0,,,4,\n"
        "signal,0,,,,,0,11,,,,0,,,5,\n"
        "use,0,,,,,0,11,,,,9,,0x3,,\n"
        "use,0,,,,,0,11,,,,4,,0x1,,\n"
        "pages,4,bytes,65536,,,0,12,,submit=0,,0,0,,131072,\n"
        "pages,4,texels,65536,,,0,12,,mip=1 layer=2 aspect=0x1 origin=0x64x0 extent=64x64x1,,,0,,"
        "0,\n"
        "reached,0,semaphore,,,,0,13,,waited=77,0,,,0x0,5,\n"
        "budget,0,,1000,,,0,13,,,0,,,,600,\n"
        "memory_failed,,,999999,,,0,13,,,0,0,,,2,\n"
        "mark,,,,,,0,14,,,,,,,,level 2\n"
        "frame,,,,,,0,15,,,0,,,,,\n"
        "unreserve,4,,,,,0,16,,,,,,,,\n"
        "free,9,,,,,0,17,,,,,,,,\n"
        "memory_end,0,,,,,0,18,,,,,,,,\n"
        "semaphore_end,0,,,,,0,18,,,,,,,,\n"
        "device_end,0,,,,,0,19,,,,,,,,\n";
    const bool good = parse(text, &trace, &error);
    assert_string_equal(error.text, "");
    assert_true(good);
    assert_int_equal(trace.version, 2);
    assert_int_equal(trace.event_count, 3); /* alloc, frame, free */
    assert_int_equal(trace.step_count, 25);
    assert_int_equal(trace.peak_live_bytes, 32768);
    const struct support_card* const card = &trace.devices[0].card;
    assert_string_equal(support_trace_text(&trace, trace.devices[0].name), "A, card");
    assert_int_equal(card->device_type, 2);
    assert_int_equal(card->granularity, 1024);
    assert_int_equal(card->heaps[0].size, 1048576);
    assert_int_equal(trace.queues[0].family, 2);
    assert_int_equal(trace.memories[0].priority, 500);
    assert_int_equal(trace.memories[0].took_ns, 900);
    assert_int_equal(trace.steps[trace.memories[0].end_step].time_ns, 18);
    const struct support_trace_resource* const volume = &trace.resources[0];
    assert_string_equal(support_trace_text(&trace, volume->name), "a volume");
    assert_int_equal(volume->memory, 0);
    assert_int_equal(volume->offset, 512);
    assert_int_equal(volume->create_flags, 8);
    assert_int_equal(volume->needs, 3);
    assert_int_equal(trace.images[volume->image].dimensions, 3);
    assert_int_equal(trace.images[volume->image].depth, 8);
    assert_int_equal(trace.reserved[0].usage, 0x20);
    assert_int_equal(trace.reserved[0].usage_above, 1);
    assert_int_equal(trace.reserved[0].free_time_ns, 16);
    assert_int_equal(trace.submits[0].fence, 7);
    assert_int_equal(trace.submits[0].buffers, 2);
    const struct support_trace_point* const signal = &trace.points[trace.submits[0].last_point];
    assert_true(signal->is_signal && signal->value == 5);
    assert_true(!trace.points[signal->next].is_signal && trace.points[signal->next].value == 4);
    assert_false(trace.uses[0].is_reserved);
    assert_true(trace.uses[1].is_reserved && trace.uses[1].resource == 0);
    assert_int_equal(trace.binds[0].submit, 0);
    assert_int_equal(trace.binds[0].offset, 131072);
    assert_int_equal(trace.binds[1].memory, SUPPORT_TRACE_NONE);
    assert_int_equal(trace.binds[1].origin[1], 64);
    assert_int_equal(trace.reached[0].waited_ns, 77);
    assert_int_equal(trace.budgets[0].usage, 600);
    assert_int_equal(trace.failures[0].error, 2);
    assert_string_equal(support_trace_text(&trace, trace.steps[18].index), "level 2");
    support_trace_release(&trace);
}

/* A trace that somebody writes by hand needs no device. */
static void second_version_without_devices_is_read(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    assert_true(parse(HEADER "alloc,0,buffer,16,4,,0,0,0x20,,,,,,,\nframe,,,,,,0,1,,,,,,,,\n",
                      &trace, &error));
    assert_int_equal(trace.resources[0].memory, SUPPORT_TRACE_NONE);
    assert_int_equal(trace.resources[0].type_bits, UINT32_MAX);
    assert_int_equal(support_trace_main_device(&trace), SUPPORT_TRACE_NONE);
    support_trace_release(&trace);
}

static void wrong_rows_are_refused_by_line(void** state)
{
    (void)state;
    refused("fly,0,,,,,0,9,,,,,,,,\n", "unit.csv:6: op 'fly' is no operation of maar-trace/2");
    refused("frame,,,,,,0,4,,,0,,,,,\n",
            "unit.csv:6: time_ns '4' is before the time of the row above");
    refused("free,7,,,,,0,9,,,,,,,,\n", "unit.csv:6: id '7' was never allocated");
    refused("free,7,buffer,,,,0,9,,,,,,,,\n",
            "unit.csv:6: kind 'buffer' does not belong to such a row");
    refused("frame,,,,,,0,9,,\n", "unit.csv:6: 10 columns, not 16");
    refused("heap,2,,9,,,0,9,,,0,,,,,\n",
            "unit.csv:6: id '2' does not follow: such objects count from 0 on");
    refused("heap,1,,9,,,0,9,,,3,,,,,\n", "unit.csv:6: device '3' does not exist");
    refused("type,1,,,,,0,9,,,0,4,,,,\n", "unit.csv:6: object '4' does not exist");
    refused("memory,0,,9,,,0,9,,,0,1,,,,\n", "unit.csv:6: object '1' does not exist");
    refused("memory_end,0,,,,,0,9,,,,,,,,\n", "unit.csv:6: id '0' is no memory that lives");
    refused("alloc,0,buffer,9,1,,0,9,,,0,0,,,,\n",
            "unit.csv:6: object '0' is no memory that lives");
    refused("alloc,0,swapchain,9,1,,0,9,,,0,,,,,\n",
            "unit.csv:6: kind 'swapchain' has no memory of its own: reserve");
    refused("alloc,0,buffer,9,1,,0,9,,mips=3,0,,,,,\n",
            "unit.csv:6: note 'mips=3' does not have all of format, extent, mips, layers and "
            "samples of an image");
    refused("alloc,0,buffer,9,1,,0,9,,colour=3,0,,,,,\n",
            "unit.csv:6: note 'colour=3' has an unknown key, one twice, or a wrong value");
    refused("alloc,0,buffer,9,1,,0,9,,,0,,,,,%4\n",
            "unit.csv:6: name '%4' has a % that no byte in hex follows");
    refused("wait,0,,,,,0,9,,,,,,,,\n", "unit.csv:6: id '0' is no submission");
    refused("submit,0,commands,,,,0,9,,,0,3,,,,\n", "unit.csv:6: object '3' is no queue");
    refused("reached,0,semaphore,,,,0,9,,,0,,,,,\n", "unit.csv:6: id '0' is no semaphore");
    refused("budget,1,,9,,,0,9,,,0,,,,,\n", "unit.csv:6: id '1' does not exist");
}

#define USED "alloc,5,buffer,9,1,,0,9,,,0,,,,,\nsubmit,0,commands,,,,0,9,,,0,,,,,\n"

static void wrong_uses_are_refused_by_line(void** state)
{
    (void)state;
    refused("alloc,5,buffer,9,1,,0,9,,,0,,,,,\nuse,0,,,,,0,9,,,,5,,0x1,,\n",
            "unit.csv:7: id '0' is no submission");
    refused(USED "use,0,,,,,0,9,,,,6,,0x1,,\n", "unit.csv:8: object '6' was never allocated");
    refused(USED "use,0,,,,,0,9,,,,,,0x1,,\n",
            "unit.csv:8: object '' is not an unsigned number of 64 bits");
    refused(USED "use,0,,,,,0,9,,,,5,,0x9,,\n",
            "unit.csv:8: flags '0x9' has bits above 0x7: read, write and discard");
    refused(USED "use,0,,,,,0,9,,,,5,,read,,\n",
            "unit.csv:8: flags 'read' is not a hexadecimal number of 32 bits");
    refused(USED "free,5,,,,,0,9,,,,,,,,\nuse,0,,,,,0,9,,,,5,,0x1,,\n",
            "unit.csv:9: object '5' was freed before");
    refused(USED "use,0,buffer,,,,0,9,,,,5,,0x1,,\n",
            "unit.csv:8: kind 'buffer' does not belong to such a row");
    refused("device,1,cpu,,,,0,9,,uses=no,,,,,,\n",
            "unit.csv:6: note 'uses=no' has an unknown key, one twice, or a wrong value");
}

/* A device says whether a layer recorded its uses, and what they lack. */
static void device_says_whether_its_uses_are_known(void** state)
{
    (void)state;
    struct support_trace trace;
    struct support_error error = {""};
    assert_true(parse(HEADER CARD "device,1,cpu,,,,0,9,,uses=0x2,,,,,,\n"
                                  "device,2,cpu,,,,0,9,,uses=0x0,,,,,,\n",
                      &trace, &error));
    assert_false(trace.devices[0].has_uses);
    assert_true(trace.devices[1].has_uses);
    assert_int_equal(trace.devices[1].uses_flags, 2);
    assert_true(trace.devices[2].has_uses);
    assert_int_equal(trace.devices[2].uses_flags, 0);
    support_trace_release(&trace);
}

static void ids_of_both_kinds_are_used_once(void** state)
{
    (void)state;
    refused("alloc,5,buffer,9,1,,0,9,,,0,,,,,\nreserve,5,buffer,9,1,,0,9,,,0,,,,,\n",
            "unit.csv:7: id '5' was used before");
    refused("reserve,5,buffer,9,1,,0,9,,,0,,,,,\nfree,5,,,,,0,9,,,,,,,,\n",
            "unit.csv:7: id '5' was reserved, not allocated");
    refused("alloc,5,buffer,9,1,,0,9,,,0,,,,,\nunreserve,5,,,,,0,9,,,,,,,,\n",
            "unit.csv:7: id '5' was allocated, not reserved");
    refused("alloc,5,buffer,9,1,,0,9,,,0,,,,,\nfree,5,,,,,0,9,,,,,,,,\nfree,5,,,,,0,9,,,,,,,,\n",
            "unit.csv:8: id '5' was freed before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_version_is_read_whole),
        cmocka_unit_test(second_version_without_devices_is_read),
        cmocka_unit_test(wrong_rows_are_refused_by_line),
        cmocka_unit_test(wrong_uses_are_refused_by_line),
        cmocka_unit_test(device_says_whether_its_uses_are_known),
        cmocka_unit_test(ids_of_both_kinds_are_used_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
