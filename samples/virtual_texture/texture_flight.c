/*
 * Flies over the map; see texture_flight.h.
 *
 * The flight has one queue, three frames in flight, and two timelines, for frames and for uploads.
 * As usual, frame f - 3 must have ended before frame f is recorded; its requests are then read.
 * Binds wait for frame f - 1, the last frame that may sample the evicted tiles. Uploads wait for
 * binds. A frame waits for nothing.
 */
#include "texture_flight.h"

#include "support/seconds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 60000000000u /* for a frame; after this time the device counts as hung */

/* A frame's tile work of at least this many seconds counts as a stall if it also takes longer than
 * the longest frame. A busy machine may interrupt any thread for a shorter time. */
#define LEAST_STALL 0.1

struct flight_state {
    struct texture_flight* flight;
    VkSemaphore timeline; /* timeline of frames: frame f signals f + 1 */
    uint8_t* kept_levels[TEXTURE_FRAMES_IN_FLIGHT];
    uint32_t pictures[TEXTURE_FRAMES_IN_FLIGHT]; /* 1 + the number of the slot's picture; 0: none */
    uint64_t
        upload_values[TEXTURE_FRAMES_IN_FLIGHT]; /* value of the uploads before a slot's frame */
    uint32_t* requests;
    double frame_began;
    MaarPagingStatistics before;
    uint64_t uploads_before; /* submissions */
};

/* Waits until a frame is due. A screen shows `rate` frames for each second. */
static void wait_until(double due)
{
    const double left = due - support_seconds_now();
    if (left > 0.0) {
        const struct timespec time = {(time_t)left, (long)(1e9 * (left - floor(left)))};
        nanosleep(&time, NULL);
    }
}

static bool create_picture(struct texture_flight* flight, uint32_t frame)
{
    const struct texture_options* const options = flight->options;
    const size_t pixels = (size_t)options->width * options->height;
    struct texture_picture* const picture = &flight->pictures[flight->picture_count];
    *picture = (struct texture_picture){.frame = frame,
                                        .width = options->width,
                                        .height = options->height,
                                        .tint = options->tint,
                                        .pixels = malloc(4 * pixels),
                                        .plans = malloc(sizeof(picture->plans[0]) * pixels),
                                        .levels = malloc(flight->stream.level_count)};
    ++flight->picture_count;
    return picture->pixels != NULL && picture->plans != NULL && picture->levels != NULL;
}

/* Returns whether a frame becomes a picture: some along the path, some around the jump, and the
 * last frame, twice. */
static bool choose_pictures(struct texture_flight* flight)
{
    const uint32_t count = flight->frame_count;
    const uint32_t jump = texture_camera_jump(count);
    const uint32_t wanted[] = {0, count / 4, jump - 1, jump, jump + 4, jump + 14, count * 4 / 5};
    bool done = true;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; done && i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
        if (wanted[i] + 1 < count && (last == UINT32_MAX || wanted[i] > last)) {
            done = create_picture(flight, wanted[i]);
            last = wanted[i];
        }
    }
    done = done && create_picture(flight, count - 1) && create_picture(flight, count - 1);
    flight->pictures[flight->picture_count - 1].tint = !flight->options->tint;
    if (!done) {
        sample_complain("out of memory");
    }
    return done;
}

int texture_flight_prepare(struct texture_flight* flight, struct sample_device* device,
                           const struct texture_options* options)
{
    memset(flight, 0, sizeof(*flight));
    flight->device = device;
    flight->options = options;
    flight->frame_count = options->frames;
    flight->frames = calloc(options->frames, sizeof(flight->frames[0]));
    const int code = texture_stream_create(&flight->stream, device, options);
    if (code != SAMPLE_EXIT_OK) {
        return code;
    }
    flight->cache.sType = MAAR_STRUCTURE_TYPE_TILE_CACHE_INFO;
    flight->paging.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS;
    return flight->frames != NULL &&
                   texture_view_create(&flight->view, device, &flight->stream, options->width,
                                       options->height, options->frames + 1) &&
                   choose_pictures(flight)
               ? SAMPLE_EXIT_OK
               : SAMPLE_EXIT_FAILED;
}

