/*
 * The checker of barriers: accesses, and the order that dependencies create.
 *
 * Each part of an access (one of its stages) is an event. For each queue an event records the
 * stages of later commands that are ordered after it, and the accesses that see its writes.
 * Barriers, signals and waits extend this record. A new access checks it for every event on its
 * bytes. A write that is ordered after an event supersedes the event.
 */
#include "support/hazards_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hazards* hazards_create(uint32_t queue_count, const uint32_t* queue_families,
                               VkDeviceSize granularity)
{
    struct hazards* h = hazard_resize(NULL, 1, sizeof *h);
    memset(h, 0, sizeof *h);
    h->queue_count = queue_count;
    h->families = hazard_resize(NULL, queue_count, sizeof *h->families);
    memcpy(h->families, queue_families, queue_count * sizeof *h->families);
    h->granularity = granularity == 0 ? 1 : granularity;
    return h;
}

uint32_t hazards_add_resource(struct hazards* hazards, const struct hazard_resource* resource)
{
    const uint32_t at = hazards->resource_count++;
    hazards->resources =
        hazard_resize(hazards->resources, hazards->resource_count, sizeof *hazards->resources);
    struct hazard_known* known = &hazards->resources[at];
    memset(known, 0, sizeof *known);
    known->info = *resource;
    known->family = HAZARD_NONE;
    hazard_copy_text(known->name, sizeof known->name, resource->name);
    known->info.name = NULL;
    hazard_cover(hazards, at);
    return at;
}

void hazards_forget_resource(struct hazards* hazards, uint32_t resource)
{
    hazards->resources[resource].forgotten = true;
}

void hazards_set_place(struct hazards* hazards, const char* place)
{
    hazard_copy_text(hazards->place, sizeof hazards->place, place);
}

void hazard_report(struct hazards* h, const char* format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(text, sizeof text, "%s: ", h->place);
    length = length < 0 ? 0 : length;
    (void)vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < h->finding_count && i < HAZARD_MOST_FINDINGS; ++i) {
        if (strcmp(h->findings[i], text) == 0) {
            return;
        }
    }
    if (h->finding_count < HAZARD_MOST_FINDINGS) {
        char* kept = hazard_resize(NULL, strlen(text) + 1, 1);
        memcpy(kept, text, strlen(text) + 1);
        h->findings[h->finding_count] = kept;
    }
    ++h->finding_count;
}

/* ---- pairs ---- */

/* Returns whether two resources conflict in a segment that both touch. */
static bool conflict(const struct hazards* h, const struct hazard_segment* segment, uint32_t a,
                     uint32_t b)
{
    if (hazard_touches(h, a, segment) == HAZARD_BYTES &&
        hazard_touches(h, b, segment) == HAZARD_BYTES) {
        return true;
    }
    return h->resources[a].info.linear != h->resources[b].info.linear;
}

static bool is_seen(const struct hazard_reach* reach, VkPipelineStageFlags2 stages,
                    VkAccessFlags2 access)
{
    for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS; ++bit) {
        if ((stages >> bit & 1) != 0 && (access & ~reach->visible[bit]) != 0) {
            return false;
        }
    }
    return true;
}

static void check_pair(struct hazards* h, const struct hazard_event* before, uint32_t queue,
                       uint32_t resource, VkPipelineStageFlags2 stages, VkAccessFlags2 access)
{
    const struct hazard_reach* reach = &before->reach[queue];
    const char* name = h->resources[resource].name;
    const char* other = h->resources[before->resource].name;
    ++h->pair_count;
    if ((stages & ~reach->after) != 0) {
        hazard_report(h, "\"%s\" is accessed without waiting for \"%s\" (%s)", name, other,
                      before->place);
    } else if (before->write && !before->available) {
        hazard_report(h, "\"%s\" is accessed before writes to \"%s\" (%s) are available", name,
                      other, before->place);
    } else if (before->write && !is_seen(reach, stages, access)) {
        hazard_report(h, "an access of \"%s\" does not see writes to \"%s\" (%s)", name, other,
                      before->place);
    }
}

