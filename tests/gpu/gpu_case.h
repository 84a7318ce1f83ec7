/*
 * What the checks on a GPU have in common: a Vulkan device and the CUDA device that is the same
 * card, Maar's allocator and its CUDA object, and the words of a report.
 *
 * A check prints Markdown to stdout and reasons to stderr. Exit codes: 0 done; 1 something did not
 * hold; 2 wrong arguments; 77 this machine cannot do it. Given the FAKE CUDA driver it says so in
 * its first line, and no figure of such a run means anything.
 */
#ifndef MAAR_TESTS_GPU_GPU_CASE_H
#define MAAR_TESTS_GPU_GPU_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <volk.h>

#include "interop/cuda/cuda_driver.h"
#include "maar/cuda.h"
#include "maar/maar.h"

#define KIB ((VkDeviceSize)1 << 10)
#define MIB ((VkDeviceSize)1 << 20)

/* How memory is handed over. */
#define GPU_HANDLE_TYPE VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT

enum {
    GPU_EXIT_OK = 0,
    GPU_EXIT_FAILED = 1,
    GPU_EXIT_USAGE = 2,
    GPU_EXIT_SKIPPED = 77,
    GPU_EXIT_NO_ROW = 78 /* a group has fewer rows; see gpu_rows.h */
};

enum gpu_need {
    GPU_NEEDS_NOTHING = 0, /* CUDA is opened all the same where it is there */
    GPU_NEEDS_CUDA = 0x1,
    GPU_NEEDS_CUDA_MEMORY = 0x2 /* the opposite direction is allowed */
};

/* Entry points beyond those that Maar uses; NULL where the driver has none. */
struct gpu_launcher {
    int (*load)(void** module, const void* image);
    int (*find)(void** function, void* module, const char* name);
    int (*launch)(void* function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                  unsigned int block_x, unsigned int block_y, unsigned int block_z,
                  unsigned int shared_bytes, void* stream, void** arguments, void** extra);
    int (*elapsed)(float* milliseconds, struct maar_cuda_event* begin, struct maar_cuda_event* end);
    void* module;        /* NULL: no kernels */
    const char* missing; /* why */
};

struct gpu_case {
    const char* program;
    bool fake;  /* the CUDA driver is the FAKE one */
    bool quick; /* small numbers, to try the program out */
    /* NULL: a whole report; "device": its first lines alone; else a row: see gpu_rows.h. */
    const char* row;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkDevice device;
    MaarDeviceRecommendation advice;
    MaarQueue queues[2]; /* the main one; the one that binds, if it is another */
    uint32_t queue_count;
    uint32_t binding; /* index of the one that binds; UINT32_MAX: none */
    /* A queue beside the main one; NULL: the device has none. Where a second family copies and
     * binds, it is that one's, since another engine may be behind it. It may be the one that binds.
     */
    VkQueue side_queue;
    uint32_t side_family;
    MaarAllocator allocator;
    char message[512]; /* Maar's last error */
    bool is_closing;   /* warnings of leaks count as well */
    bool has_cuda;
    char no_cuda[512]; /* why not */
    void* library;
    struct maar_cuda_driver driver; /* for what a check does itself; its context is current */
    struct gpu_launcher launcher;
    MaarCuda cuda;
    MaarCudaInfo info;
    struct maar_cuda_stream* stream;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline; /* of submissions that gpu_run waits for */
    uint64_t value;
    uint32_t failures;
};

/* Opens everything; GPU_EXIT_OK, or the code to exit with. Close in any case. title: the heading of
 * the report. */
int gpu_open(struct gpu_case* gpu, int argc, char** argv, uint32_t needs, const char* title);
/* The exit code. */
int gpu_close(struct gpu_case* gpu);

/* Counts a failure, and reports it on both outputs. */
void gpu_fail(struct gpu_case* gpu, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* False, having failed, unless it succeeded. */
bool gpu_vk(struct gpu_case* gpu, VkResult result, const char* what);
bool gpu_cu(struct gpu_case* gpu, int result, const char* what);
const char* gpu_cuda_name(const struct gpu_case* gpu, int result);

/* ---- memory ---- */

struct gpu_buffer {
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceSize size;
};

/* In memory that can be shared, device-local; or, mapped, on the host's side. */
bool gpu_make_shared(struct gpu_case* gpu, VkDeviceSize size, MaarDedicated dedicated,
                     struct gpu_buffer* buffer);
bool gpu_make_readback(struct gpu_case* gpu, VkDeviceSize size, struct gpu_buffer* buffer);
void gpu_free(struct gpu_case* gpu, struct gpu_buffer* buffer);

/* ---- Vulkan ---- */

VkCommandBuffer gpu_begin(struct gpu_case* gpu);
/* Submits what was recorded and waits for it. */
bool gpu_run(struct gpu_case* gpu);
/* Whatever was written is seen by whatever comes. */
void gpu_barrier(VkCommandBuffer commands);
/* What the readback buffer holds after a copy of so many bytes. */
const void* gpu_read(struct gpu_case* gpu, const struct gpu_buffer* from, VkDeviceSize offset,
                     VkDeviceSize size, const struct gpu_buffer* readback);
/* A handoff of a whole buffer by maarReleaseToCuda or maarAcquireFromCuda. */
bool gpu_pass(struct gpu_case* gpu, MaarCudaTimeline timeline, uint64_t value, bool to_cuda,
              const struct gpu_buffer* buffer);

/* ---- CUDA ---- */

/* NULL, without a failure, where there are no kernels. */
void* gpu_kernel(struct gpu_case* gpu, const char* name);
bool gpu_launch(struct gpu_case* gpu, void* kernel, uint32_t groups, uint32_t group_size,
                void** arguments);
bool gpu_synchronize(struct gpu_case* gpu);

/* ---- figures ---- */

double gpu_now(void); /* seconds */
/* Sorts; part: 0.5 for the median. */
double gpu_percentile(double* values, uint32_t count, double part);

#endif
