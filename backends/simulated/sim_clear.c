/*
 * The bytes of a block that a clear writes: the value, converted to the format. The arithmetic is
 * written out, so that the driver links without a library of mathematics.
 */
#include "backends/simulated/sim_clear.h"

#include <string.h>

enum sim_numeric {
    SIM_UNORM,
    SIM_SNORM,
    SIM_USCALED,
    SIM_SSCALED,
    SIM_UINT,
    SIM_SINT,
    SIM_SRGB,
    SIM_SFLOAT,
    SIM_UFLOAT,
};

/* Formats whose components have one order. Vulkan numbers their kinds of values one after
 * another. */
struct sim_component_row {
    VkFormat first, last;
    const char* order; /* from the lowest bits on */
    uint8_t bits[4];
    enum sim_numeric first_numeric;
    enum sim_numeric last_numeric; /* of the last format */
};

static const struct sim_component_row sim_component_rows[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, VK_FORMAT_R4G4_UNORM_PACK8, "GR", {4, 4}, SIM_UNORM, SIM_UNORM},
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16,
     VK_FORMAT_R4G4B4A4_UNORM_PACK16,
     "ABGR",
     {4, 4, 4, 4},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_B4G4R4A4_UNORM_PACK16,
     VK_FORMAT_B4G4R4A4_UNORM_PACK16,
     "ARGB",
     {4, 4, 4, 4},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_R5G6B5_UNORM_PACK16,
     VK_FORMAT_R5G6B5_UNORM_PACK16,
     "BGR",
     {5, 6, 5},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_B5G6R5_UNORM_PACK16,
     VK_FORMAT_B5G6R5_UNORM_PACK16,
     "RGB",
     {5, 6, 5},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_R5G5B5A1_UNORM_PACK16,
     VK_FORMAT_R5G5B5A1_UNORM_PACK16,
     "ABGR",
     {1, 5, 5, 5},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_B5G5R5A1_UNORM_PACK16,
     VK_FORMAT_B5G5R5A1_UNORM_PACK16,
     "ARGB",
     {1, 5, 5, 5},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16,
     VK_FORMAT_A1R5G5B5_UNORM_PACK16,
     "BGRA",
     {5, 5, 5, 1},
     SIM_UNORM,
     SIM_UNORM},
    {VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SRGB, "R", {8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8_SRGB, "RG", {8, 8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_R8G8B8_UNORM, VK_FORMAT_R8G8B8_SRGB, "RGB", {8, 8, 8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_B8G8R8_UNORM, VK_FORMAT_B8G8R8_SRGB, "BGR", {8, 8, 8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB, "RGBA", {8, 8, 8, 8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, "BGRA", {8, 8, 8, 8}, SIM_UNORM, SIM_SRGB},
    {VK_FORMAT_A8B8G8R8_UNORM_PACK32,
     VK_FORMAT_A8B8G8R8_SRGB_PACK32,
     "RGBA",
     {8, 8, 8, 8},
     SIM_UNORM,
     SIM_SRGB},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32,
     VK_FORMAT_A2R10G10B10_SINT_PACK32,
     "BGRA",
     {10, 10, 10, 2},
     SIM_UNORM,
     SIM_SINT},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32,
     VK_FORMAT_A2B10G10R10_SINT_PACK32,
     "RGBA",
     {10, 10, 10, 2},
     SIM_UNORM,
     SIM_SINT},
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SFLOAT, "R", {16}, SIM_UNORM, SIM_SFLOAT},
    {VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16_SFLOAT, "RG", {16, 16}, SIM_UNORM, SIM_SFLOAT},
    {VK_FORMAT_R16G16B16_UNORM,
     VK_FORMAT_R16G16B16_SFLOAT,
     "RGB",
     {16, 16, 16},
     SIM_UNORM,
     SIM_SFLOAT},
    {VK_FORMAT_R16G16B16A16_UNORM,
     VK_FORMAT_R16G16B16A16_SFLOAT,
     "RGBA",
     {16, 16, 16, 16},
     SIM_UNORM,
     SIM_SFLOAT},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32_SFLOAT, "R", {32}, SIM_UINT, SIM_SFLOAT},
    {VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32_SFLOAT, "RG", {32, 32}, SIM_UINT, SIM_SFLOAT},
    {VK_FORMAT_R32G32B32_UINT,
     VK_FORMAT_R32G32B32_SFLOAT,
     "RGB",
     {32, 32, 32},
     SIM_UINT,
     SIM_SFLOAT},
    {VK_FORMAT_R32G32B32A32_UINT,
     VK_FORMAT_R32G32B32A32_SFLOAT,
     "RGBA",
     {32, 32, 32, 32},
     SIM_UINT,
     SIM_SFLOAT},
    {VK_FORMAT_R64_UINT, VK_FORMAT_R64_SFLOAT, "R", {64}, SIM_UINT, SIM_SFLOAT},
    {VK_FORMAT_R64G64_UINT, VK_FORMAT_R64G64_SFLOAT, "RG", {64, 64}, SIM_UINT, SIM_SFLOAT},
    {VK_FORMAT_R64G64B64_UINT,
     VK_FORMAT_R64G64B64_SFLOAT,
     "RGB",
     {64, 64, 64},
     SIM_UINT,
     SIM_SFLOAT},
    {VK_FORMAT_R64G64B64A64_UINT,
     VK_FORMAT_R64G64B64A64_SFLOAT,
     "RGBA",
     {64, 64, 64, 64},
     SIM_UINT,
     SIM_SFLOAT},
    {VK_FORMAT_B10G11R11_UFLOAT_PACK32,
     VK_FORMAT_B10G11R11_UFLOAT_PACK32,
     "RGB",
     {11, 11, 10},
     SIM_UFLOAT,
     SIM_UFLOAT},
};

