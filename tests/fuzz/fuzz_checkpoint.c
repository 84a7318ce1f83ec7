/*
 * The file of a checkpoint, driven by bytes: it is written and then altered or cut off, or it is
 * made of the fuzzer's own bytes, with checksums that are right. Whatever is handed out as good is
 * what was written; a file of rubbish does not open, or says what cannot be read.
 */
#include "core/residency/checkpoint_file.h"
#include "core/residency/checksum.h"
#include "tests/fuzz/fuzz_input.h"

enum {
    DISK_SIZE = 256 * 1024,
    UNIT = 4096,
    ENTRIES = 6,
    LONGEST = 9000,
    HEAD_NUMBERS = 7, /* the last one is the checksum of the others */
    HEAD_ENTRY_COUNT = 3,
    HEAD_DIRECTORY = 4,
    HEAD_DIRECTORY_CHECKSUM = 5
};

struct checkpoint_world {
    struct fuzz_input input;
    uint8_t disk[DISK_SIZE];
    VkDeviceSize size;    /* of the file */
    uint64_t fails_after; /* calls; 0: no further one fails */
    bool may_fail;        /* a transfer was set to fail */
    bool is_altered;
    uint32_t count;
    struct {
        uint64_t key;
        size_t size;
        uint8_t bytes[LONGEST];
    } entries[ENTRIES];
};

static bool serves(struct checkpoint_world* world, VkDeviceSize offset, size_t size)
{
    fuzz_require(size != 0 && offset % UNIT == 0 && size % UNIT == 0);
    fuzz_require(size <= world->size && offset <= world->size - size);
    return world->fails_after == 0 || --world->fails_after != 0;
}

static VkResult VKAPI_CALL read_disk(void* user, VkDeviceSize offset, size_t size, void* data)
{
    struct checkpoint_world* world = user;
    if (!serves(world, offset, size)) {
        return VK_ERROR_UNKNOWN;
    }
    memcpy(data, world->disk + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL write_disk(void* user, VkDeviceSize offset, size_t size, void* data)
{
    struct checkpoint_world* world = user;
    if (!serves(world, offset, size)) {
        return VK_ERROR_UNKNOWN;
    }
    memcpy(world->disk + offset, data, size);
    return VK_SUCCESS;
}

static MaarFileStore disk_of(struct checkpoint_world* world)
{
    return (MaarFileStore){
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = world,
        .size = world->size,
        .alignment = UNIT,
        .pfnRead = read_disk,
        .pfnWrite = write_disk,
    };
}

/* ---- a checkpoint that was written ---- */

static void draw_entry(struct checkpoint_world* world, uint32_t at)
{
    struct fuzz_input* input = &world->input;
    const uint8_t way = fuzz_byte(input);
    const uint8_t first = fuzz_byte(input);
    world->entries[at].key = way % 8 == 0 ? fuzz_scaled(input, 64) : at + 1;
    world->entries[at].size = 1 + (size_t)fuzz_below(input, LONGEST);
    for (size_t i = 0; i < world->entries[at].size; ++i) {
        const size_t varied = (size_t)(first | 1) * i * i >> (way >> 4);
        world->entries[at].bytes[i] = (uint8_t)((way & 8) != 0 ? first : varied);
    }
}

static bool has_key_twice(const struct checkpoint_world* world)
{
    for (uint32_t i = 0; i < world->count; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            if (world->entries[i].key == world->entries[k].key) {
                return true;
            }
        }
    }
    return false;
}

/* Returns whether the store has a checkpoint now. */
static bool write_checkpoint(struct checkpoint_world* world)
{
    struct maar_checkpoint_file file;
    const MaarFileStore store = disk_of(world);
    struct maar_codec codec;
    uint64_t twice = 0;
    const uint32_t wanted = (uint32_t)fuzz_below(&world->input, ENTRIES + 1);
    MaarCompressor standard = {.sType = MAAR_STRUCTURE_TYPE_COMPRESSOR};
    const bool has = maarGetCompressor(MAAR_COMPRESSION_DEFAULT, &standard) == VK_SUCCESS;
    fuzz_require(maar_codec_init(&codec, has ? &standard : NULL));
    fuzz_require(maar_checkpoint_init(&file, &store, &codec, NULL) == VK_SUCCESS);
    VkResult result = maar_checkpoint_begin(&file);
    while (result == VK_SUCCESS && world->count < wanted) {
        draw_entry(world, world->count);
        result = maar_checkpoint_add(&file, world->entries[world->count].key,
                                     world->entries[world->count].bytes,
                                     world->entries[world->count].size);
        ++world->count;
    }
    if (result == VK_SUCCESS) {
        result = maar_checkpoint_end(&file, &twice);
        fuzz_require((result == VK_ERROR_VALIDATION_FAILED_EXT) == has_key_twice(world));
    }
    maar_checkpoint_free(&file);
    return result == VK_SUCCESS;
}

static void alter(struct checkpoint_world* world)
{
    const uint64_t count = fuzz_below(&world->input, 4);
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = fuzz_below(&world->input, world->size);
        world->disk[at] ^= (uint8_t)(1 + fuzz_below(&world->input, 255));
        world->is_altered = true;
    }
    if (fuzz_byte(&world->input) % 4 == 0) {
        world->size = UNIT * fuzz_below(&world->input, world->size / UNIT + 1);
        world->is_altered = true;
    }
}

