/*
 * Work of the host: see residency_work.h.
 */
#include "core/residency/residency_work.h"

#include <string.h>

#include "core/residency/host_object.h"
#include "core/residency/policy_order.h"
#include "core/residency/residency_copies.h"
#include "core/residency/resident_valid.h"
#include "core/residency/store_ring.h"
#include "maar/checkpoint.h"

enum maar_work_kind {
    MAAR_WORK_PACK,   /* the host object into packed bytes */
    MAAR_WORK_UNPACK, /* the reverse */
    MAAR_WORK_WRITE,  /* packed bytes, or else the host object, into the file */
    MAAR_WORK_READ,   /* the reverse, into the host object */
    MAAR_WORK_SOURCE  /* what the program reads, into the host object */
};

/* Pieces whose transfers the system makes at once: more than a ring has buffers. */
enum { MOST_TRANSFERS = 16 };

struct maar_work {
    struct maar_work* next;
    enum maar_work_kind kind;
    bool is_queued;    /* under the work lock: no thread has taken it */
    bool is_forgotten; /* the resident does not wait for it any more */
    bool is_packed;    /* the file has packed bytes */
    uint32_t resident;
    uint8_t* bytes; /* of the host object; NULL if the piece does not use it */
    size_t size;
    void* packed; /* what was read, or what was made */
    size_t packed_size;
    struct maar_extent extent;
    struct maar_store_request* request; /* of a piece among the transfers */
    VkResult result;
    PFN_maarResidentRead read;
    void* read_data;
    MaarCheckpoint checkpoint;
    uint64_t key;
    /* of a forgotten piece: what it still uses */
    VkBuffer host_buffer;
    MaarAllocation host_allocation;
    VkDeviceSize host_size;
    uint64_t host_ready; /* value of the manager's timeline: the last copy */
};

/* ---- the lists ---- */

bool maar_work_open(struct maar_residency* it)
{
    if (!maar_mutex_init(&it->work_lock, MAAR_LOCK_RESIDENCY, true)) {
        return false;
    }
    if (!maar_condition_init(&it->work_ended)) {
        goto destroy_lock;
    }
    if (!maar_condition_init(&it->call_ended)) {
        goto destroy_ended;
    }
    return true;

destroy_ended:
    maar_condition_destroy(&it->work_ended);
destroy_lock:
    maar_mutex_destroy(&it->work_lock);
    return false;
}

void maar_work_close(struct maar_residency* it)
{
    maar_condition_destroy(&it->call_ended);
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
    const uint32_t count = it->work_count + it->transfer_count;
    maar_mutex_unlock(&it->work_lock);
    return count;
}

/* Takes a piece off the queue. Returns false if a thread has it. */
static bool take_off_queue(struct maar_residency* it, struct maar_work* work)
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
        const bool uses_host = kind != MAAR_WORK_WRITE || resident->packed == NULL;
        work->kind = kind;
        work->resident = maar_resident_number(it, resident);
        work->bytes = uses_host ? resident->host_data : NULL;
        work->size = (size_t)resident->content_size;
        work->packed = resident->packed;
        work->packed_size = resident->packed_size;
        work->extent = resident->extent;
        work->is_packed = kind == MAAR_WORK_READ ? resident->is_file_packed : !uses_host;
        work->read = resident->read;
        work->read_data = resident->read_data;
        work->checkpoint = resident->checkpoint;
        work->key = resident->key;
    }
    return work;
}

/* Whether the host object has the only copy below the device, and nothing uses it. */
static bool is_only_copy(const struct maar_residency* it, const struct maar_resident* resident)
{
    MaarPoint points[MAAR_MAX_POINTS];
    return resident->work == NULL && !resident->is_demoted && !resident->is_wanted &&
           (resident->valid & ~MAAR_VALID_IN(MAAR_TIER_DEVICE)) == MAAR_VALID_IN(MAAR_TIER_HOST) &&
           maar_resident_points(it, resident, points) == 0;
}

/* Whether a resident's bytes are to be compressed: they are known to shrink, or not known, and may
 * find room then. */
