/*
 * Writes captures. core/capture/capture_writer.h describes the module.
 *
 * Invariant: a chunk keeps its slot from the first record that somebody writes there until all its
 * records are complete. A thread that has reserved a record has not completed it, so the view that
 * it writes to cannot end.
 */
#include "core/capture/capture_writer.h"

#include <string.h>

#include "core/port_time.h"

/* The parts of an entry's payload, one after another. */
struct payload_source {
    const uint8_t* bytes;
    size_t left; /* of the present part */
    const char* const* texts;
    size_t text_count;
};

static const char* text_or_empty(const char* text)
{
    return text != NULL ? text : "";
}

static size_t payload_size(const struct payload_source* source)
{
    size_t size = source->left;
    for (size_t i = 0; i < source->text_count; ++i) {
        size += strlen(text_or_empty(source->texts[i])) + 1;
    }
    return size;
}

/* Copies up to size bytes of the payload. */
static void take_payload(struct payload_source* source, uint8_t* to, size_t size)
{
    while (size > 0) {
        if (source->left == 0) {
            if (source->text_count == 0) {
                return;
            }
            source->bytes = (const uint8_t*)text_or_empty(source->texts[0]);
            source->left = strlen(text_or_empty(source->texts[0])) + 1;
            source->texts += 1;
            source->text_count -= 1;
        }
        const size_t step = size < source->left ? size : source->left;
        memcpy(to, source->bytes, step);
        to += step;
        size -= step;
        source->bytes += step;
        source->left -= step;
    }
}

/* The first reason to end is the one that stays. */
static void end_capture(struct maar_capture_writer* writer, MaarCaptureState state)
{
    if (maar_atomic32_claim(&writer->ended, (uint32_t)state)) {
        writer->header->state = (uint32_t)state;
    }
}

static uint64_t chunk_offset(uint64_t number)
{
    return MAAR_CAPTURE_HEADER_SIZE + number * MAAR_CAPTURE_CHUNK_SIZE;
}

/* Gives a chunk its slot and a view. Returns NULL if the slot is taken or there is no room. */
static uint8_t* begin_chunk(struct maar_capture_writer* writer, uint64_t number)
{
    struct maar_capture_chunk* slot = &writer->chunks[number % MAAR_CAPTURE_CHUNK_SLOTS];
    uint8_t* view = NULL;
    maar_mutex_lock(&writer->lock);
    const uint64_t holder = maar_atomic64_load(&slot->number);
    if (holder == number + 1) {
        view = maar_atomic_pointer_load(&slot->view);
    } else if (holder != 0) {
        writer->header->lostRecords += 1;
    } else if (maar_capture_is_open(writer)) {
        view = maar_file_map(&writer->file, chunk_offset(number), MAAR_CAPTURE_CHUNK_SIZE);
        if (view != NULL) {
            maar_atomic32_store(&slot->done, 0);
            maar_atomic_pointer_store(&slot->view, view);
            maar_atomic64_store_release(&slot->number, number + 1);
        } else {
            end_capture(writer, MAAR_CAPTURE_STATE_DISK_FULL);
        }
    }
    maar_mutex_unlock(&writer->lock);
    return view;
}

static void end_chunk(struct maar_capture_writer* writer, struct maar_capture_chunk* slot)
{
    maar_mutex_lock(&writer->lock);
    void* const view = maar_atomic_pointer_load(&slot->view);
    maar_atomic64_store(&slot->number, 0);
    maar_atomic_pointer_store(&slot->view, NULL);
    maar_mutex_unlock(&writer->lock);
    maar_file_unmap(view, MAAR_CAPTURE_CHUNK_SIZE);
}

/* Writes one record. Its first eight bytes come last, so that a reader sees all of it or nothing.
 */
