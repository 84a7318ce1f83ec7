/*
 * Reports what must move to make room for one request; see defragmentation_room.h.
 */
#include "bench/defragmentation_room.h"

#include "bench/bench_common.h"
#include "bench/defragmentation_window.h"

#include <math.h>
#include <stdlib.h>

#define MIB(bytes) ((double)(bytes) / 1048576.0)

/* A heap with holes, in the pool of the first peer. */
struct holed_heap {
    const struct defragmentation_peer* peer;
    void* allocator;
    struct allocator_tally tally;
    struct defragmentation_lives lives;
    struct defragmentation_layout layout;
};

/* Allocates until so many live and the last block is full. Returns the number of allocations. */
static uint32_t fill_blocks(const struct defragmentation_room* room, struct holed_heap* heap,
                            uint64_t* random, struct defragmentation_live* all, uint32_t capacity)
{
    uint32_t made = 0;
    while (made < capacity) {
        const uint64_t blocks = atomic_load(&heap->tally.blocks);
        struct defragmentation_live* const live = &all[made];
        live->size = bench_size(random, false);
        live->alignment = BENCH_ALIGNMENT;
        if (!heap->peer->allocate(heap->allocator, live->size, live->alignment, &live->item)) {
            bench_die(BENCH_EXIT_FAILED, "%s cannot allocate", heap->peer->name);
        }
        if (made >= 2 * room->live && atomic_load(&heap->tally.blocks) > blocks) {
            heap->peer->allocator->free(heap->allocator, &live->item);
            return made;
        }
        ++made;
    }
    bench_die(BENCH_EXIT_FAILED, "the last block does not become full");
}

/* Makes the heap: exactly room->live allocations remain. */
static void make_heap(const struct defragmentation_room* room, struct holed_heap* heap)
{
    const struct allocator_options options = {.externally_synchronized = true};
    *heap = (struct holed_heap){.peer = defragmentation_peers[0]};
    heap->allocator = heap->peer->allocator->create(room->device, &options, &heap->tally);
    heap->peer->create_pool(heap->allocator, room->block_size);
    /* A mean size is above 64 KiB. */
    const uint32_t capacity = 2 * room->live + 64 + (uint32_t)(room->block_size >> 16);
    struct defragmentation_live* const all = bench_allocate(capacity, sizeof(*all));
    uint64_t random = BENCH_SEED;
    const uint32_t made = fill_blocks(room, heap, &random, all, capacity);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < made; ++i) {
        const uint32_t left = room->live - kept;
        if (bench_random(&random) % (made - i) < left) {
            all[kept++] = all[i];
        } else {
            heap->peer->allocator->free(heap->allocator, &all[i].item);
        }
    }
    heap->lives = (struct defragmentation_lives){.all = all, .count = kept};
    heap->layout =
        defragmentation_read(heap->peer, heap->allocator, room->block_size, &heap->lives);
}

static void release_heap(struct holed_heap* heap)
{
    defragmentation_layout_release(&heap->layout);
    defragmentation_free_lives(heap->peer, heap->allocator, &heap->lives);
    heap->peer->destroy_pool(heap->allocator);
    heap->peer->allocator->destroy(heap->allocator);
}

static double ratio_of(uint64_t bytes, uint64_t reference)
{
    return bytes == reference ? 1 : (double)bytes / (double)reference;
}

/* Ends the program if ranges overlap, or if too little has moved or too often. */
static void check_room(const struct holed_heap* heap, uint64_t block_size,
                       const struct defragmentation_windows* windows, bool has_room,
                       const struct defragmentation_point* made)
{
    struct defragmentation_layout left =
        defragmentation_read(heap->peer, heap->allocator, block_size, &heap->lives);
    if (has_room && (!windows->is_possible || made->moved_bytes < windows->least.bytes ||
                     made->moves > heap->layout.count)) {
        bench_die(BENCH_EXIT_FAILED, "%s: room was made for too few bytes or by too many moves",
                  heap->peer->name);
    }
    defragmentation_layout_release(&left);
}

static void report_request(const struct defragmentation_room* room, uint64_t size)
{
    struct holed_heap heap;
    struct bench_row row;
    make_heap(room, &heap);
    const struct defragmentation_windows windows =
        defragmentation_find_windows(&heap.layout, size, BENCH_ALIGNMENT);
    bench_row_begin(&row, "defragmentation");
    bench_row_text(&row, ".device", room->device->properties.deviceName);
    bench_row_text(&row, "workload", "room");
    bench_row_count(&row, "live", heap.layout.count);
    bench_row_number(&row, "live_mib", MIB(heap.layout.live_bytes), 1);
    bench_row_count(&row, "blocks", heap.layout.block_count);
    bench_row_number(&row, "request_mib", MIB(size), 1);
    bench_row_number(&row, "hole_mib", MIB(defragmentation_largest_hole(&heap.layout)), 2);
    bench_row_number(&row, "least_mib", windows.is_possible ? MIB(windows.least.bytes) : NAN, 3);
    bench_row_number(&row, "best_mib", windows.is_feasible ? MIB(windows.best.bytes) : NAN, 3);
    bench_row_count(&row, "best_moves", windows.best.moves);
    struct defragmentation_point made = {0};
    const bool has_room =
        heap.peer->make_room(heap.allocator, size, BENCH_ALIGNMENT, room->pass_bytes, &made);
    check_room(&heap, room->block_size, &windows, has_room, &made);
    bench_row_number(&row, "maar_mib", has_room ? MIB(made.moved_bytes) : NAN, 3);
    bench_row_count(&row, "maar_moves", made.moves);
    bench_row_number(&row, "of_least",
                     has_room ? ratio_of(made.moved_bytes, windows.least.bytes) : NAN, 3);
    bench_row_number(
        &row, "of_best",
        has_room && windows.is_feasible ? ratio_of(made.moved_bytes, windows.best.bytes) : NAN, 3);
    bench_row_text(&row, ".self_check", "passed");
    bench_row_end(&row, room->table);
    release_heap(&heap);
}

void defragmentation_report_room(const struct defragmentation_room* room)
{
    defragmentation_check_windows();
    for (uint64_t part = 16; part >= 2; part /= part > 4 ? 4 : 2) {
        report_request(room, room->block_size / part);
    }
}
