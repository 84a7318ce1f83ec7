/*
 * Wrong calls on managers of residents are reported, with the culprit's name, and change nothing.
 */
#include "maar/checkpoint.h"
#include "tests/unit/residency/residency_fixture.h"

static void expect(VkResult result, MaarMessageId id, const char* culprit)
{
    assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, id, culprit);
}

/* ---- managers ---- */

static void create_misuse_names_the_argument(void** state)
{
    (void)state;
    open_scene(4);
    MaarResidency made = (MaarResidency)(uintptr_t)1;
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    expect(maarCreateResidency(rig->allocator, &info, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pResidency");
    expect(maarCreateResidency(rig->allocator, NULL, &made), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pCreateInfo");
    assert_true(made == VK_NULL_HANDLE);
    info.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO;
    expect(maarCreateResidency(rig->allocator, &info, &made), MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
           "pCreateInfo");
    info = manager_info(4 * UNIT, 8 * UNIT);
    info.queueIndex = rig->create_info.queueCount;
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &made),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, info.queueIndex));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pCreateInfo->queueIndex");
    info = manager_info(4 * UNIT, 8 * UNIT);
    info.flags = 0x40000000;
    expect(maarCreateResidency(rig->allocator, &info, &made), MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
           "0x40000000");
    close_scene();
}

/* Where the allocator has no queue, no index would do. */
static void create_without_queues_names_the_list(void** state)
{
    MaarResidency made = (MaarResidency)(uintptr_t)1;
    (void)state;
    rig = rig_begin(NULL);
    assert_int_equal(rig->create_info.queueCount, 0);
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &made),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "pCreateInfo->queueIndex"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_QUEUE, "MaarAllocatorCreateInfo::pQueues");
    assert_true(made == VK_NULL_HANDLE);
}

static void create_without_timelines_is_refused(void** state)
{
    const struct rig_setup setup = {.paging = true, .off = RIG_OFF_TIMELINE, .count_host = true};
    MaarResidency made = (MaarResidency)(uintptr_t)1;
    (void)state;
    rig = rig_begin(&setup);
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &made),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    assert_true(made == VK_NULL_HANDLE);
}

static void info_misuse_names_the_argument(void** state)
{
    (void)state;
    open_scene(4);
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO};
    expect(maarGetResidencyInfo(rig->allocator, manager, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pInfo");
    expect(maarGetResidencyInfo(rig->allocator, manager, &info),
           MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
    const MaarResident resident = create_buffer(UNIT, 0);
    MaarResidentInfo one = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    expect(maarGetResidentInfo(rig->allocator, manager, resident, NULL),
           MAAR_MESSAGE_ID_NULL_ARGUMENT, "pInfo");
    expect(maarGetResidentInfo(rig->allocator, manager, resident, &one),
           MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
    close_scene();
}

static void budget_misuse_names_the_argument(void** state)
{
    (void)state;
    open_scene(4);
    (void)create_buffer(UNIT, 0);
    expect(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_FILE, MIB),
           MAAR_MESSAGE_ID_INVALID_ENUM, "tier");
    expect(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_NONE, MIB),
           MAAR_MESSAGE_ID_INVALID_ENUM, "tier");
    expect(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, UNIT - 1),
           MAAR_MESSAGE_ID_OUT_OF_RANGE, "budget");
    assert_int_equal(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_HOST, 2 * UNIT - 1),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, 2 * UNIT - 1));
    assert_true(rig_message_names_number(rig, 2 * UNIT));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "budget");
    assert_int_equal(manager_state().tiers[MAAR_TIER_DEVICE].budget, 4 * UNIT);
    close_scene();
}

/* ---- residents ---- */

