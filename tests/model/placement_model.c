/*
 * The naive reference: every step costs as much as there are live ranges, and nothing is shared
 * with the code under test but its interface.
 */
#include "tests/model/placement_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/placement_name.h"

enum { MODEL_RANGES = 512 };

struct model_range {
    VkDeviceSize offset;
    VkDeviceSize size;
    uint64_t user;
    uint32_t kind;
    uint32_t node;
    uint32_t generation;
};

struct model {
    const struct placement_model_options* options;
    struct placement_model_outcome* outcome;
    placement_model_draw draw;
    void* context;
    struct maar_placement* placement;
    VkDeviceSize size;
    uint64_t next_user;
    uint32_t count;
    struct model_range ranges[MODEL_RANGES]; /* by age */
    bool dry;
};

/* What one walk saw. */
struct model_walk {
    const struct model* model;
    const char* problem;
    VkDeviceSize cursor;
    VkDeviceSize live_size;
    VkDeviceSize free_size;
    VkDeviceSize largest_free;
    uint32_t live_count;
};

static void model_fail(struct model* model, const char* format, ...)
{
    if (model->outcome->problem[0] == '\0') {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(model->outcome->problem, sizeof(model->outcome->problem), format, arguments);
        va_end(arguments);
    }
    model->dry = true;
}

static uint64_t model_draw(struct model* model, uint64_t limit)
{
    uint64_t number = 0;
    if (!model->dry && !model->draw(model->context, limit, &number)) {
        model->dry = true;
    }
    return number;
}

/* Brings the storage that is wanted, sometimes too little first. */
static void model_bring_storage(struct model* model)
{
    const size_t size = maar_placement_storage_wanted(model->placement);
    void* memory = malloc(size);
    if (memory == NULL) {
        model_fail(model, "the test ran out of memory");
        return;
    }
    free(maar_placement_storage_give(model->placement, memory, size));
    const size_t late_size = 64;
    void* late = malloc(late_size);
    if (late != NULL && maar_placement_storage_give(model->placement, late, late_size) != late) {
        model_fail(model, "storage of no use was taken");
    }
    free(late);
}

static bool model_kinds_clash(const struct model* model, const struct model_range* low,
                              const struct model_range* high)
{
    const VkDeviceSize granularity = model->options->info.granularity;
    if (granularity <= 1 || low->kind == 0 || high->kind == 0 || low->kind == high->kind) {
        return false;
    }
    return (low->offset + low->size - 1) / granularity == high->offset / granularity;
}

/* Tests a new range against all others. */
static void model_test_range(struct model* model, const struct model_range* range,
                             VkDeviceSize alignment)
{
    if (range->offset % alignment != 0) {
        model_fail(model, "offset %llu is no multiple of %llu", (unsigned long long)range->offset,
                   (unsigned long long)alignment);
    }
    if (range->offset > model->size || range->size > model->size - range->offset) {
        model_fail(model, "range at %llu leaves the space", (unsigned long long)range->offset);
    }
    for (uint32_t i = 0; i < model->count; ++i) {
        const struct model_range* other = &model->ranges[i];
        const bool is_lower = other->offset < range->offset;
        const struct model_range* low = is_lower ? other : range;
        const struct model_range* high = is_lower ? range : other;
        if (low->offset + low->size > high->offset) {
            model_fail(model, "ranges at %llu and %llu overlap", (unsigned long long)low->offset,
                       (unsigned long long)high->offset);
        }
        if (model_kinds_clash(model, low, high)) {
            model_fail(model, "kinds at %llu and %llu share a granule",
                       (unsigned long long)low->offset, (unsigned long long)high->offset);
        }
    }
}

