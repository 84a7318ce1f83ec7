/*
 * Memory of the simulated driver, and its independent checker: each rule, broken once, is counted
 * once under its own kind; kept, it is not counted.
 */
#include "simulated_fixture.h"

static void allocation_beyond_limits_fails(void** state)
{
    const struct simulated_fixture* f = *state;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 128 * FIXTURE_MIB + 1, NULL, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE, 1);
    assert_null(memory);
    const VkDeviceMemory first = fixture_memory(f, 0, 128 * FIXTURE_MIB);
    const VkDeviceMemory second = fixture_memory(f, 0, 128 * FIXTURE_MIB);
    assert_int_equal(fixture_allocate(f, 0, 1, NULL, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    maarSimulatedSetFlags(f->physical, MAAR_SIMULATED_OVERCOMMIT_BIT);
    assert_int_equal(fixture_allocate(f, 0, 1, NULL, &memory), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ALLOCATION_SIZE, 1);
    assert_int_equal(fixture_counters(f).heapLive[0], 256 * FIXTURE_MIB + 1);
    f->vkFreeMemory(f->device, first, NULL);
    f->vkFreeMemory(f->device, second, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).heapLive[0], 0);
    assert_int_equal(fixture_counters(f).heapPeak[0], 256 * FIXTURE_MIB + 1);
}

static void allocation_beyond_the_count_fails(void** state)
{
    const struct simulated_fixture* f = *state;
    VkDeviceMemory memory[10];
    for (int i = 0; i < 8; i++) {
        memory[i] = fixture_memory(f, 1, 4096);
    }
    assert_int_equal(fixture_allocate(f, 1, 4096, NULL, &memory[8]), VK_ERROR_TOO_MANY_OBJECTS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ALLOCATION_COUNT, 1);
    maarSimulatedSetFlags(f->physical, MAAR_SIMULATED_UNLIMITED_COUNT_BIT);
    memory[8] = fixture_memory(f, 1, 4096);
    assert_int_equal(fixture_counters(f).peakMemoryCount, 9);
    for (int i = 0; i < 9; i++) {
        f->vkFreeMemory(f->device, memory[i], NULL);
    }
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ALLOCATION_COUNT, 1);
}

static void allocation_without_its_feature_is_a_violation(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory memory = fixture_memory(f, 3, 4096);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_FEATURE, 1);
    const VkMemoryPriorityAllocateInfoEXT priority = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_PRIORITY_ALLOCATE_INFO_EXT, .priority = 0.5F};
    VkDeviceMemory with_priority = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 4096, &priority, &with_priority), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_FEATURE, 2);
    f->vkFreeMemory(f->device, memory, NULL);
    f->vkFreeMemory(f->device, with_priority, NULL);
}

static void handle_freed_twice_is_a_violation(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory memory = fixture_memory(f, 0, 4096);
    f->vkFreeMemory(f->device, memory, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 1);
    const VkDeviceMemory again = fixture_memory(f, 0, 4096);
    assert_true(again != memory);
    f->vkFreeMemory(f->device, memory, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 2);
    f->vkFreeMemory(f->device, again, NULL);
    f->vkFreeMemory(f->device, VK_NULL_HANDLE, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 2);
}

static void mapping_keeps_its_bytes(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory memory = fixture_memory(f, 1, 2 * FIXTURE_MIB);
    void* data = NULL;
    assert_int_equal(f->vkMapMemory(f->device, memory, 4096, VK_WHOLE_SIZE, 0, &data), VK_SUCCESS);
    assert_int_equal((uintptr_t)data % 4096, 0);
    assert_int_equal(*(unsigned char*)data, 0);
    memset(data, 0xA5, 2 * FIXTURE_MIB - 4096);
    f->vkUnmapMemory(f->device, memory);
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, 2 * FIXTURE_MIB, 0, &data), VK_SUCCESS);
    assert_int_equal(((unsigned char*)data)[4095], 0);
    assert_int_equal(((unsigned char*)data)[4096], 0xA5);
    assert_int_equal(((unsigned char*)data)[2 * FIXTURE_MIB - 1], 0xA5);
    assert_int_equal(fixture_counters(f).mappedCount, 1);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).mappedCount, 0);
    assert_int_equal(fixture_counters(f).freedWhileMappedCount, 1);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_MAP, 0);
}