static void resident_misuse_names_the_field(void** state)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    const VkImageCreateInfo image = rig_image_info(8, 8);
    MaarResident made = (MaarResident)(uintptr_t)1;
    (void)state;
    open_scene(4);
    const MaarResidentCreateInfo good = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    MaarResidentCreateInfo info = good;
    expect(maarCreateResident(rig->allocator, manager, &info, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pResident");
    expect(maarCreateResident(rig->allocator, manager, NULL, &made), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pCreateInfo");
    info.pImageInfo = &image;
    expect(maarCreateResident(rig->allocator, manager, &info, &made),
           MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pBufferInfo");
    info = good;
    info.flags = 0x40000000;
    expect(maarCreateResident(rig->allocator, manager, &info, &made), MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
           "pCreateInfo->flags");
    info = good;
    info.priorityClass = 8;
    expect(maarCreateResident(rig->allocator, manager, &info, &made), MAAR_MESSAGE_ID_OUT_OF_RANGE,
           "pCreateInfo->priorityClass");
    assert_true(made == VK_NULL_HANDLE);
    assert_int_equal(manager_state().residentCount, 0);
    close_scene();
}

/* What can never be in memory is refused at once, with the figures. */
static void resident_above_the_budgets_is_refused(void** state)
{
    VkBufferCreateInfo buffer = rig_buffer_info(5 * UNIT);
    const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    MaarResident made = (MaarResident)(uintptr_t)1;
    (void)state;
    open_scene(4);
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &made),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "device");
    buffer.size = 3 * UNIT;
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &made),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "host");
    assert_true(made == VK_NULL_HANDLE);
    assert_int_equal(manager_state().residentCount, 0);
    close_scene();
}

/* Pages of what was destroyed are no residents. */
static void resident_of_stale_pages_is_refused(void** state)
{
    MaarResident made = (MaarResident)(uintptr_t)1;
    (void)state;
    open_scene(4);
    MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                   .reservation = (MaarReservation)(uintptr_t)0x1234567};
    expect(maarCreateResident(rig->allocator, manager, &info, &made),
           MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pCreateInfo->reservation");
    info.reservation = VK_NULL_HANDLE;
    info.sparseImage = (MaarSparseImage)(uintptr_t)0x1234567;
    expect(maarCreateResident(rig->allocator, manager, &info, &made),
           MAAR_MESSAGE_ID_FOREIGN_HANDLE, "pCreateInfo->sparseImage");
    assert_true(made == VK_NULL_HANDLE);
    close_scene();
}

static void resident_that_cannot_be_copied_is_refused(void** state)
{
    VkImageCreateInfo image = rig_image_info(8, 8);
    MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                   .pImageInfo = &image};
    MaarResident made = (MaarResident)(uintptr_t)1;
    (void)state;
    open_scene(4);
    image.samples = VK_SAMPLE_COUNT_4_BIT;
    image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &made),
                     VK_ERROR_FORMAT_NOT_SUPPORTED);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "samples");
    info.flags = MAAR_RESIDENT_CREATE_DISCARDABLE_BIT;
    destroy_resident(create_resident(&info));
    VkBufferCreateInfo buffer = rig_buffer_info(UNIT);
    buffer.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    info = (MaarResidentCreateInfo){.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                    .pBufferInfo = &buffer};
    assert_int_equal(maarCreateResident(rig->allocator, manager, &info, &made),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE,
                              "MAAR_RESIDENT_CREATE_ADDRESS_MAY_CHANGE_BIT");
    close_scene();
}

/* Every call on a resident refuses null and one that was destroyed. */
static void stale_residents_are_refused(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    MaarPoint wait;
    (void)state;
    open_scene(4);
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    const MaarResident gone = create_buffer(UNIT, 0);
    destroy_resident(gone);
    const struct {
        MaarResident resident;
        MaarMessageId id;
    } cases[] = {{VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE},
                 {gone, MAAR_MESSAGE_ID_STALE_HANDLE}};
    for (size_t i = 0; i < 2; ++i) {
        const MaarResident wrong = cases[i].resident;
        expect(maarGetResidentInfo(rig->allocator, manager, wrong, &info), cases[i].id, "resident");
        expect(maarEvictResident(rig->allocator, manager, wrong), cases[i].id, "resident");
        expect(maarLockResident(rig->allocator, manager, wrong), cases[i].id, "resident");
        expect(maarUnlockResident(rig->allocator, manager, wrong), cases[i].id, "resident");
        expect(maarPrefetchResidents(rig->allocator, manager, 1, &wrong), cases[i].id,
               "pResidents");
        expect(maarResizeResident(rig->allocator, manager, wrong, 1, &wait), cases[i].id,
               "resident");
    }
    destroy_resident(VK_NULL_HANDLE);
    rig_expect_silence(rig);
    destroy_resident(gone);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "resident");
    expect(try_use(gone, MAAR_ACCESS_READ_BIT, 0, &use), MAAR_MESSAGE_ID_STALE_HANDLE, "resident");
    expect(maarPrefetchResidents(rig->allocator, manager, 1, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT,
           "pResidents");
    close_scene();
}

