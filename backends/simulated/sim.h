/*
 * The internals of the simulated driver.
 *
 * Each profile has one struct sim_gpu, which holds everything that its devices share. The lock of a
 * gpu guards that struct and the structs of the gpu's devices and objects. The driver never holds
 * the lock while it allocates or frees host memory or runs a callback. A table of the device
 * resolves its non-dispatchable handles, so that the driver notices stale and foreign handles.
 */
#ifndef MAAR_SIM_H
#define MAAR_SIM_H

#include "backends/simulated/sim_functions.h"
#include "backends/simulated/sim_port.h"
#include "core/bits.h"
#include "core/host_memory.h"
#include "maar/simulated.h"

enum {
    SIM_MAX_FAULTS = 16,
    SIM_MAX_KEPT = 64,
    SIM_MAX_GPUS = 16,
    SIM_MAX_PLANES = 3,
    SIM_MAX_CUTS = 2,
    SIM_NO_MATCH = -1,
};

enum sim_function {
#define SIM_ENUMERATE(name, since, extension, traits, usual) SIM_FN_##name,
    SIM_FUNCTIONS(SIM_ENUMERATE)
#undef SIM_ENUMERATE
        SIM_FN_COUNT
};

/* Extensions that the driver knows. An enumerator is a bit's number in a set of extensions. */
enum sim_extension {
    SIM_EXT_NONE,
    /* of the instance */
    SIM_EXT_PROPERTIES2,
    SIM_EXT_EXTERNAL_CAPABILITIES,
    SIM_EXT_SEMAPHORE_CAPABILITIES,
    /* of a device, with functions or structures */
    SIM_EXT_REQUIREMENTS2,
    SIM_EXT_BIND_MEMORY2,
    SIM_EXT_DEDICATED,
    SIM_EXT_MAINTENANCE1,
    SIM_EXT_MAINTENANCE3,
    SIM_EXT_YCBCR,
    SIM_EXT_EXTERNAL_MEMORY,
    SIM_EXT_EXTERNAL_SEMAPHORE,
    SIM_EXT_TIMELINE,
    SIM_EXT_BUFFER_ADDRESS,
    SIM_EXT_DRIVER_PROPERTIES,
    SIM_EXT_SYNCHRONIZATION2,
    SIM_EXT_MAINTENANCE4,
    SIM_EXT_MEMORY_BUDGET,
    SIM_EXT_MEMORY_PRIORITY,
    SIM_EXT_PAGEABLE_MEMORY,
    SIM_EXT_MEMORY_HOST,
    SIM_EXT_COHERENT_AMD,
    SIM_EXT_OVERALLOCATION_AMD,
    /* of a device that can share; see sim_external.c */
    SIM_EXT_MEMORY_FD,
    SIM_EXT_DMA_BUF,
    SIM_EXT_DRM_MODIFIER,
    SIM_EXT_SEMAPHORE_FD,
    SIM_EXT_QUEUE_FOREIGN,
    SIM_EXT_PCI_BUS,
    /* of a device, for shaders only */
    SIM_EXT_MEMORY_MODEL,
    SIM_EXT_ZERO_WORKGROUP,
    SIM_EXT_WORKGROUP_LAYOUT,
    SIM_EXT_COUNT
};

/* Features whose use is checked. An enumerator is a bit's number in a set of features. */
enum sim_feature {
    SIM_FEATURE_TIMELINE,
    SIM_FEATURE_BUFFER_ADDRESS,
    SIM_FEATURE_SYNCHRONIZATION2,
    SIM_FEATURE_MAINTENANCE4,
    SIM_FEATURE_MEMORY_PRIORITY,
    SIM_FEATURE_PAGEABLE,
    SIM_FEATURE_COHERENT_AMD,
    SIM_FEATURE_YCBCR,
    SIM_FEATURE_SPARSE_BINDING,
    SIM_FEATURE_SPARSE_BUFFER,
    SIM_FEATURE_SPARSE_IMAGE_2D,
    SIM_FEATURE_SPARSE_IMAGE_3D,
    SIM_FEATURE_SPARSE_2_SAMPLES,
    SIM_FEATURE_SPARSE_4_SAMPLES,
    SIM_FEATURE_SPARSE_8_SAMPLES,
    SIM_FEATURE_SPARSE_16_SAMPLES,
    SIM_FEATURE_SPARSE_ALIASED,
    SIM_FEATURE_COUNT
};

