/*
 * Two threads that free the same handle at the same time: one of them frees, the other one gets a
 * message, whichever of a free's steps they meet at.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/rig/rig.h"

#include <pthread.h>
#include <sched.h>

/* A thread looks so often for the other one before it lets others run, which may have its core. */
enum { ROUNDS = 20000, LOOKS = 2000 };

struct duel {
    struct rig* rig;
    MaarAllocation memory[ROUNDS];
    VkBuffer buffers[ROUNDS];
    MaarSlice slices[ROUNDS];
    _Atomic uint32_t arrived;
    void (*end)(struct duel* duel, uint32_t round);
};

static void* fight(void* data)
{
    struct duel* duel = data;
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        atomic_fetch_add(&duel->arrived, 1);
        for (uint32_t looks = 0; atomic_load(&duel->arrived) < 2 * (i + 1); ++looks) {
            if (looks >= LOOKS) {
                sched_yield();
            }
        }
        duel->end(duel, i);
    }
    return NULL;
}

static void expect_each_reported_once(struct duel* duel, void (*end)(struct duel*, uint32_t))
{
    pthread_t threads[2];
    duel->end = end;
    atomic_store(&duel->arrived, 0);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(pthread_create(&threads[i], NULL, fight, duel), 0);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(duel->rig->messages.counts[MAAR_MESSAGE_SEVERITY_ERROR], ROUNDS);
    assert_int_equal(duel->rig->messages.total, ROUNDS);
}

static struct duel* begin_duel(void)
{
    struct duel* duel = calloc(1, sizeof *duel);
    assert_non_null(duel);
    duel->rig = rig_new();
    rig_start(duel->rig, NULL);
    return duel;
}

static void end_duel(struct duel* duel)
{
    rig_forget_messages(duel->rig);
    rig_close(duel->rig);
    free(duel);
}

static void end_memory(struct duel* duel, uint32_t round)
{
    maarFreeMemory(duel->rig->allocator, duel->memory[round]);
}

static void memory_freed_by_two_is_reported_to_one(void** state)
{
    (void)state;
    struct duel* duel = begin_duel();
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        duel->memory[i] = rig_allocate(duel->rig, 64, NULL);
    }
    expect_each_reported_once(duel, end_memory);
    end_duel(duel);
}

static void end_buffer(struct duel* duel, uint32_t round)
{
    maarDestroyBuffer(duel->rig->allocator, duel->buffers[round], duel->memory[round]);
}

static void buffer_destroyed_by_two_is_reported_to_one(void** state)
{
    (void)state;
    struct duel* duel = begin_duel();
    const VkBufferCreateInfo info = rig_buffer_info(64);
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        assert_int_equal(maarCreateBuffer(duel->rig->allocator, &info, NULL, &duel->buffers[i],
                                          &duel->memory[i]),
                         VK_SUCCESS);
    }
    expect_each_reported_once(duel, end_buffer);
    end_duel(duel);
}

static void end_slice(struct duel* duel, uint32_t round)
{
    maarDestroySlice(duel->rig->allocator, duel->slices[round]);
}

static void slice_destroyed_by_two_is_reported_to_one(void** state)
{
    (void)state;
    struct duel* duel = begin_duel();
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 64,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        assert_int_equal(maarCreateSlice(duel->rig->allocator, &info, &duel->slices[i]),
                         VK_SUCCESS);
    }
    expect_each_reported_once(duel, end_slice);
    end_duel(duel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(memory_freed_by_two_is_reported_to_one),
        rig_unit_test(buffer_destroyed_by_two_is_reported_to_one),
        rig_unit_test(slice_destroyed_by_two_is_reported_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
