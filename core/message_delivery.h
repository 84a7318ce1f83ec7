/*
 * Delivery of messages to the program's callback. It needs no allocator, because the range
 * allocator and the planner report without one.
 */
#ifndef MAAR_CORE_MESSAGE_DELIVERY_H
#define MAAR_CORE_MESSAGE_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/port_atomic.h"
#include "maar/message.h"

/* The message callback of an allocator (or another object that reports), and whether it is
 * poisoned. */
struct maar_reporter {
    PFN_maarMessage message; /* may be NULL */
    void* user_data;
    maar_atomic32 poisoned; /* not 0: an invariant is broken, and every later call fails */
};

/* A mistake in an argument, with the identifier and the sentence of its message. sentence is
 * NULL when there is no mistake. */
struct maar_fault {
    MaarMessageId id;
    const char* sentence;
};
#define MAAR_NO_FAULT ((struct maar_fault){.sentence = NULL})
static inline struct maar_fault maar_fault(MaarMessageId id, const char* sentence)
{
    return (struct maar_fault){.id = id, .sentence = sentence};
}

/* One rule for the arguments of a call: whether the call breaks it, and the message for that
 * case. */
struct maar_rule {
    bool broken;
    MaarMessageId id;
    const char* sentence;
};
/* Returns the fault of the first broken rule, or MAAR_NO_FAULT. A rule without a sentence ends
 * the list. */
struct maar_fault maar_find_fault(const struct maar_rule* rules);

/* Calls the callback, if there is one. The caller's text must already begin with the name of the
 * function, unless function is NULL. No lock may be held. */
void maar_message_deliver(const struct maar_reporter* reporter, MaarMessageSeverity severity,
                          MaarMessageId id, const char* function, const char* text);
/* Returns the name of an identifier, or "UNKNOWN" when the list does not contain it. */
const char* maar_message_name(MaarMessageId id);

#endif