static bool model_visit(void* context, const MaarRangeInfo* info)
{
    struct model_walk* walk = context;
    if (info->offset != walk->cursor || info->size == 0) {
        walk->problem = "the walk has a gap, an overlap or an empty stretch";
        return false;
    }
    walk->cursor += info->size;
    if (info->state == MAAR_RANGE_STATE_FREE) {
        walk->free_size += info->size;
        if (info->size > walk->largest_free) {
            walk->largest_free = info->size;
        }
    }
    if (info->state != MAAR_RANGE_STATE_LIVE) {
        return true;
    }
    walk->live_count += 1;
    walk->live_size += info->size;
    for (uint32_t i = 0; i < walk->model->count; ++i) {
        const struct model_range* range = &walk->model->ranges[i];
        if (range->user == info->userData) {
            if (range->offset != info->offset || range->size != info->size ||
                range->kind != info->kind ||
                info->range != maar_placement_handle(range->node, range->generation)) {
                walk->problem = "the walk describes a range wrongly";
            }
            return walk->problem == NULL;
        }
    }
    walk->problem = "the walk shows a range that nobody owns";
    return false;
}

static void model_test_all(struct model* model, struct model_walk* walk)
{
    *walk = (struct model_walk){.model = model};
    const char* broken = maar_placement_check(model->placement);
    if (broken != NULL) {
        model_fail(model, "check: %s", broken);
        return;
    }
    maar_placement_walk(model->placement, model_visit, walk);
    struct maar_placement_totals totals;
    maar_placement_totals(model->placement, &totals);
    VkDeviceSize live_size = 0;
    for (uint32_t i = 0; i < model->count; ++i) {
        live_size += model->ranges[i].size;
    }
    if (walk->problem != NULL) {
        model_fail(model, "%s", walk->problem);
    } else if (walk->cursor != model->size || walk->live_count != model->count) {
        model_fail(model, "the walk does not show the whole space");
    } else if (totals.used_size != live_size || totals.range_count != model->count ||
               totals.free_size != walk->free_size ||
               totals.used_size + totals.padding_size + totals.free_size != model->size) {
        model_fail(model, "the totals are wrong");
    } else if (maar_placement_largest_free_bound(model->placement) < walk->largest_free) {
        model_fail(model, "the bound of the largest free range is too low");
    }
}

/* A failed request is right only if no free stretch is so large that the request fits anywhere in
 * it. */
static void model_test_failure(struct model* model, const struct maar_placement_request* request,
                               const struct model_walk* walk)
{
    VkDeviceSize enough = request->size + request->alignment;
    if (model->options->info.granularity > 1 && request->kind != 0) {
        enough += 2 * model->options->info.granularity;
    }
    enough += 256 + enough / 32;
    if (model->options->info.strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        enough *= 2;
    }
    if (!request->upper && walk->largest_free >= enough) {
        model_fail(model, "%llu at %llu refused with %llu free in one piece",
                   (unsigned long long)request->size, (unsigned long long)request->alignment,
                   (unsigned long long)walk->largest_free);
    }
    if (maar_placement_largest_free_bound(model->placement) == model->size &&
        request->size <= model->size && model->count == 0) {
        model_fail(model, "%llu refused by an empty space", (unsigned long long)request->size);
    }
}

static VkDeviceSize model_draw_alignment(struct model* model)
{
    static const VkDeviceSize choices[] = {1, 1, 2, 3, 4, 16, 48, 64, 100, 256, 256, 1024, 4096};
    static const VkDeviceSize pool_choices[] = {16, 64, 64, 256, 256, 256, 4096, 65536};
    if (model->options->pool_alignments) {
        return pool_choices[model_draw(model, sizeof(pool_choices) / sizeof(pool_choices[0]))];
    }
    const uint64_t pick = model_draw(model, sizeof(choices) / sizeof(choices[0]));
    return model->options->fixed_alignment != 0 ? model->options->fixed_alignment : choices[pick];
}

static VkDeviceSize model_draw_size(struct model* model)
{
    /* Log-uniform: first how many bits, then which. */
    uint64_t size = model->options->max_size;
    size >>= model_draw(model, 12);
    size = size != 0 ? size : 1;
    return 1 + model_draw(model, size);
}

/* The lowest place of a request without kind, as a walk over the free ranges finds it. */
struct lowest_walk {
    const struct maar_placement_request* request;
    VkDeviceSize offset; /* UINT64_MAX: none so far */
};

static bool visit_lowest(void* context, const MaarRangeInfo* info)
{
    struct lowest_walk* walk = context;
    const VkDeviceSize alignment = walk->request->alignment;
    const VkDeviceSize offset = (info->offset + alignment - 1) / alignment * alignment;
    if (info->state == MAAR_RANGE_STATE_FREE && offset < info->offset + info->size &&
        walk->request->size <= info->offset + info->size - offset) {
        walk->offset = offset;
    }
    return walk->offset == UINT64_MAX;
}

