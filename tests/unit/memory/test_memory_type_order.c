/*
 * Memory types in an order that the program gives: MaarMemoryTypeOrderInfo.
 */
#include "tests/rig/rig.h"

/* An order, and a create info that names it. */
struct ordered {
    uint32_t types[4];
    MaarMemoryTypeOrderInfo order;
    MaarAllocationCreateInfo how;
};

static MaarAllocationCreateInfo* put_in_order(struct ordered* ordered, uint32_t count)
{
    ordered->order = (MaarMemoryTypeOrderInfo){
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_ORDER_INFO,
        .memoryTypeCount = count,
        .pMemoryTypeIndices = ordered->types,
    };
    ordered->how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    ordered->how.pNext = &ordered->order;
    return &ordered->how;
}

static VkResult choose(struct rig* rig, const MaarAllocationCreateInfo* how,
                       MaarMemoryTypeChoice* choice)
{
    *choice = (MaarMemoryTypeChoice){.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    return maarChooseMemoryType(rig->allocator, UINT32_MAX, how, choice);
}

static void the_order_replaces_usage_and_ranking(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct ordered ordered = {.types = {0, 3, 1, 0}};
    MaarMemoryTypeChoice choice;
    assert_int_equal(choose(rig, put_in_order(&ordered, 4), &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 0);
    assert_int_equal(choice.candidateCount, 3); /* a type counts once */
    assert_int_equal(choice.candidates[1], 3);
    assert_int_equal(choice.candidates[2], 1);
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    choice.pNext = &reason;
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &ordered.how, &choice),
                     VK_SUCCESS);
    assert_non_null(strstr(reason.text, "MaarMemoryTypeOrderInfo"));
    const MaarAllocation made = rig_allocate(rig, 4096, &ordered.how);
    assert_int_equal(rig_info(rig, made).memoryTypeIndex, 0);
    assert_true(rig_info(rig, made).fallback == VK_FALSE);
    maarFreeMemory(rig->allocator, made);
    rig_expect_silence(rig);
}

static void what_is_required_rules_types_out(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct ordered ordered = {.types = {77, 0, 3, 2}};
    MaarMemoryTypeChoice choice;
    put_in_order(&ordered, 4)->flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(choose(rig, &ordered.how, &choice), VK_SUCCESS);
    assert_int_equal(choice.candidateCount, 2);
    assert_int_equal(choice.memoryTypeIndex, 3);
    ordered.how.requiredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    assert_int_equal(choose(rig, &ordered.how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 2);
    ordered.how.memoryTypeBits = 1;
    assert_int_equal(choose(rig, &ordered.how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_silence(rig); /* a question is no failure */
    MaarAllocation none = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 4096, &ordered.how, &none), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NO_MEMORY_TYPE);
}

static VkBool32 VKAPI_PTR count_request(void* user, const MaarOutOfMemoryInfo* info)
{
    uint32_t* count = user;
    assert_int_equal(info->memoryTypeIndex, 3);
    assert_int_equal(info->memoryTypeBits, 0xA);
    ++*count;
    return VK_FALSE;
}

/* Types are tried in the order. The observer is asked once, for all of them. */
static void a_full_type_gives_way_to_the_next(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    struct ordered ordered = {.types = {3, 1}};
    uint32_t asked = 0;
    rig_open(rig, NULL);
    rig->create_info.pfnOutOfMemory = count_request;
    rig->create_info.pOutOfMemoryUserData = &asked;
    rig_make_allocator(rig);
    const MaarAllocationCreateInfo* how = put_in_order(&ordered, 2);
    const MaarAllocation made = rig_allocate(rig, 200 * MIB, how);
    assert_int_equal(rig_info(rig, made).memoryTypeIndex, 3);
    MaarAllocation second = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 100 * MIB, how, &second), VK_SUCCESS);
    assert_int_equal(rig_info(rig, second).memoryTypeIndex, 1); /* the window has 256 MiB */
    assert_true(rig_info(rig, second).fallback == VK_TRUE);
    MaarAllocation third = VK_NULL_HANDLE;
    assert_int_equal(rig_try(rig, 64 * GIB, how, &third), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(asked, 1);
    rig_forget_messages(rig);
    maarFreeMemory(rig->allocator, made);
    maarFreeMemory(rig->allocator, second);
}

static void orders_without_types_are_reported(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct ordered ordered = {.types = {0}};
    MaarMemoryTypeChoice choice;
    assert_int_equal(choose(rig, put_in_order(&ordered, 0), &choice),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "memoryTypeCount");
    assert_int_equal(choose(rig, put_in_order(&ordered, VK_MAX_MEMORY_TYPES + 1), &choice),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "memoryTypeCount");
    put_in_order(&ordered, 1);
    ordered.order.pMemoryTypeIndices = NULL;
    assert_int_equal(choose(rig, &ordered.how, &choice), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pMemoryTypeIndices");
}

/* A pool has one type, whatever the order says. */
static void pools_ignore_the_order(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct ordered ordered = {.types = {0}};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 2};
    const MaarPool pool = rig_create_pool(rig, &info);
    put_in_order(&ordered, 1)->pool = pool;
    const MaarAllocation made = rig_allocate(rig, 4096, &ordered.how);
    assert_int_equal(rig_info(rig, made).memoryTypeIndex, 2);
    maarFreeMemory(rig->allocator, made);
    maarDestroyPool(rig->allocator, pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(the_order_replaces_usage_and_ranking),
        rig_unit_test(what_is_required_rules_types_out),
        rig_unit_test(a_full_type_gives_way_to_the_next),
        rig_unit_test(orders_without_types_are_reported),
        rig_unit_test(pools_ignore_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
