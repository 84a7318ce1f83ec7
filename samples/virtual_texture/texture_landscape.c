/*
 * Computes the landscape; see texture_landscape.h.
 *
 * Heights are a sum of gradient noise. Each octave has half the wavelength of the previous one. A
 * level contains the octaves whose wavelength is at least two of its texels. Lines and letters
 * cover texels partly, by exact areas.
 */
#include "texture_landscape.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PIECE 64u              /* texels of a piece, in x and in y */
#define PIECE_ROW (PIECE + 2u) /* including the neighbours */
#define FIRST_OCTAVE_CELLS 4u  /* in x and in y of the whole map */
#define SQUARES 16u            /* named squares in x and in y */
#define PLOTS 64u              /* plots with coordinates in x and in y */
#define LABEL_LETTERS 12u
#define GLYPH_WIDTH 5u
#define GLYPH_HEIGHT 7u
#define GLYPH_STEP 6u

struct colour {
    float r, g, b;
};

/* A piece that is being computed. */
struct piece {
    uint32_t size;                        /* size of the map, units */
    uint32_t level;                       /* a texel is 1 << level units wide */
    int32_t x, y;                         /* first texel */
    float heights[PIECE_ROW * PIECE_ROW]; /* heights from (x - 1, y - 1) on; the sea is below 0 */
};

/* ---- heights ---- */

static uint32_t scramble(uint32_t x, uint32_t y, uint32_t octave)
{
    uint32_t hash = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ octave * 0xC2B2AE3Du;
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 12) * 0x297A2D39u;
    return hash ^ hash >> 15;
}

/* Returns one of sixteen directions of about the same length. */
static void gradient_at(int32_t x, int32_t y, uint32_t octave, float* gx, float* gy)
{
    static const float directions[16][2] = {
        {1.00f, 0.00f},  {0.92f, 0.38f},   {0.71f, 0.71f},   {0.38f, 0.92f},
        {0.00f, 1.00f},  {-0.38f, 0.92f},  {-0.71f, 0.71f},  {-0.92f, 0.38f},
        {-1.00f, 0.00f}, {-0.92f, -0.38f}, {-0.71f, -0.71f}, {-0.38f, -0.92f},
        {0.00f, -1.00f}, {0.38f, -0.92f},  {0.71f, -0.71f},  {0.92f, -0.38f}};
    const float* const found = directions[scramble((uint32_t)x, (uint32_t)y, octave) >> 28];
    *gx = found[0];
    *gy = found[1];
}

/* Returns a clamped value. fminf and fmaxf are not used, since their handling of NaN costs more
 * than everything else. */
static float limit(float value, float least, float most)
{
    return value < least ? least : value > most ? most : value;
}

static float smooth(float t)
{
    return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}

