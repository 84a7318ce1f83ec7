/*
 * The wire format of descriptors, and the check of every field.
 */
#include "interop/process/descriptor.h"

#include "core/bits.h"

#include <string.h>

static const uint8_t magic[8] = {'M', 'A', 'A', 'R', 'D', 'E', 'S', 'C'};

/* Offsets of the fields. */
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

/* The types of memory handles that may be sent to another process. KMT handles hold no reference to
 * the memory, and addresses of the host mean nothing in another process. */
static const VkExternalMemoryHandleTypeFlags memory_types =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT | VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_TEXTURE_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE_BIT |
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
/* The types of handles of timelines that may be sent. A sync file cannot hold a timeline. */
static const VkExternalSemaphoreHandleTypeFlags timeline_types =
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT |
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT |
    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE_BIT;

static const VkBufferCreateFlags sparse_flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                                VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT |
                                                VK_BUFFER_CREATE_SPARSE_ALIASED_BIT;

/* ---- names ---- */

/* Returns the length in bytes of the UTF-8 character at the start of a text. Returns 0 if no
 * character that a name may contain begins there. */
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
                       (first == 0xE0 && second < 0xA0) || /* more bytes than needed */
                       (first == 0xED && second > 0x9F) || /* surrogates of UTF-16 */
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : length;
}

