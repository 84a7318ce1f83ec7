/*
 * FAKES. The state of a fake, calls that fail on demand, breaches, contexts and objects.
 */
#include "tests/fakes/fake_device.h"

#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_state fake = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

/* What belongs to a thread; void when the fake has been reset since. */
static _Thread_local struct {
    uint64_t resets;
    const char* function;
    bool in_host_function;
    uint32_t depth;
    struct fake_context* stack[FAKE_STACK];
} thread;

/* ---- start ---- */

static int hexadecimal(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : 0;
}

static void set_default_uuid(uint8_t uuid[VK_UUID_SIZE], int device)
{
    const char* text = getenv("MAAR_FAKE_UUID");
    memcpy(uuid, "FAKE device 0000", VK_UUID_SIZE);
    uuid[VK_UUID_SIZE - 1] = (uint8_t)('0' + device);
    if (device != 0 || text == NULL || strlen(text) != (size_t)2 * VK_UUID_SIZE) {
        return;
    }
    for (uint32_t i = 0; i < VK_UUID_SIZE; ++i) {
        uuid[i] = (uint8_t)(hexadecimal(text[2 * i]) * 16 + hexadecimal(text[2 * i + 1]));
    }
}

void fake_set_defaults(void)
{
    memset(fake.devices, 0, sizeof fake.devices);
    fake.initialized = false;
    fake.version = fake_api.version;
    fake.free_waits = fake_api.free_waits;
    fake.device_count = 1;
    for (int i = 0; i < FAKE_MAX_DEVICES; ++i) {
        struct fake_device* device = &fake.devices[i];
        set_default_uuid(device->uuid, i);
        (void)snprintf(device->pci_address, sizeof device->pci_address, "0000:%02x:00.0", i + 1);
        device->attributes[MAAR_CUDA_ATTRIBUTE_PCI_BUS] = i + 1;
        device->attributes[MAAR_CUDA_ATTRIBUTE_UNIFIED_ADDRESSING] = 1;
        device->attributes[MAAR_CUDA_ATTRIBUTE_COMPUTE_MAJOR] = 9;
        device->attributes[MAAR_CUDA_ATTRIBUTE_VIRTUAL_MEMORY] = 1;
        device->attributes[MAAR_CUDA_ATTRIBUTE_FILE_DESCRIPTORS] = 1;
        device->attributes[MAAR_CUDA_ATTRIBUTE_TIMELINE_SEMAPHORES] = 1;
        fake.primary[i] = fake_make(FAKE_KIND_CONTEXT, sizeof *fake.primary[i]);
        fake.primary[i]->object.unlisted = true;
        fake.primary[i]->device = i;
        fake.primary[i]->primary = true;
    }
}

__attribute__((constructor)) static void start(void)
{
    fake_set_defaults();
}

/* ---- calls ---- */

static struct fake_call* find_call(const char* function)
{
    for (uint32_t i = 0; i < FAKE_CALLS; ++i) {
        struct fake_call* call = &fake.calls[i];
        if (call->name[0] == '\0') {
            (void)snprintf(call->name, sizeof call->name, "%s", function);
        }
        if (strcmp(call->name, function) == 0) {
            return call;
        }
    }
    abort();
}

static bool is_to_fail(const char* function)
{
    /* To pop what was pushed fails nowhere, and nobody could do anything about it. */
    const bool named = fake.failing[0] != '\0' ? strcmp(fake.failing, function) == 0
                                               : strcmp("cuCtxPopCurrent", function) != 0;
    if (fake.fail_count == 0 || !named) {
        return false;
    }
    if (fake.fail_at > 1) {
        --fake.fail_at;
        return false;
    }
    --fake.fail_count;
    return true;
}

int fake_leave(int result)
{
    (void)pthread_mutex_unlock(&fake.mutex);
    return result;
}

int fake_enter(const char* function, enum fake_need need)
{
    (void)pthread_mutex_lock(&fake.mutex);
    if (thread.resets != fake.resets) {
        thread.resets = fake.resets;
        thread.depth = 0;
    }
    thread.function = function;
    ++find_call(function)->count;
    if (thread.in_host_function) {
        return fake_leave(fake_breach(MAAR_CUDA_NOT_PERMITTED,
                                      "called by a function that a stream runs on the host"));
    }
    if (is_to_fail(function)) {
        return fake_leave(fake.fail_result);
    }
    if (need != FAKE_NEEDS_NOTHING && !fake.initialized) {
        if (fake_api.contexts) {
            return fake_leave(
                fake_breach(MAAR_CUDA_NOT_INITIALIZED, "called before the driver was initialised"));
        }
        const int result = fake_initialize();
        if (result != MAAR_CUDA_SUCCESS) {
            return fake_leave(result);
        }
    }
    if (need == FAKE_NEEDS_CONTEXT && fake_current() == NULL) {
        return fake_leave(fake_breach(MAAR_CUDA_INVALID_CONTEXT, "no context is current"));
    }
    return MAAR_CUDA_SUCCESS;
}

struct fake_device* fake_find_device(int number)
{
    if (number < 0 || number >= fake.device_count) {
        (void)fake_breach(0, "there is no device %d", number);
        return NULL;
    }
    return &fake.devices[number];
}

void fake_set_in_host_function(bool inside)
{
    thread.in_host_function = inside;
}

int fake_breach(int result, const char* format, ...)
{
    const uint32_t index = fake.breach_count++;
    if (index < FAKE_BREACHES) {
        char text[192];
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        (void)snprintf(fake.breaches[index], sizeof fake.breaches[index], "%s: %s",
                       thread.function != NULL ? thread.function : "a stream", text);
    }
    return result;
}

