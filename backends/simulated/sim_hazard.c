/*
 * A checker of hazards. Each memory has intervals of bytes with one history: the last write, and
 * the reads since. Barriers change the histories when they are executed. An access of the same
 * queue needs a barrier between, whose scopes contain both. An access of another queue needs a
 * semaphore or the host, which sim_known.c knows. A layout transition is a write between the two
 * scopes of its barrier. Reads order a write behind them after the write before them: each read was
 * checked.
 *
 * Only the stages in which this driver executes something are distinguished: copies, and clears,
 * which fill and update buffers too. Stages of semaphore waits are not looked at.
 */
#include "backends/simulated/sim_hazard.h"

#include "backends/simulated/sim_check.h"

#include <string.h>

enum { SIM_MAX_READERS = 4, SIM_FIRST_INTERVALS = 64 };

/* The kinds of accesses to which a write may be visible. */
enum { SIM_COPY_READS = 1, SIM_COPY_WRITES = 2, SIM_CLEAR_WRITES = 4 };

struct sim_reader {
    uint64_t queue, number;
    VkFlags64 chain; /* stages that begin after it */
};

struct sim_history {
    uint64_t written; /* 0: by nothing that is known */
    uint64_t queue, number;
    VkFlags64 stages; /* in which it was written; 0: by a transition */
    VkFlags64 chain;  /* stages that begin after it */
    uint64_t available, visible;
    uint64_t reader_count;
    struct sim_reader readers[SIM_MAX_READERS];
};

struct sim_interval {
    VkDeviceSize begin, end;
    struct sim_history history;
};

/* In mapped pages, so that the driver may grow them under its lock. */
struct sim_intervals {
    size_t mapped;
    uint32_t count, capacity;
    struct sim_interval items[];
};

static const VkFlags64 sim_copy_stage = VK_PIPELINE_STAGE_2_COPY_BIT;
static const VkFlags64 sim_clear_stage = VK_PIPELINE_STAGE_2_CLEAR_BIT;

/* Replaces stages that stand for several ones. */
static VkFlags64 sim_stages_of(VkFlags64 stages, bool first)
{
    const VkFlags64 all = ~(VkFlags64)VK_PIPELINE_STAGE_2_HOST_BIT;
    const VkFlags64 end =
        first ? VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT : VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT;
    if ((stages & (VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | end)) != 0) {
        return stages | all;
    }
    if ((stages & VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT) != 0) {
        stages |= sim_copy_stage | sim_clear_stage;
    }
    return stages;
}

/* The two scopes of a barrier. */
struct sim_scopes {
    VkFlags64 from, to;
    bool makes_available;
    uint64_t makes_visible;
};

static struct sim_scopes sim_scopes_of(const struct sim_barrier* barrier)
{
    const VkFlags64 reads = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT;
    const VkFlags64 writes = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    struct sim_scopes s = {
        .from = sim_stages_of(barrier->from_stages, true),
        .to = sim_stages_of(barrier->to_stages, false),
        .makes_available = (barrier->from_accesses & writes) != 0,
    };
    if ((s.to & sim_copy_stage) != 0) {
        s.makes_visible |= (barrier->to_accesses & reads) != 0 ? SIM_COPY_READS : 0;
        s.makes_visible |= (barrier->to_accesses & writes) != 0 ? SIM_COPY_WRITES : 0;
    }
    if ((s.to & sim_clear_stage) != 0) {
        s.makes_visible |= (barrier->to_accesses & writes) != 0 ? SIM_CLEAR_WRITES : 0;
    }
    return s;
}

/* ---- intervals ---- */

void sim_hazard_release(struct sim_memory* memory)
{
    if (memory->intervals != NULL) {
        sim_pages_unmap(memory->intervals, memory->intervals->mapped);
        memory->intervals = NULL;
    }
}

