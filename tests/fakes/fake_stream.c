/*
 * FAKES. Streams, each a thread that does one operation after the other, and events.
 */
#include "tests/fakes/fake_device.h"

#include <stdlib.h>
#include <string.h>

/* ---- on a stream's thread ---- */

static void copy_now(const struct fake_operation* operation)
{
    if (operation->target_is_device &&
        !fake_check_span(operation->target, operation->size, "what a stream writes")) {
        return;
    }
    if (operation->source_is_device &&
        !fake_check_span(operation->source, operation->size, "what a stream reads")) {
        return;
    }
    memmove(operation->target, operation->source, operation->size);
}

static void set_now(const struct fake_operation* operation)
{
    if (!fake_check_span(operation->target, operation->size, "what a stream writes")) {
        return;
    }
    if (operation->kind == FAKE_SET_BYTES) {
        memset(operation->target, (int)operation->pattern, operation->size);
        return;
    }
    for (size_t i = 0; i < operation->size / sizeof operation->pattern; ++i) {
        memcpy((char*)operation->target + i * sizeof operation->pattern, &operation->pattern,
               sizeof operation->pattern);
    }
}

static void call_now(const struct fake_operation* operation)
{
    (void)pthread_mutex_unlock(&fake.mutex);
    fake_set_in_host_function(true);
    operation->function(operation->data);
    fake_set_in_host_function(false);
    (void)pthread_mutex_lock(&fake.mutex);
}

static void wait_event_now(const struct fake_operation* operation)
{
    const uint64_t abandoned = fake.waits_abandoned;
    while (operation->event->done < operation->value) {
        if (fake.waits_abandoned != abandoned) {
            (void)fake_breach(0, "a stream waits for an event for ever");
            return;
        }
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    }
}

static void execute(struct fake_operation* operation)
{
    switch (operation->kind) {
    case FAKE_COPY:
        copy_now(operation);
        break;
    case FAKE_SET_BYTES:
    case FAKE_SET_WORDS:
        set_now(operation);
        break;
    case FAKE_CALL:
        call_now(operation);
        break;
    case FAKE_SIGNAL:
        fake_signal_semaphore(operation->semaphore, operation->value);
        break;
    case FAKE_WAIT:
        fake_wait_semaphore(operation->semaphore, operation->value);
        break;
    case FAKE_RECORD:
        operation->event->done = operation->value;
        break;
    case FAKE_WAIT_EVENT:
        wait_event_now(operation);
        break;
    }
}

static void* run_stream(void* data)
{
    struct fake_stream* stream = data;
    (void)pthread_mutex_lock(&fake.mutex);
    while (!stream->quit || stream->first != NULL) {
        struct fake_operation* operation = stream->first;
        if (operation == NULL) {
            (void)pthread_cond_wait(&fake.changed, &fake.mutex);
            continue;
        }
        if (!fake.giving_up) {
            execute(operation);
        }
        stream->first = operation->next;
        stream->last = stream->first != NULL ? stream->last : NULL;
        --stream->pending;
        free(operation);
        (void)pthread_cond_broadcast(&fake.changed);
    }
    (void)pthread_mutex_unlock(&fake.mutex);
    return NULL;
}

/* ---- streams ---- */

static struct fake_stream* make_stream(bool unlisted)
{
    struct fake_stream* stream = fake_make(FAKE_KIND_STREAM, sizeof *stream);
    stream->object.unlisted = unlisted;
    stream->started = pthread_create(&stream->thread, NULL, run_stream, stream) == 0;
    return stream;
}

int fake_create_stream(unsigned int flags, struct fake_stream** stream)
{
    if ((flags & ~(unsigned int)MAAR_CUDA_STREAM_NON_BLOCKING) != 0) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "flags 0x%x are unknown", flags);
    }
    *stream = make_stream(false);
    if (!(*stream)->started) {
        (*stream)->object.dead = true;
        *stream = NULL;
        return MAAR_CUDA_OUT_OF_MEMORY;
    }
    return MAAR_CUDA_SUCCESS;
}