void texture_flight_end(struct texture_flight* flight)
{
    if (flight->device != NULL && flight->device->device != VK_NULL_HANDLE) {
        vkDeviceWaitIdle(flight->device->device);
    }
    texture_view_destroy(&flight->view);
    const VkSemaphore timeline = texture_stream_destroy(&flight->stream);
    if (timeline != VK_NULL_HANDLE) {
        sample_device_close_allocator(flight->device);
        vkDestroySemaphore(flight->device->device, timeline, NULL);
    }
    for (uint32_t i = 0; i < flight->picture_count; ++i) {
        free(flight->pictures[i].pixels);
        free(flight->pictures[i].plans);
        free(flight->pictures[i].levels);
    }
    free(flight->frames);
    memset(flight, 0, sizeof(*flight));
}

/* ---- what a frame that is over has left ---- */

static bool wait_for_frame(const struct flight_state* state, uint32_t frame)
{
    const uint64_t value = (uint64_t)frame + 1;
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &state->timeline,
                                      .pValues = &value};
    return sample_succeeded(vkWaitSemaphores(state->flight->device->device, &info, WAIT_NS),
                            "vkWaitSemaphores");
}

/* Counts the requesting pixels that saw their requested level. */
static void count_satisfied(const struct flight_state* state, uint32_t slot,
                            struct texture_frame* frame)
{
    const struct texture_view* const view = &state->flight->view;
    const uint32_t columns = view->map[0] >> view->map[2];
    for (uint32_t i = 0; i < view->request_count; ++i) {
        const uint32_t request = state->requests[i];
        if (request == MAAR_TILE_REQUEST_NONE) {
            continue;
        }
        const uint32_t level = MAAR_TILE_REQUEST_LEVEL(request);
        const uint64_t x = (uint64_t)MAAR_TILE_REQUEST_X(request) << level;
        const uint64_t y = (uint64_t)MAAR_TILE_REQUEST_Y(request) << level;
        const uint64_t index = y * columns + x;
        ++frame->asked;
        frame->satisfied += x < columns && index < state->flight->stream.level_count &&
                            state->kept_levels[slot][index] <= level;
    }
}

/* Reads the results of a slot's frame. Its requests stay in state->requests. */
static bool finish_frame(struct flight_state* state, uint32_t number)
{
    struct texture_flight* const flight = state->flight;
    const uint32_t slot_index = number % TEXTURE_FRAMES_IN_FLIGHT;
    const struct texture_slot* const slot = &flight->view.slots[slot_index];
    struct texture_frame* const frame = &flight->frames[number];
    uint64_t uploaded = 0;
    if (!wait_for_frame(state, number) ||
        !texture_view_read(&flight->view, &slot->requests, state->requests) ||
        !sample_succeeded(
            vkGetSemaphoreCounterValue(flight->device->device, flight->stream.timeline, &uploaded),
            "vkGetSemaphoreCounterValue")) {
        return false;
    }
    flight->late += uploaded < state->upload_values[slot_index];
    count_satisfied(state, slot_index, frame);
    if (state->pictures[slot_index] != 0) {
        const struct texture_picture* const picture =
            &flight->pictures[state->pictures[slot_index] - 1];
        state->pictures[slot_index] = 0;
        return texture_view_read(&flight->view, &slot->pixels, picture->pixels) &&
               texture_view_read(&flight->view, &slot->plans, picture->plans);
    }
    return true;
}

/* ---- a frame that begins ---- */

/* Returns the requesting pixel among 64. The order is a permutation, so that all of them request in
 * 64 frames. */
static uint32_t choose_asking(uint32_t frame)
{
    return (frame * 27u + 11u) % 64u;
}

/* Records a copy of the frame for its picture, if it becomes one. */
static void keep_picture(struct flight_state* state, uint32_t slot,
                         const struct texture_drawing* drawing, uint32_t picture)
{
    struct texture_picture* const kept = &state->flight->pictures[picture];
    kept->camera = drawing->camera;
    memcpy(kept->levels, state->kept_levels[slot], state->flight->stream.level_count);
    state->pictures[slot] = picture + 1;
}

/* Submits a frame. The frame waits for no tile, unless the planted mistake requires it. */
static bool submit_frame(struct flight_state* state, uint32_t slot, uint64_t number,
                         struct texture_frame* frame)
{
    struct texture_flight* const flight = state->flight;
    const bool waits = flight->options->plant == TEXTURE_PLANT_WAIT;
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = flight->stream.timeline,
                                        .value = flight->stream.value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = state->timeline,
                                          .value = number + 1,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                                .commandBuffer = flight->view.slots[slot].commands};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = waits ? 1 : 0,
                                  .pWaitSemaphoreInfos = &wait,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &commands,
                                  .signalSemaphoreInfoCount = 1,
                                  .pSignalSemaphoreInfos = &signal};
    uint64_t passed = UINT64_MAX;
    if (submit.waitSemaphoreInfoCount != 0 &&
        !sample_succeeded(
            vkGetSemaphoreCounterValue(flight->device->device, wait.semaphore, &passed),
            "vkGetSemaphoreCounterValue")) {
        return false;
    }
    frame->waited = submit.waitSemaphoreInfoCount != 0 && passed < wait.value;
    state->upload_values[slot] = flight->stream.value;
    return sample_succeeded(vkQueueSubmit2(flight->device->queues[0], 1, &submit, VK_NULL_HANDLE),
                            "vkQueueSubmit2");
}

