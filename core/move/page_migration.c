/*
 * Begins to move pages of reservations between memory types, in the order of their notes.
 *
 * The runs of one priority are looked at before those of the next. Of each reservation there is a
 * cursor at its next run, and the cursors form a heap: the coldest run comes first when pages
 * spill, and the one that was touched last when they return.
 */
#include "core/bound_check.h"
#include "core/memory/allocator_state.h"
#include "core/memory/object_handle.h"
#include "core/move/move_batch.h"
#include "core/paging/page_relocate.h"
#include "core/paging/page_table.h"
#include "core/reservation/page_uses.h"
#include "core/reservation/reservation_list.h"
#include "maar/touch.h"

/* No run. */
#define NO_RUN UINT32_MAX

/* The next run of a reservation. */
struct run_cursor {
    struct maar_reservation* reservation;
    uint32_t run;  /* its first unit, or an anchor: there are no more */
    uint64_t rank; /* the least comes first; UINT64_MAX at the end */
};

/* A call that begins a migration. */
struct migration {
    const MaarPageMigrationInfo* info;
    struct maar_reservation_list list;
    struct maar_relocation relocation;
    struct run_cursor* cursors; /* a heap; as many as reservations */
    uint32_t count;             /* of cursors in use */
    uint64_t before;            /* spilling: only what was touched before this one */
};

/* ---- the order of runs ---- */

/* Whether a run of a cursor is to be looked at. */
static bool is_wanted_run(const struct migration* migration, const struct maar_touch_note* note,
                          int32_t priority)
{
    const bool returns = migration->relocation.returns;
    return note->priority == priority &&
           (returns || (!note->stays && note->touch < migration->before));
}

/* Returns the run after another one of a ring, or after its anchor, or, at the end of the ring, of
 * the next ring: runs that were never touched are older than all others. Returns NO_RUN at the
 * end of both. */
static uint32_t next_cursor_run(const struct migration* migration,
                                const struct maar_reservation* reservation, uint32_t run)
{
    const struct maar_touch_notes* notes = reservation->notes;
    const uint32_t touched = maar_touched_anchor(notes);
    const uint32_t untouched = maar_untouched_anchor(notes);
    if (migration->relocation.returns) {
        run = notes->units[run].older;
        run = run == touched && reservation->has_untouched ? notes->units[untouched].older : run;
    } else {
        run = notes->units[run].newer;
        run = run == untouched ? notes->units[touched].newer : run;
    }
    return run < notes->unit_count ? run : NO_RUN;
}

/* Moves a cursor on to the next run of a priority. */
static void advance_cursor(const struct migration* migration, struct run_cursor* cursor,
                           int32_t priority)
{
    const struct maar_touch_notes* notes = cursor->reservation->notes;
    do {
        cursor->run = next_cursor_run(migration, cursor->reservation, cursor->run);
    } while (cursor->run != NO_RUN &&
             !is_wanted_run(migration, &notes->units[cursor->run], priority));
    if (cursor->run == NO_RUN) {
        cursor->rank = UINT64_MAX;
    } else if (migration->relocation.returns) {
        cursor->rank = UINT64_MAX - 1 - notes->units[cursor->run].touch;
    } else {
        cursor->rank = notes->units[cursor->run].touch;
    }
}

/* Restores the order of the heap below a cursor that has moved on. */
static void sink_cursor(const struct migration* migration, uint32_t at)
{
    struct run_cursor* heap = migration->cursors;
    for (uint32_t child = 2 * at + 1; child < migration->count; child = 2 * at + 1) {
        if (child + 1 < migration->count && heap[child + 1].rank < heap[child].rank) {
            ++child;
        }
        if (heap[at].rank <= heap[child].rank) {
            return;
        }
        const struct run_cursor moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

/* Adds the pages of a run to the batch. */
static VkResult relocate_run(struct migration* migration, const struct run_cursor* cursor)
{
    const struct maar_reservation* reservation = cursor->reservation;
    const uint32_t past = cursor->run + reservation->notes->units[cursor->run].length;
    const uint64_t first = maar_unit_begin(reservation, cursor->run) / reservation->page_size;
    const VkDeviceSize end = maar_unit_begin(reservation, past);
    return maar_relocation_add(&migration->relocation, reservation->table, first,
                               (end - 1) / reservation->page_size + 1 - first);
}

/* Adds the pages of all runs of a priority, as long as the batch has room. */
static VkResult relocate_priority(struct migration* migration, int32_t priority)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < migration->count; ++i) {
        struct run_cursor* cursor = &migration->cursors[i];
        const struct maar_touch_notes* notes = cursor->reservation->notes;
        cursor->run = migration->relocation.returns || !cursor->reservation->has_untouched
                          ? maar_touched_anchor(notes)
                          : maar_untouched_anchor(notes);
        advance_cursor(migration, cursor, priority);
    }
    for (uint32_t i = migration->count / 2; i-- > 0;) {
        sink_cursor(migration, i);
    }
    while (result == VK_SUCCESS && migration->count > 0 &&
           migration->cursors[0].rank != UINT64_MAX) {
        result = relocate_run(migration, &migration->cursors[0]);
        advance_cursor(migration, &migration->cursors[0], priority);
        sink_cursor(migration, 0);
    }
    return result;
}

/* ---- the call ---- */

