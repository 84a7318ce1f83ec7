/*
 * Workloads for bench_residency: which objects each submission of a program uses. They are
 * generated (residency_generated.c), or made from traces (residency_trace.h).
 */
#ifndef MAAR_BENCH_RESIDENCY_WORKLOAD_H
#define MAAR_BENCH_RESIDENCY_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum { RESIDENCY_OBJECT_BYTES = 65536 };

/* How a submission uses an object. */
enum {
    RESIDENCY_FRESH = 1,  /* it needs no contents from before: nothing is restored */
    RESIDENCY_WRITES = 2, /* contents change: to evict them means to write them */
};

struct residency_object {
    uint64_t size;
    uint32_t end;       /* the submission before which it is destroyed; UINT32_MAX: never */
    uint32_t member_of; /* the last submission that uses it, plus one */
    uint32_t member_at; /* that use */
    bool is_used;
};

/* That an object is destroyed. */
struct residency_ending {
    uint32_t end;
    uint32_t object;
};

/* The uses of all submissions, one after another. */
struct residency_workload {
    char name[64];
    bool has_contents; /* objects have contents before their first use, from a file for example */
    struct residency_object* objects;
    uint32_t object_count;
    uint32_t used_count; /* of the objects that some submission uses */
    uint32_t submission_count;
    uint32_t* begins; /* submission_count + 1: where each begins */
    uint32_t* uses;
    uint8_t* accesses;                /* of the uses: RESIDENCY_FRESH, RESIDENCY_WRITES */
    struct residency_ending* endings; /* by their ends */
    uint32_t ending_count;
    bool is_equal;       /* all objects have one size */
    uint32_t most_uses;  /* of a submission */
    uint64_t most_bytes; /* of a submission */
    uint64_t peak_bytes; /* of used objects that exist at a time */
    uint32_t object_capacity, submission_capacity, use_capacity, access_capacity;
};

enum { RESIDENCY_WORKLOADS = 12, RESIDENCY_TUNED = 6 };

/* Generates a workload by its number. The rules were chosen by the first RESIDENCY_TUNED of them.
 * perturbed: that part of the uses, in percent, is of other objects. is_unequal: the objects have
 * different sizes. */
void residency_workload_make(struct residency_workload* workload, uint32_t number,
                             uint32_t perturbed, bool is_unequal);

/* ---- residency_workload.c ---- */

/* Build a workload, which is zero at first. Objects are numbered by the caller; they have
 * RESIDENCY_OBJECT_BYTES and are never destroyed unless it sets that. */
void residency_begin_submission(struct residency_workload* workload);
/* Adds a use of the last submission; of one that it has already, the access is joined. */
void residency_add_use(struct residency_workload* workload, uint32_t object, uint8_t access);
/* Ensures that an object is there. */
struct residency_object* residency_object_at(struct residency_workload* workload, uint32_t object);
/* Ends the building: replaces some of the uses, in percent, by uses of other objects that exist
 * then, and counts. */
void residency_workload_finish(struct residency_workload* workload, uint32_t perturbed,
                               uint64_t* random);

/* Returns the bytes of a memory of so many percent of the peak, with room for each submission. */
uint64_t residency_capacity(const struct residency_workload* workload, uint32_t percent);
void residency_workload_release(struct residency_workload* workload);

#endif
