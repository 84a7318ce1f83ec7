/*
 * Random streams of commands that are valid Vulkan and write the same bytes on every driver:
 * buffers and images of many formats, page maps, several queues, command buffers and semaphores. A
 * stream is made from its seed alone. Whatever a driver answers, the commands are the same.
 */
#ifndef MAAR_TESTS_MODEL_COMMAND_STREAM_H
#define MAAR_TESTS_MODEL_COMMAND_STREAM_H

#include "tests/rig/rig.h"

enum {
    STREAM_OBJECTS = 10,
    STREAM_SUBMISSIONS = 24,
    STREAM_LEVELS = 4,
    STREAM_PAGES = 4,
    STREAM_QUEUES =
        3, /* two for commands, one for binds: queues of the stream, not of the driver */
};

/* Formats that a stream may use: bits by the index in stream_formats. */
struct stream_format {
    VkFormat format;
    uint32_t block, bytes; /* of the first aspect */
    VkImageAspectFlags aspects;
    bool uploaded; /* any bytes are a valid value of the first aspect */
    bool cleared;
};
extern const struct stream_format stream_formats[];
extern const uint32_t stream_format_count;
/* The formats that the rig's driver copies to and from. */
uint32_t stream_formats_of(struct rig* rig);

enum stream_kind { STREAM_BUFFER, STREAM_ALIAS, STREAM_SPARSE_BUFFER, STREAM_IMAGE };

struct stream_object {
    enum stream_kind kind;
    uint32_t root; /* the object that has the same bytes; itself for most */
    VkDeviceSize size;
    VkBuffer buffer;
    VkImage image;
    const struct stream_format* format;
    VkImageCreateInfo info;
    bool sparse_image;
    VkDeviceMemory memory;
    /* What must be ordered. */
    VkImageLayout layout;
    uint32_t writer;    /* the last submission that wrote it */
    uint32_t readers;   /* submissions since then that read it: a bit for each */
    bool written, read; /* since the last barrier of the command buffer that is being recorded */
    int32_t pages[STREAM_PAGES]; /* pages of its memory; -1: not bound */
};

struct stream {
    struct rig* rig;
    struct rig_random random;
    uint32_t formats;
    uint32_t object_count;
    struct stream_object objects[STREAM_OBJECTS];
    VkDeviceMemory memory; /* of everything that is not sparse */
    VkBuffer source, readback;
    VkDeviceMemory host_memory;
    uint8_t* host; /* the source, then what is read back */
    VkDeviceSize readback_at;
    VkCommandPool pools[STREAM_QUEUES];
    VkSemaphore timelines[STREAM_QUEUES];
    VkSemaphore binary; /* signalled and not yet waited for, or null */
    VkSemaphore binaries[STREAM_SUBMISSIONS + 1];
    uint32_t binary_count;
    uint64_t values[STREAM_QUEUES];
    uint32_t submission_count;
    struct {
        uint32_t queue;
        uint64_t value;
    } submissions[STREAM_SUBMISSIONS + 2];
    /* The submission that is being recorded. */
    VkCommandBuffer commands;
    uint32_t queue;
    uint32_t waits;                         /* submissions that it depends on: a bit for each */
    uint32_t touched_read, touched_written; /* objects: a bit for each */
    uint32_t commands_left;
};

/* What a stream left: a number for the bytes of each object. */
struct stream_result {
    uint32_t object_count;
    uint64_t hashes[STREAM_OBJECTS];
    char names[STREAM_OBJECTS][48];
};

/* Plays a stream to its end. */
void stream_play(struct rig* rig, uint64_t seed, uint32_t formats, struct stream_result* result);

/* ---- between the files of the stream ---- */

VkQueue stream_vulkan_queue(const struct stream* s, uint32_t queue);
void stream_make_objects(struct stream* s);
void stream_destroy_objects(struct stream* s);
/* The regions that hold one level of an image, all layers, by aspect. Returns their bytes. */
VkDeviceSize stream_level_region(const struct stream_object* object, VkImageAspectFlags aspect,
                                 uint32_t level, VkBufferImageCopy* region);
/* Bytes of a block of an aspect in a buffer. */
uint32_t stream_block_bytes(const struct stream_object* object, VkImageAspectFlags aspect);
/* Declares that the next command reads or writes an object, with a layout for an image: records the
 * barriers that it needs, and remembers what the submission depends on. */
void stream_use(struct stream* s, uint32_t object, bool writes, VkImageLayout layout);
/* Records the commands of one submission: the first contents of everything, or random ones. */
void stream_record_first(struct stream* s);
void stream_record_random(struct stream* s);
void stream_record_last(struct stream* s, struct stream_result* result);

#endif
