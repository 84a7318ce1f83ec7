/*
 * Writes a capture, as maar/capture_file.h defines it. The library writes one for an allocator, and
 * the layer one for a program.
 *
 * Threads reserve records with one atomic addition and fill them at the same time, in views of the
 * file (chunks). A chunk is reserved on the disk before it is used, so a full disk ends the capture
 * and nothing else. The view of a chunk ends when its last record is complete.
 *
 * Every function but open and close may be called by any thread at any time, also under locks of
 * Maar: the writer's own lock ranks last. No function fails visibly: a capture that cannot go on
 * ends, and its header says why.
 */
#ifndef MAAR_CORE_CAPTURE_WRITER_H
#define MAAR_CORE_CAPTURE_WRITER_H

#include "core/port_atomic.h"
#include "core/port_file.h"
#include "core/port_thread.h"
#include "maar/base.h"
#include "maar/capture_file.h"

/* A chunk is 1 MiB: the largest that a laptop's disk reserves in well below a millisecond. */
#define MAAR_CAPTURE_CHUNK_SIZE ((size_t)1 << 20)
enum {
    MAAR_CAPTURE_CHUNK_RECORDS = (1 << 20) / MAAR_CAPTURE_RECORD_SIZE,
    /* Chunks in use at once. A thread that is stopped inside a record keeps its chunk; the others
     * may write this many MiB meanwhile, and then records are lost until it goes on. */
    MAAR_CAPTURE_CHUNK_SLOTS = 512
};

struct maar_capture_chunk {
    maar_atomic_pointer view; /* uint8_t*, or NULL */
    maar_atomic64 number;     /* 1 more than the number of the chunk that has the slot, or 0 */
    maar_atomic32 done;       /* complete records */
};

struct maar_capture_writer {
    maar_atomic64 next;  /* the number of the next record */
    maar_atomic32 ended; /* a MaarCaptureState; records are dropped unless it is OPEN */
    struct maar_file file;
    MaarCaptureHeader* header; /* a view */
    uint64_t most_records;
    struct maar_mutex lock; /* guards the slots while a chunk begins or ends */
    struct maar_capture_chunk chunks[MAAR_CAPTURE_CHUNK_SLOTS];
};

struct maar_capture_opening {
    const char* path; /* of a file that does not exist yet */
    MaarCaptureOrigin origin;
    const char* program;   /* or NULL */
    const char* arguments; /* argument_size bytes, each argument ended by a zero byte; or NULL */
    size_t argument_size;
    uint64_t most_bytes; /* of the file, or 0 for no limit */
};

/* Creates the file. Returns false and the reason if that is not possible; nothing is left then.
 * writer->file.exists says whether the reason is that the file exists already. */
bool maar_capture_open(struct maar_capture_writer* writer,
                       const struct maar_capture_opening* opening,
                       char reason[MAAR_FILE_REASON_SIZE]);

/* Writes the last entry. Other threads may still use the writer; what they write is dropped. */
void maar_capture_finish(struct maar_capture_writer* writer);

/* Finishes, cuts the file off behind the last entry and closes it. No other thread may use the
 * writer any more. */
void maar_capture_close(struct maar_capture_writer* writer);

/* In the child of a fork: lets go of the file, which is the parent's. The writer may be opened
 * again. Other threads do not exist. */
void maar_capture_abandon(struct maar_capture_writer* writer);

/* Whether the capture still goes on. */
static inline bool maar_capture_is_open(const struct maar_capture_writer* writer)
{
    return maar_atomic32_load(&writer->ended) == MAAR_CAPTURE_STATE_OPEN;
}

/* Writes an entry: a structure of the format, then texts. NULL stands for an empty text. */
void maar_capture_write(struct maar_capture_writer* writer, MaarCaptureKind kind,
                        const void* payload, size_t size);
void maar_capture_write_texts(struct maar_capture_writer* writer, MaarCaptureKind kind,
                              const void* payload, size_t size, const char* const* texts,
                              size_t text_count);

#endif
