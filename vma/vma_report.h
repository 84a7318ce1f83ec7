/*
 * Messages to the program: those of Maar, and the layer's own.
 *
 * A listener may ask for each kind of message once. Two messages are of one kind if they differ in
 * figures and in what stands in quotes alone. Margins that were overwritten are always reported,
 * since a unit's assertion depends on it. Any thread may report.
 */
#ifndef MAAR_VMA_REPORT_H
#define MAAR_VMA_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "maar/vma.h"

enum {
    /* Kinds that a listener remembers. Later ones are not held back. */
    MAAR_VMA_KINDS = 32,
    /* Objects that were never freed and that are named where each kind is reported once. */
    MAAR_VMA_NAMED_LEAKS = 16
};

struct maar_vma_listener {
    PFN_maarVmaMessage message; /* NULL: nobody listens */
    void* user_data;
    bool once;                              /* MAAR_VMA_OPTION_ONCE_BIT */
    _Atomic uint32_t kinds[MAAR_VMA_KINDS]; /* what was reported, as hashes; 0: none yet */
    _Atomic uint32_t leak_count;            /* objects that were reported as never freed */
};

void maar_vma_listen(struct maar_vma_listener* listener, PFN_maarVmaMessage message,
                     void* user_data, uint32_t options);
/* Hands a message of Maar's to the program. */
void maar_vma_forward(struct maar_vma_listener* listener, const MaarMessage* message);
/* Reports a message of the layer's. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void maar_vma_report(struct maar_vma_listener* listener, MaarMessageSeverity severity,
                     MaarMessageId id, const char* format, ...);
/* Reports how many objects were never freed, if there are more than before a call. */
void maar_vma_report_leaks(struct maar_vma_listener* listener, const char* call, uint32_t before);

#endif
