/*
 * What a program wastes, found in the history of its memory.
 *
 * There are three verdicts. PROVED: the bytes are exact. For a heap: with all objects of the
 * finding mended, and nothing else, the heap's peak is lower by so many bytes, whichever moment is
 * the peak then. BOUNDED: between two figures. SUSPECTED: a person has to look. Each finding has
 * its arithmetic, the objects that it is about, and a remedy.
 *
 * Other bytes are those of the moment when the memory of the heap peaks, so that findings of one
 * heap can be compared with its peak. They may overlap: mend the largest first and capture again.
 * A program without mistakes has no findings. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_FINDINGS_H
#define MAAR_SUPPORT_FINDINGS_H

#include "history.h"

#include <stdio.h>

enum support_verdict {
    SUPPORT_VERDICT_PROVED = 0,
    SUPPORT_VERDICT_BOUNDED = 1,
    SUPPORT_VERDICT_SUSPECTED = 2,
};

/* Kinds of findings, the dearest first. */
enum support_finding_kind {
    SUPPORT_FINDING_WRONG_HEAP = 0,     /* in system memory although the card had room */
    SUPPORT_FINDING_BAR = 1,            /* never mapped, and yet in the small mappable heap */
    SUPPORT_FINDING_NEVER_BOUND = 2,    /* bytes of memory that no resource ever had */
    SUPPORT_FINDING_NOT_FREED = 3,      /* alive when the device was destroyed */
    SUPPORT_FINDING_GROWTH_BY_COPY = 4, /* old and new of a growing resource alive at once */
    SUPPORT_FINDING_OWN_MEMORY = 5,     /* small resources with a memory each */
    SUPPORT_FINDING_OVER_BUDGET = 6,    /* more used than the system allows */
    SUPPORT_FINDING_REFUSED = 7,        /* allocations that the driver refused */
    SUPPORT_FINDING_ALIASING = 8,       /* render targets that might share bytes */
    SUPPORT_FINDING_LAZY = 9,           /* transient attachments outside lazily allocated memory */
    SUPPORT_FINDING_TINY = 10,          /* many tiny buffers */
    SUPPORT_FINDING_LEAK = 11,          /* a group that only grows */
    SUPPORT_FINDING_READBACK = 12,      /* read by the host through uncached memory */
    SUPPORT_FINDING_CHURN = 13,         /* memory freed, and the same allocated again */
    SUPPORT_FINDING_KIND_COUNT = 14,
};

struct support_finding {
    enum support_finding_kind kind;
    enum support_verdict verdict;
    uint32_t device;      /* index */
    uint32_t heap;        /* or SUPPORT_HISTORY_NONE */
    uint64_t least, most; /* bytes that a mended program would hold less; equal if proved */
    uint64_t calls;       /* calls of vkAllocateMemory that a mended program would not make */
    uint64_t time_ns;     /* time in the driver that it would not spend */
    uint32_t event;       /* the moment that the bytes are of */
    uint32_t* objects;    /* indices, the largest first */
    uint64_t*
        wasted; /* the bytes of each object that count, by which they are sorted; or NULL: all */
    size_t object_count;
    bool objects_are_memories; /* else resources */
    char arithmetic[384];
};

struct support_findings {
    struct support_finding* items;
    size_t count, capacity;
    /* Of each device and heap, MAAR_CAPTURE_MOST_HEAPS a device: bytes at its peak that no resource
     * ever had, without padding. NULL: none. */
    uint64_t* never_at_peak;
};

/* Fixed texts of a kind: a word for programs, a heading, the remedy. */
struct support_finding_text {
    const char* word;
    const char* title;
    const char* remedy;
};

const struct support_finding_text* support_finding_text(enum support_finding_kind kind);
const char* support_verdict_word(enum support_verdict verdict);

enum { SUPPORT_PEAK_SIZES = 4, SUPPORT_PEAK_RECENT = 3 };

/* What a heap held at the moment when that was the most. Imported memory does not count, and bytes
 * that several resources share count once. Pages count until their resource ends. */
struct support_heap_peak {
    uint32_t device, heap; /* index of the device */
    uint64_t time_ns;
    uint64_t held;
    uint64_t bound; /* of it, bytes of resources; the rest is idle */
    uint64_t never; /* of the idle ones, those that no resource ever had, without padding */
    uint64_t maar;  /* the most that Maar would hold of the heap, or SUPPORT_PEAK_UNKNOWN */
    /* Likewise with blocks of some sizes, the first of which is the program's own. */
    struct support_block_peak {
        uint64_t block_size, maar;
    } sizes[SUPPORT_PEAK_SIZES];
    size_t size_count;
    /* Resources there that were bound in the second before, and live: what made the peak. */
    uint64_t recent_bytes;
    size_t recent_count;
    uint32_t recent[SUPPORT_PEAK_RECENT]; /* indices, the largest first */
};
#define SUPPORT_PEAK_UNKNOWN UINT64_MAX

/* Returns the peaks of all heaps that held something, the largest first, which the caller frees
 * with free(). The `maar` of each is unknown. Returns NULL without memory. */
struct support_heap_peak* support_findings_peaks(const struct support_history* history,
                                                 const struct support_findings* findings,
                                                 size_t* count);

/* How many of peak->recent there are. */
static inline size_t support_peak_recent_count(const struct support_heap_peak* peak)
{
    return peak->recent_count < SUPPORT_PEAK_RECENT ? peak->recent_count
                                                    : (size_t)SUPPORT_PEAK_RECENT;
}

/* Finds everything, the proved ones first, and of one verdict those of the most bytes first. */
bool support_findings_find(const struct support_history* history, struct support_findings* findings,
                           struct support_error* error);
void support_findings_release(struct support_findings* findings);

/* Writes the findings as text for people, with at most `names` objects of each. */
void support_findings_write(const struct support_history* history,
                            const struct support_findings* findings, size_t names, FILE* file);

/* Returns the findings and the peaks as a JSON text of the schema maar-findings/1, which the caller
 * frees with free(); NULL without memory. */
char* support_findings_json(const struct support_history* history,
                            const struct support_findings* findings,
                            const struct support_heap_peak* peaks, size_t peak_count);

/* The event after which the memory of a heap is the most, and the bytes. Swapchains do not count.
 */
void support_history_peak(const struct support_history* history, uint32_t device, uint32_t heap,
                          uint32_t* event, uint64_t* bytes);

/* Whether an object that began and ended at these events is alive after an event. */
static inline bool support_history_is_alive(uint32_t begin_event, uint32_t end_event,
                                            uint32_t event)
{
    return begin_event <= event && (end_event == SUPPORT_HISTORY_NONE || end_event > event);
}

#endif
