/*
 * Checks descriptors, and converts them from and to their layout on the wire. A descriptor is sound
 * if all its fields are valid. These functions know no allocators, devices or sockets.
 *
 * The wire, little-endian, 256 bytes: "MAARDESC"; u32 version; u32 CRC-32C of all bytes, computed
 * with these four bytes as 0; u32 kind; u32 handleType; deviceUUID; driverUUID; u64 blockSize,
 * offset, size; u32 memoryTypeIndex; u32 1 for dedicated, else 0; u32 bufferUsage, bufferFlags; u64
 * userValue; name, padded with zeros; zeros. The checksum protects only against accidents, so every
 * field is checked too.
 */
#ifndef MAAR_INTEROP_PROCESS_DESCRIPTOR_H
#define MAAR_INTEROP_PROCESS_DESCRIPTOR_H

#include <stdbool.h>

#include "maar/process.h"

#define MAAR_DESCRIPTOR_VERSION 1u

enum maar_descriptor_verdict {
    MAAR_DESCRIPTOR_SOUND,
    MAAR_DESCRIPTOR_WRONG,
    MAAR_DESCRIPTOR_OTHER_VERSION
};

/* Returns NULL for a sound descriptor, or else a sentence that names the faulty field. */
const char* maar_descriptor_fault(const MaarDescriptor* descriptor);
/* Writes MAAR_DESCRIPTOR_SIZE bytes of a sound descriptor. */
void maar_descriptor_encode(const MaarDescriptor* descriptor, uint8_t* bytes);
/* Fills all fields but sType and pNext if the bytes are sound. Otherwise, *what says what is wrong.
 * Reads at most `size` bytes. */
enum maar_descriptor_verdict maar_descriptor_decode(size_t size, const uint8_t* bytes,
                                                    MaarDescriptor* descriptor, const char** what);
/* Returns whether only the same device and driver understand handles of this type. */
bool maar_descriptor_is_opaque(const MaarDescriptor* descriptor);
/* Copies a text into the name. If the text is too long, cuts it after a whole character. Replaces
 * each invalid byte by '?'. text may be NULL. */
void maar_descriptor_set_name(MaarDescriptor* descriptor, const char* text);

#endif
