/*
 * Which memory type: usages, flags, explicit types, what is never chosen unasked. What each usage
 * yields on real devices is tests/profiles' table.
 */
#include "tests/rig/rig.h"

static VkResult choose(struct rig* rig, uint32_t bits, const MaarAllocationCreateInfo* how,
                       MaarMemoryTypeChoice* choice)
{
    memset(choice, 0xEE, sizeof *choice);
    choice->sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE;
    choice->pNext = NULL;
    return maarChooseMemoryType(rig->allocator, bits, how, choice);
}

static uint32_t best(struct rig* rig, const MaarAllocationCreateInfo* how)
{
    MaarMemoryTypeChoice choice;
    assert_int_equal(choose(rig, UINT32_MAX, how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, choice.candidates[0]);
    return choice.memoryTypeIndex;
}

static void usages_choose_on_a_discrete_device(void** state)
{
    (void)state;
    static const struct {
        MaarMemoryUsage usage;
        uint32_t type;
    } rows[] = {
        {MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0}, {MAAR_MEMORY_USAGE_UPLOAD, 1},
        {MAAR_MEMORY_USAGE_READBACK, 2},     {MAAR_MEMORY_USAGE_DEVICE_UPLOAD, 3},
        {MAAR_MEMORY_USAGE_TRANSIENT, 0},    {MAAR_MEMORY_USAGE_FLAGS_ONLY, 0},
    };
    struct rig* const rig = rig_begin(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const MaarAllocationCreateInfo how = rig_how(rows[i].usage);
        assert_int_equal(best(rig, &how), rows[i].type);
    }
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), 0);
}

static void usages_choose_on_an_integrated_device(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_noncoherent()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(best(rig, &how), 0);
    how.usage = MAAR_MEMORY_USAGE_UPLOAD;
    assert_int_equal(best(rig, &how), 1);
    how.usage = MAAR_MEMORY_USAGE_READBACK;
    assert_int_equal(best(rig, &how), 2);
    how.usage = MAAR_MEMORY_USAGE_DEVICE_UPLOAD;
    assert_int_equal(best(rig, &how), 1);
    how.usage = MAAR_MEMORY_USAGE_TRANSIENT;
    assert_int_equal(best(rig, &how), 3);
}

static void flags_and_types_overrule_the_usage(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.requiredFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    assert_int_equal(best(rig, &how), 3);
    how.preferredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    assert_int_equal(best(rig, &how), 2);
    how.requiredFlags |= VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    assert_int_equal(best(rig, &how), 3);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.memoryTypeBits = 0x2;
    assert_int_equal(best(rig, &how), 1);
    how.memoryTypeBits = 0x6;
    how.preferredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    assert_int_equal(best(rig, &how), 2);
    how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.requiredFlags = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    assert_int_equal(best(rig, &how), 1); /* the first in the driver's order */
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(best(rig, &how), 3);
}

static void none_serves_is_an_error(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(choose(rig, 0x1, &how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(choice.memoryTypeIndex, MAAR_MEMORY_TYPE_NONE);
    assert_int_equal(choice.candidateCount, 0);
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON, .text = "old"};
    choice.pNext = &reason;
    assert_int_equal(maarChooseMemoryType(rig->allocator, 0x1, &how, &choice),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_string_equal(reason.text, "");
    how.requiredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
    const VkResult invalid = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &how, NULL), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pChoice");
    how.usage = MAAR_MEMORY_USAGE_MAX_ENUM;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), invalid);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ENUM, "usage");
}

static void no_create_info_is_the_default(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryTypeChoice given;
    MaarMemoryTypeChoice none;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &given), VK_SUCCESS);
    assert_int_equal(choose(rig, UINT32_MAX, NULL, &none), VK_SUCCESS);
    assert_int_equal(none.memoryTypeIndex, given.memoryTypeIndex);
    assert_int_equal(none.candidateCount, given.candidateCount);
    assert_memory_equal(none.candidates, given.candidates, sizeof none.candidates);
}

