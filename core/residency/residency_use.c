/*
 * Uses: what a submission needs is brought to the device and pinned, and unpinned afterwards.
 *
 * A use that finds everything on the device takes no other path than a look at each resident. Else
 * residents are brought in turn: those with host objects at once, those below after a piece of
 * work. What was brought stays when the call returns VK_NOT_READY, so that the next call finds
 * more; a set that is larger than the host's memory gets to the device in several calls.
 */
#include "core/residency/residency_tiers.h"

#include <stdio.h>

#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/residency/policy_table.h"
#include "core/residency/residency_work.h"
#include "core/residency/resident_pages.h"

enum {
    /* With MAAR_USE_WAIT_BIT: how often a call waits without bringing anything nearer, and for how
     * long each time. */
    FRUITLESS_WAITS = 50
};
static const uint64_t wait_ns = 100000000;

static const MaarAccessFlags reads =
    (MaarAccessFlags)MAAR_ACCESS_READ_BIT | (MaarAccessFlags)MAAR_ACCESS_WRITE_BIT;
static const MaarAccessFlags writes =
    (MaarAccessFlags)MAAR_ACCESS_WRITE_BIT | (MaarAccessFlags)MAAR_ACCESS_OVERWRITE_BIT;

/* ---- the records of uses ---- */

static struct maar_use* take_record(struct maar_residency* it, uint32_t count)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    if (it->first_free_use == MAAR_NO_OBJECT) {
        struct maar_use* uses = maar_host_grow(callbacks, it->uses, &it->use_capacity,
                                               it->use_count + 1, sizeof uses[0]);
        if (uses == NULL) {
            return NULL;
        }
        it->uses = uses;
        it->uses[it->use_count].next_free = MAAR_NO_OBJECT;
        it->first_free_use = it->use_count++;
    }
    struct maar_use* use = &it->uses[it->first_free_use];
    if (use->capacity < count) {
        struct maar_use_item* items =
            maar_host_grow(callbacks, use->items, &use->capacity, count, sizeof items[0]);
        if (items == NULL) {
            return NULL;
        }
        use->items = items;
    }
    use->count = count;
    return use;
}

static MaarUse open_record(struct maar_residency* it, struct maar_use* use)
{
    const uint32_t number = (uint32_t)(use - it->uses);
    it->first_free_use = use->next_free;
    ++use->generation;
    ++it->info.useCount;
    ++it->info.begunCount;
    it->info.pinCount += use->count;
    const uint64_t bits = (uint64_t)use->generation << 32 | (number + 1u);
    return MAAR_FROM_BITS(MaarUse, bits);
}

static void close_record(struct maar_residency* it, struct maar_use* use)
{
    ++use->generation;
    use->next_free = it->first_free_use;
    it->first_free_use = (uint32_t)(use - it->uses);
    --it->info.useCount;
    it->info.pinCount -= use->count;
}

static VkResult find_record(struct maar_residency* it, const char* call, MaarUse handle,
                            struct maar_use** found)
{
    const uint64_t bits = MAAR_TO_BITS(handle);
    const uint32_t number = (uint32_t)bits - 1u;
    if (number < it->use_count && it->uses[number].generation == (uint32_t)(bits >> 32)) {
        *found = &it->uses[number];
        return VK_SUCCESS;
    }
    return maar_misuse(it->allocator,
                       bits == 0 ? MAAR_MESSAGE_ID_NULL_HANDLE : MAAR_MESSAGE_ID_STALE_HANDLE, call,
                       bits == 0 ? "use is VK_NULL_HANDLE"
                                 : "use has ended already, or is not one of this manager");
}

/* ---- checks ---- */

static VkResult report_use(struct maar_residency* it, const char* call, uint32_t index,
                           MaarMessageId id, const char* what)
{
    return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT, id, call,
                     "pBeginInfo->pUses[%u].%s", index, what);
}

/* Whether the present object serves a use. */
static bool is_present(const struct maar_resident* resident, MaarAccessFlags access)
{
    const bool is_demoted = resident->is_demoted && resident->pin_count > 0;
    const bool has_contents =
        maar_resident_has(resident, is_demoted ? MAAR_TIER_HOST : MAAR_TIER_DEVICE) ||
        resident->writer_count > 0 || resident->valid == 0;
    return (resident->has_object || is_demoted) && (has_contents || (access & reads) == 0);
}

/* Whether uses hold an object for contents that a cancelled use was to write, and other contents
 * lie elsewhere: these uses must be cancelled, too. */
