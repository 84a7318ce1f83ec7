/*
 * Batches: the recorded changes of tables, as the arrays of one vkQueueBindSparse. For this room
 * alone.
 */
#ifndef MAAR_CORE_PAGING_BIND_BATCH_H
#define MAAR_CORE_PAGING_BIND_BATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_page_table;
struct maar_paging;

/* The pages of a table that one element of a submission stands for. */
struct maar_bind_span {
    struct maar_page_table* table;
    uint64_t first;
    uint64_t count;
    bool unbinds;
};

/* What a submission has taken. */
struct maar_bind_counts {
    uint32_t spans;
    uint32_t plain; /* binds of buffers and opaque parts */
    uint32_t tiles; /* binds of tiles */
    uint32_t buffers;
    uint32_t opaques;
    uint32_t images;
    uint64_t pages_bound;
    uint64_t pages_unbound;
};

/* A batch grows as needed, and its arrays are used for each submission. It belongs to the thread
 * that submits. */
struct maar_bind_batch {
    uint32_t capacity; /* of binds, tile_binds and spans */
    uint32_t bind_count;
    uint32_t table_capacity; /* of the other arrays */
    uint32_t table_count;
    VkSparseMemoryBind* binds;           /* of buffers and opaque parts, table after table */
    VkSparseImageMemoryBind* tile_binds; /* of tiles, table after table */
    struct maar_bind_span* spans;
    VkSparseBufferMemoryBindInfo* buffers;
    VkSparseImageOpaqueMemoryBindInfo* opaques;
    VkSparseImageMemoryBindInfo* images;
    struct maar_page_table** tables;
    /* The changes move pages. So the submission has two steps: the first one unbinds and has the
     * elements before `step`, and the second one binds. */
    bool moves;
    uint32_t unsettled; /* what this submission takes of maar_paging::unsettled */
    struct maar_bind_counts step;
    struct maar_bind_counts taken;
};

/* Moves everything that is recorded into the batch. Returns VK_SUCCESS or
 * VK_ERROR_OUT_OF_HOST_MEMORY; in the second case everything stays recorded. Called without a lock,
 * only by the thread that submits. */
VkResult maar_bind_batch_take(struct maar_paging* paging);
/* Resolves the state of each page of the batch, once its submission was made or has failed. The
 * changes of a failed submission are recorded again. Called without a lock, only by the thread that
 * submits. */
void maar_bind_batch_end(struct maar_paging* paging, bool succeeded);
/* Frees the arrays of the batch. */
void maar_bind_batch_free(struct maar_paging* paging);

#endif
