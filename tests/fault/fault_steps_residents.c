/*
 * Steps: residents and checkpoints. The device holds two of the four residents, so that each use of
 * the others evicts.
 */
#include "maar/checkpoint.h"
#include "tests/fault/fault_steps.h"

enum { RESIDENT_BYTES = 65536, CHECKPOINT_BYTES = 1 << 20 };

static uint8_t checkpoint_bytes[CHECKPOINT_BYTES];

static VkResult VKAPI_PTR read_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    memcpy(bytes, checkpoint_bytes + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR write_bytes(void* data, VkDeviceSize offset, size_t size, void* bytes)
{
    (void)data;
    memcpy(checkpoint_bytes + offset, bytes, size);
    return VK_SUCCESS;
}

static const MaarFileStore checkpoint_file = {
    .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
    .size = CHECKPOINT_BYTES,
    .pfnRead = read_bytes,
    .pfnWrite = write_bytes,
};

static MaarCheckpoint checkpoint;

/* ---- managers and residents ---- */

static VkResult run_create_manager(struct fault_context* c)
{
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = c->rig.create_info.queueCount - 1,
        .deviceBudget = (VkDeviceSize)2 * RESIDENT_BYTES,
        .hostBudget = (VkDeviceSize)8 * RESIDENT_BYTES,
        .compressedBudget = RESIDENT_BYTES,
        .pName = "manager",
    };
    c->residency = (MaarResidency)(uintptr_t)1;
    const VkResult result = maarCreateResidency(c->rig.allocator, &info, &c->residency);
    assert_true((result == VK_SUCCESS) == (c->residency != VK_NULL_HANDLE));
    return result;
}

static void undo_manager(struct fault_context* c)
{
    maarDestroyResidency(c->rig.allocator, c->residency);
    (void)maarCollect(c->rig.allocator, NULL);
}

static VkResult run_destroy_manager(struct fault_context* c)
{
    undo_manager(c);
    return VK_SUCCESS;
}

static void prepare_manager(struct fault_context* c)
{
    maarSimulatedSetFlags(c->rig.physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    fault_warm_paging(c);
    assert_int_equal(run_create_manager(c), VK_SUCCESS);
}

static VkResult create_resident(struct fault_context* c, uint32_t number)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(RESIDENT_BYTES);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .key = number + 1,
        .pName = "resident",
    };
    c->residents[number] = (MaarResident)(uintptr_t)1;
    const VkResult result =
        maarCreateResident(c->rig.allocator, c->residency, &info, &c->residents[number]);
    assert_true((result == VK_SUCCESS) == (c->residents[number] != VK_NULL_HANDLE));
    return result;
}

static VkResult run_create_resident(struct fault_context* c)
{
    return create_resident(c, 0);
}

static void undo_resident(struct fault_context* c)
{
    maarDestroyResident(c->rig.allocator, c->residency, c->residents[0]);
    (void)maarCollect(c->rig.allocator, NULL);
}

static VkResult run_destroy_resident(struct fault_context* c)
{
    undo_resident(c);
    return VK_SUCCESS;
}

/* ---- uses ---- */

static VkResult begin_use(struct fault_context* c, uint32_t first, MaarAccessFlags access)
{
    const MaarResidentUse uses[2] = {{.resident = c->residents[first], .access = access},
                                     {.resident = c->residents[first + 1], .access = access}};
    const MaarUseBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                   .flags = MAAR_USE_WAIT_BIT,
                                   .useCount = 2,
                                   .pUses = uses};
    MaarResidencyInfo after = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    c->use = (MaarUse)(uintptr_t)1;
    const VkResult result =
        maarBeginUse(c->rig.allocator, c->residency, &info, NULL, NULL, &c->use);
    assert_true((result == VK_SUCCESS) == (c->use != VK_NULL_HANDLE));
    assert_int_equal(maarGetResidencyInfo(c->rig.allocator, c->residency, &after), VK_SUCCESS);
    assert_int_equal(after.pinCount, result == VK_SUCCESS ? 2 : 0);
    assert_int_equal(after.lostCount, 0);
    return result;
}

static VkResult run_end_use(struct fault_context* c)
{
    const MaarPoint point = {c->timeline, 1};
    return maarEndUse(c->rig.allocator, c->residency, c->use, 1, &point);
}

/* Four residents with contents, two of them on the device. */
static void prepare_residents(struct fault_context* c)
{
    prepare_manager(c);
    c->timeline = rig_create_timeline(&c->rig, 1);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(create_resident(c, i), VK_SUCCESS);
    }
    for (uint32_t i = 0; i < 4; i += 2) {
        assert_int_equal(begin_use(c, i, MAAR_ACCESS_OVERWRITE_BIT), VK_SUCCESS);
        assert_int_equal(run_end_use(c), VK_SUCCESS);
    }
}

