/*
 * The buffers and images of a random program: see moved_entry.h.
 */
#include "tests/device/moved_entry.h"

enum { COMMANDS = 32, MOST_SIDE = 12, MOST_LAYERS = 2, TIMEOUT_NS = 2000000000 };

/* Commands, which can be recorded anew after the value of their queue's timeline. */
struct entry_commands {
    VkCommandBuffer commands;
    uint64_t value;
};

struct entry_queue {
    VkQueue queue;
    VkCommandPool pool;
    VkSemaphore timeline;
    uint64_t value;
    uint32_t next;
    struct entry_commands commands[COMMANDS];
};

static struct {
    struct rig* rig;
    struct rig_random random;
    VkSemaphore hold; /* held submissions wait for its next value */
    uint64_t hold_value;
    uint32_t compared_count;
    uint32_t used_count;
    struct entry_queue queues[RIG_QUEUES];
} program;

static uint32_t words[ENTRY_UNIT * ENTRY_MOST_UNITS / 4];

/* ---- the program ---- */

void entry_open(struct rig* rig, uint64_t seed)
{
    memset(&program, 0, sizeof program);
    program.rig = rig;
    program.random.state = seed;
    program.hold = rig_create_timeline(rig, 0);
    for (uint32_t i = 0; i < rig->family_count; ++i) {
        struct entry_queue* queue = &program.queues[i];
        const VkCommandPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            .queueFamilyIndex = rig->families[i],
        };
        queue->queue = rig->queues[i];
        queue->timeline = rig_create_timeline(rig, 0);
        assert_int_equal(vkCreateCommandPool(rig->device, &info, NULL, &queue->pool), VK_SUCCESS);
        for (uint32_t k = 0; k < COMMANDS; ++k) {
            const VkCommandBufferAllocateInfo how = {
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                .commandPool = queue->pool,
                .commandBufferCount = 1,
            };
            assert_int_equal(
                vkAllocateCommandBuffers(rig->device, &how, &queue->commands[k].commands),
                VK_SUCCESS);
        }
    }
}

void entry_close(void)
{
    const struct rig* rig = program.rig;
    entry_let_go();
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    for (uint32_t i = 0; i < rig->family_count; ++i) {
        vkDestroyCommandPool(rig->device, program.queues[i].pool, NULL);
        vkDestroySemaphore(rig->device, program.queues[i].timeline, NULL);
    }
    vkDestroySemaphore(rig->device, program.hold, NULL);
    program.rig = NULL;
}

void entry_abandon(void)
{
    if (program.rig != NULL) {
        entry_let_go();
    }
}

uint32_t entry_below(uint32_t bound)
{
    return rig_below(&program.random, bound);
}

uint32_t entry_compared_count(void)
{
    return program.compared_count;
}

uint32_t entry_used_count(void)
{
    return program.used_count;
}

void entry_let_go(void)
{
    rig_signal(program.rig, program.hold, ++program.hold_value);
}

MaarPoint entry_held_point(void)
{
    return (MaarPoint){program.hold, program.hold_value + 1};
}

static bool is_reached(MaarPoint point)
{
    uint64_t value = 0;
    assert_int_equal(vkGetSemaphoreCounterValue(program.rig->device, point.semaphore, &value),
                     VK_SUCCESS);
    return value >= point.value;
}

void entry_wait(MaarPoint point)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &point.semaphore,
        .pValues = &point.value,
    };
    if (point.semaphore == VK_NULL_HANDLE) {
        return;
    }
    entry_let_go();
    while (program.rig->simulated && !is_reached(point)) {
        assert_int_equal(maarSimulatedExecuteSubmissions(program.rig->physical, 1), 1);
    }
    assert_int_equal(vkWaitSemaphores(program.rig->device, &info, TIMEOUT_NS * UINT64_C(10)),
                     VK_SUCCESS);
}

/* ---- commands ---- */

/* Begins commands on a queue. */
static VkCommandBuffer begin_commands(struct entry_queue* queue)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    struct entry_commands* own = &queue->commands[++queue->next % COMMANDS];
    if (own->value > 0) {
        entry_wait((MaarPoint){queue->timeline, own->value});
    }
    assert_int_equal(vkResetCommandBuffer(own->commands, 0), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(own->commands, &begin), VK_SUCCESS);
    return own->commands;
}

/* Submits the commands that were begun last. They wait for an entry's points and for one more, and
 * perhaps until the program lets them go. Returns the point of their end. */
