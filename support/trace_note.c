/*
 * Notes of a trace's rows: "key=value key=value", in any order.
 */
#include "support/trace_internal.h"

#include <string.h>

/* Reads a value, or the three parts of a box. */
static bool trace_note_value(struct trace_field field, const struct trace_note_key* key)
{
    const size_t parts = key->form == NOTE_BOX ? 3 : 1;
    const char* at = field.text;
    const char* const end = field.text + field.size;
    if (key->form == NOTE_HEX) {
        if (field.size < 3 || at[0] != '0' || at[1] != 'x') {
            return false;
        }
        at += 2;
    }
    for (size_t part = 0; part < parts; part++) {
        const char* stop = at;
        while (stop < end && !(key->form == NOTE_BOX && *stop == 'x')) {
            stop++;
        }
        const struct trace_field number = {at, (size_t)(stop - at)};
        if (!trace_number(number, key->form == NOTE_HEX ? 16 : 10, &key->values[part]) ||
            key->values[part] > key->max || (part + 1 < parts) != (stop < end)) {
            return false;
        }
        at = stop + 1;
    }
    return true;
}

/* Reads a note. Returns false when it has another form, or a key twice. */
static bool trace_note_read(const char* note, size_t size, const struct trace_note_key* keys,
                            size_t count, uint32_t* seen)
{
    *seen = 0;
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && note[end] != ' ') {
            end++;
        }
        size_t key = 0;
        size_t length = 0;
        while (key < count) {
            length = strlen(keys[key].key);
            if (end - at > length && memcmp(note + at, keys[key].key, length) == 0 &&
                note[at + length] == '=') {
                break;
            }
            key++;
        }
        if (key == count || (*seen >> key & 1u) != 0) {
            return false;
        }
        *seen |= 1u << key;
        at += length + 1;
        const struct trace_field value = {note + at, end - at};
        if (!trace_note_value(value, &keys[key])) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

bool trace_note(struct trace_reader* reader, const struct trace_note_key* keys, size_t count,
                uint32_t* seen)
{
    const struct trace_field note = reader->fields[COLUMN_NOTE];
    return trace_note_read(note.text, note.size, keys, count, seen) ||
           trace_fail(reader, COLUMN_NOTE, "has an unknown key, one twice, or a wrong value");
}

/* The facts that an image's note has either all or none of. */
enum { IMAGE_FACTS = 0x1F, IMAGE_VALUES = 7 };

static bool trace_take_image(const uint64_t values[IMAGE_VALUES], struct support_trace_image* image)
{
    for (size_t i = 0; i < IMAGE_VALUES; i++) {
        if (values[i] == 0) {
            return false;
        }
    }
    image->format = (uint32_t)values[0];
    image->width = (uint32_t)values[1];
    image->height = (uint32_t)values[2];
    image->depth = (uint32_t)values[3];
    image->mips = (uint32_t)values[4];
    image->layers = (uint32_t)values[5];
    image->samples = (uint32_t)values[6];
    image->dimensions = 2;
    return true;
}

bool support_trace_parse_note(const char* note, size_t size, struct support_trace_image* image)
{
    uint64_t values[IMAGE_VALUES] = {0};
    uint32_t seen = 0;
    const struct trace_note_key keys[] = {
        {"format", NOTE_DECIMAL, UINT32_MAX, &values[0]},
        {"extent", NOTE_BOX, UINT32_MAX, &values[1]},
        {"mips", NOTE_DECIMAL, UINT32_MAX, &values[4]},
        {"layers", NOTE_DECIMAL, UINT32_MAX, &values[5]},
        {"samples", NOTE_DECIMAL, UINT32_MAX, &values[6]},
    };
    memset(image, 0, sizeof(*image));
    return trace_note_read(note, size, keys, 5, &seen) && seen == IMAGE_FACTS &&
           trace_take_image(values, image);
}

/* Makes the resource's image. Returns NULL when out of memory. */
static struct support_trace_image* trace_add_image(struct trace_reader* reader,
                                                   struct support_trace_resource* resource)
{
    struct support_trace* const trace = reader->trace;
    if (!trace_push(reader, &trace->images, &trace->image_count, ARRAY_IMAGES,
                    sizeof(*trace->images))) {
        return NULL;
    }
    resource->image = (uint32_t)(trace->image_count - 1);
    return &trace->images[resource->image];
}

static bool trace_resource_note_1(struct trace_reader* reader,
                                  struct support_trace_resource* resource)
{
    const struct trace_field note = reader->fields[COLUMN_NOTE];
    if (resource->kind == SUPPORT_TRACE_BUFFER || note.size == 0) {
        return true;
    }
    struct support_trace_image* const image = trace_add_image(reader, resource);
    if (image == NULL) {
        return false;
    }
    return support_trace_parse_note(note.text, note.size, image) ||
           trace_fail(reader, COLUMN_NOTE,
                      "is not format=N extent=WxHxD mips=N layers=N samples=N");
}

bool trace_resource_note(struct trace_reader* reader, struct support_trace_resource* resource)
{
    resource->image = SUPPORT_TRACE_NONE;
    if (reader->columns == TRACE_COLUMNS_1) {
        return trace_resource_note_1(reader, resource);
    }
    uint64_t values[IMAGE_VALUES] = {0};
    uint64_t dimensions = 2;
    uint64_t modifier = 0;
    uint64_t needs = 0;
    uint64_t handles = 0;
    uint32_t seen = 0;
    const struct trace_note_key keys[] = {
        {"format", NOTE_DECIMAL, UINT32_MAX, &values[0]},
        {"extent", NOTE_BOX, UINT32_MAX, &values[1]},
        {"mips", NOTE_DECIMAL, UINT32_MAX, &values[4]},
        {"layers", NOTE_DECIMAL, UINT32_MAX, &values[5]},
        {"samples", NOTE_DECIMAL, UINT32_MAX, &values[6]},
        {"dimensions", NOTE_DECIMAL, 3, &dimensions},
        {"modifier", NOTE_DECIMAL, 1, &modifier},
        {"needs", NOTE_HEX, UINT32_MAX, &needs},
        {"handles", NOTE_HEX, UINT32_MAX, &handles},
    };
    if (!trace_note(reader, keys, 9, &seen)) {
        return false;
    }
    resource->needs = (uint32_t)needs;
    resource->handle_types = (uint32_t)handles;
    const bool is_image = resource->kind == SUPPORT_TRACE_IMAGE_LINEAR ||
                          resource->kind == SUPPORT_TRACE_IMAGE_OPTIMAL;
    if ((seen & 0x7F) == 0) {
        return true;
    }
    if (!is_image || (seen & IMAGE_FACTS) != IMAGE_FACTS || dimensions == 0) {
        return trace_fail(reader, COLUMN_NOTE,
                          "does not have all of format, extent, mips, layers and samples of an "
                          "image");
    }
    struct support_trace_image* const image = trace_add_image(reader, resource);
    if (image == NULL) {
        return false;
    }
    if (!trace_take_image(values, image)) {
        return trace_fail(reader, COLUMN_NOTE, "has a fact of an image that is zero");
    }
    image->dimensions = (uint32_t)dimensions;
    image->modifier = (uint32_t)modifier;
    return true;
}
