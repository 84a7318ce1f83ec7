/*
 * Histories of captures from inside: see captured.h.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/rig/captured.h"

#include <stdio.h>
#if defined(_WIN32)
#include <process.h>
#define getpid _getpid
#else
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

const char* captured_path(uint32_t number, char path[128])
{
    const char* const folder = getenv("TMPDIR");
    (void)snprintf(path, 128, "%s/maar-inside-%d-%u.maarcap", folder != NULL ? folder : "/tmp",
                   (int)getpid(), number);
    return path;
}

bool captured_limit_disk(uint64_t most_bytes)
{
#if defined(_WIN32)
    (void)most_bytes;
    return false;
#else
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) {
        return false;
    }
    limit.rlim_cur = most_bytes != 0 ? (rlim_t)most_bytes : limit.rlim_max;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
#endif
}

VkResult captured_begin(MaarAllocator allocator, const char* path, uint64_t most_bytes)
{
    const MaarCaptureBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CAPTURE_BEGIN_INFO,
        .pPath = path,
        .maxBytes = most_bytes,
        .pProgram = "a test",
    };
    (void)remove(path);
    return maarBeginCapture(allocator, &info);
}

void captured_load(const char* path, struct support_history* history)
{
    struct support_error error = {{0}};
    const bool loaded = support_history_load(path, history, &error);
    (void)remove(path);
    if (!loaded) {
        print_error("%s\n", error.text);
    }
    assert_true(loaded);
}

/* ---- the history against itself ---- */

/* Bytes of a memory that a resource has, from one event to another. */
struct owned_bytes {
    uint64_t begin, end;
    uint32_t memory;
    uint32_t from, to; /* events */
};

static int by_place(const void* left, const void* right)
{
    const struct owned_bytes* const a = left;
    const struct owned_bytes* const b = right;
    if (a->memory != b->memory) {
        return a->memory < b->memory ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Fails the test if two lie in the same bytes at the same time. Sorted by place. */
static void expect_apart(const struct owned_bytes* owned, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = i + 1;
             j < count && owned[j].memory == owned[i].memory && owned[j].begin < owned[i].end;
             ++j) {
            if (owned[i].from < owned[j].to && owned[j].from < owned[i].to) {
                print_error("bytes %llu of memory %u have two owners, from events %u and %u on\n",
                            (unsigned long long)owned[j].begin, owned[i].memory, owned[i].from,
                            owned[j].from);
                fail();
            }
        }
    }
}

static struct owned_bytes owned_by(const struct support_history* history,
                                   const struct support_history_bind* bind)
{
    const struct support_history_resource* const resource =
        &history->resources.items[bind->resource];
    const struct support_history_memory* const memory = &history->memories.items[bind->memory];
    const struct owned_bytes owned = {
        .begin = bind->offset,
        .end = bind->offset + bind->size,
        .memory = bind->memory,
        .from = bind->begin_event,
        .to = resource->end_event,
    };
    assert_true(owned.end <= memory->size);
    assert_true(memory->begin_event < owned.from);
    assert_true(memory->end_event == SUPPORT_HISTORY_NONE || owned.to < memory->end_event);
    return owned;
}

void captured_check(const struct support_history* history, bool may_alias)
{
    const size_t count = history->binds.count;
    struct owned_bytes* const owned = calloc(count + 1, sizeof *owned);
    assert_non_null(owned);
    assert_int_equal(history->header.origin, MAAR_CAPTURE_ORIGIN_ALLOCATOR);
    assert_int_equal(history->header.state, MAAR_CAPTURE_STATE_COMPLETE);
    assert_int_equal(history->strays, 0);
    assert_int_equal(history->unknown, 0);
    assert_int_equal(history->unfinished, 0);
    for (size_t i = 0; i < count; ++i) {
        assert_int_not_equal(history->binds.items[i].memory, SUPPORT_HISTORY_NONE);
        owned[i] = owned_by(history, &history->binds.items[i]);
    }
    if (!may_alias) {
        qsort(owned, count, sizeof *owned, by_place);
        expect_apart(owned, count);
    }
    free(owned);
}

/* ---- the history against the allocator ---- */

void captured_compare(const struct support_history* history, struct rig* rig)
{
    const MaarStatistics now = rig_statistics(rig, VK_NULL_HANDLE);
    uint64_t blocks = 0;
    uint64_t block_bytes = 0;
    uint64_t bound_bytes = 0;
    for (size_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->end_event == SUPPORT_HISTORY_NONE) {
            blocks += 1;
            block_bytes += memory->size;
            bound_bytes += memory->bound;
        }
    }
    assert_int_equal(blocks, now.blockCount);
    assert_int_equal(block_bytes, now.blockBytes);
    assert_int_equal(bound_bytes, now.allocationBytes + now.pendingBytes);
}

const struct support_history_resource* captured_find(const struct support_history* history,
                                                     const char* name)
{
    for (size_t i = history->resources.count; i > 0; --i) {
        const struct support_history_resource* const found = &history->resources.items[i - 1];
        if (strcmp(support_history_text(history, found->name), name) == 0) {
            return found;
        }
    }
    return NULL;
}

uint32_t captured_count(const struct support_history* history, MaarCaptureKind kind)
{
    uint32_t count = 0;
    for (size_t i = 0; i < history->events.count; ++i) {
        count += history->events.items[i].kind == (uint16_t)kind;
    }
    return count;
}