/* AMD's real tables: types 4 to 10 hold device-coherent ones. */
static void coherent_amd_types_are_never_chosen_unasked(void** state)
{
    (void)state;
    const VkMemoryPropertyFlags odd =
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    const struct rig_setup setup = {.profile = rig_profile_file("amd-rx7900xtx-radv26.2")};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocatorInfo known = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &known), VK_SUCCESS);
    assert_true(known.avoidedTypeBits != 0);
    for (int usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL; usage <= MAAR_MEMORY_USAGE_FLAGS_ONLY;
         ++usage) {
        MaarMemoryTypeChoice choice;
        const MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
        assert_true(choice.candidateCount > 0);
        for (uint32_t i = 0; i < choice.candidateCount; ++i) {
            uint32_t type = choice.candidates[i];
            assert_int_equal(known.memoryProperties.memoryTypes[type].propertyFlags & odd, 0);
            assert_int_equal(known.avoidedTypeBits >> type & 1u, 0);
        }
    }
}

static void protected_types_are_never_chosen_unasked(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.types[0].flags |= VK_MEMORY_PROPERTY_PROTECTED_BIT;
    const struct rig_setup setup = {.profile = &profile};
    for (int enabled = 0; enabled < 2; ++enabled) {
        struct rig* const rig = rig_new();
        rig_open(rig, &setup);
        VkPhysicalDeviceProtectedMemoryFeatures feature = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
            .pNext = rig->recommendation.pFeatures,
            .protectedMemory = enabled != 0 ? VK_TRUE : VK_FALSE,
        };
        rig->create_info.pEnabledFeatures = &feature;
        rig_make_allocator(rig);
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        assert_int_equal(best(rig, &how), 3);
        how.memoryTypeBits = UINT32_MAX; /* any type, as 0 */
        assert_int_equal(best(rig, &how), 3);
        how.memoryTypeBits = 0;
        how.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
        MaarMemoryTypeChoice choice;
        assert_int_equal(choose(rig, UINT32_MAX, &how, &choice),
                         enabled != 0 ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(choice.memoryTypeIndex, enabled != 0 ? 0 : MAAR_MEMORY_TYPE_NONE);
        rig_close(rig);
    }
}

/* A sentence that fits, wherever in the chain it is asked for. */
static void reason_comes_on_request(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    VkBaseOutStructure other = {.sType = (VkStructureType)0x7FFFFFF0, .pNext = (void*)&reason};
    for (uint32_t usage = 0; usage <= MAAR_MEMORY_USAGE_FLAGS_ONLY; ++usage) {
        const MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)usage);
        MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE,
                                       .pNext = usage % 2 == 0 ? (void*)&reason : (void*)&other};
        memset(reason.text, 'x', sizeof reason.text);
        assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &how, &choice),
                         VK_SUCCESS);
        assert_non_null(memchr(reason.text, '\0', sizeof reason.text));
        assert_true(strncmp(reason.text, "type ", 5) == 0 && strlen(reason.text) > 30);
    }
}

/* Naming every type that a resource allows restricts nothing, and asks for nothing special. */
static void avoided_types_need_their_flag(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("amd-rx7900xtx-radv25.0")};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    const VkPhysicalDeviceCoherentMemoryFeaturesAMD feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
        .deviceCoherentMemory = VK_TRUE,
    };
    rig->create_info.pEnabledFeatures = &feature;
    rig_make_allocator(rig);
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &info), VK_SUCCESS);
    const uint32_t avoided = info.avoidedTypeBits;
    const uint32_t all = (1u << info.memoryProperties.memoryTypeCount) - 1u;
    assert_true(avoided != 0 && avoided != all);
    const uint32_t named[] = {0, UINT32_MAX, all, all & ~1u};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryTypeChoice choice;
    for (uint32_t i = 0; i < sizeof named / sizeof named[0]; ++i) {
        how.flags = 0;
        how.memoryTypeBits = named[i];
        assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
        const uint32_t ordinary = choice.candidateCount;
        for (uint32_t k = 0; k < ordinary; ++k) {
            assert_true((avoided >> choice.candidates[k] & 1u) == 0);
        }
        how.flags = MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT;
        assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
        assert_true(choice.candidateCount > ordinary);
        for (uint32_t k = 0; k < choice.candidateCount; ++k) {
            assert_true((avoided >> choice.candidates[k] & 1u) == (k >= ordinary));
        }
    }
    /* Avoided types alone are asked for. */
    how.flags = 0;
    how.memoryTypeBits = avoided;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
    assert_true((avoided >> choice.memoryTypeIndex & 1u) != 0);
    rig_close(rig);
}

