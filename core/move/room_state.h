/*
 * The state of runs that make room for one request. The room is a window of a block: all that lies
 * there moves elsewhere. A run lists the ranges of blocks, those first that may need the fewest
 * moves, and finds the windows of each block in one sweep. As soon as no other block can have a
 * better window, it tries the best one: it keeps the free ranges of the window
 * (core/memory/kept_range.h), makes its allocations move, and takes a twin for each of them. If one
 * has no room elsewhere, the run gives all that back and tries the next window.
 *
 * A twin of such a move stays when its batch ends: after the commit it has the old range, which the
 * run keeps. In the end the run has kept the whole window, joins its ranges, and places the request
 * there.
 *
 * The caller synchronizes the calls on one run. No lock may be held.
 */
#ifndef MAAR_CORE_MOVE_ROOM_STATE_H
#define MAAR_CORE_MOVE_ROOM_STATE_H

#include "core/memory/arena_place.h"
#include "core/move/drain_state.h"

enum {
    /* The best windows that are known and not tried yet. */
    MAAR_ROOM_WINDOWS = 64,
    /* Allocations that may not move, of which the run has asked. Beyond that it gives up. */
    MAAR_ROOM_REFUSED = 256,
    /* Allocations of a window for which all places are tried, in a small pool. */
    MAAR_ROOM_PLACES = 8
};

enum maar_room_phase {
    MAAR_ROOM_COLLECT, /* looks at the sums of blocks */
    MAAR_ROOM_PICK,    /* chooses the next block to list, or a window to try */
    MAAR_ROOM_SCAN,    /* lists the ranges of a block */
    MAAR_ROOM_SWEEP,   /* finds the windows of a block */
    MAAR_ROOM_CLAIM,   /* keeps the free ranges of a window, and makes the others move */
    MAAR_ROOM_RESERVE, /* takes twins */
    MAAR_ROOM_HAND_OUT,
    MAAR_ROOM_CHECK, /* sees whether the moves have ended, and how */
    MAAR_ROOM_WAIT,  /* sees whether all kept ranges have passed */
    MAAR_ROOM_JOIN,  /* joins them */
    MAAR_ROOM_READY,
    MAAR_ROOM_RELEASE, /* gives a window up */
    MAAR_ROOM_END      /* taken, or impossible */
};

/* How a range stands in the way. */
enum maar_room_range_kind { MAAR_ROOM_MOVES, MAAR_ROOM_LEAVES, MAAR_ROOM_STAYS };

/* A live or pending range of the block that is listed. */
struct maar_room_range {
    VkDeviceSize offset;
    VkDeviceSize end; /* with rounding */
    VkDeviceSize size;
    uint32_t node;
    uint32_t generation;
    enum maar_room_range_kind kind;
};

/* A window of a block: the request may be placed at each aligned offset from first to last, with
 * the same ranges in its way. */
struct maar_room_window {
    VkDeviceSize first;
    VkDeviceSize last;
    VkDeviceSize cost; /* bytes that must move */
    uint32_t listed;   /* the number of its block among those that were listed */
    uint32_t count;    /* ranges in the way */
    uint32_t node;     /* of a range that lies before it, or MAAR_PLACEMENT_NO_NODE */
    uint32_t generation;
};

/* The place that a plan has for an allocation of the window. */
struct maar_room_place {
    uint64_t handle;
    uint64_t block;
    VkDeviceSize offset;
    VkDeviceSize size;
    VkDeviceSize alignment;
};

/* Where the sweep over the ranges of a block is. */
struct maar_room_sweep {
    VkDeviceSize offset; /* of the window */
    VkDeviceSize cost;
    uint32_t first; /* the first range that ends behind the offset */
    uint32_t end;   /* the first range behind the window */
    uint32_t stay_count;
};

struct maar_room {
    enum maar_room_phase phase;
    MaarDefragmentationRoom state;
    VkDeviceSize asked_size;
    VkDeviceSize asked_alignment;
    MaarResourceKind kind;

    /* ---- the search ---- */
    struct maar_drain_block block; /* that is listed */
    VkDeviceSize size;             /* of a window in its pool */
    VkDeviceSize alignment;
    struct maar_drain_cursor cursor;
    struct maar_drain_list ranges; /* struct maar_room_range */
    struct maar_room_sweep sweep;
    struct maar_room_window windows[MAAR_ROOM_WINDOWS]; /* the best one first */
    uint32_t window_count;
    struct maar_drain_list listed;           /* struct maar_drain_block: whose windows are known */
    uint64_t refused[2 * MAAR_ROOM_REFUSED]; /* a hash table of handles */
    uint32_t refused_count;

    /* ---- the window that is tried ---- */
    struct maar_room_window window;
    struct maar_drain_block home;      /* the block of the window */
    struct maar_place_request request; /* as its pool needs it */
    VkDeviceSize begin;                /* of the window */
    VkDeviceSize end;
    VkDeviceSize window_alignment;
    struct maar_room_place places[MAAR_ROOM_PLACES];
    uint32_t place_count; /* 0: there is no exact plan */
    uint32_t first_node;  /* of the window, when all of it is kept */
    VkDeviceMemory memory;
    uint64_t asked;              /* the allocation that the program or Maar must be asked about */
    void* asked_data;            /* its user data */
    uint64_t approved;           /* the last one that may move */
    struct maar_drain_list kept; /* uint32_t: slots whose ranges are kept, without twins */
    uint32_t checked_count;      /* moves that have ended, or kept slots that have passed */
    uint32_t claim_count;        /* moves when the present claim began */
    bool is_joined;              /* the lists are void: the window's ranges are all kept */
    bool is_claimed;             /* the block knows that ranges are kept */
};

static inline struct maar_room_range* maar_room_range_at(const struct maar_room* room, uint32_t at)
{
    return maar_drain_list_at(&room->ranges, at, sizeof(struct maar_room_range));
}
static inline uint32_t* maar_room_kept_at(const struct maar_room* room, uint32_t at)
{
    return maar_drain_list_at(&room->kept, at, sizeof(uint32_t));
}

#endif