static bool is_stranded(const struct maar_resident* resident)
{
    return resident->pin_count > 0 && !is_present(resident, MAAR_ACCESS_READ_BIT);
}

/* Whether nobody says in which layout the contents are that a use writes. */
static bool is_layout_unknown(const struct maar_resident* resident, const MaarResidentUse* wanted)
{
    const bool makes_contents =
        (wanted->access & MAAR_ACCESS_OVERWRITE_BIT) != 0 ||
        ((wanted->access & MAAR_ACCESS_WRITE_BIT) != 0 && resident->valid == 0);
    return makes_contents && wanted->finalLayout == VK_IMAGE_LAYOUT_UNDEFINED &&
           maar_resident_is_image(resident);
}

/* Writes the items of a use. *missing: some of its residents have no object. */
static VkResult read_items(struct maar_residency* it, const char* call,
                           const MaarUseBeginInfo* info, struct maar_use* use, bool* missing)
{
    const MaarAccessFlags known = reads | writes;
    bool is_missing = false;
    for (uint32_t i = 0; i < info->useCount; ++i) {
        const MaarResidentUse* wanted = &info->pUses[i];
        const struct maar_resident* resident = maar_resident_of(it, wanted->resident);
        if (resident == NULL) {
            return report_use(it, call, i, MAAR_MESSAGE_ID_STALE_HANDLE,
                              "resident is not a resident of this manager, or was destroyed");
        }
        if (wanted->access == 0) {
            return report_use(it, call, i, MAAR_MESSAGE_ID_EMPTY_FLAGS, "access is 0");
        }
        if ((wanted->access & ~known) != 0) {
            char name[48];
            (void)snprintf(name, sizeof name, "pBeginInfo->pUses[%u].access", i);
            return maar_refuse_flags(it->allocator, call, name, "MaarAccessFlagBits",
                                     wanted->access & ~known);
        }
        if (is_layout_unknown(resident, wanted)) {
            return report_use(it, call, i, MAAR_MESSAGE_ID_INVALID_LAYOUT,
                              "finalLayout is VK_IMAGE_LAYOUT_UNDEFINED, but the use gives the "
                              "image its contents");
        }
        is_missing = is_missing || !is_present(resident, wanted->access) || resident->is_lost;
        use->items[i] = (struct maar_use_item){.resident = maar_resident_number(it, resident),
                                               .access = wanted->access,
                                               .layout = wanted->finalLayout};
    }
    *missing = is_missing;
    return VK_SUCCESS;
}

/* Refuses a use of contents that cannot be brought because of uses that should have been cancelled.
 */
static VkResult refuse_stranded(struct maar_residency* it, const char* call,
                                const struct maar_use* use)
{
    for (uint32_t i = 0; i < use->count; ++i) {
        if ((use->items[i].access & reads) != 0 &&
            is_stranded(&it->residents[use->items[i].resident])) {
            return report_use(it, call, i, MAAR_MESSAGE_ID_USE_NOT_ENDED,
                              "resident is pinned by uses of contents that a cancelled use was to "
                              "write: cancel them, too");
        }
    }
    return VK_SUCCESS;
}

/* Refuses a use of contents that were lost, once. */
static VkResult refuse_lost(struct maar_residency* it, const struct maar_use* use)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_resident* resident = &it->residents[use->items[i].resident];
        if (resident->is_lost && (use->items[i].access & reads) != 0) {
            result = VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    for (uint32_t i = 0; i < use->count && result != VK_SUCCESS; ++i) {
        it->residents[use->items[i].resident].is_lost = false;
    }
    return result;
}

/* ---- what is missing ---- */

/* What a use lacks. */
struct lack {
    VkDeviceSize
        present; /* bytes of device objects that it has, and of all others that are pinned */
    VkDeviceSize needed;  /* bytes of those that it lacks */
    VkDeviceSize queued;  /* contents that the host must bring */
    VkDeviceSize demoted; /* bytes that stay in host memory */
    VkResult result;      /* of objects that had to end */
    uint32_t demoted_count;
    uint32_t count;  /* residents in it->missing */
    uint32_t raised; /* for which work is queued or done now */
};

