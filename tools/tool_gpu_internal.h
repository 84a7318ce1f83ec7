/*
 * What the files of the verifier share. Everything here is called with the verifier's mutex held.
 */
#ifndef MAAR_TOOL_GPU_INTERNAL_H
#define MAAR_TOOL_GPU_INTERNAL_H

#include "tool_gpu.h"

#include <pthread.h>

/* Largest window: byte counts and offsets within it fit 32 bits with room to spare. */
#define GPU_MAX_WINDOW ((VkDeviceSize)1 << 30)

/* Largest alias buffer, so that no device's limit on buffers is met. */
#define GPU_MAX_CHUNK ((VkDeviceSize)1 << 30)

/* What any window and chunk is a multiple of, the last ones of a block excepted. */
#define GPU_MIN_WINDOW ((VkDeviceSize)256)

/* What the aliases of blocks are used for. */
#define GPU_ALIAS_USAGE                                                                            \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* Verifications of one batch. */
#define GPU_SLOT_COUNT 4096u

#define GPU_HASH_SIZE 4096u

/* What a window's descriptors are. */
struct gpu_window {
    VkDescriptorSet set;
    VkDescriptorPool pool;
};

/* A buffer on a stretch of a block, with its windows. */
struct gpu_chunk {
    VkBuffer buffer;
    VkDeviceSize size;
    uint32_t window_count;
    struct gpu_window* windows;
};

/* A block of the allocator. */
struct gpu_block {
    struct gpu_block* next;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint32_t chunk_count;
    struct gpu_chunk* chunks;
    uint64_t last_batch; /* the last one that uses it */
};

struct gpu_pool_list {
    VkDescriptorPool* pools;
    uint32_t count;
};

/* A buffer of the verifier's own. */
struct gpu_own_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    void* mapped; /* NULL unless asked for */
};

/* What a slot's result means. */
struct gpu_slot {
    uint64_t label;
    uint64_t expected; /* bytes */
    uint64_t credit;   /* copies: bytes to count as verified when all texels are right */
    bool last;         /* the last slot of its subject */
    bool copied;
};

/* Push constants of both shaders. */
struct gpu_push {
    uint32_t first_byte, byte_count;
    uint32_t seed_low, seed_high;
    uint32_t word_base;
    uint32_t slot;
};

struct tool_gpu {
    struct tool_device* tool;
    pthread_mutex_t mutex; /* guards everything; taken under no lock of the allocator */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline fill, verify;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence;
    MaarPoint bound; /* what is recorded waits for it; value 0: nothing */
    bool recording;
    bool without_barriers; /* self-test */
    uint64_t batch;
    struct gpu_pool_list pools;
    struct gpu_own_buffer results;
    struct gpu_slot slots[GPU_SLOT_COUNT];
    uint32_t slot_count;
    uint64_t subject_right; /* bytes of the subject whose slots are being read */
    uint64_t subject_expected;
    VkDeviceSize window_size;
    uint32_t type_bits;
    struct gpu_block* blocks[GPU_HASH_SIZE];
    struct gpu_own_buffer staging;
    struct gpu_block* staging_block;
    struct tool_gpu_totals totals;
};

/* Begins the batch if need be, and orders what follows after all that was recorded. */
VkResult gpu_begin_job(struct tool_gpu* gpu);

/* gpu_begin_job, and room for a result. May run what was recorded so far. */
VkResult gpu_begin_verify(struct tool_gpu* gpu);

VkResult gpu_run(struct tool_gpu* gpu);

/* A stretch of a block to fill or verify, with what the pattern is numbered by. */
struct gpu_stretch {
    struct gpu_block* block;
    VkDeviceSize offset, size;
    uint64_t seed;
};

/* Records dispatches that fill a stretch. */
VkResult gpu_record_fill(struct tool_gpu* gpu, const struct gpu_stretch* stretch);

/* Records dispatches that verify it; the last slot of the subject is marked if `last`. */
VkResult gpu_record_verify(struct tool_gpu* gpu, const struct gpu_stretch* stretch,
                           const struct gpu_slot* meaning, bool last);

/* Finds or makes the alias of a block. */
VkResult gpu_find_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out);
/* Makes the alias of memory that is in no table; a buffer that is there already may be given. */
VkResult gpu_make_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out);
struct gpu_block* gpu_take_block(struct tool_gpu* gpu, VkDeviceMemory memory);
void gpu_destroy_block(struct tool_gpu* gpu, struct gpu_block* block);
VkDeviceSize gpu_chunk_size(const struct tool_gpu* gpu);

VkResult gpu_create_own_buffer(struct tool_gpu* gpu, VkDeviceSize size, VkBufferUsageFlags usage,
                               bool mapped, struct gpu_own_buffer* out);
void gpu_destroy_own_buffer(struct tool_gpu* gpu, struct gpu_own_buffer* own);

/*
 * The last bytes of a block whose size is no multiple of 4: no shader reaches them, but copies do,
 * through the staging buffer.
 */
struct gpu_tail {
    VkBuffer buffer;
    VkDeviceSize offset; /* within the buffer */
    VkDeviceSize size;   /* 1 to 3 */
    uint64_t seed;
};

/* Copies, tool_copy.c. */
VkResult gpu_tail_fill(struct tool_gpu* gpu, const struct gpu_tail* tail);
VkResult gpu_tail_verify(struct tool_gpu* gpu, const struct gpu_tail* tail,
                         const struct gpu_slot* meaning, bool last);
VkResult gpu_copy_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);
VkResult gpu_copy_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);
/* Whether the texels of an image can be copied bit by bit. */
bool gpu_can_copy(const struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

#endif
