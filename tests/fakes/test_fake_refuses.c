/*
 * The FAKE CUDA driver does not run in a process that has a real one.
 */
#include "tests/fakes/fake_fixture.h"

static void init_without_real_driver_succeeds(void** state)
{
    struct maar_cuda_driver cuda;
    (void)state;
    const struct fake_control* control = fake_load_cuda(MAAR_FAKE_CUDA, &cuda);
    assert_int_equal(cuda.cuInit(0), MAAR_CUDA_SUCCESS);
    fake_expect_no_breach(control);
}

static void init_beside_real_driver_is_refused(void** state)
{
    struct maar_cuda_driver cuda;
    (void)state;
    const struct fake_control* control = fake_load_cuda(MAAR_FAKE_CUDA, &cuda);
    (void)fake_open_library(MAAR_PRETENDED_DRIVER);
    assert_int_equal(cuda.cuInit(0), MAAR_CUDA_NOT_PERMITTED);
    fake_expect_breach(control, "refuses to run: a real /libcuda.so is loaded");
    int count = -1;
    assert_int_equal(cuda.cuDeviceGetCount(&count), MAAR_CUDA_NOT_INITIALIZED);
    assert_int_equal(count, -1);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(init_without_real_driver_succeeds),
        cmocka_unit_test(init_beside_real_driver_is_refused),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
