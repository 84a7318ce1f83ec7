/*
 * Delivers messages to the program's callback. Needs no allocator: the range allocator and the
 * planner report through it too.
 */
#ifndef MAAR_CORE_MESSAGE_DELIVERY_H
#define MAAR_CORE_MESSAGE_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/port_atomic.h"
#include "maar/message.h"

/* Whom an object reports to, and whether it still works. */
struct maar_reporter {
    PFN_maarMessage message; /* may be NULL */
    void* user_data;
    maar_atomic32 poisoned; /* not 0: an invariant is broken, and every later call fails */
};

/* What is wrong with an argument, as the message that reports it. sentence is NULL where nothing is
 * wrong. */
struct maar_fault {
    MaarMessageId id;
    const char* sentence;
};
#define MAAR_NO_FAULT ((struct maar_fault){.sentence = NULL})
static inline struct maar_fault maar_fault(MaarMessageId id, const char* sentence)
{
    return (struct maar_fault){.id = id, .sentence = sentence};
}

/* A rule for the arguments of a call, whether the call breaks it, and the fault if it does. */
struct maar_rule {
    bool broken;
    MaarMessageId id;
    const char* sentence;
};
/* Returns the fault of the first broken rule. An empty rule ends the list. */
struct maar_fault maar_find_fault(const struct maar_rule* rules);

/* Calls the callback, if there is one. function may be NULL; text begins with it otherwise. No lock
 * may be held. */
void maar_message_deliver(const struct maar_reporter* reporter, MaarMessageSeverity severity,
                          MaarMessageId id, const char* function, const char* text);
/* The identifier as text; "UNKNOWN" for one that the list does not have. */
const char* maar_message_name(MaarMessageId id);

#endif
