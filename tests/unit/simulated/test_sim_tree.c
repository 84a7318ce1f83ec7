/*
 * The tree of ranges of the simulated driver, compared with an array in any order.
 */
#include "tests/rig/rig.h"

#include "backends/simulated/sim_tree.h"

enum { MOST_RANGES = 600, PLACES = 400, STEPS = 60000 };

struct range {
    struct sim_node node;
    uint32_t name;
};

/* What the tree must have. */
struct known_range {
    uint64_t begin, end;
    uint32_t name;
    struct range* made;
};

static struct sim_tree tree;
static struct known_range known[MOST_RANGES];
static uint32_t known_count;

/* Returns whether a range comes before another one in the tree. Names rise. */
static bool comes_before(const struct known_range* one, const struct known_range* other)
{
    return one->begin != other->begin ? one->begin < other->begin : one->name < other->name;
}

/* Returns the first range that ends after a place and comes after a given one, or NULL. */
static const struct known_range* find_after(const struct known_range* last, uint64_t place)
{
    const struct known_range* found = NULL;
    for (uint32_t i = 0; i < known_count; ++i) {
        if (known[i].end > place && (last == NULL || comes_before(last, &known[i])) &&
            (found == NULL || comes_before(&known[i], found))) {
            found = &known[i];
        }
    }
    return found;
}

static void add_range(struct rig_random* random, uint32_t name)
{
    if (tree.unused_count == 0) {
        const size_t size = sim_tree_chunk_size(&tree, sizeof(struct range));
        void* chunk = calloc(1, size);
        assert_non_null(chunk);
        sim_tree_add_chunk(&tree, chunk, size, sizeof(struct range));
    }
    struct known_range* one = &known[known_count++];
    one->begin = rig_below(random, PLACES);
    one->end = one->begin + 1 + rig_below(random, rig_below(random, 8) == 0 ? PLACES : 6);
    one->name = name;
    one->made = sim_tree_insert(&tree, one->begin, one->end);
    one->made->name = name;
}

static void remove_range(uint32_t at)
{
    sim_tree_remove(&tree, &known[at].made->node);
    known[at] = known[--known_count];
}

/* Walks over all ranges that end after a place. */
static void compare_from(uint64_t place)
{
    const struct range* there = sim_tree_after(&tree, place);
    for (const struct known_range* one = find_after(NULL, place); one != NULL;
         one = find_after(one, place)) {
        assert_non_null(there);
        assert_int_equal(there->name, one->name);
        assert_int_equal(there->node.begin, one->begin);
        assert_int_equal(there->node.end, one->end);
        there = sim_tree_next_after(&there->node, place);
    }
    assert_null(there);
}

static void ranges_are_found_in_order(void** state)
{
    struct rig_random random = {rig_seed(1)};
    (void)state;
    for (uint32_t i = 1; i <= STEPS; ++i) {
        const bool grows = i / 4000 % 2 == 0; /* to many ranges, and to few */
        const bool adds = rig_below(&random, 8) < (grows ? 6 : 3);
        if (adds ? known_count < MOST_RANGES : known_count > 0) {
            if (adds) {
                add_range(&random, i);
            } else {
                remove_range(rig_below(&random, known_count));
            }
        } else if (known_count > 0) {
            struct known_range* one = &known[rig_below(&random, known_count)];
            one->end = one->begin + 1 + rig_below(&random, PLACES);
            sim_tree_set_end(&one->made->node, one->end);
        }
        assert_int_equal(tree.count, known_count);
        if (i % 500 == 0) {
            compare_from(0);
            compare_from(rig_below(&random, PLACES));
        } else {
            const uint64_t place = rig_below(&random, PLACES);
            const struct known_range* one = find_after(NULL, place);
            assert_ptr_equal(sim_tree_after(&tree, place), one != NULL ? one->made : NULL);
        }
    }
    size_t size = 0;
    for (void* chunk = sim_tree_take_chunk(&tree, &size); chunk != NULL;
         chunk = sim_tree_take_chunk(&tree, &size)) {
        free(chunk);
    }
}

/* The way to each of many ranges that begin in rising order is short. */
static void way_to_a_range_is_short(void** state)
{
    enum { MANY = 20000, LONGEST_WAY = 64 };
    (void)state;
    uint32_t longest = 0;
    size_t size = 0;
    tree = (struct sim_tree){.root = NULL};
    for (uint32_t i = 0; i < MANY; ++i) {
        if (tree.unused_count == 0) {
            size = sim_tree_chunk_size(&tree, sizeof(struct range));
            void* chunk = calloc(1, size);
            assert_non_null(chunk);
            sim_tree_add_chunk(&tree, chunk, size, sizeof(struct range));
        }
        (void)sim_tree_insert(&tree, i, i + 1);
    }
    for (const struct range* one = sim_tree_after(&tree, 0); one != NULL;
         one = sim_tree_next(&one->node)) {
        uint32_t way = 0;
        for (const struct sim_node* node = &one->node; node != NULL; node = node->up) {
            ++way;
        }
        longest = way > longest ? way : longest;
    }
    assert_true(longest <= LONGEST_WAY);
    for (void* chunk = sim_tree_take_chunk(&tree, &size); chunk != NULL;
         chunk = sim_tree_take_chunk(&tree, &size)) {
        free(chunk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_found_in_order),
        cmocka_unit_test(way_to_a_range_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
