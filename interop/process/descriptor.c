/*
 * The wire format of descriptors, and the examination of every field.
 */
#include "interop/process/descriptor.h"

#include <string.h>

static const uint8_t magic[8] = {'M', 'A', 'A', 'R', 'D', 'E', 'S', 'C'};

/* Where the fields lie. */
enum {
    AT_VERSION = 8,
    AT_CHECKSUM = 12,
    AT_KIND = 16,
    AT_HANDLE_TYPE = 20,
    AT_DEVICE_UUID = 24,
    AT_DRIVER_UUID = 40,
    AT_BLOCK_SIZE = 56,
    AT_OFFSET = 64,
    AT_SIZE = 72,
    AT_MEMORY_TYPE = 80,
    AT_DEDICATED = 84,
    AT_BUFFER_USAGE = 88,
    AT_BUFFER_FLAGS = 92,
    AT_USER_VALUE = 96,
    AT_NAME = 104,
    AT_RESERVED = 168
};

/* Types whose handles have an owner and may travel: not KMT handles, which hold no reference, and
 * not addresses of the host, which mean nothing elsewhere. */
static const VkExternalMemoryHandleTypeFlags memory_types =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT | VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_TEXTURE_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
/* Sync files carry no timelines. */
static const VkExternalSemaphoreHandleTypeFlags timeline_types =
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT |
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT |
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE_BIT;

static const VkBufferCreateFlags sparse_flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                                VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                                                VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;

/* ---- names ---- */

/* Bytes of the UTF-8 character that begins a text of so many bytes; 0 when there is none that may
 * stand in a name. */
static size_t name_character(const unsigned char* text, size_t left)
{
    const unsigned char first = text[0];
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0x20 || first == 0x7F || (first >= 0x80 && first < 0xC2) || first > 0xF4 ||
        length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; ++i) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const unsigned char second = length > 1 ? text[1] : 0;
    const bool wrong = (first == 0xC2 && second < 0xA0) || /* control characters */
                       (first == 0xE0 && second < 0xA0) || /* longer than need be */
                       (first == 0xED && second > 0x9F) || /* halves of UTF-16 */
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

static const char* name_fault(const char* name)
{
    const unsigned char* text = (const unsigned char*)name;
    const unsigned char* end = memchr(text, 0, MAAR_DESCRIPTOR_NAME_SIZE);
    if (end == NULL) {
        return "name has no zero at its end";
    }
    while (text < end) {
        const size_t length = name_character(text, (size_t)(end - text));
        if (length == 0) {
            return "name is not UTF-8 without control characters";
        }
        text += length;
    }
    return NULL;
}

void maar_descriptor_set_name(MaarDescriptor* descriptor, const char* text)
{
    const unsigned char* from = (const unsigned char*)(text != NULL ? text : "");
    size_t left = strlen((const char*)from);
    size_t used = 0;
    memset(descriptor->name, 0, sizeof descriptor->name);
    while (left != 0) {
        const size_t length = name_character(from, left);
        const size_t step = length != 0 ? length : 1;
        if (used + step >= sizeof descriptor->name) {
            return;
        }
        memcpy(&descriptor->name[used], length != 0 ? (const char*)from : "?", step);
        used += step;
        from += step;
        left -= step;
    }
}

/* ---- soundness ---- */

static bool is_one_of(uint32_t type, uint32_t types)
{
    return (type & (type - 1)) == 0 && (type & types) != 0;
}

static const char* memory_fault(const MaarDescriptor* descriptor)
{
    const bool buffer = descriptor->kind == MAAR_DESCRIPTOR_KIND_BUFFER;
    if (!is_one_of(descriptor->handleType, memory_types)) {
        return "handleType is not one type of memory that can be sent";
    }
    if (descriptor->blockSize == 0) {
        return "blockSize is 0";
    }
    if (descriptor->offset >= descriptor->blockSize) {
        return "offset is not within the block";
    }
    if (descriptor->size == 0 || descriptor->size > descriptor->blockSize - descriptor->offset) {
        return "size is 0 or reaches beyond the block";
    }
    if (descriptor->memoryTypeIndex >= VK_MAX_MEMORY_TYPES &&
        descriptor->memoryTypeIndex != MAAR_MEMORY_TYPE_NONE) {
        return "memoryTypeIndex is no memory type";
    }
    if (buffer != (descriptor->bufferUsage != 0)) {
        return buffer ? "bufferUsage is 0" : "bufferUsage is not 0 for what is no buffer";
    }
    if ((descriptor->bufferFlags & sparse_flags) != 0) {
        return "bufferFlags say that it is sparse, and no sparse buffer is shared";
    }
    if (!buffer && descriptor->bufferFlags != 0) {
        return "bufferFlags are not 0 for what is no buffer";
    }
    return NULL;
}

