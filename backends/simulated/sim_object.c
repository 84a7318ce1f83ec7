/*
 * Objects and their table. A handle consists of a kind, a generation and a slot, so that the table
 * distinguishes live handles from destroyed or made-up ones and from those of another kind.
 */
#include "backends/simulated/sim_object.h"

#include "backends/simulated/sim_check.h"

#include <string.h>

enum {
    SIM_SLOT_BITS = 28,
    SIM_GENERATION_BITS = 28,
    SIM_GENERATION_MASK = (1 << SIM_GENERATION_BITS) - 1,
    SIM_SLOT_MASK = (1 << SIM_SLOT_BITS) - 1,
    SIM_FIRST_CAPACITY = 256,
};

#define SIM_NO_SLOT UINT32_MAX

static uint64_t sim_encode(const struct sim_device* device, enum sim_kind kind, uint32_t slot)
{
    const uint32_t generation =
        (device->slots[slot].generation + device->salt) & SIM_GENERATION_MASK;
    return (uint64_t)kind << (SIM_SLOT_BITS + SIM_GENERATION_BITS) |
           (uint64_t)generation << SIM_SLOT_BITS | (slot + 1u);
}

static const struct {
    const char* name;
    MaarSimulatedObject counter;
} sim_kinds[SIM_KIND_COUNT] = {
    [SIM_KIND_MEMORY] = {"VkDeviceMemory", MAAR_SIMULATED_OBJECT_MEMORY},
    [SIM_KIND_BUFFER] = {"VkBuffer", MAAR_SIMULATED_OBJECT_BUFFER},
    [SIM_KIND_IMAGE] = {"VkImage", MAAR_SIMULATED_OBJECT_IMAGE},
    [SIM_KIND_SEMAPHORE] = {"VkSemaphore", MAAR_SIMULATED_OBJECT_SEMAPHORE},
    [SIM_KIND_FENCE] = {"VkFence", MAAR_SIMULATED_OBJECT_FENCE},
    [SIM_KIND_COMMAND_POOL] = {"VkCommandPool", MAAR_SIMULATED_OBJECT_COMMAND_POOL},
    [SIM_KIND_COMMAND_BUFFER] = {"VkCommandBuffer", MAAR_SIMULATED_OBJECT_COMMAND_BUFFER},
    [SIM_KIND_BUFFER_VIEW] = {"VkBufferView", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_IMAGE_VIEW] = {"VkImageView", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_SHADER_MODULE] = {"VkShaderModule", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_PIPELINE_LAYOUT] = {"VkPipelineLayout", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_PIPELINE] = {"VkPipeline", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_DESCRIPTOR_SET_LAYOUT] = {"VkDescriptorSetLayout", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_DESCRIPTOR_POOL] = {"VkDescriptorPool", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_DESCRIPTOR_SET] = {"VkDescriptorSet", MAAR_SIMULATED_OBJECT_OTHER},
    [SIM_KIND_QUERY_POOL] = {"VkQueryPool", MAAR_SIMULATED_OBJECT_OTHER},
};

const char* sim_kind_name(enum sim_kind kind)
{
    return sim_kinds[kind].name;
}

const VkAllocationCallbacks* sim_object_callbacks(const struct sim_object* object)
{
    return object->has_callbacks ? &object->callbacks : object->device->callbacks;
}

/* Returns a free slot, and grows the table if it is full. Lock held before and after, free during
 * the growth. */
