/*
 * The textures of the hall, as residents. hall_textures.c contains the lesson of the sample.
 */
#ifndef MAAR_SAMPLE_HALL_TEXTURES_H
#define MAAR_SAMPLE_HALL_TEXTURES_H

#include "hall_worker.h"
#include "sample_device.h"

/* Bytes that the tiers may hold. */
struct hall_budgets {
    VkDeviceSize device, host, compressed, file;
};

struct hall_textures {
    const struct sample_device* device;
    VkImageCreateInfo info; /* of every texture */
    struct hall_budgets budgets;
    uint32_t count;
    MaarResident* residents;
    MaarResidency manager;
    MaarFileStore store;
    char folder[1024];          /* of the file; empty for none */
    struct hall_worker* worker; /* or NULL: then the calls below do its work */
};

/* Creates a manager and a resident for each texture, which has no contents yet. Prints an error and
 * returns false on failure. The caller destroys it in every case. */
bool hall_textures_create(struct hall_textures* textures, const struct sample_device* device,
                          uint32_t count, uint32_t side, const struct hall_budgets* budgets,
                          bool has_thread);
/* The commands that use the textures have been executed. */
void hall_textures_destroy(struct hall_textures* textures);

/* Brings some textures to the device for the commands that are about to be recorded. `info` says
 * which point the commands wait for. */
bool hall_textures_begin(struct hall_textures* textures, uint32_t count,
                         const MaarResidentUse* uses, MaarResidentObject* objects,
                         MaarUseInfo* info, MaarUse* use);
/* The commands were submitted. They have been executed when the point has passed. */
bool hall_textures_end(struct hall_textures* textures, MaarUse use, const MaarPoint* point);

/* Says, once a frame, which textures the next frames use. */
bool hall_textures_update(struct hall_textures* textures, uint32_t count,
                          const MaarResident* upcoming);

/* Returns where a texture is now. */
MaarTier hall_textures_tier(const struct hall_textures* textures, uint32_t texture);
/* Reads the figures of the manager. */
bool hall_textures_look(const struct hall_textures* textures, MaarResidencyInfo* info);

#endif
