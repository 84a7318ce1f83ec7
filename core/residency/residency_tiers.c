/*
 * Device objects, evictions and restores. See residency_tiers.h.
 *
 * An eviction has three steps, so that a failure loses nothing: contents without another copy are
 * copied to host objects; the copies are submitted; only then do the device's objects end. Their
 * bytes are pending until the copies and the last uses have passed, and what is restored next is
 * placed there at once: its submission waits for these points (maar/ordered.h).
 */
#include "core/residency/residency_tiers.h"

#include "core/memory/allocator_state.h"
#include "core/objects/buffer.h"
#include "core/objects/captured_object.h"
#include "core/residency/policy_table.h"
#include "core/residency/read_check.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_copy.h"
#include "core/residency/resident_pages.h"

enum {
    /* By what part of the time until a victim's next use a prefetch must come sooner: one of
     * SOONER. With a smaller part, more is exchanged for little: of 40 layers in a circle that are
     * all named, and of which 36 fit, an update that copies half a layer exchanged 12 of them in
     * each round without this rule, 9 with a quarter and 5 with a half (bench_stalls). With a half,
     * a camera near a turn has stalls that it need not have. */
    SOONER = 4,
    /* Uses for which a resident that was restored stays, where the use can do without the room. */
    GRACE_USES = 16
};

void maar_resident_keep_only(struct maar_residency* it, const char* call,
                             struct maar_resident* resident, MaarTier tier)
{
    maar_work_forget(it, resident);
    maar_packed_end(it, resident);
    maar_file_end(it, resident);
    if (tier != MAAR_TIER_HOST) {
        /* An object that cannot be ended now is ended with the next copy: it is not valid. */
        (void)maar_host_object_end(it, call, resident);
    }
    if (tier != MAAR_TIER_DEVICE && resident->has_object) {
        (void)maar_device_object_end(it, call, resident);
    }
    maar_resident_set_valid(it, resident, MAAR_VALID_IN(tier));
    resident->has_checksum = false;
    resident->packed_wanted = 0;
}

/* ---- evictions ---- */

VkResult maar_device_object_end(struct maar_residency* it, const char* call,
                                struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    const uint32_t count = maar_resident_points(it, resident, points);
    const VkResult result =
        maar_resident_is_paged(resident)
            ? maar_pages_end(it, call, resident, count, points)
            : maar_tier_memory_remove(&it->device, call, resident->object, resident->allocation,
                                      resident->request.requirements.size, count, points);
    if (result == VK_SUCCESS) {
        resident->has_object = false;
        resident->object = (struct maar_object){.buffer = VK_NULL_HANDLE};
        resident->allocation = VK_NULL_HANDLE;
        resident->address = 0;
        resident->epoch += maar_resident_is_paged(resident) ? 0 : 1;
        maar_resident_count(it, resident);
        maar_resident_set_present(it, resident, false);
        maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(MAAR_TIER_DEVICE));
    }
    return result;
}

/* Whether to evict a resident means to copy it first. */
static bool needs_copy(const struct maar_resident* resident)
{
    return resident->is_dirty;
}

/* A copy waits for the uses of what it reads. */
static void add_waits(const struct maar_residency* it, const struct maar_resident* resident,
                      struct maar_copy_waits* waits)
{
    MaarPoint points[MAAR_MAX_POINTS];
    const uint32_t count = maar_resident_points(it, resident, points);
    for (uint32_t i = 0; i < count; ++i) {
        maar_copies_add_wait(waits, points[i]);
    }
}

