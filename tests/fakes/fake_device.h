/*
 * FAKES. What the FAKE CUDA driver and the FAKE HIP runtime have in common, below their entry
 * points: objects, rules, streams. Each of the two libraries has all of it for itself.
 *
 * One mutex guards everything; fake_enter takes it and fake_leave returns it, and all that is
 * declared after those two is called in between. What was destroyed is kept as it was, marked dead,
 * until the next reset: a handle is never given out twice, and a stale one is known from a wild
 * one.
 */
#ifndef MAAR_TESTS_FAKES_FAKE_DEVICE_H
#define MAAR_TESTS_FAKES_FAKE_DEVICE_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/fakes/fake_control.h"
#include "tests/fakes/fake_file.h"

/* In what CUDA and HIP differ. */
struct fake_api {
    const char* text;        /* struct fake_control's */
    const char* device_name; /* says FAKE */
    int version;
    bool contexts;   /* a context has to be made current; else each device just has one */
    bool semaphores; /* external ones */
    bool images;
    /* An import takes the descriptor, as CUDA's does. HIP's leaves the descriptor to the caller. */
    bool takes_descriptors;
    bool free_waits; /* freeing waits for the streams, until set_free_waits says otherwise */
    const char* const* real_names; /* libraries that must not be loaded besides; ends with NULL */
};
extern const struct fake_api fake_api;

enum { FAKE_ATTRIBUTES = 256, FAKE_BREACHES = 64, FAKE_CALLS = 96, FAKE_STACK = 16 };

struct fake_object {
    struct fake_object* next;
    enum fake_kind kind;
    bool dead;
    bool unlisted; /* the default stream and what the program did not make */
    struct fake_context* context;
};

struct fake_device {
    uint8_t uuid[VK_UUID_SIZE];
    uint8_t luid[VK_LUID_SIZE];
    uint32_t node_mask;
    char pci_address[16];
    int attributes[FAKE_ATTRIBUTES];
};

struct fake_context {
    struct fake_object object;
    int device;
    bool primary;
    uint64_t retains; /* of a primary one, which is alive while there are any */
    struct fake_stream* default_stream;
};

/* A descriptor that was given to the fake, and stays open under its number; or a copy of it, where
 * an import takes none. */
struct fake_descriptor {
    int fd;
    dev_t file_device;
    ino_t file;
};

struct fake_memory {
    struct fake_object object;
    struct fake_descriptor descriptor;
    uint64_t size;
    uint32_t mappings;
    uint32_t images;
};

/* Addresses that may be used. Mapped with mmap, all of them. */
struct fake_range {
    struct fake_range* next;
    enum fake_kind kind; /* MAPPING, ALLOCATION or PAGES */
    struct fake_context* context;
    struct fake_memory* memory;   /* a mapping's */
    struct fake_backing* backing; /* that of pages */
    uintptr_t start;
    size_t size;
    void* map; /* what munmap takes */
    size_t map_size;
    bool accessible;
};

struct fake_image {
    struct fake_object object;
    struct fake_memory* memory;
    struct maar_cuda_memory_image info;
    char levels[32]; /* the address of each is a level's handle */
};

struct fake_semaphore {
    struct fake_object object;
    struct fake_descriptor descriptor;
    bool timeline;
    struct fake_file_head* head;          /* mapped: the simulated driver's */
    struct fake_shared_semaphore* shared; /* semaphore_wrap.c's */
};

struct fake_event {
    struct fake_object object;
    uint64_t recorded; /* how often a record was queued */
    uint64_t done;     /* the last of them that was reached */
};

struct fake_backing {
    struct fake_object object;
    int fd;
    uint64_t size;
    uint32_t mappings;
    bool released;
    bool shareable;
    bool counted; /* uses up the device's memory */
};

struct fake_reservation {
    struct fake_object object;
    uintptr_t start;
    size_t size;
};

enum fake_operation_kind {
    FAKE_COPY,
    FAKE_SET_BYTES,
    FAKE_SET_WORDS,
    FAKE_CALL,
    FAKE_SIGNAL,
    FAKE_WAIT,
    FAKE_RECORD,
    FAKE_WAIT_EVENT
};

struct fake_operation {
    struct fake_operation* next;
    enum fake_operation_kind kind;
    bool target_is_device;
    bool source_is_device;
    void* target;
    const void* source;
    size_t size; /* bytes */
    unsigned int pattern;
    maar_cuda_host_fn function;
    void* data;
    struct fake_semaphore* semaphore;
    struct fake_event* event;
    uint64_t value;
};

struct fake_stream {
    struct fake_object object;
    pthread_t thread;
    bool started;
    bool joined;
    struct fake_operation* first;
    struct fake_operation* last;
    uint64_t pending; /* the one that executes included */
    bool quit;        /* once it has nothing to do */
};

struct fake_call {
    char name[48];
    uint64_t count;
};

struct fake_state {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool initialized;
    int version;
    int device_count;
    struct fake_device devices[FAKE_MAX_DEVICES];
    struct fake_context* primary[FAKE_MAX_DEVICES];
    struct fake_object* objects; /* dead ones too */
    struct fake_range* ranges;
    struct fake_range* dead_ranges;
    struct fake_vulkan vulkan;
    struct fake_tamper tamper;
    struct fake_identity identity;
    bool has_identity;
    bool free_waits;
    uint64_t waits_abandoned; /* how often */
    uint64_t resets;
    bool giving_up; /* a reset is under way: nothing more is executed */
    uint64_t used_bytes;
    struct fake_call calls[FAKE_CALLS];
    char failing[48]; /* "" for any function */
    uint64_t fail_at;
    uint64_t fail_count;
    int fail_result;
    struct maar_cuda_memory_handle last_memory;
    struct maar_cuda_memory_range last_range;
    struct maar_cuda_memory_image last_image;
    struct maar_cuda_semaphore_handle last_semaphore;
    uint32_t breach_count;
    char breaches[FAKE_BREACHES][256];
};
extern struct fake_state fake;

