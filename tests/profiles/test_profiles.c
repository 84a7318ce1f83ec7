/*
 * The memory type that each usage gets on every device profile.
 *
 * Two judges: expected_types.csv, which says for each profile which types serve each usage and in
 * which order, and the rules of docs/memory-types.md, restated here as properties that must hold on
 * each device, whatever the table says. Both look at what a program sees: the types that the
 * device's own buffers and images accept, and what is then allocated.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/rig/rig.h"

#include <dirent.h>
#include <stdio.h>

#include "support/readfile.h"

enum { MAX_PROFILES = 128, USAGE_COUNT = 5, MAX_LETTERS = 16 };

struct expected_type {
    uint32_t index;
    char letters[MAX_LETTERS];
};

struct expected_order {
    uint32_t count;
    struct expected_type types[VK_MAX_MEMORY_TYPES];
};

struct expected_row {
    char profile[80];
    struct expected_order orders[USAGE_COUNT];
};

static struct expected_row rows[MAX_PROFILES];
static uint32_t row_count;

/* In the order of the table's columns. */
static const MaarMemoryUsage usages[USAGE_COUNT] = {
    MAAR_MEMORY_USAGE_DEVICE_LOCAL,  MAAR_MEMORY_USAGE_UPLOAD,    MAAR_MEMORY_USAGE_READBACK,
    MAAR_MEMORY_USAGE_DEVICE_UPLOAD, MAAR_MEMORY_USAGE_TRANSIENT,
};
static const char* const usage_names[USAGE_COUNT] = {"device_local", "upload", "readback",
                                                     "device_upload", "transient"};

/* ---- the table ---- */

/* Cuts the text before the next of the separators, in place; NULL at the end. */
static char* next_part(char** rest, const char* separators)
{
    char* part = *rest;
    if (part == NULL) {
        return NULL;
    }
    part += strspn(part, " ");
    char* end = part + strcspn(part, separators);
    *rest = *end != '\0' ? end + 1 : NULL;
    *end = '\0';
    return part;
}

static void parse_order(const char* profile, char* cell, struct expected_order* order)
{
    for (char* word = next_part(&cell, " "); word != NULL; word = next_part(&cell, " ")) {
        if (*word == '\0') {
            continue;
        }
        struct expected_type* type = &order->types[order->count++];
        int taken = 0;
        if (sscanf(word, "%u:%15[-A-Z]%n", &type->index, type->letters, &taken) != 2 ||
            word[taken] != '\0' || type->index >= VK_MAX_MEMORY_TYPES) {
            fail_msg("the row of %s has a word that is no type: %s", profile, word);
        }
    }
    if (order->count == 0) {
        fail_msg("the row of %s has an empty cell", profile);
    }
}

static void parse_row(char* line)
{
    assert_true(row_count < MAX_PROFILES);
    struct expected_row* row = &rows[row_count++];
    const char* name = next_part(&line, ", ");
    (void)snprintf(row->profile, sizeof row->profile, "%s", name);
    line = line != NULL ? line + strspn(line, " ,") : NULL;
    for (uint32_t i = 0; i < USAGE_COUNT; ++i) {
        char* cell = next_part(&line, ",");
        if (cell == NULL) {
            fail_msg("the row of %s has too few cells", row->profile);
        }
        parse_order(row->profile, cell, &row->orders[i]);
    }
    if (line != NULL) {
        fail_msg("the row of %s has too many cells", row->profile);
    }
}

static int load_table(void** state)
{
    (void)state;
    struct support_error error;
    char* text = NULL;
    size_t size = 0;
    if (!support_read_file(MAAR_SOURCE_DIR "/tests/profiles/expected_types.csv", 0, &text, &size,
                           &error)) {
        fail_msg("%s", error.text);
    }
    char* rest = text;
    bool has_header = false;
    for (char* line = next_part(&rest, "\n"); line != NULL; line = next_part(&rest, "\n")) {
        if (*line == '#' || *line == '\0') {
            continue;
        }
        if (has_header) {
            parse_row(line);
        }
        has_header = true;
    }
    free(text);
    assert_true(row_count > 0);
    return 0;
}

