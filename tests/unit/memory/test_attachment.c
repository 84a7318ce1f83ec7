/*
 * What hangs on blocks: each ends once, whichever of block, owner and caller is first, and in
 * whatever order.
 */
#include "tests/rig/rig.h"

#include "core/memory/allocator_state.h"
#include "core/memory/attachment.h"
#include "core/memory/slot_home.h"

enum { BLOCKS = 3 };

struct hung {
    struct maar_attachment attachment; /* first: it is turned back into this */
    uint32_t ended;
};

static void count_end(MaarAllocator allocator, struct maar_attachment* attachment)
{
    (void)allocator;
    ++((struct hung*)(void*)attachment)->ended;
}

static struct maar_block* block_of(struct rig* rig, MaarAllocation allocation)
{
    uint32_t index = 0;
    return maar_slot_block(rig->allocator, maar_slot_resolve(&rig->allocator->slots,
                                                             MAAR_TO_BITS(allocation), &index));
}

/* One of an owner's on each of three blocks; the first to go is named, then the second. */
static void hang_and_end(struct rig* rig, const MaarAllocation* memory, uint32_t first,
                         uint32_t second)
{
    struct maar_attachment* list = NULL;
    struct hung hung[BLOCKS];
    memset(hung, 0, sizeof hung);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        hung[i].attachment.owner = &list;
        hung[i].attachment.owner_list = &list;
        hung[i].attachment.end = count_end;
        assert_null(maar_attachment_add(block_of(rig, memory[i]), &hung[i].attachment));
    }
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        assert_ptr_equal(maar_attachment_find(block_of(rig, memory[i]), &list), &hung[i]);
    }
    maar_attachments_end_block(block_of(rig, memory[first]));
    memset(&hung[first].attachment, 0xEE, sizeof hung[first].attachment); /* nobody knows it now */
    assert_null(maar_attachment_find(block_of(rig, memory[first]), &list));
    maar_attachments_end_block(block_of(rig, memory[second]));
    memset(&hung[second].attachment, 0xEE, sizeof hung[second].attachment);
    maar_attachments_end_owner(rig->allocator, &list);
    assert_null(list);
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        assert_int_equal(hung[i].ended, 1);
        assert_null(maar_attachment_find(block_of(rig, memory[i]), &list));
    }
}

static void each_ends_once_in_any_order(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    MaarAllocation memory[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        memory[i] = rig_allocate(rig, 1000, &how);
    }
    for (uint32_t first = 0; first < BLOCKS; ++first) {
        for (uint32_t second = 0; second < BLOCKS; ++second) {
            if (second != first) {
                hang_and_end(rig, memory, first, second);
            }
        }
    }
    maarFreeMemories(rig->allocator, BLOCKS, memory);
}

static void one_of_an_owner_hangs_on_a_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocation memory = rig_allocate(rig, 1000, NULL);
    struct maar_block* block = block_of(rig, memory);
    struct hung hung[3];
    memset(hung, 0, sizeof hung);
    for (uint32_t i = 0; i < 3; ++i) {
        hung[i].attachment.owner = &hung[i / 2]; /* two of one owner, and one of another */
        hung[i].attachment.end = count_end;
    }
    assert_null(maar_attachment_add(block, &hung[0].attachment));
    assert_ptr_equal(maar_attachment_add(block, &hung[1].attachment), &hung[0]);
    assert_null(maar_attachment_add(block, &hung[2].attachment));
    maar_attachments_end_block(block);
    assert_int_equal(hung[0].ended, 1);
    assert_int_equal(hung[1].ended, 0);
    assert_int_equal(hung[2].ended, 1);
    maarFreeMemory(rig->allocator, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(each_ends_once_in_any_order),
        rig_unit_test(one_of_an_owner_hangs_on_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