static void finish_residents(struct fault_context* c)
{
    maarDestroyResidency(c->rig.allocator, c->residency);
    (void)maarCollect(c->rig.allocator, NULL);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static VkResult run_begin_use(struct fault_context* c)
{
    return begin_use(c, 0, MAAR_ACCESS_READ_BIT);
}

static void undo_use(struct fault_context* c)
{
    maarCancelUse(c->rig.allocator, c->residency, c->use);
}

static void prepare_use(struct fault_context* c)
{
    prepare_residents(c);
    assert_int_equal(begin_use(c, 2, MAAR_ACCESS_WRITE_BIT), VK_SUCCESS);
}

static VkResult run_cancel_use(struct fault_context* c)
{
    undo_use(c);
    return VK_SUCCESS;
}

/* ---- arrays ---- */

static MaarResident array_resident;

/* A pinned array, beside room for it to grow. */
static void prepare_resident_array(struct fault_context* c)
{
    VkBufferCreateInfo buffer = rig_buffer_info(16 * RESIDENT_BYTES);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = RESIDENT_BYTES,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    prepare_residents(c);
    assert_int_equal(maarSetResidencyBudget(c->rig.allocator, c->residency, MAAR_TIER_DEVICE,
                                            (VkDeviceSize)16 * RESIDENT_BYTES),
                     VK_SUCCESS);
    assert_int_equal(maarCreateArray(c->rig.allocator, &info, &c->array), VK_SUCCESS);
    const MaarResidentCreateInfo one = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO, .array = c->array, .size = 1};
    assert_int_equal(maarCreateResident(c->rig.allocator, c->residency, &one, &array_resident),
                     VK_SUCCESS);
    const MaarResidentUse use = {.resident = array_resident, .access = MAAR_ACCESS_OVERWRITE_BIT};
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = 1,
                                    .pUses = &use};
    assert_int_equal(maarBeginUse(c->rig.allocator, c->residency, &begin, NULL, NULL, &c->use),
                     VK_SUCCESS);
}

static VkResult run_resize(struct fault_context* c)
{
    MaarPoint wait;
    return maarResizeResident(c->rig.allocator, c->residency, array_resident, 3, &wait);
}

static void finish_resident_array(struct fault_context* c)
{
    maarCancelUse(c->rig.allocator, c->residency, c->use);
    finish_residents(c);
    maarDestroyArray(c->rig.allocator, c->array);
}

/* ---- the rest ---- */

static VkResult run_info(struct fault_context* c)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    return maarGetResidencyInfo(c->rig.allocator, c->residency, &info);
}

static VkResult run_resident_info(struct fault_context* c)
{
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    return maarGetResidentInfo(c->rig.allocator, c->residency, c->residents[1], &info);
}

static VkResult run_prefetch(struct fault_context* c)
{
    return maarPrefetchResidents(c->rig.allocator, c->residency, 2, c->residents);
}

static void prepare_prefetch(struct fault_context* c)
{
    prepare_residents(c);
    assert_int_equal(run_prefetch(c), VK_SUCCESS);
    for (uint32_t i = 2; i < 4; ++i) {
        assert_int_equal(maarEvictResident(c->rig.allocator, c->residency, c->residents[i]),
                         VK_SUCCESS);
    }
}

static VkResult run_update(struct fault_context* c)
{
    return maarUpdateResidency(c->rig.allocator, c->residency, NULL);
}

static VkResult run_budget(struct fault_context* c)
{
    return maarSetResidencyBudget(c->rig.allocator, c->residency, MAAR_TIER_DEVICE, RESIDENT_BYTES);
}

static VkResult run_evict(struct fault_context* c)
{
    return maarEvictResident(c->rig.allocator, c->residency, c->residents[2]);
}

static VkResult run_lock(struct fault_context* c)
{
    return maarLockResident(c->rig.allocator, c->residency, c->residents[2]);
}

static VkResult run_unlock(struct fault_context* c)
{
    return maarUnlockResident(c->rig.allocator, c->residency, c->residents[2]);
}

static void undo_lock(struct fault_context* c)
{
    (void)run_unlock(c);
}

static void prepare_lock(struct fault_context* c)
{
    prepare_residents(c);
    assert_int_equal(run_lock(c), VK_SUCCESS);
}

static VkResult run_yield(struct fault_context* c)
{
    const VkResult result =
        maarYieldResidency(c->rig.allocator, c->residency, UINT32_MAX, 65536, 1000000000, NULL);
    return result == VK_INCOMPLETE ? VK_SUCCESS : result;
}

static VkResult run_work(struct fault_context* c)
{
    return maarWorkResidency(c->rig.allocator, c->residency, 0, NULL);
}

/* ---- checkpoints ---- */

static VkResult run_write(struct fault_context* c)
{
    const VkResult result =
        maarWriteCheckpoint(c->rig.allocator, c->residency, &checkpoint_file, NULL);
    /* What was on a lost device is counted; the rest is written. */
    return result == VK_INCOMPLETE ? VK_ERROR_DEVICE_LOST : result;
}