/* Marks the residents of a use, pins those on the device in the policy, and lists the others. */
static struct lack find_lack(struct maar_residency* it, const char* call,
                             const struct maar_use* use)
{
    struct lack lack = {.present = it->pinned};
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_resident* resident = &it->residents[use->items[i].resident];
        const MaarAccessFlags access = use->items[i].access;
        resident->needs_contents =
            resident->needs_contents || ((access & reads) != 0 && resident->valid != 0);
        if (resident->has_object && resident->pin_count == 0 && !is_present(resident, access)) {
            /* An earlier call has made it for contents that were to be written. */
            const VkResult ended = maar_device_object_end(it, call, resident);
            lack.result = ended != VK_SUCCESS ? ended : lack.result;
        }
    }
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_resident* resident = &it->residents[use->items[i].resident];
        if (resident->is_wanted) {
            continue;
        }
        resident->is_wanted = true;
        if (resident->has_object) {
            maar_resident_keep(it, resident);
            resident->is_held = true;
            lack.present += resident->is_counted ? 0 : resident->request.requirements.size;
        } else if (!is_present(resident, use->items[i].access)) {
            lack.needed += resident->request.requirements.size;
            it->missing[lack.count++] = use->items[i].resident;
        }
    }
    return lack;
}

/* Takes the marks back. begins: the use begins now. */
static void forget_lack(struct maar_residency* it, const struct maar_use* use, bool begins)
{
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_resident* resident = &it->residents[use->items[i].resident];
        if (resident->is_wanted) {
            if (resident->is_held) {
                maar_resident_release(it, resident);
            }
            resident->is_demoted = resident->is_demoted && (begins || resident->pin_count > 0);
            resident->is_held = false;
            resident->is_wanted = false;
            resident->needs_contents = false;
        }
    }
}

/* Takes a resident off the list of what the device lacks. */
static void take_off_list(struct maar_residency* it, struct lack* lack, uint32_t at)
{
    lack->needed -= it->residents[it->missing[at]].request.requirements.size;
    it->missing[at] = it->missing[--lack->count];
}

/* Gives a resident that stays in host memory its object there. */
static VkResult demote(struct maar_residency* it, const char* call, struct maar_resident* resident)
{
    struct maar_copy_waits waits = {.count = 0};
    struct maar_stream_commands* commands = NULL;
    VkResult result = VK_SUCCESS;
    if (resident->work != NULL) {
        return VK_NOT_READY; /* it reads the host object */
    }
    if (resident->needs_contents && !maar_resident_has(resident, MAAR_TIER_HOST)) {
        return maar_work_raise(it, call, resident);
    }
    if (resident->host_buffer == VK_NULL_HANDLE) {
        result = maar_host_object_make(it, call, resident, 0, &waits);
        if (result == VK_SUCCESS && waits.count > 0) {
            result = maar_copies_begin(it, &commands);
            if (result == VK_SUCCESS) {
                result = maar_copies_submit(it, commands, &waits);
            }
            resident->host_ready = it->copies.submitted;
        }
        if (result != VK_SUCCESS) {
            (void)maar_host_object_end(it, call, resident);
        }
    }
    return result;
}

/* Leaves one of the list in host memory, if that has room. */
static VkResult demote_one(struct maar_residency* it, const char* call, struct lack* lack,
                           uint32_t at)
{
    struct maar_resident* resident = &it->residents[it->missing[at]];
    const VkResult result = demote(it, call, resident);
    if (result != VK_SUCCESS && result != VK_NOT_READY) {
        return result == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_SUCCESS : result;
    }
    resident->is_demoted = result == VK_SUCCESS;
    lack->queued += result == VK_NOT_READY ? resident->content_size : 0;
    lack->demoted += resident->request.requirements.size;
    ++lack->demoted_count;
    take_off_list(it, lack, at);
    return VK_SUCCESS;
}

/* Leaves buffers in host memory until the rest fits on the device, the last ones first. */
static VkResult demote_some(struct maar_residency* it, const char* call, struct lack* lack)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t at = lack->count; at-- > 0 && result == VK_SUCCESS;) {
        struct maar_resident* resident = &it->residents[it->missing[at]];
        if (lack->present + lack->needed <= it->device.budget) {
            break;
        }
        if (resident->kind != MAAR_RESIDENT_BUFFER) {
            continue;
        }
        result = demote_one(it, call, lack, at);
    }
    return result;
}

/* Queues work for residents that have no host object, and takes them off the list. Where host
 * memory has room for some of them only, the others follow when these have been brought. */
static VkResult raise_some(struct maar_residency* it, const char* call, struct lack* lack)
{
    VkResult result = VK_NOT_READY;
    for (uint32_t at = lack->count; at-- > 0;) {
        struct maar_resident* resident = &it->residents[it->missing[at]];
        if (!resident->needs_contents || maar_resident_has(resident, MAAR_TIER_HOST)) {
            continue;
        }
        if (result == VK_NOT_READY) {
            result = maar_work_raise(it, call, resident);
            lack->raised += result == VK_NOT_READY ? 1 : 0;
        }
        lack->queued += resident->content_size;
        take_off_list(it, lack, at);
    }
    const bool is_coming = lack->raised > 0 || lack->count > 0;
    return result == VK_NOT_READY || (result == VK_ERROR_OUT_OF_POOL_MEMORY && is_coming)
               ? VK_SUCCESS
               : result;
}

