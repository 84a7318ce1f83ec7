/*
 * Budgets: how much of a heap the system lets this process use now.
 *
 * A budget above its heap's size is a mistake of the driver, for example an unsigned number that
 * wrapped around. A budget of 0 is a mistake too, unless another heap has a valid budget above 0:
 * then other processes have filled the heap. For a mistaken budget Maar assumes four fifths of the
 * heap, as it does without VK_EXT_memory_budget.
 */
#include "core/memory/budget.h"

#include "core/memory/allocator_state.h"

/* The share of a heap that Maar assumes as the budget when the driver gives none: 4/5. VMA assumes
 * the same share, so a program that changes from VMA to Maar has the same limit. */
enum { FALLBACK_NUMERATOR = 4, FALLBACK_DENOMINATOR = 5 };

VkDeviceSize maar_budget_assumed(VkDeviceSize size)
{
    return size / FALLBACK_DENOMINATOR * FALLBACK_NUMERATOR;
}

static bool is_answer(const VkPhysicalDeviceMemoryBudgetPropertiesEXT* answer,
                      const VkPhysicalDeviceMemoryProperties* memory, uint32_t heap)
{
    bool any = false;
    for (uint32_t i = 0; i < memory->memoryHeapCount; ++i) {
        const VkDeviceSize budget = answer->heapBudget[i];
        any = any || (budget != 0 && budget <= memory->memoryHeaps[i].size);
    }
    return any && answer->heapBudget[heap] <= memory->memoryHeaps[heap].size;
}

/* Returns the budget of a heap: the driver's budget if it is valid, else the assumed share. answer:
 * NULL if the driver has no budgets. own: the bytes that this allocator held just before it queried
 * the driver. */
static struct maar_budget judge(MaarAllocator allocator, uint32_t heap, VkDeviceSize own,
                                const VkPhysicalDeviceMemoryBudgetPropertiesEXT* answer)
{
    const VkMemoryHeap* entry = &allocator->device.facts.memory.memoryHeaps[heap];
    struct maar_heap_account* account = &allocator->heaps[heap];
    struct maar_budget budget = {
        .budget = maar_budget_assumed(entry->size),
        .usage = own,
        .from_driver = false,
    };
    if (answer != NULL && is_answer(answer, &allocator->device.facts.memory, heap)) {
        budget.budget = answer->heapBudget[heap];
        /* Some drivers count new memory late. The usage is at least the allocator's own bytes. */
        budget.usage = answer->heapUsage[heap] > own ? answer->heapUsage[heap] : own;
        budget.from_driver = true;
    }
    VkDeviceSize others = budget.usage - own;
    budget.cap = budget.budget > others ? budget.budget - others : 0;
    maar_atomic64_store(&account->known_budget, budget.budget);
    maar_atomic64_store(&account->known_usage, budget.usage);
    return budget;
}

uint32_t maar_budget_read_all(MaarAllocator allocator, struct maar_budget* budgets)
{
    const struct maar_device* device = &allocator->device;
    const uint32_t count = device->facts.memory.memoryHeapCount;
    VkPhysicalDeviceMemoryBudgetPropertiesEXT answer = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT,
    };
    VkDeviceSize own[VK_MAX_MEMORY_HEAPS];
    bool known = device->facts.memory_budget;
    for (uint32_t i = 0; i < count; ++i) {
        own[i] = maar_atomic64_load(&allocator->heaps[i].block_bytes);
    }
    if (known) {
        VkPhysicalDeviceMemoryProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
            .pNext = &answer,
        };
        maar_lock_rank_expect_none();
        device->vkGetPhysicalDeviceMemoryProperties2(device->physical, &properties);
    }
    for (uint32_t i = 0; i < count; ++i) {
        budgets[i] = judge(allocator, i, own[i], known ? &answer : NULL);
    }
    return count;
}

struct maar_budget maar_budget_read(MaarAllocator allocator, uint32_t heap)
{
    struct maar_budget budgets[VK_MAX_MEMORY_HEAPS];
    (void)maar_budget_read_all(allocator, budgets);
    return budgets[heap];
}