/* ---- a file of the fuzzer's bytes ---- */

/* Makes the checksums right, so that what they protect is looked at. */
static void mend_checksums(struct checkpoint_world* world)
{
    uint64_t head[HEAD_NUMBERS];
    memcpy(head, world->disk, sizeof head);
    const uint64_t size = head[HEAD_ENTRY_COUNT] <= DISK_SIZE / sizeof(struct maar_checkpoint_entry)
                              ? head[HEAD_ENTRY_COUNT] * sizeof(struct maar_checkpoint_entry)
                              : 0;
    if (head[HEAD_DIRECTORY] <= DISK_SIZE - size) {
        head[HEAD_DIRECTORY_CHECKSUM] =
            maar_checksum(world->disk + head[HEAD_DIRECTORY], (size_t)size);
    }
    head[HEAD_NUMBERS - 1] = maar_checksum(head, (HEAD_NUMBERS - 1) * sizeof head[0]);
    memcpy(world->disk, head, sizeof head);
}

/* Numbers of the head or of an entry become the fuzzer's. */
static void forge(struct checkpoint_world* world)
{
    const uint64_t count = fuzz_below(&world->input, 8);
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t head[HEAD_NUMBERS];
        memcpy(head, world->disk, sizeof head);
        const uint64_t at = fuzz_byte(&world->input);
        const uint64_t number = fuzz_scaled(&world->input, 64);
        const uint64_t directory = head[HEAD_DIRECTORY];
        if (at % 2 == 0) {
            memcpy(world->disk + at / 2 % HEAD_NUMBERS * sizeof number, &number, sizeof number);
        } else if (directory <= DISK_SIZE - 2048) {
            memcpy(world->disk + directory + at / 2 * sizeof number, &number, sizeof number);
        }
    }
    const uint64_t raw = fuzz_below(&world->input, 256);
    const size_t length = raw < world->input.left ? (size_t)raw : world->input.left;
    const uint64_t to = fuzz_below(&world->input, DISK_SIZE - 256);
    for (size_t i = 0; i < length; ++i) {
        world->disk[to + i] = fuzz_byte(&world->input);
    }
    mend_checksums(world);
    world->is_altered = true;
}

/* ---- reading ---- */

static bool is_as_written(const struct checkpoint_world* world, const MaarCheckpointEntry* entry,
                          const uint8_t* bytes)
{
    for (uint32_t i = 0; i < world->count; ++i) {
        if (world->entries[i].key == entry->key) {
            return world->entries[i].size == entry->size &&
                   memcmp(world->entries[i].bytes, bytes, (size_t)entry->size) == 0;
        }
    }
    return false;
}