static const char* name_fault(const char* name)
{
    const unsigned char* text = (const unsigned char*)name;
    const unsigned char* end = memchr(text, 0, MAAR_DESCRIPTOR_NAME_SIZE);
    if (end == NULL) {
        return "name is not zero-terminated";
    }
    while (text < end) {
        const size_t length = name_character(text, (size_t)(end - text));
        if (length == 0) {
            return "name is not valid UTF-8, or has control characters";
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
    return maar_is_power_of_two_or_zero(type) && (type & types) != 0;
}

static const char* memory_fault(const MaarDescriptor* descriptor)
{
    const bool buffer = descriptor->kind == MAAR_DESCRIPTOR_KIND_BUFFER;
    if (!is_one_of(descriptor->handleType, memory_types)) {
        return "handleType is not exactly one type of memory that can be sent";
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
        return "memoryTypeIndex is not a memory type";
    }
    if (buffer != (descriptor->bufferUsage != 0)) {
        return buffer ? "bufferUsage is 0"
                      : "bufferUsage is not 0, but kind is not that of a buffer";
    }
    if ((descriptor->bufferFlags & sparse_flags) != 0) {
        return "bufferFlags request a sparse buffer, but sparse buffers are not shared";
    }
    if (!buffer && descriptor->bufferFlags != 0) {
        return "bufferFlags are not 0, but kind is not that of a buffer";
    }
    return NULL;
}

static const char* timeline_fault(const MaarDescriptor* descriptor)
{
    if (!is_one_of(descriptor->handleType, timeline_types)) {
        return "handleType is not exactly one type of timeline that can be sent";
    }
    if (descriptor->blockSize != 0 || descriptor->offset != 0 || descriptor->size != 0) {
        return "blockSize, offset or size is not 0 for a timeline";
    }
    if (descriptor->memoryTypeIndex != 0 || descriptor->dedicated != VK_FALSE) {
        return "memoryTypeIndex or dedicated is not 0 for a timeline";
    }
    if (descriptor->bufferUsage != 0 || descriptor->bufferFlags != 0) {
        return "bufferUsage or bufferFlags is not 0 for a timeline";
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
        fault = "kind is not a MaarDescriptorKind";
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

/* How each value of a byte changes the CRC-32C (Castagnoli); the reflected polynomial is
 * 0x82F63B78. */
static const uint32_t checksum_steps[256] = {
    0x00000000u, 0xF26B8303u, 0xE13B70F7u, 0x1350F3F4u, 0xC79A971Fu, 0x35F1141Cu, 0x26A1E7E8u,
    0xD4CA64EBu, 0x8AD958CFu, 0x78B2DBCCu, 0x6BE22838u, 0x9989AB3Bu, 0x4D43CFD0u, 0xBF284CD3u,
    0xAC78BF27u, 0x5E133C24u, 0x105EC76Fu, 0xE235446Cu, 0xF165B798u, 0x030E349Bu, 0xD7C45070u,
    0x25AFD373u, 0x36FF2087u, 0xC494A384u, 0x9A879FA0u, 0x68EC1CA3u, 0x7BBCEF57u, 0x89D76C54u,
    0x5D1D08BFu, 0xAF768BBCu, 0xBC267848u, 0x4E4DFB4Bu, 0x20BD8EDEu, 0xD2D60DDDu, 0xC186FE29u,
    0x33ED7D2Au, 0xE72719C1u, 0x154C9AC2u, 0x061C6936u, 0xF477EA35u, 0xAA64D611u, 0x580F5512u,
    0x4B5FA6E6u, 0xB93425E5u, 0x6DFE410Eu, 0x9F95C20Du, 0x8CC531F9u, 0x7EAEB2FAu, 0x30E349B1u,
    0xC288CAB2u, 0xD1D83946u, 0x23B3BA45u, 0xF779DEAEu, 0x05125DADu, 0x1642AE59u, 0xE4292D5Au,
    0xBA3A117Eu, 0x4851927Du, 0x5B016189u, 0xA96AE28Au, 0x7DA08661u, 0x8FCB0562u, 0x9C9BF696u,
    0x6EF07595u, 0x417B1DBCu, 0xB3109EBFu, 0xA0406D4Bu, 0x522BEE48u, 0x86E18AA3u, 0x748A09A0u,
    0x67DAFA54u, 0x95B17957u, 0xCBA24573u, 0x39C9C670u, 0x2A993584u, 0xD8F2B687u, 0x0C38D26Cu,
    0xFE53516Fu, 0xED03A29Bu, 0x1F682198u, 0x5125DAD3u, 0xA34E59D0u, 0xB01EAA24u, 0x42752927u,
    0x96BF4DCCu, 0x64D4CECFu, 0x77843D3Bu, 0x85EFBE38u, 0xDBFC821Cu, 0x2997011Fu, 0x3AC7F2EBu,
    0xC8AC71E8u, 0x1C661503u, 0xEE0D9600u, 0xFD5D65F4u, 0x0F36E6F7u, 0x61C69362u, 0x93AD1061u,
    0x80FDE395u, 0x72966096u, 0xA65C047Du, 0x5437877Eu, 0x4767748Au, 0xB50CF789u, 0xEB1FCBADu,
    0x197448AEu, 0x0A24BB5Au, 0xF84F3859u, 0x2C855CB2u, 0xDEEEDFB1u, 0xCDBE2C45u, 0x3FD5AF46u,
    0x7198540Du, 0x83F3D70Eu, 0x90A324FAu, 0x62C8A7F9u, 0xB602C312u, 0x44694011u, 0x5739B3E5u,
    0xA55230E6u, 0xFB410CC2u, 0x092A8FC1u, 0x1A7A7C35u, 0xE811FF36u, 0x3CDB9BDDu, 0xCEB018DEu,
    0xDDE0EB2Au, 0x2F8B6829u, 0x82F63B78u, 0x709DB87Bu, 0x63CD4B8Fu, 0x91A6C88Cu, 0x456CAC67u,
    0xB7072F64u, 0xA457DC90u, 0x563C5F93u, 0x082F63B7u, 0xFA44E0B4u, 0xE9141340u, 0x1B7F9043u,
    0xCFB5F4A8u, 0x3DDE77ABu, 0x2E8E845Fu, 0xDCE5075Cu, 0x92A8FC17u, 0x60C37F14u, 0x73938CE0u,
    0x81F80FE3u, 0x55326B08u, 0xA759E80Bu, 0xB4091BFFu, 0x466298FCu, 0x1871A4D8u, 0xEA1A27DBu,
    0xF94AD42Fu, 0x0B21572Cu, 0xDFEB33C7u, 0x2D80B0C4u, 0x3ED04330u, 0xCCBBC033u, 0xA24BB5A6u,
    0x502036A5u, 0x4370C551u, 0xB11B4652u, 0x65D122B9u, 0x97BAA1BAu, 0x84EA524Eu, 0x7681D14Du,
    0x2892ED69u, 0xDAF96E6Au, 0xC9A99D9Eu, 0x3BC21E9Du, 0xEF087A76u, 0x1D63F975u, 0x0E330A81u,
    0xFC588982u, 0xB21572C9u, 0x407EF1CAu, 0x532E023Eu, 0xA145813Du, 0x758FE5D6u, 0x87E466D5u,
    0x94B49521u, 0x66DF1622u, 0x38CC2A06u, 0xCAA7A905u, 0xD9F75AF1u, 0x2B9CD9F2u, 0xFF56BD19u,
    0x0D3D3E1Au, 0x1E6DCDEEu, 0xEC064EEDu, 0xC38D26C4u, 0x31E6A5C7u, 0x22B65633u, 0xD0DDD530u,
    0x0417B1DBu, 0xF67C32D8u, 0xE52CC12Cu, 0x1747422Fu, 0x49547E0Bu, 0xBB3FFD08u, 0xA86F0EFCu,
    0x5A048DFFu, 0x8ECEE914u, 0x7CA56A17u, 0x6FF599E3u, 0x9D9E1AE0u, 0xD3D3E1ABu, 0x21B862A8u,
    0x32E8915Cu, 0xC083125Fu, 0x144976B4u, 0xE622F5B7u, 0xF5720643u, 0x07198540u, 0x590AB964u,
    0xAB613A67u, 0xB831C993u, 0x4A5A4A90u, 0x9E902E7Bu, 0x6CFBAD78u, 0x7FAB5E8Cu, 0x8DC0DD8Fu,
    0xE330A81Au, 0x115B2B19u, 0x020BD8EDu, 0xF0605BEEu, 0x24AA3F05u, 0xD6C1BC06u, 0xC5914FF2u,
    0x37FACCF1u, 0x69E9F0D5u, 0x9B8273D6u, 0x88D28022u, 0x7AB90321u, 0xAE7367CAu, 0x5C18E4C9u,
    0x4F48173Du, 0xBD23943Eu, 0xF36E6F75u, 0x0105EC76u, 0x12551F82u, 0xE03E9C81u, 0x34F4F86Au,
    0xC69F7B69u, 0xD5CF889Du, 0x27A40B9Eu, 0x79B737BAu, 0x8BDCB4B9u, 0x988C474Du, 0x6AE7C44Eu,
    0xBE2DA0A5u, 0x4C4623A6u, 0x5F16D052u, 0xAD7D5351u,
};

/* Computes the checksum byte by byte. Bit by bit, it took 1.6 of the 1.7 us that a descriptor
 * took. */
static uint32_t wire_checksum(const uint8_t* bytes)
{
    uint32_t crc = UINT32_MAX;
    for (uint32_t i = 0; i < MAAR_DESCRIPTOR_SIZE; ++i) {
        const uint8_t byte = i >= AT_CHECKSUM && i < AT_CHECKSUM + 4 ? 0 : bytes[i];
        crc = crc >> 8 ^ checksum_steps[(crc ^ byte) & 0xFF];
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

/* Returns a fault of the bytes that the decoded fields do not show, or NULL. */
static const char* wire_fault(const uint8_t* bytes)
{
    if (get32(bytes + AT_CHECKSUM) != wire_checksum(bytes)) {
        return "the checksum does not match the bytes";
    }
    if (!is_zero_to(bytes, AT_RESERVED, MAAR_DESCRIPTOR_SIZE)) {
        return "reserved bytes are not 0";
    }
    const uint8_t* end = memchr(bytes + AT_NAME, 0, MAAR_DESCRIPTOR_NAME_SIZE);
    if (end != NULL && !is_zero_to(bytes, (uint32_t)(end - bytes), AT_RESERVED)) {
        return "name has more bytes after its terminating zero";
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
        *what = "it does not begin with MAARDESC";
        return MAAR_DESCRIPTOR_WRONG;
    }
    if (get32(bytes + AT_VERSION) != MAAR_DESCRIPTOR_VERSION) {
        *what = "its version is not 1, the only version that this library reads";
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
