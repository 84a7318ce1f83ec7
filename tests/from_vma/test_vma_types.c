/*
 * Which memory VMA's usages and flags get, and what docs/from-vma.md says to write for them, on
 * every device profile: VMA itself runs on the simulated device beside Maar. The table of both, and
 * the list of where they differ, stand in docs/from-vma.md and must be what is found here; run with
 * MAAR_WRITE_TABLE=FILE to have it written.
 *
 * And what must never happen, whatever the table says: a program that maps what VMA let it map gets
 * memory that cannot be mapped, or staged or device-local memory that VMA had in a better heap.
 */
#include "tests/rig/rig.h"

#include <dirent.h>
#include <stdio.h>

#include <vk_mem_alloc.h>

#include "support/readfile.h"

enum { MAX_PROFILES = 128, MAX_NAME = 80, MAX_TABLE = 16384 };

#define DEVICE_LOCAL ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
#define HOST_VISIBLE ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
#define WRITES VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT
#define RANDOM VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT
#define STAGING_USE VK_BUFFER_USAGE_TRANSFER_SRC_BIT
#define UNIFORM_USE VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
#define READ_USE VK_BUFFER_USAGE_TRANSFER_DST_BIT

/* One way to ask VMA, and what the document says to write for it. */
struct translation {
    const char* words;
    bool image;
    VkBufferUsageFlags buffer_usage;
    VmaMemoryUsage vma_usage;
    VmaAllocationCreateFlags vma_flags;
    MaarMemoryUsage usage;
    VkMemoryPropertyFlags preferred;
};

static const struct translation translations[] = {
    {"`AUTO`, an image", true, 0, VMA_MEMORY_USAGE_AUTO, 0, MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0},
    {"`AUTO`, a buffer", false, UNIFORM_USE, VMA_MEMORY_USAGE_AUTO, 0,
     MAAR_MEMORY_USAGE_DEVICE_LOCAL, 0},
    {"`AUTO`, staging", false, STAGING_USE, VMA_MEMORY_USAGE_AUTO, WRITES, MAAR_MEMORY_USAGE_UPLOAD,
     0},
    {"`AUTO`, written by the host, read in place", false, UNIFORM_USE, VMA_MEMORY_USAGE_AUTO,
     WRITES, MAAR_MEMORY_USAGE_DEVICE_UPLOAD, 0},
    {"`AUTO`, read by the host", false, READ_USE, VMA_MEMORY_USAGE_AUTO, RANDOM,
     MAAR_MEMORY_USAGE_READBACK, 0},
    {"`AUTO`, written in place or by a transfer", false, UNIFORM_USE, VMA_MEMORY_USAGE_AUTO,
     WRITES | VMA_ALLOCATION_CREATE_HOST_ACCESS_ALLOW_TRANSFER_INSTEAD_BIT,
     MAAR_MEMORY_USAGE_DEVICE_LOCAL, DEVICE_LOCAL | HOST_VISIBLE},
    {"`AUTO_PREFER_HOST`, staging", false, STAGING_USE, VMA_MEMORY_USAGE_AUTO_PREFER_HOST, WRITES,
     MAAR_MEMORY_USAGE_UPLOAD, 0},
    {"`GPU_ONLY`", false, UNIFORM_USE, VMA_MEMORY_USAGE_GPU_ONLY, 0, MAAR_MEMORY_USAGE_DEVICE_LOCAL,
     0},
    {"`CPU_ONLY`", false, STAGING_USE, VMA_MEMORY_USAGE_CPU_ONLY, 0, MAAR_MEMORY_USAGE_UPLOAD, 0},
    {"`CPU_TO_GPU`", false, UNIFORM_USE, VMA_MEMORY_USAGE_CPU_TO_GPU, 0,
     MAAR_MEMORY_USAGE_DEVICE_UPLOAD, 0},
    {"`GPU_TO_CPU`", false, READ_USE, VMA_MEMORY_USAGE_GPU_TO_CPU, 0, MAAR_MEMORY_USAGE_READBACK,
     0},
};
enum { TRANSLATION_COUNT = (int)(sizeof translations / sizeof translations[0]) };