static void candidates_are_the_order_of_fallback(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarMemoryTypeChoice choice;
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.candidateCount, 3);
    MaarMemoryRequest request = rig_request(1000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    for (uint32_t i = 0; i < choice.candidateCount; ++i) {
        MaarAllocation memory;
        request.requirements.memoryTypeBits = 0;
        for (uint32_t k = i; k < choice.candidateCount; ++k) {
            request.requirements.memoryTypeBits |= 1u << choice.candidates[k];
        }
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &memory), VK_SUCCESS);
        assert_int_equal(rig_info(rig, memory).memoryTypeIndex, choice.candidates[i]);
        maarFreeMemory(rig->allocator, memory);
    }
}

/* A window is what is below a sixteenth of the largest device-local heap. */
static void a_heap_above_a_sixteenth_is_no_window(void** state)
{
    (void)state;
    for (int window = 0; window < 2; ++window) {
        MaarSimulatedProfile profile = *rig_profile_discrete();
        profile.heaps[2].size = profile.heaps[0].size / 16 - (VkDeviceSize)window;
        profile.types[3].flags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
        profile.types[0].flags |=
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        const struct rig_setup setup = {.profile = &profile};
        struct rig* const rig = rig_begin(&setup);
        const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        assert_int_equal(best(rig, &how), window != 0 ? 0 : 3);
        rig_close(rig);
    }
}

static void ties_go_to_the_larger_heap(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.heaps[2].size = profile.heaps[0].size + GIB;
    profile.types[3].flags = profile.types[0].flags;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(best(rig, &how), 3);
    how.usage = MAAR_MEMORY_USAGE_FLAGS_ONLY;
    how.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    assert_int_equal(best(rig, &how), 0); /* then to the driver's order alone */
}

/* A type that is odd in two ways must be asked for in both. */
static void faulty_requests_are_reported(void** state)
{
    (void)state;
    static const struct {
        MaarAllocationCreateInfo how;
        MaarMessageId id;
        const char* culprit;
    } rows[] = {
        {{.usage = (MaarMemoryUsage)99}, MAAR_MESSAGE_ID_INVALID_ENUM, "pCreateInfo->usage"},
        {{.flags = 0x8000}, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "pCreateInfo->flags"},
        {{.dedicated = (MaarDedicated)99}, MAAR_MESSAGE_ID_INVALID_ENUM, "pCreateInfo->dedicated"},
        {{.priority = 2.0F}, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pCreateInfo->priority"},
    };
    struct rig* const rig = rig_begin(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarAllocationCreateInfo how = rows[i].how;
        how.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO;
        MaarMemoryTypeChoice choice;
        assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, rows[i].id, rows[i].culprit);
    }
}

static void protected_types_are_never_chosen_for_another_oddity(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    profile.types[0].flags |=
        VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV;
    const struct rig_setup setup = {.profile = &profile};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    VkPhysicalDeviceProtectedMemoryFeatures feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
        .pNext = rig->recommendation.pFeatures,
        .protectedMemory = VK_TRUE,
    };
    rig->create_info.pEnabledFeatures = &feature;
    rig_make_allocator(rig);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.requiredFlags = VK_MEMORY_PROPERTY_RDMA_CAPABLE_BIT_NV;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
    how.requiredFlags |= VK_MEMORY_PROPERTY_PROTECTED_BIT;
    assert_int_equal(choose(rig, UINT32_MAX, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(usages_choose_on_a_discrete_device),
        rig_unit_test(usages_choose_on_an_integrated_device),
        rig_unit_test(flags_and_types_overrule_the_usage),
        rig_unit_test(none_serves_is_an_error),
        rig_unit_test(no_create_info_is_the_default),
        rig_unit_test(coherent_amd_types_are_never_chosen_unasked),
        rig_unit_test(protected_types_are_never_chosen_unasked),
        rig_unit_test(reason_comes_on_request),
        cmocka_unit_test(avoided_types_need_their_flag),
        rig_unit_test(candidates_are_the_order_of_fallback),
        rig_unit_test(a_heap_above_a_sixteenth_is_no_window),
        rig_unit_test(ties_go_to_the_larger_heap),
        rig_unit_test(faulty_requests_are_reported),
        rig_unit_test(protected_types_are_never_chosen_for_another_oddity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
