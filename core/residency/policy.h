/*
 * The policy: which of the objects that are in memory is to make room. It knows no device and moves
 * nothing: whoever keeps objects says what there is, what each submission uses and what is in
 * memory, and asks for victims.
 *
 * Three rules compete: replay (use_log.h), the oldest use and the newest use. No rule of recency
 * serves all programs, and no prediction serves those that do not repeat themselves. A sample of
 * the objects shows which rule restores the fewest bytes at present (policy_sample.h).
 *
 * A victim is of the lowest priority class that has one. What the program has said about an
 * object's next use is above all predictions, until that use.
 *
 * Not synchronized. Only create and add allocate host memory.
 */
#ifndef MAAR_CORE_RESIDENCY_POLICY_H
#define MAAR_CORE_RESIDENCY_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#define MAAR_NO_OBJECT UINT32_MAX

struct maar_policy;

struct maar_policy_info {
    const VkAllocationCallbacks* callbacks; /* may be NULL */
    VkDeviceSize capacity;                  /* of the memory, bytes */
    uint32_t log_limit; /* most uses to be remembered, of 8 bytes each and more; 0: 2^20 */
};

/* Returns NULL if there is no host memory. */
struct maar_policy* maar_policy_create(const struct maar_policy_info* info);
void maar_policy_destroy(struct maar_policy* policy);
void maar_policy_set_capacity(struct maar_policy* policy, VkDeviceSize capacity);

/* Adds an object that is not in memory. class: 0 to 7, the lowest is evicted first. Returns
 * MAAR_NO_OBJECT, and changes nothing, if there is no host memory. */
uint32_t maar_policy_add(struct maar_policy* policy, VkDeviceSize size, uint32_t class);
void maar_policy_remove(struct maar_policy* policy, uint32_t object);
/* Gives an object another size. */
void maar_policy_resize(struct maar_policy* policy, uint32_t object, VkDeviceSize size);

/* Notes that a submission uses objects, in this order; what is named twice counts once. Constant
 * time for each, but that the few objects of the sample cost some microseconds where they do not
 * fit. */
void maar_policy_use(struct maar_policy* policy, uint32_t count, const uint32_t* objects);
/* Says when an object is used next: after so many uses of others. UINT64_MAX: never. */
void maar_policy_expect(struct maar_policy* policy, uint32_t object, uint64_t uses);
/* Ends a round of hints. When a further round has one, what only earlier rounds have named is as if
 * the program had said nothing: it has looked again, and named others. */
void maar_policy_end_hints(struct maar_policy* policy);
/* A pinned object is no victim. Pins are counted. */
void maar_policy_pin(struct maar_policy* policy, uint32_t object);
void maar_policy_unpin(struct maar_policy* policy, uint32_t object);
/* Does the same for an object that was a victim and stays: it keeps its place in the order. */
void maar_policy_put_back(struct maar_policy* policy, uint32_t object);
/* Returns whether an object may be a victim: it is in memory and not pinned. */
bool maar_policy_is_candidate(const struct maar_policy* policy, uint32_t object);
/* Whether an object is in memory, and whether to evict it means to write. */
void maar_policy_set_resident(struct maar_policy* policy, uint32_t object, bool is_resident);
void maar_policy_set_dirty(struct maar_policy* policy, uint32_t object, bool is_dirty);

/* Whether the newest uses have not ended: what they have is free only when they have. */
void maar_policy_set_busy(struct maar_policy* policy, bool is_busy);

/* Returns after how many uses of others an object is used next, as far as it is known. */
uint64_t maar_policy_distance(const struct maar_policy* policy, uint32_t object);
/* Returns whether that is more than a guess by the time since its last use. */
bool maar_policy_is_expected(const struct maar_policy* policy, uint32_t object);
/* Returns what to evict next, or MAAR_NO_OBJECT if all is pinned. It stays in memory until that is
 * said. Of objects whose next use is nearly the same, one that is not dirty. Logarithmic time, but
 * for the first call after many submissions without one. */
uint32_t maar_policy_victim(struct maar_policy* policy);

/* Returns the first broken invariant, or NULL. */
const char* maar_policy_check(const struct maar_policy* policy);

#endif
