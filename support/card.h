/*
 * A card's memory as a trace or a capture describes it, and a simulated device made of it. No
 * globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_CARD_H
#define MAAR_SUPPORT_CARD_H

#include "maar/simulated.h"

#include <stdbool.h>
#include <stdint.h>

enum { SUPPORT_CARD_MOST_HEAPS = 16, SUPPORT_CARD_MOST_TYPES = 32 };

struct support_card_heap {
    uint64_t size;
    uint32_t flags; /* VkMemoryHeapFlags */
};

struct support_card_type {
    uint32_t heap;
    uint32_t flags; /* VkMemoryPropertyFlags */
};

struct support_card {
    uint32_t device_type; /* VkPhysicalDeviceType */
    uint32_t vendor, id;  /* of VkPhysicalDeviceProperties */
    uint32_t driver, api; /* versions */
    uint32_t heap_count, type_count;
    uint64_t granularity; /* bufferImageGranularity; 0: unknown */
    uint64_t most_memories;
    uint64_t atom;    /* nonCoherentAtomSize; 0: unknown */
    uint64_t largest; /* maxMemoryAllocationSize; 0: unknown */
    struct support_card_heap heaps[SUPPORT_CARD_MOST_HEAPS];
    struct support_card_type types[SUPPORT_CARD_MOST_TYPES];
};

/* Fills in the profile of a simulated device with the card's heaps, memory types and limits. A
 * profile is large and should not lie on the stack. Returns false for a card that cannot be: no
 * heap, no type, a heap without bytes. */
bool support_card_profile(const struct support_card* card, const char* name,
                          MaarSimulatedProfile* profile);

#endif
