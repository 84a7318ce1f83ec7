/*
 * Steps: pools, allocations and the host's view of them.
 */
#include "tests/fault/fault_steps.h"

/* ---- pools ---- */

static VkResult run_pool(struct fault_context* c)
{
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .blockSize = MIB,
        .minBlockCount = 10,
        .strategy = c->strategy,
        .pName = "pool",
    };
    c->pool = (MaarPool)(uintptr_t)1;
    VkResult result = maarCreatePool(c->rig.allocator, &info, &c->pool);
    assert_true((result == VK_SUCCESS) == (c->pool != VK_NULL_HANDLE));
    return result;
}

static VkResult run_buddy_pool(struct fault_context* c)
{
    c->strategy = MAAR_PLACEMENT_STRATEGY_BUDDY;
    return run_pool(c);
}

static VkResult run_linear_pool(struct fault_context* c)
{
    c->strategy = MAAR_PLACEMENT_STRATEGY_LINEAR;
    return run_pool(c);
}

static void undo_pool(struct fault_context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
}

static void prepare_pool(struct fault_context* c)
{
    assert_int_equal(run_pool(c), VK_SUCCESS);
}

static VkResult run_destroy_pool(struct fault_context* c)
{
    maarDestroyPool(c->rig.allocator, c->pool);
    return VK_SUCCESS;
}

static VkResult run_pool_priority(struct fault_context* c)
{
    return maarSetPoolPriority(c->rig.allocator, c->pool, 0.9F);
}

static VkResult run_pool_name(struct fault_context* c)
{
    return maarSetPoolName(c->rig.allocator, c->pool, "renamed");
}

/* ---- plain memory ---- */

static VkResult allocate(struct fault_context* c, const MaarAllocationCreateInfo* how)
{
    MaarMemoryRequest request = rig_request(5000, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    c->memory = (MaarAllocation)(uintptr_t)1;
    VkResult result = maarAllocateMemory(c->rig.allocator, &request, how, &c->memory);
    assert_true((result == VK_SUCCESS) == (c->memory != VK_NULL_HANDLE));
    return result;
}

void fault_undo_memory(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->memory);
    c->memory = VK_NULL_HANDLE;
}

static VkResult run_plain(struct fault_context* c)
{
    return allocate(c, NULL);
}

static VkResult run_named(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "named";
    return allocate(c, &how);
}

static VkResult run_mapped(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    return allocate(c, &how);
}

static VkResult run_dedicated(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "dedicated";
    return allocate(c, &how);
}

static VkResult run_no_fallback(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT | MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    return allocate(c, &how);
}

/* A block exists, and nothing in it. */
static void prepare_empty_block(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, rig_allocate(&c->rig, 1000, NULL));
}

static void prepare_full_pool(struct fault_context* c)
{
    const MaarPoolCreateInfo info = {.blockSize = 8 * KIB};
    c->pool = rig_create_pool(&c->rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    c->many[0] = rig_allocate(&c->rig, 8 * KIB, &how);
}

static VkResult run_in_pool(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = c->pool;
    return allocate(c, &how);
}

static void finish_full_pool(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->many[0]);
    maarDestroyPool(c->rig.allocator, c->pool);
}

/* A full pool with something pending in it, behind a semaphore that has passed. */
static void prepare_pending_pool(struct fault_context* c)
{
    prepare_full_pool(c);
    c->timeline = rig_create_timeline(&c->rig, 1);
    const MaarPoint point = {c->timeline, 1};
    assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, c->many[0], 1, &point), VK_SUCCESS);
    c->many[0] = VK_NULL_HANDLE;
}

static void finish_pending_pool(struct fault_context* c)
{
    (void)maarCollect(c->rig.allocator, NULL);
    maarDestroyPool(c->rig.allocator, c->pool);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static void finish_gone_pool(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static VkResult run_many(struct fault_context* c)
{
    MaarMemoryRequest requests[FAULT_MANY];
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        requests[i] = rig_request((i + 1) * 3 * MIB, 16, UINT32_MAX, MAAR_RESOURCE_KIND_UNKNOWN);
        c->many[i] = (MaarAllocation)(uintptr_t)1;
    }
    VkResult result = maarAllocateMemories(c->rig.allocator, FAULT_MANY, requests, NULL, c->many);
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        assert_true((result == VK_SUCCESS) == (c->many[i] != VK_NULL_HANDLE));
    }
    return result;
}

static void undo_many(struct fault_context* c)
{
    maarFreeMemories(c->rig.allocator, FAULT_MANY, c->many);
}

static void prepare_many(struct fault_context* c)
{
    assert_int_equal(run_many(c), VK_SUCCESS);
}

static VkResult run_free_many(struct fault_context* c)
{
    undo_many(c);
    return VK_SUCCESS;
}