/* In a buddy placement, neighbours of different orders are one free range to a walk. */
static VkDeviceSize model_lowest(const struct model* model,
                                 const struct maar_placement_request* request)
{
    struct lowest_walk walk = {.request = request, .offset = UINT64_MAX};
    if (model->options->max_kind == 0 &&
        model->options->info.strategy == MAAR_PLACEMENT_STRATEGY_TLSF) {
        maar_placement_walk(model->placement, visit_lowest, &walk);
    }
    return walk.offset;
}

static enum maar_place_outcome model_place(struct model* model,
                                           const struct maar_placement_request* request,
                                           bool lowest, VkDeviceSize after,
                                           struct maar_placement_range* range)
{
    if (lowest) {
        return maar_placement_allocate_lowest(model->placement, request, range);
    }
    return after != UINT64_MAX
               ? maar_placement_allocate_last(model->placement, request, after, range)
               : maar_placement_allocate(model->placement, request, range);
}

static void model_allocate(struct model* model, const struct model_walk* walk)
{
    struct maar_placement_request request = {
        .size = model_draw_size(model),
        .alignment = model_draw_alignment(model),
        .user = ++model->next_user,
        .kind = (uint32_t)model_draw(model, (uint64_t)model->options->max_kind + 1),
        .upper = model->options->upper && model_draw(model, 2) == 1,
    };
    const bool lowest = model->options->lowest && model_draw(model, 4) == 0;
    const VkDeviceSize after = model->options->last && model_draw(model, 2) == 0
                                   ? model_draw(model, 3) * model->options->max_size / 4
                                   : UINT64_MAX;
    if (model->dry) {
        return;
    }
    const VkDeviceSize expected = lowest ? model_lowest(model, &request) : UINT64_MAX;
    struct maar_placement_range range;
    enum maar_place_outcome outcome = model_place(model, &request, lowest, after, &range);
    for (uint32_t tries = 0; outcome == MAAR_PLACE_WANTS_STORAGE && tries < 2; ++tries) {
        model_bring_storage(model);
        outcome = model_place(model, &request, lowest, after, &range);
    }
    if (expected != UINT64_MAX && (outcome != MAAR_PLACED || range.offset != expected)) {
        model_fail(model, "a request does not take the lowest place, %llu",
                   (unsigned long long)expected);
        return;
    }
    if (outcome == MAAR_PLACE_NO_ROOM) {
        model->outcome->refused += 1;
        model_test_failure(model, &request, walk);
        return;
    }
    if (outcome != MAAR_PLACED) {
        model_fail(model, "allocate answered %d", (int)outcome);
        return;
    }
    struct model_range* added = &model->ranges[model->count];
    *added = (struct model_range){
        .offset = range.offset,
        .size = request.size,
        .user = request.user,
        .kind = request.kind,
        .node = range.node,
        .generation = generation_of(model->placement, range.node),
    };
    model_test_range(model, added, request.alignment);
    model->count += 1;
    model->outcome->allocated += 1;
}

static uint32_t model_pick(struct model* model)
{
    const uint32_t count = model->count;
    const uint32_t any = (uint32_t)model_draw(model, count);
    const bool stray = model_draw(model, 16) == 0;
    if (model->options->free_order == 0 || stray) {
        return any;
    }
    return model->options->free_order == 1 ? 0 : count - 1;
}

static void model_free(struct model* model)
{
    if (model->count == 0) {
        return;
    }
    const uint32_t index = model_pick(model);
    if (model->dry) {
        return;
    }
    const struct model_range freed = model->ranges[index];
    if (!maar_placement_free(model->placement, freed.node)) {
        model_fail(model, "a live range was not freed");
    }
    memmove(&model->ranges[index], &model->ranges[index + 1],
            (model->count - index - 1) * sizeof(freed));
    model->count -= 1;
    if (generation_of(model->placement, freed.node) == freed.generation) {
        model_fail(model, "a freed range keeps its name");
    }
    if (maar_placement_free(model->placement, freed.node)) {
        model_fail(model, "a range was freed twice");
    }
}

