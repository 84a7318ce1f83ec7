/*
 * Memory and semaphores that others see, on a simulated device that shares everything, driven by
 * bytes: exports, duplicates, imports by the same device, handoffs and the host's own memory, while
 * host memory and the driver fail on demand. A handle is its owner's until a call that takes it
 * succeeds, and at the end no file descriptor is left.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/fuzz/fuzz_device.h"
#include "tests/interop/sharing_fixture.h"

enum { SHARED_THINGS = 8, SHARED_HANDLES = 8, SHARED_SEMAPHORES = 6, SHARED_BYTES = 70000 };

/* A buffer, an image or plain memory, made here or imported. */
struct shared_thing {
    MaarAllocation memory;
    VkBuffer buffer;
    VkImage image;
    VkImageCreateInfo image_info;
    VkDeviceSize size;
};

struct shared_handle {
    MaarExternalHandle handle;
    MaarExportedMemory memory; /* of memory; else handleType is 0 */
    VkSemaphoreType semaphore_type;
    VkDeviceSize size;
    bool plain;                   /* no buffer nor image was made for it */
    VkImageCreateInfo image_info; /* of an image; else its format is 0 */
};

struct shared_semaphore {
    VkSemaphore semaphore;
    VkSemaphoreType type;
    bool exportable;
};

struct sharing_world {
    struct fuzz_device device;
    uint32_t fd_count;
    VkExternalMemoryHandleTypeFlagBits type;
    struct shared_thing things[SHARED_THINGS];
    struct shared_handle handles[SHARED_HANDLES];
    struct shared_semaphore semaphores[SHARED_SEMAPHORES];
    uint64_t timeline_value;
    VkSemaphore timeline;
    unsigned char* host_bytes;
    MaarHostBuffer host_buffer;
};

static MaarAllocator sharer(const struct sharing_world* world)
{
    return world->device.rig.allocator;
}

static struct shared_handle* find_room(struct sharing_world* world)
{
    for (uint32_t i = 0; i < SHARED_HANDLES; ++i) {
        if (world->handles[i].handle == VK_NULL_HANDLE) {
            world->handles[i] = (struct shared_handle){.size = 0};
            return &world->handles[i];
        }
    }
    return NULL;
}

/* ---- memory ---- */

