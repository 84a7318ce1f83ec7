// The common part of the deferred frame's shaders: the frame's constants, and the conversions
// between pixels and the world. Depth is reversed, 1 at the near plane and 0 at infinity, so that
// view depth is near / depth.

struct Light {
    vec4 positionRadius;
    vec4 color;
};

struct Instance {
    vec4 rows[3];           // object to world
    vec4 albedoRoughness;
    vec4 emissiveMetalness;
    vec4 motion;            // height of bobbing, phase, pattern, seed
};

const int cascadeCount = 4;
const int maxLights = 64;

layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 viewProjection; // jittered
    mat4 steadyViewProjection;
    mat4 previousViewProjection; // without jitter
    mat4 view;
    mat4 inverseView;
    mat4 cascades[cascadeCount];
    vec4 cascadeEnds;     // view depths
    vec4 cascadeTexels;   // metres
    vec4 projection;      // scale x, scale y, near, 0
    vec4 jitter;          // this frame's, in clip units
    vec4 sunDirection;    // towards the sun
    vec4 sunColor;
    vec4 size;            // width, height, and their reciprocals
    vec4 times;           // now, previous frame, number of the frame, 1 with a history
    vec4 counts;          // lights, tiles in a row
    Light lights[maxLights];
} frame;

layout(set = 0, binding = 1) uniform sampler2D noiseTexture;

layout(push_constant, std430) uniform Pass {
    vec4 size;       // of the output: width, height, and their reciprocals
    vec4 parameters; // the pass's own
} pass;

const float pi = 3.14159265;

vec3 viewFromDepth(vec2 uv, float viewDepth)
{
    const vec2 clip = uv * 2.0 - 1.0 - frame.jitter.xy;
    return vec3(clip / frame.projection.xy * viewDepth, -viewDepth);
}

vec3 worldFromView(vec3 position)
{
    return (frame.inverseView * vec4(position, 1.0)).xyz;
}

float linearDepth(float depth)
{
    return frame.projection.z / max(depth, 1e-7);
}

vec2 octahedralWrap(vec2 v)
{
    return (1.0 - abs(v.yx)) * vec2(v.x >= 0.0 ? 1.0 : -1.0, v.y >= 0.0 ? 1.0 : -1.0);
}

vec2 packNormal(vec3 n)
{
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    return n.z >= 0.0 ? n.xy : octahedralWrap(n.xy);
}

vec3 unpackNormal(vec2 packed)
{
    vec3 n = vec3(packed, 1.0 - abs(packed.x) - abs(packed.y));
    if (n.z < 0.0) {
        n.xy = octahedralWrap(n.xy);
    }
    return normalize(n);
}

// Returns noise that differs strongly between neighbours and between frames.
float interleavedNoise(vec2 pixel)
{
    const vec2 moved = pixel + 5.588238 * mod(frame.times.z, 64.0);
    return fract(52.9829189 * fract(dot(moved, vec2(0.06711056, 0.00583715))));
}

float luminance(vec3 color)
{
    return dot(color, vec3(0.2126, 0.7152, 0.0722));
}