/* Draws a frame with state->kept_levels[slot]. */
static bool draw_frame(struct flight_state* state, uint32_t number, bool tint, uint32_t picture,
                       struct texture_frame* frame)
{
    struct texture_flight* const flight = state->flight;
    const uint32_t slot = number % TEXTURE_FRAMES_IN_FLIGHT;
    struct texture_drawing drawing = {
        .asking = choose_asking(number), .tint = tint, .plan = picture != 0, .frame = number};
    texture_camera_place(&drawing.camera, flight->stream.texture, flight->options->width,
                         number < flight->frame_count ? number : flight->frame_count - 1,
                         flight->frame_count);
    if (picture != 0) {
        keep_picture(state, slot, &drawing, picture - 1);
    }
    return texture_view_record(&flight->view, slot, &drawing, state->kept_levels[slot],
                               flight->stream.level_count) &&
           submit_frame(state, slot, number, frame);
}

static bool read_figures(struct flight_state* state, struct texture_frame* frame)
{
    struct texture_flight* const flight = state->flight;
    MaarPagingStatistics* const paging = &flight->paging;
    MaarTileCacheInfo* const cache = &flight->cache;
    const MaarAllocator allocator = flight->device->allocator;
    if (!sample_succeeded(maarGetPagingStatistics(allocator, paging), "maarGetPagingStatistics") ||
        !sample_succeeded(maarGetTileCacheInfo(allocator, flight->stream.cache, cache),
                          "maarGetTileCacheInfo")) {
        return false;
    }
    frame->resident = paging->committedBytes;
    frame->held = paging->heldBytes;
    frame->blocks = paging->blockBytes;
    frame->visible_tiles = cache->lastHitCount;
    frame->wanted_tiles = cache->lastHitCount + cache->lastMissCount;
    frame->uploads = cache->lastUploadCount;
    frame->evictions = cache->lastEvictionCount;
    frame->binds = (uint32_t)(paging->pagesBound + paging->pagesUnbound - state->before.pagesBound -
                              state->before.pagesUnbound);
    frame->bind_submissions = (uint32_t)(paging->submissionCount - state->before.submissionCount);
    state->before = *paging;
    return true;
}

static uint32_t find_picture(const struct texture_flight* flight, uint32_t number)
{
    for (uint32_t i = 0; i + 1 < flight->picture_count; ++i) {
        if (flight->pictures[i].frame == number) {
            return i + 1;
        }
    }
    return 0;
}

static bool fly_frame(struct flight_state* state, uint32_t number)
{
    struct texture_flight* const flight = state->flight;
    struct texture_stream* const stream = &flight->stream;
    struct texture_frame* const frame = &flight->frames[number];
    const uint32_t slot = number % TEXTURE_FRAMES_IN_FLIGHT;
    const bool has_requests = number >= TEXTURE_FRAMES_IN_FLIGHT;
    const bool is_last = number + 1 == flight->frame_count;
    if (has_requests && !finish_frame(state, number - TEXTURE_FRAMES_IN_FLIGHT)) {
        return false;
    }
    const MaarPoint last_frame = {state->timeline, number};
    const bool stale = is_last && flight->options->plant == TEXTURE_PLANT_STALE;
    memcpy(state->kept_levels[slot], stream->levels, stream->level_count);
    const double began = support_seconds_now();
    if (!texture_stream_update(stream, has_requests ? flight->view.request_count : 0,
                               state->requests, stale ? flight->cache.pinnedSize : 0,
                               number != 0 ? &last_frame : NULL)) {
        return false;
    }
    double tiles = support_seconds_now() - began;
    if (!stale) {
        memcpy(state->kept_levels[slot], stream->levels, stream->level_count);
    }
    const bool waits = flight->options->plant == TEXTURE_PLANT_WAIT;
    if (!read_figures(state, frame) || (waits && !texture_stream_upload(stream)) ||
        !draw_frame(state, number, flight->options->tint, find_picture(flight, number), frame)) {
        return false;
    }
    const double drawn = support_seconds_now();
    if (!waits && !texture_stream_upload(stream)) {
        return false;
    }
    const double now = support_seconds_now();
    tiles += now - drawn;
    frame->tile_seconds = tiles;
    frame->seconds = number != 0 ? now - state->frame_began : 0.0;
    frame->submissions =
        1 + frame->bind_submissions + (uint32_t)(stream->value - state->uploads_before);
    state->uploads_before = stream->value;
    state->frame_began = now;
    return true;
}

