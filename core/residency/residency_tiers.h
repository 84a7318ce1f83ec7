/*
 * How contents go from tier to tier: objects in device and host memory come and go, copies between
 * them are submitted, and what makes room is chosen.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_TIERS_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_TIERS_H

#include "core/port_time.h"
#include "core/residency/host_object.h"
#include "core/residency/resident_valid.h"

/* Room that is made on the device. */
struct maar_tier_room {
    VkDeviceSize needed; /* bytes that shall fit beside what lives */
    VkDeviceSize budget; /* of all that lives then */
    MaarResidencyReason reason;
    VkDeviceSize most_bytes; /* that are copied */
    uint32_t most_count;
    uint64_t deadline_ns;  /* when nothing more is taken up; 0: there is none */
    bool only_later;       /* only what is used later than what is brought makes room */
    bool has_grace;        /* what has only just come stays */
    uint64_t distance;     /* of the use of what is brought */
    VkDeviceSize restored; /* receives the contents that were copied to the device */
    VkDeviceSize evicted;  /* receives the bytes that went */
    VkDeviceSize copied;
};

/* Whether the time for room has passed. */
static inline bool maar_room_is_late(const struct maar_tier_room* room)
{
    return room->deadline_ns != 0 && maar_time_left_ns(room->deadline_ns) == 0;
}

/* Evicts residents until what lives and what is needed fit into the budget. Contents that have no
 * copy in a lower tier are copied to the host first. Returns VK_NOT_READY if copies or work must
 * end first, VK_ERROR_OUT_OF_POOL_MEMORY if nothing is left that could go. */
VkResult maar_residency_make_room(struct maar_residency* it, const char* call,
                                  struct maar_tier_room* room);
/* Evicts all residents of the block that has the fewest bytes of them, so that it can be released.
 * Takes a time that grows with the number of residents. */
VkResult maar_residency_empty_block(struct maar_residency* it, const char* call,
                                    struct maar_tier_room* room);
/* Evicts the first residents of it->victims, which may leave the device. Those that need a copy are
 * copied in one submission; if host memory is short, some stay. */
VkResult maar_residency_evict(struct maar_residency* it, const char* call, uint32_t count,
                              struct maar_tier_room* room);
/* Makes the device's object, evicting what is in the way. Adds to waits what its first use waits
 * for. */
VkResult maar_device_object_make(struct maar_residency* it, const char* call,
                                 struct maar_resident* resident, struct maar_tier_room* room,
                                 struct maar_copy_waits* waits);
/* Gives an array that a use has pinned so many bytes, whole pages, evicting what is in the way. */
VkResult maar_device_object_grow(struct maar_residency* it, const char* call,
                                 struct maar_resident* resident, VkDeviceSize size);
/* Ends the device's object when nothing uses it. On failure it stays. */
VkResult maar_device_object_end(struct maar_residency* it, const char* call,
                                struct maar_resident* resident);

/* Copies residents to the host, in one submission, and keeps their objects. Returns the number of
 * those copied by *done; without an error the others found no room. */
VkResult maar_residency_save(struct maar_residency* it, const char* call, uint32_t count,
                             uint32_t* residents, bool keeps, MaarResidencyReason reason,
                             uint32_t* done);
/* Brings residents to the device, in one submission after the last eviction. Those with
 * needs_contents have valid host objects; nothing is copied for others. On failure the first
 * *brought are on the device, and the others are as before. */
VkResult maar_residency_restore(struct maar_residency* it, const char* call, uint32_t count,
                                const uint32_t* residents, struct maar_tier_room* room,
                                uint32_t* brought);

/* Drops all copies but those of one tier, after a use has written to it. */
void maar_resident_keep_only(struct maar_residency* it, const char* call,
                             struct maar_resident* resident, MaarTier tier);

#endif
