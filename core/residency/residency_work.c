/*
 * Work of the host: see residency_work.h.
 */
#include "core/residency/residency_work.h"

#include "core/residency/policy_order.h"
#include "core/residency/residency_tiers.h"

enum maar_work_kind { MAAR_WORK_PACK, MAAR_WORK_UNPACK, MAAR_WORK_SOURCE };

struct maar_work {
    struct maar_work* next;
    enum maar_work_kind kind;
    bool is_queued;    /* under the work lock: no thread has taken it */
    bool is_forgotten; /* the resident does not wait for it any more */
    uint32_t resident;
    uint8_t* bytes; /* of the host object */
    size_t size;
    void* packed; /* what was read, or what was made */
    size_t packed_size;
    VkResult result;
    PFN_maarResidentRead read;
    void* read_data;
    /* of a forgotten piece: what it still uses */
    VkBuffer host_buffer;
    MaarAllocation host_allocation;
    VkDeviceSize host_size;
};

/* ---- the lists ---- */

bool maar_work_open(struct maar_residency* it)
{
    if (!maar_mutex_init(&it->work_lock, MAAR_LOCK_RESIDENCY, true)) {
        return false;
    }
    if (!maar_condition_init(&it->work_ended)) {
        maar_mutex_destroy(&it->work_lock);
        return false;
    }
    return true;
}

void maar_work_close(struct maar_residency* it)
{
    maar_condition_destroy(&it->work_ended);
    maar_mutex_destroy(&it->work_lock);
}

static void queue_work(struct maar_residency* it, struct maar_work* work)
{
    it->residents[work->resident].work = work;
    work->is_queued = true;
    maar_mutex_lock(&it->work_lock);
    if (it->work_last != NULL) {
        it->work_last->next = work;
    } else {
        it->work_first = work;
    }
    it->work_last = work;
    ++it->work_count;
    maar_mutex_unlock(&it->work_lock);
}

static struct maar_work* next_work(struct maar_residency* it)
{
    maar_mutex_lock(&it->work_lock);
    struct maar_work* work = it->work_first;
    if (work != NULL) {
        it->work_first = work->next;
        it->work_last = it->work_first != NULL ? it->work_last : NULL;
        work->next = NULL;
        work->is_queued = false;
        --it->work_count;
        ++it->work_running;
    }
    maar_mutex_unlock(&it->work_lock);
    return work;
}

static void end_work(struct maar_residency* it, struct maar_work* work)
{
    maar_mutex_lock(&it->work_lock);
    work->next = it->work_done;
    it->work_done = work;
    --it->work_running;
    maar_condition_wake(&it->work_ended);
    maar_mutex_unlock(&it->work_lock);
}

uint32_t maar_work_count(struct maar_residency* it)
{
    maar_mutex_lock(&it->work_lock);
    const uint32_t count = it->work_count;
    maar_mutex_unlock(&it->work_lock);
    return count;
}

void maar_work_wait(struct maar_residency* it)
{
    maar_mutex_lock(&it->work_lock);
    while (it->work_running > 0) {
        maar_condition_wait(&it->work_ended, &it->work_lock);
    }
    maar_mutex_unlock(&it->work_lock);
}

/* Takes a piece off the queue. Returns false if a thread has it. */
static bool take_back(struct maar_residency* it, struct maar_work* work)
{
    struct maar_work* before = NULL;
    maar_mutex_lock(&it->work_lock);
    const bool is_queued = work->is_queued;
    if (is_queued) {
        for (struct maar_work* at = it->work_first; at != work; at = at->next) {
            before = at;
        }
        if (before != NULL) {
            before->next = work->next;
        } else {
            it->work_first = work->next;
        }
        it->work_last = it->work_last == work ? before : it->work_last;
        --it->work_count;
    }
    maar_mutex_unlock(&it->work_lock);
    return is_queued;
}

/* ---- what is queued ---- */

