/*
 * A file store, driven by bytes: copies are written, read, freed and cancelled in any order, while
 * the file fails, writes a part, has its bytes altered or is read with wrong extents. Whatever is
 * handed out as good is what was written. An input of an odd size has a ring, which fails, too.
 */
#include "core/residency/store.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/unit/residency/fake_ring.h"

enum { STORE_COPIES = 12, STORE_BYTES = 16384, STORE_LENGTH = 3000, STORE_UNIT = 64 };

struct store_copy {
    struct maar_extent extent;
    struct maar_store_request* request; /* of its write, or NULL */
    bool lives;
    bool is_spoilt; /* its bytes in the file may be wrong */
    uint8_t bytes[STORE_LENGTH];
};

struct store_world {
    struct fuzz_input* input;
    struct maar_store* store;
    uint8_t file[STORE_BYTES];
    uint64_t fails_after; /* calls */
    uint64_t written;     /* bytes of the write that fails next */
    struct store_copy copies[STORE_COPIES];
    uint64_t identity;
    struct fake_ring ring;
};

static bool serves(struct store_world* world, VkDeviceSize offset, size_t size)
{
    fuzz_require(size != 0 && offset % STORE_UNIT == 0 && size % STORE_UNIT == 0);
    fuzz_require(size <= STORE_BYTES && offset <= STORE_BYTES - size);
    return world->fails_after == 0 || --world->fails_after != 0;
}

