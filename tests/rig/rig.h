/*
 * What the tests of the allocator share: a device (simulated, or whatever driver the loader finds)
 * opened as a program would, an allocator on it, messages that are kept, host memory that is
 * counted and fails on demand, and one last check that nothing was broken or left behind.
 *
 * A rig must not move once open: the recommendation in it points into itself. All but the message
 * log and the host memory belongs to one thread.
 */
#ifndef MAAR_TESTS_RIG_RIG_H
#define MAAR_TESTS_RIG_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <volk.h>
#include <cmocka.h>

#include "maar/maar.h"
#include "maar/simulated.h"
#include "maar/volk.h"

#define KIB ((VkDeviceSize)1 << 10)
#define MIB ((VkDeviceSize)1 << 20)
#define GIB ((VkDeviceSize)1 << 30)

/* Capabilities that a program may have left off. */
enum rig_off {
    RIG_OFF_BUDGET = 0x1,
    RIG_OFF_PRIORITY = 0x2,
    RIG_OFF_PAGEABLE = 0x4,
    RIG_OFF_ADDRESS = 0x8,
    RIG_OFF_MAINTENANCE4 = 0x10,
    RIG_OFF_TIMELINE = 0x20,
    RIG_OFF_ALL = 0x3F,
    RIG_OFF_SPARSE = 0x40,    /* these two matter with rig_setup::paging alone */
    RIG_OFF_RESIDENCY = 0x80, /* sparse binding of whole resources stays */
};

struct rig_messages {
    atomic_flag busy; /* guards what follows */
    uint32_t total;
    uint32_t counts[4]; /* by MaarMessageSeverity */
    MaarMessageId last_id;
    char last[640];
};

struct rig_host {
    _Atomic uint64_t calls;
    _Atomic uint64_t fail_at; /* the call that fails, 1 being the first; 0: none */
    _Atomic uint64_t live;
    _Atomic uint64_t live_bytes;
    void (*before)(struct rig_host* host); /* before each allocation; may be NULL */
};

struct rig;
typedef void (*rig_call_hook)(void* data, const char* function);

enum { RIG_QUEUES = 2, RIG_TABLE_FUNCTIONS = 32 };

struct rig_setup {
    const MaarSimulatedProfile* profile; /* NULL: rig_profile_discrete() */
    MaarSimulatedFlags flags;
    uint32_t api_version;         /* of the program; 0: 1.3 */
    VkFlags off;                  /* enum rig_off */
    bool count_host;              /* the allocator and the driver get rig_host's callbacks */
    VkDeviceSize preferred_block; /* MaarAllocatorCreateInfo::preferredBlockSize */
    bool without_layer;           /* rig_open_vulkan: not under the validation layer */
    bool two_families;            /* a queue of a second family besides, where the device has one */
    bool paging;                  /* the allocator gets a queue that binds, and the main one */
    VkMemoryOverallocationBehaviorAMD overallocation; /* 0: the device is not given any */
    const MaarSimulatedSharingInfo* sharing; /* what a simulated device shares; NULL: nothing */
};

struct rig {
    bool simulated;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family_count; /* those of rig_setup::two_families */
    uint32_t families[RIG_QUEUES];
    VkQueue queues[RIG_QUEUES];
    MaarQueue paging_queues[2]; /* with rig_setup::paging: those in create_info */
    MaarDeviceRecommendation recommendation;
    const char* extensions[MAAR_MAX_RECOMMENDED_EXTENSIONS];
    MaarAllocatorCreateInfo create_info; /* for rig_make_allocator; a test may change it before */
    MaarEntryPointsInfo entry_points;    /* rig_use_table */
    MaarNamedFunction table[RIG_TABLE_FUNCTIONS];
    MaarAllocator allocator;
    struct rig_messages messages;
    struct rig_host host;
    VkAllocationCallbacks host_callbacks;
    rig_call_hook call; /* before each call of the simulated driver; may be NULL */
    void* call_data;
    uint64_t expected_violations;
    char violation[MAAR_SIMULATED_MAX_TEXT];
    VkDebugUtilsMessengerEXT messenger;
    bool validated;
    _Atomic uint32_t validation_count;
    char validation_text[1024];
};

/* ---- profiles made here: small, so that a test can say which type it expects ---- */