struct sim_fault {
    int function; /* SIM_NO_MATCH: any function that can fail */
    uint64_t nth;
    uint64_t count;
    VkResult result;
};

struct sim_kept_violation {
    MaarSimulatedViolation violation;
    char text[MAAR_SIMULATED_MAX_TEXT];
};

struct sim_instance;
struct sim_device;
struct sim_submission;

struct sim_gpu {
    struct sim_instance* instance;
    MaarSimulatedProfile profile;
    uint64_t extensions;              /* what it reports */
    uint32_t features;                /* what it reports */
    MaarSimulatedSharingInfo sharing; /* UUIDs filled in */
    PFN_maarSimulatedCall on_call;
    PFN_maarSimulatedViolation on_violation;
    void* user_data;
    struct sim_lock lock; /* guards all fields below, and all devices and objects of this gpu */
    struct sim_condition progress;
    MaarSimulatedFlags flags;
    struct sim_device* devices;
    MaarSimulatedDedicated dedicated;
    MaarSimulatedCounters counters;
    VkDeviceSize used_by_others[VK_MAX_MEMORY_HEAPS];
    uint64_t calls[SIM_FN_COUNT];
    struct sim_fault faults[SIM_MAX_FAULTS];
    uint32_t fault_count;
    uint64_t next_address;
    uint32_t devices_made;
    uint32_t claims;
    struct sim_file reused; /* has the descriptor that a failing import closed */
    uint32_t kept_count;
    uint32_t reported_count;
    struct sim_kept_violation kept[SIM_MAX_KEPT];
};

struct sim_instance {
    uint32_t api_minor;  /* minor version that the program asked for */
    uint64_t extensions; /* enabled ones */
    const VkAllocationCallbacks* callbacks;
    VkAllocationCallbacks callbacks_copy;
    uint32_t gpu_count;
    struct sim_gpu* gpus[SIM_MAX_GPUS];
};

struct sim_queue {
    struct sim_device* device;
    uint32_t family;
    uint32_t busy;
};

struct sim_object;

struct sim_slot {
    struct sim_object* object; /* NULL when free */
    uint32_t generation;
    uint32_t next_free;
};

