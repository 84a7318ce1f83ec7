/*
 * The checks of placements find what is wrong: everything that a placement keeps is changed behind
 * its back, bit by bit and link by link. A check may overlook a change that means nothing, but it
 * must survive each, and every sentence that it has must have been said.
 */
#include <stdio.h>
#include <string.h>

#include "core/placement/placement_space.h"
#include "tests/unit/placement/placement_fixture.h"

enum { CROWD = 48, MOST_SENTENCES = 48 };

struct damage {
    struct maar_placement* placement;
    struct maar_placement whole;  /* as it is when nothing is wrong */
    struct placement_node* nodes; /* likewise */
    uint32_t* bins;               /* likewise */
    const char* said[MOST_SENTENCES];
    uint32_t said_count;
    uint32_t tried;
    uint32_t found;
};

static uint64_t random_state;

static uint32_t draw(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % limit);
}

/* Some dozens of ranges of two kinds, half of which go again. */
static struct maar_placement* make_crowd(MaarPlacementStrategy strategy)
{
    uint32_t nodes[CROWD];
    struct maar_placement* placement = fixture_create(strategy, 1 << 16, 64);
    for (uint32_t i = 0; i < CROWD; ++i) {
        const struct maar_placement_request request = {
            .size = 1 + draw(900),
            .alignment = 1u << draw(8),
            .kind = 1 + draw(2),
        };
        (void)fixture_request(placement, &request, &nodes[i]);
    }
    for (uint32_t i = 0; i < CROWD; ++i) {
        if (nodes[i] != MAAR_PLACEMENT_NO_NODE && (i % 5 == 0 || draw(2) == 0)) {
            assert_true(maar_placement_free(placement, nodes[i]));
        }
    }
    for (uint32_t i = 0; i < CROWD / 4; ++i) {
        const struct maar_placement_request request = {
            .size = 1 + draw(99), .alignment = 1, .kind = 1};
        (void)fixture_request(placement, &request, NULL);
    }
    assert_null(maar_placement_check(placement));
    return placement;
}

static void remember(struct damage* d)
{
    memcpy(&d->whole, d->placement, placement_bytes(d->placement->segment_limit));
    d->nodes = malloc(d->whole.capacity * sizeof *d->nodes);
    d->bins = malloc((d->whole.bin_count + 1) * sizeof *d->bins);
    assert_true(d->nodes != NULL && d->bins != NULL);
    size_t count = 0;
    for (uint32_t slot = 0; slot < d->whole.touched_end;
         slot = placement_slot_after(&d->whole, slot)) {
        d->nodes[count++] = *placement_at(&d->whole, slot);
    }
    if (d->whole.bins != NULL) {
        memcpy(d->bins, d->whole.bins, d->whole.bin_count * sizeof *d->bins);
    }
}

static void look(struct damage* d)
{
    const char* broken = maar_placement_check(d->placement);
    ++d->tried;
    d->found += broken != NULL;
    bool known = broken == NULL;
    for (uint32_t i = 0; i < d->said_count && !known; ++i) {
        known = strcmp(d->said[i], broken) == 0;
    }
    if (!known) {
        assert_true(d->said_count < MOST_SENTENCES);
        d->said[d->said_count++] = broken;
    }
    memcpy(d->placement, &d->whole, placement_bytes(d->whole.segment_limit));
    size_t count = 0;
    for (uint32_t slot = 0; slot < d->whole.touched_end;
         slot = placement_slot_after(&d->whole, slot)) {
        *placement_at(&d->whole, slot) = d->nodes[count++];
    }
    if (d->whole.bins != NULL) {
        memcpy(d->whole.bins, d->bins, d->whole.bin_count * sizeof *d->bins);
    }
}

/* Any node. */
static uint32_t draw_slot(const struct damage* d)
{
    uint32_t slot = PLACEMENT_NONE;
    for (uint32_t left = draw(d->whole.capacity); left != 0; --left) {
        const uint32_t next = placement_slot_after(&d->whole, slot);
        slot = next < d->whole.fresh_slot ? next : PLACEMENT_NONE;
    }
    return slot;
}

/* Another node, none, or one that there is not. */
static uint32_t draw_link(const struct damage* d)
{
    switch (draw(8)) {
    case 0:
        return PLACEMENT_NONE;
    case 1:
        return d->whole.fresh_slot + draw(UINT32_MAX - d->whole.fresh_slot);
    case 2:
        return draw_slot(d) | PLACEMENT_LINK_FREE;
    case 3:
        return draw(d->whole.fresh_slot);
    default:
        return draw_slot(d);
    }
}

