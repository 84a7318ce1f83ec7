/*
 * FAKES. What the tests that use them share: opening them as Maar opens the real ones, and looking
 * at breaches.
 *
 * MAAR_FAKE_CUDA, MAAR_FAKE_CUDA_OLD and MAAR_FAKE_HIP are the libraries' paths: maar_add_fake_test
 * defines them.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_FIXTURE_H
#define MAAR_TESTS_FAKES_FAKE_FIXTURE_H

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "interop/cuda/cuda_driver.h"
#include "interop/hip/hip_runtime.h"
#include "tests/fakes/fake_control.h"
#include "tests/fakes/fake_file.h"
#include "tests/rig/rig.h"

static inline void fake_find(void* library, const char* symbol, void* pointer)
{
    void* found = dlsym(library, symbol);
    memcpy(pointer, &found, sizeof found);
}

static inline void* fake_open_library(const char* path)
{
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fail_msg("%s", dlerror());
    }
    return library;
}

/* The FAKE driver's entry points; those that it lacks are NULL. */
static inline const struct fake_control* fake_load_cuda(const char* path,
                                                        struct maar_cuda_driver* cuda)
{
    void* library = fake_open_library(path);
    fake_is_a_fake_fn is_a_fake = NULL;
    memset(cuda, 0, sizeof *cuda);
#define FAKE_LOAD(name, symbol, parameters) fake_find(library, #symbol, &cuda->name);
    MAAR_CUDA_FUNCTIONS(FAKE_LOAD)
    MAAR_CUDA_OPTIONAL_FUNCTIONS(FAKE_LOAD)
#undef FAKE_LOAD
    fake_find(library, "maar_fake_cuda_is_a_fake", &is_a_fake);
    if (is_a_fake == NULL) {
        fail_msg("%s does not say that it is a FAKE", path);
        return NULL;
    }
    is_a_fake()->reset();
    return is_a_fake();
}

static inline const struct fake_control* fake_load_hip(const char* path,
                                                       struct maar_hip_runtime* hip)
{
    void* library = fake_open_library(path);
    fake_is_a_fake_fn is_a_fake = NULL;
    memset(hip, 0, sizeof *hip);
#define FAKE_LOAD(result, name, parameters) fake_find(library, #name, &hip->name);
    MAAR_HIP_FUNCTIONS(FAKE_LOAD)
    MAAR_HIP_OPTIONAL_FUNCTIONS(FAKE_LOAD)
#undef FAKE_LOAD
    fake_find(library, "maar_fake_hip_is_a_fake", &is_a_fake);
    if (is_a_fake == NULL) {
        fail_msg("%s does not say that it is a FAKE", path);
        return NULL;
    }
    is_a_fake()->reset();
    return is_a_fake();
}

static inline void fake_expect_no_breach(const struct fake_control* control)
{
    if (control->breach_count() != 0) {
        fail_msg("%u rules were broken, the first: %s", (unsigned)control->breach_count(),
                 control->breach(0));
    }
}

/* One rule was broken since the last look, in these words. */
static inline void fake_expect_breach(const struct fake_control* control, const char* words)
{
    if (control->breach_count() != 1 || strstr(control->breach(0), words) == NULL) {
        fail_msg("%u rules were broken, the first: \"%s\"; expected \"%s\"",
                 (unsigned)control->breach_count(), control->breach(0), words);
    }
    control->forget_breaches();
}

/* Nothing is left, and no rule was broken. */
static inline void fake_expect_clean_end(const struct fake_control* control)
{
    control->expect_nothing_alive();
    fake_expect_no_breach(control);
}

static inline bool fake_is_open(int fd)
{
    return fcntl(fd, F_GETFD) != -1;
}

#endif
