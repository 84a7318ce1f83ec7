/*
 * The state of a manager of residents.
 *
 * Copies between device and host memory are commands of Maar's own on one queue. They signal one
 * timeline, the manager's own. Pieces of work (residency_work.h) read a host object or write to it
 * while no command does. Threads of the program carry them out.
 *
 * Not synchronized, but for the lists of work.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_STATE_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_STATE_H

#include "core/port_thread.h"
#include "core/residency/codec.h"
#include "core/residency/policy.h"
#include "core/residency/resident_state.h"
#include "core/residency/tier_memory.h"
#include "core/staging/copy_stream.h"
#include "maar/residency_policy.h"

struct maar_residency_timeline {
    VkSemaphore semaphore;
    uint64_t latest; /* the highest value of a use */
    uint64_t passed; /* as far as is known */
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

/* How a budget of the device rises after it has fallen. A budget that jumps would move the same
 * bytes again and again, so a rise is followed when some updates in a row have seen it, and the
 * more of them the sooner the last rises were taken back. */
struct maar_budget_steps {
    uint32_t wait;         /* updates that must see a rise; 0: the budget has not fallen */
    uint32_t seen;         /* that have seen it */
    VkDeviceSize lowest;   /* that they have seen */
    uint32_t since_raised; /* updates since the last rise */
};

struct maar_residency {
    MaarAllocator allocator;
    uint64_t handle;
    char* name;
    PFN_maarResidencyEvent event;
    void* user_data;
    MaarPoint bound; /* of the last binds that were submitted */
    bool has_binds;  /* binds of pages were recorded and not submitted */
    VkQueueFlags queue_flags;
    VkDeviceSize device_limit; /* the program's budget of the device; 0: the heap's is followed */
    struct maar_budget_steps steps;
    bool checks_reads; /* see read_check.h */
    bool is_lost;      /* the device, as the last checkpoint has found */

    struct maar_copy_stream copies; /* between the device and the host */

    struct maar_policy* policy;
    MaarResidencyPolicy table; /* of the program; without functions if it has given none */
    bool is_table_wrong;       /* its last answer was not one of the candidates */
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
    uint32_t prefetch_first;      /* of those that were named and are not on the device */
    uint64_t named;               /* calls of maarPrefetchResidents */
    uint32_t scratch_capacity;    /* as many as residents */
    uint32_t* scratch;            /* numbers in the policy */
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
    uint64_t gained;          /* results of work that have changed something */
    uint32_t forgotten_count; /* pieces of work that still have a host object nobody wants */
    bool is_patient;          /* the present call waits, so that no other one comes before it */
    bool host_is_full;        /* a copy found no room in host memory; the caller clears it */
    bool has_expected;        /* what was searched for host objects has some that are expected */

    struct maar_mutex work_lock;      /* guards the lists of work, and the next three members */
    uint64_t caller;                  /* tag of the thread in a call on the manager; 0: none */
    uint32_t caller_depth;            /* calls of that thread, one in the other */
    struct maar_condition call_ended; /* changes when the manager is free for a call */
    struct maar_condition work_ended; /* changes when a thread has a piece of work no more */
    struct maar_work* work_first;     /* queued */
    struct maar_work* work_last;
    struct maar_work* work_transfers; /* of which the system has the rest */
    struct maar_work* work_done;
    uint32_t work_count;     /* queued */
    uint32_t work_running;   /* taken by a thread */
    uint32_t transfer_count; /* in work_transfers */
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
VkResult maar_residency_find(MaarAllocator allocator, const char* call, MaarResidency residency,
                             struct maar_residency** found);
/* Finds it, and begins a call: waits while another thread gives up memory (residency_yield.c). On
 * success the caller ends the call by maar_residency_leave. */
VkResult maar_residency_enter(MaarAllocator allocator, const char* call, MaarResidency residency,
                              struct maar_residency** found);
void maar_residency_leave(struct maar_residency* it);
/* Begins a call unless another thread's does not end before the deadline, or this thread is in one.
 * Returns whether it has begun. */
bool maar_residency_try_enter(struct maar_residency* it, uint64_t deadline_ns);
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

/* Ends a resident that no use pins, at once. */
void maar_resident_end(struct maar_residency* it, const char* call, struct maar_resident* resident);
/* Returns what the budget of the device memory's heap has for a manager, at least room for the
 * largest resident. */
VkDeviceSize maar_residency_available(struct maar_residency* it);
/* Sets the present budget of the device. */
void maar_residency_set_budget(struct maar_residency* it, VkDeviceSize budget);
/* The budget has fallen, and not because the program has said so: its next rise has to last. */
void maar_residency_note_fall(struct maar_residency* it);
/* Ensures that it->scratch has room for a number of entries. */
bool maar_residency_reserve_scratch(struct maar_residency* it, uint32_t count);

/* Returns the first broken invariant, or NULL. */
const char* maar_residency_check(const struct maar_residency* it);

#endif