/* Returns the kind of a format's values. */
static enum sim_numeric sim_numeric_of(const struct sim_component_row* row, VkFormat format)
{
    if (format == row->last) {
        return row->last_numeric;
    }
    return (enum sim_numeric)((int)row->first_numeric + (int)(format - row->first));
}

static double sim_clamp(double value, double low, double high)
{
    return value > low ? value < high ? value : high : low; /* NaN becomes the low end */
}

/* Rounds a number that is not negative to the nearest integer, ties to even. */
static uint64_t sim_round(double value)
{
    const uint64_t low = (uint64_t)value;
    const double rest = value - (double)low;
    return low + (rest > 0.5 || (rest == 0.5 && low % 2 != 0) ? 1 : 0);
}

static int64_t sim_round_signed(double value)
{
    return value < 0.0 ? -(int64_t)sim_round(-value) : (int64_t)sim_round(value);
}

/* Returns value * 2^power. */
static double sim_scale(double value, int power)
{
    for (; power > 0; power--) {
        value *= 2.0;
    }
    for (; power < 0; power++) {
        value *= 0.5;
    }
    return value;
}

/* Returns the greatest n, at least `least`, with 2^n <= value. */
static int sim_log2(double value, int least)
{
    int power = least;
    while (value >= sim_scale(1.0, power + 1)) {
        power++;
    }
    return power;
}

/* Returns value^(5/12), for values from 0.003 to 1, by Newton's method from above. */
static double sim_srgb_power(double value)
{
    enum { STEPS = 64 };
    const double fifth = value * value * value * value * value;
    double root = 1.0;
    for (int i = 0; i < STEPS; i++) {
        const double cube = root * root * root;
        const double eleventh = cube * cube * cube * root * root;
        root -= (eleventh * root - fifth) / (12.0 * eleventh);
    }
    return root;
}

static double sim_to_srgb(double value)
{
    return value <= 0.0031308 ? 12.92 * value : 1.055 * sim_srgb_power(value) - 0.055;
}

static uint64_t sim_float_bits(float value)
{
    uint32_t word = 0;
    memcpy(&word, &value, sizeof(word));
    return word;
}

/* Converts to a float of a sign, an exponent of 5 bits and a mantissa; rounds to the nearest, ties
 * to even. */
static uint64_t sim_to_small_float(float value, uint32_t mantissa_bits, bool is_signed)
{
    const uint64_t word = sim_float_bits(value);
    const bool negative = word >> 31 != 0;
    const uint64_t infinity = (uint64_t)31 << mantissa_bits;
    const uint64_t sign = is_signed && negative ? (uint64_t)1 << (mantissa_bits + 5) : 0;
    if (value != value) {
        return sign | infinity | 1u;
    }
    if ((!is_signed && negative) || value == 0.0F) {
        return sign;
    }
    if ((word & 0x7FFFFFFFu) >= 0x7F800000u) {
        return sign | infinity;
    }
    /* The smallest normal number is 2^-14; below, the exponent stays. A full mantissa carries into
     * the exponent. */
    const double size = negative ? -(double)value : (double)value;
    const int exponent = sim_log2(size, -14);
    const uint64_t steps = sim_round(sim_scale(size, (int)mantissa_bits - exponent));
    const uint64_t bits = ((uint64_t)(exponent + 14) << mantissa_bits) + steps;
    return sign | (bits < infinity ? bits : infinity);
}

