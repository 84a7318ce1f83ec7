/*
 * FAKES. How a test steers the FAKE CUDA driver and the FAKE HIP runtime, and what it learns from
 * them. Neither is a GPU, nor says anything about one: "device memory" is the file behind a block
 * that lavapipe or the simulated driver exported, "streams" are threads of the host. What they do
 * is to enforce the rules of the interfaces that they stand in for; each breach is a sentence.
 *
 * A library has one symbol beyond the entry points, maar_fake_cuda_is_a_fake or
 * maar_fake_hip_is_a_fake, which returns this table. All functions may be called from any thread.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_CONTROL_H
#define MAAR_TESTS_FAKES_FAKE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include "interop/cuda/cuda_driver.h"

/* What is alive. */
enum fake_kind {
    FAKE_KIND_MEMORY,    /* imports of external memory */
    FAKE_KIND_SEMAPHORE, /* imports of external semaphores */
    FAKE_KIND_IMAGE,     /* mipmapped arrays */
    FAKE_KIND_STREAM,    /* without the default stream */
    FAKE_KIND_EVENT,
    FAKE_KIND_CONTEXT,     /* retains of primary contexts that were not released */
    FAKE_KIND_BACKING,     /* cuMemCreate, cuMemImportFromShareableHandle */
    FAKE_KIND_RESERVATION, /* cuMemAddressReserve */
    FAKE_KIND_MAPPING,     /* pointers into imported memory */
    FAKE_KIND_ALLOCATION,  /* cuMemAlloc, hipMalloc */
    FAKE_KIND_PAGES,       /* cuMemMap */
    FAKE_KIND_COUNT
};

enum {
    FAKE_MAX_DEVICES = 4,
    FAKE_GRANULARITY = 2 << 20 /* of cuMemCreate, bytes */
};

/* How the simulated driver learns that a semaphore of its own was signalled. Without this its file
 * is written, and no message is sent. What semaphore_wrap.h exports brings its own functions. */
struct fake_vulkan {
    PFN_vkSignalSemaphore signal; /* timelines, while their VkSemaphore lives */
    void (*progress)(void* data); /* after each signal, and while a stream waits; may be NULL */
    void* data;
};

/* Makes what cuMemCreate exports a file that a simulated device imports as its own. */
struct fake_identity {
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
    uint32_t memory_type;
};

/* Changes what a call was given before the fake looks at it, as an error in the caller would.
 * Called with the fake's lock held: must not call it. */
struct fake_tamper {
    void (*memory)(struct maar_cuda_memory_handle* handle, void* data);
    void (*range)(struct maar_cuda_memory_range* range, void* data);
    void (*semaphore)(struct maar_cuda_semaphore_handle* handle, void* data);
    void* data;
};

/* Members keep their places, since programs in other languages count them: new ones come last. */
struct fake_control {
    const char* text; /* what this is: says FAKE */

    /* As if the process had just started; gives up what still waits, destroys what is alive. */
    void (*reset)(void);

    /* Devices: one at first, whose UUID is MAAR_FAKE_UUID (32 hexadecimal digits), else "FAKE...".
     */
    void (*set_device_count)(int count);
    void (*set_uuid)(int device, const uint8_t uuid[VK_UUID_SIZE]);
    void (*set_luid)(int device, const uint8_t luid[VK_LUID_SIZE], uint32_t node_mask);
    void (*set_pci_address)(int device, const char* address); /* "0000:01:00.0" */
    void (*set_attribute)(int device, int attribute, int value);
    void (*set_version)(int version);
    void (*set_vulkan)(const struct fake_vulkan* vulkan);
    void (*set_identity)(const struct fake_identity* identity);
    /* Another context on a device, as a program that does not use the primary one has. */
    struct maar_cuda_context* (*make_context)(int device);

    /* The nth call of a function from now on (1 is the next; NULL: any), and count - 1 after it,
     * return `result` and do nothing. Names are without a version: "cuMemFree". */
    void (*set_fault)(const char* function, uint64_t nth, uint64_t count, int result);
    uint64_t (*calls)(const char* function);

    uint64_t (*live)(enum fake_kind kind);
    uint64_t (*imported_bytes)(void);
    /* How many contexts are on the calling thread's stack. */
    uint32_t (*context_depth)(void);
    /* Operations of a stream that are not done, NULL for the default stream's. */
    uint64_t (*pending)(void* stream);
    /* The last of each that was asked for, refused ones too; all zero if none was. */
    struct maar_cuda_memory_handle (*last_memory)(void);
    struct maar_cuda_memory_range (*last_range)(void);
    struct maar_cuda_memory_image (*last_image)(void);
    struct maar_cuda_semaphore_handle (*last_semaphore)(void);

    /* Rules that were broken since the last reset; the first 64 are kept as sentences. */
    uint32_t (*breach_count)(void);
    const char* (*breach)(uint32_t index); /* "" beyond the last */
    void (*forget_breaches)(void);
    /* Waits that never end become breaches, and the streams go on. */
    void (*abandon_waits)(void);
    /* What is alive now is a breach: one sentence a kind. */
    void (*expect_nothing_alive)(void);
    /* Of set_fault: how many calls are still to fail. */
    uint64_t (*faults_left)(void);
    void (*set_tamper)(const struct fake_tamper* tamper); /* NULL: no more */
    /* Whether freeing a pointer first waits until all streams of the context are idle. hipFree of
     * the real runtime does; that cuMemFree never does is promised nowhere. */
    void (*set_free_waits)(bool waits);
};

typedef const struct fake_control* (*fake_is_a_fake_fn)(void);

#endif
