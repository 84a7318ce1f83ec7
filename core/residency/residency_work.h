/*
 * Work of the host: contents are compressed and unpacked, written to files and read from them.
 *
 * A piece of work has all that it needs: any thread carries it out without the manager's state. The
 * manager's caller queues pieces and takes the results in. A resident has one piece at a time, and
 * keeps its host object meanwhile.
 *
 * A piece is queued, or a thread has it, or it is among the transfers that the system makes, or it
 * is done. Whoever waits for pieces that threads have is woken by them; whoever waits for transfers
 * sleeps in the store, and ends the pieces itself.
 */
#ifndef MAAR_CORE_RESIDENCY_RESIDENCY_WORK_H
#define MAAR_CORE_RESIDENCY_RESIDENCY_WORK_H

#include "core/residency/residency_state.h"

/* Makes and frees the locks. */
bool maar_work_open(struct maar_residency* it);
void maar_work_close(struct maar_residency* it);

/* Queues work that frees bytes of host objects by lower copies, the longest unused first. Returns
 * whether anything is on its way that will free some. */
bool maar_work_lower(struct maar_residency* it, VkDeviceSize size);
/* Queues work that writes the contents of a host object to the file. Returns false if that is not
 * possible. */
bool maar_work_write(struct maar_residency* it, struct maar_resident* resident);
/* Queues writes of packed bytes that exceed what the tier may hold beside so many further ones. */
void maar_work_lower_packed(struct maar_residency* it, VkDeviceSize size);
/* Queues work that fills the host object of a resident from its highest lower copy, unless it is
 * queued already. Returns VK_NOT_READY if it is under way now, or what kept it from beginning. */
VkResult maar_work_raise(struct maar_residency* it, const char* call,
                         struct maar_resident* resident);
/* Reads the compressed copy of a resident, or the one in the file, on this thread. Returns
 * VK_ERROR_UNKNOWN if it is damaged. */
VkResult maar_work_read(struct maar_residency* it, const struct maar_resident* resident,
                        void* bytes);
/* Makes a piece of work of a resident without effect. */
void maar_work_forget(struct maar_residency* it, struct maar_resident* resident);
/* Takes in the results of pieces that are done. Never sleeps. Returns false if the device is lost,
 * and what was read of its memory was dropped: the same work would be dropped again. */
bool maar_work_take(struct maar_residency* it, const char* call);
/* Takes at most `most` pieces, and carries them out on this thread, or lets the system transfer
 * them (store_ring.h). Sleeps until transfers have ended if there is nothing else to do. Returns
 * the number of pieces that were ended. */
uint32_t maar_work_run(struct maar_residency* it, uint32_t most);
/* Returns a number that is another one when results of work that were taken in have changed
 * something, or copies have ended: then a call that was not ready is nearer. A piece that fails
 * each time changes nothing. */
static inline uint64_t maar_work_progress(const struct maar_residency* it)
{
    return it->gained + it->copies.completed;
}
/* Returns the number of pieces that no thread has taken yet, and of those whose transfers the
 * system makes. */
uint32_t maar_work_count(struct maar_residency* it);
/* Sleeps until neither a thread nor the system carries out a piece. Returns whether either did. */
bool maar_work_wait(struct maar_residency* it);

#endif