static void mapping_against_the_rules_fails(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory hidden = fixture_memory(f, 0, 4096);
    const VkDeviceMemory memory = fixture_memory(f, 1, 8192);
    void* data = NULL;
    assert_int_equal(f->vkMapMemory(f->device, hidden, 0, VK_WHOLE_SIZE, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(f->vkMapMemory(f->device, memory, 8192, VK_WHOLE_SIZE, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    assert_int_equal(f->vkMapMemory(f->device, memory, 4096, 4097, 0, &data),
                     VK_ERROR_MEMORY_MAP_FAILED);
    f->vkUnmapMemory(f->device, memory);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_MAP, 4);
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, 1, 0, &data), VK_SUCCESS);
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, 1, 0, &data), VK_ERROR_MEMORY_MAP_FAILED);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_MAP, 5);
    f->vkUnmapMemory(f->device, memory);
    f->vkFreeMemory(f->device, memory, NULL);
    f->vkFreeMemory(f->device, hidden, NULL);
}

static void flush_checks_atoms_and_mapping(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory memory = fixture_memory(f, 2, 1000);
    void* data = NULL;
    VkMappedMemoryRange range = {.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                 .memory = memory,
                                 .offset = 64,
                                 .size = 128};
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_FLUSH, 1);
    assert_int_equal(f->vkMapMemory(f->device, memory, 0, VK_WHOLE_SIZE, 0, &data), VK_SUCCESS);
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    range.offset = 960;
    range.size = 40;
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    range.size = VK_WHOLE_SIZE;
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_FLUSH, 1);
    range.offset = 32;
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    range.offset = 64;
    range.size = 65;
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    range.size = 1000;
    f->vkFlushMappedMemoryRanges(f->device, 1, &range);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_FLUSH, 4);
    f->vkUnmapMemory(f->device, memory);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void bind_checks_type_alignment_range_and_repetition(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = fixture_buffer(f, 1000, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    VkMemoryRequirements requirements;
    f->vkGetBufferMemoryRequirements(f->device, buffer, &requirements);
    assert_int_equal(requirements.alignment, 256);
    assert_int_equal(requirements.size, 1024);
    assert_int_equal(requirements.memoryTypeBits, 0xF);
    const VkDeviceMemory memory = fixture_memory(f, 0, 2048);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 1025),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_BIND_RANGE, 1);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 1024), VK_SUCCESS);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 0),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    const VkBuffer crooked = fixture_buffer(f, 16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, crooked, memory, 128), VK_SUCCESS);
    const VkDeviceMemory lazy = fixture_memory(f, 4, 4096);
    const VkBuffer misplaced = fixture_buffer(f, 16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, misplaced, lazy, 0), VK_SUCCESS);
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_BIND_TWICE], 1);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_BIND_ALIGNMENT], 1);
    assert_int_equal(counters.violations[MAAR_SIMULATED_VIOLATION_BIND_TYPE], 1);
    assert_int_equal(counters.violationCount, 4);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkDestroyBuffer(f->device, crooked, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
    f->vkFreeMemory(f->device, lazy, NULL);
    f->vkDestroyBuffer(f->device, misplaced, NULL);
    assert_int_equal(fixture_counters(f).freedBeforeResourceCount, 1);
}

static void bind_finds_overlaps_until_they_are_gone(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDeviceMemory memory = fixture_memory(f, 0, 65536);
    const VkBuffer wide = fixture_buffer(f, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkBuffer before = fixture_buffer(f, 1024, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkBuffer inside = fixture_buffer(f, 16, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkBuffer after = fixture_buffer(f, 1024, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, wide, memory, 8192), VK_SUCCESS);
    assert_int_equal(f->vkBindBufferMemory(f->device, before, memory, 7168), VK_SUCCESS);
    assert_int_equal(f->vkBindBufferMemory(f->device, after, memory, 12288), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 0);
    assert_int_equal(f->vkBindBufferMemory(f->device, inside, memory, 12272), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 1);
    f->vkDestroyBuffer(f->device, wide, NULL);
    f->vkDestroyBuffer(f->device, inside, NULL);
    const VkBuffer reuse = fixture_buffer(f, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, reuse, memory, 8192), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 1);
    maarSimulatedSetFlags(f->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    const VkBuffer alias = fixture_buffer(f, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, alias, memory, 8192), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_OVERLAP, 1);
    const VkBuffer all[4] = {before, after, reuse, alias};
    for (int i = 0; i < 4; i++) {
        f->vkDestroyBuffer(f->device, all[i], NULL);
    }
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).freedBeforeResourceCount, 0);
}