static uint64_t sim_encode_float(float value, uint32_t bits)
{
    if (bits == 16) {
        return sim_to_small_float(value, 10, true);
    }
    if (bits == 32) {
        return sim_float_bits(value);
    }
    const double wide = (double)value;
    uint64_t word = 0;
    memcpy(&word, &wide, sizeof(word));
    return word;
}

/* Converts one component. */
static uint64_t sim_encode_component(const VkClearColorValue* value, uint32_t index, bool alpha,
                                     uint32_t bits, enum sim_numeric numeric)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    const double real = (double)value->float32[index];
    const double most = (double)(mask >> 1);
    switch (numeric) {
    case SIM_UINT:
        return value->uint32[index] & mask;
    case SIM_SINT:
        return (uint64_t)(int64_t)value->int32[index] & mask;
    case SIM_SNORM:
        return (uint64_t)sim_round_signed(sim_clamp(real, -1.0, 1.0) * most) & mask;
    case SIM_USCALED:
        return (uint64_t)sim_clamp(real, 0.0, (double)mask);
    case SIM_SSCALED:
        return (uint64_t)(int64_t)sim_clamp(real, -most - 1.0, most) & mask;
    case SIM_SFLOAT:
        return sim_encode_float(value->float32[index], bits);
    case SIM_UFLOAT:
        return sim_to_small_float(value->float32[index], bits - 5, false);
    default: {
        const double unit = sim_clamp(real, 0.0, 1.0);
        const double shown = numeric == SIM_SRGB && !alpha ? sim_to_srgb(unit) : unit;
        return sim_round(shown * (double)mask);
    }
    }
}

/* Adds bits to a block that was zero. */
static void sim_put_bits(uint8_t* block, uint32_t at, uint32_t bits, uint64_t value)
{
    for (uint32_t i = 0; i < bits; i++) {
        block[(at + i) / 8] |= (uint8_t)((value >> i & 1u) << ((at + i) % 8));
    }
}

/* Three mantissas of 9 bits with one exponent, as Vulkan defines them. */
static void sim_put_shared_exponent(uint8_t* block, const VkClearColorValue* value)
{
    const double highest = 65408.0;
    double most = 0.0;
    double color[3];
    for (int i = 0; i < 3; i++) {
        color[i] = sim_clamp((double)value->float32[i], 0.0, highest);
        most = color[i] > most ? color[i] : most;
    }
    int exponent = sim_log2(most, -16) + 16;
    if ((uint64_t)(sim_scale(most, 24 - exponent) + 0.5) >= 512) {
        exponent++;
    }
    for (uint32_t i = 0; i < 3; i++) {
        sim_put_bits(block, 9 * i, 9, (uint64_t)(sim_scale(color[i], 24 - exponent) + 0.5));
    }
    sim_put_bits(block, 27, 5, (uint64_t)exponent);
}

bool sim_clear_color(VkFormat format, const VkClearColorValue* value,
                     uint8_t block[SIM_LARGEST_BLOCK])
{
    memset(block, 0, SIM_LARGEST_BLOCK);
    if (format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
        sim_put_shared_exponent(block, value);
        return true;
    }
    for (size_t i = 0; i < sizeof(sim_component_rows) / sizeof(sim_component_rows[0]); i++) {
        const struct sim_component_row* row = &sim_component_rows[i];
        if (format < row->first || format > row->last) {
            continue;
        }
        const enum sim_numeric numeric = sim_numeric_of(row, format);
        uint32_t at = 0;
        for (uint32_t c = 0; row->order[c] != 0; c++) {
            static const char names[] = "RGBA";
            const uint32_t index = (uint32_t)(strchr(names, row->order[c]) - names);
            sim_put_bits(block, at, row->bits[c],
                         sim_encode_component(value, index, index == 3, row->bits[c], numeric));
            at += row->bits[c];
        }
        return true;
    }
    return false;
}

void sim_clear_depth(VkFormat format, float depth, uint8_t block[SIM_LARGEST_BLOCK])
{
    const double unit = sim_clamp((double)depth, 0.0, 1.0);
    memset(block, 0, SIM_LARGEST_BLOCK);
    if (format == VK_FORMAT_D16_UNORM || format == VK_FORMAT_D16_UNORM_S8_UINT) {
        sim_put_bits(block, 0, 16, sim_round(unit * 65535.0));
    } else if (format == VK_FORMAT_D24_UNORM_S8_UINT || format == VK_FORMAT_X8_D24_UNORM_PACK32) {
        sim_put_bits(block, 0, 24, sim_round(unit * 16777215.0));
    } else {
        sim_put_bits(block, 0, 32, sim_encode_float(depth, 32));
    }
}
