/*
 * Finds the allocator's device among CUDA's: the device with the same UUID or, where the Vulkan
 * driver gives a LUID (on Windows), the device with the same LUID and node mask. A name does not
 * identify a device: a second device of the same model would accept the memory and write somewhere
 * else.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory/allocator_state.h"
#include "interop/cuda/cuda_internal.h"

/* Sizes of texts: one identity, and the list of the identities that were seen. */
enum { IDENTITY_SIZE = 64, SEEN_SIZE = 112 };

struct cuda_identity {
    uint8_t bytes[VK_UUID_SIZE];
    uint32_t size; /* of the bytes; 0 if the driver gives no identity */
    uint32_t node_mask;
};

static void describe_identity(const struct cuda_identity* identity, char text[IDENTITY_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char* at = text;
    for (uint32_t i = 0; i < identity->size; ++i) {
        *at++ = digits[identity->bytes[i] >> 4];
        *at++ = digits[identity->bytes[i] & 15];
    }
    *at = 0;
    const size_t room = (size_t)(text + IDENTITY_SIZE - at);
    if (identity->size == 0) {
        (void)snprintf(at, room, "unknown");
    } else if (identity->size == VK_LUID_SIZE) {
        (void)snprintf(at, room, " of node mask 0x%x", (unsigned)identity->node_mask);
    }
}

static struct cuda_identity vulkan_identity(const struct maar_device_facts* facts, bool by_luid)
{
    struct cuda_identity identity = {.size = by_luid ? VK_LUID_SIZE : VK_UUID_SIZE};
    memcpy(identity.bytes, by_luid ? facts->device_luid : facts->device_uuid, identity.size);
    identity.node_mask = by_luid ? facts->device_node_mask : 0;
    return identity;
}

static struct cuda_identity cuda_device_identity(MaarCuda cuda, maar_cuda_device device,
                                                 bool by_luid)
{
    struct cuda_identity identity = {.size = 0};
    struct maar_cuda_uuid uuid = {{0}};
    if (by_luid) {
        char luid[VK_LUID_SIZE] = {0};
        unsigned int node_mask = 0;
        if (cuda->driver.cuDeviceGetLuid(luid, &node_mask, device) == MAAR_CUDA_SUCCESS) {
            memcpy(identity.bytes, luid, sizeof luid);
            identity.size = VK_LUID_SIZE;
            identity.node_mask = node_mask;
        }
        return identity;
    }
    const maar_cuda_cuDeviceGetUuid_fn get = cuda->driver.cuDeviceGetUuid != NULL
                                                 ? cuda->driver.cuDeviceGetUuid
                                                 : cuda->driver.cuDeviceGetUuid_v1;
    if (get != NULL && get(&uuid, device) == MAAR_CUDA_SUCCESS) {
        memcpy(identity.bytes, uuid.bytes, sizeof uuid.bytes);
        identity.size = VK_UUID_SIZE;
    }
    return identity;
}

static bool is_same_identity(const struct cuda_identity* a, const struct cuda_identity* b)
{
    return a->size != 0 && a->size == b->size && a->node_mask == b->node_mask &&
           memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* Reports each CUDA device in a message of its own. One more message names the Vulkan device and as
 * many identities of CUDA devices as fit. */
static VkResult report_no_device(MaarCuda cuda, const char* call, int count, bool by_luid)
{
    MaarAllocator allocator = cuda->peer.allocator;
    const struct maar_device_facts* facts = &allocator->device.facts;
    const struct cuda_identity wanted = vulkan_identity(facts, by_luid);
    char wanted_text[IDENTITY_SIZE];
    char text[IDENTITY_SIZE];
    char seen[SEEN_SIZE] = "";
    describe_identity(&wanted, wanted_text);
    size_t length = 0;
    for (int i = 0; i < count; ++i) {
        maar_cuda_device device = 0;
        char name[64] = "";
        if (cuda->driver.cuDeviceGet(&device, i) != MAAR_CUDA_SUCCESS) {
            continue;
        }
        (void)cuda->driver.cuDeviceGetName(name, (int)sizeof name, device);
        const struct cuda_identity identity = cuda_device_identity(cuda, device, by_luid);
        describe_identity(&identity, text);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH,
                    call, "CUDA device %d is %s, %s %s", i, name, by_luid ? "LUID" : "UUID", text);
        if (length + strlen(text) + 3 < sizeof seen) {
            length += (size_t)snprintf(seen + length, sizeof seen - length, "%s%s",
                                       length > 0 ? ", " : "", text);
        }
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, call,
                "none of %d CUDA devices (%s: %s) is the Vulkan device %.48s (%s)", count,
                by_luid ? "LUIDs" : "UUIDs", length > 0 ? seen : "none",
                facts->properties.deviceName, wanted_text);
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

VkResult maar_cuda_find_device(MaarCuda cuda, const char* call)
{
    const struct maar_device_facts* facts = &cuda->peer.allocator->device.facts;
    const bool by_luid = facts->device_luid_valid && cuda->driver.cuDeviceGetLuid != NULL;
    const struct cuda_identity wanted = vulkan_identity(facts, by_luid);
    int count = 0;
    maar_lock_rank_expect_none();
    const enum maar_cuda_result result = cuda->driver.cuDeviceGetCount(&count);
    if (result != MAAR_CUDA_SUCCESS) {
        (void)maar_cuda_report(cuda, call, "cuDeviceGetCount", result, MAAR_CUDA_CALL_PLAIN);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    for (int i = 0; i < count; ++i) {
        maar_cuda_device device = 0;
        if (cuda->driver.cuDeviceGet(&device, i) != MAAR_CUDA_SUCCESS) {
            continue;
        }
        const struct cuda_identity identity = cuda_device_identity(cuda, device, by_luid);
        if (is_same_identity(&identity, &wanted)) {
            cuda->device = device;
            cuda->ordinal = i;
            (void)cuda->driver.cuDeviceGetName(cuda->name, (int)sizeof cuda->name - 1, device);
            return VK_SUCCESS;
        }
    }
    return report_no_device(cuda, call, count, by_luid);
}

bool maar_cuda_attribute(MaarCuda cuda, enum maar_cuda_attribute attribute)
{
    int value = 0;
    return cuda->driver.cuDeviceGetAttribute(&value, attribute, cuda->device) ==
               MAAR_CUDA_SUCCESS &&
           value != 0;
}
