/*
 * Messages to the caller, misuse, and broken invariants.
 */
#include "core/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 640 };

#define MAAR_NAMED(type)                                                                           \
    {                                                                                              \
        (uint32_t) MAAR_STRUCTURE_TYPE_##type, "MAAR_STRUCTURE_TYPE_" #type                        \
    }

/* All structure types of Maar, and the Vulkan types that Maar checks. */
static const struct {
    uint32_t type;
    const char* name;
} structure_names[] = {
    {(uint32_t)VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, "VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO"},
    {(uint32_t)VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, "VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO"},
    MAAR_NAMED(RANGE_ALLOCATOR_CREATE_INFO),
    MAAR_NAMED(RANGE_ALLOCATE_INFO),
    MAAR_NAMED(RANGE_STATISTICS),
    MAAR_NAMED(RANGE_INFO),
    MAAR_NAMED(MESSAGE),
    MAAR_NAMED(CAPTURE_BEGIN_INFO),
    MAAR_NAMED(CAPTURE_SUBMIT_INFO),
    MAAR_NAMED(ORDERED_USE_INFO),
    MAAR_NAMED(SUBMISSION_INFO),
    MAAR_NAMED(ORDERED_STATISTICS),
    MAAR_NAMED(ALLOCATOR_CREATE_INFO),
    MAAR_NAMED(DEVICE_RECOMMENDATION),
    MAAR_NAMED(ALLOCATION_CREATE_INFO),
    MAAR_NAMED(ALLOCATION_INFO),
    MAAR_NAMED(POOL_CREATE_INFO),
    MAAR_NAMED(STATISTICS),
    MAAR_NAMED(DETAILED_STATISTICS),
    MAAR_NAMED(HEAP_BUDGET),
    MAAR_NAMED(BLOCK_INFO),
    MAAR_NAMED(MEMORY_TYPE_CHOICE),
    MAAR_NAMED(MEMORY_TYPE_REASON),
    MAAR_NAMED(ALLOCATOR_INFO),
    MAAR_NAMED(ENTRY_POINTS_INFO),
    MAAR_NAMED(MEMORY_ALLOCATE_NEXT_INFO),
    MAAR_NAMED(MEMORY_TYPE_ORDER_INFO),
    MAAR_NAMED(FEATURE_CHAIN_INFO),
    MAAR_NAMED(DEFAULT_EXPORT_INFO),
    MAAR_NAMED(DUMP_USAGE_INFO),
    MAAR_NAMED(MARGIN_INFO),
    MAAR_NAMED(RESIDENCY_CREATE_INFO),
    MAAR_NAMED(RESIDENCY_INFO),
    MAAR_NAMED(RESIDENT_CREATE_INFO),
    MAAR_NAMED(RESIDENT_INFO),
    MAAR_NAMED(USE_BEGIN_INFO),
    MAAR_NAMED(USE_INFO),
    MAAR_NAMED(RESIDENCY_UPDATE),
    MAAR_NAMED(CHECKPOINT_INFO),
    MAAR_NAMED(CHECKPOINT_OPEN_INFO),
    MAAR_NAMED(RESIDENCY_POLICY),
    MAAR_NAMED(COMPRESSOR),
    MAAR_NAMED(FILE_STORE),
    MAAR_NAMED(FILE_STORE_OPEN_INFO),
    MAAR_NAMED(FILE_SOURCE),
    MAAR_NAMED(MEMORY_REQUEST),
    MAAR_NAMED(DUMP_INFO),
    MAAR_NAMED(OUT_OF_MEMORY_INFO),
    MAAR_NAMED(SLICE_CREATE_INFO),
    MAAR_NAMED(SLICE_INFO),
    MAAR_NAMED(MOVE_BEGIN_INFO),
    MAAR_NAMED(MOVE),
    MAAR_NAMED(PAGE_MOVE),
    MAAR_NAMED(MOVE_SUBMIT_INFO),
    MAAR_NAMED(DEFRAGMENTATION_BEGIN_INFO),
    MAAR_NAMED(DEFRAGMENTATION_STEP_INFO),
    MAAR_NAMED(DEFRAGMENTATION_INFO),
    MAAR_NAMED(MOVABLE_INFO),
    MAAR_NAMED(OBJECT_SWAP),
    MAAR_NAMED(PLAN_CREATE_INFO),
    MAAR_NAMED(PLAN_INFO),
    MAAR_NAMED(PLAN_CACHE_CREATE_INFO),
    MAAR_NAMED(PLAN_SEED_INFO),
    MAAR_NAMED(TRANSIENT_HEAP_CREATE_INFO),
    MAAR_NAMED(TRANSIENT_GRAPH),
    MAAR_NAMED(TRANSIENT_HEAP_INFO),
    MAAR_NAMED(TRANSIENT_RESOURCE_INFO),
    MAAR_NAMED(TRANSIENT_PASS_BARRIERS),
    MAAR_NAMED(PAGING_INFO),
    MAAR_NAMED(PAGING_STATISTICS),
    MAAR_NAMED(POOL_PAGING_INFO),
    MAAR_NAMED(RESERVATION_CREATE_INFO),
    MAAR_NAMED(RESERVATION_INFO),
    MAAR_NAMED(NEW_PAGES),
    MAAR_NAMED(RESERVATION_TOUCH_INFO),
    MAAR_NAMED(RESERVATION_USE_INFO),
    MAAR_NAMED(TOUCH_INFO),
    MAAR_NAMED(TOUCH_RESULT),
    MAAR_NAMED(PAGE_TRIM_INFO),
    MAAR_NAMED(PAGE_TRIM_RESULT),
    MAAR_NAMED(RESERVATION_SPILL_INFO),
    MAAR_NAMED(PAGE_PRIORITY),
    MAAR_NAMED(PAGE_MIGRATION_INFO),
    MAAR_NAMED(ARRAY_CREATE_INFO),
    MAAR_NAMED(ARRAY_INFO),
    MAAR_NAMED(SPARSE_IMAGE_CREATE_INFO),
    MAAR_NAMED(SPARSE_IMAGE_INFO),
    MAAR_NAMED(TILE_CACHE_CREATE_INFO),
    MAAR_NAMED(TILE_CACHE_INFO),
    MAAR_NAMED(BUFFER_CACHE_CREATE_INFO),
    MAAR_NAMED(BUFFER_CACHE_INFO),
    MAAR_NAMED(BUFFER_ITEM_INFO),
    MAAR_NAMED(BUFFER_USE_BEGIN_INFO),
    MAAR_NAMED(BUFFER_USE_INFO),
    MAAR_NAMED(BUFFER_PREFETCH),
    MAAR_NAMED(TILE_CACHE_UPDATE),
    MAAR_NAMED(SHARING_INFO),
    MAAR_NAMED(SHARING_QUERY),
    MAAR_NAMED(SHARING_SUPPORT),
    MAAR_NAMED(EXPORT_INFO),
    MAAR_NAMED(EXPORTED_MEMORY),
    MAAR_NAMED(IMPORT_INFO),
    MAAR_NAMED(EXTERNAL_HANDLE_INFO),
    MAAR_NAMED(HOST_BUFFER_CREATE_INFO),
    MAAR_NAMED(HOST_BUFFER_INFO),
    MAAR_NAMED(HOST_IMPORT_INFO),
    MAAR_NAMED(SHARED_SEMAPHORE_CREATE_INFO),
    MAAR_NAMED(HANDOFF_INFO),
    MAAR_NAMED(DESCRIPTOR),
    MAAR_NAMED(CUDA_CREATE_INFO),
    MAAR_NAMED(CUDA_INFO),
    MAAR_NAMED(CUDA_MEMORY),
    MAAR_NAMED(CUDA_IMAGE_INFO),
    MAAR_NAMED(CUDA_TIMELINE_CREATE_INFO),
    MAAR_NAMED(CUDA_TIMELINE_INFO),
    MAAR_NAMED(CUDA_HANDOFF_INFO),
    MAAR_NAMED(CUDA_RANGE_INFO),
    MAAR_NAMED(HIP_CREATE_INFO),
    MAAR_NAMED(HIP_INFO),
    MAAR_NAMED(HIP_MEMORY),
    MAAR_NAMED(HIP_HANDOFF_INFO),
    MAAR_NAMED(CUDA_MIRROR_CREATE_INFO),
    MAAR_NAMED(CUDA_MIRROR_INFO),
    MAAR_NAMED(SIMULATED_INSTANCE_CREATE_INFO),
    MAAR_NAMED(SIMULATED_PROFILE),
    MAAR_NAMED(SIMULATED_FAULT),
    MAAR_NAMED(SIMULATED_COUNTERS),
    MAAR_NAMED(SIMULATED_SHARING_INFO),
    MAAR_NAMED(SIMULATED_TIME_INFO),
    MAAR_NAMED(SIMULATED_CLOCKS),
};