static void put_record(struct maar_capture_writer* writer, uint64_t index, uint64_t first_word,
                       const uint8_t rest[MAAR_CAPTURE_NEXT_PAYLOAD])
{
    const uint64_t number = index / MAAR_CAPTURE_CHUNK_RECORDS;
    struct maar_capture_chunk* slot = &writer->chunks[number % MAAR_CAPTURE_CHUNK_SLOTS];
    uint8_t* view = NULL;
    if (maar_atomic64_load_acquire(&slot->number) == number + 1) {
        view = maar_atomic_pointer_load(&slot->view);
    } else {
        view = begin_chunk(writer, number);
    }
    if (view == NULL) {
        return;
    }
    uint8_t* record = view + index % MAAR_CAPTURE_CHUNK_RECORDS * MAAR_CAPTURE_RECORD_SIZE;
    memcpy(record + sizeof first_word, rest, MAAR_CAPTURE_NEXT_PAYLOAD);
    maar_atomic64_store_release((maar_atomic64*)(void*)record, first_word);
    if (maar_atomic32_count(&slot->done) == MAAR_CAPTURE_CHUNK_RECORDS) {
        end_chunk(writer, slot);
    }
}

/* The system's number of this thread, or 0 if it is not known yet. */
static _Thread_local uint32_t known_thread;

/* The kind, the number and the thread, as they lie in the first eight bytes of a record. */
static uint64_t first_word_of(MaarCaptureKind kind, size_t number)
{
    if (known_thread == 0) {
        known_thread = maar_system_thread();
    }
    const MaarCaptureContinuation start = {
        .kind = (uint16_t)kind, .index = (uint16_t)number, .thread = known_thread};
    uint64_t word;
    memcpy(&word, &start, sizeof word);
    return word;
}

static void write_entry(struct maar_capture_writer* writer, MaarCaptureKind kind,
                        struct payload_source* source)
{
    const size_t size = payload_size(source);
    size_t more = 0;
    if (size > MAAR_CAPTURE_FIRST_PAYLOAD) {
        more = (size - MAAR_CAPTURE_FIRST_PAYLOAD + MAAR_CAPTURE_NEXT_PAYLOAD - 1) /
               MAAR_CAPTURE_NEXT_PAYLOAD;
        more = more < MAAR_CAPTURE_MOST_CONTINUATIONS ? more : MAAR_CAPTURE_MOST_CONTINUATIONS;
    }
    const uint64_t end = maar_atomic64_add(&writer->next, 1 + more);
    if (end > writer->most_records) {
        end_capture(writer, MAAR_CAPTURE_STATE_LIMIT);
        return;
    }
    uint8_t rest[MAAR_CAPTURE_NEXT_PAYLOAD] = {0};
    const uint64_t time_ns = maar_now_ns();
    memcpy(rest, &time_ns, sizeof time_ns);
    take_payload(source, rest + sizeof time_ns, MAAR_CAPTURE_FIRST_PAYLOAD);
    put_record(writer, end - more - 1, first_word_of(kind, more), rest);
    for (size_t i = 1; i <= more; ++i) {
        memset(rest, 0, sizeof rest);
        take_payload(source, rest, sizeof rest);
        if (i == MAAR_CAPTURE_MOST_CONTINUATIONS) {
            rest[sizeof rest - 1] = 0; /* a text that is cut off ends with a zero byte, too */
        }
        put_record(writer, end - more - 1 + i, first_word_of(MAAR_CAPTURE_KIND_CONTINUATION, i),
                   rest);
    }
}

void maar_capture_write(struct maar_capture_writer* writer, MaarCaptureKind kind,
                        const void* payload, size_t size)
{
    maar_capture_write_texts(writer, kind, payload, size, NULL, 0);
}

void maar_capture_write_texts(struct maar_capture_writer* writer, MaarCaptureKind kind,
                              const void* payload, size_t size, const char* const* texts,
                              size_t text_count)
{
    struct payload_source source = {
        .bytes = payload, .left = size, .texts = texts, .text_count = text_count};
    if (maar_capture_is_open(writer)) {
        write_entry(writer, kind, &source);
    }
}

