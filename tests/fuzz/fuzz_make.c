/*
 * What is allocated and freed: memory, buffers, images, slices, objects on memory that is there.
 */
#include "tests/fuzz/fuzz_world.h"

bool world_has_passed(const struct fuzz_world* world, const struct fuzz_item* item)
{
    for (uint32_t i = 0; i < item->point_count; ++i) {
        const uint64_t now =
            item->points[i].semaphore != VK_NULL_HANDLE ? world->timeline_value : world->host_value;
        if (now < item->points[i].value) {
            return false;
        }
    }
    return true;
}

static struct fuzz_item* free_item(struct fuzz_world* world)
{
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        if (world->items[i].state == ITEM_NONE) {
            world->items[i] = (struct fuzz_item){.state = ITEM_NONE};
            return &world->items[i];
        }
    }
    return NULL;
}

struct fuzz_item* world_pick(struct fuzz_world* world, bool with_slices)
{
    const uint32_t start = (uint32_t)fuzz_below(&world->input, WORLD_ITEMS);
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        struct fuzz_item* item = &world->items[(start + i) % WORLD_ITEMS];
        if (item->state == ITEM_LIVE && (with_slices || item->what != ITEM_SLICE)) {
            return item;
        }
    }
    return NULL;
}

void world_make_stale(struct fuzz_world* world, MaarAllocation allocation)
{
    if (allocation != VK_NULL_HANDLE) {
        world->stale[world->stale_count++ % WORLD_STALE] = allocation;
    }
}

/* ---- what is known of a new item ---- */

static bool holds_bytes(const struct fuzz_world* world, const struct fuzz_item* item)
{
    return item->state == ITEM_LIVE ||
           (item->state == ITEM_PENDING && !world->may_be_lost && !world_has_passed(world, item));
}

static void require_apart(const struct fuzz_world* world, const struct fuzz_item* made)
{
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        const struct fuzz_item* other = &world->items[i];
        const bool both_slices = made->what == ITEM_SLICE && other->what == ITEM_SLICE;
        if (other == made || !holds_bytes(world, other) ||
            (made->what == ITEM_SLICE) != (other->what == ITEM_SLICE) ||
            (both_slices ? other->buffer != made->buffer : other->memory != made->memory)) {
            continue;
        }
        fuzz_require(made->offset + made->size <= other->offset ||
                     other->offset + other->size <= made->offset);
    }
}