static VkResult refuse_size(struct maar_residency* it, const char* call, const struct lack* lack,
                            MaarUseInfo* info)
{
    const VkDeviceSize wanted = lack->present + lack->needed;
    info->missingSize = wanted > it->device.budget ? wanted - it->device.budget : 0;
    return maar_fail(
        it->allocator, VK_ERROR_OUT_OF_POOL_MEMORY, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, call,
        "the residents of the use and those that others pin take %s, and the budget of "
        "the device is %s, which is %s less; split the submission, or use "
        "MAAR_USE_MAY_DEMOTE_BIT",
        maar_show_bytes(wanted).text, maar_show_bytes(it->device.budget).text,
        maar_show_bytes(info->missingSize).text);
}

/* Reports that the budget of the device has the bytes, but that they are not side by side, or that
 * host memory has no room for the copies of what must leave. */
static void refuse_pieces(struct maar_residency* it, const char* call, VkDeviceSize missing,
                          MaarUseInfo* info)
{
    const struct maar_tier_memory* full = it->host_is_full ? &it->host : &it->device;
    info->missingSize = missing;
    maar_report(it->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, call,
                it->host_is_full
                    ? "%s lack room on the device, and host memory has none for what would make "
                      "way: %s of %s are in use%s; raise hostBudget, or give a file store"
                    : "%s lack room on the device, since what is pinned divides its memory: %s of "
                      "%s are in use%s; split the submission, or end uses earlier",
                maar_show_bytes(missing).text, maar_show_bytes(full->live).text,
                maar_show_bytes(full->budget).text,
                full->is_refused ? ", and the driver has refused memory within this budget" : "");
}

/* Whether a resident's only contents are in host memory, and nothing uses them. */
static bool is_in_host_alone(const struct maar_residency* it, const struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    return resident->work == NULL && resident->valid == MAAR_VALID_IN(MAAR_TIER_HOST) &&
           maar_resident_points(it, resident, points) == 0;
}

/* Gives up the host object of a resident that a lower tier has, too, where all others wait for room
 * in host memory: for the copies of what they displace. Without such a one, writes one to the file.
 * VK_SUCCESS: a place is free. VK_NOT_READY: one will be. */
static VkResult give_place(struct maar_residency* it, const char* call, struct lack* lack)
{
    static const uint32_t lower = MAAR_VALID_IN(MAAR_TIER_COMPRESSED) |
                                  MAAR_VALID_IN(MAAR_TIER_FILE) | MAAR_VALID_IN(MAAR_TIER_SOURCE);
    bool is_coming = false;
    for (uint32_t at = lack->count; at-- > 0 && lack->count > 1;) {
        struct maar_resident* resident = &it->residents[it->missing[at]];
        is_coming = is_coming || resident->work != NULL;
        if (resident->host_buffer != VK_NULL_HANDLE && resident->work == NULL &&
            (resident->valid & lower) != 0 &&
            maar_host_object_end(it, call, resident) == VK_SUCCESS) {
            lack->queued += resident->content_size;
            take_off_list(it, lack, at);
            return VK_SUCCESS;
        }
    }
    for (uint32_t at = lack->count; at-- > 0 && !is_coming && lack->count > 1;) {
        struct maar_resident* resident = &it->residents[it->missing[at]];
        is_coming = is_in_host_alone(it, resident) && maar_work_write(it, resident);
    }
    return is_coming ? VK_NOT_READY : VK_ERROR_OUT_OF_POOL_MEMORY;
}

/* Takes those that have come off the list. They are no victims of the others. */
static void take_off_brought(struct maar_residency* it, struct lack* lack)
{
    for (uint32_t at = lack->count; at-- > 0;) {
        struct maar_resident* resident = &it->residents[it->missing[at]];
        if (resident->has_object) {
            maar_resident_keep(it, resident);
            resident->is_held = true;
            lack->present += resident->request.requirements.size;
            take_off_list(it, lack, at);
        }
    }
}

/* Leaves buffers in host memory that would displace what has only just come. Where sets take turns
 * that together exceed the device, each would otherwise displace the other one every time. */
