/*
 * Renders the frames of a walk; see hall_show.h.
 */
#include "hall_show.h"

#include "hall_contents.h"
#include "hall_texels.h"
#include "hall_view.h"

#include <string.h>

#define SHOWN VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL
#define AHEAD 5u /* frames whose textures are prefetched */

struct show {
    const struct sample_device* device;
    const struct hall_options* options;
    struct sample_work work;
    struct hall_textures textures;
    struct hall_contents contents;
    struct hall_view view;
    struct hall_film* film;
    struct hall_result* result; /* NULL: the frames are stored, not compared */
    struct {
        bool is_drawn;
        uint32_t frame;
    } slots[SAMPLE_WORK_SLOTS];
};

/* What a frame uses. */
struct needs {
    struct hall_eye eye;
    uint32_t count;
    struct hall_seen seen[HALL_MOST_TEXTURES];
    MaarResidentUse uses[HALL_MOST_TEXTURES];
};

static struct hall_eye find_eye(const struct show* show, uint32_t frame)
{
    return hall_scene_eye(frame, show->options->frames, show->options->bays);
}

/* ---- what a frame needs ---- */

/* Returns whether a frame leaves paint on a texture: on the way out, on the floor below the eye. */
static bool is_painted(const struct hall_eye* eye, uint32_t texture)
{
    return eye->is_leaving && texture == eye->bay * HALL_TEXTURES + HALL_FLOOR;
}

/* Returns what the program says that the frame does with a texture. */
static MaarAccessFlags access_of(const struct show* show, const struct hall_eye* eye,
                                 uint32_t texture)
{
    const enum hall_mistake mistake =
        show->result != NULL ? show->options->mistake : HALL_MISTAKE_NONE;
    if (is_painted(eye, texture)) {
        return mistake == HALL_MISTAKE_ACCESS ? MAAR_ACCESS_READ_BIT : MAAR_ACCESS_WRITE_BIT;
    }
    if (mistake == HALL_MISTAKE_RESTORE && texture % HALL_TEXTURES == HALL_LEFT) {
        return MAAR_ACCESS_OVERWRITE_BIT;
    }
    return MAAR_ACCESS_READ_BIT;
}

/* Finds the textures that a frame sees, the nearest first. */
static struct needs find_needs(const struct show* show, uint32_t frame)
{
    struct needs needs = {.eye = find_eye(show, frame)};
    uint32_t bays[HALL_MOST_BAYS];
    const uint32_t bay_count = hall_scene_bays(&needs.eye, show->options->bays, bays);
    for (uint32_t i = 0; i < bay_count * HALL_TEXTURES; ++i) {
        const uint32_t texture = bays[i / HALL_TEXTURES] * HALL_TEXTURES + i % HALL_TEXTURES;
        needs.seen[i].texture = texture;
        needs.uses[i] = (MaarResidentUse){
            .resident = show->textures.residents[texture],
            .access = access_of(show, &needs.eye, texture),
            .finalLayout = SHOWN,
        };
    }
    needs.count = bay_count * HALL_TEXTURES;
    return needs;
}

/* Names to the manager the textures that the next frames use, in this order. */
static bool look_ahead(struct show* show, uint32_t frame)
{
    MaarResident upcoming[AHEAD * HALL_MOST_TEXTURES];
    uint32_t count = 0;
    for (uint32_t i = frame; i < frame + AHEAD && i < show->options->frames; ++i) {
        const struct needs needs = find_needs(show, i);
        for (uint32_t k = 0; k < needs.count; ++k) {
            upcoming[count++] = needs.uses[k].resident;
        }
    }
    return hall_textures_update(&show->textures, count, upcoming);
}

/* ---- a frame ---- */

/* Stores the last frame of a slot, or compares it. The device is done with it. */
static bool develop_slot(struct show* show, uint32_t slot)
{
    if (!show->slots[slot].is_drawn) {
        return true;
    }
    const uint32_t frame = show->slots[slot].frame;
    uint8_t* const stored = show->film->pixels + frame * show->film->frame_size;
    const uint8_t* const pixels = hall_view_read(&show->view, slot);
    show->slots[slot].is_drawn = false;
    if (pixels == NULL) {
        return false;
    }
    if (show->result == NULL) {
        memcpy(stored, pixels, show->film->frame_size);
    } else if (memcmp(stored, pixels, show->film->frame_size) != 0) {
        if (show->result->different++ == 0) {
            show->result->first_different = frame;
        }
    }
    return true;
}

/* Notes where all textures are. */
static void note_tiers(struct show* show, uint32_t frame, const struct needs* needs)
{
    if (show->result == NULL) {
        return;
    }
    struct hall_strip* const strip = &show->result->strip;
    for (uint32_t i = 0; i < strip->rows; ++i) {
        strip->tiers[(size_t)i * strip->columns + frame] =
            (uint8_t)hall_textures_tier(&show->textures, i);
    }
    for (uint32_t i = 0; i < needs->count; ++i) {
        strip->uses[(size_t)needs->seen[i].texture * strip->columns + frame] = true;
    }
}

/* Submits the recorded commands after the point of a use, and ends the use; or cancels it. */
static bool submit(struct show* show, bool is_recorded, const MaarUseInfo* info, MaarUse use)
{
    const MaarPoint* const wait = info->mustWait == VK_TRUE ? &info->wait : NULL;
    if (!is_recorded || !sample_work_submit(&show->work, wait, NULL)) {
        maarCancelUse(show->device->allocator, show->textures.manager, use);
        return false;
    }
    const MaarPoint done = {show->work.timeline, show->work.value};
    return hall_textures_end(&show->textures, use, &done);
}

