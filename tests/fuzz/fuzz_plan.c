/*
 * The planner. The bytes draw an input that it must take, limits, a capacity and an earlier plan;
 * what it says is checked by definitions, and, when few resources are drawn, against the peak that
 * trying everything finds. Or they draw an input that is wrong in some way, which must be refused
 * or planned right.
 */
#include "tests/fuzz/fuzz_input.h"
#include "tests/plan/plan_brute.h"
#include "tests/plan/plan_checker.h"
#include "tests/plan/plan_made.h"

enum {
    PLAN_SMALL = 6,
    PLAN_STEPS = 20000,
    /* Beyond so many resources the second stage takes its three million steps, a tenth of a second
     * with sanitizers, and one input in 32 goes through it. */
    PLAN_QUICK = 12
};

static uint64_t draw_bytes(void* context, uint64_t limit)
{
    return fuzz_below(context, limit);
}

static void VKAPI_PTR take_message(void* user_data, const MaarMessage* report)
{
    fuzz_require(report->pText != NULL && report->pText[0] != '\0');
    *(bool*)user_data = true;
}

/* Checks a plan; the caller releases the answer. */
static void require_right(const MaarPlanCreateInfo* info, MaarPlan plan, struct plan_answer* answer)
{
    char reason[256] = "";
    fuzz_require(plan_answer_read(plan, answer));
    const bool good = plan_check(info, answer, reason, sizeof(reason));
    if (!good) {
        (void)fprintf(stderr, "%s\n", reason);
    }
    fuzz_require(good);
}

/* A proved peak, or an answer to the capacity, agrees with the least one. */
static void require_least(const MaarPlanCreateInfo* info, const struct plan_answer* answer)
{
    struct plan_world world;
    uint64_t sum = 0;
    plan_world_open(&world, info);
    for (uint32_t i = 0; i < answer->class_count && sum != UINT64_MAX; ++i) {
        uint32_t members[PLAN_BRUTE_MAX];
        uint32_t count = 0;
        for (uint32_t j = 0; j < answer->placement_count; ++j) {
            if (answer->placements[j].classIndex == i) {
                members[count++] = j;
            }
        }
        const uint64_t size = plan_brute_size(&world, members, count, PLAN_STEPS);
        sum = size == UINT64_MAX ? size : sum + size;
    }
    plan_world_close(&world);
    if (sum == UINT64_MAX) {
        return;
    }
    fuzz_require(answer->info.peakSize >= sum && answer->info.provedBound <= sum);
    fuzz_require(answer->info.fit != MAAR_PLAN_FIT_NO || sum > info->capacity);
}

static void require_same_plans(const struct plan_answer* one, const struct plan_answer* other)
{
    fuzz_require(one->placement_count == other->placement_count);
    fuzz_require(one->edge_count == other->edge_count);
    for (uint32_t i = 0; i < one->placement_count; ++i) {
        fuzz_require(one->placements[i].offset == other->placements[i].offset);
        fuzz_require(one->placements[i].classIndex == other->placements[i].classIndex);
    }
}

/* The same once more: from scratch, or out of the cache. */
static void plan_again(const MaarPlanCreateInfo* info, const struct plan_answer* first)
{
    struct plan_answer second;
    MaarPlan plan = VK_NULL_HANDLE;
    fuzz_require(maarCreatePlan(info, &plan) == VK_SUCCESS);
    require_right(info, plan, &second);
    require_same_plans(first, &second);
    fuzz_require(second.info.cached == (info->cache != VK_NULL_HANDLE ? VK_TRUE : VK_FALSE));
    plan_answer_release(&second);
    maarDestroyPlan(plan);
}

/* Other lifetimes and sizes for some of the resources, with the old plan as the previous one. */
static void plan_changed(struct fuzz_input* input, struct plan_made* made, MaarPlan previous)
{
    struct plan_answer answer;
    MaarPlan plan = VK_NULL_HANDLE;
    made->info.previous = previous;
    for (uint32_t i = 0; i < made->info.resourceCount && !fuzz_is_dry(input); ++i) {
        if (fuzz_below(input, 4) == 0) {
            made->resources[i].size = 1 + fuzz_below(input, 64);
        }
    }
    const VkResult result = maarCreatePlan(&made->info, &plan);
    if (result == VK_SUCCESS) {
        require_right(&made->info, plan, &answer);
        plan_answer_release(&answer);
    } else {
        /* A fixed one has grown into another. */
        fuzz_require(result == VK_ERROR_VALIDATION_FAILED_EXT);
    }
    maarDestroyPlan(plan);
}

/* One input in 32, by all the bytes that are left: what a number in it decided, the fuzzer would
 * soon decide for nearly all of them. */
static bool is_chosen(const struct fuzz_input* input)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < input->left; ++i) {
        hash = (hash ^ input->at[i]) * 16777619u;
    }
    return hash >> 27 == 0;
}

static MaarPlanCreateFlags draw_flags(struct fuzz_input* input, uint32_t resource_count)
{
    const uint64_t drawn = fuzz_below(input, 64);
    const bool fewer = resource_count <= PLAN_QUICK ? drawn % 4 == 0 : is_chosen(input);
    return (fewer ? 0 : (MaarPlanCreateFlags)MAAR_PLAN_CREATE_KEEP_EDGES_BIT) |
           (drawn < 16 ? (MaarPlanCreateFlags)MAAR_PLAN_CREATE_GREEDY_BIT : 0);
}

/* One byte says whether there is a capacity. Most are about as large as plans are, some lie just
 * below the powers of two from 2^22 to 2^64. */