struct sim_device {
    struct sim_gpu* gpu;
    const VkAllocationCallbacks* callbacks;
    VkAllocationCallbacks callbacks_copy;
    uint32_t api_minor;  /* the lower of the program's version and the device's */
    uint64_t extensions; /* enabled ones */
    uint32_t features;   /* enabled ones, bits by enum sim_feature */
    bool has_callbacks;  /* the device's own callbacks, not the instance's */
    bool overcommit_known;
    bool overcommit;
    bool lost;
    uint32_t memory_count;     /* live allocations, checked against maxMemoryAllocationCount */
    VkDeviceSize sparse_bytes; /* of live sparse resources */
    uint32_t salt;             /* makes handles of different devices differ */
    struct sim_slot* slots;
    uint32_t slot_count, slot_capacity, first_free;
    uint32_t family_first[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t family_count[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t queue_count;
    struct sim_queue* queues;
    struct sim_device* next;        /* of the same gpu */
    struct sim_submission* pending; /* held, oldest first */
    uint64_t sequence;              /* of the last submission */
    bool running;                   /* a thread is executing the held submissions */
};

enum sim_kind {
    SIM_KIND_MEMORY = 1,
    SIM_KIND_BUFFER,
    SIM_KIND_IMAGE,
    SIM_KIND_SEMAPHORE,
    SIM_KIND_FENCE,
    SIM_KIND_COMMAND_POOL,
    SIM_KIND_COMMAND_BUFFER, /* dispatchable, but counted like the others */
    SIM_KIND_BUFFER_VIEW,
    SIM_KIND_IMAGE_VIEW,
    SIM_KIND_SHADER_MODULE,
    SIM_KIND_PIPELINE_LAYOUT,
    SIM_KIND_PIPELINE,
    SIM_KIND_DESCRIPTOR_SET_LAYOUT,
    SIM_KIND_DESCRIPTOR_POOL,
    SIM_KIND_DESCRIPTOR_SET,
    SIM_KIND_QUERY_POOL,
    SIM_KIND_COUNT
};

/* The head of every object. */
struct sim_object {
    struct sim_device* device;
    uint64_t handle;
    enum sim_kind kind;
    uint32_t busy; /* threads inside calls that need exclusive access */
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
};

/* A live bind, in the sorted array of its memory. */
struct sim_bind {
    VkDeviceSize offset, end;
    uint64_t resource;
    VkDeviceSize at; /* place in a sparse resource; plane of any other */
    bool linear;
};

/* How an allocation is shared. An imported allocation has its file from the beginning; for any
 * other, the first export or mapping creates the file. */
struct sim_share {
    bool may_export; /* VkExportMemoryAllocateInfo is chained, even if it names no type */
    VkExternalMemoryHandleTypeFlags export_types;
    VkExternalMemoryHandleTypeFlags import_type; /* 0: not imported */
    struct sim_file file;
};

struct sim_memory {
    struct sim_object object;
    VkDeviceSize size;
    uint32_t type, heap;
    bool addressable; /* VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT */
    struct sim_share share;
    uint64_t dedicated; /* the handle of the only resource that it may hold, or 0 */
    uint64_t address;   /* its first device address */
    uint8_t* bytes;     /* NULL until first mapped */
    void* pages;        /* the mapped pages that hold `bytes` */
    size_t pages_size;
    bool mapped;
    VkDeviceSize map_offset, map_size;
    struct sim_bind* binds; /* by offset */
    uint32_t bind_count, bind_capacity;
    VkDeviceSize
        longest_bind; /* an upper bound of all binds' lengths; only grows while a bind exists */
};

struct sim_requirements {
    VkDeviceSize size, alignment;
    uint32_t type_bits;
    bool prefers_dedicated, requires_dedicated;
};

/* A range of a sparse resource that is bound to memory. A place is an offset in an order that the
 * driver defines. For a buffer, the order is that of its bytes. For an image, the layers follow one
 * another; a layer holds its levels, then its mip tail; a level holds its tiles along x, y and z.
 * The parts that all layers share come last. */
struct sim_run {
    VkDeviceSize at, size;
    uint64_t memory;
    VkDeviceSize offset;
};

/* A mip tail or the metadata: `count` parts of `size` bytes each. The program names the part of a
 * layer by `offset` + `stride` * layer. The place of that part is `at` + `at_stride` * layer. */
struct sim_tail {
    VkDeviceSize offset, stride, size;
    VkDeviceSize at, at_stride;
    uint32_t count;
};

/* The layout of the tiles of one aspect of an image. */
struct sim_cut {
    VkSparseImageFormatProperties format;
    uint32_t tail_first;
    VkDeviceSize at, layer_stride; /* place of the first layer's tiles; distance between layers */
    struct sim_tail tail;
};

struct sim_sparse {
    bool residency;
    bool aliased;
    VkDeviceSize page;
    uint32_t cut_count; /* 0 without image residency; 2 for depth with stencil */
    struct sim_cut cuts[SIM_MAX_CUTS];
    struct sim_tail metadata;
    struct sim_run* runs; /* by place */
    uint32_t run_count, run_capacity;
    VkDeviceSize bound; /* bytes of all runs */
};

/* A buffer or an image. */
struct sim_resource {
    struct sim_object object;
    bool linear;
    bool sparse;
    struct sim_sparse pages; /* when sparse */
    uint64_t address;        /* of a sparse buffer */
    bool needs_address;
    bool aliased;         /* VK_IMAGE_CREATE_ALIAS_BIT */
    uint32_t plane_count; /* parts that are bound separately: more than 1 only when disjoint */
    struct sim_requirements requirements[SIM_MAX_PLANES];
    uint64_t memory[SIM_MAX_PLANES]; /* 0 when unbound */
    VkDeviceSize offset[SIM_MAX_PLANES];
    VkDeviceSize size; /* of a buffer, as the program requested */
    VkFormat format;   /* this field and those up to samples: of an image */
    VkImageType type;
    VkExtent3D extent;
    uint32_t mips, layers, samples;
    VkExternalMemoryHandleTypeFlags external_types; /* handle types that may share its memory */
    bool has_modifier;                              /* of an image */
    VkDeviceSize row_pitch;                         /* of a linear image's first plane */
};

/* A semaphore or a fence. A fence and a binary semaphore have the value 0 or 1. */
struct sim_signal {
    struct sim_object object;
    bool timeline;
    uint64_t value; /* unused once shared; only the functions of sim_payload.c read and write it */
    VkExternalSemaphoreHandleTypeFlags export_types;
    struct sim_file file; /* once exported or imported: the value then lies in `pages` */
    uint8_t* pages;
};

/* The range of a resource that a command uses; the whole range for an image. */
struct sim_use {
    uint64_t resource;
    VkDeviceSize at, size;
};

/* One change of a sparse resource's pages. */
struct sim_piece {
    uint64_t resource;
    VkDeviceSize at, size;
    uint64_t memory; /* 0: unbound */
    VkDeviceSize offset;
};

/* A semaphore, and its value if it is a timeline. */
struct sim_point {
    uint64_t semaphore, value;
};

/* One batch of a queue's call. */
struct sim_submission {
    struct sim_submission* next;
    struct sim_queue* queue;
    enum sim_function function;
    uint64_t sequence;
    uint64_t fence; /* or 0 */
    uint32_t wait_count, signal_count, use_count;
    size_t piece_count;
    struct sim_point *waits, *signals;
    struct sim_use* uses;
    struct sim_piece* pieces;
};

struct sim_submission_size {
    size_t waits, signals, uses, pieces;
};

enum sim_command_state {
    SIM_COMMAND_INITIAL,
    SIM_COMMAND_RECORDING,
    SIM_COMMAND_EXECUTABLE,
};

struct sim_command_buffer {
    struct sim_object object;
    uint64_t pool;
    enum sim_command_state state;
    struct sim_use* uses;
    uint32_t use_count, use_capacity;
};

struct sim_entry {
    enum sim_function function;
    PFN_vkVoidFunction pointer;
};

/* Makes an entry. A function whose type differs from Vulkan's does not compile. */
#define SIM_ENTRY(name, implementation)                                                            \
    {                                                                                              \
        SIM_FN_##name, (PFN_vkVoidFunction) _Generic(&(implementation), PFN_##name                 \
                                                     : &(implementation))                          \
    }

/* The functions of each file. A row of SIM_FN_COUNT ends each array. */
extern const struct sim_entry sim_instance_entries[];
extern const struct sim_entry sim_physical_entries[];
extern const struct sim_entry sim_image_format_entries[];
extern const struct sim_entry sim_device_entries[];
extern const struct sim_entry sim_memory_entries[];
extern const struct sim_entry sim_resource_entries[];
extern const struct sim_entry sim_requirements_entries[];
extern const struct sim_entry sim_bind_entries[];
extern const struct sim_entry sim_sparse_entries[];
extern const struct sim_entry sim_external_entries[];
extern const struct sim_entry sim_export_entries[];
extern const struct sim_entry sim_payload_entries[];
extern const struct sim_entry sim_modifier_entries[];
extern const struct sim_entry sim_sync_entries[];
extern const struct sim_entry sim_queue_entries[];
extern const struct sim_entry sim_command_entries[];
extern const struct sim_entry sim_other_entries[];

/* sim_dispatch.c */
const char* sim_function_name(enum sim_function function);
int sim_function_traits_of(enum sim_function function);
VkResult sim_function_usual_failure(enum sim_function function);
/* Returns the function of a name or an alias; SIM_NO_MATCH when the name is unknown. */
int sim_function_find(const char* name);
PFN_vkVoidFunction VKAPI_CALL sim_get_device_proc_addr(VkDevice device, const char* name);

/* sim_extension.c */
const char* sim_extension_name(enum sim_extension extension);
/* Returns the extension of a name; SIM_EXT_NONE when the name is unknown. */
enum sim_extension sim_extension_find(const char* name);
bool sim_extension_is_of_instance(enum sim_extension extension);
/* Returns the set of extensions that a profile's device reports. */
uint64_t sim_extensions_of_profile(const MaarSimulatedProfile* profile);
/* Makes a set from a list of names. Returns VK_ERROR_EXTENSION_NOT_PRESENT when a name is not in
 * the allowed set. */
VkResult sim_extensions_parse(uint32_t count, const char* const* names, uint64_t allowed,
                              uint64_t* set);
/* Lists a set by the two-call idiom. */
VkResult sim_extensions_enumerate(uint64_t set, uint32_t* count, VkExtensionProperties* properties);
/* Returns the minor version of Vulkan 1 that a profile reports. */
uint32_t sim_profile_minor(const MaarSimulatedProfile* profile);

/* sim_feature.c */
uint32_t sim_features_of_gpu(const struct sim_gpu* gpu);
void sim_features_core(const struct sim_gpu* gpu, VkPhysicalDeviceFeatures* features);
void sim_features_fill_chain(const struct sim_gpu* gpu, void* chain);
/* Finds the features that a device's creation enables. Returns VK_ERROR_FEATURE_NOT_PRESENT when
 * the device does not offer one of them. */
VkResult sim_features_parse(const struct sim_gpu* gpu, const VkDeviceCreateInfo* info,
                            uint32_t* features);

/* sim_check.c */
void sim_lock_gpu(struct sim_gpu* gpu);
/* Unlocks the gpu, then reports the violations that have not been reported. */
void sim_unlock_gpu(struct sim_gpu* gpu);
/* Records a violation. Lock held. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void sim_violate(struct sim_gpu* gpu, enum sim_function function, MaarSimulatedViolation violation,
                 const char* format, ...);
/* Begins every call: calls the observer, counts the call, and applies a fault. `device` may
 * be NULL. */
VkResult sim_enter(struct sim_gpu* gpu, struct sim_device* device, enum sim_function function);
/* Marks an externally synchronized object as in use, and gives another thread the chance to run.
 * Lock held before and after, free in between. */
void sim_claim(struct sim_gpu* gpu, enum sim_function function, uint32_t* busy, const char* what);
/* Records a violation when a feature is not enabled. Lock held. */
void sim_need_feature(struct sim_device* device, enum sim_function function,
                      enum sim_feature feature, const char* name);

/* sim_object.c */
/* Creates an object, counts it and adds it to the table. Returns NULL without host memory. Lock
 * free. */
void* sim_object_create(struct sim_device* device, enum sim_kind kind, size_t size,
                        const VkAllocationCallbacks* callbacks);
/* Returns the object of a handle. Records a violation and returns NULL when no object of that kind
 * has the handle. Lock held. */
void* sim_object_get(struct sim_device* device, enum sim_function function, uint64_t handle,
                     enum sim_kind kind);
/* Returns the object of a handle, or NULL, without recording a violation. */
void* sim_object_peek(const struct sim_device* device, uint64_t handle, enum sim_kind kind);
/* Removes an object from the table. Lock held. */
void sim_object_remove(struct sim_object* object);
/* Removes the object of a handle from the table and checks the callbacks. Returns NULL for a null
 * handle and after a violation. The caller frees the object by sim_object_release() once the lock
 * is free. Lock held. */
void* sim_object_retire(struct sim_device* device, enum sim_function function, uint64_t handle,
                        enum sim_kind kind, const VkAllocationCallbacks* callbacks);
void sim_object_release(struct sim_object* object);
/* Returns the callbacks that supply an object's host memory. */
const VkAllocationCallbacks* sim_object_callbacks(const struct sim_object* object);
const char* sim_kind_name(enum sim_kind kind);

/* sim_memory.c */
/* Frees a memory that has left the table, and all that it owns. Lock free. */
void sim_memory_release(struct sim_memory* memory);
/* Subtracts a memory from the heaps' totals. Lock held. */
void sim_memory_uncount(struct sim_memory* memory);

/* sim_bind.c */
/* Removes a resource's binds from their memories. Lock held. */
void sim_bind_forget(struct sim_resource* resource);
/* Returns the index of the first bind of a memory that starts at `offset` or later. Lock held. */
uint32_t sim_bind_lower(const struct sim_memory* memory, VkDeviceSize offset);
/* Ensures room for two more binds. Lock held before and after, free during a host allocation, so
 * that the caller must look the memory up again. */
bool sim_bind_reserve(struct sim_device* device, uint64_t memory);
/* Adds a bind for which the array has room; removes a bind. Lock held. */
void sim_bind_insert(struct sim_memory* memory, const struct sim_bind* new_bind);
void sim_bind_remove(struct sim_memory* memory, uint64_t resource, VkDeviceSize at,
                     VkDeviceSize offset);
/* Compares a bind with the others of its memory. Lock held. */
void sim_bind_check_neighbours(const struct sim_memory* memory, enum sim_function function,
                               const struct sim_resource* resource,
                               const struct sim_bind* new_bind);
/* Returns the buffer or image of a handle; NULL when none has it. Lock held. */
struct sim_resource* sim_resource_peek(const struct sim_device* device, uint64_t handle);

/* sim_sparse.c */
/* Returns the bytes of a tile, which are also those of every other page of an image. */
VkDeviceSize sim_sparse_page(const struct sim_gpu* gpu);
/* Fills in a new image's division into tiles, and its size. */
void sim_sparse_describe(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                         struct sim_sparse* sparse, struct sim_requirements* requirements);
/* Fills in the tile format of each aspect of such an image. Returns the number of aspects; 0 when
 * the image cannot be partially resident. */
uint32_t sim_sparse_formats(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                            VkSampleCountFlagBits samples,
                            VkSparseImageFormatProperties properties[SIM_MAX_CUTS]);
/* Checks that the features which a buffer's or an image's flags need are enabled. Lock held. */
void sim_sparse_check_features(struct sim_device* device, enum sim_function function, VkFlags flags,
                               const VkImageCreateInfo* image);
/* Returns the number of tiles of a level in each dimension. */
VkExtent3D sim_sparse_tiles(const struct sim_resource* image, const struct sim_cut* cut,
                            uint32_t level);
/* Returns the place where a level of a layer begins. */
VkDeviceSize sim_sparse_level_at(const struct sim_resource* image, const struct sim_cut* cut,
                                 uint32_t layer, uint32_t level);
/* Returns the cut of an aspect of an image with residency; NULL when no cut has the aspect. */
const struct sim_cut* sim_sparse_cut(const struct sim_resource* image, VkImageAspectFlags aspect);

/* sim_pages.c */
/* Returns an upper bound of the number of pieces of a batch of binds. Lock held. */
size_t sim_pages_count(const struct sim_device* device, const VkBindSparseInfo* info);
/* Checks a batch and fills in its pieces. Returns their number, which is at most the result of
 * sim_pages_count(). Lock held. */
size_t sim_pages_collect(struct sim_device* device, const VkBindSparseInfo* info,
                         struct sim_piece* pieces);
/* Sorts the pieces of one batch and executes them. Returns false without host memory. Lock held
 * before and after, free during a host allocation. */
bool sim_pages_execute(struct sim_device* device, struct sim_piece* pieces, size_t count);
/* Removes all pages of a sparse resource from their memories. Lock held. */
void sim_pages_forget(struct sim_resource* resource);
/* Unbinds all pages that lie in a memory that is being freed. Lock held. */
void sim_pages_memory_freed(struct sim_memory* memory);
/* Returns whether any byte of [first, end) is bound. Lock held. */
bool sim_pages_have(const struct sim_resource* resource, VkDeviceSize first, VkDeviceSize end);
/* Returns whether any byte of [at, at + size) is bound to a given memory. Lock held. */
bool sim_pages_lie_in(const struct sim_resource* resource, VkDeviceSize at, VkDeviceSize size,
                      uint64_t memory);
/* Checks that a sparse resource which a command uses has the pages that it needs. Lock held. */
void sim_pages_check_use(const struct sim_resource* resource, enum sim_function function);

/* sim_requirements.c */
/* Fills in the requirements of a buffer that is being created. */
void sim_requirements_of_buffer(const struct sim_gpu* gpu, const VkBufferCreateInfo* info,
                                struct sim_requirements* requirements);
/* Fills in the requirements of an image: one part, or one part for each plane of a disjoint image.
 * Returns the number of parts. */
uint32_t sim_requirements_of_image(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                   struct sim_requirements requirements[SIM_MAX_PLANES]);

/* sim_submission.c */
/* Creates an empty submission with room for the given counts; NULL without host memory. Lock
 * free. */
struct sim_submission* sim_submission_create(struct sim_queue* queue, enum sim_function function,
                                             const struct sim_submission_size* size);
/* Frees a list. Lock free. */
void sim_submissions_free(struct sim_device* device, struct sim_submission* list);
/* Takes ownership of a list and executes or holds its submissions. Lock held before and after. */
VkResult sim_submissions_enqueue(struct sim_device* device, struct sim_submission* list);
/* Executes at most `most` of the held submissions that may begin. Returns the number that it
 * executed. Lock held before and after, free in between. */
uint32_t sim_submissions_run(struct sim_device* device, uint32_t most);
/* Records a violation when a held submission uses a resource, or a memory, that is being destroyed.
 * Lock held. */
void sim_submissions_check_resource(struct sim_resource* resource, enum sim_function function);
void sim_submissions_check_memory(struct sim_device* device, uint64_t memory);

/* sim_external.c */
/* Fills in a device's sharing: its extensions and its UUIDs. */
void sim_external_describe(struct sim_gpu* gpu, const MaarSimulatedSharingInfo* info);
/* Returns the sharing properties of a buffer's or an image's memory for a handle type. */
VkExternalMemoryProperties sim_external_memory(const struct sim_gpu* gpu, bool image, VkFlags flags,
                                               VkExternalMemoryHandleTypeFlagBits type);
/* Returns the sharing features of a semaphore for a handle type. */
VkExternalSemaphoreFeatureFlags sim_external_semaphore(const struct sim_gpu* gpu, bool timeline,
                                                       VkExternalSemaphoreHandleTypeFlagBits type);
/* Checks the handle types of a new resource and returns them. Lock held. */
VkExternalMemoryHandleTypeFlags sim_external_types(struct sim_device* device, bool image,
                                                   VkFlags flags, const void* chain);
/* Returns whether memory for these handle types must be dedicated. */
bool sim_external_needs_dedicated(const struct sim_gpu* gpu, bool image,
                                  VkExternalMemoryHandleTypeFlags types);

/* sim_export.c */
/* The head of a file. maar/simulated.h describes it. */
struct sim_file_head {
    char magic[8];
    uint32_t kind;
    uint32_t handle_types;
    uint64_t size;
    uint32_t type;
    uint32_t dedicated;
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
    uint64_t value;
    uint64_t device;
    uint64_t semaphore;
};
enum sim_file_kind { SIM_FILE_MEMORY = 1, SIM_FILE_TIMELINE, SIM_FILE_BINARY };
enum { SIM_FILE_PAGE = 4096 };
/* Returns a head whose fields about the device are filled in. */
struct sim_file_head sim_file_head_of(const struct sim_device* device, enum sim_file_kind kind,
                                      uint32_t handle_types);
/* Reads the head of a descriptor's file. Returns whether the file belongs to this driver and
 * may be imported by the handle type. Records a violation for an opaque file of another
 * device. Lock held. */
bool sim_file_accept(struct sim_device* device, enum sim_function function, int fd,
                     uint32_t handle_type, struct sim_file_head* head, uint64_t* size,
                     struct sim_file* file);
/* Ends a failing import of a descriptor. Closes the descriptor when the flags request that fault.
 * Lock free. */
void sim_import_failed(struct sim_gpu* gpu, enum sim_function function, int fd);
/* Releases the descriptor number that a failing import has closed, if any. Lock held. */
void sim_reused_forget(struct sim_gpu* gpu, enum sim_function function);
/* Reads and checks the sharing structures of vkAllocateMemory. Lock held. */
VkResult sim_share_read(struct sim_device* device, const VkMemoryAllocateInfo* info, bool dedicated,
                        struct sim_share* share);
/* Ends a failing vkAllocateMemory, after all else has been undone. Lock free. */
void sim_share_failed(struct sim_device* device, const VkMemoryAllocateInfo* info);
/* Creates the file and maps its bytes over pages that are already mapped. Lock held. */
bool sim_share_back(struct sim_memory* memory, void* pages);
/* Releases the file. Lock held. */
void sim_share_forget(struct sim_memory* memory);
/* Checks the rules of binding a resource to shared memory. Lock held. */
void sim_share_check_bind(const struct sim_resource* resource, const struct sim_memory* memory,
                          enum sim_function function);

/* sim_payload.c */
uint64_t sim_signal_value(const struct sim_signal* signal);
void sim_signal_set(struct sim_signal* signal, uint64_t value);
/* Checks the rules of a new semaphore that may be exported. Lock held. */
VkResult sim_payload_read(struct sim_device* device, const VkSemaphoreCreateInfo* info,
                          struct sim_signal* signal);
/* Releases the file of a shared semaphore. Lock held. */
void sim_payload_forget(struct sim_signal* signal, enum sim_function function);

/* sim_sync.c */
/* Raises the value of a timeline semaphore. Ignores a binary semaphore. Lock held. */
void sim_signal_semaphore_to(struct sim_device* device, enum sim_function function,
                             VkSemaphore semaphore, uint64_t value);

/* sim_command.c */
/* Checks that a command buffer that is submitted has been ended. Lock held. */
void sim_command_check_submit(struct sim_device* device, enum sim_function function,
                              VkCommandBuffer buffer);
/* Frees a command buffer that has left the table. Lock free. */
void sim_command_release(struct sim_command_buffer* buffer);

/* Returns the first structure of a type in a chain, or NULL. */
const void* sim_chain_find(const void* chain, VkStructureType type);

static inline VkDeviceSize sim_or(VkDeviceSize value, VkDeviceSize fallback)
{
    return value != 0 ? value : fallback;
}

/* Conversions of handles. Vulkan defines handles as pointers or as integers. */
#define SIM_HANDLE(handle) ((uint64_t)(handle))
#define SIM_DEVICE(device) ((struct sim_device*)(void*)(device))
#define SIM_GPU(physical) ((struct sim_gpu*)(void*)(physical))

#endif
