/*
 * A galaxy without gravity between its stars. The stars turn in a constant potential. Therefore no
 * star influences another, and rounding errors do not grow. See particle_galaxy.h.
 */
#include "particle_galaxy.h"

#include <math.h>

#define TURN 6.28318530718

/* A random generator with a state for each particle, so that its numbers do not depend on other
 * particles. */
static double next_random(uint64_t* state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return (double)(x >> 11) / 9007199254740992.0;
}

/* Returns a nearly normal number: the sum of four uniform ones. */
static double next_spread(uint64_t* state)
{
    double sum = -2.0;
    for (int i = 0; i < 4; ++i) {
        sum += next_random(state);
    }
    return sum * 1.7320508;
}

struct particle_rules particle_rules_make(uint32_t count)
{
    return (struct particle_rules){
        .count = count,
        .step = 0.0095f,
        .mass = 0.5f,
        .softening = 0.0225f,
        .halo = 0.0625f,
        .halo_core = 0.25f,
        .flattening = 3.0f,
    };
}

static double pull_at(const struct particle_rules* rules, double squared)
{
    const double near = squared + (double)rules->softening;
    return (double)rules->mass / (near * sqrt(near)) +
           (double)rules->halo / (squared + (double)rules->halo_core);
}

/* Places a particle on a circle around the centre, with a small deviation. */
static void place_in_disc(const struct particle_rules* rules, uint64_t* state, double spoke,
                          struct particle* particle)
{
    const double far = 1.0 - exp(-1.75 / 0.55);
    const double radius = 0.04 - 0.55 * log(1.0 - next_random(state) * far);
    const double narrow = 0.07 / (0.25 + radius) + 0.05;
    const double angle = spoke >= 0.0 ? spoke + narrow * next_spread(state) - 0.35 * radius
                                      : TURN * next_random(state);
    const double speed = radius * sqrt(pull_at(rules, radius * radius));
    const double unrest = 0.025;
    particle->place[0] = (float)(radius * cos(angle));
    particle->place[1] = (float)(radius * sin(angle));
    particle->place[2] = (float)(0.022 * next_spread(state));
    particle->velocity[0] = (float)(-speed * sin(angle) + unrest * next_spread(state));
    particle->velocity[1] = (float)(speed * cos(angle) + unrest * next_spread(state));
    particle->velocity[2] = (float)(unrest * next_spread(state));
}

/* Places a particle in a sphere, where each particle has its own plane. */
static void place_in_bulge(const struct particle_rules* rules, uint64_t* state,
                           struct particle* particle)
{
    double place[3];
    double other[3];
    double squared = 0.0;
    double along = 0.0;
    for (int i = 0; i < 3; ++i) {
        place[i] = 0.085 * next_spread(state) * (i == 2 ? 0.7 : 1.0);
        other[i] = next_spread(state);
        squared += place[i] * place[i];
        along += place[i] * other[i];
    }
    double length = 0.0;
    for (int i = 0; i < 3; ++i) {
        other[i] -= along / (squared + 1e-9) * place[i];
        length += other[i] * other[i];
    }
    const double speed = 0.9 * sqrt(squared * pull_at(rules, squared) / (length + 1e-9));
    for (int i = 0; i < 3; ++i) {
        particle->place[i] = (float)place[i];
        particle->velocity[i] = (float)(speed * other[i]);
    }
}

void particle_galaxy_fill(const struct particle_rules* rules, struct particle* particles)
{
    for (uint32_t i = 0; i < rules->count; ++i) {
        uint64_t state = (uint64_t)i << 20;
        const double kind = next_random(&state);
        struct particle* const particle = &particles[i];
        if (kind < 0.74) {
            place_in_disc(rules, &state, TURN / 4.0 * (double)(i % 4), particle);
        } else if (kind < 0.91) {
            place_in_disc(rules, &state, -1.0, particle);
        } else {
            place_in_bulge(rules, &state, particle);
        }
        particle->glow = (float)(0.35 + 1.3 * pow(next_random(&state), 3.0));
        particle->number = (float)next_random(&state);
    }
}

void particle_move(const struct particle_rules* rules, struct particle* particle, uint32_t steps)
{
    float* const place = particle->place;
    float* const velocity = particle->velocity;
    for (uint32_t step = 0; step < steps; ++step) {
        const float squared = place[0] * place[0] + place[1] * place[1] + place[2] * place[2];
        const float near = squared + rules->softening;
        const float pull =
            rules->mass / (near * sqrtf(near)) + rules->halo / (squared + rules->halo_core);
        for (int i = 0; i < 3; ++i) {
            const float down = i == 2 ? rules->flattening * place[2] : 0.0f;
            velocity[i] -= rules->step * (pull * place[i] + down);
        }
        for (int i = 0; i < 3; ++i) {
            place[i] += rules->step * velocity[i];
        }
    }
}

static double distance_of(const struct particle* a, const struct particle* b)
{
    double squared = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double apart = (double)a->place[i] - (double)b->place[i];
        squared += apart * apart;
    }
    return sqrt(squared);
}

void particle_galaxy_compare(const struct particle_rules* rules, struct particle* reference,
                             const struct particle* moved, uint32_t steps,
                             struct particle_comparison* comparison)
{
    *comparison = (struct particle_comparison){.shortest_step = HUGE_VAL};
    for (uint32_t i = 0; i < rules->count; ++i) {
        particle_move(rules, &reference[i], steps > 0 ? steps - 1 : 0);
        struct particle last = reference[i];
        particle_move(rules, &last, steps > 0 ? 1 : 0);
        const double off = distance_of(&last, &moved[i]);
        const double step = distance_of(&last, &reference[i]);
        comparison->lost += isnan(off) ? 1 : 0;
        comparison->furthest_off = off > comparison->furthest_off ? off : comparison->furthest_off;
        comparison->shortest_step =
            step < comparison->shortest_step ? step : comparison->shortest_step;
    }
}