static VkResult demote_rest(struct maar_residency* it, const char* call, struct lack* lack)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t at = lack->count; at-- > 0 && result == VK_SUCCESS;) {
        if (it->residents[it->missing[at]].kind == MAAR_RESIDENT_BUFFER) {
            result = demote_one(it, call, lack, at);
        }
    }
    return result;
}

/* Restores what a use lacks, as far as nothing leaves that has only just come. The rest stays in
 * host memory, if it can. */
static VkResult restore_with_grace(struct maar_residency* it, const char* call, struct lack* lack,
                                   struct maar_tier_room* room)
{
    uint32_t brought = 0;
    room->has_grace = true;
    VkResult result = maar_residency_restore(it, call, lack->count, it->missing, room, &brought);
    room->has_grace = false;
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        take_off_brought(it, lack);
        result = demote_rest(it, call, lack);
    }
    return result;
}

/* Restores what a use lacks and host memory has. VK_NOT_READY: only some of it. */
static VkResult restore_some(struct maar_residency* it, const char* call, struct lack* lack,
                             struct maar_tier_room* room)
{
    uint32_t brought = 0;
    VkResult result = maar_residency_restore(it, call, lack->count, it->missing, room, &brought);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && brought == 0) {
        result = give_place(it, call, lack);
        if (result == VK_SUCCESS) {
            result = maar_residency_restore(it, call, lack->count, it->missing, room, &brought);
        }
    }
    /* What was brought gives its place in host memory to the copies that the next call makes. */
    return result == VK_ERROR_OUT_OF_POOL_MEMORY && brought > 0 ? VK_NOT_READY : result;
}

/* Brings what a use lacks, as far as that is possible now. */
static VkResult bring(struct maar_residency* it, const char* call, const struct maar_use* use,
                      MaarUseFlags flags, MaarUseInfo* info)
{
    struct maar_tier_room room = {
        .budget = it->device.budget,
        .reason = MAAR_RESIDENCY_REASON_USE,
        .most_bytes = UINT64_MAX,
        .most_count = UINT32_MAX,
    };
    VkResult result = maar_copies_poll(it);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!maar_work_take(it, call)) {
        return VK_ERROR_DEVICE_LOST;
    }
    result = refuse_stranded(it, call, use);
    if (result == VK_SUCCESS) {
        result = refuse_lost(it, use);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    it->device.is_refused = false;
    it->host.is_refused = false;
    it->host_is_full = false;
    struct lack lack = find_lack(it, call, use);
    result = lack.result;
    if (result == VK_SUCCESS && lack.present + lack.needed > it->device.budget &&
        (flags & MAAR_USE_MAY_DEMOTE_BIT) != 0) {
        result = demote_some(it, call, &lack);
    }
    if (result == VK_SUCCESS && lack.present + lack.needed > it->device.budget) {
        result = refuse_size(it, call, &lack, info);
    }
    if (result == VK_SUCCESS) {
        result = raise_some(it, call, &lack);
    }
    if (result == VK_SUCCESS && (flags & MAAR_USE_MAY_DEMOTE_BIT) != 0) {
        result = restore_with_grace(it, call, &lack, &room);
    }
    if (result == VK_SUCCESS) {
        take_off_brought(it, &lack);
        result = restore_some(it, call, &lack, &room);
    }
    info->restoredSize += room.restored;
    info->evictedSize += room.evicted;
    info->demotedSize = lack.demoted;
    it->info.demotedCount += result == VK_SUCCESS && lack.queued == 0 ? lack.demoted_count : 0;
    info->queuedSize = lack.queued;
    if (result == VK_SUCCESS && lack.queued > 0) {
        result = VK_NOT_READY;
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && info->missingSize == 0) {
        refuse_pieces(it, call, lack.needed + lack.demoted + lack.queued, info);
        /* The driver has less than the budget. */
        result =
            it->device.is_refused || it->host.is_refused ? VK_ERROR_OUT_OF_DEVICE_MEMORY : result;
    }
    forget_lack(it, use, result == VK_SUCCESS);
    return result;
}

/* Does what stands in the way of a use, on this thread. */
static void clear_way(struct maar_residency* it)
{
    if (maar_work_run(it, UINT32_MAX) > 0 || maar_work_wait(it)) {
        return;
    }
    if (it->copies.completed < it->copies.submitted) {
        (void)maar_copies_wait(it);
    } else {
        (void)maarWaitPending(it->allocator, wait_ns);
    }
}