static bool can_pack(const struct maar_residency* it, const struct maar_resident* resident)
{
    return it->packed_size < it->packed_budget &&
           resident->packed_wanted <= it->packed_budget - it->packed_size &&
           !resident->is_refused &&
           (resident->flags & MAAR_RESIDENT_CREATE_NOT_COMPRESSED_BIT) == 0;
}

static bool can_write(const struct maar_residency* it)
{
    return it->store != NULL && !it->is_store_closed;
}

/* Queues work that reads the host object, or packed bytes. */
static bool queue_lowering(struct maar_residency* it, struct maar_resident* resident,
                           enum maar_work_kind kind)
{
    struct maar_work* work = make_work(it, resident, kind);
    if (work == NULL) {
        return false;
    }
    if (work->bytes != NULL && maarInvalidateAllocation(it->allocator, resident->host_allocation, 0,
                                                        VK_WHOLE_SIZE) != VK_SUCCESS) {
        maar_host_free(it->allocator->callbacks, work);
        return false;
    }
    queue_work(it, work);
    return true;
}

/* Queues writes of packed bytes that exceed what the tier may hold beside `size` further bytes. */
void maar_work_lower_packed(struct maar_residency* it, VkDeviceSize size)
{
    const VkDeviceSize most = it->packed_budget > size ? it->packed_budget - size : 0;
    VkDeviceSize left = it->packed_size;
    for (uint32_t at = it->lists[MAAR_LIST_PACKED].oldest;
         at != MAAR_NO_OBJECT && left > most && can_write(it);
         at = it->residents[at].links[MAAR_LIST_PACKED].newer) {
        struct maar_resident* resident = &it->residents[at];
        if (resident->work != NULL || queue_lowering(it, resident, MAAR_WORK_WRITE)) {
            left -= resident->packed_size;
        }
    }
}

bool maar_work_write(struct maar_residency* it, struct maar_resident* resident)
{
    return can_write(it) && queue_lowering(it, resident, MAAR_WORK_WRITE);
}

bool maar_work_lower(struct maar_residency* it, VkDeviceSize size)
{
    VkDeviceSize coming = 0;
    VkDeviceSize packing = 0;
    bool is_anything = it->copies.submitted > it->copies.completed || it->forgotten_count > 0;
    for (uint32_t at = it->lists[MAAR_LIST_HOST].oldest; at != MAAR_NO_OBJECT && coming < size;
         at = it->residents[at].links[MAAR_LIST_HOST].newer) {
        struct maar_resident* resident = &it->residents[at];
        bool is_on_its_way = resident->work != NULL;
        if (!is_on_its_way && is_only_copy(it, resident)) {
            if (can_pack(it, resident)) {
                is_on_its_way = queue_lowering(it, resident, MAAR_WORK_PACK);
                packing += resident->content_size;
            } else if (can_write(it)) {
                is_on_its_way = queue_lowering(it, resident, MAAR_WORK_WRITE);
            }
        }
        coming += is_on_its_way ? resident->host_request.requirements.size : 0;
        is_anything = is_anything || is_on_its_way;
    }
    if (packing > 0) {
        maar_work_lower_packed(it, packing / 2);
    }
    return is_anything;
}

