/*
 * Whatever writes text that others are to read: the JSON emitter, an allocator's dumps with foreign
 * names in them, and SVG. What is written must be read by a parser that is not ours, whatever the
 * names. The first byte says which.
 */
#define _POSIX_C_SOURCE 200809L

#include "core/watch/json_writer.h"
#include "support/picture.h"
#include "support/svg.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_xml.h"
#include "tests/rig/rig.h"

#include <jansson.h>
#include <unistd.h>

enum { DUMP_MODES = 5, DUMP_CALLS = 400, DUMP_TEXT = 96 };

static json_t* read_json(const char* text, size_t size)
{
    json_error_t error;
    json_t* root = json_loadb(text, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    if (root == NULL) {
        (void)fprintf(stderr, "%s at line %d of\n%.*s\n", error.text, error.line, (int)size, text);
        abort();
    }
    return root;
}

/* ---- the emitter ---- */

static void write_value(struct maar_json* json, struct fuzz_input* input, uint8_t which)
{
    char text[DUMP_TEXT];
    double real = 0.0;
    uint64_t bits = 0;
    switch (which % 6) {
    case 0:
        maar_json_string(json, fuzz_text(input, text, sizeof text));
        break;
    case 1:
        maar_json_numbered_string(json, fuzz_scaled(input, 64),
                                  "\t: ", fuzz_text(input, text, sizeof text));
        break;
    case 2:
        maar_json_hex_string(json, fuzz_scaled(input, 64));
        break;
    case 3:
        maar_json_uint(json, fuzz_scaled(input, 64));
        break;
    case 4:
        for (uint32_t i = 0; i < 8; ++i) {
            bits = bits << 8 | fuzz_byte(input);
        }
        memcpy(&real, &bits, sizeof real);
        maar_json_real(json, real);
        break;
    default:
        maar_json_bool(json, (fuzz_byte(input) & 1) != 0);
        break;
    }
}

/* Calls in any order: most texts are malformed. */
static void write_wildly(struct maar_json* json, struct fuzz_input input)
{
    char text[DUMP_TEXT];
    for (uint32_t i = 0; i < DUMP_CALLS && !fuzz_is_dry(&input); ++i) {
        const uint8_t call = fuzz_byte(&input);
        switch (call % 12) {
        case 0:
            maar_json_begin_object(json, (call & 0x80) != 0);
            break;
        case 1:
            maar_json_end_object(json);
            break;
        case 2:
            maar_json_begin_array(json, (call & 0x80) != 0);
            break;
        case 3:
            maar_json_end_array(json);
            break;
        case 4:
            maar_json_key(json, fuzz_text(&input, text, sizeof text));
            break;
        case 5:
            maar_json_key_number(json, "k\"", fuzz_scaled(&input, 64));
            break;
        default:
            write_value(json, &input, call % 12);
            break;
        }
    }
}

/* Calls in order: no text is malformed. */
static void write_orderly(struct maar_json* json, struct fuzz_input input)
{
    uint32_t depth = 1;
    uint32_t objects = 1; /* by depth, the innermost lowest */
    char text[DUMP_TEXT];
    maar_json_begin_object(json, false);
    for (uint32_t i = 0; i < DUMP_CALLS && !fuzz_is_dry(&input); ++i) {
        const uint8_t call = fuzz_byte(&input);
        const bool in_object = (objects & 1) != 0;
        if (call % 8 == 0 && depth > 1) {
            in_object ? maar_json_end_object(json) : maar_json_end_array(json);
            depth -= 1;
            objects >>= 1;
            continue;
        }
        if (in_object) {
            maar_json_key(json, fuzz_text(&input, text, sizeof text));
        }
        if (call % 8 <= 2 && depth < MAAR_JSON_MAX_DEPTH) {
            const bool object = (call & 0x40) != 0;
            object ? maar_json_begin_object(json, (call & 0x80) != 0)
                   : maar_json_begin_array(json, (call & 0x80) != 0);
            depth += 1;
            objects = objects << 1 | (object ? 1 : 0);
        } else {
            write_value(json, &input, call >> 3);
        }
    }
    for (; depth != 0; --depth, objects >>= 1) {
        (objects & 1) != 0 ? maar_json_end_object(json) : maar_json_end_array(json);
    }
}

typedef void (*write_calls)(struct maar_json* json, struct fuzz_input input);

/* Counts, writes into exactly enough and into too little room, and reads. False: malformed. */
static bool write_and_read(write_calls write, struct fuzz_input input)
{
    struct maar_json json;
    maar_json_begin(&json, NULL, 0);
    write(&json, input);
    const size_t size = maar_json_end(&json);
    if (size == 0) {
        return false;
    }
    char* text = malloc(size);
    fuzz_require(text != NULL);
    maar_json_begin(&json, text, size);
    write(&json, input);
    fuzz_require(maar_json_end(&json) == size);
    fuzz_require(text[size - 1] == '\0' && strlen(text) == size - 1);
    json_decref(read_json(text, size - 1));
    free(text);
    const size_t short_size = (size + input.left) % size;
    char* short_text = malloc(short_size != 0 ? short_size : 1);
    fuzz_require(short_text != NULL);
    maar_json_begin(&json, short_text, short_size);
    write(&json, input);
    fuzz_require(maar_json_end(&json) == size);
    free(short_text);
    return true;
}

/* ---- dumps ---- */

static void read_dump(MaarAllocator allocator, MaarDumpFormat format, bool detailed, size_t missing)
{
    const MaarDumpInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DUMP_INFO,
        .format = format,
        .detailed = detailed,
    };
    size_t size = 0;
    fuzz_require(maarWriteDump(allocator, &info, &size, NULL) == VK_SUCCESS && size != 0);
    char* text = malloc(size);
    fuzz_require(text != NULL);
    size_t room = size;
    fuzz_require(maarWriteDump(allocator, &info, &room, text) == VK_SUCCESS && room <= size);
    fuzz_require(strlen(text) == room - 1);
    json_decref(read_json(text, room - 1));
    free(text);
    room = room - 1 - missing % room;
    text = malloc(room != 0 ? room : 1);
    fuzz_require(text != NULL);
    const size_t given = room;
    fuzz_require(maarWriteDump(allocator, &info, &room, text) == VK_INCOMPLETE && room == size);
    fuzz_require(given == 0 || text[0] == '\0');
    free(text);
}

