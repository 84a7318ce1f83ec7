/*
 * The checks of pools and of pages find what is wrong: a number at a time is changed behind their
 * back, which must be reported in the sentence that belongs to it, and is put right again.
 */
#include "core/memory/object_handle.h"
#include "core/memory/pool_check.h"
#include "tests/unit/reservation/reservation_fixture.h"

#include "core/paging/page_check.h"
#include "core/paging/page_entry.h"
#include "core/placement/placement_space.h"

static struct rig* rig;

/* Said by whichever check is meant. */
typedef const char* (*check_function)(void);

static check_function check;

static void expect_whole(void)
{
    const char* broken = check();
    if (broken != NULL) {
        fail_msg("broken before anything was changed: %s", broken);
    }
}

/* Whatever its width, a number is changed by writing its bytes. */
static void expect_found(const char* what, void* at, const void* wrong, size_t size,
                         const char* sentence)
{
    unsigned char right[8];
    assert_true(size <= sizeof right);
    expect_whole();
    memcpy(right, at, size);
    memcpy(at, wrong, size);
    const char* broken = check();
    memcpy(at, right, size);
    if (broken == NULL || strcmp(broken, sentence) != 0) {
        fail_msg("%s: \"%s\", not \"%s\"", what, broken != NULL ? broken : "nothing", sentence);
    }
    expect_whole();
}

#define EXPECT_32(field, value, sentence)                                                          \
    expect_found(#field, &(field), &(uint32_t){value}, sizeof(uint32_t), sentence)
#define EXPECT_64(field, value, sentence)                                                          \
    expect_found(#field, &(field), &(uint64_t){value}, sizeof(uint64_t), sentence)
#define EXPECT_16(field, value, sentence)                                                          \
    expect_found(#field, &(field), &(uint16_t){value}, sizeof(uint16_t), sentence)
#define EXPECT_POINTER(field, value, sentence)                                                     \
    expect_found(#field, &(field), &(void*){value}, sizeof(void*), sentence)

/* ---- pools ---- */

enum { SMALL_BLOCKS = 40 };

static struct maar_pool* checked_pool;

static const char* check_pool(void)
{
    return maar_pool_check(checked_pool);
}

/* Forty blocks with one allocation each, one that is empty, and one of its own. */
static MaarPool fill_pool(MaarAllocation* memories)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 0,
        .blockSize = 65536,
        .retainedEmptySize = UINT64_MAX,
    };
    MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                    .pool = pool};
    for (uint32_t i = 0; i <= SMALL_BLOCKS; ++i) {
        memories[i] = rig_allocate(rig, 60000, &how);
    }
    maarFreeMemory(rig->allocator, memories[SMALL_BLOCKS]);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    memories[SMALL_BLOCKS] = rig_allocate(rig, 1000, &how);
    return pool;
}

static void damaged_pool_is_found(void** state)
{
    MaarAllocation memories[SMALL_BLOCKS + 1];
    (void)state;
    rig = rig_begin(NULL);
    checked_pool = maar_pool_of(rig->allocator, fill_pool(memories));
    check = check_pool;
    struct maar_arena* arena = maar_pool_next_arena(checked_pool, 0);
    struct maar_arena other = *arena;
    struct maar_block* block = arena->blocks[0];
    struct maar_block* last = arena->blocks[arena->block_count - 1];
    assert_int_equal(arena->block_count, SMALL_BLOCKS + 1);
    assert_non_null(arena->dedicated);
    EXPECT_64(block->size, block->size + 1,
              "used, padding and free bytes do not add up to the block");
    EXPECT_32(block->range_count, 2,
              "live and pending allocations are not those placed in the block");
    EXPECT_32(block->pending_count, 2, "more is pending in a block than is placed in it");
    EXPECT_64(block->pending_bytes, 1, "more is pending in a block than is placed in it");
    EXPECT_POINTER(block->arena.value, &other, "a block stands in an arena that is not its own");
    EXPECT_64(arena->blocks[1]->id, block->id, "blocks are not in their order");
    EXPECT_32(block->at, 1, "a block does not know its place in its arena");
    EXPECT_16(arena->block_index.levels[last->at], 0, "an arena does not know of room in a block");
    EXPECT_64(last->quiet_room, last->size + last->size / 16,
              "the indexes of an arena would miss a free");
    assert_int_equal(last->idle_place, 1);
    EXPECT_32(last->idle_place, 2, "an idle block does not know its place among the idle blocks");
    EXPECT_32(last->pin_count, 1, "an arena does not know its idle blocks");
    EXPECT_POINTER(arena->idle.heap[0], block,
                   "an idle block does not know its place among the idle blocks");
    const uint16_t* above = arena->block_index.levels + arena->block_index.capacity;
    assert_true(arena->block_index.capacity > MAAR_BLOCK_INDEX_FAN);
    EXPECT_16(arena->block_index
                  .levels[arena->block_index.capacity + (last->at >> MAAR_BLOCK_INDEX_FAN_BITS)],
              (uint16_t)(above[last->at >> MAAR_BLOCK_INDEX_FAN_BITS] - 1),
              "an arena would pass over a block that has room");
    EXPECT_32(arena->dedicated->range_count, 2,
              "a dedicated block does not hold exactly one allocation");
    EXPECT_32(arena->stitched_count, 1, "an arena counts wrongly what is stitched");
    EXPECT_32(arena->pending_count, 1, "what is pending in an arena is not the sum of its blocks");
    EXPECT_64(arena->block_bytes, 1, "an arena's bytes are not the sums of its blocks");
    EXPECT_32(arena->dedicated_count, 2, "an arena's bytes are not the sums of its blocks");
    maar_atomic32_store(&checked_pool->empty_count, 0);
    assert_string_equal(check_pool(), "an arena has more empty blocks than its pool knows of");
    maar_atomic32_store(&checked_pool->empty_count, 1);
    EXPECT_32(block->placement->range_count, 2, "the count of live ranges is wrong");
    for (uint32_t i = 0; i <= SMALL_BLOCKS; ++i) {
        maarFreeMemory(rig->allocator, memories[i]);
    }
    maarDestroyPool(rig->allocator, checked_pool->handle);
    rig_expect_silence(rig);
    rig_close(rig);
}

/* ---- pages ---- */

static struct maar_paging* checked_paging;

static const char* check_page_pools(void)
{
    const char* broken = NULL;
    for (const struct maar_page_pool* pool = checked_paging->pools; pool != NULL && broken == NULL;
         pool = pool->next) {
        broken = maar_page_pool_check(pool);
    }
    return broken;
}

static const char* check_page_tables(void)
{
    return maar_page_tables_check(checked_paging);
}

enum { PAGE = 65536 };

/* Pages that are bound, given back, recorded and shared, with holes between them. */
static void make_pages(MaarReservation* two)
{
    rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    two[0] = fixture_reserve(rig, 64 * PAGE, MAAR_RESERVATION_CREATE_ALIASED_BIT);
    two[1] = fixture_reserve(rig, 64 * PAGE, 0);
    assert_int_equal(fixture_commit(rig, two[0], 0, 12 * PAGE), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, two[1], 0, 40 * PAGE), VK_SUCCESS);
    assert_int_equal(maarAliasPages(rig->allocator, two[0], 20 * PAGE, 4 * PAGE, two[0], 8 * PAGE),
                     VK_SUCCESS);
    const MaarPoint point = fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, two[1], 4 * PAGE, 3 * PAGE), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, two[1], 12 * PAGE, 9 * PAGE), VK_SUCCESS);
    (void)point;
    (void)fixture_submit(rig);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(fixture_decommit(rig, two[1], 30 * PAGE, 2 * PAGE), VK_SUCCESS);
    assert_int_equal(fixture_commit(rig, two[1], 50 * PAGE, PAGE), VK_SUCCESS);
    checked_paging = maar_paging_of(rig->allocator);
}