static void prepare_written(struct fault_context* c)
{
    prepare_residents(c);
    assert_int_equal(run_write(c), VK_SUCCESS);
}

static VkResult run_open(struct fault_context* c)
{
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &checkpoint_file,
                                         .pAllocationCallbacks = &c->host.callbacks};
    const VkResult result = maarOpenCheckpoint(&info, &checkpoint);
    assert_true((result == VK_SUCCESS) == (checkpoint != VK_NULL_HANDLE));
    return result;
}

static void undo_open(struct fault_context* c)
{
    (void)c;
    maarCloseCheckpoint(checkpoint);
    checkpoint = VK_NULL_HANDLE;
}

static void prepare_open(struct fault_context* c)
{
    prepare_written(c);
    assert_int_equal(run_open(c), VK_SUCCESS);
}

static void finish_open(struct fault_context* c)
{
    undo_open(c);
    finish_residents(c);
}

static VkResult run_close(struct fault_context* c)
{
    undo_open(c);
    return VK_SUCCESS;
}

static VkResult run_enumerate(struct fault_context* c)
{
    uint32_t count = 0;
    (void)c;
    const VkResult result = maarEnumerateCheckpoint(checkpoint, &count, NULL);
    assert_int_equal(count, 4);
    return result;
}

static VkResult run_read(struct fault_context* c)
{
    static uint8_t bytes[RESIDENT_BYTES];
    (void)c;
    return maarReadCheckpoint(checkpoint, 2, RESIDENT_BYTES, bytes);
}

#define AMONG(name, reason, does)                                                                  \
    {                                                                                              \
        .function = name, .never = reason, .prepare = prepare_residents, .run = does,              \
        .finish = finish_residents, FAULT_PAGED                                                    \
    }

static const struct fault_step steps[] = {
    {.function = "maarCreateResidency",
     .prepare = fault_warm_paging,
     .run = run_create_manager,
     .undo = undo_manager,
     FAULT_PAGED},
    {.function = "maarDestroyResidency",
     .never = "waits; a wait that fails ends it earlier",
     .prepare = prepare_manager,
     .run = run_destroy_manager,
     FAULT_PAGED},
    AMONG("maarGetResidencyInfo", "adds numbers", run_info),
    {.function = "maarCreateResident",
     .prepare = prepare_manager,
     .run = run_create_resident,
     .undo = undo_resident,
     .finish = undo_manager,
     FAULT_PAGED},
    AMONG("maarDestroyResident", "gives back; waits where it cannot", run_destroy_resident),
    AMONG("maarGetResidentInfo", "reads numbers", run_resident_info),
    {.function = "maarBeginUse",
     .prepare = prepare_residents,
     .run = run_begin_use,
     .undo = undo_use,
     .finish = finish_residents,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarEndUse",
     .never = "keeps points in lists of fixed length; what cannot be given back is later",
     .prepare = prepare_use,
     .run = run_end_use,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarCancelUse",
     .never = "takes pins back",
     .prepare = prepare_use,
     .run = run_cancel_use,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarUpdateResidency",
     .prepare = prepare_prefetch,
     .run = run_update,
     .finish = finish_residents,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    AMONG("maarSetResidencyBudget", "sets a number", run_budget),
    AMONG("maarPrefetchResidents", "links a list", run_prefetch),
    AMONG("maarEvictResident", "sets a number", run_evict),
    {.function = "maarLockResident",
     .never = "counts",
     .prepare = prepare_residents,
     .run = run_lock,
     .undo = undo_lock,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarUnlockResident",
     .never = "counts",
     .prepare = prepare_lock,
     .run = run_unlock,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarResizeResident",
     .prepare = prepare_resident_array,
     .run = run_resize,
     .finish = finish_resident_array,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarYieldResidency",
     .prepare = prepare_residents,
     .run = run_yield,
     .finish = finish_residents,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    AMONG("maarWorkResidency", "a piece whose memory fails is done later", run_work),
    {.function = "maarWriteCheckpoint",
     .prepare = prepare_residents,
     .run = run_write,
     .finish = finish_residents,
     .partial = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarOpenCheckpoint",
     .prepare = prepare_written,
     .run = run_open,
     .undo = undo_open,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarCloseCheckpoint",
     .never = "gives back host memory",
     .prepare = prepare_open,
     .run = run_close,
     .finish = finish_residents,
     FAULT_PAGED},
    {.function = "maarEnumerateCheckpoint",
     .never = "copies",
     .prepare = prepare_open,
     .run = run_enumerate,
     .finish = finish_open,
     FAULT_PAGED},
    {.function = "maarReadCheckpoint",
     .prepare = prepare_open,
     .run = run_read,
     .finish = finish_open,
     FAULT_PAGED},
};

const struct fault_table fault_resident_steps = {steps, sizeof steps / sizeof steps[0]};
