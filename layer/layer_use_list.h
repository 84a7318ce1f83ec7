/*
 * A list of uses: what a command buffer, or a batch of them, does with objects, in the order of its
 * commands. A use of an object that the list has already is merged with it, so a list grows with
 * the number of objects and not with the number of commands.
 *
 * A part is a subresource of an image, or a whole buffer. DISCARD holds for an object whose every
 * part is overwritten before it is read. An image of more than 64 subresources is one part.
 *
 * A list is used by one thread at a time.
 */
#ifndef MAAR_LAYER_USE_LIST_H
#define MAAR_LAYER_USE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum layer_use_kind { LAYER_USE_BUFFER = 1, LAYER_USE_IMAGE = 2, LAYER_USE_SET = 3 };

struct layer_use {
    uint64_t object;
    uint64_t parts;     /* all that the object has */
    uint64_t touched;   /* those whose contents are used or replaced */
    uint64_t discarded; /* those that were replaced before they were used */
    uint8_t kind;       /* enum layer_use_kind */
    uint8_t flags;      /* MAAR_CAPTURE_USE_READ_BIT and _WRITE_BIT */
    uint8_t soft_flags; /* the same, of barriers: they count unless the contents are discarded */
};

struct layer_use_list {
    struct layer_use* items;
    uint32_t* slots; /* hash table: index of the newest item of an object, plus 1 */
    uint32_t count, capacity;
    uint32_t slot_count; /* a power of two, or 0 */
    uint32_t sets_end;   /* the item behind the last set */
};

/* Adds a use. Without memory, the use is lost. */
void maar_layer_use_list_add(struct layer_use_list* list, const struct layer_use* use);
/* Adds all uses of another list. */
void maar_layer_use_list_append(struct layer_use_list* list, const struct layer_use_list* other);
/* Empties a list and keeps its memory. */
void maar_layer_use_list_clear(struct layer_use_list* list);
void maar_layer_use_list_free(struct layer_use_list* list);

/* The MaarCaptureUseFlagBits of a use. */
uint32_t maar_layer_use_flags(const struct layer_use* use);

#endif
