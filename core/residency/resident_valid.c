/*
 * Which copies of a resident are valid, what uses them, and how those below host memory end. See
 * resident_valid.h.
 */
#include "core/residency/resident_valid.h"

#include "core/memory/allocator_state.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_copies.h"

void maar_residency_note(struct maar_residency* it, const struct maar_resident* resident,
                         MaarTier from, MaarTier to, MaarResidencyReason reason, VkDeviceSize size)
{
    const VkDeviceSize bytes = resident->request.requirements.size;
    const MaarResidencyEvent event = {
        .resident = maar_resident_handle(it, resident),
        .pUserData = resident->user_data,
        .from = from,
        .to = to,
        .reason = reason,
        .size = size,
    };
    if (reason == MAAR_RESIDENCY_REASON_LOST) {
        ++it->info.lostCount;
    } else if (size == 0 && from != MAAR_TIER_NONE) {
        ++it->info.tiers[from].cleanCount;
        it->info.tiers[from].cleanSize += bytes;
    } else if (from > to && to != MAAR_TIER_NONE) {
        ++it->info.tiers[to].restoredCount;
        it->info.tiers[to].restoredSize += size;
    } else if (size != 0) {
        ++it->info.tiers[to].savedCount;
        it->info.tiers[to].savedSize += size;
    }
    if (it->event != NULL) {
        maar_lock_rank_expect_none();
        it->event(it->user_data, &event);
    }
}

uint32_t maar_resident_points(const struct maar_residency* it, const struct maar_resident* resident,
                              MaarPoint* points)
{
    const uint64_t ready =
        resident->ready > resident->host_ready ? resident->ready : resident->host_ready;
    uint32_t count = 0;
    for (uint32_t i = 0; i < it->timeline_count; ++i) {
        uint64_t value = 0;
        if ((resident->timelines >> i & 1u) == 0) {
            continue;
        }
        for (uint32_t j = 0; j < resident->point_count; ++j) {
            value = resident->points[j].timeline == i ? resident->points[j].value : value;
        }
        value = value != 0 ? value : it->timelines[i].latest;
        if (value > it->timelines[i].passed) {
            points[count++] = (MaarPoint){it->timelines[i].semaphore, value};
        }
    }
    if (ready > it->copies.completed) {
        points[count++] = (MaarPoint){it->copies.timeline, ready};
    }
    return count;
}

void maar_resident_wait(struct maar_residency* it, const struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    const uint32_t count = maar_resident_points(it, resident, points);
    if (count > 0) {
        (void)maarWaitPoints(it->allocator, count, points, UINT64_MAX);
        (void)maar_copies_poll(it);
    }
}

/* Says to the policy whether to evict a resident means to copy it. */
static void note_dirty(struct maar_residency* it, struct maar_resident* resident)
{
    const bool is_dirty = resident->valid == MAAR_VALID_IN(MAAR_TIER_DEVICE) &&
                          (resident->flags & MAAR_RESIDENT_CREATE_DISCARDABLE_BIT) == 0;
    if (is_dirty != resident->is_dirty) {
        resident->is_dirty = is_dirty;
        maar_policy_set_dirty(it->policy, resident->policy, is_dirty);
        maar_table_note(it, resident);
    }
}

void maar_resident_set_valid(struct maar_residency* it, struct maar_resident* resident,
                             uint32_t valid)
{
    resident->valid = (uint8_t)valid;
    note_dirty(it, resident);
}

void* maar_packed_leave(struct maar_residency* it, struct maar_resident* resident)
{
    void* packed = resident->packed;
    if (packed != NULL) {
        it->packed_size -= resident->packed_size;
        resident->packed = NULL;
        resident->packed_size = 0;
        maar_resident_unlink(it, resident, MAAR_LIST_PACKED);
    }
    maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(MAAR_TIER_COMPRESSED));
    return packed;
}

void maar_packed_end(struct maar_residency* it, struct maar_resident* resident)
{
    maar_host_free(it->allocator->callbacks, maar_packed_leave(it, resident));
}

void maar_file_end(struct maar_residency* it, struct maar_resident* resident)
{
    if (resident->extent.length != 0) {
        maar_store_free(it->store, &resident->extent);
        resident->extent = (struct maar_extent){.length = 0};
    }
    maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(MAAR_TIER_FILE));
}