static struct maar_work* make_work(struct maar_residency* it, struct maar_resident* resident,
                                   enum maar_work_kind kind)
{
    struct maar_work* work = maar_host_calloc(it->allocator->callbacks, 1, sizeof *work);
    if (work != NULL) {
        work->kind = kind;
        work->resident = maar_resident_number(it, resident);
        work->bytes = resident->host_data;
        work->size = (size_t)resident->content_size;
        work->packed = resident->packed;
        work->packed_size = resident->packed_size;
        work->read = resident->read;
        work->read_data = resident->read_data;
    }
    return work;
}

/* Whether compressing a resident would free its host object. */
static bool can_pack(const struct maar_residency* it, const struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    return it->packed_budget > 0 && !resident->is_refused && resident->work == NULL &&
           (resident->flags & MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT) == 0 &&
           (resident->valid & ~MAAR_VALID_IN(MAAR_TIER_DEVICE)) == MAAR_VALID_IN(MAAR_TIER_HOST) &&
           !resident->is_demoted && maar_resident_points(it, resident, points) == 0;
}

static bool queue_pack(struct maar_residency* it, struct maar_resident* resident)
{
    struct maar_work* work = make_work(it, resident, MAAR_WORK_PACK);
    if (work == NULL) {
        return false;
    }
    if (maarInvalidateAllocation(it->allocator, resident->host_allocation, 0, VK_WHOLE_SIZE) !=
        VK_SUCCESS) {
        maar_host_free(it->allocator->callbacks, work);
        return false;
    }
    queue_work(it, work);
    return true;
}

bool maar_work_lower(struct maar_residency* it, VkDeviceSize size)
{
    VkDeviceSize coming = 0;
    bool is_anything = it->submitted > it->completed;
    for (uint32_t at = it->host_oldest; at != MAAR_NO_OBJECT && coming < size;
         at = it->residents[at].host_newer) {
        struct maar_resident* resident = &it->residents[at];
        const bool is_on_its_way = resident->work != NULL;
        if (is_on_its_way || (can_pack(it, resident) && queue_pack(it, resident))) {
            coming += resident->host_request.requirements.size;
            is_anything = true;
        }
    }
    return is_anything;
}

VkResult maar_work_raise(struct maar_residency* it, const char* call,
                         struct maar_resident* resident)
{
    const bool is_packed = maar_resident_has(resident, MAAR_TIER_COMPRESSED);
    VkResult result = VK_SUCCESS;
    if (resident->work != NULL) {
        return VK_NOT_READY;
    }
    if (resident->host_buffer == VK_NULL_HANDLE) {
        result = maar_host_object_make(it, call, resident, 0, NULL);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_work* work =
        make_work(it, resident, is_packed ? MAAR_WORK_UNPACK : MAAR_WORK_SOURCE);
    if (work == NULL) {
        (void)maar_host_object_end(it, call, resident);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    resident->staged = it->serial;
    queue_work(it, work);
    return VK_NOT_READY;
}

/* ---- the work ---- */

static void run_work(struct maar_residency* it, struct maar_work* work)
{
    (void)it;
    switch (work->kind) {
    case MAAR_WORK_PACK:
        work->packed = NULL;
        work->packed_size = 0;
        work->result = VK_INCOMPLETE;
        break;
    case MAAR_WORK_UNPACK:
        work->result = VK_ERROR_UNKNOWN;
        break;
    default:
        work->result = work->read(work->read_data, work->size, work->bytes);
        break;
    }
}

uint32_t maar_work_run(struct maar_residency* it, uint32_t most)
{
    uint32_t done = 0;
    for (; done < most; ++done) {
        struct maar_work* work = next_work(it);
        if (work == NULL) {
            break;
        }
        run_work(it, work);
        end_work(it, work);
    }
    return done;
}

/* ---- results ---- */

/* The contents cannot be had from the copy that was read. */
static void lose_copy(struct maar_residency* it, const char* call, struct maar_resident* resident,
                      MaarTier tier, uint32_t lost)
{
    maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(lost));
    if (tier == MAAR_TIER_COMPRESSED) {
        maar_packed_end(it, resident);
    }
    if (resident->valid != 0) {
        return;
    }
    resident->is_lost = true;
    ++it->info.lostCount;
    maar_report(it->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_CONTENTS_LOST, call,
                "the contents of resident %s (%s) are lost: the copy %s cannot be read",
                maar_quote(resident->name).text, maar_show_bytes(resident->content_size).text,
                tier == MAAR_TIER_COMPRESSED ? "that was compressed" : "in its source or file");
    maar_residency_note(it, resident, tier, MAAR_TIER_NONE, MAAR_RESIDENCY_REASON_LOST, 0);
}

static void take_packed(struct maar_residency* it, struct maar_resident* resident,
                        struct maar_work* work)
{
    if (work->result != VK_SUCCESS || it->packed_size + work->packed_size > it->packed_budget) {
        resident->is_refused = work->result == VK_INCOMPLETE;
        maar_host_free(it->allocator->callbacks, work->packed);
        return;
    }
    resident->packed = work->packed;
    resident->packed_size = work->packed_size;
    it->packed_size += work->packed_size;
    MaarTierInfo* tier = &it->info.tiers[MAAR_TIER_COMPRESSED];
    tier->peakSize = it->packed_size > tier->peakSize ? it->packed_size : tier->peakSize;
    maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_COMPRESSED));
    maar_residency_note(it, resident, MAAR_TIER_HOST, MAAR_TIER_COMPRESSED,
                        MAAR_RESIDENCY_REASON_ROOM, resident->content_size);
}

