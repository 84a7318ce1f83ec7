/*
 * Hands messages to the program: see vma_report.h.
 */
#include "vma/vma_report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void maar_vma_listen(struct maar_vma_listener* listener, PFN_maarVmaMessage message,
                     void* user_data, uint32_t options)
{
    listener->message = message;
    listener->user_data = user_data;
    listener->once = (options & MAAR_VMA_OPTION_ONCE_BIT) != 0;
}

/* A hash of a text without its figures and without what stands in quotes. Never 0. */
static uint32_t kind_of(const char* text)
{
    uint32_t hash = 2166136261u;
    bool quoted = false;
    bool in_figure = false;
    for (; *text != '\0'; ++text) {
        const unsigned char at = (unsigned char)*text;
        quoted = quoted != (at == '"');
        in_figure = isdigit(at) != 0 ||
                    (in_figure && (isxdigit(at) != 0 || at == 'x' || at == '.' || at == ','));
        if (!quoted && !in_figure) {
            hash = (hash ^ at) * 16777619u;
        }
    }
    return hash != 0 ? hash : 1;
}

/* Remembers the kind of a text. Returns whether it is a new one. */
static bool is_new_kind(struct maar_vma_listener* listener, const char* text)
{
    const uint32_t kind = kind_of(text);
    for (uint32_t i = 0; i < MAAR_VMA_KINDS; ++i) {
        uint32_t known = 0;
        if (atomic_compare_exchange_strong(&listener->kinds[i], &known, kind)) {
            return true;
        }
        if (known == kind) {
            return false;
        }
    }
    return true;
}

/* What serves the functions of the interface that a message may be about. One of Maar's may serve
 * several: the first of them stands here. */
static const struct {
    const char* maar;
    const char* vma;
} served[] = {
    {"maarAllocateMemory", "vmaAllocateMemory"},
    {"maarAllocateMemoryForBuffer", "vmaAllocateMemoryForBuffer"},
    {"maarAllocateMemoryForImage", "vmaAllocateMemoryForImage"},
    {"maarAllocateRange", "vmaVirtualAllocate"},
    {"maarBindBuffer", "vmaBindBufferMemory"},
    {"maarBindImage", "vmaBindImageMemory"},
    {"maarCheckMargins", "vmaCheckCorruption"},
    {"maarCommitMoves", "vmaEndDefragmentationPass"},
    {"maarCopyFromAllocation", "vmaCopyAllocationToMemory"},
    {"maarCopyToAllocation", "vmaCopyMemoryToAllocation"},
    {"maarCreateAliasingBuffer", "vmaCreateAliasingBuffer"},
    {"maarCreateAliasingImage", "vmaCreateAliasingImage"},
    {"maarCreateAllocator", "vmaCreateAllocator"},
    {"maarCreateBuffer", "vmaCreateBuffer"},
    {"maarCreateImage", "vmaCreateImage"},
    {"maarCreatePool", "vmaCreatePool"},
    {"maarCreateRangeAllocator", "vmaCreateVirtualBlock"},
    {"maarDestroyAllocator", "vmaDestroyAllocator"},
    {"maarDestroyBuffer", "vmaDestroyBuffer"},
    {"maarDestroyImage", "vmaDestroyImage"},
    {"maarDestroyPool", "vmaDestroyPool"},
    {"maarFlushAllocation", "vmaFlushAllocation"},
    {"maarFreeMemory", "vmaFreeMemory"},
    {"maarFreeRange", "vmaVirtualFree"},
    {"maarGetAllocationInfo", "vmaGetAllocationInfo"},
    {"maarGetRangeInfo", "vmaGetVirtualAllocationInfo"},
    {"maarInvalidateAllocation", "vmaInvalidateAllocation"},
    {"maarMapMemory", "vmaMapMemory"},
    {"maarSetAllocationName", "vmaSetAllocationName"},
    {"maarSetAllocationUserData", "vmaSetAllocationUserData"},
    {"maarSetRangeUserData", "vmaSetVirtualAllocationUserData"},
    {"maarUnmapMemory", "vmaUnmapMemory"},
};

/* Names the function of the interface beside the one of Maar that a text begins with. The program
 * may have called either. Returns the text, or room with both names. */
static const char* name_both(const char* text, char* room, size_t size)
{
    const size_t length = strcspn(text, ":");
    for (size_t i = 0; i < sizeof served / sizeof served[0]; ++i) {
        if (strlen(served[i].maar) == length && memcmp(served[i].maar, text, length) == 0) {
            (void)snprintf(room, size, "%s or %s", served[i].vma, text);
            return room;
        }
    }
    return text;
}

void maar_vma_forward(struct maar_vma_listener* listener, const MaarMessage* message)
{
    bool passes = true;
    if (message->id == MAAR_MESSAGE_ID_LEAK) {
        passes = atomic_fetch_add(&listener->leak_count, 1) < MAAR_VMA_NAMED_LEAKS;
    } else if (listener->once && message->id != MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN &&
               message->severity != MAAR_MESSAGE_SEVERITY_FATAL) {
        passes = is_new_kind(listener, message->pText);
    }
    if (listener->message != NULL && (passes || !listener->once)) {
        char room[720];
        listener->message(listener->user_data, message->severity, message->id,
                          name_both(message->pText, room, sizeof room));
    }
}

void maar_vma_report(struct maar_vma_listener* listener, MaarMessageSeverity severity,
                     MaarMessageId id, const char* format, ...)
{
    char text[512];
    va_list arguments;
    if (listener->message == NULL) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!listener->once || is_new_kind(listener, text)) {
        listener->message(listener->user_data, severity, id, text);
    }
}

void maar_vma_report_leaks(struct maar_vma_listener* listener, const char* call, uint32_t before)
{
    const uint32_t count = atomic_load(&listener->leak_count) - before;
    if (count > 0 && listener->message != NULL) {
        char text[160];
        (void)snprintf(text, sizeof text, "%s: %u %s never freed; messages before this one say %s",
                       call, (unsigned)count, count == 1 ? "object was" : "objects were",
                       count == 1 ? "which" : "which they are");
        listener->message(listener->user_data, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_LEAK,
                          text);
    }
}
