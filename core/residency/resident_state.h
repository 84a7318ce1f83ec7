/*
 * The state of a resident.
 *
 * The contents of a resident are valid in some tiers at a time; `valid` has a bit for each. A use
 * that writes makes all other copies invalid when it ends. A copy leaves a tier only while another
 * tier has a valid one, or when the contents are dropped.
 *
 * Device and host memory: a resident has at most one object in each. The device's object is the one
 * that uses get, unless a buffer was demoted: then they get the host's.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENT_STATE_H
#define MAAR_CORE_RESIDENCY_RESIDENT_STATE_H

#include "core/host_memory.h"
#include "core/memory/object_handle.h"
#include "core/objects/movable.h"
#include "core/residency/store.h"
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
    MAAR_RESIDENT_RANGE, /* pages of a reservation: of the program's, its own, or an array's */
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
    uint8_t table_state;       /* MaarPolicyStateFlags, as the program's policy knows them */
    uint8_t point_count;       /* exact values in points */
    uint16_t timelines;        /* a bit for each timeline of the program that its uses named */
    VkImageLayout layout;      /* of valid contents */
    VkImageLayout next_layout; /* after the uses that have begun */
    struct maar_object object;
    VkDeviceAddress address;
    uint64_t epoch;
    uint64_t brought; /* maar_residency::serial when it came to the device last */
    uint64_t ready;   /* value of the manager's timeline: the last copy of the device's object */
    struct {
        uint64_t value;
        uint32_t timeline;
    } points[MAAR_RESIDENT_POINTS];

    MaarResidentCreateFlags flags;
    uint32_t lock_count;
    uint32_t priority_class;
    enum maar_resident_kind kind;
    MaarReservation reservation; /* of a range, which begins at the offset */
    MaarArray array;             /* that the reservation belongs to; or null */
    VkDeviceSize array_size;     /* bytes of its elements, as the last use has left them */
    bool is_stitched;            /* the reservation is the resident's own */
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
    size_t packed_wanted;      /* bytes that its contents had packed, and found no room; or 0 */
    struct maar_extent extent; /* in the file */
    bool is_file_packed;       /* the file has the packed bytes */
    struct maar_work* work;
    uint32_t next_free;
    uint32_t prefetch_next; /* in the list of those to be prefetched */
    uint32_t prefetch_before;
    uint64_t named; /* the last call of maarPrefetchResidents with it */
    bool is_prefetched;
    bool is_ended;     /* destroyed; only its work is not done */
    bool is_lost;      /* contents were lost, and no use knows it yet */
    bool is_refused;   /* contents that do not shrink */
    bool has_checksum; /* see read_check.h */
    bool is_reported;  /* as one that was read, but written */
    uint64_t checksum;
    uint64_t key;              /* in checkpoints; 0: none */
    MaarCheckpoint checkpoint; /* the source; or NULL */
    PFN_maarResidentRead read; /* the source otherwise; or NULL */
    void* read_data;
    void* user_data;
    char* name;
};

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

/* Returns the bytes of a buffer that are copied. What an array has beyond its elements is
 * undefined. */
static inline VkDeviceSize maar_resident_copied_size(const struct maar_resident* resident)
{
    return resident->array != VK_NULL_HANDLE ? resident->array_size : resident->content_size;
}

/* Returns whether a resident on the device may be evicted. */
static inline bool maar_resident_may_leave(const struct maar_resident* resident)
{
    return resident->has_object && resident->pin_count == 0 && resident->lock_count == 0;
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

#endif