/* ---- one profile, as a program meets it ---- */

struct subject {
    struct rig* rig;
    const char* name;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize largest; /* device-local heap */
    uint32_t buffer_bits;
    uint32_t image_bits;
    uint32_t transient_bits;
};

static uint32_t ask_buffer(struct rig* rig)
{
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    VkMemoryRequirements requirements;
    assert_int_equal(vkCreateBuffer(rig->device, &info, NULL, &buffer), VK_SUCCESS);
    vkGetBufferMemoryRequirements(rig->device, buffer, &requirements);
    vkDestroyBuffer(rig->device, buffer, NULL);
    return requirements.memoryTypeBits;
}

static VkImageCreateInfo subject_image(bool transient)
{
    VkImageCreateInfo info = rig_image_info(512, 512);
    if (transient) {
        info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
    }
    return info;
}

static uint32_t ask_image(struct rig* rig, bool transient)
{
    const VkImageCreateInfo info = subject_image(transient);
    VkImage image = VK_NULL_HANDLE;
    VkMemoryRequirements requirements;
    assert_int_equal(vkCreateImage(rig->device, &info, NULL, &image), VK_SUCCESS);
    vkGetImageMemoryRequirements(rig->device, image, &requirements);
    vkDestroyImage(rig->device, image, NULL);
    return requirements.memoryTypeBits;
}

static void open_subject(struct subject* subject, const char* name)
{
    const struct rig_setup setup = {.profile = rig_profile_file(name)};
    subject->name = name;
    subject->rig = rig_new();
    rig_start(subject->rig, &setup);
    vkGetPhysicalDeviceMemoryProperties(subject->rig->physical, &subject->memory);
    subject->largest = 0;
    for (uint32_t i = 0; i < subject->memory.memoryHeapCount; ++i) {
        const VkMemoryHeap* heap = &subject->memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 && heap->size > subject->largest) {
            subject->largest = heap->size;
        }
    }
    subject->buffer_bits = ask_buffer(subject->rig);
    subject->image_bits = ask_image(subject->rig, false);
    subject->transient_bits = ask_image(subject->rig, true);
}

static VkMemoryPropertyFlags flags_of(const struct subject* subject, uint32_t type)
{
    assert_true(type < subject->memory.memoryTypeCount);
    return subject->memory.memoryTypes[type].propertyFlags;
}

static VkDeviceSize heap_size_of(const struct subject* subject, uint32_t type)
{
    return subject->memory.memoryHeaps[subject->memory.memoryTypes[type].heapIndex].size;
}

static MaarMemoryTypeChoice choose(struct subject* subject, uint32_t bits, MaarMemoryUsage usage)
{
    const MaarAllocationCreateInfo how = rig_how(usage);
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    VkResult result = maarChooseMemoryType(subject->rig->allocator, bits, &how, &choice);
    if (result != VK_SUCCESS) {
        fail_msg("%s: no type for usage %u among bits 0x%x", subject->name, (unsigned)usage,
                 (unsigned)bits);
    }
    assert_int_equal(choice.memoryTypeIndex, choice.candidates[0]);
    return choice;
}

/* ---- judge one: the table ---- */

static void spell_flags(VkMemoryPropertyFlags flags, char* letters)
{
    static const struct {
        VkMemoryPropertyFlags flag;
        char letter;
    } names[] = {
        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 'D'},
        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 'V'},
        {VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 'C'},
        {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 'A'},
        {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, 'L'},
        {VK_MEMORY_PROPERTY_PROTECTED_BIT, 'P'},
        {VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD, 'K'},
        {VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD, 'U'},
    };
    size_t length = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if ((flags & names[i].flag) != 0) {
            letters[length++] = names[i].letter;
        }
    }
    if (length == 0) {
        letters[length++] = '-';
    }
    letters[length] = '\0';
}

/* The order as the table would write it. */
static void spell_choice(const struct subject* subject, const MaarMemoryTypeChoice* choice,
                         char* text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < choice->candidateCount && length < size; ++i) {
        char letters[MAX_LETTERS];
        spell_flags(flags_of(subject, choice->candidates[i]), letters);
        length += (size_t)snprintf(text + length, size - length, "%s%u:%s", i > 0 ? " " : "",
                                   choice->candidates[i], letters);
    }
}

