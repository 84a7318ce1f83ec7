/*
 * Arenas: what is taken from them is aligned and apart, within a limit, and can be taken again when
 * it was given back.
 */
#include "core/host_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 100000, PIECE = 30000 };

static void pieces_are_aligned_and_apart(void** state)
{
    (void)state;
    struct maar_host_stack stack = {.callbacks = NULL};
    unsigned char* last = NULL;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char* const piece = maar_stack_grab(&stack, size, 3);
        assert_non_null(piece);
        assert_true((uintptr_t)piece % 16 == 0);
        assert_true(piece != last);
        memset(piece, 0xAA, 3 * size);
        const unsigned char* const zeroed = maar_stack_grab_zeroed(&stack, size, 1);
        for (size_t i = 0; i < size; ++i) {
            assert_int_equal(zeroed[i], 0);
        }
        last = piece;
    }
    assert_null(maar_stack_grab(&stack, SIZE_MAX / 2, 3));
    maar_stack_reset(&stack);
    assert_true(stack.held == 0);
}

static void limit_is_of_what_is_held_now(void** state)
{
    (void)state;
    struct maar_host_stack stack = {.callbacks = NULL, .limit = LIMIT};
    assert_non_null(maar_stack_grab(&stack, PIECE, 1));
    const struct maar_stack_mark mark = maar_stack_place(&stack);
    const size_t held = stack.held;
    for (int round = 0; round < 20; ++round) {
        assert_non_null(maar_stack_grab(&stack, PIECE, 1));
        assert_non_null(maar_stack_grab(&stack, PIECE, 1));
        assert_null(maar_stack_grab(&stack, PIECE, 1));
        assert_true(stack.held <= LIMIT);
        maar_stack_return(&stack, mark);
        assert_true(stack.held == held);
    }
    maar_stack_reset(&stack);
}

static void failure_is_remembered_until_the_reset(void** state)
{
    (void)state;
    struct maar_host_stack stack = {.callbacks = NULL, .limit = LIMIT};
    assert_non_null(maar_stack_take(&stack, 16, 1));
    assert_null(maar_stack_copy(&stack, NULL, LIMIT, 1));
    assert_null(maar_stack_take(&stack, 16, 1));
    maar_stack_reset(&stack);
    const char* const copy = maar_stack_copy(&stack, "copied", 7, 1);
    assert_string_equal(copy, "copied");
    maar_stack_reset(&stack);
}

static void growing_keeps_the_elements(void** state)
{
    (void)state;
    struct maar_host_stack stack = {.callbacks = NULL, .limit = LIMIT};
    uint32_t capacity = 0;
    uint32_t* const first = maar_stack_grow(&stack, NULL, &capacity, 4, sizeof *first);
    assert_non_null(first);
    assert_int_equal(capacity, 4);
    for (uint32_t i = 0; i < capacity; ++i) {
        first[i] = i + 1;
    }
    const uint32_t* const second = maar_stack_grow(&stack, first, &capacity, 4, sizeof *first);
    assert_non_null(second);
    assert_int_equal(capacity, 8);
    for (uint32_t i = 0; i < capacity; ++i) {
        assert_int_equal(second[i], i < 4 ? i + 1 : 0);
    }
    assert_null(maar_stack_grow(&stack, second, &capacity, 4, LIMIT));
    assert_int_equal(capacity, 8);
    assert_true(stack.failed);
    maar_stack_reset(&stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(limit_is_of_what_is_held_now),
        cmocka_unit_test(failure_is_remembered_until_the_reset),
        cmocka_unit_test(growing_keeps_the_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
