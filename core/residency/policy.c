/*
 * The policy: see policy.h.
 */
#include "core/residency/policy.h"

#include "core/check.h"
#include "core/host_memory.h"
#include "core/residency/policy_order.h"
#include "core/residency/policy_sample.h"
#include "core/residency/use_log.h"

enum {
    /* The log has so many uses for each object, up to its limit. */
    USES_AN_OBJECT = 16,
    LOG_LIMIT = 1 << 20,
    /* The heap is dropped after so many uses of each object without a victim. */
    IDLE_ROUNDS = 4,
    /* Objects near a dirty victim that are looked at, and the part of its distance that they may be
     * nearer: one of NEARER. */
    NEIGHBOURS = 8,
    NEARER = 16
};

/* How much more than the newest use replay may have paid to be used while the device is busy. It
 * learns first: after ten rounds of layers in a circle it is 6 % behind (bench_stalls). */
static const double busy_part = 1.1;

struct maar_policy {
    const VkAllocationCallbacks* callbacks;
    struct maar_policy_object* objects;
    uint32_t object_capacity;
    uint32_t object_count; /* with those that are free */
    uint32_t first_free;
    uint32_t heap_capacities[2];
    uint64_t log_limit;
    uint64_t submission;
    uint64_t last_victim_at;
    bool is_busy;          /* the newest uses have not ended */
    uint32_t round;        /* of hints */
    uint32_t hinted_round; /* the last one with a hint */
    struct maar_use_log log;
    struct maar_policy_order
        orders[2]; /* the second one of objects whose next use the program has announced */
    struct maar_policy_sample sample;
};

struct maar_policy* maar_policy_create(const struct maar_policy_info* info)
{
    struct maar_policy* policy = maar_host_calloc(info->callbacks, 1, sizeof *policy);
    if (policy == NULL) {
        return NULL;
    }
    policy->callbacks = info->callbacks;
    policy->first_free = MAAR_NO_OBJECT;
    policy->log_limit = info->log_limit != 0 ? info->log_limit : LOG_LIMIT;
    policy->sample.capacity = info->capacity;
    maar_order_init(&policy->orders[0]);
    maar_order_init(&policy->orders[1]);
    if (!maar_use_log_reserve(&policy->log, policy->callbacks, 1)) {
        maar_host_free(info->callbacks, policy);
        return NULL;
    }
    return policy;
}

void maar_policy_destroy(struct maar_policy* policy)
{
    if (policy == NULL) {
        return;
    }
    const VkAllocationCallbacks* callbacks = policy->callbacks;
    maar_use_log_close(&policy->log, callbacks);
    maar_host_free(callbacks, policy->objects);
    maar_host_free(callbacks, policy->orders[0].heap);
    maar_host_free(callbacks, policy->orders[1].heap);
    maar_host_free(callbacks, policy);
}

void maar_policy_set_capacity(struct maar_policy* policy, VkDeviceSize capacity)
{
    policy->sample.capacity = capacity;
}

/* ---- objects ---- */

static struct maar_policy_object* object_at(const struct maar_policy* policy, uint32_t object)
{
    MAAR_DEBUG_ASSERT(object < policy->object_count && policy->objects[object].exists);
    return &policy->objects[object];
}

/* Ensures that an object can be added. */
static bool reserve_object(struct maar_policy* policy)
{
    if (policy->first_free != MAAR_NO_OBJECT) {
        return true;
    }
    const uint32_t needed = policy->object_count + 1;
    uint64_t uses = (uint64_t)needed * USES_AN_OBJECT;
    uses = uses < policy->log_limit ? uses : policy->log_limit;
    struct maar_policy_object* objects =
        maar_host_grow(policy->callbacks, policy->objects, &policy->object_capacity, needed,
                       sizeof policy->objects[0]);
    if (objects == NULL) {
        return false;
    }
    policy->objects = objects;
    policy->orders[0].objects = objects;
    policy->orders[1].objects = objects;
    for (uint32_t i = 0; i < 2; ++i) {
        struct maar_policy_order* order = &policy->orders[i];
        uint32_t* heap = maar_host_grow(policy->callbacks, order->heap, &policy->heap_capacities[i],
                                        needed, sizeof order->heap[0]);
        if (heap == NULL) {
            return false;
        }
        order->heap = heap;
    }
    return maar_use_log_reserve(&policy->log, policy->callbacks, uses);
}

