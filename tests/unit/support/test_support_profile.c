/*
 * The reader of device profiles: every profile of the project loads and makes a device, and a field
 * that is wrong is named.
 */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/profile.h"

/* Profiles that the project carries. */
enum { PROFILE_FILES = 49 };

#define IDENTITY "{\"schema\":\"maar-device-profile/1\",\"name\":\"n\",\"device\":\"d\","
#define HEAPS "\"heaps\":[{\"size\":4096,\"flags\":[\"DEVICE_LOCAL\"]}],"
#define TYPES "\"types\":[{\"heap\":0,\"flags\":[]}]"
#define LIMITS "\"limits\":{},"

static MaarSimulatedProfile* new_profile(void)
{
    MaarSimulatedProfile* profile = calloc(1, sizeof(*profile));
    assert_non_null(profile);
    return profile;
}

static void accepted(const char* text, MaarSimulatedProfile* profile)
{
    struct support_error error = {""};
    if (!support_profile_parse("unit.json", text, strlen(text), profile, &error)) {
        fail_msg("%s", error.text);
    }
}

static void refused(const char* text, const char* message)
{
    MaarSimulatedProfile* profile = new_profile();
    struct support_error error = {"no message"};
    assert_false(support_profile_parse("unit.json", text, strlen(text), profile, &error));
    assert_string_equal(error.text, message);
    assert_int_equal(profile->heapCount, 0);
    assert_int_equal(profile->sType, 0);
    free(profile);
}

static void silent_fields_get_their_fallbacks(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = new_profile();
    accepted(IDENTITY LIMITS HEAPS TYPES "}", profile);
    assert_int_equal(profile->sType, MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE);
    assert_int_equal(profile->apiVersion, 0);
    assert_int_equal(profile->deviceType, VK_PHYSICAL_DEVICE_TYPE_OTHER);
    assert_int_equal(profile->limits.bufferImageGranularity, 0);
    assert_int_equal(profile->limits.maxMemoryAllocationSize, 0);
    assert_int_equal(profile->limits.minUniformBufferOffsetAlignment, 256);
    assert_int_equal(profile->limits.minMemoryMapAlignment, 64);
    assert_int_equal(profile->limits.maxStorageBufferRange, 1 << 27);
    assert_int_equal(profile->heapCount, 1);
    assert_int_equal(profile->heaps[0].budgetKnown, VK_FALSE);
    assert_int_equal(profile->extensionCount, 0);
    assert_int_equal(profile->queueFamilyCount, 0);
    free(profile);
}