static void bind_finds_granularity_conflicts(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8_UNORM, 16, 16);
    const VkImage image = fixture_image(f, &info);
    VkMemoryRequirements requirements;
    f->vkGetImageMemoryRequirements(f->device, image, &requirements);
    assert_int_equal(requirements.size, 256);
    assert_int_equal(requirements.alignment, 4096);
    const VkDeviceMemory memory = fixture_memory(f, 0, 65536);
    const VkBuffer near_by = fixture_buffer(f, 256, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkBuffer next_page = fixture_buffer(f, 256, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, next_page, memory, 4096 + 1024), VK_SUCCESS);
    assert_int_equal(f->vkBindImageMemory(f->device, image, memory, 4096), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_GRANULARITY, 0);
    assert_int_equal(f->vkBindBufferMemory(f->device, near_by, memory, 4096 + 768), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_GRANULARITY, 1);
    f->vkDestroyBuffer(f->device, near_by, NULL);
    f->vkDestroyBuffer(f->device, next_page, NULL);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void dedicated_rules_are_checked(void** state)
{
    const struct simulated_fixture* f = *state;
    const MaarSimulatedDedicated requirement = {.buffersRequire = VK_TRUE};
    maarSimulatedSetDedicated(f->physical, &requirement);
    const VkBuffer buffer = fixture_buffer(f, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 out = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                 .pNext = &dedicated};
    const VkBufferMemoryRequirementsInfo2 ask = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2, .buffer = buffer};
    f->vkGetBufferMemoryRequirements2(f->device, &ask, &out);
    assert_true(dedicated.requiresDedicatedAllocation);
    assert_true(dedicated.prefersDedicatedAllocation);
    const VkMemoryDedicatedAllocateInfo chain = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = buffer};
    VkDeviceMemory own = VK_NULL_HANDLE;
    VkDeviceMemory wrong_size = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 8192, &chain, &wrong_size), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_DEDICATED, 1);
    assert_int_equal(fixture_allocate(f, 0, 4096, &chain, &own), VK_SUCCESS);
    const VkBuffer other = fixture_buffer(f, 16, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, other, own, 0), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_DEDICATED, 3);
    f->vkDestroyBuffer(f->device, other, NULL);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, own, 0), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_DEDICATED, 3);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkFreeMemory(f->device, own, NULL);
    f->vkFreeMemory(f->device, wrong_size, NULL);
}

static void address_needs_usage_flag_and_memory(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkBuffer buffer = fixture_buffer(f, 4096, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
    const VkBufferDeviceAddressInfo ask = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = buffer};
    assert_int_equal(f->vkGetBufferDeviceAddress(f->device, &ask), 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(f, 0, 65536, &flags, &memory), VK_SUCCESS);
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 4096), VK_SUCCESS);
    const VkDeviceAddress address = f->vkGetBufferDeviceAddress(f->device, &ask);
    assert_true(address > 4096);
    assert_int_equal(address % 4096, 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_UNBOUND, 1);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    const VkDeviceMemory plain = fixture_memory(f, 0, 4096);
    const VkBuffer second = fixture_buffer(f, 16, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
    assert_int_equal(f->vkBindBufferMemory(f->device, second, plain, 0), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_ARGUMENT], 1);
    f->vkDestroyBuffer(f->device, second, NULL);
    f->vkFreeMemory(f->device, plain, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void image_sizes_follow_format_levels_and_samples(void** state)
{
    const struct simulated_fixture* f = *state;
    struct {
        VkFormat format;
        uint32_t mips;
        VkSampleCountFlagBits samples;
        VkDeviceSize least, most;
    } rows[] = {
        {VK_FORMAT_R8G8B8A8_UNORM, 1, VK_SAMPLE_COUNT_1_BIT, 4 * FIXTURE_MIB, 4 * FIXTURE_MIB},
        {VK_FORMAT_R8G8B8A8_UNORM, 11, VK_SAMPLE_COUNT_1_BIT, 5592404, 5600000},
        {VK_FORMAT_BC1_RGB_UNORM_BLOCK, 1, VK_SAMPLE_COUNT_1_BIT, 524288, 524288},
        {VK_FORMAT_BC3_UNORM_BLOCK, 1, VK_SAMPLE_COUNT_1_BIT, 1048576, 1048576},
        {VK_FORMAT_R16G16B16A16_SFLOAT, 1, VK_SAMPLE_COUNT_4_BIT, 32 * FIXTURE_MIB,
         32 * FIXTURE_MIB},
        {VK_FORMAT_D16_UNORM, 1, VK_SAMPLE_COUNT_1_BIT, 2 * FIXTURE_MIB, 2 * FIXTURE_MIB},
        {VK_FORMAT_D32_SFLOAT_S8_UINT, 1, VK_SAMPLE_COUNT_1_BIT, 5 * FIXTURE_MIB, 8 * FIXTURE_MIB},
        {VK_FORMAT_R32G32B32A32_SFLOAT, 1, VK_SAMPLE_COUNT_1_BIT, 16 * FIXTURE_MIB,
         16 * FIXTURE_MIB},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        VkImageCreateInfo info = fixture_image_info(rows[i].format, 1024, 1024);
        info.mipLevels = rows[i].mips;
        info.samples = rows[i].samples;
        const VkImage image = fixture_image(f, &info);
        VkMemoryRequirements requirements;
        f->vkGetImageMemoryRequirements(f->device, image, &requirements);
        assert_in_range(requirements.size, rows[i].least, rows[i].most);
        assert_int_equal(requirements.alignment, 65536);
        VkMemoryRequirements2 early = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        const VkDeviceImageMemoryRequirements ask = {
            .sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS, .pCreateInfo = &info};
        f->vkGetDeviceImageMemoryRequirements(f->device, &ask, &early);
        assert_int_equal(early.memoryRequirements.size, requirements.size);
        assert_int_equal(early.memoryRequirements.alignment, requirements.alignment);
        assert_int_equal(early.memoryRequirements.memoryTypeBits, requirements.memoryTypeBits);
        f->vkDestroyImage(f->device, image, NULL);
    }
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 0);
}

