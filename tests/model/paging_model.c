/*
 * Random operations on reservations, and what must hold after each.
 */
#include "tests/model/paging_model.h"

enum { MOST_RUNS = PAGED_PAGES, ALL_PAGES = PAGED_TABLES * PAGED_PAGES };

static bool same_place(const struct paged_page* a, const struct paged_page* b)
{
    const bool none = a->token == 0;
    return none == (b->token == 0) && (none || (a->memory == b->memory && a->offset == b->offset));
}

static uint32_t below(struct paged_model* m, uint32_t bound)
{
    return rig_below(&m->random, bound);
}

static struct paged_table* pick(struct paged_model* m)
{
    struct paged_table* table = &m->tables[below(m, PAGED_TABLES)];
    return table->reservation != VK_NULL_HANDLE ? table : NULL;
}

/* ---- comparing ---- */

/* What Maar says lies where; the token of each page must be known, its place is learnt. */
static void compare_runs(struct paged_model* m, struct paged_table* table)
{
    static MaarPageRun runs[MOST_RUNS];
    uint32_t count = MOST_RUNS;
    assert_int_equal(
        maarEnumerateReservationPages(m->rig.allocator, table->reservation, &count, runs),
        VK_SUCCESS);
    uint32_t page = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize first = runs[i].offset / table->page_size;
        assert_int_equal(runs[i].offset % table->page_size, 0);
        assert_true(first >= page && first < table->page_count);
        for (; page < first; ++page) {
            assert_true(table->wanted[page].token == 0);
        }
        const VkDeviceSize length = (runs[i].size + table->page_size - 1) / table->page_size;
        for (VkDeviceSize k = 0; k < length; ++k, ++page) {
            struct paged_page* wanted = &table->wanted[page];
            assert_true(page < table->page_count && wanted->token != 0);
            const VkDeviceSize offset = runs[i].memoryOffset + k * table->page_size;
            if (wanted->memory == VK_NULL_HANDLE) {
                wanted->memory = runs[i].memory;
                wanted->offset = offset;
            }
            assert_true(wanted->memory == runs[i].memory);
            assert_int_equal(wanted->offset, offset);
        }
    }
    for (; page < table->page_count; ++page) {
        assert_true(table->wanted[page].token == 0);
    }
}

/* The driver's own map is what the last submission should have made of it. */
static void compare_driver(struct paged_model* m, const struct paged_table* table)
{
    static MaarSimulatedPages runs[MOST_RUNS];
    static struct paged_page found[PAGED_PAGES];
    uint32_t count = MOST_RUNS;
    assert_int_equal(maarSimulatedEnumeratePages(m->rig.device, VK_OBJECT_TYPE_BUFFER,
                                                 (uint64_t)table->buffer, &count, runs),
                     VK_SUCCESS);
    memset(found, 0, sizeof found);
    for (uint32_t i = 0; i < count; ++i) {
        for (VkDeviceSize at = 0; at < runs[i].size; at += table->page_size) {
            const VkDeviceSize page = (runs[i].offset + at) / table->page_size;
            assert_true(page < table->page_count);
            found[page] = (struct paged_page){1, runs[i].memory, runs[i].memoryOffset + at};
        }
    }
    for (uint32_t page = 0; page < table->page_count; ++page) {
        if (!same_place(&table->device[page], &found[page])) {
            fail_msg("page %u of %u is not where the last submission put it", (unsigned)page,
                     (unsigned)table->page_count);
        }
    }
}

static int order_pages(const void* one, const void* other)
{
    const struct paged_page* a = one;
    const struct paged_page* b = other;
    if (a->memory != b->memory) {
        return (uint64_t)a->memory < (uint64_t)b->memory ? -1 : 1;
    }
    return a->offset < b->offset ? -1 : a->offset > b->offset ? 1 : 0;
}

/* Two pages are in one place only if they are the same one. Returns how many there are. */
static uint64_t count_distinct(struct paged_model* m)
{
    static struct paged_page all[ALL_PAGES];
    uint32_t count = 0;
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        const struct paged_table* table = &m->tables[t];
        for (uint32_t page = 0; table->reservation != VK_NULL_HANDLE && page < table->page_count;
             ++page) {
            if (table->wanted[page].token != 0) {
                all[count++] = table->wanted[page];
            }
        }
    }
    qsort(all, count, sizeof all[0], order_pages);
    uint64_t distinct = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (i == 0 || order_pages(&all[i - 1], &all[i]) != 0) {
            ++distinct;
        } else {
            assert_true(all[i - 1].token == all[i].token);
        }
    }
    return distinct;
}

