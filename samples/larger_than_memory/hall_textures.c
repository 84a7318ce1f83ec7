/*
 * Textures that need more memory than there is: a manager with four tiers, and what a program does
 * around each of its submissions.
 */
#include "hall_textures.h"

#include "hall_texels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK_PER_FRAME 2u /* pieces of work that a frame does where there is no thread */

/* ---- the manager ---- */

/* Opens a file in a folder of its own. On POSIX systems it has no name from then on, so that
 * nothing is left of it when the process ends. */
static bool open_store(struct hall_textures* textures)
{
    const char* const parent = getenv("TMPDIR");
    char path[sizeof(textures->folder) + 16];
    const int length = snprintf(textures->folder, sizeof(textures->folder), "%s/maar-XXXXXX",
                                parent != NULL ? parent : "/tmp");
    if (length < 0 || (size_t)length >= sizeof(textures->folder) ||
        mkdtemp(textures->folder) == NULL) {
        textures->folder[0] = '\0';
        sample_complain("no temporary folder can be created: see TMPDIR");
        return false;
    }
    snprintf(path, sizeof(path), "%s/textures", textures->folder);
    const MaarFileStoreOpenInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_FILE_STORE_OPEN_INFO,
        .pPath = path,
        .size = textures->budgets.file,
    };
    return sample_succeeded(maarOpenFileStore(&info, &textures->store), "maarOpenFileStore");
}

static bool create_manager(struct hall_textures* textures)
{
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = 0, /* of MaarAllocatorCreateInfo::pQueues: the queue that draws */
        .deviceBudget = textures->budgets.device,
        .hostBudget = textures->budgets.host,
        .compressedBudget = textures->budgets.compressed,
        .pFileStore = &textures->store,
        .pName = "textures of the hall",
    };
    return sample_succeeded(
        maarCreateResidency(textures->device->allocator, &info, &textures->manager),
        "maarCreateResidency");
}

/* A resident has neither memory nor contents before its first use. */
static bool create_residents(struct hall_textures* textures)
{
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pImageInfo = &textures->info,
    };
    textures->residents = calloc(textures->count, sizeof(textures->residents[0]));
    bool done = sample_has_memory(textures->residents);
    for (uint32_t i = 0; done && i < textures->count; ++i) {
        done = sample_succeeded(maarCreateResident(textures->device->allocator, textures->manager,
                                                   &info, &textures->residents[i]),
                                "maarCreateResident");
    }
    return done;
}

bool hall_textures_create(struct hall_textures* textures, const struct sample_device* device,
                          uint32_t count, uint32_t side, const struct hall_budgets* budgets,
                          bool has_thread)
{
    *textures = (struct hall_textures){
        .device = device,
        .count = count,
        .budgets = *budgets,
        .store = {.sType = MAAR_STRUCTURE_TYPE_FILE_STORE},
        .info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                 .imageType = VK_IMAGE_TYPE_2D,
                 .format = VK_FORMAT_R8G8B8A8_UNORM,
                 .extent = {side, side, 1},
                 .mipLevels = hall_texels_levels(side),
                 .arrayLayers = 1,
                 .samples = VK_SAMPLE_COUNT_1_BIT,
                 .tiling = VK_IMAGE_TILING_OPTIMAL,
                 .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT},
    };
    if (!open_store(textures) || !create_manager(textures) || !create_residents(textures)) {
        return false;
    }
    if (has_thread) {
        textures->worker = hall_worker_start(device->allocator, textures->manager);
        return sample_has_memory(textures->worker);
    }
    return true;
}

void hall_textures_destroy(struct hall_textures* textures)
{
    if (textures->device == NULL) {
        return;
    }
    hall_worker_stop(textures->worker);
    maarDestroyResidency(textures->device->allocator, textures->manager); /* and all residents */
    maarCloseFileStore(&textures->store);
    if (textures->folder[0] != '\0') {
        (void)rmdir(textures->folder);
    }
    free(textures->residents);
    memset(textures, 0, sizeof(*textures));
}

/* ---- a frame ---- */

bool hall_textures_begin(struct hall_textures* textures, uint32_t count,
                         const MaarResidentUse* uses, MaarResidentObject* objects,
                         MaarUseInfo* info, MaarUse* use)
{
    MaarAllocator const allocator = textures->device->allocator;
    MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .useCount = count,
        .pUses = uses,
    };
    VkResult result = maarBeginUse(allocator, textures->manager, &begin, objects, info, use);
    if (result == VK_NOT_READY) {
        /* Something must be read from the file or unpacked first, and was not prefetched in time. A
         * game may draw the frame with other textures meanwhile. This sample waits. */
        begin.flags = MAAR_USE_WAIT_BIT;
        result = maarBeginUse(allocator, textures->manager, &begin, objects, info, use);
    }
    return sample_succeeded(result, "maarBeginUse");
}

bool hall_textures_end(struct hall_textures* textures, MaarUse use, const MaarPoint* point)
{
    return sample_succeeded(
        maarEndUse(textures->device->allocator, textures->manager, use, 1, point), "maarEndUse");
}

bool hall_textures_update(struct hall_textures* textures, uint32_t count,
                          const MaarResident* upcoming)
{
    MaarAllocator const allocator = textures->device->allocator;
    if (!sample_succeeded(maarPrefetchResidents(allocator, textures->manager, count, upcoming),
                          "maarPrefetchResidents") ||
        !sample_succeeded(maarUpdateResidency(allocator, textures->manager, NULL),
                          "maarUpdateResidency")) {
        return false;
    }
    if (textures->worker != NULL) {
        hall_worker_wake(textures->worker);
        return true;
    }
    const VkResult result = maarWorkResidency(allocator, textures->manager, WORK_PER_FRAME, NULL);
    return result == VK_INCOMPLETE || sample_succeeded(result, "maarWorkResidency");
}

/* ---- figures ---- */

MaarTier hall_textures_tier(const struct hall_textures* textures, uint32_t texture)
{
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    const VkResult result = maarGetResidentInfo(textures->device->allocator, textures->manager,
                                                textures->residents[texture], &info);
    return result == VK_SUCCESS ? info.tier : MAAR_TIER_NONE;
}

bool hall_textures_look(const struct hall_textures* textures, MaarResidencyInfo* info)
{
    *info = (MaarResidencyInfo){.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    return sample_succeeded(
        maarGetResidencyInfo(textures->device->allocator, textures->manager, info),
        "maarGetResidencyInfo");
}
