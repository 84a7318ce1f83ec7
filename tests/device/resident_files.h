/*
 * Files of random programs with residents: the file of a manager, which may fail, and checkpoints.
 * All are bytes in memory. A ring in memory makes the transfers of every other manager.
 */
#ifndef MAAR_TESTS_DEVICE_RESIDENT_FILES_H
#define MAAR_TESTS_DEVICE_RESIDENT_FILES_H

#include "core/residency/residency_state.h"
#include "maar/checkpoint.h"
#include "tests/rig/rig.h"
#include "tests/unit/residency/fake_ring.h"

enum { FILE_SIZE = 8 << 20, CHECKPOINT_SIZE = 4 << 20, CHECKPOINTS = 64, NO_CHECKPOINT = 64 };

/* ---- the manager's file ---- */

static struct {
    uint8_t bytes[FILE_SIZE];
    uint32_t fails; /* one transfer of so many fails, some of them half done; 0: none */
    struct rig_random dice;
    uint32_t failed;
} disk;

static inline bool disk_fails(void)
{
    const bool fails = disk.fails > 0 && rig_below(&disk.dice, disk.fails) == 0;
    disk.failed += fails ? 1 : 0;
    return fails;
}

static inline VkResult VKAPI_PTR read_file(void* data, VkDeviceSize offset, size_t size,
                                           void* bytes)
{
    (void)data;
    memcpy(bytes, disk.bytes + offset, size);
    if (disk_fails()) {
        memset(bytes, 0xA5, size / 2);
        return VK_ERROR_UNKNOWN;
    }
    return VK_SUCCESS;
}

/* A write that fails has changed some of the bytes. */
static inline VkResult VKAPI_PTR write_file(void* data, VkDeviceSize offset, size_t size,
                                            void* bytes)
{
    (void)data;
    const bool fails = disk_fails();
    memcpy(disk.bytes + offset, bytes, fails ? size / 2 : size);
    return fails ? VK_ERROR_UNKNOWN : VK_SUCCESS;
}

static inline MaarFileStore file_of(VkDeviceSize size)
{
    return (MaarFileStore){
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .size = size,
        .pfnRead = read_file,
        .pfnWrite = write_file,
    };
}

static struct {
    struct fake_ring ring;
    uint32_t turn;
} file_ring;

/* Gives a manager that has just been created a store with a ring, which cuts transfers off. It
 * fails as often as the file. */
static inline void give_ring(struct maar_residency* state, const MaarFileStore* file)
{
    file_ring.ring = (struct fake_ring){.file = *file, .random = 9, .cuts = 10};
    file_ring.ring.fails = disk.fails;
    const struct maar_store_info info = {
        .file = file,
        .callbacks = state->allocator->callbacks,
        .buffer_size = 4096,
        .synchronized = true,
        .ring_calls = &fake_ring_calls,
        .ring_user = &file_ring.ring,
    };
    maar_store_destroy(state->store);
    assert_int_equal(maar_store_create(&info, &state->store), VK_SUCCESS);
}

/* ---- checkpoints ---- */

/* A checkpoint lives as long as residents that were created with it. */
static struct checkpoint {
    uint8_t* bytes; /* NULL: there is none */
    MaarFileStore store;
    MaarCheckpoint handle;
    uint32_t users;
} checkpoints[CHECKPOINTS];

static inline VkResult VKAPI_PTR read_checkpoint(void* data, VkDeviceSize offset, size_t size,
                                                 void* bytes)
{
    memcpy(bytes, (uint8_t*)data + offset, size);
    return VK_SUCCESS;
}

static inline VkResult VKAPI_PTR write_checkpoint(void* data, VkDeviceSize offset, size_t size,
                                                  void* bytes)
{
    memcpy((uint8_t*)data + offset, bytes, size);
    return VK_SUCCESS;
}

/* Returns the number of a checkpoint that was not written yet. */
static inline uint32_t make_checkpoint(void)
{
    uint32_t at = 0;
    while (checkpoints[at].bytes != NULL) {
        ++at;
        assert_true(at < CHECKPOINTS);
    }
    checkpoints[at] = (struct checkpoint){.bytes = malloc(CHECKPOINT_SIZE)};
    assert_non_null(checkpoints[at].bytes);
    checkpoints[at].store = (MaarFileStore){
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = checkpoints[at].bytes,
        .size = CHECKPOINT_SIZE,
        .pfnRead = read_checkpoint,
        .pfnWrite = write_checkpoint,
    };
    return at;
}

static inline void open_checkpoint(uint32_t at)
{
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &checkpoints[at].store};
    assert_int_equal(maarOpenCheckpoint(&info, &checkpoints[at].handle), VK_SUCCESS);
}

/* Closes the checkpoints that no resident was created with. */
static inline void close_checkpoints(void)
{
    for (uint32_t at = 0; at < CHECKPOINTS; ++at) {
        if (checkpoints[at].bytes != NULL && checkpoints[at].users == 0) {
            maarCloseCheckpoint(checkpoints[at].handle);
            free(checkpoints[at].bytes);
            checkpoints[at].bytes = NULL;
        }
    }
}

#endif