static uint64_t count_recorded(const struct paged_model* m)
{
    uint64_t recorded = 0;
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        const struct paged_table* table = &m->tables[t];
        for (uint32_t page = 0; table->reservation != VK_NULL_HANDLE && page < table->page_count;
             ++page) {
            recorded += !same_place(&table->wanted[page], &table->device[page]);
        }
    }
    return recorded;
}

static MaarPagingStatistics paging_statistics(struct paged_model* m)
{
    MaarPagingStatistics s = {.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS};
    assert_int_equal(maarGetPagingStatistics(m->rig.allocator, &s), VK_SUCCESS);
    return s;
}

static void check(struct paged_model* m)
{
    uint32_t live = 0;
    VkDeviceSize page_size = 0;
    rig_check(&m->rig);
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        struct paged_table* table = &m->tables[t];
        if (table->reservation == VK_NULL_HANDLE) {
            continue;
        }
        ++live;
        page_size = table->page_size;
        compare_runs(m, table);
        if (!m->held) {
            compare_driver(m, table);
        }
    }
    const MaarPagingStatistics s = paging_statistics(m);
    const MaarStatistics all = rig_statistics(&m->rig, VK_NULL_HANDLE);
    assert_int_equal(s.reservationCount, live);
    const VkDeviceSize committed = count_distinct(m) * page_size;
    if (m->dying ? s.committedBytes < committed : s.committedBytes != committed) {
        fail_msg("%llu bytes are committed, not %llu", (unsigned long long)s.committedBytes,
                 (unsigned long long)committed);
    }
    assert_true(s.committedBytes + s.freeBytes + s.heldBytes == s.blockBytes);
    assert_true(s.blockBytes <= s.peakBlockBytes);
    assert_true(all.blockBytes == s.blockBytes);
    assert_true(all.allocationBytes == s.committedBytes);
    assert_true(all.freeBytes == s.freeBytes && all.pendingBytes == s.heldBytes);
    const uint64_t recorded = count_recorded(m);
    if (m->dying || m->scarce ? s.recordedPages < recorded : s.recordedPages != recorded) {
        fail_msg("%llu pages are recorded, not %llu", (unsigned long long)s.recordedPages,
                 (unsigned long long)recorded);
    }
    const MaarSimulatedCounters counters = rig_counters(&m->rig);
    if (counters.violationCount != 0) {
        fail_msg("%s", m->rig.violation);
    }
}

/* ---- operations ---- */

static void create(struct paged_model* m)
{
    struct paged_table* table = &m->tables[below(m, PAGED_TABLES)];
    if (table->reservation != VK_NULL_HANDLE) {
        return;
    }
    memset(table, 0, sizeof *table);
    VkBufferCreateInfo buffer = rig_buffer_info(1000);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    table->pooled = below(m, 3) == 0;
    how.pool = table->pooled ? m->pool : VK_NULL_HANDLE;
    table->aliased = m->may_alias && below(m, 2) == 0;
    /* The page's size is known once there is a buffer: twice, then. */
    for (int turn = 0; turn < 2; ++turn) {
        const MaarReservationCreateInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
            .flags =
                MAAR_RESERVATION_CREATE_SPARSE_ONLY_BIT |
                (table->aliased ? (MaarReservationCreateFlags)MAAR_RESERVATION_CREATE_ALIASED_BIT
                                : 0),
            .pBufferInfo = &buffer,
            .pMemoryInfo = &how,
        };
        MaarReservationInfo known = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
        if (maarCreateReservation(m->rig.allocator, &info, &table->reservation) != VK_SUCCESS) {
            fail_msg("%s", m->rig.messages.last);
        }
        assert_int_equal(maarGetReservationInfo(m->rig.allocator, table->reservation, &known),
                         VK_SUCCESS);
        table->page_size = known.pageSize;
        table->buffer = known.buffer;
        table->size = known.size;
        if (turn == 0) {
            maarDestroyReservation(m->rig.allocator, table->reservation);
            const uint32_t pages = 1 + below(m, PAGED_PAGES);
            buffer.size = pages * known.pageSize - below(m, (uint32_t)known.pageSize);
        }
    }
    table->page_count = (uint32_t)((table->size + table->page_size - 1) / table->page_size);
    assert_in_range(table->page_count, 1, PAGED_PAGES);
}

