/*
 * Writes the history of a program's memory as one HTML file, which a browser shows without a
 * network: the page of support/report/report.html with the data inside. docs/reports.md describes
 * the page.
 *
 * The data are columns of numbers, compressed with zlib and written in base64, beside a JSON object
 * that describes them. Texts of the program appear in these two forms alone and become text nodes
 * in the page, so a hostile name runs no script. No globals; safe from any thread.
 */
#ifndef MAAR_SUPPORT_REPORT_FILE_H
#define MAAR_SUPPORT_REPORT_FILE_H

#include "findings.h"
#include "history.h"

/* What another manager would hold for the same traffic. */
struct support_report_peer {
    const char* name;
    uint32_t device, heap;
    bool is_maar;        /* else the program */
    bool is_whole;       /* the whole capture was played, and no request failed */
    uint64_t block_size; /* that Maar's blocks grow to; 0: its default */
    uint64_t peak_bytes; /* of device memory */
    uint64_t calls;      /* of vkAllocateMemory */
};

struct support_report_info {
    const struct support_history* history;
    const struct support_findings* findings;
    const struct support_report_peer* peers;
    size_t peer_count;
    uint64_t from_ns,
        to_ns;         /* of the capture; what lived outside is left out. 0 and UINT64_MAX: all */
    const char* title; /* or NULL for the program's name */
};

bool support_report_write(const struct support_report_info* info, const char* path,
                          struct support_error* error);

#endif
