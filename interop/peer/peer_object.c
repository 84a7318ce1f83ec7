/*
 * The handles of objects that belong to a MaarCuda or a MaarHip: see peer_object.h.
 */
#include "interop/peer/peer_object.h"

#include "interop/peer/peer.h"

VkResult maar_peer_object_open(struct maar_peer_object* object, enum maar_object_kind kind)
{
    return maar_object_open(object->peer->allocator, kind, object, &object->handle);
}

void maar_peer_object_close(struct maar_peer_object* object)
{
    (void)maar_object_close(object->peer->allocator, object->handle);
    object->handle = 0;
}

void* maar_peer_object_find(const struct maar_peer* peer, const char* call, const char* argument,
                            enum maar_object_kind kind, uint64_t handle)
{
    struct maar_peer_object* object = maar_object_of(peer->allocator, kind, handle);
    if (object == NULL) {
        (void)maar_object_report(peer->allocator, call, argument, kind, handle);
        return NULL;
    }
    if (object->peer != peer) {
        maar_report(peer->allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_FOREIGN_HANDLE,
                    call, "%s is a %s of another owner", argument, maar_object_kind_name(kind));
        return NULL;
    }
    return object;
}

void* maar_peer_object_claim(const struct maar_peer* peer, const char* call, const char* argument,
                             enum maar_object_kind kind, uint64_t handle)
{
    MaarAllocator allocator = peer->allocator;
    bool is_claimed = false;
    maar_mutex_lock(&allocator->list_lock);
    struct maar_peer_object* object = maar_object_of(allocator, kind, handle);
    if (object != NULL && object->peer == peer) {
        is_claimed = maar_object_close_held(allocator, handle);
        object->handle = 0;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (is_claimed) {
        return object;
    }
    (void)maar_peer_object_find(peer, call, argument, kind, handle); /* reports why */
    return NULL;
}

VkResult maar_peer_object_enter(const struct maar_peer* peer, const char* call,
                                const char* argument, enum maar_object_kind kind, uint64_t handle,
                                void** object)
{
    *object = NULL;
    if (peer == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const VkResult result = maar_enter(peer->allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    *object = maar_peer_object_find(peer, call, argument, kind, handle);
    return *object != NULL ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
}
