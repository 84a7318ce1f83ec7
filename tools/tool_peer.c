/*
 * The program and Maar side by side; see tool_peer.h.
 *
 * A resource becomes a request with the size, alignment and memory types that the captured driver
 * demanded, when it is bound first, and is freed when it ends. A sparse resource becomes a request
 * of the most bytes of pages that it had at one time. Imported memory counts for neither side.
 */
#include "tool_peer.h"

#include "support/trace_writer.h"
#include "tool_device.h"
#include "tool_resource.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Events between two readings of the clock. */
    PEER_EVENTS = 256,
    /* The page of a sparse resource, where the driver's is not known. */
    PEER_PAGE = 65536,
};

/* Blocks below this are no choice for a program. */
#define PEER_LEAST_BLOCK ((uint64_t)1 << 20)

/* Bytes of device memory by heap. */
struct peer_side {
    uint64_t now[MAAR_CAPTURE_MOST_HEAPS], peak[MAAR_CAPTURE_MOST_HEAPS];
    uint64_t calls[MAAR_CAPTURE_MOST_HEAPS];
};

struct peer {
    const struct support_history* history;
    const struct support_history_device* device;
    uint32_t index; /* of the device */
    uint64_t end_ns;
    MaarAllocator allocator;
    MaarAllocation* allocations; /* of resources; null: none */
    struct peer_side program, maar;
    uint64_t block_size; /* 0: the default */
    uint64_t failures;
    size_t played; /* events */
};

static void side_add(struct peer_side* side, uint32_t heap, uint64_t size)
{
    side->calls[heap] += 1;
    side->now[heap] += size;
    side->peak[heap] = side->peak[heap] > side->now[heap] ? side->peak[heap] : side->now[heap];
}

static void VKAPI_CALL note_allocation(void* user_data, uint32_t type, VkDeviceMemory memory,
                                       VkDeviceSize size)
{
    struct peer* const peer = user_data;
    (void)memory;
    side_add(&peer->maar, peer->device->types[type].heap, size);
}

static void VKAPI_CALL note_free(void* user_data, uint32_t type, VkDeviceMemory memory,
                                 VkDeviceSize size)
{
    struct peer* const peer = user_data;
    (void)memory;
    peer->maar.now[peer->device->types[type].heap] -= size;
}

/* ---- requests ---- */

static bool is_imported(const struct peer* peer, uint32_t memory)
{
    return (peer->history->memories.items[memory].flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) != 0;
}

/* Asks Maar for what a resource needs. A request that fails is counted. */
static void request(struct peer* peer, uint32_t index, uint64_t size, uint64_t alignment)
{
    const struct support_history_resource* const resource = &peer->history->resources.items[index];
    const VkMemoryPropertyFlags* type_flags = NULL;
    uint32_t type_bits = resource->type_bits;
    if (resource->memory != SUPPORT_HISTORY_NONE) {
        const uint32_t type = peer->history->memories.items[resource->memory].type;
        type_flags = &peer->device->types[type].flags;
        type_bits |= 1u << type; /* whatever the capture says: the driver bound it there */
    }
    const uint32_t types = peer->device->facts.typeCount;
    type_bits &= types < 32 ? (1u << types) - 1u : UINT32_MAX;
    const bool optimal = resource->image != SUPPORT_HISTORY_NONE && resource->tiling_is_linear == 0;
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size, .alignment = alignment, .memoryTypeBits = type_bits},
        .kind = optimal ? MAAR_RESOURCE_KIND_OPTIMAL : MAAR_RESOURCE_KIND_LINEAR,
        .prefersDedicated = (resource->needs_flags & MAAR_CAPTURE_NEEDS_PREFERS_DEDICATED_BIT) != 0,
        .requiresDedicated =
            (resource->needs_flags & MAAR_CAPTURE_NEEDS_REQUIRES_DEDICATED_BIT) != 0,
    };
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .usage = tool_resource_usage(resource->kind == SUPPORT_HISTORY_BUFFER,
                                     resource->tiling_is_linear != 0, resource->usage, type_flags),
    };
    if (type_bits == 0 || maarAllocateMemory(peer->allocator, &request, &info,
                                             &peer->allocations[index]) != VK_SUCCESS) {
        peer->allocations[index] = VK_NULL_HANDLE;
        peer->failures += 1;
    }
}

static void play_bind(struct peer* peer, const struct support_history_bind* bind, uint32_t event)
{
    const struct support_history_resource* const resource =
        &peer->history->resources.items[bind->resource];
    if (resource->device == peer->index && resource->bind_event == event &&
        bind->memory != SUPPORT_HISTORY_NONE && !is_imported(peer, bind->memory) &&
        (resource->create_flags & 1u) == 0) {
        const uint64_t size = resource->size != 0 ? resource->size : bind->size;
        request(peer, bind->resource, size != 0 ? size : 1, resource->alignment);
    }
}

/* Sparse resources: the most bytes of pages at one time. */
static void play_creation(struct peer* peer, uint32_t index)
{
    const struct support_history_resource* const resource = &peer->history->resources.items[index];
    if (resource->device == peer->index && resource->sparse_peak != 0) {
        request(peer, index, resource->sparse_peak,
                resource->alignment != 0 ? resource->alignment : PEER_PAGE);
    }
}