static bool record_frame(struct show* show, const struct needs* needs, VkCommandBuffer commands)
{
    for (uint32_t i = 0; i < needs->count; ++i) {
        if (is_painted(&needs->eye, needs->seen[i].texture)) {
            hall_contents_paint(&show->contents, &needs->eye, &needs->seen[i].object, commands);
        } else {
            hall_contents_show(&needs->seen[i].object, commands);
        }
    }
    return hall_view_record(&show->view, show->work.slot, &needs->eye, needs->count, needs->seen,
                            commands);
}

static bool show_hall(struct show* show, uint32_t frame)
{
    struct needs needs = find_needs(show, frame);
    MaarResidentObject objects[HALL_MOST_TEXTURES];
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    const VkCommandBuffer commands = sample_work_begin(&show->work);
    if (commands == NULL || !develop_slot(show, show->work.slot) ||
        !hall_textures_begin(&show->textures, needs.count, needs.uses, objects, &info, &use)) {
        return false;
    }
    for (uint32_t i = 0; i < needs.count; ++i) {
        needs.seen[i].object = objects[i];
    }
    if (!submit(show, record_frame(show, &needs, commands), &info, use)) {
        return false;
    }
    show->slots[show->work.slot].is_drawn = true;
    show->slots[show->work.slot].frame = frame;
    note_tiers(show, frame, &needs);
    return look_ahead(show, frame + 1);
}

/* ---- a walk ---- */

/* Gives a texture its first contents. */
static bool load(struct show* show, uint32_t texture)
{
    const MaarResidentUse first = {
        .resident = show->textures.residents[texture],
        .access = MAAR_ACCESS_OVERWRITE_BIT,
        .finalLayout = SHOWN,
    };
    MaarResidentObject object;
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarUse use = VK_NULL_HANDLE;
    const VkCommandBuffer commands = sample_work_begin(&show->work);
    if (commands == NULL ||
        !hall_textures_begin(&show->textures, 1, &first, &object, &info, &use)) {
        return false;
    }
    const bool is_recorded =
        hall_contents_load(&show->contents, show->work.slot, texture, &object, commands);
    return submit(show, is_recorded, &info, use) && hall_textures_update(&show->textures, 0, NULL);
}

static bool walk_through(struct show* show, const struct hall_budgets* budgets)
{
    const struct hall_options* const options = show->options;
    const uint32_t count = options->bays * HALL_TEXTURES;
    MaarResidencyInfo loaded; /* when all textures have contents */
    bool done = sample_work_create(&show->work, show->device) &&
                hall_textures_create(&show->textures, show->device, count, options->side, budgets,
                                     !options->no_thread) &&
                hall_contents_create(&show->contents, show->device, options->side) &&
                hall_view_create(&show->view, show->device, count, options->width, options->height);
    show->view.forgets_epochs = show->result != NULL && options->mistake == HALL_MISTAKE_EPOCH;
    for (uint32_t i = 0; done && i < count; ++i) {
        done = load(show, i);
    }
    done = done && look_ahead(show, 0) && hall_textures_look(&show->textures, &loaded);
    for (uint32_t frame = 0; done && frame < options->frames; ++frame) {
        done = show_hall(show, frame);
    }
    done = done && sample_work_wait(&show->work);
    for (uint32_t slot = 0; done && slot < SAMPLE_WORK_SLOTS; ++slot) {
        done = develop_slot(show, slot);
    }
    if (!done || show->result == NULL) {
        return done;
    }
    done = hall_textures_look(&show->textures, &show->result->info);
    show->result->not_ready = show->result->info.notReadyCount - loaded.notReadyCount;
    return done;
}

static void close_walk(struct show* show)
{
    if (show->work.timeline != VK_NULL_HANDLE) {
        (void)sample_work_wait(&show->work);
    }
    hall_textures_destroy(&show->textures);
    hall_contents_destroy(&show->contents);
    hall_view_destroy(&show->view);
    /* Maar may hold memory until points of the timeline have passed. */
    (void)maarWaitPending(show->device->allocator, UINT64_MAX);
    sample_work_destroy(&show->work);
}

bool hall_show_roomy(const struct sample_device* device, const struct hall_options* options,
                     struct hall_film* film)
{
    const VkDeviceSize texture = hall_texels_size(options->side);
    const VkDeviceSize all = texture * options->bays * HALL_TEXTURES;
    const struct hall_budgets budgets = {.device = 2 * all, .host = all, .file = texture};
    struct show show = {.device = device, .options = options, .film = film};
    const bool done = walk_through(&show, &budgets);
    close_walk(&show);
    return done;
}

bool hall_show_tight(const struct sample_device* device, const struct hall_options* options,
                     struct hall_film* film, struct hall_result* result)
{
    const uint32_t count = options->bays * HALL_TEXTURES;
    const VkDeviceSize all = hall_texels_size(options->side) * count;
    const VkDeviceSize device_budget = all / options->times;
    const struct hall_budgets budgets = {.device = device_budget,
                                         .host = device_budget * 3 / 4,
                                         .compressed = device_budget / 4,
                                         .file = 2 * all};
    struct show show = {.device = device, .options = options, .film = film, .result = result};
    *result = (struct hall_result){0};
    const bool done =
        hall_strip_create(&result->strip, count, options->frames) && walk_through(&show, &budgets);
    close_walk(&show);
    return done;
}