/* Checks a change of layout or ownership, which sees all available writes. */
static void check_transition(struct hazards* h, const struct hazard_event* before, uint32_t queue,
                             uint32_t resource, const VkImageMemoryBarrier2* scope)
{
    const VkPipelineStageFlags2 first = hazard_stages(scope->srcStageMask, true);
    const bool direct = before->queue == queue && (before->stage & first) != 0;
    const char* name = h->resources[resource].name;
    const char* other = h->resources[before->resource].name;
    ++h->pair_count;
    if (!direct && (before->reach[queue].after & first) == 0) {
        hazard_report(h, "the layout or owner of \"%s\" changes without waiting for \"%s\" (%s)",
                      name, other, before->place);
        return;
    }
    const bool own = direct && before->resource == resource &&
                     (before->writes & ~hazard_accesses(scope->srcAccessMask)) == 0;
    const bool landed = before->available && (before->reach[queue].landed & first) != 0;
    if (before->write && !landed && !own) {
        hazard_report(h,
                      "the layout or owner of \"%s\" changes before writes to \"%s\" (%s) are "
                      "available",
                      name, other, before->place);
    }
}

/* Sets the resource whose contents a segment holds from now on. */
static void own(struct hazards* h, struct hazard_segment* segment, uint32_t resource, bool defined)
{
    if (segment->owner != HAZARD_NONE && segment->owner != resource) {
        h->resources[segment->owner].layout = VK_IMAGE_LAYOUT_UNDEFINED;
    }
    segment->owner = resource;
    segment->defined = defined;
}

/* Updates the contents after a write. The segment holds the contents of the resource. Granules that
 * the resource shares with the other kind hold no resource's contents. */
static void write_contents(struct hazards* h, struct hazard_segment* segment, uint32_t resource,
                           bool defined)
{
    if (hazard_touches(h, resource, segment) == HAZARD_BYTES) {
        own(h, segment, resource, defined);
    } else if (segment->owner != HAZARD_NONE && conflict(h, segment, segment->owner, resource)) {
        own(h, segment, HAZARD_NONE, false);
    }
}

static void check_contents(struct hazards* h, uint32_t resource, bool must_be_defined)
{
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        const struct hazard_segment* segment = &h->segments[i];
        if (hazard_touches(h, resource, segment) != HAZARD_BYTES) {
            continue;
        }
        if (segment->owner != resource) {
            hazard_report(h, "\"%s\" finds the contents of \"%s\"", h->resources[resource].name,
                          segment->owner == HAZARD_NONE ? "nobody"
                                                        : h->resources[segment->owner].name);
        } else if (must_be_defined && !segment->defined) {
            hazard_report(h, "\"%s\" is read but was not written", h->resources[resource].name);
        }
    }
}

static void check_owner(struct hazards* h, struct hazard_known* known, uint32_t queue,
                        bool discards)
{
    const uint32_t family = h->families[queue];
    if (discards) {
        known->released = false;
        known->family = family;
    } else if (known->released) {
        hazard_report(h, "\"%s\" was released to family %u but not acquired", known->name,
                      known->release_to);
    } else if (known->family != HAZARD_NONE && known->family != family) {
        hazard_report(h, "\"%s\" is owned by family %u but used by family %u", known->name,
                      known->family, family);
    }
    known->family = family;
}

/* ---- accesses ---- */

static void supersede(struct hazards* h, struct hazard_segment* segment, uint32_t resource)
{
    for (uint32_t k = segment->event_count; k-- > 0;) {
        if (conflict(h, segment, h->events[segment->events[k]].resource, resource)) {
            hazard_unlist_event(h, segment, k);
        }
    }
}

/* Removes an earlier read of the same stage, queue and resource. The later read implies all its
 * demands. */
