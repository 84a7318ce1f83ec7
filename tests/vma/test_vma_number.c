/*
 * The bits of a VmaAllocation in a 32-bit program: see vma/vma_number.h.
 */
#include "tests/rig/rig.h"

#include "vma/vma_number.h"

/* A handle of a number, after so many uses. */
static uint64_t handle_of(uint32_t number, uint32_t uses)
{
    return ((uint64_t)uses << 1 | 1u) << 32 | number;
}

static void what_lives_is_found(void** state)
{
    (void)state;
    static const uint32_t numbers[] = {1, 2, 77, 0x3FFFFF, 0x400000, 0x3FFFFFFF};
    static const uint32_t uses[] = {0, 1, 255, 256, 257, 0x3FFFFFFF};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        for (size_t j = 0; j < sizeof uses / sizeof uses[0]; ++j) {
            const uint64_t handle = handle_of(numbers[i], uses[j]);
            const uint32_t bits = maar_vma_pack(handle);
            assert_true((bits & 1u) != 0);
            assert_int_equal(maar_vma_packed_number(bits), numbers[i]);
            assert_true(maar_vma_unpack(bits, handle) == handle);
        }
    }
}

/* A handle that was freed becomes itself again, however its number is used then. */
static void what_was_freed_is_stale(void** state)
{
    (void)state;
    for (uint32_t before = 0; before < 600; before += 7) {
        const uint64_t old = handle_of(5, before);
        const uint32_t bits = maar_vma_pack(old);
        for (uint32_t more = 1; more < 256; ++more) {
            assert_true(maar_vma_unpack(bits, handle_of(5, before + more)) == old);
        }
        assert_true(maar_vma_unpack(bits, handle_of(5, before + 256)) != old);
        assert_true(maar_vma_unpack(bits, 0) != 0); /* nothing lives there: not null */
        assert_int_equal((uint32_t)maar_vma_unpack(bits, 0), 5);
    }
}

/* A large number has no count. */
static void large_numbers_name_what_lives(void** state)
{
    (void)state;
    const uint32_t bits = maar_vma_pack(handle_of(0x400000, 1));
    assert_true(maar_vma_unpack(bits, handle_of(0x400000, 9)) == handle_of(0x400000, 9));
    assert_true(maar_vma_unpack(bits, 0) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lives_is_found),
        cmocka_unit_test(what_was_freed_is_stale),
        cmocka_unit_test(large_numbers_name_what_lives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
