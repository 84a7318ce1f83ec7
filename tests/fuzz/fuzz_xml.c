/*
 * See fuzz_xml.h.
 */
#include "tests/fuzz/fuzz_xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { XML_MAX_DEPTH = 8, XML_MAX_NAME = 24 };

struct xml_reader {
    const char* at;
    const char* end;
    char names[XML_MAX_DEPTH][XML_MAX_NAME];
    uint32_t depth;
    uint32_t roots;
};

/* One character: its bytes, or 0 when it is none that XML permits. */
static size_t xml_character(const char* text, const char* end)
{
    const unsigned char* bytes = (const unsigned char*)text;
    const size_t left = (size_t)(end - text);
    const size_t length = bytes[0] < 0x80   ? 1
                          : bytes[0] < 0xC2 ? 0
                          : bytes[0] < 0xE0 ? 2
                          : bytes[0] < 0xF0 ? 3
                          : bytes[0] < 0xF5 ? 4
                                            : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool known = code == '\n' || (code >= 0x20 && code < 0xD800) ||
                       (code >= 0xE000 && code < 0xFFFE) || (code >= 0x10000 && code < 0x110000);
    return known && code >= lowest[length] ? length : 0;
}

static bool xml_entity(struct xml_reader* reader)
{
    static const char* const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); ++i) {
        const size_t length = strlen(entities[i]);
        if ((size_t)(reader->end - reader->at) >= length &&
            memcmp(reader->at, entities[i], length) == 0) {
            reader->at += length;
            return true;
        }
    }
    return false;
}

/* Characters up to one of the stops. */
static const char* xml_text(struct xml_reader* reader, char stop, char forbidden)
{
    while (reader->at < reader->end && *reader->at != stop) {
        if (*reader->at == '&') {
            if (!xml_entity(reader)) {
                return "an ampersand that begins no entity";
            }
            continue;
        }
        const size_t length = xml_character(reader->at, reader->end);
        if (length == 0) {
            return "bytes that are no character";
        }
        if (*reader->at == forbidden) {
            return "a character that should have been escaped";
        }
        reader->at += length;
    }
    return NULL;
}

static bool xml_name(struct xml_reader* reader, char name[XML_MAX_NAME])
{
    size_t length = 0;
    while (reader->at < reader->end && length + 1 < XML_MAX_NAME &&
           (*reader->at == '-' || (*reader->at >= 'a' && *reader->at <= 'z') ||
            (*reader->at >= 'A' && *reader->at <= 'Z'))) {
        name[length++] = *reader->at++;
    }
    name[length] = '\0';
    return length != 0;
}

static bool xml_take(struct xml_reader* reader, const char* word)
{
    const size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) {
        return false;
    }
    reader->at += length;
    return true;
}

static const char* xml_attributes(struct xml_reader* reader)
{
    char name[XML_MAX_NAME];
    while (xml_take(reader, " ")) {
        if (!xml_name(reader, name) || !xml_take(reader, "=\"")) {
            return "an attribute that is none";
        }
        const char* wrong = xml_text(reader, '"', '<');
        if (wrong != NULL || !xml_take(reader, "\"")) {
            return wrong != NULL ? wrong : "an attribute without an end";
        }
    }
    return NULL;
}

static const char* xml_tag(struct xml_reader* reader)
{
    char name[XML_MAX_NAME];
    if (xml_take(reader, "</")) {
        if (!xml_name(reader, name) || !xml_take(reader, ">") || reader->depth == 0) {
            return "an end that is none";
        }
        reader->depth -= 1;
        return strcmp(name, reader->names[reader->depth]) == 0 ? NULL : "the end of another";
    }
    reader->at += 1;
    if (!xml_name(reader, name) || reader->depth == XML_MAX_DEPTH) {
        return "an element that is none";
    }
    reader->roots += reader->depth == 0 ? 1 : 0;
    const char* wrong = xml_attributes(reader);
    if (wrong != NULL || xml_take(reader, "/>")) {
        return wrong;
    }
    memcpy(reader->names[reader->depth++], name, sizeof(name));
    return xml_take(reader, ">") ? NULL : "an element without an end";
}

const char* fuzz_xml_check(const char* text, size_t size)
{
    struct xml_reader reader = {.at = text, .end = text + size};
    while (reader.at < reader.end) {
        const char* wrong = *reader.at == '<' ? xml_tag(&reader) : xml_text(&reader, '<', '>');
        if (wrong != NULL) {
            return wrong;
        }
    }
    return reader.depth == 0 && reader.roots == 1 ? NULL : "not one whole element";
}