static const char* timeline_fault(const MaarDescriptor* descriptor)
{
    if (!is_one_of(descriptor->handleType, timeline_types)) {
        return "handleType is not one type of timeline that can be sent";
    }
    if (descriptor->blockSize != 0 || descriptor->offset != 0 || descriptor->size != 0) {
        return "blockSize, offset or size is not 0 for a timeline";
    }
    if (descriptor->memoryTypeIndex != 0 || descriptor->dedicated != VK_FALSE) {
        return "memoryTypeIndex or dedicated is not 0 for a timeline";
    }
    if (descriptor->bufferUsage != 0 || descriptor->bufferFlags != 0) {
        return "bufferUsage or bufferFlags is not 0 for what is no buffer";
    }
    return NULL;
}

const char* maar_descriptor_fault(const MaarDescriptor* descriptor)
{
    const char* fault = NULL;
    switch ((uint32_t)descriptor->kind) {
    case MAAR_DESCRIPTOR_KIND_BUFFER:
    case MAAR_DESCRIPTOR_KIND_MEMORY:
        fault = memory_fault(descriptor);
        break;
    case MAAR_DESCRIPTOR_KIND_TIMELINE:
        fault = timeline_fault(descriptor);
        break;
    default:
        fault = "kind is none of MaarDescriptorKind";
        break;
    }
    if (fault == NULL && descriptor->dedicated != VK_FALSE && descriptor->dedicated != VK_TRUE) {
        fault = "dedicated is neither VK_FALSE nor VK_TRUE";
    }
    return fault != NULL ? fault : name_fault(descriptor->name);
}

bool maar_descriptor_is_opaque(const MaarDescriptor* descriptor)
{
    return descriptor->kind == MAAR_DESCRIPTOR_KIND_TIMELINE ||
           descriptor->handleType != (uint32_t)VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
}

/* ---- the wire ---- */