VkResult maar_residency_save(struct maar_residency* it, const char* call, uint32_t count,
                             uint32_t* residents, bool keeps, MaarResidencyReason reason,
                             uint32_t* done)
{
    struct maar_copy_waits waits = {.count = 0};
    struct maar_stream_commands* commands = NULL;
    VkResult result = VK_SUCCESS;
    uint32_t placed = 0;
    for (; placed < count && result == VK_SUCCESS; ++placed) {
        struct maar_resident* resident = &it->residents[residents[placed]];
        result = maar_host_object_end(it, call, resident); /* one that is not valid */
        if (result == VK_SUCCESS) {
            result = maar_host_object_make(it, call, resident,
                                           reason == MAAR_RESIDENCY_REASON_AHEAD ? it->largest : 0,
                                           &waits);
        }
        if (result != VK_SUCCESS) {
            break;
        }
        resident->is_saved = true;
        add_waits(it, resident, &waits);
    }
    const VkResult short_of = result;
    result = placed > 0 ? maar_copies_begin(it, &commands) : VK_SUCCESS;
    if (result == VK_SUCCESS && placed > 0) {
        for (uint32_t i = 0; i < placed; ++i) {
            maar_resident_record_save(it, &it->residents[residents[i]], keeps, commands->buffer);
        }
        result = maar_copies_submit(it, commands, &waits);
    }
    *done = result == VK_SUCCESS ? placed : 0;
    for (uint32_t i = 0; i < placed; ++i) {
        struct maar_resident* resident = &it->residents[residents[i]];
        resident->is_saved = false;
        if (result != VK_SUCCESS) {
            (void)maar_host_object_end(it, call, resident);
            continue;
        }
        resident->ready = it->copies.submitted;
        resident->host_ready = it->copies.submitted;
        maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_HOST));
        maar_residency_note(it, resident, MAAR_TIER_DEVICE, MAAR_TIER_HOST, reason,
                            resident->content_size);
    }
    return result != VK_SUCCESS ? result : short_of;
}

/* Whether a prefetch evicts a resident for one that is used at a distance. Where it is known when
 * the victim comes again, the other one must come clearly sooner. Otherwise residents that are used
 * in a circle, all of them named, change places with each update. */
static bool is_worth_it(const struct maar_residency* it, const struct maar_resident* victim,
                        uint64_t distance)
{
    const uint64_t own = maar_residency_distance(it, victim);
    const bool is_known =
        it->table.pfnDistance != NULL || maar_policy_is_expected(it->policy, victim->policy);
    return is_known ? own - own / SOONER > distance : own > distance;
}

/* Chooses residents that go, until the rest fits. They are pinned in the policy. Those that need a
 * copy come first in the list; their number is *copies. */
static uint32_t choose_evicted(struct maar_residency* it, const char* call,
                               const struct maar_tier_room* room, uint32_t* copies)
{
    VkDeviceSize freed = 0;
    VkDeviceSize copied = 0;
    uint32_t count = 0;
    *copies = 0;
    while (it->device.live - freed + room->needed > room->budget) {
        const uint32_t policy = maar_residency_victim(it, call);
        if (policy == MAAR_NO_OBJECT || (count > 0 && maar_room_is_late(room))) {
            break;
        }
        const uint32_t number = it->by_policy[policy];
        struct maar_resident* victim = &it->residents[number];
        if (room->only_later && !is_worth_it(it, victim, room->distance)) {
            break;
        }
        if (room->has_grace && it->serial - victim->brought < GRACE_USES) {
            break;
        }
        if (needs_copy(victim) && *copies > 0 &&
            (copied + victim->content_size > room->most_bytes || *copies >= room->most_count)) {
            break;
        }
        maar_resident_keep(it, victim);
        it->victims[count] = number;
        if (needs_copy(victim)) {
            copied += victim->content_size;
            it->victims[count] = it->victims[*copies];
            it->victims[(*copies)++] = number;
        }
        ++count;
        freed += victim->request.requirements.size;
    }
    return count;
}

/* Evicts the residents in it->victims, which are pinned in the policy. The first ones, `copies`,
 * are copied. *short_of: why some of these stay. */
