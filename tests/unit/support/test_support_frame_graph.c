/*
 * Frame graphs from CSV: the three forms, what is tolerated, and what every mistake is called.
 */
#include "support/frame_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct support_frame_text text_of(const char* name, const char* data)
{
    return (struct support_frame_text){name, data, data != NULL ? strlen(data) : 0};
}

static bool parse(const char* resources, const char* passes, const char* edges,
                  struct support_frame_graph* graph, struct support_error* error)
{
    const struct support_frame_text texts[3] = {text_of("folder/made.resources.csv", resources),
                                                text_of("passes.csv", passes),
                                                text_of("edges.csv", edges)};
    return support_frame_graph_parse(&texts[0], &texts[1], &texts[2], graph, error);
}

static void parse_good(const char* resources, const char* passes, const char* edges,
                       struct support_frame_graph* graph)
{
    struct support_error error = {"no message"};
    if (!parse(resources, passes, edges, graph, &error)) {
        fail_msg("%s", error.text);
    }
}

static void expect_error(const char* resources, const char* passes, const char* edges,
                         const char* message)
{
    struct support_frame_graph graph;
    struct support_error error = {"no message"};
    assert_false(parse(resources, passes, edges, &graph, &error));
    assert_string_equal(error.text, message);
    assert_null(graph.resources);
    assert_int_equal(graph.resource_count, 0);
}

static void frame_graph_of_passes_is_read(void** state)
{
    (void)state;
    struct support_frame_graph graph;
    parse_good("id,first,last,size,alignment,name\n7,0,6,327680,65536,draw args\nx,6,6,5,,\n", NULL,
               NULL, &graph);
    assert_string_equal(graph.name, "made");
    assert_int_equal(graph.resource_count, 2);
    assert_string_equal(graph.rows[0].id, "7");
    assert_string_equal(graph.rows[0].name, "draw args");
    assert_int_equal(graph.resources[0].firstPass, 0);
    assert_int_equal(graph.resources[0].lastPass, 6);
    assert_int_equal(graph.resources[0].size, 327680);
    assert_int_equal(graph.resources[0].alignment, 65536);
    assert_int_equal(graph.resources[1].alignment, 1);
    assert_int_equal(graph.resources[1].firstPass, 6);
    assert_int_equal(graph.rows[1].end, 7);
    support_frame_graph_release(&graph);
}

static void frame_graph_of_large_times_keeps_who_meets(void** state)
{
    (void)state;
    struct support_frame_graph graph;
    parse_good("size,upper,id,lower\n"
               "1,18446744073709551614,a,9000000000000000000\n"
               "2,9000000000000000000,b,5\n"
               "3,9000000000000000001,c,6\n",
               NULL, NULL, &graph);
    const MaarPlanResource* const resources = graph.resources;
    assert_int_equal(resources[1].firstPass, 0);
    assert_int_equal(resources[1].lastPass, 1);
    assert_int_equal(resources[2].firstPass, 1);
    assert_int_equal(resources[2].lastPass, 2);
    assert_int_equal(resources[0].firstPass, 2);
    assert_int_equal(resources[0].lastPass, 2);
    assert_true(graph.rows[1].end == 9000000000000000000u);
    support_frame_graph_release(&graph);
}

static void frame_graph_of_queues_is_read(void** state)
{
    (void)state;
    struct support_frame_graph graph;
    parse_good("id,size,alignment,uses,name\na,5,4,2 0  2,\"one, two\"\nb,1,1,3,\n",
               "pass,queue,name\n1,compute,c\n0,graphics,g\n2,graphics,h\n3,compute,d\n",
               "from,to\n3,0\n", &graph);
    assert_int_equal(graph.pass_count, 4);
    assert_int_equal(graph.queue_count, 2);
    assert_int_equal(graph.pass_queues[0], 0);
    assert_int_equal(graph.pass_queues[1], 1);
    assert_string_equal(graph.passes[1].queue, "compute");
    assert_int_equal(graph.dependencies[0].before, 3);
    assert_int_equal(graph.resources[0].useCount, 3);
    assert_int_equal(graph.resources[0].pUses[1], 0);
    assert_string_equal(graph.rows[0].name, "one, two");
    /* 1, 3, 0, 2 is the only order. */
    assert_int_equal(graph.passes[1].place, 0);
    assert_int_equal(graph.passes[2].place, 3);
    assert_int_equal(graph.rows[0].begin, 2);
    assert_int_equal(graph.rows[0].end, 4);
    MaarPlanCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO};
    support_frame_graph_describe(&graph, &info);
    assert_int_equal(info.passCount, 4);
    assert_ptr_equal(info.pPassQueues, graph.pass_queues);
    assert_int_equal(info.dependencyCount, 1);
    support_frame_graph_release(&graph);
}