static void end_pages(MaarReservation* two)
{
    maarDestroyReservation(rig->allocator, two[0]);
    maarDestroyReservation(rig->allocator, two[1]);
    rig_close(rig);
}

/* A page of the block that is the first of a free run, or is in use. */
static struct maar_page_mark* find_mark(struct maar_page_block* block, bool is_free)
{
    for (uint32_t page = 0; page < block->page_count;) {
        struct maar_page_mark* mark = &block->marks[page];
        if ((mark->run != 0) == is_free && (!is_free || mark->run > 1)) {
            return mark;
        }
        page += mark->run != 0 ? mark->run : 1;
    }
    fail_msg("no such page");
    return NULL;
}

static void damaged_page_pool_is_found(void** state)
{
    MaarReservation two[2];
    (void)state;
    make_pages(two);
    check = check_page_pools;
    struct maar_page_pool* pool = checked_paging->pools;
    struct maar_page_block* block = pool->blocks[0];
    struct maar_page_mark* used = find_mark(block, false);
    struct maar_page_mark* run = find_mark(block, true);
    EXPECT_16(used->refs, 0, "a page in use has no owner, or more live ones than owners");
    EXPECT_16(used->live, 9, "a page in use has no owner, or more live ones than owners");
    EXPECT_32(run->run, run->run + 1, "a run of free pages does not end where it should");
    EXPECT_32(run->run, block->page_count + 1, "a run of free pages does not end where it should");
    EXPECT_32(block->used_count, 1, "a page block counts its pages wrongly");
    EXPECT_32(block->live_count, 1, "a page block counts its pages wrongly");
    EXPECT_32(block->place, 1, "a page block is not where it should be");
    EXPECT_POINTER(block->pool, NULL, "a page block is not where it should be");
    EXPECT_32(run->previous, 0, "a run of free pages is in a wrong list");
    EXPECT_64(pool->page_count, 1, "a page pool counts its pages wrongly");
    EXPECT_64(pool->free_count, 1, "a page pool counts its pages wrongly");
    EXPECT_32(pool->empty_count, 1, "a page pool counts its pages wrongly");
    EXPECT_64(block->classes[0], block->classes[0] ^ 1,
              "a page block's bits do not say which lists have runs");
    pool->longest[0] ^= 1;
    assert_string_equal(check_page_pools(), "a page block's longest run is not the one noted");
    pool->longest[0] ^= 1;
    /* One run said to be two, of which the lists know nothing. */
    const uint32_t length = run->run;
    struct maar_page_mark* behind = run + length - 1;
    const struct maar_page_mark kept[2] = {*run, *behind};
    run->run = 1;
    behind->run = 1;
    if (length == 2) {
        assert_string_equal(check_page_pools(), "two runs of free pages are adjacent");
    } else {
        assert_non_null(check_page_pools());
    }
    *run = kept[0];
    *behind = kept[1];
    expect_whole();
    end_pages(two);
}

