/*
 * Finds the allocator's device among HIP's. UUIDs alone do not identify a card: HIP's UUID holds
 * the card's serial number, and the UUID of AMD's Vulkan drivers holds the card's place on the bus.
 * So the places on the bus are compared first, if Vulkan gives them (VK_EXT_pci_bus_info), and then
 * the UUIDs. If no device matches, the program must name the device.
 */
#include <stdio.h>
#include <string.h>

#include "core/memory/allocator_state.h"
#include "interop/hip/hip_internal.h"

enum { ADDRESS_SIZE = 32 };

/* A device's place on the bus: "0000:03:00.0". */
struct pci_address {
    uint32_t parts[4]; /* domain, bus, device, function */
};

/* Returns false if the text is not an address. Digits are hexadecimal; a ':' follows each of the
 * first two parts, and a '.' follows the third. */
static bool read_pci_address(const char* text, struct pci_address* address)
{
    static const char ends[4] = {':', ':', '.', '\0'};
    const char* at = text;
    for (size_t part = 0; part < 4; ++part) {
        uint32_t value = 0;
        size_t digits = 0;
        for (;; ++at, ++digits) {
            const char* hex = "0123456789abcdef";
            const char lower = (char)(*at >= 'A' && *at <= 'F' ? *at - 'A' + 'a' : *at);
            const char* found = lower != '\0' ? strchr(hex, lower) : NULL;
            if (found == NULL) {
                break;
            }
            value = value << 4 | (uint32_t)(found - hex);
        }
        if (digits == 0 || digits > 8 || *at != ends[part]) {
            return false;
        }
        ++at;
        address->parts[part] = value;
    }
    return true;
}

static bool is_at_address(MaarHip hip, int ordinal)
{
    const struct maar_device_facts* facts = &hip->peer.allocator->device.facts;
    const struct pci_address own = {
        {facts->pci_domain, facts->pci_bus, facts->pci_device, facts->pci_function}};
    struct pci_address there;
    char text[ADDRESS_SIZE] = "";
    return hip->runtime.hipDeviceGetPCIBusId(text, (int)sizeof text, ordinal) == MAAR_HIP_SUCCESS &&
           read_pci_address(text, &there) && memcmp(own.parts, there.parts, sizeof own.parts) == 0;
}

static bool has_hip_uuid(MaarHip hip, int ordinal)
{
    const struct maar_device_facts* facts = &hip->peer.allocator->device.facts;
    struct maar_hip_uuid uuid = {{0}};
    return hip->runtime.hipDeviceGetUuid != NULL &&
           hip->runtime.hipDeviceGetUuid(&uuid, ordinal) == MAAR_HIP_SUCCESS &&
           memcmp(uuid.bytes, facts->device_uuid, VK_UUID_SIZE) == 0;
}

/* Reports each HIP device in a message of its own, and the Vulkan device in one more. */
static VkResult report_no_hip_device(MaarHip hip, const char* call, int count)
{
    MaarAllocator allocator = hip->peer.allocator;
    const struct maar_device_facts* facts = &allocator->device.facts;
    char own[ADDRESS_SIZE] = "an unknown PCI address";
    char first[ADDRESS_SIZE] = "none";
    if (facts->pci_address_known) {
        (void)snprintf(own, sizeof own, "PCI address %04x:%02x:%02x.%x",
                       (unsigned)facts->pci_domain, (unsigned)facts->pci_bus,
                       (unsigned)facts->pci_device, (unsigned)facts->pci_function);
    }
    for (int i = 0; i < count; ++i) {
        char name[64] = "";
        char address[ADDRESS_SIZE] = "?";
        (void)hip->runtime.hipDeviceGetName(name, (int)sizeof name, i);
        (void)hip->runtime.hipDeviceGetPCIBusId(address, (int)sizeof address, i);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_INFO, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH,
                    call, "HIP device %d is %s at %s", i, name, address);
        if (i == 0) {
            memcpy(first, address, sizeof first);
        }
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, call,
                "none of %d HIP devices (the first is at %s) is the Vulkan device %.64s (%s)%s",
                count, first, facts->properties.deviceName, own,
                facts->pci_address_known
                    ? ""
                    : "; enable VK_EXT_pci_bus_info, or set pCreateInfo->deviceOrdinalPlusOne");
    return VK_ERROR_INCOMPATIBLE_DRIVER;
}

static int find_hip_ordinal(MaarHip hip, int count)
{
    const bool has_address = hip->peer.allocator->device.facts.pci_address_known;
    for (int i = 0; i < count && has_address; ++i) {
        if (is_at_address(hip, i)) {
            return i;
        }
    }
    for (int i = 0; i < count; ++i) {
        if (has_hip_uuid(hip, i)) {
            return i;
        }
    }
    return -1;
}

VkResult maar_hip_find_device(MaarHip hip, const char* call, uint32_t ordinal_plus_one)
{
    int count = 0;
    maar_lock_rank_expect_none();
    const enum maar_hip_result result = hip->runtime.hipGetDeviceCount(&count);
    if (result != MAAR_HIP_SUCCESS) {
        (void)maar_hip_report(hip, call, "hipGetDeviceCount", result, MAAR_HIP_CALL_PLAIN);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (ordinal_plus_one > (uint32_t)count) {
        maar_report(hip->peer.allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                    MAAR_MESSAGE_ID_PEER_DEVICE_MISMATCH, call,
                    "pCreateInfo->deviceOrdinalPlusOne is %u, but there are %d HIP devices",
                    (unsigned)ordinal_plus_one, count);
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    hip->ordinal = ordinal_plus_one != 0 ? (int)ordinal_plus_one - 1 : find_hip_ordinal(hip, count);
    if (hip->ordinal < 0) {
        return report_no_hip_device(hip, call, count);
    }
    (void)hip->runtime.hipDeviceGetName(hip->name, (int)sizeof hip->name - 1, hip->ordinal);
    return VK_SUCCESS;
}
