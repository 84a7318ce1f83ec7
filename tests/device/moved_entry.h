/*
 * The buffers and images of a random program whose contents are known at any time, and the work
 * that it submits with them: moved_entry.c. Each access of the device waits for the accesses
 * before it by semaphores, and some wait for the program to let them go. The queues are those of
 * the rig; one thread.
 */
#ifndef MAAR_TESTS_DEVICE_MOVED_ENTRY_H
#define MAAR_TESTS_DEVICE_MOVED_ENTRY_H

#include "tests/rig/rig.h"

enum {
    ENTRY_UNIT = 256,
    ENTRY_MOST_UNITS = 96,
    ENTRY_NO_BATCH = UINT8_MAX,
    ENTRY_POINTS = 2 /* of entry_points */
};

/* A buffer or an image of the program. */
struct entry {
    VkBuffer buffer;
    VkImage image; /* or null */
    VkExtent3D extent;
    uint32_t layers;
    VkImageLayout layout;
    MaarAllocation memory;
    VkDeviceSize size; /* of the contents */
    uint32_t word;     /* the contents are word, word + step, ... */
    uint32_t step;
    uint32_t batch;   /* the batch that moves it, or ENTRY_NO_BATCH */
    VkBuffer moved;   /* the new buffer of a move, if the program creates it */
    bool is_movable;  /* Maar creates the new object of a move */
    MaarPoint used;   /* the last access of the program */
    MaarPoint copied; /* the last copy of a batch */
    /* A copy of the contents that the device makes, or has made. */
    VkBuffer read;
    MaarAllocation read_memory;
    MaarPoint read_end;
    uint32_t read_word, read_step;
    bool is_read;
    /* What the contents of an image come from. */
    VkBuffer staging;
    MaarAllocation staging_memory;
};

/* Opens the program on a rig with an allocator. seed: of its random numbers. */
void entry_open(struct rig* rig, uint64_t seed);
/* Ends it. All entries have been destroyed. */
void entry_close(void);
/* Lets all submissions go, if a case ended before entry_close. */
void entry_abandon(void);

/* A random number below the bound. */
uint32_t entry_below(uint32_t bound);
/* Lets the submissions go that are held now. */
void entry_let_go(void);
/* A point that entry_let_go reaches. */
MaarPoint entry_held_point(void);
/* Waits for a point, whose semaphore may be null. A simulated device executes no more than it has
 * to. */
void entry_wait(MaarPoint point);
/* Buffers and images whose contents were compared, and accesses of the device. */
uint32_t entry_compared_count(void);
uint32_t entry_used_count(void);

/* A buffer of the program, without memory. */
VkBuffer entry_make_buffer(VkDeviceSize size);
/* Creates an entry in a pool, with contents. An image is always movable. */
void entry_create(struct entry* entry, MaarPool pool, bool is_image);
/* Destroys it after its last use; the caller ends what a batch has made for it. */
void entry_destroy(struct entry* entry);
/* Other contents, written by the host or by the device. No batch may move the entry. */
void entry_write(struct entry* entry);
/* Compares the contents, at once or later. copied: the point after which its batch leaves an image
 * alone, or a null semaphore. */
void entry_read(struct entry* entry, MaarPoint copied);
/* Completes a comparison that is under way. */
void entry_finish(struct entry* entry);
/* The points of the last accesses. Returns their number. */
uint32_t entry_points(const struct entry* entry, MaarPoint* points);

#endif