static void destroy(struct paged_model* m, struct paged_table* table)
{
    const MaarPoint point = {m->work, m->work_value};
    if (m->held || below(m, 2) == 0) {
        assert_int_equal(
            maarDestroyReservationAfter(m->rig.allocator, table->reservation, 1, &point),
            VK_SUCCESS);
    } else {
        maarDestroyReservation(m->rig.allocator, table->reservation);
    }
    table->reservation = VK_NULL_HANDLE;
    m->dying = true;
    m->sealed = true;
}

static MaarPageRange some_range(struct paged_model* m, const struct paged_table* table)
{
    const uint32_t first = below(m, table->page_count);
    uint32_t count = 1 + below(m, below(m, 4) == 0 ? 100 : 8);
    count = count < table->page_count - first ? count : table->page_count - first;
    MaarPageRange range = {first * table->page_size, count * table->page_size};
    if (below(m, 4) == 0) {
        range.offset += below(m, (uint32_t)table->page_size);
    }
    const VkDeviceSize rest = table->size - (range.offset < table->size ? range.offset : 0);
    range.offset = table->size - rest;
    range.size = range.size < rest ? range.size : rest;
    if (below(m, 10) == 0) {
        range.size = VK_WHOLE_SIZE;
    }
    return range;
}

static void commit(struct paged_model* m, struct paged_table* table)
{
    MaarPageRange ranges[4];
    const uint32_t count = below(m, 5);
    for (uint32_t i = 0; i < count; ++i) {
        ranges[i] = some_range(m, table);
    }
    const VkResult result = maarCommitPages(m->rig.allocator, table->reservation, count, ranges);
    if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
        /* A page that was given back and is not unbound yet is shown elsewhere. */
        if (!table->aliased || m->rig.messages.last_id != MAAR_MESSAGE_ID_PAGES_NOT_SUBMITTED) {
            fail_msg("commit: %s", m->rig.messages.last);
        }
        return;
    }
    if (result != VK_SUCCESS) {
        assert_true(result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_TOO_MANY_OBJECTS);
        ++m->unmet;
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const VkDeviceSize end =
            ranges[i].size == VK_WHOLE_SIZE ? table->size : ranges[i].offset + ranges[i].size;
        for (VkDeviceSize at = ranges[i].offset / table->page_size * table->page_size; at < end;
             at += table->page_size) {
            struct paged_page* page = &table->wanted[at / table->page_size];
            if (page->token == 0) {
                *page = (struct paged_page){.token = ++m->last_token};
            }
        }
    }
}

static void decommit(struct paged_model* m, struct paged_table* table)
{
    const MaarPageRange range = some_range(m, table);
    assert_int_equal(maarDecommitPages(m->rig.allocator, table->reservation, 1, &range),
                     VK_SUCCESS);
    const VkDeviceSize end = range.size == VK_WHOLE_SIZE ? table->size : range.offset + range.size;
    for (uint32_t page = 0; page < table->page_count; ++page) {
        const VkDeviceSize first = page * table->page_size;
        const VkDeviceSize last = first + table->page_size;
        if (first >= range.offset && (last <= end || end == table->size)) {
            table->wanted[page] = (struct paged_page){.token = 0};
        }
    }
}

static void alias(struct paged_model* m, struct paged_table* table)
{
    struct paged_table* source = pick(m);
    if (source == NULL || !table->aliased || !source->aliased || table->pooled != source->pooled) {
        return;
    }
    const uint32_t from = below(m, source->page_count);
    const uint32_t to = below(m, table->page_count);
    uint32_t count = 0;
    const uint32_t most = 1 + below(m, 10);
    /* The target has no pages, and the device has none there that were given back. */
    while (count < most && from + count < source->page_count && to + count < table->page_count &&
           source->wanted[from + count].token != 0 && table->wanted[to + count].token == 0 &&
           table->device[to + count].token == 0) {
        ++count;
    }
    if (count == 0) {
        return;
    }
    VkDeviceSize size = count * table->page_size;
    const VkDeviceSize rest = table->size - to * table->page_size;
    const VkDeviceSize source_rest = source->size - from * source->page_size;
    size = size < rest ? size : rest;
    if (size > source_rest) {
        return; /* the source's last page is cut, and the target's is not */
    }
    const VkResult result =
        maarAliasPages(m->rig.allocator, table->reservation, to * table->page_size, size,
                       source->reservation, from * source->page_size);
    if (result == VK_ERROR_VALIDATION_FAILED_EXT) {
        fail_msg("alias %u pages: %s", (unsigned)count, m->rig.messages.last);
    }
    assert_int_equal(result, VK_SUCCESS);
    memmove(&table->wanted[to], &source->wanted[from], count * sizeof table->wanted[0]);
}

