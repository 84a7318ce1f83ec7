/*
 * The FAKE CUDA driver notices each rule that is broken, in the words that say which: contexts,
 * external memory and images. So what other tests prove with it is worth as much as these.
 */
#include "tests/fakes/fake_cuda_case.h"

#include <sys/mman.h>

struct maar_cuda_driver cuda;
const struct fake_control* control;
struct maar_cuda_context* context;

int setup_cuda(void** state)
{
    (void)state;
    control = fake_load_cuda(MAAR_FAKE_CUDA, &cuda);
    assert_int_equal(cuda.cuInit(0), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRetain(&context, 0), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxPushCurrent(context), MAAR_CUDA_SUCCESS);
    return 0;
}

int teardown_cuda(void** state)
{
    (void)state;
    control->reset();
    return 0;
}

int make_block(uint64_t size)
{
    const int fd = memfd_create("a test's block", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(size + FAKE_FILE_EXTRA)), 0);
    return fd;
}

struct maar_cuda_memory_handle handle_of(int fd, uint64_t size)
{
    return (struct maar_cuda_memory_handle){
        .type = MAAR_CUDA_MEMORY_OPAQUE_FD, .handle = {.fd = fd}, .size = size};
}

struct maar_cuda_memory* import_block(uint64_t size)
{
    struct maar_cuda_memory* memory = NULL;
    const struct maar_cuda_memory_handle handle = handle_of(make_block(size), size);
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_SUCCESS);
    return memory;
}

maar_cuda_pointer map_block(struct maar_cuda_memory* memory, uint64_t offset, uint64_t size)
{
    maar_cuda_pointer pointer = 0;
    const struct maar_cuda_memory_range range = {.offset = offset, .size = size};
    assert_int_equal(cuda.cuExternalMemoryGetMappedBuffer(&pointer, memory, &range),
                     MAAR_CUDA_SUCCESS);
    return pointer;
}

/* ---- devices and contexts ---- */

static void device_says_that_it_is_fake(void** state)
{
    char name[100];
    (void)state;
    assert_int_equal(cuda.cuDeviceGetName(name, sizeof name, 0), MAAR_CUDA_SUCCESS);
    assert_string_equal(name, "FAKE CUDA device (Maar's tests; not a GPU)");
    assert_non_null(strstr(control->text, "FAKE"));
}

static void device_identity_is_as_set(void** state)
{
    const uint8_t uuid[VK_UUID_SIZE] = {1, 2, 3};
    const uint8_t luid[VK_LUID_SIZE] = {9, 8, 7};
    struct maar_cuda_uuid found;
    char found_luid[VK_LUID_SIZE];
    unsigned int mask = 0;
    int value = 1;
    (void)state;
    control->set_device_count(2);
    control->set_uuid(1, uuid);
    assert_int_equal(cuda.cuDeviceGetUuid(&found, 1), MAAR_CUDA_SUCCESS);
    assert_memory_equal(found.bytes, uuid, sizeof uuid);
    assert_int_equal(cuda.cuDeviceGetUuid_v1(&found, 0), MAAR_CUDA_SUCCESS);
    assert_memory_not_equal(found.bytes, uuid, sizeof uuid);
    assert_int_equal(cuda.cuDeviceGetLuid(found_luid, &mask, 1), MAAR_CUDA_NOT_SUPPORTED);
    control->set_luid(1, luid, 2);
    assert_int_equal(cuda.cuDeviceGetLuid(found_luid, &mask, 1), MAAR_CUDA_SUCCESS);
    assert_memory_equal(found_luid, luid, sizeof luid);
    assert_int_equal(mask, 2);
    control->set_attribute(1, MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES, 0);
    assert_int_equal(cuda.cuDeviceGetAttribute(&value, MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES, 1),
                     MAAR_CUDA_SUCCESS);
    assert_int_equal(value, 0);
    fake_expect_no_breach(control);
}