/* Draws the last frame again from the same levels, coloured by level. */
static bool fly_again(struct flight_state* state)
{
    struct texture_flight* const flight = state->flight;
    const uint32_t count = flight->frame_count;
    struct texture_frame unused = {0};
    for (uint32_t i = count - TEXTURE_FRAMES_IN_FLIGHT; i < count; ++i) {
        if (!finish_frame(state, i)) {
            return false;
        }
    }
    const uint32_t slot = count % TEXTURE_FRAMES_IN_FLIGHT;
    memcpy(state->kept_levels[slot], state->kept_levels[(count - 1) % TEXTURE_FRAMES_IN_FLIGHT],
           flight->stream.level_count);
    if (!draw_frame(state, count, !flight->options->tint, flight->picture_count, &unused) ||
        !wait_for_frame(state, count)) {
        return false;
    }
    const struct texture_picture* const picture = &flight->pictures[flight->picture_count - 1];
    return texture_view_read(&flight->view, &flight->view.slots[slot].pixels, picture->pixels) &&
           texture_view_read(&flight->view, &flight->view.slots[slot].plans, picture->plans);
}

static void sum_up(struct texture_flight* flight)
{
    texture_stream_measure(&flight->stream);
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        struct texture_frame* const frame = &flight->frames[i];
        frame->device_seconds =
            texture_seconds_between(flight->device, flight->view.queries, 2 * i);
        flight->longest_tile_seconds = fmax(flight->longest_tile_seconds, frame->tile_seconds);
        flight->longest_device_seconds =
            fmax(flight->longest_device_seconds, frame->device_seconds);
        flight->over_budget += frame->resident + frame->held > flight->stream.budget;
        flight->waits += frame->waited;
    }
    const double most = fmax(flight->longest_device_seconds, LEAST_STALL);
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        flight->stalls += flight->frames[i].tile_seconds > most;
    }
    flight->stalls += flight->stream.longest_upload > most;
    flight->late += flight->stream.late_uploads;
}

static bool fly_all(struct flight_state* state)
{
    struct texture_flight* const flight = state->flight;
    const double began = support_seconds_now();
    state->before.sType = MAAR_STRUCTURE_TYPE_PAGING_STATISTICS;
    if (!sample_succeeded(maarGetPagingStatistics(flight->device->allocator, &state->before),
                          "maarGetPagingStatistics")) {
        return false;
    }
    state->uploads_before = flight->stream.value;
    double due = began;
    for (uint32_t i = 0; i < flight->frame_count; ++i) {
        wait_until(due);
        due = fmax(due, support_seconds_now() - 1.0 / (double)flight->options->rate) +
              1.0 / (double)flight->options->rate;
        if (!fly_frame(state, i)) {
            return false;
        }
    }
    flight->seconds = support_seconds_now() - began;
    return fly_again(state);
}

bool texture_flight_fly(struct texture_flight* flight)
{
    struct flight_state state = {.flight = flight};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    bool done =
        sample_succeeded(vkCreateSemaphore(flight->device->device, &info, NULL, &state.timeline),
                         "vkCreateSemaphore");
    state.requests = calloc(flight->view.request_count, sizeof(state.requests[0]));
    for (uint32_t i = 0; i < TEXTURE_FRAMES_IN_FLIGHT; ++i) {
        state.kept_levels[i] = malloc(flight->stream.level_count);
        done = done && state.kept_levels[i] != NULL;
    }
    done = done && state.requests != NULL && fly_all(&state);
    done = sample_succeeded(vkDeviceWaitIdle(flight->device->device), "vkDeviceWaitIdle") && done;
    if (done) {
        sum_up(flight);
    }
    for (uint32_t i = 0; i < TEXTURE_FRAMES_IN_FLIGHT; ++i) {
        free(state.kept_levels[i]);
    }
    free(state.requests);
    vkDestroySemaphore(flight->device->device, state.timeline, NULL);
    return done;
}
