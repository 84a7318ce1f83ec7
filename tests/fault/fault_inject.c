/*
 * Making one step fail at one point.
 */
#include "tests/fault/fault_inject.h"

#include "tests/fault/fault_balance.h"
#include "tests/fault/fault_codes.h"
#include "tests/fault/fault_fds.h"
#include "tests/fault/fault_rubbish.h"

enum { MOST_BLOCKS = 64, MOST_REPEATS = 40 };

struct snapshot {
    MaarStatistics totals;
    MaarPagingStatistics paging;
    MaarSimulatedCounters driver;
    uint64_t host_live;
    uint64_t host_bytes;
    uint32_t fds;
    uint64_t peer_alive;
    uint32_t block_count;
    MaarBlockInfo blocks[MOST_BLOCKS];
};

/* ---- before and after ---- */

static void take_snapshot(struct rig* rig, const struct fault_step* step, struct snapshot* snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->totals = rig_statistics(rig, VK_NULL_HANDLE);
    snapshot->paging.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS;
    assert_int_equal(maarGetPagingStatistics(rig->allocator, &snapshot->paging), VK_SUCCESS);
    snapshot->driver = rig_counters(rig);
    snapshot->host_live = atomic_load(&rig->host.live);
    snapshot->host_bytes = atomic_load(&rig->host.live_bytes);
    snapshot->fds = fault_open_fds() - (uint32_t)snapshot->driver.fdsReused;
    snapshot->peer_alive = step->peer != NULL ? step->peer->alive() : 0;
    snapshot->block_count = MOST_BLOCKS;
    for (uint32_t i = 0; i < MOST_BLOCKS; ++i) {
        snapshot->blocks[i].sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO;
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, VK_NULL_HANDLE, &snapshot->block_count,
                                         snapshot->blocks),
                     VK_SUCCESS);
}

static void expect_same_pending(const struct fault_step* step, const MaarStatistics* a,
                                const MaarStatistics* b)
{
    if (step->joins && b->pendingCount < a->pendingCount) {
        assert_int_equal(b->pendingCount, 1);
        assert_true(b->pendingBytes >= a->pendingBytes);
        assert_true(a->pendingBytes + a->paddingBytes + a->freeBytes ==
                    b->pendingBytes + b->paddingBytes + b->freeBytes);
        return;
    }
    assert_int_equal(a->pendingCount, b->pendingCount);
    assert_true(a->pendingBytes == b->pendingBytes);
    assert_true(a->paddingBytes == b->paddingBytes && a->freeBytes == b->freeBytes);
}

static void expect_same_totals(const struct fault_step* step, const MaarStatistics* a,
                               const MaarStatistics* b)
{
    assert_int_equal(a->blockCount, b->blockCount);
    assert_int_equal(a->dedicatedCount, b->dedicatedCount);
    assert_int_equal(a->allocationCount, b->allocationCount);
    assert_true(a->blockBytes == b->blockBytes && a->dedicatedBytes == b->dedicatedBytes);
    assert_true(a->allocationBytes == b->allocationBytes);
    expect_same_pending(step, a, b);
    assert_int_equal(a->sliceCount, b->sliceCount);
    assert_int_equal(a->pendingSliceCount, b->pendingSliceCount);
    assert_true(a->sliceBytes == b->sliceBytes && a->pendingSliceBytes == b->pendingSliceBytes);
    assert_true(a->failureCount <= b->failureCount);
}

static void expect_same_pages(const MaarPagingStatistics* a, const MaarPagingStatistics* b)
{
    assert_true(a->reservedBytes == b->reservedBytes && a->committedBytes == b->committedBytes);
    assert_true(a->heldBytes == b->heldBytes && a->freeBytes == b->freeBytes);
    assert_true(a->blockBytes == b->blockBytes && a->blockCount == b->blockCount);
    assert_int_equal(a->reservationCount, b->reservationCount);
    assert_int_equal(a->stitchedCount, b->stitchedCount);
    assert_true(a->stitchedMade == b->stitchedMade && a->copiedBytes == b->copiedBytes);
    assert_true(a->pagesBound == b->pagesBound && a->pagesUnbound == b->pagesUnbound);
    assert_true(a->bindCount == b->bindCount && a->submissionCount == b->submissionCount);
    assert_int_equal(a->recordedPages, b->recordedPages);
}

