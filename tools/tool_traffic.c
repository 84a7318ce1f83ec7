/*
 * Traces and captures; see tool_traffic.h.
 */
#include "tool_traffic.h"

#include "support/history.h"
#include "support/trace_writer.h"

#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

/* Returns whether a file, plain or compressed, begins like a capture. What is no regular file can
 * be read only once, and is taken for a trace. */
static bool is_capture_file(const char* path)
{
    char head[sizeof((MaarCaptureHeader*)0)->magic];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    gzFile const file = gzopen(path, "rb");
    const int got = file != NULL ? gzread(file, head, sizeof head) : 0;
    if (file != NULL) {
        (void)gzclose(file);
    }
    return got > 0 && support_is_capture(head, (size_t)got);
}

bool tool_traffic_load(const char* path, struct support_trace* trace, struct support_error* error)
{
    struct support_history history;
    memset(trace, 0, sizeof *trace);
    if (!is_capture_file(path)) {
        return support_trace_load(path, trace, error);
    }
    if (!support_history_load(path, &history, error)) {
        return false;
    }
    const bool good = support_trace_convert(&history, trace, error);
    support_history_release(&history);
    return good;
}
