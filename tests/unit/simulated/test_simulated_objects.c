/*
 * The rest of the simulated driver: every function that it lists is there, physical devices answer
 * in both idioms, and the objects that only pass by are counted, leaked and freed like the others.
 */
#include "simulated_fixture.h"

#include "backends/simulated/sim_functions.h"

static PFN_vkVoidFunction of_instance(const struct simulated_fixture* f, const char* name)
{
    const PFN_vkVoidFunction found = maarSimulatedGetInstanceProcAddr(f->instance, name);
    if (found == NULL) {
        fail_msg("%s is missing", name);
    }
    return found;
}

static PFN_vkVoidFunction of_device(const struct simulated_fixture* f, const char* name)
{
    const PFN_vkGetDeviceProcAddr get =
        (PFN_vkGetDeviceProcAddr)of_instance(f, "vkGetDeviceProcAddr");
    const PFN_vkVoidFunction found = get(f->device, name);
    if (found == NULL) {
        fail_msg("%s is missing", name);
    }
    return found;
}

#define INSTANCE_CALL(f, name) ((PFN_##name)of_instance(f, #name))
#define DEVICE_CALL(f, name) ((PFN_##name)of_device(f, #name))

static void every_function_of_the_list_is_there(void** state)
{
    (void)state;
    static const char* const names[] = {
#define TEST_NAME(name, since, extension, traits, usual) #name,
        SIM_FUNCTIONS(TEST_NAME)
#undef TEST_NAME
    };
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(profile);
    fixture_profile(profile);
    static const char* const extensions[] = {
        VK_EXT_MEMORY_PRIORITY_EXTENSION_NAME,
        VK_EXT_PAGEABLE_DEVICE_LOCAL_MEMORY_EXTENSION_NAME,
        VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
    };
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        fixture_add_extension(profile, extensions[i]);
    }
    const MaarSimulatedSharingInfo sharing = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_SHARING_INFO,
        .dmaBufImages = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
        .opaqueTimeline = VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT,
    };
    profile->pNext = &sharing;
    VkInstance instance = NULL;
    assert_int_equal(fixture_make_instance(profile, 1, VK_API_VERSION_1_3, &instance), VK_SUCCESS);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
#if !defined(__linux__)
        if (strstr(names[i], "Fd") != NULL || strstr(names[i], "Drm") != NULL) {
            continue;
        }
#endif
        if (maarSimulatedGetInstanceProcAddr(instance, names[i]) == NULL) {
            fail_msg("%s is missing", names[i]);
        }
    }
    ((PFN_vkDestroyInstance)maarSimulatedGetInstanceProcAddr(instance, "vkDestroyInstance"))(
        instance, NULL);
    free(profile);
}

static void lists_follow_the_two_call_idiom(void** state)
{
    const struct simulated_fixture* f = *state;
    const PFN_vkEnumerateDeviceExtensionProperties enumerate =
        INSTANCE_CALL(f, vkEnumerateDeviceExtensionProperties);
    uint32_t count = 0;
    assert_int_equal(enumerate(f->physical, NULL, &count, NULL), VK_SUCCESS);
    assert_in_range(count, 3, 32);
    VkExtensionProperties* list = calloc(count, sizeof(*list));
    assert_non_null(list);
    uint32_t fewer = count - 1;
    assert_int_equal(enumerate(f->physical, NULL, &fewer, list), VK_INCOMPLETE);
    assert_int_equal(fewer, count - 1);
    assert_int_equal(enumerate(f->physical, NULL, &count, list), VK_SUCCESS);
    bool budget = false;
    for (uint32_t i = 0; i < count; i++) {
        budget = budget || strcmp(list[i].extensionName, "VK_EXT_memory_budget") == 0;
        assert_string_not_equal(list[i].extensionName, "VK_EXT_memory_priority");
    }
    assert_true(budget);
    free(list);
    assert_int_equal(enumerate(f->physical, "VK_LAYER_none", &count, NULL),
                     VK_ERROR_LAYER_NOT_PRESENT);
    VkPhysicalDevice none[1];
    count = 0;
    assert_int_equal(INSTANCE_CALL(f, vkEnumeratePhysicalDevices)(f->instance, &count, none),
                     VK_INCOMPLETE);
    VkQueueFamilyProperties families[4];
    uint32_t family_count = 4;
    INSTANCE_CALL(f, vkGetPhysicalDeviceQueueFamilyProperties)
    (f->physical, &family_count, families);
    assert_int_equal(family_count, 1);
    assert_int_equal(families[0].queueCount, 2);
    VkQueueFamilyProperties2 family2 = {.sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2};
    family_count = 1;
    INSTANCE_CALL(f, vkGetPhysicalDeviceQueueFamilyProperties2)
    (f->physical, &family_count, &family2);
    assert_int_equal(family2.queueFamilyProperties.queueFlags, families[0].queueFlags);
}