static VkResult VKAPI_CALL read_world(void* user, VkDeviceSize offset, size_t size, void* data)
{
    struct store_world* world = user;
    if (!serves(world, offset, size)) {
        return VK_ERROR_UNKNOWN;
    }
    memcpy(data, world->file + offset, size);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL write_world(void* user, VkDeviceSize offset, size_t size, void* data)
{
    struct store_world* world = user;
    if (!serves(world, offset, size)) {
        memcpy(world->file + offset, data, world->written < size ? world->written : size);
        return VK_ERROR_UNKNOWN;
    }
    memcpy(world->file + offset, data, size);
    return VK_SUCCESS;
}

static void end_write(struct store_world* world, struct store_copy* copy, bool waits)
{
    enum maar_store_outcome outcome =
        waits ? maar_store_wait(world->store, copy->request, &copy->extent)
              : maar_store_poll(world->store, copy->request, &copy->extent);
    if (outcome == MAAR_STORE_PENDING) {
        fuzz_require(!waits);
        return;
    }
    fuzz_require(outcome == MAAR_STORE_DONE || outcome == MAAR_STORE_FAILED);
    copy->request = NULL;
    copy->lives = outcome == MAAR_STORE_DONE;
}

static void begin_write(struct store_world* world, struct store_copy* copy)
{
    const size_t length = 1 + (size_t)fuzz_below(world->input, STORE_LENGTH);
    memset(copy->bytes, fuzz_byte(world->input), length);
    copy->bytes[length / 2] = fuzz_byte(world->input);
    const enum maar_store_outcome outcome = maar_store_begin_write(
        world->store, ++world->identity, copy->bytes, length, &copy->request);
    fuzz_require((outcome == MAAR_STORE_PENDING) == (copy->request != NULL));
    fuzz_require(copy->request != NULL || outcome == MAAR_STORE_FULL || outcome == MAAR_STORE_BUSY);
    copy->is_spoilt = false;
}

static void read_back(struct store_world* world, const struct store_copy* copy)
{
    uint8_t back[STORE_LENGTH];
    struct maar_extent extent = copy->extent;
    const uint8_t way = fuzz_byte(world->input);
    if (way % 4 == 1) {
        extent.offset = fuzz_scaled(world->input, 64);
    } else if (way % 4 == 2) {
        extent.length = fuzz_below(world->input, STORE_LENGTH + 1);
    } else if (way % 4 == 3) {
        extent.serial = fuzz_scaled(world->input, 16);
    }
    const bool is_same = extent.offset == copy->extent.offset &&
                         extent.length == copy->extent.length &&
                         extent.serial == copy->extent.serial;
    const uint64_t fails_after = world->fails_after;
    const enum maar_store_outcome outcome = maar_store_read(world->store, &extent, back);
    fuzz_require(outcome == MAAR_STORE_DONE || outcome == MAAR_STORE_FAILED ||
                 outcome == MAAR_STORE_DAMAGED || outcome == MAAR_STORE_BUSY);
    if (outcome == MAAR_STORE_DONE) {
        fuzz_require(is_same);
        fuzz_require(memcmp(back, copy->bytes, (size_t)extent.length) == 0);
    }
    fuzz_require(!is_same || copy->is_spoilt || fails_after != 0 || outcome == MAAR_STORE_DONE ||
                 outcome == MAAR_STORE_BUSY);
}

static void spoil(struct store_world* world)
{
    const uint64_t at = fuzz_below(world->input, STORE_BYTES);
    world->file[at] ^= (uint8_t)(1 + fuzz_below(world->input, 255));
    for (uint32_t i = 0; i < STORE_COPIES; ++i) {
        struct store_copy* copy = &world->copies[i];
        copy->is_spoilt = copy->is_spoilt || copy->request != NULL; /* perhaps */
        if (copy->lives && at >= copy->extent.offset &&
            at < copy->extent.offset + copy->extent.length + STORE_UNIT) {
            copy->is_spoilt = true;
        }
    }
}

static void step_store(struct store_world* world)
{
    struct store_copy* copy = &world->copies[fuzz_below(world->input, STORE_COPIES)];
    switch (fuzz_below(world->input, 8)) {
    case 0:
        if (copy->request == NULL || !maar_store_start(world->store, copy->request)) {
            (void)maar_store_run(world->store);
        }
        maar_store_drive(world->store);
        break;
    case 1:
        if (copy->request != NULL) {
            end_write(world, copy, fuzz_byte(world->input) % 2 == 0);
        }
        break;
    case 2:
        if (copy->request != NULL && maar_store_cancel(world->store, copy->request)) {
            copy->request = NULL;
        }
        break;
    case 3:
        world->fails_after = fuzz_below(world->input, 4);
        world->written = fuzz_scaled(world->input, 10);
        break;
    case 4:
        spoil(world);
        break;
    default:
        if (copy->lives && fuzz_byte(world->input) % 2 == 0) {
            maar_store_free(world->store, &copy->extent);
            copy->lives = false;
        } else if (copy->lives) {
            read_back(world, copy);
        } else if (copy->request == NULL) {
            begin_write(world, copy);
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct store_world world;
    struct fuzz_input input = {.at = data, .left = size};
    memset(&world, 0, sizeof world);
    world.input = &input;
    const MaarFileStore table = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE,
        .pUserData = &world,
        .size = STORE_BYTES,
        .alignment = STORE_UNIT,
        .pfnRead = read_world,
        .pfnWrite = write_world,
    };
    world.ring = (struct fake_ring){.file = table, .random = size, .cuts = 3, .fails = 5};
    const struct maar_store_info info = {
        .file = &table,
        .request_count = 4,
        .buffer_size = 256,
        .synchronized = true,
        .ring_calls = size % 2 == 1 ? &fake_ring_calls : NULL,
        .ring_user = &world.ring,
    };
    fuzz_require(maar_store_create(&info, &world.store) == VK_SUCCESS);
    while (!fuzz_is_dry(&input)) {
        step_store(&world);
    }
    for (uint32_t i = 0; i < STORE_COPIES; ++i) {
        if (world.copies[i].request != NULL) {
            end_write(&world, &world.copies[i], true);
        }
        if (world.copies[i].lives) {
            maar_store_free(world.store, &world.copies[i].extent);
        }
    }
    fuzz_require(maar_store_check(world.store) == NULL);
    fuzz_require(maar_store_get_totals(world.store).used == 0);
    maar_store_destroy(world.store);
    return 0;
}
