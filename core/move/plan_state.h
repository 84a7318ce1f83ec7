/*
 * The state of the plan of a run: see drain_plan.h. The caller synchronizes the calls on one run.
 */
#ifndef MAAR_CORE_MOVE_PLAN_STATE_H
#define MAAR_CORE_MOVE_PLAN_STATE_H

#include "core/move/drain_map.h"
#include "core/move/drain_state.h"

enum {
    /* The best windows for one allocation that are known. */
    MAAR_PLAN_WINDOWS = 32
};

enum maar_plan_phase {
    MAAR_PLAN_POOL,  /* goes on to the next pool */
    MAAR_PLAN_TAKE,  /* takes its blocks */
    MAAR_PLAN_LIST,  /* lists their ranges */
    MAAR_PLAN_BEGIN, /* counts how many may be emptied by the sums */
    MAAR_PLAN_NEXT,  /* chooses the blocks to try */
    MAAR_PLAN_SEEK,  /* the same at a level of its own */
    MAAR_PLAN_MARK,  /* hides the gaps of blocks that shall be emptied */
    MAAR_PLAN_FILL,  /* collects what lies there */
    MAAR_PLAN_PLACE, /* finds gaps */
    MAAR_PLAN_SWEEP, /* finds windows for one allocation */
    MAAR_PLAN_MAKE_WAY,
    MAAR_PLAN_REPLACE, /* finds gaps for what makes way */
    MAAR_PLAN_CLOSE_WINDOW,
    MAAR_PLAN_UNDO,
    MAAR_PLAN_UNMARK,
    MAAR_PLAN_ACCEPT, /* plans the blocks that were tried */
    MAAR_PLAN_SORT,   /* the blocks of all pools */
    MAAR_PLAN_END
};

/* What is tried. */
enum maar_plan_stage {
    MAAR_PLAN_FIRST, /* many blocks at level 0 */
    MAAR_PLAN_MORE,  /* one more at level 0 */
    MAAR_PLAN_WAYS   /* one at a level of its own */
};

struct maar_plan_block {
    struct maar_drain_block about;
    uint32_t first_leaver; /* in the list of those that make way for it */
    uint32_t leaver_count;
    int32_t level;
    bool is_planned;
};

/* Consecutive allocations of a block, in whose place another one fits. */
struct maar_plan_window {
    VkDeviceSize cost;  /* bytes of those that would stay */
    VkDeviceSize bytes; /* of all */
    VkDeviceSize offset;
    uint32_t first; /* items */
    uint32_t count;
};

/* The blocks that are tried. */
struct maar_plan_try {
    VkDeviceSize cost;
    VkDeviceSize most_cost;
    uint32_t first; /* blocks */
    uint32_t end;
    uint32_t change_count; /* before */
    bool has_succeeded;
    bool is_final; /* it stays if it succeeds */
};

/* Where a sweep for windows is: behind the item `before` the run of `count` items ends with
 * the one before `behind`. */
struct maar_plan_sweep {
    VkDeviceSize cost;
    VkDeviceSize bytes;
    uint32_t block;
    uint32_t before;
    uint32_t behind;
    uint32_t count;
};

struct maar_drain_plan {
    struct maar_map map;
    enum maar_plan_phase phase;
    enum maar_plan_stage stage;
    struct maar_drain_list candidates; /* struct maar_drain_block, in the order of live bytes */
    struct maar_drain_list blocks;     /* struct maar_plan_block, as in the map */
    uint32_t pool_count;               /* pools that were looked at */
    uint32_t pool_first;               /* blocks */
    uint32_t planned_count;            /* of the pool */
    VkDeviceSize free;                 /* in the blocks that stay, by the sums */
    VkDeviceSize live;                 /* in the others */
    struct maar_drain_cursor cursor;   /* of the list */
    uint32_t last_cell;
    uint32_t at;   /* block */
    uint32_t cell; /* there */

    uint32_t low;  /* so many blocks at level 0 succeed */
    uint32_t high; /* so many do not */
    int32_t level;
    struct maar_plan_try present;
    uint32_t best_at; /* the block of the cheapest attempt, or MAAR_MAP_NONE */
    VkDeviceSize best_cost;
    uint32_t more_count; /* attempts since then */
    /* The smallest allocations for which there was no window, of two blocks that were tried. */
    VkDeviceSize smallest_failed;
    VkDeviceSize too_large; /* the larger one of them: there is no window in either of the two */
    uint64_t work_left;

    struct maar_drain_list heap;    /* uint32_t: items without places, the largest first */
    struct maar_drain_list leavers; /* the same of the window */
    struct maar_drain_list movers;  /* uint32_t: items that make way, by the block that needs it */
    uint32_t item;                  /* for which windows are tried */
    struct maar_plan_sweep sweep;
    struct maar_plan_window windows[MAAR_PLAN_WINDOWS]; /* the cheapest one first */
    uint32_t window_count;
    uint32_t window_at;
    uint32_t window_changes; /* before */
    uint32_t left_count;     /* of the window, to take out */
    VkDeviceSize last_rank;  /* the highest of the blocks of the pool */
    bool is_sorting;
    bool are_known_sorted; /* the blocks of pools without a plan */
};

static inline struct maar_plan_block* maar_plan_block_at(const struct maar_drain_plan* plan,
                                                         uint32_t at)
{
    return maar_drain_list_at(&plan->blocks, at, sizeof(struct maar_plan_block));
}

static inline uint32_t maar_plan_mover_at(const struct maar_drain_plan* plan, uint32_t at)
{
    return *(const uint32_t*)maar_drain_list_at(&plan->movers, at, sizeof(uint32_t));
}

#endif
