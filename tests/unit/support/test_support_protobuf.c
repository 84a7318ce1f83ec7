/*
 * The wire format of Protocol Buffers, against bytes written by hand.
 */
#include "support/protobuf.h"
#include "tests/rig/rig.h"

#include <string.h>

#define EXPECT(message, ...)                                                                       \
    do {                                                                                           \
        const uint8_t bytes[] = {__VA_ARGS__};                                                     \
        assert_int_equal((message)->size, sizeof bytes);                                           \
        assert_memory_equal((message)->data, bytes, sizeof bytes);                                 \
        (message)->size = 0;                                                                       \
    } while (0)

static void numbers_take_seven_bits_a_byte(void** state)
{
    (void)state;
    struct support_protobuf message = {.size = 0};
    support_protobuf_number(&message, 1, 0);
    EXPECT(&message, 0x08, 0x00);
    support_protobuf_number(&message, 1, 127);
    EXPECT(&message, 0x08, 0x7F);
    support_protobuf_number(&message, 1, 150);
    EXPECT(&message, 0x08, 0x96, 0x01);
    support_protobuf_number(&message, 60, UINT64_MAX);
    EXPECT(&message, 0xE0, 0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01);
    support_protobuf_release(&message);
    assert_null(message.data);
}

static void texts_are_utf8(void** state)
{
    (void)state;
    struct support_protobuf message = {.size = 0};
    support_protobuf_text(&message, 2, "testing");
    EXPECT(&message, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g');
    support_protobuf_text(&message, 2, "");
    EXPECT(&message, 0x12, 0x00);
    support_protobuf_text(&message, 2, "\xC3\xA4\xFFz");
    EXPECT(&message, 0x12, 0x06, 0xC3, 0xA4, 0xEF, 0xBF, 0xBD, 'z');
    support_protobuf_release(&message);
}

static void messages_within_messages_are_emptied(void** state)
{
    (void)state;
    struct support_protobuf message = {.size = 0};
    struct support_protobuf inner = {.size = 0};
    support_protobuf_number(&inner, 1, 150);
    support_protobuf_message(&message, 3, &inner);
    assert_int_equal(inner.size, 0);
    support_protobuf_message(&message, 4, &inner);
    EXPECT(&message, 0x1A, 0x03, 0x08, 0x96, 0x01, 0x22, 0x00);
    support_protobuf_release(&inner);
    support_protobuf_release(&message);
}

static void long_ones_are_whole(void** state)
{
    (void)state;
    struct support_protobuf message = {.size = 0};
    uint8_t data[1000];
    memset(data, 7, sizeof data);
    for (size_t i = 0; i < 100; ++i) {
        support_protobuf_bytes(&message, 5, data, sizeof data);
    }
    assert_false(message.failed);
    assert_int_equal(message.size, 100 * (1 + 2 + sizeof data));
    assert_memory_equal(message.data + 99 * 1003 + 3, data, sizeof data);
    support_protobuf_release(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_take_seven_bits_a_byte),
        cmocka_unit_test(texts_are_utf8),
        cmocka_unit_test(messages_within_messages_are_emptied),
        cmocka_unit_test(long_ones_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
