/*
 * Which tiles of a coarser level cover one of a finer level, texel by texel.
 */
#include "core/reservation/tile_grid.h"
#include "tests/rig/rig.h"

/* Returns whether a texel of the coarser level shows a part of [begin, end) of the finer one. */
static bool shows(uint32_t fine, uint32_t coarse, uint32_t texel, uint64_t begin, uint64_t end)
{
    return (uint64_t)texel * fine < end * coarse && ((uint64_t)texel + 1) * fine > begin * coarse;
}

static void check_axis(uint32_t extent, uint32_t tile)
{
    struct maar_tile_grid grid;
    assert_true(
        maar_tile_grid_init(&grid, (VkExtent3D){extent, 1, 1}, (VkExtent3D){tile, 1, 1}, 2, 2));
    const uint32_t coarse = grid.levels[1].extent[0];
    for (uint32_t number = 0; number < grid.levels[0].count; ++number) {
        const struct maar_tile_box box = maar_tile_cover(&grid, 0, number);
        const uint64_t begin = (uint64_t)number * tile;
        const uint64_t end = begin + tile < extent ? begin + tile : extent;
        uint32_t first = UINT32_MAX;
        uint32_t last = 0;
        for (uint32_t texel = 0; texel < coarse; ++texel) {
            if (shows(extent, coarse, texel, begin, end)) {
                first = first == UINT32_MAX ? texel : first;
                last = texel;
            }
        }
        assert_int_equal(box.first[0], first / tile);
        assert_int_equal(box.end[0], last / tile + 1);
        assert_true(box.first[1] == 0 && box.end[1] == 1 && box.first[2] == 0 && box.end[2] == 1);
    }
}

static void tiles_are_covered_to_their_last_texel(void** state)
{
    (void)state;
    for (uint32_t extent = 1; extent < 130; ++extent) {
        for (uint32_t tile = 1; tile < 20; ++tile) {
            check_axis(extent, tile);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_are_covered_to_their_last_texel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
