/*
 * Messages to the caller, misuse, and broken invariants.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/memory/memory_internal.h"

enum { MESSAGE_SIZE = 480 };

void maar_tell(MaarAllocator allocator, MaarMessageSeverity severity, const char* format, ...)
{
    if (allocator == NULL || allocator->message == NULL) {
        return;
    }
    char text[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    maar_lock_rank_expect_none();
    allocator->message(allocator->message_user_data, severity, text);
}

void maar_tell_misuse(MaarAllocator allocator, const char* call, const char* sentence)
{
    maar_tell(allocator, MAAR_MESSAGE_SEVERITY_ERROR, "%s: %s", call, sentence);
}

void maar_refuse_structure(MaarAllocator allocator, const char* call, const char* name,
                           const void* structure, int wanted)
{
    if (structure == NULL) {
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_ERROR, "%s: %s is NULL", call, name);
    } else {
        const VkBaseInStructure* base = structure;
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_ERROR, "%s: %s->sType is 0x%X, not 0x%X", call,
                  name, (unsigned)base->sType, (unsigned)wanted);
    }
}

void maar_tell_no_object(MaarAllocator allocator, const char* call, const char* what,
                         VkResult result)
{
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_DEVICE_LOST) {
        return; /* the result says it all */
    }
    maar_tell(allocator, MAAR_MESSAGE_SEVERITY_WARNING,
              "%s: the driver does not make this %s: VkResult %d; it may be larger than the device "
              "supports, whatever memory is free",
              call, what, (int)result);
}

void maar_broken(MaarAllocator allocator, const char* sentence)
{
    maar_atomic32_store(&allocator->poisoned, 1);
    maar_tell(allocator, MAAR_MESSAGE_SEVERITY_FATAL, "broken invariant: %s", sentence);
#if defined(MAAR_HEAVY_CHECKS)
    maar_trap();
#endif
}
