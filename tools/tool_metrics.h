/*
 * Captures as metrics of Prometheus, in its text format or in that of OpenMetrics, and the web
 * server that hands them out. Single-threaded but for the server's own thread.
 */
#ifndef MAAR_TOOL_METRICS_H
#define MAAR_TOOL_METRICS_H

#include "tool_follow.h"

enum tool_metrics_format {
    TOOL_METRICS_TEXT,        /* Prometheus text 0.0.4 */
    TOOL_METRICS_OPENMETRICS, /* OpenMetrics 1.0.0 */
};

/* Returns the metrics of all captures as a text that the caller frees, or NULL without memory. */
char* tool_metrics_write(const struct tool_follow_set* set, enum tool_metrics_format format,
                         size_t* size);
/* The format that an HTTP request asks for by its field Accept, which may be NULL. */
enum tool_metrics_format tool_metrics_choose(const char* accept);
const char* tool_metrics_content_type(enum tool_metrics_format format);

/* Whether this build has a web server. */
bool tool_serve_is_built(void);
/* Reads "[ADDRESS:]PORT". Returns false and prints an error for a wrong one. */
bool tool_serve_read(const char* text, char address[64], uint16_t* port);
/* Serves the metrics until a signal ends the process. Returns the exit code. */
int tool_serve(struct tool_follow_set* set, const char* address, uint16_t port);

#endif