/* The name of a structure type, or its number if the name is unknown. */
struct structure_name {
    char text[64];
};

static struct structure_name name_structure(int type)
{
    struct structure_name name;
    (void)snprintf(name.text, sizeof name.text, "0x%X", (unsigned)type);
    for (size_t i = 0; i < sizeof structure_names / sizeof structure_names[0]; ++i) {
        if (structure_names[i].type == (uint32_t)type) {
            (void)snprintf(name.text, sizeof name.text, "%s", structure_names[i].name);
        }
    }
    return name;
}

/* Removes the last character of a UTF-8 text if some of its bytes are missing. */
static void drop_cut_character(char* text)
{
    const size_t length = strlen(text);
    size_t lead = length;
    while (lead > 0 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80) {
        --lead;
    }
    if (lead == 0) {
        return;
    }
    const unsigned char first = (unsigned char)text[--lead];
    const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    if (length - lead < bytes) {
        text[lead] = '\0';
    }
}

struct maar_quoted maar_quote(const char* name)
{
    struct maar_quoted quoted = {"(no name)"};
    if (name != NULL) {
        (void)snprintf(quoted.text, sizeof quoted.text - 1, "\"%.76s", name);
        drop_cut_character(quoted.text);
        memcpy(quoted.text + strlen(quoted.text), "\"", sizeof "\"");
    }
    return quoted;
}