static void submit(struct paged_model* m)
{
    const MaarPoint point = {m->work, m->work_value};
    assert_int_equal(maarSubmitBinds(m->rig.allocator, 1, &point, &m->bound), VK_SUCCESS);
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        struct paged_table* table = &m->tables[t];
        memcpy(table->device, table->wanted, sizeof table->device);
    }
    m->sealed = false;
    ++m->binds;
}

/* Commands that write pages which the device has, after they were bound. */
static void use(struct paged_model* m, const struct paged_table* table)
{
    const uint32_t page = below(m, table->page_count);
    if (table->device[page].token == 0 || m->bound.semaphore == VK_NULL_HANDLE) {
        return;
    }
    uint32_t end = page + 1;
    while (end < table->page_count && table->device[end].token != 0) {
        ++end;
    }
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = m->commands,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const uint64_t signal = m->work_value + 1;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &m->bound.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    const VkSubmitInfo submission = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &m->bound.semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &m->work,
    };
    assert_int_equal(vkAllocateCommandBuffers(m->rig.device, &info, &commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdFillBuffer(commands, table->buffer, page * table->page_size,
                    (end - page) * table->page_size, 0);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(m->rig.queue, 1, &submission, VK_NULL_HANDLE), VK_SUCCESS);
    m->work_value = signal;
    ++m->uses;
}

/* Takes a batch of a run, and submits its copies. */
static void begin_moves(struct paged_model* m)
{
    static MaarPageMove moves[PAGED_MOVES];
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = below(m, 4) != 0 ? m->pool : VK_NULL_HANDLE,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxMoves = 1 + below(m, PAGED_MOVES),
    };
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(m->rig.allocator, &info, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(m->rig.allocator, run, &limits, &m->batch),
                     VK_SUCCESS);
    maarEndDefragmentation(m->rig.allocator, run);
    m->move_count = 0;
    if (m->batch == VK_NULL_HANDLE) {
        return;
    }
    uint32_t count = PAGED_MOVES;
    for (uint32_t i = 0; i < PAGED_MOVES; ++i) {
        moves[i] = (MaarPageMove){.sType = MAAR_STRUCTURE_TYPE_PAGE_MOVE};
    }
    assert_int_equal(maarGetPageMoves(m->rig.allocator, m->batch, &count, moves), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        const struct paged_table* table = m->tables;
        while (table < m->tables + PAGED_TABLES &&
               (table->reservation == VK_NULL_HANDLE || table->buffer != moves[i].buffer)) {
            ++table;
        }
        assert_true(table < m->tables + PAGED_TABLES);
        for (VkDeviceSize at = 0; at < moves[i].size; at += table->page_size) {
            const uint32_t page = (uint32_t)((moves[i].offset + at) / table->page_size);
            assert_true(same_place(&table->wanted[page], &table->device[page]));
            m->moves[m->move_count++] =
                (struct paged_move){table->buffer, page, table->wanted[page].token};
        }
    }
    const MaarPoint point = {m->work, m->work_value};
    const MaarMoveSubmitInfo submission = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO,
        .queueIndex = m->rig.create_info.queueCount - 1,
        .waitCount = 1,
        .pWaits = &point,
    };
    assert_int_equal(maarSubmitMoves(m->rig.allocator, m->batch, &submission, NULL), VK_SUCCESS);
}

/* How many pages of all tables have a token. */
static uint32_t count_token(const struct paged_model* m, uint64_t token)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        const struct paged_table* table = &m->tables[t];
        for (uint32_t page = 0; table->reservation != VK_NULL_HANDLE && page < table->page_count;
             ++page) {
            count += table->wanted[page].token == token;
        }
    }
    return count;
}

/* Commits the batch, or cancels it. A page moves if it has been the same all the time, and nobody
 * else shows it now. */
static void end_moves(struct paged_model* m)
{
    const MaarPoint point = {m->work, m->work_value};
    uint32_t expected = 0;
    uint32_t moved = 0;
    if (below(m, 4) == 0) {
        assert_int_equal(maarCancelMoves(m->rig.allocator, m->batch, 1, &point), VK_SUCCESS);
        m->batch = VK_NULL_HANDLE;
        return;
    }
    assert_int_equal(maarCommitMoves(m->rig.allocator, m->batch, 1, &point, &moved), VK_SUCCESS);
    m->batch = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < m->move_count; ++i) {
        const struct paged_move* move = &m->moves[i];
        for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
            struct paged_table* table = &m->tables[t];
            struct paged_page* wanted = &table->wanted[move->page];
            if (table->reservation != VK_NULL_HANDLE && table->buffer == move->buffer &&
                wanted->token == move->token && count_token(m, move->token) == 1) {
                *wanted = (struct paged_page){.token = ++m->last_token};
                ++expected;
            }
        }
    }
    assert_int_equal(moved, expected);
    m->moved += moved;
}

