/*
 * The file of a checkpoint: see checkpoint_file.h. Numbers are stored as this machine has them; a
 * head of another byte order has no known mark.
 */
#include "core/residency/checkpoint_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/host_memory.h"
#include "core/residency/checksum.h"

enum {
    SMALLEST_UNIT = 4096, /* a page of any disk */
    VERSION = 1
};

/* The head of the file. */
struct head {
    uint64_t mark;
    uint64_t version;
    uint64_t unit;
    uint64_t entry_count;
    uint64_t directory_offset;
    uint64_t directory_checksum;
    uint64_t checksum; /* of all above */
};

static const uint64_t head_mark = UINT64_C(0x31504b435241414d); /* "MAARCKP1" */

/* ---- transfers ---- */

/* Memory for transfers, at an address that the store accepts. */
struct room {
    void* memory;
    uint8_t* bytes;
};

static bool take_room(const struct maar_checkpoint_file* file, uint64_t size, struct room* room)
{
    if (size > SIZE_MAX - file->unit) {
        return false;
    }
    room->memory = maar_host_alloc(file->callbacks, (size_t)(size + file->unit));
    if (room->memory == NULL) {
        return false;
    }
    const uintptr_t unit = (uintptr_t)file->unit;
    room->bytes = (uint8_t*)(((uintptr_t)room->memory + unit - 1) / unit * unit);
    return true;
}

static uint64_t align_to_unit(const struct maar_checkpoint_file* file, uint64_t size)
{
    return (size + file->unit - 1) / file->unit * file->unit;
}

