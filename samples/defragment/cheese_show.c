/*
 * Renders the frames of a show; see cheese_show.h.
 */
#include "cheese_show.h"

#include "cheese_view.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_STEP 4u /* the frame in which the first step is taken */

struct show {
    const struct sample_device* device;
    const struct cheese_options* options;
    struct sample_work work;
    struct cheese_heap heap;
    struct cheese_view view;
    struct cheese_moves moves;
    struct cheese_film* film;           /* receives the frames; or NULL */
    const struct cheese_film* original; /* is compared with the frames; or NULL */
    struct cheese_result* result;       /* with moves only */
};

bool cheese_film_create(struct cheese_film* film, uint32_t width, uint32_t height, uint32_t count)
{
    *film = (struct cheese_film){.width = width, .height = height, .count = count};
    film->pixels = calloc(count, (size_t)4 * width * height);
    return sample_has_memory(film->pixels);
}

void cheese_film_destroy(struct cheese_film* film)
{
    free(film->pixels);
    memset(film, 0, sizeof(*film));
}

uint8_t* cheese_film_frame(const struct cheese_film* film, uint32_t frame)
{
    return film->pixels + (size_t)4 * film->width * film->height * frame;
}

/* Stores the last frame of a canvas, or compares it. The device is done with it. */
static bool develop(struct show* show, uint32_t slot)
{
    struct cheese_canvas* const canvas = &show->view.canvases[slot];
    if (!canvas->is_used) {
        return true;
    }
    const size_t size = (size_t)4 * show->view.width * show->view.height;
    const uint8_t* const pixels = cheese_view_read(&show->view, slot);
    canvas->is_used = false;
    if (pixels == NULL) {
        return false;
    }
    if (show->film != NULL) {
        memcpy(cheese_film_frame(show->film, canvas->frame), pixels, size);
    } else if (memcmp(cheese_film_frame(show->original, canvas->frame), pixels, size) != 0) {
        if (show->result->different++ == 0) {
            show->result->first_different = canvas->frame;
        }
    }
    return true;
}

/* Looks at the blocks when half of the bytes have moved. */
static bool look_halfway(struct show* show)
{
    const struct cheese_account* const account = &show->moves.account;
    struct cheese_blocks* const blocks = &show->result->blocks[CHEESE_DURING];
    if (blocks->ranges != NULL || account->bytes * 2 < account->forecast.moveBytes) {
        return true;
    }
    const bool done = cheese_blocks_look(blocks, &show->heap);
    blocks->step = account->steps;
    return done;
}

/* A frame. With moves, its commands begin with the copies of a step. */
static bool show_frame(struct show* show, uint32_t frame)
{
    const VkCommandBuffer commands = sample_work_begin(&show->work);
    const uint32_t slot = show->work.slot;
    const bool moving = show->result != NULL;
    uint64_t passed = 0;
    if (commands == NULL || !develop(show, slot)) {
        return false;
    }
    if (moving && frame >= FIRST_STEP && !cheese_moves_record(&show->moves, commands)) {
        return false;
    }
    cheese_view_record(&show->view, slot, &show->heap, frame, commands);
    if (!sample_work_submit(&show->work, NULL, NULL)) {
        return false;
    }
    const MaarPoint done = {show->work.timeline, show->work.value};
    if (!moving) {
        return true;
    }
    return cheese_moves_commit(&show->moves, &done) && look_halfway(show) &&
           sample_succeeded(
               vkGetSemaphoreCounterValue(show->device->device, show->work.timeline, &passed),
               "vkGetSemaphoreCounterValue") &&
           cheese_moves_retire(&show->moves, passed);
}

static bool show_all(struct show* show)
{
    bool done = true;
    for (uint32_t frame = 0; done && frame < show->options->frames; ++frame) {
        done = show_frame(show, frame);
    }
    done = done && sample_work_wait(&show->work);
    for (uint32_t slot = 0; done && slot < SAMPLE_WORK_SLOTS; ++slot) {
        done = develop(show, slot);
    }
    return done;
}

static bool open_show(struct show* show)
{
    const struct cheese_options* const options = show->options;
    return sample_work_create(&show->work, show->device) &&
           cheese_heap_create(&show->heap, show->device, &show->work, options->planets) &&
           cheese_view_create(&show->view, show->device, &show->heap.sets, options->width,
                              options->height);
}

static void close_show(struct show* show)
{
    if (show->work.timeline != VK_NULL_HANDLE) {
        (void)sample_work_wait(&show->work);
    }
    cheese_moves_end(&show->moves);
    cheese_view_destroy(&show->view);
    cheese_heap_destroy(&show->heap);
    /* Maar may hold memory until points of the timeline have passed. */
    (void)maarWaitPending(show->device->allocator, UINT64_MAX);
    sample_work_destroy(&show->work);
}

bool cheese_show_still(const struct sample_device* device, const struct cheese_options* options,
                       struct cheese_film* film)
{
    struct show show = {.device = device, .options = options, .film = film};
    const bool done = open_show(&show) && show_all(&show);
    close_show(&show);
    return done;
}

/* Takes the last figures, when the device is done with all frames. */
static bool look_back(struct show* show)
{
    MaarAllocator const allocator = show->device->allocator;
    if (show->moves.run != VK_NULL_HANDLE) {
        sample_complain("after %u frames there is more to move: see --frames, --step and --moves",
                        show->options->frames);
        return false;
    }
    show->result->account = show->moves.account;
    /* What was pending is free now, and empty blocks are given back. */
    return sample_succeeded(maarWaitPending(allocator, UINT64_MAX), "maarWaitPending") &&
           cheese_blocks_look(&show->result->blocks[CHEESE_AFTER], &show->heap);
}

bool cheese_show_moving(const struct sample_device* device, const struct cheese_options* options,
                        const struct cheese_film* film, struct cheese_result* result)
{
    const struct cheese_limits limits = {
        .bytes = (VkDeviceSize)options->step_kib << 10,
        .moves = options->moves,
        .poison = options->poison || options->mistake != CHEESE_MISTAKE_NONE,
        .mistake = options->mistake,
    };
    struct show show = {.device = device, .options = options, .original = film, .result = result};
    *result = (struct cheese_result){0};
    const bool done =
        open_show(&show) && cheese_blocks_look(&result->blocks[CHEESE_BEFORE], &show.heap) &&
        cheese_moves_begin(&show.moves, &show.heap, &limits) && show_all(&show) && look_back(&show);
    result->planets = show.heap.kept;
    close_show(&show);
    return done;
}

void cheese_result_release(struct cheese_result* result)
{
    for (uint32_t i = 0; i < CHEESE_MOMENTS; ++i) {
        cheese_blocks_release(&result->blocks[i]);
    }
}
