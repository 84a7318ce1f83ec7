/*
 * A set of numbers with their order: see plan_rank_set.h.
 */
#include "core/plan/problem/plan_rank_set.h"

#include "core/bits.h"
#include "core/plan/problem/plan_numbers.h"

bool maar_plan_rank_set_init(struct maar_plan_rank_set* set, uint32_t bound,
                             struct maar_host_stack* stack)
{
    size_t words = maar_plan_words(bound);
    *set = (struct maar_plan_rank_set){.bound = bound};
    do {
        uint64_t* level = maar_stack_grab_zeroed(stack, words, sizeof *level);
        if (level == NULL) {
            return false;
        }
        set->levels[set->level_count++] = level;
        words = words > 1 ? maar_plan_words(words) : 0;
    } while (words > 0);
    return true;
}

void maar_plan_rank_set_add(struct maar_plan_rank_set* set, uint32_t number)
{
    MAAR_DEBUG_ASSERT(number < set->bound);
    for (uint32_t level = 0; level < set->level_count; ++level) {
        maar_plan_put(set->levels[level], number);
        number /= 64;
    }
}

void maar_plan_rank_set_remove(struct maar_plan_rank_set* set, uint32_t number)
{
    for (uint32_t level = 0; level < set->level_count; ++level) {
        uint64_t* word = &set->levels[level][number / 64];
        *word &= ~((uint64_t)1 << (number % 64));
        if (*word != 0) {
            return;
        }
        number /= 64;
    }
}

/* Goes down from a bit of a level to the number at the lowest or the highest end below it. */
static uint32_t descend(const struct maar_plan_rank_set* set, uint32_t level, uint32_t bit,
                        bool highest)
{
    while (level > 0) {
        const uint64_t word = set->levels[--level][bit];
        bit = bit * 64 + (highest ? maar_top_bit(word) : maar_low_bit(word));
    }
    return bit;
}

uint32_t maar_plan_rank_set_next(const struct maar_plan_rank_set* set, uint32_t from)
{
    if (from >= set->bound) {
        return UINT32_MAX;
    }
    uint32_t words = (uint32_t)maar_plan_words(set->bound);
    for (uint32_t level = 0; level < set->level_count; ++level) {
        const uint64_t rest = set->levels[level][from / 64] >> (from % 64);
        if (rest != 0) {
            return descend(set, level, from + maar_low_bit(rest), false);
        }
        from = from / 64 + 1;
        if (from >= words) {
            return UINT32_MAX;
        }
        words = (uint32_t)maar_plan_words(words);
    }
    return UINT32_MAX;
}

uint32_t maar_plan_rank_set_before(const struct maar_plan_rank_set* set, uint32_t end)
{
    end = end < set->bound ? end : set->bound;
    for (uint32_t level = 0; level < set->level_count && end > 0; ++level) {
        const uint64_t word = set->levels[level][(end - 1) / 64] << (63 - (end - 1) % 64);
        if (word != 0) {
            return descend(set, level, end - 1 - (63 - maar_top_bit(word)), true);
        }
        end = (end - 1) / 64;
    }
    return UINT32_MAX;
}
