/*
 * The table of object handles: what names an object, what does not, and what each is reported as.
 */
#include "core/memory/object_handle.h"
#include "tests/rig/rig.h"

static struct rig* rig;
static int objects[MAAR_OBJECT_KINDS];

static uint64_t open_object(enum maar_object_kind kind)
{
    uint64_t handle = 0;
    assert_int_equal(maar_object_open(rig->allocator, kind, &objects[kind], &handle), VK_SUCCESS);
    assert_true(handle != 0);
    return handle;
}

/* Entering with the handle fails, under this identifier. */
static void expect_no_object(enum maar_object_kind kind, uint64_t handle, MaarMessageId id)
{
    void* found = &objects[0];
    assert_null(maar_object_of(rig->allocator, kind, handle));
    assert_int_equal(maar_object_enter(rig->allocator, "maarCall", "thing", kind, handle, &found),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_null(found);
    rig_expect_message_naming(rig, id, "maarCall: thing");
}

static void handle_names_its_object_and_no_other_kind(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    uint64_t handles[MAAR_OBJECT_KINDS] = {0};
    for (int kind = 1; kind < MAAR_OBJECT_KINDS; ++kind) {
        handles[kind] = open_object((enum maar_object_kind)kind);
        assert_non_null(maar_object_kind_name((enum maar_object_kind)kind));
    }
    for (int kind = 1; kind < MAAR_OBJECT_KINDS; ++kind) {
        for (int other = 1; other < MAAR_OBJECT_KINDS; ++other) {
            const enum maar_object_kind wanted = (enum maar_object_kind)other;
            if (kind != other) {
                expect_no_object(wanted, handles[kind], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
                continue;
            }
            void* found = NULL;
            assert_int_equal(maar_object_enter(rig->allocator, "maarCall", "thing", wanted,
                                               handles[kind], &found),
                             VK_SUCCESS);
            assert_ptr_equal(found, &objects[kind]);
        }
    }
    for (int kind = 1; kind < MAAR_OBJECT_KINDS; ++kind) {
        (void)maar_object_close(rig->allocator, handles[kind]);
    }
    rig_close(rig);
}

static void closed_handle_is_stale_for_ever(void** state)
{
    (void)state;
    enum { TIMES = 1000 };
    rig = rig_begin(NULL);
    uint64_t old[TIMES];
    for (uint32_t i = 0; i < TIMES; ++i) {
        old[i] = open_object(MAAR_OBJECT_ARRAY);
        assert_int_equal((uint32_t)old[i], (uint32_t)old[0]); /* one slot serves all */
        (void)maar_object_close(rig->allocator, old[i]);
        (void)maar_object_close(rig->allocator, old[i]); /* does nothing */
    }
    const uint64_t now = open_object(MAAR_OBJECT_ARRAY);
    for (uint32_t i = 0; i < TIMES; ++i) {
        expect_no_object(MAAR_OBJECT_ARRAY, old[i], MAAR_MESSAGE_ID_STALE_HANDLE);
        (void)maar_object_close(rig->allocator, old[i]);
    }
    assert_ptr_equal(maar_object_of(rig->allocator, MAAR_OBJECT_ARRAY, now),
                     &objects[MAAR_OBJECT_ARRAY]);
    const uint64_t next = open_object(MAAR_OBJECT_POOL);
    assert_true((uint32_t)next != (uint32_t)now);
    (void)maar_object_close(rig->allocator, next);
    (void)maar_object_close(rig->allocator, now);
    rig_close(rig);
}

/* Of two calls that end one object, the second one learns that it is too late. */
static void object_is_claimed_once(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    const uint64_t handle = open_object(MAAR_OBJECT_ARRAY);
    assert_int_equal(maar_object_claim(rig->allocator, "maarCall", "thing", handle), VK_SUCCESS);
    rig_expect_silence(rig);
    assert_int_equal(maar_object_claim(rig->allocator, "maarCall", "thing", handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FREED_CONCURRENTLY, "thing");
    const uint64_t next = open_object(MAAR_OBJECT_ARRAY);
    assert_int_equal(maar_object_claim(rig->allocator, "maarCall", "thing", handle),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FREED_CONCURRENTLY);
    assert_true(maar_object_close(rig->allocator, next));
    assert_false(maar_object_close(rig->allocator, next));
    rig_close(rig);
}

static void null_and_forged_handles_name_nothing(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    const uint64_t own = open_object(MAAR_OBJECT_POOL);
    const uint32_t numbers[] = {0, 1, 63, 64, (1u << 30) - 513, (1u << 30) - 512, UINT32_MAX - 1};
    expect_no_object(MAAR_OBJECT_POOL, 0, MAAR_MESSAGE_ID_NULL_HANDLE);
    for (uint32_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        const uint64_t key = (own >> 32) + 2;
        expect_no_object(MAAR_OBJECT_POOL, key << 32 | ((uint64_t)numbers[i] + 1),
                         MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    }
    expect_no_object(MAAR_OBJECT_POOL, own + ((uint64_t)1 << 32), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_no_object(MAAR_OBJECT_POOL, UINT64_MAX, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    (void)maar_object_close(rig->allocator, UINT64_MAX);
    (void)maar_object_close(rig->allocator, own);
    rig_close(rig);
}

static void another_allocators_handle_is_foreign(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    MaarAllocator other = VK_NULL_HANDLE;
    assert_int_equal(maarCreateAllocator(&rig->create_info, &other), VK_SUCCESS);
    uint64_t foreign = 0;
    const uint64_t own = open_object(MAAR_OBJECT_POOL);
    assert_int_equal(maar_object_open(other, MAAR_OBJECT_POOL, &objects[0], &foreign), VK_SUCCESS);
    assert_int_equal((uint32_t)own, (uint32_t)foreign);
    expect_no_object(MAAR_OBJECT_POOL, foreign, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    (void)maar_object_close(rig->allocator, foreign);
    assert_non_null(maar_object_of(rig->allocator, MAAR_OBJECT_POOL, own));
    (void)maar_object_close(rig->allocator, own);
    maarDestroyAllocator(other);
    rig_close(rig);
}

/* Handles outlast the growth of the table, and a growth that fails changes nothing. */
static void growth_of_the_table_keeps_handles(void** state)
{
    (void)state;
    enum { MANY = 500 };
    static uint64_t handles[MANY];
    rig = rig_begin(&(struct rig_setup){.count_host = true});
    uint32_t failures = 0;
    for (uint32_t i = 0; i < MANY; ++i) {
        const enum maar_object_kind kind = (enum maar_object_kind)(1 + i % (MAAR_OBJECT_KINDS - 1));
        rig->host.fail_at = rig->host.calls + 1;
        if (maar_object_open(rig->allocator, kind, &objects[kind], &handles[i]) != VK_SUCCESS) {
            ++failures;
            assert_int_equal(handles[i], 0);
            rig->host.fail_at = 0;
            handles[i] = open_object(kind);
        }
    }
    rig->host.fail_at = 0;
    assert_in_range(failures, 5, 20);
    for (uint32_t i = 0; i < MANY; ++i) {
        const enum maar_object_kind kind = (enum maar_object_kind)(1 + i % (MAAR_OBJECT_KINDS - 1));
        assert_ptr_equal(maar_object_of(rig->allocator, kind, handles[i]), &objects[kind]);
        (void)maar_object_close(rig->allocator, handles[i]);
    }
    rig_close(rig);
}

static void handle_of_each_kind_is_stale_after_2_to_20_uses_of_its_slot(void** state)
{
    enum { RECYCLED = 1 << 20 };
    (void)state;
    rig = rig_begin(NULL);
    for (int number = 1; number < MAAR_OBJECT_KINDS; ++number) {
        const enum maar_object_kind kind = (enum maar_object_kind)number;
        const uint64_t first = open_object(kind);
        (void)maar_object_close(rig->allocator, first);
        for (uint32_t i = 0; i < RECYCLED; ++i) {
            const uint64_t next = open_object(kind);
            assert_true(next != first && (uint32_t)next == (uint32_t)first);
            (void)maar_object_close(rig->allocator, next);
        }
        const uint64_t last = open_object(kind);
        expect_no_object(kind, first, MAAR_MESSAGE_ID_STALE_HANDLE);
        assert_ptr_equal(maar_object_of(rig->allocator, kind, last), &objects[kind]);
        (void)maar_object_close(rig->allocator, last);
    }
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(handle_names_its_object_and_no_other_kind),
        rig_unit_test(closed_handle_is_stale_for_ever),
        rig_unit_test(object_is_claimed_once),
        rig_unit_test(null_and_forged_handles_name_nothing),
        rig_unit_test(another_allocators_handle_is_foreign),
        rig_unit_test(growth_of_the_table_keeps_handles),
        rig_unit_test(handle_of_each_kind_is_stale_after_2_to_20_uses_of_its_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
