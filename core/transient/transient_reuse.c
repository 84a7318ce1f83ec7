/*
 * The bytes that the same frame would take with whole objects. Each object is reused for resources
 * of the same create info once all uses of the last one have ended. A program that keeps its render
 * targets in a cache works in this way.
 *
 * The passes are visited in their order. Resources whose last use is over stand in a list by create
 * info, so that a new one looks only at objects that it may take over.
 */
#include "core/transient/transient_reuse.h"

#include "core/transient/transient_order.h"

/* The most objects that a resource looks at. On one queue the first one serves. With several queues
 * an object whose uses come earlier in the order may still be in use elsewhere. */
enum { MOST_LOOKS = 64 };

struct reuse {
    const struct maar_transient_graph* graph;
    uint32_t* table;  /* by hash of the create info: a resource that stands for its group */
    uint32_t* group;  /* per resource: the one that stands for it, or none if it shares nothing */
    uint32_t mask;    /* entries of the table, less one */
    uint32_t* over;   /* per group: the first object that is over */
    uint32_t* next;   /* per resource: the next one in its list */
    uint32_t* ending; /* per place in the order of passes: the first resource that ends there */
    uint32_t* place;  /* per pass: its place in the order */
    /* Several queues only. Per queue: how many passes of it the first uses of the present resource
     * find ended, and whether that resource was seen there. */
    uint32_t* ended;
    uint32_t* seen;
    /* The last use of resource i on each queue that it uses: last[first_last[i]] to
     * last[first_last[i + 1] - 1]. */
    uint32_t* last;
    size_t* first_last;
};

static uint32_t hash_key(const struct maar_transient_resource* resource)
{
    const unsigned char* bytes = resource->key;
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < resource->key_size; ++i) {
        hash = (hash ^ bytes[i]) * 0x100000001B3u; /* FNV-1a */
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Finds the resource that stands for all of the same create info: the first of them. */
static uint32_t find_group(struct reuse* reuse, uint32_t index)
{
    const struct maar_transient_resource* resources = reuse->graph->resources;
    const struct maar_transient_resource* resource = &resources[index];
    if (resource->keep || resource->no_aliasing || resource->opaque) {
        return MAAR_TRANSIENT_NONE;
    }
    uint32_t at = hash_key(resource) & reuse->mask;
    while (reuse->table[at] != MAAR_TRANSIENT_NONE &&
           !maar_transient_same_key(&resources[reuse->table[at]], resource)) {
        at = (at + 1) & reuse->mask;
    }
    if (reuse->table[at] == MAAR_TRANSIENT_NONE) {
        reuse->table[at] = index;
    }
    return reuse->table[at];
}

static bool begin_reuse(struct reuse* reuse, struct maar_host_stack* stack)
{
    const struct maar_transient_graph* graph = reuse->graph;
    const uint32_t count = graph->resource_count;
    uint32_t size = 2;
    while (size < 2 * count) {
        size *= 2;
    }
    reuse->mask = size - 1;
    reuse->table = maar_stack_take(stack, size, sizeof *reuse->table);
    reuse->group = maar_stack_take(stack, count, sizeof *reuse->group);
    reuse->over = maar_stack_take(stack, count, sizeof *reuse->over);
    reuse->next = maar_stack_take(stack, count, sizeof *reuse->next);
    reuse->ending = maar_stack_take(stack, graph->pass_count, sizeof *reuse->ending);
    reuse->place = maar_stack_take(stack, graph->pass_count, sizeof *reuse->place);
    if (stack->failed) {
        return false;
    }
    memset(reuse->table, 0xFF, size * sizeof *reuse->table);
    memset(reuse->over, 0xFF, count * sizeof *reuse->over);
    memset(reuse->ending, 0xFF, graph->pass_count * sizeof *reuse->ending);
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        reuse->place[graph->order[i]] = i;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct maar_transient_resource* resource = &graph->resources[i];
        reuse->group[i] = find_group(reuse, i);
        if (reuse->group[i] != MAAR_TRANSIENT_NONE && resource->use_count > 0) {
            uint32_t* ending =
                &reuse->ending[reuse->place[resource->uses[resource->use_count - 1].pass]];
            reuse->next[i] = *ending;
            *ending = i;
        }
    }
    return true;
}

/* Puts the resources that end at a place into the lists of their groups. */
static void end_resources(struct reuse* reuse, uint32_t place)
{
    uint32_t index = reuse->ending[place];
    while (index != MAAR_TRANSIENT_NONE) {
        const uint32_t next = reuse->next[index];
        uint32_t* over = &reuse->over[reuse->group[index]];
        reuse->next[index] = *over;
        *over = index;
        index = next;
    }
}