static void read_entry(struct checkpoint_world* world, MaarCheckpoint checkpoint,
                       const MaarCheckpointEntry* entry, bool is_forged)
{
    if (entry->size > 16 * DISK_SIZE) {
        fuzz_require(is_forged);
        return; /* a program would not have room for it */
    }
    uint8_t* bytes = malloc((size_t)entry->size);
    fuzz_require(bytes != NULL);
    const bool may_fail = world->is_altered || world->may_fail;
    const VkResult result = maarReadCheckpoint(checkpoint, entry->key, entry->size, bytes);
    fuzz_require(result == VK_SUCCESS || (may_fail && result == VK_ERROR_UNKNOWN));
    fuzz_require(result != VK_SUCCESS || is_forged || is_as_written(world, entry, bytes));
    free(bytes);
}

static void read_all(struct checkpoint_world* world, MaarCheckpoint checkpoint, bool is_forged)
{
    MaarCheckpointEntry entries[64];
    uint32_t total = 0;
    uint32_t count = 64;
    fuzz_require(maarEnumerateCheckpoint(checkpoint, &total, NULL) == VK_SUCCESS);
    fuzz_require(is_forged || total == world->count);
    fuzz_require(maarEnumerateCheckpoint(checkpoint, &count, entries) ==
                 (total > 64 ? VK_INCOMPLETE : VK_SUCCESS));
    fuzz_require(count == (total > 64 ? 64 : total));
    for (uint32_t i = 0; i < count; ++i) {
        fuzz_require(i == 0 || entries[i].key > entries[i - 1].key);
        read_entry(world, checkpoint, &entries[i], is_forged);
    }
    uint8_t none = 0;
    const VkResult absent = maarReadCheckpoint(checkpoint, UINT64_MAX, 1, &none);
    fuzz_require(absent == VK_ERROR_FEATURE_NOT_PRESENT || is_forged || world->count > 0);
}

/* One of the next transfers fails, or none. */
static void set_failure(struct checkpoint_world* world, bool fails, uint64_t most)
{
    world->fails_after = fails ? 1 + fuzz_below(&world->input, most) : 0;
    world->may_fail = fails;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct checkpoint_world world;
    MaarCheckpoint checkpoint = VK_NULL_HANDLE;
    memset(&world, 0, sizeof world);
    world.input = (struct fuzz_input){data, size};
    world.size = DISK_SIZE;
    const uint8_t way = fuzz_byte(&world.input);
    const bool is_forged = way % 2 == 1;
    set_failure(&world, way % 16 == 2, 12);
    const bool is_written = write_checkpoint(&world);
    if (is_forged) {
        forge(&world);
    } else {
        alter(&world);
    }
    set_failure(&world, way % 16 == 4, 8);
    const MaarFileStore store = disk_of(&world);
    const MaarCheckpointOpenInfo info = {.sType = MAAR_STRUCTURE_TYPE_CHECKPOINT_OPEN_INFO,
                                         .pFileStore = &store};
    const VkResult result = maarOpenCheckpoint(&info, &checkpoint);
    fuzz_require(result == VK_SUCCESS || result == VK_ERROR_INITIALIZATION_FAILED ||
                 result == VK_ERROR_UNKNOWN || result == VK_ERROR_OUT_OF_HOST_MEMORY);
    fuzz_require((result == VK_SUCCESS) == (checkpoint != VK_NULL_HANDLE));
    fuzz_require(is_written || is_forged || result != VK_SUCCESS);
    fuzz_require(!is_written || world.is_altered || world.may_fail || result == VK_SUCCESS);
    if (result == VK_SUCCESS) {
        read_all(&world, checkpoint, is_forged);
        maarCloseCheckpoint(checkpoint);
    }
    return 0;
}
