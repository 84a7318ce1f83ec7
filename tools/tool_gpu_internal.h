/*
 * Declarations that the verifier's files share. The caller of each function holds the verifier's
 * mutex.
 */
#ifndef MAAR_TOOL_GPU_INTERNAL_H
#define MAAR_TOOL_GPU_INTERNAL_H

#include "tool_gpu.h"

#include <pthread.h>

/* The largest window. Byte counts and offsets within a window easily fit 32 bits. */
#define GPU_MAX_WINDOW ((VkDeviceSize)1 << 30)

/* The largest alias buffer, which stays below every device's limit for buffers. */
#define GPU_MAX_CHUNK ((VkDeviceSize)1 << 30)

/* The granularity of windows and chunks, except for the last ones of a block. */
#define GPU_MIN_WINDOW ((VkDeviceSize)256)

/* The usage of the aliases of blocks. */
#define GPU_ALIAS_USAGE                                                                            \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* The verifications of one batch. */
#define GPU_SLOT_COUNT 4096u

#define GPU_HASH_SIZE 4096u

/* The bindings of a window's descriptor set. */
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
    uint64_t last_batch; /* number of the last batch that uses the block */
};

struct gpu_pool_list {
    VkDescriptorPool* pools;
    uint32_t count;
};

/* A buffer that the verifier owns. */
struct gpu_own_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    void* mapped; /* NULL unless mapping was requested */
};

/* The meaning of a slot's result. */
struct gpu_slot {
    uint64_t label;
    uint64_t expected; /* bytes */
    uint64_t credit;   /* for copies: bytes that count as verified when all texels are right */
    bool last;         /* this is the last slot of its subject */
    bool copied;
};

/* The push constants of both shaders. */
struct gpu_push {
    uint32_t first_byte, byte_count;
    uint32_t seed_low, seed_high;
    uint32_t word_base;
    uint32_t slot;
};

struct tool_gpu {
    struct tool_device* tool;
    pthread_mutex_t
        mutex; /* guards all fields; no lock of the allocator is held when it is taken */
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline fill, verify;
    VkCommandPool command_pool;
    VkCommandBuffer commands;
    VkFence fence;
    MaarPoint bound; /* recorded work waits for this point; value 0: no wait */
    bool recording;
    bool without_barriers; /* self-test */
    uint64_t batch;
    struct gpu_pool_list pools;
    struct gpu_own_buffer results;
    struct gpu_slot slots[GPU_SLOT_COUNT];
    uint32_t slot_count;
    uint64_t subject_right; /* right bytes of the subject whose slots are being read */
    uint64_t subject_expected;
    VkDeviceSize window_size;
    uint32_t type_bits;
    struct gpu_block* blocks[GPU_HASH_SIZE];
    struct gpu_own_buffer staging;
    struct gpu_block* staging_block;
    struct tool_gpu_totals totals;
};

/* Begins a batch unless one has begun, and orders later work after all recorded work. */
VkResult gpu_begin_job(struct tool_gpu* gpu);

/* Calls gpu_begin_job() and makes room for a result. May run the recorded work. */
VkResult gpu_begin_verify(struct tool_gpu* gpu);

VkResult gpu_run(struct tool_gpu* gpu);

/* A stretch of a block to fill or verify, and the numbering of its pattern. */
struct gpu_stretch {
    struct gpu_block* block;
    VkDeviceSize offset, size;
    uint64_t seed;
};

/* Records dispatches that fill a stretch. */
VkResult gpu_record_fill(struct tool_gpu* gpu, const struct gpu_stretch* stretch);

/* Records dispatches that verify a stretch. If `last`, marks the last slot of the subject. */
VkResult gpu_record_verify(struct tool_gpu* gpu, const struct gpu_stretch* stretch,
                           const struct gpu_slot* meaning, bool last);

/* Finds or makes the alias of a block. */
VkResult gpu_find_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out);
/* Makes the alias of memory that is in no table. The caller may supply an existing buffer. */
VkResult gpu_make_block(struct tool_gpu* gpu, VkDeviceMemory memory, VkDeviceSize size,
                        struct gpu_block** out);
struct gpu_block* gpu_take_block(struct tool_gpu* gpu, VkDeviceMemory memory);
void gpu_destroy_block(struct tool_gpu* gpu, struct gpu_block* block);
VkDeviceSize gpu_chunk_size(const struct tool_gpu* gpu);

VkResult gpu_create_own_buffer(struct tool_gpu* gpu, VkDeviceSize size, VkBufferUsageFlags usage,
                               bool mapped, struct gpu_own_buffer* out);
void gpu_destroy_own_buffer(struct tool_gpu* gpu, struct gpu_own_buffer* own);

/*
 * The last bytes of a block whose size is not a multiple of 4. No shader can reach these bytes, but
 * copies through the staging buffer can.
 */
struct gpu_tail {
    VkBuffer buffer;
    VkDeviceSize offset; /* within the buffer */
    VkDeviceSize size;   /* 1 to 3 */
    uint64_t seed;
};

/* Verification by copies, in tool_copy.c. */
VkResult gpu_tail_fill(struct tool_gpu* gpu, const struct gpu_tail* tail);
VkResult gpu_tail_verify(struct tool_gpu* gpu, const struct gpu_tail* tail,
                         const struct gpu_slot* meaning, bool last);
VkResult gpu_copy_fill(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);
VkResult gpu_copy_verify(struct tool_gpu* gpu, const struct tool_gpu_subject* subject);
/* Returns whether the texels of an image can be copied bit by bit. */
bool gpu_can_copy(const struct tool_gpu* gpu, const struct tool_gpu_subject* subject);

#endif
