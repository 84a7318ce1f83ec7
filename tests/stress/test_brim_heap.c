/*
 * A heap that is full, and objects that end with their memory: threads free after points that have
 * passed and allocate again as much as their model says that there is room for, while other threads
 * only collect, wait, trim or look. No request may fail, and no observer may be called.
 *
 * MAAR_STRESS_ROUNDS, MAAR_STRESS_THREADS and MAAR_TEST_SEED as in test_brim.c.
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/stress/brim_crew.h"

enum { QUOTA = 6, SLOTS_OF_BLOCK = 8, BLOCKS = 2, OBJECTS = SLOTS_OF_BLOCK * BLOCKS };
static const VkDeviceSize slot_size = 65536; /* what sizes of blocks are rounded to */
static const uint32_t host_type = 1;
static const uint32_t host_heap = 1;

/* ---- memory of default pools under a heap limit ---- */

static void make_all(struct brim_worker* worker, MaarAllocation memory[QUOTA])
{
    struct brim_crew* crew = worker->crew;
    const MaarMemoryRequest request =
        rig_request(slot_size, 256, 1u << host_type, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    how.dedicated =
        MAAR_DEDICATED_NEVER; /* free ranges of blocks are no room for a dedicated one */
    for (uint32_t i = 0; i < QUOTA; ++i) {
        if (memory[i] != VK_NULL_HANDLE) {
            continue;
        }
        const uint64_t began = brim_now_ns();
        const VkResult result = maarAllocateMemory(crew->rig.allocator, &request, &how, &memory[i]);
        brim_expect_room(crew, began, result, "a request fails though the heap has room");
        (void)atomic_fetch_add(&crew->made, result == VK_SUCCESS ? 1 : 0);
    }
}

static void end_memory(struct brim_worker* worker, MaarAllocation* memory)
{
    MaarPoint points[2];
    const uint32_t count =
        rig_below(&worker->random, 4) == 0 ? 0 : brim_passed_points(worker, points);
    brim_expect(worker->crew,
                maarFreeMemoryAfter(worker->crew->rig.allocator, *memory, count, points) ==
                    VK_SUCCESS,
                "a free fails");
    *memory = VK_NULL_HANDLE;
}

static void fill_heap(struct brim_worker* worker)
{
    MaarAllocation memory[QUOTA] = {VK_NULL_HANDLE};
    for (uint32_t round = 0; round < worker->crew->rounds; ++round) {
        make_all(worker, memory);
        const uint32_t chance = 1 + rig_below(&worker->random, 4);
        for (uint32_t i = 0; i < QUOTA; ++i) {
            if (memory[i] != VK_NULL_HANDLE && rig_below(&worker->random, 4) < chance) {
                end_memory(worker, &memory[i]);
            }
        }
    }
    for (uint32_t i = 0; i < QUOTA; ++i) {
        if (memory[i] != VK_NULL_HANDLE) {
            end_memory(worker, &memory[i]);
        }
    }
}

static void heap_limit_is_enough(void** state)
{
    (void)state;
    static struct brim_crew crew;
    VkDeviceSize limits[VK_MAX_MEMORY_HEAPS] = {0};
    brim_open(&crew, 1500);
    limits[host_heap] = crew.worker_count * QUOTA * slot_size;
    crew.rig.create_info.heapSizeLimitCount = 3; /* of rig_profile_discrete */
    crew.rig.create_info.pHeapSizeLimits = limits;
    crew.rig.create_info.preferredBlockSize = 16 * slot_size;
    brim_begin(&crew);
    brim_run(&crew, fill_heap);
    assert_int_equal(rig_statistics(&crew.rig, VK_NULL_HANDLE).failureCount,
                     atomic_load(&crew.late));
    brim_end(&crew);
}

/* ---- buffers and images in a pool of their own ---- */

struct object {
    VkBuffer buffer;
    VkImage image;
    MaarAllocation memory;
};

static void make_object(struct brim_worker* worker, MaarPool pool, bool image,
                        struct object* object)
{
    struct brim_crew* crew = worker->crew;
    MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    const VkImageCreateInfo image_info = rig_image_info(128, 128);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(slot_size);
    const uint64_t began = brim_now_ns();
    const VkResult result = image ? maarCreateImage(crew->rig.allocator, &image_info, &how,
                                                    &object->image, &object->memory)
                                  : maarCreateBuffer(crew->rig.allocator, &buffer_info, &how,
                                                     &object->buffer, &object->memory);
    brim_expect_room(crew, began, result, "no object though the pool has room");
    (void)atomic_fetch_add(&crew->made, result == VK_SUCCESS ? 1 : 0);
}

static void end_object(struct brim_worker* worker, struct object* object)
{
    MaarPoint points[2];
    MaarAllocator allocator = worker->crew->rig.allocator;
    const uint32_t count = brim_passed_points(worker, points);
    const VkResult result =
        object->image != VK_NULL_HANDLE
            ? maarDestroyImageAfter(allocator, object->image, object->memory, count, points)
            : maarDestroyBufferAfter(allocator, object->buffer, object->memory, count, points);
    brim_expect(worker->crew, result == VK_SUCCESS, "a destruction fails");
    *object = (struct object){.memory = VK_NULL_HANDLE};
}

static void fill_with_objects(struct brim_worker* worker, bool image)
{
    struct brim_crew* crew = worker->crew;
    struct object objects[OBJECTS] = {{.memory = VK_NULL_HANDLE}};
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = image ? 0 : host_type,
        .blockSize = slot_size * SLOTS_OF_BLOCK,
        .maxBlockCount = BLOCKS,
    };
    MaarPool pool = VK_NULL_HANDLE;
    brim_expect(crew, maarCreatePool(crew->rig.allocator, &info, &pool) == VK_SUCCESS, "no pool");
    for (uint32_t round = 0; round <= crew->rounds; ++round) {
        const bool last = round == crew->rounds;
        const uint32_t chance = last ? 4 : 1 + rig_below(&worker->random, 4);
        for (uint32_t i = 0; i < OBJECTS && !last; ++i) {
            if (objects[i].memory == VK_NULL_HANDLE) {
                make_object(worker, pool, image, &objects[i]);
            }
        }
        for (uint32_t i = 0; i < OBJECTS; ++i) {
            if (objects[i].memory != VK_NULL_HANDLE && rig_below(&worker->random, 4) < chance) {
                end_object(worker, &objects[i]);
            }
        }
    }
    maarDestroyPool(crew->rig.allocator, pool);
}

static void fill_with_buffers(struct brim_worker* worker)
{
    fill_with_objects(worker, false);
}

static void fill_with_images(struct brim_worker* worker)
{
    fill_with_objects(worker, true);
}

static void buffers_that_end_leave_their_room(void** state)
{
    (void)state;
    brim_run_case(400, fill_with_buffers);
}

static void images_that_end_leave_their_room(void** state)
{
    (void)state;
    brim_run_case(400, fill_with_images);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_limit_is_enough),
        cmocka_unit_test(buffers_that_end_leave_their_room),
        cmocka_unit_test(images_that_end_leave_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