static VkResult bring_patiently(struct maar_residency* it, const char* call,
                                const struct maar_use* use, MaarUseFlags flags, MaarUseInfo* info)
{
    uint32_t fruitless = 0;
    it->is_patient = (flags & MAAR_USE_WAIT_BIT) != 0;
    VkResult result = bring(it, call, use, flags, info);
    while (result == VK_NOT_READY && it->is_patient && fruitless < FRUITLESS_WAITS) {
        const uint64_t progress = maar_work_progress(it);
        const VkDeviceSize restored = info->restoredSize;
        clear_way(it);
        result = bring(it, call, use, flags, info);
        const bool is_nearer = maar_work_progress(it) != progress || info->restoredSize > restored;
        fruitless = is_nearer ? 0 : fruitless + 1;
    }
    it->is_patient = false;
    return result;
}

/* ---- begin ---- */

/* Pins a resident for an item of a use. */
static void pin_item(struct maar_residency* it, struct maar_use_item* item)
{
    struct maar_resident* resident = &it->residents[item->resident];
    if (resident->pin_count++ == 0) {
        maar_resident_keep(it, resident);
        maar_resident_count(it, resident);
        resident->next_layout = resident->layout;
        if (!maar_resident_has(resident,
                               resident->is_demoted ? MAAR_TIER_HOST : MAAR_TIER_DEVICE)) {
            resident->next_layout = VK_IMAGE_LAYOUT_UNDEFINED;
        }
    }
}

/* What is known of a whole use. */
struct use_answer {
    uint64_t ready; /* value of the manager's timeline */
    uint32_t fresh_count;
};

/* Answers an item: its object now, and its layout after the use. */
static void answer_item(struct maar_residency* it, struct maar_use_item* item,
                        MaarResidentObject* object, struct use_answer* answer)
{
    struct maar_resident* resident = &it->residents[item->resident];
    const MaarTier tier = resident->is_demoted ? MAAR_TIER_HOST : MAAR_TIER_DEVICE;
    const uint64_t ready = resident->is_demoted ? resident->host_ready : resident->ready;
    const bool is_fresh = !maar_resident_has(resident, tier) && resident->writer_count == 0;
    answer->ready = ready > answer->ready ? ready : answer->ready;
    answer->fresh_count += is_fresh ? 1 : 0;
    if (object != NULL) {
        *object = (MaarResidentObject){
            .buffer = resident->is_demoted ? resident->host_buffer : resident->object.buffer,
            .image = resident->object.image,
            .address = resident->address,
            .epoch = resident->epoch,
            .layout = resident->next_layout,
            .tier = tier,
            .isFresh = is_fresh ? VK_TRUE : VK_FALSE,
        };
    }
    item->found = resident->next_layout;
    item->layout = item->layout != VK_IMAGE_LAYOUT_UNDEFINED ? item->layout : item->found;
}

static void pin_use(struct maar_residency* it, struct maar_use* use, MaarResidentObject* objects,
                    MaarUseInfo* info)
{
    struct use_answer answer = {.ready = 0};
    for (uint32_t i = 0; i < use->count; ++i) {
        it->scratch[i] = it->residents[use->items[i].resident].policy;
        pin_item(it, &use->items[i]);
    }
    for (uint32_t i = 0; i < use->count; ++i) {
        answer_item(it, &use->items[i], objects != NULL ? &objects[i] : NULL, &answer);
    }
    for (uint32_t i = 0; i < use->count; ++i) {
        struct maar_resident* resident = &it->residents[use->items[i].resident];
        resident->next_layout = use->items[i].layout;
        resident->writer_count += (use->items[i].access & writes) != 0 ? 1 : 0;
    }
    maar_residency_note_use(it, use);
    info->freshCount = answer.fresh_count;
    info->mustWait = answer.ready > it->copies.completed ? VK_TRUE : VK_FALSE;
    info->wait = info->mustWait == VK_TRUE ? (MaarPoint){it->copies.timeline, answer.ready}
                                           : (MaarPoint){VK_NULL_HANDLE, 0};
}