static void play_end(struct peer* peer, uint32_t index)
{
    if (peer->allocations[index] != VK_NULL_HANDLE) {
        maarFreeMemory(peer->allocator, peer->allocations[index]);
        peer->allocations[index] = VK_NULL_HANDLE;
    }
}

static void play_memory(struct peer* peer, uint32_t index, bool is_end)
{
    const struct support_history_memory* const memory = &peer->history->memories.items[index];
    if (memory->device != peer->index || is_imported(peer, index)) {
        return;
    }
    const uint32_t heap = peer->device->types[memory->type].heap;
    if (is_end) {
        peer->program.now[heap] -= memory->size;
    } else {
        side_add(&peer->program, heap, memory->size);
    }
}

static void play_event(struct peer* peer, uint32_t number)
{
    const struct support_history_event* const event = &peer->history->events.items[number];
    switch (event->kind) {
    case MAAR_CAPTURE_KIND_MEMORY:
    case MAAR_CAPTURE_KIND_MEMORY_END:
        play_memory(peer, event->index, event->kind == MAAR_CAPTURE_KIND_MEMORY_END);
        break;
    case MAAR_CAPTURE_KIND_BIND:
        play_bind(peer, &peer->history->binds.items[event->index], number);
        break;
    case MAAR_CAPTURE_KIND_BUFFER:
    case MAAR_CAPTURE_KIND_IMAGE:
        play_creation(peer, event->index);
        break;
    case MAAR_CAPTURE_KIND_BUFFER_END:
    case MAAR_CAPTURE_KIND_IMAGE_END:
    case MAAR_CAPTURE_KIND_OTHER_END:
        play_end(peer, event->index);
        break;
    default:
        break;
    }
}

/* ---- devices ---- */

static void play_events(struct peer* peer)
{
    const size_t count = peer->history->events.count;
    while (peer->played < count &&
           (peer->played % PEER_EVENTS != 0 || tool_now_ns() < peer->end_ns)) {
        play_event(peer, (uint32_t)peer->played);
        peer->played += 1;
    }
    for (size_t i = 0; i < peer->history->resources.count; ++i) {
        play_end(peer, (uint32_t)i);
    }
}

/* Opens the simulated device and plays the capture on it. */
static bool play_device(struct peer* peer, struct tool_device* tool)
{
    struct support_card card;
    support_history_card(peer->history, peer->index, &card);
    const struct tool_device_options options = {
        .device = "capture",
        .silent = true, /* the rows name what failed */
        .card = &card,
        .card_name = support_history_text(peer->history, peer->device->name),
        .block_size = peer->block_size,
    };
    if (tool_device_open_instance(tool, &options) != TOOL_EXIT_OK ||
        tool_device_open(tool, VK_NULL_HANDLE) != TOOL_EXIT_OK) {
        return false;
    }
    const struct tool_allocator_options allocator = {
        .strategy = MAAR_PLACEMENT_STRATEGY_TLSF,
        .on_allocate = note_allocation,
        .on_free = note_free,
        .user_data = peer,
    };
    const VkResult result = tool_device_create_allocator(tool, &allocator, &peer->allocator);
    if (result != VK_SUCCESS) {
        tool_complain("the replay for the report: %s", maarGetResultName(result));
        return false;
    }
    play_events(peer);
    maarDestroyAllocator(peer->allocator);
    return true;
}

static bool add_row(struct tool_peers* peers, const struct support_report_peer* row)
{
    if (peers->count == peers->capacity) {
        const size_t larger = peers->capacity == 0 ? 16 : peers->capacity * 2;
        struct support_report_peer* const grown = realloc(peers->rows, larger * sizeof *grown);
        if (grown == NULL) {
            tool_complain("out of memory");
            return false;
        }
        peers->rows = grown;
        peers->capacity = larger;
    }
    peers->rows[peers->count] = *row;
    peers->count += 1;
    return true;
}

struct tool_peer_names {
    char program[160], maar[160];
    char sizes[TOOL_PEER_SIZES][64];
};

static void name_rows(const struct peer* peer, struct tool_peer_names* names)
{
    char part[64] = "";
    char failed[48] = "";
    if (peer->played < peer->history->events.count) {
        (void)snprintf(part, sizeof part, ", first %zu of %zu events", peer->played,
                       peer->history->events.count);
    }
    if (peer->failures != 0) {
        (void)snprintf(failed, sizeof failed, ", %" PRIu64 " requests failed", peer->failures);
    }
    (void)snprintf(names->program, sizeof names->program, "the program%s", part);
    (void)snprintf(names->maar, sizeof names->maar, "Maar, default settings%s%s", part, failed);
}

