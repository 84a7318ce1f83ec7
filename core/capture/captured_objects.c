/*
 * The objects that a capture has recorded: see captured_objects.h.
 */
#include "core/capture/captured_objects.h"

#include "core/host_memory.h"

bool maar_captured_objects_init(struct maar_captured_objects* objects, bool synchronized)
{
    return maar_mutex_init(&objects->lock, MAAR_LOCK_CAPTURE, synchronized);
}

void maar_captured_objects_destroy(struct maar_captured_objects* objects)
{
    maar_mutex_destroy(&objects->lock);
}

bool maar_captured_objects_open(struct maar_captured_objects* objects,
                                const VkAllocationCallbacks* callbacks)
{
    objects->chains = maar_host_calloc(callbacks, (size_t)MAAR_CAPTURED_WAYS * MAAR_CAPTURED_CHAINS,
                                       sizeof *objects->chains);
    return objects->chains != NULL;
}

static void free_chain(struct maar_captured_object* first, const VkAllocationCallbacks* callbacks)
{
    while (first != NULL) {
        struct maar_captured_object* const next = first->next[MAAR_CAPTURED_BY_OBJECT];
        maar_host_free(callbacks, first);
        first = next;
    }
}

void maar_captured_objects_close(struct maar_captured_objects* objects,
                                 const VkAllocationCallbacks* callbacks)
{
    for (size_t i = 0; i < MAAR_CAPTURED_CHAINS; ++i) {
        free_chain(objects->chains[i], callbacks);
    }
    free_chain(objects->spare, callbacks);
    maar_host_free(callbacks, objects->chains);
    objects->chains = NULL;
    objects->spare = NULL;
}

static struct maar_captured_object** captured_chain(const struct maar_captured_objects* objects,
                                                    int way, uint64_t key)
{
    const uint64_t hash = (key * 0x9E3779B97F4A7C15u) >> 40;
    return &objects->chains[(size_t)way * MAAR_CAPTURED_CHAINS + hash % MAAR_CAPTURED_CHAINS];
}

static uint64_t captured_key(const struct maar_captured_object* object, int way)
{
    return way == MAAR_CAPTURED_BY_OBJECT ? object->object : object->allocation;
}

static void link_object(const struct maar_captured_objects* objects,
                        struct maar_captured_object* added, int way)
{
    struct maar_captured_object** const chain =
        captured_chain(objects, way, captured_key(added, way));
    added->next[way] = *chain;
    *chain = added;
}

static void unlink_object(const struct maar_captured_objects* objects,
                          const struct maar_captured_object* removed, int way)
{
    struct maar_captured_object** link = captured_chain(objects, way, captured_key(removed, way));
    while (*link != removed) {
        link = &(*link)->next[way];
    }
    *link = removed->next[way];
}

static struct maar_captured_object* find_captured(const struct maar_captured_objects* objects,
                                                  uint32_t kind, uint64_t object)
{
    struct maar_captured_object* found = *captured_chain(objects, MAAR_CAPTURED_BY_OBJECT, object);
    while (found != NULL && (found->object != object || found->kind != kind)) {
        found = found->next[MAAR_CAPTURED_BY_OBJECT];
    }
    return found;
}

struct maar_captured_object* maar_captured_objects_reuse(struct maar_captured_objects* objects)
{
    maar_mutex_lock(&objects->lock);
    struct maar_captured_object* const reused = objects->spare;
    if (reused != NULL) {
        objects->spare = reused->next[MAAR_CAPTURED_BY_OBJECT];
    }
    maar_mutex_unlock(&objects->lock);
    return reused;
}

void maar_captured_objects_add(struct maar_captured_objects* objects,
                               struct maar_captured_object* added, uint32_t kind, uint64_t object)
{
    added->kind = kind;
    added->object = object;
    added->allocation = 0;
    maar_mutex_lock(&objects->lock);
    link_object(objects, added, MAAR_CAPTURED_BY_OBJECT);
    maar_mutex_unlock(&objects->lock);
}

bool maar_captured_objects_place(struct maar_captured_objects* objects, uint32_t kind,
                                 uint64_t object, uint64_t allocation)
{
    maar_mutex_lock(&objects->lock);
    struct maar_captured_object* const found = find_captured(objects, kind, object);
    if (found != NULL && found->allocation == 0 && allocation != 0) {
        found->allocation = allocation;
        link_object(objects, found, MAAR_CAPTURED_BY_ALLOCATION);
    }
    maar_mutex_unlock(&objects->lock);
    return found != NULL;
}

bool maar_captured_objects_find(struct maar_captured_objects* objects, uint64_t allocation,
                                uint32_t* kind, uint64_t* object)
{
    maar_mutex_lock(&objects->lock);
    const struct maar_captured_object* found =
        *captured_chain(objects, MAAR_CAPTURED_BY_ALLOCATION, allocation);
    while (found != NULL && found->allocation != allocation) {
        found = found->next[MAAR_CAPTURED_BY_ALLOCATION];
    }
    if (found != NULL) {
        *kind = found->kind;
        *object = found->object;
    }
    maar_mutex_unlock(&objects->lock);
    return found != NULL;
}

bool maar_captured_objects_remove(struct maar_captured_objects* objects, uint32_t kind,
                                  uint64_t object)
{
    maar_mutex_lock(&objects->lock);
    struct maar_captured_object* const found = find_captured(objects, kind, object);
    if (found != NULL) {
        unlink_object(objects, found, MAAR_CAPTURED_BY_OBJECT);
        if (found->allocation != 0) {
            unlink_object(objects, found, MAAR_CAPTURED_BY_ALLOCATION);
        }
        found->next[MAAR_CAPTURED_BY_OBJECT] = objects->spare;
        objects->spare = found;
    }
    maar_mutex_unlock(&objects->lock);
    return found != NULL;
}