static bool order_matches(const struct subject* subject, const struct expected_order* order,
                          const MaarMemoryTypeChoice* choice)
{
    if (order->count != choice->candidateCount) {
        return false;
    }
    for (uint32_t i = 0; i < order->count; ++i) {
        char letters[MAX_LETTERS];
        spell_flags(flags_of(subject, choice->candidates[i]), letters);
        if (order->types[i].index != choice->candidates[i] ||
            strcmp(order->types[i].letters, letters) != 0) {
            return false;
        }
    }
    return true;
}

/* Returns how many orders differ, having printed them. */
static uint32_t compare_row(const struct expected_row* row)
{
    struct subject subject;
    uint32_t wrong = 0;
    open_subject(&subject, row->profile);
    for (uint32_t i = 0; i < USAGE_COUNT; ++i) {
        bool transient = usages[i] == MAAR_MEMORY_USAGE_TRANSIENT;
        const uint32_t bits[2] = {
            transient ? subject.transient_bits : subject.buffer_bits,
            transient ? subject.transient_bits : subject.image_bits,
        };
        for (uint32_t j = 0; j < 2; ++j) {
            MaarMemoryTypeChoice choice = choose(&subject, bits[j], usages[i]);
            if (!order_matches(&subject, &row->orders[i], &choice)) {
                char text[512];
                spell_choice(&subject, &choice, text, sizeof text);
                print_error("%s, %s: Maar chose %s\n", row->profile, usage_names[i], text);
                ++wrong;
            }
        }
    }
    rig_close(subject.rig);
    return wrong;
}

static void choices_are_those_of_the_table(void** state)
{
    (void)state;
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < row_count; ++i) {
        wrong += compare_row(&rows[i]);
    }
    assert_int_equal(wrong, 0);
}

/* ---- judge two: rules that hold on every device ---- */

/* Some type among those that ordinary work may use has all of these flags. */
static bool has_type(const struct subject* subject, uint32_t bits, VkMemoryPropertyFlags wanted)
{
    const VkMemoryPropertyFlags odd =
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_PROTECTED_BIT |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD |
        (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    for (uint32_t i = 0; i < subject->memory.memoryTypeCount; ++i) {
        VkMemoryPropertyFlags flags = flags_of(subject, i);
        if ((bits & (1u << i)) != 0 && (flags & wanted) == wanted && (flags & odd & ~wanted) == 0) {
            return true;
        }
    }
    return false;
}

#define DL ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
#define HV ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
#define HC ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
#define CA ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
#define LA ((VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT)

static void require(bool holds, const struct subject* subject, const char* sentence)
{
    if (!holds) {
        fail_msg("%s: %s", subject->name, sentence);
    }
}

/* Once the order has left the device's memory it does not come back to it. */
static void require_system_memory_last(const struct subject* subject,
                                       const MaarMemoryTypeChoice* choice)
{
    bool left = false;
    for (uint32_t i = 0; i < choice->candidateCount; ++i) {
        bool is_local = (flags_of(subject, choice->candidates[i]) & DL) != 0;
        require(!(left && is_local), subject, "system memory ranks before the device's");
        left = left || !is_local;
    }
}

static void check_device_local(struct subject* subject, uint32_t bits)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkMemoryPropertyFlags flags = flags_of(subject, choice.memoryTypeIndex);
    require((flags & DL) != 0, subject, "DEVICE_LOCAL is not device-local");
    require(heap_size_of(subject, choice.memoryTypeIndex) == subject->largest, subject,
            "DEVICE_LOCAL is not in the largest device-local heap");
    bool needs_host = true;
    for (uint32_t i = 0; i < subject->memory.memoryTypeCount; ++i) {
        VkMemoryPropertyFlags other = flags_of(subject, i);
        if ((bits & (1u << i)) != 0 && other == DL &&
            heap_size_of(subject, i) == subject->largest) {
            needs_host = false;
        }
    }
    require(needs_host || flags == DL, subject,
            "DEVICE_LOCAL takes host-visible memory needlessly");
    require_system_memory_last(subject, &choice);
}