static void frame_graph_optional_columns_are_read(void** state)
{
    (void)state;
    struct support_frame_graph graph;
    parse_good("id,first,last,size,alignment,memory_types,kind,fixed_offset,note\n"
               "a,0,0,1,8,0x1F,buffer,16,x\nb,0,0,1,8,3,image_optimal,,\n"
               "c,0,0,1,8,,image_linear,,\nd,0,0,1,8,,,,\n",
               NULL, NULL, &graph);
    const MaarPlanResource* const resources = graph.resources;
    assert_int_equal(resources[0].memoryTypeBits, 0x1F);
    assert_int_equal(resources[0].kind, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(resources[0].flags, MAAR_PLAN_RESOURCE_FIXED_OFFSET_BIT);
    assert_int_equal(resources[0].fixedOffset, 16);
    assert_int_equal(resources[1].memoryTypeBits, 3);
    assert_int_equal(resources[1].kind, MAAR_RESOURCE_KIND_OPTIMAL);
    assert_int_equal(resources[1].flags, 0);
    assert_int_equal(resources[2].kind, MAAR_RESOURCE_KIND_LINEAR);
    assert_int_equal(resources[3].kind, MAAR_RESOURCE_KIND_UNKNOWN);
    support_frame_graph_release(&graph);
}

static void frame_graph_odd_spelling_is_tolerated(void** state)
{
    (void)state;
    struct support_frame_graph graph;
    parse_good("\xEF\xBB\xBF id , first,last,\"size\"\r\n\r\n \t\r\n"
               " \"a \"\"b\"\"\" , 1 ,2,3\r\n\n\"x\ny\",0,0,9",
               NULL, NULL, &graph);
    assert_int_equal(graph.resource_count, 2);
    assert_string_equal(graph.rows[0].id, "a \"b\"");
    assert_string_equal(graph.rows[1].id, "x\ny");
    assert_int_equal(graph.resources[1].size, 9);
    support_frame_graph_release(&graph);
    parse_good("id,first,last,size\n", NULL, NULL, &graph);
    assert_int_equal(graph.resource_count, 0);
    support_frame_graph_release(&graph);
}

static void frame_graph_columns_and_names_are_reported(void** state)
{
    (void)state;
    char name[SUPPORT_FRAME_NAME_SIZE];
    assert_true(support_frame_column_is_known("fixed_offset"));
    assert_false(support_frame_column_is_known("align"));
    support_frame_graph_take_name("folder.csv/frame.resources.csv", name);
    assert_string_equal(name, "frame");
    support_frame_graph_take_name(".csv", name);
    assert_string_equal(name, ".csv");
}

static void frame_graph_resource_mistakes_are_named(void** state)
{
    (void)state;
    static const char* const cases[][2] = {
        {"", "1: the file has no header"},
        {"id,size\n", "1: the header has neither uses, nor first and last, nor lower and upper"},
        {"id,first,size\n", "1: the header has no column last"},
        {"id,size,first,last,lower,upper\n", "1: the header has both first and lower, but only one "
                                             "of them may give the lifetimes of resources"},
        {"id,size,last,uses\n", "1: the header has both uses and last, but only one of them may "
                                "give the lifetimes of resources"},
        {"first,last,size\n", "1: the header has no column id"},
        {"id,id,first,last,size\n", "1: column 'id' occurs twice"},
        {"id,first,last,size\na,0,0\n", "2: 3 columns, where the header has 4"},
        {"id,first,last,size\na,0,0,1\n\nb,1,0,1\n", "4: last '0' is below first"},
        {"id,lower,upper,size\na,1,1,1\n", "2: upper '1' is not above lower"},
        {"id,first,last,size\na,-1,0,1\n", "2: first '-1' is not an unsigned number of 64 bits"},
        {"id,first,last,size\na,0,1x,1\n", "2: last '1x' is not an unsigned number of 64 bits"},
        {"id,first,last,size\na,0,18446744073709551616,1\n",
         "2: last '18446744073709551616' is not an unsigned number of 64 bits"},
        {"id,first,last,size\na,0,18446744073709551615,1\n",
         "2: last '18446744073709551615' is too large"},
        {"id,first,last,size\na,0,0,0\n", "2: size '0' is not a size"},
        {"id,first,last,size\na,0,0,\n", "2: size '' is empty"},
        {"id,first,last,size\na,0,0,1152921504606846977\n",
         "2: size '1152921504606846977' is too large"},
        {"id,first,last,size\na,0,0,1152921504606846976\nb,0,0,1\n",
         "3: size '1' is too large: the sum exceeds 2^60"},
        {"id,first,last,size,alignment\na,0,0,1,281474976710657\n",
         "2: alignment '281474976710657' is too large"},
        {"id,first,last,size\na,0,0,1\nb,0,0,1\na,0,0,1\n", "4: id 'a' occurred before"},
        {"id,first,last,size\n,0,0,1\n", "2: id '' is empty"},
        {"id,first,last,size,kind\na,0,0,1,image\n",
         "2: kind 'image' is not buffer, image_linear or image_optimal"},
        {"id,first,last,size,memory_types\na,0,0,1,0x1G\n",
         "2: memory_types '0x1G' is not a number of 32 bits"},
        {"id,first,last,size,alignment,fixed_offset\na,0,0,1,4,6\n",
         "2: fixed_offset '6' is not a multiple of the alignment"},
        {"id,size,uses\na,1,0 x\n", "2: uses '0 x' are not numbers separated by blanks"},
        {"id,size,uses\na,1,\n", "2: uses '' are missing"},
        {"id,size,uses\na,1,65536\n", "2: uses '65536' name a pass that does not exist"},
        {"id,first,last,size\n\"a,0,0,1\n", "2: a quote is not closed"},
        {"id,first,last,size\n\"a\"b,0,0,1\n", "2: text follows a closing quote"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        char message[256];
        snprintf(message, sizeof(message), "folder/made.resources.csv:%s", cases[i][1]);
        expect_error(cases[i][0], NULL, NULL, message);
    }
}

static void frame_graph_zero_byte_is_named(void** state)
{
    (void)state;
    const struct support_frame_text none = {"none", NULL, 0};
    const struct support_frame_text text = {"z.csv", "id\n\0", 4};
    struct support_frame_graph graph;
    struct support_error error = {"no message"};
    assert_false(support_frame_graph_parse(&text, &none, &none, &graph, &error));
    assert_string_equal(error.text, "z.csv:2: the file contains a zero byte and so is not CSV");
}

static void frame_graph_pass_mistakes_are_named(void** state)
{
    (void)state;
    static const char resources[] = "id,size,uses\na,1,0\n";
    static const char passes[] = "pass,queue\n0,0\n1,0\n2,1\n";
    static const char* const cases[][3] = {
        {"pass\n0\n", NULL, "passes.csv:1: the header has no column queue"},
        {"pass,queue\n1,0\n", NULL, "passes.csv:2: pass '1' is not below the number of passes"},
        {"pass,queue\n0,0\n0,0\n", NULL, "passes.csv:3: pass '0' occurred before"},
        {passes, "from\n", "edges.csv:1: the header has no column to"},
        {passes, "from,to\n0,3\n", "edges.csv:2: to '3' is not a pass"},
        {passes, "from,to\n0,2\n2,1\n1,0\n", "edges.csv:4: the edge from 1 to 0 closes a cycle"},
        {passes, "from,to\n0,1\n2,2\n", "edges.csv:3: the edge from 2 to 2 closes a cycle"},
        {passes, "from,to\n1,2\n2,0\n", "edges.csv:3: the edge from 2 to 0 closes a cycle"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        expect_error(resources, cases[i][0], cases[i][1], cases[i][2]);
    }
    expect_error("id,first,last,size\n", passes, NULL,
                 "folder/made.resources.csv:1: passes were given, but the header has no column "
                 "uses");
    expect_error("id,size,uses\na,1,3\n", passes, NULL,
                 "folder/made.resources.csv:2: uses '3' name a pass that does not exist");
}

static void frame_graph_is_written_as_it_was_read(void** state)
{
    (void)state;
    static const char path[] = "test_support_frame_graph.csv";
    static const char expected[] = "id,first,last,size,note,offset\n"
                                   "\"a,\"\"b\"\"\",0,0,5,\" x\",18446744073709551615\n"
                                   "c,1,2,6,,64\n";
    static const uint64_t offsets[] = {UINT64_MAX, 64};
    const struct support_frame_column column = {"offset", offsets};
    struct support_frame_graph graph;
    parse_good("id,first,offset,last,size,note\n\"a,\"\"b\"\"\",0,1,0,5,\" x\"\nc,1,2,2,6,\n", NULL,
               NULL, &graph);
    FILE* const file = fopen(path, "w+b");
    assert_non_null(file);
    support_frame_graph_write(&graph, &column, 1, file);
    rewind(file);
    char written[256] = "";
    const size_t size = fread(written, 1, sizeof(written) - 1, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(size, sizeof(expected) - 1);
    assert_string_equal(written, expected);
    support_frame_graph_release(&graph);
}

static void frame_graph_instances_are_read(void** state)
{
    (void)state;
    static const struct {
        const char* name;
        uint32_t resources;
    } files[] = {
        {"deferred_1080p", 52},          {"deferred_4k", 52},
        {"forwardplus_msaa4_1440p", 39}, {"frostbite_like_4k", 59},
        {"taau_1440p_to_4k", 60},        {"pathtracer_1080p_to_4k", 57},
        {"llm_8b_prefill512", 550},      {"unet_sd15_512", 670},
        {"dag/deferred_4k_async", 52},   {"dag/taau_1440p_to_4k_async", 60},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        char paths[3][512];
        const bool queues = strncmp(files[i].name, "dag/", 4) == 0;
        static const char* const suffixes[] = {".resources", ".passes", ".edges"};
        for (size_t j = 0; j < 3; ++j) {
            snprintf(paths[j], sizeof(paths[j]), MAAR_SOURCE_DIR "/data/frames/%s%s.csv",
                     files[i].name, queues ? suffixes[j] : "");
        }
        struct support_frame_graph graph;
        struct support_error error = {"no message"};
        if (!support_frame_graph_load(paths[0], queues ? paths[1] : NULL, queues ? paths[2] : NULL,
                                      &graph, &error)) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(graph.resource_count, files[i].resources);
        assert_int_equal(graph.queue_count, queues ? 2 : 0);
        support_frame_graph_release(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_graph_of_passes_is_read),
        cmocka_unit_test(frame_graph_of_large_times_keeps_who_meets),
        cmocka_unit_test(frame_graph_of_queues_is_read),
        cmocka_unit_test(frame_graph_optional_columns_are_read),
        cmocka_unit_test(frame_graph_odd_spelling_is_tolerated),
        cmocka_unit_test(frame_graph_columns_and_names_are_reported),
        cmocka_unit_test(frame_graph_resource_mistakes_are_named),
        cmocka_unit_test(frame_graph_zero_byte_is_named),
        cmocka_unit_test(frame_graph_pass_mistakes_are_named),
        cmocka_unit_test(frame_graph_is_written_as_it_was_read),
        cmocka_unit_test(frame_graph_instances_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
