/*
 * Residents: beside other residents, most of which are on the device.
 */
#include "growth_cases.h"
#include "growth_steps.h"

#include <stdlib.h>

/* Residents of a use, and those beside the n on the device. */
enum { USED = 16, SPARE = 64, RESIDENT_BYTES = 65536 };

struct residents {
    MaarResidency manager;
    MaarResident* all;
    VkSemaphore timeline;
    uint32_t next;
    MaarUse use;
    MaarArray array;
    MaarResident array_one;
};

static MaarResident create(struct growth* growth)
{
    const struct residents* residents = growth->state;
    const VkBufferCreateInfo buffer = growth_buffer(RESIDENT_BYTES);
    const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    MaarResident made = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateResident(growth->allocator, residents->manager, &info, &made));
    return made;
}

static MaarResidency create_manager(struct growth* growth, uint32_t count)
{
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .deviceBudget = (VkDeviceSize)count * RESIDENT_BYTES,
        .hostBudget = (VkDeviceSize)(2 * count) * RESIDENT_BYTES,
    };
    MaarResidency made = VK_NULL_HANDLE;
    GROWTH_EXPECT(maarCreateResidency(growth->allocator, &info, &made));
    return made;
}

/* Begins and ends a use of residents from `first` on. */
static void use(struct growth* growth, uint32_t first, uint32_t count, MaarAccessFlags access)
{
    struct residents* residents = growth->state;
    MaarResidentUse uses[USED];
    for (uint32_t i = 0; i < count; ++i) {
        uses[i] = (MaarResidentUse){.resident = residents->all[(first + i) % (growth->n + SPARE)],
                                    .access = access};
    }
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = count,
                                    .pUses = uses};
    GROWTH_EXPECT(
        maarBeginUse(growth->allocator, residents->manager, &begin, NULL, NULL, &residents->use));
    const MaarPoint point = {residents->timeline, 1};
    GROWTH_EXPECT(maarEndUse(growth->allocator, residents->manager, residents->use, 1, &point));
}

/* n residents on the device, as many as fit, and some others. */
static void open_residents(struct growth* growth)
{
    struct residents* residents = growth_create_state(growth, 1, sizeof *residents);
    residents->manager = create_manager(growth, growth->n + SPARE);
    residents->timeline = growth_create_timeline(growth);
    growth_signal(growth, residents->timeline);
    residents->all = bench_allocate(growth->n + SPARE, sizeof *residents->all);
    for (uint32_t i = 0; i < growth->n + SPARE; ++i) {
        residents->all[i] = create(growth);
    }
    GROWTH_EXPECT(maarSetResidencyBudget(growth->allocator, residents->manager, MAAR_TIER_DEVICE,
                                         (VkDeviceSize)growth->n * RESIDENT_BYTES));
    for (uint32_t i = 0; i < growth->n; i += USED) {
        use(growth, i, USED, MAAR_ACCESS_OVERWRITE_BIT);
    }
}

/* And a pinned array. */
static void open_array(struct growth* growth)
{
    VkBufferCreateInfo buffer = growth_buffer(16 * RESIDENT_BYTES);
    buffer.usage |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const MaarArrayCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ARRAY_CREATE_INFO,
        .elementSize = 16,
        .reservation = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
                        .pBufferInfo = &buffer},
    };
    open_residents(growth);
    struct residents* residents = growth->state;
    GROWTH_EXPECT(maarCreateArray(growth->allocator, &info, &residents->array));
    const MaarResidentCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                        .array = residents->array,
                                        .size = RESIDENT_BYTES};
    GROWTH_EXPECT(
        maarCreateResident(growth->allocator, residents->manager, &how, &residents->array_one));
    const MaarResidentUse one = {.resident = residents->array_one,
                                 .access = MAAR_ACCESS_OVERWRITE_BIT};
    const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                    .flags = MAAR_USE_WAIT_BIT,
                                    .useCount = 1,
                                    .pUses = &one};
    GROWTH_EXPECT(
        maarBeginUse(growth->allocator, residents->manager, &begin, NULL, NULL, &residents->use));
}

static void close_residents(struct growth* growth)
{
    struct residents* residents = growth->state;
    if (residents->array != VK_NULL_HANDLE) {
        maarCancelUse(growth->allocator, residents->manager, residents->use);
    }
    maarDestroyResidency(growth->allocator, residents->manager);
    maarDestroyArray(growth->allocator, residents->array);
    vkDestroySemaphore(growth->device, residents->timeline, NULL);
    free(residents->all);
}

/* ---- operations ---- */

static void do_use_hot(struct growth* growth, uint32_t index)
{
    (void)index;
    use(growth, growth->n - USED, USED, MAAR_ACCESS_READ_BIT);
}