/* Makes room for `more` intervals. Returns NULL without pages; then nothing is checked. */
static struct sim_intervals* sim_intervals_reserve(struct sim_memory* memory, uint32_t more)
{
    struct sim_intervals* old = memory->intervals;
    if (old != NULL && old->capacity - old->count >= more) {
        return old;
    }
    const uint32_t capacity = old != NULL ? old->capacity * 2 : SIM_FIRST_INTERVALS;
    const size_t size = sizeof(*old) + capacity * sizeof(old->items[0]);
    struct sim_intervals* made = sim_pages_map(size);
    if (made == NULL) {
        return NULL;
    }
    if (old != NULL) {
        memcpy(made->items, old->items, old->count * sizeof(old->items[0]));
        made->count = old->count;
    }
    made->mapped = size;
    made->capacity = capacity;
    sim_hazard_release(memory);
    memory->intervals = made;
    return made;
}

/* Returns the index of the first interval that ends after an offset. */
static uint32_t sim_interval_after(const struct sim_intervals* list, VkDeviceSize offset)
{
    uint32_t low = 0;
    uint32_t high = list->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (list->items[middle].end <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void sim_interval_insert(struct sim_intervals* list, uint32_t at,
                                const struct sim_interval* interval)
{
    memmove(&list->items[at + 1], &list->items[at], (list->count - at) * sizeof(list->items[0]));
    list->items[at] = *interval;
    list->count++;
}

/* Cuts an interval in two at an offset inside it. */
static void sim_interval_cut(struct sim_intervals* list, VkDeviceSize offset)
{
    const uint32_t at = sim_interval_after(list, offset);
    if (at == list->count || list->items[at].begin >= offset) {
        return;
    }
    const struct sim_interval second = {offset, list->items[at].end, list->items[at].history};
    list->items[at].end = offset;
    sim_interval_insert(list, at + 1, &second);
}

static bool sim_interval_continues(const struct sim_interval* one, const struct sim_interval* next)
{
    return one->end == next->begin &&
           memcmp(&one->history, &next->history, sizeof(one->history)) == 0;
}

/* Joins the intervals around [begin, end) that have the same history. */
static void sim_intervals_join(struct sim_intervals* list, VkDeviceSize begin, VkDeviceSize end)
{
    uint32_t at = sim_interval_after(list, begin != 0 ? begin - 1 : 0);
    while (at + 1 < list->count && list->items[at].begin <= end) {
        if (sim_interval_continues(&list->items[at], &list->items[at + 1])) {
            list->items[at].end = list->items[at + 1].end;
            memmove(&list->items[at + 1], &list->items[at + 2],
                    (list->count - at - 2) * sizeof(list->items[0]));
            list->count--;
        } else {
            at++;
        }
    }
}

/* ---- histories ---- */

static void sim_hazard_report(struct sim_hazard* h, const char* what, const struct sim_interval* i,
                              uint64_t queue, uint64_t number)
{
    if (!h->reported) {
        sim_violate(h->device->gpu, h->function, MAAR_SIMULATED_VIOLATION_SYNCHRONIZATION,
                    "bytes [%llu, %llu) of a memory are %s without a dependency on submission %llu "
                    "of queue %llu",
                    (unsigned long long)i->begin, (unsigned long long)i->end, what,
                    (unsigned long long)number, (unsigned long long)queue);
    }
    h->reported = true;
}

/* Returns whether semaphores or the host order a submission before this command. */
static bool sim_hazard_knows(const struct sim_hazard* h, uint64_t queue, uint64_t number)
{
    return h->known->of[queue] >= number;
}

static void sim_check_write_before(struct sim_hazard* h, const struct sim_interval* i,
                                   uint64_t visible, const char* what)
{
    const struct sim_history* s = &i->history;
    const bool barrier = s->queue == h->queue && (s->visible & visible) != 0;
    if (s->written != 0 && !barrier && !sim_hazard_knows(h, s->queue, s->number)) {
        sim_hazard_report(h, what, i, s->queue, s->number);
    }
}

static void sim_check_reads_before(struct sim_hazard* h, const struct sim_interval* i,
                                   VkFlags64 stages, const char* what)
{
    for (uint64_t r = 0; r < i->history.reader_count; r++) {
        const struct sim_reader* reader = &i->history.readers[r];
        const bool barrier = reader->queue == h->queue && (reader->chain & stages) != 0;
        if (!barrier && !sim_hazard_knows(h, reader->queue, reader->number)) {
            sim_hazard_report(h, what, i, reader->queue, reader->number);
        }
    }
}

/* Adds a read. When there is no room, the oldest is forgotten. */
static void sim_history_read(struct sim_history* s, const struct sim_hazard* h)
{
    uint64_t at = 0;
    while (at < s->reader_count && s->readers[at].queue != h->queue) {
        at++;
    }
    if (at == SIM_MAX_READERS) {
        at = 0;
    }
    s->reader_count = at == s->reader_count ? at + 1 : s->reader_count;
    s->readers[at] = (struct sim_reader){h->queue, h->number, 0};
}

static void sim_history_write(struct sim_history* s, const struct sim_hazard* h, VkFlags64 stages)
{
    memset(s, 0, sizeof(*s));
    s->written = 1;
    s->queue = h->queue;
    s->number = h->number;
    s->stages = stages;
}

/* Applies a barrier to the history of one interval. */
static void sim_history_barrier(struct sim_history* s, const struct sim_hazard* h,
                                const struct sim_scopes* scopes)
{
    if (s->written != 0 && s->queue == h->queue && ((s->stages | s->chain) & scopes->from) != 0) {
        s->chain |= scopes->to;
        s->available |= scopes->makes_available ? 1 : 0;
        s->visible |= s->available != 0 ? scopes->makes_visible : 0;
    }
    for (uint64_t r = 0; r < s->reader_count; r++) {
        struct sim_reader* reader = &s->readers[r];
        if (reader->queue == h->queue && ((sim_copy_stage | reader->chain) & scopes->from) != 0) {
            reader->chain |= scopes->to;
        }
    }
}

/* Checks and makes a layout transition of one interval. */
static void sim_history_move(struct sim_hazard* h, struct sim_interval* i,
                             const struct sim_scopes* scopes)
{
    const char* what = "changed by a layout transition";
    struct sim_history* s = &i->history;
    const bool ordered = s->queue == h->queue && ((s->stages | s->chain) & scopes->from) != 0 &&
                         (s->available != 0 || scopes->makes_available);
    if (s->written != 0 && s->reader_count == 0 && !ordered &&
        !sim_hazard_knows(h, s->queue, s->number)) {
        sim_hazard_report(h, what, i, s->queue, s->number);
    }
    for (uint64_t r = 0; r < s->reader_count; r++) {
        const struct sim_reader* reader = &s->readers[r];
        const bool barrier =
            reader->queue == h->queue && ((sim_copy_stage | reader->chain) & scopes->from) != 0;
        if (!barrier && !sim_hazard_knows(h, reader->queue, reader->number)) {
            sim_hazard_report(h, what, i, reader->queue, reader->number);
        }
    }
    sim_history_write(s, h, 0);
    s->chain = scopes->to;
    s->available = 1;
    s->visible = scopes->makes_visible;
}

/* ---- accesses and barriers ---- */

/* Returns the intervals that are exactly [begin, end), blank ones where nothing is known. */
static struct sim_intervals* sim_intervals_of(struct sim_memory* memory, VkDeviceSize begin,
                                              VkDeviceSize end)
{
    struct sim_intervals* list = sim_intervals_reserve(memory, 2);
    if (list == NULL) {
        return NULL;
    }
    sim_interval_cut(list, begin);
    sim_interval_cut(list, end);
    VkDeviceSize at = begin;
    while (at < end) {
        list = sim_intervals_reserve(memory, 2);
        if (list == NULL) {
            return NULL;
        }
        const uint32_t next = sim_interval_after(list, at);
        if (next < list->count && list->items[next].begin <= at) {
            at = list->items[next].end;
            continue;
        }
        struct sim_interval blank;
        memset(&blank, 0, sizeof(blank));
        blank.begin = at;
        blank.end =
            next < list->count && list->items[next].begin < end ? list->items[next].begin : end;
        sim_interval_insert(list, next, &blank);
        at = blank.end;
    }
    return list;
}

static void sim_hazard_check(struct sim_hazard* h, struct sim_memory* memory, VkDeviceSize begin,
                             VkDeviceSize end, bool writes)
{
    struct sim_intervals* list = sim_intervals_of(memory, begin, end);
    if (list == NULL) {
        return;
    }
    const VkFlags64 stage = h->clears ? sim_clear_stage : sim_copy_stage;
    const uint64_t write_kind = h->clears ? SIM_CLEAR_WRITES : SIM_COPY_WRITES;
    for (uint32_t n = sim_interval_after(list, begin);
         n < list->count && list->items[n].begin < end; n++) {
        struct sim_interval* i = &list->items[n];
        if (writes) {
            if (i->history.reader_count == 0) {
                sim_check_write_before(h, i, write_kind, "written again");
            }
            sim_check_reads_before(h, i, stage, "written after a read");
            sim_history_write(&i->history, h, stage);
        } else {
            sim_check_write_before(h, i, SIM_COPY_READS, "read after a write");
            sim_history_read(&i->history, h);
        }
    }
    sim_intervals_join(list, begin, end);
}

static void sim_hazard_flush(struct sim_hazard* h, bool writes)
{
    struct sim_memory* memory = h->waiting[writes].memory;
    h->waiting[writes].memory = NULL;
    if (memory != NULL) {
        sim_hazard_check(h, memory, h->waiting[writes].begin, h->waiting[writes].end, writes);
    }
}

void sim_hazard_access(struct sim_hazard* hazard, struct sim_memory* memory, VkDeviceSize offset,
                       VkDeviceSize size, bool writes)
{
    const VkDeviceSize end = offset + size;
    if (hazard->waiting[writes].memory == memory && hazard->waiting[writes].end == offset) {
        hazard->waiting[writes].end = end;
    } else if (hazard->waiting[writes].memory == memory && hazard->waiting[writes].begin == end) {
        hazard->waiting[writes].begin = offset;
    } else {
        sim_hazard_flush(hazard, writes);
        hazard->waiting[writes].memory = memory;
        hazard->waiting[writes].begin = offset;
        hazard->waiting[writes].end = end;
    }
}

void sim_hazard_finish(struct sim_hazard* hazard)
{
    sim_hazard_flush(hazard, false);
    sim_hazard_flush(hazard, true);
}

void sim_hazard_barrier(struct sim_hazard* hazard, const struct sim_barrier* barrier,
                        struct sim_memory* memory, VkDeviceSize offset, VkDeviceSize size,
                        bool moves)
{
    const struct sim_scopes scopes = sim_scopes_of(barrier);
    const VkDeviceSize end = offset + size;
    if (!moves && memory->intervals == NULL) {
        return;
    }
    struct sim_intervals* list = sim_intervals_of(memory, offset, end);
    for (uint32_t n = list != NULL ? sim_interval_after(list, offset) : 0;
         list != NULL && n < list->count && list->items[n].begin < end; n++) {
        if (moves) {
            sim_history_move(hazard, &list->items[n], &scopes);
        } else {
            sim_history_barrier(&list->items[n].history, hazard, &scopes);
        }
    }
    if (list != NULL) {
        sim_intervals_join(list, offset, end);
    }
}

void sim_hazard_global(struct sim_hazard* hazard, const struct sim_barrier* barrier)
{
    const struct sim_device* device = hazard->device;
    const struct sim_scopes scopes = sim_scopes_of(barrier);
    for (uint32_t s = 0; s < device->slot_count; s++) {
        struct sim_object* object = device->slots[s].object;
        if (object == NULL || object->kind != SIM_KIND_MEMORY) {
            continue;
        }
        struct sim_intervals* list = ((struct sim_memory*)object)->intervals;
        for (uint32_t n = 0; list != NULL && n < list->count; n++) {
            sim_history_barrier(&list->items[n].history, hazard, &scopes);
        }
    }
}