static void call_without_init_is_a_breach(void** state)
{
    int count;
    (void)state;
    control->reset();
    assert_int_equal(cuda.cuDeviceGetCount(&count), MAAR_CUDA_NOT_INITIALIZED);
    fake_expect_breach(control, "cuDeviceGetCount: called before the driver was initialised");
}

static void call_without_context_is_a_breach(void** state)
{
    maar_cuda_pointer pointer;
    struct maar_cuda_context* popped = NULL;
    (void)state;
    assert_int_equal(cuda.cuCtxPopCurrent(&popped), MAAR_CUDA_SUCCESS);
    assert_ptr_equal(popped, context);
    assert_int_equal(cuda.cuMemAlloc(&pointer, 16), MAAR_CUDA_INVALID_CONTEXT);
    fake_expect_breach(control, "cuMemAlloc: no context is current");
    assert_int_equal(cuda.cuCtxPopCurrent(&popped), MAAR_CUDA_INVALID_CONTEXT);
    fake_expect_breach(control, "cuCtxPopCurrent: there is no context to pop");
    assert_int_equal(control->context_depth(), 0);
}

static void context_released_too_early_is_a_breach(void** state)
{
    maar_cuda_pointer pointer;
    (void)state;
    assert_int_equal(cuda.cuMemAlloc(&pointer, 16), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease(0), MAAR_CUDA_SUCCESS);
    fake_expect_breach(control, "the primary context ends while 1 objects of it are alive");
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_INVALID_CONTEXT);
    fake_expect_breach(control, "cuMemFree: no context is current");
    assert_int_equal(cuda.cuDevicePrimaryCtxRelease(0), MAAR_CUDA_INVALID_CONTEXT);
    fake_expect_breach(control, "released more often than retained");
}

/* What a program's own calls need: Maar pushes and pops, and does not use this function. */
static void program_sets_its_context(void** state)
{
    enum maar_cuda_result (*set_current)(struct maar_cuda_context * context) = NULL;
    struct maar_cuda_context* now = NULL;
    struct maar_cuda_stream* stream = NULL;
    (void)state;
    fake_find(fake_open_library(MAAR_FAKE_CUDA), "cuCtxSetCurrent", &set_current);
    assert_non_null(set_current);
    assert_int_equal(set_current(NULL), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxGetCurrent(&now), MAAR_CUDA_SUCCESS);
    assert_null(now);
    assert_int_equal(set_current(context), MAAR_CUDA_SUCCESS);
    assert_int_equal(set_current(context), MAAR_CUDA_SUCCESS); /* replaces, and does not push */
    assert_int_equal(cuda.cuStreamCreate(&stream, 0), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamDestroy(stream), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuCtxPopCurrent(&now), MAAR_CUDA_SUCCESS);
    assert_ptr_equal(now, context);
    assert_int_equal(cuda.cuCtxGetCurrent(&now), MAAR_CUDA_SUCCESS);
    assert_null(now);
    assert_int_equal(cuda.cuCtxPushCurrent(context), MAAR_CUDA_SUCCESS);
    fake_expect_no_breach(control);
}