/* Lists the last use of each resource on each queue. The uses of a resource are in order. */
static bool list_last_uses(struct reuse* reuse, struct maar_host_stack* stack)
{
    const struct maar_transient_graph* graph = reuse->graph;
    if (graph->queue_count <= 1) {
        return true;
    }
    size_t most = 0;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const uint32_t uses = graph->resources[i].use_count;
        most += uses < graph->queue_count ? uses : graph->queue_count;
    }
    reuse->ended = maar_stack_take(stack, graph->queue_count, sizeof *reuse->ended);
    reuse->seen = maar_stack_take(stack, graph->queue_count, sizeof *reuse->seen);
    reuse->last = maar_stack_take(stack, most, sizeof *reuse->last);
    reuse->first_last =
        maar_stack_take(stack, (size_t)graph->resource_count + 1, sizeof *reuse->first_last);
    if (stack->failed) {
        return false;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        const struct maar_transient_resource* resource = &graph->resources[i];
        reuse->first_last[i] = count;
        for (uint32_t k = resource->use_count; k-- > 0;) {
            const uint32_t pass = resource->uses[k].pass;
            uint32_t* seen = &reuse->seen[graph->passes[pass].queue];
            if (*seen != i + 1) {
                *seen = i + 1;
                reuse->last[count++] = pass;
            }
        }
    }
    reuse->first_last[graph->resource_count] = count;
    memset(reuse->seen, 0, graph->queue_count * sizeof *reuse->seen);
    return true;
}

/* Finds for each queue how many of its passes have ended when any use of a resource begins. The
 * first use on each queue finds the fewest. */
static void find_ended(struct reuse* reuse, uint32_t index)
{
    const struct maar_transient_graph* graph = reuse->graph;
    const struct maar_transient_resource* resource = &graph->resources[index];
    memset(reuse->ended, 0xFF, graph->queue_count * sizeof *reuse->ended);
    for (uint32_t k = 0; k < resource->use_count; ++k) {
        const uint32_t pass = resource->uses[k].pass;
        uint32_t* seen = &reuse->seen[graph->passes[pass].queue];
        if (*seen == index + 1) {
            continue;
        }
        *seen = index + 1;
        const uint32_t* clock = &graph->clocks[(size_t)pass * graph->queue_count];
        for (uint32_t q = 0; q < graph->queue_count; ++q) {
            reuse->ended[q] = clock[q] < reuse->ended[q] ? clock[q] : reuse->ended[q];
        }
    }
}

/* Whether every use of one resource has ended before each use of the present one. */
static bool is_over(const struct reuse* reuse, uint32_t before)
{
    const struct maar_transient_graph* graph = reuse->graph;
    if (graph->queue_count <= 1) {
        return true;
    }
    for (size_t k = reuse->first_last[before]; k < reuse->first_last[before + 1]; ++k) {
        const struct maar_transient_pass* pass = &graph->passes[reuse->last[k]];
        if (reuse->ended[pass->queue] <= pass->position) {
            return false;
        }
    }
    return true;
}

/* Takes an object over from a resource that is over. Returns false if there is none. */
static bool take_over(struct reuse* reuse, uint32_t index)
{
    const struct maar_transient_graph* graph = reuse->graph;
    if (reuse->group[index] == MAAR_TRANSIENT_NONE) {
        return false;
    }
    uint32_t* link = &reuse->over[reuse->group[index]];
    if (graph->queue_count > 1 && *link != MAAR_TRANSIENT_NONE) {
        find_ended(reuse, index);
    }
    for (uint32_t looks = 0; *link != MAAR_TRANSIENT_NONE && looks < MOST_LOOKS; ++looks) {
        if (is_over(reuse, *link)) {
            *link = reuse->next[*link];
            return true;
        }
        link = &reuse->next[*link];
    }
    return false;
}

VkDeviceSize maar_transient_reuse(struct maar_host_stack* stack,
                                  const struct maar_transient_graph* graph)
{
    struct reuse reuse = {.graph = graph};
    VkDeviceSize size = 0;
    const bool begun = begin_reuse(&reuse, stack) && list_last_uses(&reuse, stack);
    for (uint32_t i = 0; i < graph->pass_count && begun; ++i) {
        const struct maar_transient_pass* pass = &graph->passes[graph->order[i]];
        for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
            const struct maar_transient_pass_use* use = &graph->pass_uses[k];
            if (use->use == 0 && !take_over(&reuse, use->resource)) {
                size += graph->resources[use->resource].requirements.size;
            }
        }
        end_resources(&reuse, i);
    }
    return size;
}
