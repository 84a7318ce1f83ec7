// The common part of the two passes that draw the scene.

layout(set = 0, binding = 2, std430) readonly buffer Instances {
    Instance instances[];
};

vec3 placeInWorld(Instance instance, vec3 position, float time)
{
    const vec4 p = vec4(position, 1.0);
    vec3 world = vec3(dot(instance.rows[0], p), dot(instance.rows[1], p), dot(instance.rows[2], p));
    world.y += instance.motion.x * sin(time * 1.7 + instance.motion.y);
    return world;
}