static VkResult evict_victims(struct maar_residency* it, const char* call, uint32_t count,
                              uint32_t copies, struct maar_tier_room* room, VkResult* short_of)
{
    uint32_t done = 0;
    VkResult result = VK_SUCCESS;
    *short_of = VK_SUCCESS;
    if (copies > 0) {
        *short_of = maar_residency_save(it, call, copies, it->victims, false, room->reason, &done);
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_resident* victim = &it->residents[it->victims[i]];
        const VkDeviceSize size = victim->request.requirements.size;
        /* Room for copies may have taken the copy of one that had one. */
        const bool stays = i >= done && needs_copy(victim);
        if (!stays && result == VK_SUCCESS) {
            const bool is_copied = i < done;
            if (!is_copied) {
                maar_reads_check(it, call, victim);
            }
            result = maar_device_object_end(it, call, victim);
            if (result == VK_SUCCESS) {
                room->evicted += size;
                room->copied += is_copied ? victim->content_size : 0;
            }
            if (result == VK_SUCCESS && !is_copied) {
                maar_residency_note(it, victim, MAAR_TIER_DEVICE, maar_resident_tier(victim),
                                    room->reason, 0);
            }
        }
        maar_resident_put_back(it, victim);
    }
    return result;
}

VkResult maar_residency_make_room(struct maar_residency* it, const char* call,
                                  struct maar_tier_room* room)
{
    uint32_t copies = 0;
    VkResult short_of = VK_SUCCESS;
    const MaarResidencyReason reason = room->reason;
    const uint32_t count = choose_evicted(it, call, room, &copies);
    /* Not they are needed, but their room. */
    if (reason == MAAR_RESIDENCY_REASON_USE || reason == MAAR_RESIDENCY_REASON_REQUEST) {
        room->reason = MAAR_RESIDENCY_REASON_ROOM;
    }
    VkResult result = evict_victims(it, call, count, copies, room, &short_of);
    room->reason = reason;
    if (result == VK_SUCCESS) {
        result = maar_pages_submit(it, NULL);
    }
    if (result != VK_SUCCESS || it->device.live + room->needed <= room->budget) {
        return result;
    }
    return short_of != VK_SUCCESS ? short_of : VK_ERROR_OUT_OF_POOL_MEMORY;
}

/* What a block holds. */
struct block_load {
    uint64_t block;
    VkDeviceSize bytes;
    bool is_fixed; /* something in it cannot leave */
};

enum { LOADS = 32 }; /* blocks that are compared; a tier has eight, and dedicated ones */

/* Finds the block whose residents have the fewest bytes among those that can be emptied. Returns 0
 * if there is none. */
static uint64_t find_emptiest_block(const struct maar_residency* it)
{
    struct block_load loads[LOADS];
    uint32_t count = 0;
    uint64_t found = 0;
    VkDeviceSize least = UINT64_MAX;
    for (uint32_t i = 0; i < it->resident_count; ++i) {
        const struct maar_resident* resident = &it->residents[i];
        uint32_t at = 0;
        while (at < count && loads[at].block != resident->block) {
            ++at;
        }
        if (!resident->has_object || at == LOADS) {
            continue;
        }
        if (at == count) {
            loads[count++] = (struct block_load){.block = resident->block};
        }
        loads[at].bytes += resident->request.requirements.size;
        loads[at].is_fixed = loads[at].is_fixed || !maar_resident_may_leave(resident);
    }
    for (uint32_t at = 0; at < count; ++at) {
        if (!loads[at].is_fixed && loads[at].bytes < least) {
            least = loads[at].bytes;
            found = loads[at].block;
        }
    }
    return found;
}

VkResult maar_residency_evict(struct maar_residency* it, const char* call, uint32_t count,
                              struct maar_tier_room* room)
{
    VkResult short_of = VK_SUCCESS;
    uint32_t copies = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t number = it->victims[i];
        struct maar_resident* victim = &it->residents[number];
        maar_resident_keep(it, victim);
        if (needs_copy(victim)) {
            it->victims[i] = it->victims[copies];
            it->victims[copies++] = number;
        }
    }
    const VkResult result = evict_victims(it, call, count, copies, room, &short_of);
    return result != VK_SUCCESS ? result : short_of;
}

VkResult maar_residency_empty_block(struct maar_residency* it, const char* call,
                                    struct maar_tier_room* room)
{
    uint32_t count = 0;
    const uint64_t block = find_emptiest_block(it);
    for (uint32_t i = 0; i < it->resident_count && block != 0; ++i) {
        if (maar_resident_may_leave(&it->residents[i]) && it->residents[i].block == block) {
            it->victims[count++] = i;
        }
    }
    return maar_residency_evict(it, call, count, room);
}

