/*
 * The ring of uses: see use_log.h. An entry is at its time modulo the size of the ring. A pair is
 * at one of two places, and displaces the older pair there.
 */
#include "core/residency/use_log.h"

#include "core/host_memory.h"

enum {
    /* Uses for each pair. */
    USES_A_PAIR = 4,
    /* How many places beside the expected one an object is looked for, in a submission that is
     * nearly a repetition. */
    SHIFT = 8
};

static struct maar_use_entry* use_at(const struct maar_use_log* log, uint64_t time)
{
    return &log->entries[time & (log->entry_count - 1)];
}

/* Whether the ring still has the use of a time. */
static bool is_kept(const struct maar_use_log* log, uint64_t time)
{
    return time < log->now && log->now - time <= log->entry_count;
}

bool maar_use_log_reserve(struct maar_use_log* log, const VkAllocationCallbacks* callbacks,
                          uint64_t entry_count)
{
    uint64_t count = log->entry_count != 0 ? log->entry_count : 64;
    while (count < entry_count) {
        count *= 2;
    }
    if (count == log->entry_count) {
        return true;
    }
    struct maar_use_log made = *log;
    made.entry_count = count;
    made.entries = maar_host_calloc(callbacks, (size_t)count, sizeof made.entries[0]);
    made.pairs = maar_host_calloc(callbacks, (size_t)(count / USES_A_PAIR), sizeof made.pairs[0]);
    if (made.entries == NULL || made.pairs == NULL) {
        maar_host_free(callbacks, made.entries);
        maar_host_free(callbacks, made.pairs);
        return false;
    }
    const uint64_t kept = log->now < log->entry_count ? log->now : log->entry_count;
    for (uint64_t time = log->now - kept; time < log->now; ++time) {
        *use_at(&made, time) = *use_at(log, time);
    }
    /* Pairs are learned again. */
    maar_use_log_close(log, callbacks);
    *log = made;
    log->model = MAAR_NEVER_USED;
    return true;
}

void maar_use_log_close(struct maar_use_log* log, const VkAllocationCallbacks* callbacks)
{
    maar_host_free(callbacks, log->entries);
    maar_host_free(callbacks, log->pairs);
    log->entries = NULL;
    log->pairs = NULL;
}

/* Notes that a pair occurs now. Returns where it was before, or MAAR_NEVER_USED. */
static uint64_t note_pair(struct maar_use_log* log, uint64_t key)
{
    const uint64_t pair_count = log->entry_count / USES_A_PAIR;
    const uint64_t hash = key * 0x9E3779B97F4A7C15u >> 32;
    struct maar_use_pair* one = &log->pairs[hash & (pair_count - 1)];
    struct maar_use_pair* other = &log->pairs[(hash ^ 1) & (pair_count - 1)];
    struct maar_use_pair* older = one->key == 0 || one->at < other->at ? one : other;
    struct maar_use_pair* chosen = one->key == key ? one : other->key == key ? other : older;
    const uint64_t before = chosen->key == key ? chosen->at : MAAR_NEVER_USED;
    *chosen = (struct maar_use_pair){key, log->now};
    return before;
}

void maar_use_log_begin(struct maar_use_log* log, uint32_t object)
{
    const uint64_t first = (uint64_t)object + 1;
    log->model = note_pair(log, log->first << 32 | first);
    log->first = first;
    log->begin = log->now;
}

/* Returns the gap of the use that corresponds to one of the present submission, or 0. */
static uint64_t corresponding_gap(const struct maar_use_log* log, uint32_t object, uint64_t place)
{
    const uint64_t expected = log->model + place;
    for (uint64_t shift = 0; shift <= SHIFT; ++shift) {
        const uint64_t above = expected + shift;
        const uint64_t below = expected - shift; /* wraps at the beginning: not kept then */
        if (is_kept(log, above) && use_at(log, above)->object == object) {
            return use_at(log, above)->gap;
        }
        if (is_kept(log, below) && use_at(log, below)->object == object) {
            return use_at(log, below)->gap;
        }
    }
    return 0;
}

uint64_t maar_use_log_add(struct maar_use_log* log, uint32_t object, uint64_t last)
{
    const uint64_t since = last != MAAR_NEVER_USED ? log->now - last : 0;
    if (last != MAAR_NEVER_USED && is_kept(log, last)) {
        use_at(log, last)->gap = since < UINT32_MAX ? (uint32_t)since : UINT32_MAX;
    }
    uint64_t gap = 0;
    if (log->model != MAAR_NEVER_USED) {
        gap = corresponding_gap(log, object, log->now - log->begin);
    }
    *use_at(log, log->now) = (struct maar_use_entry){object, 0};
    ++log->now;
    return gap != 0 ? gap : since;
}