static uint64_t draw_capacity(struct fuzz_input* input)
{
    const uint8_t way = fuzz_byte(input);
    const uint64_t number = (way & 1) != 0 ? fuzz_below(input, 400) : 0;
    const bool large = (way & 1) != 0 && way >= 0xF0;
    return large ? (UINT64_MAX >> 6 * (way >> 1 & 7)) - number : number;
}

static void plan_valid(struct fuzz_input* input, struct plan_made* made, MaarPlanCache cache)
{
    struct plan_answer answer;
    MaarPlan plan = VK_NULL_HANDLE;
    const struct plan_source source = {draw_bytes, input};
    const bool small = fuzz_below(input, 2) != 0;
    plan_made_fill(made, &source, small ? PLAN_SMALL : PLAN_MADE_MAX_RESOURCES);
    made->info.flags = draw_flags(input, made->info.resourceCount);
    made->info.nodeLimit = small ? 0 : 1 + fuzz_below(input, 1000);
    made->info.capacity = draw_capacity(input);
    made->info.cache = fuzz_below(input, 2) != 0 ? cache : VK_NULL_HANDLE;
    fuzz_require(maarCreatePlan(&made->info, &plan) == VK_SUCCESS);
    require_right(&made->info, plan, &answer);
    if (small) {
        require_least(&made->info, &answer);
    }
    plan_again(&made->info, &answer);
    plan_answer_release(&answer);
    plan_changed(input, made, plan);
    maarDestroyPlan(plan);
}

/* Puts a number that may make no sense somewhere into the input. */
static void spoil(struct fuzz_input* input, struct plan_made* made)
{
    MaarPlanCreateInfo* const info = &made->info;
    MaarPlanResource* const resource = &made->resources[fuzz_below(input, PLAN_MADE_MAX_RESOURCES)];
    const uint64_t number = fuzz_scaled(input, 64);
    switch (fuzz_below(input, 14)) {
    case 0:
        resource->size = number;
        break;
    case 1:
        resource->alignment = number;
        break;
    case 2:
        resource->fixedOffset = number;
        break;
    case 3:
        resource->flags = (MaarPlanResourceFlags)number;
        break;
    case 4:
        resource->firstPass = (uint32_t)number;
        break;
    case 5:
        resource->lastPass = (uint32_t)number;
        break;
    case 6:
        made->uses[fuzz_below(input, PLAN_MADE_MAX_RESOURCES)][0] = (uint32_t)number;
        break;
    case 7:
        info->granularity = number;
        break;
    case 8:
        info->flags = (MaarPlanCreateFlags)number;
        break;
    case 9:
        made->dependencies[fuzz_below(input, PLAN_MADE_MAX_DEPENDENCIES)].before = (uint32_t)number;
        break;
    case 10:
        made->dependencies[fuzz_below(input, PLAN_MADE_MAX_DEPENDENCIES)].after = (uint32_t)number;
        break;
    case 11:
        info->previousIndexCount = (uint32_t)number;
        break;
    case 12:
        resource->kind = (MaarResourceKind)(number & 7u);
        break;
    default:
        resource->memoryTypeBits = (uint32_t)number;
        break;
    }
}

/* Whether the checker can take it: it counts passes. */
static bool is_checkable(const struct plan_made* made)
{
    for (uint32_t i = 0; i < made->info.resourceCount; ++i) {
        if (made->resources[i].useCount == 0 && made->resources[i].lastPass > 1000) {
            return false;
        }
        for (uint32_t j = 0; j < made->resources[i].useCount; ++j) {
            if (made->uses[i][j] > 1000) {
                return false;
            }
        }
    }
    return true;
}

static void plan_spoilt(struct fuzz_input* input, struct plan_made* made)
{
    bool reported = false;
    MaarPlan plan = VK_NULL_HANDLE;
    const struct plan_source source = {draw_bytes, input};
    plan_made_fill(made, &source, PLAN_MADE_MAX_RESOURCES);
    made->info.flags = MAAR_PLAN_CREATE_KEEP_EDGES_BIT;
    for (uint64_t count = 1 + fuzz_below(input, 4); count != 0; --count) {
        spoil(input, made);
    }
    made->info.nodeLimit = 1000;
    made->info.pfnMessage = take_message;
    made->info.pMessageUserData = &reported;
    const VkResult result = maarCreatePlan(&made->info, &plan);
    fuzz_require(result == VK_SUCCESS || result == VK_ERROR_VALIDATION_FAILED_EXT ||
                 result == VK_ERROR_OUT_OF_HOST_MEMORY);
    fuzz_require(reported == (result == VK_ERROR_VALIDATION_FAILED_EXT));
    fuzz_require((plan != VK_NULL_HANDLE) == (result == VK_SUCCESS));
    if (result == VK_SUCCESS && is_checkable(made)) {
        struct plan_answer answer;
        require_right(&made->info, plan, &answer);
        plan_answer_release(&answer);
    }
    maarDestroyPlan(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct plan_made made;
    struct fuzz_input input = {data, size};
    const MaarPlanCacheCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
                                          .maxPlanCount = 2};
    MaarPlanCache cache = VK_NULL_HANDLE;
    fuzz_require(maarCreatePlanCache(&info, &cache) == VK_SUCCESS);
    if (fuzz_below(&input, 4) != 0) {
        plan_valid(&input, &made, cache);
    } else {
        plan_spoilt(&input, &made);
    }
    maarDestroyPlanCache(cache);
    return 0;
}
