/*
 * Descriptors: what goes onto the wire comes back, and whatever else comes is refused, with the
 * field named and nothing read beyond the end. Runs on a simulated device.
 */
#include "tests/unit/interop/descriptor_samples.h"

#include "interop/process/descriptor.h"

static struct rig rig;

static int start(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    rig_start(&rig, &setup);
    return 0;
}

static int stop(void** state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static const MaarDescriptorKind kinds[] = {MAAR_DESCRIPTOR_KIND_BUFFER, MAAR_DESCRIPTOR_KIND_MEMORY,
                                           MAAR_DESCRIPTOR_KIND_TIMELINE};

static void write_sample(MaarDescriptorKind kind, uint8_t* bytes)
{
    const MaarDescriptor sample = descriptor_sample(&rig, kind);
    assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes), VK_SUCCESS);
}

/* Reads out of memory of exactly that size, so that a sanitizer sees a byte too many; what is
 * refused leaves the descriptor as it was. */
static VkResult read_exactly(size_t size, const uint8_t* bytes, MaarDescriptor* descriptor)
{
    uint8_t* copy = malloc(size != 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    MaarDescriptor before;
    memset(descriptor, 0x5A, sizeof *descriptor);
    descriptor->sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR;
    descriptor->pNext = NULL;
    memcpy(&before, descriptor, sizeof before);
    const VkResult result = maarReadDescriptor(rig.allocator, size, copy, descriptor);
    free(copy);
    if (result != VK_SUCCESS) {
        assert_memory_equal(descriptor, &before, sizeof before);
        assert_int_equal(rig.messages.total, 1);
    }
    return result;
}

static void expect_equal(const MaarDescriptor* a, const MaarDescriptor* b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->handleType, b->handleType);
    assert_memory_equal(a->deviceUUID, b->deviceUUID, VK_UUID_SIZE);
    assert_memory_equal(a->driverUUID, b->driverUUID, VK_UUID_SIZE);
    assert_true(a->blockSize == b->blockSize && a->offset == b->offset && a->size == b->size);
    assert_int_equal(a->memoryTypeIndex, b->memoryTypeIndex);
    assert_int_equal(a->dedicated, b->dedicated);
    assert_int_equal(a->bufferUsage, b->bufferUsage);
    assert_int_equal(a->bufferFlags, b->bufferFlags);
    assert_true(a->userValue == b->userValue);
    assert_string_equal(a->name, b->name);
}

static void descriptor_written_comes_back(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        MaarDescriptor sample = descriptor_sample(&rig, kinds[i]);
        MaarDescriptor read;
        uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
        /* What lies behind the name's zero does not travel. */
        memset(sample.name + strlen(sample.name) + 1, 'x',
               sizeof sample.name - strlen(sample.name) - 1);
        assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes), VK_SUCCESS);
        assert_null(memchr(bytes + WIRE_NAME, 'x', MAAR_DESCRIPTOR_SIZE - WIRE_NAME));
        assert_int_equal(read_exactly(sizeof bytes, bytes, &read), VK_SUCCESS);
        expect_equal(&sample, &read);
        /* More bytes than a descriptor has are nobody's business. */
        uint8_t more[MAAR_DESCRIPTOR_SIZE + 9];
        memset(more, 0xEE, sizeof more);
        memcpy(more, bytes, sizeof bytes);
        assert_int_equal(read_exactly(sizeof more, more, &read), VK_SUCCESS);
    }
    rig_expect_silence(&rig);
}

