/*
 * One capture that is followed; see tool_follow.h.
 */
#include "tool_follow.h"

#include "tool_text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOT_NS ((uint64_t)100000000)
#define SECOND_NS ((uint64_t)1000000000)
/* A process of another process namespace is not seen; that it writes is. */
#define PATIENCE_NS (2 * SECOND_NS)

enum { SLOTS_OF_SECOND = 10 };

struct tool_follow* tool_follow_create(const char* path, struct support_error* error)
{
    struct stat status;
    struct tool_follow* const follow = calloc(1, sizeof *follow);
    if (follow == NULL) {
        support_error_set(error, path, 0, "out of memory");
        return NULL;
    }
    char name[256];
    const char* const slash = strrchr(path, '/');
    (void)snprintf(name, sizeof name, "%.255s", slash != NULL ? slash + 1 : path);
    char* const extension = strstr(name, ".maarcap");
    if (extension != NULL) {
        *extension = '\0';
    }
    const size_t length = strlen(path);
    const bool is_live = length < 3 || strcmp(path + length - 3, ".gz") != 0;
    follow->path = strdup(path);
    follow->reader = support_capture_open(path, is_live, error);
    const bool good = follow->path != NULL && follow->reader != NULL &&
                      support_history_begin(&follow->history, name, error);
    if (!good || stat(path, &status) != 0) {
        tool_follow_destroy(follow);
        return NULL;
    }
    follow->volume = status.st_dev;
    follow->file = status.st_ino;
    return follow;
}

void tool_follow_destroy(struct tool_follow* follow)
{
    if (follow == NULL) {
        return;
    }
    support_capture_close(follow->reader);
    support_history_release(&follow->history);
    support_sums_release(&follow->sums);
    free(follow->living);
    free(follow->path);
    free(follow);
}

static bool push_living(struct tool_follow* follow, uint32_t resource)
{
    if (follow->living_count == follow->living_capacity) {
        const size_t larger = follow->living_capacity == 0 ? 256 : follow->living_capacity * 2;
        uint32_t* const grown = realloc(follow->living, larger * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        follow->living = grown;
        follow->living_capacity = larger;
    }
    follow->living[follow->living_count++] = resource;
    return true;
}

static void count_event(struct tool_follow* follow, const struct support_history_event* event)
{
    const uint64_t number = event->time_ns / SLOT_NS + 1;
    struct tool_follow_slot* const slot = &follow->slots[number % TOOL_FOLLOW_SLOTS];
    if (slot->number != number) {
        *slot = (struct tool_follow_slot){.number = number};
    }
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_MEMORY:
        slot->allocations += 1;
        break;
    case MAAR_CAPTURE_KIND_BUFFER:
    case MAAR_CAPTURE_KIND_IMAGE:
    case MAAR_CAPTURE_KIND_RANGE:
    case MAAR_CAPTURE_KIND_OTHER:
        slot->resources += 1;
        break;
    case MAAR_CAPTURE_KIND_FRAME:
        slot->frames += 1;
        break;
    case MAAR_CAPTURE_KIND_SUBMIT:
        slot->submits += 1;
        break;
    default:
        break;
    }
}

static bool take_event(struct tool_follow* follow, const struct support_history_event* event)
{
    uint32_t device = 0;
    uint32_t heaps = 0;
    count_event(follow, event);
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_BUFFER:
    case MAAR_CAPTURE_KIND_IMAGE:
    case MAAR_CAPTURE_KIND_RANGE:
    case MAAR_CAPTURE_KIND_SWAPCHAIN:
    case MAAR_CAPTURE_KIND_OTHER:
        if (event->index != SUPPORT_HISTORY_NONE && !push_living(follow, event->index)) {
            return false;
        }
        break;
    default:
        break;
    }
    return support_sums_apply(&follow->sums, &follow->history, event, &device, &heaps);
}

/* Removes the resources that ended. */
static void forget_ended(struct tool_follow* follow)
{
    size_t kept = 0;
    for (size_t i = 0; i < follow->living_count; ++i) {
        const uint32_t index = follow->living[i];
        if (follow->history.resources.items[index].end_ns == SUPPORT_HISTORY_FOREVER) {
            follow->living[kept++] = index;
        }
    }
    follow->living_count = kept;
}

