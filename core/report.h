/*
 * Reports of an allocator: messages with identifiers, misuse, and broken invariants. Every room
 * reports through this file, which knows of an allocator only that its reporter comes first.
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

/* Formats a sentence for the message callback, if there is one. call: the public function, which
 * the sentence will begin with; or NULL. allocator may be NULL: then nothing is reported. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void maar_report(MaarAllocator allocator, MaarMessageSeverity severity, MaarMessageId id,
                 const char* call, const char* format, ...);

/* Reports misuse in a sentence. */
void maar_report_misuse(MaarAllocator allocator, MaarMessageId id, const char* call,
                        const char* sentence);
/* Reports misuse and returns its error. The result stands in the header so that readers of the
 * caller, and analysers, see it. */
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

/* Reports that an argument is NULL or has another sType than it should. */
void maar_report_structure(MaarAllocator allocator, const char* call, const char* name,
                           const void* structure, int wanted);
/* Returns VK_SUCCESS, or the error of what was reported. */
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

/* Reports a broken invariant and poisons the allocator; debug builds trap. */
void maar_broken(MaarAllocator allocator, const char* sentence);

/* Always on, O(1): a condition that is false only if Maar itself is wrong, or its memory was
 * overwritten. A false one is reported and poisons the allocator, so that later calls fail; debug
 * builds trap. No lock may be held. */
#define MAAR_ASSERT(allocator, condition)                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            maar_broken((allocator), #condition);                                                  \
        }                                                                                          \
    } while (0)

/* Returns VK_SUCCESS, or the error that a call on this allocator must return at once. */
static inline VkResult maar_enter(MaarAllocator allocator)
{
    if (allocator == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return maar_atomic32_load(&maar_reporter_of(allocator)->poisoned) != 0 ? VK_ERROR_UNKNOWN
                                                                           : VK_SUCCESS;
}

/* A handle that a call writes. */
struct maar_output {
    const char* name;
    void* handle;
    size_t size;
};
/* Enters a call that writes handles: sets them to zero, and reports one that is NULL. An empty
 * output ends the list. Returns VK_SUCCESS, or the error that the call must return at once. */
VkResult maar_enter_outputs(MaarAllocator allocator, const char* call,
                            const struct maar_output* outputs);

/* A name as messages show it: in quotes, cut where it is long; "(no name)" without quotes for
 * NULL. */
struct maar_quoted {
    char text[80];
};
/* Returns a name as messages show it. */
struct maar_quoted maar_quote(const char* name);

#endif