static void budgets_of_64_bits_stay_exact(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = new_profile();
    accepted(IDENTITY "\"note\":\"\\\"18446744073709551615\",\"limits\":{\"maxBufferSize\":"
                      "18446744073709551615},"
                      "\"heaps\":[{\"size\":4096,\"flags\":[],\"budget\":18446744073271062529,"
                      "\"usage\":9007199254740993}]," TYPES "}",
             profile);
    assert_true(profile->heaps[0].budget == 18446744073271062529u);
    assert_true(profile->heaps[0].usage == 9007199254740993u);
    assert_true(profile->limits.maxBufferSize == UINT64_MAX);
    assert_int_equal(profile->heaps[0].budgetKnown, VK_TRUE);
    assert_int_equal(profile->extensionCount, 1);
    assert_string_equal(profile->extensions[0], VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    free(profile);
}

static void syntax_errors_have_a_line(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = new_profile();
    struct support_error error = {""};
    const char* const text = "{\n\"schema\": \"maar-device-profile/1\",\n]\n";
    assert_false(support_profile_parse("unit.json", text, strlen(text), profile, &error));
    assert_memory_equal(error.text, "unit.json:3: ", 13);
    assert_false(support_profile_parse("unit.json", "", 0, profile, &error));
    assert_memory_equal(error.text, "unit.json:1: ", 13);
    free(profile);
}

static void wrong_fields_are_named(void** state)
{
    (void)state;
    refused("[]", "unit.json:1: the profile is not an object");
    refused("{}", "unit.json: schema is missing");
    refused("{\"schema\":\"maar-device-profile/2\"}",
            "unit.json: schema is not maar-device-profile/1");
    refused("{\"schema\":\"maar-device-profile/1\",\"device\":\"d\"}",
            "unit.json: name is missing");
    refused(IDENTITY "\"apiVersion\":\"1.x\"}", "unit.json: apiVersion is not like \"1.3.250\"");
    refused(IDENTITY "\"vendorID\":\"1002\"}",
            "unit.json: vendorID is not a string like \"0x1002\"");
    refused(IDENTITY "\"deviceType\":\"TOASTER\"}", "unit.json: deviceType is an unknown word");
    refused(IDENTITY HEAPS TYPES "}", "unit.json: limits is missing");
    refused(IDENTITY "\"limits\":{\"nonCoherentAtomSize\":48}," HEAPS TYPES "}",
            "unit.json: limits.nonCoherentAtomSize is not a power of two");
    refused(IDENTITY "\"limits\":{\"maxBufferSize\":-1}," HEAPS TYPES "}",
            "unit.json: limits.maxBufferSize is negative");
    refused(IDENTITY "\"limits\":{\"maxBufferSize\":1.5}," HEAPS TYPES "}",
            "unit.json: limits.maxBufferSize is not an integer");
    refused(IDENTITY "\"limits\":{\"maxBufferSize\":99999999999999999999}," HEAPS TYPES "}",
            "unit.json: limits.maxBufferSize is larger than 64 bits");
    refused(IDENTITY "\"limits\":{\"maxMemoryAllocationCount\":4294967296}," HEAPS TYPES "}",
            "unit.json: limits.maxMemoryAllocationCount is too large");
}

static void wrong_heaps_and_types_are_named(void** state)
{
    (void)state;
    refused(IDENTITY LIMITS TYPES "}", "unit.json: heaps is missing");
    refused(IDENTITY LIMITS "\"heaps\":[]," TYPES "}", "unit.json: heaps is empty");
    refused(IDENTITY LIMITS "\"heaps\":[7]," TYPES "}",
            "unit.json: heaps contains an element that is not an object");
    refused(IDENTITY LIMITS "\"heaps\":[{\"size\":0,\"flags\":[]}]," TYPES "}",
            "unit.json: heaps[0].size is zero");
    refused(IDENTITY LIMITS "\"heaps\":[{\"size\":4611686018427387904,\"flags\":[]}]," TYPES "}",
            "unit.json: heaps[0].size is too large");
    refused(IDENTITY LIMITS "\"heaps\":[{\"size\":1,\"flags\":[\"FAST\"]}]," TYPES "}",
            "unit.json: heaps[0].flags contains an unknown word");
    refused(IDENTITY LIMITS HEAPS "\"types\":[{\"heap\":1,\"flags\":[]}]}",
            "unit.json: types[0].heap is not the index of a heap");
    refused(IDENTITY LIMITS HEAPS "\"types\":[{\"heap\":0,\"flags\":[3]}]}",
            "unit.json: types[0].flags contains an unknown word");
    refused(IDENTITY LIMITS HEAPS TYPES ",\"queueFamilies\":[{\"count\":0,\"flags\":[]}]}",
            "unit.json: queueFamilies[0].count is zero or too large");
    refused(IDENTITY LIMITS HEAPS TYPES ",\"extensions\":[1]}",
            "unit.json: extensions contains an element that is not a name");
    refused(IDENTITY LIMITS HEAPS TYPES ",\"sparse\":{\"features\":{\"sparseBinding\":2}}}",
            "unit.json: sparse.features.sparseBinding is not 0, 1, true or false");
    refused(IDENTITY LIMITS HEAPS TYPES
            ",\"requirements\":[{\"what\":\"buffer 1 B TRANSFER\",\"size\":1,\"alignment\":0,"
            "\"typeBits\":1}]}",
            "unit.json: requirements[0].alignment is zero or missing");
}

static void too_many_rows_are_refused(void** state)
{
    (void)state;
    char text[4096];
    int length = snprintf(text, sizeof(text), "%s", IDENTITY LIMITS "\"heaps\":[");
    for (int i = 0; i < 17; i++) {
        length += snprintf(text + length, sizeof(text) - (size_t)length,
                           "%s{\"size\":1,\"flags\":[]}", i == 0 ? "" : ",");
    }
    snprintf(text + length, sizeof(text) - (size_t)length, "]," TYPES "}");
    refused(text, "unit.json: heaps has too many");
}

/* Damages a good profile byte by byte: whatever happens, it is an answer and not a crash. */
static void damaged_text_never_crashes(void** state)
{
    (void)state;
    char text[] = IDENTITY LIMITS HEAPS TYPES
        ",\"requirements\":[{\"what\":\"w\",\"result\":\"r\"}],\"extensions\":[\"VK_X\"]}";
    MaarSimulatedProfile* profile = new_profile();
    struct support_error error;
    size_t good = 0;
    static const char damage[] = {'"', '{', '9', 0, ','};
    for (size_t at = 0; at < sizeof(text) - 1; at++) {
        const char kept = text[at];
        for (size_t i = 0; i < sizeof(damage); i++) {
            text[at] = damage[i];
            good += support_profile_parse("unit.json", text, sizeof(text) - 1, profile, &error);
        }
        text[at] = kept;
        assert_false(support_profile_parse("unit.json", text, at, profile, &error));
    }
    assert_true(support_profile_parse("unit.json", text, sizeof(text) - 1, profile, &error));
    assert_in_range(good, 1, (sizeof(text) - 1) * sizeof(damage) / 2);
    free(profile);
}

static void check_device(const MaarSimulatedProfile* profile)
{
    const MaarSimulatedInstanceCreateInfo simulated = {
        .sType = MAAR_STRUCTURE_TYPE_SIMULATED_INSTANCE_CREATE_INFO,
        .profileCount = 1,
        .pProfiles = profile};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = &simulated};
    VkInstance instance = NULL;
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)maarSimulatedGetInstanceProcAddr(NULL, "vkCreateInstance");
    assert_int_equal(create(&info, NULL, &instance), VK_SUCCESS);
    ((PFN_vkDestroyInstance)maarSimulatedGetInstanceProcAddr(instance, "vkDestroyInstance"))(
        instance, NULL);
}