/* The first entry of any table for which all of the bits, and none of the others, are set. */
static uint64_t* find_entry(uint64_t with, uint64_t without, struct maar_page_table** owner)
{
    for (struct maar_page_table* table = checked_paging->tables; table != NULL;
         table = table->next) {
        for (uint64_t page = 0; page < table->page_count; ++page) {
            uint64_t* entry = maar_page_entry(table, page);
            if (entry != NULL && maar_entry_has_page(*entry) && (*entry & with) == with &&
                (*entry & without) == 0) {
                *owner = table;
                return entry;
            }
        }
    }
    fail_msg("no such entry");
    return NULL;
}

static void damaged_page_table_is_found(void** state)
{
    MaarReservation two[2];
    struct maar_page_table* table = NULL;
    (void)state;
    make_pages(two);
    check = check_page_tables;
    uint64_t* entry = find_entry(MAAR_ENTRY_BOUND, MAAR_ENTRY_DIRTY | MAAR_ENTRY_HELD, &table);
    const uint64_t right = *entry;
    EXPECT_64(*entry, right | MAAR_ENTRY_FRESH,
              "a page is marked as committed by a call that is over");
    EXPECT_64(*entry, MAAR_ENTRY_HELD, "a page is held that is none");
    EXPECT_64(*entry, right | (uint64_t)1000 << MAAR_ENTRY_BLOCK_SHIFT,
              "a page of a table is free, or in no block");
    EXPECT_64(*entry, right | 0xFFFFFF, "a page of a table is free, or in no block");
    EXPECT_64(*entry, right & ~MAAR_ENTRY_BOUND, "a page has a change that is not recorded");
    EXPECT_64(*entry, right | MAAR_ENTRY_HELD, "a page has a change that is not recorded");
    EXPECT_64(*entry, (right | MAAR_ENTRY_HELD) & ~MAAR_ENTRY_BOUND,
              "a page is held that the device does not have");
    EXPECT_64(table->page_size, 2 * PAGE, "a page of a table has another size");
    EXPECT_64(table->committed, 1, "a table counts its pages wrongly");
    EXPECT_64(checked_paging->recorded_pages, 1, "the changes of pages are counted wrongly");
    entry = find_entry(MAAR_ENTRY_DIRTY, MAAR_ENTRY_HELD, &table);
    table->dirty = false;
    assert_string_equal(check_page_tables(), "a change of a page is in no list");
    table->dirty = true;
    struct maar_page_block* block = maar_entry_block(table, *entry);
    struct maar_page_mark* mark = &block->marks[maar_entry_page(*entry)];
    EXPECT_16(mark->refs, 2, "a page is mapped twice in a table that may not alias");
    table->may_alias = true;
    EXPECT_16(mark->refs, 2, "a page is not in as many tables as it has references");
    table->may_alias = false;
    expect_whole();
#if !defined(MAAR_HEAVY_CHECKS)
    /* The same through the front door, which poisons. */
    const char* broken = NULL;
    ++checked_paging->recorded_pages;
    assert_int_equal(maarCheckAllocator(rig->allocator, &broken), VK_ERROR_UNKNOWN);
    --checked_paging->recorded_pages;
    assert_string_equal(broken, "the changes of pages are counted wrongly");
    rig_expect_message(rig, MAAR_MESSAGE_ID_BROKEN_INVARIANT);
    maar_atomic32_store(&rig->allocator->reporter.poisoned, 0);
#endif
    end_pages(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(damaged_pool_is_found),
        rig_unit_test(damaged_page_pool_is_found),
        rig_unit_test(damaged_page_table_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