static void make_thing(struct sharing_world* world, struct shared_thing* thing)
{
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = world->type,
    };
    MaarAllocationCreateInfo how =
        rig_how((way & 1) != 0 ? MAAR_MEMORY_USAGE_DEVICE_LOCAL : MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &export;
    how.dedicated = (way & 2) != 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
    VkResult result = VK_SUCCESS;
    thing->size = 1 + fuzz_scaled(&device->input, 18);
    thing->image_info = rig_image_info(1 + fuzz_device_pick(device, 128), 64);
    if ((way & 12) == 12) {
        result =
            maarCreateImage(sharer(world), &thing->image_info, &how, &thing->image, &thing->memory);
    } else if ((way & 12) == 8) {
        const MaarMemoryRequest request =
            rig_request(thing->size, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
        result = maarAllocateMemory(sharer(world), &request, &how, &thing->memory);
    } else {
        const VkBufferCreateInfo info = rig_buffer_info(thing->size);
        result = maarCreateBuffer(sharer(world), &info, &how, &thing->buffer, &thing->memory);
    }
    fuzz_require((result == VK_SUCCESS) == (thing->memory != VK_NULL_HANDLE));
    (void)fuzz_device_allow(device, result);
}

static void end_thing(struct sharing_world* world, struct shared_thing* thing)
{
    const MaarPoint point = {.semaphore = world->timeline,
                             .value = world->timeline_value + fuzz_device_pick(&world->device, 3)};
    MaarAllocator allocator = sharer(world);
    const bool later = (fuzz_byte(&world->device.input) & 1) != 0;
    VkResult result = VK_ERROR_UNKNOWN;
    if (later && thing->image != VK_NULL_HANDLE) {
        result = maarDestroyImageAfter(allocator, thing->image, thing->memory, 1, &point);
    } else if (later) {
        result = maarDestroyBufferAfter(allocator, thing->buffer, thing->memory, 1, &point);
    }
    if (result != VK_SUCCESS) {
        fuzz_require(!later || world->device.may_fail);
        if (thing->image != VK_NULL_HANDLE) {
            maarDestroyImage(allocator, thing->image, thing->memory);
        } else {
            maarDestroyBuffer(allocator, thing->buffer, thing->memory);
        }
    }
    *thing = (struct shared_thing){.size = 0};
}

static void export_thing(struct sharing_world* world, const struct shared_thing* thing)
{
    struct shared_handle* handle = find_room(world);
    if (handle == NULL) {
        return;
    }
    handle->memory.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY;
    const VkResult result =
        maarExportMemory(sharer(world), thing->memory, world->type, &handle->memory);
    fuzz_require((result == VK_SUCCESS) == (handle->memory.handle != VK_NULL_HANDLE));
    if (fuzz_device_allow(&world->device, result) != VK_SUCCESS) {
        return;
    }
    handle->handle = handle->memory.handle;
    handle->size = thing->size;
    handle->plain = thing->buffer == VK_NULL_HANDLE && thing->image == VK_NULL_HANDLE;
    if (thing->image != VK_NULL_HANDLE) {
        handle->image_info = thing->image_info;
    }
    fuzz_require(maarPeekFd(handle->handle) >= 0);
    fuzz_require(handle->memory.size != 0 && handle->memory.offset < handle->memory.blockSize);
    fuzz_require(handle->memory.size <= handle->memory.blockSize - handle->memory.offset);
}

/* As it was exported, or with a mistake. */
static void import_thing(struct sharing_world* world, struct shared_handle* handle,
                         struct shared_thing* thing)
{
    MaarAllocator allocator = sharer(world);
    const uint8_t way = fuzz_byte(&world->device.input);
    const int fd = maarPeekFd(handle->handle);
    const MaarExportedMemory* memory = &handle->memory;
    MaarImportInfo info = sharing_import_info(memory);
    const bool wrong = way >= 192;
    VkResult result = VK_SUCCESS;
    info.handle = handle->handle;
    if (wrong) {
        info.offset += way & 1;
        info.blockSize += (way & 2) != 0 ? fuzz_scaled(&world->device.input, 20) : 0;
        info.memoryTypeIndex = (way & 4) != 0 ? (way >> 3) % 8 : info.memoryTypeIndex;
    }
    thing->size = handle->size;
    if (handle->image_info.format != VK_FORMAT_UNDEFINED) {
        thing->image_info = handle->image_info;
        result =
            maarImportImage(allocator, &handle->image_info, &info, &thing->image, &thing->memory);
    } else if (handle->plain || ((way & 16) != 0 && !memory->dedicated)) {
        result = maarImportMemory(allocator, &info, &thing->memory);
    } else {
        const VkBufferCreateInfo buffer = rig_buffer_info(handle->size);
        result = maarImportBuffer(allocator, &buffer, &info, &thing->buffer, &thing->memory);
    }
    fuzz_require((result == VK_SUCCESS) == (thing->memory != VK_NULL_HANDLE));
    fuzz_require(maarPeekFd(handle->handle) == (result == VK_SUCCESS ? -1 : fd));
    if (!wrong && fd >= 0) {
        (void)fuzz_device_allow(&world->device, result);
    }
    if (wrong) {
        /* What the driver received is what the program said: its complaints are right. */
        world->device.rig.expected_violations = rig_counters(&world->device.rig).violationCount;
    }
}

/* ---- handles ---- */

static void duplicate_handle(struct sharing_world* world, const struct shared_handle* handle)
{
    struct shared_handle* copy = find_room(world);
    if (copy == NULL) {
        return;
    }
    MaarExternalHandle made = VK_NULL_HANDLE;
    const VkResult result = maarDuplicateExternalHandle(sharer(world), handle->handle, &made);
    fuzz_require((result == VK_SUCCESS) == (made != VK_NULL_HANDLE));
    if (maarPeekFd(handle->handle) < 0) {
        fuzz_require(result == VK_ERROR_INVALID_EXTERNAL_HANDLE || world->device.may_fail);
    } else {
        (void)fuzz_device_allow(&world->device, result);
    }
    if (result == VK_SUCCESS) {
        *copy = *handle;
        copy->handle = made;
        copy->memory.handle = made;
    }
}

/* Takes the descriptor out and gives it to an object of its own. */
static void wrap_again(struct sharing_world* world, struct shared_handle* handle)
{
    int fd = -1;
    MaarExternalHandle made = VK_NULL_HANDLE;
    const bool empty = maarPeekFd(handle->handle) < 0;
    const VkResult taken = maarTakeFd(sharer(world), handle->handle, &fd);
    fuzz_require(taken == (empty ? VK_ERROR_INVALID_EXTERNAL_HANDLE : VK_SUCCESS));
    fuzz_require((fd >= 0) == !empty);
    if (empty) {
        return;
    }
    VkResult result = maarWrapFd(sharer(world), fd, &made);
    if (result != VK_SUCCESS) {
        fuzz_require(result == VK_ERROR_OUT_OF_HOST_MEMORY && world->device.may_fail);
        fuzz_device_forget(&world->device);
        result = maarWrapFd(sharer(world), fd, &made);
    }
    fuzz_require(result == VK_SUCCESS);
    maarDestroyExternalHandle(sharer(world), handle->handle);
    handle->handle = made;
    handle->memory.handle = made;
}

/* ---- semaphores ---- */

static void make_semaphore(struct sharing_world* world, struct shared_semaphore* shared)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    const MaarSharedSemaphoreCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SHARED_SEMAPHORE_CREATE_INFO,
        .type = (way & 1) != 0 ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY,
        .initialValue = (way & 1) != 0 ? way >> 4 : 0,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkResult result = maarCreateSharedSemaphore(sharer(world), &info, &shared->semaphore);
    fuzz_require((result == VK_SUCCESS) == (shared->semaphore != VK_NULL_HANDLE));
    (void)fuzz_device_allow(&world->device, result);
    shared->type = info.type;
    shared->exportable = true;
}