static void forget_earlier_read(struct hazards* h, struct hazard_segment* segment,
                                const struct hazard_event* read)
{
    for (uint32_t k = segment->event_count; k-- > 0;) {
        const struct hazard_event* event = &h->events[segment->events[k]];
        if (!event->write && event->resource == read->resource && event->queue == read->queue &&
            event->stage == read->stage) {
            hazard_unlist_event(h, segment, k);
        }
    }
}

static void list_access(struct hazards* h, uint32_t resource, uint32_t event)
{
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        struct hazard_segment* segment = &h->segments[i];
        if (hazard_touches(h, resource, segment) == HAZARD_APART) {
            continue;
        }
        if (!h->events[event].write) {
            forget_earlier_read(h, segment, &h->events[event]);
        }
        hazard_list_event(h, segment, event);
    }
}

static void check_access(struct hazards* h, uint32_t queue, const struct hazard_access* access,
                         VkPipelineStageFlags2 stages, bool writes)
{
    const VkAccessFlags2 accesses = hazard_accesses(access->access);
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        struct hazard_segment* segment = &h->segments[i];
        if (hazard_touches(h, access->resource, segment) == HAZARD_APART) {
            continue;
        }
        for (uint32_t k = 0; k < segment->event_count; ++k) {
            const struct hazard_event* event = &h->events[segment->events[k]];
            if ((event->write || writes) &&
                conflict(h, segment, event->resource, access->resource)) {
                check_pair(h, event, queue, access->resource, stages, accesses);
            }
        }
        if (writes) {
            supersede(h, segment, access->resource);
            write_contents(h, segment, access->resource, true);
        }
    }
}

void hazards_access(struct hazards* hazards, uint32_t queue, const struct hazard_access* access)
{
    struct hazard_known* known = &hazards->resources[access->resource];
    const VkPipelineStageFlags2 stages = hazard_stages(access->stages, true);
    const VkAccessFlags2 writes = hazard_writes(access->access);
    if (known->forgotten) {
        hazard_report(hazards, "\"%s\" is used after its end", known->name);
    }
    if (!access->discards) {
        check_contents(hazards, access->resource, writes == 0);
    }
    if (known->info.image != VK_NULL_HANDLE && known->layout != access->layout) {
        hazard_report(hazards, "\"%s\" is in layout %d, not %d", known->name, (int)known->layout,
                      (int)access->layout);
    }
    if (!known->info.concurrent) {
        /* An image takes over its bytes by its first change of layout. */
        check_owner(hazards, known, queue, access->discards && known->info.image == VK_NULL_HANDLE);
    }
    check_access(hazards, queue, access, stages, writes != 0);
    for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS; ++bit) {
        const VkPipelineStageFlags2 stage = (VkPipelineStageFlags2)1 << bit;
        if ((stages & stage) != 0) {
            list_access(
                hazards, access->resource,
                hazard_new_event(hazards, access->resource, queue, stage, writes, writes != 0));
        }
    }
}

/* ---- barriers ---- */

/* Applies one memory dependency; HAZARD_NONE stands for all resources. The effect stays pending
 * until all barriers of the call have been processed. */
static void depend(struct hazards* h, uint32_t queue, const VkMemoryBarrier2* barrier,
                   uint32_t resource)
{
    const VkPipelineStageFlags2 first = hazard_stages(barrier->srcStageMask, true);
    const VkPipelineStageFlags2 second = hazard_stages(barrier->dstStageMask, false);
    const VkAccessFlags2 from = hazard_accesses(barrier->srcAccessMask);
    const VkAccessFlags2 to = hazard_accesses(barrier->dstAccessMask);
    for (uint32_t i = 0; i < h->event_count; ++i) {
        struct hazard_event* event = &h->events[i];
        const bool direct = event->queue == queue && (event->stage & first) != 0;
        if (event->serial == 0 || event->serial > h->serial_before ||
            (!direct && (event->reach[queue].after & first) == 0)) {
            continue;
        }
        event->pending.after |= second;
        const bool reached = resource == HAZARD_NONE || resource == event->resource;
        const bool made = direct && reached && event->write && (event->writes & ~from) == 0;
        const bool lands = made || (event->available && (event->reach[queue].landed & first) != 0);
        event->pending_available |= made;
        event->pending.landed |= lands ? second : 0;
        for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS && reached && lands; ++bit) {
            event->pending.visible[bit] |= (second >> bit & 1) != 0 ? to : 0;
        }
    }
}

