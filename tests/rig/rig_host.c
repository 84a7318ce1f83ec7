/*
 * Host memory that is counted and fails at a chosen call, and messages that are kept.
 */
#include "tests/rig/rig_internal.h"

#include <ctype.h>
#include <stdio.h>

/* In front of each allocation; as large as the strictest alignment that is asked for here. */
struct host_header {
    uint64_t size;
    uint64_t magic;
    uint64_t unused[2];
};

static const uint64_t host_magic = 0x6d61617274657374;
/* Compilers drop a plain memset before a free. */
static void* (*volatile host_fill)(void* memory, int byte, size_t size) = memset;

static bool host_refuses(struct rig_host* host)
{
    return atomic_fetch_add(&host->calls, 1) + 1 == atomic_load(&host->fail_at);
}

static void* VKAPI_PTR rig_host_allocate(void* user, size_t size, size_t alignment,
                                         VkSystemAllocationScope scope)
{
    struct rig_host* host = user;
    (void)scope;
    if (host->before != NULL) {
        host->before(host);
    }
    if (alignment > 16 || host_refuses(host)) {
        return NULL;
    }
    struct host_header* header = malloc(sizeof *header + size);
    if (header == NULL) {
        return NULL;
    }
    *header = (struct host_header){.size = size, .magic = host_magic};
    (void)atomic_fetch_add(&host->live, 1);
    (void)atomic_fetch_add(&host->live_bytes, size);
    memset(header + 1, 0xA5, size);
    return header + 1;
}

static void VKAPI_PTR rig_host_free(void* user, void* memory)
{
    struct rig_host* host = user;
    if (memory == NULL) {
        return;
    }
    struct host_header* header = (struct host_header*)memory - 1;
    assert_true(header->magic == host_magic);
    (void)atomic_fetch_sub(&host->live, 1);
    (void)atomic_fetch_sub(&host->live_bytes, header->size);
    header->magic = 0;
    (void)host_fill(header + 1, 0x5A,
                    (size_t)header->size); /* who reads it still does not get far */
    free(header);
}

static void* VKAPI_PTR rig_host_reallocate(void* user, void* original, size_t size,
                                           size_t alignment, VkSystemAllocationScope scope)
{
    if (size == 0) {
        rig_host_free(user, original);
        return NULL;
    }
    void* memory = rig_host_allocate(user, size, alignment, scope);
    if (memory != NULL && original != NULL) {
        const struct host_header* header = (const struct host_header*)original - 1;
        memcpy(memory, original, header->size < size ? (size_t)header->size : size);
        rig_host_free(user, original);
    }
    return memory;
}

void rig_host_init(struct rig* rig)
{
    rig->host_callbacks = (VkAllocationCallbacks){
        .pUserData = &rig->host,
        .pfnAllocation = rig_host_allocate,
        .pfnReallocation = rig_host_reallocate,
        .pfnFree = rig_host_free,
    };
}

static void lock_messages(struct rig_messages* messages)
{
    while (atomic_flag_test_and_set_explicit(&messages->busy, memory_order_acquire)) {
    }
}

static void unlock_messages(struct rig_messages* messages)
{
    atomic_flag_clear_explicit(&messages->busy, memory_order_release);
}

void VKAPI_PTR rig_keep_message(void* user, const MaarMessage* report)
{
    struct rig_messages* messages = user;
    lock_messages(messages);
    ++messages->total;
    ++messages->counts[report->severity];
    messages->last_id = report->id;
    (void)snprintf(messages->last, sizeof messages->last, "%s", report->pText);
    unlock_messages(messages);
}

void rig_forget_messages(struct rig* rig)
{
    lock_messages(&rig->messages);
    rig->messages.total = 0;
    memset(rig->messages.counts, 0, sizeof rig->messages.counts);
    rig->messages.last[0] = '\0';
    unlock_messages(&rig->messages);
}

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

/* Whether the text has the culprit as a word, and not as a part of a longer one. */
static bool names(const char* text, const char* culprit)
{
    const size_t length = strlen(culprit);
    for (const char* at = strstr(text, culprit); at != NULL; at = strstr(at + 1, culprit)) {
        const bool begins = at == text || !is_part_of_word(at[-1]) || !is_part_of_word(at[0]);
        if (begins && (!is_part_of_word(at[length - 1]) || !is_part_of_word(at[length]))) {
            return true;
        }
    }
    return false;
}

bool rig_message_names(struct rig* rig, const char* culprit)
{
    return names(rig->messages.last, culprit);
}

bool rig_message_names_number(struct rig* rig, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return names(rig->messages.last, text);
}

uint64_t rig_message_number(struct rig* rig, uint32_t index)
{
    const char* at = rig->messages.last;
    for (uint32_t i = 0;; ++i) {
        at = strpbrk(at, "0123456789");
        if (at == NULL) {
            fail_msg("the message has no number %u: \"%s\"", index, rig->messages.last);
            return 0;
        }
        char* end = NULL;
        const uint64_t number = strtoull(at, &end, 10);
        if (i == index) {
            return number;
        }
        at = end;
    }
}

void rig_expect_message_naming(struct rig* rig, MaarMessageId id, const char* culprit)
{
    const struct rig_messages* messages = &rig->messages;
    if (messages->total == 0) {
        fail_msg("no message came; expected %d", (int)id);
    }
    if (messages->last_id != id) {
        fail_msg("message %d came, \"%s\"; expected %d", (int)messages->last_id, messages->last,
                 (int)id);
    }
    if (culprit != NULL && !names(messages->last, culprit)) {
        fail_msg("the message is \"%s\"; it does not name %s", messages->last, culprit);
    }
    rig_forget_messages(rig);
}

void rig_expect_message(struct rig* rig, MaarMessageId id)
{
    rig_expect_message_naming(rig, id, NULL);
}

void rig_expect_silence(struct rig* rig)
{
    if (rig->messages.total != 0) {
        fail_msg("an unexpected message: \"%s\"", rig->messages.last);
    }
}

void* VKAPI_PTR rig_plain_reallocate(void* user, void* original, size_t size, size_t alignment,
                                     VkSystemAllocationScope scope)
{
    (void)user;
    (void)alignment;
    (void)scope;
    return realloc(original, size);
}

void VKAPI_PTR rig_plain_free(void* user, void* memory)
{
    (void)user;
    free(memory);
}
