/*
 * FAKES. What lies in the files that stand for shared memory and semaphores: those of lavapipe and
 * of the simulated driver, and the fakes' own.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_FILE_H
#define MAAR_TESTS_FAKES_FAKE_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

enum {
    FAKE_FILE_PAYLOAD = 4096, /* where a block's bytes begin */
    FAKE_FILE_EXTRA = 4136    /* by how much the file is longer than the block */
};

enum fake_file_kind { FAKE_FILE_MEMORY = 1, FAKE_FILE_TIMELINE = 2, FAKE_FILE_BINARY = 3 };

/* A semaphore that semaphore_wrap.c has exported: over a timeline of the driver below, also for a
 * binary one, whose nth signal is that timeline's value n. Stays where it is until
 * semaphore_wrap_close, whatever becomes of the VkSemaphore. */
struct fake_shared_semaphore {
    VkDevice device;
    VkSemaphore timeline;
    PFN_vkWaitSemaphores wait;
    PFN_vkSignalSemaphore signal;
    PFN_vkGetSemaphoreCounterValue get_value;
    _Atomic uint64_t signals; /* of a binary semaphore, queued on either side */
    _Atomic uint64_t waits;
    _Atomic uint32_t dead; /* the device is gone */
};

/* The first bytes of a file of the simulated driver ("MAARSIM"), of the fakes ("MAARSIM" too, so
 * that the simulated driver takes it) or of semaphore_wrap.c ("MAARWRAP"). lavapipe writes none. */
struct fake_file_head {
    char magic[8];
    uint32_t kind;
    uint32_t handle_types;
    uint64_t size;
    uint32_t memory_type;
    uint32_t dedicated;
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
    _Atomic uint64_t value;
    uint64_t device;    /* VkDevice of the process that exported */
    uint64_t semaphore; /* VkSemaphore, likewise */
    uint64_t process;   /* "MAARWRAP": which process that is */
    uint64_t shared;    /* and where its struct fake_shared_semaphore is */
};

#define FAKE_MAGIC_SIMULATED "MAARSIM"
#define FAKE_MAGIC_WRAP "MAARWRAP"

#endif