static void check_upload(struct subject* subject, uint32_t bits)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, MAAR_MEMORY_USAGE_UPLOAD);
    VkMemoryPropertyFlags flags = flags_of(subject, choice.memoryTypeIndex);
    require((flags & HV) != 0, subject, "UPLOAD cannot be mapped");
    require((flags & HC) != 0 || !has_type(subject, bits, HV | HC), subject,
            "UPLOAD is not coherent");
    bool has_system = false;
    for (uint32_t i = 0; i < subject->memory.memoryTypeCount; ++i) {
        VkMemoryPropertyFlags other = flags_of(subject, i);
        has_system =
            has_system || ((bits & (1u << i)) != 0 && (other & (HV | HC | DL)) == (HV | HC));
    }
    require(!has_system || (flags & DL) == 0, subject, "UPLOAD lies in the device's memory");
}

static void check_readback(struct subject* subject, uint32_t bits)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, MAAR_MEMORY_USAGE_READBACK);
    VkMemoryPropertyFlags flags = flags_of(subject, choice.memoryTypeIndex);
    require((flags & HV) != 0, subject, "READBACK cannot be mapped");
    require((flags & CA) != 0 || !has_type(subject, bits, HV | CA), subject,
            "READBACK is not cached");
    require((flags & HC) != 0 || !has_type(subject, bits, HV | CA | HC), subject,
            "READBACK is cached, but needlessly not coherent");
}

static void check_device_upload(struct subject* subject, uint32_t bits)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    VkMemoryPropertyFlags flags = flags_of(subject, choice.memoryTypeIndex);
    require((flags & HV) != 0, subject, "DEVICE_UPLOAD cannot be mapped");
    require_system_memory_last(subject, &choice);
    if (has_type(subject, bits, DL | HV)) {
        require((flags & DL) != 0, subject, "DEVICE_UPLOAD misses the window");
        return;
    }
    MaarMemoryTypeChoice upload = choose(subject, bits, MAAR_MEMORY_USAGE_UPLOAD);
    require(choice.memoryTypeIndex == upload.memoryTypeIndex, subject,
            "DEVICE_UPLOAD without a window is not UPLOAD");
}

static void check_transient(struct subject* subject, uint32_t bits)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, MAAR_MEMORY_USAGE_TRANSIENT);
    VkMemoryPropertyFlags flags = flags_of(subject, choice.memoryTypeIndex);
    if (has_type(subject, bits, DL | LA)) {
        require((flags & LA) != 0, subject, "TRANSIENT is not lazily allocated");
        return;
    }
    MaarMemoryTypeChoice local = choose(subject, bits, MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    require(choice.memoryTypeIndex == local.memoryTypeIndex, subject,
            "TRANSIENT without lazily allocated memory is not DEVICE_LOCAL");
}

/* What no usage may be given, neither first nor as a fallback. */
static void check_candidates(struct subject* subject, uint32_t bits, MaarMemoryUsage usage)
{
    MaarMemoryTypeChoice choice = choose(subject, bits, usage);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < choice.candidateCount; ++i) {
        uint32_t type = choice.candidates[i];
        VkMemoryPropertyFlags flags = flags_of(subject, type);
        require((bits & (1u << type)) != 0, subject, "a candidate is not among the type bits");
        require((seen & (1u << type)) == 0, subject, "a candidate comes twice");
        require((flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) == 0, subject, "protected memory");
        require((flags & VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD) == 0, subject,
                "device-coherent memory");
        require((flags & VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD) == 0, subject,
                "device-uncached memory");
        require((flags & LA) == 0 || usage == MAAR_MEMORY_USAGE_TRANSIENT, subject,
                "lazily allocated memory for what is not transient");
        seen |= 1u << type;
    }
}