/* Writes the first and last byte, where the host can. */
static void fill_item(struct fuzz_world* world, struct fuzz_item* item)
{
    const unsigned char fill = (unsigned char)(1 + fuzz_below(&world->input, 255));
    item->fill = 0;
    if ((item->properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0 || item->asked == 0) {
        return;
    }
    if (maarCopyToAllocation(world->rig.allocator, item->allocation, 0, 1, &fill) == VK_SUCCESS &&
        maarCopyToAllocation(world->rig.allocator, item->allocation, item->asked - 1, 1, &fill) ==
            VK_SUCCESS) {
        item->fill = fill;
    }
}

static void verify_item(struct fuzz_world* world, const struct fuzz_item* item)
{
    const VkDeviceSize offsets[] = {0, item->asked - 1};
    for (uint32_t i = 0; item->fill != 0 && i < 2; ++i) {
        unsigned char read = item->fill;
        (void)maarCopyFromAllocation(world->rig.allocator, item->allocation, offsets[i], 1, &read);
        fuzz_require(read == item->fill);
    }
}

static void keep_item(struct fuzz_world* world, struct fuzz_item* item,
                      const MaarAllocationCreateInfo* how)
{
    const MaarAllocationInfo info = rig_info(&world->rig, item->allocation);
    item->state = ITEM_LIVE;
    item->memory = info.memory;
    item->offset = info.offset;
    item->size = info.size;
    item->properties = info.propertyFlags;
    item->pool = how->pool;
    item->mapped_for_life = (how->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0;
    fuzz_require(info.size >= item->asked && info.size != 0);
    fuzz_require(info.size <= info.blockSize && info.offset <= info.blockSize - info.size);
    fuzz_require(how->minAlignment == 0 || info.offset % how->minAlignment == 0);
    fuzz_require(info.pool == how->pool && info.pUserData == how->pUserData);
    fuzz_require((info.pMappedData != NULL) == item->mapped_for_life);
    fuzz_require((info.propertyFlags & how->requiredFlags) == how->requiredFlags);
    fuzz_require(how->memoryTypeBits == 0 ||
                 (how->memoryTypeBits >> info.memoryTypeIndex & 1) != 0);
    fuzz_require((how->pName == NULL) == (info.pName == NULL));
    fuzz_require(how->pName == NULL || strcmp(how->pName, info.pName) == 0);
    require_apart(world, item);
    fill_item(world, item);
}

/* An allocation was refused: nothing is half made. */
static void require_refused(const struct fuzz_item* item, VkResult result)
{
    fuzz_require(item->allocation == VK_NULL_HANDLE && item->buffer == VK_NULL_HANDLE &&
                 item->image == VK_NULL_HANDLE && item->slice == VK_NULL_HANDLE);
    fuzz_require(result < 0 && result != VK_ERROR_UNKNOWN);
}

/* ---- making ---- */

static VkDeviceSize draw_size(struct fuzz_world* world)
{
    const uint8_t way = fuzz_byte(&world->input);
    return 1 + fuzz_scaled(&world->input, way > 250 ? 63 : way > 230 ? 32 : way > 128 ? 22 : 16);
}

static void draw_how(struct fuzz_world* world, MaarAllocationCreateInfo* how)
{
    struct fuzz_input* input = &world->input;
    *how = rig_how((MaarMemoryUsage)fuzz_below(input, 6));
    const uint8_t rare = fuzz_byte(input);
    if ((rare & 1) != 0) {
        how->flags = (VkFlags)fuzz_below(input, 128);
    }
    if ((rare & 6) == 6) {
        how->dedicated = (MaarDedicated)fuzz_below(input, 4);
    }
    if ((rare & 0x18) == 0x18) {
        how->requiredFlags = (VkFlags)fuzz_below(input, 32);
        how->preferredFlags = (VkFlags)fuzz_below(input, 32);
    }
    if ((rare & 0x60) == 0x60) {
        how->memoryTypeBits = (uint32_t)fuzz_below(input, 16);
        how->minAlignment = fuzz_scaled(input, fuzz_byte(input) > 250 ? 64 : 17);
    }
    if ((rare & 0x80) != 0) {
        how->pool = world->pools[fuzz_below(input, WORLD_POOLS)];
    }
    how->pUserData = (void*)(uintptr_t)(rare & 7u);
    how->pName = (rare & 7) == 5 ? "a name" : NULL;
}

static VkBufferCreateInfo draw_buffer(struct fuzz_world* world)
{
    static const VkBufferUsageFlags usages[] = {
        VK_BUFFER_USAGE_TRANSFER_SRC_BIT,
        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
    };
    VkBufferCreateInfo info = rig_buffer_info(draw_size(world));
    const uint8_t way = fuzz_byte(&world->input);
    info.usage = usages[way & 3];
    if ((way & 4) != 0 && world->info.bufferDeviceAddress) {
        info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    }
    return info;
}

static VkImageCreateInfo draw_image(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    VkImageCreateInfo info =
        rig_image_info(1 + (uint32_t)fuzz_below(input, 300), 1 + (uint32_t)fuzz_below(input, 300));
    switch (fuzz_below(input, 4)) {
    case 0:
        info.tiling = VK_IMAGE_TILING_LINEAR;
        break;
    case 1:
        info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT;
        break;
    case 2:
        info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
        break;
    default:
        break;
    }
    return info;
}

static MaarMemoryRequest draw_request(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    const uint8_t way = fuzz_byte(input);
    const VkDeviceSize alignment = (way & 1) != 0 ? fuzz_scaled(input, way > 250 ? 64 : 12)
                                                  : (VkDeviceSize)1 << fuzz_below(input, 17);
    MaarMemoryRequest request = rig_request(
        draw_size(world), alignment, (way & 6) == 6 ? (uint32_t)fuzz_below(input, 16) : UINT32_MAX,
        (MaarResourceKind)fuzz_below(input, 3));
    request.prefersDedicated = (way & 0x18) == 0x18;
    request.requiresDedicated = (way & 0x60) == 0x60;
    return request;
}

void world_make(struct fuzz_world* world)
{
    MaarAllocator allocator = world->rig.allocator;
    struct fuzz_item* item = free_item(world);
    MaarAllocationCreateInfo how;
    VkResult result = VK_SUCCESS;
    if (item == NULL) {
        return;
    }
    draw_how(world, &how);
    item->what = (enum item_what)fuzz_below(&world->input, 3);
    if (item->what == ITEM_BUFFER) {
        const VkBufferCreateInfo info = draw_buffer(world);
        result = maarCreateBuffer(allocator, &info, &how, &item->buffer, &item->allocation);
        item->asked = info.size;
    } else if (item->what == ITEM_IMAGE) {
        const VkImageCreateInfo info = draw_image(world);
        result = maarCreateImage(allocator, &info, &how, &item->image, &item->allocation);
    } else {
        const MaarMemoryRequest request = draw_request(world);
        result = maarAllocateMemory(allocator, &request, &how, &item->allocation);
        item->asked = request.requirements.size;
        fuzz_require(request.requirements.memoryTypeBits != 0 || result != VK_SUCCESS);
    }
    if (result != VK_SUCCESS) {
        require_refused(item, result);
        return;
    }
    keep_item(world, item, &how);
}

/* All or nothing. */
void world_make_many(struct fuzz_world* world)
{
    enum { MANY = 5 };
    MaarMemoryRequest requests[MANY];
    MaarAllocation made[MANY] = {0};
    MaarAllocationCreateInfo how;
    const uint32_t count = (uint32_t)fuzz_below(&world->input, MANY + 1);
    uint32_t room = 0;
    for (uint32_t i = 0; i < WORLD_ITEMS; ++i) {
        room += world->items[i].state == ITEM_NONE ? 1 : 0;
    }
    if (room < count) {
        return;
    }
    draw_how(world, &how);
    for (uint32_t i = 0; i < count; ++i) {
        requests[i] = draw_request(world);
    }
    const VkResult result = maarAllocateMemories(world->rig.allocator, count, requests, &how, made);
    for (uint32_t i = 0; i < count; ++i) {
        fuzz_require((made[i] != VK_NULL_HANDLE) == (result == VK_SUCCESS));
        if (result == VK_SUCCESS) {
            struct fuzz_item* item = free_item(world);
            item->what = ITEM_MEMORY;
            item->allocation = made[i];
            item->asked = requests[i].requirements.size;
            keep_item(world, item, &how);
        }
    }
}

/* A buffer of the program's own: created, given memory, bound. */
void world_make_bound(struct fuzz_world* world)
{
    struct rig* rig = &world->rig;
    struct fuzz_item* item = free_item(world);
    MaarAllocationCreateInfo how;
    if (item == NULL) {
        return;
    }
    draw_how(world, &how);
    const VkBufferCreateInfo info = draw_buffer(world);
    if (vkCreateBuffer(rig->device, &info, &world->host.callbacks, &item->buffer) != VK_SUCCESS) {
        item->buffer = VK_NULL_HANDLE;
        return;
    }
    item->what = ITEM_BUFFER;
    item->asked = info.size;
    VkResult result =
        maarAllocateMemoryForBuffer(rig->allocator, item->buffer, &how, &item->allocation);
    fuzz_require((result == VK_SUCCESS) == (item->allocation != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        result = maarBindBuffer(rig->allocator, item->allocation, 0, item->buffer, NULL);
        if (result == VK_SUCCESS) {
            keep_item(world, item, &how);
            return;
        }
        maarFreeMemory(rig->allocator, item->allocation);
        world_make_stale(world, item->allocation);
    }
    vkDestroyBuffer(rig->device, item->buffer, &world->host.callbacks);
}

void world_slice(struct fuzz_world* world)
{
    struct fuzz_input* input = &world->input;
    struct fuzz_item* item = free_item(world);
    const uint8_t way = fuzz_byte(input);
    const MaarSliceCreateInfo create_info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 1 + fuzz_scaled(input, (way & 3) == 3 ? 18 : 12),
        .alignment = (way & 4) != 0 ? fuzz_scaled(input, 12) : 0,
        .usage =
            (way & 8) != 0 ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT : VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
        .memoryUsage = (MaarMemoryUsage)((way >> 4) % 4),
        .allocationFlags = (way & 0xC0) == 0xC0 ? MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT : 0,
        .pUserData = world,
    };
    if (item == NULL) {
        return;
    }
    const VkResult result = maarCreateSlice(world->rig.allocator, &create_info, &item->slice);
    fuzz_require((result == VK_SUCCESS) == (item->slice != VK_NULL_HANDLE));
    world->has_sliced = true;
    if (result != VK_SUCCESS) {
        require_refused(item, result);
        fuzz_require(create_info.size <= MAAR_MAX_SLICE_SIZE ||
                     result == VK_ERROR_VALIDATION_FAILED_EXT);
        return;
    }
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    fuzz_require(maarGetSliceInfo(world->rig.allocator, item->slice, &info) == VK_SUCCESS);
    fuzz_require(info.size >= create_info.size && info.buffer != VK_NULL_HANDLE);
    fuzz_require(create_info.alignment == 0 || info.offset % create_info.alignment == 0);
    fuzz_require(info.pUserData == world);
    item->state = ITEM_LIVE;
    item->what = ITEM_SLICE;
    item->buffer = info.buffer;
    item->offset = info.offset;
    item->size = info.size;
    item->asked = create_info.size;
    require_apart(world, item);
    if (info.pMappedData != NULL) {
        memset(info.pMappedData, (int)(way | 1), (size_t)create_info.size);
    }
}

void world_alias(struct fuzz_world* world)
{
    struct rig* rig = &world->rig;
    struct fuzz_item* item = world_pick(world, false);
    const VkDeviceSize offset = fuzz_scaled(&world->input, 12);
    if (item == NULL || !world->may_alias) {
        return;
    }
    if (fuzz_below(&world->input, 2) == 0 && item->alias_buffer == VK_NULL_HANDLE) {
        const VkBufferCreateInfo info = draw_buffer(world);
        const VkResult result = maarCreateAliasingBuffer(rig->allocator, item->allocation, offset,
                                                         &info, &item->alias_buffer);
        fuzz_require((result == VK_SUCCESS) == (item->alias_buffer != VK_NULL_HANDLE));
        fuzz_require(result != VK_SUCCESS || info.size <= item->size);
    } else if (item->alias_image == VK_NULL_HANDLE) {
        const VkImageCreateInfo info = draw_image(world);
        const VkResult result = maarCreateAliasingImage(rig->allocator, item->allocation, offset,
                                                        &info, &item->alias_image);
        fuzz_require((result == VK_SUCCESS) == (item->alias_image != VK_NULL_HANDLE));
    }
}

/* ---- freeing ---- */

static void end_aliases(struct fuzz_world* world, struct fuzz_item* item)
{
    vkDestroyBuffer(world->rig.device, item->alias_buffer, &world->host.callbacks);
    vkDestroyImage(world->rig.device, item->alias_image, &world->host.callbacks);
    item->alias_buffer = VK_NULL_HANDLE;
    item->alias_image = VK_NULL_HANDLE;
}

void world_end_item(struct fuzz_world* world, struct fuzz_item* item)
{
    MaarAllocator allocator = world->rig.allocator;
    end_aliases(world, item);
    verify_item(world, item);
    switch (item->what) {
    case ITEM_BUFFER:
        maarDestroyBuffer(allocator, item->buffer, item->allocation);
        break;
    case ITEM_IMAGE:
        maarDestroyImage(allocator, item->image, item->allocation);
        break;
    case ITEM_SLICE:
        maarDestroySlice(allocator, item->slice);
        break;
    default:
        maarFreeMemory(allocator, item->allocation);
        break;
    }
    world_make_stale(world, item->allocation);
    item->state = ITEM_NONE;
}

bool world_end_any(struct fuzz_world* world)
{
    struct fuzz_item* item = world_pick(world, true);
    if (item != NULL) {
        world_end_item(world, item);
    }
    return item != NULL;
}

void world_free(struct fuzz_world* world)
{
    (void)world_end_any(world);
}

void world_free_after(struct fuzz_world* world)
{
    MaarAllocator allocator = world->rig.allocator;
    struct fuzz_item* item = world_pick(world, true);
    VkResult result = VK_SUCCESS;
    if (item == NULL) {
        return;
    }
    end_aliases(world, item);
    verify_item(world, item);
    item->point_count = (uint32_t)fuzz_below(&world->input, WORLD_POINTS + 1);
    for (uint32_t i = 0; i < item->point_count; ++i) {
        const uint8_t way = fuzz_byte(&world->input);
        const bool host = (way & 1) != 0 || world->timeline == VK_NULL_HANDLE;
        item->points[i] = (MaarPoint){
            .semaphore = host ? VK_NULL_HANDLE : world->timeline,
            .value = (host ? world->host_value : world->timeline_value) + (way >> 1) % 4,
        };
    }
    switch (item->what) {
    case ITEM_BUFFER:
        result = maarDestroyBufferAfter(allocator, item->buffer, item->allocation,
                                        item->point_count, item->points);
        break;
    case ITEM_IMAGE:
        result = maarDestroyImageAfter(allocator, item->image, item->allocation, item->point_count,
                                       item->points);
        break;
    case ITEM_SLICE:
        result = maarDestroySliceAfter(allocator, item->slice, item->point_count, item->points);
        break;
    default:
        result = maarFreeMemoryAfter(allocator, item->allocation, item->point_count, item->points);
        break;
    }
    if (result != VK_SUCCESS) {
        fuzz_require(result == VK_ERROR_OUT_OF_HOST_MEMORY && world->host.struck != 0);
        return;
    }
    world_make_stale(world, item->allocation);
    item->state = item->point_count == 0 ? ITEM_NONE : ITEM_PENDING;
}