/* When a process began, in seconds since 1970, or 0 if there is none. */
static uint64_t process_start(const char* proc, uint64_t process)
{
    char path[4200];
    char text[4096] = "";
    (void)snprintf(path, sizeof path, "%s/%" PRIu64 "/stat", proc, process);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    const size_t size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    /* The second field is a name in parentheses, with any characters. Field 22 is the time. */
    unsigned long long ticks = 0;
    char state = 'X';
    const char* const end = strrchr(text, ')');
    if (end == NULL ||
        sscanf(end + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &state, &ticks) != 2 ||
        state == 'Z' || state == 'X') {
        return 0;
    }
    unsigned long long boot = 0;
    (void)snprintf(path, sizeof path, "%s/stat", proc);
    file = fopen(path, "r");
    while (file != NULL && boot == 0 && fgets(text, sizeof text, file) != NULL) {
        (void)sscanf(text, "btime %llu", &boot);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    const long rate = sysconf(_SC_CLK_TCK);
    const uint64_t seconds = boot + ticks / (rate > 0 ? (uint64_t)rate : 100);
    return seconds > 0 ? seconds : 1;
}

/* Returns whether the process that wrote the capture is there, and no later one of its number. */
static bool is_alive(const struct tool_follow* follow, const char* proc)
{
    const MaarCaptureHeader* const header = &follow->history.header;
    const uint64_t start = process_start(proc, header->process);
    return start != 0 && start <= header->startSinceEpoch_ns / SECOND_NS + 2;
}

static void find_state(struct tool_follow* follow, const char* proc, bool has_news, uint64_t now)
{
    follow->seen_ns = has_news && follow->is_read ? now : follow->seen_ns;
    follow->is_read = true;
    if (follow->state == TOOL_FOLLOW_WRONG) {
        return;
    }
    switch (follow->history.header.state) {
    case MAAR_CAPTURE_STATE_COMPLETE:
        follow->state = TOOL_FOLLOW_ENDED;
        break;
    case MAAR_CAPTURE_STATE_DISK_FULL:
        follow->state = TOOL_FOLLOW_FULL;
        break;
    case MAAR_CAPTURE_STATE_LIMIT:
        follow->state = TOOL_FOLLOW_LIMIT;
        break;
    default: {
        const bool is_there = is_alive(follow, proc);
        const bool writes = follow->seen_ns != 0 && now - follow->seen_ns < PATIENCE_NS;
        follow->was_alive = follow->was_alive || is_there;
        follow->state =
            is_there || (writes && !follow->was_alive) ? TOOL_FOLLOW_RUNNING : TOOL_FOLLOW_KILLED;
        break;
    }
    }
}

void tool_follow_update(struct tool_follow* follow, const char* proc)
{
    struct support_error error = {.text = ""};
    struct support_history* const history = &follow->history;
    const uint64_t last = history->last_ns;
    bool good = follow->state != TOOL_FOLLOW_WRONG;
    if (good) {
        good = support_history_add(history, follow->reader, &error);
        for (size_t i = 0; i < history->events.count; ++i) {
            if (!take_event(follow, &history->events.items[i])) {
                support_error_set(&error, history->name, 0, "out of memory");
                good = false;
                break;
            }
        }
    }
    if (!good && follow->state != TOOL_FOLLOW_WRONG) {
        follow->state = TOOL_FOLLOW_WRONG;
        (void)snprintf(follow->fault, sizeof follow->fault, "%s", error.text);
    }
    const bool has_news = history->last_ns != last;
    /* What the sums hold, and what nobody looks at. */
    history->events.count = 0;
    history->budgets.count = 0;
    history->uses.count = 0;
    history->reached.count = 0;
    forget_ended(follow);
    const uint64_t now = tool_now_ns();
    find_state(follow, proc, has_news, now);
    follow->now_ns = history->last_ns;
    const uint64_t start = history->header.start_ns;
    if (follow->state == TOOL_FOLLOW_RUNNING && now > start && now - start > follow->now_ns) {
        follow->now_ns = now - start;
    }
}

const char* tool_follow_name(const struct tool_follow* follow)
{
    const char* const program = follow->history.header.program;
    const char* const slash = strrchr(program, '/');
    const char* const name = slash != NULL ? slash + 1 : program;
    return name[0] != '\0' ? name : follow->history.name;
}

const char* tool_follow_state_word(enum tool_follow_state state)
{
    static const char* const words[] = {"running",   "ended", "killed",
                                        "disk full", "limit", "wrong"};
    return words[state];
}

struct tool_follow_rates tool_follow_rates(const struct tool_follow* follow)
{
    struct tool_follow_rates rates = {0};
    /* The tenth of a second in which a running program is has not passed yet. */
    const uint64_t end =
        follow->now_ns / SLOT_NS + (follow->state == TOOL_FOLLOW_RUNNING ? 0u : 1u);
    for (size_t i = 0; i < TOOL_FOLLOW_SLOTS; ++i) {
        const struct tool_follow_slot* const slot = &follow->slots[i];
        if (slot->number != 0 && slot->number <= end && slot->number + SLOTS_OF_SECOND > end) {
            rates.allocations += slot->allocations;
            rates.resources += slot->resources;
            rates.frames += slot->frames;
            rates.submits += slot->submits;
        }
    }
    return rates;
}

uint64_t tool_follow_held(const struct tool_follow* follow)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        for (size_t heap = 0; heap < MAAR_CAPTURE_MOST_HEAPS; ++heap) {
            bytes += follow->sums.devices.items[i].heaps[heap].held;
        }
    }
    return bytes;
}