static void take_raised(struct maar_residency* it, const char* call, struct maar_resident* resident,
                        const struct maar_work* work)
{
    const MaarTier from = work->kind == MAAR_WORK_UNPACK ? MAAR_TIER_COMPRESSED : MAAR_TIER_FILE;
    VkResult result = work->result;
    if (result == VK_SUCCESS) {
        result = maarFlushAllocation(it->allocator, resident->host_allocation, 0, VK_WHOLE_SIZE);
    }
    if (result != VK_SUCCESS) {
        (void)maar_host_object_end(it, call, resident);
        lose_copy(it, call, resident, from,
                  work->kind == MAAR_WORK_UNPACK ? (uint32_t)MAAR_TIER_COMPRESSED
                                                 : (uint32_t)MAAR_TIER_SOURCE);
        return;
    }
    maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_HOST));
    maar_host_object_touch(it, resident);
    maar_residency_note(it, resident, from, MAAR_TIER_HOST, MAAR_RESIDENCY_REASON_USE,
                        resident->content_size);
}

/* Ends what a forgotten piece has used. */
static void end_forgotten(struct maar_residency* it, const char* call, struct maar_work* work)
{
    const struct maar_object object = {.buffer = work->host_buffer};
    if (work->host_buffer != VK_NULL_HANDLE) {
        (void)maar_tier_memory_remove(&it->host, call, object, work->host_allocation,
                                      work->host_size, 0, NULL);
    }
    maar_host_free(it->allocator->callbacks, work->packed);
}

void maar_work_take(struct maar_residency* it, const char* call)
{
    maar_mutex_lock(&it->work_lock);
    struct maar_work* work = it->work_done;
    it->work_done = NULL;
    maar_mutex_unlock(&it->work_lock);
    while (work != NULL) {
        struct maar_work* next = work->next;
        if (work->is_forgotten) {
            end_forgotten(it, call, work);
        } else {
            struct maar_resident* resident = &it->residents[work->resident];
            resident->work = NULL;
            if (work->kind == MAAR_WORK_PACK) {
                take_packed(it, resident, work);
            } else {
                take_raised(it, call, resident, work);
            }
        }
        maar_host_free(it->allocator->callbacks, work);
        work = next;
    }
}

void maar_work_forget(struct maar_residency* it, struct maar_resident* resident)
{
    struct maar_work* work = resident->work;
    resident->work = NULL;
    if (work == NULL) {
        return;
    }
    if (take_back(it, work)) {
        maar_host_free(it->allocator->callbacks, work);
        return;
    }
    work->is_forgotten = true;
    work->host_buffer = resident->host_buffer;
    work->host_allocation = resident->host_allocation;
    work->host_size = resident->host_request.requirements.size;
    maar_host_object_leave(it, resident);
    if (work->kind == MAAR_WORK_UNPACK) {
        it->packed_size -= resident->packed_size;
        resident->packed = NULL;
        resident->packed_size = 0;
    }
}
