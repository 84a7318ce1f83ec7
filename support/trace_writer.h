/*
 * Writes the history of a capture as a trace of the schema maar-trace/2 (trace_writer.c), and
 * converts in memory (trace_convert.c). No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_TRACE_WRITER_H
#define MAAR_SUPPORT_TRACE_WRITER_H

#include "card.h"
#include "history.h"
#include "trace.h"

/* Makes the text of the trace. The caller frees it. Resources that were never bound are left out,
 * and so are acceleration structures, which are parts of buffers. */
bool support_trace_write(const struct support_history* history, char** text, size_t* size,
                         struct support_error* error);

/* Writes a text to a file, compressed with gzip where the path ends in .gz. */
bool support_trace_save(const char* path, const char* text, size_t size,
                        struct support_error* error);

/* Makes the trace of a history in memory. */
bool support_trace_convert(const struct support_history* history, struct support_trace* trace,
                           struct support_error* error);

/* Describes a device of a history. */
void support_history_card(const struct support_history* history, uint32_t device,
                          struct support_card* card);

#endif
