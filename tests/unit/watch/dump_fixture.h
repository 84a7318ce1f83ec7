/*
 * What the tests of dumps share: an allocator that holds some of everything, and a dump that was
 * written as a program would and read back with another library.
 */
#ifndef MAAR_TESTS_UNIT_DUMP_FIXTURE_H
#define MAAR_TESTS_UNIT_DUMP_FIXTURE_H

#include "tests/rig/rig.h"

#include <jansson.h>

enum { SCENE_ALLOCATIONS = 24 };

struct scene {
    struct rig rig;
    MaarPool ring;     /* linear, named */
    MaarPool twins[2]; /* two pools of one type and one name */
    MaarAllocation allocations[SCENE_ALLOCATIONS];
    uint32_t count;
};

/* Everything that a name may not do to a dump: quotes, controls, bytes that are not UTF-8, markup,
 * and more length than a MaarBlockRange holds. */
static const char scene_nasty_name[] = "a \"name\"\\ with\n\ttabs, \x01, \xff\xc0\xaf and "
                                       "</script> that goes on for more than 48 bytes \xe2\x82\xac";
static const char scene_nasty_read[] =
    "a \"name\"\\ with\n\ttabs, \x01, \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd and </script> that goes "
    "on for more than 48 bytes \xe2\x82\xac";

static inline MaarAllocation scene_add(struct scene* scene, const MaarMemoryRequest* request,
                                       const MaarAllocationCreateInfo* how)
{
    MaarAllocation* slot = &scene->allocations[scene->count++];
    assert_true(scene->count <= SCENE_ALLOCATIONS);
    assert_int_equal(maarAllocateMemory(scene->rig.allocator, request, how, slot), VK_SUCCESS);
    return *slot;
}

static inline void scene_add_pools(struct scene* scene)
{
    const MaarPoolCreateInfo ring = {
        .memoryTypeIndex = 1,
        .strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
        .blockSize = MIB,
        .minBlockCount = 1,
        .pName = "upload \"ring\"",
    };
    const MaarPoolCreateInfo twin = {
        .memoryTypeIndex = 0,
        .strategy = MAAR_PLACEMENT_STRATEGY_BUDDY,
        .blockSize = 4 * MIB,
        .priority = 0.25F,
        .pName = "twin",
    };
    scene->ring = rig_create_pool(&scene->rig, &ring);
    scene->twins[0] = rig_create_pool(&scene->rig, &twin);
    scene->twins[1] = rig_create_pool(&scene->rig, &twin);
}

static inline void scene_add_pooled(struct scene* scene)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarMemoryRequest request = rig_request(1000, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    how.pool = scene->ring;
    for (uint32_t i = 0; i < 4; ++i) {
        (void)scene_add(scene, &request, &how);
    }
    how.pool = scene->twins[1];
    request.kind = MAAR_RESOURCE_KIND_OPTIMAL;
    request.requirements.size = 70000;
    (void)scene_add(scene, &request, &how);
}

/* Opens an allocator that holds: three kinds of resources, pools with and without blocks, holes,
 * padding, a dedicated allocation, a mapped one, names, user data, and pending ones. */
static inline void scene_open(struct scene* scene, const struct rig_setup* setup,
                              MaarPlacementStrategy strategy)
{
    memset(scene, 0, sizeof *scene);
    rig_open(&scene->rig, setup);
    scene->rig.create_info.strategy = strategy;
    rig_make_allocator(&scene->rig);
    scene_add_pools(scene);
    scene_add_pooled(scene);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < 9; ++i) {
        MaarMemoryRequest request =
            rig_request(3000 + 100 * i, 4096, UINT32_MAX, (MaarResourceKind)(i % 3));
        how.pName = i == 4 ? scene_nasty_name : NULL;
        how.pUserData = i == 5 ? (void*)(uintptr_t)0xabcd : NULL;
        (void)scene_add(scene, &request, &how);
    }
    how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    how.pName = "staging";
    MaarMemoryRequest request = rig_request(5000, 1, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    (void)scene_add(scene, &request, &how);
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    how.pName = "shadow map";
    request = rig_request(9 * MIB, 65536, UINT32_MAX, MAAR_RESOURCE_KIND_OPTIMAL);
    (void)scene_add(scene, &request, &how);
    MaarAllocation gone = scene_add(scene, &request, &how);
    const MaarPoint point = {.value = 7};
    assert_int_equal(maarFreeMemoryAfter(scene->rig.allocator, gone, 1, &point), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(scene->rig.allocator, scene->allocations[7], 1, &point),
                     VK_SUCCESS);
    maarFreeMemory(scene->rig.allocator, scene->allocations[12]);
    scene->allocations[7] = VK_NULL_HANDLE;
    scene->allocations[12] = VK_NULL_HANDLE;
    --scene->count;
}

static inline void scene_close(struct scene* scene)
{
    maarFreeMemories(scene->rig.allocator, scene->count, scene->allocations);
    assert_int_equal(maarAdvanceHostTimeline(scene->rig.allocator, 7), VK_SUCCESS);
    assert_int_equal(maarCollect(scene->rig.allocator, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyPool(scene->rig.allocator, scene->twins[i]);
    }
    maarDestroyPool(scene->rig.allocator, scene->ring);
    rig_close(&scene->rig);
}

/* The text of a dump, by the two-call idiom; free() it. */
static inline char* dump_text(MaarAllocator allocator, MaarDumpFormat format, bool detailed)
{
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = format,
        .detailed = detailed ? VK_TRUE : VK_FALSE,
    };
    size_t size = 0;
    char* text = NULL;
    VkResult result = VK_INCOMPLETE;
    assert_int_equal(maarWriteDump(allocator, &info, &size, NULL), VK_SUCCESS);
    while (result == VK_INCOMPLETE) {
        free(text);
        text = malloc(size);
        assert_non_null(text);
        result = maarWriteDump(allocator, &info, &size, text);
    }
    assert_int_equal(result, VK_SUCCESS);
    assert_int_equal(strlen(text) + 1, size);
    return text;
}

static inline json_t* dump_parse(const char* text)
{
    json_error_t error;
    json_t* root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        fail_msg("line %d: %s in\n%s", error.line, error.text, text);
    }
    return root;
}

static inline json_t* dump_read(MaarAllocator allocator, MaarDumpFormat format, bool detailed)
{
    char* text = dump_text(allocator, format, detailed);
    json_t* root = dump_parse(text);
    free(text);
    return root;
}

/* A member that must be there. */
static inline json_t* dump_get(const json_t* object, const char* key)
{
    json_t* value = json_object_get(object, key);
    if (value == NULL) {
        fail_msg("no member %s", key);
    }
    return value;
}

static inline uint64_t dump_uint(const json_t* object, const char* key)
{
    const json_t* value = dump_get(object, key);
    if (!json_is_integer(value)) {
        fail_msg("%s is not an integer", key);
    }
    return (uint64_t)json_integer_value(value);
}

static inline const char* dump_string(const json_t* object, const char* key)
{
    const json_t* value = dump_get(object, key);
    if (!json_is_string(value)) {
        fail_msg("%s is not a string", key);
    }
    return json_string_value(value);
}

#endif
