/*
 * The bytes of the checker of barriers: segments, each of which belongs to the same resources
 * throughout, and the events there that nothing has superseded.
 */
#include "support/hazards_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* hazard_resize(void* memory, size_t count, size_t size)
{
    void* grown = realloc(memory, (count == 0 ? 1 : count) * size);
    if (grown == NULL) {
        (void)fprintf(stderr, "the checker of barriers is out of memory\n");
        abort();
    }
    return grown;
}

void hazard_copy_text(char* to, size_t size, const char* text)
{
    (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

static VkDeviceSize granule_begin(const struct hazards* h, VkDeviceSize at)
{
    return at - at % h->granularity;
}

static VkDeviceSize granule_end(const struct hazards* h, VkDeviceSize at)
{
    return granule_begin(h, at + h->granularity - 1);
}

/* Divides a segment at an offset. */
static void cut(struct hazards* h, uint64_t memory, VkDeviceSize at)
{
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        if (h->segments[i].memory != memory || h->segments[i].low >= at ||
            h->segments[i].high <= at) {
            continue;
        }
        h->segments = hazard_resize(h->segments, (size_t)h->segment_count + 1, sizeof *h->segments);
        struct hazard_segment* lower = &h->segments[i];
        struct hazard_segment* upper = &h->segments[h->segment_count++];
        *upper = *lower;
        lower->high = at;
        upper->low = at;
        upper->events = NULL;
        upper->event_count = 0;
        upper->event_capacity = 0;
        for (uint32_t k = 0; k < lower->event_count; ++k) {
            hazard_list_event(h, upper, lower->events[k]);
        }
        return;
    }
}

/* Creates segments where none exist. */
static void fill(struct hazards* h, uint64_t memory, VkDeviceSize low, VkDeviceSize high)
{
    while (low < high) {
        VkDeviceSize next = high;
        VkDeviceSize covered = low;
        for (uint32_t i = 0; i < h->segment_count; ++i) {
            const struct hazard_segment* s = &h->segments[i];
            if (s->memory == memory && s->low <= low && low < s->high) {
                covered = s->high;
            } else if (s->memory == memory && s->low > low && s->low < next) {
                next = s->low;
            }
        }
        if (covered == low) {
            h->segments =
                hazard_resize(h->segments, (size_t)h->segment_count + 1, sizeof *h->segments);
            h->segments[h->segment_count++] = (struct hazard_segment){
                .memory = memory, .low = low, .high = next, .owner = HAZARD_NONE};
            covered = next;
        }
        low = covered;
    }
}

void hazard_cover(struct hazards* h, uint32_t resource)
{
    const struct hazard_resource* info = &h->resources[resource].info;
    const VkDeviceSize end = info->offset + info->size;
    const VkDeviceSize ends[4] = {info->offset, end, granule_begin(h, info->offset),
                                  granule_end(h, end)};
    for (int i = 0; i < 4; ++i) {
        cut(h, info->memory, ends[i]);
    }
    fill(h, info->memory, ends[2], info->offset);
    fill(h, info->memory, info->offset, end);
    fill(h, info->memory, end, ends[3]);
}

enum hazard_touch hazard_touches(const struct hazards* h, uint32_t resource,
                                 const struct hazard_segment* segment)
{
    const struct hazard_resource* info = &h->resources[resource].info;
    const VkDeviceSize end = info->offset + info->size;
    if (info->memory != segment->memory) {
        return HAZARD_APART;
    }
    if (info->offset < segment->high && segment->low < end) {
        return HAZARD_BYTES;
    }
    return granule_begin(h, info->offset) < segment->high && segment->low < granule_end(h, end)
               ? HAZARD_GRANULE
               : HAZARD_APART;
}

/* ---- events ---- */

uint32_t hazard_new_event(struct hazards* h, uint32_t resource, uint32_t queue,
                          VkPipelineStageFlags2 stage, VkAccessFlags2 writes, bool write)
{
    uint32_t at = 0;
    while (at < h->event_count && h->events[at].serial != 0) {
        ++at;
    }
    if (at == h->event_count) {
        h->events = hazard_resize(h->events, (size_t)h->event_count + 1, sizeof *h->events);
        memset(&h->events[at], 0, sizeof h->events[at]);
        h->events[at].reach = hazard_resize(NULL, h->queue_count, sizeof *h->events[at].reach);
        ++h->event_count;
    }
    struct hazard_event* event = &h->events[at];
    struct hazard_reach* reach = event->reach;
    memset(event, 0, sizeof *event);
    memset(reach, 0, h->queue_count * sizeof *reach);
    event->reach = reach;
    event->serial = ++h->serial;
    event->resource = resource;
    event->queue = queue;
    event->stage = stage;
    event->writes = writes;
    event->write = write;
    hazard_copy_text(event->place, sizeof event->place, h->place);
    return at;
}

void hazard_list_event(struct hazards* h, struct hazard_segment* segment, uint32_t event)
{
    if (segment->event_count == segment->event_capacity) {
        segment->event_capacity = segment->event_capacity * 2 + 4;
        segment->events =
            hazard_resize(segment->events, segment->event_capacity, sizeof *segment->events);
    }
    segment->events[segment->event_count++] = event;
    ++h->events[event].segment_count;
}

void hazard_unlist_event(struct hazards* h, struct hazard_segment* segment, uint32_t at)
{
    struct hazard_event* event = &h->events[segment->events[at]];
    segment->events[at] = segment->events[--segment->event_count];
    if (--event->segment_count == 0) {
        event->serial = 0;
    }
}