static void export_semaphore(struct sharing_world* world, const struct shared_semaphore* shared)
{
    struct shared_handle* handle = find_room(world);
    if (handle == NULL || !shared->exportable) {
        return;
    }
    const VkResult result =
        maarExportSemaphore(sharer(world), shared->semaphore,
                            VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, &handle->handle);
    fuzz_require((result == VK_SUCCESS) == (handle->handle != VK_NULL_HANDLE));
    (void)fuzz_device_allow(&world->device, result);
    handle->semaphore_type = shared->type;
}

static void import_semaphore(struct sharing_world* world, const struct shared_handle* handle,
                             struct shared_semaphore* shared)
{
    const int fd = maarPeekFd(handle->handle);
    const VkResult result = maarImportSemaphore(sharer(world), handle->handle,
                                                VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
                                                handle->semaphore_type, &shared->semaphore);
    fuzz_require((result == VK_SUCCESS) == (shared->semaphore != VK_NULL_HANDLE));
    fuzz_require(maarPeekFd(handle->handle) == (result == VK_SUCCESS ? -1 : fd));
    fuzz_require(result == VK_SUCCESS || world->device.may_fail || fd < 0);
    shared->type = handle->semaphore_type;
    shared->exportable = false;
}

static void step_semaphore(struct sharing_world* world)
{
    struct fuzz_device* device = &world->device;
    struct shared_semaphore* shared =
        &world->semaphores[fuzz_device_pick(device, SHARED_SEMAPHORES)];
    const struct shared_handle* handle = &world->handles[fuzz_device_pick(device, SHARED_HANDLES)];
    const uint8_t what = fuzz_byte(&device->input);
    if (shared->semaphore == VK_NULL_HANDLE) {
        if (what < 128 && handle->handle != VK_NULL_HANDLE && handle->memory.handleType == 0) {
            import_semaphore(world, handle, shared);
        } else {
            make_semaphore(world, shared);
        }
    } else if (what < 190) {
        export_semaphore(world, shared);
    } else {
        vkDestroySemaphore(device->rig.device, shared->semaphore, &world->device.host.callbacks);
        *shared = (struct shared_semaphore){.semaphore = VK_NULL_HANDLE};
    }
}