VkResult maar_work_raise(struct maar_residency* it, const char* call,
                         struct maar_resident* resident)
{
    const enum maar_work_kind kind =
        maar_resident_has(resident, MAAR_TIER_COMPRESSED) ? MAAR_WORK_UNPACK
        : maar_resident_has(resident, MAAR_TIER_FILE)     ? MAAR_WORK_READ
                                                          : MAAR_WORK_SOURCE;
    VkResult result = VK_SUCCESS;
    if (resident->work != NULL) {
        /* A write of the packed bytes ends before they are unpacked. */
        return VK_NOT_READY;
    }
    /* One that is not valid may lie in bytes that copies still use. */
    result = maar_host_object_end(it, call, resident);
    if (result == VK_SUCCESS) {
        result = maar_host_object_make(it, call, resident, 0, NULL);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_work* work = make_work(it, resident, kind);
    if (work == NULL) {
        (void)maar_host_object_end(it, call, resident);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    resident->staged = it->serial;
    queue_work(it, work);
    return VK_NOT_READY;
}

/* ---- the work ---- */

/* Returns memory for the codec, which a thread makes once for all its pieces. */
static void* bring_scratch(struct maar_residency* it, void** scratch)
{
    if (*scratch == NULL) {
        *scratch = maar_host_alloc(it->allocator->callbacks, maar_codec_scratch_size(&it->codec));
    }
    return *scratch;
}

static VkResult pack(struct maar_residency* it, struct maar_work* work, void** scratch)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    const size_t bound = maar_codec_bound(work->size);
    void* room = bound > 0 ? maar_host_alloc(callbacks, bound) : NULL;
    work->packed = NULL;
    work->packed_size = 0;
    if (bound == 0) {
        return VK_INCOMPLETE;
    }
    if (room == NULL || bring_scratch(it, scratch) == NULL) {
        maar_host_free(callbacks, room);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    work->packed_size = maar_codec_pack(&it->codec, *scratch, work->bytes, work->size, room, bound);
    if (work->packed_size > 0) {
        work->packed = maar_host_alloc(callbacks, work->packed_size);
    }
    if (work->packed != NULL) {
        memcpy(work->packed, room, work->packed_size);
    }
    maar_host_free(callbacks, room);
    return work->packed != NULL     ? VK_SUCCESS
           : work->packed_size == 0 ? VK_INCOMPLETE
                                    : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult unpack(struct maar_residency* it, const struct maar_work* work, void** scratch)
{
    if (bring_scratch(it, scratch) == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return maar_codec_unpack(&it->codec, *scratch, work->packed, work->packed_size, work->bytes,
                             work->size)
               ? VK_SUCCESS
               : VK_ERROR_UNKNOWN;
}

static VkResult write_file(struct maar_residency* it, struct maar_work* work)
{
    const void* bytes = work->is_packed ? work->packed : work->bytes;
    const size_t size = work->is_packed ? work->packed_size : work->size;
    return maar_store_result(
        maar_store_write(it->store, work->resident, bytes, size, &work->extent));
}

static VkResult read_file(struct maar_residency* it, struct maar_work* work, void** scratch)
{
    const VkAllocationCallbacks* callbacks = it->allocator->callbacks;
    if (!work->is_packed) {
        return work->extent.length == work->size
                   ? maar_store_result(maar_store_read(it->store, &work->extent, work->bytes))
                   : VK_ERROR_UNKNOWN;
    }
    work->packed_size = (size_t)work->extent.length;
    work->packed = maar_host_alloc(callbacks, work->packed_size);
    VkResult result = work->packed != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        result = maar_store_result(maar_store_read(it->store, &work->extent, work->packed));
    }
    if (result == VK_SUCCESS) {
        result = unpack(it, work, scratch);
    }
    maar_host_free(callbacks, work->packed);
    work->packed = NULL;
    return result;
}

static void run_work(struct maar_residency* it, struct maar_work* work, void** scratch)
{
    switch (work->kind) {
    case MAAR_WORK_PACK:
        work->result = pack(it, work, scratch);
        break;
    case MAAR_WORK_UNPACK:
        work->result = unpack(it, work, scratch);
        break;
    case MAAR_WORK_WRITE:
        work->result = write_file(it, work);
        break;
    case MAAR_WORK_READ:
        work->result = read_file(it, work, scratch);
        break;
    default:
        work->result =
            work->checkpoint != NULL
                ? maarReadCheckpoint(work->checkpoint, work->key, work->size, work->bytes)
                : work->read(work->read_data, work->size, work->bytes);
        break;
    }
}

VkResult maar_work_read(struct maar_residency* it, const struct maar_resident* resident,
                        void* bytes)
{
    void* scratch = NULL;
    struct maar_work work = {
        .bytes = bytes,
        .size = (size_t)resident->content_size,
        .packed = resident->packed,
        .packed_size = resident->packed_size,
        .extent = resident->extent,
        .is_packed = resident->is_file_packed,
    };
    const VkResult result = maar_resident_has(resident, MAAR_TIER_COMPRESSED)
                                ? unpack(it, &work, &scratch)
                                : read_file(it, &work, &scratch);
    maar_host_free(it->allocator->callbacks, scratch);
    return result;
}

/* ---- transfers that the system makes ---- */

/* Begins to write or read what a piece has in the file. Returns NULL if that is not possible. */
static struct maar_store_request* begin_request(struct maar_residency* it, struct maar_work* work)
{
    struct maar_store_request* request = NULL;
    if (work->kind == MAAR_WORK_WRITE) {
        const void* bytes = work->is_packed ? work->packed : work->bytes;
        const size_t size = work->is_packed ? work->packed_size : work->size;
        (void)maar_store_begin_write(it->store, work->resident, bytes, size, &request);
        return request;
    }
    if (!work->is_packed) {
        if (work->extent.length == work->size) {
            (void)maar_store_begin_read(it->store, &work->extent, work->bytes, &request);
        }
        return request;
    }
    void* packed = maar_host_alloc(it->allocator->callbacks, (size_t)work->extent.length);
    if (packed != NULL) {
        (void)maar_store_begin_read(it->store, &work->extent, packed, &request);
    }
    if (request == NULL) {
        maar_host_free(it->allocator->callbacks, packed);
        return NULL;
    }
    work->packed = packed;
    work->packed_size = (size_t)work->extent.length;
    return request;
}

/* Gives a piece that this thread has taken to the ring of the store. Returns false if this thread
 * has to carry it out. */
static bool begin_transfer(struct maar_residency* it, struct maar_work* work)
{
    if ((work->kind != MAAR_WORK_WRITE && work->kind != MAAR_WORK_READ) ||
        !maar_store_has_ring(it->store)) {
        return false;
    }
    struct maar_store_request* request = begin_request(it, work);
    if (request == NULL) {
        return false;
    }
    if (!maar_store_start(it->store, request)) {
        (void)maar_store_cancel(it->store, request);
        if (work->kind == MAAR_WORK_READ) {
            maar_host_free(it->allocator->callbacks, work->packed);
            work->packed = NULL;
        }
        return false;
    }
    maar_mutex_lock(&it->work_lock);
    work->request = request;
    work->next = it->work_transfers;
    it->work_transfers = work;
    ++it->transfer_count;
    --it->work_running;
    /* Who waits for this piece waits for the transfer now. */
    maar_condition_wake(&it->work_ended);
    maar_mutex_unlock(&it->work_lock);
    maar_store_drive(it->store);
    return true;
}

static bool must_unpack(const struct maar_work* work)
{
    return work->kind == MAAR_WORK_READ && work->is_packed;
}

/* Takes a piece whose transfer has ended off the list. Without the work of unpacking, leaves those
 * that need it. */
static struct maar_work* next_transferred(struct maar_residency* it, bool unpacks)
{
    enum maar_store_outcome outcome = MAAR_STORE_PENDING;
    maar_mutex_lock(&it->work_lock);
    struct maar_work** link = &it->work_transfers;
    while (*link != NULL) {
        if (unpacks || !must_unpack(*link)) {
            outcome = maar_store_poll(it->store, (*link)->request, &(*link)->extent);
        }
        if (outcome != MAAR_STORE_PENDING) {
            break;
        }
        link = &(*link)->next;
    }
    struct maar_work* work = *link;
    if (work != NULL) {
        *link = work->next;
        work->next = NULL;
        work->request = NULL;
        work->result = maar_store_result(outcome);
        --it->transfer_count;
        ++it->work_running;
    }
    maar_mutex_unlock(&it->work_lock);
    return work;
}

/* Ends pieces whose transfers have ended. scratch is NULL on a thread that is to do no more work
 * than that. Returns their number. */
static uint32_t collect_transfers(struct maar_residency* it, void** scratch)
{
    uint32_t count = 0;
    for (struct maar_work* work = next_transferred(it, scratch != NULL); work != NULL;
         work = next_transferred(it, scratch != NULL)) {
        if (must_unpack(work)) {
            work->result = work->result == VK_SUCCESS ? unpack(it, work, scratch) : work->result;
            maar_host_free(it->allocator->callbacks, work->packed);
            work->packed = NULL;
        }
        end_work(it, work);
        ++count;
    }
    return count;
}

static uint32_t count_transfers(struct maar_residency* it)
{
    maar_mutex_lock(&it->work_lock);
    const uint32_t count = it->transfer_count;
    maar_mutex_unlock(&it->work_lock);
    return count;
}

uint32_t maar_work_run(struct maar_residency* it, uint32_t most)
{
    void* scratch = NULL;
    uint32_t taken = 0;
    uint32_t done = 0;
    while (taken < most) {
        const uint64_t ended = it->store != NULL ? maar_store_ended(it->store) : 0;
        done += collect_transfers(it, &scratch);
        const uint32_t under_way = count_transfers(it);
        struct maar_work* work = under_way < MOST_TRANSFERS ? next_work(it) : NULL;
        if (work == NULL) {
            /* A call with a limit does not wait for more than it may do. */
            if (under_way == 0 || done >= most || !maar_store_await(it->store, ended)) {
                break;
            }
            continue;
        }
        ++taken;
        if (!begin_transfer(it, work)) {
            run_work(it, work, &scratch);
            end_work(it, work);
            ++done;
        }
    }
    maar_host_free(it->allocator->callbacks, scratch);
    return done;
}

bool maar_work_wait(struct maar_residency* it)
{
    void* scratch = NULL;
    bool was_any = false;
    bool is_any = true;
    while (is_any) {
        const uint64_t ended = it->store != NULL ? maar_store_ended(it->store) : 0;
        (void)collect_transfers(it, &scratch);
        maar_mutex_lock(&it->work_lock);
        const bool is_transferred = it->transfer_count > 0;
        is_any = is_transferred || it->work_running > 0;
        if (is_any && !is_transferred) {
            maar_condition_wait(&it->work_ended, &it->work_lock);
        }
        maar_mutex_unlock(&it->work_lock);
        if (is_transferred) {
            (void)maar_store_await(it->store, ended);
        }
        was_any = was_any || is_any;
    }
    maar_host_free(it->allocator->callbacks, scratch);
    return was_any;
}

/* ---- results ---- */

/* Contents cannot be had from the copy that was read. */
static void lose_copy(struct maar_residency* it, const char* call, struct maar_resident* resident,
                      enum maar_work_kind kind)
{
    static const char* const names[] = {[MAAR_WORK_UNPACK] = "compressed copy",
                                        [MAAR_WORK_READ] = "copy in the file",
                                        [MAAR_WORK_SOURCE] = "source"};
    const MaarTier from = kind == MAAR_WORK_UNPACK ? MAAR_TIER_COMPRESSED : MAAR_TIER_FILE;
    if (kind == MAAR_WORK_UNPACK) {
        maar_packed_end(it, resident);
    } else if (kind == MAAR_WORK_READ) {
        maar_file_end(it, resident);
    } else {
        maar_resident_set_valid(it, resident, resident->valid & ~MAAR_VALID_IN(MAAR_TIER_SOURCE));
    }
    if (resident->valid != 0) {
        return;
    }
    resident->is_lost = true;
    ++it->gained;
    maar_report(it->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_CONTENTS_LOST, call,
                "the contents of resident %s (%s) are lost: their %s cannot be read",
                maar_quote(resident->name).text, maar_show_bytes(resident->content_size).text,
                names[kind]);
    maar_residency_note(it, resident, from, MAAR_TIER_NONE, MAAR_RESIDENCY_REASON_LOST, 0);
}

static void take_packed(struct maar_residency* it, struct maar_resident* resident,
                        struct maar_work* work)
{
    const bool has_room = it->packed_size + work->packed_size <= it->packed_budget;
    if (work->result != VK_SUCCESS || !has_room) {
        const bool was_refused = resident->is_refused;
        const size_t wanted = work->result == VK_SUCCESS ? work->packed_size : 0;
        /* What found no room here goes to the file next time. */
        resident->is_refused = was_refused || work->result == VK_INCOMPLETE || it->store != NULL;
        it->gained += resident->is_refused != was_refused || wanted != resident->packed_wanted;
        resident->packed_wanted = wanted;
        maar_host_free(it->allocator->callbacks, work->packed);
        return;
    }
    ++it->gained;
    resident->packed_wanted = 0;
    resident->packed = work->packed;
    resident->packed_size = work->packed_size;
    it->packed_size += work->packed_size;
    maar_resident_append(it, resident, MAAR_LIST_PACKED);
    MaarTierInfo* tier = &it->info.tiers[MAAR_TIER_COMPRESSED];
    tier->peakSize = it->packed_size > tier->peakSize ? it->packed_size : tier->peakSize;
    maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_COMPRESSED));
    maar_residency_note(it, resident, MAAR_TIER_HOST, MAAR_TIER_COMPRESSED,
                        MAAR_RESIDENCY_REASON_ROOM, resident->content_size);
}

static void take_written(struct maar_residency* it, const char* call,
                         struct maar_resident* resident, const struct maar_work* work)
{
    const MaarTier from = work->is_packed ? MAAR_TIER_COMPRESSED : MAAR_TIER_HOST;
    if (work->result != VK_SUCCESS) {
        if (!it->is_store_closed) {
            maar_report(
                it->allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_STORE_WRITE_FAILED,
                call,
                "%s of resident %s cannot be written to the file, and stay where they "
                "are: %s",
                maar_show_bytes(resident->content_size).text, maar_quote(resident->name).text,
                work->result == VK_ERROR_OUT_OF_POOL_MEMORY ? "it is full"
                                                            : maarGetResultName(work->result));
        }
        it->is_store_closed = true;
        return;
    }
    const uint64_t used = maar_store_get_totals(it->store).used;
    MaarTierInfo* tier = &it->info.tiers[MAAR_TIER_FILE];
    tier->peakSize = used > tier->peakSize ? used : tier->peakSize;
    ++it->gained;
    resident->extent = work->extent;
    resident->is_file_packed = work->is_packed;
    maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_FILE));
    maar_residency_note(it, resident, from, MAAR_TIER_FILE, MAAR_RESIDENCY_REASON_ROOM,
                        resident->content_size);
    if (work->is_packed) {
        maar_packed_end(it, resident);
    }
}

