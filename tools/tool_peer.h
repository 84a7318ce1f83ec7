/*
 * What a captured program held, and what Maar would have held for the same traffic: for the tab
 * "With Maar" of a report.
 */
#ifndef MAAR_TOOL_PEER_H
#define MAAR_TOOL_PEER_H

#include "support/history.h"
#include "support/report_file.h"

enum { TOOL_PEER_SIZES = 4 };

struct tool_peers {
    /* Of each device: of each heap: the program, Maar. Then, of each size of blocks: of each heap:
     * Maar. */
    struct support_report_peer* rows;
    size_t count, capacity;
    struct tool_peer_names* names; /* of each device's rows */
};

/*
 * Replays the binds of a capture with Maar's default settings on simulated devices with the
 * captured ones' heaps and types, for at most `budget_ns`. What comes later is left out of both
 * rows, and their names say so. In the time that is left, the capture is replayed with blocks of
 * the program's own size, its half, a quarter and an eighth: how much of a difference is by the
 * size of blocks. A size without a whole replay has no rows. A capture that does not have all of a
 * program's objects has no rows. Opens one device at a time; single-threaded. Prints an error and
 * returns false on failure.
 */
bool tool_peers_find(const struct support_history* history, uint64_t budget_ns,
                     struct tool_peers* peers);

void tool_peers_release(struct tool_peers* peers);

/* Returns the size of the largest memory of a device that several resources share; 0: none. */
uint64_t tool_peer_block_size(const struct support_history* history, uint32_t device);

#endif
