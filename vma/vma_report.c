/*
 * Hands messages to the program: see vma_report.h.
 */
#include "vma/vma_report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

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
        listener->message(listener->user_data, message->severity, message->id, message->pText);
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