static MaarPoint submit_commands(struct entry_queue* queue, const struct entry* entry,
                                 MaarPoint more)
{
    MaarPoint points[ENTRY_POINTS + 2];
    VkSemaphore waits[ENTRY_POINTS + 2];
    uint64_t values[ENTRY_POINTS + 2];
    VkPipelineStageFlags stages[ENTRY_POINTS + 2];
    struct entry_commands* own = &queue->commands[queue->next % COMMANDS];
    const VkMemoryBarrier to_host = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(own->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0, NULL);
    assert_int_equal(vkEndCommandBuffer(own->commands), VK_SUCCESS);
    uint32_t count = entry_points(entry, points);
    if (more.semaphore != VK_NULL_HANDLE) {
        points[count++] = more;
    }
    if (entry_below(2) == 0) {
        points[count++] = entry_held_point();
    }
    for (uint32_t i = 0; i < count; ++i) {
        waits[i] = points[i].semaphore;
        values[i] = points[i].value;
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    }
    own->value = ++queue->value;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &own->value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &own->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &queue->timeline,
    };
    assert_int_equal(vkQueueSubmit(queue->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    ++program.used_count;
    return (MaarPoint){queue->timeline, own->value};
}

static struct entry_queue* any_queue(void)
{
    return &program.queues[entry_below(program.rig->family_count)];
}

/* Brings an image from one layout to another. */
static void record_transition(VkCommandBuffer commands, const struct entry* entry,
                              VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = entry->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS},
    };
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static VkBufferImageCopy whole_image(const struct entry* entry)
{
    return (VkBufferImageCopy){
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, entry->layers},
        .imageExtent = entry->extent,
    };
}

/* ---- objects ---- */

/* Any queue may use an object. */
static void share(VkSharingMode* mode, uint32_t* count, const uint32_t** families)
{
    const bool is_shared = program.rig->family_count > 1;
    *mode = is_shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
    *count = is_shared ? program.rig->family_count : 0;
    *families = is_shared ? program.rig->families : NULL;
}

static VkBufferCreateInfo buffer_info(VkDeviceSize size)
{
    VkBufferCreateInfo info = rig_buffer_info(size);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    share(&info.sharingMode, &info.queueFamilyIndexCount, &info.pQueueFamilyIndices);
    return info;
}