static bool add_rows(const struct peer* peer, struct tool_peers* peers)
{
    struct tool_peer_names* const names = &peers->names[peer->index];
    bool good = true;
    name_rows(peer, names);
    for (uint32_t heap = 0; heap < peer->device->facts.heapCount && good; ++heap) {
        const struct peer_side* const sides[] = {&peer->program, &peer->maar};
        const char* const words[] = {names->program, names->maar};
        const bool used = peer->program.calls[heap] != 0 || peer->maar.calls[heap] != 0;
        for (size_t i = 0; i < 2 && good && used; ++i) {
            const struct support_report_peer row = {
                .name = words[i],
                .device = peer->index,
                .heap = heap,
                .is_maar = i == 1,
                .is_whole = peer->played == peer->history->events.count && peer->failures == 0,
                .peak_bytes = sides[i]->peak[heap],
                .calls = sides[i]->calls[heap],
            };
            good = add_row(peers, &row);
        }
    }
    return good;
}

/* Adds the rows of a whole replay with blocks of a size, of the heaps that the program used. */
static bool add_size_rows(const struct peer* peer, struct tool_peers* peers, size_t which)
{
    char* const name = peers->names[peer->index].sizes[which];
    char size[32];
    bool good = true;
    if (peer->played < peer->history->events.count || peer->failures != 0) {
        return true;
    }
    (void)snprintf(name, sizeof peers->names->sizes[0], "Maar, blocks of up to %s%s",
                   tool_format_size(peer->block_size, size, sizeof size),
                   which == 0 ? ", the program's size" : "");
    for (uint32_t heap = 0; heap < peer->device->facts.heapCount && good; ++heap) {
        const struct support_report_peer row = {.name = name,
                                                .device = peer->index,
                                                .heap = heap,
                                                .is_maar = true,
                                                .is_whole = true,
                                                .block_size = peer->block_size,
                                                .peak_bytes = peer->maar.peak[heap],
                                                .calls = peer->maar.calls[heap]};
        good = peer->maar.calls[heap] == 0 || add_row(peers, &row);
    }
    return good;
}

uint64_t tool_peer_block_size(const struct support_history* history, uint32_t device)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < history->memories.count; ++i) {
        const struct support_history_memory* const memory = &history->memories.items[i];
        if (memory->device == device && memory->bind_count > 1 &&
            memory->dedicated == SUPPORT_HISTORY_NONE &&
            (memory->flags & MAAR_CAPTURE_MEMORY_IMPORT_BIT) == 0 && memory->size > largest) {
            largest = memory->size;
        }
    }
    return largest;
}

/* Returns how many devices have memory. */
static uint32_t count_devices(const struct support_history* history, bool* has_memory)
{
    uint32_t count = 0;
    for (size_t i = 0; i < history->memories.count; ++i) {
        const uint32_t device = history->memories.items[i].device;
        count += has_memory[device] ? 0 : 1;
        has_memory[device] = true;
    }
    return count;
}

/* Plays the capture once on a device of its own. */
static bool play_once(struct peer* peer)
{
    struct tool_device* const tool = calloc(1, sizeof *tool);
    if (tool == NULL) {
        tool_complain("out of memory");
        return false;
    }
    const bool good = play_device(peer, tool);
    tool_device_close(tool);
    free(tool);
    return good;
}

static bool find_rows(const struct support_history* history, uint32_t device, uint64_t budget_ns,
                      struct tool_peers* peers)
{
    const uint64_t largest = tool_peer_block_size(history, device);
    struct peer peer = {
        .history = history,
        .device = &history->devices.items[device],
        .index = device,
        .end_ns = tool_now_ns() + budget_ns,
        .allocations = calloc(history->resources.count + 1, sizeof *peer.allocations),
    };
    if (peer.allocations == NULL) {
        tool_complain("out of memory");
        return false;
    }
    bool good = play_once(&peer) && add_rows(&peer, peers);
    for (size_t i = 0; i < TOOL_PEER_SIZES && good; ++i) {
        struct peer other = {.history = history,
                             .device = peer.device,
                             .index = device,
                             .end_ns = peer.end_ns,
                             .allocations = peer.allocations,
                             .block_size = largest >> i};
        if (other.block_size < PEER_LEAST_BLOCK || tool_now_ns() >= peer.end_ns) {
            break;
        }
        good = play_once(&other) && add_size_rows(&other, peers, i);
    }
    free(peer.allocations);
    return good;
}

bool tool_peers_find(const struct support_history* history, uint64_t budget_ns,
                     struct tool_peers* peers)
{
    *peers = (struct tool_peers){.rows = NULL};
    if (history->header.origin != MAAR_CAPTURE_ORIGIN_LAYER) {
        return true;
    }
    bool* const has_memory = calloc(history->devices.count + 1, sizeof *has_memory);
    peers->names = calloc(history->devices.count + 1, sizeof *peers->names);
    bool good = has_memory != NULL && peers->names != NULL;
    if (!good) {
        tool_complain("out of memory");
    }
    const uint32_t count = good ? count_devices(history, has_memory) : 0;
    for (uint32_t i = 0; i < history->devices.count && good; ++i) {
        good = !has_memory[i] || find_rows(history, i, budget_ns / count, peers);
    }
    free(has_memory);
    return good;
}

void tool_peers_release(struct tool_peers* peers)
{
    free(peers->rows);
    free(peers->names);
    *peers = (struct tool_peers){.rows = NULL};
}