/* 8 GiB of device memory, 16 GiB of system memory, a BAR of 256 MiB. Types: 0 device-local;
 * 1 host-visible, coherent; 2 host-visible, coherent, cached; 3 device-local and host-visible.
 * Granularity 1024, 4096 objects, atoms of 64. */
const MaarSimulatedProfile* rig_profile_discrete(void);
/* One heap of 2 GiB. Types: 0 device-local; 1 device-local, host-visible, coherent; 2 the same
 * cached and not coherent; 3 lazily allocated. Granularity 4096, atoms of 256. */
const MaarSimulatedProfile* rig_profile_noncoherent(void);
/* Two heaps of 64 MiB, 0 device-local, 1 not; types 0 device-local, 1 host-visible and coherent.
 * 16 objects of at most 16 MiB, granularity 65536. */
const MaarSimulatedProfile* rig_profile_tiny(void);
/* data/profiles/NAME.json; fails the test when it cannot be read. Valid until the next call. */
const MaarSimulatedProfile* rig_profile_file(const char* name);
/* The names of files of five vendors' devices, on which tests of bytes run. */
enum { RIG_VENDORS = 5 };
extern const char* const rig_vendors[RIG_VENDORS];
/* Skips the case, with the reason, where a driver takes the place of simulated devices. */
void rig_need_simulated_devices(void);

/* The discrete card with sparse buffers of 64 KiB pages. */
const MaarSimulatedProfile* rig_profile_sparse(void);

/* What simulated devices can share, all of it and each way; sparse: sparse buffers too. */
const MaarSimulatedSharingInfo* rig_sharing_everything(void);
const MaarSimulatedSharingInfo* rig_sharing_sparse(void);

/* ---- life ---- */

/* Opens a simulated device and fills create_info. setup may be NULL. */
void rig_open(struct rig* rig, const struct rig_setup* setup);
/* Opens the first device that the loader finds, under the validation layer with synchronization
 * checks where it is installed; false, having said why, when there is none. Any message of the
 * layer fails rig_close. setup's profile and flags do not matter; it may be NULL. */
bool rig_open_vulkan(struct rig* rig, const struct rig_setup* setup, bool needs_validation);
/* Creates the allocator from create_info; fails the test if it cannot. */
void rig_make_allocator(struct rig* rig);
/* rig_open and rig_make_allocator. */
void rig_start(struct rig* rig, const struct rig_setup* setup);
/* Destroys allocator, device and instance; then fails the test when the driver saw a breach of
 * Vulkan's rules, when an object is left, or when host memory is. */
void rig_close(struct rig* rig);

/* Puts a table of the functions for memory and objects into create_info, in the place of the entry
 * points. */
void rig_use_table(struct rig* rig);
/* Puts entry points into create_info that give a trap for each function of a later version than
 * Vulkan 1.0. rig_open does it for a setup of that version. */
void rig_use_first_functions(struct rig* rig);

/* Skips a case that needs what MAAR_RIG_FUNCTIONS takes away: features, timelines, budgets, chains
 * of requirements. */
void rig_need_all_functions(void);

/* A rig that belongs to the case which is running: rig_end_case closes it, also when an assertion
 * has ended the case. rig_new only provides it; rig_begin starts it too. */
struct rig* rig_new(void);
struct rig* rig_begin(const struct rig_setup* setup);
/* The teardown of cases that use these: closes and frees every rig that is left. */
int rig_end_case(void** state);
#define rig_unit_test(function) cmocka_unit_test_teardown(function, rig_end_case)

/* ---- cases on real drivers ---- */

/* MAAR_RIG, as "nvk:172"; empty where it is not set. */
const char* rig_name(void);
/* Whether that is a rig of this family: the name before the colon. */
bool rig_is(const char* family);
/* Whether commands execute: not on a driver over a kernel interface that does nothing. */
bool rig_executes(void);
/* Whether the test runs on simulated devices alone. */
bool rig_is_without_driver(void);
/* Opens the driver of MAAR_RIG with paging, if there is one, and sets *state to the rig or to NULL:
 * what the setup of a case does. On lavapipe the validation layer is needed. */
int rig_setup_driver(struct rig* rig, void** state);
/* rig_open_vulkan and rig_make_allocator, with paging. */
bool rig_start_paging(struct rig* rig);
/* The teardown of a case whose setup put an open rig into *state, or NULL. */
int rig_teardown(void** state);
/* Skips a case without a rig; and with one, saying why, when the condition does not hold. */
void rig_need(void** state, bool condition, const char* reason);

