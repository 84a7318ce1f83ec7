/*
 * Inside of the simulated driver.
 *
 * One struct sim_gpu for each profile holds everything that its devices share, under one lock; the
 * structs of devices and objects are guarded by the lock of their gpu too. Host memory comes and
 * goes, and callbacks run, with the lock free. Non-dispatchable handles are looked up in a table of
 * the device, so that stale and foreign ones are seen.
 */
#ifndef MAAR_SIM_H
#define MAAR_SIM_H

#include "backends/simulated/sim_functions.h"
#include "backends/simulated/sim_port.h"
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

/* Extensions that the driver knows; bits of extension sets. */
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
    /* of a device, if it shares; see sim_external.c */
    SIM_EXT_MEMORY_FD,
    SIM_EXT_DMA_BUF,
    SIM_EXT_DRM_MODIFIER,
    SIM_EXT_SEMAPHORE_FD,
    SIM_EXT_QUEUE_FOREIGN,
    SIM_EXT_PCI_BUS,
    /* of a device, for shaders alone */
    SIM_EXT_MEMORY_MODEL,
    SIM_EXT_ZERO_WORKGROUP,
    SIM_EXT_WORKGROUP_LAYOUT,
    SIM_EXT_COUNT
};

/* Features whose use is checked; bits of feature sets. */
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
    int function; /* SIM_NO_MATCH: any that can fail */
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
    struct sim_lock lock; /* guards all below, and all devices and objects of this gpu */
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
    struct sim_file reused; /* has a number that a failing import has closed */
    uint32_t kept_count;
    uint32_t told_count;
    struct sim_kept_violation kept[SIM_MAX_KEPT];
};

