/*
 * Descriptors on the wire as the tests see them: sound ones of every kind, the places of the
 * fields, a checksum of the tests' own, and mutations.
 */
#ifndef MAAR_TESTS_UNIT_DESCRIPTOR_SAMPLES_H
#define MAAR_TESTS_UNIT_DESCRIPTOR_SAMPLES_H

#include <stdio.h>

#include "maar/process.h"
#include "tests/rig/rig.h"

enum wire {
    WIRE_MAGIC = 0,
    WIRE_VERSION = 8,
    WIRE_CHECKSUM = 12,
    WIRE_KIND = 16,
    WIRE_HANDLE_TYPE = 20,
    WIRE_DEVICE_UUID = 24,
    WIRE_DRIVER_UUID = 40,
    WIRE_BLOCK_SIZE = 56,
    WIRE_OFFSET = 64,
    WIRE_SIZE = 72,
    WIRE_MEMORY_TYPE = 80,
    WIRE_DEDICATED = 84,
    WIRE_BUFFER_USAGE = 88,
    WIRE_BUFFER_FLAGS = 92,
    WIRE_USER_VALUE = 96,
    WIRE_NAME = 104,
    WIRE_RESERVED = 168
};

/* A sound one of this device. */
static inline MaarDescriptor descriptor_sample(struct rig* rig, MaarDescriptorKind kind)
{
    MaarSharingInfo info = {.sType = MAAR_STRUCTURE_TYPE_SHARING_INFO};
    assert_int_equal(maarGetSharingInfo(rig->allocator, &info), VK_SUCCESS);
    MaarDescriptor sample = {
        .sType = MAAR_STRUCTURE_TYPE_DESCRIPTOR,
        .kind = kind,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
        .userValue = UINT64_C(0x1122334455667788),
        .name = "particles, \xC3\xBC \xE2\x82\xAC \xF0\x9F\x8C\x8B",
    };
    if (kind != MAAR_DESCRIPTOR_KIND_TIMELINE) {
        sample.blockSize = UINT64_C(0x123456789A);
        sample.offset = 0x10000;
        sample.size = UINT64_C(0x100000000);
        sample.memoryTypeIndex = 7;
    }
    if (kind == MAAR_DESCRIPTOR_KIND_BUFFER) {
        sample.bufferUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        sample.bufferFlags = VK_BUFFER_CREATE_PROTECTED_BIT;
        sample.dedicated = VK_TRUE;
    }
    memcpy(sample.deviceUUID, info.deviceUUID, VK_UUID_SIZE);
    memcpy(sample.driverUUID, info.driverUUID, VK_UUID_SIZE);
    return sample;
}

/* Gives the bytes the checksum that they should have: CRC-32C of all, the checksum itself as 0. */
static inline void descriptor_seal(uint8_t* bytes)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; ++i) {
        uint32_t row = i;
        for (int bit = 0; bit < 8; ++bit) {
            row = row >> 1 ^ (row % 2 * 0x82F63B78u);
        }
        table[i] = row;
    }
    memset(bytes + WIRE_CHECKSUM, 0, 4);
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < MAAR_DESCRIPTOR_SIZE; ++i) {
        crc = table[(crc ^ bytes[i]) & 0xFF] ^ crc >> 8;
    }
    crc = ~crc;
    for (uint32_t i = 0; i < 4; ++i) {
        bytes[WIRE_CHECKSUM + i] = (uint8_t)(crc >> 8 * i);
    }
}

/* Changes some bytes, fields or stretches at random; half of the results have a right checksum, so
 * that what lies behind it is reached. */
static inline void descriptor_mutate(struct rig_random* random, uint8_t* bytes)
{
    static const uint8_t fields[] = {WIRE_VERSION,      WIRE_KIND,       WIRE_HANDLE_TYPE,
                                     WIRE_BLOCK_SIZE,   WIRE_OFFSET,     WIRE_SIZE,
                                     WIRE_MEMORY_TYPE,  WIRE_DEDICATED,  WIRE_BUFFER_USAGE,
                                     WIRE_BUFFER_FLAGS, WIRE_USER_VALUE, WIRE_NAME};
    static const uint32_t values[] = {0, 1, 2, 3, 7, 32, 0x200, 0x7FFFFFFF, 0x80000000, UINT32_MAX};
    const uint32_t count = 1 + rig_below(random, 3);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t at = rig_below(random, MAAR_DESCRIPTOR_SIZE);
        const uint32_t length = 1 + rig_below(random, MAAR_DESCRIPTOR_SIZE - at);
        const uint8_t* from = bytes + rig_below(random, MAAR_DESCRIPTOR_SIZE - length + 1);
        switch (rig_below(random, 5)) {
        case 0:
            bytes[at] ^= (uint8_t)(1u << rig_below(random, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)rig_next(random);
            break;
        case 2: {
            const uint32_t value = values[rig_below(random, sizeof values / sizeof values[0])];
            uint8_t* to =
                bytes + fields[rig_below(random, sizeof fields)] + rig_below(random, 2) * 4;
            for (uint32_t k = 0; k < 4; ++k) {
                to[k] = (uint8_t)(value >> 8 * k);
            }
            break;
        }
        case 3:
            memmove(bytes + at, from, length);
            break;
        default:
            memset(bytes + at, rig_below(random, 2) != 0 ? 0 : 0xFF, length);
            break;
        }
    }
    if (rig_below(random, 2) == 0) {
        descriptor_seal(bytes);
    }
}

#endif