/* ---- looking ---- */

/* The heavy check, which must find nothing. */
void rig_check(struct rig* rig);
/* Totals of a pool or of everything; bytes live + pending + padding + free = bytes of blocks. */
MaarStatistics rig_statistics(struct rig* rig, MaarPool pool);
MaarDetailedStatistics rig_details(struct rig* rig, MaarPool pool);
MaarAllocatorInfo rig_allocator_info(struct rig* rig);
MaarAllocationInfo rig_info(struct rig* rig, MaarAllocation allocation);
MaarHeapBudget rig_budget(struct rig* rig, uint32_t heap);
MaarSimulatedCounters rig_counters(struct rig* rig);
uint64_t rig_calls(struct rig* rig, const char* function);
/* There was a message since the last look, and the last one has this identifier. */
void rig_expect_message(struct rig* rig, MaarMessageId id);
/* The same, and its text names the culprit, which is one word of it: an argument, a function, an
 * object's name or a number. NULL: any. */
void rig_expect_message_naming(struct rig* rig, MaarMessageId id, const char* culprit);
void rig_expect_silence(struct rig* rig);
/* Whether the last message names the culprit. */
bool rig_message_names(struct rig* rig, const char* culprit);
bool rig_message_names_number(struct rig* rig, uint64_t number);
/* A number of the last message: 0 for the first one in it. */
uint64_t rig_message_number(struct rig* rig, uint32_t index);
/* As if none had come. */
void rig_forget_messages(struct rig* rig);

/* ---- doing ---- */

MaarMemoryRequest rig_request(VkDeviceSize size, VkDeviceSize alignment, uint32_t type_bits,
                              MaarResourceKind kind);
MaarAllocationCreateInfo rig_how(MaarMemoryUsage usage);
/* A run of defragmentation; must begin. */
MaarDefragmentation rig_begin_run(struct rig* rig, const MaarDefragmentationBeginInfo* info);
/* Plain memory of any type; must succeed. */
MaarAllocation rig_allocate(struct rig* rig, VkDeviceSize size,
                            const MaarAllocationCreateInfo* how);
/* The same, which may fail: null then. */
VkResult rig_try(struct rig* rig, VkDeviceSize size, const MaarAllocationCreateInfo* how,
                 MaarAllocation* allocation);
MaarPool rig_create_pool(struct rig* rig, const MaarPoolCreateInfo* info);
VkBufferCreateInfo rig_buffer_info(VkDeviceSize size);
VkImageCreateInfo rig_image_info(uint32_t width, uint32_t height);
/* A command buffer of family 0 that is being recorded, in a pool of its own. */
VkCommandBuffer rig_open_commands(struct rig* rig, VkCommandPool* pool);
VkSemaphore rig_create_timeline(struct rig* rig, uint64_t value);
void rig_signal(struct rig* rig, VkSemaphore semaphore, uint64_t value);
/* The nth call of function from now on (NULL: any that can fail), and count - 1 more, fail. */
void rig_set_fault(struct rig* rig, const char* function, uint64_t nth, uint64_t count,
                   VkResult result);
void rig_clear_faults(struct rig* rig);

/* ---- sharing ---- */

/* Open descriptors of this process. */
uint32_t rig_count_fds(void);
/* Exports as a descriptor; must succeed. */
MaarExportedMemory rig_export(struct rig* rig, MaarAllocation allocation);
/* A buffer in memory that the host sees and others can import. */
MaarAllocation rig_create_shared_buffer(struct rig* rig, VkDeviceSize size, VkBuffer* buffer);

/* ---- host memory of a test's own callbacks: straight from the C library ---- */

void* VKAPI_PTR rig_plain_reallocate(void* user, void* original, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope);
void VKAPI_PTR rig_plain_free(void* user, void* memory);

/* A generator of the tests' own: the same numbers on every machine. */
struct rig_random {
    uint64_t state;
};
uint32_t rig_next(struct rig_random* random);
/* 0 .. bound - 1 */
uint32_t rig_below(struct rig_random* random, uint32_t bound);
/* MAAR_TEST_SEED, or the default; printed. */
uint64_t rig_seed(uint64_t preset);

#endif
