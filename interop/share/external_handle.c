/*
 * The public calls on handles with one owner: they wrap, take, show and duplicate handles, and
 * close a handle with its object.
 */
#include "interop/share/external_handle.h"

#include "core/memory/allocator_state.h"

/* Marks a lent number that the system has just given out again: its importer has closed it. */
static void note_number(MaarAllocator allocator, maar_port_handle number)
{
    maar_assert_held(&allocator->share_lock);
    for (struct maar_lent_handle* lent = allocator->lent; lent != NULL; lent = lent->next) {
        lent->lost = lent->lost || lent->number == number;
    }
}

VkResult maar_external_handle_create(MaarAllocator maker, maar_port_handle value,
                                     MaarExternalHandle* handle)
{
    MaarExternalHandle made =
        maar_host_calloc(maker != NULL ? maker->callbacks : NULL, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->maker = maker;
    if (maker != NULL) {
        (void)maar_atomic32_add(&maker->external_handle_count, 1);
        maar_mutex_lock(&maker->share_lock);
        note_number(maker, value); /* a driver may just have made it */
        maar_mutex_unlock(&maker->share_lock);
    }
    maar_atomic64_store(&made->value, (uint64_t)value);
    *handle = made;
    return VK_SUCCESS;
}

void maar_external_handle_destroy(MaarExternalHandle handle)
{
    if (handle == VK_NULL_HANDLE) {
        return;
    }
    maar_port_handle_close(maar_external_handle_take(handle));
    const MaarAllocator maker = handle->maker;
    maar_host_free(maker != NULL ? maker->callbacks : NULL, handle);
    if (maker != NULL) {
        (void)maar_atomic32_drop(&maker->external_handle_count);
    }
}

maar_port_handle maar_external_handle_take(MaarExternalHandle handle)
{
    return (maar_port_handle)maar_atomic64_exchange(&handle->value, (uint64_t)MAAR_PORT_NO_HANDLE);
}

maar_port_handle maar_external_handle_peek(MaarExternalHandle handle)
{
    return (maar_port_handle)maar_atomic64_load(&handle->value);
}

VkResult maar_external_handle_check(MaarAllocator allocator, const char* call, const char* name,
                                    MaarExternalHandle handle)
{
    const maar_port_handle own = maar_external_handle_peek(handle);
    if (own == MAAR_PORT_NO_HANDLE) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDLE_EMPTY, call,
                    "%s is empty: it was taken or imported before", name);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    if (!maar_port_handle_is_open(own)) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDLE_CLOSED, call,
                    "%s holds %lld, which somebody has closed; only the object may close what "
                    "maarPeekFd returned or maarWrapFd was given",
                    name, (long long)own);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    return VK_SUCCESS;
}

VkResult maar_external_handle_copy(MaarAllocator allocator, const char* call, maar_port_handle own,
                                   maar_port_handle* copy)
{
    maar_mutex_lock(&allocator->share_lock);
    *copy = maar_port_handle_duplicate(own);
    note_number(allocator, *copy);
    maar_mutex_unlock(&allocator->share_lock);
    if (*copy != MAAR_PORT_NO_HANDLE) {
        return VK_SUCCESS;
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_TOO_MANY_HANDLES, call,
                "the process has no handle left for a duplicate (RLIMIT_NOFILE on Linux)");
    return VK_ERROR_TOO_MANY_OBJECTS;
}

VkResult maar_handle_lend(MaarAllocator allocator, const char* call, maar_port_handle own,
                          struct maar_lent_handle* lent)
{
    *lent = (struct maar_lent_handle){.number = MAAR_PORT_NO_HANDLE};
    const VkResult result = maar_external_handle_copy(allocator, call, own, &lent->number);
    if (result == VK_SUCCESS) {
        maar_mutex_lock(&allocator->share_lock);
        lent->next = allocator->lent;
        allocator->lent = lent;
        maar_mutex_unlock(&allocator->share_lock);
    }
    return result;
}

void maar_handle_end_loan(MaarAllocator allocator, struct maar_lent_handle* lent,
                          maar_port_handle own, bool takes, bool success)
{
    maar_mutex_lock(&allocator->share_lock);
    struct maar_lent_handle** link = &allocator->lent;
    while (*link != lent) {
        link = &(*link)->next;
    }
    *link = lent->next;
    /* No number is given out between the comparison and the end. */
    if (success ? !takes : !lent->lost && maar_port_handle_is_same(lent->number, own)) {
        maar_port_handle_close(lent->number);
    }
    maar_mutex_unlock(&allocator->share_lock);
}

VkResult maar_handle_import_begin(MaarAllocator allocator, const char* call,
                                  MaarExternalHandle handle, bool takes,
                                  struct maar_handle_import* import)
{
    import->allocator = allocator;
    import->handle = handle;
    import->takes = takes;
    import->duplicate = MAAR_PORT_NO_HANDLE;
    VkResult result = maar_external_handle_check(allocator, call, "handle", handle);
    if (result == VK_SUCCESS) {
        result =
            maar_handle_lend(allocator, call, maar_external_handle_peek(handle), &import->lent);
        import->duplicate = import->lent.number;
    }
    return result;
}

void maar_handle_import_end(struct maar_handle_import* import, bool success)
{
    maar_handle_end_loan(import->allocator, &import->lent,
                         maar_external_handle_peek(import->handle), import->takes, success);
    if (success) {
        maar_port_handle_close(maar_external_handle_take(import->handle));
    }
    import->duplicate = MAAR_PORT_NO_HANDLE;
}