static void other_context_is_a_breach(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    maar_cuda_pointer pointer = map_block(memory, 0, BLOCK);
    (void)state;
    assert_int_equal(cuda.cuCtxPushCurrent(control->make_context(0)), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the pointer belongs to another context");
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the external memory belongs to another context");
}

/* ---- external memory ---- */

static void import_of_exact_size_takes_the_descriptor(void** state)
{
    struct maar_cuda_memory* memory = NULL;
    const uint32_t before = rig_count_fds();
    const struct maar_cuda_memory_handle handle = handle_of(make_block(BLOCK), BLOCK);
    size_t free_before = 0;
    size_t free_after = 0;
    size_t total = 0;
    (void)state;
    assert_int_equal(cuda.cuMemGetInfo(&free_before, &total), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_SUCCESS);
    assert_int_equal(control->imported_bytes(), BLOCK);
    assert_int_equal(cuda.cuMemGetInfo(&free_after, &total), MAAR_CUDA_SUCCESS);
    assert_true(free_before == free_after);
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    assert_int_equal(rig_count_fds(), before);
    fake_expect_no_breach(control);
}

struct bad_handle {
    struct maar_cuda_memory_handle handle;
    enum maar_cuda_result result;
    const char* words;
};

static void import_that_breaks_a_rule_leaves_the_descriptor(void** state)
{
    const int fd = make_block(BLOCK);
    struct bad_handle rows[] = {
        {handle_of(fd, BLOCK / 2), MAAR_CUDA_INVALID_VALUE,
         "the size is 32768, but 65536 bytes were allocated"},
        {handle_of(fd, BLOCK + FAKE_FILE_EXTRA), MAAR_CUDA_INVALID_VALUE, "the size is 69672"},
        {handle_of(fd, BLOCK), MAAR_CUDA_INVALID_VALUE, "the reserved fields of the handle"},
        {handle_of(fd, BLOCK), MAAR_CUDA_INVALID_VALUE, "flags 0x2 are unknown"},
        {handle_of(fd, BLOCK), MAAR_CUDA_NOT_SUPPORTED, "handles of type 9 are not supported"},
        {handle_of(1000, BLOCK), MAAR_CUDA_INVALID_VALUE, "1000 is no open descriptor"},
        {handle_of(-1, BLOCK), MAAR_CUDA_INVALID_VALUE, "-1 is no open descriptor"},
    };
    (void)state;
    rows[2].handle.reserved[15] = 1;
    rows[3].handle.flags = 2;
    rows[4].handle.type = MAAR_CUDA_MEMORY_DMA_BUF_FD;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct maar_cuda_memory* memory = NULL;
        assert_int_equal(cuda.cuImportExternalMemory(&memory, &rows[i].handle), rows[i].result);
        fake_expect_breach(control, rows[i].words);
        assert_null(memory);
        assert_true(fake_is_open(fd));
    }
    assert_int_equal(control->live(FAKE_KIND_MEMORY), 0);
    assert_int_equal(close(fd), 0);
}

static void import_of_another_device_s_block_is_refused(void** state)
{
    const struct fake_file_head head = {
        .magic = FAKE_MAGIC_SIMULATED, .kind = FAKE_FILE_MEMORY, .size = BLOCK};
    const int fd = make_block(BLOCK);
    const struct maar_cuda_memory_handle handle = handle_of(fd, BLOCK);
    struct maar_cuda_memory* memory = NULL;
    (void)state;
    assert_int_equal(pwrite(fd, &head, sizeof head, 0), sizeof head);
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the descriptor is of a device with another UUID");
    control->set_uuid(0, head.device_uuid);
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_SUCCESS);
    fake_expect_no_breach(control);
}

static void descriptor_closed_twice_is_a_breach(void** state)
{
    const int fd = make_block(BLOCK);
    const struct maar_cuda_memory_handle handle = handle_of(fd, BLOCK);
    struct maar_cuda_memory* memory = NULL;
    (void)state;
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_SUCCESS);
    (void)close(fd);
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    fake_expect_breach(control, "which an import had taken, was closed by another");
}

