/*
 * The state of a manager of residents.
 *
 * The contents of a resident are valid in some tiers at a time; `valid` has a bit for each. A use
 * that writes makes all other copies invalid when it ends. A copy leaves a tier only while another
 * tier has a valid one, or when the contents are dropped.
 *
 * Device and host memory: a resident has at most one object in each. The device's object is the one
 * that uses get, unless a buffer was demoted: then they get the host's. Copies between the two are
 * commands of Maar's own on one queue. They signal one timeline, the manager's own.
 *
 * Lower tiers: pieces of work (residency_work.h) read the host's object or write to it while no
 * command does. Threads of the program carry them out.
 *
 * Not synchronized, but for the lists of work.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_STATE_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_STATE_H

#include "core/host_memory.h"
#include "core/memory/object_handle.h"
#include "core/objects/movable.h"
#include "core/port_thread.h"
#include "core/residency/codec.h"
#include "core/residency/policy.h"
#include "core/residency/store.h"
#include "core/residency/tier_memory.h"
#include "maar/paging.h"
#include "maar/residency.h"

struct maar_work;

enum {
    /* The program's timelines. Frees wait for them and for the manager's own. */
    MAAR_RESIDENCY_TIMELINES = MAAR_MAX_POINTS - 1,
    MAAR_RESIDENT_POINTS = 2,          /* exact values that a resident keeps */
    MAAR_TIER_SOURCE = MAAR_TIER_COUNT /* what MaarResidentCreateInfo::pfnRead reads */
};

/* Bits of maar_resident::valid. */
#define MAAR_VALID_IN(tier) (1u << (tier))

/* Lists of residents, the longest unused first. */
enum maar_resident_list { MAAR_LIST_HOST, MAAR_LIST_PACKED, MAAR_RESIDENT_LISTS };
struct maar_resident_link {
    uint32_t older;
    uint32_t newer;
};

/* What a resident's object is. */
enum maar_resident_kind {
    MAAR_RESIDENT_BUFFER, /* created anew each time */
    MAAR_RESIDENT_IMAGE,
    MAAR_RESIDENT_RANGE, /* pages of a reservation */
    MAAR_RESIDENT_TILES  /* pages of a sparse image */
};

/* What each use reads comes first. */
struct maar_resident {
    uint32_t generation;       /* of the handle; odd while the resident exists */
    uint32_t pin_count;        /* uses and locks */
    uint32_t policy;           /* number in the policy */
    uint8_t valid;             /* MAAR_VALID_IN of each tier with a valid copy */
    bool has_object;           /* on the device */
    bool is_demoted;           /* the present uses have the host's object */
    bool is_wanted;            /* in a use that is about to begin */
    bool is_counted;           /* its bytes are among those that are pinned */
    bool is_saved;             /* its host object is being made for a copy */
    bool is_held;              /* pinned in the policy for that use */
    bool needs_contents;       /* and what it wants of the device must be copied there */
    uint32_t writer_count;     /* uses that have begun and write */
    bool is_dirty;             /* as the policy knows it */
    uint8_t point_count;       /* exact values in points */
    uint16_t timelines;        /* a bit for each timeline of the program that its uses named */
    VkImageLayout layout;      /* of valid contents */
    VkImageLayout next_layout; /* after the uses that have begun */
    struct maar_object object;
    VkDeviceAddress address;
    uint64_t epoch;
    uint64_t ready; /* value of the manager's timeline: the last copy of the device's object */
    struct {
        uint64_t value;
        uint32_t timeline;
    } points[MAAR_RESIDENT_POINTS];

    MaarResidentCreateFlags flags;
    uint32_t lock_count;
    uint32_t priority_class;
    enum maar_resident_kind kind;
    MaarReservation reservation; /* of a range, which begins at the offset */
    VkDeviceSize offset;
    VkBuffer pages_buffer;
    VkDeviceAddress pages_address;
    MaarSparseImage sparse_image;
    VkImage pages_image;
    struct maar_movable* record; /* the create info; of a sparse image its shape; or NULL */
    MaarMemoryRequest request;
    uint32_t device_type;
    MaarAllocation allocation;
    uint64_t block; /* MaarBlockInfo::blockId of the device's object */
    VkDeviceSize content_size;

