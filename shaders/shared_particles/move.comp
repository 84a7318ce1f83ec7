// Moves particles by one step, if the mover is a Vulkan device. The CUDA kernel in
// samples/shared_particles/move_particles.cu and the reference in particle_galaxy.c do the same.
#version 450

layout(local_size_x = 64, local_size_y = 1, local_size_z = 1) in;

struct Particle {
    vec4 place;    // xyz; w: brightness
    vec4 velocity; // xyz; w: the particle's own number in [0, 1)
};

layout(set = 0, binding = 0, std430) buffer Particles {
    Particle at[];
} particles;

layout(push_constant, std430) uniform Rules {
    uint count;
    float step;
    float mass;       // in the centre
    float softening;  // squared
    float halo;       // around the centre
    float haloCore;   // squared
    float flattening; // towards the plane
} rules;

void main()
{
    const uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x +
                   gl_GlobalInvocationID.x;
    if (i >= rules.count) {
        return;
    }
    vec3 place = particles.at[i].place.xyz;
    vec3 velocity = particles.at[i].velocity.xyz;
    const float squared = dot(place, place);
    const float near = squared + rules.softening;
    const float pull = rules.mass / (near * sqrt(near)) + rules.halo / (squared + rules.haloCore);
    velocity -= rules.step * (pull * place + vec3(0.0, 0.0, rules.flattening * place.z));
    place += rules.step * velocity;
    particles.at[i].place.xyz = place;
    particles.at[i].velocity.xyz = velocity;
}