static void formats_answer_alike_in_both_idioms(void** state)
{
    const struct simulated_fixture* f = *state;
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_D32_SFLOAT,
                                       VK_FORMAT_BC7_UNORM_BLOCK, VK_FORMAT_UNDEFINED,
                                       VK_FORMAT_G8_B8R8_2PLANE_420_UNORM};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        VkFormatProperties one;
        VkFormatProperties2 two = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
        INSTANCE_CALL(f, vkGetPhysicalDeviceFormatProperties)(f->physical, formats[i], &one);
        INSTANCE_CALL(f, vkGetPhysicalDeviceFormatProperties2)(f->physical, formats[i], &two);
        assert_memory_equal(&one, &two.formatProperties, sizeof(one));
        assert_true((one.optimalTilingFeatures != 0) == (formats[i] != VK_FORMAT_UNDEFINED));
        const VkPhysicalDeviceImageFormatInfo2 ask = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
            .format = formats[i],
            .type = VK_IMAGE_TYPE_2D,
            .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
        VkImageFormatProperties image;
        VkImageFormatProperties2 image2 = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
        const VkResult expected =
            formats[i] != VK_FORMAT_UNDEFINED ? VK_SUCCESS : VK_ERROR_FORMAT_NOT_SUPPORTED;
        assert_int_equal(INSTANCE_CALL(f, vkGetPhysicalDeviceImageFormatProperties)(
                             f->physical, formats[i], VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                             VK_IMAGE_USAGE_SAMPLED_BIT, 0, &image),
                         expected);
        assert_int_equal(
            INSTANCE_CALL(f, vkGetPhysicalDeviceImageFormatProperties2)(f->physical, &ask, &image2),
            expected);
        assert_int_equal(image.maxExtent.width, image2.imageFormatProperties.maxExtent.width);
        assert_int_equal(image.sampleCounts, image2.imageFormatProperties.sampleCounts);
    }
}

static void linear_image_has_a_layout(void** state)
{
    const struct simulated_fixture* f = *state;
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 100, 10);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.arrayLayers = 2;
    const VkImage image = fixture_image(f, &info);
    const VkImageSubresource second = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .arrayLayer = 1};
    VkSubresourceLayout layout;
    f->vkGetImageSubresourceLayout(f->device, image, &second, &layout);
    assert_in_range(layout.rowPitch, 400, 512);
    assert_int_equal(layout.size, layout.rowPitch * 10);
    assert_int_equal(layout.offset, layout.arrayPitch);
    VkMemoryRequirements requirements;
    f->vkGetImageMemoryRequirements(f->device, image, &requirements);
    assert_true(layout.offset + layout.size <= requirements.size);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 0);
    const VkImageSubresource beyond = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .arrayLayer = 2};
    f->vkGetImageSubresourceLayout(f->device, image, &beyond, &layout);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    f->vkDestroyImage(f->device, image, NULL);
}

/* Each plane has a layout of its own, behind the planes before it unless it is bound apart. */
static void planes_have_layouts_of_their_own(void** state)
{
    const struct simulated_fixture* f = *state;
    static const VkImageAspectFlagBits aspects[] = {
        VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT};
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 200, 30);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    info.arrayLayers = 2;
    for (uint32_t disjoint = 0; disjoint < 2; disjoint++) {
        info.flags = disjoint != 0 ? (VkImageCreateFlags)VK_IMAGE_CREATE_DISJOINT_BIT : 0;
        const VkImage image = fixture_image(f, &info);
        VkSubresourceLayout layouts[3];
        for (uint32_t i = 0; i < 3; i++) {
            const VkImageSubresource part = {.aspectMask = (VkFlags)aspects[i]};
            f->vkGetImageSubresourceLayout(f->device, image, &part, &layouts[i]);
        }
        fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, disjoint + 1);
        assert_in_range(layouts[0].rowPitch, 200, 256);
        assert_int_equal(layouts[0].size, layouts[0].rowPitch * 30);
        assert_int_equal(layouts[0].offset, 0);
        assert_in_range(layouts[1].rowPitch, 200, 256);
        assert_int_equal(layouts[1].size, layouts[1].rowPitch * 15);
        assert_int_equal(layouts[1].offset, disjoint != 0 ? 0 : 2 * layouts[0].arrayPitch);
        assert_int_equal(layouts[2].size, 0);
        if (disjoint == 0) {
            VkMemoryRequirements requirements;
            f->vkGetImageMemoryRequirements(f->device, image, &requirements);
            assert_int_equal(layouts[1].offset + 2 * layouts[1].arrayPitch, requirements.size);
        }
        f->vkDestroyImage(f->device, image, NULL);
    }
}

