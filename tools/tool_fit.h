/*
 * Declarations that the files of maar fit share. The input becomes a demand: a list of resources
 * that begin and end. A demand is then played through Maar on each simulated device.
 * Single-threaded.
 */
#ifndef MAAR_TOOL_FIT_H
#define MAAR_TOOL_FIT_H

#include "tool_device.h"

#include "support/trace.h"

/* What a resource is for. */
enum tool_fit_purpose {
    TOOL_FIT_WEIGHTS = 0,
    TOOL_FIT_KV_CACHE,
    TOOL_FIT_GRADIENTS,
    TOOL_FIT_OPTIMIZER,
    TOOL_FIT_ACTIVATIONS,
    TOOL_FIT_TRANSIENTS, /* the allocation of a plan */
    TOOL_FIT_BUFFERS,
    TOOL_FIT_STAGING, /* buffers that only transfers read or write */
    TOOL_FIT_IMAGES,
    TOOL_FIT_TARGETS, /* images that are rendered to */
    TOOL_FIT_RESERVE, /* --reserve */
    TOOL_FIT_PURPOSE_COUNT,
};

/* How the input's bytes are known. */
enum tool_fit_kind {
    TOOL_FIT_FROM_TRACE = 0,
    TOOL_FIT_FROM_FRAME,
    TOOL_FIT_FROM_GGUF,
    TOOL_FIT_FROM_FORMULA,
};

#define TOOL_FIT_NO_NUMBER UINT64_MAX

/* One resource. Its name is `stem`, followed by `number` unless that is TOOL_FIT_NO_NUMBER. */
struct tool_fit_item {
    const char* stem; /* outlives the demand, or belongs to it */
    uint64_t number;
    struct support_trace_resource row; /* size, alignment, kind, usage, index of the image */
    uint64_t least_bytes;              /* what is proved to be needed; row.size if that is exact */
    enum tool_fit_purpose purpose;
};

struct tool_fit_event {
    uint32_t item;
    bool begins; /* or ends */
};

/* The resources of one purpose. */
struct tool_fit_total {
    uint64_t bytes; /* alive when the bytes of all purposes peak */
    uint64_t count; /* likewise */
    uint64_t largest_bytes;
    uint32_t largest; /* index of an item, UINT32_MAX without one */
};

/* What a captured program itself held when its device memory was the most. */
struct tool_fit_program {
    bool is_known; /* the trace says it: one of version 2, or a capture */
    uint64_t held_bytes;
    uint64_t memory_count;
    uint64_t swapchain_bytes; /* an estimate, and beside what it held */
};

#define TOOL_FIT_MAX_NOTES 8

struct tool_fit_demand {
    char name[TOOL_NAME_SIZE];
    char facts[256]; /* of the input, for its title line */
    enum tool_fit_kind kind;
    struct tool_fit_item* items;
    size_t item_count;
    struct tool_fit_event* events;
    size_t event_count;
    const struct support_trace_image* images; /* of all items; may be NULL */
    struct tool_fit_total totals[TOOL_FIT_PURPOSE_COUNT];
    uint64_t peak_bytes; /* the most bytes alive at one time */
    uint64_t peak_count; /* resources alive then */
    struct tool_fit_program program;
    bool is_proved;                      /* each item's size is needed, not only sufficient */
    char notes[TOOL_FIT_MAX_NOTES][256]; /* sentences about what was counted */
    size_t note_count;
};

/* ---- tool_fit_demand.c ---- */

/* Adds a resource, which begins now. Returns its index, or UINT32_MAX when out of memory. */
uint32_t tool_fit_add(struct tool_fit_demand* demand, const struct tool_fit_item* item);

/* Adds a group of buffers whose sizes are not known, only their sum: in parts of at most 1 GiB
 * each, which every device accepts. Prints an error and returns false on failure. */
bool tool_fit_add_parts(struct tool_fit_demand* demand, const char* stem,
                        enum tool_fit_purpose purpose, uint64_t bytes);

/* Ends a resource. Returns false when out of memory. */
bool tool_fit_end(struct tool_fit_demand* demand, uint32_t item);

/* Adds a sentence. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void tool_fit_note(struct tool_fit_demand* demand, const char* format, ...);

/* Computes the totals and the peak, once everything is added. Returns false, with a message, if the
 * bytes that live together do not fit 64 bits. */
bool tool_fit_sum(struct tool_fit_demand* demand);

/* Writes the name of an item. Returns `buffer`. */
const char* tool_fit_name(const struct tool_fit_item* item, char* buffer, size_t size);

void tool_fit_release(struct tool_fit_demand* demand);

extern const char* const tool_fit_purpose_names[TOOL_FIT_PURPOSE_COUNT];

/* ---- tool_fit_model.c: what models need, by formulas ---- */

/* The options about a model that runs. */
struct tool_fit_cache_options {
    uint64_t context; /* tokens; 0: not given */
    uint64_t parallel;
    const struct support_gguf_type* type;
};

/* The options about a model that is trained. Numbers are 0 if not given. */
struct tool_fit_training {
    uint64_t parameters;
    const char* method;
    uint64_t zero_stage, gpus;
    uint64_t layers, hidden, heads, batch, sequence;
    const char* recompute;
};

struct support_gguf;

/* Adds weights and KV cache of a model. The header must outlive the demand. Returns an exit code;
 * prints an error on failure. */
int tool_fit_describe_model(const struct support_gguf* gguf,
                            const struct tool_fit_cache_options* options,
                            struct tool_fit_demand* demand);

/* Adds what training needs on each device. */
int tool_fit_describe_training(const struct tool_fit_training* training,
                               struct tool_fit_demand* demand);