static void choices_follow_the_rules_on_every_profile(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < row_count; ++i) {
        struct subject subject;
        open_subject(&subject, rows[i].profile);
        const uint32_t bits[3] = {subject.buffer_bits, subject.image_bits, subject.transient_bits};
        for (uint32_t j = 0; j < 3; ++j) {
            check_device_local(&subject, bits[j]);
            check_upload(&subject, bits[j]);
            check_readback(&subject, bits[j]);
            check_device_upload(&subject, bits[j]);
            check_transient(&subject, bits[j]);
            for (uint32_t k = 0; k < USAGE_COUNT; ++k) {
                check_candidates(&subject, bits[j], usages[k]);
            }
        }
        rig_expect_silence(subject.rig);
        rig_close(subject.rig);
    }
}

/* ---- what is allocated is what was chosen ---- */

static void check_buffer(struct subject* subject, const struct expected_row* row, uint32_t usage)
{
    struct rig* rig = subject->rig;
    const VkBufferCreateInfo info = rig_buffer_info(65536);
    const MaarAllocationCreateInfo how = rig_how(usages[usage]);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &allocation),
                     VK_SUCCESS);
    MaarAllocationInfo found = rig_info(rig, allocation);
    if (found.memoryTypeIndex != row->orders[usage].types[0].index) {
        fail_msg("%s, %s: a buffer lies in type %u", row->profile, usage_names[usage],
                 found.memoryTypeIndex);
    }
    assert_int_equal(found.fallback, VK_FALSE);
    void* data = NULL;
    bool mappable = (found.propertyFlags & HV) != 0;
    assert_int_equal(maarMapMemory(rig->allocator, allocation, &data),
                     mappable ? VK_SUCCESS : VK_ERROR_MEMORY_MAP_FAILED);
    if (mappable) {
        memset(data, 0x5A, 65536);
        assert_int_equal(maarFlushAllocation(rig->allocator, allocation, 0, VK_WHOLE_SIZE),
                         VK_SUCCESS);
        maarUnmapMemory(rig->allocator, allocation);
    }
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

static void check_image(struct subject* subject, const struct expected_row* row, uint32_t usage)
{
    struct rig* rig = subject->rig;
    const VkImageCreateInfo info = subject_image(usages[usage] == MAAR_MEMORY_USAGE_TRANSIENT);
    const MaarAllocationCreateInfo how = rig_how(usages[usage]);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &image, &allocation), VK_SUCCESS);
    MaarAllocationInfo found = rig_info(rig, allocation);
    if (found.memoryTypeIndex != row->orders[usage].types[0].index) {
        fail_msg("%s, %s: an image lies in type %u", row->profile, usage_names[usage],
                 found.memoryTypeIndex);
    }
    maarDestroyImage(rig->allocator, image, allocation);
}

static void resources_land_where_the_table_says(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < row_count; ++i) {
        struct subject subject;
        open_subject(&subject, rows[i].profile);
        for (uint32_t j = 0; j < USAGE_COUNT; ++j) {
            if (usages[j] != MAAR_MEMORY_USAGE_TRANSIENT) {
                check_buffer(&subject, &rows[i], j);
            }
        }
        check_image(&subject, &rows[i], 0);
        check_image(&subject, &rows[i], USAGE_COUNT - 1);
        rig_check(subject.rig);
        rig_close(subject.rig);
    }
}

/* ---- types that have to be asked for ---- */

static VkResult choose_as(struct rig* rig, const MaarAllocationCreateInfo* how,
                          MaarMemoryTypeChoice* choice)
{
    *choice = (MaarMemoryTypeChoice){.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    return maarChooseMemoryType(rig->allocator, UINT32_MAX, how, choice);
}

static void coherent_types_without_their_feature_are_refused(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("amd-rx7900xtx-radv25.0")};
    struct rig* const rig = rig_begin(&setup);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.memoryTypeBits = 1u << 7;
    assert_int_equal(choose_as(rig, &how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(choice.memoryTypeIndex, MAAR_MEMORY_TYPE_NONE);
    how.memoryTypeBits = 0;
    how.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    assert_int_equal(choose_as(rig, &how, &choice), VK_ERROR_FEATURE_NOT_PRESENT);
}

static void coherent_types_with_their_feature_come_when_asked_for(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("amd-rx7900xtx-radv25.0")};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    /* Choosing calls no driver: it is enough that the allocator knows them. */
    const VkPhysicalDeviceCoherentMemoryFeaturesAMD feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COHERENT_MEMORY_FEATURES_AMD,
        .deviceCoherentMemory = VK_TRUE,
    };
    rig->create_info.pEnabledFeatures = &feature;
    rig_make_allocator(rig);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 2);
    assert_int_equal(choice.candidateCount, 5);
    how.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 8);
    assert_int_equal(choice.candidateCount, 3);
    how.requiredFlags = 0;
    how.flags = MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT;
    how.memoryTypeBits = 1u << 2 | 1u << 8 | 1u << 3;
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.candidateCount, 3);
    assert_int_equal(choice.candidates[0], 2);
    assert_int_equal(choice.candidates[1], 3);
    assert_int_equal(choice.candidates[2], 8);
}

