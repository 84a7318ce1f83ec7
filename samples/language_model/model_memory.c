/*
 * Weights and a KV cache that need more memory than there is: a manager of residents, and what the
 * program does around each of its submissions.
 */
#include "model_memory.h"

#include <string.h>

/* ---- the manager ---- */

static bool create_model_manager(struct model_memory* memory)
{
    const MaarResidencyPolicy lru = model_lru_table(&memory->lru);
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .pNext = memory->way == MODEL_WAY_LRU ? &lru : NULL, /* NULL: Maar's own policy */
        .queueIndex = 0, /* of MaarAllocatorCreateInfo::pQueues: the queue that copies */
        .deviceBudget = memory->budget,
        .hostBudget = 2 * model_size(&memory->shape), /* for everything */
        .pName = "weights and KV cache",
    };
    return sample_succeeded(maarCreateResidency(memory->device->allocator, &info, &memory->manager),
                            "maarCreateResidency");
}

/* Reads the weights of a resident. Maar calls this when it needs them for the first time. */
static VkResult VKAPI_CALL read_weights(void* user_data, VkDeviceSize size, void* data)
{
    const struct model_place* const place = user_data;
    memcpy(data, model_weights_of(place->weights, place->number), (size_t)size);
    return VK_SUCCESS;
}

/* Weights come from the file and are never written, so they leave the device without a copy. The
 * KV cache has no contents yet. */
static bool create_model_resident(struct model_memory* memory, uint32_t number)
{
    struct model_place* const place = &memory->places[number];
    VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = model_resident_size(&memory->shape, number),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    buffer.sharingMode = sample_device_sharing(memory->device, &buffer.queueFamilyIndexCount,
                                               &buffer.pQueueFamilyIndices);
    *place = (struct model_place){.weights = memory->weights, .number = number};
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pfnRead = number < model_weights_count(&memory->shape) ? read_weights : NULL,
        .pSourceUserData = place,
        .pUserData = &place->lru,
    };
    return sample_succeeded(
        maarCreateResident(memory->device->allocator, memory->manager, &info, &place->resident),
        "maarCreateResident");
}

bool model_memory_create(struct model_memory* memory, const struct sample_device* device,
                         const struct model_weights* weights, enum model_way way, uint64_t budget)
{
    memset(memory, 0, sizeof(*memory));
    memory->device = device;
    memory->weights = weights;
    memory->shape = weights->shape;
    memory->way = way;
    memory->budget = budget;
    bool done = create_model_manager(memory);
    for (uint32_t i = 0; done && i < model_resident_count(&memory->shape); ++i) {
        done = create_model_resident(memory, i);
        memory->count += done ? 1 : 0;
    }
    return done;
}

void model_memory_destroy(struct model_memory* memory)
{
    if (memory->device != NULL) {
        maarDestroyResidency(memory->device->allocator, memory->manager); /* and all residents */
    }
    memset(memory, 0, sizeof(*memory));
}

/* ---- a submission ---- */

bool model_memory_begin(struct model_memory* memory, uint32_t count, const struct model_use* uses,
                        MaarResidentObject* objects, MaarUseInfo* info, MaarUse* use)
{
    MaarResidentUse residents[1 + MODEL_MOST_PARTS];
    for (uint32_t i = 0; i < count; ++i) {
        residents[i] = (MaarResidentUse){.resident = memory->places[uses[i].number].resident,
                                         .access = uses[i].access};
    }
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = MAAR_USE_WAIT_BIT, /* weights are read from the file at first */
        .useCount = count,
        .pUses = residents,
    };
    return sample_succeeded(
        maarBeginUse(memory->device->allocator, memory->manager, &begin, objects, info, use),
        "maarBeginUse");
}

bool model_memory_end(struct model_memory* memory, MaarUse use, const MaarPoint* point)
{
    return sample_succeeded(maarEndUse(memory->device->allocator, memory->manager, use, 1, point),
                            "maarEndUse");
}

void model_memory_cancel(struct model_memory* memory, MaarUse use)
{
    maarCancelUse(memory->device->allocator, memory->manager, use);
}

bool model_memory_look_ahead(struct model_memory* memory, uint32_t count, const uint32_t* numbers)
{
    MaarAllocator const allocator = memory->device->allocator;
    MaarResident upcoming[MODEL_MOST_UPCOMING];
    if (memory->way != MODEL_WAY_HINTED) {
        return true;
    }
    for (uint32_t i = 0; i < count; ++i) {
        upcoming[i] = memory->places[numbers[i]].resident;
    }
    return sample_succeeded(maarPrefetchResidents(allocator, memory->manager, count, upcoming),
                            "maarPrefetchResidents") &&
           sample_succeeded(maarUpdateResidency(allocator, memory->manager, NULL),
                            "maarUpdateResidency");
}

/* ---- figures ---- */

MaarTier model_memory_tier(const struct model_memory* memory, uint32_t number)
{
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    const VkResult result = maarGetResidentInfo(memory->device->allocator, memory->manager,
                                                memory->places[number].resident, &info);
    return result == VK_SUCCESS ? info.tier : MAAR_TIER_NONE;
}

bool model_memory_look(const struct model_memory* memory, MaarResidencyInfo* info)
{
    *info = (MaarResidencyInfo){.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    return sample_succeeded(maarGetResidencyInfo(memory->device->allocator, memory->manager, info),
                            "maarGetResidencyInfo");
}