static void commit(struct hazards* h, uint32_t queue)
{
    for (uint32_t i = 0; i < h->event_count; ++i) {
        struct hazard_event* event = &h->events[i];
        if (event->serial == 0) {
            continue;
        }
        struct hazard_reach* reach = &event->reach[queue];
        reach->after |= event->pending.after;
        reach->landed |= event->pending.landed;
        for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS; ++bit) {
            reach->visible[bit] |= event->pending.visible[bit];
        }
        event->available |= event->pending_available;
        event->pending_available = false;
        memset(&event->pending, 0, sizeof event->pending);
    }
}

static uint32_t find_resource(const struct hazards* h, VkBuffer buffer, VkImage image)
{
    for (uint32_t i = h->resource_count; i-- > 0;) {
        const struct hazard_known* known = &h->resources[i];
        if (!known->forgotten && ((image != VK_NULL_HANDLE && known->info.image == image) ||
                                  (buffer != VK_NULL_HANDLE && known->info.buffer == buffer))) {
            return i;
        }
    }
    return HAZARD_NONE;
}

/* Checks layouts and owners before a change of either. Returns whether the contents are
 * discarded. */
static bool check_change(struct hazards* h, uint32_t queue, uint32_t resource,
                         const VkImageMemoryBarrier2* b, bool release, bool acquire)
{
    struct hazard_known* known = &h->resources[resource];
    const bool discards = b->oldLayout == VK_IMAGE_LAYOUT_UNDEFINED &&
                          known->info.image != VK_NULL_HANDLE && !release && !acquire;
    if (discards) {
        known->released = false;
        known->family = h->families[queue];
        return true;
    }
    check_contents(h, resource, false);
    if (acquire) {
        if (!known->released || known->release_to != b->dstQueueFamilyIndex ||
            known->release_old != b->oldLayout || known->release_new != b->newLayout) {
            hazard_report(h, "the acquisition of \"%s\" does not match its release", known->name);
        }
        known->released = false;
        known->family = b->dstQueueFamilyIndex;
        return false;
    }
    if (known->layout != b->oldLayout && known->info.image != VK_NULL_HANDLE) {
        hazard_report(h, "\"%s\" is in layout %d, not in the barrier's old layout %d", known->name,
                      (int)known->layout, (int)b->oldLayout);
    }
    if (!known->info.concurrent) {
        check_owner(h, known, queue, false);
    }
    if (release) {
        known->released = true;
        known->release_to = b->dstQueueFamilyIndex;
        known->release_old = b->oldLayout;
        known->release_new = b->newLayout;
    }
    return false;
}

/* Applies a change of layout or owner, for images and buffers; `b` names the layouts. Returns the
 * event, which the caller lists at the end of the call. */
