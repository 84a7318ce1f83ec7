/*
 * Vector clocks of queues and of the host. A timeline remembers its last signals, so that a wait
 * for a value learns what the first signal that reached it carried, and not more.
 */
#include "backends/simulated/sim_known.h"

#include "backends/simulated/sim_check.h"

#include <string.h>

/* What a look at a semaphore or fence takes of the host's virtual time: about a call of a driver.
 */
static const uint64_t sim_look_ns = 500;

bool sim_checks_synchronization(const struct sim_gpu* gpu)
{
    const MaarSimulatedFlags needed =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT;
    return (gpu->flags & needed) == needed;
}

bool sim_tracks_order(const struct sim_gpu* gpu)
{
    return sim_checks_synchronization(gpu) ||
           (gpu->time_is_on && (gpu->flags & MAAR_SIMULATED_EXECUTE_BIT) != 0);
}

uint32_t sim_queue_number(const struct sim_queue* queue)
{
    return (uint32_t)(queue - queue->device->queues);
}

struct sim_order* sim_order_of(struct sim_device* device)
{
    if (!sim_tracks_order(device->gpu)) {
        return NULL;
    }
    if (device->order == NULL) {
        device->order = sim_pages_map(sizeof(*device->order));
    }
    return device->order;
}

static void sim_known_join(struct sim_known* into, const struct sim_known* from)
{
    for (uint32_t i = 0; i < SIM_TRACKED_QUEUES; i++) {
        into->of[i] = from->of[i] > into->of[i] ? from->of[i] : into->of[i];
    }
    into->time = from->time > into->time ? from->time : into->time;
}

/* Learns what the first signal that reached a value carried. */
static void sim_known_learn(struct sim_known* into, const struct sim_signal* signal, uint64_t value)
{
    const struct sim_news* news = signal->news;
    for (uint32_t i = 0; news != NULL && i < news->count; i++) {
        if (news->entries[i].value >= value) {
            sim_known_join(into, &news->entries[i].known);
            return;
        }
    }
}

/* Forgets the older half of what a timeline carried. */
static void sim_news_halve(struct sim_news* news, uint64_t now)
{
    enum { HALF = SIM_NEWS_VALUES / 2 };
    for (uint32_t i = 0; i < HALF && news->entries[i].known.time <= now; i++) {
        news->seen = news->entries[i].value;
    }
    memmove(&news->entries[0], &news->entries[HALF],
            (SIM_NEWS_VALUES - HALF) * sizeof(news->entries[0]));
    news->count = SIM_NEWS_VALUES - HALF;
}

static void sim_known_give(struct sim_signal* signal, uint64_t value, const struct sim_known* known)
{
    if (signal->news == NULL) {
        signal->news = sim_pages_map(sizeof(*signal->news));
        if (signal->news != NULL) {
            signal->news->seen = sim_signal_value(signal);
        }
    }
    struct sim_news* news = signal->news;
    if (news == NULL) {
        return;
    }
    if (!signal->timeline) {
        news->count = 0;
    } else if (news->count == SIM_NEWS_VALUES) {
        sim_news_halve(news, signal->object.device->order->host.time);
    }
    news->entries[news->count].value = value;
    news->entries[news->count].known = *known;
    news->count++;
}

void sim_known_submitted(struct sim_submission* submission)
{
    struct sim_order* order = sim_order_of(submission->queue->device);
    const uint32_t queue = sim_queue_number(submission->queue);
    if (order == NULL || queue >= SIM_TRACKED_QUEUES || submission->host_known == NULL) {
        return;
    }
    submission->number = ++order->sent[queue];
    *submission->host_known = order->host;
}

void sim_known_begin(struct sim_submission* submission)
{
    struct sim_device* device = submission->queue->device;
    struct sim_order* order = sim_order_of(device);
    const uint32_t queue = sim_queue_number(submission->queue);
    if (order == NULL || submission->number == 0) {
        return;
    }
    struct sim_known* known = &order->queues[queue];
    sim_known_join(known, submission->host_known);
    for (uint32_t i = 0; i < submission->wait_count; i++) {
        const struct sim_point* point = &submission->waits[i];
        const struct sim_signal* signal =
            sim_object_peek(device, point->semaphore, SIM_KIND_SEMAPHORE);
        if (signal != NULL) {
            sim_known_learn(known, signal, signal->timeline ? point->value : 1);
        }
    }
}