/* Sets the places of all objects in the sample. */
static void place_samples(struct maar_policy* policy)
{
    for (uint32_t i = 0; i < policy->object_count; ++i) {
        policy->objects[i].sample_at = UINT32_MAX;
    }
    for (uint32_t at = 0; at < policy->sample.count; ++at) {
        policy->objects[policy->sample.items[at].object].sample_at = at;
    }
}

uint32_t maar_policy_add(struct maar_policy* policy, VkDeviceSize size, uint32_t class)
{
    MAAR_DEBUG_ASSERT(class < MAAR_POLICY_CLASSES);
    if (policy->object_count == MAAR_NO_OBJECT || !reserve_object(policy)) {
        return MAAR_NO_OBJECT;
    }
    uint32_t object = policy->first_free;
    if (object != MAAR_NO_OBJECT) {
        policy->first_free = policy->objects[object].newer;
    } else {
        object = policy->object_count++;
    }
    policy->objects[object] = (struct maar_policy_object){
        .last = MAAR_NEVER_USED,
        .size = size,
        .older = MAAR_NO_OBJECT,
        .newer = MAAR_NO_OBJECT,
        .heap_at = MAAR_NO_OBJECT,
        .class = (uint8_t) class,
        .exists = true,
    };
    bool has_shrunk = false;
    policy->objects[object].sample_at = maar_sample_add(&policy->sample, object, size, &has_shrunk);
    if (has_shrunk) {
        place_samples(policy);
    }
    return object;
}

/* Whether an object is in order, so that it may be a victim. */
static bool is_in_order(const struct maar_policy_object* object)
{
    return object->is_resident && object->pin_count == 0;
}

bool maar_policy_is_candidate(const struct maar_policy* policy, uint32_t object)
{
    return is_in_order(object_at(policy, object));
}

static struct maar_policy_order* order_of(struct maar_policy* policy,
                                          const struct maar_policy_object* object)
{
    return &policy->orders[object->is_announced ? 1 : 0];
}

void maar_policy_resize(struct maar_policy* policy, uint32_t object, VkDeviceSize size)
{
    struct maar_policy_object* resized = &policy->objects[object];
    maar_sample_resize(&policy->sample, resized->sample_at, resized->size, size);
    resized->size = size;
}

void maar_policy_remove(struct maar_policy* policy, uint32_t object)
{
    struct maar_policy_object* removed = object_at(policy, object);
    if (is_in_order(removed)) {
        maar_order_remove(order_of(policy, &policy->objects[object]), object);
    }
    const uint32_t moved = maar_sample_remove(&policy->sample, removed->sample_at, removed->size);
    if (moved != UINT32_MAX) {
        policy->objects[moved].sample_at = removed->sample_at;
    }
    *removed = (struct maar_policy_object){.newer = policy->first_free};
    policy->first_free = object;
}

void maar_policy_pin(struct maar_policy* policy, uint32_t object)
{
    struct maar_policy_object* pinned = object_at(policy, object);
    if (is_in_order(pinned)) {
        maar_order_remove(order_of(policy, &policy->objects[object]), object);
    }
    ++pinned->pin_count;
}

void maar_policy_unpin(struct maar_policy* policy, uint32_t object)
{
    struct maar_policy_object* pinned = object_at(policy, object);
    MAAR_DEBUG_ASSERT(pinned->pin_count > 0);
    --pinned->pin_count;
    if (is_in_order(pinned)) {
        maar_order_add(order_of(policy, &policy->objects[object]), object);
    }
}

void maar_policy_put_back(struct maar_policy* policy, uint32_t object)
{
    struct maar_policy_object* kept = object_at(policy, object);
    MAAR_DEBUG_ASSERT(kept->pin_count > 0);
    --kept->pin_count;
    if (is_in_order(kept)) {
        struct maar_policy_order* order = order_of(policy, kept);
        if (policy->sample.best == MAAR_POLICY_NEWEST) {
            maar_order_add(order, object);
        } else {
            maar_order_add_oldest(order, object);
        }
    }
}

