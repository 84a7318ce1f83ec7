// A ball with the colours of an image and the heights of a buffer, lit from the upper left.
#version 450

layout(location = 0) in vec2 inAt;

layout(push_constant, std430) uniform Planet {
    vec4 place;
    vec4 air;
    uint grid;
} planet;

layout(set = 0, binding = 0) uniform sampler2D colours;
layout(set = 0, binding = 1, std430) readonly buffer Heights {
    float heights[];
};

layout(location = 0) out vec4 outColour;

const float PI = 3.14159265;

float heightAt(ivec2 cell)
{
    const int n = int(planet.grid);
    const ivec2 at = ivec2((cell.x % n + n) % n, clamp(cell.y, 0, n - 1));
    return heights[at.y * n + at.x];
}

// The slope to the east and to the north.
vec2 slopeAt(vec2 place)
{
    const vec2 scaled = place * float(planet.grid) - 0.5;
    const ivec2 cell = ivec2(floor(scaled));
    const vec2 part = scaled - vec2(cell);
    const float a = heightAt(cell);
    const float b = heightAt(cell + ivec2(1, 0));
    const float c = heightAt(cell + ivec2(0, 1));
    const float d = heightAt(cell + ivec2(1, 1));
    return vec2(mix(b - a, d - c, part.y), mix(c - a, d - b, part.x)) * float(planet.grid);
}

void main()
{
    const vec3 sun = normalize(vec3(-0.62, 0.55, 0.56));
    const float far = length(inAt);
    const float edge = fwidth(far);
    const vec3 outward = vec3(inAt.x, -inAt.y, sqrt(max(1.0 - far * far, 0.0)));
    const vec3 north = normalize(vec3(0.0, 1.0, 0.0) - outward * outward.y + vec3(0.0, 0.0, 1e-4));
    const vec3 east = cross(north, outward);
    const vec2 place = vec2(atan(outward.x, max(outward.z, 1e-3)) / (2.0 * PI) + planet.air.w,
                            asin(clamp(outward.y, -1.0, 1.0)) / PI + 0.5);

    const vec2 slope = slopeAt(place) * 0.055;
    const vec3 normal = normalize(outward - east * slope.x - north * slope.y);
    const float day = clamp(dot(outward, sun) * 3.0 + 0.35, 0.0, 1.0);
    const float light = max(dot(normal, sun), 0.0) * day + 0.025;
    const vec3 ground = texture(colours, place).rgb;
    const float haze = pow(1.0 - outward.z, 3.0) * (0.1 + 0.9 * day);
    const vec3 ball = mix(ground * ground * light * 1.35, planet.air.rgb * 0.8, haze * 0.8);

    // Air outside the edge is brighter on the side of the sun.
    const float side = clamp(dot(normalize(vec3(inAt.x, -inAt.y, 0.25)), sun) + 0.35, 0.0, 1.0);
    const float glow = exp(-max(far - 1.0, 0.0) * 22.0) * side * 0.55;
    const float inside = 1.0 - smoothstep(1.0 - edge, 1.0, far);
    const vec3 colour = mix(planet.air.rgb * glow, ball, inside);
    outColour = vec4(pow(colour, vec3(1.0 / 2.2)), inside);
}