bool maar_budget_holds(const struct maar_budget* budget, VkDeviceSize size)
{
    return size <= budget->budget && budget->usage <= budget->budget - size;
}

bool maar_budget_admits(MaarAllocator allocator, uint32_t heap, VkDeviceSize size,
                        struct maar_budget_use* use, VkDeviceSize* cap)
{
    const struct maar_budget budget = maar_budget_read(allocator, heap);
    const bool within = maar_budget_holds(&budget, size);
    *cap = use->may_exceed ? UINT64_MAX : budget.cap;
    use->exceeded = !within && use->may_exceed;
    use->refused |= !within && !use->may_exceed;
    return within || use->may_exceed;
}

void maar_budget_note_release(MaarAllocator allocator, uint32_t heap, VkDeviceSize size)
{
    maar_atomic64* usage = &allocator->heaps[heap].known_usage;
    uint64_t known = maar_atomic64_load(usage);
    while (!maar_atomic64_replace(usage, &known, known > size ? known - size : 0)) {
    }
}

bool maar_budget_is_exceeded(MaarAllocator allocator, uint32_t heap)
{
    const struct maar_heap_account* account = &allocator->heaps[heap];
    uint64_t usage = maar_atomic64_load(&account->known_usage);
    uint64_t own = maar_atomic64_load(&account->block_bytes);
    return (usage > own ? usage : own) > maar_atomic64_load(&account->known_budget);
}

/* Returns what may be taken of a heap in whole blocks once `own` bytes of its blocks in use are
 * given back. An empty block is not in use: it serves a request, or is released for one. */
static VkDeviceSize available_bytes(struct maar_heap_account* account,
                                    const struct maar_budget* budget, VkDeviceSize own)
{
    const VkDeviceSize held = maar_atomic64_load(&account->block_bytes);
    const VkDeviceSize unused = own + maar_atomic64_load(&account->empty_bytes);
    const VkDeviceSize most =
        account->limit != 0 && account->limit < budget->cap ? account->limit : budget->cap;
    const VkDeviceSize used = held > unused ? held - unused : 0;
    return most > used ? most - used : 0;
}

VkDeviceSize maar_budget_share(MaarAllocator allocator, uint32_t heap, VkDeviceSize own)
{
    const struct maar_budget budget = maar_budget_read(allocator, heap);
    return available_bytes(&allocator->heaps[heap], &budget, own);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetHeapBudgets(MaarAllocator allocator, uint32_t* pCount,
                                                  MaarHeapBudget* pBudgets)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    const VkPhysicalDeviceMemoryProperties* memory = &allocator->device.facts.memory;
    if (pBudgets == NULL) {
        *pCount = memory->memoryHeapCount;
        return VK_SUCCESS;
    }
    uint32_t count = *pCount < memory->memoryHeapCount ? *pCount : memory->memoryHeapCount;
    for (uint32_t i = 0; i < count; ++i) {
        if (pBudgets[i].sType != MAAR_STRUCTURE_TYPE_HEAP_BUDGET) {
            return maar_misuse(allocator, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, __func__,
                               "an element of pBudgets has a wrong sType");
        }
    }
    struct maar_budget budgets[VK_MAX_MEMORY_HEAPS];
    const uint32_t heap_count = maar_budget_read_all(allocator, budgets);
    for (uint32_t i = 0; i < count && i < heap_count; ++i) {
        struct maar_heap_account* account = &allocator->heaps[i];
        pBudgets[i].heapIndex = i;
        pBudgets[i].size = memory->memoryHeaps[i].size;
        pBudgets[i].limit = account->limit;
        pBudgets[i].budget = budgets[i].budget;
        pBudgets[i].usage = budgets[i].usage;
        pBudgets[i].fromDriver = budgets[i].from_driver ? VK_TRUE : VK_FALSE;
        pBudgets[i].blockBytes = maar_atomic64_load(&account->block_bytes);
        pBudgets[i].blockCount = (uint32_t)maar_atomic64_load(&account->block_count);
        pBudgets[i].available = available_bytes(account, &budgets[i], 0);
    }
    *pCount = count;
    return count < memory->memoryHeapCount ? VK_INCOMPLETE : VK_SUCCESS;
}
