/*
 * The replay itself; see tool_player.h.
 *
 * A thread owns the resources whose number modulo the number of threads is the thread's index, and
 * replays their events in the order of the trace. The clock measures only the calls of Maar; the
 * time of verification is subtracted, also that inside callbacks. tool_player_books.c verifies.
 */
#include "tool_player_internal.h"

#include "tool_snapshot.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most failed allocations that one run prints. Further failures are only counted. */
#define MAX_PRINTED_FAILURES 5u

/* The interval of the progress line, and the number of events between two readings of the clock. */
#define PROGRESS_NS 200000000u
#define PROGRESS_EVENTS 256u

const char* const tool_strategy_names[TOOL_STRATEGY_COUNT] = {"auto", "linear",    "buddy",
                                                              "tlsf", "dedicated", "sparse"};

/* The time that this thread spent in the verifier during a measured call of Maar. */
static _Thread_local uint64_t callback_ns;

void player_break_off(struct player* player, const char* what, VkResult result)
{
    if (!atomic_exchange(&player->broken, true)) {
        tool_complain("%s: %s: %s", player->trace->name, what, maarGetResultName(result));
    }
}

static void VKAPI_CALL before_memory_goes(void* user_data, uint32_t memory_type,
                                          VkDeviceMemory memory, VkDeviceSize size)
{
    (void)memory_type;
    (void)size;
    struct player* const player = user_data;
    if (player->gpu == NULL) {
        return;
    }
    const uint64_t start = tool_now_ns();
    const VkResult result = tool_gpu_forget(player->gpu, memory);
    if (result != VK_SUCCESS) {
        player_break_off(player, "verification", result);
    }
    callback_ns += tool_now_ns() - start;
}

struct stopwatch {
    uint64_t start, callback_start;
};

static struct stopwatch start_watch(void)
{
    return (struct stopwatch){.callback_start = callback_ns, .start = tool_now_ns()};
}

static void stop_watch(struct player_thread* thread, struct stopwatch watch)
{
    const uint64_t elapsed = tool_now_ns() - watch.start;
    const uint64_t excluded = callback_ns - watch.callback_start + thread->player->clock_ns;
    thread->ns += elapsed > excluded ? elapsed - excluded : 0;
    ++thread->timed_events;
}

static uint64_t measure_clock(void)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 200; ++i) {
        const uint64_t start = tool_now_ns();
        const uint64_t elapsed = tool_now_ns() - start;
        best = elapsed < best ? elapsed : best;
    }
    return best;
}

static MaarAllocationCreateInfo describe_allocation(const struct player* player,
                                                    const struct tool_resource_plan* plan,
                                                    uint32_t resource)
{
    MaarDedicated dedicated = MAAR_DEDICATED_AUTO;
    if (player->options->strategy == TOOL_STRATEGY_DEDICATED) {
        dedicated = MAAR_DEDICATED_ALWAYS;
    } else if (player->options->strategy != TOOL_STRATEGY_AUTO &&
               player->options->strategy != TOOL_STRATEGY_SPARSE && !plan->requires_dedicated) {
        dedicated = MAAR_DEDICATED_NEVER;
    }
    const bool aliased = player->gpu != NULL && plan->access == TOOL_ACCESS_ALIAS;
    return (MaarAllocationCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = aliased ? MAAR_ALLOCATION_CREATE_UNTIED_BIT : 0,
        .usage = plan->usage,
        .dedicated = dedicated,
        .pUserData = (void*)((uintptr_t)resource + 1),
    };
}

static VkResult create_resource(struct player_thread* thread, const struct tool_resource_plan* plan,
                                const MaarAllocationCreateInfo* info, struct player_entry* entry)
{
    struct player* const player = thread->player;
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = plan->requirements,
        .kind = plan->kind,
        .prefersDedicated = plan->prefers_dedicated ? VK_TRUE : VK_FALSE,
        .requiresDedicated =
            plan->form == TOOL_FORM_PLAIN && plan->requires_dedicated ? VK_TRUE : VK_FALSE,
    };
    VkResult result = VK_SUCCESS;
    const struct stopwatch watch = start_watch();
    if (plan->is_buffer) {
        result = maarCreateBuffer(player->allocator, &plan->buffer, info, &entry->buffer,
                                  &entry->allocation);
    } else if (plan->form == TOOL_FORM_IMAGE) {
        result = maarCreateImage(player->allocator, &plan->image, info, &entry->image,
                                 &entry->allocation);
    } else {
        result = maarAllocateMemory(player->allocator, &request, info, &entry->allocation);
    }
    stop_watch(thread, watch);
    return result;
}