void maar_policy_set_resident(struct maar_policy* policy, uint32_t object, bool is_resident)
{
    struct maar_policy_object* changed = object_at(policy, object);
    const bool was_in_order = is_in_order(changed);
    changed->is_resident = is_resident;
    if (was_in_order && !is_resident) {
        maar_order_remove(order_of(policy, &policy->objects[object]), object);
    } else if (!was_in_order && is_in_order(changed)) {
        maar_order_add(order_of(policy, &policy->objects[object]), object);
    }
}

void maar_policy_set_dirty(struct maar_policy* policy, uint32_t object, bool is_dirty)
{
    object_at(policy, object)->is_dirty = is_dirty;
}

/* ---- uses ---- */

void maar_policy_expect(struct maar_policy* policy, uint32_t object, uint64_t uses)
{
    struct maar_policy_object* announced = object_at(policy, object);
    const uint64_t now = policy->log.now;
    if (is_in_order(announced)) {
        maar_order_remove(order_of(policy, announced), object);
    }
    announced->expected = uses < UINT64_MAX - now ? now + uses : UINT64_MAX;
    announced->is_announced = true;
    announced->round = policy->round;
    policy->hinted_round = uses != UINT64_MAX ? policy->round : policy->hinted_round;
    if (is_in_order(announced)) {
        maar_order_add(order_of(policy, announced), object);
    }
}

void maar_policy_end_hints(struct maar_policy* policy)
{
    ++policy->round;
}

/* Whether the program has named others since it has named an object. */
static bool is_superseded(const struct maar_policy* policy, const struct maar_policy_object* object)
{
    return object->is_announced && object->round != policy->hinted_round &&
           object->expected != UINT64_MAX;
}

/* Notes a use. An object that is new to the log is expected at once: its age decides. */
static void note_object_use(struct maar_policy* policy, uint32_t object)
{
    struct maar_policy_object* used = object_at(policy, object);
    const uint64_t now = policy->log.now;
    const uint64_t expected = now + maar_use_log_add(&policy->log, object, used->last);
    if (is_in_order(used)) {
        maar_order_remove(order_of(policy, used), object);
    }
    used->last = now;
    used->expected = expected;
    used->is_announced = false;
    if (used->sample_at != UINT32_MAX) {
        maar_sample_use(&policy->sample, used->sample_at, now, expected);
    }
    if (is_in_order(used)) { /* the newest of its class */
        maar_order_add(order_of(policy, used), object);
    }
}

void maar_policy_use(struct maar_policy* policy, uint32_t count, const uint32_t* objects)
{
    if (count == 0) {
        return;
    }
    const uint64_t begin = policy->log.now;
    ++policy->submission;
    for (uint32_t i = 0; i < count; ++i) {
        const struct maar_policy_object* used = object_at(policy, objects[i]);
        if (used->sample_at != UINT32_MAX) {
            maar_sample_mark(&policy->sample, used->sample_at, policy->submission);
        }
    }
    maar_use_log_begin(&policy->log, objects[0]);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t last = object_at(policy, objects[i])->last;
        if (last == MAAR_NEVER_USED || last < begin) {
            note_object_use(policy, objects[i]);
        }
    }
    const uint64_t idle = policy->log.now - policy->last_victim_at;
    for (uint32_t i = 0; i < 2 && idle / IDLE_ROUNDS > policy->object_count; ++i) {
        maar_order_drop_heap(&policy->orders[i]);
    }
}

/* ---- victims ---- */

/* Returns after how many uses an object is used next: what the program or the log says, or else as
 * many as it has not been used. */
static uint64_t distance_of(const struct maar_policy* policy, uint32_t object)
{
    const struct maar_policy_object* known = &policy->objects[object];
    const uint64_t now = policy->log.now;
    const uint64_t age = known->last != MAAR_NEVER_USED ? now - known->last : now;
    return known->expected > now && !is_superseded(policy, known) ? known->expected - now : age;
}

uint64_t maar_policy_distance(const struct maar_policy* policy, uint32_t object)
{
    return distance_of(policy, object);
}

bool maar_policy_is_expected(const struct maar_policy* policy, uint32_t object)
{
    const struct maar_policy_object* known = object_at(policy, object);
    return known->expected > policy->log.now && !is_superseded(policy, known);
}

/* Returns the victim of the best rule among the objects of an order. There is one. */
static uint32_t victim_by_rule(struct maar_policy* policy, struct maar_policy_order* order,
                               uint32_t class, enum maar_policy_rule rule)
{
    switch (rule) {
    case MAAR_POLICY_OLDEST:
        return order->oldest[class];
    case MAAR_POLICY_NEWEST:
        return order->newest[class];
    default:
        return maar_order_latest(order, policy->log.now);
    }
}