/* ---- tool_fit_input.c: the demand of an input ---- */

struct tool_fit_options {
    struct tool_fit_cache_options cache;
    bool any_cache_option; /* one of them was given */
    struct tool_fit_training training;
    uint64_t reserve; /* bytes */
};

struct tool_fit_input;

/* Loads an input: a file, or the name of a trace or frame graph; NULL for training. Returns an exit
 * code; prints an error on failure. */
int tool_fit_open(const char* name, const struct tool_fit_options* options,
                  struct tool_fit_input** input);

/* Returns the demand on a device whose bufferImageGranularity is given; NULL, with a message, on
 * failure. It is valid until the next call. */
const struct tool_fit_demand* tool_fit_demand_for(struct tool_fit_input* input,
                                                  uint64_t granularity);

void tool_fit_close(struct tool_fit_input* input);

/* ---- tool_fit_play.c: one device ---- */

/* Why a resource does not fit where it should. */
enum tool_fit_reason {
    TOOL_FIT_NO_REASON = 0,
    TOOL_FIT_NO_TYPE,        /* no memory type allows it */
    TOOL_FIT_ABOVE_BUFFER,   /* above maxBufferSize */
    TOOL_FIT_ABOVE_MEMORY,   /* above maxMemoryAllocationSize */
    TOOL_FIT_TOO_MANY,       /* maxMemoryAllocationCount is reached */
    TOOL_FIT_ABOVE_HEAP,     /* larger than the whole heap */
    TOOL_FIT_HEAP_FULL,      /* with what lives already, larger than the heap */
    TOOL_FIT_ABOVE_BUDGET,   /* the heap has room, its budget has none */
    TOOL_FIT_ASSUMED_BUDGET, /* likewise, with the budget that Maar assumes */
    TOOL_FIT_HOLES,          /* the heap has free bytes, but not in one piece */
    TOOL_FIT_DRIVER,         /* the driver gave another error */
    TOOL_FIT_REASON_COUNT,
};

extern const char* const tool_fit_reason_names[TOOL_FIT_REASON_COUNT];

struct tool_fit_heap {
    uint64_t size;
    uint64_t budget; /* of the profile; 0 if it has none */
    uint64_t usage;  /* of others, before Maar */
    uint64_t assumed_budget;
    bool is_device_local;
    bool is_unmeasured;       /* the profile's size does not come from a device */
    uint64_t held, held_peak; /* bytes of Maar's VkDeviceMemory */
    uint64_t live, live_peak; /* bytes of resources in it */
    /* Likewise of those that belong to another heap of the device, and the last such heap. */
    uint64_t displaced, displaced_peak;
    uint32_t displaced_from;
};

/* The first resource that found no place. */
struct tool_fit_failure {
    enum tool_fit_reason reason;
    uint32_t item;
    uint64_t bytes; /* that it needs on the device */
    uint32_t heap;  /* where it should lie */
    uint64_t free;  /* bytes of the heap, or of its budget, that were left */
    uint64_t limit; /* the limit that it exceeds */
    VkResult result;
};

enum tool_fit_verdict {
    TOOL_FIT_NO = 0,
    TOOL_FIT_YES = 1,
    TOOL_FIT_UNDECIDED = 2, /* the plan does not fit, and a better one is not excluded */
};

struct tool_fit_result {
    char profile[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    char device[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    enum tool_fit_verdict verdict;
    struct tool_fit_heap heaps[VK_MAX_MEMORY_HEAPS];
    uint32_t heap_count;
    uint32_t main_heap; /* where a resource of the device goes first */
    bool is_integrated; /* it has no memory of its own: each heap is as good as another */
    struct tool_fit_failure failure;
    uint64_t failures;       /* resources without any memory */
    uint64_t unplaced_peak;  /* the most bytes without any memory at one time */
    uint64_t elsewhere_peak; /* the most bytes in host memory that should be device-local */
    uint64_t over_budget_peak;
    uint64_t memory_count, memory_count_peak, largest_memory;
    uint64_t max_memory_count, max_memory_size, max_buffer_size; /* 0: none */
    bool has_least;                                              /* it was asked for */
    uint64_t least_heap; /* of the main heap; 0: no size suffices */
};

struct tool_fit_play_options {
    const struct tool_device_options* device; /* --heap and --limit */
    bool allow_host;                          /* resources of the device may lie in host memory */
};

/* Plays an input on the simulated device of a profile. Returns TOOL_EXIT_OK and a result, or prints
 * an error and returns another code. `demand` receives what was played. */
int tool_fit_play(struct tool_fit_input* input, const char* profile,
                  const struct tool_fit_play_options* options,
                  const struct tool_fit_demand** demand, struct tool_fit_result* result);

/* ---- tool_fit_least.c ---- */

/* Finds the least size of the main heap of `whole` with which the input fits, in steps of 1 MiB,
 * and with no more in other heaps than in `whole`. Writes 0 if no size suffices. Returns an exit
 * code; prints an error on failure. */
int tool_fit_find_least(struct tool_fit_input* input, const char* profile,
                        const struct tool_fit_play_options* options,
                        const struct tool_fit_result* whole, uint64_t* out);

/* ---- tool_fit_report.c ---- */

void tool_fit_print_needs(const struct tool_fit_demand* demand);
void tool_fit_print_head(void);
void tool_fit_print_row(const struct tool_fit_demand* demand, const struct tool_fit_result* result);
void tool_fit_print_heaps(const struct tool_fit_demand* demand,
                          const struct tool_fit_result* result);
bool tool_fit_print_json(const struct tool_fit_demand* demand,
                         const struct tool_fit_result* result);

#endif