static void fill_header(MaarCaptureHeader* header, const struct maar_capture_opening* opening)
{
    memcpy(header->magic, MAAR_CAPTURE_MAGIC, sizeof MAAR_CAPTURE_MAGIC);
    header->headerSize = MAAR_CAPTURE_HEADER_SIZE;
    header->recordSize = MAAR_CAPTURE_RECORD_SIZE;
    header->origin = (uint32_t)opening->origin;
    header->state = MAAR_CAPTURE_STATE_OPEN;
    header->process = maar_system_process();
    header->parent = maar_system_parent();
    header->start_ns = maar_now_ns();
    header->startSinceEpoch_ns = maar_wall_clock_ns();
    header->pointerSize = sizeof(void*);
    header->maarVersion = MAAR_VERSION;
    const char* const program = text_or_empty(opening->program);
    const size_t name_size = strlen(program);
    const size_t most = sizeof header->program - 1;
    memcpy(header->program, program, name_size < most ? name_size : most);
    if (opening->arguments != NULL) {
        const size_t room = sizeof header->arguments - 1;
        memcpy(header->arguments, opening->arguments,
               opening->argument_size < room ? opening->argument_size : room);
    }
}

bool maar_capture_open(struct maar_capture_writer* writer,
                       const struct maar_capture_opening* opening,
                       char reason[MAAR_FILE_REASON_SIZE])
{
    memset(writer, 0, sizeof *writer);
    if (!maar_mutex_init(&writer->lock, MAAR_LOCK_CAPTURE, true)) {
        memcpy(reason, "no mutex", sizeof "no mutex");
        return false;
    }
    if (!maar_file_create(opening->path, &writer->file, reason)) {
        goto no_file;
    }
    writer->header = maar_file_map(&writer->file, 0, MAAR_CAPTURE_HEADER_SIZE);
    if (writer->header == NULL) {
        memcpy(reason, "the disk is full", sizeof "the disk is full");
        goto no_header;
    }
    fill_header(writer->header, opening);
    if (!maar_file_name(opening->path, &writer->file, reason)) {
        goto no_name;
    }
    writer->most_records = UINT64_MAX;
    if (opening->most_bytes != 0) {
        const uint64_t bytes = opening->most_bytes;
        writer->most_records = bytes < MAAR_CAPTURE_HEADER_SIZE
                                   ? 0
                                   : (bytes - MAAR_CAPTURE_HEADER_SIZE) / MAAR_CAPTURE_RECORD_SIZE;
    }
    return true;

no_name:
    maar_file_unmap(writer->header, MAAR_CAPTURE_HEADER_SIZE);
no_header:
    maar_file_discard(opening->path, &writer->file);
no_file:
    maar_mutex_destroy(&writer->lock);
    return false;
}

void maar_capture_finish(struct maar_capture_writer* writer)
{
    maar_capture_write(writer, MAAR_CAPTURE_KIND_END, NULL, 0);
    if (maar_capture_is_open(writer)) {
        end_capture(writer, MAAR_CAPTURE_STATE_COMPLETE);
    }
}

void maar_capture_close(struct maar_capture_writer* writer)
{
    maar_capture_finish(writer);
    for (size_t i = 0; i < MAAR_CAPTURE_CHUNK_SLOTS; ++i) {
        void* const view = maar_atomic_pointer_load(&writer->chunks[i].view);
        if (view != NULL) {
            maar_file_unmap(view, MAAR_CAPTURE_CHUNK_SIZE);
        }
    }
    const uint64_t reserved = maar_atomic64_load(&writer->next);
    const uint64_t count = reserved < writer->most_records ? reserved : writer->most_records;
    maar_file_cut(&writer->file, MAAR_CAPTURE_HEADER_SIZE + count * MAAR_CAPTURE_RECORD_SIZE);
    maar_file_unmap(writer->header, MAAR_CAPTURE_HEADER_SIZE);
    maar_file_close(&writer->file);
    maar_mutex_destroy(&writer->lock);
}

void maar_capture_abandon(struct maar_capture_writer* writer)
{
    for (size_t i = 0; i < MAAR_CAPTURE_CHUNK_SLOTS; ++i) {
        void* const view = maar_atomic_pointer_load(&writer->chunks[i].view);
        if (view != NULL) {
            maar_file_unmap(view, MAAR_CAPTURE_CHUNK_SIZE);
        }
    }
    maar_file_unmap(writer->header, MAAR_CAPTURE_HEADER_SIZE);
    maar_file_close(&writer->file);
    /* The mutex may be held by a thread that the child does not have: it is given up as it is. */
    memset(writer, 0, sizeof *writer);
    maar_atomic32_store(&writer->ended, MAAR_CAPTURE_STATE_COMPLETE);
    known_thread = 0;
}
