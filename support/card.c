/*
 * Simulated devices of cards that a capture has seen; see card.h.
 */
#include "support/card.h"

#include <stdio.h>
#include <string.h>

/* The weakest that Vulkan permits: what a capture does not say of a card. */
static const VkDeviceSize card_offset_alignment = 256;
static const VkDeviceSize card_map_alignment = 64;
static const uint32_t card_storage_range = 1u << 27;

static const VkDeviceSize card_most_alignment = (VkDeviceSize)1 << 30;
static const VkDeviceSize card_most_heap = (VkDeviceSize)1 << 60;

static bool card_is_power(uint64_t value)
{
    return value != 0 && value <= card_most_alignment && (value & (value - 1)) == 0;
}

static void card_set_limits(const struct support_card* card, MaarSimulatedLimits* limits)
{
    limits->bufferImageGranularity = card_is_power(card->granularity) ? card->granularity : 1;
    limits->nonCoherentAtomSize = card_is_power(card->atom) ? card->atom : 64;
    limits->maxMemoryAllocationCount =
        card->most_memories < UINT32_MAX ? (uint32_t)card->most_memories : UINT32_MAX;
    limits->maxMemoryAllocationSize = card->largest;
    limits->minMemoryMapAlignment = card_map_alignment;
    limits->minUniformBufferOffsetAlignment = card_offset_alignment;
    limits->minStorageBufferOffsetAlignment = card_offset_alignment;
    limits->minTexelBufferOffsetAlignment = card_offset_alignment;
    limits->maxStorageBufferRange = card_storage_range;
}

bool support_card_profile(const struct support_card* card, const char* name,
                          MaarSimulatedProfile* profile)
{
    memset(profile, 0, sizeof *profile);
    if (card->heap_count == 0 || card->type_count == 0) {
        return false;
    }
    profile->sType = MAAR_STRUCTURE_TYPE_SIMULATED_PROFILE;
    (void)snprintf(profile->name, sizeof profile->name, "a capture");
    (void)snprintf(profile->deviceName, sizeof profile->deviceName, "%s", name);
    profile->deviceType = card->device_type <= VK_PHYSICAL_DEVICE_TYPE_CPU
                              ? (VkPhysicalDeviceType)card->device_type
                              : VK_PHYSICAL_DEVICE_TYPE_OTHER;
    profile->vendorID = card->vendor;
    profile->deviceID = card->id;
    card_set_limits(card, &profile->limits);
    profile->heapCount = card->heap_count;
    profile->typeCount = card->type_count;
    for (uint32_t i = 0; i < card->heap_count; ++i) {
        profile->heaps[i].size = card->heaps[i].size;
        profile->heaps[i].flags = card->heaps[i].flags;
        if (card->heaps[i].size == 0 || card->heaps[i].size > card_most_heap) {
            return false;
        }
    }
    for (uint32_t i = 0; i < card->type_count; ++i) {
        profile->types[i].heap = card->types[i].heap;
        profile->types[i].flags = card->types[i].flags;
        if (card->types[i].heap >= card->heap_count) {
            return false;
        }
    }
    return true;
}