/* Begins every call that wraps a handle. */
static VkResult enter_wrap(MaarAllocator allocator, MaarExternalHandle* handle, const char* call)
{
    if (handle != NULL) {
        *handle = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS && handle == NULL) {
        result = maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pHandle is NULL");
    }
    return result;
}

static VkResult wrap(MaarAllocator allocator, maar_port_handle value, MaarExternalHandle* handle)
{
    VkResult result = maar_external_handle_create(allocator, value, handle);
    if (result == VK_SUCCESS) {
        maar_port_handle_keep_private(value);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarWrapFd(MaarAllocator allocator, int fd,
                                          MaarExternalHandle* pHandle)
{
    VkResult result = enter_wrap(allocator, pHandle, __func__);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (fd < 0) {
        return maar_fail(allocator, VK_ERROR_VALIDATION_FAILED_EXT, MAAR_MESSAGE_ID_OUT_OF_RANGE,
                         __func__, "fd is %d, and no descriptor is negative", fd);
    }
    if (!MAAR_PORT_HAS_FDS) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (!maar_port_handle_is_open(fd)) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDLE_CLOSED,
                    "maarWrapFd", "fd %d is not open", fd);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    return wrap(allocator, fd, pHandle);
}

VKAPI_ATTR VkResult VKAPI_CALL maarWrapWin32Handle(MaarAllocator allocator, void* win32Handle,
                                                   MaarExternalHandle* pHandle)
{
    VkResult result = enter_wrap(allocator, pHandle, __func__);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (win32Handle == NULL || (intptr_t)win32Handle == -1) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "win32Handle is NULL or INVALID_HANDLE_VALUE");
    }
    if (MAAR_PORT_HAS_FDS) {
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    return wrap(allocator, (maar_port_handle)(intptr_t)win32Handle, pHandle);
}

static VkResult take_out(MaarAllocator allocator, const char* call, MaarExternalHandle handle,
                         const void* out, bool has_kind, maar_port_handle* value)
{
    *value = MAAR_PORT_NO_HANDLE;
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (handle == VK_NULL_HANDLE || out == NULL) {
        return maar_misuse(allocator,
                           handle == VK_NULL_HANDLE ? MAAR_MESSAGE_ID_NULL_HANDLE
                                                    : MAAR_MESSAGE_ID_NULL_ARGUMENT,
                           call,
                           handle == VK_NULL_HANDLE ? "handle is VK_NULL_HANDLE"
                                                    : "the pointer for the result is NULL");
    }
    if (has_kind) {
        *value = maar_external_handle_take(handle);
    }
    if (*value == MAAR_PORT_NO_HANDLE) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_HANDLE_EMPTY, NULL,
                    has_kind ? "%s: handle is empty: it was taken before"
                             : "%s: this system has no handles of this kind",
                    call);
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTakeFd(MaarAllocator allocator, MaarExternalHandle handle,
                                          int* pFd)
{
    maar_port_handle value = MAAR_PORT_NO_HANDLE;
    VkResult result = take_out(allocator, __func__, handle, pFd, MAAR_PORT_HAS_FDS != 0, &value);
    if (pFd != NULL) {
        *pFd = (int)value;
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarTakeWin32Handle(MaarAllocator allocator,
                                                   MaarExternalHandle handle, void** pWin32Handle)
{
    maar_port_handle value = MAAR_PORT_NO_HANDLE;
    VkResult result =
        take_out(allocator, __func__, handle, pWin32Handle, MAAR_PORT_HAS_FDS == 0, &value);
    if (pWin32Handle != NULL) {
        *pWin32Handle = maar_port_win32_handle(value);
    }
    return result;
}

VKAPI_ATTR int VKAPI_CALL maarPeekFd(MaarExternalHandle handle)
{
    return handle != VK_NULL_HANDLE && MAAR_PORT_HAS_FDS ? (int)maar_external_handle_peek(handle)
                                                         : -1;
}

VKAPI_ATTR void* VKAPI_CALL maarPeekWin32Handle(MaarExternalHandle handle)
{
    return handle != VK_NULL_HANDLE && !MAAR_PORT_HAS_FDS
               ? maar_port_win32_handle(maar_external_handle_peek(handle))
               : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDuplicateExternalHandle(MaarAllocator allocator,
                                                           MaarExternalHandle handle,
                                                           MaarExternalHandle* pCopy)
{
    if (pCopy != NULL) {
        *pCopy = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (handle == VK_NULL_HANDLE || pCopy == NULL) {
        return maar_misuse(
            allocator,
            handle == VK_NULL_HANDLE ? MAAR_MESSAGE_ID_NULL_HANDLE : MAAR_MESSAGE_ID_NULL_ARGUMENT,
            __func__, handle == VK_NULL_HANDLE ? "handle is VK_NULL_HANDLE" : "pCopy is NULL");
    }
    maar_port_handle copy = MAAR_PORT_NO_HANDLE;
    result = maar_external_handle_check(allocator, __func__, "handle", handle);
    if (result == VK_SUCCESS) {
        result = maar_external_handle_copy(allocator, __func__, maar_external_handle_peek(handle),
                                           &copy);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_external_handle_create(allocator, copy, pCopy);
    if (result != VK_SUCCESS) {
        maar_port_handle_close(copy);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyExternalHandle(MaarAllocator allocator,
                                                     MaarExternalHandle handle)
{
    if (allocator != NULL) {
        maar_external_handle_destroy(handle);
    }
}