/* So many that tables and placement metadata grow. */
static VkResult run_crowd(struct fault_context* c)
{
    static MaarMemoryRequest requests[FAULT_CROWD];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pName = "one of a crowd";
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        requests[i] = rig_request(3000 + i * 300, 16, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        c->crowd[i] = (MaarAllocation)(uintptr_t)1;
    }
    VkResult result = maarAllocateMemories(c->rig.allocator, FAULT_CROWD, requests, &how, c->crowd);
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        assert_true((result == VK_SUCCESS) == (c->crowd[i] != VK_NULL_HANDLE));
    }
    return result;
}

static void undo_crowd(struct fault_context* c)
{
    maarFreeMemories(c->rig.allocator, FAULT_CROWD, c->crowd);
}

/* ---- of one allocation ---- */

void fault_prepare_memory(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT;
    how.minAlignment = 65536;
    how.pName = "prepared";
    c->memory = rig_allocate(&c->rig, MIB, &how);
}

static void prepare_dedicated(struct fault_context* c)
{
    assert_int_equal(run_dedicated(c), VK_SUCCESS);
}

static VkResult run_free(struct fault_context* c)
{
    fault_undo_memory(c);
    return VK_SUCCESS;
}

static VkResult run_rename(struct fault_context* c)
{
    VkResult result = maarSetAllocationName(c->rig.allocator, c->memory, "renamed");
    const char* name = rig_info(&c->rig, c->memory).pName;
    assert_string_equal(name, result == VK_SUCCESS ? "renamed" : "prepared");
    return result;
}

static VkResult run_user_data(struct fault_context* c)
{
    VkResult result = maarSetAllocationUserData(c->rig.allocator, c->memory, c);
    assert_ptr_equal(rig_info(&c->rig, c->memory).pUserData, c);
    return result;
}

static VkResult run_priority(struct fault_context* c)
{
    return maarSetAllocationPriority(c->rig.allocator, c->memory, 0.1F);
}

static VkResult run_info(struct fault_context* c)
{
    assert_int_equal(rig_info(&c->rig, c->memory).size, MIB);
    return VK_SUCCESS;
}

static VkResult run_find(struct fault_context* c)
{
    assert_true(maarFindAllocation(c->rig.allocator, (uint32_t)(uintptr_t)c->memory) == c->memory);
    return VK_SUCCESS;
}

static VkResult run_mapped_data(struct fault_context* c)
{
    assert_non_null(maarGetMappedData(c->rig.allocator, c->memory));
    return VK_SUCCESS;
}

/* ---- the host's view ---- */

static VkResult run_map(struct fault_context* c)
{
    void* data = c;
    VkResult result = maarMapMemory(c->rig.allocator, c->memory, &data);
    assert_true((result == VK_SUCCESS) == (data != NULL));
    assert_ptr_equal(rig_info(&c->rig, c->memory).pMappedData, data);
    return result;
}

static void undo_map(struct fault_context* c)
{
    maarUnmapMemory(c->rig.allocator, c->memory);
}

static VkResult run_unmap(struct fault_context* c)
{
    undo_map(c);
    assert_null(maarGetMappedData(c->rig.allocator, c->memory));
    return VK_SUCCESS;
}

static VkResult run_copy_to(struct fault_context* c)
{
    const char bytes[100] = {1};
    return maarCopyToAllocation(c->rig.allocator, c->memory, 1000, sizeof bytes, bytes);
}

static VkResult run_copy_from(struct fault_context* c)
{
    char bytes[100];
    return maarCopyFromAllocation(c->rig.allocator, c->memory, 1000, sizeof bytes, bytes);
}

static void prepare_mapped(struct fault_context* c)
{
    void* data = NULL;
    fault_prepare_memory(c);
    assert_int_equal(maarMapMemory(c->rig.allocator, c->memory, &data), VK_SUCCESS);
}

static VkResult run_flush(struct fault_context* c)
{
    return maarFlushAllocation(c->rig.allocator, c->memory, 0, VK_WHOLE_SIZE);
}

static VkResult run_invalidate(struct fault_context* c)
{
    return maarInvalidateAllocation(c->rig.allocator, c->memory, 0, VK_WHOLE_SIZE);
}

/* More ranges than one call of the driver takes. */
static void prepare_mapped_crowd(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        c->crowd[i] = rig_allocate(&c->rig, 500, &how);
    }
}

static VkResult run_flush_crowd(struct fault_context* c)
{
    return maarFlushAllocations(c->rig.allocator, FAULT_CROWD, c->crowd, NULL, NULL);
}

static VkResult run_invalidate_crowd(struct fault_context* c)
{
    return maarInvalidateAllocations(c->rig.allocator, FAULT_CROWD, c->crowd, NULL, NULL);
}

static const char only_reads[] = "reads what is kept";
static const char gives_back[] = "gives back; what the driver is asked for cannot fail";
static const char priority_cannot_fail[] = "vkSetDeviceMemoryPriorityEXT returns nothing";