static void put32(uint8_t* at, uint32_t value)
{
    for (uint32_t i = 0; i < 4; ++i) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put64(uint8_t* at, uint64_t value)
{
    put32(at, (uint32_t)value);
    put32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get32(const uint8_t* at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t* at)
{
    return (uint64_t)get32(at) | (uint64_t)get32(at + 4) << 32;
}

/* CRC-32C (Castagnoli), bit by bit: 256 bytes need no table. */
static uint32_t wire_checksum(const uint8_t* bytes)
{
    const uint32_t polynomial = 0x82F63B78u;
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < MAAR_DESCRIPTOR_SIZE; ++i) {
        crc ^= i >= AT_CHECKSUM && i < AT_CHECKSUM + 4 ? 0 : bytes[i];
        for (uint32_t bit = 0; bit < 8; ++bit) {
            crc = (crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
        }
    }
    return ~crc;
}

void maar_descriptor_encode(const MaarDescriptor* descriptor, uint8_t* bytes)
{
    memset(bytes, 0, MAAR_DESCRIPTOR_SIZE);
    memcpy(bytes, magic, sizeof magic);
    put32(bytes + AT_VERSION, MAAR_DESCRIPTOR_VERSION);
    put32(bytes + AT_KIND, (uint32_t)descriptor->kind);
    put32(bytes + AT_HANDLE_TYPE, descriptor->handleType);
    memcpy(bytes + AT_DEVICE_UUID, descriptor->deviceUUID, VK_UUID_SIZE);
    memcpy(bytes + AT_DRIVER_UUID, descriptor->driverUUID, VK_UUID_SIZE);
    put64(bytes + AT_BLOCK_SIZE, descriptor->blockSize);
    put64(bytes + AT_OFFSET, descriptor->offset);
    put64(bytes + AT_SIZE, descriptor->size);
    put32(bytes + AT_MEMORY_TYPE, descriptor->memoryTypeIndex);
    put32(bytes + AT_DEDICATED, descriptor->dedicated);
    put32(bytes + AT_BUFFER_USAGE, descriptor->bufferUsage);
    put32(bytes + AT_BUFFER_FLAGS, descriptor->bufferFlags);
    put64(bytes + AT_USER_VALUE, descriptor->userValue);
    memcpy(bytes + AT_NAME, descriptor->name, strlen(descriptor->name));
    put32(bytes + AT_CHECKSUM, wire_checksum(bytes));
}

static bool is_zero_to(const uint8_t* bytes, uint32_t from, uint32_t to)
{
    while (from < to && bytes[from] == 0) {
        ++from;
    }
    return from == to;
}

/* What the fields in themselves do not show. */
static const char* wire_fault(const uint8_t* bytes)
{
    if (get32(bytes + AT_CHECKSUM) != wire_checksum(bytes)) {
        return "the checksum is not that of the bytes";
    }
    if (!is_zero_to(bytes, AT_RESERVED, MAAR_DESCRIPTOR_SIZE)) {
        return "reserved bytes are not 0";
    }
    const uint8_t* end = memchr(bytes + AT_NAME, 0, MAAR_DESCRIPTOR_NAME_SIZE);
    if (end != NULL && !is_zero_to(bytes, (uint32_t)(end - bytes), AT_RESERVED)) {
        return "name goes on behind its zero";
    }
    return NULL;
}

enum maar_descriptor_verdict maar_descriptor_decode(size_t size, const uint8_t* bytes,
                                                    MaarDescriptor* descriptor, const char** what)
{
    *what = "it is truncated";
    if (size < AT_CHECKSUM) {
        return MAAR_DESCRIPTOR_WRONG;
    }
    if (memcmp(bytes, magic, sizeof magic) != 0) {
        *what = "it does not begin as a descriptor does";
        return MAAR_DESCRIPTOR_WRONG;
    }
    if (get32(bytes + AT_VERSION) != MAAR_DESCRIPTOR_VERSION) {
        *what = "its version is not 1, which this library reads";
        return MAAR_DESCRIPTOR_OTHER_VERSION;
    }
    if (size < MAAR_DESCRIPTOR_SIZE) {
        return MAAR_DESCRIPTOR_WRONG;
    }
    *what = wire_fault(bytes);
    if (*what != NULL) {
        return MAAR_DESCRIPTOR_WRONG;
    }
    MaarDescriptor read = {
        .sType = descriptor->sType,
        .pNext = descriptor->pNext,
        .kind = (MaarDescriptorKind)get32(bytes + AT_KIND),
        .handleType = get32(bytes + AT_HANDLE_TYPE),
        .blockSize = get64(bytes + AT_BLOCK_SIZE),
        .offset = get64(bytes + AT_OFFSET),
        .size = get64(bytes + AT_SIZE),
        .memoryTypeIndex = get32(bytes + AT_MEMORY_TYPE),
        .dedicated = get32(bytes + AT_DEDICATED),
        .bufferUsage = get32(bytes + AT_BUFFER_USAGE),
        .bufferFlags = get32(bytes + AT_BUFFER_FLAGS),
        .userValue = get64(bytes + AT_USER_VALUE),
    };
    memcpy(read.deviceUUID, bytes + AT_DEVICE_UUID, VK_UUID_SIZE);
    memcpy(read.driverUUID, bytes + AT_DRIVER_UUID, VK_UUID_SIZE);
    memcpy(read.name, bytes + AT_NAME, MAAR_DESCRIPTOR_NAME_SIZE);
    *what = maar_descriptor_fault(&read);
    if (*what != NULL) {
        return MAAR_DESCRIPTOR_WRONG;
    }
    *descriptor = read;
    return MAAR_DESCRIPTOR_SOUND;
}