static int32_t floor_divide(int32_t a, int32_t b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* The part of a row of texels that lies in one cell. Texels are counted from the piece's first
 * neighbour. */
struct run {
    int32_t begin, end;
    int32_t first_in_cell; /* the cell's first texel */
    float cell;            /* texels of a cell */
    float fy;              /* of the row, in the cell */
};

/* Adds one octave to a run. The added height grows with the present height, so that mountains are
 * rough and lowlands are smooth. */
static void add_run(float* row, const struct run* run, float corners[4][2], float amplitude,
                    bool first)
{
    const float fy = run->fy;
    const float sy = smooth(fy);
    for (int32_t i = run->begin; i < run->end; ++i) {
        const float fx = ((float)(i - run->first_in_cell) + 0.5f) / run->cell;
        const float a = corners[0][0] * fx + corners[0][1] * fy;
        const float b = corners[1][0] * (fx - 1.0f) + corners[1][1] * fy;
        const float c = corners[2][0] * fx + corners[2][1] * (fy - 1.0f);
        const float d = corners[3][0] * (fx - 1.0f) + corners[3][1] * (fy - 1.0f);
        const float sx = smooth(fx);
        const float top = a + (b - a) * sx;
        const float bottom = c + (d - c) * sx;
        const float rough = limit(0.3f + 2.6f * row[i], 0.35f, 1.0f);
        row[i] += amplitude * (first ? 1.0f : rough) * (top + (bottom - top) * sy);
    }
}

static void add_octave(struct piece* piece, uint32_t octave, int32_t cell, float amplitude)
{
    const int32_t left = piece->x - 1;
    for (int32_t j = 0; j < (int32_t)PIECE_ROW; ++j) {
        const int32_t y = piece->y - 1 + j;
        const int32_t cell_y = floor_divide(y, cell);
        const float fy = ((float)(y - cell_y * cell) + 0.5f) / (float)cell;
        int32_t begin = 0;
        while (begin < (int32_t)PIECE_ROW) {
            const int32_t cell_x = floor_divide(left + begin, cell);
            const int32_t next = (cell_x + 1) * cell - left;
            const int32_t end = next < (int32_t)PIECE_ROW ? next : (int32_t)PIECE_ROW;
            float corners[4][2];
            for (int32_t i = 0; i < 4; ++i) {
                gradient_at(cell_x + (i & 1), cell_y + (i >> 1), octave, &corners[i][0],
                            &corners[i][1]);
            }
            const struct run run = {.begin = begin,
                                    .end = end,
                                    .first_in_cell = cell_x * cell - left,
                                    .cell = (float)cell,
                                    .fy = fy};
            add_run(&piece->heights[(uint32_t)j * PIECE_ROW], &run, corners, amplitude, octave < 2);
            begin = end;
        }
    }
}

static void compute_heights(struct piece* piece)
{
    for (uint32_t i = 0; i < PIECE_ROW * PIECE_ROW; ++i) {
        piece->heights[i] = 0.06f;
    }
    uint32_t cell = (piece->size / FIRST_OCTAVE_CELLS) >> piece->level;
    float amplitude = 0.72f;
    for (uint32_t octave = 0; cell >= 2 && (cell << piece->level) >= 4; ++octave) {
        add_octave(piece, octave, (int32_t)cell, amplitude);
        cell /= 2;
        amplitude *= 0.5f;
    }
}

/* ---- colours ---- */

static struct colour mix(struct colour a, struct colour b, float t)
{
    return (struct colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static float clamped(float value)
{
    return limit(value, 0.0f, 1.0f);
}

static struct colour ground_at(float height)
{
    static const struct {
        float height;
        struct colour colour;
    } stops[] = {{-0.40f, {24.0f, 62.0f, 112.0f}},   {-0.10f, {52.0f, 112.0f, 164.0f}},
                 {-0.02f, {104.0f, 170.0f, 200.0f}}, {-0.002f, {146.0f, 202.0f, 214.0f}},
                 {0.000f, {226.0f, 212.0f, 164.0f}}, {0.012f, {206.0f, 204.0f, 138.0f}},
                 {0.030f, {152.0f, 186.0f, 102.0f}}, {0.110f, {98.0f, 148.0f, 80.0f}},
                 {0.200f, {140.0f, 146.0f, 92.0f}},  {0.290f, {172.0f, 148.0f, 112.0f}},
                 {0.370f, {158.0f, 148.0f, 142.0f}}, {0.440f, {236.0f, 238.0f, 242.0f}}};
    const size_t count = sizeof(stops) / sizeof(stops[0]);
    if (height <= stops[0].height) {
        return stops[0].colour;
    }
    for (size_t i = 1; i < count; ++i) {
        if (height < stops[i].height) {
            const float t =
                (height - stops[i - 1].height) / (stops[i].height - stops[i - 1].height);
            return mix(stops[i - 1].colour, stops[i].colour, t);
        }
    }
    return stops[count - 1].colour;
}

/* Returns the colour of the ground, lit from the north-west, with contour lines. */
static struct colour relief_at(const struct piece* piece, uint32_t i, uint32_t j)
{
    const float* const at = &piece->heights[(j + 1) * PIECE_ROW + i + 1];
    const float height = at[0];
    const float dx = 0.5f * (at[1] - at[-1]);
    const float dy = 0.5f * (at[PIECE_ROW] - at[-(int32_t)PIECE_ROW]);
    struct colour colour = ground_at(height);
    const float slope = (float)(piece->size >> piece->level) / 14.0f;
    const float lit = -(dx + dy) * slope * (height > 0.0f ? 1.0f : 0.2f);
    const float shade = 1.0f + 0.55f * lit / (1.0f + fabsf(lit));
    colour = (struct colour){colour.r * shade, colour.g * shade, colour.b * shade};
    const float interval = 0.04f;
    const float per_texel = sqrtf(dx * dx + dy * dy) + 1e-9f;
    const float turn = height / interval;
    const float distance = fabsf(turn - (float)(int)(turn + 0.5f)) * interval / per_texel;
    if (height > 0.5f * interval && distance < 1.0f) {
        const float crowded = clamped(1.5f - 6.0f * per_texel / interval);
        colour =
            mix(colour, (struct colour){96.0f, 62.0f, 34.0f}, 0.4f * (1.0f - distance) * crowded);
    }
    return colour;
}

/* ---- lines and letters ---- */

/* Returns the share of texel [from, from + length) that lies in lines of a width. The lines are
 * centred at multiples of a period. */
static float line_coverage(uint32_t from, uint32_t length, uint32_t period, uint32_t width)
{
    if (length >= period) {
        return (float)width / (float)period;
    }
    const int32_t half = (int32_t)width / 2;
    const int32_t begin = (int32_t)(from % period);
    const int32_t end = begin + (int32_t)length;
    const int32_t first = (end < half ? end : half) - begin;
    const int32_t after = (int32_t)period - half;
    const int32_t second = end - (begin > after ? begin : after);
    const int32_t covered = (first > 0 ? first : 0) + (second > 0 ? second : 0);
    return (float)covered / (float)length;
}

/* The letters: rows from the top, the leftmost column in bit 4. */
static const uint8_t* glyph_of(char letter)
{
    static const uint8_t digits[10][GLYPH_HEIGHT] = {
        {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 2, 4, 8, 31},
        {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
        {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
        {14, 17, 17, 15, 1, 2, 12}};
    static const uint8_t letters[SQUARES][GLYPH_HEIGHT] = {
        {14, 17, 17, 31, 17, 17, 17}, {30, 17, 17, 30, 17, 17, 30}, {14, 17, 16, 16, 16, 17, 14},
        {28, 18, 17, 17, 17, 18, 28}, {31, 16, 16, 30, 16, 16, 31}, {31, 16, 16, 30, 16, 16, 16},
        {14, 17, 16, 23, 17, 17, 15}, {17, 17, 17, 31, 17, 17, 17}, {14, 4, 4, 4, 4, 4, 14},
        {7, 2, 2, 2, 2, 18, 12},      {17, 18, 20, 24, 20, 18, 17}, {16, 16, 16, 16, 16, 16, 31},
        {17, 27, 21, 21, 17, 17, 17}, {17, 17, 25, 21, 19, 17, 17}, {14, 17, 17, 17, 17, 17, 14},
        {30, 17, 17, 30, 16, 16, 16}};
    static const uint8_t none[GLYPH_HEIGHT] = {0};
    if (letter >= '0' && letter <= '9') {
        return digits[letter - '0'];
    }
    return letter >= 'A' && letter < 'A' + (char)SQUARES ? letters[letter - 'A'] : none;
}

/* A text on the map. */
struct label {
    char text[LABEL_LETTERS];
    int32_t x, y;  /* its corner in units, a multiple of `pixel` */
    int32_t pixel; /* units in a dot of its letters */
};

/* Returns whether a place of the map, in units, lies in a letter. */
static bool is_inked(const struct label* label, int32_t x, int32_t y)
{
    const int32_t column = floor_divide(x - label->x, label->pixel);
    const int32_t row = floor_divide(y - label->y, label->pixel);
    if (column < 0 || row < 0 || row >= (int32_t)GLYPH_HEIGHT) {
        return false;
    }
    const uint32_t letter = (uint32_t)column / GLYPH_STEP;
    const uint32_t dot = (uint32_t)column % GLYPH_STEP;
    if (letter >= strlen(label->text) || dot >= GLYPH_WIDTH) {
        return false;
    }
    return (glyph_of(label->text[letter])[row] >> (GLYPH_WIDTH - 1 - dot) & 1) != 0;
}

/* Returns the share of a texel that letters cover. Texels lie within a dot or are whole dots
 * wide. */
static float ink_coverage(const struct label* label, int32_t x, int32_t y, int32_t texel)
{
    const int32_t dots = texel > label->pixel ? texel / label->pixel : 1;
    int32_t inked = 0;
    for (int32_t j = 0; j < dots; ++j) {
        for (int32_t i = 0; i < dots; ++i) {
            inked += is_inked(label, x + i * label->pixel, y + j * label->pixel);
        }
    }
    return (float)inked / (float)(dots * dots);
}

static bool is_near(const struct label* label, int32_t x, int32_t y, int32_t texel)
{
    const int32_t margin = label->pixel;
    const int32_t width = (int32_t)(strlen(label->text) * GLYPH_STEP) * label->pixel;
    const int32_t height = (int32_t)GLYPH_HEIGHT * label->pixel;
    return x + texel > label->x - margin && x < label->x + width + margin &&
           y + texel > label->y - margin && y < label->y + height + margin;
}

/* Draws white letters with a shadow. */
static struct colour write_label(const struct label* label, struct colour colour, int32_t x,
                                 int32_t y, int32_t texel)
{
    const int32_t away = (label->pixel + 1) / 2;
    if (texel > 4 * label->pixel || !is_near(label, x, y, texel)) {
        return colour;
    }
    const float shadow = ink_coverage(label, x - away, y - away, texel);
    const float ink = ink_coverage(label, x, y, texel);
    colour = mix(colour, (struct colour){20.0f, 26.0f, 34.0f}, 0.75f * shadow);
    return mix(colour, (struct colour){255.0f, 255.0f, 255.0f}, 0.95f * ink);
}

/* Writes the name of a square: a letter for its column, a number for its row. */
static struct label name_square(uint32_t size, uint32_t column, uint32_t row)
{
    const uint32_t square = size / SQUARES;
    const int32_t pixel = size >= 512u ? (int32_t)(size / 512u) : 1;
    struct label label = {.pixel = pixel};
    snprintf(label.text, sizeof(label.text), "%c%u", (char)('A' + (int)(column % SQUARES)),
             row % SQUARES + 1);
    const int32_t width = (int32_t)(strlen(label.text) * GLYPH_STEP - 1) * pixel;
    const int32_t centre_x = (int32_t)(column * square + square / 2);
    const int32_t centre_y = (int32_t)(row * square + square / 2);
    label.x = (centre_x - width / 2) / pixel * pixel;
    label.y = centre_y - 4 * pixel;
    return label;
}

static struct label number_plot(uint32_t size, uint32_t column, uint32_t row)
{
    const uint32_t plot = size / PLOTS;
    const int32_t pixel = (int32_t)(size / 8192u);
    struct label label = {.pixel = pixel,
                          .x = (int32_t)(column * plot) + 6 * pixel,
                          .y = (int32_t)(row * plot) + 6 * pixel};
    snprintf(label.text, sizeof(label.text), "%u %u", column * plot % 100000u,
             row * plot % 100000u);
    return label;
}

/* Collects the labels that a row of texels may touch: those of one row of squares and one row of
 * plots. */
struct label_row {
    struct label squares[SQUARES];
    struct label plots[PLOTS];
    uint32_t square_row, plot_row;
};

static struct colour annotate(const struct piece* piece, const struct label_row* labels,
                              struct colour colour, uint32_t x, uint32_t y)
{
    const uint32_t size = piece->size;
    const uint32_t texel = 1u << piece->level;
    const uint32_t plot = size / PLOTS;
    const uint32_t square = size / SQUARES;
    const uint32_t thin = plot >= 128 ? plot / 128 : 1;
    const uint32_t thick = 6 * thin;
    const float minor =
        fmaxf(line_coverage(x, texel, plot, thin * 2), line_coverage(y, texel, plot, thin * 2));
    const float major =
        fmaxf(line_coverage(x, texel, square, thick), line_coverage(y, texel, square, thick));
    colour = mix(colour, (struct colour){255.0f, 255.0f, 255.0f}, 0.5f * minor);
    colour = mix(colour, (struct colour){178.0f, 34.0f, 44.0f}, 0.85f * major);
    if (size >= 8192u && texel < plot) {
        colour =
            write_label(&labels->plots[x / plot], colour, (int32_t)x, (int32_t)y, (int32_t)texel);
    }
    if (texel < square) {
        colour = write_label(&labels->squares[x / square], colour, (int32_t)x, (int32_t)y,
                             (int32_t)texel);
    }
    return colour;
}

static void prepare_labels(const struct piece* piece, struct label_row* labels, uint32_t y)
{
    const uint32_t square_row = y / (piece->size / SQUARES);
    const uint32_t plot_row = y / (piece->size / PLOTS);
    for (uint32_t i = 0; i < SQUARES && labels->square_row != square_row; ++i) {
        labels->squares[i] = name_square(piece->size, i, square_row);
    }
    for (uint32_t i = 0; i < PLOTS && labels->plot_row != plot_row && piece->size >= 8192u; ++i) {
        labels->plots[i] = number_plot(piece->size, i, plot_row);
    }
    labels->square_row = square_row;
    labels->plot_row = plot_row;
}

static uint8_t byte_of(float value)
{
    return (uint8_t)limit(value + 0.5f, 0.0f, 255.0f);
}

static void fill_piece(struct piece* piece, uint32_t width, uint32_t height, uint8_t* texels,
                       size_t pitch)
{
    struct label_row labels = {.square_row = UINT32_MAX, .plot_row = UINT32_MAX};
    compute_heights(piece);
    for (uint32_t j = 0; j < height; ++j) {
        const uint32_t y = (uint32_t)piece->y + j;
        uint8_t* const row = texels + j * pitch;
        prepare_labels(piece, &labels, y << piece->level);
        for (uint32_t i = 0; i < width; ++i) {
            const uint32_t x = (uint32_t)piece->x + i;
            const struct colour colour = annotate(piece, &labels, relief_at(piece, i, j),
                                                  x << piece->level, y << piece->level);
            row[4 * i] = byte_of(colour.r);
            row[4 * i + 1] = byte_of(colour.g);
            row[4 * i + 2] = byte_of(colour.b);
            row[4 * i + 3] = 255;
        }
    }
}

void texture_landscape_fill(uint32_t size, const struct texture_box* box, uint8_t* texels,
                            size_t pitch)
{
    struct piece piece = {.size = size, .level = box->level};
    for (uint32_t y = 0; y < box->height; y += PIECE) {
        for (uint32_t x = 0; x < box->width; x += PIECE) {
            piece.x = (int32_t)(box->x + x);
            piece.y = (int32_t)(box->y + y);
            fill_piece(&piece, box->width - x < PIECE ? box->width - x : PIECE,
                       box->height - y < PIECE ? box->height - y : PIECE,
                       texels + y * pitch + (size_t)4 * x, pitch);
        }
    }
}