/* Writes bytes at an offset, filled up with zeros. */
static VkResult put_number(const struct maar_checkpoint_file* file, uint64_t offset,
                           const void* bytes, size_t size)
{
    struct room room;
    const uint64_t whole = align_to_unit(file, size);
    if (offset > file->store.size || whole > file->store.size - offset) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (!take_room(file, whole, &room)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(room.bytes, bytes, size);
    memset(room.bytes + size, 0, (size_t)(whole - size));
    const VkResult result =
        file->store.pfnWrite(file->store.pUserData, offset, (size_t)whole, room.bytes);
    maar_host_free(file->callbacks, room.memory);
    return result;
}

/* Reads bytes into memory that the caller frees. The store may have a larger unit than the one with
 * which the file was written: then the bytes begin within a unit. */
static VkResult fetch(const struct maar_checkpoint_file* file, uint64_t offset, uint64_t size,
                      struct room* room)
{
    const uint64_t skipped = offset % file->unit;
    const uint64_t begin = offset - skipped;
    if (begin > file->store.size || size > file->store.size - begin) {
        return VK_ERROR_UNKNOWN;
    }
    const uint64_t whole = align_to_unit(file, skipped + size);
    if (whole > file->store.size - begin) {
        return VK_ERROR_UNKNOWN;
    }
    if (!take_room(file, whole, room)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkResult result =
        file->store.pfnRead(file->store.pUserData, begin, (size_t)whole, room->bytes);
    room->bytes += skipped;
    if (result != VK_SUCCESS) {
        maar_host_free(file->callbacks, room->memory);
    }
    return result;
}

static VkResult sync_file(const struct maar_checkpoint_file* file)
{
    return file->store.pfnSync != NULL ? file->store.pfnSync(file->store.pUserData) : VK_SUCCESS;
}

/* ---- both ---- */

VkResult maar_checkpoint_init(struct maar_checkpoint_file* file, const MaarFileStore* store,
                              const struct maar_codec* codec,
                              const VkAllocationCallbacks* callbacks)
{
    const VkDeviceSize alignment = store->alignment != 0 ? store->alignment : 1;
    *file = (struct maar_checkpoint_file){
        .store = *store,
        .codec = *codec,
        .callbacks = callbacks,
        .unit = alignment > SMALLEST_UNIT ? alignment : SMALLEST_UNIT,
    };
    const bool is_usable = store->pfnRead != NULL && store->pfnWrite != NULL &&
                           (alignment & (alignment - 1)) == 0 && alignment <= 65536;
    return is_usable ? VK_SUCCESS : VK_ERROR_VALIDATION_FAILED_EXT;
}

void maar_checkpoint_free(struct maar_checkpoint_file* file)
{
    maar_host_free(file->callbacks, file->entries);
    file->entries = NULL;
}

static int compare_entries(const void* one, const void* other)
{
    const struct maar_checkpoint_entry* a = one;
    const struct maar_checkpoint_entry* b = other;
    return a->key < b->key ? -1 : a->key > b->key;
}

const struct maar_checkpoint_entry* maar_checkpoint_find(const struct maar_checkpoint_file* file,
                                                         uint64_t key)
{
    const struct maar_checkpoint_entry wanted = {.key = key};
    return file->entry_count == 0
               ? NULL
               : bsearch(&wanted, file->entries, file->entry_count, sizeof wanted, compare_entries);
}

/* ---- writing ---- */

VkResult maar_checkpoint_begin(struct maar_checkpoint_file* file)
{
    const struct head none = {.mark = 0};
    VkResult result = put_number(file, 0, &none, sizeof none);
    if (result == VK_SUCCESS) {
        result = sync_file(file);
    }
    file->end = file->unit;
    return result;
}

/* Packs bytes, if they shrink. */
static void* pack_entry(const struct maar_checkpoint_file* file, const void* bytes, size_t size,
                        size_t* packed_size)
{
    const size_t bound = maar_codec_bound(size);
    void* packed = bound > 0 ? maar_host_alloc(file->callbacks, bound) : NULL;
    void* scratch = packed != NULL
                        ? maar_host_alloc(file->callbacks, maar_codec_scratch_size(&file->codec))
                        : NULL;
    *packed_size =
        scratch != NULL ? maar_codec_pack(&file->codec, scratch, bytes, size, packed, bound) : 0;
    maar_host_free(file->callbacks, scratch);
    if (*packed_size == 0) {
        maar_host_free(file->callbacks, packed);
        packed = NULL;
    }
    return packed;
}

VkResult maar_checkpoint_add(struct maar_checkpoint_file* file, uint64_t key, const void* bytes,
                             size_t size)
{
    struct maar_checkpoint_entry* entries =
        maar_host_grow(file->callbacks, file->entries, &file->entry_capacity, file->entry_count + 1,
                       sizeof entries[0]);
    if (entries == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    file->entries = entries;
    size_t stored = 0;
    void* packed = pack_entry(file, bytes, size, &stored);
    const void* source = packed != NULL ? packed : bytes;
    stored = packed != NULL ? stored : size;
    const VkResult result = put_number(file, file->end, source, stored);
    if (result == VK_SUCCESS) {
        file->entries[file->entry_count++] = (struct maar_checkpoint_entry){
            .key = key,
            .size = size,
            .offset = file->end,
            .stored = stored,
            .checksum = maar_checksum(source, stored),
            .is_packed = packed != NULL,
        };
        file->end += align_to_unit(file, stored);
    }
    maar_host_free(file->callbacks, packed);
    return result;
}

VkResult maar_checkpoint_end(struct maar_checkpoint_file* file, uint64_t* twice)
{
    const size_t size = file->entry_count * sizeof file->entries[0];
    struct head head = {
        .mark = head_mark,
        .version = VERSION,
        .unit = file->unit,
        .entry_count = file->entry_count,
        .directory_offset = file->end,
    };
    if (file->entry_count > 0) {
        qsort(file->entries, file->entry_count, sizeof file->entries[0], compare_entries);
    }
    for (uint32_t i = 1; i < file->entry_count; ++i) {
        if (file->entries[i].key == file->entries[i - 1].key) {
            *twice = file->entries[i].key;
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
    }
    VkResult result = size > 0 ? put_number(file, file->end, file->entries, size) : VK_SUCCESS;
    if (result == VK_SUCCESS) {
        result = sync_file(file);
    }
    if (result == VK_SUCCESS) {
        head.directory_checksum = maar_checksum(file->entries, size);
        head.checksum = maar_checksum(&head, offsetof(struct head, checksum));
        result = put_number(file, 0, &head, sizeof head);
    }
    if (result == VK_SUCCESS) {
        result = sync_file(file);
    }
    file->end += align_to_unit(file, size);
    return result;
}

/* ---- reading ---- */

/* Whether what the directory says can be. */
static bool are_entries_right(const struct maar_checkpoint_file* file)
{
    for (uint32_t i = 0; i < file->entry_count; ++i) {
        const struct maar_checkpoint_entry* entry = &file->entries[i];
        if ((i > 0 && entry->key <= file->entries[i - 1].key) || entry->size == 0 ||
            entry->size > SIZE_MAX / 2 || entry->stored == 0 || entry->stored > entry->size ||
            entry->offset > file->store.size || entry->stored > file->store.size - entry->offset ||
            (entry->is_packed == 0 && entry->stored != entry->size)) {
            return false;
        }
    }
    return true;
}

static VkResult load_head(struct maar_checkpoint_file* file, struct head* head)
{
    struct room room;
    const VkResult result = fetch(file, 0, sizeof *head, &room);
    if (result != VK_SUCCESS) {
        return result == VK_ERROR_UNKNOWN ? VK_ERROR_INITIALIZATION_FAILED : result;
    }
    memcpy(head, room.bytes, sizeof *head);
    maar_host_free(file->callbacks, room.memory);
    const bool is_whole = head->mark == head_mark && head->version == VERSION &&
                          head->checksum == maar_checksum(head, offsetof(struct head, checksum)) &&
                          head->entry_count <= UINT32_MAX / sizeof(struct maar_checkpoint_entry);
    return is_whole ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED;
}

VkResult maar_checkpoint_load(struct maar_checkpoint_file* file)
{
    struct head head;
    struct room room;
    VkResult result = load_head(file, &head);
    if (result != VK_SUCCESS || head.entry_count == 0) {
        return result;
    }
    const size_t size = (size_t)head.entry_count * sizeof file->entries[0];
    result = fetch(file, head.directory_offset, size, &room);
    if (result != VK_SUCCESS) {
        return result == VK_ERROR_UNKNOWN ? VK_ERROR_INITIALIZATION_FAILED : result;
    }
    file->entries = maar_host_alloc(file->callbacks, size);
    if (file->entries == NULL) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    } else {
        memcpy(file->entries, room.bytes, size);
        file->entry_count = (uint32_t)head.entry_count;
        file->entry_capacity = file->entry_count;
        if (maar_checksum(file->entries, size) != head.directory_checksum ||
            !are_entries_right(file)) {
            result = VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    maar_host_free(file->callbacks, room.memory);
    return result;
}

VkResult maar_checkpoint_get(const struct maar_checkpoint_file* file,
                             const struct maar_checkpoint_entry* entry, void* bytes)
{
    struct room room;
    void* scratch = NULL;
    VkResult result = fetch(file, entry->offset, entry->stored, &room);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (maar_checksum(room.bytes, (size_t)entry->stored) != entry->checksum) {
        result = VK_ERROR_UNKNOWN;
    } else if (entry->is_packed == 0) {
        memcpy(bytes, room.bytes, (size_t)entry->size);
    } else {
        scratch = maar_host_alloc(file->callbacks, maar_codec_scratch_size(&file->codec));
        if (scratch == NULL) {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        } else if (!maar_codec_unpack(&file->codec, scratch, room.bytes, (size_t)entry->stored,
                                      bytes, (size_t)entry->size)) {
            result = VK_ERROR_UNKNOWN;
        }
    }
    maar_host_free(file->callbacks, scratch);
    maar_host_free(file->callbacks, room.memory);
    return result;
}