static void take_raised(struct maar_residency* it, const char* call, struct maar_resident* resident,
                        const struct maar_work* work)
{
    const MaarTier from = work->kind == MAAR_WORK_UNPACK ? MAAR_TIER_COMPRESSED : MAAR_TIER_FILE;
    const VkResult result = work->result;
    const bool is_flushed =
        result != VK_SUCCESS || maarFlushAllocation(it->allocator, resident->host_allocation, 0,
                                                    VK_WHOLE_SIZE) == VK_SUCCESS;
    if (!is_flushed || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
        result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_NOT_READY) {
        /* The copy is as it was, and is read again when it is wanted again. */
        (void)maar_host_object_end(it, call, resident);
        return;
    }
    if (result != VK_SUCCESS) {
        (void)maar_host_object_end(it, call, resident);
        lose_copy(it, call, resident, work->kind);
        return;
    }
    ++it->gained;
    maar_resident_set_valid(it, resident, resident->valid | MAAR_VALID_IN(MAAR_TIER_HOST));
    maar_host_object_touch(it, resident);
    maar_residency_note(it, resident, from, MAAR_TIER_HOST, MAAR_RESIDENCY_REASON_USE,
                        resident->content_size);
}

/* Ends what a forgotten piece has used or made. */
static void end_forgotten(struct maar_residency* it, const char* call, struct maar_work* work)
{
    const struct maar_object object = {.buffer = work->host_buffer};
    const MaarPoint point = {it->copies.timeline, work->host_ready};
    const uint32_t point_count = work->host_ready > it->copies.completed ? 1 : 0;
    ++it->gained;
    it->forgotten_count -= work->host_buffer != VK_NULL_HANDLE ? 1 : 0;
    if (work->host_buffer != VK_NULL_HANDLE &&
        maar_tier_memory_remove(&it->host, call, object, work->host_allocation, work->host_size,
                                point_count, &point) != VK_SUCCESS) {
        /* Without host memory for a pending free. */
        (void)maar_copies_wait(it);
        (void)maar_tier_memory_remove(&it->host, call, object, work->host_allocation,
                                      work->host_size, 0, NULL);
    }
    if (work->extent.length != 0) {
        maar_store_free(it->store, &work->extent);
    }
    maar_host_free(it->allocator->callbacks, work->packed);
}