/* Counters of calls and failures, and peaks, are what they are. */
static void expect_unchanged(const struct fault_step* step, const struct snapshot* before,
                             const struct snapshot* now)
{
    expect_same_totals(step, &before->totals, &now->totals);
    expect_same_pages(&before->paging, &now->paging);
    assert_true(before->driver.sparseBoundBytes == now->driver.sparseBoundBytes);
    assert_memory_equal(before->driver.liveCount, now->driver.liveCount,
                        step->keeps_warm
                            ? (MAAR_SIMULATED_OBJECT_IMAGE + 1) * sizeof now->driver.liveCount[0]
                            : sizeof now->driver.liveCount);
    assert_memory_equal(before->driver.heapLive, now->driver.heapLive, sizeof now->driver.heapLive);
    assert_true(before->driver.exportableLive == now->driver.exportableLive);
    assert_true(before->driver.importedLive == now->driver.importedLive);
    if (!step->keeps_fds) {
        assert_int_equal(before->fds, now->fds);
    }
    assert_int_equal(before->peer_alive, now->peer_alive);
    if (!step->maps) {
        assert_int_equal(before->driver.mappedCount, now->driver.mappedCount);
    }
    assert_int_equal(before->driver.violationCount, now->driver.violationCount);
    assert_int_equal(before->block_count, now->block_count);
    for (uint32_t i = 0; i < now->block_count; ++i) {
        assert_true(before->blocks[i].memory == now->blocks[i].memory);
        assert_true(before->blocks[i].allocationBytes == now->blocks[i].allocationBytes);
    }
    if (!step->session) { /* there the calls before the failing one did succeed */
        assert_true(before->totals.allocationsMade == now->totals.allocationsMade);
        assert_true(before->totals.fallbackCount == now->totals.fallbackCount);
        assert_true(before->totals.overBudgetCount == now->totals.overBudgetCount);
    }
}

/* ---- one device ---- */

static MaarSimulatedFlags extra_flags;

void fault_set_flags(MaarSimulatedFlags flags)
{
    extra_flags = flags;
}

static void open_context(struct fault_context* c, const struct fault_step* step)
{
    const struct rig_setup setup = {
        .profile = step->profile != NULL ? step->profile() : NULL,
        .flags = (step->paging ? 0 : (MaarSimulatedFlags)MAAR_SIMULATED_ALLOW_ALIASING_BIT) |
                 extra_flags,
        .sharing = step->sharing != NULL ? step->sharing()
                   : step->shares        ? rig_sharing_everything()
                                         : NULL,
        .off = step->off,
        .paging = step->paging,
        .count_host = true,
    };
    memset(c, 0, sizeof *c);
    rig_open(&c->rig, &setup);
    fault_host_init(&c->host, &c->rig.host_callbacks);
    c->rig.create_info.pAllocationCallbacks = &c->host.callbacks;
    fault_use_rubbish(&c->rig.create_info);
    rig_make_allocator(&c->rig);
    if (step->prepare != NULL) {
        step->prepare(c);
    }
}

