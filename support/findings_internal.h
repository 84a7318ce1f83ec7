/*
 * What the files of the findings share.
 */
#ifndef MAAR_SUPPORT_FINDINGS_INTERNAL_H
#define MAAR_SUPPORT_FINDINGS_INTERNAL_H

#include "findings.h"

#define NONE SUPPORT_HISTORY_NONE

/* The work on one history. */
struct findings_work {
    const struct support_history* history;
    struct support_findings* findings;
    uint32_t* peak_events; /* of each device and heap */
    uint64_t* peak_bytes;
    bool no_memory;
};

/* A list of objects that grows. */
struct findings_list {
    uint32_t* items;
    size_t count, capacity;
};

void findings_list_add(struct findings_work* work, struct findings_list* list, uint32_t index);

uint32_t findings_peak_event(const struct findings_work* work, uint32_t device, uint32_t heap);

/* Appends a finding, which takes over the list. Returns NULL without memory. */
struct support_finding* findings_add(struct findings_work* work, enum support_finding_kind kind,
                                     enum support_verdict verdict, uint32_t device, uint32_t heap,
                                     struct findings_list* objects, bool are_memories);

/* Facts about memory and resources. */
const struct support_history_device* findings_device(const struct findings_work* work,
                                                     uint32_t device);
uint32_t findings_type_flags(const struct findings_work* work, uint32_t device, uint32_t type);
bool findings_is_on_discrete(const struct findings_work* work, uint32_t device);
/* Whether the memory is the program's own new memory: not imported. */
bool findings_is_own(const struct support_history_memory* memory);

/* Bytes that a mended program would not hold, from one event to another: what is wasted of an
 * object. */
struct findings_part {
    uint64_t bytes;
    uint32_t object;
    uint32_t begin_event, end_event; /* the end may be NONE */
};

/* Returns by how many bytes the peak of a heap falls when the parts of all objects are mended, and
 * keeps those parts without which it would not fall so far. */
uint64_t findings_lower_peak(struct findings_work* work, uint32_t device, uint32_t heap,
                             struct findings_part* parts, size_t* count);

/* Keeps the parts for which a heap has room at all times of their lives, with the other ones that
 * are kept. Sorts them by their beginnings. Lowers *room to what is left at the fullest moment. */
size_t findings_keep_fitting(struct findings_work* work, uint32_t device, uint32_t heap,
                             struct findings_part* parts, size_t count, uint64_t* room);

/* Lists the objects of parts. */
void findings_list_parts(struct findings_work* work, const struct findings_part* parts,
                         size_t count, struct findings_list* list);

/* The size of an object of a finding. */
uint64_t findings_object_size(const struct support_history* history,
                              const struct support_finding* finding, uint32_t index);

/* Bytes as "12.5 MiB". */
void findings_bytes(uint64_t bytes, char text[32]);

/* The value of "totals" in JSON. */
struct json_t* findings_totals(const struct support_history* history);

/* The bytes that render targets save, at least, if they share them by their uses: 0 if the capture
 * does not say. The targets have bytes of their own. Writes how many bytes of them are needed at
 * the same time by their uses, at least. */
uint64_t findings_saving_by_uses(struct findings_work* work, uint32_t device,
                                 const struct findings_list* list, uint64_t* needed);

/* The detectors. */
void findings_of_heaps(struct findings_work* work);
void findings_of_blocks(struct findings_work* work);
void findings_of_driver(struct findings_work* work);
void findings_of_resources(struct findings_work* work);
void findings_of_groups(struct findings_work* work);

#endif
