/*
 * Vectors and matrices; see frame_math.h.
 */
#include "frame_math.h"

#include <math.h>

struct vec3 vec3_add(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

struct vec3 vec3_scale(struct vec3 a, float by)
{
    return (struct vec3){a.x * by, a.y * by, a.z * by};
}

struct vec3 vec3_subtract(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

struct vec3 vec3_cross(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

float vec3_dot(struct vec3 a, struct vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct vec3 vec3_normalize(struct vec3 a)
{
    const float length = sqrtf(vec3_dot(a, a));
    return length > 0.0f ? vec3_scale(a, 1.0f / length) : (struct vec3){0.0f, 1.0f, 0.0f};
}

struct mat4 mat4_multiply(const struct mat4* a, const struct mat4* b)
{
    struct mat4 result;
    for (int column = 0; column < 4; ++column) {
        for (int row = 0; row < 4; ++row) {
            float sum = 0.0f;
            for (int i = 0; i < 4; ++i) {
                sum += a->m[4 * i + row] * b->m[4 * column + i];
            }
            result.m[4 * column + row] = sum;
        }
    }
    return result;
}

struct mat4 mat4_look(struct vec3 eye, struct vec3 forward, struct vec3 up)
{
    const struct vec3 back = vec3_scale(vec3_normalize(forward), -1.0f);
    const struct vec3 right = vec3_normalize(vec3_cross(up, back));
    const struct vec3 above = vec3_cross(back, right);
    return (struct mat4){{right.x, above.x, back.x, 0.0f, right.y, above.y, back.y, 0.0f, right.z,
                          above.z, back.z, 0.0f, -vec3_dot(right, eye), -vec3_dot(above, eye),
                          -vec3_dot(back, eye), 1.0f}};
}

struct mat4 mat4_invert_rigid(const struct mat4* a)
{
    struct mat4 result = {{0}};
    for (int column = 0; column < 3; ++column) {
        for (int row = 0; row < 3; ++row) {
            result.m[4 * column + row] = a->m[4 * row + column];
            result.m[12 + row] -= a->m[4 * row + column] * a->m[12 + column];
        }
    }
    result.m[15] = 1.0f;
    return result;
}

struct mat4 mat4_perspective(float scale_x, float scale_y, float near)
{
    struct mat4 result = {{0}};
    result.m[0] = scale_x;
    result.m[5] = -scale_y;
    result.m[11] = -1.0f;
    result.m[14] = near;
    return result;
}

struct mat4 mat4_box(float half, float near, float far)
{
    struct mat4 result = {{0}};
    result.m[0] = 1.0f / half;
    result.m[5] = -1.0f / half;
    result.m[10] = -1.0f / (far - near);
    result.m[14] = -near / (far - near);
    result.m[15] = 1.0f;
    return result;
}

struct vec3 mat4_apply(const struct mat4* a, struct vec3 point)
{
    const float* const m = a->m;
    return (struct vec3){m[0] * point.x + m[4] * point.y + m[8] * point.z + m[12],
                         m[1] * point.x + m[5] * point.y + m[9] * point.z + m[13],
                         m[2] * point.x + m[6] * point.y + m[10] * point.z + m[14]};
}

float frame_hash(unsigned seed)
{
    unsigned x = seed * 0x9E3779B9u + 0x7F4A7C15u;
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return (float)((x ^ (x >> 16)) >> 8) / 16777216.0f;
}
