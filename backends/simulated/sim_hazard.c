/*
 * A checker of hazards. Each memory has intervals of bytes with one history: the last write, and
 * the reads since. Barriers change the histories when they are executed. An access of the same
 * queue needs a barrier between, whose scopes contain both. An access of another queue needs a
 * semaphore or the host, which sim_known.c knows. A layout transition is a write between the two
 * scopes of its barrier. Reads order a write behind them after the write before them: each read was
 * checked.
 *
 * Only the stages in which this driver executes something are distinguished: copies, clears, which
 * fill and update buffers too, and compute shaders. Stages of semaphore waits are not looked at.
 */
#include "backends/simulated/sim_hazard.h"

#include "backends/simulated/sim_check.h"

#include <string.h>

enum { SIM_MAX_READERS = 4 };

/* The kinds of accesses to which a write may be visible. */
enum {
    SIM_COPY_READS = 1,
    SIM_COPY_WRITES = 2,
    SIM_CLEAR_WRITES = 4,
    SIM_SHADER_READS = 8,
    SIM_SHADER_WRITES = 16,
    SIM_HOST_READS = 32
};

struct sim_reader {
    uint64_t queue, number;
    VkFlags64 stages; /* in which it was read */
    VkFlags64 chain;  /* stages that begin after it */
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

/* In the tree of its memory, whose chunks are mapped pages, so that the driver may add them under
 * its lock. */
struct sim_interval {
    struct sim_node node;
    struct sim_history history;
};

static const VkFlags64 sim_copy_stage = VK_PIPELINE_STAGE_2_COPY_BIT;
static const VkFlags64 sim_clear_stage = VK_PIPELINE_STAGE_2_CLEAR_BIT;
static const VkFlags64 sim_shader_stage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;

/* What the commands of a stage are to a barrier. */
struct sim_stage_kind {
    VkFlags64 stage;
    uint64_t reads, writes;
};

static struct sim_stage_kind sim_stage_kind(enum sim_stage stage)
{
    switch (stage) {
    case SIM_STAGE_CLEAR:
        return (struct sim_stage_kind){sim_clear_stage, 0, SIM_CLEAR_WRITES};
    case SIM_STAGE_SHADER:
        return (struct sim_stage_kind){sim_shader_stage, SIM_SHADER_READS, SIM_SHADER_WRITES};
    default:
        return (struct sim_stage_kind){sim_copy_stage, SIM_COPY_READS, SIM_COPY_WRITES};
    }
}

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
    VkFlags64 makes_available; /* writes of these stages */
    uint64_t makes_visible;
};

static struct sim_scopes sim_scopes_of(const struct sim_barrier* barrier)
{
    const VkFlags64 reads = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT;
    const VkFlags64 writes = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    const VkFlags64 shader_reads = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT |
                                   VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
                                   VK_ACCESS_2_MEMORY_READ_BIT;
    const VkFlags64 shader_writes = VK_ACCESS_2_SHADER_WRITE_BIT |
                                    VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT |
                                    VK_ACCESS_2_MEMORY_WRITE_BIT;
    const VkFlags64 host_reads = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT;
    struct sim_scopes s = {
        .from = sim_stages_of(barrier->from_stages, true),
        .to = sim_stages_of(barrier->to_stages, false),
    };
    if ((barrier->from_accesses & writes) != 0) {
        s.makes_available |= sim_copy_stage | sim_clear_stage;
    }
    if ((barrier->from_accesses & shader_writes) != 0) {
        s.makes_available |= sim_shader_stage;
    }
    if ((s.to & sim_copy_stage) != 0) {
        s.makes_visible |= (barrier->to_accesses & reads) != 0 ? SIM_COPY_READS : 0;
        s.makes_visible |= (barrier->to_accesses & writes) != 0 ? SIM_COPY_WRITES : 0;
    }
    if ((s.to & sim_clear_stage) != 0) {
        s.makes_visible |= (barrier->to_accesses & writes) != 0 ? SIM_CLEAR_WRITES : 0;
    }
    if ((s.to & sim_shader_stage) != 0) {
        s.makes_visible |= (barrier->to_accesses & shader_reads) != 0 ? SIM_SHADER_READS : 0;
        s.makes_visible |= (barrier->to_accesses & shader_writes) != 0 ? SIM_SHADER_WRITES : 0;
    }
    if ((s.to & VK_PIPELINE_STAGE_2_HOST_BIT) != 0) {
        s.makes_visible |= (barrier->to_accesses & host_reads) != 0 ? SIM_HOST_READS : 0;
    }
    return s;
}