/* Makes a cursor for each reservation that has pages which may move. */
static VkResult make_cursors(struct migration* migration)
{
    MaarAllocator allocator = migration->list.allocator;
    uint64_t latest = 0;
    migration->cursors = maar_host_calloc(allocator->callbacks,
                                          migration->list.count > 0 ? migration->list.count : 1,
                                          sizeof migration->cursors[0]);
    if (migration->cursors == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < migration->list.count; ++i) {
        struct maar_reservation* reservation = migration->list.all[i];
        latest = reservation->last_touch > latest ? reservation->last_touch : latest;
        if (reservation->table == NULL ||
            !maar_relocation_concerns(&migration->relocation, reservation->table)) {
            continue;
        }
        if (maar_uses_open(reservation) != VK_SUCCESS) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        migration->cursors[migration->count++].reservation = reservation;
    }
    migration->before =
        migration->info->touchedBefore != 0 ? migration->info->touchedBefore : latest;
    if (migration->before == 0) {
        migration->before = UINT64_MAX; /* nothing was touched */
    }
    return VK_SUCCESS;
}

/* Adds the pages of all reservations, priority after priority. */
static VkResult relocate_all(struct migration* migration)
{
    const bool returns = migration->relocation.returns;
    uint32_t priorities = 1u << -MAAR_PAGE_PRIORITY_MIN;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < migration->count; ++i) {
        priorities |= migration->cursors[i].reservation->priorities;
    }
    for (int32_t i = 0; i <= MAAR_PAGE_PRIORITY_MAX - MAAR_PAGE_PRIORITY_MIN; ++i) {
        const int32_t priority = returns ? MAAR_PAGE_PRIORITY_MAX - i : MAAR_PAGE_PRIORITY_MIN + i;
        if (result == VK_SUCCESS && (priorities >> (priority - MAAR_PAGE_PRIORITY_MIN) & 1) != 0) {
            result = relocate_priority(migration, priority);
        }
    }
    return result == VK_INCOMPLETE ? VK_SUCCESS : result;
}

/* Hands the moves over to a batch of the program. */
static VkResult hand_migration_out(struct migration* migration, MaarMoveBatch* out)
{
    MaarAllocator allocator = migration->list.allocator;
    struct maar_move_batch* batch =
        maar_moves_open(allocator) != NULL ? maar_move_batch_make(allocator, 0) : NULL;
    if (batch == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    batch->pages = migration->relocation.moves;
    const VkResult result = maar_move_batch_open(batch);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, batch);
        return result;
    }
    migration->relocation.moves = NULL;
    *out = MAAR_FROM_BITS(MaarMoveBatch, batch->handle);
    return VK_SUCCESS;
}

/* Finds the pool of the reservations, and the one where they spill. Reports reservations of several
 * pools. */
static VkResult find_owners(const struct migration* migration, const char* call,
                            struct maar_pool** owner, struct maar_pool** spill_owner)
{
    const struct maar_reservation_list* list = &migration->list;
    const struct maar_page_table* first = NULL;
    for (uint32_t i = 0; i < list->count; ++i) {
        const struct maar_page_table* table = list->all[i]->table;
        first = first == NULL ? table : first;
        if (table != NULL &&
            (maar_page_table_owner(table) != maar_page_table_owner(first) ||
             maar_page_table_spill_owner(table) != maar_page_table_spill_owner(first))) {
            return maar_misuse(list->allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                               "pInfo->pReservations has reservations of several pools");
        }
    }
    *owner = first != NULL ? maar_page_table_owner(first) : NULL;
    *spill_owner = first != NULL ? maar_page_table_spill_owner(first) : NULL;
    return VK_SUCCESS;
}

static VkResult migrate(struct migration* migration, MaarMoveBatch* batch)
{
    MaarAllocator allocator = migration->list.allocator;
    struct maar_relocation* relocation = &migration->relocation;
    struct maar_pool* owner = NULL;
    struct maar_pool* spill_owner = NULL;
    VkResult result = find_owners(migration, relocation->call, &owner, &spill_owner);
    if (result == VK_SUCCESS) {
        result = make_cursors(migration);
    }
    if (result != VK_SUCCESS || migration->count == 0) {
        goto free_cursors;
    }
    result = maar_relocation_begin(allocator, owner, spill_owner, relocation);
    if (result != VK_SUCCESS) {
        goto free_cursors;
    }
    result = relocate_all(migration);
    if (result == VK_SUCCESS && relocation->moves->count > 0) {
        result = hand_migration_out(migration, batch);
    } else if (result == VK_SUCCESS) {
        /* To the caller, a pool's limit is a lack of memory. */
        result = relocation->shortage == VK_ERROR_OUT_OF_POOL_MEMORY ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                                                     : relocation->shortage;
    }
    if (relocation->moves != NULL) {
        maar_relocation_undo(relocation);
    }
free_cursors:
    for (uint32_t i = 0; i < migration->count && result != VK_SUCCESS; ++i) {
        maar_uses_close_unused(migration->cursors[i].reservation);
    }
    maar_host_free(allocator->callbacks, migration->cursors);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarBeginPageMigration(MaarAllocator allocator,
                                                      const MaarPageMigrationInfo* pInfo,
                                                      MaarMoveBatch* pBatch)
{
    const struct maar_output outputs[] = {{"pBatch", pBatch, sizeof *pBatch}, {0}};
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_PAGE_MIGRATION_INFO);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((uint32_t)pInfo->direction > MAAR_PAGE_MIGRATION_RETURN) {
        return maar_refuse_enum(allocator, __func__, "pInfo->direction", "MaarPageMigration",
                                (int)pInfo->direction);
    }
    struct migration migration = {
        .info = pInfo,
        .relocation = {.call = __func__,
                       .returns = pInfo->direction == MAAR_PAGE_MIGRATION_RETURN,
                       .left = pInfo->maxBytes != 0 ? pInfo->maxBytes : UINT64_MAX},
    };
    result = maar_reservation_list_begin(&migration.list, allocator, __func__, false,
                                         pInfo->reservationCount, pInfo->pReservations);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = migrate(&migration, pBatch);
    maar_reservation_list_end(&migration.list);
    return result;
}