struct fake_stream* fake_get_stream(void* handle)
{
    struct fake_context* context = fake_current();
    if (handle == NULL) {
        if (context->default_stream == NULL) {
            context->default_stream = make_stream(true);
        }
        return context->default_stream;
    }
    return fake_check_object(handle, FAKE_KIND_STREAM, "the stream", false) ? handle : NULL;
}

/* Gives the lock back while it waits for the thread. */
static void join(struct fake_stream* stream)
{
    if (stream->started && !stream->joined) {
        stream->joined = true;
        (void)pthread_cond_broadcast(&fake.changed);
        (void)pthread_mutex_unlock(&fake.mutex);
        (void)pthread_join(stream->thread, NULL);
        (void)pthread_mutex_lock(&fake.mutex);
    }
}

int fake_destroy_stream(struct fake_stream* stream)
{
    if (stream->object.unlisted) {
        return fake_breach(MAAR_CUDA_INVALID_HANDLE, "the default stream cannot be destroyed");
    }
    stream->object.dead = true;
    stream->quit = true;
    if (stream->pending == 0) {
        join(stream);
    }
    (void)pthread_cond_broadcast(&fake.changed);
    return MAAR_CUDA_SUCCESS;
}

void fake_join_streams(void)
{
    for (struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        if (at->kind == FAKE_KIND_STREAM) {
            ((struct fake_stream*)at)->quit = true;
            join((struct fake_stream*)at);
        }
    }
}

int fake_synchronize_stream(struct fake_stream* stream)
{
    while (stream->pending != 0) {
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    }
    return MAAR_CUDA_SUCCESS;
}

int fake_synchronize_context(void)
{
    for (struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        if (at->kind == FAKE_KIND_STREAM && at->context == fake_current()) {
            (void)fake_synchronize_stream((struct fake_stream*)at);
        }
    }
    return MAAR_CUDA_SUCCESS;
}

int fake_query_stream(struct fake_stream* stream)
{
    return stream->pending != 0 ? MAAR_CUDA_NOT_READY : MAAR_CUDA_SUCCESS;
}

int fake_queue(struct fake_stream* stream, const struct fake_operation* operation)
{
    struct fake_operation* copy = malloc(sizeof *copy);
    if (copy == NULL) {
        abort();
    }
    *copy = *operation;
    copy->next = NULL;
    if (stream->last != NULL) {
        stream->last->next = copy;
    } else {
        stream->first = copy;
    }
    stream->last = copy;
    ++stream->pending;
    (void)pthread_cond_broadcast(&fake.changed);
    return MAAR_CUDA_SUCCESS;
}

/* ---- events ---- */

int fake_create_event(unsigned int flags, struct fake_event** event)
{
    if (flags > 0x7) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "flags 0x%x are unknown", flags);
    }
    *event = fake_make(FAKE_KIND_EVENT, sizeof **event);
    return MAAR_CUDA_SUCCESS;
}

int fake_record_event(struct fake_event* event, struct fake_stream* stream)
{
    const struct fake_operation operation = {
        .kind = FAKE_RECORD, .event = event, .value = ++event->recorded};
    return fake_queue(stream, &operation);
}

int fake_wait_event(struct fake_stream* stream, struct fake_event* event)
{
    const struct fake_operation operation = {
        .kind = FAKE_WAIT_EVENT, .event = event, .value = event->recorded};
    return fake_queue(stream, &operation);
}

int fake_query_event(struct fake_event* event)
{
    return event->done < event->recorded ? MAAR_CUDA_NOT_READY : MAAR_CUDA_SUCCESS;
}

int fake_synchronize_event(struct fake_event* event)
{
    const uint64_t target = event->recorded;
    while (event->done < target) {
        (void)pthread_cond_wait(&fake.changed, &fake.mutex);
    }
    return MAAR_CUDA_SUCCESS;
}

int fake_destroy_event(struct fake_event* event)
{
    event->object.dead = true;
    return MAAR_CUDA_SUCCESS;
}
