/*
 * The file of a checkpoint: a head, the contents of each entry, and a directory.
 *
 * Everything begins at a multiple of the unit. The head says where the directory is, and has its
 * checksum. It is cleared before anything is written, and written last, after all else is on the
 * disk; so a file with a head has a whole checkpoint, as it was written.
 */
#ifndef MAAR_CORE_RESIDENCY_CHECKPOINT_FILE_H
#define MAAR_CORE_RESIDENCY_CHECKPOINT_FILE_H

#include "core/residency/codec.h"
#include "maar/checkpoint.h"

struct maar_checkpoint_entry {
    uint64_t key;
    uint64_t size; /* of the contents */
    uint64_t offset;
    uint64_t stored;   /* bytes in the file */
    uint64_t checksum; /* of these */
    uint64_t is_packed;
};

/* A checkpoint that is being written, or is open. */
struct maar_checkpoint_file {
    MaarFileStore store;
    struct maar_codec codec;
    const VkAllocationCallbacks* callbacks;
    uint64_t unit; /* bytes: a multiple of the store's alignment */
    uint64_t end;  /* of what was written */
    uint32_t entry_capacity;
    uint32_t entry_count;
    struct maar_checkpoint_entry* entries; /* by rising keys, except while they are written */
};

/* Sets the tables. Returns VK_ERROR_VALIDATION_FAILED_EXT if one of them cannot be used. */
VkResult maar_checkpoint_init(struct maar_checkpoint_file* file, const MaarFileStore* store,
                              const struct maar_codec* codec,
                              const VkAllocationCallbacks* callbacks);
void maar_checkpoint_free(struct maar_checkpoint_file* file);

/* Begins to write: clears the head. */
VkResult maar_checkpoint_begin(struct maar_checkpoint_file* file);
/* Writes the contents of an entry. */
VkResult maar_checkpoint_add(struct maar_checkpoint_file* file, uint64_t key, const void* bytes,
                             size_t size);
/* Writes the directory and the head. Returns VK_ERROR_VALIDATION_FAILED_EXT if two entries have one
 * key, which *twice receives. */
VkResult maar_checkpoint_end(struct maar_checkpoint_file* file, uint64_t* twice);

/* Reads the head and the directory. */
VkResult maar_checkpoint_load(struct maar_checkpoint_file* file);
/* Returns the entry of a key, or NULL. */
const struct maar_checkpoint_entry* maar_checkpoint_find(const struct maar_checkpoint_file* file,
                                                         uint64_t key);
/* Reads the contents of an entry. */
VkResult maar_checkpoint_get(const struct maar_checkpoint_file* file,
                             const struct maar_checkpoint_entry* entry, void* bytes);

#endif