/* Returns an object that is not dirty, and is not needed much earlier than a victim that is. */
static uint32_t prefer_clean(struct maar_policy* policy, enum maar_policy_rule rule,
                             uint32_t victim)
{
    const struct maar_policy_object* dirty = &policy->objects[victim];
    const struct maar_policy_order* order = order_of(policy, dirty);
    const uint64_t distance = distance_of(policy, victim);
    const uint64_t least = distance - distance / NEARER;
    uint32_t at = victim;
    if (!dirty->is_dirty) {
        return victim;
    }
    if (rule == MAAR_POLICY_REPLAY && order->heap[0] == victim) {
        const uint32_t clean = maar_order_clean(order, policy->log.now + least);
        return clean != MAAR_NO_OBJECT ? clean : victim;
    }
    for (uint32_t i = 0; i < NEIGHBOURS; ++i) {
        at = rule == MAAR_POLICY_NEWEST ? order->objects[at].older : order->objects[at].newer;
        if (at == MAAR_NO_OBJECT) {
            break;
        }
        if (!order->objects[at].is_dirty && distance_of(policy, at) >= least) {
            return at;
        }
    }
    return victim;
}

/* Returns the rule by which objects go of whose next use the program has said nothing. What the
 * newest use has cannot leave before the device has ended it. So while the device is busy, this
 * rule must be clearly better than replay. */
static enum maar_policy_rule present_rule(const struct maar_policy* policy)
{
    const double* paid = policy->sample.paid;
    const bool is_close = paid[MAAR_POLICY_REPLAY] <= paid[MAAR_POLICY_NEWEST] * busy_part;
    return policy->is_busy && policy->sample.best == MAAR_POLICY_NEWEST && is_close
               ? MAAR_POLICY_REPLAY
               : policy->sample.best;
}

void maar_policy_set_busy(struct maar_policy* policy, bool is_busy)
{
    policy->is_busy = is_busy;
}

uint32_t maar_policy_victim(struct maar_policy* policy)
{
    uint32_t best = MAAR_NO_OBJECT;
    enum maar_policy_rule best_rule = MAAR_POLICY_REPLAY;
    uint32_t lowest = MAAR_POLICY_CLASSES;
    policy->last_victim_at = policy->log.now;
    for (uint32_t i = 0; i < 2; ++i) {
        struct maar_policy_order* order = &policy->orders[i];
        const enum maar_policy_rule rule = i == 0 ? present_rule(policy) : MAAR_POLICY_REPLAY;
        const uint32_t class = maar_order_lowest_class(order);
        if (class > lowest || class == MAAR_POLICY_CLASSES) {
            continue;
        }
        /* The list of what was announced is in the order of the hints. */
        const bool is_old = i == 1 && is_superseded(policy, &order->objects[order->oldest[class]]);
        const uint32_t victim =
            is_old ? order->oldest[class] : victim_by_rule(policy, order, class, rule);
        if (class < lowest || distance_of(policy, victim) > distance_of(policy, best)) {
            lowest = class;
            best = victim;
            best_rule = rule;
        }
    }
    return best != MAAR_NO_OBJECT ? prefer_clean(policy, best_rule, best) : best;
}

const char* maar_policy_check(const struct maar_policy* policy)
{
    uint32_t in_order = 0;
    uint32_t sampled = 0;
    for (uint32_t i = 0; i < policy->object_count; ++i) {
        const struct maar_policy_object* object = &policy->objects[i];
        in_order += object->exists && is_in_order(object) ? 1 : 0;
        if (object->exists && object->sample_at != UINT32_MAX) {
            ++sampled;
            if (policy->sample.items[object->sample_at].object != i) {
                return "an object does not know its place in the sample";
            }
        }
    }
    if (sampled != policy->sample.count) {
        return "the sample has an object that does not know it";
    }
    if (in_order != policy->orders[0].count + policy->orders[1].count) {
        return "the orders have not the objects that may be evicted";
    }
    const char* broken = maar_order_check(&policy->orders[0], policy->object_count);
    return broken != NULL ? broken : maar_order_check(&policy->orders[1], policy->object_count);
}