static void hold(struct paged_model* m, bool held)
{
    maarSimulatedSetFlags(m->rig.physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT |
                                               (held ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0U));
    m->held = held;
}

static void step(struct paged_model* m)
{
    const uint32_t what = below(m, 100);
    struct paged_table* table = pick(m);
    if (what < 8 || table == NULL) {
        create(m);
    } else if (what < 32) {
        commit(m, table);
    } else if (what < 36) {
        if (m->batch == VK_NULL_HANDLE) {
            begin_moves(m);
        } else {
            end_moves(m);
        }
    } else if (what < 50) {
        decommit(m, table);
    } else if (what < 60) {
        alias(m, table);
    } else if (what < 75) {
        submit(m);
    } else if (what < 87) {
        use(m, table);
    } else if (what < 90) {
        destroy(m, table);
    } else if (what < 92) {
        assert_int_equal(maarTrim(m->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    } else if (what < 94) {
        assert_int_equal(maarCollect(m->rig.allocator, NULL), VK_SUCCESS);
        m->dying = m->dying && (m->held || m->sealed);
    } else if (what < 97) {
        (void)maarSimulatedExecuteSubmissions(m->rig.physical, 1 + below(m, 4));
    } else {
        hold(m, !m->held);
    }
}

/* ---- life ---- */

static void open(struct paged_model* m, const MaarSimulatedProfile* profile)
{
    const struct rig_setup setup = {.profile = profile,
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT,
                                    .count_host = true,
                                    .paging = true};
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
        .pageBlockSize = 2 * MIB,
    };
    const MaarPoolCreateInfo pool = {.pNext = &paging, .memoryTypeIndex = 0};
    rig_start(&m->rig, &setup);
    MaarPagingInfo info = {.sType = MAAR_STRUCTURE_TYPE_PAGING_INFO};
    assert_int_equal(maarGetPagingInfo(m->rig.allocator, &info), VK_SUCCESS);
    assert_true(info.sparseReservations);
    m->may_alias = info.aliasing == VK_TRUE;
    m->scarce = rig_allocator_info(&m->rig).memoryProperties.memoryHeaps[0].size < GIB;
    m->pool = rig_create_pool(&m->rig, &pool);
    m->work = rig_create_timeline(&m->rig, 0);
    const VkCommandPoolCreateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = m->rig.families[0],
    };
    assert_int_equal(vkCreateCommandPool(m->rig.device, &commands, NULL, &m->commands), VK_SUCCESS);
}

static void end(struct paged_model* m)
{
    if (m->batch != VK_NULL_HANDLE) {
        end_moves(m);
    }
    for (uint32_t t = 0; t < PAGED_TABLES; ++t) {
        if (m->tables[t].reservation != VK_NULL_HANDLE) {
            destroy(m, &m->tables[t]);
        }
    }
    hold(m, false);
    submit(m);
    assert_int_equal(maarWaitPending(m->rig.allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(maarTrim(m->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    rig_check(&m->rig);
    const MaarPagingStatistics s = paging_statistics(m);
    assert_int_equal(s.reservedBytes, 0);
    assert_int_equal(s.committedBytes, 0);
    assert_int_equal(s.blockBytes, 0);
    assert_int_equal(s.recordedPages, 0);
    assert_int_equal(s.reservationCount, 0);
    const MaarSimulatedCounters counters = rig_counters(&m->rig);
    assert_int_equal(counters.freedBoundBytes, 0);
    assert_int_equal(counters.sparseBoundBytes, 0);
    maarDestroyPool(m->rig.allocator, m->pool);
    vkDestroyCommandPool(m->rig.device, m->commands, NULL);
    maarDestroyAllocator(m->rig.allocator);
    m->rig.allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(m->rig.device, m->work, NULL);
    rig_close(&m->rig);
}

void paged_model_run(struct paged_model* model, const MaarSimulatedProfile* profile, uint64_t seed,
                     uint32_t steps)
{
    memset(model, 0, sizeof *model);
    model->random.state = seed;
    open(model, profile);
    for (uint32_t i = 0; i < steps; ++i) {
        step(model);
        check(model);
    }
    end(model);
}
