// Draws a particle as a soft point. The colour shows the speed: from blue, slow, through violet and
// amber to white.
#version 450

layout(location = 0) in vec4 place;
layout(location = 1) in vec4 velocity;

layout(push_constant, std430) uniform Camera {
    vec4 right;   // w: distance of the eye
    vec4 up;      // w: ratio of the picture's height to half the visible height at distance one
    vec4 forward; // w: a particle's light
    vec4 picture; // width and height in pixels, slowest and fastest speed
} camera;

layout(location = 0) out vec3 colour;

vec3 colourOf(float heat)
{
    const vec3 steps[5] = vec3[](vec3(0.10, 0.30, 1.00), vec3(0.36, 0.26, 1.15),
                                 vec3(0.88, 0.24, 0.55), vec3(1.00, 0.58, 0.18),
                                 vec3(1.00, 0.93, 0.74));
    const float at = clamp(heat, 0.0, 1.0) * 4.0;
    const int below = min(int(at), 3);
    return mix(steps[below], steps[below + 1], at - float(below));
}

void main()
{
    const float depth = camera.right.w + dot(place.xyz, camera.forward.xyz);
    const vec2 seen = vec2(dot(place.xyz, camera.right.xyz), -dot(place.xyz, camera.up.xyz));
    const float scale = camera.up.w / depth;
    gl_Position = vec4(seen * scale * vec2(camera.picture.y / camera.picture.x, 1.0), 0.5, 1.0);

    // A few particles are giants with a glow.
    const bool giant = velocity.w < 0.0016;
    const float nearness = camera.right.w / depth * camera.picture.y / 720.0;
    gl_PointSize = (giant ? 8.0 : 2.4) * nearness;

    const float heat = (length(velocity.xyz) - camera.picture.z) /
                       (camera.picture.w - camera.picture.z);
    colour = colourOf(heat) * place.w * camera.forward.w;
    if (giant) {
        colour = mix(colour, vec3(0.7, 0.85, 1.0) * camera.forward.w, 0.35) * 16.0;
    }
}