VkBuffer entry_make_buffer(VkDeviceSize size)
{
    const VkBufferCreateInfo info = buffer_info(size);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(program.rig->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void create_image(struct entry* entry, MaarPool pool)
{
    static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO, .pNext = &movable, .pool = pool};
    entry->extent = (VkExtent3D){1 + entry_below(MOST_SIDE), 1 + entry_below(MOST_SIDE), 1};
    entry->layers = 1 + entry_below(MOST_LAYERS);
    entry->size = UINT64_C(4) * entry->extent.width * entry->extent.height * entry->layers;
    entry->is_movable = true;
    VkImageCreateInfo info = rig_image_info(entry->extent.width, entry->extent.height);
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.mipLevels = 1;
    info.arrayLayers = entry->layers;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    share(&info.sharingMode, &info.queueFamilyIndexCount, &info.pQueueFamilyIndices);
    assert_int_equal(
        maarCreateImage(program.rig->allocator, &info, &how, &entry->image, &entry->memory),
        VK_SUCCESS);
    const VkBufferCreateInfo staging = buffer_info(entry->size);
    const MaarAllocationCreateInfo upload = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    assert_int_equal(maarCreateBuffer(program.rig->allocator, &staging, &upload, &entry->staging,
                                      &entry->staging_memory),
                     VK_SUCCESS);
}

static void create_buffer(struct entry* entry, MaarPool pool)
{
    static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pool = pool;
    entry->size = ENTRY_UNIT * (1 + entry_below(ENTRY_MOST_UNITS));
    entry->is_movable = entry_below(2) == 0;
    how.pNext = entry->is_movable ? &movable : NULL;
    const VkBufferCreateInfo info = buffer_info(entry->size);
    assert_int_equal(
        maarCreateBuffer(program.rig->allocator, &info, &how, &entry->buffer, &entry->memory),
        VK_SUCCESS);
}

void entry_create(struct entry* entry, MaarPool pool, bool is_image)
{
    *entry = (struct entry){.batch = ENTRY_NO_BATCH};
    if (is_image) {
        create_image(entry, pool);
    } else {
        create_buffer(entry, pool);
    }
    const VkBufferCreateInfo info = buffer_info(entry->size);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    assert_int_equal(
        maarCreateBuffer(program.rig->allocator, &info, &how, &entry->read, &entry->read_memory),
        VK_SUCCESS);
    entry_write(entry);
}

uint32_t entry_points(const struct entry* entry, MaarPoint* points)
{
    uint32_t count = 0;
    if (entry->used.semaphore != VK_NULL_HANDLE) {
        points[count++] = entry->used;
    }
    if (entry->copied.semaphore != VK_NULL_HANDLE) {
        points[count++] = entry->copied;
    }
    return count;
}

void entry_destroy(struct entry* entry)
{
    MaarAllocator allocator = program.rig->allocator;
    MaarPoint points[ENTRY_POINTS];
    const uint32_t count = entry_points(entry, points);
    entry_finish(entry);
    if (entry->image != VK_NULL_HANDLE) {
        assert_int_equal(
            maarDestroyImageAfter(allocator, entry->image, entry->memory, count, points),
            VK_SUCCESS);
        assert_int_equal(
            maarDestroyBufferAfter(allocator, entry->staging, entry->staging_memory, count, points),
            VK_SUCCESS);
    } else {
        assert_int_equal(
            maarDestroyBufferAfter(allocator, entry->buffer, entry->memory, count, points),
            VK_SUCCESS);
    }
    maarDestroyBuffer(allocator, entry->read, entry->read_memory);
    entry->memory = VK_NULL_HANDLE;
}

/* ---- contents ---- */

static void wait_for_entry(struct entry* entry)
{
    entry_wait(entry->used);
    entry_wait(entry->copied);
    entry->used = (MaarPoint){VK_NULL_HANDLE, 0};
    entry->copied = entry->used;
}

/* Lets a simulated device check an access of the host. */
static void declare_host_access(MaarAllocation memory, VkDeviceSize size, bool writes)
{
    if (program.rig->simulated) {
        const MaarAllocationInfo info = rig_info(program.rig, memory);
        maarSimulatedHostAccess(program.rig->device, info.memory, info.offset, size,
                                writes ? VK_TRUE : VK_FALSE);
    }
}

/* Writes the contents to memory that no device uses. */
static void write_words(const struct entry* entry, MaarAllocation memory)
{
    for (uint32_t i = 0; i < entry->size / 4; ++i) {
        words[i] = entry->word + i * entry->step;
    }
    declare_host_access(memory, entry->size, true);
    assert_int_equal(maarCopyToAllocation(program.rig->allocator, memory, 0, entry->size, words),
                     VK_SUCCESS);
}

static void compare_words(const struct entry* entry, MaarAllocation memory, uint32_t word,
                          uint32_t step)
{
    memset(words, 0, sizeof words);
    declare_host_access(memory, entry->size, false);
    assert_int_equal(maarCopyFromAllocation(program.rig->allocator, memory, 0, entry->size, words),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < entry->size / 4; ++i) {
        if (words[i] != word + i * step) {
            fail_msg("word %u of %u of %s: 0x%08X instead of 0x%08X", i,
                     (uint32_t)(entry->size / 4),
                     entry->image != VK_NULL_HANDLE ? "an image" : "a buffer", words[i],
                     word + i * step);
        }
    }
    ++program.compared_count;
}

/* The device writes an image, and leaves it in any layout. */
static void write_image(struct entry* entry)
{
    static const VkImageLayout layouts[] = {
        VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    struct entry_queue* queue = any_queue();
    const VkBufferImageCopy region = whole_image(entry);
    const MaarPoint none = {VK_NULL_HANDLE, 0};
    /* The staging buffer may still be read. */
    entry_wait(entry->used);
    write_words(entry, entry->staging_memory);
    VkCommandBuffer commands = begin_commands(queue);
    record_transition(commands, entry, entry->layout, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, entry->staging, entry->image,
                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    entry->layout = layouts[entry_below(sizeof layouts / sizeof layouts[0])];
    record_transition(commands, entry, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, entry->layout);
    entry->used = submit_commands(queue, entry, none);
}

void entry_write(struct entry* entry)
{
    const MaarPoint none = {VK_NULL_HANDLE, 0};
    entry->word = rig_next(&program.random);
    entry->step = 1;
    if (entry->image != VK_NULL_HANDLE) {
        write_image(entry);
    } else if (entry_below(2) == 0) {
        wait_for_entry(entry);
        write_words(entry, entry->memory);
    } else {
        struct entry_queue* queue = any_queue();
        VkCommandBuffer commands = begin_commands(queue);
        vkCmdFillBuffer(commands, entry->buffer, 0, VK_WHOLE_SIZE, entry->word);
        entry->step = 0;
        entry->used = submit_commands(queue, entry, none);
    }
}

void entry_finish(struct entry* entry)
{
    if (entry->is_read) {
        entry->is_read = false;
        entry_wait(entry->read_end);
        compare_words(entry, entry->read_memory, entry->read_word, entry->read_step);
    }
}

void entry_read(struct entry* entry, MaarPoint copied)
{
    const VkBufferImageCopy region = whole_image(entry);
    const VkBufferCopy all = {0, 0, entry->size};
    entry_finish(entry);
    if (entry->image == VK_NULL_HANDLE && entry_below(3) == 0) {
        /* A copy of a batch may still read the buffer, too. */
        entry_wait(entry->used);
        entry_wait(entry->copied);
        compare_words(entry, entry->memory, entry->word, entry->step);
        return;
    }
    struct entry_queue* queue = any_queue();
    VkCommandBuffer commands = begin_commands(queue);
    if (entry->image == VK_NULL_HANDLE) {
        vkCmdCopyBuffer(commands, entry->buffer, entry->read, 1, &all);
    } else {
        record_transition(commands, entry, entry->layout, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        vkCmdCopyImageToBuffer(commands, entry->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               entry->read, 1, &region);
        record_transition(commands, entry, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, entry->layout);
    }
    entry->used = submit_commands(queue, entry, copied);
    entry->read_end = entry->used;
    entry->read_word = entry->word;
    entry->read_step = entry->step;
    entry->is_read = true;
}