/* What a call needs. */
enum fake_need { FAKE_NEEDS_NOTHING, FAKE_NEEDS_INIT, FAKE_NEEDS_CONTEXT };

/* Takes the lock. An error when the call is to fail; the lock is then not held. */
int fake_enter(const char* function, enum fake_need need);
int fake_leave(int result);
const struct fake_control* fake_get_control(void);

/* ---- all that follows is called between the two ---- */

/* Notes a sentence that begins with the name of the function; returns `result`. */
int fake_breach(int result, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* A device of those there are; NULL, having noted the breach, of others. */
struct fake_device* fake_find_device(int number);

int fake_initialize(void);
/* As after loading the library; nothing runs or is alive. */
void fake_set_defaults(void);
uint32_t fake_context_depth(void);
struct fake_context* fake_current(void);
void fake_set_current(struct fake_context* context);
int fake_push_context(struct fake_context* context);
int fake_pop_context(struct fake_context** context);
/* Replaces the top of the thread's stack; NULL pops it. */
int fake_replace_context(struct fake_context* context);
int fake_retain_primary(int device, struct fake_context** context);
int fake_release_primary(int device);
/* Whether a stream's function runs on this thread. */
void fake_set_in_host_function(bool inside);

/* Zeroed, alive, of the current context. */
void* fake_make(enum fake_kind kind, size_t size);
/* Whether it is alive and of this kind and, unless `anywhere`, of the current context; a breach
 * that says `what` it is supposed to be if not. */
bool fake_check_object(const void* object, enum fake_kind kind, const char* what, bool anywhere);
bool fake_is_zero(const void* bytes, size_t size);

/* The range that holds an address, or NULL. */
struct fake_range* fake_find_range(const void* address);
/* Whether all of it may be used; a breach that says `what` if not. */
bool fake_check_span(const void* address, size_t size, const char* what);
struct fake_range* fake_add_range(enum fake_kind kind, void* start, size_t size);
/* Unmaps it, and keeps it among the dead. */
void fake_end_range(struct fake_range* range);

/* Keeps a descriptor that was given, or a copy, and says later whether it is still the same file.
 */
bool fake_take_descriptor(struct fake_descriptor* descriptor, int fd);
bool fake_check_descriptor(const struct fake_descriptor* descriptor);
void fake_close_descriptor(struct fake_descriptor* descriptor);

int fake_import_memory(const struct maar_cuda_memory_handle* handle, struct fake_memory** memory);
int fake_map_memory(struct fake_memory* memory, const struct maar_cuda_memory_range* range,
                    void** pointer);
int fake_map_image(struct fake_memory* memory, const struct maar_cuda_memory_image* info,
                   struct fake_image** image);
int fake_destroy_image(struct fake_image* image);
int fake_destroy_memory(struct fake_memory* memory);
int fake_allocate(size_t size, void** pointer);
int fake_free(void* pointer);
uint64_t fake_total_bytes(void);

int fake_create_backing(size_t size, const struct maar_cuda_backing_info* info,
                        unsigned long long flags, struct fake_backing** backing);
int fake_export_backing(struct fake_backing* backing, enum maar_cuda_shareable_type type, int* fd);
int fake_import_backing(int fd, enum maar_cuda_shareable_type type, struct fake_backing** backing);
int fake_release_backing(struct fake_backing* backing);
int fake_reserve(size_t size, size_t alignment, uintptr_t preferred, uintptr_t* start);
int fake_unreserve(uintptr_t start, size_t size);
int fake_map_pages(uintptr_t start, size_t size, size_t offset, struct fake_backing* backing);
int fake_unmap_pages(uintptr_t start, size_t size);
int fake_set_access(uintptr_t start, size_t size, const struct maar_cuda_access_info* access,
                    size_t count);
bool fake_check_backing_info(const struct maar_cuda_backing_info* info);

int fake_import_semaphore(const struct maar_cuda_semaphore_handle* handle,
                          struct fake_semaphore** semaphore);
int fake_destroy_semaphore(struct fake_semaphore* semaphore);
/* Whether the operation may be queued; gives a binary semaphore's its number. */
bool fake_queue_semaphore(struct fake_semaphore* semaphore, bool signal, uint64_t* value);
/* On a stream's thread; give the lock back while they wait. */
void fake_wait_semaphore(struct fake_semaphore* semaphore, uint64_t value);
void fake_signal_semaphore(struct fake_semaphore* semaphore, uint64_t value);

int fake_create_stream(unsigned int flags, struct fake_stream** stream);
/* The default stream for NULL; NULL, and a breach, for what is none. */
struct fake_stream* fake_get_stream(void* handle);
int fake_destroy_stream(struct fake_stream* stream);
int fake_synchronize_stream(struct fake_stream* stream);
/* All streams of the current context. */
int fake_synchronize_context(void);
int fake_query_stream(struct fake_stream* stream);
int fake_queue(struct fake_stream* stream, const struct fake_operation* operation);
void fake_join_streams(void);
int fake_create_event(unsigned int flags, struct fake_event** event);
int fake_record_event(struct fake_event* event, struct fake_stream* stream);
int fake_wait_event(struct fake_stream* stream, struct fake_event* event);
int fake_query_event(struct fake_event* event);
int fake_synchronize_event(struct fake_event* event);
int fake_destroy_event(struct fake_event* event);

#endif