static uint32_t change(struct hazards* h, uint32_t queue, uint32_t resource,
                       const VkImageMemoryBarrier2* b)
{
    const bool transfer = b->srcQueueFamilyIndex != b->dstQueueFamilyIndex;
    const bool release = transfer && b->srcQueueFamilyIndex == h->families[queue];
    const bool acquire = transfer && b->dstQueueFamilyIndex == h->families[queue];
    if (!transfer && b->oldLayout == b->newLayout) {
        return HAZARD_NONE;
    }
    if (transfer && !release && !acquire) {
        hazard_report(h, "a barrier moves \"%s\" between families other than the queue's",
                      h->resources[resource].name);
    }
    const bool discards = check_change(h, queue, resource, b, release, acquire);
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        struct hazard_segment* segment = &h->segments[i];
        if (hazard_touches(h, resource, segment) == HAZARD_APART) {
            continue;
        }
        for (uint32_t k = 0; k < segment->event_count; ++k) {
            const struct hazard_event* event = &h->events[segment->events[k]];
            if (conflict(h, segment, event->resource, resource)) {
                check_transition(h, event, queue, resource, b);
            }
        }
        if (discards) {
            write_contents(h, segment, resource, false);
        }
    }
    h->resources[resource].layout = b->newLayout;
    const uint32_t made = hazard_new_event(h, resource, queue, HAZARD_STAGE_BARRIER, 0, true);
    struct hazard_event* event = &h->events[made];
    event->available = true;
    event->reach[queue].after = release ? 0 : hazard_stages(b->dstStageMask, false);
    event->reach[queue].landed = event->reach[queue].after;
    for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS && !release; ++bit) {
        if ((event->reach[queue].after >> bit & 1) != 0) {
            event->reach[queue].visible[bit] = hazard_accesses(b->dstAccessMask);
        }
    }
    return made;
}

static void list_change(struct hazards* h, uint32_t resource, uint32_t event)
{
    for (uint32_t i = 0; i < h->segment_count; ++i) {
        if (hazard_touches(h, resource, &h->segments[i]) != HAZARD_APART) {
            supersede(h, &h->segments[i], resource);
            hazard_list_event(h, &h->segments[i], event);
        }
    }
}

static VkImageMemoryBarrier2 as_image_barrier(const VkBufferMemoryBarrier2* b)
{
    return (VkImageMemoryBarrier2){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
        .srcStageMask = b->srcStageMask,
        .srcAccessMask = b->srcAccessMask,
        .dstStageMask = b->dstStageMask,
        .dstAccessMask = b->dstAccessMask,
        .srcQueueFamilyIndex = b->srcQueueFamilyIndex,
        .dstQueueFamilyIndex = b->dstQueueFamilyIndex,
    };
}

static void change_one(struct hazards* h, uint32_t queue, uint32_t resource,
                       const VkImageMemoryBarrier2* b, uint32_t* events)
{
    const VkMemoryBarrier2 memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = b->srcStageMask,
        .srcAccessMask = b->srcAccessMask,
        .dstStageMask = b->dstStageMask,
        .dstAccessMask = b->dstAccessMask,
    };
    *events = HAZARD_NONE;
    if (resource == HAZARD_NONE) {
        hazard_report(h, "a barrier names an unknown resource");
        return;
    }
    depend(h, queue, &memory, resource);
    *events = change(h, queue, resource, b);
}

void hazards_barrier(struct hazards* hazards, uint32_t queue, const VkDependencyInfo* dependency)
{
    const uint32_t buffers = dependency->bufferMemoryBarrierCount;
    const uint32_t images = dependency->imageMemoryBarrierCount;
    uint32_t* events = hazard_resize(NULL, ((size_t)buffers + images) * 2, sizeof *events);
    uint32_t* resources = events + buffers + images;
    hazards->serial_before = hazards->serial;
    for (uint32_t i = 0; i < dependency->memoryBarrierCount; ++i) {
        depend(hazards, queue, &dependency->pMemoryBarriers[i], HAZARD_NONE);
    }
    for (uint32_t i = 0; i < buffers; ++i) {
        const VkBufferMemoryBarrier2* barrier = &dependency->pBufferMemoryBarriers[i];
        const VkImageMemoryBarrier2 same = as_image_barrier(barrier);
        resources[i] = find_resource(hazards, barrier->buffer, VK_NULL_HANDLE);
        change_one(hazards, queue, resources[i], &same, &events[i]);
    }
    for (uint32_t i = 0; i < images; ++i) {
        const VkImageMemoryBarrier2* barrier = &dependency->pImageMemoryBarriers[i];
        resources[buffers + i] = find_resource(hazards, VK_NULL_HANDLE, barrier->image);
        change_one(hazards, queue, resources[buffers + i], barrier, &events[buffers + i]);
    }
    commit(hazards, queue);
    for (uint32_t i = 0; i < buffers + images; ++i) {
        if (events[i] != HAZARD_NONE) {
            list_change(hazards, resources[i], events[i]);
        }
    }
    free(events);
}