struct maar_shown_bytes maar_show_bytes(uint64_t bytes)
{
    enum { MIB = 1048576 };
    struct maar_shown_bytes shown;
    const unsigned long long number = bytes;
    if (bytes < MIB) {
        (void)snprintf(shown.text, sizeof shown.text, "%llu byte%s", number, bytes == 1 ? "" : "s");
    } else {
        (void)snprintf(shown.text, sizeof shown.text, "%llu bytes (%.1f MiB)", number,
                       (double)bytes / MIB);
    }
    return shown;
}

#if defined(__GNUC__)
__attribute__((format(printf, 5, 0)))
#endif
static void
format_report(MaarAllocator allocator, MaarMessageSeverity severity, MaarMessageId id,
              const char* call, const char* format, va_list arguments)
{
    if (allocator == NULL || maar_reporter_of(allocator)->message == NULL) {
        return;
    }
    char text[MESSAGE_SIZE];
    const int head = call != NULL ? snprintf(text, sizeof text, "%s: ", call) : 0;
    (void)vsnprintf(text + head, sizeof text - (size_t)head, format, arguments);
    drop_cut_character(text);
    maar_message_deliver(maar_reporter_of(allocator), severity, id, call, text);
}

void maar_report(MaarAllocator allocator, MaarMessageSeverity severity, MaarMessageId id,
                 const char* call, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_report(allocator, severity, id, call, format, arguments);
    va_end(arguments);
}

VkResult maar_fail(MaarAllocator allocator, VkResult result, MaarMessageId id, const char* call,
                   const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, id, call, format, arguments);
    va_end(arguments);
    return result;
}

VkResult maar_enter_outputs(MaarAllocator allocator, const char* call,
                            const struct maar_output* outputs)
{
    const char* missing = NULL;
    for (; outputs->name != NULL; ++outputs) {
        if (outputs->handle != NULL) {
            memset(outputs->handle, 0, outputs->size);
        } else if (missing == NULL) {
            missing = outputs->name;
        }
    }
    const VkResult result = maar_enter(allocator);
    return result != VK_SUCCESS || missing == NULL
               ? result
               : maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_NULL_ARGUMENT,
                           call, "%s is NULL", missing);
}

void maar_report_misuse(MaarAllocator allocator, MaarMessageId id, const char* call,
                        const char* sentence)
{
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, id, call, "%s", sentence);
}

void maar_report_structure(MaarAllocator allocator, const char* call, const char* name,
                           const void* structure, int wanted)
{
    if (structure == NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NULL_ARGUMENT, call,
                    "%s is NULL", name);
    } else {
        const VkBaseInStructure* base = structure;
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE,
                    call, "%s%ssType is %s, not %s", name,
                    name[strlen(name) - 1] == '.' ? "" : "->",
                    name_structure((int)base->sType).text, name_structure(wanted).text);
    }
}

void maar_report_no_object(MaarAllocator allocator, const char* call, const char* what,
                           VkResult result)
{
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_DEVICE_LOST) {
        return; /* the VkResult explains the failure */
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_OBJECT_NOT_CREATED, call,
                "the driver cannot create this %s (%s); it may exceed a limit of the device; free "
                "memory does not matter",
                what, maarGetResultName(result));
}

void maar_broken(MaarAllocator allocator, const char* sentence)
{
    maar_atomic32_store(&maar_reporter_of(allocator)->poisoned, 1);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_FATAL, MAAR_MESSAGE_ID_BROKEN_INVARIANT, NULL,
                "broken invariant: %s", sentence);
#if defined(MAAR_HEAVY_CHECKS)
    maar_trap();
#endif
}