static const struct fault_step steps[] = {
    {.function = "maarCreatePool", .run = run_pool, .undo = undo_pool},
    {.function = "maarCreatePool", .variant = "buddy", .run = run_buddy_pool, .undo = undo_pool},
    {.function = "maarCreatePool", .variant = "linear", .run = run_linear_pool, .undo = undo_pool},
    {.function = "maarDestroyPool",
     .variant = "pending",
     .prepare = prepare_pending_pool,
     .run = run_destroy_pool,
     .finish = finish_gone_pool},
    {.function = "maarSetPoolPriority",
     .never = priority_cannot_fail,
     .prepare = prepare_pool,
     .run = run_pool_priority,
     .finish = undo_pool},
    {.function = "maarSetPoolName",
     .prepare = prepare_pool,
     .run = run_pool_name,
     .finish = undo_pool},
    {.function = "maarAllocateMemory", .run = run_plain, .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "no budgets",
     .run = run_plain,
     .undo = fault_undo_memory,
     .off = RIG_OFF_BUDGET},
    {.function = "maarAllocateMemory",
     .variant = "named",
     .run = run_named,
     .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "empty block",
     .prepare = prepare_empty_block,
     .run = run_named,
     .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "mapped",
     .run = run_mapped,
     .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "dedicated",
     .run = run_dedicated,
     .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "no fallback",
     .run = run_no_fallback,
     .undo = fault_undo_memory},
    {.function = "maarAllocateMemory",
     .variant = "full pool",
     .prepare = prepare_full_pool,
     .run = run_in_pool,
     .undo = fault_undo_memory,
     .finish = finish_full_pool},
    {.function = "maarAllocateMemory",
     .variant = "pending pool",
     .prepare = prepare_pending_pool,
     .run = run_in_pool,
     .undo = fault_undo_memory,
     .finish = finish_pending_pool,
     .partial = true},
    {.function = "maarAllocateMemories", .run = run_many, .undo = undo_many},
    {.function = "maarAllocateMemories",
     .variant = "crowd",
     .run = run_crowd,
     .undo = undo_crowd,
     .session = true},
    {.function = "maarFreeMemory",
     .never = gives_back,
     .prepare = fault_prepare_memory,
     .run = run_free},
    {.function = "maarFreeMemories",
     .never = gives_back,
     .prepare = prepare_many,
     .run = run_free_many},
    {.function = "maarGetAllocationInfo",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_info,
     .finish = fault_undo_memory},
    {.function = "maarFindAllocation",
     .never = only_reads,
     .prepare = fault_prepare_memory,
     .run = run_find,
     .finish = fault_undo_memory},
    {.function = "maarGetMappedData",
     .never = only_reads,
     .prepare = prepare_mapped,
     .run = run_mapped_data,
     .finish = fault_undo_memory},
    {.function = "maarSetAllocationUserData",
     .never = "keeps a pointer",
     .prepare = fault_prepare_memory,
     .run = run_user_data,
     .finish = fault_undo_memory},
    {.function = "maarSetAllocationName",
     .prepare = fault_prepare_memory,
     .run = run_rename,
     .finish = fault_undo_memory},
    {.function = "maarSetAllocationPriority",
     .never = priority_cannot_fail,
     .prepare = prepare_dedicated,
     .run = run_priority,
     .finish = fault_undo_memory},
    {.function = "maarMapMemory",
     .prepare = fault_prepare_memory,
     .run = run_map,
     .undo = undo_map,
     .finish = fault_undo_memory},
    {.function = "maarUnmapMemory",
     .never = gives_back,
     .prepare = prepare_mapped,
     .run = run_unmap,
     .finish = fault_undo_memory},
    {.function = "maarCopyToAllocation",
     .prepare = fault_prepare_memory,
     .run = run_copy_to,
     .finish = fault_undo_memory,
     .maps = true,
     .profile = rig_profile_noncoherent},
    {.function = "maarCopyFromAllocation",
     .prepare = fault_prepare_memory,
     .run = run_copy_from,
     .finish = fault_undo_memory,
     .maps = true,
     .profile = rig_profile_noncoherent},
    {.function = "maarFlushAllocation",
     .prepare = prepare_mapped,
     .run = run_flush,
     .finish = fault_undo_memory,
     .profile = rig_profile_noncoherent},
    {.function = "maarInvalidateAllocation",
     .prepare = prepare_mapped,
     .run = run_invalidate,
     .finish = fault_undo_memory,
     .profile = rig_profile_noncoherent},
    {.function = "maarFlushAllocations",
     .prepare = prepare_mapped_crowd,
     .run = run_flush_crowd,
     .finish = undo_crowd,
     .profile = rig_profile_noncoherent},
    {.function = "maarInvalidateAllocations",
     .prepare = prepare_mapped_crowd,
     .run = run_invalidate_crowd,
     .finish = undo_crowd,
     .profile = rig_profile_noncoherent},
};

const struct fault_table fault_memory_steps = {steps, sizeof steps / sizeof steps[0]};