/* ---- intervals ---- */

void sim_hazard_release(struct sim_memory* memory)
{
    size_t size = 0;
    for (void* chunk = sim_tree_take_chunk(&memory->intervals, &size); chunk != NULL;
         chunk = sim_tree_take_chunk(&memory->intervals, &size)) {
        sim_pages_unmap(chunk, size);
    }
}

/* Makes room for `more` intervals. Returns false without pages; then nothing is checked. */
static bool sim_intervals_reserve(struct sim_memory* memory, uint32_t more)
{
    struct sim_tree* list = &memory->intervals;
    if (list->unused_count >= more) {
        return true;
    }
    const size_t size = sim_tree_chunk_size(list, sizeof(struct sim_interval));
    void* chunk = sim_pages_map(size);
    if (chunk != NULL) {
        sim_tree_add_chunk(list, chunk, size, sizeof(struct sim_interval));
    }
    return chunk != NULL;
}

/* Cuts an interval in two at an offset inside it. */
static void sim_interval_cut(struct sim_tree* list, VkDeviceSize offset)
{
    struct sim_interval* first = sim_tree_after(list, offset);
    if (first == NULL || first->node.begin >= offset) {
        return;
    }
    struct sim_interval* second = sim_tree_insert(list, offset, first->node.end);
    second->history = first->history;
    sim_tree_set_end(&first->node, offset);
}

static bool sim_interval_continues(const struct sim_interval* one, const struct sim_interval* next)
{
    return one->node.end == next->node.begin &&
           memcmp(&one->history, &next->history, sizeof(one->history)) == 0;
}

