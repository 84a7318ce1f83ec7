/*
 * Reports of an allocator: messages with identifiers, misuse, and broken invariants. Every room
 * reports through this file. This file knows only that an allocator begins with its reporter.
 *
 * Internally synchronized. No lock may be held where the callback is called.
 */
#ifndef MAAR_CORE_REPORT_H
#define MAAR_CORE_REPORT_H

#include "core/check.h"
#include "core/message_delivery.h"
#include "maar/allocator.h"

#include <stddef.h>

/* struct MaarAllocator_T begins with its reporter; core/memory asserts it. */
static inline struct maar_reporter* maar_reporter_of(MaarAllocator allocator)
{
    return (struct maar_reporter*)(void*)allocator;
}

/* Formats a sentence and passes it to the message callback, if there is one. call: the name of the
 * public function, with which the sentence will begin, or NULL. allocator may be NULL: then nothing
 * is reported. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void maar_report(MaarAllocator allocator, MaarMessageSeverity severity, MaarMessageId id,
                 const char* call, const char* format, ...);

/* Reports misuse in a sentence. */
void maar_report_misuse(MaarAllocator allocator, MaarMessageId id, const char* call,
                        const char* sentence);
/* Reports misuse and returns its error. The body stands in the header so that readers and static
 * analysers see the result. */
static inline VkResult maar_misuse(MaarAllocator allocator, MaarMessageId id, const char* call,
                                   const char* sentence)
{
    maar_report_misuse(allocator, id, call, sentence);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* Reports an error in a formatted sentence, and returns its result. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
VkResult
maar_fail(MaarAllocator allocator, VkResult result, MaarMessageId id, const char* call,
          const char* format, ...);

/* Reports the first broken rule as misuse. Returns VK_SUCCESS if none is broken. */
static inline VkResult maar_check_rules(MaarAllocator allocator, const char* call,
                                        const struct maar_rule* rules)
{
    const struct maar_fault fault = maar_find_fault(rules);
    return fault.sentence == NULL ? VK_SUCCESS
                                  : maar_misuse(allocator, fault.id, call, fault.sentence);
}

/* Reports that an argument is NULL or has a wrong sType. name: an argument, a pointer in a
 * structure, or a structure in a structure with a "." at the end. */
void maar_report_structure(MaarAllocator allocator, const char* call, const char* name,
                           const void* structure, int wanted);
/* Checks that an argument is not NULL and has the right sType. Returns VK_SUCCESS, or reports the
 * mistake and returns its error. */
static inline VkResult maar_check_structure(MaarAllocator allocator, const char* call,
                                            const char* name, const void* structure, int wanted)
{
    const VkBaseInStructure* base = (const VkBaseInStructure*)structure;
    if (base != NULL && (int)base->sType == wanted) {
        return VK_SUCCESS;
    }
    maar_report_structure(allocator, call, name, structure, wanted);
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* Reports that the driver did not create an object. what: "buffer" or "image". */
void maar_report_no_object(MaarAllocator allocator, const char* call, const char* what,
                           VkResult result);

/* Reports a broken invariant and poisons the allocator. Debug builds stop the program. */
void maar_broken(MaarAllocator allocator, const char* sentence);

/* A check that all builds have and that takes O(1). Its condition is false only if Maar itself is
 * wrong, or if its memory was overwritten. Then it reports and poisons the allocator, so that later
 * calls fail; debug builds stop the program. No lock may be held. */
#define MAAR_ASSERT(allocator, condition)                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            maar_broken((allocator), #condition);                                                  \
        }                                                                                          \
    } while (0)

/* Does the same where no report is possible, because a lock is held. */
static inline void maar_poison(MaarAllocator allocator)
{
    maar_atomic32_store(&maar_reporter_of(allocator)->poisoned, 1);
#if defined(MAAR_HEAVY_CHECKS)
    maar_trap();
#endif
}

/* Returns VK_SUCCESS, or the error that a call on this allocator must return at once. */
static inline VkResult maar_enter(MaarAllocator allocator)
{
    if (allocator == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return maar_atomic32_load(&maar_reporter_of(allocator)->poisoned) != 0 ? VK_ERROR_UNKNOWN
                                                                           : VK_SUCCESS;
}

/* A handle that a call returns. */
struct maar_output {
    const char* name;
    void* handle;
    size_t size;
};
/* Begins a call that returns handles: sets them to zero, and reports an output pointer that is
 * NULL. An empty output ends the list. Returns VK_SUCCESS, or the error that the call must return
 * at once. */
VkResult maar_enter_outputs(MaarAllocator allocator, const char* call,
                            const struct maar_output* outputs);

/* A name in the form for messages: in quotes, and cut if it is long. NULL becomes "(no name)"
 * without quotes. */
struct maar_quoted {
    char text[80];
};
/* Returns a name in the form for messages. */
struct maar_quoted maar_quote(const char* name);

/* A number of bytes in the form for messages: "65536 bytes", "157286400 bytes (150.0 MiB)". */
struct maar_shown_bytes {
    char text[56];
};
/* Returns a number of bytes in the form for messages. All messages show sizes by this function. */
struct maar_shown_bytes maar_show_bytes(uint64_t bytes);

#endif
