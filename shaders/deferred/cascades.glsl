// The sun's shadow: the choice of a cascade for a place, and a tap into it.

layout(set = 1, binding = 0) uniform sampler2DShadow cascade0;
layout(set = 1, binding = 1) uniform sampler2DShadow cascade1;
layout(set = 1, binding = 2) uniform sampler2DShadow cascade2;
layout(set = 1, binding = 3) uniform sampler2DShadow cascade3;

int cascadeOf(float viewDepth)
{
    return viewDepth < frame.cascadeEnds.x   ? 0
           : viewDepth < frame.cascadeEnds.y ? 1
           : viewDepth < frame.cascadeEnds.z ? 2
                                             : 3;
}

float shadowTap(int cascade, vec3 place)
{
    switch (cascade) {
    case 0:
        return textureLod(cascade0, place, 0.0);
    case 1:
        return textureLod(cascade1, place, 0.0);
    case 2:
        return textureLod(cascade2, place, 0.0);
    default:
        return textureLod(cascade3, place, 0.0);
    }
}

vec3 placeInCascade(int cascade, vec3 world)
{
    const vec4 clip = frame.cascades[cascade] * vec4(world, 1.0);
    return vec3(clip.xy * 0.5 + 0.5, clip.z);
}