static void every_profile_of_the_project_makes_a_device(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = new_profile();
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    assert_non_null(folder);
    int loaded = 0;
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        char path[1024];
        struct support_error error = {""};
        snprintf(path, sizeof(path), "%s/data/profiles/%s", MAAR_SOURCE_DIR, entry->d_name);
        if (!support_profile_load(path, profile, &error)) {
            fail_msg("%s", error.text);
        }
        assert_int_equal(strncmp(profile->name, entry->d_name, length - 5), 0);
        check_device(profile);
        loaded++;
    }
    closedir(folder);
    assert_int_equal(loaded, PROFILE_FILES);
    free(profile);
}

static void probes_become_requirements(void** state)
{
    (void)state;
    MaarSimulatedProfile* profile = new_profile();
    struct support_error error = {""};
    assert_true(support_profile_load(
        MAAR_SOURCE_DIR "/data/profiles/qualcomm-adreno740-turnip26.2.json", profile, &error));
    const MaarSimulatedRequirements* r = &profile->requirements;
    assert_int_equal(r->bufferTypeBits, 7);
    assert_int_equal(r->imageTypeBits, 7);
    assert_int_equal(r->transientTypeBits, 15);
    assert_int_equal(r->bufferAlignment, 64);
    assert_int_equal(r->bufferSizeRounding, 64);
    assert_int_equal(r->imageAlignment, 4096);
    assert_int_equal(r->sparseAlignment, 4096);
    assert_int_equal(r->sparseImageAlignment, 65536);
    assert_int_equal(r->depth24Unsupported, VK_FALSE);
    assert_int_equal(profile->vendorID, 0x5143);
    assert_int_equal(profile->apiVersion, VK_MAKE_API_VERSION(0, 1, 4, 354));
    assert_true(support_profile_load(
        MAAR_SOURCE_DIR "/data/profiles/amd-rx580-bar256-radv25.0.json", profile, &error));
    assert_int_equal(r->imageTypeBits, 45);
    assert_int_equal(r->multisampleImageAlignment, 262144);
    assert_int_equal(r->depth24Unsupported, VK_TRUE);
    assert_int_equal(r->mipTail, MAAR_SIMULATED_MIP_TAIL_SINGLE);
    assert_int_equal(r->mipTailOffset, 0);
    assert_int_equal(r->sparseDepthUnsupported, VK_TRUE);
    assert_true(support_profile_load(
        MAAR_SOURCE_DIR "/data/profiles/nvidia-ampere-ga102-nvk25.0.json", profile, &error));
    assert_int_equal(r->mipTail, MAAR_SIMULATED_MIP_TAIL_SINGLE);
    assert_int_equal(r->mipTailOffset, 0x6D74000000000000);
    assert_int_equal(r->sparseDepthUnsupported, VK_FALSE);
    assert_true(support_profile_load(MAAR_SOURCE_DIR "/data/profiles/cpu-lavapipe25.0.json",
                                     profile, &error));
    assert_int_equal(r->sparseAlignment, 4096);
    assert_int_equal(r->mipTail, MAAR_SIMULATED_MIP_TAIL_NONE);
    free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_fields_get_their_fallbacks),
        cmocka_unit_test(budgets_of_64_bits_stay_exact),
        cmocka_unit_test(syntax_errors_have_a_line),
        cmocka_unit_test(wrong_fields_are_named),
        cmocka_unit_test(wrong_heaps_and_types_are_named),
        cmocka_unit_test(too_many_rows_are_refused),
        cmocka_unit_test(damaged_text_never_crashes),
        cmocka_unit_test(every_profile_of_the_project_makes_a_device),
        cmocka_unit_test(probes_become_requirements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