static void close_context(struct fault_context* c, const struct fault_step* step)
{
    if (step->undo != NULL) {
        step->undo(c);
    }
    if (step->finish != NULL) {
        step->finish(c);
    }
    assert_int_equal(maarTrim(c->rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    fault_expect_empty(&c->rig);
    rig_close(&c->rig);
}

/* ---- without a fault ---- */

static void note_call(void* data, const char* function)
{
    struct fault_course* course = data;
    VkResult codes[FAULT_MOST_CODES];
    if (fault_codes_of(function, codes) > 0) {
        assert_true(course->driver_calls < FAULT_MOST_CALLS);
        course->functions[course->driver_calls++] = function;
    }
}

static void count_peer_calls(const struct fault_step* step, uint64_t* calls)
{
    for (uint32_t i = 0; step->peer != NULL && step->peer->functions[i] != NULL; ++i) {
        assert_true(i < FAULT_MOST_PEER_FUNCTIONS);
        calls[i] = step->peer->calls(step->peer->functions[i]) - calls[i];
    }
}

struct fault_course fault_follow(const struct fault_step* step)
{
    static struct fault_context context;
    struct fault_course course = {.host_calls = 0};
    open_context(&context, step);
    uint64_t before = rig_counters(&context.rig).fallibleCallCount;
    fault_host_arm(&context.host, 0, 0);
    context.rig.call_data = &course;
    context.rig.call = note_call;
    count_peer_calls(step, course.peer_calls);
    assert_int_equal(step->run(&context), VK_SUCCESS);
    context.rig.call = NULL;
    count_peer_calls(step, course.peer_calls);
    course.host_calls = atomic_load(&context.host.calls);
    /* Else a call is missing in fault_codes.c. */
    assert_int_equal(rig_counters(&context.rig).fallibleCallCount - before, course.driver_calls);
    close_context(&context, step);
    return course;
}

/* ---- with one ---- */

static void arm(struct fault_context* c, const struct fault_step* step,
                const struct fault_point* point)
{
    switch (point->kind) {
    case FAULT_HOST_ONCE:
        fault_host_arm(&c->host, point->nth, 1);
        break;
    case FAULT_HOST_EVER:
        fault_host_arm(&c->host, point->nth, UINT64_MAX);
        break;
    case FAULT_DRIVER_ONCE:
        rig_set_fault(&c->rig, NULL, point->nth, 1, point->code);
        break;
    case FAULT_DRIVER_EVER:
        rig_set_fault(&c->rig, NULL, point->nth, UINT64_MAX, point->code);
        break;
    case FAULT_FDS:
        fault_limit_fds(point->nth);
        break;
    case FAULT_PEER_ONCE:
        step->peer->set_fault(point->function, point->nth, 1, point->peer_code);
        break;
    case FAULT_PEER_EVER:
        step->peer->set_fault(point->function, point->nth, UINT64_MAX, point->peer_code);
        break;
    case FAULT_DRIVER_PAIR: /* the call that the first one hits does not count for the second */
        rig_set_fault(&c->rig, NULL, point->nth, 1, point->code);
        rig_set_fault(&c->rig, NULL, point->nth - 1 + point->second, 1, point->code);
        break;
    }
}

/* Returns how many faults struck since it was armed. */
static uint64_t disarm(struct fault_context* c, const struct fault_step* step,
                       const struct fault_point* point, const struct snapshot* before)
{
    uint64_t host = fault_host_disarm(&c->host);
    uint64_t driver = rig_counters(&c->rig).faultCount - before->driver.faultCount;
    rig_clear_faults(&c->rig);
    fault_free_fds();
    if (step->peer != NULL) {
        step->peer->set_fault(NULL, 0, 0, 0);
    }
    return point->kind <= FAULT_HOST_EVER ? host : driver;
}

/* What the peer's errors may become, of which it has some of its own when descriptors are short;
 * what the codes mean is the business of other tests. */
static void expect_peer_code(VkResult result)
{
    if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY && result != VK_ERROR_INVALID_EXTERNAL_HANDLE &&
        result != VK_ERROR_INITIALIZATION_FAILED && result != VK_ERROR_INCOMPATIBLE_DRIVER &&
        result != VK_ERROR_UNKNOWN) {
        fail_msg("the call answers %d for an error of the peer's", (int)result);
    }
}

static void expect_code(const struct fault_step* step, const struct fault_point* point,
                        VkResult result)
{
    const bool is_short = point->kind == FAULT_FDS && result != VK_ERROR_TOO_MANY_OBJECTS;
    if (point->kind >= FAULT_PEER_ONCE || (is_short && step->peer != NULL)) {
        expect_peer_code(result);
        return;
    }
    const VkResult expected = point->kind <= FAULT_HOST_EVER ? VK_ERROR_OUT_OF_HOST_MEMORY
                              : point->kind == FAULT_FDS     ? VK_ERROR_TOO_MANY_OBJECTS
                                                             : point->code;
    /* What a driver knows no format for is not there to be shared, and the simulated one needs a
     * descriptor to map what may be exported. */
    const bool translated =
        step->shares &&
        ((expected == VK_ERROR_FORMAT_NOT_SUPPORTED && result == VK_ERROR_FEATURE_NOT_PRESENT) ||
         (is_short && result == VK_ERROR_MEMORY_MAP_FAILED));
    if (result != expected && !translated) {
        fail_msg("the call answers %d where %d was the trouble", (int)result, (int)expected);
    }
}

struct trial {
    uint64_t struck;
    VkResult result;
    bool done; /* it succeeded, or what it says comes to the same */
    uint64_t host_live;
    uint64_t host_bytes;
    uint64_t live; /* objects of the driver */
    uint32_t fds;
};

static uint64_t count_live(const struct snapshot* snapshot)
{
    uint64_t live = 0;
    for (uint32_t i = 0; i < MAAR_SIMULATED_OBJECT_COUNT; ++i) {
        live += snapshot->driver.liveCount[i];
    }
    return live;
}

static struct trial try_once(struct fault_context* c, const struct fault_step* step,
                             const struct fault_point* point)
{
    static struct snapshot before;
    static struct snapshot after;
    struct trial trial = {.struck = 0};
    take_snapshot(&c->rig, step, &before);
    arm(c, step, point);
    trial.result = step->run(c);
    trial.struck = disarm(c, step, point, &before);
    if (point->kind >= FAULT_FDS) {
        trial.struck = trial.result != VK_SUCCESS ? 1 : 0;
    }
    trial.done =
        trial.result == VK_SUCCESS || (step->lost_is_done && trial.result == VK_ERROR_DEVICE_LOST);
    assert_true(trial.done || trial.struck > 0);
    fault_expect_balance(&c->rig);
    if (step->lost_is_done && trial.result == VK_ERROR_DEVICE_LOST) {
        assert_int_equal(rig_statistics(&c->rig, VK_NULL_HANDLE).pendingCount, 0);
    }
    if (trial.result != VK_SUCCESS) {
        expect_code(step, point, trial.result);
    }
    if (!trial.done) {
        take_snapshot(&c->rig, step, &after);
        if (!step->partial) {
            expect_unchanged(step, &before, &after);
        }
        /* What is bound is unbound before it is freed, if one call alone fails. */
        if (point->kind != FAULT_DRIVER_EVER && point->kind != FAULT_DRIVER_PAIR) {
            assert_true(before.driver.freedBoundBytes == after.driver.freedBoundBytes);
        }
        trial.host_live = after.host_live;
        trial.host_bytes = after.host_bytes;
        trial.fds = after.fds;
        trial.live = count_live(&after);
    }
    return trial;
}

struct fault_outcome fault_inject(const struct fault_step* step, const struct fault_point* point)
{
    static struct fault_context context;
    const uint32_t fds = fault_open_fds();
    open_context(&context, step);
    struct trial last = try_once(&context, step, point);
    const struct fault_outcome outcome = {.struck = last.struck, .result = last.result};
    /* Tables may grow before a call fails, and stay, but not each time. */
    uint32_t repeats = 0;
    for (bool grows = true; !last.done && grows; ++repeats) {
        struct trial next = try_once(&context, step, point);
        grows = !next.done && !step->partial &&
                (next.host_live != last.host_live || next.host_bytes != last.host_bytes ||
                 next.live != last.live || next.fds != last.fds);
        last = next;
        if (repeats > MOST_REPEATS) {
            fail_msg("%s: host memory grows with each failure at point %u", step->function,
                     (unsigned)point->nth);
        }
    }
    if (!last.done) {
        VkResult result = step->run(&context);
        assert_true(result == VK_SUCCESS ||
                    (step->lost_is_done && point->code == VK_ERROR_DEVICE_LOST));
    }
    close_context(&context, step);
    assert_int_equal(fault_open_fds(), fds);
    return outcome;
}
