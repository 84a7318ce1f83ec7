/*
 * Duplicates of file descriptors that are with an importer: what an importer has closed is not
 * closed again, whoever has the number by then.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/rig.h"

#include <fcntl.h>
#include <unistd.h>

#include "interop/share/external_handle.h"

static struct rig* rig;
static int own;

static void open_own(void)
{
    rig = rig_begin(NULL);
    own = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(own >= 0);
}

static void lend(struct maar_lent_handle* lent)
{
    assert_int_equal(maar_handle_lend(rig->allocator, "a test", own, lent), VK_SUCCESS);
    assert_true(lent->number != own);
}

static bool is_open(maar_port_handle number)
{
    return fcntl((int)number, F_GETFD) != -1;
}

static void what_the_importer_leaves_is_closed(void** state)
{
    (void)state;
    struct maar_lent_handle lent;
    open_own();
    lend(&lent);
    maar_handle_end_loan(rig->allocator, &lent, own, true, false);
    assert_false(is_open(lent.number));
    lend(&lent); /* an importer that never owns it */
    maar_handle_end_loan(rig->allocator, &lent, own, false, true);
    assert_false(is_open(lent.number));
    lend(&lent);
    maar_handle_end_loan(rig->allocator, &lent, own, true, true);
    assert_true(is_open(lent.number)); /* the importer's */
    (void)close((int)lent.number);
    (void)close(own);
}

static void number_that_another_got_since_stays_open(void** state)
{
    (void)state;
    struct maar_lent_handle lent[2];
    maar_port_handle copy = MAAR_PORT_NO_HANDLE;
    open_own();
    lend(&lent[0]);
    lend(&lent[1]);
    (void)close((int)lent[1].number); /* as some drivers do when they refuse */
    (void)close((int)lent[0].number);
    assert_int_equal(maar_external_handle_copy(rig->allocator, "a test", own, &copy), VK_SUCCESS);
    assert_int_equal(copy, lent[0].number);
    maar_handle_end_loan(rig->allocator, &lent[0], own, true, false);
    maar_handle_end_loan(rig->allocator, &lent[1], own, true, false);
    assert_true(is_open(copy));
    (void)close((int)copy);
    (void)close(own);
}

static void number_of_a_new_object_stays_open(void** state)
{
    (void)state;
    struct maar_lent_handle lent;
    MaarExternalHandle handle = VK_NULL_HANDLE;
    open_own();
    lend(&lent);
    (void)close((int)lent.number);
    const int made = fcntl(own, F_DUPFD_CLOEXEC, 3); /* as a driver that exports */
    assert_int_equal(made, lent.number);
    assert_int_equal(maarWrapFd(rig->allocator, made, &handle), VK_SUCCESS);
    maar_handle_end_loan(rig->allocator, &lent, own, true, false);
    assert_true(is_open(made));
    maarDestroyExternalHandle(rig->allocator, handle);
    (void)close(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(what_the_importer_leaves_is_closed),
        rig_unit_test(number_that_another_got_since_stays_open),
        rig_unit_test(number_of_a_new_object_stays_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