/* One object of each kind that only passes by: made, counted, and destroyed again. */
static void passing_objects_are_counted(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDevice d = f->device;
#define TEST_PAIR(Name, VALUE)                                                                     \
    do {                                                                                           \
        const Vk##Name##CreateInfo info = {.sType = (VALUE)};                                      \
        Vk##Name object = VK_NULL_HANDLE;                                                          \
        assert_int_equal(DEVICE_CALL(f, vkCreate##Name)(d, &info, NULL, &object), VK_SUCCESS);     \
        assert_true(object != VK_NULL_HANDLE);                                                     \
        assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 1);           \
        DEVICE_CALL(f, vkDestroy##Name)(d, object, NULL);                                          \
        assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 0);           \
        DEVICE_CALL(f, vkDestroy##Name)(d, VK_NULL_HANDLE, NULL);                                  \
    } while (0)
    TEST_PAIR(BufferView, VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO);
    TEST_PAIR(ImageView, VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
    TEST_PAIR(ShaderModule, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    TEST_PAIR(PipelineLayout, VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    TEST_PAIR(DescriptorSetLayout, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    TEST_PAIR(QueryPool, VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    TEST_PAIR(DescriptorPool, VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
#undef TEST_PAIR
    const VkComputePipelineCreateInfo infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO},
        {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO}};
    VkPipeline pipelines[2];
    assert_int_equal(
        DEVICE_CALL(f, vkCreateComputePipelines)(d, VK_NULL_HANDLE, 2, infos, NULL, pipelines),
        VK_SUCCESS);
    assert_true(pipelines[0] != pipelines[1]);
    for (int i = 0; i < 2; i++) {
        DEVICE_CALL(f, vkDestroyPipeline)(d, pipelines[i], NULL);
    }
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 0);
    DEVICE_CALL(f, vkDestroyPipeline)(d, pipelines[0], NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 1);
}

static void descriptor_sets_go_with_their_pool(void** state)
{
    const struct simulated_fixture* f = *state;
    const VkDescriptorPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    VkDescriptorPool pool = VK_NULL_HANDLE;
    assert_int_equal(DEVICE_CALL(f, vkCreateDescriptorPool)(f->device, &pool_info, NULL, &pool),
                     VK_SUCCESS);
    const VkDescriptorSetAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                              .descriptorPool = pool,
                                              .descriptorSetCount = 3};
    VkDescriptorSet sets[3];
    const PFN_vkAllocateDescriptorSets allocate = DEVICE_CALL(f, vkAllocateDescriptorSets);
    assert_int_equal(allocate(f->device, &info, sets), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 4);
    assert_int_equal(DEVICE_CALL(f, vkFreeDescriptorSets)(f->device, pool, 1, sets), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 3);
    assert_int_equal(DEVICE_CALL(f, vkResetDescriptorPool)(f->device, pool, 0), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 1);
    assert_int_equal(allocate(f->device, &info, sets), VK_SUCCESS);
    DEVICE_CALL(f, vkDestroyDescriptorPool)(f->device, pool, NULL);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_OTHER], 0);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 0);
}

struct recording {
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static struct recording begin_recording(const struct simulated_fixture* f)
{
    struct recording r = {VK_NULL_HANDLE, NULL};
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    assert_int_equal(f->vkCreateCommandPool(f->device, &pool_info, NULL, &r.pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = r.pool,
                                              .commandBufferCount = 1};
    assert_int_equal(f->vkAllocateCommandBuffers(f->device, &info, &r.commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(f->vkBeginCommandBuffer(r.commands, &begin), VK_SUCCESS);
    return r;
}

static void commands_are_accepted_and_counted(void** state)
{
    const struct simulated_fixture* f = *state;
    const struct recording r = begin_recording(f);
    const VkCommandBuffer c = r.commands;
    const VkDeviceMemory memory = fixture_memory(f, 0, FIXTURE_MIB);
    const VkBuffer buffer = fixture_buffer(f, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8_UNORM, 64, 64);
    const VkImage image = fixture_image(f, &info);
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    assert_int_equal(f->vkBindBufferMemory(f->device, buffer, memory, 0), VK_SUCCESS);
    assert_int_equal(f->vkBindImageMemory(f->device, image, memory, 65536), VK_SUCCESS);
    const uint64_t before = fixture_counters(f).callCount;
    DEVICE_CALL(f, vkCmdUpdateBuffer)(c, buffer, 0, 4, "abc");
    DEVICE_CALL(f, vkCmdCopyBuffer)(c, buffer, buffer, 0, NULL);
    DEVICE_CALL(f, vkCmdCopyImage)(c, image, general, image, general, 0, NULL);
    DEVICE_CALL(f, vkCmdCopyBufferToImage)(c, buffer, image, general, 0, NULL);
    DEVICE_CALL(f, vkCmdCopyImageToBuffer)(c, image, general, buffer, 0, NULL);
    DEVICE_CALL(f, vkCmdClearColorImage)(c, image, general, NULL, 0, NULL);
    DEVICE_CALL(f, vkCmdClearDepthStencilImage)(c, image, general, NULL, 0, NULL);
    DEVICE_CALL(f, vkCmdPipelineBarrier)(c, 1, 1, 0, 0, NULL, 0, NULL, 0, NULL);
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
    DEVICE_CALL(f, vkCmdPipelineBarrier2)(c, &dependency);
    DEVICE_CALL(f, vkCmdBindPipeline)(c, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE);
    DEVICE_CALL(f, vkCmdBindDescriptorSets)
    (c, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE, 0, 0, NULL, 0, NULL);
    DEVICE_CALL(f, vkCmdPushConstants)(c, VK_NULL_HANDLE, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, "abc");
    DEVICE_CALL(f, vkCmdDispatch)(c, 1, 1, 1);
    DEVICE_CALL(f, vkCmdResetQueryPool)(c, VK_NULL_HANDLE, 0, 1);
    DEVICE_CALL(f, vkCmdWriteTimestamp)
    (c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_NULL_HANDLE, 0);
    assert_int_equal(fixture_counters(f).callCount, before + 15);
    assert_int_equal(fixture_counters(f).violationCount, 0);
    assert_int_equal(f->vkEndCommandBuffer(c), VK_SUCCESS);
    DEVICE_CALL(f, vkCmdDispatch)(c, 1, 1, 1);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    const VkCommandBufferSubmitInfo submitted = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = c};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &submitted};
    const PFN_vkQueueSubmit2 submit2 = DEVICE_CALL(f, vkQueueSubmit2);
    assert_int_equal(submit2(f->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    assert_int_equal(DEVICE_CALL(f, vkResetCommandPool)(f->device, r.pool, 0), VK_SUCCESS);
    assert_int_equal(submit2(f->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 2);
    DEVICE_CALL(f, vkFreeCommandBuffers)(f->device, r.pool, 1, &c);
    f->vkDestroyCommandPool(f->device, r.pool, NULL);
    f->vkDestroyBuffer(f->device, buffer, NULL);
    f->vkDestroyImage(f->device, image, NULL);
    f->vkFreeMemory(f->device, memory, NULL);
}

static void host_pointers_are_imported(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    struct simulated_fixture f;
    assert_non_null(profile);
    fixture_profile(profile);
    profile->limits.minImportedHostPointerAlignment = 64;
    fixture_open(&f, profile);
    _Alignas(64) static unsigned char bytes[128];
    const VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = bytes};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(&f, 1, 128, &import, &memory), VK_SUCCESS);
    fixture_expect(&f, MAAR_SIMULATED_VIOLATION_FEATURE, 1);
    f.vkFreeMemory(f.device, memory, NULL);
    f.vkDestroyDevice(f.device, NULL);

    const char* const name = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    fixture_add_extension(profile, name);
    f.vkDestroyInstance(f.instance, NULL);
    fixture_open(&f, profile);
    f.vkDestroyDevice(f.device, NULL);
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = &name};
    assert_int_equal(INSTANCE_CALL(&f, vkCreateDevice)(f.physical, &info, NULL, &f.device),
                     VK_SUCCESS);
    VkMemoryHostPointerPropertiesEXT types = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    assert_int_equal(
        DEVICE_CALL(&f, vkGetMemoryHostPointerPropertiesEXT)(
            f.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, bytes, &types),
        VK_SUCCESS);
    assert_int_equal(types.memoryTypeBits, 6);
    void* mapped = NULL;
    assert_int_equal(fixture_allocate(&f, 1, 128, &import, &memory), VK_SUCCESS);
    assert_int_equal(f.vkMapMemory(f.device, memory, 64, VK_WHOLE_SIZE, 0, &mapped), VK_SUCCESS);
    assert_ptr_equal(mapped, bytes + 64);
    assert_int_equal(fixture_counters(&f).heapLive[1], 0);
    f.vkFreeMemory(f.device, memory, NULL);
    fixture_expect(&f, MAAR_SIMULATED_VIOLATION_FEATURE, 0);
    f.vkDestroyDevice(f.device, NULL);
    f.vkDestroyInstance(f.instance, NULL);
    free(profile);
}

static void handles_of_another_device_are_seen(void** state)
{
    struct simulated_fixture* f = *state;
    struct simulated_fixture second = *f;
    assert_int_equal(fixture_make_device(&second), VK_SUCCESS);
    const VkDeviceMemory memory = fixture_memory(f, 0, 4096);
    second.vkFreeMemory(second.device, memory, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 1);
    f->vkFreeMemory(f->device, memory, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_HANDLE, 1);
    second.vkDestroyDevice(second.device, NULL);
    assert_int_equal(fixture_counters(f).liveCount[MAAR_SIMULATED_OBJECT_DEVICE], 1);
}

/* Every function of the fixture that can fail, failed once, leaves no object behind. */
static void failing_creates_leave_nothing(void** state)
{
    const struct simulated_fixture* f = *state;
    static const char* const names[] = {"vkCreateBuffer",   "vkCreateImage",
                                        "vkAllocateMemory", "vkCreateSemaphore",
                                        "vkCreateFence",    "vkCreateCommandPool"};
    const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                            .size = 64,
                                            .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const VkImageCreateInfo image_info = fixture_image_info(VK_FORMAT_R8_UNORM, 4, 4);
    const VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const MaarSimulatedFault fault = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_FAULT,
                                          .pFunctionName = names[i],
                                          .result = VK_ERROR_OUT_OF_HOST_MEMORY};
        assert_int_equal(maarSimulatedSetFault(f->physical, &fault), VK_SUCCESS);
    }
    VkBuffer buffer = (VkBuffer)(uint64_t)1;
    VkImage image = (VkImage)(uint64_t)1;
    VkDeviceMemory memory = (VkDeviceMemory)(uint64_t)1;
    VkSemaphore semaphore = (VkSemaphore)(uint64_t)1;
    VkFence fence = (VkFence)(uint64_t)1;
    VkCommandPool pool = (VkCommandPool)(uint64_t)1;
    const VkResult results[] = {
        f->vkCreateBuffer(f->device, &buffer_info, NULL, &buffer),
        f->vkCreateImage(f->device, &image_info, NULL, &image),
        fixture_allocate(f, 0, 64, NULL, &memory),
        f->vkCreateSemaphore(f->device, &semaphore_info, NULL, &semaphore),
        f->vkCreateFence(f->device, &fence_info, NULL, &fence),
        f->vkCreateCommandPool(f->device, &pool_info, NULL, &pool),
    };
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        assert_int_equal(results[i], VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_true(buffer == VK_NULL_HANDLE && image == VK_NULL_HANDLE);
    assert_true(memory == VK_NULL_HANDLE && semaphore == VK_NULL_HANDLE);
    assert_true(fence == VK_NULL_HANDLE && pool == VK_NULL_HANDLE);
    const MaarSimulatedCounters counters = fixture_counters(f);
    assert_int_equal(counters.faultCount, 6);
    for (int i = MAAR_SIMULATED_OBJECT_MEMORY; i < MAAR_SIMULATED_OBJECT_COUNT; i++) {
        assert_int_equal(counters.liveCount[i], 0);
    }
}

#define OBJECT_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_of_the_list_is_there),
        OBJECT_TEST(lists_follow_the_two_call_idiom),
        OBJECT_TEST(formats_answer_alike_in_both_idioms),
        OBJECT_TEST(linear_image_has_a_layout),
        OBJECT_TEST(planes_have_layouts_of_their_own),
        OBJECT_TEST(passing_objects_are_counted),
        OBJECT_TEST(descriptor_sets_go_with_their_pool),
        OBJECT_TEST(commands_are_accepted_and_counted),
        cmocka_unit_test(host_pointers_are_imported),
        OBJECT_TEST(handles_of_another_device_are_seen),
        OBJECT_TEST(failing_creates_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
