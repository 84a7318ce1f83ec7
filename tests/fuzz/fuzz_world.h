/*
 * A whole allocator on a simulated device, driven by bytes, with a list of what lives on it. The
 * operations are in fuzz_make.c (what is allocated and freed) and fuzz_use.c (the rest);
 * fuzz_allocator.c sets up, chooses operations and compares. One world at a time, in one thread.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_WORLD_H
#define MAAR_TESTS_FUZZ_FUZZ_WORLD_H

#include "tests/fuzz/fuzz_host.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/rig/rig.h"

enum { WORLD_ITEMS = 64, WORLD_POOLS = 4, WORLD_STALE = 8, WORLD_POINTS = 3 };

enum item_state { ITEM_NONE, ITEM_LIVE, ITEM_PENDING };

enum item_what { ITEM_MEMORY, ITEM_BUFFER, ITEM_IMAGE, ITEM_SLICE };

struct fuzz_item {
    enum item_state state;
    enum item_what what;
    VkBuffer buffer; /* a slice's: the shared one */
    VkImage image;
    MaarSlice slice;
    MaarAllocation allocation; /* a slice has none */
    VkDeviceMemory memory;
    VkDeviceSize offset, size;
    VkDeviceSize asked; /* bytes that may be written */
    VkMemoryPropertyFlags properties;
    MaarPool pool;
    uint32_t map_count;
    bool mapped_for_life;
    unsigned char fill; /* its first and last byte; 0: not known */
    VkBuffer alias_buffer;
    VkImage alias_image;
    uint32_t point_count;
    MaarPoint points[WORLD_POINTS];
};

struct fuzz_world {
    struct fuzz_input input;
    struct rig rig;
    struct fuzz_host host;
    MaarSimulatedProfile profile;
    MaarAllocatorInfo info;
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS];
    struct fuzz_item items[WORLD_ITEMS];
    MaarPool pools[WORLD_POOLS];
    MaarAllocation stale[WORLD_STALE];
    uint32_t stale_count;
    VkSemaphore timeline; /* null where there is no such feature */
    uint64_t timeline_value, host_value;
    uint64_t traced_allocate, traced_free; /* by the callbacks of device memory */
    uint32_t asked_count;                  /* by the observer of memory that runs out */
    bool may_alias;
    bool may_be_lost; /* a loss was among the faults */
    bool has_sliced;  /* shared buffers count as allocations too */
    bool leaves;      /* something is left for maarDestroyAllocator */
};

/* ---- fuzz_make.c ---- */

bool world_has_passed(const struct fuzz_world* world, const struct fuzz_item* item);
/* Free now; true when there was something alive, not counting `but`. */
bool world_end_any(struct fuzz_world* world);
void world_end_item(struct fuzz_world* world, struct fuzz_item* item);
struct fuzz_item* world_pick(struct fuzz_world* world, bool with_slices);
void world_make_stale(struct fuzz_world* world, MaarAllocation allocation);

void world_make(struct fuzz_world* world);
void world_make_many(struct fuzz_world* world);
void world_make_bound(struct fuzz_world* world);
void world_slice(struct fuzz_world* world);
void world_alias(struct fuzz_world* world);
void world_free(struct fuzz_world* world);
void world_free_after(struct fuzz_world* world);

/* ---- fuzz_use.c ---- */

/* Moves the timeline, if the driver can. */
VkResult world_signal(struct fuzz_world* world, uint64_t value);
void world_use(struct fuzz_world* world, uint8_t which);
void world_pool(struct fuzz_world* world);
void world_misuse(struct fuzz_world* world);
void world_plan_faults(struct fuzz_world* world);
void world_forget_faults(struct fuzz_world* world);

#endif