static void unlock_without_a_lock_is_refused(void** state)
{
    (void)state;
    open_scene(4);
    const MaarResident resident = create_buffer(UNIT, 0);
    assert_int_equal(maarLockResident(rig->allocator, manager, resident), VK_SUCCESS);
    assert_int_equal(maarUnlockResident(rig->allocator, manager, resident), VK_SUCCESS);
    expect(maarUnlockResident(rig->allocator, manager, resident), MAAR_MESSAGE_ID_NOT_LOCKED,
           "resident");
    close_scene();
}

static void pinned_resident_is_not_destroyed(void** state)
{
    (void)state;
    open_scene(4);
    const MaarResident resident = create_buffer(UNIT, 0);
    const MaarUse use = begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0);
    destroy_resident(resident);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_USE_NOT_ENDED, "resident");
    fill_and_end(use, 4);
    expect_buffer(resident, 4);
    close_scene();
}

/* ---- uses ---- */

static VkResult begin(const MaarUseBeginInfo* info, MaarUseInfo* told)
{
    MaarUse use = (MaarUse)(uintptr_t)1;
    const VkResult result = maarBeginUse(rig->allocator, manager, info, NULL, told, &use);
    assert_true(use == VK_NULL_HANDLE);
    expect_no_pins();
    return result;
}

