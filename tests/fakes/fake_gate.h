/*
 * FAKES. A host function that keeps a stream busy until a test lets it go on.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_GATE_H
#define MAAR_TESTS_FAKES_FAKE_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct fake_gate {
    pthread_mutex_t mutex;
    pthread_cond_t opened;
    bool is_open;
};

#define FAKE_GATE_CLOSED                                                                           \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false                                 \
    }

static inline void fake_wait_at_gate(void* data)
{
    struct fake_gate* gate = data;
    (void)pthread_mutex_lock(&gate->mutex);
    while (!gate->is_open) {
        (void)pthread_cond_wait(&gate->opened, &gate->mutex);
    }
    (void)pthread_mutex_unlock(&gate->mutex);
}

static inline void fake_open_gate(struct fake_gate* gate)
{
    (void)pthread_mutex_lock(&gate->mutex);
    gate->is_open = true;
    (void)pthread_cond_broadcast(&gate->opened);
    (void)pthread_mutex_unlock(&gate->mutex);
}

#endif