/* ---- restores ---- */

static uint64_t block_of(const struct maar_residency* it, MaarAllocation allocation)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    return maarGetAllocationInfo(it->allocator, allocation, &info) == VK_SUCCESS ? info.blockId : 0;
}

static VkResult try_device_object(struct maar_residency* it, const char* call,
                                  struct maar_resident* resident, bool is_alone,
                                  struct maar_copy_waits* waits)
{
    struct maar_tier_place place = {
        .request = resident->request,
        .name = resident->name,
        .type = resident->device_type,
        .is_alone = is_alone,
        .wait_capacity = MAAR_MAX_POINTS + 1,
        .waits = waits->points,
        .wait_count = &waits->count,
    };
    struct maar_object object = {.buffer = VK_NULL_HANDLE};
    if (maar_resident_is_paged(resident)) {
        const VkResult paged = maar_pages_make(it, call, resident);
        resident->has_object = paged == VK_SUCCESS;
        resident->epoch += resident->epoch == 0 ? 1 : 0;
        return paged;
    }
    VkResult result = maar_movable_create(it->allocator, call, resident->record, &object);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (object.buffer != VK_NULL_HANDLE) {
        maar_capture_buffer(it->allocator, object.buffer, &resident->record->buffer,
                            &place.request);
    } else {
        maar_capture_image(it->allocator, object.image, &resident->record->image, &place.request);
    }
    result = maar_tier_memory_place(&it->device, call, object, &place, &resident->allocation);
    if (result == VK_SUCCESS) {
        resident->object = object;
        resident->has_object = true;
        resident->block = block_of(it, resident->allocation);
        ++resident->epoch;
        if (object.buffer != VK_NULL_HANDLE) {
            resident->address =
                maar_buffer_address(it->allocator, object.buffer, resident->record->buffer.usage);
        }
    }
    return result;
}

/* Makes a resident's object, or gives an array on the device so many bytes, evicting what is in the
 * way. more: bytes that the device needs for it. */
static VkResult make_in_room(struct maar_residency* it, const char* call,
                             struct maar_resident* resident, VkDeviceSize more, VkDeviceSize grown,
                             struct maar_tier_room* room, struct maar_copy_waits* waits)
{
    VkResult result = VK_SUCCESS;
    room->distance = maar_residency_distance(it, resident);
    VkDeviceSize extra = 0; /* the free bytes lie in pieces: more must go */
    bool is_free = false;   /* nothing waits for its points */
    for (;;) {
        room->needed = more + extra;
        if (it->device.live + room->needed > room->budget) {
            result = maar_residency_make_room(it, call, room);
        }
        /* Without anything left to evict, the pieces may be large enough all the same. */
        if (result != VK_SUCCESS &&
            (result != VK_ERROR_OUT_OF_POOL_MEMORY || it->device.live + more > room->budget)) {
            return result;
        }
        const bool is_last = result != VK_SUCCESS;
        /* A heap that is fuller than its budget may have no block, and yet have this object. */
        const bool is_alone = is_last && it->device.is_refused;
        result = grown != 0 ? maar_pages_grow(it, call, resident, grown)
                            : try_device_object(it, call, resident, is_alone, waits);
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
        if (is_last) {
            const VkDeviceSize held = maar_tier_memory_bytes(&it->device);
            const bool has_shrunk = maar_tier_memory_trim(&it->device) < held;
            const bool is_pending = maar_tier_memory_is_pending(&it->device);
            if (!has_shrunk && (is_pending || is_free)) {
                return is_pending ? VK_NOT_READY : result;
            }
            /* Another thread may have collected it after the attempt. */
            is_free = !is_pending;
        }
        extra = room->budget > it->device.live ? room->budget - it->device.live : 0;
    }
}

