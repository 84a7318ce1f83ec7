/*
 * FAKES. What stands in for the kernels of samples and checks: the same work on the host.
 */
#include "samples/shared_particles/particle_galaxy.h"
#include "tests/fakes/fake_kernel.h"

#include <stddef.h>
#include <string.h>

#define OBJECT_EXPORT __attribute__((visibility("default")))
#define FAKE_DECLARE_KERNEL(name) extern OBJECT_EXPORT const struct fake_kernel fake_kernel_##name

/* The argument of a kernel: a value of a type, or the address on the device that it is. */
#define VALUE(type, index) (*(const type*)arguments[index])
#define ADDRESS(type, index) ((type*)(uintptr_t)VALUE(uint64_t, index))

/* ---- samples/shared_particles/move_particles.cu ---- */

static void run_move_particles(void* const* arguments, uint64_t thread_count)
{
    struct particle* particles = ADDRESS(struct particle, 0);
    const struct particle_rules rules = VALUE(struct particle_rules, 1);
    for (uint32_t i = 0; i < rules.count && i < thread_count; ++i) {
        particle_move(&rules, &particles[i], 1);
    }
}

FAKE_DECLARE_KERNEL(move_particles);
const struct fake_kernel fake_kernel_move_particles = {
    2, {8, sizeof(struct particle_rules)}, run_move_particles};

/* ---- tests/gpu/gpu_kernels.cu, whose kernels take as many turns as they need ---- */

static void run_copy_words(void* const* arguments, uint64_t thread_count)
{
    (void)thread_count;
    memcpy(ADDRESS(void, 0), ADDRESS(void, 1), VALUE(uint64_t, 2) * 16);
}

FAKE_DECLARE_KERNEL(gpu_copy_words);
const struct fake_kernel fake_kernel_gpu_copy_words = {3, {8, 8, 8}, run_copy_words};

static void run_saxpy(void* const* arguments, uint64_t thread_count)
{
    float* y = ADDRESS(float, 0);
    const float* x = ADDRESS(float, 1);
    const float a = VALUE(float, 2);
    (void)thread_count;
    for (uint64_t i = 0; i < 4 * VALUE(uint64_t, 3); ++i) {
        y[i] += a * x[i];
    }
}

FAKE_DECLARE_KERNEL(gpu_saxpy);
const struct fake_kernel fake_kernel_gpu_saxpy = {4, {8, 8, 4, 8}, run_saxpy};

static uint32_t pattern_word(uint64_t index, uint32_t round)
{
    return ((uint32_t)index * 2654435761u) ^ round;
}

static void run_write_words(void* const* arguments, uint64_t thread_count)
{
    uint32_t* words = ADDRESS(uint32_t, 0);
    (void)thread_count;
    for (uint64_t i = 0; i < VALUE(uint64_t, 2); ++i) {
        words[i] = pattern_word(i, VALUE(uint32_t, 1));
    }
}

FAKE_DECLARE_KERNEL(gpu_write_words);
const struct fake_kernel fake_kernel_gpu_write_words = {3, {8, 4, 8}, run_write_words};

static void run_count_words(void* const* arguments, uint64_t thread_count)
{
    const uint32_t* words = ADDRESS(const uint32_t, 0);
    uint64_t* matching = ADDRESS(uint64_t, 3);
    (void)thread_count;
    for (uint64_t i = 0; i < VALUE(uint64_t, 2); ++i) {
        *matching += words[i] == pattern_word(i, VALUE(uint32_t, 1)) ? 1 : 0;
    }
}

FAKE_DECLARE_KERNEL(gpu_count_words);
const struct fake_kernel fake_kernel_gpu_count_words = {4, {8, 4, 8, 8}, run_count_words};

static void run_touch(void* const* arguments, uint64_t thread_count)
{
    (void)thread_count;
    ++*ADDRESS(uint32_t, 0);
}

FAKE_DECLARE_KERNEL(gpu_touch);
const struct fake_kernel fake_kernel_gpu_touch = {1, {8}, run_touch};