/* ---- the real thing must not be there ---- */

static int look_for_real(struct dl_phdr_info* info, size_t size, void* data)
{
    const char** found = data;
    (void)size;
    for (const char* const* name = fake_api.real_names; *name != NULL; ++name) {
        if (info->dlpi_name != NULL && strstr(info->dlpi_name, *name) != NULL) {
            *found = *name;
            return 1;
        }
    }
    return 0;
}

int fake_initialize(void)
{
    static bool reported;
    const char* real = NULL;
    (void)dl_iterate_phdr(look_for_real, &real);
    if (real != NULL) {
        (void)fprintf(stderr, "%s: refuses to run: a real %s is loaded\n", fake_api.text, real);
        return fake_breach(MAAR_CUDA_NOT_PERMITTED, "refuses to run: a real %s is loaded", real);
    }
    if (!reported) {
        (void)fprintf(stderr, "%s is in use\n", fake_api.text);
        reported = true;
    }
    fake.initialized = true;
    return MAAR_CUDA_SUCCESS;
}

/* ---- contexts ---- */

struct fake_context* fake_current(void)
{
    if (!fake_api.contexts && thread.depth == 0) {
        return fake.primary[0];
    }
    struct fake_context* top = thread.depth > 0 ? thread.stack[thread.depth - 1] : NULL;
    const bool gone = top != NULL && top->primary && top->retains == 0 && fake_api.contexts;
    return gone ? NULL : top;
}

void fake_set_current(struct fake_context* context)
{
    thread.stack[0] = context;
    thread.depth = 1;
}

uint32_t fake_context_depth(void)
{
    return thread.resets == fake.resets ? thread.depth : 0;
}

int fake_push_context(struct fake_context* context)
{
    if (!fake_check_object(context, FAKE_KIND_CONTEXT, "the context", true)) {
        return MAAR_CUDA_INVALID_CONTEXT;
    }
    if (context->primary && context->retains == 0) {
        return fake_breach(MAAR_CUDA_INVALID_CONTEXT, "the primary context is not retained");
    }
    if (thread.depth == FAKE_STACK) {
        return fake_breach(MAAR_CUDA_INVALID_VALUE, "%d contexts were pushed and not popped",
                           (int)FAKE_STACK);
    }
    thread.stack[thread.depth++] = context;
    return MAAR_CUDA_SUCCESS;
}

int fake_replace_context(struct fake_context* context)
{
    if (thread.depth > 0) {
        --thread.depth;
    }
    return context != NULL ? fake_push_context(context) : MAAR_CUDA_SUCCESS;
}

int fake_pop_context(struct fake_context** context)
{
    if (thread.depth == 0) {
        return fake_breach(MAAR_CUDA_INVALID_CONTEXT, "there is no context to pop");
    }
    struct fake_context* top = thread.stack[--thread.depth];
    if (context != NULL) {
        *context = top;
    }
    return MAAR_CUDA_SUCCESS;
}

int fake_retain_primary(int device, struct fake_context** context)
{
    if (device < 0 || device >= fake.device_count) {
        return fake_breach(MAAR_CUDA_INVALID_DEVICE, "there is no device %d", device);
    }
    ++fake.primary[device]->retains;
    *context = fake.primary[device];
    return MAAR_CUDA_SUCCESS;
}

static uint64_t count_in_context(const struct fake_context* context)
{
    uint64_t count = 0;
    for (const struct fake_object* at = fake.objects; at != NULL; at = at->next) {
        count += !at->dead && !at->unlisted && at->context == context;
    }
    for (const struct fake_range* at = fake.ranges; at != NULL; at = at->next) {
        count += at->context == context;
    }
    return count;
}

int fake_release_primary(int device)
{
    if (device < 0 || device >= fake.device_count) {
        return fake_breach(MAAR_CUDA_INVALID_DEVICE, "there is no device %d", device);
    }
    struct fake_context* context = fake.primary[device];
    if (context->retains == 0) {
        return fake_breach(MAAR_CUDA_INVALID_CONTEXT,
                           "the primary context was released more often than retained");
    }
    if (context->retains == 1 && count_in_context(context) != 0) {
        (void)fake_breach(0, "the primary context ends while %u objects of it are alive",
                          (unsigned)count_in_context(context));
    }
    --context->retains;
    return MAAR_CUDA_SUCCESS;
}

/* ---- objects ---- */

void* fake_make(enum fake_kind kind, size_t size)
{
    struct fake_object* object = calloc(1, size);
    if (object == NULL) {
        abort();
    }
    object->kind = kind;
    object->context = kind != FAKE_KIND_CONTEXT ? fake_current() : NULL;
    object->next = fake.objects;
    fake.objects = object;
    return object;
}

bool fake_check_object(const void* handle, enum fake_kind kind, const char* what, bool anywhere)
{
    const struct fake_object* at = fake.objects;
    while (at != NULL && at != handle) {
        at = at->next;
    }
    if (at == NULL || at->kind != kind) {
        (void)fake_breach(0, "%s is none", what);
        return false;
    }
    if (at->dead) {
        (void)fake_breach(0, "%s has been destroyed", what);
        return false;
    }
    if (!anywhere && at->context != fake_current()) {
        (void)fake_breach(0, "%s belongs to another context than the current one", what);
        return false;
    }
    return true;
}

bool fake_is_zero(const void* bytes, size_t size)
{
    const unsigned char* at = bytes;
    for (size_t i = 0; i < size; ++i) {
        if (at[i] != 0) {
            return false;
        }
    }
    return true;
}