static char profiles[MAX_PROFILES][MAX_NAME];
static uint32_t profile_count;

/* What the two chose, over all profiles. */
static struct {
    uint32_t same, like, other; /* the same type; another with the same flags; another */
} tally[TRANSLATION_COUNT];
static char table[MAX_TABLE];
static size_t table_length;

static int compare_names(const void* a, const void* b)
{
    return strcmp(a, b);
}

static int list_profiles(void** state)
{
    (void)state;
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    assert_non_null(folder);
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char* end = strstr(entry->d_name, ".json");
        if (end != NULL && (size_t)(end - entry->d_name) < MAX_NAME) {
            assert_true(profile_count < MAX_PROFILES);
            (void)snprintf(profiles[profile_count++], MAX_NAME, "%.*s", (int)(end - entry->d_name),
                           entry->d_name);
        }
    }
    (void)closedir(folder);
    assert_true(profile_count > 40);
    qsort(profiles, profile_count, MAX_NAME, compare_names);
    return 0;
}

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void
write_table(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(table + table_length, MAX_TABLE - table_length, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && table_length + (size_t)length < MAX_TABLE);
    table_length += (size_t)length;
}

static VmaAllocator open_vma(const struct rig* rig)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo info = {.physicalDevice = rig->physical,
                                         .device = rig->device,
                                         .instance = rig->instance,
                                         .pVulkanFunctions = &functions,
                                         .vulkanApiVersion = rig->create_info.apiVersion};
    VmaAllocator vma = VK_NULL_HANDLE;
    assert_int_equal(vmaCreateAllocator(&info, &vma), VK_SUCCESS);
    return vma;
}

/* The types that both choose; MAAR_MEMORY_TYPE_NONE for none. */
static void choose_both(struct rig* rig, VmaAllocator vma, const struct translation* translation,
                        uint32_t* theirs, uint32_t* ours)
{
    VkBufferCreateInfo buffer = rig_buffer_info(4096);
    buffer.usage = translation->buffer_usage;
    const VkImageCreateInfo image = rig_image_info(512, 512);
    const VmaAllocationCreateInfo asked = {.usage = translation->vma_usage,
                                           .flags = translation->vma_flags};
    MaarAllocationCreateInfo how = rig_how(translation->usage);
    how.preferredFlags = translation->preferred;
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    *theirs = MAAR_MEMORY_TYPE_NONE;
    *ours = MAAR_MEMORY_TYPE_NONE;
    const VkResult their_result =
        translation->image ? vmaFindMemoryTypeIndexForImageInfo(vma, &image, &asked, theirs)
                           : vmaFindMemoryTypeIndexForBufferInfo(vma, &buffer, &asked, theirs);
    const VkResult our_result =
        translation->image ? maarChooseMemoryTypeForImage(rig->allocator, &image, &how, &choice)
                           : maarChooseMemoryTypeForBuffer(rig->allocator, &buffer, &how, &choice);
    assert_int_equal(their_result, our_result);
    if (our_result == VK_SUCCESS) {
        *ours = choice.memoryTypeIndex;
    }
}

