/*
 * Vectors and matrices of the deferred frame: right-handed, column-major, as in GLSL.
 */
#ifndef MAAR_SAMPLE_FRAME_MATH_H
#define MAAR_SAMPLE_FRAME_MATH_H

#define FRAME_PI 3.14159265f

struct vec3 {
    float x, y, z;
};

/* m[4 * column + row] */
struct mat4 {
    float m[16];
};

struct vec3 vec3_add(struct vec3 a, struct vec3 b);
struct vec3 vec3_scale(struct vec3 a, float by);
struct vec3 vec3_subtract(struct vec3 a, struct vec3 b);
struct vec3 vec3_cross(struct vec3 a, struct vec3 b);
float vec3_dot(struct vec3 a, struct vec3 b);
struct vec3 vec3_normalize(struct vec3 a);

struct mat4 mat4_multiply(const struct mat4* a, const struct mat4* b);

/* Returns the matrix from world to view: x to the right, y up, looking along -z. */
struct mat4 mat4_look(struct vec3 eye, struct vec3 forward, struct vec3 up);

/* Returns the inverse of a matrix that only rotates and translates. */
struct mat4 mat4_invert_rigid(const struct mat4* a);

/* Returns the matrix from view to clip space: y down, depth reversed, 1 at the near plane, 0 at
 * infinity. */
struct mat4 mat4_perspective(float scale_x, float scale_y, float near);

/* Returns the matrix from view to clip space for a box around the view's origin: depth 0 at `near`,
 * 1 at `far`. */
struct mat4 mat4_box(float half, float near, float far);

struct vec3 mat4_apply(const struct mat4* a, struct vec3 point);

/* Returns a number in [0, 1) that depends only on the argument. */
float frame_hash(unsigned seed);

#endif