    VkBuffer host_buffer;
    MaarAllocation host_allocation;
    uint8_t* host_data;
    uint64_t host_ready; /* as `ready`, of the host's object */
    MaarMemoryRequest host_request;
    uint32_t host_type;
    struct maar_resident_link links[MAAR_RESIDENT_LISTS];
    uint64_t staged; /* the call that wanted its host object; 0: none */

    void* packed;
    size_t packed_size;        /* bytes of packed */
    struct maar_extent extent; /* in the file */
    bool is_file_packed;       /* the file has the packed bytes */
    struct maar_work* work;
    uint32_t next_free;
    uint32_t prefetch_next; /* in the list of those to be prefetched */
    bool is_prefetched;
    bool is_ended;             /* destroyed; only its work is not done */
    bool is_lost;              /* contents were lost, and no use knows it yet */
    bool is_refused;           /* contents that do not shrink */
    uint64_t key;              /* in checkpoints; 0: none */
    MaarCheckpoint checkpoint; /* the source; or NULL */
    PFN_maarResidentRead read; /* the source otherwise; or NULL */
    void* read_data;
    void* user_data;
    char* name;
};

struct maar_residency_timeline {
    VkSemaphore semaphore;
    uint64_t latest; /* the highest value of a use */
    uint64_t passed; /* as far as is known */
};

struct maar_residency_commands {
    VkCommandBuffer commands;
    uint64_t value; /* of the submission; 0: never submitted; UINT64_MAX: never used again */
};

/* The pins of a use. Kept for the next use when it has ended. */
struct maar_use {
    uint32_t generation; /* odd while the use exists */
    uint32_t count;
    uint32_t capacity;
    uint32_t next_free;
    struct maar_use_item {
        uint32_t resident;
        MaarAccessFlags access;
        VkImageLayout layout; /* after the use */
        VkImageLayout found;  /* before it */
    } * items;
};

struct maar_residency {
    MaarAllocator allocator;
    uint64_t handle;
    char* name;
    PFN_maarResidencyEvent event;
    void* user_data;
    uint32_t queue;
    MaarPoint bound; /* of the last binds that were submitted */
    bool has_binds;  /* binds of pages were recorded and not submitted */
    VkQueueFlags queue_flags;
    bool follows_budget;
    bool is_lost; /* the device, as the last checkpoint has found */

    VkSemaphore timeline;
    uint64_t submitted; /* values of the timeline */
    uint64_t completed;
    VkCommandPool pool;
    uint32_t commands_capacity;
    uint32_t commands_count;
    struct maar_residency_commands* commands;

    struct maar_policy* policy;
    struct maar_tier_memory device;
    struct maar_tier_memory host;
    VkDeviceSize largest; /* resident ever created, bytes */
    VkDeviceSize pinned;  /* bytes of device objects of pinned residents */

    uint32_t resident_capacity;
    uint32_t resident_count; /* with those that ended */
    uint32_t first_free;
    struct maar_resident* residents;
    struct {
        uint32_t oldest;
        uint32_t newest;
    } lists[MAAR_RESIDENT_LISTS]; /* of host objects and of packed copies */
    uint32_t prefetch_first;
    uint32_t prefetch_last;
    uint32_t scratch_capacity; /* as many as residents */
    uint32_t* scratch;         /* numbers in the policy */
    uint32_t victims_capacity;
    uint32_t* victims;
    uint32_t missing_capacity;
    uint32_t* missing;
    uint32_t by_policy_capacity;
    uint32_t* by_policy; /* residents by their numbers in the policy */

    uint32_t use_capacity;
    uint32_t use_count;
    uint32_t first_free_use;
    struct maar_use* uses;
    uint32_t timeline_count;
    struct maar_residency_timeline timelines[MAAR_RESIDENCY_TIMELINES];

    struct maar_codec codec;
    VkDeviceSize packed_budget;
    VkDeviceSize packed_size;
    struct maar_store* store; /* NULL: there is no file */
    bool is_store_closed;     /* the last write failed: none is begun before the next update */
    MaarResidencyInfo info;   /* counts */
    uint64_t serial;          /* of calls of maarBeginUse */
    bool is_patient;          /* the present call waits, so that no other one comes before it */
    bool has_expected;        /* what was searched for host objects has some that are expected */

    struct maar_mutex work_lock;      /* guards the lists of work */
    struct maar_condition work_ended; /* changes when a piece of work has been done */
    struct maar_work* work_first;     /* queued */
    struct maar_work* work_last;
    struct maar_work* work_done;
    uint32_t work_count;   /* queued */
    uint32_t work_running; /* taken by a thread */
};