VkResult maar_device_object_make(struct maar_residency* it, const char* call,
                                 struct maar_resident* resident, struct maar_tier_room* room,
                                 struct maar_copy_waits* waits)
{
    const VkDeviceSize size = resident->request.requirements.size;
    const VkResult result = make_in_room(it, call, resident, size, 0, room, waits);
    if (result == VK_SUCCESS) {
        maar_resident_count(it, resident);
        maar_resident_set_present(it, resident, true);
    }
    return result;
}

/* Makes room for all of some residents at once, as far as that is possible: then what leaves is
 * copied in one submission, and its pages go in one. */
static VkResult make_room_for_all(struct maar_residency* it, const char* call, uint32_t count,
                                  const uint32_t* residents, struct maar_tier_room* room)
{
    VkResult result = VK_SUCCESS;
    room->needed = 0;
    for (uint32_t i = 0; i < count; ++i) {
        room->needed += it->residents[residents[i]].request.requirements.size;
    }
    /* What only a later use may displace is asked for one after another. */
    if (count > 1 && !room->only_later && it->device.live + room->needed > room->budget) {
        result = maar_residency_make_room(it, call, room);
    }
    return result == VK_NOT_READY || result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
}

VkResult maar_device_object_grow(struct maar_residency* it, const char* call,
                                 struct maar_resident* resident, VkDeviceSize size)
{
    struct maar_tier_room room = {
        .budget = it->device.budget,
        .reason = MAAR_RESIDENCY_REASON_USE,
        .most_bytes = UINT64_MAX,
        .most_count = UINT32_MAX,
    };
    return make_in_room(it, call, resident, size - resident->content_size, size, &room, NULL);
}

VkResult maar_residency_restore(struct maar_residency* it, const char* call, uint32_t count,
                                const uint32_t* residents, struct maar_tier_room* room,
                                uint32_t* brought)
{
    struct maar_copy_waits waits = {.count = 0};
    struct maar_stream_commands* commands = NULL;
    VkResult result = make_room_for_all(it, call, count, residents, room);
    uint32_t made = 0;
    for (; made < count && result == VK_SUCCESS; ++made) {
        if (made > 0 && maar_room_is_late(room)) {
            break;
        }
        struct maar_resident* resident = &it->residents[residents[made]];
        result = maar_device_object_make(it, call, resident, room, &waits);
        if (result != VK_SUCCESS) {
            break;
        }
        maar_resident_keep(it, resident); /* no victim of the next ones */
        if (resident->needs_contents) {
            add_waits(it, resident, &waits); /* a use may have written to its host object */
        }
    }
    const VkResult short_of = result;
    result = maar_pages_submit(it, &waits);
    if (result == VK_SUCCESS && made > 0) {
        result = maar_copies_begin(it, &commands);
    }
    if (result == VK_SUCCESS && made > 0) {
        for (uint32_t i = 0; i < made; ++i) {
            const struct maar_resident* resident = &it->residents[residents[i]];
            if (resident->needs_contents) {
                maar_resident_record_restore(it, resident, commands->buffer);
            }
        }
        result = maar_copies_submit(it, commands, &waits);
    }
    *brought = result == VK_SUCCESS ? made : 0;
    for (uint32_t i = 0; i < made; ++i) {
        struct maar_resident* resident = &it->residents[residents[i]];
        maar_resident_release(it, resident);
        if (result != VK_SUCCESS) {
            resident->ready = 0;
            (void)maar_device_object_end(it, call, resident);
            continue;
        }
        resident->ready = it->copies.submitted;
        resident->brought = it->serial;
        if (resident->needs_contents) {
            resident->has_checksum = false;
            resident->host_ready = it->copies.submitted;
            resident->staged = 0;
            maar_resident_set_valid(it, resident,
                                    resident->valid | MAAR_VALID_IN(MAAR_TIER_DEVICE));
            maar_host_object_touch(it, resident);
            room->restored += resident->content_size;
            maar_residency_note(it, resident, MAAR_TIER_HOST, MAAR_TIER_DEVICE, room->reason,
                                resident->content_size);
        }
    }
    return result != VK_SUCCESS ? result : short_of;
}
