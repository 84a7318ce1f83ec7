/*
 * The shape index against a plain array of bounds: random changes, then every search.
 */
#include "core/memory/shape_index.h"
#include "tests/rig/rig.h"

enum { MOST_BLOCKS = 700, MOST_COLUMNS = 7, CHANGES = 4000 };

struct model {
    struct maar_shape_index* index;
    uint32_t capacity;
    uint32_t count; /* columns */
    uint32_t bounds[MOST_COLUMNS + 1][MOST_BLOCKS];
};

static uint32_t first_of(const struct model* model, uint32_t column, uint32_t from, uint32_t size)
{
    for (uint32_t i = from; i < model->capacity; ++i) {
        if (model->bounds[column][i] >= size) {
            return i;
        }
    }
    return UINT32_MAX;
}

static struct maar_shape_index* make_index(uint32_t capacity, uint32_t columns,
                                           const struct maar_shape_index* from)
{
    struct maar_shape_index* index = calloc(1, maar_shape_index_size(capacity, columns));
    assert_non_null(index);
    maar_shape_index_init(index, capacity, columns, from);
    return index;
}

static void add_column(struct model* model)
{
    const uint32_t shape = maar_shape_number((VkDeviceSize)1 << (3 * model->count), 2, true);
    assert_int_equal(maar_shape_index_column(model->index, shape), 0);
    const uint32_t column = maar_shape_index_add(model->index, shape);
    assert_int_equal(column, ++model->count);
    assert_int_equal(maar_shape_index_column(model->index, shape), column);
    for (uint32_t i = 0; i < model->capacity; ++i) {
        model->bounds[column][i] = 0;
    }
}

static void change(struct model* model, struct rig_random* random)
{
    const uint32_t at = rig_below(random, model->capacity);
    const uint32_t size = rig_below(random, 1000);
    const uint32_t column = 1 + rig_below(random, model->count);
    const uint32_t what = rig_below(random, 20);
    if (what == 0) {
        maar_shape_index_clear(model->index, at);
    } else if (what < 10) {
        maar_shape_index_raise(model->index, at, what == 1 ? UINT64_MAX : size);
    } else {
        maar_shape_index_set(model->index, at, column, size);
    }
    for (uint32_t i = 1; i <= model->count; ++i) {
        uint32_t* bound = &model->bounds[i][at];
        const uint32_t room = what == 1 ? MAAR_SHAPE_ANY_SIZE : size;
        if (what == 0) {
            *bound = 0;
        } else if (what < 10) {
            *bound = *bound < room ? room : *bound;
        } else if (i == column) {
            *bound = size;
        }
    }
}

static void expect_same(const struct model* model, struct rig_random* random)
{
    assert_null(maar_shape_index_check(model->index));
    for (uint32_t column = 1; column <= model->count; ++column) {
        const uint32_t from = rig_below(random, model->capacity + 1);
        const uint32_t size = 1 + rig_below(random, 1000);
        assert_int_equal(maar_shape_index_first(model->index, column, from, size),
                         first_of(model, column, from, size));
        assert_int_equal(maar_shape_index_first(model->index, column, 0, size),
                         first_of(model, column, 0, size));
    }
}

static void searches_agree_with_an_array(void** state)
{
    (void)state;
    static const uint32_t capacities[] = {1, 15, 16, 17, 256, 257, 300, MOST_BLOCKS};
    static struct model model;
    struct rig_random random = {rig_seed(7)};
    for (uint32_t i = 0; i < sizeof capacities / sizeof capacities[0]; ++i) {
        model = (struct model){.capacity = capacities[i]};
        model.index = make_index(capacities[i], MOST_COLUMNS, NULL);
        for (uint32_t n = 0; n < CHANGES; ++n) {
            if (n % (CHANGES / MOST_COLUMNS) == 0 && model.count < MOST_COLUMNS) {
                add_column(&model);
            }
            change(&model, &random);
            expect_same(&model, &random);
        }
        free(model.index);
    }
}

static void columns_are_kept_by_a_larger_index(void** state)
{
    (void)state;
    struct maar_shape_index* small = make_index(20, 2, NULL);
    const uint32_t shapes[] = {maar_shape_number(1, 0, false), maar_shape_number(256, 3, true),
                               maar_shape_number((VkDeviceSize)1 << 63, 3, true)};
    assert_int_equal(maar_shape_index_add(small, shapes[0]), 1);
    assert_int_equal(maar_shape_index_add(small, shapes[1]), 2);
    assert_int_equal(maar_shape_index_add(small, shapes[2]), 0); /* no room */
    struct maar_shape_index* large = make_index(40, 5, small);
    assert_int_equal(maar_shape_index_column(large, shapes[0]), 1);
    assert_int_equal(maar_shape_index_column(large, shapes[1]), 2);
    assert_int_equal(maar_shape_index_add(large, shapes[2]), 3);
    maar_shape_index_raise(large, 39, 100);
    assert_int_equal(maar_shape_index_first(large, 3, 0, 100), 39);
    maar_shape_index_reset(large);
    assert_int_equal(maar_shape_index_first(large, 3, 0, 1), UINT32_MAX);
    free(large);
    free(small);
}

static void damage_is_found(void** state)
{
    (void)state;
    struct maar_shape_index* index = make_index(40, 1, NULL);
    (void)maar_shape_index_add(index, maar_shape_number(1, 0, false));
    maar_shape_index_raise(index, 20, 100);
    assert_null(maar_shape_index_check(index));
    index->rows[20 * 2] = 101;
    assert_string_equal(maar_shape_index_check(index),
                        "the shape index of an arena would miss a free");
    index->rows[20 * 2] = 100;
    index->rows[(40 + 1) * 2 + 1] = 99;
    assert_string_equal(maar_shape_index_check(index),
                        "the shape index of an arena would pass over a block that has room");
    free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_agree_with_an_array),
        cmocka_unit_test(columns_are_kept_by_a_larger_index),
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
