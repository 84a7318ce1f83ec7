/*
 * Weights and KV cache as residents. model_memory.c contains the lesson of the sample.
 */
#ifndef MAAR_SAMPLE_MODEL_MEMORY_H
#define MAAR_SAMPLE_MODEL_MEMORY_H

#include "model_lru.h"
#include "model_weights.h"

/* Who decides what leaves the device. */
enum model_way {
    MODEL_WAY_HINTED,   /* Maar, and the program says what comes next */
    MODEL_WAY_UNHINTED, /* Maar, from what it has seen */
    MODEL_WAY_LRU,      /* the program: what was used longest ago */
    MODEL_WAY_COUNT
};

struct model_memory {
    const struct sample_device* device;
    const struct model_weights* weights;
    struct model_shape shape;
    enum model_way way;
    uint64_t budget; /* of the device, in bytes */
    MaarResidency manager;
    uint32_t count;
    struct model_place {
        MaarResident resident;
        const struct model_weights* weights;
        uint32_t number;
        struct model_lru_entry lru;
    } places[MODEL_MOST_RESIDENTS];
    struct model_lru lru;
};

/* Creates a manager and the residents. Prints an error and returns false on failure. The caller
 * destroys them in every case. */
bool model_memory_create(struct model_memory* memory, const struct sample_device* device,
                         const struct model_weights* weights, enum model_way way, uint64_t budget);
/* The commands that use the residents have been executed. */
void model_memory_destroy(struct model_memory* memory);

/* What a submission does with a resident. */
struct model_use {
    uint32_t number;
    MaarAccessFlags access;
};

/* Brings residents to the device for a submission. `info` says which point it waits for. */
bool model_memory_begin(struct model_memory* memory, uint32_t count, const struct model_use* uses,
                        MaarResidentObject* objects, MaarUseInfo* info, MaarUse* use);
/* The submission was made. It has been executed when the point has passed. */
bool model_memory_end(struct model_memory* memory, MaarUse use, const MaarPoint* point);
/* The submission is not made. */
void model_memory_cancel(struct model_memory* memory, MaarUse use);

/* Says, once a pass, what the next submissions use, the next one first. */
#define MODEL_MOST_UPCOMING 16u
bool model_memory_look_ahead(struct model_memory* memory, uint32_t count, const uint32_t* numbers);

/* Returns where a resident is. */
MaarTier model_memory_tier(const struct model_memory* memory, uint32_t number);
/* Reads the figures of the manager. */
bool model_memory_look(const struct model_memory* memory, MaarResidencyInfo* info);

#endif