static void model_reset(struct model* model)
{
    const uint32_t node = model->count != 0 ? model->ranges[0].node : 0;
    const uint32_t generation = model->count != 0 ? model->ranges[0].generation : 0;
    maar_placement_reset(model->placement);
    if (model->count != 0 && generation_of(model->placement, node) == generation) {
        model_fail(model, "a range outlived the reset");
    }
    model->count = 0;
}

static void model_resize(struct model* model)
{
    VkDeviceSize size = model->size + 1 + model_draw(model, model->options->max_size);
    if (size > MAAR_RANGE_MAX_SIZE || size > 4 * model->options->info.size) {
        size = model->size;
    }
    bool resized = maar_placement_resize(model->placement, size);
    for (uint32_t tries = 0; !resized && tries < 2; ++tries) {
        model_bring_storage(model);
        resized = maar_placement_resize(model->placement, size);
    }
    if (!resized) {
        model_fail(model, "resize wants storage again and again");
    }
    model->size = size;
}

/* Names that no live range has change nothing; a tag may change as long as its range lives. */
static void model_name(struct model* model)
{
    const uint32_t node = (uint32_t)model_draw(model, (uint64_t)UINT32_MAX + 1);
    const uint32_t index = model->count != 0 ? (uint32_t)model_draw(model, model->count) : 0;
    const uint32_t stray = model_draw(model, 2) == 0 ? node : node % (2 * MODEL_RANGES);
    struct maar_placement_range range;
    uint64_t user = 0;
    uint32_t kind = 0;
    bool is_live = false;
    for (uint32_t i = 0; i < model->count; ++i) {
        is_live = is_live || model->ranges[i].node == stray;
    }
    if (maar_placement_get(model->placement, stray, &range, &user, &kind) != is_live) {
        model_fail(model, "node %u is taken for what it is not", (unsigned)stray);
    }
    if (!is_live && (maar_placement_free(model->placement, stray) ||
                     generation_of(model->placement, stray) != NO_GENERATION)) {
        model_fail(model, "node %u, which is not live, has a name", (unsigned)stray);
    }
    if (model->count == 0) {
        return;
    }
    const struct model_range* tagged = &model->ranges[index];
    if (!maar_placement_get(model->placement, tagged->node, &range, &user, &kind) ||
        range.offset != tagged->offset || range.size != tagged->size || user != tagged->user ||
        kind != tagged->kind) {
        model_fail(model, "a range is described wrongly");
    }
}

static void model_step(struct model* model, struct model_walk* walk)
{
    const uint64_t action = model_draw(model, 1000);
    /* Phases of growth and of shrinking, so that both full and empty spaces are seen. */
    const uint64_t grow = (model->outcome->step / 512) % 2 == 0 ? 750 : 350;
    if (action == 999 && model_draw(model, 4) == 0) {
        model_reset(model);
    } else if (action >= 993) {
        model_resize(model);
    } else if (action >= 980) {
        model_name(model);
    } else if (action < grow && model->count < model->options->max_live) {
        model_allocate(model, walk);
    } else {
        model_free(model);
    }
    model_test_all(model, walk);
}

void placement_model_run(const struct placement_model_options* options, placement_model_draw draw,
                         void* context, struct placement_model_outcome* outcome)
{
    *outcome = (struct placement_model_outcome){.step = 0};
    struct model* model = calloc(1, sizeof(*model));
    if (model == NULL) {
        snprintf(outcome->problem, sizeof(outcome->problem), "the test ran out of memory");
        return;
    }
    model->options = options;
    model->outcome = outcome;
    model->draw = draw;
    model->context = context;
    model->size = options->info.size;
    if (options->max_live >= MODEL_RANGES) {
        model_fail(model, "max_live is too large for the model");
    } else if (maar_placement_create(&options->info, NULL, &model->placement) != VK_SUCCESS) {
        model_fail(model, "create failed");
    }
    struct model_walk walk = {.largest_free = 0};
    while (!model->dry && outcome->step < options->steps) {
        model_step(model, &walk);
        outcome->step += 1;
    }
    maar_placement_destroy(model->placement, NULL);
    free(model);
}