static void begin_misuse_names_the_field(void** state)
{
    (void)state;
    open_scene(4);
    MaarUseInfo told = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO};
    MaarResidentUse one = {create_buffer(UNIT, 0), MAAR_ACCESS_READ_BIT, 0};
    const MaarUseBeginInfo good = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO, .useCount = 1, .pUses = &one};
    MaarUseBeginInfo info = good;
    expect(maarBeginUse(rig->allocator, manager, &info, NULL, NULL, NULL),
           MAAR_MESSAGE_ID_NULL_ARGUMENT, "pUse");
    expect(begin(NULL, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBeginInfo");
    expect(begin(&info, &told), MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
    info.flags = 0x40000000;
    expect(begin(&info, NULL), MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "pBeginInfo->flags");
    info = good;
    info.useCount = 0;
    expect(begin(&info, NULL), MAAR_MESSAGE_ID_ZERO_SIZE, "pBeginInfo->useCount");
    info = good;
    info.pUses = NULL;
    expect(begin(&info, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBeginInfo->pUses");
    one.access = 0;
    expect(begin(&good, NULL), MAAR_MESSAGE_ID_EMPTY_FLAGS, "access");
    one.access = 0x40000000;
    expect(begin(&good, NULL), MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "access");
    close_scene();
}

static VkResult end(MaarUse use, uint32_t count, const MaarPoint* points)
{
    return maarEndUse(rig->allocator, manager, use, count, points);
}

static void end_misuse_leaves_the_use(void** state)
{
    MaarPoint points[MAAR_MAX_POINTS + 1] = {{VK_NULL_HANDLE, 1}};
    (void)state;
    open_scene(4);
    const MaarUse use = begin_use(create_buffer(UNIT, 0), MAAR_ACCESS_READ_BIT, 0);
    expect(end(use, 0, points), MAAR_MESSAGE_ID_OUT_OF_RANGE, "pointCount");
    assert_int_equal(end(use, MAAR_MAX_POINTS + 1, points), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, MAAR_MAX_POINTS + 1));
    assert_true(rig_message_names_number(rig, MAAR_MAX_POINTS));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pointCount");
    expect(end(use, 1, NULL), MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    expect(end(use, 1, points), MAAR_MESSAGE_ID_POINT_NOT_USABLE, "pPoints");
    assert_int_equal(manager_state().pinCount, 1);
    cancel_use(use);
    points[0] = (MaarPoint){timeline, 1};
    expect(end(use, 1, points), MAAR_MESSAGE_ID_STALE_HANDLE, "use");
    expect(end(VK_NULL_HANDLE, 1, points), MAAR_MESSAGE_ID_NULL_HANDLE, "use");
    cancel_use(VK_NULL_HANDLE);
    rig_expect_silence(rig);
    cancel_use(use);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "use");
    expect_no_pins();
    close_scene();
}

/* The uses of one manager name a limited number of timelines. */
static void end_with_too_many_timelines_leaves_the_use(void** state)
{
    VkSemaphore more[MAAR_MAX_POINTS];
    MaarPoint points[MAAR_MAX_POINTS];
    (void)state;
    open_scene(4);
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        more[i] = rig_create_timeline(rig, 1);
        points[i] = (MaarPoint){more[i], 1};
    }
    const MaarUse use = begin_use(create_buffer(UNIT, 0), MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(end(use, MAAR_MAX_POINTS, points), VK_ERROR_TOO_MANY_OBJECTS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POINT_NOT_USABLE, "pPoints");
    assert_int_equal(manager_state().pinCount, 1);
    assert_int_equal(end(use, MAAR_MAX_POINTS - 1, points), VK_SUCCESS);
    expect_no_pins();
    close_scene();
    for (uint32_t i = 0; i < MAAR_MAX_POINTS; ++i) {
        vkDestroySemaphore(rig->device, more[i], NULL);
    }
}

/* What does not fit beside what is pinned says by how much, and pins nothing. */
static void use_above_the_budget_gives_the_missing_bytes(void** state)
{
    MaarResidentUse uses[5];
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    for (uint32_t i = 0; i < 5; ++i) {
        uses[i] = (MaarResidentUse){create_buffer(UNIT, 0), MAAR_ACCESS_OVERWRITE_BIT, 0};
    }
    assert_int_equal(try_uses(5, uses, 0, NULL, &use), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(rig_message_names_number(rig, 5 * UNIT));
    assert_true(rig_message_names_number(rig, 4 * UNIT));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "budget");
    assert_int_equal(answer.missingSize, UNIT);
    expect_no_pins();
    assert_int_equal(try_uses(4, uses, 0, NULL, &use), VK_SUCCESS);
    cancel_use(use);
    close_scene();
}

/* The device has the bytes, and host memory has room: what is pinned divides them. */
static void use_between_pinned_pieces_says_so(void** state)
{
    enum { HALVES = 8 };
    MaarResident halves[HALVES];
    MaarResidentUse pinned[HALVES / 2];
    MaarUse pins = VK_NULL_HANDLE;
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(16);
    for (uint32_t i = 0; i < HALVES; ++i) {
        halves[i] = create_buffer(UNIT / 2, 0);
        write_buffer(halves[i], i + 1);
    }
    for (uint32_t i = 0; i < HALVES / 2; ++i) {
        pinned[i] = (MaarResidentUse){halves[2 * i], MAAR_ACCESS_READ_BIT, 0};
    }
    assert_int_equal(try_uses(HALVES / 2, pinned, 0, NULL, &pins), VK_SUCCESS);
    const MaarResident whole = create_buffer(UNIT, 0);
    VkResult result = try_use(whole, MAAR_ACCESS_OVERWRITE_BIT, MAAR_USE_WAIT_BIT, &use);
    assert_int_equal(result, VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_true(rig_message_names_number(rig, UNIT));
    assert_true(rig_message_names_number(rig, 2 * UNIT)); /* pinned */
    assert_true(rig_message_names_number(rig, 4 * UNIT));
    assert_false(rig_message_names(rig, "hostBudget"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MUCH_IN_USE, "pinned");
    cancel_use(pins);
    cancel_use(begin_use(whole, MAAR_ACCESS_OVERWRITE_BIT, 0));
    close_scene();
}

static void update_misuse_names_the_argument(void** state)
{
    const MaarResidencyUpdate wrong = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    (void)state;
    open_scene(4);
    expect(maarUpdateResidency(rig->allocator, manager, &wrong),
           MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pUpdate");
    close_scene();
}

static void yield_misuse_names_the_argument(void** state)
{
    VkDeviceSize released = 7;
    (void)state;
    open_scene(4);
    expect(maarYieldResidency(rig->allocator, manager, 1, 0, 0, &released),
           MAAR_MESSAGE_ID_ZERO_SIZE, "size");
    assert_int_equal(released, 0);
    /* Nothing is on the device. */
    assert_int_equal(maarYieldResidency(rig->allocator, manager, 1, UNIT, 0, NULL), VK_INCOMPLETE);
    close_scene();
}

static VkResult VKAPI_PTR read_zeros(void* data, VkDeviceSize size, void* bytes)
{
    (void)data;
    memset(bytes, 0, size);
    return VK_SUCCESS;
}

/* Work is done piece by piece, and the call says whether there is more. */
static void work_says_whether_there_is_more(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    uint32_t done = 7;
    (void)state;
    open_scene(8);
    for (uint32_t i = 0; i < 2; ++i) {
        const MaarResident sourced = create_sourced(UNIT, read_zeros, NULL);
        assert_int_equal(try_use(sourced, MAAR_ACCESS_READ_BIT, 0, &use), VK_NOT_READY);
        assert_int_equal(answer.queuedSize, UNIT);
    }
    assert_int_equal(manager_state().workCount, 2);
    assert_int_equal(maarWorkResidency(rig->allocator, manager, 1, &done), VK_INCOMPLETE);
    assert_int_equal(done, 1);
    assert_int_equal(maarWorkResidency(rig->allocator, manager, 0, &done), VK_SUCCESS);
    assert_int_equal(done, 1);
    expect_no_pins();
    close_scene();
}

/* Every call refuses a manager that is null or was destroyed. */
static void stale_managers_are_refused(void** state)
{
    MaarUse use = VK_NULL_HANDLE;
    (void)state;
    open_scene(4);
    const MaarResidency living = manager;
    const MaarResident resident = create_buffer(UNIT, 0);
    MaarResidency gone = VK_NULL_HANDLE;
    const MaarFileStore store = {.sType = MAAR_STRUCTURE_TYPE_FILE_STORE};
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, 8 * UNIT);
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &gone), VK_SUCCESS);
    maarDestroyResidency(rig->allocator, gone);
    const struct {
        MaarResidency handle;
        MaarMessageId id;
    } cases[] = {{VK_NULL_HANDLE, MAAR_MESSAGE_ID_NULL_HANDLE},
                 {gone, MAAR_MESSAGE_ID_STALE_HANDLE}};
    for (size_t i = 0; i < 2; ++i) {
        MaarResidencyInfo about = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
        MaarResidentInfo one = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
        const MaarPoint point = {timeline, 1};
        MaarPoint wait;
        manager = cases[i].handle;
        const MaarMessageId id = cases[i].id;
        MaarAllocator allocator = rig->allocator;
        expect(maarGetResidencyInfo(allocator, manager, &about), id, "residency");
        expect(maarGetResidentInfo(allocator, manager, resident, &one), id, "residency");
        expect(maarSetResidencyBudget(allocator, manager, MAAR_TIER_HOST, MIB), id, "residency");
        expect(maarUpdateResidency(allocator, manager, NULL), id, "residency");
        expect(maarPrefetchResidents(allocator, manager, 1, &resident), id, "residency");
        expect(maarEvictResident(allocator, manager, resident), id, "residency");
        expect(maarLockResident(allocator, manager, resident), id, "residency");
        expect(maarUnlockResident(allocator, manager, resident), id, "residency");
        expect(maarWorkResidency(allocator, manager, 0, NULL), id, "residency");
        expect(maarResizeResident(allocator, manager, resident, 1, &wait), id, "residency");
        expect(maarYieldResidency(allocator, manager, 1, MIB, 0, NULL), id, "residency");
        expect(maarWriteCheckpoint(allocator, manager, &store, NULL), id, "residency");
        expect(try_use(resident, MAAR_ACCESS_READ_BIT, 0, &use), id, "residency");
        expect(maarEndUse(allocator, manager, (MaarUse)(uintptr_t)1, 1, &point), id, "residency");
        maarDestroyResident(allocator, manager, resident);
        assert_true(manager == VK_NULL_HANDLE || rig_message_names(rig, "residency"));
        rig_forget_messages(rig);
        maarCancelUse(allocator, manager, (MaarUse)(uintptr_t)1);
        assert_true(manager == VK_NULL_HANDLE || rig_message_names(rig, "residency"));
        rig_forget_messages(rig);
    }
    manager = living;
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(create_misuse_names_the_argument),
        rig_unit_test(create_without_timelines_is_refused),
        rig_unit_test(create_without_queues_names_the_list),
        rig_unit_test(info_misuse_names_the_argument),
        rig_unit_test(budget_misuse_names_the_argument),
        rig_unit_test(resident_misuse_names_the_field),
        rig_unit_test(resident_above_the_budgets_is_refused),
        rig_unit_test(resident_of_stale_pages_is_refused),
        rig_unit_test(resident_that_cannot_be_copied_is_refused),
        rig_unit_test(stale_residents_are_refused),
        rig_unit_test(unlock_without_a_lock_is_refused),
        rig_unit_test(pinned_resident_is_not_destroyed),
        rig_unit_test(begin_misuse_names_the_field),
        rig_unit_test(end_misuse_leaves_the_use),
        rig_unit_test(end_with_too_many_timelines_leaves_the_use),
        rig_unit_test(use_above_the_budget_gives_the_missing_bytes),
        rig_unit_test(use_between_pinned_pieces_says_so),
        rig_unit_test(update_misuse_names_the_argument),
        rig_unit_test(yield_misuse_names_the_argument),
        rig_unit_test(work_says_whether_there_is_more),
        rig_unit_test(stale_managers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
