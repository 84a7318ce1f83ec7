/*
 * The internals of the simulated driver.
 *
 * Each profile has one struct sim_gpu, which holds everything that its devices share. The lock of a
 * gpu guards that struct and the structs of the gpu's devices and objects. The driver never holds
 * the lock while it allocates or frees host memory or runs a callback. A table of the device
 * resolves its non-dispatchable handles, so that the driver notices stale and foreign handles.
 */
#ifndef MAAR_SIM_H
#define MAAR_SIM_H

#include "backends/simulated/sim_functions.h"
#include "backends/simulated/sim_port.h"
#include "core/bits.h"
#include "core/host_memory.h"
#include "maar/simulated.h"

enum {
    SIM_MAX_FAULTS = 16,
    SIM_MAX_KEPT = 64,
    SIM_MAX_GPUS = 16,
    SIM_MAX_PLANES = 3,
    SIM_MAX_CUTS = 2,
    SIM_NO_MATCH = -1,
};

enum sim_function {
#define SIM_ENUMERATE(name, since, extension, traits, usual) SIM_FN_##name,
    SIM_FUNCTIONS(SIM_ENUMERATE)
#undef SIM_ENUMERATE
        SIM_FN_COUNT
};

struct sim_fault {
    int function; /* SIM_NO_MATCH: any function that can fail */
    uint64_t nth;
    uint64_t count;
    VkResult result;
};

struct sim_kept_violation {
    MaarSimulatedViolation violation;
    char text[MAAR_SIMULATED_MAX_TEXT];
};

struct sim_instance;
struct sim_device;
struct sim_submission;
struct sim_memory;
struct sim_resource;
struct sim_requirements;
struct sim_order;

/* A script of budgets; none where `count` is 0. */
struct sim_script {
    MaarSimulatedBudgetUnit unit;
    uint32_t count;
    uint64_t queries;
    MaarSimulatedBudgetStep steps[MAAR_SIMULATED_MAX_BUDGET_STEPS];
};

struct sim_gpu {
    struct sim_instance* instance;
    MaarSimulatedProfile profile;
    uint64_t extensions;              /* what it reports */
    uint32_t features;                /* what it reports */
    MaarSimulatedSharingInfo sharing; /* UUIDs filled in */
    PFN_maarSimulatedCall on_call;
    PFN_maarSimulatedViolation on_violation;
    void* user_data;
    struct sim_lock lock; /* guards all fields below, and all devices and objects of this gpu */
    struct sim_condition progress;
    MaarSimulatedFlags flags;
    struct sim_device* devices;
    MaarSimulatedDedicated dedicated;
    MaarSimulatedCounters counters;
    VkDeviceSize used_by_others[VK_MAX_MEMORY_HEAPS];
    uint64_t calls[SIM_FN_COUNT];
    struct sim_fault faults[SIM_MAX_FAULTS];
    uint32_t fault_count;
    uint64_t next_address;
    uint32_t devices_made;
    uint32_t claims;
    uint64_t order, order_state; /* see maarSimulatedSetOrder() */
    bool time_is_on;
    MaarSimulatedTimeInfo time; /* without zeros */
    struct sim_script scripts[VK_MAX_MEMORY_HEAPS];
    struct sim_file reused; /* has the descriptor that a failing import closed */
    uint32_t kept_count;
    uint32_t reported_count;
    struct sim_kept_violation kept[SIM_MAX_KEPT];
};

struct sim_instance {
    uint32_t api_minor;  /* minor version that the program asked for */
    uint64_t extensions; /* enabled ones */
    const VkAllocationCallbacks* callbacks;
    VkAllocationCallbacks callbacks_copy;
    uint32_t gpu_count;
    struct sim_gpu* gpus[SIM_MAX_GPUS];
};

struct sim_queue {
    struct sim_device* device;
    uint32_t family;
    uint32_t busy;
    bool tracks; /* the call that has the queue tracks order: see sim_known.h */
};

struct sim_object;

struct sim_slot {
    struct sim_object* object; /* NULL when free */
    uint32_t generation;
    uint32_t next_free;
};

struct sim_device {
    struct sim_gpu* gpu;
    const VkAllocationCallbacks* callbacks;
    VkAllocationCallbacks callbacks_copy;
    uint32_t api_minor;  /* the lower of the program's version and the device's */
    uint64_t extensions; /* enabled ones */
    uint32_t features;   /* enabled ones, bits by enum sim_feature */
    bool has_callbacks;  /* the device's own callbacks, not the instance's */
    bool overcommit_known;
    bool overcommit;
    bool lost;
    uint32_t memory_count;     /* live allocations, checked against maxMemoryAllocationCount */
    VkDeviceSize sparse_bytes; /* of live sparse resources */
    uint32_t salt;             /* makes handles of different devices differ */
    struct sim_slot* slots;
    uint32_t slot_count, slot_capacity, first_free;
    uint32_t family_first[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t family_count[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t queue_count;
    struct sim_queue* queues;
    struct sim_device* next;        /* of the same gpu */
    struct sim_submission* pending; /* held, oldest first */
    uint64_t sequence;              /* of the last submission */
    bool running;                   /* a thread is executing the held submissions */
    struct sim_order* order;        /* see sim_known.h; NULL where nothing is tracked */
};

/* Returns the first structure of a type in a chain, or NULL. */
const void* sim_chain_find(const void* chain, VkStructureType type);

static inline VkDeviceSize sim_or(VkDeviceSize value, VkDeviceSize fallback)
{
    return value != 0 ? value : fallback;
}

/* Conversions of handles. Vulkan defines handles as pointers or as integers. */
#define SIM_HANDLE(handle) ((uint64_t)(handle))
#define SIM_DEVICE(device) ((struct sim_device*)(void*)(device))
#define SIM_GPU(physical) ((struct sim_gpu*)(void*)(physical))

#endif
