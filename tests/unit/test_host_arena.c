/*
 * Arenas: what is taken from them is aligned and apart, within a limit, and can be taken again when
 * it was given back.
 */
#include "core/host_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 100000, PIECE = 30000 };

static void pieces_are_aligned_and_apart(void** state)
{
    (void)state;
    struct maar_arena arena = {.callbacks = NULL};
    unsigned char* last = NULL;
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char* const piece = maar_arena_grab(&arena, size, 3);
        assert_non_null(piece);
        assert_true((uintptr_t)piece % 16 == 0);
        assert_true(piece != last);
        memset(piece, 0xAA, 3 * size);
        const unsigned char* const zeroed = maar_arena_grab_zeroed(&arena, size, 1);
        for (size_t i = 0; i < size; ++i) {
            assert_int_equal(zeroed[i], 0);
        }
        last = piece;
    }
    assert_null(maar_arena_grab(&arena, SIZE_MAX / 2, 3));
    maar_arena_reset(&arena);
    assert_true(arena.held == 0);
}

static void limit_is_of_what_is_held_now(void** state)
{
    (void)state;
    struct maar_arena arena = {.callbacks = NULL, .limit = LIMIT};
    assert_non_null(maar_arena_grab(&arena, PIECE, 1));
    const struct maar_arena_mark mark = maar_arena_place(&arena);
    const size_t held = arena.held;
    for (int round = 0; round < 20; ++round) {
        assert_non_null(maar_arena_grab(&arena, PIECE, 1));
        assert_non_null(maar_arena_grab(&arena, PIECE, 1));
        assert_null(maar_arena_grab(&arena, PIECE, 1));
        assert_true(arena.held <= LIMIT);
        maar_arena_return(&arena, mark);
        assert_true(arena.held == held);
    }
    maar_arena_reset(&arena);
}

static void failure_is_remembered_until_the_reset(void** state)
{
    (void)state;
    struct maar_arena arena = {.callbacks = NULL, .limit = LIMIT};
    assert_non_null(maar_arena_take(&arena, 16, 1));
    assert_null(maar_arena_copy(&arena, NULL, LIMIT, 1));
    assert_null(maar_arena_take(&arena, 16, 1));
    maar_arena_reset(&arena);
    const char* const copy = maar_arena_copy(&arena, "copied", 7, 1);
    assert_string_equal(copy, "copied");
    maar_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_apart),
        cmocka_unit_test(limit_is_of_what_is_held_now),
        cmocka_unit_test(failure_is_remembered_until_the_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