static void try_dump(struct fuzz_input* input)
{
    static struct rig rig;
    static MaarSimulatedProfile profile;
    char name[200];
    profile = *rig_profile_discrete();
    (void)fuzz_text(input, profile.deviceName, sizeof profile.deviceName);
    (void)fuzz_text(input, profile.name, sizeof profile.name);
    (void)fuzz_text(input, profile.driverName, sizeof profile.driverName);
    const struct rig_setup setup = {.profile = &profile, .count_host = true};
    rig_start(&rig, &setup);
    const MaarPoolCreateInfo pool_info = {
        .memoryTypeIndex = (uint32_t)fuzz_below(input, profile.typeCount),
        .strategy = (MaarPlacementStrategy)fuzz_below(input, 3),
        .pName = fuzz_text(input, name, sizeof name),
    };
    MaarPool pool = rig_create_pool(&rig, &pool_info);
    const MaarPoint point = {.value = 1};
    for (uint32_t i = 0; i < 24 && !fuzz_is_dry(input); ++i) {
        MaarAllocationCreateInfo how = rig_how((MaarMemoryUsage)(fuzz_byte(input) % 5));
        const uint8_t way = fuzz_byte(input);
        how.pool = (way & 1) != 0 ? pool : VK_NULL_HANDLE;
        how.dedicated = (way & 6) == 6 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_AUTO;
        how.pUserData = (void*)(uintptr_t)fuzz_scaled(input, 48);
        how.pName = fuzz_text(input, name, sizeof name);
        MaarAllocation allocation = rig_allocate(&rig, 1 + fuzz_scaled(input, 20), &how);
        if ((way & 0x18) == 0x18) {
            (void)fuzz_text(input, name, sizeof name);
            fuzz_require(maarSetAllocationName(rig.allocator, allocation, name) == VK_SUCCESS);
        }
        if ((way & 0xE0) == 0xE0) {
            fuzz_require(maarFreeMemoryAfter(rig.allocator, allocation, 1, &point) == VK_SUCCESS);
        } else if ((way & 0xC0) == 0x40) {
            maarFreeMemory(rig.allocator, allocation);
        }
    }
    for (uint32_t way = 0; way < 4; ++way) {
        read_dump(rig.allocator, (way & 1) != 0 ? MAAR_DUMP_FORMAT_VMA : MAAR_DUMP_FORMAT_MAAR,
                  (way & 2) != 0, input->left + way);
    }
    fuzz_require(maarAdvanceHostTimeline(rig.allocator, UINT64_MAX) == VK_SUCCESS);
    rig_close(&rig);
}