/* D device-local, V host-visible, C coherent, A cached. */
static const char* spell_type(const VkPhysicalDeviceMemoryProperties* memory, uint32_t type,
                              char* text, size_t size)
{
    const VkMemoryPropertyFlags flags = memory->memoryTypes[type].propertyFlags;
    const VkDeviceSize heap = memory->memoryHeaps[memory->memoryTypes[type].heapIndex].size;
    const char* unit = heap >= GIB ? "GiB" : "MiB";
    (void)snprintf(text, size, "%u:%s%s%s%s%s of %.0f %s", type,
                   (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0 ? "D" : "",
                   (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 ? "V" : "",
                   (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0 ? "C" : "",
                   (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0 ? "A" : "",
                   (flags & 0xFu) == 0 ? "-" : "", (double)heap / (double)(heap >= GIB ? GIB : MIB),
                   unit);
    return text;
}

/* What a program may rely on after the change as before. */
static void check_promises(const struct translation* translation, const char* profile,
                           VkMemoryPropertyFlags theirs, VkMemoryPropertyFlags ours)
{
    if ((theirs & ~ours & HOST_VISIBLE) != 0 && translation->vma_flags != 0 &&
        translation->preferred == 0) {
        fail_msg("%s, %s: what VMA let the program map can no longer be mapped", profile,
                 translation->words);
    }
    if ((theirs & ~ours & DEVICE_LOCAL) != 0 && translation->usage != MAAR_MEMORY_USAGE_UPLOAD &&
        translation->usage != MAAR_MEMORY_USAGE_READBACK) {
        fail_msg("%s, %s: VMA had device-local memory", profile, translation->words);
    }
}

static void compare_profile(const char* profile, uint32_t index)
{
    const struct rig_setup setup = {.profile = rig_profile_file(profile)};
    struct rig* const rig = rig_new();
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t theirs = 0;
    uint32_t ours = 0;
    char their_text[64];
    char our_text[64];
    rig_start(rig, &setup);
    vkGetPhysicalDeviceMemoryProperties(rig->physical, &memory);
    VmaAllocator vma = open_vma(rig);
    choose_both(rig, vma, &translations[index], &theirs, &ours);
    if (ours == theirs) {
        ++tally[index].same;
    } else {
        const VkMemoryPropertyFlags their_flags = memory.memoryTypes[theirs].propertyFlags;
        const VkMemoryPropertyFlags our_flags = memory.memoryTypes[ours].propertyFlags;
        check_promises(&translations[index], profile, their_flags, our_flags);
        tally[index].like += their_flags == our_flags ? 1 : 0;
        tally[index].other += their_flags != our_flags ? 1 : 0;
        write_table("| %s | %s | %s | %s |\n", translations[index].words, profile,
                    spell_type(&memory, theirs, their_text, sizeof their_text),
                    spell_type(&memory, ours, our_text, sizeof our_text));
    }
    vmaDestroyAllocator(vma);
    rig_close(rig);
}

/* The whole of it, as the document has it. */
static void fill_table(void)
{
    static char differences[MAX_TABLE];
    table_length = 0;
    for (uint32_t i = 0; i < TRANSLATION_COUNT; ++i) {
        for (uint32_t j = 0; j < profile_count; ++j) {
            compare_profile(profiles[j], i);
        }
    }
    (void)memcpy(differences, table, table_length + 1);
    table_length = 0;
    write_table("| asked of VMA | the same type | another with the same flags | another |\n"
                "| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < TRANSLATION_COUNT; ++i) {
        write_table("| %s | %u | %u | %u |\n", translations[i].words, tally[i].same, tally[i].like,
                    tally[i].other);
    }
    write_table("\n| asked of VMA | device | VMA | Maar |\n| --- | --- | --- | --- |\n%s",
                differences);
}

static void choices_differ_where_the_document_says(void** state)
{
    (void)state;
    struct support_error error;
    char* document = NULL;
    size_t size = 0;
    fill_table();
    const char* path = getenv("MAAR_WRITE_TABLE");
    if (path != NULL) {
        FILE* file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(table, 1, table_length, file), table_length);
        assert_int_equal(fclose(file), 0);
    }
    if (!support_read_file(MAAR_SOURCE_DIR "/docs/project/results/from-vma-types.md", 0, &document,
                           &size, &error)) {
        fail_msg("%s", error.text);
    }
    const bool found = strstr(document, table) != NULL;
    free(document);
    if (!found) {
        fail_msg("docs/project/results/from-vma-types.md does not have this table:\n%s", table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(choices_differ_where_the_document_says),
    };
    return cmocka_run_group_tests(tests, list_profiles, NULL);
}