/* The next resident comes, and another one goes. */
static void do_use_rotating(struct growth* growth, uint32_t index)
{
    struct residents* residents = growth->state;
    (void)index;
    use(growth, residents->next++, 1, MAAR_ACCESS_WRITE_BIT);
}

static void do_cancel(struct growth* growth, uint32_t index)
{
    struct residents* residents = growth->state;
    const MaarResidentUse wanted = {.resident = residents->all[growth->n - 1],
                                    .access = MAAR_ACCESS_READ_BIT};
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO, .useCount = 1, .pUses = &wanted};
    (void)index;
    GROWTH_EXPECT(
        maarBeginUse(growth->allocator, residents->manager, &begin, NULL, NULL, &residents->use));
    maarCancelUse(growth->allocator, residents->manager, residents->use);
}

static void do_update(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    (void)index;
    GROWTH_EXPECT(maarUpdateResidency(growth->allocator, residents->manager, NULL));
    (void)maarWorkResidency(growth->allocator, residents->manager, 0, NULL);
}

static void do_hint(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    const MaarResident resident = residents->all[growth_pick(growth)];
    (void)index;
    GROWTH_EXPECT(maarPrefetchResidents(growth->allocator, residents->manager, 1, &resident));
    GROWTH_EXPECT(maarEvictResident(growth->allocator, residents->manager, resident));
    GROWTH_EXPECT(maarLockResident(growth->allocator, residents->manager, resident));
    GROWTH_EXPECT(maarUnlockResident(growth->allocator, residents->manager, resident));
}

static void do_read(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetResidentInfo(growth->allocator, residents->manager,
                                      residents->all[growth_pick(growth)], &info));
}

static void do_count(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    (void)index;
    GROWTH_EXPECT(maarGetResidencyInfo(growth->allocator, residents->manager, &info));
}

static void do_budget(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    GROWTH_EXPECT(maarSetResidencyBudget(growth->allocator, residents->manager, MAAR_TIER_DEVICE,
                                         (VkDeviceSize)(growth->n + index % 2) * RESIDENT_BYTES));
}

/* An array among the residents grows and shrinks by an element. */
static void do_resize(struct growth* growth, uint32_t index)
{
    struct residents* residents = growth->state;
    MaarPoint wait;
    GROWTH_EXPECT(maarResizeResident(growth->allocator, residents->manager, residents->array_one,
                                     1 + index % 2, &wait));
}

/* Another request looks for what is clean: nothing is. */
static void do_yield(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    (void)index;
    (void)maarYieldResidency(growth->allocator, residents->manager, UINT32_MAX, RESIDENT_BYTES, 0,
                             NULL);
}

static void do_create(struct growth* growth, uint32_t index)
{
    const struct residents* residents = growth->state;
    (void)index;
    maarDestroyResident(growth->allocator, residents->manager, create(growth));
}

static void do_create_manager(struct growth* growth, uint32_t index)
{
    (void)index;
    maarDestroyResidency(growth->allocator, create_manager(growth, USED));
}

#define RESIDENTS(case_name, function, does)                                                       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = "residents on the device",          \
        .n = 512, .count = 128, .open = open_residents, .operation = does,                         \
        .close = close_residents                                                                   \
    }

const struct growth_case growth_resident_cases[] = {
    RESIDENTS("use-residents-hot", "maarBeginUse maarEndUse", do_use_hot),
    RESIDENTS("use-residents-rotating", "maarBeginUse maarEndUse", do_use_rotating),
    RESIDENTS("cancel-use", "maarBeginUse maarCancelUse", do_cancel),
    RESIDENTS("update-residency", "maarUpdateResidency maarWorkResidency", do_update),
    RESIDENTS("hint-residents",
              "maarPrefetchResidents maarEvictResident maarLockResident maarUnlockResident",
              do_hint),
    RESIDENTS("resident-info", "maarGetResidentInfo", do_read),
    RESIDENTS("residency-info", "maarGetResidencyInfo", do_count),
    RESIDENTS("residency-budget", "maarSetResidencyBudget", do_budget),
    {.name = "resize-resident",
     .functions = "maarResizeResident",
     .dimension = "residents on the device",
     .n = 512,
     .count = 128,
     .open = open_array,
     .operation = do_resize,
     .close = close_residents},
    RESIDENTS("yield-residency", "maarYieldResidency", do_yield),
    RESIDENTS("create-resident", "maarCreateResident maarDestroyResident", do_create),
    RESIDENTS("create-residency", "maarCreateResidency maarDestroyResidency", do_create_manager),
    {.name = NULL},
};
