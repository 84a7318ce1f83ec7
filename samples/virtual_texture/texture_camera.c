/*
 * The path of the flight; see texture_camera.h. The path has two parts with a jump between them. In
 * the last frames the camera hovers.
 */
#include "texture_camera.h"

#include <math.h>

#define JUMP_AT 0.6f
#define HALF_VIEW 0.5773503f /* tangent of half the angle from left to right: 60 degrees */
#define MAP 16384.0f         /* positions below are for a map of this size */

/* A point of the path. */
struct station {
    float time;
    float x, y, height;
    float heading; /* degrees, clockwise from north */
    float pitch;   /* degrees below the horizon */
};

static const struct station first_stretch[] = {{0.00f, 3000.0f, 8700.0f, 2600.0f, 28.0f, 36.0f},
                                               {0.15f, 3350.0f, 7900.0f, 1300.0f, 38.0f, 34.0f},
                                               {0.30f, 4000.0f, 7200.0f, 520.0f, 60.0f, 31.0f},
                                               {0.45f, 4900.0f, 6800.0f, 400.0f, 95.0f, 30.0f},
                                               {0.60f, 5700.0f, 6950.0f, 620.0f, 140.0f, 33.0f}};
static const struct station second_stretch[] = {{0.60f, 12300.0f, 15200.0f, 700.0f, -45.0f, 31.0f},
                                                {0.75f, 11700.0f, 14700.0f, 500.0f, -32.0f, 30.0f},
                                                {0.88f, 11050.0f, 14000.0f, 760.0f, -14.0f, 25.0f},
                                                {0.95f, 10700.0f, 13600.0f, 940.0f, -6.0f, 20.0f},
                                                {1.00f, 10680.0f, 13560.0f, 960.0f, -5.0f, 19.0f}};

static float between(float a, float b, float c, float d, float t)
{
    /* The curve of Catmull and Rom, which passes through b and c. */
    return b +
           0.5f * t *
               (c - a + t * (2.0f * a - 5.0f * b + 4.0f * c - d + t * (3.0f * (b - c) + d - a)));
}

static struct station station_at(float time)
{
    const struct station* const stations = time < JUMP_AT ? first_stretch : second_stretch;
    const int count = 5;
    int i = 0;
    while (i + 2 < count && stations[i + 1].time <= time) {
        ++i;
    }
    const struct station* const b = &stations[i];
    const struct station* const c = &stations[i + 1];
    const struct station* const a = i > 0 ? b - 1 : b;
    const struct station* const d = i + 2 < count ? c + 1 : c;
    const float t = (time - b->time) / (c->time - b->time);
    return (struct station){
        time,
        between(a->x, b->x, c->x, d->x, t),
        between(a->y, b->y, c->y, d->y, t),
        expf(between(logf(a->height), logf(b->height), logf(c->height), logf(d->height), t)),
        between(a->heading, b->heading, c->heading, d->heading, t),
        between(a->pitch, b->pitch, c->pitch, d->pitch, t)};
}

uint32_t texture_camera_jump(uint32_t frames)
{
    return (uint32_t)ceilf(JUMP_AT * (float)(frames - 1));
}

void texture_camera_place(struct texture_camera* camera, uint32_t texture, uint32_t width,
                          uint32_t frame, uint32_t frames)
{
    const struct station at = station_at(frame < texture_camera_jump(frames)
                                             ? (float)frame / (float)(frames - 1)
                                             : fmaxf((float)frame / (float)(frames - 1), JUMP_AT));
    const float radian = 0.01745329f;
    const float scale = (float)texture / MAP;
    const float pixel = 2.0f * HALF_VIEW / (float)width;
    const float sh = sinf(at.heading * radian);
    const float ch = cosf(at.heading * radian);
    const float sp = sinf(at.pitch * radian);
    const float cp = cosf(at.pitch * radian);
    *camera =
        (struct texture_camera){.eye = {at.x * scale, at.y * scale, at.height * scale, 0.0f},
                                .right = {ch * pixel, sh * pixel, 0.0f, 1.0f / (14000.0f * scale)},
                                .down = {-sp * sh * pixel, sp * ch * pixel, -cp * pixel, 0.0f},
                                .forward = {cp * sh, -cp * ch, -sp, 0.0f}};
}