void sim_known_end(struct sim_submission* submission)
{
    struct sim_device* device = submission->queue->device;
    struct sim_order* order = sim_order_of(device);
    const uint32_t queue = sim_queue_number(submission->queue);
    if (order == NULL || submission->number == 0) {
        return;
    }
    struct sim_known carried = order->queues[queue];
    carried.of[queue] = submission->number;
    order->ended[queue] = carried.time;
    order->executed[queue] =
        submission->number > order->executed[queue] ? submission->number : order->executed[queue];
    for (uint32_t i = 0; i < submission->signal_count; i++) {
        const struct sim_point* point = &submission->signals[i];
        struct sim_signal* signal = sim_object_peek(device, point->semaphore, SIM_KIND_SEMAPHORE);
        if (signal != NULL) {
            sim_known_give(signal, signal->timeline ? point->value : 1, &carried);
        }
    }
    struct sim_signal* fence = sim_object_peek(device, submission->fence, SIM_KIND_FENCE);
    if (fence != NULL) {
        sim_known_give(fence, 1, &carried);
    }
}

void sim_known_host_signals(struct sim_signal* signal, uint64_t value)
{
    const struct sim_order* order = sim_order_of(signal->object.device);
    if (order != NULL) {
        sim_known_give(signal, value, &order->host);
    }
}

void sim_known_host_saw(const struct sim_signal* signal, uint64_t value)
{
    struct sim_order* order = sim_order_of(signal->object.device);
    if (order != NULL) {
        const uint64_t before = order->host.time;
        sim_known_learn(&order->host, signal, value);
        order->host_waited += order->host.time - before;
    }
}

uint64_t sim_known_host_looks(const struct sim_signal* signal)
{
    struct sim_device* device = signal->object.device;
    struct sim_order* order = device->gpu->time_is_on ? sim_order_of(device) : NULL;
    const struct sim_news* news = signal->news;
    const uint64_t value = sim_signal_value(signal);
    if (order == NULL || news == NULL || news->count == 0 ||
        news->entries[news->count - 1].value < value) {
        sim_known_host_saw(signal, value); /* of no submission here, or without time */
        return value;
    }
    const uint64_t now = order->host.time;
    uint64_t seen = signal->timeline ? news->seen : 0;
    for (uint32_t i = 0; i < news->count && news->entries[i].known.time <= now; i++) {
        seen = news->entries[i].value;
        sim_known_join(&order->host, &news->entries[i].known);
    }
    order->host.time = now + sim_look_ns;
    return seen < value ? seen : value;
}

void sim_known_host_idle(struct sim_device* device, const struct sim_queue* queue)
{
    struct sim_order* order = sim_order_of(device);
    for (uint32_t i = 0; order != NULL && i < device->queue_count && i < SIM_TRACKED_QUEUES; i++) {
        if (queue == NULL || sim_queue_number(queue) == i) {
            struct sim_known carried = order->queues[i];
            carried.of[i] = order->executed[i];
            carried.time = order->ended[i];
            order->host_waited +=
                carried.time > order->host.time ? carried.time - order->host.time : 0;
            sim_known_join(&order->host, &carried);
        }
    }
}

void sim_known_forget(struct sim_signal* signal)
{
    if (signal->news != NULL) {
        signal->news->count = 0;
    }
}

void sim_known_release(struct sim_signal* signal)
{
    if (signal->news != NULL) {
        sim_pages_unmap(signal->news, sizeof(*signal->news));
        signal->news = NULL;
    }
}

void sim_order_release(struct sim_device* device)
{
    if (device->order != NULL) {
        sim_pages_unmap(device->order, sizeof(*device->order));
        device->order = NULL;
    }
}