/* ---- SVG ---- */

static void require_xml(const char* text, size_t size)
{
    const char* wrong = fuzz_xml_check(text, size);
    if (wrong != NULL) {
        (void)fprintf(stderr, "%s in\n%s\n", wrong, text);
        abort();
    }
}

static void try_svg(struct fuzz_input* input)
{
    static const char* const anchors[] = {NULL, "start", "middle", "end"};
    struct support_svg svg;
    char text[DUMP_TEXT];
    support_svg_begin(&svg, 100.0, 80.0, "#ffffff");
    while (!fuzz_is_dry(input)) {
        const uint8_t way = fuzz_byte(input);
        const struct support_svg_text style = {
            .x = 1.0,
            .y = 2.0,
            .size = 11.0,
            .fill = "#000000",
            .anchor = anchors[way & 3],
            .bold = (way & 4) != 0,
            .max_width = (way & 8) != 0 ? (double)(way >> 4) * 8.0 : 0.0,
        };
        (void)fuzz_text(input, text, sizeof text);
        if ((way & 0x30) == 0x30) {
            support_svg_rectangle(&svg, 1.0, 2.0, 3.0, 4.0, "#123456", text);
        } else {
            support_svg_text(&svg, &style, text);
        }
    }
    support_svg_raw(&svg, "</svg>\n");
    require_xml(svg.text, svg.size);
    svg.size -= strlen("</svg>\n");
    fuzz_require(support_svg_finish(&svg, "/dev/null", NULL));
}

/* A picture of blocks with foreign labels, of any sizes that lie in order. */
static void try_picture(struct fuzz_input* input)
{
    static struct support_picture picture;
    (void)fuzz_text(input, picture.title, sizeof picture.title);
    (void)fuzz_text(input, picture.subtitle, sizeof picture.subtitle);
    picture.block_count = fuzz_below(input, 256);
    picture.blocks = calloc(picture.block_count + 1, sizeof *picture.blocks);
    fuzz_require(picture.blocks != NULL);
    for (size_t i = 0; i < picture.block_count; ++i) {
        struct support_picture_block* block = &picture.blocks[i];
        block->id = i;
        (void)fuzz_text(input, block->label, sizeof block->label);
        block->range_count = fuzz_below(input, 16);
        block->ranges = calloc(block->range_count + 1, sizeof *block->ranges);
        fuzz_require(block->ranges != NULL);
        for (size_t k = 0; k < block->range_count; ++k) {
            struct support_picture_range* range = &block->ranges[k];
            range->kind = (enum support_picture_kind)fuzz_below(input, SUPPORT_PICTURE_KIND_COUNT);
            range->offset = block->size;
            range->size = 1 + fuzz_scaled(input, 40);
            (void)fuzz_text(input, range->label, sizeof range->label);
            block->size += range->size;
            block->live += range->kind >= SUPPORT_PICTURE_BUFFER ? range->size : 0;
            block->padding += range->kind == SUPPORT_PICTURE_PADDING ? range->size : 0;
            block->pending += range->kind == SUPPORT_PICTURE_PENDING ? range->size : 0;
        }
        block->size += block->range_count == 0 ? 1 : 0;
    }
    picture.theme = (enum support_svg_theme)fuzz_below(input, SUPPORT_SVG_THEME_COUNT);
    char path[64];
    char* text = NULL;
    size_t size = 0;
    (void)snprintf(path, sizeof path, "fuzz_dump_%ld.svg", (long)getpid());
    fuzz_require(support_picture_write(&picture, path, NULL));
    fuzz_require(support_read_file(path, 0, &text, &size, NULL));
    fuzz_require(remove(path) == 0);
    require_xml(text, size);
    free(text);
    support_picture_release(&picture);
    fuzz_require(picture.blocks == NULL && picture.block_count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    struct fuzz_input input = {data, size};
    switch (fuzz_byte(&input) % DUMP_MODES) {
    case 0:
        (void)write_and_read(write_wildly, input);
        break;
    case 1:
        fuzz_require(write_and_read(write_orderly, input));
        break;
    case 2:
        try_dump(&input);
        break;
    case 3:
        try_svg(&input);
        break;
    default:
        try_picture(&input);
        break;
    }
    return 0;
}
