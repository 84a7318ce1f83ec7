/*
 * Follows captures: reads what programs add to them, keeps running sums, and knows whether the
 * programs still run. For maar top and maar export. Single-threaded.
 */
#ifndef MAAR_TOOL_FOLLOW_H
#define MAAR_TOOL_FOLLOW_H

#include "support/heap_sums.h"
#include "support/history.h"

#include <sys/types.h>

/* How a captured program stands. */
enum tool_follow_state {
    TOOL_FOLLOW_RUNNING,
    TOOL_FOLLOW_ENDED,  /* the program ended the capture */
    TOOL_FOLLOW_KILLED, /* the program ended without ending the capture */
    TOOL_FOLLOW_FULL,   /* the disk was full; the program may run */
    TOOL_FOLLOW_LIMIT,  /* the file reached its limit; the program may run */
    TOOL_FOLLOW_WRONG,  /* the file cannot be read further */
};

enum { TOOL_FOLLOW_SLOTS = 64 };

/* What happened within a tenth of a second. */
struct tool_follow_slot {
    uint64_t number;
    uint32_t allocations, resources, frames, submits;
};

/* Events a second. */
struct tool_follow_rates {
    double allocations, resources, frames, submits;
};

/* One capture. */
struct tool_follow {
    char* path;
    dev_t volume; /* which file it is, whatever the path */
    ino_t file;
    struct support_capture_reader* reader;
    struct support_history history; /* its events are forgotten once they are in the sums */
    struct support_sums sums;
    uint32_t* living; /* resources; those that ended are removed at each update */
    size_t living_count, living_capacity;
    struct tool_follow_slot slots[TOOL_FOLLOW_SLOTS];
    uint64_t seen_ns; /* when something was read last, monotonic time */
    uint64_t now_ns;  /* the moment that is shown, in the capture's time */
    bool is_read;     /* once to the end */
    bool was_alive;   /* the process was seen, so it would be seen again */
    enum tool_follow_state state;
    char fault[512];
};

/* A set of captures. Zero is an empty one with nothing to look for. */
struct tool_follow_set {
    struct tool_follow** items; /* in the order in which they were found */
    size_t count, capacity;
    const char* folder; /* whose captures are followed, or NULL */
    const char* proc;   /* where processes are found, such as /proc */
    bool is_all;        /* follow what any process writes */
};

/* What the user has chosen. */
struct tool_follow_choice {
    char** paths;
    int path_count;
    const char* folder;
    const char* proc;
    bool is_all; /* also chosen by a choice of nothing */
};

/* Read options. Return false and print an error for a wrong one. */
bool tool_follow_choose_folder(struct tool_follow_choice* choice, const char* folder);
bool tool_follow_check_folder(const char* option, const char* folder);
bool tool_follow_read_interval(const char* text, uint64_t* interval_ns);

/* Begins a set with the captures that were named. Returns false and prints an error if one of them
 * cannot be read. */
bool tool_follow_set_begin(struct tool_follow_set* set, const struct tool_follow_choice* choice);
/* Looks for new captures, and reads what all captures have got. */
void tool_follow_set_update(struct tool_follow_set* set);
/* Returns whether a program still writes one of the captures. */
bool tool_follow_set_runs(const struct tool_follow_set* set);
/* Prints an error for each capture that is wrong. Returns whether there is one. */
bool tool_follow_set_complain(const struct tool_follow_set* set);
void tool_follow_set_release(struct tool_follow_set* set);

/* For tool_follow_set.c: one capture. */
struct tool_follow* tool_follow_create(const char* path, struct support_error* error);
void tool_follow_update(struct tool_follow* follow, const char* proc);
void tool_follow_destroy(struct tool_follow* follow);

/* The program's name without its folder, or the capture's. */
const char* tool_follow_name(const struct tool_follow* follow);
const char* tool_follow_state_word(enum tool_follow_state state);
/* Rates over the last second before the moment that is shown. */
struct tool_follow_rates tool_follow_rates(const struct tool_follow* follow);
/* Bytes of all heaps of all devices. */
uint64_t tool_follow_held(const struct tool_follow* follow);
uint64_t tool_follow_bound(const struct tool_follow* follow);
uint64_t tool_follow_memories(const struct tool_follow* follow);
uint64_t tool_follow_resources(const struct tool_follow* follow);
/* The bytes of a resource that are in memory now: bound bytes, or sparse pages. */
uint64_t tool_follow_bytes(const struct tool_follow* follow, uint32_t resource);
/* Finds the largest living resources with bytes, the largest first. Returns how many. */
size_t tool_follow_largest(const struct tool_follow* follow, uint32_t* resources, size_t most);

#endif
