/*
 * Ends out of order, over the FAKE CUDA driver and a simulated device: what a stream still has to
 * do when what it is for is destroyed. Nothing of this says anything about a GPU.
 */
#include "tests/interop/cuda_fixture.h"

#include <pthread.h>

/* A host function that keeps a stream busy until it is let go. */
struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool is_open;
};

static void MAAR_CUDA_CALL wait_at_gate(void* data)
{
    struct gate* gate = data;
    (void)pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open) {
        (void)pthread_cond_wait(&gate->opened, &gate->mutex);
    }
    (void)pthread_mutex_unlock(&gate->mutex);
}

static void open_gate(struct gate* gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    (void)pthread_cond_broadcast(&gate->opened);
    (void)pthread_mutex_unlock(&gate->mutex);
}

/* The host carries a signal over on CUDA's thread, which needs the timeline and all behind it. */
static void signal_that_comes_late_finds_all_it_needs(void** state)
{
    static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct cuda_desk desk;
    struct maar_cuda_stream* stream = NULL;
    MaarCudaTimeline timeline = VK_NULL_HANDLE;
    const MaarCudaTimelineCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_CUDA_TIMELINE_CREATE_INFO,
        .mode = MAAR_HANDOFF_MODE_HOST,
    };
    (void)state;
    cuda_desk_start(&desk, NULL);
    void* const context = cuda_desk_cuda_info(&desk).pContext;
    assert_int_equal(desk.driver.cuCtxPushCurrent(context), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk.driver.cuStreamCreate(&stream, MAAR_CUDA_STREAM_NON_BLOCKING),
                     MAAR_CUDA_SUCCESS);
    assert_int_equal(maarCreateCudaTimeline(desk.cuda, &info, &timeline), VK_SUCCESS);
    assert_int_equal(desk.driver.cuLaunchHostFunc(stream, wait_at_gate, &gate), MAAR_CUDA_SUCCESS);
    assert_int_equal(maarCudaSignal(timeline, 1, stream), VK_SUCCESS);
    maarDestroyCudaTimeline(timeline);
    rig_expect_message(&desk.rig, "has not come within 5 seconds");
    maarDestroyCuda(desk.cuda);
    rig_expect_message(&desk.rig, "maarDestroyCuda: 1 timelines, images or ranges made of it");
    open_gate(&gate);
    assert_int_equal(desk.driver.cuStreamSynchronize(stream), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk.driver.cuStreamDestroy(stream), MAAR_CUDA_SUCCESS);
    assert_int_equal(desk.driver.cuCtxPopCurrent(&(struct maar_cuda_context*){0}),
                     MAAR_CUDA_SUCCESS);
    rig_forget_messages(&desk.rig);
    cuda_desk_close(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signal_that_comes_late_finds_all_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