/* ---- handoffs, the host ---- */

static void hand_off(struct sharing_world* world)
{
    MaarHandoffResource resources[3] = {{.buffer = VK_NULL_HANDLE}};
    struct fuzz_device* device = &world->device;
    const uint8_t way = fuzz_byte(&device->input);
    const MaarPoint signal = {.semaphore = world->timeline, .value = world->timeline_value + 1};
    uint32_t count = 0;
    for (uint32_t i = 0; i < SHARED_THINGS && count < way % 4; ++i) {
        const struct shared_thing* thing = &world->things[i];
        if (thing->buffer != VK_NULL_HANDLE || thing->image != VK_NULL_HANDLE) {
            resources[count++] = (MaarHandoffResource){
                .buffer = thing->buffer,
                .offset =
                    thing->buffer != VK_NULL_HANDLE ? fuzz_below(&device->input, thing->size) : 0,
                .image = thing->image,
                .oldLayout = VK_IMAGE_LAYOUT_GENERAL,
                .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
            };
        }
    }
    const MaarHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .direction = (MaarHandoffDirection)((way >> 3) & 1),
        .peer = (MaarHandoffPeer)((way >> 4) & 1),
        .queue = (way >> 5) % 4 % 3,
        .resourceCount = count,
        .pResources = resources,
        .signalCount = 1,
        .pSignals = &signal,
    };
    const VkResult result = maarSubmitHandoff(sharer(world), &info);
    if (result == VK_SUCCESS) {
        ++world->timeline_value;
    } else if (result != VK_ERROR_VALIDATION_FAILED_EXT) {
        (void)fuzz_device_allow(device, result);
    } else {
        fuzz_require(info.queue >= device->rig.create_info.queueCount);
    }
}

static void step_host(struct sharing_world* world)
{
    struct fuzz_device* device = &world->device;
    const uint8_t what = fuzz_byte(&device->input);
    const VkDeviceSize offset = fuzz_scaled(&device->input, 17);
    const VkDeviceSize size = 1 + fuzz_scaled(&device->input, 17);
    MaarHostBufferInfo info = {.sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_INFO};
    if (world->host_buffer == VK_NULL_HANDLE) {
        const VkDeviceSize first = offset % SHARED_BYTES;
        const MaarHostBufferCreateInfo made = {
            .sType = MAAR_STRUCTURE_TYPE_HOST_BUFFER_CREATE_INFO,
            .flags = (MaarHostBufferCreateFlags)what % 3,
            .pMemory = world->host_bytes + first,
            .size = size < SHARED_BYTES - first ? size : SHARED_BYTES - first,
            .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        };
        const VkResult result = maarCreateHostBuffer(sharer(world), &made, &world->host_buffer);
        fuzz_require((result == VK_SUCCESS) == (world->host_buffer != VK_NULL_HANDLE));
        if (result == VK_ERROR_FEATURE_NOT_PRESENT || result == VK_ERROR_INVALID_EXTERNAL_HANDLE) {
            fuzz_require(made.flags == MAAR_HOST_BUFFER_CREATE_NO_COPY_BIT);
        } else {
            (void)fuzz_device_allow(device, result);
        }
        return;
    }
    fuzz_require(maarGetHostBufferInfo(sharer(world), world->host_buffer, &info) == VK_SUCCESS);
    const bool inside = offset <= info.size && size <= info.size - offset;
    if (what < 100) {
        const VkResult result = maarPushHostBuffer(sharer(world), world->host_buffer, offset, size);
        fuzz_require(inside || result == VK_ERROR_VALIDATION_FAILED_EXT);
        fuzz_require(result == VK_SUCCESS || !inside || device->may_fail);
    } else if (what < 200) {
        const VkResult result = maarPullHostBuffer(sharer(world), world->host_buffer, offset, size);
        fuzz_require(inside || result == VK_ERROR_VALIDATION_FAILED_EXT);
        fuzz_require(result == VK_SUCCESS || !inside || device->may_fail);
    } else {
        maarDestroyHostBuffer(sharer(world), world->host_buffer);
        world->host_buffer = VK_NULL_HANDLE;
    }
}

