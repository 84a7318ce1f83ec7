/*
 * What a captured program held, and what Maar would have held for the same traffic: for the tab
 * "With Maar" of a report.
 */
#ifndef MAAR_TOOL_PEER_H
#define MAAR_TOOL_PEER_H

#include "support/history.h"
#include "support/report_file.h"

struct tool_peers {
    struct support_report_peer* rows; /* of each device: of each heap: the program, Maar */
    size_t count, capacity;
    struct tool_peer_names* names; /* of each device's rows */
};

/*
 * Replays the binds of a capture with Maar's default settings on simulated devices with the
 * captured ones' heaps and types, for at most `budget_ns`. What comes later is left out of both
 * rows, and their names say so. A capture that does not have all of a program's objects has no
 * rows. Opens one device at a time; single-threaded. Prints an error and returns false on failure.
 */
bool tool_peers_find(const struct support_history* history, uint64_t budget_ns,
                     struct tool_peers* peers);

void tool_peers_release(struct tool_peers* peers);

#endif
