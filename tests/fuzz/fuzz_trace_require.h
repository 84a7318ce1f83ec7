/*
 * What trace.h promises of the objects of a trace of version 2, for the fuzz targets of traces and
 * of captures.
 */
#ifndef MAAR_TESTS_FUZZ_FUZZ_TRACE_REQUIRE_H
#define MAAR_TESTS_FUZZ_FUZZ_TRACE_REQUIRE_H

#include "support/trace.h"

/* Stops the program when a trace breaks a promise. */
void fuzz_require_trace(const struct support_trace* trace);

#endif
