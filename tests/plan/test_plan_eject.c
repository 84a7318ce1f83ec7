/*
 * The search by ejection: its lists and placements after any number of nodes, what it finds, and
 * that it repeats.
 */
#include "core/plan/exact/exact_eject.h"
#include "core/plan/plan_class.h"
#include "core/plan/plan_graph.h"
#include "tests/rig/rig.h"

enum { MOST = 60, PASSES = 20, PROBLEMS = 40, SLICES = 20, SLICE_NODES = 25 };

struct eject_world {
    MaarPlanResource resources[MOST];
    MaarPlanCreateInfo info;
    struct maar_host_stack stack;
    struct maar_plan_budget budget;
    struct maar_plan_graph graph;
    struct maar_plan_problem problem;
    uint32_t numbers[MOST];
    int64_t offsets[MOST];
};

/* Makes a problem of some resources on one queue. */
static void open_world(struct eject_world* world, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        world->numbers[i] = i;
        world->resources[i].alignment = 1;
        world->resources[i].memoryTypeBits = 1;
    }
    world->info = (MaarPlanCreateInfo){.sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
                                       .resourceCount = count,
                                       .pResources = world->resources};
    world->budget = (struct maar_plan_budget){.nodes_left = UINT64_MAX, .deadline_ns = UINT64_MAX};
    assert_int_equal(
        maar_plan_build_graph(&world->info, &world->budget, &world->stack, &world->graph),
        VK_SUCCESS);
    assert_int_equal(maar_plan_build_problem(&world->graph, &world->stack, world->numbers, count, 1,
                                             &world->problem),
                     VK_SUCCESS);
    assert_true(maar_exact_eject_takes(&world->problem));
}

/* Cuts a rectangle of PASSES by `height` bytes into pieces, so that the pieces fit. Returns their
 * number. */
static uint32_t cut_rectangle(struct eject_world* world, struct rig_random* random, uint64_t height)
{
    uint32_t count = 1;
    *world = (struct eject_world){
        .resources[0] = {.size = height, .firstPass = 0, .lastPass = PASSES - 1},
    };
    for (uint32_t tries = 0; tries < 200 && count < MOST; ++tries) {
        MaarPlanResource* const piece = &world->resources[rig_below(random, count)];
        MaarPlanResource* const other = &world->resources[count];
        *other = *piece;
        if (rig_below(random, 2) == 0 && piece->size > 1) {
            other->size = 1 + rig_below(random, (uint32_t)piece->size - 1);
            piece->size -= other->size;
            ++count;
        } else if (piece->firstPass < piece->lastPass) {
            other->firstPass += 1 + rig_below(random, piece->lastPass - piece->firstPass);
            piece->lastPass = other->firstPass - 1;
            ++count;
        }
    }
    return count;
}

/* Puts each item on top of the one before. */
static void pile(struct eject_world* world)
{
    int64_t top = 0;
    for (uint32_t i = 0; i < world->problem.count; ++i) {
        world->offsets[i] = top;
        top += world->problem.size[i];
    }
}

static void search_keeps_its_lists_and_finds_placements(void** state)
{
    (void)state;
    struct eject_world made;
    struct eject_world* const world = &made;
    struct rig_random random = {rig_seed(6)};
    uint32_t found = 0;
    for (uint32_t i = 0; i < PROBLEMS; ++i) {
        const uint64_t height = 30 + rig_below(&random, 300);
        open_world(world, cut_rectangle(world, &random, height));
        struct maar_exact_eject* const eject =
            maar_exact_eject_create(&world->problem, &world->stack);
        assert_non_null(eject);
        pile(world);
        maar_exact_eject_load(eject, world->offsets);
        bool fits = false;
        for (uint32_t k = 0; k < SLICES && !fits; ++k) {
            const uint64_t capacity = height + (k < SLICES / 2 ? height / 8 : height / 16);
            fits =
                maar_exact_eject_run(eject, capacity, SLICE_NODES, &world->budget, world->offsets);
            assert_true(maar_exact_eject_is_sound(eject));
            assert_true(!fits || maar_plan_peak(&world->problem, world->offsets) <= capacity);
        }
        assert_true(maar_plan_is_sound(&world->problem, world->offsets));
        found += fits;
        maar_stack_reset(&world->stack);
    }
    assert_true(found > PROBLEMS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_keeps_its_lists_and_finds_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
