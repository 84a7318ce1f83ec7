/*
 * Ranges in the order of their beginnings: a treap, in which each node knows how far its subtree
 * reaches. No range is empty, so each ends after 0.
 */
#include "backends/simulated/sim_tree.h"

enum { SIM_FEWEST_NODES = 16, SIM_MOST_NODES = 4096 };

struct sim_chunk {
    struct sim_chunk* next;
    size_t size;
};

/* ---- chunks ---- */

size_t sim_tree_chunk_size(const struct sim_tree* tree, size_t node_size)
{
    size_t nodes = tree->count + (size_t)tree->unused_count;
    nodes = nodes < SIM_FEWEST_NODES ? SIM_FEWEST_NODES : nodes;
    nodes = nodes > SIM_MOST_NODES ? SIM_MOST_NODES : nodes;
    return sizeof(struct sim_chunk) + nodes * node_size;
}

static void sim_tree_put_unused(struct sim_tree* tree, struct sim_node* node)
{
    node->up = tree->unused;
    tree->unused = node;
    tree->unused_count++;
}

void sim_tree_add_chunk(struct sim_tree* tree, void* chunk, size_t size, size_t node_size)
{
    struct sim_chunk* head = chunk;
    head->next = tree->chunks;
    head->size = size;
    tree->chunks = head;
    for (size_t at = sizeof(*head); at + node_size <= size; at += node_size) {
        sim_tree_put_unused(tree, (struct sim_node*)(void*)((uint8_t*)chunk + at));
    }
}

void* sim_tree_take_chunk(struct sim_tree* tree, size_t* size)
{
    struct sim_chunk* chunk = tree->chunks;
    if (chunk != NULL) {
        tree->chunks = chunk->next;
        *size = chunk->size;
    }
    return chunk;
}

/* ---- the tree ---- */

static uint64_t sim_tree_weigh(struct sim_tree* tree)
{
    tree->weights += 0x9E3779B97F4A7C15u;
    uint64_t mixed = tree->weights;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

static uint64_t sim_reach_of(const struct sim_node* node)
{
    return node != NULL ? node->reach : 0;
}

/* Sums up how far the subtree of a node reaches. */
static void sim_node_measure(struct sim_node* node)
{
    const uint64_t left = sim_reach_of(node->sides[0]);
    const uint64_t right = sim_reach_of(node->sides[1]);
    const uint64_t sides = left > right ? left : right;
    node->reach = node->end > sides ? node->end : sides;
}

static void sim_nodes_measure(struct sim_node* node)
{
    for (; node != NULL; node = node->up) {
        sim_node_measure(node);
    }
}

/* Returns the pointer that leads to a node. */
static struct sim_node** sim_link_of(struct sim_tree* tree, const struct sim_node* node)
{
    return node->up == NULL ? &tree->root : &node->up->sides[node->up->sides[1] == node];
}

/* Puts a node in the place of the node above it. */
static void sim_node_lift(struct sim_tree* tree, struct sim_node* node)
{
    struct sim_node* above = node->up;
    const int side = above->sides[1] == node;
    struct sim_node* between = node->sides[!side];
    *sim_link_of(tree, above) = node;
    node->up = above->up;
    above->sides[side] = between;
    if (between != NULL) {
        between->up = above;
    }
    node->sides[!side] = above;
    above->up = node;
    sim_node_measure(above);
    sim_node_measure(node);
}

void* sim_tree_insert(struct sim_tree* tree, uint64_t begin, uint64_t end)
{
    struct sim_node* node = tree->unused;
    struct sim_node** link = &tree->root;
    struct sim_node* above = NULL;
    tree->unused = node->up;
    tree->unused_count--;
    tree->count++;
    while (*link != NULL) {
        above = *link;
        link = &above->sides[begin >= above->begin];
    }
    *node = (struct sim_node){
        .begin = begin, .end = end, .reach = end, .weight = sim_tree_weigh(tree), .up = above};
    *link = node;
    sim_nodes_measure(above);
    while (node->up != NULL && node->up->weight < node->weight) {
        sim_node_lift(tree, node);
    }
    return node;
}

void sim_tree_remove(struct sim_tree* tree, struct sim_node* node)
{
    while (node->sides[0] != NULL && node->sides[1] != NULL) {
        sim_node_lift(tree, node->sides[node->sides[1]->weight > node->sides[0]->weight]);
    }
    struct sim_node* below = node->sides[node->sides[0] == NULL];
    *sim_link_of(tree, node) = below;
    if (below != NULL) {
        below->up = node->up;
    }
    sim_nodes_measure(node->up);
    tree->count--;
    sim_tree_put_unused(tree, node);
}

void sim_tree_set_end(struct sim_node* node, uint64_t end)
{
    node->end = end;
    sim_nodes_measure(node);
}

/* Returns the first node of a subtree that ends after a place, or NULL. */
static struct sim_node* sim_subtree_after(struct sim_node* node, uint64_t place)
{
    if (sim_reach_of(node) <= place) {
        return NULL;
    }
    for (;;) {
        if (sim_reach_of(node->sides[0]) > place) {
            node = node->sides[0];
        } else if (node->end > place) {
            return node;
        } else {
            node = node->sides[1];
        }
    }
}

void* sim_tree_after(const struct sim_tree* tree, uint64_t place)
{
    return sim_subtree_after(tree->root, place);
}

void* sim_tree_next_after(const struct sim_node* node, uint64_t place)
{
    struct sim_node* found = sim_subtree_after(node->sides[1], place);
    while (found == NULL && node->up != NULL) {
        const bool was_left = node->up->sides[0] == node;
        node = node->up;
        if (was_left) {
            found = node->end > place ? (struct sim_node*)node
                                      : sim_subtree_after(node->sides[1], place);
        }
    }
    return found;
}