/* Joins the intervals around [begin, end) that have the same history. */
static void sim_intervals_join(struct sim_tree* list, VkDeviceSize begin, VkDeviceSize end)
{
    struct sim_interval* one = sim_tree_after(list, begin != 0 ? begin - 1 : 0);
    while (one != NULL && one->node.begin <= end) {
        struct sim_interval* next = sim_tree_next(&one->node);
        if (next != NULL && sim_interval_continues(one, next)) {
            const VkDeviceSize joined_end = next->node.end;
            sim_tree_remove(list, &next->node);
            sim_tree_set_end(&one->node, joined_end);
        } else {
            one = next;
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
                    (unsigned long long)i->node.begin, (unsigned long long)i->node.end, what,
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
    s->readers[at] = (struct sim_reader){h->queue, h->number, sim_stage_kind(h->stage).stage, 0};
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
        s->available |= (s->stages & scopes->makes_available) != 0 ? 1 : 0;
        s->visible |= s->available != 0 ? scopes->makes_visible : 0;
    }
    for (uint64_t r = 0; r < s->reader_count; r++) {
        struct sim_reader* reader = &s->readers[r];
        if (reader->queue == h->queue && ((reader->stages | reader->chain) & scopes->from) != 0) {
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
                         (s->available != 0 || (s->stages & scopes->makes_available) != 0);
    if (s->written != 0 && s->reader_count == 0 && !ordered &&
        !sim_hazard_knows(h, s->queue, s->number)) {
        sim_hazard_report(h, what, i, s->queue, s->number);
    }
    for (uint64_t r = 0; r < s->reader_count; r++) {
        const struct sim_reader* reader = &s->readers[r];
        const bool barrier =
            reader->queue == h->queue && ((reader->stages | reader->chain) & scopes->from) != 0;
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

/* Makes the intervals of a memory that are exactly [begin, end), blank ones where nothing is known.
 * Returns the first one, or NULL without pages. */
static struct sim_interval* sim_intervals_of(struct sim_memory* memory, VkDeviceSize begin,
                                             VkDeviceSize end)
{
    struct sim_tree* list = &memory->intervals;
    if (!sim_intervals_reserve(memory, 2)) {
        return NULL;
    }
    sim_interval_cut(list, begin);
    sim_interval_cut(list, end);
    VkDeviceSize at = begin;
    const struct sim_interval* next = sim_tree_after(list, at);
    while (at < end) {
        if (next != NULL && next->node.begin <= at) {
            at = next->node.end;
            next = sim_tree_next(&next->node);
            continue;
        }
        if (!sim_intervals_reserve(memory, 1)) {
            return NULL;
        }
        const VkDeviceSize blank_end =
            next != NULL && next->node.begin < end ? next->node.begin : end;
        struct sim_interval* blank = sim_tree_insert(list, at, blank_end);
        memset(&blank->history, 0, sizeof(blank->history));
        at = blank_end;
    }
    return sim_tree_after(list, begin);
}

static void sim_hazard_check(struct sim_hazard* h, struct sim_memory* memory, VkDeviceSize begin,
                             VkDeviceSize end, bool writes)
{
    const struct sim_stage_kind kind = sim_stage_kind(h->stage);
    for (struct sim_interval* i = sim_intervals_of(memory, begin, end);
         i != NULL && i->node.begin < end; i = sim_tree_next(&i->node)) {
        if (writes) {
            if (i->history.reader_count == 0) {
                sim_check_write_before(h, i, kind.writes, "written again");
            }
            sim_check_reads_before(h, i, kind.stage, "written after a read");
            sim_history_write(&i->history, h, kind.stage);
        } else {
            sim_check_write_before(h, i, kind.reads, "read after a write");
            if (!h->writes_too) {
                sim_history_read(&i->history, h);
            }
        }
    }
    sim_intervals_join(&memory->intervals, begin, end);
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
    if (!moves && memory->intervals.count == 0) {
        return;
    }
    for (struct sim_interval* i = sim_intervals_of(memory, offset, end);
         i != NULL && i->node.begin < end; i = sim_tree_next(&i->node)) {
        if (moves) {
            sim_history_move(hazard, i, &scopes);
        } else {
            sim_history_barrier(&i->history, hazard, &scopes);
        }
    }
    sim_intervals_join(&memory->intervals, offset, end);
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
        const struct sim_tree* list = &((struct sim_memory*)object)->intervals;
        for (struct sim_interval* i = sim_tree_after(list, 0); i != NULL;
             i = sim_tree_next(&i->node)) {
            sim_history_barrier(&i->history, hazard, &scopes);
        }
    }
}

void sim_hazard_host(struct sim_hazard* hazard, struct sim_memory* memory, VkDeviceSize offset,
                     VkDeviceSize size, bool writes)
{
    const VkDeviceSize end = offset + size;
    for (struct sim_interval* i = sim_tree_after(&memory->intervals, offset);
         i != NULL && i->node.begin < end; i = sim_tree_next(&i->node)) {
        struct sim_history* s = &i->history;
        const bool has_waited = s->written == 0 || sim_hazard_knows(hazard, s->queue, s->number);
        if (!has_waited || (!writes && s->written != 0 && (s->visible & SIM_HOST_READS) == 0)) {
            sim_hazard_report(hazard,
                              has_waited ? "read by the host without a barrier to it"
                                         : "accessed by the host",
                              i, s->queue, s->number);
        }
        for (uint64_t r = 0; writes && r < s->reader_count; r++) {
            if (!sim_hazard_knows(hazard, s->readers[r].queue, s->readers[r].number)) {
                sim_hazard_report(hazard, "written by the host after a read", i,
                                  s->readers[r].queue, s->readers[r].number);
            }
        }
    }
    if (writes && sim_intervals_of(memory, offset, end) != NULL) {
        /* Later submissions see what the host has written before. */
        for (struct sim_interval* i = sim_tree_after(&memory->intervals, offset);
             i != NULL && i->node.begin < end; i = sim_tree_next(&i->node)) {
            memset(&i->history, 0, sizeof(i->history));
        }
        sim_intervals_join(&memory->intervals, offset, end);
    }
}