static void mapping_reaches_the_file_and_no_more(void** state)
{
    const int fd = make_block(BLOCK);
    char* file = mmap(NULL, BLOCK + FAKE_FILE_PAYLOAD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const struct maar_cuda_memory_handle handle = handle_of(fd, BLOCK);
    struct maar_cuda_memory* memory = NULL;
    (void)state;
    assert_true(file != MAP_FAILED);
    assert_int_equal(cuda.cuImportExternalMemory(&memory, &handle), MAAR_CUDA_SUCCESS);
    const maar_cuda_pointer whole = map_block(memory, 0, BLOCK);
    const maar_cuda_pointer part = map_block(memory, 5000, 100);
    assert_true(part != whole + 5000);
    assert_int_equal(cuda.cuMemsetD8Async(part, 7, 100, NULL), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuStreamSynchronize(NULL), MAAR_CUDA_SUCCESS);
    for (int i = 0; i < BLOCK; ++i) {
        assert_int_equal(file[FAKE_FILE_PAYLOAD + i], i >= 5000 && i < 5100 ? 7 : 0);
    }
    assert_int_equal(cuda.cuMemsetD8Async(part, 7, 101, NULL), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the target, 101 bytes, goes beyond its memory");
    assert_int_equal(cuda.cuMemFree(part), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree(whole), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    (void)munmap(file, BLOCK + FAKE_FILE_PAYLOAD);
    fake_expect_no_breach(control);
}

static void mapping_that_breaks_a_rule_is_refused(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    maar_cuda_pointer pointer = 0;
    struct {
        struct maar_cuda_memory_range range;
        const char* words;
    } rows[] = {
        {{.offset = 0, .size = BLOCK + 1}, "65537 bytes at 0 are outside of the memory's 65536"},
        {{.offset = BLOCK, .size = 1}, "are outside"},
        {{.offset = UINT64_MAX, .size = 2}, "are outside"},
        {{.offset = 0, .size = 0}, "are outside"},
        {{.offset = 0, .size = 1, .flags = 1}, "the flags of the range are not zero"},
        {{.offset = 0, .size = 1, .reserved = {1}}, "the reserved fields of the range"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        assert_int_equal(cuda.cuExternalMemoryGetMappedBuffer(&pointer, memory, &rows[i].range),
                         MAAR_CUDA_INVALID_VALUE);
        fake_expect_breach(control, rows[i].words);
    }
    assert_int_equal(pointer, 0);
    assert_int_equal(control->live(FAKE_KIND_MAPPING), 0);
}

static void memory_destroyed_before_its_pointer_is_a_breach(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    maar_cuda_pointer pointer = map_block(memory, 0, BLOCK);
    (void)state;
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    fake_expect_breach(control, "destroyed before 1 pointers and 0 arrays made of it were freed");
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_SUCCESS);
    fake_expect_breach(control, "the external memory was destroyed before this pointer of it");
}

static void memory_destroyed_twice_is_a_breach(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    const struct maar_cuda_memory_range range = {.size = 1};
    maar_cuda_pointer pointer = 0;
    int other = 0;
    (void)state;
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the external memory has been destroyed");
    assert_int_equal(cuda.cuExternalMemoryGetMappedBuffer(&pointer, memory, &range),
                     MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the external memory has been destroyed");
    assert_int_equal(cuda.cuDestroyExternalMemory((void*)&other), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the external memory is none");
}

static void pointer_freed_twice_is_a_breach(void** state)
{
    maar_cuda_pointer pointer = 0;
    (void)state;
    assert_int_equal(cuda.cuMemAlloc(&pointer, 4096), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree(pointer + 1), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the pointer is not what was given out");
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the pointer has been freed already");
    assert_int_equal(cuda.cuMemFree(64), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "the pointer is none that can be freed");
    assert_int_equal(cuda.cuMemFree(0), MAAR_CUDA_SUCCESS);
    fake_expect_no_breach(control);
}

static void pointer_attributes_are_those_of_its_memory(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    maar_cuda_pointer pointer = map_block(memory, 256, 512);
    maar_cuda_pointer start = 0;
    unsigned int type = 0;
    size_t size = 0;
    int ordinal = -1;
    (void)state;
    assert_int_equal(cuda.cuPointerGetAttribute(&type, MAAR_CUDA_POINTER_MEMORY_TYPE, pointer), 0);
    assert_int_equal(type, MAAR_CUDA_MEMORY_DEVICE);
    assert_int_equal(
        cuda.cuPointerGetAttribute(&start, MAAR_CUDA_POINTER_RANGE_START, pointer + 100), 0);
    assert_true(start == pointer);
    assert_int_equal(cuda.cuPointerGetAttribute(&size, MAAR_CUDA_POINTER_RANGE_SIZE, pointer), 0);
    assert_int_equal(size, 512);
    assert_int_equal(
        cuda.cuPointerGetAttribute(&ordinal, MAAR_CUDA_POINTER_DEVICE_ORDINAL, pointer), 0);
    assert_int_equal(ordinal, 0);
    assert_int_equal(cuda.cuPointerGetAttribute(&size, MAAR_CUDA_POINTER_RANGE_SIZE, pointer + 512),
                     MAAR_CUDA_INVALID_VALUE);
}

/* ---- images ---- */

static struct maar_cuda_memory_image image_of(size_t width, size_t height)
{
    return (struct maar_cuda_memory_image){
        .shape = {.width = width,
                  .height = height,
                  .format = MAAR_CUDA_FORMAT_UINT8,
                  .channels = 4,
                  .flags = MAAR_CUDA_ARRAY_COLOR_ATTACHMENT},
        .levels = 1,
    };
}

static void image_has_its_levels_and_holds_the_memory(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    struct maar_cuda_memory_image info = image_of(64, 32);
    struct maar_cuda_mipmapped_array* image = NULL;
    struct maar_cuda_array* levels[2] = {NULL, NULL};
    (void)state;
    info.levels = 7;
    assert_int_equal(cuda.cuExternalMemoryGetMappedMipmappedArray(&image, memory, &info), 0);
    assert_int_equal(control->last_image().shape.width, 64);
    assert_int_equal(cuda.cuMipmappedArrayGetLevel(&levels[0], image, 0), 0);
    assert_int_equal(cuda.cuMipmappedArrayGetLevel(&levels[1], image, 6), 0);
    assert_ptr_not_equal(levels[0], levels[1]);
    assert_int_equal(cuda.cuMipmappedArrayGetLevel(&levels[0], image, 7), MAAR_CUDA_INVALID_VALUE);
    fake_expect_breach(control, "there is no level 7");
    assert_int_equal(cuda.cuDestroyExternalMemory(memory), MAAR_CUDA_SUCCESS);
    fake_expect_breach(control, "destroyed before 0 pointers and 1 arrays made of it were freed");
    assert_int_equal(cuda.cuMipmappedArrayDestroy(image), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMipmappedArrayDestroy(image), MAAR_CUDA_INVALID_HANDLE);
    fake_expect_breach(control, "the mipmapped array has been destroyed");
}

static void image_that_breaks_a_rule_is_refused(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    struct {
        struct maar_cuda_memory_image info;
        const char* words;
    } rows[10];
    for (size_t i = 0; i < 10; ++i) {
        rows[i].info = image_of(64, 64);
    }
    (void)state;
    rows[0].info.shape.format = (enum maar_cuda_format)0x77;
    rows[0].words = "the format is unknown";
    rows[1].info.shape.channels = 3;
    rows[1].words = "an element has 1, 2 or 4 channels";
    rows[2].info.shape.flags = 0x1000;
    rows[2].words = "a flag of the shape is unknown";
    rows[3].info.shape.width = 0;
    rows[3].words = "the width is 0";
    rows[4].info.shape.flags = MAAR_CUDA_ARRAY_LAYERED;
    rows[4].words = "a layered array has its layers as depth";
    rows[5].info.shape.flags = MAAR_CUDA_ARRAY_CUBE;
    rows[5].words = "a cube map is square and has six faces";
    rows[6].info.reserved[3] = 1;
    rows[6].words = "the reserved fields of the image are not zero";
    rows[7].info.levels = 8;
    rows[7].words = "8 levels are too many or too few";
    rows[8].info.levels = 0;
    rows[8].words = "0 levels are too many or too few";
    rows[9].info.offset = BLOCK - 64;
    rows[9].words = "goes beyond the memory's 65536 bytes";
    for (size_t i = 0; i < 10; ++i) {
        struct maar_cuda_mipmapped_array* image = NULL;
        assert_int_equal(
            cuda.cuExternalMemoryGetMappedMipmappedArray(&image, memory, &rows[i].info),
            MAAR_CUDA_INVALID_VALUE);
        fake_expect_breach(control, rows[i].words);
        assert_null(image);
    }
}

/* ---- faults and the end ---- */

static void fault_comes_at_the_call_asked_for(void** state)
{
    maar_cuda_pointer pointer = 0;
    (void)state;
    control->set_fault("cuMemAlloc", 2, 1, MAAR_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cuda.cuMemAlloc(&pointer, 16), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_SUCCESS);
    assert_int_equal(cuda.cuMemAlloc(&pointer, 16), MAAR_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cuda.cuMemAlloc(&pointer, 16), MAAR_CUDA_SUCCESS);
    assert_int_equal(control->calls("cuMemAlloc"), 3);
    control->set_fault(NULL, 1, 1, MAAR_CUDA_UNKNOWN);
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_UNKNOWN);
    assert_int_equal(cuda.cuMemFree(pointer), MAAR_CUDA_SUCCESS);
    fake_expect_no_breach(control);
}

static void what_is_left_is_said(void** state)
{
    struct maar_cuda_memory* memory = import_block(BLOCK);
    (void)map_block(memory, 0, 16);
    (void)state;
    control->expect_nothing_alive();
    assert_int_equal(control->breach_count(), 3);
    assert_non_null(strstr(control->breach(0), "1 imports of external memory are alive"));
    assert_non_null(strstr(control->breach(1), "1 retains of primary contexts are alive"));
    assert_non_null(strstr(control->breach(2), "1 pointers into imported memory are alive"));
}

static void old_driver_lacks_what_it_lacks(void** state)
{
    struct maar_cuda_driver old;
    (void)state;
    (void)fake_load_cuda(MAAR_FAKE_CUDA_OLD, &old);
    assert_true(old.cuDeviceGetUuid == NULL && old.cuDeviceGetUuid_v1 != NULL);
    assert_true(old.cuDeviceGetLuid == NULL && old.cuMemCreate == NULL && old.cuMemMap == NULL);
#define IS_THERE(name, symbol, parameters) assert_true(old.name != NULL);
    MAAR_CUDA_FUNCTIONS(IS_THERE)
#undef IS_THERE
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_cuda, teardown_cuda)

int main(void)
{
    const struct CMUnitTest cases[] = {
        CASE(device_says_that_it_is_fake),
        CASE(device_identity_is_as_set),
        CASE(call_without_init_is_a_breach),
        CASE(call_without_context_is_a_breach),
        CASE(context_released_too_early_is_a_breach),
        CASE(program_sets_its_context),
        CASE(other_context_is_a_breach),
        CASE(import_of_exact_size_takes_the_descriptor),
        CASE(import_that_breaks_a_rule_leaves_the_descriptor),
        CASE(import_of_another_device_s_block_is_refused),
        CASE(descriptor_closed_twice_is_a_breach),
        CASE(mapping_reaches_the_file_and_no_more),
        CASE(mapping_that_breaks_a_rule_is_refused),
        CASE(memory_destroyed_before_its_pointer_is_a_breach),
        CASE(memory_destroyed_twice_is_a_breach),
        CASE(pointer_freed_twice_is_a_breach),
        CASE(pointer_attributes_are_those_of_its_memory),
        CASE(image_has_its_levels_and_holds_the_memory),
        CASE(image_that_breaks_a_rule_is_refused),
        CASE(fault_comes_at_the_call_asked_for),
        CASE(what_is_left_is_said),
        CASE(old_driver_lacks_what_it_lacks),
    };
    return cmocka_run_group_tests(cases, NULL, NULL) + run_work_cases();
}