/* The format itself: other builds, and other languages, rely on these bytes. */
static void descriptor_bytes_are_as_documented(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    uint8_t sealed[MAAR_DESCRIPTOR_SIZE];
    write_sample(MAAR_DESCRIPTOR_KIND_BUFFER, bytes);
    static const uint8_t head[] = {'M', 'A', 'A', 'R', 'D', 'E', 'S', 'C', 1, 0, 0, 0};
    static const uint8_t kind_and_type[] = {1, 0, 0, 0, 1, 0, 0, 0};
    static const uint8_t numbers[] = {
        0x9A, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0,    0,    1,    0,    0,    0,    0,    0,
        0,    0,    0,    0,    1,    0, 0, 0, 7,    0,    0,    0,    1,    0,    0,    0,
        0x22, 0,    0,    0,    8,    0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    assert_memory_equal(bytes, head, sizeof head);
    assert_memory_equal(bytes + WIRE_KIND, kind_and_type, sizeof kind_and_type);
    assert_memory_equal(bytes + WIRE_BLOCK_SIZE, numbers, sizeof numbers);
    assert_string_equal((const char*)bytes + WIRE_NAME,
                        "particles, \xC3\xBC \xE2\x82\xAC \xF0\x9F\x8C\x8B");
    memcpy(sealed, bytes, sizeof sealed);
    descriptor_seal(sealed);
    assert_memory_equal(bytes, sealed, sizeof sealed);
}

/* A field, what it is set to, and the name that the message has for it. */
struct wrong_field {
    MaarDescriptorKind kind;
    uint32_t at;
    uint32_t size;
    uint64_t value;
    const char* culprit; /* NULL: none */
};

static const struct wrong_field wrong_fields[] = {
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_MAGIC, 1, 'm', NULL},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_MAGIC + 7, 1, 0, NULL},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_VERSION, 4, 0, "version"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_VERSION, 4, 2, "version"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_VERSION, 4, 0x01000000, "version"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_KIND, 4, 0, "kind"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_KIND, 4, 4, "kind"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_KIND, 4, UINT32_MAX, "kind"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_KIND, 4, 2, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_KIND, 4, 3, NULL},
    {MAAR_DESCRIPTOR_KIND_MEMORY, WIRE_KIND, 4, 1, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_HANDLE_TYPE, 4, 0, "handleType"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_HANDLE_TYPE, 4, 3, "handleType"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_HANDLE_TYPE, 4, 4, "handleType"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_HANDLE_TYPE, 4, 0x80, "handleType"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_HANDLE_TYPE, 4, 0x10, "handleType"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_HANDLE_TYPE, 4, 4, "handleType"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_BLOCK_SIZE, 8, 0, "blockSize"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_BLOCK_SIZE, 8, 1, "blockSize"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_OFFSET, 8, UINT64_C(0x123456789A), "offset"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_OFFSET, 8, UINT64_MAX, "offset"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_OFFSET, 8, 1, "blockSize"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_SIZE, 8, 0, "size"},
    {MAAR_DESCRIPTOR_KIND_MEMORY, WIRE_SIZE, 8, UINT64_C(0x123455789B), "size"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_SIZE, 8, UINT64_MAX, "size"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_SIZE, 8, 1, "blockSize"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_MEMORY_TYPE, 4, 32, "memoryTypeIndex"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_MEMORY_TYPE, 4, 0xFFFFFFFE, "memoryTypeIndex"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_MEMORY_TYPE, 4, 1, "memoryTypeIndex"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_DEDICATED, 4, 2, "dedicated"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_DEDICATED, 4, UINT32_MAX, "dedicated"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_DEDICATED, 4, 1, "memoryTypeIndex"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_BUFFER_USAGE, 4, 0, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_MEMORY, WIRE_BUFFER_USAGE, 4, 1, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_BUFFER_USAGE, 4, 1, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_BUFFER_FLAGS, 4, 1, "bufferFlags"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_BUFFER_FLAGS, 4, 4, "bufferFlags"},
    {MAAR_DESCRIPTOR_KIND_MEMORY, WIRE_BUFFER_FLAGS, 4, 8, "bufferFlags"},
    {MAAR_DESCRIPTOR_KIND_TIMELINE, WIRE_BUFFER_FLAGS, 4, 8, "bufferUsage"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 1, '\n', "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 1, 0x7F, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 1, 0x80, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 2, 0x80C0, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 2, 0x85C2, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 3, 0x80A0ED, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 3, 0x8080E0, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 4, 0x808080F0, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 4, 0x808090F4, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 4, 0x808080F5, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 2, 0x20C3, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME, 1, 0, "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_NAME + 63, 1, 'x', "name"},
    {MAAR_DESCRIPTOR_KIND_BUFFER, WIRE_RESERVED, 1, 1, NULL},
    {MAAR_DESCRIPTOR_KIND_BUFFER, MAAR_DESCRIPTOR_SIZE - 1, 1, 1, NULL},
};