static uint32_t sim_take_slot(struct sim_device* device)
{
    for (;;) {
        if (device->first_free != SIM_NO_SLOT) {
            const uint32_t slot = device->first_free;
            device->first_free = device->slots[slot].next_free;
            return slot;
        }
        if (device->slot_count < device->slot_capacity) {
            return device->slot_count++;
        }
        const uint32_t capacity =
            device->slot_capacity == 0 ? SIM_FIRST_CAPACITY : device->slot_capacity * 2;
        if (capacity >= 1u << SIM_SLOT_BITS) {
            return SIM_NO_SLOT;
        }
        sim_unlock_gpu(device->gpu);
        struct sim_slot* slots =
            maar_host_calloc(device->callbacks, capacity, sizeof(struct sim_slot));
        sim_lock_gpu(device->gpu);
        if (slots == NULL) {
            return SIM_NO_SLOT;
        }
        struct sim_slot* old = slots;
        if (capacity > device->slot_capacity) {
            if (device->slot_count != 0) {
                memcpy(slots, device->slots, device->slot_count * sizeof(struct sim_slot));
            }
            old = device->slots;
            device->slots = slots;
            device->slot_capacity = capacity;
        }
        sim_unlock_gpu(device->gpu);
        maar_host_free(device->callbacks, old);
        sim_lock_gpu(device->gpu);
    }
}

void* sim_object_create(struct sim_device* device, enum sim_kind kind, size_t size,
                        const VkAllocationCallbacks* callbacks)
{
    struct sim_object* object =
        maar_host_calloc(callbacks != NULL ? callbacks : device->callbacks, 1, size);
    if (object == NULL) {
        return NULL;
    }
    object->device = device;
    object->kind = kind;
    if (callbacks != NULL) {
        object->has_callbacks = true;
        object->callbacks = *callbacks;
    }
    sim_lock_gpu(device->gpu);
    const uint32_t slot = sim_take_slot(device);
    if (slot != SIM_NO_SLOT) {
        device->slots[slot].object = object;
        object->handle = sim_encode(device, kind, slot);
        device->gpu->counters.liveCount[sim_kinds[kind].counter]++;
    }
    sim_unlock_gpu(device->gpu);
    if (slot == SIM_NO_SLOT) {
        sim_object_release(object);
        return NULL;
    }
    return object;
}

void* sim_object_peek(const struct sim_device* device, uint64_t handle, enum sim_kind kind)
{
    const uint32_t slot = (uint32_t)(handle & SIM_SLOT_MASK) - 1u;
    if (handle == 0 || slot >= device->slot_count || device->slots[slot].object == NULL ||
        handle != sim_encode(device, kind, slot)) {
        return NULL;
    }
    return device->slots[slot].object;
}

void* sim_object_get(struct sim_device* device, enum sim_function function, uint64_t handle,
                     enum sim_kind kind)
{
    void* object = sim_object_peek(device, handle, kind);
    if (object == NULL) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_HANDLE,
                    "0x%llx is not a live %s of this device", (unsigned long long)handle,
                    sim_kinds[kind].name);
    }
    return object;
}

void sim_object_remove(struct sim_object* object)
{
    struct sim_device* device = object->device;
    const uint32_t slot = (uint32_t)(object->handle & SIM_SLOT_MASK) - 1u;
    device->slots[slot].object = NULL;
    device->slots[slot].generation = (device->slots[slot].generation + 1u) & SIM_GENERATION_MASK;
    device->slots[slot].next_free = device->first_free;
    device->first_free = slot;
    device->gpu->counters.liveCount[sim_kinds[object->kind].counter]--;
}

void* sim_object_retire(struct sim_device* device, enum sim_function function, uint64_t handle,
                        enum sim_kind kind, const VkAllocationCallbacks* callbacks)
{
    if (handle == 0) {
        return NULL;
    }
    struct sim_object* object = sim_object_get(device, function, handle, kind);
    if (object == NULL) {
        return NULL;
    }
    if (object->has_callbacks != (callbacks != NULL)) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_CALLBACKS,
                    "the %s was created %s allocation callbacks", sim_kinds[kind].name,
                    object->has_callbacks ? "with" : "without");
    }
    if (object->busy != 0) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_RACE,
                    "another thread is using the %s", sim_kinds[kind].name);
    }
    sim_object_remove(object);
    return object;
}

void sim_object_release(struct sim_object* object)
{
    if (object != NULL) {
        const VkAllocationCallbacks callbacks = sim_object_callbacks(object) != NULL
                                                    ? *sim_object_callbacks(object)
                                                    : (VkAllocationCallbacks){0};
        maar_host_free(&callbacks, object);
    }
}