/* ---- */

static void step_memory(struct sharing_world* world)
{
    struct fuzz_device* device = &world->device;
    struct shared_thing* thing = &world->things[fuzz_device_pick(device, SHARED_THINGS)];
    struct shared_handle* handle = &world->handles[fuzz_device_pick(device, SHARED_HANDLES)];
    const uint8_t what = fuzz_byte(&device->input);
    const bool importable = handle->handle != VK_NULL_HANDLE && handle->memory.handleType != 0;
    if (thing->memory == VK_NULL_HANDLE && importable && what < 160) {
        import_thing(world, handle, thing);
    } else if (thing->memory == VK_NULL_HANDLE) {
        make_thing(world, thing);
    } else if (what < 150) {
        export_thing(world, thing);
    } else {
        end_thing(world, thing);
    }
}

static void step_handle(struct sharing_world* world)
{
    struct shared_handle* handle =
        &world->handles[fuzz_device_pick(&world->device, SHARED_HANDLES)];
    const uint8_t what = fuzz_byte(&world->device.input);
    if (handle->handle == VK_NULL_HANDLE) {
        return;
    }
    if (what < 100) {
        duplicate_handle(world, handle);
    } else if (what < 160) {
        wrap_again(world, handle);
    } else {
        maarDestroyExternalHandle(sharer(world), handle->handle);
        handle->handle = VK_NULL_HANDLE;
    }
}

static void step(struct sharing_world* world)
{
    const uint8_t action = fuzz_byte(&world->device.input);
    if (action < 100) {
        step_memory(world);
    } else if (action < 140) {
        step_handle(world);
    } else if (action < 180) {
        step_semaphore(world);
    } else if (action < 205) {
        hand_off(world);
    } else if (action < 230) {
        step_host(world);
    } else {
        fuzz_device_plan(&world->device);
    }
    fuzz_device_sound(&world->device);
}

static void set_up(struct sharing_world* world)
{
    const uint8_t way = fuzz_byte(&world->device.input);
    const struct rig_setup setup = {
        .profile = (way & 2) != 0 ? rig_profile_noncoherent() : rig_profile_discrete(),
        .sharing = rig_sharing_everything(),
        .paging = true,
    };
    world->fd_count = rig_count_fds();
    world->type = (way & 1) != 0 ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                 : VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    fuzz_device_open(&world->device, &setup, 0);
    world->timeline = rig_create_timeline(&world->device.rig, 0);
    fuzz_require(posix_memalign((void**)&world->host_bytes, 4096, SHARED_BYTES) == 0);
    memset(world->host_bytes, 1, SHARED_BYTES);
}

static void take_down(struct sharing_world* world)
{
    struct rig* rig = &world->device.rig;
    fuzz_device_forget(&world->device);
    maarDestroyHostBuffer(rig->allocator, world->host_buffer);
    for (uint32_t i = 0; i < SHARED_THINGS; ++i) {
        if (world->things[i].memory != VK_NULL_HANDLE) {
            end_thing(world, &world->things[i]);
        }
    }
    for (uint32_t i = 0; i < SHARED_HANDLES; ++i) {
        maarDestroyExternalHandle(rig->allocator, world->handles[i].handle);
    }
    for (uint32_t i = 0; i < SHARED_SEMAPHORES; ++i) {
        vkDestroySemaphore(rig->device, world->semaphores[i].semaphore,
                           &world->device.host.callbacks);
    }
    (void)fuzz_device_signal(&world->device, world->timeline, world->timeline_value + 4);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(rig->device, world->timeline, NULL);
    fuzz_device_close(&world->device);
    free(world->host_bytes);
    fuzz_require(rig_count_fds() == world->fd_count);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static struct sharing_world world;
    memset(&world, 0, sizeof world);
    world.device.input = (struct fuzz_input){data, size};
    set_up(&world);
    while (!fuzz_is_dry(&world.device.input)) {
        step(&world);
    }
    take_down(&world);
    return 0;
}