static void descriptor_with_a_wrong_field_is_refused(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_fields / sizeof wrong_fields[0]; ++i) {
        const struct wrong_field* row = &wrong_fields[i];
        uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
        MaarDescriptor read;
        write_sample(row->kind, bytes);
        for (uint32_t k = 0; k < row->size; ++k) {
            bytes[row->at + k] = (uint8_t)(row->value >> 8 * k);
        }
        descriptor_seal(bytes);
        assert_int_equal(read_exactly(sizeof bytes, bytes, &read),
                         row->at == WIRE_VERSION ? VK_ERROR_FORMAT_NOT_SUPPORTED
                                                 : VK_ERROR_INVALID_EXTERNAL_HANDLE);
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, row->culprit);
    }
}

static void name_without_an_end_is_refused(void** state)
{
    (void)state;
    MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_MEMORY);
    MaarDescriptor read;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    memset(sample.name, 'n', sizeof sample.name - 1);
    assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes), VK_SUCCESS);
    assert_int_equal(read_exactly(sizeof bytes, bytes, &read), VK_SUCCESS);
    assert_string_equal(read.name, sample.name);
    bytes[WIRE_NAME + 63] = 'n';
    descriptor_seal(bytes);
    assert_int_equal(read_exactly(sizeof bytes, bytes, &read), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, "name");
    sample.name[63] = 'n';
    assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, "pDescriptor->name");
}

static void any_flipped_bit_is_noticed(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    MaarDescriptor read;
    write_sample(MAAR_DESCRIPTOR_KIND_BUFFER, bytes);
    for (uint32_t bit = 0; bit < 8 * MAAR_DESCRIPTOR_SIZE; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(read_exactly(sizeof bytes, bytes, &read), VK_SUCCESS);
        rig_forget_messages(&rig);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(read_exactly(sizeof bytes, bytes, &read), VK_SUCCESS);
}

static void any_truncation_is_refused(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    MaarDescriptor read;
    write_sample(MAAR_DESCRIPTOR_KIND_BUFFER, bytes);
    for (size_t size = 0; size < sizeof bytes; ++size) {
        assert_int_equal(read_exactly(size, bytes, &read), VK_ERROR_INVALID_EXTERNAL_HANDLE);
        rig_expect_message(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR);
    }
    MaarDescriptor none = {.sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR};
    assert_int_equal(maarReadDescriptor(rig.allocator, 0, NULL, &none),
                     VK_ERROR_INVALID_EXTERNAL_HANDLE);
    rig_expect_message(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR);
}

/* What the reader refuses the writer refuses too, and leaves the bytes alone. */
static void descriptor_that_would_be_refused_is_not_written(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    uint8_t before[MAAR_DESCRIPTOR_SIZE];
    memset(bytes, 0xC3, sizeof bytes);
    memcpy(before, bytes, sizeof before);
    for (uint32_t i = 0; i < 11; ++i) {
        MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_BUFFER);
        static const char* const culprits[] = {
            "kind",      "handleType",  "blockSize",   "offset", "size", "memoryTypeIndex",
            "dedicated", "bufferUsage", "bufferFlags", "name",   "size",
        };
        sample.kind = i == 0 ? (MaarDescriptorKind)9 : sample.kind;
        sample.handleType = i == 1 ? 0x100 : sample.handleType;
        sample.blockSize = i == 2 ? 0 : sample.blockSize;
        sample.offset = i == 3 ? sample.blockSize : sample.offset;
        sample.size = i == 4 ? 0 : i == 10 ? sample.blockSize : sample.size;
        sample.memoryTypeIndex = i == 5 ? 77 : sample.memoryTypeIndex;
        sample.dedicated = i == 6 ? 5 : sample.dedicated;
        sample.bufferUsage = i == 7 ? 0 : sample.bufferUsage;
        sample.bufferFlags = i == 8 ? VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT : sample.bufferFlags;
        sample.name[0] = i == 9 ? '\t' : sample.name[0];
        assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, bytes),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_INVALID_DESCRIPTOR, culprits[i]);
        assert_memory_equal(bytes, before, sizeof before);
    }
}

