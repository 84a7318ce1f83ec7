/*
 * Defragmentation while frames are rendered: a few moves a frame.
 */
#ifndef MAAR_SAMPLE_CHEESE_MOVES_H
#define MAAR_SAMPLE_CHEESE_MOVES_H

#include "cheese_heap.h"

/* Mistakes that the program makes on request. */
enum cheese_mistake {
    CHEESE_MISTAKE_NONE,
    CHEESE_MISTAKE_DESCRIPTOR, /* a descriptor is not written anew */
    CHEESE_MISTAKE_COPY,       /* an image is not copied */
    CHEESE_MISTAKE_BARRIER,    /* the frame does not wait for the copies of images */
    CHEESE_MISTAKE_COUNT
};

struct cheese_limits {
    VkDeviceSize bytes; /* of a step */
    uint32_t moves;     /* of a step */
    bool poison;        /* overwrite the old objects, so that who still reads them is noticed */
    enum cheese_mistake mistake;
};

/* What a run of defragmentation has done. */
struct cheese_account {
    MaarDefragmentationInfo forecast; /* of a dry run */
    MaarDefragmentationInfo done;
    uint32_t steps;
    uint32_t moves;
    VkDeviceSize bytes;
    uint32_t most_moves; /* of a step */
    VkDeviceSize most_bytes;
};

struct cheese_retired; /* objects that frames in flight may still use */

struct cheese_moves {
    struct cheese_heap* heap;
    struct cheese_limits limits;
    MaarDefragmentation run; /* VK_NULL_HANDLE when nothing is left to move */
    MaarMoveBatch batch;     /* of this frame */
    MaarMove* list;          /* its moves */
    bool waits;              /* what is left to move needs places that earlier frames still use */
    uint32_t count;
    uint32_t room;
    struct cheese_retired* retired;
    uint32_t retired_count;
    uint32_t retired_room;
    MaarMoveBatch withheld; /* with CHEESE_MISTAKE_DESCRIPTOR */
    bool mistaken;          /* the mistake was made */
    struct cheese_account account;
};

/* Begins a run of defragmentation, after a dry run. Prints an error and returns false on failure.
 * The caller ends the run in every case. */
bool cheese_moves_begin(struct cheese_moves* moves, struct cheese_heap* heap,
                        const struct cheese_limits* limits);

/* Takes a step, and records its copies into the commands of a frame. From then on the planets have
 * their new objects. */
bool cheese_moves_record(struct cheese_moves* moves, VkCommandBuffer commands);

/* Commits the step. `frame` is the point at which the frame's commands are done. */
bool cheese_moves_commit(struct cheese_moves* moves, const MaarPoint* frame);

/* Destroys the old objects that frames up to this value of the timeline have used, and gives back
 * the blocks that no frame uses any more. */
bool cheese_moves_retire(struct cheese_moves* moves, uint64_t passed);

/* Ends the run. The device must be done with all frames. */
void cheese_moves_end(struct cheese_moves* moves);

#endif