uint64_t tool_follow_bound(const struct tool_follow* follow)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        for (size_t heap = 0; heap < MAAR_CAPTURE_MOST_HEAPS; ++heap) {
            bytes += support_sums_bound(&follow->sums.devices.items[i].heaps[heap]);
        }
    }
    return bytes;
}

uint64_t tool_follow_memories(const struct tool_follow* follow)
{
    uint64_t count = 0;
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        for (size_t heap = 0; heap < MAAR_CAPTURE_MOST_HEAPS; ++heap) {
            count += follow->sums.devices.items[i].heaps[heap].memory_count;
        }
    }
    return count;
}

uint64_t tool_follow_resources(const struct tool_follow* follow)
{
    uint64_t count = 0;
    for (size_t i = 0; i < follow->sums.devices.count; ++i) {
        for (size_t kind = 0; kind < SUPPORT_SUMS_KINDS; ++kind) {
            count += follow->sums.devices.items[i].resource_count[kind];
        }
    }
    return count;
}

uint64_t tool_follow_bytes(const struct tool_follow* follow, uint32_t resource)
{
    const struct support_history_resource* const found = &follow->history.resources.items[resource];
    uint64_t bytes = found->sparse_bytes;
    if (found->kind == SUPPORT_HISTORY_SWAPCHAIN) {
        return found->size;
    }
    for (uint32_t i = found->first_bind; i != SUPPORT_HISTORY_NONE;
         i = follow->history.binds.items[i].next) {
        const struct support_history_bind* const bind = &follow->history.binds.items[i];
        const bool lives =
            bind->memory != SUPPORT_HISTORY_NONE &&
            follow->history.memories.items[bind->memory].end_ns == SUPPORT_HISTORY_FOREVER;
        bytes += lives ? bind->size : 0;
    }
    return bytes;
}

size_t tool_follow_largest(const struct tool_follow* follow, uint32_t* resources, size_t most)
{
    uint64_t sizes[64];
    size_t count = 0;
    most = most < 64 ? most : 64;
    for (size_t i = 0; most > 0 && i < follow->living_count; ++i) {
        const uint64_t bytes = tool_follow_bytes(follow, follow->living[i]);
        if (bytes == 0 || (count == most && bytes <= sizes[count - 1])) {
            continue;
        }
        size_t at = count < most ? count++ : count - 1;
        for (; at > 0 && sizes[at - 1] < bytes; --at) {
            sizes[at] = sizes[at - 1];
            resources[at] = resources[at - 1];
        }
        sizes[at] = bytes;
        resources[at] = follow->living[i];
    }
    return count;
}