struct sim_instance {
    uint32_t api_minor;  /* what the program asked for */
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
    uint32_t api_minor;  /* the lower of the program's and the device's */
    uint64_t extensions; /* enabled ones */
    uint32_t features;   /* enabled ones, bits by enum sim_feature */
    bool has_callbacks;  /* of its own, not the instance's */
    bool overcommit_known;
    bool overcommit;
    bool lost;
    uint32_t memory_count;     /* alive, against maxMemoryAllocationCount */
    VkDeviceSize sparse_bytes; /* of live sparse resources, against sparseAddressSpaceSize */
    uint32_t salt;             /* makes handles of different devices differ */
    struct sim_slot* slots;
    uint32_t slot_count, slot_capacity, first_free;
    uint32_t family_first[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t family_count[MAAR_SIMULATED_MAX_QUEUE_FAMILIES];
    uint32_t queue_count;
    struct sim_queue* queues;
    struct sim_device* next;        /* of its gpu's */
    struct sim_submission* pending; /* held, oldest first */
    uint64_t sequence;              /* of the last submission */
    bool running;                   /* a thread executes what was held */
};

enum sim_kind {
    SIM_KIND_MEMORY = 1,
    SIM_KIND_BUFFER,
    SIM_KIND_IMAGE,
    SIM_KIND_SEMAPHORE,
    SIM_KIND_FENCE,
    SIM_KIND_COMMAND_POOL,
    SIM_KIND_COMMAND_BUFFER, /* dispatchable, but counted and leaked like the others */
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

/* What all objects begin with. */
struct sim_object {
    struct sim_device* device;
    uint64_t handle;
    enum sim_kind kind;
    uint32_t busy; /* threads inside calls that need it for themselves */
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
};

/* A live bind, in the sorted array of its memory. */
struct sim_bind {
    VkDeviceSize offset, end;
    uint64_t resource;
    VkDeviceSize at; /* place in a sparse resource, as in struct sim_run; plane of another */
    bool linear;
};

/* What an allocation shares. The file is made when it is first exported or mapped; an imported one
 * is there from the beginning. */
struct sim_share {
    bool may_export; /* a VkExportMemoryAllocateInfo, be it of no type */
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
    void* pages;        /* what bytes lie in */
    size_t pages_size;
    bool mapped;
    VkDeviceSize map_offset, map_size;
    struct sim_bind* binds; /* by offset */
    uint32_t bind_count, bind_capacity;
    VkDeviceSize longest_bind; /* no bind is longer; grows only, until there is none */
};

struct sim_requirements {
    VkDeviceSize size, alignment;
    uint32_t type_bits;
    bool prefers_dedicated, requires_dedicated;
};

/* Bytes of a sparse resource that lie in memory. Places are counted in an order of the driver's
 * own: a buffer's bytes; an image's layers one after another, in each its levels, in each its tiles
 * along x, y and z, then the mip tail; what all layers share comes last. */
struct sim_run {
    VkDeviceSize at, size;
    uint64_t memory;
    VkDeviceSize offset;
};

/* A mip tail or the metadata: `count` parts of `size` bytes. The program names a part by `offset` +
 * `stride` * layer; its place is `at` + `at_stride` * layer. */
struct sim_tail {
    VkDeviceSize offset, stride, size;
    VkDeviceSize at, at_stride;
    uint32_t count;
};

/* How the tiles of one aspect of an image lie. */
struct sim_cut {
    VkSparseImageFormatProperties format;
    uint32_t tail_first;
    VkDeviceSize at, layer_stride; /* place of the first layer's tiles, and from layer to layer */
    struct sim_tail tail;
};

struct sim_sparse {
    bool residency;
    bool aliased;
    VkDeviceSize page;
    uint32_t cut_count; /* 0 but for images with residency; 2 with depth and stencil */
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
    uint32_t plane_count; /* parts that are bound apart: more than 1 only when disjoint */
    struct sim_requirements requirements[SIM_MAX_PLANES];
    uint64_t memory[SIM_MAX_PLANES]; /* 0 when unbound */
    VkDeviceSize offset[SIM_MAX_PLANES];
    VkDeviceSize size; /* of a buffer, as asked for */
    VkFormat format;   /* and so on, of an image */
    VkImageType type;
    VkExtent3D extent;
    uint32_t mips, layers, samples;
    VkExternalMemoryHandleTypeFlags external_types; /* that its memory may be shared by */
    bool has_modifier;                              /* an image */
    VkDeviceSize row_pitch;                         /* of a linear image's first plane */
};

/* A semaphore or a fence. All but a timeline have the value 0 or 1. */
struct sim_signal {
    struct sim_object object;
    bool timeline;
    uint64_t value; /* unless shared; read and written by the functions of sim_payload.c */
    VkExternalSemaphoreHandleTypeFlags export_types;
    struct sim_file file; /* once exported or imported, with pages, where the value is */
    uint8_t* pages;
};

/* Bytes of a resource that a command uses; all of an image. */
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

/* A semaphore, and the value of it if it is a timeline. */
struct sim_point {
    uint64_t semaphore, value;
};

/* One batch. */
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

/* Refuses, at compile time, a function that is not of Vulkan's type. */
#define SIM_ENTRY(name, implementation)                                                            \
    {                                                                                              \
        SIM_FN_##name, (PFN_vkVoidFunction) _Generic(&(implementation), PFN_##name                 \
                                                     : &(implementation))                          \
    }

/* Each file's functions; a row of SIM_FN_COUNT ends it. */
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
/* The function of that name, aliases included; SIM_NO_MATCH when unknown. */
int sim_function_find(const char* name);
PFN_vkVoidFunction VKAPI_CALL sim_get_device_proc_addr(VkDevice device, const char* name);

/* sim_extension.c */
const char* sim_extension_name(enum sim_extension extension);
/* The extension of that name; SIM_EXT_NONE when unknown. */
enum sim_extension sim_extension_find(const char* name);
bool sim_extension_is_of_instance(enum sim_extension extension);
/* All that a profile's device reports. */
uint64_t sim_extensions_of_profile(const MaarSimulatedProfile* profile);
/* Parses a list of names; VK_ERROR_EXTENSION_NOT_PRESENT when one is not in the set allowed. */
VkResult sim_extensions_parse(uint32_t count, const char* const* names, uint64_t allowed,
                              uint64_t* set);
/* The two-call idiom over a set. */
VkResult sim_extensions_enumerate(uint64_t set, uint32_t* count, VkExtensionProperties* properties);
/* Minor version of Vulkan 1 of a profile. */
uint32_t sim_profile_minor(const MaarSimulatedProfile* profile);

/* sim_feature.c */
uint32_t sim_features_of_gpu(const struct sim_gpu* gpu);
void sim_features_core(const struct sim_gpu* gpu, VkPhysicalDeviceFeatures* features);
void sim_features_fill_chain(const struct sim_gpu* gpu, void* chain);
/* The features that a device's creation enables; VK_ERROR_FEATURE_NOT_PRESENT when not offered. */
VkResult sim_features_parse(const struct sim_gpu* gpu, const VkDeviceCreateInfo* info,
                            uint32_t* features);

/* sim_check.c */
void sim_lock_gpu(struct sim_gpu* gpu);
/* Unlocks, then tells of violations that have not been told of. */
void sim_unlock_gpu(struct sim_gpu* gpu);
/* Writes down a violation. Lock held. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void sim_violate(struct sim_gpu* gpu, enum sim_function function, MaarSimulatedViolation violation,
                 const char* format, ...);
/* Begins every call: tells the observer, counts, and lets a fault strike. device may be NULL. */
VkResult sim_enter(struct sim_gpu* gpu, struct sim_device* device, enum sim_function function);
/* Marks an externally synchronized thing as in use while another thread may come; lock held before
 * and after, but free in between. */
void sim_claim(struct sim_gpu* gpu, enum sim_function function, uint32_t* busy, const char* what);
/* A feature that is not enabled is a violation. Lock held. */
void sim_need_feature(struct sim_device* device, enum sim_function function,
                      enum sim_feature feature, const char* name);

/* sim_object.c */
/* A new object, counted and in the table; NULL without host memory. Lock free. */
void* sim_object_create(struct sim_device* device, enum sim_kind kind, size_t size,
                        const VkAllocationCallbacks* callbacks);
/* The object of a handle; NULL, and a violation, when there is none of that kind. Lock held. */
void* sim_object_get(struct sim_device* device, enum sim_function function, uint64_t handle,
                     enum sim_kind kind);
/* Likewise, without a violation. */
void* sim_object_peek(const struct sim_device* device, uint64_t handle, enum sim_kind kind);
/* Takes an object out of the table. Lock held. */
void sim_object_remove(struct sim_object* object);
/* Takes the object of a handle out of the table, checking callbacks; NULL for null and violations.
 * What it returns is freed by sim_object_release() with the lock free. Lock held. */
void* sim_object_retire(struct sim_device* device, enum sim_function function, uint64_t handle,
                        enum sim_kind kind, const VkAllocationCallbacks* callbacks);
void sim_object_release(struct sim_object* object);
/* The callbacks that an object's host memory comes from. */
const VkAllocationCallbacks* sim_object_callbacks(const struct sim_object* object);
const char* sim_kind_name(enum sim_kind kind);

/* sim_memory.c */
/* Frees what a memory that is out of the table owns. Lock free. */
void sim_memory_release(struct sim_memory* memory);
/* Takes a memory out of the heaps' accounts. Lock held. */
void sim_memory_uncount(struct sim_memory* memory);

/* sim_bind.c */
/* Takes a resource's binds out of their memories. Lock held. */
void sim_bind_forget(struct sim_resource* resource);
/* Index of the first bind of a memory that starts at offset or later. Lock held. */
uint32_t sim_bind_lower(const struct sim_memory* memory, VkDeviceSize offset);
/* Makes room for two more binds, if there is none. Lock held before and after, free while host
 * memory is asked for; the memory must be looked up again. */
bool sim_bind_reserve(struct sim_device* device, uint64_t memory);
/* Adds a bind that there is room for; takes one away. Lock held. */
void sim_bind_insert(struct sim_memory* memory, const struct sim_bind* new_bind);
void sim_bind_remove(struct sim_memory* memory, uint64_t resource, VkDeviceSize at,
                     VkDeviceSize offset);
/* Compares a bind with the others of its memory. Lock held. */
void sim_bind_check_neighbours(const struct sim_memory* memory, enum sim_function function,
                               const struct sim_resource* resource,
                               const struct sim_bind* new_bind);
/* The buffer or image of a handle; NULL when there is none. Lock held. */
struct sim_resource* sim_resource_peek(const struct sim_device* device, uint64_t handle);

/* sim_sparse.c */
/* Bytes of a tile, and of any other page of an image. */
VkDeviceSize sim_sparse_page(const struct sim_gpu* gpu);
/* Fills in how a new image is cut into tiles, and its size. */
void sim_sparse_describe(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                         struct sim_sparse* sparse, struct sim_requirements* requirements);
/* What the aspects of such an image are cut into; returns how many, 0 when it cannot be partially
 * resident. */
uint32_t sim_sparse_formats(const struct sim_gpu* gpu, VkFormat format, VkImageType type,
                            VkSampleCountFlagBits samples,
                            VkSparseImageFormatProperties properties[SIM_MAX_CUTS]);
/* The features that the flags of a buffer or image need. Lock held. */
void sim_sparse_check_features(struct sim_device* device, enum sim_function function, VkFlags flags,
                               const VkImageCreateInfo* image);
/* Tiles of a level in each dimension. */
VkExtent3D sim_sparse_tiles(const struct sim_resource* image, const struct sim_cut* cut,
                            uint32_t level);
/* Where a level of a layer begins. */
VkDeviceSize sim_sparse_level_at(const struct sim_resource* image, const struct sim_cut* cut,
                                 uint32_t layer, uint32_t level);
/* The cut of an image with residency that has an aspect; NULL when none has. */
const struct sim_cut* sim_sparse_cut(const struct sim_resource* image, VkImageAspectFlags aspect);

/* sim_pages.c */
/* Most pieces that a batch of binds falls into. Lock held. */
size_t sim_pages_count(const struct sim_device* device, const VkBindSparseInfo* info);
/* Checks a batch and writes down its pieces, no more than sim_pages_count said; returns how many.
 * Lock held. */
size_t sim_pages_collect(struct sim_device* device, const VkBindSparseInfo* info,
                         struct sim_piece* pieces);
/* Executes the pieces of one batch, which are put in order; false without host memory. Lock held
 * before and after, free while host memory is asked for. */
bool sim_pages_execute(struct sim_device* device, struct sim_piece* pieces, size_t count);
/* Takes all of a sparse resource's pages out of their memories. Lock held. */
void sim_pages_forget(struct sim_resource* resource);
/* Unbinds what lies in a memory that goes. Lock held. */
void sim_pages_memory_freed(struct sim_memory* memory);
/* Whether any of [first, end) is bound. Lock held. */
bool sim_pages_have(const struct sim_resource* resource, VkDeviceSize first, VkDeviceSize end);
/* Whether any of [at, at + size) is bound to a memory. Lock held. */
bool sim_pages_lie_in(const struct sim_resource* resource, VkDeviceSize at, VkDeviceSize size,
                      uint64_t memory);
/* A sparse resource that a command uses must have what it cannot do without. Lock held. */
void sim_pages_check_use(const struct sim_resource* resource, enum sim_function function);

/* sim_requirements.c */
/* Fills the requirements of a resource that is being made. */
void sim_requirements_of_buffer(const struct sim_gpu* gpu, const VkBufferCreateInfo* info,
                                struct sim_requirements* requirements);
/* One part, or one for each plane of a disjoint image; returns the number of parts. */
uint32_t sim_requirements_of_image(const struct sim_gpu* gpu, const VkImageCreateInfo* info,
                                   struct sim_requirements requirements[SIM_MAX_PLANES]);

/* sim_submission.c */
/* An empty submission with room for so much; NULL without host memory. Lock free. */
struct sim_submission* sim_submission_create(struct sim_queue* queue, enum sim_function function,
                                             const struct sim_submission_size* size);
/* Frees a list. Lock free. */
void sim_submissions_free(struct sim_device* device, struct sim_submission* list);
/* Executes a list, or holds it, and owns it from then on. Lock held before and after. */
VkResult sim_submissions_enqueue(struct sim_device* device, struct sim_submission* list);
/* Executes at most so many of those held that may begin; returns how many. Lock held before and
 * after, free in between. */
uint32_t sim_submissions_run(struct sim_device* device, uint32_t most);
/* Whether a submission that is held uses a resource, or a memory, that goes. Lock held. */
void sim_submissions_check_resource(struct sim_resource* resource, enum sim_function function);
void sim_submissions_check_memory(struct sim_device* device, uint64_t memory);

/* sim_external.c */
/* What a device offers to share: extensions, and UUIDs filled in. */
void sim_external_describe(struct sim_gpu* gpu, const MaarSimulatedSharingInfo* info);
/* What can be done with the memory of a buffer or an image by a handle type. */
VkExternalMemoryProperties sim_external_memory(const struct sim_gpu* gpu, bool image, VkFlags flags,
                                               VkExternalMemoryHandleTypeFlagBits type);
/* Likewise with semaphores. */
VkExternalSemaphoreFeatureFlags sim_external_semaphore(const struct sim_gpu* gpu, bool timeline,
                                                       VkExternalSemaphoreHandleTypeFlagBits type);
/* The handle types of a new resource, checked. Lock held. */
VkExternalMemoryHandleTypeFlags sim_external_types(struct sim_device* device, bool image,
                                                   VkFlags flags, const void* chain);
/* Whether memory for such handle types must be dedicated. */
bool sim_external_needs_dedicated(const struct sim_gpu* gpu, bool image,
                                  VkExternalMemoryHandleTypeFlags types);

/* sim_export.c */
/* The head of a file, as maar/simulated.h describes it. */
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
/* A head with all that is the device's. */
struct sim_file_head sim_file_head_of(const struct sim_device* device, enum sim_file_kind kind,
                                      uint32_t handle_types);
/* Whether a descriptor is a file of the driver's, and of its device and kind; a violation for
 * another device. Lock held. */
bool sim_file_accept(struct sim_device* device, enum sim_function function, int fd,
                     uint32_t handle_type, struct sim_file_head* head, uint64_t* size,
                     struct sim_file* file);
/* Ends a failing call that should have taken a descriptor. Lock free. */
void sim_import_failed(struct sim_gpu* gpu, enum sim_function function, int fd);
/* Lets go of the number that a failing import has closed, if any. Lock held. */
void sim_reused_forget(struct sim_gpu* gpu, enum sim_function function);
/* Reads what vkAllocateMemory is told of sharing. Lock held. */
VkResult sim_share_read(struct sim_device* device, const VkMemoryAllocateInfo* info, bool dedicated,
                        struct sim_share* share);
/* Ends a failing vkAllocateMemory, of which nothing is left. Lock free. */
void sim_share_failed(struct sim_device* device, const VkMemoryAllocateInfo* info);
/* Makes the file, and puts its bytes over pages that are mapped. Lock held. */
bool sim_share_back(struct sim_memory* memory, void* pages);
/* Lets go of the file. Lock held. */
void sim_share_forget(struct sim_memory* memory);
/* The rules of binding a resource to memory that is shared. Lock held. */
void sim_share_check_bind(const struct sim_resource* resource, const struct sim_memory* memory,
                          enum sim_function function);

/* sim_payload.c */
uint64_t sim_signal_value(const struct sim_signal* signal);
void sim_signal_set(struct sim_signal* signal, uint64_t value);
/* The rules of a new semaphore that may be exported; lock held. */
VkResult sim_payload_read(struct sim_device* device, const VkSemaphoreCreateInfo* info,
                          struct sim_signal* signal);
/* Lets go of what is shared. Lock held. */
void sim_payload_forget(struct sim_signal* signal, enum sim_function function);

/* sim_sync.c */
/* Raises a timeline semaphore; a binary one is left alone. Lock held. */
void sim_signal_semaphore_to(struct sim_device* device, enum sim_function function,
                             VkSemaphore semaphore, uint64_t value);

/* sim_command.c */
/* Only what was ended may be submitted. Lock held. */
void sim_command_check_submit(struct sim_device* device, enum sim_function function,
                              VkCommandBuffer buffer);
/* Frees a command buffer that is out of the table. Lock free. */
void sim_command_release(struct sim_command_buffer* buffer);

/* Structures of a chain. */
const void* sim_chain_find(const void* chain, VkStructureType type);

static inline VkDeviceSize sim_align_up(VkDeviceSize value, VkDeviceSize alignment)
{
    const VkDeviceSize rest = alignment == 0 ? 0 : value % alignment;
    return rest == 0 ? value : value + (alignment - rest);
}

static inline VkDeviceSize sim_or(VkDeviceSize value, VkDeviceSize fallback)
{
    return value != 0 ? value : fallback;
}

/* Handles of either definition, pointers or integers, to and from integers. */
#define SIM_HANDLE(handle) ((uint64_t)(handle))
#define SIM_DEVICE(device) ((struct sim_device*)(void*)(device))
#define SIM_GPU(physical) ((struct sim_gpu*)(void*)(physical))

#endif