static void damage_node(struct damage* d)
{
    struct placement_node* node = placement_at(&d->whole, draw_slot(d));
    switch (draw(11)) {
    case 0:
        node->where ^= (uint64_t)1 << (PLACEMENT_OFFSET_SHIFT + draw(20));
        break;
    case 1:
        node->where ^= (uint64_t)(1 + draw(3)) << PLACEMENT_STATE_SHIFT;
        break;
    case 2:
        node->where ^= 1u << draw(6);
        break;
    case 3:
        node->where ^= (uint64_t)3 << PLACEMENT_KIND_SHIFT;
        break;
    case 4:
        node->extent ^= (uint64_t)1 << (PLACEMENT_SIZE_SHIFT + draw(20));
        break;
    case 5:
        node->u.bin.next = draw_link(d);
        break;
    case 6:
        node->u.bin.prev = draw_link(d);
        break;
    case 7:
        node->prev = draw_link(d);
        break;
    case 8:
        node->next = draw_link(d);
        break;
    case 9:
        /* Linear: freed, but not given back. */
        if (placement_state(node) == PLACEMENT_LIVE) {
            node->where ^= (uint64_t)(PLACEMENT_LIVE ^ PLACEMENT_DEAD) << PLACEMENT_STATE_SHIFT;
            d->placement->range_count -= 1;
        }
        break;
    default: {
        /* Two that changed places. */
        struct placement_node* other = placement_at(&d->whole, draw_slot(d));
        const struct placement_node kept = *node;
        *node = *other;
        *other = kept;
        break;
    }
    }
}

static void damage_totals(struct damage* d)
{
    struct maar_placement* p = d->placement;
    switch (draw(12)) {
    case 0:
        p->free_slot = draw_link(d);
        break;
    case 1:
        p->fresh_slot += 1 + draw(16);
        break;
    case 2:
        p->fast_ends[draw(2) == 0 ? draw(PLACEMENT_FEW_SEGMENTS) : draw(3)] ^= PLACEMENT_SLOT_STEP;
        break;
    case 3:
        p->touched_end = draw(2) == 0 ? PLACEMENT_SLOT_STEP : UINT32_MAX - draw(1000);
        break;
    case 4:
        p->range_count += 1 - 2 * draw(2);
        break;
    case 5:
        p->used_size += 1 + draw(100);
        break;
    case 6:
        p->free_extent ^= (uint64_t)1 << (PLACEMENT_SIZE_SHIFT + draw(16));
        break;
    case 7:
        p->fresh_left += 1;
        break;
    case 8:
        p->bin_words[draw(2) == 0 ? draw(3) : draw(PLACEMENT_BIN_WORDS)] ^= (uint64_t)1 << draw(64);
        break;
    case 9:
        p->runs[draw(PLACEMENT_RUNS)] = (struct placement_run){draw_link(d) & ~PLACEMENT_LINK_FREE,
                                                               draw_link(d) & ~PLACEMENT_LINK_FREE};
        break;
    case 10:
        p->older_run ^= 1;
        break;
    default:
        p->size += 64;
        break;
    }
}

static void damage_bins(struct damage* d)
{
    if (d->whole.bins != NULL && d->whole.bin_count != 0) {
        /* Mostly one that is in use. */
        uint32_t bin = draw(d->whole.bin_count);
        for (uint32_t i = 0; i < d->whole.bin_count && d->bins[bin] == PLACEMENT_NONE; ++i) {
            bin = (bin + 1) % d->whole.bin_count;
        }
        d->whole.bins[bin] = draw_link(d);
    }
}

static void expect_all_said(const struct damage* d, const char* const* sentences)
{
    for (uint32_t i = 0; sentences[i] != NULL; ++i) {
        bool said = false;
        for (uint32_t k = 0; k < d->said_count && !said; ++k) {
            said = strcmp(d->said[k], sentences[i]) == 0;
        }
        if (!said) {
            fail_msg("nothing made the check say \"%s\"", sentences[i]);
        }
    }
}

/* Of every strategy. */
static const char* const all_say[] = {
    "an unused node is not on the stack",        "more nodes are in use than the storage holds",
    "ranges of different kinds share a granule", "the border has a wrong state",
    "the count of live ranges is wrong",         "the count of unused nodes is wrong",
    "the ends of the nodes in use are wrong",    "the stack of unused nodes has a bad link",
    "the totals are not the sums of the ranges", NULL,
};

static void damage_crowds(MaarPlacementStrategy strategy, const char* const* sentences)
{
    struct damage d = {.said_count = 0};
    random_state = 88172645463325252u;
    for (uint32_t crowd = 0; crowd < 12; ++crowd) {
        d.placement = make_crowd(strategy);
        remember(&d);
        for (uint32_t i = 0; i < 4000; ++i) {
            const uint32_t what = draw(8);
            if (what < 5) {
                damage_node(&d);
            } else if (what < 7) {
                damage_totals(&d);
            } else {
                damage_bins(&d);
            }
            look(&d);
        }
        assert_null(maar_placement_check(d.placement));
        free(d.nodes);
        free(d.bins);
        maar_placement_destroy(d.placement, NULL);
    }
    print_message("%u changes, %u found, %u sentences\n", d.tried, d.found, d.said_count);
    expect_all_said(&d, all_say);
    expect_all_said(&d, sentences);
    assert_true(d.found > d.tried / 2);
}