static VkResult check_use_begin(MaarAllocator allocator, const char* call,
                                const MaarUseBeginInfo* info, const MaarUseInfo* answer)
{
    const MaarUseFlags known =
        (MaarUseFlags)MAAR_USE_MAY_DEMOTE_BIT | (MaarUseFlags)MAAR_USE_WAIT_BIT;
    VkResult result = maar_check_structure(allocator, call, "pBeginInfo", info,
                                           MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO);
    if (result == VK_SUCCESS && answer != NULL) {
        result =
            maar_check_structure(allocator, call, "pInfo", answer, MAAR_STRUCTURE_TYPE_USE_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info->flags & ~known) != 0) {
        return maar_refuse_flags(allocator, call, "pBeginInfo->flags", "MaarUseFlagBits",
                                 info->flags & ~known);
    }
    const struct maar_rule rules[] = {
        {info->useCount == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pBeginInfo->useCount is 0"},
        {info->pUses == NULL, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBeginInfo->pUses is NULL"},
        {0},
    };
    return maar_check_rules(allocator, call, rules);
}

static VkResult begin_held(struct maar_residency* it, const char* call,
                           const MaarUseBeginInfo* begin, MaarResidentObject* objects,
                           MaarUseInfo* info, MaarUse* handle)
{
    MaarUseInfo answer = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    bool is_missing = false;
    VkResult result = check_use_begin(it->allocator, call, begin, info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_use* use = take_record(it, begin->useCount);
    result = use == NULL || !maar_residency_reserve_scratch(it, begin->useCount)
                 ? VK_ERROR_OUT_OF_HOST_MEMORY
                 : read_items(it, call, begin, use, &is_missing);
    ++it->serial;
    if (result == VK_SUCCESS && is_missing) {
        result = bring_patiently(it, call, use, begin->flags, &answer);
    }
    if (result == VK_SUCCESS) {
        pin_use(it, use, objects, &answer);
        *handle = open_record(it, use);
    }
    if (result == VK_ERROR_DEVICE_LOST) {
        (void)maarCollect(it->allocator, NULL); /* nothing waits for a lost device */
    }
    it->info.notReadyCount += result == VK_NOT_READY ? 1 : 0;
    if (info != NULL) {
        answer.pNext = info->pNext;
        *info = answer;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBeginUse(MaarAllocator allocator, MaarResidency residency,
                                            const MaarUseBeginInfo* pBeginInfo,
                                            MaarResidentObject* pObjects, MaarUseInfo* pInfo,
                                            MaarUse* pUse)
{
    const struct maar_output outputs[] = {{"pUse", pUse, sizeof *pUse}, {0}};
    struct maar_residency* it = NULL;
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_residency_enter(allocator, __func__, residency, &it);
    }
    if (result == VK_SUCCESS) {
        result = begin_held(it, __func__, pBeginInfo, pObjects, pInfo, pUse);
        maar_residency_leave(it);
    }
    return result;
}

/* ---- end ---- */

/* Unpins the residents of a use. */
static void unpin_item(struct maar_residency* it, const struct maar_use_item* item)
{
    struct maar_resident* resident = &it->residents[item->resident];
    resident->writer_count -= (item->access & writes) != 0 ? 1 : 0;
    if (--resident->pin_count == 0) {
        /* A cancelled use of an image without contents leaves the layout of those in lower tiers.
         */
        resident->layout = resident->next_layout != VK_IMAGE_LAYOUT_UNDEFINED
                               ? resident->next_layout
                               : resident->layout;
        maar_resident_count(it, resident);
        maar_resident_release(it, resident);
        if (resident->is_demoted) {
            resident->is_demoted = false;
            maar_host_object_touch(it, resident);
        }
    }
}

/* Returns the number of a timeline, or MAAR_RESIDENCY_TIMELINES if there is no room. */
static uint32_t number_timeline(struct maar_residency* it, VkSemaphore semaphore)
{
    uint32_t number = 0;
    while (number < it->timeline_count && it->timelines[number].semaphore != semaphore) {
        ++number;
    }
    if (number == it->timeline_count && number < MAAR_RESIDENCY_TIMELINES) {
        it->timelines[it->timeline_count++] =
            (struct maar_residency_timeline){.semaphore = semaphore};
    }
    return number;
}

static void note_point(struct maar_resident* resident, uint32_t timeline, uint64_t value)
{
    resident->timelines |= (uint16_t)(1u << timeline);
    for (uint32_t i = 0; i < resident->point_count; ++i) {
        if (resident->points[i].timeline == timeline) {
            resident->points[i].value =
                value > resident->points[i].value ? value : resident->points[i].value;
            return;
        }
    }
    if (resident->point_count < MAAR_RESIDENT_POINTS) {
        resident->points[resident->point_count].timeline = timeline;
        resident->points[resident->point_count++].value = value;
    }
}

static VkResult check_points(struct maar_residency* it, const char* call, uint32_t count,
                             const MaarPoint* points, uint32_t* numbers)
{
    if (count == 0 || count > MAAR_MAX_POINTS) {
        return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                         MAAR_MESSAGE_ID_OUT_OF_RANGE, call,
                         "pointCount is %u, neither 1 nor up to MAAR_MAX_POINTS (%u)", count,
                         (unsigned)MAAR_MAX_POINTS);
    }
    const VkResult result =
        points != NULL
            ? VK_SUCCESS
            : maar_misuse(it->allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pPoints is NULL");
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        if (points[i].semaphore == VK_NULL_HANDLE) {
            return maar_fail(it->allocator, VK_ERROR_VALIDATION_FAILED_EXT,
                             MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                             "pPoints[%u] is a point of the host timeline, for which no queue can "
                             "wait",
                             i);
        }
        numbers[i] = number_timeline(it, points[i].semaphore);
        if (numbers[i] == MAAR_RESIDENCY_TIMELINES) {
            return maar_fail(it->allocator, VK_ERROR_TOO_MANY_OBJECTS,
                             MAAR_MESSAGE_ID_POINT_NOT_USABLE, call,
                             "pPoints[%u] is of a further timeline, and the uses of one manager "
                             "may name only %u",
                             i, (unsigned)MAAR_RESIDENCY_TIMELINES);
        }
    }
    return result;
}

static VkResult end_held(struct maar_residency* it, const char* call, MaarUse use, uint32_t count,
                         const MaarPoint* points)
{
    uint32_t numbers[MAAR_MAX_POINTS] = {0};
    struct maar_use* own = NULL;
    VkResult result = find_record(it, call, use, &own);
    if (result == VK_SUCCESS) {
        result = check_points(it, call, count, points, numbers);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < count; ++i) {
        struct maar_residency_timeline* timeline = &it->timelines[numbers[i]];
        timeline->latest = points[i].value > timeline->latest ? points[i].value : timeline->latest;
    }
    maar_copies_note_use(it, count, points);
    for (uint32_t i = 0; i < own->count; ++i) {
        const struct maar_use_item* item = &own->items[i];
        struct maar_resident* resident = &it->residents[item->resident];
        const MaarTier tier = resident->is_demoted ? MAAR_TIER_HOST : MAAR_TIER_DEVICE;
        for (uint32_t j = 0; j < count; ++j) {
            note_point(resident, numbers[j], points[j].value);
        }
        if ((item->access & writes) != 0) {
            resident->is_lost = false;
            maar_pages_note_size(it, resident);
        }
        if ((item->access & writes) != 0 && resident->valid != MAAR_VALID_IN(tier)) {
            maar_resident_keep_only(it, call, resident, tier);
        }
        unpin_item(it, item);
    }
    close_record(it, own);
    (void)maar_pages_submit(it, NULL);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEndUse(MaarAllocator allocator, MaarResidency residency,
                                          MaarUse use, uint32_t pointCount,
                                          const MaarPoint* pPoints)
{
    struct maar_residency* it = NULL;
    VkResult result = maar_residency_enter(allocator, __func__, residency, &it);
    if (result == VK_SUCCESS) {
        result = end_held(it, __func__, use, pointCount, pPoints);
        maar_residency_leave(it);
    }
    return result;
}

static void cancel_held(struct maar_residency* it, const char* call, struct maar_use* own)
{
    for (uint32_t i = 0; i < own->count; ++i) {
        struct maar_resident* resident = &it->residents[own->items[i].resident];
        resident->next_layout = own->items[i].found;
        unpin_item(it, &own->items[i]);
        /* An object that the use was to fill has nothing to keep. */
        if (resident->pin_count == 0 && resident->has_object &&
            !maar_resident_has(resident, MAAR_TIER_DEVICE)) {
            (void)maar_device_object_end(it, call, resident);
        }
    }
    for (uint32_t i = 0; i < own->count; ++i) {
        const struct maar_resident* resident = &it->residents[own->items[i].resident];
        if (is_stranded(resident)) {
            maar_report(it->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_USE_NOT_ENDED,
                        call,
                        "use was to write resident %s, and uses that began later count on that: "
                        "cancel them first",
                        maar_quote(resident->name).text);
        }
    }
    close_record(it, own);
    (void)maar_pages_submit(it, NULL);
}

VKAPI_ATTR void VKAPI_CALL maarCancelUse(MaarAllocator allocator, MaarResidency residency,
                                         MaarUse use)
{
    struct maar_residency* it = NULL;
    struct maar_use* own = NULL;
    if (allocator == NULL || use == VK_NULL_HANDLE ||
        maar_residency_enter(allocator, __func__, residency, &it) != VK_SUCCESS) {
        return;
    }
    if (find_record(it, __func__, use, &own) == VK_SUCCESS) {
        cancel_held(it, __func__, own);
    }
    maar_residency_leave(it);
}