static void misuse_is_reported(void** state)
{
    (void)state;
    uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
    MaarDescriptor sample = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_MEMORY);
    const VkResult wrong = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarWriteDescriptor(NULL, &sample, bytes), wrong);
    assert_int_equal(maarWriteDescriptor(rig.allocator, &sample, NULL), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBytes");
    assert_int_equal(maarWriteDescriptor(rig.allocator, NULL, bytes), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDescriptor");
    assert_int_equal(maarReadDescriptor(rig.allocator, 5, NULL, &sample), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBytes");
    assert_int_equal(maarReadDescriptor(rig.allocator, 5, bytes, NULL), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pDescriptor");
    sample.sType = MAAR_STRUCTURE_TYPE_IMPORT_INFO;
    assert_int_equal(maarReadDescriptor(rig.allocator, sizeof bytes, bytes, &sample), wrong);
    rig_expect_message_naming(&rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pDescriptor->sType");
    assert_int_equal(maarReadDescriptor(NULL, sizeof bytes, bytes, &sample), wrong);
}

/* Whatever an allocation is called, its descriptor has a sound name. */
static void name_is_cut_and_cleaned(void** state)
{
    (void)state;
    static const struct {
        const char* from;
        const char* to;
    } rows[] = {
        {NULL, ""},
        {"", ""},
        {"positions", "positions"},
        {"tab\tand \x7F", "tab?and ?"},
        {"half \xC3", "half ?"},
        {"\xFF\xFE \xE2\x82\xAC \xC2\x85", "?? \xE2\x82\xAC ??"},
        {"0123456789012345678901234567890123456789012345678901234567890123456789",
         "012345678901234567890123456789012345678901234567890123456789012"},
        {"01234567890123456789012345678901234567890123456789012345678901\xC3\xBC",
         "01234567890123456789012345678901234567890123456789012345678901"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        MaarDescriptor descriptor = descriptor_sample(&rig, MAAR_DESCRIPTOR_KIND_MEMORY);
        maar_descriptor_set_name(&descriptor, rows[i].from);
        assert_string_equal(descriptor.name, rows[i].to);
        assert_null(maar_descriptor_fault(&descriptor));
    }
}

enum { MUTATIONS = 100000 };

/* No byte is read beyond the end, and what is taken is what would be written. */
static void mutated_descriptors_are_refused_or_sound(void** state)
{
    (void)state;
    struct rig_random random = {.state = rig_seed(61)};
    uint32_t sound = 0;
    uint32_t other = 0;
    for (uint32_t i = 0; i < MUTATIONS; ++i) {
        uint8_t bytes[MAAR_DESCRIPTOR_SIZE];
        MaarDescriptor read;
        write_sample(kinds[rig_below(&random, 3)], bytes);
        descriptor_mutate(&random, bytes);
        const bool cut = rig_below(&random, 8) == 0;
        const size_t size = cut ? rig_below(&random, sizeof bytes) : sizeof bytes;
        const VkResult result = read_exactly(size, bytes, &read);
        if (result == VK_SUCCESS) {
            uint8_t again[MAAR_DESCRIPTOR_SIZE];
            assert_false(cut);
            assert_int_equal(maarWriteDescriptor(rig.allocator, &read, again), VK_SUCCESS);
            assert_memory_equal(again, bytes, sizeof again);
            sound += 1;
        } else {
            assert_true(result == VK_ERROR_INVALID_EXTERNAL_HANDLE ||
                        result == VK_ERROR_FORMAT_NOT_SUPPORTED);
            other += result == VK_ERROR_FORMAT_NOT_SUPPORTED ? 1 : 0;
            rig_forget_messages(&rig);
        }
    }
    print_message("%d mutated descriptors: %u sound still, %u of another version\n", MUTATIONS,
                  (unsigned)sound, (unsigned)other);
    assert_true(sound > MUTATIONS / 100 && sound < MUTATIONS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptor_written_comes_back),
        cmocka_unit_test(descriptor_bytes_are_as_documented),
        cmocka_unit_test(descriptor_with_a_wrong_field_is_refused),
        cmocka_unit_test(name_without_an_end_is_refused),
        cmocka_unit_test(any_flipped_bit_is_noticed),
        cmocka_unit_test(any_truncation_is_refused),
        cmocka_unit_test(descriptor_that_would_be_refused_is_not_written),
        cmocka_unit_test(misuse_is_reported),
        cmocka_unit_test(name_is_cut_and_cleaned),
        cmocka_unit_test(mutated_descriptors_are_refused_or_sound),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