/* ---- semaphores ---- */

void hazards_signal(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                    VkPipelineStageFlags2 stages)
{
    const VkPipelineStageFlags2 first = hazard_stages(stages, true);
    if (hazards->signal_count == HAZARD_MOST_SIGNALS) {
        free(hazards->signals[0].marks);
        memmove(hazards->signals, hazards->signals + 1,
                --hazards->signal_count * sizeof *hazards->signals);
    }
    hazards->signals = hazard_resize(hazards->signals, (size_t)hazards->signal_count + 1,
                                     sizeof *hazards->signals);
    struct hazard_signal* signal = &hazards->signals[hazards->signal_count++];
    *signal = (struct hazard_signal){.semaphore = semaphore, .value = value};
    signal->marks = hazard_resize(NULL, hazards->event_count, sizeof *signal->marks);
    for (uint32_t i = 0; i < hazards->event_count; ++i) {
        const struct hazard_event* event = &hazards->events[i];
        const bool direct = event->queue == queue && (event->stage & first) != 0;
        if (event->serial != 0 && (direct || (event->reach[queue].after & first) != 0)) {
            signal->marks[signal->count++] =
                (struct hazard_mark){.event = i, .serial = event->serial};
        }
    }
}

static const struct hazard_signal* find_signal(const struct hazards* h, uint64_t semaphore,
                                               uint64_t value)
{
    const struct hazard_signal* found = NULL;
    for (uint32_t i = 0; i < h->signal_count; ++i) {
        const struct hazard_signal* signal = &h->signals[i];
        if (signal->semaphore == semaphore && signal->value >= value &&
            (found == NULL || signal->value < found->value)) {
            found = signal;
        }
    }
    return found;
}

void hazards_wait(struct hazards* hazards, uint32_t queue, uint64_t semaphore, uint64_t value,
                  VkPipelineStageFlags2 stages)
{
    const struct hazard_signal* signal = find_signal(hazards, semaphore, value);
    const VkPipelineStageFlags2 second = hazard_stages(stages, false);
    if (signal == NULL) {
        hazard_report(hazards, "a wait is for a semaphore that nothing signals");
        return;
    }
    for (uint32_t i = 0; i < signal->count; ++i) {
        struct hazard_event* event = &hazards->events[signal->marks[i].event];
        if (event->serial != signal->marks[i].serial) {
            continue;
        }
        event->available = true;
        event->reach[queue].after |= second;
        event->reach[queue].landed |= second;
        for (uint32_t bit = 0; bit < HAZARD_STAGE_BITS; ++bit) {
            event->reach[queue].visible[bit] |= (second >> bit & 1) != 0 ? ~(VkAccessFlags2)0 : 0;
        }
    }
}

static void forget_signals(struct hazards* h)
{
    for (uint32_t i = 0; i < h->signal_count; ++i) {
        h->signals[i].count = 0;
    }
}

void hazards_idle(struct hazards* hazards)
{
    for (uint32_t i = 0; i < hazards->segment_count; ++i) {
        while (hazards->segments[i].event_count > 0) {
            hazard_unlist_event(hazards, &hazards->segments[i], 0);
        }
    }
    forget_signals(hazards);
}

/* ---- what was found ---- */

uint32_t hazards_finding_count(const struct hazards* hazards)
{
    return hazards->finding_count;
}

const char* hazards_finding(const struct hazards* hazards, uint32_t index)
{
    return index < hazards->finding_count && index < HAZARD_MOST_FINDINGS ? hazards->findings[index]
                                                                          : NULL;
}

uint64_t hazards_pair_count(const struct hazards* hazards)
{
    return hazards->pair_count;
}