/* Counts the bytes of a resident as pinned, or not any more. Called after each change of its pins,
 * locks and object. */
static inline void maar_resident_count(struct maar_residency* it, struct maar_resident* resident)
{
    const bool counts =
        resident->has_object && (resident->pin_count > 0 || resident->lock_count > 0);
    const VkDeviceSize size = resident->request.requirements.size;
    if (counts != resident->is_counted) {
        it->pinned += counts ? size : 0;
        it->pinned -= counts ? 0 : size;
        resident->is_counted = counts;
    }
}

/* Put a resident at the end of a list; take it off. */
void maar_resident_append(struct maar_residency* it, struct maar_resident* resident,
                          enum maar_resident_list list);
void maar_resident_unlink(struct maar_residency* it, struct maar_resident* resident,
                          enum maar_resident_list list);

/* Finds the manager of a handle, as maar_object_enter does. */
VkResult maar_residency_enter(MaarAllocator allocator, const char* call, MaarResidency residency,
                              struct maar_residency** found);
/* Finds the resident of a handle, or reports it. */
VkResult maar_resident_find(struct maar_residency* it, const char* call, const char* argument,
                            MaarResident handle, struct maar_resident** found);

static inline uint32_t maar_resident_number(const struct maar_residency* it,
                                            const struct maar_resident* resident)
{
    return (uint32_t)(resident - it->residents);
}

/* Returns the resident of a handle, or NULL if it is stale. */
static inline struct maar_resident* maar_resident_of(const struct maar_residency* it,
                                                     MaarResident handle)
{
    const uint64_t bits = MAAR_TO_BITS(handle);
    const uint32_t number = (uint32_t)bits - 1u;
    if (number >= it->resident_count) {
        return NULL;
    }
    struct maar_resident* resident = &it->residents[number];
    return resident->generation == (uint32_t)(bits >> 32) ? resident : NULL;
}

static inline MaarResident maar_resident_handle(const struct maar_residency* it,
                                                const struct maar_resident* resident)
{
    const uint64_t bits =
        (uint64_t)resident->generation << 32 | (maar_resident_number(it, resident) + 1u);
    return MAAR_FROM_BITS(MaarResident, bits);
}

static inline bool maar_resident_exists(const struct maar_resident* resident)
{
    return resident->generation % 2 == 1;
}

/* Whether its object stays, and only its pages come and go. */
static inline bool maar_resident_is_paged(const struct maar_resident* resident)
{
    return resident->kind == MAAR_RESIDENT_RANGE || resident->kind == MAAR_RESIDENT_TILES;
}

/* Whether contents go through layouts. */
static inline bool maar_resident_is_image(const struct maar_resident* resident)
{
    return resident->kind == MAAR_RESIDENT_IMAGE || resident->kind == MAAR_RESIDENT_TILES;
}

static inline bool maar_resident_has(const struct maar_resident* resident, uint32_t tier)
{
    return (resident->valid & MAAR_VALID_IN(tier)) != 0;
}

/* Returns the highest tier with a valid copy. */
static inline MaarTier maar_resident_tier(const struct maar_resident* resident)
{
    for (uint32_t tier = MAAR_TIER_DEVICE; tier < MAAR_TIER_COUNT; ++tier) {
        if (maar_resident_has(resident, tier)) {
            return (MaarTier)tier;
        }
    }
    return maar_resident_has(resident, MAAR_TIER_SOURCE) ? MAAR_TIER_FILE : MAAR_TIER_NONE;
}

/* Returns whether a checkpoint, which may be NULL, has contents of this size under a key. */
bool maar_checkpoint_has(MaarCheckpoint checkpoint, uint64_t key, VkDeviceSize size);
/* Ends a resident that no use pins, at once. */
void maar_resident_end(struct maar_residency* it, const char* call, struct maar_resident* resident);
/* Returns what the heap of the device has left for a manager, with what it holds. */
VkDeviceSize maar_residency_available(const struct maar_residency* it);
/* Ensures that it->scratch has room for a number of entries. */
bool maar_residency_reserve_scratch(struct maar_residency* it, uint32_t count);

/* Returns the first broken invariant, or NULL. */
const char* maar_residency_check(const struct maar_residency* it);

#endif
