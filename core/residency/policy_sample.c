/*
 * The sample: see policy_sample.h. It is small, so a victim is found by looking at all objects.
 */
#include "core/residency/policy_sample.h"

#include <string.h>

enum {
    /* What was paid falls to 1/e while each object of the sample is used so often. */
    FADING = 16
};

static uint32_t hash_of(uint32_t object)
{
    return (object + 1) * 2654435761u >> 8;
}

static bool is_sampled(const struct maar_policy_sample* sample, uint32_t object)
{
    return (hash_of(object) & sample->mask) == 0;
}

/* Takes an item out. The last one gets its place. */
static void drop_item(struct maar_policy_sample* sample, uint32_t at)
{
    const struct maar_sample_item* item = &sample->items[at];
    for (uint32_t rule = 0; rule < MAAR_POLICY_RULES; ++rule) {
        sample->used[rule] -= item->is_in[rule] ? item->size : 0;
    }
    sample->bytes -= item->size;
    sample->items[at] = sample->items[--sample->count];
}

uint32_t maar_sample_add(struct maar_policy_sample* sample, uint32_t object, VkDeviceSize size,
                         bool* has_shrunk)
{
    sample->all_bytes += size;
    while (is_sampled(sample, object) && sample->count == MAAR_SAMPLE_SIZE) {
        *has_shrunk = true;
        sample->mask = sample->mask * 2 + 1;
        for (uint32_t at = sample->count; at-- > 0;) {
            if (!is_sampled(sample, sample->items[at].object)) {
                drop_item(sample, at);
            }
        }
    }
    if (!is_sampled(sample, object)) {
        return UINT32_MAX;
    }
    sample->items[sample->count] = (struct maar_sample_item){.object = object, .size = size};
    sample->bytes += size;
    return sample->count++;
}

uint32_t maar_sample_remove(struct maar_policy_sample* sample, uint32_t at, VkDeviceSize size)
{
    sample->all_bytes -= size;
    if (at == UINT32_MAX) {
        return UINT32_MAX;
    }
    drop_item(sample, at);
    return at < sample->count ? sample->items[at].object : UINT32_MAX;
}

void maar_sample_resize(struct maar_policy_sample* sample, uint32_t at, VkDeviceSize old,
                        VkDeviceSize size)
{
    sample->all_bytes += size;
    sample->all_bytes -= old;
    if (at == UINT32_MAX) {
        return;
    }
    for (uint32_t rule = 0; rule < MAAR_POLICY_RULES; ++rule) {
        sample->used[rule] += sample->items[at].is_in[rule] ? size : 0;
        sample->used[rule] -= sample->items[at].is_in[rule] ? old : 0;
    }
    sample->bytes += size;
    sample->bytes -= old;
    sample->items[at].size = size;
}

void maar_sample_mark(struct maar_policy_sample* sample, uint32_t at, uint64_t submission)
{
    sample->items[at].member = submission;
}

/* Returns whether `item` is a better victim than `best` by a rule. best may be NULL. */
static bool is_better_victim(enum maar_policy_rule rule, const struct maar_sample_item* item,
                             const struct maar_sample_item* best)
{
    if (best == NULL) {
        return true;
    }
    switch (rule) {
    case MAAR_POLICY_OLDEST:
        return item->last < best->last;
    case MAAR_POLICY_NEWEST:
        return item->last > best->last;
    default:
        return item->expected > best->expected;
    }
}

/* Returns what a rule evicts, or NULL. */
static struct maar_sample_item* find_sample_victim(struct maar_policy_sample* sample,
                                                   enum maar_policy_rule rule, uint64_t now,
                                                   uint64_t member)
{
    struct maar_sample_item* best = NULL;
    struct maar_sample_item* overdue = NULL;
    for (uint32_t i = 0; i < sample->count; ++i) {
        struct maar_sample_item* item = &sample->items[i];
        if (!item->is_in[rule] || item->member == member) {
            continue;
        }
        best = is_better_victim(rule, item, best) ? item : best;
        if (maar_is_overdue(now, item->last, item->expected) &&
            is_better_victim(MAAR_POLICY_OLDEST, item, overdue)) {
            overdue = item;
        }
    }
    const bool is_overdue = rule == MAAR_POLICY_REPLAY && overdue != NULL &&
                            maar_is_overdue_first(now, overdue->last, best->expected);
    return is_overdue ? overdue : best;
}

/* Brings an item into the memory of a rule. */
static void bring_in(struct maar_policy_sample* sample, struct maar_sample_item* item,
                     enum maar_policy_rule rule, uint64_t now)
{
    const double part = (double)sample->bytes / (double)sample->all_bytes;
    const double capacity = (double)sample->capacity * part;
    while ((double)(sample->used[rule] + item->size) > capacity) {
        struct maar_sample_item* victim = find_sample_victim(sample, rule, now, item->member);
        if (victim == NULL) {
            break;
        }
        victim->is_in[rule] = false;
        sample->used[rule] -= victim->size;
    }
    item->is_in[rule] = true;
    sample->used[rule] += item->size;
    sample->paid[rule] += (double)item->size;
}

/* Another rule must have paid clearly less. */
static void choose_rule(struct maar_policy_sample* sample)
{
    const double mean = (double)sample->bytes / sample->count;
    for (uint32_t rule = 0; rule < MAAR_POLICY_RULES; ++rule) {
        if (sample->paid[rule] < sample->paid[sample->best] * 0.97 - mean / 2) {
            sample->best = (enum maar_policy_rule)rule;
        }
    }
}

void maar_sample_use(struct maar_policy_sample* sample, uint32_t at, uint64_t now,
                     uint64_t expected)
{
    struct maar_sample_item* item = &sample->items[at];
    for (uint32_t rule = 0; rule < MAAR_POLICY_RULES; ++rule) {
        if (!item->is_in[rule]) {
            bring_in(sample, item, (enum maar_policy_rule)rule, now);
        }
        sample->paid[rule] *= 1.0 - 1.0 / (FADING * (double)sample->count);
    }
    item->last = now;
    item->expected = expected;
    choose_rule(sample);
}
