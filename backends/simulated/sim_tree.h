/*
 * Ranges in the order of their beginnings: sim_tree.c. Each node stands at the beginning of a
 * structure of the caller's, and may overlap others. To find, to add and to remove one takes a
 * time that grows with the logarithm of their number. The nodes lie in chunks that the caller
 * provides, so that it decides how it allocates, and with which lock. Lock held.
 */
#ifndef MAAR_SIM_TREE_H
#define MAAR_SIM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_node {
    uint64_t begin, end;
    uint64_t reach;  /* the highest end in the subtree */
    uint64_t weight; /* random; no node has a heavier child */
    struct sim_node* up;
    struct sim_node* sides[2];
};

struct sim_tree {
    struct sim_node* root;
    struct sim_node* unused; /* a list by `up` */
    void* chunks;            /* a list */
    uint32_t count, unused_count;
    uint64_t weights; /* the last random number */
};

/* Returns the bytes of the next chunk: as many nodes as there are, within limits. */
size_t sim_tree_chunk_size(const struct sim_tree* tree, size_t node_size);
/* Adds the nodes of a chunk, which is zeroed. */
void sim_tree_add_chunk(struct sim_tree* tree, void* chunk, size_t size, size_t node_size);
/* Takes a chunk out of a tree that is not used any more, for the caller to free. Returns NULL when
 * there is none. */
void* sim_tree_take_chunk(struct sim_tree* tree, size_t* size);

/* Adds a node behind those that begin at the same place. There is an unused node. The rest of its
 * structure is undefined. */
void* sim_tree_insert(struct sim_tree* tree, uint64_t begin, uint64_t end);
void sim_tree_remove(struct sim_tree* tree, struct sim_node* node);
/* Changes where a node ends. */
void sim_tree_set_end(struct sim_node* node, uint64_t end);
/* Returns the first node that ends after a place, or NULL. */
void* sim_tree_after(const struct sim_tree* tree, uint64_t place);
/* Returns the next node that ends after a place, or NULL. */
void* sim_tree_next_after(const struct sim_node* node, uint64_t place);
/* Returns the next node, or NULL. */
static inline void* sim_tree_next(const struct sim_node* node)
{
    return sim_tree_next_after(node, 0);
}

#endif
