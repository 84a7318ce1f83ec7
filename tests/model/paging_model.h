/*
 * A naive reference of paging. For each page of each reservation it knows what the page should show
 * and what was submitted. Every page that is taken has a token of its own, so that the model sees
 * when a page moves, is lost, or is given to two owners. A page whose bytes were moved has a new
 * token.
 */
#ifndef MAAR_TESTS_MODEL_PAGING_MODEL_H
#define MAAR_TESTS_MODEL_PAGING_MODEL_H

#include "tests/rig/rig.h"

enum { PAGED_TABLES = 6, PAGED_PAGES = 400, PAGED_MOVES = 64 };

struct paged_page {
    uint64_t token; /* 0: none */
    VkDeviceMemory memory;
    VkDeviceSize offset;
};

struct paged_table {
    MaarReservation reservation; /* NULL: none */
    VkBuffer buffer;
    VkDeviceSize size;
    VkDeviceSize page_size;
    uint32_t page_count;
    bool aliased;
    bool pooled;
    struct paged_page wanted[PAGED_PAGES];
    struct paged_page device[PAGED_PAGES]; /* at the last submission */
};

/* A page that a batch moves. */
struct paged_move {
    VkBuffer buffer;
    uint32_t page;
    uint64_t token; /* when the batch began */
};

struct paged_model {
    struct rig rig;
    struct rig_random random;
    struct paged_table tables[PAGED_TABLES];
    bool may_alias;
    MaarPool pool; /* some take their pages from it */
    uint64_t last_token;
    VkSemaphore work; /* a timeline of commands that use pages */
    uint64_t work_value;
    MaarPoint bound; /* of the last submission of binds */
    VkCommandPool commands;
    bool held;   /* submissions are; the device is behind */
    bool dying;  /* reservations may have been destroyed whose pages have not come back */
    bool sealed; /* one of them since the last submission, which may have to rebind it */
    bool scarce; /* pages go from hand to hand, and may come back to where the device has them */
    MaarMoveBatch batch; /* under way, or NULL */
    struct paged_move moves[PAGED_MOVES];
    uint32_t move_count;
    uint32_t moved;
    uint32_t unmet; /* commitments that were not met */
    uint32_t uses;
    uint32_t binds;
};

/* Runs `steps` random operations, checks after each, and takes everything down. */
void paged_model_run(struct paged_model* model, const MaarSimulatedProfile* profile, uint64_t seed,
                     uint32_t steps);

#endif