static void disjoint_planes_are_bound_apart(void** state)
{
    const struct simulated_fixture* f = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 512, 512);
    info.flags = VK_IMAGE_CREATE_DISJOINT_BIT;
    const VkImage image = fixture_image(f, &info);
    const VkDeviceMemory memory = fixture_memory(f, 0, FIXTURE_MIB);
    const VkDeviceSize sizes[2] = {262144, 131072};
    VkBindImagePlaneMemoryInfo planes[2];
    VkBindImageMemoryInfo binds[2];
    for (uint32_t i = 0; i < 2; i++) {
        const VkImageAspectFlagBits aspect =
            i == 0 ? VK_IMAGE_ASPECT_PLANE_0_BIT : VK_IMAGE_ASPECT_PLANE_1_BIT;
        const VkImagePlaneMemoryRequirementsInfo plane = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_PLANE_MEMORY_REQUIREMENTS_INFO, .planeAspect = aspect};
        const VkImageMemoryRequirementsInfo2 ask = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
            .pNext = &plane,
            .image = image};
        VkMemoryRequirements2 out = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        f->vkGetImageMemoryRequirements2(f->device, &ask, &out);
        assert_int_equal(out.memoryRequirements.size, sizes[i]);
        planes[i] = (VkBindImagePlaneMemoryInfo){
            .sType = VK_STRUCTURE_TYPE_BIND_IMAGE_PLANE_MEMORY_INFO, .planeAspect = aspect};
        binds[i] = (VkBindImageMemoryInfo){.sType = VK_STRUCTURE_TYPE_BIND_IMAGE_MEMORY_INFO,
                                           .pNext = &planes[i],
                                           .image = image,
                                           .memory = memory,
                                           .memoryOffset = (VkDeviceSize)i * 524288};
    }
    assert_int_equal(f->vkBindImageMemory2(f->device, 2, binds), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 0);
    VkMemoryRequirements whole;
    f->vkGetImageMemoryRequirements(f->device, image, &whole);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
    assert_int_equal(fixture_counters(f).freedBeforeResourceCount, 0);
}

static void image_outside_the_limits_is_refused(void** state)
{
    const struct simulated_fixture* f = *state;
    VkImage image = VK_NULL_HANDLE;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8_UNORM, 20000, 1);
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    info = fixture_image_info(VK_FORMAT_BC7_UNORM_BLOCK, 64, 64);
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    info = fixture_image_info(VK_FORMAT_UNDEFINED, 64, 64);
    assert_int_equal(f->vkCreateImage(f->device, &info, NULL, &image),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 3);
}

#define MEMORY_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(allocation_beyond_limits_fails),
        MEMORY_TEST(allocation_beyond_the_count_fails),
        MEMORY_TEST(allocation_without_its_feature_is_a_violation),
        MEMORY_TEST(handle_freed_twice_is_a_violation),
        MEMORY_TEST(mapping_keeps_its_bytes),
        MEMORY_TEST(mapping_against_the_rules_fails),
        MEMORY_TEST(flush_checks_atoms_and_mapping),
        MEMORY_TEST(bind_checks_type_alignment_range_and_repetition),
        MEMORY_TEST(bind_finds_overlaps_until_they_are_gone),
        MEMORY_TEST(bind_finds_granularity_conflicts),
        MEMORY_TEST(dedicated_rules_are_checked),
        MEMORY_TEST(address_needs_usage_flag_and_memory),
        MEMORY_TEST(image_sizes_follow_format_levels_and_samples),
        MEMORY_TEST(disjoint_planes_are_bound_apart),
        MEMORY_TEST(image_outside_the_limits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