static bool is_host_visible(const struct player* player, uint32_t type)
{
    return (player->tool->memory.memoryTypes[type].propertyFlags &
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
}

static bool is_for_host(MaarMemoryUsage usage)
{
    return usage == MAAR_MEMORY_USAGE_UPLOAD || usage == MAAR_MEMORY_USAGE_READBACK ||
           usage == MAAR_MEMORY_USAGE_DEVICE_UPLOAD;
}

/* Tries the pools of one memory type after another, as the library tries its default pools. */
static VkResult create_sparse(struct player_thread* thread, const struct tool_resource_plan* plan,
                              MaarAllocationCreateInfo* info, struct player_entry* entry)
{
    struct player* const player = thread->player;
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    VkResult result =
        maarChooseMemoryType(player->allocator, plan->requirements.memoryTypeBits, info, &choice);
    for (uint32_t i = 0; i < choice.candidateCount; ++i) {
        result = tool_sparse_pool(player->sparse, choice.candidates[i], &info->pool);
        /* A resource that a program would map is mapped, and so is not made of pages. */
        const bool mapped =
            is_for_host(plan->usage) && is_host_visible(player, choice.candidates[i]);
        info->flags = mapped ? info->flags | MAAR_ALLOCATION_CREATE_MAPPED_BIT
                             : info->flags & ~(VkFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT;
        if (result == VK_SUCCESS) {
            result = create_resource(thread, plan, info, entry);
        }
        if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY && result != VK_ERROR_TOO_MANY_OBJECTS) {
            atomic_fetch_add(&player->fallbacks, result == VK_SUCCESS && i > 0 ? 1 : 0);
            break;
        }
    }
    return result;
}

static VkResult allocate(struct player_thread* thread, const struct tool_resource_plan* plan,
                         uint32_t resource, struct player_entry* entry)
{
    MaarAllocationCreateInfo info = describe_allocation(thread->player, plan, resource);
    return thread->player->sparse != NULL ? create_sparse(thread, plan, &info, entry)
                                          : create_resource(thread, plan, &info, entry);
}

/* Counts a new resource among the living. The allocator's own count is of what its strategy took.
 */
static void count_alive(struct player* player, struct player_entry* entry, uint64_t bytes)
{
    const uint64_t live = atomic_fetch_add(&player->live_bytes, bytes) + bytes;
    uint_fast64_t peak = atomic_load(&player->peak_live_bytes);
    entry->bytes = bytes;
    while (live > peak && !atomic_compare_exchange_weak(&player->peak_live_bytes, &peak, live)) {
    }
}

static void release(struct player_thread* thread, struct player_entry* entry)
{
    struct player* const player = thread->player;
    atomic_fetch_sub(&player->live_bytes, entry->bytes);
    const struct stopwatch watch = start_watch();
    if (entry->buffer != VK_NULL_HANDLE) {
        maarDestroyBuffer(player->allocator, entry->buffer, entry->allocation);
    } else if (entry->image != VK_NULL_HANDLE) {
        maarDestroyImage(player->allocator, entry->image, entry->allocation);
    } else {
        maarFreeMemory(player->allocator, entry->allocation);
    }
    stop_watch(thread, watch);
    if (player->sparse != NULL) {
        tool_sparse_leave(player->sparse, &entry->runs);
    }
    free(entry->plan);
    *entry = (struct player_entry){0};
}

static void replay_allocation(struct player_thread* thread, uint32_t resource)
{
    struct player* const player = thread->player;
    if (!tool_resource_is_played(player->tool, player->trace, resource)) {
        ++thread->skipped_rows;
        return;
    }
    struct player_entry* const entry = &player->entries[resource];
    struct tool_resource_plan plan;
    tool_resource_plan_for(player->tool, &player->facts, player->trace, resource, &plan);
    const VkResult result = allocate(thread, &plan, resource, entry);
    if (result != VK_SUCCESS) {
        if (atomic_fetch_add(&player->failures, 1) < MAX_PRINTED_FAILURES) {
            tool_complain("%s: id %" PRIu64 ": %" PRIu64 " bytes: %s", player->trace->name,
                          player->trace->resources[resource].id, plan.requirements.size,
                          maarGetResultName(result));
        }
        *entry = (struct player_entry){0};
        return;
    }
    count_alive(player, entry, plan.requirements.size);
    ++thread->allocations;
    thread->real_buffers += plan.form == TOOL_FORM_BUFFER;
    thread->real_images += plan.form == TOOL_FORM_IMAGE;
    thread->plain_rows += plan.form == TOOL_FORM_PLAIN;
    thread->unsupported_rows += plan.unsupported;
    if (player->sparse != NULL &&
        !tool_sparse_enter(player->sparse, entry->allocation, &entry->runs)) {
        player_break_off(player, "pages", VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    if (player->checker == NULL) {
        thread->allocated_bytes += plan.requirements.size;
    } else if (player_read_place(player, entry->allocation, &entry->place)) {
        thread->allocated_bytes += entry->place.size;
        player_enter_books(thread, &plan, resource);
    }
}

static void replay_free(struct player_thread* thread, uint32_t resource)
{
    struct player* const player = thread->player;
    struct player_entry* const entry = &player->entries[resource];
    if (entry->allocation == VK_NULL_HANDLE) {
        return; /* its allocation had failed */
    }
    if (player->checker == NULL || player_leave_books(thread, resource)) {
        release(thread, entry);
    }
}

static void show_progress(struct player_thread* thread, size_t event, bool visible)
{
    const struct player* const player = thread->player;
    if (thread->index != 0 || !visible || event % PROGRESS_EVENTS != 0) {
        return;
    }
    const uint64_t now = tool_now_ns();
    if (now - thread->progress_ns >= PROGRESS_NS) {
        thread->progress_ns = now;
        char name[4 * TOOL_NAME_SIZE + 1];
        fprintf(stderr, "\r%s, %s: %zu of %zu events, %.0f %%  ",
                tool_printable(player->trace->name, name, sizeof(name)),
                tool_strategy_names[player->options->strategy], event, player->trace->event_count,
                100.0 * (double)event / (double)player->trace->event_count);
        fflush(stderr);
    }
}

static enum support_picture_kind describe_live(void* context, void* user_data, char* label,
                                               size_t size)
{
    const struct support_trace* const trace = context;
    const uintptr_t number = (uintptr_t)user_data;
    if (number == 0 || number > trace->resource_count) {
        return SUPPORT_PICTURE_OTHER;
    }
    const struct support_trace_resource* const row = &trace->resources[number - 1];
    if (row->kind == SUPPORT_TRACE_BUFFER) {
        snprintf(label, size, "buffer %" PRIu64, row->id);
        const VkBufferUsageFlags transfers =
            VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        return row->usage != 0 && (row->usage & ~(VkBufferUsageFlags)transfers) == 0
                   ? SUPPORT_PICTURE_STAGING
                   : SUPPORT_PICTURE_BUFFER;
    }
    if (row->image != UINT32_MAX) {
        snprintf(label, size, "image %" PRIu64 ", %ux%u", row->id, trace->images[row->image].width,
                 trace->images[row->image].height);
    } else {
        snprintf(label, size, "image %" PRIu64, row->id);
    }
    const VkImageUsageFlags targets =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    return (row->usage & targets) != 0 ? SUPPORT_PICTURE_TARGET : SUPPORT_PICTURE_IMAGE;
}

/* Collects the page runs of all allocations that are made of pages. */
static bool gather_runs(const struct player* player, struct tool_snapshot_runs* out)
{
    size_t count = 0;
    for (size_t i = 0; i < player->trace->resource_count; ++i) {
        count += player->entries[i].runs.count;
    }
    out->count = 0;
    out->runs = calloc(count + 1, sizeof(*out->runs));
    for (size_t i = 0; i < player->trace->resource_count && out->runs != NULL; ++i) {
        const struct tool_page_runs* const runs = &player->entries[i].runs;
        for (uint32_t j = 0; j < runs->count; ++j) {
            out->runs[out->count++] = (struct tool_snapshot_run){
                .block_id = runs->runs[j].blockId,
                .offset = runs->runs[j].memoryOffset,
                .size = runs->runs[j].size,
                .user_data = (void*)((uintptr_t)i + 1),
            };
        }
    }
    return out->runs != NULL;
}

static void meet_for_picture(struct player_thread* thread)
{
    struct player* const player = thread->player;
    struct tool_snapshot_runs runs = {.runs = NULL};
    pthread_barrier_wait(&player->barrier);
    if (thread->index == 0 &&
        (!gather_runs(player, &runs) ||
         !tool_snapshot_take(player->tool, player->allocator, describe_live,
                             (void*)(uintptr_t)player->trace, &runs, player->picture))) {
        player_break_off(player, "picture", VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    free(runs.runs);
    pthread_barrier_wait(&player->barrier);
}

/* Measures work that belongs to no event but counts. */
static void submit_now_and_then(struct player_thread* thread,
                                const struct support_trace_event* event)
{
    struct player* const player = thread->player;
    const bool is_frame = event->op == SUPPORT_TRACE_FRAME;
    const bool is_mine = is_frame
                             ? thread->index == 0
                             : event->resource % player->options->thread_count == thread->index;
    if (!is_mine || atomic_load(&player->broken)) {
        return;
    }
    const struct stopwatch watch = start_watch();
    const VkResult result = tool_sparse_note_event(player->sparse, is_frame);
    stop_watch(thread, watch);
    --thread->timed_events;
    if (result != VK_SUCCESS) {
        player_break_off(player, "maarSubmitBinds", result);
    }
}

static void replay_event(struct player_thread* thread, const struct support_trace_event* event)
{
    const uint32_t threads = thread->player->options->thread_count;
    if (thread->player->sparse != NULL) {
        submit_now_and_then(thread, event);
    }
    if (event->op == SUPPORT_TRACE_FRAME || event->resource % threads != thread->index ||
        atomic_load(&thread->player->broken)) {
        return;
    }
    if (event->op == SUPPORT_TRACE_ALLOC) {
        replay_allocation(thread, event->resource);
    } else {
        replay_free(thread, event->resource);
    }
}

static void* run_thread(void* argument)
{
    struct player_thread* const thread = argument;
    struct player* const player = thread->player;
    const struct support_trace* const trace = player->trace;
    const bool visible = isatty(STDERR_FILENO) == 1;
    thread->progress_ns = tool_now_ns();
    const uint64_t first_progress_ns = thread->progress_ns;
    for (size_t i = 0; i <= trace->event_count; ++i) {
        if (player->picture != NULL && i == player->picture_event) {
            meet_for_picture(thread);
        }
        if (i < trace->event_count) {
            replay_event(thread, &trace->events[i]);
            show_progress(thread, i, visible);
        }
    }
    if (thread->progress_ns != first_progress_ns) {
        fprintf(stderr, "\r%100s\r", "");
    }
    const uint32_t threads = player->options->thread_count;
    for (size_t i = thread->index; i < trace->resource_count; i += threads) {
        if (player->entries[i].allocation != VK_NULL_HANDLE) {
            ++thread->leftovers;
            replay_free(thread, (uint32_t)i);
        }
    }
    return NULL;
}

static bool run_threads(struct player* player, struct player_thread* threads)
{
    const uint32_t count = player->options->thread_count;
    if (count == 0 || pthread_barrier_init(&player->barrier, NULL, count) != 0) {
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < count; ++i) {
        threads[i].player = player;
        threads[i].index = i;
    }
    uint32_t started = 1;
    while (started < count && good) {
        good = pthread_create(&threads[started].thread, NULL, run_thread, &threads[started]) == 0;
        started += good ? 1 : 0;
    }
    if (!good) {
        /* The running threads would wait for the missing ones at the barrier. */
        tool_complain("cannot start %u threads", count);
        exit(TOOL_EXIT_FAILED);
    }
    run_thread(&threads[0]);
    for (uint32_t i = 1; i < count; ++i) {
        pthread_join(threads[i].thread, NULL);
    }
    pthread_barrier_destroy(&player->barrier);
    return true;
}

static bool set_up(struct player* player)
{
    static const MaarPlacementStrategy strategies[TOOL_STRATEGY_COUNT] = {
        [TOOL_STRATEGY_AUTO] = MAAR_PLACEMENT_STRATEGY_TLSF,
        [TOOL_STRATEGY_LINEAR] = MAAR_PLACEMENT_STRATEGY_LINEAR,
        [TOOL_STRATEGY_BUDDY] = MAAR_PLACEMENT_STRATEGY_BUDDY,
        [TOOL_STRATEGY_TLSF] = MAAR_PLACEMENT_STRATEGY_TLSF,
        [TOOL_STRATEGY_DEDICATED] = MAAR_PLACEMENT_STRATEGY_TLSF,
        [TOOL_STRATEGY_SPARSE] = MAAR_PLACEMENT_STRATEGY_TLSF,
    };
    player->entries = calloc(player->trace->resource_count + 1, sizeof(*player->entries));
    if (player->entries == NULL || !tool_resource_read_facts(player->tool, &player->facts) ||
        !player_set_up_books(player)) {
        player_break_off(player, "setting up", VK_ERROR_OUT_OF_HOST_MEMORY);
        return false;
    }
    const struct tool_allocator_options options = {
        .strategy = strategies[player->options->strategy],
        .on_free = before_memory_goes,
        .user_data = player,
    };
    const VkResult result =
        tool_device_create_allocator(player->tool, &options, &player->allocator);
    if (result != VK_SUCCESS) {
        player_break_off(player, "maarCreateAllocator", result);
        return false;
    }
    if (player->options->strategy == TOOL_STRATEGY_SPARSE) {
        player->sparse = tool_sparse_create(player->allocator);
        if (player->sparse == NULL || !tool_resource_read_pages(player->tool, &player->facts)) {
            player_break_off(player, "setting up", VK_ERROR_OUT_OF_HOST_MEMORY);
            return false;
        }
    }
    return true;
}

static void add_up(const struct player_thread* threads, uint32_t count,
                   struct tool_outcome* outcome)
{
    uint64_t ns = 0;
    uint64_t timed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        ns += threads[i].ns;
        timed += threads[i].timed_events;
        outcome->allocations += threads[i].allocations;
        outcome->allocated_bytes += threads[i].allocated_bytes;
        outcome->verified_bytes += threads[i].verified_bytes;
        outcome->real_buffers += threads[i].real_buffers;
        outcome->real_images += threads[i].real_images;
        outcome->plain_rows += threads[i].plain_rows;
        outcome->unsupported_rows += threads[i].unsupported_rows;
        outcome->skipped_rows += threads[i].skipped_rows;
        outcome->leftovers += threads[i].leftovers;
    }
    outcome->ns_per_event = timed == 0 ? 0.0 : (double)ns / (double)timed;
}

/* Reads the statistics, checks the allocator and destroys it. Everything must have been freed. */
static void close_allocator(struct player* player, struct tool_outcome* outcome)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    maarGetStatistics(player->allocator, VK_NULL_HANDLE, &statistics);
    outcome->peak_live_bytes = atomic_load(&player->peak_live_bytes);
    outcome->peak_reserved_bytes = statistics.peakBlockBytes;
    outcome->peak_blocks = statistics.peakBlockCount;
    outcome->device_allocation_calls = statistics.deviceAllocationCalls;
    outcome->fallbacks = statistics.fallbackCount + atomic_load(&player->fallbacks);
    if (player->sparse != NULL) {
        tool_sparse_report(player->sparse, outcome);
    }
    const char* broken = NULL;
    if (maarCheckAllocator(player->allocator, &broken) != VK_SUCCESS) {
        tool_complain("%s: the allocator is broken: %s", player->trace->name,
                      broken != NULL ? broken : "no reason given");
        ++outcome->mismatches;
    }
    if (!atomic_load(&player->broken) &&
        (statistics.allocationCount != 0 || statistics.allocationBytes != 0)) {
        tool_complain("%s: %u allocations of %" PRIu64 " bytes are counted after the last free",
                      player->trace->name, statistics.allocationCount, statistics.allocationBytes);
        ++outcome->mismatches;
    }
    tool_sparse_destroy(player->sparse);
    player->sparse = NULL;
    maarDestroyAllocator(player->allocator);
    player->allocator = VK_NULL_HANDLE;
}

bool tool_player_run(struct tool_device* tool, const struct support_trace* trace,
                     const struct tool_player_options* options, struct tool_outcome* outcome,
                     struct support_picture* picture)
{
    *outcome = (struct tool_outcome){.events = trace->event_count, .verification = "off"};
    struct player* const player = calloc(1, sizeof(*player));
    struct player_thread* const threads = calloc(options->thread_count, sizeof(*threads));
    if (player == NULL || threads == NULL) {
        tool_complain("out of memory");
        free(player);
        free(threads);
        return false;
    }
    player->tool = tool;
    player->trace = trace;
    player->options = options;
    player->picture = options->picture ? picture : NULL;
    player->picture_event = trace->peak_event + 1;
    player->clock_ns = measure_clock();
    atomic_store(&player->planted, PLAYER_NO_RESOURCE);
    if (set_up(player) && run_threads(player, threads)) {
        add_up(threads, options->thread_count, outcome);
        player_close_books(player, outcome);
        close_allocator(player, outcome);
    }
    tool_sparse_destroy(player->sparse);
    maarDestroyAllocator(player->allocator);
    tool_gpu_destroy(player->gpu);
    tool_checker_destroy(player->checker);
    outcome->failures = atomic_load(&player->failures);
    outcome->broken = atomic_load(&player->broken);
    free(player->entries);
    free(player);
    free(threads);
    return !outcome->broken;
}