static void lazy_types_are_for_transient_resources_or_on_request(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("qualcomm-adreno740-turnip26.2")};
    struct rig* const rig = rig_begin(&setup);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.candidateCount, 3);
    how.preferredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 3);
    how.preferredFlags = 0;
    how.requiredFlags = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 3);
    assert_int_equal(choice.candidateCount, 1);
}

static void protected_types_are_refused_unless_required(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("intel-iris-xe-tgl-anv25.0")};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    const VkPhysicalDeviceProtectedMemoryFeatures feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
        .protectedMemory = VK_TRUE,
    };
    rig->create_info.pEnabledFeatures = &feature;
    rig_make_allocator(rig);
    MaarMemoryTypeChoice choice;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.candidateCount, 6);
    for (uint32_t i = 0; i < choice.candidateCount; ++i) {
        assert_int_not_equal(choice.candidates[i], 3);
    }
    how.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
    assert_int_equal(choose_as(rig, &how, &choice), VK_SUCCESS);
    assert_int_equal(choice.memoryTypeIndex, 3);
    assert_int_equal(choice.candidateCount, 1);
}

static void reason_names_what_the_type_lacks(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_file("arm-mali-g610-panvk25.0")};
    struct rig* const rig = rig_begin(&setup);
    MaarMemoryTypeReason reason = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_REASON};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE,
                                   .pNext = &reason};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &how, &choice), VK_SUCCESS);
    assert_string_equal(reason.text,
                        "type 0 in heap 0, best of 1: host-visible and cached, since the host "
                        "reads it; coherent where it can be; it is not cached; it is also "
                        "device-local");
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_UPLOAD);
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &how, &choice), VK_SUCCESS);
    assert_null(strstr(reason.text, "; it is"));
}

/* ---- the table itself ---- */

static bool has_row(const char* profile, size_t length)
{
    for (uint32_t i = 0; i < row_count; ++i) {
        if (strlen(rows[i].profile) == length && strncmp(rows[i].profile, profile, length) == 0) {
            return true;
        }
    }
    return false;
}

static void table_has_a_row_for_every_profile(void** state)
{
    (void)state;
    DIR* folder = opendir(MAAR_SOURCE_DIR "/data/profiles");
    uint32_t profile_count = 0;
    assert_non_null(folder);
    for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        if (!has_row(entry->d_name, length - 5)) {
            fail_msg("%s has no row", entry->d_name);
        }
        ++profile_count;
    }
    closedir(folder);
    assert_int_equal(row_count, profile_count); /* none twice, and none of a profile that is gone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(table_has_a_row_for_every_profile),
        rig_unit_test(choices_are_those_of_the_table),
        rig_unit_test(choices_follow_the_rules_on_every_profile),
        rig_unit_test(resources_land_where_the_table_says),
        rig_unit_test(coherent_types_without_their_feature_are_refused),
        rig_unit_test(coherent_types_with_their_feature_come_when_asked_for),
        rig_unit_test(lazy_types_are_for_transient_resources_or_on_request),
        rig_unit_test(protected_types_are_refused_unless_required),
        rig_unit_test(reason_names_what_the_type_lacks),
    };
    return cmocka_run_group_tests_name("profiles", tests, load_table, NULL);
}