/* Whether a piece has copied what a host object had. */
static bool has_read_host(const struct maar_work* work)
{
    return !work->is_forgotten && work->bytes != NULL &&
           (work->kind == MAAR_WORK_PACK || work->kind == MAAR_WORK_WRITE);
}

/* Drops what a piece has made of a host object. */
static void drop_result(struct maar_residency* it, struct maar_work* work)
{
    it->residents[work->resident].work = NULL;
    if (work->kind == MAAR_WORK_WRITE && work->result == VK_SUCCESS) {
        maar_store_free(it->store, &work->extent);
    } else if (work->kind == MAAR_WORK_PACK) {
        maar_host_free(it->allocator->callbacks, work->packed);
    }
}

bool maar_work_take(struct maar_residency* it, const char* call)
{
    bool is_lost = false;
    if (it->store != NULL) {
        maar_store_drive(it->store);
        (void)collect_transfers(it, NULL);
    }
    maar_mutex_lock(&it->work_lock);
    struct maar_work* work = it->work_done;
    it->work_done = NULL;
    maar_mutex_unlock(&it->work_lock);
    for (const struct maar_work* at = work; at != NULL; at = at->next) {
        /* Only a device that is not lost now has kept the bytes until a piece had read them. */
        if (has_read_host(at)) {
            is_lost = maar_copies_are_lost(it);
            break;
        }
    }
    while (work != NULL) {
        struct maar_work* next = work->next;
        struct maar_resident* resident = &it->residents[work->resident];
        if (work->is_forgotten) {
            end_forgotten(it, call, work);
        } else if (is_lost && has_read_host(work)) {
            drop_result(it, work);
        } else {
            resident->work = NULL;
            if (work->kind == MAAR_WORK_PACK) {
                take_packed(it, resident, work);
            } else if (work->kind == MAAR_WORK_WRITE) {
                take_written(it, call, resident, work);
            } else {
                take_raised(it, call, resident, work);
            }
        }
        maar_host_free(it->allocator->callbacks, work);
        work = next;
    }
    return !is_lost;
}

void maar_work_forget(struct maar_residency* it, struct maar_resident* resident)
{
    struct maar_work* work = resident->work;
    resident->work = NULL;
    if (work == NULL) {
        return;
    }
    if (take_off_queue(it, work)) {
        maar_host_free(it->allocator->callbacks, work);
        return;
    }
    work->is_forgotten = true;
    if (work->bytes != NULL) {
        work->host_buffer = resident->host_buffer;
        work->host_allocation = resident->host_allocation;
        work->host_size = resident->host_request.requirements.size;
        work->host_ready = resident->host_ready;
        ++it->forgotten_count;
        maar_host_object_leave(it, resident);
    }
    if (work->kind == MAAR_WORK_UNPACK || work->is_packed) {
        /* Reads of packed bytes from the file make their own; the others use the resident's. */
        if (work->kind != MAAR_WORK_READ) {
            (void)maar_packed_leave(it, resident);
        }
    }
    if (work->kind == MAAR_WORK_READ) {
        resident->extent = (struct maar_extent){.length = 0};
        maar_file_end(it, resident);
    }
}