static void damaged_tlsf_is_found(void** state)
{
    static const char* const sentences[] = {
        "TLSF: a bin beyond the last one is marked as filled",
        "TLSF: a bin holds a node that is not free",
        "TLSF: a free range is in no bin",
        "TLSF: a free range is in the wrong bin",
        "TLSF: a live range does not reach its neighbour",
        "TLSF: an empty bin is marked as filled",
        "TLSF: free ranges are not joined",
        "TLSF: ranges overlap or leave the space",
        "TLSF: the first range does not begin at 0",
        "TLSF: the list of a bin has a wrong backward link",
        "TLSF: the list of a bin has a bad link",
        "the flag of a link does not match the state of the neighbour",
        "an unused node is among the neighbours",
        "the list of neighbours has a wrong backward link",
        "the border does not link to the last neighbour",
        "the list of neighbours has a bad link",
        NULL,
    };
    (void)state;
    damage_crowds(MAAR_PLACEMENT_STRATEGY_TLSF, sentences);
}

/* What the fast path of TLSF relies on. */
static void damage_of_odd_and_retired_ranges_is_found(void** state)
{
    (void)state;
    uint32_t nodes[2];
    struct maar_placement* placement = fixture_create(MAAR_PLACEMENT_STRATEGY_TLSF, 1000, 0);
    (void)fixture_allocate(placement, 256, 256, &nodes[0]);
    (void)fixture_allocate(placement, 700, 256, &nodes[1]);
    struct placement_node* last = placement_at(placement, nodes[1]);
    assert_int_equal(last->next, PLACEMENT_NONE | PLACEMENT_LINK_ODD);
    last->next = PLACEMENT_NONE;
    assert_string_equal(maar_placement_check(placement),
                        "TLSF: an odd range is not flagged as one");
    last->next = PLACEMENT_NONE | PLACEMENT_LINK_FREE;
    assert_string_equal(maar_placement_check(placement),
                        "the flag of a link does not match the state of the neighbour");
    last->next = PLACEMENT_NONE | PLACEMENT_LINK_ODD;
    fixture_free(placement, nodes[1]);
    assert_int_equal(last->next, PLACEMENT_NONE);
    last->next = PLACEMENT_NONE | PLACEMENT_LINK_ODD;
    assert_string_equal(maar_placement_check(placement), "TLSF: a free range is flagged as odd");
    last->next = PLACEMENT_NONE;
    last->where |= PLACEMENT_ERA_MASK;
    assert_string_equal(maar_placement_check(placement),
                        "TLSF: a retired node does not have the last generation");
    last->extent |= PLACEMENT_GENERATION_MASK;
    assert_null(maar_placement_check(placement));
    maar_placement_destroy(placement, NULL);
}

static void damaged_buddy_is_found(void** state)
{
    static const char* const sentences[] = {
        "the flag of a link does not match the state of the neighbour",
        "an unused node is among the neighbours",
        "buddy: a free range is in no list",
        "buddy: a live range leaves its node",
        "buddy: a range is in the wrong list",
        "buddy: an empty order is marked as filled",
        "buddy: ranges overlap or leave a gap",
        "buddy: the list of an order has a wrong backward link",
        "buddy: the list of an order has a bad link",
        "buddy: the nodes do not cover the space",
        "buddy: two free buddies are not joined",
        "the list of neighbours has a wrong backward link",
        "the border does not link to the last neighbour",
        "the list of neighbours has a bad link",
        NULL,
    };
    (void)state;
    damage_crowds(MAAR_PLACEMENT_STRATEGY_BUDDY, sentences);
}

static void damaged_linear_is_found(void** state)
{
    static const char* const sentences[] = {
        "linear: a dead range was not joined or removed",
        "linear: a range is in the wrong run",
        "linear: a run does not end at its newest range",
        "linear: a run ends in a dead range",
        "linear: a run holds a node that is not in use",
        "linear: a run has a bad link",
        "linear: ranges of a run overlap",
        "linear: the older run is empty and the younger is not",
        "linear: two runs overlap",
        NULL,
    };
    (void)state;
    damage_crowds(MAAR_PLACEMENT_STRATEGY_LINEAR, sentences);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_tlsf_is_found),
        cmocka_unit_test(damage_of_odd_and_retired_ranges_is_found),
        cmocka_unit_test(damaged_buddy_is_found),
        cmocka_unit_test(damaged_linear_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
